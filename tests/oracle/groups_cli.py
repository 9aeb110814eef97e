#!/usr/bin/env python3
"""groups_cli - kafka-consumer-groups beside Kafka 3.9's own, on groups of real consumers

    tests/oracle/groups_cli.py [--impl kafka|klamm] [--bootstrap HOST:PORT,...] [--full] [--verbose]

Without --bootstrap it starts two of Kafka's brokers (or ours) and ends them. Both tools get the same command lines;
standard output, standard error without logs and stack traces, and exit code must be the same. What changes something
runs once for each tool, on groups of its own ("jav-" and "our-", @ in the list below). Free are the order of rows where
it is that of Java's hash tables, the line feeds between rows that Kafka 3.9 forgot, and numbers of attempts. Ends with
one line of counts.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import topics_cli
from topics_cli import ROOT, Kafkas, ours

TOOL = "kafka-consumer-groups"
topics_cli.CLASSES[TOOL] = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
LONG = "a-topic-with-a-very-long-name-of-its-own"
LONG_GROUP = "@long.group-name_with-many-letters"

PLANS = {
    "ok3": "t1,0,5\nt1,1,7\n", "ok4": "@simple,t1,0,5\nleft,t1,1,7\n", "bad-partition": "t1,x,5\n",
    "bad-offset": "t1,0,y\n", "short": "t1,0\n", "many": "t1,0,5,6,7\n", "many-long": "t1,0,5,6,777\n", "none": "",
    "blank": "t1,0,5\n\nt1,1,6\n", "feeds": "\n\n", "quoted": '"t1",0,5\r\n', "spaces": "t1, 0 , 5 \n",
    "bad-second": "t1,0,5\nt1,qqq,5\n", "minus": "t1,0,-5\n", "big-partition": "t1,99999999999,5\n",
    "clamp": "t1,0,500\nt1,1,0\n", "four-short": "@simple,t1,0\n", "four-bad": "@simple,t1,x,0\n", "unclosed": '"t1,0,5\n',
    "unknown": "nothing,0,5\n", "fraction": "t1,1.5,5\n", "no-topic": ",0,5\n", "quoted4": '"@simple","t1","1","5"\n',
    "heading": "topic,partition,offset\n", "no-partition": "t1,,5\n", "no-offset": "t1,0,\n", "comma": "t1,0,5,\n",
    "twice": "t1,0,5\nt1,0,6\n",
}
RESET, DRY = "--reset-offsets", "--dry-run"
BARE, BOTH, EACH = "bare", "both", "each"


def reset(*words, group="simple", dry=True):
    return [RESET, "--group", group, *words, *([DRY] if dry else [])]


# The first list is for every run, the second one for --full.
STEPS = [
    *[(BARE, words) for words in ([], ["--help"], ["--list"], ["--version"], ["--describe", "--group", "x"])],
    # what is no command line
    *[(BOTH, line.split()) for line in (
        "--foo", "--group", "--list --describe", "--describe", "--describe --offsets --members --group x",
        "--describe --group x --state stable", "--delete", "--delete --group x --topic t", "--delete-offsets",
        "--delete-offsets --group x", "--delete-offsets --topic t", "--delete-offsets --all-groups --topic t",
        "--reset-offsets", "--reset-offsets --group x", "--list --group x", "--list --topic x", "--describe --group x --topic t",
        "--reset-offsets --group x --all-topics --execute --dry-run", "--reset-offsets --group x --to-earliest",
        "--reset-offsets --group x --all-groups --to-earliest --all-topics --dry-run",
        "--reset-offsets --group x --to-offset 3 --shift-by 2 --all-topics", "--delete --group x --describe",
        "--reset-offsets --group x --to-latest --to-earliest --to-datetime 4", "--delete --all-groups --group x",
        "--reset-offsets --group x --shift-by 1 --to-current --from-file x --to-earliest --to-latest --by-duration 3",
        "--list --members --verbose --offsets", "--describe --group x --type classic", "--delete --state --verbose",
        "--reset-offsets --members --group x --type", "--list --state --verbose --version", "--list --state --verbose --help",
        "--describe --group x --state a --state b", "--delete-offsets --group x --topic t --list",
        "--delete-offsets --group x --group y --topic t", "--list --bootstrap-server x:1",
        "--describe --group x --timeout abc", "--list --command-config /nonexistent", "--list --state a --state b",
        "--list --state bogus", "--list --state Stable,bogus", "--list --type bogus", "--list --type unknown")],
    # list and describe
    *[(BOTH, line.split()) for line in (
        "--list", "--list stray words", "--list=x", "--list --state", "--list --type",
        "--list --state --type", "--list --state stable,empty", "--list --type Consumer,CLASSIC", "--list --type consumer",
        "--list --type classic --state Empty", "--list --state PreparingRebalance", "--list --state=", "--list --state ,",
        "--describe --group simple", "--describe --group active", "--describe --group static --members",
        "--describe --group active --members", "--describe --group active --members --verbose",
        "--describe --group idle --members --verbose", "--describe --group idle", "--describe --group left",
        "--describe --group left --members", "--describe --group left --state", "--describe --group nothing",
        "--describe --group nothing --members", "--describe --group nothing --state", "--describe --group stuck",
        "--describe --group stuck --members", "--describe --group stuck --state", "--describe --group connect",
        "--describe --group active --state", "--describe --group active --group left --group nothing --state",
        "--describe --group active --group left --group nothing", "--describe --group left --group left",
        "--describe --group twelve --offsets --verbose", "--describe --all-groups", "--describe --all-groups --state",
        "--describe --all-groups --members --verbose", "--describe --group left --dry-run --to-latest --export",
        f"--describe --group {LONG_GROUP[1:]}")],
    (BOTH, ["--describe", "--group", 'odd, "name"']),
    (BOTH, ["--describe", "--group", ""]),
    (BOTH, ["--list", "--state", "Stable, Empty"]),
    # resets that change nothing
    *[(BOTH, reset(*line.split())) for line in (
        "--to-earliest --topic t1", "--to-latest --topic t1", "--to-latest --topic t1:0,2 --topic t2", "--all-topics",
        "--to-current --topic t1 --topic t2", "--shift-by 2 --all-topics", "--shift-by -2 --all-topics", "--shift-by 2 --topic t1",
        "--to-offset 25 --topic t1", "--to-offset -3 --topic t1", "--to-offset x --topic t1", "--shift-by x --topic t1",
        "--to-offset 9223372036854775808 --all-topics", "--to-offset +5 --topic t1:0", "--to-earliest --topic nothing",
        "--to-earliest --topic nothing:0", "--to-earliest --topic t1:7 --timeout 1000", "--to-earliest --topic t1:x",
        "--to-earliest --topic t1:", "--to-earliest --topic t1:1:2", "--to-earliest --topic :1", "--to-earliest --topic t1:1,,2",
        "--to-earliest --topic t1:1,", "--to-earliest --topic t1:+1", "--to-earliest --topic t1:1,1",
        "--to-earliest --topic t1 --topic t1", "--to-earliest --topic t1 --topic t1:0", "--to-earliest --all-topics --topic t1",
        "--to-earliest --topic t1 --export", "--to-datetime 2033-02-20T22:13:25.000 --topic empty-topic")],
    (BOTH, reset("--to-earliest", "--topic", "a b")),
    (BOTH, reset("--to-earliest", "--topic", "")),
    *[(BOTH, reset("--to-datetime", text, "--topic", "t1:0,2")) for text in (
        "2023-11-14T22:13:25.000", "2023-11-14T23:13:25.5+01", "2023-11-14", "2023-02-30T22:13:25.000")],
    *[(BOTH, reset("--by-duration", text, "--topic", "t1:0")) for text in ("P5000D", "junk", "-PT1H", "P99999999999999D")],
    *[(BOTH, reset("--from-file", f"plan:{name}")) for name in (
        "ok3", "ok4", "bad-second", "bad-offset", "many", "blank", "minus", "quoted4")],
    (BOTH, reset("--from-file", "/nonexistent/plan")),
    (BOTH, reset("--from-file", "plan:ok3", "--topic", "t2")),
    (BOTH, reset("--from-file", "plan:ok4", "--group", "left")),
    (BOTH, reset("--from-file", "plan:ok3", "--group", "left")),
    (BOTH, reset("--from-file", "plan:ok4", group="other")),
    (BOTH, reset("--to-earliest", "--topic", "t1", group="active")),
    (BOTH, reset(group="active")),
    (BOTH, reset("--to-earliest", "--topic", "t1", "--group", "left", group="active")),
    (BOTH, reset("--to-earliest", "--topic", "t1", "--group", "left", "--export", group="simple")),
    (BOTH, reset("--to-earliest", "--all-topics", "--group", 'odd, "name"', "--export", group=LONG_GROUP[1:])),
    (BOTH, reset("--to-earliest", "--topic", "t1", group="active", dry=False) + ["--execute"]),
    (BOTH, reset("--to-earliest", "--all-topics", group="nothing")),
    (BOTH, reset("--to-earliest", "--topic", "t1", group="nothing")),
    (BOTH, reset("--to-latest", "--topic", "t1:0", dry=False)),
    (BOTH, [RESET, "--all-groups", "--to-earliest", "--topic", "t1:0", DRY]),
    # what changes something
    *[(EACH, [RESET, "--group", group, *line.split(), "--execute"]) for group, line in (
        ("@simple", "--to-latest --topic t1"), ("@simple", "--shift-by -3 --all-topics"), ("@new", "--to-earliest --topic t1:1"),
        ('@odd, "name"', "--to-datetime 2023-11-14T22:13:25.000 --topic t1 --topic t2:1"),
        ('@odd, "name"', "--to-earliest --all-topics --export"), ("@simple", "--from-file plan:ok3"),
        (LONG_GROUP, "--to-current --all-topics"), ("@twelve", "--to-offset 15 --all-topics"))],
    *[(EACH, ["--describe", "--group", group]) for group in ("@simple", "@new", '@odd, "name"', LONG_GROUP, "@twelve")],
    *[(EACH, ["--delete-offsets", "--group", *line.split()]) for line in (
        f"{LONG_GROUP} --topic t1", f"{LONG_GROUP} --topic {LONG}", "@simple --topic t1:0 --topic t2", "@simple --topic t1:7",
        "@simple --topic nothing", "@simple --topic nothing:3 --topic t1:1", "@simple --topic nothing --topic t1",
        "@nothing --topic t1", "@twelve --topic t.12:10,2", "@twelve --topic t.12:x")],
    *[(BOTH, ["--delete-offsets", "--group", *line.split()]) for line in (
        "active --topic t1", "active --topic t.12:0", "active --topic t1:0 --topic nothing:1")],
    (BOTH, ["--delete-offsets", "--group", "", "--topic", "t1"]),
    (BOTH, ["--delete", "--group", "active"]),
    (BOTH, ["--delete", "--group", "nothing"]),
    (EACH, ["--delete", "--group", "active", "--group", "nothing", "--group", "@new"]),
    (EACH, ["--delete", "--group", "@twelve"]),
    (EACH, ["--describe", "--group", "@twelve"]),
]
FINE = [
    *[(BOTH, reset("--to-datetime", text, "--topic", "t1:0,2")) for text in (
        "2023-11-14T22:13:25.000", "2023-11-14T22:13:25.000Z", "2023-11-14T22:13:25.000+01:00", "2023-11-14T23:13:25.5+01",
        "2023-11-14T22:13:25.000-0100", "2023-11-14T22:13:25", "2023-11-14", "", "2023-11-14T22:13:25.000junk",
        "2023-11-14T22:13:25.000Zjunk", "2023-02-30T22:13:25.000", "2023-1-4T2:3:5.0", "2023-11-14T24:13:25.000",
        " 2023-11-14T22:13:25.000 ", "2023-11-14T22:13:25.000+1", "2023-11-14T22:13:25.000+1:30", "1969-11-14T22:13:25.000Z")],
    *[(BOTH, reset("--by-duration", text, "--topic", "t1:0")) for text in (
        "PT0S", "P5000D", "junk", "P1M", "-PT1H", "PT", "pt1.5s", "P99999999999999D", "P1DT", "P99999999999999999999D",
        "PT1.0000000001S", "P106751991167300DT9223372036854775807S", "P106751991167D", "+P-1DT+2H", "PT5,5S", "P2DT3M1H")],
    *[(BOTH, reset("--from-file", f"plan:{name}")) for name in PLANS],
]
NOBODY = [["--list"], ["--describe", "--group", "x"], ["--delete", "--group", "x"], reset("--all-topics", "--to-earliest"),
          ["--delete-offsets", "--group", "x", "--topic", "t:1"]]

NOISE = re.compile(r"\s*at |Caused by|(java|org|com|joptsimple)\.\S+(Exception|Error)|\s*\.\.\.|.*trying again$|log4j:|"
                   r"\[[^]]*\] (ERROR|WARN \[AdminClient)|Invalid url in bootstrap|[.]?$")
RESET_ROW = re.compile(r"(?s)(.{30}|\S{31,}) (.{30}|\S{31,}) (.{10}) (.{15})")
DELETE_ROW = re.compile(r"(.{30}|\S{31,}) (.{15}) (STATUS {9}|Successful {5}|Error: :org\.apache\.kafka\.common\.errors\.\w+: [^.]*\.( Call: .*)?)")


def rows_of(out):
    """Standard output as lines; the one line that Kafka 3.9 makes of a table of resets becomes many."""
    lines = []
    for line in out.splitlines():
        row = RESET_ROW if re.match(r"GROUP +TOPIC +PARTITION +NEW-OFFSET", line) else DELETE_ROW
        table = re.match(r"GROUP +TOPIC +PARTITION +NEW-OFFSET|TOPIC +PARTITION +STATUS", line)
        lines += [m[0] for m in row.finditer(line)] if table else [line]
    return [re.sub(r"\(callName=.*", "", re.sub(r" \(attempted merging.*", "", line)) for line in lines]


def in_order(lines):
    """Sorted where Java's order is no order: neighbours with the same first word, and plain lists."""
    def first(line):
        return line.split(" ")[0] if not line.startswith(("GROUP", "TOPIC", "Error", "Warn")) else line
    blocks = []
    for line in lines:
        if blocks and first(blocks[-1][-1]) == first(line):
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return [line for block in blocks for line in sorted(block)]


def visible(answer, world, args):
    code, out, err = answer
    if "--version" in args:
        out = re.sub(r"^3\.9\.\d+$", "3.9", out)
    help_at = re.search(r"^Option +Description", err, re.M)
    told = err[:help_at.start()] + "help" if help_at else err
    told = [re.sub(r"^\[[^]]*\]", "[]", line) for line in told.splitlines() if not NOISE.match(line)]
    lines = rows_of(out)
    if world:
        lines, told = ([line.replace(f"{world}-", "@") for line in text] for text in (lines, told))
    if "--describe" in args:
        lines = in_order(lines)
    else:
        lines.sort()
    return code, lines, sorted(told)


class Check:
    def __init__(self, kafkas, bootstrap, folder, verbose):
        self.kafkas, self.bootstrap, self.folder, self.verbose = kafkas, bootstrap, folder, verbose
        self.passed = self.failed = 0

    def fill(self, word, world):
        """plan:X is a file, with @ replaced in it too."""
        if not word.startswith("plan:"):
            return word.replace("@", f"{world}-" if world else "")
        path = os.path.join(self.folder, f"{word[5:]}-{world}")
        with open(path, "w", encoding="utf-8", newline="") as f:
            f.write(PLANS[word[5:]].replace("@", f"{world}-" if world else ""))
        return path

    def answers(self, kind, args):
        where = [] if kind == BARE else ["--bootstrap-server", self.bootstrap]
        found = []
        for run, world in zip((self.kafkas.run, ours), ("jav", "our") if kind == EACH else ("", "")):
            filled = where + [self.fill(word, world) for word in args]
            found.append(visible(run(TOOL, filled), world, filled))
        return found

    def step(self, kind, args):
        """A member may just be rejoining: what changes nothing is asked again."""
        for _ in range(1 if kind == EACH else 4):
            theirs, mine = self.answers(kind, args)
            if "--help" in args or not args:
                theirs, mine = theirs[0], mine[0]
            if theirs == mine:
                break
            time.sleep(0.3)
        name = " ".join(args)
        if theirs == mine:
            self.passed += 1
            if self.verbose:
                print(f"ok: {name} -> {mine}")
            return
        self.failed += 1
        print(f"FAILED: {name}\n  Kafka: {theirs}\n  ours:  {mine}", flush=True)

    def nobody(self):
        """An address where no broker is."""
        self.bootstrap = "127.0.0.1:1"
        for args in NOBODY:
            self.step(EACH, [*args, "--timeout", "500"])


def python_of_clients():
    done = subprocess.run([f"{ROOT}/tests/venv"], stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def start(options, folder):
    port = topics_cli.free_port() if not options.port else options.port
    subprocess.run([f"{ROOT}/deploy/cluster", "up", "--dir", folder, "--brokers", "2", "--impl", options.impl, "--port",
                    str(port), "--set", "group.initial.rebalance.delay.ms=0", "--set", "offsets.topic.num.partitions=8"],
                   check=True, stdout=subprocess.DEVNULL)
    return f"127.0.0.1:{port + 1},127.0.0.1:{port + 2}"


def compare(options, kafkas, python, folder):
    bootstrap = options.bootstrap or start(options, f"{folder}/cluster")
    world = subprocess.Popen([python, os.path.join(ROOT, "tests/oracle/groups_world.py"), bootstrap], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        if world.stdout.readline() != "ready\n":
            raise RuntimeError("the consumers did not come up")
        check = Check(kafkas, bootstrap, folder, options.verbose)
        for kind, args in STEPS + (FINE if options.full else []):
            check.step(kind, args)
        check.nobody()
    finally:
        world.stdin.close()
        world.wait(30)
    return check


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bootstrap")
    parser.add_argument("--impl", choices=("kafka", "klamm"), default="kafka")
    parser.add_argument("--port", type=int)
    parser.add_argument("--full", action="store_true", help="every date, duration and plan too")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    libs = subprocess.run([f"{ROOT}/tests/kafka/fetch"], stdout=subprocess.PIPE, text=True, check=False)
    python = python_of_clients()
    if libs.returncode != 0 or not shutil.which("javac") or not python:
        print("groups_cli: Kafka's jars, a JDK or kafka-python cannot be had here, so nothing is compared")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    folder = tempfile.mkdtemp(prefix="klamm-groups-cli-")
    kafkas = Kafkas(libs.stdout.strip())
    try:
        check = compare(options, kafkas, python, folder)
    finally:
        kafkas.close()
        if not options.bootstrap:
            subprocess.run([f"{ROOT}/deploy/cluster", "down", "--dir", f"{folder}/cluster", "--wipe"], check=False,
                           stdout=subprocess.DEVNULL)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{check.passed} passed, {check.failed} failed")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
