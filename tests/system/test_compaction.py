"""A compacted topic under load, while brokers die in the middle of cleaning it: the last value of every key stays."""

import glob
import os
import random
import struct
import subprocess

import wire
from cluster import Cluster, poll, read_topic

SETS = ("min.insync.replicas=2", "log.cleaner.backoff.ms=20")
TOPIC, KEYS, BATCH = "compacted", 40, 100


def record(delta, key, value):
    body = b"\0" + wire.varint(0) + wire.varint(delta) + wire.varint(len(key)) + key
    body += wire.varint(len(value)) + value + wire.varint(0)
    return wire.varint(len(body)) + body


def batch(pairs):
    """A record batch v2 of keys and values."""
    records = b"".join(record(i, k, v) for i, (k, v) in enumerate(pairs))
    body = struct.pack(">hiqqqhii", 0, len(pairs) - 1, 0, 0, -1, -1, -1, len(pairs)) + records
    return struct.pack(">qiibI", 0, 9 + len(body), -1, 2, wire.crc32c(body)) + body


class Writer:
    """Sends values that go up, each batch until it is acknowledged; remembers the last one of each key."""

    def __init__(self, cluster, chance):
        self.cluster, self.chance, self.next, self.last = cluster, chance, 0, {}

    def try_send(self, records):
        """Whether the leader took it; not to be known where the connection breaks, and then it is sent again."""
        view = self.cluster.view(TOPIC)
        leader = view and view[2].get(0, (0,))[0]
        if not leader or leader < 1:
            return False
        try:
            with self.cluster.connect(leader) as c:
                c.send_records(TOPIC, 0, records)
                return c.produce_answer()[0] == 0
        except (OSError, EOFError, struct.error):
            return False

    def write(self, batches):
        for _ in range(batches):
            pairs = []
            for _ in range(BATCH):
                key = self.chance.randrange(KEYS)
                self.last[key] = self.next
                pairs.append((b"key-%d" % key, b"%d:%d" % (key, self.next)))
                self.next += 1
            records = batch(pairs)
            poll("a batch should be acknowledged", lambda r=records: self.try_send(r))


def said(cluster, number, text):
    with open(os.path.join(cluster.dir, f"broker-{number}.log"), encoding="utf-8", errors="replace") as f:
        return sum(text in line for line in f)


def cleanings(cluster):
    return {n: said(cluster, n, f"log cleaned partition={TOPIC}-0") for n in cluster.numbers}


def check_order(values, last, where):
    """The values of each key go up but for batches that were sent twice, and end with the last one."""
    found = {}
    for key, value in values:
        found[key] = value
    assert found == last, f"{where}: " + str({k: (found.get(k), v) for k, v in last.items() if found.get(k) != v})


def replica_values(cluster, number):
    """(key, value) of every record in one stopped broker's files."""
    files = sorted(glob.glob(os.path.join(cluster.dir, f"broker-{number}", f"{TOPIC}-0", "*.log")))
    tool = os.path.join(Cluster.programs(), "klamm")
    done = subprocess.run([tool, "dump-log", "--files", ",".join(files), "--print-data-log"], capture_output=True,
                          text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    for line in done.stdout.splitlines():
        if " payload: " in line:
            key, value = line.rpartition(" payload: ")[2].split(":")
            yield int(key), int(value)


def test_kill_while_cleaning(cluster, rounds):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    cluster.create_topic(TOPIC, 1, cleanup_policy="compact", segment_bytes="20000",
                         min_cleanable_dirty_ratio="0.01", file_delete_delay_ms="1000")
    writer = Writer(cluster, chance)
    for _ in range(rounds):
        before = cleanings(cluster)
        writer.write(chance.randrange(20, 60))
        victim = chance.choice(cluster.numbers)
        poll(f"broker {victim} should clean", lambda v=victim, b=before: cleanings(cluster)[v] > b[v])
        writer.write(chance.randrange(1, 20))
        cluster.run("kill", victim)
        writer.write(chance.randrange(5, 30))
        cluster.start(victim)
        cluster.wait_in_sync(TOPIC)
    before = cleanings(cluster)
    writer.write(30)
    cluster.wait_in_sync(TOPIC)
    poll("every broker should clean", lambda: all(cleanings(cluster)[n] > before[n] for n in cluster.numbers))
    lines = [line.split(" ")[2] for line in read_topic(cluster, TOPIC)]
    check_order([tuple(map(int, line.split(":"))) for line in lines], writer.last, "a consumer")
    assert len(lines) < writer.next / 2, f"{len(lines)} records are left of {writer.next}"
    assert not any(said(cluster, n, "cannot be cleaned") for n in cluster.numbers)
    cluster.run("stop", *cluster.numbers)
    for number in cluster.numbers:
        check_order(list(replica_values(cluster, number)), writer.last, f"the replica of broker {number}")
