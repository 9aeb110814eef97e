#include "broker/config/zk_options.h"

struct zk_conf zk_conf_of_broker(const struct broker_conf *c)
{
    return (struct zk_conf){
        .connect = c->zookeeper_connect,
        .session_timeout_ms = c->zookeeper_session_timeout_ms,
        .connection_timeout_ms = (int32_t)c->connect_timeout_ms,
        .max_in_flight = c->zookeeper_max_in_flight_requests,
        .set_acl = c->zookeeper_set_acl,
        .digest_auth = props_get(&c->props, "zookeeper.digest.auth"),
        .ssl = c->zookeeper_ssl_client_enable,
        .ssl_truststore = c->zookeeper_ssl_truststore_location,
        .ssl_keystore = c->zookeeper_ssl_keystore_location,
        .ssl_key_password = c->zookeeper_ssl_keystore_password,
    };
}
