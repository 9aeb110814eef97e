"""What tests/bench makes of numbers: output of tools, names of cells, ratios, aims."""

import os
import socket
import struct
import sys
import threading

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bench"))
import matrix  # noqa: E402
import perf  # noqa: E402
import results  # noqa: E402
import survey  # noqa: E402
import table  # noqa: E402
import traffic  # noqa: E402
import watch  # noqa: E402
from wire import Reader, array, string  # noqa: E402

VALUES = {"kafka": {"mb": [100, 90, 80], "mb_per_cpu": [50, 40, 45], "p99": [10, 8, 0]},
          "klamm": {"mb": [110, 108, 100], "mb_per_cpu": [200, 100, 180], "p99": [1, 2, 1]}}


def rows():
    return {row.metric: row for row in table.rows_of("some-cell", VALUES)}


def test_a_ratio_says_how_many_times_better_klamm_is_in_the_same_round():
    assert rows()["mb"].ratios == [1.1, 1.2, 1.25]
    assert rows()["p99"].ratios == [10, 4]  # a round without a number says nothing


def test_a_spread_is_median_and_extremes():
    assert table.spread([3.04, 1, 2], 1) == "2.0 (1.0–3.0)"
    assert table.spread([2.5], 1) == "2.5"
    assert table.spread([], 1) == "-"


def test_an_aim_is_judged_by_the_median():
    assert table.verdict(rows()["mb_per_cpu"]) == "3: met"  # 4, 2.5, 4
    missed = table.Row("c", "mb_per_cpu", [1], [2], [2.0])
    assert table.verdict(missed) == "3: missed"
    assert table.verdict(rows()["mb"]) == ""


def test_aims_name_the_worst_cell():
    lines = table.aims([table.Row("good", "p99", [9], [1], [9.0]), table.Row("bad", "p99", [4], [1], [4.0])])
    assert lines[2:] == ["| p99 at a steady rate | 5 times | 1 of 2 | 6.5 | 4.0 (bad) |"]


def test_memory_under_load_is_the_largest_of_all_cells():
    results = {"a": {"kafka": {"rss_load": [400, 500]}, "klamm": {"rss_load": [10, 12]}},
               "b": {"kafka": {"rss_load": [450, 460]}, "klamm": {"rss_load": [11, 11]}},
               "start": {"kafka": {"start_ms": [1]}, "klamm": {"start_ms": [1]}}}
    (row,) = table.memory_row(results)
    assert (row.kafka, row.klamm) == ([450, 500], [11, 12])


def test_memory_under_load_counts_cells_of_one_round():
    results = {"a": {"kafka": {"rss_load": [400, 500]}, "klamm": {"rss_load": [10, 12]}},
               "b": {"kafka": {"rss_load": [450]}, "klamm": {"rss_load": [11]}}}
    (row,) = table.memory_row(results)
    assert (row.kafka, row.klamm) == ([450, 500], [11, 12])


def test_cells_are_found_by_pattern_and_unknown_ones_are_refused():
    names = [c.name for c in matrix.select(["produce-rf3-acksall-*-x1-none-tls", "start"], False)]
    assert names == [*(f"produce-rf3-acksall-{s}-x1-none-tls" for s in ("10", "100", "1k", "10k", "100k")), "start"]
    with pytest.raises(ValueError, match="no cell is called nothing"):
        matrix.select(["nothing"], False)


def test_the_choice_is_a_part_of_the_matrix_that_varies_every_dimension():
    whole, chosen = {c.name for c in matrix.select([], True)}, {c.name for c in matrix.select([], False)}
    assert chosen < whole
    for word in ("rf1", "rf3", "acks1", "acksall", "10", "100k", "x3", "lz4", "zstd", "tls"):
        assert any(word in name.split("-") for name in chosen), word


def test_what_kafkas_tools_say_is_understood():
    assert perf.rates_of_producer(
        "4000 records sent, 800.0 records/sec (0.08 MB/sec), 1.0 ms avg latency, 2.0 ms max latency.\n"
        "50000 records sent, 22381.378693 records/sec (2.13 MB/sec), 57.09 ms avg latency, 400.00 ms max latency, "
        "45 ms 50th, 120 ms 95th, 180 ms 99th, 200 ms 99.9th.\n") == 22381.378693
    assert perf.rates_of_consumer("2026-01-01 10:00:00:000, 2026-01-01 10:00:02:000, 95.3, 47.6, 100000, 50000.0, 500, "
                                  "1500, 63.5, 66666.7\n") == 66666.7
    assert perf.delays_of_end_to_end("0\t10.2\nAvg latency: 1.2345 ms\n\nPercentiles: 50th = 1, 99th = 4, 99.9th = 9\n"
                                     ) == {"mean": 1.2345, "p99": 4}
    for read in (perf.rates_of_producer, perf.rates_of_consumer, perf.delays_of_end_to_end, perf.rates_of_rdkafka):
        with pytest.raises(ValueError):
            read("Exception in thread main")


def test_what_was_never_acknowledged_is_late():
    sums = {"sent": 1000, "acked": 1000, "p50_us": 500, "p99_us": 2000, "p999_us": 3000}
    assert traffic.quantiles(sums) == {"p50": 0.5, "p99": 2, "p999": 3}
    assert traffic.quantiles({**sums, "acked": 980}) == {"p50": 0.5, "p99": 30000, "p999": 30000}


def test_a_busy_machine_and_a_cold_jvm_are_said_before_any_number():
    def of(others, compiling):
        return {"a": {"kafka": {"others": others, "compiling": compiling}, "klamm": {"others": others}}}
    assert results.warnings(of([0.05, 0.9, 0.1], [0.1, 0.5, 0.1])) == []
    assert "was busy" in results.warnings(of([0.3, 0.4, 0.1], [0.0]))[0]
    assert "still compiling" in results.warnings(of([0.0], [0.2, 0.3]))[0]
    assert results.warnings({"start": {"kafka": {"start_ms": [1]}, "klamm": {"start_ms": [1]}}}) == []


def test_payloads_are_whole_lines_of_the_size(tmp_path):
    for size in (10, 1024):
        with open(perf.payload(str(tmp_path / "payload"), size), encoding="ascii") as f:
            lines = f.read().splitlines()
        assert len(lines) >= 16 and {len(line) for line in lines} == {size}


def test_a_survey_finds_leaders_and_who_is_behind():
    def one(number, leader, isr):
        return struct.pack(">hii", 0, number, leader) + array([struct.pack(">i", n) for n in (1, 2, 3)]) + array(
            [struct.pack(">i", n) for n in isr])
    topic = struct.pack(">h", 0) + string("many-0") + b"\0" + array([one(0, 1, (1, 2, 3)), one(1, -1, (2,))])
    broker = struct.pack(">i", 2) + string("h") + struct.pack(">i", 9) + string(None)
    seen = survey.read(Reader(array([broker]) + struct.pack(">i", 2) + array([topic, topic])))
    assert seen == survey.Survey([2], 2, {1, -1}, 4, 2)


def test_a_watch_hears_of_the_end_of_a_node_and_of_nothing_else():
    def frame(body):
        return struct.pack(">i", len(body)) + body

    def event(kind):
        return frame(struct.pack(">iqiii", -1, -1, 0, kind, 3) + struct.pack(">i", 2) + b"/a")

    def serve(server, error):
        peer, _ = server.accept()
        with peer:
            peer.recv(4096)
            peer.sendall(frame(struct.pack(">iiqi16s", 0, 60000, 5, 16, b"")))
            peer.recv(4096)
            peer.sendall(frame(struct.pack(">iqi", 1, 7, error) + bytes(68)))
            peer.sendall(event(3) + event(2))  # changed, deleted

    for error in (0, -101):
        with socket.create_server(("127.0.0.1", 0)) as server:
            thread = threading.Thread(target=serve, args=(server, error))
            thread.start()
            if error:
                with pytest.raises(ValueError, match="-101"):
                    watch.Watch(*server.getsockname(), "/a", 5)
            else:
                with watch.Watch(*server.getsockname(), "/a", 5) as node:
                    node.wait_deleted()
                    node.socket.settimeout(5)
                    assert node.socket.recv(1) == b""  # both events were read
            thread.join()
