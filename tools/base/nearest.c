#include "tools/base/nearest.h"

enum { LONGEST = 64 };

/* The number of letters to change, insert or leave out. */
static int distance(struct str a, struct str b)
{
    int row[LONGEST + 1];

    if (a.len > LONGEST || b.len > LONGEST)
        return LONGEST;
    for (int j = 0; j <= (int)b.len; j++)
        row[j] = j;
    for (int i = 1; i <= (int)a.len; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= (int)b.len; j++) {
            int best = MIN(MIN(row[j], row[j - 1]) + 1, diagonal + (a.p[i - 1] != b.p[j - 1]));
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[b.len];
}

struct nearest nearest_to(struct str name)
{
    return (struct nearest){.name = name, .least = 1 + (int)name.len / 3};
}

void nearest_try(struct nearest *n, const char *known)
{
    int d = distance(n->name, str_of(known));

    if (d <= n->least) {
        n->least = d - 1;
        n->best = known;
    }
}
