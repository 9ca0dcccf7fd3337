/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reactions that the texts allow to what is wrong in a session. The octets go to the correct stack, which notes
 * every condition of the validation table that they violate; each has its own reaction, and those that the legal
 * variants have for it (reference-stack/defects/variants.tsv). What the correct stack did is allowed, too.
 */
#ifndef CONFORMANCE_ENGINE_EXPLORE_SESSION_PREDICTION_H
#define CONFORMANCE_ENGINE_EXPLORE_SESSION_PREDICTION_H

#include "base/sentence.h"
#include "conformance/engine/explore/session.h"
#include "reference-stack/defects/defect.h"

/* What the stack saw of one session, in the words of t:follow: "terminate 1201"; and the table's entries. */
struct prediction_seen {
    const char *reaction; /* NULL: the session was not played to its end */
    const struct defect_set *asking;
};

/* Fills in the session's reactions. */
void session_predict(struct session *session, const struct prediction_seen *seen, const struct defect_list *variants);

#endif
