#!/usr/bin/env python3
"""The test of tidy itself: each rule fires on a small tree that breaks it, and is silent on one that does not."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = "/*\n * x.h - a thing\n */\n#pragma once\n"


class Tidy(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="klamm-tidy-")
        self.addCleanup(shutil.rmtree, self.root)
        self.write("tests/tidy/layers.txt",
                   "low\nhigh\ntools: low\n<sys/epoll.h> low\n")
        self.write("ARCHITECTURE.md", "`low`\n")

    def write(self, path, text):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def tidy(self, *files):
        done = subprocess.run([sys.executable, os.path.join(HERE, "tidy.py"), "--no-format",
                               "--root", self.root, *files],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode != 0, ", 0 faults" not in done.stdout)
        return done.stdout

    def says(self, text, path="low/x.h", head=HEAD):
        self.write(path, head + text)
        return self.tidy(path)

    def fine(self, text, path="low/x.h", head=HEAD):
        self.assertIn(", 0 faults", self.says(text, path, head))

    def test_a_clean_header_passes(self):
        self.fine('#include "low/y.h"\n\n#include <stdio.h>\nint x_get(void);\n')

    def test_the_place_is_named(self):
        self.assertIn("low/x.h:6: strcpy() is banned, ", self.says("/* */\n    strcpy(a, b);\n"))

    def test_banned_calls_in_comments_strings_and_members_do_not_count(self):
        self.fine('/* strcpy(a) */\nconst char *s = "rand()"; int y = ops->rand(1) + my_atoi(2);\n')

    def test_banned_call_with_a_reason_passes(self):
        self.fine("/* tidy: the C library's own name */\nint n = rand();\n")

    def test_header_comment_and_guard_are_wanted(self):
        out = self.says("int x;\n", head="")
        self.assertIn("no header comment", out)
        self.assertIn("no `#pragma once`", out)

    def test_columns(self):
        self.assertIn("101 columns", self.says("/*" + "x" * 97 + "*/\n"))
        self.fine("/*" + "x" * 96 + "*/\n")

    def test_what_is_left_undone(self):
        self.assertIn("left, do it now", self.says("/* TO" + "DO: more */\n"))

    def test_file_and_header_size(self):
        self.assertIn("at most 200", self.says("int x;\n" * 197))
        self.fine("int x;\n" * 196)
        self.assertIn("at most 800", self.says("int x;\n" * 801, "low/z.c"))
        self.fine("int x;\n" * 900, "low/z.c", "/* z.c - tidy: a table */\n")

    def test_function_length(self):
        self.assertIn("f() has 71 lines", self.says("int f(void)\n{\n" + "    g();\n" * 68 + "}\n"))
        self.fine("int f(void)\n{\n" + "    g();\n" * 67 + "}\n")
        self.fine("int f(void)\n{\n    /* tidy: a table */\n" + "    g();\n" * 90 + "}\n")

    def test_the_function_named_is_the_right_one(self):
        text = "static const int t[] = {\n    1,\n};\n\n#define M(x)   \\\n    {            \\\n    }\n" \
               "static struct a *f(int (*cb)(int, int),\n                   int b)\n{\n}\n" \
               "START_TEST(it_holds)\n{\n" + "    g();\n" * 80 + "}\nEND_TEST\n"
        out = self.says(text)
        self.assertIn("it_holds() has 83 lines", out)
        self.assertIn("1 faults", out)

    def test_parameters(self):
        self.assertIn("f() has 6 parameters",
                      self.says("int f(int a, int b, int c, int d, int e, int g)\n{\n}\n"))
        self.fine("int f(int a, int b, int (*c)(int, int), int d, const char *e, ...)\n{\n}\n")

    def test_nesting(self):
        nest = "int f(void)\n{\n    if (a) {\n for (;;) {\n while (b)\n switch (c) {\n case 1:\n%s }\n }\n }\n}\n"
        self.assertIn("nests 5 deep", self.says(nest % "if (d)\n e();\n"))
        self.fine(nest % "e();\n")

    def test_else_if_is_no_nesting(self):
        self.fine("int f(void)\n{\n    if (a)\n x();\n" + "else if (b)\n y();\n" * 9 + "}\n")

    def test_initialisers_are_no_nesting(self):
        self.fine("int f(void)\n{\n    struct a b = {{{{{1}}}}};\n    return (c){.d = {{{{2}}}}}.e;\n}\n")

    def test_includes_go_down(self):
        self.fine('#include "low/x.h"\n', "high/x.h")
        self.assertIn('low may not include "high/x.h"', self.says('#include "high/x.h"\n'))
        self.assertIn('tools may not include "high/x.h"',
                      self.says('#include "high/x.h"\n', "tools/t.h"))
        self.assertIn("is in no layer", self.says('#include "else/x.h"\n'))
        self.assertIn("does not start at the root", self.says('#include "y.h"\n'))

    def test_tests_see_everything(self):
        self.fine('#include "high/x.h"\n#include "low/x.h"\n\n#include <sys/epoll.h>\n',
                  "tests/support/t.h")

    def test_system_headers_have_owners(self):
        self.fine("#include <sys/epoll.h>\n")
        self.assertIn("<sys/epoll.h> is for low only",
                      self.says("#include <sys/epoll.h>\n", "high/x.h"))

    def test_own_header_first(self):
        self.write("low/x.h", HEAD)
        self.write("low/x.c", '#include "low/y.h"\n#include "low/x.h"\n')
        self.assertIn('put "low/x.h" first', self.tidy("low/x.c"))
        self.write("low/x.c", '#include "low/x.h"\n\n#include "low/y.h"\n')
        self.assertIn(", 0 faults", self.tidy("low/x.c"))
        self.write("low/x.c", '#include "low/x.h"\n#include <stdio.h>\n#include "low/y.h"\n')
        self.assertIn("after a system header", self.tidy("low/x.c"))

    def test_each_layer_has_a_readme(self):
        self.write("low/x.c", "/* x.c - a thing */\n")
        self.assertIn("low/:1: no README.md", self.tidy())
        self.write("low/README.md", "# low\n")
        self.assertIn(", 0 faults", self.tidy())
        self.write("low/README.md", "x\n" * 61)
        self.assertIn("61 lines, at most 60", self.tidy())

    def test_each_layer_is_on_the_map(self):
        self.write("high/x.c", "/* x.c - a thing */\n")
        self.assertIn("ARCHITECTURE.md:1: does not name high", self.tidy())


if __name__ == "__main__":
    unittest.main()
