/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/flow/event/flow_mapping.h"

#include <stdlib.h>
#include <string.h>

#include "conformance/flow/event/flow_common.h"
#include "conformance/flow/event/flow_packet.h"

enum { UDP_OCTETS = 8 };

struct mapping_request {
    uint64_t handle;
    struct flow_tunnel tunnel;
    struct flow_address connecting, accepting; /* accepting: with the port that stands for the service's */
    uint16_t service;
    uint64_t accepted; /* frame of the Accept; 0: none so far */
};

/* An address as far as its family has octets: iwpmd sends what lies behind one of IPv4 in its memory. */
static struct flow_address address_of(uint8_t family, const uint8_t *octets, uint16_t port)
{
    struct flow_address address = {.family = family, .port = port};

    memcpy(address.octets, octets, family == 4 ? 4 : sizeof(address.octets));
    return address;
}

static bool addresses_equal(const struct flow_address *a, const struct flow_address *b)
{
    return a->family == b->family && a->port == b->port && memcmp(a->octets, b->octets, sizeof(a->octets)) == 0;
}

static bool tunnels_equal(const struct flow_tunnel *a, const struct flow_tunnel *b)
{
    return a->ends == b->ends && a->network == b->network && a->kind == b->kind && a->guessed == b->guessed;
}

static size_t kept_count(const struct flow_mappings *mappings)
{
    return mappings->count < FLOW_MAPPINGS_MAX ? (size_t)mappings->count : FLOW_MAPPINGS_MAX;
}

/* The n-th last of the Requests that are kept. */
static struct mapping_request *request_last(const struct flow_mappings *mappings, size_t n)
{
    return &mappings->kept[(mappings->count - 1 - n) % FLOW_MAPPINGS_MAX];
}

/* The Request that a message is about, or repeats: the same handle, of the same Connecting Peer. */
static struct mapping_request *request_find(const struct flow_mappings *mappings, const struct mapping_request *like)
{
    for (size_t n = 0; n < kept_count(mappings); n++) {
        struct mapping_request *request = request_last(mappings, n);

        if (request->handle == like->handle && addresses_equal(&request->connecting, &like->connecting) &&
            tunnels_equal(&request->tunnel, &like->tunnel))
            return request;
    }
    return NULL;
}

static void keep_request(struct flow_mappings *mappings, const struct mapping_request *request)
{
    struct mapping_request *known = request_find(mappings, request);

    if (known != NULL && known->service == request->service)
        return; /* sent again */
    if (mappings->kept == NULL)
        mappings->kept = calloc(FLOW_MAPPINGS_MAX, sizeof(*mappings->kept));
    if (mappings->kept == NULL)
        return; /* a port is not named then: no verdict needs it */
    mappings->count++;
    *request_last(mappings, 0) = *request;
}

/* The address 0 is a service that listens on all: it is the one that answers. */
static void keep_accept(struct flow_mappings *mappings, const struct mapping_request *like,
                        const struct flow_port_mapper *said)
{
    static const uint8_t any[PORT_MAPPER_ADDRESS_OCTETS];
    struct mapping_request *request = request_find(mappings, like);

    if (request == NULL || request->accepted != 0)
        return;
    request->accepted = said->frame;
    request->accepting = like->accepting;
    if (memcmp(request->accepting.octets, any, sizeof(any)) == 0)
        memcpy(request->accepting.octets, said->source->octets, sizeof(any));
}

static void keep(struct flow_mappings *mappings, const struct flow_port_mapper *said)
{
    const struct port_mapper_message *message = &said->message;
    struct mapping_request request = {
        .handle = message->handle,
        .tunnel = said->tunnel,
        .connecting = address_of(message->ip_version, message->connecting_address, message->connecting_port),
        .accepting = address_of(message->ip_version, message->accepting_address, message->accepting_port),
        .service = message->accepting_port,
    };

    if (message->type == PORT_MAPPER_REQUEST)
        keep_request(mappings, &request);
    else if (message->type == PORT_MAPPER_ACCEPT)
        keep_accept(mappings, &request, said);
}

void flow_mapping_datagram(struct flow_common *common, const struct flow_datagram *datagram,
                           const struct flow_carrier_frames *carrier)
{
    struct flow_address source, destination;
    struct flow_port_mapper said = {
        .source = &source,
        .destination = &destination,
        .tunnel = datagram->tunnel,
        .frame = carrier->frame->number,
        .time_ns = carrier->frame->time_ns,
    };

    if (datagram->captured < UDP_OCTETS ||
        !port_mapper_read(datagram->octets + UDP_OCTETS, datagram->captured - UDP_OCTETS, &said.message)) {
        flow_account_count(&common->totals.account, FLOW_ROW_UDP, carrier->frames, carrier->octets);
        return;
    }
    flow_account_count(&common->totals.account, FLOW_ROW_PORT_MAPPER, carrier->frames, carrier->octets);
    said.octets = datagram->octets + UDP_OCTETS;
    said.count = datagram->captured - UDP_OCTETS;
    source = address_of(datagram->family, datagram->source, octets_get16(datagram->octets));
    destination = address_of(datagram->family, datagram->destination, octets_get16(datagram->octets + 2));
    keep(&common->mappings, &said);
    if (common->config.port_mapper != NULL)
        common->config.port_mapper(common->ctx, &said);
}

bool flow_mapping_find(const struct flow_common *common, const struct flow_address *address,
                       const struct flow_tunnel *tunnel, struct flow_mapping *mapping)
{
    const struct flow_mappings *mappings = &common->mappings;

    for (size_t n = 0; n < kept_count(mappings); n++) {
        const struct mapping_request *request = request_last(mappings, n);

        if (request->accepted == 0 || !addresses_equal(&request->accepting, address) ||
            !tunnels_equal(&request->tunnel, tunnel))
            continue;
        *mapping = (struct flow_mapping){address->port, request->service, request->accepted};
        return true;
    }
    return false;
}

void flow_mappings_free(struct flow_mappings *mappings)
{
    free(mappings->kept);
    memset(mappings, 0, sizeof(*mappings));
}
