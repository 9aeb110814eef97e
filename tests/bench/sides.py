"""The two clusters that are measured in turns: the same settings, the same ZooKeeper program, the same load."""

import json
import os
import sys
import time

import limits
import usage
from cluster import ROOT, Cluster

sys.path.insert(0, os.path.join(ROOT, "deploy"))
from local.cluster import Cluster as Local  # noqa: E402

NAMES = ("kafka", "klamm")
# Deleted topics leave the memory at once. Under load, sessions are as long as Kafka has them by default, so that a busy
# machine ends none; where brokers are killed they are short, and leaders move only when a measurement moves them.
SETTINGS = ("log.segment.delete.delay.ms=1000", "auto.leader.rebalance.enable=false")
SESSION = {"traffic": 18000, "starts": 6000}


class Side(Cluster):
    """Three brokers of one implementation."""

    def __init__(self, name, directory, port, use):
        sets = (*SETTINGS, f"zookeeper.session.timeout.ms={SESSION.get(use, SESSION['starts'])}")
        super().__init__(os.path.join(directory, name), sets=sets, port=port,
                         options=("--impl", name, "--jvm", "server", "--tls"))
        self.name, self.topic, self._topics = name, None, 0

    def local(self, number):
        """The broker as deploy/cluster knows it."""
        return Local.load(self.dir).member(str(number))

    def start(self, *numbers):
        """Apache Kafka gives up where its earlier session still lives."""
        self.wait_unregistered(*numbers)
        self.run("start", *numbers)

    def endpoints_of(self, security):
        """bootstrap.servers of the plain or the TLS listeners."""
        shift = 400 if security == "tls" else 0
        return ",".join(f"127.0.0.1:{self.port + shift + n}" for n in self.numbers)

    def client_config(self, security):
        """Properties of a client besides bootstrap.servers."""
        if security == "plain":
            return {}
        return {"security.protocol": "SSL", "ssl.truststore.type": "PEM",
                "ssl.truststore.location": os.path.join(self.dir, "tls/ca.pem")}

    def zookeeper_pid(self):
        with open(os.path.join(self.dir, "zookeeper-1.pid"), encoding="utf-8") as f:
            return json.load(f)["pid"]

    def cpu(self):
        """CPU seconds of the brokers so far."""
        return sum(cpu for cpu, _ in self.usage().values())

    def compiling(self):
        """CPU seconds so far that their JVMs compiled for."""
        return sum(usage.compiling(pid) for pid in self.pids().values())

    def largest_mb(self):
        """Resident memory of the largest broker."""
        return max(rss for _, rss in self.usage().values()) / 1e6

    def new_topic(self, prefix, partitions, replicas):
        """A topic of a name that there never was, `self.topic` from now on; the one before it goes."""
        self.drop_topic()
        self._topics += 1
        self.topic = f"{prefix}-{self._topics}"
        self.create_topic(self.topic, partitions, replicas)

    def drop_topic(self):
        if self.topic:
            with self.connect(self.controller(), 60) as c:
                c.delete_topic(self.topic)
        self.topic = None


class Meter:
    """From `with` to its end: CPU of one side's brokers without what their JVMs compiled for, the share that this was
    of all, and the share of the machine that neither of the sides nor their clients had.

    A JVM compiles for minutes on a machine that is busy, and after that hardly ever: counted, it would say how long the
    brokers have run, not what they cost."""

    def __init__(self, sides, side):
        self.sides, self.side = sides, side
        self.cpu, self.shares = 0.0, {}

    def _ours(self):
        return sum(s.cpu() + usage.of(s.zookeeper_pid())[0] for s in self.sides)

    def __enter__(self):
        self._before = (time.monotonic(), self.side.cpu(), self.side.compiling(), usage.machine(), self._ours(),
                        limits.cpu_of_us())
        return self

    def __exit__(self, *_):
        start, cpu, compiling, machine, ours, clients = self._before
        seconds, cpu, compiling = time.monotonic() - start, self.side.cpu() - cpu, self.side.compiling() - compiling
        self.cpu = max(cpu - compiling, 0.01)
        others = usage.machine() - machine - (self._ours() - ours) - (limits.cpu_of_us() - clients)
        self.shares = {"others": max(0.0, others) / seconds / os.cpu_count(),
                       "compiling": compiling / (self.cpu + compiling)}
