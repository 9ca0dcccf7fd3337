/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Segments that the receiver's TCP drops, challenges or takes otherwise than a careless reader of the wire: whoever
 * sends them must not make the decoder believe something else than the receiver does. In each test such segments come
 * in the middle of a conversation (flow_attack.h): all FPDUs have to come out, and what was dropped is counted.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "generator/packet/packet.h"
#include "tests/unit/flow_attack.h"
#include "tests/unit/guard.h"
#include "tests/unit/suites.h"

Suite *flow_attack_suite(void);

/* ---- SYN --------------------------------------------------------------------------------------------------------- */

/* RFC 5961 4: a SYN on an open connection is challenged, whatever its number is, and whoever sends it. */
START_TEST(syn_in_the_middle)
{
    static const uint32_t numbers[] = {ATTACK_FAR, 1, 0x40000000, 0x80000000, 0xFFFFFFFF, 0xC0000000};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        for (unsigned kind = 0; kind < 4; kind++) {
            uint8_t flags = kind & 1 ? TCP_FLAG_SYN | TCP_FLAG_ACK : TCP_FLAG_SYN;
            struct talk *talk;
            size_t at = attack_middle(&talk, _i);

            attack_inject(talk, kind / 2, (kind / 2 == 0 ? at : talk->octets[1]) + numbers[i], flags, 0);
            attack_inject(talk, 1, talk->octets[1], TCP_FLAG_ACK, 0); /* the challenge ACK */
            attack_expect_rest(talk, "a SYN in the middle");
            ck_assert_uint_eq(talk->syns_refused, 1);
            talk_free(talk);
        }
}
END_TEST

/* Octets in the numbers of such a SYN are no stream while nobody has answered it. */
START_TEST(syn_and_octets)
{
    struct talk *talk;
    size_t at = attack_middle(&talk, _i);

    attack_inject(talk, 0, at + 0x40000000, TCP_FLAG_SYN, 100);
    for (unsigned i = 0; i < 6; i++)
        attack_inject(talk, 0, at + 0x40000000 + 101 + i * ATTACK_GARBAGE, TCP_FLAG_ACK, ATTACK_GARBAGE);
    attack_expect_rest(talk, "octets behind a SYN in the middle");
    ck_assert_uint_eq(talk->sent[0].refused[FLOW_REFUSED_SYN], 100 + 6 * ATTACK_GARBAGE);
    ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_UNANSWERED), 100 + 6 * ATTACK_GARBAGE);
    talk_free(talk);
}
END_TEST

/* The peer answers it: then the 4-tuple lives again, with other octets. */
START_TEST(syn_that_is_answered)
{
    struct talk *talk;

    (void)attack_middle(&talk, _i);
    talk->isn[0] += 0x40000000;
    talk->isn[1] += 0x20000000;
    talk_syn(talk);
    attack_begin(talk);
    attack_fpdus(talk, ATTACK_MIDDLE, ATTACK_FPDUS);
    talk_finish(talk);
    ck_assert_uint_eq(talk->flows, 2);
    ck_assert_uint_eq(talk->good[0], ATTACK_MIDDLE + ATTACK_FPDUS);
    talk_free(talk);
}
END_TEST

/* A SYN, ACK that acknowledges nothing of this connection, then the true one. */
START_TEST(syn_ack_of_another)
{
    struct talk *talk = attack_talk(_i);

    talk_build(talk, 0, talk->isn[0], 0, TCP_FLAG_SYN, NULL, 0);
    talk_give(talk);
    talk_build(talk, 1, talk->isn[1] + 0x30000000, talk->isn[0] + 0x12345678, TCP_FLAG_SYN | TCP_FLAG_ACK, NULL, 0);
    talk_give(talk);
    talk_build(talk, 1, talk->isn[1], talk->isn[0] + 1, TCP_FLAG_SYN | TCP_FLAG_ACK, NULL, 0);
    talk_give(talk);
    attack_begin(talk);
    attack_expect_rest(talk, "a SYN, ACK of another connection");
    ck_assert(talk->roles_known && !talk->late);
    talk_free(talk);
}
END_TEST

/* A SYN once more, and one that the capture has after the first octets, is neither. */
START_TEST(syn_again_and_late)
{
    struct talk *talk;

    (void)attack_middle(&talk, _i);
    talk_build(talk, 0, talk->isn[0], 0, TCP_FLAG_SYN, NULL, 0);
    talk_give(talk);
    attack_expect_rest(talk, "the SYN once more");
    ck_assert_uint_eq(talk->syns_refused, 0);
    talk_free(talk);
    talk = attack_talk(_i);
    attack_begin(talk);
    talk_syn(talk);
    attack_expect_rest(talk, "the SYNs late");
    ck_assert_uint_eq(talk->syns_refused, 0);
    talk_free(talk);
}
END_TEST

/* ---- beyond the window ------------------------------------------------------------------------------------------- */

/* Six segments, and many, beyond the receiver's window. It goes on acknowledging the stream. */
START_TEST(segments_beyond_the_window_are_ignored)
{
    static const unsigned counts[] = {1, 6, 600};

    for (unsigned known = 0; known < 3; known++) /* no window scale; one; not known */
        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
            struct talk *talk = attack_talk(_i);
            size_t at = talk->boundary[0][ATTACK_MIDDLE], far = known == 0   ? ATTACK_FAR
                                                                : known == 1 ? ATTACK_FAR << 4
                                                                             : 0x50000000;

            talk->scale = known == 1 ? 4 : 0;
            if (known != 2)
                talk_syn(talk);
            attack_begin(talk);
            for (unsigned k = 0; k < counts[i]; k++) {
                attack_inject(talk, 0, at + far + k * ATTACK_GARBAGE, TCP_FLAG_ACK, ATTACK_GARBAGE);
                if (k % 4 == 3)
                    attack_inject(talk, 1, talk->octets[1], TCP_FLAG_ACK, 0);
            }
            attack_expect_rest(talk, "segments far ahead");
            ck_assert_uint_eq(talk->sent[0].refused[FLOW_REFUSED_WINDOW] + talk->sent[0].refused[FLOW_REFUSED_ROOM],
                              counts[i] * ATTACK_GARBAGE);
            talk_free(talk);
        }
}
END_TEST

/* The scale of the windows is not known, so this may be within the window: it does not get in the stream's way. */
START_TEST(far_ahead_in_a_window_without_scale)
{
    struct talk *talk = attack_talk(_i);
    size_t at = talk->boundary[0][ATTACK_MIDDLE];

    attack_begin(talk);
    for (unsigned k = 0; k < 6; k++)
        attack_inject(talk, 0, at + ATTACK_FAR + k * ATTACK_GARBAGE, TCP_FLAG_ACK, ATTACK_GARBAGE);
    attack_fpdus(talk, ATTACK_MIDDLE, ATTACK_FPDUS);
    talk_finish(talk);
    ck_assert_uint_eq(talk->good[0], ATTACK_FPDUS);
    ck_assert_uint_eq(talk->wrong, 0);
    ck_assert_uint_eq(talk->gaps, 1); /* at the end of the capture */
    ck_assert(!talk_whole(talk));
    talk_free(talk);
}
END_TEST

/* Within the window they wait for what is before them; when the stream has come there, the first copy is in doubt. */
START_TEST(ahead_within_the_window)
{
    struct talk *talk;
    size_t at = attack_middle(&talk, _i);

    attack_inject(talk, 0, at + 300, TCP_FLAG_ACK, 200);
    attack_fpdus(talk, ATTACK_MIDDLE, ATTACK_FPDUS);
    talk_finish(talk);
    ck_assert_uint_eq(talk->sent[0].ambiguous, 200);
    ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_CONFLICT), 200);
    ck_assert(!talk_whole(talk));
    ck_assert_ptr_nonnull(strstr(talk->log[0], "u0:13"));
    talk_free(talk);
}
END_TEST

/* Nothing of the receiver is captured: what is far ahead may be the stream, until that goes on where it was. */
START_TEST(far_ahead_of_a_silent_receiver)
{
    struct talk *talk = attack_talk(_i);
    size_t at = talk->boundary[0][ATTACK_MIDDLE];

    for (unsigned i = ATTACK_FPDUS; i < 40; i++)
        talk_send(talk, 0, ATTACK_SIZE);
    talk_build(talk, 0, talk->isn[0], 0, TCP_FLAG_SYN, NULL, 0);
    talk_give(talk);
    for (size_t from = 0; from < at; from += 100)
        talk_segment_with(talk, 0, from, at - from < 100 ? at : from + 100, TCP_FLAG_ACK, talk->octets[1]);
    for (unsigned k = 0; k < 600; k++)
        attack_inject(talk, 0, at + ATTACK_FAR + k * 10, TCP_FLAG_ACK, 10);
    for (size_t i = ATTACK_MIDDLE; i < 40; i++)
        talk_segment_with(talk, 0, talk->boundary[0][i], talk->boundary[0][i + 1], TCP_FLAG_ACK, talk->octets[1]);
    talk_finish(talk);
    ck_assert_uint_ge(talk->good[0], 40 - 4); /* as many segments show that the stream goes on there */
    ck_assert_uint_eq(talk->wrong, 0);
    ck_assert(!talk_whole(talk));
    talk_free(talk);
}
END_TEST

/* A receiver without room is asked with one octet, which it does not take. */
START_TEST(probe_of_a_zero_window_is_no_stream_octet)
{
    struct talk *talk;
    size_t at = attack_middle(&talk, _i);

    for (unsigned i = 0; i < 3; i++) {
        talk->window = 1; /* the builder takes 0 for the usual one: 1 is almost none */
        attack_inject(talk, 1, talk->octets[1], TCP_FLAG_ACK, 0);
        talk->window = 0;
        talk_segment_with(talk, 0, at, at + 1, TCP_FLAG_ACK, talk->octets[1]);
    }
    attack_expect_rest(talk, "zero-window probes");
    ck_assert_uint_eq(talk->conflicts, 0);
    talk_free(talk);
}
END_TEST

/* An octet that was acknowledged, or none, to hear whether the other side is there. The octet may be any. */
START_TEST(keepalive_octet_changes_nothing)
{
    struct talk *talk;
    size_t at = attack_middle(&talk, _i);

    for (size_t octets = 0; octets < 2; octets++) {
        attack_inject(talk, 0, at - 1, TCP_FLAG_ACK, octets);
        attack_inject(talk, 1, talk->octets[1], TCP_FLAG_ACK, 0);
    }
    attack_expect_rest(talk, "keepalives");
    ck_assert_uint_eq(talk->sent[0].ambiguous, 0);
    ck_assert_uint_eq(talk->undecoded, 0);
    talk_free(talk);
}
END_TEST

/* ---- acknowledgments --------------------------------------------------------------------------------------------- */

/* An acknowledgment of what nobody has sent: RFC 9293 3.10.7.4 has the receiver answer it, and drop the segment. */
START_TEST(acknowledges_too_much)
{
    static const size_t numbers[] = {1, 5000, ATTACK_FAR, 0x3FFFFFFF, 0x40000001, 0x80000000};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        for (unsigned side = 0; side < 2; side++) {
            struct talk *talk;
            size_t at = attack_middle(&talk, _i), end = side == 0 ? at : talk->octets[1];

            for (unsigned k = 0; k < 6; k++)
                talk_segment_with(talk, side, end, end, TCP_FLAG_ACK, (side == 0 ? talk->octets[1] : at) + numbers[i]);
            attack_expect_rest(talk, "an acknowledgment ahead of the data");
            talk_free(talk);
        }
}
END_TEST

/* FPDUs whose segments acknowledge too much wait for what they acknowledge, and are decoded all the same. */
START_TEST(data_that_acknowledges_too_much)
{
    struct talk *talk;

    (void)attack_middle(&talk, _i);
    for (size_t i = ATTACK_MIDDLE; i < ATTACK_FPDUS; i++)
        talk_segment_with(talk, 0, talk->boundary[0][i], talk->boundary[0][i + 1], TCP_FLAG_ACK,
                          talk->octets[1] + 5000);
    attack_expect_all(talk, "FPDUs with an acknowledgment ahead of the data");
    ck_assert_uint_eq(talk_items(talk, FLOW_ROW_UNORDERED), 1);
    ck_assert(!talk_whole(talk));
    talk_free(talk);
}
END_TEST

/* RFC 9293 3.10.7.4: "if the ACK bit is off, drop the segment". */
START_TEST(segment_without_ack_is_dropped)
{
    struct talk *talk;
    size_t at = attack_middle(&talk, _i);

    attack_inject(talk, 0, at, TCP_FLAG_PSH, ATTACK_GARBAGE);
    attack_inject(talk, 0, at, 0, 100);
    attack_expect_rest(talk, "segments without ACK");
    ck_assert_uint_eq(talk->sent[0].refused[FLOW_REFUSED_NO_ACK], ATTACK_GARBAGE + 100);
    ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_NOT_ACCEPTED), ATTACK_GARBAGE + 100);
    talk_free(talk);
}
END_TEST

/* ---- RST and FIN ------------------------------------------------------------------------------------------------- */

/* RFC 5961 3: an RST elsewhere than at the next octet ends nothing; its text is no data. */
START_TEST(reset_that_is_refused)
{
    static const size_t numbers[] = {ATTACK_FAR, 0x40000000, (size_t)-100, (size_t)-0x10000000, 0x80000000};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        for (unsigned side = 0; side < 2; side++) {
            struct talk *talk;
            size_t at = attack_middle(&talk, _i);

            attack_inject(talk, side, (side == 0 ? at : talk->octets[1]) + numbers[i], TCP_FLAG_RST, 20);
            attack_expect_rest(talk, "an RST outside the window");
            ck_assert_uint_eq(talk->resets_refused, 1);
            ck_assert_uint_eq(talk->sent[side].refused[FLOW_REFUSED_RESET], 20);
            ck_assert_ptr_null(strstr(talk->log[side], ":rst"));
            talk_free(talk);
        }
}
END_TEST

START_TEST(reset_that_is_taken)
{
    struct talk *talk;
    size_t at = attack_middle(&talk, _i);

    attack_inject(talk, 0, at, TCP_FLAG_RST, 20);
    attack_fpdus(talk, ATTACK_MIDDLE, ATTACK_FPDUS); /* a device that goes on is judged all the same */
    attack_expect_all(talk, "an RST");
    ck_assert_uint_eq(talk->resets_refused, 0);
    ck_assert_ptr_nonnull(strstr(talk->log[0], "c0:rst"));
    talk_free(talk);
}
END_TEST

/* A FIN that lies elsewhere than the stream's end ends nothing. */
START_TEST(fin_off_the_end_of_the_stream_ends_nothing)
{
    static const size_t numbers[] = {ATTACK_FAR, (size_t)-300, 0x40000000};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct talk *talk;
        size_t at = attack_middle(&talk, _i);

        attack_inject(talk, 0, at + numbers[i], TCP_FLAG_FIN | TCP_FLAG_ACK, 0);
        attack_expect_rest(talk, "a FIN elsewhere");
        ck_assert_ptr_null(strstr(talk->log[0], "c0"));
        talk_free(talk);
    }
}
END_TEST

/* Behind its FIN a sender has nothing to say (RFC 9293 3.10.7.4) ... */
START_TEST(octets_behind_the_fin)
{
    struct talk *talk;
    size_t end;

    (void)attack_middle(&talk, _i);
    attack_fpdus(talk, ATTACK_MIDDLE, ATTACK_FPDUS);
    end = talk->octets[0];
    attack_inject(talk, 0, end, TCP_FLAG_FIN | TCP_FLAG_ACK, 0);
    talk_segment_with(talk, 1, talk->octets[1], talk->octets[1], TCP_FLAG_ACK, end + 1);
    attack_inject(talk, 0, end + 1, TCP_FLAG_ACK, 300);
    attack_inject(talk, 0, end, TCP_FLAG_ACK, 300);
    attack_expect_all(talk, "octets behind the FIN");
    ck_assert_uint_ge(talk->sent[0].refused[FLOW_REFUSED_END], 299 + 300);
    ck_assert_ptr_nonnull(strstr(talk->log[0], "c0"));
    talk_free(talk);
}
END_TEST

/* ... but a FIN that its receiver does not take, as one whose stream goes on and is acknowledged, was none. */
START_TEST(fin_that_is_not_taken)
{
    struct talk *talk;
    size_t at = attack_middle(&talk, _i);

    attack_inject(talk, 0, at, TCP_FLAG_FIN | TCP_FLAG_ACK, 0);
    for (size_t i = ATTACK_MIDDLE; i < ATTACK_FPDUS;
         i++) { /* the first one was lost on its way to the tap, and comes again */
        talk_segment_with(talk, 1, talk->octets[1], talk->octets[1], TCP_FLAG_ACK, talk->boundary[0][i + 1]);
        talk_segment_with(talk, 0, talk->boundary[0][i], talk->boundary[0][i + 1], TCP_FLAG_ACK, talk->octets[1]);
    }
    attack_expect_all(talk, "a FIN that was not taken");
    talk_free(talk);
}
END_TEST

/* ---- checksums --------------------------------------------------------------------------------------------------- */

/* Who computes checksums sends a wrong one to have the segment dropped. */
START_TEST(segment_with_a_wrong_checksum_is_dropped)
{
    struct talk *talk;
    size_t at = attack_middle(&talk, _i);

    talk->spoil = true;
    attack_inject(talk, 0, at + 228, TCP_FLAG_ACK, 228); /* where other octets will be */
    attack_inject(talk, 0, at, TCP_FLAG_RST, 0);
    attack_inject(talk, 0, at, TCP_FLAG_FIN | TCP_FLAG_ACK, 0);
    attack_inject(talk, 0, at + 5000, TCP_FLAG_SYN, 0);
    talk->spoil = false;
    attack_expect_rest(talk, "wrong checksums");
    ck_assert_uint_eq(talk->sent[0].refused[FLOW_REFUSED_CHECKSUM], 228);
    ck_assert_uint_eq(talk->sent[0].ambiguous, 0);
    ck_assert_ptr_null(strstr(talk->log[0], "c0"));
    talk_free(talk);
}
END_TEST

/* In order it is not looked at; that other octets come in their place shows it. */
START_TEST(wrong_checksum_in_order)
{
    struct talk *talk;
    size_t at = attack_middle(&talk, _i);

    talk->spoil = true;
    talk_segment_with(talk, 0, at, talk->boundary[0][ATTACK_MIDDLE + 1], TCP_FLAG_ACK, talk->octets[1]);
    talk->spoil = false;
    talk->stream[0][at + 30] ^= 1;
    talk_segment_with(talk, 0, at, talk->boundary[0][ATTACK_MIDDLE + 1], TCP_FLAG_ACK, talk->octets[1]);
    talk_finish(talk);
    ck_assert_uint_eq(talk->conflicts, 1);
    ck_assert_uint_ne(talk->sent[0].ambiguous, 0);
    ck_assert(!talk_whole(talk));
    talk_free(talk);
}
END_TEST

/* Captured on its way to a network card that fills checksums in: they are all wrong, and mean nothing. */
START_TEST(offloaded_checksums_mean_nothing)
{
    struct talk *talk = attack_talk(_i);
    size_t at = talk->boundary[0][ATTACK_MIDDLE];

    talk->spoil = true;
    talk_syn(talk);
    attack_begin(talk);
    attack_fpdus(talk, ATTACK_MIDDLE + 1, ATTACK_FPDUS); /* out of order */
    talk_segment_with(talk, 0, at, talk->boundary[0][ATTACK_MIDDLE + 1], TCP_FLAG_ACK, talk->octets[1]);
    attack_expect_all(talk, "checksums by the card");
    ck_assert_uint_eq(talk->sent[0].refused[FLOW_REFUSED_CHECKSUM], 0);
    talk_free(talk);
}
END_TEST

Suite *flow_attack_suite(void)
{
    Suite *suite = suite_create("flow_attack");
    TCase *tests = tcase_create("receiver");

    tcase_add_loop_test(tests, syn_in_the_middle, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, syn_and_octets, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, syn_that_is_answered, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, syn_ack_of_another, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, syn_again_and_late, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, segments_beyond_the_window_are_ignored, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, far_ahead_in_a_window_without_scale, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, ahead_within_the_window, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, far_ahead_of_a_silent_receiver, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, probe_of_a_zero_window_is_no_stream_octet, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, keepalive_octet_changes_nothing, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, acknowledges_too_much, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, data_that_acknowledges_too_much, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, segment_without_ack_is_dropped, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, reset_that_is_refused, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, reset_that_is_taken, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, fin_off_the_end_of_the_stream_ends_nothing, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, octets_behind_the_fin, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, fin_that_is_not_taken, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, segment_with_a_wrong_checksum_is_dropped, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, wrong_checksum_in_order, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, offloaded_checksums_mean_nothing, 0, ATTACK_LOOPS);
    suite_add_tcase(suite, tests);
    return suite;
}
