"""Just enough of the Kafka protocol to ask a given broker, and no other, one thing."""

import socket
import struct

NOT_LEADER, LOADING = 6, 14


def _crc32c_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = (n >> 1) ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


_TABLE = _crc32c_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def varint(n):
    n = (n << 1) ^ (n >> 63)
    out = b""
    while n > 0x7F:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def string(text):
    return struct.pack(">h", -1) if text is None else struct.pack(">h", len(text)) + text.encode()


def array(items):
    return struct.pack(">i", len(items)) + b"".join(items)


def batch(value, magic=2):
    """A record batch v2 that holds one record without a key."""
    record = b"\0" + varint(0) + varint(0) + varint(-1) + varint(len(value)) + value + varint(0)
    record = varint(len(record)) + record
    body = struct.pack(">hiqqqhii", 0, 0, 0, 0, -1, -1, -1, 1) + record
    return struct.pack(">qiibI", 0, 9 + len(body), -1, magic, crc32c(body)) + body


class Reader:
    """A cursor over an answer."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, fmt):
        value = struct.unpack_from(">" + fmt, self.data, self.at)[0]
        self.at += struct.calcsize(">" + fmt)
        return value

    def string(self):
        length = self.take("h")
        if length < 0:
            return None
        self.at += length
        return self.data[self.at - length:self.at].decode()

    def array(self, item):
        return [item() for _ in range(self.take("i"))]


class Connection:
    """One connection; requests may be sent now and their answers read later, in order."""

    def __init__(self, host, port, seconds=10):
        self.socket = socket.create_connection((host, port), seconds)
        self.socket.settimeout(seconds)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, key, version, body):
        frame = struct.pack(">hhi", key, version, 7) + string("tests") + body
        self.socket.sendall(struct.pack(">i", len(frame)) + frame)

    def _exactly(self, count):
        data = bytearray()
        while len(data) < count:
            chunk = self.socket.recv(count - len(data))
            if not chunk:
                raise ConnectionResetError("closed by the broker")
            data += chunk
        return bytes(data)

    def answer(self):
        reader = Reader(self._exactly(struct.unpack(">i", self._exactly(4))[0]))
        reader.take("i")
        return reader

    def api_versions(self):
        """[(key, lowest, highest version)] that the broker serves."""
        self.send(18, 0, b"")
        r = self.answer()
        assert r.take("h") == 0
        return r.array(lambda: (r.take("h"), r.take("h"), r.take("h")))

    def metadata(self, topic=None):
        """(broker ids, controller, {partition: (leader, replicas, isr)}); the last is {} without the topic."""
        brokers, controller, topics = self.metadata_of([topic] if topic else [])
        return brokers, controller, topics.get(topic, {})

    def metadata_of(self, names):
        """The same of several topics: {topic: partitions}."""
        self.send(3, 1, array([string(name) for name in names]))
        r = self.answer()
        brokers = r.array(lambda: (r.take("i"), r.string(), r.take("i"), r.string())[0])
        controller = r.take("i")

        def partition():
            r.take("h")
            return r.take("i"), (r.take("i"), r.array(lambda: r.take("i")), r.array(lambda: r.take("i")))

        def one_topic():
            r.take("h")
            return r.string(), (r.take("b"), dict(r.array(partition)))[1]
        return sorted(brokers), controller, dict(r.array(one_topic))

    def endpoints(self):
        """{broker id: (host, port)} of the listener that was connected to."""
        self.send(3, 1, array([]))
        r = self.answer()
        return dict(r.array(lambda: (r.take("i"), (r.string(), r.take("i")), r.string())[:2]))

    def alter_configs(self, kind, name, settings):
        """(error code, message) of IncrementalAlterConfigs v0; a value of None deletes."""
        edits = [string(k) + struct.pack(">b", 1 if v is None else 0) + string(None if v is None else str(v))
                 for k, v in settings.items()]
        self.send(44, 0, array([struct.pack(">b", kind) + string(name) + array(edits)]) + b"\0")
        r = self.answer()
        r.take("i")
        return r.array(lambda: (r.take("h"), r.string(), r.take("b"), r.string()))[0][:2]

    def describe_configs(self, kind, name, keys):
        """{key: value} of DescribeConfigs v1."""
        self.send(32, 1, array([struct.pack(">b", kind) + string(name) + array([string(k) for k in keys])]) + b"\0")
        r = self.answer()
        r.take("i")

        def config():
            key, value, *_ = r.string(), r.string(), r.take("b"), r.take("b"), r.take("b"), r.array(
                lambda: (r.string(), r.string(), r.take("b")))
            return key, value

        def result():
            code, message, *_ = r.take("h"), r.string(), r.take("b"), r.string()
            assert code == 0, message
            return dict(r.array(config))
        return r.array(result)[0]

    def topic_error(self, name):
        """The error code that Metadata has for a topic."""
        self.send(3, 1, array([string(name)]))
        r = self.answer()
        r.array(lambda: (r.take("i"), r.string(), r.take("i"), r.string()))
        r.take("i")
        return r.array(lambda: (r.take("h"), r.string(), r.take("b"), r.array(
            lambda: (r.take("h"), r.take("i"), r.take("i"), r.array(lambda: r.take("i")),
                     r.array(lambda: r.take("i"))))))[0][0]

    def coordinator(self, group):
        """(error code, broker id) of a consumer group's."""
        self.send(10, 0, string(group))
        r = self.answer()
        return r.take("h"), r.take("i")

    def list_groups(self):
        """(error code, [(group, protocol type)]), of this broker alone."""
        self.send(16, 0, b"")
        r = self.answer()
        return r.take("h"), r.array(lambda: (r.string(), r.string()))

    def committed(self, group, topic, partitions):
        """(error code, {partition: offset}), asked of the coordinator."""
        self.send(9, 2, string(group) + array([string(topic) + array([struct.pack(">i", p) for p in partitions])]))
        r = self.answer()

        def partition():
            number, offset, _, code = r.take("i"), r.take("q"), r.string(), r.take("h")
            assert code == 0, f"offset of {topic}-{number}: error {code}"
            return number, offset
        topics = dict(r.array(lambda: (r.string(), dict(r.array(partition)))))
        return r.take("h"), topics.get(topic, {})

    def commit_in_zookeeper(self, group, topic, offsets, metadata=""):
        """OffsetCommit v0 of {partition: offset}; {partition: error code}."""
        self.send(8, 0, string(group) + array([string(topic) + array(
            [struct.pack(">iq", p, offset) + string(metadata) for p, offset in offsets.items()])]))
        r = self.answer()
        return dict(r.array(lambda: (r.string(), dict(r.array(lambda: (r.take("i"), r.take("h"))))))[0][1])

    def committed_in_zookeeper(self, group, topic, partitions):
        """OffsetFetch v0; {partition: (offset, error code)}."""
        self.send(9, 0, string(group) + array([string(topic) + array([struct.pack(">i", p) for p in partitions])]))
        r = self.answer()

        def partition():
            number, offset, _ = r.take("i"), r.take("q"), r.string()
            return number, (offset, r.take("h"))
        return dict(r.array(lambda: (r.string(), dict(r.array(partition))))[0][1])

    def init_producer_id(self):
        """An id of no transactions, as (id, epoch); None while the broker has no block of them."""
        self.send(22, 1, string(None) + struct.pack(">i", 1000))
        r = self.answer()
        _, code, found = r.take("i"), r.take("h"), (r.take("q"), r.take("h"))
        assert code in (0, LOADING), f"InitProducerId: error {code}"
        return found if code == 0 else None

    def create_topic(self, name, partitions, replicas, configs=()):
        """The error code and message."""
        return self.create_topics([name], partitions, replicas, configs)[0][1:]

    def create_topics(self, names, partitions, replicas, configs=(), timeout_ms=20000):
        """[(name, error code, message)] of one request."""
        rest = struct.pack(">ih", partitions, replicas) + array([]) + array(
            [string(k) + string(v) for k, v in dict(configs).items()])
        self.send(19, 2, array([string(name) + rest for name in names]) + struct.pack(">ib", timeout_ms, 0))
        r = self.answer()
        r.take("i")
        return r.array(lambda: (r.string(), r.take("h"), r.string()))

    def delete_topic(self, name):
        """The error code."""
        self.send(20, 1, array([string(name)]) + struct.pack(">i", 20000))
        r = self.answer()
        r.take("i")
        return r.array(lambda: (r.string(), r.take("h")))[0][1]

    def send_produce(self, topic, partition, value, acks=-1, timeout_ms=5000):
        self.send_records(topic, partition, batch(value), acks, timeout_ms)

    def send_records(self, topic, partition, records, acks=-1, timeout_ms=5000):
        body = struct.pack(">ii", partition, len(records)) + records
        self.send(0, 3, string(None) + struct.pack(">hi", acks, timeout_ms)
                  + array([string(topic) + array([body])]))

    def produce_answer(self):
        """(error code, base offset) of the one partition."""
        r = self.answer()

        def partition():
            return r.take("i"), r.take("h"), r.take("q"), r.take("q")
        topics = r.array(lambda: (r.string(), r.array(partition)))
        return topics[0][1][0][1:3]
