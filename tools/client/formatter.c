#include "tools/client/formatter.h"

#include "common/base/mem.h"
#include "tools/base/java_text.h"

#include <errno.h>
#include <inttypes.h>

enum part { TIMESTAMP, PARTITION, OFFSET, HEADERS, KEY, VALUE, PARTS };

struct formatter {
    int (*print)(struct formatter *f, const struct record_text *rec, struct strbuf *out,
                 struct strbuf *why);
    enum record_kind kind; /* of stored records */
    bool old;              /* called by its old name */
    bool shown[PARTS];
    char *key_separator, *line_separator, *headers_separator, *null_literal;
    const struct deserializer *key, *value, *headers; /* NULL: the bytes as they are */
};

/* ---- the default ---- */

static int add_bytes(const struct formatter *f, const struct deserializer *d, struct str bytes,
                     struct strbuf *out, struct strbuf *why)
{
    if (str_is_null(bytes))
        bytes = str_of(f->null_literal);
    if (d)
        return deserializer_print(d, bytes, out, why);
    strbuf_add_str(out, bytes);
    return 0;
}

static int add_headers(const struct formatter *f, const struct record_text *rec, struct strbuf *out,
                       struct strbuf *why)
{
    int r = 0;

    if (rec->header_count == 0)
        strbuf_addz(out, "NO_HEADERS");
    for (int i = 0; r == 0 && i < rec->header_count; i++) {
        if (i > 0)
            strbuf_addz(out, f->headers_separator);
        strbuf_addf(out, "%s:", rec->headers[i].name);
        r = add_bytes(f, f->headers, rec->headers[i].value, out, why);
    }
    return r;
}

static void add_timestamp(const struct record_text *rec, struct strbuf *out)
{
    if (rec->timestamp_ms < 0)
        strbuf_addz(out, "NO_TIMESTAMP");
    else
        strbuf_addf(out, "%s:%" PRId64, rec->append_time ? "LogAppendTime" : "CreateTime",
                    rec->timestamp_ms);
}

static int add_part(const struct formatter *f, enum part part, const struct record_text *rec,
                    struct strbuf *out, struct strbuf *why)
{
    switch (part) {
    case TIMESTAMP:
        add_timestamp(rec, out);
        return 0;
    case PARTITION:
        strbuf_addf(out, "Partition:%" PRId32, rec->partition);
        return 0;
    case OFFSET:
        strbuf_addf(out, "Offset:%" PRId64, rec->offset);
        return 0;
    case HEADERS:
        return add_headers(f, rec, out, why);
    case KEY:
        return add_bytes(f, f->key, rec->key, out, why);
    default:
        return add_bytes(f, f->value, rec->value, out, why);
    }
}

static int print_default(struct formatter *f, const struct record_text *rec, struct strbuf *out,
                         struct strbuf *why)
{
    int shown = 0, r = 0;

    for (int part = 0; r == 0 && part < PARTS; part++) {
        if (!f->shown[part])
            continue;
        if (shown++ > 0)
            strbuf_addz(out, f->key_separator);
        r = add_part(f, part, rec, out, why);
    }
    if (r == 0 && shown > 0)
        strbuf_addz(out, f->line_separator);
    return r;
}

/* ---- others ---- */

static int print_nothing(struct formatter *f UNUSED, const struct record_text *rec UNUSED,
                         struct strbuf *out UNUSED, struct strbuf *why UNUSED)
{
    return 0;
}

static int print_stored(struct formatter *f, const struct record_text *rec, struct strbuf *out,
                        struct strbuf *why)
{
    return f->old ? formatter_print_old(f->kind, rec, out, why)
                  : formatter_print_stored(f->kind, rec, out, why);
}

#define PACKAGE "org.apache.kafka.tools.consumer."

static const struct formatter_class {
    const char *name;     /* in the package */
    const char *old_name; /* before 3.9 */
    int (*print)(struct formatter *, const struct record_text *, struct strbuf *, struct strbuf *);
    enum record_kind kind;
} classes[] = {
    {"DefaultMessageFormatter", "kafka.tools.DefaultMessageFormatter", print_default, 0},
    {"LoggingMessageFormatter", "kafka.tools.LoggingMessageFormatter", print_default, 0},
    {"NoOpMessageFormatter", "kafka.tools.NoOpMessageFormatter", print_nothing, 0},
    {"OffsetsMessageFormatter",
     "kafka.coordinator.group.GroupMetadataManager$OffsetsMessageFormatter", print_stored,
     RECORD_OFFSETS},
    {"GroupMetadataMessageFormatter",
     "kafka.coordinator.group.GroupMetadataManager$GroupMetadataMessageFormatter", print_stored,
     RECORD_GROUPS},
    {"TransactionLogMessageFormatter",
     "kafka.coordinator.transaction.TransactionLog$TransactionLogMessageFormatter", print_stored,
     RECORD_TRANSACTIONS},
};

static const struct formatter_class *find_class(const char *name, struct strbuf *warning)
{
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        if (strncmp(name, PACKAGE, strlen(PACKAGE)) == 0 &&
            strcmp(name + strlen(PACKAGE), classes[i].name) == 0)
            return &classes[i];
        if (strcmp(name, classes[i].old_name) != 0)
            continue;
        strbuf_addf(warning,
                    "WARNING: %s is deprecated and will be removed in the next major release. "
                    "Please use " PACKAGE "%s instead",
                    name, classes[i].name);
        return &classes[i];
    }
    return NULL;
}

static char *text_of(const struct props *p, const char *key, const char *fallback)
{
    const char *text = props_get(p, key);
    return xstrdup(text ? text : fallback);
}

static int find_deserializer(const struct props *p, const char *key,
                             const struct deserializer **ret, struct strbuf *why)
{
    const char *name = props_get(p, key);

    *ret = name ? deserializer_find(name) : NULL;
    if (!name || *ret)
        return 0;
    strbuf_addf(why,
                "%s=%s: of deserializers those of org.apache.kafka.common.serialization are there, "
                "for text, bytes, numbers, booleans and UUIDs",
                key, name);
    return -EINVAL;
}

static int configure(struct formatter *f, const struct props *p, struct strbuf *why)
{
    static const char *const keys[] = {"print.timestamp", "print.partition", "print.offset",
                                       "print.headers",   "print.key",       "print.value"};

    for (int i = 0; i < PARTS; i++) {
        const char *text = props_get(p, keys[i]);
        f->shown[i] = text ? java_bool(text) : i == VALUE;
    }
    f->key_separator = text_of(p, "key.separator", "\t");
    f->line_separator = text_of(p, "line.separator", "\n");
    f->headers_separator = text_of(p, "headers.separator", ",");
    f->null_literal = text_of(p, "null.literal", "null");
    int r = find_deserializer(p, "key.deserializer", &f->key, why);
    r = r < 0 ? r : find_deserializer(p, "value.deserializer", &f->value, why);
    return r < 0 ? r : find_deserializer(p, "headers.deserializer", &f->headers, why);
}

int formatter_new(const char *class_name, const struct props *p, struct formatter **ret,
                  struct strbuf *warning, struct strbuf *why)
{
    const struct formatter_class *class =
        class_name ? find_class(class_name, warning) : &classes[0];

    *ret = NULL;
    if (!class) {
        strbuf_addz(why, class_name);
        return -EINVAL;
    }
    struct formatter *f = xnew(struct formatter);
    f->print = class->print;
    f->kind = class->kind;
    f->old = warning->len > 0;
    int r = configure(f, p, why);
    *ret = r < 0 ? formatter_free(f) : f;
    return r;
}

struct formatter *formatter_free(struct formatter *f)
{
    if (!f)
        return NULL;
    free(f->key_separator);
    free(f->line_separator);
    free(f->headers_separator);
    free(f->null_literal);
    free(f);
    return NULL;
}

int formatter_print(struct formatter *f, const struct record_text *rec, struct strbuf *out,
                    struct strbuf *why)
{
    return f->print(f, rec, out, why);
}
