/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connections that the tester made or accepted during one check, and those of their frames that carry octets, SYN,
 * FIN or RST. All other frames on the link are foreign: another run's connections, the upper tester's control port.
 */
#ifndef CONFORMANCE_ENGINE_OWN_CONNECTIONS_H
#define CONFORMANCE_ENGINE_OWN_CONNECTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "conformance/engine/evidence/last_seen.h"
#include "conformance/engine/rig/rig.h"

struct own_connections;

/* One such frame. */
struct own_frame {
    uint64_t frame; /* its number */
    uint64_t time_ns;
    uint32_t sequence, octets; /* of payload */
    uint16_t own_port, dut_port;
    uint8_t flags; /* enum tcp_flag */
    bool from_dut;
};

/* NULL without memory. */
struct own_connections *own_connections_new(void);
void own_connections_free(struct own_connections *own);

/* Forgets everything: a check begins. */
void own_connections_begin(struct own_connections *own);

/*
 * A frame of the link with TCP. False: neither end is the tester's address, so the frame is another host's. Else the
 * frame is kept when it belongs to a connection between the rig's device and a tester of the rig.
 */
bool own_connections_frame(struct own_connections *own, const struct rig *rig, const struct packet *packet,
                           uint64_t frame, uint64_t time_ns);

/* Did the tester make or accept a connection with these ports, since own_connections_begin()? */
bool own_connections_has(const struct own_connections *own, uint16_t own_port, uint16_t dut_port);

/*
 * The frame that a last_seen means: the frame that completed the octets in order; the FIN or RST itself; if nothing
 * came, the last frame of the connection (if nothing was read, the last of any connection); for LAST_SEEN_UPPER the
 * tester's last frame on the connection, which made the device deliver. NULL: there is none, or too many frames came
 * after it.
 */
const struct own_frame *own_connections_find(const struct own_connections *own, const struct last_seen *last_seen);

#endif
