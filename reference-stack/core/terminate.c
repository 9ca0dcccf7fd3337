/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors into Terminate Messages (RFC 5040 4.8, 5.4, 6.2.1, 7). */
#include <string.h>

#include "reference-stack/base/misuse.h"
#include "reference-stack/core/stream_internal.h"

/*
 * Which headers go along (RFC 5040 Figure 10): none for local catastrophic errors and those of the LLP; length and DDP
 * header for all others; the Read Request Header when RDMAP found the request's source wrong.
 */
void terminate_queue(struct iwarp_stream *stream, wire_result triple, const struct ddp_segment *segment,
                     size_t segment_octets, const uint8_t *read_header)
{
    unsigned layer = wire_error_layer(triple);
    unsigned etype = wire_error_etype(triple);
    bool headers = segment != NULL && segment->header != NULL &&
                   (layer == 1 || (layer == 0 && (etype == 1 || etype == 2))) && triple != TERM_DDP_CATASTROPHIC;
    struct terminate terminate = {.triple = triple};

    if (headers) {
        terminate.m = terminate.d = true;
        terminate.ddp_segment_length = (uint16_t)segment_octets;
        terminate.ddp_header = segment->header;
        terminate.ddp_header_octets = segment->header_octets;
        terminate.r = layer == 0 && etype == 1 && read_header != NULL;
        terminate.rdmap_header = read_header;
        terminate.rdmap_header_octets = READ_REQUEST_OCTETS;
    }
    stream->end.terminate_octets =
        SEAM_VALUE(stream, terminate_pack(&terminate, stream->end.terminate, sizeof(stream->end.terminate)),
                   terminate(stream, &terminate, segment, segment_octets));
    stream->end.terminate_due = stream->end.terminate_octets != 0;
}

/* The Read Request Header that the subject is about, as received. */
static const uint8_t *quoted_read(const struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;

    if (segment == NULL || segment->tagged || segment->header == NULL ||
        (segment->control & 0xF) != IWARP_RDMAP_READ_REQUEST || segment->payload_octets != READ_REQUEST_OCTETS)
        return NULL;
    return segment->payload;
}

void terminate_about(struct iwarp_stream *stream, wire_result triple, const struct validation_subject *subject)
{
    terminate_queue(stream, triple, subject->segment, subject->segment_octets, quoted_read(subject));
}

static void report(struct iwarp_stream *stream, const char *requirement, wire_result error, const char *text)
{
    struct iwarp_event *event = stream_event(stream, IWARP_EVENT_ERROR);

    if (event == NULL)
        return;
    event->requirement = requirement;
    stream->llp->state(stream, event);
    event->triple = error;
    (void)snprintf(event->text, sizeof(event->text), "%s", text);
    stream_event_done(stream, event);
}

/*
 * The one place where a stream fails: the first error counts, all that is posted is flushed, what still comes in is
 * dropped silently (RFC 5041 7.1), one Terminate goes out where segments may be sent, and then the orderly end.
 */
void stream_fail(struct iwarp_stream *stream, const struct validation_outcome *found,
                 const struct validation_subject *subject, const char *text)
{
    struct validation_outcome outcome = *found;
    const struct validation *entry = outcome.entry;
    char sentence[sizeof(((struct iwarp_event *)0)->text)];

    if (outcome.action == VALIDATION_IGNORE || SEAM_IF(stream, fail(stream, &outcome, subject, false)) ||
        stream->end.error_seen)
        return;
    stream->end.error_seen = true;
    if (outcome.error == TERM_DDP_NO_BUFFER)
        stream->instruments.system_faults++;
    if (entry != NULL) {
        (void)snprintf(sentence, sizeof(sentence), "%s: %s", text, entry->name);
        report(stream, entry->requirement, outcome.error, sentence);
    } else {
        report(stream, outcome.requirement, outcome.error, text);
    }
    if (SEAM_IF(stream, fail(stream, &outcome, subject, true)))
        return;
    stream->end.dropping = true;
    if (outcome.action == VALIDATION_REJECT) {
        (void)stream->llp->answer(stream, false);
        return;
    }
    if (outcome.action == VALIDATION_TERMINATE && stream->outbound.segments_allowed && !stream->agreed.ddp_alone)
        terminate_about(stream, outcome.error, subject);
    stream_flush(stream);
    stream->state = IWARP_STATE_TERMINATING;
    stream->startup_deadline = UINT64_MAX;
    if (outcome.action == VALIDATION_HANG)
        return;
    stream->end.close_wanted = true;
    if (stream->config.teardown_delay != 0)
        stream->end.teardown_at = time_after(stream->now, stream->config.teardown_delay);
    if (outcome.action == VALIDATION_ABORT)
        stream->end.abort_wanted = true;
}

void stream_fail_with(struct iwarp_stream *stream, const char *requirement, wire_result error,
                      enum validation_action action, const char *text)
{
    struct validation_subject subject = stream_subject(stream);
    struct validation_outcome outcome = {.requirement = requirement, .error = error, .action = action};

    stream_fail(stream, &outcome, &subject, text);
}
