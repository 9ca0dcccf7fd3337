/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/validation/validation.h"

#include <string.h>

#include "reference-stack/validation/validation_predicates.h"

#define TERMINATES VALIDATION_TERMINATE
#define CLOSES     VALIDATION_CLOSE

/* clang-format off */
const struct validation validation_table[] = {
    /* A Request, at the responder. A frame cut short is judged as far as it goes. */
    {"MPA-7.1.1-02",   "request-key",            VALIDATE_REQUEST,       holds_request_key,           TERM_MPA_START_FRAME,            CLOSES},
    {"MPA-7.1.1-23",   "request-revision",       VALIDATE_REQUEST,       holds_request_revision,      TERM_MPA_START_FRAME,            CLOSES},
    {"MPA-7.1.1-29",   "request-private-length", VALIDATE_REQUEST,       holds_private_length,        TERM_MPA_START_FRAME,            CLOSES},
    {"MPA-7.1.2-29",   "request-private-room",   VALIDATE_REQUEST,       holds_private_room,          TERM_MPA_START_FRAME,            CLOSES},
    {"EMPA-10-08",     "request-enhanced",       VALIDATE_REQUEST,       holds_enhanced_supported,    TERM_MPA_START_FRAME,            CLOSES},
    {"EMPA-6-12",      "request-word",           VALIDATE_REQUEST,       holds_word_fits,             TERM_MPA_START_FRAME,            CLOSES},
    {"MPA-7.1.1-28",   "request-excess",         VALIDATE_REQUEST,       holds_nothing_after,        TERM_MPA_START_FRAME,            CLOSES},
    /* A Reply, at the initiator. */
    {"MPA-7.1.1-05",   "reply-key",              VALIDATE_REPLY,         holds_reply_key,             TERM_MPA_START_FRAME,            CLOSES},
    {"MPA-7.1.1-22",   "reply-revision",         VALIDATE_REPLY,         holds_reply_revision,        TERM_MPA_START_FRAME,            CLOSES},
    {"MPA-7.1.2-27",   "reply-private-length",   VALIDATE_REPLY,         holds_private_length,        TERM_MPA_START_FRAME,            CLOSES},
    {"MPA-7.1.2-29",   "reply-private-room",     VALIDATE_REPLY,         holds_private_room,          TERM_MPA_START_FRAME,            CLOSES},
    {"EMPA-6-11",      "reply-word",             VALIDATE_REPLY,         holds_word_fits,             TERM_MPA_START_FRAME,            CLOSES},
    {"EMPA-10-01",     "reply-enhanced",         VALIDATE_REPLY,         holds_reply_enhanced,        TERM_MPA_START_FRAME,            CLOSES},
    {"EMPA-10-02",     "reply-plain",            VALIDATE_REPLY,         holds_reply_plain,           TERM_MPA_START_FRAME,            CLOSES},
    {"MPA-7.1.1-37",   "reply-excess",           VALIDATE_REPLY,         holds_nothing_after,        TERM_MPA_START_FRAME,            CLOSES},
    /* What an accepting, enhanced Reply asks of the initiator. */
    {"EMPA-9.1-20",    "ird-available",          VALIDATE_NEGOTIATION,   holds_ird_available,         TERM_MPA_INSUFFICIENT_IRD,       TERMINATES},
    {"EMPA-9.2-23",    "rtr-in-common",          VALIDATE_NEGOTIATION,   holds_rtr_in_common,         TERM_MPA_NO_MATCHING_RTR,        TERMINATES},
    {"EMPA-9.3-03",    "depths-settable",        VALIDATE_NEGOTIATION,   holds_depths_settable,       TERM_MPA_CATASTROPHIC,           TERMINATES},
    /* An FPDU. */
    {"MPA-8-02",       "fpdu-crc",               VALIDATE_FPDU,          holds_crc_good,              TERM_MPA_CRC,                    TERMINATES},
    {"MPA-8-03",       "fpdu-marker",            VALIDATE_FPDU,          holds_marker_good,           TERM_MPA_MARKER,                 TERMINATES},
    /* A DDP Segment of either model. No error number exists for a cut header. */
    {"DDP-4.4-01",     "ddp-header",             VALIDATE_SEGMENT,       holds_header_complete,       TERM_DDP_CATASTROPHIC,           TERMINATES},
    {"DDP-7.2-04",     "ddp-tagged-version",     VALIDATE_SEGMENT,       holds_tagged_version,        TERM_DDP_TAGGED_VERSION,         TERMINATES},
    {"DDP-7.2-05",     "ddp-untagged-version",   VALIDATE_SEGMENT,       holds_untagged_version,      TERM_DDP_UNTAGGED_VERSION,       TERMINATES},
    /* A tagged segment with payload. DDP has no code for a missing right. */
    {"DDP-7.1-10",     "ddp-stag",               VALIDATE_TAGGED,        holds_stag_valid,            TERM_DDP_INVALID_STAG,           TERMINATES},
    {"DDP-8.2-01",     "ddp-stag-pd",            VALIDATE_TAGGED,        holds_pd_associated,         TERM_DDP_NOT_ASSOCIATED,         TERMINATES},
    {"DDP-8.2-02",     "ddp-stag-stream",        VALIDATE_TAGGED,        holds_stream_associated,     TERM_DDP_NOT_ASSOCIATED,         TERMINATES},
    {"DDP-7.1-11",     "ddp-stag-access",        VALIDATE_TAGGED,        holds_write_allowed,         TERM_DDP_INVALID_STAG,           TERMINATES},
    {"DDP-7.1-14",     "ddp-to-wrap",            VALIDATE_TAGGED,        holds_to_unwrapped,          TERM_DDP_TO_WRAP,                TERMINATES},
    {"DDP-7.1-12",     "ddp-to-base",            VALIDATE_TAGGED,        holds_to_inside,             TERM_DDP_BOUNDS,                 TERMINATES},
    {"DDP-7.1-13",     "ddp-to-end",             VALIDATE_TAGGED,        holds_to_end_inside,         TERM_DDP_BOUNDS,                 TERMINATES},
    /* An untagged segment. */
    {"DDP-7.1-01",     "ddp-qn",                 VALIDATE_UNTAGGED,      holds_qn_known,              TERM_DDP_INVALID_QN,             TERMINATES},
    {"DDP-7.1-05",     "ddp-msn",                VALIDATE_UNTAGGED,      holds_msn_due,               TERM_DDP_MSN_RANGE,              TERMINATES},
    {"DDP-7.1-02",     "ddp-buffer",             VALIDATE_UNTAGGED,      holds_buffer_available,      TERM_DDP_NO_BUFFER,              TERMINATES},
    {"DDP-7.1-03",     "ddp-mo",                 VALIDATE_UNTAGGED,      holds_mo_inside,             TERM_DDP_INVALID_MO,             TERMINATES},
    {"DDP-7.1-04",     "ddp-length",             VALIDATE_UNTAGGED,      holds_mo_end_inside,         TERM_DDP_TOO_LONG,               TERMINATES},
    /* RDMAP's control fields. */
    {"RDMAP-7.2-03",   "rdmap-version",          VALIDATE_RDMAP,         holds_rdmap_version,         TERM_RDMAP_VERSION,              TERMINATES},
    {"RDMAP-7.2-02",   "rdmap-opcode",           VALIDATE_RDMAP,         holds_opcode_known,          TERM_RDMAP_OPCODE,               TERMINATES},
    {"RDMAP-4.1-06",   "rdmap-opcode-model",     VALIDATE_RDMAP,         holds_opcode_model,          TERM_RDMAP_OPCODE,               TERMINATES},
    {"RDMAP-4.1-16",   "rdmap-opcode-queue",     VALIDATE_RDMAP,         holds_opcode_queue,          TERM_RDMAP_OPCODE,               TERMINATES},
    /* A Read Request. No error code is assigned to a header of the wrong length. */
    {"RDMAP-4.2-07",   "read-length",            VALIDATE_READ_REQUEST,  holds_read_length,           TERM_RDMAP_OPERATION_OTHER,      TERMINATES},
    {"RDMAP-7.2-11",   "read-stag",              VALIDATE_READ_REQUEST,  holds_source_valid,          TERM_RDMAP_INVALID_STAG,         TERMINATES},
    {"RDMAP-8.1.1-02", "read-stag-pd",           VALIDATE_READ_REQUEST,  holds_source_pd,             TERM_RDMAP_NOT_ASSOCIATED,       TERMINATES},
    {"RDMAP-7.2-12",   "read-stag-stream",       VALIDATE_READ_REQUEST,  holds_source_stream,         TERM_RDMAP_NOT_ASSOCIATED,       TERMINATES},
    {"RDMAP-4.8-20",   "read-access",            VALIDATE_READ_REQUEST,  holds_source_readable,       TERM_RDMAP_ACCESS,               TERMINATES},
    {"RDMAP-7.2-16",   "read-to-wrap",           VALIDATE_READ_REQUEST,  holds_source_unwrapped,      TERM_RDMAP_TO_WRAP,              TERMINATES},
    {"RDMAP-7.2-13",   "read-to-base",           VALIDATE_READ_REQUEST,  holds_source_inside,         TERM_RDMAP_BOUNDS,               TERMINATES},
    {"RDMAP-7.2-14",   "read-to-end",            VALIDATE_READ_REQUEST,  holds_source_end_inside,     TERM_RDMAP_BOUNDS,               TERMINATES},
    /* A Read Response, at the requester; after the tagged checks. */
    {"RDMAP-5.2.2-11", "response-expected",      VALIDATE_READ_RESPONSE, holds_response_expected,     TERM_RDMAP_OPCODE,               TERMINATES},
    {"RDMAP-5.2.2-06", "response-stag",          VALIDATE_READ_RESPONSE, holds_response_stag,         TERM_DDP_INVALID_STAG,           TERMINATES},
    {"RDMAP-5.2.2-09", "response-inside",        VALIDATE_READ_RESPONSE, holds_response_inside,       TERM_DDP_BOUNDS,                 TERMINATES},
    {"RDMAP-5.2.2-09", "response-length",        VALIDATE_READ_RESPONSE, holds_response_length,       TERM_RDMAP_OPERATION_OTHER,      TERMINATES},
    /* The STag of a Send with Invalidate, on delivery. */
    {"RDMAP-7.2-05",   "invalidate-stag",        VALIDATE_INVALIDATE,    holds_invalidate_valid,      TERM_RDMAP_PROTECTION_INVALIDATE, TERMINATES},
    {"RDMAP-7.2-06",   "invalidate-associated",  VALIDATE_INVALIDATE,    holds_invalidate_associated, TERM_RDMAP_PROTECTION_INVALIDATE, TERMINATES},
    {"RDMAP-8.1.1-09", "invalidate-unshared",    VALIDATE_INVALIDATE,    holds_invalidate_unshared,   TERM_RDMAP_PROTECTION_INVALIDATE, TERMINATES},
    /* An Atomic Request. Neither text names errors but for alignment; those of Read Requests are the nearest. */
    {"ATOM-8.2-07",    "atomic-length",          VALIDATE_ATOMIC_REQUEST, holds_atomic_length,        TERM_RDMAP_OPERATION_OTHER,      TERMINATES},
    {"ATOM-5.2.1-15",  "atomic-opcode",          VALIDATE_ATOMIC_REQUEST, holds_atomic_opcode_known,  TERM_RDMAP_OPCODE,               TERMINATES},
    {"ATOM7306-5.2.1-02", "atomic-swap",         VALIDATE_ATOMIC_REQUEST, holds_atomic_swap_supported, TERM_RDMAP_OPCODE,              TERMINATES},
    {"ATOM-8.2-06",    "atomic-stag",            VALIDATE_ATOMIC_REQUEST, holds_stag_valid,           TERM_RDMAP_INVALID_STAG,         TERMINATES},
    {"ATOM-5.2.1-06",  "atomic-stag-pd",         VALIDATE_ATOMIC_REQUEST, holds_pd_associated,        TERM_RDMAP_NOT_ASSOCIATED,       TERMINATES},
    {"ATOM-5.2.1-06",  "atomic-stag-stream",     VALIDATE_ATOMIC_REQUEST, holds_stream_associated,    TERM_RDMAP_NOT_ASSOCIATED,       TERMINATES},
    {"ATOM-8.2-06",    "atomic-access",          VALIDATE_ATOMIC_REQUEST, holds_atomic_allowed,       TERM_RDMAP_ACCESS,               TERMINATES},
    {"ATOM-8.2-06",    "atomic-to-wrap",         VALIDATE_ATOMIC_REQUEST, holds_atomic_unwrapped,     TERM_RDMAP_TO_WRAP,              TERMINATES},
    {"ATOM-8.2-06",    "atomic-to-base",         VALIDATE_ATOMIC_REQUEST, holds_atomic_inside,        TERM_RDMAP_BOUNDS,               TERMINATES},
    {"ATOM-8.2-06",    "atomic-to-end",          VALIDATE_ATOMIC_REQUEST, holds_atomic_end_inside,    TERM_RDMAP_BOUNDS,               TERMINATES},
    {"ATOM7306-5.1.1-07", "fetch-add-alignment", VALIDATE_ATOMIC_REQUEST, holds_fetch_add_aligned,    TERM_RDMAP_CATASTROPHIC_STREAM,  TERMINATES},
    {"ATOM-5.1.2-08",  "swap-alignment",         VALIDATE_ATOMIC_REQUEST, holds_swap_aligned,         TERM_RDMAP_CATASTROPHIC_STREAM,  TERMINATES},
    {"ATOM-5.1.3-11",  "compare-swap-alignment", VALIDATE_ATOMIC_REQUEST, holds_compare_swap_aligned, TERM_RDMAP_CATASTROPHIC_STREAM,  TERMINATES},
    /* An Atomic Response, at the requester: DDP found an open atomic for its MSN (ddp-buffer, ddp-msn). */
    {"ATOM-8.2-07",    "atomic-response-length", VALIDATE_ATOMIC_RESPONSE, holds_atomic_response_length, TERM_RDMAP_OPERATION_OTHER,   TERMINATES},
    {"ATOM-5.2.2-09",  "atomic-response-id",     VALIDATE_ATOMIC_RESPONSE, holds_atomic_response_id,  TERM_RDMAP_OPERATION_OTHER,      TERMINATES},
    /* Immediate Data. */
    {"ATOM-6.3-07",    "immediate-length",       VALIDATE_IMMEDIATE,     holds_immediate_length,      TERM_RDMAP_OPERATION_OTHER,      TERMINATES},
    /* SCTP. RFC 5043 has no error numbers: the session ends by its Terminate, an association by an ABORT. */
    {"SCTP5043-11.1-03", "association-indication", VALIDATE_ASSOCIATION, holds_indication,            WIRE_OK,                         VALIDATION_ABORT},
    {"SCTP5043-8-03",  "association-streams",    VALIDATE_ASSOCIATION,   holds_streams,               WIRE_OK,                         VALIDATION_ABORT},
    {"SCTP5043-5.2-02", "message-ppid",          VALIDATE_MESSAGE,       holds_message_ppid,          WIRE_OK,                         CLOSES},
    {"SCTP5043-5.2.1-01", "message-header",      VALIDATE_MESSAGE,       holds_message_header,        WIRE_OK,                         CLOSES},
    {"SCTP5043-6.2-04", "session-over",          VALIDATE_SESSION,       holds_session_not_over,      WIRE_OK,                         CLOSES},
    {"SCTP5043-6.1-03", "session-code",          VALIDATE_SESSION,       holds_session_code,          WIRE_OK,                         CLOSES},
    {"SCTP5043-5.2.3-15", "session-enhanced",    VALIDATE_SESSION,       holds_session_enhanced,      WIRE_OK,                         CLOSES},
    {"EMPA-7-01",      "session-word",           VALIDATE_SESSION,       holds_session_word,          WIRE_OK,                         CLOSES},
    {"SCTP5043-5.2.3-08", "session-private-data", VALIDATE_SESSION,      holds_session_private_data,  WIRE_OK,                         CLOSES},
    {"SCTP5043-6-01",  "session-initiate",       VALIDATE_SESSION,       holds_session_initiate,      WIRE_OK,                         CLOSES},
    {"SCTP5043-6.1-03", "session-answer",        VALIDATE_SESSION,       holds_session_answer,        WIRE_OK,                         CLOSES},
    {"EMPA-7-24",      "session-answer-kind",    VALIDATE_SESSION,       holds_session_answer_kind,   WIRE_OK,                         CLOSES},
    {"SCTP5043-6.1-03", "session-segment",       VALIDATE_SESSION,       holds_session_segment,       WIRE_OK,                         CLOSES},
    {"SCTP-2.2-03",    "reset-code",             VALIDATE_RESET,         holds_reset_code,            WIRE_OK,                         CLOSES},
    {"SCTP-2.2-05",    "reset-length",           VALIDATE_RESET,         holds_reset_length,          WIRE_OK,                         CLOSES},
};
/* clang-format on */

const size_t validation_count = sizeof(validation_table) / sizeof(validation_table[0]);
_Static_assert(sizeof(validation_table) / sizeof(validation_table[0]) <= VALIDATIONS_MAX,
               "VALIDATIONS_MAX is large enough");

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
    [VALIDATE_ASSOCIATION] = "sctp-association",
    [VALIDATE_MESSAGE] = "sctp-message",
    [VALIDATE_SESSION] = "sctp-session",
    [VALIDATE_RESET] = "sctp-reset",
};

/* How many entries each stage has, in the order of the table; the unit test holds it against the table. */
#define STAGE_ENTRIES(S)                                                                                               \
    S(REQUEST, 7)                                                                                                      \
    S(REPLY, 8)                                                                                                        \
    S(NEGOTIATION, 3)                                                                                                  \
    S(FPDU, 2)                                                                                                         \
    S(SEGMENT, 3)                                                                                                      \
    S(TAGGED, 7)                                                                                                       \
    S(UNTAGGED, 5)                                                                                                     \
    S(RDMAP, 4)                                                                                                        \
    S(READ_REQUEST, 8)                                                                                                 \
    S(READ_RESPONSE, 4)                                                                                                \
    S(INVALIDATE, 3)                                                                                                   \
    S(ATOMIC_REQUEST, 13)                                                                                              \
    S(ATOMIC_RESPONSE, 2)                                                                                              \
    S(IMMEDIATE, 1)                                                                                                    \
    S(ASSOCIATION, 2)                                                                                                  \
    S(MESSAGE, 2)                                                                                                      \
    S(SESSION, 9)                                                                                                      \
    S(RESET, 2)

#define STAGE_BOUNDS_(stage, entries) stage##_FIRST, stage##_LAST = stage##_FIRST + (entries)-1,
enum { STAGE_ENTRIES(STAGE_BOUNDS_) STAGES_END };
_Static_assert(STAGES_END == sizeof(validation_table) / sizeof(validation_table[0]), "each entry is in a stage");

#define STAGE_ROW_(stage, entries) [VALIDATE_##stage] = {stage##_FIRST, stage##_LAST + 1},
static const struct {
    uint8_t first, end;
} stages[VALIDATE_STAGES] = {STAGE_ENTRIES(STAGE_ROW_)};

const struct validation *validation_find(const char *what, size_t n)
{
    for (size_t i = 0; i < validation_count; i++) {
        const struct validation *entry = &validation_table[i];

        if ((strcmp(entry->requirement, what) == 0 || strcmp(entry->name, what) == 0) && n-- == 0)
            return entry;
    }
    return NULL;
}

void validation_entries(enum validation_stage stage, size_t *first, size_t *end)
{
    *first = stages[stage].first;
    *end = stages[stage].end;
}

bool validation_run(enum validation_stage stage, const struct validation_subject *subject,
                    struct validation_outcome *outcome)
{
    for (size_t i = stages[stage].first; i < stages[stage].end; i++) {
        const struct validation *entry = &validation_table[i];

        if (entry->holds(subject))
            continue;
        *outcome = (struct validation_outcome){entry, entry->requirement, entry->error, entry->action};
        return false;
    }
    return true;
}
