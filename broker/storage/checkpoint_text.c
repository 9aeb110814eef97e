/*
 * checkpoint_text.c - line by line, with a message that names the line
 */
#include "broker/storage/checkpoint_text.h"

#include "common/base/err.h"
#include "common/base/mem.h"

#include <inttypes.h>

struct lines {
    struct str rest;
    int64_t number;
};

static bool next_line(struct lines *l, struct str *ret)
{
    if (l->rest.len == 0)
        return false;
    l->number++;
    return str_split(&l->rest, '\n', ret);
}

static int malformed(const char *path, const struct lines *l, const char *expected, char **ret_why)
{
    *ret_why = xasprintf("%s:%" PRId64 ": expected %s", path, l->number, expected);
    return -EBADMSG;
}

int checkpoint_text_parse(struct str text, const char *path, checkpoint_line_fn line_fn, void *ctx,
                          char **ret_why)
{
    struct lines l = {.rest = text};
    struct str line;
    int32_t version, expected, found = 0;

    if (text.len == 0)
        return 0;
    if (!next_line(&l, &line) || str_to_i32(line, 0, 0, &version) < 0)
        return malformed(path, &l, "version 0", ret_why);
    if (!next_line(&l, &line) || str_to_i32(line, 0, INT32_MAX, &expected) < 0)
        return malformed(path, &l, "the number of lines that follow", ret_why);
    while (next_line(&l, &line)) {
        if (!line_fn(ctx, line))
            return malformed(path, &l, "a line of the right fields", ret_why);
        found++;
    }
    if (found != expected) {
        *ret_why = xasprintf("%s: %" PRId32 " lines are announced, %" PRId32 " are there", path,
                             expected, found);
        return -EBADMSG;
    }
    return 0;
}

bool checkpoint_word(struct str *rest, struct str *ret)
{
    if (!str_split(rest, ' ', ret))
        return false;
    return ret->len > 0;
}
