/* SPDX-License-Identifier: BSD-2-Clause */
/* DDP and RDMAP: the state that rules compare events with, requests and their answers, Terminates. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/ddp/flow_ddp.h"
#include "conformance/flow/decoder.h"
#include "tests/unit/flow_talk.h"
#include "tests/unit/guard.h"
#include "tests/unit/suites.h"

Suite *flow_rdmap_suite(void);

/* A decoder fed with whole segments; its events are kept. */
struct seen {
    struct flow_rdmap rdmap;
    struct ddp_segment ddp;
    struct flow_half half, other; /* before the event */
    bool has_request;
    struct flow_request request;
};

static struct seen seen[64];
static size_t seen_count;
static struct flow_half after[2];
static bool flow_gap_set;
static bool rule_state_zero;

static void sink_one(void *ctx, const struct flow_event *event)
{
    const uint8_t *state = event->flow->rule_state;

    (void)ctx;
    if (event->kind == FLOW_RDMAP && seen_count < 64) {
        struct seen *to = &seen[seen_count++];

        to->rdmap = *event->rdmap;
        to->ddp = event->ddp->segment;
        to->half = event->flow->half[event->direction];
        to->other = event->flow->half[flow_reverse(event->direction)];
        to->has_request = event->rdmap->request != NULL;
        if (to->has_request)
            to->request = *event->rdmap->request;
    }
    if (event->kind == FLOW_TCP_OPEN && event->direction == FLOW_FROM_INITIATOR) {
        rule_state_zero = state != NULL && (uintptr_t)state % 8 == 0;
        for (size_t i = 0; state != NULL && i < 100; i++)
            rule_state_zero = rule_state_zero && state[i] == 0;
    }
    if (event->kind == FLOW_END) {
        memcpy(after, event->flow->half, sizeof(after));
        flow_gap_set = event->flow->gap;
    }
}

static void sink(void *ctx, const struct flow_event *event)
{
    for (; event != NULL; event = event->next)
        sink_one(ctx, event);
}

static struct talk *talk;

static void setup(void)
{
    struct flow_config config = {.rule_state_octets = 100};

    talk = talk_new(NULL);
    flow_decoder_destroy(talk->decoder);
    talk->decoder = flow_decoder_create(&config, sink, NULL);
    talk_start_simple(talk, false, false, true);
    seen_count = 0;
    talk_syn(talk);
    talk_all(talk, 1460);
}

static void teardown(void)
{
    talk_free(talk);
}

static void give(unsigned side, struct ddp_segment segment, const uint8_t *payload, size_t octets)
{
    uint8_t ulpdu[2000];
    size_t header, from = talk->octets[side];

    segment.version = 1;
    header = ddp_pack_header(&segment, ulpdu);
    if (payload != NULL)
        memcpy(ulpdu + header, payload, octets);
    else
        memset(ulpdu + header, 0, octets);
    talk_ulpdu(talk, side, ulpdu, header + octets);
    talk_segment(talk, side, from, talk->octets[side]);
}

static void give_untagged(unsigned side, unsigned opcode, uint32_t qn, uint32_t msn, uint32_t mo, bool last,
                          const uint8_t *payload, size_t octets)
{
    struct ddp_segment segment = {.last = last, .control = (uint8_t)(0x40 | opcode), .qn = qn, .msn = msn, .mo = mo};

    give(side, segment, payload, octets);
}

static void give_tagged(unsigned side, unsigned opcode, uint32_t stag, uint64_t to, bool last, size_t octets)
{
    struct ddp_segment segment = {
        .tagged = true, .last = last, .control = (uint8_t)(0x40 | opcode), .stag = stag, .to = to};

    give(side, segment, NULL, octets);
}

START_TEST(sends_are_followed_by_msn_and_mo)
{
    ck_assert(rule_state_zero);
    give_untagged(0, IWARP_RDMAP_SEND, 0, 1, 0, false, NULL, 100);
    give_untagged(0, IWARP_RDMAP_SEND, 0, 1, 100, false, NULL, 50);
    give_untagged(0, IWARP_RDMAP_SEND, 0, 1, 150, true, NULL, 7);
    give_untagged(0, IWARP_RDMAP_SEND_SE, 0, 2, 0, true, NULL, 0);
    talk_finish(talk);
    ck_assert_uint_eq(seen_count, 4);
    ck_assert(!seen[0].half.queue[0].seen && !seen[0].half.queue[0].open && seen[0].rdmap.first && !seen[0].rdmap.last);
    ck_assert_uint_eq(seen[0].half.queue[0].next_msn, 1);
    ck_assert_uint_eq(seen[0].rdmap.message_octets, 100);
    ck_assert(seen[1].half.queue[0].open && !seen[1].rdmap.first);
    ck_assert_uint_eq(seen[1].half.queue[0].next_mo, 100);
    ck_assert_uint_eq(seen[2].half.queue[0].next_mo, 150);
    ck_assert_uint_eq(seen[2].half.queue[0].next_msn, 1);
    ck_assert_uint_eq(seen[2].rdmap.message_octets, 157);
    ck_assert(seen[2].rdmap.last && !seen[3].half.queue[0].open && seen[3].rdmap.first);
    ck_assert_uint_eq(seen[3].half.queue[0].next_msn, 2);
    ck_assert_uint_eq(seen[3].rdmap.message_octets, 0);
    ck_assert_uint_eq(after[0].queue[0].next_msn, 3);
    ck_assert_uint_eq(after[0].queue[0].messages, 2);
    ck_assert_uint_eq(after[0].messages[IWARP_RDMAP_SEND], 1);
    ck_assert_uint_eq(after[0].messages[IWARP_RDMAP_SEND_SE], 1);
    ck_assert_uint_eq(after[0].ddp_segments, 4);
    ck_assert(!flow_gap_set);
}
END_TEST

START_TEST(writes_are_followed_by_offset)
{
    give_tagged(0, IWARP_RDMAP_WRITE, 77, 1000, false, 1000);
    give_tagged(0, IWARP_RDMAP_WRITE, 77, 2000, true, 24);
    give_tagged(0, IWARP_RDMAP_WRITE, 0, 0, true, 0);
    talk_finish(talk);
    ck_assert_uint_eq(seen_count, 3);
    ck_assert(seen[0].rdmap.first && !seen[1].rdmap.first && seen[1].half.write.open && seen[2].rdmap.first);
    ck_assert_uint_eq(seen[1].half.write.next_to, 2000);
    ck_assert_uint_eq(seen[1].half.write.stag, 77);
    ck_assert_uint_eq(seen[1].half.write.first_to, 1000);
    ck_assert_uint_eq(seen[1].rdmap.message_octets, 1024);
    ck_assert_uint_eq(after[0].write.messages, 2);
}
END_TEST

static void give_read(unsigned side, uint32_t msn, uint32_t sink, uint32_t octets)
{
    uint8_t header[READ_REQUEST_OCTETS];
    struct read_request request = {sink, 0x1000, octets, 5, 0x2000};

    read_request_pack(&request, header);
    give_untagged(side, IWARP_RDMAP_READ_REQUEST, 1, msn, 0, true, header, sizeof(header));
}

START_TEST(responses_are_matched_with_their_reads)
{
    for (uint32_t i = 1; i <= 7; i++) /* more than the first room of the list */
        give_read(1, i, 100 + i, 500);
    give_tagged(0, IWARP_RDMAP_READ_RESPONSE, 101, 0x1000, false, 300);
    give_tagged(0, IWARP_RDMAP_READ_RESPONSE, 101, 0x1000 + 300, true, 200);
    give_tagged(0, IWARP_RDMAP_READ_RESPONSE, 102, 0x1000, true, 500);
    for (uint32_t i = 3; i <= 7; i++)
        give_tagged(0, IWARP_RDMAP_READ_RESPONSE, 100 + i, 0x1000, true, 500);
    give_tagged(0, IWARP_RDMAP_READ_RESPONSE, 9, 0, true, 0); /* nobody asked for that */
    talk_finish(talk);
    ck_assert_uint_eq(seen_count, 16);
    ck_assert_int_eq(seen[0].rdmap.header, FLOW_HEADER_READ_REQUEST);
    ck_assert_uint_eq(seen[0].rdmap.read_request.octets, 500);
    ck_assert_uint_eq(seen[6].half.request_count, 6);
    ck_assert(seen[7].has_request && seen[8].has_request);
    ck_assert_uint_eq(seen[7].request.read.sink_stag, 101);
    ck_assert_uint_eq(seen[7].request.answered, 0);
    ck_assert_uint_eq(seen[8].request.read.sink_stag, 101);
    ck_assert_uint_eq(seen[8].request.answered, 300);
    ck_assert_uint_eq(seen[9].request.read.sink_stag, 102);
    ck_assert_uint_eq(seen[9].other.request_count, 6);
    for (unsigned i = 3; i <= 7; i++)
        ck_assert_uint_eq(seen[7 + i].request.read.sink_stag, 100 + i);
    ck_assert(!seen[15].has_request);
    ck_assert_uint_eq(after[1].request_count, 0);
    ck_assert_uint_eq(after[1].requests_most, 7);
    ck_assert(!after[1].requests_lost);
}
END_TEST

/* A peer that asks without end: the list is bounded and says so. */
START_TEST(reads_without_end)
{
    for (uint32_t i = 1; i <= 200; i++)
        give_read(1, i, i, 500);
    ck_assert_uint_eq(seen_count, 64);
    for (uint32_t i = 201; i <= 250; i++)
        give_read(1, i, i, 500);
    talk_finish(talk);
    ck_assert_uint_eq(after[1].request_count, 250);
    ck_assert(!after[1].requests_lost);
}
END_TEST

START_TEST(atomics_and_immediate)
{
    uint8_t request[ATOMIC_REQUEST_OCTETS], response[ATOMIC_RESPONSE_OCTETS], data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct atomic_request expected_request = {
        .opcode = IWARP_ATOMIC_FETCH_ADD, .id = 11, .stag = 5, .to = 8, .data = 1};
    struct atomic_response answer = {.id = 12, .value = 42};

    atomic_request_pack(&expected_request, request);
    give_untagged(0, IWARP_RDMAP_ATOMIC_REQUEST, 1, 1, 0, true, request, sizeof(request));
    expected_request.id = 12;
    atomic_request_pack(&expected_request, request);
    give_untagged(0, IWARP_RDMAP_ATOMIC_REQUEST, 1, 2, 0, true, request, sizeof(request));
    atomic_response_pack(&answer, response);
    give_untagged(1, IWARP_RDMAP_ATOMIC_RESPONSE, 3, 1, 0, true, response, sizeof(response));
    give_untagged(0, IWARP_RDMAP_IMMEDIATE, 0, 1, 0, true, data, sizeof(data));
    give_untagged(0, IWARP_RDMAP_IMMEDIATE_SE, 0, 2, 0, true, data, 3); /* too short */
    talk_finish(talk);
    ck_assert_uint_eq(seen_count, 5);
    ck_assert_int_eq(seen[0].rdmap.header, FLOW_HEADER_ATOMIC_REQUEST);
    ck_assert_int_eq(seen[2].rdmap.header, FLOW_HEADER_ATOMIC_RESPONSE);
    ck_assert(seen[2].has_request);
    ck_assert_uint_eq(seen[2].request.atomic_id, 12);
    ck_assert_uint_eq(after[0].request_count, 1);
    ck_assert_int_eq(seen[3].rdmap.header, FLOW_HEADER_IMMEDIATE);
    ck_assert_uint_eq(seen[3].rdmap.immediate, UINT64_C(0x0102030405060708));
    ck_assert_int_eq(seen[4].rdmap.header, FLOW_HEADER_NONE);
    ck_assert_uint_eq(seen[4].rdmap.header_result, WIRE_MORE);
}
END_TEST

START_TEST(terminate_is_decoded_with_its_header)
{
    uint8_t offender[DDP_UNTAGGED_OCTETS] = {0x41, 0x43};
    struct terminate terminate = {.triple = TERM_DDP_INVALID_QN, .m = true, .d = true, .ddp_segment_length = 50};
    uint8_t payload[IWARP_TERMINATE_MAX];
    size_t octets;

    terminate.has_length = true;
    terminate.ddp_header = offender;
    terminate.ddp_header_octets = sizeof(offender);
    octets = terminate_pack(&terminate, payload, sizeof(payload));
    ck_assert_uint_gt(octets, 0);
    give_untagged(1, IWARP_RDMAP_TERMINATE, 2, 1, 0, true, payload, octets);
    talk_finish(talk);
    ck_assert_int_eq(seen[0].rdmap.header, FLOW_HEADER_TERMINATE);
    ck_assert_uint_eq(seen[0].rdmap.terminate.triple, TERM_DDP_INVALID_QN);
    ck_assert_uint_eq(seen[0].rdmap.terminate.ddp_header_octets, DDP_UNTAGGED_OCTETS);
    ck_assert(!seen[0].half.terminated && after[1].terminated && !after[0].terminated);
    ck_assert_uint_eq(after[1].terminate_triple, TERM_DDP_INVALID_QN);
}
END_TEST

/* Headers that contradict one another, and ULPDUs that are too short for one. */
START_TEST(contradicting_ddp_headers_are_reported)
{
    uint8_t octets[40] = {0};

    give_untagged(0, IWARP_RDMAP_WRITE, 0, 1, 0, true, NULL, 10); /* tagged opcode, untagged segment */
    give_untagged(0, IWARP_RDMAP_SEND, 5, 1, 0, true, NULL, 10);  /* a queue that does not exist */
    give_untagged(0, 0xC, 0, 2, 0, true, NULL, 10);               /* an opcode that does not */
    give_tagged(0, IWARP_RDMAP_SEND, 1, 0, true, 10);             /* the other way about */
    give_tagged(0, IWARP_RDMAP_READ_RESPONSE, 1, 0, true, 10);    /* unsolicited */
    ck_assert_uint_eq(seen_count, 5);
    for (unsigned i = 0; i < 4; i++)
        ck_assert_uint_eq(seen[i].rdmap.result, TERM_RDMAP_OPCODE);
    for (size_t length = 0; length < DDP_UNTAGGED_OCTETS; length++) {
        size_t from = talk->octets[0];

        octets[0] = 0x41;
        talk_ulpdu(talk, 0, octets, length);
        talk_segment(talk, 0, from, talk->octets[0]);
    }
    ck_assert_uint_eq(seen_count, 5);
    talk_finish(talk);
    ck_assert_uint_eq(after[0].fpdus, 5 + DDP_UNTAGGED_OCTETS);
}
END_TEST

Suite *flow_rdmap_suite(void)
{
    Suite *suite = suite_create("flow_rdmap");
    TCase *tests = tcase_create("rdmap");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, sends_are_followed_by_msn_and_mo);
    tcase_add_test(tests, writes_are_followed_by_offset);
    tcase_add_test(tests, responses_are_matched_with_their_reads);
    tcase_add_test(tests, reads_without_end);
    tcase_add_test(tests, atomics_and_immediate);
    tcase_add_test(tests, terminate_is_decoded_with_its_header);
    tcase_add_test(tests, contradicting_ddp_headers_are_reported);
    suite_add_tcase(suite, tests);
    return suite;
}
