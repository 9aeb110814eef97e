/*
 * fuzz_formatter.c - records of the coordinators' topics, and values for deserializers, as
 * kafka-console-consumer prints them
 *
 * The first byte says which formatter, the second how many bytes of the rest are the key. What
 * cannot be printed has a reason, and of JSON nothing is left behind.
 */
#include "tools/client/formatter.h"

#include <errno.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print_stored(enum record_kind kind, const struct record_text *rec)
{
    struct strbuf out = {0}, why = {0};
    int r = formatter_print_stored(kind, rec, &out, &why);

    assert(r == 0 || (r == -EINVAL && why.len > 0 && out.len == 0));
    assert(out.len == 0 || (out.s[0] == '{' && out.s[out.len - 1] == '}'));
    strbuf_reset(&why);
    strbuf_reset(&out);
    r = formatter_print_old(kind, rec, &out, &why);
    assert(r == 0 || (r == -EINVAL && why.len > 0));
    assert(r < 0 || out.len == 0 || out.s[out.len - 1] == '\n');
    strbuf_deinit(&out);
    strbuf_deinit(&why);
}

static void deserialize(uint8_t which, struct str bytes)
{
    static const char *const names[] = {"String",  "Bytes",   "ByteBuffer", "Long",
                                        "Integer", "Short",   "Double",     "Float",
                                        "UUID",    "Boolean", "Void"};
    struct strbuf name = {0}, out = {0}, why = {0};

    strbuf_addf(&name, "org.apache.kafka.common.serialization.%sDeserializer",
                names[which % ARRAY_LEN(names)]);
    int r = deserializer_print(deserializer_find(name.s), bytes, &out, &why);
    assert(r == 0 || (r == -EINVAL && why.len > 0));
    strbuf_deinit(&name);
    strbuf_deinit(&out);
    strbuf_deinit(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t key_len = MIN((size_t)data[1], size - 2), value_len = size - 2 - key_len;
    const char *bytes = (const char *)data + 2;
    const struct record_text rec = {.topic = "t",
                                    .key = {bytes, key_len},
                                    .value = {value_len ? bytes + key_len : NULL, value_len}};

    if (data[0] < 3)
        print_stored(data[0], &rec);
    else
        deserialize(data[0], (struct str){bytes, size - 2});
    return 0;
}
