"""Everything at once, without a pause: members join, leave and die, brokers are stopped and killed, groups of every strategy
read one topic, and a group of static members must notice nothing. 15 seconds; 10 minutes with --full, or --storm SECONDS."""

import random
import time
from contextlib import ExitStack

import pytest

from cluster import Load, poll
from group import Group
from test_groups import SETS as SETS_OF_GROUPS
from test_groups import (PARTITIONS, confluent, finish, franz_go, groups, java_member, kafka_python,  # noqa: F401
                         kafkajs)

# Coordinators move when brokers end, and not at any other moment: see Storm.await_static().
SETS = (*SETS_OF_GROUPS, "auto.leader.rebalance.enable=false")
KINDS = {
    "range": (kafka_python, confluent, java_member, franz_go),
    "roundrobin": (kafka_python, confluent, java_member, franz_go),
    "sticky": (java_member, franz_go),
    "cooperative": (confluent, java_member, franz_go),
    "kafkajs": (kafkajs,),
}
# Not franz-go: it joins again, with what it owns now, when its coordinator cannot be reached for some seconds; whoever joins
# with something new makes a rebalance, in Kafka as here.
STATIC = (kafka_python, confluent, java_member)
SHORT = ("roundrobin", "cooperative")  # without --full
MOST_MEMBERS = 4


def programs(*kinds):
    """Those that can be had here."""
    out = []
    for kind in kinds:
        try:
            out.append(kind())
        except pytest.skip.Exception as e:
            print(f"without {kind.__name__}: {e}")
    return out


class Storm:
    """What happens, at random; every act is one that a cluster has to bear."""

    def __init__(self, load, chance):
        self.load, self.cluster, self.chance = load, load.cluster, chance
        self.kinds, self.static, self.instances, self.down = {}, None, {}, None
        self.acts = dict.fromkeys(("join", "leave", "crash", "restart", "stop", "kill", "start"), 0)

    def add(self, group, kinds):
        self.kinds[group] = kinds
        for _ in range(2):
            group.join(self.chance.choice(kinds))

    def add_static(self, group, kinds):
        self.static = group
        for number, kind in enumerate(kinds):
            name = f"instance-{number}"
            self.instances[name] = kind, group.join(kind, name)

    def come_or_go(self):
        group = self.chance.choice(list(self.kinds))
        if len(group.members) < 2 or len(group.members) < MOST_MEMBERS and self.chance.random() < 0.5:
            self.acts["join"] += 1
            group.join(self.chance.choice(self.kinds[group]))
        else:
            # kafkajs leaves only once it has reached every broker it knows, and no other is started while it is waited for.
            stuck = self.down and group.strategy == "kafkajs"
            act = "crash" if stuck else self.chance.choice(("leave", "crash"))
            self.acts[act] += 1
            getattr(group, act)(self.chance.choice(group.members))

    def restart_static(self):
        name = self.chance.choice(list(self.instances))
        kind, member = self.instances[name]
        self.acts["restart"] += 1
        self.chance.choice((self.static.leave, self.static.crash))(member)
        self.instances[name] = kind, self.static.join(kind, name)

    def await_static(self):
        """Until who has restarted is back. A leader that has joined, and whose coordinator dies before it has its
        assignment, joins again by its new id: that is a rebalance, in Kafka as here."""
        poll("static members should be back",
             lambda: self.static.check_alive() or all(member.claims() for member in self.static.members))

    def trouble_broker(self):
        self.await_static()
        if self.down:
            self.acts["start"] += 1
            self.cluster.start(self.down)
            self.down = None
            self.cluster.wait_in_sync(self.load.topic)
            self.cluster.wait_in_sync("__consumer_offsets")
        else:
            self.down = self.chance.choice(self.cluster.numbers)
            act = self.chance.choice(("stop", "kill"))
            self.acts[act] += 1
            self.cluster.run(act, self.down)

    def rage(self, seconds):
        end, deck = time.monotonic() + seconds, []
        while time.monotonic() < end:
            if not deck:
                deck = [self.come_or_go] * 4 + [self.restart_static] + [self.trouble_broker] * 2
                self.chance.shuffle(deck)
            deck.pop()()
            self.load.wait_acks(self.chance.randint(10, 80))
            for group in (*self.kinds, self.static):
                group.check_alive()
        if self.down:
            self.trouble_broker()


def test_storm(cluster, request):
    seconds = request.config.getoption("--storm") or (600 if request.config.getoption("--full") else 15)
    strategies = KINDS if seconds > 60 else SHORT
    kinds = {strategy: programs(*KINDS[strategy]) for strategy in strategies}
    static = programs(*STATIC)
    if len(static) < 2 or not any(kinds.values()):
        pytest.skip("fewer than two client libraries can be had here")
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    cluster.create_topic("storm", PARTITIONS)
    with ExitStack() as stack:
        storm = Storm(stack.enter_context(Load(cluster, "storm", PARTITIONS, rate=300)), random.Random(seed))
        for strategy, found in kinds.items():
            if found:
                storm.add(stack.enter_context(Group(storm.load, strategy, f"storm-{strategy}")), found)
        storm.add_static(stack.enter_context(Group(storm.load, "range", "storm-static")), static)
        all_groups = [*storm.kinds, storm.static]
        for group in all_groups:
            group.wait_settled()
        settled = storm.static.generations()
        storm.rage(seconds)
        for group in all_groups:
            group.wait_settled()
            group.wait_progress()
        print(f"acts: {storm.acts}")
        noticed = storm.static.generations() - settled
        assert not noticed, f"static members had settled in one of {sorted(settled)}, and then came {sorted(noticed)}"
        finish(*all_groups)
