/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that strangers make the peer hold: refused beyond the limit, and given back to the last octet. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/base/budget.h"
#include "reference-stack/peer/peer_internal.h"
#include "tests/unit/still_transport.h"
#include "wire/fpdu.h"

Suite *budget_suite(void);

enum { MEMORY = 1 << 20, LISTEN = 7 };

static int transports[64];

static const struct peer_transport_ops ops = {STILL_TRANSPORT};

static struct peer *peer_of(uint64_t memory)
{
    const struct peer_config config = {.memory_max = memory};
    struct peer *peer = peer_new(&config, &ops, NULL, NULL);

    ck_assert_ptr_nonnull(peer);
    return peer;
}

/* Does the reply hold this text? */
static bool says(struct peer *peer, const char *line, const char *text)
{
    char *reply = peer_command(peer, line, 1);
    bool good = reply != NULL && strstr(reply, text) != NULL;

    free(reply);
    return good;
}

#define OK "\"ok\":true"

START_TEST(budget_refuses_what_exceeds_it)
{
    struct budget budget = {.most = 10};

    ck_assert(budget_charge(&budget, 4));
    ck_assert(!budget_charge(&budget, 7));
    ck_assert(!budget_charge(&budget, UINT64_MAX));
    ck_assert_uint_eq(budget.refused, 2);
    ck_assert(budget_charge(&budget, 6));
    ck_assert(!budget_charge(&budget, 1));
    budget_add(&budget, 5);
    ck_assert(!budget_charge(&budget, 1));
    budget_give(&budget, 15);
    ck_assert_uint_eq(budget.used, 0);
    ck_assert(budget_charge(NULL, UINT64_MAX));
    budget.most = 0;
    ck_assert(budget_charge(&budget, UINT64_MAX));
}
END_TEST

/* Peers have taken all that they may, and the operator is still served. */
START_TEST(budget_has_a_reserve)
{
    struct budget budget = {.most = 1600};

    while (budget_charge(&budget, 1)) {
    }
    ck_assert_uint_eq(budget.used, 1500);
    ck_assert(budget_charge_reserved(&budget, 100));
    ck_assert(!budget_charge_reserved(&budget, 1));
    ck_assert(budget_charge_reserved(NULL, UINT64_MAX));
}
END_TEST

START_TEST(regions_are_given_back)
{
    struct peer *peer = peer_of(MEMORY);

    ck_assert(says(peer, "{\"verb\":\"reg_mr\",\"length\":600000,\"stag\":1}", OK));
    ck_assert(says(peer, "{\"verb\":\"reg_mr\",\"length\":600000,\"stag\":2}", "exceed the limit of memory"));
    ck_assert(says(peer, "{\"verb\":\"reg_mr\",\"length\":1000,\"stag\":2,\"fill\":256}", "\"ok\":false"));
    ck_assert(says(peer, "{\"verb\":\"dereg\",\"stag\":1}", OK));
    ck_assert_uint_eq(peer_budget(peer)->used, 0);
    ck_assert(says(peer, "{\"verb\":\"reg_mr\",\"length\":900000,\"stag\":2}", OK));
    ck_assert(says(peer, "{\"verb\":\"reset\"}", OK));
    ck_assert_uint_eq(peer_budget(peer)->used, 0);
    peer_free(peer);
}
END_TEST

/* Streams with their receives, and the events that tell of them. */
START_TEST(streams_are_refused_and_given_back)
{
    struct peer *peer = peer_of(MEMORY);
    struct peer_stream *streams[64];
    size_t count = 0, dead;

    ck_assert(says(peer, "{\"verb\":\"listen\",\"port\":7,\"receives\":10,\"receive_octets\":2000}", OK));
    while (count < 64 && (streams[count] = peer_accepted(peer, LISTEN, &transports[count], 1)) != NULL)
        count++;
    ck_assert_uint_gt(count, 4);
    ck_assert_uint_lt(count, 15);
    ck_assert_uint_le(peer_budget(peer)->used, MEMORY);
    ck_assert_uint_gt(peer_budget(peer)->refused, 0);
    peer_input_reset(streams[0], 2);
    peer_input_reset(streams[1], 2);
    ck_assert(says(peer, "{\"verb\":\"poll\"}", OK));
    ck_assert(says(peer, "{\"verb\":\"reset\"}", OK));
    dead = peer->stream_count; /* their numbers stay taken for a while */
    ck_assert_uint_eq(peer_budget(peer)->used, dead * sizeof(struct peer_stream));
    peer_free(peer);
}
END_TEST

/* A flood that has gone takes nothing away from those who come after it. */
START_TEST(a_flood_is_forgotten)
{
    struct peer *peer = peer_of(MEMORY);

    ck_assert(says(peer, "{\"verb\":\"listen\",\"port\":7,\"receives\":0}", OK));
    for (size_t i = 0; i < 2000; i++) {
        struct peer_stream *stream = peer_accepted(peer, LISTEN, &transports[0], 1);

        ck_assert_ptr_nonnull(stream);
        peer_input_reset(stream, 2);
        if (i % 100 == 0)
            ck_assert(says(peer, "{\"verb\":\"poll\"}", OK));
    }
    ck_assert(says(peer, "{\"verb\":\"poll\"}", OK));
    ck_assert_uint_le(peer->dead_count, PEER_DEAD_MAX + 1);
    ck_assert_uint_le(peer_budget(peer)->used, (PEER_DEAD_MAX + 1) * sizeof(struct peer_stream));
    peer_free(peer);
}
END_TEST

/* What nobody polls leaves most of the memory to the streams. */
START_TEST(events_take_their_share)
{
    struct peer *peer = peer_of(MEMORY);
    char *reply;

    for (int i = 0; i < 2000; i++)
        (void)peer_event_new(peer, 1, "noise");
    ck_assert_uint_gt(peer_budget(peer)->used, MEMORY / 8);
    ck_assert_uint_le(peer_budget(peer)->used, MEMORY / PEER_EVENT_SHARE);
    reply = peer_command(peer, "{\"verb\":\"poll\"}", 1);
    ck_assert_ptr_nonnull(reply);
    ck_assert_ptr_null(strstr(reply, "\"lost\":0"));
    free(reply);
    ck_assert_uint_eq(peer_budget(peer)->used, 0);
    peer_free(peer);
}
END_TEST

START_TEST(commands_of_many_values_are_refused)
{
    struct peer *peer = peer_of(0);
    size_t count = 200000;
    char *line = malloc(count + 3);

    ck_assert_ptr_nonnull(line);
    line[0] = '[';
    for (size_t i = 1; i <= count; i++)
        line[i] = i % 2 == 1 ? '1' : ',';
    memcpy(line + count, "1]", 3);
    ck_assert(says(peer, line, "more than 65536 values"));
    free(line);
    ck_assert(says(peer, "[1,2]", "\"ok\":false"));
    peer_free(peer);
}
END_TEST

Suite *budget_suite(void)
{
    Suite *suite = suite_create("budget");
    TCase *tests = tcase_create("budget");

    tcase_add_test(tests, budget_refuses_what_exceeds_it);
    tcase_add_test(tests, budget_has_a_reserve);
    tcase_add_test(tests, regions_are_given_back);
    tcase_add_test(tests, streams_are_refused_and_given_back);
    tcase_add_test(tests, a_flood_is_forgotten);
    tcase_add_test(tests, events_take_their_share);
    tcase_add_test(tests, commands_of_many_values_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
