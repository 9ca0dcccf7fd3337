/* SPDX-License-Identifier: BSD-2-Clause */
/* One plain kernel TCP stream on loopback between two processes, to compare the stack with; and the clocks of both. */
#ifndef TESTS_BENCH_PLAIN_TCP_H
#define TESTS_BENCH_PLAIN_TCP_H

#include <stdbool.h>
#include <stddef.h>

/* Of a process and of those that it has waited for; also what that is for each octet or round. */
struct usage {
    double user, system; /* seconds of processor time */
    double switches;     /* context switches */
};

/* What one run has shown. */
struct result {
    double rate; /* octets, rounds or atomics a second */
    struct usage each;
};

/* Messages of `size` octets one way, or (ping) there and back, for `limit` seconds. */
struct result plain_tcp(bool ping, size_t size, double limit);

double seconds_now(void);
struct usage usage_now(void);
/* What was used since `before` for each of `done`. */
struct usage usage_each(const struct usage *before, double done);

/*
 * The process runs on the first (0) or the second (1) of the processors that the benchmark was started with from now on; with one
 * (taskset -c 0) all share it.
 */
void pin_process(unsigned which);

/* Says what failed, and ends the program. */
_Noreturn void die(const char *what);

#endif
