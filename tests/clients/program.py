"""Programs on libraries by others: fetched, built, started; the test is skipped where they cannot be had."""

import os
import shutil
import subprocess
import threading
import traceback
import warnings

import pytest

from cluster import PATIENCE, ROOT

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = f"{ROOT}/build/clients"


def must(command, what, **options):
    """Runs it; the test is skipped where that cannot be had here."""
    if not shutil.which(command[0]):
        pytest.skip(f"{what}: there is no {command[0]}")
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, **options)
    if done.returncode != 0:
        pytest.skip(f"{what}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout.strip()


def if_there(program):
    """The command that program() tells, or None where it cannot be had; the others go on without it."""
    try:
        return program()
    except pytest.skip.Exception as e:
        warnings.warn(f"left out: {e}")
        return None


def kafka_libs():
    """The folder of Apache Kafka 3.9's jars."""
    return must([f"{ROOT}/tests/kafka/fetch"], "Kafka 3.9")


def jars(folder):
    """The folder of the jars that FOLDER/pom.xml names."""
    return must([f"{HERE}/fetch", folder], folder)


def javac(into, classpath, *sources):
    """Compiles what is newer than what is there."""
    done = os.path.join(into, ".done")
    if not os.path.exists(done) or any(os.path.getmtime(s) > os.path.getmtime(done) for s in sources):
        shutil.rmtree(into, ignore_errors=True)
        os.makedirs(into)
        subprocess.run(["javac", "-nowarn", "-d", into, "-cp", classpath, *sources], check=True)
        with open(done, "w", encoding="utf-8"):
            pass
    return into


def java(classpath, main, *args, memory="128m"):
    return ["java", f"-Xmx{memory}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            f"-Dlog4j.configuration=file:{ROOT}/deploy/local/kafka-log4j.properties", "-cp", classpath, main, *args]


def go(name, folder):
    """The program that a folder of Go is."""
    program = f"{BUILD}/{name}"
    must(["go", "build", "-o", program, "."], name, cwd=folder)
    return program


def npm(name, folder):
    """A copy of the folder, with the modules that it names."""
    place = f"{BUILD}/{name}"
    shutil.copytree(folder, place, dirs_exist_ok=True)
    must(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], name, cwd=place)
    return place


class Program:
    """One that runs; each line that it says goes to hear()."""

    def __init__(self, name, command, said_to, **options):
        self.name, self.errors, self.misheard = name, os.path.join(said_to, f"{name}.err"), ""
        with open(self.errors, "wb") as err:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err,
                                            text=True, **options)
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            try:
                self.hear(line)
            except Exception:
                self.process.kill()
                self.misheard = f"said what nobody understands: {line}{traceback.format_exc()}"
                return

    def hear(self, line):
        raise NotImplementedError

    def last_words(self):
        with open(self.errors, encoding="utf-8", errors="replace") as f:
            return self.misheard + f.read()[-2000:]

    def is_alive(self):
        return self.process.poll() is None

    def has_left(self):
        """It ended when it should."""
        return False

    def leave(self):
        """Ends as a program should."""
        self.process.stdin.close()
        try:
            code = self.process.wait(PATIENCE)
        finally:
            self.kill()
        assert code == 0, f"{self.name} ended with {code}: {self.last_words()}"

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()
