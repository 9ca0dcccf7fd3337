/* SPDX-License-Identifier: BSD-2-Clause */
/* SCTP packets, and what DDP puts into their DATA chunks. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/guard.h"
#include "tests/unit/suites.h"
#include "wire/ddp_sctp.h"
#include "wire/sctp.h"

Suite *sctp_suite(void);

/* An INIT: two addresses, an unknown parameter, the adaptation indication 1, and a pad after the unknown one. */
static const uint8_t init_octets[] = {
    0x01, 0x00, 0x00, 0x40, 0x11, 0x22, 0x33, 0x44, 0x00, 0x01, 0x00, 0x00, 0x00, 0x0A, 0x00, 0x05,
    0xDE, 0xAD, 0xBE, 0xEF, 0x00, 0x05, 0x00, 0x08, 192,  0,    2,    1,    0x80, 0x08, 0x00, 0x05,
    0xC1, 0x00, 0x00, 0x00, 0x00, 0x06, 0x00, 0x14, 0xFD, 0,    0,    0,    0,    0,    0,    0,
    0,    0,    0,    0,    0,    0,    0,    2,    0xC0, 0x06, 0x00, 0x08, 0x00, 0x00, 0x00, 0x01,
};

static void parse_init(const uint8_t *octets, size_t count, struct sctp_init *init, wire_result expected)
{
    const uint8_t *p = octets;
    struct sctp_chunk chunk;

    ck_assert_uint_eq(sctp_chunk_parse(&p, octets + count, &chunk), expected);
    ck_assert_ptr_eq(p, octets + count);
    ck_assert_uint_eq(chunk.type, SCTP_INIT);
    ck_assert_uint_eq(sctp_init_parse(&chunk, init), WIRE_OK);
}

START_TEST(whole_init_is_parsed)
{
    struct sctp_init init;

    parse_init(init_octets, sizeof(init_octets), &init, WIRE_OK);
    ck_assert_uint_eq(init.tag, 0x11223344);
    ck_assert_uint_eq(init.window, 0x10000);
    ck_assert_uint_eq(init.outbound, 10);
    ck_assert_uint_eq(init.inbound, 5);
    ck_assert_uint_eq(init.initial_tsn, 0xDEADBEEF);
    ck_assert(init.has_adaptation);
    ck_assert_uint_eq(init.adaptation, DDP_SCTP_INDICATION_DDP);
    ck_assert_uint_eq(init.adaptations, 1);
    ck_assert_uint_eq(init.adaptation_length, 8);
    ck_assert_ptr_eq(init.adaptation_at, init_octets + 56);
    ck_assert_uint_eq(init.addresses, 2);
    ck_assert_uint_eq(init.address[0].family, 4);
    ck_assert_mem_eq(init.address[0].octets, "\xC0\x00\x02\x01", 4);
    ck_assert_uint_eq(init.address[1].family, 6);
    ck_assert_uint_eq(init.address[1].octets[15], 2);
}
END_TEST

/* _i octets of it: the fixed part or nothing, parameters as far as they are whole. */
START_TEST(cut_init_is_parsed_as_far_as_it_goes)
{
    size_t count = (size_t)_i;
    uint8_t *placed = guard_place(init_octets, count);
    const uint8_t *p = placed;
    struct sctp_chunk chunk;
    struct sctp_init init;
    wire_result result = sctp_chunk_parse(&p, placed + count, &chunk);

    ck_assert_uint_eq(result, count < sizeof(init_octets) ? WIRE_MORE : WIRE_OK);
    if (count < SCTP_CHUNK_OCTETS) {
        ck_assert_ptr_null(chunk.start);
        ck_assert_ptr_eq(p, placed);
        return;
    }
    ck_assert_uint_eq(chunk.octets, count);
    ck_assert_uint_eq(sctp_init_parse(&chunk, &init), count < 20 ? WIRE_MORE : WIRE_OK);
    ck_assert_uint_eq(init.addresses, (count >= 28) + (count >= 56));
    ck_assert_int_eq(init.has_adaptation, count >= 64);
    guard_free(placed, count);
}
END_TEST

START_TEST(chunks_are_parsed_one_by_one)
{
    static const uint8_t octets[] = {0x0B, 0x00, 0x00, 0x04, 0x00, 0x07, 0x00, 0x15, 0, 0, 0, 9, 0, 3,
                                     0,    4,    0,    0,    0,    16,   0x7,  0,    1, 2, 9, 0, 0, 3};
    const uint8_t *p = octets, *end = octets + sizeof(octets);
    struct sctp_chunk chunk;
    struct sctp_data data;

    ck_assert_uint_eq(sctp_chunk_parse(&p, end, &chunk), WIRE_OK);
    ck_assert_uint_eq(chunk.type, SCTP_COOKIE_ACK);
    ck_assert_uint_eq(sctp_chunk_parse(&p, end, &chunk), WIRE_OK);
    ck_assert_ptr_eq(p, octets + 28 - 0); /* 21 octets and 3 of pad */
    ck_assert_uint_eq(sctp_data_parse(&chunk, &data), WIRE_OK);
    ck_assert(data.unordered && data.first && data.last && !data.interleaved);
    ck_assert_uint_eq(data.tsn, 9);
    ck_assert_uint_eq(data.sid, 3);
    ck_assert_uint_eq(data.ssn, 4);
    ck_assert_uint_eq(data.ppid, 16);
    ck_assert_uint_eq(data.user_octets, 5);
    ck_assert_ptr_eq(data.user, octets + 20);
    ck_assert_uint_eq(sctp_chunk_parse(&p, end, &chunk), WIRE_MORE);
    ck_assert_ptr_null(chunk.start);
}
END_TEST

START_TEST(bad_chunk_lengths_are_refused)
{
    static const uint8_t short_length[] = {0, 0, 0, 3, 0, 0, 0, 0};
    static const uint8_t long_length[] = {0, 3, 0, 40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 1};
    const uint8_t *p = short_length;
    struct sctp_chunk chunk;
    struct sctp_data data;

    ck_assert(wire_is_error(sctp_chunk_parse(&p, short_length + 8, &chunk)));
    ck_assert_ptr_eq(p, short_length);
    p = long_length;
    ck_assert_uint_eq(sctp_chunk_parse(&p, long_length + sizeof(long_length), &chunk), WIRE_MORE);
    ck_assert_uint_eq(chunk.octets, sizeof(long_length));
    ck_assert_uint_eq(sctp_data_parse(&chunk, &data), WIRE_OK);
    ck_assert_uint_eq(data.user_octets, 24);
    ck_assert_uint_eq(data.user_have, 1);
    for (size_t count = 4; count < 16; count++) {
        p = long_length;
        sctp_chunk_parse(&p, long_length + count, &chunk);
        ck_assert_uint_eq(sctp_data_parse(&chunk, &data), WIRE_MORE);
    }
}
END_TEST

START_TEST(i_data_chunk_is_parsed)
{
    static const uint8_t octets[] = {0x40, 0x03, 0x00, 0x16, 0, 0, 0, 1, 0,  2,    0,
                                     0,    0,    0,    0,    7, 0, 0, 0, 17, 0xAA, 0xBB};
    const uint8_t *p = octets;
    struct sctp_chunk chunk;
    struct sctp_data data;

    ck_assert_uint_eq(sctp_chunk_parse(&p, octets + sizeof(octets), &chunk), WIRE_OK);
    ck_assert_uint_eq(sctp_data_parse(&chunk, &data), WIRE_OK);
    ck_assert(data.interleaved && !data.unordered);
    ck_assert_uint_eq(data.mid, 7);
    ck_assert_uint_eq(data.ppid, 17);
    ck_assert_uint_eq(data.user_octets, 2);
}
END_TEST

/* "123456789" has the published CRC32c E3069283: after a header whose CRC state it takes over nothing can be compared,
 * so the same is computed octet by octet here. */
START_TEST(checksum_follows_the_published_value)
{
    uint64_t state = (uint64_t)_i;
    uint8_t packet[200], zeroed[200];
    size_t count = 12 + (size_t)_i * 3;

    noise_fill(&state, packet, sizeof(packet));
    memcpy(zeroed, packet, sizeof(packet));
    memset(zeroed + 8, 0, 4);
    octets_put32_little(packet + 8, crc32c(zeroed, count));
    ck_assert_uint_eq(sctp_checksum(packet, count), sctp_common_get_Checksum(packet));
    packet[count - 1] ^= 1;
    ck_assert(count == 12 || sctp_checksum(packet, count) != sctp_common_get_Checksum(packet));
}
END_TEST

/* Adler-32 of "Wikipedia" is 11E60398; the field counts as zeros. */
START_TEST(adler32_follows_the_published_value)
{
    static const uint8_t packet[13] = {0};
    static const uint8_t other[12] = {1, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9};

    ck_assert_uint_eq(sctp_adler32(packet, 12), 0x000C0001);
    ck_assert_uint_eq(sctp_adler32(other, 12), 0x00180002);
}
END_TEST

/* ---- DDP's user messages ---------------------------------------------------------------------------------------- */

START_TEST(ddp_segment_chunk_is_parsed)
{
    static const uint8_t octets[] = {0x12, 0x34, 0xC1, 0x40};
    struct ddp_sctp_message message;

    ck_assert_uint_eq(ddp_sctp_parse(16, octets, 4, &message), WIRE_OK);
    ck_assert_int_eq(message.kind, DDP_SCTP_SEGMENT);
    ck_assert_int_eq(message.profile, IWARP_SCTP_RFC5043);
    ck_assert(message.has_ssn);
    ck_assert_uint_eq(message.ssn, 0x1234);
    ck_assert_ptr_eq(message.segment, octets + 2);
    ck_assert_uint_eq(message.segment_octets, 2);
    ck_assert_uint_eq(ddp_sctp_parse(16, octets, 1, &message), WIRE_MORE);
    ck_assert_uint_eq(ddp_sctp_parse(1, octets, 3, &message), WIRE_OK);
    ck_assert_int_eq(message.kind, DDP_SCTP_SEGMENT);
    ck_assert_int_eq(message.profile, IWARP_SCTP_DRAFT02);
    ck_assert_uint_eq(ddp_sctp_parse(0, octets, 4, &message), WIRE_OK);
    ck_assert_int_eq(message.kind, DDP_SCTP_FOREIGN);
}
END_TEST

/* Of the draft: PPID 2 by the table, PPID 1 and 4 octets by the text. */
START_TEST(stream_reset_of_the_draft_is_parsed)
{
    static const uint8_t octets[] = {0, 0, 0, 1, 9};
    struct ddp_sctp_message message;

    for (uint32_t ppid = 1; ppid <= 2; ppid++) {
        ck_assert_uint_eq(ddp_sctp_parse(ppid, octets, 4, &message), WIRE_OK);
        ck_assert_int_eq(message.kind, DDP_SCTP_DRAFT_CONTROL);
        ck_assert_uint_eq(message.code, DDP_SCTP_STREAM_RESET);
        ck_assert(!message.has_ssn);
        ck_assert_uint_eq(message.private_octets, 0);
    }
    ck_assert_uint_eq(ddp_sctp_parse(1, octets, 5, &message), WIRE_OK);
    ck_assert_int_eq(message.kind, DDP_SCTP_SEGMENT);
    ck_assert_uint_eq(ddp_sctp_parse(2, octets, 5, &message), WIRE_OK);
    ck_assert_uint_eq(message.private_octets, 1);
    ck_assert_uint_eq(ddp_sctp_parse(2, octets, 3, &message), WIRE_MORE);
}
END_TEST

/* _i: the Function Code. */
START_TEST(session_control_survives_a_round_trip)
{
    struct ddp_sctp_message message = {.ssn = 0xFFFE,
                                       .code = (uint32_t)_i,
                                       .private_data = (const uint8_t *)"abcde",
                                       .private_octets = _i == DDP_SCTP_TERMINATE ? 0 : 5,
                                       .has_word = _i == 5 || _i == 6,
                                       .peer_to_peer = true,
                                       .rtr_write = true,
                                       .ird = 0x3FFF,
                                       .ord = 0x1001};
    const struct ddp_sctp_session_row *row = ddp_sctp_session_row((uint32_t)_i);
    struct ddp_sctp_message back;
    uint8_t octets[64];
    size_t count = ddp_sctp_pack_control(&message, octets, sizeof(octets)), ulp;

    ck_assert_int_eq(row->name != NULL, _i >= 1 && _i <= 7);
    ck_assert_int_eq(row->has_word, message.has_word);
    ck_assert_uint_eq(count, 4 + message.private_octets + (message.has_word ? 4 : 0));
    ck_assert_uint_eq(ddp_sctp_parse(17, octets, count, &back), WIRE_OK);
    ck_assert_int_eq(back.kind, DDP_SCTP_CONTROL);
    ck_assert_uint_eq(back.ssn, 0xFFFE);
    ck_assert_uint_eq(back.code, (unsigned)_i);
    ck_assert_ptr_eq(back.row, row);
    ck_assert_int_eq(back.has_word, message.has_word);
    if (back.has_word) {
        ck_assert(back.peer_to_peer && back.rtr_write && !back.rtr_send && !back.rtr_read);
        ck_assert_uint_eq(back.ird, 0x3FFF);
        ck_assert_uint_eq(back.ord, 0x1001);
    }
    if (message.private_octets != 0)
        ck_assert_mem_eq(ddp_sctp_ulp_data(&back, &ulp), "abcde", 5);
    else
        ck_assert_ptr_null(ddp_sctp_ulp_data(&back, &ulp));
    ck_assert_uint_eq(ulp, message.private_octets);
    ck_assert_uint_eq(ddp_sctp_pack_control(&message, octets, count - 1), 0);
    for (size_t cut = 0; cut < 4 + (message.has_word ? 4u : 0u); cut++) {
        uint8_t *placed = guard_place(octets, cut);

        ck_assert_uint_eq(ddp_sctp_parse(17, placed, cut, &back), WIRE_MORE);
        guard_free(placed, cut);
    }
}
END_TEST

Suite *sctp_suite(void)
{
    Suite *suite = suite_create("sctp");
    TCase *tcase = tcase_create("packets");

    tcase_add_test(tcase, whole_init_is_parsed);
    tcase_add_loop_test(tcase, cut_init_is_parsed_as_far_as_it_goes, 0, sizeof(init_octets) + 1);
    tcase_add_test(tcase, chunks_are_parsed_one_by_one);
    tcase_add_test(tcase, bad_chunk_lengths_are_refused);
    tcase_add_test(tcase, i_data_chunk_is_parsed);
    tcase_add_loop_test(tcase, checksum_follows_the_published_value, 0, 60);
    tcase_add_test(tcase, adler32_follows_the_published_value);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("DDP");
    tcase_add_test(tcase, ddp_segment_chunk_is_parsed);
    tcase_add_test(tcase, stream_reset_of_the_draft_is_parsed);
    tcase_add_loop_test(tcase, session_control_survives_a_round_trip, 0, 9);
    suite_add_tcase(suite, tcase);
    return suite;
}
