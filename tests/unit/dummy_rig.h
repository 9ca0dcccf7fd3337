/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A simulated rig whose device has a TCP and no iWARP: what answers a port scan, or a stack that hangs. It has no upper
 * tester.
 */
#ifndef TESTS_DUMMY_RIG_H
#define TESTS_DUMMY_RIG_H

#include "conformance/engine/rig/rig.h"

enum dummy_kind {
    DUMMY_RESET,     /* resets each connection as it opens */
    DUMMY_FIN,       /* closes each connection as it opens */
    DUMMY_HALF,      /* the same, but its TCP goes on acknowledging what comes */
    DUMMY_SILENT,    /* says nothing, ever */
    DUMMY_ECHO,      /* gives back what comes */
    DUMMY_GARBAGE,   /* answers with octets that are nothing */
    DUMMY_READS,     /* closes each connection on the first octets that come */
    DUMMY_ONE_REPLY, /* one good Reply, on its first connection; then it says nothing, ever */
    DUMMY_REPLIES,   /* one good Reply on each connection, whatever came, and nothing more */
    DUMMY_REJECTS,   /* rejects each good Request by R = 1, and closes the connection on anything else */
    DUMMY_KINDS
};

extern const char *const dummy_names[DUMMY_KINDS];

/* A rig with that device, measured. Aborts the test when that fails. */
struct rig *dummy_rig_new(enum dummy_kind kind);

#endif
