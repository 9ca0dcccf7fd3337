/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory runs out: each allocation of a scenario fails in turn, once. Then there is an error, nothing leaks, and
 * another stream of the same device goes on. The sanitised runner has an allocator of its own: there these tests are
 * left out.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/instrument.h"
#include "iwarp/stream.h"
#include "reference-stack/peer/peer.h"

Suite *memory_short_suite(void);

#include "tests/unit/memory_short_programs.h"
#include "tests/unit/memory_short_scripts.h"
#include "tests/unit/misuse.h"
#include "tests/unit/short_memory.h"
#include "tests/unit/still_transport.h"
#include "wire/terminate.h"

#if OWN_ALLOCATOR

/* --- Streams ----------------------------------------------------------------------------------------------------- */

enum { MESSAGE = 5000, STEPS = 400, SIDES = 2, WORK = 7 };

/* What start-up and framing there is. */
enum kind { PLAIN, MARKERS, SMBD, ASKED, RTR_READ, TRACED, TERMINATED, KINDS };

struct pair {
    struct iwarp_stream *stream[SIDES];
    uint8_t in[SIDES][MESSAGE];
    size_t received[SIDES], values[SIDES];
    unsigned posted[SIDES], reported[SIDES];
    enum kind kind;
};

static const uint8_t payload[MESSAGE] = {1, 2, 3};

static void open_pair(struct pair *pair, struct iwarp_device *device, long *n, enum kind kind)
{
    pair->kind = kind;
    for (int i = 0; i < SIDES; i++) {
        struct iwarp_stream_config config;

        iwarp_stream_config_default(&config, i == 0 ? IWARP_RESPONDER : IWARP_INITIATOR);
        config.markers = kind == MARKERS || kind == TRACED;
        config.trace = kind == TRACED;
        config.accept = kind == ASKED ? IWARP_ACCEPT_ASK : IWARP_ACCEPT;
        config.peer_to_peer = i == 1 && kind == RTR_READ;
        if (kind == RTR_READ)
            config.rtr = IWARP_RTR_READ;
        if (kind == SMBD) {
            config.revision = 1;
            config.enhanced = false;
            config.smbd = true;
            config.private_octets = 5;
        }
        SHORT(*n, pair->stream[i] = iwarp_stream_new(device, &config, 1, NULL));
    }
}

/* The ULP's decision: without memory it can be made again. */
static void decide(struct iwarp_stream *stream, long *n)
{
    int result;

    SHORT(*n, result = iwarp_stream_accept(stream, payload, 3, 5, 5, 1, NULL));
    if (result == 0)
        return;
    ck_assert_int_eq(iwarp_stream_state(stream), IWARP_STATE_DECISION);
    ck_assert_int_eq(iwarp_stream_accept(stream, payload, 3, 5, 5, 1, NULL), 0);
}

static void take(struct pair *pair, int side, long *n)
{
    struct iwarp_trace record;
    struct iwarp_event event;

    while (iwarp_stream_poll(pair->stream[side], &event)) {
        switch (event.kind) {
        case IWARP_EVENT_RECEIVE: pair->received[side]++; /* fall through */
        case IWARP_EVENT_SEND_DONE:
        case IWARP_EVENT_WRITE_DONE:
        case IWARP_EVENT_READ_DONE:
        case IWARP_EVENT_ATOMIC_DONE:
        case IWARP_EVENT_IMMEDIATE_DONE:
        case IWARP_EVENT_FLUSHED: pair->reported[side]++; break;
        case IWARP_EVENT_CONNECT_REQUEST:
            if (pair->kind == ASKED && iwarp_stream_state(pair->stream[side]) == IWARP_STATE_DECISION)
                decide(pair->stream[side], n);
            break;
        default: break;
        }
        pair->values[side] += event.kind == IWARP_EVENT_ATOMIC_DONE;
    }
    if (pair->kind == TRACED)
        (void)iwarp_stream_trace(pair->stream[side], &record);
}

static void step(struct pair *pair, int from, long *n)
{
    struct iwarp_output output;
    size_t octets;

    SHORT(*n, octets = iwarp_stream_output(pair->stream[from], &output));
    if (octets != 0) {
        struct iwarp_stream *to = pair->stream[1 - from];
        uint8_t piece[2048];
        size_t count = 0;

        for (size_t i = 0; i < output.span_count; count += output.spans[i++].count)
            memcpy(piece + count, output.spans[i].octets, output.spans[i].count);
        SHORT(*n, iwarp_stream_output_done(pair->stream[from], count, 1));
        /* In two portions, so that the first has to be kept; the second is there ahead of it. */
        SHORT(*n, iwarp_stream_input_early(to, count / 2, piece + count / 2, count - count / 2, false, 1));
        SHORT(*n, iwarp_stream_input(to, piece, count / 2, 1));
        SHORT(*n, iwarp_stream_input(to, piece + count / 2, count - count / 2, 1));
    }
    take(pair, from, n);
}

/* True when everything went as it does with memory. */
static bool talk(struct pair *pair, struct iwarp_region *region, long *n)
{
    bool good = true;

    for (int i = 0; i < SIDES; i++) {
        struct iwarp_stream *stream = pair->stream[i];
        struct iwarp_send send = {.octets = payload, .count = MESSAGE};
        struct iwarp_write write = {.octets = payload, .count = MESSAGE, .stag = region->stag};
        struct iwarp_read read = {
            .sink_stag = region->stag, .sink_to = MESSAGE, .source_stag = region->stag, .count = MESSAGE};
        struct iwarp_atomic atomic = {.operation = IWARP_ATOMIC_FETCH_ADD, .stag = region->stag, .to = 8};
        struct iwarp_immediate immediate = {.id = 1};
        int results[WORK];

        SHORT(*n, good &= iwarp_stream_reserve_receives(stream, 5, NULL) == 0);
        SHORT(*n, results[0] = iwarp_stream_post_receive(stream, 0, pair->in[i], MESSAGE, NULL));
        SHORT(*n, results[1] = iwarp_stream_post_receive(stream, 0, pair->in[i], MESSAGE, NULL));
        SHORT(*n, results[2] = iwarp_stream_post_write(stream, &write, NULL));
        SHORT(*n, results[3] = iwarp_stream_post_read(stream, &read, NULL));
        SHORT(*n, results[4] = iwarp_stream_post_atomic(stream, &atomic, NULL));
        SHORT(*n, results[5] = iwarp_stream_post_send(stream, &send, NULL));
        SHORT(*n, results[6] = iwarp_stream_post_immediate(stream, &immediate, NULL));
        for (int w = 0; w < WORK; w++) {
            pair->posted[i] += results[w] == 0;
            good &= results[w] == 0;
        }
    }
    for (int i = 0; i < STEPS; i++)
        step(pair, i % 2, n);
    for (int i = 0; i < SIDES; i++)
        good &= pair->received[i] == 2 && pair->values[i] == 1;
    return good;
}

/* Whatever the end: each piece of work is reported once. */
static void end(struct pair *pair, long *n)
{
    for (int i = 0; i < SIDES; i++) {
        if (pair->stream[i] == NULL)
            continue;
        SHORT(*n, pair->posted[i] += iwarp_stream_post_receive(pair->stream[i], 0, NULL, 0, NULL) == 0);
        if (pair->kind == TERMINATED)
            SHORT(*n, (void)iwarp_stream_terminate(pair->stream[i], TERM_RDMAP_CATASTROPHIC, 1, NULL));
        else
            SHORT(*n, iwarp_stream_disconnect(pair->stream[i], 1));
    }
    for (int i = 0; pair->stream[0] != NULL && pair->stream[1] != NULL && i < STEPS; i++)
        step(pair, i % 2, n);
    for (int i = 0; i < SIDES; i++) {
        if (pair->stream[i] == NULL)
            continue;
        SHORT(*n, iwarp_stream_abort(pair->stream[i], 1));
        take(pair, i, n);
        ck_assert_msg(pair->reported[i] == pair->posted[i], "kind %d, side %d: %u pieces of work posted, %u told of",
                      pair->kind, i, pair->posted[i], pair->reported[i]);
    }
}

/* True once the scenario needs no n-th allocation any more. */
static bool streams_with(long n, enum kind kind)
{
    long which = n;
    struct iwarp_device *device = NULL;
    struct iwarp_region region = {.length = 2 * (size_t)MESSAGE, .access = 31};
    struct pair pair = {.kind = kind}, other = {.kind = kind};
    long before = short_live;
    bool good = false;
    long never = 0;
    int registered = -1;

    short_failed = false;
    SHORT(n, device = iwarp_device_new(NULL));
    if (device != NULL)
        SHORT(n, registered = iwarp_region_register(device, &region, NULL));
    if (registered == 0) {
        open_pair(&other, device, &never, kind);
        open_pair(&pair, device, &n, kind);
        if (pair.stream[0] != NULL && pair.stream[1] != NULL)
            good = talk(&pair, &region, &n);
        ck_assert_msg(good || short_failed, "kind %d", kind);
        end(&pair, &n);
        ck_assert_msg(talk(&other, &region, &never), "kind %d: the other stream does not go on", kind);
        end(&other, &never);
    } else {
        ck_assert(short_failed);
        ck_assert_ptr_null(region.octets);
        ck_assert_uint_eq(region.stag, 0);
    }
    for (int i = 0; i < SIDES; i++) {
        iwarp_stream_free(pair.stream[i]);
        iwarp_stream_free(other.stream[i]);
    }
    iwarp_device_free(device);
    ck_assert_msg(short_live == before, "with allocation %ld failing %ld stay behind", which, short_live - before);
    return !short_failed && good;
}

START_TEST(streams_survive_failed_allocations)
{
    long n = 1;

    while (!streams_with(n, (enum kind)_i))
        ck_assert_int_lt(++n, 1000);
    ck_assert_int_gt(n, 10);
}
END_TEST

/*
 * --- Regions -------------------------------------------------------------------------------------------------------
 */

enum { REGIONS = 100 }; /* more than the device's table has room for at first */

static bool regions_with(long n)
{
    static uint8_t borrowed[8];
    long which = n, before = short_live;
    struct iwarp_device *device = iwarp_device_new(NULL);
    size_t registered = 0;

    short_failed = false;
    ck_assert_ptr_nonnull(device);
    for (uint32_t i = 1; i <= REGIONS; i++) {
        struct iwarp_region wanted = {.length = 8, .stag = i << 8, .octets = i % 2 == 0 ? borrowed : NULL};
        struct iwarp_region region = wanted;
        struct iwarp_sentence why = {""};
        int result;

        SHORT(n, result = iwarp_region_register(device, &region, &why));
        registered += result == 0;
        if (result == 0) {
            ck_assert_ptr_eq(iwarp_region_find(device, i << 8)->octets, region.octets);
            continue;
        }
        ck_assert_ptr_null(iwarp_region_find(device, i << 8));
        misuse_untouched(&region, &wanted);
        ck_assert_ptr_nonnull(strstr(why.text, "memory"));
        ck_assert_int_eq(iwarp_region_register(device, &region, NULL), 0);
        registered++;
    }
    ck_assert_uint_eq(registered, REGIONS);
    ck_assert_uint_eq(iwarp_region_count(device), REGIONS);
    for (uint32_t i = 1; i <= REGIONS; i++)
        ck_assert_int_eq(iwarp_region_deregister(device, i << 8, NULL), 0);
    iwarp_device_free(device);
    ck_assert_msg(short_live == before, "with allocation %ld failing %ld stay behind", which, short_live - before);
    return !short_failed;
}

START_TEST(regions_survive_failed_allocations)
{
    long n = 1;

    while (!regions_with(n))
        ck_assert_int_lt(++n, 1000);
    ck_assert_int_gt(n, REGIONS);
}
END_TEST

/* --- The peer ---------------------------------------------------------------------------------------------------- */

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

static const struct peer_transport_ops ops = {
    STILL_TRANSPORT,
    .connect = op_connect,
    .send = op_send,
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

START_TEST(upper_tester_survives_failed_allocations)
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
    tcase_add_loop_test(tcase, streams_survive_failed_allocations, 0, KINDS);
    tcase_add_test(tcase, regions_survive_failed_allocations);
    tcase_add_test(tcase, upper_tester_survives_failed_allocations);
    suite_add_tcase(suite, tcase);
    suite_add_tcase(suite, memory_short_programs_case());
    suite_add_tcase(suite, memory_short_scripts_case());
#endif
    return suite;
}
