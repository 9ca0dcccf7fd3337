/* SPDX-License-Identifier: BSD-2-Clause */
/* Judgements of legal variants (variants.tsv): what a text leaves open, and the stack takes, is refused. */
#include "reference-stack/core/stream_internal.h"
#include "reference-stack/defects/defect_asked.h"
#include "reference-stack/defects/defect_judge.h"
#include "wire/atomic.h"
#include "wire/ddp.h"
#include "wire/mpa.h"
#include "wire/rdmap.h"

enum { OPCODE_BITS = 0x0F };

/* A note in RFC 5040 4.4 lets DDP guard the sink; that the source looks at SinkTO is not forbidden. */
static bool sink_wraps(const struct validation_subject *subject)
{
    return ddp_to_wraps(subject->read->sink_to, subject->read->octets);
}

/* RFC 5040 7.2: a 64-bit sum of zero may be called a wrap. */
static bool read_to_top(const struct validation_subject *subject)
{
    return subject->read->octets != 0 && subject->read->source_to + subject->read->octets == 0;
}

/* RFC 5040 5.2.1: nothing forbids two segments of one Read Request, and nothing demands that they are taken. */
static bool read_request_split(const struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;

    return (segment->control & OPCODE_BITS) == IWARP_RDMAP_READ_REQUEST && segment->qn == DDP_QN_READ_REQUEST &&
           !segment->last;
}

/* draft-ietf-storm-rdmap-ext-03 6.3 speaks of one header. */
static bool immediate_split(const struct validation_subject *subject)
{
    unsigned opcode = subject->segment->control & OPCODE_BITS;

    return (opcode == IWARP_RDMAP_IMMEDIATE || opcode == IWARP_RDMAP_IMMEDIATE_SE) &&
           subject->segment->qn == DDP_QN_SEND && !subject->segment->last;
}

/* RFC 5041 5.2 knows messages of length 0, and no empty segment of another. */
static bool empty_inside(const struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;

    return segment->payload_octets == 0 && (segment->mo != 0 || !segment->last);
}

/* RFC 6581 9.2: A = 1 and no kind of RTR leaves nothing to agree on. */
static bool rtr_of_no_kind(const struct validation_subject *subject)
{
    const struct iwarp_mpa_start *start = subject->start;

    return start != NULL && iwarp_mpa_start_has_word(start) && start->peer_to_peer && !start->rtr_send &&
           !start->rtr_write && !start->rtr_read;
}

/* The bit is reserved at Rev 1 (RFC 5044 7.1.1), and S wherever it is set (RFC 6581 10). */
bool variant_word_at_revision_1(const struct validation_subject *subject)
{
    return subject->start != NULL && subject->start->revision == MPA_REV_1 && subject->start->enhanced;
}

/*
 * RFC 5044 7.1.1 has Res ignored, of which S is a part for a host without RFC 6581; section 10 there expects a close.
 */
static bool enhanced_at_old_listener(const struct validation_subject *subject)
{
    return subject->stream->config.revision == MPA_REV_1 && subject->count >= MPA_START_OCTETS &&
           mpa_start_get_Rev(subject->octets) == MPA_REV_2 && mpa_start_get_S(subject->octets);
}

/* RFC 6581 9.2 leaves open what an initiator does with a Reply of the other model. */
static bool flag_changed(const struct validation_subject *subject)
{
    const struct iwarp_mpa_start *start = subject->start;

    /* The frame may not be whole yet. */
    return start != NULL && subject->count >= MPA_START_OCTETS + (size_t)start->private_octets &&
           iwarp_mpa_start_has_word(start) && !start->rejected &&
           start->peer_to_peer != subject->stream->config.peer_to_peer;
}

/* RFC 6581 9.1 and 9.2: a Read as RTR needs an ORD of 1. */
static bool read_without_ord(const struct validation_subject *subject)
{
    const struct iwarp_stream *stream = subject->stream;

    return stream->config.role == IWARP_INITIATOR && stream->config.ord == 0 &&
           stream->agreed.terms.rtr == IWARP_RTR_READ;
}

/* RFC 5040 1.2: the local ULP alone ends the use of a Read's sink. */
static bool sink_of_open_read(const struct validation_subject *subject)
{
    const struct iwarp_stream *stream = subject->stream;

    for (size_t i = 0; i < stream->outbound.work.count; i++) {
        const struct send_work *work = ring_at(&stream->outbound.work, i);

        if (work->kind == IWARP_WORK_READ && !work->done && work->sink_stag == subject->segment->ulp_word)
            return true;
    }
    return false;
}

static const struct defect_judgement judgements[] = {
    {DEFECT_SINK_WRAP_REFUSED, "read-to-wrap", false, sink_wraps},
    {DEFECT_READ_TOP_WRAPS, "read-to-wrap", false, read_to_top},
    {DEFECT_READ_TOP_BOUNDS, "read-to-end", false, read_to_top},
    {DEFECT_READ_SPLIT_REFUSED, "ddp-length", false, read_request_split},
    {DEFECT_IMMEDIATE_SPLIT_REFUSED, "ddp-length", false, immediate_split},
    {DEFECT_EMPTY_INSIDE_REFUSED, "ddp-mo", false, empty_inside},
    {DEFECT_RTR_KIND_WANTED, "request-word", false, rtr_of_no_kind},
    {DEFECT_OLD_WORD_REFUSED, "request-word", false, variant_word_at_revision_1},
    {DEFECT_OLD_WORD_REJECTED, "request-word", false, variant_word_at_revision_1},
    {DEFECT_RES_IGNORED, "request-revision", true, enhanced_at_old_listener},
    {DEFECT_REPLY_FLAG_WANTED, "reply-word", false, flag_changed},
    {DEFECT_RTR_READ_NEEDS_ORD, "rtr-in-common", false, read_without_ord},
    {DEFECT_SINK_KEPT, "invalidate-stag", false, sink_of_open_read},
};

bool defect_set_may_refuse(const struct defect_set *set, size_t entry)
{
    for (size_t i = 0; set->asked != NULL && i < sizeof(judgements) / sizeof(judgements[0]); i++)
        if (!judgements[i].verdict && set->asked->behaviours[judgements[i].behaviour] &&
            strcmp(judgements[i].entry, validation_table[entry].name) == 0)
            return true;
    return false;
}

bool defect_variant_judges(const struct defect_set *set, const struct validation *entry,
                           const struct validation_subject *subject, bool holds)
{
    const struct defect_judgement *judgement =
        defect_judgement(set, judgements, sizeof(judgements) / sizeof(judgements[0]), entry, subject);

    return judgement != NULL ? judgement->verdict : holds;
}
