#include "tools/client/formatter.h"

#include "common/wire/codec.h"
#include "tests/support/test_main.h"

#include <errno.h>

static struct strbuf out, why, warning;

static struct formatter *make(const char *class_name, const char *key, const char *value)
{
    struct props p = {0};
    struct formatter *f;

    if (key)
        props_set(&p, key, value);
    strbuf_reset(&out);
    strbuf_reset(&why);
    strbuf_reset(&warning);
    ck_assert_int_eq(formatter_new(class_name, &p, &f, &warning, &why), 0);
    props_deinit(&p);
    return f;
}

static const struct record_header headers[] = {{"h", {"1", 1}}, {"g", STR_NULL}};
static const struct record_text record = {.topic = "t",
                                          .partition = 2,
                                          .offset = 7,
                                          .timestamp_ms = 5,
                                          .key = {"k", 1},
                                          .value = STR_NULL,
                                          .headers = headers,
                                          .header_count = 2};

static void expect_of(struct formatter *f, const struct record_text *rec, const char *text)
{
    ck_assert_int_eq(formatter_print(f, rec, &out, &why), 0);
    ck_assert_str_eq(out.len ? out.s : "", text);
    strbuf_reset(&out);
    formatter_free(f);
}

START_TEST(default_prints_the_value)
{
    struct record_text rec = record;

    expect_of(make(NULL, NULL, NULL), &rec, "null\n");
    rec.value = STR("v");
    expect_of(make(NULL, "print.key", "TRUE"), &rec, "k\tv\n");
    expect_of(make(NULL, "print.headers", "true"), &rec, "h:1,g:null\tv\n");
    expect_of(make(NULL, "print.offset", " true"), &rec, "Offset:7\tv\n");
    expect_of(make(NULL, "print.partition", "true"), &rec, "Partition:2\tv\n");
    expect_of(make(NULL, "print.timestamp", "true"), &rec, "CreateTime:5\tv\n");
    expect_of(make(NULL, "print.value", "false"), &rec, "");
    expect_of(make(NULL, "line.separator", "|"), &rec, "v|");
    rec.timestamp_ms = -1;
    rec.header_count = 0;
    expect_of(make(NULL, "print.timestamp", "true"), &rec, "NO_TIMESTAMP\tv\n");
    expect_of(make(NULL, "print.headers", "true"), &rec, "NO_HEADERS\tv\n");
}
END_TEST

START_TEST(names_of_classes)
{
    struct formatter *f;
    struct props p = {0};

    expect_of(make("kafka.tools.NoOpMessageFormatter", NULL, NULL), &record, "");
    ck_assert_ptr_nonnull(strstr(warning.s, "is deprecated"));
    expect_of(make("org.apache.kafka.tools.consumer.LoggingMessageFormatter", NULL, NULL), &record,
              "null\n");
    ck_assert_uint_eq(warning.len, 0);
    ck_assert_int_eq(formatter_new("my.Own", &p, &f, &warning, &why), -EINVAL);
    ck_assert_str_eq(why.s, "my.Own");
    props_set(&p, "value.deserializer", "my.Deserializer");
    strbuf_reset(&why);
    ck_assert_int_eq(formatter_new(NULL, &p, &f, &warning, &why), -EINVAL);
    ck_assert_ptr_nonnull(strstr(why.s, "value.deserializer=my.Deserializer"));
    ck_assert_ptr_null(f);
    props_deinit(&p);
}
END_TEST

static void expect_value(const char *deserializer, struct str bytes, const char *text)
{
    char name[128];

    snprintf(name, sizeof name, "org.apache.kafka.common.serialization.%s", deserializer);
    const struct deserializer *d = deserializer_find(name);
    ck_assert_ptr_nonnull(d);
    strbuf_reset(&out);
    strbuf_reset(&why);
    ck_assert_int_eq(deserializer_print(d, bytes, &out, &why), 0);
    ck_assert_str_eq(out.len ? out.s : "", text);
}

static void expect_no_value(const char *deserializer, struct str bytes, const char *reason)
{
    char name[128];

    snprintf(name, sizeof name, "org.apache.kafka.common.serialization.%s", deserializer);
    strbuf_reset(&why);
    ck_assert_int_eq(deserializer_print(deserializer_find(name), bytes, &out, &why), -EINVAL);
    ck_assert_ptr_nonnull(strstr(why.s, reason));
}

START_TEST(deserializers)
{
    expect_value("LongDeserializer", STR("\xff\xff\xff\xff\xff\xff\xff\xfe"), "-2");
    expect_value("IntegerDeserializer", STR("\0\0\1\0"), "256");
    expect_value("ShortDeserializer", STR("\x80\0"), "-32768");
    expect_value("DoubleDeserializer", STR("\x3f\xf8\0\0\0\0\0\0"), "1.5");
    expect_value("FloatDeserializer", STR("\x3f\xc0\0\0"), "1.5");
    expect_value("BooleanDeserializer", STR("\1"), "true");
    expect_value("BytesDeserializer", STR("a\\\n~"), "a\\x5C\\x0A~");
    expect_value("ByteBufferDeserializer", STR("abc"),
                 "java.nio.HeapByteBuffer[pos=0 lim=3 cap=3]");
    expect_value("UUIDDeserializer", STR("1-2-3-4-00AB"), "00000001-0002-0003-0004-0000000000ab");
    expect_no_value("LongDeserializer", STR("1234567"), "LongDeserializer is not 8");
    expect_no_value("DoubleDeserializer", STR(""), "by Deserializer is not 8");
    expect_no_value("BooleanDeserializer", STR("\2"), "BooleanDeserializer: 2");
    expect_no_value("UUIDDeserializer", STR("1-2-3-4"), "into UUID");
    expect_no_value("UUIDDeserializer", STR("1-2-3-4-5-6"), "into UUID");
    expect_no_value("UUIDDeserializer", STR("1-2-3-4-g"), "into UUID");
    expect_no_value("VoidDeserializer", STR("x"), "should be null");
    ck_assert_ptr_null(deserializer_find("LongDeserializer"));
}
END_TEST

/* ---- the coordinators' records ---- */

#define OFFSET_KEY   STR("\0\1\0\1g\0\1t\0\0\0\5")
#define OFFSET_VALUE STR("\0\3\0\0\0\0\0\0\0\x2a\0\0\0\3\0\1m\0\0\0\0\0\0\0\x09")
#define GROUP_KEY    STR("\0\2\0\1g")

static void expect_stored(const char *class_name, struct str key, struct str value,
                          const char *text)
{
    const struct record_text rec = {.topic = "o", .key = key, .value = value};

    expect_of(make(class_name, NULL, NULL), &rec, text);
}

#define NEW      "org.apache.kafka.tools.consumer."
#define OLD      "kafka.coordinator.group.GroupMetadataManager$"
#define OLD_TXNS "kafka.coordinator.transaction.TransactionLog$TransactionLogMessageFormatter"

START_TEST(offsets)
{
    expect_stored(NEW "OffsetsMessageFormatter", OFFSET_KEY, OFFSET_VALUE,
                  "{\"key\":{\"version\":1,\"data\":{\"group\":\"g\",\"topic\":\"t\",\"partition\":"
                  "5}},\"value\":{\"version\":3,\"data\":{\"offset\":42,\"leaderEpoch\":3,"
                  "\"metadata\":\"m\",\"commitTimestamp\":9}}}");
    expect_stored(NEW "OffsetsMessageFormatter", OFFSET_KEY, STR_NULL,
                  "{\"key\":{\"version\":1,\"data\":{\"group\":\"g\",\"topic\":\"t\",\"partition\":"
                  "5}},\"value\":null}");
    expect_stored(NEW "OffsetsMessageFormatter", GROUP_KEY, STR_NULL, "");
    expect_stored(NEW "OffsetsMessageFormatter", STR_NULL, STR_NULL, "");
    expect_stored(OLD "OffsetsMessageFormatter", OFFSET_KEY, OFFSET_VALUE,
                  "[g,t,5]::OffsetAndMetadata(offset=42, leaderEpoch=Optional[3], metadata=m, "
                  "commitTimestamp=9, expireTimestamp=None)\n");
    expect_stored(OLD "OffsetsMessageFormatter", OFFSET_KEY, STR_NULL, "[g,t,5]::NULL\n");
}
END_TEST

START_TEST(groups_and_transactions)
{
    expect_stored(NEW "GroupMetadataMessageFormatter", GROUP_KEY, STR_NULL,
                  "{\"key\":{\"version\":2,\"data\":{\"group\":\"g\"}},\"value\":null}");
    expect_stored(NEW "GroupMetadataMessageFormatter", OFFSET_KEY, OFFSET_VALUE, "");
    expect_stored(OLD "GroupMetadataMessageFormatter", GROUP_KEY, STR_NULL, "g::NULL\n");
    expect_stored(NEW "TransactionLogMessageFormatter", STR("\0\0\0\1x"), STR_NULL,
                  "{\"key\":{\"version\":0,\"data\":{\"transactionalId\":\"x\"}},\"value\":null}");
    expect_stored(OLD_TXNS, STR("\0\0\0\1x"), STR_NULL, "x::NULL\n");
    expect_stored(OLD_TXNS, STR("\0\7"), STR_NULL, "unknown::version=7\n");
}
END_TEST

START_TEST(what_is_no_such_record)
{
    static const char *const classes[] = {NEW "OffsetsMessageFormatter",
                                          OLD "OffsetsMessageFormatter"};
    const struct record_text bad[] = {{.topic = "o", .key = STR("x")},
                                      {.topic = "o", .key = STR("\0\1\0\5g")},
                                      {.topic = "o", .key = OFFSET_KEY, .value = STR("\0\3\0")}};

    for (size_t c = 0; c < ARRAY_LEN(classes); c++) {
        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
            struct formatter *f = make(classes[c], NULL, NULL);
            ck_assert_int_eq(formatter_print(f, &bad[i], &out, &why), -EINVAL);
            ck_assert_str_eq(why.s, "java.nio.BufferUnderflowException");
            ck_assert_uint_eq(out.len, 0);
            formatter_free(f);
        }
    }
    expect_stored(NEW "OffsetsMessageFormatter", STR("\0\x21"), STR_NULL,
                  "{\"key\":{\"version\":33,\"data\":\"unknown\"},\"value\":null}");
}
END_TEST

TEST_MAIN("tools/client/formatter", default_prints_the_value, names_of_classes, deserializers,
          offsets, groups_and_transactions, what_is_no_such_record)
