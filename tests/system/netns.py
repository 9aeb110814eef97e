"""Hosts of the tests' own: one network namespace per broker, joined by a bridge in a namespace of its own.

The bridge's namespace is where ZooKeeper and the clients live. No namespace has a way to the machine's network, so
the addresses (198.18.0.0/24, set aside for tests) mean something only in here.
"""

import contextlib
import ctypes
import os
import subprocess

CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


def ip(*args):
    subprocess.run(["ip", *args], check=True, capture_output=True, text=True)


def why_not():
    """Why namespaces cannot be made here, or None."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    name = f"klamm-try-{os.getpid()}"
    try:
        ip("netns", "add", name)
    except (OSError, subprocess.CalledProcessError) as e:
        return f"network namespaces cannot be made here: {getattr(e, 'stderr', None) or e}"
    try:
        done = subprocess.run(["ip", "netns", "exec", name, "iptables", "-A", "INPUT", "-j", "DROP"],
                              capture_output=True, text=True, check=False)
        return None if done.returncode == 0 else f"iptables does not work here: {done.stderr.strip()}"
    finally:
        ip("netns", "del", name)


@contextlib.contextmanager
def inside(namespace):
    """This thread, and what it starts, in a namespace."""
    with open("/proc/thread-self/ns/net", "rb") as home, open(f"/run/netns/{namespace}", "rb") as there:
        _enter(there)
        try:
            yield
        finally:
            _enter(home)


def _enter(handle):
    if _libc.setns(handle.fileno(), CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


class Net:
    """The hub and a host per number, each with one interface, eth0."""

    def __init__(self, numbers):
        self.prefix = f"klamm-{os.getpid()}"
        self.hub, self.hub_address = self.prefix + "-hub", "198.18.0.1"
        self.numbers = list(numbers)

    def host(self, number):
        return f"{self.prefix}-{number}"

    @staticmethod
    def address(number):
        return f"198.18.0.{10 + number}"

    def __enter__(self):
        ip("netns", "add", self.hub)
        ip("-n", self.hub, "link", "set", "lo", "up")
        ip("-n", self.hub, "link", "add", "bridge0", "type", "bridge")
        ip("-n", self.hub, "addr", "add", self.hub_address + "/24", "dev", "bridge0")
        ip("-n", self.hub, "link", "set", "bridge0", "up")
        for number in self.numbers:
            host = self.host(number)
            ip("netns", "add", host)
            ip("-n", host, "link", "set", "lo", "up")
            ip("-n", self.hub, "link", "add", f"host{number}", "type", "veth", "peer", "name", "eth0", "netns", host)
            ip("-n", self.hub, "link", "set", f"host{number}", "master", "bridge0", "up")
            ip("-n", host, "addr", "add", self.address(number) + "/24", "dev", "eth0")
            ip("-n", host, "link", "set", "eth0", "up")
        return self

    def __exit__(self, *_):
        for name in [self.host(n) for n in self.numbers] + [self.hub]:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)

    def _rules(self, number, *args):
        subprocess.run(["ip", "netns", "exec", self.host(number), "iptables", *args], check=True, capture_output=True)

    def cut(self, number):
        """The host hears nobody and nobody hears it; no connection is closed."""
        self._rules(number, "-A", "INPUT", "-i", "eth0", "-j", "DROP")
        self._rules(number, "-A", "OUTPUT", "-o", "eth0", "-j", "DROP")

    def deafen(self, number):
        """The host is heard, but hears nobody."""
        self._rules(number, "-A", "INPUT", "-i", "eth0", "-j", "DROP")

    def heal(self, number):
        self._rules(number, "-F")
