"""compare - answers without what each cluster has of its own, and where two of them differ"""

import re
import struct
import time
import zlib

from batches import crc32c
from known import identity
from sides import NO_ID

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
ID64 = re.compile(r"\b[A-Za-z0-9_-]{22}\b")
NO_TEXT = re.compile(r"(\ufffd|\\x[0-9a-f]{2})+")  # Kafka's mark for bytes that are no text, and messages.py's
PORT = re.compile(r"(127\.0\.0\.1[:, (]+|:)(\d{4,5})\b")
DAY = 86400000
# By the name of a field: what each cluster has of its own.
OWN = {"cluster_id", "total_bytes", "usable_bytes"}
# By the name of a field: own unless it is one of these values.
OWN_UNLESS = {"session_id": (0,), "broker_epoch": (-1, 0), "replica_epoch": (-1,)}


def unpacked(payload):
    """What gzip packed: two compressors give different bytes."""
    try:
        return b"gzip:" + zlib.decompress(payload, 31)
    except zlib.error:
        return payload


def new_batch(whole, now):
    """Format 2. Where a byte may differ, the checksum may, and only its being right counts."""
    same = crc32c(whole[21:]) == struct.unpack_from(">I", whole, 17)[0]
    is_recent = whole[22] & 8 and abs(struct.unpack_from(">q", whole, 35)[0] - now) < DAY
    payload = unpacked(whole[61:]) if whole[22] & 7 == 1 else whole[61:]
    return whole[:17] + (b"good" if same else b"bad!") + whole[21:35] + (b"recently" if is_recent else whole[35:43]) + \
        whole[43:61] + payload


def old_message(whole, now):
    """Formats 0 and 1."""
    at = 18
    same = zlib.crc32(whole[16:]) == struct.unpack_from(">I", whole, 12)[0]
    head = whole[16:18]
    if whole[16] == 1:
        is_recent = abs(struct.unpack_from(">q", whole, 18)[0] - now) < DAY
        head, at = head + (b"recently" if is_recent else whole[18:26]), 26
    if whole[16] == 1 and is_recent and whole[17] & 7:
        return whole[:8] + (b"good" if same else b"bad!") + head + b"packed, each with the time of the broker"
    size = max(struct.unpack_from(">i", whole, at)[0], 0) + at + 8
    if whole[17] & 7 == 1 and len(whole) > size:
        return whole[:8] + (b"good" if same else b"bad!") + head + whole[at:size - 4] + unpacked(whole[size:])
    return whole[:12] + (b"good" if same else b"bad!") + head + whole[at:]


def batch_view(data):
    """Records as text, batch by batch; times of the broker's own count as one, and so its checksum."""
    out, at, now = [], 0, time.time() * 1000
    while len(data) - at >= 17:
        size = struct.unpack_from(">i", data, at + 8)[0] + 12
        whole = data[at:at + size]
        if size < 26 or len(whole) < size or (whole[16] > 0 and size < (61 if whole[16] == 2 else 34)):
            break
        out.append((new_batch(whole, now) if whole[16] == 2 else old_message(whole, now)).hex())
        at += size
    rest = data[at:]
    if len(rest) > 17 and rest[16] == 1 and rest[17] & 8:
        return out + ["a part, packed with the time of the broker"]
    if len(rest) > 17 and rest[16] < 2 and rest[17] & 7 == 1:  # two compressors give different bytes, and a checksum of them
        return out + [f"part: {rest[:12].hex()} {rest[16:18].hex()} packed, {len(rest)} bytes"]
    return out + ([f"part: {rest.hex()}"] if rest else [])


class Normal:
    """What may be compared of one side's answers."""

    def __init__(self, side):
        self.side, self.told = side, {}  # texts of the request that have a name of their own
        self.dir = side.cluster.dir

    def ids(self):
        return ()

    def tell(self, text, name):
        """A text of the request goes by that name; Kafka tells it again with its mark for what is no text."""
        self.told[NO_TEXT.sub("?", text)] = name

    def text(self, text):
        text = NO_TEXT.sub("?", text.replace(self.dir, "DIR"))
        text = PORT.sub(lambda m: m[1] + (f"PORT+{int(m[2]) - self.side.port}" if 0 <= int(m[2]) - self.side.port < 200 else m[2]), text)
        return ID64.sub(lambda m: "id" if m[0] in self.ids() else m[0], UUID.sub("uuid", text))

    def value(self, value, name=""):
        if isinstance(value, dict) and value.get("name") == "__consumer_offsets":
            # Compared in other ways; here text that is none may count as more bytes.
            return {k: self.value(v, k) for k, v in value.items() if k != "partitions" or "partition_size" not in repr(v)}
        if isinstance(value, dict):
            return {k: self.value(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return sorted((self.value(v, name) for v in value), key=lambda v: (identity(v), repr(v)))
        if name == "records" and value is not None:
            return batch_view(value)
        if name in OWN or (name in OWN_UNLESS and value not in OWN_UNLESS[name]):
            return "own"
        if name == "port":
            return value - self.side.port if self.side.port <= value < self.side.port + 200 else value
        if isinstance(value, bytes):
            return value.hex()
        if isinstance(value, str):
            return value if value == NO_ID else self.told.get(NO_TEXT.sub("?", value)) or self.text(value)
        if isinstance(value, int) and abs(value - time.time() * 1000) < DAY:
            return "now"
        return value


def lists_differ(a, b, path):
    """Of lists of different lengths: what only one of them names; else both."""
    only = [[x for x in mine if identity(x) not in set(map(identity, other))] for mine, other in ((a, b), (b, a))]
    return [(path, *(only if any(only) else (a, b)))]


def found(a, b, path):
    if isinstance(a, dict) and isinstance(b, dict):
        return [d for k in sorted({*a, *b}) for d in found(a.get(k, "absent"), b.get(k, "absent"), f"{path}.{k}".lstrip("."))]
    if isinstance(a, list) and isinstance(b, list):
        return [d for x, y in zip(a, b) for d in found(x, y, path)] if len(a) == len(b) else lists_differ(a, b, path)
    return [] if a == b and type(a) is type(b) else [(path, a, b)]


def differences(a, b):
    """[(path, Kafka's, ours)], error codes first."""
    return sorted(found(a, b, "" if isinstance(a, dict) and isinstance(b, dict) else "answer"),
                  key=lambda d: not d[0].endswith("error_code"))
