"""Clients that send garbage, nothing, or too much: their connection may suffer, others do not, and no broker ends."""

import random
import resource
import socket
import struct
import time

import pytest

import wire
from cluster import Load, poll

PARTITIONS = 3
CORRUPT_MESSAGE, TOO_LARGE, INVALID_RECORD = 2, 10, 87
# LeaderAndIsr, StopReplica and UpdateMetadata are obeyed of whoever says to be a newer controller, ControlledShutdown
# of whoever names a broker: nothing but an authorizer keeps clients from it, as in Apache Kafka. Bytes that happen to
# say so would leave the broker deaf to the true controller, so these begin with an epoch, or a broker, of -1.
OBEYED, OF_NOBODY = (4, 5, 6, 7), b"\0" + b"\xff" * 10


@pytest.fixture
def bystander(cluster):
    """A well-behaved producer that runs through the test; every broker must be the same process at the end."""
    topic = "bystander"
    cluster.create_topic(topic, PARTITIONS)
    before = cluster.pids()
    with Load(cluster, topic, PARTITIONS, rate=500) as load:
        yield load
        load.wait_acks()
        assert cluster.pids() == before, "a broker ended"
        cluster.wait_whole()
        sums = load.stop()
        assert sums["failed"] == 0 and not sums["fatal"]


def drained(connection):
    """Whether the broker closed the connection, or goes on answering; either is fine, silence with data due is not."""
    try:
        while connection.recv(65536):
            pass
        return "closed"
    except socket.timeout:
        return "open"
    except OSError:
        return "reset"


def raw(cluster, number, data, seconds=0.2):
    with socket.create_connection(cluster.address(number), 10) as s:
        s.settimeout(seconds)
        try:
            s.sendall(data)
        except OSError:
            return "reset"
        return drained(s)


def framed(body):
    return struct.pack(">i", len(body)) + body


def test_sizes_that_cannot_be(cluster, bystander):
    for size in (-1, -2**31, 2**31 - 1, 100 * 2**20 + 1):
        assert raw(cluster, 1, struct.pack(">i", size) + b"x" * 100, 10) != "open", size
    assert raw(cluster, 1, struct.pack(">i", 0), 10) != "open"


def test_random_bytes_for_every_api(cluster, bystander):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    with cluster.connect(1) as c:
        apis = c.api_versions()
    for key, low, high in apis + [(-1, 0, 0), (99, 0, 1), (32767, 0, 0)]:
        for version in {low, high, high + 1, chance.randint(low, high)}:
            head = struct.pack(">hhi", key, version, 1) + wire.string("hostile")
            for size in (0, 1, chance.randrange(2, 64), chance.randrange(64, 4096)):
                body = bytes(chance.choice((0, 0, 0, 255, 1, 127, chance.randrange(256))) for _ in range(size))
                if key in OBEYED:
                    body = (OF_NOBODY + body[len(OF_NOBODY):])[:size]
                raw(cluster, 1 + chance.randrange(3), framed(head + body), 0.002)


def test_mutated_requests(cluster, bystander):
    """Real Metadata, Produce and CreateTopics requests with bytes changed, cut off or put in."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    recorder = wire.Connection.__new__(wire.Connection)
    frames = []
    recorder.socket = type("Tap", (), {"sendall": lambda self, data: frames.append(data)})()
    recorder.send(3, 1, wire.array([wire.string("bystander")]))
    recorder.send(3, 8, wire.array([wire.string("bystander")]) + b"\0\0\0")
    recorder.send_produce("no-such-topic", 0, b"value")
    recorder.send(19, 2, wire.array([wire.string("no good") + struct.pack(">ih", 1, 9) + wire.array([]) * 2])
                  + struct.pack(">ib", 1000, 1))
    recorder.send(1, 4, struct.pack(">iiiib", -1, 10, 1, 1000, 0) + wire.array(
        [wire.string("bystander") + wire.array([struct.pack(">iqi", 0, 0, 1000)])]))
    for _ in range(400):
        body = bytearray(chance.choice(frames)[4:])
        for _ in range(chance.randrange(1, 5)):
            at = chance.randrange(8, len(body))
            what = chance.randrange(3)
            if what == 0:
                body[at] = chance.choice((0, 1, 127, 128, 255, chance.randrange(256)))
            elif what == 1 and len(body) > 20:
                del body[at:at + chance.randrange(1, 8)]
            else:
                body[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 8)))
            if len(body) < 10:
                break
        raw(cluster, 1 + chance.randrange(3), framed(bytes(body)), 0.002)


def test_bad_batches_are_refused(cluster, bystander):
    good = wire.batch(b"0:0:")
    leader = cluster.leader("bystander", 0)
    bad_crc = good[:-1] + bytes([good[-1] ^ 1])
    cases = {"crc": (bad_crc, {CORRUPT_MESSAGE}), "magic": (wire.batch(b"x", magic=7), {CORRUPT_MESSAGE, INVALID_RECORD, 76, 42}),
             "cut": (good[:-4], {CORRUPT_MESSAGE, INVALID_RECORD}), "too large": (wire.batch(b"x" * 2000000), {TOO_LARGE})}
    for name, (records, codes) in cases.items():
        with cluster.connect(leader) as c:
            c.send_records("bystander", 0, records)
            try:
                code = c.produce_answer()[0]
            except ConnectionResetError:
                code = "closed"
            assert code in codes or (code == "closed" and name in ("magic", "cut")), f"{name}: {code}"
    with cluster.connect(leader) as c:
        c.send_records("bystander", 999, good)
        assert c.produce_answer()[0] == 3  # UNKNOWN_TOPIC_OR_PARTITION


def test_half_requests_and_slow_readers(cluster, bystander):
    """300 connections that stop in the middle of a request, or never read what they asked for."""
    frame = framed(struct.pack(">hhi", 3, 1, 1) + wire.string("slow") + struct.pack(">i", -1))
    held = []
    try:
        for i in range(300):
            s = socket.create_connection(cluster.address(1 + i % 3), 10)
            s.settimeout(0.5)
            held.append(s)
            if i % 2:
                s.sendall(frame[:i % len(frame)])
            else:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                try:
                    for _ in range(200):
                        s.sendall(frame)
                except OSError:
                    pass
        for number in cluster.numbers:
            start = time.monotonic()
            assert cluster.view("bystander", [number])
            assert time.monotonic() - start < 2
        bystander.wait_acks()
    finally:
        for s in held:
            s.close()


def test_few_bytes_do_not_ask_for_many(cluster, bystander):
    """What is named again and again in a request of a coordinator is answered once."""
    group, many, text = "a-few-bytes", 20000, "x" * 4000
    number = wait_coordinator(cluster, group)
    with cluster.connect(number) as c:
        offset = struct.pack(">iqi", 0, 1, 0) + wire.string(text)
        c.send(8, 6, wire.string(group) + struct.pack(">i", -1) + wire.string("")
               + wire.array([wire.string("bystander") + wire.array([offset])]))
        assert c.answer().data.endswith(b"\0\0"), "the commit failed"
        c.send(9, 5, wire.string(group) + wire.array([wire.string("bystander") + wire.array([struct.pack(">i", 0)] * many)]))
        answers = {"partitions": len(c.answer().data)}
        c.send(15, 0, wire.array([wire.string(group)] * many))
        answers["groups described"] = len(c.answer().data)
        named = bytes([len(group) + 1]) + group.encode() + b"\0\0"  # all partitions; no tags
        count = many + 1
        length = bytes([count & 0x7F | 0x80, count >> 7 & 0x7F | 0x80, count >> 14])
        c.socket.sendall(framed(struct.pack(">hhi", 9, 8, 1) + wire.string("hostile") + b"\0" + length + named * many + b"\0\0"))
        answers["groups of offsets"] = len(c.answer().data)
    assert all(size < 2 * len(text) for size in answers.values()), answers


def test_a_long_filter_of_groups_costs_its_length(cluster, bystander):
    number = wait_coordinator(cluster, "filtered")
    offset = struct.pack(">iqi", 0, 1, 0) + wire.string("")
    with cluster.connect(number, 60) as c:
        for i in range(2000):  # a third of them has its coordinator here
            c.send(8, 6, wire.string(f"filtered-{i}") + struct.pack(">i", -1) + wire.string("")
                   + wire.array([wire.string("bystander") + wire.array([offset])]))
        for i in range(2000):
            c.answer()
        count, name = 2000000, b"\x06Emptx"
        length = bytes([count + 1 & 0x7F | 0x80, count + 1 >> 7 & 0x7F | 0x80, count + 1 >> 14 & 0x7F | 0x80, count + 1 >> 21])
        start = time.monotonic()
        c.socket.sendall(framed(struct.pack(">hhi", 16, 4, 1) + wire.string("hostile") + b"\0" + length + name * count + b"\0"))
        assert len(c.answer().data) < 100
        assert time.monotonic() - start < 3


def wait_coordinator(cluster, group):
    """The broker that coordinates a group, once it has loaded it."""
    def found():
        with cluster.connect(1) as c:
            code, broker = c.coordinator(group)
        if code != 0:
            return None
        with cluster.connect(broker) as c:
            return c.committed(group, "bystander", [0])[0] == 0 and broker
    return poll(f"a coordinator of {group}", found)


def test_ten_thousand_idle_connections(cluster, bystander):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard < 11000:
        pytest.skip(f"only {hard} open files are allowed here")
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    held = []
    try:
        before = cluster.usage()
        for i in range(10000):
            held.append(socket.create_connection(cluster.address(1), 10))
            if i % 40 == 0:  # what is answered was accepted, and so were those before: none is turned away to come again
                with cluster.connect(1) as c:
                    c.api_versions()
        bystander.wait_acks()
        assert cluster.view("bystander", [1])
        grown = cluster.usage()[1][1] - before[1][1]
        print(f"10,000 connections: {grown / 1e6:.1f} MB")
        cpu = cluster.usage()[1][0]
        bystander.wait_acks(200)
        print(f"CPU meanwhile: {cluster.usage()[1][0] - cpu:.2f} s")
    finally:
        for s in held:
            s.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, soft)
