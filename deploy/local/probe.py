"""Asks a server, in a few bytes of its own protocol, whether it serves."""

import socket
import struct


def zookeeper(host, port, seconds=1.0):
    """ZooKeeper's mode (standalone, leader, follower) once it serves, else None."""
    try:
        with socket.create_connection((host, port), seconds) as s:
            s.settimeout(seconds)
            s.sendall(b"srvr")
            answer = b""
            while chunk := s.recv(4096):
                answer += chunk
    except OSError:
        return None
    for line in answer.decode(errors="replace").splitlines():
        if line.startswith("Mode: "):
            return line[6:]
    return None


def _exactly(s, count):
    data = b""
    while len(data) < count:
        chunk = s.recv(count - len(data))
        if not chunk:
            raise OSError("closed")
        data += chunk
    return data


def metadata(host, port, seconds=1.0):
    """(ids of the live brokers, id of the controller) as this broker sees them, or None."""
    body = struct.pack(">hhih5si", 3, 1, 1, 5, b"probe", 0)  # Metadata v1, of no topic
    try:
        with socket.create_connection((host, port), seconds) as s:
            s.settimeout(seconds)
            s.sendall(struct.pack(">i", len(body)) + body)
            answer = _exactly(s, struct.unpack(">i", _exactly(s, 4))[0])
    except OSError:
        return None
    at, ids = 8, []
    for _ in range(struct.unpack_from(">i", answer, 4)[0]):
        ids.append(struct.unpack_from(">i", answer, at)[0])
        at += 4
        at += 2 + struct.unpack_from(">h", answer, at)[0] + 4
        at += 2 + max(struct.unpack_from(">h", answer, at)[0], 0)
    return sorted(ids), struct.unpack_from(">i", answer, at)[0]


def port_is_free(host, port):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind((host, port))
        except OSError:
            return False
    return True
