/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets cut into IP fragments and put together again, in any order; fragments that contradict one another. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "generator/link/random.h"
#include "generator/packet/packet_fragment.h"
#include "tests/unit/suites.h"

Suite *packet_fragment_suite(void);

enum { FRAME = 1600, FRAGMENTS = 64 };

static uint8_t frame[FRAME], fragment[FRAGMENTS][FRAME], payload[1400];
static size_t octets, lengths[FRAGMENTS], count;

/* A segment of so many octets, cut into fragments of `size`. */
static void cut(uint8_t family, size_t payload_octets, size_t size)
{
    struct packet_tcp fields = {.payload = payload,
                                .payload_octets = payload_octets,
                                .source_port = 1,
                                .destination_port = 2,
                                .identification = 77,
                                .fragmentable = true,
                                .flags = TCP_FLAG_ACK};

    for (size_t i = 0; i < sizeof(payload); i++)
        payload[i] = (uint8_t)(i * 7);
    ck_assert_int_eq(net_address_parse(&fields.source, family == 4 ? "10.0.0.1" : "fd00::1"), 0);
    ck_assert_int_eq(net_address_parse(&fields.destination, family == 4 ? "10.0.0.2" : "fd00::2"), 0);
    octets = packet_build_tcp(frame, sizeof(frame), &fields);
    count = packet_fragments(frame, octets, size);
    ck_assert_uint_le(count, FRAGMENTS);
    for (size_t i = 0; i < count; i++) {
        lengths[i] = packet_fragment(fragment[i], FRAME, frame, octets, size, i, 0x12345678);
        ck_assert_uint_ne(lengths[i], 0);
    }
    ck_assert_uint_eq(packet_fragment(fragment[0], FRAME, frame, octets, size, count, 0), 0);
}

static const uint8_t *take(struct packet_reassembly *reassembly, const uint8_t *octets_of, size_t length, size_t *whole)
{
    struct packet packet;

    ck_assert_int_eq(packet_parse(&packet, octets_of, length, NULL), 0);
    ck_assert_int_eq(packet.kind, PACKET_FRAGMENT);
    ck_assert(packet.ip_checksum_ok);
    return packet_reassemble(reassembly, &packet, octets_of, whole);
}

START_TEST(any_order_gives_the_packet)
{
    struct packet_reassembly *reassembly = packet_reassembly_new();
    struct random random = {(uint64_t)_i + 1};
    uint8_t family = _i % 2 == 0 ? 4 : 6;
    size_t order[FRAGMENTS], length = 0;
    const uint8_t *whole = NULL;

    cut(family, 1 + random_below(&random, sizeof(payload)), 8 * (3 + random_below(&random, 100)));
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count; i > 1; i--) {
        size_t other = random_below(&random, (uint32_t)i), kept = order[i - 1];

        order[i - 1] = order[other];
        order[other] = kept;
    }
    if (count > 1) {
        for (size_t i = 0; i < count; i++) {
            ck_assert_ptr_null(whole);
            whole = take(reassembly, fragment[order[i]], lengths[order[i]], &length);
            if (whole == NULL) /* one that comes twice changes nothing */
                ck_assert_ptr_null(take(reassembly, fragment[order[i]], lengths[order[i]], &length));
        }
        ck_assert_ptr_nonnull(whole);
        ck_assert_uint_eq(length, octets);
        ck_assert_int_eq(memcmp(whole, frame, octets), 0);
    }
    packet_reassembly_free(reassembly);
}
END_TEST

START_TEST(packets_side_by_side)
{
    static uint8_t other[2][FRAME];
    struct packet_reassembly *reassembly = packet_reassembly_new();
    size_t other_lengths[2], length = 0;

    cut(6, 600, 256);
    ck_assert_uint_eq(count, 3);
    for (size_t i = 0; i < 2; i++)
        other_lengths[i] = packet_fragment(other[i], FRAME, frame, octets, 320, i, 5);
    for (size_t i = 0; i < 2; i++) {
        const uint8_t *whole = take(reassembly, other[i], other_lengths[i], &length);

        ck_assert_ptr_null(take(reassembly, fragment[i], lengths[i], &length));
        ck_assert(i == 0 ? whole == NULL : whole != NULL);
    }
    ck_assert_ptr_nonnull(take(reassembly, fragment[2], lengths[2], &length));
    packet_reassembly_free(reassembly);
}
END_TEST

/*
 * RFC 5722: fragments that overlap end their packet; so does one beyond the last, one of no octets, one beyond 65,535.
 */
START_TEST(contradictions_end_the_packet)
{
    struct packet_reassembly *reassembly = packet_reassembly_new();
    uint8_t overlapping[FRAME];
    struct packet packet;
    size_t length = 0;

    cut(4, 600, 256);
    ck_assert_ptr_null(take(reassembly, fragment[0], lengths[0], &length));
    (void)packet_fragment(overlapping, FRAME, frame, octets, 200, 1, 0);
    ck_assert_ptr_null(take(reassembly, overlapping, 14 + 20 + 200, &length)); /* 200 to 399 over 0 to 255 */
    ck_assert_ptr_null(take(reassembly, fragment[1], lengths[1], &length));
    ck_assert_ptr_null(take(reassembly, fragment[2], lengths[2], &length)); /* the first was forgotten */

    ck_assert_int_eq(packet_parse(&packet, fragment[1], lengths[1], NULL), 0);
    packet.fragment_offset = 65528;
    ck_assert_ptr_null(packet_reassemble(reassembly, &packet, fragment[1], &length));
    packet.fragment_offset = 256;
    packet.payload_octets = 0;
    ck_assert_ptr_null(packet_reassemble(reassembly, &packet, fragment[1], &length));
    packet.payload_octets = 13; /* with more to come, and no multiple of 8 */
    ck_assert_ptr_null(packet_reassemble(reassembly, &packet, fragment[1], &length));
    for (size_t i = 0; i < 3; i++) /* and a good packet after all of that */
        ck_assert((take(reassembly, fragment[i], lengths[i], &length) != NULL) == (i == 2));
    packet_reassembly_free(reassembly);
}
END_TEST

START_TEST(what_cannot_be_cut)
{
    uint8_t out[FRAME];

    cut(4, 600, 256);
    ck_assert_uint_eq(packet_fragments(frame, octets, 0), 0);
    ck_assert_uint_eq(packet_fragments(frame, octets, 12), 0);
    ck_assert_uint_eq(packet_fragments(frame, 20, 8), 0);
    ck_assert_uint_eq(packet_fragments(frame, octets - 1, 8), 0);
    ck_assert_uint_eq(packet_fragments(fragment[1], lengths[1], 8), 0);
    ck_assert_uint_eq(packet_fragment(out, 100, frame, octets, 256, 0, 0), 0);
    frame[12] = 0x86; /* no IP */
    frame[13] = 0xdf;
    ck_assert_uint_eq(packet_fragments(frame, octets, 256), 0);
    cut(6, 600, 256);
    ck_assert_uint_eq(packet_fragments(fragment[1], lengths[1], 8), 0);
}
END_TEST

Suite *packet_fragment_suite(void)
{
    Suite *suite = suite_create("packet_fragment");
    TCase *tests = tcase_create("fragments");

    tcase_add_loop_test(tests, any_order_gives_the_packet, 0, 200);
    tcase_add_test(tests, packets_side_by_side);
    tcase_add_test(tests, contradictions_end_the_packet);
    tcase_add_test(tests, what_cannot_be_cut);
    suite_add_tcase(suite, tests);
    return suite;
}
