"""batches - record batches and message sets of every format and codec, whole or damaged, from a source of chance

No compressor is needed: every codec can say "these bytes are as they are".
"""

import os
import struct
import sys
import time
import zlib

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../system"))
from wire import crc32c, varint  # noqa: E402

NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)
T0 = (int(time.time()) - 2 * 86400) * 1000  # far enough from now, so that times which a broker gave can be told from these


def xxhash32(data):
    """Of fewer than 16 bytes: the checksum of an LZ4 frame's header."""
    one, two, three, five = 2654435761, 2246822519, 3266489917, 374761393
    h = five + len(data) & 0xFFFFFFFF
    for byte in data:
        h = h + byte * five & 0xFFFFFFFF
        h = (h << 11 | h >> 21) * one & 0xFFFFFFFF
    h = (h ^ h >> 15) * two & 0xFFFFFFFF
    h = (h ^ h >> 13) * three & 0xFFFFFFFF
    return h ^ h >> 16


def snappy_block(data):
    """The length, then one literal."""
    n, out = len(data), b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n]) + b"\xf4" + struct.pack("<H", len(data) - 1) + data if data else out + bytes([n])


def compress(codec, data, magic):
    if codec == GZIP:
        c = zlib.compressobj(6, zlib.DEFLATED, 31)
        return c.compress(data) + c.flush()
    if codec == SNAPPY:
        block = snappy_block(data)
        return b"\x82SNAPPY\0" + struct.pack(">iii", 1, 1, len(block)) + block
    if codec == LZ4:
        descriptor = b"\x60\x40"
        # Format 0 checks the frame's magic number too, which was a mistake of the first Kafka with LZ4.
        checked = b"\x04\x22\x4d\x18" + descriptor if magic == 0 else descriptor
        blocks = struct.pack("<I", len(data) | 1 << 31) + data if data else b""
        return b"\x04\x22\x4d\x18" + descriptor + bytes([xxhash32(checked) >> 8 & 255]) + blocks + b"\0\0\0\0"
    if codec == ZSTD:
        return b"\x28\xb5\x2f\xfd\x80" + struct.pack("<I", len(data)) + b"\0" + (
            struct.pack("<I", len(data) << 3 | 1)[:3] + data)  # a window of 1 KB; one raw block, the last
    return data


def with_length(data):
    return varint(-1) if data is None else varint(len(data)) + data


def record(delta, timestamp_delta, key, value, headers=()):
    body = b"\0" + varint(timestamp_delta) + varint(delta) + with_length(key) + with_length(value)
    body += varint(len(headers)) + b"".join(with_length(k) + with_length(v) for k, v in headers)
    return varint(len(body)) + body


class Batch:
    """A batch of format 2; whatever is not given is as a plain producer sends it."""

    def __init__(self, records, codec=NONE, **more):
        self.records, self.codec, self.more = records, codec, more

    def bytes(self):
        m = self.more
        body = compress(self.codec, b"".join(self.records), 2)
        attributes = m.get("attributes", 0) | self.codec
        last = m.get("last_delta", len(self.records) - 1)
        rest = struct.pack(">hiqqqhii", attributes, last, m.get("first_time", T0), m.get("max_time", T0),
                           m.get("producer_id", -1), m.get("producer_epoch", -1), m.get("sequence", -1),
                           m.get("count", len(self.records))) + body
        crc = crc32c(rest) ^ m.get("crc_flip", 0)
        return struct.pack(">qiibI", m.get("base_offset", 0), 9 + len(rest) + m.get("more_length", 0),
                           m.get("leader_epoch", -1), m.get("magic", 2), crc) + rest


def message(magic, offset, key, value, attributes=0, timestamp=T0, crc_flip=0):
    """Formats 0 and 1."""
    body = struct.pack(">bb", magic, attributes) + (struct.pack(">q", timestamp) if magic == 1 else b"")
    for part in (key, value):
        body += struct.pack(">i", -1 if part is None else len(part)) + (part or b"")
    crc = zlib.crc32(body) ^ crc_flip
    return struct.pack(">qiI", offset, 4 + len(body), crc) + body


def wrapper(magic, messages, codec, **more):
    return message(magic, more.pop("offset", len(messages) - 1), None, compress(codec, b"".join(messages), magic),
                   attributes=codec, **more)


def some_bytes(rng, null=0.2):
    return None if rng.random() < null else bytes(rng.choice(b"abcxyz\0\xff") for _ in range(rng.choice((0, 1, 3, 20, 100))))


def random_batch(rng, producer_ids):
    n = rng.choice((1, 1, 2, 3, 5))
    records = [record(i, i, some_bytes(rng), some_bytes(rng), [(b"h", b"v")] * rng.choice((0, 0, 1))) for i in range(n)]
    more = {"max_time": T0 + n - 1}
    if rng.random() < 0.4:
        more.update(producer_id=rng.choice(producer_ids), producer_epoch=rng.choice((0, 0, 0, 1)),
                    sequence=rng.choice((0, 0, n, 1, 2, 3, 5, 0x7FFFFFFF, -1)))
    if rng.random() < 0.25:
        more.update(rng.choice((
            {"count": n + 1}, {"count": -1}, {"count": 0}, {"last_delta": n}, {"last_delta": -1}, {"crc_flip": 1},
            {"magic": 3}, {"magic": -1}, {"magic": 1}, {"base_offset": 77}, {"attributes": 8}, {"attributes": 0x20},
            {"attributes": 5}, {"attributes": 7}, {"attributes": 0x40}, {"leader_epoch": 5}, {"more_length": 1},
            {"more_length": -1}, {"more_length": -60}, {"more_length": 1 << 30}, {"first_time": -1}, {"max_time": -1},
            {"first_time": -1, "max_time": -1}, {"max_time": T0 + 99})))
    codec = rng.choice((0, 0, 0, 1, 2, 3, 4))
    if rng.random() < 0.05 and codec == 0:  # Kafka fails on packed ones of which it has left out the keys
        records[0] = record(rng.choice((1, -1)), 0, None, b"x")
    if rng.random() < 0.05:
        records[-1] = records[-1][:-1]
    return Batch(records, codec, **more).bytes()


def random_set(rng):
    """A message set of format 0 or 1, plain or in a wrapper."""
    magic, n = rng.choice((0, 1)), rng.choice((1, 1, 2, 3))
    base = rng.choice((0, 0, 0, 5))
    flip = rng.choice((0,) * 12 + (1,))
    inner = [message(magic, base + i, some_bytes(rng), some_bytes(rng), timestamp=T0 + i, crc_flip=flip) for i in range(n)]
    if rng.random() < 0.5:
        return b"".join(inner)
    more = {"offset": base + n - 1 + rng.choice((0, 0, 0, 1)), "crc_flip": rng.choice((0,) * 12 + (1,))}
    return wrapper(magic, inner, rng.choice((GZIP, SNAPPY, LZ4, GZIP, SNAPPY, LZ4, ZSTD)), **more)


def random_records(rng, version, producer_ids):
    """What a Produce request carries for one partition."""
    kind = rng.random()
    if kind < 0.03:
        return rng.choice((b"", b"\0", b"\0" * 17, b"\0" * 61, b"\xff" * 61))
    old = kind < (0.85 if version < 3 else 0.1)
    data = random_set(rng) if old else random_batch(rng, producer_ids)
    if rng.random() < 0.08:
        data += random_set(rng) if rng.random() < 0.3 else random_batch(rng, producer_ids)
    damage = rng.random()
    if damage < 0.04:
        data = data[:rng.randrange(len(data))]
    elif damage < 0.10:
        at = rng.randrange(len(data))
        data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:]
    return data
