"""Disks that are full, read-only or damaged, and znodes that make no sense: what is hurt is told, the rest goes on."""

import errno
import glob
import os
import random
import subprocess

import pytest

from cluster import IMPL, Load, poll, read_topic
from test_disk import check_replicas_equal

SETS = ("min.insync.replicas=2", "log.segment.bytes=262144", "log.index.interval.bytes=1024")
PARTITIONS = 4
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")


def start_refused(cluster, number):
    """What the broker says when it cannot start."""
    with pytest.raises(AssertionError) as told:
        cluster.start(number)
    return str(told.value)


class Mount:
    """Something mounted over a broker's log dir while it is down, and taken away again."""

    def __init__(self, path, *args):
        self.path, self.args = path, args

    def __enter__(self):
        for args in self.args:
            done = subprocess.run(["mount", *args, self.path], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                pytest.skip(f"mount does not work here: {done.stderr.strip()}")
        return self

    def __exit__(self, kind, *_):
        lazily = ["-l"] if kind else []  # after a failure the broker may still run
        subprocess.run(["umount", *lazily, self.path], check=True)


def fill(path):
    """Writes until nothing more can be written."""
    try:
        with open(path, "wb", buffering=0) as f:
            while True:
                f.write(b"x" * 4096)
    except OSError as e:
        assert e.errno == errno.ENOSPC


@needs_root
def test_a_full_disk_costs_one_replica(cluster):
    """Broker 1's disk fills up under load: the others go on; with room again it comes back."""
    data, topic = os.path.join(cluster.dir, "broker-1"), "full"
    cluster.run("stop", 1)
    with Mount(data, ["-t", "tmpfs", "-o", "size=160m", "none"]):
        cluster.start(1)
        cluster.create_topic(topic, PARTITIONS)
        with Load(cluster, topic, PARTITIONS, rate=1000) as load:
            fill(os.path.join(data, "filler"))
            poll("broker 1 should leave the ISR or end", lambda: all(
                1 not in isr for _, _, isr in cluster.view(topic, [2, 3])[2].values()))
            load.wait_acks()
            subprocess.run(["mount", "-o", "remount,size=1g", data], check=True)
            cluster.run("kill", 1)
            cluster.start(1)
            cluster.wait_in_sync(topic)
        load.check()
        cluster.run("stop", 1)
    cluster.start(1)
    cluster.wait_in_sync(topic)


@needs_root
def test_a_read_only_disk_is_named(cluster):
    """A broker whose only log dir cannot be written says so and ends; it starts once that is mended."""
    data = os.path.join(cluster.dir, "broker-2")
    cluster.run("stop", 2)
    with Mount(data, ["--bind", data], ["-o", "remount,bind,ro"]):
        said = start_refused(cluster, 2)
    assert "ended" in said and (data in said or "Read-only file system" in said), said
    cluster.start(2)
    cluster.wait_whole()


def largest(pattern):
    return max(glob.glob(pattern), key=os.path.getsize)


def cut(path, chance):
    size = os.path.getsize(path)
    os.truncate(path, chance.randrange(size // 2, size))


def flip(path, chance):
    """A bit in the last quarter."""
    size = os.path.getsize(path)
    with open(path, "r+b") as f:
        at = chance.randrange(size * 3 // 4, size)
        f.seek(at)
        byte = f.read(1)[0]
        f.seek(at)
        f.write(bytes([byte ^ 1 << chance.randrange(8)]))


def zeros(path, chance):
    """What a file looks like whose last blocks never reached the disk."""
    size = os.path.getsize(path)
    keep = chance.randrange(size // 2, size)
    os.truncate(path, keep)
    os.truncate(path, size)


def garbage(path, chance):
    with open(path, "ab") as f:
        f.write(chance.randbytes(100))


def scramble(path, chance):
    with open(path, "r+b") as f:
        f.write(chance.randbytes(os.path.getsize(path) or 8))


DAMAGE = [("log", cut), ("log", flip), ("log", zeros), ("log", garbage), ("index", cut), ("index", scramble),
          ("timeindex", scramble), ("index", lambda path, _: os.unlink(path))]


def test_damaged_segments_are_cut_back(cluster):
    """Broker 3 dies and finds its newest segments damaged: it keeps what is whole and fetches the rest again."""
    topic, seed = "damage", random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    cluster.create_topic(topic, PARTITIONS)
    with Load(cluster, topic, PARTITIONS, rate=2000) as load:
        for kind, damage in DAMAGE:
            load.wait_acks(500)
            cluster.run("kill", 3)
            for partition in range(PARTITIONS):
                newest = max(glob.glob(os.path.join(cluster.dir, "broker-3", f"{topic}-{partition}", f"*.{kind}")))
                if os.path.getsize(newest) > 1:
                    damage(newest, chance)
            cluster.start(3)
            cluster.wait_in_sync(topic)
    load.check()
    cluster.run("stop", *cluster.numbers)
    check_replicas_equal(cluster, topic)


@pytest.mark.skipif(IMPL != "klamm", reason="Apache Kafka lets it lead, and acknowledged records are lost")
def test_a_leader_is_back_before_a_controller_is_elected(cluster):
    """Broker 3 leads and is controller, dies, loses what it wrote last, and is elected again: it leads nothing before
    it has fetched what it lost."""
    topic, others, chance = "back", (1, 2), random.Random(3)
    cluster.run("stop", *others)  # which leaves 3 as the controller
    cluster.run("start", *others, "--set", "zookeeper.session.timeout.ms=20000")
    cluster.create_topic(topic, PARTITIONS)
    with Load(cluster, topic, PARTITIONS, rate=2000) as load:
        load.wait_acks(500)
        assert cluster.controller() == 3
        cluster.run("pause", *others)
        cluster.run("kill", 3)
        for partition in range(PARTITIONS):
            cut(max(glob.glob(os.path.join(cluster.dir, "broker-3", f"{topic}-{partition}", "*.log"))), chance)
        cluster.start(3)
        cluster.run("resume", *others)
        cluster.wait_in_sync(topic)
        load.wait_acks()
    load.check()
    cluster.run("stop", *others)
    cluster.start(*others)
    cluster.wait_in_sync(topic)
    cluster.run("stop", *cluster.numbers)
    check_replicas_equal(cluster, topic)
    cluster.start(*cluster.numbers)


NONSENSE = {
    "/brokers/topics/no-json": "nonsense",
    "/brokers/topics/no-numbers": '{"version":2,"partitions":{"zero":["one"]}}',
    "/brokers/topics/no-brokers": '{"version":2,"partitions":{"0":[77]},"adding_replicas":{},"removing_replicas":{}}',
    "/config/topics/no-config": "{",
    "/config/changes/config_change_0000000077": "[]",
    "/admin/delete_topics/no-such-topic": "?",
    "/isr_change_notification/isr_change_0000000077": '{"version":1,"partitions":7}',
    "/log_dir_event_notification/log_dir_event_0000000077": "",
    "/brokers/ids/no-number": "{}",
    "/brokers/ids/77": '{"version":5}',
}


@pytest.mark.skipif(IMPL != "klamm", reason="Apache Kafka's controller does not survive this")
def test_znodes_that_make_no_sense_hurt_nobody(cluster):
    """Written with zkCli while records flow, then found by a new controller: topics are made and led all the same."""
    topic = "sense"
    cluster.create_topic(topic, PARTITIONS)
    cluster.create_topic("hurt")
    with Load(cluster, topic, PARTITIONS) as load:
        before = cluster.pids()
        cluster.zkcli(*(f"create {path} '{data}'" for path, data in NONSENSE.items()),
              "set /brokers/topics/hurt/partitions/0/state nonsense")
        load.wait_acks()
        cluster.create_topic("made-meanwhile")
        assert cluster.pids() == before
        controller = cluster.controller()
        cluster.run("kill", controller)
        cluster.controller(but=[controller])
        load.wait_acks()
        cluster.start(controller)
        cluster.wait_in_sync(topic)
        cluster.create_topic("made-afterwards")
        cluster.zkcli(*(f"deleteall {path}" for path in NONSENSE if not path.startswith(("/config/ch", "/isr", "/log_d",
                                                                                         "/admin"))))
        load.wait_acks()
    load.check()
    assert read_topic(cluster, "made-afterwards") == []
