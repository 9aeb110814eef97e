"""One implementation alone: three brokers, RF 1 and 3, acks 1 and all, records of 100 B and 1 KiB, 1 and 12 partitions.

As fast as it goes, then, with the disk settled, at a fixed rate. A latency counts from the moment at which the record
was due. CPU is the brokers' own, per GB of values sent; the client, on the same machine, has its own column.
"""

import itertools
import json
import os
import shutil
import subprocess
import time

import groups
import limits
from cluster import IMPL, LOAD, ROOT, Cluster, client_options

RATE = 5000


def load(cluster, topic, cell, seconds, *args):
    """One run of klamm-load; its sums, and the CPU seconds that the brokers used meanwhile."""
    before = cluster.usage()
    done = subprocess.run([LOAD, "bench", "--topic", topic, "--partitions", str(cell["partitions"]), "--size",
                           str(cell["size"]), "--seconds", str(seconds), "--quiet", *args,
                           *client_options(cluster, f"acks={cell['acks']}", "queue.buffering.max.messages=200000")],
                          capture_output=True, text=True, check=False, timeout=seconds + 120)
    after = cluster.usage()
    if not done.stdout:
        raise AssertionError(f"klamm-load said nothing: {done.stderr[-1000:]}")
    return json.loads(done.stdout), sum(after[n][0] - before[n][0] for n in after)


def measure(cluster, number, cell, seconds):
    """The row of one cell."""
    topic = f"bench-{number}"
    cluster.create_topic(topic, cell["partitions"], cell["rf"])
    load(cluster, topic, cell, 0.5, "--rate", str(RATE))  # warm: connections, metadata, first segments
    fast, cpu = load(cluster, topic, cell, seconds, "-X", "linger.ms=5", "-X", "batch.size=1000000")
    os.sync()  # what the run above wrote is not to be written back during this one
    steady, _ = load(cluster, topic, cell, seconds + 1, "--rate", str(RATE), "-X", "linger.ms=0")
    rss = max(r for _, r in cluster.usage().values())
    with cluster.connect(cluster.controller()) as c:
        c.delete_topic(topic)
    gigabytes = fast["acked"] * cell["size"] / 1e9
    failed = fast["failed"] + steady["failed"]
    return {**cell, "krec": fast["acked"] / fast["seconds"] / 1e3, "mb": gigabytes * 1e3 / fast["seconds"],
            "cpu": cpu / gigabytes, "client": fast["cpu"] / gigabytes, "p50": steady["p50_us"] / 1e3,
            "p99": steady["p99_us"] / 1e3, "p999": steady["p999_us"] / 1e3, "rss": rss / 1e6, "failed": failed}


HEAD = (f"{'RF':>2} {'acks':>4} {'bytes':>5} {'parts':>5} | {'krec/s':>7} {'MB/s':>6} {'broker':>7} {'client':>7} |"
        f" {'p50':>7} {'p99':>7} {'p99.9':>7} | {'RSS MB':>6}\n"
        f"{'':>20}| {'':>7} {'':>6} {'CPU s/GB':>15} | {'ms at ' + str(RATE) + '/s':>23} | {'max':>6}")


def line(r):
    return (f"{r['rf']:>2} {r['acks']:>4} {r['size']:>5} {r['partitions']:>5} | {r['krec']:>7.1f} {r['mb']:>6.1f} "
            f"{r['cpu']:>7.2f} {r['client']:>7.2f} | {r['p50']:>7.2f} {r['p99']:>7.2f} {r['p999']:>7.2f} | "
            f"{r['rss']:>6.1f}" + (f"  {r['failed']} failed" if r["failed"] else ""))


def start_ms(cluster):
    """From exec to the first answer that lists the broker, best and median of seven starts after clean stops."""
    cluster.run("stop", 3)
    took = []
    for _ in range(7):
        start = time.monotonic()
        broker = subprocess.Popen([os.path.join(cluster.programs(), "klamm-broker"),
                                   os.path.join(cluster.dir, "broker-3.properties")], stderr=subprocess.DEVNULL)
        try:
            while not (view := cluster.view(ask=[3])) or 3 not in view[0]:
                assert time.monotonic() - start < 30 and broker.poll() is None
                time.sleep(0.001)
            took.append((time.monotonic() - start) * 1e3)
        finally:
            broker.terminate()
            broker.wait(60)
    cluster.start(3)
    return min(took), sorted(took)[len(took) // 2]


def many_topics(cluster):
    """Seconds until 1,000 topics with three replicas are led, and the brokers' largest memory then."""
    start = time.monotonic()
    cluster.create_many([f"many-{i}" for i in range(1000)])
    return time.monotonic() - start, max(rss for _, rss in cluster.usage().values()) / 1e6


def costs(cluster):
    """What the project aims at besides speed. Of our broker: Kafka has its own scripts to start it."""
    if IMPL != "klamm":
        return
    print("exec to serving: best {:.0f} ms, median {:.0f} ms (aim: 100)".format(*start_ms(cluster)))
    print("1,000 topics of RF 3 in one request: {:.1f} s, {:.1f} MB (aim: 10 s, 40 MB)".format(*many_topics(cluster)))


def aims(rows):
    """What the project aims at, and what was measured."""
    cpu = [r["cpu"] for r in rows if (r["rf"], r["acks"], r["size"]) == (1, "1", 1024)]
    p99 = [r["p99"] for r in rows if (r["rf"], r["acks"]) == (3, "all")]
    if cpu:
        print(f"aim: broker CPU at most 1 s/GB (1 KiB, acks 1, RF 1): {max(cpu):.2f}")
    if p99:
        print(f"aim: p99 below 5 ms (acks all, RF 3, {RATE}/s): {max(p99):.2f} ms")


def run(args):
    seconds = args.seconds or (15 if args.full else 4)
    directory = os.path.join(os.environ.get("KLAMM_TEST_DIR", f"{ROOT}/build"), "bench")
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    print(f"this machine: {limits.describe(directory, min(seconds, 4))}")
    print(f"brokers: {IMPL}, three of them; {seconds} s a measurement; the client runs on the same cores\n{HEAD}",
          flush=True)
    cluster, rows, failed = Cluster(directory), [], 0
    try:
        cluster.up()
        idle = max(r for _, r in cluster.usage().values())
        for number, (rf, acks, size, partitions) in enumerate(
                itertools.product((1, 3), ("1", "all"), (100, 1024), (1, 12))):
            row = measure(cluster, number, {"rf": rf, "acks": acks, "size": size, "partitions": partitions}, seconds)
            failed += bool(row["failed"])
            rows.append(row)
            print(line(row), flush=True)
        print(f"RSS of an idle broker: {idle / 1e6:.1f} MB")
        aims(rows)
        costs(cluster)
    finally:
        cluster.down("--wipe")
    groups.measure(directory, seconds + 5)
    print(f"{len(rows) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0
