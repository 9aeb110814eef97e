/*
 * log_move.c - a log's directory gets another name: when it is deleted, or moves between dirs
 */
#include "broker/storage/log_internal.h"

#include "common/io/fs.h"

#include <errno.h>

/* Every file that the log has open, so that readers find it by its new path. */
static struct file **open_files(const struct log *log, size_t *ret_count)
{
    struct file **files = xnew_array(struct file *, (size_t)log->segment_count * 3);
    size_t n = 0;

    for (uint32_t i = 0; i < log->segment_count; i++) {
        const struct segment_body *body = log->segments[i]->body;

        if (!body)
            continue;
        files[n++] = body->file;
        if (body->offsets.file)
            files[n++] = body->offsets.file;
        if (body->times.file)
            files[n++] = body->times.file;
    }
    *ret_count = n;
    return files;
}

static int rename_dir(struct log *log, const char *path)
{
    CLEANUP(free_p) struct file **files = NULL;
    size_t count = 0;

    /* A reader may open a closed segment meanwhile, by the old path: it is told that the log is
     * gone, since is_closed is set before (log_reader_result). */
    WITH_LOCK(&log->shared)
    {
        files = open_files(log, &count);
    }
    int r = fs_rename_dir(log->path, path, files, count);
    return r < 0 ? r : fs_fsync_dir(log->root);
}

int log_move_dir(struct log *log, const char *path)
{
    LOCK_SCOPE(&log->lock);
    int r = rename_dir(log, path);

    if (r < 0)
        return r;
    WITH_LOCK(&log->shared)
    {
        free(log->path);
        log->path = xstrdup(path);
    }
    epochs_moved(log->epochs, path);
    producer_state_moved(log->producers, path);
    return 0;
}
