"""Compares what was acknowledged with what is read at the end, record by record.

With acks=all and an idempotent producer, one to a partition, every acknowledged record is there once,
at the offset that was told, and the records of a partition are in the order in which they were sent.
A record that failed, or whose answer never came, may be there or not, but not twice and not out of order.

Except what its producer wrote anew. A leader that steps down says NOT_LEADER_OR_FOLLOWER of records that it has and the
next leader too. Should the next one say the same of the first of them, become the leader, and then meet the second, it says
OUT_OF_ORDER_SEQUENCE_NUMBER, and librdkafka sends them all again in a new epoch of its producer id, which no broker can
tell from new records. That is one copy of an earlier epoch, by an earlier leader, that was never acknowledged.
"""

import struct


class Verdict:
    """The faults found, each a short text; the sums."""

    def __init__(self):
        self.lost, self.duplicated, self.reordered, self.moved, self.foreign = [], [], [], [], []
        self.acked = self.failed = self.read = self.anew = 0
        self.reasons = {}  # {error: how many records failed with it}

    def faults(self):
        kinds = vars(self).items()
        return {k: len(v) for k, v in kinds if isinstance(v, list) and v}

    def __str__(self):
        why = "".join(f" {error}: {count}" for error, count in self.reasons.items())
        out = [f"acknowledged {self.acked}, failed {self.failed}{why}, read {self.read}"]
        if self.anew:
            out.append(f"{self.anew} written anew by the producer")
        for kind, found in vars(self).items():
            if isinstance(found, list) and found:
                out.append(f"{kind} {len(found)}: " + ", ".join(found[:5]))
        return "; ".join(out)


def parse_log(lines):
    """klamm-load's log: ({(partition, seq): offset}, {error: number of failed records})."""
    acked, failed = {}, {}
    for line in lines:
        kind, partition, seq, rest = line.split()
        if kind == "A":
            acked[int(partition), int(seq)] = int(rest)
        else:
            failed[rest] = failed.get(rest, 0) + 1
    return acked, failed


def epochs_at(log, offset):
    """(epoch of the producer, epoch of the leader) of the batch with that offset, in the bytes of a log; None without."""
    at = 0
    while at + 61 <= len(log):
        base, size, leader_epoch = struct.unpack_from(">qii", log, at)
        last_delta, producer_epoch = struct.unpack_from(">i", log, at + 23)[0], struct.unpack_from(">h", log, at + 51)[0]
        if base <= offset <= base + last_delta:
            return producer_epoch, leader_epoch
        at += 12 + size
    return None


def is_later(before, now):
    """Whether both epochs are."""
    return bool(before and now) and now[0] > before[0] and now[1] > before[1]


def compare(log_lines, read_lines, sent, epochs=lambda partition, offset: None):
    """log_lines: klamm-load produce's log; read_lines: klamm-load read's output; sent: records a producer made;
    epochs: epochs_at() in that partition, asked of records that are there twice."""
    verdict = Verdict()
    acked, verdict.reasons = parse_log(log_lines)
    seen, last, anew, epoch = {}, {}, set(), {}
    for line in read_lines:
        partition, offset, value = line.split()
        partition, offset, seq = int(partition), int(offset), int(value.split(":")[1])
        verdict.read += 1
        if value.split(":")[0] != str(partition) or seq >= sent:
            verdict.foreign.append(f"{partition}@{offset} {value}")
            continue
        earlier = seen.get((partition, seq))
        if earlier is not None:
            now = epochs(partition, offset)
            if not is_later(epochs(partition, earlier), now):
                verdict.duplicated.append(f"{partition}/{seq}@{earlier} and @{offset}")
                continue
            anew.add((partition, seq))
            if now[0] != epoch.get(partition):
                epoch[partition], last[partition] = now[0], seq  # the order begins again, once
        seen[partition, seq] = offset
        if seq < last.get(partition, -1):
            verdict.reordered.append(f"{partition}/{seq}@{offset} after {last[partition]}")
        last[partition] = max(seq, last.get(partition, -1))
    for (partition, seq), offset in acked.items():
        if (partition, seq) not in seen:
            verdict.lost.append(f"{partition}/{seq}@{offset}")
        elif seen[partition, seq] != offset and (offset >= 0 or (partition, seq) in anew):
            verdict.moved.append(f"{partition}/{seq}@{offset} now @{seen[partition, seq]}")
    verdict.acked, verdict.failed, verdict.anew = len(acked), sum(verdict.reasons.values()), len(anew)
    return verdict
