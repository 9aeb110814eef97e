/*
 * tool_table.c - looking up commands, and what flags they have
 */
#include "tools/base/tool.h"

struct str tool_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct str name = str_of(slash ? slash + 1 : path);

    if (name.len > 3 && memcmp(name.p + name.len - 3, ".sh", 3) == 0)
        name.len -= 3;
    return name;
}

const struct tool *tool_find(struct str name, bool as_kafka)
{
    for (size_t i = 0; i < tools_count; i++) {
        const char *known = as_kafka ? tools[i].kafka_name : tools[i].name;
        if (known && str_eqz(name, known))
            return &tools[i];
    }
    return NULL;
}

struct tool_flags tool_flags_of(const struct tool *tool, bool as_kafka)
{
    struct tool_flags flags = {0};
    const struct invocation inv = {.program = tool->name, .as_kafka = as_kafka, .wanted = &flags};

    (void)!tool->run(&inv);
    return flags;
}
