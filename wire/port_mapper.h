/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port mapper of iWARP (draft-pinkerton-iwarp-sdp-v1.0), over UDP port 3935: the Connecting Peer asks the Accepting
 * Peer which TCP port stands for the port of a service, so that RDMA and the host's TCP do not listen on the same one.
 * A message is one datagram. Linux's iwpmd adds two numbers to its Request: its own mapped port in the reserved field,
 * and 16 octets with the address to it.
 *
 *      0                   1                   2                   3
 *      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *     +---+---+-------+---------------+-------------------------------+
 *     |VER|MT | IPVer |    PmTime     |   Reserved (mapped CpPort)    |
 *     +---+---+-------+---------------+-------------------------------+
 *     |            ApPort             |            CpPort             |
 *     +-------------------------------+-------------------------------+
 *     |                                                               |
 *     +                          AssocHandle                          +
 *     |                                                               |
 *     +---------------------------------------------------------------+
 *     |          CpIPAddr, 16 octets; IPv4 in the first four          |
 *     +---------------------------------------------------------------+
 *     |                      ApIPAddr, likewise                       |
 *     +---------------------------------------------------------------+
 *     |              iwpmd's Request: mapped CpIPAddr                 |
 *     +---------------------------------------------------------------+
 */
#ifndef WIRE_PORT_MAPPER_H
#define WIRE_PORT_MAPPER_H

#include "wire/field.h"
#include "wire/terminate.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PORT_MAPPER_PORT = 3935,
    PORT_MAPPER_OCTETS = 48,
    PORT_MAPPER_MAPPED_OCTETS = 16, /* after them, in iwpmd's Request */
    PORT_MAPPER_ADDRESS_OCTETS = 16,
    PORT_MAPPER_VERSION = 0,
};

enum port_mapper_type { PORT_MAPPER_REQUEST, PORT_MAPPER_ACCEPT, PORT_MAPPER_ACK, PORT_MAPPER_REJECT };

/* clang-format off */
#define PORT_MAPPER_FIELDS(F, O, layout) \
    F(layout, VER,         "VER",         0,  2,  WIRE_NUMBER,   NULL,                   "draft-pinkerton-iwarp-sdp-v1.0", "version of the protocol") \
    F(layout, MT,          "MT",          2,  2,  WIRE_NUMBER,   port_mapper_type_names, "draft-pinkerton-iwarp-sdp-v1.0", "what the message is") \
    F(layout, IPVer,       "IPVer",       4,  4,  WIRE_NUMBER,   NULL,                   "draft-pinkerton-iwarp-sdp-v1.0", "of both addresses: 4 or 6") \
    F(layout, PmTime,      "PmTime",      8,  8,  WIRE_NUMBER,   NULL,                   "draft-pinkerton-iwarp-sdp-v1.0", "time of the mapping; iwpmd sends 0") \
    F(layout, Reserved,    "Reserved",    16, 16, WIRE_RESERVED, NULL,                   "draft-pinkerton-iwarp-sdp-v1.0", "iwpmd's Request: the port that its connection will come from") \
    F(layout, ApPort,      "ApPort",      32, 16, WIRE_NUMBER,   NULL,                   "draft-pinkerton-iwarp-sdp-v1.0", "Request, Reject: the service's port; Accept, Ack: the port that stands for it") \
    F(layout, CpPort,      "CpPort",      48, 16, WIRE_NUMBER,   NULL,                   "draft-pinkerton-iwarp-sdp-v1.0", "port of the Connecting Peer") \
    F(layout, AssocHandle, "AssocHandle", 64, 64, WIRE_HEX,      NULL,                   "draft-pinkerton-iwarp-sdp-v1.0", "the same in all messages about one mapping") \
    O(layout, CpIPAddr,    "CpIPAddr",    16, 16, "draft-pinkerton-iwarp-sdp-v1.0", "address of the Connecting Peer") \
    O(layout, ApIPAddr,    "ApIPAddr",    32, 16, "draft-pinkerton-iwarp-sdp-v1.0", "address of the Accepting Peer")

#define PORT_MAPPER_MAPPED_FIELDS(F, O, layout) \
    O(layout, MappedCpIPAddr, "Mapped CpIPAddr", 0, 16, "draft-pinkerton-iwarp-sdp-v1.0 (iwpmd)", "the address that the connection will come from")
/* clang-format on */

WIRE_LAYOUT_DECLARE(port_mapper, PORT_MAPPER_FIELDS);
WIRE_LAYOUT_DECLARE(port_mapper_mapped, PORT_MAPPER_MAPPED_FIELDS);

extern const struct wire_name port_mapper_type_names[];

/* One message; the addresses are borrowed, of PORT_MAPPER_ADDRESS_OCTETS each. */
struct port_mapper_message {
    uint8_t version, type, ip_version, time;
    uint16_t accepting_port, connecting_port;
    uint64_t handle;
    const uint8_t *connecting_address, *accepting_address;
    const uint8_t *mapped_address; /* iwpmd's Request, and then mapped_port too; NULL: another message */
    uint16_t mapped_port;
};

/*
 * True: the payload of a datagram, `count` octets and not one more, has the form of a message, and no other than that:
 * length, version, and the version of IP that both addresses have.
 */
bool port_mapper_read(const uint8_t *octets, size_t count, struct port_mapper_message *message);

#ifdef __cplusplus
}
#endif

#endif
