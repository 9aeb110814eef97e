#include "broker/storage/partition_metadata.h"

#include "common/base/mem.h"
#include "common/io/fs.h"
#include "tests/support/test_main.h"

#include <errno.h>

#define ID "3jBpTZtrRMyaAgnk0lQHxg"

static int parse(const char *text)
{
    struct uuid id;

    return partition_metadata_parse(str_of(text), &id);
}

START_TEST(what_kafka_writes_is_read)
{
    struct uuid id;
    char text[UUID_TEXT_LEN + 1];

    ck_assert_int_eq(partition_metadata_parse(STR("version: 0\ntopic_id: " ID), &id), 0);
    uuid_to_text(id, text);
    ck_assert_str_eq(text, ID);
    ck_assert_int_eq(parse("version: 1\ntopic_id: " ID "\n"), 0);
}
END_TEST

START_TEST(anything_else_is_malformed)
{
    ck_assert_int_eq(parse(""), -EBADMSG);
    ck_assert_int_eq(parse("version: 0\n"), -EBADMSG);
    ck_assert_int_eq(parse("topic_id: " ID "\n"), -EBADMSG);
    ck_assert_int_eq(parse("version: x\ntopic_id: " ID), -EBADMSG);
    ck_assert_int_eq(parse("version: -1\ntopic_id: " ID), -EBADMSG);
    ck_assert_int_eq(parse("version: 0\ntopic_id: short"), -EBADMSG);
    ck_assert_int_eq(parse("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA"), -EBADMSG);
}
END_TEST

START_TEST(a_directory_has_one_or_none)
{
    CLEANUP(free_p) char *path = xasprintf("%s/partition.metadata", test_tmpdir());
    struct uuid id, read;

    ck_assert_int_eq(partition_metadata_read(test_tmpdir(), &read), -ENOENT);
    ck_assert_int_eq(uuid_from_text(STR(ID), &id), 0);
    ck_assert_int_eq(partition_metadata_write(test_tmpdir(), id), 0);
    ck_assert_int_eq(partition_metadata_read(test_tmpdir(), &read), 0);
    ck_assert(uuid_eq(id, read));
    CLEANUP(free_p) char *much = xcalloc(1, 8192);
    ck_assert_int_eq(fs_replace_file(path, (struct str){much, 8192}), 0);
    ck_assert_int_eq(partition_metadata_read(test_tmpdir(), &read), -EBADMSG);
}
END_TEST

TEST_MAIN("broker/storage/partition_metadata", what_kafka_writes_is_read,
          anything_else_is_malformed, a_directory_has_one_or_none)
