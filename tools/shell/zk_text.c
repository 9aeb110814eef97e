#include "tools/shell/zk_text.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>

/* ---- paths ---- */

/* Why it is no path, from its parts; NULL where it is one. at: where. */
static const char *trouble_inside(const char *path, size_t *at)
{
    for (size_t i = 1; path[i]; i++) {
        unsigned char c = (unsigned char)path[i];
        *at = i;
        if (c == '/' && path[i - 1] == '/')
            return "empty node name specified";
        if (c < 0x20 || c == 0x7f)
            return "invalid character";
        if (c != '.' || (path[i + 1] != '/' && path[i + 1] != '\0'))
            continue;
        if (path[i - 1] == '/' || (path[i - 1] == '.' && i >= 2 && path[i - 2] == '/'))
            return "relative paths not allowed";
    }
    return NULL;
}

int zk_path_check(const char *path, struct strbuf *why)
{
    size_t len = strlen(path), at = 0;
    const char *trouble;

    if (len == 0)
        strbuf_addz(why, "Path length must be > 0");
    else if (path[0] != '/')
        strbuf_addz(why, "Path must start with / character");
    else if (len > 1 && path[len - 1] == '/')
        strbuf_addz(why, "Path must not end with / character");
    else if ((trouble = trouble_inside(path, &at)))
        strbuf_addf(why, "Invalid path string \"%s\" caused by %s @%zu", path, trouble, at);
    return why->len ? -EINVAL : 0;
}

/* ---- ACLs ---- */

static const struct {
    char letter;
    int32_t perm;
} perms[] = {{'c', ZK_PERM_CREATE},
             {'d', ZK_PERM_DELETE},
             {'r', ZK_PERM_READ},
             {'w', ZK_PERM_WRITE},
             {'a', ZK_PERM_ADMIN}};

static int32_t parse_perms(struct str text, struct strbuf *said)
{
    int32_t ret = 0;

    for (size_t i = 0; i < text.len; i++) {
        int32_t perm = 0;
        for (size_t k = 0; k < ARRAY_LEN(perms); k++)
            perm |= perms[k].letter == text.p[i] ? perms[k].perm : 0;
        if (!perm)
            strbuf_addf(said, "Unknown perm type: %c\n", text.p[i]);
        ret |= perm;
    }
    return ret;
}

void zk_acl_parse(const char *text, struct arena *a, struct zk_direct_acls *ret,
                  struct strbuf *said)
{
    struct str rest = str_of(text), item;

    *ret = (struct zk_direct_acls){arena_array(a, strlen(text) + 1, sizeof *ret->v), 0};
    while (str_split(&rest, ',', &item)) {
        const char *first = memchr(item.p, ':', item.len), *last = memrchr(item.p, ':', item.len);
        if (!first || first == last) {
            strbuf_addf(said, "%.*s does not have the form scheme:id:perm\n", STR_ARG(item));
            continue;
        }
        ret->v[ret->count++] = (struct zk_direct_acl){
            arena_strz(a, (struct str){item.p, (size_t)(first - item.p)}),
            arena_strz(a, (struct str){first + 1, (size_t)(last - first - 1)}),
            parse_perms((struct str){last + 1, item.len - (size_t)(last + 1 - item.p)}, said)};
    }
}

void zk_perms_print(int32_t bits, struct strbuf *out)
{
    for (size_t k = 0; k < ARRAY_LEN(perms); k++) {
        if (bits & perms[k].perm)
            strbuf_add_char(out, perms[k].letter);
    }
}

void zk_acl_print(const struct zk_direct_acls *acls, struct strbuf *out)
{
    for (size_t i = 0; i < acls->count; i++) {
        strbuf_addf(out, "'%s,'%s\n: ", acls->v[i].scheme, acls->v[i].id);
        zk_perms_print(acls->v[i].perms, out);
        strbuf_add_char(out, '\n');
    }
}

/* ---- stat ---- */

static void add_time(const char *name, int64_t ms, struct strbuf *out)
{
    time_t seconds = (time_t)(ms / 1000);
    char text[64];
    struct tm tm;

    localtime_r(&seconds, &tm);
    strftime(text, sizeof text, "%a %b %d %H:%M:%S %Z %Y", &tm);
    strbuf_addf(out, "%s = %s\n", name, text);
}

void zk_stat_print(const struct zk_direct_stat *s, struct strbuf *out)
{
    strbuf_addf(out, "cZxid = 0x%" PRIx64 "\n", s->czxid);
    add_time("ctime", s->ctime_ms, out);
    strbuf_addf(out, "mZxid = 0x%" PRIx64 "\n", s->mzxid);
    add_time("mtime", s->mtime_ms, out);
    strbuf_addf(out,
                "pZxid = 0x%" PRIx64 "\ncversion = %d\ndataVersion = %d\naclVersion = %d\n"
                "ephemeralOwner = 0x%" PRIx64 "\ndataLength = %d\nnumChildren = %d\n",
                s->pzxid, s->cversion, s->version, s->aversion, s->ephemeral_owner, s->data_length,
                s->num_children);
}

/* ---- errors ---- */

void zk_error_print(int code, const char *path, struct strbuf *out)
{
    static const struct {
        int code;
        const char *text;
    } known[] = {
        {ZK_DIRECT_NO_NODE, "Node does not exist: "},
        {ZK_DIRECT_NO_CHILDREN_FOR_EPHEMERALS, "Ephemerals cannot have children: "},
        {ZK_DIRECT_NODE_EXISTS, "Node already exists: "},
        {ZK_DIRECT_NOT_EMPTY, "Node not empty: "},
        {ZK_DIRECT_INVALID_ACL, "Acl is not valid : "},
        {ZK_DIRECT_NO_AUTH, "Insufficient permission : "},
        {ZK_DIRECT_BAD_ARGUMENTS, "Arguments are not valid : "},
        {ZK_DIRECT_BAD_VERSION, "version No is not valid : "},
    };

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (known[i].code == code) {
            strbuf_addf(out, "%s%s", known[i].text, path ? path : "null");
            return;
        }
    }
    strbuf_addf(out, "KeeperErrorCode = %s", zk_direct_name(code));
    if (path)
        strbuf_addf(out, " for %s", path);
}

/* ---- words ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

void zk_words(struct str line, struct arena *a, char ***ret, int *ret_count)
{
    size_t at = 0;

    *ret = arena_array(a, line.len + 1, sizeof **ret);
    *ret_count = 0;
    for (;;) {
        while (at < line.len && is_blank(line.p[at]))
            at++;
        if (at == line.len)
            return;
        char quote = line.p[at] == '"' || line.p[at] == '\'' ? line.p[at] : '\0';
        size_t start = at + (quote != '\0'), end = start;
        while (end < line.len && (quote ? line.p[end] != quote : !is_blank(line.p[end])))
            end++;
        (*ret)[(*ret_count)++] = arena_strz(a, (struct str){line.p + start, end - start});
        at = end + (quote && end < line.len);
    }
}
