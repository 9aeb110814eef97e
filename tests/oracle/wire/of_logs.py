"""of_logs - scenarios of logs: formats, sequences, epochs, offsets, fetch sessions"""

from batches import T0, Batch, message, record, wrapper
from talk import batch, scenario


def read(talk, topic, *offsets):
    """What every version of Fetch and of ListOffsets gives back."""
    for v in talk.versions("Fetch"):
        for offset in offsets:
            talk.fetch(v, topic, offset)
    for v in talk.versions("ListOffsets"):
        for timestamp in (-1, -2, -3, 0, T0 + 1, T0 + 100):
            talk.list_offsets(v, topic, timestamp, max_num_offsets=3)


def old_sets(codecs=(1, 2, 3)):
    """(format, message set)"""
    for magic in (0, 1):
        plain = [message(magic, i, b"k%d" % i, b"v", timestamp=T0 + i) for i in range(3)]
        yield magic, b"".join(plain)
        for codec in codecs:
            yield magic, wrapper(magic, plain, codec)


@scenario
def old_formats(talk):
    for topic, settings in (("old", {}), ("old-time", {"message_timestamp_type": "LogAppendTime"}),
                            ("old-gzip", {"compression_type": "gzip"})):
        talk.topic(topic, **settings)
        for v in (0, 1, 2):
            for magic, data in old_sets():
                if magic == 0 or v == 2:
                    talk.produce(v, topic, data)
        if topic != "old-gzip":  # Kafka's gzip is another one: the same records in other bytes
            read(talk, topic, 0, 4, 20)
    talk.produce(3, "old", message(1, 0, b"k", b"v"))
    talk.produce(2, "old", batch("v"))


def send_in_every_format(talk, topic, codecs):
    for v in (0, 2):
        for magic, data in old_sets(codecs[1:4]):
            talk.produce(v, topic, data)
    for codec in codecs:
        talk.produce(7, topic, batch("a", "b", "c", codec=codec))
    headers = Batch([record(0, 0, b"k", b"v", ((b"h", b"1"),))]).bytes()
    for data in (headers, batch("a", producer_id=7, producer_epoch=0, sequence=0), batch("a", crc_flip=1), batch("x" * 300),
                 batch("a" * 80, "b" * 80, "c" * 80)):
        talk.produce(9, topic, data)
    talk.produce(2, topic, message(0, 0, b"k", b"x" * 300) + message(0, 1, b"k", b"v"))


@scenario
def topics_of_old_formats(talk):
    """Where the protocol is below 3.0 a topic's format counts; elsewhere it shows that it does not."""
    formats = (("0.9.0", {}), ("0.10.2", {}), ("0.9.0", {"message_timestamp_type": "LogAppendTime"}),
               ("0.10.0", {"message_timestamp_type": "LogAppendTime"}), ("0.10.1", {"compression_type": "gzip"}),
               ("0.9.0", {"compression_type": "lz4", "cleanup_policy": "compact"}), ("0.10.0", {"max_message_bytes": "200"}),
               ("0.10.0", {"message_downconversion_enable": "false"}))
    for i, (version, settings) in enumerate(formats if talk.judge.options.ibp else formats[:1]):
        topic = f"of-{i}"
        talk.topic(topic, message_format_version=version, **settings)
        # What is packed anew with the time of the broker has a size of its own each time.
        has_own_size = "message_timestamp_type" in settings and version != "0.9.0"
        send_in_every_format(talk, topic, [0] if has_own_size else [0, 1, 2, 3, 4])
        if settings.get("compression_type") != "lz4":  # the same records in other bytes
            read(talk, topic, 0, 4, 20)
        for v in talk.versions("OffsetForLeaderEpoch"):
            talk("OffsetForLeaderEpoch", v, {"replica_id": -1, "topics": [{"topic": topic, "partitions": [
                {"partition": 0, "current_leader_epoch": -1, "leader_epoch": 0}]}]})


@scenario
def a_format_that_changes(talk):
    if not talk.judge.options.ibp:
        return
    talk.topic("changes")
    ask = {"replica_id": -1, "topics": [{"name": "changes", "partitions": [{"partition_index": 0, "timestamp": T0}]}]}
    for version, code in (("0.9.0", 43), ("0.10.2", 0), ("0.9.0", 43), ("2.8", 0)):
        talk.produce(7, "changes", batch("a", "b"))
        talk("IncrementalAlterConfigs", 1, {"resources": [{"resource_type": 2, "resource_name": "changes", "configs": [
            {"name": "message.format.version", "config_operation": 0, "value": version}]}]})
        talk.wait("ListOffsets", 5, ask, lambda a, code=code: a["topics"][0]["partitions"][0]["error_code"] == code)
        talk.produce(7, "changes", batch("c", "d"))
        talk.produce(2, "changes", message(1, 0, b"k", b"v"))
        for v in range(4, 18):
            talk.fetch(v, "changes", 0)
        for v in talk.versions("ListOffsets"):
            for timestamp in (-1, -2, -3, 0, T0 + 1):
                talk.list_offsets(v, "changes", timestamp, max_num_offsets=3)
        talk("OffsetForLeaderEpoch", 3, {"replica_id": -1, "topics": [{"topic": "changes", "partitions": [
            {"partition": 0, "current_leader_epoch": -1, "leader_epoch": 0}]}]})


@scenario
def new_formats(talk):
    talk.topic("new")
    for v in range(3, 12):
        for codec in range(5):
            talk.produce(v, "new", batch("a", "b", "c", codec=codec))
        talk.produce(v, "new", batch("a") + batch("b"))
        talk.produce(v, "new", b"")
        talk.produce(v, "new", batch("a", magic=1))
        talk.produce(v, "new", batch("a", crc_flip=1))
        talk.produce(v, "new", batch("a"), acks=5)
        talk.produce(v, "none", batch("a"))
        talk.produce(v, "__consumer_offsets", batch("a"))
    read(talk, "new", 0, 4, 29)
    talk.topic("plain", message_downconversion_enable="false")
    talk.produce(7, "plain", batch("a", "b"))
    read(talk, "plain", 0)
    talk.topic("zstd", compression_type="zstd")
    talk.produce(7, "zstd", batch("a", codec=4))
    read(talk, "zstd", 0)


@scenario
def limits(talk):
    talk.topic("small", max_message_bytes="200")
    talk.topic("compact", cleanup_policy="compact")
    talk.topic("strict", min_insync_replicas="2")
    for v in (2, 3, 7, 8, 11):
        for topic in ("small", "compact", "strict"):
            for acks in (1, -1):
                if v >= 3:
                    talk.produce(v, topic, batch("x" * 300), acks)
                    talk.produce(v, topic, batch("x"), acks)
                else:
                    talk.produce(v, topic, message(1, 0, None, b"x" * 300), acks)
                    talk.produce(v, topic, message(0, 0, None, b"x"), acks)


@scenario
def sequences(talk):
    talk.topic("seq")

    def send(sequence, *values, epoch=0, v=9, who="pid"):
        # A producer's id is the same number on both, as both have given as many.
        talk.produce(v, "seq", batch(*values, producer_id=numbers[who], producer_epoch=epoch, sequence=sequence))
        talk("DescribeProducers", 0, {"topics": [{"name": "seq", "partition_indexes": [0, 5]}]})

    numbers = {"pid": talk("InitProducerId", 4, {"transactional_id": None, "transaction_timeout_ms": 60000})["producer_id"],
               "other": talk("InitProducerId", 0, {"transactional_id": None, "transaction_timeout_ms": 1})["producer_id"],
               "unknown": 123456}
    send(0, "a", "b")
    send(0, "a", "b")
    send(2, "c")
    send(5, "gap")
    send(2, "c")
    send(1, "x")
    for i in range(3, 10):
        send(i, "more")
    send(2, "old")
    send(3, "late", v=3)
    send(0, "epoch", epoch=2)
    send(1, "old epoch", epoch=1)
    send(7, "jump", epoch=3)
    send(0, "first", who="other")
    send(3, "not the first", who="unknown")
    send(4, "then", who="unknown")
    send(-1, "none")
    send(0x7FFFFFFF, "last", who="unknown", epoch=1)
    for v in talk.versions("InitProducerId"):
        for pid, epoch in ((-1, -1), (5, 0), (-1, 3), (5, -1)) if v >= 3 else ((-1, -1),):
            talk("InitProducerId", v, {"transactional_id": None, "transaction_timeout_ms": 60000, "producer_id": pid,
                                       "producer_epoch": epoch})
    read(talk, "seq", 0)


@scenario
def epochs_and_offsets(talk):
    talk.topic("epochs", partitions=2)
    for i in range(4):
        talk.produce(7, "epochs", batch(f"{i}", "x"))
    for v in talk.versions("OffsetForLeaderEpoch"):
        for current in (-1, 0, 1) if v >= 2 else (-1,):
            for epoch in (-2, -1, 0, 1):
                for partition in (0, 1, 7):
                    talk("OffsetForLeaderEpoch", v, {"replica_id": -1, "topics": [{"topic": "epochs", "partitions": [
                        {"partition": partition, "current_leader_epoch": current, "leader_epoch": epoch}]}]})
    for v in range(9, 18):
        for current in (-1, 0, 1):
            for last in (-1, 0, 1) if v >= 12 else (-1,):
                for offset in (0, 8, 9):
                    talk.fetch(v, "epochs", offset, part={"current_leader_epoch": current, "last_fetched_epoch": last})
    for v in talk.versions("DeleteRecords"):
        for partition, offset in ((0, v + 2), (0, 1), (0, 100), (0, -2), (7, 0), (1, -1)):
            talk("DeleteRecords", v, {"timeout_ms": 10000, "topics": [{"name": "epochs", "partitions": [
                {"partition_index": partition, "offset": offset}]}]})
    read(talk, "epochs", 0, 3, 4, 8)


def read_in_sizes(talk, topic):
    for partition in (0, 1):
        for n in (10, 500, 50):
            talk.produce(7, topic, batch("x" * n), partition=partition)
    for v in talk.versions("Fetch"):
        names = {"topic": topic} if v < 13 else {"topic_id": talk.topic_id(topic)}
        for most, each in ((0, 0), (1, 1), (100, 100), (1000, 100), (100, 1000), (700, 700), (2000, 600)):
            talk("Fetch", v, {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": most, "isolation_level": v % 2,
                              **({"replica_id": -1} if v < 15 else {}), "topics": [{**names, "partitions": [
                                  {"partition": p, "fetch_offset": p, "partition_max_bytes": each} for p in (1, 0)]}]})


@scenario
def fetch_sizes(talk):
    talk.topic("sizes", partitions=2)
    read_in_sizes(talk, "sizes")
    if talk.judge.options.ibp:
        for version in ("0.9.0", "0.10.2"):
            talk.topic(f"sizes-{version}", partitions=2, message_format_version=version)
            read_in_sizes(talk, f"sizes-{version}")


@scenario
def fetch_sessions(talk):
    talk.topic("session", partitions=3)
    for v in range(7, 18):
        names = {"topic": "session"} if v < 13 else {"topic_id": talk.topic_id("session")}
        who = {"replica_id": -1} if v < 15 else {}

        def ask(epoch, *partitions, forget=(), session="s", keep=None, version=v):
            topics = [{**names, "partitions": [{"partition": p, "fetch_offset": o, "partition_max_bytes": 1000}
                                               for p, o in partitions]}] if partitions else []
            gone = [{**names, "partitions": list(forget)}] if forget else []
            talk("Fetch", version, {**who, "max_wait_ms": 0, "min_bytes": 0, "session_id": talk.own(session) if session else 0,
                                    "session_epoch": epoch, "topics": topics, "forgotten_topics_data": gone}, keep=keep)

        ask(0, (0, 0), (1, 0), (7, 0), session=None, keep={"s": "session_id"})
        ask(1)
        talk.produce(7, "session", batch(f"for {v}"), partition=1)
        ask(2)
        ask(3, (1, 1000))
        ask(4, (2, 0), forget=(0, 7))
        ask(4)
        ask(5, version=12 if v > 12 else 13) if v >= 12 else ask(9)
        ask(-1, (1, 0))
        ask(1)
        ask(3, session=None)
        ask(0, session=None)
