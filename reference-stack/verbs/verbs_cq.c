/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "reference-stack/base/misuse.h"
#include "reference-stack/core/srq.h"
#include "reference-stack/verbs/verbs_internal.h"

struct iwarp_cq *iwarp_cq_new(struct iwarp_context *context)
{
    struct iwarp_cq *cq = context == NULL ? NULL : calloc(1, sizeof(*cq));

    if (cq == NULL)
        return NULL;
    cq->context = context;
    ring_init(&cq->completions, sizeof(struct iwarp_completion));
    cq->next = context->cqs;
    if (cq->next != NULL)
        cq->next->previous = cq;
    context->cqs = cq;
    return cq;
}

/* Drops all its reports. */
static void cq_drop(struct iwarp_cq *cq)
{
    while (cq->completions.count != 0) {
        ((struct iwarp_completion *)ring_at(&cq->completions, 0))->qp->unread_reports--;
        ring_pop(&cq->completions);
        cq->context->waiting--;
    }
    context_forget(cq->context, NULL, cq);
}

void iwarp_cq_free(struct iwarp_cq *cq)
{
    if (cq == NULL)
        return;
    cq_drop(cq);
    cq->gone = true;
    if (cq->users != 0)
        return;
    if (cq->previous != NULL)
        cq->previous->next = cq->next;
    else
        cq->context->cqs = cq->next;
    if (cq->next != NULL)
        cq->next->previous = cq->previous;
    ring_free(&cq->completions);
    free(cq);
}

static void cq_leave(struct iwarp_cq *cq)
{
    if (--cq->users == 0 && cq->gone)
        iwarp_cq_free(cq);
}

size_t iwarp_poll_cq(struct iwarp_cq *cq, struct iwarp_completion *completions, size_t most)
{
    size_t count;

    if (cq == NULL || completions == NULL)
        return 0;
    if (cq->context->dirty != NULL) {
        context_flush(cq->context);
        if (cq->context->pool.guarded)
            tcp_socket_unguard(&cq->context->pool);
    }
    for (count = 0; count < most && cq->completions.count != 0; count++) {
        completions[count] = *(struct iwarp_completion *)ring_at(&cq->completions, 0);
        completions[count].qp->unread_reports--;
        ring_pop(&cq->completions);
    }
    cq->context->waiting -= count;
    return count;
}

void iwarp_cq_arm(struct iwarp_cq *cq, bool solicited_only)
{
    if (cq == NULL)
        return;
    /* A queue armed for any completion stays so: the wider condition wins. */
    cq->solicited_only = solicited_only && (!cq->armed || cq->solicited_only);
    cq->armed = true;
}

bool cq_has_room(struct iwarp_cq *cq)
{
    return ring_reserve(&cq->completions, 1) == 0;
}

static enum iwarp_work work_of(const struct iwarp_event *event)
{
    switch (event->kind) {
    case IWARP_EVENT_SEND_DONE: return IWARP_WORK_SEND;
    case IWARP_EVENT_WRITE_DONE: return IWARP_WORK_WRITE;
    case IWARP_EVENT_READ_DONE: return IWARP_WORK_READ;
    case IWARP_EVENT_ATOMIC_DONE: return IWARP_WORK_ATOMIC;
    case IWARP_EVENT_IMMEDIATE_DONE: return IWARP_WORK_IMMEDIATE;
    case IWARP_EVENT_FLUSHED: return event->flushed;
    default: return IWARP_WORK_RECEIVE;
    }
}

/* There is room: cq_has_room() was asked before the event was taken from the stream. */
void cq_complete(struct iwarp_qp *qp, const struct iwarp_event *event)
{
    enum iwarp_work work = work_of(event);
    struct iwarp_cq *cq = work == IWARP_WORK_RECEIVE ? qp->receive_cq : qp->send_cq;
    struct iwarp_completion *completion = cq->gone ? NULL : ring_push(&cq->completions);
    bool flushed = event->kind == IWARP_EVENT_FLUSHED;
    struct iwarp_qp_event *notice;

    if (completion == NULL)
        return;
    *completion = (struct iwarp_completion){
        .qp = qp,
        .user = qp->user,
        .id = event->id,
        .status = flushed ? IWARP_STATUS_FLUSHED : IWARP_STATUS_OK,
        .work = work,
        .octets = event->octets,
        .buffer = event->buffer,
        .opcode = event->opcode,
        .solicited = event->solicited,
        .invalidated = event->invalidated,
        .stag = event->stag,
        .value = event->value,
    };
    qp->context->waiting++;
    qp->unread_reports++;
    if (!cq->armed || (cq->solicited_only && !flushed && !event->solicited))
        return;
    notice = context_event(qp->context, IWARP_QP_COMPLETION, NULL);
    if (notice == NULL)
        return;
    notice->cq = cq;
    cq->armed = false;
}

void cq_forget(struct iwarp_cq *cq, const struct iwarp_qp *qp)
{
    size_t count = cq->completions.count;

    for (size_t i = 0; i < count; i++) {
        struct iwarp_completion completion = *(struct iwarp_completion *)ring_at(&cq->completions, 0);

        ring_pop(&cq->completions);
        if (completion.qp != qp)
            *(struct iwarp_completion *)ring_push(&cq->completions) = completion;
        else
            cq->context->waiting--;
    }
}

/* --- Shared receive queue ------------------------------------------------------------------------------------- */

struct iwarp_srq *iwarp_srq_new(struct iwarp_context *context)
{
    struct iwarp_srq *srq = context == NULL ? NULL : calloc(1, sizeof(*srq));

    if (srq == NULL)
        return NULL;
    ring_init(&srq->receives, sizeof(struct srq_receive));
    srq->context = context;
    srq->next = context->srqs;
    if (srq->next != NULL)
        srq->next->previous = srq;
    context->srqs = srq;
    return srq;
}

void iwarp_srq_free(struct iwarp_srq *srq)
{
    if (srq == NULL)
        return;
    while (srq->receives.count != 0)
        ring_pop(&srq->receives);
    srq->gone = true;
    if (srq->users != 0)
        return;
    if (srq->previous != NULL)
        srq->previous->next = srq->next;
    else
        srq->context->srqs = srq->next;
    if (srq->next != NULL)
        srq->next->previous = srq->previous;
    ring_free(&srq->receives);
    free(srq);
}

int iwarp_srq_post(struct iwarp_srq *srq, uint64_t id, uint8_t *buffer, size_t octets, struct iwarp_sentence *sentence)
{
    struct srq_receive *receive;

    if (srq == NULL)
        return misuse_null(sentence, "srq_post", "a shared receive queue");
    if (srq->gone)
        return iwarp_sentence_set(sentence, "shared receive queue: it was freed");
    if (buffer == NULL && octets != 0)
        return iwarp_sentence_set(sentence, "shared receive queue: a receive of %zu octets without a buffer", octets);
    receive = ring_push(&srq->receives);
    if (receive == NULL)
        return iwarp_sentence_set(sentence, "shared receive queue: out of memory");
    *receive = (struct srq_receive){id, buffer, octets};
    return 0;
}

size_t iwarp_srq_count(const struct iwarp_srq *srq)
{
    return srq == NULL ? 0 : srq->receives.count;
}

/* --- Who uses them ------------------------------------------------------------------------------------------------ */

void queues_join(const struct iwarp_qp_options *options)
{
    options->send_cq->users++;
    options->receive_cq->users++;
    if (options->srq != NULL)
        options->srq->users++;
}

void queues_leave(struct iwarp_cq *send_cq, struct iwarp_cq *receive_cq, struct iwarp_srq *srq)
{
    cq_leave(send_cq);
    cq_leave(receive_cq);
    if (srq != NULL && --srq->users == 0 && srq->gone)
        iwarp_srq_free(srq);
}
