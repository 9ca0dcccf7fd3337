/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/probe/probe_wire.h"

#include <stdio.h>
#include <string.h>

#include "generator/packet/packet.h"
#include "base/octets.h"

enum {
    ECHO_OCTETS = 8,
    ECHO_IDENTIFIER = 0x7763,
    ECHO_WAIT_MS = 300,
    ETHERTYPE_IPV4 = 0x0800,
    ETHERTYPE_IPV6 = 0x86DD,
    PROTOCOL_ICMP = 1,
    PROTOCOL_ICMPV6 = 58,
    PROTOCOL_TCP = 6,
    LARGEST_SEGMENT = 1500 - 40, /* more does not fit into a frame of Ethernet's MTU, and stays as it left TCP */
};
#define MILLISECOND UINT64_C(1000000)

/* The sum of the pseudo-header (RFC 9293 3.1, RFC 8200 8.1), folded, and not inverted. */
static uint16_t pseudo_header(const struct net_address *source, const struct net_address *destination, uint8_t protocol,
                              size_t octets)
{
    size_t address = source->family == 4 ? 4 : 16;
    uint8_t header[2 * 16 + 4];

    memcpy(header, source->octets, address);
    memcpy(header + address, destination->octets, address);
    header[2 * address] = 0;
    header[2 * address + 1] = protocol;
    octets_put16(header + 2 * address + 2, (uint16_t)octets);
    return (uint16_t)~packet_checksum(header, 2 * address + 4, 0);
}

static void segment_seen(struct probe_wire *wire, const struct packet *packet)
{
    size_t header = PACKET_TCP_OCTETS + packet->options_octets;

    wire->segments++;
    wire->resets += (packet->flags & TCP_FLAG_RST) != 0;
    if (packet->payload_octets > wire->largest)
        wire->largest = packet->payload_octets;
    if (packet->tcp_checksum_ok)
        return;
    wire->wrong++;
    if (packet->payload != NULL &&
        octets_get16(packet->payload - header + 16) ==
            pseudo_header(&packet->source, &packet->destination, PROTOCOL_TCP, header + packet->payload_octets))
        wire->partial++;
}

/* ICMP and ICMPv6 without extension headers: type, code and identifier of what is addressed to us. */
static void icmp_seen(struct probe_wire *wire, const uint8_t *frame, size_t octets)
{
    bool six = wire->rig->dut.family == 6;
    size_t header = six ? PACKET_IPV6_OCTETS : PACKET_IPV4_OCTETS;
    const uint8_t *ip = frame + PACKET_ETHERNET_OCTETS, *message = ip + header;
    uint8_t type;

    if (octets < PACKET_ETHERNET_OCTETS + header + ECHO_OCTETS ||
        octets_get16(frame + 12) != (six ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4) ||
        ip[six ? 6 : 9] != (six ? PROTOCOL_ICMPV6 : PROTOCOL_ICMP) || (!six && ip[0] != 0x45))
        return;
    type = message[0];
    if (type == (six ? 129 : 0) && octets_get16(message + 4) == ECHO_IDENTIFIER &&
        memcmp(ip + (six ? 8 : 12), wire->rig->dut.octets, six ? 16 : 4) == 0)
        wire->echo = true;
    if (type == (six ? 1 : 3)) {
        wire->unreachable = true;
        wire->unreachable_code = message[1];
    }
}

static void neighbour_seen(struct probe_wire *wire, const struct packet *packet, uint64_t time_ns)
{
    bool arp = packet->kind == PACKET_ARP;
    const struct net_address *who = arp ? &packet->source : &packet->target;
    const struct net_address *hop = wire->gateway.family != 0 ? &wire->gateway : &wire->rig->dut;

    if (arp && packet->arp_operation != PACKET_ARP_REPLY)
        return;
    if (!wire->neighbour && net_address_equal(who, hop)) {
        wire->neighbour = true;
        wire->neighbour_ns = time_ns;
        memcpy(wire->mac, packet->neighbour_mac != NULL ? packet->neighbour_mac : packet->ethernet_source, 6);
    }
    if (wire->rival_asked && net_address_equal(who, &wire->rig->own)) {
        wire->rival = true;
        memcpy(wire->rival_mac, packet->neighbour_mac != NULL ? packet->neighbour_mac : packet->ethernet_source, 6);
    }
}

static void on_frame(void *context, const uint8_t *frame, size_t octets, uint64_t time_ns, bool inbound)
{
    struct probe_wire *wire = context;
    struct packet packet;

    if (wire->next != NULL)
        wire->next(wire->next_context, frame, octets, time_ns, inbound);
    if (packet_parse(&packet, frame, octets, NULL) != 0)
        return;
    if (!inbound) {
        if (wire->asked_ns == 0 && (packet.kind == PACKET_ARP || packet.kind == PACKET_SOLICITATION))
            wire->asked_ns = time_ns;
        memcpy(wire->own_mac, packet.ethernet_source, 6);
    } else if (packet.kind == PACKET_ARP || packet.kind == PACKET_ADVERTISEMENT) {
        neighbour_seen(wire, &packet, time_ns);
    } else if (packet.kind == PACKET_TCP && net_address_equal(&packet.source, &wire->rig->dut)) {
        segment_seen(wire, &packet);
    } else {
        icmp_seen(wire, frame, octets);
    }
}

void probe_wire_watch(struct probe_wire *wire, struct rig *rig)
{
    wire->rig = rig;
    wire->next = rig->link->tap;
    wire->next_context = rig->link->tap_context;
    rig->link->tap = on_frame;
    rig->link->tap_context = wire;
}

static int send_echo(struct probe_wire *wire)
{
    const struct rig *rig = wire->rig;
    bool six = rig->dut.family == 6;
    size_t header = six ? PACKET_IPV6_OCTETS : PACKET_IPV4_OCTETS, address = six ? 16 : 4;
    uint8_t frame[PACKET_MIN_FRAME + PACKET_IPV6_OCTETS] = {0}, *ip = frame + PACKET_ETHERNET_OCTETS;
    uint8_t *message = ip + header;

    memcpy(frame, wire->mac, 6);
    memcpy(frame + 6, wire->own_mac, 6);
    octets_put16(frame + 12, six ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4);
    message[0] = six ? 128 : 8;
    octets_put16(message + 4, ECHO_IDENTIFIER);
    if (six) {
        ip[0] = 0x60;
        octets_put16(ip + 4, ECHO_OCTETS);
        ip[6] = PROTOCOL_ICMPV6;
        ip[7] = 64;
    } else {
        ip[0] = 0x45;
        octets_put16(ip + 2, (uint16_t)(header + ECHO_OCTETS));
        ip[8] = 64;
        ip[9] = PROTOCOL_ICMP;
    }
    memcpy(ip + header - 2 * address, rig->own.octets, address);
    memcpy(ip + header - address, rig->dut.octets, address);
    octets_put16(message + 2,
                 packet_checksum(message, ECHO_OCTETS,
                                 six ? pseudo_header(&rig->own, &rig->dut, PROTOCOL_ICMPV6, ECHO_OCTETS) : 0));
    if (!six)
        octets_put16(ip + 10, packet_checksum(ip, header, 0));
    wire->echo_ns = link_now(rig->link);
    return link_send(rig->link, frame, (size_t)(message - frame) + ECHO_OCTETS);
}

/* RFC 5227 2.1.1: an ARP request that names no sender. Nobody should answer for an address of ours. */
static int ask_rival(struct probe_wire *wire)
{
    static const uint8_t nobody[6];
    const struct rig *rig = wire->rig;
    uint8_t frame[PACKET_MIN_FRAME];
    size_t octets;

    if (rig->own.family != 4)
        return 0;
    octets = packet_build_arp(frame, sizeof(frame), PACKET_ARP_REQUEST, wire->own_mac, nobody, nobody, rig->own.octets);
    wire->rival_asked = true;
    return link_send(rig->link, frame, octets);
}

int probe_wire_ask(struct probe_wire *wire)
{
    uint64_t until = rig_now(wire->rig) + ECHO_WAIT_MS * MILLISECOND;

    if (wire->rig->simulated)
        return 0;
    if (ask_rival(wire) != 0 || (wire->neighbour && send_echo(wire) != 0))
        return -1;
    while (rig_now(wire->rig) < until && !(wire->echo || wire->rival))
        if (rig_pump(wire->rig, until) < 0)
            return -1;
    return 0;
}

static json_t *mac_json(const uint8_t mac[6])
{
    char text[18];

    (void)snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
    return json_string(text);
}

static json_t *reach_json(const struct probe_wire *wire)
{
    json_t *reach = json_pack("{s:s, s:s, s:b}", "type", "reach", "by", wire->rig->dut.family == 6 ? "ND" : "ARP",
                              "answered", wire->neighbour);
    char gateway[64];

    if (wire->gateway.family != 0)
        (void)json_object_set_new(reach, "gateway",
                                  json_string(net_address_format(&wire->gateway, gateway, sizeof(gateway))));
    if (wire->neighbour) {
        (void)json_object_set_new(reach, "mac", mac_json(wire->mac));
        if (wire->asked_ns != 0 && wire->neighbour_ns >= wire->asked_ns)
            (void)json_object_set_new(reach, "milliseconds",
                                      json_real((double)(wire->neighbour_ns - wire->asked_ns) / MILLISECOND));
    }
    if (wire->echo_ns != 0)
        (void)json_object_set_new(reach, "icmp_echo", json_boolean(wire->echo));
    if (wire->unreachable)
        (void)json_object_set_new(reach, "icmp_unreachable_code", json_integer(wire->unreachable_code));
    if (wire->rival)
        (void)json_object_set_new(reach, "own_address_used_by", mac_json(wire->rival_mac));
    return reach;
}

/* The commands that make a device, or the end of a veth before it, hand over whole segments; and where to give them. */
static void remedy(const struct probe_wire *wire, const struct probe_veth *veth, char *text, size_t room)
{
    bool merged = wire->largest > LARGEST_SEGMENT;
    bool known = veth != NULL && veth->peer[0] != '\0';
    const char *where = veth == NULL || !(known || veth->elsewhere) ? "on the device: "
                        : veth->elsewhere                           ? "in the device's network namespace: "
                                                                    : "";

    (void)snprintf(text, room, "%sethtool -K %s%s%s", where, known ? veth->peer : "ITS-INTERFACE",
                   wire->wrong != 0 ? " tx off" : "", merged ? " tso off gso off" : "");
}

int probe_wire_report(const struct probe_wire *wire, const struct probe_veth *veth, json_t *found)
{
    bool merged = wire->largest > LARGEST_SEGMENT;
    json_t *checksums =
        json_pack("{s:s, s:i, s:i, s:i, s:i}", "type", "checksums", "segments", (int)wire->segments, "wrong",
                  (int)wire->wrong, "left_to_hardware", (int)wire->partial, "largest_payload", (int)wire->largest);
    char text[160];

    if (merged || wire->partial != 0) {
        remedy(wire, veth, text, sizeof(text));
        (void)json_object_set_new(checksums, "remedy", json_string(text));
    }
    if (json_array_append_new(found, reach_json(wire)) != 0 || json_array_append_new(found, checksums) != 0)
        return -1;
    return 0;
}
