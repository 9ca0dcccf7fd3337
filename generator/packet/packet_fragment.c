/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a packet's fragments have in common is in their IP headers; a frame here is Ethernet, IP header, and octets of
 * the packet.
 */
#include "generator/packet/packet_fragment.h"

#include <stdlib.h>
#include <string.h>

#include "generator/packet/packet_internal.h"
#include "base/octets.h"

enum {
    HELD = 4, /* packets at once */
    HEADERS = PACKET_ETHERNET_OCTETS + 60,
    CAPACITY = 65535,
    UNITS = CAPACITY / PACKET_FRAGMENT_UNIT + 1,
    MORE = 0x2000, /* IPv4's MF */
    OFFSET = 0x1fff,
};

/*
 * ---- cutting ------------------------------------------------------------------------------------------------------
 */

/* Where what follows the IP header is: false when the frame is no IP packet in one piece. */
static bool find_upper(const uint8_t *frame, size_t octets, size_t *headers, size_t *upper)
{
    const uint8_t *ip = frame + PACKET_ETHERNET_OCTETS;
    size_t length;

    if (octets < PACKET_ETHERNET_OCTETS + PACKET_IPV4_OCTETS)
        return false;
    if (octets_get16(frame + 12) == PACKET_ETHERTYPE_IPV4) {
        *headers = PACKET_ETHERNET_OCTETS + (size_t)(ip[0] & 0xf) * 4;
        length = PACKET_ETHERNET_OCTETS + octets_get16(ip + 2);
        if ((octets_get16(ip + 6) & (MORE | OFFSET)) != 0 || *headers < PACKET_ETHERNET_OCTETS + PACKET_IPV4_OCTETS)
            return false;
    } else if (octets_get16(frame + 12) == PACKET_ETHERTYPE_IPV6) {
        *headers = PACKET_ETHERNET_OCTETS + PACKET_IPV6_OCTETS;
        length = *headers + octets_get16(ip + 4);
        if (ip[6] == PACKET_PROTOCOL_FRAGMENT)
            return false;
    } else {
        return false;
    }
    if (length > octets || length <= *headers)
        return false;
    *upper = length - *headers;
    return true;
}

size_t packet_fragments(const uint8_t *frame, size_t octets, size_t size)
{
    size_t headers, upper;

    if (size == 0 || size % PACKET_FRAGMENT_UNIT != 0 || !find_upper(frame, octets, &headers, &upper))
        return 0;
    return (upper + size - 1) / size;
}

size_t packet_fragment(uint8_t *out, size_t capacity, const uint8_t *frame, size_t octets, size_t size, size_t index,
                       uint32_t identification)
{
    size_t count = packet_fragments(frame, octets, size);
    size_t headers = 0, upper = 0, at = size * index, length, own;
    uint8_t *ip = out + PACKET_ETHERNET_OCTETS;
    bool last = index + 1 == count, ipv4;

    if (index >= count || !find_upper(frame, octets, &headers, &upper))
        return 0;
    ipv4 = octets_get16(frame + 12) == PACKET_ETHERTYPE_IPV4;
    length = last ? upper - at : size;
    own = headers + (ipv4 ? 0 : PACKET_FRAGMENT_HEADER_OCTETS);
    if (own + length > capacity)
        return 0;
    memcpy(out, frame, headers);
    memcpy(out + own, frame + headers + at, length);
    if (ipv4) {
        octets_put16(ip + 2, (uint16_t)(own - PACKET_ETHERNET_OCTETS + length));
        octets_put16(ip + 6, (uint16_t)((last ? 0 : MORE) | at / PACKET_FRAGMENT_UNIT));
        octets_put16(ip + 10, 0);
        octets_put16(ip + 10, packet_checksum(ip, headers - PACKET_ETHERNET_OCTETS, 0));
    } else {
        octets_put16(ip + 4, (uint16_t)(PACKET_FRAGMENT_HEADER_OCTETS + length));
        out[headers] = ip[6];
        out[headers + 1] = 0;
        octets_put16(out + headers + 2, (uint16_t)(at | (last ? 0 : 1)));
        octets_put32(out + headers + 4, identification);
        ip[6] = PACKET_PROTOCOL_FRAGMENT;
    }
    return own + length;
}

/*
 * ---- putting together ---------------------------------------------------------------------------------------------
 */

struct held {
    bool used;
    uint64_t order;
    struct net_address source, destination;
    uint32_t identification;
    uint8_t protocol;
    uint8_t headers[HEADERS]; /* of the fragment with offset 0, without IPv6's fragment header */
    size_t headers_octets;    /* 0: that fragment has not come */
    size_t total;             /* 0: the last fragment has not come */
    size_t units;             /* that came */
    uint8_t seen[UNITS];
    uint8_t octets[CAPACITY];
};

struct packet_reassembly {
    uint64_t order;
    struct held held[HELD];
    uint8_t frame[HEADERS + CAPACITY];
};

struct packet_reassembly *packet_reassembly_new(void)
{
    return calloc(1, sizeof(struct packet_reassembly));
}

void packet_reassembly_free(struct packet_reassembly *reassembly)
{
    free(reassembly);
}

/* The packet that the fragment belongs to: one that waits, or the place of a free or of the oldest one. */
static struct held *find(struct packet_reassembly *reassembly, const struct packet *packet)
{
    struct held *place = &reassembly->held[0];

    for (size_t i = 0; i < HELD; i++) {
        struct held *held = &reassembly->held[i];

        if (held->used && held->identification == packet->fragment_identification &&
            held->protocol == packet->fragment_protocol && net_address_equal(&held->source, &packet->source) &&
            net_address_equal(&held->destination, &packet->destination))
            return held;
        if (!held->used ? place->used : place->used && held->order < place->order)
            place = held;
    }
    place->used = true;
    place->order = ++reassembly->order;
    place->source = packet->source;
    place->destination = packet->destination;
    place->identification = packet->fragment_identification;
    place->protocol = packet->fragment_protocol;
    place->headers_octets = place->total = place->units = 0;
    memset(place->seen, 0, sizeof(place->seen));
    return place;
}

/* How many of the units [from, to) have come already. */
static size_t seen_of(const struct held *held, size_t from, size_t to)
{
    size_t count = 0;

    for (size_t i = from; i < to; i++)
        count += held->seen[i];
    return count;
}

/* Ethernet and IP header as they would be of the whole packet. */
static void keep_headers(struct held *held, const struct packet *packet, const uint8_t *frame)
{
    size_t octets = packet->source.family == 4 ? (size_t)(packet->payload - frame)
                                               : (size_t)PACKET_ETHERNET_OCTETS + PACKET_IPV6_OCTETS;

    if (octets > sizeof(held->headers))
        return; /* VLAN tags: whole packets with them are not for this stack either */
    memcpy(held->headers, frame, octets);
    held->headers_octets = octets;
}

static const uint8_t *whole(struct packet_reassembly *reassembly, struct held *held, size_t *octets)
{
    uint8_t *frame = reassembly->frame, *ip = frame + PACKET_ETHERNET_OCTETS;
    size_t headers = held->headers_octets;

    held->used = false;
    memcpy(frame, held->headers, headers);
    memcpy(frame + headers, held->octets, held->total);
    if (held->source.family == 4) {
        if (headers - PACKET_ETHERNET_OCTETS + held->total > CAPACITY)
            return NULL;
        octets_put16(ip + 2, (uint16_t)(headers - PACKET_ETHERNET_OCTETS + held->total));
        octets_put16(ip + 6, 0);
        octets_put16(ip + 10, 0);
        octets_put16(ip + 10, packet_checksum(ip, headers - PACKET_ETHERNET_OCTETS, 0));
    } else {
        octets_put16(ip + 4, (uint16_t)held->total);
        ip[6] = held->protocol;
    }
    *octets = headers + held->total;
    return frame;
}

const uint8_t *packet_reassemble(struct packet_reassembly *reassembly, const struct packet *packet,
                                 const uint8_t *frame, size_t *octets)
{
    struct held *held = find(reassembly, packet);
    size_t from = packet->fragment_offset, to = from + packet->payload_octets, first = from / PACKET_FRAGMENT_UNIT,
           end = (to + PACKET_FRAGMENT_UNIT - 1) / PACKET_FRAGMENT_UNIT, seen;

    if (packet->payload_octets == 0 || to > CAPACITY || (packet->fragment_more && to % PACKET_FRAGMENT_UNIT != 0) ||
        (held->total != 0 && to > held->total)) {
        held->used = false;
        return NULL;
    }
    seen = seen_of(held, first, end);
    if (seen == end - first)
        return NULL; /* it came before */
    if (seen != 0) {
        held->used = false;
        return NULL;
    }
    memset(held->seen + first, 1, end - first);
    memcpy(held->octets + from, packet->payload, packet->payload_octets);
    held->units += end - first;
    if (from == 0)
        keep_headers(held, packet, frame);
    if (!packet->fragment_more)
        held->total = to;
    if (held->total == 0 || held->headers_octets == 0 ||
        held->units < (held->total + PACKET_FRAGMENT_UNIT - 1) / PACKET_FRAGMENT_UNIT)
        return NULL;
    return whole(reassembly, held, octets);
}
