#include "tools/groups/groups_plan.h"

#include "common/base/mem.h"

#include <ctype.h>
#include <errno.h>

/* ---- partitions ---- */

int part_order(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    int r = str_cmp(x->topic, y->topic);

    return r ? r : (x->partition > y->partition) - (x->partition < y->partition);
}

void parts_add(struct parts *p, struct arena *a, struct part part)
{
    if (p->count == p->cap) {
        size_t cap = p->cap * 2 + 8;
        struct part *v = arena_new_array(a, struct part, cap);
        if (p->count)
            memcpy(v, p->v, p->count * sizeof *v);
        p->v = v;
        p->cap = cap;
    }
    p->v[p->count++] = part;
}

const struct part *parts_sort(struct parts *p)
{
    const struct part *twice = NULL;
    size_t n = 0;

    if (p->count)
        qsort(p->v, p->count, sizeof *p->v, part_order);
    for (size_t i = 0; i < p->count; i++) {
        if (n && part_order(&p->v[n - 1], &p->v[i]) == 0)
            twice = twice ? twice : &p->v[n - 1];
        else
            p->v[n++] = p->v[i];
    }
    p->count = n;
    return twice;
}

bool topic_arg_has_parts(const char *text)
{
    return strchr(text, ':');
}

/* Java's split(): empty parts at the end are none. */
static struct str without_tail(struct str s, char sep)
{
    while (s.len && s.p[s.len - 1] == sep)
        s.len--;
    return s;
}

static int not_a_topic_arg(const char *text, struct strbuf *why)
{
    strbuf_addf(why, "Invalid topic arg '%s', expected topic name and partitions", text);
    return -EINVAL;
}

int topic_arg_parse(const char *text, struct arena *a, struct parts *ret, struct strbuf *why)
{
    struct str rest = without_tail(str_of(text), ':'), topic = STR_NULL, list = STR_NULL, item;
    struct part part;

    if (!str_split(&rest, ':', &topic) || !str_split(&rest, ':', &list) || !str_is_null(rest))
        return not_a_topic_arg(text, why);
    list = without_tail(list, ',');
    if (list.len == 0)
        return 0;
    part.topic = arena_str(a, topic);
    while (str_split(&list, ',', &item)) {
        if (str_to_i32(item, INT32_MIN, INT32_MAX, &part.partition) < 0) {
            strbuf_addf(why, "Invalid partition '%.*s' specified in topic arg '%s''", STR_ARG(item),
                        text);
            return -EINVAL;
        }
        parts_add(ret, a, part);
    }
    return 0;
}

/* ---- reset plans ---- */

enum { CSV_COLUMNS = 4 };

struct csv_row {
    struct str values[CSV_COLUMNS];
    int columns[CSV_COLUMNS]; /* where they begin, from 1 */
    int count;
};

struct csv {
    const struct reset_plan_opts *opts;
    struct arena *arena;
    struct reset_plan *plan;
    struct strbuf *why;
    bool has_group; /* as Kafka's tool: what all lines are taken for */
    int line;
};

/* The value at *at, quotes taken off; *at moves behind it. False where a quote is not closed. */
static bool csv_value(struct arena *a, struct str line, size_t *at, struct str *ret)
{
    size_t i = *at;
    bool is_quoted = i < line.len && line.p[i] == '"';

    if (!is_quoted) {
        while (i < line.len && line.p[i] != ',')
            i++;
        *ret = (struct str){line.p + *at, i - *at};
        *at = i;
        return true;
    }
    char *out = arena_alloc(a, line.len + 1);
    size_t n = 0;
    for (i++; i < line.len; i++) {
        if (line.p[i] == '"') {
            if (i + 1 == line.len || line.p[i + 1] != '"')
                break;
            i++;
        }
        out[n++] = line.p[i];
    }
    *ret = (struct str){out, n};
    if (i == line.len)
        return false;
    while (i < line.len && line.p[i] != ',')
        i++;
    *at = i;
    return true;
}

static int csv_unclosed(struct csv *c, struct str line)
{
    if (c->opts->as_kafka)
        strbuf_addf(c->why,
                    "com.fasterxml.jackson.core.JsonParseException: Missing closing quote for "
                    "value\n at [Source: (StringReader); line: 1, column: %zu]",
                    line.len * 2 + 1);
    else
        strbuf_addf(c->why, "line %d: a quote is not closed", c->line);
    return -EINVAL;
}

static int csv_too_many(struct csv *c, int most, struct str value, size_t column)
{
    if (c->opts->as_kafka)
        strbuf_addf(c->why,
                    "com.fasterxml.jackson.dataformat.csv.CsvReadException: Too many entries: "
                    "expected at most %d (value #%d (%zu chars) \"%.*s\")\n at [Source: "
                    "(StringReader); line: 1, column: %zu]",
                    most, most, value.len, STR_ARG(value), column);
    else
        strbuf_addf(c->why,
                    "line %d: too many values, \"topic,partition,offset\" or "
                    "\"group,topic,partition,offset\" is wanted",
                    c->line);
    return -EINVAL;
}

static int csv_split(struct csv *c, struct str line, int most, struct csv_row *ret)
{
    size_t at = 0;

    *ret = (struct csv_row){0};
    for (;;) {
        size_t start = at;
        struct str value;
        if (!csv_value(c->arena, line, &at, &value))
            return csv_unclosed(c, line);
        bool is_last = at == line.len;
        if (ret->count == most) {
            if (is_last && value.len == 0) /* a comma at the end */
                return 0;
            return csv_too_many(c, most, value, start + 1);
        }
        ret->values[ret->count] = value;
        ret->columns[ret->count++] = (int)start + 1;
        if (is_last)
            return 0;
        at++;
    }
}

/* A number that is none, in Jackson's words or in ours. */
static int csv_bad_number(struct csv *c, const struct csv_row *row, int i, bool is_out_of_range)
{
    bool is_offset = i == 2 + c->has_group;
    const char *type = is_offset ? "long" : "int";
    struct str value = row->values[i];

    if (!c->opts->as_kafka) {
        strbuf_addf(c->why, "line %d: '%.*s' is no %s", c->line, STR_ARG(value),
                    is_offset ? "offset" : "partition");
        return -EINVAL;
    }
    value = str_trim(value);
    strbuf_addz(c->why, "com.fasterxml.jackson.databind.");
    if (is_out_of_range)
        strbuf_addf(c->why, "JsonMappingException: Numeric value (%.*s) out of range of %s",
                    STR_ARG(value), type);
    else
        strbuf_addf(c->why,
                    "exc.InvalidFormatException: Cannot deserialize value of type `%s` from String "
                    "\"%.*s\": not a valid `%s` value",
                    type, STR_ARG(value), type);
    strbuf_addf(c->why,
                "\n at [Source: (StringReader); line: 1, column: %d] (through reference chain: "
                "org.apache.kafka.tools.consumer.group.CsvUtils$CsvRecord%sGroup[\"%s\"])",
                row->columns[i], c->has_group ? "With" : "No", is_offset ? "offset" : "partition");
    return -EINVAL;
}

/* Kafka's tool takes a number that is missing for 0. */
static int csv_number(struct csv *c, const struct csv_row *row, int i, int64_t *ret)
{
    bool is_offset = i == 2 + c->has_group;
    int64_t least = c->opts->as_kafka ? INT64_MIN : 0, most = INT64_MAX;

    if (!is_offset) {
        least = c->opts->as_kafka ? INT32_MIN : 0;
        most = INT32_MAX;
    }
    *ret = 0;
    if (c->opts->as_kafka && (i >= row->count || str_trim(row->values[i]).len == 0))
        return 0;
    int r = str_to_i64(str_trim(row->values[i]), least, most, ret);
    return r == 0 ? 0 : csv_bad_number(c, row, i, r == -ERANGE);
}

static int csv_empty(struct csv *c)
{
    strbuf_addz(c->why,
                "com.fasterxml.jackson.databind.exc.MismatchedInputException: No content to "
                "map due to end-of-input\n at [Source: (StringReader); line: UNKNOWN, "
                "column: UNKNOWN]");
    return -EINVAL;
}

/* A line as Kafka's tool reads it: c->has_group is known. */
static int csv_line(struct csv *c, struct str line, struct plan_line *ret)
{
    struct csv_row row;
    int64_t partition = 0;
    int first = c->has_group;

    if (line.len && line.p[line.len - 1] == '\r')
        line.len--;
    if (line.len == 0)
        return csv_empty(c);
    int r = csv_split(c, line, 3 + c->has_group, &row);
    r = r ? r : csv_number(c, &row, first + 1, &partition);
    r = r ? r : csv_number(c, &row, first + 2, &ret->offset);
    ret->group = c->has_group ? row.values[0] : STR_NULL;
    ret->part = (struct part){row.values[first], (int32_t)partition};
    if (!ret->part.topic.p)
        ret->part.topic = STR("");
    return r;
}

/* A line as our own tool reads it: the number of values says which form it is. */
static int our_line(struct csv *c, struct str line, struct plan_line *ret)
{
    struct csv_row row;
    int64_t partition = 0;
    int r = csv_split(c, line, CSV_COLUMNS, &row);

    if (r)
        return r;
    c->has_group = row.count == 4;
    if (row.count < 3) {
        strbuf_addf(c->why,
                    "line %d: %d value%s, \"topic,partition,offset\" or "
                    "\"group,topic,partition,offset\" is wanted",
                    c->line, row.count, row.count == 1 ? "" : "s");
        return -EINVAL;
    }
    if (!c->has_group && !c->opts->is_single) {
        strbuf_addf(c->why, "line %d: it names no group, and the command line not just one",
                    c->line);
        return -EINVAL;
    }
    r = csv_number(c, &row, c->has_group + 1, &partition);
    r = r ? r : csv_number(c, &row, c->has_group + 2, &ret->offset);
    ret->group = c->has_group ? str_trim(row.values[0]) : STR_NULL;
    ret->part = (struct part){str_trim(row.values[c->has_group]), (int32_t)partition};
    if (r == 0 && ret->part.topic.len == 0) {
        strbuf_addf(c->why, "line %d: it names no topic", c->line);
        r = -EINVAL;
    }
    return r;
}

static int by_line(const void *a, const void *b)
{
    const struct plan_line *x = a, *y = b;
    int r = str_cmp(x->group, y->group);

    r = r ? r : part_order(&x->part, &y->part);
    return r ? r : x->line - y->line;
}

static void plan_tidy(struct reset_plan *p)
{
    size_t n = 0;

    if (p->count)
        qsort(p->v, p->count, sizeof *p->v, by_line);
    for (size_t i = 0; i < p->count; i++) {
        if (n && str_cmp(p->v[n - 1].group, p->v[i].group) == 0 &&
            part_order(&p->v[n - 1].part, &p->v[i].part) == 0)
            n--;
        p->v[n++] = p->v[i];
    }
    p->count = n;
}

static size_t count_lines(struct str text)
{
    size_t n = 1;

    for (size_t i = 0; i < text.len; i++)
        n += text.p[i] == '\n';
    return n;
}

/* Kafka's tool tries the first line without a group; what that fails with it does not show. */
static bool first_has_group(struct csv *c, struct str text)
{
    CLEANUP(strbuf_deinit) struct strbuf unseen = {0};
    struct csv try = *c;
    struct plan_line line;
    struct str first = STR_NULL;

    if (!c->opts->is_single)
        return true;
    try.why = &unseen;
    try.has_group = false;
    return str_split(&text, '\n', &first) && csv_line(&try, first, &line) < 0;
}

int reset_plan_parse(struct str text, const struct reset_plan_opts *opts, struct arena *a,
                     struct reset_plan *ret, struct strbuf *why)
{
    struct csv c = {.opts = opts, .arena = a, .plan = ret, .why = why};
    struct str rest = text.len ? without_tail(text, '\n') : STR(""), line;
    int r = 0;

    *ret = (struct reset_plan){.v = arena_new_array(a, struct plan_line, count_lines(rest))};
    if (text.len && rest.len == 0)
        return 0;
    if (opts->as_kafka)
        c.has_group = first_has_group(&c, rest);
    while (r == 0 && str_split(&rest, '\n', &line)) {
        struct plan_line *to = &ret->v[ret->count];
        to->line = ++c.line;
        if (!opts->as_kafka && str_trim(line).len == 0)
            continue;
        r = opts->as_kafka ? csv_line(&c, line, to) : our_line(&c, str_trim(line), to);
        ret->count += r == 0;
    }
    plan_tidy(ret);
    return r;
}

const struct plan_line *reset_plan_of(const struct reset_plan *p, struct str group,
                                      size_t *ret_count)
{
    size_t from = 0, to = p->count;

    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (str_cmp(p->v[mid].group, group) < 0)
            from = mid + 1;
        else
            to = mid;
    }
    *ret_count = 0;
    while (from + *ret_count < p->count && str_cmp(p->v[from + *ret_count].group, group) == 0)
        ++*ret_count;
    return p->v ? p->v + from : NULL;
}

/* Long values are quoted unseen, as well as whatever stands before '-' in ASCII. */
void csv_add(struct strbuf *out, struct str value)
{
    enum { PLAIN_MAX = 24 };
    bool is_plain = value.len <= PLAIN_MAX;

    for (size_t i = 0; i < value.len; i++)
        is_plain = is_plain && (unsigned char)value.p[i] >= '-';
    if (is_plain) {
        strbuf_add_str(out, value);
        return;
    }
    strbuf_add_char(out, '"');
    for (size_t i = 0; i < value.len; i++) {
        if (value.p[i] == '"')
            strbuf_add_char(out, '"');
        strbuf_add_char(out, value.p[i]);
    }
    strbuf_add_char(out, '"');
}
