/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a deliberate fault of DDP over SCTP may act: the part of hooks.h, which includes it, for sctp/ and what calls it. */
#ifndef REFERENCE_STACK_HOOKS_SCTP_H
#define REFERENCE_STACK_HOOKS_SCTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ddp_sctp_message;
struct defect_set;
struct iwarp_association;
struct iwarp_sctp_init;
struct iwarp_sctp_output;
struct iwarp_stream;
struct sctp_session;
struct validation_subject;

/* --- SCTP: packets of the peer, before their checksum is set (peer/peer.c) ------------------------------------------ */

/* Returns the octets that leave, 0: none. */
size_t hook_sctp_leaving(const struct defect_set *set, uint8_t *packet, size_t octets, size_t room);

/* --- SCTP: the association (sctp/association.c, sctp/segment.c) ------------------------------------------------------ */

/* What INIT or INIT-ACK is to have (RFC 5043 5.1, 8), and what the peer's leaves to be done (11.1). */
void hook_sctp_init(const struct iwarp_association *association, struct iwarp_sctp_init *init);
enum iwarp_sctp_mode hook_sctp_mode(const struct iwarp_association *association, enum iwarp_sctp_mode mode);

/* What the peer's INIT or INIT-ACK was found to say (RFC 5043 5.1). */
void hook_peer_init(const struct iwarp_association *association, struct iwarp_sctp_init *peer);

/* A session fails, or (subject NULL) its stream has ended by an error. True: the association is aborted (RFC 5043 11.3). */
bool hook_error_spreads(const struct sctp_session *session, const struct validation_subject *subject);

/* The association has ended. True: the session's stream is not told; then, by the ULP. True: it is not aborted (11.3). */
bool hook_down_untold(const struct sctp_session *session);
bool hook_abort_told(struct iwarp_association *association);

/* The longest DDP Segment (RFC 5043 9). */
size_t hook_segment_max(const struct iwarp_stream *stream, size_t octets);

/* --- SCTP: messages (sctp/association_io.c, sctp/session.c, sctp/segment.c) ------------------------------------------ */

/* A ULPDU lies at `ulpdu`, with HOOK_ROOM after it: returns its octets (RFC 5041 4, RFC 5040 4). */
size_t hook_ulpdu_framed(struct iwarp_stream *stream, uint8_t *ulpdu, size_t octets);

/* A message is about to be given to SCTP (RFC 5043 5.2, 10). */
void hook_sctp_output(struct sctp_session *session, struct iwarp_sctp_output *output);

/* The DDP-SSN that a session begins with, and the one after a message that is being sent (RFC 5043 5.2.1, 6.1). */
uint16_t hook_first_ssn(const struct sctp_session *session);
uint16_t hook_next_ssn(const struct sctp_session *session);

/* A segment waits that is longer than the path takes by now. True: it is gone (draft-stewart-rddp-sctp-02 5). */
bool hook_refused_lost(struct sctp_session *session);

/* How many messages may be sent without acknowledgement (RFC 5043 10). */
uint32_t hook_outstanding_max(const struct sctp_session *session);

/* A user message of this PPID came (RFC 5043 5.2). */
uint32_t hook_ppid(const struct iwarp_association *association, uint32_t ppid);

/* How far the message is before the one that is due (RFC 5043 10). */
int hook_ssn_ahead(const struct sctp_session *session, uint16_t ssn, int ahead);

/* Octets of memory for a message that came before its turn (RFC 5043 10). */
size_t hook_held_room(const struct sctp_session *session, uint16_t ssn, size_t octets);

/* --- SCTP: sessions (sctp/session*.c, sctp/sctp_stream.c) ------------------------------------------------------------ */

/* True: a control message does not wait until the one before has come for certain (RFC 5043 6.6). */
bool hook_control_overtakes(const struct sctp_session *session);

/* The Initiate is made (RFC 5043 6.6). */
void hook_initiated(struct sctp_session *session);

/* A SID is not free for a new session. True: it is used all the same (RFC 5043 6.6). */
bool hook_sid_taken(const struct sctp_session *session);

/* The Function Code of the answer, and who gives it (RFC 5043 6.2, 6.3, RFC 6581 7). */
uint8_t hook_answer_code(const struct sctp_session *session, uint8_t code);
enum iwarp_accept_policy hook_accept_policy(const struct sctp_session *session);

/* A Terminate is due. True: it is not sent (RFC 5043 6.2). */
bool hook_close_silent(const struct sctp_session *session);

/* May the request not wait for the ULP; and by which Function Code is it refused then? (RFC 5043 6.4) */
bool hook_request_full(const struct sctp_session *session, bool full);
uint8_t hook_refusal(const struct sctp_session *session);

/* How many octets of the peer's Private Data the ULP gets; is it told of a control message? (RFC 5043 5.2.3) */
size_t hook_private_data(const struct sctp_session *session, size_t count);
bool hook_control_untold(const struct sctp_session *session);

/* A control message is in its turn. True: nothing follows from it (RFC 5043 5.2.3). */
bool hook_control_lost(const struct sctp_session *session, const struct ddp_sctp_message *message);

/* A stream has got its session, and so a Protection Domain (RFC 5043 2). */
void hook_session_attached(struct sctp_session *session);

/* Has the session a Terminate to send when its stream goes (RFC 5043 6.3)? */
bool hook_owes_terminate(const struct sctp_session *session, bool owes);

/* Its turn to send. True: `output` was made here, in the association's own octets (RFC 5043 6.2). */
bool hook_speaks_after_end(struct sctp_session *session, struct iwarp_sctp_output *output);

/* A Stream Reset came. True: nothing follows from it (draft-stewart-rddp-sctp-02 7.2). */
bool hook_reset_ignored(const struct sctp_session *session);

/* A SID is looked for. True: one that was not used before is not preferred (draft-stewart-rddp-sctp-02 7.2). */
bool hook_lowest_sid(const struct iwarp_association *association);

/* A segment comes on an aborted stream. True: it is taken (draft-stewart-rddp-sctp-02 7.2). */
bool hook_aborted_taken(struct sctp_session *session);

#endif
