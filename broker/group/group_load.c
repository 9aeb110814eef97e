#include "broker/group/group_load.h"

#include "broker/group/group_records.h"
#include "broker/group/rebalance.h"
#include "broker/storage/log.h"
#include "common/base/err.h"
#include "common/base/say.h"
#include "common/io/fs.h"
#include "common/record/record_iter.h"

/* A group as far as it has been read. */
struct loading {
    UT_hash_handle hh; /* by id */
    struct group *group;
    uint8_t *value; /* its last record, NULL: none */
    size_t value_len;
};

/* Which groups a producer with an open transaction has commits in. */
struct open_txn {
    UT_hash_handle hh; /* by producer id */
    int64_t producer_id;
    struct loading **groups;
    size_t count, cap;
};

struct loader {
    struct group_manager *manager;
    int32_t partition;
    struct loading *groups;
    struct open_txn *txns;
    struct arena arena; /* of one record */
    int64_t records;
};

static struct loading *obtain(struct loader *l, struct str id)
{
    struct loading *g;

    HASH_FIND(hh, l->groups, id.p, id.len, g);
    if (!g) {
        g = xnew(struct loading);
        g->group = group_manager_make(l->manager, id, l->partition);
        HASH_ADD_KEYPTR(hh, l->groups, g->group->id.p, g->group->id.len, g);
    }
    return g;
}

/* ---- transactions ---- */

static void remember_txn(struct loader *l, int64_t producer_id, struct loading *g)
{
    struct open_txn *t;

    HASH_FIND(hh, l->txns, &producer_id, sizeof producer_id, t);
    if (!t) {
        t = xnew(struct open_txn);
        t->producer_id = producer_id;
        HASH_ADD(hh, l->txns, producer_id, sizeof t->producer_id, t);
    }
    if (t->count > 0 && t->groups[t->count - 1] == g)
        return;
    xgrow(t->groups, t->cap, t->count + 1);
    t->groups[t->count++] = g;
}

static void forget_txn(struct loader *l, struct open_txn *t)
{
    HASH_DEL(l->txns, t);
    free(t->groups);
    free(t);
}

/* A group may stand in the list twice: its second end finds nothing. */
static void end_txn(struct loader *l, int64_t producer_id, bool is_commit)
{
    struct open_txn *t;

    HASH_FIND(hh, l->txns, &producer_id, sizeof producer_id, t);
    for (size_t i = 0; t && i < t->count; i++)
        commits_txn_end(&t->groups[i]->group->offsets, producer_id, is_commit);
    if (t)
        forget_txn(l, t);
}

static int load_marker(struct loader *l, const struct batch *b, const struct record *rec)
{
    enum control_type type;
    int r = control_record_type(rec, &type);

    if (r == 0 && type != CONTROL_UNKNOWN)
        end_txn(l, batch_producer_id(b), type == CONTROL_COMMIT);
    return r;
}

/* ---- records ---- */

static int load_offset(struct loader *l, const struct batch *b, const struct record *rec,
                       const struct group_key *key)
{
    struct commits *o = &obtain(l, key->group)->group->offsets;
    struct committed c;

    if (!rec->value.p) {
        commits_drop(o, key->topic, key->partition);
        return 0;
    }
    int r = offset_value_parse(rec->value, &l->arena, &c);
    if (r < 0)
        return r;
    c.log_offset = rec->offset;
    if (batch_is_transactional(b)) {
        commits_txn_put(o, batch_producer_id(b), key->topic, key->partition, &c);
        remember_txn(l, batch_producer_id(b), obtain(l, key->group));
    } else {
        commits_put(o, key->topic, key->partition, &c);
    }
    return 0;
}

/* Only the last one counts, so none is looked into before that is known. */
static void load_group(struct loader *l, const struct record *rec, const struct group_key *key)
{
    struct loading *g = obtain(l, key->group);

    free(TAKE(g->value));
    g->value_len = rec->value.len;
    if (!rec->value.p)
        return;
    g->value = xmalloc(rec->value.len + 1);
    memcpy(g->value, rec->value.p, rec->value.len);
}

static void load_record(struct loader *l, const struct batch *b, const struct record *rec)
{
    struct group_key key;
    int r;

    arena_reset(&l->arena);
    l->records++;
    if (batch_is_control(b)) {
        r = load_marker(l, b, rec);
    } else {
        r = group_key_parse(rec->key, &l->arena, &key);
        if (r == 0 && key.kind == GROUP_KEY_OFFSET)
            r = load_offset(l, b, rec, &key);
        else if (r == 0 && key.kind == GROUP_KEY_GROUP)
            load_group(l, rec, &key);
    }
    if (r < 0)
        say_limited(SAY_WARN, 5,
                    "__consumer_offsets-%d: the record at offset %" PRId64
                    " is none that a coordinator writes and is passed over",
                    l->partition, rec->offset);
}

/* Its records from offset on; *offset moves past it. */
static void load_batch(struct loader *l, const struct batch *b, int64_t *offset)
{
    CLEANUP(record_iter_deinit) struct record_iter it = {0};
    struct record rec;
    int r = record_iter_init(&it, b, RECORD_UNPACK_MAX);

    while (r == 0 && (r = record_iter_next(&it, &rec)) == 1) {
        if (rec.offset >= *offset)
            load_record(l, b, &rec);
        r = 0;
    }
    if (r)
        say_error("__consumer_offsets-%d: the batch at offset %" PRId64
                  " cannot be unpacked and is passed over: %s",
                  l->partition, batch_base_offset(b), err_name(r));
    *offset = MAX(*offset, batch_next_offset(b));
}

/* ---- the log ---- */

static int read_chunk(struct log *log, int64_t offset, int64_t end, size_t max, struct strbuf *ret)
{
    struct log_read read;
    int r = log_read(log,
                     &(struct log_read_opts){.offset = offset,
                                             .max_bytes = (uint32_t)max,
                                             .upper_offset = end,
                                             .min_one_batch = true},
                     &read);

    if (r)
        return r;
    strbuf_reset(ret);
    void *to = strbuf_room(ret, read.records.len);
    if (read.records.file)
        r = file_pread(read.records.file, to, read.records.len, read.records.pos);
    file_unref(read.records.file);
    strbuf_grew(ret, r == 0 ? read.records.len : 0);
    return r;
}

static int read_all(struct loader *l, struct log *log)
{
    CLEANUP(strbuf_deinit) struct strbuf chunk = {0};
    size_t max = (size_t)group_manager_opts(l->manager)->load_buffer_size;
    int64_t offset = log_start_offset(log), end = log_end_offset(log);

    while (offset < end) {
        struct batch b;
        int64_t before = offset;
        int r = read_chunk(log, offset, end, max, &chunk);

        /* Deleted under our hands: retention moved the start. */
        if (r == OFFSET_OUT_OF_RANGE && log_start_offset(log) > offset) {
            offset = log_start_offset(log);
            continue;
        }
        if (r)
            return r;
        if (chunk.len == 0)
            return 0; /* compaction has left nothing from here to the end */
        struct slice rest = slice_of(chunk.s, chunk.len);
        while (batch_next(&rest, &b) == 1)
            load_batch(l, &b, &offset);
        if (offset == before)
            return -EBADMSG;
    }
    return 0;
}

/* ---- what has come of it ---- */

static void free_loading(struct loader *l, struct loading *g)
{
    HASH_DEL(l->groups, g);
    free(g->value);
    free(g);
}

/* NULL: nothing is known of it any more. */
static struct group *finish_group(struct loader *l, struct loading *g)
{
    struct group_metadata_value value;
    struct group *group = g->group;

    arena_reset(&l->arena);
    if (g->value && group_value_parse(slice_of(g->value, g->value_len), &l->arena, &value) == 0) {
        rebalance_resume(group, &value);
        return group;
    }
    if (g->value)
        say_error("group %.*s: its record in __consumer_offsets-%d makes no sense; its members "
                  "will join anew",
                  STR_ARG(group->id), l->partition);
    return commits_is_empty(&group->offsets) ? group_unref(group) : group;
}

static void finish(struct loader *l, struct group_load *ret)
{
    struct loading *g, *next;
    struct open_txn *t, *after;

    HASH_ITER (hh, l->txns, t, after)
        forget_txn(l, t);
    HASH_ITER (hh, l->groups, g, next) {
        struct group *group = ret ? finish_group(l, g) : group_unref(g->group);

        free_loading(l, g);
        if (!group)
            continue;
        HASH_ADD_KEYPTR(hh, ret->groups, group->id.p, group->id.len, group);
        ret->count++;
        ret->offsets += group->offsets.committed;
    }
    arena_deinit(&l->arena);
}

int group_load_partition(struct group_manager *m, int32_t partition, struct log *log,
                         struct group_load *ret)
{
    struct loader l = {.manager = m, .partition = partition};
    int r = read_all(&l, log);

    *ret = (struct group_load){0};
    finish(&l, r ? NULL : ret);
    ret->records = l.records;
    return r;
}
