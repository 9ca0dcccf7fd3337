/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors into Terminate Messages (RFC 5040 4.8, 5.4, 6.2.1, 7). */
#include <string.h>

#include "reference-stack/base/misuse.h"
#include "reference-stack/core/stream_internal.h"
#include "reference-stack/mpa/mpa.h"

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
                   (stream_behaves(stream, DEFECT_CATASTROPHE_QUOTES) || layer == 1 ||
                    (layer == 0 && (etype == 1 || etype == 2))) &&
                   triple != TERM_DDP_CATASTROPHIC;
    struct terminate terminate = {.triple = triple};

    if (stream_behaves(stream, DEFECT_NO_TERMINATE))
        return;
    if (headers) {
        terminate.m = terminate.d = true;
        terminate.ddp_segment_length = (uint16_t)segment_octets;
        terminate.ddp_header = segment->header;
        terminate.ddp_header_octets = segment->header_octets;
        terminate.r = layer == 0 && etype == 1 && read_header != NULL;
        terminate.rdmap_header = read_header;
        terminate.rdmap_header_octets = READ_REQUEST_OCTETS;
    }
    if (stream_behaves(stream, DEFECT_TERMINATE_ATOMIC_HEADER) && headers &&
        (segment->control & 0xF) == RDMAP_ATOMIC_REQUEST && segment->payload_octets >= READ_REQUEST_OCTETS) {
        terminate.r = true;
        terminate.rdmap_header = segment->payload;
        terminate.rdmap_header_octets = READ_REQUEST_OCTETS;
    }
    if (stream->defects != NULL)
        defect_terminate(stream->defects, &terminate);
    stream->terminate_octets = terminate_pack(&terminate, stream->terminate, sizeof(stream->terminate));
    if (stream->defects != NULL)
        stream->terminate_octets =
            defect_terminate_octets(stream->defects, &terminate, segment, stream->terminate, stream->terminate_octets);
    stream->terminate_due = stream->terminate_octets != 0;
    if (stream_behaves(stream, DEFECT_TERMINATE_TWICE))
        stream->terminate_copies = 1;
}

/* The Read Request Header that the subject is about, as received. */
static const uint8_t *quoted_read(const struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;

    if (segment == NULL || segment->tagged || segment->header == NULL ||
        (segment->control & 0xF) != RDMAP_READ_REQUEST || segment->payload_octets != READ_REQUEST_OCTETS)
        return NULL;
    return segment->payload;
}

static void report(struct iwarp_stream *stream, const char *requirement, wire_result error, const char *text)
{
    struct iwarp_event *event;

    if ((stream_behaves(stream, DEFECT_EVENT_END_UNTOLD) && !stream->established) ||
        stream_behaves(stream, DEFECT_ERROR_UNTOLD))
        return;
    event = stream_event(stream, IWARP_EVENT_ERROR);
    if (event == NULL)
        return;
    event->requirement = requirement;
    stream->llp->state(stream, event);
    event->triple = stream_behaves(stream, DEFECT_ERROR_WITHOUT_NUMBERS) ? WIRE_OK : error;
    (void)snprintf(event->text, sizeof(event->text), "%s", text);
}

/*
 * The one place where a stream fails: the first error counts, all that is posted is flushed, what still comes in is
 * dropped silently (RFC 5041 7.1), one Terminate goes out where segments may be sent, and then the orderly end.
 */
void stream_fail(struct iwarp_stream *stream, const struct validation_outcome *outcome,
                 const struct validation_subject *subject, const char *text)
{
    const struct validation *entry = outcome->entry;
    char sentence[sizeof(((struct iwarp_event *)0)->text)];

    if (stream->error_seen) {
        if (stream_behaves(stream, DEFECT_TERMINATE_LAST))
            stream_flush(stream); /* what was to go before the Terminate cannot */
        return;
    }
    stream->error_seen = true;
    if (outcome->error == TERM_DDP_NO_BUFFER)
        stream->system_faults++;
    if (entry != NULL) {
        (void)snprintf(sentence, sizeof(sentence), "%s: %s", text, entry->name);
        report(stream, entry->requirement, outcome->error, sentence);
    } else {
        report(stream, outcome->requirement, outcome->error, text);
    }
    if (stream_behaves(stream, DEFECT_CONTINUE_AFTER_ERROR)) {
        terminate_queue(stream, outcome->error, subject->segment, subject->segment_octets, quoted_read(subject));
        stream->error_seen = false;
        return;
    }
    stream->dropping = true;
    if (stream_behaves(stream, DEFECT_TERMINATE_CUTS_FPDU) && stream->gate)
        frame_fragment(stream);
    if (outcome->action == VALIDATION_REJECT) {
        (void)stream->llp->answer(stream, false);
        return;
    }
    if (stream->state == IWARP_STATE_STARTUP && stream_behaves(stream, DEFECT_START_ERROR_TERMINATES)) {
        mpa_of(stream)->crc = stream->config.crc;
        terminate_queue(stream, outcome->error, NULL, 0, NULL);
    } else if (outcome->action == VALIDATION_TERMINATE && stream->gate) {
        terminate_queue(stream, outcome->error, subject->segment, subject->segment_octets, quoted_read(subject));
    }
    if (!stream_behaves(stream, DEFECT_TERMINATE_LAST))
        stream_flush(stream);
    stream->state = IWARP_STATE_TERMINATING;
    stream->startup_deadline = UINT64_MAX;
    if (outcome->action == VALIDATION_HANG || stream_behaves(stream, DEFECT_CLOSE_NEVER))
        return;
    stream->close_wanted = true;
    if (stream->config.teardown_delay != 0 && !stream_behaves(stream, DEFECT_TEARDOWN_AT_ONCE))
        stream->teardown_at = misuse_later(stream->now, stream->config.teardown_delay);
    if (outcome->action == VALIDATION_ABORT || stream_behaves(stream, DEFECT_ABORT_ON_ERROR))
        stream->abort_wanted = true;
}

void stream_fail_with(struct iwarp_stream *stream, const char *requirement, wire_result error,
                      enum validation_action action, const char *text)
{
    struct validation_subject subject = {.stream = stream};
    struct validation_outcome outcome = {.requirement = requirement, .error = error, .action = action};

    stream_fail(stream, &outcome, &subject, text);
}
