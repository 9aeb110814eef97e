#include "tools/client/events.h"

#include "common/base/clock.h"
#include "tools/base/msg_json.h"

#include <inttypes.h>

void event_begin(struct strbuf *out, const char *name)
{
    strbuf_addf(out, "{\"timestamp\":%" PRId64 ",\"name\":\"%s\"", clock_wall_ms(&clock_system),
                name);
}

void event_text(struct strbuf *out, const char *key, struct str text)
{
    strbuf_addf(out, ",\"%s\":", key);
    msg_json_text(text, out);
}

void event_end(struct strbuf *out)
{
    strbuf_addz(out, "}\n");
}
