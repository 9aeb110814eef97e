"""of_admin - scenarios of administration: topics, partitions, configs, moves, and a controller's orders"""

from sides import NO_ID, Ref
from talk import batch, long_scenario, scenario

TOPIC, BROKER, LOGGER = 2, 4, 8


@scenario
def topics_of_each_version(talk):
    for v in talk.versions("CreateTopics"):
        names = [f"made-{v}-{i}" for i in range(3)]
        one = [{"partition_index": 0, "broker_ids": [1]}]
        for dry in (True, False) if v >= 1 else (False,):
            talk("CreateTopics", v, {"timeout_ms": 30000, "validate_only": dry, "topics": [
                {"name": names[0], "num_partitions": 2, "replication_factor": 1,
                 "configs": [{"name": "retention.ms", "value": "5"}, {"name": "cleanup.policy", "value": "compact"}]},
                {"name": names[1], "num_partitions": -1, "replication_factor": -1, "assignments": one},
                {"name": names[2], "num_partitions": 1, "replication_factor": 1,
                 "configs": [{"name": "segment.bytes", "value": "1"}]}]})
        talk("CreateTopics", v, {"timeout_ms": 30000, "topics": [
            {"name": names[0], "num_partitions": 1, "replication_factor": 1},
            {"name": names[0].replace("-", "."), "num_partitions": 1, "replication_factor": 1},
            {"name": names[2], "num_partitions": -1, "replication_factor": -1, "assignments": [
                {"partition_index": 0, "broker_ids": [1, 1]}]}]})
        for m in range(4, 13):  # those before make what they do not find
            talk("Metadata", m, {"topics": [{"name": n} for n in names], "allow_auto_topic_creation": False,
                                 "include_topic_authorized_operations": True})
        talk("CreatePartitions", v % 4, {"timeout_ms": 30000, "topics": [
            {"name": names[0], "count": 4, "assignments": [{"broker_ids": [1]}] * 2},
            {"name": names[1], "count": 1, "assignments": None}, {"name": names[2], "count": 2, "assignments": None}]})
        talk("DescribeLogDirs", v % 5, {"topics": [{"topic": names[0], "partitions": [0, 3, 9]}]})
        talk("DeleteTopics", min(v, 5), {"timeout_ms": 30000, "topic_names": names})
    bad, places = [{"name": "segment.bytes", "value": "1"}], {"one": (0, [1]), "none": (0, []), "two": (1, [2, 1])}
    for configs in ([], bad):
        for names in (("none",), ("one", "none"), ("none", "one"), ("one", "two"), ("two",), ("none", "two")):
            talk("CreateTopics", 7, {"timeout_ms": 30000, "validate_only": True, "topics": [
                {"name": "placed", "num_partitions": -1, "replication_factor": -1, "configs": configs, "assignments": [
                    {"partition_index": p, "broker_ids": brokers} for p, brokers in map(places.get, names)]}]})
    talk.topic("by-id")
    talk("DeleteTopics", 6, {"timeout_ms": 30000, "topics": [{"name": None, "topic_id": talk.topic_id("by-id")}]})
    talk("DeleteTopics", 6, {"timeout_ms": 30000, "topics": [{"name": None, "topic_id": talk.topic_id("by-id")}]})
    talk("Metadata", 12, {"topics": [{"name": None, "topic_id": talk.topic_id("by-id")}]})


SETTINGS = (("retention.ms", "1000"), ("retention.ms", "x"), ("cleanup.policy", "compact,delete"), ("cleanup.policy", "x"),
            ("max.message.bytes", "-1"), ("min.insync.replicas", "0"), ("compression.type", "lz4"), ("compression.type", "X"),
            ("compression.gzip.level", "5"), ("compression.gzip.level", "50"), ("segment.bytes", "14"),
            ("min.cleanable.dirty.ratio", "1.5"), ("message.timestamp.type", "logappendtime"), ("preallocate", "maybe"),
            ("follower.replication.throttled.replicas", "0:1,1:2"), ("follower.replication.throttled.replicas", "0-1"),
            ("message.format.version", " 5 "), ("message.format.version", " 2.8 "), ("retention.ms", " 1000 "), ("retention.ms", " x "),
            ("cleanup.policy", " x "), ("cleanup.policy", " delete , compact "), ("compression.type", " lz4 "), ("compression.type", " X "),
            ("min.cleanable.dirty.ratio", " 1.5 "), ("preallocate", " maybe "), ("message.timestamp.type", " x "),
            ("local.retention.ms", "2000"), ("remote.storage.enable", "true"), ("unknown", "1"), ("max.compaction.lag.ms", "0"))


@scenario
def settings_of_topics(talk):
    talk.topic("set")
    for name, value in SETTINGS:
        for dry in (True, False):
            talk("IncrementalAlterConfigs", int(dry), {"validate_only": dry, "resources": [
                {"resource_type": TOPIC, "resource_name": "set",
                 "configs": [{"name": name, "config_operation": 0, "value": value}]}]})
    for v in talk.versions("DescribeConfigs"):
        for synonyms in (False, True) if v >= 1 else (False,):
            talk("DescribeConfigs", v, {"include_synonyms": synonyms, "resources": [
                {"resource_type": TOPIC, "resource_name": "set", "configuration_keys": None},
                {"resource_type": TOPIC, "resource_name": "none", "configuration_keys": None}]})
    for operation, name, value in ((2, "cleanup.policy", "delete"), (3, "cleanup.policy", "compact"), (1, "retention.ms", None),
                                   (2, "retention.ms", "5"), (3, "unknown", "x"), (1, "unknown", None), (7, "retention.ms", "1")):
        talk("IncrementalAlterConfigs", 1, {"resources": [{"resource_type": TOPIC, "resource_name": "set", "configs": [
            {"name": name, "config_operation": operation, "value": value}]}]})
        talk("DescribeConfigs", 4, {"resources": [{"resource_type": TOPIC, "resource_name": "set",
                                                   "configuration_keys": [name]}]})
    for name in (".", "..", "a/../b", "a//b", "a/", "a/.", "", "x y", "x\x7f", "no/name", "none", "é", "\ue000", "\U0001f600"):
        change = {"resource_type": TOPIC, "resource_name": name}
        talk("DescribeConfigs", 4, {"resources": [{**change, "configuration_keys": None}]})
        talk("AlterConfigs", 2, {"resources": [{**change, "configs": [{"name": "retention.ms", "value": "1"}]}]})
        talk("IncrementalAlterConfigs", 1, {"resources": [{**change, "configs": [
            {"name": "retention.ms", "config_operation": 0, "value": "1"}]}]})
    for v in talk.versions("AlterConfigs"):
        talk("AlterConfigs", v, {"resources": [{"resource_type": TOPIC, "resource_name": "set", "configs": [
            {"name": "retention.bytes", "value": str(v)}]}]})
        talk("DescribeConfigs", 4, {"resources": [{"resource_type": TOPIC, "resource_name": "set", "configuration_keys": None}]})


@scenario
def settings_of_brokers(talk):
    changes = (("log.cleaner.backoff.ms", "5"), ("num.io.threads", "1000"), ("num.io.threads", "9"), ("log.dirs", "/x"),
               ("broker.id", "2"), ("unclean.leader.election.enable", "true"), ("min.insync.replicas", "2"),
               ("follower.replication.throttled.rate", "1000"), ("log.retention.hours", "5"), ("unknown.key", "1"),
               ("ssl.keystore.password", "secret"), ("listeners", "PLAINTEXT://:1"), ("compression.type", "nothing"))
    for broker in ("1", "", "2", "x"):
        for name, value in changes:
            talk("IncrementalAlterConfigs", 1, {"validate_only": True, "resources": [
                {"resource_type": BROKER, "resource_name": broker,
                 "configs": [{"name": name, "config_operation": 0, "value": value}]}]})
    for v in talk.versions("DescribeConfigs"):
        for broker in ("1", "", "2"):
            talk("DescribeConfigs", v, {"include_synonyms": v >= 1, "resources": [
                {"resource_type": BROKER, "resource_name": broker, "configuration_keys": None}]})


@scenario
def named_twice(talk):
    """Of what stands twice the last or the first counts, or both are refused; and it is answered once, or as often."""
    for name in ("twice", "other"):
        talk.topic(name, partitions=2)
    for n in range(5):
        talk.produce(7, "twice", batch(f"{n}"))
    one = {"num_partitions": 1, "replication_factor": 1}
    lists = [{"partition_index": 0, "broker_ids": [77, 1]}, {"partition_index": 0, "broker_ids": [1]}]
    for v in talk.versions("CreateTopics"):
        talk("CreateTopics", v, {"timeout_ms": 30000, "topics": [
            {"name": name, **one} for name in ("new", "twice", "__cluster_metadata", "new", "__cluster_metadata", "new")]})
        talk("CreateTopics", v, {"timeout_ms": 30000, "topics": [
            {"name": f"lists-{v}", "num_partitions": -1, "replication_factor": -1, "assignments": lists}]})
    for v in talk.versions("DeleteRecords"):
        talk("DeleteRecords", v, {"timeout_ms": 10000, "topics": [{"name": name, "partitions": [
            {"partition_index": p, "offset": o} for p, o in parts]} for name, parts in (
                ("twice", [(0, 4), (1, 0), (0, v)]), ("other", [(0, 0)]), ("other", []), ("none", []), ("twice", [(0, v + 1), (9, 0)]))]})
    talk.list_offsets(7, "twice", -2)
    talk("OffsetCommit", 2, {"group_id": "twice", "generation_id_or_member_epoch": -1, "member_id": "", "topics": [
        {"name": "twice", "partitions": [{"partition_index": p, "committed_offset": 5, "committed_metadata": ""} for p in (0, 1)]},
        {"name": "other", "partitions": []}, {"name": "none", "partitions": []}]})
    for v in talk.versions("OffsetFetch"):
        topics = [{"name": name, "partition_indexes": parts} for name, parts in (("twice", [1, 0, 1]), ("other", [0]), ("twice", [0]))]
        talk("OffsetFetch", v, {"groups": [{"group_id": "twice", "topics": topics}]} if v >= 8 else
             {"group_id": "twice", "topics": topics})
    talk("OffsetDelete", 0, {"group_id": "twice", "topics": [
        {"name": name, "partitions": [{"partition_index": p} for p in parts]}
        for name, parts in (("twice", [0, 0, 9]), ("none", []), ("other", []), ("twice", [0]))]})
    talk("OffsetFetch", 7, {"group_id": "twice", "topics": None})
    quota = {"key": "producer_byte_rate", "value": 1e12, "remove": False}
    for v in talk.versions("AlterClientQuotas"):
        talk("AlterClientQuotas", v, {"validate_only": False, "entries": [
            {"entity": [{"entity_type": kind, "entity_name": name} for kind, name in entity], "ops": [{**quota, "key": key}]}
            for key, entity in (("zzz", [("user", "u"), ("client-id", "c")]), ("producer_byte_rate", [("user", "u")]),
                                ("producer_byte_rate", [("client-id", "c"), ("user", "u")]))]})
    for v in talk.versions("UpdateFeatures"):
        talk("UpdateFeatures", v, {"timeout_ms": 1000, "feature_updates": [
            {"feature": "f", "max_version_level": n, "upgrade_type": 1} for n in (0, -1, 5)]})


@scenario
def controllers_orders(talk):
    """As a controller of the same epoch gives them: a replica is made, led, written, stopped; no node in ZooKeeper."""
    topic, topic_id = "ghost", "12345678-1111-2222-3333-444444444444"
    epoch, broker = 1, Ref("broker_epoch", 1)
    state = {"partition_index": 0, "controller_epoch": epoch, "leader": 1, "leader_epoch": 3, "isr": [1], "partition_epoch": 1,
             "zk_version": 1, "replicas": [1], "is_new": True, "topic_name": topic}
    said = {"controller_id": 1, "controller_epoch": epoch, "broker_epoch": broker}

    def lead(version, **more):
        states = {"topic_states": [{"topic_name": topic, "topic_id": topic_id, "partition_states": [{**state, **more}]}]} \
            if version >= 2 else {"ungrouped_partition_states": [{**state, **more}]}
        talk("LeaderAndIsr", version, {**said, **states, "live_leaders": []})

    def stop(version, delete, leader_epoch):
        parts = {0: {"ungrouped_partitions": [{"topic_name": topic, "partition_index": 0}]},
                 1: {"topics": [{"name": topic, "partition_indexes": [0]}]}}
        parts[2] = parts[1]
        part = {"partition_index": 0, "leader_epoch": leader_epoch, "delete_partition": delete}
        talk("StopReplica", version, {**said, "delete_partitions": delete, **parts.get(version, {
            "topic_states": [{"topic_name": topic, "partition_states": [part]}]})})

    for v in talk.versions("LeaderAndIsr"):
        lead(v, leader_epoch=3 + v)
        lead(v, leader_epoch=2 + v)
        lead(v, leader_epoch=3 + v)
    lead(7, leader_epoch=20, replicas=[2], isr=[2], leader=2)
    for v in range(5, 9):  # those before have no broker epoch, and would be obeyed
        states = {"topic_states": [{"topic_name": topic, "topic_id": topic_id, "partition_states": [state]}]}
        endpoint = {"port": 1234, "host": "h", "listener": "PLAINTEXT", "security_protocol": 0}
        talk("UpdateMetadata", v, {**said, **states, "broker_epoch": 0, "live_brokers": [
            {"id": 1, "v0_host": "h", "v0_port": 1234, "endpoints": [endpoint]}]})
    for v in talk.versions("StopReplica"):
        lead(7, leader_epoch=30 + v, isr=[1], replicas=[1])
        stop(v, False, 29)
        stop(v, True, 30 + v)
        stop(v, True, 40)
    talk("LeaderAndIsr", 7, {**said, "broker_epoch": 1, "topic_states": []})
    for v in (5, 7):  # of an older epoch, whose refusal tells every topic
        talk("LeaderAndIsr", v, {**said, "broker_epoch": 0, "topic_states": [
            {"topic_name": "ghost", "topic_id": topic_id, "partition_states": []},
            {"topic_name": "spirit", "topic_id": NO_ID, "partition_states": [state]}]})
    kraft = {**said, "is_k_raft_controller": True}
    for epoch in (broker, 0):
        talk("LeaderAndIsr", 7, {**kraft, "broker_epoch": epoch, "topic_states": [
            {"topic_name": topic, "topic_id": topic_id, "partition_states": [{**state, "leader_epoch": 99}]}]})
        talk("StopReplica", 4, {**kraft, "broker_epoch": epoch, "topic_states": [{"topic_name": topic, "partition_states": [
            {"partition_index": 0, "leader_epoch": 99, "delete_partition": True}]}]})
        talk("UpdateMetadata", 8, {**kraft, "broker_epoch": epoch, "topic_states": [], "live_brokers": []})


@scenario
def producer_id_blocks(talk):
    for _ in range(2):
        talk("AllocateProducerIds", 0, {"broker_id": 1, "broker_epoch": Ref("broker_epoch", 1)})
    talk("AllocateProducerIds", 0, {"broker_id": 1, "broker_epoch": 1})
    talk("AllocateProducerIds", 0, {"broker_id": 9, "broker_epoch": 1})


@long_scenario
def two_brokers(talk):
    """Moves, elections and a leader elsewhere; brokers 1 and 2."""
    talk.judge.sides.start_broker(2)
    for name, lists in (("moves", [[1], [1]]), ("elects", [[2, 1]]), ("far", [[2]])):
        talk("CreateTopics", 4, {"timeout_ms": 30000, "topics": [
            {"name": name, "num_partitions": -1, "replication_factor": -1,
             "assignments": [{"partition_index": i, "broker_ids": ids} for i, ids in enumerate(lists)]}]})
    talk.judge.names += ["moves", "elects", "far"]
    talk.judge.settle()
    for v in talk.versions("Metadata"):
        talk("Metadata", v, {"topics": [{"name": n} for n in ("moves", "elects", "far")]})
    for v in (0, 2, 3, 7, 9, 10, 11):
        if v >= 3:
            talk.produce(v, "far", batch("a"))
    for side in talk.judge.sides.both:
        for t in side.ask("Metadata", 12, {"topics": None})["topics"]:
            side.known["topic", t["name"]] = t["topic_id"]
    for v in talk.versions("Fetch"):
        talk.fetch(v, "far", 0)
    for v in talk.versions("ListOffsets"):
        talk.list_offsets(v, "far", -1)
    talk("OffsetForLeaderEpoch", 4, {"replica_id": -1, "topics": [{"topic": "far", "partitions": [
        {"partition": 0, "current_leader_epoch": -1, "leader_epoch": 0}]}]})
    talk("DeleteRecords", 2, {"timeout_ms": 1000, "topics": [{"name": "far", "partitions": [
        {"partition_index": 0, "offset": 0}]}]})

    def move(*parts):
        talk("AlterPartitionReassignments", 0, {"timeout_ms": 30000, "topics": [{"name": "moves", "partitions": [
            {"partition_index": p, "replicas": ids} for p, ids in parts]}]})
        talk.wait("ListPartitionReassignments", 0, {"timeout_ms": 1000, "topics": None},
                  lambda answer: answer["error_code"] == 0 and not answer["topics"])
        talk.judge.settle()
        talk("Metadata", 9, {"topics": [{"name": "moves"}]})
    move((0, [2, 1]), (1, [7]), (9, [1]))
    move((0, [2]), (1, [2, 1]))
    move((0, None), (1, [1, 1]))
    move((0, []), (1, [1]))
    for v in talk.versions("ElectLeaders"):
        for kind in (0, 1) if v else (0,):
            talk("ElectLeaders", v, {"election_type": kind, "timeout_ms": 30000, "topic_partitions": [
                {"topic": "elects", "partitions": [0, 4]}, {"topic": "none", "partitions": [0]}]})
    for replica in (1, 2):
        talk("Fetch", 12, {"replica_id": replica, "max_wait_ms": 0, "min_bytes": 0, "session_epoch": -1, "topics": [
            {"topic": "moves", "partitions": [{"partition": 1, "fetch_offset": 0, "partition_max_bytes": 100,
                                               "current_leader_epoch": -1}]}]})
    talk("AlterPartition", 3, {"broker_id": 2, "broker_epoch": Ref("broker_epoch", 2), "topics": [
        {"topic_id": NO_ID, "partitions": []}]})


@long_scenario
def loggers(talk):
    for name, value in (("root", "INFO"), ("root", "zzz"), ("no.such.logger", "INFO")):
        talk("IncrementalAlterConfigs", 1, {"validate_only": True, "resources": [
            {"resource_type": LOGGER, "resource_name": "1", "configs": [
                {"name": name, "config_operation": 0, "value": value}]}]})
