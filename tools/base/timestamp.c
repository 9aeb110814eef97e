#include "tools/base/timestamp.h"

#include "common/base/str.h"

#include <errno.h>
#include <time.h>

/* ".123" -> 123; *p moves behind it. */
static int take_millis(const char **p, int64_t *ret)
{
    int64_t scale = 100;

    if (**p != '.')
        return 0;
    if (*++*p < '0' || **p > '9')
        return -EINVAL;
    for (; **p >= '0' && **p <= '9'; ++*p, scale /= 10)
        *ret += (**p - '0') * scale;
    return 0;
}

/* "+01:00", "-0530", "Z", nothing: seconds east of Greenwich. */
static int take_zone(const char *p, int64_t *ret)
{
    struct tm tm = {0};
    const char *end = NULL;

    if (*p == '\0' || strcmp(p, "Z") == 0)
        return 0;
    if (*p == '+' || *p == '-')
        end = strptime(p, "%z", &tm);
    *ret = tm.tm_gmtoff;
    return end && *end == '\0' ? 0 : -EINVAL;
}

int timestamp_parse(const char *text, int64_t *ret_ms)
{
    int64_t millis = 0, zone = 0;
    struct tm tm = {0};

    if (text[0] == '@')
        return str_to_i64(str_of(text + 1), 0, INT64_MAX, ret_ms) < 0 ? -EINVAL : 0;
    const char *p = strptime(text, "%Y-%m-%d", &tm);
    if (p && (*p == 'T' || *p == ' ')) {
        p = strptime(p + 1, "%H:%M:%S", &tm);
        if (!p || take_millis(&p, &millis) < 0 || take_zone(p, &zone) < 0)
            return -EINVAL;
    } else if (!p || *p) {
        return -EINVAL;
    }
    *ret_ms = ((int64_t)timegm(&tm) - zone) * 1000 + millis;
    return 0;
}
