"""What a group's clients of today never send: offsets in ZooKeeper, by OffsetCommit and OffsetFetch of version 0."""

import pytest

from cluster import poll

PARTITIONS = 2
UNKNOWN_TOPIC_OR_PARTITION, METADATA_TOO_LARGE, UNKNOWN_SERVER_ERROR = 3, 12, -1


@pytest.fixture
def topic(cluster):
    """A topic of two partitions."""
    with cluster.connect(1) as c:
        if 8 not in {key for key, _, _ in c.api_versions()}:
            pytest.skip("the brokers keep no offsets")
    cluster.create_topic("old", PARTITIONS)
    return "old"


def test_offsets_of_old_clients_are_every_brokers(cluster, topic):
    with cluster.connect(1) as one, cluster.connect(2) as two:
        assert one.commit_in_zookeeper("g", topic, {0: 42}) == {0: 0}
        assert two.committed_in_zookeeper("g", topic, [0, 1, 7]) == {
            0: (42, 0), 1: (-1, UNKNOWN_TOPIC_OR_PARTITION), 7: (-1, UNKNOWN_TOPIC_OR_PARTITION)}
        assert two.commit_in_zookeeper("g", topic, {0: 7, 1: 8, 7: 9}) == {0: 0, 1: 0, 7: UNKNOWN_TOPIC_OR_PARTITION}
        assert one.committed_in_zookeeper("g", topic, [0, 1]) == {0: (7, 0), 1: (8, 0)}
        assert one.committed_in_zookeeper("other", topic, [0]) == {0: (-1, UNKNOWN_TOPIC_OR_PARTITION)}


def test_offsets_of_old_clients_outlive_a_broker(cluster, topic):
    with cluster.connect(1) as c:
        assert c.commit_in_zookeeper("long-lived", topic, {1: 5}) == {1: 0}
    cluster.run("kill", 1)
    cluster.start(1)

    def read():
        with cluster.connect(1) as c:
            return c.committed_in_zookeeper("long-lived", topic, [1]) == {1: (5, 0)}
    poll("the offset should be there again", read)


def test_what_old_clients_may_not_commit(cluster, topic):
    """No path can be made of the second group's name; the last one's is a deeper path."""
    with cluster.connect(3) as c:
        assert c.commit_in_zookeeper("g", topic, {0: 1}, "x" * 4097) == {0: METADATA_TOO_LARGE}
        assert c.commit_in_zookeeper("..", topic, {0: 1}) == {0: UNKNOWN_SERVER_ERROR}
        assert c.commit_in_zookeeper("", topic, {0: 1}) == {0: UNKNOWN_SERVER_ERROR}
        assert c.committed_in_zookeeper("", topic, [0]) == {0: (-1, UNKNOWN_SERVER_ERROR)}
        assert c.commit_in_zookeeper("a\0b", topic, {0: 1}) == {0: UNKNOWN_SERVER_ERROR}
        assert c.commit_in_zookeeper("g", "absent", {0: 1}) == {0: UNKNOWN_TOPIC_OR_PARTITION}
        assert c.commit_in_zookeeper("a/b", topic, {0: -7}, "x" * 4096) == {0: 0}
        assert c.committed_in_zookeeper("a/b", topic, [0]) == {0: (-7, 0)}
