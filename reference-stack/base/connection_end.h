/* SPDX-License-Identifier: BSD-2-Clause */
/* The address and port of one end of a connection, as events report them. */
#ifndef REFERENCE_STACK_CONNECTION_END_H
#define REFERENCE_STACK_CONNECTION_END_H

#include <stdint.h>

enum { CONNECTION_ADDRESS_OCTETS = 64 };

struct connection_end {
    char address[CONNECTION_ADDRESS_OCTETS]; /* numeric */
    uint16_t port;                           /* in host order */
};

#endif
