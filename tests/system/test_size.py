"""What a broker costs in memory: idle, and with a thousand topics. Of our broker, in its release build."""

import os

import pytest

from cluster import IMPL

pytestmark = pytest.mark.skipif(
    IMPL != "klamm" or "KLAMM_BIN" in os.environ, reason="the limits are those of our broker's release build")


def resident_mb(cluster):
    return max(rss for _, rss in cluster.usage().values()) / 1e6


def test_an_idle_broker_is_small(cluster):
    assert resident_mb(cluster) < 20


def test_a_thousand_topics_in_one_request(cluster):
    """Made by one CreateTopics with three replicas each, all led: under 40 MB a broker. The bench says how fast."""
    cluster.wait_whole()
    cluster.create_many([f"many-{i}" for i in range(1000)])
    size = resident_mb(cluster)
    print(f"1,000 topics: {size:.1f} MB")
    assert size < 40
