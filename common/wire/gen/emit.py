#!/usr/bin/env python3
"""emit.py - writes messages.h (structs) and messages.c (tables for the codec) from schemas

    emit.py messages.h messages.c schemas/*.msg

Structs and tables only: all logic is in codec.c. Run by meson.
"""

import sys

from check import check_all
from parse import NEWEST, SchemaError, parse_file, snake

C_TYPES = {
    "bool": "bool", "i8": "int8_t", "i16": "int16_t", "u16": "uint16_t", "i32": "int32_t", "i64": "int64_t",
    "f64": "double", "str": "struct str", "bytes": "struct slice", "uuid": "struct uuid", "records": "struct records",
}
WIRE_SIZE = {"bool": 1, "i8": 1, "i16": 2, "u16": 2, "i32": 4, "i64": 8, "f64": 8, "uuid": 16}


def api_enum(message):
    return "API_" + snake(message.name).upper()


def c_type(field):
    return f"struct {field.struct.c_name}" if field.struct else C_TYPES[field.type]


def is_pointer(field):
    return field.type == "struct" and not field.array and field.null is not None


def member(field):
    if field.array:
        return f"    {c_type(field)} *{field.name};\n    int32_t {field.name}_count;\n"
    star = "*" if is_pointer(field) else ""
    return f"    {c_type(field)} {star}{field.name};\n"


def inner_first(message):
    """Nested structs, each after those that it contains."""
    done = []

    def visit(struct):
        for f in struct.fields:
            if f.struct and f.struct not in done:
                visit(f.struct)
        done.append(struct)

    visit(message.root)
    return done


def initialiser(struct):
    """The designated initialisers of everything that does not begin as zero."""
    parts = []
    for f in struct.fields:
        if f.array:
            if f.default == "null":
                parts.append(f".{f.name}_count = -1")
        elif f.type == "struct":
            inner = "" if is_pointer(f) else initialiser(f.struct)
            if inner:
                parts.append(f".{f.name} = {{{inner}}}")
        elif f.type == "str" and f.default != "null":
            parts.append(f'.{f.name} = {{"", 0}}')
        elif f.type == "bytes" and f.default != "null":
            parts.append(f'.{f.name} = {{(const uint8_t *)"", 0}}')
        elif f.default not in (None, "null"):
            value = "INT32_MIN" if f.default == "-2147483648" else f.default
            parts.append(f".{f.name} = {value}")
    return ", ".join(parts)


def has(versions, v):
    return versions is not None and versions[0] <= v <= versions[1]


def field_min_size(field, message, v):
    compact = v >= message.flexible and not field.classic
    if field.array or field.type in ("bytes", "records"):
        return 1 if compact else 4
    if field.type == "str":
        return 1 if compact else 2
    if field.type == "struct":
        return 1 if has(field.null, v) else struct_min_size(field.struct, message, v)
    return WIRE_SIZE[field.type]


def struct_min_size(struct, message, v):
    """The fewest bytes that a struct takes in a version: bounds what an array count may ask for."""
    sizes = [field_min_size(f, message, v) for f in struct.fields if has(f.versions, v) and f.tag is None]
    return sum(sizes) + (1 if v >= message.flexible else 0)


def field_row(struct, field):
    flags = []
    if field.array:
        flags.append("FIELD_ARRAY")
    if field.ignorable:
        flags.append("FIELD_IGNORABLE")
    if field.classic:
        flags.append("FIELD_CLASSIC")
    if is_pointer(field):
        flags.append("FIELD_POINTER")
    null = field.null or (1, 0)
    elem = f"&{field.struct.c_name}_desc" if field.struct else "NULL"
    return (
        f'    {{"{field.name}", {elem}, offsetof(struct {struct.c_name}, {field.name}),\n'
        f"     FIELD_{field.type.upper()}, {' | '.join(flags) or '0'}, {-1 if field.tag is None else field.tag}, "
        f"{field.versions[0]}, {min(field.versions[1], NEWEST)}, {null[0]}, {null[1]}}},\n"
    )


def struct_tables(struct, message):
    n = struct.c_name
    rows = "".join(field_row(struct, f) for f in struct.fields)
    low, high = message.versions
    sizes = ", ".join(str(struct_min_size(struct, message, v)) for v in range(low, high + 1))
    return (
        f"static const struct {n} {n}_default = {{{initialiser(struct)}}};\n"
        f"static const uint16_t {n}_min_sizes[] = {{{sizes}}};\n"
        f"static const struct field {n}_fields[] = {{\n{rows}}};\n"
    )


def struct_desc(struct):
    n = struct.c_name
    return f'{{"{n}", {n}_fields, &{n}_default, {n}_min_sizes, sizeof(struct {n}), {len(struct.fields)}}}'


def message_tables(message):
    out = []
    for s in inner_first(message):
        out.append(struct_tables(s, message))
        if s is not message.root:
            out.append(f"const struct struct_desc {s.c_name}_desc = {struct_desc(s)};\n")
    kafka = message.name + {"request": "Request", "response": "Response"}.get(message.kind, "")
    key = -1 if message.key is None else message.key
    flexible = min(message.flexible, NEWEST)
    out.append(
        f'const struct msg_desc {message.root.c_name}_desc = {{"{kafka}", {struct_desc(message.root)},\n'
        f"    {key}, {message.versions[0]}, {message.versions[1]}, {flexible}}};\n\n"
    )
    return "".join(out)


def apis(messages):
    pairs = {}
    for m in messages:
        if m.kind in ("request", "response"):
            pairs.setdefault(m.key, {})[m.kind] = m
    return [pairs[k] for k in sorted(pairs)]


HEADER_TOP = """/*
 * messages.h - the structs of every message, one for each schema (made by gen/emit.py: do not edit)
 *
 * Strings, bytes and records borrow from the frame they were decoded from; arrays live in the arena. A count of -1 is
 * a null array, a string or bytes without a pointer is null. Start from msg_init() or struct_init(), which set defaults.
 */
#pragma once

#include "common/base/uuid.h"
#include "common/wire/desc.h"
#include "common/wire/records.h"

"""

SOURCE_TOP = """/*
 * messages.c - what the codec must know of every message (made by gen/emit.py: do not edit)
 */
#include "common/wire/messages.h"

"""


def header(messages):
    out = [HEADER_TOP, "enum api_key {\n"]
    out += [f"    {api_enum(p['request'])} = {p['request'].key},\n" for p in apis(messages)]
    out.append("    API_KEY_COUNT /* one past the last key; there are gaps */\n};\n\n")
    for m in messages:
        for s in inner_first(m):
            out.append(f"struct {s.c_name} {{\n{''.join(map(member, s.fields))}}};\n")
            kind = "msg_desc" if s is m.root else "struct_desc"
            out.append(f"extern const struct {kind} {s.c_name}_desc;\n\n")
    out.append("/* Indexed by key; name is NULL in the gaps. See api_messages_find(). */\n")
    out.append("extern const struct api_msgs api_messages[API_KEY_COUNT];\n\n")
    out.append(f"enum {{ ALL_MESSAGES_COUNT = {len(messages)} }};\n")
    out.append("extern const struct msg_desc *const all_messages[ALL_MESSAGES_COUNT];\n")
    return "".join(out)


def source(messages):
    out = [SOURCE_TOP] + [message_tables(m) for m in messages]
    out.append("const struct api_msgs api_messages[API_KEY_COUNT] = {\n")
    for p in apis(messages):
        q, a = p["request"], p["response"]
        out.append(
            f'    [{api_enum(q)}] = {{"{q.name}", &{q.root.c_name}_desc, &{a.root.c_name}_desc, '
            f"{q.versions[0]}, {q.versions[1]}, {min(q.flexible, NEWEST)}}},\n"
        )
    out.append("};\n\nconst struct msg_desc *const all_messages[ALL_MESSAGES_COUNT] = {\n")
    out += [f"    &{m.root.c_name}_desc,\n" for m in messages]
    out.append("};\n")
    return "".join(out)


def main(header_path, source_path, schema_paths):
    try:
        messages = [parse_file(p) for p in sorted(schema_paths)]
        check_all(messages)
    except SchemaError as e:
        sys.exit(f"emit.py: {e}")
    for path, text in ((header_path, header(messages)), (source_path, source(messages))):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
