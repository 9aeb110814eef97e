#!/usr/bin/env python3
"""console_cli - Kafka's client tools beside Kafka 3.9's own, on our brokers

    tests/oracle/console_cli.py [--bootstrap HOST:PORT,...] [--verbose]

Console producer and consumer, the two perf tests, the verifiable producer and consumer. Without --bootstrap it starts
three brokers and ends them. Command lines that write run once for each tool, into a topic of its own (@), and Kafka's
consumer reads what came of them; then each consumer reads what the other side's producer wrote. The same must be:
standard output, exit code, of a wrong command line the first line of standard error (the last one where the usage
stands in front), of others what stands there without the log. Perf lines: their shape, and that their numbers agree
with each other. Ends with one line of counts.
"""

import argparse
import array
import base64
import fcntl
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import topics_cli
from topics_cli import ROOT, Kafkas

PRODUCER, CONSUMER = "kafka-console-producer", "kafka-console-consumer"
PERF_PRODUCER, PERF_CONSUMER = "kafka-producer-perf-test", "kafka-consumer-perf-test"
V_PRODUCER, V_CONSUMER = "kafka-verifiable-producer", "kafka-verifiable-consumer"
topics_cli.CLASSES.update({
    PRODUCER: "kafka.tools.ConsoleProducer", CONSUMER: "org.apache.kafka.tools.consumer.ConsoleConsumer",
    PERF_PRODUCER: "org.apache.kafka.tools.ProducerPerformance",
    PERF_CONSUMER: "org.apache.kafka.tools.ConsumerPerformance"})


def prop(**named):
    return [word for key, value in named.items() for word in ("--property", f"{key.replace('_', '.')}={value}")]


# What the producer finds on its standard input, and its flags; every one has a topic of its own.
KEYS, HEADERS = prop(parse_key="true"), prop(parse_headers="true")
ALL = HEADERS + KEYS
WRITES = [
    ([], b"one\ntwo\n\nlast without a line feed"),
    ([], b""),
    ([], b"\r\nwith return\r\nalone\rend\r\n"),
    ([], "h\u00e9llo \u4e16\u754c\n".encode()),
    (KEYS, b"k\tv\nk2\t\n\tv3\na\tb\tc\n"),
    (KEYS, b"k\tv\nno separator\nk2\tv2\n"),
    (KEYS + prop(ignore_error="true"), b"k\tv\nno separator\nk2\tv2\n"),
    (KEYS + prop(key_separator="::"), b"k::v\nk:v::w\n::\n"),
    (KEYS + prop(key_separator="\\t"), b"k\\tv\n"),
    (KEYS + prop(null_marker="NIL"), b"NIL\tNIL\nNILS\tx\nk\tNIL\n"),
    (prop(parse_key=" TRUE "), b"k\tv\n"),
    (prop(parse_key="yes"), b"k\tv\n"),
    (HEADERS, b"h1:v1,h2:v2\tvalue\n"),
    (HEADERS, b"h1:v1,h2\tvalue\n"),
    (HEADERS, b"no delimiter\n"),
    (HEADERS + prop(ignore_error="true"), b"h1:v1,h2\tvalue\nno delimiter\n"),
    (HEADERS + prop(headers_separator="[;|]", headers_key_separator="="), b"a=1;b=2|c=\td\n"),
    (HEADERS, b"\tempty\n,\tcommas\n"),
    (HEADERS + prop(ignore_error="true"), b"\tempty\na:1,,b:2,,\tcommas\n,,a:1\tfront\n"),
    (ALL, b"h1:v1,h2:v2\tkey\tvalue\n:\t\t\n"),
    (ALL, b"h1:v1\tno key\n"),
    (ALL + prop(null_marker="-"), b"-\t-\t-\nh:-\tk\tv\n"),
    (ALL + prop(null_marker="-"), b"h:1\tk\tv\n-:1\tk\tv\n"),
    (["--sync"], b"one\ntwo\n"),
    (["--compression-codec"], b"zipped\n"),
    (["--compression-codec", "zstd", "--request-required-acks", "1"], b"zstd\n"),
    (["--producer-property", "acks=0", "--producer-property", "linger.ms=1"], b"acks 0\n"),
    (["--producer.config", "{file:producer}", "--reader-config", "{file:reader}"], b"k=v\n"),
    (["--producer.config", "{file:producer}", "--reader-config", "{file:reader}", *prop(key_separator="+")], b"k+v\n"),
    (["--sync", "--producer-property", "max.request.size=100"], b"x" * 300 + b"\n"),
]
# Wrong command lines, each with --bootstrap-server and a topic unless it has its own.
BARE = "bare"
WRONG = [
    *[(PRODUCER, words) for words in (
        [BARE], [BARE, "--help"], [BARE, "--version"], [BARE, "--topic", "x"], [BARE, "--topic"],
        [BARE, "--bootstrap-server", "{b}"], ["--foo"], ["--batch-size", "z"], ["--topic", "y"],
        [BARE, "--topic", "x", "--bootstrap-server", "nope"], [BARE, "--topic", "x", "--bootstrap-server", ""],
        ["--producer-property", "acks=9"], ["--compression-codec", "foo"], ["--request-required-acks", "7"],
        ["--producer.config", "/nope"], ["--reader-config", "/nope"],
        prop(headers_delimiter=","), prop(headers_key_separator="\t"), prop(headers_separator=":"),
        *[prop(null_marker=m) for m in "\t,:"], ["--timeout", "x"])],
    *[(CONSUMER, words) for words in (
        [BARE], [BARE, "--help"], [BARE, "--version"], [BARE, "--topic", "x"], [BARE, "--bootstrap-server", "{b}"],
        ["--include", "y"], ["--whitelist", "y"], ["--offset", "0"], ["--partition", "0", "--offset", "z"],
        ["--partition", "0", "--offset", "-1"], ["--partition", "0", "--offset", "1", "--from-beginning"],
        ["--partition", "0", "--group", "g"], ["--consumer-property", "group.id=a", "--group", "b"],
        ["--consumer-property", "auto.offset.reset=latest", "--from-beginning"], ["--foo"],
        ["--formatter", "zzz"], ["--formatter-config", "/zzz"], ["--max-messages", "0"],
        ["--max-messages", "0", "--consumer-property", "auto.offset.reset=zzz"],
        ["--max-messages", "0", "--isolation-level", "zzz"], ["--consumer.config", "/zzz"], ["--partition", "z"],
        [BARE, "--bootstrap-server", "{b}", "--include", "x", "--partition", "0"])],
    *[(PERF_CONSUMER, words) for words in (
        [BARE], [BARE, "--help"], [BARE, "--bootstrap-server", "{b}"], [BARE, "--topic", "x", "--messages", "1"], [],
        ["--foo"], ["--messages", "2", "--messages", "3"], ["--messages", "2", "--reporting-interval", "0"],
        ["--messages", "2", "--reporting-interval", "x"], ["--messages", "2", "--date-format", "qq"],
        ["--messages", "2", "--consumer.config", "/nope"])],
]
P = ["--producer-props", "bootstrap.servers={b}"]
N = ["--topic", "x", "--num-records", "20", "--throughput", "-1"]
WRONG_ARGS = [
    ["--topic", "x"], ["--num-records", "20"], N, [*N, "--record-size", "10"],
    [*N, "--record-size", "10", "--payload-file", "x", *P], [*N, "--record-size", "x", *P], [*N, "--record-size"],
    [*N, "--foo", "--record-size", "3", *P], [*N, "--foo=3", "--record-size", "3", *P],
    [*N, "stray", "--record-size", "3", *P], [*N, "--record-size", "3", "--producer-props"], [*N, "--p", "3", *P],
    ["--topic", "x", "--num-records", "z", "--throughput", "1", "--record-size", "10", *P],
    ["--topic", "x", "--num-records", "1", "--throughput", "z", "--record-size", "10", *P],
    [*N, "--payload-monotonic=3", *P], [*N, "--payload-monotonic", "x", *P], [*N, "--record-size", "3", "-x", *P],
    [*N, "--record-size", "10", "--transaction-duration-ms", "x", *P], ["--topic", "x", "--topic", "--num-records"],
    [*N, "--record-size", "3", "--producer-props", "bad"], [*N, "--record-size", "3", "--producer-props", "a=b=c"],
    [*N, "--record-size", "3", "--producer.config", "/nope", *P], [*N, "--payload-file", "/nope", *P],
    ["--topc", "x"], ["--paylod-fil", "x"], [*N, "--record-sizes", "3", *P], [*N, "--record-size", "3", *P, "-1.5"],
    [*N, "--record-size", "3", "--", *P], [*N, "--record-size", "--", "3", *P], [*N, "--record-size=", *P],
    ["--topic", "x", "--num-records", "1", "--throughput", "-0.5", "--record-size", "10", *P],
    ["--topic", "x", "--num-records", "1", "--throughput", "", "--record-size", "10", *P], ["-", *N], ["---topic", "x"],
    [*N, "--record-size", "3", *P, "@file"], [*N, "--record-size", "+3", *P, "--hel=3"], [*N, "--=3"],
]
# Ways to print, of the records that one writer left; the first five, from the beginning.
JAVA = "org.apache.kafka.common.serialization."
EVERYTHING = prop(print_key="true", print_headers="true", print_offset="true", print_partition="true",
                  print_timestamp="true")
READS = [
    [], EVERYTHING, prop(print_value="false"), prop(print_key="true", print_value="false", line_separator="|"),
    prop(print_key="true", key_separator="<>", null_literal="(none)"),
    prop(print_headers="true", headers_separator="; ", print_offset=" True "),
    *[["--value-deserializer", JAVA + name] for name in (
        "StringDeserializer", "BytesDeserializer", "ByteBufferDeserializer", "LongDeserializer", "IntegerDeserializer",
        "ShortDeserializer", "DoubleDeserializer", "FloatDeserializer", "UUIDDeserializer", "BooleanDeserializer",
        "VoidDeserializer")],
    ["--value-deserializer", JAVA + "LongDeserializer", "--skip-message-on-error"],
    [*prop(print_key="true"), "--key-deserializer", JAVA + "IntegerDeserializer", "--skip-message-on-error"],
    ["--formatter", "kafka.tools.NoOpMessageFormatter"], ["--formatter", "kafka.tools.DefaultMessageFormatter"],
    ["--formatter", "org.apache.kafka.tools.consumer.LoggingMessageFormatter"],
    ["--formatter", "org.apache.kafka.tools.consumer.OffsetsMessageFormatter"],
    ["--formatter", "kafka.coordinator.transaction.TransactionLog$TransactionLogMessageFormatter"],
    ["--formatter-config", "{file:formatter}"], ["--enable-systest-events"],
]
BYTES = [b"12345678", b"\x00\x00\x00\x00\x00\x00\x01\x00", b"@\x09\x21\xfb\x54\x44\x2d\x18", b"?\x50bM\xd2\xf1\xa9\xfc",
         b"\x7f\xf0\0\0\0\0\0\0", b"A\xcd\xcde\0\0\0\0", b"1234", b"\xff\xff\xff\x85", b"=\xcc\xcc\xcd", b"\x7f\xff",
         b"\x01", b"7b9e2c3a-1-2-3-4", b"\\\x7f\n"]
NUMBERS = {"LongDeserializer": range(0, 6), "DoubleDeserializer": range(0, 6), "IntegerDeserializer": range(6, 9),
           "FloatDeserializer": range(6, 9), "ShortDeserializer": range(9, 10), "BooleanDeserializer": range(10, 11),
           "UUIDDeserializer": range(11, 12), "BytesDeserializer": range(0, 13)}
FORMATTERS = ["org.apache.kafka.tools.consumer.OffsetsMessageFormatter",
              "kafka.coordinator.group.GroupMetadataManager$OffsetsMessageFormatter",
              "org.apache.kafka.tools.consumer.GroupMetadataMessageFormatter",
              "kafka.coordinator.group.GroupMetadataManager$GroupMetadataMessageFormatter"]
LOG = re.compile(r"\[\d{4}-\d\d-\d\d [^\]]*\] (WARN|INFO) .*")
TRACE = re.compile(r"\s+at |\s+\.\.\. \d+ more|Caused by: ")


def ours(tool, args, stdin=b""):
    """By the name of Kafka's script."""
    done = subprocess.run([topics_cli.named(tool), *args], input=stdin, capture_output=True, timeout=90, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


class Java:
    """Kafka's tools in a few Java machines; their output as bytes. A tool waits more than it works."""

    def __init__(self, libs, count=3):
        self.free = queue.Queue()
        for i in range(count):
            self.free.put(Kafkas(libs, compiled=i > 0))

    def run(self, tool, args, stdin=b""):
        words = [topics_cli.CLASSES[tool] + "<" + base64.b64encode(stdin).decode(), *args]
        side = self.free.get()
        try:
            side.java.stdin.write("\x1f".join(words) + "\n")
            side.java.stdin.flush()
            code, out, err = side.java.stdout.readline().split()
        finally:
            self.free.put(side)
        out, err = (base64.b64decode(text[1:]) for text in (out, err))
        return int(code), out, err.decode()

    def close(self):
        while not self.free.empty():
            self.free.get().close()


def alone(libs, tool, args, stdin=b""):
    """One of Kafka's tools in a machine of its own: those that end it themselves."""
    log4j = os.path.join(ROOT, "deploy/local/kafka-log4j.properties")
    name = {V_PRODUCER: "VerifiableProducer", V_CONSUMER: "VerifiableConsumer"}.get(tool)
    java = ["java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
            f"-Dlog4j.configuration=file:{log4j}", "-cp", f"{libs}/*",
            f"org.apache.kafka.tools.{name}" if name else topics_cli.CLASSES[tool]]
    done = subprocess.run([*java, *args], input=stdin, capture_output=True, timeout=150, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


def told(err):
    """Standard error without what only a log has: times, warnings, traces, the class of an uncaught exception."""
    lines = [re.sub(r"^\[\d{4}-\d\d-\d\d [^\]]*\]", "[]", line) for line in err.splitlines()
             if not LOG.match(line) and not TRACE.match(line)]
    lines = [re.sub(r'^Exception in thread "main" (joptsimple\.\w+: )?', "", line) for line in lines]
    return [line for line in lines if line]


def first(err):
    lines = told(err)
    # what Kafka logs comes after the count of messages, which ours tells in the same order
    return re.sub(r"^java\.nio\.file\.NoSuchFileException: ", "", lines[0]) if lines else ""


def last(err):
    """What is said of a wrong command line: usage and mistake to the letter, of others the first line."""
    lines = [line for line in err.splitlines() if not LOG.match(line)]
    return lines if lines[:1] and lines[0].startswith("usage:") else first(err)


def is_read(pipe):
    """Whether the other end takes all out of the pipe in time."""
    deadline, left = time.monotonic() + 60, array.array("i", [1])
    while left[0] and time.monotonic() < deadline:
        fcntl.ioctl(pipe, termios.FIONREAD, left)
        time.sleep(0.01)
    return left[0] == 0


class Check:
    def __init__(self, java, libs, options, folder):
        self.java, self.libs, self.bootstrap, self.folder = java, libs, options.bootstrap, folder
        self.verbose, self.passed, self.failed = options.verbose, 0, 0
        self.lock = threading.Lock()
        for name, text in (("producer", "linger.ms=3\nacks=1\n"), ("reader", "parse.key=true\nkey.separator=\\=\n"),
                           ("formatter", "print.key=true\nkey.separator=->\n")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)

    def count(self, what, kafkas, klamms):
        with self.lock:
            if kafkas == klamms:
                self.passed += 1
                if self.verbose:
                    print(f"ok: {what} -> {str(kafkas)[:160]}")
                return
            self.failed += 1
            print(f"FAILED: {what}\n  Kafka: {kafkas}\n  ours:  {klamms}", flush=True)

    def expect(self, what, good, seen=""):
        self.count(what, True, True if good else seen or False)

    def fill(self, args):
        where = self.bootstrap.split(",")[0]
        return [re.sub(r"\{file:(.*)\}", lambda m: os.path.join(self.folder, m[1]), a).replace("{b}", where)
                for a in args]

    def common(self, topic):
        return ["--bootstrap-server", self.bootstrap, "--topic", topic]

    def wrong(self, tool, args):
        where = [] if BARE in args else self.common("x")
        line = self.fill([*where, *(a for a in args if a != BARE)])
        seen = []
        for run in (self.java.run, ours):
            code, out, err = run(tool, line)
            if "--version" in line:
                out = re.sub(rb"^3\.9\.\d+", b"3.9", out)
            seen.append((code, out, "" if "--help" in line else first(err)))
        self.count(f"{tool} {args}", *seen)

    def wrong_args(self, args):
        seen = []
        for run in (self.java.run, ours):
            code, out, err = run(PERF_PRODUCER, self.fill(args))
            seen.append((code, out, last(err) if "error:" in err else first(err)))
        self.count(f"{PERF_PRODUCER} {args}", *seen)

    def create(self, topic):
        """So that nobody waits for a topic that its own question creates."""
        ours("kafka-topics", [*self.common(topic), "--create", "--partitions", "1"])

    def content(self, topic):
        """What is there, without the times."""
        out = subprocess.run([topics_cli.KLAMM, "consume", "-b", self.bootstrap, "-t", topic, "-f", "beginning", "-e",
                              "-o", "json"], capture_output=True, check=True).stdout
        return [{k: v for k, v in json.loads(line).items() if k not in ("topic", "timestamp")}
                for line in out.splitlines()]

    def write(self, i, args, stdin):
        """Each producer into its own topic; every fifth is read by each other's consumer as well."""
        seen = []
        for world, run in (("jav", self.java.run), ("our", ours)):
            topic = f"{world}-{i}"
            self.create(topic)
            code, out, err = run(PRODUCER, self.common(topic) + self.fill(args), stdin)
            if "max.request.size=100" in args:
                err = ""  # the sizes differ by the client
            seen.append((code, out, told(err)[:1], self.content(topic)))
        self.count(f"{PRODUCER} {args} {stdin[:30]}", *seen)
        for topic in (f"jav-{i}", f"our-{i}") if i % 5 == 0 else ():
            line = [*self.common(topic), "--partition", "0", "--offset", "earliest", "--max-messages",
                    str(len(seen[0][3])), *prop(print_key="true", print_headers="true", print_offset="true")]
            self.count(f"reading {topic}", *[self.counted(run(CONSUMER, line)) for run in (self.java.run, ours)])

    def counted(self, answer):
        code, out, err = answer
        return code, out, told(err)

    def both(self, args, topic, count, start=("--offset", "earliest")):
        line = [*self.common(topic), "--partition", "0", *start, "--max-messages", str(count), *self.fill(args)]
        self.count(f"{CONSUMER} {args}", *[self.counted(run(CONSUMER, line)) for run in (self.java.run, ours)])

    def prepare(self):
        lines = b"h:1,g:\t7654\tvalue\n\tk\tnull\nh:-\t-\t-\na:b\tkey5\t12345678\n\tk\t\n"
        for topic in ("printed", "numbers", "jav-perf", "our-perf", "jav-v", "our-v", "interrupted"):
            self.create(topic)
        self.java.run(PRODUCER, self.common("printed") + ALL + prop(null_marker="-", ignore_error="true"), lines)
        with tempfile.NamedTemporaryFile(dir=self.folder) as f:
            for value in BYTES:
                f.write(json.dumps({"value": {"base64": base64.b64encode(value).decode()}}).encode() + b"\n")
            f.seek(0)
            subprocess.run([topics_cli.KLAMM, "produce", "-b", self.bootstrap, "-t", "numbers", "--input", "json"],
                           stdin=f, check=True)

    def numbers(self, name, offsets):
        """Values that are no text."""
        self.both(["--value-deserializer", JAVA + name, "--skip-message-on-error"], "numbers", len(offsets),
                  ["--offset", str(offsets[0])])

    def include(self):
        self.count("--include", *[self.counted(run(CONSUMER, [
            "--bootstrap-server", self.bootstrap, "--include", r"print\w{2}", "--from-beginning", "--max-messages", "5"]))
            for run in (self.java.run, ours)])

    def groups(self):
        """Each goes on where it was, and then where the other was; what they committed prints the same."""
        for step, names in enumerate((("jav", "our"), ("jav", "our"), ("our", "jav"))):
            self.count(f"a group, {step}", *[self.counted(run(CONSUMER, [
                *self.common("printed"), "--group", f"{name}-group", "--from-beginning", "--max-messages",
                "1" if step == 2 else "2"])) for run, name in zip((self.java.run, ours), names)])
        self.formatters()

    def formatters(self):
        stored = {}
        for record in self.content("__consumer_offsets"):
            stored[record["partition"]] = stored.get(record["partition"], 0) + 1
        fullest = max(stored, key=stored.get)
        for name in FORMATTERS:
            line = [*self.common("__consumer_offsets"), "--partition", str(fullest), "--offset", "earliest",
                    "--max-messages", str(stored[fullest]), "--formatter", name]
            kafkas, klamms = (self.counted(run(CONSUMER, line)) for run in (self.java.run, ours))
            self.count(name, kafkas, klamms)
            self.expect("there was something to print", len(kafkas[1]) > 50, str(kafkas)[:300])

    def perf(self):
        end = re.compile(r"(\d+) records sent, ([\d.]+) records/sec \(([\d.]+) MB/sec\), ([\d.]+) ms avg latency, "
                         r"([\d.]+) ms max latency, (\d+) ms 50th, (\d+) ms 95th, (\d+) ms 99th, (\d+) ms 99.9th.\n$")
        with open(os.path.join(self.folder, "payloads"), "w", encoding="utf-8") as f:
            f.write("one\ntwo\n\nfour\n\n")
        runs = [["--record-size", "100"], ["--payload-monotonic"], ["--payload-file", "{file:payloads}"],
                ["--payload-file", "{file:payloads}", "--payload-delimiter", "[ou]+"], ["--record-s=10", "--print-metrics"]]
        for i, args in enumerate(runs):
            seen = []
            for world, run in (("jav", self.java.run), ("our", ours)):
                code, out, err = run(PERF_PRODUCER, self.fill(["--topic", f"{world}-perf", "--num-records", "500",
                                                               "--throughput", "-1", *args, *P]))
                out = out.decode()
                line = end.search(out.split("\n\nMetric")[0] + ("\n" if "\n\nMetric" in out else ""))
                seen.append((code, bool(line), line and line[1], out.startswith("Reading payloads"),
                             re.findall(r"Number of messages read: \d+", out), "Metric Name" in out, told(err)))
                if world == "our" and line:
                    v = [float(x) for x in line.groups()]
                    size = v[2] * 1048576 / v[1]
                    good = v[3] <= v[4] and v[5] <= v[6] <= v[7] <= v[8] <= v[4] and 0 <= size < 120
                    self.expect(f"numbers of {args}", good and (i > 0 or 70 < size), out)
            self.count(f"{PERF_PRODUCER} {args}", *seen)
        row = re.compile(r"[\d-]+ [\d:]+, [\d-]+ [\d:]+, ([\d.]+), ([\d.]+), (\d+), ([\d.]+), (\d+), (-?\d+), (-?[\d.]+), (-?[\d.]+)\n$")
        for args in (["--messages", "500"], ["--messages", "500", "--hide-header"], ["--messages", "100000", "--timeout", "1500"],
                     ["--messages", "5", "--show-detailed-stats", "--reporting-interval", "1"],
                     ["--messages", "5", "--threads", "2"], ["--messages", "5", "--print-metrics"]):
            seen = []
            for world, run in (("jav", self.java.run), ("our", ours)):
                code, out, err = run(PERF_CONSUMER, self.common(f"{world}-perf") + args)
                out = out.decode()
                line = row.search(out)
                shape = re.sub(r"\d+(\.\d+)?", "N", out.split("\n\nMetric")[0])
                if "--show-detailed-stats" in args:
                    shape = "\n".join(shape.splitlines()[:2])
                seen.append((code, shape, "Metric Name" in out, told(err)))
                if line and world == "our":
                    mb, mb_s, n, n_s, join, fetch, fetch_mb, fetch_n = (float(x) for x in line.groups())
                    ms = join + fetch
                    self.expect(f"numbers of {args}", abs(n / ms * 1000 - n_s) < 1e-3 * n_s + 1e-3 and
                                abs(mb / ms * 1000 - mb_s) < 0.01 * mb_s + 1e-3 and
                                abs(n / fetch * 1000 - fetch_n) < 1e-3 * fetch_n + 1e-3 and fetch_mb >= mb_s, out)
            self.count(f"{PERF_CONSUMER} {args}", *seen)

    def verifiable(self):
        """Both sides of each line at once: every one of Kafka's is a machine of its own."""
        b = ["--bootstrap-server", self.bootstrap]
        makes = [[*b, "--topic", "@", "--max-messages", "3"],
                 [*b, "--topic", "@", "--max-messages", "4", "--value-prefix", "7", "--repeating-keys", "2", "--acks", "1"]]
        reads = [[*b, "--topic", "@", "--group-id", "@", "--max-messages", "4"],
                 [*b, "--topic", "@", "--group-id", "@", "--max-messages", "3", "--verbose"],
                 [*b, "--topic", "@", "--group-id", "@-auto", "--max-messages", "7", "--enable-autocommit"]]
        wrong = [(V_PRODUCER, []), (V_PRODUCER, ["--topic", "x"]), (V_PRODUCER, [*b, "--topic", "x", "--acks", "5"]),
                 (V_PRODUCER, [*b, "--topic", "x", "--broker-list", "x"]), (V_CONSUMER, ["--topic", "x"]),
                 (V_CONSUMER, [*b, "--topic", "x", "--group-id", "g", "--reset-policy", "foo"])]
        def side(world, run):
            def one(tool, args):
                return run(tool, [a.replace("@", f"{world}-v") for a in args])
            with ThreadPoolExecutor(2) as pool:
                mistakes = [pool.submit(one, *w) for w in wrong]
                events = [one(V_PRODUCER, args) for args in makes] + [one(V_CONSUMER, args) for args in reads]
                return [m.result() for m in mistakes], events
        with ThreadPoolExecutor(2) as pool:
            sides = [pool.submit(side, "jav", lambda *a: alone(self.libs, *a)), pool.submit(side, "our", ours)]
            (jav_wrong, jav), (our_wrong, our) = (s.result() for s in sides)
        for (tool, args), *answers in zip(wrong, jav_wrong, our_wrong):
            self.count(f"{tool} {args}", *[(code, last(err) if "error:" in err else first(err), out[:20])
                                          for code, out, err in answers])
        for args, *answers in zip(makes + reads, jav, our):
            self.count(f"verifiable {args}", *[(code, *self.events(out)) for code, out, _ in answers])

    def events(self, out):
        events = [json.loads(line) for line in out.decode().splitlines()]
        for e in events:
            for free in ("timestamp", "avg_throughput"):
                if free in e:
                    e[free] = type(e[free]).__name__
            if e.get("topic"):
                e["topic"] = e["topic"][4:]
            for p in e.get("partitions", []) + e.get("offsets", []):
                p["topic"] = p["topic"][4:]
        return events

    def ends(self):
        """Signals, a reader that goes away, a cluster that is not there."""
        def signalled(start, sig):
            with subprocess.Popen(start, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
                line = p.stdout.readline()
                p.send_signal(sig)
                out, err = p.communicate(timeout=20)
                return p.returncode, line + out, told(err.decode())
        java = ["java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", f"{self.libs}/*",
                f"-Dlog4j.configuration=file:{os.path.join(ROOT, 'deploy/local/kafka-log4j.properties')}",
                topics_cli.CLASSES[CONSUMER]]
        link = [topics_cli.named(CONSUMER)]
        line = [*self.common("printed"), "--partition", "0", "--offset", "4"]
        with ThreadPoolExecutor(2) as pool:
            theirs = [pool.submit(signalled, java + line, s) for s in (signal.SIGINT, signal.SIGTERM)]
            mine = [signalled(link + line, s) for s in (signal.SIGINT, signal.SIGTERM)]
            for name, t, m in zip(("INT", "TERM"), theirs, mine):
                code, out, err = t.result()  # a Java machine that a signal ends by itself tells it as a number
                self.count(f"SIG{name}", (code, out, err), m)
        with subprocess.Popen(link + [*self.common("our-perf"), "--from-beginning"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as p:
            p.stdout.readline()
            p.stdout.close()
            for _ in range(40):  # something has to be printed for it to notice
                ours(PRODUCER, self.common("our-perf"), b"x\n")
                if p.poll() is not None:
                    break
                time.sleep(0.1)
            err = p.stderr.read().decode()
            self.expect("a reader that goes away", p.wait(10) == 0 and "Unable to write to standard out, closing "
                        "consumer." in err and "Processed a total of" in err, err)
        producer = [topics_cli.named(PRODUCER), *self.common("interrupted")]
        with subprocess.Popen(producer, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as p:
            p.stdin.write(b"kept\n")
            p.stdin.flush()
            self.expect("a producer reads its standard input", is_read(p.stdin))
            p.send_signal(signal.SIGINT)
            self.expect("a producer that is interrupted", p.wait(10) == 130)
        self.expect("what it had read is there", [r["value"] for r in self.content("interrupted")] == ["kept"])
        nowhere = ["--bootstrap-server", "127.0.0.1:1", "--topic", "x"]
        code, _, err = ours(PRODUCER, [*nowhere, "--max-block-ms", "300", "--sync"], b"a\n")
        self.expect("nobody there, --sync", code == 1 and len(err.splitlines()) == 1 and "127.0.0.1:1" in err, err)
        code, _, err = ours(CONSUMER, [*nowhere, "--timeout-ms", "300"])
        self.expect("nobody there", code == 0 and "127.0.0.1:1" in err and len(err.splitlines()) == 3, err)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bootstrap")
    parser.add_argument("--port", type=int, default=24500)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="klamm-console-cli-")
    cluster = [f"{ROOT}/deploy/cluster"]
    own = not options.bootstrap
    java = None
    try:
        if own:
            subprocess.run([*cluster, "up", "--dir", f"{folder}/cluster", "--brokers", "3", "--port",
                            str(options.port)], check=True, stdout=subprocess.DEVNULL)
            options.bootstrap = ",".join(f"127.0.0.1:{options.port + n}" for n in (1, 2, 3))
        libs = subprocess.run([f"{ROOT}/tests/kafka/fetch"], capture_output=True, text=True, check=True).stdout.strip()
        java = Java(libs)
        check = Check(java, libs, options, folder)
        check.prepare()
        tasks = [(check.groups,), (check.verifiable,), (check.perf,), (check.ends,), (check.include,),
                 *[(check.write, i, *w) for i, w in enumerate(WRITES)],
                 *[(check.both, args, "printed", 5) for args in READS], (check.both, ["--offset", "3"], "printed", 1, []),
                 *[(check.numbers, *n) for n in NUMBERS.items()],
                 *[(check.wrong, *w) for w in WRONG], *[(check.wrong_args, w) for w in WRONG_ARGS]]
        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(*task) for task in tasks]:
                done.result()
        print(f"console_cli: {check.passed} passed, {check.failed} failed" if options.verbose else
              f"{check.passed} passed, {check.failed} failed")
        sys.exit(1 if check.failed else 0)
    finally:
        if java:
            java.close()
        if own:
            subprocess.run([*cluster, "down", "--dir", f"{folder}/cluster", "--wipe"], check=False,
                           stdout=subprocess.DEVNULL)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
