"""Compares what was acknowledged with what is read at the end, record by record.

With acks=all and an idempotent producer, one to a partition, every acknowledged record is there once,
at the offset that was told, and the records of a partition are in the order in which they were sent.
A record that failed, or whose answer never came, may be there or not, but not twice and not out of order.
"""


class Verdict:
    """The faults found, each a short text; the sums."""

    def __init__(self):
        self.lost, self.duplicated, self.reordered, self.moved, self.foreign = [], [], [], [], []
        self.acked = self.failed = self.read = 0

    def faults(self):
        kinds = vars(self).items()
        return {k: len(v) for k, v in kinds if isinstance(v, list) and v}

    def __str__(self):
        out = [f"acknowledged {self.acked}, failed {self.failed}, read {self.read}"]
        for kind, found in vars(self).items():
            if isinstance(found, list) and found:
                out.append(f"{kind} {len(found)}: " + ", ".join(found[:5]))
        return "; ".join(out)


def parse_log(lines):
    """klamm-load's log: ({(partition, seq): offset}, number of failed records)."""
    acked, failed = {}, 0
    for line in lines:
        kind, partition, seq, rest = line.split()
        if kind == "A":
            acked[int(partition), int(seq)] = int(rest)
        else:
            failed += 1
    return acked, failed


def compare(log_lines, read_lines, sent):
    """log_lines: klamm-load produce's log; read_lines: klamm-load read's output; sent: records a producer made."""
    verdict = Verdict()
    acked, verdict.failed = parse_log(log_lines)
    seen, last = {}, {}
    for line in read_lines:
        partition, offset, value = line.split()
        partition, offset, seq = int(partition), int(offset), int(value.split(":")[1])
        verdict.read += 1
        if value.split(":")[0] != str(partition) or seq >= sent:
            verdict.foreign.append(f"{partition}@{offset} {value}")
            continue
        if (partition, seq) in seen:
            verdict.duplicated.append(f"{partition}/{seq}@{seen[partition, seq]} and @{offset}")
            continue
        seen[partition, seq] = offset
        if seq < last.get(partition, -1):
            verdict.reordered.append(f"{partition}/{seq}@{offset} after {last[partition]}")
        last[partition] = max(seq, last.get(partition, -1))
    for (partition, seq), offset in acked.items():
        if (partition, seq) not in seen:
            verdict.lost.append(f"{partition}/{seq}@{offset}")
        elif offset >= 0 and seen[partition, seq] != offset:
            verdict.moved.append(f"{partition}/{seq}@{offset} now @{seen[partition, seq]}")
    verdict.acked = len(acked)
    return verdict
