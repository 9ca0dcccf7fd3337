/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/capture/capture_pcapng.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/capture/capture_octets.h"

enum block_type {
    BLOCK_SECTION = 0x0A0D0D0A,
    BLOCK_INTERFACE = 1,
    BLOCK_PACKET = 2, /* obsolete */
    BLOCK_SIMPLE_PACKET = 3,
    BLOCK_STATISTICS = 5,
    BLOCK_ENHANCED_PACKET = 6,
};

enum option {
    OPTION_END = 0,
    OPTION_EPB_DROPCOUNT = 4,
    OPTION_ISB_IFDROP = 5,
    OPTION_ISB_OSDROP = 7,
    OPTION_IF_TSRESOL = 9,
    OPTION_IF_TSOFFSET = 14,
};

enum {
    BYTE_ORDER_MAGIC = 0x1A2B3C4D,
    BLOCK_LEAST = 12,
    BLOCK_MAX = 16 << 20, /* as libpcap has it */
    HEAD_OCTETS = 8,      /* type and length */
    INTERFACES_MAX = 1 << 16,
    TSRESOL_MICROSECONDS = 6,
    TSRESOL_NANOSECONDS = 9,
    TSRESOL_LEAST = 19, /* units that are smaller count as these */
    NANOSECONDS = 1000000000,
};

struct interface {
    uint32_t link;
    uint32_t snap; /* 0: none */
    uint8_t resolution;
    int64_t offset;          /* seconds */
    uint64_t dropped;        /* the statistics' last word */
    uint64_t dropped_before; /* frames, between others */
};

struct capture_pcapng {
    struct capture_input *input;
    char *path;
    bool swapped; /* the section's octets are in the other order than ours */
    struct interface *interfaces;
    size_t interface_count, interface_room;
    const uint8_t *block; /* of the block being read: from after its length on, with the length at its end */
    uint64_t place;       /* of the last frame's octets */
    uint64_t frames;
    uint64_t blocks;  /* that are not read: names, secrets, what other programs have put there */
    uint64_t dropped; /* in sections before */
};

/* ---- octets ------------------------------------------------------------------------------------------------------ */

/* So many octets. 1; 0: none was left; -1: fewer. */
static int read_octets(struct capture_pcapng *pcapng, const uint8_t **octets, size_t count)
{
    size_t have = 0;

    *octets = capture_input_next(pcapng->input, count, &have);
    return *octets != NULL ? 1 : have == 0 && capture_input_error(pcapng->input) == 0 ? 0 : -1;
}

static int broken(const struct capture_pcapng *pcapng, struct iwarp_sentence *error)
{
    unsigned long long frames = pcapng->frames, at = capture_input_place(pcapng->input);

    if (capture_input_error(pcapng->input) == ENOMEM)
        (void)iwarp_sentence_set(error, "%s: out of memory for a block", pcapng->path);
    else if (capture_input_error(pcapng->input) != 0)
        (void)iwarp_sentence_set(error, "%s: cannot be read after frame %llu", pcapng->path, frames);
    else
        (void)iwarp_sentence_set(
            error,
            "%s: ends abruptly after frame %llu (octet %llu): the frames before it count, capture again "
            "for the rest",
            pcapng->path, frames, at);
    return -1;
}

static int damaged(const struct capture_pcapng *pcapng, const char *what, struct iwarp_sentence *error)
{
    (void)iwarp_sentence_set(error, "%s: is damaged after frame %llu (octet %llu): %s; the frames before it count",
                             pcapng->path, (unsigned long long)pcapng->frames,
                             (unsigned long long)capture_input_place(pcapng->input), what);
    return -1;
}

static int out_of_memory(const struct capture_pcapng *pcapng, const char *what, struct iwarp_sentence *error)
{
    (void)iwarp_sentence_set(error, "%s: out of memory for %s", pcapng->path, what);
    return -1;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/*
 * A section's header after its type: its order of octets, before its length makes sense. *length becomes the block's.
 */
static int section_head(struct capture_pcapng *pcapng, uint32_t *length, struct iwarp_sentence *error)
{
    const uint8_t *head;
    uint32_t magic;

    if (read_octets(pcapng, &head, HEAD_OCTETS) != 1)
        return broken(pcapng, error);
    memcpy(&magic, head + 4, sizeof(magic));
    if (magic != BYTE_ORDER_MAGIC && __builtin_bswap32(magic) != BYTE_ORDER_MAGIC)
        return damaged(pcapng, "a section without the byte-order magic", error);
    pcapng->swapped = magic != BYTE_ORDER_MAGIC;
    *length = capture_get32(pcapng->swapped, head);
    if (*length < BLOCK_LEAST + 16)
        return damaged(pcapng, "a section header that is too short", error);
    return 0;
}

/*
 * The rest of a block of `length` octets, `taken` of which were read; *body: octets in front of the length at its end.
 */
static int rest_of_block(struct capture_pcapng *pcapng, uint32_t length, size_t taken, size_t *body,
                         struct iwarp_sentence *error)
{
    size_t rest;

    if (length < BLOCK_LEAST || length % 4 != 0 || length > BLOCK_MAX)
        return damaged(pcapng, "a block with an impossible length", error);
    rest = length - taken;
    if (read_octets(pcapng, &pcapng->block, rest) != 1)
        return broken(pcapng, error);
    if (capture_get32(pcapng->swapped, pcapng->block + rest - 4) != length)
        return damaged(pcapng, "a block whose two lengths differ", error);
    *body = rest - 4;
    return 0;
}

/* Calls for each option of a list; stops at the first that does not fit. */
typedef void (*option_taker)(struct capture_pcapng *pcapng, struct interface *interface, unsigned code,
                             const uint8_t *value, size_t count);

static void read_options(struct capture_pcapng *pcapng, const uint8_t *at, const uint8_t *end,
                         struct interface *interface, option_taker taker)
{
    while (end - at >= 4) {
        unsigned code = capture_get16(pcapng->swapped, at);
        size_t count = capture_get16(pcapng->swapped, at + 2);

        at += 4;
        if (code == OPTION_END || count > (size_t)(end - at))
            return;
        taker(pcapng, interface, code, at, count);
        count = (count + 3) & ~(size_t)3;
        if (count > (size_t)(end - at))
            return;
        at += count;
    }
}

/* ---- sections and interfaces ------------------------------------------------------------------------------------- */

static uint64_t dropped_here(const struct capture_pcapng *pcapng)
{
    uint64_t dropped = 0;

    for (size_t i = 0; i < pcapng->interface_count; i++) {
        const struct interface *interface = &pcapng->interfaces[i];

        dropped += interface->dropped > interface->dropped_before ? interface->dropped : interface->dropped_before;
    }
    return dropped;
}

static int read_section(struct capture_pcapng *pcapng, struct iwarp_sentence *error)
{
    uint32_t length = 0;
    size_t body;

    pcapng->dropped += dropped_here(pcapng);
    pcapng->interface_count = 0;
    if (section_head(pcapng, &length, error) != 0 || rest_of_block(pcapng, length, HEAD_OCTETS + 4, &body, error) != 0)
        return -1;
    if (capture_get16(pcapng->swapped, pcapng->block) != 1)
        return damaged(pcapng, "a section of another version than 1", error);
    return 0;
}

static void read_interface_option(struct capture_pcapng *pcapng, struct interface *interface, unsigned code,
                                  const uint8_t *value, size_t count)
{
    if (code == OPTION_IF_TSRESOL && count >= 1)
        interface->resolution = value[0];
    if (code == OPTION_IF_TSOFFSET && count >= 8)
        interface->offset = (int64_t)capture_get64(pcapng->swapped, value);
}

static int read_interface(struct capture_pcapng *pcapng, size_t body, struct iwarp_sentence *error)
{
    struct interface *interface;

    if (body < 8 || pcapng->interface_count >= INTERFACES_MAX)
        return damaged(pcapng, body < 8 ? "an interface's description that is too short" : "too many interfaces",
                       error);
    if (pcapng->interface_count == pcapng->interface_room) {
        size_t room = pcapng->interface_room != 0 ? 2 * pcapng->interface_room : 4;
        struct interface *grown = realloc(pcapng->interfaces, room * sizeof(*grown));

        if (grown == NULL)
            return out_of_memory(pcapng, "its interfaces", error);
        pcapng->interfaces = grown;
        pcapng->interface_room = room;
    }
    interface = &pcapng->interfaces[pcapng->interface_count++];
    *interface = (struct interface){
        .link = capture_get16(pcapng->swapped, pcapng->block),
        .snap = capture_get32(pcapng->swapped, pcapng->block + 4),
        .resolution = TSRESOL_MICROSECONDS,
    };
    read_options(pcapng, pcapng->block + 8, pcapng->block + body, interface, read_interface_option);
    return 0;
}

static struct interface *interface_at(const struct capture_pcapng *pcapng, uint32_t number)
{
    return number < pcapng->interface_count ? &pcapng->interfaces[number] : NULL;
}

/* The two counters of a statistics block, added up in `dropped`, which was set to 0 for it. */
static void read_statistics_option(struct capture_pcapng *pcapng, struct interface *interface, unsigned code,
                                   const uint8_t *value, size_t count)
{
    if ((code == OPTION_ISB_IFDROP || code == OPTION_ISB_OSDROP) && count >= 8)
        interface->dropped += capture_get64(pcapng->swapped, value);
}

static void read_statistics(struct capture_pcapng *pcapng, size_t body)
{
    struct interface *interface =
        body >= 12 ? interface_at(pcapng, capture_get32(pcapng->swapped, pcapng->block)) : NULL;

    if (interface == NULL)
        return;
    interface->dropped = 0;
    read_options(pcapng, pcapng->block + 12, pcapng->block + body, interface, read_statistics_option);
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static uint64_t power_of_ten(unsigned exponent)
{
    uint64_t power = 1;

    while (exponent-- > 0)
        power *= 10;
    return power;
}

/* units * 10^9 >> exponent, whose product has up to 94 bits: `high` stands above the 32 bits of `low`. */
static uint64_t of_binary_units(uint64_t units, unsigned exponent)
{
    uint64_t low = (units & UINT32_MAX) * NANOSECONDS;
    uint64_t high = (units >> 32) * NANOSECONDS + (low >> 32);

    if (exponent >= 32)
        return exponent < 96 ? high >> (exponent - 32) : 0;
    return high << (32 - exponent) | (low & UINT32_MAX) >> exponent;
}

static uint64_t nanoseconds(const struct interface *interface, uint64_t units)
{
    unsigned exponent = interface->resolution & 0x7F;

    if ((interface->resolution & 0x80) != 0)
        units = of_binary_units(units, exponent);
    else if (exponent <= TSRESOL_NANOSECONDS)
        units *= power_of_ten(TSRESOL_NANOSECONDS - exponent);
    else
        units /= power_of_ten((exponent < TSRESOL_LEAST ? exponent : TSRESOL_LEAST) - TSRESOL_NANOSECONDS);
    return units + (uint64_t)interface->offset * NANOSECONDS;
}

static void read_packet_option(struct capture_pcapng *pcapng, struct interface *interface, unsigned code,
                               const uint8_t *value, size_t count)
{
    if (code == OPTION_EPB_DROPCOUNT && count >= 8 && interface != NULL)
        interface->dropped_before += capture_get64(pcapng->swapped, value);
}

static int fill_frame(struct capture_pcapng *pcapng, struct flow_frame *frame, const struct interface *interface,
                      size_t head, size_t captured, size_t length, size_t body)
{
    frame->link = interface != NULL ? interface->link : FLOW_LINK_NONE;
    frame->number = ++pcapng->frames;
    frame->octets = pcapng->block + head;
    frame->captured = captured;
    frame->length = length;
    pcapng->place = capture_input_place(pcapng->input) - 4 - body + head;
    return 1;
}

/* An Enhanced Packet Block, and the Packet Block that it replaces: the same but for the interface's number. */
static int read_packet(struct capture_pcapng *pcapng, size_t body, bool enhanced, struct flow_frame *frame,
                       struct iwarp_sentence *error)
{
    enum { HEAD = 20 };
    const uint8_t *block = pcapng->block;
    struct interface *interface;
    size_t captured;

    if (body < HEAD)
        return damaged(pcapng, "a packet block that is too short", error);
    interface =
        interface_at(pcapng, enhanced ? capture_get32(pcapng->swapped, block) : capture_get16(pcapng->swapped, block));
    captured = capture_get32(pcapng->swapped, block + 12);
    if (captured > body - HEAD)
        return damaged(pcapng, "a frame that is longer than its block", error);
    frame->time_ns = interface != NULL
                         ? nanoseconds(interface, (uint64_t)capture_get32(pcapng->swapped, block + 4) << 32 |
                                                      capture_get32(pcapng->swapped, block + 8))
                         : 0;
    if (body - HEAD > ((captured + 3) & ~(size_t)3) && enhanced)
        read_options(pcapng, block + HEAD + ((captured + 3) & ~(size_t)3), block + body, interface, read_packet_option);
    return fill_frame(pcapng, frame, interface, HEAD, captured, capture_get32(pcapng->swapped, block + 16), body);
}

/* Of the first interface, without a time. */
static int read_simple_packet(struct capture_pcapng *pcapng, size_t body, struct flow_frame *frame,
                              struct iwarp_sentence *error)
{
    const struct interface *interface = interface_at(pcapng, 0);
    size_t length, captured;

    if (body < 4)
        return damaged(pcapng, "a packet block that is too short", error);
    length = captured = capture_get32(pcapng->swapped, pcapng->block);
    if (interface != NULL && interface->snap != 0 && captured > interface->snap)
        captured = interface->snap;
    if (captured > body - 4)
        return damaged(pcapng, "a frame that is longer than its block", error);
    frame->time_ns = 0;
    return fill_frame(pcapng, frame, interface, 4, captured, length, body);
}

/* One block after its type and length. 1: a frame came of it. */
static int read_block(struct capture_pcapng *pcapng, uint32_t type, size_t body, struct flow_frame *frame,
                      struct iwarp_sentence *error)
{
    switch (type) {
    case BLOCK_INTERFACE: return read_interface(pcapng, body, error);
    case BLOCK_ENHANCED_PACKET: return read_packet(pcapng, body, true, frame, error);
    case BLOCK_PACKET: return read_packet(pcapng, body, false, frame, error);
    case BLOCK_SIMPLE_PACKET: return read_simple_packet(pcapng, body, frame, error);
    case BLOCK_STATISTICS: read_statistics(pcapng, body); return 0;
    default: pcapng->blocks++; return 0;
    }
}

int capture_pcapng_next(struct capture_pcapng *pcapng, struct flow_frame *frame, struct iwarp_sentence *error)
{
    int rc = 0;

    while (rc == 0) {
        const uint8_t *head;
        uint32_t type;
        size_t body;

        rc = read_octets(pcapng, &head, 4);
        if (rc <= 0)
            return rc == 0 ? 0 : broken(pcapng, error);
        type = capture_get32(pcapng->swapped, head);
        if (type == BLOCK_SECTION) { /* reads the same in either order */
            rc = read_section(pcapng, error);
            continue;
        }
        if (read_octets(pcapng, &head, 4) != 1)
            return broken(pcapng, error);
        if (rest_of_block(pcapng, capture_get32(pcapng->swapped, head), HEAD_OCTETS, &body, error) != 0)
            return -1;
        rc = read_block(pcapng, type, body, frame, error);
    }
    return rc;
}

uint64_t capture_pcapng_place(const struct capture_pcapng *pcapng)
{
    return pcapng->place;
}

void capture_pcapng_account(const struct capture_pcapng *pcapng, struct flow_account *account)
{
    account->row[FLOW_ROW_BLOCK].items += pcapng->blocks;
    account->row[FLOW_ROW_DROPPED].items += pcapng->dropped + dropped_here(pcapng);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

struct capture_pcapng *capture_pcapng_open(struct capture_input *input, const char *path, struct iwarp_sentence *error)
{
    struct capture_pcapng *pcapng = calloc(1, sizeof(*pcapng));

    if (pcapng == NULL || (pcapng->path = strdup(path)) == NULL) {
        (void)iwarp_sentence_set(error, "%s: out of memory", path);
        capture_pcapng_close(pcapng);
        return NULL;
    }
    pcapng->input = input;
    if (read_section(pcapng, error) == 0)
        return pcapng;
    capture_pcapng_close(pcapng);
    return NULL;
}

void capture_pcapng_close(struct capture_pcapng *pcapng)
{
    if (pcapng == NULL)
        return;
    free(pcapng->interfaces);
    free(pcapng->path);
    free(pcapng);
}
