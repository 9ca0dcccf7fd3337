/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion queues with an end (RFC 5040 8.1.1 items 9 and 10): the completions of one stream that wait for the upper
 * tester. One too many ends that stream, and no other.
 */
#include "reference-stack/peer/peer_internal.h"
#include "wire/terminate.h"

static void end(struct peer_stream *ps)
{
    if (iwarp_stream_terminate(ps->stream, TERM_RDMAP_CATASTROPHIC_STREAM, ps->peer->now, NULL) != 0)
        iwarp_stream_abort(ps->stream, ps->peer->now);
}

static void overflow(struct peer_stream *ps)
{
    json_t *event = peer_event_new(ps->peer, ps->number, "error");

    if (event != NULL)
        (void)json_object_set_new(event, "text", json_string("the completion queue of the stream is full"));
    end(ps);
    for (struct peer_stream *other = ps->peer->streams; other != NULL; other = other->next) {
        if (other == ps || other->stream == NULL ||
            !PEER_HOOK_IF(&ps->peer->config, hook_overflow_spreads(ps->peer->config.defects)))
            continue;
        end(other);
        peer_pump(other);
    }
}

/* Only as a defect: room is made at the expense of another stream's completion. */
static void overwrite(struct peer_stream *ps)
{
    json_t *events = ps->peer->events;

    for (size_t i = json_array_size(events); i > 0; i--) {
        const json_t *event = json_array_get(events, i - 1);

        if (json_integer_value(json_object_get(event, "stream")) != (json_int_t)ps->number &&
            json_object_get(event, "id") != NULL) {
            (void)json_array_remove(events, i - 1);
            return;
        }
    }
}

bool peer_queue_takes(struct peer_stream *ps)
{
    if (ps->options.queue == 0 || ps->overflowed)
        return true; /* after an overflow, flushed work is reported */
    if (ps->counted_at != ps->peer->polls)
        ps->waiting = 0;
    ps->counted_at = ps->peer->polls;
    if (++ps->waiting <= ps->options.queue)
        return true;
    if (PEER_HOOK_IF(&ps->peer->config, hook_queue_overwrites(ps->peer->config.defects))) {
        overwrite(ps);
        return true;
    }
    ps->overflowed = true;
    overflow(ps);
    return false;
}
