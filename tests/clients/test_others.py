"""Clients that are not Java, newest and oldest, on one topic: what is acknowledged to any of them, each processes."""

import shutil
import sys

import pytest

from program import BUILD, HERE, go, if_there, must, npm
from workers import Crew

pytestmark = pytest.mark.full
SETS = ("min.insync.replicas=2", "offsets.topic.num.partitions=5")
# 1.4.7 is the oldest that Python 3 can read: those before used "async" as a name.
OLD_KAFKA_PYTHON = "1.4.7"


def kafka_python():
    pytest.importorskip("kafka", reason="kafka-python could not be installed")
    return [sys.executable, f"{HERE}/python/kafka_python_worker.py"]


def kafka_python_of_old():
    place = f"{BUILD}/kafka-python-{OLD_KAFKA_PYTHON}"
    must([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--upgrade",
          "--target", place, f"kafka-python=={OLD_KAFKA_PYTHON}"], f"kafka-python {OLD_KAFKA_PYTHON}")
    return ["env", f"PYTHONPATH={place}", sys.executable, f"{HERE}/python/kafka_python_worker.py"]


def confluent():
    pytest.importorskip("confluent_kafka", reason="confluent-kafka could not be installed")
    return [sys.executable, f"{HERE}/python/confluent_worker.py"]


def franz_go():
    return [go("franz-go", f"{HERE}/franz")]


def sarama():
    return [go("sarama", f"{HERE}/sarama")]


def sarama_of_old():
    """The same program: only the module had another name then."""
    place = f"{BUILD}/sarama-of-old-source"
    shutil.copytree(f"{HERE}/sarama/old", place, dirs_exist_ok=True)
    with open(f"{HERE}/sarama/main.go", encoding="utf-8") as program, \
            open(f"{place}/main.go", "w", encoding="utf-8") as out:
        out.write(program.read().replace("github.com/IBM/", "github.com/Shopify/"))
    return [go("sarama-of-old", place)]


def kafkajs():
    return ["node", f"{npm('kafkajs', f'{HERE}/node')}/worker.js"]


# Compression: gzip, which all of them can undo.
WORKERS = [(kafka_python, "gzip"), (confluent, "gzip"), (franz_go, "none"), (kafkajs, "gzip"),
           (sarama, "gzip", "idempotence=1", "version=3.9.0"), (kafka_python_of_old, "gzip"),
           (sarama_of_old, "none", "version=2.0.0"), (sarama_of_old, "gzip", "version=0.10.2.0")]


def test_other_clients(cluster):
    with Crew(cluster, "of-all-tongues") as crew:
        for program, codec, *more in WORKERS:
            name = "-".join([program.__name__, *(word.rpartition("=")[2] for word in more)])
            if command := if_there(program):
                worker = crew.hire(name, command, f"compression={codec}", *more)
                worker.gives_up = program in (kafka_python_of_old, sarama_of_old)
        if len(crew.producers) < 2:
            pytest.skip("fewer than two of them can be had here")
        crew.through_a_restart()
        crew.through_a_rolling_restart()
        crew.finish()
