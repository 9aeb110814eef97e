#include "tools/base/tool.h"

#include "tools/base/opts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static void say_line(const struct invocation *inv, const char *fmt, va_list ap)
{
    if (inv->wanted)
        return;
    fflush(stdout);
    if (!inv->as_kafka)
        fprintf(stderr, "%s: ", inv->program);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
}

int tool_fail(const struct invocation *inv, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say_line(inv, fmt, ap);
    va_end(ap);
    return TOOL_FAILED;
}

int tool_misused(const struct invocation *inv, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say_line(inv, fmt, ap);
    va_end(ap);
    return inv->as_kafka ? TOOL_FAILED : TOOL_MISUSED;
}

int tool_done(const struct invocation *inv)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    if (errno == EPIPE) /* whoever reads has seen enough */
        return TOOL_FAILED;
    return tool_fail(inv, "cannot write to standard output: %s", strerror(errno));
}

int tool_write(struct strbuf *out, struct strbuf *why)
{
    size_t at = 0;
    int r = 0;

    fflush(stdout);
    while (r == 0 && at < out->len) {
        ssize_t n = write(STDOUT_FILENO, out->s + at, out->len - at);
        if (n < 0 && errno != EINTR)
            r = -errno;
        at += (size_t)MAX(n, (ssize_t)0);
    }
    if (r < 0 && r != -EPIPE)
        strbuf_addf(why, "cannot write to standard output: %s", strerror(-r));
    strbuf_reset(out);
    return r;
}
