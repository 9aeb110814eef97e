"""Kafka Connect, distributed, with the file connectors: each line of a file gets through a topic into another file.

Brokers end and come back, and so do workers of Connect, whose tasks go to the other one and come back.
"""

import json
import sys
import urllib.error
import urllib.request

import pytest

from cluster import PATIENCE, poll
from group import coordinator
from program import HERE, Program, jars, java
from workers import BEGIN, Crew, Follower, Worker

pytestmark = pytest.mark.full
SETS = ("min.insync.replicas=2", "offsets.topic.num.partitions=5")
FILE = "org.apache.kafka.connect.file.FileStream"


class Connect(Program):
    """One worker of Connect, and what it can be asked over HTTP."""

    def __init__(self, cluster, number):
        self.id = f"127.0.0.1:{cluster.port + 300 + number}"
        self.number, self.rest = number, f"http://{self.id}"
        properties = f"{cluster.dir}/connect-{number}.properties"
        with open(f"{HERE}/connect/distributed.properties", encoding="utf-8") as given, \
                open(properties, "w", encoding="utf-8") as out:
            out.write(f"{given.read()}bootstrap.servers={cluster.bootstrap()}\nlisteners={self.rest}\n")
        super().__init__(f"connect-{number}", java(
            f"{jars('connect')}/*", "org.apache.kafka.connect.cli.ConnectDistributed", properties, memory="256m"),
            cluster.dir)

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
        poll(f"{name} should be made", lambda: must_live(self.ask("PUT", f"/connectors/{name}/config", config)), BEGIN)
        poll(f"{name} should run", running)

    def leave(self):
        """A signal ends it."""
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.kill()


def wait_spread(crew, workers):
    """All three tasks run, each of these workers has some, and nobody else has any."""
    ids = {worker.id for worker in workers}

    def undone():
        status = workers[0].ask("GET", "/connectors?expand=status") or {}
        tasks = {f"{name}-{task['id']}": task for name, told in status.items() for task in told["status"]["tasks"]}
        out = {name: f"{task['state']} at {task['worker_id']}" for name, task in tasks.items()
               if task["state"] != "RUNNING" or task["worker_id"] not in ids}
        idle = ids - {task["worker_id"] for task in tasks.values()}
        return out | ({"tasks": f"{len(tasks)} of 3"} if len(tasks) != 3 else {}) | dict.fromkeys(idle, "without a task")
    crew.wait_for(f"the tasks should be spread over {sorted(ids)}", undone, BEGIN)


def come_back(crew, workers, lost):
    """Its tasks have gone to the other one, and all goes on; they come back to it, and all goes on."""
    stays = [worker for worker in workers if worker is not lost]
    wait_spread(crew, stays)
    crew.wait_progress()
    workers[:] = [*stays, crew.add(Connect(crew.cluster, lost.number))]
    wait_spread(crew, workers)
    crew.wait_progress()


def through_restarts_of_workers(crew, workers):
    """One ends as it should; then the other one dies, together with the broker that coordinates the two."""
    lost = workers[0]
    crew.dismiss(lost)
    come_back(crew, workers, lost)
    lost, victim = workers[0], coordinator(crew.cluster, "connect")
    crew.helpers.remove(lost)
    lost.kill()
    crew.cluster.run("kill", victim)
    come_back(crew, workers, lost)
    crew.cluster.start(victim)
    crew.cluster.wait_in_sync(crew.topic)


def test_file_to_file(cluster):
    source, sink = f"{cluster.dir}/source.txt", f"{cluster.dir}/sink.txt"
    with Crew(cluster, "through-connect") as crew:
        workers = [crew.add(Connect(cluster, number)) for number in (1, 2)]
        crew.add(Worker("writer", [sys.executable, f"{HERE}/python/file_writer.py", source, "writer"], cluster.dir),
                 ["produce"])
        crew.add(Follower("tail", ["tail", "-n", "+1", "-F", sink], cluster.dir), ["consume"])
        workers[0].run("source", {"connector.class": f"{FILE}SourceConnector", "tasks.max": "1", "file": source,
                                  "topic": crew.topic})
        workers[0].run("sink", {"connector.class": f"{FILE}SinkConnector", "tasks.max": "2", "file": sink,
                                "topics": crew.topic})
        wait_spread(crew, workers)
        crew.through_a_restart()
        crew.through_a_rolling_restart()
        through_restarts_of_workers(crew, workers)
        crew.finish()
