/*
 * fuzz_dynamic_conf.c - what ZooKeeper holds for brokers: /config/brokers/<default> and ID as JSON,
 * sealed passwords in it, and what becomes of it at start
 *
 * The bytes before the first NUL are for all brokers, those behind it for this one. Whatever they
 * are, there is a configuration afterwards, no password is in the log, and passwords that were
 * understood are the same when sealed and opened again.
 */
#include "broker/config/live_conf.h"
#include "broker/config/passwords.h"
#include "common/base/mem.h"
#include "common/base/say.h"
#include "zk/node_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char file_text[] =
    "broker.id=1\nzookeeper.connect=z:1\nlog.retention.hours=3\n"
    "password.encoder.secret=s3cret\npassword.encoder.iterations=1024\n";

static struct broker_conf *file;

static void load_file(void)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct props props = {0};
    int line, r;

    say_set_level(SAY_FATAL);
    r = props_parse(&props, str_of(file_text), &line);
    assert(r == 0);
    r = broker_conf_from_props(&props, &file, &why);
    assert(r == 0);
}

/* As broker_configs.c does. */
static void take(struct slice json, struct props *ret)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct node_config node = {0};
    struct node_why why;

    if (node_config_decode(json, &a, &why, &node) < 0)
        return;
    for (int32_t i = 0; i < MIN(node.count, (int32_t)BROKER_SETTINGS_MAX); i++)
        props_set(ret, arena_strz(&a, node.entries[i].key), arena_strz(&a, node.entries[i].value));
    passwords_decode(file, ret);
}

static void check_origins(const struct conf_snapshot *s, const struct props *p)
{
    for (size_t i = 0; i < p->count; i++) {
        struct origin o[ORIGINS_MAX];
        size_t n = broker_origins(s, p->v[i].key, o);

        assert(n > 0 && n <= ORIGINS_MAX && strcmp(o[0].name, p->v[i].key) == 0);
    }
}

static void check_passwords(const struct props *p)
{
    CLEANUP(props_deinit) struct props copy = {0};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};

    props_add(&copy, p);
    int r = passwords_encode(file, &copy, &why);
    assert(r == 0);
    passwords_decode(file, &copy);
    assert(props_equal(&copy, p));
}

/* Many rounds of the key's derivation are allowed, and take time. */
static bool is_slow(const uint8_t *data, size_t size)
{
    static const char name[] = "iterations:";
    size_t n = sizeof name - 1;

    for (size_t i = 0; i + n + 5 < size; i++) {
        if (memcmp(data + i, name, n) == 0 && data[i + n + 4] >= '0' && data[i + n + 4] <= '9')
            return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct props own = {0}, common = {0};
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    size_t first = end ? (size_t)(end - data) : size;

    if (!file)
        load_file();
    if (size == 0 || is_slow(data, size))
        return 0;
    take(slice_of(data, first), &common);
    take(slice_of(data + first + (end != NULL), size - first - (end != NULL)), &own);
    struct live_conf *l = live_conf_new(file);
    int r = live_conf_set(l, &own, &common, &why);
    assert(r == 0);
    const struct conf_snapshot *now = live_conf_get(l);
    assert(now->conf && now->conf->topic_defaults);
    check_origins(now, &now->own);
    check_passwords(&now->own);
    conf_snapshot_put(now);
    live_conf_free(l);
    return 0;
}
