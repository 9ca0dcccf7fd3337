/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * After a program has opened its files and sockets, and before it reads untrusted input, it drops capabilities, new
 * privileges, unneeded system calls (seccomp) and unneeded files (Landlock). Children inherit these limits. They cannot
 * be undone.
 *
 * seccomp (confine_calls.h) and Landlock (confine_files.h) are used where the kernel has them; confine_describe() says
 * which. confine_files.h and the top of confine_files.c list what builds with a sanitizer or coverage do not confine.
 */
#ifndef REFERENCE_STACK_CONFINE_H
#define REFERENCE_STACK_CONFINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/sentence.h"

enum confine_need {
    CONFINE_CONNECTIONS = 1, /* opens connections, or takes them */
    CONFINE_SIGNALS = 2,     /* sends signals to processes that it has started before */
};

struct confine_config {
    const char *const
        *writable;         /* folders below which it makes, changes and removes files, and files that it changes */
    size_t writable_count; /* one that is not there is left out */
    unsigned needs;        /* enum confine_need */
    uint64_t capabilities; /* that it keeps where it has them: bits by their numbers (capabilities(7)) */
};

/*
 * Confines the process, which must be single-threaded. -1 with a sentence: capabilities could not be dropped, or new
 * privileges not be forbidden; the process should end then.
 */
int confine(const struct confine_config *config, struct iwarp_sentence *error);

/*
 * The first part of it alone, for a process that is about to execute another program: keeps the capabilities whose bits
 * are set in `keep`, and forbids new privileges.
 */
int confine_privileges(uint64_t keep, struct iwarp_sentence *error);

/*
 * Takes these capabilities out of the effective set, to see what can be done without them, and back. False: the kernel
 * does not say, or does not allow it; nothing has changed then.
 */
bool confine_lower(uint64_t capabilities);
void confine_raise(uint64_t capabilities);

/* Becomes another user, who has no capabilities, for good. -1 with a sentence. */
int confine_become(uid_t user, gid_t group, struct iwarp_sentence *error);

/*
 * For a program that makes loops or threads of its libraries before confine(): to be called before them. Forbids new
 * privileges, and answers at once as in an older kernel (ENOSYS) to calls that confine() refuses and for which
 * libraries have another way. A library that has begun with such a call would take a refusal later for a fault: libuv
 * aborts. -1 with a sentence.
 */
int confine_libraries(struct iwarp_sentence *error);

/* "seccomp, Landlock ABI 7": what confine() uses in this build, on this kernel. */
const char *confine_describe(char *text, size_t room);

#endif
