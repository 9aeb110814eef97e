#include "tools/groups/groups_speed.h"

#include "common/base/mem.h"

#include <inttypes.h>
#include <stdio.h>

struct lag_track *lag_track(struct lag_track **tracks, struct str group, const struct part *part)
{
    CLEANUP(free_p)
    char *key =
        part ? xasprintf("%.*s\n%.*s\n%d", STR_ARG(group), STR_ARG(part->topic), part->partition)
             : xasprintf("%.*s", STR_ARG(group));
    struct lag_track *found;

    HASH_FIND_STR(*tracks, key, found);
    if (found)
        return found;
    found = xnew(struct lag_track);
    found->key = TAKE(key);
    HASH_ADD_KEYPTR(hh, *tracks, found->key, strlen(found->key), found);
    return found;
}

void lag_tracks_free(struct lag_track **tracks)
{
    struct lag_track *t, *next;

    HASH_ITER (hh, *tracks, t, next) {
        HASH_DEL(*tracks, t);
        free(t->key);
        free(t);
    }
}

void lag_look(struct lag_track *t, const struct lag_look *look)
{
    /* Offsets that went back were reset, or the topic is another one: what was before says
     * nothing. */
    if (t->count && look->current < t->looks[(t->next + LAG_LOOKS - 1) % LAG_LOOKS].current)
        t->count = 0;
    t->looks[t->next] = *look;
    t->next = (t->next + 1) % LAG_LOOKS;
    t->count = MIN(t->count + 1, LAG_LOOKS);
}

bool lag_speed(const struct lag_track *t, double *ret_rate, double *ret_eta_s)
{
    const struct lag_look *last = &t->looks[(t->next + LAG_LOOKS - 1) % LAG_LOOKS];
    const struct lag_look *first = &t->looks[(t->next + LAG_LOOKS - t->count) % LAG_LOOKS];
    double seconds = t->count ? (double)(last->at_ms - first->at_ms) / 1000 : 0;

    if (t->count < 2 || seconds <= 0)
        return false;
    double closing = (double)(first->lag - last->lag) / seconds;
    *ret_rate = (double)(last->current - first->current) / seconds;
    *ret_eta_s = last->lag <= 0 ? 0 : closing > 0 ? (double)last->lag / closing : -1;
    return true;
}

void lag_eta_text(double eta_s, char *room, size_t size)
{
    int64_t s = eta_s < 0 || eta_s > 1e9 ? -1 : (int64_t)(eta_s + 0.5);

    if (s < 0)
        snprintf(room, size, "never");
    else if (s < 60)
        snprintf(room, size, "%" PRId64 "s", s);
    else if (s < 3600)
        snprintf(room, size, "%" PRId64 "m %02" PRId64 "s", s / 60, s % 60);
    else if (s < 86400)
        snprintf(room, size, "%" PRId64 "h %02" PRId64 "m", s / 3600, s / 60 % 60);
    else
        snprintf(room, size, "%" PRId64 "d %02" PRId64 "h", s / 86400, s / 3600 % 24);
}
