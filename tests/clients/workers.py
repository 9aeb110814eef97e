"""Producers and groups of all kinds on one topic, through the death of a leader: each group processes each record.

README.md says what a worker is told and what it says.
"""

import subprocess

from cluster import PATIENCE, poll, read_topic
from program import Program

BEGIN = 180  # seconds for all programs to be at work; many virtual machines start at once


class Worker(Program):
    """A producer, a group of one, or both."""

    def __init__(self, name, command, said_to):
        self.acked, self.processed, self.failed, self.is_silent = set(), set(), [], False
        self.said = []
        # Whether its library may tell of records that it gave up, while a leader is gone.
        self.gives_up = False
        super().__init__(name, command, said_to)

    def hear(self, line):
        kind, *words = line.split()
        if kind == "acked":
            self.acked.update(words)
        elif kind == "processed":
            self.processed.update(words)
        elif kind == "failed":
            self.failed.append(" ".join(words))
        elif kind == "sent":
            self.is_silent = True
        else:
            self.said.append(line.strip())

    def stop_sending(self):
        self.process.stdin.write("enough\n")
        self.process.stdin.flush()


class Follower(Worker):
    """A program that shows what has arrived somewhere, line by line, which counts as processed; it knows no end."""

    def hear(self, line):
        self.processed.add(line.strip())

    def leave(self):
        self.kill()


def faults(acked, producers, consumers, there):
    """What must not be, each a text. acked: by whomever; there: the values that are in the topic."""
    for worker in producers:
        if not worker.acked:
            yield f"nothing was acknowledged to {worker.name}"
        if worker.failed and not worker.gives_up:
            yield f"{len(worker.failed)} not acknowledged to {worker.name}, e.g. {worker.failed[0]}"
    if acked - there:
        yield f"{len(acked - there)} acknowledged records are lost, e.g. {min(acked - there)}"
    for worker in consumers:
        if missing := acked - worker.processed:
            yield f"{len(missing)} not processed by {worker.name}, e.g. {min(missing)}"


class Crew:
    """Workers on one topic. What they do is "produce", "consume", both, or to stand between producers and consumers."""

    def __init__(self, cluster, topic, partitions=3):
        self.cluster, self.topic, self.partitions = cluster, topic, partitions
        self.producers, self.consumers, self.helpers, self.sent_before = [], [], [], set()
        cluster.create_topic(topic, partitions, min(3, len(cluster.numbers)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for worker in self.workers():
            worker.kill()

    def workers(self):
        return list(dict.fromkeys(self.producers + self.consumers + self.helpers))

    def hire(self, name, command, *args, does=("produce", "consume")):
        """command: the words that start it; args: what it is told besides."""
        return self.add(Worker(name, [*command, self.cluster.bootstrap(), self.topic, f"group-of-{name}", name, *args],
                               self.cluster.dir), does)

    def add(self, program, does=()):
        """It must live as long as the crew."""
        for kind, programs in (("produce", self.producers), ("consume", self.consumers)):
            if kind in does:
                programs.append(program)
        if not does:
            self.helpers.append(program)
        return program

    def send_lines(self, name, command, count=2000):
        """By a program that sends its input: all lines count as acknowledged if it ends without a complaint."""
        lines = [f"{name}:{n}" for n in range(count)]
        with open(f"{self.cluster.dir}/{name}.err", "w+", encoding="utf-8") as err:
            subprocess.run(command, input="".join(f"{line}\n" for line in lines), stdout=err, stderr=err, text=True,
                           check=True, timeout=180)
            err.seek(0)
            said = err.read()
        assert "ERROR" not in said, said[-2000:]
        self.sent_before.update(lines)

    def dismiss(self, worker):
        """It ends, and is no more waited for."""
        for programs in (self.producers, self.consumers, self.helpers):
            if worker in programs:
                programs.remove(worker)
        worker.leave()

    def follow(self, topic, cluster=None):
        """All that is acknowledged must arrive in that topic, too; Debian's kcat looks."""
        cluster = cluster or self.cluster
        self.add(Follower(f"kcat-{topic}", [
            "kcat", "-C", "-q", "-u", "-b", cluster.bootstrap(), "-t", topic, "-o", "beginning", "-f", "%s\\n",
            "-X", "topic.metadata.refresh.interval.ms=5000", "-X", "reconnect.backoff.max.ms=500"], cluster.dir),
            ["consume"])

    def acked(self):
        return self.sent_before.union(*(w.acked for w in self.producers))

    def check_alive(self):
        for worker in self.workers():
            assert worker.is_alive() or worker.has_left(), f"{worker.name} died: {worker.last_words()}"

    def wait_for(self, what, undone, seconds=PATIENCE):
        """Until undone(), which tells {name: why} of those that are not there yet, tells nothing."""
        left = {}

        def done():
            self.check_alive()
            left.clear()
            left.update(undone())
            return not left
        try:
            poll(what, done, seconds)
        except AssertionError as e:
            raise AssertionError(f"{e}; not yet: {left}") from None

    def wait_progress(self, count=50, seconds=PATIENCE):
        """Each producer has count acknowledgements more, and each consumer has processed all that there are by then."""
        before = {w: len(w.acked) for w in self.producers}
        self.wait_for(f"{count} acknowledgements more", lambda: {
            w.name: more for w in self.producers if (more := len(w.acked) - before[w]) < count}, seconds)
        self.wait_processed(seconds)

    def wait_processed(self, seconds=PATIENCE):
        """Each consumer has processed each record that is acknowledged by now."""
        acked = self.acked()
        missing = {w: acked - w.processed for w in self.consumers}

        def behind():
            for worker in missing:
                missing[worker] = missing[worker] - worker.processed
            return {w.name: f"{len(left)} missing, e.g. {min(left)}" for w, left in missing.items() if left}
        self.wait_for(f"all {len(acked)} acknowledged records should be processed", behind, seconds)

    def through_a_restart(self):
        """The leader of partition 0 dies and comes back; all go on before, meanwhile and afterwards."""
        self.wait_progress(seconds=BEGIN)
        self._without(self.cluster.leader(self.topic, 0), "kill")

    def through_a_rolling_restart(self):
        """Each broker ends as it should, and comes back."""
        for number in self.cluster.numbers:
            self._without(number, "stop")

    def _without(self, victim, end):
        self.cluster.run(end, victim)
        for partition in range(self.partitions):
            self.cluster.leader(self.topic, partition, but=[victim])
        self.wait_progress()
        self.cluster.start(victim)
        self.cluster.wait_in_sync(self.topic)
        self.wait_progress()

    def finish(self):
        """No more records; each that was acknowledged is in the topic, and processed by each group."""
        for worker in self.producers:
            worker.stop_sending()
        for worker in self.producers:
            poll(f"{worker.name} should have sent all", lambda w=worker: w.is_silent or not w.is_alive())
        self.wait_processed()
        for worker in self.workers():
            worker.leave()
        there = {line.split()[2] for line in read_topic(self.cluster, self.topic, self.partitions)}
        acked = self.acked()
        found = list(faults(acked, self.producers, self.consumers, there))
        assert not found, f"{self.topic}: " + "; ".join(found)
        print(f"{self.topic}: {len(acked)} records of {len(self.producers)} producers, each processed by "
              f"{len(self.consumers)} groups")
