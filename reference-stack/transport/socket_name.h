/* SPDX-License-Identifier: BSD-2-Clause */
/* The name of a socket: a numeric address of IPv4 or IPv6, and a port in host order. */
#ifndef REFERENCE_STACK_SOCKET_NAME_H
#define REFERENCE_STACK_SOCKET_NAME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* "192.0.2.1" or "2001:db8::1" and a port to a name. -1 when it is neither. */
int socket_name_parse(const char *address, uint16_t port, struct sockaddr_storage *out);

/* The port of a name, and another one. */
uint16_t socket_name_port(const struct sockaddr_storage *name);
void socket_name_set_port(struct sockaddr_storage *name, uint16_t port);

/* The address of a name as text, into `room` octets. -1: it is of no such family, or too long. */
int socket_name_format(const struct sockaddr_storage *name, char *address, size_t room);

#endif
