/*
 * fault.h - named places where a test can make an operation fail
 *
 * Compiled in only with the meson option `faults`; otherwise fault_hit() is the constant 0 and
 * costs nothing. A test arms a point by name, or a process through the environment:
 * KLAMM_FAULTS="fs.pwrite:short:17:3" lets the third write be cut to 17 bytes.
 */
#pragma once

#include "common/base/base.h"

enum fault_kind {
    FAULT_NONE,
    FAULT_ERRNO, /* the operation fails with -value */
    FAULT_SHORT, /* only value bytes are done, then -EIO */
    FAULT_CRASH, /* value bytes are done, then the process dies as if by kill -9 */
};

struct fault {
    enum fault_kind kind;
    int64_t value;
};

#ifdef KLAMM_FAULTS
/* The fault to play now at this point, FAULT_NONE usually. Thread: any. */
struct fault fault_hit(const char *point);
/* The nth hit from now (1 = the next) plays it; from then on every hit where sticky. */
void fault_arm(const char *point, struct fault f, int nth, bool sticky);
void fault_disarm_all(void);
#else
static inline struct fault fault_hit(const char *point UNUSED)
{
    return (struct fault){FAULT_NONE, 0};
}
#endif
