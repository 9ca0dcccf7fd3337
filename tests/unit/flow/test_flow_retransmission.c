/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Octets that come again, the same or others, and directions that the capture has in another order than they were sent:
 * what the receiver took of them, and what nobody knows.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "generator/packet/packet.h"
#include "tests/unit/flow_attack.h"
#include "tests/unit/guard.h"
#include "tests/unit/suites.h"
#include "wire/marker.h"

Suite *flow_retransmission_suite(void);

/* ---- octets that come again -------------------------------------------------------------------------------------- */

START_TEST(old_duplicates_are_counted_once)
{
    struct talk *talk;
    size_t at = attack_middle(&talk, _i);

    talk_segment_with(talk, 0, talk->start[0], at, TCP_FLAG_ACK, talk->octets[1]);
    talk_segment_with(talk, 0, 0, at, TCP_FLAG_ACK, talk->octets[1]);
    talk_segment_with(talk, 0, 100, at - 7, TCP_FLAG_ACK, talk->octets[1]);
    attack_expect_rest(talk, "duplicates");
    ck_assert_uint_eq(talk->conflicts, 0);
    ck_assert_uint_eq(talk->sent[0].again, (at - talk->start[0]) + at + (at - 107));
    talk_free(talk);
}
END_TEST

/* Other octets in their place, when the receiver has said that it had the first ones: they count for nothing. */
START_TEST(others_behind_the_acknowledgment)
{
    struct talk *talk;
    size_t at = attack_middle(&talk, _i);

    attack_inject(talk, 0, talk->boundary[0][ATTACK_MIDDLE - 2], TCP_FLAG_ACK,
                  at - talk->boundary[0][ATTACK_MIDDLE - 2]);
    attack_expect_rest(talk, "others behind the acknowledgment");
    ck_assert_uint_eq(talk->conflicts, 1);
    ck_assert_uint_eq(talk->sent[0].ambiguous, 0);
    ck_assert_uint_eq(talk->undecoded, 0);
    talk_free(talk);
}
END_TEST

/* Before that nobody knows which of them it took: of a whole FPDU, a part of one, and what waits after a hole. */
START_TEST(others_before_the_acknowledgment)
{
    static const size_t parts[][2] = {{0, 0}, {0, 40}, {30, 40}, {5, 0}};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        for (unsigned hole = 0; hole < 2; hole++) {
            struct talk *talk;
            size_t at = attack_middle(&talk, _i), end = talk->boundary[0][ATTACK_MIDDLE + 1];
            size_t to = parts[i][1] != 0 ? at + parts[i][1] : end;

            if (hole != 0) {
                talk_segment_with(talk, 0, at + 1, end, TCP_FLAG_ACK, talk->octets[1]);
                talk->stream[0][at + 35] ^= 1;
                talk_segment_with(talk, 0, at + 1 + parts[i][0], to, TCP_FLAG_ACK, talk->octets[1]);
                talk->stream[0][at + 35] ^= 1;
                talk_segment_with(talk, 0, at, at + 1, TCP_FLAG_ACK, talk->octets[1]);
            } else {
                talk_segment_with(talk, 0, at, end, TCP_FLAG_ACK, talk->octets[1]);
                talk->stream[0][at + 35] ^= 1;
                talk_segment_with(talk, 0, at + parts[i][0], to, TCP_FLAG_ACK, talk->octets[1]);
                talk->stream[0][at + 35] ^= 1;
            }
            attack_fpdus(talk, ATTACK_MIDDLE + 1, ATTACK_FPDUS);
            talk_finish(talk);
            EXPECT(talk->good[0] == ATTACK_FPDUS && talk->wrong == 0, "part %zu: %s", i, talk->log[0]);
            EXPECT(talk->conflicts == 1 && talk->sent[0].ambiguous != 0, "part %zu, hole %u: %llu conflicts", i, hole,
                   (unsigned long long)talk->conflicts);
            EXPECT(!talk_whole(talk) && strstr(talk->log[0], "u0:13") != NULL, "part %zu: %s", i, talk->log[0]);
            talk_free(talk);
        }
}
END_TEST

/* So are the octets of an FPDU between Markers: its headers and its CRC field are what a part of it is compared by. */
START_TEST(others_between_markers)
{
    static const size_t places[] = {3, 16, 20, 0}; /* ULPDU_Length, the DDP header, RDMAP's part of it; the CRC */

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        for (size_t which = ATTACK_MIDDLE; which < 20; which++) {
            struct talk *talk = talk_new(NULL);
            size_t from, end, at;

            talk_start_simple(talk, true, true, true);
            for (unsigned k = 0; k < 20; k++)
                talk_send(talk, 0, ATTACK_SIZE);
            talk_syn(talk);
            attack_begin(talk);
            attack_fpdus(talk, ATTACK_MIDDLE, which);
            from = talk->boundary[0][which];
            end = talk->boundary[0][which + 1];
            at = places[i] != 0 ? from + places[i] : end - 1;
            if ((at - talk->start[0]) % MARKER_SPACING < MARKER_OCTETS)
                at += MARKER_OCTETS;
            talk_segment_with(talk, 0, from, end, TCP_FLAG_ACK, talk->octets[1]);
            talk_segment_with(talk, 0, from + (places[i] == 0), end - (places[i] != 0), TCP_FLAG_ACK, talk->octets[1]);
            EXPECT(talk_octets(talk, FLOW_ROW_CONFLICT) == 0, "FPDU %zu: the same octets differ", which);
            talk->stream[0][at] ^= 1;
            talk_segment_with(talk, 0, from + (places[i] == 0), end - (places[i] != 0), TCP_FLAG_ACK, talk->octets[1]);
            talk->stream[0][at] ^= 1;
            EXPECT(talk_octets(talk, FLOW_ROW_CONFLICT) != 0, "FPDU %zu, octet %zu: nobody noticed", which, at - from);
            talk_free(talk);
        }
}
END_TEST

/* A start-up frame with Private Data, of which everything is kept, and one that was only begun. */
START_TEST(others_in_a_start_up_frame)
{
    static const size_t places[] = {1, 17, 30, 60, 119};

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        for (unsigned begun = 0; begun < 2; begun++) {
            struct talk *talk = talk_new(NULL);
            struct iwarp_mpa_start start = {.crc = true, .revision = MPA_REV_1};
            uint8_t octets[100] = {1, 2, 3};

            start.private_data = octets;
            start.private_octets = sizeof(octets);
            talk_start(talk, start, start);
            talk_send(talk, 0, ATTACK_SIZE);
            talk_syn(talk);
            talk_segment_with(talk, 0, 0, talk->start[0] - begun, TCP_FLAG_ACK, 0);
            talk_segment_with(talk, 0, 0, talk->start[0] - begun, TCP_FLAG_ACK, 0);
            talk->stream[0][places[i] - begun] ^= 1;
            talk_segment_with(talk, 0, 0, talk->start[0] - begun, TCP_FLAG_ACK, 0);
            talk->stream[0][places[i] - begun] ^= 1;
            if (begun != 0)
                talk_segment_with(talk, 0, talk->start[0] - begun, talk->start[0], TCP_FLAG_ACK, 0);
            talk_segment_with(talk, 1, 0, talk->start[1], TCP_FLAG_ACK, talk->start[0]);
            talk_segment_with(talk, 0, talk->start[0], talk->octets[0], TCP_FLAG_ACK, talk->octets[1]);
            talk_finish(talk);
            EXPECT(talk_octets(talk, FLOW_ROW_AGAIN) == talk->start[0] - begun, "place %zu", i);
            EXPECT(talk_octets(talk, FLOW_ROW_CONFLICT) == talk->start[0] - begun, "place %zu, begun %u", i, begun);
            talk_free(talk);
        }
}
END_TEST

/* More units came before the first acknowledgment than are kept: nobody can say whether an old one was the same. */
START_TEST(others_that_cannot_be_compared)
{
    for (unsigned acked = 0; acked < 2; acked++) {
        struct talk *talk = talk_new(NULL);
        size_t middle;

        talk_start_simple(talk, false, false, true);
        for (unsigned i = 0; i < FLOW_SENT_MAX + 20; i++)
            talk_send(talk, 0, ATTACK_SIZE);
        talk_syn(talk);
        attack_begin(talk);
        middle = talk->boundary[0][ATTACK_MIDDLE];
        for (size_t i = ATTACK_MIDDLE; i < FLOW_SENT_MAX + 20; i++)
            talk_segment_with(talk, 0, talk->boundary[0][i], talk->boundary[0][i + 1], TCP_FLAG_ACK, talk->octets[1]);
        if (acked != 0)
            talk_segment_with(talk, 1, talk->octets[1], talk->octets[1], TCP_FLAG_ACK, talk->octets[0]);
        talk_segment_with(talk, 0, middle, middle + 300, TCP_FLAG_ACK, talk->octets[1]);
        talk_segment_with(talk, 0, talk->octets[0] - 300, talk->octets[0], TCP_FLAG_ACK, talk->octets[1]);
        talk_segment_with(talk, 1, talk->octets[1], talk->octets[1], TCP_FLAG_ACK, talk->octets[0]);
        talk_finish(talk);
        ck_assert_uint_eq(talk->good[0], FLOW_SENT_MAX + 20);
        ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_UNCOMPARED), acked != 0 ? 0 : 300);
        ck_assert_uint_eq(talk->sent[0].uncompared, acked != 0 ? 0 : 300);
        ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_AGAIN), acked != 0 ? 600 : 300);
        ck_assert(talk_whole(talk) == (acked != 0));
        talk_free(talk);
    }
}
END_TEST

/* The receiver had no room for the first copy: it is the second one that counts. */
START_TEST(others_beyond_the_window)
{
    struct talk *talk = attack_talk(_i);
    size_t at = talk->boundary[0][ATTACK_MIDDLE];

    for (unsigned i = ATTACK_FPDUS; i < 108; i++)
        talk_send(talk, 0, 1000);
    talk->window = 100;
    talk_syn(talk);
    attack_begin(talk);
    attack_inject(talk, 0, talk->boundary[0][100], TCP_FLAG_ACK, ATTACK_GARBAGE);
    ck_assert_uint_gt(talk->boundary[0][100] - at, 66000);
    attack_fpdus(talk, ATTACK_MIDDLE, 108);
    talk_finish(talk);
    ck_assert_uint_eq(talk->good[0], 108);
    ck_assert_uint_eq(talk->wrong, 0);
    ck_assert_uint_eq(talk->sent[0].refused[FLOW_REFUSED_WINDOW], ATTACK_GARBAGE);
    talk_free(talk);
}
END_TEST

/* RFC 6093: some receivers take urgent octets out of the stream. */
START_TEST(urgent_octets_are_unjudged)
{
    struct talk *talk;
    size_t at = attack_middle(&talk, _i);

    talk_segment_with(talk, 0, at, talk->boundary[0][ATTACK_MIDDLE + 1], TCP_FLAG_ACK | TCP_FLAG_URG, talk->octets[1]);
    attack_fpdus(talk, ATTACK_MIDDLE + 1, ATTACK_FPDUS);
    attack_expect_all(talk, "urgent octets");
    ck_assert_uint_eq(talk->urgent, 1);
    ck_assert(!talk_whole(talk));
    talk_free(talk);
}
END_TEST

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* Both sides talk in turns; the capture has all of one side so much later. Each event is after what its sender had. */
START_TEST(two_captures_with_a_delay_keep_the_order)
{
    for (unsigned late = 0; late < 2; late++) {
        struct talk *talk = talk_new(NULL);

        talk_start_simple(talk, false, true, true);
        talk_mix(talk, 0, 12);
        talk_mix(talk, 1, 12);
        talk_syn(talk);
        for (unsigned turn = 0; turn < 2; turn++) {
            unsigned side = turn ^ late ^ 1;

            talk_segment_with(talk, side, 0, talk->start[side], TCP_FLAG_ACK, side == 0 ? 0 : talk->start[0]);
            for (size_t i = 0; i < 12; i++) {
                size_t other = talk->boundary[1 - side][side == 0 ? i : i + 1];

                talk_segment_with(talk, side, talk->boundary[side][i], talk->boundary[side][i + 1], TCP_FLAG_ACK,
                                  other);
            }
            talk->time_ns += 20 * 1000 * 1000;
        }
        talk_finish(talk);
        ck_assert_uint_eq(talk->good[0], 12);
        ck_assert_uint_eq(talk->good[1], 12);
        ck_assert_uint_eq(talk->before, 0);
        ck_assert_uint_eq(talk->undecoded, 0);
        talk_free(talk);
    }
}
END_TEST

Suite *flow_retransmission_suite(void)
{
    Suite *suite = suite_create("flow_retransmission");
    TCase *tests = tcase_create("again");

    tcase_add_loop_test(tests, old_duplicates_are_counted_once, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, others_behind_the_acknowledgment, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, others_before_the_acknowledgment, 0, ATTACK_LOOPS);
    tcase_add_test(tests, others_between_markers);
    tcase_add_test(tests, others_in_a_start_up_frame);
    tcase_add_test(tests, others_that_cannot_be_compared);
    tcase_add_loop_test(tests, others_beyond_the_window, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, urgent_octets_are_unjudged, 0, ATTACK_LOOPS);
    tcase_add_test(tests, two_captures_with_a_delay_keep_the_order);
    suite_add_tcase(suite, tests);
    return suite;
}
