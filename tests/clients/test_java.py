"""Kafka's Java client of all ages, through the death of a leader: what one acknowledged, each processes."""

import difflib
import os
import subprocess

import pytest

from program import BUILD, HERE, if_there, jars, java, javac, kafka_libs
from test_others import sarama
from workers import Crew, Follower

SETS = ("min.insync.replicas=2", "offsets.topic.num.partitions=5")
NEWEST = "4.4.0"
# 0.8.2: no consumer, 0.9: messages v0, 0.10: v1, 0.11: v2; since then requests change, not messages.
IN_CI = ("0.8.2.2", "0.9.0.1", "0.10.2.2", NEWEST)
# Only with --full.
OTHERS = ("0.10.0.1", "0.11.0.3", "1.0.2", "1.1.1", "2.0.1", "2.8.2")
# What our program is compiled with; one compiled with the last of these runs on all later clients.
COMPILED_WITH = {"0.8": "0.8.2.2", "0.9": "0.9.0.1", "": "0.10.0.1"}
OLD_LZ4 = {"0.8": "1.2.0", "0.9": "1.2.0", "0.10": "1.3.0"}
CODECS = ("none", "gzip", "snappy", "lz4")
ISOLATIONS = ("read_uncommitted", "read_committed")


def by_version(table, version):
    return next((value for start, value in table.items() if version.startswith(start)), None)


def client(version):
    """That client, and what 3.9 brings besides: logging and compression."""
    libs, fetched = kafka_libs(), jars("java")
    lz4 = by_version(OLD_LZ4, version)
    others = [f"{libs}/{name}" for name in sorted(os.listdir(libs))
              if name.startswith(("slf4j", "reload4j", "snappy", "lz4", "zstd"))]
    return ":".join([f"{fetched}/kafka-clients-{version}.jar", *([f"{fetched}/lz4-{lz4}.jar"] if lz4 else []), *others])


def compiled(version, *names):
    """Our programs, for that client."""
    return javac(f"{BUILD}/java/{version}", client(version), *(f"{HERE}/java/{name}.java" for name in names))


def worker(version):
    base = by_version(COMPILED_WITH, version)
    if version.startswith("0.8"):
        return java(f"{compiled(base, 'Produce')}:{client(version)}", "Produce")
    return java(f"{compiled(base, 'Produce', 'Consume', 'Worker')}:{client(version)}", "Worker")


@pytest.mark.full
def test_scala_clients_of_0_8(cluster):
    """The consumer that finds brokers and topics in ZooKeeper, and the producer before the Java one."""
    classes = f"{jars('scala')}/*"
    with Crew(cluster, "by-scala") as crew:
        crew.hire("java", worker(NEWEST))
        crew.add(Follower("scala-consumer", java(
            classes, "kafka.tools.ConsoleConsumer", "--zookeeper", f"127.0.0.1:{cluster.port + 101}", "--topic",
            crew.topic, "--from-beginning"), cluster.dir), ["consume"])
        for moment in (crew.wait_progress, crew.through_a_restart, crew.through_a_rolling_restart):
            moment()
            crew.send_lines(f"scala-{moment.__name__}", java(
                classes, "kafka.tools.ConsoleProducer", "--broker-list", cluster.bootstrap(), "--topic", crew.topic,
                "--sync", "--request-required-acks", "-1", "--request-timeout-ms", "10000"), 500)
        crew.finish()


def test_java_clients_of_all_ages(cluster, is_full):
    versions = IN_CI + (OTHERS if is_full else ())
    with Crew(cluster, "of-all-ages") as crew:
        for i, version in enumerate(versions):
            does = ("produce",) if version.startswith("0.8") else ("produce", "consume")
            crew.hire(f"java-{version}", worker(version), f"compression.type={CODECS[i % len(CODECS)]}",
                      f"isolation.level={ISOLATIONS[i % 2]}", does=does)
        # Sarama joins them, for want of another test without --full.
        if command := if_there(sarama):
            crew.hire("sarama", command, "compression=lz4", "idempotence=1", "version=3.9.0")
        crew.through_a_restart()
        if is_full:
            crew.through_a_rolling_restart()
        crew.finish()


def test_newest_admin_client(cluster):
    """What comes of each call is what comes of it at Apache Kafka 3.9."""
    cluster.create_topic("toured", 3)
    for partition in range(3):
        subprocess.run(["kcat", "-P", "-b", cluster.bootstrap(), "-t", "toured", "-p", str(partition), "-X",
                        "acks=all"], input="".join(f"{n}\n" for n in range(100)), text=True, check=True, timeout=60)
    tour = java(f"{compiled(NEWEST, 'AdminTour')}:{client(NEWEST)}", "AdminTour", cluster.bootstrap(), "toured",
                "of-tour")
    done = subprocess.run(tour, capture_output=True, text=True, check=False, timeout=180)
    assert done.returncode == 0, done.stderr[-3000:]
    with open(f"{HERE}/java/tour.txt", encoding="utf-8") as wanted:
        differences = list(difflib.unified_diff(wanted.read().splitlines(), done.stdout.splitlines(), "Apache Kafka",
                                                "here", lineterm="", n=0))
    assert not differences, "\n".join(differences)
