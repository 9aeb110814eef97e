/*
 * codec_oracle.c - our half of the codec's comparison with Kafka's own classes
 *
 * CodecOracle.java starts it and asks over stdin, one question at a time, answered on stdout. A
 * question is [i32 length][op i8][name i16 + text][version i16][rest]:
 *
 *   L            nothing else: what messages there are, a line each "NAME MIN MAX FLEXIBLE HEADERS"
 *   E  bytes     decode them and encode the result
 *   M  seed i64  make a random message
 *
 * The answer is [status i32][i32 length, encoded bytes][i32 length, text by codec_print].
 */
#include "common/wire/header.h"

#include "common/base/mem.h"
#include "tests/support/random_msg.h"

#include <errno.h>
#include <stdio.h>

enum { LARGEST_QUESTION = 1 << 24 };

struct answer {
    int status;
    struct slice bytes;
    struct strbuf text;
};

static const struct msg_desc *find_message(struct str name)
{
    for (size_t i = 0; i < ALL_MESSAGES_COUNT; i++)
        if (str_eqz(name, all_messages[i]->name))
            return all_messages[i];
    return NULL;
}

/* Header versions of an API's messages, by version: "1122"; "-" for what has no header. */
static void list_headers(const struct msg_desc *d, struct strbuf *sb)
{
    bool request = d->key >= 0 && api_messages_find(d->key)->request == d;

    if (d->key < 0)
        strbuf_add_char(sb, '-');
    for (int16_t v = d->min_version; d->key >= 0 && v <= d->max_version; v++)
        strbuf_addf(sb, "%d",
                    request ? request_header_version(d->key, v)
                            : response_header_version(d->key, v));
}

static void list_messages(struct answer *out)
{
    for (size_t i = 0; i < ALL_MESSAGES_COUNT; i++) {
        const struct msg_desc *d = all_messages[i];

        strbuf_addf(&out->text, "%s %d %d %d ", d->name, d->min_version, d->max_version,
                    d->flexible_since);
        list_headers(d, &out->text);
        strbuf_add_char(&out->text, '\n');
    }
}

static void encode_and_print(const struct msg_desc *d, int16_t version, const void *msg,
                             struct arena *a, struct answer *out)
{
    struct writer w;

    writer_init(&w, a);
    out->status = codec_encode(d, version, msg, &w);
    if (out->status < 0)
        return;
    out->bytes = writer_flat(&w);
    codec_print(d, version, msg, &out->text);
}

static void answer_one(struct slice question, struct arena *a, struct answer *out)
{
    struct reader r = reader_on(question);
    char op = (char)reader_i8(&r);
    struct str name = str_of_slice(reader_slice(&r, (uint16_t)reader_i16(&r)));
    int16_t version = reader_i16(&r);
    const struct msg_desc *d = find_message(name);

    if (op == 'L') {
        list_messages(out);
        return;
    }
    if (!d) {
        out->status = -ENOENT;
        return;
    }
    void *msg = arena_alloc(a, d->root.size);
    if (op == 'M') {
        struct random_source source = {(uint64_t)reader_i64(&r) | 1};
        random_msg(d, version, &source, a, msg);
    } else {
        out->status = codec_read(d, version, &r, a, msg);
    }
    if (out->status == 0)
        encode_and_print(d, version, msg, a, out);
}

static void put_bytes(struct slice s)
{
    uint8_t len[4];

    be32_write(len, (uint32_t)s.len);
    fwrite(len, 1, sizeof len, stdout);
    if (s.len)
        fwrite(s.p, 1, s.len, stdout);
}

static void put_answer(const struct answer *out)
{
    uint8_t status[4];

    be32_write(status, (uint32_t)out->status);
    fwrite(status, 1, sizeof status, stdout);
    put_bytes(out->bytes);
    put_bytes(slice_of_str(strbuf_str(&out->text)));
    fflush(stdout);
}

int main(void)
{
    uint8_t len[4];

    while (fread(len, 1, sizeof len, stdin) == sizeof len) {
        CLEANUP(arena_deinit) struct arena a = {0};
        struct answer out = {0};
        uint32_t n = be32_read(len);

        if (n > LARGEST_QUESTION)
            return 1;
        /* Of its exact size, so that ASan sees a read past it. */
        CLEANUP(free_p) uint8_t *question = xmalloc(n ? n : 1);
        if (fread(question, 1, n, stdin) != n)
            return 1;
        answer_one(slice_of(question, n), &a, &out);
        put_answer(&out);
        strbuf_deinit(&out.text);
    }
    return 0;
}
