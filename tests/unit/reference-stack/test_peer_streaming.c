/* SPDX-License-Identifier: BSD-2-Clause */
/* Streaming messages before MPA starts on a connection, by hand: the octets of TCP in any portions. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/peer/peer.h"
#include "wire/mpa.h"

Suite *peer_streaming_suite(void);

/* One connection of the peer: what it sent. */
struct wire {
    uint8_t sent[1024];
    size_t count;
    struct peer_stream *stream;
    unsigned aborted, released, shut;
};

static struct wire wire;

static int on_listen(void *context, uint16_t port, struct iwarp_sentence *why)
{
    (void)context;
    (void)why;
    return port;
}

static void on_unlisten(void *context, uint16_t port)
{
    (void)context;
    (void)port;
}

static void *on_connect(void *context, const char *address, uint16_t port, struct peer_stream *stream)
{
    (void)context;
    (void)address;
    (void)port;
    wire.stream = stream;
    return &wire;
}

static void on_send(void *transport, const uint8_t *octets, size_t count)
{
    (void)transport;
    ck_assert_uint_le(wire.count + count, sizeof(wire.sent));
    memcpy(wire.sent + wire.count, octets, count);
    wire.count += count;
}

static void on_shutdown(void *transport)
{
    (void)transport;
    wire.shut++;
}

static void on_abort(void *transport)
{
    (void)transport;
    wire.aborted++;
}

static void on_release(void *transport)
{
    (void)transport;
    wire.released++;
}

static const struct peer_transport_ops ops = {
    .listen = on_listen,
    .unlisten = on_unlisten,
    .connect = on_connect,
    .send = on_send,
    .carrier.shutdown = on_shutdown,
    .carrier.abort = on_abort,
    .carrier.release = on_release,
};

static struct peer *peer_begin(void)
{
    struct peer *peer = peer_new(NULL, &ops, NULL, NULL);

    ck_assert_ptr_nonnull(peer);
    memset(&wire, 0, sizeof(wire));
    return peer;
}

static void ask(struct peer *peer, const char *line, const char *wanted)
{
    char *reply = peer_command(peer, line, 1);

    ck_assert_ptr_nonnull(reply);
    ck_assert_msg(strstr(reply, wanted) != NULL, "%s: %s, %s was expected", line, reply, wanted);
    free(reply);
}

static void feed(const char *octets, size_t count, size_t portion)
{
    while (count != 0) {
        size_t take = portion != 0 && portion < count ? portion : count;
        uint8_t *copy = malloc(take);

        ck_assert_ptr_nonnull(copy);
        memcpy(copy, octets, take);
        peer_input(wire.stream, copy, take, 1);
        free(copy);
        octets += take;
        count -= take;
    }
}

static size_t frame(enum iwarp_mpa_start_kind kind, char *out)
{
    struct iwarp_mpa_start start = {.kind = kind, .revision = 1, .crc = true};

    return mpa_start_pack(&start, (uint8_t *)out, MPA_START_MAX);
}

/* Portions of any size: the Request may come with the last streaming octet. */
START_TEST(listener_answers_streaming_octets)
{
    struct peer *peer = peer_begin();
    char octets[64 + MPA_START_MAX] = "hello";
    size_t count = 5 + frame(IWARP_MPA_REQUEST, octets + 5);

    ask(peer, "{\"verb\":\"listen\",\"port\":7,\"streaming\":\"6c617374\",\"streaming_octets\":5}", "\"ok\":true");
    wire.stream = peer_accepted(peer, 7, &wire, 1);
    ck_assert_ptr_nonnull(wire.stream);
    ask(peer, "{\"verb\":\"status\",\"stream\":1}", "not connected yet");
    ck_assert_uint_eq(wire.count, 0);
    feed(octets, count, (size_t)_i);
    ck_assert_uint_eq(wire.count, 4 + MPA_START_OCTETS);
    ck_assert_int_eq(memcmp(wire.sent, "lastMPA ID Rep Frame", 20), 0);
    ask(peer, "{\"verb\":\"poll\"}", "\"event\":\"streaming\",\"data\":\"68656c6c6f\"");
    ask(peer, "{\"verb\":\"status\",\"stream\":1}", "\"state\":\"fenced\"");
    peer_free(peer);
}
END_TEST

START_TEST(opener_sends_streaming_octets_first)
{
    struct peer *peer = peer_begin();
    char octets[64 + MPA_START_MAX] = "last";
    size_t count = 4 + frame(IWARP_MPA_REPLY, octets + 4);

    ask(peer,
        "{\"verb\":\"connect\",\"address\":\"x\",\"port\":7,\"rev\":1,\"streaming\":\"6869\",\"streaming_octets\":4}",
        "\"stream\":1");
    peer_connected(wire.stream, 1);
    ck_assert_uint_eq(wire.count, 2);
    feed(octets, 4, (size_t)_i);
    ck_assert_uint_eq(wire.count, 2 + MPA_START_OCTETS);
    ck_assert_int_eq(memcmp(wire.sent, "hiMPA ID Req Frame", 18), 0);
    feed(octets + 4, count - 4, (size_t)_i);
    ask(peer, "{\"verb\":\"status\",\"stream\":1}", "\"state\":\"operation\"");
    peer_free(peer);
}
END_TEST

/* Nothing is awaited: the message, and the Request right after. */
START_TEST(request_follows_a_message_without_answer)
{
    struct peer *peer = peer_begin();

    ask(peer, "{\"verb\":\"connect\",\"address\":\"x\",\"port\":7,\"rev\":1,\"streaming\":\"6869\"}", "\"stream\":1");
    peer_connected(wire.stream, 1);
    ck_assert_uint_eq(wire.count, 2 + MPA_START_OCTETS);
    peer_free(peer);
}
END_TEST

/* A peer that closes or resets in the middle of its message. */
START_TEST(peer_may_vanish_in_streaming_mode)
{
    struct peer *peer = peer_begin();

    ask(peer, "{\"verb\":\"listen\",\"port\":7,\"streaming_octets\":5}", "\"ok\":true");
    wire.stream = peer_accepted(peer, 7, &wire, 1);
    feed("hel", 3, 0);
    if (_i == 0) {
        peer_input_fin(wire.stream, 1);
        ck_assert_uint_eq(wire.aborted, 1);
        ask(peer, "{\"verb\":\"poll\"}", "connect_failed");
    } else if (_i == 1) {
        peer_input_reset(wire.stream, 1);
    } else if (_i == 2) {
        ask(peer, "{\"verb\":\"reset\"}", "\"ok\":true");
        ck_assert_uint_eq(wire.aborted, 1);
    } else {
        ask(peer, "{\"verb\":\"abort\",\"stream\":1}", "\"ok\":true");
        ck_assert_uint_eq(wire.aborted, 1);
        ask(peer, "{\"verb\":\"poll\"}", "it was given up");
    }
    ck_assert_uint_eq(peer_stream_count(peer), 0);
    peer_free(peer);
}
END_TEST

START_TEST(bad_streaming_options_are_refused)
{
    struct peer *peer = peer_begin();

    ask(peer, "{\"verb\":\"listen\",\"port\":7,\"streaming\":7}", "\"ok\":false");
    ask(peer, "{\"verb\":\"listen\",\"port\":7,\"streaming\":\"6\"}", "\"ok\":false");
    ask(peer, "{\"verb\":\"listen\",\"port\":7,\"streaming_octets\":65}", "\"ok\":false");
    ask(peer, "{\"verb\":\"listen\",\"port\":7,\"streaming_octets\":-1}", "\"ok\":false");
    peer_free(peer);
}
END_TEST

Suite *peer_streaming_suite(void)
{
    Suite *suite = suite_create("peer_streaming");
    TCase *tcase = tcase_create("before MPA");

    tcase_add_loop_test(tcase, listener_answers_streaming_octets, 0, 8);
    tcase_add_loop_test(tcase, opener_sends_streaming_octets_first, 0, 8);
    tcase_add_test(tcase, request_follows_a_message_without_answer);
    tcase_add_loop_test(tcase, peer_may_vanish_in_streaming_mode, 0, 3);
    tcase_add_test(tcase, bad_streaming_options_are_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}
