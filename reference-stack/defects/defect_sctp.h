/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Deliberate faults of the adaptation to SCTP (RFC 5043, draft-stewart-rddp-sctp-02): part of the list in
 * defect_internal.h.
 */
#ifndef REFERENCE_STACK_DEFECT_SCTP_H
#define REFERENCE_STACK_DEFECT_SCTP_H

/* clang-format off */
#define DEFECT_BEHAVIOURS_SCTP(B) \
    /* Association */ \
    B(SCTP_INDICATION_MISSING,     "sctp-indication-missing",     "INIT and INIT-ACK have no adaptation indication") \
    B(SCTP_INDICATION_OTHER,       "sctp-indication-other",       "the indication is the other profile's") \
    B(SCTP_INDICATION_SWAPPED,     "sctp-indication-swapped",     "the indication has its octets reversed") \
    B(SCTP_STREAMS_UNEQUAL,        "sctp-streams-unequal",        "one stream outbound is asked for, and 65535 inbound") \
    B(SCTP_ADDRESSES_LISTED,       "sctp-addresses-listed",       "INIT and INIT-ACK list two more addresses") \
    B(SCTP_SACK_WITHHELD,          "sctp-sack-withheld",          "a SACK is sent beside other chunks alone") \
    B(SCTP_ABORT_WITHHELD,         "sctp-abort-withheld",         "no ABORT is sent") \
    B(SCTP_MODE_ANY,               "sctp-mode-any",               "an association is for RDMA whatever the peer indicates") \
    B(SCTP_ERROR_SPREADS,          "sctp-error-spreads",          "an error of one stream aborts the association") \
    B(SCTP_DOWN_UNTOLD,            "sctp-down-untold",            "one stream alone is told that the association has ended") \
    B(SCTP_ABORT_TOLD,             "sctp-abort-told",             "before the association is aborted each stream sends its Terminate") \
    /* Messages sent */ \
    B(SCTP_ORDERED,                "sctp-ordered",                "all messages are sent ordered") \
    B(SCTP_CONTROL_ORDERED,        "sctp-control-ordered",        "control messages are sent ordered") \
    B(SCTP_PPID_SWAPPED,           "sctp-ppid-swapped",           "the PPID has its octets reversed") \
    B(SCTP_PPID_OTHER,             "sctp-ppid-other",             "the PPIDs are the other profile's") \
    B(SCTP_PPID_LATER,             "sctp-ppid-later",             "the second segment of a stream has PPID 0") \
    B(SCTP_ANSWER_SID_0,           "sctp-answer-sid-0",           "the passive side sends everything on SID 0") \
    B(SCTP_SEGMENT_ELSEWHERE,      "sctp-segment-elsewhere",      "the third message of a session goes out on the SID after its own") \
    B(SCTP_SSN_SHARED,             "sctp-ssn-shared",             "all streams of an association share one row of DDP-SSNs") \
    B(SCTP_SSN_CONTINUES,          "sctp-ssn-continues",          "a session goes on with the DDP-SSNs of the one before") \
    B(SCTP_SSN_FIRST,              "sctp-ssn-first",              "the first DDP-SSN is the other profile's") \
    B(SCTP_SSN_WRAP,               "sctp-ssn-wrap",               "after DDP-SSN 65535 comes 1") \
    B(SCTP_CONTROL_UNCOUNTED,      "sctp-control-uncounted",      "control messages use up no DDP-SSN") \
    B(SCTP_SSN_BEHIND,             "sctp-ssn-behind",             "the DDP-SSN stands after the segment") \
    B(SCTP_SEGMENT_PADDED,         "sctp-segment-padded",         "two octets of pad stand between DDP-SSN and segment") \
    B(SCTP_OUTSTANDING_UNLIMITED,  "sctp-outstanding-unlimited",  "any number of messages of a SID is sent without acknowledgement") \
    B(SCTP_SEGMENT_FILLS,          "sctp-segment-fills",          "the longest segment leaves no room for a SACK") \
    B(SCTP_SEGMENT_LONG,           "sctp-segment-long",           "segments of up to 64 KiB are left to SCTP to cut") \
    /* Sessions, sending side */ \
    B(SCTP_CONTROL_OVERTAKES,      "sctp-control-overtakes",      "a Terminate does not wait for the acknowledgement of the control message before it") \
    B(SCTP_SEGMENTS_AT_ONCE,       "sctp-segments-at-once",       "the active side sends segments right after its Initiate") \
    B(SCTP_SID_REUSED,             "sctp-sid-reused",             "a SID is used again while messages of the last session are outstanding") \
    B(SCTP_PRIVATE_LOST,           "sctp-private-lost",           "control messages have no Private Data of the ULP") \
    B(SCTP_TERMINATE_REASON,       "sctp-terminate-reason",       "a word with a reason follows the Function Code of a Terminate") \
    B(SCTP_CODE_32_BITS,           "sctp-code-32-bits",           "the Function Code has 32 bits and no DDP-SSN before it") \
    B(SCTP_ANSWERS_SWAPPED,        "sctp-answers-swapped",        "the codes of Accept and Reject are exchanged") \
    B(SCTP_WORD_BEHIND,            "sctp-word-behind",            "the enhanced word stands after the ULP's Private Data") \
    B(SCTP_WORD_WITHOUT_ORD,       "sctp-word-without-ord",       "the enhanced word has an ORD of 0") \
    B(SCTP_WORD_KINDS_SWAPPED,     "sctp-word-kinds-swapped",     "a Send as RTR is asked for as a Read, and the other way round") \
    B(SCTP_PRIVATE_LONG,           "sctp-private-long",           "508 octets of Private Data and more become four longer") \
    B(SCTP_REJECT_TERMINATES,      "sctp-reject-terminates",      "a Reject of the ULP's goes out as a Terminate") \
    B(SCTP_RTR_REJECTS_PLAIN,      "sctp-rtr-rejects-plain",      "without an RTR message in common the answer is a plain Reject") \
    B(SCTP_ANSWER_PLAIN,           "sctp-answer-plain",           "an enhanced Initiate is answered by plain codes") \
    B(SCTP_ACCEPT_AT_ONCE,         "sctp-accept-at-once",         "an Initiate is accepted before the ULP has decided") \
    B(SCTP_CLOSE_SILENT,           "sctp-close-silent",           "a session ends without a Terminate") \
    B(SCTP_OVERLOAD_REJECTS,       "sctp-overload-rejects",       "requests beyond the limit get a Reject") \
    B(SCTP_OVERLOAD_SILENT,        "sctp-overload-silent",        "requests beyond the limit get no answer") \
    B(SCTP_PENDING_UNLIMITED,      "sctp-pending-unlimited",      "any number of requests waits for the ULP") \
    /* Sessions, receiving side */ \
    B(SCTP_ORDER_ARRIVAL,          "sctp-order-arrival",          "messages are delivered in the order of arrival") \
    B(SCTP_FIRST_DROPPED,          "sctp-first-dropped",          "a segment that comes before the own first one is dropped") \
    B(SCTP_SSN_UNSIGNED,           "sctp-ssn-unsigned",           "DDP-SSNs are compared as if they never wrapped") \
    B(SCTP_DUPLICATE_TAKEN,        "sctp-duplicate-taken",        "a message whose DDP-SSN came before is taken again") \
    B(SCTP_PRIVATE_CUT,            "sctp-private-cut",            "the ULP gets 256 octets of Private Data at most") \
    B(SCTP_CONTROL_UNTOLD,         "sctp-control-untold",         "the ULP is not told of control messages") \
    /* The draft */ \
    B(SCTP_ABORTED_TAKEN,          "sctp-aborted-taken",          "draft: what comes on an aborted stream is taken") \
    B(SCTP_RESET_LONG,             "sctp-reset-long",             "draft: a Stream Reset has a data word") \
    B(SCTP_RESET_PPID,             "sctp-reset-ppid",             "draft: a Stream Reset has PPID 3") \
    B(SCTP_RESET_IGNORED,          "sctp-reset-ignored",          "draft: a Stream Reset that comes changes nothing") \
    B(SCTP_LOWEST_SID,             "sctp-lowest-sid",             "the lowest SID that is free is taken, used before or not")
/* clang-format on */

#endif
