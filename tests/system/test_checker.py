"""The checker itself: each kind of fault is found, and a whole log has none; so are complaints in the logs of brokers."""

import struct

from checker import compare, epochs_at
from mixed import KAFKA, KLAMM, complaints_in

LOG = ["A 0 0 0", "A 0 1 1", "A 1 0 0", "F 0 2 _TIMED_OUT"]
READ = ["0 0 0:0:", "0 1 0:1:", "1 0 1:0:"]


def test_a_whole_log_has_no_faults():
    verdict = compare(LOG, READ, 3)
    assert not verdict.faults()
    assert (verdict.acked, verdict.failed, verdict.read) == (3, 1, 3)
    assert str(verdict) == "acknowledged 3, failed 1 _TIMED_OUT: 1, read 3"


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


# 0/1 and 0/2 were written, not acknowledged, and then written anew.
ANEW_LOG = ["A 0 0 0", "A 0 1 3", "A 0 2 4"]
ANEW = ["0 0 0:0:", "0 1 0:1:", "0 2 0:2:", "0 3 0:1:", "0 4 0:2:"]


def by_epochs(before, after):
    """Of a partition in which those epochs end and begin with offset 3."""
    return lambda partition, offset: before if offset < 3 else after


def test_what_its_producer_wrote_anew_is_no_fault():
    verdict = compare(ANEW_LOG, ANEW, 3, by_epochs((0, 6), (1, 7)))
    assert not verdict.faults() and verdict.anew == 2


def test_the_same_epoch_or_the_same_leader_is_a_fault():
    for before, after in (((0, 6), (0, 7)), ((0, 6), (1, 6)), ((1, 6), (0, 7)), (None, (1, 7)), ((0, 6), None)):
        assert compare(ANEW_LOG, ANEW, 3, by_epochs(before, after)).faults()["duplicated"] == 2


def test_what_was_acknowledged_is_not_written_anew():
    for old in ("A 0 1 1", "A 0 1 -1"):
        verdict = compare([ANEW_LOG[0], old, ANEW_LOG[2]], ANEW, 3, by_epochs((0, 6), (1, 7)))
        assert verdict.faults() == {"moved": 1}


def test_records_after_those_written_anew_are_in_order():
    verdict = compare(ANEW_LOG + ["A 0 3 6"], ANEW + ["0 6 0:3:", "0 7 0:2:"], 4, by_epochs((0, 6), (1, 7)))
    assert verdict.faults() == {"duplicated": 1}
    verdict = compare(["A 0 3 5"], ANEW[:3] + ["0 3 0:2:", "0 4 0:1:", "0 5 0:3:"], 4, by_epochs((0, 6), (1, 7)))
    assert verdict.faults() == {"reordered": 1}


def test_epochs_are_those_of_the_batch():
    def batch(base, count, leader_epoch, producer_epoch):
        body = struct.pack(">iBIhiqqqhii", leader_epoch, 2, 0, 0, count - 1, 0, 0, 1, producer_epoch, 0, count) + b"records"
        return struct.pack(">qi", base, len(body)) + body

    log = batch(5, 3, 6, 0) + batch(8, 1, 7, 1)
    assert [epochs_at(log, offset) for offset in (4, 5, 7, 8, 9)] == [None, (0, 6), (0, 6), (1, 7), None]
    assert epochs_at(log[:-60], 8) is None


OURS = "[2026-11-30 17:32:54,233] ERROR [keeper] it broke"
KAFKAS = "[2026-11-30 17:32:54,233] ERROR Uncaught exception in scheduled task 'isr-expiration' (...KafkaScheduler)"
SLEPT = "org.apache.zookeeper.KeeperException$SessionExpiredException: KeeperErrorCode = Session expired for /a"


def test_complaints_are_found():
    assert complaints_in([OURS, "WARN", KAFKAS, "java.lang.X", KAFKAS], KAFKA) == [OURS, KAFKAS, KAFKAS]
    assert complaints_in([OURS, KAFKAS], KLAMM) == [OURS]


def test_that_kafka_slept_is_no_complaint():
    assert not complaints_in([KAFKAS, SLEPT, "\tat kafka.zk.KafkaZkClient.conditionalUpdatePath", "INFO"], KAFKA)
    assert complaints_in([KAFKAS, "\tat x", SLEPT], KAFKA) == [KAFKAS]
