"""deploy/cluster does what its help says."""

import json
import os
import subprocess

import pytest

from cluster import ROOT, Cluster
from fixtures import finish, new_directory


@pytest.fixture(scope="module")
def single(request):
    cluster = Cluster(new_directory("test_cluster_script"), brokers=1)
    try:
        cluster.up()
        yield cluster
    finally:
        finish(request, cluster)


def states(cluster):
    return {line.split()[0]: line.split()[1] for line in cluster.run("status").splitlines()[1:]}


def refused(*args):
    """What is said, in one line, by a call that fails."""
    done = subprocess.run([f"{ROOT}/deploy/cluster", *map(str, args)], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and not done.stdout
    assert done.stderr.startswith("deploy/cluster: ") and done.stderr.count("\n") == 1
    return done.stderr


def test_up_says_where_it_is_and_may_be_said_twice(single):
    out = single.up()
    assert f"BOOTSTRAP=127.0.0.1:{single.port + 1}\n" in out
    assert f"ZOOKEEPER=127.0.0.1:{single.port + 101}\n" in out
    assert single.view()[0] == [1] == [single.view()[1]]


def test_up_without_flags_keeps_what_is_there(single):
    """Also where all of it is down: the same ports, brokers and settings, and not those that the help tells."""
    path, out = os.path.join(single.dir, "cluster.json"), single.up()
    with open(path, encoding="utf-8") as f:
        before = f.read()
    assert single.run("up") == out
    single.run("down")
    assert single.run("up") == out
    with open(path, encoding="utf-8") as f:
        assert f.read() == before


def test_status_names_every_state(single):
    assert states(single) == {"zookeeper-1": "up", "broker-1": "up"}
    single.run("pause", 1)
    assert states(single)["broker-1"] == "paused"
    single.run("resume", 1)
    assert states(single)["broker-1"] == "up"
    single.run("stop", 1)
    assert states(single)["broker-1"] == "down"
    single.start(1)
    assert states(single)["broker-1"] == "up"


def test_start_takes_settings_for_once(single):
    single.run("stop", 1)
    single.run("start", 1, "--set", "message.max.bytes=123456")
    with open(os.path.join(single.dir, "broker-1.properties"), encoding="utf-8") as f:
        assert "message.max.bytes=123456\n" in f.read()
    single.run("stop", 1)
    single.run("start", 1)
    with open(os.path.join(single.dir, "broker-1.properties"), encoding="utf-8") as f:
        assert "message.max.bytes" not in f.read()


def test_start_makes_it_another_program(single):
    """From then on: `up` goes on with what `start --impl` made of a broker."""
    single.run("stop", 1)
    assert "klamm or kafka" in refused("start", 1, "--impl", "other", "--dir", single.dir)
    single.run("start", 1, "--impl", "klamm")
    with open(os.path.join(single.dir, "cluster.json"), encoding="utf-8") as f:
        assert json.load(f)["became"] == {"1": "klamm"}
    single.run("stop", 1)
    assert f"BOOTSTRAP=127.0.0.1:{single.port + 1}\n" in single.up() == single.up()


def test_logs_prints_the_log(single):
    with open(os.path.join(single.dir, "broker-1.log"), encoding="utf-8") as f:
        assert single.run("logs", 1)[:500] == f.read()[:500]


def test_a_pid_of_another_process_is_left_alone(single):
    """A pid file whose pid went to somebody else reads as down."""
    single.run("stop", 1)
    path = os.path.join(single.dir, "broker-1.pid")
    with open(path, "w", encoding="utf-8") as f:
        f.write('{"pid": %d, "start": 1, "command": ["x"]}' % os.getpid())
    assert states(single)["broker-1"] == "down"
    single.run("kill", 1)
    single.start(1)


def test_wrong_orders_are_refused(single):
    assert "no broker 7" in refused("kill", 7, "--dir", single.dir)
    assert "no ZooKeeper server 2" in refused("zk-stop", 2, "--dir", single.dir)
    assert "runs already" in refused("start", 1, "--dir", single.dir)
    assert "runs already" in refused("start", 1, "--impl", "kafka", "--dir", single.dir)
    assert "other settings" in refused("up", "--dir", single.dir, "--brokers", 2)
    assert "security issue" in refused("up", "--dir", single.dir, "--sasl", "PLAIN")
    assert "1 or 3" in refused("up", "--dir", single.dir, "--zookeepers", 2)
    assert "key=value" in refused("up", "--dir", single.dir, "--set", "x")
    assert "no cluster in" in refused("status", "--dir", single.dir + "-none")
    assert "is taken" in refused("up", "--dir", single.dir + "-none", "--port", single.port)
    assert not os.path.exists(single.dir + "-none/broker-1.log")
