/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "reference-stack/base/misuse.h"
#include "reference-stack/transport/reserve.h"
#include "reference-stack/core/stream_internal.h"
#include "reference-stack/verbs/verbs_internal.h"

void iwarp_qp_options_default(struct iwarp_qp_options *options, struct iwarp_cq *cq)
{
    if (options == NULL)
        return;
    memset(options, 0, sizeof(*options));
    iwarp_stream_config_default(&options->stream, IWARP_RESPONDER);
    options->send_cq = options->receive_cq = cq;
}

/* --- Life -------------------------------------------------------------------------------------------------------- */

struct iwarp_qp *qp_new(struct iwarp_context *context, const struct iwarp_qp_options *options, enum iwarp_role role,
                        size_t emss, struct iwarp_sentence *sentence)
{
    struct iwarp_stream_config config = options->stream;
    struct iwarp_qp *qp = calloc(1, sizeof(*qp));

    if (qp == NULL || deadlines_join(&context->deadlines) != 0) {
        free(qp);
        (void)iwarp_sentence_set(sentence, "queue pair: out of memory");
        return NULL;
    }
    config.role = role;
    config.number = ++context->next_number;
    config.srq = options->srq;
    if (emss != 0)
        config.emss = emss;
    context_clock(context);
    qp->stream = context->sctp != NULL ? iwarp_sctp_stream_detached(context->device, &config, context->now, sentence)
                                       : iwarp_stream_new(context->device, &config, context->now, sentence);
    if (qp->stream == NULL) {
        deadlines_leave(&context->deadlines, &qp->deadline);
        free(qp);
        return NULL;
    }
    qp->context = context;
    qp->number = config.number;
    qp->initiated_sid = -1;
    queues_join(options);
    qp->send_cq = options->send_cq;
    qp->receive_cq = options->receive_cq;
    qp->srq = options->srq;
    qp->user = options->user;
    qp->carrier.emss = config.emss;
    qp->next = context->qps;
    if (qp->next != NULL)
        qp->next->previous = qp;
    context->qps = qp;
    context->live++;
    return qp;
}

static void undirty(struct iwarp_qp *qp)
{
    for (struct iwarp_qp **at = &qp->context->dirty; qp->dirty && *at != NULL; at = &(*at)->next_dirty) {
        if (*at == qp) {
            *at = qp->next_dirty;
            qp->dirty = false;
            return;
        }
    }
}

void iwarp_qp_free(struct iwarp_qp *qp)
{
    struct iwarp_context *context;
    struct link *link;

    if (qp == NULL)
        return;
    context = qp->context;
    link = qp->link;
    link_leave(qp);
    undirty(qp);
    if (qp->socket != NULL)
        tcp_socket_abort(qp->socket);
    context->live -= qp->stream != NULL;
    iwarp_stream_free(qp->stream);
    if (qp->unread_reports != 0) {
        cq_forget(qp->send_cq, qp);
        cq_forget(qp->receive_cq, qp);
        context_forget(context, qp, NULL);
    }
    queues_leave(qp->send_cq, qp->receive_cq, qp->srq);
    if (context->busy_qp == qp)
        context->busy_qp = NULL;
    deadlines_leave(&context->deadlines, &qp->deadline);
    if (qp->previous != NULL)
        qp->previous->next = qp->next;
    else
        context->qps = qp->next;
    if (qp->next != NULL)
        qp->next->previous = qp->previous;
    free(qp);
    if (link != NULL)
        link_pump(link);
}

void qp_dirty(struct iwarp_qp *qp)
{
    if (qp->dirty)
        return;
    qp->dirty = true;
    qp->next_dirty = qp->context->dirty;
    qp->context->dirty = qp;
}

/* --- Events of the stream ---------------------------------------------------------------------------------------- */

static void report_event(struct iwarp_qp *qp, enum iwarp_qp_event_kind kind, const struct iwarp_event *detail)
{
    struct iwarp_qp_event *event = context_event(qp->context, kind, qp);

    if (event == NULL)
        return;
    event->detail = *detail;
    if (detail->start.private_data == NULL || detail->start.private_octets > sizeof(qp->peer_private_data))
        return;
    memcpy(qp->peer_private_data, detail->start.private_data, detail->start.private_octets);
    event->detail.start.private_data = qp->peer_private_data;
}

static void handle_event(struct iwarp_qp *qp, const struct iwarp_event *event)
{
    switch (event->kind) {
    case IWARP_EVENT_CONNECT_REQUEST:
        if (iwarp_stream_state(qp->stream) == IWARP_STATE_DECISION)
            report_event(qp, IWARP_QP_CONNECT_REQUEST, event);
        break;
    case IWARP_EVENT_ESTABLISHED: report_event(qp, IWARP_QP_ESTABLISHED, event); break;
    case IWARP_EVENT_REJECTED:
        report_event(qp, IWARP_QP_REJECTED, event);
        iwarp_stream_disconnect(qp->stream, qp->context->now);
        break;
    case IWARP_EVENT_TERMINATE_RECEIVED: report_event(qp, IWARP_QP_TERMINATED, event); break;
    case IWARP_EVENT_ERROR: report_event(qp, qp->opening ? IWARP_QP_CONNECT_FAILED : IWARP_QP_ERROR, event); break;
    case IWARP_EVENT_HALF_CLOSED: iwarp_stream_disconnect(qp->stream, qp->context->now); break;
    case IWARP_EVENT_REJECT_SENT:
    case IWARP_EVENT_TRANSMIT_READY:
    case IWARP_EVENT_TERMINATE_SENT:
    case IWARP_EVENT_CLOSED: break;
    default: cq_complete(qp, event); break;
    }
}

/* Events stay in the stream while there is no memory for what becomes of them. False when some are left. */
static bool handle_all(struct iwarp_qp *qp)
{
    struct iwarp_event event;

    for (;;) {
        if (!iwarp_stream_has_event(qp->stream))
            return true;
        if (!cq_has_room(qp->send_cq) || !cq_has_room(qp->receive_cq) || ring_reserve(&qp->context->events, 1) != 0)
            return false;
        (void)iwarp_stream_poll(qp->stream, &event);
        handle_event(qp, &event);
    }
}

/* Nothing of the connection is left; the last event says so. */
static void end(struct iwarp_qp *qp)
{
    if (!handle_all(qp) || context_event(qp->context, IWARP_QP_CLOSED, qp) == NULL) {
        qp->retry = true;
        return;
    }
    iwarp_stream_free(qp->stream);
    qp->stream = NULL;
    qp->context->live--;
    deadlines_set(&qp->context->deadlines, &qp->deadline, UINT64_MAX);
}

/* True: there is no connection (any more). */
static bool part(struct iwarp_qp *qp)
{
    if (qp->socket == NULL)
        return true;
    /* Before TCP is open there is nothing to be said in order. */
    if (qp->opening && iwarp_stream_state(qp->stream) >= IWARP_STATE_TERMINATING)
        iwarp_stream_abort(qp->stream, qp->context->now);
    if (!carrier_settle(&qp->carrier, &tcp_socket_carrier, qp->socket, qp->stream, qp->context->now))
        return false;
    qp->socket = NULL;
    return true;
}

bool qp_handle_events(struct iwarp_qp *qp)
{
    qp->retry = !handle_all(qp);
    if (qp->retry)
        qp_dirty(qp);
    return !qp->retry;
}

void qp_pump(struct iwarp_qp *qp)
{
    struct iwarp_context *context = qp->context;

    if (qp->stream == NULL)
        return;
    if (qp->link != NULL) {
        (void)qp_handle_events(qp);
        link_pump(qp->link);
        return;
    }
    qp->retry = false;
    if (qp->socket != NULL && !qp->opening)
        carrier_follow_emss(&qp->carrier, &tcp_socket_carrier, qp->socket, qp->stream, context->now);
    do {
        if (qp->socket != NULL && !qp->opening)
            qp->carrier.emss_octets +=
                output_batch_drain(&context->output_batch, qp->socket, qp->stream, qp->carrier.emss, context->now);
        if (!handle_all(qp)) {
            qp->retry = true;
            break;
        }
    } while (iwarp_stream_has_event(qp->stream));
    if (part(qp))
        end(qp);
    else
        deadlines_set(&context->deadlines, &qp->deadline, iwarp_stream_deadline(qp->stream));
    if (qp->retry)
        qp_dirty(qp);
}

/* --- Events of the socket ---------------------------------------------------------------------------------------- */

static void socket_connected(void *owner)
{
    struct iwarp_qp *qp = owner;
    size_t emss = tcp_socket_emss(qp->socket);

    context_clock(qp->context);
    qp->opening = false;
    if (emss != 0) {
        iwarp_stream_set_emss(qp->stream, emss);
        qp->carrier.emss = emss;
    }
    qp_pump(qp);
}

static void socket_connect_failed(void *owner, const char *why)
{
    struct iwarp_qp *qp = owner;
    struct iwarp_event detail = {.kind = IWARP_EVENT_ERROR};

    context_clock(qp->context);
    qp->socket = NULL;
    (void)snprintf(detail.text, sizeof(detail.text), "%s", why);
    if (ring_reserve(&qp->context->events, 1) == 0) {
        report_event(qp, IWARP_QP_CONNECT_FAILED, &detail);
        iwarp_stream_abort(qp->stream, qp->context->now);
    } else {
        /* The stream keeps it for when there is memory again, in words of its own. */
        iwarp_stream_input_reset(qp->stream, qp->context->now);
    }
    qp_pump(qp);
}

static void socket_input(void *owner, const uint8_t *octets, size_t count)
{
    struct iwarp_qp *qp = owner;

    context_clock(qp->context);
    context_mark_busy(qp->context, qp);
    iwarp_stream_input(qp->stream, octets, count, qp->context->now);
    qp_pump(qp);
}

static size_t socket_space(void *owner, uint8_t **space)
{
    struct iwarp_qp *qp = owner;

    return iwarp_stream_input_space(qp->stream, space);
}

static void socket_filled(void *owner, size_t count)
{
    struct iwarp_qp *qp = owner;

    context_clock(qp->context);
    context_mark_busy(qp->context, qp);
    iwarp_stream_input_filled(qp->stream, count, qp->context->now);
    qp_pump(qp);
}

static void socket_fin(void *owner)
{
    struct iwarp_qp *qp = owner;

    context_clock(qp->context);
    iwarp_stream_input_fin(qp->stream, qp->context->now);
    qp_pump(qp);
}

void qp_lost(void *owner)
{
    struct iwarp_qp *qp = owner;

    context_clock(qp->context);
    qp->socket = NULL;
    iwarp_stream_input_reset(qp->stream, qp->context->now);
    qp_pump(qp);
}

static void socket_writable(void *owner)
{
    qp_pump(owner);
}

const struct tcp_socket_ops qp_socket_ops = {
    .connected = socket_connected,
    .connect_failed = socket_connect_failed,
    .input = socket_input,
    .space = socket_space,
    .filled = socket_filled,
    .fin = socket_fin,
    .lost = qp_lost,
    .writable = socket_writable,
};

/* --- Decisions and work ------------------------------------------------------------------------------------------- */

/* There is no stream that could take it. */
static int without(const struct iwarp_qp *qp, const char *function, struct iwarp_sentence *sentence)
{
    if (qp == NULL)
        return misuse_null(sentence, function, "a queue pair");
    return iwarp_sentence_set(sentence, "queue pair: it has ended");
}

int iwarp_accept(struct iwarp_qp *qp, const void *private_data, size_t octets, struct iwarp_sentence *sentence)
{
    if (qp == NULL || qp->stream == NULL)
        return without(qp, "accept", sentence);
    qp_dirty(qp);
    return iwarp_stream_accept(qp->stream, private_data, octets, -1, -1, qp->context->now, sentence);
}

int iwarp_reject(struct iwarp_qp *qp, const void *private_data, size_t octets, struct iwarp_sentence *sentence)
{
    if (qp == NULL || qp->stream == NULL)
        return without(qp, "reject", sentence);
    qp_dirty(qp);
    return iwarp_stream_reject(qp->stream, private_data, octets, qp->context->now, sentence);
}

void iwarp_disconnect(struct iwarp_qp *qp)
{
    if (qp == NULL || qp->stream == NULL)
        return;
    qp_dirty(qp);
    iwarp_stream_disconnect(qp->stream, qp->context->now);
}

int iwarp_post_receive(struct iwarp_qp *qp, uint64_t id, uint8_t *buffer, size_t octets,
                       struct iwarp_sentence *sentence)
{
    if (qp == NULL || qp->stream == NULL)
        return without(qp, "post_receive", sentence);
    return iwarp_stream_post_receive(qp->stream, id, buffer, octets, sentence);
}

int iwarp_post_receive_pieces(struct iwarp_qp *qp, uint64_t id, const struct iwarp_buffer *pieces, size_t count,
                              struct iwarp_sentence *sentence)
{
    if (qp == NULL || qp->stream == NULL)
        return without(qp, "post_receive_pieces", sentence);
    return iwarp_stream_post_receive_pieces(qp->stream, id, pieces, count, sentence);
}

int iwarp_post_send(struct iwarp_qp *qp, const struct iwarp_send *send, struct iwarp_sentence *sentence)
{
    if (qp == NULL || qp->stream == NULL)
        return without(qp, "post_send", sentence);
    qp_dirty(qp);
    return iwarp_stream_post_send(qp->stream, send, sentence);
}

int iwarp_post_write(struct iwarp_qp *qp, const struct iwarp_write *write, struct iwarp_sentence *sentence)
{
    if (qp == NULL || qp->stream == NULL)
        return without(qp, "post_write", sentence);
    qp_dirty(qp);
    return iwarp_stream_post_write(qp->stream, write, sentence);
}

int iwarp_post_read(struct iwarp_qp *qp, const struct iwarp_read *read, struct iwarp_sentence *sentence)
{
    if (qp == NULL || qp->stream == NULL)
        return without(qp, "post_read", sentence);
    qp_dirty(qp);
    return iwarp_stream_post_read(qp->stream, read, sentence);
}

int iwarp_post_atomic(struct iwarp_qp *qp, const struct iwarp_atomic *atomic, struct iwarp_sentence *sentence)
{
    if (qp == NULL || qp->stream == NULL)
        return without(qp, "post_atomic", sentence);
    qp_dirty(qp);
    return iwarp_stream_post_atomic(qp->stream, atomic, sentence);
}

int iwarp_post_immediate(struct iwarp_qp *qp, const struct iwarp_immediate *immediate, struct iwarp_sentence *sentence)
{
    if (qp == NULL || qp->stream == NULL)
        return without(qp, "post_immediate", sentence);
    qp_dirty(qp);
    return iwarp_stream_post_immediate(qp->stream, immediate, sentence);
}

void *iwarp_qp_user(const struct iwarp_qp *qp)
{
    return qp == NULL ? NULL : qp->user;
}

void iwarp_qp_set_user(struct iwarp_qp *qp, void *user)
{
    if (qp != NULL)
        qp->user = user;
}

const struct iwarp_stream *iwarp_qp_stream(const struct iwarp_qp *qp)
{
    return qp == NULL ? NULL : qp->stream;
}
