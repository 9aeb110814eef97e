/*
 * reassign_generate.c - proposes where the partitions of topics could lie on given brokers, as if
 * the topics were made there
 */
#include "broker/meta/placement.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "tools/reassign/reassign.h"

#include <sys/random.h>

struct proposal {
    struct placement_broker *brokers; /* sorted by id */
    int32_t broker_count;
    struct plan current;
    struct plan proposed;
};

static int by_id(const void *a, const void *b)
{
    const struct placement_broker *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static int refuse_doubles(struct reassign *ra, const char *what, const struct strbuf *twice)
{
    strbuf_addf(&ra->why, "%s contains duplicate entries: [%s]", what, twice->s);
    return -EINVAL;
}

static int read_brokers(struct reassign *ra, const char *list, struct replica_ids *ret)
{
    CLEANUP(strbuf_deinit) struct strbuf twice = {0};
    struct str rest = str_of(list), item;

    ret->v = arena_new_array(&ra->arena, int32_t, strlen(list) + 1);
    while (str_split(&rest, ',', &item)) {
        int32_t id;
        if (str_to_i32(item, INT32_MIN, INT32_MAX, &id) < 0) {
            strbuf_addf(&ra->why, "For input string: \"%.*s\"", STR_ARG(item));
            return -EINVAL;
        }
        if (replica_ids_has(ret, id))
            strbuf_addf(&twice, "%s%d", twice.len ? ", " : "", id);
        ret->v[ret->count++] = id;
    }
    return twice.len ? refuse_doubles(ra, "Broker list", &twice) : 0;
}

static int read_topics(struct reassign *ra, struct str json, struct str **ret, size_t *ret_count)
{
    CLEANUP(strbuf_deinit) struct strbuf twice = {0};
    int r = plan_parse_topics(json, &ra->arena, ret, ret_count, &ra->why);

    r = opts_blame(ra->o, ra->file_id, r, &ra->why);
    for (size_t i = 0; r == 0 && i < *ret_count; i++) {
        int seen = 0;
        for (size_t k = 0; k < i; k++)
            seen += str_eq((*ret)[k], (*ret)[i]);
        if (seen == 1)
            strbuf_addf(&twice, "%s%.*s", twice.len ? ", " : "", STR_ARG((*ret)[i]));
    }
    return r == 0 && twice.len ? refuse_doubles(ra, "List of topics to reassign", &twice) : r;
}

/* With racks all of them must have one, or none. */
static int check_racks(struct reassign *ra, struct proposal *p)
{
    int32_t with = 0;

    for (int32_t i = 0; i < p->broker_count; i++)
        with += !str_is_null(p->brokers[i].rack);
    if (with == 0 || with == p->broker_count)
        return 0;
    strbuf_addz(&ra->why, "Not all brokers have rack information. Add --disable-rack-aware in "
                          "command line to make replica assignment without rack information.");
    return -EINVAL;
}

static int usable_brokers(struct reassign *ra, const struct replica_ids *ids, bool uses_racks,
                          struct proposal *p)
{
    const struct metadata_response *m;
    int r = reassign_brokers(ra, &m);

    if (r)
        return r;
    p->brokers = arena_new_array(&ra->arena, struct placement_broker, (size_t)m->brokers_count + 1);
    for (int32_t i = 0; i < m->brokers_count; i++) {
        if (replica_ids_has(ids, m->brokers[i].node_id))
            p->brokers[p->broker_count++] = (struct placement_broker){
                m->brokers[i].node_id, uses_racks ? m->brokers[i].rack : STR_NULL};
    }
    if (p->broker_count)
        qsort(p->brokers, (size_t)p->broker_count, sizeof *p->brokers, by_id);
    return check_racks(ra, p);
}

static uint32_t random_below(int32_t n)
{
    uint32_t x = 0;

    if (getrandom(&x, sizeof x, 0) != sizeof x)
        x = 0; /* any start will do */
    return x % (uint32_t)n;
}

/* The partitions [from, from + count) of the current plan are those of one topic. */
static int propose_topic(struct reassign *ra, struct proposal *p, size_t from, size_t count)
{
    int32_t factor = p->current.v[from].replicas.count, *ids;

    if (factor > p->broker_count) {
        strbuf_addf(&ra->why, "Replication factor: %d larger than available brokers: %d.", factor,
                    p->broker_count);
        return -EINVAL;
    }
    if (factor == 0) {
        strbuf_addz(&ra->why, "Replication factor must be larger than 0.");
        return -EINVAL;
    }
    const struct placement pl = {
        .brokers = p->brokers,
        .broker_count = p->broker_count,
        .partitions = (int32_t)count,
        .replication_factor = factor,
        .start = random_below(p->broker_count),
        .shift = random_below(p->broker_count),
    };
    int r = placement_assign(&pl, &ra->arena, &ids);
    if (r < 0) {
        strbuf_addf(&ra->why, "no placement for %zu partitions with %d replicas: %s", count, factor,
                    err_name(r));
        return r;
    }
    for (size_t i = 0; i < count; i++)
        p->proposed.v[p->proposed.count++] =
            (struct plan_entry){.topic = p->current.v[from].topic,
                                .partition = (int32_t)i,
                                .replicas = {ids + i * (size_t)factor, factor}};
    return 0;
}

static int propose(struct reassign *ra, struct proposal *p)
{
    int r = 0;

    p->proposed.v = arena_new_array(&ra->arena, struct plan_entry, p->current.count + 1);
    for (size_t i = 0, next; r == 0 && i < p->current.count; i = next) {
        next = i + 1;
        while (next < p->current.count && str_eq(p->current.v[next].topic, p->current.v[i].topic))
            next++;
        r = propose_topic(ra, p, i, next - i);
    }
    return r;
}

int reassign_generate(struct reassign *ra, struct str topics_json, const char *brokers,
                      bool uses_racks)
{
    CLEANUP(strbuf_deinit) struct strbuf now = {0};
    CLEANUP(strbuf_deinit) struct strbuf then = {0};
    struct replica_ids ids = {0};
    struct proposal p = {0};
    struct str *topics = NULL;
    size_t count = 0;
    int r = opts_blame(ra->o, ra->brokers_id, read_brokers(ra, brokers, &ids), &ra->why);

    r = r ? r : read_topics(ra, topics_json, &topics, &count);
    r = r ? r : reassign_current(ra, topics, count, true, &p.current);
    r = r ? r : usable_brokers(ra, &ids, uses_racks, &p);
    r = r ? r : propose(ra, &p);
    if (r)
        return r;
    plan_print(&p.current, &now);
    plan_print(&p.proposed, &then);
    printf("Current partition replica assignment\n%s\n\nProposed partition reassignment "
           "configuration\n%s\n",
           now.s, then.s);
    return 0;
}
