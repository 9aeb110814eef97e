"""The checker itself: each kind of fault is found, and a whole log has none."""

from checker import compare

LOG = ["A 0 0 0", "A 0 1 1", "A 1 0 0", "F 0 2 _TIMED_OUT"]
READ = ["0 0 0:0:", "0 1 0:1:", "1 0 1:0:"]


def test_a_whole_log_has_no_faults():
    verdict = compare(LOG, READ, 3)
    assert not verdict.faults()
    assert (verdict.acked, verdict.failed, verdict.read) == (3, 1, 3)


def test_a_failed_record_may_be_there():
    assert not compare(LOG, READ + ["0 2 0:2:"], 3).faults()


def test_a_lost_record_is_found():
    assert compare(LOG, READ[:2], 3).faults() == {"lost": 1}


def test_a_duplicate_is_found():
    assert compare(LOG, READ + ["0 2 0:1:"], 3).faults() == {"duplicated": 1}


def test_a_failed_record_may_not_be_there_twice():
    assert compare(LOG, READ + ["0 2 0:2:", "0 3 0:2:"], 3).faults() == {"duplicated": 1}


def test_a_reordered_record_is_found():
    assert compare(["A 0 0 1", "A 0 1 0"], ["0 0 0:1:", "0 1 0:0:"], 2).faults() == {"reordered": 1}


def test_a_record_at_another_offset_is_found():
    assert compare(["A 0 0 5"], ["0 6 0:0:"], 1).faults() == {"moved": 1}


def test_a_record_of_another_partition_is_found():
    assert compare([], ["1 0 0:0:"], 1).faults() == {"foreign": 1}
