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


def named_twice(asked, _path, _kafka, _ours):
    return has_twice(asked)


def nothing_inside(asked, _path, kafka, ours):
    return has_nothing(asked) and isinstance(kafka, list) and isinstance(ours, list) and len(kafka) != len(ours)


def no_text(asked, _path, _kafka, _ours):
    return has_text(asked, is_no_text)


def nul(asked, path, _kafka, _ours):
    return path.endswith(("error_message", "error_code")) and has_text(asked, lambda v: isinstance(v, str) and "\0" in v)


def kafkas_own_fault(_asked, path, kafka, _ours):
    return path.endswith("error_code") and kafka == -1


def loggers(asked, path, _kafka, _ours):
    return path.startswith("results.configs") and any(r["resource_type"] == 8 for r in asked["resources"])


def no_records(asked, _path, kafka, _ours):
    return kafka == "no answer" and any(p["records"] is None for t in asked["topic_data"] for p in t["partition_data"])


def unknown_resources(asked, _path, kafka, _ours):
    return kafka == "no answer" and any(r["resource_type"] not in (2, 4, 8, 16) for r in asked["resources"])


def no_groups(asked, _path, kafka, _ours):
    return kafka == "no answer" and asked.get("groups") == []


def unknown_protocol(asked, _path, kafka, _ours):
    return kafka == "closed" and any(not 0 <= e["security_protocol"] <= 3 for b in asked["live_brokers"] for e in b["endpoints"])


def no_znode(asked, path, _kafka, _ours):
    return path.endswith("error_message") and has_text(asked, lambda v: v in ("", ".", ".."))


def documentation(_asked, path, _kafka, _ours):
    return path.endswith("documentation")


def order_of_a_map(_asked, path, kafka, ours):
    return path == "entries.error_message" and kafka is not None and ours is not None


def clearer(_asked, path, kafka, ours):
    return path.endswith("error_message") and not kafka and bool(ours)


def kraft(_asked, path, kafka, ours):
    """Settings that have no meaning with ZooKeeper."""
    return path == "results.configs" and ours == [] and all(c["name"].startswith(KRAFT) for c in kafka)


KRAFT = ("broker.heartbeat.", "broker.session.", "controller.", "early.start.", "eligible.leader.", "group.consumer.",
         "group.coordinator.", "group.share.", "initial.broker.", "log.dir.failure.", "max.request.partition.", "metadata.",
         "node.id", "process.roles", "sasl.mechanism.controller.", "telemetry.", "zookeeper.metadata.migration.")
EVERYWHERE = (clearer, named_twice, nothing_inside, no_text, nul, kafkas_own_fault)
OF_API = {"DescribeConfigs": (loggers, documentation, kraft), "AlterClientQuotas": (order_of_a_map,), "Produce": (no_records,), "UpdateMetadata": (unknown_protocol,),
          "CreatePartitions": (no_znode,), "OffsetFetch": (no_groups,),
          "AlterConfigs": (unknown_resources,)}


def is_known(api, asked, difference):
    """The name of the rule by which a difference is meant, or None."""
    if asked is None:
        return None
    for rule in (*EVERYWHERE, *OF_API.get(api, ())):
        if rule(asked, *difference):
            return rule.__name__
    return None
