/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steps that use memory wrongly: beyond its ends, without a right to it, after it was invalidated; more Reads than IRD,
 * and a message that is longer than its receive. Each takes the place of the session's other steps.
 */
#ifndef CONFORMANCE_ENGINE_EXPLORE_SESSION_MEMORY_H
#define CONFORMANCE_ENGINE_EXPLORE_SESSION_MEMORY_H

#include "conformance/engine/explore/session_generator.h"

/* A Write, Read or atomic that begins before its memory, ends after it, or goes round 2^64. */
void session_reach_beyond(struct session *session, struct session_draw *draw);

/* A Write, Read or atomic without the right to it, or of memory that is another stream's. */
void session_reach_too_far(struct session *session, struct session_draw *draw);

/* A Write, Read or atomic of memory that a Send has invalidated. */
void session_reach_invalid(struct session *session, struct session_draw *draw);

/* Memory that the device's ULP has given up, before the message or in the middle of it. */
void session_reach_revoked(struct session *session, struct session_draw *draw);

/* Memory of another Protection Domain. */
void session_reach_other_domain(struct session *session, struct session_draw *draw);

/* A Send that invalidates what it may not. */
void session_invalidate_wrongly(struct session *session, struct session_draw *draw);

/* An atomic that is not aligned, or that no text knows. */
void session_operate_wrongly(struct session *session, struct session_draw *draw);

/* A Send that is longer than its receive. */
void session_overfill(struct session *session, struct session_draw *draw);

/* More Reads at once than the device has said that it answers. */
void session_exhaust_reads(struct session *session, struct session_draw *draw);

#endif
