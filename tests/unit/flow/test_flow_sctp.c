/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Associations through the decoder: what is reported is written down as notation lines, and compared with what it is
 * for the same association when its frames come in another order, twice, or not at all.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/decoder.h"
#include "conformance/flow/sctp/flow_sctp.h"
#include "conformance/flow/notation/notation.h"
#include "generator/packet/packet.h"
#include "tests/unit/guard.h"
#include "tests/unit/sctp_log.h"
#include "tests/unit/suites.h"
#include "base/octets.h"
#include "wire/sctp.h"

Suite *flow_sctp_suite(void);

START_TEST(session_is_reported_event_by_event)
{
    struct sctp_talk talk;

    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_log_session(&talk);
    sctp_talk_shutdown(&talk);
    sctp_log_decode(NULL, sctp_log.frames);
    ck_assert_str_eq(sctp_log.log, SCTP_LOG_OF_SESSION);
    ck_assert_uint_eq(sctp_log.totals.flows, 2);
    ck_assert_uint_eq(sctp_log.ends, 2);
    ck_assert_uint_eq(sctp_log.totals.sctp_packets, sctp_log.frames);
    ck_assert_uint_eq(sctp_log.totals.account.row[FLOW_ROW_IWARP].frames, sctp_log.frames);
    ck_assert(flow_account_whole(&sctp_log.totals.account));
    ck_assert(!sctp_log.late && sctp_log.roles_known);
}
END_TEST

/* Puts a UDP header with these ports below SCTP into each frame that was kept (RFC 6951). */
static void put_in_udp(uint16_t source, uint16_t destination)
{
    for (size_t i = 0; i < sctp_log.frames; i++) {
        uint8_t *ip = sctp_log.octets[i], *udp = ip + PACKET_IPV4_OCTETS;
        size_t octets = sctp_log.count[i] - PACKET_IPV4_OCTETS;

        ck_assert_uint_eq(ip[0], 0x45);
        memmove(udp + PACKET_UDP_OCTETS, udp, octets);
        octets_put16(udp, source);
        octets_put16(udp + 2, destination);
        octets_put16(udp + 4, (uint16_t)(PACKET_UDP_OCTETS + octets));
        octets_put16(udp + 6, 0);
        sctp_log.count[i] += PACKET_UDP_OCTETS;
        octets_put16(ip + 2, (uint16_t)sctp_log.count[i]);
        ip[9] = 17;
        octets_put16(ip + 10, 0);
        octets_put16(ip + 10, packet_checksum(ip, PACKET_IPV4_OCTETS, 0));
    }
}

static size_t largest_packet;

static void note_packet(void *ctx, const struct flow_event *event)
{
    (void)ctx;
    if (event->sctp != NULL && event->sctp->network_octets > largest_packet)
        largest_packet = event->sctp->network_octets;
}

/* Who took IP's header off says what else was between it and SCTP: the packet has as many octets as in its frame. */
START_TEST(octets_of_the_packet)
{
    const size_t below = PACKET_IPV4_OCTETS + (_i ? PACKET_UDP_OCTETS : 0);
    struct flow_decoder *decoder = flow_decoder_create(NULL, note_packet, NULL);
    struct sctp_talk talk;
    size_t largest = 0;

    ck_assert_ptr_nonnull(decoder);
    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_log_session(&talk);
    if (_i)
        put_in_udp(SCTP_UDP_PORT, SCTP_UDP_PORT);
    largest_packet = 0;
    for (size_t i = 0; i < sctp_log.frames; i++) {
        const uint8_t *ip = sctp_log.octets[i];
        struct flow_packet packet = {.number = i + 1,
                                     .family = 4,
                                     .source = ip + 12,
                                     .destination = ip + 16,
                                     .octets = ip + below,
                                     .captured = sctp_log.count[i] - below,
                                     .length = sctp_log.count[i] - below,
                                     .encapsulation = below - PACKET_IPV4_OCTETS};

        largest = sctp_log.count[i] > largest ? sctp_log.count[i] : largest;
        flow_decoder_sctp(decoder, &packet);
    }
    flow_decoder_finish(decoder);
    flow_decoder_destroy(decoder);
    ck_assert_uint_eq(largest_packet, largest);
}
END_TEST

/* SCTP in UDP between any ports (RFC 6951 3): the same is reported. */
START_TEST(sctp_in_udp_is_decoded_alike)
{
    static const struct {
        uint16_t source, destination;
    } cases[] = {{9899, 9899}, {40000, 9899}, {9899, 40000}, {40000, 40001}, {53, 40001}};
    struct sctp_talk talk;

    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_log_session(&talk);
    sctp_talk_shutdown(&talk);
    put_in_udp(cases[_i].source, cases[_i].destination);
    sctp_log_decode(NULL, sctp_log.frames);
    ck_assert_str_eq(sctp_log.log, SCTP_LOG_OF_SESSION);
    ck_assert_uint_eq(sctp_log.totals.account.row[FLOW_ROW_IWARP].frames, sctp_log.frames);
    ck_assert(flow_account_whole(&sctp_log.totals.account));
}
END_TEST

/* A UDP length that contradicts the packet's, or none at all: unjudged. */
START_TEST(in_udp_cut)
{
    static const uint16_t lengths[] = {0, 7, 0xFFFF};
    struct sctp_talk talk;

    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_log_session(&talk);
    put_in_udp(9899, 9899);
    for (size_t i = 0; i < sctp_log.frames; i++)
        octets_put16(sctp_log.octets[i] + PACKET_IPV4_OCTETS + 4, lengths[_i]);
    sctp_log_decode(NULL, sctp_log.frames);
    ck_assert_str_eq(sctp_log.log, "");
    ck_assert_uint_eq(sctp_log.totals.account.row[FLOW_ROW_UDP_LENGTH].frames, sctp_log.frames);
    ck_assert(!flow_account_whole(&sctp_log.totals.account));
}
END_TEST

/* Several chunks in a packet: the same is reported. */
START_TEST(bundled_chunks_are_decoded_alike)
{
    struct sctp_talk talk;

    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    talk.bundling = true;
    sctp_log_session(&talk);
    sctp_talk_flush(&talk);
    ck_assert_uint_lt(sctp_log.frames, 4 + 7);
    sctp_log_decode(NULL, sctp_log.frames);
    ck_assert_str_eq(sctp_log.log, SCTP_LOG_OF_SESSION);
}
END_TEST

/* What one side says, without the other's lines between. */
static void one_side(char direction, const char *log, char *out)
{
    for (const char *line = log; *line != '\0'; line = strchr(line, '\n') + 1)
        if (line[0] == direction)
            out += sprintf(out, "%.*s", (int)(strchr(line, '\n') + 1 - line), line);
    *out = '\0';
}

/* Any order of arrival after the Initiate, with some frames twice: each side's row of events is the same. */
START_TEST(reordered_packets_give_the_same_events)
{
    uint64_t state = (uint64_t)_i + 1;
    size_t order[64] = {0}, count = 0;
    struct sctp_talk talk;
    char expected[2][2048], got[2][2048];

    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_log_session(&talk);
    for (size_t i = 0; i < sctp_log.frames; i++)
        order[count++] = i;
    for (size_t i = 5; i < sctp_log.frames; i++)
        if (noise(&state) % 3 == 0)
            order[count++] = i;
    for (size_t i = count - 1; i > 5; i--) {
        size_t j = 5 + noise(&state) % (i - 4), other = order[i];

        order[i] = order[j];
        order[j] = other;
    }
    sctp_log_decode(order, count);
    for (unsigned side = 0; side < 2; side++) {
        char kept[4096] = "";
        char *to = kept;

        for (const char *line = sctp_log.log; *line != '\0'; line = strchr(line, '\n') + 1)
            if (line[0] != '*')
                to += sprintf(to, "%.*s", (int)(strchr(line, '\n') + 1 - line), line);
        one_side((char)('0' + side), SCTP_LOG_OF_SESSION, expected[side]);
        one_side((char)('0' + side), kept, got[side]);
        ck_assert_str_eq(got[side], expected[side]);
    }
}
END_TEST

/* Loop: octets of user data in a chunk. Fragments in any order are one message. */
START_TEST(fragmented_messages_are_reassembled)
{
    uint64_t state = (uint64_t)_i;
    size_t order[FRAMES] = {0};
    struct sctp_talk talk;

    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    talk.mtu = (uint16_t)_i;
    sctp_talk_send(&talk, 0, 1, 100);
    sctp_talk_send(&talk, 0, 1, 101);
    for (size_t i = 0; i < sctp_log.frames; i++)
        order[i] = i;
    for (size_t i = sctp_log.frames - 1; i > 5; i--) {
        size_t j = 5 + noise(&state) % (i - 4), other = order[i];

        order[i] = order[j];
        order[j] = other;
    }
    sctp_log_decode(order, sctp_log.frames);
    ck_assert_ptr_nonnull(strstr(sctp_log.log, "0 " SEND(1, 100) "0 " SEND(2, 101)));
}
END_TEST

START_TEST(sessions_in_turn)
{
    struct sctp_talk talk;

    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_log_session(&talk);
    sctp_log_session(&talk);
    /* the other side is the active one now, and is rejected */
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_REJECT, "no");
    sctp_log_decode(NULL, sctp_log.frames);
    ck_assert_uint_eq(sctp_log.totals.flows, 4);
    ck_assert_uint_eq(strncmp(sctp_log.log, SCTP_LOG_OF_SESSION, sizeof(SCTP_LOG_OF_SESSION) - 1), 0);
    ck_assert_str_eq(sctp_log.log + sizeof(SCTP_LOG_OF_SESSION) - 1 + strlen(SCTP_LOG_OF_SESSION),
                     "0 SCTP DDP Initiate ssn 0\n1 SCTP DDP Reject ssn 0, 2 octets private data\n");
}
END_TEST

/* The next session's first segment overtakes its Initiate. */
START_TEST(next_session_overtakes)
{
    struct sctp_talk talk;
    size_t order[32];

    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_log_session(&talk);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_send(&talk, 0, 1, 77);
    for (size_t i = 0; i < sctp_log.frames; i++)
        order[i] = i;
    order[sctp_log.frames - 1] = sctp_log.frames - 2;
    order[sctp_log.frames - 2] = sctp_log.frames - 1;
    sctp_log_decode(order, sctp_log.frames);
    ck_assert_str_eq(sctp_log.log + sizeof(SCTP_LOG_OF_SESSION) - 1, "0 SCTP DDP Initiate ssn 0\n0 " SEND(1, 77));
    ck_assert_uint_eq(sctp_log.totals.flows, 3);
}
END_TEST

/* Loop: PPID of the Stream Reset: by the table, by the text. */
START_TEST(session_of_the_draft_is_decoded)
{
    struct sctp_talk talk;

    sctp_log_begin(&talk, true);
    sctp_talk_open(&talk, 2, 2);
    sctp_talk_send(&talk, 0, 2, 5);
    sctp_talk_send(&talk, 1, 2, 6);
    sctp_talk_reset(&talk, 0, 2, (uint32_t)_i);
    sctp_talk_send(&talk, 0, 2, 7);
    sctp_log_decode(NULL, sctp_log.frames);
    ck_assert_str_eq(sctp_log.log, "0 " SEND(1, 5) "1 " SEND(1, 6) "0 SCTP DDP Stream Reset\n0 " SEND(1, 7));
    ck_assert_uint_eq(sctp_log.totals.flows, 2);
}
END_TEST

/* The other side's Reset may open this direction, too (draft 7.2): once. */
START_TEST(reset_of_the_other_side_opens_a_direction_once)
{
    struct sctp_talk talk;

    sctp_log_begin(&talk, true);
    sctp_talk_open(&talk, 2, 2);
    sctp_talk_send(&talk, 0, 2, 5);
    sctp_talk_send(&talk, 1, 2, 6);
    sctp_talk_reset(&talk, 0, 2, 1);
    sctp_talk_send(&talk, 0, 2, 7);
    for (size_t octets = 8; octets < 10; octets++) {
        talk.ssn[1][2] = DDP_SCTP_DRAFT_FIRST_SSN;
        talk.msn[1][2] = DDP_FIRST_MSN;
        sctp_talk_send(&talk, 1, 2, octets);
    }
    sctp_log_decode(NULL, sctp_log.frames);
    ck_assert_msg(strstr(sctp_log.log, "1 " SEND(1, 8)) != NULL, "%s", sctp_log.log);
    ck_assert_msg(strstr(sctp_log.log, "1 " SEND(1, 9)) == NULL, "%s", sctp_log.log);
    ck_assert_ptr_nonnull(strstr(sctp_log.log, "another user message with that DDP-SSN"));
    ck_assert_uint_eq(sctp_log.totals.flows, 2);
}
END_TEST

/* PPIDs 1 and 2 are others' without an indication. */
START_TEST(ppids_without_an_indication_are_foreign)
{
    struct sctp_talk talk;

    sctp_log_begin(&talk, true);
    sctp_talk_open(&talk, 0, 0);
    sctp_talk_send(&talk, 0, 2, 5);
    sctp_log_decode(NULL, sctp_log.frames);
    ck_assert_uint_eq(sctp_log.totals.flows, 0);
    ck_assert_str_eq(sctp_log.log, "");
    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    talk.ppid = 99;
    sctp_talk_send(&talk, 0, 2, 5);
    sctp_log_decode(NULL, sctp_log.frames);
    ck_assert_uint_eq(sctp_log.totals.flows, 1);
}
END_TEST

/* The capture begins in the session. */
START_TEST(session_that_begins_before_the_capture_is_decoded)
{
    struct sctp_talk talk;
    size_t order[16], count = 0;

    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_log_session(&talk);
    for (size_t i = 7; i < sctp_log.frames; i++)
        order[count++] = i;
    sctp_log_decode(order, count);
    ck_assert_ptr_nonnull(strstr(sctp_log.log, "0 " SEND(2, 20) "1 " SEND(1, 30) "0 SCTP DDP Terminate ssn 3\n"));
    ck_assert(sctp_log.late && !sctp_log.roles_known);
}
END_TEST

/* 65535 is followed by 0. */
START_TEST(ddp_ssn_wraps_after_65535)
{
    struct sctp_talk talk;
    unsigned sends = 0;

    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_log.frames = 0; /* a capture that begins late */
    talk.ssn[0][0] = 65530;
    talk.msn[0][0] = 65530;
    for (unsigned i = 0; i < 12; i++)
        sctp_talk_send(&talk, 0, 0, 4);
    sctp_log_decode(NULL, sctp_log.frames);
    for (const char *at = sctp_log.log; (at = strstr(at, "Send")) != NULL; at++)
        sends++;
    ck_assert_uint_eq(sends, 12);
    ck_assert_ptr_null(strstr(sctp_log.log, "DDP-SSN"));
}
END_TEST

START_TEST(packet_with_a_wrong_checksum_is_reported)
{
    struct sctp_talk talk;

    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_log_session(&talk);
    sctp_log.octets[6][sctp_log.count[6] - 1] ^= 1;
    sctp_log_decode(NULL, sctp_log.frames);
    ck_assert_uint_eq(sctp_log.totals.sctp_bad_checksums, 1);
    ck_assert_ptr_nonnull(strstr(sctp_log.log, "checksum is wrong"));
    ck_assert_ptr_nonnull(strstr(sctp_log.log, "DDP-SSN 1 missing"));
    for (size_t i = 0; i < sctp_log.frames; i++)
        memset(sctp_log.octets[i] + 20 + SCTP_CHECKSUM_AT, 0, 4); /* left to the network card */
    sctp_log_decode(NULL, sctp_log.frames);
    ck_assert_uint_eq(sctp_log.totals.sctp_bad_checksums, 0);
    ck_assert_str_eq(sctp_log.log, SCTP_LOG_OF_SESSION);
    sctp_log_begin(&talk, false);
    talk.adler = true;
    sctp_talk_open(&talk, 1, 1);
    sctp_log_session(&talk);
    sctp_log_decode(NULL, sctp_log.frames);
    ck_assert_str_eq(sctp_log.log, SCTP_LOG_OF_SESSION);
}
END_TEST

/* The same ports again: another association. */
START_TEST(same_ports_again_are_another_association)
{
    struct sctp_talk talk;
    char twice[2 * sizeof(SCTP_LOG_OF_SESSION)];

    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_log_session(&talk);
    sctp_talk_begin(&talk, false, sctp_log_keep, NULL);
    talk.tag[0] = 5;
    talk.tag[1] = 6;
    sctp_talk_open(&talk, 1, 1);
    sctp_log_session(&talk);
    sctp_log_decode(NULL, sctp_log.frames);
    snprintf(twice, sizeof(twice), "%s%s", SCTP_LOG_OF_SESSION, SCTP_LOG_OF_SESSION);
    ck_assert_str_eq(sctp_log.log, twice);
    ck_assert_uint_eq(sctp_log.totals.flows, 4);
    ck_assert_uint_eq(sctp_log.ends, 4);
}
END_TEST

Suite *flow_sctp_suite(void)
{
    Suite *suite = suite_create("flow_sctp");
    TCase *tcase = tcase_create("associations");

    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, session_is_reported_event_by_event);
    tcase_add_loop_test(tcase, octets_of_the_packet, 0, 2);
    tcase_add_loop_test(tcase, sctp_in_udp_is_decoded_alike, 0, 5);
    tcase_add_loop_test(tcase, in_udp_cut, 0, 3);
    tcase_add_test(tcase, bundled_chunks_are_decoded_alike);
    tcase_add_loop_test(tcase, reordered_packets_give_the_same_events, 0, 40);
    tcase_add_loop_test(tcase, fragmented_messages_are_reassembled, 1, 60);
    tcase_add_test(tcase, sessions_in_turn);
    tcase_add_test(tcase, next_session_overtakes);
    tcase_add_loop_test(tcase, session_of_the_draft_is_decoded, 1, 3);
    tcase_add_test(tcase, reset_of_the_other_side_opens_a_direction_once);
    tcase_add_test(tcase, ppids_without_an_indication_are_foreign);
    tcase_add_test(tcase, session_that_begins_before_the_capture_is_decoded);
    tcase_add_test(tcase, ddp_ssn_wraps_after_65535);
    tcase_add_test(tcase, packet_with_a_wrong_checksum_is_reported);
    tcase_add_test(tcase, same_ports_again_are_another_association);
    suite_add_tcase(suite, tcase);
    return suite;
}
