#include "broker/meta/config_edit.h"

#include "common/base/err.h"
#include "common/base/mem.h"

struct items {
    struct str *v;
    size_t count;
};

/* As Java splits: empty items at the end do not count, but an empty text is one empty item. */
static struct items split(struct arena *a, struct str text)
{
    struct items items = {arena_new_array(a, struct str, text.len + 1), 0};
    struct str rest = text, item;

    while (str_split(&rest, ',', &item))
        items.v[items.count++] = item;
    while (items.count > 0 && items.v[items.count - 1].len == 0 && text.len > 0)
        items.count--;
    return items;
}

static size_t find(const struct items *items, struct str item)
{
    for (size_t i = 0; i < items->count; i++) {
        if (str_eq(items->v[i], item))
            return i;
    }
    return items->count;
}

static void append(struct items *to, const struct items *more, struct arena *a)
{
    struct items all = {arena_new_array(a, struct str, to->count + more->count), to->count};

    memcpy(all.v, to->v, to->count * sizeof *to->v);
    for (size_t i = 0; i < more->count; i++) {
        if (find(to, more->v[i]) == to->count)
            all.v[all.count++] = more->v[i];
    }
    *to = all;
}

static void subtract(struct items *from, const struct items *less)
{
    for (size_t i = 0; i < less->count; i++) {
        size_t at = find(from, less->v[i]);

        if (at == from->count)
            continue;
        memmove(&from->v[at], &from->v[at + 1], (from->count - at - 1) * sizeof *from->v);
        from->count--;
    }
}

static void set_list(struct props *p, const char *key, const struct items *items)
{
    CLEANUP(strbuf_deinit) struct strbuf sb = {0};

    for (size_t i = 0; i < items->count; i++)
        strbuf_addf(&sb, "%s%.*s", i ? "," : "", STR_ARG(items->v[i]));
    props_set(p, key, sb.s ? sb.s : "");
}

static void change_list(const struct config_edit *e, const struct conf_option *o, struct props *p,
                        struct arena *a)
{
    const char *given = props_get(p, o->key);
    struct str old = str_of(given ? given : o->default_text ? o->default_text : "");
    struct items items = split(a, old), change = split(a, e->value);

    if (e->op == CONFIG_OP_SUBTRACT) {
        subtract(&items, &change);
    } else {
        if (old.len == 0)
            items.count = 0;
        append(&items, &change, a);
    }
    set_list(p, o->key, &items);
}

int16_t config_edit_apply(const struct config_edit *e, struct config_keys keys, struct props *p,
                          struct arena *a, struct str *ret_message)
{
    CLEANUP(free_p) char *key = str_dup(e->key);
    CLEANUP(free_p) char *value = str_dup(e->value);
    const struct conf_option *o = conf_find(keys.options, keys.count, e->key);

    if (e->op == CONFIG_OP_SET) {
        props_set(p, key, value);
        return NONE;
    }
    if (e->op == CONFIG_OP_DELETE) {
        props_remove(p, key);
        return NONE;
    }
    if ((e->op != CONFIG_OP_APPEND && e->op != CONFIG_OP_SUBTRACT) || !o)
        return UNKNOWN_SERVER_ERROR;
    if (o->type != CONF_LIST) {
        *ret_message = arena_printf(a, "Config value %s is not allowed for config key: %s",
                                    e->op == CONFIG_OP_APPEND ? "append" : "subtract", o->key);
        return INVALID_CONFIG;
    }
    change_list(e, o, p, a);
    return NONE;
}
