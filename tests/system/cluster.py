"""The cluster under test, through deploy/cluster, and the load on it, through klamm-load."""

import glob
import json
import os
import signal
import socket
import subprocess
import time

import checker
import wire

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LOAD = os.path.join(os.environ.get("KLAMM_LOAD_BIN", os.path.join(ROOT, "build/release")),
                    "tests/load/klamm-load")
# Another librdkafka than Debian's, if tests/venv could bring one.
CLIENT_ENV = dict(os.environ)
if os.environ.get("KLAMM_LIBRDKAFKA"):
    CLIENT_ENV["LD_PRELOAD"] = os.environ["KLAMM_LIBRDKAFKA"]
IMPL = os.environ.get("KLAMM_IMPL", "klamm")
SESSION_MS = 3000
PATIENCE = 60  # seconds for anything that the cluster must get done by itself
# Answers to CreateTopics: made, or it exists, since an earlier try got through after all; not the controller
# (any more), timed out. Apache Kafka also says "unknown" while it finds a new ZooKeeper session.
DONE, TRY_AGAIN = {0, 36}, {41, 7} | ({-1} if IMPL == "kafka" else set())


def poll(what, ready, seconds=PATIENCE):
    """The first true value of ready(); AssertionError when there is none in time."""
    deadline = time.monotonic() + seconds
    while True:
        value = ready()
        if value:
            return value
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.02)


def free_base_port():
    """A base port for deploy/cluster with no listener near it; from KLAMM_TEST_PORT on, where others test here too."""
    for base in range(int(os.environ.get("KLAMM_TEST_PORT", 20000 + os.getpid() % 90 * 100)), 31000, 500):
        busy = False
        for port in [*range(base + 1, base + 5), *range(base + 101, base + 104), base + 401]:
            with socket.socket() as s:
                busy = busy or s.connect_ex(("127.0.0.1", port)) == 0
        if not busy:
            return base
    raise AssertionError("no free ports")


class Cluster:
    """Three brokers and ZooKeeper, as a rule; every wait is for a condition and has a deadline."""

    def __init__(self, directory, brokers=3, zookeepers=1, sets=(), options=(), port=None):
        self.dir, self.numbers = str(directory), list(range(1, brokers + 1))
        self.hosts = {n: "127.0.0.1" for n in self.numbers}
        self.zk_host, self.port = "127.0.0.1", port or free_base_port()
        self.zookeepers = list(range(1, zookeepers + 1))
        self.options = ["--brokers", str(brokers), "--zookeepers", str(zookeepers), "--port", str(self.port),
                        *options]
        for setting in (f"zookeeper.session.timeout.ms={SESSION_MS}", "auto.create.topics.enable=false",
                        "controlled.shutdown.retry.backoff.ms=500", *sets):
            self.options += ["--set", setting]

    def run(self, action, *args):
        done = subprocess.run([f"{ROOT}/deploy/cluster", action, "--dir", self.dir, *map(str, args)],
                              capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, f"deploy/cluster {action} {args}: {done.stderr}"
        return done.stdout

    @staticmethod
    def programs():
        return os.environ.get("KLAMM_BIN", os.path.join(ROOT, "build/release"))

    def up(self):
        return self.run("up", *self.options)

    def down(self, *args):
        self.run("down", *args)

    def address(self, number):
        return self.hosts[number], self.port + number

    def bootstrap(self):
        return ",".join("%s:%d" % self.address(n) for n in self.numbers)

    def connect(self, number, seconds=10):
        return wire.Connection(*self.address(number), seconds)

    # Acts

    def start(self, *numbers):
        """Starts brokers again. Apache Kafka gives up where its earlier session still lives; ours waits."""
        if IMPL == "kafka":
            poll("the earlier sessions should expire", lambda: not self.registered() & set(numbers))
        self.run("start", *numbers)

    def heal(self):
        """Everything up and running, whatever a failed test left behind."""
        for line in self.run("status").splitlines()[1:]:
            name, state = line.split()[:2]
            target = name.replace("broker-", "").replace("zookeeper-", "zk")
            if state == "paused":
                self.run("resume", target)
        down = [line.split()[0] for line in self.run("status").splitlines()[1:] if line.split()[1] == "down"]
        for name in down:
            if name.startswith("zookeeper-"):
                self.run("start", name.replace("zookeeper-", "zk"))
        brokers = [int(name[7:]) for name in down if name.startswith("broker-")]
        if brokers:
            self.start(*brokers)
        self.wait_whole()

    # Questions

    def view(self, topic=None, ask=None):
        """(broker ids, controller, partitions) as the first broker of `ask` that answers has it, or None."""
        for number in ask or self.numbers:
            try:
                with self.connect(number, 2) as c:
                    return c.metadata(topic)
            except OSError:
                continue
        return None

    def pids(self):
        """{broker: pid} of the last start."""
        out = {}
        for number in self.numbers:
            with open(os.path.join(self.dir, f"broker-{number}.pid"), encoding="utf-8") as f:
                out[number] = json.load(f)["pid"]
        return out

    def usage(self):
        """{broker: (CPU seconds so far, resident bytes)}."""
        out, page = {}, os.sysconf("SC_PAGE_SIZE")
        for number, pid in self.pids().items():
            with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
                fields = f.read().rpartition(")")[2].split()
            ticks = int(fields[11]) + int(fields[12])
            out[number] = ticks / os.sysconf("SC_CLK_TCK"), int(fields[21]) * page
        return out

    def registered(self):
        """The ids below /brokers/ids, asked of ZooKeeper itself."""
        for number in self.zookeepers:
            try:
                with socket.create_connection((self.zk_host, self.port + 100 + number), 2) as s:
                    s.settimeout(5)
                    s.sendall(b"dump")
                    text = b""
                    while chunk := s.recv(65536):
                        text += chunk
            except OSError:
                continue
            return {int(line.rpartition("/")[2]) for line in text.decode().splitlines()
                    if line.strip().startswith("/brokers/ids/")}
        return set()

    def controller(self, but=()):
        """The id of the living controller, which is none of `but`."""
        ask = [n for n in self.numbers if n not in but]

        def living():
            view = self.view(ask=ask)
            return view and view[1] in ask and view[1]
        return poll(f"a controller other than {list(but)}", living)

    def leader(self, topic, partition, but=()):
        """The leader of a partition, which is none of `but`."""
        ask = [n for n in self.numbers if n not in but]

        def leading():
            view = self.view(topic, ask)
            found = view and view[2].get(partition)
            return found and found[0] in ask and found[0]
        return poll(f"a leader of {topic}-{partition} other than {list(but)}", leading)

    def wait_unregistered(self, *numbers):
        poll(f"the sessions of {numbers} should expire", lambda: not self.registered() & set(numbers))

    def wait_whole(self):
        """Every broker knows every broker and the same controller."""
        def whole():
            views = [self.view(ask=[n]) for n in self.numbers]
            return all(v and v[0] == self.numbers for v in views) and len({v[1] for v in views}) == 1
        poll("every broker should know all the others", whole)

    def wait_in_sync(self, topic):
        """Every replica of every partition is in the ISR, as every broker sees it."""
        def in_sync():
            views = [self.view(topic, [n]) for n in self.numbers]
            return all(v and v[2] and all(leader > 0 and sorted(replicas) == sorted(isr)
                                          for leader, replicas, isr in v[2].values()) for v in views)
        poll(f"all replicas of {topic} should be in sync", in_sync)

    def view_without(self, topic, number):
        """The partitions of a topic, once none of them counts on that broker, as each of the others sees it."""
        ask = [n for n in self.numbers if n != number]

        def left():
            views = [self.view(topic, [n]) for n in ask]
            return all(v and v[2] and all(number not in isr for _, _, isr in v[2].values())
                       for v in views) and views[0][2]
        return poll(f"{topic} should go on without broker {number}", left)

    def zkcli(self, *commands):
        """Commands of zkCli, none of which may fail."""
        done = subprocess.run(["/usr/share/zookeeper/bin/zkCli.sh", "-server", f"127.0.0.1:{self.port + 101}"],
                              input="\n".join(commands) + "\nquit\n", capture_output=True, text=True, check=False)
        assert "Exception" not in done.stderr + done.stdout, done.stderr + done.stdout

    def create_many(self, names):
        """One partition and three replicas each, in one request; all of them are led when this returns."""
        with self.connect(self.controller(), 60) as c:
            assert {code for _, code, _ in c.create_topics(names, 1, 3, timeout_ms=60000)} == {0}

        def all_led():
            for number in self.numbers:
                with self.connect(number, 10) as c:
                    topics = c.metadata_of(names)[2]
                if any(not partitions or partitions[0][0] < 1 for partitions in topics.values()):
                    return False
            return True
        poll("every topic should have a leader, as every broker sees it", all_led)

    def create_topic(self, name, partitions=1, replicas=3, **configs):
        """Made by the controller, and known to every broker when this returns."""
        configs = {k.replace("_", "."): v for k, v in configs.items()}

        def made():
            with self.connect(self.controller()) as c:
                code, message = c.create_topic(name, partitions, replicas, configs)
            assert code in DONE | TRY_AGAIN, f"creating {name}: error {code} {message}"
            return code in DONE
        poll(f"{name} should be created", made)
        self.wait_in_sync(name)


def client_options(cluster, *more):
    options = [f"bootstrap.servers={cluster.bootstrap()}", "topic.metadata.refresh.interval.ms=5000",
               "reconnect.backoff.max.ms=500", "retry.backoff.ms=100", "socket.timeout.ms=10000", *more]
    return [word for option in options for word in ("-X", option)]


def read_topic(cluster, topic, partitions=1):
    """Every record, as lines of "partition offset value"."""
    done = subprocess.run([LOAD, "read", "--topic", topic, "--partitions", str(partitions),
                           *client_options(cluster)], capture_output=True, text=True, check=False, timeout=180,
                          env=CLIENT_ENV)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def segments(cluster, number, topic, partition):
    return sorted(glob.glob(os.path.join(cluster.dir, f"broker-{number}", f"{topic}-{partition}", "*.log")))


def replica_bytes(cluster, number, topic, partition):
    content = b""
    for path in segments(cluster, number, topic, partition):
        with open(path, "rb") as f:
            content += f.read()
    return content


class Load:
    """An idempotent acks=all producer that runs through a test, and the comparison at its end."""

    def __init__(self, cluster, topic, partitions=1, rate=1000, size=100):
        self.cluster, self.topic, self.partitions = cluster, topic, partitions
        self.log = os.path.join(cluster.dir, f"load-{topic}.log")
        self.read_from, self.acks = 0, [0] * partitions
        self.errors = open(os.path.join(cluster.dir, f"load-{topic}.err"), "ab")
        self.process = subprocess.Popen(
            [LOAD, "produce", "--topic", topic, "--partitions", str(partitions), "--rate", str(rate),
             "--size", str(size), "--log", self.log,
             *client_options(cluster, "enable.idempotence=true", "acks=all", "request.timeout.ms=10000",
                             "message.timeout.ms=300000")],
            stdout=subprocess.PIPE, stderr=self.errors, text=True, env=CLIENT_ENV)
        self.sums, self.ends = None, dict.fromkeys(range(partitions), 0)

    def __enter__(self):
        self.wait_acks(10)
        return self

    def __exit__(self, kind, *_):
        if kind:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
        elif self.sums is None:
            self.stop()
        self.errors.close()

    def acked(self):
        """Acknowledgements so far, per partition."""
        if os.path.exists(self.log):
            with open(self.log, encoding="utf-8") as f:
                f.seek(self.read_from)
                text = f.read()
            whole = text.rpartition("\n")[0] + "\n" if "\n" in text else ""
            self.read_from += len(whole)
            for line in whole.splitlines():
                if line[0] == "A":
                    self.acks[int(line.split()[1])] += 1
        return list(self.acks)

    def wait_acks(self, count=50, seconds=PATIENCE):
        """At least count more acknowledgements in each partition."""
        before = self.acked()

        def progressed():
            assert self.process.poll() is None, f"the producer ended: {self.last_words()}"
            return all(now >= then + count for then, now in zip(before, self.acked()))
        poll(f"{count} more acknowledgements in each partition of {self.topic}", progressed, seconds)

    def last_words(self):
        with open(self.errors.name, encoding="utf-8", errors="replace") as f:
            return f.read()[-2000:]

    def stop(self):
        """No more records; returns the sums once each is answered."""
        self.process.send_signal(signal.SIGTERM)
        out, _ = self.process.communicate(timeout=120)
        assert out.strip(), f"the producer said nothing: {self.last_words()}"
        self.sums = json.loads(out)
        return self.sums

    def epochs(self, partition, offset):
        """Of the producer and of the leader, as the broker has them on its disk that leads the partition."""
        leader = self.cluster.leader(self.topic, partition)
        return checker.epochs_at(replica_bytes(self.cluster, leader, self.topic, partition), offset)

    def check(self):
        """Reads everything back and compares; returns the verdict, which has no faults. Sets ends: {partition: offset
        behind its last record}."""
        sums = self.sums or self.stop()
        assert not sums["fatal"], f"the producer met a fatal error: {self.last_words()}"
        lines = read_topic(self.cluster, self.topic, self.partitions)
        for line in lines:
            partition, offset, _ = line.split()
            self.ends[int(partition)] = int(offset) + 1
        with open(self.log, encoding="utf-8") as log:
            verdict = checker.compare(log, lines, sums["sent"], self.epochs)
        assert not verdict.faults(), str(verdict)
        assert verdict.acked == sums["acked"] > 0
        print(f"{self.topic}: {verdict}, longest wait {sums['longest_wait_ms']} ms")
        return verdict
