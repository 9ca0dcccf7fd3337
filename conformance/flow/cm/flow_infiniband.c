/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * InfiniBand and RoCE packets, as far as there is a CM message in them: UD Send Only to queue pair 1, class 0x07. What
 * else they carry is InfiniBand's own, but for IP over InfiniBand (RFC 4391).
 */
#include "conformance/flow/event/flow_common.h"

#include <string.h>

#include "conformance/flow/cm/flow_cm.h"
#include "conformance/flow/cm/flow_mad.h"

enum {
    UDP_OCTETS = 8,
    VCRC_OCTETS = 2,
    GRH_PAYLOAD_AT = 4,
    GRH_SGID_AT = 8,
    GRH_DGID_AT = 24,
    CM_HEADERS_OCTETS = BTH_OCTETS + DETH_OCTETS + MAD_HEADER_OCTETS,
};

/* What is left of a packet: octets there, and octets on the wire. */
struct left {
    const uint8_t *octets;
    size_t captured, length;
};

static bool skip(struct left *left, size_t count)
{
    if (left->captured < count || left->length < count)
        return false;
    left->octets += count;
    left->captured -= count;
    left->length -= count;
    return true;
}

static void set_address(struct flow_address *address, unsigned family, const uint8_t *octets)
{
    memset(address, 0, sizeof(*address));
    address->family = (uint8_t)family;
    memcpy(address->octets, octets, family == 4 ? 4 : family == 6 ? 16 : 2);
}

/* Headers that are too short: the capture cut them, or the packet's own length is no such packet's. */
static enum flow_row row_of_short(const struct left *left, size_t needed, enum flow_row malformed)
{
    return left->length < needed ? malformed : FLOW_ROW_CUT_HEADERS;
}

/* After the transport headers stands an EtherType of IP, two zero octets, and an IP header (RFC 4391 6, RFC 4755 4). */
static bool carries_ip(const struct left *left)
{
    enum { SEND_FIRST = 0x00, SEND_ONLY = 0x04, SEND_ONLY_IMMEDIATE = 0x05, SERVICE = 0x1F, UD = 0x60 };
    enum { ENCAPSULATION_OCTETS = 4, IMMEDIATE_DATA_OCTETS = 4 };
    unsigned opcode = (unsigned)bth_get_OpCode(left->octets), operation = opcode & SERVICE;
    size_t at = BTH_OCTETS + ((opcode & ~(unsigned)SERVICE) == UD ? DETH_OCTETS : 0);
    const uint8_t *header;

    if (operation != SEND_FIRST && operation != SEND_ONLY && operation != SEND_ONLY_IMMEDIATE)
        return false;
    at += operation == SEND_ONLY_IMMEDIATE ? IMMEDIATE_DATA_OCTETS : 0;
    if (left->captured <= at + ENCAPSULATION_OCTETS)
        return false;
    header = left->octets + at;
    return (octets_get32(header) == 0x08000000 && header[ENCAPSULATION_OCTETS] >> 4 == 4) ||
           (octets_get32(header) == 0x86DD0000 && header[ENCAPSULATION_OCTETS] >> 4 == 6);
}

/* From the BTH on: FLOW_ROW_IWARP when it is a CM message, else what the packet is. */
static enum flow_row row_of_bth(const struct left *left)
{
    const uint8_t *bth = left->octets;

    if (left->captured < BTH_OCTETS)
        return row_of_short(left, BTH_OCTETS, FLOW_ROW_IB_HEADER);
    if (bth_get_OpCode(bth) != BTH_UD_SEND_ONLY || bth_get_DestQP(bth) != BTH_QP_GSI)
        return carries_ip(left) ? FLOW_ROW_TUNNEL : FLOW_ROW_ROCE;
    if (left->captured < CM_HEADERS_OCTETS)
        return row_of_short(left, CM_HEADERS_OCTETS, FLOW_ROW_IB_HEADER);
    return mad_get_MgmtClass(bth + BTH_OCTETS + DETH_OCTETS) == MAD_CLASS_CM ? FLOW_ROW_IWARP : FLOW_ROW_ROCE;
}

/* From the BTH on. `tail`: octets after the ICRC. */
static enum flow_row parse_bth(struct cm_decoder *cm, struct left left, size_t tail, struct flow_mad *mad)
{
    enum flow_row row = row_of_bth(&left);

    if (row != FLOW_ROW_IWARP)
        return row;
    skip(&left, BTH_OCTETS + DETH_OCTETS);
    if (left.length != MAD_OCTETS + ICRC_OCTETS + tail)
        return FLOW_ROW_MAD_LENGTH;
    left.length = MAD_OCTETS;
    mad->octets = left.octets;
    mad->captured = left.captured < left.length ? left.captured : left.length;
    cm->common->totals.mads++;
    row = flow_cm_mad(cm, mad);
    if (row == FLOW_ROW_IWARP)
        cm->common->totals.account.row[FLOW_ROW_SNAPPED].octets += left.length - mad->captured;
    return row;
}

/* 0: the adapter fills it in after the capture. */
static enum flow_icrc icrc_of(uint32_t expected, const uint8_t *there)
{
    if (octets_get32_little(there) == 0)
        return FLOW_ICRC_UNCHECKED;
    return expected == octets_get32_little(there) ? FLOW_ICRC_GOOD : FLOW_ICRC_BAD;
}

static enum flow_row parse_udp(struct cm_decoder *cm, const struct flow_datagram *datagram, struct flow_mad *mad)
{
    struct left left = {datagram->octets, datagram->captured, datagram->length};
    struct flow_address source, destination;
    size_t length;
    bool whole;

    length = octets_get16(left.octets + 4);
    if (length < UDP_OCTETS || length > left.length)
        return FLOW_ROW_UDP_LENGTH;
    left.length = length;
    if (left.captured > left.length)
        left.captured = left.length;
    set_address(&source, datagram->family, datagram->source);
    set_address(&destination, datagram->family, datagram->destination);
    mad->source = &source;
    mad->destination = &destination;
    mad->carrier = FLOW_ROCE_V2;
    whole = datagram->ip != NULL && left.captured == left.length && left.length > UDP_OCTETS + BTH_OCTETS + ICRC_OCTETS;
    if (whole && row_of_bth(&(struct left){left.octets + UDP_OCTETS, left.captured - UDP_OCTETS,
                                           left.length - UDP_OCTETS}) == FLOW_ROW_IWARP)
        mad->icrc = icrc_of(icrc_roce_v2(datagram->ip, datagram->family, left.octets, left.length - ICRC_OCTETS),
                            left.octets + left.length - ICRC_OCTETS);
    skip(&left, UDP_OCTETS);
    return parse_bth(cm, left, 0, mad);
}

/* The GRH is an IPv6 header whose addresses are GIDs. Octets after its payload are the frame's padding. */
static enum flow_row parse_grh(struct cm_decoder *cm, struct left left, size_t tail, struct flow_mad *mad)
{
    struct flow_address source, destination;
    size_t payload;

    if (left.captured < GRH_OCTETS)
        return row_of_short(&left, GRH_OCTETS, FLOW_ROW_IB_HEADER);
    if (left.octets[0] >> 4 != 6 || left.octets[6] != GRH_NEXT_BTH)
        return left.octets[0] >> 4 == 6 ? FLOW_ROW_TUNNEL : FLOW_ROW_IB_HEADER;
    payload = octets_get16(left.octets + GRH_PAYLOAD_AT);
    set_address(&source, 6, left.octets + GRH_SGID_AT);
    set_address(&destination, 6, left.octets + GRH_DGID_AT);
    mad->source = &source;
    mad->destination = &destination;
    skip(&left, GRH_OCTETS);
    if (payload + tail < left.length) {
        left.length = payload + tail;
        left.captured = left.captured < left.length ? left.captured : left.length;
    }
    return parse_bth(cm, left, tail, mad);
}

static enum flow_row parse_lrh(struct cm_decoder *cm, const struct flow_datagram *datagram, struct flow_mad *mad)
{
    struct left left = {datagram->octets, datagram->captured, datagram->length};
    struct flow_address source, destination;
    uint8_t source_lid[2], destination_lid[2];
    size_t words, packet;
    enum flow_row row;
    unsigned next;

    if (left.captured < LRH_OCTETS)
        return row_of_short(&left, LRH_OCTETS, FLOW_ROW_IB_HEADER);
    next = (unsigned)lrh_get_LNH(left.octets);
    words = (size_t)lrh_get_PktLen(left.octets);
    packet = words * 4 + VCRC_OCTETS; /* PktLen counts up to the ICRC */
    if (packet > left.length)         /* some captures leave the VCRC out */
        packet = words * 4;
    if (next != LRH_LNH_GLOBAL && next != LRH_LNH_LOCAL) /* raw packets: IPv6, or what an EtherType says */
        return FLOW_ROW_TUNNEL;
    if (packet > left.length || packet < LRH_OCTETS + BTH_OCTETS + ICRC_OCTETS)
        return FLOW_ROW_IB_HEADER;
    left.length = packet;
    if (left.captured > packet)
        left.captured = packet;
    mad->carrier = FLOW_INFINIBAND;
    mad->icrc = left.captured < words * 4
                    ? FLOW_ICRC_UNCHECKED
                    : icrc_of(icrc_native(left.octets, words * 4 - ICRC_OCTETS), left.octets + words * 4 - ICRC_OCTETS);
    octets_put16(source_lid, (uint16_t)lrh_get_SLID(left.octets));
    octets_put16(destination_lid, (uint16_t)lrh_get_DLID(left.octets));
    set_address(&source, 0, source_lid);
    set_address(&destination, 0, destination_lid);
    mad->source = &source;
    mad->destination = &destination;
    skip(&left, LRH_OCTETS);
    row = next == LRH_LNH_GLOBAL ? parse_grh(cm, left, packet - words * 4, mad)
                                 : parse_bth(cm, left, packet - words * 4, mad);
    return row == FLOW_ROW_ROCE ? FLOW_ROW_INFINIBAND : row;
}

void flow_infiniband_packet(struct cm_decoder *cm, const struct flow_datagram *datagram,
                            const struct flow_carrier_frames *carrier)
{
    struct flow_mad mad = {.frame = carrier->frame->number,
                           .time_ns = carrier->frame->time_ns,
                           .icrc = FLOW_ICRC_UNCHECKED,
                           .tunnel = datagram->tunnel};
    struct flow_account *account = &cm->common->totals.account;
    struct left left = {datagram->octets, datagram->captured, datagram->length};
    struct flow_address source, destination;
    enum flow_row row = FLOW_ROW_UNKNOWN;

    switch (datagram->protocol) {
    case FLOW_PROTOCOL_UDP: row = parse_udp(cm, datagram, &mad); break;
    case FLOW_PROTOCOL_INFINIBAND: row = parse_lrh(cm, datagram, &mad); break;
    case FLOW_PROTOCOL_GRH:
        mad.carrier = FLOW_ROCE_V1;
        row = parse_grh(cm, left, 0, &mad);
        break;
    case FLOW_PROTOCOL_BTH:
        mad.carrier = FLOW_ROCE_V2;
        set_address(&source, datagram->family, datagram->source);
        set_address(&destination, datagram->family, datagram->destination);
        mad.source = &source;
        mad.destination = &destination;
        row = parse_bth(cm, left, 0, &mad);
        break;
    default: break;
    }
    if (row == FLOW_ROW_IWARP) {
        account->row[FLOW_ROW_HEADERS].octets += carrier->octets - mad.captured;
        flow_account_count(account, row, carrier->frames, mad.captured);
    } else {
        flow_account_count(account, row, carrier->frames, carrier->octets);
    }
}
