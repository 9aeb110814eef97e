#include "tools/client/perf_metrics.h"

#include "tools/base/java_text.h"

void perf_metrics_print(const struct perf_metric *v, int count, const char *client_id,
                        struct strbuf *out)
{
    int width = 0;

    for (int i = 0; i < count; i++)
        width = MAX(width, (int)(strlen(v[i].group) + strlen(v[i].name)));
    width += (int)strlen("::{client-id=}") + (int)strlen(client_id);
    strbuf_addf(out, "\n%-*s   Value\n", width, "Metric Name");
    for (int i = 0; i < count; i++) {
        size_t from = out->len;
        strbuf_addf(out, "%s:%s:{client-id=%s}", v[i].group, v[i].name, client_id);
        strbuf_addf(out, "%*s : ", width - (int)(out->len - from), "");
        java_add_fixed(out, v[i].value, 3);
        strbuf_add_char(out, '\n');
    }
}
