#!/usr/bin/env python3
"""small_cli - kafka-delete-records, kafka-get-offsets, kafka-cluster, kafka-features and zookeeper-shell beside Kafka
3.9's own and ZooKeeper's, on our brokers (or on Kafka's)

    tests/oracle/small_cli.py [--port P] [--verbose] [--only TOOL] [--impl kafka]

Starts one ZooKeeper and three brokers and ends them. Both tools get the same command lines; standard output, exit code
and what a wrong command line is answered with on standard error must be the same. What changes something runs once for
each tool, on a topic or node of its own (@ in the list below). Free are stack traces, log lines, the order in which a
hash table tells partitions, how lines are broken (argparse4j), and what ZooKeeper's watcher says in between. Then what
only ours promise: --dry-run, one clear line for what is wrong, Ctrl-C. Ends with one line of counts.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import topics_cli
from topics_cli import ROOT, Kafkas, ours

topics_cli.CLASSES.update({
    "kafka-delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
    "kafka-get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-cluster": "org.apache.kafka.tools.ClusterTool",
    "kafka-features": "org.apache.kafka.tools.FeatureCommand",
    "zookeeper-shell": "org.apache.zookeeper.ZooKeeperMainWithTlsSupportForKafka",
})
DELETE, OFFSETS, CLUSTER, FEATURES, SHELL = ("kafka-delete-records", "kafka-get-offsets", "kafka-cluster",
                                             "kafka-features", "zookeeper-shell")
TABLE_OF_FLAGS = re.compile(r"^Option\s+Description")


def entry(topic="@t", partition=0, offset=1, **more):
    return {"topic": topic, "partition": partition, "offset": offset, **more}


# The files of kafka-delete-records, by name; text is written as it is.
FILES = {
    "five": {"partitions": [entry(offset=5)], "version": 1},
    "again": {"partitions": [entry(offset=5), entry(partition=1, offset=-1)]},
    "high": {"partitions": [entry(offset=99999)]},
    "negative": {"partitions": [entry(offset=-5)]},
    "compacted": {"partitions": [entry("compacted")]},
    "empty": {"partitions": []},
    "no-topic-name": {"partitions": [entry("")]},
    "twice": {"partitions": [entry(), entry()]},
    "no-partitions": {"version": 1},
    "version-2": {"version": 2, "partitions": []},
    "version-text": {"version": "1", "partitions": []},
    "version-float": {"version": 1.5, "partitions": []},
    "list": [1, 2],
    "text": "a",
    "null": None,
    "partitions-object": {"partitions": {}},
    "partitions-null": {"partitions": None},
    "partitions-numbers": {"partitions": [1]},
    "entry-empty": {"partitions": [{}]},
    "topic-number": {"partitions": [entry(1)]},
    "partition-text": {"partitions": [entry(partition="0")]},
    "partition-big": {"partitions": [entry(partition=3000000000)]},
    "offset-text": {"partitions": [entry(offset="1")]},
    "offset-float": '{"partitions":[{"topic":"t","partition":0,"offset":1.0}]}',
    "offset-big": '{"partitions":[{"topic":"t","partition":0,"offset":99999999999999999999}]}',
    "offset-null": {"partitions": [entry(offset=None)]},
    "offset-missing": {"partitions": [{"topic": "t", "partition": 0}]},
    "trailing": '{"partitions":[]} words behind it',
    "garbage": "garbage",
    "nothing": "",
}
FILE = "--offset-json-file"
BARE = [
    *[(tool, words) for tool in (DELETE, OFFSETS, CLUSTER, FEATURES)
      for words in ([], ["--help"], ["--foo"], ["--bootstrap-server"])],
    *[(tool, ["--version"]) for tool in (DELETE, OFFSETS)],
    (DELETE, [FILE, "five"]),
    (OFFSETS, ["--topic", "t"]),
    (OFFSETS, ["--bootstrap-server", "x", "--time", "foo"]),
    (OFFSETS, ["--bootstrap-server", "localhost:x"]),
    (OFFSETS, ["--bootstrap-server", ""]),
    (DELETE, ["--bootstrap-server", "x", FILE, "/nonexistent"]),
    *[(CLUSTER, words.split()) for words in (
        "-h", "foo", "cluster-id", "cluster-id -h", "unregister -h", "unregister", "unregister --id x",
        "unregister --id 99999999999", "cluster-id --boot x", "cluster-id -b x -C y", "cluster-id -b",
        "cluster-id -b x extra", "cluster-id -b x --foo", "cluster-id -b x -z", "-b x cluster-id", "cluster",
        "cluster-id --config", "cluster-id -b x", "cluster-id -b localhost:1 -c /nonexistent")],
    *[(FEATURES, words.split()) for words in (
        "-h", "foo", "d", "describe", "describe -h", "upgrade -h", "downgrade -h", "disable -h",
        "--bootstrap-server x", "--bootstrap-server x describe extra", "--bootstrap-server x describe",
        "--bootstrap-server x disable --feature a b", "--bootstrap-server x upgrade --metadata",
        "--bootstrap-server x --bootstrap-controller y describe", "describe --bootstrap-server x",
        "--bootstrap-server localhost:1 --command-config /nonexistent describe")],
]
SERVED = [
    *[(DELETE, [FILE, name]) for name in FILES],
    (DELETE, []),
    (DELETE, [FILE]),
    (DELETE, [FILE, "/nonexistent"]),
    (DELETE, ["--bootstrap-server", "y", FILE, "five"]),
    (DELETE, ["--command-config", "/nonexistent", FILE, "five"]),
    *[(OFFSETS, words.split("~")) for words in (
        "--topic~@t", "--topic~@t~--partitions~0,1", "--topic~@t~--partitions~0,x", "--topic~@t~--partitions~99",
        "--topic~@t~--partitions~", "--topic~@t|compacted", "--topic~@t,compacted~--partitions~0", "--topic~nothing",
        "--topic~[", "--topic-partitions~@t:0", "--topic-partitions~@t:2-5", "--topic-partitions~@t:9-,compacted:-1",
        "--topic-partitions~@t:", "--topic-partitions~@t:-", "--topic-partitions~@t:x", "--topic-partitions~@t:1:2",
        "--topic-partitions~@t:99999999999", "--topic-partitions~@t:5-3", "--topic-partitions~@t:0~--topic~@t",
        "--topic-partitions~@t:0~--partitions~1", "--topic-partitions~compacted:~--exclude-internal-topics",
        "--topic~@t~--time~earliest", "--topic~@t~--time~-2", "--topic~@t~--time~max-timestamp", "--topic~@t~--time~-3",
        "--topic~@t~--time~earliest-local", "--topic~@t~--time~-4", "--topic~@t~--time~latest", "--topic~@t~--time~0",
        "--topic~@t~--time~99999999999999", "--topic~@t~--time~foo", "--topic~@t~--time~", "--topic~@t~--time~LATEST",
        "--topic~@t~--topic~u", "--topic", "--command-config~/nonexistent", "stray~--topic~@t~--partitions~0",
        "--topic~@t~--partitions~0, 1", "--topic~@t~--partitions~0,,1", "--topic~@t~--partitions~-1")],
    *[(CLUSTER, words.split()) for words in (
        "cluster-id -b B", "cluster-id --bootstrap-s B", "cluster-id --bootstrap-server=B", "cluster-id -bB",
        "cluster-id -b B -b B", "cluster-id -C B", "unregister -b B --id 3", "unregister -b B -i -1")],
    *[(FEATURES, ["--bootstrap-server", "B", *words.split()]) for words in (
        "describe", "upgrade", "upgrade --metadata 3.7", "upgrade --metadata 9.9", "upgrade --metadata 3.7-IV1 --dry-run",
        "upgrade --metadata 3.3.1", "upgrade --feature foo=1", "upgrade --feature foo=1 --dry-run",
        "upgrade --feature foo", "upgrade --feature foo=x", "upgrade --feature foo=", "upgrade --feature foo=99999",
        "upgrade --feature foo=1 --feature foo=2", "upgrade --feature foo=1 --feature bar=2", "upgrade --feature foo=0",
        "upgrade --feature foo=-1", "upgrade --feature =1", "downgrade --feature foo=1 --unsafe",
        "downgrade --meta 3.3", "downgrade", "disable", "disable --feature foo", "disable --feature foo --unsafe --dry-run",
        "disable --feature foo --feature foo", "upgrade --metadata 3.7 --feature metadata.version=5")],
]
ZOOKEEPER = [line.strip() for line in r"""
    ls /
    ls -s /brokers
    ls -R /brokers/topics/compacted
    ls -w /brokers
    ls /nothing
    ls nothing
    ls /brokers/
    ls
    ls -x /
    ls /brokers extra
    get /controller
    get -s /cluster/id
    get /brokers
    get /nothing
    get
    stat /controller
    stat /nothing
    create /@ hello
    create /@ hello
    get /@
    create -s /@/seq x
    create /@/no/parent x
    create /@/nodata
    create /@/readable x world:anyone:r
    getAcl /@/readable
    create /@/bad x bad
    create -c /@/container
    create -t 1000 -e /@/ttl x
    create -t 1000 /@/ttl x
    create name
    create
    get /@/nodata
    set /@ world
    set -s /@ world2
    set -v 0 /@ x
    set -v 2 /@ x
    set /@
    set /nothing x
    getAcl /@
    getAcl -s /@
    getAcl /nothing
    setAcl -s /@/nodata world:anyone:cdrwa
    setAcl -v 9 /@/nodata world:anyone:cdrwa
    setAcl /@/nodata world:anyone
    setAcl /@/nodata ip:127.0.0.1:cdrwa,world:anyone:cdrwa
    getAcl /@/nodata
    setAcl /@/nodata auth::cdrwa
    setAcl /nothing world:anyone:r
    setAcl -R /@ world:anyone:cdrwa
    addauth digest user:secret
    addauth
    delete /@
    delete -v 7 /@/nodata
    delete /@/nodata
    delete /nothing
    delete
    sync /
    getAllChildrenNumber /brokers/ids
    rmr /@
    help
    foo
    create -e /@/e x
    create -s -e /@/seq x
    deleteall /@
    deleteall /@
    """.splitlines() if line.strip()]


def without_traces(err):
    """The words before a stack trace, or the table of flags, begins."""
    lines = []
    for line in err.splitlines():
        if TABLE_OF_FLAGS.match(line):
            break
        if line and not re.match(r"\[\d{4}-|\s+at |\s+\.\.\. |Caused by|(java|org|com|joptsimple)[.\w$]*(:|$)", line):
            lines.append(line)
    return lines


def visible(tool, answer, world, args):
    code, out, err = answer
    out, err = (text.replace(f"{world}-", "@") for text in (out, err))
    told = without_traces(err)
    lines = out.splitlines()
    if "--version" in args:
        lines = [re.sub(r"^3\.9\.\d+$", "3.9", line) for line in lines]
    if tool == DELETE:
        lines.sort()
    if tool in (CLUSTER, FEATURES):
        told = [told if told[:1] and told[0].startswith("usage:") else told[:1]]
        lines = ["".join("".join(lines).split())]
    return code, lines, told[:1] if code and "--help" not in args and args else bool(told)


def unwatched(out):
    """Without what the watcher says, in a thread of its own, between any two lines."""
    return re.sub(r"(?m)^(WATCHER::|WatchedEvent .*)$", "", out)


def shell_visible(answer, world):
    """Without the watcher, and what differs from node to node."""
    code, out, err = answer
    text = unwatched(out).replace(world, "@")
    text = re.sub(r"(?m)^((?:[cmp]Zxid|[cm]time|ephemeralOwner) = ).*", r"\1X", text)
    told = [re.sub(r"\d+", "N", line.replace(world, "@")) for line in without_traces(err)]
    return code, [line for line in text.splitlines() if line], told[:1] + told[-1:]


def wait_catches(pid, number):
    """Until a process has a handler for a signal."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with open(f"/proc/{pid}/status", encoding="utf-8") as f:
            caught = int(re.search(r"SigCgt:\s*(\w+)", f.read())[1], 16)
        if caught >> (number - 1) & 1:
            return
        time.sleep(0.01)
    raise AssertionError(f"process {pid} has no handler for signal {number}")


class Check:
    def __init__(self, kafkas, folder, bootstrap, zookeeper, verbose):
        self.kafkas, self.folder, self.bootstrap, self.zookeeper = kafkas, folder, bootstrap, zookeeper
        self.verbose = verbose
        self.passed = self.failed = 0

    def count(self, what, theirs, mine):
        same = theirs == mine
        self.passed += same
        self.failed += not same
        if not same:
            print(f"differs: {what}\n  Kafka: {theirs}\n  ours:  {mine}", flush=True)
        elif self.verbose:
            print(f"same: {what} -> {mine}")

    def fill(self, words, world):
        words = [self.bootstrap.join(re.split(r"\bB$|(?<=^-b)B$", word)) for word in words]
        return [os.path.join(self.folder, f"{word}-{world}") if word in FILES else word.replace("@", f"{world}-")
                for word in words]

    def step(self, tool, words):
        sides = []
        for run, world in ((self.kafkas.run, "jav"), (ours, "our")):
            args = self.fill(words, world)
            sides.append(visible(tool, run(tool, args), world, args))
        self.count(" ".join([tool, *words]), *sides)

    def shell(self, line):
        sides = []
        for run, world in ((self.kafkas.run, "jav"), (ours, "our")):
            args = line.replace("@", world).split()
            where = ["-server", self.zookeeper] if world == "jav" else [self.zookeeper]
            sides.append(shell_visible(run(SHELL, where + args), world))
        self.count(f"{SHELL} {line}", *sides)


class OurOwn:
    """What only we promise: one clear line, the right exit code, nothing half applied, also when it is interrupted."""

    def __init__(self, check, folder, cluster):
        self.check, self.folder, self.cluster = check, folder, cluster

    def expect(self, words, code, line, stdin=None):
        done = subprocess.run([topics_cli.KLAMM, *words], capture_output=True, text=True, check=False, timeout=60,
                              input=stdin)
        found = done.returncode, re.sub(r"127\.0\.0\.1:\d+", "H", done.stderr)
        self.check.count("klamm " + " ".join(words), (code, f"klamm {words[0]}: {line}\n" if line else ""), found)
        return done.stdout

    def unreachable(self):
        nobody = "no broker of H answers: Connection refused (--bootstrap-server)"
        where = ["--bootstrap-server", "127.0.0.1:1"]
        plan = os.path.join(self.folder, "five-our")
        self.expect(["offsets", *where], 1, nobody)
        self.expect(["cluster", "cluster-id", *where], 1, nobody)
        self.expect(["features", "describe", *where], 1, nobody)
        self.expect(["delete-records", *where, "-f", plan], 1, nobody + "; nothing was deleted")
        self.expect(["zk", "127.0.0.1:1", "--timeout", "1000", "ls", "/"], 1, "H: no ZooKeeper server answered within 1 s")

    def named(self):
        """The flag at fault is named."""
        where = ["--bootstrap-server", self.check.bootstrap]
        self.expect(["offsets", *where, "--topc", "x"], 2, "topc is not a recognized option; did you mean --topic?")
        self.expect(["offsets", *where, "--topic-partitions", "t:x"], 2,
                    "Invalid rule specification: t:x (--topic-partitions t:x)")
        self.expect(["cluster", "cluster-id", *where, "--confg", "x"], 2,
                    "unrecognized arguments: '--confg'; did you mean --config? (klamm cluster --help shows the flags)")
        self.expect(["log-dirs", *where, "--describe", "--broker-list", "x"], 1,
                    'For input string: "x" (--broker-list x)')
        self.expect(["topics", *where, "--create", "--topic", "never", "-o", "json"], 2,
                    'Option "[output]" can\'t be used with option "[create]" (klamm topics --help shows the flags)')
        self.expect(["features", "upgrade", "--metadata", "3.9", *where, "-o", "json"], 2, "--output goes with describe")

    def completed(self):
        """TAB, by each of Kafka's names and by ours."""
        for tool in topics_cli.CLASSES:
            flag = {SHELL: "--zk-tls-config-file", CLUSTER: "cluster-id", FEATURES: "--command-config"}.get(tool, "--help")
            found = self.expect(["complete", "bash", f"/opt/kafka/bin/{tool}.sh {flag[:-1]}"], 0, "")
            self.check.count(f"TAB behind {tool}", flag + "\n", found)
        line = f"klamm topics -b {self.check.bootstrap} --describe --topic our"
        self.check.count(line, "our-t\n", self.expect(["complete", "bash", line], 0, ""))
        script = self.expect(["completion", "bash"], 0, "")
        line = "klamm topics --des"
        done = subprocess.run(["bash", "-c", f"{script}\nCOMP_LINE='{line}' COMP_POINT={len(line)}\n_klamm\n"
                                             "echo \"${COMPREPLY[@]}\""], capture_output=True, text=True, check=False)
        self.check.count("bash: " + line, ("--describe\n", ""), (done.stdout, done.stderr))

    def nothing_changes(self):
        """--dry-run says what would be done, and does nothing."""
        where = ["--bootstrap-server", self.check.bootstrap]
        before = self.expect(["offsets", *where, "--time", "earliest", "-o", "json"], 0, "")
        plan = os.path.join(self.folder, "all")
        with open(plan, "w", encoding="utf-8") as f:
            json.dump({"partitions": [entry("our-t", 0, 20), entry("our-t", 1, -1)]}, f)
        rows = json.loads(self.expect(["delete-records", *where, "-f", plan, "--dry-run", "-o", "json"], 0, ""))
        self.check.count("klamm delete-records --dry-run", [20, 20], [row["delete_up_to"] for row in rows])
        self.expect(["topics", *where, "--delete", "--topic", "our-t", "--dry-run"], 0, "")
        self.expect(["topics", *where, "--create", "--topic", "never", "--dry-run"], 0, "")
        self.expect(["zk", self.check.zookeeper, "--dry-run", "deleteall", "/brokers"], 0, "")
        after = self.expect(["offsets", *where, "--time", "earliest", "-o", "json"], 0, "")
        self.check.count("nothing was changed by --dry-run", before, after)

    def interrupted(self):
        """Ctrl-C while a leader does not answer: what was not reached is said, and nothing else is asked."""
        config, plan = os.path.join(self.folder, "quick.properties"), os.path.join(self.folder, "both")
        with open(config, "w", encoding="utf-8") as f:
            f.write("request.timeout.ms=1500\n")
        with open(plan, "w", encoding="utf-8") as f:
            json.dump({"partitions": [entry("our-t", p, 0) for p in range(12)]}, f)
        subprocess.run([*self.cluster, "pause", "3", "--dir", f"{self.folder}/cluster"], check=True,
                       stdout=subprocess.DEVNULL)
        started = subprocess.Popen([topics_cli.KLAMM, "delete-records", "-b", self.check.bootstrap, "-f", plan, "-o",
                                    "json", "--command-config", config], stdout=subprocess.PIPE, text=True,
                                   stderr=subprocess.PIPE)
        wait_catches(started.pid, signal.SIGINT)
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=60)
        subprocess.run([*self.cluster, "resume", "3", "--dir", f"{self.folder}/cluster"], check=True,
                       stdout=subprocess.DEVNULL)
        missed = sum(row["trouble"].startswith("not reached") for row in json.loads(out))
        self.check.count("Ctrl-C in delete-records", (1, f"klamm delete-records: stopped: of 12 partitions {missed} were "
                                                      "not reached, the others are done\n", True),
                         (started.returncode, err, 0 < missed <= 12))


def shell_lines(check, libs):
    """Lines of standard input, for ZooKeeper's shell and for ours."""
    lines = "ls /brokers\nget /nothing\n\nstat /nothing\nget /brokers\nfoo\n" \
            "addauth digest user:secret\ncreate /guarded 'two words' auth::cdrwa\ngetAcl /guarded\nget /guarded\n" \
            "setAcl /guarded digest:somebody:else=:r\nset /guarded x\ndelete /guarded\nquit\nls /\n"
    java = subprocess.run(["java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                           f"-Dlog4j.configuration=file:{ROOT}/deploy/local/kafka-log4j.properties", "-cp", f"{libs}/*",
                           topics_cli.CLASSES[SHELL], "-server", check.zookeeper], input=lines, text=True,
                          capture_output=True, check=False, timeout=60)
    mine = subprocess.run([topics_cli.KLAMM, SHELL, check.zookeeper], input=lines, text=True, capture_output=True,
                          check=False, timeout=60)
    sides = []
    for done in (java, mine):
        text = unwatched(done.stdout)
        told = [line for line in without_traces(done.stderr) if not line.startswith(("\t", "ZooKeeper -server"))]
        sides.append(([line for line in text.splitlines() if line], told))
    check.count(f"{SHELL}, line by line", *sides)


def write_files(folder):
    for world in ("jav", "our"):
        for name, content in FILES.items():
            with open(os.path.join(folder, f"{name}-{world}"), "w", encoding="utf-8") as f:
                f.write(content if isinstance(content, str) and name != "text" else
                        json.dumps(content, separators=(",", ":")).replace("@", f"{world}-"))


def make_topics(bootstrap):
    klamm = topics_cli.KLAMM
    for topic, more in (("jav-t", ["--partitions", "12"]), ("our-t", ["--partitions", "12"]),
                        ("compacted", ["--partitions", "1", "--config", "cleanup.policy=compact"])):
        subprocess.run([klamm, "topics", "-b", bootstrap, "--create", "--topic", topic, *more], check=True,
                       stdout=subprocess.DEVNULL)
    for topic in ("jav-t", "our-t"):
        for partition in ("0", "1"):
            subprocess.run([klamm, "produce", "-b", bootstrap, "-t", topic, "-p", partition], check=True,
                           input="".join(f"{n}\n" for n in range(20)), text=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)


def compare(check, only):
    at_server = ["--bootstrap-server", check.bootstrap]
    for tool, words in [*BARE, *((t, w if t in (CLUSTER, FEATURES) else at_server + w) for t, w in SERVED)]:
        if only in (None, tool):
            check.step(tool, words)
    for line in ZOOKEEPER:
        if only in (None, SHELL):
            check.shell(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=26200)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--impl", default="klamm", help="whose brokers: klamm or kafka")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="klamm-small-cli-")
    cluster, port = [f"{ROOT}/deploy/cluster"], options.port
    kafkas = None
    try:
        subprocess.run([*cluster, "up", "--dir", f"{folder}/cluster", "--brokers", "3", "--port", str(port), "--impl",
                        options.impl], check=True, stdout=subprocess.DEVNULL)
        libs = subprocess.run([f"{ROOT}/tests/kafka/fetch"], capture_output=True, text=True, check=True).stdout.strip()
        kafkas = Kafkas(libs)
        check = Check(kafkas, folder, f"127.0.0.1:{port + 1}", f"127.0.0.1:{port + 101}", options.verbose)
        write_files(folder)
        make_topics(check.bootstrap)
        compare(check, options.only)
        if options.only in (None, SHELL):
            shell_lines(check, libs)
        if not options.only:
            own = OurOwn(check, folder, cluster)
            own.unreachable()
            own.named()
            own.completed()
            own.nothing_changes()
            own.interrupted()
        print(f"{check.passed} passed, {check.failed} failed")
        return 1 if check.failed else 0
    finally:
        if kafkas:
            kafkas.close()
        subprocess.run([*cluster, "down", "--dir", f"{folder}/cluster", "--wipe"], check=False,
                       stdout=subprocess.DEVNULL)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
