#include "broker/config/tls_options.h"

struct tls_conf tls_conf_of_listener(const struct broker_conf *c, const char *listener)
{
    return (struct tls_conf){
        .keystore = {.type = broker_conf_text(c, "ssl.keystore.type", listener),
                     .location = broker_conf_text(c, "ssl.keystore.location", listener),
                     .password = broker_conf_text(c, "ssl.keystore.password", listener),
                     .certificates =
                         broker_conf_text(c, "ssl.keystore.certificate.chain", listener)},
        .truststore = {.type = broker_conf_text(c, "ssl.truststore.type", listener),
                       .location = broker_conf_text(c, "ssl.truststore.location", listener),
                       .password = broker_conf_text(c, "ssl.truststore.password", listener),
                       .certificates =
                           broker_conf_text(c, "ssl.truststore.certificates", listener)},
        .key = broker_conf_text(c, "ssl.keystore.key", listener),
        .key_password = broker_conf_text(c, "ssl.key.password", listener),
        .enabled_protocols = broker_conf_text(c, "ssl.enabled.protocols", listener),
        .cipher_suites = broker_conf_text(c, "ssl.cipher.suites", listener),
        .endpoint_identification =
            broker_conf_text(c, "ssl.endpoint.identification.algorithm", listener),
    };
}
