/* SPDX-License-Identifier: BSD-2-Clause */
/* What is MPA for certain, whatever is wrong with it: FPDUs with right CRCs, and start-up frames that were answered. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/flow_talk.h"
#include "tests/unit/suites.h"
#include "wire/rdmap.h"

Suite *flow_proof_suite(void);

enum { FPDUS = 12 };

/* Headers that no text allows, in two octets. */
static const uint8_t broken[][2] = {{0x42, 0x43}, {0x41, 0x83}, {0x41, 0x4E}, {0x45, 0x43}, {0x7D, 0xFF}, {0x00, 0x00}};
enum { BROKEN = sizeof(broken) / sizeof(broken[0]) };

static void send_broken(struct talk *talk, unsigned side, const uint8_t header[2], size_t octets, unsigned count)
{
    uint8_t *ulpdu = malloc(octets);

    for (unsigned i = 0; i < count; i++) {
        for (size_t at = 0; at < octets; at++)
            ulpdu[at] = (uint8_t)(at * 7 + i * 31 + 1);
        memcpy(ulpdu, header, 2);
        talk_ulpdu(talk, side, ulpdu, octets);
    }
    free(ulpdu);
}

static struct talk *fresh(bool markers)
{
    struct talk *talk = talk_new(NULL);

    talk_start_simple(talk, false, markers, true);
    return talk;
}

/* The FPDUs of a side, each in segments of at most `size` octets. */
static void give_fpdus(struct talk *talk, unsigned side, size_t size)
{
    for (size_t i = 0; i < talk->fpdus[side]; i++)
        talk_run(talk, side, talk->boundary[side][i], talk->boundary[side][i + 1], size);
}

/* Loop: from mid-stream on, each kind of header; each FPDU in one segment, with and without Markers. */
START_TEST(late_and_broken)
{
    struct talk *talk = fresh(_i % 2 != 0);

    send_broken(talk, 0, broken[_i / 2], 100, FPDUS);
    give_fpdus(talk, 0, 1460);
    talk_finish(talk);
    ck_assert_uint_eq(talk->good[0], FPDUS);
    talk_free(talk);
}
END_TEST

/* Loop: the same in segments that hold a part of an FPDU each: its CRC says where the next one begins. */
START_TEST(late_and_broken_in_parts)
{
    struct talk *talk = fresh(false);

    send_broken(talk, 0, broken[_i], 3000, FPDUS);
    give_fpdus(talk, 0, 1460);
    talk_finish(talk);
    ck_assert_uint_ge(talk->good[0], FPDUS - 1);
    talk_free(talk);
}
END_TEST

/* With Markers inside nobody knows where the next ones stand: but foreign it is not. */
START_TEST(late_marked_in_parts)
{
    struct talk *talk = fresh(true);

    send_broken(talk, 0, broken[0], 3000, FPDUS);
    give_fpdus(talk, 0, 1460);
    talk_finish(talk);
    ck_assert(!talk_whole(talk));
    ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_TCP), 0);
    talk_free(talk);
}
END_TEST

/* Loop: both Keys are wrong, or there is no start-up frame at all. */
START_TEST(started_without_keys)
{
    struct talk *talk = fresh(false);

    for (unsigned side = 0; side < 2; side++)
        memcpy(talk->stream[side], "NO KEY AT ALL...", 16);
    for (unsigned i = 0; i < 8; i++)
        talk_send(talk, i % 2, 100);
    talk_syn(talk);
    if (_i == 0)
        for (unsigned side = 0; side < 2; side++)
            talk_segment(talk, side, 0, talk->start[side]);
    else
        for (unsigned side = 0; side < 2; side++) { /* the streams begin with their first FPDUs */
            memmove(talk->stream[side], talk->stream[side] + talk->start[side], talk->octets[side]);
            for (size_t i = 0; i <= talk->fpdus[side]; i++)
                talk->boundary[side][i] -= talk->start[side];
        }
    give_fpdus(talk, 0, 1460);
    give_fpdus(talk, 1, 1460);
    talk_finish(talk);
    ck_assert_uint_eq(talk->good[0], 4);
    ck_assert_uint_eq(talk->good[1], 4);
    talk_free(talk);
}
END_TEST

/* Loop: the Request's Key is wrong, and it is answered; the two directions in either order. */
START_TEST(answered_request_with_a_wrong_key_is_iwarp)
{
    struct talk *talk = fresh(false);

    memcpy(talk->stream[0], "MPI ID Req Frame", 16);
    for (unsigned i = 0; i < 8; i++)
        talk_send(talk, i % 2, 100);
    talk_syn(talk);
    if (_i == 0) {
        talk_segment(talk, 0, 0, talk->start[0]);
        talk_segment(talk, 1, 0, talk->start[1]);
    } else {
        talk_segment_with(talk, 1, 0, talk->start[1], 0x18, talk->start[0]);
        talk_segment_with(talk, 0, 0, talk->start[0], 0x18, 0);
    }
    give_fpdus(talk, 0, 1460);
    give_fpdus(talk, 1, 1460);
    talk_finish(talk);
    ck_assert_msg(strstr(talk->log[0], "m0:bad") != NULL, "%s", talk->log[0]);
    ck_assert_msg(strstr(talk->log[1], "m1:ok") != NULL, "%s", talk->log[1]);
    ck_assert_uint_eq(talk->good[0], 4);
    ck_assert_uint_eq(talk->good[1], 4);
    talk_free(talk);
}
END_TEST

/* The same octets that nobody answers are another protocol's. */
START_TEST(unanswered_is_foreign)
{
    struct talk *talk = fresh(false);

    memcpy(talk->stream[0], "MPI ID Req Frame", 16);
    memcpy(talk->stream[1], "another protocol's", 16);
    talk_syn(talk);
    talk_segment(talk, 0, 0, talk->start[0]);
    talk_segment(talk, 1, 0, talk->start[1]);
    talk_finish(talk);
    ck_assert_uint_eq(talk->flows, 0);
    ck_assert_uint_gt(talk_octets(talk, FLOW_ROW_TCP), 0);
    talk_free(talk);
}
END_TEST

/* Puts octets of the ULP in front of a side's stream. */
static void put_before(struct talk *talk, unsigned side, const char *text)
{
    size_t count = strlen(text);

    memmove(talk->stream[side] + count, talk->stream[side], talk->octets[side]);
    memcpy(talk->stream[side], text, count);
    talk->octets[side] += count;
    talk->start[side] += count;
    for (size_t i = 0; i <= talk->fpdus[side]; i++)
        talk->boundary[side][i] += count;
}

/*
 * Loop: octets of the ULP and a start-up frame in the same segment: of the Initiator, of the Responder, of both; cut at
 * each octet.
 */
START_TEST(start_frame_and_ulp_octets_share_a_segment)
{
    struct talk *talk = fresh(false);

    for (unsigned i = 0; i < 8; i++)
        talk_send(talk, i % 2, 100);
    if (_i % 4 != 1)
        put_before(talk, 0, "streaming mode");
    if (_i % 4 != 0)
        put_before(talk, 1, "MPA streaming MPA mode");
    talk_syn(talk);
    for (unsigned side = 0; side < 2; side++) {
        size_t cut = _i % 4 == 3 && side == 0 ? (size_t)_i / 4 : 0;

        if (cut != 0 && cut < talk->start[side])
            talk_segment(talk, side, 0, cut);
        talk_segment(talk, side, cut < talk->start[side] ? cut : 0, talk->start[side]);
    }
    give_fpdus(talk, 0, 1460);
    give_fpdus(talk, 1, 1460);
    talk_finish(talk);
    ck_assert_msg(strstr(talk->log[0], "m0:ok") != NULL && strstr(talk->log[1], "m1:ok") != NULL, "%d: %s| %s", _i,
                  talk->log[0], talk->log[1]);
    ck_assert_uint_eq(talk->good[0], 4);
    ck_assert_uint_eq(talk->good[1], 4);
    talk_free(talk);
}
END_TEST

/* A text about MPA, or a capture on its way: a Key with octets after its frame is none; but what it is nobody knows. */
START_TEST(quoted_key_proves_nothing)
{
    struct talk *talk = fresh(false);

    put_before(talk, 0, "a text");
    talk_syn(talk);
    memcpy(talk->stream[0] + talk->start[0], "and more of it", 14);
    talk_segment(talk, 0, 0, talk->start[0] + 14);
    talk_finish(talk);
    ck_assert_uint_eq(talk->flows, 0);
    ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_TCP), 0);
    ck_assert_uint_gt(talk_octets(talk, FLOW_ROW_UNRECOGNISED), 0);
    talk_free(talk);
}
END_TEST

/* Loop: after R = 1 the Responder takes it back by a second Reply, or one side goes on as if there had been none. */
START_TEST(after_a_rejection)
{
    struct talk *talk = talk_new(NULL);
    struct iwarp_mpa_start request = {.crc = true, .revision = 1},
                           reply = {.revision = 1, .rejected = true, .crc = true};
    size_t second;

    talk_start(talk, request, reply);
    second = talk->octets[1];
    if (_i == 0) {
        memcpy(talk->stream[1] + second, talk->stream[1], talk->start[1]);
        talk->stream[1][second + 16] &= 0xDF;
        talk->octets[1] += talk->start[1];
        talk->boundary[1][0] = talk->octets[1];
    }
    talk->framing[0].crc = talk->framing[1].crc = true;
    for (unsigned i = 0; i < 8; i++)
        talk_send(talk, i % 2, 100);
    talk_syn(talk);
    talk_segment(talk, 0, 0, talk->start[0]);
    talk_segment(talk, 1, 0, talk->start[1]);
    if (_i == 0)
        talk_segment(talk, 1, second, second + talk->start[1]);
    give_fpdus(talk, 0, 1460);
    give_fpdus(talk, 1, 1460);
    talk_finish(talk);
    ck_assert_uint_eq(talk->good[0], 4);
    ck_assert_uint_eq(talk->good[1], 4);
    talk_free(talk);
}
END_TEST

/* An exchange that was rejected, and another one: the ULP may try again (RFC 5044 7.1.2). */
START_TEST(exchange_may_begin_after_a_rejection)
{
    struct talk *talk = talk_new(NULL);
    struct iwarp_mpa_start request = {.crc = true, .revision = 1},
                           reply = {.revision = 1, .rejected = true, .crc = true};
    size_t start;

    talk_start(talk, request, reply);
    start = talk->start[0];
    for (unsigned side = 0; side < 2; side++) {
        memcpy(talk->stream[side] + start, talk->stream[side], start);
        talk->octets[side] = talk->boundary[side][0] = 2 * start;
        talk->framing[side].crc = true;
    }
    talk->stream[1][start + 16] &= 0xDF;
    for (unsigned i = 0; i < 8; i++)
        talk_send(talk, i % 2, 100);
    talk_syn(talk);
    for (size_t at = 0; at < 2 * start; at += start)
        for (unsigned side = 0; side < 2; side++)
            talk_segment_with(talk, side, at, at + start, 0x18, side == 0 ? at : at + start);
    give_fpdus(talk, 0, 1460);
    give_fpdus(talk, 1, 1460);
    talk_finish(talk);
    ck_assert_uint_eq(talk->good[0], 4);
    ck_assert_uint_eq(talk->good[1], 4);
    ck_assert_msg(talk->undecoded == 0, "%s| %s", talk->log[0], talk->log[1]);
    talk_free(talk);
}
END_TEST

/*
 * Loop: from mid-stream on, without CRC, each FPDU in two segments that are acknowledged one by one, cut after so many
 * octets.
 */
START_TEST(pushed_in_halves)
{
    struct talk *talk = talk_new(NULL);

    talk_start_simple(talk, false, false, false);
    for (unsigned i = 0; i < FPDUS; i++)
        talk_send(talk, 0, 100);
    for (size_t i = 0; i < talk->fpdus[0]; i++) {
        size_t from = talk->boundary[0][i], to = talk->boundary[0][i + 1], cut = from + 1 + (size_t)_i;

        talk_segment_with(talk, 0, from, cut, 0x18, talk->start[1]);
        talk_segment_with(talk, 1, talk->start[1], talk->start[1], 0x10, cut);
        talk_segment_with(talk, 0, cut, to, 0x18, talk->start[1]);
        talk_segment_with(talk, 1, talk->start[1], talk->start[1], 0x10, to);
    }
    talk_finish(talk);
    ck_assert_msg(talk_octets(talk, FLOW_ROW_TCP) == 0, "cut after %d", _i + 1);
    talk_free(talk);
}
END_TEST

Suite *flow_proof_suite(void)
{
    Suite *suite = suite_create("flow_proof");
    TCase *tests = tcase_create("proof");

    tcase_add_loop_test(tests, late_and_broken, 0, 2 * BROKEN);
    tcase_add_loop_test(tests, late_and_broken_in_parts, 0, BROKEN);
    tcase_add_test(tests, late_marked_in_parts);
    tcase_add_loop_test(tests, started_without_keys, 0, 2);
    tcase_add_loop_test(tests, answered_request_with_a_wrong_key_is_iwarp, 0, 2);
    tcase_add_test(tests, unanswered_is_foreign);
    tcase_add_loop_test(tests, start_frame_and_ulp_octets_share_a_segment, 0, 4 * 60);
    tcase_add_test(tests, quoted_key_proves_nothing);
    tcase_add_loop_test(tests, after_a_rejection, 0, 2);
    tcase_add_test(tests, exchange_may_begin_after_a_rejection);
    tcase_add_loop_test(tests, pushed_in_halves, 0, 24);
    suite_add_tcase(suite, tests);
    return suite;
}
