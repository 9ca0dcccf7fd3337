/* SPDX-License-Identifier: BSD-2-Clause */
/* IRD and ORD in the Private Data of plain frames, as [MS-SMBD] has them. */
#include <check.h>
#include <string.h>

#include "tests/unit/stream_pair.h"
#include "base/octets.h"
#include "wire/mpa.h"

Suite *smbd_suite(void);

static struct pair *plain_pair(bool responder, bool initiator)
{
    struct pair *pair = pair_new();

    for (int i = 0; i < PAIR_SIDES; i++) {
        pair->side[i].config.revision = 1;
        pair->side[i].config.enhanced = false;
    }
    pair->side[0].config.smbd = responder;
    pair->side[1].config.smbd = initiator;
    pair->side[0].config.ird = 6;
    pair->side[0].config.ord = 5;
    pair->side[1].config.ird = 3;
    pair->side[1].config.ord = 7;
    memcpy(pair->side[1].config.private_data, "request", 7);
    pair->side[1].config.private_octets = 7;
    memcpy(pair->side[0].config.private_data, "reply", 5);
    pair->side[0].config.private_octets = 5;
    return pair;
}

static void is_private(const struct pair *pair, int side, const char *text, size_t octets)
{
    const struct iwarp_event *event = pair_event(pair, side, IWARP_EVENT_ESTABLISHED, 0);
    size_t count;
    const uint8_t *data;

    ck_assert_ptr_nonnull(event);
    data = iwarp_mpa_start_ulp_data(&event->start, &count);
    ck_assert_uint_eq(count, octets);
    ck_assert_int_eq(memcmp(data, text, octets), 0);
}

START_TEST(smbd_depths_are_negotiated_by_both)
{
    struct pair *pair = plain_pair(true, true);
    const uint8_t *request, *reply;

    pair_open(pair);
    pair_run(pair);
    request = pair->side[1].sent;
    reply = pair->side[0].sent;
    ck_assert_uint_eq(mpa_start_get_Rev(request), 1);
    ck_assert_uint_eq(mpa_start_get_S(request), 0);
    ck_assert_uint_eq(mpa_start_get_PD_Length(request), 15);
    ck_assert_uint_eq(octets_get32(request + MPA_START_OCTETS), 3);
    ck_assert_uint_eq(octets_get32(request + MPA_START_OCTETS + 4), 7);
    ck_assert_uint_eq(mpa_start_get_PD_Length(reply), 13);
    ck_assert_uint_eq(octets_get32(reply + MPA_START_OCTETS), 7); /* raised to what the initiator wants */
    ck_assert_uint_eq(octets_get32(reply + MPA_START_OCTETS + 4), 3);
    is_private(pair, 0, "request", 7);
    is_private(pair, 1, "reply", 5);
    ck_assert_uint_eq(iwarp_stream_ird(pair->side[0].stream), 7);
    ck_assert_uint_eq(iwarp_stream_ord(pair->side[0].stream), 3);
    ck_assert_uint_eq(iwarp_stream_ird(pair->side[1].stream), 3);
    ck_assert_uint_eq(iwarp_stream_ord(pair->side[1].stream), 7);
    pair_free(pair);
}
END_TEST

/* The initiator's ORD follows a Reply that offers less. */
START_TEST(reply_offers_less)
{
    struct pair *pair = plain_pair(true, true);

    pair->side[0].config.accept = IWARP_ACCEPT_ASK;
    pair_open(pair);
    pair_run(pair);
    ck_assert_int_eq(iwarp_stream_state(pair->side[0].stream), IWARP_STATE_DECISION);
    iwarp_stream_input(pair->side[0].stream, (const uint8_t *)"", 0, 1);
    ck_assert_int_eq(iwarp_stream_accept(pair->side[0].stream, NULL, 0, 2, 9, 1, NULL), 0);
    pair_run(pair);
    is_private(pair, 0, "request", 7);
    ck_assert_uint_eq(iwarp_stream_ord(pair->side[1].stream), 2);
    ck_assert_uint_eq(iwarp_stream_ird(pair->side[1].stream), 9);
    pair_free(pair);
}
END_TEST

/* One side alone: the other takes eight octets more of Private Data for the ULP's. */
START_TEST(smbd_depths_of_one_side_are_private_data)
{
    struct pair *pair = plain_pair(_i == 0, _i != 0);

    pair_open(pair);
    pair_run(pair);
    if (_i == 0) {
        is_private(pair, 0, "request", 7); /* too few octets to be depths */
        is_private(pair, 1, "reply", 5);
    } else {
        is_private(pair, 0, "\0\0\0\3\0\0\0\7request", 15);
        is_private(pair, 1, "reply", 5);
    }
    ck_assert_uint_eq(iwarp_stream_ird(pair->side[0].stream), 6);
    ck_assert_uint_eq(iwarp_stream_ord(pair->side[0].stream), 5);
    ck_assert_uint_eq(iwarp_stream_ird(pair->side[1].stream), 3);
    ck_assert_uint_eq(iwarp_stream_ord(pair->side[1].stream), 7);
    pair_free(pair);
}
END_TEST

/* Enhanced frames have their own word: the option is not used. */
START_TEST(enhanced_frames_do_without_smbd_depths)
{
    struct pair *pair = plain_pair(true, true);

    for (int i = 0; i < PAIR_SIDES; i++) {
        pair->side[i].config.revision = 2;
        pair->side[i].config.enhanced = true;
    }
    pair_open(pair);
    pair_run(pair);
    ck_assert_uint_eq(mpa_start_get_PD_Length(pair->side[1].sent), 11);
    is_private(pair, 0, "request", 7);
    ck_assert_uint_eq(iwarp_stream_ord(pair->side[0].stream), 3);
    pair_free(pair);
}
END_TEST

/* Depths beyond 14 bits are great ones; what is put in force is what the device has. */
START_TEST(smbd_depths_may_exceed_14_bits)
{
    struct pair *pair = plain_pair(true, true);
    struct iwarp_mpa_start start = {.kind = IWARP_MPA_REQUEST, .revision = 1, .crc = true, .private_octets = 8};
    uint8_t words[8];
    uint8_t frame[MPA_START_MAX];

    memset(words, 0xFF, sizeof(words));
    start.private_data = words;
    pair_open(pair);
    pair_feed(pair, 0, frame, mpa_start_pack(&start, frame, sizeof(frame)));
    ck_assert_uint_eq(iwarp_stream_ord(pair->side[0].stream), 5);
    ck_assert_uint_eq(iwarp_stream_ird(pair->side[0].stream), IWARP_DEPTH_DEFAULT_MAX);
    pair_free(pair);
}
END_TEST

START_TEST(smbd_leaves_504_octets_of_private_data)
{
    struct pair *pair = plain_pair(true, true);
    struct pair_side *side = &pair->side[1];
    struct iwarp_sentence sentence = {""};

    side->config.private_octets = 505;
    ck_assert_ptr_null(iwarp_stream_new(side->device, &side->config, 1, &sentence));
    ck_assert_ptr_nonnull(strstr(sentence.text, "504"));
    side->config.private_octets = 504;
    pair->side[0].config.accept = IWARP_ACCEPT_ASK;
    pair_open(pair);
    pair_run(pair);
    ck_assert_int_eq(iwarp_stream_accept(pair->side[0].stream, side->config.private_data, 505, -1, -1, 1, NULL), -1);
    ck_assert_int_eq(iwarp_stream_accept(pair->side[0].stream, NULL, 5, -1, -1, 1, NULL), -1);
    ck_assert_int_eq(iwarp_stream_accept(pair->side[0].stream, side->config.private_data, 504, -1, -1, 1, NULL), 0);
    pair_run(pair);
    ck_assert_uint_eq(mpa_start_get_PD_Length(pair->side[0].sent), 512);
    pair_free(pair);
}
END_TEST

Suite *smbd_suite(void)
{
    Suite *suite = suite_create("smbd");
    TCase *tcase = tcase_create("depths in Private Data");

    tcase_add_test(tcase, smbd_depths_are_negotiated_by_both);
    tcase_add_test(tcase, reply_offers_less);
    tcase_add_loop_test(tcase, smbd_depths_of_one_side_are_private_data, 0, 2);
    tcase_add_test(tcase, enhanced_frames_do_without_smbd_depths);
    tcase_add_test(tcase, smbd_depths_may_exceed_14_bits);
    tcase_add_test(tcase, smbd_leaves_504_octets_of_private_data);
    suite_add_tcase(suite, tcase);
    return suite;
}
