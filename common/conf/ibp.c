#include "common/conf/ibp.h"

#include <errno.h>

static const char *const names[] = {
#define IBP(name, text) [IBP_##name] = (text),
#include "common/conf/ibp.def"
#undef IBP
};

const char *ibp_name(enum ibp ibp)
{
    assert(ibp < IBP_COUNT);
    return names[ibp];
}

/* "3.9-IV0" -> "3.9", "0.10.2-IV0" -> "0.10.2". */
static struct str line_of(struct str name)
{
    struct str rest = name, line;

    str_split(&rest, '-', &line);
    return line;
}

struct str ibp_line(enum ibp ibp)
{
    return line_of(str_of(ibp_name(ibp)));
}

static const enum ibp record_versions[] = {0, IBP_0_10_0_IV0, IBP_0_11_0_IV0};

int8_t ibp_record_version(enum ibp ibp)
{
    int8_t version = RECORD_VERSION_NEWEST;

    while (ibp < record_versions[version])
        version--;
    return version;
}

enum ibp ibp_of_record_version(int8_t version)
{
    return record_versions[version];
}

bool ibp_ignores_message_format(enum ibp ibp)
{
    return ibp >= IBP_3_0_IV1;
}

/* The first two numbers, or three where the first is 0, as Kafka counted its lines before 1.0. */
static struct str line_asked_for(struct str text)
{
    int parts = str_starts_with(text, STR("0.")) ? 3 : 2;

    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] == '.' && --parts == 0)
            return (struct str){text.p, i};
    }
    return text;
}

int ibp_parse(struct str text, enum ibp *ret)
{
    struct str line = line_asked_for(text);

    for (int i = 0; i < IBP_COUNT; i++) {
        if (str_eqz(text, names[i])) {
            *ret = (enum ibp)i;
            return 0;
        }
    }
    for (int i = IBP_COUNT - 1; i >= 0; i--) {
        if (str_eq(line, line_of(str_of(names[i])))) {
            *ret = (enum ibp)i;
            return 0;
        }
    }
    return -EINVAL;
}
