/* SPDX-License-Identifier: BSD-2-Clause */
#include "generator/cm/mad.h"

#include <string.h>

#include "wire/roce.h"

enum {
    UDP_PROTOCOL = 17,
    UDP_OCTETS = 8,
    UDP_SOURCE_PORT = 49152,
    TRANSPORT_OCTETS = UD_MAD_OCTETS,
    VCRC_OCTETS = 2,
    CM_TIMEOUT = 20,
    ERF_INFINIBAND = 21,
};

void mad_ip_request(uint8_t mad[MAD_OCTETS], const struct ip_cm_request *request)
{
    uint8_t *body = mad + MAD_HEADER_OCTETS, *data;

    cm_begin(mad, CM_REQ, request->transaction);
    cm_req_set_LocalID(body, request->local_id);
    cm_req_set_ServiceID(body, ip_cm_service_id(request->protocol, request->destination_port));
    cm_req_set_CAGUID(body, UINT64_C(0x0200000000000001));
    cm_req_set_QPN(body, 0x11);
    cm_req_set_Resources(body, 4);
    cm_req_set_Depth(body, 2);
    cm_req_set_RemoteTimeout(body, CM_TIMEOUT);
    cm_req_set_LocalTimeout(body, CM_TIMEOUT);
    cm_req_set_PSN(body, 100);
    cm_req_set_P_Key(body, 0xFFFF);
    cm_req_set_MTU(body, 3);
    cm_req_set_MaxRetries(body, 15);
    cm_req_set_path(mad, request->source.family, request->source.octets, request->destination.octets);
    data = cm_private(mad);
    ip_cm_private_set_IPV(data, request->source.family);
    ip_cm_private_set_SourcePort(data, request->source_port);
    ip_cm_set_address(data + 4, request->source.family, request->source.octets);
    ip_cm_set_address(data + 20, request->destination.family, request->destination.octets);
    if (request->consumer_octets != 0 && request->consumer_octets <= IP_CM_CONSUMER_OCTETS)
        memcpy(data + IP_CM_PRIVATE_OCTETS, request->consumer, request->consumer_octets);
}

void mad_reject(uint8_t mad[MAD_OCTETS], uint64_t transaction, uint32_t remote_id, uint16_t reason, const uint8_t *ari,
                size_t info_octets)
{
    uint8_t *body = mad + MAD_HEADER_OCTETS;

    cm_begin_answer(mad, CM_REJ, transaction, 0, remote_id);
    cm_rej_set_InfoLength(body, info_octets);
    cm_rej_set_Reason(body, reason);
    if (info_octets != 0 && info_octets <= CM_ARI_OCTETS)
        memcpy(body + 12, ari, info_octets);
}

static void write_transport(uint8_t *out, uint32_t psn, const uint8_t mad[MAD_OCTETS])
{
    ud_mad_pack(out, &(struct ud_header){.psn = psn, .migrated = true}, mad);
}

static void write_grh(uint8_t out[GRH_OCTETS], const struct mad_ends *ends)
{
    memset(out, 0, GRH_OCTETS);
    out[0] = 0x60;
    octets_put16(out + 4, TRANSPORT_OCTETS);
    out[6] = GRH_NEXT_BTH;
    out[7] = 1;
    memcpy(out + 8, ends->source.octets, 16);
    memcpy(out + 24, ends->destination.octets, 16);
}

static size_t roce_v2(uint8_t *out, size_t room, const struct mad_ends *ends, const uint8_t *mad)
{
    struct packet_ip ip = {.ethernet_source = {2, 0, 0, 0, 0, 1},
                           .ethernet_destination = {2, 0, 0, 0, 0, 2},
                           .source = ends->source,
                           .destination = ends->destination,
                           .protocol = UDP_PROTOCOL};
    uint8_t udp[UDP_OCTETS + TRANSPORT_OCTETS] = {0};
    size_t count;

    octets_put16(udp, UDP_SOURCE_PORT);
    octets_put16(udp + 2, ROCE_V2_PORT);
    octets_put16(udp + 4, sizeof(udp));
    write_transport(udp + UDP_OCTETS, ends->psn, mad);
    count = packet_build_ip(out, room, &ip, udp, sizeof(udp));
    if (count == 0)
        return 0;
    /* The ICRC covers the IP header as it was built. */
    octets_put32_little(out + count - ICRC_OCTETS, icrc_roce_v2(out + PACKET_ETHERNET_OCTETS, ends->source.family,
                                                                out + count - sizeof(udp), sizeof(udp) - ICRC_OCTETS));
    return count;
}

static size_t native(uint8_t *out, size_t room, bool global, const struct mad_ends *ends, const uint8_t *mad)
{
    size_t grh = global ? GRH_OCTETS : 0, count = LRH_OCTETS + grh + TRANSPORT_OCTETS;

    if (count + VCRC_OCTETS > room)
        return 0;
    memset(out, 0, count + VCRC_OCTETS);
    lrh_set_LNH(out, global ? LRH_LNH_GLOBAL : LRH_LNH_LOCAL);
    lrh_set_DLID(out, ends->destination_lid);
    lrh_set_PktLen(out, count / 4);
    lrh_set_SLID(out, ends->source_lid);
    if (global)
        write_grh(out + LRH_OCTETS, ends);
    write_transport(out + LRH_OCTETS + grh, ends->psn, mad);
    octets_put32_little(out + count - ICRC_OCTETS, icrc_native(out, count - ICRC_OCTETS));
    return count + VCRC_OCTETS;
}

static size_t roce_v1(uint8_t *out, size_t room, const struct mad_ends *ends, const uint8_t *mad)
{
    static const uint8_t head[PACKET_ETHERNET_OCTETS] = {
        2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, ROCE_V1_ETHERTYPE >> 8, ROCE_V1_ETHERTYPE & 0xFF};
    uint8_t packet[LRH_OCTETS + GRH_OCTETS + TRANSPORT_OCTETS + VCRC_OCTETS];
    size_t count = native(packet, sizeof(packet), true, ends, mad);

    /* The ICRC is that of a packet with an LRH of ones, which is how it is masked in one with a GRH. */
    count -= LRH_OCTETS + VCRC_OCTETS;
    if (sizeof(head) + count > room)
        return 0;
    memcpy(out, head, sizeof(head));
    memcpy(out + sizeof(head), packet + LRH_OCTETS, count);
    return sizeof(head) + count;
}

size_t mad_packet(uint8_t *out, size_t room, enum mad_carrier carrier, const struct mad_ends *ends,
                  const uint8_t mad[MAD_OCTETS])
{
    switch (carrier) {
    case MAD_ROCE_V2: return roce_v2(out, room, ends, mad);
    case MAD_ROCE_V1: return roce_v1(out, room, ends, mad);
    default: return native(out, room, carrier == MAD_INFINIBAND_GLOBAL, ends, mad);
    }
}

void erf_header(uint8_t out[16], uint64_t time_ns, size_t count)
{
    uint64_t seconds = time_ns / 1000000000, fraction = (time_ns % 1000000000 << 32) / 1000000000;

    memset(out, 0, 16);
    octets_put32_little(out, (uint32_t)fraction); /* low half first: 32.32 fixed point, little-endian */
    octets_put32_little(out + 4, (uint32_t)seconds);
    out[8] = ERF_INFINIBAND;
    out[9] = 4; /* varying length */
    octets_put16(out + 10, (uint16_t)(count + 16));
    octets_put16(out + 14, (uint16_t)count);
}
