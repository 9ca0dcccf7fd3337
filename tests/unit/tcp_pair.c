/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/tcp_pair.h"

#include <check.h>
#include <string.h>

#include "generator/random.h"

struct pair pair;

void pair_address(struct net_address *address, uint8_t family, char end)
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

    pair_address(&config.ipv4, 4, end);
    pair_address(&config.ipv6, 6, end);
    stack = tcp_stack_new(&config, &error);
    ck_assert_msg(stack != NULL, "%s", error.text);
    return stack;
}

void pair_new(const struct sim_config *config, uint8_t family)
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

void pair_free(void)
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

void pair_run(uint64_t nanoseconds)
{
    tcp_stack_set_time(pair.a, sim_now(pair.sim));
    tcp_stack_set_time(pair.b, sim_now(pair.sim));
    ck_assert_int_eq(sim_run_until(pair.sim, sim_now(pair.sim) + nanoseconds, NULL, NULL), 0);
    tcp_stack_set_time(pair.a, sim_now(pair.sim));
    tcp_stack_set_time(pair.b, sim_now(pair.sim));
}

void pair_open(const struct tcp_options *a_options, const struct tcp_options *b_options)
{
    struct net_address peer;
    struct sentence error;

    pair_address(&peer, pair.family, 'b');
    ck_assert_int_eq(tcp_listen(pair.b, PORT, b_options, &error), 0);
    pair.ca = tcp_connect(pair.a, &peer, PORT, a_options, &error);
    ck_assert_msg(pair.ca != NULL, "%s", error.text);
    ck_assert_int_eq(sim_run_until(pair.sim, sim_now(pair.sim) + 300 * SECOND, both_open, &pair), 1);
}

void pair_open_clean(uint8_t family)
{
    struct sim_config config = {.seed = 7};

    pair_new(&config, family);
    pair_open(NULL, NULL);
}

void pair_fill(uint8_t *octets, size_t count, uint64_t seed)
{
    struct random random = {seed};

    for (size_t i = 0; i < count; i++)
        octets[i] = (uint8_t)random_next(&random);
}

void pair_expect(struct tcp_connection *c, const uint8_t *octets, size_t count)
{
    const uint8_t *got;
    size_t got_count;

    tcp_received(c, &got, &got_count);
    ck_assert_uint_eq(got_count, count);
    ck_assert_int_eq(count == 0 ? 0 : memcmp(got, octets, count), 0);
}
