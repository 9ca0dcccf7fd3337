/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CM agents where MADs are lost, doubled and overtake one another, over many seeds; and strangers who send REQs without
 * end.
 */
#include <check.h>
#include <string.h>

#include "generator/cm/mad.h"
#include "tests/unit/cm_pair.h"
#include "tests/unit/guard.h"
#include "tests/unit/suites.h"

Suite *cm_bad_wire_suite(void);

enum { SEEDS = 200, CONNECTIONS = 24, FIRST_PORT = 1000, FLOOD = 100000, ROOM = 512 };

#define SECOND UINT64_C(1000000000)

static struct cm_pair pair;

static void decide(struct cm_pair *on, const struct cm_event *event)
{
    struct cm_refusal refusal = {.reason = CM_REASON_CONSUMER, .layer = IP_CM_LAYER_ULP};

    EXPECT(event->data[0] == (uint8_t)event->tuple.destination_port && event->data[55] == 0xEE, "consumer data");
    if (event->tuple.destination_port % 4 == 2)
        EXPECT(cm_agent_accept(on->agent[0], event->id, event->data, 56, on->now, NULL) == 0, "accept");
    else
        EXPECT(cm_agent_reject(on->agent[0], event->id, &refusal, on->now, NULL) == 0, "reject");
}

/* Ports by their remainder of 4: accepted, nobody there, the ULP accepts, the ULP rejects. */
static void listen_all(void)
{
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        struct cm_listener listener =
            cm_pair_listener((uint16_t)(FIRST_PORT + i), i % 4 == 0 ? CM_ANSWER_ACCEPT : CM_ANSWER_ASK);

        if (i % 4 != 1)
            cm_pair_listen(&pair, &listener);
    }
}

/* Events of that kind which tell of the port. */
static unsigned reported(unsigned side, enum cm_event_kind kind, unsigned port)
{
    unsigned count = 0;

    for (size_t i = 0; i < pair.events[side]; i++)
        count += pair.event[side][i].kind == kind && pair.event[side][i].tuple.destination_port == port;
    return count;
}

/* How one connection ended at both sides. Returns 1 when the client has it established. */
static unsigned judge(unsigned i)
{
    unsigned port = FIRST_PORT + i, made = reported(1, CM_EVENT_ESTABLISHED, port), other = i % 4;
    unsigned rejected = reported(1, CM_EVENT_REJECTED, port), timeout = reported(1, CM_EVENT_TIMEOUT, port);

    EXPECT(reported(0, CM_EVENT_REQUEST, port) <= 1, "port %u: the ULP was asked twice", port);
    EXPECT(reported(0, CM_EVENT_ESTABLISHED, port) <= 1, "port %u: the server has it twice", port);
    /* A client that was answered may hear later that the server has missed its RTU. */
    EXPECT(made + timeout <= 1 && rejected <= 1 && made + rejected + timeout >= 1,
           "port %u: %u made, %u rejected, %u timeouts", port, made, rejected, timeout);
    EXPECT(other % 2 == 0 || made == 0, "port %u: established where it is rejected", port);
    EXPECT(reported(0, CM_EVENT_ESTABLISHED, port) <= made, "port %u: the server has what the client has not", port);
    return made;
}

/* Loop: seeds. What can be said of every exchange, however bad the wire is. */
START_TEST(exchange_holds_on_a_bad_wire)
{
    unsigned made = 0;
    struct cm_agent_counts counts;

    cm_pair_prepare(&pair, (uint64_t)_i + 1);
    pair.lost = (unsigned)_i % 5 * 10;
    pair.doubled = (unsigned)_i % 7 * 10;
    pair.jitter_ns = SECOND * ((unsigned)_i % 3);
    pair.decide = decide;
    pair.config[0].mra_first = _i % 2 == 0;
    pair.config[0].linger_ns = 60 * SECOND; /* an MRA makes the client wait for longer between its REQs */
    cm_pair_begin(&pair);
    listen_all();
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        uint8_t consumer[56] = {(uint8_t)(FIRST_PORT + i), [55] = 0xEE};

        (void)cm_pair_connect(&pair, (uint16_t)(FIRST_PORT + i), consumer, sizeof(consumer));
    }
    cm_pair_run(&pair, 200 * SECOND);
    for (unsigned i = 0; i < CONNECTIONS; i++)
        made += judge(i);
    EXPECT(pair.lost != 0 || made == CONNECTIONS / 2, "%u of %u made without loss", made, CONNECTIONS / 2);
    EXPECT(made > 0, "none made");
    for (size_t i = 0, events = pair.events[1]; i < events; i++)
        if (pair.event[1][i].kind == CM_EVENT_ESTABLISHED)
            (void)cm_agent_disconnect(pair.agent[1], pair.event[1][i].id, pair.now, NULL);
    cm_pair_run(&pair, 400 * SECOND);
    cm_agent_counts(pair.agent[1], &counts);
    EXPECT(counts.exchanges == 0, "%zu exchanges are left at the client", counts.exchanges);
    cm_agent_counts(pair.agent[0], &counts);
    EXPECT(counts.exchanges == counts.established && (pair.lost != 0 || counts.exchanges == 0),
           "%zu exchanges are left at the server, %zu established", counts.exchanges, counts.established);
    cm_pair_end(&pair);
}
END_TEST

/* The n-th of many strangers sends a REQ with an ID of its own. */
static void flood_one(uint32_t n, uint64_t now)
{
    struct ip_cm_request fields = {
        .local_id = n + 1, .transaction = n, .source_port = 1, .destination_port = FIRST_PORT, .protocol = 6};
    struct cm_place from = {.family = 4, .address = {10, (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n}};
    struct cm_output output;
    uint8_t mad[MAD_OCTETS];

    net_address_parse(&fields.source, "192.0.2.1");
    net_address_parse(&fields.destination, "192.0.2.2");
    mad_ip_request(mad, &fields);
    cm_agent_input(pair.agent[0], &from, mad, sizeof(mad), now);
    while (cm_agent_output(pair.agent[0], &output))
        continue;
}

/*
 * Loop: the ULP is asked and never looks, or each REQ gets a REP that nobody answers. Never more exchanges than there
 * may be; those that are half open go by their timers, and a client that comes then is served.
 */
START_TEST(flood_of_reqs_is_bounded)
{
    struct cm_listener listener = cm_pair_listener(FIRST_PORT, _i == 0 ? CM_ANSWER_ASK : CM_ANSWER_ACCEPT);
    struct cm_listener good = cm_pair_listener(FIRST_PORT + 1, CM_ANSWER_ACCEPT);
    struct cm_agent_counts counts;
    struct cm_event event;
    size_t events = 0;

    cm_pair_prepare(&pair, 3);
    pair.config[0].exchanges_max = pair.config[0].events_max = pair.config[0].outputs_max = ROOM;
    cm_pair_begin(&pair);
    cm_pair_listen(&pair, &listener);
    cm_pair_listen(&pair, &good);
    for (uint32_t n = 0; n < FLOOD; n++) {
        flood_one(n, n);
        cm_agent_counts(pair.agent[0], &counts);
        EXPECT(counts.exchanges <= ROOM, "%zu exchanges", counts.exchanges);
    }
    ck_assert_uint_eq(counts.exchanges, ROOM);
    ck_assert_uint_eq(counts.refused, FLOOD - ROOM);
    while (cm_agent_deadline(pair.agent[0]) != UINT64_MAX) {
        struct cm_output output;

        cm_agent_tick(pair.agent[0], cm_agent_deadline(pair.agent[0]));
        while (cm_agent_output(pair.agent[0], &output))
            continue;
    }
    cm_agent_counts(pair.agent[0], &counts);
    ck_assert_uint_eq(counts.exchanges, 0);
    for (; cm_agent_poll(pair.agent[0], &event); events++)
        EXPECT(event.kind == CM_EVENT_REQUEST || event.kind == CM_EVENT_TIMEOUT, "event %d", (int)event.kind);
    ck_assert_uint_eq(events, _i == 0 ? 2 * ROOM : ROOM);
    pair.now = 200 * SECOND;
    (void)cm_pair_connect(&pair, FIRST_PORT + 1, NULL, 0);
    cm_pair_run(&pair, 201 * SECOND);
    (void)cm_pair_event(&pair, 1, CM_EVENT_ESTABLISHED);
    cm_pair_end(&pair);
}
END_TEST

/* REQs that are refused take no place at all, nor do answers that nobody fetches more than their room. */
START_TEST(refused_reqs_take_no_place)
{
    struct cm_agent_counts counts;
    struct cm_output output;
    uint8_t mad[MAD_OCTETS];
    size_t outputs = 0;

    cm_pair_prepare(&pair, 3);
    pair.config[0].outputs_max = ROOM;
    cm_pair_begin(&pair);
    for (uint32_t n = 0; n < FLOOD; n++) {
        struct cm_event event;

        cm_begin(mad, CM_REQ, n);
        octets_put32(mad + 24, n + 1);
        octets_put64(mad + 32, ip_cm_service_id(6, (uint16_t)n));
        cm_agent_input(pair.agent[0], &pair.place[1], mad, sizeof(mad), n);
        while (cm_agent_poll(pair.agent[0], &event))
            EXPECT(event.kind == CM_EVENT_REFUSED, "event %d", (int)event.kind);
    }
    cm_agent_counts(pair.agent[0], &counts);
    ck_assert_uint_eq(counts.exchanges, 0);
    while (cm_agent_output(pair.agent[0], &output))
        outputs++;
    ck_assert_uint_eq(outputs, ROOM);
    ck_assert_uint_eq(counts.lost_outputs, FLOOD - ROOM);
    cm_pair_end(&pair);
}
END_TEST

Suite *cm_bad_wire_suite(void)
{
    Suite *suite = suite_create("cm_bad_wire");
    TCase *tcase = tcase_create("bad wire");

    tcase_add_loop_test(tcase, exchange_holds_on_a_bad_wire, 0, SEEDS);
    tcase_add_loop_test(tcase, flood_of_reqs_is_bounded, 0, 2);
    tcase_add_test(tcase, refused_reqs_take_no_place);
    suite_add_tcase(suite, tcase);
    return suite;
}
