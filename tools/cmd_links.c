/*
 * cmd_links.c - Kafka's names for our commands, as links to this program
 *
 *   klamm links /usr/local/bin        kafka-topics, kafka-topics.sh, ... -> klamm
 *
 * Each name twice, with and without .sh. What stands there and is no link to a klamm is left alone,
 * unless --force is given. The directory is made where it is missing.
 */
#include "common/base/mem.h"
#include "tools/base/opts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum id { FORCE, DRY_RUN, HELP };

static const struct opt_spec specs[] = {
    [FORCE] = {"force", NULL, "replace what stands there, such as Kafka's own scripts", OPT_OURS,
               0},
    [DRY_RUN] = {"dry-run", NULL, "only say what would be made", OPT_OURS, 0},
    [HELP] = {"help", NULL, "show this", OPT_OURS, 'h'},
};

static const struct opts_def def = {"DIRECTORY; makes Kafka's names for these commands there",
                                    specs, ARRAY_LEN(specs)};

struct run {
    const struct opts *o;
    const char *dir;
    char *target; /* what the links say */
    int made;
};

/* "klamm" where it lies in the same directory, so that the directory can be moved. */
static char *find_target(const char *dir)
{
    CLEANUP(free_p) char *beside = xasprintf("%s/klamm", dir);
    CLEANUP(free_p) char *there = realpath(beside, NULL);
    CLEANUP(free_p) char *self = realpath("/proc/self/exe", NULL);

    if (there && self && strcmp(there, self) == 0)
        return xstrdup("klamm");
    return TAKE(self);
}

static bool is_our_link(const char *path)
{
    char target[4096];
    ssize_t n = readlink(path, target, sizeof target - 1);

    if (n <= 0)
        return false;
    target[n] = '\0';
    return str_eqz(tool_base_name(target), "klamm");
}

static int refuse(const struct run *run, const char *path, const char *why)
{
    return tool_fail(run->o->inv, "%s: %s", path, why);
}

static int make_link(struct run *run, const char *name, const char *suffix)
{
    CLEANUP(free_p) char *path = xasprintf("%s/%s%s", run->dir, name, suffix);
    bool there = faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;

    if (there && !is_our_link(path) && !opts_has(run->o, FORCE))
        return refuse(run, path, "exists and is no link to klamm (--force replaces it)");
    if (opts_has(run->o, DRY_RUN)) {
        printf("would make %s -> %s\n", path, run->target);
        return 0;
    }
    if (there && unlink(path) < 0)
        return refuse(run, path, strerror(errno));
    if (symlink(run->target, path) < 0)
        return refuse(run, path, strerror(errno));
    run->made++;
    return 0;
}

/* mkdir -p, of a directory that may be there. */
static int make_dir(const char *dir)
{
    CLEANUP(free_p) char *path = xstrdup(dir);

    if (!*path)
        return -ENOENT;
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        if (mkdir(path, 0777) < 0 && errno != EEXIST)
            return -errno;
        *slash = '/';
    }
    return mkdir(path, 0777) < 0 && errno != EEXIST ? -errno : 0;
}

static int check_dir(const struct run *run)
{
    struct stat st;
    int r = stat(run->dir, &st) < 0 ? -errno : S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;

    if (r == -ENOENT && opts_has(run->o, DRY_RUN)) {
        printf("would make the directory %s\n", run->dir);
        return 0;
    }
    if (r == -ENOENT)
        r = make_dir(run->dir);
    return r < 0 ? refuse(run, run->dir, strerror(-r)) : 0;
}

static int make_all(struct run *run)
{
    int code = 0;

    for (size_t i = 0; i < tools_count; i++) {
        if (!tools[i].kafka_name)
            continue;
        int plain = make_link(run, tools[i].kafka_name, "");
        int script = make_link(run, tools[i].kafka_name, ".sh");
        code = code ? code : plain ? plain : script;
    }
    if (!opts_has(run->o, DRY_RUN))
        printf("%d links in %s\n", run->made, run->dir);
    return code ? code : tool_done(run->o->inv);
}

int cmd_links(const struct invocation *inv)
{
    CLEANUP(opts_deinit) struct opts o = {0};
    CLEANUP(strbuf_deinit) struct strbuf why = {0};
    struct run run = {.o = &o};
    int code;

    if (opts_parse(&o, &def, inv, &why) < 0)
        return tool_misused(inv, "%s", why.s);
    if (opts_answered(&o, HELP, OPT_NONE, &code))
        return code;
    run.dir = opts_nth(&o, -1, 0);
    if (!run.dir)
        return tool_misused(inv, "the directory is missing: %s DIRECTORY", inv->program);
    code = check_dir(&run);
    if (code)
        return code;
    run.target = find_target(run.dir);
    if (!run.target)
        return tool_fail(inv, "cannot tell where this program lies: %s", strerror(errno));
    code = make_all(&run);
    free(run.target);
    return code;
}
