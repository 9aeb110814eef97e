#include "tools/features.h"

#include "tests/support/test_main.h"

#include <errno.h>

static struct strbuf why;

static void expect_why(const char *words)
{
    ck_assert_str_eq(why.s, words);
    strbuf_reset(&why);
}

START_TEST(versions_are_levels)
{
    struct strbuf text = {0};
    int16_t level = 0;

    ck_assert_int_eq(feature_level("3.7", &level, &why), 0);
    ck_assert_int_eq(level, 19);
    ck_assert_int_eq(feature_level("3.3-IV0", &level, &why), 0);
    ck_assert_int_eq(level, 4);
    ck_assert_int_eq(feature_level("9.9", &level, &why), -EINVAL);
    ck_assert(str_starts_with(strbuf_str(&why), STR("Unsupported metadata.version 9.9. Supported "
                                                    "metadata.version are 3.3-IV0, ")));
    strbuf_reset(&why);
    feature_level_text(STR(FEATURE_METADATA), 19, &text);
    feature_level_text(STR("other"), 19, &text);
    ck_assert_str_eq(text.s, "3.7-IV419");
    strbuf_deinit(&text);
}
END_TEST

START_TEST(updates_are_read)
{
    struct feature_update u;

    ck_assert_int_eq(feature_parse("foo=3", FEATURE_UPGRADE, &u, &why), 0);
    ck_assert(str_eqz(u.name, "foo") && u.level == 3);
    ck_assert_int_eq(feature_parse("foo", FEATURE_DISABLE, &u, &why), 0);
    ck_assert(str_eqz(u.name, "foo") && u.level == 0);
    ck_assert_int_eq(feature_parse("foo", FEATURE_UPGRADE, &u, &why), -EINVAL);
    expect_why("Can't parse feature=level string foo: equals sign not found.");
    ck_assert_int_eq(feature_parse("foo=99999", FEATURE_UPGRADE, &u, &why), -EINVAL);
    expect_why("Can't parse feature=level string foo=99999: unable to parse 99999 as a short.");
}
END_TEST

START_TEST(updates_are_checked)
{
    struct feature_update room[4];
    struct feature_updates u = {room, 0};

    ck_assert_int_eq(feature_check(&u, FEATURE_DOWNGRADE, &why), -EINVAL);
    expect_why("You must specify at least one feature to downgrade");
    ck_assert_int_eq(feature_add(&u, (struct feature_update){STR("b"), 1}, &why), 0);
    ck_assert_int_eq(feature_add(&u, (struct feature_update){STR("a"), 0}, &why), 0);
    ck_assert_int_eq(feature_add(&u, (struct feature_update){STR("b"), 2}, &why), -EINVAL);
    expect_why("Feature b was specified more than once.");
    ck_assert(str_eqz(u.v[0].name, "a"));
    ck_assert_int_eq(feature_check(&u, FEATURE_DOWNGRADE, &why), 0);
    ck_assert_int_eq(feature_check(&u, FEATURE_UPGRADE, &why), -EINVAL);
    strbuf_deinit(&why);
}
END_TEST

TEST_MAIN("tools/features", versions_are_levels, updates_are_read, updates_are_checked)
