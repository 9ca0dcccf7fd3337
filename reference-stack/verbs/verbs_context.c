/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/core/device_internal.h"
#include "reference-stack/base/misuse.h"
#include "reference-stack/transport/reserve.h"
#include "reference-stack/verbs/verbs_internal.h"

enum {
    SCTP_TICK_MS = SCTP_HUB_TICK / NS_PER_MS,
    BUSY_TURNS = 16,
    LOOK_NS = 20000, /* a look: to be put to sleep and woken costs about as much */
    LOOK_PAUSE = 15, /* turns without a look after one that found nothing */
};

/* --- Time -------------------------------------------------------------------------------------------------------- */

static void limit_over(uv_timer_t *timer)
{
    struct iwarp_context *context = timer->data;

    context->limited = false;
    uv_stop(&context->loop);
}

static void streams_due(uv_timer_t *timer)
{
    struct iwarp_context *context = timer->data;

    context->armed = UINT64_MAX;
    context_clock(context);
    links_tick(context);
    for (;;) {
        struct deadline *first = deadlines_first(&context->deadlines);
        struct iwarp_qp *qp;

        if (first == NULL || first->when > context->now)
            return;
        deadlines_set(&context->deadlines, first, UINT64_MAX);
        qp = (struct iwarp_qp *)(void *)((uint8_t *)first - offsetof(struct iwarp_qp, deadline));
        if (qp->stream == NULL)
            continue;
        carrier_tick(&tcp_socket_carrier, qp->socket, qp->stream, context->now);
        qp_pump(qp);
    }
}

static void before_sleep(uv_prepare_t *handle)
{
    struct iwarp_context *context = handle->data;
    const struct deadline *first = deadlines_first(&context->deadlines);
    uint64_t when = first == NULL ? UINT64_MAX : first->when;
    uint64_t now;

    first = deadlines_first(&context->link_deadlines);
    if (first != NULL && first->when < when)
        when = first->when;
    if (when == context->armed)
        return;
    context->armed = when;
    now = uv_now(&context->loop) * NS_PER_MS;
    if (when == UINT64_MAX)
        (void)uv_timer_stop(&context->timer);
    else
        (void)uv_timer_start(&context->timer, streams_due, when > now ? (when - now) / NS_PER_MS + 1 : 0, 0);
}

/* --- Life -------------------------------------------------------------------------------------------------------- */

struct iwarp_context *iwarp_context_new(const struct iwarp_device_config *device, struct iwarp_sentence *sentence)
{
    struct iwarp_context *context = reserve_suffices() ? calloc(1, sizeof(*context)) : NULL;
    int result;

    if (context == NULL) {
        (void)iwarp_sentence_set(sentence, "context: out of memory");
        return NULL;
    }
    result = uv_loop_init(&context->loop);
    if (result != 0) {
        (void)iwarp_sentence_set(sentence, "context: no event loop: %s", uv_strerror(result));
        free(context);
        return NULL;
    }
    (void)uv_timer_init(&context->loop, &context->limit);
    (void)uv_timer_init(&context->loop, &context->timer);
    (void)uv_prepare_init(&context->loop, &context->prepare);
    (void)uv_prepare_start(&context->prepare, before_sleep);
    context->limit.data = context->timer.data = context->prepare.data = context;
    context->armed = UINT64_MAX;
    context_clock(context);
    context->output_batch.send = tcp_socket_send;
    context->output_batch.room = tcp_socket_room;
    context->pool.loop = &context->loop;
    context->pool.ops = &qp_socket_ops;
    context->pool.guard = true;
    ring_init(&context->events, sizeof(struct iwarp_qp_event));
    context->device = iwarp_device_new(device);
    if (context->device == NULL) {
        (void)iwarp_sentence_set(sentence, "context: out of memory");
        iwarp_context_free(context);
        return NULL;
    }
    device_join(context->device);
    return context;
}

static void close_rest(uv_handle_t *handle, void *context)
{
    struct iwarp_context *of = context;

    if (uv_is_closing(handle))
        return;
    if (handle == (uv_handle_t *)&of->limit || handle == (uv_handle_t *)&of->timer ||
        handle == (uv_handle_t *)&of->prepare)
        uv_close(handle, NULL);
    else
        tcp_socket_close_handle(handle);
}

void iwarp_context_free(struct iwarp_context *context)
{
    if (context == NULL)
        return;
    /* Nobody will ask for what was not taken: queue pairs need not look for theirs in it, nor it for them. */
    for (struct iwarp_qp *qp = context->qps; qp != NULL; qp = qp->next)
        qp->unread_reports = 0;
    for (struct iwarp_cq *cq = context->cqs; cq != NULL; cq = cq->next)
        cq->completions.count = 0;
    context->events.count = 0;
    links_free(context);
    while (context->qps != NULL)
        iwarp_qp_free(context->qps);
    while (context->listeners != NULL)
        iwarp_listener_free(context->listeners);
    while (context->cqs != NULL)
        iwarp_cq_free(context->cqs);
    while (context->srqs != NULL)
        iwarp_srq_free(context->srqs);
    sctp_udp_close(context->sctp);
    uv_walk(&context->loop, close_rest, context);
    while (uv_run(&context->loop, UV_RUN_DEFAULT) != 0) {
    }
    (void)uv_loop_close(&context->loop);
    deadlines_free(&context->deadlines);
    deadlines_free(&context->link_deadlines);
    ring_free(&context->events);
    iwarp_device_free(context->device);
    if (context->device != NULL)
        device_leave(context->device);
    free(context);
}

struct iwarp_device *iwarp_context_device(struct iwarp_context *context)
{
    return context == NULL ? NULL : context->device;
}

int iwarp_register(struct iwarp_context *context, void *octets, size_t length, unsigned access, uint32_t *stag,
                   struct iwarp_sentence *sentence)
{
    struct iwarp_region region = {
        .base = (uint64_t)(uintptr_t)octets,
        .length = length,
        .octets = octets,
        .access = access,
    };

    if (context == NULL || stag == NULL)
        return misuse_null(sentence, "register", "a context and a place for the STag");
    if (octets == NULL && length != 0)
        return iwarp_sentence_set(sentence, "region: %zu octets to register, but none were given", length);
    if (iwarp_region_register(context->device, &region, sentence) != 0)
        return -1;
    *stag = region.stag;
    return 0;
}

/* --- The loop ---------------------------------------------------------------------------------------------------- */

static bool something_waits(const struct iwarp_context *context)
{
    return context->waiting != 0 || context->events.count != 0;
}

void context_mark_busy(struct iwarp_context *context, struct iwarp_qp *qp)
{
    context->several_busy |= context->busy_qp != NULL && context->busy_qp != qp;
    context->busy_qp = qp;
}

void context_flush(struct iwarp_context *context)
{
    struct iwarp_qp *list = context->dirty;

    context->dirty = NULL;
    while (list != NULL) {
        struct iwarp_qp *qp = list;

        list = qp->next_dirty;
        qp->next_dirty = NULL;
        qp->dirty = false;
        context_mark_busy(context, qp);
        qp_pump(qp);
    }
}

/*
 * On a busy connection the answer to what was just sent, or what follows the octets that came, is often there before
 * the loop is asked, or some microseconds later: to look for it is then cheaper for both ends than to sleep and be
 * woken. Where a look found nothing the next ones are left out. Now and then the loop is asked all the same, so that
 * others have their turn. False: nothing came.
 */
static bool more_is_there(struct iwarp_context *context)
{
    struct iwarp_qp *qp = context->several_busy ? NULL : context->busy_qp;
    uint64_t until;
    bool came;

    context->busy_qp = NULL;
    context->several_busy = false;
    if (qp == NULL || qp->socket == NULL || qp->opening || ++context->busy_turns > BUSY_TURNS) {
        context->busy_turns = 0;
        return false;
    }
    if (context->look_pause != 0) {
        context->look_pause--;
        return false;
    }
    until = uv_hrtime() + LOOK_NS;
    do
        came = tcp_socket_look(qp->socket);
    while (!came && qp->socket != NULL && uv_hrtime() < until);
    context->look_pause = came ? 0 : LOOK_PAUSE;
    return came;
}

/* After a second attempt. */
static bool lacks_memory(const struct iwarp_context *context)
{
    for (const struct iwarp_qp *qp = context->dirty; qp != NULL; qp = qp->next_dirty)
        if (qp->retry)
            return true;
    return false;
}

static int run(struct iwarp_context *context, int timeout_ms, struct iwarp_sentence *sentence)
{
    int result = 0;

    links_begin_initiated(context);
    if (context->dirty != NULL)
        context_flush(context);
    if (something_waits(context) || context->dirty != NULL || timeout_ms == 0) {
        result = uv_run(&context->loop, UV_RUN_NOWAIT);
    } else if (timeout_ms < 0 && context->live == 0 && context->listeners == NULL) {
        return iwarp_sentence_set(sentence, "context_run: without a listener or an open queue pair, no event can come");
    } else {
        if (timeout_ms > 0)
            context->limited = uv_timer_start(&context->limit, limit_over, (uint64_t)timeout_ms, 0) == 0;
        /* A queue pair that found no memory for its events would wait for octets that need not come. */
        while (result >= 0 && !something_waits(context) && context->dirty == NULL &&
               (timeout_ms < 0 || context->limited)) {
            result = more_is_there(context) ? 0 : uv_run(&context->loop, UV_RUN_ONCE);
            if (context->dirty != NULL)
                context_flush(context);
        }
        if (timeout_ms > 0)
            (void)uv_timer_stop(&context->limit);
    }
    if (result < 0)
        return iwarp_sentence_set(sentence, "context: the event loop failed: %s", uv_strerror(result));
    if (!something_waits(context) && lacks_memory(context))
        return iwarp_sentence_set(sentence, "context: out of memory for the reports of a queue pair");
    return something_waits(context);
}

int iwarp_context_run(struct iwarp_context *context, int timeout_ms, struct iwarp_sentence *sentence)
{
    int result;

    if (context == NULL)
        return misuse_null(sentence, "context_run", "a context");
    if (context->pool.writes != 0)
        tcp_socket_guard(&context->pool);
    result = run(context, timeout_ms, sentence);
    if (context->pool.guarded)
        tcp_socket_unguard(&context->pool);
    return result;
}

int iwarp_context_fd(const struct iwarp_context *context)
{
    return context == NULL ? -1 : uv_backend_fd(&context->loop);
}

int iwarp_context_timeout(const struct iwarp_context *context)
{
    const struct deadline *first;
    uint64_t now = uv_hrtime();
    uint64_t left;

    if (context == NULL)
        return -1;
    if (context->dirty != NULL || context->initiated != NULL || something_waits(context))
        return 0;
    if (context->links != NULL)
        return SCTP_TICK_MS;
    first = deadlines_first(&context->deadlines);
    if (first == NULL)
        return -1;
    left = first->when > now ? (first->when - now) / NS_PER_MS + 1 : 0;
    return left > INT32_MAX ? INT32_MAX : (int)left;
}

/* --- Events ------------------------------------------------------------------------------------------------------ */

struct iwarp_qp_event *context_event(struct iwarp_context *context, enum iwarp_qp_event_kind kind, struct iwarp_qp *qp)
{
    struct iwarp_qp_event *event = ring_push(&context->events);

    if (event == NULL)
        return NULL;
    memset(event, 0, sizeof(*event));
    event->kind = kind;
    event->qp = qp;
    if (qp != NULL)
        qp->unread_reports++;
    return event;
}

bool iwarp_next_event(struct iwarp_context *context, struct iwarp_qp_event *event)
{
    const struct iwarp_qp_event *oldest;

    if (context == NULL || event == NULL)
        return false;
    oldest = ring_at(&context->events, 0);
    if (oldest == NULL)
        return false;
    *event = *oldest;
    if (event->qp != NULL) {
        event->user = event->qp->user;
        event->qp->unread_reports--;
    }
    ring_pop(&context->events);
    return true;
}

void context_forget(struct iwarp_context *context, const struct iwarp_qp *qp, const struct iwarp_cq *cq)
{
    size_t count = context->events.count;

    for (size_t i = 0; i < count; i++) {
        struct iwarp_qp_event event = *(struct iwarp_qp_event *)ring_at(&context->events, 0);

        ring_pop(&context->events);
        if ((qp == NULL || event.qp != qp) && (cq == NULL || event.cq != cq))
            *(struct iwarp_qp_event *)ring_push(&context->events) = event;
    }
}
