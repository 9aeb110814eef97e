/*
 * configs_parse.c - settings and entities as they stand on the command line of kafka-configs
 */
#include "common/base/mem.h"
#include "tools/base/java.h"
#include "tools/configs/configs.h"

#include <ctype.h>
#include <errno.h>

/* ---- --add-config ---- */

/* Whether p stands outside of brackets: the next one, if there is any, opens. */
static bool is_outside(const char *p)
{
    return p[strcspn(p, "[]")] != ']';
}

/* The separator that ends the part at p, or the end of the text. */
static const char *part_end(const char *p, const char *end, char separator)
{
    while (p < end && !(*p == separator && is_outside(p + 1)))
        p++;
    return p;
}

/* Brackets hold a value together and are not part of it. */
static char *bare_value(struct str s)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] != '[' && s.p[i] != ']')
            strbuf_add_char(&sb, s.p[i]);
    }
    return str_dup(java_trim(strbuf_str(&sb)));
}

/*
 * "key = value" with one '=' outside of brackets. Brackets are looked for up to the end of the
 * part only: it is a text of its own.
 */
static int parse_pair(struct str part, struct props *ret)
{
    CLEANUP(free_p) char *text = str_dup(part);
    const char *end = text + part.len, *eq = part_end(text, end, '=');

    if (eq == end || part_end(eq + 1, end, '=') != end)
        return -EINVAL;
    CLEANUP(free_p) char *key = str_dup(java_trim((struct str){text, (size_t)(eq - text)}));
    CLEANUP(free_p) char *value = bare_value((struct str){eq + 1, (size_t)(end - eq - 1)});
    props_set(ret, key, value);
    return 0;
}

/* Java leaves out empty parts at the end, but an empty text is one empty part. */
static size_t length_without_empty_parts(const char *text)
{
    size_t n = strlen(text);

    while (n > 0 && text[n - 1] == ',' && is_outside(text + n))
        n--;
    return n;
}

int configs_parse_add(const char *text, struct props *ret, struct strbuf *why)
{
    const char *p = text, *end = text + length_without_empty_parts(text);
    int r = *text ? 0 : -EINVAL;

    while (r == 0 && p < end) {
        const char *comma = part_end(p, end, ',');
        r = parse_pair((struct str){p, (size_t)(comma - p)}, ret);
        p = comma + 1;
    }
    if (r < 0)
        strbuf_addz(why, "requirement failed: Invalid entity config: all configs to be added must "
                         "be in the format \"key=val\".");
    return r;
}

int configs_check_keys(const struct props *p, struct strbuf *why)
{
    for (size_t i = 0; i < p->count; i++) {
        for (const char *k = p->v[i].key; *k; k++) {
            if (isascii((unsigned char)*k) && (isalnum((unsigned char)*k) || strchr("._-", *k)))
                continue;
            strbuf_addf(why, "Invalid character found for config key: %s", p->v[i].key);
            return -EINVAL;
        }
    }
    return 0;
}

/* ---- lists of texts ---- */

static void add_text(struct texts *t, const char *text)
{
    t->v[t->count++] = text; /* the callers have made room */
}

bool texts_has(const struct texts *t, const char *text)
{
    for (size_t i = 0; i < t->count; i++) {
        if (strcmp(t->v[i], text) == 0)
            return true;
    }
    return false;
}

struct texts texts_filter(struct arena *a, const struct texts *list, const struct texts *known,
                          bool is_in)
{
    struct texts ret = {arena_new_array(a, const char *, list->count + 1), 0};

    for (size_t i = 0; i < list->count; i++) {
        if (texts_has(known, list->v[i]) == is_in)
            add_text(&ret, list->v[i]);
    }
    return ret;
}

void texts_join(const struct texts *t, const char *separator, struct strbuf *out)
{
    for (size_t i = 0; i < t->count; i++)
        strbuf_addf(out, "%s%s", i ? separator : "", t->v[i]);
}

struct texts props_keys(struct arena *a, const struct props *p)
{
    struct texts ret = {arena_new_array(a, const char *, p->count + 1), 0};

    for (size_t i = 0; i < p->count; i++)
        add_text(&ret, p->v[i].key);
    return ret;
}

/* ---- --delete-config ---- */

/* Empty parts are none, but a text of nothing else is one key. */
static void take_drops(const char *text, struct arena *a, struct texts *ret)
{
    struct str rest = str_of(text), part;
    size_t before = ret->count;

    while (str_split(&rest, ',', &part)) {
        if (part.len)
            add_text(ret, arena_strz(a, java_trim(part)));
    }
    if (ret->count == before)
        add_text(ret, arena_strz(a, java_trim(str_of(text))));
}

void configs_parse_drop(const struct opts *o, struct arena *a, struct texts *ret)
{
    const char *text;
    size_t room = 0;

    for (int i = 0; (text = opts_nth(o, CONFIGS_DELETE, i)); i++)
        room += strlen(text) + 1;
    *ret = (struct texts){arena_new_array(a, const char *, room + 1), 0};
    for (int i = 0; (text = opts_nth(o, CONFIGS_DELETE, i)); i++)
        take_drops(text, a, ret);
}

/* ---- entities ---- */

static const struct {
    int id;
    const char *type;
    bool is_default;
} shortcuts[] = {
    {CONFIGS_TOPIC, TYPE_TOPICS, false},
    {CONFIGS_CLIENT, TYPE_CLIENTS, false},
    {CONFIGS_USER, TYPE_USERS, false},
    {CONFIGS_BROKER, TYPE_BROKERS, false},
    {CONFIGS_LOGGER, TYPE_LOGGERS, false},
    {CONFIGS_IP, TYPE_IPS, false},
    {CONFIGS_CLIENT_DEFAULTS, TYPE_CLIENTS, true},
    {CONFIGS_USER_DEFAULTS, TYPE_USERS, true},
    {CONFIGS_BROKER_DEFAULTS, TYPE_BROKERS, true},
    {CONFIGS_IP_DEFAULTS, TYPE_IPS, true},
};

void configs_entity_types(const struct opts *o, struct arena *a, struct texts *ret)
{
    *ret = (struct texts){arena_new_array(a, const char *, (size_t)o->count + ARRAY_LEN(shortcuts)),
                          0};
    for (int i = 0; i < o->count; i++) {
        if (o->v[i].id == CONFIGS_TYPE)
            add_text(ret, o->v[i].value);
    }
    for (size_t i = 0; i < ARRAY_LEN(shortcuts); i++) {
        if (opts_has(o, shortcuts[i].id))
            add_text(ret, shortcuts[i].type);
    }
}

int configs_entity_names(const struct opts *o, struct arena *a, struct texts *ret,
                         struct strbuf *why)
{
    *ret = (struct texts){arena_new_array(a, const char *, (size_t)o->count + ARRAY_LEN(shortcuts)),
                          0};
    for (int i = 0; i < o->count; i++) {
        if (o->v[i].id == CONFIGS_NAME)
            add_text(ret, o->v[i].value);
        else if (o->v[i].id == CONFIGS_DEFAULT)
            add_text(ret, "");
    }
    for (size_t i = 0; i < ARRAY_LEN(shortcuts); i++) {
        const char *name = "";

        if (!opts_has(o, shortcuts[i].id))
            continue;
        int r = shortcuts[i].is_default ? 0 : opts_text(o, shortcuts[i].id, &name, why);
        if (r < 0)
            return r;
        add_text(ret, name);
    }
    return 0;
}
