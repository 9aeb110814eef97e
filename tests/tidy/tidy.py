#!/usr/bin/env python3
"""tidy - holds the house rules of C: layers, sizes, banned calls, comments, formatting.

    tests/tidy/tidy.py [--no-format] [--root DIR] [FILE...]

Prints `path:line: what, what to do` for each fault and exits 1; prints a count and exits 0 if there
is none. An exception needs a comment `tidy: <why>` in the function, on the line or the line above
it, or, for the size of a file, in its first comment.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import source  # noqa: E402

FUNCTION_LINES, FILE_LINES, HEADER_LINES, README_LINES = 70, 800, 200, 60
PARAMETERS, NESTING, COLUMNS = 5, 4, 100
CLANG_FORMAT = 14
BANNED = {
    "strcpy": "copy with struct str or memcpy and a length", "strcat": "use a strbuf",
    "sprintf": "use snprintf or a strbuf", "strtok": "use str_split", "atoi": "use str_to_i64",
    "gets": "read with a limit", "strncpy": "use memcpy and a length", "alloca": "use the arena",
    "ctime": "use gmtime_r and strftime", "localtime": "use gmtime_r", "rand": "use random.h",
}
_BANNED = re.compile(r"(?<![\w.>])(%s)\s*\(" % "|".join(BANNED))
_INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
_EXCUSE = re.compile(r"tidy: \S")
_UNDONE = re.compile(r"\b(TODO|FIXME|XXX)\b")


class Layers:
    """layers.txt: who may include what."""

    def __init__(self, path):
        self.order, self.narrowed, self.system = [], {}, []
        with open(path, encoding="utf-8") as f:
            for line in f:
                line = line.split("#")[0].strip()
                if line.startswith("<"):
                    prefix, _, folders = line[1:].partition("> ")
                    self.system.append((prefix.rstrip(">"), folders.split()))
                elif line:
                    folder, _, only = line.partition(":")
                    self.order.append(folder)
                    if only:
                        self.narrowed[folder] = only.split()

    def of(self, path):
        """The layer a path belongs to, or None."""
        fits = [f for f in self.order if path.startswith(f + "/")]
        return max(fits, key=len) if fits else None

    def allows(self, layer, target):
        if layer == target:
            return True
        if layer in self.narrowed:
            return any(target == f or target.startswith(f + "/") for f in self.narrowed[layer])
        return self.order.index(target) < self.order.index(layer)

    def system_owner(self, header):
        """The folders that alone may include this system header, or None."""
        for prefix, folders in self.system:
            if header.startswith(prefix):
                return folders
        return None


class File:
    """One C file under check; faults are collected by fault()."""

    def __init__(self, root, path, layers, faults):
        self.root, self.path, self.layers, self.faults = root, path, layers, faults
        with open(os.path.join(root, path), encoding="utf-8") as f:
            self.text = f.read()
        self.lines = self.text.split("\n")
        self.is_header = path.endswith(".h")

    def fault(self, line, what, todo):
        self.faults.append((self.path, line, what, todo))

    def excused(self, first, last=None):
        """Whether the lines, or the one above the first, carry `tidy: why`."""
        return any(_EXCUSE.search(self.lines[i]) for i in
                   range(max(first - 2, 0), min(last or first, len(self.lines))))

    def check(self):
        self.check_size()
        self.check_head()
        self.check_lines()
        self.check_includes()
        for fn in source.functions_of(self.text):
            self.check_function(fn)

    def check_size(self):
        count, limit = self.text.count("\n"), HEADER_LINES if self.is_header else FILE_LINES
        head = self.text[:self.text.find("*/") + 2] if self.text.startswith("/*") else ""
        if count > limit and not _EXCUSE.search(head):
            self.fault(1, f"{count} lines, at most {limit} are allowed", "split the file by noun")

    def own_header(self):
        """The header this file implements, if there is one."""
        path = self.path[:-2] + ".h"
        match = re.match(r"tests/unit/(.*/)test_(\w+)\.c$", self.path)
        if match:
            path = match.group(1) + match.group(2) + ".h"
        return path if os.path.exists(os.path.join(self.root, path)) else None

    def check_head(self):
        needs = self.is_header or not (self.own_header() or self.path.startswith("tests/unit/"))
        if needs and not self.text.startswith("/*"):
            self.fault(1, "no header comment", "say on top what the file is, who owns it, its errors")
        if self.is_header and not re.search(r"^#pragma once$", self.text, re.M):
            self.fault(1, "no `#pragma once`", "add it below the header comment")

    def check_lines(self):
        code = source.code_of(self.text).split("\n")
        for number, line in enumerate(self.lines, 1):
            if len(line) > COLUMNS and not self.excused(number):
                self.fault(number, f"{len(line)} columns, at most {COLUMNS}", "break the line")
            undone = _UNDONE.search(line)
            if undone:
                self.fault(number, f"{undone.group(0)} left", "do it now, or file an issue")
            call = _BANNED.search(code[number - 1])
            if call and not self.excused(number):
                self.fault(number, f"{call.group(1)}() is banned", BANNED[call.group(1)])

    def check_includes(self):
        own, seen_project, seen_system = self.own_header(), False, False
        for number, line in enumerate(self.lines, 1):
            match = _INCLUDE.match(line)
            if not match:
                continue
            kind, target = match.groups()
            if kind == "<":
                seen_system = True
                self.check_system_include(number, target)
                continue
            if own and not seen_project and target != own and not self.is_header:
                self.fault(number, f'first include is "{target}"', f'put "{own}" first')
            if seen_system and target.endswith(".h") and not self.excused(number):
                self.fault(number, f'"{target}" stands after a system header',
                           "put the project's headers first")
            seen_project = True
            self.check_project_include(number, target)
        if own and not seen_project and not self.is_header:
            self.fault(1, "does not include its own header", f'add #include "{own}" first')

    def check_system_include(self, number, target):
        folders = self.layers.system_owner(target)
        if folders is None or self.path.startswith("tests/") or self.excused(number):
            return
        if not any(self.path.startswith(f + "/") for f in folders):
            self.fault(number, f"<{target}> is for {', '.join(folders)} only",
                       f"go through {folders[0]}")

    def check_project_include(self, number, target):
        if "/" not in target or ".." in target:
            self.fault(number, f'"{target}" does not start at the root', "write the whole path")
            return
        layer, below = self.layers.of(self.path), self.layers.of(target)
        if layer is None or self.excused(number):
            return
        if below is None:
            self.fault(number, f'"{target}" is in no layer', "see tests/tidy/layers.txt")
        elif not self.layers.allows(layer, below):
            self.fault(number, f'{layer} may not include "{target}": {below} is not below it',
                       "move the code down, or call back up through a function pointer")

    def check_function(self, fn):
        if self.excused(fn.first, fn.last):
            return
        if fn.length > FUNCTION_LINES:
            self.fault(fn.first, f"{fn.name}() has {fn.length} lines, at most {FUNCTION_LINES}",
                       "split it")
        if fn.params > PARAMETERS:
            self.fault(fn.first, f"{fn.name}() has {fn.params} parameters, at most {PARAMETERS}",
                       "pass a const struct of options")
        if fn.nesting > NESTING:
            self.fault(fn.first, f"{fn.name}() nests {fn.nesting} deep, at most {NESTING}",
                       "return early, or give the inner part a name")


def tracked_files(root):
    """Files of the tree that git knows or would add; everything below root without git."""
    git = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"],
                         capture_output=True, text=True, check=False)
    if git.returncode == 0:
        names = git.stdout.splitlines()
    else:
        names = [os.path.relpath(os.path.join(d, n), root)
                 for d, _, files in os.walk(root) for n in files]
    return sorted(n for n in names if os.path.isfile(os.path.join(root, n)))


def check_readmes(root, names, layers, faults):
    """Each layer with sources is on the map, and says in its README what it is for, on one screen."""
    with open(os.path.join(root, "ARCHITECTURE.md"), encoding="utf-8") as f:
        the_map = f.read()
    for folder in layers.order:
        if not any(n.startswith(folder + "/") and n.endswith(".c") for n in names):
            continue
        if f"`{folder}`" not in the_map:
            faults.append(("ARCHITECTURE.md", 1, f"does not name {folder}", "put it on the map"))
        readme = folder + "/README.md"
        if readme not in names:
            faults.append((folder + "/", 1, "no README.md", "say purpose, reading order, locks"))
            continue
        with open(os.path.join(root, readme), encoding="utf-8") as f:
            count = sum(1 for _ in f)
        if count > README_LINES:
            faults.append((readme, 1, f"{count} lines, at most {README_LINES}", "shorten it"))


def check_format(root, names, faults):
    """clang-format's word on each file; returns why it could not be asked, or None."""
    tool = shutil.which(f"clang-format-{CLANG_FORMAT}") or shutil.which("clang-format")
    if not tool:
        return "clang-format is not installed"
    version = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False).stdout
    if f"version {CLANG_FORMAT}." not in version:
        return f"clang-format {CLANG_FORMAT} is wanted, here is:{version.partition('version')[2].rstrip()}"
    done = subprocess.run([tool, "--dry-run", "-Werror", "--style=file"] + names, cwd=root,
                          capture_output=True, text=True, check=False)
    for path, line in sorted(set(re.findall(r"^(\S+?):(\d+):\d+: error:", done.stderr, re.M))):
        faults.append((path, int(line), "is not formatted", "run clang-format -i on it"))
    return None


def main():
    parser = argparse.ArgumentParser(description="Checks the house rules of C.")
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(here)))
    parser.add_argument("--no-format", action="store_true", help="leave clang-format out")
    parser.add_argument("files", nargs="*", help="only these, relative to the root")
    args = parser.parse_args()

    layers, faults = Layers(os.path.join(args.root, "tests/tidy/layers.txt")), []
    names = args.files or tracked_files(args.root)
    sources = [n for n in names if n.endswith((".c", ".h"))]
    for name in sources:
        File(args.root, name, layers, faults).check()
    if not args.files:
        check_readmes(args.root, names, layers, faults)
    if sources and not args.no_format:
        why_not = check_format(args.root, sources, faults)
        if why_not:
            print(f"tidy: formatting was not checked: {why_not}")
    for path, line, what, todo in sorted(faults):
        print(f"{path}:{line}: {what}, {todo}")
    print(f"tidy: {len(sources)} files, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
