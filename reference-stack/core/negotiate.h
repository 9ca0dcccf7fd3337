/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * IRD, ORD and RTR (RFC 6581 9), which are carried by start-up frames over TCP (RFC 6581 6) or session control messages
 * over SCTP (RFC 6581 7). The layer below DDP packs and parses them; what they mean for the stream is decided here.
 */
#ifndef REFERENCE_STACK_NEGOTIATE_H
#define REFERENCE_STACK_NEGOTIATE_H

#include <stdbool.h>
#include <stdint.h>

#include "reference-stack/validation/validation.h"

/* The stream begins: what the ULP configured is in force until something else is agreed. */
void negotiate_begin(struct iwarp_stream *stream);

/* Initiator: what the Request offers. */
void negotiate_request(struct iwarp_stream *stream, struct negotiation_offer *own);

/* Responder, with the Request's offer: the depths that the answer will have, if the ULP does not change them. */
void negotiate_depths(struct iwarp_stream *stream, const struct negotiation_offer *peer);

/* Responder: what the answer offers. */
void negotiate_answer(struct iwarp_stream *stream, const struct negotiation_offer *peer, struct negotiation_offer *own);

/* Responder, accepting: the depths of its answer are put in force. */
void negotiate_accept(struct iwarp_stream *stream);

/* Initiator: the depths of the answer are put in force. */
void negotiate_adopt(struct iwarp_stream *stream, const struct negotiation_offer *peer);

/* Initiator, with an accepting answer: adopts it and agrees on RTRs. False: the stream has failed. */
bool negotiate_reply(struct iwarp_stream *stream, const struct negotiation_offer *peer);

/* Of a set of RTR messages the one that this side sends first. */
enum iwarp_rtr negotiate_prefer(unsigned set);

/* Initiator, when the stream is established: the RTR message goes out, where one was agreed on. */
void negotiate_rtr(struct iwarp_stream *stream, const struct negotiation_offer *peer);

#endif
