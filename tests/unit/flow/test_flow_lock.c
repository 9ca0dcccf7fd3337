/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures that lack something: frames lost, frames cut, one direction only, a late beginning; and garbage. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/decoder.h"
#include "generator/packet/packet.h"
#include "tests/unit/flow_talk.h"
#include "tests/unit/guard.h"
#include "tests/unit/suites.h"

Suite *flow_lock_suite(void);

enum { COUNT = 13 };

static struct talk *conversation(const struct flow_config *config, unsigned markers, bool crc)
{
    struct talk *talk = talk_new(config);

    talk_start_simple(talk, (markers & 1) != 0, (markers & 2) != 0, crc);
    talk_mix(talk, 0, COUNT);
    talk_mix(talk, 1, 3);
    return talk;
}

static void begin(struct talk *talk)
{
    talk_syn(talk);
    talk_segment(talk, 0, 0, talk->start[0]);
    talk_segment(talk, 1, 0, talk->start[1]);
}

/* FPDUs of side 0 that have no octet in [from, to). */
static unsigned untouched(const struct talk *talk, size_t from, size_t to)
{
    unsigned count = 0;

    for (size_t i = 0; i < talk->fpdus[0]; i++)
        count += talk->boundary[0][i + 1] <= from || talk->boundary[0][i] >= to;
    return count;
}

/* FPDU i is missing, each an FPDU a segment: all others are decoded. Loop: Markers and CRC. */
START_TEST(all_but_the_lost_fpdu_are_decoded)
{
    for (size_t lost = 0; lost < COUNT; lost++) {
        struct talk *talk = conversation(NULL, (unsigned)_i & 3, (_i & 4) != 0);

        begin(talk);
        for (size_t i = 0; i < COUNT; i++)
            if (i != lost)
                talk_segment(talk, 0, talk->boundary[0][i], talk->boundary[0][i + 1]);
        talk_segment_with(talk, 0, talk->octets[0], talk->octets[0], TCP_FLAG_FIN | TCP_FLAG_ACK, 0);
        talk_finish(talk);
        EXPECT(talk->good[0] == COUNT - 1 && talk->wrong == 0 && talk->gaps == 1, "FPDU %zu lost: %s", lost,
               talk->log[0]);
        talk_free(talk);
    }
}
END_TEST

/*
 * One segment of a stream is missing whose segments begin anywhere. What is decoded is right, and with CRC or Markers
 * all comes back at the latest with the first FPDU that begins in a later segment and lies wholly in one.
 */
START_TEST(decoding_resumes_after_a_lost_segment)
{
    static const size_t sizes[] = {100, 536, 1460, 6000};

    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        struct talk *whole = conversation(NULL, (unsigned)_i & 3, (_i & 4) != 0);
        size_t size = sizes[s], total = whole->octets[0] - whole->start[0];
        size_t segments = (total + size - 1) / size;

        talk_free(whole);
        for (size_t lost = 0; lost < segments; lost++) {
            struct talk *talk = conversation(NULL, (unsigned)_i & 3, (_i & 4) != 0);
            size_t from = talk->start[0] + lost * size;
            size_t to = from + size < talk->octets[0] ? from + size : talk->octets[0];

            begin(talk);
            talk_run(talk, 0, talk->start[0], from, size);
            talk_run(talk, 0, to, talk->octets[0], size);
            talk_finish(talk);
            EXPECT(talk->wrong == 0, "%zu, segment %zu lost: wrong: %s", size, lost, talk->log[0]);
            EXPECT(strstr(talk->log[0], "!crc") == NULL, "%zu, segment %zu lost: %s", size, lost, talk->log[0]);
            EXPECT(talk->good[0] <= untouched(talk, from, to), "%zu, segment %zu lost: too many", size, lost);
            /* What lies before is there, and what lies far after. */
            EXPECT(talk->good[0] >= untouched(talk, from, talk->octets[0]), "%zu, segment %zu lost: before: %s", size,
                   lost, talk->log[0]);
            if ((_i & 4) != 0 && size >= 1460 && lost + 9000 / size + 2 < segments)
                EXPECT(strstr(talk->log[0], "s0:3.13") != NULL || talk->good[0] >= 11, "%zu, segment %zu lost: %s",
                       size, lost, talk->log[0]);
            talk_free(talk);
        }
    }
}
END_TEST

/* An octet range inside one FPDU is missing: its headers are reported, and the next boundary is known. */
START_TEST(hole_inside_an_fpdu)
{
    struct talk *talk = conversation(NULL, 2, true);
    size_t from = talk->boundary[0][11];

    begin(talk);
    talk_segment(talk, 0, talk->start[0], from + 1000);
    talk_segment(talk, 0, from + 1700, talk->octets[0]);
    talk_finish(talk);
    ck_assert_uint_eq(talk->good[0], COUNT - 1);
    ck_assert_uint_eq(talk->headers[0], COUNT);
    ck_assert_uint_eq(talk->gaps, 1);
    ck_assert_uint_eq(talk->undecoded, 0);
    ck_assert_ptr_nonnull(strstr(talk->log[0], "f0:4018~ s0:3.12 g0 f0:9018 s0:3.13"));
    talk_free(talk);
}
END_TEST

/* The receiver has acknowledged what is missing: it is not waited for until the end. */
START_TEST(acknowledged_hole_is_given_up_at_once)
{
    struct talk *talk = conversation(NULL, 0, true);

    begin(talk);
    talk_segment(talk, 0, talk->start[0], talk->boundary[0][3]);
    for (size_t i = 4; i < COUNT; i++)
        talk_segment(talk, 0, talk->boundary[0][i], talk->boundary[0][i + 1]);
    ck_assert_uint_eq(talk->good[0], 3);
    talk_segment_with(talk, 1, talk->start[1], talk->start[1], TCP_FLAG_ACK, talk->octets[0]);
    ck_assert_uint_eq(talk->good[0], COUNT - 1);
    talk_free(talk);
}
END_TEST

/* Memory for reordering is bounded: the hole is given up. */
START_TEST(hole_is_given_up_when_the_queue_is_full)
{
    struct flow_config config = {.half_buffer_max = 20000};
    struct talk *talk = conversation(&config, 0, true);

    for (unsigned i = 0; i < 20; i++)
        talk_send(talk, 0, 1424);
    begin(talk);
    for (size_t i = 1; i < talk->fpdus[0]; i++)
        talk_segment(talk, 0, talk->boundary[0][i], talk->boundary[0][i + 1]);
    ck_assert_uint_ge(talk->good[0], COUNT);
    ck_assert_uint_eq(talk->gaps, 1);
    talk_free(talk);
}
END_TEST

/* Frames cut at each length from the TCP header on: DDP and RDMAP headers that are there are reported. */
START_TEST(headers_of_cut_frames_are_reported)
{
    for (size_t snap = 54; snap < 200; snap++) {
        struct talk *talk = conversation(NULL, (unsigned)_i & 3, (_i & 4) != 0);
        size_t header = 54 + FPDU_LENGTH_OCTETS + DDP_UNTAGGED_OCTETS + ((_i & 3) != 0 ? 4 : 0);

        begin(talk);
        talk->snap = snap;
        for (size_t i = 0; i < COUNT; i++)
            talk_segment(talk, 0, talk->boundary[0][i], talk->boundary[0][i + 1]);
        talk_finish(talk);
        EXPECT(talk->wrong == 0, "cut at %zu: wrong", snap);
        if (snap >= header)
            EXPECT(talk->headers[0] == COUNT && talk->gaps == 0, "cut at %zu: %u headers: %s", snap, talk->headers[0],
                   talk->log[0]);
        talk_free(talk);
    }
}
END_TEST

/* Several FPDUs a segment and the frames cut: the next segment is found again. */
START_TEST(snap_length_many_in_a_segment)
{
    struct talk *talk = talk_new(NULL);

    talk_start_simple(talk, false, false, _i != 0);
    for (unsigned i = 0; i < 60; i++)
        talk_send(talk, 0, 100);
    begin(talk);
    talk->snap = 300;
    for (size_t i = 0; i < 60; i += 6)
        talk_segment(talk, 0, talk->boundary[0][i], talk->boundary[0][i + 6]);
    talk_finish(talk);
    EXPECT(talk->headers[0] == 20 && talk->wrong == 0, "%u: %s", talk->headers[0], talk->log[0]);
    EXPECT(talk->good[0] >= 10, "%s", talk->log[0]);
    talk_free(talk);
}
END_TEST

/* The capture begins after the start-up frames. Loop: Markers and CRC. */
START_TEST(capture_that_begins_late_is_decoded)
{
    for (size_t first = 0; first < 6; first++) {
        struct talk *talk = conversation(NULL, (unsigned)_i & 3, (_i & 4) != 0);
        bool crc = (_i & 4) != 0, markers = (_i & 2) != 0;

        for (size_t i = first; i < COUNT; i++)
            talk_segment(talk, 0, talk->boundary[0][i], talk->boundary[0][i + 1]);
        talk_finish(talk);
        EXPECT(talk->wrong == 0, "from %zu: wrong", first);
        if (crc)
            EXPECT(talk->good[0] == COUNT - first, "from %zu: %u: %s", first, talk->good[0], talk->log[0]);
        else if (!markers) /* one segment is needed to be sure */
            EXPECT(talk->good[0] == COUNT - first - 1, "from %zu: %u: %s", first, talk->good[0], talk->log[0]);
        if (talk->good[0] != 0)
            ck_assert(talk->late && !talk->roles_known);
        talk_free(talk);
    }
}
END_TEST

/* It begins in the middle of an FPDU, and FPDUs go over several segments. */
START_TEST(late_in_an_fpdu)
{
    struct talk *talk = talk_new(NULL);

    talk_start_simple(talk, false, (_i & 1) != 0, true);
    for (unsigned i = 0; i < 6; i++)
        talk_send(talk, 0, 8000);
    talk_run(talk, 0, talk->boundary[0][0] + 3000, talk->boundary[0][1], 1460);
    for (unsigned i = 1; i < 6; i++)
        talk_run(talk, 0, talk->boundary[0][i], talk->boundary[0][i + 1], 1460);
    talk_finish(talk);
    EXPECT(talk->good[0] == 5 && talk->wrong == 0, "%s", talk->log[0]);
    talk_free(talk);
}
END_TEST

START_TEST(late_not_wanted)
{
    struct flow_config config = {.no_late_lock = true};
    struct talk *talk = conversation(&config, 0, true);

    for (size_t i = 0; i < COUNT; i++)
        talk_segment(talk, 0, talk->boundary[0][i], talk->boundary[0][i + 1]);
    talk_finish(talk);
    ck_assert_str_eq(talk->log[0], "");
    talk_free(talk);
}
END_TEST

/* Only the Initiator's direction was captured: framing is found out. Loop: Markers, CRC by its own C or not. */
START_TEST(framing_is_found_from_the_initiator_alone)
{
    struct iwarp_mpa_start request = {.revision = 1, .crc = (_i & 1) != 0}, reply = request;
    struct talk *talk = talk_new(NULL);

    reply.markers = (_i & 2) != 0;
    reply.crc = (_i & 4) != 0;
    talk_start(talk, request, reply);
    talk_mix(talk, 0, COUNT);
    talk_segment_with(talk, 0, 0, 0, TCP_FLAG_SYN, 0);
    talk->frame = 0;
    talk_build(talk, 0, talk->isn[0], 0, TCP_FLAG_SYN, NULL, 0);
    talk_give(talk);
    talk_run(talk, 0, 0, talk->start[0], 1460);
    for (size_t i = 0; i < COUNT; i++)
        talk_segment(talk, 0, talk->boundary[0][i], talk->boundary[0][i + 1]);
    talk_finish(talk);
    EXPECT(talk->good[0] == COUNT && talk->wrong == 0, "%s", talk->log[0]);
    EXPECT(strstr(talk->log[0], "u0:3") != NULL, "%s", talk->log[0]);
    talk_free(talk);
}
END_TEST

/*
 * The same for who shows them at once: after so many segments, all but the last of which wait, each FPDU is reported as
 * it comes. Where a SYN of the other side was captured nothing changes. Loop: without that SYN, and with it.
 */
START_TEST(one_way_at_once)
{
    const struct flow_config config = {.one_way_segments = 8};
    const unsigned reported_from = _i == 0 ? 6 : COUNT; /* the Request is the first of eight */
    struct talk *talk = talk_new(&config);

    talk_start_simple(talk, false, false, true);
    talk_mix(talk, 0, COUNT);
    talk->frame = 0;
    talk_build(talk, 0, talk->isn[0], 0, TCP_FLAG_SYN, NULL, 0);
    talk_give(talk);
    talk_segment(talk, 0, 0, talk->start[0]);
    for (unsigned i = 0; i < COUNT; i++) {
        if (_i == 1 && i == 0) {
            talk_build(talk, 1, talk->isn[1], talk->isn[0] + 1, TCP_FLAG_SYN | TCP_FLAG_ACK, NULL, 0);
            talk_give(talk);
        }
        talk_segment(talk, 0, talk->boundary[0][i], talk->boundary[0][i + 1]);
        EXPECT(talk->good[0] == (i < reported_from ? 0 : i + 1), "after %u: %s", i + 1, talk->log[0]);
    }
    talk_finish(talk);
    EXPECT(talk->good[0] == COUNT && talk->wrong == 0, "%s", talk->log[0]);
    talk_free(talk);
}
END_TEST

/* No SYN, but the start-up frames are there. */
START_TEST(start_is_decoded_without_its_syn)
{
    struct talk *talk = conversation(NULL, 3, true);

    talk_all(talk, 1460);
    talk_finish(talk);
    EXPECT(talk->good[0] == COUNT && talk->good[1] == 3 && talk->undecoded == 0, "%s| %s", talk->log[0], talk->log[1]);
    ck_assert(talk->roles_known && !talk->late);
    talk_free(talk);
}
END_TEST

/* A length field is wrong: boundaries are lost and found again. */
START_TEST(boundaries_are_found_after_a_wrong_length)
{
    struct talk *talk = conversation(NULL, 0, true);
    struct talk *more;

    for (unsigned i = 0; i < 40; i++)
        talk_send(talk, 0, 1000 + i);
    talk->stream[0][talk->boundary[0][6] + 1] ^= 8;
    begin(talk);
    for (size_t i = 0; i < talk->fpdus[0]; i++)
        talk_segment(talk, 0, talk->boundary[0][i], talk->boundary[0][i + 1]);
    talk_finish(talk);
    ck_assert_uint_eq(talk->wrong, 0);
    EXPECT(talk->good[0] >= talk->fpdus[0] - 8, "%s", talk->log[0]);
    ck_assert_ptr_nonnull(strstr(talk->log[0], "s0:3.53"));
    more = talk;
    talk_free(more);
}
END_TEST

/* Segments of a whole conversation, each changed at random: nothing breaks, nothing is read that is not there. */
START_TEST(randomly_changed_segments_break_nothing)
{
    uint64_t state = (uint64_t)_i * 77 + 5;
    struct talk *talk = conversation(NULL, (unsigned)_i & 3, (_i & 4) != 0);

    for (unsigned round = 0; round < 60; round++) {
        unsigned rate = round % 10;
        size_t size = 1 + noise(&state) % 3000;

        talk->isn[0] = (uint32_t)noise(&state);
        talk->snap = noise(&state) % 4 == 0 ? 40 + noise(&state) % 200 : 0;
        for (unsigned side = 0; side < 2; side++) {
            talk_build(talk, side, talk->isn[side], talk->isn[1 - side], side == 0 ? 2 : 18, NULL, 0);
            talk_give(talk);
        }
        for (unsigned part = 0; part < 4; part++) {
            unsigned side = part % 2;
            size_t end = part < 2 ? talk->start[side] : talk->octets[side];

            for (size_t at = part < 2 ? 0 : talk->start[side]; at < end; at += size) {
                size_t to = at + size < end ? at + size : end;

                talk_build(talk, side, talk->isn[side] + 1 + (uint32_t)at, talk->isn[1 - side] + (uint32_t)at,
                           TCP_FLAG_ACK, talk->stream[side] + at, to - at);
                for (unsigned i = 0; i < rate; i++)
                    if (noise(&state) % 3 == 0)
                        talk->frame_octets[noise(&state) % (i % 2 == 0 ? 74 : talk->frame_length)] =
                            (uint8_t)noise(&state);
                if (noise(&state) % 20 != 0)
                    talk_give(talk);
            }
        }
        talk->log[0][0] = talk->log[1][0] = '\0';
    }
    talk_finish(talk);
    ck_assert_uint_gt(flow_decoder_totals(talk->decoder)->fpdus, 0);
    talk_free(talk);
}
END_TEST

Suite *flow_lock_suite(void)
{
    Suite *suite = suite_create("flow_lock");
    TCase *tests = tcase_create("lock");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, all_but_the_lost_fpdu_are_decoded, 0, 8);
    tcase_add_loop_test(tests, decoding_resumes_after_a_lost_segment, 0, 8);
    tcase_add_test(tests, hole_inside_an_fpdu);
    tcase_add_test(tests, acknowledged_hole_is_given_up_at_once);
    tcase_add_test(tests, hole_is_given_up_when_the_queue_is_full);
    tcase_add_loop_test(tests, headers_of_cut_frames_are_reported, 0, 8);
    tcase_add_loop_test(tests, snap_length_many_in_a_segment, 0, 2);
    tcase_add_loop_test(tests, capture_that_begins_late_is_decoded, 0, 8);
    tcase_add_loop_test(tests, late_in_an_fpdu, 0, 2);
    tcase_add_test(tests, late_not_wanted);
    tcase_add_loop_test(tests, framing_is_found_from_the_initiator_alone, 0, 8);
    tcase_add_loop_test(tests, one_way_at_once, 0, 2);
    tcase_add_test(tests, start_is_decoded_without_its_syn);
    tcase_add_test(tests, boundaries_are_found_after_a_wrong_length);
    tcase_add_loop_test(tests, randomly_changed_segments_break_nothing, 0, 40);
    suite_add_tcase(suite, tests);
    return suite;
}
