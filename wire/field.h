/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A header is a table of fields. Each header of the project is declared once, as an X-macro list
 *
 *     #define NAME_FIELDS(F, O, layout)
 *         F(layout, id, "Name", first bit, bits, kind, value names, "section", "meaning")      numbers of up to 64 bits
 *         O(layout, id, "Name", first octet, octets, "section", "meaning")                     strings of octets
 *
 * from which WIRE_LAYOUT_DECLARE makes the inline accessors `layout_get_id()` and `layout_set_id()`, and
 * WIRE_LAYOUT_DEFINE the run-time table that drawings, the dissector, Lua and decoders read. Bit 0 is the most
 * significant bit of octet 0, as in the RFCs' figures. WIRE_LITTLE_DECLARE and WIRE_LITTLE_DEFINE do the same for a
 * header whose numbers are little-endian; its fields are whole octets.
 */
#ifndef WIRE_FIELD_H
#define WIRE_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/octets.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A number that has a name: ends with { 0, NULL }. */
struct wire_name {
    uint64_t value;
    const char *name;
};

enum wire_kind {
    WIRE_NUMBER,   /* shown in decimal */
    WIRE_HEX,      /* shown in hexadecimal: STag, TO, CRC */
    WIRE_FLAG,     /* one bit */
    WIRE_RESERVED, /* sent as zero, not checked on receipt unless a text says so */
    WIRE_OCTETS,   /* a string of octets */
};

struct wire_field {
    const char *id;   /* identifier: Lua key, filter name */
    const char *name; /* the RFC's name */
    uint16_t bit;     /* first bit, counted from the most significant bit of octet 0 */
    uint16_t bits;    /* width; at most 64 unless kind is WIRE_OCTETS */
    enum wire_kind kind;
    const struct wire_name *names; /* names of values, or NULL */
    const char *section;           /* document and section */
    const char *meaning;
    bool little; /* the least significant octet first */
};

struct wire_layout {
    const char *id;    /* identifier: "ddp_tagged" */
    const char *title; /* for people: "DDP Tagged Buffer Model header" */
    const char *section;
    const struct wire_field *fields;
    size_t field_count;
    size_t octets; /* whole header */
};

/* Reads `bits` (1 to 64) bits from bit `bit` of `header`. Fields wider than 57 bits must begin on an octet. */
static inline uint64_t wire_bits_get(const uint8_t *header, unsigned bit, unsigned bits)
{
    const uint8_t *octets = header + bit / 8;
    unsigned skip = bit % 8;

    if (skip == 0 && bits == 64)
        return octets_get64(octets);
    if (skip == 0 && bits == 32)
        return octets_get32(octets);
    if (skip == 0 && bits == 16)
        return octets_get16(octets);

    uint64_t value = 0;
    unsigned span = (skip + bits + 7) / 8;

    for (unsigned i = 0; i < span; i++)
        value = value << 8 | octets[i];
    value >>= span * 8 - skip - bits;
    return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

/* Writes the low `bits` bits of `value` to bit `bit` of `header`; the bits around them keep their value. */
static inline void wire_bits_set(uint8_t *header, unsigned bit, unsigned bits, uint64_t value)
{
    for (unsigned i = 0; i < bits; i++) {
        unsigned at = bit + bits - 1 - i;
        uint8_t mask = (uint8_t)(0x80u >> at % 8);

        if (value >> i & 1)
            header[at / 8] |= mask;
        else
            header[at / 8] &= (uint8_t)~mask;
    }
}

/* The same for a number of whole octets, its least significant first. */
static inline uint64_t wire_little_get(const uint8_t *header, unsigned bit, unsigned bits)
{
    uint64_t value = 0;

    for (unsigned i = bits / 8; i > 0; i--)
        value = value << 8 | header[bit / 8 + i - 1];
    return value;
}

static inline void wire_little_set(uint8_t *header, unsigned bit, unsigned bits, uint64_t value)
{
    for (unsigned i = 0; i < bits / 8; i++, value >>= 8)
        header[bit / 8 + i] = (uint8_t)value;
}

/* Value of a number field (WIRE_OCTETS fields give 0). `header` holds the layout's octets. */
uint64_t wire_field_get(const struct wire_field *field, const uint8_t *header);

/* Sets a number field; a WIRE_OCTETS field is left alone. */
void wire_field_set(const struct wire_field *field, uint8_t *header, uint64_t value);

/* The field with that identifier, or NULL. */
const struct wire_field *wire_layout_field(const struct wire_layout *layout, const char *id);

/* Name of `value` in a table that ends with a NULL name; NULL when it has none. */
const char *wire_name_of(const struct wire_name *names, uint64_t value);

/* Every layout of the project, ended by NULL, and the one with that identifier (NULL when there is none). */
extern const struct wire_layout *const wire_layouts[];
const struct wire_layout *wire_layout_find(const char *id);

#define WIRE_ACCESSOR_(layout, id, name, bit, bits, kind, names, section, meaning)                                     \
    static inline uint64_t layout##_get_##id(const uint8_t *header)                                                    \
    {                                                                                                                  \
        return wire_bits_get(header, bit, bits);                                                                       \
    }                                                                                                                  \
    static inline void layout##_set_##id(uint8_t *header, uint64_t value)                                              \
    {                                                                                                                  \
        wire_bits_set(header, bit, bits, value);                                                                       \
    }
#define WIRE_OFFSET_(layout, id, name, octet, octets, section, meaning)                                                \
    static inline const uint8_t *layout##_at_##id(const uint8_t *header)                                               \
    {                                                                                                                  \
        return header + (octet);                                                                                       \
    }
#define WIRE_LAYOUT_DECLARE(layout, FIELDS)                                                                            \
    FIELDS(WIRE_ACCESSOR_, WIRE_OFFSET_, layout)                                                                       \
    extern const struct wire_layout layout##_layout

#define WIRE_LITTLE_ACCESSOR_(layout, id, name, bit, bits, kind, names, section, meaning)                              \
    static inline uint64_t layout##_get_##id(const uint8_t *header)                                                    \
    {                                                                                                                  \
        return wire_little_get(header, bit, bits);                                                                     \
    }                                                                                                                  \
    static inline void layout##_set_##id(uint8_t *header, uint64_t value)                                              \
    {                                                                                                                  \
        wire_little_set(header, bit, bits, value);                                                                     \
    }
#define WIRE_LITTLE_DECLARE(layout, FIELDS)                                                                            \
    FIELDS(WIRE_LITTLE_ACCESSOR_, WIRE_OFFSET_, layout)                                                                \
    extern const struct wire_layout layout##_layout

#define WIRE_FIELD_ROW_(layout, id, name, bit, bits, kind, names, section, meaning)                                    \
    {#id, name, bit, bits, kind, names, section, meaning, false},
#define WIRE_LITTLE_ROW_(layout, id, name, bit, bits, kind, names, section, meaning)                                   \
    {#id, name, bit, bits, kind, names, section, meaning, true},
#define WIRE_OCTETS_ROW_(layout, id, name, octet, octets, section, meaning)                                            \
    {#id, name, (octet)*8, (octets)*8, WIRE_OCTETS, NULL, section, meaning, false},
#define WIRE_LAYOUT_DEFINE(layout, FIELDS, title, section, octets)                                                     \
    WIRE_LAYOUT_DEFINE_(layout, FIELDS, title, section, octets, WIRE_FIELD_ROW_)
#define WIRE_LITTLE_DEFINE(layout, FIELDS, title, section, octets)                                                     \
    WIRE_LAYOUT_DEFINE_(layout, FIELDS, title, section, octets, WIRE_LITTLE_ROW_)
#define WIRE_LAYOUT_DEFINE_(layout, FIELDS, title, section, octets, ROW)                                               \
    static const struct wire_field layout##_fields[] = {FIELDS(ROW, WIRE_OCTETS_ROW_, layout)};                        \
    const struct wire_layout layout##_layout = {                                                                       \
        #layout, title, section, layout##_fields, sizeof(layout##_fields) / sizeof(layout##_fields[0]), octets}

#ifdef __cplusplus
}
#endif

#endif
