/*
 * fuzz_tool_texts.c - what users type or keep in files: settings, credentials, partitions
 *
 * The first byte says which. What was taken must be within bounds, and in its order.
 */
#include "broker/storage/partition_metadata.h"
#include "common/base/mem.h"
#include "tools/base/java.h"
#include "tools/configs/configs.h"
#include "tools/configs/configs_scram.h"
#include "tools/elect/elect.h"
#include "tools/join/join.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void settings(const char *text)
{
    CLEANUP(props_deinit) struct props p = {0};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    if (configs_parse_add(text, &p, &why) < 0 || configs_check_keys(&p, &why) < 0) {
        assert(why.len > 0);
        return;
    }
    size_t count = p.count;
    java_properties_sort(&p);
    assert(p.count == count);
    for (size_t i = 0; i < p.count; i++)
        assert(props_get(&p, p.v[i].key) == p.v[i].value && !strpbrk(p.v[i].value, "[]"));
}

static void credential(const char *text)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct scram_given given;

    for (int for_zookeeper = 0; for_zookeeper < 2; for_zookeeper++) {
        if (scram_parse(SCRAM_SHA_256, text, for_zookeeper, &given, &why) == 0)
            assert(given.iterations >= SCRAM_ITERATIONS_MIN &&
                   given.password.p + given.password.len == text + strlen(text));
    }
}

static void partitions(struct str text)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct elect_parts p = {0};

    if (elect_parse(text, &a, &p, &why) < 0) {
        assert(why.len > 0);
        return;
    }
    elect_sort(&p);
    for (size_t i = 1; i < p.count; i++)
        assert(p.v[i].partition != p.v[i - 1].partition || !str_eq(p.v[i].topic, p.v[i - 1].topic));
}

static void number(const char *text)
{
    CLEANUP(strbuf_deinit) struct strbuf back = {0};
    double v, again;

    if (java_parse_double(str_of(text), &v) < 0)
        return;
    java_double(v, &back);
    int r = java_parse_double(strbuf_str(&back), &again);
    assert(r == 0 && (again == v || (again != again && v != v)));
}

/* What is printed of it has nothing in it that a terminal obeys, and is the same when it is cleaned
 * once more. */
static void finding(struct str text)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct str clean = join_clean(&a, text);

    assert(clean.len <= JOIN_TEXT_MAX + 20);
    for (size_t i = 0; i < clean.len; i++)
        assert((uint8_t)clean.p[i] >= 0x20 && clean.p[i] != 0x7f);
    assert(clean.len > JOIN_TEXT_MAX || str_eq(join_clean(&a, clean), clean));
}

static void connect_string(struct str text)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const struct why_texts servers = join_servers_of(&a, text);

    assert(servers.count <= 32);
    for (size_t i = 0; i < servers.count; i++)
        assert(servers.v[i].len > 0 && servers.v[i].len <= text.len);
}

static void partition_metadata(struct str text)
{
    struct uuid id;

    if (partition_metadata_parse(text, &id) == 0)
        assert(!uuid_is_zero(id));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct str text = {(const char *)data + 1, size - 1};
    CLEANUP(free_p) char *z = str_dup(text);

    switch (data[0]) {
    case 's':
        settings(z);
        break;
    case 'c':
        credential(z);
        break;
    case 'n':
        number(z);
        break;
    case 'f':
        finding(text);
        break;
    case 'z':
        connect_string(str_of(z));
        break;
    case 'm':
        partition_metadata(text);
        break;
    default:
        partitions(text);
    }
    return 0;
}
