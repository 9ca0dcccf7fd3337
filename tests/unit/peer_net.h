/* SPDX-License-Identifier: BSD-2-Clause */
/* Two peers over pipes in memory, with commands for each and a look at what they answer. */
#ifndef TESTS_UNIT_PEER_NET_H
#define TESTS_UNIT_PEER_NET_H

#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "reference-stack/peer/peer.h"
#include "tests/unit/suites.h"

enum { PIPES = 8, PIPE_OCTETS = 1 << 20 };

/* One direction's end of a connection: what its owner sent, until the other side is given it. */
struct pipe_end {
    struct net *net;
    struct pipe_end *other;
    struct peer_stream *stream; /* of the peer that owns this end */
    uint8_t octets[PIPE_OCTETS];
    size_t count;
    size_t unacknowledged; /* as TCP would report it */
    bool fin, reset, over, connecting;
    uint16_t port;
};

/* Two peers, A and B, and the pipes between them. */
struct net {
    struct peer *peer[2];
    int owner;
    struct pipe_end *ends[PIPES];
    size_t end_count;
    uint64_t now;
    size_t opened, released, aborted;
};

struct context {
    struct net *net;
    int side;
};

static inline int net_listen(void *context, uint16_t port, struct iwarp_sentence *why)
{
    (void)context;
    (void)why;
    return port == 0 ? 4242 : port == 13 ? -1 : port;
}

static inline void net_unlisten(void *context, uint16_t port)
{
    (void)context;
    (void)port;
}

static inline struct pipe_end *end_new(struct net *net)
{
    struct pipe_end *end = calloc(1, sizeof(*end));

    ck_assert_ptr_nonnull(end);
    ck_assert_uint_lt(net->end_count, PIPES);
    end->net = net;
    net->ends[net->end_count++] = end;
    return end;
}

static inline void *net_connect(void *context, const char *address, uint16_t port, struct peer_stream *stream)
{
    struct context *own = context;
    struct pipe_end *end;

    if (strcmp(address, "nowhere") == 0)
        return NULL;
    end = end_new(own->net);
    end->stream = stream;
    end->connecting = true;
    end->port = port;
    return end;
}

static inline void net_send(void *transport, const uint8_t *octets, size_t count)
{
    struct pipe_end *end = transport;

    ck_assert(!end->over && !end->fin);
    ck_assert_uint_le(end->count + count, PIPE_OCTETS);
    memcpy(end->octets + end->count, octets, count);
    end->count += count;
}

static inline size_t net_unacknowledged(void *transport)
{
    const struct pipe_end *end = transport;

    ck_assert(!end->over);
    return end->unacknowledged;
}

static inline void net_shutdown(void *transport)
{
    struct pipe_end *end = transport;

    ck_assert(!end->over && !end->fin);
    end->fin = true;
}

static inline void net_abort(void *transport)
{
    struct pipe_end *end = transport;

    ck_assert(!end->over);
    end->over = end->reset = true;
    end->stream = NULL;
    end->net->aborted++;
}

static inline void net_release(void *transport)
{
    struct pipe_end *end = transport;

    ck_assert(!end->over);
    end->over = true;
    end->stream = NULL;
    end->net->released++;
}

static inline size_t net_emss(void *transport)
{
    (void)transport;
    return 1000;
}

static const struct peer_transport_ops net_ops = {
    .listen = net_listen,
    .unlisten = net_unlisten,
    .connect = net_connect,
    .send = net_send,
    .carrier.shutdown = net_shutdown,
    .carrier.abort = net_abort,
    .carrier.release = net_release,
    .carrier.emss = net_emss,
    .carrier.unacknowledged = net_unacknowledged,
};

static inline bool end_connect(struct net *net, struct pipe_end *end)
{
    struct pipe_end *other;

    end->connecting = false;
    other = end_new(net);
    other->other = end;
    end->other = other;
    other->stream = peer_accepted(net->peer[0], end->port, other, net->now);
    if (other->stream == NULL) {
        other->over = true;
        peer_connect_failed(end->stream, "refused", net->now);
        end->over = true;
        return true;
    }
    net->opened++;
    peer_connected(end->stream, net->now);
    return true;
}

/* Hands over what one end has sent. */
static inline bool end_move(struct net *net, struct pipe_end *end)
{
    struct pipe_end *other = end->other;

    if (end->connecting && end->stream != NULL)
        return end_connect(net, end);
    if (other == NULL || other->stream == NULL)
        return false;
    if (end->count != 0) {
        size_t count = end->count;

        end->count = 0;
        peer_input(other->stream, end->octets, count, net->now);
        return true;
    }
    if (end->fin) {
        struct peer_stream *stream = other->stream;

        end->other = NULL;
        peer_input_fin(stream, net->now);
        return true;
    }
    if (end->reset) {
        struct peer_stream *stream = other->stream;

        end->other = NULL;
        other->stream = NULL;
        other->over = true;
        peer_input_reset(stream, net->now);
        return true;
    }
    return false;
}

static inline void net_run(struct net *net)
{
    bool moved = true;

    while (moved) {
        moved = false;
        for (size_t i = 0; i < net->end_count; i++)
            moved = end_move(net, net->ends[i]) || moved;
    }
}

static struct context contexts[2];

static inline struct net *net_new(void)
{
    struct net *net = calloc(1, sizeof(*net));
    struct iwarp_sentence sentence = {""};

    ck_assert_ptr_nonnull(net);
    net->now = 1;
    for (int i = 0; i < 2; i++) {
        contexts[i] = (struct context){net, i};
        net->peer[i] = peer_new(NULL, &net_ops, &contexts[i], &sentence);
        ck_assert_msg(net->peer[i] != NULL, "%s", sentence.text);
    }
    return net;
}

static inline void net_free(struct net *net)
{
    peer_free(net->peer[0]);
    peer_free(net->peer[1]);
    for (size_t i = 0; i < net->end_count; i++)
        free(net->ends[i]);
    free(net);
}

/* One command; the reply must be an object with `ok` as expected. */
static inline json_t *command(struct net *net, int side, bool ok, const char *line)
{
    char *text = peer_command(net->peer[side], line, net->now);
    json_t *reply;

    ck_assert_ptr_nonnull(text);
    ck_assert_ptr_null(strchr(text, '\n'));
    reply = json_loads(text, 0, NULL);
    ck_assert_msg(json_is_object(reply), "'%s' got '%s'", line, text);
    ck_assert_msg(json_is_true(json_object_get(reply, "ok")) == ok, "'%s' got '%s'", line, text);
    if (!ok)
        ck_assert_msg(strlen(json_string_value(json_object_get(reply, "error"))) > 3, "%s", text);
    free(text);
    net_run(net);
    return reply;
}

static inline void order(struct net *net, int side, bool ok, const char *line)
{
    json_decref(command(net, side, ok, line));
}

/* The first event of that name among those polled. */
static const json_t *event_in(const json_t *polled, const char *name)
{
    size_t index;
    const json_t *event;

    json_array_foreach(json_object_get(polled, "events"), index, event)
    {
        if (strcmp(json_string_value(json_object_get(event, "event")), name) == 0)
            return event;
    }
    return NULL;
}

static inline long long integer(const json_t *object, const char *name)
{
    const json_t *member = json_object_get(object, name);

    ck_assert_msg(json_is_integer(member), "no integer '%s'", name);
    return (long long)json_integer_value(member);
}

static const char *string(const json_t *object, const char *name)
{
    const json_t *member = json_object_get(object, name);

    ck_assert_msg(json_is_string(member), "no string '%s'", name);
    return json_string_value(member);
}

#endif
