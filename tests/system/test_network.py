"""One broker is cut off from the others, from ZooKeeper and from the clients, and comes back.

It comes back with old metadata, in which it leads. Clients that do not compare leader epochs (KIP-320; librdkafka
before 2.1, so Debian 12's) may believe it and end in a sequence error; that is why a newer one is wanted here.
"""

import os

import pytest

import netns
from cluster import Cluster, Load, read_topic
from fixtures import finish, new_directory

PARTITIONS = 6


@pytest.fixture(scope="module")
def net():
    why_not = netns.why_not()
    if not os.environ.get("KLAMM_LIBRDKAFKA"):
        why_not = "tests/venv could not bring a librdkafka that compares leader epochs"
    if why_not:
        pytest.skip(why_not)
    with netns.Net([1, 2, 3]) as made:
        yield made


@pytest.fixture(scope="module")
def module_cluster(request, net):
    options = ["--host", f"zk={net.hub_address}"]
    for number in net.numbers:
        options += ["--host", f"{number}={net.address(number)}",
                    "--wrap", f"{number}=ip netns exec {net.host(number)}"]
    with netns.inside(net.hub):
        cluster = Cluster(new_directory("test_network"), sets=["min.insync.replicas=2"], options=options)
        cluster.zk_host = net.hub_address
        cluster.hosts = {n: net.address(n) for n in net.numbers}
        try:
            cluster.up()
            yield cluster
        finally:
            for number in net.numbers:
                net.heal(number)
            finish(request, cluster)


def cut_off(cluster, net, load, victim, cut):
    """The rest goes on without the victim; what the victim is told to write alone meanwhile is its answer."""
    with netns.inside(net.host(victim)):
        connection = cluster.connect(victim, 40)
    with connection:
        cut(victim)
        connection.send_produce("lonely", 0, b"0:%d:" % load.lonely)
        load.lonely += 1
        cluster.wait_unregistered(victim)
        cluster.leader("lonely", 0, but=[victim])
        cluster.controller(but=[victim])
        load.wait_acks()
        net.heal(victim)
        answer = connection.produce_answer()
    cluster.wait_whole()
    cluster.wait_in_sync(load.topic)
    cluster.wait_in_sync("lonely")
    return answer


def run_rounds(cluster, rounds, topic, once):
    """once(load, victim) in each round, on the leader of `lonely`, or on the controller in every other one."""
    cluster.create_topic("lonely")
    cluster.create_topic(topic, PARTITIONS)
    answers, lonely = [], len(read_topic(cluster, "lonely"))
    with Load(cluster, topic, PARTITIONS) as load:
        load.lonely = lonely
        for i in range(rounds):
            victim = cluster.leader("lonely", 0) if i % 2 == 0 else cluster.controller()
            answers.append((load.lonely, victim, *once(load, victim)))
    load.check()
    there = read_topic(cluster, "lonely")
    for seq, victim, code, offset in answers:
        assert code != 0 or f"0 {offset} 0:{seq}:" in there, f"broker {victim} alone acknowledged {seq} at {offset}"


def test_a_broker_that_is_cut_off_is_fenced(cluster, net, rounds):
    run_rounds(cluster, rounds, "cut",
               lambda load, victim: cut_off(cluster, net, load, victim, net.cut))


def test_a_broker_that_hears_nobody_is_fenced(cluster, net, rounds):
    run_rounds(cluster, rounds, "deaf",
               lambda load, victim: cut_off(cluster, net, load, victim, net.deafen))
