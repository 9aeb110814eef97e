"""Cells under load: producing and consuming as fast as it goes, and latency at a steady rate.

A cell has a name, `estimate` (seconds that it takes), `prepare`, `measure` (one side, one round; {metric: value}) and
`finish`. Before the first round, both sides get a short run of it: it warms them, and from the slower one follows how
many records are `--seconds` worth of load. Every round sends that number to a topic of its own.
"""

import json
import os
import subprocess

import perf
from cluster import LOAD
from sides import Meter

PARTITIONS = 6  # as in LinkedIn's benchmark
SIZES = {"10": 10, "100": 100, "1k": 1024, "10k": 10240, "100k": 102400}
START = 4       # seconds that a topic and a tool's start take, roughly
STEADY_RATES = (1000, 5000)  # records a second of steady load: nobody is busy, and so many that a broker may be
GIVE_UP_MS = 30000  # how long acknowledgements are waited for after the last record
MOST_BYTES = 1500 << 20  # of values in a run, since a side has all replicas of them in memory
WARM_BYTES = 40 << 20    # of values, for each of --seconds, in a run that only warms
GUESS_BYTES, GUESS_RECORDS = 30 << 20, 100000  # of the first short run, whichever is less


def quantiles(sums):
    """Milliseconds from the sums of klamm-load; what was never acknowledged took at least as long as was waited."""
    missing = 1 - sums["acked"] / sums["sent"]
    return {name: GIVE_UP_MS if missing > 1 - share else sums[f"{name}_us"] / 1e3
            for name, share in (("p50", 0.5), ("p99", 0.99), ("p999", 0.999))}


class Cell:
    """What the cells below have in common."""

    cluster = "traffic"

    def __init__(self, family, **fields):
        self.fields, self.__dict__ = fields, {**self.__dict__, **fields}
        words = (f"{'' if k in ('size', 'codec', 'security') else k}{v}" for k, v in fields.items())
        self.name = "-".join([family, *words])

    def estimate(self, seconds, rounds):
        return 2 * (START + 3) + rounds * 2 * (START + seconds)

    def prepare(self, bench):
        """Values that are measured once: {side: {metric: value}}."""

    def finish(self, bench):
        """Whatever happened, the topics of this cell are gone."""
        for side in bench.sides:
            side.drop_topic()

    def config(self, bench, side, **more):
        path = os.path.join(bench.directory, f"{side.name}-client.properties")
        return perf.properties(path, {**side.client_config(self.security), **more})


class Produce(Cell):
    """kafka-producer-perf-test, one or several of them at a time."""

    def __init__(self, rf, acks, size, x, codec, security):
        super().__init__("produce", rf=rf, acks=acks, size=size, x=x, codec=codec, security=security)
        self.records = 0

    def _run(self, bench, side, records):
        config = self.config(bench, side, acks=self.acks, **perf.PRODUCER, **{
            "bootstrap.servers": side.endpoints_of(self.security), "compression.type": self.codec})
        command = perf.producer(side.topic, records // self.x, bench.payload(SIZES[self.size]), config)
        return sum(perf.rates_of_producer(text) for text in perf.together([command] * self.x, bench.patience()))

    def _once(self, bench, side, records):
        side.new_topic(self.name, PARTITIONS, self.rf)
        try:
            with Meter(bench.sides, side) as meter:
                rate = self._run(bench, side, records)
            return rate, meter, side.largest_mb()
        finally:
            side.drop_topic()

    def prepare(self, bench):
        size = SIZES[self.size]
        short = min(GUESS_RECORDS, GUESS_BYTES // size)
        slower = min(self._once(bench, side, short)[0] for side in bench.sides)
        self.records = max(short, min(int(slower * bench.seconds), MOST_BYTES // size))

    def warm(self, bench, side):
        """A run of a size that does not depend on how fast the still cold side was."""
        self.records = WARM_BYTES * bench.seconds // SIZES[self.size]
        return self.measure(bench, side)

    def measure(self, bench, side):
        rate, meter, rss = self._once(bench, side, self.records)
        size = SIZES[self.size]
        return {"mb": rate * size / 1e6, "mb_per_cpu": self.records * size / 1e6 / meter.cpu, "rss_load": rss,
                **meter.shares}


class Consume(Cell):
    """kafka-consumer-perf-test: each of `x` consumers reads the whole topic, from the page cache.

    A partition on each broker, and not more. The Java client has one Fetch under way to a broker and leaves out of it what
    it has not yet returned to the application: of two partitions, the one that is read to its end waits alone for
    fetch.max.wait.ms, and the rest of the other waits behind it. Whether this costs half a second depends on how the
    producer happened to spread the records, not on the broker."""

    RATES = {"100": 400000, "1k": 100000, "10k": 12000}  # records a second and consumer that are meant to be enough

    def __init__(self, size, x, security):
        super().__init__("consume", size=size, x=x, security=security)

    def estimate(self, seconds, rounds):
        return 2 * (START + 2 * seconds) + rounds * 2 * (START + seconds)

    def prepare(self, bench):
        size = SIZES[self.size]
        self.records = min(self.RATES[self.size] * bench.seconds // self.x, MOST_BYTES // size)
        for side in bench.sides:
            side.new_topic(self.name, len(side.numbers), 1)
            # With linger.ms batches are full on both sides, however fast either acknowledges.
            config = self.config(bench, side, acks="1", **perf.PRODUCER, **{
                "bootstrap.servers": side.endpoints_of(self.security), "linger.ms": 100})
            perf.together([perf.producer(side.topic, self.records, bench.payload(size), config)], bench.patience())
            self._run(bench, side, min(self.records, 100000))

    def _run(self, bench, side, records):
        command = perf.consumer(side.endpoints_of(self.security), side.topic, records, self.config(bench, side))
        return sum(perf.rates_of_consumer(text) for text in perf.together([command] * self.x, bench.patience()))

    def measure(self, bench, side):
        with Meter(bench.sides, side) as meter:
            rate = self._run(bench, side, self.records)
        size = SIZES[self.size]
        return {"mb": rate * size / 1e6, "mb_per_cpu": self.records * self.x * size / 1e6 / meter.cpu,
                "rss_load": side.largest_mb(), **meter.shares}


class Rdkafka(Produce):
    """rdkafka_performance as the producer: a client in C, which leaves the brokers more of the machine."""

    def __init__(self, rf, acks, size):
        Cell.__init__(self, "rdkafka", rf=rf, acks=acks, size=size)
        self.x, self.codec, self.security, self.records = 1, "none", "plain", 0

    def _run(self, bench, side, records):
        command = perf.rdkafka(side.endpoints_of("plain"), side.topic, ["-P", "-s", str(SIZES[self.size])], records,
                               {"acks": self.acks, "queue.buffering.max.messages": 500000, "linger.ms": 5})
        return perf.rates_of_rdkafka(perf.together([command], bench.patience())[0])


class Steady(Cell):
    """klamm-load at a fixed rate: milliseconds from when a record was due until it was acknowledged."""

    def __init__(self, rf, acks, size, security, rate):
        super().__init__("steady", rf=rf, acks=acks, size=size, security=security, rate=rate)

    def prepare(self, bench):
        for side in bench.sides:
            side.new_topic(self.name, PARTITIONS, self.rf)
            self._run(bench, side, 2)

    def _run(self, bench, side, seconds):
        settings = {**side.client_config(self.security), "bootstrap.servers": side.endpoints_of(self.security),
                    "acks": self.acks, "linger.ms": 0}
        settings.pop("ssl.truststore.type", None)
        if "ssl.truststore.location" in settings:
            settings["ssl.ca.location"] = settings.pop("ssl.truststore.location")
        words = [word for k, v in settings.items() for word in ("-X", f"{k}={v}")]
        numbers = {"partitions": PARTITIONS, "size": SIZES[self.size], "seconds": seconds, "rate": self.rate,
                   "flush-ms": GIVE_UP_MS}
        words += [word for k, v in numbers.items() for word in (f"--{k}", str(v))]
        done = subprocess.run([LOAD, "bench", "--topic", side.topic, "--quiet", *words], capture_output=True, text=True,
                              check=False, timeout=bench.patience())
        sums = json.loads(done.stdout or "null")
        if not sums or sums["failed"] or not sums["acked"]:
            raise RuntimeError(f"klamm-load: {sums} {done.stderr[-500:]}")
        return quantiles(sums)

    def measure(self, bench, side):
        with Meter(bench.sides, side) as meter:
            sums = self._run(bench, side, bench.seconds + 1)  # its first second is not counted
        return {**sums, "rss_load": side.largest_mb(), **meter.shares}


class EndToEnd(Cell):
    """EndToEndLatency: one record at a time, from send() until a consumer has it."""

    A_SECOND = 400

    def __init__(self, rf, acks, security):
        super().__init__("endtoend", rf=rf, acks=acks, security=security)

    def prepare(self, bench):
        for side in bench.sides:
            side.new_topic(self.name, 1, self.rf)
            self._run(bench, side, 400)

    def _run(self, bench, side, records):
        command = perf.end_to_end(side.endpoints_of(self.security), side.topic, records,
                                  self.acks, 100, self.config(bench, side))
        return perf.delays_of_end_to_end(perf.together([command], bench.patience())[0])

    def measure(self, bench, side):
        with Meter(bench.sides, side) as meter:
            delays = self._run(bench, side, self.A_SECOND * bench.seconds)
        return {"mean": delays["mean"], "whole_p99": delays["p99"], "rss_load": side.largest_mb(),
                **meter.shares}
