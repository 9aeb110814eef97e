"""A set of partitions is moved under a throttle (KIP-73) while records are produced with acks=all.

3 GB with --full, else as much as takes seconds. The bulk lies in a topic of its own; the topic with the load, whose
records are compared at the end, is moved in the same plan.
"""

import os
import subprocess
import time

import pytest
from cluster import LOAD, Cluster, Load, client_options, poll
from fixtures import finish, new_directory
from test_reassign import replicas, tool, write_plans

SETS = ("min.insync.replicas=2", "default.replication.factor=3")
BROKERS = 4
PARTITIONS = 4
HOME, AWAY = [1, 2, 3], [4, 2, 3]
BLOCK = 10_000
# Small beside the MiB that a fetch brings of a partition: its end is cut within a batch, which counts and comes again.
BATCH = "batch.size=20000"
MB = 1_000_000


@pytest.fixture(scope="module")
def module_cluster(request):
    """Four brokers: all partitions are on three of them, and move to the fourth."""
    cluster = Cluster(new_directory("test_throttle"), brokers=BROKERS, sets=SETS)
    try:
        cluster.up()
        yield cluster
    finally:
        finish(request, cluster)


@pytest.fixture
def amount(request):
    """(bytes to move, bytes per second)"""
    return (3000 * MB, 60 * MB) if request.config.getoption("--full") else (80 * MB, 10 * MB)


def everywhere(topics, where):
    return {(topic, p): where for topic in topics for p in range(PARTITIONS)}


class Move:
    """Two topics on brokers 1 to 3, one full and one with a load; and their way to broker 4."""

    def __init__(self, cluster, name, amount):
        self.cluster, (self.size, self.rate) = cluster, amount
        self.bulk, self.live = f"{name}-bulk", f"{name}-live"
        for topic in (self.bulk, self.live):
            cluster.create_topic(topic, PARTITIONS)
        tool(cluster, "--execute", "--reassignment-json-file", self.plan(HOME))
        self.wait_at(HOME)
        self.fill()
        self.load = Load(cluster, self.live, PARTITIONS)

    def fill(self):
        done = subprocess.run([LOAD, "produce", "--topic", self.bulk, "--partitions", str(PARTITIONS), "--records",
                               str(self.size // BLOCK), "--size", str(BLOCK),
                               *client_options(self.cluster, "enable.idempotence=true", "acks=all", BATCH)],
                              capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0 and '"failed": 0' in done.stdout, done.stdout + done.stderr

    def plan(self, where):
        return write_plans(self.cluster, f"{self.bulk}-{where[0]}", everywhere((self.bulk, self.live), where))

    def execute(self):
        out = tool(self.cluster, "--execute", "--throttle", str(self.rate), "--reassignment-json-file", self.plan(AWAY))
        assert "The inter-broker throttle limit was set to" in out, out

    def at(self, where):
        """How many partitions are there; in any order: a cancelled move leaves that of the plan."""
        return sum(sorted(found) == sorted(where) for topic in (self.bulk, self.live)
                   for found in replicas(self.cluster, topic).values())

    def wait_at(self, where):
        poll(f"{self.bulk} should be at {where}", lambda: self.at(where) == 2 * PARTITIONS, 120)

    def moved(self):
        """Bytes that lie at broker 4."""
        total = 0
        for p in range(PARTITIONS):
            directory = os.path.join(self.cluster.dir, "broker-4", f"{self.bulk}-{p}")
            try:
                total += sum(e.stat().st_size for e in os.scandir(directory) if e.name.endswith(".log"))
            except FileNotFoundError:
                pass
        return total

    def wait_halfway(self):
        poll("half of it should have been moved", lambda: self.moved() > self.size // 2, 120)
        assert self.at(AWAY) < 2 * PARTITIONS

    def verify(self):
        out = tool(self.cluster, "--verify", "--reassignment-json-file", self.plan(AWAY))
        assert out.count("is completed.") == 2 * PARTITIONS and "Clearing broker-level throttles" in out, out

    def __enter__(self):
        self.load.__enter__()
        return self

    def __exit__(self, *failed):
        self.load.__exit__(*failed)


def test_throttle_holds(cluster, amount):
    with Move(cluster, "held", amount) as move:
        start = time.monotonic()
        move.execute()
        move.wait_at(AWAY)
        took = time.monotonic() - start
        move.verify()
    move.load.check()
    rate = move.moved() / took
    lowest = 0.9 if move.rate * 10 < move.size else 0  # a rate is that of several windows of a second
    print(f"{move.moved() / MB:.0f} MB in {took:.1f} s: {rate / MB:.2f} MB/s, throttle {move.rate / MB:.0f} MB/s")
    assert lowest * move.rate <= rate <= 1.1 * move.rate


def test_cancelled_halfway(cluster, amount):
    with Move(cluster, "cancelled", amount) as move:
        move.execute()
        move.wait_halfway()
        tool(cluster, "--cancel", "--reassignment-json-file", move.plan(AWAY))
        poll("no move should be under way", lambda: "No partition" in tool(cluster, "--list"))
        assert move.at(HOME) > 0 and move.at(HOME) + move.at(AWAY) == 2 * PARTITIONS
        poll("what went back should not lie at broker 4", lambda: move.moved() < move.size * 0.9)
    move.load.check()


def test_controller_dies_halfway(cluster, amount):
    with Move(cluster, "resumed", amount) as move:
        move.execute()
        move.wait_halfway()
        victim = cluster.controller()
        cluster.run("kill", victim)
        cluster.controller(but=[victim])
        cluster.start(victim)
        move.wait_at(AWAY)
        cluster.wait_in_sync(move.live)
        move.verify()
    move.load.check()
