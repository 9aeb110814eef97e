"""of_groups - scenarios of groups: members, rebalances, commits"""

from talk import scenario

REBALANCE_IN_PROGRESS = 27
RANGE = [{"name": "range", "metadata": b"\0\1\0\0\0\1\0\x01t\xff\xff\xff\xff"}]


def join(group, member="", **more):
    return {"group_id": group, "session_timeout_ms": 30000, "rebalance_timeout_ms": 3000, "member_id": member,
            "protocol_type": "consumer", "protocols": RANGE, **more}


def commit(group, topic, offset, **more):
    return {"group_id": group, "topics": [{"name": topic, "partitions": [
        {"partition_index": 0, "committed_offset": offset, "committed_metadata": "m"}]}], **more}


def look(talk, group):
    """What every version tells of a group."""
    for v in talk.versions("DescribeGroups"):
        talk("DescribeGroups", v, {"groups": [group, "nobody"], "include_authorized_operations": v % 2 == 1})
    for v in talk.versions("ListGroups"):
        talk("ListGroups", v, {"states_filter": ["Stable", "preparingrebalance"] if v % 2 else [], "types_filter": []})


def fetch_offsets(talk, group, topic):
    for v in talk.versions("OffsetFetch"):
        wanted = [{"name": topic, "partition_indexes": [0, 7]}]
        for topics in (wanted, None) if v >= 2 else (wanted,):
            talk("OffsetFetch", v, {"groups": [{"group_id": group, "topics": topics}]} if v >= 8 else
                 {"group_id": group, "topics": topics})


@scenario
def groups_in_zookeeper(talk):
    """Version 0 keeps offsets below /consumers, where not every name can be a node."""
    talk.topic("old")
    for group in ("g", "a/b", "..", ".", "", "a/", "a//b", "x\x7f", "\ue000", "é"):
        for topic in ("old", "none"):
            talk("OffsetCommit", 0, commit(group, topic, 5))
            talk("OffsetFetch", 0, {"group_id": group, "topics": [{"name": topic, "partition_indexes": [0, 7]}]})


@scenario
def a_member_of_each_version(talk):
    talk.topic("t")
    for v in talk.versions("JoinGroup"):
        group = f"member-{v}"
        talk("JoinGroup", v, join(group), keep={"me": "member_id"})
        me = talk.own("me")
        if v >= 4:
            talk("JoinGroup", v, join(group, me))
        for generation, member in ((2, me), (1, "nobody"), (1, me)):
            talk("SyncGroup", min(v, 5), {"group_id": group, "generation_id": generation, "member_id": member,
                                          "protocol_type": "consumer", "protocol_name": "range",
                                          "assignments": [{"member_id": me, "assignment": b"mine"}]})
            talk("Heartbeat", min(v, 4), {"group_id": group, "generation_id": generation, "member_id": member})
        for generation, member in ((0, me), (1, "nobody"), (1, me), (-1, "")):
            talk("OffsetCommit", v, commit(group, "t", v, generation_id_or_member_epoch=generation, member_id=member))
        talk("DeleteGroups", 2, {"groups_names": [group]})
        talk("OffsetDelete", 0, {"group_id": group, "topics": [{"name": "t", "partitions": [{"partition_index": 0}]}]})
        if v == 5:
            look(talk, group)
        leave = {"members": [{"member_id": me}, {"member_id": "nobody"}]} if v in (3, 4, 5) else {"member_id": me}
        talk("LeaveGroup", min(v, 5) if v in (3, 4, 5) else min(v, 2), {"group_id": group, **leave})
    fetch_offsets(talk, "member-9", "t")
    look(talk, "member-9")
    talk("OffsetDelete", 0, {"group_id": "member-9", "topics": [{"name": "t", "partitions": [{"partition_index": 0}]},
                                                                 {"name": "none", "partitions": [{"partition_index": 0}]}]})
    look(talk, "member-9")
    for v in talk.versions("DeleteGroups"):
        talk("DeleteGroups", v, {"groups_names": [f"member-{v}", "nobody", ""]})


@scenario
def commits_of_each_version(talk):
    talk.topic("commits")
    for v in talk.versions("OffsetCommit"):
        group = f"commits-{v}"
        for offset, metadata in ((5, "x"), (-1, None), (7, "x" * 4097), (1 << 40, "")):
            talk("OffsetCommit", v, {"group_id": group, "generation_id_or_member_epoch": -1, "topics": [
                {"name": topic, "partitions": [{"partition_index": p, "committed_offset": offset,
                                                "committed_metadata": metadata} for p in partitions]}
                for topic, partitions in (("commits", (0, 3)), ("none", (0,)))]})
        talk("OffsetFetch", 5, {"group_id": group, "topics": None})
    fetch_offsets(talk, "commits-9", "commits")
    fetch_offsets(talk, "nobody", "commits")


@scenario
def two_members_and_a_rebalance(talk):
    group = "two"
    talk("JoinGroup", 3, join(group), keep={"a": "member_id"})
    talk("SyncGroup", 3, {"group_id": group, "generation_id": 1, "member_id": talk.own("a"), "assignments": []})
    talk.begin("b", "JoinGroup", 3, join(group))
    talk.wait("Heartbeat", 3, {"group_id": group, "generation_id": 1, "member_id": talk.own("a")},
              lambda answer: answer["error_code"] == REBALANCE_IN_PROGRESS)
    look(talk, group)
    talk("OffsetCommit", 7, commit(group, "t", 1, generation_id_or_member_epoch=1, member_id=talk.own("a")))
    talk("JoinGroup", 3, join(group, talk.own("a")))
    talk.end("b", keep={"b": "member_id"})
    talk.begin("b", "SyncGroup", 3, {"group_id": group, "generation_id": 2, "member_id": talk.own("b"), "assignments": []})
    talk("OffsetCommit", 7, commit(group, "t", 1, generation_id_or_member_epoch=2, member_id=talk.own("a")))
    talk("SyncGroup", 3, {"group_id": group, "generation_id": 2, "member_id": talk.own("a"), "assignments": [
        {"member_id": talk.own("a"), "assignment": b"A"}, {"member_id": talk.own("b"), "assignment": b"B"}]})
    talk.end("b")
    talk("DescribeGroups", 5, {"groups": [group]})
    talk("LeaveGroup", 1, {"group_id": group, "member_id": talk.own("b")})
    talk("Heartbeat", 3, {"group_id": group, "generation_id": 2, "member_id": talk.own("a")})
    talk("Heartbeat", 3, {"group_id": group, "generation_id": 2, "member_id": talk.own("b")})


@scenario
def static_members(talk):
    for v in range(5, 10):
        group, static = f"static-{v}", {"group_instance_id": "i"}
        talk("JoinGroup", v, join(group, **static), keep={"old": "member_id"})
        talk("SyncGroup", 5, {"group_id": group, "generation_id": 1, "member_id": talk.own("old"), "protocol_type": "consumer",
                              "protocol_name": "range", **static,
                              "assignments": [{"member_id": talk.own("old"), "assignment": b"A"}]})
        talk("JoinGroup", v, join(group, **static), keep={"new": "member_id"})
        for who in ("old", "new"):
            talk("Heartbeat", 4, {"group_id": group, "generation_id": 1, "member_id": talk.own(who), **static})
            talk("SyncGroup", 4, {"group_id": group, "generation_id": 1, "member_id": talk.own(who), **static})
            talk("OffsetCommit", 8, commit(group, "t", 1, generation_id_or_member_epoch=1, member_id=talk.own(who), **static))
        talk("JoinGroup", v, join(group, talk.own("old"), **static))
        talk("DescribeGroups", 5, {"groups": [group]})
        talk("LeaveGroup", 5, {"group_id": group, "members": [{"member_id": talk.own("old"), **static},
                                                              {"member_id": "", **static}]})
        talk("DescribeGroups", 5, {"groups": [group]})


@scenario
def joins_that_are_refused(talk):
    talk("JoinGroup", 0, join("strict"), keep={"me": "member_id"})
    for v in (3, 5, 9):
        talk("JoinGroup", v, join("strict", protocols=[{"name": "other", "metadata": b""}]))
        talk("JoinGroup", v, join("strict", protocol_type="connect"))
        talk("JoinGroup", v, join("strict", protocols=[]))
        talk("JoinGroup", v, join("strict", "nobody"))
        talk("JoinGroup", v, join("", session_timeout_ms=1))
        talk("JoinGroup", v, join("strict", session_timeout_ms=1))
        talk("JoinGroup", v, join("strict", protocol_type=""))
    for v in talk.versions("SyncGroup"):
        talk("SyncGroup", v, {"group_id": "strict", "generation_id": 1, "member_id": talk.own("me"), "protocol_type": "other",
                              "protocol_name": "range"})
