/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/tcp_pair.h"

#include <check.h>
#include <string.h>

#include "generator/link/random.h"

struct tcp_pair tcp_pair;

void tcp_pair_address(struct net_address *address, uint8_t family, char end)
{
    const char *text = family == 4 ? (end == 'a' ? "10.77.0.3" : "10.77.0.2") : (end == 'a' ? "fd77::3" : "fd77::2");

    ck_assert_int_eq(net_address_parse(address, text), 0);
}

static void watch(void *context, const uint8_t *frame, size_t octets, uint64_t time_ns, bool inbound)
{
    struct tcp_pair *p = context;
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
    struct iwarp_sentence error;
    struct tcp_stack *stack;

    tcp_pair_address(&config.ipv4, 4, end);
    tcp_pair_address(&config.ipv6, 6, end);
    stack = tcp_stack_new(&config, &error);
    ck_assert_msg(stack != NULL, "%s", error.text);
    return stack;
}

void tcp_pair_new(const struct sim_config *config, uint8_t family)
{
    memset(&tcp_pair, 0, sizeof(tcp_pair));
    tcp_pair.family = family;
    tcp_pair.sim = sim_new(config);
    tcp_pair.a = stack_at(tcp_pair.sim, 'a', config->seed * 2);
    tcp_pair.b = stack_at(tcp_pair.sim, 'b', config->seed * 2 + 1);
    sim_attach(tcp_pair.sim, SIM_END_A, &tcp_sim_node_ops, tcp_pair.a);
    sim_attach(tcp_pair.sim, SIM_END_B, &tcp_sim_node_ops, tcp_pair.b);
    sim_tap(tcp_pair.sim, watch, &tcp_pair);
}

void tcp_pair_free(void)
{
    tcp_stack_free(tcp_pair.a);
    tcp_stack_free(tcp_pair.b);
    sim_free(tcp_pair.sim);
}

static bool both_open(void *context)
{
    struct tcp_pair *p = context;

    if (p->cb == NULL)
        p->cb = tcp_accept(p->b, PORT);
    return p->cb != NULL && tcp_status(p->ca)->state == TCP_STATE_ESTABLISHED;
}

void tcp_pair_run(uint64_t nanoseconds)
{
    tcp_stack_set_time(tcp_pair.a, sim_now(tcp_pair.sim));
    tcp_stack_set_time(tcp_pair.b, sim_now(tcp_pair.sim));
    ck_assert_int_eq(sim_run_until(tcp_pair.sim, sim_now(tcp_pair.sim) + nanoseconds, NULL, NULL), 0);
    tcp_stack_set_time(tcp_pair.a, sim_now(tcp_pair.sim));
    tcp_stack_set_time(tcp_pair.b, sim_now(tcp_pair.sim));
}

void tcp_pair_open(const struct tcp_options *a_options, const struct tcp_options *b_options)
{
    struct net_address peer;
    struct iwarp_sentence error;

    tcp_pair_address(&peer, tcp_pair.family, 'b');
    ck_assert_int_eq(tcp_listen(tcp_pair.b, PORT, b_options, &error), 0);
    tcp_pair.ca = tcp_connect(tcp_pair.a, &peer, PORT, a_options, &error);
    ck_assert_msg(tcp_pair.ca != NULL, "%s", error.text);
    ck_assert_int_eq(sim_run_until(tcp_pair.sim, sim_now(tcp_pair.sim) + 300 * SECOND, both_open, &tcp_pair), 1);
}

void tcp_pair_open_clean(uint8_t family)
{
    struct sim_config config = {.seed = 7};

    tcp_pair_new(&config, family);
    tcp_pair_open(NULL, NULL);
}

void tcp_pair_fill(uint8_t *octets, size_t count, uint64_t seed)
{
    struct random random = {seed};

    for (size_t i = 0; i < count; i++)
        octets[i] = (uint8_t)random_next(&random);
}

void tcp_pair_expect(struct tcp_connection *c, const uint8_t *octets, size_t count)
{
    const uint8_t *got;
    size_t got_count;

    tcp_received(c, &got, &got_count);
    ck_assert_uint_eq(got_count, count);
    ck_assert_int_eq(count == 0 ? 0 : memcmp(got, octets, count), 0);
}
