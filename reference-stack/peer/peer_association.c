/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The peer over SCTP: associations and their events. A stream of the peer belongs to one association until it is dead.
 * An association outlives its streams; the upper tester or the other side ends it (RFC 5043 11.3).
 */
#include <stdlib.h>
#include <utlist.h>

#include "reference-stack/defects/defect.h"
#include "reference-stack/peer/peer_association.h"
#include "reference-stack/transport/user_sctp.h"

enum {
    TAKEN_MAX = 1024,   /* requests of one packet, where each is taken when that has been read */
    HELD_MAX = 1 << 20, /* of messages that wait for their turn */
    /* What SCTP and the association keep at most: the peer's budget is charged with it. */
    ASSOCIATION_OCTETS = 2 * USER_SCTP_SPACE + HELD_MAX,
};

struct peer_association *peer_association_find(const struct peer *peer, uint32_t number)
{
    struct peer_association *pa;

    DL_SEARCH_SCALAR(peer->associations, pa, number, number);
    return pa;
}

/* --- Life --------------------------------------------------------------------------------------------------------- */

static struct iwarp_association_config config_of(const struct peer *peer, const struct peer_options *options)
{
    struct iwarp_association_config config = peer->config.association;

    config.faults = defect_set_faults(peer->config.defects);
    if (options->indication != 0) {
        config.indicate = true;
        config.indication = options->indication;
    } else if (options->without_ddp) {
        config.indicate = false;
    }
    /* The limit is for those that the upper tester is asked about (RFC 5043 6.4). */
    if (options->config.accept != IWARP_ACCEPT_ASK && config.pending_max < TAKEN_MAX)
        config.pending_max = TAKEN_MAX;
    if (config.held_max > HELD_MAX)
        config.held_max = HELD_MAX;
    return config;
}

int peer_association_offer(struct peer *peer, uint16_t port, const struct peer_options *options,
                           struct iwarp_sentence *sentence)
{
    struct iwarp_association_config config = config_of(peer, options);
    struct iwarp_association *trial;
    struct iwarp_sctp_init init;

    if (peer->ops->sctp->offer == NULL)
        return 0;
    trial = iwarp_association_new(peer->device, &config, peer->now, sentence);
    if (trial == NULL)
        return -1;
    iwarp_association_init(trial, &init);
    iwarp_association_free(trial);
    peer->ops->sctp->offer(peer->context, port, &init);
    return 0;
}

struct peer_association *peer_association_new(struct peer *peer, const struct peer_options *options,
                                              struct iwarp_sentence *sentence)
{
    struct iwarp_association_config config = config_of(peer, options);
    struct peer_association *pa = NULL;

    if (budget_charge(&peer->budget, ASSOCIATION_OCTETS)) {
        pa = calloc(1, sizeof(*pa));
        if (pa != NULL && deadlines_join(&peer->association_deadlines) != 0) {
            free(pa);
            pa = NULL;
        }
        if (pa == NULL)
            budget_give(&peer->budget, ASSOCIATION_OCTETS);
    }
    if (pa == NULL) {
        (void)iwarp_sentence_set(sentence, "association: memory is short");
        return NULL;
    }
    pa->peer = peer;
    pa->options = *options;
    pa->number = ++peer->last_association;
    pa->pending_max = config.pending_max;
    DL_APPEND(peer->associations, pa);
    peer->association_count++;
    pa->association = iwarp_association_new(peer->device, &config, peer->now, sentence);
    if (pa->association != NULL)
        return pa;
    peer_association_free(pa);
    return NULL;
}

void peer_association_free(struct peer_association *pa)
{
    struct peer *peer = pa->peer;

    if (pa->transport != NULL)
        peer->ops->sctp->release(pa->transport);
    while (pa->streams != NULL)
        peer_stream_dead(pa->streams);
    iwarp_association_free(pa->association);
    deadlines_leave(&peer->association_deadlines, &pa->deadline);
    budget_give(&peer->budget, ASSOCIATION_OCTETS);
    DL_DELETE(peer->associations, pa);
    peer->association_count--;
    free(pa);
}

void peer_associations_drop(struct peer *peer)
{
    while (peer->associations != NULL)
        peer_association_free(peer->associations);
}

void peer_associations_close(struct peer *peer)
{
    struct peer_association *pa, *next;

    DL_FOREACH_SAFE(peer->associations, pa, next)
    {
        if (pa->up)
            iwarp_association_close(pa->association, peer->now);
        else
            iwarp_association_abort(pa->association, peer->now);
        peer_association_pump(pa);
    }
}

/* --- Streams ------------------------------------------------------------------------------------------------------ */

void peer_association_join(struct peer_association *pa, struct peer_stream *ps)
{
    ps->association = pa;
    DL_APPEND2(pa->streams, ps, previous_of, next_of);
}

void peer_association_leave(struct peer_stream *ps)
{
    if (ps->association == NULL)
        return;
    DL_DELETE2(ps->association->streams, ps, previous_of, next_of);
    ps->association = NULL;
}

static void failed(struct peer_stream *ps, const char *why)
{
    json_t *event = peer_event_new(ps->peer, ps->number, "connect_failed");

    if (event != NULL)
        (void)json_object_set_new(event, "reason", json_string(why));
    peer_stream_dead(ps);
}

/* A stream on a SID, with its receives. */
static int stream_begin(struct peer_stream *ps, int sid, enum iwarp_role role, struct iwarp_sentence *sentence)
{
    struct peer *peer = ps->peer;
    struct iwarp_stream_config *config = &ps->options.config;

    config->role = role;
    config->number = ps->number;
    config->faults = defect_set_faults(peer->config.defects);
    ps->sid = sid;
    ps->stream = iwarp_sctp_stream_new(ps->association->association, (uint16_t)sid, config, peer->now, sentence);
    if (ps->stream == NULL)
        return -1;
    if (role == IWARP_RESPONDER && config->accept == IWARP_ACCEPT_NOT)
        return 0; /* it has its answer already, and takes no receives */
    return peer_post_receives(ps, ps->options.receives, ps->options.receive_octets, sentence);
}

void peer_association_begin(struct peer_stream *ps)
{
    struct iwarp_sentence sentence = {"no SID is free for a new session"};
    int sid = ps->sid;

    ps->connecting = false;
    ps->opener = true;
    if (sid < 0)
        sid = iwarp_association_free_sid(ps->association->association);
    if (sid < 0 || stream_begin(ps, sid, IWARP_INITIATOR, &sentence) != 0)
        failed(ps, sentence.text);
}

/* The peer asks for a session. What cannot be served is ended, and not left waiting (RFC 5043 6.4). */
static void requested(struct peer_association *pa, uint16_t sid)
{
    struct peer_stream *ps = peer_stream_new(pa->peer, &pa->options, NULL);
    struct iwarp_sentence sentence;
    json_t *event;

    if (ps == NULL) {
        iwarp_association_abort(pa->association, pa->peer->now);
        return;
    }
    peer_association_join(pa, ps);
    ps->port = pa->port;
    if (stream_begin(ps, sid, IWARP_RESPONDER, &sentence) != 0) {
        bool lost = ps->stream == NULL;

        peer_stream_dead(ps); /* a stream that exists has taken the request: a Terminate answers it */
        if (lost)
            iwarp_association_abort(pa->association, pa->peer->now);
        return;
    }
    event = peer_event_new(pa->peer, ps->number, "accepted");
    if (event == NULL)
        return;
    (void)json_object_set_new(event, "port", json_integer(pa->port));
    (void)json_object_set_new(event, "association", json_integer(pa->number));
    (void)json_object_set_new(event, "sid", json_integer(sid));
}

/* --- Events of the association ------------------------------------------------------------------------------------ */

/* At the end of the list of events, borrowed; NULL when it could not be kept. */
static json_t *event_of(const struct peer_association *pa, const char *name)
{
    json_t *event = peer_event_new(pa->peer, 0, name);

    if (event != NULL)
        (void)json_object_set_new(event, "association", json_integer(pa->number));
    return event;
}

static void up(struct peer_association *pa, const struct iwarp_association_event *arrived)
{
    static const char *const modes[] = {
        [IWARP_SCTP_NOTHING] = "none", [IWARP_SCTP_DDP] = "ddp", [IWARP_SCTP_RDMA] = "rdma"};
    json_t *event = event_of(pa, "association_up");
    struct peer_stream *ps, *next;

    pa->up = true;
    if (event != NULL) {
        (void)json_object_set_new(event, "mode", json_string(modes[arrived->mode]));
        (void)json_object_set_new(event, "streams", json_integer(arrived->streams));
        (void)json_object_set_new(event, "port", json_integer(pa->port));
    }
    DL_FOREACH_SAFE2(pa->streams, ps, next, next_of)
    if (ps->connecting)
        peer_association_begin(ps);
}

static void down(struct peer_association *pa, const char *why)
{
    json_t *event = event_of(pa, "association_down");
    struct peer_stream *ps, *next;

    pa->over = true;
    if (event != NULL)
        (void)json_object_set_new(event, "reason", json_string(why));
    DL_FOREACH_SAFE2(pa->streams, ps, next, next_of)
    if (ps->connecting)
        failed(ps, why);
}

static void association_event(struct peer_association *pa, const struct iwarp_association_event *event)
{
    json_t *object;

    switch (event->kind) {
    case IWARP_ASSOCIATION_UP: up(pa, event); break;
    case IWARP_ASSOCIATION_REQUEST: requested(pa, event->sid); break;
    case IWARP_ASSOCIATION_CONTROL:
        object = event_of(pa, "control");
        if (object != NULL) {
            (void)json_object_set_new(object, "sid", json_integer(event->sid));
            (void)json_object_set_new(object, "code", json_integer(event->code));
        }
        break;
    case IWARP_ASSOCIATION_DOWN: down(pa, event->text); break;
    case IWARP_ASSOCIATION_CLOSED:
    default: break;
    }
}

/* True: the stream had events, or has ended. */
static bool stream_event_handle(struct peer_association *pa, struct iwarp_stream *stream)
{
    struct peer_stream *ps = peer_stream_find(pa->peer, iwarp_stream_number(stream));
    struct iwarp_event event;
    bool any = false;

    if (ps == NULL || ps->stream != stream)
        return false;
    while (iwarp_stream_poll(stream, &event)) {
        any = true;
        peer_event_handle(ps, &event);
    }
    if (iwarp_sctp_stream_sid(stream) >= 0)
        return any;
    peer_stream_dead(ps);
    return true;
}

void peer_association_pump(struct peer_association *pa)
{
    struct peer *peer = pa->peer;
    struct iwarp_association_event event;
    struct iwarp_stream *stream;
    bool more = true;

    while (more) {
        more = false;
        peer->ops->sctp->run(pa->transport, peer->now);
        while ((stream = iwarp_association_poll_stream(pa->association)) != NULL)
            more = stream_event_handle(pa, stream) || more;
        while (iwarp_association_poll(pa->association, &event)) {
            association_event(pa, &event);
            more = true;
        }
    }
    if (pa->over)
        peer_association_free(pa);
    else
        deadlines_set(&peer->association_deadlines, &pa->deadline, iwarp_association_deadline(pa->association));
}

void peer_association_tick(struct peer *peer)
{
    struct deadline *first;

    while ((first = deadlines_first(&peer->association_deadlines)) != NULL && first->when <= peer->now) {
        struct peer_association *pa =
            (struct peer_association *)(void *)((uint8_t *)first - offsetof(struct peer_association, deadline));

        deadlines_set(&peer->association_deadlines, first, UINT64_MAX);
        iwarp_association_tick(pa->association, peer->now);
        peer_association_pump(pa);
    }
}

/* --- For who has the transport ------------------------------------------------------------------------------------ */

struct iwarp_association *peer_association_incoming(struct peer *peer, uint16_t port, void *transport,
                                                    struct peer_association **pa, uint64_t now)
{
    const struct peer_listener *listener = peer_listener_find(peer, port);

    peer->now = now;
    *pa = listener == NULL ? NULL : peer_association_new(peer, &listener->options, NULL);
    if (*pa == NULL)
        return NULL;
    (*pa)->port = port;
    (*pa)->transport = transport;
    return (*pa)->association;
}

void peer_association_changed(struct peer_association *pa, uint64_t now)
{
    pa->peer->now = now;
    peer_bury(pa->peer);
    peer_association_pump(pa);
}

size_t peer_association_count(const struct peer *peer)
{
    return peer->association_count;
}

void peer_close_associations(struct peer *peer, uint64_t now)
{
    peer->now = now;
    peer_associations_close(peer);
}
