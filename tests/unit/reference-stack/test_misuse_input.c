/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a caller must not do with a stream's input and its instruments: more octets than there are, times beyond time.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/instrument.h"
#include "iwarp/stream.h"
#include "tests/unit/misuse.h"
#include "tests/unit/stream_pair.h"
#include "wire/rdmap.h"
#include "tests/unit/misuse_pair.h"

Suite *misuse_input_suite(void);

/* --- TCP's side --------------------------------------------------------------------------------------------------- */

/* More octets than there was room for, or than the piece had, are not reckoned with. */
START_TEST(more_than_there_is)
{
    struct pair_side *initiator;
    struct iwarp_stream *responder;
    static uint8_t payload[8192];
    uint8_t *space = NULL;
    size_t room, head = 64;

    pair = pair_new();
    pair->side[INITIATOR].config.emss = 16384;
    region = (struct iwarp_region){.length = sizeof(payload), .access = 31};
    ck_assert_int_eq(iwarp_region_register(pair->side[RESPONDER].device, &region, NULL), 0);
    pair_open(pair);
    pair_run(pair);
    initiator = &pair->side[INITIATOR];
    stream = initiator->stream;
    responder = pair->side[RESPONDER].stream;
    iwarp_stream_input_filled(responder, 1, pair->now); /* none was offered */
    iwarp_stream_input_filled(responder, SIZE_MAX, pair->now);
    iwarp_stream_output_done(stream, SIZE_MAX, pair->now);
    memset(payload, 0xA5, sizeof(payload));
    ck_assert_int_eq(
        iwarp_stream_post_write(
            stream, &(struct iwarp_write){.octets = payload, .count = sizeof(payload), .stag = region.stag}, NULL),
        0);
    pair_gather(pair, INITIATOR);
    iwarp_stream_input(responder, initiator->sent + initiator->delivered, head, pair->now);
    initiator->delivered += head;
    room = iwarp_stream_input_space(responder, &space);
    ck_assert_uint_eq(room, initiator->sent_count - initiator->delivered);
    ck_assert_ptr_nonnull(space);
    iwarp_stream_input_filled(responder, room + 1, pair->now);
    iwarp_stream_input_filled(responder, SIZE_MAX - head + 1, pair->now);
    ck_assert_uint_eq(iwarp_stream_input_space(responder, &space), room);
    memcpy(space, initiator->sent + initiator->delivered, room);
    iwarp_stream_input_filled(responder, room, pair->now);
    initiator->delivered = initiator->sent_count;
    ck_assert_mem_eq(region.octets, payload, sizeof(payload));
    iwarp_stream_input_early(responder, 0, payload, sizeof(payload), true, pair->now);
    iwarp_stream_input_early(responder, SIZE_MAX, payload, sizeof(payload), true, pair->now);
    ck_assert_uint_eq(iwarp_stream_counters(responder)->segments_early, 0);
    closed();
}
END_TEST

/* Segment sizes that no TCP has: MULPDU stays between what RFC 5044 4.5 and an FPDU allow. */
START_TEST(odd_segment_sizes_bound_mulpdu)
{
    static const size_t sizes[] = {1, 7, 39, 127, 65536, SIZE_MAX / 2, SIZE_MAX - 3, SIZE_MAX};

    opened();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        iwarp_stream_set_emss(stream, sizes[i]);
        iwarp_stream_set_packed(stream, sizes[i] / 3);
        ck_assert_uint_ge(iwarp_stream_mulpdu(stream), 128);
        ck_assert_uint_le(iwarp_stream_mulpdu(stream), UINT16_MAX);
        ck_assert_int_eq(iwarp_stream_post_write(
                             stream, &(struct iwarp_write){.octets = octets, .count = 16, .stag = region.stag}, NULL),
                         0);
        pair_run(pair);
        ck_assert_uint_eq(pair_count(pair, INITIATOR, IWARP_EVENT_WRITE_DONE), i + 1);
    }
    iwarp_stream_set_emss(stream, 0);
    ck_assert_uint_ge(iwarp_stream_mulpdu(stream), 128);
    iwarp_stream_set_packed(stream, 0);
    closed();
}
END_TEST

/* A limit as long as time itself is none. */
START_TEST(limits_beyond_time)
{
    pair = pair_new();
    for (int i = 0; i < PAIR_SIDES; i++) {
        struct iwarp_stream_config *config = &pair->side[i].config;

        config->startup_limit = config->linger_limit = config->teardown_delay = UINT64_MAX;
    }
    region = (struct iwarp_region){.length = REGION, .access = 31};
    ck_assert_int_eq(iwarp_region_register(pair->side[RESPONDER].device, &region, NULL), 0);
    pair_open(pair);
    stream = pair->side[INITIATOR].stream;
    ck_assert_uint_eq(iwarp_stream_deadline(stream), UINT64_MAX);
    iwarp_stream_tick(stream, pair->now + 1);
    pair_run(pair);
    ck_assert_int_eq(iwarp_stream_state(stream), IWARP_STATE_OPERATION);
    iwarp_stream_disconnect(stream, pair->now);
    pair_gather(pair, INITIATOR);
    ck_assert_int_eq(iwarp_stream_wants(stream), IWARP_WANT_CLOSE);
    ck_assert_uint_eq(iwarp_stream_deadline(stream), UINT64_MAX);
    iwarp_stream_tick(stream, pair->now + 1);
    ck_assert_int_eq(iwarp_stream_wants(stream), IWARP_WANT_CLOSE);
    pair_free(pair);
}
END_TEST

/* --- instrument.h ------------------------------------------------------------------------------------------------- */

START_TEST(instruments_bear_a_missing_stream)
{
    struct iwarp_ddp_state state = {.send_msn = 9, .llp = IWARP_LLP_OK};
    struct iwarp_trace record;
    size_t mulpdu;

    iwarp_stream_ddp(NULL, &state);
    ck_assert_int_eq(state.llp, IWARP_LLP_GRACEFUL);
    ck_assert_uint_eq(state.send_msn, 0);
    iwarp_stream_ddp(NULL, NULL);
    iwarp_stream_set_msn(NULL, 1, 1);
    iwarp_stream_set_mulpdu(NULL, 200);
    ck_assert_int_ne(iwarp_stream_set_pd(NULL, 1, NULL), 0);
    iwarp_stream_hold_responses(NULL, true);
    iwarp_stream_catastrophe(NULL, IWARP_CATASTROPHE_DDP, 1);
    ck_assert(!iwarp_stream_trace(NULL, &record));
    opened();
    mulpdu = iwarp_stream_mulpdu(stream);
    iwarp_stream_set_mulpdu(stream, 1);
    iwarp_stream_set_mulpdu(stream, IWARP_MULPDU_MIN - 1);
    iwarp_stream_set_mulpdu(stream, IWARP_MULPDU_MAX + 1);
    iwarp_stream_set_mulpdu(stream, SIZE_MAX);
    ck_assert_uint_eq(iwarp_stream_mulpdu(stream), mulpdu);
    iwarp_stream_set_mulpdu(stream, IWARP_MULPDU_MAX);
    ck_assert_uint_eq(iwarp_stream_mulpdu(stream), IWARP_MULPDU_MAX);
    iwarp_stream_set_mulpdu(stream, IWARP_MULPDU_MIN);
    ck_assert_uint_eq(iwarp_stream_mulpdu(stream), IWARP_MULPDU_MIN);
    iwarp_stream_catastrophe(stream, (enum iwarp_catastrophe)7, pair->now);
    ck_assert_int_eq(iwarp_stream_state(stream), IWARP_STATE_OPERATION);
    closed();
}
END_TEST

Suite *misuse_input_suite(void)
{
    Suite *suite = suite_create("misuse_input");
    TCase *tcase = tcase_create("TCP's side");

    tcase_add_test(tcase, more_than_there_is);
    tcase_add_test(tcase, odd_segment_sizes_bound_mulpdu);
    tcase_add_test(tcase, limits_beyond_time);
    tcase_add_test(tcase, instruments_bear_a_missing_stream);
    suite_add_tcase(suite, tcase);
    return suite;
}
