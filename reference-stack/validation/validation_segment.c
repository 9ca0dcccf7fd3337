/* SPDX-License-Identifier: BSD-2-Clause */
/* What FPDUs, DDP Segments and RDMA Messages must not be. */
#include "reference-stack/validation/validation_predicates.h"
#include "wire/fpdu.h"
#include "wire/marker.h"

/* --- FPDU (RFC 5044 4, 8) ---------------------------------------------------------------------------------------- */

bool holds_crc_good(const struct validation_subject *subject)
{
    return subject->fpdu->crc_ok;
}

/* The two low bits of FPDUPTR count as zero (RFC 5044 4.2). */
bool holds_marker_good(const struct validation_subject *subject)
{
    const struct fpdu *fpdu = subject->fpdu;

    return fpdu->bad_marker == SIZE_MAX ||
           (fpdu->bad_pointer & 0xFFFC) == marker_pointer(subject->position, fpdu->bad_marker);
}

/* --- DDP (RFC 5041 4, 7.1, 7.2, 8.2) ----------------------------------------------------------------------------- */

bool holds_header_complete(const struct validation_subject *subject)
{
    return subject->segment->header != NULL;
}

bool holds_tagged_version(const struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;

    return segment->header == NULL || !segment->tagged || segment->version == subject->terms->version;
}

bool holds_untagged_version(const struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;

    return segment->header == NULL || segment->tagged || segment->version == subject->terms->version;
}

bool holds_stag_valid(const struct validation_subject *subject)
{
    return subject->region != NULL && subject->region->valid;
}

bool holds_pd_associated(const struct validation_subject *subject)
{
    return subject->region == NULL || subject->region->pd == subject->terms->config->pd;
}

bool holds_stream_associated(const struct validation_subject *subject)
{
    return subject->region == NULL || subject->region->stream == 0 ||
           subject->region->stream == subject->terms->config->number;
}

/* A Read Response comes to memory that this side chose: the local right is enough. */
bool holds_write_allowed(const struct validation_subject *subject)
{
    unsigned rights = IWARP_REMOTE_WRITE;

    if ((subject->segment->control & 0xF) == IWARP_RDMAP_READ_RESPONSE)
        rights |= IWARP_LOCAL_WRITE;
    return subject->region == NULL || (subject->region->access & rights) != 0;
}

bool holds_to_unwrapped(const struct validation_subject *subject)
{
    return !ddp_to_wraps(subject->segment->to, subject->segment->payload_octets);
}

bool holds_to_inside(const struct validation_subject *subject)
{
    return begins_inside(subject->region, subject->segment->to);
}

bool holds_to_end_inside(const struct validation_subject *subject)
{
    return ends_inside(subject->region, subject->segment->to, subject->segment->payload_octets);
}

/* QN 3 is where Atomic Responses come (RFC 7306 5). */
bool holds_qn_known(const struct validation_subject *subject)
{
    return subject->segment->qn < DDP_QUEUES && (subject->segment->qn != DDP_QN_ATOMIC_RESPONSE ||
                                                 subject->terms->config->extensions != IWARP_EXTENSIONS_OFF);
}

bool holds_msn_due(const struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;

    return segment->qn >= DDP_QUEUES || segment->msn == subject->msn_expected;
}

bool holds_buffer_available(const struct validation_subject *subject)
{
    return subject->buffer_octets != UINT64_MAX;
}

bool holds_mo_inside(const struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;

    return segment->mo < subject->buffer_octets ||
           (segment->payload_octets == 0 && segment->mo == subject->buffer_octets);
}

bool holds_mo_end_inside(const struct validation_subject *subject)
{
    return (uint64_t)subject->segment->mo + subject->segment->payload_octets <= subject->buffer_octets;
}

/* --- RDMAP (RFC 5040 4.1, 5, 7.2, 8.1.1) ------------------------------------------------------------------------- */

bool holds_rdmap_version(const struct validation_subject *subject)
{
    return subject->message->version == subject->terms->version;
}

/* Opcodes 8 to B are those of the extensions. */
bool holds_opcode_known(const struct validation_subject *subject)
{
    return subject->message->opcode <= (subject->terms->config->extensions == IWARP_EXTENSIONS_OFF
                                            ? IWARP_RDMAP_TERMINATE
                                            : IWARP_RDMAP_ATOMIC_RESPONSE);
}

bool holds_opcode_model(const struct validation_subject *subject)
{
    const struct rdmap_opcode_row *row = subject->message->row;

    return row->name == NULL || row->tagged == subject->segment->tagged;
}

bool holds_opcode_queue(const struct validation_subject *subject)
{
    const struct rdmap_opcode_row *row = subject->message->row;

    return row->name == NULL || row->tagged || subject->segment->tagged || row->qn == subject->segment->qn;
}

bool holds_read_length(const struct validation_subject *subject)
{
    return subject->count == READ_REQUEST_OCTETS;
}

/* With size 0 neither SrcSTag nor SrcTO is looked at (RFC 5040 5.2.1). */
static bool read_unlooked(const struct validation_subject *subject)
{
    return subject->read->octets == 0;
}

bool holds_source_valid(const struct validation_subject *subject)
{
    return read_unlooked(subject) || holds_stag_valid(subject);
}

bool holds_source_pd(const struct validation_subject *subject)
{
    return read_unlooked(subject) || holds_pd_associated(subject);
}

bool holds_source_stream(const struct validation_subject *subject)
{
    return read_unlooked(subject) || holds_stream_associated(subject);
}

bool holds_source_readable(const struct validation_subject *subject)
{
    return read_unlooked(subject) || subject->region == NULL || (subject->region->access & IWARP_REMOTE_READ) != 0;
}

bool holds_source_unwrapped(const struct validation_subject *subject)
{
    return !ddp_to_wraps(subject->read->source_to, subject->read->octets);
}

bool holds_source_inside(const struct validation_subject *subject)
{
    return read_unlooked(subject) || begins_inside(subject->region, subject->read->source_to);
}

bool holds_source_end_inside(const struct validation_subject *subject)
{
    return read_unlooked(subject) || ends_inside(subject->region, subject->read->source_to, subject->read->octets);
}

bool holds_response_expected(const struct validation_subject *subject)
{
    return subject->open_read != NULL;
}

bool holds_response_stag(const struct validation_subject *subject)
{
    const struct validation_read *read = subject->open_read;

    return read == NULL || subject->segment->payload_octets == 0 || subject->segment->stag == read->sink_stag;
}

/* Somewhere inside the sink: segments of one message may come in falling TO order (RFC 5041 5.3). */
bool holds_response_inside(const struct validation_subject *subject)
{
    const struct validation_read *read = subject->open_read;
    const struct ddp_segment *segment = subject->segment;
    uint64_t offset;

    if (read == NULL || segment->payload_octets == 0)
        return true;
    offset = segment->to - read->sink_to;
    return offset < read->octets && segment->payload_octets <= read->octets - offset;
}

bool holds_response_length(const struct validation_subject *subject)
{
    const struct validation_read *read = subject->open_read;
    uint64_t octets;

    if (read == NULL)
        return true;
    octets = read->received + subject->segment->payload_octets;
    return subject->segment->last ? octets == read->octets : octets <= read->octets;
}

bool holds_invalidate_valid(const struct validation_subject *subject)
{
    return holds_stag_valid(subject);
}

bool holds_invalidate_associated(const struct validation_subject *subject)
{
    return holds_pd_associated(subject) && holds_stream_associated(subject);
}

/* An STag that more than one stream may use is not the peer's to invalidate (RFC 5040 8.1.1 item 7). */
bool holds_invalidate_unshared(const struct validation_subject *subject)
{
    return subject->region == NULL || subject->region->stream != 0;
}
