/* SPDX-License-Identifier: BSD-2-Clause */
/* FPDUs against RFC 5044's figures, known layouts, and a writer that lays the stream octet by octet. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/guard.h"
#include "tests/unit/suites.h"
#include "wire/crc32c.h"
#include "wire/fpdu.h"
#include "wire/marker.h"

Suite *fpdu_suite(void);

/* Figure 5: the first FPDU, after a Marker. */
static const uint8_t figure5[52] = {[5] = 0x2a, 0x41, 0x43, [19] = 1, [48] = 0x52, 0x23, 0x99, 0x83};
/* Figure 6: the second one, at position 492, with Marker 0014 inside. */
static const uint8_t figure6[52] = {[1] = 0x2a, 0x41, 0x43, [15] = 2, [23] = 0x14, [48] = 0x84, 0x92, 0x58, 0x98};

/* Writes an FPDU one octet at a time: an independent reading of RFC 5044 4. Returns its octets. */
static size_t write_slowly(const uint8_t *ulpdu, size_t length, bool markers, uint32_t position, uint8_t *out)
{
    size_t content = 2 + length, at = 0, length_at = SIZE_MAX, crc_at;

    while (content % 4 != 0)
        content++;
    for (size_t i = 0; i < content + 4; i++) {
        if (markers && (uint32_t)(position + at) % 512 == 0) {
            size_t pointer = length_at == SIZE_MAX ? 0 : at - length_at;

            out[at++] = 0;
            out[at++] = 0;
            out[at++] = (uint8_t)(pointer >> 8);
            out[at++] = (uint8_t)pointer;
        }
        if (i == content)
            break;
        if (length_at == SIZE_MAX)
            length_at = at;
        if (i < 2)
            out[at++] = (uint8_t)(i == 0 ? length >> 8 : length);
        else
            out[at++] = i - 2 < length ? ulpdu[i - 2] : 0;
    }
    crc_at = at;
    octets_put32_little(out + at, crc32c_value(crc32c_update_portable(CRC32C_START, out, crc_at)));
    return at + 4;
}

/* One FPDU there and back: packer against the slow writer, then the parser, with memory that ends at the last octet. */
static size_t expect_round_trip(const uint8_t *ulpdu, size_t length, const struct fpdu_framing *framing)
{
    static uint8_t expected[FPDU_OCTETS_MAX], packed[FPDU_OCTETS_MAX];
    size_t octets = write_slowly(ulpdu, length, framing->markers, framing->position, expected);

    if (!framing->crc)
        memset(expected + octets - 4, 0, 4);
    ck_assert_uint_eq(fpdu_octets(length, framing->markers, framing->position), octets);
    ck_assert_uint_eq(fpdu_pack(ulpdu, length, framing, packed, octets - 1), 0);
    ck_assert_uint_eq(fpdu_pack(ulpdu, length, framing, packed, octets), octets);
    ck_assert_mem_eq(packed, expected, octets);

    uint8_t *placed = guard_place(packed, octets);
    uint8_t *scratch = framing->markers ? guard_place(NULL, fpdu_content(length)) : NULL;
    const uint8_t *p = placed;
    struct fpdu fpdu;

    ck_assert_uint_eq(fpdu_parse(&p, placed + octets, framing, scratch, &fpdu), WIRE_OK);
    ck_assert_ptr_eq(p, placed + octets);
    ck_assert_ptr_eq(fpdu.start, placed);
    ck_assert_uint_eq(fpdu.ulpdu_length, length);
    ck_assert_uint_eq(fpdu.octets, octets);
    ck_assert_uint_eq(fpdu.markers, (octets - fpdu_content(length)) / 4);
    ck_assert(length == 0 || memcmp(fpdu.ulpdu, ulpdu, length) == 0);
    ck_assert(fpdu.pad_zero && fpdu.crc_ok && !fpdu.marker_reserved);
    ck_assert_uint_eq(fpdu.bad_marker, SIZE_MAX);
    guard_free(placed, octets);
    if (scratch != NULL)
        guard_free(scratch, fpdu_content(length));
    return octets;
}

START_TEST(fpdu_matches_figures_5_and_6)
{
    const uint8_t *octets = _i == 0 ? figure5 : figure6;
    struct fpdu_framing framing = {.markers = true, .crc = true, .position = _i == 0 ? 0 : 0x1EC};
    uint8_t scratch[FPDU_SCRATCH_OCTETS], packed[52];
    uint8_t *placed = guard_place(octets, 52);
    const uint8_t *p = placed;
    struct fpdu fpdu;

    ck_assert_uint_eq(fpdu_parse(&p, placed + 52, &framing, scratch, &fpdu), WIRE_OK);
    ck_assert_ptr_eq(p, placed + 52);
    ck_assert_uint_eq(fpdu.ulpdu_length, 42);
    ck_assert_uint_eq(fpdu.markers, 1);
    ck_assert_uint_eq(fpdu.octets, 52);
    ck_assert_uint_eq(fpdu.ulpdu[0], 0x41);
    ck_assert_uint_eq(fpdu.ulpdu[1], 0x43);
    ck_assert_uint_eq(fpdu.ulpdu[13], _i + 1); /* MSN */
    for (size_t i = 14; i < 42; i++)
        ck_assert_uint_eq(fpdu.ulpdu[i], 0);
    ck_assert_uint_eq(fpdu_pack(fpdu.ulpdu, 42, &framing, packed, sizeof(packed)), 52);
    ck_assert_mem_eq(packed, octets, 52);
}
END_TEST

/* Where FPDUs end that begin at SeqStart with Markers on, and the Marker that comes next. */
static const struct {
    size_t length, end;
    int next; /* FPDUPTR of the first Marker of the FPDU after, -1: none at its beginning or near it */
} first_fpdus[] = {
    {482, 492, 20}, {498, 508, 4},  {499, 512, 0},  {500, 512, 0},  {501, 512, 0},    {502, 512, 0},
    {503, 520, -1}, {504, 520, -1}, {505, 520, -1}, {506, 520, -1}, {1442, 1460, -1},
};

START_TEST(fpdu_layouts_follow_the_rfc)
{
    struct fpdu_framing framing = {.markers = true, .crc = true};
    static uint8_t ulpdu[2048];
    size_t end = expect_round_trip(ulpdu, first_fpdus[_i].length, &framing);

    ck_assert_uint_eq(end, first_fpdus[_i].end);
    if (first_fpdus[_i].next >= 0) {
        ck_assert_uint_eq(marker_count((uint32_t)end, 48), 1);
        ck_assert_uint_eq(marker_pointer((uint32_t)end, 0), (size_t)first_fpdus[_i].next);
    } else {
        ck_assert_uint_eq(marker_count((uint32_t)end, 48), 0);
    }
}
END_TEST

/* ULPDU_Length 503 to 506: a Marker 01FC stands between pad and CRC, and the CRC covers it. */
START_TEST(marker_between_pad_and_crc)
{
    struct fpdu_framing framing = {.markers = true, .crc = true};
    uint8_t ulpdu[506], out[520];

    memset(ulpdu, 0xA5, sizeof(ulpdu));
    ck_assert_uint_eq(fpdu_pack(ulpdu, (size_t)_i, &framing, out, sizeof(out)), 520);
    ck_assert_mem_eq(out + 512, "\x00\x00\x01\xFC", 4);
    ck_assert_uint_eq(octets_get32_little(out + 516), crc32c(out, 516));
}
END_TEST

START_TEST(two_fpdus_to_the_boundary)
{
    struct fpdu_framing framing = {.markers = true, .crc = true};
    uint8_t ulpdu[250] = {0};

    framing.position = (uint32_t)expect_round_trip(ulpdu, 250, &framing);
    ck_assert_uint_eq(framing.position + expect_round_trip(ulpdu, 246, &framing), 512);
}
END_TEST

START_TEST(sizes_without_markers)
{
    static const size_t known[][2] = {
        {0, 8},   {1, 8},   {2, 8},   {3, 12},  {14, 20},     {18, 24},        {22, 28},       {26, 32},
        {30, 36}, {42, 48}, {46, 52}, {70, 76}, {1454, 1460}, {0xFD00, 64776}, {65535, 65544},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        ck_assert_uint_eq(fpdu_octets(known[i][0], false, 12), known[i][1]);
        ck_assert_uint_eq(fpdu_content(known[i][0]), known[i][1]);
    }
    for (size_t length = 0; length <= ULPDU_FIELD_MAX; length++) {
        EXPECT(fpdu_pad(length) <= FPDU_PAD_MAX, "length %zu", length);
        EXPECT(fpdu_content(length) % 4 == 0, "length %zu", length);
        EXPECT(fpdu_content(length) == 6 + length + fpdu_pad(length), "length %zu", length);
    }
    ck_assert_uint_eq(FPDU_SCRATCH_OCTETS, fpdu_content(ULPDU_FIELD_MAX));
    for (uint32_t position = 0; position < 512; position += 4)
        ck_assert_uint_le(fpdu_octets(ULPDU_FIELD_MAX, true, position), FPDU_OCTETS_MAX);
    ck_assert_uint_eq(fpdu_octets(ULPDU_FIELD_MAX, true, 0), FPDU_OCTETS_MAX);
}
END_TEST

START_TEST(mulpdu_follows_from_emss)
{
    static const size_t known[][3] = {
        /* EMSS, with Markers, without */
        {536, 522, 530},    {1448, 1430, 1442},       {1460, 1442, 1454},
        {1461, 1442, 1454}, {8960, 8882, 8954},       {0, 128, 128},
        {1, 128, 128},      {133, 128, 128},          {134, 128, 128},
        {138, 128, 130},    {1u << 20, 64768, 64768},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        ck_assert_uint_eq(fpdu_mulpdu(known[i][0], true), known[i][1]);
        ck_assert_uint_eq(fpdu_mulpdu(known[i][0], false), known[i][2]);
    }
    /* What it is for: such an FPDU fits one segment, at every Marker phase; without Markers no longer one would. */
    for (size_t emss = 140; emss < 3000; emss++) {
        size_t marked = fpdu_mulpdu(emss, true), plain = fpdu_mulpdu(emss, false);

        for (uint32_t position = 0; position < 512; position += 4)
            EXPECT(fpdu_octets(marked, true, position) <= emss, "EMSS %zu, position %u", emss, position);
        EXPECT(fpdu_octets(plain, false, 0) <= emss, "EMSS %zu", emss);
        EXPECT(fpdu_octets(plain + 1, false, 0) > emss, "EMSS %zu", emss);
    }
}
END_TEST

/* A stream of FPDUs of all lengths, at any phase, through the wrap of the position. */
START_TEST(stream_of_fpdus_survives_a_round_trip)
{
    static uint8_t ulpdu[ULPDU_FIELD_MAX];
    static const uint32_t positions[] = {0, 4, 508, 512, 0xFFFFFFFC, 0xFFFFF000};
    uint64_t state = (uint64_t)_i;
    struct fpdu_framing framing = {_i & 1, _i & 2, positions[_i / 4]};

    noise_fill(&state, ulpdu, sizeof(ulpdu));
    for (int i = 0; i < 120; i++)
        framing.position += (uint32_t)expect_round_trip(ulpdu, noise(&state) % 1500, &framing);
    for (size_t length = 0; length < 560; length++)
        framing.position += (uint32_t)expect_round_trip(ulpdu, length, &framing);
    framing.position += (uint32_t)expect_round_trip(ulpdu, ULPDU_LENGTH_MAX, &framing);
    framing.position += (uint32_t)expect_round_trip(ulpdu, ULPDU_FIELD_MAX, &framing);
}
END_TEST

/* Cut anywhere: more is asked for, nothing is consumed, nothing after the end is read. */
START_TEST(cut_fpdu_asks_for_more)
{
    struct fpdu_framing framing = {_i & 1, true, (uint32_t)(_i & 2 ? 508 : 0)};
    uint8_t ulpdu[700], packed[800], scratch[FPDU_SCRATCH_OCTETS];
    uint64_t state = 3;
    struct fpdu fpdu;

    noise_fill(&state, ulpdu, sizeof(ulpdu));
    size_t octets = fpdu_pack(ulpdu, sizeof(ulpdu), &framing, packed, sizeof(packed));
    size_t lead = framing.markers && framing.position == 0 ? 4 : 0;

    ck_assert_uint_gt(octets, 700);
    for (size_t count = 0; count < octets; count++) {
        uint8_t *placed = guard_place(packed, count);
        const uint8_t *p = placed;

        ck_assert_uint_eq(fpdu_parse(&p, placed + count, &framing, scratch, &fpdu), WIRE_MORE);
        ck_assert_ptr_eq(p, placed);
        ck_assert_uint_eq(fpdu.octets, count < lead + 2 ? 0 : octets);
        guard_free(placed, count);
    }
}
END_TEST

static wire_result parse_all(const uint8_t *octets, size_t count, const struct fpdu_framing *framing, struct fpdu *fpdu)
{
    static uint8_t scratch[FPDU_SCRATCH_OCTETS];
    const uint8_t *p = octets;
    wire_result result = fpdu_parse(&p, octets + count, framing, scratch, fpdu);

    ck_assert_ptr_eq(p, octets + count);
    return result;
}

/* Each bit of an FPDU but those of ULPDU_Length, turned over: a CRC error, and none when CRCs are off. */
START_TEST(each_bit_counts)
{
    struct fpdu_framing framing = {true, true, 400};
    struct fpdu_framing careless = {true, false, 400};
    uint8_t ulpdu[200] = {1, 2, 3}, packed[256];
    size_t octets = fpdu_pack(ulpdu, 199, &framing, packed, sizeof(packed));
    struct fpdu fpdu;

    for (size_t bit = 16; bit < octets * 8; bit++) {
        bool in_pointer = bit / 8 >= 114 && bit / 8 < 116;

        packed[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
        ck_assert_uint_eq(parse_all(packed, octets, &framing, &fpdu), TERM_MPA_CRC);
        ck_assert(!fpdu.crc_ok && fpdu.crc != fpdu.crc_expected);
        ck_assert_uint_eq(parse_all(packed, octets, &careless, &fpdu), in_pointer ? TERM_MPA_MARKER : WIRE_OK);
        ck_assert(fpdu.crc_ok);
        packed[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
    }
    ck_assert_uint_eq(parse_all(packed, octets, &framing, &fpdu), WIRE_OK);
}
END_TEST

static void mend_crc(uint8_t *fpdu, size_t octets)
{
    octets_put32_little(fpdu + octets - 4, crc32c(fpdu, octets - 4));
}

/* FPDUPTR wrong in the i-th Marker, CRC good: the first wrong one is named. */
START_TEST(first_wrong_marker_is_named)
{
    struct fpdu_framing framing = {true, true, (uint32_t)(_i & 1 ? 0 : 100)};
    static uint8_t ulpdu[3000], packed[4000];
    size_t octets = fpdu_pack(ulpdu, sizeof(ulpdu), &framing, packed, sizeof(packed));
    size_t first = marker_distance(framing.position), which = (size_t)_i / 2;
    struct fpdu fpdu;

    ck_assert_uint_eq(parse_all(packed, octets, &framing, &fpdu), WIRE_OK);
    ck_assert_uint_gt(fpdu.markers, which + 1);
    octets_put16(packed + first + 512 * which + 2, 0xBEE0);
    octets_put16(packed + first + 512 * (which + 1) + 2, 0xBEE4);
    mend_crc(packed, octets);
    ck_assert_uint_eq(parse_all(packed, octets, &framing, &fpdu), TERM_MPA_MARKER);
    ck_assert_uint_eq(fpdu.bad_marker, which);
    ck_assert_uint_eq(fpdu.bad_pointer, 0xBEE0);
    ck_assert(fpdu.crc_ok && !fpdu.marker_reserved);
    ck_assert_mem_eq(fpdu.ulpdu, ulpdu, sizeof(ulpdu));
}
END_TEST

/* Reserved octets of a Marker and pad octets that are not zero: seen, and no error. */
START_TEST(reserved_octets_are_tolerated)
{
    struct fpdu_framing framing = {true, true, 500};
    uint8_t ulpdu[43] = {0}, packed[64];
    size_t octets = fpdu_pack(ulpdu, sizeof(ulpdu), &framing, packed, sizeof(packed));
    struct fpdu fpdu;

    ck_assert_uint_eq(octets, 56);
    packed[13] = 1;
    mend_crc(packed, octets);
    ck_assert_uint_eq(parse_all(packed, octets, &framing, &fpdu), WIRE_OK);
    ck_assert(fpdu.marker_reserved && fpdu.pad_zero);
    packed[13] = 0;
    for (size_t pad = 49; pad < 52; pad++) {
        packed[pad] = 0x80;
        mend_crc(packed, octets);
        ck_assert_uint_eq(parse_all(packed, octets, &framing, &fpdu), WIRE_OK);
        ck_assert(!fpdu.marker_reserved && !fpdu.pad_zero);
        packed[pad] = 0;
    }
}
END_TEST

START_TEST(crc_is_not_checked_when_off)
{
    struct fpdu_framing framing = {false, false, 0};
    uint8_t packed[32];
    struct fpdu fpdu;

    ck_assert_uint_eq(fpdu_pack((const uint8_t *)"0123456789abcdef", 16, &framing, packed, sizeof(packed)), 24);
    ck_assert_mem_eq(packed + 20, "\0\0\0\0", 4);
    octets_put32_little(packed + 20, 0xDEADBEEF);
    ck_assert_uint_eq(parse_all(packed, 24, &framing, &fpdu), WIRE_OK);
    ck_assert_uint_eq(fpdu.crc, 0xDEADBEEF);
    ck_assert(fpdu.crc_ok);
}
END_TEST

START_TEST(too_long_to_pack)
{
    struct fpdu_framing framing = {false, true, 0};
    static uint8_t ulpdu[ULPDU_FIELD_MAX + 1], out[FPDU_OCTETS_MAX + 8];

    ck_assert_uint_eq(fpdu_pack(ulpdu, ULPDU_FIELD_MAX + 1, &framing, out, sizeof(out)), 0);
    ck_assert_uint_eq(fpdu_pack(ulpdu, 10, &framing, out, 15), 0);
    ck_assert_uint_eq(fpdu_pack(ulpdu, 10, &framing, out, 0), 0);
    ck_assert_uint_eq(fpdu_pack(ulpdu, 10, &framing, out, 16), 16);
}
END_TEST

/* Several FPDUs in one piece of stream: each parse stops where the next begins. */
START_TEST(back_to_back)
{
    struct fpdu_framing framing = {true, true, 0xFFFFFF00};
    static uint8_t stream[20000], scratch[FPDU_SCRATCH_OCTETS];
    uint8_t ulpdu[1500];
    size_t lengths[12], octets = 0;
    uint64_t state = 12;
    struct fpdu fpdu;

    for (size_t i = 0; i < 12; i++) {
        lengths[i] = noise(&state) % sizeof(ulpdu);
        memset(ulpdu, (int)i, sizeof(ulpdu));
        size_t one = fpdu_pack(ulpdu, lengths[i], &framing, stream + octets, sizeof(stream) - octets);

        octets += one;
        framing.position += (uint32_t)one;
    }
    framing.position = 0xFFFFFF00;
    const uint8_t *p = stream;

    for (size_t i = 0; i < 12; i++) {
        ck_assert_uint_eq(fpdu_parse(&p, stream + octets, &framing, scratch, &fpdu), WIRE_OK);
        ck_assert_uint_eq(fpdu.ulpdu_length, lengths[i]);
        for (size_t at = 0; at < lengths[i]; at++)
            EXPECT(fpdu.ulpdu[at] == i, "FPDU %zu, octet %zu", i, at);
        framing.position += (uint32_t)fpdu.octets;
    }
    ck_assert_ptr_eq(p, stream + octets);
}
END_TEST

Suite *fpdu_suite(void)
{
    Suite *suite = suite_create("fpdu");
    TCase *sizes = tcase_create("sizes");

    tcase_add_test(sizes, sizes_without_markers);
    tcase_add_test(sizes, mulpdu_follows_from_emss);
    tcase_add_loop_test(sizes, fpdu_layouts_follow_the_rfc, 0, (int)(sizeof(first_fpdus) / sizeof(first_fpdus[0])));
    tcase_add_loop_test(sizes, marker_between_pad_and_crc, 503, 507);
    tcase_add_test(sizes, two_fpdus_to_the_boundary);
    suite_add_tcase(suite, sizes);

    TCase *codec = tcase_create("codec");
    tcase_add_loop_test(codec, fpdu_matches_figures_5_and_6, 0, 2);
    tcase_add_loop_test(codec, stream_of_fpdus_survives_a_round_trip, 0, 24);
    tcase_add_loop_test(codec, cut_fpdu_asks_for_more, 0, 4);
    tcase_add_test(codec, back_to_back);
    tcase_add_test(codec, crc_is_not_checked_when_off);
    tcase_add_test(codec, too_long_to_pack);
    suite_add_tcase(suite, codec);

    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, each_bit_counts);
    tcase_add_loop_test(errors, first_wrong_marker_is_named, 0, 8);
    tcase_add_test(errors, reserved_octets_are_tolerated);
    suite_add_tcase(suite, errors);
    return suite;
}
