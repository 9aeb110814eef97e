/*
 * join_judge.c - all judges, in the order in which their findings are read best
 */
#include "tools/join/join.h"

void join_judge(const struct join_facts *f, struct join_findings *ret)
{
    static void (*const judges[])(const struct join_facts *, struct join_findings *) = {
        join_judge_zk,   join_judge_nodes,  join_judge_conf,    join_judge_dynamic,
        join_judge_live, join_judge_dirs,   join_judge_brokers, join_judge_replicas,
        join_judge_logs, join_judge_topics,
    };

    for (size_t i = 0; i < ARRAY_LEN(judges); i++)
        judges[i](f, ret);
    join_sort(ret);
}
