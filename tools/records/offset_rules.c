#include "tools/records/offset_rules.h"

#include "common/base/mem.h"

#include <errno.h>

void offset_rules_deinit(struct offset_rules *r)
{
    for (int i = 0; i < r->count; i++) {
        topic_filter_free(r->v[i].topics);
        free(r->v[i].ids);
    }
    free(r->v);
    *r = (struct offset_rules){0};
}

static struct offset_rule *new_rule(struct offset_rules *r, int max)
{
    if (!r->v)
        r->v = xnew_array(struct offset_rule, (size_t)max);
    r->v[r->count] = (struct offset_rule){.to = INT32_MAX};
    return &r->v[r->count++];
}

/* Java's split() forgets empty parts at the end. */
static struct str without_end(const char *text)
{
    struct str s = str_of(text);

    while (s.len > 0 && s.p[s.len - 1] == ',')
        s.len--;
    return s;
}

static int parse_ids(const char *text, struct offset_rule *rule, struct strbuf *why)
{
    struct str rest = without_end(text), item;

    rule->ids = xnew_array(int32_t, strlen(text) + 1);
    if (rest.len == 0 && *text)
        return 0;
    while (str_split(&rest, ',', &item)) {
        if (str_to_i32(item, INT32_MIN, INT32_MAX, &rule->ids[rule->id_count++]) == 0)
            continue;
        strbuf_addf(why,
                    "--partitions expects a comma separated list of numeric partition ids, but "
                    "received: %s",
                    text);
        return -EINVAL;
    }
    return 0;
}

int offset_rules_of_topic(const char *topic, const char *partitions, struct offset_rules *ret,
                          struct strbuf *why)
{
    struct offset_rule *rule = new_rule(ret, 1);
    int r = topic ? topic_filter_new(topic, &rule->topics, why) : 0;

    return r < 0 || !partitions || !*partitions ? r : parse_ids(partitions, rule, why);
}

/* ---- --topic-partitions ---- */

static int parse_bound(struct str digits, int32_t *ret, struct strbuf *why)
{
    if (digits.len == 0 || str_to_i32(digits, 0, INT32_MAX, ret) == 0)
        return 0;
    strbuf_addf(why, "For input string: \"%.*s\"", STR_ARG(digits));
    return -EINVAL;
}

static bool is_digits(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    }
    return true;
}

static int parse_range(struct str range, struct str whole, struct offset_rule *rule,
                       struct strbuf *why)
{
    const char *dash = memchr(range.p, '-', range.len);
    struct str low = range, high = STR("");

    if (dash) {
        low.len = (size_t)(dash - range.p);
        high = (struct str){dash + 1, range.len - low.len - 1};
    }
    if (!is_digits(low) || !is_digits(high)) {
        strbuf_addf(why, "Invalid rule specification: %.*s", STR_ARG(whole));
        return -EINVAL;
    }
    int r = parse_bound(low, &rule->from, why);
    r = r < 0 ? r : parse_bound(high, &rule->to, why);
    if (r == 0 && !dash && low.len) {
        rule->ids = xnew_array(int32_t, 1);
        rule->ids[rule->id_count++] = rule->from;
    }
    return r;
}

static int parse_rule(struct str text, struct offset_rule *rule, struct strbuf *why)
{
    const char *colon = memchr(text.p, ':', text.len);
    struct str name = text;
    int r = 0;

    if (colon) {
        name.len = (size_t)(colon - text.p);
        r = parse_range((struct str){colon + 1, text.len - name.len - 1}, text, rule, why);
    }
    if (r < 0 || name.len == 0)
        return r;
    CLEANUP(free_p) char *regex = str_dup(name);
    return topic_filter_new(regex, &rule->topics, why);
}

int offset_rules_of_list(const char *text, struct offset_rules *ret, struct strbuf *why)
{
    struct str rest = without_end(text), item;
    int r = 0, max = 1;

    for (const char *p = text; *p; p++)
        max += *p == ',';
    if (rest.len == 0 && *text) /* nothing but commas: no rule at all */
        return 0;
    while (r == 0 && str_split(&rest, ',', &item))
        r = parse_rule(item, new_rule(ret, max), why);
    return r;
}

/* ---- matching ---- */

static bool match_one(const struct offset_rule *rule, struct str topic, int32_t partition)
{
    if (partition < rule->from || partition >= rule->to)
        return false;
    if (rule->topics && !topic_filter_match(rule->topics, topic))
        return false;
    for (int i = 0; i < rule->id_count; i++) {
        if (rule->ids[i] == partition)
            return true;
    }
    return rule->ids == NULL;
}

bool offset_rules_match(const struct offset_rules *r, struct str topic, int32_t partition)
{
    for (int i = 0; i < r->count; i++) {
        if (match_one(&r->v[i], topic, partition))
            return true;
    }
    return false;
}

struct str offset_rules_literal(const struct offset_rules *r)
{
    return r->count == 1 && r->v[0].topics ? topic_filter_literal(r->v[0].topics) : STR_NULL;
}

int offset_time(const char *text, int64_t *ret, struct strbuf *why)
{
    static const char *const names[] = {"latest", "earliest", "max-timestamp", "earliest-local",
                                        "latest-tiered"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(text, names[i]) == 0) {
            *ret = -1 - (int64_t)i;
            return 0;
        }
    }
    if (str_to_i64(str_of(text), INT64_MIN, INT64_MAX, ret) == 0)
        return 0;
    strbuf_addf(why,
                "Malformed time argument %s. Please use -1 or latest / -2 or earliest / -3 or "
                "max-timestamp / -4 or earliest-local / -5 or latest-tiered, or a specified long "
                "format timestamp",
                text);
    return -EINVAL;
}
