/* SPDX-License-Identifier: BSD-2-Clause */
/* Behaviour that the texts allow, and that the stack does not show by itself: part of the list in defect_internal.h. */
#ifndef REFERENCE_STACK_DEFECT_VARIANT_H
#define REFERENCE_STACK_DEFECT_VARIANT_H

/* clang-format off */
#define DEFECT_BEHAVIOURS_VARIANT(B) \
    /* What an interface of verbs lacks */ \
    B(MEMORY_ANYWHERE,             "memory-anywhere",             "the device chooses the base of memory, whatever the ULP asks for") \
    B(SEQUENCE_WRAPS,              "sequence-wraps",              "TCP's sequence numbers wrap after the first KiB that is sent") \
    B(ACKS_DELAYED,                "acks-delayed",                "TCP acknowledges every second segment, or after 40 ms") \
    B(ACKS_LATE,                   "acks-late",                   "TCP acknowledges after 1.5 s, and nothing before") \
    B(MSS_300,                     "mss-300",                     "TCP has an MSS of its own of 300 octets") \
    B(WINDOW_4096,                 "window-4096",                 "TCP advertises a window of 4096 octets, whatever happens") \
    B(SEGMENTS_CUT,                "segments-cut",                "TCP cuts start-up frames and FPDUs at any octet, 61 octets apart at most") \
    B(FLUSH_OTHERWISE,             "flush-otherwise",             "work that the stream's end completes has an error of another name than flushed") \
    B(LIMITS_FIXED,                "limits-fixed",                "the limit of the start-up exchange cannot be set") \
    /* Start-up frames */ \
    B(REQUEST_CRC_ALWAYS,          "request-crc-always",          "C = 1 in each Request, whatever the ULP wants") \
    B(REPLY_CRC_ALWAYS,            "reply-crc-always",            "C = 1 in each Reply, whatever the ULP wants") \
    B(REQUEST_MARKERS_ALWAYS,      "request-markers-always",      "M = 1 in each Request") \
    B(REPLY_MARKERS_ALWAYS,        "reply-markers-always",        "M = 1 in each Reply") \
    B(REQUEST_PLAIN_REVISION_2,    "request-plain-revision-2",    "a Request without the word has Rev 2") \
    B(REPLY_PLAIN_REVISION_1,      "reply-plain-revision-1",      "the Reply to a Request of Rev 2 without the word has Rev 1") \
    B(REQUEST_LATE,                "request-late",                "a Request goes out a second after it is made") \
    /* Depths and RTR */ \
    B(ORD_ZERO_WAITS,              "ord-zero-waits",              "a Read that is posted at an ORD of 0 is taken, and waits") \
    B(READS_ONE_BY_ONE,            "reads-one-by-one",            "one own Read or atomic at a time is outstanding, whatever ORD is") \
    B(READS_IN_PAIRS,              "reads-in-pairs",              "two own Reads or atomics at a time are outstanding, whatever ORD is") \
    B(REPLY_FLAG_WANTED,           "reply-flag-wanted",           "initiator: a Reply whose A differs from the Request's is closed") \
    B(RTR_READ_NEEDS_ORD,          "rtr-read-needs-ord",          "initiator: at an ORD of 0 a Read is no RTR in common") \
    B(REPLY_IRD_MORE,              "reply-ird-more",              "Reply: IRD is the device's largest") \
    B(REPLY_IRD_AS_ASKED,          "reply-ird-as-asked",          "Reply: IRD is the Request's ORD, and 1 at least") \
    B(REPLY_ORD_LESS,              "reply-ord-less",              "Reply: ORD is 1 at most") \
    B(IRD_NEVER_RAISED,            "ird-never-raised",            "initiator: a Reply with an ORD above the own IRD is refused") \
    B(ORD_NEVER_LOWERED,           "ord-never-lowered",           "initiator: a Reply with an IRD below the own ORD is refused") \
    B(RTR_SEND_FIRST,              "rtr-send-first",              "initiator: the RTR is a Send where it may be one") \
    B(RTR_READ_FIRST,              "rtr-read-first",              "initiator: the RTR is a Read where it may be one") \
    B(RTR_ALL_CONFIRMED,           "rtr-all-confirmed",           "Reply: each RTR that is supported, offered or not") \
    /* What is not taken, where a text leaves it open: defect_judge_variant.c */ \
    B(SINK_WRAP_REFUSED,           "sink-wrap-refused",           "a Read whose SinkTO and size wrap is an error") \
    B(READ_TOP_WRAPS,              "read-top-wraps",              "a Read whose last octet is at TO 2^64 - 1 wraps") \
    B(READ_TOP_BOUNDS,             "read-top-bounds",             "a Read whose last octet is at TO 2^64 - 1 is out of bounds") \
    B(READ_SPLIT_REFUSED,          "read-split-refused",          "a Read Request in two segments is too long a message") \
    B(IMMEDIATE_SPLIT_REFUSED,     "immediate-split-refused",     "Immediate Data in two segments is too long a message") \
    B(EMPTY_INSIDE_REFUSED,        "empty-inside-refused",        "an empty segment of a message that is not empty has an invalid MO") \
    B(RTR_KIND_WANTED,             "rtr-kind-wanted",             "a Request with A = 1 and no kind of RTR is closed") \
    B(OLD_WORD_REFUSED,            "old-word-refused",            "a Request of Rev 1 with S = 1 is closed") \
    B(OLD_WORD_REJECTED,           "old-word-rejected",           "a Request of Rev 1 with S = 1 is answered by R = 1") \
    B(RES_IGNORED,                 "res-ignored",                 "a listener of Rev 1 ignores Res, of which S is a part then, and answers an enhanced Request as one of Rev 1") \
    B(SINK_KEPT,                   "sink-kept",                   "a peer cannot invalidate the sink STag of an open Read") \
    /* FPDUs and segments */ \
    B(ULPDU_OVER_SEGMENTS,         "ulpdu-over-segments",         "a ULPDU beyond MULPDU is taken up to 64768 octets, and goes out over several TCP segments") \
    B(CRC_OFF_OTHER,               "crc-off-other",               "without agreed CRCs the field is 5AA55AA5") \
    B(MARKER_AT_ONCE,              "marker-at-once",              "a Marker that is due after an FPDU goes out with it") \
    B(MULPDU_WITHOUT_OPTIONS,      "mulpdu-without-options",      "MULPDU leaves room for the TCP options of timestamps") \
    B(SEGMENTS_512,                "segments-512",                "segments carry at most 512 octets") \
    B(SEGMENTS_333,                "segments-333",                "segments carry at most 333 octets") \
    B(SEGMENTS_1024_TAGGED,        "segments-1024-tagged",        "tagged segments carry at most 1024 octets") \
    B(SEGMENTS_1024_UNTAGGED,      "segments-1024-untagged",      "untagged segments carry at most 1024 octets") \
    B(SEGMENT_FIRST_1,             "segment-first-1",             "the first of several segments carries 1 octet") \
    B(SEGMENTS_UNEVEN,             "segments-uneven",             "every other segment carries half of what fits") \
    B(SEGMENTS_256,                "segments-256",                "the payload of segments that are not the last is a multiple of 256") \
    B(SEGMENTS_64,                 "segments-64",                 "segments have up to 64 octets of payload") \
    B(SEGMENTS_BACKWARDS,          "segments-backwards",          "segments go out in falling order of TO and MO, as far as L = 1 allows") \
    B(RECEIVES_AWAITED,            "receives-awaited",            "a Send waits for its receive, and all that comes after it") \
    B(READ_PLACES_AWAITED,         "read-places-awaited",         "a request beyond IRD waits until another is answered, and all that comes after it") \
    B(EMPTY_WRITE_ANY,             "empty-write-any",             "a Write of length 0 has STag and TO of all ones") \
    B(EMPTY_READ_ANY,              "empty-read-any",              "a Read of size 0 has SrcSTag and SrcTO of all ones") \
    /* Order and time */ \
    B(RESPONSES_FIRST,             "responses-first",             "responses go before own work that waits") \
    B(OWN_WORK_FIRST,              "own-work-first",              "own work goes before responses that wait") \
    B(REPLY_LATE,                  "reply-late",                  "a Reply goes out a second after it is made") \
    B(RESPONSES_LATE,              "responses-late",              "a response goes out 200 ms after its request") \
    B(SENDS_LATE,                  "sends-late",                  "own work goes out 200 ms after it was posted on an idle stream") \
    B(READS_JUDGED_LATE,           "reads-judged-late",           "what a Read asks for is looked up when its Response is due") \
    B(TERMINATE_LATE,              "terminate-late",              "a Terminate goes out 50 ms after the error") \
    B(TEARDOWN_LATE,               "teardown-late",               "the connection is closed half a second after an error") \
    /* Terminates, and the end */ \
    B(TERMINATE_OPERATION_READ,    "terminate-operation-read",    "an operation error quotes the Read Request Header too") \
    B(TERMINATE_OPERATION_BARE,    "terminate-operation-bare",    "an operation error quotes no headers") \
    B(TERMINATES_BARE,             "terminates-bare",             "no Terminate quotes a header") \
    B(TERMINATE_INVALIDATE_ZEROS,  "terminate-invalidate-zeros",  "an STag that cannot be invalidated: R = 1, and a header of zeros") \
    B(TERMINATE_RDMA_ZEROS,        "terminate-rdma-zeros",        "28 octets of zeros follow a quoted DDP header that no RDMA header follows") \
    B(TERMINATE_FIRST_SEGMENT,     "terminate-first-segment",     "the first segment of a message in several is quoted, with its length") \
    B(TERMINATE_ANSWERED,          "terminate-answered",          "a Terminate of another length than its bits say is answered by a Terminate") \
    B(FENCE_TERMINATES,            "fence-terminates",            "a responder reports a bad first FPDU by a Terminate") \
    B(TERMINATE_ABORTS,            "terminate-aborts",            "the close half a second after a Terminate is a RST") \
    B(TERMINATE_WAITS_FOR_FIN,     "terminate-waits-for-fin",     "after a Terminate the peer closes first") \
    B(TERMINATED_ABORTS,           "terminated-aborts",           "a Terminate that came is answered by a RST") \
    B(FIN_REPORTED,                "fin-reported",                "the close after the peer's FIN begins with a Terminate of the LLP's code 1") \
    B(IMMEDIATE_EVENTS_ALL,        "immediate-events-all",        "RFC 7306: each Immediate Data raises a Solicited Event") \
    B(ATOMIC_SWAP_MASK_ZERO,       "atomic-swap-mask-zero",       "the mask of an own Swap is zero") \
    B(ATOMIC_IDS_FROM_END,         "atomic-ids-from-end",         "Request Identifiers begin with FFFFFFFF") \
    B(ATOMIC_IDS_SAME,             "atomic-ids-same",             "each Request Identifier is 7")
/* clang-format on */

#endif
