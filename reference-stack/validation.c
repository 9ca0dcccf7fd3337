/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/validation.h"

#include <string.h>

#include "reference-stack/stream_internal.h"
#include "wire/marker.h"

/* --- Start-up frames (RFC 5044 7.1, RFC 6581 6) ---------------------------------------------------------------- */

/* As many octets of the Key as are there. */
static bool key_is(const struct validation_subject *subject, const char *key)
{
    size_t count = subject->count < MPA_KEY_OCTETS ? subject->count : MPA_KEY_OCTETS;

    if (stream_behaves(subject->stream, DEFECT_KEY_FIRST_HALF) && count > MPA_KEY_OCTETS / 2)
        count = MPA_KEY_OCTETS / 2;
    if (stream_behaves(subject->stream, DEFECT_KEY_EITHER) && memcmp(subject->octets, MPA_KEY_REQUEST, count) == 0)
        return true;
    if (stream_behaves(subject->stream, DEFECT_KEY_EITHER) && memcmp(subject->octets, MPA_KEY_REPLY, count) == 0)
        return true;
    return memcmp(subject->octets, key, count) == 0;
}

static bool request_key(const struct validation_subject *subject)
{
    return key_is(subject, MPA_KEY_REQUEST);
}

static bool reply_key(const struct validation_subject *subject)
{
    return key_is(subject, MPA_KEY_REPLY);
}

static bool fixed_part(const struct validation_subject *subject)
{
    return subject->count >= MPA_START_OCTETS;
}

static bool request_revision(const struct validation_subject *subject)
{
    unsigned revision = subject->start->revision;

    return !fixed_part(subject) ||
           (revision == MPA_REV_1 && !stream_behaves(subject->stream, DEFECT_REVISION_1_REFUSED)) ||
           (revision == MPA_REV_2 && subject->stream->config.revision >= MPA_REV_2);
}

/* A side that sent Rev 1 understands nothing above it; one that sent Rev 2 takes a plain Reply of Rev 1. */
static bool reply_revision(const struct validation_subject *subject)
{
    unsigned revision = subject->start->revision;

    return !fixed_part(subject) || revision == MPA_REV_1 ||
           (revision == MPA_REV_2 && subject->stream->config.revision >= MPA_REV_2);
}

static bool private_length(const struct validation_subject *subject)
{
    unsigned length;

    if (!fixed_part(subject))
        return true;
    length = (unsigned)mpa_start_get_PD_Length(subject->octets);
    if (stream_behaves(subject->stream, DEFECT_PRIVATE_512_REFUSED) && length == MPA_PRIVATE_DATA_MAX)
        return false;
    return length <= MPA_PRIVATE_DATA_MAX ||
           (length >= 0x8000 && stream_behaves(subject->stream, DEFECT_PRIVATE_SIGNED));
}

static bool word_fits(const struct validation_subject *subject)
{
    const struct mpa_start *start = subject->start;

    return !fixed_part(subject) || !start->enhanced || start->revision < MPA_REV_2 ||
           start->private_octets >= MPA_ENHANCED_OCTETS;
}

static bool enhanced_supported(const struct validation_subject *subject)
{
    const struct mpa_start *start = subject->start;

    return !fixed_part(subject) || !start->enhanced || start->revision < MPA_REV_2 || subject->stream->config.enhanced;
}

/* Neither side may send anything behind its frame before the answer: what is there must be Private Data too many. */
static bool nothing_behind(const struct validation_subject *subject)
{
    return subject->excess == 0 || stream_behaves(subject->stream, DEFECT_EXCESS_DISCARDED);
}

static bool reply_enhanced(const struct validation_subject *subject)
{
    const struct mpa_start *start = subject->start;
    const struct iwarp_stream_config *config = &subject->stream->config;

    return !fixed_part(subject) || start->rejected || !config->enhanced || config->revision < MPA_REV_2 ||
           mpa_start_has_word(start);
}

static bool reply_plain(const struct validation_subject *subject)
{
    const struct iwarp_stream_config *config = &subject->stream->config;

    return !fixed_part(subject) || (config->enhanced && config->revision >= MPA_REV_2) || !subject->start->enhanced ||
           subject->start->revision < MPA_REV_2;
}

/* --- Negotiation (RFC 6581 9) ------------------------------------------------------------------------------------ */

static bool ird_available(const struct validation_subject *subject)
{
    const struct iwarp_stream *stream = subject->stream;

    if (subject->start->ord == MPA_DEPTH_NOT_NEGOTIATED && !stream_behaves(stream, DEFECT_DEPTH_3FFF_NUMBER))
        return true;
    return subject->start->ord <= stream->device->config.ird_max;
}

static bool rtr_in_common(const struct validation_subject *subject)
{
    const struct iwarp_stream *stream = subject->stream;

    return !stream->config.peer_to_peer || !subject->start->peer_to_peer || stream->rtr_agreed != 0;
}

/* --- FPDU (RFC 5044 4, 8) ---------------------------------------------------------------------------------------- */

static bool crc_good(const struct validation_subject *subject)
{
    const struct iwarp_stream *stream = subject->stream;

    return subject->fpdu->crc_ok || (!stream->config.crc && stream_behaves(stream, DEFECT_CRC_OWN_UNCHECKED));
}

/* The two low bits of FPDUPTR count as zero (RFC 5044 4.2). */
static bool marker_good(const struct validation_subject *subject)
{
    const struct fpdu *fpdu = subject->fpdu;
    uint32_t start = subject->stream->receive_position - (uint32_t)fpdu->octets;

    return fpdu->bad_marker == SIZE_MAX || (fpdu->bad_pointer & 0xFFFC) == marker_pointer(start, fpdu->bad_marker);
}

/* --- DDP (RFC 5041 4, 7.1, 7.2, 8.2) ----------------------------------------------------------------------------- */

static bool header_complete(const struct validation_subject *subject)
{
    return subject->segment->header != NULL;
}

static bool tagged_version(const struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;

    return segment->header == NULL || !segment->tagged || segment->version == DDP_VERSION;
}

static bool untagged_version(const struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;

    return segment->header == NULL || segment->tagged || segment->version == DDP_VERSION;
}

static bool stag_valid(const struct validation_subject *subject)
{
    return subject->region != NULL && subject->region->valid;
}

static bool pd_associated(const struct validation_subject *subject)
{
    return subject->region == NULL || subject->region->pd == subject->stream->config.pd;
}

static bool stream_associated(const struct validation_subject *subject)
{
    return subject->region == NULL || subject->region->stream == 0 ||
           subject->region->stream == subject->stream->config.number;
}

/* A Read Response comes to memory that this side chose: the local right is enough. */
static bool write_allowed(const struct validation_subject *subject)
{
    unsigned rights = IWARP_REMOTE_WRITE;

    if ((subject->segment->control & 0xF) == RDMAP_READ_RESPONSE)
        rights |= IWARP_LOCAL_WRITE;
    return subject->region == NULL || (subject->region->access & rights) != 0;
}

static bool to_unwrapped(const struct validation_subject *subject)
{
    return !ddp_to_wraps(subject->segment->to, subject->segment->payload_octets);
}

/* [to, ...) begins inside the region: computed as an offset, so that nothing can overflow. */
static bool begins_inside(const struct iwarp_region *region, uint64_t to)
{
    return region == NULL || (to >= region->base && to - region->base < region->length);
}

static bool ends_inside(const struct iwarp_region *region, uint64_t to, uint64_t octets)
{
    return region == NULL || to < region->base || to - region->base > region->length ||
           octets <= region->length - (to - region->base);
}

static bool to_inside(const struct validation_subject *subject)
{
    return begins_inside(subject->region, subject->segment->to);
}

static bool to_end_inside(const struct validation_subject *subject)
{
    return ends_inside(subject->region, subject->segment->to, subject->segment->payload_octets);
}

/* QN 3 is where Atomic Responses come (RFC 7306 5). */
static bool qn_known(const struct validation_subject *subject)
{
    return subject->segment->qn < STREAM_QUEUES && (subject->segment->qn != DDP_QN_ATOMIC_RESPONSE ||
                                                    subject->stream->config.extensions != IWARP_EXTENSIONS_OFF);
}

static bool msn_due(const struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;

    return segment->qn >= STREAM_QUEUES || segment->msn == subject->stream->queues[segment->qn].msn_expected;
}

static bool buffer_available(const struct validation_subject *subject)
{
    return subject->buffer_octets != UINT64_MAX;
}

static bool mo_inside(const struct validation_subject *subject)
{
    const struct ddp_segment *segment = subject->segment;

    return segment->mo < subject->buffer_octets ||
           (segment->payload_octets == 0 && segment->mo == subject->buffer_octets);
}

static bool mo_end_inside(const struct validation_subject *subject)
{
    return (uint64_t)subject->segment->mo + subject->segment->payload_octets <= subject->buffer_octets;
}

/* --- RDMAP (RFC 5040 4.1, 5, 7.2, 8.1.1) ------------------------------------------------------------------------- */

static bool rdmap_version(const struct validation_subject *subject)
{
    return subject->message->version == RDMAP_VERSION;
}

/* Opcodes 8 to B are those of the extensions. */
static bool opcode_known(const struct validation_subject *subject)
{
    return subject->message->opcode <=
           (subject->stream->config.extensions == IWARP_EXTENSIONS_OFF ? RDMAP_TERMINATE : RDMAP_ATOMIC_RESPONSE);
}

static bool opcode_model(const struct validation_subject *subject)
{
    const struct rdmap_opcode_row *row = subject->message->row;

    return row->name == NULL || row->tagged == subject->segment->tagged;
}

static bool opcode_queue(const struct validation_subject *subject)
{
    const struct rdmap_opcode_row *row = subject->message->row;

    return row->name == NULL || row->tagged || subject->segment->tagged || row->qn == subject->segment->qn;
}

static bool read_length(const struct validation_subject *subject)
{
    return subject->count == READ_REQUEST_OCTETS;
}

/* With size 0 neither SrcSTag nor SrcTO is looked at (RFC 5040 5.2.1). */
static bool read_unlooked(const struct validation_subject *subject)
{
    return subject->read->octets == 0 && !stream_behaves(subject->stream, DEFECT_ZERO_LENGTH_READ_CHECKED);
}

static bool source_valid(const struct validation_subject *subject)
{
    return read_unlooked(subject) || stag_valid(subject);
}

static bool source_pd(const struct validation_subject *subject)
{
    return read_unlooked(subject) || pd_associated(subject);
}

static bool source_stream(const struct validation_subject *subject)
{
    return read_unlooked(subject) || stream_associated(subject);
}

static bool source_readable(const struct validation_subject *subject)
{
    return read_unlooked(subject) || subject->region == NULL || (subject->region->access & IWARP_REMOTE_READ) != 0;
}

static bool source_unwrapped(const struct validation_subject *subject)
{
    return !ddp_to_wraps(subject->read->source_to, subject->read->octets);
}

static bool source_inside(const struct validation_subject *subject)
{
    return read_unlooked(subject) || begins_inside(subject->region, subject->read->source_to);
}

static bool source_end_inside(const struct validation_subject *subject)
{
    return read_unlooked(subject) || ends_inside(subject->region, subject->read->source_to, subject->read->octets);
}

static bool response_expected(const struct validation_subject *subject)
{
    return deliver_open_read(subject->stream) != NULL;
}

static bool response_stag(const struct validation_subject *subject)
{
    const struct send_work *read = deliver_open_read(subject->stream);

    return read == NULL || subject->segment->payload_octets == 0 || subject->segment->stag == read->sink_stag;
}

/* Somewhere inside the sink: segments of one message may come in falling TO order (RFC 5041 5.3). */
static bool response_inside(const struct validation_subject *subject)
{
    const struct send_work *read = deliver_open_read(subject->stream);
    const struct ddp_segment *segment = subject->segment;
    uint64_t offset;

    if (read == NULL || segment->payload_octets == 0)
        return true;
    offset = segment->to - read->sink_to;
    return offset < read->count && segment->payload_octets <= read->count - offset;
}

static bool response_length(const struct validation_subject *subject)
{
    const struct send_work *read = deliver_open_read(subject->stream);
    uint64_t octets;

    if (read == NULL)
        return true;
    octets = read->received + subject->segment->payload_octets;
    return subject->segment->last ? octets == read->count : octets <= read->count;
}

static bool invalidate_valid(const struct validation_subject *subject)
{
    return stag_valid(subject);
}

static bool invalidate_associated(const struct validation_subject *subject)
{
    return pd_associated(subject) && stream_associated(subject);
}

/* An STag that more than one stream may use is not the peer's to invalidate (RFC 5040 8.1.1 item 7). */
static bool invalidate_unshared(const struct validation_subject *subject)
{
    return subject->region == NULL || subject->region->stream != 0;
}

/* --- Atomic Operations and Immediate Data (RFC 7306 5.2.1, 6.3, 8.2) --------------------------------------------- */

static bool atomic_length(const struct validation_subject *subject)
{
    return subject->count == ATOMIC_REQUEST_OCTETS;
}

static bool atomic_opcode_known(const struct validation_subject *subject)
{
    return subject->atomic->opcode <= ATOMIC_COMPARE_SWAP;
}

/* RFC 7306 has no Swap: it reserves the code. */
static bool atomic_swap_supported(const struct validation_subject *subject)
{
    return subject->atomic->opcode != ATOMIC_SWAP || subject->stream->config.extensions == IWARP_EXTENSIONS_DRAFT03;
}

static bool atomic_allowed(const struct validation_subject *subject)
{
    return subject->region == NULL || (subject->region->access & IWARP_REMOTE_ATOMIC) != 0;
}

static bool atomic_unwrapped(const struct validation_subject *subject)
{
    return !ddp_to_wraps(subject->atomic->to, ATOMIC_TARGET_OCTETS);
}

static bool atomic_inside(const struct validation_subject *subject)
{
    return begins_inside(subject->region, subject->atomic->to);
}

static bool atomic_end_inside(const struct validation_subject *subject)
{
    return ends_inside(subject->region, subject->atomic->to, ATOMIC_TARGET_OCTETS);
}

/* It is the address that has to be aligned, not the TO (RFC 7306 5.2.1: "a 64-bit aligned ULP Buffer address"). */
static bool atomic_aligned(const struct validation_subject *subject, enum atomic_opcode operation)
{
    const struct iwarp_region *region = subject->region;
    uint64_t to = subject->atomic->to;

    if (subject->atomic->opcode != operation)
        return true;
    return ((region == NULL ? to : (uintptr_t)region->octets + (to - region->base)) & (ATOMIC_TARGET_OCTETS - 1)) == 0;
}

static bool fetch_add_aligned(const struct validation_subject *subject)
{
    return atomic_aligned(subject, ATOMIC_FETCH_ADD);
}

static bool swap_aligned(const struct validation_subject *subject)
{
    return atomic_aligned(subject, ATOMIC_SWAP);
}

static bool compare_swap_aligned(const struct validation_subject *subject)
{
    return atomic_aligned(subject, ATOMIC_COMPARE_SWAP);
}

static bool atomic_response_length(const struct validation_subject *subject)
{
    return subject->count == ATOMIC_RESPONSE_OCTETS;
}

/* DDP has seen to it that this is the response with the MSN of the oldest open atomic; the identifier cross-checks. */
static bool atomic_response_id(const struct validation_subject *subject)
{
    const struct send_work *work = atomic_open(subject->stream);

    return work == NULL || subject->response->id == work->atomic.id;
}

static bool immediate_length(const struct validation_subject *subject)
{
    return subject->count == IMMEDIATE_OCTETS;
}

/* --- The table ------------------------------------------------------------------------------------------------- */

#define TERMINATES VALIDATION_TERMINATE
#define CLOSES     VALIDATION_CLOSE

/* clang-format off */
const struct validation validation_table[] = {
    /* A Request, at the responder. A frame cut short is judged as far as it goes. */
    {"MPA-7.1.1-02",   "request-key",            VALIDATE_REQUEST,       request_key,           TERM_MPA_START_FRAME,            CLOSES},
    {"MPA-7.1.1-23",   "request-revision",       VALIDATE_REQUEST,       request_revision,      TERM_MPA_START_FRAME,            CLOSES},
    {"MPA-7.1.1-29",   "request-private-length", VALIDATE_REQUEST,       private_length,        TERM_MPA_START_FRAME,            CLOSES},
    {"EMPA-10-08",     "request-enhanced",       VALIDATE_REQUEST,       enhanced_supported,    TERM_MPA_START_FRAME,            CLOSES},
    {"EMPA-6-12",      "request-word",           VALIDATE_REQUEST,       word_fits,             TERM_MPA_START_FRAME,            CLOSES},
    {"MPA-7.1.1-28",   "request-excess",         VALIDATE_REQUEST,       nothing_behind,        TERM_MPA_START_FRAME,            CLOSES},
    /* A Reply, at the initiator. */
    {"MPA-7.1.1-05",   "reply-key",              VALIDATE_REPLY,         reply_key,             TERM_MPA_START_FRAME,            CLOSES},
    {"MPA-7.1.1-22",   "reply-revision",         VALIDATE_REPLY,         reply_revision,        TERM_MPA_START_FRAME,            CLOSES},
    {"MPA-7.1.2-27",   "reply-private-length",   VALIDATE_REPLY,         private_length,        TERM_MPA_START_FRAME,            CLOSES},
    {"EMPA-6-11",      "reply-word",             VALIDATE_REPLY,         word_fits,             TERM_MPA_START_FRAME,            CLOSES},
    {"EMPA-10-01",     "reply-enhanced",         VALIDATE_REPLY,         reply_enhanced,        TERM_MPA_START_FRAME,            CLOSES},
    {"EMPA-10-02",     "reply-plain",            VALIDATE_REPLY,         reply_plain,           TERM_MPA_START_FRAME,            CLOSES},
    {"MPA-7.1.1-37",   "reply-excess",           VALIDATE_REPLY,         nothing_behind,        TERM_MPA_START_FRAME,            CLOSES},
    /* What an accepting, enhanced Reply asks of the initiator. */
    {"EMPA-9.1-20",    "ird-available",          VALIDATE_NEGOTIATION,   ird_available,         TERM_MPA_INSUFFICIENT_IRD,       TERMINATES},
    {"EMPA-9.2-23",    "rtr-in-common",          VALIDATE_NEGOTIATION,   rtr_in_common,         TERM_MPA_NO_MATCHING_RTR,        TERMINATES},
    /* An FPDU. */
    {"MPA-8-02",       "fpdu-crc",               VALIDATE_FPDU,          crc_good,              TERM_MPA_CRC,                    TERMINATES},
    {"MPA-8-03",       "fpdu-marker",            VALIDATE_FPDU,          marker_good,           TERM_MPA_MARKER,                 TERMINATES},
    /* A DDP Segment of either model. No error number exists for a cut header. */
    {"DDP-4.4-01",     "ddp-header",             VALIDATE_SEGMENT,       header_complete,       TERM_DDP_CATASTROPHIC,           TERMINATES},
    {"DDP-7.2-04",     "ddp-tagged-version",     VALIDATE_SEGMENT,       tagged_version,        TERM_DDP_TAGGED_VERSION,         TERMINATES},
    {"DDP-7.2-05",     "ddp-untagged-version",   VALIDATE_SEGMENT,       untagged_version,      TERM_DDP_UNTAGGED_VERSION,       TERMINATES},
    /* A tagged segment with payload. DDP has no code for a missing right. */
    {"DDP-7.1-10",     "ddp-stag",               VALIDATE_TAGGED,        stag_valid,            TERM_DDP_INVALID_STAG,           TERMINATES},
    {"DDP-8.2-01",     "ddp-stag-pd",            VALIDATE_TAGGED,        pd_associated,         TERM_DDP_NOT_ASSOCIATED,         TERMINATES},
    {"DDP-8.2-02",     "ddp-stag-stream",        VALIDATE_TAGGED,        stream_associated,     TERM_DDP_NOT_ASSOCIATED,         TERMINATES},
    {"DDP-7.1-11",     "ddp-stag-access",        VALIDATE_TAGGED,        write_allowed,         TERM_DDP_INVALID_STAG,           TERMINATES},
    {"DDP-7.1-14",     "ddp-to-wrap",            VALIDATE_TAGGED,        to_unwrapped,          TERM_DDP_TO_WRAP,                TERMINATES},
    {"DDP-7.1-12",     "ddp-to-base",            VALIDATE_TAGGED,        to_inside,             TERM_DDP_BOUNDS,                 TERMINATES},
    {"DDP-7.1-13",     "ddp-to-end",             VALIDATE_TAGGED,        to_end_inside,         TERM_DDP_BOUNDS,                 TERMINATES},
    /* An untagged segment. */
    {"DDP-7.1-01",     "ddp-qn",                 VALIDATE_UNTAGGED,      qn_known,              TERM_DDP_INVALID_QN,             TERMINATES},
    {"DDP-7.1-05",     "ddp-msn",                VALIDATE_UNTAGGED,      msn_due,               TERM_DDP_MSN_RANGE,              TERMINATES},
    {"DDP-7.1-02",     "ddp-buffer",             VALIDATE_UNTAGGED,      buffer_available,      TERM_DDP_NO_BUFFER,              TERMINATES},
    {"DDP-7.1-03",     "ddp-mo",                 VALIDATE_UNTAGGED,      mo_inside,             TERM_DDP_INVALID_MO,             TERMINATES},
    {"DDP-7.1-04",     "ddp-length",             VALIDATE_UNTAGGED,      mo_end_inside,         TERM_DDP_TOO_LONG,               TERMINATES},
    /* RDMAP's control fields. */
    {"RDMAP-7.2-03",   "rdmap-version",          VALIDATE_RDMAP,         rdmap_version,         TERM_RDMAP_VERSION,              TERMINATES},
    {"RDMAP-7.2-02",   "rdmap-opcode",           VALIDATE_RDMAP,         opcode_known,          TERM_RDMAP_OPCODE,               TERMINATES},
    {"RDMAP-4.1-06",   "rdmap-opcode-model",     VALIDATE_RDMAP,         opcode_model,          TERM_RDMAP_OPCODE,               TERMINATES},
    {"RDMAP-4.1-16",   "rdmap-opcode-queue",     VALIDATE_RDMAP,         opcode_queue,          TERM_RDMAP_OPCODE,               TERMINATES},
    /* A Read Request. No error code is assigned to a header of the wrong length. */
    {"RDMAP-4.2-07",   "read-length",            VALIDATE_READ_REQUEST,  read_length,           TERM_RDMAP_OPERATION_OTHER,      TERMINATES},
    {"RDMAP-7.2-11",   "read-stag",              VALIDATE_READ_REQUEST,  source_valid,          TERM_RDMAP_INVALID_STAG,         TERMINATES},
    {"RDMAP-8.1.1-02", "read-stag-pd",           VALIDATE_READ_REQUEST,  source_pd,             TERM_RDMAP_NOT_ASSOCIATED,       TERMINATES},
    {"RDMAP-7.2-12",   "read-stag-stream",       VALIDATE_READ_REQUEST,  source_stream,         TERM_RDMAP_NOT_ASSOCIATED,       TERMINATES},
    {"RDMAP-4.8-20",   "read-access",            VALIDATE_READ_REQUEST,  source_readable,       TERM_RDMAP_ACCESS,               TERMINATES},
    {"RDMAP-7.2-16",   "read-to-wrap",           VALIDATE_READ_REQUEST,  source_unwrapped,      TERM_RDMAP_TO_WRAP,              TERMINATES},
    {"RDMAP-7.2-13",   "read-to-base",           VALIDATE_READ_REQUEST,  source_inside,         TERM_RDMAP_BOUNDS,               TERMINATES},
    {"RDMAP-7.2-14",   "read-to-end",            VALIDATE_READ_REQUEST,  source_end_inside,     TERM_RDMAP_BOUNDS,               TERMINATES},
    /* A Read Response, at the requester; after the tagged checks. */
    {"RDMAP-5.2.2-11", "response-expected",      VALIDATE_READ_RESPONSE, response_expected,     TERM_RDMAP_OPCODE,               TERMINATES},
    {"RDMAP-5.2.2-06", "response-stag",          VALIDATE_READ_RESPONSE, response_stag,         TERM_DDP_INVALID_STAG,           TERMINATES},
    {"RDMAP-5.2.2-09", "response-inside",        VALIDATE_READ_RESPONSE, response_inside,       TERM_DDP_BOUNDS,                 TERMINATES},
    {"RDMAP-5.2.2-09", "response-length",        VALIDATE_READ_RESPONSE, response_length,       TERM_RDMAP_OPERATION_OTHER,      TERMINATES},
    /* The STag of a Send with Invalidate, on delivery. */
    {"RDMAP-7.2-05",   "invalidate-stag",        VALIDATE_INVALIDATE,    invalidate_valid,      TERM_RDMAP_PROTECTION_INVALIDATE, TERMINATES},
    {"RDMAP-7.2-06",   "invalidate-associated",  VALIDATE_INVALIDATE,    invalidate_associated, TERM_RDMAP_PROTECTION_INVALIDATE, TERMINATES},
    {"RDMAP-8.1.1-09", "invalidate-unshared",    VALIDATE_INVALIDATE,    invalidate_unshared,   TERM_RDMAP_PROTECTION_INVALIDATE, TERMINATES},
    /* An Atomic Request. Neither text names errors but for alignment; those of Read Requests are the nearest. */
    {"ATOM-8.2-07",    "atomic-length",          VALIDATE_ATOMIC_REQUEST, atomic_length,        TERM_RDMAP_OPERATION_OTHER,      TERMINATES},
    {"ATOM-5.2.1-15",  "atomic-opcode",          VALIDATE_ATOMIC_REQUEST, atomic_opcode_known,  TERM_RDMAP_OPCODE,               TERMINATES},
    {"ATOM7306-5.2.1-02", "atomic-swap",         VALIDATE_ATOMIC_REQUEST, atomic_swap_supported, TERM_RDMAP_OPCODE,              TERMINATES},
    {"ATOM-8.2-06",    "atomic-stag",            VALIDATE_ATOMIC_REQUEST, stag_valid,           TERM_RDMAP_INVALID_STAG,         TERMINATES},
    {"ATOM-5.2.1-06",  "atomic-stag-pd",         VALIDATE_ATOMIC_REQUEST, pd_associated,        TERM_RDMAP_NOT_ASSOCIATED,       TERMINATES},
    {"ATOM-5.2.1-06",  "atomic-stag-stream",     VALIDATE_ATOMIC_REQUEST, stream_associated,    TERM_RDMAP_NOT_ASSOCIATED,       TERMINATES},
    {"ATOM-8.2-06",    "atomic-access",          VALIDATE_ATOMIC_REQUEST, atomic_allowed,       TERM_RDMAP_ACCESS,               TERMINATES},
    {"ATOM-8.2-06",    "atomic-to-wrap",         VALIDATE_ATOMIC_REQUEST, atomic_unwrapped,     TERM_RDMAP_TO_WRAP,              TERMINATES},
    {"ATOM-8.2-06",    "atomic-to-base",         VALIDATE_ATOMIC_REQUEST, atomic_inside,        TERM_RDMAP_BOUNDS,               TERMINATES},
    {"ATOM-8.2-06",    "atomic-to-end",          VALIDATE_ATOMIC_REQUEST, atomic_end_inside,    TERM_RDMAP_BOUNDS,               TERMINATES},
    {"ATOM7306-5.1.1-07", "fetch-add-alignment", VALIDATE_ATOMIC_REQUEST, fetch_add_aligned,    TERM_RDMAP_CATASTROPHIC_STREAM,  TERMINATES},
    {"ATOM-5.1.2-08",  "swap-alignment",         VALIDATE_ATOMIC_REQUEST, swap_aligned,         TERM_RDMAP_CATASTROPHIC_STREAM,  TERMINATES},
    {"ATOM-5.1.3-11",  "compare-swap-alignment", VALIDATE_ATOMIC_REQUEST, compare_swap_aligned, TERM_RDMAP_CATASTROPHIC_STREAM,  TERMINATES},
    /* An Atomic Response, at the requester: DDP found an open atomic for its MSN (ddp-buffer, ddp-msn). */
    {"ATOM-8.2-07",    "atomic-response-length", VALIDATE_ATOMIC_RESPONSE, atomic_response_length, TERM_RDMAP_OPERATION_OTHER,   TERMINATES},
    {"ATOM-5.2.2-09",  "atomic-response-id",     VALIDATE_ATOMIC_RESPONSE, atomic_response_id,  TERM_RDMAP_OPERATION_OTHER,      TERMINATES},
    /* Immediate Data. */
    {"ATOM-6.3-07",    "immediate-length",       VALIDATE_IMMEDIATE,     immediate_length,      TERM_RDMAP_OPERATION_OTHER,      TERMINATES},
};
/* clang-format on */

const size_t validation_count = sizeof(validation_table) / sizeof(validation_table[0]);
_Static_assert(sizeof(validation_table) / sizeof(validation_table[0]) <= DEFECT_VALIDATIONS_MAX,
               "defect sets have room for each entry");

const char *const validation_stage_names[VALIDATE_STAGES] = {
    [VALIDATE_REQUEST] = "request",
    [VALIDATE_REPLY] = "reply",
    [VALIDATE_NEGOTIATION] = "negotiation",
    [VALIDATE_FPDU] = "fpdu",
    [VALIDATE_SEGMENT] = "ddp-segment",
    [VALIDATE_TAGGED] = "ddp-tagged",
    [VALIDATE_UNTAGGED] = "ddp-untagged",
    [VALIDATE_RDMAP] = "rdmap",
    [VALIDATE_READ_REQUEST] = "read-request",
    [VALIDATE_READ_RESPONSE] = "read-response",
    [VALIDATE_INVALIDATE] = "invalidate",
    [VALIDATE_ATOMIC_REQUEST] = "atomic-request",
    [VALIDATE_ATOMIC_RESPONSE] = "atomic-response",
    [VALIDATE_IMMEDIATE] = "immediate",
};

/* First and last + 1 entry of each stage; the unit test holds it against the table. */
static const struct {
    uint8_t first, end;
} stages[VALIDATE_STAGES] = {
    [VALIDATE_REQUEST] = {0, 6},           [VALIDATE_REPLY] = {6, 13},
    [VALIDATE_NEGOTIATION] = {13, 15},     [VALIDATE_FPDU] = {15, 17},
    [VALIDATE_SEGMENT] = {17, 20},         [VALIDATE_TAGGED] = {20, 27},
    [VALIDATE_UNTAGGED] = {27, 32},        [VALIDATE_RDMAP] = {32, 36},
    [VALIDATE_READ_REQUEST] = {36, 44},    [VALIDATE_READ_RESPONSE] = {44, 48},
    [VALIDATE_INVALIDATE] = {48, 51},      [VALIDATE_ATOMIC_REQUEST] = {51, 64},
    [VALIDATE_ATOMIC_RESPONSE] = {64, 66}, [VALIDATE_IMMEDIATE] = {66, 67},
};

const struct validation *validation_find(const char *what, size_t n)
{
    for (size_t i = 0; i < validation_count; i++) {
        const struct validation *entry = &validation_table[i];

        if ((strcmp(entry->requirement, what) == 0 || strcmp(entry->name, what) == 0) && n-- == 0)
            return entry;
    }
    return NULL;
}

bool validation_run(enum validation_stage stage, const struct validation_subject *subject,
                    struct validation_outcome *outcome)
{
    const struct defect_set *defects = subject->stream->defects;

    for (size_t i = stages[stage].first; i < stages[stage].end; i++) {
        const struct validation *entry = &validation_table[i];

        bool holds = entry->holds(subject);

        if (defects != NULL)
            holds = defect_judges(defects, entry, subject, holds);
        if (holds)
            continue;
        *outcome = (struct validation_outcome){entry, entry->requirement, entry->error, entry->action, false};
        if (defects == NULL || defect_validation(defects, i, outcome))
            return false;
    }
    return true;
}
