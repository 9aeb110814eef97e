"""The way of deploy/JOURNEY.md: a living cluster of Apache Kafka 3.9 becomes ours, broker by broker, on the same data, and
Kafka again, while idempotent producers and consumer groups work on it. Nothing acknowledged is lost, nothing fails.
"""

import os
import re
import subprocess

import pytest

from cluster import ROOT, Load, poll, read_topic, replica_bytes
from fixtures import finish, new_directory
from mixed import KAFKA, KLAMM, Mixed, java_member, kafka_libs

from group import Group  # found by mixed

PARTITIONS = 6
SETS = ("offsets.topic.num.partitions=6", "zookeeper.session.timeout.ms=8000", "log.segment.bytes=1048576",
        "log.cleaner.dedupe.buffer.size=8388608")
IBPS = (None, "3.6", "3.0", "2.8", "2.6")


def pytest_generate_tests(metafunc):
    """A short one of two brokers, one of which goes back; with --full of three, in the dialects of older clusters too."""
    if "ibp" in metafunc.fixturenames:
        full = metafunc.config.getoption("--full")
        metafunc.parametrize("brokers,ibp", [(3, ibp) for ibp in IBPS] if full else [(2, None)],
                             ids=lambda value: str(value or "newest"))


@pytest.fixture
def cluster(request, brokers, ibp):
    libs = kafka_libs()
    sets = [*SETS, f"min.insync.replicas={brokers - 1}"]
    made = Mixed(new_directory("test_journey"), [KAFKA] * brokers,
                 sets + ([f"inter.broker.protocol.version={ibp}"] if ibp else []))
    made.member = java_member(libs)
    try:
        made.up()
        yield made
    finally:
        finish(request, made)


def old_records(cluster, topic):
    """What is there before the journey begins, over several segments: the lines that read_topic() must say of it."""
    cluster.create_topic(topic, PARTITIONS, len(cluster.numbers))
    with Load(cluster, topic, PARTITIONS, rate=6000, size=2000) as load:
        load.wait_acks(700)
    load.check()
    return sorted(read_topic(cluster, topic, PARTITIONS))


def journey(cluster, number, impl, seconds=60):
    here = f"{ROOT}/deploy/cluster"
    return subprocess.run(
        [f"{ROOT}/deploy/journey", str(number), "--bootstrap-server", cluster.bootstrap(), "--seconds", str(seconds),
         "--stop", f"{here} stop {number} --dir {cluster.dir}",
         "--start", f"{here} start {number} --dir {cluster.dir} --impl {impl}"],
        capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, "KLAMM": f"{cluster.programs()}/klamm"})


def step(cluster, number, impl):
    """What the user does, by the script that the user has."""
    cluster.impls[number] = impl
    done = journey(cluster, number, impl)
    print(done.stdout, end="")
    assert done.returncode == 0, done.stdout + done.stderr
    status = cluster.run("status")
    assert bool(re.search(rf"^broker-{number} .*kafka$", status, re.M)) == (impl == KAFKA), status
    cluster.wait_whole()


def check_refused_step(cluster):
    """Where a partition would be left without a leader, or without enough replicas, nothing is stopped."""
    cluster.run("stop", 2)
    pid = cluster.pids()[1]
    done = journey(cluster, 1, KAFKA, seconds=1)
    assert done.returncode == 1 and "not within 1 s: every partition can do without it" in done.stderr, done.stderr
    assert "no: broker 1 may not be stopped now" in done.stderr, done.stderr
    assert cluster.pids()[1] == pid and cluster.view(ask=[1])
    cluster.start(2)
    cluster.wait_whole()


def check_calm(load, group):
    """No client saw anything but what it repeats by itself."""
    assert load.sums["failed"] == 0, load.last_words()
    for member in group.all:
        said = [line for line in member.last_words().splitlines() if "Exception" in line and "Rebalance" not in line]
        assert not said, f"{member.name}: {said}"


def check_replicas(cluster, topic):
    for partition, (_, replicas, _) in cluster.view(topic)[2].items():
        def equal(partition=partition, replicas=replicas):
            contents = [replica_bytes(cluster, n, topic, partition) for n in replicas]
            return contents[0] and all(c == contents[0] for c in contents)
        poll(f"the replicas of {topic}-{partition} should be the same bytes", equal)


def test_there_and_back(cluster, ibp):
    before = old_records(cluster, "before")
    cluster.create_topic("during", PARTITIONS, len(cluster.numbers))
    with Load(cluster, "during", PARTITIONS, rate=500) as load, Group(load, "cooperative") as group:
        for _ in cluster.numbers[1:]:
            group.join(cluster.member)
        group.wait_settled()
        for impl in (KLAMM, KAFKA):
            # The controller last: it moves once, and not with every step.
            way = sorted(cluster.numbers, key=lambda n: n == cluster.controller())
            for number in way if impl == KLAMM or len(way) > 2 else way[:1]:
                step(cluster, number, impl)
                load.wait_acks()
                group.wait_progress()
            assert sorted(read_topic(cluster, "before", PARTITIONS)) == before
            name = f"made-by-{impl}"
            cluster.create_topic(name, PARTITIONS, len(cluster.numbers))
            with Load(cluster, name, PARTITIONS) as more:
                more.wait_acks()
            more.check()
            if impl == KLAMM:
                check_refused_step(cluster)
        load.stop()
        load.check()
        group.wait_settled()
        group.wait_committed(load.ends)
        for member in list(group.members):
            group.leave(member)
        assert not group.faults(load.ends)
        check_calm(load, group)
        assert not cluster.complaints()
    for topic in ("before", "during", "made-by-klamm", "made-by-kafka"):
        check_replicas(cluster, topic)
