"""generate - random requests from the schemas: valid ones, invalid ones, and bytes that are hardly one"""

import random
import struct

from batches import random_records
from known import identity, is_no_node
from messages import MESSAGES, Reader, default_of, encode_body, encode_header, lives
from sides import NO_ID, resolved
from world import LIMITS, NEVER_WILD, POOLS, SOME_ID

NUMBERS = {"i8": 7, "i16": 15, "u16": 16, "i32": 31, "i64": 63}
STRINGS = (b"\xff\xfe", "a\0b", "", " ", "x" * 300, "é", "null", "0", "-1")
# What is stored of these would be told again; the first two of the strings are other ones to us.
STORING = ("CreateTopics", "AlterConfigs", "IncrementalAlterConfigs", "JoinGroup", "SyncGroup", "OffsetCommit")
# Requests by which a controller or a broker that leaves rules a broker: their bytes are only cut, never changed.
ORDERS = ("LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown", "AlterPartition", "AllocateProducerIds",
          "AlterConfigs", "IncrementalAlterConfigs", "CreateTopics", "InitProducerId", "UpdateFeatures", "AlterClientQuotas")


class Generator:
    """The body of a request, field by field; `wild` of its values are any that the type can hold."""

    def __init__(self, world, api, version):
        self.world, self.rng, self.api, self.version = world, world.rng, api, version
        self.wild = self.rng.choice((0, 0, 0, 0.05, 0.3))
        # Nothing is named twice, and no topic goes without a partition; but sometimes, where it is soon forgotten.
        self.tidy = self.rng.random() >= world.untidy or api in ("Produce", "JoinGroup", "Fetch", "OffsetCommit",
                                                                       "AlterPartition")

    def body(self):
        body = self.fields(MESSAGES[self.api, "request"].root, "")
        if self.api == "CreatePartitions":  # a name that is none ends Kafka's work half way: what is made then would differ
            body["topics"] = [t for t in body["topics"] if is_no_node(t["name"])] or body["topics"]
        return body

    def fields(self, s, parent):
        return {f.name: self.value(f, parent) for f in s.fields if lives(f, self.version)}

    def value(self, field, parent):
        if field.tag is not None and self.rng.random() < 0.5:
            return default_of(field)
        if lives(field, self.version, "null") and field.type != "records" and self.rng.random() < 0.15:
            return None
        if not field.array:
            return self.one(field, parent)
        least = 1 if (parent and self.tidy) or self.api == "OffsetFetch" else 0
        items = [self.one(field, parent) for _ in range(self.rng.choice((least, 1, 1, 1, 1, 1, 2, 2, 3)))]
        return list({identity(i): i for i in items}.values()) if self.tidy else items

    def one(self, field, parent):
        if field.type == "struct":
            return self.fields(field.struct, field.name)
        if field.type == "records":
            return random_records(self.rng, self.version, (0, 1, 2, 1000, 7))
        is_bad_index = self.api == "CreateTopics" and field.name == "partition_index"  # Kafka makes such a partition
        if self.rng.random() < self.wild and field.name not in NEVER_WILD and not is_bad_index:
            return self.any(field)
        for key in (f"{self.api}.{parent}.{field.name}", f"{self.api}.{field.name}", f"{parent}.{field.name}", field.name):
            if POOLS.get(key):
                value = POOLS[key](self.world)
                if value is None and not lives(field, self.version, "null"):
                    return self.any(field) if field.name not in NEVER_WILD else default_of(field)
                return value
        return self.any(field)

    def any(self, field):
        rng = self.rng
        if field.type == "bool":
            return rng.random() < 0.3
        if field.type == "u16":
            return rng.choice((0, 1, 0xFFFF))
        if field.type in NUMBERS:
            edge = 1 << NUMBERS[field.type]
            return rng.choice((0, 1, -1, 2, 3, edge - 1, -edge))
        stored = self.api in STORING
        return rng.choice({"str": STRINGS[2 * stored:], "uuid": (NO_ID, SOME_ID), "bytes": (b"", b"x", b"\0" * 9),
                           "f64": (1e12, 1e9)}[field.type])


def has_limits(value):
    """Whether what bytes ask for is no more than the two clusters can bear."""
    if isinstance(value, list):
        return all(map(has_limits, value))
    if not isinstance(value, dict):
        return True
    return all((k not in LIMITS or LIMITS[k][0] <= v <= LIMITS[k][1]) and has_limits(v) for k, v in value.items())


def is_subscription(data):
    """Whether topics and user data of a consumer's subscription fit into its bytes; that it ends early does not matter."""
    def take(size, what):
        nonlocal data
        if size > len(data):
            raise ValueError
        out, data = data[:size], data[size:]
        return int.from_bytes(out, "big", signed=True) if what == "number" else out
    try:
        if len(data) < 6:
            return True
        take(2, "number")
        count = take(4, "number")
        if count > len(data):
            return False
        for _ in range(count):
            if len(data) < 2:
                return True
            take(max(take(2, "number"), 0), "text")
        return len(data) < 4 or take(4, "number") <= len(data)
    except ValueError:
        return False


def holds_up_kafka(api, asked):
    """A subscription that promises more than it has kills Kafka's end of the rebalance: nobody hears of the group again."""
    return (api == "JoinGroup" and asked is not None and asked.get("protocol_type") == "consumer"
            and not all(is_subscription(p["metadata"] or b"") for p in asked["protocols"] or ()))


def read_back(api, version, body):
    """What damaged bytes ask for; None where they are no request any more."""
    request = MESSAGES[api, "request"]
    try:
        return Reader(request, version, body).fields(request.root)
    except (ValueError, struct.error, IndexError):
        return None


def damaged(rng, api, data):
    """The bytes of a body, changed in one or two places."""
    how = rng.choice(("cut", "cut") if api in ORDERS else ("cut", "flip", "flip", "flip", "more", "less", "byte"))
    at = rng.randrange(len(data) or 1)
    if how == "cut" or not data:
        return data[:at]
    if how == "flip":
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:]
    if how == "byte":
        return data[:at] + bytes([rng.choice((0, 1, 127, 128, 255))]) + data[at + 1:]
    return data[:at] + bytes([rng.randrange(256)]) + data[at:] if how == "more" else data[:at] + data[at + 1:]


class Exchange:
    """One request, the same for both sides but for what each side has of its own."""

    def __init__(self, api, version, body, damage=None):
        self.api, self.version, self.body, self.damage, self.asked = api, version, body, damage, body
        self.read = []  # what each side reads of it

    @classmethod
    def random(cls, world, apis):
        rng = world.rng
        api = rng.choice(sorted(apis))
        version = rng.randint(*apis[api])
        body = Generator(world, api, version).body()
        if api == "JoinGroup" and version == 0:
            body["group_id"] = world.fresh_group()  # a second member would wait as long as the session of the first
        return cls(api, version, body, rng.random() if rng.random() < 0.12 else None)

    def bytes(self, known):
        """None where the damage would ask for too much."""
        asked = resolved(self.body, known)
        body = encode_body(self.api, self.version, asked)
        if self.damage is not None:
            body = damaged(random.Random(self.damage), self.api, body)
            asked = self.asked = read_back(self.api, self.version, body)
            if not has_limits(self.asked) or holds_up_kafka(self.api, self.asked):
                return None
        self.read.append(asked)
        return encode_header(self.api, self.version) + body

    def has_answer(self):
        return not (self.api == "Produce" and self.asked and self.asked["acks"] == 0)

    def __str__(self):
        damage = "" if self.damage is None else f" damaged by {self.damage}"
        return f"{self.api} v{self.version} {self.body}{damage}"
