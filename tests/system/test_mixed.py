"""Brokers of Apache Kafka 3.9 and of ours in one cluster, in every mixture, with the controller on either side.

Whatever happens, an idempotent producer runs through it; at the end every acknowledged record is there once, at its
offset, in order, and all replicas of a partition are the same bytes.
"""

import itertools
import os

import pytest

from cluster import Load, poll, read_topic, replica_bytes
from fixtures import finish, new_directory
from mixed import KAFKA, KLAMM, Mixed, java_member, kafka_libs
from test_reassign import wait_arrived, write_plan

from group import Group  # found by mixed

PARTITIONS = 6
SETS = ("min.insync.replicas=2", "replica.lag.time.max.ms=1500", "offsets.topic.num.partitions=6",
        "zookeeper.session.timeout.ms=9000", "log.segment.bytes=1048576", "log.retention.check.interval.ms=1000",
        "auto.leader.rebalance.enable=false", "log.cleaner.dedupe.buffer.size=8388608")
ONE, TWO = (KAFKA, KLAMM, KLAMM), (KLAMM, KAFKA, KAFKA)
# With inter.broker.protocol.version: requests change with it, and below 2.7 leaders write the ISR to ZooKeeper.
# Without --full in an older dialect, for test_journey.py is in the newest one then.
MIXTURES, SHORT = [(ONE, None), (TWO, None), (ONE, "3.6"), (TWO, "3.0"), (ONE, "2.8"), (TWO, "2.6")], [(ONE, "2.8")]
# Leader and followers: each broker leads two, and is followed by the others in either order.
SPREAD = {p: list(order) for p, order in enumerate(itertools.permutations((1, 2, 3)))}


def pytest_generate_tests(metafunc):
    if "module_cluster" in metafunc.fixturenames:
        mixtures = MIXTURES if metafunc.config.getoption("--full") else SHORT
        metafunc.parametrize("module_cluster", mixtures, ids=lambda m: "+".join(m[0]) + f"-{m[1] or 'newest'}",
                             indirect=True, scope="module")
    if "side" in metafunc.fixturenames:
        metafunc.parametrize("side", (KAFKA, KLAMM))


@pytest.fixture(scope="module")
def module_cluster(request):
    kafka_libs()
    impls, ibp = request.param
    sets = SETS + ((f"inter.broker.protocol.version={ibp}",) if ibp else ())
    cluster = Mixed(new_directory("test_mixed"), impls, sets=sets)
    try:
        cluster.up()
        yield cluster
        complaints = cluster.complaints()
        request.session.klamm_failed = bool(complaints) or getattr(request.session, "klamm_failed", False)
        assert not complaints
    finally:
        finish(request, cluster)


@pytest.fixture
def topic(cluster, side, request):
    """Spread over the brokers, with the controller on that side."""
    cluster.let_control(cluster.of(side)[0])
    name = f"{request.node.originalname[5:]}-{side}"
    create(cluster, name)
    return name


@pytest.fixture(scope="session")
def kafka_member():
    return java_member(kafka_libs())


def assignment(plan):
    return ",".join(":".join(map(str, plan[p])) for p in sorted(plan))


def create(cluster, topic, *words, plan=None):
    cluster.klamm("topics", "--create", "--topic", topic, "--replica-assignment", assignment(plan or SPREAD), *words)
    cluster.wait_in_sync(topic)


def lead_as_spread(cluster, topic):
    """Leadership back to the first replicas, by ElectLeaders."""
    cluster.klamm("elect", "--election-type", "preferred", "--topic", topic, "--partition", 0)
    cluster.klamm("elect", "--election-type", "preferred", "--all-topic-partitions")
    poll(f"{topic} should be led by its first replicas", lambda: led_by_first(cluster, topic))


def led_by_first(cluster, topic):
    views = [cluster.view(topic, [n]) for n in cluster.numbers]
    return all(v and all(leader == replicas[0] for leader, replicas, _ in v[2].values()) for v in views)


def check(cluster, load):
    """Nothing is lost, and the replicas are equal, wherever they were written first."""
    load.check()
    cluster.wait_in_sync(load.topic)
    view = cluster.view(load.topic)[2]
    for partition in range(load.partitions):
        replicas = view[partition][1]

        def equal(partition=partition, replicas=replicas):
            contents = [replica_bytes(cluster, n, load.topic, partition) for n in replicas]
            return contents[0] and all(c == contents[0] for c in contents)
        poll(f"the replicas of {load.topic}-{partition} should be the same bytes", equal)


@pytest.mark.full
def test_leaders_die(cluster, topic):
    """One of each kind is killed while it leads, and one sleeps until it is another's turn; it follows, and leads again."""
    with Load(cluster, topic, PARTITIONS) as load:
        for act, back in (("kill", cluster.start), ("pause", lambda n: cluster.run("resume", n))):
            for impl in (KAFKA, KLAMM):
                lead_as_spread(cluster, topic)
                load.wait_acks()
                victim = cluster.of(impl)[-1]
                cluster.run(act, victim)
                cluster.wait_unregistered(victim)
                cluster.view_without(topic, victim)
                load.wait_acks()
                back(victim)
                cluster.wait_whole()
                cluster.wait_in_sync(topic)
        lead_as_spread(cluster, topic)
        load.wait_acks()
    check(cluster, load)


@pytest.mark.full
def test_all_die_at_once(cluster, topic):
    """What followers of either kind have, of leaders of either kind, is what was acknowledged."""
    with Load(cluster, topic, PARTITIONS, rate=3000, size=200) as load:
        for _ in range(2):
            load.wait_acks(300)
            cluster.run("kill", *cluster.numbers)
            cluster.wait_unregistered(*cluster.numbers)
            cluster.run("start", *cluster.numbers)
            cluster.wait_in_sync(topic)
    check(cluster, load)


def test_isr_shrinks_and_grows(cluster, topic, request):
    """A follower that stands still leaves the ISR before its session ends, by the word of leaders of both kinds."""
    # Kafka asks the controller that it knew until that one says that it is not: it must not be asleep.
    victims = [n for n in cluster.numbers if n not in (cluster.controller(), cluster.former)]
    with Load(cluster, topic, PARTITIONS) as load:
        for victim in victims if request.config.getoption("--full") else victims[:1]:
            lead_as_spread(cluster, topic)
            led = [p for p, replicas in SPREAD.items() if replicas[0] != victim]
            before = cluster.states(topic, led)
            cluster.run("pause", victim)
            try:
                after = poll("its leaders should shrink the ISR", lambda: shrunk(cluster, topic, led, victim))
            finally:
                cluster.run("resume", victim)
            for p in led:  # a controller that misses a broker begins a new epoch
                assert after[p]["leader_epoch"] == before[p]["leader_epoch"], (before[p], after[p])
                assert set(after[p]) == set(before[p])
            cluster.wait_in_sync(topic)
            load.wait_acks()
    check(cluster, load)


def shrunk(cluster, topic, partitions, victim):
    states = cluster.states(topic, partitions)
    return all(victim not in state["isr"] for state in states.values()) and states


@pytest.mark.full
def test_moves(cluster, topic):
    """Each partition to other brokers and back, and to fewer and more replicas."""
    with Load(cluster, topic, PARTITIONS) as load:
        order = list(SPREAD.values())
        for plan in ({p: r[:2] for p, r in SPREAD.items()}, {p: r[1:] for p, r in SPREAD.items()},
                     {p: r[:1] + r[2:] for p, r in SPREAD.items()}, {p: order[-p - 1] for p in SPREAD}):
            path = write_plan(cluster, topic, plan)
            cluster.klamm("kafka-reassign-partitions", "--execute", "--additional", "--reassignment-json-file", path)
            wait_arrived(cluster, topic, plan)
            load.wait_acks()
    check(cluster, load)


@pytest.mark.full
def test_coordinators_move(cluster, topic, kafka_member):
    """A group goes on as its coordinator goes from one kind to the other, by a clean stop and by kill -9."""
    with Load(cluster, topic, PARTITIONS, rate=300) as load, Group(load, "cooperative") as group:
        group.join(kafka_member)
        group.join(kafka_member)
        group.wait_settled()
        group.wait_progress()
        for act in ("stop", "kill"):
            for impl in (KAFKA, KLAMM):
                victim = coordinate(cluster, group, impl)
                cluster.run(act, victim)
                poll("another one should coordinate the group", lambda gone=victim: group.ask_coordinator() != gone)
                group.wait_progress()
                cluster.start(victim)
                cluster.wait_in_sync("__consumer_offsets")
                group.wait_settled()
        finish_group(cluster, load, group)


def coordinate(cluster, group, impl):
    """The broker of that kind that coordinates the group now."""
    partition = hash_of(group.name) % 6
    number = cluster.of(impl)[0]
    path = write_plan(cluster, "__consumer_offsets", {partition: [number, *(n for n in cluster.numbers if n != number)]})
    cluster.klamm("kafka-reassign-partitions", "--execute", "--reassignment-json-file", path)
    cluster.klamm("elect", "--election-type", "preferred", "--topic", "__consumer_offsets", "--partition", partition)
    poll(f"{number} should coordinate the group", lambda: group.ask_coordinator() == number)
    group.wait_settled()
    group.wait_progress()
    return number


def hash_of(name):
    """Java's hash of a string, and what Kafka makes of it for groups."""
    code = 0
    for char in name:
        code = (code * 31 + ord(char)) & 0xFFFFFFFF
    return code & 0x7FFFFFFF


def finish_group(cluster, load, group):
    load.stop()
    check(cluster, load)
    group.wait_committed(load.ends)
    for member in list(group.members):
        group.leave(member)
    assert group.committed() == load.ends
    assert not group.faults(load.ends)


@pytest.mark.full
def test_settings_are_every_brokers(cluster, topic):
    """Those of a topic, of one broker and of all brokers, set at each kind and described by all."""
    for at in (cluster.of(KAFKA)[0], cluster.of(KLAMM)[0]):
        with cluster.connect(at) as c:
            assert c.alter_configs(2, topic, {"retention.ms": 3600000 + at, "max.message.bytes": 500000 + at})[0] == 0
            for n in cluster.numbers:
                with cluster.connect(n) as its:
                    assert its.alter_configs(4, str(n), {"log.cleaner.threads": 1 + at % 2})[0] == 0
            assert c.alter_configs(4, "", {"message.max.bytes": 900000 + at})[0] == 0

        wanted = {"retention.ms": str(3600000 + at), "max.message.bytes": str(500000 + at),
                  "log.cleaner.threads": str(1 + at % 2), "message.max.bytes": str(900000 + at)}
        for n in cluster.numbers:
            poll(f"broker {n} should know what was set at {at}", lambda n=n: settings_at(cluster, n, topic) == wanted)
    with cluster.connect(cluster.of(KLAMM)[0]) as c:
        assert c.alter_configs(2, topic, {"segment.bytes": 100000, "segment.ms": 5000})[0] == 0
    # What is set is obeyed: too large a batch is refused by leaders of either kind.
    for partition, (leader, *_) in SPREAD.items():
        if cluster.view(topic)[2][partition][0] == leader:
            with cluster.connect(leader) as c:
                c.send_produce(topic, partition, b"x" * 600000)
                assert c.produce_answer()[0] == 10


def settings_at(cluster, number, topic):
    with cluster.connect(number) as c:
        return {**c.describe_configs(2, topic, ["retention.ms", "max.message.bytes"]),
                **c.describe_configs(4, str(number), ["log.cleaner.threads", "message.max.bytes"])}


@pytest.mark.full
def test_topics_grow_and_go(cluster, topic):
    """More partitions, records deleted, and the topic: with each kind alive, and with one of each down."""
    with Load(cluster, topic, PARTITIONS) as load:
        cluster.klamm("topics", "--alter", "--topic", topic, "--partitions", PARTITIONS + 3)
        poll("every broker should know the new partitions", lambda: all(
            len((cluster.view(topic, [n]) or [0, 0, ()])[2]) == PARTITIONS + 3 for n in cluster.numbers))
        cluster.wait_in_sync(topic)
        load.wait_acks()
    check(cluster, load)
    for impl in (KAFKA, KLAMM):
        name = f"{topic}-without-{impl}"
        create(cluster, name)
        victim = cluster.of(impl)[-1]
        cluster.run("stop", victim)
        cluster.klamm("topics", "--delete", "--topic", name, at=cluster.controller(but=[victim]))
        cluster.start(victim)
        poll(f"{name} should be gone", lambda name=name: is_gone(cluster, name))
    cluster.klamm("topics", "--delete", "--topic", topic)
    poll(f"{topic} should be gone", lambda: is_gone(cluster, topic))
    create(cluster, topic)
    assert read_topic(cluster, topic, PARTITIONS) == []


def is_gone(cluster, topic):
    """From ZooKeeper, from every broker's memory and from every disk, to the last file."""
    left = [d for n in cluster.numbers for d in os.listdir(os.path.join(cluster.dir, f"broker-{n}"))
            if d.startswith(topic + "-") and not d.endswith("-delete")]
    views = [cluster.view(topic, [n]) for n in cluster.numbers]
    return not left and all(v and not v[2] for v in views) and topic not in cluster.zk_shell("ls", "/brokers/topics") \
        and topic not in cluster.zk_shell("ls", "/admin/delete_topics")


@pytest.mark.full
def test_controlled_shutdown(cluster, topic):
    """One after the other stops and starts: no produce fails, and nobody waits for a session to end."""
    with Load(cluster, topic, PARTITIONS) as load:
        for number in cluster.numbers:
            lead_as_spread(cluster, topic)
            cluster.run("stop", number)
            for leader, _, _ in cluster.view_without(topic, number).values():
                assert leader != number
            load.wait_acks()
            cluster.start(number)
            cluster.wait_in_sync(topic)
    sums = load.sums
    check(cluster, load)
    assert sums["failed"] == 0 and sums["longest_wait_ms"] < 9000


@pytest.mark.full
def test_controller_dies_in_the_middle(cluster, topic, side):
    """The other kind goes on with what it had begun: a move, a deletion, an election."""
    doomed = f"{topic}-doomed"
    create(cluster, doomed)
    with Load(cluster, topic, PARTITIONS) as load:
        victim = cluster.of(side)[0]
        others = [n for n in cluster.numbers if n != victim]
        heir = cluster.of(KLAMM if side == KAFKA else KAFKA)[0]
        asleep = next(n for n in others if n != heir)
        plan = {p: [r for r in replicas if r != asleep] for p, replicas in SPREAD.items()}
        cluster.run("pause", asleep)
        path = write_plan(cluster, topic, plan)
        cluster.klamm("kafka-reassign-partitions", "--execute", "--reassignment-json-file", path, at=victim)
        cluster.klamm("topics", "--delete", "--topic", doomed, at=victim)
        cluster.run("kill", victim)
        assert cluster.controller(but=[victim, asleep]) == heir
        cluster.run("resume", asleep)
        cluster.start(victim)
        wait_arrived(cluster, topic, plan)
        poll(f"{doomed} should be gone", lambda: is_gone(cluster, doomed))
        load.wait_acks()
    check(cluster, load)


@pytest.mark.full
def test_producer_ids_are_of_one_producer_each(cluster, topic):
    """Blocks of ids are drawn from a controller of either kind, by brokers of either kind."""
    ids = []
    for number in cluster.numbers:
        with cluster.connect(number) as c:
            ids += [poll("a producer id", lambda its=c: its.init_producer_id()) for _ in range(1100)]
    assert len(set(ids)) == len(ids)


@pytest.mark.full
def test_old_formats(cluster, topic):
    """Below protocol 3.0 leaders of either kind write a topic's old format, and followers of either have the same.

    There are no leader epochs in them: who comes back cuts at the high watermark."""
    if not any("protocol.version=2." in option for option in cluster.options):
        pytest.skip("the protocol is too new")
    for version, magic in (("0.10.2", 1), ("0.9.0", 0)):
        name = f"{topic}-{version}"
        # The times of the records are 0.
        create(cluster, name, "--config", f"message.format.version={version}", "--config", "retention.ms=-1")
        sent = send_everywhere(cluster, name)
        for impl in (KAFKA, KLAMM):
            lead_as_spread(cluster, name)
            victim = cluster.of(impl)[-1]
            cluster.run("kill", victim)
            cluster.wait_unregistered(victim)
            cluster.view_without(name, victim)
            sent += send_everywhere(cluster, name)
            cluster.start(victim)
            cluster.wait_whole()
            cluster.wait_in_sync(name)
            sent += send_everywhere(cluster, name)
        found = 0
        for partition in SPREAD:
            contents = poll(f"the replicas of {name}-{partition} should be the same bytes",
                            lambda p=partition, t=name: same_bytes(cluster, t, p))
            magics = magics_in(contents)
            assert set(magics) == {magic}, magics
            found += len(magics)
        assert found == sent
        for number in cluster.numbers:
            folder = os.path.join(cluster.dir, f"broker-{number}", f"{name}-0")
            assert "leader-epoch-checkpoint" not in os.listdir(folder), (number, os.listdir(folder))


def send_everywhere(cluster, topic, count=5):
    """Some records to the leader of each partition, whoever it is then; how many."""
    def sent(partition, value):
        leader = cluster.view(topic)[2][partition][0]
        if leader < 0:
            return False
        with cluster.connect(leader) as c:
            c.send_produce(topic, partition, value)
            code = c.produce_answer()[0]
        assert code in (0, 5, 6, 19), code  # a leader that is none, and too few in sync: again
        return code == 0
    for partition in SPREAD:
        for i in range(count):
            poll(f"{topic}-{partition} should take a record", lambda p=partition, v=b"%d" % i: sent(p, v))
    return count * len(SPREAD)


def same_bytes(cluster, topic, partition):
    contents = [replica_bytes(cluster, n, topic, partition) for n in cluster.numbers]
    return all(c == contents[0] for c in contents) and contents[0]


def magics_in(content):
    """Of each batch, or message."""
    out, at = [], 0
    while at < len(content):
        out.append(content[at + 16])
        at += 12 + int.from_bytes(content[at + 8:at + 12], "big")
    return out
