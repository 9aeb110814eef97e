#include "common/io/framer.h"

#include "common/base/be.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "tests/support/random_msg.h"
#include "tests/support/test_main.h"

#include <sys/socket.h>
#include <unistd.h>

enum { SCRATCH = 65536 };

static uint8_t scratch_bytes[SCRATCH];
static const struct iovec scratch = {scratch_bytes, SCRATCH};

struct link {
    struct stream *s;
    int writer;
    struct framer f;
};

static struct link new_link(uint32_t max)
{
    int fd[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
    return (struct link){stream_plain_new(fd[0]), fd[1], {.max = max}};
}

static void end_link(struct link *l)
{
    framer_deinit(&l->f);
    stream_close(l->s);
    if (l->writer >= 0)
        close(l->writer);
}

static int next(struct link *l, struct buf **buf, struct slice *body)
{
    return framer_next(&l->f, l->s, &scratch, buf, body);
}

static void put(const struct link *l, const void *p, size_t n)
{
    ck_assert_int_eq(write(l->writer, p, n), (ssize_t)n);
}

/* Frame number i has a size of its own, and every byte follows from both. */
static size_t size_of(int i)
{
    static const size_t sizes[] = {0, 1, 3, 4, 5, 100, 1000, 20000, 65532, 65536, 300000, 700000};
    struct random_source r = {(uint64_t)i * 7919 + 1};

    random_next(&r);
    return sizes[random_to(&r, i % 5 ? 7 : ARRAY_LEN(sizes))];
}

static uint8_t byte_of(int i, size_t at)
{
    return (uint8_t)((size_t)i * 31 + at * 7 + (at >> 8));
}

START_TEST(frames_arrive_whole_however_the_bytes_are_cut)
{
    enum { FRAMES = 400 };
    CLEANUP(free_p) uint8_t *all = NULL;
    size_t len = 0, cap = 0, at = 0;
    struct random_source random = {3};
    struct link l = new_link(1 << 20);
    int seen = 0;

    for (int i = 0; i < FRAMES; i++) {
        size_t size = size_of(i);

        xgrow(all, cap, len + 4 + size);
        be32_write(all + len, (uint32_t)size);
        for (size_t k = 0; k < size; k++)
            all[len + 4 + k] = byte_of(i, k);
        len += 4 + size;
    }
    while (seen < FRAMES) {
        static const size_t cuts[] = {1, 2, 3, 7, 1000, 70000, 400000};
        struct buf *buf = NULL;
        struct slice body;

        if (at < len) {
            ssize_t n = write(l.writer, all + at, MIN(len - at, cuts[random_to(&random, 7)]));
            at += n > 0 ? (size_t)n : 0;
        }
        int r = next(&l, &buf, &body);
        if (r == -EAGAIN)
            continue;
        if (r != 1 || body.len != size_of(seen))
            ck_abort_msg("frame %d: r=%d len=%zu", seen, r, body.len);
        for (size_t k = 0; k < body.len; k++) {
            if (body.p[k] != byte_of(seen, k))
                ck_abort_msg("frame %d differs at %zu", seen, k);
        }
        buf_unref(buf);
        seen++;
    }
    ck_assert_uint_eq(framer_held(&l.f), 0);
    end_link(&l);
}
END_TEST

START_TEST(pipelined_frames_cost_one_read)
{
    struct link l = new_link(100);
    struct buf *a = NULL, *b = NULL;
    struct slice body;

    put(&l, "\0\0\0\1A\0\0\0\2BC\0\0", 13);
    ck_assert_int_eq(next(&l, &a, &body), 1);
    ck_assert_mem_eq(body.p, "A", 1);
    ck_assert(framer_has_frame(&l.f));
    ck_assert_int_eq(next(&l, &b, &body), 1);
    ck_assert_mem_eq(body.p, "BC", 2);
    ck_assert_ptr_eq(a, b);
    buf_unref(a);
    buf_unref(b);
    ck_assert_int_eq(next(&l, &a, &body), -EAGAIN);
    put(&l, "\0\1D", 3);
    ck_assert_int_eq(next(&l, &a, &body), 1);
    ck_assert_mem_eq(body.p, "D", 1);
    buf_unref(a);
    end_link(&l);
}
END_TEST

START_TEST(a_wrong_size_shows_at_once_but_after_the_good_frames)
{
    static const char *const wrong[] = {"\0\0\0\x65", "\xff\xff\xff\xff", "\x80\0\0\0"};

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct link l = new_link(100);
        struct buf *buf = NULL;
        struct slice body;

        put(&l, "\0\0\0\1A", 5);
        put(&l, wrong[i], 4);
        ck_assert_int_eq(next(&l, &buf, &body), 1);
        buf_unref(buf);
        ck_assert_int_eq(next(&l, &buf, &body), -EMSGSIZE);
        end_link(&l);
    }
}
END_TEST

START_TEST(a_claimed_size_takes_no_memory_before_the_bytes)
{
    struct link l = new_link(100 << 20);
    struct buf *buf = NULL;
    struct slice body;

    put(&l, "\6\0\0\0x", 5);
    ck_assert_int_eq(next(&l, &buf, &body), -EAGAIN);
    ck_assert_uint_lt(l.f.large->size, 1 << 20);
    ck_assert_uint_eq(framer_held(&l.f), 6 << 24);
    end_link(&l);
}
END_TEST

START_TEST(the_end_of_the_stream_is_zero)
{
    struct link l = new_link(100);
    struct buf *buf = NULL;
    struct slice body;

    put(&l, "\0\0\0\5ab", 6);
    ck_assert_int_eq(next(&l, &buf, &body), -EAGAIN);
    close(l.writer);
    l.writer = -1;
    ck_assert_int_eq(next(&l, &buf, &body), 0);
    end_link(&l);
}
END_TEST

TEST_MAIN("common/io/framer", frames_arrive_whole_however_the_bytes_are_cut,
          pipelined_frames_cost_one_read, a_wrong_size_shows_at_once_but_after_the_good_frames,
          a_claimed_size_takes_no_memory_before_the_bytes, the_end_of_the_stream_is_zero)
