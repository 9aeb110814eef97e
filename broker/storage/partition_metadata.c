#include "broker/storage/partition_metadata.h"

#include "common/base/mem.h"
#include "common/io/fs.h"

#include <errno.h>

enum { MAX_BYTES = 4096 };

int partition_metadata_parse(struct str text, struct uuid *ret)
{
    struct str line, version, id = STR_NULL;
    int32_t v = -1;

    while (str_split(&text, '\n', &line)) {
        if (str_starts_with(line, STR("version: "))) {
            version = str_trim((struct str){line.p + 9, line.len - 9});
            if (str_to_i32(version, 0, INT32_MAX, &v) < 0)
                return -EBADMSG;
        } else if (str_starts_with(line, STR("topic_id: "))) {
            id = str_trim((struct str){line.p + 10, line.len - 10});
        }
    }
    if (v < 0 || str_is_null(id) || uuid_from_text(id, ret) < 0 || uuid_is_zero(*ret))
        return -EBADMSG;
    return 0;
}

int partition_metadata_read(const char *dir, struct uuid *ret)
{
    CLEANUP(strbuf_deinit) struct strbuf text = {0};
    CLEANUP(free_p) char *path = xasprintf("%s/partition.metadata", dir);
    int r = fs_read_file(path, MAX_BYTES, &text);

    if (r < 0)
        return r == -EFBIG ? -EBADMSG : r;
    return partition_metadata_parse(strbuf_str(&text), ret);
}

int partition_metadata_write(const char *dir, struct uuid id)
{
    CLEANUP(free_p) char *path = xasprintf("%s/partition.metadata", dir);
    CLEANUP(free_p) char *text = NULL;
    char name[UUID_TEXT_LEN + 1];

    uuid_to_text(id, name);
    text = xasprintf("version: 0\ntopic_id: %s", name);
    return fs_replace_file(path, str_of(text));
}
