/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lives of a 4-tuple whose sequence numbers are the same: once a connection has ended, a SYN begins another one. And
 * acknowledgments that no TCP takes (RFC 9293 3.10.7).
 */
#include <check.h>
#include <string.h>

#include "generator/packet/packet.h"
#include "tests/unit/flow_attack.h"
#include "tests/unit/suites.h"

Suite *flow_life_suite(void);

static void all_fpdus(struct talk *talk)
{
    talk_syn(talk);
    attack_begin(talk);
    attack_fpdus(talk, ATTACK_MIDDLE, ATTACK_FPDUS);
}

static void both_fins(struct talk *talk)
{
    size_t end = talk->octets[0], other = talk->octets[1];

    talk_segment_with(talk, 0, end, end, TCP_FLAG_ACK | TCP_FLAG_FIN, other);
    talk_segment_with(talk, 1, other, other, TCP_FLAG_ACK | TCP_FLAG_FIN, end + 1);
    talk_build(talk, 0, talk->isn[0] + 2 + (uint32_t)end, talk->isn[1] + 2 + (uint32_t)other, TCP_FLAG_ACK, NULL, 0);
    talk_give(talk);
}

static void reset(struct talk *talk)
{
    talk_segment_with(talk, 0, talk->octets[0], talk->octets[0], TCP_FLAG_ACK | TCP_FLAG_RST, talk->octets[1]);
}

static void (*const ends[])(struct talk *talk) = {both_fins, reset};

enum { ENDS = sizeof(ends) / sizeof(ends[0]) };

/* Loop: how the first one ends, times whether the sequence numbers wrap. At once, and ten minutes later. */
START_TEST(second_connection_of_the_same_ports_is_judged)
{
    for (unsigned minutes = 0; minutes <= 10; minutes += 10) {
        struct talk *talk = attack_talk(_i / ENDS);

        all_fpdus(talk);
        ends[_i % ENDS](talk);
        talk->time_ns += minutes * UINT64_C(60000000000);
        all_fpdus(talk);
        both_fins(talk);
        talk_finish(talk);
        ck_assert_uint_eq(talk->flows, 2);
        ck_assert_uint_eq(talk->good[0], 2 * ATTACK_FPDUS);
        ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_AGAIN), 0);
        ck_assert(talk_whole(talk));
        talk_free(talk);
    }
}
END_TEST

/* Nobody has captured the SYN, ACK: the octets are of either connection, and of none that is judged. */
START_TEST(octets_after_an_unanswered_syn_are_unjudged)
{
    struct talk *talk = attack_talk(_i / ENDS);

    all_fpdus(talk);
    ends[_i % ENDS](talk);
    talk_build(talk, 0, talk->isn[0], 0, TCP_FLAG_SYN, NULL, 0);
    talk_give(talk);
    attack_begin(talk);
    talk_finish(talk);
    ck_assert_uint_eq(talk->good[0], ATTACK_FPDUS);
    ck_assert_uint_gt(talk_octets(talk, FLOW_ROW_UNANSWERED), 0);
    ck_assert(!talk_whole(talk));
    talk_free(talk);
}
END_TEST

/* A SYN that was captured again, long after the end: nothing follows it, and nothing changes. */
START_TEST(late_copy_of_a_syn_changes_nothing)
{
    struct talk *talk = attack_talk(_i / ENDS);

    all_fpdus(talk);
    ends[_i % ENDS](talk);
    talk_build(talk, 0, talk->isn[0], 0, TCP_FLAG_SYN, NULL, 0);
    talk_give(talk);
    attack_expect_all(talk, "a SYN after the end");
    ck_assert(talk_whole(talk));
    talk_free(talk);
}
END_TEST

/*
 * Other octets in place of an FPDU, an acknowledgment of them whose checksum is wrong, then the FPDU: the receiver has
 * not said which ones it has.
 */
START_TEST(forged_acknowledgment_confirms_no_octets)
{
    struct talk *talk;
    size_t at = attack_middle(&talk, _i), end = talk->boundary[0][ATTACK_MIDDLE + 1];

    attack_inject(talk, 0, at, TCP_FLAG_ACK, end - at);
    talk->spoil = true;
    talk_segment_with(talk, 1, talk->octets[1], talk->octets[1], TCP_FLAG_ACK, end);
    talk->spoil = false;
    talk_segment_with(talk, 0, at, end, TCP_FLAG_ACK, talk->octets[1]);
    attack_fpdus(talk, ATTACK_MIDDLE + 1, ATTACK_FPDUS);
    talk_finish(talk);
    ck_assert_uint_eq(talk_octets(talk, FLOW_ROW_CONFLICT), end - at);
    ck_assert(!talk_whole(talk));
    talk_free(talk);
}
END_TEST

/* It does not open the window either. */
START_TEST(forged_segment_does_not_open_the_window)
{
    struct talk *talk;
    size_t at = attack_middle(&talk, _i), far = at + ATTACK_FAR;

    talk->spoil = true;
    talk_segment_with(talk, 1, talk->octets[1], talk->octets[1], TCP_FLAG_ACK, far);
    talk->spoil = false;
    for (unsigned i = 0; i < 6; i++)
        attack_inject(talk, 0, far + i * ATTACK_GARBAGE, TCP_FLAG_ACK, ATTACK_GARBAGE);
    attack_expect_rest(talk, "a forged acknowledgment far ahead");
    talk_free(talk);
}
END_TEST

Suite *flow_life_suite(void)
{
    Suite *suite = suite_create("flow_life");
    TCase *tests = tcase_create("life");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, second_connection_of_the_same_ports_is_judged, 0, ENDS * ATTACK_LOOPS);
    tcase_add_loop_test(tests, octets_after_an_unanswered_syn_are_unjudged, 0, ENDS * ATTACK_LOOPS);
    tcase_add_loop_test(tests, late_copy_of_a_syn_changes_nothing, 0, ENDS * ATTACK_LOOPS);
    tcase_add_loop_test(tests, forged_acknowledgment_confirms_no_octets, 0, ATTACK_LOOPS);
    tcase_add_loop_test(tests, forged_segment_does_not_open_the_window, 0, ATTACK_LOOPS);
    suite_add_tcase(suite, tests);
    return suite;
}
