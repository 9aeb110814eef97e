#include "broker/config/passwords.h"

#include "broker/config/dynamic_keys.h"
#include "common/base/base64.h"
#include "common/base/mem.h"
#include "common/base/random.h"
#include "common/base/say.h"
#include "common/base/sealed.h"

#include <errno.h>

/* Nobody waits minutes for one password. */
enum { SALT = 256, BYTES_MAX = 64 * 1024, ITERATIONS_MAX = 10 * 1000 * 1000 };

/* "PBKDF2WithHmacSHA512" */
static const char *digest_of(const char *key_factory)
{
    static const char *const names[][2] = {
        {"PBKDF2WithHmacSHA1", "SHA1"},     {"PBKDF2WithHmacSHA224", "SHA224"},
        {"PBKDF2WithHmacSHA256", "SHA256"}, {"PBKDF2WithHmacSHA384", "SHA384"},
        {"PBKDF2WithHmacSHA512", "SHA512"},
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(key_factory, names[i][0]) == 0)
            return names[i][1];
    }
    return "";
}

static const char *mode_of(const char *cipher)
{
    if (strcmp(cipher, "AES/CBC/PKCS5Padding") == 0)
        return "CBC";
    return strcmp(cipher, "AES/GCM/NoPadding") == 0 ? "GCM" : "";
}

static int number(const char *text)
{
    int32_t n = 0;
    int r = str_to_i32(str_trim(str_of(text)), 0, INT32_MAX, &n);

    return r < 0 ? 0 : n;
}

/* Java counts a text in units of UTF-16. */
static size_t java_length(struct str text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.p[i];

        n += (c & 0xc0) != 0x80;
        n += c >= 0xf0;
    }
    return n;
}

/* ---- the text ---- */

static void add_pair(struct strbuf *out, const char *name, const char *value)
{
    strbuf_addf(out, "%s%s:%s", out->len ? "," : "", name, value);
}

static void add_bytes(struct strbuf *out, const char *name, struct slice bytes)
{
    CLEANUP(free_p) char *text = xmalloc(BASE64_TEXT_SIZE(bytes.len));

    base64_encode(bytes, text);
    add_pair(out, name, text);
}

static void add_number(struct strbuf *out, const char *name, size_t n)
{
    CLEANUP(free_p) char *text = xasprintf("%zu", n);

    add_pair(out, name, text);
}

static const char *find_name(struct str name)
{
    static const char *const names[] = {
        "keyFactoryAlgorithm", "cipherAlgorithm", "keyLength",         "salt",
        "iterations",          "passwordLength",  "encryptedPassword", "initializationVector",
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_eqz(name, names[i]))
            return names[i];
    }
    return NULL;
}

/* Names that are not known say nothing; the last of one name counts. */
static void parse(const char *text, struct props *ret)
{
    struct str rest = str_of(text), item;

    while (str_split(&rest, ',', &item)) {
        item = str_trim(item);
        const char *colon = item.len ? memrchr(item.p, ':', item.len) : NULL;
        const char *name =
            colon ? find_name(str_trim((struct str){item.p, (size_t)(colon - item.p)})) : NULL;

        if (!name)
            continue;
        CLEANUP(free_p)
        char *value =
            str_dup(str_trim((struct str){colon + 1, (size_t)(item.p + item.len - colon - 1)}));
        props_set(ret, name, value);
    }
}

/* ---- one password ---- */

int password_encode(const struct broker_conf *c, const char *password, struct strbuf *ret,
                    struct strbuf *why)
{
    const char *secret = c->password_encoder_secret;
    const char *given = c->password_encoder_keyfactory_algorithm;
    const char *cipher = c->password_encoder_cipher_algorithm;
    const char *factory = given ? given : "PBKDF2WithHmacSHA512";
    struct str text = str_of(password);
    CLEANUP(free_p) uint8_t *sealed = xmalloc(text.len + SEALED_BLOCK);
    uint8_t salt[SALT], iv[SEALED_IV_MAX];
    size_t n;

    if (!secret) {
        strbuf_addz(why, "Password encoder secret not configured");
        return -EINVAL;
    }
    const struct sealed_opts o = {
        .digest = digest_of(factory),
        .cipher = mode_of(cipher),
        .key_bits = c->password_encoder_key_length,
        .iterations = c->password_encoder_iterations,
        .secret = str_of(secret),
        .salt = slice_of(salt, sizeof salt),
    };
    random_bytes(salt, sizeof salt);
    random_bytes(iv, sizeof iv);
    const struct slice v = slice_of(iv, sealed_iv_size(&o));
    if (sealed_close(&o, v, slice_of_str(text), sealed, &n) < 0) {
        strbuf_addf(
            why,
            "Passwords cannot be encoded with %s and %s with %d bits: "
            "PBKDF2WithHmacSHA<n>, AES/CBC/PKCS5Padding and AES/GCM/NoPadding with 128, 192 "
            "or 256 bits are known",
            factory, cipher, o.key_bits);
        return -EINVAL;
    }
    /* In Kafka's order, which is that of its hash table. */
    add_bytes(ret, "initializationVector", v);
    add_number(ret, "keyLength", (size_t)o.key_bits);
    add_bytes(ret, "salt", o.salt);
    add_pair(ret, "keyFactoryAlgorithm", factory);
    add_pair(ret, "cipherAlgorithm", cipher);
    if (strcmp(o.cipher, "GCM") == 0)
        add_number(ret, "authenticationTagLength", SEALED_TAG * 8);
    add_number(ret, "iterations", (size_t)o.iterations);
    add_number(ret, "passwordLength", java_length(text));
    add_bytes(ret, "encryptedPassword", slice_of(sealed, n));
    return 0;
}

static int get_bytes(const struct props *p, const char *name, uint8_t *ret, struct slice *ret_bytes)
{
    const char *text = props_get(p, name);
    size_t n;

    if (!text || base64_decode(str_of(text), ret, BYTES_MAX, &n) < 0)
        return -EINVAL;
    *ret_bytes = slice_of(ret, n);
    return 0;
}

static const char *get(const struct props *p, const char *name)
{
    const char *text = props_get(p, name);

    return text ? text : "";
}

static int open_sealed(const struct props *p, const char *secret, struct strbuf *ret)
{
    CLEANUP(free_p) uint8_t *room = xmalloc((size_t)4 * BYTES_MAX);
    struct slice iv, sealed;
    size_t n;
    struct sealed_opts o = {
        .digest = digest_of(get(p, "keyFactoryAlgorithm")),
        .cipher = mode_of(get(p, "cipherAlgorithm")),
        .key_bits = number(get(p, "keyLength")),
        .iterations = number(get(p, "iterations")),
        .secret = str_of(secret),
    };

    if (o.iterations > ITERATIONS_MAX || get_bytes(p, "salt", room, &o.salt) < 0 ||
        get_bytes(p, "initializationVector", room + BYTES_MAX, &iv) < 0 ||
        get_bytes(p, "encryptedPassword", room + (size_t)2 * BYTES_MAX, &sealed) < 0)
        return -EINVAL;
    uint8_t *text = room + (size_t)3 * BYTES_MAX;
    if (sealed_open(&o, iv, sealed, text, &n) < 0 || memchr(text, '\0', n))
        return -EINVAL;
    struct str s = {(const char *)text, n};
    if (java_length(s) != (size_t)number(get(p, "passwordLength")))
        return -EINVAL;
    strbuf_add_str(ret, s);
    return 0;
}

int password_decode(const struct broker_conf *c, enum password_secret which, const char *text,
                    struct strbuf *ret)
{
    CLEANUP(props_deinit) struct props p = {0};
    const char *secret =
        which == PASSWORD_SECRET ? c->password_encoder_secret : c->password_encoder_old_secret;

    if (!secret)
        return -EINVAL;
    parse(text, &p);
    return open_sealed(&p, secret, ret);
}

/* ---- all of them ---- */

int passwords_encode(const struct broker_conf *c, struct props *p, struct strbuf *why)
{
    int r = 0;

    for (size_t i = 0; i < p->count && r == 0; i++) {
        CLEANUP(strbuf_deinit) struct strbuf text = {0};

        if (!broker_key_is_password(p->v[i].key))
            continue;
        r = password_encode(c, p->v[i].value, &text, why);
        if (r == 0)
            props_set(p, p->v[i].key, text.s);
    }
    return r;
}

void passwords_decode(const struct broker_conf *c, struct props *p)
{
    for (size_t i = p->count; i-- > 0;) {
        CLEANUP(strbuf_deinit) struct strbuf text = {0};
        CLEANUP(free_p) char *key = xstrdup(p->v[i].key);

        if (!broker_key_is_password(key))
            continue;
        if (password_decode(c, PASSWORD_SECRET, p->v[i].value, &text) == 0) {
            props_set(p, key, text.s ? text.s : "");
            continue;
        }
        say_error(
            "%s in ZooKeeper cannot be decoded and is passed over: is password.encoder.secret "
            "the one it was stored with?",
            key);
        props_remove(p, key);
    }
}

bool passwords_renew(const struct broker_conf *c, struct props *p)
{
    bool is_changed = false;

    for (size_t i = 0; i < p->count; i++) {
        CLEANUP(strbuf_deinit) struct strbuf clear = {0}, text = {0}, why = {0};

        if (!broker_key_is_password(p->v[i].key) ||
            password_decode(c, PASSWORD_OLD_SECRET, p->v[i].value, &clear) < 0 ||
            password_encode(c, clear.s ? clear.s : "", &text, &why) < 0)
            continue;
        props_set(p, p->v[i].key, text.s);
        is_changed = true;
    }
    return is_changed;
}
