#include "tools/configs/configs.h"

#include "tests/support/test_main.h"

#include <unistd.h>

static struct describe_configs_response_synonym synonyms[] = {
    {{"retention.ms", 12}, {"5", 1}, 1}, {{"log.retention.ms", 16}, {NULL, 0}, 5}};
static config_entry entry = {.name = {"retention.ms", 12},
                             .value = {"5", 1},
                             .config_source = 1,
                             .synonyms = synonyms,
                             .synonyms_count = 2};
static config_entry secret = {
    .name = {"p", 1}, .value = {NULL, 0}, .config_source = 2, .is_sensitive = true};

static char text[4096];
static FILE *file;

static void begin(void)
{
    file = fmemopen(text, sizeof text, "w");
}

static const char *printed(void)
{
    fclose(file);
    return text;
}

START_TEST(heads_name_the_entity)
{
    begin();
    configs_print_head("topics", "t", false, file);
    configs_print_head("broker-loggers", "1", true, file);
    configs_print_head("brokers", "", true, file);
    ck_assert_str_eq(printed(), "Dynamic configs for topic t are:\n"
                                "All configs for broker-logger 1 are:\n"
                                "Default configs for brokers in the cluster are:\n");
}
END_TEST

START_TEST(entries_have_their_synonyms)
{
    begin();
    configs_print_entry(&entry, file);
    configs_print_entry(&secret, file);
    ck_assert_str_eq(
        printed(), "  retention.ms=5 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=5"
                   ", DEFAULT_CONFIG:log.retention.ms=null}\n"
                   "  p=null sensitive=true synonyms={}\n");
}
END_TEST

static struct describe_client_quotas_response_entity of_both[] = {{{"client-id", 9}, {NULL, 0}},
                                                                  {{"user", 4}, {"u", 1}}};
static struct describe_client_quotas_response_entity of_ip[] = {{{"ip", 2}, {"::1", 3}}};

START_TEST(quotas_name_users_first)
{
    struct describe_client_quotas_response_value values[] = {{{"request_percentage", 18}, 0.5},
                                                             {{"producer_byte_rate", 18}, 1e7}};
    quota_entry entries[] = {
        {.entity = of_both, .entity_count = 2, .values = values, .values_count = 2},
        {.entity = of_ip, .entity_count = 1}};

    configs_sort_quotas(entries, 1);
    begin();
    configs_print_quota(&entries[0], file);
    configs_print_quota(&entries[1], file);
    ck_assert_str_eq(printed(), "Quota configs for user-principal 'u', the default client-id are "
                                "request_percentage=0.5, producer_byte_rate=1.0E7\n"
                                "Quota configs for ip '::1' are \n");
}
END_TEST

START_TEST(credentials_name_their_mechanism)
{
    const struct describe_user_scram_credentials_response_credential_info infos[] = {{1, 4096},
                                                                                     {2, 8192}};

    begin();
    configs_print_scram(STR("u"), infos, 2, file);
    ck_assert_str_eq(printed(), "SCRAM credential configs for user-principal 'u' are "
                                "SCRAM-SHA-256=iterations=4096, SCRAM-SHA-512=iterations=8192\n");
}
END_TEST

START_TEST(tables_say_what_would_count_otherwise)
{
    const config_entry *list[] = {&entry, &secret};
    const struct config_entries entries = {list, 2};
    CLEANUP(table_deinit) struct table t = {0};

    synonyms[1].value = STR("604800000");
    configs_table_entries(&t, "t", &entries);
    begin();
    table_print(&t, file);
    ck_assert_str_eq(printed(), "ENTITY  SETTING       VALUE     FROM    OTHERWISE\n"
                                "t       retention.ms  5         topic   604800000\n"
                                "t       p             (hidden)  broker  -\n");
    synonyms[1].value = STR_NULL;
}
END_TEST

START_TEST(quotas_stand_in_tables_as_numbers)
{
    struct describe_client_quotas_response_value values[] = {{{"producer_byte_rate", 18}, 1e7}};
    const quota_entry e = {
        .entity = of_both, .entity_count = 2, .values = values, .values_count = 1};
    CLEANUP(table_deinit) struct table t = {0};

    configs_table_quota(&t, &e);
    begin();
    table_print_json(&t, file);
    ck_assert_ptr_nonnull(strstr(printed(), "\"value\": 10000000"));
}
END_TEST

TEST_MAIN("tools/configs/configs_print", heads_name_the_entity, entries_have_their_synonyms,
          quotas_name_users_first, credentials_name_their_mechanism,
          tables_say_what_would_count_otherwise, quotas_stand_in_tables_as_numbers)
