#include "tools/base/java_text.h"

#include "common/base/clock.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

bool java_bool(const char *text)
{
    struct str s = str_trim(str_of(text));

    return s.len == 4 && strncasecmp(s.p, "true", 4) == 0;
}

/* ---- numbers ---- */

/* |v| as 0.DIGITS * 10^exponent, with the fewest digits that say it. */
struct digits {
    char text[20];
    int count, exponent;
};

static bool reads_back(const char *text, double v, bool is_float)
{
    return is_float ? strtof(text, NULL) == (float)v : strtod(text, NULL) == v;
}

static void find_digits(double v, bool is_float, struct digits *ret)
{
    char text[40];

    for (int precision = 0; precision <= 16; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, v);
        if (reads_back(text, v, is_float))
            break;
    }
    const char *e = strchr(text, 'e');
    ret->count = 0;
    for (const char *p = text; p < e && ret->count < (int)sizeof ret->text; p++) {
        if (*p != '.')
            ret->text[ret->count++] = *p;
    }
    while (ret->count > 1 && ret->text[ret->count - 1] == '0')
        ret->count--;
    int32_t power;
    ret->exponent = str_to_i32(str_of(e + 1), -400, 400, &power) == 0 ? power + 1 : 1;
}

/* True where v is no number with digits; its name was added. */
static bool add_special(struct strbuf *out, double v)
{
    if (isnan(v))
        strbuf_addz(out, "NaN");
    else if (isinf(v))
        strbuf_addz(out, v < 0 ? "-Infinity" : "Infinity");
    return isnan(v) || isinf(v);
}

/* Digits [from, to) of a number; zeros where it has none. */
static void add_digits(struct strbuf *out, const struct digits *d, int from, int to)
{
    for (int i = from; i < to; i++)
        strbuf_add_char(out, i >= 0 && i < d->count ? d->text[i] : '0');
}

/* point: how many digits stand before it; there is at least one on either side. */
static void add_with_point(struct strbuf *out, const struct digits *d, int point)
{
    if (point <= 0)
        strbuf_add_char(out, '0');
    else
        add_digits(out, d, 0, point);
    strbuf_add_char(out, '.');
    int least = MAX(point, 0) + 1;
    add_digits(out, d, point, MAX(d->count, least));
}

void java_add_float(struct strbuf *out, float v)
{
    struct digits d;

    if (add_special(out, (double)v))
        return;
    if (signbit(v))
        strbuf_add_char(out, '-');
    find_digits(fabs((double)v), true, &d);
    if (v == 0 || (d.exponent <= 7 && d.exponent >= -2)) {
        add_with_point(out, &d, d.exponent);
        return;
    }
    add_with_point(out, &d, 1);
    strbuf_addf(out, "E%d", d.exponent - 1);
}

/* Leaves the first keep digits, the last of them rounded. */
static void round_digits(struct digits *d, int keep)
{
    if (keep >= d->count)
        return;
    bool up = keep >= 0 && d->text[keep] >= '5';
    d->count = MAX(keep, 0);
    while (up && d->count > 0 && d->text[d->count - 1] == '9')
        d->count--;
    if (up && d->count > 0) {
        d->text[d->count - 1]++;
    } else if (up) { /* 9.99 became 10 */
        d->text[0] = '1';
        d->count = 1;
        d->exponent++;
    }
}

void java_add_fixed(struct strbuf *out, double v, int digits)
{
    struct digits d;

    if (add_special(out, v))
        return;
    if (signbit(v))
        strbuf_add_char(out, '-');
    find_digits(fabs(v), false, &d);
    round_digits(&d, d.exponent + digits);
    if (d.exponent <= 0)
        strbuf_add_char(out, '0');
    else
        add_digits(out, &d, 0, d.exponent);
    strbuf_add_char(out, '.');
    add_digits(out, &d, d.exponent, d.exponent + digits);
}

/* ---- dates ---- */

static int date_number(char letter, const struct tm *tm, int64_t ms)
{
    switch (letter) {
    case 'M':
        return tm->tm_mon + 1;
    case 'd':
        return tm->tm_mday;
    case 'D':
        return tm->tm_yday + 1;
    case 'H':
        return tm->tm_hour;
    case 'k':
        return tm->tm_hour ? tm->tm_hour : 24;
    case 'K':
        return tm->tm_hour % 12;
    case 'h':
        return tm->tm_hour % 12 ? tm->tm_hour % 12 : 12;
    case 'm':
        return tm->tm_min;
    case 's':
        return tm->tm_sec;
    case 'S':
        return (int)(ms % 1000);
    case 'u':
        return tm->tm_wday ? tm->tm_wday : 7;
    default:
        return tm->tm_year + 1900;
    }
}

static void add_named(struct strbuf *out, char letter, int count, const struct tm *tm)
{
    char text[64] = "";

    if (letter == 'E')
        count > 3 ? strftime(text, sizeof text, "%A", tm) : strftime(text, sizeof text, "%a", tm);
    else if (letter == 'M')
        count > 3 ? strftime(text, sizeof text, "%B", tm) : strftime(text, sizeof text, "%b", tm);
    else if (letter == 'a')
        strftime(text, sizeof text, "%p", tm);
    else if (letter == 'z')
        strftime(text, sizeof text, "%Z", tm);
    else
        strftime(text, sizeof text, "%z", tm);
    strbuf_addz(out, text);
}

static void add_date_field(struct strbuf *out, char letter, int count, const struct tm *tm,
                           int64_t ms)
{
    if (strchr("EazZ", letter) || (letter == 'M' && count > 2)) {
        add_named(out, letter, count, tm);
        return;
    }
    int n = date_number(letter, tm, ms);
    if (letter == 'y' && count == 2)
        n %= 100;
    strbuf_addf(out, "%0*d", count, n);
}

/* The text behind the quote at p; '' is a quote. Returns what follows it, NULL where it is open. */
static const char *take_quoted(const char *p, struct strbuf *out)
{
    if (p[1] == '\'') {
        strbuf_add_char(out, '\'');
        return p + 2;
    }
    for (p++; *p; p++) {
        if (*p == '\'' && p[1] != '\'')
            return p + 1;
        p += *p == '\'';
        strbuf_add_char(out, *p);
    }
    return NULL;
}

static int walk_date(const char *pattern, const struct tm *tm, int64_t ms, struct strbuf *out,
                     struct strbuf *why)
{
    for (const char *p = pattern; p && *p;) {
        bool is_letter = (*p | 0x20) >= 'a' && (*p | 0x20) <= 'z';
        if (*p == '\'') {
            p = take_quoted(p, out);
            if (!p) {
                strbuf_addz(why, "Unterminated quote");
                return -EINVAL;
            }
        } else if (!is_letter) {
            strbuf_add_char(out, *p++);
        } else if (!strchr("yMdDHkKhmsSuEazZ", *p)) {
            strbuf_addf(why, "Illegal pattern character '%c'", *p);
            return -EINVAL;
        } else {
            int count = (int)strspn(p, (char[]){*p, '\0'});
            add_date_field(out, *p, MIN(count, 20), tm, ms);
            p += count;
        }
    }
    return 0;
}

int java_date_check(const char *pattern, struct strbuf *why)
{
    CLEANUP(strbuf_deinit) struct strbuf nowhere = {0};
    struct tm tm = {.tm_mday = 1};

    return walk_date(pattern, &tm, 0, &nowhere, why);
}

void java_add_date(struct strbuf *out, const char *pattern, int64_t ms)
{
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;

    localtime_r(&seconds, &tm);
    if (walk_date(pattern, &tm, ms, out, &why) < 0)
        strbuf_addz(out, why.s);
}

/* ---- its log ---- */

void java_log_error(const char *class_name, const char *fmt, ...)
{
    CLEANUP(strbuf_deinit) struct strbuf line = {0};
    va_list ap;

    java_add_date(&line, "yyyy-MM-dd HH:mm:ss,SSS", clock_wall_ms(&clock_system));
    fflush(stdout);
    fprintf(stderr, "[%s] ERROR ", line.s);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, " (%s)\n", class_name);
}

/* As librdkafka numbers them: its own are negative. */
const char *java_exception(int code)
{
    static const struct {
        int code;
        const char *name;
    } known[] = {
        {-192, "TimeoutException"},
        {-185, "TimeoutException"},
        {-187, "TimeoutException"},
        {-195, "DisconnectException"},
        {-188, "UnknownTopicOrPartitionException"},
        {-190, "UnknownTopicOrPartitionException"},
        {3, "UnknownTopicOrPartitionException"},
        {5, "LeaderNotAvailableException"},
        {6, "NotLeaderOrFollowerException"},
        {7, "TimeoutException"},
        {10, "RecordTooLargeException"},
        {17, "InvalidTopicException"},
        {18, "RecordBatchTooLargeException"},
        {19, "NotEnoughReplicasException"},
        {20, "NotEnoughReplicasAfterAppendException"},
        {21, "InvalidRequiredAcksException"},
        {29, "TopicAuthorizationException"},
        {30, "GroupAuthorizationException"},
        {31, "ClusterAuthorizationException"},
        {32, "InvalidTimestampException"},
        {45, "OutOfOrderSequenceException"},
        {47, "InvalidProducerEpochException"},
        {76, "UnsupportedCompressionTypeException"},
        {87, "InvalidRecordException"},
    };
    static _Thread_local char text[96];
    const char *name = "KafkaException";

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (known[i].code == code)
            name = known[i].name;
    }
    snprintf(text, sizeof text, "org.apache.kafka.common.%s%s",
             strcmp(name, "KafkaException") == 0 ? "" : "errors.", name);
    return text;
}
