"""parse.py - reads the message notation of schemas/*.msg into objects

A file is one message. Its first line that is no comment names it:

    message NAME request|response|header|record|data [key N] versions A[-B] [flexible N+]

Then a line per field; what belongs to a struct is indented four blanks below it:

    NAME TYPE [VERSIONS] [null [VERSIONS]] [tag N] [classic] [= DEFAULT] [ignorable]

    TYPE      bool i8 i16 u16 i32 i64 f64 str bytes uuid records; {} a struct; [] an array of structs; []i32 an array.
              {}name and []name give the struct a name of its own; a later field of the same message uses it again.
    VERSIONS  3+, 2-7 or 5: the message versions that have the field; without it, every version that has its struct.
    null      may be null, in those versions.
    tag       lives in the tag section of its struct.
    classic   keeps the classic length in flexible versions.
    =         the value where the field is absent, if it is not zero, empty or false (records: null).
    ignorable may be dropped silently when a version lacks the field.
"""

import re
from dataclasses import dataclass, field as dataclass_field
from typing import List, Optional, Tuple

NEWEST = 127  # stands for "and all later versions"
PRIMITIVES = ("bool", "i8", "i16", "u16", "i32", "i64", "f64", "str", "bytes", "uuid", "records")
KINDS = ("request", "response", "header", "record", "data")
Range = Tuple[int, int]


class SchemaError(Exception):
    """Says where in which file the notation is wrong."""


@dataclass
class Struct:
    name: str  # as its field names it; the C name comes later
    parent: Optional["Struct"]
    fields: List["Field"] = dataclass_field(default_factory=list)
    c_name: str = ""


@dataclass
class Field:
    name: str
    type: str  # one of PRIMITIVES or "struct"
    array: bool
    line: int
    versions: Range = (0, NEWEST)
    null: Optional[Range] = None
    tag: Optional[int] = None
    classic: bool = False
    default: Optional[str] = None
    ignorable: bool = False
    struct: Optional[Struct] = None


@dataclass
class Message:
    path: str
    name: str  # as Kafka says it, without Request or Response
    kind: str
    key: Optional[int]
    versions: Range
    flexible: int  # first flexible version, NEWEST + 1 is never
    root: Struct
    structs: List[Struct]  # nested ones, in the order of their appearance


def snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def singular(name):
    if name.endswith("ies"):
        return name[:-3] + "y"
    if name.endswith("s") and not name.endswith(("ss", "us")):
        return name[:-1]
    return name


def parse_range(word):
    m = re.fullmatch(r"(\d+)(?:-(\d+)|(\+))?", word)
    if not m:
        return None
    low = int(m[1])
    return (low, NEWEST) if m[3] else (low, int(m[2]) if m[2] else low)


class Words:
    """The rest of a line, taken word by word."""

    def __init__(self, words):
        self.words = words

    def take(self):
        if not self.words:
            raise SchemaError("the line ends too soon")
        return self.words.pop(0)

    def take_if(self, word):
        return bool(self.words) and self.words[0] == word and bool(self.words.pop(0))

    def take_range(self):
        r = parse_range(self.words[0]) if self.words else None
        if r:
            self.words.pop(0)
        return r


def parse_head(words, path):
    w = Words(words)
    if w.take() != "message":
        raise SchemaError("the first line must begin with 'message'")
    name, kind = w.take(), w.take()
    if kind not in KINDS:
        raise SchemaError(f"unknown kind '{kind}'")
    key = int(w.take()) if w.take_if("key") else None
    if w.take() != "versions":
        raise SchemaError("'versions' is missing")
    versions = w.take_range()
    flexible = w.take_range()[0] if w.take_if("flexible") else NEWEST + 1
    if w.words or not versions:
        raise SchemaError("the message line ends in something unknown")
    suffix = {"request": "_request", "response": "_response"}.get(kind, "")
    root = Struct(snake(name) + suffix, None)
    return Message(path, name, kind, key, versions, flexible, root, [])


def parse_type(word, field, message, parent, named):
    """Sets type, array and struct; a struct that is named again is the one of the first time."""
    field.array = word.startswith("[]")
    rest = word[2:] if word.startswith(("[]", "{}")) else word
    if rest in PRIMITIVES and not word.startswith("{}"):
        field.type = rest
        return
    if rest == word:
        raise SchemaError(f"unknown type '{word}'")
    field.type = "struct"
    if rest in named:
        field.struct = named[rest]
        return
    field.struct = Struct(rest or singular(field.name), parent)
    message.structs.append(field.struct)
    if rest:
        named[rest] = field.struct


def parse_field(words, line, message, parent, named):
    w = Words(words)
    field = Field(w.take(), "", False, line)
    known = set(map(id, message.structs))
    parse_type(w.take(), field, message, parent, named)
    field.versions = w.take_range() or field.versions
    if w.take_if("null"):
        field.null = w.take_range() or field.versions
    if w.take_if("tag"):
        field.tag = int(w.take())
    field.classic = w.take_if("classic")
    if w.take_if("="):
        field.default = w.take()
    field.ignorable = w.take_if("ignorable")
    if w.words:
        raise SchemaError(f"unknown word '{w.words[0]}'")
    parent.fields.append(field)
    opens = field.struct is not None and id(field.struct) not in known
    return field.struct if opens else None


def parse_lines(text, path):
    message, stack, named = None, [], {}
    for number, raw in enumerate(text.split("\n"), 1):
        words = raw.split("#")[0].split()
        if not words:
            continue
        try:
            if message is None:
                message = parse_head(words, path)
                stack = [message.root]
                continue
            depth = (len(raw) - len(raw.lstrip(" "))) / 4
            if depth >= len(stack) or depth != int(depth) or stack[int(depth)] is None:
                raise SchemaError("indented below something that is no new struct")
            del stack[int(depth) + 1 :]
            stack.append(parse_field(words, number, message, stack[-1], named))
        except (SchemaError, ValueError, TypeError) as e:
            raise SchemaError(f"{path}:{number}: {e}") from e
    if message is None:
        raise SchemaError(f"{path}: no message in it")
    return message


def name_structs(message):
    """C names: message and field; the parent's name in between where two would be the same."""
    message.root.c_name = message.root.name
    bases = [s.name for s in message.structs]
    short = {id(message.root): ""}
    for s in message.structs:
        prefix = short[id(s.parent)]
        needs = bases.count(s.name) > 1 and prefix
        short[id(s)] = f"{prefix}_{s.name}" if needs else s.name
        s.c_name = f"{message.root.c_name}_{short[id(s)]}"


def parse_file(path):
    with open(path, encoding="utf-8") as f:
        message = parse_lines(f.read(), path)
    name_structs(message)
    return message
