#include "common/io/fs.h"

#include "common/base/err.h"
#include "common/base/fault.h"
#include "common/base/mem.h"
#include "common/base/thread.h"
#include "tests/support/test_main.h"

#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

static char *path_of(const char *name)
{
    return xasprintf("%s/%s", test_tmpdir(), name);
}

static struct file *open_file(const char *name, enum file_mode mode)
{
    CLEANUP(free_p) char *path = path_of(name);
    struct file *f = NULL;

    ck_assert_int_eq(file_open(path, mode, &f), 0);
    return f;
}

static struct file *file_with(const char *name, const char *text)
{
    struct file *f = open_file(name, FILE_CREATE);

    ck_assert_int_eq(file_pwrite(f, slice_of_str(str_of(text)), 0), 0);
    return f;
}

static void assert_holds(struct file *f, const char *text)
{
    char got[64] = "";

    ck_assert_int_eq(file_pread_some(f, got, sizeof got - 1, 0), (ssize_t)strlen(text));
    ck_assert_str_eq(got, text);
}

static int open_descriptors(void)
{
    CLEANUP(fs_names_deinit) struct fs_names names = {0};

    ck_assert_int_eq(fs_list_dir("/proc/self/fd", &names), 0);
    return (int)names.count;
}

START_TEST(what_is_written_is_read)
{
    CLEANUP(file_unref_p) struct file *f = file_with("a", "hello world");
    char got[5];
    uint64_t size;

    ck_assert_int_eq(file_pread(f, got, 5, 6), 0);
    ck_assert_mem_eq(got, "world", 5);
    ck_assert_int_eq(file_pread(f, got, 5, 7), -EIO);
    ck_assert_int_eq(file_pread_some(f, got, 5, 11), 0);
    ck_assert_int_eq(file_size(f, &size), 0);
    ck_assert_uint_eq(size, 11);
    ck_assert_int_eq(file_truncate(f, 5), 0);
    assert_holds(f, "hello");
    ck_assert_int_eq(file_pread_cached(f, got, 5, 0), 5);
}
END_TEST

START_TEST(a_vector_is_written_whole)
{
    CLEANUP(file_unref_p) struct file *f = open_file("v", FILE_WRITE);
    struct iovec iov[40];
    char got[80];

    char pieces[2][2] = {{'a', '0'}, {'b', '1'}};

    for (int i = 0; i < 40; i++)
        iov[i] = (struct iovec){pieces[i % 2], 2};
    ck_assert_int_eq(file_pwritev(f, iov, 40, 0), 0);
    ck_assert_int_eq(file_pread(f, got, 80, 0), 0);
    ck_assert_mem_eq(got + 76, "a0b1", 4);
}
END_TEST

START_TEST(an_absent_file_shows_at_first_use)
{
    CLEANUP(file_unref_p) struct file *f = open_file("absent", FILE_READ);
    char c;

    ck_assert_int_eq(file_pread(f, &c, 1, 0), -ENOENT);
}
END_TEST

START_TEST(unused_descriptors_are_bounded)
{
    enum { FILES = 50, LIMIT = 8 };
    struct file *f[FILES];

    file_cache_set_limit(LIMIT);
    int before = open_descriptors();
    for (int i = 0; i < FILES; i++) {
        char name[8];

        snprintf(name, sizeof name, "c%d", i);
        f[i] = file_with(name, name);
    }
    ck_assert_int_le(open_descriptors(), before + LIMIT);
    ck_assert_int_ge(file_pin(f[0]), 0);
    for (int i = 0; i < FILES; i++) {
        char name[8];

        snprintf(name, sizeof name, "c%d", i);
        assert_holds(f[i], name);
    }
    ck_assert_int_le(open_descriptors(), before + LIMIT + 1);
    file_unpin(f[0]);
    for (int i = 0; i < FILES; i++)
        f[i] = file_unref(f[i]);
    ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

/* The number of the lowest descriptor that is free; what is above it can be kept from being opened
 * by a limit. */
static int lowest_free(void)
{
    int fd = dup(0);

    close(fd);
    return fd;
}

START_TEST(a_file_that_nobody_uses_makes_room_for_another)
{
    CLEANUP(file_unref_p) struct file *a = file_with("a", "a"), *b = file_with("b", "b");
    CLEANUP(file_unref_p) struct file *c = open_file("c", FILE_WRITE);
    CLEANUP(fs_names_deinit) struct fs_names names = {0};
    struct rlimit limit, less;

    getrlimit(RLIMIT_NOFILE, &limit);
    less = (struct rlimit){(rlim_t)lowest_free(), limit.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &less), 0);
    int listed = fs_list_dir(test_tmpdir(), &names);
    int fd = file_pin(c); /* of the two descriptors there are */
    int other = file_pin(b);
    int none = file_pin(a);
    setrlimit(RLIMIT_NOFILE, &limit);
    ck_assert_int_eq(listed, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_ge(other, 0);
    ck_assert_int_eq(none, -EMFILE);
    file_unpin(c);
    file_unpin(b);
    assert_holds(a, "a");
}
END_TEST

START_TEST(a_renamed_file_is_read_by_its_references)
{
    CLEANUP(file_unref_p) struct file *f = file_with("old", "text");
    CLEANUP(free_p) char *to = path_of("new");

    file_cache_set_limit(0);
    ck_assert_int_eq(file_rename(f, to), 0);
    ck_assert_str_eq(file_path(f), to);
    assert_holds(f, "text");
}
END_TEST

START_TEST(a_removed_file_is_read_by_its_references)
{
    CLEANUP(file_unref_p) struct file *f = file_with("gone", "text"), *reader = file_ref(f);

    file_cache_set_limit(0);
    ck_assert_int_eq(file_remove(f), 0);
    ck_assert(!fs_exists(file_path(f)));
    assert_holds(reader, "text");
}
END_TEST

static atomic_bool enough;

static void read_on(void *arg)
{
    struct file *f = arg;

    while (!enough)
        assert_holds(f, "text");
}

START_TEST(readers_do_not_notice_that_the_directory_is_renamed)
{
    CLEANUP(free_p) char *a = path_of("dir-a"), *b = path_of("dir-b");
    struct thread t;

    ck_assert_int_eq(fs_mkdir(a), 0);
    CLEANUP(file_unref_p) struct file *f = file_with("dir-a/f", "text");
    file_cache_set_limit(0);
    ck_assert_int_eq(thread_start(&t, "reader", read_on, f), 0);
    for (int i = 0; i < 2000; i++)
        ck_assert_int_eq(fs_rename_dir(i % 2 ? b : a, i % 2 ? a : b, &f, 1), 0);
    enough = true;
    thread_join(&t);
}
END_TEST

START_TEST(replacing_leaves_the_old_text_or_the_new)
{
    CLEANUP(free_p) char *path = path_of("checkpoint");
    CLEANUP(strbuf_deinit) struct strbuf got = {0};

    ck_assert_int_eq(fs_replace_file(path, STR("old")), 0);
#ifdef KLAMM_FAULTS
    fault_arm("fs.pwrite", (struct fault){FAULT_SHORT, 2}, 1, false);
    ck_assert_int_eq(fs_replace_file(path, STR("newer")), -EIO);
    fault_arm("fs.rename", (struct fault){FAULT_ERRNO, EIO}, 1, false);
    ck_assert_int_eq(fs_replace_file(path, STR("newer")), -EIO);
    fault_arm("fs.fsync", (struct fault){FAULT_ERRNO, ENOSPC}, 1, false);
    ck_assert_int_eq(fs_replace_file(path, STR("newer")), -ENOSPC);
    fault_disarm_all();
#endif
    ck_assert_int_eq(fs_read_file(path, 100, &got), 0);
    ck_assert_str_eq(got.s, "old");
    strbuf_reset(&got);
    ck_assert_int_eq(fs_replace_file(path, STR("newer")), 0);
    ck_assert_int_eq(fs_read_file(path, 4, &got), -EFBIG);
    strbuf_deinit(&got);
    ck_assert_int_eq(fs_read_file(path, 5, &got), 0);
    ck_assert_str_eq(got.s, "newer");
}
END_TEST

#ifdef KLAMM_FAULTS
START_TEST(a_torn_write_leaves_its_beginning)
{
    CLEANUP(file_unref_p) struct file *f = file_with("torn", "");

    fault_arm("fs.pwrite", (struct fault){FAULT_SHORT, 3}, 1, false);
    ck_assert_int_eq(file_pwrite(f, slice_of("abcdef", 6), 0), -EIO);
    fault_disarm_all();
    assert_holds(f, "abc");
}
END_TEST
#endif

START_TEST(names_are_listed_in_order)
{
    CLEANUP(free_p) char *dir = path_of("list"), *inner = path_of("list/b");
    CLEANUP(fs_names_deinit) struct fs_names names = {0};

    ck_assert_int_eq(fs_mkdir(dir), 0);
    ck_assert_int_eq(fs_mkdir(inner), 0);
    file_unref(file_with("list/c", "x"));
    file_unref(file_with("list/a", "x"));
    ck_assert_int_eq(fs_list_dir(dir, &names), 0);
    ck_assert_uint_eq(names.count, 3);
    ck_assert_str_eq(names.v[0], "a");
    ck_assert_str_eq(names.v[2], "c");
}
END_TEST

START_TEST(a_tree_is_removed_and_its_neighbours_are_not)
{
    CLEANUP(free_p)
    char *tree = path_of("tree"), *inner = path_of("tree/in"), *link = path_of("tree/link"),
         *beside = path_of("beside");

    ck_assert_int_eq(fs_mkdir(tree), 0);
    ck_assert_int_eq(fs_mkdir(inner), 0);
    ck_assert_int_eq(fs_mkdir(beside), 0);
    file_unref(file_with("beside/f", "x"));
    file_unref(file_with("tree/in/f", "x"));
    ck_assert_int_eq(symlink(beside, link), 0);
    ck_assert_int_eq(fs_remove_tree(tree), 0);
    ck_assert(!fs_exists(tree));
    ck_assert_int_eq(fs_remove_tree(tree), 0);
    assert_holds(open_file("beside/f", FILE_READ), "x");
}
END_TEST

#ifdef KLAMM_FAULTS
#define WITH_FAULTS a_torn_write_leaves_its_beginning,
#else
#define WITH_FAULTS
#endif

START_TEST(space_of_the_file_system_is_told)
{
    struct fs_space space;

    ck_assert_int_eq(fs_space(test_tmpdir(), &space), 0);
    ck_assert_int_gt(space.total, 0);
    ck_assert_int_ge(space.usable, 0);
    ck_assert_int_le(space.usable, space.total);
    ck_assert_int_eq(fs_space("/nothing/here", &space), -ENOENT);
}
END_TEST

TEST_MAIN("common/io/fs", WITH_FAULTS what_is_written_is_read, a_vector_is_written_whole,
          an_absent_file_shows_at_first_use, unused_descriptors_are_bounded,
          a_file_that_nobody_uses_makes_room_for_another, a_renamed_file_is_read_by_its_references,
          a_removed_file_is_read_by_its_references,
          readers_do_not_notice_that_the_directory_is_renamed,
          replacing_leaves_the_old_text_or_the_new, names_are_listed_in_order,
          a_tree_is_removed_and_its_neighbours_are_not, space_of_the_file_system_is_told)
