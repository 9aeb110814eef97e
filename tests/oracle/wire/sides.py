"""sides - a cluster of ours and one of Kafka's, prepared the same way, and what each of them has told so far"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(HERE, "../../../deploy")]
from local.cluster import Cluster  # noqa: E402
from local.proc import Trouble, poll  # noqa: E402
from messages import MESSAGES, ROOT, Peer, decode_response, encode_request  # noqa: E402

# Nothing that happens by itself, at a time of its own, may be seen in an answer.
SETTINGS = {
    "offsets.topic.num.partitions": 2, "offsets.topic.replication.factor": 1, "log.retention.ms": -1,
    "log.retention.check.interval.ms": 100000000, "log.initial.task.delay.ms": 100000000, "offsets.retention.check.interval.ms": 100000000,
    "auto.leader.rebalance.enable": "false", "group.min.session.timeout.ms": 6000, "log.cleaner.enable": "false",
    "max.incremental.fetch.session.cache.slots": 10000, "producer.id.expiration.ms": 0x7FFFFFFF,
}
NO_ANSWER = "no answer"
PATIENCE, LATE = 8, 4  # seconds for an answer; and for one that the other side had meanwhile
NO_ID = "00000000-0000-0000-0000-000000000000"


class Ref:
    """A value that each side has its own of: a topic's id, a member's. Until it is known, what `unknown` says."""

    def __init__(self, *key, unknown=""):
        self.key, self.unknown = key, unknown

    def __repr__(self):
        return "<" + " ".join(map(str, self.key)) + ">"


def resolved(value, known):
    if isinstance(value, Ref):
        return known.get(value.key, value.unknown)
    if isinstance(value, dict):
        return {k: resolved(v, known) for k, v in value.items()}
    if isinstance(value, list):
        return [resolved(v, known) for v in value]
    return value


class Side:
    """One cluster: its brokers 1 and 2, a connection to the one that is asked, and what it has told of itself."""

    def __init__(self, impl, folder, port, more):
        self.impl, self.known, self.peer = impl, {}, None
        settings = {"brokers": 2, "zookeepers": 1, "port": port, "tls": False, "wrap": {}, "hosts": {},
                    "impl": {"*": impl}, "set": [f"{k}={v}" for k, v in {**SETTINGS, **more}.items()]}
        self.cluster = Cluster(os.path.join(folder, impl), settings)
        self.port = port

    def start(self, member):
        """Begins to start it; `wait` waits until it serves."""
        os.makedirs(self.cluster.dir, exist_ok=True)
        self.cluster.save()
        member.begin()

    def wait(self, member):
        self.cluster.wait_served(member)

    def learn_broker_epochs(self, numbers):
        """The transaction that made a broker's znode is its epoch; only ZooKeeper tells it."""
        for n in numbers:
            out = subprocess.run([os.path.join(self.cluster.programs(), "klamm"), "zookeeper-shell",
                                  self.cluster.zookeeper_connect(), "stat", f"/brokers/ids/{n}"],
                                 capture_output=True, text=True, check=True).stdout
            self.known["broker_epoch", n] = int(re.search(r"cZxid = 0x([0-9a-f]+)", out)[1], 16)

    def connect(self, broker=1):
        if self.peer:
            self.peer.socket.close()
        self.peer = Peer("127.0.0.1", self.port + broker, PATIENCE)

    def send(self, data):
        self.peer.send(data)

    def receive(self):
        answer = self.peer.receive()
        if isinstance(answer, str):
            self.connect()
        return answer


    def ask(self, api, version, body):
        """For preparing: what must succeed on both."""
        self.send(encode_request(api, version, resolved(body, self.known)))
        answer = self.receive()
        if isinstance(answer, str):
            raise Trouble(f"{self.impl}: {api} {body}: {answer}")
        return decode_response(api, version, answer)


def receive_both(both):
    """What either answers. The second is waited for behind the first; so the first is looked at again where it had none."""
    raw = [side.peer.receive() for side in both]
    if raw[0] == NO_ANSWER != raw[1]:
        both[0].peer.socket.settimeout(LATE)
        raw[0] = both[0].peer.receive()
        both[0].peer.socket.settimeout(PATIENCE)
    for side, answer in zip(both, raw):
        if isinstance(answer, str):
            side.connect()
    return raw


class Sides:
    """Ours and Kafka's; a context that ends what it started."""

    def __init__(self, port, keep=None, ibp=None):
        more = {"inter.broker.protocol.version": ibp, "log.message.format.version": ibp} if ibp else {}
        self.folder, self.is_kept = keep or tempfile.mkdtemp(prefix="klamm-wire-"), bool(keep)
        self.kafka = Side("kafka", self.folder, port + 200, more)
        self.ours = Side("klamm", self.folder, port, more)
        self.both = (self.kafka, self.ours)

    def __enter__(self):
        try:
            self.start_all(lambda c: c.zookeepers[0])
            self.start_broker(1)
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def start_all(self, member_of):
        for side in self.both:
            side.start(member_of(side.cluster))
        for side in self.both:
            side.wait(member_of(side.cluster))

    def start_broker(self, number):
        self.start_all(lambda c: c.brokers[number - 1])
        if number == 2:
            for side in self.both:
                side.cluster.wait_whole()
        for side in self.both:
            side.learn_broker_epochs([number])
            if number == 1:
                side.connect()
                self.make_offsets_topic(side)

    @staticmethod
    def make_offsets_topic(side):
        def is_there():
            return side.ask("FindCoordinator", 0, {"key": "g"})["error_code"] == 0 and \
                side.ask("OffsetFetch", 3, {"group_id": "g", "topics": []})["error_code"] == 0
        poll("groups should have a coordinator", 30, is_there)
        ids = {"transactional_id": None, "transaction_timeout_ms": 1000}
        poll("there should be producer ids", 30, lambda: side.ask("InitProducerId", 0, ids)["error_code"] == 0)

    def __exit__(self, *_):
        for side in self.both:
            if side.peer:
                side.peer.socket.close()
            for member in [*side.cluster.brokers, *side.cluster.zookeepers]:
                member.kill()  # nothing of it is needed any more
        if not self.is_kept:
            shutil.rmtree(self.folder, ignore_errors=True)
