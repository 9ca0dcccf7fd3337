/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What network cards and TCP do to segments. Headers are made right again: lengths, and the checksums of IP and TCP, so
 * that nothing but the mangling is to be seen. Only Ethernet and raw IP, without options of IP and fragments; other
 * frames stay as they are.
 */
#include "tests/support/mangle_internal.h"

#include <string.h>

#include "base/octets.h"

enum {
    LINK_ETHERNET = 1,
    LINK_RAW = 101,
    ETHERNET_OCTETS = 14,
    IPV4_OCTETS = 20,
    IPV6_OCTETS = 40,
    TCP_OCTETS = 20,
    TCP = 6,
    FIN = 0x01,
    SYN = 0x02,
    RST = 0x04,
    PSH = 0x08,
    ACK = 0x10,
    MERGED_MAX = 60000,
    PIECES_MAX = 5,
    RESENT_BEHIND = 12, /* frames of the same direction */
};

static uint64_t hash(uint64_t state, const uint8_t *octets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        state = (state ^ octets[i]) * UINT64_C(0x100000001B3);
    return state;
}

/*
 * ---- reading -------------------------------------------------------------------------------------------------------
 */

/* Offset of the IP header; SIZE_MAX: none. */
static size_t ip_at(const struct mangle_frame *frame)
{
    const uint8_t *octets = frame->octets;

    if (frame->link == LINK_RAW)
        return frame->captured >= IPV4_OCTETS ? 0 : SIZE_MAX;
    if (frame->link != LINK_ETHERNET || frame->captured < ETHERNET_OCTETS + IPV4_OCTETS)
        return SIZE_MAX;
    return octets_get16(octets + 12) == 0x0800 || octets_get16(octets + 12) == 0x86DD ? ETHERNET_OCTETS : SIZE_MAX;
}

static void parse_tcp(struct mangle_item *item, size_t header, size_t total)
{
    const uint8_t *octets = item->frame.octets;
    size_t options;

    if (item->frame.captured != item->frame.length || total > item->frame.length - item->ip ||
        total < header + TCP_OCTETS)
        return;
    item->at = item->ip + header;
    options = (size_t)(octets[item->at + 12] >> 4) * 4;
    if (options < TCP_OCTETS || header + options > total)
        return;
    item->payload = item->at + options;
    item->size = total - header - options;
    item->seq = octets_get32(octets + item->at + 4);
    item->ack = octets_get32(octets + item->at + 8);
    item->flags = octets[item->at + 13];
    item->tcp = true;
}

void mangle_parse(struct mangle_item *item)
{
    const uint8_t *ip;
    uint64_t ends[2];
    size_t address, header, ports;
    bool four, has_ports;
    unsigned protocol;

    item->ip = ip_at(&item->frame);
    item->flow = 0;
    item->direction = 0;
    item->tcp = false;
    if (item->ip == SIZE_MAX)
        return;
    ip = item->frame.octets + item->ip;
    four = ip[0] >> 4 == 4;
    header = four ? IPV4_OCTETS : IPV6_OCTETS;
    if ((!four && ip[0] >> 4 != 6) || item->frame.captured < item->ip + header + 4)
        return;
    address = four ? 4 : 16;
    protocol = four ? ip[9] : ip[6];
    ports = header;
    has_ports = (!four || (ip[0] == 0x45 && (octets_get16(ip + 6) & 0x3FFF) == 0)) && protocol != 1;
    for (unsigned i = 0; i < 2; i++) {
        ends[i] = hash(UINT64_C(0xCBF29CE484222325), ip + (four ? 12 : 8) + i * address, address);
        if (has_ports)
            ends[i] = hash(ends[i], ip + ports + (size_t)i * 2, 2);
    }
    item->flow = (ends[0] ^ ends[1]) + protocol + 1;
    item->direction = ends[0] < ends[1];
    if (has_ports && protocol == TCP)
        parse_tcp(item, header, four ? octets_get16(ip + 2) : (size_t)octets_get16(ip + 4) + IPV6_OCTETS);
}

size_t mangle_next(const struct mangle_work *work, size_t at)
{
    size_t next = at + 1;

    while (next < work->count &&
           (work->items[next].flow != work->items[at].flow || work->items[next].direction != work->items[at].direction))
        next++;
    return next;
}

/*
 * ---- writing -------------------------------------------------------------------------------------------------------
 */

static uint64_t add_words(uint64_t sum, const uint8_t *octets, size_t count)
{
    for (size_t i = 0; i + 2 <= count; i += 2)
        sum += octets_get16(octets + i);
    return count % 2 != 0 ? sum + (uint64_t)octets[count - 1] * 256 : sum;
}

static uint16_t folded(uint64_t sum)
{
    while (sum >> 16 != 0)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)~sum;
}

/*
 * Lengths and checksums of a frame whose payload has `size` octets. A checksum of zero was not computed by the sender.
 */
static void set_headers(uint8_t *octets, const struct mangle_item *item, size_t size)
{
    uint8_t *ip = octets + item->ip, *tcp = octets + item->at;
    bool four = ip[0] >> 4 == 4;
    size_t segment = item->payload - item->at + size;
    uint64_t sum = TCP + segment;

    if (four) {
        octets_put16(ip + 2, (uint16_t)(IPV4_OCTETS + segment));
        octets_put16(ip + 10, 0);
        octets_put16(ip + 10, folded(add_words(0, ip, IPV4_OCTETS)));
    } else {
        octets_put16(ip + 4, (uint16_t)segment);
    }
    if (octets_get16(tcp + 16) == 0)
        return;
    octets_put16(tcp + 16, 0);
    sum = add_words(sum, ip + (four ? 12 : 8), four ? 8 : 32);
    octets_put16(tcp + 16, folded(add_words(sum, tcp, segment)));
}

/* A segment like `like` with other octets: it has its headers, and fills in what is given. */
static struct mangle_item segment(struct mangle_work *work, const struct mangle_item *like, uint32_t seq, uint32_t ack,
                                  uint8_t flags, const uint8_t *payload, size_t size)
{
    uint8_t *octets = mangle_octets(work->out, like->payload + size);
    struct mangle_item item = *like;

    memcpy(octets, like->frame.octets, like->payload);
    memcpy(octets + like->payload, payload, size);
    octets_put32(octets + like->at + 4, seq);
    octets_put32(octets + like->at + 8, ack);
    octets[like->at + 13] = flags;
    set_headers(octets, like, size);
    item.frame.octets = octets;
    item.frame.captured = item.frame.length = like->payload + size;
    mangle_parse(&item);
    return item;
}

/*
 * ---- kinds ---------------------------------------------------------------------------------------------------------
 */

static bool is_data(const struct mangle_item *item)
{
    return item->tcp && item->size != 0 && (item->flags & (SYN | RST | ACK)) == ACK;
}

static bool may_merge(const struct mangle_item *first, const struct mangle_item *second, bool any_ack)
{
    return is_data(first) && is_data(second) && (first->flags & FIN) == 0 && first->payload == second->payload &&
           second->seq == first->seq + (uint32_t)first->size && (any_ack || first->ack == second->ack) &&
           (int32_t)(second->ack - first->ack) >= 0 && first->size + second->size <= MERGED_MAX;
}

void mangle_coalesce(struct mangle_work *work, bool any_ack)
{
    static uint8_t payload[MERGED_MAX];
    uint64_t one_in = 1 + mangle_below(work, 3);

    for (size_t i = 0; i < work->count; i++) {
        size_t next = mangle_next(work, i);

        while (next < work->count && may_merge(&work->items[i], &work->items[next], any_ack) &&
               mangle_below(work, one_in) == 0) {
            const struct mangle_item *first = &work->items[i], *second = &work->items[next];
            struct mangle_item merged;

            memcpy(payload, first->frame.octets + first->payload, first->size);
            memcpy(payload + first->size, second->frame.octets + second->payload, second->size);
            merged = segment(work, second, first->seq, second->ack, (uint8_t)(first->flags | second->flags), payload,
                             first->size + second->size);
            /* It is there when its last octet is. */
            work->items[next] = merged;
            mangle_remove(work, i);
            i = next - 1;
            next = mangle_next(work, i);
        }
    }
}

void mangle_split(struct mangle_work *work)
{
    uint64_t one_in = 1 + mangle_below(work, 6);

    for (size_t i = 0; i < work->count; i++) {
        struct mangle_item whole = work->items[i];
        size_t pieces = 2 + (size_t)mangle_below(work, PIECES_MAX - 1), at = 0;

        if (!is_data(&whole) || whole.size < 2 || mangle_below(work, one_in) != 0)
            continue;
        mangle_remove(work, i);
        for (size_t piece = 0; piece < pieces && at < whole.size; piece++) {
            size_t left = whole.size - at;
            size_t size = piece + 1 == pieces ? left : 1 + (size_t)mangle_below(work, left);
            uint8_t flags = size < left ? whole.flags & (uint8_t) ~(FIN | PSH) : whole.flags;
            struct mangle_item part = segment(work, &whole, whole.seq + (uint32_t)at, whole.ack, flags,
                                              whole.frame.octets + whole.payload + at, size);

            mangle_insert(work, i++, &part);
            at += size;
        }
        i--;
    }
}

void mangle_resend(struct mangle_work *work, bool once)
{
    uint64_t one_in = 2 + mangle_below(work, 10);

    for (size_t i = work->count; i-- > 0;) {
        const struct mangle_item *first = &work->items[i];
        size_t behind = 1 + (size_t)mangle_below(work, RESENT_BEHIND), at = i;
        struct mangle_item again;
        uint32_t ack = first->ack;

        if (!is_data(first) || mangle_below(work, one_in) != 0)
            continue;
        /* After some segments that went before it was missed; it says what its sender has received by then. */
        for (size_t next = mangle_next(work, i); behind-- > 0 && next < work->count; next = mangle_next(work, next)) {
            if (!work->items[next].tcp || (work->items[next].flags & (SYN | RST | ACK)) != ACK)
                break;
            if ((int32_t)(work->items[next].ack - ack) > 0)
                ack = work->items[next].ack;
            at = next;
        }
        again = segment(work, first, first->seq, ack, first->flags, first->frame.octets + first->payload, first->size);
        again.frame.time_ns = work->items[at].frame.time_ns;
        mangle_insert(work, at + 1, &again);
        if (once)
            mangle_remove(work, i);
    }
}
