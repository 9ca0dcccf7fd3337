/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the seams of SCTP become (sctp/sctp_faults.h): functions of defect_sctp.c and defect_sctp_session.c, which
 * defect_sctp_seams.c calls.
 */
#ifndef REFERENCE_STACK_DEFECT_SCTP_SEAMS_H
#define REFERENCE_STACK_DEFECT_SCTP_SEAMS_H

#include "reference-stack/defects/defect_stream.h"
#include "reference-stack/sctp/sctp.h"

void defect_sctp_init(const struct iwarp_association *association, struct iwarp_sctp_init *init);
enum iwarp_sctp_mode defect_sctp_mode(const struct iwarp_association *association, enum iwarp_sctp_mode mode);
uint16_t defect_sctp_streams(const struct iwarp_association *association, uint16_t streams);
int defect_sctp_own_sid(const struct iwarp_association *association, int sid);
bool defect_sctp_closes(const struct sctp_session *session);
bool defect_sctp_terminate_waits(const struct sctp_session *session);
bool defect_sctp_pending_kept(const struct sctp_session *session);
bool defect_sctp_held_kept(const struct sctp_session *session);
bool defect_sctp_reset_obeyed(struct sctp_session *session);
bool defect_sctp_down_untold(const struct sctp_session *session);
bool defect_sctp_abort_reported(struct iwarp_association *association);
uint16_t defect_sctp_first_ssn(const struct sctp_session *session);
uint16_t defect_sctp_next_ssn(const struct sctp_session *session);
uint32_t defect_sctp_outstanding_max(const struct sctp_session *session);
void defect_sctp_output(struct sctp_session *session, struct iwarp_sctp_output *output);
bool defect_sctp_sid_taken(const struct sctp_session *session);
uint8_t defect_sctp_answer_code(const struct sctp_session *session, uint8_t code);
enum iwarp_accept_policy defect_sctp_accept_policy(const struct sctp_session *session);
uint8_t defect_sctp_refusal(const struct sctp_session *session);
int defect_sctp_ssn_ahead(const struct sctp_session *session, int ahead);
size_t defect_sctp_private_data(const struct sctp_session *session, size_t count);
bool defect_sctp_aborted_taken(struct sctp_session *session);
void defect_sctp_peer_init(const struct iwarp_association *association, struct iwarp_sctp_init *peer);
void defect_sctp_message(const struct iwarp_association *association, struct iwarp_sctp_message *message);
bool defect_sctp_control_lost(const struct sctp_session *session, const struct ddp_sctp_message *message);
bool defect_sctp_error_spreads(const struct sctp_session *session, const struct ddp_sctp_message *message);
bool defect_sctp_shortened(struct sctp_session *session);
size_t defect_sctp_held_room(const struct sctp_session *session, size_t octets);
uint32_t defect_sctp_domain(const struct sctp_session *session, uint32_t domain);
bool defect_sctp_request_full(const struct sctp_session *session, bool full);
bool defect_sctp_owes_terminate(const struct sctp_session *session, bool owes);
bool defect_sctp_speaks_after_end(struct sctp_session *session, struct iwarp_sctp_output *output);

#endif
