/* SPDX-License-Identifier: BSD-2-Clause */
/* Changes of captures: what becomes of frames on their way, and what a device may send that is wrong. */
#include "tests/fuzz/records.h"
#include "wire/crc32c.h"
#include "wire/fpdu.h"
#include "wire/mpa.h"
#include "base/octets.h"
#include "wire/sctp.h"

enum { RECORDS_MAX = 256, OCTETS_MAX = 4096, HEAD = 3, TCP = 6, SCTP = 132, LINK_KINDS = 8 };

struct record {
    uint16_t count;
    uint8_t cut;
    uint8_t octets[OCTETS_MAX];
};

struct records {
    struct record *items[RECORDS_MAX]; /* into `pool`, in their order */
    size_t count;
    uint8_t link;
    uint32_t choices;
    struct record pool[RECORDS_MAX];
};

/* Where the headers of a record are, in octets from its beginning; transport 0: nothing that is known. */
struct places {
    size_t network, transport, payload;
    uint8_t protocol;
};

static uint32_t choose(struct records *records, uint32_t below)
{
    return fuzz_choice(&records->choices, below);
}

/* ---- reading and writing the input ------------------------------------------------------------------------------- */

static void read_records(struct records *records, const uint8_t *data, size_t size)
{
    records->count = 0;
    records->link = size != 0 ? data[0] : 0;
    for (size_t at = 1; at + HEAD <= size && records->count < RECORDS_MAX;) {
        struct record *record = &records->pool[records->count];
        size_t count = octets_get16(data + at), left = size - at - HEAD;

        count = count < left ? count : left;
        record->count = (uint16_t)(count < OCTETS_MAX ? count : OCTETS_MAX);
        record->cut = data[at + 2];
        memcpy(record->octets, data + at + HEAD, record->count);
        records->items[records->count++] = record;
        at += HEAD + count;
    }
}

static size_t write_records(const struct records *records, uint8_t *data, size_t room)
{
    size_t at = 1;

    if (room == 0)
        return 0;
    data[0] = records->link;
    for (size_t i = 0; i < records->count && at + HEAD + records->items[i]->count <= room; i++) {
        octets_put16(data + at, records->items[i]->count);
        data[at + 2] = records->items[i]->cut;
        memcpy(data + at + HEAD, records->items[i]->octets, records->items[i]->count);
        at += HEAD + records->items[i]->count;
    }
    return at;
}

/* ---- inside a frame ---------------------------------------------------------------------------------------------- */

static size_t network_of(uint8_t link)
{
    static const uint8_t heads[LINK_KINDS] = {14, 0, 4, 16, 20, 4, 0, 0};

    return heads[link % LINK_KINDS];
}

static bool find_places(const struct records *records, const struct record *record, struct places *places)
{
    const uint8_t *octets = record->octets;
    size_t at = network_of(records->link), tcp;

    *places = (struct places){.network = at};
    if (at + 40 > record->count)
        return false;
    if (octets[at] >> 4 == 4) {
        places->transport = at + (size_t)(octets[at] & 15) * 4;
        places->protocol = octets[at + 9];
    } else if (octets[at] >> 4 == 6) {
        places->transport = at + 40;
        places->protocol = octets[at + 6];
    }
    if (places->transport == 0 || places->transport + 20 > record->count)
        return false;
    tcp = places->protocol == TCP ? (size_t)(octets[places->transport + 12] >> 4) * 4 : 12;
    places->payload = places->transport + tcp;
    return (places->protocol == TCP || places->protocol == SCTP) && places->payload <= record->count;
}

static void fix_network_length(struct record *record, const struct places *places)
{
    uint8_t *network = record->octets + places->network;

    if (network[0] >> 4 == 4)
        octets_put16(network + 2, (uint16_t)(record->count - places->network));
    else
        octets_put16(network + 4, (uint16_t)(record->count - places->network - 40));
}

/* The CRCs of the FPDUs that begin with the payload and are whole in it; those with Markers in them stay wrong. */
static void fix_crcs(struct record *record, size_t at)
{
    uint8_t *octets = record->octets;

    if (at + MPA_START_OCTETS <= record->count && memcmp(octets + at, "MPA ID R", 8) == 0)
        at += MPA_START_OCTETS + (size_t)octets_get16(octets + at + 18);
    while (at + FPDU_LENGTH_OCTETS <= record->count) {
        size_t content = fpdu_content(octets_get16(octets + at));

        if (content > record->count - at)
            return;
        octets_put32_little(octets + at + content - FPDU_CRC_OCTETS, crc32c(octets + at, content - FPDU_CRC_OCTETS));
        at += content;
    }
}

/* Makes the frame one that a receiver takes, so far as it knows it. */
static void fix(const struct records *records, struct record *record)
{
    struct places places;

    if (!find_places(records, record, &places))
        return;
    fix_network_length(record, &places);
    if (places.protocol == TCP)
        fix_crcs(record, places.payload);
    else
        sctp_common_set_Checksum(record->octets + places.transport,
                                 sctp_checksum(record->octets + places.transport, record->count - places.transport));
}

static void mutate_from(struct records *records, struct record *record, size_t from)
{
    if (from > record->count)
        from = record->count;
    record->count = (uint16_t)(from + LLVMFuzzerMutate(record->octets + from, record->count - from, OCTETS_MAX - from));
    if (choose(records, 8) != 0)
        fix(records, record);
}

/* A field of the TCP header moves by a little, or to anything. */
static void change_header(struct records *records, struct record *record)
{
    struct places places;
    uint8_t *tcp;
    uint32_t step;

    if (!find_places(records, record, &places) || places.protocol != TCP) {
        mutate_from(records, record, 0);
        return;
    }
    tcp = record->octets + places.transport;
    step = choose(records, 4) == 0 ? choose(records, UINT32_MAX) : choose(records, 64) - 32;
    switch (choose(records, 5)) {
    case 0: octets_put32(tcp + 4, octets_get32(tcp + 4) + step); break;
    case 1: octets_put32(tcp + 4, octets_get32(tcp + 4) + (uint32_t)(record->count - places.payload)); break;
    case 2: octets_put32(tcp + 8, octets_get32(tcp + 8) + step); break;
    case 3: tcp[13] ^= (uint8_t)(1U << choose(records, 5)); break;
    default: octets_put16(tcp + 14, (uint16_t)step); break;
    }
}

/* An FPDU of the fuzzer's own after what the segment carries: a DDP header that is likely, and any payload. */
static void append_fpdu(struct records *records, struct record *record)
{
    static const uint8_t controls[] = {0x41, 0x42, 0x81, 0xC1, 0xC2};
    struct fpdu_framing framing = {false, true, 0};
    uint8_t ulpdu[128];
    struct places places;
    size_t count = 14 + choose(records, 64), added;

    if (!find_places(records, record, &places) || places.protocol != TCP)
        return;
    for (size_t i = 0; i < count; i++)
        ulpdu[i] = choose(records, 3) == 0 ? (uint8_t)choose(records, 256) : 0;
    ulpdu[0] = controls[choose(records, sizeof(controls))];
    ulpdu[1] = (uint8_t)(0x40 | choose(records, 16));
    if (count > 18 && (ulpdu[0] & 0x80) == 0) {
        octets_put32(ulpdu + 6, choose(records, 4));
        octets_put32(ulpdu + 10, choose(records, 3));
    }
    added = fpdu_pack(ulpdu, count, &framing, record->octets + record->count, OCTETS_MAX - (size_t)record->count);
    record->count = (uint16_t)(record->count + added);
    fix_network_length(record, &places);
}

/* ---- among frames ------------------------------------------------------------------------------------------------ */

static struct record *copy_of(struct records *records, size_t which, size_t to)
{
    struct record *copy = &records->pool[records->count];

    if (records->count == RECORDS_MAX)
        return NULL;
    /* The pool's records are in use from its beginning on: the next one is free. */
    *copy = *records->items[which];
    memmove(records->items + to + 1, records->items + to, (records->count - to) * sizeof(*records->items));
    records->items[to] = copy;
    records->count++;
    return copy;
}

/* The octets of one segment in two, which may come in either order, overlap, or leave octets out. */
static void split(struct records *records, size_t which)
{
    struct record *first = records->items[which], *second;
    struct places places;
    size_t count, at, overlap;

    if (!find_places(records, first, &places) || places.protocol != TCP || first->count - places.payload < 2)
        return;
    second = copy_of(records, which, which + choose(records, 2));
    if (second == NULL)
        return;
    count = first->count - places.payload;
    at = 1 + choose(records, (uint32_t)count - 1);
    overlap = choose(records, 3) == 0 ? choose(records, (uint32_t)at) : 0;
    at -= overlap;
    memmove(second->octets + places.payload, first->octets + places.payload + at, count - at);
    second->count = (uint16_t)(places.payload + count - at);
    octets_put32(second->octets + places.transport + 4,
                 octets_get32(second->octets + places.transport + 4) + (uint32_t)at);
    fix_network_length(second, &places);
    first->count = (uint16_t)(places.payload + at + overlap);
    fix_network_length(first, &places);
}

/* The frame comes from the other side: addresses and ports change places. */
static void turn_round(const struct records *records, struct record *record)
{
    struct places places;
    uint8_t kept[16];
    size_t octets;
    uint8_t *source;

    if (!find_places(records, record, &places))
        return;
    octets = record->octets[places.network] >> 4 == 4 ? 4 : 16;
    source = record->octets + places.network + (octets == 4 ? 12 : 8);
    memcpy(kept, source, octets);
    memcpy(source, source + octets, octets);
    memcpy(source + octets, kept, octets);
    source = record->octets + places.transport;
    memcpy(kept, source, 2);
    memcpy(source, source + 2, 2);
    memcpy(source + 2, kept, 2);
}

static void remove_one(struct records *records, size_t which)
{
    struct record *removed = records->items[which], *last = &records->pool[records->count - 1];

    records->count--;
    memmove(records->items + which, records->items + which + 1, (records->count - which) * sizeof(*records->items));
    /* The pool stays without gaps: its last record takes the place of the removed one. */
    for (size_t i = 0; i < records->count && removed != last; i++)
        if (records->items[i] == last) {
            *removed = *last;
            records->items[i] = removed;
        }
}

static void move(struct records *records, size_t from, size_t to)
{
    struct record *moved = records->items[from];

    memmove(records->items + from, records->items + from + 1, (records->count - from - 1) * sizeof(*records->items));
    memmove(records->items + to + 1, records->items + to, (records->count - to - 1) * sizeof(*records->items));
    records->items[to] = moved;
}

static void change(struct records *records)
{
    size_t which = choose(records, (uint32_t)records->count), other = choose(records, (uint32_t)records->count);
    struct record *record = records->items[which];
    struct places places;

    switch (choose(records, 14)) {
    case 0: mutate_from(records, record, 0); break;
    case 1:
    case 2:
    case 3:
    case 4: mutate_from(records, record, find_places(records, record, &places) ? places.payload : 0); break;
    case 5: change_header(records, record); break;
    case 6: (void)copy_of(records, which, other); break;
    case 7: remove_one(records, which); break;
    case 8: move(records, which, which + 1 < records->count ? which + 1 : 0); break;
    case 9: move(records, which, other); break;
    case 10: split(records, which); break;
    case 11:
        record->cut = choose(records, 2) == 0 ? 0 : (uint8_t)choose(records, 256);
        if (choose(records, 2) == 0)
            record->count = (uint16_t)choose(records, record->count + 1U);
        break;
    case 12: turn_round(records, record); break;
    default: append_fpdu(records, record); break;
    }
}

size_t fuzz_records_mutate(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    static struct records records;

    records.choices = seed;
    read_records(&records, data, size);
    if (records.count == 0 || choose(&records, 16) == 0)
        return LLVMFuzzerMutate(data, size, room);
    for (uint32_t changes = 1 + choose(&records, 4); changes != 0 && records.count != 0; changes--)
        change(&records);
    return write_records(&records, data, room);
}
