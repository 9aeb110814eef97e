"""tests/run - the one test command of Klamm

    tests/run                          everything but bench
    tests/run KIND... [options] [ARG...]

KIND is tidy, unit, fuzz, oracle, system, clients or bench. Installs and builds what is needed.
The last line is `N passed, N failed, N skipped`; the exit code is 0 if nothing failed and something passed.

    --full        20 rounds of each failure, longer fuzzing
    --rounds N    rounds of each failure in system, of each measurement in bench --against (3)
    --seconds N   for each fuzzer (10; 60 with --full)
    ARG...        handed on: names of unit tests, options of pytest, names of fuzzers
"""

import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PYTHON = "/usr/bin/python3"
# Suites whose code runs in several threads, for the thread sanitizer.
THREADED = re.compile(r"^(common-(io|metrics|client)|zk|controller|broker-(meta|replica|server|group|txn|storage))")
SKIP = 77  # exit code of a kind's script that could not run; its last line says why


class Counts:
    """What a kind of tests came to; each failure's name and reason are printed as they are found."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def fail(self, what):
        self.failed += 1
        print(f"FAILED: {what}", flush=True)

    def skip(self, what):
        self.skipped += 1
        print(f"skipped: {what}", flush=True)

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


class Options:
    """The command line."""

    def __init__(self, argv):
        self.kinds, self.rest, self.full, self.rounds, self.seconds = [], [], False, None, None
        argv = list(argv)
        while argv:
            word = argv.pop(0)
            if word in ("-h", "--help"):
                print(__doc__)
                sys.exit(0)
            elif word == "--full":
                self.full = True
            elif word in ("--rounds", "--seconds"):
                setattr(self, word[2:], int(argv.pop(0)))
            elif word in KINDS and not self.rest:
                self.kinds.append(word)
            else:
                self.rest.append(word)
        if self.rest and not self.kinds:
            sys.exit(f"tests/run: {self.rest[0]} is no kind of tests; they are: {' '.join(KINDS)}")
        self.kinds = self.kinds or [k for k in KINDS if k != "bench"]


def need(*lists):
    """Installs Debian packages; False when that failed, after saying why."""
    return subprocess.run(["bash", "-c", f". {ROOT}/deploy/packages.sh && packages_need {' '.join(lists)}"],
                          check=False).returncode == 0


def build(*kinds):
    return subprocess.run([f"{ROOT}/deploy/build", *kinds], check=False).returncode == 0


def run_tidy(_options):
    counts = Counts()
    need("tidy")
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([PYTHON, f"{ROOT}/tests/tidy/tidy.py"], check=False, env=environment)
    if done.returncode == 0:
        counts.passed += 1
    else:
        counts.fail("tidy")
    done = subprocess.run([PYTHON, f"{ROOT}/tests/tidy/test_tidy.py"], capture_output=True, text=True,
                          check=False, env=environment)
    ran = re.search(r"^Ran (\d+) tests", done.stderr, re.M)
    broken = re.findall(r"^(?:FAIL|ERROR): (\S+)", done.stderr, re.M)
    counts.passed += int(ran.group(1)) - len(broken) if ran else 0
    for name in broken or ([] if ran else ["test_tidy.py"]):
        counts.fail(f"tidy: {name}\n{done.stderr}")
    return counts


def count_tap(result, counts):
    """One program of check: a point for each `ok`, and what it said where it failed."""
    points = re.findall(r"^(not ok|ok) \d+ - (.*)$", result.get("stdout", ""), re.M)
    counts.passed += sum(1 for verdict, _ in points if verdict == "ok")
    broken = [text for verdict, text in points if verdict == "not ok"]
    for text in broken:
        counts.fail(f"{result['name']}: {text}")
    if result["result"] in ("OK", "EXPECTEDFAIL"):
        counts.passed += 0 if points else 1
    elif result["result"] == "SKIP":
        counts.skip(result["name"])
    elif not broken:
        counts.fail(f"{result['name']}: {result['result']}, exit code {result['returncode']}")
    if result["result"] not in ("OK", "EXPECTEDFAIL", "SKIP"):
        print("\n".join("    " + line for line in (result.get("stderr") or "").splitlines()[-40:]), flush=True)


def meson_tests(kind, names, environment):
    """The unit tests of one build; names = None for all."""
    counts = Counts()
    if names == []:
        return counts
    directory, log = f"{ROOT}/build/{kind}", f"{ROOT}/build/{kind}/meson-logs/testlog.json"
    if os.path.exists(log):
        os.unlink(log)
    # Files of tests that were ended by a signal, with their program, go with this directory.
    with open(f"{directory}/test.txt", "w", encoding="utf-8") as out, tempfile.TemporaryDirectory(prefix="klamm-unit-") as files:
        done = subprocess.run(["meson", "test", "-C", directory, "--no-rebuild", "--suite", "unit",
                               "--timeout-multiplier", "1" if kind == "debug" else "4", *(names or [])],
                              stdout=out, stderr=out, check=False, env={**os.environ, **environment, "TMPDIR": files})
    if not os.path.exists(log):
        counts.fail(f"meson test in {directory}, exit code {done.returncode}; see {directory}/test.txt")
        return counts
    with open(log, encoding="utf-8") as f:
        for line in f:
            count_tap(json.loads(line), counts)
    return counts


SANITIZERS = {
    "debug": {},
    "asan": {"ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
             "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"},
    "tsan": {"TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1", "CK_FORK": "no"},
}


def run_unit(options):
    counts = Counts()
    for kind, environment in SANITIZERS.items():
        if not build(kind):
            counts.fail(f"the {kind} build")
            continue
        names = options.rest or None
        if kind == "tsan":
            listed = subprocess.run(["meson", "introspect", f"{ROOT}/build/tsan", "--tests"],
                                    capture_output=True, text=True, check=True)
            names = [t["name"] for t in json.loads(listed.stdout) if THREADED.match(t["name"])
                     and (not options.rest or t["name"] in options.rest)]
        part = meson_tests(kind, names, environment)
        print(f"unit, {kind} build: {part}", flush=True)
        counts.add(part)
    return counts


def fuzz_one(program, name, seconds):
    """libFuzzer for a while, from the stored corpus; (exit code, output)."""
    grown, found = f"{ROOT}/build/fuzz/corpus/{name}", f"{ROOT}/build/fuzz/found/{name}/"
    os.makedirs(grown, exist_ok=True)
    os.makedirs(found, exist_ok=True)
    stored = f"{ROOT}/tests/fuzz/corpus/{name}"
    done = subprocess.run([program, f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=2048",
                           "-print_final_stats=1", f"-artifact_prefix={found}", "-max_len=4096", grown,
                           *([stored] if os.path.isdir(stored) else [])],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          check=False)
    return done.returncode, done.stdout


def run_fuzz(options):
    counts = Counts()
    if not need("fuzz") or not build("fuzz"):
        counts.fail("the fuzz build")
        return counts
    programs = {os.path.basename(p)[5:]: p for p in glob.glob(f"{ROOT}/build/fuzz/tests/fuzz/fuzz-*")
                if os.access(p, os.X_OK) and os.path.isfile(p)}
    names = [n for n in sorted(programs) if not options.rest or n in options.rest]
    seconds = options.seconds or (60 if options.full else 10)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda n: (n, *fuzz_one(programs[n], n, seconds)), names)
        for name, code, output in results:
            runs = re.search(r"number_of_executed_units: (\d+)", output)
            if code == 0:
                counts.passed += 1
                print(f"fuzz {name}: {runs.group(1) if runs else '?'} runs in {seconds} s", flush=True)
            else:
                counts.fail(f"fuzz {name}, exit code {code}\n" + "\n".join(output.splitlines()[-60:]))
    return counts


def read_junit(path, counts):
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None:
            counts.fail(name)
        elif case.find("skipped") is not None:
            counts.skip(f"{name}: {case.find('skipped').get('message')}")
        else:
            counts.passed += 1


def pytest(folder, options, python=PYTHON):
    """The tests of a folder; pytest's output is passed on, its report is counted."""
    counts, report = Counts(), f"{ROOT}/build/{folder}.xml"
    if os.path.exists(report):
        os.unlink(report)
    rounds = options.rounds or (20 if options.full else 3)
    command = [python, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rP" if options.full else "-q",
               "--tb=short", "--durations=10", "--durations-min=5", f"--junitxml={report}", f"--rounds={rounds}",
               *(["--full"] if options.full else []), f"{ROOT}/tests/{folder}", *options.rest]
    done = subprocess.run(command, check=False, cwd=f"{ROOT}/tests/{folder}")
    if os.path.exists(report):
        read_junit(report, counts)
    if done.returncode not in (0, 1) and not counts.failed:
        counts.fail(f"pytest in tests/{folder}, exit code {done.returncode}")
    return counts


def python_clients():
    """The python of build/venv, which has the clients from PyPI; None where they cannot be had."""
    done = subprocess.run([f"{ROOT}/tests/venv"], stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def newest_librdkafka():
    """klamm-load runs on the one that the clients from PyPI bring, not on Debian's: that one takes a broker's honest
    answer for a fatal error."""
    newest = glob.glob(f"{ROOT}/build/venv/lib/python3*/site-packages/confluent_kafka.libs/librdkafka-*.so*")
    os.environ.setdefault("KLAMM_LIBRDKAFKA", newest[0] if newest else "")


def run_system(options):
    counts = Counts()
    if not need("build", "run", "system") or not build("release", "debug"):
        counts.fail("what the system tests need")
        return counts
    if python_clients():
        newest_librdkafka()
    return pytest("system", options)


def run_clients(options):
    counts = Counts()
    if not need("build", "run", "clients") or not build("release"):
        counts.fail("what the clients need")
        return counts
    python = python_clients()
    if python:
        newest_librdkafka()
    return pytest("clients", options, python or PYTHON)


def run_script(kind, options):
    """A kind with a `run` of its own, whose last line is the counts; 77 means that it could not run here."""
    counts = Counts()
    if not need("run", kind) or (kind == "bench" and not build("release")):
        counts.fail(f"what {kind} needs")
        return counts
    numbers = [word for name in ("seconds", *(["rounds"] if kind == "bench" else [])) if getattr(options, name)
               for word in (f"--{name}", str(getattr(options, name)))]
    process = subprocess.Popen([f"{ROOT}/tests/{kind}/run", *(["--full"] if options.full else []), *numbers, *options.rest],
                               stdout=subprocess.PIPE, text=True)
    last, summed = "", None
    for line in process.stdout:
        last = line.rstrip("\n")
        summed = re.match(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", last)
        if not summed:
            print(last, flush=True)
    code = process.wait()
    if summed:
        counts.passed, counts.failed, counts.skipped = (int(n or 0) for n in summed.groups())
        print(f"{kind}: {counts}")
    elif code == SKIP:
        counts.skip(f"{kind}: {last}")
    if code not in (0, SKIP) and not counts.failed:
        counts.fail(f"tests/{kind}/run, exit code {code}")
    return counts


KINDS = {
    "tidy": run_tidy,
    "unit": run_unit,
    "fuzz": run_fuzz,
    "oracle": lambda options: run_script("oracle", options),
    "system": run_system,
    "clients": run_clients,
    "bench": lambda options: run_script("bench", options),
}
PLACES = {"oracle": "oracle/run", "bench": "bench/run", "clients": "clients",
          "fuzz": "fuzz", "system": "system"}
KINDS = {kind: run for kind, run in KINDS.items() if os.path.exists(f"{ROOT}/tests/{PLACES.get(kind, '')}")}


def main():
    # Started in the background of a shell, this ignores SIGINT, and so would every program whose Ctrl-C is tested.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options, total = Options(sys.argv[1:]), Counts()
    if not need("build"):
        total.fail("the packages that the build needs")
    for kind in options.kinds if not total.failed else []:
        print(f"== {kind}", flush=True)
        start = time.monotonic()
        counts = KINDS[kind](options)
        print(f"== {kind}: {counts} ({time.monotonic() - start:.0f} s)", flush=True)
        total.add(counts)
    print(total, flush=True)
    return 0 if total.passed and not total.failed else 1


if __name__ == "__main__":
    os.makedirs(f"{ROOT}/build", exist_ok=True)
    sys.exit(main())
