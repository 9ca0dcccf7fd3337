/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the receiver's SCTP takes of the packets that a tap sees: the addresses of the association (RFC 9260 5.1.2, RFC
 * 5061), the receiver's own Verification Tag (8.5), a right checksum (6.8). Anybody can send other packets between its
 * ports, and its sender can send them in front of those that count.
 *
 * An INIT with another tag on an association that is open begins another one only when its sender answers the State
 * Cookie (5.2.2 to 5.2.4). Until then it is kept aside, with the INIT ACKs to it: which of these counts is decided by
 * the tag of what follows.
 */
#include "conformance/flow/sctp/flow_sctp_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    BIRTHS_MAX = 4,
    OTHERS_MOST = 3, /* packets in a row with another tag than the first one, where no INIT says which is right */
};

/* An INIT or INIT ACK that is not the present association's, so far. */
struct sctp_birth {
    struct sctp_birth *older;
    bool ack;
    unsigned side;
    uint32_t own; /* its Initiate Tag */
    uint32_t to;  /* the packet's Verification Tag */
    uint64_t frame, time_ns;
    struct flow_datagram datagram; /* without addresses */
    uint8_t octets[];
};

/* The first chunk of a packet. */
struct first {
    uint8_t type, flags;
    bool is_init; /* an INIT or INIT ACK that is whole as far as its fixed part goes */
    struct sctp_init init;
};

static void read_first(const struct flow_datagram *datagram, struct first *first)
{
    const uint8_t *p = datagram->octets + SCTP_COMMON_OCTETS, *end = datagram->octets + datagram->captured;
    struct sctp_chunk chunk;

    memset(first, 0, sizeof(*first));
    (void)sctp_chunk_parse(&p, end, &chunk);
    if (chunk.start == NULL) {
        first->type = SCTP_UNKNOWN_SKIPPED;
        return;
    }
    first->type = (uint8_t)chunk.type;
    first->flags = chunk.flags;
    first->is_init =
        (chunk.type == SCTP_INIT || chunk.type == SCTP_INIT_ACK) && sctp_init_parse(&chunk, &first->init) == WIRE_OK;
}

/* ---- checksums --------------------------------------------------------------------------------------------------- */

enum flow_checksum sctp_checksum_of(const struct flow_datagram *datagram)
{
    uint32_t there = (uint32_t)sctp_common_get_Checksum(datagram->octets);

    if (datagram->captured < datagram->length || there == 0)
        return FLOW_CHECKSUM_UNCHECKED;
    if (there == sctp_checksum(datagram->octets, datagram->length))
        return FLOW_CHECKSUM_GOOD;
    return there == sctp_adler32(datagram->octets, datagram->length) ? FLOW_CHECKSUM_ADLER32 : FLOW_CHECKSUM_BAD;
}

/*
 * A field of zero is what a network card fills in after the capture, or what both ends agreed upon (RFC 9653): from a
 * sender whose checksums are there it is wrong.
 */
static bool checksum_is_taken(struct sctp_association *association, unsigned side, const struct flow_datagram *datagram,
                              enum flow_checksum checksum)
{
    struct sctp_side *from = &association->side[side];

    if (checksum == FLOW_CHECKSUM_BAD)
        return false;
    if (datagram->captured < datagram->length)
        return true;
    if (from->sums == SUMS_UNKNOWN)
        from->sums = checksum == FLOW_CHECKSUM_GOOD ? SUMS_GOOD : SUMS_OFFLOADED;
    return from->sums == SUMS_OFFLOADED || checksum == FLOW_CHECKSUM_GOOD ||
           (checksum == FLOW_CHECKSUM_UNCHECKED && association->side[1 - side].zero_checksum);
}

/* ---- addresses --------------------------------------------------------------------------------------------------- */

void sctp_addresses_learn(struct sctp_association *association, unsigned side, const struct sctp_init *init)
{
    struct sctp_side *of = &association->side[side];
    size_t count = init->addresses < SCTP_ADDRESSES_MAX ? init->addresses : SCTP_ADDRESSES_MAX;

    of->any_address = init->host_name || init->addresses > SCTP_ADDRESSES_MAX;
    of->zero_checksum = init->zero_checksum;
    if (count == 0 || of->addresses != NULL)
        return;
    of->addresses = calloc(count, sizeof(*of->addresses));
    if (of->addresses == NULL) {
        of->any_address = true;
        return;
    }
    of->address_count = (uint8_t)count;
    for (size_t i = 0; i < count; i++) {
        of->addresses[i].family = init->address[i].family;
        memcpy(of->addresses[i].octets, init->address[i].octets, init->address[i].family == 4 ? 4 : 16);
    }
}

static bool is_address_of(const struct sctp_association *association, unsigned side, uint8_t family,
                          const uint8_t *octets)
{
    const struct sctp_side *of = &association->side[side];
    size_t count = family == 4 ? 4 : 16;

    if (!of->init_seen || of->any_address ||
        (family == association->key.family && memcmp(association->key.address[side], octets, count) == 0))
        return true;
    for (size_t i = 0; i < of->address_count; i++)
        if (of->addresses[i].family == family && memcmp(of->addresses[i].octets, octets, count) == 0)
            return true;
    return false;
}

/* ---- births ------------------------------------------------------------------------------------------------------ */

void sctp_births_free(struct sctp_birth **births)
{
    while (*births != NULL) {
        struct sctp_birth *birth = *births;

        *births = birth->older;
        free(birth);
    }
}

static const struct sctp_birth *find_birth(const struct sctp_association *association, bool ack, unsigned side,
                                           uint32_t own)
{
    const struct sctp_birth *birth = association->births;

    while (birth != NULL && (birth->ack != ack || birth->side != side || birth->own != own))
        birth = birth->older;
    return birth;
}

/*
 * Keeps the newest; without memory the INIT is not known, and packets with its tags are no packets of this association.
 */
static void keep_birth(struct sctp_association *association, unsigned side, const struct flow_datagram *datagram,
                       const struct first *first)
{
    struct sctp_birth *birth, **link = &association->births;

    if (find_birth(association, first->type == SCTP_INIT_ACK, side, first->init.tag) != NULL)
        return;
    birth = malloc(sizeof(*birth) + datagram->captured);
    if (birth == NULL) {
        out_of_memory_note();
        return;
    }
    *birth = (struct sctp_birth){
        .older = association->births,
        .ack = first->type == SCTP_INIT_ACK,
        .side = side,
        .own = first->init.tag,
        .to = (uint32_t)sctp_common_get_VerificationTag(datagram->octets),
        .frame = association->frame,
        .time_ns = association->time_ns,
        .datagram = *datagram,
    };
    memcpy(birth->octets, datagram->octets, datagram->captured);
    birth->datagram.octets = birth->octets;
    birth->datagram.source = birth->datagram.destination = birth->datagram.ip = NULL;
    association->births = birth;
    for (unsigned i = 0; i < BIRTHS_MAX && *link != NULL; i++)
        link = &(*link)->older;
    sctp_births_free(link);
}

static void replay(struct sctp_arrival *arrival, const struct sctp_birth *birth)
{
    struct sctp_association *association = arrival->association;
    uint64_t frame = association->frame, time_ns = association->time_ns;

    association->frame = birth->frame;
    association->time_ns = birth->time_ns;
    sctp_replay_init(association, birth->side, &birth->datagram);
    association->frame = frame;
    association->time_ns = time_ns;
}

/*
 * Another association on the same addresses and ports, which begins with this INIT and this INIT ACK, as far as there
 * are any.
 */
static void restart_association(struct sctp_arrival *arrival, const struct sctp_birth *init,
                                const struct sctp_birth *ack)
{
    struct sctp_association *old = arrival->association;
    struct sctp_birth *births = old->births;
    struct flow_key key = old->key;
    uint64_t frame = old->frame, time_ns = old->time_ns;

    old->births = NULL;
    sctp_association_end(old, true, FLOW_REASON_COUNT);
    arrival->association = sctp_association_make(arrival->sctp, &key, init != NULL ? init->frame : frame,
                                                 init != NULL ? init->time_ns : time_ns);
    if (arrival->association != NULL) {
        arrival->association->frame = frame;
        arrival->association->time_ns = time_ns;
        if (init != NULL)
            replay(arrival, init);
        if (ack != NULL)
            replay(arrival, ack);
    }
    sctp_births_free(&births);
}

/*
 * Is this packet, with a tag that is not known, of an association whose INIT was kept aside? The tag is that of an INIT
 * ACK to it, which its sender has taken; or its own, which the other side uses; or the other side was not captured at
 * all.
 */
static bool is_reborn(struct sctp_arrival *arrival, const struct first *first, uint32_t tag)
{
    struct sctp_association *association = arrival->association;
    unsigned side = arrival->side;
    const struct sctp_birth *ack = find_birth(association, true, 1 - side, tag), *init = NULL;

    if (association->births == NULL || first->type == SCTP_INIT || first->type == SCTP_INIT_ACK)
        return false;
    if (ack != NULL) {
        init = find_birth(association, false, side, ack->to);
        if (init == NULL && association->side[side].init_seen && association->side[side].tag == ack->to) {
            sctp_relearn_init_ack(association, 1 - side, &ack->datagram);
            return true;
        }
    } else {
        init = find_birth(association, false, 1 - side, tag);
        for (const struct sctp_birth *birth = association->births;
             init == NULL && first->type == SCTP_COOKIE_ECHO && !association->side[1 - side].heard && birth != NULL;
             birth = birth->older)
            init = !birth->ack && birth->side == side ? birth : NULL;
    }
    if (init == NULL && ack == NULL)
        return false;
    restart_association(arrival, init, ack);
    return true;
}

/* ---- tags -------------------------------------------------------------------------------------------------------- */

/* The tag of packets to a side whose INIT (ACK) was not captured is the first one, until others follow each other. */
static bool is_heard(struct sctp_side *to, uint32_t tag)
{
    if (!to->tag_heard) {
        to->tag_heard = true;
        to->heard_tag = tag;
    }
    if (to->heard_tag == tag) {
        to->others = 0;
        return true;
    }
    to->others = to->other_tag == tag ? (uint8_t)(to->others + 1) : 1;
    to->other_tag = tag;
    return false;
}

/* The tag of packets to the side, as its INIT (ACK) or the first packet to it says. False: nothing does. */
static bool tag_of(const struct sctp_side *side, uint32_t *tag)
{
    *tag = side->init_seen ? side->tag : side->heard_tag;
    return side->init_seen || side->tag_heard;
}

/*
 * An INIT, or an INIT ACK to it, of the association as it is: by the sender's own tag, and by that of the other side in
 * an INIT ACK. Where none is known, it is the first thing that was captured of it. False: it was kept aside.
 */
static bool init_is_taken(struct sctp_arrival *arrival, const struct first *first, uint32_t to_tag)
{
    struct sctp_association *association = arrival->association;
    struct sctp_side *from = &association->side[arrival->side], *to = &association->side[1 - arrival->side];
    bool fresh = !from->tsn_known && !to->tsn_known, ack = first->type == SCTP_INIT_ACK, fits;
    uint32_t own_known, to_known;
    bool own_is_known = tag_of(from, &own_known), to_is_known = tag_of(to, &to_known);

    if (own_is_known)
        fits = own_known == first->init.tag && (!ack || !to_is_known || to_known == to_tag);
    else
        fits = ack && to_is_known ? to_known == to_tag : fresh;
    if (!fits)
        keep_birth(association, arrival->side, arrival->datagram, first);
    else if (ack && !to_is_known)
        (void)is_heard(to, to_tag);
    return fits;
}

static bool tag_is_taken(struct sctp_arrival *arrival, const struct first *first)
{
    uint32_t tag = (uint32_t)sctp_common_get_VerificationTag(arrival->datagram->octets);
    struct sctp_side *from = &arrival->association->side[arrival->side],
                     *to = &arrival->association->side[1 - arrival->side];

    if (first->type == SCTP_INIT && tag != 0)
        return false;
    if (first->type == SCTP_INIT && first->is_init && arrival->association->finished)
        restart_association(arrival, NULL, NULL);
    if (arrival->association == NULL)
        return false;
    if (first->is_init)
        return init_is_taken(arrival, first, tag);
    if (first->type == SCTP_INIT)
        return true;
    if ((first->type == SCTP_ABORT || first->type == SCTP_SHUTDOWN_COMPLETE) && (first->flags & SCTP_FLAG_T) != 0)
        return from->init_seen ? tag == from->tag : !from->tag_heard || tag == from->heard_tag;
    if (to->init_seen ? tag == to->tag : to->tag_heard && tag == to->heard_tag)
        return true;
    if (is_reborn(arrival, first, tag))
        return arrival->association != NULL;
    if (to->init_seen)
        return false;
    if (is_heard(to, tag))
        return true;
    if (to->others < OTHERS_MOST)
        return false;
    restart_association(arrival, NULL, NULL);
    return arrival->association != NULL;
}

/* ---- packets ----------------------------------------------------------------------------------------------------- */

enum flow_row sctp_packet_row(struct sctp_arrival *arrival)
{
    const struct flow_datagram *datagram = arrival->datagram;
    unsigned side = arrival->side;
    struct first first;

    if (!checksum_is_taken(arrival->association, side, datagram, arrival->checksum))
        return FLOW_ROW_SCTP_CHECKSUM;
    if (!is_address_of(arrival->association, side, datagram->family, datagram->source) ||
        !is_address_of(arrival->association, 1 - side, datagram->family, datagram->destination))
        return FLOW_ROW_SCTP_STRANGER;
    read_first(datagram, &first);
    if (!tag_is_taken(arrival, &first))
        return arrival->association == NULL ? FLOW_ROW_MEMORY
               : first.is_init              ? FLOW_ROW_HEADERS
                                            : FLOW_ROW_SCTP_STRANGER;
    arrival->association->side[side].heard = true;
    return FLOW_ROWS;
}
