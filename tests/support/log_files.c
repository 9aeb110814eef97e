#include "tests/support/log_files.h"

#include "broker/storage/log_manager.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/record/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void must(int r)
{
    if (r < 0)
        abort();
}

void log_files_init(struct log_files *f)
{
    /* In memory where that is possible: a fuzzer makes thousands. */
    snprintf(f->path, sizeof f->path, "%s/klamm-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(f->path))
        abort();
    f->conf = topic_conf_new();
    f->conf->index_interval_bytes = 200;
    f->conf->segment_index_bytes = 4096;
}

void log_files_deinit(struct log_files *f)
{
    topic_conf_unref(f->conf);
    must(fs_remove_tree(f->path));
}

void log_files_put(struct log_files *f, enum segment_file_type type, struct slice bytes)
{
    CLEANUP(free_p) char *path = segment_file_path(f->path, 0, type);
    CLEANUP(file_unref_p) struct file *file = NULL;

    must(file_open(path, FILE_WRITE, &file));
    must(file_truncate(file, 0));
    must(file_pwrite(file, bytes, 0));
}

int log_files_open(struct log_files *f, bool is_clean, struct log **ret)
{
    const struct log_open_opts opts = {.topic = STR("t"),
                                       .root = f->path,
                                       .path = f->path,
                                       .conf = f->conf,
                                       .clock = &clock_system,
                                       .producer_id_expiration_ms = 86400000,
                                       .is_clean = is_clean};

    return log_open(&opts, ret);
}

/* The first batch at or after *offset; *offset moves past it. */
static bool read_one(struct log *log, int64_t *offset)
{
    const struct log_read_opts opts = {*offset, 1, INT64_MAX, true};
    struct log_read out = {.start = {0}};
    struct batch b;

    if (log_read(log, &opts, &out) != 0)
        return false;
    CLEANUP(file_unref_p) struct file *file = out.records.file;
    if (!file)
        return false;
    CLEANUP(free_p) uint8_t *bytes = xmalloc(out.records.len);
    struct slice rest = slice_of(bytes, out.records.len);
    must(file_pread(file, bytes, out.records.len, out.records.pos));
    assert(batch_next(&rest, &b) == 1);
    assert(batch_last_offset(&b) >= *offset);
    *offset = batch_next_offset(&b);
    return true;
}

bool log_files_walk(struct log *log, int max)
{
    int64_t offset = log_start_offset(log);

    for (int i = 0; i < max && offset < log_end_offset(log); i++)
        if (!read_one(log, &offset))
            return false;
    return true;
}

struct slice log_files_batches(struct arena *a, int count)
{
    CLEANUP(strbuf_deinit) struct strbuf out = {0};

    for (int i = 0; i < count; i++) {
        CLEANUP(batch_builder_deinit) struct batch_builder bb;
        struct batch_opts opts = BATCH_OPTS_PLAIN;

        opts.base_offset = 2 * i;
        opts.leader_epoch = i / 10;
        batch_builder_init(&bb, &opts);
        for (int j = 0; j < 2; j++)
            batch_builder_add(&bb, &(struct record){.offset = 2 * i + j,
                                                    .timestamp = 1000 * i + j,
                                                    .value = slice_of("value", 5)});
        must(batch_builder_finish(&bb, &out));
    }
    return slice_of_str(arena_str(a, strbuf_str(&out)));
}
