/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of bench_stack: rounds of the stack and of what it is compared with, one right after the other. */
#ifndef TESTS_BENCH_STACK_TABLE_H
#define TESTS_BENCH_STACK_TABLE_H

#include "tests/bench/plain_tcp.h"

enum kind { WRITE, READ, SEND, PING, ATOMIC };

/* One run of `limit` seconds with messages of `size` octets; `plain`: of what the stack is compared with. */
typedef struct result stack_run(bool plain, enum kind kind, size_t size, double limit);

/* Measures and prints; the arguments are those of bench_stack without "sctp", `other` the name of what is plain. */
void stack_table(int argc, char **argv, const char *other, stack_run *run);

#endif
