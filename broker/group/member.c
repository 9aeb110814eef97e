#include "broker/group/member.h"

static struct str copy(struct str s)
{
    return str_is_null(s) ? STR_NULL : (struct str){str_dup(s), s.len};
}

struct member *member_new(struct str id, struct str instance, const struct member_client *client)
{
    struct member *m = xnew(struct member);

    m->id = copy(id);
    m->instance = copy(instance);
    m->client_id = copy(client->id);
    m->client_host = copy(client->host);
    m->due_us = INT64_MAX;
    return m;
}

struct member *member_free(struct member *m)
{
    if (!m)
        return NULL;
    assert(!m->join && !m->sync);
    free((void *)m->protocols.v);
    free((void *)m->assignment.p);
    free((void *)m->id.p);
    free((void *)m->instance.p);
    free((void *)m->client_id.p);
    free((void *)m->client_host.p);
    free(m);
    return NULL;
}

static size_t protocols_size(const struct member_protocols *p)
{
    size_t n = (size_t)p->count * sizeof *p->v;

    for (int32_t i = 0; i < p->count; i++)
        n += p->v[i].name.len + p->v[i].metadata.len;
    return n;
}

static const uint8_t *put(uint8_t **at, const void *from, size_t len)
{
    uint8_t *to = *at;

    if (len > 0)
        memcpy(to, from, len);
    *at += len;
    return to;
}

/* One piece of memory for all of them: the array, then what it points to. */
void member_set_protocols(struct member *m, const struct member_protocols *p)
{
    struct member_protocol *v = xmalloc(protocols_size(p) + 1);
    uint8_t *at = (uint8_t *)(v + p->count);

    for (int32_t i = 0; i < p->count; i++) {
        const struct member_protocol *from = &p->v[i];

        v[i].name =
            (struct str){(const char *)put(&at, from->name.p, from->name.len), from->name.len};
        v[i].metadata =
            slice_of(put(&at, from->metadata.p, from->metadata.len), from->metadata.len);
    }
    free((void *)m->protocols.v); /* only now: p may point into it */
    m->protocols = (struct member_protocols){v, p->count};
}

static bool is_same(const struct member_protocol *a, const struct member_protocol *b)
{
    return str_eq(a->name, b->name) && a->metadata.len == b->metadata.len &&
           (a->metadata.len == 0 || memcmp(a->metadata.p, b->metadata.p, a->metadata.len) == 0);
}

bool member_has_protocols(const struct member *m, const struct member_protocols *p)
{
    if (m->protocols.count != p->count)
        return false;
    for (int32_t i = 0; i < p->count; i++) {
        if (!is_same(&m->protocols.v[i], &p->v[i]))
            return false;
    }
    return true;
}

const struct member_protocol *member_protocol(const struct member *m, struct str name)
{
    for (int32_t i = 0; i < m->protocols.count; i++) {
        if (str_eq(m->protocols.v[i].name, name))
            return &m->protocols.v[i];
    }
    return NULL;
}

void member_set_assignment(struct member *m, struct slice assignment)
{
    uint8_t *p = NULL;

    if (assignment.len > 0) {
        p = xmalloc(assignment.len);
        memcpy(p, assignment.p, assignment.len);
    }
    free((void *)m->assignment.p);
    m->assignment = slice_of(p, assignment.len);
}
