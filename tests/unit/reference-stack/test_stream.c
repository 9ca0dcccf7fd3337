/* SPDX-License-Identifier: BSD-2-Clause */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/instrument.h"
#include "tests/unit/stream_pair.h"
#include "tests/unit/suites.h"
#include "wire/ddp.h"
#include "wire/fpdu.h"
#include "wire/rdmap.h"

Suite *stream_suite(void);

/* Contents that tell every place apart. */
static void fill(uint8_t *octets, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++)
        octets[i] = (uint8_t)(seed + i * 7 + (i >> 8) * 31);
}

static struct iwarp_region region_new(struct pair *pair, int side, uint64_t base, size_t length, unsigned access)
{
    struct iwarp_region region = {.base = base, .length = length, .access = access};
    struct iwarp_sentence sentence = {""};

    ck_assert_msg(iwarp_region_register(pair->side[side].device, &region, &sentence) == 0, "%s", sentence.text);
    return region;
}

enum { SEND_OCTETS = 3000, WRITE_OCTETS = 5001, READ_OCTETS = 4000, RECEIVES = 8 };

static const size_t sizes[] = {0, 1, 17, SEND_OCTETS};

/* The four Sends, after the `before` that came earlier. */
static void received_all(const struct pair *pair, int side, size_t before, const uint8_t *data)
{
    const struct iwarp_event *event;

    for (size_t i = 0; i < 4; i++) {
        event = pair_event(pair, side, IWARP_EVENT_RECEIVE, before + i);
        ck_assert_ptr_nonnull(event);
        ck_assert_uint_eq(event->id, i);
        ck_assert_uint_eq(event->octets, sizes[i]);
        ck_assert_mem_eq(event->buffer, data + i, sizes[i]);
        ck_assert_int_eq(event->solicited, (i & 1) != 0);
        ck_assert_int_eq(event->invalidated, i == 2);
    }
}

/* Sends of all four kinds and sizes, Writes and Reads from `side`, all contents exact. */
static void exchange(struct pair *pair, int side)
{
    struct iwarp_stream *own = pair->side[side].stream;
    struct iwarp_stream *other = pair->side[1 - side].stream;
    static uint8_t data[WRITE_OCTETS];
    static uint8_t receives[RECEIVES][SEND_OCTETS];
    struct iwarp_region target =
        region_new(pair, 1 - side, UINT64_C(0xFFFFFFFFFFF00000), WRITE_OCTETS, IWARP_REMOTE_READ | IWARP_REMOTE_WRITE);
    struct iwarp_region sink = region_new(pair, side, 0x1000, READ_OCTETS, IWARP_LOCAL_WRITE);
    struct iwarp_region gone = {.length = 8, .access = IWARP_REMOTE_READ, .stream = pair->side[1 - side].config.number};
    size_t done = pair_count(pair, side, IWARP_EVENT_READ_DONE);
    size_t received = pair_count(pair, 1 - side, IWARP_EVENT_RECEIVE);
    const struct iwarp_event *event;

    ck_assert_int_eq(iwarp_region_register(pair->side[1 - side].device, &gone, NULL), 0);
    fill(data, sizeof(data), (unsigned)side);
    for (uint64_t i = 0; i < RECEIVES; i++)
        ck_assert_int_eq(iwarp_stream_post_receive(other, i, receives[i], SEND_OCTETS, NULL), 0);

    struct iwarp_write write = {
        .id = 100, .octets = data, .count = WRITE_OCTETS, .stag = target.stag, .to = target.base};
    ck_assert_int_eq(iwarp_stream_post_write(own, &write, NULL), 0);
    for (uint64_t i = 0; i < 4; i++) {
        struct iwarp_send send = {.id = 200 + i,
                                  .octets = data + i,
                                  .count = sizes[i],
                                  .solicited = (i & 1) != 0,
                                  .invalidate = i == 2,
                                  .stag = gone.stag};
        ck_assert_int_eq(iwarp_stream_post_send(own, &send, NULL), 0);
    }
    for (uint64_t i = 0; i < 10; i++) {
        struct iwarp_read read = {.id = 300 + i,
                                  .sink_stag = sink.stag,
                                  .sink_to = sink.base + i * 400,
                                  .source_stag = target.stag,
                                  .source_to = target.base + i * 400 + 1,
                                  .count = 400};
        ck_assert_int_eq(iwarp_stream_post_read(own, &read, NULL), 0);
    }
    struct iwarp_read nothing = {.id = 310, .sink_stag = 0xBAD, .source_stag = 0xBAD, .source_to = 5};
    ck_assert_int_eq(iwarp_stream_post_read(own, &nothing, NULL), 0);
    pair_run(pair);

    for (int i = 0; i < PAIR_SIDES; i++) {
        event = pair_event(pair, i, IWARP_EVENT_ERROR, 0);
        ck_assert_msg(event == NULL, "side %d: %s (%s)", i, event->text, event->requirement);
    }
    ck_assert_mem_eq(iwarp_region_find(pair->side[1 - side].device, target.stag)->octets, data, WRITE_OCTETS);
    ck_assert_mem_eq(iwarp_region_find(pair->side[side].device, sink.stag)->octets, data + 1, READ_OCTETS);
    ck_assert_uint_eq(pair_count(pair, side, IWARP_EVENT_READ_DONE), done + 11);
    received_all(pair, 1 - side, received, data);
    ck_assert(!iwarp_region_find(pair->side[1 - side].device, gone.stag)->valid);
    ck_assert_uint_le(iwarp_stream_counters(own)->reads_outstanding_max, iwarp_stream_ord(own));
}

enum { REVISIONS = 3, MARKERS = 4, CRCS = 4, RTRS = 4, PORTIONS = 3, COMBINATIONS = REVISIONS * MARKERS * CRCS };

static void end_in_order(struct pair *pair)
{
    iwarp_stream_disconnect(pair->side[1].stream, pair->now);
    ck_assert_int_eq(iwarp_stream_state(pair->side[1].stream), IWARP_STATE_CLOSING); /* before its FIN has left */
    pair_run(pair);
    ck_assert_uint_eq(pair_count(pair, 0, IWARP_EVENT_HALF_CLOSED), 1);
    iwarp_stream_disconnect(pair->side[0].stream, pair->now);
    pair_run(pair);
    for (int i = 0; i < PAIR_SIDES; i++)
        ck_assert_uint_eq(pair_count(pair, i, IWARP_EVENT_CLOSED), 1);
}

/* Start-up, exchange both ways and orderly end. */
static void converse(int n)
{
    static const size_t portions[PORTIONS] = {0, 13, 1460};
    static const unsigned rtrs[RTRS] = {0, IWARP_RTR_SEND, IWARP_RTR_WRITE, IWARP_RTR_READ};
    struct pair *pair = pair_new();
    unsigned revision = (unsigned)(n % REVISIONS);
    unsigned markers = (unsigned)(n /= REVISIONS) % MARKERS;
    unsigned crcs = (unsigned)(n /= MARKERS) % CRCS;
    unsigned rtr = rtrs[(n /= CRCS) % RTRS];

    /* NOLINTNEXTLINE(clang-analyzer-deadcode.DeadStores): the last of a row of divisions */
    pair->portion = portions[(n /= RTRS) % PORTIONS];
    pair->side[1].config.revision = revision == 0 ? 1 : 2;
    pair->side[1].config.enhanced = revision == 2;
    for (unsigned i = 0; i < PAIR_SIDES; i++) {
        struct iwarp_stream_config *config = &pair->side[i].config;

        config->markers = (markers >> i & 1) != 0;
        config->crc = (crcs >> i & 1) != 0;
        config->private_octets = (uint16_t)(i * 33 + 5);
        fill(config->private_data, config->private_octets, i);
    }
    if (rtr != 0 && revision == 2) {
        pair->side[1].config.peer_to_peer = true;
        pair->side[1].config.rtr = rtr;
    }
    pair_open(pair);
    pair_run(pair);
    for (int i = 0; i < PAIR_SIDES; i++) {
        const struct iwarp_event *event = pair_event(pair, i, IWARP_EVENT_ESTABLISHED, 0);
        const struct iwarp_stream_config *other = &pair->side[1 - i].config;
        const uint8_t *data;
        size_t octets;

        ck_assert_ptr_nonnull(event);
        data = iwarp_mpa_start_ulp_data(&event->start, &octets);
        ck_assert_uint_eq(octets, other->private_octets);
        ck_assert_mem_eq(data, other->private_data, octets);
        ck_assert_int_eq(event->crc, crcs != 0);
        ck_assert_int_eq(event->receive_markers, pair->side[i].config.markers);
        ck_assert_int_eq(event->send_markers, other->markers);
    }
    if (rtr != 0 && revision == 2) {
        ck_assert_uint_eq(pair_count(pair, 0, IWARP_EVENT_TRANSMIT_READY), 1);
        ck_assert_uint_eq(pair_count(pair, 0, IWARP_EVENT_RECEIVE), 0);
    } else {
        ck_assert_uint_eq(iwarp_stream_counters(pair->side[1].stream)->fpdus_sent, 0);
    }
    exchange(pair, 1);
    exchange(pair, 0);
    ck_assert_uint_le(pair->side[0].largest_piece, 1460);
    end_in_order(pair);
    pair_free(pair);
}

/* Every combination of revision (1, 2 plain, 2 enhanced), Markers per direction, CRC bits, RTR kind and portions. */
START_TEST(every_combination_converses)
{
    for (int i = 0; i < RTRS * PORTIONS; i++)
        converse(_i + i * COMBINATIONS);
}
END_TEST

/* An octet at a time, and a large message. */
START_TEST(octet_by_octet)
{
    struct pair *pair = pair_new();

    pair->portion = 1;
    pair->side[0].config.markers = pair->side[1].config.markers = true;
    pair->side[1].config.peer_to_peer = true;
    pair_open(pair);
    exchange(pair, 1);
    ck_assert_uint_eq(pair_count(pair, 0, IWARP_EVENT_RECEIVE), 4);
    pair_free(pair);
}
END_TEST

/*
 * Loop: how much of each output the transport takes, as a TCP whose buffer is full does. What it left goes on where it
 * ended.
 */
START_TEST(taken_in_parts)
{
    static const size_t takes[] = {1, 3, 14, 19, 512, 1459};
    struct pair *pair = pair_new();

    pair->take = takes[_i / 2];
    pair->side[0].config.markers = pair->side[1].config.markers = _i % 2 != 0; /* without, a piece has several spans */
    pair_open(pair);
    pair_run(pair);
    exchange(pair, 1);
    exchange(pair, 0);
    pair_free(pair);
}
END_TEST

/* RFC 5040 5.5, rule 12: what is fenced, and the work after it, waits for all Read Responses before it. */
START_TEST(fence_waits_for_all_responses)
{
    static const uint8_t octet;
    struct pair *pair = pair_new();
    struct iwarp_read nothing = {.count = 0};
    struct iwarp_send send = {.octets = &octet, .count = 1, .fence = _i == 0};
    struct iwarp_write write = {.octets = &octet, .count = 1, .fence = _i == 1};
    struct iwarp_stream *own, *other;
    struct iwarp_region target;
    uint64_t requests;
    uint8_t buffer[1];

    pair_open(pair);
    own = pair->side[1].stream;
    other = pair->side[0].stream;
    target = region_new(pair, 0, 0, 1, IWARP_REMOTE_WRITE);
    write.stag = target.stag;
    ck_assert_int_eq(iwarp_stream_post_receive(other, 0, buffer, 1, NULL), 0);
    iwarp_stream_hold_responses(other, true);
    ck_assert_int_eq(iwarp_stream_post_read(own, &nothing, NULL), 0);
    ck_assert_int_eq(iwarp_stream_post_read(own, &nothing, NULL), 0);
    pair_run(pair);
    requests = iwarp_stream_counters(own)->fpdus_sent;
    if (_i == 0)
        ck_assert_int_eq(iwarp_stream_post_send(own, &send, NULL), 0);
    ck_assert_int_eq(iwarp_stream_post_write(own, &write, NULL), 0);
    if (_i != 0)
        ck_assert_int_eq(iwarp_stream_post_send(own, &send, NULL), 0);
    pair_run(pair);
    ck_assert_uint_eq(iwarp_stream_counters(own)->fpdus_sent, requests + (_i == 2 ? 2 : 0));
    iwarp_stream_hold_responses(other, false);
    pair_run(pair);
    ck_assert_uint_eq(iwarp_stream_counters(own)->fpdus_sent, requests + 2);
    ck_assert_uint_eq(pair_count(pair, 1, IWARP_EVENT_WRITE_DONE), 1);
    ck_assert_uint_eq(pair_count(pair, 0, IWARP_EVENT_RECEIVE), 1);
    pair_free(pair);
}
END_TEST

Suite *stream_suite(void)
{
    Suite *suite = suite_create("stream");
    TCase *combinations = tcase_create("combinations");

    tcase_add_loop_test(combinations, every_combination_converses, 0, COMBINATIONS);
    tcase_add_test(combinations, octet_by_octet);
    tcase_add_loop_test(combinations, taken_in_parts, 0, 12);
    tcase_add_loop_test(combinations, fence_waits_for_all_responses, 0, 3); /* a Send, a Write, neither */
    tcase_set_timeout(combinations, 60);
    suite_add_tcase(suite, combinations);
    return suite;
}
