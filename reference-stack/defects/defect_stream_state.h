/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Faults that one stream alone does not show: what a stream takes from another stream of its device, which is still
 * open or has ended (RFC 5041 1.2, RFC 5040 6.2, RFC 5044 7.1, RFC 6581 9). Part of the list in defect_internal.h.
 */
#ifndef REFERENCE_STACK_DEFECT_STREAM_STATE_H
#define REFERENCE_STACK_DEFECT_STREAM_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ddp_segment;
struct iwarp_stream;
struct iwarp_mpa_start;
struct outgoing;
struct terminate;
struct validation_outcome;
struct validation_subject;

/* For the number, decision or operation of that name in core/faults.h and mpa/mpa_faults.h (defect_stream_state.c). */
void state_stream_begins(struct iwarp_stream *stream);
void state_stream_established(struct iwarp_stream *stream);
void state_stream_over(const struct iwarp_stream *stream);
void state_stream_turn(struct iwarp_stream *stream);
void state_stream_input(struct iwarp_stream *stream);
size_t state_stream_mulpdu(const struct iwarp_stream *stream, size_t mulpdu);
void state_stream_depths(struct iwarp_stream *stream);
void state_stream_framing(struct iwarp_stream *stream);
size_t state_stream_start(const struct iwarp_stream *stream, const struct iwarp_mpa_start *start, uint8_t *octets,
                          size_t count);
void state_stream_reported(const struct iwarp_stream *stream, struct iwarp_mpa_start *start);
void state_stream_asked(const struct iwarp_stream *stream, struct iwarp_mpa_start *start);
bool state_stream_buffer(const struct iwarp_stream *stream);
void state_stream_header(const struct iwarp_stream *stream, struct outgoing *outgoing);
void state_stream_fails(const struct iwarp_stream *stream, struct validation_outcome *outcome);
void state_stream_terminate(const struct iwarp_stream *stream, const struct ddp_segment *segment,
                            struct terminate *terminate);
bool state_stream_bound(const struct validation_subject *subject);

/* clang-format off */
#define DEFECT_BEHAVIOURS_STREAM_STATE(B) \
    /* With another open stream */ \
    B(CRC_OF_LAST,                 "crc-of-last",                 "each stream uses CRCs as the one that was established last does") \
    B(MARKERS_SENT_OF_LAST,        "markers-sent-of-last",        "each stream sends Markers as the one that was established last does") \
    B(MARKERS_READ_OF_LAST,        "markers-read-of-last",        "each stream reads Markers as the one that was established last does") \
    B(MULPDU_OF_LAST,              "mulpdu-of-last",              "each stream has the MULPDU of the one that was established last") \
    B(VERSION_OF_LAST,             "version-of-last",             "each stream has the versions of DDP and RDMAP of the one that was established last") \
    B(IRD_OF_LAST,                 "ird-of-last",                 "each stream has the IRD of the one that was established last") \
    B(ORD_OF_LAST,                 "ord-of-last",                 "each stream has the ORD of the one that was established last") \
    B(DOMAIN_OF_LAST,              "domain-of-last",              "each stream has the Protection Domain of the one that was established last") \
    B(READ_MSN_OF_DEVICE,          "read-msn-of-device",          "the MSN of Read and Atomic Requests counts those of all streams of the device") \
    B(RESPONSE_MSN_OF_DEVICE,      "response-msn-of-device",      "the MSN of Atomic Responses counts those of all streams of the device") \
    B(ERROR_RESETS_OLDEST,         "error-resets-oldest",         "an error on one stream resets the device's oldest one, too") \
    /* After another stream: its start-up frames */ \
    B(REPLY_PRIVATE_STAYS,         "reply-private-stays",         "a Reply has the end of the Private Data of a longer one before") \
    B(REQUEST_PRIVATE_STAYS,       "request-private-stays",       "a Request has the end of the Private Data of a longer one before") \
    B(TOLD_PRIVATE_STAYS,          "told-private-stays",          "the ULP is told of as many octets of Private Data as the longest had before") \
    B(ASKED_PRIVATE_STAYS,         "asked-private-stays",         "a ULP that is asked about a Request without Private Data gets that of the one before") \
    B(ASKED_PRIVATE_WORDS,         "asked-private-words",         "a ULP that is asked about a Request gets its Private Data in whole words of four octets") \
    B(ASKED_PRIVATE_508,           "asked-private-508",           "a ULP that is asked about a Request gets 508 octets of Private Data at most, word or not") \
    B(PEER_PORT_STAYS,             "peer-port-stays",             "the ULP is told of the port that the peer of the connection before has") \
    B(PEER_PORT_SWAPPED,           "peer-port-swapped",           "the ULP is told of the peer's port with its two octets exchanged") \
    B(PEER_ADDRESS_CUT,            "peer-address-cut",            "the ULP is told of the peer's address without its last number") \
    B(ENDS_EXCHANGED,              "ends-exchanged",              "the ULP is told of its own end of the connection as the peer's, and of the peer's as its own") \
    B(TOLD_DEPTHS_STAY,            "told-depths-stay",            "the ULP is told of the depths that the enhanced frame before had") \
    B(REPLY_ENHANCED_STAYS,        "reply-enhanced-stays",        "after an enhanced Reply each later one has S = 1") \
    B(REPLY_DEPTHS_STAY,           "reply-depths-stay",           "a Reply has IRD and ORD of the enhanced one before") \
    B(REPLY_RTR_STAYS,             "reply-rtr-stays",             "a Reply has A and the RTR messages of the enhanced one before") \
    B(REPLY_REJECTED_STAYS,        "reply-rejected-stays",        "after a Reply with R = 1 the next one has it, too") \
    B(REPLY_REVISION_STAYS,        "reply-revision-stays",        "each Reply has the Rev of the device's first") \
    B(START_M_STAYS,               "start-m-stays",               "each start-up frame has the M of the device's first") \
    B(START_C_STAYS,               "start-c-stays",               "each start-up frame has the C of the device's first") \
    /* After another stream, which is over */ \
    B(STREAM_IRD_STAYS,            "stream-ird-stays",            "a stream has the IRD of the one that ended before") \
    B(STREAM_ORD_STAYS,            "stream-ord-stays",            "a stream has the ORD of the one that ended before") \
    B(STREAM_CRC_STAYS,            "stream-crc-stays",            "a stream uses CRCs as the one that ended before did") \
    B(STREAM_MARKERS_STAY,         "stream-markers-stay",         "a stream sends Markers as the one that ended before did") \
    B(STREAM_POSITION_STAYS,       "stream-position-stays",       "the place of the first Marker sent is counted on from the stream that ended before") \
    B(STREAM_READ_POSITION_STAYS,  "stream-read-position-stays",  "the place of the first Marker read is counted on from the stream that ended before") \
    B(STREAM_MSN_STAYS,            "stream-msn-stays",            "the MSN that is due from the peer is that of the stream that ended before") \
    B(STREAM_NEXT_MSN_STAYS,       "stream-next-msn-stays",       "the own MSN goes on where the stream that ended before had come to") \
    B(STREAM_PARTIAL_STAYS,        "stream-partial-stays",        "the part of an FPDU that a stream ended in is the beginning of the next stream's first one") \
    B(STREAM_READ_STAYS,           "stream-read-stays",           "a Read that was not answered when its stream ended is answered on the next one") \
    B(STREAM_RECEIVE_STAYS,        "stream-receive-stays",        "a receive that a stream left behind counts as one of the next stream's that is used up") \
    B(STREAM_MEMORY_STAYS,         "stream-memory-stays",         "memory of a stream that is over is that of any later stream") \
    B(ERROR_TRIPLE_STAYS,          "error-triple-stays",          "each Terminate has the error of the device's first") \
    B(ERROR_HEADER_STAYS,          "error-header-stays",          "each Terminate quotes the DDP header of the device's first of that length")
/* clang-format on */

#endif
