/*
 * handlers.h - one function per API: translate, call, translate
 *
 * Handlers hold no rules of their own; what an answer depends on stands further down
 * (broker/replica, broker/meta, controller). All run on the reactor of the request's connection,
 * and reply later where they must wait.
 */
#pragma once

#include "broker/request/api.h"

extern const struct api_table api_table;

/* api_versions.c */
void handle_api_versions(struct broker *b, struct request *req);
/* metadata.c */
void handle_metadata(struct broker *b, struct request *req);
void handle_describe_cluster(struct broker *b, struct request *req);
/* topics.c */
void handle_create_topics(struct broker *b, struct request *req);
void handle_delete_topics(struct broker *b, struct request *req);
/* partitions.c */
void handle_create_partitions(struct broker *b, struct request *req);
/* configs.c */
void handle_describe_configs(struct broker *b, struct request *req);
/* alter_configs.c */
void handle_alter_configs(struct broker *b, struct request *req);
void handle_incremental_alter_configs(struct broker *b, struct request *req);
/* quotas.c */
void handle_alter_client_quotas(struct broker *b, struct request *req);
void handle_describe_client_quotas(struct broker *b, struct request *req);
/* describe_producers.c */
void handle_describe_producers(struct broker *b, struct request *req);
/* producer_ids.c */
void handle_init_producer_id(struct broker *b, struct request *req);
/* ctl.c */
void handle_alter_partition(struct broker *b, struct request *req);
void handle_controlled_shutdown(struct broker *b, struct request *req);
void handle_allocate_producer_ids(struct broker *b, struct request *req);
void handle_alter_partition_reassignments(struct broker *b, struct request *req);
void handle_update_features(struct broker *b, struct request *req);
void handle_list_partition_reassignments(struct broker *b, struct request *req);
/* elect.c */
void handle_elect_leaders(struct broker *b, struct request *req);
/* produce.c */
void handle_produce(struct broker *b, struct request *req);
/* fetch.c */
void handle_fetch(struct broker *b, struct request *req);
/* list_offsets.c */
void handle_list_offsets(struct broker *b, struct request *req);
void handle_offset_for_leader_epoch(struct broker *b, struct request *req);
/* log_dirs.c */
void handle_describe_log_dirs(struct broker *b, struct request *req);
void handle_alter_replica_log_dirs(struct broker *b, struct request *req);
/* delete_records.c */
void handle_delete_records(struct broker *b, struct request *req);
/* find_coordinator.c */
void handle_find_coordinator(struct broker *b, struct request *req);
/* groups.c */
void handle_join_group(struct broker *b, struct request *req);
void handle_sync_group(struct broker *b, struct request *req);
void handle_heartbeat(struct broker *b, struct request *req);
void handle_leave_group(struct broker *b, struct request *req);
/* group_admin.c */
void handle_describe_groups(struct broker *b, struct request *req);
void handle_list_groups(struct broker *b, struct request *req);
void handle_delete_groups(struct broker *b, struct request *req);
/* consumer_groups.c */
void handle_consumer_group_heartbeat(struct broker *b, struct request *req);
void handle_consumer_group_describe(struct broker *b, struct request *req);
/* offsets.c */
void handle_offset_commit(struct broker *b, struct request *req);
void handle_offset_fetch(struct broker *b, struct request *req);
void handle_offset_delete(struct broker *b, struct request *req);
/* orders.c */
void handle_leader_and_isr(struct broker *b, struct request *req);
void handle_stop_replica(struct broker *b, struct request *req);
void handle_update_metadata(struct broker *b, struct request *req);
