/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Misuse of iwarp/stream.h and iwarp/instrument.h (device.h: test_memory.c): an answer each, and nothing has changed.
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

Suite *misuse_suite(void);

/* --- Devices and regions in use ----------------------------------------------------------------------------------- */

/* A device that is freed before its streams lasts as long as they. */
START_TEST(device_freed_too_early)
{
    opened();
    iwarp_device_free(pair->side[RESPONDER].device);
    pair->side[RESPONDER].device = NULL;
    ck_assert_int_eq(
        iwarp_stream_post_write(
            stream, &(struct iwarp_write){.octets = octets, .count = sizeof(octets), .stag = region.stag}, NULL),
        0);
    pair_run(pair);
    ck_assert_mem_eq(region.octets, octets, sizeof(octets));
    closed();
}
END_TEST

/* Between output and output_done a Read Response lies in the region's own memory. */
START_TEST(region_on_its_way)
{
    struct iwarp_region sink = {.length = REGION, .access = IWARP_LOCAL_WRITE};
    struct iwarp_stream *responder;
    struct iwarp_output output;

    opened();
    closed(); /* the responder may send by then */
    opened();
    responder = pair->side[RESPONDER].stream;
    ck_assert_int_eq(iwarp_region_register(pair->side[INITIATOR].device, &sink, NULL), 0);
    ck_assert_int_eq(
        iwarp_stream_post_read(
            stream, &(struct iwarp_read){.id = 5, .sink_stag = sink.stag, .source_stag = region.stag, .count = 1000},
            NULL),
        0);
    pair_gather(pair, INITIATOR);
    iwarp_stream_input(responder, pair->side[INITIATOR].sent + pair->side[INITIATOR].delivered,
                       pair->side[INITIATOR].sent_count - pair->side[INITIATOR].delivered, pair->now);
    pair->side[INITIATOR].delivered = pair->side[INITIATOR].sent_count;
    ck_assert_uint_gt(iwarp_stream_output(responder, &output), 1000);
    ck_assert_uint_eq(output.ulp_span, 1);
    REFUSED("is in use", iwarp_region_deregister(pair->side[RESPONDER].device, region.stag, why));
    ck_assert_int_eq(iwarp_region_invalidate(pair->side[RESPONDER].device, region.stag, NULL), 0);
    if (_i == 0) {
        pair_run(pair);
        ck_assert_uint_eq(pair_count(pair, INITIATOR, IWARP_EVENT_READ_DONE), 1);
    } else if (_i == 1) {
        iwarp_stream_abort(responder, pair->now);
    } else if (_i == 2) {
        iwarp_stream_input_reset(responder, pair->now);
    } else {
        iwarp_stream_free(responder);
        pair->side[RESPONDER].stream = NULL;
    }
    ck_assert_int_eq(iwarp_region_deregister(pair->side[RESPONDER].device, region.stag, NULL), 0);
    if (_i == 0)
        closed();
    else
        pair_free(pair);
}
END_TEST

/*
 * What is flushed is the ULP's again, who frees it at once; what TCP has begun to take of it goes out all the same, so
 * that the Terminate after it is understood.
 */
START_TEST(flushed_on_its_way)
{
    static const uint8_t bad[] = {0, 2, 0, 0, 1, 2, 3, 4};
    uint8_t *payload = malloc(1000);
    struct iwarp_write write = {.id = 5, .octets = payload, .count = 1000};
    struct iwarp_output output;
    struct iwarp_event event;

    opened();
    ck_assert_ptr_nonnull(payload);
    memset(payload, 0x5A, 1000);
    write.stag = region.stag;
    ck_assert_int_eq(iwarp_stream_post_write(stream, &write, NULL), 0);
    ck_assert_uint_gt(iwarp_stream_output(stream, &output), 1000);
    if (_i != 0) {
        /* TCP takes a hundred octets. */
        struct pair_side *side = &pair->side[INITIATOR];
        uint8_t begun[100];

        memcpy(begun, output.spans[0].octets, output.spans[0].count);
        memcpy(begun + output.spans[0].count, output.spans[1].octets, sizeof(begun) - output.spans[0].count);
        iwarp_stream_output_done(stream, sizeof(begun), pair->now);
        iwarp_stream_input(pair->side[RESPONDER].stream, begun, sizeof(begun), pair->now);
        ck_assert_uint_eq(side->delivered, side->sent_count);
    }
    iwarp_stream_input(stream, bad, sizeof(bad), pair->now);
    do
        ck_assert(iwarp_stream_poll(stream, &event));
    while (event.kind != IWARP_EVENT_FLUSHED);
    ck_assert_uint_eq(event.id, 5);
    memset(payload, 0, 1000);
    free(payload);
    pair_run(pair);
    for (size_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(region.octets[i], 0x5A);
    ck_assert_uint_eq(pair_count(pair, RESPONDER, IWARP_EVENT_TERMINATE_RECEIVED), 1);
    pair_free(pair);
}
END_TEST

/* --- stream.h ----------------------------------------------------------------------------------------------------- */

/* Not one function of a stream looks at what is not there. */
START_TEST(missing_stream_is_never_read)
{
    struct iwarp_output output;
    struct iwarp_event event;
    struct iwarp_mpa_state mpa = {.emss = 9};
    uint8_t *space;

    iwarp_stream_config_default(NULL, IWARP_INITIATOR);
    iwarp_stream_free(NULL);
    iwarp_stream_input(NULL, octets, 1, 1);
    iwarp_stream_input_filled(NULL, 1, 1);
    iwarp_stream_input_early(NULL, 1, octets, 1, true, 1);
    iwarp_stream_input_fin(NULL, 1);
    iwarp_stream_input_reset(NULL, 1);
    iwarp_stream_set_emss(NULL, 1000);
    iwarp_stream_set_packed(NULL, 10);
    iwarp_stream_output_done(NULL, 1, 1);
    iwarp_stream_tick(NULL, 1);
    iwarp_stream_disconnect(NULL, 1);
    iwarp_stream_abort(NULL, 1);
    ck_assert_uint_eq(iwarp_stream_input_space(NULL, &space), 0);
    ck_assert_uint_eq(iwarp_stream_output(NULL, &output), 0);
    ck_assert_int_eq(iwarp_stream_wants(NULL), IWARP_WANT_NOTHING);
    ck_assert_uint_eq(iwarp_stream_deadline(NULL), UINT64_MAX);
    ck_assert(!iwarp_stream_poll(NULL, &event));
    ck_assert(!iwarp_stream_has_event(NULL));
    ck_assert_int_eq(iwarp_stream_state(NULL), IWARP_STATE_CLOSED);
    ck_assert_uint_eq(iwarp_stream_number(NULL), 0);
    ck_assert_uint_eq(iwarp_stream_ird(NULL), 0);
    ck_assert_uint_eq(iwarp_stream_ord(NULL), 0);
    ck_assert_uint_eq(iwarp_stream_mulpdu(NULL), 0);
    ck_assert_ptr_null(iwarp_stream_counters(NULL));
    iwarp_stream_mpa(NULL, &mpa);
    ck_assert_uint_eq(mpa.emss, 0);
    iwarp_stream_mpa(NULL, NULL);
    REFUSED("post_ulpdu: expected a stream", iwarp_stream_post_ulpdu(NULL, octets, 1, why));
    REFUSED("accept: expected a stream", iwarp_stream_accept(NULL, NULL, 0, -1, -1, 1, why));
    REFUSED("reject: expected a stream", iwarp_stream_reject(NULL, NULL, 0, 1, why));
    REFUSED("post_receive: expected a stream", iwarp_stream_post_receive(NULL, 1, NULL, 0, why));
    REFUSED("reserve_receives: expected a stream", iwarp_stream_reserve_receives(NULL, 1, why));
    REFUSED("post_send: expected a stream", iwarp_stream_post_send(NULL, &(struct iwarp_send){.id = 1}, why));
    REFUSED("post_write: expected a stream", iwarp_stream_post_write(NULL, &(struct iwarp_write){.id = 1}, why));
    REFUSED("post_read: expected a stream", iwarp_stream_post_read(NULL, &(struct iwarp_read){.id = 1}, why));
    REFUSED("post_atomic: expected a stream", iwarp_stream_post_atomic(NULL, &(struct iwarp_atomic){.id = 1}, why));
    REFUSED("post_immediate: expected a stream",
            iwarp_stream_post_immediate(NULL, &(struct iwarp_immediate){.id = 1}, why));
    REFUSED("terminate: expected a stream", iwarp_stream_terminate(NULL, TERM_RDMAP_CATASTROPHIC, 1, why));
}
END_TEST

START_TEST(missing_argument_of_a_stream_is_refused)
{
    struct iwarp_output output;

    opened();
    REFUSED("a Send, got NULL", iwarp_stream_post_send(stream, NULL, why));
    REFUSED("a Write, got NULL", iwarp_stream_post_write(stream, NULL, why));
    REFUSED("a Read, got NULL", iwarp_stream_post_read(stream, NULL, why));
    REFUSED("an atomic, got NULL", iwarp_stream_post_atomic(stream, NULL, why));
    REFUSED("Immediate Data, got NULL", iwarp_stream_post_immediate(stream, NULL, why));
    REFUSED("octets, got NULL", iwarp_stream_post_ulpdu(stream, NULL, 0, why));
    REFUSED("octets, got NULL", iwarp_stream_post_ulpdu(stream, NULL, 20, why));
    iwarp_stream_input(stream, NULL, 0, pair->now);
    iwarp_stream_input(stream, NULL, 100, pair->now);
    iwarp_stream_input_early(stream, 10, NULL, 100, true, pair->now);
    ck_assert_uint_eq(iwarp_stream_input_space(stream, NULL), 0);
    iwarp_stream_mpa(stream, NULL);
    iwarp_stream_ddp(stream, NULL);
    ck_assert(!iwarp_stream_trace(stream, NULL));
    /* Events and output wait until they are fetched. */
    ck_assert_int_eq(iwarp_stream_post_send(pair->side[INITIATOR].stream, &(struct iwarp_send){.id = 9}, NULL), 0);
    ck_assert_uint_eq(iwarp_stream_output(stream, NULL), 0);
    ck_assert_uint_ne(iwarp_stream_output(stream, &output), 0);
    ck_assert_int_eq(iwarp_stream_post_receive(pair->side[RESPONDER].stream, 1, NULL, 0, NULL), 0);
    pair_gather(pair, INITIATOR);
    ck_assert(!iwarp_stream_poll(stream, NULL));
    pair_run(pair);
    ck_assert_uint_eq(pair_count(pair, INITIATOR, IWARP_EVENT_SEND_DONE), 1);
    closed();
}
END_TEST

#if SIZE_MAX > UINT32_MAX /* else no count exceeds it */
START_TEST(a_message_beyond_32_bits_of_octets_is_refused)
{
    opened();
    REFUSED(
        "at most 2^32 - 1",
        iwarp_stream_post_send(stream, &(struct iwarp_send){.octets = octets, .count = (size_t)UINT32_MAX + 1}, why));
    REFUSED("at most 2^32 - 1",
            iwarp_stream_post_write(stream, &(struct iwarp_write){.octets = octets, .count = SIZE_MAX}, why));
    closed();
}
END_TEST
#endif

START_TEST(impossible_work_of_a_stream_is_refused)
{
    uint8_t *nothing = NULL;
    struct iwarp_region sink = {.length = 64, .access = IWARP_LOCAL_WRITE}, source = {.length = 64, .access = 4};
    struct iwarp_region foreign = {.length = 64, .access = IWARP_LOCAL_WRITE, .pd = 3};
    struct iwarp_read read = {.count = 32};

    opened();
    ck_assert_int_eq(iwarp_region_register(pair->side[INITIATOR].device, &sink, NULL), 0);
    ck_assert_int_eq(iwarp_region_register(pair->side[INITIATOR].device, &source, NULL), 0);
    ck_assert_int_eq(iwarp_region_register(pair->side[INITIATOR].device, &foreign, NULL), 0);
    REFUSED("without a buffer", iwarp_stream_post_receive(stream, 1, nothing, 1, why));
    REFUSED("none were given", iwarp_stream_post_send(stream, &(struct iwarp_send){.count = 1}, why));
    REFUSED("none were given", iwarp_stream_post_write(stream, &(struct iwarp_write){.count = UINT32_MAX}, why));
    REFUSED("exceeds 2^64",
            iwarp_stream_post_write(stream, &(struct iwarp_write){.octets = octets, .count = 16, .to = UINT64_MAX - 14},
                                    why));
    for (uint8_t opcode = 1; opcode != 0; opcode++)
        if (opcode < IWARP_RDMAP_SEND || opcode > IWARP_RDMAP_SEND_SE_INVALIDATE)
            REFUSED("is not one of the Sends",
                    iwarp_stream_post_send(stream, &(struct iwarp_send){.opcode = opcode}, why));
    REFUSED("is not a region that can be written", iwarp_stream_post_read(stream, &read, why));
    read.sink_stag = source.stag;
    REFUSED("is not a region that can be written", iwarp_stream_post_read(stream, &read, why));
    read.sink_stag = foreign.stag;
    REFUSED("is not associated with this stream", iwarp_stream_post_read(stream, &read, why));
    read.sink_stag = sink.stag;
    read.sink_to = 33;
    REFUSED("do not lie in STag", iwarp_stream_post_read(stream, &read, why));
    read.sink_to = UINT64_MAX;
    REFUSED("do not lie in STag", iwarp_stream_post_read(stream, &read, why));
    read.sink_to = 0;
    read.count = UINT32_MAX;
    REFUSED("do not lie in STag", iwarp_stream_post_read(stream, &read, why));
    read.count = 32;
    read.source_to = UINT64_MAX - 30;
    REFUSED("exceeds 2^64", iwarp_stream_post_read(stream, &read, why));
    for (unsigned operation = 0; operation < 16; operation++)
        if (operation != IWARP_ATOMIC_FETCH_ADD && operation != IWARP_ATOMIC_COMPARE_SWAP)
            REFUSED("is not supported",
                    iwarp_stream_post_atomic(
                        stream, &(struct iwarp_atomic){.operation = (enum iwarp_atomic_opcode)operation}, why));
    REFUSED("exceeds 2^64",
            iwarp_stream_post_atomic(
                stream, &(struct iwarp_atomic){.operation = IWARP_ATOMIC_FETCH_ADD, .to = UINT64_MAX - 6}, why));
    REFUSED("out of memory", iwarp_stream_reserve_receives(stream, SIZE_MAX, why));
#if SIZE_MAX > UINT32_MAX /* a process of 32 bits may have as much */
    REFUSED("out of memory", iwarp_stream_reserve_receives(stream, SIZE_MAX / 64, why));
#endif
    REFUSED("MULPDU is", iwarp_stream_post_ulpdu(stream, octets, iwarp_stream_mulpdu(stream) + 1, why));
    REFUSED("0x0 is not a Terminate triple", iwarp_stream_terminate(stream, WIRE_OK, pair->now, why));
    REFUSED("is not a Terminate triple",
            iwarp_stream_terminate(stream, TERM_RDMAP_CATASTROPHIC | 0x20000, pair->now, why));
    pair_run(pair);
    ck_assert_uint_eq(pair_count(pair, INITIATOR, IWARP_EVENT_FLUSHED), 0);
    closed();
}
END_TEST

/* The last octets of a range are no misuse. */
START_TEST(at_the_very_end)
{
    struct iwarp_region top = {.length = 16, .base = UINT64_MAX - 15, .access = IWARP_REMOTE_WRITE};

    opened();
    ck_assert_int_eq(iwarp_region_register(pair->side[RESPONDER].device, &top, NULL), 0);
    ck_assert_int_eq(
        iwarp_stream_post_write(
            stream, &(struct iwarp_write){.octets = octets + 8, .count = 8, .stag = top.stag, .to = UINT64_MAX - 7},
            NULL),
        0);
    ck_assert_int_eq(iwarp_stream_post_write(stream, &(struct iwarp_write){.stag = top.stag, .to = UINT64_MAX}, NULL),
                     0);
    pair_run(pair);
    ck_assert_mem_eq(top.octets + 8, octets + 8, 8);
    closed();
}
END_TEST

/* --- The wrong moment --------------------------------------------------------------------------------------------- */

START_TEST(nothing_to_decide)
{
    opened();
    for (int i = 0; i < PAIR_SIDES; i++) {
        struct iwarp_stream *one = pair->side[i].stream;

        REFUSED("no Request waits", iwarp_stream_accept(one, NULL, 0, -1, -1, pair->now, why));
        REFUSED("no Request waits", iwarp_stream_reject(one, NULL, 0, pair->now, why));
    }
    closed();
}
END_TEST

START_TEST(bad_decision_of_a_stream_is_refused)
{
    static const uint8_t much[IWARP_MPA_PRIVATE_DATA_MAX + 1] = {7};
    struct iwarp_stream *responder;
    size_t count = 0;

    open_with(IWARP_ACCEPT_ASK);
    responder = pair->side[RESPONDER].stream;
    ck_assert_int_eq(iwarp_stream_state(responder), IWARP_STATE_DECISION);
    for (count = 509; count <= sizeof(much); count += 4) {
        REFUSED("at most 508 fit", iwarp_stream_accept(responder, much, count, -1, -1, pair->now, why));
        REFUSED("at most 508 fit", iwarp_stream_reject(responder, much, count, pair->now, why));
    }
    REFUSED("at most 508 fit", iwarp_stream_accept(responder, much, SIZE_MAX, -1, -1, pair->now, why));
    REFUSED("none given", iwarp_stream_accept(responder, NULL, 5, -1, -1, pair->now, why));
    REFUSED("none given", iwarp_stream_reject(responder, NULL, 5, pair->now, why));
    REFUSED("IRD -2 and ORD -1", iwarp_stream_accept(responder, NULL, 0, -2, -1, pair->now, why));
    REFUSED("the device has 128 and 128", iwarp_stream_accept(responder, NULL, 0, 129, -1, pair->now, why));
    REFUSED("the device has", iwarp_stream_accept(responder, NULL, 0, -1, 129, pair->now, why));
    REFUSED("the device has", iwarp_stream_accept(responder, NULL, 0, 0x4000, -1, pair->now, why));
    REFUSED("the device has", iwarp_stream_accept(responder, NULL, 0, -1, INT32_MAX, pair->now, why));
    REFUSED("no Terminate can be sent", iwarp_stream_terminate(responder, TERM_RDMAP_CATASTROPHIC, pair->now, why));
    ck_assert_int_eq(iwarp_stream_accept(responder, much, 508, 5, 6, pair->now, NULL), 0);
    pair_run(pair);
    (void)iwarp_mpa_start_ulp_data(&pair_event(pair, INITIATOR, IWARP_EVENT_ESTABLISHED, 0)->start, &count);
    ck_assert_uint_eq(count, 508);
    ck_assert_uint_eq(iwarp_stream_ird(responder), 5);
    closed();
}
END_TEST

static void takes_no_work(struct iwarp_stream *ending)
{
    uint8_t in[16];

    REFUSED("the stream is ending", iwarp_stream_post_receive(ending, 1, in, 16, why));
    REFUSED("the stream is ending", iwarp_stream_reserve_receives(ending, 1, why));
    REFUSED("the stream is ending", iwarp_stream_post_send(ending, &(struct iwarp_send){.id = 1}, why));
    REFUSED("the stream is ending", iwarp_stream_post_write(ending, &(struct iwarp_write){.id = 1}, why));
    REFUSED("the stream is ending", iwarp_stream_post_read(ending, &(struct iwarp_read){.id = 1}, why));
    REFUSED("the stream is ending",
            iwarp_stream_post_atomic(ending, &(struct iwarp_atomic){.operation = IWARP_ATOMIC_FETCH_ADD}, why));
    REFUSED("the stream is ending", iwarp_stream_post_immediate(ending, &(struct iwarp_immediate){.id = 1}, why));
    REFUSED("no ULPDU", iwarp_stream_post_ulpdu(ending, octets, 14, why));
    REFUSED("no Request waits", iwarp_stream_accept(ending, NULL, 0, -1, -1, pair->now, why));
}

/* Once the stream ends, nothing is accepted, and what TCP reports afterwards is ignored. */
START_TEST(ended_stream_accepts_nothing)
{
    opened();
    if (_i == 0)
        iwarp_stream_disconnect(stream, pair->now);
    else if (_i == 1)
        iwarp_stream_abort(stream, pair->now);
    else if (_i == 2)
        ck_assert_int_eq(iwarp_stream_terminate(stream, TERM_RDMAP_CATASTROPHIC, pair->now, NULL), 0);
    else
        iwarp_stream_input_reset(stream, pair->now);
    takes_no_work(stream);
    pair_run(pair);
    if (_i == 0) {
        iwarp_stream_disconnect(pair->side[RESPONDER].stream, pair->now);
        pair_run(pair);
        ck_assert_int_eq(iwarp_stream_state(stream), IWARP_STATE_CLOSED);
    }
    takes_no_work(stream);
    REFUSED("no Terminate can be sent", iwarp_stream_terminate(stream, TERM_RDMAP_CATASTROPHIC, pair->now, why));
    iwarp_stream_input(stream, octets, sizeof(octets), pair->now);
    iwarp_stream_input_early(stream, 1, octets, sizeof(octets), true, pair->now);
    iwarp_stream_input_filled(stream, 100, pair->now);
    iwarp_stream_input_fin(stream, pair->now);
    iwarp_stream_input_reset(stream, pair->now);
    iwarp_stream_output_done(stream, 100, pair->now);
    iwarp_stream_catastrophe(stream, IWARP_CATASTROPHE_DDP, pair->now);
    iwarp_stream_tick(stream, UINT64_MAX);
    iwarp_stream_disconnect(stream, pair->now);
    iwarp_stream_abort(stream, pair->now);
    pair_gather(pair, INITIATOR);
    ck_assert_uint_eq(pair_count(pair, INITIATOR, IWARP_EVENT_RECEIVE), 0);
    ck_assert_uint_eq(pair_count(pair, INITIATOR, IWARP_EVENT_FLUSHED), 0);
    takes_no_work(stream);
    pair_free(pair);
}
END_TEST

Suite *misuse_suite(void)
{
    Suite *suite = suite_create("misuse");
    TCase *device = tcase_create("device"), *streams = tcase_create("streams");

    tcase_add_test(device, device_freed_too_early);
    tcase_add_loop_test(device, region_on_its_way, 0, 4);
    tcase_add_loop_test(device, flushed_on_its_way, 0, 2);
    tcase_add_test(streams, missing_stream_is_never_read);
    tcase_add_test(streams, missing_argument_of_a_stream_is_refused);
#if SIZE_MAX > UINT32_MAX
    tcase_add_test(streams, a_message_beyond_32_bits_of_octets_is_refused);
#endif
    tcase_add_test(streams, impossible_work_of_a_stream_is_refused);
    tcase_add_test(streams, at_the_very_end);
    tcase_add_test(streams, nothing_to_decide);
    tcase_add_test(streams, bad_decision_of_a_stream_is_refused);
    tcase_add_loop_test(streams, ended_stream_accepts_nothing, 0, 4);
    suite_add_tcase(suite, device);
    suite_add_tcase(suite, streams);
    return suite;
}
