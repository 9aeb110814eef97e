"""check.py - what must hold for schemas beyond their notation, so that the codec need not ask

Raises SchemaError with the file and line of the first thing that is wrong.
"""

from parse import NEWEST, SchemaError

C_WORDS = {
    "auto", "bool", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern",
    "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed",
    "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while",
}
INT_BITS = {"i8": (8, True), "i16": (16, True), "u16": (16, False), "i32": (32, True), "i64": (64, True)}
NULLABLE = ("str", "bytes", "records", "struct")


def check_default(field):
    d = field.default
    if d is None:
        return None
    if d == "null":
        can = field.null and (field.array or field.type in NULLABLE)
        return None if can else "null is the default of a field that cannot be null"
    if field.array:
        return "an array's default is empty or null"
    if field.type == "bool":
        return None if d in ("true", "false") else "a bool's default is true or false"
    if field.type not in INT_BITS:
        return f"a {field.type} has no default but null"
    bits, signed = INT_BITS[field.type]
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return None if low <= int(d, 0) <= high else "the default does not fit"


def check_nullable(field):
    if field.null is None:
        return None
    if not field.array and field.type not in NULLABLE:
        return f"a {field.type} cannot be null"
    if field.type == "struct" and not field.array and field.tag is not None:
        return "a nullable struct in a tag section is not supported: no message needs it"
    if field.type == "struct" and not field.array and field.default != "null":
        return "a nullable struct is null by default"
    if field.null[0] < field.versions[0] or field.null[1] > field.versions[1]:
        return "null in versions that lack the field"
    return None


def check_tag(field, message):
    if field.tag is None:
        return None
    if not 0 <= field.tag <= NEWEST:
        return "a tag is 0 to 127"
    if field.versions[0] < message.flexible:
        return "a tag in versions that are not flexible"
    return None


def check_field(field, message):
    if field.name in C_WORDS:
        return "the name is a word of C"
    if field.versions[0] > message.versions[1]:
        return "no version of the message has the field"
    if field.type == "struct" and not field.struct.fields:
        return "a struct without fields"
    if field.array and field.type in ("bytes", "records", "bool", "f64"):
        return f"an array of {field.type} is not supported: no message needs it"
    return check_default(field) or check_nullable(field) or check_tag(field, message)


def check_struct(struct, message):
    names, tags = set(), set()
    for field in struct.fields:
        wrong = check_field(field, message)
        if field.name in names or field.name + "_count" in names:
            wrong = "the name is taken"
        if field.tag is not None and field.tag <= max(tags, default=-1):
            wrong = "tags must ascend, as the codec writes them in this order"
        names.add(field.name)
        if field.array:
            names.add(field.name + "_count")
        if field.tag is not None:
            tags.add(field.tag)
        if wrong:
            raise SchemaError(f"{message.path}:{field.line}: {field.name}: {wrong}")


def check_depth(struct, message, above=()):
    """A struct inside itself would let a peer choose how deep the codec recurses."""
    if struct in above:
        raise SchemaError(f"{message.path}: {struct.name} contains itself")
    for field in struct.fields:
        if field.struct:
            check_depth(field.struct, message, above + (struct,))


def check_pairs(messages):
    by_key = {}
    for m in messages:
        if m.kind in ("request", "response"):
            by_key.setdefault(m.key, {})[m.kind] = m
    for key, pair in by_key.items():
        if key is None or set(pair) != {"request", "response"}:
            raise SchemaError(f"key {key}: needs one request and one response")
        a, b = pair["request"], pair["response"]
        if (a.name, a.versions, a.flexible) != (b.name, b.versions, b.flexible):
            raise SchemaError(f"{a.path}: request and response differ in name or versions")


def check_all(messages):
    c_names = set()
    for m in messages:
        for struct in [m.root] + m.structs:
            if struct.c_name in c_names:
                raise SchemaError(f"{m.path}: two structs would be called {struct.c_name}")
            c_names.add(struct.c_name)
            check_struct(struct, m)
        check_depth(m.root, m)
    check_pairs(messages)
