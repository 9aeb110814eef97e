/*
 * table.c - which APIs are served: only what is complete is in it, as ApiVersions tells from it
 */
#include "broker/api/handlers.h"

static const api_handler handlers[API_KEY_COUNT] = {
    [API_PRODUCE] = handle_produce,
    [API_FETCH] = handle_fetch,
    [API_LIST_OFFSETS] = handle_list_offsets,
    [API_METADATA] = handle_metadata,
    [API_LEADER_AND_ISR] = handle_leader_and_isr,
    [API_STOP_REPLICA] = handle_stop_replica,
    [API_UPDATE_METADATA] = handle_update_metadata,
    [API_CONTROLLED_SHUTDOWN] = handle_controlled_shutdown,
    [API_OFFSET_COMMIT] = handle_offset_commit,
    [API_OFFSET_FETCH] = handle_offset_fetch,
    [API_FIND_COORDINATOR] = handle_find_coordinator,
    [API_JOIN_GROUP] = handle_join_group,
    [API_HEARTBEAT] = handle_heartbeat,
    [API_LEAVE_GROUP] = handle_leave_group,
    [API_SYNC_GROUP] = handle_sync_group,
    [API_DESCRIBE_GROUPS] = handle_describe_groups,
    [API_LIST_GROUPS] = handle_list_groups,
    [API_API_VERSIONS] = handle_api_versions,
    [API_CREATE_TOPICS] = handle_create_topics,
    [API_DELETE_TOPICS] = handle_delete_topics,
    [API_DELETE_RECORDS] = handle_delete_records,
    [API_INIT_PRODUCER_ID] = handle_init_producer_id,
    [API_OFFSET_FOR_LEADER_EPOCH] = handle_offset_for_leader_epoch,
    [API_DESCRIBE_CONFIGS] = handle_describe_configs,
    [API_ALTER_REPLICA_LOG_DIRS] = handle_alter_replica_log_dirs,
    [API_DESCRIBE_LOG_DIRS] = handle_describe_log_dirs,
    [API_ALTER_CONFIGS] = handle_alter_configs,
    [API_INCREMENTAL_ALTER_CONFIGS] = handle_incremental_alter_configs,
    [API_DESCRIBE_CLIENT_QUOTAS] = handle_describe_client_quotas,
    [API_ALTER_CLIENT_QUOTAS] = handle_alter_client_quotas,
    [API_CREATE_PARTITIONS] = handle_create_partitions,
    [API_ELECT_LEADERS] = handle_elect_leaders,
    [API_ALTER_PARTITION_REASSIGNMENTS] = handle_alter_partition_reassignments,
    [API_LIST_PARTITION_REASSIGNMENTS] = handle_list_partition_reassignments,
    [API_ALTER_PARTITION] = handle_alter_partition,
    [API_DELETE_GROUPS] = handle_delete_groups,
    [API_OFFSET_DELETE] = handle_offset_delete,
    [API_DESCRIBE_CLUSTER] = handle_describe_cluster,
    [API_DESCRIBE_PRODUCERS] = handle_describe_producers,
    [API_ALLOCATE_PRODUCER_IDS] = handle_allocate_producer_ids,
};

const struct api_table api_table = {.handlers = handlers, .count = API_KEY_COUNT};
