/* SPDX-License-Identifier: BSD-2-Clause */
/* Each mistake of a sender is named by its octets alone, and octets without a mistake, or with another, name none. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/guard.h"
#include "tests/unit/suites.h"
#include "wire/crc32c.h"
#include "wire/hint.h"
#include "base/octets.h"

Suite *hint_suite(void);

enum { ROOM = 4096 };

/* A Send of `payload` octets as a ULPDU; returns its octets. */
static size_t send_of(size_t payload, uint8_t *out)
{
    memset(out, 0, 18);
    out[0] = 0x41;
    out[1] = 0x43;
    out[13] = 1;
    for (size_t i = 0; i < payload; i++)
        out[18 + i] = (uint8_t)(i * 7 + 3);
    return 18 + payload;
}

/* An FPDU with this field, so many pad octets, and with or without a CRC field. Returns its octets. */
static size_t fpdu_of(size_t payload, size_t field, size_t pad, bool crc, uint8_t *out)
{
    size_t length = send_of(payload, out + 2), at = 2 + length;

    octets_put16(out, (uint16_t)field);
    memset(out + at, 0, pad);
    at += pad;
    if (crc) {
        octets_put32_little(out + at, crc32c(out, at));
        at += 4;
    }
    return at;
}

static struct hint hint_of(const uint8_t *octets, size_t count, bool markers, bool crc, uint32_t position)
{
    const struct fpdu_framing framing = {.markers = markers, .crc = crc, .position = position};
    uint8_t *place = guard_place(octets, count);
    struct hint hint;
    bool any = hint_fpdu(place, count, &framing, &hint);

    EXPECT(any == (hint.kind != HINT_NONE), "a hint of kind %d, returned %d", (int)hint.kind, any);
    guard_free(place, count);
    return hint;
}

/* What follows from FPDUs that are not read as they were meant hangs below them; what is within a ULPDU does not. */
START_TEST(names_say_whether_the_framing_is_wrong)
{
    ck_assert_int_eq(hint_framing_of(hint_name(HINT_CRC_ORDER)), HINT_FRAMING_READ);
    ck_assert_int_eq(hint_framing_of(hint_name(HINT_CRC_OTHER)), HINT_FRAMING_WRONG);
    ck_assert_int_eq(hint_framing_of(hint_name(HINT_MSN_SHARED)), HINT_NO_FRAMING);
    ck_assert_int_eq(hint_framing_of(hint_name(HINT_NONE)), HINT_NO_FRAMING);
    ck_assert_int_eq(hint_framing_of("silence-for-send"), HINT_NO_FRAMING);
    ck_assert_int_eq(hint_framing_of(NULL), HINT_NO_FRAMING);
}
END_TEST

START_TEST(good_ones_draw_none)
{
    uint8_t octets[ROOM];

    for (size_t payload = 0; payload < 70; payload++) {
        size_t count = fpdu_of(payload, 18 + payload, fpdu_pad(18 + payload), true, octets);

        EXPECT(hint_of(octets, count, false, true, 4).kind == HINT_NONE, "payload %zu", payload);
        EXPECT(hint_of(octets, 1, false, true, 4).kind == HINT_NONE, "one octet");
        /* Half an FPDU has no other reading. */
        EXPECT(hint_of(octets, count / 2, false, true, 4).kind == HINT_NONE, "half of payload %zu", payload);
    }
}
END_TEST

/* All lengths modulo 4, each wrong pad: hinted with what came, and with the next FPDU after it. */
START_TEST(wrong_pad_is_hinted)
{
    uint8_t octets[ROOM];

    for (size_t payload = 1; payload < 9; payload++)
        for (size_t pad = 0; pad < 8; pad++) {
            size_t due = fpdu_pad(18 + payload);
            size_t count = fpdu_of(payload, 18 + payload, pad, true, octets);
            struct hint hint = hint_of(octets, count, false, true, 8);

            if (pad == due)
                continue;
            EXPECT(hint.kind == HINT_PAD && hint.seen == pad && hint.due == due, "pad %zu of %zu: kind %d", pad, due,
                   (int)hint.kind);
            count += fpdu_of(5, 23, 3, true, octets + count);
            hint = hint_of(octets, count, false, true, 8);
            EXPECT(hint.kind == HINT_PAD && hint.seen == pad, "pad %zu, and an FPDU after it", pad);
        }
}
END_TEST

START_TEST(no_crc_field)
{
    uint8_t octets[ROOM];

    for (int crc = 0; crc < 2; crc++)
        for (size_t payload = 1; payload < 9; payload++) {
            size_t first = fpdu_of(payload, 18 + payload, fpdu_pad(18 + payload), false, octets);

            EXPECT(hint_of(octets, first, false, crc, 8).kind == HINT_CRC_MISSING, "payload %zu, alone", payload);
            EXPECT(hint_of(octets, first - 1, false, crc, 8).kind == HINT_NONE, "payload %zu, cut", payload);
            first += fpdu_of(3, 21, 1, false, octets + first);
            EXPECT(hint_of(octets, first, false, crc, 8).kind == HINT_CRC_MISSING, "payload %zu, followed", payload);
        }
}
END_TEST

START_TEST(wrong_crc_value_is_hinted)
{
    uint8_t octets[ROOM];
    size_t count = fpdu_of(6, 24, 2, true, octets);
    uint32_t crc = octets_get32_little(octets + count - 4);

    octets_put32(octets + count - 4, crc);
    ck_assert_int_eq(hint_of(octets, count, false, true, 8).kind, HINT_CRC_ORDER);
    octets_put32_little(octets + count - 4, ~crc);
    ck_assert_int_eq(hint_of(octets, count, false, true, 8).kind, HINT_CRC_INVERTED);
    octets_put32_little(octets + count - 4, 0);
    ck_assert_int_eq(hint_of(octets, count, false, true, 8).kind, HINT_CRC_ZERO);
    memset(octets + count, 0xEE, 8); /* no FPDU follows: the zeros may be of a longer pad */
    ck_assert_int_eq(hint_of(octets, count + 8, false, true, 8).kind, HINT_NONE);
    octets_put32_little(octets + count - 4, crc32c(octets, count - 4 - 2));
    ck_assert_int_eq(hint_of(octets, count, false, true, 8).kind, HINT_CRC_PAD);
    octets_put32_little(octets + count - 4, crc32c(octets + 2, count - 4 - 2));
    ck_assert_int_eq(hint_of(octets, count, false, true, 8).kind, HINT_CRC_LENGTH);
    octets_put32_little(octets + count - 4, crc ^ 0x400);
    ck_assert_int_eq(hint_of(octets, count, false, true, 8).kind, HINT_NONE);
    ck_assert_int_eq(hint_of(octets, count, false, false, 8).kind, HINT_NONE); /* CRCs are not in use */
}
END_TEST

START_TEST(wrong_length_field_is_hinted)
{
    /* The field counts the payload alone, itself, the CRC, both. */
    static const int off[] = {-18, 2, 4, 6};
    uint8_t octets[ROOM];

    for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++)
        for (size_t payload = 30; payload < 34; payload++) {
            size_t length = 18 + payload, field = (size_t)((long)length + off[i]);
            size_t count = fpdu_of(payload, field, fpdu_pad(length), true, octets);
            struct hint hint = hint_of(octets, count, false, true, 8);

            if (fpdu_content(field) == count) /* the pad hides it: the octets are a good FPDU */
                EXPECT(hint.kind == HINT_NONE, "length %zu as %zu, a good FPDU", length, field);
            else
                EXPECT(hint.kind == (i == 0 ? HINT_LENGTH_HEADER : HINT_LENGTH) && hint.seen == fpdu_content(field) &&
                           hint.due == count,
                       "length %zu as %zu: kind %d", length, field, (int)hint.kind);
        }
    size_t count = fpdu_of(30, 48 << 8, fpdu_pad(48), true, octets);
    struct hint hint = hint_of(octets, count, false, true, 8);

    ck_assert_int_eq(hint.kind, HINT_LENGTH_ORDER);
    ck_assert_uint_eq(hint.due, 48);
}
END_TEST

START_TEST(missing_or_extra_markers_are_hinted)
{
    uint8_t ulpdu[ROOM], octets[ROOM];
    size_t length = send_of(600, ulpdu);
    const struct fpdu_framing with = {.markers = true, .crc = true, .position = 0};
    size_t count = fpdu_pack(ulpdu, length, &with, octets, sizeof(octets));

    ck_assert_int_eq(hint_of(octets, count, true, true, 0).kind, HINT_NONE);
    ck_assert_int_eq(hint_of(octets, count, false, true, 0).kind, HINT_MARKERS_UNASKED);
    count = fpdu_of(600, length, fpdu_pad(length), true, octets);
    ck_assert_int_eq(hint_of(octets, count, true, true, 100).kind, HINT_MARKERS_MISSING);
    count = fpdu_pack(ulpdu, length, &with, octets, sizeof(octets));
    memmove(octets + count - 2, octets + count - 4, 4); /* two octets of pad more */
    memset(octets + count - 4, 0, 2);
    octets_put32_little(octets + count - 2, crc32c(octets, count - 2));
    struct hint hint = hint_of(octets, count + 2, true, true, 0);
    ck_assert(hint.kind == HINT_PAD && hint.seen == fpdu_pad(length) + 2);
    /* No Marker falls into it: it is the same with and without. */
    count = fpdu_of(6, 24, 2, true, octets);
    ck_assert_int_eq(hint_of(octets, count, true, true, 100).kind, HINT_NONE);
}
END_TEST

/* Where the next FPDU begins, found by headers alone. */
START_TEST(boundary_is_hinted_by_headers_alone)
{
    uint8_t octets[ROOM] = {0};
    struct hint hint;
    size_t count = 40 + fpdu_of(3, 21, 1, true, octets + 40);

    ck_assert(!hint_boundary(octets + 36, octets + 40, count - 40, &hint));
    ck_assert_int_eq(hint.kind, HINT_NONE);
    ck_assert(hint_boundary(octets + 40, octets + 44, count - 44, &hint));
    ck_assert_int_eq(hint.kind, HINT_CRC_MISSING);
    for (size_t off = 1; off <= 3; off++) {
        ck_assert(hint_boundary(octets + 36 + off, octets + 40 + off, count - 40 - off, &hint));
        ck_assert(hint.kind == HINT_FPDU_SHORT && hint.seen == off);
        ck_assert(hint_boundary(octets + 36 - off, octets + 40 - off, count - 40 + off, &hint));
        ck_assert(hint.kind == HINT_FPDU_LONG && hint.seen == off);
        ck_assert(!hint_boundary(octets + 36 - off, octets + 40 - off, 3, &hint)); /* too few to tell */
    }
    ck_assert(!hint_boundary(octets, octets + 4, 20, &hint));
}
END_TEST

START_TEST(swapped_number_is_hinted)
{
    struct hint hint;

    ck_assert(hint_number(0x12345678, 0x78563412, 4, &hint));
    ck_assert_int_eq(hint.kind, HINT_FIELD_ORDER);
    ck_assert(hint_number(8, 0x08000000, 4, &hint));
    ck_assert(hint_number(0x0102, 0x0201, 2, &hint));
    ck_assert(hint_number(1, UINT64_C(1) << 56, 8, &hint));
    ck_assert(!hint_number(8, 0x08000000, 8, &hint));
    ck_assert(!hint_number(0x11111111, 0x11111111, 4, &hint)); /* the same number */
    ck_assert(!hint_number(5, 6, 4, &hint));
    ck_assert(!hint_number(5, 6, 0, &hint));
    ck_assert(!hint_number(5, 6, 9, &hint));
    ck_assert_int_eq(hint.kind, HINT_NONE);
}
END_TEST

START_TEST(wrong_terminate_bits_are_hinted)
{
    static const struct {
        size_t count;
        bool tagged;
        unsigned bits;
    } fitting[] = {{0, false, 0}, {2, false, 4}, {20, false, 6}, {16, true, 6}, {48, false, 7}, {44, true, 7}};
    uint8_t data[64] = {0};
    struct hint hint;

    for (size_t i = 0; i < sizeof(fitting) / sizeof(fitting[0]); i++) {
        uint8_t *place;

        data[2] = fitting[i].tagged ? 0xC1 : 0x41;
        place = guard_place(data, fitting[i].count);
        EXPECT(!hint_terminate(place, fitting[i].count, fitting[i].bits, &hint), "row %zu as it should be", i);
        EXPECT(hint_terminate(place, fitting[i].count, fitting[i].bits == 0 ? 6 : 0, &hint) &&
                   hint.kind == HINT_TERMINATE_BITS && hint.due == fitting[i].bits,
               "row %zu: due %zu", i, hint.due);
        guard_free(place, fitting[i].count);
    }
    ck_assert(!hint_terminate(data, 7, 6, &hint)); /* no set of bits has 7 octets */
}
END_TEST

START_TEST(hints_have_distinct_sentences)
{
    struct iwarp_sentence text, first;
    struct hint hint = {HINT_PAD, 1, 3};

    ck_assert_str_eq(hint_say(&hint, &text), "the octets fit an FPDU with 1 pad octet in place of 3");
    hint = (struct hint){HINT_TERMINATE_BITS, 0, 6};
    ck_assert_str_eq(hint_say(&hint, &text),
                     "the octets fit a Terminate with M = 1 D = 1 R = 0 in place of M = 0 D = 0 R = 0");
    for (int a = 1; a < HINT_COUNT; a++)
        for (int b = a + 1; b < HINT_COUNT; b++) {
            struct hint one = {(enum hint_kind)a, 1, 2}, two = {(enum hint_kind)b, 1, 2};

            EXPECT(strcmp(hint_say(&one, &first), hint_say(&two, &text)) != 0, "%d and %d say the same", a, b);
            EXPECT(strcmp(hint_name(one.kind), hint_name(two.kind)) != 0, "%d and %d have one name", a, b);
        }
    ck_assert_str_eq(hint_name(HINT_COUNT), "?");
}
END_TEST

Suite *hint_suite(void)
{
    Suite *suite = suite_create("hint");
    TCase *tcase = tcase_create("hint");

    tcase_add_test(tcase, names_say_whether_the_framing_is_wrong);
    tcase_add_test(tcase, good_ones_draw_none);
    tcase_add_test(tcase, wrong_pad_is_hinted);
    tcase_add_test(tcase, no_crc_field);
    tcase_add_test(tcase, wrong_crc_value_is_hinted);
    tcase_add_test(tcase, wrong_length_field_is_hinted);
    tcase_add_test(tcase, missing_or_extra_markers_are_hinted);
    tcase_add_test(tcase, boundary_is_hinted_by_headers_alone);
    tcase_add_test(tcase, swapped_number_is_hinted);
    tcase_add_test(tcase, wrong_terminate_bits_are_hinted);
    tcase_add_test(tcase, hints_have_distinct_sentences);
    suite_add_tcase(suite, tcase);
    return suite;
}
