#!/usr/bin/env python3
"""group_change - consumer groups live on while their broker becomes another one: Kafka 3.9, ours, and Kafka again

    tests/oracle/group_change.py [--verbose]

On one data directory, one server.properties and one ZooKeeper. Groups of all kinds: with members that stay through it all
(GroupSide.java; and one that says nothing for minutes, and is of no consumer), static ones, empty ones, offsets of no member,
of transactions, with leader epochs and metadata, expired, deleted, to expire later, and so many that the cleaner compacts
them. What AdminClient lists and describes before a change it must list and describe after it. Ends with one line of counts.
"""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "system"))
from cluster import ROOT, Cluster, poll  # noqa: E402
from wire import array, string  # noqa: E402

SETS = ("offsets.topic.num.partitions=3", "transaction.state.log.num.partitions=1", "offsets.topic.segment.bytes=20000",
        "log.cleaner.backoff.ms=100", "log.cleaner.min.cleanable.ratio=0.01", "offsets.retention.check.interval.ms=1000")
HOUR_MS, DAY_MS = 3600 * 1000, 24 * 3600 * 1000


def blob(data):
    return struct.pack(">i", len(data)) + data


class Silent:
    """A member of another protocol than the consumers', which says nothing unless it is asked to."""

    GROUP = "silent"

    def __init__(self, c):
        protocols = [string("one") + blob(b"first metadata"), string("two") + blob(b"second")]
        c.send(11, 0, string(self.GROUP) + struct.pack(">i", 300000) + string("") + string("workers") + array(protocols))
        r = c.answer()
        code, self.generation = r.take("h"), r.take("i")
        assert code == 0, f"JoinGroup: error {code}"
        r.string()
        r.string()
        self.id = r.string()
        c.send(14, 0, string(self.GROUP) + struct.pack(">i", self.generation) + string(self.id)
               + array([string(self.id) + blob(b"all the work")]))
        code = c.answer().take("h")
        assert code == 0, f"SyncGroup: error {code}"

    def heartbeat(self, c):
        c.send(12, 0, string(self.GROUP) + struct.pack(">i", self.generation) + string(self.id))
        return c.answer().take("h")

    def described(self, c):
        """The bytes of DescribeGroups v0."""
        c.send(15, 0, array([string(self.GROUP)]))
        r = c.answer()
        return r.data[r.at:]


def commit(c, group, version, offset, timestamp=-1, retention=-1):
    """Of no member: v1 has a time of its own, v2 a time to be kept for."""
    head = string(group) + struct.pack(">i", -1) + string("") + (struct.pack(">q", retention) if version == 2 else b"")
    body = struct.pack(">iq", 0, offset) + (struct.pack(">q", timestamp) if version == 1 else b"") + string("kept how long?")
    c.send(8, version, head + array([string("read") + array([body])]))
    r = c.answer()
    code = r.array(lambda: (r.string(), r.array(lambda: (r.take("i"), r.take("h")))))[0][1][0][1]
    assert code == 0, f"OffsetCommit v{version} of {group}: error {code}"


def without_generations(said):
    return [re.sub(r"generation \d+ owns", "owns", line) for line in said]


class Change:
    """The cluster of one broker, the groups, and what they say."""

    def __init__(self, directory):
        self.cluster = Cluster(directory, brokers=1, sets=SETS, options=("--impl", "kafka"))
        self.log, self.side, self.silent = os.path.join(directory, "broker-1.log"), None, None

    def __enter__(self):
        self.cluster.up()
        libs = os.environ.get("KLAMM_KAFKA_LIBS", f"{ROOT}/build/kafka/libs")
        self.side = subprocess.Popen(
            ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{ROOT}/build/oracle:{libs}/*",
             "GroupSide", self.cluster.bootstrap()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=sys.stderr, text=True)
        return self

    def __exit__(self, *_):
        if self.side:
            self.side.kill()
            self.side.wait()
        self.cluster.down()

    def ask(self, line):
        """What GroupSide says to it."""
        self.side.stdin.write(line + "\n")
        self.side.stdin.flush()
        said = []
        for answer in self.side.stdout:
            if answer == ".\n":
                return said
            said.append(answer.rstrip("\n"))
        raise AssertionError(f"GroupSide ended at: {line}")

    def connect(self):
        return self.cluster.connect(1, 20)

    def become(self, impl):
        """A clean stop, and another program on what the first one left."""
        self.cluster.run("stop", 1)
        path = os.path.join(self.cluster.dir, "cluster.json")
        with open(path, encoding="utf-8") as f:
            settings = json.load(f)
        settings["impl"] = {"*": impl}
        with open(path, "w", encoding="utf-8") as f:
            json.dump(settings, f)
        self.cluster.wait_unregistered(1)
        self.cluster.run("start", 1)
        poll("the groups should be loaded", self.is_loaded)

    def is_loaded(self):
        with self.connect() as c:
            code, groups = c.list_groups()
        return code == 0 and len(groups) > 5

    def tell(self):
        with self.connect() as c:
            return [*self.ask("tell"), f"silent {self.silent.described(c).hex()}", f"its heartbeat {self.silent.heartbeat(c)}"]

    def cleaned(self):
        """Where the cleaner got to, all partitions together."""
        path = os.path.join(self.cluster.dir, "broker-1/cleaner-offset-checkpoint")
        if not os.path.exists(path):
            return 0
        with open(path, encoding="utf-8") as f:
            return sum(int(line.split()[2]) for line in f if line.startswith("__consumer_offsets "))

    def expire(self, number):
        """Offsets whose time is over, one by each clock, go with their groups; one that has an hour stays."""
        with self.connect() as c:
            commit(c, f"old-{number}", 1, 5, timestamp=int(time.time() * 1000) - 8 * DAY_MS)
            commit(c, f"short-{number}", 2, 6, retention=1)
            commit(c, f"long-{number}", 2, 7, retention=HOUR_MS)

        def gone():
            with self.connect() as c:
                names = {name for name, _ in c.list_groups()[1]}
            return f"long-{number}" in names and not names & {f"old-{number}", f"short-{number}"}
        poll("offsets should expire", gone)

    def complaints(self, read_from):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            f.seek(read_from)
            return [line.strip() for line in f if " ERROR " in line or "passed over" in line or "no sense" in line]


class Verdict:
    """Facts, each of which holds or does not."""

    def __init__(self, is_verbose):
        self.passed, self.failed, self.is_verbose = 0, 0, is_verbose

    def same(self, what, before, after):
        gone = [f"  - {line}" for line in before if line not in after]
        come = [f"  + {line}" for line in after if line not in before]
        self.holds(what, not gone and not come, "\n".join([*gone, *come]))
        if self.is_verbose:
            print("\n".join(after))

    def same_groups(self, what, before, tell):
        """In time: members find their coordinator again. Kafka serves clients before it knows any topic; whose leader is told
        that there is none joins again, and so its group has another generation."""
        deadline = time.monotonic() + 20
        while (after := tell()) != before and time.monotonic() < deadline:
            time.sleep(0.1)
        self.same(what, before, after)

    def holds(self, what, fact, why=""):
        self.passed += fact
        self.failed += not fact
        if not fact:
            print(f"FAILED: {what}\n{why}")
        elif self.is_verbose:
            print(f"holds: {what}")


def run(change, verdict):
    change.ask("make")
    with change.connect() as c:
        change.silent = Silent(c)
    change.expire(1)
    change.ask("more 1")
    cleaned = poll("Kafka should compact", change.cleaned)
    of_kafka = change.tell()
    read_from = os.path.getsize(change.log)
    change.become("klamm")
    verdict.same_groups("groups of Kafka on ours", of_kafka, change.tell)
    change.expire(2)
    change.ask("more 2")
    poll("ours should compact", lambda: change.cleaned() > cleaned)
    of_ours = change.tell()
    verdict.holds("what changed on ours is seen", of_ours != of_kafka)
    verdict.same("ours complains of nothing", [], change.complaints(read_from))
    read_from = os.path.getsize(change.log)
    change.become("kafka")
    verdict.same_groups("groups of ours on Kafka", without_generations(of_ours), lambda: without_generations(change.tell()))
    change.ask("more 3")
    verdict.same("Kafka complains of nothing", [], change.complaints(read_from))


def main():
    directory = tempfile.mkdtemp(prefix="groups-", dir=os.path.join(ROOT, "build"))
    verdict = Verdict("--verbose" in sys.argv)
    try:
        with Change(directory) as change:
            run(change, verdict)
    except AssertionError as e:
        verdict.holds("the way through the changes", False, str(e))
    if not verdict.failed:
        shutil.rmtree(directory)
    print(f"{verdict.passed} passed, {verdict.failed} failed, 0 skipped")
    return verdict.failed > 0


if __name__ == "__main__":
    sys.exit(main())
