/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What may be wrong in a session, as a grammar: one field of one header by wire/'s tables, the length of a segment, the
 * frame around it, its place among the others, an octet of the start-up frame, or a message that the state of the
 * session does not allow. Whether that breaks a rule is for the prediction to say: many deviations are legal.
 */
#ifndef CONFORMANCE_ENGINE_EXPLORE_SESSION_DEVIATION_H
#define CONFORMANCE_ENGINE_EXPLORE_SESSION_DEVIATION_H

#include "conformance/engine/explore/session_generator.h"

/* Makes something wrong in the session, whose steps after that are dropped. */
void session_deviate(struct session *session, struct session_draw *draw);

#endif
