"""A worker on kafka-python, from 1.4.7 to the newest; what it is told and what it says: ../README.md"""

import sys
import threading
import time

from kafka import KafkaConsumer, KafkaProducer

BOOTSTRAP, TOPIC, GROUP, NAME = sys.argv[1].split(","), *sys.argv[2:5]
CODEC = dict(arg.split("=") for arg in sys.argv[5:]).get("compression", "none")
enough, end = threading.Event(), threading.Event()


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def send():
    producer = KafkaProducer(bootstrap_servers=BOOTSTRAP, acks="all", retries=1000, linger_ms=5,
                             metadata_max_age_ms=5000, compression_type=None if CODEC == "none" else CODEC)
    seq = 0
    while not enough.is_set():
        value = f"{NAME}:{seq}"
        producer.send(TOPIC, key=b"%d" % seq, value=value.encode()) \
            .add_callback(lambda _, value=value: say(f"acked {value}")) \
            .add_errback(lambda e, value=value: say(f"failed {value} {e!r}"))
        seq += 1
        time.sleep(0.01)
    producer.flush()
    producer.close()
    say("sent")


def process():
    consumer = KafkaConsumer(TOPIC, bootstrap_servers=BOOTSTRAP, group_id=GROUP, auto_offset_reset="earliest",
                             enable_auto_commit=False, session_timeout_ms=15000, heartbeat_interval_ms=1000,
                             max_poll_interval_ms=15000, request_timeout_ms=20000, metadata_max_age_ms=5000)
    while not end.is_set():
        records = [r for part in consumer.poll(timeout_ms=200).values() for r in part]
        if records:
            say("processed " + " ".join(r.value.decode() for r in records))
            consumer.commit()
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
