#!/usr/bin/env python3
"""join_cli - klamm check-join on a cluster of Kafka 3.9's own brokers

    tests/oracle/join_cli.py [--port P] [--verbose]

Starts two brokers of Kafka's and ends them. A healthy cluster has nothing in the way, neither while the broker runs nor
when it has been stopped; then obstacles are put there, in ZooKeeper, in server.properties and in a log dir, hostile nodes
among them, and each has to be named, with its weight. After each call every node of ZooKeeper is what it was: the same
nodes, versions and transaction ids. Ends with one line of counts.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KLAMM = os.environ.get("KLAMM_BIN", os.path.join(ROOT, "build/debug")) + "/klamm"
BLOCKS, WARNING, NOTE = "blocks", "warning", "note"
CONFIG = '{"version":1,"config":{%s}}'

# (path, data; None: null, severity, place, part of what is said)
NODES = [
    ("/migration", b'{"version":0,"kraft_controller_id":3000,"kraft_controller_epoch":4,"kraft_metadata_offset":1,'
     b'"kraft_metadata_epoch":1}', BLOCKS, "/migration", "KRaft controller 3000, epoch 4"),
    ("/kafka-acl/Topic/t", b'{"version":1,"acls":[]}', BLOCKS, "/kafka-acl/Topic/t", "ACLs"),
    ("/kafka-acl-extended/prefixed/Group/g", b"{}", BLOCKS, "/kafka-acl-extended/prefixed/Group/g", "ACLs"),
    ("/delegation_token/tokens/tok", b"{}", WARNING, "tok", "delegation token"),
    ("/config/users/alice", (CONFIG % '"SCRAM-SHA-256":"salt=x"').encode(), WARNING, "/config/users/alice", "SCRAM"),
    ("/config/users/bob/clients/c", (CONFIG % '"producer_byte_rate":"1"').encode(), WARNING,
     "/config/users/bob/clients/c", "quota"),
    ("/config/topics/t", (CONFIG % '"remote.storage.enable":"true"').encode(), BLOCKS, "/config/topics/t",
     "tiered storage"),
    ("/config/topics/single", (CONFIG % '"retention.ms":"soon"').encode(), WARNING, "/config/topics/single",
     "cannot be used"),
    ("/config/brokers/<default>", (CONFIG % '"log.cleaner.threads":"many"').encode(), WARNING,
     "/config/brokers/<default>", "passed over"),
    ("/latest_producer_id_block", b'{"version":1,"broker":1,"block_start":"9223372036854774808",'
     b'"block_end":"9223372036854775807"}', BLOCKS, "/latest_producer_id_block", "used up"),
    # no JSON, deep, huge, of wrong types
    ("/brokers/topics/binary", b"\xff\xfe\x1b[2J\x01", BLOCKS, "/brokers/topics/binary", "cannot be understood"),
    ("/brokers/topics/deep", b"[" * 100000, BLOCKS, "/brokers/topics/deep", "nested deeper"),
    ("/brokers/topics/huge", b'{"partitions":{"0":[' + b"1," * 400000 + b'"x"]}}', BLOCKS, "/brokers/topics/huge",
     "cannot be understood"),
    ("/brokers/topics/big", b'{"version":3,"partitions":{"0":[99999999999]}}', BLOCKS, "/brokers/topics/big",
     "out of range"),
    ("/brokers/topics/null", None, BLOCKS, "/brokers/topics/null", "no data"),
    ("/brokers/ids/x", b"{}", BLOCKS, "/brokers/ids/x", "no broker id"),
    ("/brokers/ids/8", b'{"version":5,"host":"h","port":1,"jmx_port":-1,"timestamp":"1",'
     b'"endpoints":["SASL_SSL://h:1"],"listener_security_protocol_map":{"SASL_SSL":"SASL_SSL"}}', BLOCKS,
     "/brokers/ids/8", "SASL"),
]
# Line of server.properties, severity, part of what is said
LINES = [
    ("authorizer.class.name=kafka.security.authorizer.AclAuthorizer", BLOCKS, "authorizer.class.name="),
    ("zookeeper.set.acl=true", BLOCKS, "zookeeper.set.acl=true"),
    ("process.roles=broker", BLOCKS, "KRaft mode"),
    ("broker.id=1", BLOCKS, "broker.id=1, but broker 2"),
    ("remote.log.storage.system.enable=true", WARNING, "tiered storage"),
    ("some.key=x", NOTE, "some.key: no 3.9 broker"),
]


class Check:
    def __init__(self, directory, port, verbose):
        self.dir, self.port, self.verbose = directory, port, verbose
        self.zookeeper, self.passed, self.failed, self.said = f"127.0.0.1:{port + 101}", 0, 0, []

    def cluster(self, *words):
        subprocess.run([f"{ROOT}/deploy/cluster", *map(str, words), "--dir", self.dir], check=True,
                       stdout=subprocess.DEVNULL)

    def zk(self, lines):
        done = subprocess.run([KLAMM, "zk", self.zookeeper], input=b"\n".join(lines) + b"\n", capture_output=True,
                              check=False)
        return done.stdout

    def state(self, topic, partition):
        return self.zk([f"get /brokers/topics/{topic}/partitions/{partition}/state".encode()])

    @staticmethod
    def wait(what, is_so, seconds=60):
        deadline = time.monotonic() + seconds
        while not is_so():
            assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
            time.sleep(0.05)

    def tree(self):
        paths = [p for p in self.zk([b"ls -R /"]).splitlines() if p.startswith(b"/")]
        assert len(paths) > 20, paths
        stats = self.zk([b"stat " + p for p in paths])
        assert stats.count(b"cZxid") == len(paths), stats
        return paths, stats

    def expect(self, what, is_so, context=""):
        self.passed += bool(is_so)
        self.failed += not is_so
        if not is_so or self.verbose:
            print(f"{'ok' if is_so else 'NOT'} {what} {'' if is_so else context}")

    def join(self, name, wanted, *words):
        """Runs it, with the same tree before and after; its findings."""
        before = self.tree()
        done = subprocess.run([KLAMM, "check-join", *words, "--output", "json"], capture_output=True, check=False)
        self.expect(f"{name}: exit {wanted}", done.returncode == wanted,
                    f"{done.returncode} {done.stdout.decode()} {done.stderr.decode()}")
        self.expect(f"{name}: ZooKeeper is as it was", before == self.tree())
        self.expect(f"{name}: nothing on stderr", not done.stderr, done.stderr)
        self.said = json.loads(done.stdout)["findings"]

    def finds(self, name, severity, where, what):
        found = [f for f in self.said if what in f["what"] and any(where in w for w in f["where"])]
        self.expect(f"{name}: {severity}, {what}", found and found[0]["severity"] == severity,
                    json.dumps(self.said, indent=1))

    def properties(self, broker, name, *lines):
        """That broker's file with other lines."""
        with open(f"{self.dir}/broker-{broker}.properties", encoding="utf-8") as f:
            text = f.read()
        path = f"{self.dir}/{name}"
        with open(path, "w", encoding="utf-8") as f:
            f.write(text + "\n".join(lines) + "\n")
        return path

    def plant(self):
        parents = {p.rsplit("/", 1)[0] for p, *_ in NODES} | {"/kafka-acl", "/kafka-acl-extended", "/delegation_token",
                   "/kafka-acl-extended/prefixed", "/config/users/bob"}
        lines = [b"create " + p.encode() for p in sorted(parents) if p]
        for path, data, *_ in NODES:
            lines += [b"create " + path.encode()]
            lines += [b"set " + path.encode() + b" " + data] if data is not None else []
        self.zk(lines)


def healthy(check):
    bootstrap = f"127.0.0.1:{check.port + 1}"
    subprocess.run([KLAMM, "topics", "-b", bootstrap, "--create", "--topic", "t", "--partitions", "3",
                    "--replication-factor", "2"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([KLAMM, "topics", "-b", bootstrap, "--create", "--topic", "single", "--replica-assignment", "2"],
                   check=True, stdout=subprocess.DEVNULL)
    check.wait("topics are made", lambda: b'"isr":[2]' in check.state("single", 0) and
               all(b'"leader"' in check.state("t", p) for p in range(3)))
    at = ("--zookeeper", check.zookeeper)
    check.join("healthy", 0, *at)
    check.expect("healthy: nothing to say", not check.said, check.said)
    check.join("healthy, broker 1", 0, *at, "-c", f"{check.dir}/broker-1.properties", "-b", bootstrap)
    check.finds("healthy, broker 1", NOTE, "/brokers/ids/1", "the broker runs")
    check.finds("healthy, broker 1", NOTE, f"{check.dir}/broker-1", "is in use by process")
    check.join("healthy, broker 2", 0, *at, "--broker", "2")
    check.finds("healthy, broker 2", WARNING, "single-0", "lies on this broker only")


def transactions(check):
    """Only the brokers know whether anybody still has a transactional id: here nobody has."""
    bootstrap = f"127.0.0.1:{check.port + 1}"
    at = ("--zookeeper", check.zookeeper)
    subprocess.run([KLAMM, "topics", "-b", bootstrap, "--create", "--topic", "__transaction_state", "--partitions", "1",
                    "--replication-factor", "2"], check=True, stdout=subprocess.DEVNULL)
    check.wait("the brokers have loaded what there is of transactions", lambda: subprocess.run(
        [KLAMM, "check-join", *at, "-b", bootstrap], capture_output=True, check=False).returncode == 0)
    check.join("transactions, asked", 0, *at, "-b", bootstrap)
    check.finds("transactions, asked", WARNING, "__transaction_state", "no transactional id is known now")
    check.join("transactions, not asked", 1, *at)
    check.finds("transactions, not asked", BLOCKS, "__transaction_state", "whether they still are is not known")


def stopped(check):
    """Broker 2 is stopped: it can be replaced, and broker 1 cannot."""
    bootstrap = f"127.0.0.1:{check.port + 1}"
    check.cluster("stop", 2)
    check.wait("broker 2 has no part in anything", lambda: b'"leader":-1' in check.state("single", 0) and
               all(b'"isr":[1]' in check.state("t", p) for p in range(3)))
    check.join("stopped", 0, "-c", f"{check.dir}/broker-2.properties", "-b", bootstrap)
    check.finds("stopped", NOTE, "/brokers/ids/2", "the id is free")
    check.finds("stopped", NOTE, "single-0", "waits for this broker")
    check.join("the other", 1, "-c", f"{check.dir}/broker-1.properties")
    check.finds("the other", BLOCKS, "t-0", "without this broker 0 of 1 needed are in sync")
    check.join("the other, asked", 1, "-c", f"{check.dir}/broker-1.properties", "-b", bootstrap)
    check.finds("the other, asked", BLOCKS, "t-0", "would have no leader")


def files(check):
    """Of the stopped broker: a file that a start would refuse, and log dirs in which something is wrong."""
    path = check.properties(2, "refused.properties", *(line for line, *_ in LINES))
    check.join("refused", 1, "-c", path, "--broker", "2")
    for line, severity, what in LINES:
        check.finds(f"refused {line}", severity, "refused.properties", what)
    copy = f"{check.dir}/copy"
    shutil.copytree(f"{check.dir}/broker-2", copy)
    shutil.rmtree(f"{copy}/single-0")
    os.remove(f"{copy}/.kafka_cleanshutdown")
    os.mkdir(f"{copy}/stuff")
    os.mkdir(f"{copy}/__cluster_metadata-0")
    for name, text in (("recovery-point-offset-checkpoint", "0\n9\n"), ("t-0/partition.metadata", "version: 0\n"
                       "topic_id: 3jBpTZtrRMyaAgnk0lQHxg"), ("t-1/00000000000000000000.log", "x" * 100)):
        with open(f"{copy}/{name}", "w", encoding="utf-8") as f:
            f.write(text)
    moved = check.properties(2, "moved.properties", f"log.dirs={copy}")
    check.join("log dir", 1, "-c", moved)
    check.finds("log dir", BLOCKS, "single-0", "none of the log dirs has it")
    check.finds("log dir", WARNING, copy, "not stopped cleanly")
    check.finds("log dir", NOTE, f"{copy}/stuff", "no partition's directory")
    check.finds("log dir", BLOCKS, "__cluster_metadata-0", "KRaft")
    check.finds("log dir", WARNING, "recovery-point-offset-checkpoint", "cannot be used")
    check.finds("log dir", BLOCKS, f"{copy}/t-0", "an earlier topic")
    check.finds("log dir", BLOCKS, "t-1/00000000000000000000.log", "cannot be used")
    with open(f"{copy}/meta.properties", "w", encoding="utf-8") as f:
        f.write("version=0\ncluster.id=another\nbroker.id=7\n")
    check.join("log dir of others", 1, "-c", moved)
    check.finds("log dir of others", BLOCKS, copy, "belongs to cluster another")
    check.finds("log dir of others", BLOCKS, copy, "belongs to broker 7, not to 2")


def planted(check):
    """With nobody left who would react to it."""
    check.cluster("stop", 1)
    check.plant()
    check.join("planted", 1, "--zookeeper", check.zookeeper)
    for path, _, severity, where, what in NODES:
        check.finds(f"planted {path}", severity, where, what)


def wrong(check):
    check.join("no such chroot", 1, "--zookeeper", check.zookeeper + "/none")
    check.finds("no such chroot", BLOCKS, "/none", "no such chroot")
    check.join("a server that is down", 1, "--zookeeper", f"{check.zookeeper},127.0.0.1:{check.port + 199}",
               "--timeout", "500")
    check.finds("a server that is down", WARNING, f":{check.port + 199}", "does not answer")
    for words in ([], ["--zookeeper", "/x"], ["--broker", "-1", "-z", "h:1"], ["--foo"], ["word", "-z", "h:1"]):
        done = subprocess.run([KLAMM, "check-join", *words], capture_output=True, check=False)
        check.expect(f"usage {words}", done.returncode == 2 and done.stderr.count(b"\n") in (1, 2), done)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=26900)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if subprocess.run([f"{ROOT}/tests/kafka/fetch"], stdout=subprocess.DEVNULL, check=False).returncode:
        print("join_cli: Kafka's jars cannot be had here, so nothing is looked at")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    folder = tempfile.mkdtemp(prefix="klamm-join-cli-")
    check = Check(f"{folder}/cluster", options.port, options.verbose)
    try:
        check.cluster("up", "--impl", "kafka", "--brokers", 2, "--port", options.port, "--set",
                      "transaction.state.log.num.partitions=1")
        for part in (healthy, transactions, stopped, files, planted, wrong):
            part(check)
    finally:
        check.cluster("down", "--wipe")
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{check.passed} passed, {check.failed} failed")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
