"""Partitions are moved from brokers to brokers while records are produced with acks=all.

In every test an idempotent producer runs through all rounds; at the end every acknowledged record is
there once, at its offset, in order, and the replicas are where they were wanted.
"""

import json
import os
import subprocess

import pytest
from cluster import Cluster, Load, poll
from fixtures import finish, new_directory

SETS = ("min.insync.replicas=2", "default.replication.factor=3")
PARTITIONS = 4
BROKERS = 4


@pytest.fixture(scope="module")
def module_cluster(request):
    """Four brokers: there is one to move to."""
    cluster = Cluster(new_directory("test_reassign"), brokers=BROKERS, sets=SETS)
    try:
        cluster.up()
        yield cluster
    finally:
        finish(request, cluster)


def tool(cluster, *words):
    """What klamm reassign prints, as Kafka's tool; it succeeds."""
    done = subprocess.run([f"{cluster.programs()}/klamm", "kafka-reassign-partitions", "--bootstrap-server",
                           cluster.bootstrap(), *words], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def write_plans(cluster, name, plans):
    """The path of a file with plans: {(topic, partition): replicas}."""
    path = os.path.join(cluster.dir, f"plan-{name}.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"version": 1, "partitions": [{"topic": topic, "partition": p, "replicas": r}
                                                for (topic, p), r in plans.items()]}, f)
    return path


def write_plan(cluster, topic, plan):
    return write_plans(cluster, topic, {(topic, p): r for p, r in plan.items()})


def execute(cluster, topic, plan):
    tool(cluster, "--execute", "--additional", "--reassignment-json-file", write_plan(cluster, topic, plan))


def replicas(cluster, topic):
    view = cluster.view(topic)
    return {p: r for p, (_, r, _) in view[2].items()} if view else {}


def wait_arrived(cluster, topic, plan):
    poll(f"{topic} should be where it is wanted", lambda: replicas(cluster, topic) == plan)
    cluster.wait_in_sync(topic)
    poll("no move should be under way", lambda: "No partition" in tool(cluster, "--list"))


def turned(by):
    """Each partition on three of the four brokers, from another one on."""
    return {p: [(p + by + i) % BROKERS + 1 for i in range(3)] for p in range(PARTITIONS)}


def started(cluster, topic):
    cluster.create_topic(topic, PARTITIONS)
    return Load(cluster, topic, PARTITIONS)


def test_moves_under_load(cluster, rounds):
    topic = "moved"
    with started(cluster, topic) as load:
        for i in range(rounds):
            execute(cluster, topic, turned(i))
            load.wait_acks()
            wait_arrived(cluster, topic, turned(i))
        path = write_plan(cluster, topic, turned(rounds - 1))
        said = tool(cluster, "--verify", "--preserve-throttles", "--reassignment-json-file", path)
        assert said.count("is completed.") == PARTITIONS, said
    load.check()


def test_controller_dies_in_the_middle(cluster, rounds):
    topic = "orphaned"
    with started(cluster, topic) as load:
        for i in range(rounds):
            victim = cluster.controller()
            execute(cluster, topic, turned(i + 1))
            cluster.run("kill", victim)
            cluster.controller(but=[victim])
            load.wait_acks()
            cluster.start(victim)
            wait_arrived(cluster, topic, turned(i + 1))
    load.check()


def let_another_control(cluster, number):
    """Broker number is not the controller when this returns: who is to be asked must be awake."""
    if cluster.controller() == number:
        cluster.run("stop", number)
        cluster.controller(but=[number])
        cluster.start(number)
        cluster.wait_whole()


def test_new_replica_sleeps_and_the_move_is_cancelled(cluster, rounds):
    let_another_control(cluster, 4)
    topic = "cancelled"
    home = {p: [1, 2, 3] for p in range(PARTITIONS)}
    with started(cluster, topic) as load:
        execute(cluster, topic, home)
        wait_arrived(cluster, topic, home)
        for _ in range(rounds):
            cluster.run("pause", 4)
            execute(cluster, topic, {p: [4, 1, 2] for p in range(PARTITIONS)})
            assert tool(cluster, "--list").count("adding: 4. removing: 3.") == PARTITIONS
            path = write_plan(cluster, topic, {p: [4, 1, 2] for p in range(PARTITIONS)})
            tool(cluster, "--cancel", "--preserve-throttles", "--reassignment-json-file", path)
            load.wait_acks()
            cluster.run("resume", 4)
            cluster.wait_whole()
            poll("the replicas should be where they were",
                 lambda: {p: sorted(r) for p, r in replicas(cluster, topic).items()} == home)
            cluster.wait_in_sync(topic)
    load.check()


def test_fewer_and_more_replicas(cluster, rounds):
    topic = "resized"
    few = {p: [p % BROKERS + 1, (p + 1) % BROKERS + 1] for p in range(PARTITIONS)}
    with started(cluster, topic) as load:
        for i in range(rounds):
            execute(cluster, topic, few)
            wait_arrived(cluster, topic, few)
            execute(cluster, topic, turned(i))
            load.wait_acks()
            wait_arrived(cluster, topic, turned(i))
    load.check()
