/* SPDX-License-Identifier: BSD-2-Clause */
/* The TCP endpoint (generator/tcp/tcp.h) as a tester. */
#ifndef CONFORMANCE_ENGINE_TESTER_TCP_H
#define CONFORMANCE_ENGINE_TESTER_TCP_H

#include "conformance/engine/rig/tester.h"
#include "generator/tcp/tcp.h"

struct tester_tcp {
    struct tester tester;
    struct tcp_stack *stack; /* NULL: the rig has no TCP */
};

/* A TCP of this configuration. 0, or -1 with a sentence. tester_tcp_close() frees its stack. */
int tester_tcp_open(struct tester_tcp *tcp, const struct tcp_stack_config *config, struct iwarp_sentence *error);

/* Frees the stack; nothing is sent. A tester that was not opened is allowed. */
void tester_tcp_close(struct tester_tcp *tcp);

#endif
