/*
 * groups_lag.c - `klamm groups lag`: how far groups are behind, how fast they read, and when they
 * will have caught up
 *
 * Rates need two looks at a group, so they are shown with --watch, over the last looks: consumers
 * commit every few seconds only, and one interval would show nothing or too much.
 */
#include "common/base/err.h"
#include "common/base/mem.h"
#include "tools/base/table.h"
#include "tools/groups/groups_speed.h"
#include "tools/groups/groups_view.h"

#include <inttypes.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* ---- one look ---- */

struct watch {
    struct groups *g;
    struct lag_track *tracks;
    bool is_watching;
    int64_t at_ms;
};

static void headings(const struct watch *w, struct table *t)
{
    table_add(t, "GROUP", false);
    table_add(t, "TOPIC", false);
    table_add(t, "PARTITION", true);
    table_add(t, "CURRENT-OFFSET", true);
    table_add(t, "LOG-END-OFFSET", true);
    table_add(t, "LAG", true);
    if (!w->is_watching)
        return;
    table_add(t, "RATE", true);
    table_add(t, "ETA", true);
}

static void number_cell(struct table *t, int64_t n)
{
    if (n < 0)
        table_cell(t, "-");
    else
        table_cell(t, "%" PRId64, n);
}

/* As JSON whole numbers: records a second, seconds. */
static void speed_cells(struct watch *w, struct table *t, struct lag_track *track,
                        const struct lag_look *look)
{
    bool is_json = w->g->output == GROUPS_JSON;
    double rate, eta;
    char text[32];

    if (look->lag >= 0)
        lag_look(track, look);
    if (look->lag < 0 || !lag_speed(track, &rate, &eta)) {
        table_cell(t, "-");
        table_cell(t, "-");
        return;
    }
    lag_eta_text(eta, text, sizeof text);
    table_cell(t, is_json ? "%.0f" : "%.0f/s", rate);
    if (is_json)
        number_cell(t, eta < 0 || eta > 1e9 ? -1 : (int64_t)(eta + 0.5));
    else
        table_cell(t, "%s", text);
}

static void row_cells(struct watch *w, struct table *t, const struct group_rows *rows,
                      const struct offset_row *row)
{
    struct str id = rows->group->id;
    const struct lag_look look = {w->at_ms, row->current, offset_row_lag(row)};

    table_cell(t, "%.*s", STR_ARG(id));
    table_cell(t, "%.*s", STR_ARG(row->part.topic));
    table_cell(t, "%d", row->part.partition);
    number_cell(t, row->current);
    number_cell(t, row->end);
    number_cell(t, look.lag);
    if (w->is_watching)
        speed_cells(w, t, lag_track(&w->tracks, id, &row->part), &look);
}

/* The sum over a group's partitions whose lag is known; "(sum)" is no topic's name. */
static void sum_cells(struct watch *w, struct table *t, const struct group_rows *rows)
{
    struct lag_look look = {.at_ms = w->at_ms};
    struct str id = rows->group->id;

    for (size_t i = 0; i < rows->count; i++) {
        int64_t lag = offset_row_lag(&rows->v[i]);
        look.current += lag < 0 ? 0 : rows->v[i].current;
        look.lag += MAX(lag, 0);
    }
    table_cell(t, "%.*s", STR_ARG(id));
    table_cell(t, w->g->output == GROUPS_JSON ? "-" : "(sum)");
    table_cell(t, "-");
    table_cell(t, "-");
    table_cell(t, "-");
    number_cell(t, look.lag);
    if (w->is_watching)
        speed_cells(w, t, lag_track(&w->tracks, id, NULL), &look);
}

static void show(struct watch *w, const struct group_rows *rows, size_t n)
{
    struct table t = {0};

    headings(w, &t);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < rows[i].count; k++)
            row_cells(w, &t, &rows[i], &rows[i].v[k]);
        sum_cells(w, &t, &rows[i]);
    }
    if (w->g->output == GROUPS_JSON)
        table_print_json(&t, stdout);
    else if (t.count)
        table_print(&t, stdout);
    table_deinit(&t);
}

static int named(struct groups *g, struct group **ret, size_t *ret_count)
{
    int words = opts_count(g->o, -1) - 1; /* behind "lag" */
    size_t n = 0, options = (size_t)opts_count(g->o, GR_GROUP);

    if (words <= 0 && options == 0)
        return groups_list(g, NULL, ret, ret_count);
    *ret = arena_new_array(&g->arena, struct group, (size_t)MAX(words, 0) + options);
    for (int i = 1; i <= words; i++)
        (*ret)[n++] = (struct group){.id = str_of(opts_nth(g->o, -1, i)), .coordinator = -1};
    for (size_t i = 0; i < options; i++)
        (*ret)[n++] =
            (struct group){.id = str_of(opts_nth(g->o, GR_GROUP, (int)i)), .coordinator = -1};
    *ret_count = groups_sort(*ret, n);
    return 0;
}

static int look(struct watch *w, struct group_rows **ret, size_t *ret_count)
{
    struct groups *g = w->g;
    struct group *v;
    int r = named(g, &v, ret_count);

    r = r ? r : groups_describe(g, v, *ret_count);
    r = r ? r : groups_known(g, v, ret_count);
    r = r ? r : groups_rows(g, v, *ret_count, ret);
    w->at_ms = clock_mono_ms(&clock_system);
    return r;
}

/* ---- again and again ---- */

static volatile sig_atomic_t is_stopped;

static void on_signal(int sig)
{
    is_stopped = 1;
    signal(sig, SIG_DFL);
}

static void wait_until(int64_t at_ms)
{
    int64_t left = at_ms - clock_mono_ms(&clock_system);

    if (left <= 0 || is_stopped)
        return;
    const struct timespec ts = {left / 1000, left % 1000 * 1000000};
    nanosleep(&ts, NULL); /* ends early with a signal */
}

static int watch_seconds(const struct groups *g, int64_t *ret_ms, struct strbuf *why)
{
    const char *text;
    double seconds = 2;
    int r = opts_text(g->o, GR_WATCH, &text, why);

    if (r == 0 && text &&
        (str_to_double(str_of(text), &seconds) < 0 || !(seconds >= 0.1) || seconds > 86400)) {
        strbuf_addf(why, "--watch %s: seconds from 0.1 to 86400 are wanted", text);
        r = -EINVAL;
    }
    *ret_ms = r ? 0 : (int64_t)(seconds * 1000);
    return r;
}

static void begin_screen(const struct watch *w, bool is_first)
{
    if (w->g->output == GROUPS_TABLE && isatty(STDOUT_FILENO))
        fputs("\033[H\033[2J", stdout);
    else if (!is_first && w->g->output == GROUPS_TABLE)
        putchar('\n');
}

/* A broker that is away for a while ends nothing: the next look may see more. */
static int watch(struct watch *w, int64_t every_ms)
{
    struct groups *g = w->g;
    struct group_rows *rows;
    size_t n;

    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    for (bool is_first = true; !is_stopped; is_first = false) {
        int64_t next = clock_mono_ms(&clock_system) + every_ms;
        int r = look(w, &rows, &n);
        if (r && is_first)
            return r;
        if (r && !is_stopped)
            (void)tool_fail(g->o->inv, "%s", g->why.s);
        if (r == 0) {
            begin_screen(w, is_first);
            show(w, rows, n);
        }
        if (tool_done(g->o->inv)) /* nobody reads any more */
            return 0;
        strbuf_reset(&g->why);
        arena_deinit(&g->arena);
        wait_until(next);
    }
    return 0;
}

int groups_lag(struct groups *g)
{
    struct watch w = {.g = g, .is_watching = opts_has(g->o, GR_WATCH)};
    struct group_rows *rows;
    int64_t every_ms;
    size_t n;

    if (watch_seconds(g, &every_ms, &g->why) < 0)
        return GROUPS_MISUSED;
    int r = w.is_watching ? watch(&w, every_ms) : look(&w, &rows, &n);
    if (r == 0 && !w.is_watching)
        show(&w, rows, n);
    lag_tracks_free(&w.tracks);
    return r;
}
