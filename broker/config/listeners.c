#include "broker/config/listeners.h"

#include "common/base/mem.h"

#include <ctype.h>
#include <errno.h>

/* As Kafka begins what it requires. */
#define REQUIRED "requirement failed: "

static const char *const protocol_names[] = {"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"};

const char *security_protocol_name(enum security_protocol p)
{
    return protocol_names[p];
}

static char *upper(struct str s)
{
    char *copy = str_dup(s);

    for (char *c = copy; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return copy;
}

int security_protocol_parse(struct str name, enum security_protocol *ret)
{
    CLEANUP(free_p) char *wanted = upper(name);

    for (size_t i = 0; i < ARRAY_LEN(protocol_names); i++) {
        if (strcmp(wanted, protocol_names[i]) == 0) {
            *ret = (enum security_protocol)i;
            return 0;
        }
    }
    return -EINVAL;
}

static void listener_deinit(struct listener_conf *l)
{
    free(l->name);
    free(l->host);
    free(l->advertised_host);
}

void listeners_deinit(struct listeners *l)
{
    for (int i = 0; i < l->count; i++)
        listener_deinit(&l->v[i]);
    free(l->v);
    *l = (struct listeners){0};
}

const struct listener_conf *listeners_find(const struct listeners *l, struct str name)
{
    for (int i = 0; i < l->count; i++) {
        if (str_eqz(name, l->v[i].name))
            return &l->v[i];
    }
    return NULL;
}

const struct listener_conf *listeners_inter_broker(const struct listeners *l)
{
    for (int i = 0; i < l->count; i++) {
        if (l->v[i].is_inter_broker)
            return &l->v[i];
    }
    return NULL;
}

const struct listener_conf *listeners_control_plane(const struct listeners *l)
{
    for (int i = 0; i < l->count; i++) {
        if (l->v[i].is_control_plane)
            return &l->v[i];
    }
    return NULL;
}

/* NAME://host:port, the host possibly in brackets. */
static int split_endpoint(struct str text, struct str *ret_name, struct str *ret_host,
                          int *ret_port)
{
    const char *sep = text.len ? memmem(text.p, text.len, "://", 3) : NULL;
    const char *colon = text.len ? memrchr(text.p, ':', text.len) : NULL;

    if (!sep || sep == text.p || colon < sep + 3)
        return -EINVAL;
    *ret_name = (struct str){text.p, (size_t)(sep - text.p)};
    struct str host = {sep + 3, (size_t)(colon - sep - 3)};
    struct str port = {colon + 1, (size_t)(text.p + text.len - colon - 1)};
    if (host.len >= 2 && host.p[0] == '[' && host.p[host.len - 1] == ']')
        host = (struct str){host.p + 1, host.len - 2};
    for (size_t i = 0; i < host.len; i++) {
        if (!isalnum((unsigned char)host.p[i]) && !strchr("-%._:", host.p[i]))
            return -EINVAL;
    }
    *ret_host = host;
    return str_to_i32(port, 0, 65535, ret_port);
}

/* The protocol that the map gives a listener's name. */
static int protocol_of(const char *map, const char *list, const char *name,
                       enum security_protocol *ret, struct strbuf *why)
{
    struct str rest = str_of(map), item, key;

    while (str_split(&rest, ',', &item)) {
        struct str value = str_trim(item);

        if (!str_split(&value, ':', &key))
            continue;
        CLEANUP(free_p) char *map_name = upper(str_trim(key));
        if (strcmp(map_name, name) != 0)
            continue;
        if (str_is_null(value) || security_protocol_parse(str_trim(value), ret) < 0) {
            strbuf_addf(why,
                        "listener.security.protocol.map: %.*s names no known security protocol",
                        STR_ARG(item));
            return -EINVAL;
        }
        return 0;
    }
    strbuf_addf(why,
                "Error creating broker listeners from '%s': No security protocol defined for "
                "listener %s",
                list, name);
    return -EINVAL;
}

static int refuse_item(const char *list, struct str item, struct strbuf *why)
{
    strbuf_addf(why,
                "Error creating broker listeners from '%s': Unable to parse %.*s to a broker "
                "endpoint",
                list, STR_ARG(item));
    return -EINVAL;
}

static int add_listener(const struct listeners_text *text, struct str item, struct listeners *ret,
                        struct strbuf *why)
{
    struct listener_conf l = {0};
    struct str name, host;

    if (split_endpoint(item, &name, &host, &l.port) < 0)
        return refuse_item(text->listeners, item, why);
    l.name = upper(name);
    l.host = str_dup(host);
    l.advertised_host = xstrdup("");
    ret->v = xreallocarray(ret->v, (size_t)ret->count + 1, sizeof *ret->v);
    ret->v[ret->count++] = l;
    for (int i = 0; i < ret->count - 1; i++) {
        if (strcmp(ret->v[i].name, l.name) == 0) {
            strbuf_addf(why, REQUIRED "Each listener must have a different name, listeners: %s",
                        text->listeners);
            return -EINVAL;
        }
        if (l.port && ret->v[i].port == l.port && strcmp(ret->v[i].host, l.host) == 0) {
            strbuf_addf(why, REQUIRED "Each listener must have a different port, listeners: %s",
                        text->listeners);
            return -EINVAL;
        }
    }
    return protocol_of(text->listener_security_protocol_map, text->listeners, l.name,
                       &ret->v[ret->count - 1].protocol, why);
}

static const struct listener_conf *find(const struct listeners *ls, struct str name)
{
    CLEANUP(free_p) char *wanted = upper(name);

    return listeners_find(ls, str_of(wanted));
}

static int advertise(const struct listeners_text *text, struct str item, struct listeners *ls,
                     struct strbuf *why)
{
    const char *list = text->advertised_listeners;
    enum security_protocol protocol;
    struct str name, host;
    int port;

    if (split_endpoint(item, &name, &host, &port) < 0)
        return refuse_item(list, item, why);
    CLEANUP(free_p) char *wanted = upper(name);
    int r = protocol_of(text->listener_security_protocol_map, list, wanted, &protocol, why);
    struct listener_conf *l = (struct listener_conf *)(uintptr_t)find(ls, name);
    if (r < 0 || !l)
        return r; /* told below, where it is compared with the listeners */
    if (str_eqz(host, "0.0.0.0")) {
        strbuf_addz(why, REQUIRED "advertised.listeners cannot use the nonroutable meta-address "
                                  "0.0.0.0. Use a routable IP address.");
        return -EINVAL;
    }
    free(l->advertised_host);
    l->advertised_host = str_dup(host);
    l->advertised_port = port;
    l->is_advertised = true;
    return 0;
}

/* The names of a list of endpoints, with commas between. */
static void add_names(const char *list, struct strbuf *out)
{
    struct str rest = str_of(list), item, name;
    const char *between = "";

    while (str_split(&rest, ',', &item)) {
        item = str_trim(item);
        str_split(&item, ':', &name);
        CLEANUP(free_p) char *shown = upper(name);
        strbuf_addf(out, "%s%s", between, shown);
        between = ",";
    }
}

static int check_advertised(const struct listeners_text *text, const struct listeners *ls,
                            struct strbuf *why)
{
    struct str rest = str_of(text->advertised_listeners), item, name;

    while (str_split(&rest, ',', &item)) {
        item = str_trim(item);
        str_split(&item, ':', &name);
        if (find(ls, name))
            continue;
        strbuf_addz(why, REQUIRED "advertised.listeners listener names must be equal to or a "
                                  "subset of the ones defined in listeners. Found ");
        add_names(text->advertised_listeners, why);
        strbuf_addz(why, ". The valid options based on the current configuration are ");
        add_names(text->listeners, why);
        return -EINVAL;
    }
    return 0;
}

static int each_item(const struct listeners_text *text, bool is_advertised, struct listeners *ls,
                     struct strbuf *why)
{
    struct str rest = str_of(is_advertised ? text->advertised_listeners : text->listeners), item;

    while (str_split(&rest, ',', &item)) {
        item = str_trim(item);
        int r = is_advertised ? advertise(text, item, ls, why) : add_listener(text, item, ls, why);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Without advertised.listeners each listener is told to clients as it stands. */
static int advertise_all(struct listeners *ls, struct strbuf *why)
{
    for (int i = 0; i < ls->count; i++) {
        struct listener_conf *l = &ls->v[i];

        if (strcmp(l->host, "0.0.0.0") == 0) {
            strbuf_addf(why,
                        "listeners has 0.0.0.0 for %s, which cannot be told to clients: set "
                        "advertised.listeners "
                        "to an address they can reach",
                        l->name);
            return -EINVAL;
        }
        free(l->advertised_host);
        l->advertised_host = xstrdup(l->host);
        l->advertised_port = l->port;
        l->is_advertised = true;
    }
    return 0;
}

static bool is_named(const char *list, const char *wanted)
{
    struct str rest = str_of(list), item, name;

    while (str_split(&rest, ',', &item)) {
        item = str_trim(item);
        str_split(&item, ':', &name);
        CLEANUP(free_p) char *shown = upper(name);
        if (strcmp(shown, wanted) == 0)
            return true;
    }
    return false;
}

static int mark_inter_broker(const struct listeners_text *text, struct listeners *ls,
                             struct strbuf *why)
{
    const char *given = text->inter_broker_listener_name;

    if (given && text->is_protocol_set) {
        strbuf_addz(why, "Only one of inter.broker.listener.name and "
                         "security.inter.broker.protocol should be set.");
        return -EINVAL;
    }
    CLEANUP(free_p)
    char *name = upper(str_of(given ? given : text->security_inter_broker_protocol));
    const char *told = text->advertised_listeners ? text->advertised_listeners : text->listeners;
    struct listener_conf *l = (struct listener_conf *)(uintptr_t)listeners_find(ls, str_of(name));
    if (!is_named(told, name)) {
        strbuf_addz(why, REQUIRED "inter.broker.listener.name must be a listener name defined in "
                                  "advertised.listeners. The valid options based on currently "
                                  "configured listeners are ");
        add_names(told, why);
        return -EINVAL;
    }
    if (!l) /* advertised, and not there */
        return 0;
    l->is_inter_broker = true;
    return 0;
}

static int mark_control_plane(const struct listeners_text *text, struct listeners *ls,
                              struct strbuf *why)
{
    if (!text->control_plane_listener_name)
        return 0;
    CLEANUP(free_p) char *name = upper(str_of(text->control_plane_listener_name));
    struct listener_conf *l = (struct listener_conf *)(uintptr_t)listeners_find(ls, str_of(name));
    if (!l || !l->is_advertised) {
        strbuf_addf(why,
                    "control.plane.listener.name must be a listener name defined in "
                    "advertised.listeners; %s is not",
                    name);
        return -EINVAL;
    }
    if (l->is_inter_broker) {
        strbuf_addf(why,
                    "control.plane.listener.name, when defined, should have a different value from "
                    "the inter broker "
                    "listener name %s",
                    name);
        return -EINVAL;
    }
    l->is_control_plane = true;
    return 0;
}

int listeners_parse(const struct listeners_text *text, struct listeners *ret, struct strbuf *why)
{
    CLEANUP(listeners_deinit) struct listeners ls = {0};
    int r = each_item(text, false, &ls, why);

    if (r == 0)
        r = text->advertised_listeners ? each_item(text, true, &ls, why) : advertise_all(&ls, why);
    if (r == 0)
        r = mark_inter_broker(text, &ls, why);
    if (r == 0 && text->advertised_listeners)
        r = check_advertised(text, &ls, why);
    if (r == 0)
        r = mark_control_plane(text, &ls, why);
    if (r == 0)
        *ret = MOVE(ls);
    return r;
}
