/* SPDX-License-Identifier: BSD-2-Clause */
#include "generator/sctp/sctp_ip.h"

#include <string.h>

#include "generator/packet/packet_internal.h"
#include "base/octets.h"
#include "wire/sctp.h"

enum { MORE_AND_OFFSET = 0x3FFF };

static bool open_four(const uint8_t *p, size_t left, unsigned protocol, struct sctp_datagram *out)
{
    size_t header, total;

    if (left < PACKET_IPV4_OCTETS || p[0] >> 4 != 4)
        return false;
    header = (size_t)(p[0] & 0x0F) * 4;
    total = octets_get16(p + 2);
    if (header < PACKET_IPV4_OCTETS || total < header || total > left || p[9] != protocol ||
        (octets_get16(p + 6) & MORE_AND_OFFSET) != 0 || packet_checksum(p, header, 0) != 0)
        return false;
    out->source.family = out->destination.family = 4;
    memcpy(out->source.octets, p + 12, 4);
    memcpy(out->destination.octets, p + 16, 4);
    out->packet = p + header;
    out->octets = total - header;
    return true;
}

static bool open_six(const uint8_t *p, size_t left, unsigned protocol, struct sctp_datagram *out)
{
    if (left < PACKET_IPV6_OCTETS || p[0] >> 4 != 6 || p[6] != protocol ||
        octets_get16(p + 4) > left - PACKET_IPV6_OCTETS)
        return false;
    out->source.family = out->destination.family = 6;
    memcpy(out->source.octets, p + 8, 16);
    memcpy(out->destination.octets, p + 24, 16);
    out->packet = p + PACKET_IPV6_OCTETS;
    out->octets = octets_get16(p + 4);
    return true;
}

/* What is in the UDP datagram in place of the datagram. */
static bool open_udp(uint16_t port, struct sctp_datagram *out)
{
    size_t length;

    if (out->octets < PACKET_UDP_OCTETS || octets_get16(out->packet + 2) != port)
        return false;
    length = octets_get16(out->packet + 4);
    if (length < PACKET_UDP_OCTETS || length > out->octets)
        return false;
    out->packet += PACKET_UDP_OCTETS;
    out->octets = length - PACKET_UDP_OCTETS;
    return true;
}

bool sctp_ip_open(const uint8_t *frame, size_t octets, uint16_t udp_port, struct sctp_datagram *out)
{
    unsigned protocol = udp_port != 0 ? PACKET_PROTOCOL_UDP : SCTP_PROTOCOL;
    const uint8_t *ip = frame + PACKET_ETHERNET_OCTETS;
    bool is = false;

    memset(out, 0, sizeof(*out));
    if (octets < PACKET_ETHERNET_OCTETS)
        return false;
    out->ethernet_source = frame + 6;
    switch (octets_get16(frame + 12)) {
    case PACKET_ETHERTYPE_IPV4: is = open_four(ip, octets - PACKET_ETHERNET_OCTETS, protocol, out); break;
    case PACKET_ETHERTYPE_IPV6: is = open_six(ip, octets - PACKET_ETHERNET_OCTETS, protocol, out); break;
    default: break;
    }
    return is && (udp_port == 0 || open_udp(udp_port, out));
}

const uint8_t *sctp_ip_whole(struct packet_reassembly **reassembly, const uint8_t *frame, size_t *octets)
{
    struct packet packet;

    if (packet_parse(&packet, frame, *octets, NULL) != 0 || packet.kind != PACKET_FRAGMENT)
        return frame;
    if (*reassembly == NULL)
        *reassembly = packet_reassembly_new();
    return *reassembly == NULL || !packet.ip_checksum_ok ? NULL
                                                         : packet_reassemble(*reassembly, &packet, frame, octets);
}

size_t sctp_ip_build(uint8_t *frame, size_t room, const struct packet_ip *ip, const struct sctp_ip_ports *udp,
                     const uint8_t *packet, size_t octets)
{
    struct packet_ip fields = *ip;
    uint8_t datagram[PACKET_UDP_OCTETS + SCTP_PACKET_MAX] = {0};
    size_t count = PACKET_UDP_OCTETS + octets;

    if (udp->source == 0 && udp->destination == 0) {
        fields.protocol = SCTP_PROTOCOL;
        return packet_build_ip(frame, room, &fields, packet, octets);
    }
    if (count > sizeof(datagram))
        return 0;
    fields.protocol = PACKET_PROTOCOL_UDP;
    octets_put16(datagram, udp->source);
    octets_put16(datagram + 2, udp->destination);
    octets_put16(datagram + 4, (uint16_t)count);
    memcpy(datagram + PACKET_UDP_OCTETS, packet, octets);
    octets_put16(datagram + 6, packet_udp_checksum(&ip->source, &ip->destination, datagram, count));
    return packet_build_ip(frame, room, &fields, datagram, count);
}
