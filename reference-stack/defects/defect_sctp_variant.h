/* SPDX-License-Identifier: BSD-2-Clause */
/* Legal behaviour of the adaptation to SCTP, where its texts leave a choice: part of the list in defect_internal.h. */
#ifndef REFERENCE_STACK_DEFECT_SCTP_VARIANT_H
#define REFERENCE_STACK_DEFECT_SCTP_VARIANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ddp_sctp_message;
struct defect_set;
struct iwarp_association;
struct iwarp_sctp_message;
struct iwarp_stream;
struct sctp_session;
struct validation_outcome;

/*
 * Legal variants: what becomes of a message that is about to be sorted, whether one is taken for none of DDP's, and of
 * an error.
 */
bool variant_sctp_sorting(struct sctp_session *session, const struct ddp_sctp_message *message);
bool variant_sctp_foreign(const struct iwarp_association *association, const struct iwarp_sctp_message *from,
                          const struct ddp_sctp_message *message);
void variant_sctp_fail(const struct iwarp_stream *stream, struct validation_outcome *outcome);

/* clang-format off */
#define DEFECT_BEHAVIOURS_SCTP_VARIANT(B) \
    B(SCTP_SEGMENTS_516,           "sctp-segments-516",           "no segment over SCTP is longer than 516 octets") \
    B(SCTP_SEGMENTS_514,           "sctp-segments-514",           "no segment over SCTP is longer than 514 octets, its user message than 516") \
    B(SCTP_OUTSTANDING_8,          "sctp-outstanding-8",          "8 messages of a SID at most are sent without acknowledgement") \
    B(SCTP_OUTSTANDING_1,          "sctp-outstanding-1",          "each message of a SID waits until the one before is acknowledged") \
    /* SIDs */ \
    B(SCTP_HIGHEST_SID,            "sctp-highest-sid",            "own sessions begin on the highest SID that is free") \
    B(SCTP_MIDDLE_SID,             "sctp-middle-sid",             "own sessions begin on SIDs from the middle on") \
    B(SCTP_UNEQUAL_REFUSED,        "sctp-unequal-refused",        "a peer with unequal numbers of streams is refused") \
    B(SCTP_MODE_STRICT,            "sctp-mode-strict",            "draft: an indication that is not the own one is refused") \
    /* Packets: what SCTP itself may do */ \
    B(SCTP_BUNDLE_REVERSED,        "sctp-bundle-reversed",        "two messages of a SID that share a packet have their TSNs in the other order") \
    B(SCTP_SSN_FIELD,              "sctp-ssn-field",              "SCTP's own SSN of an unordered chunk is BEEF") \
    B(SCTP_SACK_AT_ONCE,           "sctp-sack-at-once",           "each DATA chunk has the I bit (RFC 7053)") \
    /* Sessions */ \
    B(SCTP_SEGMENTS_AFTER_SACK,    "sctp-segments-after-sack",    "initiator: segments follow the SACK of the Initiate") \
    B(SCTP_TERMINATE_UNANSWERED,   "sctp-terminate-unanswered",   "the peer's Terminate is not answered by an own one") \
    B(SCTP_TERMINATE_WAITS,        "sctp-terminate-waits",        "after an RDMAP Terminate the session's Terminate waits for the peer's") \
    B(SCTP_LAST_SHUTS_DOWN,        "sctp-last-shuts-down",        "an association is shut down when its last session has ended") \
    B(SCTP_ILLEGAL_TERMINATES,     "sctp-illegal-terminates",     "a message that fits no pattern is told by an RDMAP Terminate first") \
    B(SCTP_DUPLICATE_ENDS,         "sctp-duplicate-ends",         "a DDP-SSN that came before ends the session") \
    B(SCTP_GAP_ENDS,               "sctp-gap-ends",               "a DDP-SSN 1024 or more before the one that is due ends the session") \
    B(SCTP_EARLY_KEPT,             "sctp-early-kept",             "what comes before its turn is placed in its turn alone") \
    /* The draft */ \
    B(SCTP_ABORTED_SILENT,         "sctp-aborted-silent",         "draft: an aborted stream sends no RDMAP Terminate") \
    B(SCTP_RESET_BY_TABLE,         "sctp-reset-by-table",         "draft: four octets on PPID 1 are a malformed segment") \
    B(SCTP_MSN_GOES_ON,            "sctp-msn-goes-on",            "draft: MSNs go on across a Stream Reset")
/* clang-format on */

#endif
