"""klamm why and klamm can-stop: each trouble is made on a real cluster, and has to be explained together with what
unblocks it; once that is done all is well again."""

import json
import os
import struct
import subprocess

import pytest
from cluster import Cluster, poll
from fixtures import finish, new_directory
from wire import array, string

SETS = ("group.initial.rebalance.delay.ms=0", "offsets.topic.num.partitions=4", "replica.lag.time.max.ms=3000")


@pytest.fixture(scope="module")
def module_cluster(request):
    cluster = Cluster(new_directory("test_why"), sets=SETS)
    try:
        cluster.up()
        yield cluster
    finally:
        finish(request, cluster)


def klamm(cluster, *words):
    done = subprocess.run([f"{cluster.programs()}/klamm", *map(str, words)], capture_output=True, text=True,
                          check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


def zookeeper(cluster):
    return f"{cluster.zk_host}:{cluster.port + 101}"


def why(cluster, *subject, wants=None):
    """The findings. Exit code and the judgement in JSON agree."""
    code, out, err = klamm(cluster, "why", "-b", cluster.bootstrap(), "-z", zookeeper(cluster), "--timeout", 700,
                           "-o", "json", *subject)
    assert code in (0, 1) and not err, f"why {subject}: exit {code}: {out}{err}"
    said = json.loads(out)
    assert said["well"] == (code == 0), out
    assert wants is None or code == wants, out
    return said["findings"]


def can_stop(cluster, broker, *more):
    code, out, err = klamm(cluster, "can-stop", broker, "-b", cluster.bootstrap(), "--timeout", 700, *more)
    return code, out + err


def find(findings, kind, name):
    """The finding about one thing, or None."""
    for f in findings:
        if f["kind"] == kind and any(item["name"] == str(name) for item in f["items"]):
            return f
    return None


def expect(findings, kind, name, what, because=(), unblock=()):
    """There is such a finding, with these reasons and ways out; every reason has a source."""
    f = find(findings, kind, name)
    assert f and what in f["what"], f"no {kind} {name} with '{what}' in {json.dumps(findings, indent=1)}"
    reasons = [f'{r["text"]} [{r["source"]}]' for r in f["because"]]
    assert all(r["source"] for r in f["because"]), f
    for text in because:
        assert any(text in r for r in reasons), f"'{text}' is no reason: {json.dumps(f, indent=1)}"
    for text in unblock:
        assert any(text in u for u in f["unblock"]), f"'{text}' unblocks not: {json.dumps(f, indent=1)}"


def wait_well(cluster):
    poll("all should be well", lambda: not why(cluster))
    assert why(cluster, wants=0) == []


def create(cluster, topic, assignment, *configs):
    """With the replicas given: "1:2,2:3"."""
    words = [word for config in configs for word in ("--config", config)]
    code, out, err = klamm(cluster, "topics", "-b", cluster.bootstrap(), "--create", "--topic", topic,
                           "--replica-assignment", assignment, *words)
    assert code == 0, out + err
    cluster.wait_in_sync(topic)


def produce(cluster, topic, count):
    code, out, err = klamm(cluster, "produce", "-b", cluster.bootstrap(), "-t", topic, "-c", count, "-q")
    assert code == 0, out + err


def move(cluster, topic, replicas):
    path = os.path.join(cluster.dir, f"move-{topic}.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"version": 1, "partitions": [{"topic": topic, "partition": 0, "replicas": replicas}]}, f)
    code, out, err = klamm(cluster, "reassign", "--bootstrap-server", cluster.bootstrap(), "--execute",
                           "--reassignment-json-file", path)
    assert code == 0, out + err


def roles(cluster):
    """The controller, which lives on, and the other two."""
    controller = cluster.controller()
    return [controller, *(n for n in cluster.numbers if n != controller)]


def test_all_is_well(cluster):
    create(cluster, "fine", "1:2:3,2:3:1", "min.insync.replicas=2")
    assert why(cluster, wants=0) == []
    code, out, _ = klamm(cluster, "why", "-b", cluster.bootstrap())
    assert code == 0 and out.startswith("all is well: 3 broker(s)"), out
    expect(why(cluster, "controller", wants=0), "controller", cluster.controller(), "is there and answers",
           ["held by session 0x"])
    expect(why(cluster, "broker", 1, wants=0), "broker", 1, "registered and answers", ["its id is held by 127.0.0.1"])
    assert why(cluster, "topic", "fine:1", wants=0) == []
    for number in cluster.numbers:
        assert can_stop(cluster, number) == (0, f"yes: broker {number} may be stopped\n") or \
            number == cluster.controller()
    code, out = can_stop(cluster, cluster.controller())
    assert code == 0 and "it is the controller" in out, out


def test_wrong_command_lines(cluster):
    at = ("-b", cluster.bootstrap())
    for words in (("why",), ("why", *at, "nonsense"), ("why", *at, "topic"), ("why", *at, "broker", "x"),
                  ("why", *at, "topic", "t:x"), ("why", *at, "controller", "1"), ("why", *at, "--watch", "2"),
                  ("can-stop", *at), ("can-stop", "1"), ("can-stop", "x", *at), ("can-stop", "9", *at),
                  ("can-stop", "1", "2", *at)):
        code, out, err = klamm(cluster, *words)
        assert (code, out) == (2, "") and err.count("\n") == 1, (words, code, out, err)


def test_nobody_to_ask(cluster):
    code, out, _ = klamm(cluster, "why", "-b", "127.0.0.1:1", "--timeout", 500)
    assert code == 1 and "no broker answers there" in out, out
    code, out, err = klamm(cluster, "can-stop", 1, "-b", "127.0.0.1:1", "--timeout", 500)
    assert code == 3 and "cannot be known" in out, out + err
    # ZooKeeper alone leads to the brokers; one that is not there keeps nobody from asking the brokers.
    code, out, _ = klamm(cluster, "why", "-z", zookeeper(cluster))
    assert code == 0 and "all is well: 3 broker(s)" in out, out
    code, out, _ = klamm(cluster, "why", "-b", cluster.bootstrap(), "-z", "127.0.0.1:1", "--timeout", 500)
    assert code == 1 and "ZooKeeper 127.0.0.1:1: not to be reached" in out, out
    code, out, _ = klamm(cluster, "why", "-b", cluster.bootstrap(), "-z", zookeeper(cluster) + "/nothing")
    assert code == 1 and "the chroot is not there" in out, out


def test_a_broker_stands_still(cluster):
    create(cluster, "waits", "1:2:3,2:3:1,3:1:2", "min.insync.replicas=3")
    _, _, paused = roles(cluster)
    cluster.run("pause", paused)
    expect(why(cluster, "broker", paused, wants=1), "broker", paused, "registered, but does not answer",
           [f"its id is held by 127.0.0.1:{cluster.port + paused}, session 0x", "no answer within 700 ms"],
           ["kill -CONT", f"start broker {paused} again"])
    code, out = can_stop(cluster, next(n for n in cluster.numbers if n != paused))
    assert code == 1 and "would be below min ISR" in out and f"broker {paused} " in out, out
    cluster.wait_unregistered(paused)
    poll("the partition should be below its min ISR",
         lambda: "below min ISR (2 of 3)" in json.dumps(why(cluster, "topic", "waits:0")))
    expect(why(cluster, "topic", "waits:0"), "partition", "waits-0", "writes with acks=all are refused",
           ["min.insync.replicas=3 [DescribeConfigs]", f"broker {paused} is not registered: it is down "
            f"[/brokers/ids/{paused}]"], [f"start broker {paused} again"])
    assert "since 20" in json.dumps(why(cluster, "topic", "waits:0"))
    expect(why(cluster), "broker", paused, "not registered", [f"[/brokers/ids/{paused}]", "have a replica on it"],
           [f"start broker {paused}"])
    cluster.run("resume", paused)
    wait_well(cluster)
    code, out = can_stop(cluster, paused)
    assert code == 1 and "leaves none to spare" in out and "min.insync.replicas=2" in out, out


def test_the_last_in_sync_replica_is_lost(cluster):
    """Also: a deletion that waits for the same broker."""
    _, alive, last = roles(cluster)
    create(cluster, "lost", f"{last}:{alive}", "min.insync.replicas=1")
    create(cluster, "doomed", f"{alive}:{last}")
    produce(cluster, "lost", 5)
    cluster.run("kill", alive)
    cluster.view_without("lost", alive)
    code, out = can_stop(cluster, last)
    assert code == 1 and "would have no leader" in out and "  lost-0  ISR" in out, out
    assert f"broker {alive} is not registered" in out, out
    produce(cluster, "lost", 5)
    cluster.run("pause", last)
    cluster.wait_unregistered(last)
    cluster.start(alive)
    wait = f"start broker {last} again"
    poll("lost-0 should be explained", lambda: "may not lead" in json.dumps(why(cluster, "topic", "lost")))
    expect(why(cluster, "topic", "lost"), "partition", "lost-0", "no leader",
           [f"[{last}] had every acknowledged record", f"broker {last} is not registered",
            f"[{alive}] are alive, but were not in the ISR, and unclean.leader.election.enable=false"],
           [wait, "--election-type unclean --topic lost --partition 0"])
    assert find(why(cluster, wants=1), "partition", "lost-0")["severity"] == "down"
    code, out = can_stop(cluster, last)
    assert code == 1 and f"waits for broker {last}" in out, out
    code, out, err = klamm(cluster, "topics", "-b", cluster.bootstrap(), "--delete", "--topic", "doomed")
    assert code == 0, out + err
    expect(why(cluster, "deletion", "doomed", wants=1), "deletion", "doomed", "stuck",
           ["[/admin/delete_topics]", f"broker {last} is not registered"], [wait])
    cluster.run("resume", last)
    wait_well(cluster)
    expect(why(cluster, "deletion", "doomed", wants=0), "deletion", "doomed", "is over")


def test_a_move_waits_for_a_dead_broker(cluster):
    _, home, away = roles(cluster)
    create(cluster, "travels", f"{home}")
    cluster.run("pause", away)
    move(cluster, "travels", [away])
    expect(why(cluster, "reassignment", wants=1), "reassignment", "travels-0", "stuck",
           [f"broker {away} (127.0.0.1:{cluster.port + away}) is registered, but does not answer"],
           [f"make the process of broker {away} go on", '--cancel --reassignment-json-file <(echo',
            f'"topic":"travels","partition":0,"replicas":[{away},{home}]'])
    cluster.wait_unregistered(away)
    expect(why(cluster), "reassignment", "travels-0", "stuck", [f"broker {away} is not registered"],
           [f"start broker {away} again"])
    cluster.run("resume", away)
    poll("the move should be over", lambda: why(cluster, "reassignment") == [])
    wait_well(cluster)


class Member:
    """One of a consumer group that does only what it is told: it never heartbeats."""

    def __init__(self, cluster, group, topic):
        self.group, self.topic, self.id, self.generation = group, topic, "", -1
        self.connection = cluster.connect(self.coordinator(cluster))

    def coordinator(self, cluster):
        def found():
            with cluster.connect(cluster.numbers[0]) as c:
                c.send(10, 0, string(self.group))
                r = c.answer()
                return r.take("h") == 0 and r.take("i")
        return poll("there should be a coordinator", found)

    def send_join(self):
        subscription = struct.pack(">h", 0) + array([string(self.topic)]) + struct.pack(">i", -1)
        protocol = string("range") + struct.pack(">i", len(subscription)) + subscription
        self.connection.send(11, 0, string(self.group) + struct.pack(">i", 30000) + string(self.id) +
                             string("consumer") + array([protocol]))

    def joined(self):
        """The answer; true where it leads."""
        r = self.connection.answer()
        assert r.take("h") == 0
        self.generation, _, leader, self.id = r.take("i"), r.string(), r.string(), r.string()
        return leader == self.id

    def sync(self, assignments):
        """assignments: {member: partitions}, by the leader."""
        entries = []
        for member, partitions in assignments.items():
            data = struct.pack(">h", 0)
            data += array([string(self.topic) + array([struct.pack(">i", p) for p in partitions])]
                          if partitions else []) + struct.pack(">i", -1)
            entries.append(string(member) + struct.pack(">i", len(data)) + data)
        self.connection.send(14, 0, string(self.group) + struct.pack(">i", self.generation) + string(self.id) +
                             array(entries))
        assert self.connection.answer().take("h") == 0

    def commit(self, offset):
        partition = struct.pack(">iq", 0, offset) + string("")
        self.connection.send(8, 2, string(self.group) + struct.pack(">i", self.generation) + string(self.id) +
                             struct.pack(">q", -1) + array([string(self.topic) + array([partition])]))
        r = self.connection.answer()
        assert r.array(lambda: (r.string(), r.array(lambda: (r.take("i"), r.take("h")))))[0][1] == [(0, 0)]

    def leave(self):
        self.connection.send(13, 0, string(self.group) + string(self.id))
        assert self.connection.answer().take("h") == 0
        self.connection.socket.close()


def test_a_group_does_not_get_on(cluster):
    create(cluster, "read", "1:2:3")
    produce(cluster, "read", 10)
    one = Member(cluster, "readers", "read")
    poll("a group that never was should be told",
         lambda: "there is no such group" in json.dumps(why(cluster, "group", "nobody")))
    one.send_join()
    assert one.joined()
    one.sync({one.id: [0]})
    expect(why(cluster, "group", "readers", wants=1), "group", "readers", "nothing has been committed for read-0",
           ["10 record(s) wait"])
    one.commit(4)
    expect(why(cluster, "group", "readers", wants=0), "group", "readers", "stable", ["6 record(s) wait"])
    watched = why(cluster, "group", "readers", "--watch", 1, wants=1)
    assert "does not get on: nothing is committed" in json.dumps(watched) and "6 record(s) wait" in json.dumps(watched)
    two = Member(cluster, "readers", "read")
    two.send_join()
    poll("the group should rebalance", lambda: "waits for its members" in json.dumps(why(cluster, "group", "readers")))
    expect(why(cluster), "group", "readers", "rebalancing", ["its state is PreparingRebalance"],
           ["max.poll.interval.ms"])
    one.send_join()
    leads = one.joined()
    two.joined()
    (one if leads else two).sync({one.id: [0], two.id: []})
    (two if leads else one).sync({})
    expect(why(cluster, "group", "readers", wants=1), "group", "readers", "1 of 2 member(s) have no partition",
           ["there are more members (2) than partitions (1)"], ["stop 1 of them"])
    one.commit(99)
    two.leave()
    one.send_join()
    one.joined()
    one.sync({one.id: [0]})
    expect(why(cluster, "group", "readers", wants=1), "group", "readers", "its offset of read-0 is out of range",
           ["it has committed 99; the log has 0 to 10"], ["--reset-offsets --to-earliest"])
    one.commit(4)
    one.leave()
    expect(why(cluster, "group", "readers", wants=1), "group", "readers", "no members",
           ["its state is Empty", "6 record(s) wait"], ["start its consumers"])
    wait_well(cluster)
