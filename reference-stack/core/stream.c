/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/base/misuse.h"
#include "reference-stack/core/stream_internal.h"

#include <stdlib.h>
#include <string.h>

struct iwarp_stream *stream_new(const struct llp_ops *llp, struct iwarp_device *device,
                                const struct iwarp_stream_config *config, uint64_t now, struct iwarp_sentence *sentence)
{
    struct iwarp_stream *stream;

    if (device == NULL || config == NULL) {
        (void)iwarp_sentence_set(sentence, "stream: a device and a configuration were expected");
        return NULL;
    }
    if (stream_config_check(llp, device, config, sentence) != 0)
        return NULL;
    stream = calloc(1, sizeof(*stream) + llp->state_octets);
    if (stream == NULL) {
        (void)iwarp_sentence_set(sentence, "stream: out of memory");
        return NULL;
    }
    stream->llp = llp;
    stream->lower = stream + 1;
    stream->config = *config;
    stream->device = device;
    stream->agreed.terms =
        (struct validation_terms){.config = &stream->config, .ird_max = device->config.ird_max, .version = DDP_VERSION};
    device_join(device);
    stream->now = now;
    stream->state = IWARP_STATE_STARTUP;
    negotiate_begin(stream);
    stream->startup_deadline = config->startup_limit == 0 ? UINT64_MAX : time_after(now, config->startup_limit);
    stream->end.linger_deadline = UINT64_MAX;
    for (size_t i = 0; i < DDP_QUEUES; i++)
        stream->inbound.queues[i].msn_expected = stream->inbound.queues[i].msn_next = DDP_FIRST_MSN;
    ring_init(&stream->inbound.receives, sizeof(struct receive_work));
    ring_init(&stream->inbound.requests, sizeof(struct inbound_request));
    ring_init(&stream->outbound.work, sizeof(struct send_work));
    ring_init(&stream->events, sizeof(struct iwarp_event));
    ring_init(&stream->instruments.trace, sizeof(struct iwarp_trace));
    if (config->faults != NULL && (stream->faults = config->faults->ops->stream_new(stream, config->faults)) == NULL)
        (void)iwarp_sentence_set(sentence, "stream: out of memory");
    else if (llp->begin(stream, sentence) == 0)
        return stream;
    iwarp_stream_free(stream);
    return NULL;
}

void iwarp_stream_free(struct iwarp_stream *stream)
{
    if (stream == NULL)
        return;
    faults_release(&stream->faults);
    stream_piece_drop(stream);
    device_leave(stream->device);
    while (stream->inbound.receives.count != 0)
        receive_pop(stream);
    while (stream->outbound.work.count != 0)
        work_pop(stream);
    work_release(stream);
    ring_free(&stream->inbound.receives);
    ring_free(&stream->inbound.requests);
    ring_free(&stream->outbound.work);
    ring_free(&stream->events);
    ring_free(&stream->instruments.trace);
    stream->llp->release(stream);
    free(stream->outbound.buffer);
    free(stream->outbound.gathered);
    free(stream);
}

/* A new event at the end of the queue, zeroed but for its kind. Without memory the stream is aborted: see below. */
struct iwarp_event *stream_event(struct iwarp_stream *stream, enum iwarp_event_kind kind)
{
    struct iwarp_event *event = ring_push(&stream->events);

    if (event == NULL) {
        stream->end.abort_wanted = true;
        stream->end.dropping = true;
        stream->end.unflushed = true;
        stream->state = IWARP_STATE_CLOSED;
        return NULL;
    }
    memset(event, 0, sizeof(*event));
    event->kind = kind;
    return event;
}

void stream_event_done(struct iwarp_stream *stream, struct iwarp_event *event)
{
    if (event != NULL)
        SEAM(stream, event(stream, event));
}

void stream_event_plain(struct iwarp_stream *stream, enum iwarp_event_kind kind)
{
    stream_event_done(stream, stream_event(stream, kind));
}

/*
 * Without memory for events: completions that were not reported go straight to the caller that polls, each exactly
 * once.
 */
static bool poll_unflushed(struct iwarp_stream *stream, struct iwarp_event *event)
{
    const struct send_work *work = ring_at(&stream->outbound.work, 0);
    const struct receive_work *receive = ring_at(&stream->inbound.receives, 0);

    memset(event, 0, sizeof(*event));
    event->kind = IWARP_EVENT_FLUSHED;
    if (work != NULL) {
        event->id = work->id;
        event->flushed = work->kind;
        work_pop(stream);
        return true;
    }
    if (receive == NULL)
        return false;
    event->id = receive->id;
    event->flushed = IWARP_WORK_RECEIVE;
    receive_pop(stream);
    return true;
}

/* Drops work that the ULP did not post, or whose completion was reported. */
static void drop_internal_work(struct iwarp_stream *stream)
{
    const struct send_work *work;

    while ((work = ring_at(&stream->outbound.work, 0)) != NULL && work->internal)
        work_pop(stream);
}

bool iwarp_stream_poll(struct iwarp_stream *stream, struct iwarp_event *event)
{
    const struct iwarp_event *oldest;

    if (stream == NULL || event == NULL)
        return false;
    work_release(stream);
    oldest = ring_at(&stream->events, 0);
    if (oldest == NULL && stream->end.unflushed) {
        drop_internal_work(stream);
        return poll_unflushed(stream, event);
    }
    if (oldest == NULL || !SEAM_DECIDE(stream, DECIDE_EVENT, true))
        return false;
    *event = *oldest;
    ring_pop(&stream->events);
    return true;
}

bool iwarp_stream_has_event(const struct iwarp_stream *stream)
{
    if (stream == NULL)
        return false;
    if (stream->events.count != 0 || !stream->end.unflushed)
        return stream->events.count != 0;
    for (size_t i = 0; i < stream->outbound.work.count; i++)
        if (!((const struct send_work *)ring_at(&stream->outbound.work, i))->internal)
            return true;
    return stream->inbound.receives.count != 0;
}

/* Reports the completion of this work to the ULP, once. */
void stream_completed(struct iwarp_stream *stream, struct send_work *work)
{
    static const enum iwarp_event_kind kinds[] = {
        [IWARP_WORK_RECEIVE] = IWARP_EVENT_RECEIVE,    [IWARP_WORK_SEND] = IWARP_EVENT_SEND_DONE,
        [IWARP_WORK_WRITE] = IWARP_EVENT_WRITE_DONE,   [IWARP_WORK_READ] = IWARP_EVENT_READ_DONE,
        [IWARP_WORK_ATOMIC] = IWARP_EVENT_ATOMIC_DONE, [IWARP_WORK_IMMEDIATE] = IWARP_EVENT_IMMEDIATE_DONE,
    };
    struct iwarp_event *event;

    if (work->internal)
        return;
    work->internal = true;
    event = stream_event(stream, kinds[work->kind]);
    if (event == NULL) {
        work->internal = false;
        return;
    }
    event->id = work->id;
    event->octets = work->count;
    event->value = work->value;
    stream_event_done(stream, event);
}

/* Completes in order of posting what is done (RFC 5040 5.5 rule 15). */
void stream_complete(struct iwarp_stream *stream)
{
    for (;;) {
        struct send_work *work = ring_at(&stream->outbound.work, 0);

        if (work == NULL || !work->done || stream->outbound.work_sent == 0)
            return;
        stream_completed(stream, work);
        if (stream->end.unflushed)
            return;
        work_pop(stream);
        stream->outbound.work_serial++;
        stream->outbound.work_sent--;
    }
}

static void flush_one(struct iwarp_stream *stream, enum iwarp_work kind, uint64_t id)
{
    struct iwarp_event *event = stream->end.unflushed ? NULL : stream_event(stream, IWARP_EVENT_FLUSHED);

    if (event != NULL) {
        event->id = id;
        event->flushed = kind;
    }
    stream_event_done(stream, event);
}

/* Everything posted and not complete is completed in error, each exactly once (RFC 5040 5.4, 6.2.1). */
void stream_flush(struct iwarp_stream *stream)
{
    struct send_work *work;
    struct receive_work *receive;

    if (SEAM_IF(stream, ending(stream, ENDING_FLUSH)))
        return;
    piece_keep(stream);
    while ((work = ring_at(&stream->outbound.work, 0)) != NULL) {
        if (!work->internal)
            flush_one(stream, work->kind, work->id);
        if (stream->end.unflushed)
            break;
        work_pop(stream);
        stream->outbound.work_serial++;
    }
    stream->outbound.work_sent = 0;
    stream->outbound.work_offset = 0;
    stream->outbound.work_begun = false;
    stream->outbound.source = TRANSMIT_NONE;
    stream->counters.reads_outstanding = 0;
    while ((receive = ring_at(&stream->inbound.receives, 0)) != NULL) {
        flush_one(stream, IWARP_WORK_RECEIVE, receive->id);
        if (stream->end.unflushed)
            break;
        receive_pop(stream);
    }
    stream->inbound.queues[DDP_QN_SEND].begun = false;
    while (stream->inbound.requests.count != 0)
        ring_pop(&stream->inbound.requests);
    stream->counters.requests_queued = 0;
}

static void stream_closed(struct iwarp_stream *stream)
{
    if (stream->state == IWARP_STATE_CLOSED)
        return;
    stream_flush(stream);
    stream->state = IWARP_STATE_CLOSED;
    stream->end.dropping = true;
    stream_event_plain(stream, IWARP_EVENT_CLOSED);
}

void stream_linger(struct iwarp_stream *stream)
{
    if (stream->end.fin_due && stream->config.linger_limit != 0)
        stream->end.linger_deadline = time_after(stream->now, stream->config.linger_limit);
}

/* Updates the stream after any input, verb or tick. */
void stream_progress(struct iwarp_stream *stream)
{
    if (stream->end.close_wanted && !stream->end.fin_due && stream->end.teardown_at == 0 &&
        stream->outbound.piece.octets == 0 && !transmit_pending(stream) &&
        !SEAM_IF(stream, ending(stream, ENDING_ALL_SENT)) && !stream->llp->close(stream)) {
        stream->end.fin_due = true;
        stream_linger(stream);
    }
    if (stream->end.fin_due && stream->end.fin_received)
        stream_closed(stream);
    stream_ready(stream);
}

/* After the LLP's graceful teardown nothing may come: the stream is aborted (RFC 5041 6.2.1). */
static void late_input(struct iwarp_stream *stream, size_t count)
{
    stream->counters.octets_dropped += count;
    if (stream->end.dropping || stream->state == IWARP_STATE_CLOSED)
        return;
    stream_fail_with(stream, "DDP-6.2.1-04", TERM_DDP_CATASTROPHIC, VALIDATION_ABORT,
                     "octets came after the peer's graceful close");
    stream_progress(stream);
}

/* Is what came from the peer looked at? */
static bool input_wanted(struct iwarp_stream *stream, const uint8_t *octets, size_t count)
{
    if (SEAM_IF(stream, input(stream, octets, count)))
        return false;
    if (stream->end.fin_received)
        late_input(stream, count);
    return !stream->end.fin_received;
}

void iwarp_stream_input(struct iwarp_stream *stream, const uint8_t *octets, size_t count, uint64_t now)
{
    if (stream == NULL || octets == NULL)
        return;
    stream->now = now;
    if (stream->llp->input == NULL) {
        stream->counters.octets_dropped += count;
    } else if (input_wanted(stream, octets, count)) {
        stream->llp->input(stream, octets, count);
        stream_progress(stream);
    }
}

void stream_input_ulpdu(struct iwarp_stream *stream, const uint8_t *octets, size_t count, uint64_t now)
{
    stream->now = now;
    if (!input_wanted(stream, octets, count))
        return;
    if (stream->end.dropping)
        stream->counters.octets_dropped += count;
    else
        deliver_ulpdu(stream, octets, count);
    stream_progress(stream);
}

void iwarp_stream_input_fin(struct iwarp_stream *stream, uint64_t now)
{
    if (stream == NULL)
        return;
    stream->now = now;
    if (stream->end.fin_received || stream->state == IWARP_STATE_CLOSED)
        return;
    stream->end.fin_received = true;
    stream_event_plain(stream, IWARP_EVENT_HALF_CLOSED);
    if (SEAM_IF(stream, ending(stream, ENDING_BY_PEER)))
        return;
    stream->llp->input_end(stream);
    stream_progress(stream);
}

void iwarp_stream_input_reset(struct iwarp_stream *stream, uint64_t now)
{
    if (stream == NULL)
        return;
    stream->now = now;
    if (stream->state == IWARP_STATE_CLOSED || SEAM_IF(stream, ending(stream, ENDING_LOST)))
        return;
    if (!stream->end.error_seen) {
        struct iwarp_event *event = stream_event(stream, IWARP_EVENT_ERROR);

        if (event != NULL) {
            event->triple = stream->llp->lost;
            (void)strcpy(event->text, "the connection was reset or lost");
        }
        stream_event_done(stream, event);
    }
    stream->end.error_seen = true;
    stream->end.terminate_due = false;
    stream_piece_drop(stream);
    stream->end.close_wanted = stream->end.fin_due = false;
    stream_closed(stream);
}

size_t iwarp_stream_output(struct iwarp_stream *stream, struct iwarp_output *output)
{
    struct transmit_piece *piece;
    size_t skip;

    if (stream == NULL || output == NULL)
        return 0;
    piece = &stream->outbound.piece;
    skip = piece->done;
    memset(output, 0, sizeof(*output));
    output->ulp_span = IWARP_OUTPUT_SPANS;
    if (stream->end.abort_wanted) {
        stream_piece_drop(stream);
        return 0;
    }
    if (piece->octets == 0) {
        SEAM(stream, output(stream));
        if (!transmit_next(stream)) {
            stream_progress(stream);
            return 0;
        }
        skip = 0;
    }
    if (!SEAM_DECIDE(stream, DECIDE_PIECE_NOW, true))
        return 0;
    output->fpdu = piece->segment;
    output->octets = piece->octets - skip;
    for (size_t i = 0; i < piece->span_count; i++) {
        struct iwarp_span span = piece->spans[i];
        size_t cut = span.count < skip ? span.count : skip;

        skip -= cut;
        if (span.count == cut)
            continue;
        if (piece->ulp_memory && i == TRANSMIT_PAYLOAD)
            output->ulp_span = output->span_count;
        output->spans[output->span_count++] = (struct iwarp_span){span.octets + cut, span.count - cut};
    }
    return output->octets;
}

void iwarp_stream_output_done(struct iwarp_stream *stream, size_t octets, uint64_t now)
{
    struct transmit_piece *piece;

    if (stream == NULL)
        return;
    piece = &stream->outbound.piece;
    stream->now = now;
    piece->done += octets < piece->octets - piece->done ? octets : piece->octets - piece->done;
    if (piece->octets != 0 && piece->done == piece->octets)
        transmit_done(stream);
    stream_progress(stream);
}

enum iwarp_want iwarp_stream_wants(const struct iwarp_stream *stream)
{
    if (stream == NULL)
        return IWARP_WANT_NOTHING;
    if (stream->end.abort_wanted)
        return IWARP_WANT_ABORT;
    return stream->end.fin_due ? IWARP_WANT_CLOSE : IWARP_WANT_NOTHING;
}

uint64_t iwarp_stream_deadline(const struct iwarp_stream *stream)
{
    if (stream == NULL)
        return UINT64_MAX;
    if (stream->state == IWARP_STATE_CLOSED || stream->end.abort_wanted)
        return UINT64_MAX;

    uint64_t first = stream->end.linger_deadline;

    if (stream->state == IWARP_STATE_STARTUP && !stream->end.dropping && stream->startup_deadline < first)
        first = stream->startup_deadline;
    if (stream->end.teardown_at != 0 && stream->end.teardown_at < first)
        first = stream->end.teardown_at;
    return SEAM_NUMBER(stream, NUMBER_DEADLINE, first);
}

void iwarp_stream_set_unacknowledged(struct iwarp_stream *stream, size_t octets, uint64_t now)
{
    if (stream == NULL)
        return;
    stream->now = now;
    if (octets < stream->end.unacknowledged)
        stream_linger(stream);
    stream->end.unacknowledged = octets;
}

void iwarp_stream_tick(struct iwarp_stream *stream, uint64_t now)
{
    if (stream == NULL)
        return;
    stream->now = now;
    if (iwarp_stream_deadline(stream) > now)
        return;
    if (stream->end.linger_deadline <= now) {
        iwarp_stream_abort(stream, now);
        return;
    }
    if (stream->end.teardown_at != 0 && stream->end.teardown_at <= now) {
        stream->end.teardown_at = 0;
    } else if (stream->state == IWARP_STATE_STARTUP && !stream->end.dropping && stream->startup_deadline <= now) {
        stream->startup_deadline = UINT64_MAX;
        stream->llp->overdue(stream);
    }
    stream_progress(stream);
}

enum iwarp_state iwarp_stream_state(const struct iwarp_stream *stream)
{
    return stream == NULL ? IWARP_STATE_CLOSED : stream->state;
}

uint32_t iwarp_stream_number(const struct iwarp_stream *stream)
{
    return stream == NULL ? 0 : stream->config.number;
}

uint16_t iwarp_stream_ird(const struct iwarp_stream *stream)
{
    return stream == NULL ? 0 : stream->agreed.ird;
}

uint16_t iwarp_stream_ord(const struct iwarp_stream *stream)
{
    return stream == NULL ? 0 : stream->agreed.ord;
}

const struct iwarp_stream_counters *iwarp_stream_counters(const struct iwarp_stream *stream)
{
    return stream == NULL ? NULL : &stream->counters;
}
