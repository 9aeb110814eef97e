/*
 * topics_print.c - topics as Kafka's tool prints them, as tables, as JSON
 */
#include "common/base/mem.h"
#include "tools/base/table.h"
#include "tools/topics/topics.h"

#include <jansson.h>

static json_t *text_of(struct str s)
{
    return str_is_null(s) ? json_null() : json_stringn(s.p, s.len);
}

static void print_json(json_t *v)
{
    json_dumpf(v, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(v);
}

/* ---- list ---- */

static void print_list_table(const struct metadata_response_topic *const *topics, int32_t count)
{
    CLEANUP(table_deinit) struct table table = {0};

    table_add(&table, "TOPIC", false);
    table_add(&table, "PARTITIONS", true);
    table_add(&table, "REPLICAS", true);
    for (int32_t i = 0; i < count; i++) {
        const struct metadata_response_topic *topic = topics[i];
        table_cell(&table, "%.*s", STR_ARG(topic->name));
        table_cell(&table, "%d", topic->partitions_count);
        table_cell(&table, "%d",
                   topic->partitions_count ? topic->partitions[0].replica_nodes_count : 0);
    }
    table_print(&table, stdout);
}

void topics_print_list(const struct topics *t, const struct metadata_response_topic *const *topics,
                       int32_t count)
{
    if (t->output == OUTPUT_TABLE) {
        print_list_table(topics, count);
        return;
    }
    if (t->output == OUTPUT_JSON) {
        json_t *list = json_array();
        for (int32_t i = 0; i < count; i++)
            json_array_append_new(list, text_of(topics[i]->name));
        print_json(list);
        return;
    }
    for (int32_t i = 0; i < count; i++)
        printf("%s%.*s", i ? "\n" : "", STR_ARG(topics[i]->name));
    putchar('\n');
}

/* ---- which lines ---- */

static bool wants_all(const struct topics_report *r)
{
    return !r->under_replicated && !r->unavailable && !r->under_min_isr && !r->at_min_isr;
}

static bool wants_partition(const struct topics_topic *topic, const struct topics_partition *p,
                            const struct topics_report *r)
{
    int32_t isr = p->meta->isr_nodes_count;

    return wants_all(r) || (r->under_replicated && p->replication_factor > isr) ||
           (r->unavailable && p->leader < 0) ||
           (r->under_min_isr && (p->leader < 0 || isr < topic->min_isr)) ||
           (r->at_min_isr && isr == topic->min_isr);
}

static bool wants_topic(const struct topics_topic *topic, const struct topics_report *r)
{
    return wants_all(r) && (!r->overrides || topic->config_count > 0);
}

static int32_t replication_factor(const struct topics_topic *topic)
{
    return topic->partition_count ? topic->partitions[0].replication_factor : 0;
}

/* ---- as Kafka's tool ---- */

static void print_ids(const char *label, const int32_t *ids, int32_t count)
{
    fputs(label, stdout);
    for (int32_t i = 0; i < count; i++)
        printf("%s%d", i ? "," : "", ids[i]);
}

static void print_topic_line(const struct topics_topic *topic)
{
    char id[UUID_TEXT_LEN + 1];

    printf("Topic: %.*s", STR_ARG(topic->meta->name));
    if (!uuid_is_zero(topic->meta->topic_id)) {
        uuid_to_text(topic->meta->topic_id, id);
        printf("\tTopicId: %s", id);
    }
    printf("\tPartitionCount: %d\tReplicationFactor: %d\tConfigs: ", topic->partition_count,
           replication_factor(topic));
    for (int32_t i = 0; i < topic->config_count; i++) {
        const struct topics_config *c = &topic->configs[i];
        struct str value = str_is_null(c->value) ? STR("null") : c->value;
        printf("%s%.*s=%.*s", i ? "," : "", STR_ARG(c->name), STR_ARG(value));
    }
    putchar('\n');
}

static void print_partition_line(const struct topics_topic *topic, const struct topics_partition *p)
{
    printf("\tTopic: %.*s\tPartition: %d\tLeader: ", STR_ARG(topic->meta->name),
           p->meta->partition_index);
    if (p->leader < 0)
        fputs("none", stdout);
    else
        printf("%d", p->leader);
    print_ids("\tReplicas: ", p->meta->replica_nodes, p->meta->replica_nodes_count);
    print_ids("\tIsr: ", p->meta->isr_nodes, p->meta->isr_nodes_count);
    if (p->move) {
        print_ids("\tAdding Replicas: ", p->move->adding_replicas, p->move->adding_replicas_count);
        print_ids("\tRemoving Replicas: ", p->move->removing_replicas,
                  p->move->removing_replicas_count);
    }
    fputs("\tElr: N/A\tLastKnownElr: N/A\n", stdout);
}

static void print_kafka(const struct topics_topic *topics, int32_t count,
                        const struct topics_report *report)
{
    for (int32_t i = 0; i < count; i++) {
        if (wants_topic(&topics[i], report))
            print_topic_line(&topics[i]);
        for (int32_t k = 0; !report->overrides && k < topics[i].partition_count; k++) {
            if (wants_partition(&topics[i], &topics[i].partitions[k], report))
                print_partition_line(&topics[i], &topics[i].partitions[k]);
        }
    }
}

/* ---- as tables ---- */

static void cell_ids(struct table *table, const int32_t *ids, int32_t count)
{
    CLEANUP(strbuf_deinit) struct strbuf text = {0};

    for (int32_t i = 0; i < count; i++)
        strbuf_addf(&text, "%s%d", i ? "," : "", ids[i]);
    table_cell(table, "%s", count ? text.s : "-");
}

static const char *trouble_of(const struct topics_partition *p)
{
    if (p->leader < 0)
        return "no leader";
    if (p->move)
        return "moving";
    return p->replication_factor > p->meta->isr_nodes_count ? "under-replicated" : "";
}

static void print_tables(const struct topics_topic *topics, int32_t count,
                         const struct topics_report *report)
{
    CLEANUP(table_deinit) struct table table = {0};

    table_add(&table, "TOPIC", false);
    table_add(&table, "PARTITION", true);
    table_add(&table, "LEADER", true);
    table_add(&table, "REPLICAS", false);
    table_add(&table, "IN-SYNC", false);
    table_add(&table, "TROUBLE", false);
    for (int32_t i = 0; i < count; i++) {
        if (report->overrides && topics[i].config_count == 0)
            continue;
        for (int32_t k = 0; k < topics[i].partition_count; k++) {
            const struct topics_partition *p = &topics[i].partitions[k];
            if (!wants_partition(&topics[i], p, report))
                continue;
            table_cell(&table, "%.*s", STR_ARG(topics[i].meta->name));
            table_cell(&table, "%d", p->meta->partition_index);
            cell_ids(&table, &p->leader, p->leader >= 0);
            cell_ids(&table, p->meta->replica_nodes, p->meta->replica_nodes_count);
            cell_ids(&table, p->meta->isr_nodes, p->meta->isr_nodes_count);
            table_cell(&table, "%s", trouble_of(p));
        }
    }
    table_print(&table, stdout);
}

/* ---- as JSON ---- */

static json_t *json_ids(const int32_t *ids, int32_t count)
{
    json_t *list = json_array();

    for (int32_t i = 0; i < count; i++)
        json_array_append_new(list, json_integer(ids[i]));
    return list;
}

static json_t *json_partition(const struct topics_partition *p)
{
    json_t *o =
        json_pack("{s:i, s:o, s:o, s:o}", "partition", (int)p->meta->partition_index, "leader",
                  p->leader < 0 ? json_null() : json_integer(p->leader), "replicas",
                  json_ids(p->meta->replica_nodes, p->meta->replica_nodes_count), "isr",
                  json_ids(p->meta->isr_nodes, p->meta->isr_nodes_count));

    if (p->move) {
        json_object_set_new(o, "adding",
                            json_ids(p->move->adding_replicas, p->move->adding_replicas_count));
        json_object_set_new(o, "removing",
                            json_ids(p->move->removing_replicas, p->move->removing_replicas_count));
    }
    return o;
}

static json_t *json_topic(const struct topics_topic *topic, const struct topics_report *report)
{
    json_t *configs = json_object(), *partitions = json_array();
    char id[UUID_TEXT_LEN + 1];

    for (int32_t i = 0; i < topic->config_count; i++) {
        CLEANUP(free_p) char *name = str_dup(topic->configs[i].name);
        json_object_set_new(configs, name, text_of(topic->configs[i].value));
    }
    for (int32_t k = 0; k < topic->partition_count; k++) {
        if (wants_partition(topic, &topic->partitions[k], report))
            json_array_append_new(partitions, json_partition(&topic->partitions[k]));
    }
    uuid_to_text(topic->meta->topic_id, id);
    return json_pack("{s:o, s:s, s:i, s:o, s:o}", "topic", text_of(topic->meta->name), "id", id,
                     "replication_factor", (int)replication_factor(topic), "configs", configs,
                     "partitions", partitions);
}

static void print_all_json(const struct topics_topic *topics, int32_t count,
                           const struct topics_report *report)
{
    json_t *list = json_array();

    for (int32_t i = 0; i < count; i++) {
        if (report->overrides && topics[i].config_count == 0)
            continue;
        json_t *o = json_topic(&topics[i], report);
        if (wants_all(report) || json_array_size(json_object_get(o, "partitions")) > 0)
            json_array_append(list, o);
        json_decref(o);
    }
    print_json(list);
}

void topics_print(const struct topics *t, const struct topics_topic *topics, int32_t count,
                  const struct topics_report *report)
{
    if (t->output == OUTPUT_TABLE)
        print_tables(topics, count, report);
    else if (t->output == OUTPUT_JSON)
        print_all_json(topics, count, report);
    else
        print_kafka(topics, count, report);
}
