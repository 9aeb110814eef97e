"""Clusters of Apache Kafka 3.9 and of ours at once: each broker is of either, and may become the other."""

import itertools
import json
import os
import re
import subprocess
import sys

import pytest

from cluster import ROOT, Cluster, poll

CLIENTS = os.path.join(ROOT, "tests/clients")
sys.path.append(CLIENTS)  # group.py, which judges what members of consumer groups say
KAFKA, KLAMM = "kafka", "klamm"
# An error as we write it, "[when] ERROR [thread]", and what is not a cluster's daily trouble in Kafka's log.
OURS = re.compile(r"\] (ERROR|FATAL) \[[a-z][a-z-]*[0-9]*\]")
KAFKAS = re.compile(r"\bFATAL\b|: Error due to|[Uu]ncaught|[Uu]nexpected|java\.lang\.[A-Za-z]*(Error|IllegalState)")
# After that in the next line it is: below 2.7 a leader that was asleep learns by writing the ISR that its session is over.
KAFKA_SLEPT = re.compile(r"^\S*[.$](SessionExpired|ZooKeeperClientExpired)Exception\b")


def kafka_libs():
    """The folder of Kafka's jars; the test is skipped where they cannot be had."""
    fetched = subprocess.run([f"{ROOT}/tests/kafka/fetch"], capture_output=True, text=True, check=False)
    if fetched.returncode != 0:
        pytest.skip(fetched.stderr.strip())
    return fetched.stdout.strip()


def java_member(libs):
    """The words that start a member of a group on Kafka's own consumer."""
    build = f"{ROOT}/build/clients"
    os.makedirs(build, exist_ok=True)
    source, made = f"{CLIENTS}/members/JavaMember.java", f"{build}/JavaMember.class"
    if not os.path.exists(made) or os.path.getmtime(made) < os.path.getmtime(source):
        subprocess.run(["javac", "-d", build, "-cp", f"{libs}/*", source], check=True)
    return ["java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            f"-Dlog4j.configuration=file:{ROOT}/deploy/local/kafka-log4j.properties", "-cp", f"{build}:{libs}/*",
            "JavaMember"]


def complaints_in(lines, impl):
    """impl: what the broker is now, whose log may begin with that of the other kind."""
    return [line for line, then in itertools.pairwise([*lines, ""])
            if OURS.search(line) or impl == KAFKA and KAFKAS.search(line) and not KAFKA_SLEPT.search(then)]


class Mixed(Cluster):
    """impls: what broker 1, 2, ... is, KAFKA or KLAMM."""

    def __init__(self, directory, impls, sets=()):
        self.impls = dict(enumerate(impls, 1))
        options = [word for number, impl in self.impls.items() for word in ("--impl", f"{number}={impl}")]
        self.former = None  # the controller before let_control()
        super().__init__(directory, brokers=len(impls), sets=sets, options=options)

    def of(self, impl):
        return [number for number in self.numbers if self.impls[number] == impl]

    # Acts

    def start(self, *numbers):
        """Apache Kafka gives up where its earlier session still lives; ours waits."""
        if any(self.impls[number] == KAFKA for number in numbers):
            self.wait_unregistered(*numbers)
        self.run("start", *numbers)

    def klamm(self, *words, at=None):
        """What the tool prints; it succeeds."""
        bootstrap = "%s:%d" % self.address(at) if at else self.bootstrap()
        done = subprocess.run([f"{self.programs()}/klamm", words[0], "--bootstrap-server", bootstrap,
                               *map(str, words[1:])], capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, f"klamm {words}: {done.stdout}{done.stderr}"
        return done.stdout

    def zk_shell(self, *words):
        """What zookeeper-shell prints of one command; that there is no such node is said in it too."""
        done = subprocess.run([f"{self.programs()}/klamm", "zookeeper-shell", f"{self.zk_host}:{self.port + 101}",
                               *words], capture_output=True, text=True, check=False, timeout=60)
        return done.stdout + done.stderr

    def states(self, topic, partitions):
        """{partition: what its state node says}, in one session."""
        script = "".join(f"get /brokers/topics/{topic}/partitions/{p}/state\n" for p in partitions)
        done = subprocess.run([f"{self.programs()}/klamm", "zookeeper-shell", f"{self.zk_host}:{self.port + 101}"],
                              input=script, capture_output=True, text=True, check=False, timeout=60)
        found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        assert len(found) == len(partitions), done.stdout + done.stderr
        return dict(zip(partitions, found))

    def let_control(self, number):
        """Makes that broker the controller: the others stand still, for less than a session, while there is none."""
        others = [n for n in self.numbers if n != number]
        self.former = self.controller()
        if self.former != number:
            self.run("pause", *others)
            try:
                self.zk_shell("delete", "/controller")
                poll(f"{number} should be the controller",
                     lambda: f'"brokerid":{number},' in self.zk_shell("get", "/controller"))
            finally:
                self.run("resume", *others)
        poll(f"every broker should know that {number} is the controller", lambda: all(
            (self.view(ask=[n]) or (0, -1))[1] == number for n in self.numbers))
        self.wait_whole()

    # Questions

    def complaints(self):
        """What our brokers called an error; what ended a thread of Kafka's, or was a surprise to it."""
        found = []
        for number, impl in self.impls.items():
            with open(os.path.join(self.dir, f"broker-{number}.log"), encoding="utf-8", errors="replace") as f:
                found += [f"broker {number}: {line.strip()}" for line in complaints_in(f, impl)]
        return found
