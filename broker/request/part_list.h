/*
 * part_list.h - partitions that a request names, each once, by topic
 *
 * As Kafka keeps them in a map: a partition that is named again is the same one, and a topic
 * without partitions is not there.
 *
 *   struct part_list CLEANUP(part_list_deinit) l = part_list_new(a, topics, partitions);
 *   at = part_list_add(&l, topic, partition);   -- in a list of the caller's, at most l.part_count
 *   part_list_sort(&l);                         -- l.topics say which places are theirs
 *
 * What it points to lies in the request's arena, and names are borrowed.
 */
#pragma once

#include "broker/request/seen.h"

struct part_list_topic {
    struct str name;
    int32_t count;
    int32_t *at; /* places of its partitions, in the order in which they were named */
};

struct part_list {
    struct arena *arena;
    struct seen *topic_set, *part_set;
    struct part_list_topic *topics; /* in the order in which they were named */
    int32_t topic_count;
    int32_t *topic_of; /* by place */
    int32_t part_count;
};

/* Room for so many names. */
struct part_list part_list_new(struct arena *a, size_t topics, size_t parts);
/* Frees the tables; the lists stay. */
void part_list_deinit(struct part_list *l);

/* A topic that is to be there even without a partition: its place in topics. */
int32_t part_list_add_topic(struct part_list *l, struct str topic);
/* The partition's place: part_count before the call where it is new. */
int32_t part_list_add(struct part_list *l, struct str topic, int32_t partition);
/* Fills the topics' places. */
void part_list_sort(struct part_list *l);
