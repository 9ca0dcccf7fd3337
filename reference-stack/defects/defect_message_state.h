/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Faults that the first message of a stream does not show: what it leaves to the next one, what is counted, and in how
 * many bits (RFC 5041 4.3, 5.3, RFC 5040 5, 6.1, RFC 7306 5). Part of the list in defect_internal.h.
 */
#ifndef REFERENCE_STACK_DEFECT_MESSAGE_STATE_H
#define REFERENCE_STACK_DEFECT_MESSAGE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inbound_request;
struct iwarp_event;
struct iwarp_region;
struct iwarp_stream;
struct outgoing;
struct placement;
struct send_work;
struct validation_subject;

/* For the number, decision or operation of that name in core/faults.h (defect_message_state.c). */
void state_message_header(struct iwarp_stream *stream, struct outgoing *outgoing);
void state_message_event(struct iwarp_stream *stream, struct iwarp_event *event);
uint32_t state_message_msn(const struct iwarp_stream *stream, uint32_t next);
void state_message_posted(struct iwarp_stream *stream);
bool state_message_turn(const struct iwarp_stream *stream, const struct send_work *work);
size_t state_message_uncounted(const struct iwarp_stream *stream);
void state_message_response_sent(struct iwarp_stream *stream, const struct inbound_request *request);
void state_message_placed(const struct iwarp_stream *stream, const struct validation_subject *subject,
                          const struct placement *place);
const struct inbound_request *state_message_quoted(const struct iwarp_stream *stream,
                                                   const struct inbound_request *oldest);
bool state_message_rtr(const struct iwarp_stream *stream);
const uint8_t *state_message_source(const struct iwarp_stream *stream, const struct inbound_request *request,
                                    const struct iwarp_region *region, const uint8_t *source);
bool state_response_later(const struct validation_subject *subject);

/* clang-format off */
#define DEFECT_BEHAVIOURS_MESSAGE_STATE(B) \
    /* The message before, as it was sent */ \
    B(MO_GOES_ON,                  "mo-goes-on",                  "MO of a Send is counted on from the end of the one before") \
    B(LAST_STAYS,                  "last-stays",                  "the first segment of a message has the L bit of the message before") \
    B(SOLICITED_SENT_STAYS,        "solicited-sent-stays",        "a plain Send after one with Solicited Event is sent as such, too") \
    B(INVALIDATE_STAYS,            "invalidate-stays",            "a plain Send has the STag of the Send with Invalidate before") \
    B(WRITE_STAG_STAYS,            "write-stag-stays",            "each Write has the STag of the stream's first") \
    B(WRITE_TO_STAYS,              "write-to-stays",              "each Write has the high half of the first one's TO") \
    B(IMMEDIATE_STAYS,             "immediate-stays",             "Immediate Data is that of the message before") \
    B(RESPONSE_SINK_STAYS,         "response-sink-stays",         "a Read Response has the SinkSTag of the stream's first Read") \
    B(RESPONSE_TO_STAYS,           "response-to-stays",           "a Read Response has the SinkTO of the Read before") \
    B(RESPONSE_ID_STAYS,           "response-id-stays",           "an Atomic Response has the Request Identifier of the stream's first") \
    /* The message before, as it came */ \
    B(LENGTH_STAYS,                "length-stays",                "the ULP is told of as many octets as the longest Send had before") \
    B(SOLICITED_STAYS,             "solicited-stays",             "after a Send with Solicited Event each one is delivered as such") \
    B(INVALIDATED_STAYS,           "invalidated-stays",           "the ULP is told of the STag that was invalidated first") \
    B(VALUE_STAYS,                 "value-stays",                 "an own atomic completes with the value of the one before") \
    /* Counters */ \
    B(SEND_MSN_8_BITS,             "send-msn-8-bits",             "the MSN of own Sends has 8 bits") \
    B(SEND_MSN_16_BITS,            "send-msn-16-bits",            "the MSN of own Sends has 16 bits") \
    B(SEND_MSN_24_BITS,            "send-msn-24-bits",            "the MSN of own Sends has 24 bits") \
    B(READ_MSN_8_BITS,             "read-msn-8-bits",             "the MSN of own Read and Atomic Requests has 8 bits") \
    B(RESPONSE_MSN_8_BITS,         "response-msn-8-bits",         "the MSN of Atomic Responses has 8 bits") \
    B(SEND_DUE_8_BITS,             "send-due-8-bits",             "the MSN that is due of Sends has 8 bits") \
    B(SEND_DUE_16_BITS,            "send-due-16-bits",            "the MSN that is due of Sends has 16 bits") \
    B(SEND_DUE_24_BITS,            "send-due-24-bits",            "the MSN that is due of Sends has 24 bits") \
    B(READ_DUE_8_BITS,             "read-due-8-bits",             "the MSN that is due of Read and Atomic Requests has 8 bits") \
    B(RESPONSE_DUE_8_BITS,         "response-due-8-bits",         "the MSN that is due of Atomic Responses has 8 bits") \
    /* Depths */ \
    B(EMPTY_READS_UNCOUNTED,       "empty-reads-uncounted",       "Read Requests of size 0 are not held against IRD") \
    B(OWN_EMPTY_READS_UNCOUNTED,   "own-empty-reads-uncounted",   "own Reads of size 0 are not held against ORD") \
    B(ATOMIC_FREES_TWO,            "atomic-frees-two",            "an Atomic Response that comes frees two places of ORD") \
    B(ATOMIC_SENT_FREES_TWO,       "atomic-sent-frees-two",       "an Atomic Response that is sent frees two places of IRD") \
    B(READ_FREED_EARLY,            "read-freed-early",            "the first segment of a Read Response frees the place of ORD") \
    B(READS_BEFORE_REPLY,          "reads-before-reply",          "Reads that were posted before the Reply came go out whatever it says") \
    /* Several that wait */ \
    B(TERMINATE_QUOTES_NEWEST,     "terminate-quotes-newest",     "a Read that fails midway: the newest Read Request that waits is quoted") \
    B(RTR_LEFT_OUT,                "rtr-left-out",                "initiator: no RTR Read where the ULP has posted a Read") \
    /* Memory next to a buffer */ \
    B(WRITE_BEHIND,                "write-behind",                "a Write to the first octet of a region changes the octets behind the region") \
    B(WRITE_IN_FRONT,              "write-in-front",              "a Write to the first octet of a region changes the octets in front of it") \
    B(RESPONSE_BEHIND,             "response-behind",             "a Read Response that ends its region changes the octets behind the region") \
    B(SEND_BEHIND,                 "send-behind",                 "a Send that fills its receive changes the octets behind it") \
    B(RESPONSE_LATER_UNCHECKED,    "response-later-unchecked",    "the end of a Read Response is checked in its first segment alone") \
    B(READ_ACROSS_PAGE,            "read-across-page",            "a short Read across a page has the octets of the first page alone")
/* clang-format on */

#endif
