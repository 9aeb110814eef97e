#!/usr/bin/env python3
"""judge - the same requests to a cluster of ours and to one of Kafka 3.9; their answers must be the same, field by field

    tests/oracle/wire/judge.py [--seed N] [--blocks N] [--port P] [--only API,API] [--verbose]
    tests/oracle/wire/judge.py --ibp 2.8 [...]                 clusters that still speak an older version
    tests/oracle/wire/judge.py --seed N --at BLOCK.NUMBER      that exchange again, with what came before it in its block

A block is a sequence of random exchanges about topics and groups of its own, so that each block can be had alone. Ends
with one line of counts.
"""

import argparse
import collections
import random
import re
import signal
import sys
import time

from compare import Normal, differences
from generate import Exchange
from known import is_known, strings
from messages import MESSAGES, decode_response, encode_request
from sides import Sides, Trouble, poll, receive_both, resolved
from talk import MORE, SCENARIOS, Talk
from world import World

import of_admin  # noqa: F401, E402
import of_frames  # noqa: F401, E402
import of_groups  # noqa: F401, E402
import of_logs  # noqa: F401, E402

PER_BLOCK = 200
UNKNOWN_SERVER_ERROR, LEADER_NOT_AVAILABLE, INVALID_TOPIC_EXCEPTION = -1, 5, 17
SETTLING = ("CreateTopics", "CreatePartitions", "DeleteTopics", "AlterPartitionReassignments", "ElectLeaders", "AlterPartition")
SHOWN = 3  # of each kind of difference


def learn(sides, exchange, answers):
    """What later requests of a block may refer to: what both have told."""
    if not all(isinstance(a, dict) for a in answers):
        return
    field = {"JoinGroup": "member_id", "Fetch": "session_id"}.get(exchange.api)
    if not field or not all(a.get(field) and a["error_code"] != UNKNOWN_SERVER_ERROR for a in answers):
        return
    key = ("member", exchange.body["group_id"]) if exchange.api == "JoinGroup" else ("session",)
    for side, answer in zip(sides.both, answers):
        side.known[key] = answer[field]


def topics_of(side):
    return sorted((t["name"], t["error_code"], sorted((p["partition_index"], p["leader_id"], p["leader_epoch"],
                                                       sorted(p["isr_nodes"])) for p in t["partitions"]))
                  for t in side.ask("Metadata", 7, {"topics": None})["topics"])


def groups_of(side, prefix):
    """Those of the block; a scenario waits for its own."""
    groups = side.ask("ListGroups", 4, {"states_filter": []})["groups"] if prefix else []
    return sorted((g["group_id"], g["group_state"]) for g in groups if g["group_id"].startswith(prefix))


def made_of(answers):
    """Names of topics that are only just made."""
    return {t.get("name") for a in answers if isinstance(a, dict) for t in a.get("topics") or ()
            if isinstance(t, dict) and t.get("error_code") == LEADER_NOT_AVAILABLE} - {None}


def short(what, most=3000):
    """In one line; long repetitions are told by their number."""
    if isinstance(what, list) and what and isinstance(what[0], dict):
        what = [v.get("name", v) for v in what] if len(what) > 20 else what
    text = re.sub(r"(.)\1{20,}", lambda m: f"{m[1]}*{len(m[0])}", str(what))
    return text if len(text) <= most else text[:most] + "..."


OFFSETS = "__consumer_offsets"


def without_commits(topic, side):
    """Records of groups are full of ids and times of their coordinator's own, and what is deleted with two topics is one
    batch or two, as the controller tells of them: only whether there are any is compared."""
    if OFFSETS == topic.get("topic") or topic.get("topic_id") == side.known.get(("topic", OFFSETS), ""):
        for p in topic["partitions"]:
            p["records"] = b"some" if p["records"] else b""
    return topic


def shared(answer, keys, side):
    """Without the APIs that only one of them has, which are told once; partitions of a topic in one list."""
    if isinstance(answer, dict) and "api_keys" in answer:
        answer["api_keys"] = [k for k in answer["api_keys"] if k["api_key"] in keys]
    if isinstance(answer, dict) and any("partitions" in t and "records" in repr(t) for t in answer.get("responses", ())):
        topics = {}
        for t in (without_commits(t, side) for t in answer["responses"]):
            topics.setdefault(t.get("topic", t.get("topic_id")), {**t, "partitions": []})["partitions"] += t["partitions"]
        answer["responses"] = list(topics.values())
    return answer


class Judge:
    def __init__(self, sides, options):
        self.sides, self.options = sides, options
        self.normals = [Normal(side) for side in sides.both]
        self.unsettled = self.last_views = None
        self.count, self.keys, self.names, self.prefix, self.known, self.kinds, self.answers = 0, set(), [], "", collections.Counter(), collections.Counter(), collections.Counter()

    def api_versions(self):
        """What both serve: {API: (least, most version)}; says what differs."""
        kafka, ours = ({k["api_key"]: (k["min_version"], k["max_version"]) for k in
                        side.ask("ApiVersions", 3, {"client_software_name": "oracle", "client_software_version": "1"})["api_keys"]}
                       for side in self.sides.both)
        names = {m.key: m.name for m in MESSAGES.values() if m.kind == "request"}
        missing = [names[k] for k in sorted(kafka) if k not in ours]
        print(f"of Kafka's {len(kafka)} APIs {len(missing)} are missing here: {', '.join(missing) or 'none'}")
        for key in sorted(ours):
            self.count += 1
            if kafka.get(key) != ours[key]:
                self.differs("ApiVersions", (f"{names[key]}: versions", kafka.get(key), ours[key]), "the list")
        self.keys = {k for k in ours if k in kafka}
        self.apis = {names[k]: ours[k] for k in self.keys}

    def differs(self, api, difference, where, exchange=""):
        path, kafka, ours = difference
        codes = f" {kafka} {ours}" if isinstance(kafka, int) and isinstance(ours, int) else ""
        kind = f"{api}: {path}{codes}"
        self.kinds[kind] += 1
        if self.kinds[kind] <= SHOWN:
            self.shows(f"differs at {where}: {kind}", difference, exchange)

    @staticmethod
    def shows(head, difference, exchange):
        print(f"{head}\n  {short(exchange)}\n  Kafka: {short(difference[1])}\n  ours:  {short(difference[2])}", flush=True)

    def decoded(self, side, exchange, answer):
        if isinstance(answer, str):
            return answer
        version = exchange.version
        try:
            out = decode_response(exchange.api, version, answer)
        except (ValueError, IndexError) as e:
            return f"not decoded: {e}: {answer.hex()}"
        return out

    def exchange(self, exchange, where):
        """Both answers, Kafka's first; None where it did not take place."""
        requests = [exchange.bytes(side.known) for side in self.sides.both]
        if None in requests:
            return None
        for side, data in zip(self.sides.both, requests):
            side.send(data)
            if not exchange.has_answer():
                side.send(encode_request("ApiVersions", 0, {}))
        raw = receive_both(self.sides.both)
        if not exchange.has_answer():
            raw = [r if isinstance(r, str) else "goes on" for r in raw]
        answers = self.compare_raw(exchange, raw, where)
        made = made_of(answers)
        if exchange.api in SETTLING or made:
            self.settle(made)
        if exchange.api == "Produce":
            time.sleep(0.001)  # or two batches may have the same time of the broker, and the first of them is the latest
        if exchange.api == "JoinGroup" and self.names and raw[0] not in ("closed", "no answer"):
            time.sleep(0.08)  # who does not go on to synchronise is put out of the group, of each at its own pace
            self.settle()
        return answers

    def name_damaged(self, read):
        """A member's id that was damaged in the request is another one on each side, and told again."""
        texts = [strings(asked) for asked in read]
        for n in self.normals:
            n.told = {}
        for i, pair in enumerate(zip(*texts)):
            if len({n.text(t) for n, t in zip(self.normals, pair) if isinstance(t, str)}) > 1:
                for n, t in zip(self.normals, pair):
                    n.tell(t, f"text {i} of the request")

    def compare_raw(self, exchange, raw, where):
        answers = [self.decoded(*x) for x in zip(self.sides.both, (exchange,) * 2, raw)]
        learn(self.sides, exchange, answers)
        for a in answers:
            if exchange.api == "ListGroups" and isinstance(a, dict):  # older ones end at times of their own
                a["groups"] = [g for g in a["groups"] if g["group_id"].startswith(self.prefix)]
        read = exchange.read or [resolved(exchange.asked, side.known) for side in self.sides.both]
        self.name_damaged(read)
        kafka, ours = (n.value(shared(a, self.keys, n.side)) for n, a in zip(self.normals, answers))
        self.count += 1
        if self.options.verbose:
            print(f"{where}: {exchange}\n  Kafka: {kafka}\n  ours:  {ours}")
        for difference in differences(kafka, ours)[:1]:
            rule = is_known(exchange, read[0], difference)
            if rule:
                self.known[f"{rule}: {exchange.api}: {difference[0]}"] += 1
                if self.options.known:
                    self.shows(f"known by {rule}, {where}: {exchange.api} v{exchange.version}: {difference[0]}", difference, exchange)
            else:
                self.differs(exchange.api, difference, where, exchange)
        return answers

    def compare_text(self, what, answers, where):
        self.count += 1
        if answers[0] != answers[1]:
            self.differs("bytes", (what, *answers), where)

    def settle(self, made=frozenset()):
        """Topics are made and go a little after their request was answered, in each cluster at its own pace."""
        def is_settled():
            views = [(topics_of(side), groups_of(side, self.prefix)) for side in self.sides.both]
            is_there = all(made <= {t[0] for t in topics} for topics, _ in views)
            is_same = views[0] == views[1] and is_there or views == self.unsettled
            self.last_views = views
            return is_same and all(map(self.is_gone, self.sides.both))
        try:
            poll("topics should settle", 5, is_settled)
        except Trouble:  # a difference, which the next answers will tell; it is not waited for again
            self.unsettled = self.last_views

    def is_gone(self, side):
        """Whether none of the topics of this block waits for its end."""
        names = self.names
        answer = side.ask("CreatePartitions", 1, {"topics": [{"name": n, "count": 1, "assignments": None} for n in names],
                                                  "timeout_ms": 1000, "validate_only": True})
        return all(r["error_code"] != INVALID_TOPIC_EXCEPTION for r in answer["results"])

    def scenario(self, function):
        talk = Talk(self, function.__name__)
        self.names, self.prefix = [], ""
        started = time.monotonic()
        function(talk)
        for side in self.sides.both:
            World.clear(side)
        print(f"{function.__name__}: {talk.count} steps, {time.monotonic() - started:.1f} s", flush=True)

    def block(self, number, apis, upto=PER_BLOCK):
        rng = random.Random(f"{self.options.seed}/{number}")
        world = World(number, rng, self.options.untidy)
        self.names, self.prefix = world.made + world.new, f"g{number}-"
        for side in self.sides.both:
            world.prepare(side)
        done = 0
        while done < upto:
            self.exchange(Exchange.random(world, apis), f"seed {self.options.seed}, {number}.{done}")
            done += 1
        for side in self.sides.both:
            world.clear(side)


def play(judge, options):
    judge.api_versions()
    apis = {k: v for k, v in judge.apis.items() if not options.only or k in options.only.split(",")}
    if options.at:
        block, number = map(int, options.at.split("."))
        judge.block(block, apis, number + 1)
        return
    is_whole = not options.only and not options.first
    for function in SCENARIOS if is_whole else ():
        if options.scenario in (None, function.__name__):
            judge.scenario(function)
    for number in range(options.first, options.first + options.blocks * (options.scenario is None)):
        judge.block(number, apis)
    for function in MORE if is_whole and options.full else ():  # the second broker would take some of the new topics
        if options.scenario in (None, function.__name__):
            judge.scenario(function)


def end(number, _frame):
    """As Ctrl-C does: whoever is in a block of `with` leaves it, and what was started is ended."""
    sys.exit(128 + number)


def run(options):
    signal.signal(signal.SIGTERM, end)
    with Sides(options.port, options.keep, options.ibp) as sides:
        judge = Judge(sides, options)
        play(judge, options)
    for kind, count in judge.kinds.most_common():
        print(f"{count:6d} {kind}")
    for rule, count in judge.known.most_common():
        print(f"{count:6d} known: {rule}")
    failed = sum(judge.kinds.values())
    print(f"{judge.count - failed} passed, {failed} failed, 0 skipped")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--blocks", type=int, help="2; 250 with --full")
    parser.add_argument("--first", type=int, default=0, help="the first block")
    parser.add_argument("--full", action="store_true", help="50,000 exchanges, and the scenarios that take long")
    parser.add_argument("--at", metavar="BLOCK.NUMBER")
    parser.add_argument("--scenario", metavar="NAME", help="only this one")
    parser.add_argument("--untidy", type=float, default=0.05, metavar="SHARE", help="of requests that may name something twice")
    parser.add_argument("--only", metavar="API,API")
    parser.add_argument("--ibp", metavar="VERSION", help="inter.broker.protocol.version of both clusters")
    parser.add_argument("--port", type=int, default=28000)
    parser.add_argument("--keep", metavar="DIR", help="leave the clusters' files there")
    parser.add_argument("--known", action="store_true", help="show what differs on purpose, too")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if options.blocks is None:
        options.blocks = 250 if options.full else 2
    sys.exit(1 if run(options) else 0)


if __name__ == "__main__":
    main()
