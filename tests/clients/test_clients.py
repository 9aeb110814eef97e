"""Clients by others, unmodified, each through the death of a leader and its return."""

import shutil
import subprocess
import sys
import threading

import pytest

from cluster import ROOT
from program import BUILD, HERE, java, javac, kafka_libs

SETS = ("min.insync.replicas=2",)
PARTITIONS = 3


def through_a_restart(cluster, topic, command):
    """The program produces while a leader is killed and comes back; it then compares by itself."""
    cluster.create_topic(topic, PARTITIONS)
    with subprocess.Popen([*command, cluster.bootstrap(), topic], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as program:
        errors = []
        reader = threading.Thread(target=lambda: errors.append(program.stderr.read()))
        reader.start()
        try:
            begun = program.stdout.readline()
            if begun == "begun\n":
                victim = cluster.leader(topic, 0)
                cluster.run("kill", victim)
                cluster.leader(topic, 0, but=[victim])
                cluster.start(victim)
                cluster.wait_in_sync(topic)
                program.stdin.write("\n")
            program.stdin.close()
            program.wait(180)
            said = program.stdout.read()
        finally:
            program.kill()
            reader.join()
    assert program.returncode == 0, errors[0][-3000:]
    assert "acknowledged and read" in said, said
    print(f"{topic}: {said.strip()}")


def test_kafka_python(cluster):
    pytest.importorskip("kafka", reason="kafka-python could not be installed")
    through_a_restart(cluster, "kafka-python", [sys.executable, f"{HERE}/kafka_python_client.py"])


def test_confluent_kafka(cluster):
    pytest.importorskip("confluent_kafka", reason="confluent-kafka could not be installed")
    through_a_restart(cluster, "confluent-kafka", [sys.executable, f"{HERE}/confluent_client.py"])


def test_java_producer_and_consumer(cluster):
    libs = kafka_libs()
    classes = javac(f"{BUILD}/client", f"{libs}/*", f"{HERE}/JavaClient.java")
    through_a_restart(cluster, "java", java(f"{classes}:{libs}/*", "JavaClient", memory="256m"))


def test_kcat(cluster):
    """kcat on Debian's librdkafka: lines there and back, in each compression, with a dead leader between."""
    assert shutil.which("kcat"), "kcat is not installed"
    cluster.create_topic("kcat", PARTITIONS)
    sent = []
    for i, codec in enumerate(["none", "gzip", "snappy", "lz4", "zstd"]):
        lines = [f"{codec}-{n}" for n in range(1000)]
        subprocess.run(["kcat", "-P", "-b", cluster.bootstrap(), "-t", "kcat", "-p", str(i % PARTITIONS), "-z", codec,
                        "-X", "acks=all", "-X", "enable.idempotence=true"], input="\n".join(lines) + "\n", text=True,
                       check=True, timeout=60)
        sent += lines
    victim = cluster.leader("kcat", 0)
    cluster.run("kill", victim)
    cluster.leader("kcat", 0, but=[victim])
    read = subprocess.run(["kcat", "-C", "-q", "-e", "-b", cluster.bootstrap(), "-t", "kcat", "-o", "beginning"],
                          capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
    cluster.start(victim)
    assert sorted(read) == sorted(sent)
    listed = subprocess.run(["kcat", "-L", "-b", cluster.bootstrap(), "-t", "kcat"], capture_output=True, text=True,
                            check=True, timeout=60).stdout
    assert f'topic "kcat" with {PARTITIONS} partitions:' in listed


def test_kafka_topics_of_3_9(cluster):
    """Kafka's own kafka-topics makes, shows, widens and removes a topic."""
    kafka_libs()

    def topics(*args):
        done = subprocess.run([f"{ROOT}/tests/kafka/run", "kafka-topics.sh", "--bootstrap-server", cluster.bootstrap(),
                               *args], capture_output=True, text=True, check=False, timeout=90)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    assert "Created topic by-kafka." in topics("--create", "--topic", "by-kafka", "--partitions", "4",
                                               "--replication-factor", "3", "--config", "retention.ms=1000000")
    cluster.wait_in_sync("by-kafka")
    shown = topics("--describe", "--topic", "by-kafka")
    assert "PartitionCount: 4\tReplicationFactor: 3" in shown and "retention.ms=1000000" in shown
    assert shown.count("Leader: ") == 4 and "Leader: none" not in shown
    topics("--alter", "--topic", "by-kafka", "--partitions", "6")
    cluster.wait_in_sync("by-kafka")
    assert topics("--describe", "--topic", "by-kafka").count("Leader: ") == 6
    assert "by-kafka" in topics("--list").splitlines()
    topics("--delete", "--topic", "by-kafka")
    assert "by-kafka" not in topics("--list").splitlines()
