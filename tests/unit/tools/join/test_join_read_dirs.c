#include "common/base/mem.h"
#include "tests/support/join_world.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ID "3jBpTZtrRMyaAgnk0lQHxg"

static struct arena a;
static struct join_dir d;

static char *path_of(const char *name)
{
    return arena_strz(&a, arena_printf(&a, "%s/d/%s", test_tmpdir(), name));
}

static void put_bytes(const char *name, const void *data, size_t n)
{
    ck_assert_int_eq(fs_replace_file(path_of(name), (struct str){data, n}), 0);
}

static void put(const char *name, const char *text)
{
    put_bytes(name, text, strlen(text));
}

static void make_dir(const char *name)
{
    ck_assert_int_eq(fs_mkdir(path_of(name)), 0);
}

static void start(void)
{
    arena_deinit(&a);
    make_dir("");
    put("meta.properties", "version=0\ncluster.id=here\nbroker.id=1\n");
}

static void read_it(void)
{
    join_read_dir(&a, &d, arena_strz(&a, arena_printf(&a, "%s/d", test_tmpdir())));
}

static bool is_bad(const char *name)
{
    for (size_t i = 0; i < d.bad_count; i++) {
        if (str_eqz(d.bad[i].path, path_of(name)))
            return true;
    }
    return false;
}

/* The head of a batch. */
static void put_segment(const char *name, uint8_t magic, uint8_t length)
{
    uint8_t head[80] = {[11] = length, [16] = magic};

    put_bytes(name, head, sizeof head);
}

START_TEST(a_dir_is_read_as_a_start_finds_it)
{
    start();
    put(".kafka_cleanshutdown", "{}");
    put("recovery-point-offset-checkpoint", "0\n1\nt 0 5\n");
    make_dir("t-0");
    put("t-0/partition.metadata", "version: 0\ntopic_id: " ID);
    put_segment("t-0/00000000000000000000.log", 2, 60);
    put_segment("t-0/00000000000000000005.log", 2, 60);
    put("t-0/00000000000000000009.log.deleted", "x");
    make_dir("t-1.0123456789abcdef0123456789abcdef-future");
    make_dir("t-2.0123456789abcdef0123456789abcdef-delete");
    read_it();
    ck_assert(d.is_there && !d.read_error && !d.write_error && d.has_meta && d.is_clean);
    ck_assert(!d.is_in_use && d.knows_space && str_is_null(d.meta_wrong));
    ck_assert_int_eq(d.broker_id, 1);
    ck_assert(str_eqz(d.cluster_id, "here"));
    ck_assert_uint_eq(d.bad_count, 0);
    ck_assert_uint_eq(d.logs_count, 2);
    ck_assert_int_eq(d.segments, 2);
    ck_assert(str_eqz(d.logs[0].topic, "t") && d.logs[0].has_id && !d.logs[0].is_future);
    ck_assert(d.logs[1].is_future && !d.logs[1].has_id);
    ck_assert(!fs_exists(path_of(".lock"))); /* none was made */
    arena_deinit(&a);
}
END_TEST

START_TEST(what_is_strange_is_put_apart)
{
    start();
    make_dir("stuff");
    make_dir("lost+found");
    make_dir("remote-log-index-cache");
    make_dir("__cluster_metadata-0");
    make_dir("x-0.0123456789abcdef0123456789abcdef-stray");
    put("a-file", "");
    read_it();
    ck_assert_uint_eq(d.strangers.count, 1);
    ck_assert_uint_eq(d.tiered.count, 1);
    ck_assert_uint_eq(d.kraft.count, 1);
    ck_assert_uint_eq(d.strays.count, 1);
    ck_assert_uint_eq(d.logs_count, 0);
    arena_deinit(&a);
}
END_TEST

START_TEST(files_that_cannot_be_used_are_put_down)
{
    start();
    put("recovery-point-offset-checkpoint", "0\n2\nt 0 5\n");
    put("replication-offset-checkpoint", "");
    make_dir("t-0");
    put("t-0/partition.metadata", "version: 0\n");
    put_segment("t-0/00000000000000000000.log", 7, 60);
    make_dir("t-1");
    put_segment("t-1/00000000000000000000.log", 1, 60);
    put_segment("t-1/00000000000000000005.log", 2, 3); /* shorter than any batch */
    make_dir("t-2");
    put_bytes("t-2/00000000000000000000.log", (uint8_t[200]){0}, 200); /* room made in advance */
    make_dir("t-3");
    put("t-3/00000000000000000000.log", "torn");
    read_it();
    ck_assert(is_bad("recovery-point-offset-checkpoint"));
    ck_assert(!is_bad("replication-offset-checkpoint"));
    ck_assert(is_bad("t-0/partition.metadata"));
    ck_assert(is_bad("t-0/00000000000000000000.log"));
    ck_assert(is_bad("t-1/00000000000000000005.log"));
    ck_assert_uint_eq(d.bad_count, 4);
    ck_assert_uint_eq(d.old_format.count, 1);
    ck_assert(str_eqz(d.old_format.v[0], path_of("t-1")));
    arena_deinit(&a);
}
END_TEST

START_TEST(a_meta_properties_that_cannot_be_is_told)
{
    start();
    put("meta.properties", "version=1\nnode.id=1\n");
    read_it();
    ck_assert(d.has_meta && d.meta_wrong.len);
    ck_assert_int_eq(d.broker_id, -1);
    arena_deinit(&a);
}
END_TEST

START_TEST(a_dir_that_is_not_there_or_no_dir)
{
    start();
    join_read_dir(&a, &d, path_of("none"));
    ck_assert(!d.is_there);
    join_read_dir(&a, &d, path_of("meta.properties"));
    ck_assert(d.is_there && d.read_error);
    arena_deinit(&a);
}
END_TEST

START_TEST(a_lock_of_another_process_is_seen_and_left)
{
    int ready[2], done[2];
    char c;

    start();
    put(".lock", "");
    ck_assert(pipe(ready) == 0 && pipe(done) == 0);
    const char *lock = path_of(".lock");
    pid_t pid = fork();
    if (pid == 0) {
        struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int fd = open(lock, O_RDWR);
        c = (char)(fcntl(fd, F_SETLK, &all) == 0);
        _exit(write(ready[1], &c, 1) != 1 || read(done[0], &c, 1) != 1);
    }
    ck_assert(read(ready[0], &c, 1) == 1 && c == 1);
    read_it();
    ck_assert(d.is_in_use);
    ck_assert_int_eq(d.used_by, pid);
    ck_assert_int_eq(write(done[1], "x", 1), 1);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    read_it();
    ck_assert(!d.is_in_use);
    arena_deinit(&a);
}
END_TEST

START_TEST(the_dirs_of_a_file_are_read)
{
    struct join_world w;
    CLEANUP(strbuf_deinit) struct strbuf text = {0};

    start();
    join_start(&w);
    strbuf_addf(&text, "broker.id=1\nzookeeper.connect=z:1\nlog.dirs=%s/d,%s/none\n", test_tmpdir(),
                test_tmpdir());
    join_file(&w, text.s);
    w.f.open_files = 0;
    join_read_dirs(&w.f);
    ck_assert_uint_eq(w.f.dirs_count, 2);
    ck_assert(w.f.dirs[0].is_there && !w.f.dirs[1].is_there);
    ck_assert_int_ne(w.f.open_files, 0);
    ck_assert_int_eq(join_stored_broker(w.f.conf), 1);
    put("meta.properties", "version=1\nnode.id=1\n");
    ck_assert_int_eq(join_stored_broker(w.f.conf), -1);
    join_end(&w);
    arena_deinit(&a);
}
END_TEST

TEST_MAIN("tools/join/join_read_dirs", a_dir_is_read_as_a_start_finds_it,
          what_is_strange_is_put_apart, files_that_cannot_be_used_are_put_down,
          a_meta_properties_that_cannot_be_is_told, a_dir_that_is_not_there_or_no_dir,
          a_lock_of_another_process_is_seen_and_left, the_dirs_of_a_file_are_read)
