"""What the machine itself can do: the limits beside which brokers are seen."""

import os
import socket
import time

BLOCK = 1 << 20


def cpu_of_us():
    """CPU seconds of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def page_cache(directory, seconds):
    """(GB/s, CPU seconds per GB) of writing to a file without syncing it."""
    path, block, written = os.path.join(directory, "limit"), os.urandom(BLOCK), 0
    start, cpu = time.monotonic(), cpu_of_us()
    with open(path, "wb", buffering=0) as f:
        while time.monotonic() - start < seconds:
            f.write(block)
            written += BLOCK
            if written % (1 << 30) == 0:
                f.seek(0)
    took, used = time.monotonic() - start, cpu_of_us() - cpu
    os.unlink(path)
    return written / took / 1e9, used / written * 1e9


def loopback(seconds):
    """(GB/s, CPU seconds per GB of both ends) of one TCP connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        cpu, start, sent = cpu_of_us(), time.monotonic(), 0
        child = os.fork()
        if child == 0:
            with server.accept()[0] as peer:
                buffer = bytearray(BLOCK)
                while peer.recv_into(buffer):
                    pass
            os._exit(0)
        with socket.create_connection(server.getsockname()) as client:
            block = os.urandom(BLOCK)
            while time.monotonic() - start < seconds:
                client.sendall(block)
                sent += BLOCK
        os.waitpid(child, 0)
    return sent / (time.monotonic() - start) / 1e9, (cpu_of_us() - cpu) / sent * 1e9


def describe(directory, seconds):
    """One line about both."""
    write, write_cpu = page_cache(directory, seconds)
    copy, copy_cpu = loopback(seconds)
    return (f"{os.cpu_count()} cores; page cache write {write:.2f} GB/s, {write_cpu:.2f} CPU s/GB; "
            f"loopback copy {copy:.2f} GB/s, {copy_cpu:.2f} CPU s/GB (both ends)")
