#include "broker/config/passwords.h"

#include "common/base/say.h"
#include "tests/support/test_main.h"

/* Made by Kafka 3.9's own encoder with the secret "s3cret". */
static const char of_kafka_cbc[] =
    "initializationVector:KW1yb2SCjU0fMPWT6/RUNg==,keyLength:128,salt:ckTwGB2mrNERWd3"
    "76WTnvgng94BBb450JMXKsqpamQmr1b6PTaLfsXAd6ZmTEtfZSQueSiO8oUibGrqWfHMMp7LyEtGU9y6"
    "4oevJM8WFQy1xhhuCY3p5vtk18Q2kYtgJ2uIv2scWFn2Lk7lfH/XgI3kx1MSEHRJNIFP8TGf2vO2KaoF"
    "ZuwMo7YIx8mHryXXdAqX4PeXeBomlLWU9c6AY2iCOW4Fmo1gMwOPDJ1CEGDZ6rK4D5fGRdJHtYUF/zin"
    "56wOYfJ2wuIDb6rt+WJvA4buSRSePci0bPJX5uwGfrEA+UvJpkSFE6K2MN3sNrYComRdLSZb5Lbqq1UN"
    "L3cFHhw==,keyFactoryAlgorithm:PBKDF2WithHmacSHA512,cipherAlgorithm:AES/CBC/PKCS5"
    "Padding,iterations:1024,passwordLength:10,encryptedPassword:NRbiYp5Seahf6BcSyPw5"
    "Ag==";
static const char of_kafka_gcm[] =
    "initializationVector:TpMaagtdQV0YxIaq,keyLength:256,salt:JdB2gOZ6J8d8qoBc4z7bSP/"
    "n1CVSisk+rybD574eWu9J6OIYodyaZSfGcoPj5EZuNO/oamig3vxRkoKHRb7lr6nydhTNhy4v1YKS4Ai"
    "zK9X0DpSOPETBtqkmsZJDBgSDjFbi494tZrqNch/TSi5wvFBIQs2JS1M06l0BHBPxgrI/4GoDzR54nOz"
    "YFSLlciifrw6BvNMaNCfSeKwV92fYjePvUO93VdX/ovJ/YL0s5hEgTSD+8lSPVL8G/XpBLzNKuvlYxf/"
    "ND7g+hsXqWuTuRtK0KIbO5Jl4O1V4EuhGSwBd+lB/DWxskS44sCd+rpMxG0+3GkZ9TflfNdt13dluwA="
    "=,keyFactoryAlgorithm:PBKDF2WithHmacSHA256,cipherAlgorithm:AES/GCM/NoPadding,aut"
    "henticationTagLength:128,iterations:1024,passwordLength:6,encryptedPassword:c+QB"
    "pkpqpP/4Yz04STB1nH/cLqR/xw==";

static struct broker_conf *load(const char *more)
{
    CLEANUP(strbuf_deinit) struct strbuf text = {0}, why = {0};
    struct props props = {0};
    struct broker_conf *c = NULL;
    int line;

    say_set_level(SAY_ERROR + 1);
    strbuf_addf(&text, "broker.id=1\nzookeeper.connect=z:1\n%s", more);
    ck_assert_int_eq(props_parse(&props, strbuf_str(&text), &line), 0);
    ck_assert_int_eq(broker_conf_from_props(&props, &c, &why), 0);
    return c;
}

static void check_decodes(const char *text, const char *password)
{
    CLEANUP(strbuf_deinit) struct strbuf clear = {0};
    struct broker_conf *c = load("password.encoder.secret=s3cret\n");

    ck_assert_int_eq(password_decode(c, PASSWORD_SECRET, text, &clear), 0);
    ck_assert_str_eq(clear.s, password);
    broker_conf_free(c);
}

START_TEST(passwords_that_kafka_stored_can_be_read)
{
    check_decodes(of_kafka_cbc, "p\xc3\xa4ss,w:\xc3\xb6\xf0\x9f\x98\x80");
    check_decodes(of_kafka_gcm, "secret");
}
END_TEST

static void check_round(const char *more, const char *password)
{
    CLEANUP(strbuf_deinit) struct strbuf text = {0}, clear = {0}, why = {0};
    struct broker_conf *c = load(more);

    ck_assert_int_eq(password_encode(c, password, &text, &why), 0);
    ck_assert_ptr_null(strstr(text.s, password));
    ck_assert_int_eq(password_decode(c, PASSWORD_SECRET, text.s, &clear), 0);
    ck_assert_str_eq(clear.s, password);
    broker_conf_free(c);
}

START_TEST(what_is_stored_can_be_read_again)
{
    check_round("password.encoder.secret=x\n", "secret");
    check_round("password.encoder.secret=x\npassword.encoder.key.length=256\n"
                "password.encoder.keyfactory.algorithm=PBKDF2WithHmacSHA256\n"
                "password.encoder.iterations=1024\n"
                "password.encoder.cipher.algorithm=AES/GCM/NoPadding\n",
                "a password of more than one block of the cipher");
}
END_TEST

START_TEST(another_secret_or_damage_reads_nothing)
{
    CLEANUP(strbuf_deinit) struct strbuf clear = {0};
    struct broker_conf *c = load("password.encoder.secret=other\n");

    ck_assert_int_lt(password_decode(c, PASSWORD_SECRET, of_kafka_cbc, &clear), 0);
    ck_assert_int_lt(password_decode(c, PASSWORD_SECRET, of_kafka_gcm, &clear), 0);
    ck_assert_int_lt(password_decode(c, PASSWORD_SECRET, "in the clear", &clear), 0);
    ck_assert_int_lt(password_decode(c, PASSWORD_SECRET, "", &clear), 0);
    ck_assert_int_lt(password_decode(c, PASSWORD_OLD_SECRET, of_kafka_cbc, &clear), 0);
    ck_assert_uint_eq(clear.len, 0);
    broker_conf_free(c);
}
END_TEST

START_TEST(without_a_secret_nothing_is_stored)
{
    CLEANUP(strbuf_deinit) struct strbuf text = {0}, why = {0};
    struct broker_conf *c = load("");

    ck_assert_int_lt(password_encode(c, "p", &text, &why), 0);
    ck_assert_str_eq(why.s, "Password encoder secret not configured");
    broker_conf_free(c);
}
END_TEST

START_TEST(only_passwords_are_sealed)
{
    static const char key[] = "listener.name.x.ssl.keystore.password";
    CLEANUP(props_deinit) struct props p = {0};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct broker_conf *c = load("password.encoder.secret=x\n");

    props_set(&p, key, "secret");
    props_set(&p, "log.retention.ms", "5");
    ck_assert_int_eq(passwords_encode(c, &p, &why), 0);
    ck_assert_str_ne(props_get(&p, key), "secret");
    ck_assert_str_eq(props_get(&p, "log.retention.ms"), "5");
    passwords_decode(c, &p);
    ck_assert_str_eq(props_get(&p, key), "secret");
    passwords_decode(c, &p); /* in the clear: not to be trusted */
    ck_assert_ptr_null(props_get(&p, key));
    broker_conf_free(c);
}
END_TEST

START_TEST(a_new_secret_takes_over_what_the_old_one_sealed)
{
    static const char key[] = "listener.name.x.ssl.keystore.password";
    CLEANUP(props_deinit) struct props p = {0};
    struct broker_conf *c =
        load("password.encoder.secret=new\npassword.encoder.old.secret=s3cret\n");

    props_set(&p, key, of_kafka_gcm);
    ck_assert(passwords_renew(c, &p));
    ck_assert(!passwords_renew(c, &p));
    passwords_decode(c, &p);
    ck_assert_str_eq(props_get(&p, key), "secret");
    broker_conf_free(c);
}
END_TEST

TEST_MAIN("broker/config/passwords", passwords_that_kafka_stored_can_be_read,
          what_is_stored_can_be_read_again, another_secret_or_damage_reads_nothing,
          without_a_secret_nothing_is_stored, only_passwords_are_sealed,
          a_new_secret_takes_over_what_the_old_one_sealed)
