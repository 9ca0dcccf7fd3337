/* SPDX-License-Identifier: BSD-2-Clause */
/* Deliberate faults of RDMAP, and of what streams of one device share: part of the list in defect_internal.h. */
#ifndef REFERENCE_STACK_DEFECT_RDMAP_H
#define REFERENCE_STACK_DEFECT_RDMAP_H

/* clang-format off */
#define DEFECT_BEHAVIOURS_RDMAP(B) \
    /* Headers and messages sent */ \
    B(CONTROLS_SWAPPED,            "controls-swapped",            "RDMAP's control octet stands before DDP's") \
    B(CONTROL_LATER,               "control-later",               "RDMAP's control octet stands second in RsvdULP of untagged segments") \
    B(TAGGED_HEADER_LONG,          "tagged-header-long",          "tagged segments have 4 more octets of RsvdULP") \
    B(SEND_LENGTH_WORD,            "send-length-word",            "its length stands before the payload of a Send") \
    B(READ_REQUEST_PADDED,         "read-request-padded",         "4 octets of zero follow the Read Request Header") \
    B(READ_REQUEST_SECOND,         "read-request-second",         "a waiting Read of another source is appended to the Read Request Header") \
    B(WRITE_SPLIT,                 "write-split",                 "a Write of more than 64 KiB has L = 1 at each 64 KiB") \
    B(SENDS_JOINED,                "sends-joined",                "of two waiting Sends the first has L = 0, and the second is its rest") \
    B(GATHER_SPLIT,                "gather-split",                "each piece of a gather list is a message of its own") \
    B(MSN_OF_DEVICE,               "msn-of-device",               "the MSN of Sends counts those of all streams of the device") \
    B(SHORT_FIRST,                 "short-first",                 "of two waiting Writes, or Sends, the shorter goes first") \
    B(READS_FIRST,                 "reads-first",                 "an own Read goes before Writes and Sends that wait") \
    B(READS_LAST_FIRST,            "reads-last-first",            "of several waiting own Reads the last posted goes first") \
    B(FENCE_IGNORED,               "fence-ignored",               "a fence of the ULP's is not looked at") \
    B(FENCE_OF_WRITES_IGNORED,     "fence-of-writes-ignored",     "a fence of the ULP's holds back Sends alone") \
    B(FENCE_LIFTED_EARLY,          "fence-lifted-early",          "the first of several Read Responses lifts a fence") \
    B(LENGTH_WRAPS,                "length-wraps",                "the length of posted work is cut to 32 bits") \
    B(OPCODE_UNCHECKED,            "opcode-unchecked",            "the ULP may post a Send of any opcode") \
    B(SINK_UNCHECKED,              "sink-unchecked",              "an own Read is posted whatever its sink is") \
    /* Read Requests served */ \
    B(READ_NEEDS_RECEIVE,          "read-needs-receive",          "Read Responses wait until the ULP has a receive posted") \
    B(READ_TAKES_RECEIVE,          "read-takes-receive",          "a Read Request is delivered to a posted receive") \
    B(READ_SPLIT_HEADER,           "read-split-header",           "the second segment of a Read Request is taken for its header") \
    B(READS_HALF,                  "reads-half",                  "half of the agreed Read Requests are served at once") \
    B(IRD_ONE_MORE,                "ird-one-more",                "one Read Request more than IRD is served") \
    B(READS_ROUNDED,               "reads-rounded",               "as many Read Requests are served at once as the next power of two of IRD") \
    B(FIRST_READ_FREE,             "first-read-free",             "where IRD is 0 one Read Request is served all the same") \
    B(READS_POOLED,                "reads-pooled",                "all streams of the device share the Read Requests that one may have open") \
    B(READ_SLOT_LATE,              "read-slot-late",              "the place of a Read Request is free 200 ms after its response") \
    B(READS_LEAK,                  "reads-leak",                  "a reset leaves the places of open Read Requests taken, for all streams") \
    B(OWN_READS_LEAK,              "own-reads-leak",              "own Reads that were open when a stream ended in error count against ORD of all later ones") \
    B(TERMINATES_COUNTED,          "terminates-counted",          "after a stream that failed a Terminate of a later one has to have another MSN than 1") \
    B(ORD_ONE_MORE,                "ord-one-more",                "one own Read more than ORD is outstanding") \
    B(ORD_ROUNDED,                 "ord-rounded",                 "as many own Reads are outstanding as the next power of two of ORD") \
    B(ORD_ZERO_FREE,               "ord-zero-free",               "an ORD of 0 sets no limit") \
    B(RESPONSE_BEHIND_WORK,        "response-behind-work",        "Read Responses wait while own work waits for ORD") \
    B(RESPONSE_ELSEWHERE,          "response-elsewhere",          "Read Responses go out on the oldest stream of the device") \
    B(RESPONSE_GIVEN_UP,           "response-given-up",           "a Read Response that could not go on for a second is given up") \
    B(EMPTY_RESPONSE_STALE,        "empty-response-stale",        "an empty Read Response has the STag and TO of the source") \
    B(LATE_SINK_STAG,              "late-sink-stag",              "a Read that fails midway: SinkSTag comes back as SrcSTag") \
    B(LATE_SINK_TO,                "late-sink-to",                "a Read that fails midway: SinkTO comes back as it was") \
    B(LATE_SINK_CARRY,             "late-sink-carry",             "a Read that fails midway: the carry out of SinkTO's low half is lost") \
    B(LATE_SOURCE_CARRY,           "late-source-carry",           "a Read that fails midway: the carry out of SrcTO's low half is lost") \
    B(SOURCE_CARRY,                "source-carry",                "behind a multiple of 2^32 a Read Response goes on with the Read's first octets") \
    B(LATE_SIZE,                   "late-size",                   "a Read that fails midway: RDMARDSZ is what was sent already") \
    B(LATE_SOURCE_STAG,            "late-source-stag",            "a Read that fails midway: SrcSTag comes back as 0") \
    B(LATE_SOURCE_TO,              "late-source-to",              "a Read that fails midway: SrcTO comes back as it was") \
    /* Delivery and completion */ \
    B(T_BY_OPCODE,                 "t-by-opcode",                 "the opcode says which DDP header a segment has, whatever its T bit says") \
    B(SINK_RIGHT_IGNORED,          "sink-right-ignored",          "a Read may be posted, and is served, whatever the rights of its sink are") \
    B(SINK_AT_BASE,                "sink-at-base",                "Read Responses are placed at the region's base") \
    B(EMPTY_SEND_UNBUFFERED,       "empty-send-unbuffered",       "an empty Send without a receive is counted, and forgotten") \
    B(INVALIDATED_UNTOLD,          "invalidated-untold",          "a delivery does not say which STag was invalidated") \
    B(EARLY_READ_DONE,             "early-read-done",             "an own Read completes when the end of its response is placed, whatever is missing before") \
    B(READ_DONE_HELD,              "read-done-held",              "an own Read completes with the next message that comes in") \
    B(READS_DONE_SWAPPED,          "reads-done-swapped",          "of two Reads whose completion waits for the ULP the later comes first") \
    B(WRITE_DONE_UNTOLD,           "write-done-untold",           "Writes complete without a word") \
    B(DONE_WHEN_POSTED,            "done-when-posted",            "Sends and Writes complete when they are posted") \
    B(FLUSH_FORGETS,               "flush-forgets",               "work that was not begun is dropped without a completion") \
    B(FLUSH_READS_DONE,            "flush-reads-done",            "the end of a stream completes open Reads as good") \
    /* Terminates and the end */ \
    B(TERMINATE_LAST,              "terminate-last",              "a Terminate goes out after all that was posted or asked for before") \
    B(TERMINATE_CUTS_FPDU,         "terminate-cuts-fpdu",         "a Terminate begins in the middle of an FPDU") \
    B(TERMINATE_CODE_CHECKED,      "terminate-code-checked",      "a Terminate 0/0 whose code is not 0 is an error") \
    B(TERMINATE_SEGMENTS_MIXED,    "terminate-segments-mixed",    "the first segment's header is quoted, and the length of the failing one") \
    B(TERMINATE_OPERATION_ZEROED,  "terminate-operation-zeroed",  "an operation error of a Read Request quotes a header of zeros") \
    B(TERMINATE_CATASTROPHE_QUOTES, "terminate-catastrophe-quotes", "a Terminate for a local catastrophe has M = D = 1, and a header of zeros") \
    B(RESPONSE_OVERTAKES_LARGE,    "response-overtakes-large",    "a Read Response goes before one of more than 64 KiB that waits") \
    B(IMMEDIATE_OVERTAKES,         "immediate-overtakes",         "Immediate Data is delivered before the message that came right before it") \
    B(TERMINATE_PLACES_ON,         "terminate-places-on",         "a Write after the peer's Terminate is placed") \
    B(FAULT_ON_ONE,                "fault-on-one",                "a fault of the whole device is told on its newest stream alone") \
    /* What streams share */ \
    B(QUEUE_OVERFLOW_ALL,          "queue-overflow-all",          "the overflow of one completion queue ends all streams") \
    B(QUEUE_OVERWRITES,            "queue-overwrites",            "a full completion queue takes room from another one") \
    B(STAG_STEPS,                  "stag-steps",                  "each STag is the one before and 0x100") \
    B(STAG_RESTARTS,               "stag-restarts",               "after each start of the device its STags come again in the same order") \
    B(STAG_SMALL,                  "stag-small",                  "all STags are below 0x10000") \
    B(RIGHTS_IGNORED,              "rights-ignored",              "memory is registered with both remote rights, whatever was asked for")
/* clang-format on */

#endif
