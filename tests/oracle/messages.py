"""messages - requests and answers as dicts, by the schemas of common/wire: to ask one given broker one thing"""

import glob
import os
import socket
import struct
import sys
import uuid

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "common/wire/gen"))
from parse import parse_file  # noqa: E402

NUMBERS = {"bool": "?", "i8": "b", "i16": "h", "u16": "H", "i32": "i", "i64": "q", "f64": "d"}


def load():
    """{(api name, kind): message}"""
    files = glob.glob(os.path.join(ROOT, "common/wire/schemas/*.msg"))
    return {(m.name, m.kind): m for m in map(parse_file, files)}


MESSAGES = load()


def lives(field, version, what="versions"):
    bounds = getattr(field, what)
    return bounds is not None and bounds[0] <= version <= bounds[1]


def uvarint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def default_of(field):
    if field.default == "null":
        return None
    if field.array:
        return []
    if field.type == "struct":
        return {}
    if field.default is None:
        return {"str": "", "uuid": "00000000-0000-0000-0000-000000000000", "bytes": b"", "records": None}.get(field.type, 0)
    if field.type == "bool":
        return field.default in ("true", "1")
    return field.default if field.type == "str" else float(field.default) if field.type == "f64" else int(field.default, 0)


class Writer:
    def __init__(self, message, version):
        self.version, self.flexible, self.out = version, version >= message.flexible, b""

    def length(self, n, classic, wide):
        compact = self.flexible and not classic
        self.out += uvarint(n + 1) if compact else struct.pack(">i" if wide else ">h", n)

    def value(self, field, value):
        if field.array:
            self.length(-1 if value is None else len(value), field.classic, True)
            for item in value or ():
                self.one(field, item)
        else:
            self.one(field, value)

    def one(self, field, value):
        if field.type == "struct":
            self.fields(field.struct, value)
        elif field.type == "uuid":
            self.out += uuid.UUID(value).bytes
        elif field.type in NUMBERS:
            self.out += struct.pack(">" + NUMBERS[field.type], value)
        else:
            data = value.encode() if isinstance(value, str) else value
            self.length(-1 if data is None else len(data), field.classic, field.type != "str")
            self.out += data or b""

    def fields(self, s, values):
        tagged = []
        for field in s.fields:
            if not lives(field, self.version):
                continue
            value = values.get(field.name, default_of(field))
            if field.tag is None:
                self.value(field, value)
            elif value != default_of(field):
                tagged.append((field, value))
        if self.flexible:
            self.out += uvarint(len(tagged))
            for field, value in tagged:
                before, self.out = self.out, b""
                self.value(field, value)
                self.out = before + uvarint(field.tag) + uvarint(len(self.out)) + self.out


class Reader:
    def __init__(self, message, version, data):
        self.version, self.flexible, self.data, self.at = version, version >= message.flexible, data, 0

    def take(self, n):
        if n < 0 or self.at + n > len(self.data):
            raise ValueError("the message is too short")
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self, fmt):
        return struct.unpack(">" + fmt, self.take(struct.calcsize(">" + fmt)))[0]

    def uvarint(self):
        n = shift = 0
        while True:
            byte = self.take(1)[0]
            n, shift = n | (byte & 127) << shift, shift + 7
            if byte < 128:
                return n

    def length(self, classic, wide):
        return self.uvarint() - 1 if self.flexible and not classic else self.number("i" if wide else "h")

    def value(self, field):
        if not field.array:
            return self.one(field)
        n = self.length(field.classic, True)
        return None if n < 0 else [self.one(field) for _ in range(n)]

    def one(self, field):
        if field.type == "struct":
            return self.fields(field.struct)
        if field.type == "uuid":
            return str(uuid.UUID(bytes=self.take(16)))
        if field.type in NUMBERS:
            return self.number(NUMBERS[field.type])
        n = self.length(field.classic, field.type != "str")
        data = None if n < 0 else self.take(n)
        return data.decode(errors="backslashreplace") if field.type == "str" and data is not None else data

    def fields(self, s):
        out = {f.name: self.value(f) for f in s.fields if lives(f, self.version) and f.tag is None}
        if self.flexible:
            tags = {f.tag: f for f in s.fields if f.tag is not None and lives(f, self.version)}
            for _ in range(self.uvarint()):
                tag, n = self.uvarint(), self.uvarint()
                end = self.at + n
                if tag in tags:
                    out[tags[tag].name] = self.value(tags[tag])
                self.at = end
        return out


def encode_header(api, version, correlation_id=7, client_id="oracle"):
    request, header = MESSAGES[api, "request"], MESSAGES["RequestHeader", "header"]
    old = api == "ControlledShutdown" and version == 0
    w = Writer(header, 0 if old else 2 if version >= request.flexible else 1)
    w.fields(header.root, {"request_api_key": request.key, "request_api_version": version,
                           "correlation_id": correlation_id, "client_id": client_id})
    return w.out


def encode_body(api, version, body):
    w = Writer(MESSAGES[api, "request"], version)
    w.fields(MESSAGES[api, "request"].root, body)
    return w.out


def encode_request(api, version, body):
    """Header and body, without the four bytes of its length."""
    return encode_header(api, version) + encode_body(api, version, body)


def decode_response(api, version, answer):
    response = MESSAGES[api, "response"]
    skip = 5 if version >= response.flexible and api != "ApiVersions" else 4
    r = Reader(response, version, answer[skip:])
    out = r.fields(response.root)
    if r.at != len(r.data):
        raise ValueError("the answer is too long")
    return out


class Peer:
    """A connection to one broker."""

    def __init__(self, host, port, seconds=20):
        self.socket = socket.create_connection((host, port), seconds)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def exactly(self, n):
        data = b""
        while len(data) < n:
            more = self.socket.recv(n - len(data))
            if not more:
                raise ConnectionError("closed")
            data += more
        return data

    def send(self, data):
        """A frame of these bytes; a connection that was closed shows when the answer is read."""
        try:
            self.socket.sendall(struct.pack(">i", len(data)) + data)
        except ConnectionError:
            pass

    def receive(self):
        """The bytes of the next answer; "closed" where the broker closes the connection instead."""
        try:
            return self.exactly(struct.unpack(">i", self.exactly(4))[0])
        except ConnectionError:
            return "closed"
        except TimeoutError:
            return "no answer"

    def ask(self, api, version, body):
        """The answer as a dict; "closed" where the broker closes the connection instead."""
        self.send(encode_request(api, version, body))
        answer = self.receive()
        return answer if isinstance(answer, str) else decode_response(api, version, answer)
