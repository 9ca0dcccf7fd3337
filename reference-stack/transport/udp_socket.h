/* SPDX-License-Identifier: BSD-2-Clause */
/* A UDP socket of a libuv loop, for datagrams that may get lost: what cannot be sent at once is not sent at all. */
#ifndef REFERENCE_STACK_UDP_SOCKET_H
#define REFERENCE_STACK_UDP_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <uv.h>

#include "base/sentence.h"

struct udp_socket;

enum { UDP_SOCKET_DATAGRAM_MAX = 65536 };

/* A datagram came, whole; `octets` is valid for the call. */
typedef void udp_socket_received(void *owner, const struct sockaddr_storage *from, const uint8_t *octets, size_t count);

/* Bound to `name` (port 0: any), and never fragmented: IPv4 packets have DF set. NULL with a sentence. */
struct udp_socket *udp_socket_open(uv_loop_t *loop, const struct sockaddr_storage *name, udp_socket_received *received,
                                   void *owner, struct iwarp_sentence *why);
uint16_t udp_socket_port(const struct udp_socket *socket);

/* False: it was not sent. */
bool udp_socket_send(struct udp_socket *socket, const struct sockaddr_storage *to, const uint8_t *octets, size_t count);

/* It is freed by the loop's next turn. */
void udp_socket_close(struct udp_socket *socket);

#endif
