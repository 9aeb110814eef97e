"""Brokers, controllers and ZooKeeper die, stand still and come back while records are produced with acks=all.

In every test an idempotent producer runs through all rounds; at the end every acknowledged record is
there once, at its offset, in order.
"""

import time

import pytest

from cluster import IMPL, SESSION_MS, Load, poll, read_topic

SETS = ("min.insync.replicas=2",)
PARTITIONS = 6


def started(cluster, topic):
    cluster.create_topic(topic, PARTITIONS)
    return Load(cluster, topic, PARTITIONS)


def test_kill_of_a_leader(cluster, rounds):
    with started(cluster, "kill-leader") as load:
        for i in range(rounds):
            victim = cluster.leader("kill-leader", i % PARTITIONS)
            cluster.run("kill", victim)
            load.wait_acks()
            cluster.start(victim)
            cluster.wait_in_sync("kill-leader")
    load.check()


def test_kill_of_the_controller(cluster, rounds):
    with started(cluster, "kill-controller") as load:
        for _ in range(rounds):
            victim = cluster.controller()
            cluster.run("kill", victim)
            cluster.controller(but=[victim])
            load.wait_acks()
            cluster.start(victim)
            cluster.wait_in_sync("kill-controller")
    load.check()


def test_kill_of_leader_and_controller_at_once(cluster, rounds):
    topic = "kill-both"
    with started(cluster, topic) as load:
        for _ in range(rounds):
            controller = cluster.controller()
            leaders = [leader for leader, _, _ in cluster.view(topic)[2].values()]
            leader = next(n for n in leaders + cluster.numbers if n != controller)
            cluster.run("kill", controller, leader)
            cluster.controller(but=[controller, leader])
            cluster.start(controller, leader)
            load.wait_acks()
            cluster.wait_in_sync(topic)
    load.check()


def test_a_leader_that_slept_is_fenced(cluster, rounds):
    """SIGSTOP beyond the session timeout, then SIGCONT: what the woken leader accepts alone is not acknowledged."""
    cluster.create_topic("lonely")
    answers = []
    with started(cluster, "sleep") as load:
        for i in range(rounds):
            victim = cluster.leader("lonely", 0)
            with cluster.connect(victim, 40) as connection:
                connection.metadata()  # the connection is accepted before the broker sleeps
                cluster.run("pause", victim)
                connection.send_produce("lonely", 0, b"0:%d:" % i)
                cluster.wait_unregistered(victim)
                cluster.leader("lonely", 0, but=[victim])
                load.wait_acks()
                cluster.run("resume", victim)
                answers.append(connection.produce_answer())
            cluster.wait_whole()
            cluster.wait_in_sync("sleep")
            cluster.wait_in_sync("lonely")
    load.check()
    there = read_topic(cluster, "lonely")
    for i, (code, offset) in enumerate(answers):
        assert code != 0 or f"0 {offset} 0:{i}:" in there, f"round {i}: acknowledged alone at {offset}"


def test_zookeeper_restart(cluster, rounds):
    """Produce goes on without ZooKeeper, for less and for more than a session; afterwards the cluster decides again."""
    with started(cluster, "zk-restart") as load:
        for i in range(rounds):
            cluster.run("zk-kill" if i % 2 == 0 else "zk-stop", 1)
            # 1000 records a second: about half a session, and about two of them.
            sessions = 0.5 if i % 2 == 0 else 2
            load.wait_acks(int(SESSION_MS * sessions / PARTITIONS))
            cluster.run("zk-start", 1)
            poll("the brokers should be registered again",
                 lambda: cluster.registered() == set(cluster.numbers))
            cluster.create_topic(f"after-zk-{i}")
            load.wait_acks()
            cluster.wait_in_sync("zk-restart")
    load.check()


def test_rolling_restart(cluster, rounds):
    """Controlled shutdown: no produce fails, nobody waits for a session to expire, leaders come from the ISR."""
    with started(cluster, "rolling") as load:
        for _ in range(rounds):
            for number in cluster.numbers:
                before = cluster.view("rolling")[2]
                cluster.run("stop", number)
                after = cluster.view_without("rolling", number)
                for partition, (leader, _, _) in after.items():
                    assert leader in before[partition][2] and leader != number
                load.wait_acks()
                cluster.run("start", number)
                cluster.wait_in_sync("rolling")
    sums = load.sums
    load.check()
    assert sums["failed"] == 0
    assert sums["longest_wait_ms"] < SESSION_MS


@pytest.mark.skipif(IMPL != "klamm", reason="Apache Kafka says then that there is no such topic, and clients give up")
def test_brokers_that_know_nothing_yet(cluster):
    """Restarted while nobody can become controller, brokers make clients wait, and no record is given up."""
    with started(cluster, "unknowing") as load:
        cluster.run("kill", *cluster.numbers)
        cluster.wait_unregistered(*cluster.numbers)
        cluster.zkcli('create /controller \'{"version":2,"brokerid":99,"timestamp":"1","kraftControllerEpoch":-1}\'')
        cluster.run("start", "--no-wait", *cluster.numbers)
        poll("the brokers should be registered", lambda: cluster.registered() == set(cluster.numbers))
        # Longer than the client goes without asking for metadata.
        until = time.monotonic() + 6
        while time.monotonic() < until:
            for number in cluster.numbers:
                with cluster.connect(number) as c:
                    assert c.topic_error("unknowing") == 5
        cluster.zkcli("delete /controller")
        cluster.wait_whole()
        load.wait_acks()
        cluster.wait_in_sync("unknowing")
    sums = load.sums
    load.check()
    assert sums["failed"] == 0
