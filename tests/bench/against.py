"""The side-by-side run: cell by cell, round by round, both sides in turns; progress, time that is left, the table."""

import json
import os
import shutil
import subprocess
import tempfile
import time

import limits
import matrix
import perf
import results as results_file
import table
from cluster import ROOT, free_base_port
from sides import NAMES, Side
from traffic import Consume, Produce

SECONDS = 5
WARM = 36     # times --seconds: the most that a side is warmed
WARM_SHARE = 0.05  # of its CPU that goes into compiling: then it is warm
BOUND = 3     # times the estimate: when it is over, on a machine that has other things to do
OPENING = 15  # seconds, roughly, until both clusters are up
NOTES = os.path.join(ROOT, "tests/bench/NOTES.md")
JSON = os.path.join(ROOT, "build/bench-against.json")


class Bench:
    """What cells need: the two sides, one place, how long."""

    def __init__(self, args):
        self.seconds, self.rounds, self.disk = args.seconds or SECONDS, max(1, args.rounds), args.disk
        place = os.path.join(ROOT, "build") if args.disk else "/dev/shm"
        self.directory = tempfile.mkdtemp(prefix="klamm-bench-", dir=place)
        self.port, self.sides, self.use = free_base_port(), [], None
        self.limits = limits.describe(self.directory, 2)

    def rounds_of(self, cell):
        """Cells that only --full adds are many: one round each."""
        return self.rounds if matrix.is_chosen(cell) else 1

    def patience(self):
        """Seconds after which a tool is given up."""
        return 120 + 20 * self.seconds

    def payload(self, size):
        path = os.path.join(self.directory, f"payload-{size}")
        return path if os.path.exists(path) else perf.payload(path, size)

    def open(self, use):
        """Both sides up for one use; those of another one are taken down."""
        if use == self.use:
            return
        self.close()
        print(f"starting both sides for {use}", flush=True)
        self.sides = [Side(name, self.directory, self.port + 10 * n, use) for n, name in enumerate(NAMES)]
        for side in self.sides:
            side.up()
        self.use = use
        if use == "traffic":
            self.warm()

    def warm(self):
        """A JVM that has just started is slow, and says nothing about one that has run for a day: producing until it
        compiles little any more, for a bounded time, then consuming once."""
        print("warming both sides", flush=True)
        produce, consume = Produce(3, "all", "1k", 1, "none", "plain"), Consume("1k", 1, "plain")
        for side in self.sides:
            deadline, compiling = time.monotonic() + WARM * self.seconds, 1
            while compiling > WARM_SHARE and time.monotonic() < deadline:
                try:
                    compiling = produce.warm(self, side)["compiling"]
                except subprocess.TimeoutExpired:
                    break  # a machine that is that busy warms nothing
        produce.finish(self)
        consume.prepare(self)
        for side in self.sides:
            consume.measure(self, side)
        consume.finish(self)

    def close(self):
        for side in self.sides:
            if os.path.exists(os.path.join(side.dir, "cluster.json")):
                side.down("--wipe")
        self.sides, self.use = [], None

    def measure(self, cell):
        """{side: {metric: [value of each round]}}; what prepare() measures has one value."""
        self.open(cell.cluster)
        values = {name: {} for name in NAMES}
        try:
            for name, once in (cell.prepare(self) or {}).items():
                values[name].update({metric: [value] for metric, value in once.items()})
            for n in range(self.rounds_of(cell)):
                for side in self.sides if n % 2 == 0 else self.sides[::-1]:
                    for metric, value in cell.measure(self, side).items():
                        values[side.name].setdefault(metric, []).append(value)
        finally:
            cell.finish(self)
        return values


def estimate(bench, cells):
    """Seconds that it takes, roughly: measured on two cores."""
    uses = [c.cluster for c in cells]
    opened = [use for n, use in enumerate(uses) if n == 0 or use != uses[n - 1]]
    opening = sum(OPENING + (WARM * bench.seconds if use == "traffic" else 0) for use in opened)
    return opening + sum(c.estimate(bench.seconds, bench.rounds_of(c)) for c in cells)


def minutes(seconds):
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def others(values):
    """What else ran on the machine meanwhile, if that was much."""
    shares = [share for side in values.values() for share in side.get("others", [])]
    most = max(shares, default=0)
    return f"; others had up to {100 * most:.0f} % of the machine" if most > 0.1 else ""


def run_cells(bench, cells, done, report):
    """{cell: why not}; values go to done, and report is called after each cell. Ctrl-C ends it with what there is."""
    failed, begin, total = {}, time.monotonic(), estimate(bench, cells)
    for n, cell in enumerate(cells):
        if time.monotonic() - begin > BOUND * total:
            print(f"the time is up; not measured: {' '.join(c.name for c in cells[n:])}")
            break
        try:
            done[cell.name] = bench.measure(cell)
            said = table.one_line(table.rows_of(cell.name, done[cell.name])) + others(done[cell.name])
        except KeyboardInterrupt:
            break
        except Exception as e:  # whatever it was, the other cells can be measured
            failed[cell.name] = said = f"{type(e).__name__}: {e}".replace("\n", " ")[:600]
            bench.close()
        spent, rest = time.monotonic() - begin, estimate(bench, cells[n + 1:])
        left = max(0, min(rest * spent / max(1, total - rest), BOUND * total - spent))
        print(f"[{n + 1}/{len(cells)}, {minutes(spent)}, left about {minutes(left)}] {cell.name}: {said}", flush=True)
        report(done, failed)
    return failed


def have_tools(cells):
    """Kafka's jars; and the cells without those of rdkafka_performance where it cannot be built."""
    if subprocess.run([f"{ROOT}/tests/kafka/fetch"], stdout=subprocess.DEVNULL, check=False).returncode != 0:
        return None
    if any(c.name.startswith("rdkafka") for c in cells) and subprocess.run(
            [f"{ROOT}/tests/bench/rdkafka"], check=False).returncode != 0:
        return [c for c in cells if not c.name.startswith("rdkafka")]
    return cells


def measured_before(args):
    """What an earlier run that was cut off has measured, of the same broker."""
    if not args.resume or not os.path.exists(JSON):
        return {}
    with open(JSON, encoding="utf-8") as f:
        before = json.load(f)
    if before.get("commit") != results_file.commit():
        raise SystemExit(f"{JSON} is of {before.get('commit')}, this is {results_file.commit()}: measure all of it anew, "
                         "without --resume")
    return before["results"]


def run(args):
    cells = matrix.select([n for n in args.cells.split(",") if n], args.full)
    if args.list:
        print("\n".join(c.name for c in cells))
        return 0
    kept = have_tools(cells)
    if kept is None:
        print("no Apache Kafka to measure against")
        return 77
    done = measured_before(args)
    rest = [c for c in kept if c.name not in done]
    bench = Bench(args)
    total = estimate(bench, rest)
    print(f"{len(rest)} cells, {bench.rounds} rounds of {bench.seconds} s for each side: about {minutes(total)}, at "
          f"most {minutes(BOUND * total)}\nthis machine: {bench.limits}\n"
          "each line: Kafka / Klamm (times better: median, lowest, highest)", flush=True)

    def report(done, failed):
        results_file.write(os.path.join(ROOT, "build/bench-against.md"), bench, done, failed)
        results_file.write_json(JSON, done, failed)

    try:
        failed = run_cells(bench, rest, done, report)
    finally:
        bench.close()
        shutil.rmtree(bench.directory, ignore_errors=True)
    print("\n".join(table.aims(results_file.rows_of(done))))
    if args.save and done:
        notes = ""
        if os.path.exists(NOTES):
            with open(NOTES, encoding="utf-8") as f:
                notes = f.read()
        results_file.write(os.path.join(ROOT, "tests/bench/RESULTS.md"), bench, done, failed, notes)
    print(f"{len(done)} passed, {len(failed)} failed, {len(cells) - len(done) - len(failed)} skipped")
    return 1 if failed else 0
