#!/usr/bin/env python3
"""groups_world - topics, and consumer groups of kafka-python's consumers, for groups_cli.py

    groups_world.py BOOTSTRAP      under tests/venv's python; says "ready", and ends with its standard input

Topics with 10, 20, 30, ... records in partition 0, 1, 2, ..., a second apart. Groups: active (two members, two
topics), static (two static members), idle (more members than partitions), stuck (in a rebalance that does not end),
connect (of another protocol), left (its member went), and without ever a member: simple, twelve, long, odd; the latter
also with the names "jav-..." and "our-...", for what changes something.
"""

import socket
import struct
import sys
import threading
import time

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.structs import OffsetAndMetadata

FIRST_MS = 1700000000000
LONG = "a-topic-with-a-very-long-name-of-its-own"
TOPICS = {"t1": 3, "t2": 2, LONG: 1, "t.12": 12}
COMMITTED = {
    "simple": {("t1", 0): 3, ("t1", 1): 20, ("t2", 1): 1},
    "twelve": {("t.12", p): p for p in range(12)},
    "long.group-name_with-many-letters": {(LONG, 0): 4},
    'odd, "name"': {("t1", 0): 1},
}


class World:
    def __init__(self, bootstrap):
        self.bootstrap = bootstrap
        self.stop = threading.Event()

    def topics(self):
        admin = KafkaAdminClient(bootstrap_servers=self.bootstrap)
        wanted = {**TOPICS, "empty-topic": 2}
        admin.create_topics([NewTopic(name, n, 1, topic_configs={"retention.ms": "-1"}) for name, n in wanted.items()])
        producer = KafkaProducer(bootstrap_servers=self.bootstrap, linger_ms=5)
        for name, count in TOPICS.items():
            for partition in range(count):
                for i in range(10 * (partition + 1)):
                    producer.send(name, b"x", partition=partition, timestamp_ms=FIRST_MS + i * 1000)
        producer.close()
        admin.close()

    def consumer(self, group, topics, **more):
        return KafkaConsumer(*topics, bootstrap_servers=self.bootstrap, group_id=group, enable_auto_commit=False,
                             auto_offset_reset="earliest", max_poll_interval_ms=600000, session_timeout_ms=30000, **more)

    def commit(self, group, offsets):
        consumer = self.consumer(group, [])
        consumer.commit({TopicPartition(*part): OffsetAndMetadata(o, "", -1) for part, o in offsets.items()})
        consumer.close()

    def run(self, consumer):
        while not self.stop.is_set():
            consumer.poll(100)

    def start(self, group, topics, **more):
        consumer = self.consumer(group, topics, **more)
        threading.Thread(target=self.run, args=(consumer,), daemon=True).start()
        return consumer

    def joined(self, group, topics, **more):
        consumer = self.consumer(group, topics, **more)
        while not consumer.assignment():
            consumer.poll(50)
        return consumer

    def left(self):
        consumer = self.joined("left", ["t1"])
        consumer.commit({TopicPartition("t1", p): OffsetAndMetadata(5 + p, "", -1) for p in range(3)})
        consumer.close()

    def stuck(self):
        """A member that does not poll any more keeps the second one waiting."""
        consumer = self.joined("stuck", ["t1"], client_id="s1")
        consumer.commit({TopicPartition("t1", 0): OffsetAndMetadata(2, "", -1)})
        self.start("stuck", ["t1"], client_id="s2")
        return consumer

    def connect(self):
        """A JoinGroup, version 1, of a protocol that is not the consumers'."""
        def text(s):
            return struct.pack(">h", len(s)) + s.encode()
        body = text("connect") + struct.pack(">ii", 300000, 300000) + text("") + text("connect")
        body += struct.pack(">i", 1) + text("default") + struct.pack(">i", 0)
        coordinators = []
        for address in self.bootstrap.split(","):
            s = socket.create_connection(address.rsplit(":", 1))
            header = struct.pack(">hhi", 11, 1, 7) + text("world")
            s.sendall(struct.pack(">i", len(header + body)) + header + body)
            coordinators.append(s)
        return coordinators


def main():
    world = World(sys.argv[1])
    world.topics()
    commits = [threading.Thread(target=world.commit, args=(who + group, offsets))
               for who in ("", "jav-", "our-") for group, offsets in COMMITTED.items()]
    for thread in commits:
        thread.start()
    members = [world.start("active", ["t1", "t2"], client_id=name) for name in ("one", "two")]
    members += [world.start("static", ["t1"], client_id="st", group_instance_id=name)
                for name in ("instance-a", "an-instance-with-a-long-name")]
    members += [world.start("idle", ["t2"], client_id=f"i{n}") for n in range(3)]
    world.left()
    members += [world.stuck(), world.connect()]
    for thread in commits:
        thread.join()
    deadline = time.time() + 20
    while time.time() < deadline and not all(m.assignment() for m in members[:4]):
        time.sleep(0.05)
    time.sleep(0.5)
    print("ready", flush=True)
    sys.stdin.read()
    world.stop.set()


if __name__ == "__main__":
    main()
