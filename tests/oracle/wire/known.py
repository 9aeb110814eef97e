"""known - where our brokers answer otherwise on purpose; tests/oracle/wire/README.md has the reasons"""

import re

INVALID_REQUEST, FETCH_SESSION_ID_NOT_FOUND = 42, 70
LOGGER_CONFIG = 6  # as the source of a setting
NO_ID = "00000000-0000-0000-0000-000000000000"
NAMES = ("name", "topic", "topic_name", "topic_id", "partition_index", "partition", "index", "group_id", "resource_type",
         "resource_name", "path", "feature", "entity_type", "entity", "topic_names", "partitions_index")


def identity(item):
    """What an element of a list speaks about."""
    if not isinstance(item, dict):
        return repr(item)
    return repr([item.get(n) for n in NAMES if n in item] or item)


def strings(value):
    """All texts in a request or an answer."""
    if isinstance(value, dict):
        return [s for v in value.values() for s in strings(v)]
    if isinstance(value, list):
        return [s for v in value for s in strings(v)]
    return [value] if isinstance(value, (str, bytes)) else []


def lists(value):
    """All lists in a request, and those inside of them."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [*([value] if isinstance(value, list) else ()), *(found for v in inside for found in lists(v))]


def is_no_text(value):
    return value == b"\xff\xfe" or isinstance(value, str) and "\\x" in value


def is_no_node(name):
    """ZooKeeper's client refuses a path with such a part."""
    return name is not None and (name in ("", ".", "..") or is_no_text(name) or any(c < " " or "\x7f" <= c <= "\x9f" or c >= "\ud800" for c in name))


def partitions(d, topics="topics"):
    return [p for t in d.asked[topics] or () for p in t["partitions"]]


def is_part(few, many):
    """One of each of those."""
    return all(x in many for x in few) and sorted(map(identity, few)) == sorted(set(map(identity, many)))


# Rules: of the API and the fields of the table below, and of a request of which this is true.


def once(d):
    """Of what stands twice one answer is ours, too; nothing else differs."""
    return isinstance(d.kafka, list) and isinstance(d.ours, list) and is_part(d.ours, d.kafka)


def each_time(d):
    """The other way round."""
    return isinstance(d.kafka, list) and isinstance(d.ours, list) and is_part(d.kafka, d.ours)


def topic_twice(d):
    names = [t["topic_name"] for t in d.asked.get("topic_states", ())]
    return d.kafka == -1 and len(set(names)) < len(names)


def readable(text):
    return re.sub(r"(\\x[0-9a-f]{2}|%[0-9A-F]{2}|[^ -~]|\?)+", "?", text or "")


def no_text(d):
    return any(map(is_no_text, strings(d.asked))) and readable(d.kafka) == readable(d.ours)


def nul(d):
    """A message of ours stops where Kafka's goes on, or a setting is refused."""
    held = sorted((s for s in strings(d.asked) if isinstance(s, str) and "\0" in s), key=len, reverse=True)
    if d.path.endswith("error_code"):
        return d.ours == INVALID_REQUEST and bool(held)
    cut = d.kafka or ""
    for s in held:
        cut = cut.replace(s, s[:s.index("\0")])
    return bool(held) and cut == d.ours


def isolation(d):
    return d.kafka == -1 and d.asked.get("isolation_level", 0) not in (0, 1)


def session_shard(d):
    return d.kafka == -1 and d.ours in (0, FETCH_SESSION_ID_NOT_FOUND) and not 0 <= d.asked["session_id"] < 8 * (0x7FFFFFFF // 8)


def no_topic_id(d):
    return d.kafka in (-1, "no answer") and d.version >= 13 and any(t["topic_id"] == NO_ID for t in d.asked["topics"])


def nameless_topic(d):
    return d.kafka == -1 and d.version >= 12 and any(t["name"] is None for t in d.asked["topics"] or ())


def negative_size(d):
    return d.kafka == -1 and d.ours == 0 and (d.asked.get("max_bytes", 0) < 0 or any(p["partition_max_bytes"] < 0 for p in partitions(d)))


def negative_count(d):
    return d.kafka == -1 and d.ours == 0 and any(p.get("max_num_offsets", 0) < 0 for p in partitions(d))


def recovery_state(d):
    return d.kafka == -1 and any(p.get("leader_recovery_state", 0) not in (0, 1) for p in partitions(d))


def no_batch(d):
    """A codec that nobody knows, or a batch that is too short for its header."""
    return d.kafka == -1 and d.ours == 2


def empty_match(d):
    return d.kafka == -1 and any(c["match"] == "" and c["match_type"] == 0 for c in d.asked["components"])


def no_node(d):
    return d.kafka == -1 and any(is_no_node(t["name"]) for t in d.asked["topics"])


def without_replicas(d):
    return d.kafka == 0 and any(a["broker_ids"] == [] for t in d.asked["topics"] for a in t["assignments"])


def loggers(d):
    """Whose names differ, and nothing but loggers do."""
    return all(c.get("config_source", LOGGER_CONFIG) == LOGGER_CONFIG for c in [*d.kafka, *d.ours]) and any(
        r["resource_type"] == 8 for r in d.asked["resources"])


def no_records(d):
    return d.kafka == "no answer" and any(p["records"] is None for t in d.asked["topic_data"] for p in t["partition_data"])


def unknown_resources(d):
    return d.kafka == "no answer" and any(r["resource_type"] not in (2, 4, 8, 16) for r in d.asked["resources"])


def resource_twice(d):
    return d.kafka == "no answer" and len({identity(r) for r in d.asked["resources"]}) < len(d.asked["resources"])


def no_groups(d):
    return d.kafka == "no answer" and d.asked.get("groups") == []


def unknown_protocol(d):
    return d.kafka == "closed" and any(not 0 <= e["security_protocol"] <= 3 for b in d.asked["live_brokers"] for e in b["endpoints"])


def documentation(d):
    return bool(d.kafka) and bool(d.ours)


def order_of_brokers(d):
    """All are told, in another order."""
    return bool(d.kafka) and bool(d.ours) and sorted(re.split("[ ,.]+", d.kafka)) == sorted(re.split("[ ,.]+", d.ours))


def order_of_a_map(d):
    """Each tells of another element of one list."""
    def speaks_of(message, item):
        texts = strings(item) if isinstance(item, dict) else []
        return bool(message) and any("?" in message if is_no_text(v) else v in message or v.split("\0")[0] in message for v in texts)
    return any(speaks_of(d.kafka, x) and speaks_of(d.ours, y) for many in lists(d.asked) for x in many for y in many if x is not y)


def printed_map(d):
    return bool(d.ours) and str(d.kafka).startswith(f"{d.ours}: ") and "HashMap(" in d.kafka


def why_not_elected(d):
    return str(d.kafka).startswith("Failed to elect leader for partition ") and bool(d.ours)


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
    "AlterClientQuotas": ((nul, "entries.error_message"), (no_text, "entries.error_message"),
                          (order_of_a_map, "entries.error_message")),
    "AlterConfigs": ((unknown_resources, ANSWER), (resource_twice, ANSWER), (order_of_a_map, "responses.error_message"), (nul, "responses.error_code")),
    "AlterPartition": ((recovery_state, ERROR),),
    "CreatePartitions": ((no_node, "results.error_code"), (order_of_brokers, "results.error_message"),
                         (clearer, "results.error_message")),
    "CreateTopics": ((nul, "topics.error_message", "topics.error_code"), (without_replicas, "topics.error_code"),
                     (printed_map, "topics.error_message"), (order_of_a_map, "topics.error_message"),
                     (version_in_full, "topics.configs.value")),
    "DescribeClientQuotas": ((empty_match, ERROR), (nul, "error_message")),
    "DescribeConfigs": ((version_in_full, "results.configs.value", "results.configs.synonyms.value"), (kraft, "results.configs"),
                        (loggers, "results.configs"), (documentation, "results.configs.documentation"),
                        (nul, "results.error_message"), (no_text, "results.error_message")),
    "ConsumerGroupDescribe": ((once, "groups"),),
    "DescribeGroups": ((once, "groups"),),
    "DescribeProducers": ((expired_producer, "topics.partitions.active_producers"), (nul, "topics.partitions.error_message"),
                          (no_text, "topics.partitions.error_message")),
    "ElectLeaders": ((why_not_elected, "replica_election_results.partition_result.error_message"),),
    "Fetch": ((isolation, ERROR, "responses.partitions.error_code"), (session_shard, ERROR),
              (no_topic_id, ERROR, ANSWER), (negative_size, ERROR, "responses.partitions.error_code")),
    "IncrementalAlterConfigs": ((order_of_a_map, "responses.error_message"), (nul, "responses.error_code")),
    "LeaderAndIsr": ((topic_twice, ERROR),),
    "ListOffsets": ((isolation, PART_ERROR), (negative_count, PART_ERROR)),
    "Metadata": ((nameless_topic, "topics.error_code"),),
    "OffsetDelete": ((once, "topics.partitions"),),
    "OffsetFetch": ((no_groups, ANSWER), (once, "groups")),
    "Produce": ((no_records, ANSWER), (each_time, "responses.partition_responses"), (no_batch, "responses.partition_responses.error_code"),
                (clearer, "responses.partition_responses.error_message")),
    "UpdateMetadata": ((unknown_protocol, ANSWER),),
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
