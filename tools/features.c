#include "tools/features.h"

#include "common/conf/ibp.h"

#include <errno.h>

/* Levels begin with 1 for 3.0-IV1; those before 3.3 were never meant for use. */
enum { LEVEL_0 = IBP_3_0_IV0, OLDEST = IBP_3_3_IV0, NEWEST = IBP_3_9_IV0 };

int feature_level(const char *version, int16_t *ret, struct strbuf *why)
{
    enum ibp ibp;

    if (ibp_parse(str_of(version), &ibp) == 0 && (int)ibp > LEVEL_0 && (int)ibp <= NEWEST) {
        *ret = (int16_t)(ibp - LEVEL_0);
        return 0;
    }
    strbuf_addf(why, "Unsupported metadata.version %s. Supported metadata.version are ", version);
    for (int i = OLDEST; i <= NEWEST; i++)
        strbuf_addf(why, "%s%s", i == OLDEST ? "" : ", ", ibp_name((enum ibp)i));
    return -EINVAL;
}

void feature_level_text(struct str feature, int16_t level, struct strbuf *ret)
{
    if (str_eqz(feature, FEATURE_METADATA) && level >= 1 && level <= NEWEST - LEVEL_0)
        strbuf_addz(ret, ibp_name((enum ibp)(LEVEL_0 + level)));
    else
        strbuf_addf(ret, "%d", level);
}

int feature_parse(const char *text, enum feature_change change, struct feature_update *ret,
                  struct strbuf *why)
{
    const char *eq = strchr(text, '=');
    int32_t level;

    if (change == FEATURE_DISABLE) {
        *ret = (struct feature_update){str_of(text), 0};
        return 0;
    }
    if (!eq) {
        strbuf_addf(why, "Can't parse feature=level string %s: equals sign not found.", text);
        return -EINVAL;
    }
    if (str_to_i32(str_trim(str_of(eq + 1)), INT16_MIN, INT16_MAX, &level) < 0) {
        strbuf_addf(why, "Can't parse feature=level string %s: unable to parse %s as a short.",
                    text, eq + 1);
        return -EINVAL;
    }
    *ret =
        (struct feature_update){str_trim((struct str){text, (size_t)(eq - text)}), (int16_t)level};
    return 0;
}

int feature_add(struct feature_updates *u, struct feature_update one, struct strbuf *why)
{
    int at = 0;

    while (at < u->count && str_cmp(u->v[at].name, one.name) < 0)
        at++;
    if (at < u->count && str_eq(u->v[at].name, one.name)) {
        strbuf_addf(why, "Feature %.*s was specified more than once.", STR_ARG(one.name));
        return -EINVAL;
    }
    memmove(&u->v[at + 1], &u->v[at], (size_t)(u->count - at) * sizeof *u->v);
    u->v[at] = one;
    u->count++;
    return 0;
}

int feature_check(const struct feature_updates *u, enum feature_change change, struct strbuf *why)
{
    static const char *const verbs[] = {"upgrade", "downgrade", "disable"};

    if (u->count == 0) {
        strbuf_addf(why, "You must specify at least one feature to %s", verbs[change]);
        return -EINVAL;
    }
    for (int i = 0; i < u->count; i++) {
        if (u->v[i].level < 0) {
            strbuf_addz(why, "Cannot specify a negative version level.");
            return -EINVAL;
        }
        if (u->v[i].level == 0 && change == FEATURE_UPGRADE) {
            strbuf_addz(why, "The upgradeType flag should be set to SAFE_DOWNGRADE or "
                             "UNSAFE_DOWNGRADE when the provided maxVersionLevel:0 is < 1.");
            return -EINVAL;
        }
    }
    for (int i = 0; i < u->count; i++) {
        if (u->v[i].name.len == 0) {
            strbuf_addz(why, "Provided feature can not be empty.");
            return -EINVAL;
        }
    }
    return 0;
}
