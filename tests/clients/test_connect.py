"""Kafka Connect, distributed, with the file connectors: each line of a file gets through a topic into another file."""

import json
import sys
import urllib.error
import urllib.request

import pytest

from cluster import PATIENCE, poll
from program import HERE, Program, jars, java
from workers import Crew, Follower, Worker

pytestmark = pytest.mark.full
SETS = ("min.insync.replicas=2", "offsets.topic.num.partitions=5")
FILE = "org.apache.kafka.connect.file.FileStream"


class Connect(Program):
    """One worker of Connect, and what it can be asked over HTTP."""

    def __init__(self, cluster):
        self.rest = f"http://127.0.0.1:{cluster.port + 301}"
        properties = f"{cluster.dir}/connect.properties"
        with open(f"{HERE}/connect/distributed.properties", encoding="utf-8") as given, \
                open(properties, "w", encoding="utf-8") as out:
            out.write(f"{given.read()}bootstrap.servers={cluster.bootstrap()}\nlisteners={self.rest}\n")
        super().__init__("connect", java(f"{jars('connect')}/*", "org.apache.kafka.connect.cli.ConnectDistributed",
                                         properties, memory="256m"), cluster.dir)

    def hear(self, line):
        """It says nothing that is wanted here."""

    def ask(self, method, path, body=None):
        """The answer, or None while there is none."""
        request = urllib.request.Request(self.rest + path, json.dumps(body).encode() if body else None,
                                         {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as e:
            # Not known yet; a rebalance is under way; the leader of the workers is not ready.
            assert e.code in (404, 409, 500, 503), f"{method} {path}: {e.code} {e.read()}"
        except OSError:
            pass
        return None

    def run(self, name, config):
        """Makes the connector and waits until its task runs."""
        def must_live(answer):
            assert self.is_alive(), f"{self.name} died: {self.last_words()}"
            return answer

        def running():
            status = must_live(self.ask("GET", f"/connectors/{name}/status"))
            return status and status["tasks"] and all(task["state"] == "RUNNING" for task in status["tasks"])
        poll(f"{name} should be made", lambda: must_live(self.ask("PUT", f"/connectors/{name}/config", config)))
        poll(f"{name} should run", running)

    def leave(self):
        """A signal ends it."""
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.kill()


def test_file_to_file(cluster):
    source, sink = f"{cluster.dir}/source.txt", f"{cluster.dir}/sink.txt"
    with Crew(cluster, "through-connect") as crew:
        connect = crew.add(Connect(cluster))
        crew.add(Worker("writer", [sys.executable, f"{HERE}/python/file_writer.py", source, "writer"], cluster.dir),
                 ["produce"])
        crew.add(Follower("tail", ["tail", "-n", "+1", "-F", sink], cluster.dir), ["consume"])
        connect.run("source", {"connector.class": f"{FILE}SourceConnector", "tasks.max": "1", "file": source,
                               "topic": crew.topic})
        connect.run("sink", {"connector.class": f"{FILE}SinkConnector", "tasks.max": "2", "file": sink,
                             "topics": crew.topic})
        crew.through_a_restart()
        crew.through_a_rolling_restart()
        crew.finish()
