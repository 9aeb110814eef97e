#!/usr/bin/env python3
"""reassign_cli - kafka-reassign-partitions and kafka-log-dirs beside Kafka 3.9's own, on our brokers

    tests/oracle/reassign_cli.py [--bootstrap HOST:PORT,...] [--verbose]

Without --bootstrap it starts four brokers, with two log dirs each, and ends them. Both tools get the same command lines; standard output, exit
code and, for wrong command lines, the first line of standard error must be the same. Free are stack traces, where
proposals lie, and what Kafka's JSON parser says about what is no JSON. Ends with one line of counts.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import topics_cli
from topics_cli import ROOT, Kafkas, ours

topics_cli.CLASSES.update({"kafka-reassign-partitions": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
                           "kafka-log-dirs": "org.apache.kafka.tools.LogDirsCommand"})
MOVE, DIRS = "kafka-reassign-partitions", "kafka-log-dirs"
ONCE = "once"  # MOVE, by our tool alone: what it says depends on where the replicas are


def plan(*entries, **more):
    return {"version": 1, "partitions": [dict(zip(("topic", "partition", "replicas", "log_dirs"), e))
                                         for e in entries], **more}


PLANS = {
    "same": plan(("t", 1, [2, 3, 1]), ("t", 0, [1, 2, 3])),
    "moved": plan(("t", 0, [4, 2]), ("t", 1, [3, 4, 1])),
    "back": plan(("t", 0, [1, 2, 3]), ("t", 1, [2, 3, 1])),
    "dirs-any": plan(("t", 0, [1, 2, 3], ["any", "any", "any"])),
    "empty": plan(),
    "no-replicas": plan(("t", 0, [])),
    "doubles": plan(("t", 0, [1, 1, 2, 2]), ("t", 1, [3, 3])),
    "twice": plan(("t", 0, [1]), ("t", 0, [1])),
    "version": plan(version=2),
    "unknown-broker": plan(("t", 0, [1, 9])),
    "unknown-partition": plan(("t", 7, [1, 2])),
    "unknown-topic": plan(("nothing", 0, [1, 2])),
    "dirs-short": plan(("t", 0, [1, 2], ["any"])),
    "topics": {"version": 1, "topics": [{"topic": "t"}]},
    "topics-twice": {"version": 1, "topics": [{"topic": "t"}, {"topic": "t"}]},
    "topics-unknown": {"topics": [{"topic": "nothing"}]},
}
VERIFY = "--verify --preserve-throttles"
FILE, TOPICS = "--reassignment-json-file", "--topics-to-move-json-file"
BARE = [[], ["--help"], ["--version"], ["--list"], ["--execute"]]
STEPS = [
    *[(MOVE, words) for words in (
        [], ["--list", "--verify"], ["--execute"], ["--verify"], ["--cancel"], ["--generate"], ["--foo"], [FILE],
        ["--generate", TOPICS, "topics"], ["--verify", "--throttle", "3", FILE, "same"],
        ["--list", "--additional"], ["--list", FILE, "same"], ["--cancel", "--additional", FILE, "same"],
        ["--list"])],
    *[(MOVE, ["--execute", FILE, name]) for name in PLANS if not name.startswith(("topics", "moved"))],
    *[(MOVE, [action, "--preserve-throttles", FILE, name]) for action in ("--verify", "--cancel")
      for name in ("same", "moved", "empty", "twice", "unknown-broker", "unknown-partition", "unknown-topic")],
    *[(MOVE, ["--generate", TOPICS, name, "--broker-list", brokers]) for name, brokers in (
        ("topics", "1,1"), ("topics", "1,2"), ("topics", "x"), ("topics-twice", "1,2,3"), ("topics-unknown", "1,2,3"),
        ("topics", "1,2,3"))],
    (MOVE, ["--generate", "--disable-rack-aware", TOPICS, "topics", "--broker-list", "1,2,3"]),
    (MOVE, ["--execute", FILE, "moved", "--timeout", "x"]),
    *[(DIRS, words) for words in (
        [], ["--foo"], ["--describe", "--broker-list", "7"], ["--describe", "--broker-list", "4", "--topic-list", "nothing"],
        ["--describe", "--topic-list", "t", "--broker-list", "1"])],
]


def dir_plans(folder):
    """Plans with log dirs, which only a cluster of our own has; for each (action, plan) in order."""
    def path(broker, second):
        return f"{folder}/cluster/broker-{broker}" + ("-2" if second else "")

    def to(second, replicas=((1, 2, 3), (2, 3, 1))):
        return plan(*[("t", p, list(r), [path(b, second) for b in r]) for p, r in enumerate(replicas)])

    PLANS.update({
        "dirs-first": to(False), "dirs-second": to(True),
        "dirs-mixed": plan(("t", 0, [1, 2, 3], ["any", path(2, False), "any"])),
        "dirs-nowhere": plan(("t", 0, [1, 2, 3], ["any", "/nowhere", "any"])),
        "dirs-of-another": plan(("t", 0, [1, 2, 3], [path(2, False), "any", "any"])),
        "dirs-relative": plan(("t", 0, [1, 2, 3], ["broker-1", "any", "any"])),
        "dirs-new-replica": plan(("t", 0, [4, 2, 3], [path(4, True), "any", "any"])),
    })
    # Where a replica lies before its first move is the broker's choice: only what follows is compared.
    return [(MOVE, [*action.split(), FILE, name]) for name in ("dirs-first", "dirs-second", "dirs-first", "dirs-mixed")
            for action in ("--execute", VERIFY)] + \
        [(DIRS, ["--describe", "--topic-list", "t", "--broker-list", "1,2,3"])] + \
        [(MOVE, [*action.split(), FILE, name]) for name in ("dirs-nowhere", "dirs-of-another", "dirs-relative")
         for action in ("--execute", VERIFY)] + \
        [(ONCE, ["--execute", FILE, "dirs-new-replica"]), (MOVE, [*VERIFY.split(), FILE, "dirs-new-replica"]),
         (DIRS, ["--describe", "--topic-list", "t", "--broker-list", "4"])]


def visible(answer, args):
    code, out, err = answer
    lines = [line for line in out.splitlines() if line and not re.match(r"\s+at |java\.|org\.|joptsimple\.|Caused by|\s+\.\.\.", line)]
    if "--version" in args:
        lines = [re.sub(r"^3\.9\.\d+$", "3.9", line) for line in lines]
    for i, line in enumerate(lines):
        if i and lines[i - 1].startswith("Proposed"):  # the number of replicas and partitions only
            lines[i] = [len(p["replicas"]) for p in json.loads(line)["partitions"]]
        elif line.startswith('{"brokers"'):
            for broker in (parsed := json.loads(line))["brokers"]:
                broker["logDirs"].sort(key=lambda d: d["logDir"])
                for log_dir in broker["logDirs"]:
                    log_dir["partitions"].sort(key=lambda p: p["partition"])
            lines[i] = parsed
    told = code != 0 and not out
    return code, lines, err.splitlines()[0] if told and err and "--help" not in args else ""


def wait_moved(bootstrap):
    deadline = time.monotonic() + 30
    while "No partition" not in ours(MOVE, ["--bootstrap-server", bootstrap, "--list"])[1] or \
            '"isFuture":true' in ours(DIRS, ["--bootstrap-server", bootstrap, "--describe"])[1]:
        assert time.monotonic() < deadline, "the move does not end"
        time.sleep(0.1)


def compare(kafkas, bootstrap, folder, options):
    more = [] if options.bootstrap else dir_plans(folder)
    for name, content in PLANS.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            json.dump(content, f)
    failed, steps = 0, []
    steps += [(tool, words) for tool in (MOVE, DIRS) for words in BARE if tool == MOVE or words[:1] != ["--list"]]
    steps += [(tool, ["--bootstrap-server", bootstrap] + [os.path.join(folder, w) if w in PLANS else w for w in words])
              for tool, words in STEPS + more]
    for tool, args in steps:
        if tool == ONCE:
            code, out, err = ours(MOVE, args)
            assert code == 0, out + err
            continue
        if VERIFY.split()[1] in args:
            wait_moved(bootstrap)
        theirs, mine = visible(kafkas.run(tool, args), args), visible(ours(tool, args), args)
        if "--help" in args:
            theirs, mine = theirs[0], mine[0]
        if theirs != mine:
            failed += 1
            print(f"differs: {tool} {' '.join(args)}\n  Kafka: {theirs}\n  ours:  {mine}")
        elif options.verbose:
            print(f"same: {tool} {' '.join(args)}")
    steps = [s for s in steps if s[0] != ONCE]
    print(f"{len(steps) - failed} passed, {failed} failed, 0 skipped")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bootstrap")
    parser.add_argument("--port", type=int, default=25500)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="klamm-reassign-cli-")
    cluster = [f"{ROOT}/deploy/cluster"]
    try:
        if not options.bootstrap:
            subprocess.run([*cluster, "up", "--dir", f"{folder}/cluster", "--brokers", "4", "--log-dirs", "2", "--port",
                            str(options.port)], check=True, stdout=subprocess.DEVNULL)
        libs = subprocess.run([f"{ROOT}/tests/kafka/fetch"], capture_output=True, text=True, check=True).stdout.strip()
        kafkas = Kafkas(libs)
        bootstrap = options.bootstrap or f"127.0.0.1:{options.port + 1}"
        ours("kafka-topics", ["--bootstrap-server", bootstrap, "--create", "--topic", "t", "--replica-assignment",
                              "1:2:3,2:3:1"])
        failed = compare(kafkas, bootstrap, folder, options)
        kafkas.close()
        sys.exit(1 if failed else 0)
    finally:
        if not options.bootstrap:
            subprocess.run([*cluster, "down", "--dir", f"{folder}/cluster", "--wipe"], check=False,
                           stdout=subprocess.DEVNULL)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
