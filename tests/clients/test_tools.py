"""Kafka's own shell tools that produce and consume, through the death of a leader."""

import json
import subprocess

import pytest

from cluster import PATIENCE, ROOT
from program import kafka_libs
from workers import Crew, Follower, Worker

pytestmark = pytest.mark.full
SETS = ("min.insync.replicas=2", "offsets.topic.num.partitions=5")


def tool(name, cluster, *args):
    return [f"{ROOT}/tests/kafka/run", name, "--bootstrap-server", cluster.bootstrap(), *args]


class VerifiableProducer(Worker):
    """It sends nothing twice: what fails is told, and was not acknowledged."""

    def hear(self, line):
        said = json.loads(line)
        if said["name"] == "producer_send_success":
            self.acked.add(said["value"])

    def stop_sending(self):
        """A signal ends it."""
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.is_silent = True

    def has_left(self):
        return self.is_silent

    def leave(self):
        self.kill()


class VerifiableConsumer(Follower):
    def hear(self, line):
        said = json.loads(line)
        if said["name"] == "record_data":
            self.processed.add(said["value"])


def test_console_and_verifiable_clients(cluster):
    kafka_libs()
    with Crew(cluster, "by-tools") as crew:
        topic = ["--topic", crew.topic]
        producer = crew.add(VerifiableProducer("verifiable-producer", tool(
            "kafka-verifiable-producer", cluster, *topic, "--throughput", "100", "--acks", "-1", "--value-prefix", "1"),
            cluster.dir), ["produce"])
        crew.add(VerifiableConsumer("verifiable-consumer", tool(
            "kafka-verifiable-consumer", cluster, *topic, "--group-id", "verifiable", "--reset-policy", "earliest",
            "--verbose"), cluster.dir), ["consume"])
        crew.add(Follower("console-consumer", tool(
            "kafka-console-consumer", cluster, *topic, "--group", "console", "--from-beginning"), cluster.dir),
            ["consume"])
        crew.through_a_restart()
        crew.through_a_rolling_restart()
        crew.send_lines("console", tool("kafka-console-producer", cluster, *topic))
        crew.finish()
    listed = subprocess.run(tool("kafka-get-offsets", cluster, *topic), capture_output=True, text=True, check=True,
                            timeout=PATIENCE).stdout
    assert sum(int(line.split(":")[2]) for line in listed.splitlines()) >= len(producer.acked) > 0
