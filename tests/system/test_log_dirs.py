"""Replicas move between the log dirs of their brokers while records are produced with acks=all.

In every test an idempotent producer runs through all rounds; at the end every acknowledged record is
there once, at its offset, in order, and the replicas are in the dirs where they were wanted.
"""

import glob
import json
import os
import subprocess

import pytest
from cluster import Cluster, Load, poll
from fixtures import finish, new_directory

SETS = ("min.insync.replicas=2", "default.replication.factor=3", "log.segment.bytes=4000000",
        "log.segment.delete.delay.ms=1000")
BROKERS, DIRS, PARTITIONS = 3, 3, 4


@pytest.fixture(scope="module")
def module_cluster(request):
    """Three brokers with three log dirs each."""
    cluster = Cluster(new_directory("test_log_dirs"), sets=SETS, options=["--log-dirs", str(DIRS)])
    try:
        cluster.up()
        yield cluster
    finally:
        finish(request, cluster)


def log_dirs(cluster, broker):
    first = os.path.join(cluster.dir, f"broker-{broker}")
    return [first, *(f"{first}-{n}" for n in range(2, DIRS + 1))]


def where(cluster, broker, name):
    """Which of its dirs have the partition; a move may just be ending."""
    return [d for d, path in enumerate(log_dirs(cluster, broker)) if os.path.isdir(os.path.join(path, name))]


def tool(cluster, *words):
    return subprocess.run([f"{cluster.programs()}/klamm", "kafka-reassign-partitions", "--bootstrap-server",
                           cluster.bootstrap(), *words], capture_output=True, text=True, check=False, timeout=120)


def write_plan(cluster, topic, shift):
    """Partition p on broker b belongs into dir (p + b + shift) % DIRS."""
    path = os.path.join(cluster.dir, f"plan-{topic}.json")
    replicas = cluster.view(topic)[2]
    partitions = [{"topic": topic, "partition": p, "replicas": brokers,
                   "log_dirs": [log_dirs(cluster, b)[(p + b + shift) % DIRS] for b in brokers]}
                  for p, (_, brokers, _) in replicas.items()]
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"version": 1, "partitions": partitions}, f)
    return path


def execute(cluster, topic, shift):
    done = tool(cluster, "--execute", "--additional", "--reassignment-json-file", write_plan(cluster, topic, shift))
    assert done.returncode == 0, done.stdout + done.stderr


def futures(cluster, broker):
    return [d for path in log_dirs(cluster, broker) for d in glob.glob(os.path.join(path, "*-future"))]


def wait_arrived(cluster, topic, shift):
    def arrived():
        return all(where(cluster, b, f"{topic}-{p}") == [(p + b + shift) % DIRS]
                   for b in range(1, BROKERS + 1) for p in range(PARTITIONS))

    poll(f"replicas of {topic} should be in the dirs where they are wanted", arrived)
    assert not any(futures(cluster, b) for b in range(1, BROKERS + 1))
    path = write_plan(cluster, topic, shift)
    done = tool(cluster, "--verify", "--preserve-throttles", "--reassignment-json-file", path)
    assert done.stdout.count("completed successfully.") == BROKERS * PARTITIONS, done.stdout + done.stderr


def started(cluster, topic):
    cluster.create_topic(topic, PARTITIONS)
    return Load(cluster, topic, PARTITIONS, rate=1500, size=1000)


def test_moves_under_load(cluster, rounds):
    topic = "there-and-back"
    with started(cluster, topic) as load:
        for i in range(rounds):
            execute(cluster, topic, i % 2)
            load.wait_acks()
            wait_arrived(cluster, topic, i % 2)
    load.check()


def test_brokers_die_in_the_middle(cluster, rounds):
    topic = "killed"
    with started(cluster, topic) as load:
        for i in range(rounds):
            victim = i % BROKERS + 1
            execute(cluster, topic, i)
            # Some of its partitions are under way by now, some are not, some have arrived.
            cluster.run("kill", victim)
            load.wait_acks()
            cluster.start(victim)
            cluster.wait_in_sync(topic)
            # What the kill kept from being asked for is asked for again; the rest has gone on by itself.
            execute(cluster, topic, i)
            wait_arrived(cluster, topic, i)
    load.check()
