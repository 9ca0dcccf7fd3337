/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/peer/peer.h"

#include <stdlib.h>
#include <string.h>

#include "reference-stack/core/device_internal.h"
#include "reference-stack/peer/peer_internal.h"

enum { STREAMS_DEFAULT_MAX = 16384 };
#define REGIONS_DEFAULT_OCTETS (UINT64_C(256) << 20)

void peer_options_default(struct peer_options *options)
{
    memset(options, 0, sizeof(*options));
    iwarp_stream_config_default(&options->config, IWARP_RESPONDER);
    options->repost = true;
    options->receives = PEER_RECEIVES;
    options->receive_octets = PEER_RECEIVE_OCTETS;
}

struct peer *peer_new(const struct peer_config *config, const struct peer_transport_ops *ops, void *context,
                      struct sentence *sentence)
{
    struct peer *peer = calloc(1, sizeof(*peer));

    if (peer == NULL) {
        (void)sentence_set(sentence, "peer: out of memory");
        return NULL;
    }
    if (config != NULL)
        peer->config = *config;
    if (peer->config.streams_max == 0)
        peer->config.streams_max = STREAMS_DEFAULT_MAX;
    if (peer->config.regions_octets_max == 0)
        peer->config.regions_octets_max = REGIONS_DEFAULT_OCTETS;
    peer->budget.most = peer->config.memory_max;
    peer->ops = ops;
    peer->context = context;
    peer->next_number = 1;
    peer->device = iwarp_device_new(NULL);
    peer->events = json_array();
    if (ops->send_spans != NULL && (peer->outlet = calloc(1, sizeof(*peer->outlet))) != NULL) {
        peer->outlet->send = ops->send_spans;
        peer->outlet->room = ops->room;
    }
    if (peer->device != NULL)
        device_set_defects(peer->device, peer->config.defects);
    if (peer->device == NULL || peer->events == NULL || (ops->send_spans != NULL && peer->outlet == NULL)) {
        (void)sentence_set(sentence, "peer: out of memory");
        peer_free(peer);
        return NULL;
    }
    return peer;
}

/* --- Streams --------------------------------------------------------------------------------------------------- */

struct peer_work *peer_work_new(struct peer_stream *ps, size_t octets)
{
    struct budget *budget = &ps->peer->budget;
    struct peer_work *work = budget_take(budget, sizeof(*work) + octets) ? malloc(sizeof(*work) + octets) : NULL;

    if (work == NULL)
        return NULL;
    memset(work, 0, sizeof(*work));
    work->octets = octets;
    work->data = (uint8_t *)(work + 1);
    work->next = ps->work;
    if (work->next != NULL)
        work->next->previous = work;
    ps->work = work;
    return work;
}

void peer_work_free(struct peer_stream *ps, struct peer_work *work)
{
    if (work->previous != NULL)
        work->previous->next = work->next;
    else
        ps->work = work->next;
    if (work->next != NULL)
        work->next->previous = work->previous;
    budget_give(&ps->peer->budget, sizeof(*work) + work->octets);
    free(work);
}

static struct peer_stream *stream_new(struct peer *peer, const struct peer_options *options, void *transport)
{
    struct peer_stream *ps;

    if (peer->stream_count - peer->dead_count >= peer->config.streams_max ||
        !budget_take(&peer->budget, PEER_STREAM_OCTETS))
        return NULL;
    ps = calloc(1, sizeof(*ps));
    if (ps == NULL) {
        budget_give(&peer->budget, PEER_STREAM_OCTETS);
        return NULL;
    }
    ps->number = peer->next_number;
    HASH_ADD(hh, peer->by_number, number, sizeof(ps->number), ps);
    if (hash_lost(ps) || deadlines_join(&peer->deadlines) != 0) {
        if (!hash_lost(ps))
            HASH_DEL(peer->by_number, ps);
        budget_give(&peer->budget, PEER_STREAM_OCTETS);
        free(ps);
        return NULL;
    }
    peer->next_number++;
    ps->peer = peer;
    ps->options = *options;
    ps->transport = transport;
    ps->next = peer->streams;
    if (ps->next != NULL)
        ps->next->previous = ps;
    peer->streams = ps;
    peer->stream_count++;
    return ps;
}

static void stream_free(struct peer_stream *ps)
{
    struct peer *peer = ps->peer;

    iwarp_stream_free(ps->stream);
    free(ps->streaming);
    while (ps->work != NULL)
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): work_free takes it off the list */
        peer_work_free(ps, ps->work);
    if (ps->previous != NULL)
        ps->previous->next = ps->next;
    else
        peer->streams = ps->next;
    if (ps->next != NULL)
        ps->next->previous = ps->previous;
    HASH_DEL(peer->by_number, ps);
    if (!ps->dead)
        deadlines_leave(&peer->deadlines, &ps->deadline);
    peer->stream_count--;
    peer->dead_count -= ps->dead;
    budget_give(&peer->budget, PEER_STREAM_OCTETS);
    free(ps);
}

/* Of the dead streams the oldest go, once there are many: a caller that is late with a call does no harm. */
static void bury(struct peer *peer)
{
    struct peer_stream *oldest = peer->first_dead;

    if (peer->dead_count <= PEER_DEAD_MAX)
        return;
    peer->first_dead = oldest->next_dead;
    if (peer->first_dead == NULL)
        peer->last_dead = NULL;
    stream_free(oldest);
}

/* The stream is over: what it held is given back, its number stays taken. The transport is dealt with already. */
static void stream_dead(struct peer_stream *ps)
{
    if (ps->dead)
        return;
    ps->dead = true;
    ps->transport = NULL;
    ps->peer->dead_count++;
    if (ps->peer->last_dead != NULL)
        ps->peer->last_dead->next_dead = ps;
    else
        ps->peer->first_dead = ps;
    ps->peer->last_dead = ps;
    deadlines_leave(&ps->peer->deadlines, &ps->deadline);
    iwarp_stream_free(ps->stream);
    ps->stream = NULL;
    free(ps->streaming);
    ps->streaming = NULL;
    while (ps->work != NULL)
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): work_free takes it off the list */
        peer_work_free(ps, ps->work);
}

struct peer_stream *peer_stream_find(const struct peer *peer, uint32_t number)
{
    struct peer_stream *ps;

    HASH_FIND(hh, peer->by_number, &number, sizeof(number), ps);
    return ps;
}

void *peer_stream_transport(const struct peer_stream *ps)
{
    return ps->transport;
}

size_t peer_stream_count(const struct peer *peer)
{
    return peer->stream_count - peer->dead_count;
}

/* All or none: the stream's room and every buffer are there before the first is posted. */
int peer_post_receives(struct peer_stream *ps, uint32_t count, uint32_t octets, struct sentence *sentence)
{
    struct peer_work *work;
    uint32_t made = 0;

    if (iwarp_stream_reserve_receives(ps->stream, count, sentence) != 0)
        return -1;
    while (made < count && peer_work_new(ps, octets) != NULL)
        made++;
    work = ps->work; /* the newest: in front */
    if (made < count) {
        for (struct peer_work *next; made > 0; work = next, made--) {
            next = work->next;
            peer_work_free(ps, work);
        }
        return sentence_set(sentence, "peer: out of memory for %u receives of %u octets", count, octets);
    }
    /* In whatever order: they are all alike. */
    for (; made > 0; work = work->next, made--)
        (void)iwarp_stream_post_receive(ps->stream, (uint64_t)(uintptr_t)work, work->data, octets, sentence);
    return 0;
}

int peer_stream_begin(struct peer_stream *ps, struct sentence *sentence)
{
    struct peer *peer = ps->peer;
    enum iwarp_role role = ps->opener ? IWARP_INITIATOR : IWARP_RESPONDER;
    struct iwarp_stream_config *config = &ps->options.config;
    size_t emss = ps->options.emss_given || peer->ops->emss == NULL ? 0 : peer->ops->emss(ps->transport);

    if (ps->options.role_given && !HOOK_IF(&peer->config, hook_role_by_opener(peer->config.defects)))
        role = ps->options.role;
    config->role = role;
    config->number = ps->number;
    config->defects = peer->config.defects;
    if (emss != 0)
        config->emss = emss;
    ps->emss_asked = peer->now;
    ps->stream = iwarp_stream_new(peer->device, config, peer->now, sentence);
    if (ps->stream == NULL)
        return -1;
    return peer_post_receives(ps, ps->options.receives, ps->options.receive_octets, sentence);
}

/* The connection is open: streaming messages first, where they were asked for, and then MPA. */
static int stream_open(struct peer_stream *ps, struct sentence *sentence)
{
    return ps->options.streams_first ? peer_streaming_open(ps, sentence) : peer_stream_begin(ps, sentence);
}

/* Has TCP as much room as it ever had? Then all that was sent is acknowledged. */
static bool all_acknowledged(struct peer_stream *ps)
{
    const struct peer *peer = ps->peer;
    size_t room;

    if (peer->ops->room == NULL)
        return true;
    room = peer->ops->room(ps->transport);
    if (room > ps->most_room)
        ps->most_room = room;
    return room >= ps->most_room;
}

/* The EMSS changes with the path (RFC 5044 4.5). TCP is asked now and then, as asking costs a system call. */
static void follow_emss(struct peer_stream *ps)
{
    const struct peer *peer = ps->peer;
    size_t emss;

    if (ps->options.emss_given || peer->ops->emss == NULL || peer->now - ps->emss_asked < PEER_EMSS_PERIOD)
        return;
    ps->emss_asked = peer->now;
    emss = peer->ops->emss(ps->transport);
    if (emss == 0 || emss == ps->options.config.emss)
        return;
    ps->options.config.emss = emss;
    iwarp_stream_set_emss(ps->stream, emss);
}

static void stream_send(struct peer_stream *ps)
{
    const struct peer_transport_ops *ops = ps->peer->ops;
    struct iwarp_output output;

    follow_emss(ps);

    if (ps->peer->outlet != NULL) {
        outlet_drain(ps->peer->outlet, ps->transport, ps->stream, ps->options.config.emss, ps->peer->now);
        return;
    }
    while ((ops->room == NULL || ops->room(ps->transport) != 0) &&
           !(HOOK_IF(&ps->peer->config, hook_nagle(ps->peer->config.defects)) && !all_acknowledged(ps)) &&
           iwarp_stream_output(ps->stream, &output) != 0) {
        if (output.span_count == 1) {
            ops->send(ps->transport, output.spans[0].octets, output.octets);
        } else {
            uint8_t *whole = malloc(output.octets);
            size_t at = 0;

            if (whole == NULL) {
                iwarp_stream_abort(ps->stream, ps->peer->now);
                return;
            }
            for (size_t i = 0; i < output.span_count; at += output.spans[i++].count)
                memcpy(whole + at, output.spans[i].octets, output.spans[i].count);
            ops->send(ps->transport, whole, output.octets);
            free(whole);
        }
        iwarp_stream_output_done(ps->stream, output.octets, ps->peer->now);
    }
}

/* Lets the stream say all that it has to say: octets, events, and what is to become of the connection. */
void peer_pump(struct peer_stream *ps)
{
    const struct peer_transport_ops *ops = ps->peer->ops;
    struct iwarp_event event;
    bool more = true;

    if (ps->stream == NULL || ps->transport == NULL)
        return;
    while (more) {
        more = false;
        stream_send(ps);
        while (iwarp_stream_poll(ps->stream, &event)) {
            peer_event_take(ps, &event);
            more = true;
        }
    }
    switch (iwarp_stream_wants(ps->stream)) {
    case IWARP_WANT_ABORT:
        ops->abort(ps->transport);
        stream_dead(ps);
        return;
    case IWARP_WANT_CLOSE:
        if (!ps->shut)
            ops->shutdown(ps->transport);
        ps->shut = true;
        break;
    case IWARP_WANT_NOTHING:
    default: break;
    }
    if (iwarp_stream_state(ps->stream) == IWARP_STATE_CLOSED) {
        ops->release(ps->transport);
        stream_dead(ps);
        return;
    }
    deadlines_set(&ps->peer->deadlines, &ps->deadline, iwarp_stream_deadline(ps->stream));
}

/* --- Listeners and connections ----------------------------------------------------------------------------------- */

struct peer_listener *peer_listener_find(const struct peer *peer, uint16_t port)
{
    for (struct peer_listener *listener = peer->listeners; listener != NULL; listener = listener->next)
        if (listener->port == port)
            return listener;
    return NULL;
}

int peer_listen(struct peer *peer, uint16_t port, const struct peer_options *options, struct sentence *sentence)
{
    struct peer_listener *listener = port == 0 ? NULL : peer_listener_find(peer, port);
    struct iwarp_stream *trial = iwarp_stream_new(peer->device, &options->config, peer->now, sentence);
    int opened;

    /* Options that no stream can have are refused now, not with the first connection. */
    if (trial == NULL)
        return -1;
    iwarp_stream_free(trial);
    /* On a port that is listened to already the options are new from the next connection on. */
    if (listener != NULL) {
        listener->options = *options;
        return port;
    }
    listener = calloc(1, sizeof(*listener));
    if (listener == NULL)
        return sentence_set(sentence, "listen: out of memory");
    opened = peer->ops->listen(peer->context, port);
    if (opened <= 0) {
        free(listener);
        return sentence_set(sentence, "listen: port %u cannot be opened", port);
    }
    listener->port = (uint16_t)opened;
    listener->options = *options;
    listener->next = peer->listeners;
    peer->listeners = listener;
    return opened;
}

int peer_unlisten(struct peer *peer, uint16_t port, struct sentence *sentence)
{
    for (struct peer_listener **at = &peer->listeners; *at != NULL; at = &(*at)->next) {
        struct peer_listener *listener = *at;

        if (listener->port == port) {
            *at = listener->next;
            peer->ops->unlisten(peer->context, port);
            free(listener);
            return 0;
        }
    }
    return sentence_set(sentence, "unlisten: nothing listens on port %u", port);
}

struct peer_stream *peer_connect(struct peer *peer, const char *address, uint16_t port,
                                 const struct peer_options *options, struct sentence *sentence)
{
    struct peer_stream *ps = stream_new(peer, options, NULL);

    if (ps == NULL) {
        (void)sentence_set(sentence, "connect: no more streams");
        return NULL;
    }
    ps->connecting = true;
    ps->transport = peer->ops->connect(peer->context, address, port, ps);
    if (ps->transport == NULL) {
        (void)sentence_set(sentence, "connect: %s port %u cannot be reached", address, port);
        stream_free(ps);
        return NULL;
    }
    return ps;
}

struct peer_stream *peer_accepted(struct peer *peer, uint16_t port, void *transport, uint64_t now)
{
    struct peer_listener *listener = peer_listener_find(peer, port);
    struct peer_stream *ps;
    struct sentence sentence;
    json_t *event;

    peer->now = now;
    bury(peer);
    if (listener == NULL)
        return NULL;
    ps = stream_new(peer, &listener->options, transport);
    if (ps == NULL)
        return NULL;
    ps->port = port;
    if (stream_open(ps, &sentence) != 0) {
        stream_free(ps);
        return NULL;
    }
    event = peer_event_new(peer, ps->number, "accepted");
    if (event != NULL)
        (void)json_object_set_new(event, "port", json_integer(port));
    peer_pump(ps);
    return ps;
}

void peer_connected(struct peer_stream *ps, uint64_t now)
{
    struct sentence sentence;

    ps->peer->now = now;
    if (ps->dead || !ps->connecting)
        return;
    ps->connecting = false;
    ps->opener = true;
    if (stream_open(ps, &sentence) != 0) {
        json_t *event = peer_event_new(ps->peer, ps->number, "connect_failed");

        if (event != NULL)
            (void)json_object_set_new(event, "reason", json_string(sentence.text));
        ps->peer->ops->abort(ps->transport);
        stream_dead(ps);
        return;
    }
    peer_pump(ps);
}

void peer_connect_failed(struct peer_stream *ps, const char *why, uint64_t now)
{
    json_t *event;

    ps->peer->now = now;
    if (ps->dead)
        return;
    event = peer_event_new(ps->peer, ps->number, "connect_failed");
    if (event != NULL)
        (void)json_object_set_new(event, "reason", json_string(why));
    stream_dead(ps);
}

/* --- What TCP tells ---------------------------------------------------------------------------------------------- */

void peer_input(struct peer_stream *ps, const uint8_t *octets, size_t count, uint64_t now)
{
    ps->peer->now = now;
    if (ps->streaming != NULL) {
        size_t used = peer_streaming_input(ps, octets, count);

        octets += used;
        count -= used;
    }
    if (ps->stream == NULL)
        return;
    if (ps->deaf && count != 0) {
        ps->deaf = false;
        count = 0;
    }
    iwarp_stream_input(ps->stream, octets, count, now);
    peer_pump(ps);
}

void peer_input_early(struct peer_stream *ps, size_t gap, const uint8_t *octets, size_t count, uint64_t now)
{
    ps->peer->now = now;
    if (ps->stream != NULL)
        iwarp_stream_input_early(ps->stream, gap, octets, count, false, now);
}

void peer_input_fin(struct peer_stream *ps, uint64_t now)
{
    ps->peer->now = now;
    if (ps->streaming != NULL)
        peer_streaming_failed(ps, "the peer closed before its streaming message was complete");
    if (ps->stream == NULL)
        return;
    iwarp_stream_input_fin(ps->stream, now);
    peer_pump(ps);
}

void peer_input_reset(struct peer_stream *ps, uint64_t now)
{
    struct iwarp_event event;

    ps->peer->now = now;
    if (ps->stream != NULL) {
        iwarp_stream_input_reset(ps->stream, now);
        while (iwarp_stream_poll(ps->stream, &event))
            peer_event_take(ps, &event);
    }
    stream_dead(ps);
}

void peer_writable(struct peer_stream *ps, uint64_t now)
{
    ps->peer->now = now;
    peer_pump(ps);
}

uint64_t peer_deadline(const struct peer *peer)
{
    const struct deadline *first = deadlines_first(&peer->deadlines);

    return first == NULL ? UINT64_MAX : first->when;
}

void peer_tick(struct peer *peer, uint64_t now)
{
    peer->now = now;
    for (;;) {
        struct deadline *first = deadlines_first(&peer->deadlines);
        struct peer_stream *ps;

        if (first == NULL || first->when > now)
            return;
        /* It is set anew by peer_pump(), and then is later than now: a stream that was told is told once. */
        deadlines_set(&peer->deadlines, first, UINT64_MAX);
        ps = (struct peer_stream *)(void *)((uint8_t *)first - offsetof(struct peer_stream, deadline));
        if (ps->stream != NULL) {
            iwarp_stream_tick(ps->stream, now);
            peer_pump(ps);
        }
    }
}

/* --- The end ----------------------------------------------------------------------------------------------------- */

static void drop_streams(struct peer *peer)
{
    while (peer->streams != NULL) {
        if (peer->streams->transport != NULL && !peer->streams->dead)
            peer->ops->abort(peer->streams->transport);
        stream_free(peer->streams);
    }
}

int peer_reset(struct peer *peer, struct sentence *sentence)
{
    struct iwarp_device *device = iwarp_device_new(NULL);

    if (device == NULL)
        return sentence_set(sentence, "reset: out of memory");
    for (struct peer_stream *ps = peer->streams; ps != NULL; ps = ps->next) {
        if (!ps->dead && ps->transport != NULL)
            peer->ops->abort(ps->transport);
        stream_dead(ps);
    }
    while (peer->listeners != NULL)
        (void)peer_unlisten(peer, peer->listeners->port, NULL);
    iwarp_device_free(peer->device);
    budget_give(&peer->budget, peer->region_octets);
    device_set_defects(device, peer->config.defects);
    peer->device = device;
    peer->region_octets = 0;
    peer_events_clear(peer);
    return 0;
}

struct budget *peer_budget(struct peer *peer)
{
    return &peer->budget;
}

void peer_free(struct peer *peer)
{
    if (peer == NULL)
        return;
    drop_streams(peer);
    deadlines_free(&peer->deadlines);
    while (peer->listeners != NULL)
        (void)peer_unlisten(peer, peer->listeners->port, NULL);
    iwarp_device_free(peer->device);
    json_decref(peer->events);
    free(peer->outlet);
    free(peer);
}
