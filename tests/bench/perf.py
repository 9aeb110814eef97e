"""The conventional tools: their command lines, and what their output says."""

import os
import random
import re
import subprocess

from cluster import ROOT

# What Kafka's own scripts give to a client.
JVM = ["-Xmx512M", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35",
       "-XX:+ExplicitGCInvokesConcurrent", "-XX:MaxInlineLevel=15", "-Djava.awt.headless=true"]
PRODUCER = {"buffer.memory": 67108864}  # as in LinkedIn's benchmark; the rest as the client has it
WORDS = ("order", "customer", "delivered", "pending", "amount", "currency", "Zurich", "Prague", "status", "updated")


def java(main, *args):
    libs = os.environ.get("KLAMM_KAFKA_LIBS", f"{ROOT}/build/kafka/libs")
    return ["java", *JVM, f"-Dlog4j.configuration=file:{ROOT}/deploy/local/kafka-log4j.properties", "-cp", f"{libs}/*",
            f"org.apache.kafka.tools.{main}", *map(str, args)]


def payload(path, size):
    """A file of lines of `size` bytes, words and numbers, which compress as such things do; the same at each run."""
    dice, lines = random.Random(size), []
    for _ in range(max(16, min(1000, (4 << 20) // size))):
        parts, length = [], 0
        while length < size:
            parts.append(f"{dice.choice(WORDS)}={dice.randrange(10 ** 6)};")
            length += len(parts[-1])
        lines.append("".join(parts)[:size])
    with open(path, "w", encoding="ascii") as f:
        f.write("\n".join(lines) + "\n")
    return path


def properties(path, settings):
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(f"{k}={v}\n" for k, v in settings.items())
    return path


def producer(topic, records, payload_file, config):
    return java("ProducerPerformance", "--topic", topic, "--num-records", records, "--throughput", -1,
                "--payload-file", payload_file, "--producer.config", config)


def consumer(bootstrap, topic, records, config):
    return java("ConsumerPerformance", "--bootstrap-server", bootstrap, "--topic", topic, "--messages", records,
                "--consumer.config", config, "--timeout", 60000, "--hide-header")


def end_to_end(bootstrap, topic, records, acks, size, config):
    return java("EndToEndLatency", bootstrap, topic, records, acks, size, config)


def rdkafka(bootstrap, topic, mode, records, settings):
    """rdkafka_performance as a producer (-P) or a consumer of a group (-G)."""
    words = [word for k, v in settings.items() for word in ("-X", f"{k}={v}")]
    return [f"{ROOT}/build/rdkafka/rdkafka_performance", *mode, "-t", topic, "-c", str(records), "-b", bootstrap, "-q",
            *words]


def rates_of_producer(text):
    """Records a second in the summary of kafka-producer-perf-test, its last line."""
    found = re.findall(r"^\d+ records sent, ([\d.]+) records/sec .*99.9th", text, re.M)
    if not found:
        raise ValueError(f"no summary of kafka-producer-perf-test in: {text[-500:]}")
    return float(found[-1])


def rates_of_consumer(text):
    """Records a second while fetching, without the time until the group was joined."""
    rows = [line.split(", ") for line in text.splitlines() if line.count(", ") == 9]
    if not rows:
        raise ValueError(f"no row of kafka-consumer-perf-test in: {text[-500:]}")
    return float(rows[-1][9])


def delays_of_end_to_end(text):
    """Milliseconds; the tool rounds its percentiles down to whole ones."""
    mean = re.search(r"^Avg latency: ([\d.]+) ms", text, re.M)
    rest = re.search(r"^Percentiles: 50th = (\d+), 99th = (\d+), 99.9th = (\d+)", text, re.M)
    if not mean or not rest:
        raise ValueError(f"no sums of EndToEndLatency in: {text[-500:]}")
    return {"mean": float(mean[1]), "p99": float(rest[2])}


def rates_of_rdkafka(text):
    """Records a second in the last line that has them."""
    found = re.findall(r": (\d+) msgs/s and ", text)
    if not found:
        raise ValueError(f"no rate of rdkafka_performance in: {text[-500:]}")
    return float(found[-1])


def together(commands, seconds):
    """Runs them at the same time; the output of each. None of them may fail or take longer."""
    running = [subprocess.Popen(c, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for c in commands]
    try:
        outputs = [p.communicate(timeout=seconds)[0] for p in running]
    finally:
        for p in running:
            p.kill()
            p.wait()
    for command, process, output in zip(commands, running, outputs):
        if process.returncode != 0:
            raise RuntimeError(f"{os.path.basename(command[0])} {' '.join(command[-6:])}: exit code "
                               f"{process.returncode}: {output[-800:]}")
    return outputs
