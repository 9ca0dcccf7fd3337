/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that the tester's IPsec runs: swanctl, ip, and charon, which stays. */
#ifndef CONFORMANCE_ENGINE_IPSEC_PROGRAM_H
#define CONFORMANCE_ENGINE_IPSEC_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/sentence.h"

enum { IPSEC_SAID_OCTETS = 16384, IPSEC_ARGUMENTS_MOST = 24 };

/* What a program said: its standard output and error, cut at the end, with a terminating NUL. */
struct ipsec_said {
    char text[IPSEC_SAID_OCTETS];
    size_t octets;
};

struct ipsec_call {
    const char
        *words[IPSEC_ARGUMENTS_MOST]; /* the program, looked for in PATH and where daemons are, and its arguments */
    const char *folder;               /* STRONGSWAN_CONF and SWANCTL_DIR are in it; NULL: neither is set */
    int network;                      /* a network namespace to run in; -1: the caller's */
    unsigned seconds;                 /* it is killed when it has not ended then */
};

/* The path of a program, in `path` of `room` octets. False: it is not there. */
bool ipsec_program_find(const char *name, char *path, size_t room);

/* Runs it to its end. Its exit status; -1 with a sentence: it could not be run, was killed, or took too long. */
int ipsec_program_run(const struct ipsec_call *call, struct ipsec_said *said, struct iwarp_sentence *error);

/* Starts it and leaves it running, with its output in `folder`/output. It ends with the caller. -1 with a sentence. */
pid_t ipsec_program_start(const struct ipsec_call *call, struct iwarp_sentence *error);

#endif
