/*
 * fuzz_reset_plan.c - the CSV files that klamm groups --from-file reads
 *
 * Whatever the bytes, a plan is understood or refused with a reason, as Kafka's tool reads it and
 * as our own does. What was understood is sorted, each partition of a group once; what our own
 * understood is the same again once it has been written.
 */
#include "tools/groups/groups_plan.h"

#include <errno.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_order(const struct reset_plan *p)
{
    for (size_t i = 1; i < p->count; i++) {
        int r = str_cmp(p->v[i - 1].group, p->v[i].group);
        assert(r < 0 || (r == 0 && part_order(&p->v[i - 1].part, &p->v[i].part) < 0));
    }
    for (size_t i = 0; i < p->count; i++) {
        size_t n;
        const struct plan_line *lines = reset_plan_of(p, p->v[i].group, &n);
        assert(lines <= &p->v[i] && &p->v[i] < lines + n);
    }
}

static void write_plan(const struct reset_plan *p, struct strbuf *out)
{
    for (size_t i = 0; i < p->count; i++) {
        if (!str_is_null(p->v[i].group)) {
            csv_add(out, p->v[i].group);
            strbuf_add_char(out, ',');
        }
        csv_add(out, p->v[i].part.topic);
        strbuf_addf(out, ",%d,%lld\n", p->v[i].part.partition, (long long)p->v[i].offset);
    }
}

/* Names that a line feed or a quote can tear apart are left out: Kafka has none such. */
static bool is_plain(const struct reset_plan *p)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct str names[] = {p->v[i].group, p->v[i].part.topic};
        for (int k = 0; k < 2; k++) {
            struct str trimmed = str_trim(names[k]);
            if (trimmed.len != names[k].len ||
                (names[k].len && memchr(names[k].p, '\r', names[k].len)))
                return false;
        }
        if (!str_is_null(p->v[i].group) && p->v[i].group.len == 0)
            return false;
    }
    return true;
}

static void check_again(const struct reset_plan *p, const struct reset_plan_opts *opts,
                        struct arena *a)
{
    struct strbuf text = {0}, why = {0};
    struct reset_plan again;

    write_plan(p, &text);
    int r = reset_plan_parse(strbuf_str(&text), opts, a, &again, &why);
    assert(r == 0 && again.count == p->count);
    for (size_t i = 0; i < p->count; i++) {
        assert(str_cmp(again.v[i].group, p->v[i].group) == 0);
        assert(part_order(&again.v[i].part, &p->v[i].part) == 0);
        assert(again.v[i].offset == p->v[i].offset);
    }
    strbuf_deinit(&text);
    strbuf_deinit(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int i = 0; i < 4; i++) {
        const struct reset_plan_opts opts = {.as_kafka = i & 1, .is_single = i & 2};
        struct strbuf why = {0};
        struct arena a = {0};
        struct reset_plan p;
        int r = reset_plan_parse((struct str){(const char *)data, size}, &opts, &a, &p, &why);

        assert(r == 0 || (r == -EINVAL && why.len > 0));
        if (r == 0)
            check_order(&p);
        if (r == 0 && !opts.as_kafka && is_plain(&p))
            check_again(&p, &opts, &a);
        arena_deinit(&a);
        strbuf_deinit(&why);
    }
    return 0;
}
