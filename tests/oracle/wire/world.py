"""world - what a block of exchanges talks about: its own topics and groups, and values for the fields of requests"""

from batches import T0, Batch, record
from sides import NO_ID, Ref

SOME_ID = "11111111-2222-3333-4444-555555555555"
TOPIC_KEYS = ("retention.ms", "cleanup.policy", "min.insync.replicas", "max.message.bytes", "compression.type",
              "segment.bytes", "message.timestamp.type", "unclean.leader.election.enable", "index.interval.bytes",
              "follower.replication.throttled.replicas", "message.format.version", "min.cleanable.dirty.ratio",
              "retention.bytes", "delete.retention.ms", "max.compaction.lag.ms", "remote.storage.enable", "no.such.key", "")
BROKER_KEYS = ("log.cleaner.backoff.ms", "num.io.threads", "log.dirs", "unclean.leader.election.enable", "broker.id",
               "background.threads", "follower.replication.throttled.rate", "no.such.key", "min.insync.replicas",
               "log.cleaner.io.buffer.load.factor", "zookeeper.connect")
CONFIG_VALUES = ("1", "0", "-1", "100", "1000000", "true", "false", "compact", "delete", "compact,delete", "", "gzip",
                 "producer", "zzz", "CreateTime", "LogAppendTime", None, "0.5", "1:1", "*", "3.0", " 5 ",
                 "9999999999999999999", "TRUE", "delete,,", "0:1,x")


class World:
    """The names of a block. Everything random comes from its own source, so that a block can be had again."""

    def __init__(self, number, rng, untidy):
        self.number, self.rng, self.untidy = number, rng, untidy
        self.made = [f"w{number}-a", f"w{number}-b", f"w{number}-c"]
        self.new = [f"w{number}-new{i}" for i in range(3)]
        self.groups = [f"g{number}-{i}" for i in range(3)]
        self.fresh = 0

    def prepare(self, side):
        a, b, c = self.made
        plain = [{"partition_index": p, "broker_ids": [1]} for p in range(3)]
        answer = side.ask("CreateTopics", 4, {"timeout_ms": 30000, "topics": [
            {"name": a, "num_partitions": -1, "replication_factor": -1, "assignments": plain},
            {"name": b, "num_partitions": -1, "replication_factor": -1, "assignments": plain[:1],
             "configs": [{"name": "message.timestamp.type", "value": "LogAppendTime"}]},
            {"name": c, "num_partitions": -1, "replication_factor": -1, "assignments": plain[:1],
             "configs": [{"name": "cleanup.policy", "value": "compact"}]}]})
        assert all(t["error_code"] == 0 for t in answer["topics"]), answer
        batch = Batch([record(i, i, b"k%d" % i, b"v") for i in range(5)], max_time=T0 + 4).bytes()
        side.ask("Produce", 7, {"acks": -1, "timeout_ms": 10000, "topic_data": [
            {"name": t, "partition_data": [{"index": 0, "records": batch}]} for t in (a, c)]})
        self.learn_ids(side)

    @staticmethod
    def learn_ids(side):
        for t in side.ask("Metadata", 12, {"topics": None})["topics"]:
            side.known["topic", t["name"]] = t["topic_id"]

    @staticmethod
    def clear(side):
        """What is left would be in the way of later blocks, and slow them down."""
        names = [t["name"] for t in side.ask("Metadata", 8, {"topics": None})["topics"] if not t["is_internal"]]
        if names:
            side.ask("DeleteTopics", 3, {"topic_names": names, "timeout_ms": 30000})
        for name in ("", "1"):
            side.ask("AlterConfigs", 1, {"resources": [{"resource_type": 4, "resource_name": name, "configs": []}]})
        for key in [k for k in side.known if k[0] in ("topic", "member", "session")]:
            del side.known[key]

    # values for fields

    def topic(self):
        r = self.rng.random()
        if r < 0.8:
            return self.rng.choice(self.made)
        return self.rng.choice([*self.new, f"w{self.number}-none", "", ".", "..", "no/name", "x" * 249, "x" * 250,
                                "__consumer_offsets", f"w{self.number}.a", f"w{self.number}_a", "é"])

    def topic_id(self):
        r = self.rng.random()
        if r < 0.8:
            return Ref("topic", self.rng.choice(self.made), unknown=NO_ID)
        return self.rng.choice((NO_ID, SOME_ID, "00000000-0000-0000-0000-000000000001"))

    def new_topic(self):
        return self.rng.choice(self.new) if self.rng.random() < 0.6 else self.topic()

    def own_topic(self):
        """One that may go: not where groups live."""
        return self.rng.choice([*self.new, *self.made, f"w{self.number}-none", "", ".", "no/name"])

    def group(self):
        return self.rng.choice(self.groups) if self.rng.random() < 0.9 else self.rng.choice(("", f"g{self.number}-none"))

    def fresh_group(self):
        self.fresh += 1
        return f"g{self.number}-f{self.fresh}" if self.rng.random() < 0.9 else ""

    def member(self):
        if self.rng.random() < 0.7:
            return Ref("member", self.rng.choice(self.groups))
        return self.rng.choice(("", "", "nobody"))

    def partition(self):
        return self.rng.choice((0, 0, 0, 0, 1, 2, 3, -1))

    def config_name(self):
        return self.rng.choice(self.rng.choice((TOPIC_KEYS, TOPIC_KEYS, BROKER_KEYS)))

    def config_value(self):
        return self.rng.choice(CONFIG_VALUES)

    def resource_name(self):
        return self.topic() if self.rng.random() < 0.6 else self.rng.choice(("1", "1", "", "77", "x"))


def one_of(*values):
    return lambda world: world.rng.choice(values)


TIMEOUT = one_of(10000, 30000)
# By the longest of "Api.struct.field", "Api.field", "field" that is here.
POOLS = {
    "topic": World.topic, "topic_name": World.topic, "topic_names": World.topic, "topics.name": World.topic,
    "topic_id": World.topic_id, "topic_data.name": World.topic, "DescribeLogDirs.topic": World.topic,
    "CreateTopics.topics.name": World.new_topic, "CreateTopics.num_partitions": one_of(1, 1, 2, -1, -1, 0, -2),
    "CreateTopics.replication_factor": one_of(1, 1, 1, -1, -1, 0, 2, -2), "CreateTopics.timeout_ms": TIMEOUT,
    "CreateTopics.configs": None, "DeleteTopics.timeout_ms": TIMEOUT, "DeleteTopics.topic_names": World.own_topic,
    "DeleteTopics.topics.name": World.own_topic, "CreatePartitions.count": one_of(1, 2, 3, 4, 5, 0, -1),
    "CreatePartitions.timeout_ms": TIMEOUT, "timeout_ms": one_of(10000, 1000, 0, -1),
    "CreateTopics.assignments.partition_index": one_of(0, 0, 0, 1, 1, 2), "partition_index": World.partition, "partition_indexes": World.partition, "partitions": World.partition,
    "partition": World.partition, "index": World.partition, "group_id": World.group, "groups": World.group,
    "group_ids": World.group, "groups_names": World.group, "member_id": World.member,
    "JoinGroup.session_timeout_ms": one_of(300000, 300000, 300000, 1800000, 5999, 1800001, 0, -1),
    "JoinGroup.rebalance_timeout_ms": one_of(1, 10, 20, 0, -1),
    "group_instance_id": one_of(None, None, None, "i1", "i2", ""), "generation_id": one_of(1, 1, 1, 2, 3, 0, -1),
    "generation_id_or_member_epoch": one_of(1, 1, -1, -1, -1, 2, 0), "protocol_type": one_of("consumer", "consumer", "consumer",
                                                                                             "connect", ""),
    "JoinGroup.protocols.name": one_of("range", "range", "roundrobin", ""), "protocol_name": one_of("range", "roundrobin", None),
    "metadata": one_of(b"", b"\0\1\0\0\0\0", b"\0\1\0\0\0\1\0\1t\xff\xff\xff\xff", b"x"),
    "committed_offset": one_of(0, 1, 5, 100, -1, -2), "committed_metadata": one_of("", None, "m", "x" * 4096, "x" * 4097),
    "commit_timestamp": one_of(-1, T0), "retention_time_ms": one_of(-1, 100000000, 0),
    "key_type": one_of(0, 0, 0, 1, 2, 3, -1), "FindCoordinator.key": World.group, "coordinator_keys": World.group,
    "acks": one_of(-1, -1, -1, 1, 1, 0, 2, -2), "transactional_id": one_of(None, None, None, ""),
    "InitProducerId.transactional_id": one_of(None), "InitProducerId.producer_id": one_of(-1, -1, -1, 0, 5),
    "InitProducerId.producer_epoch": one_of(-1, -1, 0, 5), "transaction_timeout_ms": one_of(60000, 1, 0, -1, 0x7FFFFFFF),
    "fetch_offset": one_of(0, 0, 0, 1, 2, 4, 5, 6, 10, 1000, -1), "max_wait_ms": one_of(0, 0, 1, 10),
    "min_bytes": one_of(0, 1, 1, 100, -1), "max_bytes": one_of(0x7FFFFFFF, 0x7FFFFFFF, 100, 1, 0, -1, 1000),
    "partition_max_bytes": one_of(1 << 20, 1 << 20, 1 << 20, 200, 100, 1, 0, -1),
    "current_leader_epoch": one_of(-1, -1, -1, 0, 0, 1, -2), "last_fetched_epoch": one_of(-1, -1, -1, 0, 1, 5),
    "leader_epoch": one_of(0, 0, 1, -1, 5), "log_start_offset": one_of(-1, -1, 0, 5),
    "session_id": lambda w: w.rng.choice((0, 0, Ref("session", unknown=0), Ref("session", unknown=0), 5)),
    "session_epoch": one_of(-1, -1, 0, 0, 1, 2, 3), "replica_id": one_of(-1, -1, -1, -1, -1, -2, 1, 2, 77, -3),
    "replica_epoch": one_of(-1, -1, 0, Ref("broker_epoch", 1, unknown=-1)), "isolation_level": one_of(0, 0, 1, 2, -1),
    "timestamp": one_of(-1, -2, -3, -4, -5, -6, 0, T0, T0 + 1, T0 + 3, T0 + 100, 1 << 62),
    "max_num_offsets": one_of(1, 1, 2, 10, 0, -1), "offset": one_of(-1, 0, 1, 3, 5, 6, 1000, -2),
    "resource_type": one_of(2, 2, 2, 4, 4, 8, 0, 1, 3, 16, 32, -1), "resource_name": World.resource_name,
    "configs.name": World.config_name, "configs.value": World.config_value, "configuration_keys": World.config_name,
    "config_operation": one_of(0, 0, 0, 1, 2, 3, 4, -1), "broker_id": one_of(1, 1, 2, 77, -1),
    "broker_ids": one_of(1, 1, 1, 1, 2, 77, -1), "replicas": one_of(1, 1, 1, 2, 77, -1),
    "broker_epoch": lambda w: w.rng.choice((Ref("broker_epoch", 1, unknown=0), Ref("broker_epoch", 1, unknown=0), 0, -1, 1 << 62)),
    # What a broker takes from a controller only if its epoch is not old: it must be old here.
    "controller_epoch": one_of(0, 0, -1), "ControlledShutdown.broker_id": one_of(77, -1, 0),
    "election_type": one_of(0, 0, 1, 2, -1), "path": one_of("/nowhere", "", "relative", "/tmp/"),
    "endpoint_type": one_of(1, 1, 1, 2, 0, 3, -1), "states_filter": one_of("Stable", "Empty", "stable", "Dead", "zzz", ""),
    "types_filter": one_of("classic", "Classic", "consumer", "zzz", ""), "client_software_name": one_of("oracle", "a.b-c", "", "-x", "a b"),
    "client_software_version": one_of("1", "1.0-x", "", ".", "x."), "feature": one_of("", "nothing", "metadata.version"),
    "max_version_level": one_of(0, 1, 3, -1), "upgrade_type": one_of(0, 1, 2, 3, 4, -1),
    "entity_type": one_of("user", "client-id", "ip", "zzz", ""), "entity_name": one_of("qa", "qb", None, "", "10.9.8.7"),
    "match": one_of("qa", "qb", None, ""), "match_type": one_of(0, 1, 2, 3, -1),
    "AlterClientQuotas.ops.key": one_of("producer_byte_rate", "consumer_byte_rate", "request_percentage", "zzz", "connection_creation_rate",
                                        "controller_mutation_rate"),
    "AlterClientQuotas.ops.value": one_of(1e12, 1e12, 1e15, 1.5e12, 1e300), "client_id": one_of("oracle"),
    "host": one_of("h", ""), "port": one_of(1, -1), "adding_replicas": one_of(2), "removing_replicas": one_of(1), "isr": one_of(1),
    "new_isr": one_of(1, 1, 2, 77), "leader": one_of(1, 2, -1), "leader_recovery_state": one_of(0, 0, 0, 1, 2), "partition_epoch": one_of(0, 0, 1, -1), "include_documentation": one_of(False, False, True),
}
# A wild value here would cost too much, or break the cluster for all that follow.
NEVER_WILD = {"num_partitions", "count", "timeout_ms", "max_wait_ms", "controller_epoch", "session_timeout_ms",
              "rebalance_timeout_ms", "broker_id", "transactional_id", "max_num_offsets"}
# What bytes that were changed may still ask for: field, least, most.
LIMITS = {"num_partitions": (-1000, 5), "count": (-1000, 8), "max_wait_ms": (-1000, 50), "controller_epoch": (-99, 0),
          "rebalance_timeout_ms": (-9, 50), "session_timeout_ms": (300000, 1800000), "max_num_offsets": (-9, 99)}
