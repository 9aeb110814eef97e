"""Consumer groups of clients by others: members come, go and die, brokers restart, and nothing is passed over."""

import random
import sys

import pytest

from cluster import Load
from group import Group
from program import BUILD, HERE, go, java, javac, kafka_libs, npm

MEMBERS = f"{HERE}/members"
SETS = ("min.insync.replicas=2", "offsets.topic.num.partitions=5", "group.initial.rebalance.delay.ms=500")
PARTITIONS = 6
GROUP_APIS = {8, 9, 10, 11, 12, 13, 14}


@pytest.fixture(autouse=True)
def groups(cluster):
    """Brokers that serve groups; the others advertise none of it."""
    with cluster.connect(1) as c:
        missing = GROUP_APIS - {key for key, _, _ in c.api_versions()}
    if missing:
        pytest.skip(f"the brokers do not serve groups: APIs {sorted(missing)} are missing")


def kafka_python():
    pytest.importorskip("kafka", reason="kafka-python could not be installed")
    return [sys.executable, f"{MEMBERS}/kafka_python_member.py"]


def confluent():
    pytest.importorskip("confluent_kafka", reason="confluent-kafka could not be installed")
    return [sys.executable, f"{MEMBERS}/confluent_member.py"]


def java_member():
    libs = kafka_libs()
    return java(f"{javac(f'{BUILD}/members', f'{libs}/*', f'{MEMBERS}/JavaMember.java')}:{libs}/*", "JavaMember")


def franz_go():
    return [go("franz-go-member", f"{MEMBERS}/go")]


def kafkajs():
    return ["node", f"{npm('kafkajs-member', f'{MEMBERS}/node')}/member.js"]


def available(*programs):
    """Those that can be had here; the test is skipped where they are fewer than two."""
    out, missing = [], []
    for program in programs:
        try:
            out.append(program())
        except pytest.skip.Exception as e:
            missing.append(str(e))
    if len(out) < 2:
        pytest.skip("; ".join(missing))
    return out


def finish(*groups):
    """No more records; all there are get processed and committed, and the verdict is good. Groups of one load."""
    load = groups[0].load
    load.stop()
    verdict = load.check()
    for group in groups:
        group.wait_committed(load.ends)
        for member in list(group.members):
            group.leave(member)
        assert group.committed() == load.ends
        faults = group.faults(load.ends)
        assert not faults, f"{group.name}: " + "; ".join(faults[:10])
        print(f"{group.name}: {verdict.read} records, {len(group.all)} members, {len(group.generations())} generations")


def coordinator_dies(group):
    """The group goes on with another one, and with the one that comes back."""
    victim, kept = group.ask_coordinator(), group.kept()
    group.cluster.run("kill", victim)
    committed = group.committed()
    forgotten = {p: (kept[p], committed[p]) for p in kept if committed[p] < kept[p]}
    assert not forgotten, f"{{partition: (committed, known after the coordinator died)}}: {forgotten}"
    group.wait_progress()
    group.cluster.start(victim)
    group.cluster.wait_in_sync(group.topic)
    group.wait_settled()


@pytest.mark.parametrize("program,strategy", [
    (kafka_python, "range"), (confluent, "range"), (java_member, "cooperative"), (franz_go, "cooperative"),
    (kafkajs, "roundrobin"),
], ids=lambda value: getattr(value, "__name__", value))
def test_members_come_and_go(cluster, program, strategy):
    command, topic = program(), f"by-{program.__name__}"
    cluster.create_topic(topic, PARTITIONS)
    with Load(cluster, topic, PARTITIONS, rate=300) as load, Group(load, strategy) as group:
        first, second = group.join(command), group.join(command)
        group.wait_settled()
        group.wait_progress()
        group.join(command)
        group.wait_settled()
        group.leave(second)
        group.wait_settled()
        group.crash(first)
        group.join(command)
        group.wait_settled()
        group.wait_progress()
        coordinator_dies(group)
        finish(group)


def test_one_group_of_many_kinds(cluster, rounds):
    """Clients of all kinds share a group; one leads it, all understand each other."""
    programs, chance = available(kafka_python, confluent, java_member, franz_go), random.Random(20261130)
    cluster.create_topic("shared", PARTITIONS)
    with Load(cluster, "shared", PARTITIONS, rate=300) as load, Group(load, "range") as group:
        for program in programs:
            group.join(program)
        group.wait_settled()
        for turn in range(rounds):
            victim = chance.choice(group.members)
            chance.choice((group.leave, group.crash))(victim)
            if turn % 2:
                group.wait_settled()
            group.join(chance.choice(programs))
            group.wait_settled()
            coordinator_dies(group)
        finish(group)


def test_static_members_restart_unnoticed(cluster):
    """KIP-345: within its session's time a member with an instance id comes back to what it had."""
    programs = available(kafka_python, confluent, java_member, franz_go)
    cluster.create_topic("static", PARTITIONS)
    with Load(cluster, "static", PARTITIONS, rate=300) as load, Group(load, "range") as group:
        members = [group.join(program, f"instance-{i}") for i, program in enumerate(programs)]
        group.wait_settled()
        for i, program in enumerate(programs):
            # Once as a program should end, once by force.
            for end in (group.leave, group.crash):
                claims = {m: m.claims() for m in members}
                end(members[i])
                again = group.join(program, f"instance-{i}")
                group.wait_settled()
                group.wait_progress()
                assert again.claims() == claims.pop(members[i])[-1:], f"{again.name} has another generation or share"
                members[i] = again
                noticed = [m.name for m, before in claims.items() if m.claims() != before]
                assert not noticed, f"the restart of {again.name} was noticed by {noticed}"
        finish(group)
