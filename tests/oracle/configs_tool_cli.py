#!/usr/bin/env python3
"""configs_tool_cli - kafka-configs and kafka-leader-election beside Kafka 3.9's own, on Kafka's own brokers

    tests/oracle/configs_tool_cli.py [--bootstrap HOST:PORT,... --zookeeper HOST:PORT] [--verbose]

Without --bootstrap it starts two of Kafka's brokers and ends them. Rounds of command lines run with Kafka's tool, then
with ours, and leave things as they found them; standard output, exit code and the first lines of standard error must
be the same. In the form with --zookeeper each tool has a chroot of its own, and after each change the znodes below it
must hold the same bytes: but for salts, and what follows from them. Credentials are checked against their passwords.
Ends with one line of counts.
"""

import argparse
import base64
import hashlib
import hmac
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import topics_cli
from configs_cli import ZooKeeper
from topics_cli import ROOT, Kafkas, ours

topics_cli.CLASSES["kafka-leader-election"] = "org.apache.kafka.tools.LeaderElectionCommand"
T, USER, BROKER, DEFAULTS = ["--topic", "t"], ["--user", "u"], ["--broker", "1"], ["--broker-defaults"]


def add(entity, text):
    return ["--alter", *entity, "--add-config", text]


def drop(entity, text):
    return ["--alter", *entity, "--delete-config", text]


def show(entity, *more):
    return ["--describe", *entity, *more]


def types(*words):
    return [w for kind in words for w in ("--entity-type", kind)]


# As they stand, without an address.
BARE = [
    [], ["--help"], ["--version"], ["--describe", "--entity-type", "topics"], ["--describe", "--entity-type", "users"],
    ["--describe", "--user", "x"], ["--alter", "--broker", "1", "--add-config", "a=b"],
    ["--bootstrap-server", "foo", *show(T)], ["--bootstrap-server", "", *show(T)],
    ["--bootstrap-controller", "foo", *show(T)],
    ["--zookeeper", "127.0.0.1:x", *show(USER)], ["--zookeeper", "", *show(USER)],
]
# Nothing changes.
ERRORS = [
    [], ["--foo"], ["--version", "--alter"], ["--describe"], ["--describe", "--alter"], ["--describe", "--entity-type"],
    show(types("foo")), show(types("topics", "users")), show(types("users", "users")),
    show(types("users", "clients", "ips")), show(types("users", "users", "users")),
    show(["--topic", "a", "--topic", "b"]), show(["--topic", "a", "--broker", "1"]),
    show([*types("users"), "--entity-name", "a", "--topic", "b"]), show([*types("users"), "--client", "b"]),
    show(["--entity-name", "x"]), show(["--entity-default"]),
    show([*types("users"), "--entity-name", "a", "--entity-name", "b"]),
    show([*types("users", "clients"), *["--entity-name", "a"] * 3]),
    show([*types("brokers"), "--entity-name", "1", "--entity-name", "2"]),
    show([*types("brokers"), "--entity-name", "x"]), show(["--broker", " 1"]), show(["--broker-logger", "x"]),
    show(["--ip", "x.y.invalid"]), show(types("broker-loggers")), show([*types("broker-loggers"), "--entity-default"]),
    show(["--topic", "nothing"]), show(["--topic", "a b"]), show(["--topic", ""]), show(["--topic", "x" * 260]),
    show([*types("topics"), "--entity-name", "a", "--entity-name", "b"]),
    show(T, "--add-config", "a=b"), show(T, "--delete-config", "a"), show(T, "--zk-tls-config-file", "x"),
    show(T, "--add-config-file", "/nonexistent"), show(T, "--command-config", "/nonexistent"),
    show(T, "--bootstrap-controller", "x:1"), show(types("client-metrics")),
    show([*types("client-metrics"), "--entity-name", "x"]),
    ["--alter", *T], ["--alter", *T, "--add-config", "a=b", "--add-config-file", "x"],
    ["--alter", *T, "--add-config-file", "/nonexistent"], ["--alter", *T, "--add-config-file", "{bad}"],
    add(types("users"), "a=b"), add(types("topics"), "a=b"), add([*types("topics"), "--entity-default"], "a=b"),
    add(types("broker-loggers"), "a=b"), add(types("client-metrics"), "a=b"),
    add([*types("client-metrics"), "--entity-name", "x"], "interval.ms=1000"),
    add([*types("users", "clients"), "--entity-name", "a"], "producer_byte_rate=1"),
    add([*types("users"), "--entity-name", "a", "--entity-name", "b"], "producer_byte_rate=1"),
    add([*types("topics"), "--entity-name", "a", "--entity-name", "b"], "retention.ms=4"),
    add(["--topic", ""], "retention.ms=4"), add(["--broker", "x"], "a=b"), add(["--broker", "99999999999"], "a=b"),
    add(T, "a"), add(T, ""), add(T, ",,"), add(T, "a=b=c"), add(T, "a=[b,c"), add(T, "a$=b"), add(T, "=5"),
    add(T, "[a=b],c=d"), add(T, ",retention.ms=8"), add(T, "retention.ms=8,,segment.ms=9"), add(T, "retention.ms=7]"),
    add(T, "cleanup.policy=[compact],x"), add(T, "retention.ms=x"), add(T, "retention.mx=4"), add(T, "segment.ms="),
    add(T, "retention.ms=1") + ["--add-config", "segment.ms=1"], add(["--topic", "nothing"], "retention.ms=1"),
    add(["--topic", "a b"], "retention.ms=1"), drop(T, "nope,nope2"), drop(T, "a$"), drop(T, ""), drop(T, ",,"),
    add(BROKER, "broker.id=2"), add(BROKER, "log.cleaner.threads=x"), add(BROKER, "ssl.keystore.location=/x"),
    drop(BROKER, "nope,nope2"), drop(DEFAULTS, "log.cleaner.threads"),
    add(["--broker-logger", "1"], "foo.bar=DEBUG,foo=INFO"), drop(["--broker-logger", "1"], "root"),
    add(USER, "producer_byte_rate=x"), add(USER, "producer_byte_rate="), add(USER, "producer_byte_rate=1.5"),
    add(USER, "producer_byte_rate=Infinity"), add(USER, "foo=1"), add(USER, "foo=1,bar=2,request_percentage=1"),
    drop(USER, "foo"), drop(USER, ""), drop(USER, "request_percentage,producer_byte_rate"),
    add(["--client", "c"], "foo=1,bar=2,SCRAM-SHA-256=3"), drop(["--client", "c"], "foo,bar,SCRAM-SHA-256"),
    add(["--client", "c"], ",,"), add([*USER, "--client", "c"], ",,"),
    add(USER, "SCRAM-SHA-256=[password=x],producer_byte_rate=4"), add(USER, "SCRAM-SHA-256=[iterations=1,password=x]"),
    add(USER, "SCRAM-SHA-256=[iterations=-2,password=x]"), add(USER, "SCRAM-SHA-256=[iterations=99999,password=x]"),
    add(USER, "SCRAM-SHA-256=[iterations=99999999999,password=x]"), add(USER, "SCRAM-SHA-256=[iterations=,password=x]"),
    add(USER, "SCRAM-SHA-256=[iterations=4096]"), add(USER, "SCRAM-SHA-256=[password=]"), add(USER, "SCRAM-SHA-512="),
    add(USER, "SCRAM-SHA-1=[password=x]"), add(["--user-defaults"], "SCRAM-SHA-256=[password=x]"),
    drop(USER, "SCRAM-SHA-256"), add(["--ip", "127.0.0.1"], "foo=7,bar=8"), drop(["--ip", "127.0.0.1"], "a"),
    drop(["--ip-defaults"], "connection_creation_rate"), add(["--ip", "127.0.0.1"], "connection_creation_rate=1.5"),
]
# What is changed is changed back.
ROUNDS = [
    # topics
    [show(types("topics")), add(T, "retention.ms=1000,max.message.bytes=2000000"), show(T), show(T, "--all"),
     add(T, " cleanup.policy = [compact, delete] , segment.bytes =[ 1048576 ],"), show(types("topics")),
     drop(T, "retention.ms,nope"), drop(T, "retention.ms") + ["--add-config", "retention.ms=5"],
     drop(T, " max.message.bytes ,, cleanup.policy"), show([*types("topics"), "--entity-name", "t"]),
     drop(T, "retention.ms") + ["--delete-config", "segment.bytes"], show(T)],
    [["--alter", *T, "--add-config-file", "{file}"], add(T, "message.format.version=2.8"), show(T),
     drop(T, "cleanup.policy,min.compaction.lag.ms,file.delete.delay.ms,message.format.version")],
    # brokers
    [show(types("brokers")), show(BROKER, "--all"), add(BROKER, "num.io.threads=9"), show(BROKER),
     show(["--broker", "01"]), add([*types("brokers"), "--entity-default"], "num.io.threads=7,background.threads=9"),
     show(types("brokers")), show(DEFAULTS), show(["--broker", ""]), add(BROKER, "foo=2"), show(BROKER),
     add(BROKER, "background.threads=8"), add(BROKER, "foo=3,background.threads=8"), show(BROKER),
     drop(BROKER, "foo,background.threads,num.io.threads"), drop(DEFAULTS, "num.io.threads,background.threads")],
    [show(["--broker-logger", "1"]), add(["--broker-logger", "1"], "kafka.log.LogCleaner=DEBUG"),
     drop(["--broker-logger", "1"], "kafka.log.LogCleaner")],
    # quotas
    [add(USER, "producer_byte_rate=1000,consumer_byte_rate=10000000,request_percentage=0.00012"), show(USER),
     add([*USER, "--client", "c"], "request_percentage=50,controller_mutation_rate=1e10"),
     add(["--client", "c"], "producer_byte_rate= 5d "), add(["--user-defaults"], "producer_byte_rate=0x10p0"),
     add(["--client-defaults"], "producer_byte_rate=101"), add(["--user", "a b*c+d/e"], "consumer_byte_rate=12345678901"),
     add([*types("clients"), "--entity-default", *types("users"), "--entity-name", "u"], "request_percentage=123456.789"),
     add([*types("users"), "--entity-default", *types("clients"), "--entity-default"], "producer_byte_rate=7"),
     *[show(entity) for entity in (
         types("users"), types("clients"), types("users", "clients"), types("clients", "users"), USER,
         [*USER, "--client", "c"], ["--client-defaults"], ["--user-defaults"], ["--user", ""], ["--user", "a b*c+d/e"],
         ["--user-defaults", "--client-defaults"], [*types("users"), "--entity-name", "u", *types("clients")],
         [*types("clients"), "--entity-name", "u", *types("users")], [*types("users"), *types("clients"), "--user-defaults"])],
     drop(USER, "producer_byte_rate,nope"), drop(USER, "producer_byte_rate,consumer_byte_rate,request_percentage"),
     drop([*USER, "--client", "c"], "request_percentage,controller_mutation_rate"), drop(["--client", "c"], "producer_byte_rate"),
     drop(["--user-defaults"], "producer_byte_rate"), drop(["--client-defaults"], "producer_byte_rate"),
     drop(["--user", "a b*c+d/e"], "consumer_byte_rate"), drop([*USER, "--client-defaults"], "request_percentage"),
     drop(["--user-defaults", "--client-defaults"], "producer_byte_rate"), show(types("users"))],
    [add(["--ip", "127.0.0.1"], "connection_creation_rate=7"), add(["--ip-defaults"], "connection_creation_rate=70"),
     show(types("ips")), show(["--ip", "127.0.0.1"]), show(["--ip-defaults"]), show(["--ip", "127.0.0.2"]),
     drop(["--ip", "127.0.0.1"], "connection_creation_rate"), drop(["--ip-defaults"], "connection_creation_rate")],
    # credentials
    [add(USER, "SCRAM-SHA-256=[password=x],SCRAM-SHA-512=[iterations=8192,password=y,z]"), show(USER), show(types("users")),
     add(USER, "SCRAM-SHA-256=[iterations=-1,password=x]"), drop(USER, "SCRAM-SHA-256,SCRAM-SHA-512"), show(USER)],
]
SECRET = "listener.name.internal.ssl.key.password=hush,listener.name.internal.ssl.keystore.password="
# Each tool below its own chroot, where no broker is up.
ZOOKEEPER = [
    show(USER), show(types("users")), show(types("brokers")), show(BROKER), show(DEFAULTS), show(["--user-defaults"]),
    show(T), show([*USER, "--client", "c"]), show(USER, "--all"), add(USER, "a=b") + ["--all"], ["--alter", *USER],
    add(types("users"), "SCRAM-SHA-256=[password=x]"),
    add([*types("users"), "--entity-name", "a", "--entity-name", "b"], "SCRAM-SHA-256=[password=x]"),
    add(USER, "SCRAM-SHA-256=[iterations=8192,password=wonder land]"), add(USER, "SCRAM-SHA-512=[password=x,y]"),
    show(USER), show(types("users")), add(USER, "SCRAM-SHA-512=[password=x],producer_byte_rate=4"),
    add(USER, "producer_byte_rate=4"), drop(USER, "producer_byte_rate"), drop(USER, "SCRAM-SHA-256,nope"),
    drop(["--user", "v"], "SCRAM-SHA-256"), add(["--user-defaults"], "SCRAM-SHA-256=[password=x]"),
    add(["--user-defaults"], "SCRAM-SHA-256=[password=x],SCRAM-SHA-512=[password=x]"),
    add(USER, "SCRAM-SHA-256=[iterations=1,password=x]"), add(USER, "SCRAM-SHA-256=[iterations=-1,password=x]"),
    add(USER, "SCRAM-SHA-256=[iterations=,password=x]"), add(USER, "SCRAM-SHA-256=[iterations=4096]"),
    add(USER, "SCRAM-SHA-256=[password=]"), add(["--user", "a b*"], "SCRAM-SHA-256=[iterations=99999,password=p]"),
    show(types("users")), show(["--user", "a b*"]), drop(USER, "SCRAM-SHA-256"), drop(USER, "SCRAM-SHA-512"),
    drop(["--user", "a b*"], "SCRAM-SHA-256"), add(USER, ",,"), drop(USER, ""), show(types("users")),
    add(BROKER, "log.cleaner.threads=2,num.io.threads=9,background.threads=3,log.retention.ms=4,min.insync.replicas=2"),
    add(BROKER, "log.roll.ms=60000,log.segment.bytes=1048577,message.max.bytes=2000000,compression.type=zstd"),
    add(BROKER, "num.network.threads=4,num.recovery.threads.per.data.dir=2,log.preallocate=true,metric.reporters="),
    show(BROKER), add(BROKER, "foo=2,q=\"\\/\u00e9\t"), add(BROKER, "broker.id=2"),
    add(BROKER, "broker.id=2,log.dirs=x,zookeeper.connect=x,port=4"), add(BROKER, "ssl.keystore.location=x"),
    add(BROKER, "log.cleaner.threads=x"), add(BROKER, "log.cleaner.threads=-4"),
    add(DEFAULTS, "listener.name.x.ssl.keystore.location=/x"),
    add(DEFAULTS, "log.cleaner.threads=3,leader.replication.throttled.rate=1000"), show(DEFAULTS),
    add(DEFAULTS, "leader.replication.throttled.rate=-1"), add(["--broker", "01"], "log.cleaner.threads=1"),
    add(BROKER, SECRET), add(BROKER, SECRET + ",password.encoder.secret=s"),
    add(BROKER, SECRET + "x,password.encoder.secret=s,password.encoder.iterations=1024,password.encoder.key.length=256,"
        "password.encoder.cipher.algorithm=AES/GCM/NoPadding"),
    add(BROKER, SECRET + ",password.encoder.secret=s,password.encoder.iterations=x"),
    add(BROKER, SECRET + ",password.encoder.secret=s,password.encoder.cipher.algorithm=foo"),
    add(BROKER, SECRET + ",password.encoder.secret=s,password.encoder.keyfactory.algorithm=foo"),
    add(BROKER, SECRET + ",password.encoder.secret=s,password.encoder.key.length=7"),
    add(BROKER, "password.encoder.secret=s"), ["--alter", *BROKER, "--add-config-file", "{broker}"], show(BROKER),
    drop(BROKER, "nope,nope2"), drop(BROKER, "num.io.threads,background.threads,log.roll.ms"), show(["--broker", "5"]),
    drop(DEFAULTS, "log.cleaner.threads,leader.replication.throttled.rate"), show(DEFAULTS),
    show(USER, "--zk-tls-config-file", "/nonexistent"), show(USER, "--zk-tls-config-file", "{file}"),
]
# On the cluster itself, whose brokers are up; and below a chroot that does not exist.
RUNNING = [show(BROKER), show(DEFAULTS), show(types("brokers")), show(types("users")), show(["--broker", "7"]),
           add(BROKER, "log.cleaner.threads=2,num.io.threads=9") + ["--delete-config", "a,b"],
           add(DEFAULTS, "log.cleaner.threads=2"), drop(DEFAULTS, "log.cleaner.threads")]
NOWHERE = [show(USER), show(types("users")), show(BROKER), add(USER, "SCRAM-SHA-256=[password=x]"),
           add(BROKER, "log.cleaner.threads=2"), drop(USER, "SCRAM-SHA-256")]
FILES = {"{file}": "cleanup.policy=compact\n# c\nmin.compaction.lag.ms : 6\nfile.delete.delay.ms=\\\n  70000\n",
         "{bad}": "a$b=4\n",
         "{broker}": "".join(f"log.cleaner.io.buffer.size={n}00000\nown.key{n}=\\u00e9 {n}\n" for n in range(5, 25))}


class Tree(ZooKeeper):
    """One that can also write."""

    def create(self, path):
        self.xid += 1
        raw, world, anyone = path.encode(), b"world", b"anyone"
        self._send(struct.pack(">iii", self.xid, 1, len(raw)) + raw + struct.pack(">iii", -1, 1, 31)
                   + struct.pack(">i", len(world)) + world + struct.pack(">i", len(anyone)) + anyone + struct.pack(">i", 0))
        self._receive()

    def raw(self, path):
        found = {path: self.data(path)}
        for name in self.children(path):
            found.update(self.raw(f"{path}/{name}"))
        return found


def scram_shape(match):
    """A stored credential: is it one of a password that was given?"""
    name, pairs = match[1], dict(item.split("=", 1) for item in match[2].split(","))
    digest = "sha512" if name.endswith("512") else "sha256"
    salt = base64.b64decode(pairs["salt"])
    for password in ("wonder land", "x,y", "x", "p"):
        salted = hashlib.pbkdf2_hmac(digest, password.encode(), salt, int(pairs["iterations"]))
        stored = hashlib.new(digest, hmac.digest(salted, b"Client Key", digest)).digest()
        server = hmac.digest(salted, b"Server Key", digest)
        if stored == base64.b64decode(pairs["stored_key"]) and server == base64.b64decode(pairs["server_key"]):
            return f"{name}<of {password}, {pairs['iterations']}, {len(salt) in (25, 26)}>"
    return f"{name}<of no password>"


def sealed_shape(match):
    pairs = dict(item.rsplit(":", 1) for item in match[0].split(","))
    for name in ("salt", "encryptedPassword", "initializationVector"):
        pairs[name] = len(pairs[name])
    return f"<sealed {pairs}>"


def plain(text):
    """Without what is random."""
    text = re.sub(r"(SCRAM-SHA-\d+)(?:=|\":\")(salt=[^\"\s]*?iterations=\d+)", scram_shape, text)
    return re.sub(r"initializationVector:[^\"\s]*?encryptedPassword:[\w+/=]+", sealed_shape, text)


def visible(answer, args):
    code, out, err = answer
    if "--version" in args:
        out = re.sub(r"^3\.9\.\d+$", "3.9", out.strip())
    told = [line for line in err.splitlines()
            if line and not re.match(r"\tat |\[\d{4}-|WARN |log4j:|\t\.\.\. ", line)]
    if "Description" in err:
        told = told[:1]
    if not args or "--help" in args:
        told = ["help"] if told else []
    # what stands below another exception is told by ours, too
    told = [line for line in told if not line.startswith("org.apache.kafka.common.errors.MismatchedEndpoint")]
    return code, plain(out), told


class Check:
    def __init__(self, kafkas, options, folder):
        self.kafkas, self.options = kafkas, options
        self.passed = self.failed = 0
        self.files = {name: os.path.join(folder, name[1:-1]) for name in FILES}
        for name, path in self.files.items():
            with open(path, "w", encoding="utf-8") as f:
                f.write(FILES[name])

    def run(self, tool, side, args):
        return visible((self.kafkas.run if side == "jav" else ours)(tool, args), args)

    def count(self, what, kafkas, klamms):
        if kafkas == klamms:
            self.passed += 1
            if self.options.verbose:
                print(f"ok: {what} -> {kafkas}", flush=True)
            return
        self.failed += 1
        if isinstance(kafkas, dict):
            kafkas, klamms = ({k: v for k, v in a.items() if b.get(k, "") != v}
                              for a, b in ((kafkas, klamms), (klamms, kafkas)))
        print(f"FAILED: {what}\n  Kafka: {kafkas}\n  ours:  {klamms}", flush=True)

    def both(self, tool, args):
        args = [self.files.get(a, a) for a in args]
        self.count(" ".join([tool, *args]), *(self.run(tool, side, args) for side in ("jav", "our")))

    def round(self, where, steps):
        """All with Kafka's tool, then all with ours; brokers take a moment to learn of a change."""
        found = []
        for side in ("jav", "our"):
            found.append([])
            for i, step in enumerate(steps):
                args = where + [self.files.get(a, a) for a in step]
                answer = self.run("kafka-configs", side, args)
                for _ in range(8 if side == "our" and "--describe" in args else 0):
                    if answer == found[0][i]:
                        break
                    time.sleep(0.2)
                    answer = self.run("kafka-configs", side, args)
                found[-1].append(answer)
                if "--alter" in args and answer[0] == 0:
                    time.sleep(0.1)
        for step, kafkas, klamms in zip(steps, *found):
            self.count(" ".join(step), kafkas, klamms)

    def zookeeper(self, address):
        tree = Tree(int(address.rsplit(":", 1)[1]))
        for side in ("/jav", "/our"):
            tree.create(side)
        for step in ZOOKEEPER:
            answers, nodes = [], []
            for side in ("jav", "our"):
                args = ["--zookeeper", f"{address}/{side}"] + [self.files.get(a, a) for a in step]
                code, out, told = self.run("kafka-configs", side, args)
                answers.append((code, out, [line.replace(f"/{side}", "/@") for line in told]))
                nodes.append({path[4:]: plain(data) if data else data for path, data in tree.raw(f"/{side}").items()})
            self.count("--zookeeper " + " ".join(step), *answers)
            if "--alter" in step:
                self.count("znodes after " + " ".join(step), *nodes)
        tree.socket.close()
        for step in RUNNING:
            self.both("kafka-configs", ["--zookeeper", address, *step])
        for step in NOWHERE:
            self.both("kafka-configs", ["--zookeeper", f"{address}/nowhere", *step])


def compare(check, bootstrap, zookeeper):
    where = ["--bootstrap-server", bootstrap]
    check.kafkas.run("kafka-topics", [*where, "--create", "--topic", "t", "--replica-assignment", "1:2"])
    for i in range(20):  # enough for Java's table to have grown
        check.kafkas.run("kafka-topics", [*where, "--create", "--topic", f"more-{i}", "--replica-assignment", "1"])
    for args in BARE:
        check.both("kafka-configs", args)
    for args in ERRORS:
        check.both("kafka-configs", where + args)
    check.both("kafka-configs", ["--bootstrap-controller", bootstrap, *show(T)])
    for steps in ROUNDS:
        check.round(where, steps)
    check.zookeeper(zookeeper)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bootstrap")
    parser.add_argument("--zookeeper")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    libs = subprocess.run([f"{ROOT}/tests/kafka/fetch"], stdout=subprocess.PIPE, text=True, check=False)
    if libs.returncode != 0 or not shutil.which("javac"):
        print("configs_tool_cli: Kafka's jars or a JDK cannot be had here, so nothing is compared")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    folder = tempfile.mkdtemp(prefix="klamm-configs-tool-")
    kafkas = Kafkas(libs.stdout.strip())
    check = Check(kafkas, options, folder)
    try:
        bootstrap = options.bootstrap or topics_cli.start(folder + "/c", "kafka", "--brokers", "2")
        port = int(bootstrap.split(",", 1)[0].rsplit(":", 1)[1])
        compare(check, bootstrap, options.zookeeper or f"127.0.0.1:{port + 100}")
    finally:
        kafkas.close()
        if not options.bootstrap:
            topics_cli.stop(folder + "/c")
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{check.passed} passed, {check.failed} failed")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
