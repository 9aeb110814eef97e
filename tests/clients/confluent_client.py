"""confluent-kafka, on the newest librdkafka: produces until stdin ends, then reads all of it back.

Arguments: bootstrap topic.
"""

import sys
import threading

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition

bootstrap, topic = sys.argv[1:3]
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
common = {"bootstrap.servers": bootstrap, "socket.timeout.ms": 10000, "topic.metadata.refresh.interval.ms": 5000,
          "reconnect.backoff.max.ms": 500}
acked, failed = {}, []


def report(error, message):
    if error:
        failed.append(str(error))
    else:
        acked[int(message.value())] = message.offset()


producer = Producer({**common, "enable.idempotence": True, "acks": "all", "linger.ms": 5,
                     "request.timeout.ms": 10000, "message.timeout.ms": 120000})
sent, begun = 0, False
while not over.is_set():
    producer.produce(topic, b"%d" % sent, partition=sent % 3, on_delivery=report)
    sent += 1
    producer.poll(0.001)
    if acked and not begun:
        begun = True
        print("begun", flush=True)
producer.flush(120)
assert not failed and len(acked) == sent, f"sent {sent}, acknowledged {len(acked)}, failed {failed[:3]}"

consumer = Consumer({**common, "group.id": "none", "enable.auto.commit": False, "enable.partition.eof": True,
                     "check.crcs": True})
consumer.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in range(3)])
read, last, ended = {}, {}, set()
while len(ended) < 3:
    message = consumer.poll(30)
    assert message is not None, f"nothing to read for 30 s; {len(read)} of {len(acked)} so far"
    if message.error():
        assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
        ended.add(message.partition())
        continue
    seq = int(message.value())
    assert seq not in read, f"{seq} is there twice"
    assert seq > last.get(message.partition(), -1), f"{seq} is out of order"
    read[seq], last[message.partition()] = message.offset(), seq
consumer.close()
assert acked == read, f"acknowledged {len(acked)}, read {len(read)}"
print(f"acknowledged and read {len(read)}")
