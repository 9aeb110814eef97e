"""known - where our brokers answer otherwise on purpose; tests/oracle/wire/README.md has the reasons"""

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


def named_twice(d):
    return has_twice(d.asked) or d.api in ("LeaderAndIsr", "UpdateMetadata") and has_twice(without_ids(d.asked))


def without_ids(asked):
    return {**asked, "topic_states": [{"topic_name": t["topic_name"]} for t in asked.get("topic_states", [])]}


def nothing_inside(d):
    return has_nothing(d.asked) and isinstance(d.kafka, list) and isinstance(d.ours, list)


def no_text(d):
    return has_text(d.asked, is_no_text)


def nul(d):
    return d.path.endswith(("error_message", "error_code")) and has_text(d.asked, lambda v: isinstance(v, str) and "\0" in v)


def kafkas_own_fault(d):
    return "'error_code': -1," in d.whole or "'error_code': -1}" in d.whole


def loggers(d):
    return d.path.startswith("results.configs") and any(r["resource_type"] == 8 for r in d.asked["resources"])


def no_records(d):
    return d.kafka == "no answer" and any(p["records"] is None for t in d.asked["topic_data"] for p in t["partition_data"])


def unknown_resources(d):
    return d.kafka == "no answer" and any(r["resource_type"] not in (2, 4, 8, 16) for r in d.asked["resources"])


def no_groups(d):
    return d.kafka == "no answer" and d.asked.get("groups") == []


def unknown_protocol(d):
    return d.kafka == "closed" and any(not 0 <= e["security_protocol"] <= 3 for b in d.asked["live_brokers"] for e in b["endpoints"])


def no_znode(d):
    return has_text(d.asked, lambda v: v in ("", ".", ".."))


def documentation(d):
    return d.path.endswith("documentation")


def order_of_a_map(d):
    return d.path.endswith("error_message") and bool(d.kafka) and bool(d.ours) and (
        d.path.startswith("entries") or d.kafka.split(" ")[:2] == d.ours.split(" ")[:2])


def damaged_id(d):
    return d.path.endswith("member_id") and len(str(d.kafka)) == len(str(d.ours)) > 30


def expired_producer(d):
    return d.path.endswith("active_producers") and d.ours == [] and all(p["last_timestamp"] in (-1, 0) for p in d.kafka)


def clearer(d):
    return d.path.endswith("error_message") and not d.kafka and bool(d.ours)


def kraft(d):
    """Settings that have no meaning with ZooKeeper."""
    return d.path == "results.configs" and d.ours == [] and all(c["name"].startswith(KRAFT) for c in d.kafka)


KRAFT = ("broker.heartbeat.", "broker.session.", "controller.", "early.start.", "eligible.leader.", "group.consumer.",
         "group.coordinator.", "group.share.", "initial.broker.", "log.dir.failure.", "max.request.partition.", "metadata.",
         "node.id", "process.roles", "sasl.mechanism.controller.", "telemetry.", "zookeeper.metadata.migration.")
EVERYWHERE = (clearer, named_twice, nothing_inside, no_text, nul, kafkas_own_fault, damaged_id)
OF_API = {"DescribeConfigs": (loggers, documentation, kraft), "AlterClientQuotas": (order_of_a_map,), "Produce": (no_records,),
          "UpdateMetadata": (unknown_protocol,), "CreatePartitions": (no_znode,), "OffsetFetch": (no_groups,),
          "DescribeProducers": (expired_producer,), "AlterConfigs": (unknown_resources, order_of_a_map), "CreateTopics": (order_of_a_map,),
          "IncrementalAlterConfigs": (order_of_a_map, no_znode)}


class Difference:
    """What a rule may look at: the request, where the answers differ first, Kafka's answer as text."""

    def __init__(self, exchange, difference, kafka_answer):
        self.api, self.asked = exchange.api, exchange.asked
        self.path, self.kafka, self.ours = difference
        self.whole = repr(kafka_answer)


def is_known(exchange, difference, kafka_answer):
    """The name of the rule by which a difference is meant, or None."""
    if exchange.asked is None:
        return None
    d = Difference(exchange, difference, kafka_answer)
    for rule in (*EVERYWHERE, *OF_API.get(d.api, ())):
        if rule(d):
            return rule.__name__
    return None
