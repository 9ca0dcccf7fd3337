/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/roce.h"

#include <string.h>

enum {
    IPV4_OCTETS = 20,
    UDP_OCTETS = 8,
    UDP_PROTOCOL = 17,
    HOPS = 64, /* masked in the ICRC */
    COVERED_OCTETS = UDP_OCTETS + UD_MAD_OCTETS - ICRC_OCTETS,
};

void ud_mad_pack(uint8_t out[UD_MAD_OCTETS], const struct ud_header *header, const uint8_t mad[MAD_OCTETS])
{
    memset(out, 0, UD_MAD_OCTETS);
    bth_set_OpCode(out, BTH_UD_SEND_ONLY);
    bth_set_M(out, header->migrated);
    bth_set_P_Key(out, BTH_P_KEY_DEFAULT);
    bth_set_DestQP(out, BTH_QP_GSI);
    bth_set_A(out, header->ack);
    bth_set_PSN(out, header->psn);
    deth_set_Q_Key(out + BTH_OCTETS, DETH_Q_KEY_GSI);
    deth_set_SrcQP(out + BTH_OCTETS, BTH_QP_GSI);
    memcpy(out + BTH_OCTETS + DETH_OCTETS, mad, MAD_OCTETS);
}

const uint8_t *ud_mad_parse(const uint8_t *octets, size_t count)
{
    if (count != UD_MAD_OCTETS || bth_get_OpCode(octets) != BTH_UD_SEND_ONLY || bth_get_DestQP(octets) != BTH_QP_GSI ||
        bth_get_Pad(octets) != 0 || bth_get_TVer(octets) != 0 || deth_get_Q_Key(octets + BTH_OCTETS) != DETH_Q_KEY_GSI)
        return NULL;
    return octets + BTH_OCTETS + DETH_OCTETS;
}

static void write_ipv4(uint8_t ip[IPV4_OCTETS], const struct roce_path *path)
{
    memset(ip, 0, IPV4_OCTETS);
    ip[0] = 0x45;
    octets_put16(ip + 2, IPV4_OCTETS + UDP_OCTETS + UD_MAD_OCTETS);
    octets_put16(ip + 4, path->identification);
    ip[6] = path->may_fragment ? 0 : 0x40;
    ip[8] = HOPS;
    ip[9] = UDP_PROTOCOL;
    memcpy(ip + 12, path->source, 4);
    memcpy(ip + 16, path->destination, 4);
}

static void write_ipv6(uint8_t ip[GRH_OCTETS], const struct roce_path *path)
{
    memset(ip, 0, GRH_OCTETS);
    ip[0] = 0x60;
    octets_put16(ip + 4, UDP_OCTETS + UD_MAD_OCTETS);
    ip[6] = UDP_PROTOCOL;
    ip[7] = HOPS;
    memcpy(ip + 8, path->source, 16);
    memcpy(ip + 24, path->destination, 16);
}

uint32_t roce_icrc(const struct roce_path *path, const uint8_t packet[UD_MAD_OCTETS])
{
    uint8_t ip[GRH_OCTETS], udp[COVERED_OCTETS] = {0};

    if (path->family == 4)
        write_ipv4(ip, path);
    else
        write_ipv6(ip, path);
    octets_put16(udp, path->source_port);
    octets_put16(udp + 2, path->destination_port);
    octets_put16(udp + 4, UDP_OCTETS + UD_MAD_OCTETS);
    memcpy(udp + UDP_OCTETS, packet, UD_MAD_OCTETS - ICRC_OCTETS);
    return icrc_roce_v2(ip, path->family, udp, sizeof(udp));
}

void roce_pack(uint8_t out[UD_MAD_OCTETS], const struct roce_path *path, const struct ud_header *header,
               const uint8_t mad[MAD_OCTETS])
{
    ud_mad_pack(out, header, mad);
    octets_put32_little(out + UD_MAD_OCTETS - ICRC_OCTETS, roce_icrc(path, out));
}

bool roce_icrc_good(const struct roce_path *path, const uint8_t packet[UD_MAD_OCTETS])
{
    return octets_get32_little(packet + UD_MAD_OCTETS - ICRC_OCTETS) == roce_icrc(path, packet);
}
