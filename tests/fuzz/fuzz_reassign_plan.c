/*
 * fuzz_reassign_plan.c - the files that klamm reassign reads: plans and lists of topics
 *
 * Whatever the bytes, a plan is understood or refused with a reason; what was understood is sorted,
 * each partition once, and can be printed.
 */
#include "tools/reassign/reassign.h"

#include <errno.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct plan *p, struct arena *a)
{
    struct strbuf text = {0}, why = {0};
    struct dir_moves moves;
    int r = plan_check(p, &why);

    assert(r == 0 || (r == -EINVAL && why.len > 0));
    plan_sort(p);
    for (size_t i = 1; i < p->count; i++)
        assert(plan_order(p->v[i - 1].topic, p->v[i - 1].partition, p->v[i].topic,
                          p->v[i].partition) < 0);
    for (size_t i = 0; i < p->count; i++)
        assert(plan_find(p, p->v[i].topic, p->v[i].partition) == &p->v[i]);
    plan_moves(p, a, &moves);
    plan_print(p, &text);
    assert(text.len > 0);
    strbuf_deinit(&text);
    strbuf_deinit(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str json = {(const char *)data, size};
    struct arena a = {0};
    struct strbuf why = {0};
    struct str *topics;
    struct plan plan;
    size_t count;

    int r = plan_parse(json, &a, &plan, &why);
    assert(r == 0 || (r == -EINVAL && why.len > 0));
    if (r == 0)
        check(&plan, &a);
    strbuf_reset(&why);
    r = plan_parse_topics(json, &a, &topics, &count, &why);
    assert(r == 0 || (r == -EINVAL && why.len > 0));
    arena_deinit(&a);
    strbuf_deinit(&why);
    return 0;
}
