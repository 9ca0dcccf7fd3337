/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Deliberate faults of DDP at the source, at its LLP and at the end of streams: part of the list in defect_internal.h.
 */
#ifndef REFERENCE_STACK_DEFECT_DDP_H
#define REFERENCE_STACK_DEFECT_DDP_H

/* clang-format off */
#define DEFECT_BEHAVIOURS_DDP(B) \
    /* The source */ \
    B(NEXT_HEADER,                 "next-header",                 "the last segment of a message has the header fields of what waits after it") \
    B(CONTROL_REVERSED,            "control-bits-reversed",       "the DDP control octet of Sends and Writes has its bits in reverse order") \
    B(ODD_OCTET_DROPPED,           "odd-octet-dropped",           "a Send or Write of an odd length is sent without its last octet") \
    B(EMPTY_CONTROL_ZERO,          "empty-control-zero",          "the DDP control octet of a segment without payload is 0") \
    B(SENDS_FIRST,                 "sends-first",                 "a Send goes out before Writes posted earlier") \
    B(HEADER_20,                   "header-20",                   "20 octets are reckoned for a DDP header, tagged or not") \
    B(WRITE_WITHOUT_STAG,          "write-without-stag",          "a Write without an STag is taken, and goes to STag 0") \
    B(WRITE_TO_48_BITS,            "write-to-48-bits",            "the TO of own Writes has 48 bits") \
    B(MSN_WRAPS_TO_1,              "msn-wraps-to-1",              "the MSN after 0xFFFFFFFF is 1") \
    B(FPDU_AGAIN,                  "fpdu-again",                  "the third FPDU of a stream is handed to DDP twice") \
    B(FPDU_LOST,                   "fpdu-lost",                   "the third DDP Segment of a stream is never sent") \
    B(EMSS_FAILS_WORK,             "emss-fails-work",             "what is on its way when EMSS shrinks fails") \
    /* The sink */ \
    B(STAG_UNTOLD,                 "stag-untold",                 "a tagged message is delivered with STag 0") \
    B(OVERRUN_SWALLOWED,           "overrun-swallowed",           "a Send that finds no receive is taken and thrown away") \
    B(BOUNDS_KEPT,                 "bounds-kept",                 "a region keeps the range that it was registered with") \
    B(MSN_EXPECTED_1,              "msn-expected-1",              "the sink waits for MSN 1 after MSN 0xFFFFFFFF") \
    B(EARLY_IN_FRONT,              "early-in-front",              "a Send that comes before its turn also changes the octets in front of its receive") \
    B(WRITE_BY_ATOMIC,             "write-by-atomic",             "the right to atomics is a right to Writes, too") \
    B(MO_16_BITS,                  "mo-16-bits",                  "untagged payload goes to the place that the low half of MO names") \
    B(EARLY_BEYOND,                "early-beyond",                "a Send that comes before its turn is placed though it is longer than its receive") \
    B(EARLY_UNCHECKED,             "early-unchecked",             "a Write that comes before its turn is placed whatever the rights of its STag") \
    B(SE_INVALIDATE_UNSOLICITED,   "se-invalidate-unsolicited",   "a Send with Solicited Event and Invalidate is delivered without a Solicited Event") \
    B(SE_EMPTY_UNSOLICITED,        "se-empty-unsolicited",        "a Send with Solicited Event that has no payload is delivered without a Solicited Event") \
    B(SE_LONG_UNSOLICITED,         "se-long-unsolicited",         "a Send with Solicited Event of several segments is delivered without a Solicited Event") \
    B(DEREG_NOTHING,               "dereg-nothing",               "an STag that is given up stays") \
    /* Events for the ULP */ \
    B(ERROR_UNLABELLED,            "error-unlabelled",            "the LLP stream is not labelled erroneous") \
    B(ERROR_WITHOUT_NUMBERS,       "error-without-numbers",       "errors are told without layer, type and code") \
    B(FAULT_UNCOUNTED,             "fault-uncounted",             "a missing buffer is no system fault") \
    B(FIN_AS_LOST,                 "fin-as-lost",                 "the peer's FIN is told as a lost connection") \
    B(CLOSED_UNTOLD,               "closed-untold",               "the end of the connection is not told") \
    B(RECEIVE_LAST_UNFLUSHED,      "receive-last-unflushed",      "after a Send has come, the receive that was posted last is dropped without completion") \
    B(RECEIVES_UNFLUSHED,          "receives-unflushed",          "posted receives are dropped without completion") \
    /* The end */ \
    B(TEARDOWN_AT_ONCE,            "teardown-at-once",            "the connection is closed after an error, whatever the ULP does") \
    B(CLOSE_DROPS_WORK,            "close-drops-work",            "a graceful close drops what is posted") \
    B(CLOSE_RESETS,                "close-resets",                "a graceful close is a reset") \
    B(CLOSE_STOPS_RECEIVING,       "close-stops-receiving",       "what comes after the own FIN is thrown away") \
    B(SECOND_HALF_RESETS,          "second-half-resets",          "the close of the second half is a reset") \
    B(POST_WHILE_CLOSING,          "post-while-closing",          "work is taken after a graceful close, and dropped") \
    B(CLOSE_NOT_AT_ALL,            "close-not-at-all",            "after a Terminate the connection stays open, even when the peer closes") \
    B(FIN_FLUSHES,                 "fin-flushes",                 "the peer's FIN drops what was to be sent") \
    B(FIN_ENDS_POSTING,            "fin-ends-posting",            "after the peer's FIN no work can be posted") \
    B(FIN_RESPONSE_STALE,          "fin-response-stale",          "after the peer's FIN each segment of a Read Response has the first one's octets") \
    B(PLACE_AFTER_ERROR,           "place-after-error",           "of a segment that begins before its buffer the rest is placed, and then the error is told") \
    B(LATE_SEGMENT_TAKEN,          "late-segment-taken",          "segments after the peer's FIN are placed and delivered") \
    B(CATASTROPHE_RESETS,          "catastrophe-resets",          "a local catastrophic error is a reset") \
    B(CATASTROPHE_TYPE_1,          "catastrophe-type-1",          "a local catastrophic error of DDP is told with type 1") \
    B(MAPPING_UNCHECKED,           "mapping-unchecked",           "memory is registered for writing that its ULP may read alone") \
    B(HIDDEN_TAKEN,                "hidden-taken",                "memory is registered that its ULP does not have") \
    B(CATASTROPHE_QUOTES,          "catastrophe-quotes",          "a local catastrophic error quotes a DDP header") \
    /* Atomics */ \
    B(ATOMIC_SWAP_HOST_ORDER,      "atomic-swap-host-order",      "Swap Data goes into memory with its octets reversed") \
    B(ATOMIC_ON_ARRIVAL,           "atomic-on-arrival",           "an atomic is executed when it comes, whatever waits before it")
/* clang-format on */

#endif
