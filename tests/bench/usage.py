"""What processes used, from /proc: CPU seconds and resident bytes; and what the whole machine used meanwhile."""

import glob
import os

TICKS = os.sysconf("SC_CLK_TCK")
COMPILERS = ("C1 Compiler", "C2 Compiler")
PAGE = os.sysconf("SC_PAGE_SIZE")


def of(pid):
    """(CPU seconds so far, resident bytes) of a process."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS, int(fields[21]) * PAGE


def compiling(pid):
    """CPU seconds so far of a JVM's compiler threads; 0 of other programs."""
    ticks = 0
    for path in glob.glob(f"/proc/{pid}/task/*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as f:
                name, _, rest = f.read().partition("(")[2].rpartition(")")
        except OSError:
            continue  # the thread has ended
        if name.startswith(COMPILERS):
            ticks += sum(map(int, rest.split()[11:13]))
    return ticks / TICKS


def machine():
    """CPU seconds that the machine has worked so far, whoever for."""
    with open("/proc/stat", encoding="utf-8") as f:
        user, nice, system, _idle, _iowait, irq, softirq, *_ = map(int, f.readline().split()[1:])
    return (user + nice + system + irq + softirq) / TICKS
