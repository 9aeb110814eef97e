/*
 * cluster_errors.c - what Kafka's tools say for an error code: words and the exception's name
 */
#include "common/base/err.h"
#include "tools/base/cluster.h"

#include <ctype.h>

static const struct {
    int16_t code;
    const char *text;
    const char *exception; /* where it is not the code's name in camel case */
} errors[] = {
    {UNKNOWN_SERVER_ERROR,
     "The server experienced an unexpected error when processing the request.",
     "UnknownServerException"},
    {OFFSET_OUT_OF_RANGE,
     "The requested offset is not within the range of offsets maintained by the server.", NULL},
    {UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition.", NULL},
    {LEADER_NOT_AVAILABLE,
     "There is no leader for this topic-partition as we are in the middle of a leadership "
     "election.",
     NULL},
    {REQUEST_TIMED_OUT, "The request timed out.", "TimeoutException"},
    {INVALID_TOPIC_EXCEPTION, "The request attempted to perform an operation on an invalid topic.",
     "InvalidTopicException"},
    {TOPIC_AUTHORIZATION_FAILED, "Topic authorization failed.", "TopicAuthorizationException"},
    {CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed.",
     "ClusterAuthorizationException"},
    {TOPIC_ALREADY_EXISTS, "Topic with this name already exists.", "TopicExistsException"},
    {INVALID_PARTITIONS, "Number of partitions is below 1.", NULL},
    {INVALID_REPLICATION_FACTOR,
     "Replication factor is below 1 or larger than the number of "
     "available brokers.",
     NULL},
    {INVALID_REPLICA_ASSIGNMENT, "Replica assignment is invalid.", NULL},
    {UNSUPPORTED_VERSION, "The version of API is not supported.", NULL},
    {INVALID_CONFIG, "Configuration is invalid.", "InvalidConfigurationException"},
    {NOT_CONTROLLER, "This is not the correct controller for this cluster.", NULL},
    {POLICY_VIOLATION, "Request parameters do not satisfy the configured policy.", NULL},
    {TOPIC_DELETION_DISABLED, "Topic deletion is disabled.", NULL},
    {REASSIGNMENT_IN_PROGRESS, "A partition reassignment is in progress.", NULL},
    {NO_REASSIGNMENT_IN_PROGRESS, "No partition reassignment is in progress.", NULL},
    {OFFSET_METADATA_TOO_LARGE, "The metadata field of the offset request was too large.",
     "OffsetMetadataTooLarge"},
    {COORDINATOR_LOAD_IN_PROGRESS, "The coordinator is loading and hence can't process requests.",
     NULL},
    {BROKER_NOT_AVAILABLE, "The broker is not available.", NULL},
    {COORDINATOR_NOT_AVAILABLE, "The coordinator is not available.", NULL},
    {NOT_COORDINATOR, "This is not the correct coordinator.", NULL},
    {ILLEGAL_GENERATION, "Specified group generation id is not valid.", NULL},
    {INVALID_GROUP_ID, "The configured groupId is invalid.", NULL},
    {UNKNOWN_MEMBER_ID, "The coordinator is not aware of this member.", NULL},
    {REBALANCE_IN_PROGRESS, "The group is rebalancing, so a rejoin is needed.", NULL},
    {INVALID_COMMIT_OFFSET_SIZE, "The committing offset data size is not valid.", NULL},
    {GROUP_AUTHORIZATION_FAILED, "Group authorization failed.", "GroupAuthorizationException"},
    {UNSUPPORTED_VERSION, "The version of API is not supported.", NULL},
    {KAFKA_STORAGE_ERROR, "Disk error when trying to access log file on the disk.",
     "KafkaStorageException"},
    {NON_EMPTY_GROUP, "The group is not empty.", "GroupNotEmptyException"},
    {GROUP_ID_NOT_FOUND, "The group id does not exist.", NULL},
    {OFFSET_NOT_AVAILABLE,
     "The leader high watermark has not caught up from a recent leader election so the offsets "
     "cannot be guaranteed to be monotonically increasing.",
     NULL},
    {FENCED_INSTANCE_ID,
     "The broker rejected this static consumer since another consumer with the same "
     "group.instance.id has registered with a different member.id.",
     NULL},
    {GROUP_SUBSCRIBED_TO_TOPIC,
     "Deleting offsets of a topic is forbidden while the consumer group is actively subscribed to "
     "it.",
     NULL},
    {UNSTABLE_OFFSET_COMMIT, "There are unstable offsets that need to be cleared.", NULL},
    {PREFERRED_LEADER_NOT_AVAILABLE, "The preferred leader was not available.", NULL},
    {ELIGIBLE_LEADERS_NOT_AVAILABLE, "Eligible topic partition leaders are not available.", NULL},
    {ELECTION_NOT_NEEDED, "Leader election not needed for topic partition.", NULL},
    {RESOURCE_NOT_FOUND, "A request illegally referred to a resource that does not exist.", NULL},
    {UNACCEPTABLE_CREDENTIAL, "Requested credential would not meet criteria for acceptability.",
     NULL},
    {THROTTLING_QUOTA_EXCEEDED, "The throttling quota has been exceeded.", NULL},
};

struct str cluster_error_text(int16_t error, struct str message)
{
    if (message.len > 0)
        return message;
    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        if (errors[i].code == error)
            return str_of(errors[i].text);
    }
    return str_of(err_name(error));
}

void cluster_exception(int16_t error, struct strbuf *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        if (errors[i].code == error && errors[i].exception) {
            strbuf_addz(ret, errors[i].exception);
            return;
        }
    }
    bool start = true;
    for (const char *p = err_name(error); *p; p++) {
        if (*p == '_') {
            start = true;
            continue;
        }
        strbuf_add_char(ret, start ? *p : (char)tolower((unsigned char)*p));
        start = false;
    }
    strbuf_addz(ret, "Exception");
}
