/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory runs out: each allocation of a scenario fails in turn, once. Then there is an error, nothing leaks, and another
 * stream of the same device goes on. The sanitised runner has an allocator of its own: there these tests are left out.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/stream.h"
#include "reference-stack/peer.h"

Suite *memory_short_suite(void);

#include "tests/unit/memory_short_programs.h"
#include "tests/unit/short_memory.h"

#if OWN_ALLOCATOR

/* --- Streams ----------------------------------------------------------------------------------------------------- */

enum { MESSAGE = 5000, STEPS = 400 };

struct pair {
    struct iwarp_stream *stream[2];
    uint8_t in[2][MESSAGE];
    size_t received[2], ended;
};

static const uint8_t payload[MESSAGE] = {1, 2, 3};

static void open_pair(struct pair *pair, struct iwarp_device *device, long *n, bool markers)
{
    for (int i = 0; i < 2; i++) {
        struct iwarp_stream_config config;

        iwarp_stream_config_default(&config, i == 0 ? IWARP_RESPONDER : IWARP_INITIATOR);
        config.markers = markers;
        SHORT(*n, pair->stream[i] = iwarp_stream_new(device, &config, 1, NULL));
    }
}

static void step(struct pair *pair, int from, long *n)
{
    struct iwarp_output output;
    struct iwarp_event event;
    size_t octets;

    SHORT(*n, octets = iwarp_stream_output(pair->stream[from], &output));
    if (octets != 0) {
        uint8_t piece[2048];
        size_t count = 0;

        for (size_t i = 0; i < output.span_count; count += output.spans[i++].count)
            memcpy(piece + count, output.spans[i].octets, output.spans[i].count);
        SHORT(*n, iwarp_stream_output_done(pair->stream[from], count, 1));
        /* In two portions, so that the first has to be kept. */
        SHORT(*n, iwarp_stream_input(pair->stream[1 - from], piece, count / 2, 1));
        SHORT(*n, iwarp_stream_input(pair->stream[1 - from], piece + count / 2, count - count / 2, 1));
    }
    while (iwarp_stream_poll(pair->stream[from], &event)) {
        if (event.kind == IWARP_EVENT_RECEIVE && memcmp(pair->in[from], payload, event.octets) == 0)
            pair->received[from]++;
        pair->ended += event.kind == IWARP_EVENT_ERROR || event.kind == IWARP_EVENT_CLOSED;
    }
}

static bool talk(struct pair *pair, struct iwarp_region *region, long *n)
{
    int refused = 0;

    for (int i = 0; i < 2; i++) {
        struct iwarp_send send = {.octets = payload, .count = MESSAGE};
        struct iwarp_write write = {.octets = payload, .count = MESSAGE, .stag = region->stag};
        struct iwarp_read read = {
            .sink_stag = region->stag, .sink_to = MESSAGE, .source_stag = region->stag, .count = MESSAGE};

        SHORT(*n, refused |= iwarp_stream_post_receive(pair->stream[i], 0, pair->in[i], MESSAGE, NULL));
        SHORT(*n, refused |= iwarp_stream_post_write(pair->stream[i], &write, NULL));
        SHORT(*n, refused |= iwarp_stream_post_read(pair->stream[i], &read, NULL));
        SHORT(*n, refused |= iwarp_stream_post_send(pair->stream[i], &send, NULL));
    }
    for (int i = 0; i < STEPS; i++)
        step(pair, i % 2, n);
    return refused == 0 && pair->received[0] == 1 && pair->received[1] == 1;
}

/* True once the scenario needs no n-th allocation any more. */
static bool streams_with(long n, bool markers)
{
    long which = n;
    struct iwarp_device *device = NULL;
    struct iwarp_region region = {.length = 2 * (size_t)MESSAGE, .access = 15};
    struct pair pair = {.ended = 0}, other = {.ended = 0};
    long before = short_live;
    bool good = false;
    long never = 0;
    int registered = -1;

    short_failed = false;
    SHORT(n, device = iwarp_device_new(NULL));
    if (device != NULL)
        SHORT(n, registered = iwarp_region_register(device, &region, NULL));
    if (registered == 0) {
        open_pair(&other, device, &never, markers);
        open_pair(&pair, device, &n, markers);
        if (pair.stream[0] != NULL && pair.stream[1] != NULL)
            good = talk(&pair, &region, &n);
        ck_assert(good || short_failed);
        ck_assert_msg(talk(&other, &region, &never), "the other stream does not go on");
    } else {
        ck_assert(short_failed);
    }
    for (int i = 0; i < 2; i++) {
        iwarp_stream_free(pair.stream[i]);
        iwarp_stream_free(other.stream[i]);
    }
    iwarp_device_free(device);
    ck_assert_msg(short_live == before, "with allocation %ld failing %ld stay behind", which, short_live - before);
    return !short_failed && good;
}

START_TEST(streams)
{
    long n = 1;

    while (!streams_with(n, _i != 0))
        ck_assert_int_lt(++n, 1000);
    ck_assert_int_gt(n, 10);
}
END_TEST

/* --- The peer ---------------------------------------------------------------------------------------------------- */

static int op_listen(void *context, uint16_t port)
{
    (void)context;
    return port;
}

static void op_unlisten(void *context, uint16_t port)
{
    (void)context;
    (void)port;
}

static void *op_connect(void *context, const char *address, uint16_t port, struct peer_stream *stream)
{
    (void)address;
    (void)port;
    *(struct peer_stream **)context = stream;
    return context;
}

static void op_send(void *transport, const uint8_t *octets, size_t count)
{
    (void)transport;
    (void)octets;
    (void)count;
}

static void op_end(void *transport)
{
    (void)transport;
}

static const struct peer_transport_ops ops = {
    .listen = op_listen,
    .unlisten = op_unlisten,
    .connect = op_connect,
    .send = op_send,
    .shutdown = op_end,
    .abort = op_end,
    .release = op_end,
};

static const char *const lines[] = {
    "{\"verb\":\"capabilities\",\"tag\":[1,2]}",
    "{\"verb\":\"listen\",\"port\":7,\"private_data\":\"0102\",\"rtr\":[\"read\"]}",
    "{\"verb\":\"reg_mr\",\"length\":4096,\"fill\":\"count\",\"data\":\"00ff\",\"stag\":4711}",
    "{\"verb\":\"mem_read\",\"stag\":4711}",
    "{\"verb\":\"mem_write\",\"stag\":4711,\"data\":\"0102\"}",
    "{\"verb\":\"connect\",\"address\":\"192.0.2.1\",\"port\":7}",
    "{\"verb\":\"send\",\"stream\":1,\"length\":100,\"id\":1}",
    "{\"verb\":\"status\",\"stream\":1}",
    "no JSON",
    "{\"verb\":\"poll\"}",
    "{\"verb\":\"poll\"}",
    "{\"verb\":\"dereg\",\"stag\":4711}",
    "{\"verb\":\"reset\"}",
};

static bool peer_with(long n)
{
    long which = n;
    struct peer_stream *stream = NULL;
    struct peer *peer = NULL;
    long before = short_live;
    char *reply;

    short_failed = false;
    SHORT(n, peer = peer_new(NULL, &ops, &stream, NULL));
    for (size_t i = 0; peer != NULL && i < sizeof(lines) / sizeof(lines[0]); i++) {
        SHORT(n, reply = peer_command(peer, lines[i], i));
        ck_assert(reply != NULL || short_failed);
        free(reply);
        if (stream != NULL && i == 5)
            SHORT(n, peer_connected(stream, i));
    }
    if (peer == NULL)
        ck_assert(short_failed);
    else {
        reply = peer_command(peer, lines[0], 100);
        ck_assert_ptr_nonnull(reply);
        ck_assert_ptr_nonnull(strstr(reply, "\"ok\":true"));
        free(reply);
    }
    peer_free(peer);
    ck_assert_msg(short_live == before, "with allocation %ld failing %ld stay behind", which, short_live - before);
    return !short_failed;
}

START_TEST(upper_tester)
{
    long n = 1;

    (void)peer_with(0); /* what is allocated once for the process */
    while (!peer_with(n))
        ck_assert_int_lt(++n, 5000);
    ck_assert_int_gt(n, 50);
}
END_TEST

#endif

Suite *memory_short_suite(void)
{
    Suite *suite = suite_create("memory_short");
#if OWN_ALLOCATOR
    TCase *tcase = tcase_create("each allocation fails once");

    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, streams, 0, 2);
    tcase_add_test(tcase, upper_tester);
    suite_add_tcase(suite, tcase);
    suite_add_tcase(suite, memory_short_programs_case());
#endif
    return suite;
}
