/* SPDX-License-Identifier: BSD-2-Clause */
/* What streams report: obeyed by the cooperating ULP, and kept for the upper tester. */
#include <string.h>

#include "reference-stack/peer/peer_internal.h"
#include "wire/rdmap.h"

/* The same for an event that holds so many octets of a message. */
static json_t *new_with(struct peer *peer, uint32_t number, const char *name, size_t octets)
{
    size_t memory = PEER_EVENT_OCTETS + 2 * octets; /* hexadecimal digits */
    /* Where nobody polls, events leave most of it to the streams. */
    bool too_many = json_array_size(peer->events) >= PEER_EVENTS_MAX ||
                    (peer->budget.most != 0 && peer->event_octets + memory > peer->budget.most / PEER_EVENT_SHARE);
    json_t *object;

    if (too_many || !budget_charge(&peer->budget, memory)) {
        peer->events_lost++;
        return NULL;
    }
    peer->event_octets += memory; /* given back with all of them */
    object = json_pack("{s:i, s:s}", "stream", (int)number, "event", name);
    if (object == NULL || json_array_append_new(peer->events, object) != 0) {
        peer->events_lost++;
        return NULL;
    }
    return object;
}

/* A new event object at the end of the list, borrowed; NULL when it could not be kept. */
json_t *peer_event_new(struct peer *peer, uint32_t number, const char *name)
{
    return new_with(peer, number, name, 0);
}

void peer_events_clear(struct peer *peer)
{
    (void)json_array_clear(peer->events);
    budget_give(&peer->budget, peer->event_octets);
    peer->event_octets = 0;
    peer->events_lost = 0;
}

static void set(json_t *object, const char *name, json_t *value)
{
    (void)json_object_set_new(object, name, value);
}

static void set_start(json_t *object, const struct iwarp_event *event)
{
    const struct iwarp_mpa_start *start = &event->start;
    size_t octets;
    const uint8_t *data = iwarp_mpa_start_ulp_data(start, &octets);

    set(object, "rev", json_integer(start->revision));
    set(object, "m", json_boolean(start->markers));
    set(object, "c", json_boolean(start->crc));
    set(object, "r", json_boolean(start->rejected));
    set(object, "s", json_boolean(start->enhanced));
    set(object, "pd_length", json_integer(start->private_octets));
    set(object, "private_data", upper_hex(data, data == NULL ? 0 : octets));
    if (iwarp_mpa_start_has_word(start)) {
        set(object, "a", json_boolean(start->peer_to_peer));
        set(object, "rtr_send", json_boolean(start->rtr_send));
        set(object, "rtr_write", json_boolean(start->rtr_write));
        set(object, "rtr_read", json_boolean(start->rtr_read));
        set(object, "peer_ird", json_integer(start->ird));
        set(object, "peer_ord", json_integer(start->ord));
    }
}

/* Whose connection it is, where the transport knows. */
static void set_ends(json_t *object, const struct peer_stream *ps)
{
    const struct peer_transport_ops *ops = ps->peer->ops;
    struct connection_end own, peer;

    if (ps->transport == NULL || ops->carrier.ends == NULL || !ops->carrier.ends(ps->transport, &own, &peer))
        return;
    PEER_HOOK(&ps->peer->config, hook_ends(ps->stream, &own, &peer));
    set(object, "peer_address", json_string(peer.address));
    set(object, "peer_port", json_integer(peer.port));
    set(object, "own_address", json_string(own.address));
    set(object, "own_port", json_integer(own.port));
}

static void set_established(json_t *object, const struct iwarp_event *event)
{
    set(object, "ird", json_integer(event->ird));
    set(object, "ord", json_integer(event->ord));
    set(object, "send_markers", json_boolean(event->send_markers));
    set(object, "receive_markers", json_boolean(event->receive_markers));
    set(object, "crc", json_boolean(event->crc));
    set(object, "version", json_integer(event->version));
}

static void set_triple(json_t *object, const struct iwarp_event *event)
{
    char text[160];

    if (!wire_is_error(event->triple))
        return;
    set(object, "layer", json_integer(wire_error_layer(event->triple)));
    set(object, "etype", json_integer(wire_error_etype(event->triple)));
    set(object, "code", json_integer(wire_error_code(event->triple)));
    set(object, "what", json_string(iwarp_terminate_describe(event->triple, text, sizeof(text))));
}

static void set_receive(json_t *object, const struct iwarp_event *event)
{
    set(object, "octets", json_integer((json_int_t)event->octets));
    set(object, "opcode", json_integer(event->opcode));
    set(object, "solicited", json_boolean(event->solicited));
    if (event->invalidated)
        set(object, "invalidated", json_integer(event->stag));
    set(object, "data", upper_hex(event->buffer, event->octets));
}

/* A string: JSON's numbers are not everywhere good for 64 bits. */
static void set_value(json_t *object, uint64_t value)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)value);
    set(object, "value", json_string(text));
}

static const struct {
    const char *name;
    bool start, established, triple, headers;
} names[] = {
    [IWARP_EVENT_CONNECT_REQUEST] = {.name = "connect_request", .start = true},
    [IWARP_EVENT_ESTABLISHED] = {.name = "established", .start = true, .established = true},
    [IWARP_EVENT_REJECTED] = {.name = "rejected", .start = true},
    [IWARP_EVENT_REJECT_SENT] = {.name = "reject_sent"},
    [IWARP_EVENT_TRANSMIT_READY] = {.name = "transmit_ready"},
    [IWARP_EVENT_RECEIVE] = {.name = "receive"},
    [IWARP_EVENT_SEND_DONE] = {.name = "send_done"},
    [IWARP_EVENT_WRITE_DONE] = {.name = "write_done"},
    [IWARP_EVENT_READ_DONE] = {.name = "read_done"},
    [IWARP_EVENT_ATOMIC_DONE] = {.name = "atomic_done"},
    [IWARP_EVENT_IMMEDIATE_DONE] = {.name = "immediate_done"},
    [IWARP_EVENT_FLUSHED] = {.name = "flushed"},
    [IWARP_EVENT_TERMINATE_SENT] = {.name = "terminate_sent", .triple = true, .headers = true},
    [IWARP_EVENT_TERMINATE_RECEIVED] = {.name = "terminate_received", .triple = true, .headers = true},
    [IWARP_EVENT_HALF_CLOSED] = {.name = "half_closed"},
    [IWARP_EVENT_ULPDU] = {.name = "ulpdu"},
    [IWARP_EVENT_CLOSED] = {.name = "closed"},
    [IWARP_EVENT_ERROR] = {.name = "error", .triple = true},
};

json_t *peer_event_names(void)
{
    static const char *const others[] = {"accepted", "streaming", "connect_failed"};
    json_t *list = json_array();
    int status = list == NULL;

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        status |= json_array_append_new(list, json_string(others[i]));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].name != NULL)
            status |= json_array_append_new(list, json_string(names[i].name));
    if (status == 0)
        return list;
    json_decref(list);
    return NULL;
}

static void keep(struct peer_stream *ps, const struct iwarp_event *event, const struct peer_work *work)
{
    static const char *const works[] = {"receive", "send", "write", "read", "atomic", "immediate"};
    size_t octets = event->kind == IWARP_EVENT_RECEIVE ? event->octets : 0;
    bool flushed = event->kind == IWARP_EVENT_FLUSHED;
    bool other = flushed && work != NULL && work->has_id &&
                 PEER_HOOK_IF(&ps->peer->config, hook_flush_otherwise(ps->peer->config.defects));
    json_t *object = new_with(ps->peer, ps->number, names[other ? IWARP_EVENT_ERROR : event->kind].name, octets);

    if (object == NULL)
        return;
    if (names[event->kind].start) {
        set_start(object, event);
        set_ends(object, ps);
    }
    if (names[event->kind].established)
        set_established(object, event);
    if (names[event->kind].triple)
        set_triple(object, event);
    if (names[event->kind].headers)
        set(object, "headers", upper_hex(event->headers, event->header_octets));
    if (event->kind == IWARP_EVENT_RECEIVE) {
        set_receive(object, event);
        if (work != NULL && !peer_work_guarded(work))
            set(object, "guarded", json_false());
    } else if (work != NULL && !flushed)
        set(object, "octets", json_integer((json_int_t)event->octets));
    if (work != NULL && flushed && !peer_work_guarded(work))
        set(object, "guarded", json_false());
    if (event->kind == IWARP_EVENT_ULPDU) {
        set(object, "octets", json_integer((json_int_t)event->octets));
        set(object, "order", json_integer((json_int_t)event->value));
        set(object, "early", json_boolean(event->early));
    }
    if (event->kind == IWARP_EVENT_ATOMIC_DONE)
        set_value(object, event->value);
    if (work != NULL && work->has_id)
        set(object, "id", json_integer((json_int_t)work->id));
    if (flushed)
        set(object, "work", json_string(works[event->flushed]));
    if (event->kind == IWARP_EVENT_ERROR) {
        set(object, "text", json_string(event->text));
        if (event->requirement != NULL)
            set(object, "requirement", json_string(event->requirement));
        if (event->start.private_data != NULL)
            set(object, "rev", json_integer(event->start.revision));
    }
}

/* The ULP of `echo`: sends back what came, as it came. */
static void echo(struct peer_stream *ps, const struct iwarp_event *event)
{
    struct peer_work *work = peer_work_new(ps, event->octets);
    struct iwarp_send send = {.id = (uint64_t)(uintptr_t)work, .count = event->octets};

    if (work == NULL) { /* an echo that is lost would be our fault: the stream ends */
        iwarp_stream_abort(ps->stream, ps->peer->now);
        return;
    }
    work->echo = true;
    if (event->octets != 0)
        memcpy(work->data, event->buffer, event->octets);
    send.octets = work->data;
    if (iwarp_stream_post_send(ps->stream, &send, NULL) != 0)
        peer_work_free(ps, work);
}

static bool has_work(const struct iwarp_event *event)
{
    switch (event->kind) {
    case IWARP_EVENT_RECEIVE:
    case IWARP_EVENT_SEND_DONE:
    case IWARP_EVENT_WRITE_DONE:
    case IWARP_EVENT_READ_DONE:
    case IWARP_EVENT_ATOMIC_DONE:
    case IWARP_EVENT_IMMEDIATE_DONE:
    case IWARP_EVENT_FLUSHED: return true;
    default: return false;
    }
}

/* Only as a defect: reports the completion when the work is posted. The real completion is then not reported. */
void peer_event_early(struct peer_stream *ps, enum iwarp_event_kind kind, struct peer_work *work)
{
    struct iwarp_event event = {.kind = kind, .octets = work->octets};

    keep(ps, &event, work);
    work->completion_reported = true;
}

void peer_event_handle(struct peer_stream *ps, const struct iwarp_event *event)
{
    struct peer_work *work = has_work(event) ? (struct peer_work *)(uintptr_t)event->id : NULL;
    /*
     * Receives that are posted again and again, and echoes, are flushed without a word, unless octets around them
     * changed.
     */
    bool quiet = (work != NULL && (work->echo || work->completion_reported)) ||
                 (event->kind == IWARP_EVENT_FLUSHED && work != NULL && !work->has_id && peer_work_guarded(work));

    if (!quiet && (!has_work(event) || peer_queue_takes(ps)))
        keep(ps, event, work);
    switch (event->kind) {
    case IWARP_EVENT_RECEIVE:
        if (ps->options.echo && rdmap_is_send(event->opcode))
            echo(ps, event);
        if (work != NULL && ps->options.repost &&
            iwarp_stream_post_receive(ps->stream, event->id, work->data, work->octets, NULL) == 0)
            work = NULL;
        break;
    case IWARP_EVENT_HALF_CLOSED:
        if (!ps->options.hold_open)
            iwarp_stream_disconnect(ps->stream, ps->peer->now);
        break;
    case IWARP_EVENT_REJECTED:
        /* The ULP's choice (RFC 5044 7.1.2): this one has no other use for the connection. */
        iwarp_stream_disconnect(ps->stream, ps->peer->now);
        break;
    default: break;
    }
    if (work != NULL)
        peer_work_free(ps, work);
}
