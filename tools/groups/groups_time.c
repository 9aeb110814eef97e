/*
 * groups_time.c - moments and durations as kafka-consumer-groups takes them, and its lists of
 * states and types
 */
#include "common/base/str.h"
#include "tools/groups/groups_plan.h"

#include <ctype.h>
#include <errno.h>
#include <strings.h>
#include <time.h>

/* ---- moments ---- */

static void skip_blanks(struct str *s)
{
    while (s->len && (s->p[0] == ' ' || s->p[0] == '\t'))
        *s = (struct str){s->p + 1, s->len - 1};
}

/* A number of at least one digit behind blanks, and the character that has to follow, '\0': any. */
static bool take_number(struct str *s, int64_t max, char then, int64_t *ret)
{
    size_t n = 0;

    skip_blanks(s);
    while (n < s->len && isdigit((unsigned char)s->p[n]))
        n++;
    if (n == 0 || str_to_i64((struct str){s->p, n}, 0, max, ret) < 0)
        return false;
    *s = (struct str){s->p + n, s->len - n};
    if (!then)
        return true;
    if (s->len == 0 || s->p[0] != then)
        return false;
    *s = (struct str){s->p + 1, s->len - 1};
    return true;
}

/* Two digits. */
static int two(struct str s, size_t at)
{
    if (at + 2 > s.len || !isdigit((unsigned char)s.p[at]) || !isdigit((unsigned char)s.p[at + 1]))
        return -1;
    return (s.p[at] - '0') * 10 + s.p[at + 1] - '0';
}

/* "Z", "+01:30", "+01"; what follows is of no interest. Minutes count only where they are. */
static bool take_zone(struct str s, int64_t *ret_minutes)
{
    if (s.len && s.p[0] == 'Z') {
        *ret_minutes = 0;
        return true;
    }
    if (s.len == 0 || (s.p[0] != '+' && s.p[0] != '-'))
        return false;
    int hours = two(s, 1), minutes = s.len > 3 && s.p[3] == ':' ? two(s, 4) : -1;
    if (hours < 0 || hours > 23)
        return false;
    minutes = minutes > 59 ? 0 : MAX(minutes, 0);
    *ret_minutes = (hours * 60 + minutes) * (s.p[0] == '-' ? -1 : 1);
    return true;
}

static bool is_date(const struct tm *tm)
{
    struct tm t = *tm;

    timegm(&t);
    return t.tm_mday == tm->tm_mday && t.tm_mon == tm->tm_mon && t.tm_year == tm->tm_year;
}

static bool take_datetime(struct str s, int64_t *ret_ms)
{
    int64_t year, month, day, hour, minute, second, millis, zone;

    if (!take_number(&s, 100000000, '-', &year) || !take_number(&s, 12, '-', &month) ||
        !take_number(&s, 31, 'T', &day) || !take_number(&s, 23, ':', &hour) ||
        !take_number(&s, 59, ':', &minute) || !take_number(&s, 59, '.', &second) ||
        !take_number(&s, 999, '\0', &millis))
        return false;
    skip_blanks(&s);
    struct tm tm = {.tm_year = (int)year - 1900,
                    .tm_mon = (int)month - 1,
                    .tm_mday = (int)day,
                    .tm_hour = (int)hour,
                    .tm_min = (int)minute,
                    .tm_sec = (int)second};
    if (year < 1 || month < 1 || day < 1 || !is_date(&tm) || !take_zone(s, &zone))
        return false;
    *ret_ms = ((int64_t)timegm(&tm) - zone * 60) * 1000 + millis;
    return true;
}

int datetime_parse(const char *text, int64_t *ret_ms, struct strbuf *why)
{
    CLEANUP(strbuf_deinit) struct strbuf whole = {0};
    const char *time = strchr(text, 'T');

    while (time && time[1] == 'T')
        time++;
    if (!time || time[1] == '\0') {
        strbuf_addz(why, "Error parsing timestamp. It does not contain a 'T' according to ISO8601 "
                         "format");
        return -EINVAL;
    }
    strbuf_addz(&whole, text);
    if (!strpbrk(time, "+-Z"))
        strbuf_add_char(&whole, 'Z');
    if (take_datetime(strbuf_str(&whole), ret_ms))
        return 0;
    strbuf_addf(why, "Unparseable date: \"%s\"", whole.s);
    return -EINVAL;
}

/* ---- durations ---- */

static const struct {
    char letter;
    bool is_time; /* behind the T */
    int64_t seconds;
    const char *name;
} units[] = {{'D', false, 86400, "days"},
             {'H', true, 3600, "hours"},
             {'M', true, 60, "minutes"},
             {'S', true, 1, "seconds"}};

static int no_duration(const char *what, struct strbuf *why)
{
    strbuf_addf(why, "Text cannot be parsed to a Duration%s%s", what ? ": " : "", what ? what : "");
    return -EINVAL;
}

struct span {
    int64_t seconds, nanos;
    bool is_negative;
    bool is_time; /* the T was passed */
};

/* ".5" behind seconds: at most nine digits, none is fine. */
static bool take_fraction(const char **p, bool is_negative, int64_t *ret_nanos)
{
    int64_t scale = 100000000;

    for (++*p; isdigit((unsigned char)**p); ++*p, scale /= 10) {
        if (scale == 0)
            return false;
        *ret_nanos += (**p - '0') * scale * (is_negative ? -1 : 1);
    }
    return true;
}

/* "-12H"; *unit: the next one that may stand there, and then behind the one that stood. */
static int take_unit(const char **p, size_t *unit, struct span *span, struct strbuf *why)
{
    const char *start = *p;
    int64_t n, product;
    bool has_fraction = false;

    *p += **p == '+' || **p == '-';
    if (!isdigit((unsigned char)**p))
        return no_duration(NULL, why);
    while (isdigit((unsigned char)**p))
        ++*p;
    struct str number = {start, (size_t)(*p - start)};
    if (**p == '.' || **p == ',') {
        has_fraction = true;
        if (!take_fraction(p, *start == '-', &span->nanos))
            return no_duration(NULL, why);
    }
    while (*unit < ARRAY_LEN(units) && toupper((unsigned char)**p) != units[*unit].letter)
        ++*unit;
    if (*unit == ARRAY_LEN(units) || units[*unit].is_time != span->is_time ||
        (has_fraction && units[*unit].letter != 'S'))
        return no_duration(NULL, why);
    ++*p;
    const char *name = units[*unit].name;
    if (str_to_i64(number, INT64_MIN, INT64_MAX, &n) < 0 ||
        mul_overflows(n, units[(*unit)++].seconds, &product))
        return no_duration(name, why);
    if (add_overflows(span->seconds, product, &span->seconds))
        return no_duration("overflow", why);
    return 0;
}

static int take_span(const char *p, struct span *span, struct strbuf *why)
{
    size_t unit = 0;
    bool has_any = false;

    span->is_negative = *p == '-';
    p += *p == '+' || *p == '-';
    if (toupper((unsigned char)*p++) != 'P')
        return no_duration(NULL, why);
    while (*p) {
        if (toupper((unsigned char)*p) == 'T' && !span->is_time) {
            span->is_time = true;
            has_any = false; /* something has to follow */
            p++;
            continue;
        }
        int r = take_unit(&p, &unit, span, why);
        if (r < 0)
            return r;
        has_any = true;
    }
    return has_any ? 0 : no_duration(NULL, why);
}

int duration_before(const char *text, int64_t now_ms, int64_t *ret_ms, struct strbuf *why)
{
    /* The seconds that Java's Instant knows. */
    const int64_t least = INT64_C(-31557014167219200), most = INT64_C(31556889864403199);
    struct span span = {0};
    int64_t at, millis;
    int r = take_span(text, &span, why);

    if (r < 0)
        return r;
    if (span.is_negative) {
        if (__builtin_sub_overflow(0, span.seconds, &span.seconds))
            return no_duration("overflow", why);
        span.nanos = -span.nanos;
    }
    millis = now_ms % 1000 - span.nanos / 1000000;
    if (__builtin_sub_overflow(now_ms / 1000, span.seconds, &at) || at < least || at > most) {
        strbuf_addz(why, "Instant exceeds minimum or maximum instant");
        return -EINVAL;
    }
    if (mul_overflows(at, 1000, &at) || add_overflows(at, millis, &at)) {
        strbuf_addz(why, "long overflow");
        return -EINVAL;
    }
    *ret_ms = at;
    return 0;
}

/* ---- states and types ---- */

struct names {
    const char *kind, *valid; /* for the message */
    const char *const *known;
    size_t count;
};

static const char *const states[] = {
    "PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Empty",
    "Assigning",          "Reconciling"};
static const char *const types[] = {"Consumer", "Classic"};

static const char *known_name(const struct names *names, struct str name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (name.len == strlen(names->known[i]) &&
            strncasecmp(name.p, names->known[i], name.len) == 0)
            return names->known[i];
    }
    return NULL;
}

static int names_parse(const char *text, const struct names *names, struct arena *a,
                       struct str **ret, struct strbuf *why)
{
    struct str rest = str_of(text), item;
    int count = 0;

    while (rest.len && rest.p[rest.len - 1] == ',') /* Java's split() */
        rest.len--;
    *ret = arena_new_array(a, struct str, strlen(text) + 1);
    if (rest.len == 0)
        return 0;
    while (str_split(&rest, ',', &item)) {
        const char *known = known_name(names, str_trim(item));
        if (!known) {
            strbuf_addf(why, "Invalid %s list '%s'. Valid %s are: ", names->kind, text,
                        names->valid);
            for (size_t i = 0; i < names->count; i++)
                strbuf_addf(why, "%s%s", i ? ", " : "", names->known[i]);
            return -EINVAL;
        }
        (*ret)[count++] = str_of(known);
    }
    return count;
}

int states_parse(const char *text, struct arena *a, struct str **ret, int32_t *ret_count,
                 struct strbuf *why)
{
    const struct names names = {"state", "states", states, ARRAY_LEN(states)};
    int n = names_parse(text, &names, a, ret, why);

    *ret_count = MAX(n, 0);
    return MIN(n, 0);
}

int types_parse(const char *text, struct arena *a, struct str **ret, int32_t *ret_count,
                struct strbuf *why)
{
    const struct names names = {"types", "types", types, ARRAY_LEN(types)};
    int n = names_parse(text, &names, a, ret, why);

    *ret_count = MAX(n, 0);
    return MIN(n, 0);
}
