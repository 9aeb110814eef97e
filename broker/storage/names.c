#include "broker/storage/names.h"

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/base/uuid.h"

static const char *const type_suffix[SEGMENT_FILE_TYPES] = {
    [SEGMENT_LOG] = ".log",
    [SEGMENT_INDEX] = ".index",
    [SEGMENT_TIMEINDEX] = ".timeindex",
    [SEGMENT_TXNINDEX] = ".txnindex",
    [SEGMENT_SNAPSHOT] = ".snapshot",
};

static const char *const state_suffix[] = {
    [SEGMENT_LIVE] = "",
    [SEGMENT_DELETED] = ".deleted",
    [SEGMENT_CLEANED] = ".cleaned",
    [SEGMENT_SWAP] = ".swap",
};

enum { ID_HEX = 32, DELETE_TAIL = 1 + ID_HEX + sizeof "-delete" - 1 };

static bool parse_suffixes(const char *suffix, struct segment_file *ret)
{
    for (int t = 0; t < SEGMENT_FILE_TYPES; t++) {
        size_t n = strlen(type_suffix[t]);

        if (strncmp(suffix, type_suffix[t], n) != 0)
            continue;
        for (size_t s = 0; s < ARRAY_LEN(state_suffix); s++) {
            if (strcmp(suffix + n, state_suffix[s]) == 0) {
                ret->type = (enum segment_file_type)t;
                ret->state = (enum segment_file_state)s;
                return true;
            }
        }
    }
    return false;
}

bool segment_file_parse(const char *name, struct segment_file *ret)
{
    struct segment_file file = {0};

    if (strspn(name, "0123456789") != SEGMENT_DIGITS)
        return false;
    if (str_to_i64((struct str){name, SEGMENT_DIGITS}, 0, INT64_MAX, &file.base) < 0)
        return false;
    if (!parse_suffixes(name + SEGMENT_DIGITS, &file))
        return false;
    *ret = file;
    return true;
}

char *segment_file_path(const char *dir, int64_t base, enum segment_file_type type)
{
    return xasprintf("%s/%020lld%s", dir, (long long)base, type_suffix[type]);
}

/* "topic-12"; a sign is no part of a number here. */
static int parse_plain(struct str name, struct log_dir_name *ret)
{
    const char *dash = memrchr(name.p, '-', name.len);

    if (!dash || dash == name.p)
        return -EINVAL;
    const struct str number = {dash + 1, (size_t)(name.p + name.len - dash - 1)};
    if (number.len == 0 || number.p[0] < '0' || number.p[0] > '9' ||
        str_to_i32(number, 0, INT32_MAX, &ret->partition) < 0)
        return -EINVAL;
    ret->topic = (struct str){name.p, (size_t)(dash - name.p)};
    return 0;
}

/* Cuts ".<32 hex>-delete" and its like off *name; LOG_DIR_PLAIN where there is none. */
static enum log_dir_kind cut_kind(struct str *name)
{
    static const struct {
        struct str suffix;
        enum log_dir_kind kind;
    } kinds[] = {
        {{"-delete", 7}, LOG_DIR_DELETE},
        {{"-future", 7}, LOG_DIR_FUTURE},
        {{"-stray", 6}, LOG_DIR_STRAY},
    };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        size_t tail = 1 + ID_HEX + kinds[i].suffix.len;
        const char *at = name->p + name->len - tail;

        if (name->len <= tail || at[0] != '.' ||
            memcmp(at + 1 + ID_HEX, kinds[i].suffix.p, kinds[i].suffix.len) != 0 ||
            strspn(at + 1, "0123456789abcdef") < ID_HEX)
            continue;
        name->len -= tail;
        return kinds[i].kind;
    }
    return LOG_DIR_PLAIN;
}

int log_dir_name_parse(const char *name, struct log_dir_name *ret)
{
    struct str rest = str_of(name);
    struct log_dir_name parsed = {.kind = cut_kind(&rest)};
    int r = parse_plain(rest, &parsed);

    if (r == 0)
        *ret = parsed;
    return r;
}

char *log_dir_name_make(struct str topic, int32_t partition)
{
    return xasprintf("%.*s-%d", STR_ARG(topic), partition);
}

static void random_hex(char hex[ID_HEX + 1])
{
    struct uuid id = uuid_random();

    for (size_t i = 0; i < sizeof id.b; i++) {
        hex[2 * i] = "0123456789abcdef"[id.b[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[id.b[i] & 15];
    }
    hex[ID_HEX] = 0;
}

char *log_dir_name_make_future(struct str topic, int32_t partition)
{
    char hex[ID_HEX + 1];

    random_hex(hex);
    return xasprintf("%.*s-%d.%s-future", STR_ARG(topic), partition, hex);
}

char *log_dir_name_make_delete(struct str topic, int32_t partition)
{
    char hex[ID_HEX + 1];
    CLEANUP(free_p) char *number = xasprintf("-%d", partition);
    size_t room = FILE_NAME_MAX - DELETE_TAIL - strlen(number);

    random_hex(hex);
    topic.len = MIN(topic.len, room);
    return xasprintf("%.*s%s.%s-delete", STR_ARG(topic), number, hex);
}
