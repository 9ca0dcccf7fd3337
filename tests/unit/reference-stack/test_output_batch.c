/* SPDX-License-Identifier: BSD-2-Clause */
/* What goes to TCP together: never an FPDU in two segments, no more FPDUs for it, and no copy of what is long. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/transport/output_batch.h"
#include "tests/unit/guard.h"
#include "tests/unit/stream_pair.h"
#include "tests/unit/suites.h"
#include "wire/ddp.h"
#include "wire/fpdu.h"

Suite *output_batch_suite(void);

enum { CALLS_MAX = 4096, MESSAGES_MAX = 64, LONGEST = 200000 };

static struct output_batch output_batch;

/* What TCP is given. */
static struct sink {
    struct iwarp_span calls[CALLS_MAX]; /* in `octets` */
    size_t call_count;
    uint8_t *octets;
    size_t count, size;
    size_t room;        /* announced to the outlet */
    size_t room_a_call; /* of it, what each call takes; 0: all calls have the same */
    const uint8_t *ulp; /* memory of the ULP */
    size_t ulp_octets;
    size_t ulp_spans; /* given as they lie there */
    size_t short_spans;
} sink;

static void sink_send(void *transport, const struct iwarp_span *spans, size_t count)
{
    size_t began = sink.count;

    ck_assert_ptr_eq(transport, &sink);
    ck_assert_uint_le(count, OUTPUT_BATCH_SPANS);
    ck_assert_uint_ne(count, 0);
    ck_assert_uint_lt(sink.call_count, CALLS_MAX);
    for (size_t i = 0; i < count; i++) {
        bool inside = sink.ulp != NULL && spans[i].octets >= sink.ulp && spans[i].octets < sink.ulp + sink.ulp_octets;

        ck_assert_uint_le(sink.count + spans[i].count, sink.size);
        memcpy(sink.octets + sink.count, spans[i].octets, spans[i].count);
        sink.count += spans[i].count;
        sink.ulp_spans += inside;
        sink.short_spans += inside && spans[i].count <= OUTPUT_BATCH_BORROWED;
    }
    sink.calls[sink.call_count++] = (struct iwarp_span){sink.octets + began, sink.count - began};
    if (sink.room_a_call != 0)
        sink.room = sink.room > sink.room_a_call ? sink.room - sink.room_a_call : 0;
}

static size_t sink_room(void *transport)
{
    ck_assert_ptr_eq(transport, &sink);
    return sink.room;
}

static void sink_open(size_t size)
{
    memset(&sink, 0, sizeof(sink));
    sink.octets = malloc(size);
    ck_assert_ptr_nonnull(sink.octets);
    sink.size = size;
    sink.room = SIZE_MAX;
    memset(&output_batch, 0, sizeof(output_batch));
    output_batch.send = sink_send;
    output_batch.room = sink_room;
}

/* In full operation, with that EMSS. */
static struct pair *pair_with(size_t emss, bool markers, uint8_t *buffers, size_t buffer_octets, size_t receives)
{
    struct pair *pair = pair_new();

    pair->side[0].config.markers = markers;
    pair->side[1].config.emss = emss;
    pair_open(pair);
    pair_run(pair);
    ck_assert_uint_eq(pair_count(pair, 1, IWARP_EVENT_ESTABLISHED), 1);
    for (size_t i = 0; i < receives; i++)
        ck_assert_int_eq(
            iwarp_stream_post_receive(pair->side[0].stream, i, buffers + i * buffer_octets, buffer_octets, NULL), 0);
    return pair;
}

static void post(struct pair *pair, const uint8_t *octets, size_t count)
{
    struct iwarp_send send = {.octets = octets, .count = count};

    ck_assert_int_eq(iwarp_stream_post_send(pair->side[1].stream, &send, NULL), 0);
}

/*
 * Every call begins with an FPDU and ends with one, and so does each segment that TCP cuts off it. Returns the FPDUs.
 */
static size_t segments_hold(size_t emss, bool markers, uint32_t position)
{
    size_t fpdus = 0;

    for (size_t i = 0; i < sink.call_count; i++) {
        const struct iwarp_span *call = &sink.calls[i];
        size_t at = 0;

        for (size_t octets; at < call->count; at += octets, position += (uint32_t)octets, fpdus++) {
            struct fpdu_framing framing = {markers, true, position};
            static uint8_t scratch[FPDU_SCRATCH_OCTETS];
            const uint8_t *p = call->octets + at;
            struct fpdu fpdu;

            ck_assert_int_eq(fpdu_parse(&p, call->octets + call->count, &framing, scratch, &fpdu), WIRE_OK);
            octets = fpdu.octets;
            ck_assert_msg(at / emss == (at + octets - 1) / emss, "EMSS %zu: an FPDU from %zu to %zu", emss, at,
                          at + octets);
        }
    }
    return fpdus;
}

static size_t fpdus_alone(const struct pair *pair, size_t octets)
{
    size_t room = iwarp_stream_mulpdu(pair->side[1].stream) - DDP_UNTAGGED_OCTETS;

    return octets == 0 ? 1 : (octets + room - 1) / room;
}

static const struct {
    size_t emss;
    bool markers;
} paths[] = {{536, false}, {1460, false}, {1460, true}, {8960, false}, {32741, false}, {65483, false}, {65483, true}};

/* Messages of any length, posted together. */
START_TEST(batch_carries_messages_of_any_length)
{
    static const size_t lengths[] = {0, 1, 24, 100, 1000, 1437, 1438, 2048, 2049, 4096, 16384, 33000, 65536, LONGEST};
    size_t count = sizeof(lengths) / sizeof(lengths[0]);
    uint64_t state = (uint64_t)_i + 1;
    size_t emss = paths[(size_t)_i % (sizeof(paths) / sizeof(paths[0]))].emss;
    bool markers = paths[(size_t)_i % (sizeof(paths) / sizeof(paths[0]))].markers;
    uint8_t *payload = malloc(LONGEST), *buffers = malloc((size_t)MESSAGES_MAX * LONGEST);
    struct pair *pair = pair_with(emss, markers, buffers, LONGEST, MESSAGES_MAX);
    size_t sent[MESSAGES_MAX], expected = 0, drained = 0;

    noise_fill(&state, payload, LONGEST);
    sink_open((size_t)MESSAGES_MAX * LONGEST * 2);
    sink.ulp = payload;
    sink.ulp_octets = LONGEST;
    for (size_t i = 0; i < MESSAGES_MAX; i++) {
        sent[i] = lengths[noise(&state) % count];
        expected += fpdus_alone(pair, sent[i]);
        post(pair, payload, sent[i]);
    }
    drained = output_batch_drain(&output_batch, &sink, pair->side[1].stream, emss, pair->now);
    ck_assert_uint_eq(drained, sink.count);
    ck_assert_uint_eq(output_batch.octets, 0);
    ck_assert_uint_eq(segments_hold(emss, markers, 0), expected);
    ck_assert_uint_eq(sink.short_spans, 0);
    pair_feed(pair, 0, sink.octets, sink.count);
    for (size_t i = 0; i < MESSAGES_MAX; i++) {
        const struct iwarp_event *event = pair_event(pair, 0, IWARP_EVENT_RECEIVE, i);

        ck_assert_ptr_nonnull(event);
        ck_assert_uint_eq(event->octets, sent[i]);
        ck_assert_mem_eq(event->buffer, payload, sent[i]);
    }
    free(sink.octets);
    pair_free(pair);
    free(payload);
    free(buffers);
}
END_TEST

/*
 * 64 KiB are a little more than one FPDU of the loopback device: what is left over goes with the next (RFC 5044 4.5).
 */
START_TEST(segments_are_filled)
{
    enum { EMSS = 65483, OCTETS = 65536, COUNT = 20 };
    uint8_t *payload = malloc(OCTETS), *buffers = malloc((size_t)COUNT * OCTETS);
    struct pair *pair = pair_with(EMSS, false, buffers, OCTETS, COUNT);

    memset(payload, 7, OCTETS);
    sink_open((size_t)COUNT * OCTETS * 2);
    sink.ulp = payload;
    sink.ulp_octets = OCTETS;
    for (size_t i = 0; i < COUNT; i++)
        post(pair, payload, OCTETS);
    (void)output_batch_drain(&output_batch, &sink, pair->side[1].stream, EMSS, pair->now);
    ck_assert_uint_eq(segments_hold(EMSS, false, 0), 2 * COUNT);
    ck_assert_uint_le(sink.call_count, COUNT + 1);
    for (size_t i = 1; i + 1 < sink.call_count; i++)
        ck_assert_uint_ge(sink.calls[i].count, EMSS - EMSS % 4 - FPDU_PAD_MAX);
    ck_assert_uint_ge(sink.ulp_spans, COUNT);
    free(sink.octets);
    pair_free(pair);
    free(payload);
    free(buffers);
}
END_TEST

/* Those that go together are gathered from where they lie, if they are long. */
START_TEST(long_payload_is_not_copied)
{
    enum { EMSS = 65483, OCTETS = 4096, COUNT = 10 };
    static uint8_t payload[OCTETS];
    uint8_t *buffers = malloc((size_t)COUNT * OCTETS);
    struct pair *pair = pair_with(EMSS, false, buffers, OCTETS, COUNT);

    sink_open((size_t)COUNT * OCTETS * 2);
    sink.ulp = payload;
    sink.ulp_octets = OCTETS;
    for (size_t i = 0; i < COUNT; i++)
        post(pair, payload, OCTETS);
    (void)output_batch_drain(&output_batch, &sink, pair->side[1].stream, EMSS, pair->now);
    ck_assert_uint_eq(sink.call_count, 1);
    ck_assert_uint_eq(sink.ulp_spans, COUNT);
    free(sink.octets);
    pair_free(pair);
    free(buffers);
}
END_TEST

/* The room that is left takes no FPDU of 128 octets: the next one has the MULPDU of a whole segment (RFC 5044 4.5). */
START_TEST(no_mulpdu_below_128)
{
    enum { EMSS = 1460, FIRST = 1310, SECOND = 3 * 1436 + 50 };
    static uint8_t payload[SECOND];
    uint8_t *buffers = malloc((size_t)2 * SECOND);
    struct pair *pair = pair_with(EMSS, false, buffers, SECOND, 2);
    const uint8_t *p;
    struct fpdu_framing framing = {false, true, 0};
    struct fpdu fpdu;

    sink_open(65536);
    post(pair, payload, FIRST);
    post(pair, payload, SECOND);
    (void)output_batch_drain(&output_batch, &sink, pair->side[1].stream, EMSS, pair->now);
    ck_assert_uint_eq(segments_hold(EMSS, false, 0), 1 + fpdus_alone(pair, SECOND));
    p = sink.calls[0].octets;
    ck_assert_int_eq(fpdu_parse(&p, sink.octets + sink.count, &framing, NULL, &fpdu), WIRE_OK);
    ck_assert_uint_eq(fpdu.ulpdu_length, DDP_UNTAGGED_OCTETS + FIRST);
    ck_assert_int_eq(fpdu_parse(&p, sink.octets + sink.count, &framing, NULL, &fpdu), WIRE_OK);
    ck_assert_uint_eq(fpdu.ulpdu_length, iwarp_stream_mulpdu(pair->side[1].stream));
    free(sink.octets);
    pair_free(pair);
    free(buffers);
}
END_TEST

/* Without room nothing is asked for; what is drained later begins a segment again. */
START_TEST(batch_without_room_asks_for_nothing)
{
    enum { EMSS = 1460, OCTETS = 3000, COUNT = 32 };
    static uint8_t payload[OCTETS];
    uint8_t *buffers = malloc((size_t)COUNT * OCTETS);
    struct pair *pair = pair_with(EMSS, false, buffers, OCTETS, COUNT);
    size_t rounds = 0, drained = 0;

    sink_open((size_t)COUNT * OCTETS * 2);
    for (size_t i = 0; i < COUNT; i++)
        post(pair, payload, OCTETS);
    sink.room = 0;
    ck_assert_uint_eq(output_batch_drain(&output_batch, &sink, pair->side[1].stream, EMSS, pair->now), 0);
    ck_assert_uint_eq(sink.call_count, 0);
    sink.room_a_call = SIZE_MAX; /* each call takes all */
    for (; rounds < 1000; rounds++) {
        size_t octets;

        sink.room = 5000;
        octets = output_batch_drain(&output_batch, &sink, pair->side[1].stream, EMSS, pair->now);
        if (octets == 0)
            break;
        ck_assert_uint_lt(octets, 5000 + EMSS);
        drained += octets;
    }
    ck_assert_uint_eq(drained, sink.count);
    ck_assert_uint_eq(segments_hold(EMSS, false, 0), COUNT * fpdus_alone(pair, OCTETS));
    ck_assert_uint_gt(rounds, COUNT * OCTETS / (5000 + EMSS));
    pair_feed(pair, 0, sink.octets, sink.count);
    ck_assert_uint_eq(pair_count(pair, 0, IWARP_EVENT_RECEIVE), COUNT);
    free(sink.octets);
    pair_free(pair);
    free(buffers);
}
END_TEST

/* A start-up frame goes alone, and asks for no copy. */
START_TEST(start_frame_goes_alone)
{
    struct pair *pair = pair_new();

    sink_open(4096);
    pair_open(pair);
    (void)output_batch_drain(&output_batch, &sink, pair->side[1].stream, 1460, pair->now);
    ck_assert_uint_eq(sink.call_count, 1);
    ck_assert_mem_eq(sink.octets, "MPA ID Req Frame", 16);
    free(sink.octets);
    pair_free(pair);
}
END_TEST

Suite *output_batch_suite(void)
{
    Suite *suite = suite_create("output_batch");
    TCase *tcase = tcase_create("output_batch");

    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, batch_carries_messages_of_any_length, 0, 28);
    tcase_add_test(tcase, segments_are_filled);
    tcase_add_test(tcase, long_payload_is_not_copied);
    tcase_add_test(tcase, no_mulpdu_below_128);
    tcase_add_test(tcase, batch_without_room_asks_for_nothing);
    tcase_add_test(tcase, start_frame_goes_alone);
    suite_add_tcase(suite, tcase);
    return suite;
}
