"""Cells of starting: exec to serving and idle memory; restarts after a clean stop and after a kill, with data."""

import os
import subprocess
import time

import perf
import survey
import usage

LAST = 3               # the broker that is started again and again
SETTLE = 5             # seconds from serving to "idle"
PATIENCE = 600         # seconds for anything that takes long with ten thousand partitions
DATA = 512 << 20


def until(what, ready, seconds=PATIENCE):
    """The first true value of ready(), looked for so often that it can be timed."""
    deadline = time.monotonic() + seconds
    while True:
        value = ready()
        if value:
            return value
        if time.monotonic() > deadline:
            raise RuntimeError(f"not within {seconds} s: {what}")
        time.sleep(0.002)


def wait_served(side, number):
    """Until a broker answers and lists itself."""
    until(f"{side.name}: broker {number} should serve", side.local(number).serves)


def wait_in_sync(side, count):
    """Until every broker says that each of `count` partitions has all its replicas in sync."""
    for number in side.numbers:
        with side.connect(number, 60) as c:
            def whole():
                seen = survey.ask(c)
                return seen.out_of_sync == 0 and seen.partitions >= count and seen.brokers == side.numbers
            until(f"{side.name}: {count} partitions should be in sync as broker {number} sees it", whole)


def restart(side, number, count):
    """(milliseconds until it serves, until it is in every ISR again), from the start of a broker that is down."""
    begin = time.monotonic()
    side.local(number).begin()
    wait_served(side, number)
    served = time.monotonic()
    wait_in_sync(side, count)
    return (served - begin) * 1e3, (time.monotonic() - begin) * 1e3


class Start:
    """From exec to serving, and the memory of a broker that has nothing to do."""

    name, cluster = "start", "starts"

    def estimate(self, _seconds, rounds):
        return 10 + rounds * 2 * (SETTLE + 5)

    def prepare(self, bench):
        for side in bench.sides:
            side.run("stop", LAST)

    def measure(self, _bench, side):
        local = side.local(LAST)
        command = local.command(os.path.join(side.dir, local.name + ".properties"))
        begin = time.monotonic()
        broker = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_served(side, LAST)
            took = time.monotonic() - begin
            time.sleep(SETTLE)
            return {"start_ms": took * 1e3, "rss_idle": usage.of(broker.pid)[1] / 1e6}
        finally:
            broker.terminate()
            broker.wait(60)

    def finish(self, bench):
        for side in bench.sides:
            side.heal()


class Restart:
    """A broker that has 512 MiB in six partitions, none of it flushed, is killed; then it is stopped cleanly."""

    name, cluster = "restart-512m", "starts"

    def estimate(self, _seconds, rounds):
        return rounds * 2 * 35

    def prepare(self, bench):
        """Nothing: each round has data of its own."""

    def measure(self, bench, side):
        side.new_topic(self.name, 6, 3)
        config = perf.properties(os.path.join(bench.directory, "restart.properties"),
                                 {"bootstrap.servers": side.endpoints_of("plain"), "acks": "all", **perf.PRODUCER})
        perf.together([perf.producer(side.topic, DATA // 1024, bench.payload(1024), config)], bench.patience())
        wait_in_sync(side, 6)
        side.run("kill", LAST)
        side.wait_unregistered(LAST)
        unclean = restart(side, LAST, 6)
        side.run("stop", LAST)
        clean = restart(side, LAST, 6)
        side.drop_topic()
        return {"unclean_serves": unclean[0], "unclean_whole": unclean[1], "clean_serves": clean[0],
                "clean_whole": clean[1]}

    def finish(self, bench):
        for side in bench.sides:
            side.heal()
            side.drop_topic()
