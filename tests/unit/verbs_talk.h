/* SPDX-License-Identifier: BSD-2-Clause */
/* Two queue pairs of one context over the kernel's TCP on loopback, and their events. */
#ifndef TESTS_UNIT_VERBS_TALK_H
#define TESTS_UNIT_VERBS_TALK_H

#include "iwarp/verbs.h"

enum { TALK_TOLD = 512, TALK_OCTETS = 1 << 16 };

struct verbs_talk {
    struct iwarp_context *context;
    struct iwarp_cq *cq;
    struct iwarp_qp_options options[2]; /* responder, initiator */
    struct iwarp_listener *listener;
    struct iwarp_qp *qp[2];
    struct iwarp_qp_event events[TALK_TOLD];
    size_t event_count;
    struct iwarp_completion completions[TALK_TOLD];
    size_t completion_count;
    struct iwarp_sentence why;
};

/* A context with a completion queue, and default options for both sides. */
void verbs_talk_begin(struct verbs_talk *talk);

/* Listens and connects, without waiting for anything. */
void verbs_talk_connect(struct verbs_talk *talk);

/* All of that, until both sides are established. */
void verbs_talk_open(struct verbs_talk *talk);

void verbs_talk_end(struct verbs_talk *talk);

/* Runs the loop once and takes all events and the completions of `talk->cq`. */
void verbs_talk_turn(struct verbs_talk *talk, int timeout_ms);

/* Runs until that event came, 20 s at most; then it fails. `qp` NULL: of any. */
const struct iwarp_qp_event *verbs_talk_await(struct verbs_talk *talk, const struct iwarp_qp *qp,
                                              enum iwarp_qp_event_kind kind);
/* NULL when there was none so far. */
const struct iwarp_qp_event *verbs_talk_event(const struct verbs_talk *talk, const struct iwarp_qp *qp,
                                              enum iwarp_qp_event_kind kind);

/* Runs until so many completions came in all. */
void verbs_talk_completions(struct verbs_talk *talk, size_t count);
/* That of `id`, which must be there once. */
const struct iwarp_completion *verbs_talk_completion(const struct verbs_talk *talk, uint64_t id);

#endif
