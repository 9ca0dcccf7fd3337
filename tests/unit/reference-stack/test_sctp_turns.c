/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions of one association at the same time, and one after another on a SID (RFC 5043 6.6, 8). */
#include <check.h>

#include "tests/unit/sctp_pair.h"
#include "tests/unit/suites.h"
#include "wire/ddp_sctp.h"

Suite *sctp_turns_suite(void);

enum { SID = 5 };

static struct sctp_pair *open_pair(void)
{
    struct sctp_pair *pair = sctp_pair_new(IWARP_SCTP_RFC5043);

    sctp_pair_open(pair);
    return pair;
}

/*
 * A peer that has the last message of a session begins the next one at once: its Initiate may be here before its SACK
 * (6.6).
 */
START_TEST(initiate_before_the_sack)
{
    size_t requests;
    struct sctp_pair *pair = open_pair();

    sctp_pair_session(pair, 0, SID);
    iwarp_stream_disconnect(pair->side[SCTP_ACTIVE].ends[0].stream, pair->now);
    sctp_pair_run(pair);
    pair->side[SCTP_ACTIVE].silent = true;
    iwarp_stream_disconnect(pair->side[SCTP_PASSIVE].ends[0].stream, pair->now);
    sctp_pair_run(pair);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_ACTIVE, 0, IWARP_EVENT_CLOSED), 1);
    requests = sctp_pair_reported(pair, SCTP_PASSIVE, IWARP_ASSOCIATION_REQUEST);
    (void)sctp_pair_stream(pair, SCTP_ACTIVE, 1, SID, NULL);
    sctp_pair_run(pair);
    ck_assert_uint_eq(sctp_pair_reported(pair, SCTP_PASSIVE, IWARP_ASSOCIATION_REQUEST), requests + 1);
    (void)sctp_pair_stream(pair, SCTP_PASSIVE, 1, SID, NULL);
    pair->side[SCTP_ACTIVE].silent = false;
    sctp_pair_run(pair);
    for (int side = 0; side < SCTP_SIDES; side++)
        ck_assert_uint_eq(sctp_pair_count(pair, side, 1, IWARP_EVENT_ESTABLISHED), 1);
    sctp_pair_free(pair);
}
END_TEST

/*
 * A stream whose turn it is and that has nothing to send, as its Terminate waits for a SACK, does not hold up the
 * others.
 */
START_TEST(turns_go_on)
{
    static uint8_t text[] = "meanwhile";
    const struct iwarp_send send = {.octets = text, .count = sizeof(text)};
    struct iwarp_sctp_output output;
    struct sctp_pair *pair = open_pair();
    struct sctp_pair_side *passive = &pair->side[SCTP_PASSIVE];

    sctp_pair_session(pair, 1, SID + 1);
    pair->side[SCTP_ACTIVE].silent = true;
    sctp_pair_session(pair, 0, SID);
    passive->hold = true;
    iwarp_stream_disconnect(passive->ends[0].stream, pair->now);
    ck_assert_int_eq(iwarp_stream_post_send(passive->ends[1].stream, &send, NULL), 0);
    ck_assert_uint_gt(iwarp_association_output(passive->association, &output), sizeof(text));
    ck_assert_uint_eq(output.sid, SID + 1);
    sctp_pair_free(pair);
}
END_TEST

/* SIDs have 16 bits: streams whose numbers have the same low octet are others, in both directions. */
START_TEST(sids_of_one_low_octet)
{
    static const uint16_t sids[] = {1, 257, 513, 0x0F01};
    enum { COUNT = sizeof(sids) / sizeof(sids[0]), STREAMS = 0x1000 };
    uint8_t buffers[SCTP_SIDES][COUNT][8], texts[SCTP_SIDES][COUNT];
    struct sctp_pair *pair = sctp_pair_new(IWARP_SCTP_RFC5043);

    for (int side = 0; side < SCTP_SIDES; side++)
        pair->side[side].config.streams = STREAMS;
    sctp_pair_open(pair);
    for (unsigned n = 0; n < COUNT; n++)
        sctp_pair_session(pair, n, sids[n]);
    for (int side = 0; side < SCTP_SIDES; side++)
        for (unsigned n = 0; n < COUNT; n++) {
            const struct iwarp_send send = {.octets = &texts[1 - side][n], .count = 1};

            texts[1 - side][n] = (uint8_t)(0x40 * side + n + 1);
            ck_assert_int_eq(iwarp_stream_post_receive(pair->side[side].ends[n].stream, n, buffers[side][n], 8, NULL),
                             0);
            ck_assert_int_eq(iwarp_stream_post_send(pair->side[side].ends[n].stream, &send, NULL), 0);
        }
    sctp_pair_run(pair);
    for (int side = 0; side < SCTP_SIDES; side++)
        for (unsigned n = 0; n < COUNT; n++) {
            ck_assert_uint_eq(sctp_pair_count(pair, side, n, IWARP_EVENT_RECEIVE), 1);
            ck_assert_uint_eq(buffers[side][n][0], texts[side][n]);
            ck_assert_int_eq(iwarp_sctp_stream_sid(pair->side[side].ends[n].stream), sids[n]);
        }
    /* The end of one is not that of the others. */
    iwarp_stream_disconnect(pair->side[SCTP_ACTIVE].ends[1].stream, pair->now);
    sctp_pair_run(pair);
    for (unsigned n = 0; n < COUNT; n++)
        ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, n, IWARP_EVENT_HALF_CLOSED), n == 1);
    sctp_pair_free(pair);
}
END_TEST

/*
 * Requests on all streams that SCTP can have: a few wait for the ULP, the others are refused, and no session is kept of
 * those.
 */
START_TEST(requests_on_all_streams)
{
    enum { STREAMS = UINT16_MAX, PENDING = 16 };
    const struct iwarp_association_counters *counters;
    struct sctp_pair *pair = sctp_pair_new(IWARP_SCTP_RFC5043);

    for (int side = 0; side < SCTP_SIDES; side++)
        pair->side[side].config.streams = STREAMS;
    pair->side[SCTP_PASSIVE].config.pending_max = PENDING;
    sctp_pair_open(pair);
    for (unsigned sid = 0; sid < STREAMS; sid++) {
        sctp_pair_feed_control(pair, SCTP_PASSIVE, (uint16_t)sid, 0, DDP_SCTP_INITIATE, 0);
        sctp_pair_run(pair);
    }
    counters = iwarp_association_counters(pair->side[SCTP_PASSIVE].association);
    ck_assert_uint_eq(counters->pending, PENDING);
    ck_assert_uint_eq(counters->refused, STREAMS - PENDING);
    ck_assert_uint_eq(counters->sessions, PENDING);
    ck_assert_uint_le(counters->held_octets, (size_t)PENDING * 4096);
    /* And one that waits can still be accepted. */
    (void)sctp_pair_stream(pair, SCTP_PASSIVE, 0, PENDING - 1, NULL);
    sctp_pair_run(pair);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 0, IWARP_EVENT_ESTABLISHED), 1);
    sctp_pair_free(pair);
}
END_TEST

/* Of what belongs to no session each message is counted: no session there, no message of DDP's. */
START_TEST(what_no_session_takes_is_counted)
{
    struct sctp_pair *pair = open_pair();
    const struct iwarp_association_counters *counters =
        iwarp_association_counters(pair->side[SCTP_PASSIVE].association);

    sctp_pair_feed_send(pair, SCTP_PASSIVE, SID, 1, 1, 10);
    ck_assert_uint_eq(counters->dropped, 1);
    sctp_pair_feed(pair, SCTP_PASSIVE, SID, 4711, "octets", 6);
    ck_assert_uint_eq(counters->dropped, 2);
    sctp_pair_free(pair);
}
END_TEST

Suite *sctp_turns_suite(void)
{
    Suite *suite = suite_create("sctp_turns");
    TCase *tcase = tcase_create("turns");

    tcase_add_test(tcase, initiate_before_the_sack);
    tcase_add_test(tcase, turns_go_on);
    tcase_add_test(tcase, sids_of_one_low_octet);
    tcase_add_test(tcase, requests_on_all_streams);
    tcase_add_test(tcase, what_no_session_takes_is_counted);
    tcase_set_timeout(tcase, 60);
    suite_add_tcase(suite, tcase);
    return suite;
}
