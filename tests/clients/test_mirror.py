"""MirrorMaker 2 between Apache Kafka and Klamm, both ways at once: all records arrive, and the offsets of groups."""

import pytest

from cluster import PATIENCE, Cluster, poll
from fixtures import finish, new_directory
from group import coordinator
from program import HERE, Program, jars, java
from test_others import confluent, franz_go
from workers import Crew

pytestmark = pytest.mark.full
SETS = ("min.insync.replicas=2", "offsets.topic.num.partitions=5")
# Topics of the mirror, by the cluster that they are in: Connect's own; in the target of a way; in its source.
OWN = ("config.storage", "offset.storage", "status.storage")
IN_TARGET, IN_SOURCE = ("", "checkpoints.topic.", "heartbeats.topic."), "offset-syncs.topic."


class Mirror(Program):
    """clusters: {alias: cluster}."""

    def __init__(self, clusters, said_to):
        properties = f"{said_to}/mirror.properties"
        with open(f"{HERE}/connect/mirror.properties", encoding="utf-8") as given, \
                open(properties, "w", encoding="utf-8") as out:
            out.write(given.read())
            for alias, cluster in clusters.items():
                other, = clusters.keys() - {alias}
                out.write(f"{alias}.bootstrap.servers={cluster.bootstrap()}\n")
                out.writelines(self.copies(alias, other, min(3, len(cluster.numbers))))
        super().__init__("mirror", java(f"{jars('connect')}/*", "org.apache.kafka.connect.mirror.MirrorMaker",
                                        properties, memory="384m"), said_to)

    @staticmethod
    def copies(alias, other, count):
        """The settings that tell how many replicas topics have in the cluster `alias`."""
        yield from (f"{alias}.{topic}.replication.factor={count}\n" for topic in OWN)
        yield from (f"{other}->{alias}.{topic}replication.factor={count}\n" for topic in IN_TARGET)
        yield f"{alias}->{other}.{IN_SOURCE}replication.factor={count}\n"

    def hear(self, line):
        """It says nothing that is wanted here."""

    def leave(self):
        """A signal ends it."""
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.kill()


@pytest.fixture
def kafka(cluster, request):
    """One broker of Apache Kafka's beside ours."""
    other = Cluster(new_directory("test_mirror_kafka"), brokers=1, sets=("offsets.topic.num.partitions=5",),
                    options=("--impl", "kafka"), port=cluster.port + 10)
    try:
        other.up()
        yield other
    finally:
        finish(request, other)


def wait_translated(cluster, group, topic, partitions):
    """What a group committed there is committed here, as far as the mirror has come."""
    def translated():
        with cluster.connect(coordinator(cluster, group)) as c:
            code, offsets = c.committed(group, topic, range(partitions))
        return code == 0 and all(offset > 0 for offset in offsets.values())
    poll(f"the offsets of {group} should be those of {topic}", translated)


def test_mirror_both_ways(cluster, kafka):
    with Crew(kafka, "to-klamm") as there, Crew(cluster, "to-kafka") as here:
        here.add(Mirror({"kafka": kafka, "klamm": cluster}, cluster.dir))
        there.hire("there", confluent())
        here.hire("here", franz_go())
        cluster.wait_in_sync("kafka.to-klamm")
        kafka.wait_in_sync("klamm.to-kafka")
        there.follow("kafka.to-klamm", cluster)
        here.follow("klamm.to-kafka", kafka)
        there.wait_progress()
        here.through_a_restart()
        here.through_a_rolling_restart()
        there.wait_progress()
        wait_translated(cluster, "group-of-there", "kafka.to-klamm", 3)
        wait_translated(kafka, "group-of-here", "klamm.to-kafka", 3)
        there.finish()
        here.finish()
