/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/verbs_talk.h"

#include <check.h>
#include <string.h>
#include <time.h>

enum { PATIENCE = 20 };

void verbs_talk_begin(struct verbs_talk *talk)
{
    memset(talk, 0, sizeof(*talk));
    talk->context = iwarp_context_new(NULL, &talk->why);
    ck_assert_msg(talk->context != NULL, "%s", talk->why.text);
    talk->cq = iwarp_cq_new(talk->context);
    ck_assert_ptr_nonnull(talk->cq);
    for (int i = 0; i < 2; i++)
        iwarp_qp_options_default(&talk->options[i], talk->cq);
}

void verbs_talk_connect(struct verbs_talk *talk)
{
    if (talk->listener == NULL)
        talk->listener = iwarp_listen(talk->context, "127.0.0.1", 0, &talk->options[0], &talk->why);
    ck_assert_msg(talk->listener != NULL, "%s", talk->why.text);
    talk->qp[1] =
        iwarp_connect(talk->context, "127.0.0.1", iwarp_listener_port(talk->listener), &talk->options[1], &talk->why);
    ck_assert_msg(talk->qp[1] != NULL, "%s", talk->why.text);
    talk->qp[0] = NULL;
}

void verbs_talk_open(struct verbs_talk *talk)
{
    verbs_talk_connect(talk);
    (void)verbs_talk_await(talk, talk->qp[1], IWARP_QP_ESTABLISHED);
    while (talk->qp[0] == NULL)
        verbs_talk_turn(talk, 100);
    (void)verbs_talk_await(talk, talk->qp[0], IWARP_QP_ESTABLISHED);
}

void verbs_talk_end(struct verbs_talk *talk)
{
    iwarp_context_free(talk->context);
}

void verbs_talk_turn(struct verbs_talk *talk, int timeout_ms)
{
    struct iwarp_qp_event event;

    ck_assert_msg(iwarp_context_run(talk->context, timeout_ms, &talk->why) >= 0, "%s", talk->why.text);
    talk->completion_count +=
        iwarp_poll_cq(talk->cq, talk->completions + talk->completion_count, TALK_TOLD - talk->completion_count);
    while (talk->event_count < TALK_TOLD && iwarp_next_event(talk->context, &event)) {
        if (event.kind == IWARP_QP_ACCEPTED && talk->qp[0] == NULL)
            talk->qp[0] = event.qp;
        talk->events[talk->event_count++] = event;
    }
}

const struct iwarp_qp_event *verbs_talk_event(const struct verbs_talk *talk, const struct iwarp_qp *qp,
                                              enum iwarp_qp_event_kind kind)
{
    for (size_t i = 0; i < talk->event_count; i++)
        if (talk->events[i].kind == kind && (qp == NULL || talk->events[i].qp == qp))
            return &talk->events[i];
    return NULL;
}

const struct iwarp_qp_event *verbs_talk_await(struct verbs_talk *talk, const struct iwarp_qp *qp,
                                              enum iwarp_qp_event_kind kind)
{
    time_t end = time(NULL) + PATIENCE;

    while (verbs_talk_event(talk, qp, kind) == NULL) {
        ck_assert_msg(time(NULL) < end, "event %d does not come", kind);
        verbs_talk_turn(talk, 100);
    }
    return verbs_talk_event(talk, qp, kind);
}

void verbs_talk_completions(struct verbs_talk *talk, size_t count)
{
    time_t end = time(NULL) + PATIENCE;

    while (talk->completion_count < count) {
        ck_assert_msg(time(NULL) < end, "%zu completions instead of %zu", talk->completion_count, count);
        verbs_talk_turn(talk, 100);
    }
    ck_assert_uint_eq(talk->completion_count, count);
}

const struct iwarp_completion *verbs_talk_completion(const struct verbs_talk *talk, uint64_t id)
{
    const struct iwarp_completion *found = NULL;

    for (size_t i = 0; i < talk->completion_count; i++) {
        if (talk->completions[i].id != id)
            continue;
        ck_assert_msg(found == NULL, "two completions with id %llu", (unsigned long long)id);
        found = &talk->completions[i];
    }
    ck_assert_msg(found != NULL, "no completion with id %llu", (unsigned long long)id);
    return found;
}
