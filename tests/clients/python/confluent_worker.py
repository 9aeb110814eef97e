"""A worker on confluent-kafka, on the newest librdkafka; what it is told and what it says: ../README.md"""

import sys
import threading

from confluent_kafka import Consumer, KafkaException, Producer

BOOTSTRAP, TOPIC, GROUP, NAME = sys.argv[1:5]
OPTIONS = dict(arg.split("=") for arg in sys.argv[5:])
COMMON = {"bootstrap.servers": BOOTSTRAP, "topic.metadata.refresh.interval.ms": 5000, "reconnect.backoff.max.ms": 500}
enough, end = threading.Event(), threading.Event()


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def report(error, message):
    value = message.value().decode()
    say(f"failed {value} {error}" if error else f"acked {value}")


def send():
    producer = Producer({**COMMON, "enable.idempotence": True, "linger.ms": 5, "request.timeout.ms": 10000,
                         "message.timeout.ms": 120000, "compression.type": OPTIONS.get("compression", "none")})
    seq = 0
    while not enough.is_set():
        producer.produce(TOPIC, f"{NAME}:{seq}".encode(), key=str(seq), on_delivery=report)
        seq += 1
        producer.poll(0.01)
    producer.flush(120)
    say("sent")


def process():
    consumer = Consumer({**COMMON, "group.id": GROUP, "auto.offset.reset": "earliest", "enable.auto.commit": False,
                         "session.timeout.ms": 15000, "heartbeat.interval.ms": 1000, "max.poll.interval.ms": 20000})
    consumer.subscribe([TOPIC])
    while not end.is_set():
        messages = [m for m in consumer.consume(500, 0.2) if not m.error()]
        if not messages:
            continue
        say("processed " + " ".join(m.value().decode() for m in messages))
        try:
            consumer.commit(asynchronous=False)
        except KafkaException as e:
            print("commit:", e, file=sys.stderr)
    consumer.close()


threads = [threading.Thread(target=send), threading.Thread(target=process)]
for thread in threads:
    thread.start()
sys.stdin.readline()
enough.set()
sys.stdin.read()
end.set()
for thread in threads:
    thread.join()
