/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/peer/peer.h"

#include <stdlib.h>
#include <string.h>

#include "reference-stack/core/device_internal.h"
#include "reference-stack/defects/defect.h"
#include "reference-stack/peer/peer_association.h"
#include "reference-stack/peer/peer_memory.h"

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

/* A device that has just been switched on: with a seed its STags are those of no start before. */
static struct iwarp_device *device_new(struct peer *peer)
{
    return iwarp_device_new(&(struct iwarp_device_config){
        .seed = peer->config.seed != 0 ? (peer->config.seed + PEER_START * peer->starts++) | 1 : 0});
}

struct peer *peer_new(const struct peer_config *config, const struct peer_transport_ops *ops, void *context,
                      struct iwarp_sentence *sentence)
{
    struct peer *peer = calloc(1, sizeof(*peer));

    if (peer == NULL) {
        (void)iwarp_sentence_set(sentence, "peer: out of memory");
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
    peer->device = device_new(peer);
    peer->events = json_array();
    if (ops->send_spans != NULL && (peer->output_batch = calloc(1, sizeof(*peer->output_batch))) != NULL) {
        peer->output_batch->send = ops->send_spans;
        peer->output_batch->room = ops->room;
    }
    if (peer->device == NULL || peer->events == NULL || (ops->send_spans != NULL && peer->output_batch == NULL) ||
        device_set_faults(peer->device, defect_set_faults(peer->config.defects)) != 0) {
        (void)iwarp_sentence_set(sentence, "peer: out of memory");
        peer_free(peer);
        return NULL;
    }
    return peer;
}

/* --- Streams --------------------------------------------------------------------------------------------------- */

int peer_stream_begin(struct peer_stream *ps, struct iwarp_sentence *sentence)
{
    struct peer *peer = ps->peer;
    struct iwarp_stream_config *config = &ps->options.config;
    bool measured = !ps->options.emss_given && peer->ops->carrier.emss != NULL;
    size_t emss = measured ? peer->ops->carrier.emss(ps->transport) : 0;

    config->role = ps->opener ? IWARP_INITIATOR : IWARP_RESPONDER;
    if (ps->options.role_given && !PEER_HOOK_IF(&peer->config, hook_role_by_opener(peer->config.defects)))
        config->role = ps->options.role;
    config->number = ps->number;
    config->faults = defect_set_faults(peer->config.defects);
    PEER_HOOK(&peer->config, hook_private_data(peer->config.defects, config));
    if (emss != 0)
        config->emss = emss;
    ps->carrier = (struct carrier){.emss = config->emss, .emss_polled_at = peer->now};
    ps->stream = iwarp_stream_new(peer->device, config, peer->now, sentence);
    if (ps->stream == NULL)
        return -1;
    return peer_post_receives(ps, ps->options.receives, ps->options.receive_octets, sentence);
}

/* The connection is open: streaming messages first, where they were asked for, and then MPA. */
static int stream_open(struct peer_stream *ps, struct iwarp_sentence *sentence)
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

/* TCP may cut what it is given at any octet (RFC 5044 5.1). */
static void send_octets(struct peer_stream *ps, const uint8_t *octets, size_t count)
{
    while (count != 0) {
        size_t piece = count;

        PEER_HOOK(&ps->peer->config, hook_cut(ps->peer->config.defects, &piece));
        ps->peer->ops->send(ps->transport, octets, piece);
        octets += piece;
        count -= piece;
    }
}

static void stream_send(struct peer_stream *ps)
{
    const struct peer_transport_ops *ops = ps->peer->ops;
    struct iwarp_output output;

    if (!ps->options.emss_given)
        carrier_follow_emss(&ps->carrier, &ops->carrier, ps->transport, ps->stream, ps->peer->now);
    if (ps->peer->output_batch != NULL) {
        output_batch_drain(ps->peer->output_batch, ps->transport, ps->stream, ps->carrier.emss, ps->peer->now);
        return;
    }
    while ((ops->room == NULL || ops->room(ps->transport) != 0) &&
           !(PEER_HOOK_IF(&ps->peer->config, hook_nagle(ps->peer->config.defects)) && !all_acknowledged(ps)) &&
           iwarp_stream_output(ps->stream, &output) != 0) {
        if (output.span_count == 1) {
            send_octets(ps, output.spans[0].octets, output.octets);
        } else {
            uint8_t *whole = malloc(output.octets);
            size_t at = 0;

            if (whole == NULL) {
                iwarp_stream_abort(ps->stream, ps->peer->now);
                return;
            }
            for (size_t i = 0; i < output.span_count; at += output.spans[i++].count)
                memcpy(whole + at, output.spans[i].octets, output.spans[i].count);
            send_octets(ps, whole, output.octets);
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

    if (ps->association != NULL) {
        peer_association_pump(ps->association);
        return;
    }
    if (ps->stream == NULL || ps->transport == NULL)
        return;
    while (more) {
        more = false;
        stream_send(ps);
        while (iwarp_stream_poll(ps->stream, &event)) {
            peer_event_handle(ps, &event);
            more = true;
        }
    }
    if (carrier_settle(&ps->carrier, &ops->carrier, ps->transport, ps->stream, ps->peer->now)) {
        peer_stream_dead(ps);
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

/* Options that no stream can have are refused now, not with the first connection. */
static int try_options(struct peer *peer, const struct peer_options *options, struct iwarp_sentence *sentence)
{
    struct iwarp_stream *trial;

    if (peer->ops->sctp != NULL && options->indication == DDP_SCTP_INDICATION_DDP_RDMA &&
        peer->config.association.profile != IWARP_SCTP_DRAFT02)
        return iwarp_sentence_set(sentence, "'indication' is 2, which the profile of RFC 5043 does not have");
    if (peer->ops->sctp != NULL)
        return iwarp_sctp_stream_config_check(peer->device, &options->config, sentence);
    trial = iwarp_stream_new(peer->device, &options->config, peer->now, sentence);
    if (trial == NULL)
        return -1;
    iwarp_stream_free(trial);
    return 0;
}

int peer_check_options(struct peer *peer, const json_t *members, struct iwarp_sentence *sentence)
{
    struct peer_options options;

    peer_options_default(&options);
    if (peer_get_options(peer, members, &options, sentence) != 0)
        return -1;
    return try_options(peer, &options, sentence);
}

int peer_listen(struct peer *peer, uint16_t port, const struct peer_options *options, struct iwarp_sentence *sentence)
{
    struct peer_listener *listener = port == 0 ? NULL : peer_listener_find(peer, port);
    struct iwarp_sentence why = {"the transport refused it"};
    int opened;

    if (try_options(peer, options, sentence) != 0)
        return -1;
    /* On a port that is listened to already the options are new from the next connection on. */
    if (peer->ops->sctp != NULL && peer_association_offer(peer, port, options, sentence) != 0)
        return -1;
    if (listener != NULL) {
        listener->options = *options;
        return port;
    }
    listener = calloc(1, sizeof(*listener));
    if (listener == NULL)
        return iwarp_sentence_set(sentence, "listen: out of memory");
    opened = peer->ops->listen(peer->context, port, &why);
    if (opened <= 0) {
        free(listener);
        return iwarp_sentence_set(sentence, "listen: port %u cannot be opened: %.300s", port, why.text);
    }
    listener->port = (uint16_t)opened;
    listener->options = *options;
    listener->next = peer->listeners;
    peer->listeners = listener;
    return opened;
}

int peer_unlisten(struct peer *peer, uint16_t port, struct iwarp_sentence *sentence)
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
    return iwarp_sentence_set(sentence, "unlisten: nothing listens on port %u", port);
}

struct peer_stream *peer_connect(struct peer *peer, const char *address, uint16_t port,
                                 const struct peer_options *options, struct iwarp_sentence *sentence)
{
    struct peer_stream *ps = peer_stream_new(peer, options, NULL);

    if (ps == NULL) {
        (void)iwarp_sentence_set(sentence, "connect: no more streams");
        return NULL;
    }
    ps->connecting = true;
    ps->transport = peer->ops->connect(peer->context, address, port, ps);
    if (ps->transport == NULL) {
        (void)iwarp_sentence_set(sentence, "connect: %s port %u cannot be reached", address, port);
        peer_stream_free(ps);
        return NULL;
    }
    return ps;
}

struct peer_stream *peer_accepted(struct peer *peer, uint16_t port, void *transport, uint64_t now)
{
    struct peer_listener *listener = peer_listener_find(peer, port);
    struct peer_stream *ps;
    struct iwarp_sentence sentence;
    json_t *event;

    peer->now = now;
    peer_bury(peer);
    if (listener == NULL)
        return NULL;
    ps = peer_stream_new(peer, &listener->options, transport);
    if (ps == NULL)
        return NULL;
    ps->port = port;
    if (stream_open(ps, &sentence) != 0) {
        peer_stream_free(ps);
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
    struct iwarp_sentence sentence;

    ps->peer->now = now;
    if (ps->dead || !ps->connecting)
        return;
    ps->connecting = false;
    ps->opener = true;
    if (stream_open(ps, &sentence) != 0) {
        json_t *event = peer_event_new(ps->peer, ps->number, "connect_failed");

        if (event != NULL)
            (void)json_object_set_new(event, "reason", json_string(sentence.text));
        ps->peer->ops->carrier.abort(ps->transport);
        peer_stream_dead(ps);
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
    peer_stream_dead(ps);
}

/* --- Events of TCP ----------------------------------------------------------------------------------------------- */

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
    if (ps->drops_input && count != 0) {
        ps->drops_input = false;
        count = 0;
    }
    iwarp_stream_input(ps->stream, octets, count, now);
    peer_pump(ps);
}

void peer_input_early(struct peer_stream *ps, size_t gap, const uint8_t *octets, size_t count, uint64_t now)
{
    ps->peer->now = now;
    if (ps->stream == NULL)
        return;
    if (PEER_HOOK_IF(&ps->peer->config, hook_early_refused(ps->peer->config.defects, count)))
        iwarp_stream_abort(ps->stream, now);
    else
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
            peer_event_handle(ps, &event);
    }
    peer_stream_dead(ps);
}

void peer_writable(struct peer_stream *ps, uint64_t now)
{
    ps->peer->now = now;
    peer_pump(ps);
}

uint64_t peer_deadline(const struct peer *peer)
{
    const struct deadline *first = deadlines_first(&peer->deadlines);
    const struct deadline *other = deadlines_first(&peer->association_deadlines);
    uint64_t when = first == NULL ? UINT64_MAX : first->when;

    return other != NULL && other->when < when ? other->when : when;
}

void peer_tick(struct peer *peer, uint64_t now)
{
    peer->now = now;
    peer_association_tick(peer);
    for (;;) {
        struct deadline *first = deadlines_first(&peer->deadlines);
        struct peer_stream *ps;

        if (first == NULL || first->when > now)
            return;
        /* peer_pump() sets a new deadline, which is later than now: each stream gets one tick. */
        deadlines_set(&peer->deadlines, first, UINT64_MAX);
        ps = (struct peer_stream *)(void *)((uint8_t *)first - offsetof(struct peer_stream, deadline));
        if (ps->stream != NULL) {
            carrier_tick(&peer->ops->carrier, ps->transport, ps->stream, now);
            peer_pump(ps);
        }
    }
}

/* --- The end ----------------------------------------------------------------------------------------------------- */

static void drop_streams(struct peer *peer)
{
    peer_associations_drop(peer);
    while (peer->streams != NULL) {
        if (peer->streams->transport != NULL && !peer->streams->dead)
            peer->ops->carrier.abort(peer->streams->transport);
        peer_stream_free(peer->streams);
    }
}

int peer_reset(struct peer *peer, struct iwarp_sentence *sentence)
{
    struct iwarp_device *device = device_new(peer);

    if (device == NULL || device_set_faults(device, defect_set_faults(peer->config.defects)) != 0) {
        iwarp_device_free(device);
        return iwarp_sentence_set(sentence, "reset: out of memory");
    }
    peer_associations_drop(peer);
    for (struct peer_stream *ps = peer->streams; ps != NULL; ps = ps->next) {
        if (!ps->dead && ps->transport != NULL)
            peer->ops->carrier.abort(ps->transport);
        peer_stream_dead(ps);
    }
    while (peer->listeners != NULL)
        (void)peer_unlisten(peer, peer->listeners->port, NULL);
    iwarp_device_free(peer->device);
    peer_memory_clear(peer);
    budget_give(&peer->budget, peer->region_octets);
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
    deadlines_free(&peer->association_deadlines);
    while (peer->listeners != NULL)
        (void)peer_unlisten(peer, peer->listeners->port, NULL);
    iwarp_device_free(peer->device);
    peer_memory_clear(peer);
    json_decref(peer->events);
    free(peer->output_batch);
    free(peer);
}
