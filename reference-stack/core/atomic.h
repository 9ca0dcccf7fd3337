/* SPDX-License-Identifier: BSD-2-Clause */
/* The Atomic Operations themselves (RFC 7306 5.1), apart from any stream. */
#ifndef REFERENCE_STACK_ATOMIC_H
#define REFERENCE_STACK_ATOMIC_H

#include <stdint.h>

#include "wire/atomic.h"

/* What a target that holds `original` holds afterwards. An AOpCode that is not one leaves it as it is. */
uint64_t atomic_result(const struct atomic_request *request, uint64_t original);

/*
 * Does it to the eight octets at `target`, whose address is a multiple of 8, in host byte order and atomically with
 * respect to all threads. Returns what they held.
 */
uint64_t atomic_execute(const struct atomic_request *request, uint8_t *target);

#endif
