"""Settings that are changed while brokers run, or while one is down: their effect, and what is never said.

What they are called, which are refused and with which words is compared with Apache Kafka in tests/oracle/configs_cli.py.
"""

import json
import os
import socket
import ssl
import subprocess
import time

import pytest
from cluster import IMPL, Cluster, poll
from fixtures import finish, new_directory
from wire import batch

TOPIC, BROKER, LOGGER = 2, 4, 8
MESSAGE_TOO_LARGE = 10
MB = 1000 * 1000
SETS = ("password.encoder.secret=s3cret", "log.cleaner.dedupe.buffer.size=8388608")


@pytest.fixture(scope="module")
def module_cluster(request):
    cluster = Cluster(new_directory("test_settings"), sets=SETS)
    try:
        cluster.up()
        yield cluster
    finally:
        finish(request, cluster)


def alter(cluster, number, settings, kind=BROKER, name=None):
    """Of that broker itself, unless a name says of whom."""
    with cluster.connect(number, 30) as c:
        return c.alter_configs(kind, str(number) if name is None else name, settings)


def change(cluster, number, settings, kind=BROKER, name=None):
    code, message = alter(cluster, number, settings, kind, name)
    assert code == 0, f"{settings}: error {code} {message}"


def threads(cluster, number, name):
    """How many threads of a broker have a name that begins so."""
    tasks, count = f"/proc/{cluster.pids()[number]}/task", 0
    for task in os.listdir(tasks):
        try:
            with open(f"{tasks}/{task}/comm", encoding="utf-8") as f:
                count += f.read().startswith(name)
        except OSError:  # it has just ended
            continue
    return count


def check_threads(cluster, number, expected):
    for name, count in expected.items():
        poll(f"broker {number} should have {count} threads named {name}",
             lambda name=name, count=count: threads(cluster, number, name) == count)


@pytest.mark.skipif(IMPL == "kafka", reason="other threads")
def test_threads_come_and_go(cluster):
    reactors = threads(cluster, 1, "reactor-")
    for io, net, cleaners in ((12, 6, 2), (20, 12, 4), (10, 6, 2)):
        change(cluster, 1, {"num.io.threads": io, "num.network.threads": net, "log.cleaner.threads": cleaners,
                            "log.cleaner.io.max.bytes.per.second": io * 1e6, "num.replica.fetchers": cleaners})
        check_threads(cluster, 1, {"worker-": io, "cleaner-": cleaners})
        poll("threads for connections", lambda net=net: threads(cluster, 1, "reactor-") >= max(net, reactors))
        with cluster.connect(1) as c:  # whoever it is served by
            assert c.api_versions()
    assert alter(cluster, 1, {"num.io.threads": 21})[0] == 42
    change(cluster, 1, {k: None for k in ("num.io.threads", "num.network.threads", "log.cleaner.threads",
                                          "log.cleaner.io.max.bytes.per.second", "num.replica.fetchers")})
    check_threads(cluster, 1, {"worker-": 8, "cleaner-": 1})


@pytest.mark.skipif(IMPL == "kafka", reason="other threads")
def test_changes_while_a_broker_is_down(cluster):
    """More than twice as much at once, which no running broker takes; and what is no value is passed over."""
    cluster.run("stop", 3)
    for io in (16, 32):
        change(cluster, 1, {"num.io.threads": io, "message.max.bytes": 2000000}, name="")
        check_threads(cluster, 1, {"worker-": io})
    text = json.dumps({"version": 1, "config": {"num.network.threads": "x", "log.cleaner.threads": "3",
                                                "listener.name.x.ssl.key.password": "not-sealed"}})
    cluster.zkcli(f"create /config/brokers/3 '{text}'")
    cluster.start(3)
    check_threads(cluster, 3, {"worker-": 32, "cleaner-": 3})
    cluster.zkcli("set /config/brokers/3 not-json")
    change(cluster, 1, {"num.io.threads": 16, "message.max.bytes": None}, name="")
    check_threads(cluster, 1, {"worker-": 16})
    change(cluster, 1, {"num.io.threads": None}, name="")
    check_threads(cluster, 3, {"worker-": 8, "cleaner-": 1})
    with open(os.path.join(cluster.dir, "broker-3.log"), encoding="utf-8") as f:
        said = f.read()
    assert "num.network.threads" in said and "/config/brokers/3" in said and "not-sealed" not in said


def produce(cluster, topic, records):
    """The error code of one produce request with acks=all."""
    with cluster.connect(cluster.leader(topic, 0), 30) as c:
        c.send_records(topic, 0, records, -1, 5000)
        return c.produce_answer()[0]


def test_topics_follow_the_brokers_defaults(cluster):
    large = batch(b"x" * 2000)
    cluster.create_topic("plain")
    cluster.create_topic("own", max_message_bytes="3000")
    change(cluster, 1, {"message.max.bytes": 1000}, name="")
    poll("the batch should be too large", lambda: produce(cluster, "plain", large) == MESSAGE_TOO_LARGE)
    assert produce(cluster, "own", large) == 0
    change(cluster, 1, {"message.max.bytes": None}, name="")
    poll("the batch should be taken again", lambda: produce(cluster, "plain", large) == 0)


def is_open(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def test_listeners_come_and_go(cluster):
    own, extra = cluster.port + 2, cluster.port + 60
    known = {n: ("127.0.0.1", cluster.port + n) for n in cluster.numbers}
    change(cluster, 2, {"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,EXTRA:PLAINTEXT",
                        "listeners": f"PLAINTEXT://127.0.0.1:{own},EXTRA://127.0.0.1:{extra}",
                        "advertised.listeners": f"PLAINTEXT://localhost:{own},EXTRA://localhost:{extra}"})
    poll("the new listener should be open", lambda: is_open(extra))

    def told(host):
        with cluster.connect(1) as c:
            return c.endpoints() == {**known, 2: (host, own)}
    poll("the new address should be told by another broker", lambda: told("localhost"))
    change(cluster, 2, {"listeners": None, "advertised.listeners": None})
    poll("the listener should be gone", lambda: not is_open(extra))
    poll("the old address should be told", lambda: told("127.0.0.1"))
    change(cluster, 2, {"listener.security.protocol.map": None})
    code, message = alter(cluster, 2, {"advertised.listeners": "NONE://localhost:1"})
    assert code == 42 and "No security protocol defined for listener NONE" in message


def make_store(path, name, alternatives):
    """A key and its own certificate, as PEM."""
    done = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                           "-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName={alternatives}",
                           "-keyout", "-"], capture_output=True, text=True, check=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(done.stdout)


def shown(port):
    """The certificate of a listener, None where there is none."""
    try:
        return ssl.get_server_certificate(("127.0.0.1", port))
    except OSError:
        return None


def test_key_stores_are_read_again(cluster):
    own, extra, store = cluster.port + 3, cluster.port + 61, os.path.join(cluster.dir, "store.pem")
    make_store(store, "one", "DNS:a,DNS:b")
    location = {"listener.name.secure.ssl.keystore.location": store}
    change(cluster, 3, {"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SECURE:SSL",
                        "listeners": f"PLAINTEXT://127.0.0.1:{own},SECURE://127.0.0.1:{extra}",
                        "listener.name.secure.ssl.keystore.type": "PEM", **location})
    first = poll("a listener with TLS should be open", lambda: shown(extra))
    for name, alternatives in (("other", "DNS:a,DNS:b"), ("one", "DNS:a")):
        make_store(store, name, alternatives)
        code, message = alter(cluster, 3, location)
        assert code == 40 and ("DistinguishedName" in message or "SubjectAltNames" in message)
    assert shown(extra) == first
    make_store(store, "one", "DNS:a,DNS:b,DNS:c")
    change(cluster, 3, location)  # the same path
    poll("the new certificate should be shown", lambda: shown(extra) not in (first, None))
    stores = {"listener.name.secure.ssl.keystore.type": None, **{key: None for key in location}}
    assert alter(cluster, 3, {"listeners": None, **stores})[0] == 42  # first the one, then the other
    change(cluster, 3, {"listeners": None})
    poll("the listener should be gone", lambda: not is_open(extra))
    change(cluster, 3, {"listener.security.protocol.map": None})


def test_loggers_have_levels(cluster):
    """As in Kafka: a logger without a level of its own has the one from above."""
    name = "broker.storage" if IMPL == "klamm" else "kafka.server.KafkaApis"

    def level():
        with cluster.connect(1) as c:
            return c.describe_configs(LOGGER, "1", [name])[name]
    before = level()
    change(cluster, 1, {name: "ERROR"}, LOGGER)
    assert level() == "ERROR"
    change(cluster, 1, {name: None}, LOGGER)
    assert level() == before
    assert alter(cluster, 1, {name: "LOUD"}, LOGGER)[0] == 40
    assert alter(cluster, 1, {"no.such": "INFO"}, LOGGER)[0] == 40


def test_passwords_are_never_said(cluster):
    key, password = "listener.name.other.ssl.keystore.password", "hush-hush"
    change(cluster, 1, {key: password})
    with cluster.connect(1) as c:
        assert poll("it should be told that it is set", lambda: c.describe_configs(BROKER, "1", [key])) == {key: None}
    change(cluster, 1, {key: None})
    for number in cluster.numbers:
        with open(os.path.join(cluster.dir, f"broker-{number}.log"), encoding="utf-8", errors="replace") as f:
            assert password not in f.read()


@pytest.mark.skipif(IMPL == "kafka", reason="our own tool")
def test_what_nobody_knows_may_be_a_secret(cluster):
    """Of a setting that brokers do not know the value is shown by nobody, as little as a password's."""
    key = "my.plugins.token"
    words = [f"{cluster.programs()}/klamm", "configs", "--bootstrap-server", cluster.bootstrap(), "--entity-type",
             "brokers", "--entity-name", "1", "--force", "--alter"]

    def told():
        with cluster.connect(1) as c:
            return c.describe_configs(BROKER, "1", [key])
    for act in (["--add-config", f"{key}=hush-token"], ["--delete-config", key]):
        done = subprocess.run([*words, *act], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        assert "(hidden)" in done.stdout and "hush-token" not in done.stdout + done.stderr
        if "--add-config" in act:  # what the broker has not heard of yet cannot be deleted
            poll("it should be told that it is set", lambda: told() == {key: None})


def move(cluster, topic, *options):
    """Gives partition 0 of a topic on broker 1 a replica on broker 2; how many seconds that takes."""
    path = os.path.join(cluster.dir, f"plan-{topic}.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"version": 1, "partitions": [{"topic": topic, "partition": 0, "replicas": [1, 2]}]}, f)
    begun = time.monotonic()
    done = subprocess.run([f"{cluster.programs()}/klamm", "kafka-reassign-partitions", "--bootstrap-server",
                           cluster.bootstrap(), "--execute", "--reassignment-json-file", path, *options],
                          capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    poll(f"{topic} should have arrived", lambda: cluster.view(topic, [1])[2][0][2] == [1, 2], 120)
    seconds = time.monotonic() - begun
    subprocess.run([f"{cluster.programs()}/klamm", "kafka-reassign-partitions", "--bootstrap-server", cluster.bootstrap(),
                    "--verify", "--reassignment-json-file", path], check=True, stdout=subprocess.DEVNULL, timeout=60)
    return seconds


def filled(cluster, topic, size):
    """A topic on broker 1 alone that holds so many bytes."""
    with cluster.connect(cluster.controller()) as c:
        assert c.create_topic(topic, 1, 1)[0] == 0
    if cluster.leader(topic, 0) != 1:
        path = os.path.join(cluster.dir, f"home-{topic}.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"version": 1, "partitions": [{"topic": topic, "partition": 0, "replicas": [1]}]}, f)
        subprocess.run([f"{cluster.programs()}/klamm", "kafka-reassign-partitions", "--bootstrap-server",
                        cluster.bootstrap(), "--execute", "--reassignment-json-file", path], check=True,
                       stdout=subprocess.DEVNULL, timeout=60)
        poll("it should be at home", lambda: cluster.view(topic, [1])[2][0][0] == 1)
    records = batch(b"x" * 250000)
    for _ in range(size // len(records) + 1):
        assert produce(cluster, topic, records) == 0


def check_rate(seconds, size, rate):
    """No faster than the limit by more than a tenth, but for what the last fetch brings (replica.fetch.max.bytes), which
    is paid for after it has come. How much slower is the machine's business, within reason."""
    print(f"moved {size / MB:.1f} MB in {seconds:.2f} s: {size / seconds / rate:.3f} of the limit")
    assert 0.9 * (size - 2**20) / rate < seconds < 1.5 * size / rate + 3


def test_reassignment_keeps_to_its_throttle(cluster):
    size, rate = 9 * MB, 2 * MB
    filled(cluster, "slow", size)
    check_rate(move(cluster, "slow", "--throttle", str(rate)), size, rate)
    with cluster.connect(1) as c:  # --verify has taken it away again
        key = "leader.replication.throttled.rate"
        poll("no limit should be left", lambda: c.describe_configs(BROKER, "1", [key]).get(key) is None)
    filled(cluster, "fast", size)
    assert move(cluster, "fast") < 0.7 * size / rate


def test_throttle_counts_from_the_start(cluster):
    size, rate = 5 * MB, 2 * MB
    filled(cluster, "restarted", size)
    change(cluster, 1, {"leader.replication.throttled.rate": rate}, name="")
    change(cluster, 1, {"leader.replication.throttled.replicas": "*"}, TOPIC, "restarted")
    cluster.run("stop", 1)
    cluster.start(1)
    poll("it should be led again", lambda: cluster.view("restarted", [1])[2][0][0] == 1)
    check_rate(move(cluster, "restarted"), size, rate)
