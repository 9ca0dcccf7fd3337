/* SPDX-License-Identifier: BSD-2-Clause */
/* Terminate Messages with and without their parts, and the registries of errors. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/guard.h"
#include "tests/unit/suites.h"
#include "wire/ddp.h"
#include "wire/rdmap.h"
#include "wire/terminate.h"

Suite *terminate_suite(void);

/* A Terminate written by hand. `flags`: M 4, D 2, R 1. Returns its octets. */
static size_t write_terminate(uint8_t *out, uint16_t word, unsigned flags, bool tagged)
{
    size_t at = 4, ddp = tagged ? 14 : 18;

    out[0] = (uint8_t)(word >> 8);
    out[1] = (uint8_t)word;
    out[2] = (uint8_t)(flags << 5);
    out[3] = 0;
    if (flags & 6) {
        out[at++] = 0x05;
        out[at++] = 0xB4;
    }
    if (flags & 2) {
        for (size_t i = 0; i < ddp; i++)
            out[at + i] = (uint8_t)(0x30 + i);
        out[at] = tagged ? 0xC1 : 0x41;
        at += ddp;
    }
    if (flags & 1)
        for (size_t i = 0; i < 28; i++)
            out[at++] = (uint8_t)(0x60 + i);
    return at;
}

/* _i: M, D, R and the model of the embedded header: all 16, whole, cut at every octet, and with octets after. */
START_TEST(terminate_is_packed_with_any_parts)
{
    unsigned flags = (unsigned)_i & 7;
    bool tagged = _i & 8, m = flags & 4, d = flags & 2, r = flags & 1;
    uint8_t octets[80], packed[80];
    size_t count = write_terminate(octets, 0x1203, flags, tagged);
    size_t ddp_at = 6, ddp = tagged ? 14 : 18, rdmap_at = 4 + (m || d ? 2 : 0) + (d ? ddp : 0);
    struct terminate terminate;

    ck_assert_uint_le(count, IWARP_TERMINATE_MAX);
    for (size_t cut = 0; cut < count; cut++) {
        uint8_t *placed = guard_place(octets, cut);
        const uint8_t *p = placed;

        ck_assert_uint_eq(terminate_parse(&p, placed + cut, &terminate), WIRE_MORE);
        ck_assert_ptr_eq(p, placed);
        /* The parts in front of the cut are there. */
        ck_assert_uint_eq(terminate.triple, cut < 4 ? 0 : TERM_DDP_MSN_RANGE);
        ck_assert_int_eq(terminate.has_length, (m || d) && cut >= 6);
        ck_assert_int_eq(terminate.ddp_header != NULL, d && cut >= 6 + ddp);
        ck_assert_ptr_null(terminate.rdmap_header);
        guard_free(placed, cut);
    }
    for (size_t excess = 0; excess < 8; excess++) {
        uint8_t *placed = guard_place(octets, count + excess);
        const uint8_t *p = placed;

        ck_assert_uint_eq(terminate_parse(&p, placed + count + excess, &terminate), WIRE_OK);
        ck_assert_ptr_eq(p, placed + count + excess);
        ck_assert_uint_eq(terminate.triple, TERM_DDP_MSN_RANGE);
        ck_assert(terminate.m == m && terminate.d == d && terminate.r == r);
        ck_assert_uint_eq(terminate.reserved, 0);
        ck_assert_int_eq(terminate.has_length, m || d);
        ck_assert_uint_eq(terminate.ddp_segment_length, m || d ? 0x05B4 : 0);
        ck_assert_ptr_eq(terminate.ddp_header, d ? placed + ddp_at : NULL);
        ck_assert_uint_eq(terminate.ddp_header_octets, d ? ddp : 0);
        ck_assert_ptr_eq(terminate.rdmap_header, r ? placed + rdmap_at : NULL);
        ck_assert_uint_eq(terminate.rdmap_header_octets, r ? 28 : 0);
        ck_assert_uint_eq(terminate.excess, excess);
        ck_assert_uint_eq(terminate_pack(&terminate, packed, count - 1), 0);
        ck_assert_uint_eq(terminate_pack(&terminate, packed, count), count);
        ck_assert_mem_eq(packed, octets, count);
        guard_free(placed, count + excess);
    }
}
END_TEST

/* The first two octets in all 65536 values, and the reserved bits, survive both ways. */
START_TEST(terminate_control_survives_a_round_trip)
{
    for (unsigned word = (unsigned)_i << 12; word < (unsigned)(_i + 1) << 12; word++) {
        uint8_t octets[4] = {(uint8_t)(word >> 8), (uint8_t)word, (uint8_t)(word * 7 & 0x1F), (uint8_t)(word * 13)};
        const uint8_t *p = octets;
        struct terminate terminate;
        uint8_t packed[4];

        EXPECT(terminate_parse(&p, octets + 4, &terminate) == (WIRE_OK), "word 0x%04x", word);
        EXPECT(terminate.triple == (WIRE_ERROR_BIT | word), "word 0x%04x", word);
        EXPECT(wire_is_error(terminate.triple), "word 0x%04x", word);
        EXPECT(wire_error_word(terminate.triple) == (word), "word 0x%04x", word);
        EXPECT(wire_error_layer(terminate.triple) == (word >> 12), "word 0x%04x", word);
        EXPECT(wire_error_etype(terminate.triple) == (word >> 8 & 0xF), "word 0x%04x", word);
        EXPECT(wire_error_code(terminate.triple) == (word & 0xFF), "word 0x%04x", word);
        EXPECT(terminate.reserved == ((octets[2] & 0x1F) << 8 | octets[3]), "word 0x%04x", word);
        EXPECT(terminate_pack(&terminate, packed, 4) == (4), "word 0x%04x", word);
        EXPECT(memcmp(packed, octets, 4) == 0, "word 0x%04x", word);
    }
}
END_TEST

/* The registry, written down a second time: RFC 6580 3 (from RFC 5040 4.8, RFC 5041 7.2, RFC 5044 8), RFC 6581 8. */
static const struct {
    uint16_t word;
    const char *id;
} registry[] = {
    {0x0000, "RDMAP_CATASTROPHIC"},
    {0x0100, "RDMAP_INVALID_STAG"},
    {0x0101, "RDMAP_BOUNDS"},
    {0x0102, "RDMAP_ACCESS"},
    {0x0103, "RDMAP_NOT_ASSOCIATED"},
    {0x0104, "RDMAP_TO_WRAP"},
    {0x0109, "RDMAP_PROTECTION_INVALIDATE"},
    {0x01FF, "RDMAP_PROTECTION_OTHER"},
    {0x0205, "RDMAP_VERSION"},
    {0x0206, "RDMAP_OPCODE"},
    {0x0207, "RDMAP_CATASTROPHIC_STREAM"},
    {0x0208, "RDMAP_CATASTROPHIC_GLOBAL"},
    {0x0209, "RDMAP_OPERATION_INVALIDATE"},
    {0x02FF, "RDMAP_OPERATION_OTHER"},
    {0x1000, "DDP_CATASTROPHIC"},
    {0x1100, "DDP_INVALID_STAG"},
    {0x1101, "DDP_BOUNDS"},
    {0x1102, "DDP_NOT_ASSOCIATED"},
    {0x1103, "DDP_TO_WRAP"},
    {0x1104, "DDP_TAGGED_VERSION"},
    {0x1201, "DDP_INVALID_QN"},
    {0x1202, "DDP_NO_BUFFER"},
    {0x1203, "DDP_MSN_RANGE"},
    {0x1204, "DDP_INVALID_MO"},
    {0x1205, "DDP_TOO_LONG"},
    {0x1206, "DDP_UNTAGGED_VERSION"},
    {0x2001, "MPA_CONNECTION_LOST"},
    {0x2002, "MPA_CRC"},
    {0x2003, "MPA_MARKER"},
    {0x2004, "MPA_START_FRAME"},
    {0x2005, "MPA_CATASTROPHIC"},
    {0x2006, "MPA_INSUFFICIENT_IRD"},
    {0x2007, "MPA_NO_MATCHING_RTR"},
};
enum { REGISTRY = sizeof(registry) / sizeof(registry[0]) };

START_TEST(registry_entry_is_found_by_triple)
{
    const struct terminate_error *error = terminate_error_named(registry[_i].id);

    ck_assert_ptr_nonnull(error);
    ck_assert_uint_eq(error->triple, WIRE_ERROR_BIT | registry[_i].word);
    ck_assert_str_eq(error->id, registry[_i].id);
    ck_assert_ptr_eq(terminate_error_find(error->triple), error);
    ck_assert(error->type[0] != '\0' && strncmp(error->source, "RFC ", 4) == 0);
    ck_assert_ptr_nonnull(wire_name_of(terminate_layer_names, wire_error_layer(error->triple)));
}
END_TEST

/* Nothing else is registered, and no two entries share an identifier or a triple. */
START_TEST(registry_has_no_other_entry)
{
    size_t found = 0;

    ck_assert_uint_eq(terminate_error_count, REGISTRY);
    for (size_t i = 0; i < terminate_error_count; i++)
        for (size_t j = 0; j < i; j++) {
            ck_assert_str_ne(terminate_errors[i].id, terminate_errors[j].id);
            ck_assert_uint_ne(terminate_errors[i].triple, terminate_errors[j].triple);
        }
    for (unsigned word = 0; word < 0x10000; word++) {
        const struct terminate_error *error = terminate_error_find(WIRE_ERROR_BIT | word);

        if (word < 0x100)
            EXPECT(error != NULL && error->triple == TERM_RDMAP_CATASTROPHIC, "0x%04x", word); /* ALL codes */
        else
            found += error != NULL;
    }
    ck_assert_uint_eq(found, REGISTRY - 1);
    ck_assert_ptr_null(terminate_error_find(WIRE_OK));
    ck_assert_ptr_null(terminate_error_find(WIRE_MORE));
    ck_assert_ptr_null(terminate_error_named("TERM_DDP_BOUNDS"));
    ck_assert_ptr_null(terminate_error_named(""));
    ck_assert(!wire_is_error(WIRE_OK) && !wire_is_error(WIRE_MORE));
}
END_TEST

START_TEST(terminate_is_described_in_words)
{
    char text[128];

    ck_assert_str_eq(iwarp_terminate_describe(TERM_DDP_INVALID_QN, text, sizeof(text)),
                     "DDP / Untagged Buffer Error / Invalid QN (0x1201)");
    ck_assert_str_eq(iwarp_terminate_describe(TERM_MPA_CRC, text, sizeof(text)),
                     "LLP (MPA) / MPA Error / MPA CRC Error (0x2002)");
    ck_assert_str_eq(iwarp_terminate_describe(TERM_RDMAP_CATASTROPHIC, text, sizeof(text)),
                     "RDMAP / Local Catastrophic Error (0x0000)");
    ck_assert_str_eq(iwarp_terminate_describe(IWARP_TERMINATE_TRIPLE(0u, 0u, 0x17u), text, sizeof(text)),
                     "RDMAP / Local Catastrophic Error (0x0017)");
    ck_assert_str_eq(iwarp_terminate_describe(IWARP_TERMINATE_TRIPLE(1u, 3u, 5u), text, sizeof(text)),
                     "unregistered error layer 1 etype 3 code 0x05 (0x1305)");
    ck_assert_str_eq(iwarp_terminate_describe(IWARP_TERMINATE_TRIPLE(15u, 15u, 255u), text, 12), "unregistere");
}
END_TEST

/* RFC 5044's CRC error without headers, and a DDP error with its header: as a receiver finds them. */
START_TEST(terminate_matches_the_templates)
{
    struct terminate crc = {.triple = TERM_MPA_CRC};
    static const uint8_t bad[18] = {0x41, 0x43, [9] = 9, [13] = 1};
    struct terminate qn = {.triple = TERM_DDP_INVALID_QN,
                           .m = true,
                           .d = true,
                           .ddp_segment_length = 22,
                           .ddp_header = bad,
                           .ddp_header_octets = 18};
    uint8_t packed[24];

    ck_assert_uint_eq(terminate_pack(&crc, packed, sizeof(packed)), 4);
    ck_assert_mem_eq(packed, "\x20\x02\x00\x00", 4);
    ck_assert_uint_eq(terminate_pack(&qn, packed, sizeof(packed)), 24);
    ck_assert_mem_eq(packed, "\x12\x01\xC0\x00\x00\x16\x41\x43", 8);
    ck_assert_mem_eq(packed + 6, bad, 18);
}
END_TEST

Suite *terminate_suite(void)
{
    Suite *suite = suite_create("terminate");
    TCase *message = tcase_create("message");

    tcase_add_loop_test(message, terminate_is_packed_with_any_parts, 0, 16);
    tcase_add_loop_test(message, terminate_control_survives_a_round_trip, 0, 16);
    tcase_add_test(message, terminate_matches_the_templates);
    suite_add_tcase(suite, message);

    TCase *errors = tcase_create("registry");
    tcase_add_loop_test(errors, registry_entry_is_found_by_triple, 0, REGISTRY);
    tcase_add_test(errors, registry_has_no_other_entry);
    tcase_add_test(errors, terminate_is_described_in_words);
    suite_add_tcase(suite, errors);
    return suite;
}
