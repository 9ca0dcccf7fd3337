/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Other protocols' records in connections whose beginning was not captured: what is a chain of them is foreign, and no
 * part of an FPDU stream is, whatever its sender puts into the FPDUs and their headers.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/mpa/flow_search.h"
#include "generator/packet/packet.h"
#include "tests/unit/flow_talk.h"
#include "tests/unit/suites.h"

Suite *flow_records_suite(void);

/* ---- what others send -------------------------------------------------------------------------------------------- */

enum { SEGMENTS = 3, OCTETS = 96 };

/* A late connection: segments of one side, and of the other; `repeat`: so often. */
struct sample {
    const char *name;
    bool foreign;
    struct {
        unsigned side;
        size_t count; /* 0: no segment; longer than the octets are: the rest is 0xE5 */
        const char *octets;
        size_t given;
    } segment[SEGMENTS];
};

#define SEGMENT(side, text)                                                                                            \
    {                                                                                                                  \
        side, sizeof(text) - 1, text, sizeof(text) - 1                                                                 \
    }
#define LONG_SEGMENT(side, count, text)                                                                                \
    {                                                                                                                  \
        side, count, text, sizeof(text) - 1                                                                            \
    }

/* clang-format off */
static const struct sample samples[] = {
    {"HTTP request", true, {SEGMENT(0, "GET / HTTP/1.1\r\n\r\n")}},
    {"HTTP request with odd octets in a field", true, {SEGMENT(0, "GET / HTTP/1.0\r\nNikto: \x1F\xE9\r\n\r\n")}},
    {"HTTP answer with a body", true, {LONG_SEGMENT(1, 200, "HTTP/1.1 200 OK\r\nContent-Length: 160\r\n\r\n")}},
    {"HTTP answer, and octets after its body", false, {LONG_SEGMENT(1, 200, "HTTP/1.1 200 OK\r\nContent-Length: 150\r\n\r\n")}},
    {"HTTP answer whose end nothing says", false, {LONG_SEGMENT(1, 200, "HTTP/1.1 200 OK\r\nServer: x\r\n\r\n")}},
    {"HTTP chunks", true, {SEGMENT(1, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\n\0\1\2\3\r\n"), SEGMENT(1, "2\r\n\xFF\xFE\r\n0\r\n\r\n")}},
    {"HTTP chunks, and others", false, {SEGMENT(1, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\n\0\1\2\3\r\n"), SEGMENT(1, "\xFF\xFE\r\n")}},
    {"mail", true, {SEGMENT(1, "250 mail.example at your service\r\n")}},
    {"text in UTF-8", true, {SEGMENT(1, "\xC3\xA4\xC3\xB6\xC3\xBC \xE2\x82\xAC and so on, and so on, and so on\n")}},
    {"text with a zero", false, {SEGMENT(1, "250 mail.example at your\0 service\r\n")}},
    {"text that is short", false, {SEGMENT(1, "250 OK\r\n")}},
    {"text, then TLS", true, {SEGMENT(0, "EHLO here.example\r\nSTARTTLS\r\n"), LONG_SEGMENT(0, 53, "\x16\x03\x01\x00\x30\x0B")}},
    {"text, then others", false, {SEGMENT(0, "EHLO here.example and there\r\nSTARTTLS\r\n"), LONG_SEGMENT(0, 53, "\x00\x2F\x41\x43")}},
    {"TLS", true, {LONG_SEGMENT(0, 45, "\x17\x03\x03\x00\x28"), LONG_SEGMENT(1, 69, "\x17\x03\x03\x00\x40")}},
    {"TLS of several segments", true, {LONG_SEGMENT(0, 500, "\x17\x03\x03\x03\xE3"), LONG_SEGMENT(0, 500, "\xE5")}},
    {"TLS, cut by the capture's end", false, {LONG_SEGMENT(0, 500, "\x17\x03\x03\x03\xE3")}},
    {"TLS Hello, cut by the capture's end", true, {LONG_SEGMENT(0, 500, "\x16\x03\x01\x03\xE3\x01\x00\x03\xDF\x03\x03")}},
    {"TLS, and others", false, {LONG_SEGMENT(0, 45, "\x17\x03\x03\x00\x28"), LONG_SEGMENT(0, 69, "\x00\x3F\x41\x43")}},
    {"the end of something, then TLS", true, {LONG_SEGMENT(0, 45, "\xE5"), LONG_SEGMENT(0, 69, "\x17\x03\x03\x00\x40"), LONG_SEGMENT(0, 69, "\x17\x03\x03\x00\x40")}},
    {"the end of something, then one record", false, {LONG_SEGMENT(0, 45, "\xE5"), LONG_SEGMENT(0, 69, "\x17\x03\x03\x00\x40")}},
    {"SMB", true, {LONG_SEGMENT(0, 108, "\0\0\0\x68\xFESMB")}},
    {"BGP", true, {LONG_SEGMENT(0, 115, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\x73\2")}},
    {"BGP, of a type that is none", false, {LONG_SEGMENT(0, 115, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\x73\6")}},
    {"BGP, and octets after it", false, {LONG_SEGMENT(0, 115, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\x72\2")}},
    {"a call of NFS", true, {LONG_SEGMENT(0, 124, "\x80\0\0\x78\1\2\3\4\0\0\0\0\0\0\0\2\0\1\x86\xA3")}},
    {"a reply of NFS", true, {LONG_SEGMENT(1, 500, "\x80\0\3\xE4\1\2\3\4\0\0\0\1\0\0\0\0"), LONG_SEGMENT(1, 500, "\xE5")}},
    {"a call of another version of RPC", false, {LONG_SEGMENT(0, 124, "\x80\0\0\x78\1\2\3\4\0\0\0\0\0\0\0\3\0\1\x86\xA3")}},
    {"Kerberos", true, {LONG_SEGMENT(0, 239, "\0\0\0\xEB\x6A\x81\xE8\x30"), LONG_SEGMENT(1, 278, "\0\0\1\x12\x7E\x82\1\x0E")}},
    {"Kerberos, of two lengths", false, {LONG_SEGMENT(0, 239, "\0\0\0\xEB\x6A\x81\xE7\x30"), LONG_SEGMENT(0, 10, "\xE5")}},
    {"Diameter", true, {LONG_SEGMENT(0, 172, "\1\0\0\xAC\x80\0\1\1"), LONG_SEGMENT(1, 200, "\1\0\0\xC8\0\0\1\1")}},
    {"S7 on COTP", true, {LONG_SEGMENT(0, 25, "\3\0\0\x19\2\xF0\x80\x32")}},
    {"H.225", true, {LONG_SEGMENT(0, 153, "\3\0\0\x99\x08\2")}},
    {"DNS", true, {LONG_SEGMENT(1, 759, "\2\xF5\x18\x3A\x84\0\0\1\0\3\0\0\0\4")}},
    {"Modbus", true, {SEGMENT(0, "\0\x0B\0\0\0\6\1\3\0\1\0\2"), SEGMENT(1, "\0\x0B\0\0\0\3\1\x97\x0A")}},
    {"TDS", true, {LONG_SEGMENT(0, 44, "\1\1\0\x2C\0\0\1\0")}},
    {"DCE/RPC", true, {LONG_SEGMENT(0, 128, "\5\0\x0C\7\x10\0\0\0\x80\0\0\0\2\0\0\0")}},
    {"MQTT", true, {SEGMENT(0, "\x10\x10\0\4MQTT\4\2\0\x3C\0\4here")}},
    {"MQTT, pings", false, {SEGMENT(0, "\xC0\0"), SEGMENT(1, "\xD0\0")}},
    {"Bitcoin", true, {LONG_SEGMENT(0, 61, "\xF9\xBE\xB4\xD9inv\0\0\0\0\0\0\0\0\0\x25\0\0\0")}},
    {"Elasticsearch", true, {LONG_SEGMENT(0, 137, "ES\0\0\0\x83")}},
    {"BitTorrent", true, {LONG_SEGMENT(0, 68, "\x13" "BitTorrent protocol"), SEGMENT(0, "\0\0\0\3\x09\x9F\xFF")}},
    {"EtherNet/IP", true, {LONG_SEGMENT(0, 82, "\x70\0\x3A\0\0\1\2\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")}},
    {"KNXnet/IP", true, {SEGMENT(0, "\6\x10\4\x23\0\x0E\4\1\2\0\6\0\1\x08\6\x10\4\x25\0\x0E\4\1\2\0\6\0\1\x08")}},
    {"LDAP", true, {LONG_SEGMENT(0, 174, "\x30\x81\xAB\2\1\6\x63\x81\xA5"), LONG_SEGMENT(1, 14, "\x30\x0C\2\1\6\x65\7")}},
    {"IEC 60870-5-104", true, {SEGMENT(0, "\x68\4\1\0\x42\xB9")}},
    {"STUN", true, {LONG_SEGMENT(0, 28, "\0\3\0\x08\x21\x12\xA4\x42")}},
    {"32-bit lengths", true, {LONG_SEGMENT(0, 120, "\0\0\0\x74")}},
    {"32-bit lengths, little-endian", true, {LONG_SEGMENT(0, 62, "\x3A\0\0\0")}},
    {"32-bit lengths, another end", false, {LONG_SEGMENT(0, 121, "\0\0\0\x74")}},
    {"types and lengths", true, {LONG_SEGMENT(0, 394, "\x08\0\1\x86"), LONG_SEGMENT(1, 394, "\x08\0\1\x86")}},
    {"types and lengths, once", false, {LONG_SEGMENT(0, 394, "\x08\0\1\x86")}},
    {"16-bit lengths", true, {LONG_SEGMENT(0, 101, "\x65\0"), LONG_SEGMENT(0, 56, "\x38\0")}},
    {"others", false, {LONG_SEGMENT(0, 700, "\x8E\x45\x52"), LONG_SEGMENT(1, 300, "\xCD\x1E")}},
};
/* clang-format on */

enum { SAMPLES = sizeof(samples) / sizeof(samples[0]) };

static void send_sample(struct talk *talk, const struct sample *sample)
{
    for (unsigned i = 0; i < SEGMENTS && sample->segment[i].count != 0; i++) {
        unsigned side = sample->segment[i].side;
        size_t count = sample->segment[i].count, from = talk->octets[side];

        memset(talk->stream[side] + from, 0xE5, count);
        memcpy(talk->stream[side] + from, sample->segment[i].octets, sample->segment[i].given);
        talk->octets[side] += count;
        talk_segment_with(talk, side, from, from + count, TCP_FLAG_ACK, talk->octets[1 - side]);
    }
}

/* Loop: the sample. */
START_TEST(known_by_records)
{
    const struct sample *sample = &samples[_i];
    struct talk *talk = talk_new(NULL);

    send_sample(talk, sample);
    talk_finish(talk);
    ck_assert_msg(talk_whole(talk) == sample->foreign, "%s", sample->name);
    ck_assert_uint_eq(talk_octets(talk, sample->foreign ? FLOW_ROW_TCP : FLOW_ROW_UNRECOGNISED),
                      talk->octets[0] + talk->octets[1]);
    talk_free(talk);
}
END_TEST

/*
 * In one octet a segment the lengths end everywhere: what is fixed decides alone. And a Key among records is no proof.
 */
START_TEST(key_among_records)
{
    struct talk *talk = talk_new(NULL);

    send_sample(talk, &samples[0]);
    memcpy(talk->stream[0] + talk->octets[0], "MPA ID Req Frame", 16);
    talk_segment_with(talk, 0, talk->octets[0], talk->octets[0] + 16, TCP_FLAG_ACK, 0);
    talk->octets[0] += 16;
    talk_finish(talk);
    ck_assert(!talk_whole(talk));
    talk_free(talk);
}
END_TEST

/* A gap in a record is stepped over; one at its end ends the chain. Loop: octets missing beside those of the record. */
START_TEST(gap_in_record)
{
    struct talk *talk = talk_new(NULL);
    static const uint8_t header[] = {0x17, 0x03, 0x03, 0x03, 0xE3};
    size_t second = 1000 + (_i == 0 ? 0 : 7);

    memset(talk->stream[0], 0xE5, 3000);
    memcpy(talk->stream[0], header, sizeof(header));
    memcpy(talk->stream[0] + second, header, sizeof(header));
    talk_segment_with(talk, 0, 0, 300, TCP_FLAG_ACK, 0);
    talk_segment_with(talk, 0, second, second + 1000, TCP_FLAG_ACK, 0);
    talk_segment_with(talk, 1, 0, 0, TCP_FLAG_ACK, second + 1000);
    talk->octets[0] = second + 1000;
    talk_finish(talk);
    ck_assert(talk_whole(talk) == (_i == 0));
    talk_free(talk);
}
END_TEST

/* Loop: keep-alives of one octet, without and with an octet that is new. */
START_TEST(keep_alives_leave_records_whole)
{
    struct talk *talk = talk_new(NULL);

    for (unsigned i = 0; i < 4; i++) {
        talk_segment_with(talk, 0, 0, 1, TCP_FLAG_ACK, 0);
        talk_segment_with(talk, 1, 0, 0, TCP_FLAG_ACK, 1);
    }
    if (_i != 0)
        talk_segment_with(talk, 0, 1, 2, TCP_FLAG_ACK, 0);
    talk->octets[0] = 1 + (size_t)_i;
    talk_finish(talk);
    ck_assert(talk_whole(talk) == (_i == 0));
    talk_free(talk);
}
END_TEST

/* ---- FPDUs are no records ---------------------------------------------------------------------------------------- */

static uint32_t state = 1;

static uint32_t random_number(void)
{
    state = state * 1664525 + 1013904223;
    return state >> 8;
}

enum { STREAM = 1 << 16 };

/* What a ULP sends in them: text, TLS records, HTTP, or lengths and zeros. */
static void fill(uint8_t *octets, size_t count, unsigned kind)
{
    static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 4000000\r\n\r\nand so on, and so on\r\n";
    static const uint8_t record[] = {0x17, 3, 3}; /* application data, TLS 1.2 */

    for (size_t i = 0; i < count; i++)
        octets[i] = kind == 0   ? (uint8_t)text[45 + i % 20]
                    : kind == 1 ? (uint8_t)text[i % 65]
                                : (uint8_t)random_number();
    for (size_t at = 0; kind == 2 && at + 5 < count;) { /* TLS */
        size_t length = 1 + random_number() % 16000;

        memcpy(octets + at, record, sizeof(record));
        octets_put16(octets + at + 3, (uint16_t)length);
        at += 5 + length;
    }
}

/* FPDUs with headers that break any rule, without CRC or with it; returns where the last of them ends. */
static size_t make_fpdus(uint8_t *stream, unsigned kind, unsigned faults, size_t *second)
{
    struct fpdu_framing framing = {random_number() % 4 == 0, random_number() % 2 == 0, 0};
    uint8_t ulpdu[20000];
    size_t count = 0;

    *second = 0;
    while (count + 24000 < STREAM) {
        size_t octets = 20 + random_number() % (random_number() % 2 == 0 ? 200 : 15000), packed;
        struct ddp_segment segment = {.last = true, .version = 1, .control = rdmap_control(IWARP_RDMAP_SEND), .msn = 1};

        fill(ulpdu, octets, kind);
        ddp_pack_header(&segment, ulpdu);
        if ((faults & 1) != 0)
            ulpdu[1] = 0x8E; /* RDMAP version 2, an opcode that is none */
        if ((faults & 2) != 0)
            ulpdu[0] = 0x7E; /* DDP version 2, reserved bits */
        packed = fpdu_pack(ulpdu, octets, &framing, stream + count, STREAM - count);
        ck_assert_uint_ne(packed, 0);
        count += packed;
        framing.position += (uint32_t)packed;
        if (*second == 0)
            *second = count;
    }
    return count;
}

/*
 * From any octet on that has a whole FPDU after it, in segments of any sizes, the chain does not hold. Loop: what a ULP
 * sends in them, and which faults their headers have.
 */
START_TEST(fpdus_are_no_records)
{
    uint8_t *stream = malloc(STREAM);

    for (unsigned round = 0; round < 150; round++) {
        struct flow_side sides[2] = {{0}, {0}};
        size_t second, end = make_fpdus(stream, (unsigned)_i % 4, (unsigned)_i / 4, &second);
        size_t from = random_number() % second, most = 100 + random_number() % 3000;

        for (size_t at = from; at < end;) {
            size_t count = end - at < most ? end - at : most;
            struct flow_piece piece = {.octets = stream + at, .captured = count, .length = count};

            piece.at_start = piece.at_end = true;
            flow_records_octets(&sides[0], &piece, 0);
            at += count;
        }
        ck_assert_msg(!flow_records_prove(sides, false), "round %u, from %zu", round, from);
        flow_records_release(&sides[0]);
    }
    free(stream);
}
END_TEST

Suite *flow_records_suite(void)
{
    Suite *suite = suite_create("flow_records");
    TCase *tests = tcase_create("records");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, known_by_records, 0, SAMPLES);
    tcase_add_test(tests, key_among_records);
    tcase_add_loop_test(tests, gap_in_record, 0, 2);
    tcase_add_loop_test(tests, keep_alives_leave_records_whole, 0, 2);
    tcase_add_loop_test(tests, fpdus_are_no_records, 0, 16);
    suite_add_tcase(suite, tests);
    return suite;
}
