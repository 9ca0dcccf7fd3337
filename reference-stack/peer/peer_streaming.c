/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ULP that talks over TCP first and then starts MPA on the same connection (RFC 5044 7.1, 7.1.5): the opener of the
 * connection sends its message, the other side answers with its own, the last streaming message, and each takes all
 * that follows the peer's message for MPA's. How long the peer's message is both ULPs know beforehand.
 */
#include <stdlib.h>
#include <string.h>

#include "reference-stack/peer/peer_internal.h"

static void send_streaming(struct peer_stream *ps)
{
    const struct peer_transport_ops *ops = ps->peer->ops;
    struct iwarp_span span = {ps->options.streaming_message, ps->options.streaming_octets};

    if (span.count == 0)
        return;
    if (ops->send_spans != NULL)
        ops->send_spans(ps->transport, &span, 1);
    else
        ops->send(ps->transport, span.octets, span.count);
}

static void report_streaming(struct peer_stream *ps)
{
    json_t *event = peer_event_new(ps->peer, ps->number, "streaming");

    if (event == NULL)
        return;
    (void)json_object_set_new(event, "data", upper_hex(ps->streaming, ps->streaming_got));
    (void)json_object_set_new(event, "unread", json_integer(ps->options.streaming_awaited - ps->streaming_got));
}

/* MPA takes over. */
static int hand_over(struct peer_stream *ps, struct iwarp_sentence *sentence)
{
    const struct peer_config *config = &ps->peer->config;
    bool forgets = false;

    report_streaming(ps);
    if (!ps->opener)
        send_streaming(ps);
    PEER_HOOK(config, hook_hand_over(config->defects, &forgets, &ps->drops_input));
    if (forgets && ps->peer->ops->forget != NULL)
        ps->peer->ops->forget(ps->transport);
    free(ps->streaming);
    ps->streaming = NULL;
    return peer_stream_begin(ps, sentence);
}

int peer_streaming_open(struct peer_stream *ps, struct iwarp_sentence *sentence)
{
    ps->streaming = calloc(1, ps->options.streaming_awaited + 1u);
    if (ps->streaming == NULL)
        return iwarp_sentence_set(sentence, "streaming: out of memory");
    if (ps->opener)
        send_streaming(ps);
    return ps->options.streaming_awaited == 0 ? hand_over(ps, sentence) : 0;
}

size_t peer_streaming_input(struct peer_stream *ps, const uint8_t *octets, size_t count)
{
    size_t lacks = ps->options.streaming_awaited - ps->streaming_got;
    size_t take = count < lacks ? count : lacks;
    struct iwarp_sentence sentence;

    memcpy(ps->streaming + ps->streaming_got, octets, take);
    ps->streaming_got += take;
    if (take != lacks && !PEER_HOOK_IF(&ps->peer->config, hook_streaming_over(ps->peer->config.defects)))
        return take;
    if (hand_over(ps, &sentence) != 0)
        peer_streaming_failed(ps, sentence.text);
    return take;
}

void peer_streaming_failed(struct peer_stream *ps, const char *why)
{
    void *transport = ps->transport;
    const struct peer_transport_ops *ops = ps->peer->ops;

    peer_connect_failed(ps, why, ps->peer->now);
    ops->carrier.abort(transport);
}

void peer_give_up(struct peer_stream *ps)
{
    static const char why[] = "it was given up";

    if (ps->transport != NULL)
        peer_streaming_failed(ps, why);
    else
        peer_connect_failed(ps, why, ps->peer->now);
}
