/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the port mapper of iWARP says (wire/port_mapper.h). It is not iWARP, and no rule judges it; but a connection
 * that a mapping is about goes to a port which says nothing of its service, and the mapping does. So it is kept, the
 * last FLOW_MAPPINGS_MAX Requests of all, and named where the connection is shown.
 */
#ifndef FLOW_FLOW_MAPPING_H
#define FLOW_FLOW_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/flow/event/flow_inside.h"
#include "wire/port_mapper.h"

struct flow_address;
struct flow_common;
struct flow_datagram;
struct flow_carrier_frames;
struct mapping_request;

enum { FLOW_MAPPINGS_MAX = 256 };

/* What the decoder keeps: Requests with what was accepted, the oldest is overwritten. */
struct flow_mappings {
    struct mapping_request *kept; /* FLOW_MAPPINGS_MAX; NULL: none came yet */
    uint64_t count;               /* that came */
};

/* A port that stands for another one. */
struct flow_mapping {
    uint16_t mapped, service; /* service 0: none */
    uint64_t frame;           /* of the Accept */
};

/* A message, for who asks for them (flow_config.port_mapper); valid during the call only. */
struct flow_port_mapper {
    struct port_mapper_message message;
    const uint8_t *octets; /* `count` of them: the payload of the datagram */
    size_t count;
    const struct flow_address *source, *destination;
    struct flow_tunnel tunnel;
    uint64_t frame, time_ns;
};

/* A datagram, from its UDP header on, was found to have the form of a message: it is counted, kept and passed on. */
void flow_mapping_datagram(struct flow_common *common, const struct flow_datagram *datagram,
                           const struct flow_carrier_frames *carrier);

/* The last mapping that was accepted for a connection to this address and port. False: there is none. */
bool flow_mapping_find(const struct flow_common *common, const struct flow_address *address,
                       const struct flow_tunnel *tunnel, struct flow_mapping *mapping);

void flow_mappings_free(struct flow_mappings *mappings);

#endif
