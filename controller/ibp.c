#include "controller/ibp.h"

struct step {
    enum ibp since;
    int16_t version;
};

static int16_t step_of(const struct step *steps, size_t count, enum ibp v)
{
    for (size_t i = 0; i < count; i++) {
        if (v >= steps[i].since)
            return steps[i].version;
    }
    return 0;
}

int16_t ibp_leader_and_isr_version(enum ibp v)
{
    static const struct step steps[] = {
        {IBP_3_4_IV0, 7}, {IBP_3_2_IV0, 6}, {IBP_2_8_IV1, 5}, {IBP_2_4_IV1, 4},
        {IBP_2_4_IV0, 3}, {IBP_2_2_IV0, 2}, {IBP_1_0_IV0, 1},
    };

    return step_of(steps, ARRAY_LEN(steps), v);
}

int16_t ibp_update_metadata_version(enum ibp v)
{
    static const struct step steps[] = {
        {IBP_3_4_IV0, 8}, {IBP_2_8_IV1, 7},    {IBP_2_4_IV1, 6},    {IBP_2_2_IV0, 5},
        {IBP_1_0_IV0, 4}, {IBP_0_10_2_IV0, 3}, {IBP_0_10_0_IV1, 2}, {IBP_0_9_0, 1},
    };

    return step_of(steps, ARRAY_LEN(steps), v);
}

int16_t ibp_stop_replica_version(enum ibp v)
{
    static const struct step steps[] = {
        {IBP_3_4_IV0, 4}, {IBP_2_6_IV0, 3}, {IBP_2_4_IV1, 2}, {IBP_2_2_IV0, 1}};

    return step_of(steps, ARRAY_LEN(steps), v);
}

int16_t ibp_controlled_shutdown_version(enum ibp v)
{
    static const struct step steps[] = {{IBP_2_4_IV1, 3}, {IBP_2_2_IV0, 2}, {IBP_0_9_0, 1}};

    return step_of(steps, ARRAY_LEN(steps), v);
}
