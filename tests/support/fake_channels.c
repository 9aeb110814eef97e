#include "tests/support/fake_channels.h"

#include "common/base/mem.h"
#include "common/wire/messages.h"

static struct fake_channels *fake(struct channels *ch)
{
    return container_of(ch, struct fake_channels, channels);
}

bool fake_channels_has(const struct fake_channels *f, int32_t broker_id)
{
    for (size_t i = 0; i < f->broker_count; i++) {
        if (f->brokers[i] == broker_id)
            return true;
    }
    return false;
}

static void fake_add(struct channels *ch, int32_t broker_id, const struct node_endpoint *ep UNUSED)
{
    struct fake_channels *f = fake(ch);

    assert(!fake_channels_has(f, broker_id) && f->broker_count < ARRAY_LEN(f->brokers));
    f->brokers[f->broker_count++] = broker_id;
}

static void fake_remove(struct channels *ch, int32_t broker_id)
{
    struct fake_channels *f = fake(ch);

    for (size_t i = 0; i < f->broker_count; i++) {
        if (f->brokers[i] == broker_id)
            f->brokers[i--] = f->brokers[--f->broker_count];
    }
    for (size_t i = 0; i < f->count; i++) {
        if (f->sent[i].broker_id == broker_id && !f->sent[i].is_answered)
            f->sent[i].is_answered = f->sent[i].is_dropped = true;
    }
}

static void fake_remove_all(struct channels *ch)
{
    struct fake_channels *f = fake(ch);

    while (f->broker_count)
        fake_remove(ch, f->brokers[0]);
}

static void fake_send(struct channels *ch, int32_t broker_id, int64_t broker_epoch,
                      struct control_message *m)
{
    struct fake_channels *f = fake(ch);

    if (!fake_channels_has(f, broker_id))
        return;
    if (f->is_silent) {
        f->silent_count++;
        return;
    }
    xgrow(f->sent, f->cap, f->count + 1);
    f->sent[f->count++] = (struct fake_sent){
        .broker_id = broker_id, .broker_epoch = broker_epoch, .m = control_message_ref(m)};
}

static void fake_on_answer(struct channels *ch, void (*fn)(void *ctx, struct control_answer *a),
                           void *ctx)
{
    fake(ch)->on_answer = fn;
    fake(ch)->ctx = ctx;
}

static const struct channels_ops fake_ops = {
    .add = fake_add,
    .remove = fake_remove,
    .remove_all = fake_remove_all,
    .send = fake_send,
    .on_answer = fake_on_answer,
};

void fake_channels_init(struct fake_channels *f)
{
    *f = (struct fake_channels){.channels = {&fake_ops}};
}

void fake_channels_deinit(struct fake_channels *f)
{
    for (size_t i = 0; i < f->count; i++)
        control_message_unref(f->sent[i].m);
    free(f->sent);
    free(f->refusals);
    strbuf_deinit(&f->text);
}

static void add_ids(struct strbuf *sb, const char *label, const int32_t *ids, int32_t count)
{
    if (count == 0)
        return;
    strbuf_addf(sb, " %s ", label);
    for (int32_t i = 0; i < count; i++)
        strbuf_addf(sb, "%s%d", i ? "," : "", ids[i]);
}

static void add_separator(struct strbuf *sb, int *n)
{
    strbuf_addz(sb, (*n)++ ? "; " : ": ");
}

static void print_lead(struct strbuf *sb, struct str topic,
                       const struct leader_and_isr_request_partition_state *s)
{
    strbuf_addf(sb, "%.*s-%d L%d e%d", STR_ARG(topic), s->partition_index, s->leader,
                s->leader_epoch);
    add_ids(sb, "isr", s->isr, s->isr_count);
    add_ids(sb, "rs", s->replicas, s->replicas_count);
    add_ids(sb, "+", s->adding_replicas, s->adding_replicas_count);
    add_ids(sb, "-", s->removing_replicas, s->removing_replicas_count);
    if (s->leader_recovery_state)
        strbuf_addz(sb, " recovering");
    if (s->is_new)
        strbuf_addz(sb, " new");
}

static void print_leader_and_isr(struct strbuf *sb, const struct leader_and_isr_request *r, int *n)
{
    for (int32_t i = 0; i < r->ungrouped_partition_states_count; i++) {
        add_separator(sb, n);
        print_lead(sb, r->ungrouped_partition_states[i].topic_name,
                   &r->ungrouped_partition_states[i]);
    }
    for (int32_t t = 0; t < r->topic_states_count; t++) {
        for (int32_t i = 0; i < r->topic_states[t].partition_states_count; i++) {
            add_separator(sb, n);
            print_lead(sb, r->topic_states[t].topic_name, &r->topic_states[t].partition_states[i]);
        }
    }
}

static void print_told(struct strbuf *sb, struct str topic,
                       const struct update_metadata_request_partition_state *s)
{
    strbuf_addf(sb, "%.*s-%d L%d e%d", STR_ARG(topic), s->partition_index, s->leader,
                s->leader_epoch);
    add_ids(sb, "isr", s->isr, s->isr_count);
    add_ids(sb, "rs", s->replicas, s->replicas_count);
    add_ids(sb, "off", s->offline_replicas, s->offline_replicas_count);
}

static void print_update_metadata(struct strbuf *sb, const struct update_metadata_request *r,
                                  int *n)
{
    for (int32_t i = 0; i < r->ungrouped_partition_states_count; i++) {
        add_separator(sb, n);
        print_told(sb, r->ungrouped_partition_states[i].topic_name,
                   &r->ungrouped_partition_states[i]);
    }
    for (int32_t t = 0; t < r->topic_states_count; t++) {
        for (int32_t i = 0; i < r->topic_states[t].partition_states_count; i++) {
            add_separator(sb, n);
            print_told(sb, r->topic_states[t].topic_name, &r->topic_states[t].partition_states[i]);
        }
    }
}

static void print_stop_replica(struct strbuf *sb, const struct stop_replica_request *r, int *n)
{
    for (int32_t t = 0; t < r->topic_states_count; t++) {
        for (int32_t i = 0; i < r->topic_states[t].partition_states_count; i++) {
            const struct stop_replica_request_partition_state *s =
                &r->topic_states[t].partition_states[i];
            add_separator(sb, n);
            strbuf_addf(sb, "%.*s-%d e%d%s", STR_ARG(r->topic_states[t].topic_name),
                        s->partition_index, s->leader_epoch, s->delete_partition ? " delete" : "");
        }
    }
    for (int32_t t = 0; t < r->topics_count; t++) {
        for (int32_t i = 0; i < r->topics[t].partition_indexes_count; i++) {
            add_separator(sb, n);
            strbuf_addf(sb, "%.*s-%d%s", STR_ARG(r->topics[t].name),
                        r->topics[t].partition_indexes[i], r->delete_partitions ? " delete" : "");
        }
    }
}

static void print_body(struct strbuf *sb, const struct control_message *m)
{
    int n = 0;

    if (m->api_key == API_LEADER_AND_ISR)
        print_leader_and_isr(sb, m->body, &n);
    else if (m->api_key == API_UPDATE_METADATA)
        print_update_metadata(sb, m->body, &n);
    else
        print_stop_replica(sb, m->body, &n);
}

static const char *kind_of(const struct control_message *m)
{
    return m->api_key == API_LEADER_AND_ISR    ? "LISR"
           : m->api_key == API_UPDATE_METADATA ? "UMR"
                                               : "SR";
}

const char *fake_channels_trace(struct fake_channels *f)
{
    struct strbuf body = {0}, last = {0};
    const char *last_kind = NULL;
    const struct control_message *last_m = NULL;

    strbuf_reset(&f->text);
    for (size_t i = 0; i < f->count; i++) {
        struct fake_sent *s = &f->sent[i];
        if (s->is_seen)
            continue;
        s->is_seen = true;
        strbuf_reset(&body);
        print_body(&body, s->m);
        /* Of UpdateMetadata all get one message; two in a row are two batches. */
        bool is_same = last_kind == kind_of(s->m) && str_eq(strbuf_str(&body), strbuf_str(&last)) &&
                       (s->m->api_key != API_UPDATE_METADATA || s->m == last_m);
        last_m = s->m;
        if (is_same) {
            strbuf_addf(&f->text, ",%d", s->broker_id);
            continue;
        }
        if (last_kind) {
            strbuf_add_str(&f->text, strbuf_str(&last));
            strbuf_add_char(&f->text, '\n');
        }
        last_kind = kind_of(s->m);
        strbuf_addf(&f->text, "%s %d", last_kind, s->broker_id);
        strbuf_reset(&last);
        strbuf_add_str(&last, strbuf_str(&body));
    }
    if (last_kind) {
        strbuf_add_str(&f->text, strbuf_str(&last));
        strbuf_add_char(&f->text, '\n');
    }
    strbuf_deinit(&body);
    strbuf_deinit(&last);
    return f->text.s ? f->text.s : "";
}

void fake_channels_skip(struct fake_channels *f)
{
    for (size_t i = 0; i < f->count; i++)
        f->sent[i].is_seen = true;
}

void fake_channels_refuse(struct fake_channels *f, struct fake_refusal r)
{
    xgrow(f->refusals, f->refusal_cap, f->refusal_count + 1);
    f->refusals[f->refusal_count++] = r;
}

static int16_t error_of(const struct fake_channels *f, const struct fake_sent *s, struct str topic,
                        int32_t partition)
{
    for (size_t i = 0; i < f->refusal_count; i++) {
        const struct fake_refusal *r = &f->refusals[i];
        if (r->broker_id == s->broker_id && r->api_key == s->m->api_key &&
            str_eqz(topic, r->topic) && r->partition == partition)
            return r->error;
    }
    return 0;
}

/* By topic id, as from version 5 on. */
static void *answer_leader_and_isr(const struct fake_channels *f, const struct fake_sent *s,
                                   struct arena *a)
{
    const struct leader_and_isr_request *r = s->m->body;
    struct leader_and_isr_response *resp = arena_zalloc(a, sizeof *resp);

    resp->error_code = f->top_level_error;
    resp->topics = arena_array(a, (size_t)r->topic_states_count + 1, sizeof *resp->topics);
    resp->topics_count = r->topic_states_count;
    for (int32_t t = 0; t < r->topic_states_count; t++) {
        const struct leader_and_isr_request_topic_state *ts = &r->topic_states[t];
        struct leader_and_isr_response_topic *rt = &resp->topics[t];
        rt->topic_id = ts->topic_id;
        rt->partition_errors_count = ts->partition_states_count;
        rt->partition_errors =
            arena_array(a, (size_t)ts->partition_states_count, sizeof *rt->partition_errors);
        for (int32_t i = 0; i < ts->partition_states_count; i++) {
            rt->partition_errors[i].partition_index = ts->partition_states[i].partition_index;
            rt->partition_errors[i].error_code =
                error_of(f, s, ts->topic_name, ts->partition_states[i].partition_index);
        }
    }
    return resp;
}

static void *answer_stop_replica(const struct fake_channels *f, const struct fake_sent *s,
                                 struct arena *a)
{
    const struct stop_replica_request *r = s->m->body;
    struct stop_replica_response *resp = arena_zalloc(a, sizeof *resp);
    int32_t n = 0;

    resp->error_code = f->top_level_error;
    for (int32_t t = 0; t < r->topic_states_count; t++)
        n += r->topic_states[t].partition_states_count;
    resp->partition_errors = arena_array(a, (size_t)n + 1, sizeof *resp->partition_errors);
    for (int32_t t = 0; t < r->topic_states_count; t++) {
        const struct stop_replica_request_topic_state *ts = &r->topic_states[t];
        for (int32_t i = 0; i < ts->partition_states_count; i++)
            resp->partition_errors[resp->partition_errors_count++] =
                (struct stop_replica_response_partition_error){
                    .topic_name = arena_str(a, ts->topic_name),
                    .partition_index = ts->partition_states[i].partition_index,
                    .error_code =
                        error_of(f, s, ts->topic_name, ts->partition_states[i].partition_index),
                };
    }
    return resp;
}

static void *make_answer(const struct fake_channels *f, const struct fake_sent *s, struct arena *a)
{
    if (s->m->api_key == API_LEADER_AND_ISR)
        return answer_leader_and_isr(f, s, a);
    if (s->m->api_key == API_STOP_REPLICA)
        return answer_stop_replica(f, s, a);
    struct update_metadata_response *resp = arena_zalloc(a, sizeof *resp);
    resp->error_code = f->top_level_error;
    return resp;
}

bool fake_channels_answer(struct fake_channels *f)
{
    bool any = false;

    for (size_t i = 0; i < f->count; i++) {
        struct fake_sent *s = &f->sent[i];
        if (s->is_answered)
            continue;
        struct control_answer *a = xnew(struct control_answer);
        s->is_answered = true;
        a->message = control_message_ref(s->m);
        a->broker_id = s->broker_id;
        a->response = make_answer(f, s, &a->arena);
        f->on_answer(f->ctx, a);
        any = true;
    }
    return any;
}
