"""A member on confluent-kafka, which is librdkafka; what it is told and what it says: README.md."""

import struct
import sys
import threading

from confluent_kafka import Consumer, KafkaException, TopicPartition

STRATEGIES = {"range": "range", "roundrobin": "roundrobin", "cooperative": "cooperative-sticky"}
bootstrap, topic, group, strategy = sys.argv[1:5]
instance = {"group.instance.id": sys.argv[5]} if len(sys.argv) > 5 else {}
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group, "enable.auto.commit": False,
                     "auto.offset.reset": "earliest", "partition.assignment.strategy": STRATEGIES[strategy],
                     "session.timeout.ms": 45000 if instance else 6000, **instance, "heartbeat.interval.ms": 1000,
                     "max.poll.interval.ms": 60000,
                     "socket.timeout.ms": 10000, "topic.metadata.refresh.interval.ms": 5000,
                     "reconnect.backoff.max.ms": 500})
MAGIC = b"CGMDv2:"


def generation():
    """librdkafka tells it only in what a transactional producer would be handed."""
    metadata = consumer.consumer_group_metadata()
    assert metadata.startswith(MAGIC), metadata
    return struct.unpack_from("=i", metadata, len(MAGIC))[0]


owned = set()


def on_assign(_, added):
    owned.update(a.partition for a in added)
    print("own", generation(), ",".join(map(str, sorted(owned))) or "-", flush=True)


def on_revoke(_, gone):
    owned.difference_update(g.partition for g in gone)


consumer.subscribe([topic], on_assign=on_assign, on_revoke=on_revoke, on_lost=on_revoke)
while not over.is_set():
    runs = {}
    for message in consumer.consume(500, 0.2):
        if message.error():
            print("consume:", message.error(), file=sys.stderr)
        else:
            run = runs.setdefault(message.partition(), [message.offset(), 0, 0])
            run[1:] = message.offset(), run[2] + 1
    for partition, run in runs.items():
        print("done", partition, *run)
    sys.stdout.flush()
    if runs:
        try:
            consumer.commit(offsets=[TopicPartition(topic, p, run[1] + 1) for p, run in runs.items()],
                            asynchronous=False)
            for partition, run in runs.items():
                print("kept", partition, run[1] + 1)
        except KafkaException as e:
            print("commit:", e, file=sys.stderr)
consumer.close()
