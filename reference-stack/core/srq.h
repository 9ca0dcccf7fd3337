/* SPDX-License-Identifier: BSD-2-Clause */
/* A shared receive queue: what streams take a receive from when a message begins and none of their own is posted. */
#ifndef REFERENCE_STACK_SRQ_H
#define REFERENCE_STACK_SRQ_H

#include <stdbool.h>

#include "reference-stack/base/ring.h"

struct srq_receive {
    uint64_t id;
    uint8_t *buffer;
    size_t octets;
};

struct iwarp_srq {
    struct ring receives; /* struct srq_receive */
    struct iwarp_context *context;
    struct iwarp_srq *next, *previous;
    size_t users; /* queue pairs and listeners */
    bool gone;    /* freed while some used it: the last of them takes it along */
};

#endif
