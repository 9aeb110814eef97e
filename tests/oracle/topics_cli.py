#!/usr/bin/env python3
"""topics_cli - kafka-topics and kafka-broker-api-versions beside Kafka 3.9's own, on Kafka's own brokers

    tests/oracle/topics_cli.py [--bootstrap HOST:PORT,...] [--verbose]
    tests/oracle/topics_cli.py --brokers [--verbose]     the same with Kafka's tool only: Kafka's brokers and ours

Without --bootstrap it starts three of Kafka's brokers and ends them. Both tools get the same command lines; standard
output, exit code and, for wrong command lines, the first line of standard error must be the same. Commands that change
something run once for each tool, on topics of its own ("jav-" and "our-", @ in the list below), and what came of them
is described by Kafka's tool. Free in the output are ids, the order of topics and of settings (Kafka's is that of a hash
table), and where the broker placed replicas by itself. Ends with one line of counts.
"""

import argparse
import base64
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KLAMM = os.environ.get("KLAMM_BIN", os.path.join(ROOT, "build/debug")) + "/klamm"
CLASSES = {"kafka-topics": "org.apache.kafka.tools.TopicCommand",
           "kafka-broker-api-versions": "kafka.admin.BrokerApiVersionsCommand",
           "kafka-configs": "kafka.admin.ConfigCommand"}

# BOTH: the same command line, nothing changes. EACH: once for each tool, @ is the tool's own prefix. BARE: without
# --bootstrap-server.
BOTH, EACH, BARE = "both", "each", "bare"
LONG = "x" * 245
STEPS = [
    # what is no command line
    (BARE, []),
    (BARE, ["--help"]),
    (BARE, ["--list"]),
    (BARE, ["--describe", "--topic", "x"]),
    (BARE, ["--create", "--if-exists"]),
    (BOTH, []),
    (BOTH, ["--foo"]),
    (BOTH, ["--lis"]),
    (BOTH, ["--topic"]),
    (BOTH, ["--topic", "--create"]),
    (BOTH, ["--list", "--describe"]),
    (BOTH, ["--create", "--delete", "--topic", "x"]),
    (BOTH, ["--create"]),
    (BOTH, ["--delete"]),
    (BOTH, ["--alter"]),
    (BOTH, ["--alter", "--topic", "x"]),
    (BOTH, ["--alter", "--topic", "x", "--partitions", "3", "--config", "a=b"]),
    (BOTH, ["--alter", "--topic", "x", "--partitions", "3", "--delete-config", "a"]),
    (BOTH, ["--alter", "--topic", "x", "--partitions", "3", "--replication-factor", "2"]),
    (BOTH, ["--alter", "--topic", "x", "--partitions", "3", "--if-not-exists"]),
    (BOTH, ["--alter", "--topic", "x", "--partitions", "3", "--exclude-internal"]),
    (BOTH, ["--create", "--topic", "x", "--replica-assignment", "1:2", "--partitions", "1"]),
    (BOTH, ["--create", "--topic", "x", "--replica-assignment", "1:2", "--replication-factor", "1"]),
    (BOTH, ["--create", "--topic", "x", "--if-exists"]),
    (BOTH, ["--create", "--topic", "x", "--exclude-internal"]),
    (BOTH, ["--create", "--topic", "x", "--under-replicated-partitions"]),
    (BOTH, ["--list", "--partitions", "3"]),
    (BOTH, ["--list", "--config", "a=b"]),
    (BOTH, ["--list", "--if-exists"]),
    (BOTH, ["--list", "--if-not-exists"]),
    (BOTH, ["--list", "--under-min-isr-partitions"]),
    (BOTH, ["--list", "--at-min-isr-partitions"]),
    (BOTH, ["--list", "--unavailable-partitions"]),
    (BOTH, ["--list", "--topics-with-overrides"]),
    (BOTH, ["--list", "--replica-assignment", "1"]),
    (BOTH, ["--delete", "--topic", "x", "--exclude-internal"]),
    (BOTH, ["--delete", "--topic", "x", "--partitions", "1"]),
    (BOTH, ["--describe", "--topics-with-overrides", "--unavailable-partitions"]),
    (BOTH, ["--describe", "--topics-with-overrides", "--under-replicated-partitions"]),
    (BOTH, ["--describe", "--replication-factor", "1"]),
    (BOTH, ["--describe", "--if-exists"]),
    (BOTH, ["--version"]),
    (BOTH, ["--version", "--list", "--describe"]),
    # an empty cluster
    (BOTH, ["--list"]),
    (BOTH, ["--describe"]),
    (BOTH, ["--describe", "--topic", "nothing"]),
    (BOTH, ["--describe", "--topic", "nothing", "--if-exists"]),
    # create
    (EACH, ["--create", "--topic", "@a", "--replica-assignment", "1:2,2:3,3:1"]),
    (EACH, ["--create", "--topic", "@a", "--replica-assignment", "1:2,2:3,3:1"]),
    (EACH, ["--create", "--topic", "@a", "--if-not-exists"]),
    (EACH, ["--create", "--topic", "@b.c", "--replica-assignment", "1:2:3,2:3:1", "--config", "retention.ms=1000",
            "--config", "cleanup.policy=compact,delete", "--config", "min.insync.replicas=2"]),
    (EACH, ["--create", "--topic", "@b_c"]),
    (EACH, ["--create", "--topic", "@d", "--partitions", "4", "--replication-factor", "2"]),
    (EACH, ["--create", "--topic=@e", "--replica-assignment=3,1", "--config", "segment.bytes = 1048576"]),
    (EACH, ["-create", "-topic", "@f", "--replica-assignment", "1:9", "stray"]),
    (EACH, ["--create", "--topic", "@g", "--config", "retention.ms=1", "--config", "retention.ms=2",
            "--replica-assignment", "2"]),
    (EACH, ["--create", "--topic", "@h", "--replica-assignment", ""]),
    (EACH, ["--create", "--topic", "@i", "--replica-assignment", " 1 : 2 , 2 : 1 "]),
    (BOTH, ["--create", "--topic", "x", "--topic", "y"]),
    (BOTH, ["--create", "--topic", "x", "--partitions", "abc"]),
    (BOTH, ["--create", "--topic", "x", "--partitions", "99999999999"]),
    (BOTH, ["--create", "--topic", "x", "--partitions", "0"]),
    (BOTH, ["--create", "--topic", "x", "--partitions", "-1"]),
    (BOTH, ["--create", "--topic", "x", "--partitions", "1", "--partitions", "2"]),
    (BOTH, ["--create", "--topic", "x", "--replication-factor", "0"]),
    (BOTH, ["--create", "--topic", "x", "--replication-factor", "40000"]),
    (BOTH, ["--create", "--topic", "x", "--replication-factor", "9"]),
    (BOTH, ["--create", "--topic", "x", "--replication-factor", "q"]),
    (BOTH, ["--create", "--topic", "x", "--replica-assignment", "1:1"]),
    (BOTH, ["--create", "--topic", "x", "--replica-assignment", "1:2:1:2"]),
    (BOTH, ["--create", "--topic", "x", "--replica-assignment", "1:2,3"]),
    (BOTH, ["--create", "--topic", "x", "--replica-assignment", "1:a"]),
    (BOTH, ["--create", "--topic", "x", "--replica-assignment", ",1"]),
    (BOTH, ["--create", "--topic", "x", "--replica-assignment", "1:2:,1,,"]),
    (BOTH, ["--create", "--topic", "x", "--config", "compression.gzip.level=0"]),
    (BOTH, ["--create", "--topic", "x", "--config", "follower.replication.throttled.replicas=x"]),
    (BOTH, ["--create", "--topic", "x", "--config", "foo"]),
    (BOTH, ["--create", "--topic", "x", "--config", "foo="]),
    (BOTH, ["--create", "--topic", "x", "--config", "a=b=c"]),
    (BOTH, ["--create", "--topic", "x", "--config", "foo=bar"]),
    (BOTH, ["--create", "--topic", "x", "--config", "retention.ms=abc"]),
    (BOTH, ["--create", "--topic", "x", "--config", "retention.ms=-5"]),
    (BOTH, ["--create", "--topic", "x", "--config", "cleanup.policy=bogus"]),
    (BOTH, ["--create", "--topic", "x", "--config", "compression.type=bogus"]),
    (BOTH, ["--create", "--topic", "x", "--config", "min.cleanable.dirty.ratio=2"]),
    (BOTH, ["--create", "--topic", "x", "--config", "preallocate=maybe"]),
    (BOTH, ["--create", "--topic", "x", "--config", "segment.bytes=1"]),
    (BOTH, ["--create", "--topic", "x", "--config", "min.compaction.lag.ms=5", "--config", "max.compaction.lag.ms=4"]),
    (BOTH, ["--create", "--topic", "a b"]),
    (BOTH, ["--create", "--topic", ""]),
    (BOTH, ["--create", "--topic", "."]),
    (BOTH, ["--create", "--topic", LONG + "12345"]),
    # list and describe
    (BOTH, ["--list"]),
    (BOTH, ["--list", "--exclude-internal"]),
    (BOTH, ["--list", "--topic", "our-.*"]),
    (BOTH, ["--list", "--topic", "our-a,jav-a"]),
    (BOTH, ["--list", "--topic", " 'our-a' "]),
    (BOTH, ["--list", "--topic", "our-[ab].*"]),
    (BOTH, ["--list", "--topic", "our-(?!a).*"]),
    (BOTH, ["--list", "--topic", "our.b.c"]),
    (BOTH, ["--list", "--topic", "our"]),
    (BOTH, ["--list", "--topic", "OUR-a"]),
    (BOTH, ["--list", "--topic", "(?i)OUR-a"]),
    (BOTH, ["--list", "--topic", r"\w+-\w"]),
    (BOTH, ["--list", "--topic", "["]),
    (BOTH, ["--list", "--topic", "*"]),
    (BOTH, ["--list", "--topic", ""]),
    (BOTH, ["--list=x", "stray", "words"]),
    (BOTH, ["--describe"]),
    (BOTH, ["--describe", "--topic", "our-a"]),
    (BOTH, ["--describe", "--topic", "jav-.*"]),
    (BOTH, ["--describe", "--topic", "jav-a|our-b.c"]),
    (BOTH, ["--describe", "--topic", "nothing"]),
    (BOTH, ["--describe", "--topic", ""]),
    (BOTH, ["--describe", "--topic", "nothing", "--if-exists"]),
    (BOTH, ["--describe", "--topic", "our-a", "--exclude-internal"]),
    (BOTH, ["--describe", "--topics-with-overrides"]),
    (BOTH, ["--describe", "--under-replicated-partitions"]),
    (BOTH, ["--describe", "--unavailable-partitions"]),
    (BOTH, ["--describe", "--under-min-isr-partitions"]),
    (BOTH, ["--describe", "--at-min-isr-partitions"]),
    (BOTH, ["--describe", "--under-replicated-partitions", "--at-min-isr-partitions"]),
    (BOTH, ["--describe", "--topic-id", "xx"]),
    (BOTH, ["--describe", "--topic-id", "x"]),
    (BOTH, ["--describe", "--topic-id", "not an id"]),
    (BOTH, ["--describe", "--topic-id", "3a4f1nHQQ0q7wR4G3q1xmw"]),
    (BOTH, ["--describe", "--topic-id", "3a4f1nHQQ0q7wR4G3q1xmw", "--if-exists"]),
    (BOTH, ["--describe", "--topic-id", "3a4f1nHQQ0q7wR4G3q1xmwAAAAAAAA"]),
    (BOTH, ["--describe", "--topic-id", "AAAAAAAAAAAAAAAAAAAAAA", "--topic", "our-a"]),
    (BOTH, ["--describe", "--topic-id", "{id:our-a}"]),
    (BOTH, ["--describe", "--topic-id", "{id:our-a}", "--topic", "nothing", "--if-exists"]),
    (BOTH, ["--describe", "--partition-size-limit-per-response", "5", "--topic", "our-a"]),
    (BOTH, ["--describe", "--partition-size-limit-per-response", "x"]),
    # alter and delete
    (EACH, ["--alter", "--topic", "@a", "--partitions", "2"]),
    (EACH, ["--alter", "--topic", "@a", "--partitions", "3"]),
    (EACH, ["--alter", "--topic", "@a", "--partitions", "4", "--replica-assignment", "1:2,2:3,3:1,2:1"]),
    (EACH, ["--alter", "--topic", "@a", "--partitions", "6", "--replica-assignment", "1:2,2:3,3:1,2:1,1:3"]),
    (EACH, ["--alter", "--topic", "@a", "--partitions", "6", "--replica-assignment", "1:2"]),
    (EACH, ["--alter", "--topic", "@d", "--partitions", "5"]),
    (EACH, ["--alter", "--topic", "@(e|i)", "--partitions", "4"]),
    (EACH, ["--alter", "--topic", "@nothing", "--partitions", "5"]),
    (EACH, ["--alter", "--topic", "@nothing", "--partitions", "5", "--if-exists"]),
    (EACH, ["--alter", "--topic", "@a", "--partitions", "x"]),
    (EACH, ["--delete", "--topic", "@nothing"]),
    (EACH, ["--delete", "--topic", "@nothing", "--if-exists"]),
    (EACH, ["--delete", "--topic", "@g"]),
    (EACH, ["--delete", "--topic", "@h,@f"]),
    (BOTH, ["--list"]),
    (BOTH, ["--describe"]),
]


class Kafkas:
    """Kafka's tools in one Java machine."""

    def __init__(self, libs, compiled=False):
        classes = os.path.join(ROOT, "build/oracle-tools")
        os.makedirs(classes, exist_ok=True)
        if not compiled:
            subprocess.run(["javac", "-nowarn", "-d", classes, "-cp", f"{libs}/*",
                            *(os.path.join(ROOT, f"tests/oracle/{side}.java") for side in ("ToolSide", "SealedReader"))],
                           check=True)
        log4j = os.path.join(ROOT, "deploy/local/kafka-log4j.properties")
        self.java = subprocess.Popen(
            ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.security.manager=allow",
             f"-Dlog4j.configuration=file:{log4j}", "-cp", f"{classes}:{libs}/*", "ToolSide"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def run(self, tool, args):
        self.java.stdin.write("\x1f".join([CLASSES[tool], *args]) + "\n")
        self.java.stdin.flush()
        code, out, err = self.java.stdout.readline().split()
        return int(code), *(base64.b64decode(text[1:]).decode() for text in (out, err))

    def close(self):
        self.java.stdin.close()
        self.java.wait(20)


def named(tool):
    """The path of our program by the name of Kafka's script."""
    link = os.path.join(ROOT, f"build/oracle-tools/{tool}.sh")
    fresh = f"{link}.{os.getpid()}.{threading.get_ident()}"
    os.symlink(os.path.abspath(KLAMM), fresh)
    os.replace(fresh, link)
    return link


def ours(tool, args):
    """By the name of Kafka's script, as whoever replaces Kafka's tools would call it."""
    done = subprocess.run([named(tool), *args], capture_output=True, text=True, timeout=90, check=False)
    return done.returncode, done.stdout, done.stderr


def topic_blocks(out):
    """Describe's output with topics, and the settings of each, in order."""
    blocks = []
    for line in out.splitlines():
        line = re.sub(r"(Configs: )(\S*)",
                      lambda m: m[1] + ",".join(sorted(re.split(r",(?=[a-z.]+=)", m[2]))), line)
        name = re.match(r"\t?Topic: ([^\t]*)", line)
        if name and blocks and blocks[-1][0] == name[1]:
            blocks[-1][1].append(line)
        else:
            blocks.append((name[1] if name else "", [line]))
    # a stable sort: the lines of a topic without a header line stay in their order
    return [line for _, lines in sorted(blocks, key=lambda b: b[0]) for line in lines]


def visible(answer, world, args):
    """What has to be the same."""
    code, out, err = answer
    out = re.sub(r"(TopicId: )[\w-]{22}", r"\1ID", out) if world else out
    if world:
        out, err = (text.replace(f"{world}-", "@") for text in (out, err))
    if "--version" in args:
        out = re.sub(r"^3\.9\.\d+$", "3.9", out.strip())
    lines = topic_blocks(out) if "--describe" in args else out.splitlines()
    told = code != 0 and not out  # a wrong command line: its first line counts, the help is our own
    first = err.splitlines()[0] if told and err else ""
    if told and "--help" in args or not args or args == ["--bootstrap-server", args[-1]]:
        first = "help" if first else ""
    return code, lines, first


class Check:
    """Kafka's tool and ours, on the same brokers."""

    # placed by the brokers: @d, @h, and the new partitions of @e and @i
    FREE = re.compile(r"(Topic: @[deh]\t.*?|Topic: @i\tPartition: [23])\tLeader: .*")

    def __init__(self, kafkas, bootstrap, verbose):
        self.kafkas, self.bootstrap, self.verbose = kafkas, bootstrap, verbose
        self.passed = self.failed = 0

    def topic_id(self, name):
        args = ["--bootstrap-server", self.bootstrap, "--describe", "--topic", name]
        _, out, _ = self.kafkas.run("kafka-topics", args)
        return re.search(r"TopicId: (\S+)", out)[1]

    def fill(self, args, world):
        args = [a.replace("@", f"{world}-") if world else a for a in args]
        return [re.sub(r"\{id:(.*)\}", lambda m: self.topic_id(m[1]), a) for a in args]

    def answers(self, kind, args):
        where = [] if kind == BARE else ["--bootstrap-server", self.bootstrap]
        worlds = ("jav", "our") if kind == EACH else ("", "")
        runs = (self.kafkas.run, ours)
        return [visible(run("kafka-topics", where + self.fill(args, world)), world, where + args)
                for run, world in zip(runs, worlds)]

    def step(self, kind, args):
        """Metadata takes a moment to reach every broker: what changes nothing is asked again."""
        for _ in range(1 if kind == EACH or "--create" in args else 5):
            kafkas, klamms = self.answers(kind, args)
            if kafkas == klamms:
                break
            time.sleep(0.3)
        self.count(" ".join(["kafka-topics", *args])[:150], kafkas, klamms)

    def count(self, what, kafkas, klamms):
        if kafkas == klamms:
            self.passed += 1
            if self.verbose:
                print(f"ok: {what} -> {kafkas[0]} {kafkas[2]}")
            return
        self.failed += 1
        print(f"FAILED: {what}\n  Kafka: {kafkas}\n  ours:  {klamms}", flush=True)

    def outcome(self):
        """What the two tools made, both seen by Kafka's."""
        found = []
        for world in ("jav", "our"):
            answer = self.kafkas.run("kafka-topics", ["--bootstrap-server", self.bootstrap, "--describe", "--topic",
                                                      f"{world}-.*"])
            _, lines, _ = visible(answer, world, ["--describe"])
            found.append([self.FREE.sub(r"\1", line) for line in lines])
        self.count("what both made", (0, found[0], ""), (0, found[1], ""))

    def api_versions(self):
        sides = []
        for run in (self.kafkas.run, ours):
            _, out, err = run("kafka-broker-api-versions", ["--bootstrap-server", self.bootstrap])
            brokers = re.findall(r"^\S+ \(id: .*?^\)$", out, re.M | re.S)
            sides.append((len(brokers), sorted(brokers), err))
        self.count("kafka-broker-api-versions", *sides)


class Brokers(Check):
    """Kafka's tool, on Kafka's brokers and on ours: the same words, the same outcome."""

    def __init__(self, kafkas, clusters, verbose):
        super().__init__(kafkas, clusters[0], verbose)
        self.clusters = clusters

    def topic_id(self, name):
        return "3a4f1nHQQ0q7wR4G3q1xmw"  # one that neither has

    def answers(self, kind, args):
        found = []
        for cluster in self.clusters:
            where = [] if kind == BARE else ["--bootstrap-server", cluster]
            answer = self.kafkas.run("kafka-topics", where + self.fill(args, "our" if kind == EACH else ""))
            code, lines, first = visible(answer, "our", where + args)
            found.append((code, [self.FREE.sub(r"\1", line) for line in lines], first))
        return found


def free_port():
    """A base port for deploy/cluster with no listener near it."""
    for base in range(20000 + os.getpid() % 90 * 100, 31000, 500):
        busy = False
        for port in [*range(base + 1, base + 4), base + 101]:
            with socket.socket() as s:
                busy = busy or s.connect_ex(("127.0.0.1", port)) == 0
        if not busy:
            return base
    raise RuntimeError("no free ports")


def start(directory, impl, *more):
    port = free_port()
    subprocess.run([f"{ROOT}/deploy/cluster", "up", "--dir", f"{directory}-{impl}", "--brokers", "3", "--impl", impl,
                    "--port", str(port), *more], check=True, stdout=subprocess.DEVNULL)
    return ",".join(f"127.0.0.1:{port + n}" for n in (1, 2, 3))


def stop(directory):
    for impl in ("kafka", "klamm"):
        if os.path.exists(f"{directory}-{impl}"):
            subprocess.run([f"{ROOT}/deploy/cluster", "down", "--dir", f"{directory}-{impl}", "--wipe"], check=False,
                           stdout=subprocess.DEVNULL)
            shutil.rmtree(f"{directory}-{impl}", ignore_errors=True)


def compare(options, kafkas, directory):
    if options.brokers:
        check = Brokers(kafkas, [start(directory, "kafka"), start(directory, "klamm")], options.verbose)
        for kind, args in STEPS:
            if kind != BARE:
                check.step(kind, args)
        return check
    check = Check(kafkas, options.bootstrap or start(directory, "kafka"), options.verbose)
    for kind, args in STEPS:
        check.step(kind, args)
    check.outcome()
    check.api_versions()
    return check


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bootstrap")
    parser.add_argument("--brokers", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    libs = subprocess.run([f"{ROOT}/tests/kafka/fetch"], stdout=subprocess.PIPE, text=True, check=False)
    if libs.returncode != 0 or not shutil.which("javac"):
        print("topics_cli: Kafka's jars or a JDK cannot be had here, so nothing is compared")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    directory = os.path.join(ROOT, f"build/topics-cli-{os.getpid()}")
    kafkas = Kafkas(libs.stdout.strip())
    try:
        check = compare(options, kafkas, directory)
    finally:
        kafkas.close()
        stop(directory)
    print(f"{check.passed} passed, {check.failed} failed")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
