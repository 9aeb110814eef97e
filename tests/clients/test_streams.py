"""Kafka Streams, at least once, through the death of a leader: all records pass, and none is left out of the counts."""

from cluster import poll, read_topic
from program import BUILD, HERE, Program, jars, java, javac
from test_others import confluent
from workers import Crew

SETS = ("min.insync.replicas=2", "offsets.topic.num.partitions=5")


class App(Program):
    def __init__(self, crew, number):
        libs = jars("streams")
        classes = javac(f"{BUILD}/streams/classes", f"{libs}/*", f"{HERE}/streams/StreamsApp.java")
        command = java(f"{classes}:{libs}/*", "StreamsApp", crew.cluster.bootstrap(), crew.topic, "app", memory="256m")
        command.insert(1, f"-Dstate.dir={crew.cluster.dir}/streams-{number}")
        self.state = None
        super().__init__(f"streams-{number}", command, crew.cluster.dir)

    def hear(self, line):
        self.state = line.split()[1]


def counts(cluster):
    """{sender: the last count}."""
    out = {}
    for line in read_topic(cluster, "app-counts", 3):
        sender, count = line.split()[2].split(":")
        out[sender] = max(int(count), out.get(sender, 0))
    return out


def test_streams(cluster, is_full):
    cluster.create_topic("app-out", 3)
    cluster.create_topic("app-counts", 3)
    with Crew(cluster, "to-streams") as crew:
        for i in range(3):
            crew.hire(f"sender-{i}", confluent())
        app = crew.add(App(crew, 0))
        poll("Kafka Streams should run", lambda: crew.check_alive() or app.state == "RUNNING")
        crew.follow("app-out")
        crew.through_a_restart()
        if is_full:
            crew.through_a_rolling_restart()
            # A second instance takes over from the first, which dies; its state comes from the changelog.
            second = crew.add(App(crew, 1))
            poll("the second instance should run", lambda: crew.check_alive() or second.state == "RUNNING")
            crew.wait_progress()
            crew.helpers.remove(app)
            app.kill()
            crew.wait_progress()
        crew.finish()
        sent = {w.name: len(w.acked) for w in crew.producers}
    counted = counts(cluster)
    assert all(counted[name] >= count for name, count in sent.items()), f"sent {sent}, counted {counted}"
