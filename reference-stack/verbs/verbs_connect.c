/* SPDX-License-Identifier: BSD-2-Clause */
/* How queue pairs come by their connections: listening, connecting, and taking over a socket. */
#include <stdlib.h>

#include "reference-stack/base/misuse.h"
#include "reference-stack/core/stream_internal.h"
#include "reference-stack/mpa/mpa.h"
#include "reference-stack/transport/reserve.h"
#include "reference-stack/verbs/verbs_internal.h"

/* Work has to have somewhere to be completed. */
int options_check(const struct iwarp_context *context, const struct iwarp_qp_options *options,
                  struct iwarp_sentence *sentence)
{
    if (context == NULL || options == NULL)
        return misuse_null(sentence, "queue pair", "a context and options");
    if (options->send_cq == NULL || options->receive_cq == NULL)
        return iwarp_sentence_set(sentence, "queue pair: send_cq and receive_cq were expected");
    if (options->send_cq->context != context || options->receive_cq->context != context ||
        (options->srq != NULL && options->srq->context != context))
        return iwarp_sentence_set(sentence, "queue pair: queues of its own context were expected");
    if (options->send_cq->gone || options->receive_cq->gone || (options->srq != NULL && options->srq->gone))
        return iwarp_sentence_set(sentence, "queue pair: the completion queues were freed");
    return 0;
}

static void accepted(void *owner, struct tcp_socket *socket)
{
    struct iwarp_listener *listener = owner;
    struct iwarp_context *context = listener->context;
    struct iwarp_qp_event *event;
    struct iwarp_qp *qp;

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
        qp_lost(qp);
    else
        qp_dirty(qp);
}

struct iwarp_listener *iwarp_listen(struct iwarp_context *context, const char *address, uint16_t port,
                                    const struct iwarp_qp_options *options, struct iwarp_sentence *sentence)
{
    struct iwarp_stream_config config;
    struct iwarp_listener *listener;
    struct sockaddr_storage name;
    struct iwarp_sentence why;

    if (options_check(context, options, sentence) != 0)
        return NULL;
    /* Said now, not to each connection that comes. */
    config = options->stream;
    config.role = IWARP_RESPONDER;
    if ((context->sctp != NULL ? iwarp_sctp_stream_config_check(context->device, &config, sentence)
                               : stream_config_check(&mpa_llp, context->device, &config, sentence)) != 0)
        return NULL;
    if (socket_name_parse(address, port, &name) != 0) {
        (void)iwarp_sentence_set(sentence, "listen: '%.60s' is no numeric address", address == NULL ? "" : address);
        return NULL;
    }
    listener = reserve_suffices() ? calloc(1, sizeof(*listener)) : NULL;
    if (listener == NULL) {
        (void)iwarp_sentence_set(sentence, "listen: out of memory");
        return NULL;
    }
    listener->context = context;
    listener->options = *options;
    if (context->sctp == NULL)
        listener->tcp = tcp_listener_open(&context->pool, &name, accepted, listener, &why);
    if (context->sctp != NULL ? links_listen(listener, port, &why) != 0 : listener->tcp == NULL) {
        free(listener);
        (void)iwarp_sentence_set(sentence, "listen: %.60s port %u cannot be opened: %.300s", address, port, why.text);
        return NULL;
    }
    queues_join(options);
    listener->next = context->listeners;
    if (listener->next != NULL)
        listener->next->previous = listener;
    context->listeners = listener;
    return listener;
}

uint16_t iwarp_listener_port(const struct iwarp_listener *listener)
{
    if (listener == NULL)
        return 0;
    return listener->tcp == NULL ? listener->sctp_port : tcp_listener_port(listener->tcp);
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
    if (listener->tcp != NULL)
        tcp_listener_close(listener->tcp);
    else
        links_unlisten(listener);
    free(listener);
}

struct iwarp_qp *iwarp_connect(struct iwarp_context *context, const char *address, uint16_t port,
                               const struct iwarp_qp_options *options, struct iwarp_sentence *sentence)
{
    struct sockaddr_storage name;
    struct iwarp_qp *qp;

    if (options_check(context, options, sentence) != 0)
        return NULL;
    if (socket_name_parse(address, port, &name) != 0) {
        (void)iwarp_sentence_set(sentence, "connect: '%.60s' is no numeric address", address == NULL ? "" : address);
        return NULL;
    }
    if (port == 0) {
        (void)iwarp_sentence_set(sentence, "connect: port 0, but 1 to 65535 was expected");
        return NULL;
    }
    qp = qp_new(context, options, IWARP_INITIATOR, 0, sentence);
    if (qp == NULL)
        return NULL;
    qp->opening = true;
    if (context->sctp != NULL) {
        if (links_connect(qp, &name, port, sentence) == 0)
            return qp;
        iwarp_qp_free(qp);
        return NULL;
    }
    qp->socket = tcp_socket_connect(&context->pool, &name, qp);
    if (qp->socket == NULL) {
        (void)iwarp_sentence_set(sentence, "connect: %.60s port %u cannot be reached", address, port);
        iwarp_qp_free(qp);
        return NULL;
    }
    deadlines_set(&context->deadlines, &qp->deadline, iwarp_stream_deadline(qp->stream));
    return qp;
}

struct iwarp_qp *iwarp_attach(struct iwarp_context *context, int socket, enum iwarp_role role, const void *octets,
                              size_t count, const struct iwarp_qp_options *options, struct iwarp_sentence *sentence)
{
    struct iwarp_qp *qp;

    if (options_check(context, options, sentence) != 0)
        return NULL;
    if (context->sctp != NULL) {
        (void)iwarp_sentence_set(sentence, "attach: the context uses SCTP, which has no TCP connections");
        return NULL;
    }
    if (octets == NULL && count != 0) {
        (void)iwarp_sentence_set(sentence, "attach: %zu octets were read, but none were given", count);
        return NULL;
    }
    qp = qp_new(context, options, role, 0, sentence);
    if (qp == NULL)
        return NULL;
    qp->socket = tcp_socket_adopt(&context->pool, socket);
    if (qp->socket == NULL) {
        (void)iwarp_sentence_set(sentence, "attach: %d is no connected TCP socket", socket);
        iwarp_qp_free(qp);
        return NULL;
    }
    qp->carrier.emss_polled_at = context->now - CARRIER_EMSS_PERIOD; /* with the first octets */
    if (tcp_socket_own(qp->socket, qp) != 0) {
        qp_lost(qp);
        return qp;
    }
    if (count != 0)
        iwarp_stream_input(qp->stream, octets, count, context->now);
    qp_dirty(qp);
    return qp;
}
