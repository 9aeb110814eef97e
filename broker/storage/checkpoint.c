/*
 * checkpoint.c - one offset per partition, to and from text
 */
#include "broker/storage/checkpoint.h"

#include "broker/storage/checkpoint_text.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/io/fs.h"

#include <inttypes.h>

enum { CHECKPOINT_MAX_BYTES = 256 << 20 };

void checkpoint_deinit(struct checkpoint *c)
{
    free(c->v);
    strbuf_deinit(&c->text);
    *c = (struct checkpoint){0};
}

void checkpoint_add(struct checkpoint *c, struct str topic, int32_t partition, int64_t offset)
{
    xgrow(c->v, c->cap, c->count + 1);
    c->v[c->count++] = (struct checkpoint_entry){topic, partition, offset};
    c->is_sorted = false;
}

static int compare(const void *a, const void *b)
{
    const struct checkpoint_entry *x = a, *y = b;
    int r = str_cmp(x->topic, y->topic);

    if (r == 0)
        r = (x->partition > y->partition) - (x->partition < y->partition);
    return r;
}

const struct checkpoint_entry *checkpoint_find(struct checkpoint *c, struct str topic,
                                               int32_t partition)
{
    const struct checkpoint_entry key = {.topic = topic, .partition = partition};

    if (c->count == 0)
        return NULL;
    if (!c->is_sorted)
        qsort(c->v, c->count, sizeof *c->v, compare);
    c->is_sorted = true;
    return bsearch(&key, c->v, c->count, sizeof *c->v, compare);
}

static bool add_line(void *ctx, struct str line)
{
    struct checkpoint *c = ctx;
    struct str topic, partition, offset;
    struct checkpoint_entry e;

    if (!checkpoint_word(&line, &topic) || !checkpoint_word(&line, &partition) ||
        !checkpoint_word(&line, &offset) || !str_is_null(line))
        return false;
    if (str_to_i32(partition, 0, INT32_MAX, &e.partition) < 0 ||
        str_to_i64(offset, INT64_MIN, INT64_MAX, &e.offset) < 0)
        return false;
    checkpoint_add(c, topic, e.partition, e.offset);
    return true;
}

int checkpoint_read(const char *path, struct checkpoint *c, char **ret_why)
{
    CLEANUP(checkpoint_deinit) struct checkpoint read = {0};
    int r = fs_read_file(path, CHECKPOINT_MAX_BYTES, &read.text);

    *ret_why = NULL;
    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return r;
    r = checkpoint_text_parse(strbuf_str(&read.text), path, add_line, &read, ret_why);
    if (r == 0)
        *c = MOVE(read);
    return r;
}

int checkpoint_write(const char *path, const struct checkpoint *c)
{
    CLEANUP(strbuf_deinit) struct strbuf text = {0};

    strbuf_addf(&text, "0\n%zu\n", c->count);
    for (size_t i = 0; i < c->count; i++)
        strbuf_addf(&text, "%.*s %" PRId32 " %" PRId64 "\n", STR_ARG(c->v[i].topic),
                    c->v[i].partition, c->v[i].offset);
    return fs_replace_file(path, strbuf_str(&text));
}
