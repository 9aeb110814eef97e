"""What consumer groups cost a coordinator: thousands that are alive, and a million offsets that are read again."""

import json
import os
import re
import subprocess
import time

from cluster import IMPL, LOAD, Cluster, poll

GROUPS = 10000
OFFSETS_EACH = 100
TOPIC = "bench-groups"
PROGRAM = os.path.join(os.path.dirname(LOAD), "klamm-group-load")


def memory(cluster):
    """(resident now, most it has been) of the one broker, in MB."""
    with open(f"/proc/{cluster.pids()[1]}/status", encoding="utf-8") as f:
        found = dict(re.findall(r"^(VmRSS|VmHWM):\s+(\d+) kB", f.read(), re.M))
    return int(found["VmRSS"]) / 1e3, int(found["VmHWM"]) / 1e3


def load(cluster, command, *args):
    """Its sums, once it is over."""
    done = subprocess.run([PROGRAM, command, "--broker", "%s:%d" % cluster.address(1), "--topic", TOPIC, "--groups",
                           str(GROUPS), *args], capture_output=True, text=True, check=False, timeout=600)
    if not done.stdout:
        raise AssertionError(f"klamm-group-load {command} said nothing: {done.stderr[-1000:]}")
    sums = json.loads(done.stdout)
    if done.returncode != 0:
        raise AssertionError(f"klamm-group-load {command}: {done.stderr[-1000:]} {sums}")
    return sums


def live(cluster, seconds):
    """10,000 groups, each with one member on a connection of its own that heartbeats every 3 s and commits every 5 s."""
    before, _ = memory(cluster)
    cpu = cluster.usage()[1][0]
    sums = load(cluster, "live", "--seconds", str(seconds), "--interval-ms", "5000", "--heartbeat-ms", "3000")
    used = cluster.usage()[1][0] - cpu
    rss, peak = memory(cluster)
    print(f"{GROUPS:,} groups of one member, {sums['commits'] / seconds:,.0f} commits/s: all joined in "
          f"{sums['join_ms'] / 1e3:.1f} s; commit p50 {sums['p50_us'] / 1e3:.2f}, p99 {sums['p99_us'] / 1e3:.2f}, p99.9 "
          f"{sums['p999_us'] / 1e3:.2f} ms (aim: p99 10 ms); RSS {before:.1f} -> {rss:.1f} MB, peak {peak:.1f} MB "
          f"(aim: 150 MB); CPU broker {used:.1f} s, client {sums['cpu']:.1f} s", flush=True)


def groups_of(cluster):
    """How many the coordinator has, once it has read every partition that it leads; 0 before."""
    try:
        with cluster.connect(1, 30) as c:
            code, groups = c.list_groups()
    except OSError:
        return 0
    return len(groups) if code == 0 else 0


def reload(cluster):
    """Seconds from the start of a broker until it answers for every group, after a clean stop and after a kill."""
    sums = load(cluster, "fill", "--partitions", str(OFFSETS_EACH))
    print(f"{GROUPS * OFFSETS_EACH:,} offsets committed in {sums['seconds']:.1f} s", flush=True)
    groups = groups_of(cluster)
    for end in ("stop", "kill"):
        cluster.run(end, 1)
        if IMPL == "kafka" or end == "kill":
            cluster.wait_unregistered(1)
        log = os.path.join(cluster.dir, "broker-1.log")
        read_from = os.path.getsize(log)
        start = time.monotonic()
        cluster.run("start", 1)
        poll("every group should be loaded", lambda: groups_of(cluster) == groups, 120)
        took = time.monotonic() - start
        with open(log, encoding="utf-8", errors="replace") as f:
            f.seek(read_from)
            spans = [int(ms) for ms in re.findall(r"groups loaded .* ms=(\d+)", f.read())]
        rss, peak = memory(cluster)
        print(f"coordinator of {GROUPS * OFFSETS_EACH:,} offsets, after {end}: {took:.1f} s from start to all loaded (aim: 5 s), "
              f"{len(spans)} partitions read in {sum(spans) / 1e3:.1f} s of work; RSS {rss:.1f} MB, peak {peak:.1f} MB",
              flush=True)


def measure(directory, seconds):
    cluster = Cluster(os.path.join(directory, "groups"), brokers=1)
    try:
        cluster.up()
        cluster.create_topic(TOPIC, OFFSETS_EACH, 1)
        live(cluster, seconds)
        reload(cluster)
    finally:
        cluster.down("--wipe")
