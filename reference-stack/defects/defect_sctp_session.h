/* SPDX-License-Identifier: BSD-2-Clause */
/* Deliberate faults of sessions over SCTP (RFC 5043 2, 5, 6): part of the list in defect_internal.h. */
#ifndef REFERENCE_STACK_DEFECT_SCTP_SESSION_H
#define REFERENCE_STACK_DEFECT_SCTP_SESSION_H

#include <stdint.h>

struct iwarp_sctp_output;
struct sctp_session;

/* The message that goes out, whose DDP-SSN is changed where it is one of the two Terminates (RFC 5043 6.2). */
void defect_terminate_first(const struct sctp_session *session, const struct iwarp_sctp_output *output,
                            uint8_t *octets);

/* clang-format off */
#define DEFECT_BEHAVIOURS_SCTP_SESSION(B) \
    B(SCTP_INDICATION_ASSUMED,     "sctp-indication-assumed",     "an indication that is missing or too short counts as DDP's") \
    B(SCTP_TOLD_LESS,              "sctp-told-less",              "DDP's user is told of segments of 516 octets, and longer ones are made") \
    B(SCTP_MESSAGE_516,            "sctp-message-516",            "of a user message the first 516 octets are taken") \
    B(SCTP_ONE_DOMAIN,             "sctp-one-domain",             "all streams of an association have the Protection Domain of the first") \
    B(SCTP_DOMAIN_CHANGES,         "sctp-domain-changes",         "the Protection Domain of a stream can be changed while its session lasts") \
    B(SCTP_DDP_IGNORED,            "sctp-ddp-ignored",            "an association for DDP alone counts as one without DDP") \
    B(SCTP_REFUSED_LOST,           "sctp-refused-lost",           "a segment that SCTP refuses, as the path became narrower, is not sent") \
    B(SCTP_ROOM_BY_SSN,            "sctp-room-by-ssn",            "a message that came early takes memory for all that are missing before it") \
    B(SCTP_SENDS_DELAYED,          "sctp-sends-delayed",          "each segment of a Send waits 200 ms for others that could go with it") \
    B(SCTP_INDICATION_ALWAYS,      "sctp-indication-always",      "the indication is sent by endpoints, too, whose ULP wants none") \
    B(SCTP_PPID_ANY,               "sctp-ppid-any",               "a message of a PPID that is nobody's is read as a segment") \
    B(SCTP_PRIVATE_SPREADS,        "sctp-private-spreads",        "Private Data above 512 octets aborts the association") \
    B(SCTP_REJECT_EMPTY_LOST,      "sctp-reject-empty-lost",      "a Reject without Private Data is not looked at") \
    B(SCTP_TERMINATE_LONG_LOST,    "sctp-terminate-long-lost",    "a Terminate with Private Data is not looked at") \
    B(SCTP_PENDING_NONE,           "sctp-pending-none",           "no request may wait for the ULP") \
    B(SCTP_OVERLOAD_EVICTS,        "sctp-overload-evicts",        "a request beyond the limit takes the place of one that waits") \
    B(SCTP_REJECT_TERMINATE,       "sctp-reject-terminate",       "a Terminate follows a Reject, whoever sent that") \
    B(SCTP_TERMINATE_FIRST,        "sctp-terminate-first",        "the Terminate has the DDP-SSN before the RDMAP Terminate's") \
    B(SCTP_SEGMENT_AFTER_END,      "sctp-segment-after-end",      "a segment follows the own Terminate") \
    B(SCTP_EARLY_LOST,             "sctp-early-lost",             "a segment that comes before the Accept is dropped")
/* clang-format on */

#endif
