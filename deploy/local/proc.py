"""A process that outlives this program and is found again by its pid file, never by its name.

A pid file holds the pid, the time at which that process started and its command; all three must
still hold, so that a pid which went to somebody else is never signalled.
"""

import json
import os
import resource
import signal
import subprocess
import time


class Trouble(Exception):
    """Something the user is told in one line."""


def poll(what, seconds, ready):
    """Calls ready() until it returns a true value, which is returned; Trouble after the deadline."""
    deadline = time.monotonic() + seconds
    pause = 0.005
    while True:
        value = ready()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Trouble(f"{what}: not within {seconds:g} s")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)


def _stat(pid):
    """(state, user+system ticks, start time in ticks, resident pages) of a pid, or None."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
            fields = f.read().rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], int(fields[11]) + int(fields[12]), int(fields[19]), int(fields[21])


def _command(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read().decode(errors="replace").split("\0")[:-1]
    except OSError:
        return []


class Process:
    """One process of the cluster: `name` for people, DIR/name.pid for us, DIR/name.log for its words."""

    def __init__(self, directory, name):
        self.name = name
        self.pid_file = os.path.join(directory, name + ".pid")
        self.log_file = os.path.join(directory, name + ".log")

    def _recorded(self):
        """The pid, its stat, if it still is the process that was started; else None."""
        try:
            with open(self.pid_file, encoding="utf-8") as f:
                record = json.load(f)
        except (OSError, ValueError):
            return None
        stat = _stat(record["pid"])
        if stat is None or stat[0] in "ZX" or stat[2] != record["start"]:
            return None
        if _command(record["pid"]) not in (record["command"], []):
            return None
        return record["pid"], stat

    def pid(self):
        found = self._recorded()
        return found[0] if found else None

    def state(self):
        found = self._recorded()
        if not found:
            return "down"
        return "paused" if found[1][0] in "Tt" else "up"

    def usage(self):
        """(CPU seconds, resident bytes), or None when down."""
        found = self._recorded()
        if not found:
            return None
        ticks, pages = found[1][1], found[1][3]
        return ticks / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE")

    def start(self, argv, env=None):
        """Starts it in a session of its own, its output appended to the log file."""
        with open(self.log_file, "ab") as log:
            try:
                child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                         env=env, start_new_session=True, close_fds=True,
                                         preexec_fn=_raise_file_limit)
            except OSError as e:
                raise Trouble(f"{self.name}: cannot start {argv[0]}: {e.strerror}") from e
        # A wrapper such as `ip netns exec` becomes the wanted program by exec.
        wanted = argv[_wrapped(argv):]
        poll(f"{self.name}: exec", 10, lambda: child.poll() is not None
             or _command(child.pid) == wanted)
        stat = _stat(child.pid)
        record = {"pid": child.pid, "start": stat[2] if stat else 0, "command": wanted}
        with open(self.pid_file + ".new", "w", encoding="utf-8") as f:
            json.dump(record, f)
        os.replace(self.pid_file + ".new", self.pid_file)

    def signal(self, number):
        """Sends a signal; False if the process is gone."""
        pid = self.pid()
        if pid is None:
            return False
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return False
        return True

    def wait_gone(self, seconds):
        poll(f"{self.name} (pid {self.pid()}) should end", seconds, lambda: self.pid() is None)

    def stop(self, seconds):
        """SIGTERM, and the end awaited; a paused process is woken first, since it would not hear."""
        if self.state() == "paused":
            self.signal(signal.SIGCONT)
        if self.signal(signal.SIGTERM):
            self.wait_gone(seconds)

    def kill(self):
        if self.signal(signal.SIGKILL):
            self.wait_gone(10)

    def pause(self):
        if not self.signal(signal.SIGSTOP):
            raise Trouble(f"{self.name} is down")
        poll(f"{self.name} should stand still", 5, lambda: self.state() != "up")

    def resume(self):
        if not self.signal(signal.SIGCONT):
            raise Trouble(f"{self.name} is down")

    def last_words(self, count=8):
        """The end of the log file, indented, for an error message."""
        try:
            with open(self.log_file, "rb") as f:
                f.seek(max(0, os.path.getsize(self.log_file) - 4096))
                lines = f.read().decode(errors="replace").splitlines()[-count:]
        except OSError:
            lines = []
        return "".join(f"\n    {line}" for line in lines)


def _wrapped(argv):
    """Where the wanted program starts in `ip netns exec NAME program ...`."""
    return 4 if argv[:3] == ["ip", "netns", "exec"] else 0


def _raise_file_limit():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
