#!/usr/bin/env python3
"""controller_wire - requests that need the controller, at a broker that is not it and at the one that is, as Kafka 3.9
answers them

    tests/oracle/controller_wire.py [--ours PORT --kafka PORT] [--verbose]

Without ports it starts two brokers of ours and two of Kafka's and ends them. Each request goes to both, to the broker
that is not the controller (some to the controller too); the decoded answers must be the same. Topic ids are left
out. Ends with one line of counts.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from messages import MESSAGES, ROOT, Peer

NO_ID = "00000000-0000-0000-0000-000000000000"
SOME_ID = "11111111-1111-1111-1111-111111111111"
T0 = {"name": "t", "partitions": [{"partition_index": 0}]}


def topic(name, **more):
    return {"name": name, "num_partitions": 1, "replication_factor": 1, **more}


def features(*updates, **more):
    return {"feature_updates": [{"feature": f, "max_version_level": level, **rest} for f, level, rest in updates], **more}


def alter_partition(version, partition):
    names = {"topic_name": "t"} if version < 2 else {"topic_id": NO_ID}
    isr = {"new_isr": [1]} if version < 3 else {"new_isr_with_epochs": [{"broker_id": 1, "broker_epoch": -1}]}
    return {"broker_id": 1, "broker_epoch": 1,
            "topics": [{**names, "partitions": [{"partition_index": partition, "leader_epoch": 0, "partition_epoch": 0,
                                                 **isr}]}]}


def cases():
    """(api, version, body)"""
    for v in range(8):
        for topics in ([], [topic("new")], [topic("new"), topic("new")], [topic("t")], [topic("no/name")],
                       [topic("__cluster_metadata")], [topic("new", num_partitions=-5)],
                       [topic("new", configs=[{"name": "no.such", "value": "1"}])],
                       [topic("a"), topic("t"), topic("a"), topic("b")]):
            yield "CreateTopics", v, {"topics": topics, "timeout_ms": 1000}
            if v >= 1:
                yield "CreateTopics", v, {"topics": topics, "validate_only": True}
    for v in range(6):
        for names in ([], ["t"], ["nothing"], ["t", "t"], ["no/name", "t"]):
            yield "DeleteTopics", v, {"topic_names": names, "timeout_ms": 1000}
    for topics in ([], [{"name": "t"}], [{"name": "t"}, {"name": "t"}], [{"name": None, "topic_id": SOME_ID}],
                   [{"name": "t", "topic_id": SOME_ID}], [{"name": None, "topic_id": NO_ID}]):
        yield "DeleteTopics", 6, {"topics": topics, "timeout_ms": 1000}
    for v in range(4):
        for topics in ([], [{"name": "t", "count": 3, "assignments": None}],
                       [{"name": "t", "count": 3, "assignments": None}, {"name": "t", "count": 4, "assignments": None}],
                       [{"name": "nothing", "count": -1, "assignments": None}],
                       [{"name": "t", "count": 3, "assignments": [{"broker_ids": [9]}]},
                        {"name": "u", "count": 3, "assignments": None}]):
            for validate_only in (False, True):
                yield "CreatePartitions", v, {"topics": topics, "timeout_ms": 1000, "validate_only": validate_only}
    for v in range(3):
        for kind in (0, 1, 2) if v else (0,):
            for partitions in (None, [], [{"topic": "t", "partitions": [0, 1]}], [{"topic": "t", "partitions": [0, 0, 9]}],
                               [{"topic": "nothing", "partitions": [0]}, {"topic": "t", "partitions": [1]}],
                               [{"topic": "t", "partitions": []}]):
                yield "ElectLeaders", v, {"election_type": kind, "topic_partitions": partitions, "timeout_ms": 1000}
    for topics in ([], [{"name": "t", "partitions": [{"partition_index": 0, "replicas": [1]},
                                                     {"partition_index": 7, "replicas": None}]}],
                   [{"name": "t", "partitions": [{"partition_index": 0, "replicas": []}]}],
                   [{"name": "nothing", "partitions": [{"partition_index": 0, "replicas": [1, 1]}]}]):
        yield "AlterPartitionReassignments", 0, {"topics": topics}
    for topics in (None, [], [{"name": "t", "partition_indexes": [0, 7]}, {"name": "nothing", "partition_indexes": [0]}]):
        yield "ListPartitionReassignments", 0, {"topics": topics}
    for v in range(4):
        yield "AlterPartition", v, {"broker_id": 1, "broker_epoch": 1, "topics": []}
        for partition in (0, 9):
            yield "AlterPartition", v, alter_partition(v, partition)
        yield "ControlledShutdown", v, {"broker_id": 77, **({"broker_epoch": 5} if v >= 2 else {})}
    yield "AllocateProducerIds", 0, {"broker_id": 1, "broker_epoch": 1}
    for v in (3, 4):
        yield "ApiVersions", v, {"client_software_name": "oracle", "client_software_version": "1"}
    yield from feature_cases()


def feature_cases():
    for v in (0, 1):
        for body in (features(), features(("", 1, {})), features(("metadata.version", 1, {})),
                     features(("nothing", 5, {})), features(("nothing", 0, {})), features(("nothing", -1, {})),
                     features(("a", 1, {}), ("a", 2, {})), features(("a", 1, {}), ("", 2, {}), ("b", 0, {}))):
            yield "UpdateFeatures", v, body
    for kind in (0, 1, 2, 3, 4):
        for level in (0, 3):
            yield "UpdateFeatures", 1, features(("nothing", level, {"upgrade_type": kind}))
            yield "UpdateFeatures", 1, features(("nothing", level, {"upgrade_type": kind}), validate_only=True)
    for allow in (False, True):
        yield "UpdateFeatures", 0, features(("nothing", 0, {"allow_downgrade": allow}))


def is_for_controller(case):
    """Also sent to the controller itself, as nothing changes by it."""
    api, version, body = case
    names = [t.get("name") for t in body.get("topics") or ()]
    return api == "UpdateFeatures" or (api == "CreatePartitions" and body["validate_only"] and len(set(names)) < len(names))


def brokers(port):
    """Ports of the controller and of the other one."""
    with Peer("127.0.0.1", port + 1) as peer:
        metadata = peer.ask("Metadata", 9, {"topics": []})
    ids = sorted(b["node_id"] for b in metadata["brokers"])
    active = metadata["controller_id"]
    return port + active, port + next(i for i in ids if i != active)


def visible(answer):
    if isinstance(answer, dict):
        answer.pop("api_keys", None)  # which APIs there are is told elsewhere; the features count here
    text = json.dumps(answer, sort_keys=True, default=str)
    return json.loads(re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "id", text))


def ordered(value):
    """Kafka answers lists in the order of its hash maps."""
    if isinstance(value, dict):
        return {k: ordered(v) for k, v in value.items()}
    if isinstance(value, list):
        return sorted((ordered(v) for v in value), key=json.dumps)
    return value


def ask(port, case):
    with Peer("127.0.0.1", port) as peer:
        return ordered(visible(peer.ask(*case)))


def compare(ours, kafka, verbose):
    mine, theirs, failed, count = brokers(ours), brokers(kafka), 0, 0
    for port in (mine[0], theirs[0]):
        with Peer("127.0.0.1", port) as peer:
            peer.ask("CreateTopics", 4, {"topics": [topic("t", num_partitions=2, replication_factor=2)],
                                         "timeout_ms": 10000})
    for case in cases():
        for at in (1, 0) if is_for_controller(case) else (1,):
            a, b, count = ask(theirs[at], case), ask(mine[at], case), count + 1
            if a != b:
                failed += 1
                where = "the controller" if at == 0 else "another broker"
                print(f"differs at {where}: {case[0]} v{case[1]} {json.dumps(case[2])}\n  Kafka: {a}\n  ours:  {b}")
            elif verbose:
                print(f"same: {case[0]} v{case[1]} {json.dumps(case[2])}: {b}")
    print(f"{count - failed} passed, {failed} failed, 0 skipped")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=26000)
    parser.add_argument("--ours", type=int)
    parser.add_argument("--kafka", type=int)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if options.ours and options.kafka:
        sys.exit(1 if compare(options.ours, options.kafka, options.verbose) else 0)
    folder, cluster = tempfile.mkdtemp(prefix="klamm-controller-wire-"), f"{ROOT}/deploy/cluster"
    ports = {"klamm": options.port, "kafka": options.port + 500}
    try:
        up = [subprocess.Popen([cluster, "up", "--dir", f"{folder}/{impl}", "--impl", impl, "--brokers", "2", "--port",
                                str(port)], stdout=subprocess.DEVNULL) for impl, port in ports.items()]
        assert all(p.wait() == 0 for p in up), "a cluster does not start"
        sys.exit(1 if compare(ports["klamm"], ports["kafka"], options.verbose) else 0)
    finally:
        for impl in ports:
            subprocess.run([cluster, "down", "--dir", f"{folder}/{impl}", "--wipe"], check=False, stdout=subprocess.DEVNULL)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
