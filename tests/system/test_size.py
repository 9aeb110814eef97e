"""What a broker costs: memory when idle, time to start, a thousand topics at once. Of our broker, in its release build."""

import os
import subprocess
import time

import pytest

from cluster import IMPL, poll

pytestmark = pytest.mark.skipif(
    IMPL != "klamm" or "KLAMM_BIN" in os.environ, reason="the limits are those of our broker's release build")


def resident_mb(cluster):
    return max(rss for _, rss in cluster.usage().values()) / 1e6


def test_an_idle_broker_is_small(cluster):
    assert resident_mb(cluster) < 20


def test_a_broker_serves_within_100_ms(cluster):
    """From exec to the first answer that lists the broker, the best of five starts after clean stops."""
    cluster.run("stop", 3)
    took = []
    for _ in range(5):
        with open(os.path.join(cluster.dir, "timing.log"), "ab") as log:
            start = time.monotonic()
            broker = subprocess.Popen([os.path.join(cluster.programs(), "klamm-broker"),
                                       os.path.join(cluster.dir, "broker-3.properties")], stderr=log)
        try:
            while not (view := cluster.view(ask=[3])) or 3 not in view[0]:
                assert time.monotonic() - start < 30 and broker.poll() is None
                time.sleep(0.001)
            took.append(time.monotonic() - start)
        finally:
            broker.terminate()
            assert broker.wait(60) == 0
    print("ms from exec to serving:", [round(t * 1000) for t in took])
    cluster.start(3)
    assert min(took) < 0.1


def test_a_thousand_topics_in_one_request(cluster):
    """Made by one CreateTopics with three replicas each, all led within 10 s, under 40 MB a broker."""
    cluster.wait_whole()
    names = [f"many-{i}" for i in range(1000)]
    start = time.monotonic()
    with cluster.connect(cluster.controller(), 60) as c:
        assert {code for _, code, _ in c.create_topics(names, 1, 3, timeout_ms=60000)} == {0}

    def all_led():
        for number in cluster.numbers:
            with cluster.connect(number, 10) as c:
                topics = c.metadata_of(names)[2]
            if any(not partitions or partitions[0][0] < 1 for partitions in topics.values()):
                return False
        return True
    poll("every topic should have a leader, as every broker sees it", all_led)
    took, size = time.monotonic() - start, resident_mb(cluster)
    print(f"1,000 topics: {took:.1f} s, {size:.1f} MB")
    assert took < 10 and size < 40
