/* SPDX-License-Identifier: BSD-2-Clause */
/* Our TCP endpoint against itself in the simulated world: contents, boundaries, order, windows, endings. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "generator/random.h"
#include "generator/tcp.h"
#include "generator/tcp_link.h"
#include "tests/unit/suites.h"

Suite *tcp_suite(void);

#define SECOND UINT64_C(1000000000)
#define PORT 4000
#define SEGMENTS_MAX 4096

/* Two stacks on a wire, and what was seen on it of octets towards B. */
struct pair {
    struct sim *sim;
    struct tcp_stack *a;
    struct tcp_stack *b;
    struct tcp_connection *ca;
    struct tcp_connection *cb;
    struct packet seen[SEGMENTS_MAX]; /* segments with octets towards B; pointers are dead */
    unsigned seen_count;
    unsigned resets;
    unsigned acks_to_a; /* empty segments towards A */
    uint8_t family;
};

static struct pair pair;

static void address_of(struct net_address *address, uint8_t family, char end)
{
    const char *text = family == 4 ? (end == 'a' ? "10.77.0.3" : "10.77.0.2") : (end == 'a' ? "fd77::3" : "fd77::2");

    ck_assert_int_eq(net_address_parse(address, text), 0);
}

static void watch(void *context, const uint8_t *frame, size_t octets, uint64_t time_ns, bool inbound)
{
    struct pair *p = context;
    struct packet packet;
    const char *reason = NULL;

    (void)time_ns;
    ck_assert_msg(packet_parse(&packet, frame, octets, &reason) == 0, "%s", reason);
    if (packet.kind != PACKET_TCP)
        return;
    ck_assert(packet.ip_checksum_ok);
    if ((packet.flags & TCP_FLAG_RST) != 0)
        p->resets++;
    if (inbound && packet.payload_octets == 0)
        p->acks_to_a++;
    if (!inbound && packet.payload_octets > 0 && p->seen_count < SEGMENTS_MAX)
        p->seen[p->seen_count++] = packet;
}

static struct tcp_stack *stack_at(struct sim *sim, char end, uint64_t seed)
{
    struct tcp_stack_config config = {
        .mac = {2, 0, 0, 0, 0, (uint8_t)end},
        .seed = seed,
        .now = sim_now(sim),
        .emit = end == 'a' ? tcp_sim_emit_a : tcp_sim_emit_b,
        .context = sim,
    };
    struct sentence error;
    struct tcp_stack *stack;

    address_of(&config.ipv4, 4, end);
    address_of(&config.ipv6, 6, end);
    stack = tcp_stack_new(&config, &error);
    ck_assert_msg(stack != NULL, "%s", error.text);
    return stack;
}

static void pair_new(const struct sim_config *config, uint8_t family)
{
    memset(&pair, 0, sizeof(pair));
    pair.family = family;
    pair.sim = sim_new(config);
    pair.a = stack_at(pair.sim, 'a', config->seed * 2);
    pair.b = stack_at(pair.sim, 'b', config->seed * 2 + 1);
    sim_attach(pair.sim, SIM_END_A, &tcp_sim_node_ops, pair.a);
    sim_attach(pair.sim, SIM_END_B, &tcp_sim_node_ops, pair.b);
    sim_tap(pair.sim, watch, &pair);
}

static void pair_free(void)
{
    tcp_stack_free(pair.a);
    tcp_stack_free(pair.b);
    sim_free(pair.sim);
}

static bool both_open(void *context)
{
    struct pair *p = context;

    if (p->cb == NULL)
        p->cb = tcp_accept(p->b, PORT);
    return p->cb != NULL && tcp_status(p->ca)->state == TCP_ESTABLISHED;
}

static void run_for(uint64_t nanoseconds)
{
    tcp_stack_set_time(pair.a, sim_now(pair.sim));
    tcp_stack_set_time(pair.b, sim_now(pair.sim));
    ck_assert_int_eq(sim_run_until(pair.sim, sim_now(pair.sim) + nanoseconds, NULL, NULL), 0);
    tcp_stack_set_time(pair.a, sim_now(pair.sim));
    tcp_stack_set_time(pair.b, sim_now(pair.sim));
}

static void pair_open(const struct tcp_options *a_options, const struct tcp_options *b_options)
{
    struct net_address peer;
    struct sentence error;

    address_of(&peer, pair.family, 'b');
    ck_assert_int_eq(tcp_listen(pair.b, PORT, b_options, &error), 0);
    pair.ca = tcp_connect(pair.a, &peer, PORT, a_options, &error);
    ck_assert_msg(pair.ca != NULL, "%s", error.text);
    ck_assert_int_eq(sim_run_until(pair.sim, sim_now(pair.sim) + 300 * SECOND, both_open, &pair), 1);
}

static void pair_open_clean(uint8_t family)
{
    struct sim_config config = {.seed = 7};

    pair_new(&config, family);
    pair_open(NULL, NULL);
}

static void fill(uint8_t *octets, size_t count, uint64_t seed)
{
    struct random random = {seed};

    for (size_t i = 0; i < count; i++)
        octets[i] = (uint8_t)random_next(&random);
}

static void expect_received(struct tcp_connection *c, const uint8_t *octets, size_t count)
{
    const uint8_t *got;
    size_t got_count;

    tcp_received(c, &got, &got_count);
    ck_assert_uint_eq(got_count, count);
    ck_assert_int_eq(count == 0 ? 0 : memcmp(got, octets, count), 0);
}

/* Both directions at once over a wire that loses, doubles and reorders; readers that consume now and then. */
struct transfer {
    uint8_t *octets[2];
    size_t total;
    size_t got[2];
    struct random random;
};

static void read_some(struct transfer *t, struct tcp_connection *c, int from)
{
    bool is_last = tcp_status(c)->peer_fin;

    const uint8_t *octets;
    size_t count;

    if (tcp_received(c, &octets, &count) == 0)
        return;
    ck_assert_uint_le(t->got[from] + count, t->total);
    ck_assert_msg(memcmp(octets, t->octets[from] + t->got[from], count) == 0, "contents differ near octet %zu",
                  t->got[from]);
    if (!is_last && random_chance(&t->random, 0.3))
        return; /* a slow reader, as long as more events come */
    t->got[from] += count;
    tcp_consume(c, count);
}

static struct transfer transfer;

static bool is_transferred(void *context)
{
    struct transfer *t = context;

    read_some(t, pair.cb, 0);
    read_some(t, pair.ca, 1);
    return t->got[0] == t->total && t->got[1] == t->total && tcp_status(pair.ca)->peer_fin &&
           tcp_status(pair.cb)->peer_fin;
}

START_TEST(contents_survive_a_bad_wire)
{
    struct random random = {(uint64_t)_i * 31 + 1};
    struct sim_config config = {.seed = (uint64_t)_i + 1};
    struct sim_impairment bad = {
        .loss = 0.01 * (double)random_below(&random, 15),
        .duplicate = 0.01 * (double)random_below(&random, 20),
        .reorder = 0.01 * (double)random_below(&random, 40),
    };
    /* A third of the runs wraps around 2^32 in the middle of the transfer. */
    struct tcp_options options = {
        .choose_iss = _i % 3 == 0, .iss = UINT32_MAX - 50000, .mss = (uint16_t)(400 + _i * 5), .attempts = 30};

    config.a_to_b = config.b_to_a = bad;
    pair_new(&config, _i % 2 == 0 ? 4 : 6);
    pair_open(&options, &options);
    transfer = (struct transfer){.total = 20000 + 1000 * (size_t)_i, .random = random};
    for (int i = 0; i < 2; i++) {
        transfer.octets[i] = malloc(transfer.total);
        fill(transfer.octets[i], transfer.total, random_next(&random));
    }
    for (size_t at = 0; at < transfer.total;) {
        size_t take = 1 + random_below(&random, 9000);

        take = take < transfer.total - at ? take : transfer.total - at;
        ck_assert_int_eq(tcp_send(pair.ca, transfer.octets[0] + at, take), 0);
        ck_assert_int_eq(tcp_send(pair.cb, transfer.octets[1] + at, take), 0);
        at += take;
    }
    ck_assert_int_eq(tcp_shutdown(pair.ca), 0);
    ck_assert_int_eq(tcp_shutdown(pair.cb), 0);
    ck_assert_msg(sim_run_until(pair.sim, sim_now(pair.sim) + 3600 * SECOND, is_transferred, &transfer) == 1,
                  "seed %d: %zu and %zu of %zu octets arrived, a is %s, b is %s", _i, transfer.got[0], transfer.got[1],
                  transfer.total, tcp_cause_name(tcp_status(pair.ca)->cause),
                  tcp_cause_name(tcp_status(pair.cb)->cause));
    run_for(1000 * SECOND);
    for (int i = 0; i < 2; i++) {
        const struct tcp_status *status = tcp_status(i == 0 ? pair.ca : pair.cb);

        ck_assert_msg(status->state == TCP_CLOSED && status->cause <= TCP_CAUSE_LOCAL_FIN, "seed %d: %s, %s", _i,
                      tcp_state_name(status->state), tcp_cause_name(status->cause));
    }
    free(transfer.octets[0]);
    free(transfer.octets[1]);
    pair_free();
}
END_TEST

START_TEST(large_transfer_on_a_clean_wire)
{
    size_t count = 3u << 20;
    uint8_t *octets = malloc(count);

    pair_open_clean(_i == 0 ? 4 : 6);
    fill(octets, count, 3);
    transfer = (struct transfer){.octets = {octets, octets}, .total = count, .random = {1}};
    ck_assert_int_eq(tcp_send(pair.ca, octets, count), 0);
    ck_assert_int_eq(tcp_send(pair.cb, octets, count), 0);
    ck_assert_int_eq(tcp_shutdown(pair.ca), 0);
    ck_assert_int_eq(tcp_shutdown(pair.cb), 0);
    ck_assert_int_eq(sim_run_until(pair.sim, sim_now(pair.sim) + 600 * SECOND, is_transferred, &transfer), 1);
    ck_assert_uint_eq(tcp_status(pair.ca)->retransmissions, 0);
    ck_assert_uint_eq(pair.resets, 0);
    free(octets);
    pair_free();
}
END_TEST

START_TEST(stream_is_cut_at_the_mss)
{
    struct tcp_options options = {.mss = 500};
    struct sim_config config = {.seed = 3};
    uint8_t octets[1700];

    pair_new(&config, 4);
    pair_open(NULL, &options);
    fill(octets, sizeof(octets), 1);
    ck_assert_uint_eq(tcp_status(pair.ca)->mss, 500);
    ck_assert_int_eq(tcp_send(pair.ca, octets, sizeof(octets)), 0);
    run_for(SECOND);
    expect_received(pair.cb, octets, sizeof(octets));
    ck_assert_uint_eq(pair.seen_count, 4);
    ck_assert_uint_eq(pair.seen[2].payload_octets, 500);
    ck_assert_uint_eq(pair.seen[2].flags & TCP_FLAG_PSH, 0);
    ck_assert_uint_eq(pair.seen[3].payload_octets, 200);
    ck_assert_uint_ne(pair.seen[3].flags & TCP_FLAG_PSH, 0);
    pair_free();
}
END_TEST

static const size_t cuts[] = {1, 20, 1460, 7, 512, 1};
#define CUTS (sizeof(cuts) / sizeof(cuts[0]))
#define CUTS_SUM 2001

START_TEST(exact_boundaries_are_seen)
{
    struct sim_config config = {.seed = 3, .a_to_b = {.loss = _i * 0.05}};
    uint8_t octets[CUTS_SUM];
    uint32_t at;

    pair_new(&config, 4);
    pair_open(NULL, NULL);
    fill(octets, sizeof(octets), 2);
    at = tcp_status(pair.ca)->snd_nxt;
    ck_assert_int_eq(tcp_send_segments(pair.ca, octets, sizeof(octets), cuts, CUTS), 0);
    run_for(100 * SECOND);
    expect_received(pair.cb, octets, sizeof(octets));
    /* However often a segment came: it began and ended where it was told. */
    for (unsigned i = 0; i < pair.seen_count; i++) {
        uint32_t begin = at;
        size_t which = 0;

        while (which < CUTS && begin != pair.seen[i].sequence)
            begin += (uint32_t)cuts[which++];
        ck_assert_uint_lt(which, CUTS);
        ck_assert_uint_eq(pair.seen[i].payload_octets, cuts[which]);
    }
    ck_assert_uint_ge(pair.seen_count, CUTS);
    pair_free();
}
END_TEST

START_TEST(boundaries_that_cannot_be_are_refused)
{
    static const size_t zero[] = {5, 0, 5};
    static const size_t wrong_sum[] = {5, 6};
    static const size_t too_long[] = {1461};
    uint8_t octets[1461] = {0};

    pair_open_clean(4);
    ck_assert_int_eq(tcp_send_segments(pair.ca, octets, 10, zero, 3), -1);
    ck_assert_int_eq(tcp_send_segments(pair.ca, octets, 10, wrong_sum, 2), -1);
    ck_assert_int_eq(tcp_send_segments(pair.ca, octets, 1461, too_long, 1), -1);
    run_for(SECOND);
    expect_received(pair.cb, octets, 0);
    pair_free();
}
END_TEST

START_TEST(chosen_order_with_duplicates_and_a_gap)
{
    static const size_t order[] = {3, 1, 1, 5, 0, 4}; /* 2 is missing: it comes after the RTO */
    uint8_t octets[CUTS_SUM];

    pair_open_clean(6);
    fill(octets, sizeof(octets), 2);
    ck_assert_int_eq(tcp_send_ordered(pair.ca, octets, sizeof(octets) - 60, cuts, CUTS, order, 6), -1); /* the sum */
    static const size_t fitting[] = {1, 20, 1440, 27, 512, 1}; /* an IPv6 segment carries 1440 octets */
    ck_assert_int_eq(tcp_send_ordered(pair.ca, octets, sizeof(octets), fitting, CUTS, order, 6), 0);
    run_for(SECOND / 10);
    ck_assert_uint_eq(pair.seen_count >= 6 ? 6 : pair.seen_count, 6);
    for (unsigned i = 0; i < 6; i++)
        ck_assert_uint_eq(pair.seen[i].payload_octets, fitting[order[i]]);
    run_for(10 * SECOND);
    expect_received(pair.cb, octets, sizeof(octets));
    ck_assert_uint_eq(tcp_unacknowledged(pair.ca), 0);
    ck_assert_uint_ge(tcp_status(pair.ca)->retransmissions, 1);
    ck_assert_uint_ge(tcp_status(pair.cb)->out_of_order, 2);
    pair_free();
}
END_TEST

START_TEST(first_of_overlapping_segments_wins)
{
    pair_open_clean(4);
    /* 10..19 first, then 5..24 with other content, then 0..9 with yet other. */
    ck_assert_int_eq(tcp_send_raw_segment(pair.ca, &(struct tcp_segment_spec){.sequence = 10,
                                                                              .payload = (const uint8_t *)"AAAAAAAAAA",
                                                                              .payload_octets = 10}),
                     0);
    ck_assert_int_eq(
        tcp_send_raw_segment(pair.ca, &(struct tcp_segment_spec){.sequence = 5,
                                                                 .payload = (const uint8_t *)"BBBBBBBBBBBBBBBBBBBB",
                                                                 .payload_octets = 20}),
        0);
    ck_assert_int_eq(
        tcp_send_raw_segment(
            pair.ca, &(struct tcp_segment_spec){.payload = (const uint8_t *)"CCCCCCCCCC", .payload_octets = 10}),
        0);
    ck_assert_int_eq(tcp_skip(pair.ca, (const uint8_t *)"CCCCCBBBBBAAAAAAAAAABBBBB", 25), 0);
    run_for(SECOND);
    expect_received(pair.cb, (const uint8_t *)"CCCCCBBBBBAAAAAAAAAABBBBB", 25);
    ck_assert_uint_eq(tcp_unacknowledged(pair.ca), 0);
    /* A duplicate from below, with other content, brings nothing and is answered. */
    ck_assert_int_eq(tcp_send_raw_segment(pair.ca, &(struct tcp_segment_spec){.sequence = (uint32_t)-5,
                                                                              .payload = (const uint8_t *)"DDDDDE",
                                                                              .payload_octets = 6}),
                     0);
    ck_assert_int_eq(tcp_skip(pair.ca, (const uint8_t *)"E", 1), 0);
    run_for(SECOND);
    expect_received(pair.cb, (const uint8_t *)"CCCCCBBBBBAAAAAAAAAABBBBBE", 26);
    ck_assert_uint_eq(tcp_status(pair.ca)->retransmissions, 0);
    pair_free();
}
END_TEST

START_TEST(early_ack_of_raw_segments_is_kept)
{
    pair_open_clean(4);
    ck_assert_int_eq(
        tcp_send_raw_segment(pair.ca,
                             &(struct tcp_segment_spec){.payload = (const uint8_t *)"hello", .payload_octets = 5}),
        0);
    run_for(SECOND); /* the ACK comes before the tester says that these octets count */
    ck_assert_int_eq(tcp_skip(pair.ca, (const uint8_t *)"hello", 5), 0);
    ck_assert_uint_eq(tcp_unacknowledged(pair.ca), 0);
    ck_assert_int_eq(
        tcp_send_raw_segment(pair.ca, &(struct tcp_segment_spec){
                                          .payload = (const uint8_t *)" you", .payload_octets = 4, .advance = true}),
        0);
    ck_assert_int_eq(tcp_send(pair.ca, (const uint8_t *)"!", 1), 0);
    run_for(SECOND);
    expect_received(pair.cb, (const uint8_t *)"hello you!", 10);
    ck_assert_uint_eq(tcp_status(pair.ca)->retransmissions, 0);
    pair_free();
}
END_TEST

START_TEST(wrong_checksum_is_dropped)
{
    pair_open_clean(4);
    ck_assert_int_eq(tcp_send_raw_segment(pair.ca, &(struct tcp_segment_spec){.payload = (const uint8_t *)"spoilt",
                                                                              .payload_octets = 6,
                                                                              .bad_checksum = true}),
                     0);
    run_for(SECOND);
    expect_received(pair.cb, NULL, 0);
    ck_assert_uint_eq(tcp_stack_bad_frames(pair.b), 1);
    ck_assert(!pair.seen[0].tcp_checksum_ok);
    pair_free();
}
END_TEST

START_TEST(acks_at_once_delayed_and_withheld)
{
    uint8_t octets[100] = {1};
    unsigned acks;

    pair_open_clean(4);
    run_for(SECOND);
    acks = pair.acks_to_a;
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(tcp_send(pair.ca, octets, sizeof(octets)), 0);
    run_for(SECOND);
    ck_assert_uint_eq(pair.acks_to_a - acks, 4);

    tcp_set_ack_policy(pair.cb, TCP_ACK_DELAYED, 0);
    acks = pair.acks_to_a;
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(tcp_send(pair.ca, octets, sizeof(octets)), 0);
    run_for(SECOND / 100);
    ck_assert_uint_eq(pair.acks_to_a - acks, 2);
    run_for(SECOND / 10);
    ck_assert_uint_eq(pair.acks_to_a - acks, 3);

    tcp_set_ack_policy(pair.cb, TCP_ACK_WITHHELD, 0);
    acks = pair.acks_to_a;
    ck_assert_int_eq(tcp_send(pair.ca, octets, sizeof(octets)), 0);
    run_for(SECOND);
    ck_assert_uint_eq(pair.acks_to_a, acks);
    ck_assert_uint_eq(tcp_unacknowledged(pair.ca), sizeof(octets));
    ck_assert_uint_ge(tcp_status(pair.ca)->retransmissions, 2);
    ck_assert_int_eq(tcp_send(pair.cb, octets, 1), 0); /* octets travel, the acknowledgment stands still */
    run_for(SECOND / 10);
    ck_assert_uint_eq(tcp_unacknowledged(pair.ca), sizeof(octets));
    tcp_ack_now(pair.cb);
    run_for(SECOND / 10);
    ck_assert_uint_eq(tcp_unacknowledged(pair.ca), 0);
    pair_free();
}
END_TEST

START_TEST(shut_window_stops_and_opens_again)
{
    uint8_t octets[5000];
    size_t lengths[] = {1000, 1000, 1000, 1000, 1000};

    pair_open_clean(4);
    fill(octets, sizeof(octets), 4);
    tcp_set_window(pair.cb, 0);
    run_for(SECOND / 10);
    ck_assert_int_eq(tcp_send_segments(pair.ca, octets, sizeof(octets), lengths, 5), 0);
    run_for(20 * SECOND);
    expect_received(pair.cb, NULL, 0);
    ck_assert_uint_eq(pair.seen_count, 0);
    ck_assert_int_eq(tcp_status(pair.ca)->state, TCP_ESTABLISHED);
    tcp_set_window(pair.cb, 2500);
    run_for(SECOND / 100);
    ck_assert_uint_ge(pair.seen_count, 2);
    tcp_set_window_auto(pair.cb);
    run_for(SECOND);
    expect_received(pair.cb, octets, sizeof(octets));
    for (unsigned i = 0; i < pair.seen_count; i++)
        ck_assert_uint_eq(pair.seen[i].payload_octets, 1000);
    pair_free();
}
END_TEST

START_TEST(reopened_window_is_found_by_probing)
{
    struct sim_impairment clean = {0};
    struct sim_impairment cut = {.loss = 1.0};

    pair_open_clean(4);
    tcp_set_window(pair.cb, 0);
    run_for(SECOND / 10);
    ck_assert_int_eq(tcp_send(pair.ca, (const uint8_t *)"hello", 5), 0);
    sim_impair(pair.sim, &clean, &cut); /* the window update is lost */
    tcp_set_window(pair.cb, 1000);
    sim_impair(pair.sim, &clean, &clean);
    run_for(20 * SECOND);
    expect_received(pair.cb, (const uint8_t *)"hello", 5);
    pair_free();
}
END_TEST

START_TEST(orderly_close_from_either_side)
{
    struct tcp_connection *first;
    struct tcp_connection *second;

    pair_open_clean(4);
    first = _i == 0 ? pair.ca : pair.cb;
    second = _i == 0 ? pair.cb : pair.ca;
    ck_assert_int_eq(tcp_send(first, (const uint8_t *)"bye", 3), 0);
    ck_assert_int_eq(tcp_shutdown(first), 0);
    ck_assert_int_eq(tcp_shutdown(first), -1);
    ck_assert_int_eq(tcp_send(first, (const uint8_t *)"more", 4), -1);
    run_for(SECOND / 10);
    ck_assert_int_eq(tcp_status(first)->state, TCP_FIN_WAIT_2);
    ck_assert_int_eq(tcp_status(second)->state, TCP_CLOSE_WAIT);
    ck_assert_int_eq(tcp_status(second)->cause, TCP_CAUSE_PEER_FIN);
    ck_assert_int_eq(tcp_status(first)->cause, TCP_CAUSE_LOCAL_FIN);
    ck_assert(tcp_status(second)->peer_fin && tcp_status(second)->peer_fin_ns != 0);
    ck_assert(!tcp_status(second)->peer_fin_with_data);
    expect_received(second, (const uint8_t *)"bye", 3);
    ck_assert_int_eq(tcp_send(second, (const uint8_t *)"half open", 9), 0);
    ck_assert_int_eq(tcp_shutdown(second), 0);
    run_for(SECOND / 10);
    expect_received(first, (const uint8_t *)"half open", 9);
    ck_assert_int_eq(tcp_status(first)->state, TCP_TIME_WAIT);
    ck_assert_int_eq(tcp_status(second)->state, TCP_CLOSED);
    run_for(60 * SECOND);
    ck_assert_int_eq(tcp_status(first)->state, TCP_CLOSED);
    ck_assert_uint_eq(pair.resets, 0);
    tcp_release(first);
    tcp_release(second);
    pair_free();
}
END_TEST

START_TEST(fin_with_the_last_octets)
{
    pair_open_clean(4);
    ck_assert_int_eq(tcp_send_fin(pair.ca, (const uint8_t *)"last", 4), 0);
    run_for(SECOND / 10);
    expect_received(pair.cb, (const uint8_t *)"last", 4);
    ck_assert(tcp_status(pair.cb)->peer_fin_with_data);
    ck_assert_uint_eq(pair.seen_count, 1);
    ck_assert_uint_ne(pair.seen[0].flags & TCP_FLAG_FIN, 0);
    ck_assert(tcp_status(pair.ca)->local_fin_acknowledged);
    pair_free();
}
END_TEST

START_TEST(both_close_at_once)
{
    pair_open_clean(4);
    ck_assert_int_eq(tcp_shutdown(pair.ca), 0);
    ck_assert_int_eq(tcp_shutdown(pair.cb), 0);
    run_for(SECOND / 10);
    ck_assert_int_eq(tcp_status(pair.ca)->state, TCP_TIME_WAIT);
    ck_assert_int_eq(tcp_status(pair.cb)->state, TCP_TIME_WAIT);
    pair_free();
}
END_TEST

START_TEST(abort_resets_the_peer)
{
    pair_open_clean(_i == 0 ? 4 : 6);
    ck_assert_int_eq(tcp_send(pair.ca, (const uint8_t *)"x", 1), 0);
    tcp_abort(pair.ca);
    ck_assert_int_eq(tcp_status(pair.ca)->state, TCP_CLOSED);
    ck_assert_int_eq(tcp_status(pair.ca)->cause, TCP_CAUSE_LOCAL_ABORT);
    run_for(SECOND);
    ck_assert_int_eq(tcp_status(pair.cb)->state, TCP_CLOSED);
    ck_assert_int_eq(tcp_status(pair.cb)->cause, TCP_CAUSE_PEER_RESET);
    ck_assert_uint_ne(tcp_status(pair.cb)->peer_reset_ns, 0);
    expect_received(pair.cb, (const uint8_t *)"x", 1);
    pair_free();
}
END_TEST

START_TEST(reset_beside_the_mark_is_challenged)
{
    pair_open_clean(4);
    ck_assert_int_eq(tcp_send_raw_segment(pair.ca, &(struct tcp_segment_spec){.sequence = 5,
                                                                              .set_flags = true,
                                                                              .flags = TCP_FLAG_RST}),
                     0);
    run_for(SECOND);
    ck_assert_int_eq(tcp_status(pair.cb)->state, TCP_ESTABLISHED); /* RFC 5961 section 3.2 */
    ck_assert_int_eq(tcp_send_raw_segment(pair.ca,
                                          &(struct tcp_segment_spec){.set_flags = true, .flags = TCP_FLAG_RST}),
                     0);
    run_for(SECOND);
    ck_assert_int_eq(tcp_status(pair.cb)->cause, TCP_CAUSE_PEER_RESET);
    pair_free();
}
END_TEST

static bool is_closed(void *context)
{
    (void)context;
    return tcp_status(pair.ca)->state == TCP_CLOSED;
}

START_TEST(refused_and_unreachable_and_unanswered)
{
    struct sim_config config = {.seed = 4};
    struct net_address peer;
    struct sentence error;

    pair_new(&config, 4);
    address_of(&peer, _i == 1 ? 6 : 4, 'b');
    if (_i >= 1)
        peer.octets[_i == 1 ? 15 : 3] = 99; /* nobody has that address */
    if (_i == 3) /* somebody has, but never answers TCP */
        ck_assert_int_eq(tcp_stack_add_neighbour(pair.a, &peer, (const uint8_t[6]){2, 9, 9, 9, 9, 9}), 0);
    pair.ca = tcp_connect(pair.a, &peer, PORT, NULL, &error);
    ck_assert_ptr_nonnull(pair.ca);
    ck_assert_int_eq(sim_run_until(pair.sim, sim_now(pair.sim) + 1000 * SECOND, is_closed, NULL), 1);
    ck_assert_int_eq(tcp_status(pair.ca)->cause, _i == 0   ? TCP_CAUSE_REFUSED
                                                 : _i == 3 ? TCP_CAUSE_TIMEOUT
                                                           : TCP_CAUSE_UNREACHABLE);
    tcp_release(pair.ca);
    pair_free();
}
END_TEST

START_TEST(peer_that_vanishes_times_out)
{
    struct sim_impairment cut = {.loss = 1.0};

    pair_open_clean(4);
    sim_impair(pair.sim, &cut, &cut);
    ck_assert_int_eq(tcp_send(pair.ca, (const uint8_t *)"anyone?", 7), 0);
    ck_assert_int_eq(sim_run_until(pair.sim, sim_now(pair.sim) + 1000 * SECOND, is_closed, NULL), 1);
    ck_assert_int_eq(tcp_status(pair.ca)->cause, TCP_CAUSE_TIMEOUT);
    pair_free();
}
END_TEST

START_TEST(chosen_iss_wraps)
{
    struct tcp_options options = {.choose_iss = true, .iss = UINT32_MAX - (uint32_t)_i};
    struct sim_config config = {.seed = 3, .a_to_b = {.loss = 0.1, .reorder = 0.2}};
    uint8_t octets[20];

    pair_new(&config, 4);
    pair_open(&options, NULL);
    fill(octets, sizeof(octets), 8);
    ck_assert_uint_eq(tcp_status(pair.ca)->iss, options.iss);
    ck_assert_uint_eq(tcp_status(pair.cb)->irs, options.iss);
    for (size_t i = 0; i < sizeof(octets); i++)
        ck_assert_int_eq(tcp_send_segments(pair.ca, octets + i, 1, (const size_t[]){1}, 1), 0);
    run_for(100 * SECOND);
    expect_received(pair.cb, octets, sizeof(octets));
    ck_assert_uint_eq(tcp_status(pair.ca)->snd_una, options.iss + 21);
    pair_free();
}
END_TEST

START_TEST(both_open_at_once)
{
    struct sim_config config = {.seed = 4};
    struct tcp_options options = {.source_port = PORT};
    struct net_address address;
    struct sentence error;

    pair_new(&config, 4);
    address_of(&address, 4, 'b');
    pair.ca = tcp_connect(pair.a, &address, PORT, &options, &error);
    address_of(&address, 4, 'a');
    pair.cb = tcp_connect(pair.b, &address, PORT, &options, &error);
    ck_assert(pair.ca != NULL && pair.cb != NULL);
    run_for(10 * SECOND);
    ck_assert_int_eq(tcp_status(pair.ca)->state, TCP_ESTABLISHED);
    ck_assert_int_eq(tcp_status(pair.cb)->state, TCP_ESTABLISHED);
    ck_assert_int_eq(tcp_send(pair.ca, (const uint8_t *)"hi", 2), 0);
    run_for(SECOND);
    expect_received(pair.cb, (const uint8_t *)"hi", 2);
    pair_free();
}
END_TEST

/* Several connections, released while open: they end in order by themselves, and their ports may be used again. */
START_TEST(released_connections_end_by_themselves)
{
    struct tcp_connection *c[8];
    struct net_address peer;
    struct sentence error;

    pair_open_clean(4);
    address_of(&peer, 4, 'b');
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 8; i++) {
            struct tcp_options options = {.source_port = (uint16_t)(5000 + i)};

            c[i] = tcp_connect(pair.a, &peer, PORT, &options, &error);
            ck_assert_msg(c[i] != NULL, "%s", error.text);
            ck_assert_int_eq(tcp_send(c[i], (const uint8_t *)"queued before it is open", 24), 0);
        }
        run_for(SECOND);
        for (int i = 0; i < 8; i++)
            tcp_release(c[i]);
        for (int i = 0; i < 8; i++) {
            struct tcp_connection *other = tcp_accept(pair.b, PORT);

            ck_assert_ptr_nonnull(other);
            expect_received(other, (const uint8_t *)"queued before it is open", 24);
            tcp_release(other);
        }
        ck_assert_ptr_null(tcp_accept(pair.b, PORT));
        run_for(60 * SECOND);
    }
    ck_assert_uint_eq(pair.resets, 0);
    ck_assert_uint_eq(tcp_stack_deadline(pair.a), UINT64_MAX);
    ck_assert_uint_eq(tcp_stack_deadline(pair.b), UINT64_MAX);
    pair_free();
}
END_TEST

/* Noise and cut frames: nothing may break, and nothing may be believed. */
START_TEST(hostile_frames_change_nothing)
{
    struct random random = {77};
    uint8_t good[200];
    uint8_t frame[200];
    struct packet_tcp fields = {.ethernet_source = {2, 0, 0, 0, 0, 'a'},
                                .ethernet_destination = {2, 0, 0, 0, 0, 'b'},
                                .destination_port = PORT,
                                .flags = TCP_FLAG_ACK,
                                .payload = (const uint8_t *)"payload",
                                .payload_octets = 7};

    pair_open_clean(4);
    for (int round = 0; round < 20000; round++) {
        size_t octets;

        address_of(&fields.source, round % 2 ? 4 : 6, 'a');
        address_of(&fields.destination, round % 2 ? 4 : 6, 'b');
        fields.source_port = tcp_status(pair.ca)->local_port;
        fields.sequence = (uint32_t)random_next(&random);
        octets = packet_build_tcp(good, sizeof(good), &fields);
        memcpy(frame, good, octets);
        for (uint64_t i = random_below(&random, 4) + 1; i > 0; i--)
            frame[12 + random_below(&random, octets - 12)] ^= (uint8_t)(1 + random_below(&random, 255));
        tcp_stack_input(pair.b, frame, random_below(&random, octets + 1), sim_now(pair.sim));
    }
    ck_assert_int_eq(tcp_status(pair.cb)->state, TCP_ESTABLISHED);
    expect_received(pair.cb, NULL, 0);
    pair_free();
}
END_TEST

static TCase *sending(void)
{
    TCase *tests = tcase_create("sending");

    tcase_add_test(tests, stream_is_cut_at_the_mss);
    tcase_add_loop_test(tests, exact_boundaries_are_seen, 0, 6);
    tcase_add_test(tests, boundaries_that_cannot_be_are_refused);
    tcase_add_test(tests, chosen_order_with_duplicates_and_a_gap);
    tcase_add_test(tests, first_of_overlapping_segments_wins);
    tcase_add_test(tests, early_ack_of_raw_segments_is_kept);
    tcase_add_test(tests, wrong_checksum_is_dropped);
    tcase_add_test(tests, acks_at_once_delayed_and_withheld);
    tcase_add_test(tests, shut_window_stops_and_opens_again);
    tcase_add_test(tests, reopened_window_is_found_by_probing);
    return tests;
}

static TCase *life(void)
{
    TCase *tests = tcase_create("life");

    tcase_add_loop_test(tests, orderly_close_from_either_side, 0, 2);
    tcase_add_test(tests, fin_with_the_last_octets);
    tcase_add_test(tests, both_close_at_once);
    tcase_add_loop_test(tests, abort_resets_the_peer, 0, 2);
    tcase_add_test(tests, reset_beside_the_mark_is_challenged);
    tcase_add_loop_test(tests, refused_and_unreachable_and_unanswered, 0, 4);
    tcase_add_test(tests, peer_that_vanishes_times_out);
    tcase_add_loop_test(tests, chosen_iss_wraps, 0, 23);
    tcase_add_test(tests, both_open_at_once);
    tcase_add_test(tests, released_connections_end_by_themselves);
    tcase_add_test(tests, hostile_frames_change_nothing);
    return tests;
}

Suite *tcp_suite(void)
{
    Suite *suite = suite_create("tcp");
    TCase *bulk = tcase_create("bulk");

    tcase_add_loop_test(bulk, contents_survive_a_bad_wire, 0, 200);
    tcase_add_loop_test(bulk, large_transfer_on_a_clean_wire, 0, 2);
    suite_add_tcase(suite, bulk);
    suite_add_tcase(suite, sending());
    suite_add_tcase(suite, life());
    return suite;
}
