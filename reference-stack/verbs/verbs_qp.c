/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "reference-stack/base/misuse.h"
#include "reference-stack/transport/reserve.h"
#include "reference-stack/core/stream_internal.h"
#include "reference-stack/mpa/mpa.h"
#include "reference-stack/verbs/verbs_internal.h"

void iwarp_qp_options_default(struct iwarp_qp_options *options, struct iwarp_cq *cq)
{
    if (options == NULL)
        return;
    memset(options, 0, sizeof(*options));
    iwarp_stream_config_default(&options->stream, IWARP_RESPONDER);
    options->send_cq = options->receive_cq = cq;
}

/* Work has to have somewhere to be completed. */
static int options_check(const struct iwarp_context *context, const struct iwarp_qp_options *options,
                         struct sentence *sentence)
{
    if (context == NULL || options == NULL)
        return misuse_null(sentence, "queue pair", "a context and options");
    if (options->send_cq == NULL || options->receive_cq == NULL)
        return sentence_set(sentence, "queue pair: send_cq and receive_cq were expected");
    if (options->send_cq->context != context || options->receive_cq->context != context ||
        (options->srq != NULL && options->srq->context != context))
        return sentence_set(sentence, "queue pair: queues of its own context were expected");
    if (options->send_cq->gone || options->receive_cq->gone || (options->srq != NULL && options->srq->gone))
        return sentence_set(sentence, "queue pair: the completion queues were freed");
    return 0;
}

/* --- Life -------------------------------------------------------------------------------------------------------- */

static struct iwarp_qp *qp_new(struct iwarp_context *context, const struct iwarp_qp_options *options,
                               enum iwarp_role role, size_t emss, struct sentence *sentence)
{
    struct iwarp_stream_config config = options->stream;
    struct iwarp_qp *qp = calloc(1, sizeof(*qp));

    if (qp == NULL || deadlines_join(&context->deadlines) != 0) {
        free(qp);
        (void)sentence_set(sentence, "queue pair: out of memory");
        return NULL;
    }
    config.role = role;
    config.number = ++context->next_number;
    config.srq = options->srq;
    if (emss != 0)
        config.emss = emss;
    context_clock(context);
    qp->stream = iwarp_stream_new(context->device, &config, context->now, sentence);
    if (qp->stream == NULL) {
        deadlines_leave(&context->deadlines, &qp->deadline);
        free(qp);
        return NULL;
    }
    qp->context = context;
    queues_join(options);
    qp->send_cq = options->send_cq;
    qp->receive_cq = options->receive_cq;
    qp->srq = options->srq;
    qp->user = options->user;
    qp->emss = config.emss;
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

    if (qp == NULL)
        return;
    context = qp->context;
    undirty(qp);
    if (qp->socket != NULL)
        tcp_socket_abort(qp->socket);
    context->live -= qp->stream != NULL;
    iwarp_stream_free(qp->stream);
    if (qp->told != 0) {
        cq_forget(qp->send_cq, qp);
        cq_forget(qp->receive_cq, qp);
        context_forget(context, qp, NULL);
    }
    queues_leave(qp->send_cq, qp->receive_cq, qp->srq);
    if (context->hot == qp)
        context->hot = NULL;
    deadlines_leave(&context->deadlines, &qp->deadline);
    if (qp->previous != NULL)
        qp->previous->next = qp->next;
    else
        context->qps = qp->next;
    if (qp->next != NULL)
        qp->next->previous = qp->previous;
    free(qp);
}

void qp_dirty(struct iwarp_qp *qp)
{
    if (qp->dirty)
        return;
    qp->dirty = true;
    qp->next_dirty = qp->context->dirty;
    qp->context->dirty = qp;
}

/* --- What the stream tells --------------------------------------------------------------------------------------- */

static void tell(struct iwarp_qp *qp, enum iwarp_qp_event_kind kind, const struct iwarp_event *detail)
{
    struct iwarp_qp_event *event = context_event(qp->context, kind, qp);

    if (event != NULL)
        event->detail = *detail;
}

static void take(struct iwarp_qp *qp, const struct iwarp_event *event)
{
    switch (event->kind) {
    case IWARP_EVENT_CONNECT_REQUEST:
        if (iwarp_stream_state(qp->stream) == IWARP_STATE_DECISION)
            tell(qp, IWARP_QP_CONNECT_REQUEST, event);
        break;
    case IWARP_EVENT_ESTABLISHED: tell(qp, IWARP_QP_ESTABLISHED, event); break;
    case IWARP_EVENT_REJECTED:
        tell(qp, IWARP_QP_REJECTED, event);
        iwarp_stream_disconnect(qp->stream, qp->context->now);
        break;
    case IWARP_EVENT_TERMINATE_RECEIVED: tell(qp, IWARP_QP_TERMINATED, event); break;
    case IWARP_EVENT_ERROR: tell(qp, qp->opening ? IWARP_QP_CONNECT_FAILED : IWARP_QP_ERROR, event); break;
    case IWARP_EVENT_HALF_CLOSED: iwarp_stream_disconnect(qp->stream, qp->context->now); break;
    case IWARP_EVENT_REJECT_SENT:
    case IWARP_EVENT_TRANSMIT_READY:
    case IWARP_EVENT_TERMINATE_SENT:
    case IWARP_EVENT_CLOSED: break;
    default: cq_complete(qp, event); break;
    }
}

/* Events stay in the stream while there is no memory for what becomes of them. False when some are left. */
static bool take_all(struct iwarp_qp *qp)
{
    struct iwarp_event event;

    for (;;) {
        if (!iwarp_stream_has_event(qp->stream))
            return true;
        if (!cq_has_room(qp->send_cq) || !cq_has_room(qp->receive_cq) || ring_reserve(&qp->context->events, 1) != 0)
            return false;
        (void)iwarp_stream_poll(qp->stream, &event);
        take(qp, &event);
    }
}

/* Nothing of the connection is left; the last event says so. */
static void end(struct iwarp_qp *qp)
{
    if (!take_all(qp) || context_event(qp->context, IWARP_QP_CLOSED, qp) == NULL) {
        qp->retry = true;
        return;
    }
    iwarp_stream_free(qp->stream);
    qp->stream = NULL;
    qp->context->live--;
    deadlines_set(&qp->context->deadlines, &qp->deadline, UINT64_MAX);
}

static bool part(struct iwarp_qp *qp)
{
    enum iwarp_want want = iwarp_stream_wants(qp->stream);
    /* Before TCP is open there is nothing to be said in order. */
    bool hopeless = qp->opening && iwarp_stream_state(qp->stream) >= IWARP_STATE_TERMINATING;

    if (qp->socket == NULL)
        return true;
    if (want == IWARP_WANT_ABORT || hopeless) {
        if (hopeless)
            iwarp_stream_abort(qp->stream, qp->context->now);
        tcp_socket_abort(qp->socket);
        qp->socket = NULL;
        return true;
    }
    if (want == IWARP_WANT_CLOSE && !qp->shut) {
        qp->shut = true;
        tcp_socket_shutdown(qp->socket);
    }
    if (iwarp_stream_state(qp->stream) != IWARP_STATE_CLOSED)
        return false;
    tcp_socket_release(qp->socket);
    qp->socket = NULL;
    return true;
}

/* The EMSS changes with the path (RFC 5044 4.5). TCP is asked now and then, as asking costs a system call. */
static void follow_emss(struct iwarp_qp *qp)
{
    size_t emss;

    if (qp->context->now - qp->emss_asked < EMSS_PERIOD && qp->emss_octets < EMSS_OCTETS)
        return;
    qp->emss_asked = qp->context->now;
    qp->emss_octets = 0;
    emss = tcp_socket_emss(qp->socket);
    if (emss == 0 || emss == qp->emss)
        return;
    qp->emss = emss;
    iwarp_stream_set_emss(qp->stream, emss);
}

void qp_pump(struct iwarp_qp *qp)
{
    struct iwarp_context *context = qp->context;

    if (qp->stream == NULL)
        return;
    qp->retry = false;
    if (qp->socket != NULL && !qp->opening)
        follow_emss(qp);
    do {
        if (qp->socket != NULL && !qp->opening)
            qp->emss_octets += outlet_drain(&context->outlet, qp->socket, qp->stream, qp->emss, context->now);
        if (!take_all(qp)) {
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

/* --- What the socket tells --------------------------------------------------------------------------------------- */

static void socket_connected(void *owner)
{
    struct iwarp_qp *qp = owner;
    size_t emss = tcp_socket_emss(qp->socket);

    context_clock(qp->context);
    qp->opening = false;
    if (emss != 0) {
        iwarp_stream_set_emss(qp->stream, emss);
        qp->emss = emss;
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
        tell(qp, IWARP_QP_CONNECT_FAILED, &detail);
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
    context_stir(qp->context, qp);
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
    context_stir(qp->context, qp);
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

static void socket_lost(void *owner)
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
    .lost = socket_lost,
    .writable = socket_writable,
};

/* --- Listening and connecting ------------------------------------------------------------------------------------ */

static void accepted(uv_stream_t *server, int status)
{
    struct iwarp_listener *listener = server->data;
    struct iwarp_context *context = listener->context;
    struct tcp_socket *socket = status < 0 ? NULL : tcp_socket_accept(&context->pool, server);
    struct iwarp_qp_event *event;
    struct iwarp_qp *qp;

    if (socket == NULL)
        return;
    qp = qp_new(context, &listener->options, IWARP_RESPONDER, tcp_socket_emss(socket), NULL);
    event = qp == NULL ? NULL : context_event(context, IWARP_QP_ACCEPTED, qp);
    if (event == NULL) {
        tcp_socket_abort(socket);
        iwarp_qp_free(qp);
        return;
    }
    event->listener = listener;
    qp->socket = socket;
    if (tcp_socket_own(socket, qp) != 0)
        socket_lost(qp);
    else
        qp_dirty(qp);
}

static void listener_closed(uv_handle_t *handle)
{
    free(handle->data);
}

struct iwarp_listener *iwarp_listen(struct iwarp_context *context, const char *address, uint16_t port,
                                    const struct iwarp_qp_options *options, struct sentence *sentence)
{
    struct iwarp_stream_config config;
    struct iwarp_listener *listener;
    struct sockaddr_storage name;
    int octets = sizeof(name);
    int result;

    if (options_check(context, options, sentence) != 0)
        return NULL;
    /* Said now, not to each connection that comes. */
    config = options->stream;
    config.role = IWARP_RESPONDER;
    if (stream_config_check(&mpa_llp, context->device, &config, sentence) != 0)
        return NULL;
    listener = reserve_suffices() ? calloc(1, sizeof(*listener)) : NULL;
    if (listener == NULL || uv_tcp_init(&context->loop, &listener->handle) != 0) {
        free(listener);
        (void)sentence_set(sentence, "listen: out of memory");
        return NULL;
    }
    listener->handle.data = listener;
    listener->context = context;
    listener->options = *options;
    if (tcp_socket_address(address, port, &name) != 0) {
        (void)sentence_set(sentence, "listen: '%.60s' is no numeric address", address == NULL ? "" : address);
        uv_close((uv_handle_t *)&listener->handle, listener_closed);
        return NULL;
    }
    result = uv_tcp_bind(&listener->handle, (const struct sockaddr *)&name, 0);
    if (result == 0)
        result = uv_listen((uv_stream_t *)&listener->handle, TCP_SOCKET_BACKLOG, accepted);
    if (result == 0)
        result = uv_tcp_getsockname(&listener->handle, (struct sockaddr *)&name, &octets);
    if (result != 0) {
        (void)sentence_set(sentence, "listen: %.60s port %u cannot be opened: %s", address, port, uv_strerror(result));
        uv_close((uv_handle_t *)&listener->handle, listener_closed);
        return NULL;
    }
    queues_join(options);
    listener->port = tcp_socket_port(&name);
    listener->next = context->listeners;
    if (listener->next != NULL)
        listener->next->previous = listener;
    context->listeners = listener;
    return listener;
}

uint16_t iwarp_listener_port(const struct iwarp_listener *listener)
{
    return listener == NULL ? 0 : listener->port;
}

void iwarp_listener_free(struct iwarp_listener *listener)
{
    if (listener == NULL)
        return;
    if (listener->previous != NULL)
        listener->previous->next = listener->next;
    else
        listener->context->listeners = listener->next;
    if (listener->next != NULL)
        listener->next->previous = listener->previous;
    queues_leave(listener->options.send_cq, listener->options.receive_cq, listener->options.srq);
    for (size_t i = 0; i < listener->context->events.count; i++) {
        struct iwarp_qp_event *event = ring_at(&listener->context->events, i);

        if (event->listener == listener)
            event->listener = NULL;
    }
    turn_away_forget(&listener->context->pool.away, (uv_stream_t *)&listener->handle);
    uv_close((uv_handle_t *)&listener->handle, listener_closed);
}

struct iwarp_qp *iwarp_connect(struct iwarp_context *context, const char *address, uint16_t port,
                               const struct iwarp_qp_options *options, struct sentence *sentence)
{
    struct sockaddr_storage name;
    struct iwarp_qp *qp;

    if (options_check(context, options, sentence) != 0)
        return NULL;
    if (tcp_socket_address(address, port, &name) != 0) {
        (void)sentence_set(sentence, "connect: '%.60s' is no numeric address", address == NULL ? "" : address);
        return NULL;
    }
    if (port == 0) {
        (void)sentence_set(sentence, "connect: port 0, but 1 to 65535 was expected");
        return NULL;
    }
    qp = qp_new(context, options, IWARP_INITIATOR, 0, sentence);
    if (qp == NULL)
        return NULL;
    qp->opening = true;
    qp->socket = tcp_socket_connect(&context->pool, &name, qp);
    if (qp->socket == NULL) {
        (void)sentence_set(sentence, "connect: %.60s port %u cannot be reached", address, port);
        iwarp_qp_free(qp);
        return NULL;
    }
    deadlines_set(&context->deadlines, &qp->deadline, iwarp_stream_deadline(qp->stream));
    return qp;
}

struct iwarp_qp *iwarp_attach(struct iwarp_context *context, int socket, enum iwarp_role role, const void *octets,
                              size_t count, const struct iwarp_qp_options *options, struct sentence *sentence)
{
    struct iwarp_qp *qp;

    if (options_check(context, options, sentence) != 0)
        return NULL;
    if (octets == NULL && count != 0) {
        (void)sentence_set(sentence, "attach: %zu octets were read, but none were given", count);
        return NULL;
    }
    qp = qp_new(context, options, role, 0, sentence);
    if (qp == NULL)
        return NULL;
    qp->socket = tcp_socket_adopt(&context->pool, socket);
    if (qp->socket == NULL) {
        (void)sentence_set(sentence, "attach: %d is no connected TCP socket", socket);
        iwarp_qp_free(qp);
        return NULL;
    }
    qp->emss_asked = context->now - EMSS_PERIOD; /* with the first octets */
    if (tcp_socket_own(qp->socket, qp) != 0) {
        socket_lost(qp);
        return qp;
    }
    if (count != 0)
        iwarp_stream_input(qp->stream, octets, count, context->now);
    qp_dirty(qp);
    return qp;
}

/* There is no stream that could take it. */
static int without(const struct iwarp_qp *qp, const char *function, struct sentence *sentence)
{
    if (qp == NULL)
        return misuse_null(sentence, function, "a queue pair");
    return sentence_set(sentence, "queue pair: it has ended");
}

int iwarp_accept(struct iwarp_qp *qp, const void *private_data, size_t octets, struct sentence *sentence)
{
    if (qp == NULL || qp->stream == NULL)
        return without(qp, "accept", sentence);
    qp_dirty(qp);
    return iwarp_stream_accept(qp->stream, private_data, octets, -1, -1, qp->context->now, sentence);
}

int iwarp_reject(struct iwarp_qp *qp, const void *private_data, size_t octets, struct sentence *sentence)
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

/* --- Work -------------------------------------------------------------------------------------------------------- */

int iwarp_post_receive(struct iwarp_qp *qp, uint64_t id, uint8_t *buffer, size_t octets, struct sentence *sentence)
{
    if (qp == NULL || qp->stream == NULL)
        return without(qp, "post_receive", sentence);
    return iwarp_stream_post_receive(qp->stream, id, buffer, octets, sentence);
}

int iwarp_post_send(struct iwarp_qp *qp, const struct iwarp_send *send, struct sentence *sentence)
{
    if (qp == NULL || qp->stream == NULL)
        return without(qp, "post_send", sentence);
    qp_dirty(qp);
    return iwarp_stream_post_send(qp->stream, send, sentence);
}

int iwarp_post_write(struct iwarp_qp *qp, const struct iwarp_write *write, struct sentence *sentence)
{
    if (qp == NULL || qp->stream == NULL)
        return without(qp, "post_write", sentence);
    qp_dirty(qp);
    return iwarp_stream_post_write(qp->stream, write, sentence);
}

int iwarp_post_read(struct iwarp_qp *qp, const struct iwarp_read *read, struct sentence *sentence)
{
    if (qp == NULL || qp->stream == NULL)
        return without(qp, "post_read", sentence);
    qp_dirty(qp);
    return iwarp_stream_post_read(qp->stream, read, sentence);
}

int iwarp_post_atomic(struct iwarp_qp *qp, const struct iwarp_atomic *atomic, struct sentence *sentence)
{
    if (qp == NULL || qp->stream == NULL)
        return without(qp, "post_atomic", sentence);
    qp_dirty(qp);
    return iwarp_stream_post_atomic(qp->stream, atomic, sentence);
}

int iwarp_post_immediate(struct iwarp_qp *qp, const struct iwarp_immediate *immediate, struct sentence *sentence)
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
