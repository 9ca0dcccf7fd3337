/* SPDX-License-Identifier: BSD-2-Clause */
/* CRC32C against published vectors, and ISA-L's, the portable one and a bitwise one against each other. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/guard.h"
#include "tests/unit/suites.h"
#include "wire/crc32c.h"
#include "base/octets.h"

Suite *crc32c_suite(void);

/* The polynomial as the texts print it, one bit at a time, octets least significant bit first. */
static uint32_t bitwise(const uint8_t *octets, size_t count)
{
    uint32_t reg = 0xFFFFFFFF, value = 0;

    for (size_t i = 0; i < count * 8; i++) {
        uint32_t in = octets[i / 8] >> i % 8 & 1;

        reg = reg << 1 ^ ((reg >> 31 ^ in) ? UINT32_C(0x1EDC6F41) : 0);
    }
    for (unsigned i = 0; i < 32; i++)
        value |= (reg >> i & 1) << (31 - i);
    return ~value;
}

struct vector {
    const char *source;
    size_t count;
    uint8_t octets[56];
    uint8_t wire[4]; /* as it stands in the stream */
};

static const struct vector vectors[] = {
    {"RFC 3720 B.4: 32 zeros", 32, {0}, {0xaa, 0x36, 0x91, 0x8a}},
    {"RFC 3720 B.4: 32 ones",
     32,
     {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
     {0x43, 0xab, 0xa8, 0x62}},
    {"RFC 3720 B.4: 00 to 1f",
     32,
     {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
      16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
     {0x4e, 0x79, 0xdd, 0x46}},
    {"RFC 3720 B.4: 1f to 00",
     32,
     {31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16,
      15, 14, 13, 12, 11, 10, 9,  8,  7,  6,  5,  4,  3,  2,  1,  0},
     {0x5c, 0xdb, 0x3f, 0x11}},
    {"RFC 3720 B.4: an iSCSI SCSI Read (10) Command PDU",
     48,
     {0x01, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x18,
      0x28, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00},
     {0x56, 0x3a, 0x96, 0xd9}},
    {"the digits 1 to 9", 9, "123456789", {0x83, 0x92, 0x06, 0xe3}},
    /* Marker 0000, ULPDU_Length 42, Send with L to QN 0, MSN 1, MO 0, 24 zeros. */
    {"RFC 5044 Figure 5", 48, {[5] = 0x2a, 0x41, 0x43, [19] = 1}, {0x52, 0x23, 0x99, 0x83}},
    /* The same without the leading Marker, MSN 2, and Marker 0014 at octet 0x14. */
    {"RFC 5044 Figure 6", 48, {[1] = 0x2a, 0x41, 0x43, [15] = 2, [23] = 0x14}, {0x84, 0x92, 0x58, 0x98}},
};
enum { VECTORS = sizeof(vectors) / sizeof(vectors[0]) };

START_TEST(crc32c_follows_the_published_vectors)
{
    const struct vector *vector = &vectors[_i];
    uint8_t wire[4];

    octets_put32_little(wire, crc32c(vector->octets, vector->count));
    ck_assert_msg(memcmp(wire, vector->wire, 4) == 0, "%s", vector->source);
    octets_put32_little(wire, crc32c_value(crc32c_update_portable(CRC32C_START, vector->octets, vector->count)));
    ck_assert_msg(memcmp(wire, vector->wire, 4) == 0, "%s, portable", vector->source);
    octets_put32_little(wire, bitwise(vector->octets, vector->count));
    ck_assert_msg(memcmp(wire, vector->wire, 4) == 0, "%s, bitwise: the test's own oracle is wrong", vector->source);
    ck_assert_uint_eq(octets_get32_little(vector->wire), crc32c(vector->octets, vector->count));
}
END_TEST

/* Every length to 700 (past ISA-L's block sizes), ending at the end of memory. */
START_TEST(crc32c_implementations_agree)
{
    uint64_t state = 5044;
    uint8_t octets[700];

    noise_fill(&state, octets, sizeof(octets));
    for (size_t count = 0; count <= sizeof(octets); count++) {
        uint8_t *placed = guard_place(octets, count);
        uint32_t expected = bitwise(octets, count);

        ck_assert_uint_eq(crc32c(placed, count), expected);
        ck_assert_uint_eq(crc32c_value(crc32c_update_portable(CRC32C_START, placed, count)), expected);
        guard_free(placed, count);
    }
}
END_TEST

START_TEST(any_alignment_and_split)
{
    uint64_t state = (uint64_t)_i;
    uint8_t octets[16384]; /* several of the runs that a long one is cut into */

    noise_fill(&state, octets, sizeof(octets));
    for (int round = 0; round < 300; round++) {
        size_t from = noise(&state) % 64, count = noise(&state) % (sizeof(octets) - 64), at = 0;
        uint32_t expected = crc32c_update_portable(CRC32C_START, octets + from, count);
        uint32_t whole = crc32c_update(CRC32C_START, octets + from, count), parts = CRC32C_START;

        while (at < count) {
            size_t part = 1 + noise(&state) % (count - at);

            parts = crc32c_update(parts, octets + from + at, part);
            at += part;
        }
        ck_assert_uint_eq(whole, expected);
        ck_assert_uint_eq(parts, expected);
    }
}
END_TEST

START_TEST(crc32c_of_nothing_is_its_start)
{
    ck_assert_uint_eq(crc32c_update(0x12345678, NULL, 0), 0x12345678);
    ck_assert_uint_eq(crc32c_update_portable(0x12345678, NULL, 0), 0x12345678);
}
END_TEST

Suite *crc32c_suite(void)
{
    Suite *suite = suite_create("crc32c");
    TCase *tcase = tcase_create("crc32c");

    tcase_add_loop_test(tcase, crc32c_follows_the_published_vectors, 0, VECTORS);
    tcase_add_test(tcase, crc32c_implementations_agree);
    tcase_add_loop_test(tcase, any_alignment_and_split, 0, 4);
    tcase_add_test(tcase, crc32c_of_nothing_is_its_start);
    suite_add_tcase(suite, tcase);
    return suite;
}
