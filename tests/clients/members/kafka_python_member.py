"""A member on kafka-python; what it is told and what it says: README.md."""

import sys
import threading

from kafka import ConsumerRebalanceListener, KafkaConsumer, OffsetAndMetadata
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.errors import KafkaError

bootstrap, topic, group, strategy = sys.argv[1:5]
instance = sys.argv[5] if len(sys.argv) > 5 else None
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
assignor = {"range": RangePartitionAssignor, "roundrobin": RoundRobinPartitionAssignor,
            "sticky": StickyPartitionAssignor}[strategy]
consumer = KafkaConsumer(bootstrap_servers=bootstrap.split(","), group_id=group, enable_auto_commit=False,
                         auto_offset_reset="earliest", partition_assignment_strategy=[assignor],
                         group_instance_id=instance, session_timeout_ms=45000 if instance else 6000,
                         heartbeat_interval_ms=1000, max_poll_interval_ms=60000 if instance else 20000,
                         metadata_max_age_ms=5000, reconnect_backoff_max_ms=500,
                         request_timeout_ms=46000 if instance else 10000)  # it wants more than a session


class Say(ConsumerRebalanceListener):
    def on_partitions_revoked(self, revoked):
        pass

    def on_partitions_assigned(self, assigned):
        owned = ",".join(str(p.partition) for p in sorted(assigned))
        generation = consumer._coordinator._generation.generation_id  # version 2 has no public way to ask
        print("own", generation, owned or "-", flush=True)


consumer.subscribe([topic], listener=Say())
while not over.is_set():
    commits = {}
    for partition, records in consumer.poll(200, max_records=500).items():
        print("done", partition.partition, *(f"{r.offset}" for r in (records[0], records[-1])), len(records))
        commits[partition] = OffsetAndMetadata(records[-1].offset + 1, "", -1)
    sys.stdout.flush()
    if commits:
        try:
            consumer.commit(commits)
            for partition, kept in commits.items():
                print("kept", partition.partition, kept.offset)
        except KafkaError as e:
            print("commit:", e, file=sys.stderr)
consumer.close(autocommit=False)
