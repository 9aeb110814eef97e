/*
 * fuzz_delete_plan.c - the file that klamm delete-records reads, and a line of klamm zk
 *
 * Whatever the bytes, they are understood or refused with a reason; what was understood is sorted,
 * each partition once.
 */
#include "tools/records/delete_plan.h"
#include "tools/shell/zk_text.h"

#include <errno.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str text = {(const char *)data, size};
    struct delete_plan plan;
    struct arena a = {0};
    struct strbuf why = {0}, said = {0};
    struct zk_direct_acls acls;
    char **words;
    int count;

    int r = delete_plan_parse(text, &a, &plan, &why);
    assert(r == 0 || (r == -EINVAL && why.len > 0));
    for (size_t i = 1; r == 0 && i < plan.count; i++)
        assert(!str_eq(plan.v[i - 1].topic, plan.v[i].topic) ||
               plan.v[i - 1].partition < plan.v[i].partition);
    zk_words(text, &a, &words, &count);
    for (int i = 0; i < count; i++) {
        strbuf_reset(&why);
        (void)!zk_path_check(words[i], &why);
        zk_acl_parse(words[i], &a, &acls, &said);
        zk_acl_print(&acls, &said);
    }
    arena_deinit(&a);
    strbuf_deinit(&why);
    strbuf_deinit(&said);
    return 0;
}
