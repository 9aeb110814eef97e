/*
 * base.h - attributes, ownership macros and small arithmetic that every file uses
 *
 * Ownership is written down in the code: CLEANUP(fn) on every local that owns something, TAKE() or
 * MOVE() where it gives the thing away. A destructor takes NULL and half-built objects.
 */
#pragma once

#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CLEANUP(fn)       __attribute__((cleanup(fn)))
#define MUST_CHECK        __attribute__((warn_unused_result))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define UNUSED            __attribute__((unused))
#define NORETURN          __attribute__((noreturn))

/* Checked by clang's -Wthread-safety on functions; nothing on gcc. */
#if defined(__clang__)
#define REQUIRES(m) __attribute__((requires_capability(m)))
#define CAPABILITY  __attribute__((capability("mutex")))
#define ACQUIRE(m)  __attribute__((acquire_capability(m)))
#define RELEASE(m)  __attribute__((release_capability(m)))
#define NO_TSA      __attribute__((no_thread_safety_analysis))
#else
#define REQUIRES(m)
#define CAPABILITY
#define ACQUIRE(m)
#define RELEASE(m)
#define NO_TSA
#endif

/* Gives a pointer away and leaves NULL behind. */
#define TAKE(ptr)                                                                                  \
    ({                                                                                             \
        __auto_type take_at_ = &(ptr);                                                             \
        __auto_type take_val_ = *take_at_;                                                         \
        *take_at_ = NULL;                                                                          \
        take_val_;                                                                                 \
    })

/* Gives a struct away and leaves a zeroed one behind. */
#define MOVE(obj)                                                                                  \
    ({                                                                                             \
        __auto_type move_at_ = &(obj);                                                             \
        __auto_type move_val_ = *move_at_;                                                         \
        memset(move_at_, 0, sizeof *move_at_);                                                     \
        move_val_;                                                                                 \
    })

#define container_of(ptr, type, member)                                                            \
    ({                                                                                             \
        const __typeof__(((type *)0)->member) *member_at_ = (ptr);                                 \
        (type *)((char *)(uintptr_t)member_at_ - offsetof(type, member));                          \
    })

#define ARRAY_LEN(a) (sizeof(a) / sizeof(*(a)))
#define BIT(n)       (1u << (n))

#define MIN(a, b)                                                                                  \
    ({                                                                                             \
        __auto_type min_a_ = (a);                                                                  \
        __auto_type min_b_ = (b);                                                                  \
        min_a_ < min_b_ ? min_a_ : min_b_;                                                         \
    })
#define MAX(a, b)                                                                                  \
    ({                                                                                             \
        __auto_type max_a_ = (a);                                                                  \
        __auto_type max_b_ = (b);                                                                  \
        max_a_ > max_b_ ? max_a_ : max_b_;                                                         \
    })
#define CLAMP(v, lo, hi) MIN(MAX(v, lo), hi)

/* True if the sum or product does not fit; *ret is then not to be used. */
#define add_overflows(a, b, ret) __builtin_add_overflow(a, b, ret)
#define mul_overflows(a, b, ret) __builtin_mul_overflow(a, b, ret)
