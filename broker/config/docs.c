#include "broker/config/docs.h"

#include "common/base/base.h"

struct doc {
    const char *key;
    const char *text;
};

#define DOC(key, text) {(key), (text)},
static const struct doc topic_docs[] = {
#include "broker/config/topic_docs.def"
};
static const struct doc broker_docs[] = {
#include "broker/config/broker_docs.def"
};
#undef DOC

static const char *find(const struct doc *docs, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(docs[i].key, key) == 0)
            return docs[i].text;
    }
    return NULL;
}

const char *topic_option_doc(const char *key)
{
    return find(topic_docs, ARRAY_LEN(topic_docs), key);
}

const char *broker_option_doc(const char *key)
{
    return find(broker_docs, ARRAY_LEN(broker_docs), key);
}
