"""known - where our brokers answer otherwise on purpose; tests/oracle/wire/README.md has the reasons"""

import re

INVALID_CONFIG = 40
NO_ID = "00000000-0000-0000-0000-000000000000"
NAMES = ("name", "topic", "topic_name", "topic_id", "partition_index", "partition", "index", "group_id", "resource_type",
         "resource_name", "path", "feature", "entity_type", "entity", "topic_names", "partitions_index")


def identity(item):
    """What an element of a list speaks about."""
    if not isinstance(item, dict):
        return repr(item)
    return repr([item.get(n) for n in NAMES if n in item] or item)


def has_twice(value):
    """Something in a list is named twice."""
    if isinstance(value, dict):
        return any(map(has_twice, value.values()))
    if isinstance(value, list):
        return len(set(map(identity, value))) < len(value) or any(map(has_twice, value))
    return False


def has_nothing(value, inside=False):
    """A list inside an element of a list is empty."""
    if isinstance(value, dict):
        return any(has_nothing(v, inside) for v in value.values())
    if isinstance(value, list):
        return inside and not value or any(has_nothing(v, True) for v in value)
    return False


def has_text(value, test):
    if isinstance(value, dict):
        return any(has_text(v, test) for v in value.values())
    if isinstance(value, list):
        return any(has_text(v, test) for v in value)
    return test(value)


def is_no_text(value):
    return value == b"\xff\xfe" or isinstance(value, str) and "\\x" in value


def has_nul(value):
    return isinstance(value, str) and "\0" in value


def is_no_node(name):
    """ZooKeeper's client refuses a path with such a part."""
    return name is not None and (name in ("", ".", "..") or is_no_text(name) or any(c < " " or "\x7f" <= c <= "\x9f" or c >= "\ud800" for c in name))


def partitions(d, topics="topics"):
    return [p for t in d.asked[topics] or () for p in t["partitions"]]


# Rules: of the API and the fields of the table below, and of a request of which this is true.


def named_twice(d):
    return has_twice(d.asked)


def topic_twice(d):
    """Kafka keeps the states of a request in a map by topic."""
    names = [t["topic_name"] for t in d.asked.get("topic_states", ())]
    return len(set(names)) < len(names) and (d.path != "error_code" or d.kafka == -1)


def nothing_inside(d):
    return has_nothing(d.asked) and isinstance(d.kafka, list) and isinstance(d.ours, list)


def no_text(d):
    return has_text(d.asked, is_no_text)


def nul(d):
    return has_text(d.asked, has_nul)


def isolation(d):
    return d.kafka == -1 and d.asked.get("isolation_level", 0) not in (0, 1)


def session_shard(d):
    return d.kafka == -1 and not 0 <= d.asked.get("session_id", 0) < 8 * (0x7FFFFFFF // 8)


def no_topic_id(d):
    return d.kafka in (-1, "no answer") and d.version >= 13 and any(t["topic_id"] == NO_ID for t in d.asked["topics"])


def nameless_topic(d):
    return d.kafka == -1 and d.version >= 12 and any(t["name"] is None for t in d.asked["topics"] or ())


def negative_size(d):
    return d.kafka == -1 and (d.asked.get("max_bytes", 0) < 0 or any(p["partition_max_bytes"] < 0 for p in partitions(d)))


def negative_count(d):
    return d.kafka == -1 and any(p.get("max_num_offsets", 0) < 0 for p in partitions(d))


def from_kraft(d):
    return d.kafka == -1 and bool(d.asked.get("is_k_raft_controller")) and d.ours in (11, 77)


def recovery_state(d):
    return d.kafka == -1 and any(p.get("leader_recovery_state", 0) not in (0, 1) for p in partitions(d))


def no_batch(d):
    """A codec that nobody knows, or a batch that is too short for its header."""
    return d.kafka == -1 and d.ours == 2


def empty_match(d):
    return d.kafka == -1 and any(c["match"] == "" and c["match_type"] == 0 for c in d.asked["components"])


def no_node(d):
    things = d.asked["topics"] if "topics" in d.asked else d.asked["resources"]
    names = [d.asked.get("group_id"), *(t.get("name", t.get("resource_name")) for t in things)]
    return d.kafka in (-1, INVALID_CONFIG) and any(map(is_no_node, names))


def loggers(d):
    return any(r["resource_type"] == 8 for r in d.asked["resources"])


def no_records(d):
    return d.kafka == "no answer" and any(p["records"] is None for t in d.asked["topic_data"] for p in t["partition_data"])


def unknown_resources(d):
    return d.kafka == "no answer" and any(r["resource_type"] not in (2, 4, 8, 16) for r in d.asked["resources"])


def no_groups(d):
    return d.kafka == "no answer" and d.asked.get("groups") == []


def unknown_protocol(d):
    return d.kafka == "closed" and any(not 0 <= e["security_protocol"] <= 3 for b in d.asked["live_brokers"] for e in b["endpoints"])


def documentation(_):
    return True


def order_of_a_map(d):
    if d.path == "results.error_message":  # of brokers, all are told
        return bool(d.kafka) and bool(d.ours) and sorted(re.split("[ ,.]+", d.kafka)) == sorted(re.split("[ ,.]+", d.ours))
    return bool(d.kafka) and bool(d.ours) and (d.path.startswith("entries") or d.kafka.split(" ")[:2] == d.ours.split(" ")[:2])


def printed_map(d):
    return bool(d.ours) and str(d.kafka).startswith(f"{d.ours}: ") and "HashMap(" in d.kafka


def why_not_elected(d):
    return str(d.kafka).startswith("Failed to elect leader for partition ") and bool(d.ours)


def damaged_id(d):
    ids = str(d.kafka), str(d.ours)
    return len(ids[0]) == len(ids[1]) > 30 or all(i.startswith("oracle-") for i in ids)


def expired_producer(d):
    return d.ours == [] and all(p["last_timestamp"] in (-1, 0) for p in d.kafka)


def clearer(d):
    return not d.kafka and bool(d.ours)


def version_in_full(d):
    return str(d.kafka).startswith(f"{d.ours}-IV")


def kraft(d):
    """Settings that have no meaning with ZooKeeper."""
    return d.ours == [] and all(c["name"].startswith(KRAFT) for c in d.kafka)


KRAFT = ("broker.heartbeat.", "broker.session.", "controller.", "early.start.", "eligible.leader.", "group.consumer.",
         "group.coordinator.", "group.share.", "initial.broker.", "log.dir.failure.", "max.request.partition.", "metadata.",
         "node.id", "process.roles", "sasl.mechanism.controller.", "telemetry.", "zookeeper.metadata.migration.")
ANSWER, ERROR, PART_ERROR = "answer", "error_code", "topics.partitions.error_code"
# By API: the rules, each with the fields that it may excuse. The first that holds counts.
KNOWN = {
    "AlterClientQuotas": ((order_of_a_map, "entries.error_message"), (no_text, "entries.error_message"), (nul, "entries.error_message"),
                          (named_twice, "entries")),
    "AlterConfigs": ((unknown_resources, ANSWER), (order_of_a_map, "responses.error_message"), (nul, "responses.error_code")),
    "AlterPartition": ((recovery_state, ERROR),),
    "CreatePartitions": ((no_node, "results.error_code"), (order_of_a_map, "results.error_message"), (clearer, "results.error_message")),
    "CreateTopics": ((order_of_a_map, "topics.error_message"), (printed_map, "topics.error_message"), (named_twice, "topics"),
                     (nul, "topics.error_code"), (version_in_full, "topics.configs.value")),
    "DeleteRecords": ((named_twice, "topics", "topics.partitions"), (nothing_inside, "topics")),
    "DescribeClientQuotas": ((empty_match, ERROR), (nul, "error_message")),
    "DescribeConfigs": ((version_in_full, "results.configs.value", "results.configs.synonyms.value"), (kraft, "results.configs"), (loggers, "results.configs"), (documentation, "results.configs.documentation"),
                        (nul, "results.error_message"), (no_text, "results.error_message")),
    "ConsumerGroupDescribe": ((named_twice, "groups"),),
    "DescribeGroups": ((named_twice, "groups"),),
    "DescribeProducers": ((expired_producer, "topics.partitions.active_producers"), (nul, "topics.partitions.error_message"),
                          (no_text, "topics.partitions.error_message")),
    "ElectLeaders": ((why_not_elected, "replica_election_results.partition_result.error_message"),),
    "Fetch": ((isolation, ERROR, "responses.partitions.error_code"), (session_shard, ERROR),
              (no_topic_id, ERROR, ANSWER), (negative_size, ERROR, "responses.partitions.error_code")),
    "IncrementalAlterConfigs": ((order_of_a_map, "responses.error_message"), (no_node, "responses.error_code"),
                                (nul, "responses.error_code")),
    "JoinGroup": ((damaged_id, "member_id"),),
    "LeaderAndIsr": ((from_kraft, ERROR), (topic_twice, ERROR, "topics"), (nothing_inside, "topics")),
    "LeaveGroup": ((damaged_id, "members.member_id"),),
    "ListOffsets": ((isolation, PART_ERROR), (negative_count, PART_ERROR)),
    "Metadata": ((nameless_topic, "topics.error_code"),),
    "OffsetCommit": ((nothing_inside, "topics"), (no_node, PART_ERROR)),
    "OffsetDelete": ((named_twice, "topics", "topics.partitions"), (nothing_inside, "topics")),
    "OffsetFetch": ((no_groups, ANSWER), (named_twice, "groups", "topics", "groups.topics"), (no_node, PART_ERROR)),
    "Produce": ((no_records, ANSWER), (no_batch, "responses.partition_responses.error_code"),
                (clearer, "responses.partition_responses.error_message")),
    "StopReplica": ((from_kraft, ERROR),),
    "UpdateFeatures": ((named_twice, "results.error_message"),),
    "UpdateMetadata": ((unknown_protocol, ANSWER), (from_kraft, ERROR)),
}


class Difference:
    """What a rule may look at: the request, and where the answers differ first."""

    def __init__(self, exchange, asked, difference):
        self.api, self.version, self.asked = exchange.api, exchange.version, asked
        self.path, self.kafka, self.ours = difference


def is_known(exchange, asked, difference):
    """The name of the rule by which a difference is meant, or None. `asked` is what Kafka was asked for."""
    if asked is None:
        return None
    d = Difference(exchange, asked, difference)
    for rule, *paths in KNOWN.get(d.api, ()):
        if d.path in paths and rule(d):
            return rule.__name__
    return None
