"""The judge of workers, and what they say."""

import sys

from cluster import poll
from workers import Worker, faults


def worker(tmp_path, name, *said):
    """One that has said that."""
    program = Worker(name, [sys.executable, "-c", "import sys; print(*sys.argv[1:], sep='\\n')", *said], str(tmp_path))
    poll(f"{name} should end", lambda: not program.is_alive())
    program.kill()
    return program


def test_good_workers_have_no_faults(tmp_path):
    first = worker(tmp_path, "first", "acked first:0", "acked first:1", "processed first:0 second:0",
                   "processed first:1")
    second = worker(tmp_path, "second", "acked second:0", "processed first:1 first:0", "processed second:0")
    acked = first.acked | second.acked
    assert not list(faults(acked, [first, second], [first, second], acked | {"second:1"}))


def test_what_one_group_left_out_is_found(tmp_path):
    first = worker(tmp_path, "first", "acked first:0", "acked first:1", "processed first:0 first:1")
    second = worker(tmp_path, "second", "processed first:0")
    found = list(faults(first.acked, [first], [first, second], first.acked))
    assert found == ["1 not processed by second, e.g. first:1"]


def test_lost_records_are_found(tmp_path):
    first = worker(tmp_path, "first", "acked first:0", "processed first:0")
    assert list(faults(first.acked, [first], [first], set())) == ["1 acknowledged records are lost, e.g. first:0"]


def test_what_was_not_acknowledged_is_found(tmp_path):
    first = worker(tmp_path, "first", "acked first:0", "failed first:1 timeout")
    second = worker(tmp_path, "second")
    assert list(faults(first.acked, [first, second], [], first.acked)) == [
        "1 not acknowledged to first, e.g. first:1 timeout", "nothing was acknowledged to second"]
    first.gives_up = True
    assert list(faults(first.acked, [first], [], first.acked)) == []


def test_who_speaks_in_riddles_is_ended(tmp_path):
    class Listener(Worker):
        def hear(self, line):
            raise ValueError(line)
    program = Listener("riddles", ["sh", "-c", "echo what; cat"], str(tmp_path))
    poll("it should end", lambda: not program.is_alive())
    program.kill()
    assert "what" in program.last_words() and "ValueError" in program.last_words()
