/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of confine() that is about system calls: a table of them, and filters made of it (seccomp(2)). */
#ifndef REFERENCE_STACK_CONFINE_CALLS_H
#define REFERENCE_STACK_CONFINE_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/sentence.h"

/* What the kernel answers to a call of a confined process. A call that no row names is absent. */
enum confine_answer {
    CONFINE_ALLOWED,
    CONFINE_FORBIDDEN, /* EPERM: callers have no other way */
    CONFINE_ABSENT,    /* ENOSYS, as in an older kernel: libraries have another way */
};

struct confine_calls {
    enum confine_answer answer;
    unsigned needs;     /* enum confine_need: the row allows its calls to processes that need one of these; 0: to all */
    const char *reason; /* which programs need them, or why none does */
    const char *names;  /* with one space in between, of all architectures and of newer kernels */
};

extern const struct confine_calls confine_calls[];
extern const size_t confine_calls_count;

/* False: this build has no filter, or the process runs under valgrind. */
bool confine_calls_filtered(void);

/*
 * Filters the calls of this process and of its children: what the table allows to those with `needs` remains. 0, also
 * where the kernel has no seccomp; -1 with a sentence: memory is short.
 */
int confine_calls_filter(unsigned needs, struct iwarp_sentence *error);

/* Filters only what the table calls absent. 0 or -1, as above. */
int confine_calls_absent(struct iwarp_sentence *error);

#endif
