/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Defects of judgement: what a validation finds, turned around for certain input. The predicates of validation_*.c stay
 * the RFC's; a new fault of this kind is a line in DEFECT_BEHAVIOURS, one in `judgements`, and its condition. Here are
 * those of FPDUs, segments and messages.
 */
#include "reference-stack/defects/defect_judge.h"

#include <string.h>

#include "reference-stack/defects/defect_quantity.h"
#include "reference-stack/validation/validation_predicates.h"
#include "wire/crc32c.h"

/* --- FPDU -------------------------------------------------------------------------------------------------------- */

static bool pad_not_zero(const struct validation_subject *subject)
{
    return !subject->fpdu->pad_zero;
}

static bool pad_absent(const struct validation_subject *subject)
{
    return fpdu_pad(subject->fpdu->ulpdu_length) == 0;
}

static bool ulpdu_short(const struct validation_subject *subject)
{
    return subject->segment_octets < 128;
}

static bool crc_low_half_agrees(const struct validation_subject *subject)
{
    return ((subject->fpdu->crc ^ subject->fpdu->crc_expected) & 0xFFFF) == 0;
}

static bool crc_agrees_swapped(const struct validation_subject *subject)
{
    return subject->fpdu->crc == __builtin_bswap32(subject->fpdu->crc_expected);
}

/* Without Markers, where the pad is the last thing before the CRC field. */
static bool crc_agrees_with_zero_pad(const struct validation_subject *subject)
{
    static const uint8_t zeros[FPDU_PAD_MAX];
    const struct fpdu *fpdu = subject->fpdu;
    uint32_t crc = crc32c_update(CRC32C_START, fpdu->start, FPDU_LENGTH_OCTETS + (size_t)fpdu->ulpdu_length);

    return fpdu->markers == 0 && fpdu->crc == crc32c_value(crc32c_update(crc, zeros, fpdu_pad(fpdu->ulpdu_length)));
}

static bool one_pad(const struct validation_subject *subject)
{
    return fpdu_pad(subject->fpdu->ulpdu_length) == 1;
}

static bool ulpdu_large(const struct validation_subject *subject)
{
    return subject->fpdu->ulpdu_length > 1024;
}

static bool not_among_first(const struct validation_subject *subject)
{
    return subject->stream->counters.fpdus_received > 8;
}

static bool crc_wrong_though_off(const struct validation_subject *subject)
{
    const struct fpdu *fpdu = subject->fpdu;

    return !mpa_of(subject->stream)->crc && fpdu->crc != 0 &&
           fpdu->crc != crc32c(fpdu->start, fpdu->octets - FPDU_CRC_OCTETS);
}

/* Position of the FPDU's first octet. */
static uint32_t start_of(const struct validation_subject *subject)
{
    return subject->position;
}

static bool marker_before_crc(const struct validation_subject *subject)
{
    return mpa_of(subject->stream)->receive_markers &&
           (start_of(subject) + subject->fpdu->octets - FPDU_CRC_OCTETS - MARKER_OCTETS) % MARKER_SPACING == 0;
}

static bool marker_between(const struct validation_subject *subject)
{
    return mpa_of(subject->stream)->receive_markers && start_of(subject) != 0 &&
           start_of(subject) % MARKER_SPACING == 0;
}

static bool marker_reserved(const struct validation_subject *subject)
{
    return subject->fpdu->marker_reserved;
}

static bool crc_not_asked_for(const struct validation_subject *subject)
{
    return !subject->stream->config.crc;
}

static bool marker_differs(const struct validation_subject *subject)
{
    return subject->fpdu->bad_marker != SIZE_MAX;
}

/* --- DDP --------------------------------------------------------------------------------------------------------- */

static bool rsvd_set(const struct validation_subject *subject)
{
    return subject->segment->header != NULL && subject->segment->reserved != 0;
}

static bool header_alone(const struct validation_subject *subject)
{
    return subject->segment->header != NULL && subject->segment->payload_octets == 0;
}

static bool to_unaligned(const struct validation_subject *subject)
{
    return (subject->segment->to & 3) != 0;
}

static bool to_not_base(const struct validation_subject *subject)
{
    return subject->region != NULL && subject->segment->to != subject->region->base;
}

static bool write_to_end(const struct validation_subject *subject)
{
    const struct iwarp_region *region = subject->region;

    return region != NULL && subject->segment->to + subject->segment->payload_octets == region->base + region->length;
}

static bool send_to_end(const struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;

    return segment->qn == DDP_QN_SEND && segment->payload_octets != 0 &&
           (uint64_t)segment->mo + segment->payload_octets == subject->buffer_octets;
}

static bool send_empty(const struct validation_subject *subject)
{
    return subject->segment->qn == DDP_QN_SEND && subject->segment->payload_octets == 0;
}

static bool mo_not_next(const struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;
    const struct untagged_queue *queue;

    if (segment->qn >= DDP_QUEUES)
        return false;
    queue = &subject->stream->inbound.queues[segment->qn];
    return segment->mo != (queue->begun ? queue->length : 0);
}

static bool mo_sum_wraps_inside(const struct validation_subject *subject)
{
    return (uint32_t)(subject->segment->mo + subject->segment->payload_octets) <= subject->buffer_octets;
}

static bool to_sum_wraps(const struct validation_subject *subject)
{
    return ddp_to_wraps(subject->segment->to, subject->segment->payload_octets);
}

static bool region_for_atomics(const struct validation_subject *subject)
{
    return subject->region != NULL && (subject->region->access & IWARP_REMOTE_ATOMIC) != 0;
}

static bool read_response(const struct validation_subject *subject)
{
    return (subject->segment->control & 0xF) == IWARP_RDMAP_READ_RESPONSE;
}

static bool revoked(const struct validation_subject *subject)
{
    return subject->region != NULL && !subject->region->valid;
}

static bool revoked_in_message(const struct validation_subject *subject)
{
    return revoked(subject) && stream_state(subject->stream)->goes_on;
}

static bool terminate_without_receive(const struct validation_subject *subject)
{
    return subject->segment->qn == DDP_QN_TERMINATE && subject->stream->inbound.receives.count == 0;
}

static bool last_read_slot(const struct validation_subject *subject)
{
    const struct iwarp_stream *stream = subject->stream;

    return subject->segment->qn == DDP_QN_READ_REQUEST && stream->inbound.requests.count + 1 >= stream->agreed.ird;
}

/* --- RDMAP ------------------------------------------------------------------------------------------------------- */

static bool rsv_set(const struct validation_subject *subject)
{
    return subject->message->reserved != 0;
}

static bool word_set(const struct validation_subject *subject)
{
    return !subject->segment->tagged && !subject->message->row->invalidates && subject->segment->ulp_word != 0;
}

static bool read_to_end(const struct validation_subject *subject)
{
    const struct iwarp_region *region = subject->region;

    return region != NULL && subject->read->source_to + subject->read->octets == region->base + region->length;
}

static bool read_to_top(const struct validation_subject *subject)
{
    return subject->read->octets != 0 && subject->read->source_to == 0 - (uint64_t)subject->read->octets;
}

static bool source_unaligned(const struct validation_subject *subject)
{
    return (subject->read->source_to & 3) != 0;
}

static bool sink_looks_local(const struct validation_subject *subject)
{
    return subject->read->sink_stag == 0 ||
           iwarp_region_find(subject->stream->device, subject->read->sink_stag) != NULL;
}

static bool sink_unaligned(const struct validation_subject *subject)
{
    return (subject->read->sink_to & 7) != 0;
}

static bool source_sum_wraps(const struct validation_subject *subject)
{
    return ddp_to_wraps(subject->read->source_to, subject->read->octets);
}

static bool read_size_negative(const struct validation_subject *subject)
{
    return subject->read->octets >= UINT32_C(0x80000000);
}

/* A Read of size 0, whose source is looked at all the same; false when the Read has another size. */
static bool empty_read(const struct validation_subject *subject, struct validation_subject *source)
{
    *source = *subject;
    source->region = iwarp_region_find(subject->stream->device, subject->read->source_stag);
    return subject->read->octets == 0;
}

static bool empty_read_unknown(const struct validation_subject *subject)
{
    struct validation_subject source;

    return empty_read(subject, &source) && !holds_stag_valid(&source);
}

static bool empty_read_other_pd(const struct validation_subject *subject)
{
    struct validation_subject source;

    return empty_read(subject, &source) && !holds_pd_associated(&source);
}

static bool empty_read_other_stream(const struct validation_subject *subject)
{
    struct validation_subject source;

    return empty_read(subject, &source) && !holds_stream_associated(&source);
}

static bool empty_read_not_allowed(const struct validation_subject *subject)
{
    struct validation_subject source;

    return empty_read(subject, &source) && source.region != NULL && (source.region->access & IWARP_REMOTE_READ) == 0;
}

static bool empty_read_begins_outside(const struct validation_subject *subject)
{
    struct validation_subject source;

    return empty_read(subject, &source) && !begins_inside(source.region, subject->read->source_to);
}

static bool empty_read_ends_outside(const struct validation_subject *subject)
{
    struct validation_subject source;

    return empty_read(subject, &source) && !ends_inside(source.region, subject->read->source_to, 0);
}

/* The control word of a Terminate in one segment, or NULL. */
static const uint8_t *terminate_control(const struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;

    return segment->tagged || subject->message->opcode != IWARP_RDMAP_TERMINATE ||
                   segment->payload_octets < TERMINATE_OCTETS
               ? NULL
               : segment->payload;
}

static bool terminate_bits_differ(const struct validation_subject *subject)
{
    const uint8_t *control = terminate_control(subject);

    return control != NULL && terminate_get_M(control) != terminate_get_D(control);
}

static bool terminate_reserved(const struct validation_subject *subject)
{
    const uint8_t *control = terminate_control(subject);

    return control != NULL && terminate_get_Reserved(control) != 0;
}

/* --- The table --------------------------------------------------------------------------------------------------- */

static const struct defect_judgement judgements[] = {
    {DEFECT_PAD_CHECKED, "fpdu-crc", false, pad_not_zero},
    {DEFECT_PAD_NEVER_ABSENT, "fpdu-crc", false, pad_absent},
    {DEFECT_SHORT_REFUSED, "ddp-header", false, ulpdu_short},
    {DEFECT_CRC_LOW_HALF, "fpdu-crc", true, crc_low_half_agrees},
    {DEFECT_CRC_READ_SWAPPED, "fpdu-crc", true, crc_agrees_swapped},
    {DEFECT_CRC_PAD_ZERO, "fpdu-crc", true, crc_agrees_with_zero_pad},
    {DEFECT_CRC_ONE_PAD_REFUSED, "fpdu-crc", false, one_pad},
    {DEFECT_LARGE_REFUSED, "fpdu-crc", false, ulpdu_large},
    {DEFECT_CRC_FIRST_ONLY, "fpdu-crc", true, not_among_first},
    {DEFECT_CRC_CHECKED_WHEN_OFF, "fpdu-crc", false, crc_wrong_though_off},
    {DEFECT_MARKER_TAKEN_FOR_CRC, "fpdu-crc", false, marker_before_crc},
    {DEFECT_MARKER_BETWEEN_LEFT_OUT, "fpdu-crc", false, marker_between},
    {DEFECT_CRC_OWN_UNCHECKED, "fpdu-crc", true, crc_not_asked_for},
    {DEFECT_MARKER_RESERVED_CHECKED, "fpdu-marker", false, marker_reserved},
    {DEFECT_MARKER_ALL_BITS, "fpdu-marker", false, marker_differs},
    {DEFECT_RSVD_CHECKED, "ddp-header", false, rsvd_set},
    {DEFECT_HEADER_ALONE_REFUSED, "ddp-header", false, header_alone},
    {DEFECT_TO_ALIGNED, "ddp-to-base", false, to_unaligned},
    {DEFECT_TO_BASE_ONLY, "ddp-to-base", false, to_not_base},
    {DEFECT_WRITE_TO_END_REFUSED, "ddp-to-end", false, write_to_end},
    {DEFECT_SEND_TO_END_REFUSED, "ddp-length", false, send_to_end},
    {DEFECT_SEND_EMPTY_REFUSED, "ddp-mo", false, send_empty},
    {DEFECT_MO_IN_ORDER, "ddp-mo", false, mo_not_next},
    {DEFECT_MO_32_BITS, "ddp-mo", true, mo_sum_wraps_inside},
    {DEFECT_MO_32_BITS, "ddp-length", true, mo_sum_wraps_inside},
    {DEFECT_TO_SUM_WRAPS, "ddp-to-wrap", true, to_sum_wraps},
    {DEFECT_TO_SUM_WRAPS, "ddp-to-base", true, to_sum_wraps},
    {DEFECT_TO_SUM_WRAPS, "ddp-to-end", true, to_sum_wraps},
    {DEFECT_SINK_RIGHT_IGNORED, "ddp-stag-access", true, read_response},
    {DEFECT_WRITE_BY_ATOMIC, "ddp-stag-access", true, region_for_atomics},
    {DEFECT_REVOKED_TAKEN, "ddp-stag", true, revoked},
    {DEFECT_REVOKED_TAKEN, "read-stag", true, revoked},
    {DEFECT_REVOKED_IN_MESSAGE, "ddp-stag", true, revoked_in_message},
    {DEFECT_TERMINATE_NEEDS_RECEIVE, "ddp-buffer", false, terminate_without_receive},
    {DEFECT_IRD_ONE_LESS, "ddp-buffer", false, last_read_slot},
    {DEFECT_RSV_CHECKED, "rdmap-version", false, rsv_set},
    {DEFECT_WORD_CHECKED, "rdmap-opcode", false, word_set},
    {DEFECT_ZERO_LENGTH_READ_CHECKED, "read-stag", false, empty_read_unknown},
    {DEFECT_ZERO_LENGTH_READ_CHECKED, "read-stag-pd", false, empty_read_other_pd},
    {DEFECT_ZERO_LENGTH_READ_CHECKED, "read-stag-stream", false, empty_read_other_stream},
    {DEFECT_ZERO_LENGTH_READ_CHECKED, "read-access", false, empty_read_not_allowed},
    {DEFECT_ZERO_LENGTH_READ_CHECKED, "read-to-base", false, empty_read_begins_outside},
    {DEFECT_ZERO_LENGTH_READ_CHECKED, "read-to-end", false, empty_read_ends_outside},
    {DEFECT_READ_TO_END_REFUSED, "read-to-end", false, read_to_end},
    {DEFECT_READ_TO_TOP_REFUSED, "read-access", false, read_to_top},
    {DEFECT_TO_SUM_WRAPS, "read-to-wrap", true, source_sum_wraps},
    {DEFECT_TO_SUM_WRAPS, "read-to-base", true, source_sum_wraps},
    {DEFECT_TO_SUM_WRAPS, "read-to-end", true, source_sum_wraps},
    {DEFECT_READ_SIZE_SIGNED, "read-to-wrap", true, read_size_negative},
    {DEFECT_READ_SIZE_SIGNED, "read-to-end", true, read_size_negative},
    {DEFECT_TERMINATE_BITS_CHECKED, "rdmap-opcode", false, terminate_bits_differ},
    {DEFECT_TERMINATE_RESERVED_CHECKED, "rdmap-opcode", false, terminate_reserved},
    {DEFECT_SOURCE_ALIGNED, "read-to-base", false, source_unaligned},
    {DEFECT_SINK_CHECKED, "read-stag", false, sink_looks_local},
    {DEFECT_SINK_ALIGNED, "read-to-base", false, sink_unaligned},
    {DEFECT_RESPONSE_LATER_UNCHECKED, "ddp-to-end", true, state_response_later},
    {DEFECT_RESPONSE_LATER_UNCHECKED, "response-inside", true, state_response_later},
    {DEFECT_RESPONSE_LATER_UNCHECKED, "response-length", true, state_response_later},
    {DEFECT_STREAM_MEMORY_STAYS, "ddp-stag-stream", true, state_stream_bound},
    {DEFECT_STREAM_MEMORY_STAYS, "read-stag-stream", true, state_stream_bound},
};

const struct defect_judgement *defect_judgement(const struct defect_set *set, const struct defect_judgement *table,
                                                size_t count, const struct validation *entry,
                                                const struct validation_subject *subject)
{
    for (size_t i = 0; i < count; i++)
        if ((set->behaviours[table[i].behaviour] || set->asked != NULL) && strcmp(table[i].entry, entry->name) == 0 &&
            table[i].when(subject) && defect_behaves(set, table[i].behaviour))
            return &table[i];
    return NULL;
}

/* Does the entry hold, by all tables of judgements? */
static bool holds(const struct defect_set *set, const struct validation *entry,
                  const struct validation_subject *subject)
{
    const struct defect_judgement *judgement =
        defect_judgement(set, judgements, sizeof(judgements) / sizeof(judgements[0]), entry, subject);
    const struct defect_override *override = &set->overrides[entry - validation_table];
    bool found;

    defect_note_judged(set, (size_t)(entry - validation_table));
    if ((override->kind == OVERRIDE_OFF || override->kind == OVERRIDE_FAIL) && override->quantity != NULL &&
        defect_override_applies(override, subject))
        return override->kind == OVERRIDE_OFF;
    if (judgement != NULL)
        return judgement->verdict;
    /*
     * What a Read Request asks for is looked up when its Response is due, once more: then nothing has it in a segment.
     */
    if (entry->stage == VALIDATE_READ_REQUEST && subject->segment != NULL && strcmp(entry->name, "read-length") != 0 &&
        defect_behaves(set, DEFECT_READS_JUDGED_LATE))
        return true;
    found = defect_start_judges(set, entry, subject, entry->holds(subject));
    found = defect_variant_judges(set, entry, subject, found);
    return defect_atomic_judges(set, entry, subject, found);
}

/* What follows when the entry does not hold. True: nothing does, and the next entry is tried. */
static bool change_outcome(const struct defect_set *set, const struct validation_subject *subject,
                           struct validation_outcome *outcome)
{
    size_t entry = (size_t)(outcome->entry - validation_table);
    const struct defect_override *override = &set->overrides[entry];

    defect_note_refused(set, subject, entry);
    if (override->quantity != NULL && !defect_override_applies(override, subject))
        return false;
    switch (override->kind) {
    case OVERRIDE_OFF: return true;
    case OVERRIDE_IGNORE: outcome->action = VALIDATION_IGNORE; break;
    case OVERRIDE_TRIPLE: outcome->error = override->triple; break;
    case OVERRIDE_ACTION: outcome->action = override->action; break;
    case OVERRIDE_FAIL:
    case OVERRIDE_NONE:
    default: break;
    }
    return false;
}

/* At these stages there is nothing that could be dropped: what is ignored is taken as good. */
static bool nothing_to_drop(enum validation_stage stage, const struct validation_subject *subject)
{
    bool again = subject->segment == NULL; /* a request is judged when its response is due */

    return stage == VALIDATE_REQUEST || stage == VALIDATE_REPLY || stage == VALIDATE_NEGOTIATION ||
           stage == VALIDATE_ASSOCIATION ||
           (again && (stage == VALIDATE_READ_REQUEST || stage == VALIDATE_ATOMIC_REQUEST));
}

/*
 * Can the stack act on what was let through? Not on what has no header, no queue, no stream and no request that it
 * would answer.
 */
static bool can_be_acted_on(enum validation_stage stage, const struct validation_subject *subject)
{
    switch (stage) {
    case VALIDATE_SEGMENT: return subject->segment->header != NULL;
    case VALIDATE_UNTAGGED: return subject->segment->qn < DDP_QUEUES;
    case VALIDATE_READ_RESPONSE: return subject->open_read != NULL;
    case VALIDATE_ATOMIC_RESPONSE: return subject->open_atomic != NULL;
    case VALIDATE_SESSION: return subject->stream != NULL || subject->session->message->kind == DDP_SCTP_SEGMENT;
    default: return true;
    }
}

bool seam_judge(const struct iwarp_faults *kept, enum validation_stage stage, const struct validation_subject *subject,
                struct validation_outcome *outcome)
{
    const struct defect_set *set = kept_set(kept);
    size_t at, end;

    for (validation_entries(stage, &at, &end); at < end; at++) {
        const struct validation *entry = &validation_table[at];

        if (holds(set, entry, subject))
            continue;
        *outcome = (struct validation_outcome){entry, entry->requirement, entry->error, entry->action};
        defect_note_others(set, subject, at + 1, end);
        if (!change_outcome(set, subject, outcome))
            return outcome->action == VALIDATION_IGNORE && nothing_to_drop(stage, subject);
    }
    if (can_be_acted_on(stage, subject))
        return true;
    *outcome = (struct validation_outcome){.action = VALIDATION_IGNORE};
    return false;
}
