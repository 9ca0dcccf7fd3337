/* SPDX-License-Identifier: BSD-2-Clause */
/* The tester's CM endpoint: against the reference agent, and alone where an agent does not do what a device may. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "generator/cm/cm_endpoint.h"
#include "generator/cm/roce_frame.h"
#include "reference-stack/cm/cm_agent.h"
#include "tests/unit/suites.h"

Suite *cm_endpoint_suite(void);

#define SECOND UINT64_C(1000000000)

enum { SENT_MAX = 64 };

static struct {
    struct cm_endpoint *endpoint;
    struct cm_agent *agent; /* NULL: nobody answers */
    uint64_t now;
    uint8_t sent[SENT_MAX][MAD_OCTETS];
    uint32_t flip;
    unsigned count;
} world;

static const struct net_address peer = {4, {10, 77, 0, 2}};
static const struct cm_place own = {.family = 4, .address = {10, 77, 0, 3}};

static void emit(void *context, const struct net_address *to, const uint8_t mad[MAD_OCTETS], uint32_t flip)
{
    (void)context;
    ck_assert(net_address_equal(to, &peer));
    memcpy(world.sent[world.count++ % SENT_MAX], mad, MAD_OCTETS);
    world.flip = flip;
}

static void setup(void)
{
    struct cm_endpoint_config config = {.seed = 7, .emit = emit};
    struct cm_agent_config agent;
    struct cm_listener listener = {.protocol = 6, .port = 3260, .answer = CM_ANSWER_ACCEPT};
    struct iwarp_sentence why;

    memset(&world, 0, sizeof(world));
    world.now = SECOND;
    world.endpoint = cm_endpoint_new(&config, &why);
    cm_agent_config_default(&agent);
    agent.seed = 5;
    agent.linger_ns = SECOND;
    world.agent = cm_agent_new(&agent, &why);
    ck_assert_ptr_nonnull(world.endpoint);
    ck_assert_int_eq(cm_agent_listen(world.agent, &listener, &why), 0);
    cm_endpoint_set_time(world.endpoint, world.now);
}

static void teardown(void)
{
    cm_endpoint_free(world.endpoint);
    cm_agent_free(world.agent);
}

/* MADs go in both directions until both are silent. */
static void turn(void)
{
    static unsigned given;
    struct cm_output output;
    bool more = true;

    if (world.count < given)
        given = 0;
    while (more) {
        more = false;
        for (; given < world.count; given++, more = true)
            cm_agent_input(world.agent, &own, world.sent[given % SENT_MAX], MAD_OCTETS, world.now);
        for (; cm_agent_output(world.agent, &output); more = true)
            cm_endpoint_input(world.endpoint, &peer, output.mad, true, world.now);
    }
}

static void pass(uint64_t ns)
{
    world.now += ns;
    cm_endpoint_tick(world.endpoint, world.now);
    cm_agent_tick(world.agent, world.now);
}

static struct cm_exchange *open_exchange(void)
{
    struct iwarp_sentence why;
    struct cm_exchange *exchange = cm_exchange_open(world.endpoint, &peer, &why);

    ck_assert_ptr_nonnull(exchange);
    return exchange;
}

/* A REQ with the exchange's IDs. */
static void request(const struct cm_exchange *exchange, uint16_t port, uint8_t mad[MAD_OCTETS])
{
    struct cm_exchange_status status;
    uint8_t *body = mad + MAD_HEADER_OCTETS;

    cm_exchange_status(exchange, &status);
    cm_begin(mad, CM_REQ, status.transaction);
    cm_req_set_LocalID(body, status.local_id);
    cm_req_set_ServiceID(body, ip_cm_service_id(6, port));
    cm_req_set_QPN(body, status.qpn);
    cm_req_set_MaxRetries(body, 3);
    cm_req_set_LocalTimeout(body, 18);
    ip_cm_private_set_IPV(cm_private(mad), 4);
}

static void answer(struct cm_exchange *exchange, enum cm_attribute attribute, uint8_t mad[MAD_OCTETS])
{
    struct cm_exchange_status status;

    cm_exchange_status(exchange, &status);
    cm_begin_answer(mad, attribute, status.transaction, status.local_id, status.remote_id);
}

static enum cm_exchange_state state_of(const struct cm_exchange *exchange)
{
    struct cm_exchange_status status;

    cm_exchange_status(exchange, &status);
    return status.state;
}

static struct cm_exchange *establish(void)
{
    struct cm_exchange *exchange = open_exchange();
    struct cm_received received;
    uint8_t mad[MAD_OCTETS];

    request(exchange, 3260, mad);
    cm_exchange_send(exchange, mad, &(struct cm_sending){3, SECOND, 0});
    turn();
    ck_assert(cm_exchange_next(exchange, &received));
    ck_assert_uint_eq(mad_get_AttributeID(received.mad), CM_REP);
    ck_assert_int_eq(state_of(exchange), CM_EXCHANGE_REPLIED);
    answer(exchange, CM_RTU, mad);
    cm_exchange_send(exchange, mad, &(struct cm_sending){0});
    turn();
    ck_assert_int_eq(state_of(exchange), CM_EXCHANGE_ESTABLISHED);
    return exchange;
}

START_TEST(no_exchange_is_in_the_way_of_the_next)
{
    struct cm_agent_counts counts;

    for (int i = 0; i < 3; i++) {
        struct cm_exchange *exchange = establish();

        cm_agent_counts(world.agent, &counts);
        ck_assert_uint_eq(counts.established, 1);
        cm_exchange_release(exchange);
        turn();
        cm_agent_counts(world.agent, &counts);
        ck_assert_uint_eq(counts.established, 0);
    }
    pass(60 * SECOND);
    cm_agent_counts(world.agent, &counts);
    ck_assert_uint_eq(counts.exchanges, 0);
    ck_assert_uint_eq(cm_endpoint_deadline(world.endpoint), CM_ENDPOINT_NEVER);
}
END_TEST

START_TEST(ids_are_fresh)
{
    struct cm_exchange_status a, b;

    cm_exchange_status(open_exchange(), &a);
    cm_exchange_status(open_exchange(), &b);
    ck_assert_uint_ne(a.local_id, b.local_id);
    ck_assert_uint_ne(a.transaction, b.transaction);
    ck_assert_uint_ne(a.qpn, b.qpn);
}
END_TEST

START_TEST(an_unanswered_request_is_sent_again)
{
    struct cm_exchange *exchange = open_exchange();
    struct cm_exchange_status status;
    uint8_t mad[MAD_OCTETS];

    request(exchange, 3260, mad);
    cm_exchange_send(exchange, mad, &(struct cm_sending){3, SECOND, 0x10});
    ck_assert_uint_eq(world.flip, 0x10);
    for (unsigned i = 2; i <= 4; i++) {
        cm_exchange_status(exchange, &status);
        ck_assert(status.waiting);
        pass(SECOND);
        ck_assert_uint_eq(world.count, i < 4 ? i : 3);
        ck_assert_mem_eq(world.sent[0], world.sent[world.count - 1], MAD_OCTETS);
    }
    cm_exchange_status(exchange, &status);
    ck_assert(!status.waiting);
    ck_assert_uint_eq(status.attempts, 3);
}
END_TEST

START_TEST(an_mra_prolongs_the_wait)
{
    struct cm_exchange *exchange = open_exchange();
    struct cm_exchange_status status;
    struct cm_received received;
    uint8_t mad[MAD_OCTETS], mra[MAD_OCTETS];

    request(exchange, 3260, mad);
    cm_exchange_send(exchange, mad, &(struct cm_sending){2, SECOND, 0});
    cm_exchange_status(exchange, &status);
    cm_begin_answer(mra, CM_MRA, status.transaction, 99, status.local_id);
    cm_mra_set_Timeout(mra + MAD_HEADER_OCTETS, 20); /* 4.3 s */
    cm_endpoint_input(world.endpoint, &peer, mra, true, world.now);
    ck_assert(cm_exchange_next(exchange, &received));
    pass(5 * SECOND);
    cm_exchange_status(exchange, &status);
    ck_assert(status.waiting);
    ck_assert_uint_eq(world.count, 1);
    pass(SECOND);
    cm_exchange_status(exchange, &status);
    ck_assert(!status.waiting);
}
END_TEST

START_TEST(a_repeated_answer_is_counted_apart)
{
    struct cm_exchange *exchange = establish();
    struct cm_exchange_status status;
    struct cm_received received;
    uint8_t rep[MAD_OCTETS];
    unsigned sent = world.count;

    cm_exchange_status(exchange, &status);
    cm_begin_answer(rep, CM_REP, status.transaction, status.remote_id, status.local_id);
    for (int i = 0; i < 2; i++)
        cm_endpoint_input(world.endpoint, &peer, rep, true, world.now);
    cm_exchange_status(exchange, &status);
    ck_assert_uint_eq(status.repeated, 1);
    ck_assert(cm_exchange_next(exchange, &received)); /* other octets than the agent's REP: once */
    ck_assert(!cm_exchange_next(exchange, &received));
    ck_assert_uint_eq(world.count, sent + 1); /* the RTU, for the second one */
    ck_assert_uint_eq(mad_get_AttributeID(world.sent[sent]), CM_RTU);
}
END_TEST

/* Two that answer each other's repeated answers would never end. */
START_TEST(a_repeated_rejection_draws_nothing)
{
    struct cm_exchange *exchange = open_exchange();
    struct cm_exchange_status status;
    uint8_t mad[MAD_OCTETS], rej[MAD_OCTETS];

    request(exchange, 3260, mad);
    cm_exchange_send(exchange, mad, &(struct cm_sending){1, SECOND, 0});
    cm_exchange_status(exchange, &status);
    cm_begin_answer(rej, CM_REJ, status.transaction, 0, status.local_id);
    for (int i = 0; i < 3; i++)
        cm_endpoint_input(world.endpoint, &peer, rej, true, world.now);
    cm_exchange_status(exchange, &status);
    ck_assert_uint_eq(status.repeated, 2);
    ck_assert_uint_eq(world.count, 1);
}
END_TEST

START_TEST(a_late_reply_is_rejected)
{
    struct cm_exchange *exchange = open_exchange();
    struct cm_exchange_status status;
    uint8_t mad[MAD_OCTETS], rep[MAD_OCTETS];

    request(exchange, 3260, mad);
    cm_exchange_send(exchange, mad, &(struct cm_sending){1, SECOND, 0});
    cm_exchange_status(exchange, &status);
    cm_exchange_release(exchange);
    ck_assert_uint_eq(world.count, 1);
    cm_begin_answer(rep, CM_REP, status.transaction, 55, status.local_id);
    cm_endpoint_input(world.endpoint, &peer, rep, true, world.now);
    ck_assert_uint_eq(world.count, 2);
    ck_assert_uint_eq(mad_get_AttributeID(world.sent[1]), CM_REJ);
    ck_assert_uint_eq(cm_rej_get_Message(world.sent[1] + MAD_HEADER_OCTETS), 1);
    ck_assert_uint_eq(cm_rej_get_RemoteID(world.sent[1] + MAD_HEADER_OCTETS), 55);
}
END_TEST

START_TEST(a_request_is_offered_once)
{
    struct cm_exchange *client = open_exchange(), *server;
    struct cm_received received;
    uint8_t mad[MAD_OCTETS];

    request(client, 9, mad);
    for (int i = 0; i < 3; i++)
        cm_endpoint_input(world.endpoint, &peer, mad, true, world.now);
    server = cm_endpoint_accept(world.endpoint);
    ck_assert_ptr_nonnull(server);
    ck_assert_ptr_null(cm_endpoint_accept(world.endpoint));
    ck_assert(cm_exchange_next(server, &received));
    ck_assert_mem_eq(received.mad, mad, MAD_OCTETS);
    cm_exchange_release(server);
    ck_assert_uint_eq(mad_get_AttributeID(world.sent[0]), CM_REJ);
}
END_TEST

START_TEST(strangers_change_nothing)
{
    struct net_address other = {4, {10, 77, 0, 9}};
    struct cm_exchange *exchange = open_exchange();
    struct cm_exchange_status status;
    struct cm_received received;
    uint8_t mad[MAD_OCTETS], rep[MAD_OCTETS], none[MAD_OCTETS] = {0};

    request(exchange, 3260, mad);
    cm_exchange_send(exchange, mad, &(struct cm_sending){1, SECOND, 0});
    cm_exchange_status(exchange, &status);
    cm_begin_answer(rep, CM_REP, status.transaction, 55, status.local_id);
    cm_endpoint_input(world.endpoint, &other, rep, true, world.now);
    cm_begin_answer(rep, CM_REP, status.transaction, 55, status.local_id + 100);
    cm_endpoint_input(world.endpoint, &peer, rep, true, world.now);
    cm_endpoint_input(world.endpoint, &peer, none, true, world.now);
    ck_assert_uint_eq(cm_endpoint_strangers(world.endpoint), 3);
    ck_assert(!cm_exchange_next(exchange, &received));
    ck_assert_int_eq(state_of(exchange), CM_EXCHANGE_REQUESTED);
}
END_TEST

START_TEST(a_flood_of_requests_is_bounded)
{
    struct cm_exchange *client = open_exchange();
    uint8_t mad[MAD_OCTETS];
    unsigned offered = 0;

    request(client, 9, mad);
    for (uint32_t i = 0; i < 1000; i++) {
        cm_req_set_LocalID(mad + MAD_HEADER_OCTETS, 70000 + i);
        cm_endpoint_input(world.endpoint, &peer, mad, true, world.now);
    }
    while (cm_endpoint_accept(world.endpoint) != NULL)
        offered++;
    ck_assert_uint_eq(offered, CM_ENDPOINT_ACCEPTS);
}
END_TEST

START_TEST(frames_of_both_families)
{
    struct roce_ends ends = {.source = {4, {10, 0, 0, 1}}, .destination = {4, {10, 0, 0, 2}}, .psn = 77};
    uint8_t frame[ROCE_FRAME_MAX], mad[MAD_OCTETS];
    struct roce_frame read;
    size_t count;

    if (_i == 1) {
        (void)net_address_parse(&ends.source, "fd77::3");
        (void)net_address_parse(&ends.destination, "fd77::2");
    }
    cm_begin(mad, CM_REQ, 42);
    count = roce_frame_build(frame, sizeof(frame), &ends, mad);
    ck_assert_uint_ne(count, 0);
    ck_assert(roce_frame_parse(&read, frame, count));
    ck_assert_mem_eq(read.mad, mad, MAD_OCTETS);
    ck_assert(read.icrc_good && net_address_equal(&read.source, &ends.source));
    ck_assert(net_address_equal(&read.destination, &ends.destination));
    for (size_t i = 0; i < count; i++) {
        uint8_t *cut = malloc(i + 1);

        memcpy(cut, frame, i);
        ck_assert(!roce_frame_parse(&read, cut, i));
        free(cut);
    }
    ends.icrc_flip = 1;
    count = roce_frame_build(frame, sizeof(frame), &ends, mad);
    ck_assert(roce_frame_parse(&read, frame, count) && !read.icrc_good);
}
END_TEST

Suite *cm_endpoint_suite(void)
{
    Suite *suite = suite_create("cm_endpoint");
    TCase *tcase = tcase_create("cm_endpoint");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, no_exchange_is_in_the_way_of_the_next);
    tcase_add_test(tcase, ids_are_fresh);
    tcase_add_test(tcase, an_unanswered_request_is_sent_again);
    tcase_add_test(tcase, an_mra_prolongs_the_wait);
    tcase_add_test(tcase, a_repeated_answer_is_counted_apart);
    tcase_add_test(tcase, a_repeated_rejection_draws_nothing);
    tcase_add_test(tcase, a_late_reply_is_rejected);
    tcase_add_test(tcase, a_request_is_offered_once);
    tcase_add_test(tcase, strangers_change_nothing);
    tcase_add_test(tcase, a_flood_of_requests_is_bounded);
    tcase_add_loop_test(tcase, frames_of_both_families, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite;
}
