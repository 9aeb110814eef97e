#include "common/base/props.h"

#include "common/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILE = 1024 * 1024 };

void props_deinit(struct props *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->v[i].key);
        free(p->v[i].value);
    }
    free(p->v);
    *p = (struct props){0};
}

static struct prop *find(const struct props *p, const char *key)
{
    for (size_t i = 0; i < p->count; i++) {
        if (strcmp(p->v[i].key, key) == 0)
            return &p->v[i];
    }
    return NULL;
}

const char *props_get(const struct props *p, const char *key)
{
    const struct prop *found = find(p, key);

    return found ? found->value : NULL;
}

static void put(struct props *p, char *key, char *value, int line)
{
    struct prop *old = find(p, key);

    if (old) {
        free(old->value);
        free(key);
        old->value = value;
        old->line = line;
        return;
    }
    xgrow(p->v, p->cap, p->count + 1);
    p->v[p->count++] = (struct prop){.key = key, .value = value, .line = line};
}

void props_set(struct props *p, const char *key, const char *value)
{
    put(p, xstrdup(key), xstrdup(value), 0);
}

void props_remove(struct props *p, const char *key)
{
    for (size_t i = 0; i < p->count; i++) {
        if (strcmp(p->v[i].key, key) != 0)
            continue;
        free(p->v[i].key);
        free(p->v[i].value);
        memmove(&p->v[i], &p->v[i + 1], (p->count - i - 1) * sizeof *p->v);
        p->count--;
        return;
    }
}

void props_add(struct props *p, const struct props *from)
{
    for (size_t i = 0; i < from->count; i++)
        props_set(p, from->v[i].key, from->v[i].value);
}

bool props_equal(const struct props *a, const struct props *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const char *other = props_get(b, a->v[i].key);

        if (!other || strcmp(other, a->v[i].value) != 0)
            return false;
    }
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\f';
}

/* The text and where we are in it. */
struct scan {
    struct str in;
    size_t at;
    int line;
};

static bool at_line_end(const struct scan *s)
{
    return s->at == s->in.len || s->in.p[s->at] == '\n' || s->in.p[s->at] == '\r';
}

static void skip_blanks(struct scan *s)
{
    while (s->at < s->in.len && is_blank(s->in.p[s->at]))
        s->at++;
}

static void skip_line_end(struct scan *s)
{
    if (s->at == s->in.len)
        return;
    if (s->in.p[s->at] == '\r' && s->at + 1 < s->in.len && s->in.p[s->at + 1] == '\n')
        s->at++;
    s->at++;
    s->line++;
}

static void put_utf8(struct strbuf *out, unsigned c)
{
    if (c < 0x80) {
        strbuf_add_char(out, (char)c);
    } else if (c < 0x800) {
        strbuf_add_char(out, (char)(0xc0 | c >> 6));
        strbuf_add_char(out, (char)(0x80 | (c & 0x3f)));
    } else {
        strbuf_add_char(out, (char)(0xe0 | c >> 12));
        strbuf_add_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
        strbuf_add_char(out, (char)(0x80 | (c & 0x3f)));
    }
}

static int read_unicode(struct scan *s, struct strbuf *out)
{
    unsigned c = 0;

    if (s->in.len - s->at < 4)
        return -EINVAL;
    for (int i = 0; i < 4; i++) {
        char h = s->in.p[s->at++];
        int digit = h >= '0' && h <= '9'   ? h - '0'
                    : h >= 'a' && h <= 'f' ? h - 'a' + 10
                    : h >= 'A' && h <= 'F' ? h - 'A' + 10
                                           : -1;

        if (digit < 0)
            return -EINVAL;
        c = c << 4 | (unsigned)digit;
    }
    put_utf8(out, c);
    return 0;
}

/* After a backslash. */
static int read_escape(struct scan *s, struct strbuf *out)
{
    if (s->at == s->in.len)
        return 0;
    if (at_line_end(s)) {
        skip_line_end(s);
        skip_blanks(s);
        return 0;
    }
    char c = s->in.p[s->at++];
    switch (c) {
    case 'u':
        return read_unicode(s, out);
    case 't':
        c = '\t';
        break;
    case 'n':
        c = '\n';
        break;
    case 'r':
        c = '\r';
        break;
    case 'f':
        c = '\f';
        break;
    default:
        break;
    }
    strbuf_add_char(out, c);
    return 0;
}

/* Up to the end of the logical line, or up to a separator where this is the key. */
static int read_part(struct scan *s, bool is_key, struct strbuf *out)
{
    while (!at_line_end(s)) {
        char c = s->in.p[s->at];

        if (is_key && (c == '=' || c == ':' || is_blank(c)))
            return 0;
        if (c == '\0')
            return -EINVAL;
        s->at++;
        if (c != '\\')
            strbuf_add_char(out, c);
        else if (read_escape(s, out) < 0)
            return -EINVAL;
    }
    return 0;
}

static int read_pair(struct scan *s, struct props *p)
{
    CLEANUP(strbuf_deinit) struct strbuf key = {0};
    CLEANUP(strbuf_deinit) struct strbuf value = {0};
    int line = s->line;

    if (read_part(s, true, &key) < 0)
        return -EINVAL;
    skip_blanks(s);
    if (!at_line_end(s) && (s->in.p[s->at] == '=' || s->in.p[s->at] == ':')) {
        s->at++;
        skip_blanks(s);
    }
    if (read_part(s, false, &value) < 0)
        return -EINVAL;
    put(p, strbuf_detach(&key), strbuf_detach(&value), line);
    return 0;
}

int props_parse(struct props *p, struct str text, int *ret_line)
{
    struct scan s = {.in = text, .line = 1};

    while (s.at < s.in.len) {
        skip_blanks(&s);
        if (at_line_end(&s)) {
            skip_line_end(&s);
            continue;
        }
        if (s.in.p[s.at] == '#' || s.in.p[s.at] == '!') {
            while (!at_line_end(&s))
                s.at++;
            continue;
        }
        if (read_pair(&s, p) < 0) {
            *ret_line = s.line;
            return -EINVAL;
        }
    }
    return 0;
}

int props_load(struct props *p, const char *path, int *ret_line)
{
    CLEANUP(free_p) char *text = NULL;
    struct stat st;
    size_t have = 0;
    int r = 0;

    *ret_line = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) < 0)
        r = -errno;
    else if (S_ISDIR(st.st_mode))
        r = -EISDIR;
    text = xmalloc(MAX_FILE + 1);
    while (r == 0) {
        ssize_t n = read(fd, text + have, MAX_FILE + 1 - have);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            r = n < 0 ? -errno : 0;
            break;
        }
        have += (size_t)n;
        if (have > MAX_FILE)
            r = -EFBIG;
    }
    close(fd);
    return r < 0 ? r : props_parse(p, (struct str){text, have}, ret_line);
}

static void print_escaped(struct strbuf *out, const char *s, bool is_key)
{
    for (const char *c = s; *c; c++) {
        if (*c == '\n') {
            strbuf_addz(out, "\\n");
            continue;
        }
        bool blank = *c == ' ' && (is_key || c == s);
        if (blank || *c == '\\' || *c == '=' || *c == ':' || *c == '#' || *c == '!')
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, *c);
    }
}

void props_print_one(struct strbuf *out, const char *key, const char *value)
{
    print_escaped(out, key, true);
    strbuf_add_char(out, '=');
    print_escaped(out, value, false);
    strbuf_add_char(out, '\n');
}
