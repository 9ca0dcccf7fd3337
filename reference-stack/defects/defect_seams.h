/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The operations of core/faults.h and cm/cm_faults.h, as the files of this folder implement them: for each a function
 * of its name with seam_ before it, the CM's with seam_cm_. What each may do stands there.
 */
#ifndef REFERENCE_STACK_DEFECT_SEAMS_H
#define REFERENCE_STACK_DEFECT_SEAMS_H

#include "reference-stack/cm/cm_faults.h"
#include "reference-stack/core/faults.h"

uint64_t seam_number(const struct iwarp_stream *stream, enum stream_number what, uint64_t own);
bool seam_decide(struct iwarp_stream *stream, enum stream_decision what, bool own);
bool seam_judge(const struct iwarp_faults *kept, enum validation_stage stage, const struct validation_subject *subject,
                struct validation_outcome *outcome);
bool seam_input(struct iwarp_stream *stream, const uint8_t *octets, size_t count);
bool seam_ending(struct iwarp_stream *stream, enum stream_ending how);
void seam_event(struct iwarp_stream *stream, struct iwarp_event *event);
void seam_posted(struct iwarp_stream *stream);
void seam_terms(struct iwarp_stream *stream, enum stream_terms what, struct negotiation_offer *own,
                const struct negotiation_offer *peer);
bool seam_fail(struct iwarp_stream *stream, struct validation_outcome *outcome,
               const struct validation_subject *subject, bool reported);
bool seam_region(struct iwarp_device *device, enum region_step step, struct iwarp_region *region);
void seam_segment(struct iwarp_stream *stream, struct ddp_segment *segment, const uint8_t *octets, size_t count);
bool seam_buffer(struct iwarp_stream *stream, struct validation_subject *subject);
struct placement seam_place(struct iwarp_stream *stream, const struct validation_subject *subject);
bool seam_early(struct iwarp_stream *stream, const struct validation_subject *subject, struct receive_work *receive,
                bool placed);
bool seam_message(struct iwarp_stream *stream, const struct validation_subject *subject, struct rdmap_message *message,
                  struct untagged_queue *queue);
bool seam_serve(struct iwarp_stream *stream, const struct inbound_request *request,
                const struct validation_subject *subject);
void seam_delivered(struct iwarp_stream *stream, const struct validation_subject *subject);
uint64_t seam_atomic(struct iwarp_stream *stream, const struct inbound_request *request,
                     const struct iwarp_region *region);
void seam_output(struct iwarp_stream *stream);
void seam_turn(const struct iwarp_stream *stream, bool *own, bool *response);
const uint8_t *seam_source(const struct iwarp_stream *stream, const struct inbound_request *request,
                           const struct iwarp_region *region);
void seam_header(struct iwarp_stream *stream, struct outgoing *outgoing);
int seam_ulpdu(struct iwarp_stream *stream, struct llp_ulpdu *ulpdu);
size_t seam_terminate(struct iwarp_stream *stream, struct terminate *terminate, const struct ddp_segment *segment,
                      size_t segment_octets);
void seam_sent(struct iwarp_stream *stream, struct transmit_piece *piece);

bool seam_cm_judge(const struct cm_validation *entry, const struct cm_subject *subject, struct cm_verdict *verdict);
bool seam_cm_listens(const struct cm_agent *agent, const struct cm_listener *listener, uint64_t service_id);
bool seam_cm_input(struct cm_agent *agent, const struct cm_message *message);
bool seam_cm_send(struct cm_agent *agent, uint8_t *mad);
void seam_cm_event(struct cm_agent *agent, struct cm_event *event);

#endif
