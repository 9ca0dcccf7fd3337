/* SPDX-License-Identifier: BSD-2-Clause */
/* Support for tests of the TCP endpoint: two stacks on one simulated wire, and an eye on it. */
#ifndef TESTS_UNIT_TCP_PAIR_H
#define TESTS_UNIT_TCP_PAIR_H

#include <stddef.h>
#include <stdint.h>

#include "generator/tcp/tcp.h"
#include "generator/tcp/tcp_link.h"

#define SECOND       UINT64_C(1000000000)
#define PORT         4000
#define SEGMENTS_MAX 4096

/* Two stacks on a wire, and what was seen on it of octets towards B. */
struct tcp_pair {
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

/* The one of this test; Check forks for each. */
extern struct tcp_pair tcp_pair;

/* The address of end 'a' or 'b'. */
void tcp_pair_address(struct net_address *address, uint8_t family, char end);

/* Two stacks on a wire, nothing open yet. */
void tcp_pair_new(const struct sim_config *config, uint8_t family);

void tcp_pair_free(void);

/* Turns the world; both stacks know the time afterwards. */
void tcp_pair_run(uint64_t nanoseconds);

/* `ca` connects to PORT of end B, which accepts `cb`. */
void tcp_pair_open(const struct tcp_options *a_options, const struct tcp_options *b_options);

/* All of that on a clean wire. */
void tcp_pair_open_clean(uint8_t family);

/* Octets that a seed decides. */
void tcp_pair_fill(uint8_t *octets, size_t count, uint64_t seed);

/* What is received and not consumed is exactly this. */
void tcp_pair_expect(struct tcp_connection *c, const uint8_t *octets, size_t count);

#endif
