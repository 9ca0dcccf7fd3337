/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two associations on a bad wire, over many seeds: messages come in any order, and their acknowledgements late.
 * Whatever the seed, contents and order are exactly those that were posted (RFC 5043 10; draft 6). SCTP_SEEDS=10000 in
 * the environment runs so many seeds of each profile.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/sctp_pair.h"
#include "tests/unit/suites.h"
#include "wire/ddp.h"
#include "base/octets.h"

Suite *sctp_wire_suite(void);

enum { STREAMS = 3, SENDS = 12, SEND_MAX = 5000, WRITE_OCTETS = 9000, SEEDS = 80, WINDOW = 40000 };

/* One direction of a stream. */
struct traffic {
    uint8_t send[SENDS][SEND_MAX], receive[SENDS][SEND_MAX];
    size_t octets[SENDS];
    uint8_t source[WRITE_OCTETS], sink[WRITE_OCTETS], read[WRITE_OCTETS];
    uint64_t counter;
    struct iwarp_region source_region, sink_region, read_region, counter_region;
};

static void open_region(struct iwarp_device *device, struct iwarp_region *region, void *memory, size_t octets,
                        unsigned access, unsigned stream)
{
    *region = (struct iwarp_region){.length = octets, .octets = memory, .access = access, .stream = stream};
    ck_assert_int_eq(iwarp_region_register(device, region, NULL), 0);
}

static void fill(struct sctp_pair *pair, uint8_t *octets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        octets[i] = (uint8_t)sctp_pair_random(pair, 256);
}

/* Everything is posted at once; the receives before the first message can come. */
static void post(struct sctp_pair *pair, int side, unsigned n, struct traffic *traffic)
{
    struct iwarp_device *own = pair->side[side].device, *other = pair->side[1 - side].device;
    struct iwarp_stream *stream = pair->side[side].ends[n].stream;

    memset(traffic, 0, sizeof(*traffic));
    fill(pair, traffic->source, WRITE_OCTETS);
    open_region(other, &traffic->sink_region, traffic->sink, WRITE_OCTETS, IWARP_REMOTE_WRITE | IWARP_REMOTE_READ,
                n + 1);
    open_region(own, &traffic->read_region, traffic->read, WRITE_OCTETS, IWARP_LOCAL_WRITE, n + 1);
    open_region(other, &traffic->counter_region, &traffic->counter, sizeof(traffic->counter), IWARP_REMOTE_ATOMIC,
                n + 1);
    for (unsigned i = 0; i < SENDS; i++) {
        struct iwarp_send send = {.id = i, .octets = traffic->send[i], .solicited = i % 2 != 0};

        traffic->octets[i] = sctp_pair_random(pair, 4) == 0 ? SEND_MAX : sctp_pair_random(pair, 300);
        send.count = traffic->octets[i];
        fill(pair, traffic->send[i], send.count);
        ck_assert_int_eq(
            iwarp_stream_post_receive(pair->side[1 - side].ends[n].stream, i, traffic->receive[i], SEND_MAX, NULL), 0);
        ck_assert_int_eq(iwarp_stream_post_send(stream, &send, NULL), 0);
        if (i == 3) {
            struct iwarp_write write = {
                .id = 100, .octets = traffic->source, .count = WRITE_OCTETS, .stag = traffic->sink_region.stag};
            struct iwarp_read read = {.id = 101,
                                      .sink_stag = traffic->read_region.stag,
                                      .source_stag = traffic->sink_region.stag,
                                      .count = WRITE_OCTETS};

            ck_assert_int_eq(iwarp_stream_post_write(stream, &write, NULL), 0);
            ck_assert_int_eq(iwarp_stream_post_read(stream, &read, NULL), 0);
        }
        if (i >= 6) {
            struct iwarp_atomic atomic = {
                .id = 200 + i, .operation = IWARP_ATOMIC_FETCH_ADD, .stag = traffic->counter_region.stag, .data = i};

            ck_assert_int_eq(iwarp_stream_post_atomic(stream, &atomic, NULL), 0);
        }
    }
}

static void check(const struct sctp_pair *pair, int side, unsigned n, const struct traffic *traffic)
{
    const struct sctp_end *sender = &pair->side[side].ends[n], *receiver = &pair->side[1 - side].ends[n];
    uint64_t before = 0;
    unsigned received = 0, added = 6;

    ck_assert_uint_eq(sender->kinds[IWARP_EVENT_ERROR], 0);
    ck_assert_mem_eq(traffic->sink, traffic->source, WRITE_OCTETS);
    ck_assert_mem_eq(traffic->read, traffic->source, WRITE_OCTETS);
    for (size_t i = 0; i < receiver->event_count; i++) {
        const struct iwarp_event *event = &receiver->events[i];

        if (event->kind != IWARP_EVENT_RECEIVE)
            continue;
        ck_assert_uint_eq(event->id, received);
        ck_assert_uint_eq(event->octets, traffic->octets[received]);
        ck_assert_mem_eq(traffic->receive[received], traffic->send[received], event->octets);
        received++;
    }
    ck_assert_uint_eq(received, SENDS);
    for (size_t i = 0; i < sender->event_count; i++) {
        const struct iwarp_event *event = &sender->events[i];

        if (event->kind != IWARP_EVENT_ATOMIC_DONE)
            continue;
        ck_assert_uint_eq(event->id, 200 + added);
        ck_assert_uint_eq(event->value, before);
        before += added++;
    }
    ck_assert_uint_eq(added, SENDS);
    ck_assert_uint_eq(traffic->counter, before);
    ck_assert_uint_eq(sender->kinds[IWARP_EVENT_READ_DONE], 1);
    ck_assert_uint_eq(sender->kinds[IWARP_EVENT_WRITE_DONE], 1);
}

static struct traffic traffic[SCTP_SIDES][STREAMS];

static void run_seed(uint32_t seed, enum iwarp_sctp_profile profile)
{
    struct sctp_pair *pair = sctp_pair_new(profile);
    const struct iwarp_association_counters *counters;

    pair->random = seed * UINT32_C(2654435761) + 1;
    pair->shuffle = seed % 8 != 0;
    pair->loss = seed % 5 * 24;
    sctp_pair_open(pair);
    for (unsigned n = 0; n < STREAMS; n++)
        for (int side = SCTP_SIDES - 1; side >= 0; side--)
            (void)sctp_pair_stream(pair, side, n, (uint16_t)(n * 7), NULL);
    for (unsigned n = 0; n < STREAMS; n++)
        for (int side = 0; side < SCTP_SIDES; side++)
            post(pair, side, n, &traffic[side][n]);
    sctp_pair_run(pair);
    for (unsigned n = 0; n < STREAMS; n++)
        for (int side = 0; side < SCTP_SIDES; side++)
            check(pair, side, n, &traffic[side][n]);
    for (int side = 0; side < SCTP_SIDES; side++) {
        counters = iwarp_association_counters(pair->side[side].association);
        ck_assert_uint_eq(counters->held, 0);
        ck_assert_uint_eq(counters->duplicates, 0);
        ck_assert_uint_eq(pair->side[side].ordered, 0);
        for (unsigned n = 0; n < STREAMS; n++)
            iwarp_stream_disconnect(pair->side[side].ends[n].stream, pair->now);
    }
    sctp_pair_run(pair);
    for (unsigned n = 0; n < STREAMS; n++)
        for (int side = 0; side < SCTP_SIDES; side++)
            ck_assert_uint_eq(pair->side[side].ends[n].kinds[IWARP_EVENT_CLOSED], 1);
    if (profile == IWARP_SCTP_RFC5043)
        for (int side = 0; side < SCTP_SIDES; side++)
            ck_assert_uint_eq(iwarp_association_counters(pair->side[side].association)->sessions, 0);
    sctp_pair_free(pair);
}

static uint32_t seeds(void)
{
    const char *given = getenv("SCTP_SEEDS");

    return given == NULL ? SEEDS : (uint32_t)strtoul(given, NULL, 10);
}

START_TEST(seeds_of_rfc5043)
{
    for (uint32_t seed = 0; seed < seeds(); seed++)
        run_seed(seed, IWARP_SCTP_RFC5043);
}
END_TEST

START_TEST(seeds_of_the_draft)
{
    for (uint32_t seed = 0; seed < seeds(); seed++)
        run_seed(seed, IWARP_SCTP_DRAFT02);
}
END_TEST

/* What comes before its turn is in its place at once, and reported in its turn (draft 6; RFC 5041 5.3). */
START_TEST(placed_at_once)
{
    uint8_t buffers[3][8] = {{0}};
    struct sctp_pair *pair = sctp_pair_new(IWARP_SCTP_DRAFT02);

    sctp_pair_open(pair);
    (void)sctp_pair_stream(pair, SCTP_PASSIVE, 0, 1, NULL);
    for (unsigned i = 0; i < 3; i++)
        (void)iwarp_stream_post_receive(pair->side[SCTP_PASSIVE].ends[0].stream, i, buffers[i], 8, NULL);
    sctp_pair_feed_send(pair, SCTP_PASSIVE, 1, 3, 3, 8);
    sctp_pair_feed_send(pair, SCTP_PASSIVE, 1, 2, 2, 8);
    ck_assert_uint_eq(buffers[2][7], 3);
    ck_assert_uint_eq(buffers[1][7], 2);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 0, IWARP_EVENT_RECEIVE), 0);
    sctp_pair_feed_send(pair, SCTP_PASSIVE, 1, 1, 1, 8);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 0, IWARP_EVENT_RECEIVE), 3);
    /* One that came already is dropped, in order or before its turn. */
    sctp_pair_feed_send(pair, SCTP_PASSIVE, 1, 3, 3, 8);
    sctp_pair_feed_send(pair, SCTP_PASSIVE, 1, 5, 5, 8);
    sctp_pair_feed_send(pair, SCTP_PASSIVE, 1, 5, 5, 8);
    ck_assert_uint_eq(iwarp_association_counters(pair->side[SCTP_PASSIVE].association)->duplicates, 2);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 0, IWARP_EVENT_ERROR), 0);
    sctp_pair_free(pair);
}
END_TEST

/* The DDP-SSNs of one session, in the order of sending. */
struct numbers {
    uint32_t count[SCTP_SIDES];
    bool wrong;
};

static void number(void *user, int side, const struct sctp_letter *letter)
{
    struct numbers *numbers = user;

    numbers->wrong = numbers->wrong || octets_get16(letter->octets) != (uint16_t)numbers->count[side];
    numbers->count[side]++;
}

/* Past 65535, in order and out of order (SCTP5043-5.2.1-02, -10-05). */
START_TEST(ddp_ssn_wraps_in_any_order)
{
    static uint8_t octet[1] = {9}, memory[1];
    struct iwarp_region region = {.length = 1, .octets = memory, .access = IWARP_REMOTE_WRITE};
    struct iwarp_write write = {.octets = octet, .count = 1};
    struct numbers numbers = {{0}, false};
    struct sctp_pair *pair = sctp_pair_new(IWARP_SCTP_RFC5043);

    sctp_pair_open(pair);
    pair->look = number;
    pair->user = &numbers;
    pair->shuffle = true;
    pair->random = 5;
    sctp_pair_session(pair, 0, 3);
    ck_assert_int_eq(iwarp_region_register(pair->side[SCTP_PASSIVE].device, &region, NULL), 0);
    write.stag = region.stag;
    for (unsigned i = 0; i < 70000; i++) {
        ck_assert_int_eq(iwarp_stream_post_write(pair->side[SCTP_ACTIVE].ends[0].stream, &write, NULL), 0);
        if (i % 1000 == 999)
            sctp_pair_run(pair);
    }
    sctp_pair_run(pair);
    ck_assert_uint_eq(numbers.count[SCTP_ACTIVE], 70001);
    ck_assert(!numbers.wrong);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_ACTIVE, 0, IWARP_EVENT_WRITE_DONE), 70000);
    ck_assert_uint_eq(iwarp_stream_counters(pair->side[SCTP_PASSIVE].ends[0].stream)->segments_placed, 70000);
    ck_assert_uint_eq(iwarp_association_counters(pair->side[SCTP_PASSIVE].association)->held, 0);
    (void)iwarp_region_deregister(pair->side[SCTP_PASSIVE].device, region.stag, NULL);
    sctp_pair_free(pair);
}
END_TEST

/*
 * Not more than 32767 without acknowledgement, whatever the ULP posts; and it goes on afterwards (SCTP5043-10-06,
 * SCTP-6-10).
 */
static void check_limit(enum iwarp_sctp_profile profile)
{
    static uint8_t octet[1];
    struct iwarp_write write = {.octets = octet, .count = 1, .stag = 1};
    struct sctp_pair *pair = sctp_pair_new(profile);
    struct iwarp_association *association;
    struct iwarp_sctp_output output;
    unsigned sent = 0;

    sctp_pair_open(pair);
    sctp_pair_session(pair, 0, 3);
    sctp_pair_session(pair, 1, 4);
    association = pair->side[SCTP_ACTIVE].association;
    for (unsigned i = 0; i < WINDOW; i++)
        (void)iwarp_stream_post_write(pair->side[SCTP_ACTIVE].ends[0].stream, &write, NULL);
    for (; iwarp_association_output(association, &output) != 0; sent++)
        iwarp_association_output_done(association, pair->now);
    ck_assert_uint_eq(sent, 32767);
    ck_assert_uint_eq(iwarp_association_counters(association)->outstanding_most, 32767);
    /* Another stream is not held up. */
    (void)iwarp_stream_post_write(pair->side[SCTP_ACTIVE].ends[1].stream, &write, NULL);
    ck_assert_uint_ne(iwarp_association_output(association, &output), 0);
    ck_assert_uint_eq(output.sid, 4);
    iwarp_association_output_done(association, pair->now);
    iwarp_association_acked(association, 3, 10, pair->now);
    for (sent = 0; iwarp_association_output(association, &output) != 0; sent++)
        iwarp_association_output_done(association, pair->now);
    ck_assert_uint_eq(sent, 10);
    iwarp_association_dry(association, pair->now);
    for (; iwarp_association_output(association, &output) != 0; sent++)
        iwarp_association_output_done(association, pair->now);
    ck_assert_uint_eq(sent, WINDOW - 32767);
    sctp_pair_free(pair);
}

START_TEST(limit_of_32767)
{
    check_limit(IWARP_SCTP_RFC5043);
    check_limit(IWARP_SCTP_DRAFT02);
}
END_TEST

Suite *sctp_wire_suite(void)
{
    Suite *suite = suite_create("sctp_wire");
    TCase *tcase = tcase_create("wire");

    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, seeds_of_rfc5043);
    tcase_add_test(tcase, seeds_of_the_draft);
    tcase_add_test(tcase, placed_at_once);
    tcase_add_test(tcase, ddp_ssn_wraps_in_any_order);
    tcase_add_test(tcase, limit_of_32767);
    suite_add_tcase(suite, tcase);
    return suite;
}
