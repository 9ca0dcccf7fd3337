/* SPDX-License-Identifier: BSD-2-Clause */
#include "generator/sctp/sctp_ip.h"

#include <string.h>

#include "generator/packet/packet_internal.h"
#include "wire/octets.h"
#include "wire/sctp.h"

static bool open_four(const uint8_t *p, size_t left, struct sctp_datagram *out)
{
    size_t header, total;

    if (left < PACKET_IPV4_OCTETS || p[0] >> 4 != 4)
        return false;
    header = (size_t)(p[0] & 0x0F) * 4;
    total = octets_get16(p + 2);
    if (header < PACKET_IPV4_OCTETS || total < header || total > left || p[9] != SCTP_PROTOCOL ||
        (octets_get16(p + 6) & 0x3FFF) != 0 || packet_checksum(p, header, 0) != 0)
        return false;
    out->source.family = out->destination.family = 4;
    memcpy(out->source.octets, p + 12, 4);
    memcpy(out->destination.octets, p + 16, 4);
    out->packet = p + header;
    out->octets = total - header;
    return true;
}

static bool open_six(const uint8_t *p, size_t left, struct sctp_datagram *out)
{
    if (left < PACKET_IPV6_OCTETS || p[0] >> 4 != 6 || p[6] != SCTP_PROTOCOL ||
        octets_get16(p + 4) > left - PACKET_IPV6_OCTETS)
        return false;
    out->source.family = out->destination.family = 6;
    memcpy(out->source.octets, p + 8, 16);
    memcpy(out->destination.octets, p + 24, 16);
    out->packet = p + PACKET_IPV6_OCTETS;
    out->octets = octets_get16(p + 4);
    return true;
}

bool sctp_ip_open(const uint8_t *frame, size_t octets, struct sctp_datagram *out)
{
    memset(out, 0, sizeof(*out));
    if (octets < PACKET_ETHERNET_OCTETS)
        return false;
    out->ethernet_source = frame + 6;
    switch (octets_get16(frame + 12)) {
    case PACKET_ETHERTYPE_IPV4: return open_four(frame + PACKET_ETHERNET_OCTETS, octets - PACKET_ETHERNET_OCTETS, out);
    case PACKET_ETHERTYPE_IPV6: return open_six(frame + PACKET_ETHERNET_OCTETS, octets - PACKET_ETHERNET_OCTETS, out);
    default: return false;
    }
}
