/* SPDX-License-Identifier: BSD-2-Clause */
/* How libusrsctp is set up for an endpoint of user_sctp.h. */
#ifndef REFERENCE_STACK_USER_SCTP_OPTIONS_H
#define REFERENCE_STACK_USER_SCTP_OPTIONS_H

#include "reference-stack/transport/user_sctp.h"

struct socket; /* libusrsctp's */

/*
 * Events, streams, indication, fragmentation, path MTU, retransmissions and SACKs of a new socket. -1: libusrsctp
 * refuses one.
 */
int user_sctp_options(struct socket *socket, const struct iwarp_association *association,
                      const struct user_sctp_config *config);

/* The path MTU, as octets of the longest SCTP packet. Not 0: libusrsctp refuses it. */
int user_sctp_path_mtu(struct socket *socket, size_t packet_max);

#endif
