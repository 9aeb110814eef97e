/*
 * cmd_dump_log.c - klamm dump-log, kafka-dump-log: what is in the files of a partition
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "tools/base/opts.h"
#include "tools/dump/dump_log.h"

#include <stdio.h>

enum id {
    FILES,
    PRINT_DATA,
    DEEP,
    SKIP_METADATA,
    MAX_BYTES,
    MAX_MESSAGE_SIZE,
    VERIFY_ONLY,
    SANITY_ONLY,
    KEY_DECODER,
    VALUE_DECODER,
    OFFSETS,
    TRANSACTIONS,
    CLUSTER_METADATA,
    REMOTE_METADATA,
    OUTPUT,
    HELP,
    VERSION,
};

static const struct opt_spec specs[] = {
    [FILES] = {"files", "FILE,...", "the .log, .index, .timeindex, .txnindex and .snapshot files",
               0, 'f'},
    [PRINT_DATA] = {"print-data-log", NULL, "keys and values too", 0, 0},
    [DEEP] = {"deep-iteration", NULL, "a line for each record, not only for each batch", 0, 'd'},
    [SKIP_METADATA] = {"skip-record-metadata", NULL, "only keys and values of records", 0, 0},
    [MAX_BYTES] = {"max-bytes", "bytes", "stop after this much of a .log", 0, 0},
    [MAX_MESSAGE_SIZE] = {"max-message-size", "bytes", "the largest batch, for .index (5242880)", 0,
                          0},
    [VERIFY_ONLY] = {"verify-index-only", NULL, "check an index against the log, print nothing", 0,
                     0},
    [SANITY_ONLY] = {"index-sanity-check", NULL, "only what a broker checks at its start", 0, 0},
    [KEY_DECODER] = {"key-decoder-class", "class", "StringDecoder, LongDecoder or IntegerDecoder",
                     0, 0},
    [VALUE_DECODER] = {"value-decoder-class", "class", "the same for values", 0, 0},
    [OFFSETS] = {"offsets-decoder", NULL, "records of __consumer_offsets", 0, 0},
    [TRANSACTIONS] = {"transaction-log-decoder", NULL, "records of __transaction_state", 0, 0},
    [CLUSTER_METADATA] = {"cluster-metadata-decoder", NULL, "for KRaft, not here", OPT_KAFKAS, 0},
    [REMOTE_METADATA] = {"remote-log-metadata-decoder", NULL, "for tiered storage, not here",
                         OPT_KAFKAS, 0},
    [OUTPUT] = {"output", "table|json", "json: an object a line; else as Kafka's tool does",
                OPT_OURS, 'o'},
    [HELP] = {"help", NULL, "this text", 0, 'h'},
    [VERSION] = {"version", NULL, "which version", OPT_KAFKAS, 0},
};

static const struct opts_def def = {"print what is in the files of a partition", specs,
                                    ARRAY_LEN(specs)};

/* ---- files ---- */

void dump_file_deinit(struct dump_file *f)
{
    free(f->full_path);
    f->file = file_unref(f->file);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static char *full_path(const char *path)
{
    CLEANUP(free_p) char *here = NULL;

    if (path[0] == '/')
        return xstrdup(path);
    here = realpath(".", NULL);
    return xasprintf("%s/%s", here ? here : "", path);
}

int dump_file_open(const struct dump *d, const char *path, struct dump_file *ret)
{
    struct dump_file f = {.path = path, .name = last_part(path)};
    struct str digits = str_of(f.name), rest = digits;

    str_split(&rest, '.', &digits);
    if (str_to_i64(digits, 0, INT64_MAX, &f.base) < 0)
        return tool_fail(d->inv, "%s: its name does not begin with an offset", path);
    int r = file_open(path, FILE_READ, &f.file);
    if (r == 0)
        r = file_size(f.file, &f.size);
    if (r < 0) {
        file_unref(f.file);
        return tool_fail(d->inv, "%s: cannot be opened: %s", path, strerror(-r));
    }
    f.full_path = full_path(path);
    *ret = f;
    return 0;
}

int dump_file_open_twin(const struct dump *d, const struct dump_file *f, const char *suffix,
                        struct dump_file *ret)
{
    int stem = (int)(strchr(f->name, '.') - f->path);
    CLEANUP(free_p) char *path = xasprintf("%.*s.%s", stem, f->path, suffix);
    struct dump_file twin = {0};
    int r = dump_file_open(d, path, &twin);

    if (r != 0)
        return r;
    twin.path = twin.full_path; /* path goes with this function */
    twin.name = last_part(twin.path);
    *ret = twin;
    return 0;
}

static const struct {
    const char *suffix;
    int (*dump)(struct dump *d, const struct dump_file *f);
} kinds[] = {
    {".log", dump_segment},        {".index", dump_offset_index}, {".timeindex", dump_time_index},
    {".txnindex", dump_txn_index}, {".snapshot", dump_snapshot},
};

static int dump_one(struct dump *d, const char *path)
{
    CLEANUP(dump_file_deinit) struct dump_file f = {0};
    const char *suffix = strrchr(last_part(path), '.');

    if (!d->as_json)
        printf("Dumping %s\n", path);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (suffix && strcmp(suffix, kinds[i].suffix) == 0) {
            int r = dump_file_open(d, path, &f);
            return r != 0 ? r : kinds[i].dump(d, &f);
        }
    fflush(stdout);
    fprintf(stderr, "Ignoring unknown file %s\n", path);
    return 0;
}

static int dump_all(struct dump *d, const char *files)
{
    struct str rest = str_of(files), part;

    while (str_split(&rest, ',', &part)) {
        CLEANUP(free_p) char *path = str_dup(part);
        int r = part.len > 0 ? dump_one(d, path) : 0;

        if (r != 0)
            return r;
    }
    int r = tool_done(d->inv);
    for (int i = 0; i < LATE_COUNT; i++)
        fputs(d->late[i].s ? d->late[i].s : "", stderr);
    return r;
}

static void dump_deinit(struct dump *d)
{
    for (int i = 0; i < LATE_COUNT; i++)
        strbuf_deinit(&d->late[i]);
}

/* ---- flags ---- */

static const char *class_of(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot ? dot + 1 : name;
}

static const char *if_old(const struct opts *o, int id)
{
    const char *name = opts_nth(o, id, 0);

    return name && str_starts_with(str_of(name), STR("kafka.serializer.")) ? name : NULL;
}

/* Kafka's class names, with or without their package. */
static int read_decoder(const struct opts *o, int id, enum dump_decoder *ret, struct strbuf *why)
{
    const char *name;
    int r = opts_text(o, id, &name, why);

    if (r < 0 || !name)
        return r;
    const char *class = class_of(name);
    if (strcmp(class, "StringDecoder") == 0)
        *ret = DUMP_TEXT;
    else if (strcmp(class, "LongDecoder") == 0)
        *ret = DUMP_LONG;
    else if (strcmp(class, "IntegerDecoder") == 0)
        *ret = DUMP_INTEGER;
    else
        strbuf_addf(why, "--%s %s: StringDecoder, LongDecoder and IntegerDecoder are known here",
                    specs[id].name, name);
    return why->len ? -EINVAL : 0;
}

static int refuse_foreign(const struct opts *o, struct strbuf *why)
{
    if (opts_has(o, CLUSTER_METADATA))
        strbuf_addz(why, "--cluster-metadata-decoder is for the metadata log of KRaft, which a "
                         "cluster with ZooKeeper does not have");
    else if (opts_has(o, REMOTE_METADATA))
        strbuf_addz(why, "--remote-log-metadata-decoder is for tiered storage, which is not "
                         "supported");
    return why->len ? -EINVAL : 0;
}

static int read_flags(struct dump *d, const struct opts *o, struct strbuf *why)
{
    int r = opts_require(o, FILES, why);

    r = r < 0 ? r : refuse_foreign(o, why);
    r = r < 0 ? r : opts_json(o, OUTPUT, &d->as_json, why);
    r = r < 0 ? r : opts_i32(o, MAX_BYTES, &d->max_bytes, why);
    r = r < 0 ? r : opts_i32(o, MAX_MESSAGE_SIZE, &d->max_message_size, why);
    r = r < 0 ? r : read_decoder(o, KEY_DECODER, &d->key_decoder, why);
    r = r < 0 ? r : read_decoder(o, VALUE_DECODER, &d->value_decoder, why);
    d->old_decoders[0] = if_old(o, VALUE_DECODER);
    d->old_decoders[1] = if_old(o, KEY_DECODER);
    if (opts_has(o, TRANSACTIONS))
        d->value_decoder = DUMP_TRANSACTIONS;
    if (opts_has(o, OFFSETS))
        d->value_decoder = DUMP_OFFSETS;
    d->print_data = opts_has(o, PRINT_DATA) || opts_has(o, OFFSETS) || opts_has(o, TRANSACTIONS) ||
                    opts_has(o, KEY_DECODER) || opts_has(o, VALUE_DECODER);
    d->is_deep = d->print_data || opts_has(o, DEEP);
    d->skip_metadata = opts_has(o, SKIP_METADATA);
    d->verify_only = opts_has(o, VERIFY_ONLY);
    d->sanity_only = opts_has(o, SANITY_ONLY);
    return r;
}

int cmd_dump_log(const struct invocation *inv)
{
    CLEANUP(opts_deinit) struct opts o = {0};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    CLEANUP(dump_deinit)
    struct dump d = {.inv = inv, .max_bytes = INT32_MAX, .max_message_size = 5 << 20};
    const char *files = NULL;
    int code;

    int r = opts_parse(&o, &def, inv, &why);
    if (r == 0 && opts_answered(&o, HELP, VERSION, &code))
        return code;
    r = r < 0 ? r : read_flags(&d, &o, &why);
    r = r < 0 ? r : opts_text(&o, FILES, &files, &why);
    return r < 0 ? opts_usage(&o, why.s) : dump_all(&d, files);
}
