"""talk - what a scenario says to both clusters, step by step; and the list of scenarios

A scenario is a function of a Talk. What a step is answered is compared; what later steps need of it is kept, for each
side its own:

    @scenario
    def a_member(talk):
        talk("JoinGroup", 4, {...}, keep={"me": "member_id"})
        talk("JoinGroup", 4, {..., "member_id": talk.own("me")})

New APIs are compared at random by being advertised; what they need of state is a scenario more.
"""

import random

from batches import T0, Batch, record
from generate import Exchange
from messages import Peer, encode_request
from sides import Ref, poll, resolved

SCENARIOS = []
MORE = []  # what only --full takes


def scenario(function):
    SCENARIOS.append(function)
    return function


def long_scenario(function):
    MORE.append(function)
    return function


def batch(*values, **more):
    """A batch of format 2 with these values."""
    records = [record(i, i, b"k", v.encode() if isinstance(v, str) else v) for i, v in enumerate(values)]
    return Batch(records, more.pop("codec", 0), **{"max_time": T0 + len(values) - 1, **more}).bytes()


class Talk:
    def __init__(self, judge, name):
        self.judge, self.name, self.others, self.count = judge, name, {}, 0
        self.rng = random.Random(f"{judge.options.seed}/{name}")

    def versions(self, api):
        """What both serve of an API; nothing where one of them does not. Without --full the ends, and one in between."""
        low, high = self.judge.apis.get(api, (0, -1))
        every = range(low, high + 1)
        return every if self.judge.options.full or len(every) < 3 else sorted({low, high, self.rng.choice(every)})

    def own(self, name):
        return Ref("own", name)

    def topic_id(self, topic):
        return Ref("topic", topic)

    def where(self):
        self.count += 1
        return f"{self.name}, step {self.count}"

    def __call__(self, api, version, body, keep=None):
        """Kafka's answer; keep={name: field of the answer} for later steps."""
        exchange = Exchange(api, version, body)
        answers = self.judge.exchange(exchange, self.where())
        return self.kept(answers, keep)

    def kept(self, answers, keep):
        for name, field in (keep or {}).items():
            for side, answer in zip(self.judge.sides.both, answers):
                if isinstance(answer, dict):
                    side.known["own", name] = answer[field]
        return answers[0]

    def begin(self, who, api, version, body):
        """Another client asks, and waits."""
        exchange = Exchange(api, version, body)
        for side in self.judge.sides.both:
            peer = self.others.setdefault((side.impl, who), Peer("127.0.0.1", side.port + 1, 8))
            peer.send(encode_request(api, version, resolved(body, side.known)))
        self.others[who] = exchange

    def end(self, who, keep=None):
        """The answer to what `begin` asked."""
        raw = [self.others[side.impl, who].receive() for side in self.judge.sides.both]
        return self.kept(self.judge.compare_raw(self.others[who], raw, self.where()), keep)

    def wait(self, api, version, body, is_so):
        """Until both answer so; not compared."""
        for side in self.judge.sides.both:
            poll(f"{self.name}: {api}", 20, lambda side=side: is_so(side.ask(api, version, body)))

    def raw(self, data, what):
        """Bytes as they are, on a connection of their own: whether they are answered is compared, and how that begins."""
        answers = []
        for side in self.judge.sides.both:
            with Peer("127.0.0.1", side.port + 1, 2) as peer:
                peer.socket.sendall(data)
                answer = peer.receive()
                answers.append(answer if isinstance(answer, str) else answer[:6].hex())
        self.judge.compare_text(what, answers, self.where())

    def topic(self, name, partitions=1, **configs):
        """A new topic, led by broker 1."""
        self.judge.names.append(name)
        plain = [{"partition_index": p, "broker_ids": [1]} for p in range(partitions)]
        settings = [{"name": k.replace("_", "."), "value": v} for k, v in configs.items()]
        for side in self.judge.sides.both:
            answer = side.ask("CreateTopics", 4, {"timeout_ms": 30000, "topics": [
                {"name": name, "num_partitions": -1, "replication_factor": -1, "assignments": plain, "configs": settings}]})
            assert answer["topics"][0]["error_code"] == 0, answer
        self.judge.settle()
        for side in self.judge.sides.both:
            for t in side.ask("Metadata", 12, {"topics": [{"name": name}]})["topics"]:
                side.known["topic", name] = t["topic_id"]

    def produce(self, version, topic, data, acks=-1, partition=0):
        return self("Produce", version, {"acks": acks, "timeout_ms": 10000, "topic_data": [
            {"name": topic, "partition_data": [{"index": partition, "records": data}]}]})

    def fetch(self, version, topic, offset, **more):
        names = {"topic": topic} if version < 13 else {"topic_id": self.topic_id(topic)}
        part = {"partition": more.pop("partition", 0), "fetch_offset": offset, "partition_max_bytes": 1 << 20,
                **more.pop("part", {})}
        who = {"replica_id": -1} if version < 15 else {}
        return self("Fetch", version, {**who, "max_wait_ms": 0, "min_bytes": 1, "isolation_level": 0,
                                       "topics": [{**names, "partitions": [part]}], **more})

    def list_offsets(self, version, topic, timestamp, **more):
        return self("ListOffsets", version, {"replica_id": -1, "topics": [{"name": topic, "partitions": [
            {"partition_index": 0, "timestamp": timestamp, **more}]}]})
