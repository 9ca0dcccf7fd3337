/* SPDX-License-Identifier: BSD-2-Clause */
/* One plain kernel TCP stream on loopback between two processes, to compare the stack with; and the clocks of both. */
#ifndef TESTS_BENCH_PLAIN_TCP_H
#define TESTS_BENCH_PLAIN_TCP_H

#include <stdbool.h>
#include <stddef.h>

/* What one run has shown. */
struct result {
    double rate;      /* octets, rounds or atomics a second */
    double processor; /* seconds for each of them */
};

/* Messages of `size` octets one way, or (ping) there and back, for `limit` seconds. */
struct result plain_tcp(bool ping, size_t size, double limit);

double seconds_now(void);
/* Processor time of this process and of those that it has waited for. */
double processor_now(void);

/* Says what failed, and ends the program. */
_Noreturn void die(const char *what);

#endif
