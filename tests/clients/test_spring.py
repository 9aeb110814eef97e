"""Spring Kafka: a KafkaTemplate, and listeners whose groups begin at the earliest record, the latest, and at none."""

import subprocess

import pytest

from cluster import ROOT, poll
from program import BUILD, HERE, jars, java, javac
from workers import Crew

pytestmark = pytest.mark.full
SETS = ("min.insync.replicas=2", "offsets.topic.num.partitions=5")


def spring():
    libs = jars("spring")
    return java(f"{javac(f'{BUILD}/spring/classes', f'{libs}/*', f'{HERE}/spring/SpringWorker.java')}:{libs}/*",
                "SpringWorker")


def wait_said(worker, line):
    def said():
        assert worker.is_alive(), f"{worker.name} died: {worker.last_words()}"
        return line in worker.said
    poll(f"{worker.name} should say {line}", said)


def set_offsets_to_earliest(cluster, group, topic):
    """By Kafka's own tool."""
    done = subprocess.run([f"{ROOT}/tests/kafka/run", "kafka-consumer-groups", "--bootstrap-server",
                           cluster.bootstrap(), "--group", group, "--topic", topic, "--reset-offsets", "--to-earliest",
                           "--execute"], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0 and "Error" not in done.stdout, done.stdout + done.stderr


def test_template_and_listeners(cluster):
    with Crew(cluster, "by-spring") as crew:
        # The group that begins at the latest is there before the first record: it must get them all, too. The one that
        # has no offsets, and may not choose any, refuses to begin.
        latest = crew.hire("latest", spring(), "reset=latest", "produce=no", does=["consume"])
        lost = crew.hire("none", spring(), "reset=none", "produce=no", does=["consume"])
        wait_said(latest, "ready")
        wait_said(lost, "stopped NO_OFFSET")
        crew.dismiss(lost)
        set_offsets_to_earliest(cluster, "group-of-none", crew.topic)
        crew.hire("none", spring(), "reset=none", "produce=no", does=["consume"])
        crew.hire("earliest", spring())
        crew.through_a_restart()
        crew.through_a_rolling_restart()
        crew.finish()
