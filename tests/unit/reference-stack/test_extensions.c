/* SPDX-License-Identifier: BSD-2-Clause */
/* Atomic Operations and Immediate Data between two streams, and the operations by themselves (RFC 7306). */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/core/atomic.h"
#include "tests/unit/stream_pair.h"
#include "tests/unit/suites.h"
#include "wire/ddp.h"
#include "wire/fpdu.h"
#include "wire/rdmap.h"
#include "wire/mpa.h"

Suite *extensions_suite(void);

enum { RESPONDER = 0, INITIATOR = 1, STAG = 0x00ABCD01, BASE = 0x1000, LENGTH = 64 };

#define ALL UINT64_MAX

/* --- The operations ----------------------------------------------------------------------------------------------- */

static const struct {
    unsigned operation;
    uint64_t original, data, mask, compare, compare_mask, after;
} vectors[] = {
    {IWARP_ATOMIC_FETCH_ADD, 0x00000000FFFFFFFF, 1, 0, 0, ALL, 0x0000000100000000},
    {IWARP_ATOMIC_FETCH_ADD, 0x00000000FFFFFFFF, 1, 0x8000000080000000, 0, ALL, 0},
    {IWARP_ATOMIC_FETCH_ADD, 0x0F, 1, ALL, 0, ALL, 0x0E},
    {IWARP_ATOMIC_FETCH_ADD, 0xFF00FF00FF00FF00, 0x0101010101010101, 0x8080808080808080, 0, ALL, 0x0001000100010001},
    {IWARP_ATOMIC_FETCH_ADD, ALL, 1, 0, 0, ALL, 0},
    {IWARP_ATOMIC_FETCH_ADD, 0x00FFFFFFFFFFFFFF, 1, 0, 0, ALL, 0x0100000000000000},
    {IWARP_ATOMIC_FETCH_ADD, 41, 0, 0, 0, ALL, 41},
    {IWARP_ATOMIC_FETCH_ADD, 5, 1, 0, 0xA5A5, 0, 6},
    {IWARP_ATOMIC_SWAP, 1, 0x0102030405060708, ALL, 0, ALL, 0x0102030405060708},
    {IWARP_ATOMIC_SWAP, 1, 0x0102030405060708, 0, 7, 0, 0x0102030405060708},
    {IWARP_ATOMIC_COMPARE_SWAP, 0x1111222233334444, 0xAAAABBBBCCCCDDDD, 0xFFFF0000FFFF0000, 0, 0, 0xAAAA2222CCCC4444},
    {IWARP_ATOMIC_COMPARE_SWAP, 0x1111222233334444, 5, ALL, 0x9999999933334444, 0x00000000FFFFFFFF, 5},
    {IWARP_ATOMIC_COMPARE_SWAP, 0x1111222233334444, 5, ALL, 0x1111222233334445, ALL, 0x1111222233334444},
    {IWARP_ATOMIC_COMPARE_SWAP, 0x1111222233334444, 5, ALL, 0x1111222233334444, ALL, 5},
    {3, 7, 5, ALL, 7, ALL, 7},
};

static struct atomic_request vector_request(size_t i)
{
    return (struct atomic_request){.opcode = (uint8_t)vectors[i].operation,
                                   .data = vectors[i].data,
                                   .mask = vectors[i].mask,
                                   .compare_data = vectors[i].compare,
                                   .compare_mask = vectors[i].compare_mask};
}

START_TEST(atomic_result_follows_the_vectors)
{
    struct atomic_request request = vector_request((size_t)_i);

    ck_assert_uint_eq(atomic_result(&request, vectors[_i].original), vectors[_i].after);
}
END_TEST

/* RFC 7306 5.1.1 as it is written: bit by bit, and no carry out of a bit that the mask has. */
static uint64_t rippled(uint64_t original, uint64_t addend, uint64_t mask)
{
    uint64_t sum = 0;
    unsigned carry = 0;

    for (unsigned bit = 0; bit < 64; bit++) {
        unsigned value = carry + (unsigned)(original >> bit & 1) + (unsigned)(addend >> bit & 1);

        sum |= (uint64_t)(value & 1) << bit;
        carry = (mask >> bit & 1) != 0 ? 0 : value >> 1;
    }
    return sum;
}

START_TEST(add_as_ripple)
{
    uint64_t seed = 88172645463325252U;
    uint64_t values[3];

    for (int round = 0; round < 20000; round++) {
        for (size_t i = 0; i < 3; i++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            values[i] = seed;
        }
        if (round % 3 == 0)
            values[2] &= seed >> 1 & seed << 3; /* few fields */
        ck_assert_uint_eq(atomic_result(&(struct atomic_request){.data = values[1], .mask = values[2]}, values[0]),
                          rippled(values[0], values[1], values[2]));
    }
}
END_TEST

enum { ROUNDS = 20000 };

static void *add_many(void *target)
{
    struct atomic_request add = {.opcode = IWARP_ATOMIC_FETCH_ADD, .data = 1};
    struct atomic_request swap = {.opcode = IWARP_ATOMIC_COMPARE_SWAP, .mask = ALL, .compare_mask = ALL};

    for (int i = 0; i < ROUNDS; i++) {
        uint64_t held = atomic_execute(&add, target) + 1;

        /* One more, by CmpSwap, repeated until it succeeds. */
        do {
            swap.compare_data = held;
            swap.data = held + 1;
            held = atomic_execute(&swap, target);
        } while (held != swap.compare_data);
    }
    return NULL;
}

START_TEST(atomics_of_two_threads_add_up)
{
    uint64_t target = 0;
    pthread_t other;

    ck_assert_int_eq(pthread_create(&other, NULL, add_many, &target), 0);
    (void)add_many(&target);
    ck_assert_int_eq(pthread_join(other, NULL), 0);
    ck_assert_uint_eq(target, 4 * ROUNDS);
}
END_TEST

/* --- Between two streams ------------------------------------------------------------------------------------------ */

static uint8_t *memory(const struct pair *pair)
{
    return iwarp_region_find(pair->side[RESPONDER].device, STAG)->octets;
}

static uint64_t word(const struct pair *pair, size_t offset)
{
    uint64_t value;

    memcpy(&value, memory(pair) + offset, sizeof(value));
    return value;
}

static void set_word(const struct pair *pair, size_t offset, uint64_t value)
{
    memcpy(memory(pair) + offset, &value, sizeof(value));
}

static void open_with(struct pair *pair, enum iwarp_extensions initiator, enum iwarp_extensions responder)
{
    struct iwarp_region region = {
        .stag = STAG, .base = BASE, .length = LENGTH, .access = IWARP_REMOTE_READ | IWARP_REMOTE_ATOMIC};

    pair->side[INITIATOR].config.extensions = initiator;
    pair->side[RESPONDER].config.extensions = responder;
    pair_open(pair);
    ck_assert_int_eq(iwarp_region_register(pair->side[RESPONDER].device, &region, NULL), 0);
    pair_run(pair);
}

static struct pair *open_pair(enum iwarp_extensions extensions)
{
    struct pair *pair = pair_new();

    open_with(pair, extensions, extensions);
    return pair;
}

static int post(struct pair *pair, uint64_t id, enum iwarp_atomic_opcode operation, uint64_t to, uint64_t data)
{
    struct iwarp_atomic atomic = {.id = id, .operation = operation, .stag = STAG, .to = to, .data = data};

    return iwarp_stream_post_atomic(pair->side[INITIATOR].stream, &atomic, NULL);
}

START_TEST(vectors_on_the_wire)
{
    struct pair *pair = open_pair(IWARP_EXTENSIONS_DRAFT03);
    struct iwarp_atomic atomic = {
        .id = 77,
        .operation = (enum iwarp_atomic_opcode)vectors[_i].operation,
        .stag = STAG,
        .to = BASE + 16,
        .data = vectors[_i].data,
        .mask = vectors[_i].mask,
        .compare = vectors[_i].compare,
        .compare_mask = vectors[_i].compare_mask,
    };
    const struct iwarp_event *done;

    if (vectors[_i].operation == 3) {
        ck_assert_int_eq(iwarp_stream_post_atomic(pair->side[INITIATOR].stream, &atomic, NULL), -1);
        pair_free(pair);
        return;
    }
    memset(memory(pair), 0x5A, LENGTH);
    set_word(pair, 16, vectors[_i].original);
    ck_assert_int_eq(iwarp_stream_post_atomic(pair->side[INITIATOR].stream, &atomic, NULL), 0);
    pair_run(pair);
    done = pair_event(pair, INITIATOR, IWARP_EVENT_ATOMIC_DONE, 0);
    ck_assert_ptr_nonnull(done);
    ck_assert_uint_eq(done->id, 77);
    ck_assert_uint_eq(done->value, vectors[_i].original);
    ck_assert_uint_eq(word(pair, 16), vectors[_i].after);
    ck_assert_uint_eq(word(pair, 8), 0x5A5A5A5A5A5A5A5A);
    ck_assert_uint_eq(word(pair, 24), 0x5A5A5A5A5A5A5A5A);
    pair_free(pair);
}
END_TEST

/* The n-th FPDU that a side sent after its start-up frame of 20 octets (the word included: 24). */
static struct ddp_segment segment_at(const struct pair *pair, int side, size_t n)
{
    struct fpdu_framing framing = {false, true, 0};
    const uint8_t *p = pair->side[side].sent + MPA_START_OCTETS + MPA_ENHANCED_OCTETS;
    const uint8_t *end = pair->side[side].sent + pair->side[side].sent_count;
    struct ddp_segment segment;
    struct fpdu fpdu;

    do {
        ck_assert_int_eq(fpdu_parse(&p, end, &framing, NULL, &fpdu), WIRE_OK);
    } while (n-- != 0);
    p = fpdu.ulpdu;
    ck_assert_int_eq(ddp_parse(&p, fpdu.ulpdu + fpdu.ulpdu_length, &segment), WIRE_OK);
    return segment;
}

/* Every octet of the four messages, against RFC 7306 Figures 4 to 6 by hand. */
START_TEST(atomic_messages_match_the_figures)
{
    static const uint8_t request[] = {0x41, 0x4A, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0};
    static const uint8_t response[] = {0x41, 0x4B, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0};
    static const uint8_t immediate[] = {0x41, 0x49, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0};
    static const uint8_t header[] = {0, 0, 0, 0, 0, 0, 0, 1, 0x00, 0xAB, 0xCD, 0x01, 0, 0, 0, 0, 0, 0, 0x10, 0x08};
    struct pair *pair = open_pair(IWARP_EXTENSIONS_RFC7306);
    struct iwarp_immediate data = {.octets = {1, 2, 3, 4, 5, 6, 7, 8}, .solicited = true};
    uint8_t buffer[8];
    struct ddp_segment segment;

    set_word(pair, 8, 0x0102030405060708);
    ck_assert_int_eq(iwarp_stream_post_receive(pair->side[RESPONDER].stream, 1, buffer, sizeof(buffer), NULL), 0);
    ck_assert_int_eq(post(pair, 1, IWARP_ATOMIC_FETCH_ADD, BASE + 8, 0x1122334455667788), 0);
    ck_assert_int_eq(iwarp_stream_post_immediate(pair->side[INITIATOR].stream, &data, NULL), 0);
    pair_run(pair);

    segment = segment_at(pair, INITIATOR, 0);
    ck_assert_mem_eq(segment.header, request, sizeof(request));
    ck_assert_uint_eq(segment.payload_octets, 52);
    ck_assert_mem_eq(segment.payload, header, sizeof(header));
    ck_assert_uint_eq(octets_get64(segment.payload + 20), 0x1122334455667788);
    ck_assert_uint_eq(octets_get64(segment.payload + 28), 0);
    ck_assert_uint_eq(octets_get64(segment.payload + 36), 0);
    ck_assert_uint_eq(octets_get64(segment.payload + 44), ALL);

    segment = segment_at(pair, INITIATOR, 1);
    ck_assert_mem_eq(segment.header, immediate, sizeof(immediate));
    ck_assert_uint_eq(segment.payload_octets, 8);
    ck_assert_mem_eq(segment.payload, data.octets, 8);

    segment = segment_at(pair, RESPONDER, 0);
    ck_assert_mem_eq(segment.header, response, sizeof(response));
    ck_assert_uint_eq(segment.payload_octets, 12);
    ck_assert_uint_eq(octets_get32(segment.payload), 1);
    ck_assert_uint_eq(octets_get64(segment.payload + 4), 0x0102030405060708);
    pair_free(pair);
}
END_TEST

/* Reads and atomics share ORD; all of them are answered in order, and complete in order with what is after them. */
START_TEST(reads_and_atomics_complete_in_order)
{
    struct pair *pair = pair_new();
    struct iwarp_region sink = {.stag = 9, .length = LENGTH, .access = IWARP_LOCAL_WRITE};
    uint64_t value = 0;
    size_t done = 0;

    pair->portion = (size_t)_i;
    pair->side[INITIATOR].config.ord = 3;
    open_with(pair, IWARP_EXTENSIONS_RFC7306, IWARP_EXTENSIONS_RFC7306);
    ck_assert_int_eq(iwarp_region_register(pair->side[INITIATOR].device, &sink, NULL), 0);
    for (uint64_t i = 0; i < 20; i++) {
        struct iwarp_read read = {.id = i, .sink_stag = 9, .source_stag = STAG, .source_to = BASE, .count = 8};

        if (i % 4 == 3)
            ck_assert_int_eq(iwarp_stream_post_read(pair->side[INITIATOR].stream, &read, NULL), 0);
        else
            ck_assert_int_eq(post(pair, i, IWARP_ATOMIC_FETCH_ADD, BASE, 1), 0);
    }
    pair_run(pair);
    ck_assert_uint_eq(word(pair, 0), 15);
    for (size_t i = 0; i < pair->side[INITIATOR].event_count; i++) {
        const struct iwarp_event *event = &pair->side[INITIATOR].events[i];

        if (event->kind == IWARP_EVENT_ATOMIC_DONE || event->kind == IWARP_EVENT_READ_DONE)
            ck_assert_uint_eq(event->id, done++);
        if (event->kind == IWARP_EVENT_ATOMIC_DONE)
            ck_assert_uint_eq(event->value, value++);
    }
    ck_assert_uint_eq(done, 20);
    ck_assert_uint_eq(iwarp_stream_counters(pair->side[INITIATOR].stream)->reads_outstanding_max, 3);
    ck_assert_uint_eq(iwarp_stream_counters(pair->side[INITIATOR].stream)->reads_outstanding, 0);
    ck_assert_uint_le(iwarp_stream_counters(pair->side[RESPONDER].stream)->requests_queued_max, 3);
    ck_assert_uint_eq(iwarp_stream_counters(pair->side[RESPONDER].stream)->atomics_executed, 15);
    pair_free(pair);
}
END_TEST

START_TEST(immediates_in_order)
{
    struct pair *pair = open_pair(IWARP_EXTENSIONS_RFC7306);
    uint8_t buffers[12][8];

    for (uint64_t i = 0; i < 12; i++) {
        struct iwarp_immediate immediate = {.id = i, .octets = {0, 0, 0, 0, 0, 0, 0, (uint8_t)i}, .solicited = i % 2};
        struct iwarp_send send = {.id = i, .octets = (const uint8_t *)"send", .count = 4};

        ck_assert_int_eq(iwarp_stream_post_receive(pair->side[RESPONDER].stream, i, buffers[i], 8, NULL), 0);
        if (i % 3 == 2)
            ck_assert_int_eq(iwarp_stream_post_send(pair->side[INITIATOR].stream, &send, NULL), 0);
        else
            ck_assert_int_eq(iwarp_stream_post_immediate(pair->side[INITIATOR].stream, &immediate, NULL), 0);
    }
    pair_run(pair);
    for (uint64_t i = 0; i < 12; i++) {
        const struct iwarp_event *event = pair_event(pair, RESPONDER, IWARP_EVENT_RECEIVE, i);

        ck_assert_ptr_nonnull(event);
        ck_assert_uint_eq(event->id, i);
        ck_assert_uint_eq(event->octets, i % 3 == 2 ? 4 : 8);
        ck_assert_uint_eq(event->opcode, i % 3 == 2 ? IWARP_RDMAP_SEND
                                         : i % 2    ? IWARP_RDMAP_IMMEDIATE_SE
                                                    : IWARP_RDMAP_IMMEDIATE);
        ck_assert_int_eq(event->solicited, i % 3 != 2 && i % 2);
        if (i % 3 != 2)
            ck_assert_uint_eq(buffers[i][7], i);
    }
    ck_assert_uint_eq(pair_count(pair, INITIATOR, IWARP_EVENT_IMMEDIATE_DONE), 8);
    pair_free(pair);
}
END_TEST

START_TEST(extensions_are_flushed_by_a_reset)
{
    struct pair *pair = open_pair(IWARP_EXTENSIONS_RFC7306);
    struct iwarp_immediate immediate = {.id = 5};
    const struct iwarp_event *event;

    pair->side[INITIATOR].sent_count = pair->side[INITIATOR].delivered;
    ck_assert_int_eq(post(pair, 4, IWARP_ATOMIC_FETCH_ADD, BASE, 1), 0);
    ck_assert_int_eq(iwarp_stream_post_immediate(pair->side[INITIATOR].stream, &immediate, NULL), 0);
    iwarp_stream_input_reset(pair->side[INITIATOR].stream, 1000);
    pair_gather(pair, INITIATOR);
    event = pair_event(pair, INITIATOR, IWARP_EVENT_FLUSHED, 0);
    ck_assert_uint_eq(event->id, 4);
    ck_assert_int_eq(event->flushed, IWARP_WORK_ATOMIC);
    event = pair_event(pair, INITIATOR, IWARP_EVENT_FLUSHED, 1);
    ck_assert_uint_eq(event->id, 5);
    ck_assert_int_eq(event->flushed, IWARP_WORK_IMMEDIATE);
    pair_free(pair);
}
END_TEST

/* --- Profiles ----------------------------------------------------------------------------------------------------- */

START_TEST(what_verbs_refuse)
{
    struct pair *off = open_pair(IWARP_EXTENSIONS_OFF);
    struct pair *rfc = open_pair(IWARP_EXTENSIONS_RFC7306);
    struct iwarp_immediate immediate = {.id = 5};

    ck_assert_int_eq(post(off, 1, IWARP_ATOMIC_FETCH_ADD, BASE, 1), -1);
    ck_assert_int_eq(iwarp_stream_post_immediate(off->side[INITIATOR].stream, &immediate, NULL), -1);
    ck_assert_int_eq(post(rfc, 1, IWARP_ATOMIC_SWAP, BASE, 1), -1);
    pair_free(off);
    pair_free(rfc);
}
END_TEST

static const struct {
    enum iwarp_extensions initiator, responder;
    bool immediate;
    enum iwarp_atomic_opcode operation;
    wire_result triple;
} refusals[] = {
    {IWARP_EXTENSIONS_DRAFT03, IWARP_EXTENSIONS_RFC7306, false, IWARP_ATOMIC_SWAP, TERM_RDMAP_OPCODE},
    {IWARP_EXTENSIONS_RFC7306, IWARP_EXTENSIONS_OFF, true, IWARP_ATOMIC_FETCH_ADD, TERM_RDMAP_OPCODE},
    {IWARP_EXTENSIONS_RFC7306, IWARP_EXTENSIONS_OFF, false, IWARP_ATOMIC_FETCH_ADD, TERM_DDP_TOO_LONG},
};

START_TEST(what_the_peer_refuses)
{
    struct pair *pair = pair_new();
    struct iwarp_immediate immediate = {.id = 5};
    const struct iwarp_event *event;
    uint8_t buffer[8];

    open_with(pair, refusals[_i].initiator, refusals[_i].responder);
    set_word(pair, 0, 41);
    ck_assert_int_eq(iwarp_stream_post_receive(pair->side[RESPONDER].stream, 1, buffer, sizeof(buffer), NULL), 0);
    if (refusals[_i].immediate)
        ck_assert_int_eq(iwarp_stream_post_immediate(pair->side[INITIATOR].stream, &immediate, NULL), 0);
    else
        ck_assert_int_eq(post(pair, 1, refusals[_i].operation, BASE, 1), 0);
    pair_run(pair);
    event = pair_event(pair, INITIATOR, IWARP_EVENT_TERMINATE_RECEIVED, 0);
    ck_assert_ptr_nonnull(event);
    ck_assert_uint_eq(event->triple, refusals[_i].triple);
    ck_assert_uint_eq(pair_count(pair, RESPONDER, IWARP_EVENT_RECEIVE), 0);
    ck_assert_uint_eq(word(pair, 0), 41);
    pair_free(pair);
}
END_TEST

/* A response that nobody asked for finds no buffer on QN 3; without the extensions there is no QN 3. */
START_TEST(unrequested_atomic_response_is_refused)
{
    struct ddp_segment segment = {
        .last = true, .version = 1, .control = rdmap_control(IWARP_RDMAP_ATOMIC_RESPONSE), .qn = 3, .msn = 1};
    struct pair *pair = open_pair(_i == 0 ? IWARP_EXTENSIONS_OFF : IWARP_EXTENSIONS_RFC7306);
    uint8_t octets[DDP_UNTAGGED_OCTETS + ATOMIC_RESPONSE_OCTETS] = {0};

    (void)ddp_pack_header(&segment, octets);
    pair_feed_ulpdu(pair, INITIATOR, octets, sizeof(octets));
    ck_assert_uint_eq(pair_event(pair, INITIATOR, IWARP_EVENT_ERROR, 0)->triple,
                      _i == 0 ? TERM_DDP_INVALID_QN : TERM_DDP_NO_BUFFER);
    pair_free(pair);
}
END_TEST

/* The target goes away while its atomic waits after a Read Response: it is not executed. */
START_TEST(atomic_of_an_invalidated_target_is_not_executed)
{
    struct pair *pair = open_pair(IWARP_EXTENSIONS_RFC7306);
    struct ddp_segment segment = {
        .last = true, .version = 1, .control = rdmap_control(IWARP_RDMAP_ATOMIC_REQUEST), .qn = 1, .msn = 1};
    struct atomic_request request = {.id = 3, .stag = STAG, .to = BASE, .data = 1};
    struct fpdu_framing framing = {false, true, 0};
    uint8_t ulpdu[DDP_UNTAGGED_OCTETS + ATOMIC_REQUEST_OCTETS];
    uint8_t octets[128];
    size_t count;

    (void)ddp_pack_header(&segment, ulpdu);
    atomic_request_pack(&request, ulpdu + DDP_UNTAGGED_OCTETS);
    count = fpdu_pack(ulpdu, sizeof(ulpdu), &framing, octets, sizeof(octets));
    iwarp_stream_input(pair->side[RESPONDER].stream, octets, count, 1000);
    ck_assert_int_eq(iwarp_region_invalidate(pair->side[RESPONDER].device, STAG, NULL), 0);
    pair_gather(pair, RESPONDER);
    ck_assert_uint_eq(word(pair, 0), 0);
    ck_assert_uint_eq(pair_event(pair, RESPONDER, IWARP_EVENT_TERMINATE_SENT, 0)->triple, TERM_RDMAP_INVALID_STAG);
    ck_assert_uint_eq(pair_event(pair, RESPONDER, IWARP_EVENT_TERMINATE_SENT, 0)->header_octets,
                      TERMINATE_OCTETS + TERMINATE_LENGTH_OCTETS + DDP_UNTAGGED_OCTETS);
    pair_free(pair);
}
END_TEST

Suite *extensions_suite(void)
{
    Suite *suite = suite_create("extensions");
    TCase *operations = tcase_create("operations");
    TCase *streams = tcase_create("streams");
    TCase *profiles = tcase_create("profiles");
    int count = sizeof(vectors) / sizeof(vectors[0]);

    tcase_add_loop_test(operations, atomic_result_follows_the_vectors, 0, count);
    tcase_add_test(operations, add_as_ripple);
    tcase_add_test(operations, atomics_of_two_threads_add_up);
    suite_add_tcase(suite, operations);
    tcase_add_loop_test(streams, vectors_on_the_wire, 0, count);
    tcase_add_test(streams, atomic_messages_match_the_figures);
    tcase_add_loop_test(streams, reads_and_atomics_complete_in_order, 0, 4);
    tcase_add_test(streams, immediates_in_order);
    tcase_add_test(streams, extensions_are_flushed_by_a_reset);
    tcase_add_test(streams, atomic_of_an_invalidated_target_is_not_executed);
    suite_add_tcase(suite, streams);
    tcase_add_test(profiles, what_verbs_refuse);
    tcase_add_loop_test(profiles, what_the_peer_refuses, 0, (int)(sizeof(refusals) / sizeof(refusals[0])));
    tcase_add_loop_test(profiles, unrequested_atomic_response_is_refused, 0, 2);
    suite_add_tcase(suite, profiles);
    return suite;
}
