#!/usr/bin/env python3
"""configs_cli - Kafka's kafka-configs on Kafka's brokers and on ours

    tests/oracle/configs_cli.py [--verbose]

Both clusters get the same command lines. Standard output, the first lines of an error, the exit code, and after each
change everything below /config in ZooKeeper must be the same. Free are the order of settings, addresses and paths of
a cluster, and the salt of a password, which must only look alike. Ends with one line of counts.
"""

import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import time

import topics_cli

ROOT = topics_cli.ROOT
SETTINGS = [part for pair in ("log.cleaner.dedupe.buffer.size=2097152", "password.encoder.secret=s3cret",
                              "log.retention.hours=100", "log.segment.bytes=500000000")
            for part in ("--set", pair)]
TOPIC = ["--entity-type", "topics", "--entity-name", "t"]
BROKER = ["--entity-type", "brokers", "--entity-name", "1"]
COMMON = ["--entity-type", "brokers", "--entity-default"]
LOGGER = ["--entity-type", "broker-loggers", "--entity-name", "1"]


def add(entity, text):
    return ["--alter", *entity, "--add-config", text]


def drop(entity, text):
    return ["--alter", *entity, "--delete-config", text]


def show(entity, *more):
    return ["--describe", *entity, *more]


STEPS = [
    # topics
    show(TOPIC), show(TOPIC, "--all"), show(["--entity-type", "topics"]), show(["--topic", "none"]),
    add(TOPIC, "retention.ms=1000,max.message.bytes=2000000"), show(TOPIC), show(TOPIC, "--all"),
    add(TOPIC, "cleanup.policy=[compact,delete],min.cleanable.dirty.ratio=.25,preallocate=TRUE"), show(TOPIC, "--all"),
    drop(TOPIC, "retention.ms"), drop(TOPIC, "retention.ms"), drop(TOPIC, "foo"), show(TOPIC),
    add(TOPIC, "foo=bar"), add(TOPIC, "retention.ms=x"), add(TOPIC, "retention.ms=-2"), add(TOPIC, "retention.ms="),
    add(TOPIC, "cleanup.policy=bogus"), add(TOPIC, "min.compaction.lag.ms=5,max.compaction.lag.ms=4"),
    add(TOPIC, "remote.storage.enable=true"), add(TOPIC, "remote.log.copy.disable=true"),
    add(TOPIC, "message.format.version=xx"), add(TOPIC, "compression.type=zip"), add(TOPIC, "preallocate=maybe"),
    add(TOPIC, "follower.replication.throttled.replicas=[0:1,0:2]"),
    add(TOPIC, "leader.replication.throttled.replicas=*"), add(TOPIC, "leader.replication.throttled.replicas=x"),
    add(["--topic", "none"], "retention.ms=5"), add(["--topic", "a b"], "retention.ms=5"), show(TOPIC),
    # brokers
    show(BROKER), show(COMMON), show(["--entity-type", "brokers"]), show(["--broker", "9"]),
    add(BROKER, "num.io.threads=9"), show(BROKER), add(BROKER, "num.io.threads=99"), add(BROKER, "num.io.threads=1"),
    add(BROKER, "num.io.threads=x"), add(BROKER, "num.io.threads=0"), add(BROKER, "num.network.threads=50"),
    add(BROKER, "num.replica.fetchers=2"), add(BROKER, "background.threads=21"), add(BROKER, "log.cleaner.threads=3"),
    add(BROKER, "broker.id=7"), add(BROKER, "log.dirs=/x,zookeeper.connect=y"), add(BROKER, "my.own.key=1"),
    add(BROKER, "ssl.keystore.location=/x"), add(BROKER, "compression.type=zip"), add(BROKER, "log.retention.ms=0"),
    add(BROKER, "max.connections.per.ip.overrides=localhost:x"), add(BROKER, "max.connections.per.ip=0"),
    add(BROKER, "leader.replication.throttled.rate=-1"), add(BROKER, "leader.replication.throttled.rate=1000"),
    add(BROKER, "listener.name.plaintext.max.connections=400,unclean.leader.election.enable=true"), show(BROKER),
    add(BROKER, "log.cleaner.dedupe.buffer.size=5"), add(BROKER, "log.local.retention.ms=999999999999"),
    add(BROKER, "metric.reporters=a.b.C"), drop(BROKER, "my.own.key"), drop(BROKER, "my.own.key"),
    add(COMMON, "log.retention.ms=7000,log.roll.ms=60000"), show(COMMON), show(BROKER), show(TOPIC, "--all"),
    add(BROKER, "log.retention.ms=5000"), show(BROKER), show(TOPIC, "--all"),
    add(COMMON, "listeners=PLAINTEXT://:1"), add(COMMON, "listener.name.x.ssl.key.password=p"),
    add(COMMON, "log.segment.bytes=1048577,min.insync.replicas=1,message.max.bytes=2000000"), show(TOPIC, "--all"),
    drop(COMMON, "log.retention.ms,log.roll.ms"), show(COMMON), drop(BROKER, "log.retention.ms"), show(BROKER),
    # passwords
    add(BROKER, "listener.name.other.ssl.keystore.password=hush"), show(BROKER),
    add(BROKER, "num.io.threads=8"), drop(BROKER, "listener.name.other.ssl.keystore.password"),
    # loggers: we have root only
    add(LOGGER, "root=INFO"), add(LOGGER, "root=LOUD"), add(LOGGER, "no.such=INFO"), drop(LOGGER, "root"),
    add(["--broker-logger", "9"], "root=INFO"),
    # quotas
    add(["--user", "alice b*"], "producer_byte_rate=1000,consumer_byte_rate=2000"), show(["--user", "alice b*"]),
    add(["--user", "alice b*", "--client", "c/1"], "request_percentage=12.5"),
    add(["--user-defaults"], "controller_mutation_rate=10"), add(["--client-defaults"], "producer_byte_rate=5"),
    add(["--client", "x"], "producer_byte_rate=7"), add(["--user-defaults", "--client-defaults"], "consumer_byte_rate=1"),
    add(["--ip", "127.0.0.1"], "connection_creation_rate=5"), add(["--ip-defaults"], "connection_creation_rate=6"),
    add(["--user", "u"], "producer_byte_rate=1.5"), add(["--user", "u"], "foo=1"), add(["--user", "u"], "producer_byte_rate=x"),
    add(["--ip", "127.0.0.1"], "producer_byte_rate=5"),
    show(["--entity-type", "users"]), show(["--entity-type", "clients"]), show(["--entity-type", "ips"]),
    show(["--user-defaults"]), show(["--client-defaults"]), show(["--ip", "127.0.0.1"]), show(["--client", "x"]),
    show(["--entity-type", "users", "--entity-type", "clients"]), show(["--user", "alice b*", "--client", "c/1"]),
    drop(["--user", "alice b*"], "producer_byte_rate,consumer_byte_rate"),
    drop(["--user", "alice b*", "--client", "c/1"], "request_percentage"), drop(["--user", "nobody"], "producer_byte_rate"),
    drop(["--ip-defaults"], "connection_creation_rate"), show(["--entity-type", "users"]),
]


class ZooKeeper:
    """Just enough of its protocol to read a tree."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 20)
        self.xid = 0
        self._send(struct.pack(">iqiqi16s", 0, 0, 20000, 0, 16, b"\0" * 16))
        self._receive()

    def _send(self, body):
        self.socket.sendall(struct.pack(">i", len(body)) + body)

    def _exactly(self, count):
        data = b""
        while len(data) < count:
            chunk = self.socket.recv(count - len(data))
            if not chunk:
                raise ConnectionResetError("closed by ZooKeeper")
            data += chunk
        return data

    def _receive(self):
        return self._exactly(struct.unpack(">i", self._exactly(4))[0])

    def _ask(self, kind, path):
        self.xid += 1
        raw = path.encode()
        self._send(struct.pack(">iii", self.xid, kind, len(raw)) + raw + b"\0")
        answer = self._receive()
        error = struct.unpack_from(">i", answer, 12)[0]
        if error:
            raise RuntimeError(f"{path}: ZooKeeper says {error}")
        return answer[16:]

    def data(self, path):
        answer = self._ask(4, path)
        length = struct.unpack_from(">i", answer)[0]
        return None if length < 0 else answer[4:4 + length].decode()

    def children(self, path):
        answer = self._ask(8, path)
        at, names = 4, []
        for _ in range(struct.unpack_from(">i", answer)[0]):
            length = struct.unpack_from(">i", answer, at)[0]
            names.append(answer[at + 4:at + 4 + length].decode())
            at += 4 + length
        return sorted(names)

    def tree(self, path):
        data = self.data(path)
        found = {path: json.loads(data) if data else data}
        for name in self.children(path):
            found.update(self.tree(f"{path}/{name}"))
        return found


def stored(cluster):
    """What stands below /config: parsed, passwords without what is random in them."""
    zk = ZooKeeper(cluster.zk_port)  # its session ends sooner than the next step may come
    tree = zk.tree("/config")
    zk.socket.close()
    for node in tree.values():
        for key, value in (node or {}).get("config", {}).items():
            if "encryptedPassword:" in value:
                pairs = dict(item.rsplit(":", 1) for item in value.split(","))
                for name in ("salt", "encryptedPassword", "initializationVector"):
                    pairs[name] = len(pairs[name])
                node["config"][key] = pairs
    return tree


def visible(answer, cluster):
    """What has to be the same: addresses and paths are not, and neither is the order of settings."""
    code, out, err = answer
    out, err = (re.sub(r"127\.0\.0\.1:\d+", "ADDRESS", text.replace(cluster.directory, "DIR")) for text in (out, err))
    lines = sorted(re.sub(r"(are )(.*=.*)", lambda m: m[1] + ", ".join(sorted(m[2].split(", "))), line)
                   for line in out.splitlines())
    told = [line for line in err.splitlines() if not line.startswith("\tat ")][:2]
    return code, lines, told


class Cluster:
    def __init__(self, directory, impl):
        self.directory = f"{directory}-{impl}"
        self.bootstrap = topics_cli.start(directory, impl, *SETTINGS)
        first = int(self.bootstrap.split(",", 1)[0].rsplit(":", 1)[1])
        self.zk_port = first + 100


class Check:
    def __init__(self, kafkas, clusters, verbose):
        self.kafkas, self.clusters, self.verbose = kafkas, clusters, verbose
        self.passed = self.failed = 0

    def prepare(self):
        for cluster in self.clusters:
            args = ["--bootstrap-server", cluster.bootstrap, "--create", "--topic", "t", "--replica-assignment", "1:2"]
            self.kafkas.run("kafka-topics", args)

    def answers(self, args):
        return [visible(self.kafkas.run("kafka-configs", ["--bootstrap-server", c.bootstrap, *args]), c)
                for c in self.clusters]

    def step(self, args):
        """Changes take a moment to be applied: what changes nothing is asked again."""
        for _ in range(1 if "--alter" in args else 8):
            kafkas, ours = self.answers(args)
            if kafkas == ours:
                break
            time.sleep(0.3)
        self.count(" ".join(args), kafkas, ours)
        if "--alter" in args:
            self.count(f"ZooKeeper after {' '.join(args)}", *(stored(c) for c in self.clusters))
            time.sleep(0.2)  # both read it

    def count(self, what, kafkas, ours):
        if kafkas == ours:
            self.passed += 1
            if self.verbose:
                print(f"ok: {what} -> {kafkas}", flush=True)
            return
        self.failed += 1
        if isinstance(kafkas, dict):
            kafkas, ours = ({k: v for k, v in a.items() if b.get(k, "") != v} for a, b in ((kafkas, ours), (ours, kafkas)))
        print(f"FAILED: {what}\n  Kafka: {kafkas}\n  ours:  {ours}", flush=True)


def main():
    libs = subprocess.run([f"{ROOT}/tests/kafka/fetch"], stdout=subprocess.PIPE, text=True, check=False)
    if libs.returncode != 0 or not shutil.which("javac"):
        print("configs_cli: Kafka's jars or a JDK cannot be had here, so nothing is compared")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    directory = os.path.join(ROOT, f"build/configs-cli-{os.getpid()}")
    kafkas = topics_cli.Kafkas(libs.stdout.strip())
    try:
        check = Check(kafkas, [Cluster(directory, "kafka"), Cluster(directory, "klamm")], "--verbose" in sys.argv)
        check.prepare()
        for args in STEPS:
            check.step(args)
    finally:
        kafkas.close()
        topics_cli.stop(directory)
    print(f"{check.passed} passed, {check.failed} failed")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
