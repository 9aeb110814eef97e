"""Just enough of ZooKeeper's protocol to be told at once that a node is gone."""

import socket
import struct

EXISTS, DELETED, NOTIFICATION = 3, 2, -1


class Watch:
    """A session that watches one node, which exists when this is made."""

    def __init__(self, host, port, path, seconds=60):
        self.socket = socket.create_connection((host, port), 10)
        self.socket.settimeout(seconds)
        self._send(struct.pack(">iqiqi16s", 0, 0, seconds * 1000, 0, 16, b""))
        self._answer()
        self.path = path
        self._send(struct.pack(">iii", 1, EXISTS, len(path)) + path.encode() + b"\1")
        error = struct.unpack_from(">i", self._answer(), 12)[0]
        if error:
            raise ValueError(f"{path}: ZooKeeper's error {error}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def _send(self, body):
        self.socket.sendall(struct.pack(">i", len(body)) + body)

    def _exactly(self, count):
        data = b""
        while len(data) < count:
            chunk = self.socket.recv(count - len(data))
            if not chunk:
                raise ConnectionResetError("closed by ZooKeeper")
            data += chunk
        return data

    def _answer(self):
        return self._exactly(struct.unpack(">i", self._exactly(4))[0])

    def wait_deleted(self):
        """Returns at the moment at which the node is gone; TimeoutError where it stays."""
        while True:
            answer = self._answer()
            if struct.unpack_from(">i", answer)[0] != NOTIFICATION:
                continue
            if struct.unpack_from(">i", answer, 16)[0] == DELETED:
                return
