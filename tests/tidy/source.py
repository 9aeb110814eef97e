"""A C file as tidy sees it: lines, code without comments and strings, and its functions."""

import re

CONTROL = {"if", "for", "while", "switch"}
_BLANKS = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'""", re.S | re.X)
_TOKEN = re.compile(r"[A-Za-z_]\w*|[{}();,]|[^\sA-Za-z_{}();,]+")
_FOREACH = re.compile(r"^(?:HASH_ITER|[A-Za-z_]*(?:FOREACH|foreach|_EACH|_each)\w*)$")


class Function:
    """One definition: its name, 1-based first and last line, parameter count and control depth."""

    def __init__(self, name, first, last, params, nesting):
        self.name, self.first, self.last = name, first, last
        self.params, self.nesting = params, nesting

    @property
    def length(self):
        return self.last - self.first + 1


def _blank(match):
    text = match.group(0)
    if text[0] in "\"'":
        return text[0] + " " * (len(text) - 2) + text[0]
    return re.sub(r"[^\n]", " ", text)


def code_of(text):
    """The text with comments blanked and the insides of literals blanked; positions stay."""
    return _BLANKS.sub(_blank, text)


def without_directives(code):
    """The code without preprocessor lines, their continuations included."""
    out, going_on = [], False
    for line in code.split("\n"):
        directive = going_on or line.lstrip().startswith("#")
        going_on = directive and line.rstrip().endswith("\\")
        out.append("" if directive else line)
    return out


def _depth_of_body(tokens):
    """The deepest nesting of control statements; `else if` stays on the level of its `if`."""
    position = 0

    def skip_parens():
        nonlocal position
        depth = 0
        while position < len(tokens):
            depth += {"(": 1, ")": -1}.get(tokens[position], 0)
            position += 1
            if depth == 0:
                return

    def block():
        nonlocal position
        deepest = 0
        position += 1
        while position < len(tokens) and tokens[position] != "}":
            deepest = max(deepest, statement())
        position += 1
        return deepest

    def plain():
        """Up to the semicolon, or the end of a braced initialiser without one."""
        nonlocal position
        depth = 0
        while position < len(tokens):
            token = tokens[position]
            if token == "}" and depth == 0:
                return
            depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(token, 0)
            position += 1
            if depth == 0 and token == ";":
                return
            if depth == 0 and token.endswith(":"):
                return

    def statement():
        nonlocal position
        token = tokens[position]
        if token == "{":
            return block()
        if token in CONTROL or (_FOREACH.match(token) and tokens[position + 1:position + 2] == ["("]):
            position += 1
            skip_parens()
            depth = 1 + (statement() if position < len(tokens) else 0)
            if token == "if" and position < len(tokens) and tokens[position] == "else":
                position += 1
                chained = tokens[position] == "if"
                depth = max(depth, statement() + (0 if chained else 1))
            return depth
        if token == "do":
            position += 1
            return 1 + statement()
        plain()
        return 0

    deepest = 0
    while position < len(tokens):
        before = position
        deepest = max(deepest, statement())
        if position == before:
            position += 1
    return deepest


def _name_and_params(header):
    """Of a definition's text before its brace: the name and the number of parameters."""
    start = re.search(r"([A-Za-z_]\w*)\s*\(", header)
    while start and start.group(1) in ("CLEANUP", "PRINTF_LIKE", "REQUIRES", "__attribute__"):
        start = re.search(r"([A-Za-z_]\w*)\s*\(", header[start.end():])
    if not start:
        return None, 0
    text = header[header.index(start.group(0)) + len(start.group(0)):]
    depth, commas, inside = 1, 0, ""
    for c in text:
        depth += {"(": 1, ")": -1}.get(c, 0)
        if depth == 0:
            break
        commas += c == "," and depth == 1
        inside += c
    inside = inside.strip()
    if start.group(1) == "START_TEST":
        return inside, 0
    if inside in ("", "void"):
        return start.group(1), 0
    return start.group(1), commas + 1 - inside.endswith("...")


def functions_of(text):
    """Every function definition. House formatting puts its braces in column 0."""
    lines = without_directives(code_of(text))
    found, header_from, at = [], 0, 0
    while at < len(lines):
        line = lines[at]
        if line.rstrip() == "{":
            end = at + 1
            while end < len(lines) and not lines[end].startswith("}"):
                end += 1
            header = " ".join(lines[header_from:at])
            name, params = _name_and_params(header)
            if name:
                first = next(i for i in range(header_from, at) if name in lines[i]) + 1
                tokens = _TOKEN.findall("\n".join(lines[at + 1:end]))
                found.append(Function(name, first, end + 1, params, _depth_of_body(tokens)))
            at = end
            header_from = at + 1
        elif not line.strip() or line.rstrip().endswith((";", "}")):
            header_from = at + 1
        at += 1
    return found
