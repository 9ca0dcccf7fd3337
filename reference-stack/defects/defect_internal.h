/* SPDX-License-Identifier: BSD-2-Clause */
/* What a set of defects is, for the files of this folder. Outside of it there are defect.h and peer_faults.h. */
#ifndef REFERENCE_STACK_DEFECT_INTERNAL_H
#define REFERENCE_STACK_DEFECT_INTERNAL_H

#include "reference-stack/cm/cm_validation.h"
#include "reference-stack/defects/defect.h"
#include "reference-stack/defects/defect_atomic.h"
#include "reference-stack/defects/defect_cm.h"
#include "reference-stack/defects/defect_cm_state.h"
#include "reference-stack/defects/defect_ddp.h"
#include "reference-stack/defects/defect_message_state.h"
#include "reference-stack/defects/defect_mpa.h"
#include "reference-stack/defects/defect_rdmap.h"
#include "reference-stack/defects/defect_sctp.h"
#include "reference-stack/defects/defect_sctp_session.h"
#include "reference-stack/defects/defect_sctp_state.h"
#include "reference-stack/defects/defect_sctp_variant.h"
#include "reference-stack/defects/defect_setting.h"
#include "reference-stack/defects/defect_variant.h"
#include "reference-stack/defects/defect_seams.h"
#include "reference-stack/defects/defect_state.h"
#include "reference-stack/defects/defect_stream_state.h"
#include "reference-stack/validation/validation.h"
#include "wire/field.h"

/* clang-format off */
/* Faults that no table can say. A new one is a line here, and a test for it after the hook where it acts. */
#define DEFECT_BEHAVIOURS(B) \
    /* MPA start-up */ \
    B(RESPONDER_SENDS_FIRST,       "responder-sends-first",       "the responder sends an FPDU right after its Reply") \
    B(INITIATOR_SENDS_EARLY,       "initiator-sends-early",       "the initiator sends an FPDU right after its Request") \
    B(EXCESS_DISCARDED,            "excess-discarded",            "octets after a start-up frame are thrown away") \
    B(REJECT_IGNORED,              "reject-ignored",              "a Reply with R = 1 is taken for an accepting one") \
    B(REJECT_UNANSWERED,           "reject-unanswered",           "the responder rejects by a RST in place of its Reply") \
    B(REJECT_RESETS,               "reject-resets",               "the responder sends a RST right after its rejecting Reply") \
    B(REJECT_CLOSES,               "reject-closes",               "MPA closes TCP after its rejecting Reply") \
    B(OPERATION_AT_ONCE,           "operation-at-once",           "the responder is in full operation without a Request") \
    B(STREAMING_AWAITED,           "streaming-awaited",           "the responder takes no Request as first octets of a connection") \
    B(FIRST_FPDU_DISCARDED,        "first-fpdu-discarded",        "the first FPDU after start-up is thrown away") \
    B(STREAMING_NEXT_LOST,         "streaming-next-lost",         "what TCP brings first after MPA took the connection over is lost") \
    B(STREAMING_UNACKED_LOST,      "streaming-unacked-lost",      "TCP forgets what is not acknowledged when MPA takes the connection over") \
    B(SEQSTART_AT_FRAME,           "seqstart-at-frame",           "Markers are placed as if SeqStart were the first octet of the start-up frame") \
    B(START_STRAY_OCTET,           "start-stray-octet",           "an octet of no meaning goes out after the own start-up frame") \
    B(START_ERROR_TERMINATES,      "start-error-terminates",      "a bad start-up frame is answered by a Terminate") \
    B(KEY_FIRST_HALF,              "key-first-half",              "only the first 8 octets of a Key are compared") \
    B(KEY_EITHER,                  "key-either",                  "both Keys are taken in both roles") \
    B(START_OCTET_LOST,            "start-octet-lost",            "an octet of Private Data that comes alone is lost") \
    B(KEY_ENOUGH,                  "key-enough",                  "the Key is taken for the whole start-up frame") \
    B(REQUEST_R_CHECKED,           "request-r-checked",           "a Request with R = 1 is refused") \
    B(RESERVED_CHECKED,            "reserved-checked",            "a start-up frame with reserved bits set is refused") \
    B(PRIVATE_512_REFUSED,         "private-512-refused",         "512 octets of Private Data are refused") \
    B(PRIVATE_SIGNED,              "private-signed",              "PD_Length is a signed number: 0x8000 is small") \
    B(PRIVATE_AWAITED,             "private-awaited",             "4 octets of Private Data are waited for at least") \
    B(PRIVATE_CUT_TAKEN,           "private-cut-taken",           "a start-up frame that a FIN cuts short is taken as it is") \
    B(PRIVATE_256,                 "private-256",                 "the ULP gets 256 octets of Private Data at most") \
    B(PRIVATE_STRING,              "private-string",              "the ULP gets Private Data up to the first zero octet") \
    B(STARTUP_UNTIMED,             "startup-untimed",             "start-up frames are waited for for ever") \
    B(STARTUP_TIMER_RESTARTS,      "startup-timer-restarts",      "each octet of a start-up frame restarts the timer") \
    B(INITIATOR_WAITS,             "initiator-waits",             "the initiator sends nothing before it has got an FPDU") \
    B(MARKER_WITH_REPLY,           "marker-with-reply",           "the first Marker goes out right after the Reply") \
    B(CLOSE_CUTS_FPDU,             "close-cuts-fpdu",             "a piece of an FPDU goes out before the FIN of an orderly close") \
    B(MARKERS_BOTH_WAYS,           "marker-both-ways",            "Markers in both directions when either side asks") \
    B(MARKERS_IF_BOTH,             "marker-if-both",              "Markers are sent only if both sides ask") \
    B(MARKERS_OWN_BIT,             "marker-own-bit",              "Markers are sent when the own M is set") \
    B(CRC_AND,                     "crc-and-not-or",              "CRCs are used only if both sides ask") \
    B(CRC_OWN_BIT,                 "crc-own-bit",                 "CRCs are used when the own C is set") \
    B(CRC_ALWAYS,                  "crc-always",                  "CRCs are used whatever the start-up frames say") \
    B(CRC_OWN_UNCHECKED,           "crc-own-unchecked",           "a side with C = 0 sends CRCs that were agreed, but checks none") \
    B(DEPTHS_NOT_CROSSED,          "depths-not-crossed",          "Reply: IRD from the peer's IRD, ORD from its ORD") \
    B(DEPTHS_OWN,                  "depths-own",                  "Reply: own IRD and ORD, whatever the Request says") \
    B(DEPTH_3FFF_NUMBER,           "depth-3fff-number",           "0x3FFF in a Request is taken for a number") \
    B(ORD_NOT_APPLIED,             "ord-not-applied",             "the own ORD stays what it was configured to be") \
    B(ORD_ZERO_UNSET,              "ord-zero-unset",              "a depth of 0 agreed on for the own ORD counts as none: it stays as configured") \
    B(ORD_IGNORED,                 "ord-ignored",                 "Reads are sent without looking at ORD") \
    B(IRD_NOT_RAISED,              "ird-not-raised",              "initiator: IRD stays below the Reply's ORD") \
    B(IRD_IGNORED,                 "ird-ignored",                 "Read Requests beyond IRD are served") \
    B(RTR_FLAGS_ALWAYS,            "rtr-flags-always",            "Request: B, C, D set with A = 0") \
    B(RTR_NONE_CONFIRMED,          "rtr-none-confirmed",          "Reply: A = 1, and B, C, D all zero") \
    B(RTR_MATCH_MORE_THAN_ONE,     "rtr-match-more-than-one",     "Reply: no flag when just one offered RTR is supported") \
    B(RTR_NOT_SENT,                "rtr-not-sent",                "initiator: no RTR of its own accord") \
    B(RTR_WRONG_KIND,              "rtr-wrong-kind",              "initiator: an RTR that the Reply did not confirm") \
    B(RTR_ONE_CONFIRMED,           "rtr-one-confirmed",           "Reply: one alone of the RTRs that are offered and supported") \
    B(RTR_TWO_CONFLICT,            "rtr-two-conflict",            "Reply: no flag when several offered RTRs are supported") \
    B(RTR_BY_FLAGS,                "rtr-by-flags",                "initiator: an RTR when the Reply has flags, with A = 0 too") \
    B(RTR_BEHIND_WORK,             "rtr-behind-work",             "initiator: the RTR goes out after what the ULP has posted") \
    B(REVISION_1_REFUSED,          "rev-1-refused",               "a Request of Rev 1 is refused") \
    B(REVISION_WITH_WORD,          "rev-with-word",               "initiator: a Reply with the word is taken, whatever its Rev above 2") \
    B(WORD_BY_REVISION,            "word-by-revision",            "a frame of Rev 2 is taken for enhanced, S or not") \
    B(PRIVATE_CARRY_LOST,          "private-carry-lost",          "4 is added to PD_Length without the carry into its high octet") \
    B(IRD_ONE_SHORT,               "ird-one-short",               "one Read Request less is served than IRD says") \
    B(EVENT_OWN_DEPTHS,            "event-own-depths",            "the ULP gets the own IRD and ORD in place of the peer's") \
    B(EVENT_END_UNTOLD,            "event-end-untold",            "the ULP is not told of a start-up that failed") \
    B(RETRY_ON_CONNECTION,         "retry-on-connection",         "initiator: a plain Request follows when the peer closes on the enhanced one") \
    /* FPDU */ \
    B(CRC_OMITTED,                 "crc-omitted",                 "FPDUs have no CRC field") \
    B(CRC_FROM_DDP,                "crc-from-ddp",                "the CRC leaves ULPDU_Length out") \
    B(CRC_WITHOUT_PAD,             "crc-without-pad",             "the CRC leaves the pad out") \
    B(CRC_WITHOUT_MARKERS,         "crc-without-markers",         "the CRC leaves all Markers out") \
    B(CRC_WITHOUT_FIRST_MARKER,    "crc-without-first-marker",    "the CRC leaves a Marker before ULPDU_Length out") \
    B(CRC_WITHOUT_LAST_MARKER,     "crc-without-last-marker",     "the CRC leaves a Marker right before the CRC field out") \
    B(CRC_BEFORE_PAD,              "crc-before-pad",              "the CRC field stands before the pad") \
    B(CRC_BIG_ENDIAN,              "crc-big-endian",              "the CRC field has the most significant octet first") \
    B(PAD_FOR_ULPDU,               "pad-for-ulpdu",               "the pad is computed without the two octets of ULPDU_Length") \
    B(MARKER_LATE,                 "marker-late",                 "the first Marker comes after 512 octets only") \
    B(MARKER_SHIFTED,              "marker-shifted",              "Markers stand 4 octets after their place") \
    B(MARKER_DRIFTS,               "marker-drifts",               "CRC fields are not counted: with each FPDU the next Marker stands 4 octets further from its place") \
    B(MARKER_LOST_AT_WRAP,         "marker-lost-at-wrap",         "TCP's sequence numbers wrap after the first KiB, and no Marker is due then") \
    B(MARKER_PREVIOUS,             "marker-previous",             "inner Markers but the first point to the one before") \
    B(MARKER_BEHIND_LENGTH,        "marker-behind-length",        "a Marker due before ULPDU_Length follows it") \
    B(LENGTH_WITH_MARKERS,         "length-with-markers",         "ULPDU_Length counts the Markers inside") \
    B(CRC_OMITTED_WHEN_OFF,        "crc-omitted-when-off",        "without agreed CRCs FPDUs have no CRC field") \
    B(MARKER_BETWEEN_BACK,         "marker-between-back",         "a Marker between FPDUs points back to the finished one") \
    B(CRC_CHECKED_WHEN_OFF,        "crc-checked-when-off",        "CRC fields that are not zero are checked always") \
    B(CRC_LOW_HALF,                "crc-low-half",                "the low 16 bits of a CRC are compared") \
    B(CRC_FIRST_ONLY,              "crc-first-only",              "the CRC of the first 8 FPDUs is checked") \
    B(PAD_CHECKED,                 "pad-checked",                 "pad octets must be zero") \
    B(PAD_NEVER_ABSENT,            "pad-never-absent",            "4 octets of pad are skipped where none are due") \
    B(SHORT_REFUSED,               "short-ulpdu-refused",         "a ULPDU below 128 octets is an error") \
    B(MARKER_TAKEN_FOR_CRC,        "marker-taken-for-crc",        "a Marker right before the CRC field is read as the CRC") \
    B(MARKER_BETWEEN_LEFT_OUT,     "marker-between-left-out",     "the CRC check leaves a Marker between FPDUs out") \
    B(MARKER_RESERVED_CHECKED,     "marker-reserved-checked",     "the reserved half of a Marker must be zero") \
    B(MARKER_ALL_BITS,             "marker-all-bits",             "all 16 bits of FPDUPTR are compared") \
    B(MARKER_WITHOUT_PRIVATE,      "marker-without-private",      "SeqStart of the peer is taken without its Private Data") \
    B(CRC_READ_SWAPPED,            "crc-read-swapped",            "a CRC field with its most significant octet first is good too") \
    B(CRC_PAD_ZERO,                "crc-pad-zero",                "the CRC check takes pad octets for zero, whatever came") \
    B(CRC_ONE_PAD_REFUSED,         "crc-one-pad-refused",         "the CRC check leaves a single pad octet out") \
    B(LARGE_REFUSED,               "large-ulpdu-refused",         "a ULPDU above 1024 octets is an error") \
    B(MARKERS_KEPT,                "markers-kept",                "Markers inside an FPDU are left in the ULPDU") \
    B(MARKER_ALONE_DROPPED,        "marker-alone-dropped",        "a Marker alone in a TCP segment is thrown away") \
    B(LENGTH_IN_ONE_SEGMENT,       "length-in-one-segment",       "a TCP segment that ends within ULPDU_Length is thrown away") \
    B(CRC_IN_ONE_SEGMENT,          "crc-in-one-segment",          "a CRC field in two TCP segments keeps only what came last") \
    B(SEGMENT_IS_FPDU,             "segment-is-fpdu",             "the start of a TCP segment is taken for the start of an FPDU") \
    B(ULPDU_EARLY,                 "ulpdu-early",                 "a ULPDU goes up before its CRC field has come") \
    B(PARTIAL_DELIVERED,           "partial-delivered",           "at a FIN the part of an FPDU that has come goes up") \
    B(PLACE_BEFORE_CRC,            "place-before-crc",            "a ULPDU is given to DDP before its CRC is checked") \
    B(WINDOW_SMALL,                "window-small",                "TCP advertises a window of 700 octets, whatever happens") \
    B(FRAGMENTABLE,                "fragmentable",                "IPv4 may fragment the segments: Don't Fragment is clear") \
    B(FRAGMENTS_DROPPED,           "fragments-dropped",           "IP packets in fragments are not put together") \
    B(REPEATS_TAKEN,               "repeats-taken",               "octets that TCP had before reach MPA once more, as if they were the next ones") \
    B(OCTETS_AFTER_FIN,            "octets-after-fin",            "TCP sends a segment with octets after its FIN") \
    B(SACK_SILENT,                 "sack-silent",                 "SACK is agreed, and no ACK reports what came after a gap") \
    B(SACK_SHIFTED,                "sack-shifted",                "blocks of SACK begin and end 4 octets too late") \
    B(REASSEMBLY_NONE,             "reassembly-none",             "octets after a gap, fewer than 140 of them, end the connection") \
    B(ONE_FPDU_PER_INPUT,          "one-fpdu-per-segment",        "only the first FPDU of a TCP segment is seen") \
    /* DDP and RDMAP, sending */ \
    B(MULPDU_IGNORED,              "mulpdu-ignored",              "segments are 64 octets larger than MULPDU") \
    B(MULPDU_FLOOR,                "mulpdu-floor",                "MULPDU with as many Markers as fit EMSS in whole 512s") \
    B(MULPDU_MOD_4,                "mulpdu-mod-4",                "MULPDU without EMSS mod 4 taken off") \
    B(MULPDU_UNCLAMPED,            "mulpdu-unclamped",            "MULPDU below 128 and above 64768") \
    B(MSN_SHARED,                  "msn-shared",                  "Sends and Read Requests share one MSN counter") \
    B(RESPONSE_TO_RESTARTS,        "response-to-restarts",        "each segment of a Read Response has the first one's TO") \
    B(RESPONSE_RESTARTS,           "response-restarts",           "each segment of a Read Response has L = 1") \
    B(ZERO_READ_UNANSWERED,        "zero-read-unanswered",        "no Read Response for a Read of size 0") \
    B(SEGMENTS_SMALL,              "segments-small",              "segments carry at most 100 octets") \
    B(RESPONSES_OUT_OF_ORDER,      "read-response-out-of-order",  "of two waiting Read Responses the later goes first") \
    B(ORDER_REVERSED,              "segments-out-of-order",       "the last segment of a message goes out with the first one's place") \
    /* DDP and RDMAP, receiving */ \
    B(PLACE_BEFORE_CHECK,          "place-before-check",          "the part of a tagged segment that fits is placed before the checks") \
    B(STAG_KEY_IGNORED,            "stag-key-ignored",            "the key octet of an STag is not compared") \
    B(ZERO_LENGTH_CHECKED,         "zero-length-checked",         "the STag of a zero-length Write is checked") \
    B(ZERO_LENGTH_READ_CHECKED,    "zero-length-read-checked",    "the source STag of a zero-length Read is checked") \
    B(RSVD_CHECKED,                "rsvd-checked",                "DDP's reserved bits must be zero") \
    B(HEADER_ALONE_REFUSED,        "header-alone-refused",        "a DDP Segment without payload is an error") \
    B(TO_ALIGNED,                  "to-aligned",                  "TO must be a multiple of 4") \
    B(TO_BASE_ONLY,                "to-base-only",                "TO must be the region's first") \
    B(WRITE_TO_END_REFUSED,        "write-to-end-refused",        "a Write may not reach the region's last octet") \
    B(SEND_TO_END_REFUSED,         "send-to-end-refused",         "a Send may not fill its buffer") \
    B(SEND_EMPTY_REFUSED,          "send-empty-refused",          "a Send of length 0 is an error") \
    B(MO_IN_ORDER,                 "mo-in-order",                 "MO must be the octets received so far") \
    B(MESSAGE_LENGTH_LAST,         "message-length-last",         "the last segment's length is told as the message's") \
    B(LAST_IGNORED,                "last-ignored",                "each untagged segment is delivered as a message") \
    B(STAG_ONCE,                   "stag-once",                   "an STag is invalid after the first Write") \
    B(WRITE_CONSUMES_RECEIVE,      "write-consumes-receive",      "the end of a Write is delivered to a receive") \
    B(IRD_ONE_LESS,                "ird-one-less",                "one Read Request less than IRD is served") \
    B(RSV_CHECKED,                 "rsv-checked",                 "RDMAP's reserved bits must be zero") \
    B(WORD_CHECKED,                "invalidate-field-checked",    "the Invalidate STag field must be zero where it has no use") \
    B(INVALIDATE_ALWAYS,           "invalidate-always",           "a non-zero Invalidate STag field is obeyed in every Send") \
    B(READ_TO_END_REFUSED,         "read-to-end-refused",         "a Read may not reach the region's last octet") \
    B(READ_TO_TOP_REFUSED,         "read-to-top-refused",         "a Read may not reach TO 2^64 - 1: a lack of access") \
    B(SOURCE_ALIGNED,              "source-aligned",              "SrcTO must be a multiple of 4") \
    B(SINK_CHECKED,                "sink-checked",                "SinkSTag may be neither 0 nor an own STag") \
    B(SINK_ALIGNED,                "sink-aligned",                "SinkTO must be a multiple of 8") \
    B(MO_32_BITS,                  "mo-32-bits",                  "MO and payload are added in 32 bits before they are compared") \
    B(TO_SUM_WRAPS,                "to-sum-wraps",                "a sum of TO and length beyond 2^64 counts as small") \
    B(READ_SIZE_SIGNED,            "read-size-signed",            "RDMARDSZ from 2^31 on counts as negative") \
    B(SOURCE_TO_32_BITS,           "source-to-32-bits",           "the high half of SrcTO is dropped") \
    B(REVOKED_TAKEN,               "revoked-taken",               "an STag that is not valid any more is taken") \
    B(REVOKED_IN_MESSAGE,          "revoked-in-message",          "an STag is looked at once a message: what comes of it after the STag was given up is placed") \
    B(TAGGED_NOT_PLACED,           "tagged-not-placed",           "the payload of Writes is thrown away") \
    B(UNTAGGED_BY_STAG,            "untagged-by-stag",            "untagged payload goes where octets 2-5, taken as STag, point") \
    B(ONE_OCTET_DROPPED,           "one-octet-dropped",           "the payload of segments of one octet is not placed") \
    B(RECEIVE_MUST_FILL,           "receive-must-fill",           "a Send is delivered only when it fills its receive") \
    B(EMPTY_SEND_UNDELIVERED,      "empty-send-undelivered",      "an empty Send consumes no receive and is not delivered") \
    B(DELIVERY_HELD,               "delivery-held",               "a Send is delivered when something else happens after it") \
    B(DELIVERIES_SWAPPED,          "deliveries-swapped",          "of two Sends that wait for the ULP the later comes first") \
    B(SOLICITED_ALWAYS,            "solicited-always",            "each Send is delivered as one with Solicited Event") \
    B(INVALIDATE_ANYWAY,           "invalidate-anyway",           "an STag whose invalidation is refused is invalid all the same") \
    B(EARLY_DELIVERED,             "early-delivered",             "a Send is delivered when it is placed itself, whatever is missing before it") \
    B(EARLY_UNTAGGED_ORDER,        "early-untagged-order",        "a Send waits for earlier Sends, and not for what is tagged") \
    B(EARLY_QUEUE_ORDER,           "early-queue-order",           "a Read Request of size 0 waits for no message of another queue") \
    B(TERMINATE_NEEDS_RECEIVE,     "terminate-needs-receive",     "a Terminate is taken only where a receive is posted") \
    B(TERMINATE_ODD_IGNORED,       "terminate-odd-ignored",       "a Terminate of another length than its bits say is ignored") \
    B(TERMINATE_BITS_CHECKED,      "terminate-bits-checked",      "a Terminate with M and D different is an error") \
    B(TERMINATE_RESERVED_CHECKED,  "terminate-reserved-checked",  "a Terminate's reserved bits must be zero") \
    B(READ_DONE_EARLY,             "read-done-early",             "an own Read is complete with the first segment of its response") \
    B(MSN_NOT_ADVANCED,            "msn-not-advanced",            "the expected MSN stays what it was") \
    B(INVALIDATE_NOT_DONE,         "invalidate-not-done",         "Send with Invalidate leaves the STag valid") \
    /* Errors */ \
    B(NO_TERMINATE,                "no-terminate",                "no Terminate is ever sent") \
    B(TERMINATE_TWICE,             "terminate-twice",             "each Terminate is sent twice") \
    B(TERMINATE_BARE,              "terminate-bare",              "Terminates carry no headers") \
    B(TERMINATE_READ_HEADER_NOT,   "terminate-without-read-header", "Terminates never quote the Read Request Header") \
    B(TERMINATE_LENGTH_PAYLOAD,    "terminate-length-payload",    "DDP Segment Length leaves the DDP header out") \
    B(TERMINATE_WITH_PAYLOAD,      "terminate-with-payload",      "the payload in error follows the headers that a Terminate quotes") \
    B(TERMINATE_PADDED,            "terminate-padded",            "two octets of pad after DDP Segment Length") \
    B(TERMINATE_HEADER_CUT,        "terminate-header-cut",        "a Terminate ends with DDP Segment Length, whatever its bits say") \
    B(TERMINATE_READ_HEADER_CUT,   "terminate-read-header-cut",   "R is set, but the Read Request Header is left out") \
    B(TERMINATE_HOST_ORDER,        "terminate-host-order",        "the last field of the quoted DDP header has its octets reversed") \
    B(TERMINATE_READ_SIZE_ZERO,    "terminate-read-size-zero",    "RDMARDSZ is zero in the quoted Read Request Header") \
    B(FIN_TERMINATES,              "fin-terminates",              "the peer's FIN is answered by a Terminate") \
    B(TERMINATE_BIT_FIELDS,        "terminate-bit-fields",        "the control word as little-endian C bit-fields lay it out") \
    B(ABORT_ON_ERROR,              "abort-on-error",              "errors end in a RST at once") \
    B(CONTINUE_AFTER_ERROR,        "continue-after-error",        "after a Terminate the stream goes on") \
    B(CLOSE_NEVER,                 "close-never",                 "after a Terminate the connection stays open") \
    /* RDMAP, and what streams of one device share: defect_rdmap.h */ \
    DEFECT_BEHAVIOURS_RDMAP(B) \
    /* The source, the layer below, the end: defect_ddp.h */ \
    DEFECT_BEHAVIOURS_DDP(B) \
    /* Start-up, framing and TCP: defect_mpa.h. Atomic Operations and Immediate Data: defect_atomic.h */ \
    DEFECT_BEHAVIOURS_MPA(B) \
    /* What streams and messages leave to others: defect_stream_state.h, defect_message_state.h */ \
    DEFECT_BEHAVIOURS_STREAM_STATE(B) \
    DEFECT_BEHAVIOURS_MESSAGE_STATE(B) \
    DEFECT_BEHAVIOURS_ATOMIC(B) \
    /* Associations and sessions of SCTP: defect_sctp.h */ \
    DEFECT_BEHAVIOURS_SCTP(B) \
    DEFECT_BEHAVIOURS_SCTP_SESSION(B) \
    DEFECT_BEHAVIOURS_SCTP_STATE(B) \
    /* The CM agent: defect_cm.h */ \
    DEFECT_BEHAVIOURS_CM(B) \
    DEFECT_BEHAVIOURS_CM_STATE(B) \
    /* What is legal: defect_variant.h */ \
    DEFECT_BEHAVIOURS_VARIANT(B) \
    DEFECT_BEHAVIOURS_SCTP_VARIANT(B)
/* clang-format on */

#define DEFECT_BEHAVIOUR_ENUM_(id, name, meaning) DEFECT_##id,
enum defect_behaviour { DEFECT_BEHAVIOURS(DEFECT_BEHAVIOUR_ENUM_) DEFECT_BEHAVIOUR_COUNT };

/* Octets from SeqStart to the wrap of TCP's sequence numbers, where hook_tcp() chooses the ISS. */
enum { DEFECT_WRAP_AFTER = 1024 };

/* What a transmit rule looks at. */
enum defect_target {
    TARGET_REQUEST,
    TARGET_REPLY,
    TARGET_REJECT,
    TARGET_REQUEST_WORD,
    TARGET_REPLY_WORD,
    TARGET_FPDU,
    TARGET_MARKER,
    TARGET_TAGGED,
    TARGET_UNTAGGED,
    TARGET_CONTROL,
    TARGET_RDMAP_UNTAGGED,
    TARGET_READ_REQUEST,
    TARGET_ATOMIC_REQUEST,
    TARGET_ATOMIC_RESPONSE,
    TARGET_IMMEDIATE,
    TARGET_TERMINATE,
    TARGET_TERMINATE_LENGTH,
    TARGET_SCTP_SEGMENT,
    TARGET_SCTP_CONTROL,
    TARGET_SCTP_RESET,
    TARGET_MAD,
    TARGET_CM_REQ,
    TARGET_CM_MRA,
    TARGET_CM_REJ,
    TARGET_CM_REP,
    TARGET_CM_RTU,
    TARGET_CM_DREQ,
    TARGET_CM_DREP,
    TARGET_IP_CM_PRIVATE,
    TARGET_IP_CM_ARI,
    DEFECT_TARGET_COUNT,
};

enum defect_operation {
    OPERATION_SET,
    OPERATION_ADD,
    OPERATION_XOR,
    OPERATION_SWAP,
    OPERATION_COPY,
    OPERATION_REVERSE
};

/* Which of the messages that match. */
enum defect_when { WHEN_ALWAYS, WHEN_NTH, WHEN_FROM_NTH, WHEN_LAST, WHEN_LATER, WHEN_PAD };

/* Fields of an FPDU that no layout has. */
enum defect_pseudo { PSEUDO_NONE, PSEUDO_PAD, PSEUDO_PAD_OCTETS, PSEUDO_CRC, PSEUDO_ULPDU_OCTETS };

struct defect_transmit {
    enum defect_target target;
    uint16_t opcodes; /* RDMAP opcodes it applies to, a bit each */
    const struct wire_field *field;
    const struct wire_field *other; /* SWAP, COPY */
    enum defect_pseudo pseudo;
    enum defect_operation operation;
    uint64_t value;
    enum defect_when when;
    uint32_t nth;
};

struct defect_override {
    enum { OVERRIDE_NONE, OVERRIDE_OFF, OVERRIDE_FAIL, OVERRIDE_IGNORE, OVERRIDE_TRIPLE, OVERRIDE_ACTION } kind;
    wire_result triple;
    enum validation_action action;
    const struct defect_quantity *quantity; /* NULL: it applies always; else where this lies in low to high */
    int64_t low, high;
};

/* Of an entry of the CM's table. */
struct defect_cm_override {
    enum { CM_OVERRIDE_NONE, CM_OVERRIDE_OFF, CM_OVERRIDE_SILENT, CM_OVERRIDE_REASON, CM_OVERRIDE_CODE } kind;
    uint16_t value;
};

struct defect_set {
    struct iwarp_faults faults; /* first: defect_set_of() */
    struct cm_faults cm_faults;
    struct defect_override overrides[VALIDATIONS_MAX];
    struct defect_cm_override cm[CM_VALIDATIONS_MAX];
    struct defect_transmit transmits[DEFECT_TRANSMITS_MAX];
    size_t transmit_count;
    struct defect_setting settings[DEFECT_SETTINGS_MAX];
    size_t setting_count;
    bool behaviours[DEFECT_BEHAVIOUR_COUNT];
    uint32_t errors[DEFECT_BEHAVIOUR_COUNT]; /* on streams with this error alone (defect_error_is()); 0: always */
    struct defect_asked *asked;              /* NULL: what hooks ask for is not noted (defect_asked.h) */
};

/* An error by the first octet of its Terminate, or by the first two: one is set in each, as both may be 0. */
enum { DEFECT_ERROR = 0x100, DEFECT_TRIPLE = 0x10000 };

struct defect_behaviour_row {
    const char *name;
    const char *meaning;
};

/* defect_table.c */
extern const struct fault_ops defect_fault_ops;
extern const struct mpa_fault_ops defect_mpa_ops;
extern const struct sctp_fault_ops defect_sctp_ops;
extern const struct cm_fault_ops defect_cm_fault_ops;

/* A new agent's configuration (defect_setting.c). */
void hook_cm_config(const struct defect_set *set, struct cm_agent_config *config);

extern const struct defect_behaviour_row defect_behaviour_rows[DEFECT_BEHAVIOUR_COUNT];

/* The set that a configuration names. */
static inline const struct defect_set *defect_set_of(const struct iwarp_faults *faults)
{
    return (const struct defect_set *)faults;
}

/* The set of an object's faults. */
static inline const struct defect_set *kept_set(const struct iwarp_faults *faults)
{
    return ((const struct kept *)faults)->set;
}

/* A set without defects; NULL without memory. */
struct defect_set *defect_set_empty(void);

/* What was asked for is noted, where the set does that (defect_asked.c). */
void defect_note_behaviour(const struct defect_set *set, enum defect_behaviour behaviour);
void defect_note_judged(const struct defect_set *set, size_t entry);
void defect_note_refused(const struct defect_set *set, const struct validation_subject *subject, size_t entry);
/* A subject that is refused may violate later entries of its stage, too: which one is reported is a device's own. */
void defect_note_others(const struct defect_set *set, const struct validation_subject *subject, size_t at, size_t end);
void defect_note_cm(const struct defect_set *set, size_t entry);
void defect_note_sent(const struct defect_set *set, enum defect_target target, uint16_t opcodes);

/* Hooks ask this last, where all else that the behaviour needs is there: then few checks meet it (defect_asked.h). */
static inline bool defect_behaves(const struct defect_set *set, enum defect_behaviour behaviour)
{
    if (set->asked != NULL)
        defect_note_behaviour(set, behaviour);
    return set->behaviours[behaviour];
}

/* Transmit rules with this target change the header (defect_frame.c). */
void defect_change_header(const struct defect_set *set, struct defect_state *state, enum defect_target target,
                          uint8_t *header);

/* A start-up frame as packed: returns its new count. `octets` has DEFECT_ROOM more of room (defect_frame.c). */
size_t defect_start_frame(const struct defect_set *set, struct defect_state *state, const struct iwarp_mpa_start *start,
                          uint8_t *octets, size_t count);

#endif
