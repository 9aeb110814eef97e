"""Which cells there are: the whole matrix, the choice that is run if nothing is asked for, names with * in them."""

import fnmatch
import itertools

import scale
import starts
import traffic
from traffic import Consume, EndToEnd, Produce, Rdkafka, Steady

ACKS = ("1", "all")


def whole():
    """Every combination of the dimensions of LinkedIn's benchmark and of ours."""
    produce = [Produce(*c) for c in itertools.product(
        (1, 3), ACKS, traffic.SIZES, (1, 3), ("none", "lz4", "zstd"), ("plain", "tls"))]
    consume = [Consume(*c) for c in itertools.product(Consume.RATES, (1, 3), ("plain", "tls"))]
    rdkafka = [Rdkafka(*c) for c in itertools.product((1, 3), ACKS, traffic.SIZES)]
    steady = [Steady(*c) for c in itertools.product((1, 3), ACKS, ("100", "1k"), ("plain", "tls"), traffic.STEADY_RATES)]
    end_to_end = [EndToEnd(*c) for c in itertools.product((1, 3), ACKS, ("plain", "tls"))]
    return [*produce, *consume, *rdkafka, *steady, *end_to_end, starts.Start(), starts.Restart(),
            scale.Partitions(1000), scale.Partitions(10000)]


def is_chosen(cell):
    """One dimension at a time is varied around RF 3, acks all, 1 KiB; sizes, RF and acks in all combinations."""
    if isinstance(cell, Rdkafka):
        return (cell.rf, cell.acks) in ((1, "1"), (3, "all")) and cell.size in ("100", "1k")
    if isinstance(cell, Produce):
        usual = [cell.x == 1, cell.codec == "none", cell.security == "plain"]
        centre = (cell.rf, cell.acks, cell.size) == (3, "all", "1k")
        return all(usual) or (centre and sum(usual) == 2)
    if isinstance(cell, Consume):
        return cell.size in ("100", "1k") and (cell.security == "plain" or cell.size == "1k")
    if isinstance(cell, Steady):
        usual = [cell.rate == max(traffic.STEADY_RATES), cell.security == "plain", cell.size == "1k"]
        return (cell.rf, cell.acks) in ((1, "1"), (3, "all")) and sum(usual) >= 2
    if isinstance(cell, EndToEnd):
        return (cell.rf, cell.acks) in ((1, "1"), (3, "all")) and (cell.security == "plain" or cell.rf == 3)
    return True


def select(names, full):
    """The cells that are asked for, in that order; ValueError for a name that fits none."""
    cells = whole()
    if not names:
        return [c for c in cells if full or is_chosen(c)]
    for name in names:
        if not any(fnmatch.fnmatch(c.name, name) for c in cells):
            raise ValueError(f"no cell is called {name}; --list names them")
    return list(dict.fromkeys(c for n in names for c in cells if fnmatch.fnmatch(c.name, n)))
