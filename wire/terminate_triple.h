/* SPDX-License-Identifier: BSD-2-Clause */
/* The error that a Terminate Message names: layer, error type and error code (RFC 5040 4.8) as one number. */
#ifndef IWARP_WIRE_TERMINATE_TRIPLE_H
#define IWARP_WIRE_TERMINATE_TRIPLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Never 0, so that 0 can stand for no error. */
#define IWARP_TERMINATE_TRIPLE(layer, etype, code) (0x10000 | (layer) << 12 | (etype) << 8 | (code))

enum { IWARP_TERMINATE_MAX = 52 }; /* octets of a Terminate Message's payload, at most */

/*
 * Writes "DDP / Untagged Buffer Error / Invalid QN (0x1201)" to `text`, which has `room` octets; unregistered triples
 * are spelt in numbers. Returns `text`.
 */
const char *iwarp_terminate_describe(uint32_t triple, char *text, size_t room);

#ifdef __cplusplus
}
#endif

#endif
