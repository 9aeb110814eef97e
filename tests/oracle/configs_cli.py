#!/usr/bin/env python3
"""configs_cli - Kafka's kafka-configs on Kafka's brokers and on ours

    tests/oracle/configs_cli.py [--full] [--verbose]

Both clusters get the same command lines. Standard output, the first lines of an error, the exit code, and after each
change everything below /config in ZooKeeper, and what a broker tells of itself there, must be the same. Then a broker
that is down is configured by `--zookeeper`, and by hand, and must come up with the same settings. Free are the order of
settings, addresses and paths of a cluster, and the salt of a password, which must only look alike. --full takes all
command lines, which is minutes. Ends with one line of counts.
"""

import argparse
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


class More(list):
    """A command line that only --full takes."""


def more(*steps):
    return [More(args) for args in steps]


STEPS = [
    # topics
    show(TOPIC), *more(show(TOPIC, "--all"), show(["--entity-type", "topics"]), show(["--topic", "none"])),
    add(TOPIC, "retention.ms=1000,max.message.bytes=2000000"), *more(show(TOPIC), show(TOPIC, "--all")),
    add(TOPIC, "cleanup.policy=[compact,delete],min.cleanable.dirty.ratio=.25,preallocate=TRUE"), show(TOPIC, "--all"),
    drop(TOPIC, "retention.ms"), *more(drop(TOPIC, "retention.ms"), drop(TOPIC, "foo"), show(TOPIC)),
    *more(add(TOPIC, "foo=bar"), add(TOPIC, "retention.ms=x"), add(TOPIC, "retention.ms=-2"), add(TOPIC, "retention.ms="),
          add(TOPIC, "cleanup.policy=bogus"), add(TOPIC, "min.compaction.lag.ms=5,max.compaction.lag.ms=4"),
          add(TOPIC, "remote.storage.enable=true"), add(TOPIC, "remote.log.copy.disable=true"),
          add(TOPIC, "message.format.version=xx"), add(TOPIC, "compression.type=zip"), add(TOPIC, "preallocate=maybe"),
          add(TOPIC, "follower.replication.throttled.replicas=[0:1,0:2]"),
          add(TOPIC, "leader.replication.throttled.replicas=*"), add(TOPIC, "leader.replication.throttled.replicas=x"),
          add(["--topic", "none"], "retention.ms=5"), add(["--topic", "a b"], "retention.ms=5"), show(TOPIC)),
    # brokers
    *more(show(BROKER), show(COMMON), show(["--entity-type", "brokers"]), show(["--broker", "9"])),
    add(BROKER, "num.io.threads=9"), *more(show(BROKER)), add(BROKER, "num.io.threads=99"),
    *more(add(BROKER, "num.io.threads=1"), add(BROKER, "num.io.threads=x"), add(BROKER, "num.io.threads=0"),
          add(BROKER, "num.network.threads=50")),
    add(BROKER, "num.network.threads=4,num.replica.fetchers=2,background.threads=11,log.cleaner.threads=2,"
        "num.recovery.threads.per.data.dir=2,log.cleaner.io.max.bytes.per.second=1e6,log.cleaner.backoff.ms=1000,"
        "log.cleaner.dedupe.buffer.size=3145728,log.cleaner.io.buffer.size=262144,producer.id.expiration.ms=100000,"
        "log.cleaner.io.buffer.load.factor=.8,max.connection.creation.rate=500,max.connections=900,"
        "max.connections.per.ip=800,max.connections.per.ip.overrides=[127.0.0.2:5],"
        "transaction.partition.verification.enable=false"),
    *more(add(BROKER, "num.replica.fetchers=9"), add(BROKER, "background.threads=99"), add(BROKER, "log.cleaner.threads=9"),
          add(BROKER, "num.recovery.threads.per.data.dir=0"), add(BROKER, "background.threads=1"),
          add(BROKER, "max.connections=-1"), add(BROKER, "producer.id.expiration.ms=0")),
    *more(add(BROKER, "remote.log.index.file.cache.total.size.bytes=5"), add(BROKER, "remote.fetch.max.wait.ms=7"),
          add(BROKER, "remote.log.manager.copy.max.bytes.per.second=0"),
          add(COMMON, "remote.log.manager.fetch.max.bytes.per.second=9"), show(BROKER), show(COMMON),
          drop(BROKER, "remote.log.index.file.cache.total.size.bytes,remote.fetch.max.wait.ms"),
          drop(COMMON, "remote.log.manager.fetch.max.bytes.per.second")),
    add(BROKER, "broker.id=7"), *more(add(BROKER, "log.dirs=/x,zookeeper.connect=y"), add(BROKER, "my.own.key=1"),
                                      add(BROKER, "ssl.keystore.location=/x"), add(BROKER, "compression.type=zip"),
                                      add(BROKER, "log.retention.ms=0"),
                                      add(BROKER, "max.connections.per.ip.overrides=localhost:x"),
                                      add(BROKER, "max.connections.per.ip=0")),
    add(BROKER, "leader.replication.throttled.rate=-1"), add(BROKER, "leader.replication.throttled.rate=1000000"),
    *more(add(BROKER, "listener.name.plaintext.max.connections=400,unclean.leader.election.enable=true"), show(BROKER),
          add(BROKER, "log.cleaner.dedupe.buffer.size=5"), add(BROKER, "log.local.retention.ms=999999999999"),
          add(BROKER, "metric.reporters=a.b.C"), drop(BROKER, "my.own.key"), drop(BROKER, "my.own.key"),
          add(COMMON, "log.retention.ms=7000,log.roll.ms=60000"), show(COMMON), show(BROKER), show(TOPIC, "--all"),
          add(BROKER, "log.retention.ms=5000"), show(BROKER), show(TOPIC, "--all"),
          add(COMMON, "listeners=PLAINTEXT://:1"), add(COMMON, "listener.name.x.ssl.key.password=p")),
    add(COMMON, "log.segment.bytes=1048577,min.insync.replicas=1,message.max.bytes=2000000"), show(TOPIC, "--all"),
    *more(drop(COMMON, "log.retention.ms,log.roll.ms"), show(COMMON), drop(BROKER, "log.retention.ms")), show(BROKER),
    # listeners
    add(BROKER, "listener.security.protocol.map=[PLAINTEXT:PLAINTEXT,EXTRA:PLAINTEXT],"
        "listeners=[PLAINTEXT://127.0.0.1:{own},EXTRA://127.0.0.1:{extra}]"),
    add(BROKER, "advertised.listeners=[PLAINTEXT://localhost:{own}]"), show(BROKER),
    *more(add(BROKER, "advertised.listeners=[PLAINTEXT://127.0.0.1:{own},NONE://127.0.0.1:9]"),
          add(BROKER, "advertised.listeners=[EXTRA://127.0.0.1:{extra}]"),
          add(BROKER, "advertised.listeners=[PLAINTEXT://127.0.0.1:{other}]"), add(BROKER, "listeners=what"),
          add(BROKER, "listeners=[PLAINTEXT://127.0.0.1:{own},OTHER://127.0.0.1:{extra}]"),
          add(BROKER, "listener.name.extra.ssl.client.auth=required"), add(BROKER, "listeners=EXTRA://127.0.0.1:{extra}"),
          add(COMMON, "advertised.listeners=PLAINTEXT://localhost:1")),
    add(BROKER, "listener.security.protocol.map=[PLAINTEXT:SSL,EXTRA:PLAINTEXT]"),
    drop(BROKER, "advertised.listeners,listeners,listener.security.protocol.map"),
    # passwords
    add(BROKER, "listener.name.other.ssl.keystore.password=hush"), show(BROKER),
    *more(add(BROKER, "num.io.threads=8"), drop(BROKER, "listener.name.other.ssl.keystore.password")),
    # loggers: of ours only root has a name that Kafka knows
    add(LOGGER, "root=INFO"), *more(add(LOGGER, "root=LOUD"), add(LOGGER, "no.such=INFO"), drop(LOGGER, "root"),
                                    add(["--broker-logger", "9"], "root=INFO")),
    # quotas
    add(["--user", "alice b*"], "producer_byte_rate=1000,consumer_byte_rate=2000"), show(["--user", "alice b*"]),
    *more(add(["--user", "alice b*", "--client", "c/1"], "request_percentage=12.5"),
          add(["--user-defaults"], "controller_mutation_rate=10"), add(["--client-defaults"], "producer_byte_rate=5"),
          add(["--client", "x"], "producer_byte_rate=7"),
          add(["--user-defaults", "--client-defaults"], "consumer_byte_rate=1"),
          add(["--ip", "127.0.0.1"], "connection_creation_rate=5"), add(["--ip-defaults"], "connection_creation_rate=6"),
          add(["--user", "u"], "producer_byte_rate=1.5"), add(["--user", "u"], "foo=1"),
          add(["--user", "u"], "producer_byte_rate=x"), add(["--ip", "127.0.0.1"], "producer_byte_rate=5"),
          show(["--entity-type", "users"]), show(["--entity-type", "clients"]), show(["--entity-type", "ips"]),
          show(["--user-defaults"]), show(["--client-defaults"]), show(["--ip", "127.0.0.1"]), show(["--client", "x"]),
          show(["--entity-type", "users", "--entity-type", "clients"]), show(["--user", "alice b*", "--client", "c/1"]),
          drop(["--user", "alice b*"], "producer_byte_rate,consumer_byte_rate"),
          drop(["--user", "alice b*", "--client", "c/1"], "request_percentage"),
          drop(["--user", "nobody"], "producer_byte_rate"), drop(["--ip-defaults"], "connection_creation_rate"),
          show(["--entity-type", "users"])),
]

# Of broker 3, while it is down: by the tool, and what no tool would write.
DOWN = ["--entity-type", "brokers", "--entity-name", "3"]
WHILE_DOWN = [
    add(DOWN, "num.io.threads=40,log.retention.ms=12345,password.encoder.secret=s3cret,"
        "listener.name.other.ssl.keystore.password=hush"),
    *more(add(DOWN, "broker.id=5"), add(["--entity-type", "topics", "--entity-name", "t"], "retention.ms=5"),
          add(["--entity-type", "brokers", "--entity-name", "1"], "num.io.threads=5")),
]
BY_HAND = {"num.io.threads": "40", "num.network.threads": "x", "log.retention.ms": "12345", "broker.id": "9",
           "ssl.keystore.location": "/x", "listener.name.other.ssl.key.password": "not sealed", "my.own.key": "1"}


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

    def set(self, path, text):
        self.xid += 1
        raw, data = path.encode(), text.encode()
        self._send(struct.pack(">iii", self.xid, 5, len(raw)) + raw + struct.pack(">i", len(data)) + data
                   + struct.pack(">i", -1))
        if struct.unpack_from(">i", self._receive(), 12)[0]:
            raise RuntimeError(f"{path} cannot be set")

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


def settings(text, cluster):
    """Ports as their distance from the cluster's own."""
    return re.sub(r"(127\.0\.0\.1|localhost):(\d{4,})", lambda m: f"{m[1]}:+{int(m[2]) - cluster.port}", text)


def stored(cluster):
    """What stands below /config: parsed, passwords without what is random in them. And broker 1's endpoints."""
    zk = ZooKeeper(cluster.zk_port)  # its session ends sooner than the next step may come
    tree = zk.tree("/config")
    told = json.loads(zk.data("/brokers/ids/1"))
    zk.socket.close()
    for node in tree.values():
        for key, value in (node or {}).get("config", {}).items():
            node["config"][key] = settings(value, cluster)
            if "encryptedPassword:" in value:
                pairs = dict(item.rsplit(":", 1) for item in value.split(","))
                for name in ("salt", "encryptedPassword", "initializationVector"):
                    pairs[name] = len(pairs[name])
                node["config"][key] = pairs
    tree["endpoints"] = [settings(endpoint, cluster) for endpoint in told["endpoints"]]
    tree["protocols"] = told["listener_security_protocol_map"]
    return tree


def visible(answer, cluster):
    """What has to be the same: addresses and paths are not, and neither is the order of settings."""
    code, out, err = answer
    out, err = (settings(text.replace(cluster.directory, "DIR"), cluster) for text in (out, err))
    lines = sorted(re.sub(r"(are )(.*=.*)", lambda m: m[1] + ", ".join(sorted(m[2].split(", "))), line)
                   for line in out.splitlines())
    told = [re.sub(r"^\[[-0-9: ,]*\] ", "", line) for line in err.splitlines() if not line.startswith("\tat ")][:2]
    if any("DESCRIBE_USER_SCRAM_CREDENTIALS" in line for line in told):
        return 0, lines, []  # is asked last, and not there yet
    return code, lines, told


class Cluster:
    def __init__(self, directory, impl):
        self.directory = f"{directory}-{impl}"
        self.bootstrap = topics_cli.start(directory, impl, *SETTINGS)
        self.port = int(self.bootstrap.split(",", 1)[0].rsplit(":", 1)[1])
        self.zk_port = self.port + 100

    def fill(self, args):
        ports = {"{own}": self.port, "{other}": self.port + 1, "{extra}": self.port + 50}
        for name, port in ports.items():
            args = [arg.replace(name, str(port)) for arg in args]
        return args

    def do(self, *words):
        subprocess.run([f"{ROOT}/deploy/cluster", *words, "--dir", self.directory], check=True, stdout=subprocess.DEVNULL)


class Check:
    def __init__(self, kafkas, clusters, options):
        self.kafkas, self.clusters = kafkas, clusters
        self.verbose, self.full = options.verbose, options.full
        self.passed = self.failed = 0

    def prepare(self):
        for cluster in self.clusters:
            args = ["--bootstrap-server", cluster.bootstrap, "--create", "--topic", "t", "--replica-assignment", "1:2"]
            self.kafkas.run("kafka-topics", args)

    def answers(self, args, where=lambda c: ["--bootstrap-server", c.bootstrap]):
        return [visible(self.kafkas.run("kafka-configs", [*where(c), *c.fill(args)]), c) for c in self.clusters]

    def agree(self, what, ask):
        """Changes take a moment to be applied: what changes nothing is asked again."""
        for _ in range(8):
            kafkas, ours = ask()
            if kafkas == ours:
                break
            time.sleep(0.3)
        self.count(what, kafkas, ours)

    def steps(self, steps):
        for args in steps:
            if not self.full and isinstance(args, More):
                continue
            if "--alter" not in args:
                self.agree(" ".join(args), lambda args=args: self.answers(args))
                continue
            self.count(" ".join(args), *self.answers(args))
            self.agree(f"ZooKeeper after {' '.join(args)}", lambda: [stored(c) for c in self.clusters])

    def while_down(self):
        """Broker 3 comes up with what it was given while it was down."""
        for cluster in self.clusters:
            cluster.do("stop", "3")
        for args in WHILE_DOWN:
            if self.full or not isinstance(args, More):
                self.count(f"--zookeeper {' '.join(args)}",
                           *self.answers(args, lambda c: ["--zookeeper", f"127.0.0.1:{c.zk_port}"]))
        self.count("ZooKeeper after --zookeeper", *(stored(c) for c in self.clusters))
        self.come_up("--zookeeper")
        for cluster in self.clusters if self.full else []:
            cluster.do("stop", "3")
            zk = ZooKeeper(cluster.zk_port)
            zk.set("/config/brokers/3", json.dumps({"version": 1, "config": BY_HAND}))
            zk.socket.close()
        if self.full:
            self.come_up("what cannot be used")

    def come_up(self, after):
        for cluster in self.clusters:
            cluster.do("start", "3")
        self.agree(f"broker 3 after {after}", lambda: self.answers(show(DOWN)))

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
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    directory = os.path.join(ROOT, f"build/configs-cli-{os.getpid()}")
    kafkas = topics_cli.Kafkas(libs.stdout.strip())
    try:
        check = Check(kafkas, [Cluster(directory, "kafka"), Cluster(directory, "klamm")], options)
        check.prepare()
        check.steps(STEPS)
        check.while_down()
    finally:
        kafkas.close()
        topics_cli.stop(directory)
    print(f"{check.passed} passed, {check.failed} failed")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
