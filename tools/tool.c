#include "tools/tool.h"

#include "tools/opts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

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
