/*
 * deserializer.c - bytes as Kafka's own deserializers read them, printed
 */
#include "tools/base/java.h"
#include "tools/base/java_text.h"
#include "tools/client/formatter.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>

struct deserializer {
    const char *name; /* in org.apache.kafka.common.serialization */
    const char *in_errors;
    size_t size; /* 0: any */
    int (*print)(struct str bytes, struct strbuf *out, struct strbuf *why);
};

#define SERIALIZATION_EXCEPTION "org.apache.kafka.common.errors.SerializationException: "

static uint64_t number(struct str bytes)
{
    uint64_t n = 0;

    for (size_t i = 0; i < bytes.len; i++)
        n = n << 8 | (uint8_t)bytes.p[i];
    return n;
}

static int print_text(struct str bytes, struct strbuf *out, struct strbuf *why UNUSED)
{
    strbuf_add_str(out, bytes);
    return 0;
}

static int print_long(struct str bytes, struct strbuf *out, struct strbuf *why UNUSED)
{
    strbuf_addf(out, "%" PRId64, (int64_t)number(bytes));
    return 0;
}

static int print_int(struct str bytes, struct strbuf *out, struct strbuf *why UNUSED)
{
    strbuf_addf(out, "%" PRId32, (int32_t)number(bytes));
    return 0;
}

static int print_short(struct str bytes, struct strbuf *out, struct strbuf *why UNUSED)
{
    strbuf_addf(out, "%d", (int16_t)number(bytes));
    return 0;
}

static int print_double(struct str bytes, struct strbuf *out, struct strbuf *why UNUSED)
{
    uint64_t bits = number(bytes);
    double v;

    memcpy(&v, &bits, sizeof v);
    java_double(v, out);
    return 0;
}

static int print_float(struct str bytes, struct strbuf *out, struct strbuf *why UNUSED)
{
    uint32_t bits = (uint32_t)number(bytes);
    float v;

    memcpy(&v, &bits, sizeof v);
    java_add_float(out, v);
    return 0;
}

static int print_boolean(struct str bytes, struct strbuf *out, struct strbuf *why)
{
    if ((uint8_t)bytes.p[0] > 1) {
        strbuf_addf(why,
                    SERIALIZATION_EXCEPTION "Unexpected byte received by BooleanDeserializer: %d",
                    (int8_t)bytes.p[0]);
        return -EINVAL;
    }
    strbuf_addz(out, bytes.p[0] ? "true" : "false");
    return 0;
}

static int print_void(struct str bytes UNUSED, struct strbuf *out UNUSED, struct strbuf *why)
{
    strbuf_addz(why, "java.lang.IllegalArgumentException: Data should be null for a "
                     "VoidDeserializer.");
    return -EINVAL;
}

static int hex_digit(char c)
{
    return isdigit((unsigned char)c)    ? c - '0'
           : isxdigit((unsigned char)c) ? (c | 0x20) - 'a' + 10
                                        : -1;
}

static bool read_hex(struct str text, uint64_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < text.len; i++) {
        int digit = hex_digit(text.p[i]);
        if (digit < 0)
            return false;
        *ret = *ret << 4 | (uint64_t)digit;
    }
    return text.len > 0 && text.len <= 16;
}

/* Five groups of hexadecimal digits; of each only so many count as the id has room for. */
static int print_uuid(struct str bytes, struct strbuf *out, struct strbuf *why)
{
    static const int widths[] = {8, 4, 4, 4, 12};
    struct str rest = bytes, part;
    uint64_t v[ARRAY_LEN(widths)];
    size_t n = 0;

    while (bytes.len <= 36 && n < ARRAY_LEN(v) && str_split(&rest, '-', &part) &&
           read_hex(part, &v[n]))
        n++;
    if (n < ARRAY_LEN(v) || !str_is_null(rest)) {
        strbuf_addz(why, SERIALIZATION_EXCEPTION "Error parsing data into UUID");
        return -EINVAL;
    }
    for (size_t i = 0; i < n; i++)
        strbuf_addf(out, "%s%0*" PRIx64, i ? "-" : "", widths[i],
                    v[i] & (UINT64_MAX >> (64 - 4 * widths[i])));
    return 0;
}

/* Printable ASCII but the backslash as it is, anything else as \xHH. */
static int print_escaped(struct str bytes, struct strbuf *out, struct strbuf *why UNUSED)
{
    for (size_t i = 0; i < bytes.len; i++) {
        uint8_t c = (uint8_t)bytes.p[i];
        if (c >= ' ' && c <= '~' && c != '\\')
            strbuf_add_char(out, (char)c);
        else
            strbuf_addf(out, "\\x%02X", c);
    }
    return 0;
}

static int print_buffer(struct str bytes, struct strbuf *out, struct strbuf *why UNUSED)
{
    strbuf_addf(out, "java.nio.HeapByteBuffer[pos=0 lim=%zu cap=%zu]", bytes.len, bytes.len);
    return 0;
}

static const struct deserializer known[] = {
    {"StringDeserializer", NULL, 0, print_text},
    {"ByteArrayDeserializer", NULL, 0, print_text},
    {"BytesDeserializer", NULL, 0, print_escaped},
    {"ByteBufferDeserializer", NULL, 0, print_buffer},
    {"LongDeserializer", "LongDeserializer", 8, print_long},
    {"IntegerDeserializer", "IntegerDeserializer", 4, print_int},
    {"ShortDeserializer", "ShortDeserializer", 2, print_short},
    {"DoubleDeserializer", "Deserializer", 8, print_double},
    {"FloatDeserializer", "Deserializer", 4, print_float},
    {"BooleanDeserializer", "BooleanDeserializer", 1, print_boolean},
    {"UUIDDeserializer", NULL, 0, print_uuid},
    {"VoidDeserializer", NULL, 0, print_void},
};

const struct deserializer *deserializer_find(const char *class_name)
{
    static const char package[] = "org.apache.kafka.common.serialization.";

    if (strncmp(class_name, package, sizeof package - 1) != 0)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (strcmp(class_name + sizeof package - 1, known[i].name) == 0)
            return &known[i];
    }
    return NULL;
}

int deserializer_print(const struct deserializer *d, struct str bytes, struct strbuf *out,
                       struct strbuf *why)
{
    if (d->size && bytes.len != d->size) {
        strbuf_addf(why, SERIALIZATION_EXCEPTION "Size of data received by %s is not %zu",
                    d->in_errors, d->size);
        return -EINVAL;
    }
    return d->print(bytes, out, why);
}
