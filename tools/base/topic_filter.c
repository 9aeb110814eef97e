#define PCRE2_CODE_UNIT_WIDTH 8

#include "tools/base/topic_filter.h"

#include "common/base/mem.h"

#include <errno.h>
#include <pcre2.h>

struct topic_filter {
    struct strbuf text;
    pcre2_code *code;
    pcre2_match_data *data;
};

static void clean(struct strbuf *out, const char *text)
{
    struct str s = str_trim(str_of(text));

    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] != ' ')
            strbuf_add_char(out, s.p[i] == ',' ? '|' : s.p[i]);
    }
}

/* Without the quotes at both ends. */
static struct str unquoted(struct str s)
{
    while (s.len > 0 && (s.p[0] == '"' || s.p[0] == '\''))
        s = (struct str){s.p + 1, s.len - 1};
    while (s.len > 0 && (s.p[s.len - 1] == '"' || s.p[s.len - 1] == '\''))
        s.len--;
    return s;
}

static int compile(struct topic_filter *f, struct strbuf *why)
{
    struct str s = strbuf_str(&f->text);
    size_t at;
    int code;

    f->code =
        pcre2_compile((PCRE2_SPTR)s.p, s.len, PCRE2_ANCHORED | PCRE2_ENDANCHORED, &code, &at, NULL);
    if (!f->code) {
        strbuf_addf(why, "%s is an invalid regex.", s.p);
        return -EINVAL;
    }
    f->data = pcre2_match_data_create_from_pattern(f->code, NULL);
    return 0;
}

int topic_filter_new(const char *text, struct topic_filter **ret, struct strbuf *why)
{
    CLEANUP(topic_filter_free_p) struct topic_filter *f = xnew(struct topic_filter);
    CLEANUP(strbuf_deinit) struct strbuf quoted = {0};

    clean(&quoted, text);
    strbuf_add_str(&f->text, unquoted(strbuf_str(&quoted)));
    int r = compile(f, why);
    *ret = r < 0 ? NULL : TAKE(f);
    return r;
}

int topic_filter_new_exact(const char *text, struct topic_filter **ret, struct strbuf *why)
{
    CLEANUP(topic_filter_free_p) struct topic_filter *f = xnew(struct topic_filter);

    strbuf_addz(&f->text, text);
    int r = compile(f, why);
    *ret = r < 0 ? NULL : TAKE(f);
    return r;
}

struct topic_filter *topic_filter_free(struct topic_filter *f)
{
    if (!f)
        return NULL;
    pcre2_match_data_free(f->data);
    pcre2_code_free(f->code);
    strbuf_deinit(&f->text);
    free(f);
    return NULL;
}

void topic_filter_free_p(struct topic_filter **f)
{
    *f = topic_filter_free(*f);
}

bool topic_filter_match(struct topic_filter *f, struct str name)
{
    return pcre2_match(f->code, (PCRE2_SPTR)name.p, name.len, 0, 0, f->data, NULL) >= 0;
}

struct str topic_filter_literal(const struct topic_filter *f)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    struct str s = strbuf_str(&f->text);

    return s.len > 0 && strspn(s.p, plain) == s.len ? s : STR_NULL;
}
