"""Cells of many partitions: memory, failover of leaders and of the controller, restarts.

A failover is timed from the moment at which ZooKeeper lets go of the dead broker (its session is as long on both sides
and no merit of either) until each broker that is left names a living leader of every partition, and a controller.
"""

import os
import signal
import subprocess
import time

import starts
import survey
from cluster import ROOT
from watch import Watch

A_TOPIC = 100  # partitions
SETTLE = 10    # seconds of doing nothing after which memory and CPU are read


class Partitions:
    """`count` partitions with three replicas each on three brokers."""

    def __init__(self, count):
        self.count, self.name = count, f"partitions-{count}"
        self.cluster = self.name
        self.topics = [f"many-{n}" for n in range(count // A_TOPIC)]

    def estimate(self, _seconds, rounds):
        return 60 + self.count // 50 + rounds * (60 + self.count // 100)

    def prepare(self, bench):
        """All of them made; what that took, and what they cost once nothing happens."""
        took = {side.name: self._create(side) for side in bench.sides}
        time.sleep(SETTLE)
        out = {}
        for side in bench.sides:
            cpu = side.cpu()
            time.sleep(SETTLE)
            out[side.name] = {"create_s": took[side.name], "rss_partitions": side.largest_mb(),
                              "idle_cpu": (side.cpu() - cpu) / SETTLE * 1e3}
        return out

    def _create(self, side):
        start = time.monotonic()
        with side.connect(side.controller(), starts.PATIENCE) as c:
            for at in range(0, len(self.topics), 10):
                made = c.create_topics(self.topics[at:at + 10], A_TOPIC, 3, timeout_ms=120000)
                if any(code for _, code, _ in made):
                    raise RuntimeError(f"{side.name}: topics could not be made: {made}")
        starts.wait_in_sync(side, self.count)
        return time.monotonic() - start

    def _spread(self, side):
        """Preferred replicas lead again, so that the next one to die leads a third of all."""
        patient = os.path.join(side.dir, "patient.properties")
        with open(patient, "w", encoding="utf-8") as f:
            f.write(f"request.timeout.ms={starts.PATIENCE}000\ndefault.api.timeout.ms={starts.PATIENCE}000\n")
        done = subprocess.run([f"{ROOT}/build/release/klamm", "elect", "--bootstrap-server", side.bootstrap(),
                               "--election-type", "preferred", "--all-topic-partitions", "--command-config", patient],
                              capture_output=True, text=True, check=False, timeout=starts.PATIENCE)
        if done.returncode != 0:
            raise RuntimeError(f"{side.name}: klamm elect: {(done.stdout + done.stderr)[-500:]}")
        starts.wait_in_sync(side, self.count)

    def _led(self, side, victim):
        """Waits until every broker but the victim has everything led by the living."""
        for number in side.numbers:
            if number == victim:
                continue
            with side.connect(number, 120) as c:
                for names in (self.topics[:1], None):  # a short answer until it begins, then all
                    def led():
                        seen = survey.ask(c, names)
                        return (not seen.leaders & {victim, -1} and seen.controller not in (victim, -1)
                                and seen.partitions >= (A_TOPIC if names else self.count))
                    starts.until(f"{side.name}: broker {number} should see nothing led by broker {victim}", led)

    def _kill(self, side, victim):
        """(milliseconds from the end of its session until all is led, from the kill)."""
        local = side.local(victim)
        with Watch(side.zk_host, side.port + 101, f"/brokers/ids/{victim}") as watch:
            killed = time.monotonic()
            local.signal(signal.SIGKILL)
            watch.wait_deleted()
            expired = time.monotonic()
            self._led(side, victim)
        led = time.monotonic()
        local.wait_gone(10)
        return (led - expired) * 1e3, (led - killed) * 1e3

    def measure(self, _bench, side):
        controller = side.controller()
        controller_ms, controller_total = self._kill(side, controller)
        unclean = starts.restart(side, controller, self.count)
        self._spread(side)
        controller = side.controller()
        victim = next(n for n in side.numbers if n != controller)
        leader_ms, leader_total = self._kill(side, victim)
        starts.restart(side, victim, self.count)
        self._spread(side)
        side.run("stop", victim)
        clean = starts.restart(side, victim, self.count)
        self._spread(side)
        return {"controller_ms": controller_ms, "controller_total": controller_total, "leader_ms": leader_ms,
                "leader_total": leader_total, "unclean_serves": unclean[0], "unclean_whole": unclean[1],
                "clean_serves": clean[0], "clean_whole": clean[1]}

    def finish(self, bench):
        """Its clusters are taken down by who opens the next ones."""
