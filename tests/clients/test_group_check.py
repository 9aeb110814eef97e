"""The verdict on a group, told of faults: each is found, and a good group has none."""

from types import SimpleNamespace

from group import Group, Member

GOOD = {
    "a": ["own 1 0,1", "done 0 0 9 10", "kept 0 10", "done 1 0 4 5", "kept 1 5", "own 2 0", "done 0 10 19 10"],
    "b": ["own 2 1", "done 1 5 19 15", "kept 1 20"],
}
ENDS = {0: 20, 1: 20}


def faults(said, ends=None):
    """Of a group whose members said that: {name: lines}."""
    group = Group(SimpleNamespace(cluster=None, topic="t", partitions=2), "range")
    for name, lines in said.items():
        member = Member.__new__(Member)
        member.name, member.identity, member.said = name, name.rstrip("'"), []
        member.process = SimpleNamespace(stdout=lines)
        member._read()
        group.all.append(member)
    return group.faults(ends or ENDS)


def test_good_group_has_no_faults():
    assert not faults(GOOD)


def test_records_that_nobody_processed_are_found():
    assert faults(GOOD, {0: 20, 1: 21}) == ["partition 1: 1 records not processed, first 20"]
    gap = {**GOOD, "b": ["own 2 1", "done 1 6 19 14", "kept 1 20"]}
    assert faults(gap) == ["partition 1: 1 records not processed, first 5"]


def test_records_left_out_in_a_batch_are_found():
    assert faults({**GOOD, "b": ["own 2 1", "done 1 5 19 14"]}) == ["b: 14 records from 5 to 19 of partition 1"]


def test_two_owners_in_one_generation_are_found():
    assert faults({**GOOD, "c": ["own 2 0"]}) == ["generation 2: partition 0 has owners ['a', 'c']"]
    assert not faults({**GOOD, "c": ["own 3 0", "own 4 -"]})


def test_one_instance_may_come_back_in_its_generation():
    assert not faults({**GOOD, "a'": ["own 2 0"]})


def test_forgotten_commits_are_found():
    again = {**GOOD, "b": ["own 2 1", "done 1 4 19 16", "kept 1 20"]}
    assert faults(again) == ["generation 2: b begins partition 1 at 4, committed was 5"]
    # Within a generation it may begin anew: the commit may have failed.
    assert not faults({**GOOD, "b": ["own 2 1", "done 1 5 19 15", "kept 1 20", "own 2 1", "done 1 5 19 15"]})
