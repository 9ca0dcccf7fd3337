/* SPDX-License-Identifier: BSD-2-Clause */
/* The instruments of iwarp/instrument.h, and what a ULP may do to a region while it is registered. */
#include <check.h>
#include <string.h>

#include "iwarp/device.h"
#include "iwarp/instrument.h"
#include "tests/unit/stream_pair.h"
#include "tests/unit/suites.h"
#include "wire/terminate.h"

enum { RESPONDER, INITIATOR };

static struct pair *pair;
static uint8_t receives[4][256];

static void setup(void)
{
    struct iwarp_sentence sentence = {""};

    pair = pair_new();
    pair_open(pair);
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(
            iwarp_stream_post_receive(pair->side[RESPONDER].stream, i, receives[i], sizeof(receives[i]), &sentence), 0);
    pair_run(pair);
}

static void teardown(void)
{
    pair_free(pair);
}

static void send_octets(const char *octets)
{
    struct iwarp_send send = {.octets = (const uint8_t *)octets, .count = strlen(octets)};
    struct iwarp_sentence sentence = {""};

    ck_assert_msg(iwarp_stream_post_send(pair->side[INITIATOR].stream, &send, &sentence) == 0, "%s", sentence.text);
    pair_run(pair);
}

START_TEST(the_state_of_the_layer_below)
{
    struct iwarp_ddp_state state;

    send_octets("one");
    iwarp_stream_ddp(pair->side[RESPONDER].stream, &state);
    ck_assert_int_eq(state.llp, IWARP_LLP_OK);
    ck_assert_uint_eq(state.receive_msn, 2);
    ck_assert_uint_eq(state.system_faults, 0);
    iwarp_stream_disconnect(pair->side[INITIATOR].stream, 0);
    iwarp_stream_ddp(pair->side[INITIATOR].stream, &state);
    ck_assert_int_eq(state.llp, IWARP_LLP_GRACEFUL);
    ck_assert_uint_eq(state.send_msn, 2);
}
END_TEST

START_TEST(a_missing_buffer_is_a_system_fault)
{
    struct iwarp_ddp_state state;

    for (int i = 0; i < 5; i++)
        send_octets("more than there are receives");
    iwarp_stream_ddp(pair->side[RESPONDER].stream, &state);
    ck_assert_int_eq(state.llp, IWARP_LLP_ERRONEOUS);
    ck_assert_uint_eq(state.system_faults, 1);
}
END_TEST

START_TEST(msn_wraps_to_0)
{
    struct iwarp_ddp_state state;

    iwarp_stream_set_msn(pair->side[INITIATOR].stream, UINT32_MAX, 1);
    iwarp_stream_set_msn(pair->side[RESPONDER].stream, 1, UINT32_MAX);
    send_octets("last");
    send_octets("first");
    iwarp_stream_ddp(pair->side[RESPONDER].stream, &state);
    ck_assert_uint_eq(state.receive_msn, 1);
    ck_assert_uint_eq(pair_count(pair, RESPONDER, IWARP_EVENT_RECEIVE), 2);
}
END_TEST

START_TEST(the_trace_has_placements_and_deliveries)
{
    struct iwarp_trace record;
    struct iwarp_stream *sink = pair->side[RESPONDER].stream;

    send_octets("before");
    ck_assert(!iwarp_stream_trace(sink, &record));
    send_octets("octets");
    ck_assert(iwarp_stream_trace(sink, &record));
    ck_assert_int_eq(record.kind, IWARP_TRACE_PLACED);
    ck_assert(!record.tagged);
    ck_assert_uint_eq(record.octets, 6);
    ck_assert(iwarp_stream_trace(sink, &record));
    ck_assert_int_eq(record.kind, IWARP_TRACE_DELIVERED);
    ck_assert_uint_eq(record.msn, 2);
    ck_assert(!iwarp_stream_trace(sink, &record));
}
END_TEST

START_TEST(a_catastrophe_ends_the_stream)
{
    const struct iwarp_event *event;

    send_octets("opens the responder's gate");
    iwarp_stream_catastrophe(pair->side[RESPONDER].stream, _i == 0 ? IWARP_CATASTROPHE_DDP : IWARP_CATASTROPHE_RDMAP,
                             0);
    pair_run(pair);
    event = pair_event(pair, INITIATOR, IWARP_EVENT_TERMINATE_RECEIVED, 0);
    ck_assert_ptr_nonnull(event);
    ck_assert_uint_eq(event->triple, _i == 0 ? TERM_DDP_CATASTROPHIC : TERM_RDMAP_CATASTROPHIC);
}
END_TEST

START_TEST(mulpdu_as_given)
{
    struct iwarp_stream *stream = pair->side[INITIATOR].stream;
    size_t before = iwarp_stream_mulpdu(stream);

    iwarp_stream_set_mulpdu(stream, 200);
    ck_assert_uint_eq(iwarp_stream_mulpdu(stream), 200);
    iwarp_stream_set_mulpdu(stream, 0);
    ck_assert_uint_eq(iwarp_stream_mulpdu(stream), before);
}
END_TEST

/* The first of a stream, before there is room for one: MPA carries it, and DDP has no header to read. */
START_TEST(a_ulpdu_of_no_octets)
{
    struct iwarp_ddp_state state;
    struct iwarp_sentence sentence = {""};

    ck_assert_int_eq(iwarp_stream_post_ulpdu(pair->side[INITIATOR].stream, receives[0], 0, &sentence), 0);
    pair_run(pair);
    iwarp_stream_ddp(pair->side[RESPONDER].stream, &state);
    ck_assert_int_eq(state.llp, IWARP_LLP_ERRONEOUS);
    ck_assert_uint_eq(state.receive_msn, 1);
}
END_TEST

START_TEST(a_region_is_narrowed_and_widened)
{
    struct iwarp_device *device = pair->side[RESPONDER].device;
    struct iwarp_region region = {.length = 100, .access = IWARP_REMOTE_WRITE};
    struct iwarp_sentence sentence = {""};

    ck_assert_int_eq(iwarp_region_register(device, &region, &sentence), 0);
    ck_assert_int_eq(iwarp_region_set_length(device, region.stag, 10, &sentence), 0);
    ck_assert_uint_eq(iwarp_region_find(device, region.stag)->length, 10);
    ck_assert_int_eq(iwarp_region_set_length(device, region.stag, 100, &sentence), 0);
    ck_assert_int_eq(iwarp_region_set_length(device, region.stag, 101, &sentence), -1);
    ck_assert_ptr_nonnull(strstr(sentence.text, "100"));
    ck_assert_int_eq(iwarp_region_set_length(device, region.stag ^ 1, 1, &sentence), -1);
}
END_TEST

/* Behind the peer's FIN nothing is taken any more (RFC 5041 6.2.1). */
START_TEST(octets_behind_a_fin_abort)
{
    static const uint8_t octets[64];
    struct iwarp_stream *stream = pair->side[RESPONDER].stream;

    send_octets("opens the responder's gate");
    iwarp_stream_input_fin(stream, 0);
    iwarp_stream_input(stream, octets, sizeof(octets), 0);
    ck_assert_int_eq(iwarp_stream_wants(stream), IWARP_WANT_ABORT);
}
END_TEST

/* The ULP's own delay between an error and its close. */
START_TEST(teardown_waits_for_the_ulp)
{
    struct iwarp_stream *stream;

    pair_free(pair);
    pair = pair_new();
    pair->side[RESPONDER].config.teardown_delay = 1000;
    pair_open(pair);
    pair_run(pair);
    send_octets("there is no receive");
    stream = pair->side[RESPONDER].stream;
    ck_assert_ptr_nonnull(pair_event(pair, RESPONDER, IWARP_EVENT_TERMINATE_SENT, 0));
    ck_assert_int_eq(iwarp_stream_wants(stream), IWARP_WANT_NOTHING);
    ck_assert_uint_eq(iwarp_stream_deadline(stream), pair->now + 1000);
    iwarp_stream_tick(stream, pair->now + 1000);
    ck_assert_int_eq(iwarp_stream_wants(stream), IWARP_WANT_CLOSE);
}
END_TEST

Suite *instrument_suite(void);

Suite *instrument_suite(void)
{
    Suite *suite = suite_create("instrument");
    TCase *tcase = tcase_create("stream");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, the_state_of_the_layer_below);
    tcase_add_test(tcase, a_missing_buffer_is_a_system_fault);
    tcase_add_test(tcase, msn_wraps_to_0);
    tcase_add_test(tcase, the_trace_has_placements_and_deliveries);
    tcase_add_loop_test(tcase, a_catastrophe_ends_the_stream, 0, 2);
    tcase_add_test(tcase, mulpdu_as_given);
    tcase_add_test(tcase, a_ulpdu_of_no_octets);
    tcase_add_test(tcase, a_region_is_narrowed_and_widened);
    tcase_add_test(tcase, octets_behind_a_fin_abort);
    tcase_add_test(tcase, teardown_waits_for_the_ulp);
    suite_add_tcase(suite, tcase);
    return suite;
}
