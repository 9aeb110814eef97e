"""kafka-python: produces until stdin ends, then reads all of it back. Arguments: bootstrap topic."""

import sys
import threading

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

bootstrap, topic = sys.argv[1].split(","), sys.argv[2]
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()

producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all", retries=1000, enable_idempotence=True,
                         delivery_timeout_ms=120000, request_timeout_ms=10000, linger_ms=5,
                         metadata_max_age_ms=5000)
futures = []
while not over.is_set():
    futures.append(producer.send(topic, value=b"%d" % len(futures), partition=len(futures) % 3))
    if len(futures) == 10:
        futures[-1].get(60)
        print("begun", flush=True)
    over.wait(0.001)
producer.flush(120)
acked = {}
for seq, future in enumerate(futures):
    acked[seq] = future.get(0).offset
producer.close()

consumer = KafkaConsumer(bootstrap_servers=bootstrap, enable_auto_commit=False, consumer_timeout_ms=30000,
                         check_crcs=True)
partitions = [TopicPartition(topic, p) for p in range(3)]
consumer.assign(partitions)
consumer.seek_to_beginning(*partitions)
ends, read, last = consumer.end_offsets(partitions), {}, {}
while any(consumer.position(p) < ends[p] for p in partitions):
    for records in consumer.poll(1000).values():
        for record in records:
            seq = int(record.value)
            assert seq not in read, f"{seq} is there twice"
            assert seq > last.get(record.partition, -1), f"{seq} is out of order"
            read[seq], last[record.partition] = record.offset, seq
assert acked == read, f"acknowledged {len(acked)}, read {len(read)}"
print(f"acknowledged and read {len(read)}")
