"""RESULTS.md: the table, with the commit and the conditions under which it came about."""

import json
import os
import platform
import re
import statistics
import subprocess
import time

import table
from cluster import ROOT
from sides import NAMES


def text_of(command):
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


BROKER = ("broker", "common", "controller", "zk", "meson.build")


def commit():
    """The last one that changed the broker; "and changes" where the tree is not what was committed."""
    changed = text_of(["git", "status", "--porcelain", "--", *BROKER])
    return (text_of(["git", "log", "-1", "--format=%h of %cs", "--", *BROKER]) or "unknown") + (" and changes" if changed else "")


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        found = re.search(r"^model name\s*: (.*)$", f.read(), re.M)
    return found[1] if found else platform.machine()


def memory_gb():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9


BUSY = 0.2   # of the machine: what others may have of it before times say little
COLD = 0.15  # of a JVM's CPU, for compiling


def shares_of(results, name, sides):
    """One of the shares that Meter takes during measurements under load."""
    return [s for v in results.values() for side in sides for s in v[side].get(name, [])]


def warnings(results):
    """What a reader must know before any number."""
    lines = []
    if statistics.median(shares_of(results, "others", NAMES) or [0]) > BUSY:
        lines += ["**The machine was busy with other things. Times and rates, and their ratios, are those of programs "
                  "that wait for a CPU most of the time: they are no proof of an aim. Memory, and roughly CPU per "
                  "byte, carry over to a quiet machine.**", ""]
    if statistics.median(shares_of(results, "compiling", ["kafka"]) or [0]) > COLD:
        lines += ["**Kafka's brokers were still compiling: their CPU per byte is higher than that of warm ones.**", ""]
    return lines


def share(results, name, sides):
    """Median and most of it."""
    shares = shares_of(results, name, sides)
    if not shares:
        return "not known (no cell under load)"
    return f"median {100 * statistics.median(shares):.0f} %, at most {100 * max(shares):.0f} %"


def conditions(bench, results):
    java = text_of(["java", "-version"]).splitlines()
    place = "a disk" if bench.disk else "tmpfs"
    return [
        f"- Klamm {commit()}, release build; Apache Kafka 3.9.1, ZooKeeper mode; "
        f"measured {time.strftime('%Y-%m-%d %H:%M')}",
        f"- {platform.system()} {platform.release()}, {processor()}, {memory_gb():.0f} GB; {bench.limits}",
        f"- data on {place}; brokers, ZooKeeper and clients share the cores",
        f"- {java[0] if java else 'java unknown'}; Kafka's brokers with what kafka-server-start sets: -Xmx1G -Xms1G, "
        "G1, MaxGCPauseMillis=20; but with a log of warnings only, without JMX and GC log",
        "- both clusters of three brokers are up all the time and get the same load in turns; who is first "
        "changes with each round; both are warmed before the first",
        f"- {bench.rounds} rounds (cells that only --full adds: one), nominally {bench.seconds} s each; the load of a "
        "cell is the same number of records for both",
        f"- of all cores, other processes on the machine had: {share(results, 'others', NAMES)}",
        f"- of the CPU of Kafka's brokers, their compilers still took: {share(results, 'compiling', ['kafka'])} (not "
        "counted; but where it is much, they were not warm yet, and still interpreted what they will run compiled)",
    ]


READING = """\
How to read it: median of the rounds, in brackets the lowest and the highest. "Times better" is the ratio within a
round, its median and extremes: above 1, Klamm is better. Names of cells: RF, acks, size of a value, number of
clients at a time (x), compression, listener. `produce` and `consume` are kafka-producer-perf-test and
kafka-consumer-perf-test with their defaults; 6 partitions, for consumers one on each broker; MB are 10^6 bytes of
values as the application has them. `rdkafka` is rdkafka_performance. `steady` is klamm-load at a fixed rate of records
a second: from when a record was due to its acknowledgement. `endtoend` is EndToEndLatency. CPU and memory are the
brokers' own, from /proc, without the CPU of a JVM's compilers. A failover counts from the end of the dead broker's
session until every broker that is left names living leaders for all partitions."""


def rows_of(results):
    return [row for cell, values in results.items() for row in table.rows_of(cell, values)] + table.memory_row(results)


def write(path, bench, results, failed, notes=""):
    rows = rows_of(results)
    text = ["# Klamm beside Apache Kafka", "", "Written by `tests/run bench --against kafka --save`.", "",
            *warnings(results), "## Conditions", "", *conditions(bench, results), "", READING, "",
            "## Aims", "", *table.aims(rows), ""]
    if notes:
        text += ["## Where an aim is missed, and why", "", notes.strip(), ""]
    text += ["## All cells", "", *table.markdown(rows), ""]
    if failed:
        text += ["Cells that could not be measured:", "", *(f"- {cell}: {why}" for cell, why in failed.items()), ""]
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(text))


def write_json(path, results, failed):
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"commit": commit(), "results": results, "failed": failed}, f, indent=1)
