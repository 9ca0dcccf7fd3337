/* SPDX-License-Identifier: BSD-2-Clause */
/* InfiniBand and RoCE packets, as far as there is a CM message in them: UD Send Only to queue pair 1, class 0x07. */
#include "conformance/flow/flow_internal.h"

#include <string.h>

#include "conformance/flow/flow_cm.h"

enum { UDP_OCTETS = 8, VCRC_OCTETS = 2, GRH_SGID_AT = 8, GRH_DGID_AT = 24 };

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

static bool is_general_service(const struct left *left)
{
    const uint8_t *bth = left->octets;

    return left->captured >= BTH_OCTETS + DETH_OCTETS + MAD_HEADER_OCTETS && bth_get_OpCode(bth) == BTH_UD_SEND_ONLY &&
           bth_get_DestQP(bth) == BTH_QP_GSI && mad_get_MgmtClass(bth + BTH_OCTETS + DETH_OCTETS) == MAD_CLASS_CM;
}

/* From the BTH on. `tail`: octets behind the ICRC. */
static bool take_bth(struct flow_decoder *decoder, struct left left, size_t tail, struct flow_mad *mad)
{
    if (!is_general_service(&left) || !skip(&left, BTH_OCTETS + DETH_OCTETS))
        return false;
    if (left.length > ICRC_OCTETS + tail)
        left.length -= ICRC_OCTETS + tail;
    if (left.length > MAD_OCTETS)
        left.length = MAD_OCTETS;
    mad->octets = left.octets;
    mad->captured = left.captured < left.length ? left.captured : left.length;
    decoder->totals.mads++;
    flow_cm_mad(decoder, mad);
    return true;
}

static enum flow_icrc icrc_of(bool known, uint32_t expected, const uint8_t *there)
{
    if (!known)
        return FLOW_ICRC_UNCHECKED;
    return expected == octets_get32_little(there) ? FLOW_ICRC_GOOD : FLOW_ICRC_BAD;
}

static bool take_udp(struct flow_decoder *decoder, const struct flow_datagram *datagram, struct flow_mad *mad)
{
    struct left left = {datagram->octets, datagram->captured, datagram->length};
    struct flow_address source, destination;
    size_t length;
    bool whole;

    if (left.captured < UDP_OCTETS || octets_get16(left.octets + 2) != ROCE_V2_PORT)
        return false;
    length = octets_get16(left.octets + 4);
    if (length >= UDP_OCTETS && length < left.length)
        left.length = length;
    if (left.captured > left.length)
        left.captured = left.length;
    set_address(&source, datagram->family, datagram->source);
    set_address(&destination, datagram->family, datagram->destination);
    mad->source = &source;
    mad->destination = &destination;
    mad->carrier = FLOW_ROCE_V2;
    whole = datagram->ip != NULL && left.captured == left.length && left.length > UDP_OCTETS + BTH_OCTETS + ICRC_OCTETS;
    if (whole && is_general_service(
                     &(struct left){left.octets + UDP_OCTETS, left.captured - UDP_OCTETS, left.length - UDP_OCTETS}))
        mad->icrc = icrc_of(true, icrc_roce_v2(datagram->ip, datagram->family, left.octets, left.length - ICRC_OCTETS),
                            left.octets + left.length - ICRC_OCTETS);
    return skip(&left, UDP_OCTETS) && take_bth(decoder, left, 0, mad);
}

/* The GRH is an IPv6 header whose addresses are GIDs. */
static bool take_grh(struct flow_decoder *decoder, struct left left, size_t tail, struct flow_mad *mad)
{
    struct flow_address source, destination;

    if (left.captured < GRH_OCTETS || left.octets[0] >> 4 != 6 || left.octets[6] != GRH_NEXT_BTH)
        return false;
    set_address(&source, 6, left.octets + GRH_SGID_AT);
    set_address(&destination, 6, left.octets + GRH_DGID_AT);
    mad->source = &source;
    mad->destination = &destination;
    skip(&left, GRH_OCTETS);
    return take_bth(decoder, left, tail, mad);
}

static bool take_lrh(struct flow_decoder *decoder, const struct flow_datagram *datagram, struct flow_mad *mad)
{
    struct left left = {datagram->octets, datagram->captured, datagram->length};
    struct flow_address source, destination;
    uint8_t source_lid[2], destination_lid[2];
    size_t words, packet;
    unsigned next;

    if (left.captured < LRH_OCTETS)
        return false;
    next = (unsigned)lrh_get_LNH(left.octets);
    words = (size_t)lrh_get_PktLen(left.octets);
    packet = words * 4 + VCRC_OCTETS; /* PktLen counts up to the ICRC */
    if (packet > left.length)         /* some captures leave the VCRC out */
        packet = words * 4;
    if (packet > left.length || packet < LRH_OCTETS + BTH_OCTETS + ICRC_OCTETS)
        return false;
    left.length = packet;
    if (left.captured > packet)
        left.captured = packet;
    mad->carrier = FLOW_INFINIBAND;
    mad->icrc = left.captured < words * 4 ? FLOW_ICRC_UNCHECKED
                                          : icrc_of(true, icrc_native(left.octets, words * 4 - ICRC_OCTETS),
                                                    left.octets + words * 4 - ICRC_OCTETS);
    octets_put16(source_lid, (uint16_t)lrh_get_SLID(left.octets));
    octets_put16(destination_lid, (uint16_t)lrh_get_DLID(left.octets));
    set_address(&source, 0, source_lid);
    set_address(&destination, 0, destination_lid);
    mad->source = &source;
    mad->destination = &destination;
    skip(&left, LRH_OCTETS);
    if (next == LRH_LNH_GLOBAL)
        return take_grh(decoder, left, packet - words * 4, mad);
    return next == LRH_LNH_LOCAL && take_bth(decoder, left, packet - words * 4, mad);
}

void flow_infiniband_packet(struct flow_decoder *decoder, const struct flow_datagram *datagram, uint64_t frame,
                            uint64_t time_ns)
{
    struct flow_mad mad = {.frame = frame, .time_ns = time_ns, .icrc = FLOW_ICRC_UNCHECKED};
    struct left left = {datagram->octets, datagram->captured, datagram->length};
    struct flow_address source, destination;
    bool taken = false;

    switch (datagram->protocol) {
    case FLOW_PROTOCOL_UDP: taken = take_udp(decoder, datagram, &mad); break;
    case FLOW_PROTOCOL_INFINIBAND: taken = take_lrh(decoder, datagram, &mad); break;
    case FLOW_PROTOCOL_GRH:
        mad.carrier = FLOW_ROCE_V1;
        taken = take_grh(decoder, left, 0, &mad);
        break;
    case FLOW_PROTOCOL_BTH:
        mad.carrier = FLOW_ROCE_V2;
        set_address(&source, datagram->family, datagram->source);
        set_address(&destination, datagram->family, datagram->destination);
        mad.source = &source;
        mad.destination = &destination;
        taken = take_bth(decoder, left, 0, &mad);
        break;
    default: break;
    }
    decoder->totals.not_tcp += !taken;
}
