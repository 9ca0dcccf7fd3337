/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/port_mapper.h"

const struct wire_name port_mapper_type_names[] = {{PORT_MAPPER_REQUEST, "Request"},
                                                   {PORT_MAPPER_ACCEPT, "Accept"},
                                                   {PORT_MAPPER_ACK, "Ack"},
                                                   {PORT_MAPPER_REJECT, "Reject"},
                                                   {0, NULL}};

WIRE_LAYOUT_DEFINE(port_mapper, PORT_MAPPER_FIELDS, "Port mapper message", "draft-pinkerton-iwarp-sdp-v1.0",
                   PORT_MAPPER_OCTETS);
WIRE_LAYOUT_DEFINE(port_mapper_mapped, PORT_MAPPER_MAPPED_FIELDS, "Addition of iwpmd's port mapper Request",
                   "draft-pinkerton-iwarp-sdp-v1.0 (iwpmd)", PORT_MAPPER_MAPPED_OCTETS);

bool port_mapper_read(const uint8_t *octets, size_t count, struct port_mapper_message *message)
{
    bool added = count == PORT_MAPPER_OCTETS + PORT_MAPPER_MAPPED_OCTETS;

    if (count != PORT_MAPPER_OCTETS && !added)
        return false;
    *message = (struct port_mapper_message){
        .version = (uint8_t)port_mapper_get_VER(octets),
        .type = (uint8_t)port_mapper_get_MT(octets),
        .ip_version = (uint8_t)port_mapper_get_IPVer(octets),
        .time = (uint8_t)port_mapper_get_PmTime(octets),
        .accepting_port = (uint16_t)port_mapper_get_ApPort(octets),
        .connecting_port = (uint16_t)port_mapper_get_CpPort(octets),
        .handle = port_mapper_get_AssocHandle(octets),
        .connecting_address = port_mapper_at_CpIPAddr(octets),
        .accepting_address = port_mapper_at_ApIPAddr(octets),
    };
    if (added) {
        message->mapped_address = port_mapper_mapped_at_MappedCpIPAddr(octets + PORT_MAPPER_OCTETS);
        message->mapped_port = (uint16_t)port_mapper_get_Reserved(octets);
    }
    return message->version == PORT_MAPPER_VERSION && (message->ip_version == 4 || message->ip_version == 6) &&
           (!added || message->type == PORT_MAPPER_REQUEST);
}
