/* SPDX-License-Identifier: BSD-2-Clause */
/* Who has which MAC: ARP (RFC 826) and IPv6 neighbour discovery (RFC 4861), asked and answered. */
#include <stdlib.h>
#include <string.h>

#include "generator/tcp/tcp_internal.h"

#define ASK_AGAIN_NS UINT64_C(500000000)
#define ASK_TIMES    5

static struct tcp_neighbour *find(const struct tcp_stack *stack, const struct net_address *address)
{
    for (struct tcp_neighbour *n = stack->neighbours; n != NULL; n = n->next)
        if (net_address_equal(&n->address, address))
            return n;
    return NULL;
}

static struct tcp_neighbour *add(struct tcp_stack *stack, const struct net_address *address)
{
    struct tcp_neighbour *n = calloc(1, sizeof(*n));

    if (n == NULL)
        return NULL;
    n->address = *address;
    n->retry_at = TCP_NEVER;
    n->next = stack->neighbours;
    stack->neighbours = n;
    return n;
}

static const struct net_address *next_hop(const struct tcp_stack *stack, const struct net_address *peer)
{
    const struct net_address *hop = peer->family == 4 ? &stack->config.next_hop_ipv4 : &stack->config.next_hop_ipv6;

    return hop->family != 0 ? hop : peer;
}

static void ask(struct tcp_stack *stack, struct tcp_neighbour *n)
{
    static const uint8_t nobody[6];
    const struct tcp_stack_config *config = &stack->config;
    size_t octets;

    n->attempts++;
    n->retry_at = stack->now + ASK_AGAIN_NS;
    if (n->address.family == 4)
        octets = packet_build_arp(stack->frame, sizeof(stack->frame), PACKET_ARP_REQUEST, config->mac,
                                  config->ipv4.octets, nobody, n->address.octets);
    else
        octets = packet_build_neighbour_solicitation(stack->frame, sizeof(stack->frame), config->mac,
                                                     config->ipv6.octets, n->address.octets);
    config->emit(config->context, stack->frame, octets);
}

bool tcp_neighbour_lookup(struct tcp_stack *stack, const struct net_address *peer, uint8_t mac[6])
{
    const struct net_address *hop = next_hop(stack, peer);
    struct tcp_neighbour *n = find(stack, hop);

    if (n != NULL && n->known) {
        memcpy(mac, n->mac, 6);
        return true;
    }
    if (n == NULL)
        n = add(stack, hop);
    if (n != NULL && n->retry_at == TCP_NEVER) {
        n->attempts = 0;
        ask(stack, n);
    }
    return false;
}

/* Connections that wait for this MAC begin now. */
static void wake(struct tcp_stack *stack, const struct tcp_neighbour *n)
{
    for (struct tcp_connection *c = stack->connections; c != NULL; c = c->next) {
        if (c->mac_known || c->status.state != TCP_STATE_SYN_SENT ||
            !net_address_equal(next_hop(stack, &c->status.peer), &n->address))
            continue;
        memcpy(c->mac, n->mac, 6);
        c->mac_known = true;
        if (tcp_send_syn(c) != 0)
            tcp_connection_close(c, TCP_CAUSE_UNREACHABLE);
    }
}

int tcp_neighbour_learn(struct tcp_stack *stack, const struct net_address *address, const uint8_t mac[6], bool create)
{
    struct tcp_neighbour *n = find(stack, address);

    if (n == NULL) {
        if (!create)
            return 0;
        n = add(stack, address);
        if (n == NULL)
            return -1;
    }
    memcpy(n->mac, mac, 6);
    n->known = true;
    n->retry_at = TCP_NEVER;
    wake(stack, n);
    return 0;
}

static void arp_input(struct tcp_stack *stack, const struct packet *packet)
{
    const struct tcp_stack_config *config = &stack->config;
    size_t octets;

    (void)tcp_neighbour_learn(stack, &packet->source, packet->neighbour_mac, false);
    if (packet->arp_operation != PACKET_ARP_REQUEST || config->ipv4.family != 4 ||
        !net_address_equal(&packet->destination, &config->ipv4))
        return;
    octets = packet_build_arp(stack->frame, sizeof(stack->frame), PACKET_ARP_REPLY, config->mac, config->ipv4.octets,
                              packet->neighbour_mac, packet->source.octets);
    config->emit(config->context, stack->frame, octets);
}

static void solicitation_input(struct tcp_stack *stack, const struct packet *packet)
{
    static const uint8_t unspecified[16];
    const struct tcp_stack_config *config = &stack->config;
    const uint8_t *mac = packet->neighbour_mac != NULL ? packet->neighbour_mac : packet->ethernet_source;
    size_t octets;

    /* RFC 4861 section 7.1.1: hop limit 255, or it came from another link. Address detection is not ours to answer. */
    if (packet->hop_limit != 255 || config->ipv6.family != 6 || !net_address_equal(&packet->target, &config->ipv6) ||
        memcmp(packet->source.octets, unspecified, 16) == 0)
        return;
    (void)tcp_neighbour_learn(stack, &packet->source, mac, false);
    octets = packet_build_neighbour_advertisement(stack->frame, sizeof(stack->frame), config->mac, config->ipv6.octets,
                                                  mac, packet->source.octets);
    config->emit(config->context, stack->frame, octets);
}

void tcp_neighbour_input(struct tcp_stack *stack, const struct packet *packet)
{
    if (packet->kind == PACKET_ARP)
        arp_input(stack, packet);
    else if (packet->kind == PACKET_SOLICITATION)
        solicitation_input(stack, packet);
    else if (packet->kind == PACKET_ADVERTISEMENT && packet->hop_limit == 255)
        (void)tcp_neighbour_learn(stack, &packet->target,
                                  packet->neighbour_mac != NULL ? packet->neighbour_mac : packet->ethernet_source,
                                  false);
}

/* Nobody answered: whoever waits for this MAC will not get it. */
static void give_up(struct tcp_stack *stack, struct tcp_neighbour *n)
{
    n->retry_at = TCP_NEVER;
    for (struct tcp_connection *c = stack->connections; c != NULL; c = c->next)
        if (!c->mac_known && c->status.state == TCP_STATE_SYN_SENT &&
            net_address_equal(next_hop(stack, &c->status.peer), &n->address))
            tcp_connection_close(c, TCP_CAUSE_UNREACHABLE);
}

void tcp_neighbour_tick(struct tcp_stack *stack)
{
    for (struct tcp_neighbour *n = stack->neighbours; n != NULL; n = n->next) {
        if (n->retry_at > stack->now)
            continue;
        if (n->attempts < ASK_TIMES)
            ask(stack, n);
        else
            give_up(stack, n);
    }
}

uint64_t tcp_neighbour_deadline(const struct tcp_stack *stack)
{
    uint64_t deadline = TCP_NEVER;

    for (const struct tcp_neighbour *n = stack->neighbours; n != NULL; n = n->next)
        if (n->retry_at < deadline)
            deadline = n->retry_at;
    return deadline;
}

int tcp_stack_add_neighbour(struct tcp_stack *stack, const struct net_address *address, const uint8_t mac[6])
{
    return tcp_neighbour_learn(stack, address, mac, true);
}

bool tcp_stack_neighbour(struct tcp_stack *stack, const struct net_address *peer, uint8_t mac[6])
{
    return tcp_neighbour_lookup(stack, peer, mac);
}
