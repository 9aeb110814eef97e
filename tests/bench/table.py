"""Numbers of both sides as ratios with their spread, and the one table."""

import statistics
from collections import namedtuple
from itertools import zip_longest

# bigger: is more better? aim: how many times better than Kafka it is meant to be. A ratio is "so many times better".
Metric = namedtuple("Metric", "label bigger digits aim")
METRICS = {
    "mb": Metric("MB/s", True, 1, None),
    "mb_per_cpu": Metric("MB per CPU s of the brokers", True, 1, 3),
    "p50": Metric("p50, ms", False, 2, None),
    "p99": Metric("p99, ms", False, 2, 5),
    "p999": Metric("p99.9, ms", False, 2, None),
    "mean": Metric("mean, ms", False, 2, None),
    "whole_p99": Metric("p99, whole ms", False, 0, None),
    "start_ms": Metric("exec to serving, ms", False, 0, 20),
    "rss_idle": Metric("RSS idle, MB", False, 1, 20),
    "rss_load": Metric("RSS, MB", False, 1, 20),
    "rss_partitions": Metric("RSS, MB", False, 1, 20),
    "idle_cpu": Metric("CPU of three idle brokers, ms per s", False, 1, None),
    "create_s": Metric("made and in sync, s", False, 2, None),
    "controller_ms": Metric("controller failover, ms", False, 0, 5),
    "controller_total": Metric("the same, from the kill, ms", False, 0, None),
    "leader_ms": Metric("leader failover, ms", False, 0, None),
    "leader_total": Metric("the same, from the kill, ms", False, 0, None),
    "clean_serves": Metric("clean restart: serves, ms", False, 0, None),
    "clean_whole": Metric("clean restart: in every ISR, ms", False, 0, None),
    "unclean_serves": Metric("unclean restart: serves, ms", False, 0, None),
    "unclean_whole": Metric("unclean restart: in every ISR, ms", False, 0, None),
}
HIDDEN = ("rss_load",)  # kept for each measurement, shown as one row

Row = namedtuple("Row", "cell metric kafka klamm ratios")


def ratios(metric, kafka, klamm):
    """Of each round, how many times better Klamm is; rounds in which one side has 0 say nothing."""
    pairs = [(k, c) for k, c in zip(kafka, klamm) if k > 0 and c > 0]
    return [c / k if metric.bigger else k / c for k, c in pairs]


def rows_of(cell, values, hidden=HIDDEN):
    """The rows of a cell from {side: {metric: [value of a round, ...]}}."""
    return [Row(cell, name, values["kafka"][name], values["klamm"][name],
                ratios(METRICS[name], values["kafka"][name], values["klamm"][name]))
            for name in METRICS if name not in hidden and name in values["kafka"] and name in values["klamm"]]


def memory_row(results):
    """The largest broker of any cell under load, by rounds."""
    loaded = [v for v in results.values() if "rss_load" in v["kafka"] and "rss_load" in v["klamm"]]
    if not loaded:
        return []
    most = {side: {"rss_load": [max(r) for r in zip_longest(*(v[side]["rss_load"] for v in loaded), fillvalue=0)]}
            for side in ("kafka", "klamm")}
    return rows_of("largest broker of all cells under load", most, hidden=())


def spread(values, digits):
    """Median, and the extremes where there are several."""
    if not values:
        return "-"
    middle = f"{statistics.median(values):,.{digits}f}"
    return middle if len(values) == 1 else f"{middle} ({min(values):,.{digits}f}–{max(values):,.{digits}f})"


def verdict(row):
    """"met" or "missed" where there is an aim and a ratio."""
    aim = METRICS[row.metric].aim
    if aim is None or not row.ratios:
        return ""
    return f"{aim}: {'met' if statistics.median(row.ratios) >= aim else 'missed'}"


def markdown(rows):
    lines = ["| cell | what | Kafka | Klamm | times better | aim |", "| --- | --- | --- | --- | --- | --- |"]
    for row in rows:
        metric = METRICS[row.metric]
        lines.append(f"| {row.cell} | {metric.label} | {spread(row.kafka, metric.digits)} | "
                     f"{spread(row.klamm, metric.digits)} | {spread(row.ratios, 2)} | {verdict(row)} |")
    return lines


AIMS = (("throughput per broker CPU second", ("mb_per_cpu",)), ("p99 at a steady rate", ("p99",)),
        ("RSS idle", ("rss_idle",)), ("RSS under load", ("rss_load",)),
        ("RSS with many partitions", ("rss_partitions",)),
        ("start-up", ("start_ms",)), ("controller failover", ("controller_ms",)))


def aims(rows):
    """For each aim: how many cells meet it, the median of their medians, the worst cell."""
    lines = ["| aim | at least | cells that meet it | median | worst |", "| --- | --- | --- | --- | --- |"]
    for label, names in AIMS:
        found = [(statistics.median(r.ratios), r) for r in rows if r.metric in names and r.ratios]
        if found:
            aim = METRICS[names[0]].aim
            worst = min(found, key=lambda f: f[0])
            lines.append(f"| {label} | {aim} times | {sum(m >= aim for m, _ in found)} of {len(found)} | "
                         f"{statistics.median(m for m, _ in found):.1f} | {worst[0]:.1f} ({worst[1].cell}) |")
    return lines


def one_line(rows):
    """A cell's progress: medians of both, and the ratio."""
    parts = [f"{METRICS[r.metric].label} {statistics.median(r.kafka):.{METRICS[r.metric].digits}f} / "
             f"{statistics.median(r.klamm):.{METRICS[r.metric].digits}f} (x{spread(r.ratios, 1)})" for r in rows]
    return "; ".join(parts)
