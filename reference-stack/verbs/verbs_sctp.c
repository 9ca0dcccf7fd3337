/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs over SCTP: their associations, called links here. A queue pair belongs to a link from its beginning until
 * its session is over, and ends then like one whose TCP connection is gone.
 */
#include <stdlib.h>
#include <utlist.h>

#include "reference-stack/base/misuse.h"
#include "reference-stack/verbs/verbs_internal.h"

enum { PENDING_MAX = 1024 }; /* session requests that one packet may contain; the program gets them together */

/* --- Links -------------------------------------------------------------------------------------------------------- */

static struct link *link_new(struct iwarp_context *context, struct iwarp_sentence *sentence)
{
    struct link *link = calloc(1, sizeof(*link));

    if (link == NULL || deadlines_join(&context->link_deadlines) != 0) {
        free(link);
        (void)iwarp_sentence_set(sentence, "association: out of memory");
        return NULL;
    }
    link->context = context;
    DL_APPEND(context->links, link);
    link->association = iwarp_association_new(context->device, &context->association, uv_hrtime(), sentence);
    return link;
}

static int link_join(struct link *link, struct iwarp_qp *qp, struct iwarp_sentence *sentence)
{
    HASH_ADD(hh, link->qps, number, sizeof(qp->number), qp);
    if (hash_lost(qp))
        return iwarp_sentence_set(sentence, "queue pair: out of memory");
    qp->link = link;
    return 0;
}

void link_leave(struct iwarp_qp *qp)
{
    if (qp->link == NULL)
        return;
    HASH_DEL(qp->link->qps, qp);
    qp->link = NULL;
    if (qp->initiated_sid >= 0)
        LL_DELETE2(qp->context->initiated, qp, next_initiated);
    qp->initiated_sid = -1;
}

/* Its session is over, or never came to be. What is left to say, the stream says. */
static void qp_over(struct iwarp_qp *qp)
{
    link_leave(qp);
    if (iwarp_stream_state(qp->stream) != IWARP_STATE_CLOSED)
        iwarp_stream_abort(qp->stream, qp->context->now);
    qp_pump(qp);
}

static void link_free(struct link *link)
{
    struct iwarp_context *context = link->context;
    struct iwarp_qp *qp, *next;

    sctp_path_release(link->path);
    iwarp_association_free(link->association);
    HASH_ITER (hh, link->qps, qp, next) {
        qp_over(qp);
    }
    deadlines_leave(&context->link_deadlines, &link->deadline);
    DL_DELETE(context->links, link);
    free(link);
}

void links_free(struct iwarp_context *context)
{
    while (context->links != NULL)
        link_free(context->links);
}

/* --- Events of an association ------------------------------------------------------------------------------------- */

static void failed(struct iwarp_qp *qp, const char *why)
{
    struct iwarp_qp_event *event = context_event(qp->context, IWARP_QP_CONNECT_FAILED, qp);

    if (event != NULL)
        (void)snprintf(event->detail.text, sizeof(event->detail.text), "%.120s", why);
    qp_over(qp);
}

/* The association is up: the session begins. */
static void begin(struct iwarp_qp *qp)
{
    struct iwarp_association *association = qp->link->association;
    struct iwarp_sentence sentence = {"no stream of the association is free"};
    int sid = iwarp_association_free_sid(association);

    if (sid < 0 || iwarp_sctp_stream_attach(association, (uint16_t)sid, qp->stream, uv_hrtime(), &sentence) != 0)
        failed(qp, sentence.text);
    else
        qp->opening = false;
}

/*
 * The peer requests a session. The program gets an event and can post receives before links_begin_initiated() accepts
 * the session. Without memory or a listener this is impossible, and the association is dropped.
 */
static void requested(struct link *link, uint16_t sid)
{
    struct iwarp_context *context = link->context;
    struct iwarp_qp_event *event;
    struct iwarp_qp *qp =
        link->listener == NULL ? NULL : qp_new(context, &link->listener->options, IWARP_RESPONDER, 0, NULL);

    if (qp == NULL || link_join(link, qp, NULL) != 0) {
        iwarp_qp_free(qp);
        iwarp_association_abort(link->association, uv_hrtime());
        return;
    }
    event = context_event(context, IWARP_QP_ACCEPTED, qp);
    if (event == NULL) {
        link_leave(qp);
        iwarp_qp_free(qp);
        iwarp_association_abort(link->association, uv_hrtime());
        return;
    }
    event->listener = link->listener;
    qp->opening = true;
    qp->initiated_sid = sid;
    LL_PREPEND2(context->initiated, qp, next_initiated);
}

void links_begin_initiated(struct iwarp_context *context)
{
    struct iwarp_qp *qp;

    while ((qp = context->initiated) != NULL) {
        struct link *link = qp->link;
        int sid = qp->initiated_sid;

        LL_DELETE2(context->initiated, qp, next_initiated);
        qp->initiated_sid = -1;
        qp->opening = false;
        if (iwarp_sctp_stream_attach(link->association, (uint16_t)sid, qp->stream, uv_hrtime(), NULL) != 0)
            qp_over(qp); /* the request has been withdrawn */
        link_pump(link);
    }
}

static void handle_association_event(struct link *link, const struct iwarp_association_event *event)
{
    struct iwarp_qp *qp, *next;

    switch (event->kind) {
    case IWARP_ASSOCIATION_UP:
        link->up = true;
        HASH_ITER (hh, link->qps, qp, next) {
            if (qp->opening)
                begin(qp);
        }
        break;
    case IWARP_ASSOCIATION_REQUEST: requested(link, event->sid); break;
    case IWARP_ASSOCIATION_DOWN:
        link->over = true;
        HASH_ITER (hh, link->qps, qp, next) {
            if (qp->opening && qp->initiated_sid < 0)
                failed(qp, event->text);
        }
        break;
    case IWARP_ASSOCIATION_CONTROL:
    case IWARP_ASSOCIATION_CLOSED:
    default: break;
    }
}

/* True: the stream had events, or has ended. */
static bool handle_stream_events(struct link *link, const struct iwarp_stream *stream)
{
    uint32_t number = iwarp_stream_number(stream);
    struct iwarp_qp *qp;
    bool any;

    HASH_FIND(hh, link->qps, &number, sizeof(number), qp);
    if (qp == NULL || qp->opening)
        return false;
    any = iwarp_stream_has_event(qp->stream);
    if (!qp_handle_events(qp) || iwarp_sctp_stream_sid(qp->stream) >= 0)
        return any && !qp->retry;
    qp_over(qp);
    return true;
}

void link_pump(struct link *link)
{
    struct iwarp_association_event event;
    const struct iwarp_stream *stream;
    bool more = !link->pumping;

    if (link->pumping)
        return;
    link->pumping = true;
    context_clock(link->context);
    while (more) {
        more = false;
        if (link->own && link->up && !link->over && link->qps == NULL)
            iwarp_association_close(link->association, uv_hrtime());
        sctp_path_run(link->path, uv_hrtime());
        while ((stream = iwarp_association_poll_stream(link->association)) != NULL)
            more = handle_stream_events(link, stream) || more;
        while (iwarp_association_poll(link->association, &event)) {
            handle_association_event(link, &event);
            more = true;
        }
    }
    link->pumping = false;
    if (link->over)
        link_free(link);
    else
        deadlines_set(&link->context->link_deadlines, &link->deadline, iwarp_association_deadline(link->association));
}

void links_tick(struct iwarp_context *context)
{
    uint64_t now = uv_hrtime();
    struct deadline *first;

    while ((first = deadlines_first(&context->link_deadlines)) != NULL && first->when <= now) {
        struct link *link = (struct link *)(void *)((uint8_t *)first - offsetof(struct link, deadline));

        deadlines_set(&context->link_deadlines, first, UINT64_MAX);
        iwarp_association_tick(link->association, now);
        link_pump(link);
    }
}

/* --- The transport ------------------------------------------------------------------------------------------------ */

static struct iwarp_association *on_incoming(void *owner, uint16_t port, struct sctp_path *path, void **user)
{
    struct iwarp_context *context = owner;
    struct iwarp_listener *listener;
    struct link *link;

    LL_SEARCH_SCALAR(context->listeners, listener, sctp_port, port);
    link = listener == NULL ? NULL : link_new(context, NULL);
    if (link == NULL)
        return NULL;
    if (link->association == NULL) {
        link_free(link);
        return NULL;
    }
    link->listener = listener;
    link->path = path;
    *user = link;
    return link->association;
}

static void on_changed(void *user)
{
    link_pump(user);
}

void iwarp_sctp_options_default(struct iwarp_sctp_options *options, enum iwarp_sctp_profile profile)
{
    if (options == NULL)
        return;
    *options = (struct iwarp_sctp_options){.udp_port = SCTP_UDP_PORT, .peer_udp_port = SCTP_UDP_PORT};
    iwarp_association_config_default(&options->association, profile);
    options->association.pending_max = PENDING_MAX;
}

int iwarp_context_use_sctp(struct iwarp_context *context, const struct iwarp_sctp_options *options,
                           struct iwarp_sentence *sentence)
{
    struct sctp_hub_config hub = {.incoming = on_incoming, .changed = on_changed, .owner = context};
    struct iwarp_association_config config;
    struct iwarp_association *trial;
    struct sockaddr_storage name;
    const char *address;

    if (context == NULL || options == NULL)
        return misuse_null(sentence, "context_use_sctp", "a context and options");
    if (context->sctp != NULL || context->listeners != NULL || context->qps != NULL)
        return iwarp_sentence_set(sentence, "context_use_sctp: the context is in use");
    address = options->address == NULL ? "0.0.0.0" : options->address;
    if (socket_name_parse(address, options->udp_port, &name) != 0)
        return iwarp_sentence_set(sentence, "context_use_sctp: '%.60s' is no numeric address", address);
    config = options->association;
    config.network_octets = sctp_udp_headers(name.ss_family);
    if (config.mtu > SCTP_UDP_MTU_MAX)
        return iwarp_sentence_set(sentence, "context_use_sctp: MTU %zu, at most %d is possible", config.mtu,
                                  SCTP_UDP_MTU_MAX);
    trial = iwarp_association_new(context->device, &config, uv_hrtime(), sentence);
    if (trial == NULL)
        return -1;
    iwarp_association_free(trial);
    hub.fragments = config.profile == IWARP_SCTP_RFC5043;
    context->sctp = sctp_udp_open(&context->loop, &name, config.mtu, &hub, sentence);
    if (context->sctp == NULL)
        return -1;
    context->association = config;
    context->peer_udp_port = options->peer_udp_port;
    return 0;
}

uint16_t iwarp_context_udp_port(const struct iwarp_context *context)
{
    return context == NULL || context->sctp == NULL ? 0 : sctp_udp_port(context->sctp);
}

int links_listen(struct iwarp_listener *listener, uint16_t port, struct iwarp_sentence *why)
{
    int opened = sctp_hub_listen(sctp_udp_hub(listener->context->sctp), port, why);

    if (opened < 0)
        return -1;
    listener->sctp_port = (uint16_t)opened;
    return 0;
}

/* Its associations stay up, and accept no sessions any more. */
void links_unlisten(struct iwarp_listener *listener)
{
    struct link *link;

    sctp_hub_unlisten(sctp_udp_hub(listener->context->sctp), listener->sctp_port);
    DL_FOREACH(listener->context->links, link)
    {
        if (link->listener == listener)
            link->listener = NULL;
    }
}

int links_connect(struct iwarp_qp *qp, const struct sockaddr_storage *name, uint16_t port,
                  struct iwarp_sentence *sentence)
{
    struct iwarp_context *context = qp->context;
    struct sockaddr_storage to = *name;
    struct link *link = link_new(context, sentence);

    if (link == NULL)
        return -1;
    link->own = true;
    socket_name_set_port(&to, context->peer_udp_port);
    if (link->association != NULL && link_join(link, qp, sentence) == 0) {
        link->path = sctp_udp_connect(context->sctp, &to, port, link->association, link, sentence);
        if (link->path != NULL)
            return 0;
        link_leave(qp);
    }
    link_free(link);
    return -1;
}

struct iwarp_qp *iwarp_connect_same_association(struct iwarp_qp *qp, const struct iwarp_qp_options *options,
                                                struct iwarp_sentence *sentence)
{
    struct iwarp_qp *other;

    if (qp == NULL) {
        (void)misuse_null(sentence, "connect_beside", "a queue pair");
        return NULL;
    }
    if (options_check(qp->context, options, sentence) != 0)
        return NULL;
    if (qp->link == NULL) {
        (void)iwarp_sentence_set(sentence, "connect_beside: the queue pair has no association, or has ended");
        return NULL;
    }
    other = qp_new(qp->context, options, IWARP_INITIATOR, 0, sentence);
    if (other == NULL)
        return NULL;
    other->opening = true;
    if (link_join(qp->link, other, sentence) != 0) {
        iwarp_qp_free(other);
        return NULL;
    }
    if (other->link->up)
        begin(other);
    qp_dirty(other);
    return other;
}
