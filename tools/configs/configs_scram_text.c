/*
 * configs_scram_text.c - SCRAM credentials as texts: what is typed, and what ZooKeeper keeps
 */
#include "common/base/base64.h"
#include "tools/configs/configs_scram.h"

#include <ctype.h>
#include <errno.h>

/* Java's name of the constant, which some of Kafka's messages have. */
static const char *constant_of(enum scram_mechanism m)
{
    return m == SCRAM_SHA_512 ? "SCRAM_SHA_512" : "SCRAM_SHA_256";
}

/* Cuts "iterations=N," off *text: the digits, null where it does not stand there. */
static struct str take_iterations(const char **text, bool may_be_negative)
{
    static const char key[] = "iterations=";
    const char *p = *text, *start = p + sizeof key - 1;

    if (strncmp(p, key, sizeof key - 1) != 0)
        return STR_NULL;
    p = start;
    p += may_be_negative && *p == '-';
    while (isdigit((unsigned char)*p))
        p++;
    if (*p != ',')
        return STR_NULL;
    *text = p + 1;
    return (struct str){start, (size_t)(p - start)};
}

int scram_parse(enum scram_mechanism m, const char *text, bool for_zookeeper,
                struct scram_given *ret, struct strbuf *why)
{
    static const char key[] = "password=";
    const char *rest = text;
    struct str digits = take_iterations(&rest, !for_zookeeper);

    if (strncmp(rest, key, sizeof key - 1) != 0 || strchr(rest, '\n')) {
        strbuf_addf(why, "Invalid credential property %s=%s", constant_of(m), text);
        return -EINVAL;
    }
    *ret = (struct scram_given){m, SCRAM_ITERATIONS_MIN, str_of(rest + sizeof key - 1)};
    if (str_is_null(digits) || (!for_zookeeper && str_eqz(digits, "-1")))
        return 0;
    if (str_to_i32(digits, INT32_MIN, INT32_MAX, &ret->iterations) < 0) {
        strbuf_addf(why, "For input string: \"%.*s\"", STR_ARG(digits));
        return -EINVAL;
    }
    if (ret->iterations >= SCRAM_ITERATIONS_MIN)
        return 0;
    strbuf_addf(why, "Iterations %d is less than the minimum %d required for %s", ret->iterations,
                SCRAM_ITERATIONS_MIN, for_zookeeper ? constant_of(m) : scram_name((int)m));
    return -EINVAL;
}

static void add_bytes(struct strbuf *out, const char *name, struct slice bytes)
{
    char text[BASE64_TEXT_SIZE(SCRAM_KEY_MAX)];

    assert(bytes.len <= SCRAM_KEY_MAX);
    base64_encode(bytes, text);
    strbuf_addf(out, "%s=%s,", name, text);
}

void scram_print_stored(const struct scram_given *given, struct slice salt, struct strbuf *out)
{
    uint8_t salted[SCRAM_KEY_MAX], stored[SCRAM_KEY_MAX], server[SCRAM_KEY_MAX];
    size_t n = scram_key_size(given->mechanism);

    scram_salted_password(given->mechanism, given->password, salt, given->iterations, salted);
    scram_stored_key(given->mechanism, salted, stored);
    scram_server_key(given->mechanism, salted, server);
    add_bytes(out, "salt", salt);
    add_bytes(out, "stored_key", slice_of(stored, n));
    add_bytes(out, "server_key", slice_of(server, n));
    strbuf_addf(out, "iterations=%d", given->iterations);
}
