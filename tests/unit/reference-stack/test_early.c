/* SPDX-License-Identifier: BSD-2-Clause */
/* Octets after a gap in TCP: placed at once, delivered in order, remembered by nobody (RFC 5041 5.3, RFC 5044 6). */
#include <check.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/early_scene.h"
#include "tests/unit/stream_pair.h"
#include "wire/ddp.h"
#include "wire/fpdu.h"
#include "wire/marker.h"
#include "base/octets.h"
#include "base/splitmix.h"
#include "wire/rdmap.h"

Suite *early_suite(void);

/* --- Messages of all kinds ---------------------------------------------------------------------------------------- */

/*
 * Six FPDUs: Write A, Send 0 in two segments, Write B over a part of A, Send 1, Send 2. Those of the Sends that are
 * complete in order, and they alone, are delivered; and each segment's octets are in place when it has arrived.
 */
enum { FIRST = 1000, SECOND_AT = 200 };

static void look_messages(struct scene *scene, const bool *arrived)
{
    const struct pair_side *side = &scene->pair->side[0];
    size_t sends = (size_t)(scene->in_order >= scene->ends[2]) + (scene->in_order >= scene->ends[4]) +
                   (scene->in_order >= scene->ends[5]);
    const uint8_t *written = scene->written.octets;

    ck_assert_uint_eq(pair_count(scene->pair, 0, IWARP_EVENT_RECEIVE), sends);
    ck_assert_uint_eq(pair_count(scene->pair, 0, IWARP_EVENT_ERROR), 0);
    for (size_t i = 0; i < sends; i++) {
        const struct iwarp_event *event = pair_event(scene->pair, 0, IWARP_EVENT_RECEIVE, i);

        ck_assert_uint_eq(event->id, i);
        ck_assert_uint_eq(event->octets, i == 0 ? FIRST : 500 + i);
    }
    ck_assert_uint_eq(side->events[side->event_count - 1].kind == IWARP_EVENT_ERROR, 0);
    if (arrived[0])
        ck_assert(is_filled(written, SECOND_AT, 1)); /* where B does not reach */
    if (arrived[3] && (!arrived[0] || scene->in_order >= scene->ends[3]))
        ck_assert(is_filled(written + SECOND_AT, 600, 2)); /* B lies over A in the end, however they arrive */
    if (arrived[1] && arrived[2])
        ck_assert(is_filled(scene->receives[0], FIRST, 10));
    for (size_t i = 1; i < 3; i++)
        if (arrived[3 + i])
            ck_assert(is_filled(scene->receives[i], 500 + i, 10 + i));
}

static void run_messages(size_t permutation, bool markers)
{
    struct scene *scene = scene_new(markers);
    static uint8_t a[600], b[600], sends[3][FIRST];
    size_t order[PIECES];

    post_write(scene, 0, a, sizeof(a), 1);
    post_send(scene, sends[0], FIRST, 10);
    post_write(scene, SECOND_AT, b, sizeof(b), 2);
    post_send(scene, sends[1], 501, 11);
    post_send(scene, sends[2], 502, 12);
    scene_take(scene, false);
    permute(permutation, order);
    arrive(scene, order, permutation % 2 != 0, look_messages);
    scene_free(scene);
}

START_TEST(permutations_of_fpdus)
{
    for (size_t i = 0; i < PERMUTATIONS; i++)
        run_messages(i, false);
}
END_TEST

/* Found by their Markers: every FPDU here is longer than the distance of two. */
START_TEST(permutations_by_markers)
{
    for (size_t i = 0; i < PERMUTATIONS; i++)
        run_messages(i, true);
}
END_TEST

static void look_in_the_end(struct scene *scene, const bool *arrived)
{
    (void)arrived;
    ck_assert_uint_eq(pair_count(scene->pair, 0, IWARP_EVENT_ERROR), 0);
    if (scene->in_order != scene->count)
        return;
    ck_assert_uint_eq(pair_count(scene->pair, 0, IWARP_EVENT_RECEIVE), 3);
    for (size_t i = 0; i < 3; i++)
        ck_assert(is_filled(scene->receives[i], i == 0 ? FIRST : 500 + i, 10 + i));
    ck_assert(is_filled(scene->written.octets, SECOND_AT, 1));
    ck_assert(is_filled(scene->written.octets + SECOND_AT, 600, 2));
}

/* Cut where FPDUs are not: what is whole among the pieces is found by Markers, the rest waits. */
START_TEST(permutations_cut_anywhere)
{
    static uint8_t a[600], b[600], sends[3][FIRST];
    uint64_t found = 0;

    for (size_t i = 0; i < PERMUTATIONS; i++) {
        struct scene *scene = scene_new(true);
        size_t order[PIECES];

        post_write(scene, 0, a, sizeof(a), 1);
        post_send(scene, sends[0], FIRST, 10);
        post_write(scene, SECOND_AT, b, sizeof(b), 2);
        post_send(scene, sends[1], 501, 11);
        post_send(scene, sends[2], 502, 12);
        scene_take(scene, false);
        for (size_t k = 0; k + 1 < PIECES; k++)
            scene->ends[k] += 1 + (i + k) % 90;
        permute(i, order);
        arrive(scene, order, false, look_in_the_end);
        found += iwarp_stream_counters(sink_of(scene))->segments_early;
        scene_free(scene);
    }
    ck_assert_uint_eq(found, 0); /* no piece has a whole FPDU, so nothing may have been guessed */
}
END_TEST

/* Two FPDUs a piece and a bit: the whole ones among them are found. */
START_TEST(whole_ones_among_parts)
{
    static uint8_t a[600], b[600], sends[3][FIRST];
    struct scene *scene = scene_new(true);

    post_write(scene, 0, a, sizeof(a), 1);
    post_send(scene, sends[0], FIRST, 10);
    post_write(scene, SECOND_AT, b, sizeof(b), 2);
    post_send(scene, sends[1], 501, 11);
    post_send(scene, sends[2], 502, 12);
    scene_take(scene, false);
    /* From the middle of Write A to the middle of Send 1: Send 0 and Write B are whole. */
    early(scene, 100, scene->octets + 100, scene->ends[3] + 50 - 100);
    ck_assert_uint_eq(iwarp_stream_counters(sink_of(scene))->segments_early, 3);
    ck_assert(is_filled(scene->receives[0], FIRST, 10));
    ck_assert(is_filled(scene->written.octets + SECOND_AT, 600, 2));
    ck_assert_uint_eq(pair_count(scene->pair, 0, IWARP_EVENT_RECEIVE), 0);
    ck_assert_uint_eq(iwarp_stream_counters(sink_of(scene))->segments_placed, 0);
    for (size_t i = 0; i < PIECES; i++)
        next_piece(scene, i);
    ck_assert_uint_eq(iwarp_stream_counters(sink_of(scene))->segments_placed, PIECES);
    look_in_the_end(scene, NULL);
    scene_free(scene);
}
END_TEST

/* --- Read Responses ----------------------------------------------------------------------------------------------- */

static void look_responses(struct scene *scene, const bool *arrived)
{
    size_t done = (size_t)(scene->in_order >= scene->ends[1]) + (scene->in_order >= scene->ends[3]) +
                  (scene->in_order >= scene->ends[5]);

    ck_assert_uint_eq(pair_count(scene->pair, 0, IWARP_EVENT_READ_DONE), done);
    ck_assert_uint_eq(pair_count(scene->pair, 0, IWARP_EVENT_ERROR), 0);
    for (size_t i = 0; i < 3; i++)
        if (arrived[2 * i] && arrived[2 * i + 1])
            ck_assert(memcmp(scene->sink.octets + i * 1200, scene->source.octets + i * 1200, 1200) == 0);
}

/* Three Reads of the responder, each answered in two segments: placed early, completed in order. */
START_TEST(early_read_responses_complete_in_order)
{
    for (size_t permutation = 0; permutation < PERMUTATIONS; permutation++) {
        struct scene *scene = scene_new(permutation % 3 == 0);
        size_t order[PIECES];
        struct pair *pair = scene->pair;

        for (uint64_t i = 0; i < 3; i++) {
            struct iwarp_read read = {.id = i,
                                      .sink_stag = scene->sink.stag,
                                      .sink_to = scene->sink.base + i * 1200,
                                      .source_stag = scene->source.stag,
                                      .source_to = scene->source.base + i * 1200,
                                      .count = 1200};

            ck_assert_int_eq(iwarp_stream_post_read(sink_of(scene), &read, NULL), 0);
        }
        pair_gather(pair, 0);
        iwarp_stream_input(pair->side[1].stream, pair->side[0].sent + pair->side[0].delivered,
                           pair->side[0].sent_count - pair->side[0].delivered, 1);
        scene_take(scene, false);
        permute(permutation, order);
        arrive(scene, order, permutation % 2 != 0, look_responses);
        scene_free(scene);
    }
}
END_TEST

/* --- Early segments that are wrong -------------------------------------------------------------------------------- */

/* An FPDU without Markers. */
static size_t pack(uint8_t *out, const struct ddp_segment *segment, uint32_t position, bool markers)
{
    uint8_t ulpdu[RECEIVE];
    size_t header = ddp_pack_header(segment, ulpdu);
    struct fpdu_framing framing = {markers, true, position};

    if (segment->payload_octets != 0)
        memcpy(ulpdu + header, segment->payload, segment->payload_octets);
    return fpdu_pack(ulpdu, header + segment->payload_octets, &framing, out, RECEIVE);
}

static const uint8_t payload[16] = "sixteen octets.";

static struct ddp_segment send_segment(uint32_t msn)
{
    return (struct ddp_segment){.last = true,
                                .version = DDP_VERSION,
                                .control = 0x40 | IWARP_RDMAP_SEND,
                                .msn = msn,
                                .payload = payload,
                                .payload_octets = sizeof(payload)};
}

static struct ddp_segment write_segment(const struct scene *scene)
{
    return (struct ddp_segment){.tagged = true,
                                .last = true,
                                .version = DDP_VERSION,
                                .control = 0x40 | IWARP_RDMAP_WRITE,
                                .stag = scene->written.stag,
                                .to = scene->written.base,
                                .payload = payload,
                                .payload_octets = sizeof(payload)};
}

static void spoil(struct ddp_segment *bad, int how)
{
    switch (how) {
    case 1: bad->stag ^= 0x5500; break;
    case 2: bad->to += REGION - 8; break;
    case 3: bad->to = UINT64_MAX - 3; break;
    case 4: *bad = send_segment(1), bad->qn = 9; break;
    case 5: *bad = send_segment(2), bad->mo = RECEIVE - 8; break;
    case 6: *bad = send_segment(77); break;
    case 7: *bad = send_segment(2), bad->mo = UINT32_MAX; break;
    case 8: bad->version = 2; break;
    case 9: bad->control = 0xC0 | IWARP_RDMAP_WRITE; break;
    case 10: bad->control = 0x40 | IWARP_RDMAP_READ_RESPONSE; break;
    default: break;
    }
}

/* Send 1 is missing; what is after it is wrong in some way. Nothing comes of it until the Send is delivered. */
START_TEST(errors_wait_for_their_turn)
{
    static const struct {
        const char *text;
        wire_result triple;
    } cases[] = {
        {"bad CRC", TERM_MPA_CRC},
        {"unknown STag", TERM_DDP_INVALID_STAG},
        {"bounds", TERM_DDP_BOUNDS},
        {"wrap", TERM_DDP_TO_WRAP},
        {"no QN", TERM_DDP_INVALID_QN},
        {"too long", TERM_DDP_TOO_LONG},
        {"far MSN", TERM_DDP_MSN_RANGE},
        {"MO", TERM_DDP_INVALID_MO},
        {"DDP version", TERM_DDP_TAGGED_VERSION},
        {"RDMAP version", TERM_RDMAP_VERSION},
        {"response to nothing", TERM_RDMAP_OPCODE},
        {"no header", TERM_DDP_CATASTROPHIC},
    };
    struct scene *scene = scene_new(false);
    struct ddp_segment good = send_segment(1);
    struct ddp_segment bad = write_segment(scene);
    uint8_t octets[2 * RECEIVE];
    uint8_t before[REGION];
    size_t first = pack(octets, &good, 0, false);
    size_t count;

    spoil(&bad, _i);
    count = pack(octets + first, &bad, 0, false);
    if (_i == 0)
        octets[first + count - 1] ^= 1;
    if (_i == 11) {
        static const uint8_t cut[9] = {0xC1};

        count = fpdu_pack(cut, sizeof(cut), &(struct fpdu_framing){false, true, 0}, octets + first, RECEIVE);
    }
    memcpy(before, scene->written.octets, REGION);
    early(scene, first, octets + first, count);
    ck_assert_uint_eq(pair_count(scene->pair, 0, IWARP_EVENT_ERROR), 0);
    ck_assert_uint_eq(pair_count(scene->pair, 0, IWARP_EVENT_TERMINATE_SENT), 0);
    ck_assert_int_eq(iwarp_stream_state(sink_of(scene)), IWARP_STATE_OPERATION);
    ck_assert_uint_eq(iwarp_stream_counters(sink_of(scene))->segments_early, 0);
    ck_assert_uint_eq(iwarp_stream_counters(sink_of(scene))->crc_errors, 0);
    pair_feed(scene->pair, 0, octets, first);
    ck_assert_uint_eq(pair_count(scene->pair, 0, IWARP_EVENT_RECEIVE), 1);
    pair_feed(scene->pair, 0, octets + first, count);
    ck_assert_uint_eq(pair_count(scene->pair, 0, IWARP_EVENT_ERROR), 1);
    ck_assert_msg(pair_event(scene->pair, 0, IWARP_EVENT_ERROR, 0)->triple == cases[_i].triple, "%s: 0x%x",
                  cases[_i].text, pair_event(scene->pair, 0, IWARP_EVENT_ERROR, 0)->triple);
    ck_assert_int_eq(memcmp(before, scene->written.octets, REGION), 0);
    scene_free(scene);
}
END_TEST

/* After an error nothing more is placed, early or not (RFC 5041 7.1). */
START_TEST(nothing_after_an_error)
{
    struct scene *scene = scene_new(false);
    struct ddp_segment segment = write_segment(scene);
    uint8_t octets[RECEIVE];
    size_t count = pack(octets, &segment, 0, false);

    octets[count - 1] ^= 1;
    pair_feed(scene->pair, 0, octets, count);
    octets[count - 1] ^= 1;
    ck_assert_uint_eq(pair_count(scene->pair, 0, IWARP_EVENT_ERROR), 1);
    early(scene, 100, octets, count);
    ck_assert_uint_eq(iwarp_stream_counters(sink_of(scene))->segments_early, 0);
    ck_assert_uint_eq(scene->written.octets[0], 0);
    scene_free(scene);
}
END_TEST

/* A responder's first FPDU comes in order; so does an RTR. */
START_TEST(not_before_the_first_fpdu)
{
    struct pair *pair = pair_new();
    struct iwarp_region region = {.base = 0, .length = REGION, .access = IWARP_REMOTE_WRITE};
    struct ddp_segment segment = {.tagged = true,
                                  .last = true,
                                  .version = DDP_VERSION,
                                  .control = 0x40 | IWARP_RDMAP_WRITE,
                                  .payload = payload,
                                  .payload_octets = sizeof(payload)};
    uint8_t octets[RECEIVE];
    size_t count;

    ck_assert_int_eq(iwarp_region_register(pair->side[0].device, &region, NULL), 0);
    segment.stag = region.stag;
    count = pack(octets, &segment, 0, false);
    pair_open(pair);
    iwarp_stream_input_early(pair->side[0].stream, 20, octets, count, true, 1);
    ck_assert_uint_eq(region.octets[0], 0);
    pair_run(pair);
    ck_assert_int_eq(iwarp_stream_state(pair->side[0].stream), IWARP_STATE_FENCED);
    iwarp_stream_input_early(pair->side[0].stream, 20, octets, count, true, 1);
    ck_assert_uint_eq(region.octets[0], 0);
    ck_assert_int_eq(iwarp_stream_state(pair->side[0].stream), IWARP_STATE_FENCED);
    pair_free(pair);
}
END_TEST

/* FPDUs are not looked for where nothing but luck says where they begin. */
START_TEST(unproven_fpdu_boundaries_are_not_guessed)
{
    struct scene *scene = scene_new(false);
    struct ddp_segment segment = write_segment(scene);
    uint8_t octets[RECEIVE];
    size_t count = pack(octets, &segment, 0, false);

    scene->boundary = false;
    early(scene, 64, octets, count);
    ck_assert_uint_eq(iwarp_stream_counters(sink_of(scene))->segments_early, 0);
    scene->boundary = true;
    early(scene, 0, octets, count);
    early(scene, SIZE_MAX, octets, count);
    early(scene, 64, octets, 0);
    early(scene, 64, octets, count - 1);
    ck_assert_uint_eq(iwarp_stream_counters(sink_of(scene))->segments_early, 0);
    early(scene, 64, octets, count);
    ck_assert_uint_eq(iwarp_stream_counters(sink_of(scene))->segments_early, 1);
    scene_free(scene);
}
END_TEST

/*
 * A Marker that points into a payload which looks like an FPDU, good CRC and all: the Marker does not lie in what it
 * points to, or that has Markers which do not agree.
 */
START_TEST(lying_marker_leads_to_no_fpdu)
{
    struct scene *scene = scene_new(true);
    struct ddp_segment segment = write_segment(scene);
    uint8_t octets[1024] = {0};
    uint32_t position = 36; /* the first Marker, and an empty Write's 24 octets, and then 8 */
    size_t count = pack(octets + 16, &segment, position + 1000, false);
    size_t marker;

    ck_assert_uint_lt(count, 100);
    for (size_t gap = 4; gap < 600; gap += 4) {
        for (marker = 0; marker + MARKER_OCTETS <= sizeof(octets); marker += 4)
            if (marker < 16 || marker >= 16 + count) {
                octets_put16(octets + marker, 0);
                octets_put16(octets + marker + 2, marker > 16 ? (uint16_t)(marker - 16) : 0);
            }
        early(scene, gap, octets, sizeof(octets));
        ck_assert_uint_eq(iwarp_stream_counters(sink_of(scene))->segments_early, 0);
    }
    scene_free(scene);
}
END_TEST

/* Gaps, garbage, far MSNs, again and again: no octet of memory is taken, and the stream goes on. */
START_TEST(nothing_is_remembered)
{
    struct scene *scene = scene_new(_i != 0);
    struct ddp_segment segment = send_segment(1);
    uint8_t octets[RECEIVE];
    uint64_t state = 5;
    size_t used;

    scene->boundary = true;
    early(scene, 1, octets, pack(octets, &segment, 1, _i != 0));
    used = mallinfo2().uordblks;
    for (size_t i = 0; i < 20000; i++) {
        size_t count = sizeof(octets);

        for (size_t k = 0; k < 64; k++)
            octets[splitmix_next(&state) % sizeof(octets)] = (uint8_t)splitmix_next(&state);
        if (i % 3 == 0) {
            segment.msn = (uint32_t)splitmix_next(&state);
            count = pack(octets, &segment, 0, false);
        }
        scene->boundary = i % 2 != 0;
        iwarp_stream_input_early(sink_of(scene), 1 + splitmix_next(&state) % 100000, octets, count, scene->boundary, 1);
    }
    ck_assert_uint_eq(mallinfo2().uordblks, used);
    ck_assert_int_eq(iwarp_stream_state(sink_of(scene)), IWARP_STATE_OPERATION);
    ck_assert_uint_eq(pair_count(scene->pair, 0, IWARP_EVENT_ERROR), 0);
    scene_free(scene);
}
END_TEST

Suite *early_suite(void)
{
    Suite *suite = suite_create("early");
    TCase *tcase = tcase_create("ahead of a gap");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, permutations_of_fpdus);
    tcase_add_test(tcase, permutations_by_markers);
    tcase_add_test(tcase, permutations_cut_anywhere);
    tcase_add_test(tcase, whole_ones_among_parts);
    tcase_add_test(tcase, early_read_responses_complete_in_order);
    tcase_add_loop_test(tcase, errors_wait_for_their_turn, 0, 12);
    tcase_add_test(tcase, nothing_after_an_error);
    tcase_add_test(tcase, not_before_the_first_fpdu);
    tcase_add_test(tcase, unproven_fpdu_boundaries_are_not_guessed);
    tcase_add_test(tcase, lying_marker_leads_to_no_fpdu);
    tcase_add_loop_test(tcase, nothing_is_remembered, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite;
}
