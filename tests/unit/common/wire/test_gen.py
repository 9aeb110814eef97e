#!/usr/bin/env python3
"""test_gen.py - the schema notation: what it means, and that mistakes are named with their line

    test_gen.py common/wire/gen
"""

import sys
import unittest

sys.path.insert(0, sys.argv[1])
from check import check_all  # noqa: E402
from emit import initialiser, struct_min_size  # noqa: E402
from parse import SchemaError, name_structs, parse_lines  # noqa: E402

HEAD = "message Thing record versions 0-5 flexible 3+\n"


def parse(body, head=HEAD):
    message = parse_lines(head + body, "thing.msg")
    name_structs(message)
    check_all([message])
    return message


class Notation(unittest.TestCase):
    def wrong(self, body, says, head=HEAD):
        with self.assertRaises(SchemaError) as e:
            parse(body, head)
        self.assertIn(says, str(e.exception))

    def test_field_line_says_everything(self):
        f = parse("a str 1-4 null 2-4 = null ignorable").root.fields[0]
        self.assertEqual((f.versions, f.null, f.default, f.ignorable), ((1, 4), (2, 4), "null", True))

    def test_indentation_nests(self):
        m = parse("topics []\n    name str\n    parts []i32\nlast i8")
        self.assertEqual([f.name for f in m.root.fields], ["topics", "last"])
        self.assertEqual(m.structs[0].c_name, "thing_topic")
        self.assertEqual([f.name for f in m.structs[0].fields], ["name", "parts"])

    def test_parent_goes_in_front_only_where_names_collide(self):
        m = parse("topics []\n    a i8\ngroups []\n    topics []\n        a i8\n    users []\n        a i8")
        self.assertEqual([s.c_name for s in m.structs], ["thing_topic", "thing_group", "thing_group_topic", "thing_user"])

    def test_named_struct_is_shared(self):
        m = parse("olds []part 0-1\n    a i8\nnews []part 2+")
        self.assertIs(m.root.fields[0].struct, m.root.fields[1].struct)

    def test_defaults_are_initialised(self):
        m = parse("a str\nb str null = null\nc i32 = -1\nd []i32 null = null\ne {}\n    f i64 = 7")
        self.assertEqual(initialiser(m.root), '.a = {"", 0}, .c = -1, .d_count = -1, .e = {.f = 7}')

    def test_least_size_follows_the_version(self):
        m = parse("a str\nb i64 2+\nc []i32\nd i8 3+ tag 0")
        self.assertEqual([struct_min_size(m.root, m, v) for v in (0, 2, 3)], [6, 14, 1 + 8 + 1 + 1])

    def test_mistakes_are_named_with_file_and_line(self):
        self.wrong("a i32\nb i33", "thing.msg:3: unknown type 'i33'")
        self.wrong("a i32\n        b i32", "thing.msg:3: indented below something")
        self.wrong("a i32 nul", "unknown word 'nul'")
        self.wrong("a", "the line ends too soon")
        self.wrong("a i8", "unknown kind", "message Thing letter versions 0\n")

    def test_what_the_codec_could_not_do_is_refused(self):
        self.wrong("a i32 null", "cannot be null")
        self.wrong("a i8 = 200", "does not fit")
        self.wrong("a str = x", "no default but null")
        self.wrong("a i8 2+ tag 0", "not flexible")
        self.wrong("a i8 3+ tag 1\nb i8 3+ tag 0", "tags must ascend")
        self.wrong("a i8\na i16", "the name is taken")
        self.wrong("a i8 6+", "no version of the message has the field")
        self.wrong("int i8", "a word of C")
        self.wrong("a {} null\n    b i8", "null by default")
        self.wrong("a []part\n    b []part", "contains itself")
        self.wrong("a []bytes", "not supported")

    def test_requests_and_answers_come_in_pairs(self):
        self.wrong("a i8", "needs one request and one response", "message Thing request key 3 versions 0\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
