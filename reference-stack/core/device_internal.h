/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REFERENCE_STACK_DEVICE_INTERNAL_H
#define REFERENCE_STACK_DEVICE_INTERNAL_H

#include "iwarp/device.h"
#include "reference-stack/core/faults.h"
#include "base/hash.h"

struct region_entry {
    struct iwarp_region region;
    bool owned;    /* the device allocated region.octets */
    unsigned lent; /* pieces of streams' output that lie in it */
    UT_hash_handle hh;
};

struct iwarp_device {
    struct iwarp_device_config config;
    struct region_entry *regions; /* by STag */
    uint64_t random;
    size_t users;                /* streams, and the context that it belongs to */
    bool gone;                   /* freed while some used it: the last of them takes it along */
    struct iwarp_faults *faults; /* NULL in a clean stack */
};

/*
 * What streams share of an implementation of the seams: borrowed, NULL: none. That of a stream is its configuration's.
 * -1: no memory.
 */
int device_set_faults(struct iwarp_device *device, const struct iwarp_faults *faults);

/* A stream or context begins and ceases to use it. */
void device_join(struct iwarp_device *device);
void device_leave(struct iwarp_device *device);

struct region_entry *device_entry(const struct iwarp_device *device, uint32_t stag);

#endif
