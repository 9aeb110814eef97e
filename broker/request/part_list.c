#include "broker/request/part_list.h"

struct part_list part_list_new(struct arena *a, size_t topics, size_t parts)
{
    return (struct part_list){
        .arena = a,
        .topics = arena_new_array(a, struct part_list_topic, topics),
        .topic_of = arena_new_array(a, int32_t, parts),
    };
}

void part_list_deinit(struct part_list *l)
{
    seen_clear(&l->topic_set);
    seen_clear(&l->part_set);
}

int32_t part_list_add_topic(struct part_list *l, struct str topic)
{
    int32_t at = seen_add(&l->topic_set, l->arena, topic, l->topic_count);

    if (at >= 0)
        return at;
    l->topics[l->topic_count] = (struct part_list_topic){.name = topic};
    return l->topic_count++;
}

int32_t part_list_add(struct part_list *l, struct str topic, int32_t partition)
{
    int32_t *key = arena_new_array(l->arena, int32_t, 2);

    key[0] = part_list_add_topic(l, topic);
    key[1] = partition;
    int32_t at = seen_add(&l->part_set, l->arena, (struct str){(const char *)key, 2 * sizeof *key},
                          l->part_count);
    if (at >= 0)
        return at;
    l->topic_of[l->part_count] = key[0];
    l->topics[key[0]].count++;
    return l->part_count++;
}

void part_list_sort(struct part_list *l)
{
    for (int32_t i = 0; i < l->topic_count; i++) {
        struct part_list_topic *t = &l->topics[i];

        t->at = arena_new_array(l->arena, int32_t, (size_t)t->count);
        t->count = 0;
    }
    for (int32_t i = 0; i < l->part_count; i++) {
        struct part_list_topic *t = &l->topics[l->topic_of[i]];

        t->at[t->count++] = i;
    }
}
