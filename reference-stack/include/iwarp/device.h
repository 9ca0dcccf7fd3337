/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device: the memory that peers may reach, and the limits that its streams share (RFC 5041 5.1, RFC 5040 8.1.1). A
 * region is a range of octets with an STag, a first Tagged Offset, access rights, and either a Protection Domain or one
 * stream that it is bound to. The low octet of an STag is its key part. The whole STag is chosen anew at each
 * registration, so that an old STag does not reach new memory.
 *
 * Not thread safe: a device and all of its streams belong to one thread at a time.
 *
 * Misuse is refused and never fatal. If a pointer that is not optional is NULL, functions that return int return -1
 * with a sentence. Functions that return a pointer, a number or a bool return NULL, 0 or false. Functions that return
 * nothing do nothing. A sentence is always optional. A refused call has changed nothing. The library cannot detect the
 * use of an object that was freed before.
 */
#ifndef IWARP_DEVICE_H
#define IWARP_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sentence.h"

#ifdef __cplusplus
extern "C" {
#endif

struct iwarp_device;

enum iwarp_access {
    IWARP_LOCAL_READ = 1,
    IWARP_LOCAL_WRITE = 2, /* the sink of an own RDMA Read */
    IWARP_REMOTE_READ = 4,
    IWARP_REMOTE_WRITE = 8,
    IWARP_REMOTE_ATOMIC = 16,
};

struct iwarp_device_config {
    unsigned ird_max; /* Read Requests that one stream can serve at once; 0: IWARP_DEPTH_DEFAULT_MAX; at most 0x3FFE */
    unsigned ord_max; /* own Read Requests that one stream can have outstanding; same default and limit */
    size_t regions_max; /* 0: 65536 */
    uint64_t seed;      /* for tests: STags are derived from it. 0: the system draws random STags (RFC 5040 8.1.1) */
};

enum { IWARP_DEPTH_DEFAULT_MAX = 128 };

/*
 * Creates a device. Returns NULL if memory is short. `config` may be NULL and is copied; depths above 0x3FFE count as
 * 0x3FFE (RFC 6581 9.1).
 */
struct iwarp_device *iwarp_device_new(const struct iwarp_device_config *config);

/*
 * Frees the device and the memory that its regions own: at once, or together with the last stream that uses it. A
 * context's device is freed with the context. NULL is fine.
 */
void iwarp_device_free(struct iwarp_device *device);

struct iwarp_region {
    uint32_t stag;       /* 0 when registering: the device chooses */
    uint64_t base;       /* Tagged Offset of octets[0] */
    uint64_t length;     /* base + length may be 2^64, never more */
    uint8_t *octets;     /* the memory, borrowed; NULL when registering: the device allocates, zeroed, and owns it */
    unsigned access;     /* enum iwarp_access, any set */
    uint32_t pd;         /* Protection Domain: reachable from streams of the same number */
    uint32_t stream;     /* number of the only stream that may reach it (iwarp_stream_number); 0: any of `pd` */
    uint64_t registered; /* set on registering: octets of memory; iwarp_region_set_length() does not change it */
    bool valid;          /* set on registering; false once invalidated */
};

/*
 * Registers memory. On return, the STag is region->stag, and *region is the result of a later iwarp_region_find().
 * Errors: the STag is in use, unknown access rights, base + length exceeds 2^64, more octets than memory can hold,
 * too many regions, no memory. After an error, *region is unchanged.
 */
int iwarp_region_register(struct iwarp_device *device, struct iwarp_region *region, struct iwarp_sentence *sentence);

/*
 * Removes the region, and frees its memory if the device owns it. An access to it then finds no such STag; this
 * includes an own Read whose sink it is. Errors: no such STag (or no longer); the region contains a piece of a
 * stream's output between iwarp_stream_output() and iwarp_stream_output_done(): then invalidate it now, and
 * deregister it later.
 */
int iwarp_region_deregister(struct iwarp_device *device, uint32_t stag, struct iwarp_sentence *sentence);

/*
 * Invalidates the STag: peers cannot reach the region any more, but the memory stays registered (RFC 5040 5.3, local
 * form). Error: no such STag.
 */
int iwarp_region_invalidate(struct iwarp_device *device, uint32_t stag, struct iwarp_sentence *sentence);

/*
 * Limits the range that peers can reach to the region's first `length` octets; the memory does not change (RFC 5041
 * 8.3). A later call may set any length up to the registered one. Error: no such STag, or a longer range.
 */
int iwarp_region_set_length(struct iwarp_device *device, uint32_t stag, uint64_t length,
                            struct iwarp_sentence *sentence);

/* The region with exactly that STag, key part included, valid or not; NULL when there is none. Borrowed. */
const struct iwarp_region *iwarp_region_find(const struct iwarp_device *device, uint32_t stag);

/* The n-th region (in no particular order) or NULL: for dumps. */
const struct iwarp_region *iwarp_region_at(const struct iwarp_device *device, size_t n);
size_t iwarp_region_count(const struct iwarp_device *device);

#ifdef __cplusplus
}
#endif

#endif
