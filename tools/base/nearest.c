#include "tools/base/nearest.h"

enum { LONGEST = 64 };

/* rows[i % 3][j]: the cost of making the first i letters of one into the first j of the other. */
int edit_distance(struct str from, struct str to, const struct edit_costs *costs)
{
    int rows[3][LONGEST + 1];

    if (from.len > LONGEST || to.len > LONGEST)
        return EDIT_FAR;
    for (size_t j = 0; j <= to.len; j++)
        rows[0][j] = (int)j * costs->insert;
    for (size_t i = 1; i <= from.len; i++) {
        int *row = rows[i % 3];
        const int *above = rows[(i - 1) % 3], *second = rows[(i - 2) % 3];
        row[0] = (int)i * costs->leave_first;
        for (size_t j = 1; j <= to.len; j++) {
            bool same = from.p[i - 1] == to.p[j - 1];
            row[j] = above[j - 1] + (same ? 0 : costs->change);
            if (i > 1 && j > 1 && !same && from.p[i - 1] == to.p[j - 2] &&
                from.p[i - 2] == to.p[j - 1])
                row[j] = MIN(row[j], second[j - 2] + costs->swap);
            row[j] = MIN(row[j], above[j] + costs->leave_out);
            row[j] = MIN(row[j], row[j - 1] + costs->insert);
        }
    }
    return rows[from.len % 3][to.len];
}

struct nearest nearest_to(struct str name)
{
    return (struct nearest){.name = name, .least = 1 + (int)name.len / 3};
}

void nearest_try(struct nearest *n, const char *known)
{
    static const struct edit_costs costs = {1, 1, 1, 1, 1};
    int d = edit_distance(n->name, str_of(known), &costs);

    if (d <= n->least) {
        n->least = d - 1;
        n->best = known;
    }
}
