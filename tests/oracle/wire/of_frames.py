"""of_frames - scenarios of bytes that are no request, or hardly one: what is answered, and when the connection is closed"""

import struct

from messages import MESSAGES, encode_body, encode_header
from talk import scenario


def frame(data):
    return struct.pack(">i", len(data)) + data


def header(key, version, rest=b"", client=b"oracle"):
    return struct.pack(">hhi", key, version, 7) + (struct.pack(">h", len(client)) + client if client is not None else b"\xff\xff") + rest


@scenario
def frames(talk):
    versions = encode_header("ApiVersions", 3)
    body = encode_body("ApiVersions", 3, {"client_software_name": "a", "client_software_version": "1"})
    for what, data in (
            ("nothing in the frame", frame(b"")), ("a negative size", struct.pack(">i", -1)),
            ("a size beyond the limit", struct.pack(">i", 104857601)), ("half a header", frame(b"\0\3\0")),
            ("a header only", frame(header(3, 1))), ("no client id", frame(header(3, 1, b"\0\0\0\0", None))),
            ("a client id that is too long", frame(struct.pack(">hhih", 3, 1, 7, 99) + b"x")),
            ("a client id of length -2", frame(struct.pack(">hhih", 3, 1, 7, -2))),
            ("an unknown api", frame(header(999, 0))), ("an api of the controllers", frame(header(52, 0))),
            ("a negative api", frame(header(-1, 0))), ("a version to come", frame(header(3, 99))),
            ("a negative version", frame(header(3, -1))), ("bytes behind the body", frame(header(3, 1, b"\0\0\0\0more"))),
            ("unknown tags in the header", frame(versions[:-1] + b"\1\5\2ab" + body)),
            ("tags that are not in order", frame(versions[:-1] + b"\2\5\1a\4\1a" + body)),
            ("a tag that is too long", frame(versions[:-1] + b"\1\5\x7fab" + body)),
            ("unknown tags in the body", frame(versions + body[:-1] + b"\1\x63\3abc")),
            ("half a varint", frame(versions + b"\x80")), ("a varint of six bytes", frame(versions + b"\x80" * 6)),
            ("two requests at once", frame(header(18, 0)) + frame(header(18, 0)))):
        talk.raw(data, what)
    for version in (5, 99, 32767, -1):
        talk.raw(frame(header(18, version, b"\0" + body)), f"ApiVersions {version}")
        talk.raw(frame(header(18, version)), f"ApiVersions {version} without a body")
    for api, message in sorted((name, m) for (name, kind), m in MESSAGES.items() if kind == "request" and name in talk.judge.apis):
        low, high = message.versions
        for version in (low - 1, high + 1):
            if api != "ApiVersions":
                talk.raw(frame(header(message.key, version, b"\0" * 50)), f"{api} in version {version}")


@scenario
def software_names(talk):
    for name in ("a", "", "-a", "a-", "a b", "a.b-c", "é", "a" * 300, "_", "A9"):
        for other in ("1", "", "1.0-x", " "):
            for v in (3, 4):
                talk("ApiVersions", v, {"client_software_name": name, "client_software_version": other})
