/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Associations over UDP encapsulation (RFC 6951) on a libuv loop: a UDP socket below a hub (sctp_hub.h), and a timer
 * that runs while there are associations. No threads, no privileges. A process has one clock for all of them, and one
 * thread.
 */
#ifndef REFERENCE_STACK_SCTP_UDP_H
#define REFERENCE_STACK_SCTP_UDP_H

#include <uv.h>

#include "reference-stack/transport/sctp_hub.h"
#include "wire/sctp.h"

enum {
    SCTP_UDP_OCTETS_IPV4 = 28, /* of IPv4 and UDP, below SCTP */
    SCTP_UDP_OCTETS_IPV6 = 48,
    SCTP_UDP_MTU_MAX = 65000,
};

struct sctp_udp;

/* Octets of headers below SCTP, with an address of that family. */
size_t sctp_udp_headers(int family);

/*
 * Binds to `name` (port 0: any). Of `hub`, `packet_max` and `send` are set here; `mtu` is the path's. Its times are
 * those of uv_hrtime(). NULL with a sentence: no libusrsctp, no such address, no memory.
 */
struct sctp_udp *sctp_udp_open(uv_loop_t *loop, const struct sockaddr_storage *name, size_t mtu,
                               const struct sctp_hub_config *hub, struct iwarp_sentence *sentence);
struct sctp_hub *sctp_udp_hub(struct sctp_udp *udp);
uint16_t sctp_udp_port(const struct sctp_udp *udp);

/* As sctp_hub_connect(); the timer runs from then on. */
struct sctp_path *sctp_udp_connect(struct sctp_udp *udp, const struct sockaddr_storage *to, uint16_t port,
                                   struct iwarp_association *association, void *user, struct iwarp_sentence *sentence);

/* All paths are released. It is freed in the loop's next turns; NULL is fine. */
void sctp_udp_close(struct sctp_udp *udp);

#endif
