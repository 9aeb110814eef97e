#include "common/io/outq.h"

#include "common/base/err.h"
#include "common/base/fault.h"
#include "common/base/mem.h"
#include "tests/support/random_msg.h"
#include "tests/support/test_main.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SCRATCH = 64 * 1024 };

static uint8_t scratch[SCRATCH];

struct pair {
    struct stream *s;
    int reader;
};

static struct pair connect_pair(void)
{
    int fd[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
    return (struct pair){stream_plain_new(fd[0]), fd[1]};
}

static void disconnect(struct pair *p)
{
    p->s = stream_close(p->s);
    close(p->reader);
}

static struct file *random_file(size_t len, uint8_t **ret_content)
{
    CLEANUP(free_p) char *path = xasprintf("%s/f", test_tmpdir());
    struct random_source r = {99};
    uint8_t *p = xmalloc(len);
    struct file *f = NULL;

    for (size_t i = 0; i < len; i++)
        p[i] = (uint8_t)random_next(&r);
    ck_assert_int_eq(file_open(path, FILE_CREATE, &f), 0);
    ck_assert_int_eq(file_pwrite(f, slice_of(p, len), 0), 0);
    *ret_content = p;
    return f;
}

static void count_sent(void *ctx)
{
    ++*(int *)ctx;
}

/* Sends until the queue is empty, reading meanwhile; returns what arrived. */
static size_t pump(struct outq *q, struct pair *p, uint8_t *dst, size_t max)
{
    size_t got = 0;
    int r;

    do {
        r = outq_send(q, p->s, scratch, SCRATCH);
        ck_assert(r == 0 || r == -EAGAIN);
        ssize_t n;
        while ((n = read(p->reader, dst + got, max - got)) > 0)
            got += (size_t)n;
    } while (r != 0);
    return got;
}

START_TEST(memory_leaves_in_order)
{
    struct outq q = {0};
    struct pair p = connect_pair();
    uint8_t got[64];
    int sent = 0;

    outq_add_mem(&q, slice_of("abc", 3));
    outq_add_mem(&q, slice_of("", 0));
    outq_on_sent(&q, count_sent, &sent);
    for (int i = 0; i < 10; i++)
        outq_add_mem(&q, slice_of("de", 2));
    ck_assert_uint_eq(q.bytes, 23);
    ck_assert_uint_eq(pump(&q, &p, got, sizeof got), 23);
    ck_assert_mem_eq(got, "abcdede", 7);
    ck_assert_int_eq(sent, 1);
    ck_assert_uint_eq(q.bytes + q.mem_bytes, 0);
    ck_assert_ptr_null(q.ring);
    disconnect(&p);
}
END_TEST

/* Long and short ranges between pieces of memory, more than a socket takes at once. */
START_TEST(files_and_memory_arrive_as_they_were_queued)
{
    enum { LEN = 3 << 20, PIECES = 300 };
    CLEANUP(free_p) uint8_t *content = NULL;
    CLEANUP(file_unref_p) struct file *f = random_file(LEN, &content);
    CLEANUP(free_p) uint8_t *want = xmalloc((size_t)32 << 20);
    CLEANUP(free_p) uint8_t *got = xmalloc((size_t)32 << 20);
    struct random_source r = {7};
    struct outq q = {0};
    struct pair p = connect_pair();
    size_t total = 0;
    int sent = 0;

    for (int i = 0; i < PIECES; i++) {
        size_t len = random_next(&r) % (i % 7 == 0 ? 600000 : 20000);
        size_t pos = random_next(&r) % (LEN - len);

        if (i % 2)
            outq_add_file(&q, f, pos, len);
        else
            outq_add_mem(&q, slice_of(content + pos, len));
        outq_on_sent(&q, count_sent, &sent);
        memcpy(want + total, content + pos, len);
        total += len;
    }
    ck_assert_uint_eq(pump(&q, &p, got, (size_t)32 << 20), total);
    ck_assert_int_eq(memcmp(got, want, total), 0);
    ck_assert_int_eq(sent, PIECES);
    disconnect(&p);
}
END_TEST

START_TEST(a_file_that_ends_early_is_an_error)
{
    CLEANUP(free_p) uint8_t *content = NULL;
    CLEANUP(file_unref_p) struct file *f = random_file(100, &content);
    struct outq q = {0};
    struct pair p = connect_pair();
    int sent = 0;

    outq_add_file(&q, f, 90, 20);
    outq_on_sent(&q, count_sent, &sent);
    ck_assert_int_eq(outq_send(&q, p.s, scratch, SCRATCH), -EIO);
    outq_deinit(&q);
    ck_assert_int_eq(sent, 1);
    outq_add_file(&q, f, 90, 100000);
    ck_assert_int_eq(outq_send(&q, p.s, scratch, SCRATCH), -EIO);
    outq_deinit(&q);
    disconnect(&p);
}
END_TEST

START_TEST(a_full_socket_is_waited_for)
{
    CLEANUP(free_p) uint8_t *big = xcalloc(1, 8 << 20);
    struct outq q = {0};
    struct pair p = connect_pair();

    outq_add_mem(&q, slice_of(big, 8 << 20));
    ck_assert_int_eq(outq_send(&q, p.s, scratch, SCRATCH), -EAGAIN);
    ck_assert_uint_eq(p.s->wants, EPOLLOUT);
    ck_assert_uint_gt(q.mem_bytes, 0);
    outq_deinit(&q);
    disconnect(&p);
}
END_TEST

START_TEST(a_closed_peer_is_an_error_and_no_signal)
{
    struct outq q = {0};
    struct pair p = connect_pair();

    close(p.reader);
    outq_add_mem(&q, slice_of("x", 1));
    ck_assert_int_eq(outq_send(&q, p.s, scratch, SCRATCH), -EPIPE);
    outq_deinit(&q);
    stream_close(p.s);
}
END_TEST

#ifdef KLAMM_FAULTS
START_TEST(a_range_on_the_disk_is_left_to_the_caller)
{
    CLEANUP(free_p) uint8_t *content = NULL;
    CLEANUP(file_unref_p) struct file *f = random_file(50000, &content);
    struct outq q = {0};
    struct pair p = connect_pair();
    static uint8_t got[60000];

    for (size_t len = 1000; len <= 50000; len += 49000) {
        outq_add_mem(&q, slice_of("head", 4));
        outq_add_file(&q, f, 0, len);
        fault_arm("fs.pread", (struct fault){FAULT_ERRNO, EAGAIN}, 1, true);
        ck_assert_int_eq(outq_send(&q, p.s, scratch, SCRATCH), -EBUSY);
        struct outq_range cold = outq_cold(&q);
        ck_assert_ptr_eq(cold.file, f);
        ck_assert_uint_eq(cold.len, len);
        file_unref(cold.file);
        fault_disarm_all();
        ck_assert_uint_eq(pump(&q, &p, got, sizeof got), len + 4);
        ck_assert_mem_eq(got + 4, content, len);
    }
    disconnect(&p);
}
END_TEST
#define WITH_FAULTS a_range_on_the_disk_is_left_to_the_caller,
#else
#define WITH_FAULTS
#endif

TEST_MAIN("common/io/outq", WITH_FAULTS memory_leaves_in_order,
          files_and_memory_arrive_as_they_were_queued, a_file_that_ends_early_is_an_error,
          a_full_socket_is_waited_for, a_closed_peer_is_an_error_and_no_signal)
