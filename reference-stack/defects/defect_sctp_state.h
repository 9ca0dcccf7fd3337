/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Faults of the adaptation to SCTP that one message, session or SID alone does not show: what one of them leaves to
 * another one (RFC 5043 4, 6; draft-stewart-rddp-sctp-02 7.2). Part of the list in defect_internal.h.
 */
#ifndef REFERENCE_STACK_DEFECT_SCTP_STATE_H
#define REFERENCE_STACK_DEFECT_SCTP_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ddp_sctp_message;
struct iwarp_association;
struct iwarp_sctp_init;
struct iwarp_sctp_message;
struct iwarp_sctp_output;
struct iwarp_stream;
struct iwarp_mpa_start;
struct negotiation_offer;
struct sctp_session;

/* For the number, decision or operation of that name in sctp/sctp_faults.h and core/faults.h (defect_sctp_state.c). */
bool state_sctp_first_ssn(const struct sctp_session *session, uint16_t *ssn);
uint16_t state_sctp_next_ssn(const struct sctp_session *session, uint16_t next);
bool state_sctp_sorting(struct sctp_session *session, const struct ddp_sctp_message *message);
void state_sctp_output(const struct sctp_session *session, struct iwarp_sctp_output *output, uint8_t *octets);
void state_sctp_reported(const struct iwarp_stream *stream, struct iwarp_mpa_start *start);
uint8_t state_sctp_answer_code(const struct sctp_session *session, uint8_t code);
void state_sctp_refusal(const struct sctp_session *session);
uint32_t state_sctp_attached(const struct sctp_session *session, uint32_t domain);
void state_sctp_detached(const struct sctp_session *session);
void state_sctp_depths(struct iwarp_stream *stream);
void state_sctp_answer_depths(struct iwarp_stream *stream, const struct negotiation_offer *peer);
bool state_sctp_cut(struct sctp_session *session);

/* clang-format off */
#define DEFECT_BEHAVIOURS_SCTP_STATE(B) \
    B(SCTP_SSN_OF_OTHER,           "sctp-ssn-of-other",           "a session begins with the DDP-SSN that the SID used last would have next") \
    B(SCTP_SSN_OCTET,              "sctp-ssn-octet",              "own DDP-SSNs go from 255 to 0") \
    B(SCTP_SSN_WRAP_READ,          "sctp-ssn-wrap-read",          "after the peer's DDP-SSN 65535 the one that is due is 1") \
    B(SCTP_MSN_CONTINUES,          "sctp-msn-continues",          "MSNs of a session go on where those of the last one of the SID ended") \
    B(SCTP_PRIVATE_LEFT,           "sctp-private-left",           "an answer has the end of the Private Data of a longer one before") \
    B(SCTP_PRIVATE_TOLD_LEFT,      "sctp-private-told-left",      "the ULP is told of as many octets of Private Data as the longest had before") \
    B(SCTP_ENHANCED_STAYS,         "sctp-enhanced-stays",         "after an enhanced session each answer is an enhanced one") \
    B(SCTP_DEPTHS_OF_LAST,         "sctp-depths-of-last",         "a session has the depths of the one that was set up before") \
    B(SCTP_ORD_FOR_IRD,            "sctp-ord-for-ird",            "the peer's ORD is taken for its IRD") \
    B(SCTP_DOMAIN_STAYS,           "sctp-domain-stays",           "a second session of a SID has the Protection Domain of the first") \
    B(SCTP_TERMINATE_AT_ONCE,      "sctp-terminate-at-once",      "a Terminate is taken when it arrives, and not in its turn") \
    B(SCTP_HELD_STAYS,             "sctp-held-stays",             "what came before its turn in one session is taken in the next one of the SID") \
    B(SCTP_HELD_OVER_RESET,        "sctp-held-over-reset",        "draft: what came before its turn is taken after a Stream Reset") \
    B(SCTP_PENDING_STAYS,          "sctp-pending-stays",          "a request that was rejected counts as one that waits") \
    B(SCTP_EMPTY_STAYS,            "sctp-empty-stays",            "an association whose last session has ended takes no further Initiate, and sends none that is one") \
    B(SCTP_REFUSED_STAYS,          "sctp-refused-stays",          "a SID whose Initiate was beyond the limit takes no further one") \
    B(SCTP_REJECTED_STAYS,         "sctp-rejected-stays",         "a SID whose Initiate was rejected takes no further one") \
    B(SCTP_TERMINATE_ELSEWHERE,    "sctp-terminate-elsewhere",    "an RDMAP Terminate goes out on the SID that had a message last") \
    B(SCTP_ANSWER_FIRST_SID,       "sctp-answer-first-sid",       "with several sessions, segments go out on the SID of the first one") \
    B(SCTP_ANSWER_OF_OLDEST,       "sctp-answer-of-oldest",       "an Accept or Reject answers the Initiate that was sent first, whatever its SID") \
    B(SCTP_STREAMS_ONE_WAY,        "sctp-streams-one-way",        "the peer's MIS is not looked at: SIDs go as far as its OS") \
    B(SCTP_CROSSED_STAYS,          "sctp-crossed-stays",          "the peer's Terminate after the own one leaves the SID in use") \
    B(SCTP_CUT_KEEPS_LAST,         "sctp-cut-keeps-last",         "of a Send's last segment that is cut, as the path became narrower, both parts have L = 1") \
    B(SCTP_ABORTED_ALL,            "sctp-aborted-all",            "draft: with one stream aborted no other one begins") \
    B(SCTP_RESET_ALL,              "sctp-reset-all",              "draft: a Stream Reset begins the own DDP-SSNs of all SIDs anew")
/* clang-format on */

#endif
