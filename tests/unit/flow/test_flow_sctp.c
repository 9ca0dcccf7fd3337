/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Associations through the decoder: what is told is written down as notation lines, and compared with what it is for
 * the same association when its frames come in another order, twice, or not at all.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/sctp/flow_sctp.h"
#include "conformance/flow/notation/notation.h"
#include "tests/unit/guard.h"
#include "tests/unit/sctp_talk.h"
#include "tests/unit/suites.h"

Suite *flow_sctp_suite(void);

enum { FRAMES = 512, LOG = 1 << 16 };

/* The frames of one association, and what the decoder says of them. */
static struct {
    uint8_t octets[FRAMES][2048];
    size_t count[FRAMES];
    size_t frames;
    char log[LOG];
    struct flow_totals totals;
    bool late, roles_known;
    unsigned ends;
} net;

static void keep(void *ctx, const uint8_t *octets, size_t count)
{
    (void)ctx;
    ck_assert(net.frames < FRAMES && count <= sizeof(net.octets[0]));
    memcpy(net.octets[net.frames], octets, count);
    net.count[net.frames++] = count;
}

static void note(void *ctx, const struct flow_event *event)
{
    char text[NOTATION_MAX], *log = net.log;
    size_t have = strlen(log);

    (void)ctx;
    ck_assert_ptr_nonnull(event->flow);
    if (event->kind == FLOW_END) {
        net.ends++;
        return;
    }
    if (event->flow->kind == FLOW_STREAM) {
        net.late = net.late || event->flow->late;
        net.roles_known = event->flow->roles_known;
    }
    if (event->kind == FLOW_SCTP || notation_event(event, text, sizeof(text))[0] == '\0')
        return;
    snprintf(log + have, LOG - have, "%s%d %s\n", event->flow->kind == FLOW_STREAM ? "" : "*", (int)event->direction,
             text);
}

static void decode(const size_t *order, size_t count)
{
    struct flow_decoder *decoder = flow_decoder_create(NULL, note, NULL);

    net.log[0] = '\0';
    net.ends = 0;
    net.late = net.roles_known = false;
    for (size_t i = 0; i < count; i++) {
        size_t n = order != NULL ? order[i] : i;
        uint8_t *placed = guard_place(net.octets[n], net.count[n]);
        struct flow_frame frame = {FLOW_LINK_RAW, (i + 1) * 1000, i + 1, placed, net.count[n], net.count[n]};

        flow_decoder_frame(decoder, &frame);
        guard_free(placed, net.count[n]);
    }
    flow_decoder_finish(decoder);
    net.totals = *flow_decoder_totals(decoder);
    flow_decoder_destroy(decoder);
}

static void begin(struct sctp_talk *talk, bool draft)
{
    net.frames = 0;
    sctp_talk_begin(talk, draft, keep, NULL);
}

#define SEND(n, octets) "Send qn 0 msn " #n " mo 0 L len " #octets "\n"

static void session(struct sctp_talk *talk)
{
    sctp_talk_control(talk, 0, 1, DDP_SCTP_ENHANCED_INITIATE, "hello");
    sctp_talk_control(talk, 1, 1, DDP_SCTP_ENHANCED_ACCEPT, "");
    sctp_talk_send(talk, 0, 1, 10);
    sctp_talk_send(talk, 0, 1, 20);
    sctp_talk_send(talk, 1, 1, 30);
    sctp_talk_control(talk, 0, 1, DDP_SCTP_TERMINATE, NULL);
    sctp_talk_control(talk, 1, 1, DDP_SCTP_TERMINATE, NULL);
}

static const char session_log[] = "0 SCTP DDP Enhanced Initiate ssn 0 ird 1 ord 1, 5 octets private data\n"
                                  "1 SCTP DDP Enhanced Accept ssn 0 ird 1 ord 1, 0 octets private data\n"
                                  "0 " SEND(1, 10) "0 " SEND(2, 20) "1 " SEND(1, 30) "0 SCTP DDP Terminate ssn 3\n"
                                                                                     "1 SCTP DDP Terminate ssn 2\n";

START_TEST(a_session)
{
    struct sctp_talk talk;

    begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    session(&talk);
    sctp_talk_shutdown(&talk);
    decode(NULL, net.frames);
    ck_assert_str_eq(net.log, session_log);
    ck_assert_uint_eq(net.totals.flows, 2);
    ck_assert_uint_eq(net.ends, 2);
    ck_assert_uint_eq(net.totals.sctp_packets, net.frames);
    ck_assert_uint_eq(net.totals.account.row[FLOW_ROW_IWARP].frames, net.frames);
    ck_assert(flow_account_whole(&net.totals.account));
    ck_assert(!net.late && net.roles_known);
}
END_TEST

/* Several chunks in a packet: the same is told. */
START_TEST(bundled)
{
    struct sctp_talk talk;

    begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    talk.bundling = true;
    session(&talk);
    sctp_talk_flush(&talk);
    ck_assert_uint_lt(net.frames, 4 + 7);
    decode(NULL, net.frames);
    ck_assert_str_eq(net.log, session_log);
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

/* Any order of arrival behind the Initiate, with some frames twice: each side's row of events is the same. */
START_TEST(any_order)
{
    uint64_t state = (uint64_t)_i + 1;
    size_t order[64] = {0}, count = 0;
    struct sctp_talk talk;
    char expected[2][2048], got[2][2048];

    begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    session(&talk);
    for (size_t i = 0; i < net.frames; i++)
        order[count++] = i;
    for (size_t i = 5; i < net.frames; i++)
        if (noise(&state) % 3 == 0)
            order[count++] = i;
    for (size_t i = count - 1; i > 5; i--) {
        size_t j = 5 + noise(&state) % (i - 4), other = order[i];

        order[i] = order[j];
        order[j] = other;
    }
    decode(order, count);
    for (unsigned side = 0; side < 2; side++) {
        char kept[4096] = "";
        char *to = kept;

        for (const char *line = net.log; *line != '\0'; line = strchr(line, '\n') + 1)
            if (line[0] != '*')
                to += sprintf(to, "%.*s", (int)(strchr(line, '\n') + 1 - line), line);
        one_side((char)('0' + side), session_log, expected[side]);
        one_side((char)('0' + side), kept, got[side]);
        ck_assert_str_eq(got[side], expected[side]);
    }
}
END_TEST

/* Loop: octets of user data in a chunk. Fragments in any order are one message. */
START_TEST(fragments)
{
    uint64_t state = (uint64_t)_i;
    size_t order[FRAMES] = {0};
    struct sctp_talk talk;

    begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    talk.mtu = (uint16_t)_i;
    sctp_talk_send(&talk, 0, 1, 100);
    sctp_talk_send(&talk, 0, 1, 101);
    for (size_t i = 0; i < net.frames; i++)
        order[i] = i;
    for (size_t i = net.frames - 1; i > 5; i--) {
        size_t j = 5 + noise(&state) % (i - 4), other = order[i];

        order[i] = order[j];
        order[j] = other;
    }
    decode(order, net.frames);
    ck_assert_ptr_nonnull(strstr(net.log, "0 " SEND(1, 100) "0 " SEND(2, 101)));
}
END_TEST

START_TEST(sessions_in_turn)
{
    struct sctp_talk talk;

    begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    session(&talk);
    session(&talk);
    /* the other side is the active one now, and is rejected */
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_REJECT, "no");
    decode(NULL, net.frames);
    ck_assert_uint_eq(net.totals.flows, 4);
    ck_assert_uint_eq(strncmp(net.log, session_log, sizeof(session_log) - 1), 0);
    ck_assert_str_eq(net.log + sizeof(session_log) - 1 + strlen(session_log),
                     "0 SCTP DDP Initiate ssn 0\n1 SCTP DDP Reject ssn 0, 2 octets private data\n");
}
END_TEST

/* The next session's first segment overtakes its Initiate. */
START_TEST(next_session_overtakes)
{
    struct sctp_talk talk;
    size_t order[32];

    begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    session(&talk);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_send(&talk, 0, 1, 77);
    for (size_t i = 0; i < net.frames; i++)
        order[i] = i;
    order[net.frames - 1] = net.frames - 2;
    order[net.frames - 2] = net.frames - 1;
    decode(order, net.frames);
    ck_assert_str_eq(net.log + sizeof(session_log) - 1, "0 SCTP DDP Initiate ssn 0\n0 " SEND(1, 77));
    ck_assert_uint_eq(net.totals.flows, 3);
}
END_TEST

/* Loop: PPID of the Stream Reset: by the table, by the text. */
START_TEST(draft)
{
    struct sctp_talk talk;

    begin(&talk, true);
    sctp_talk_open(&talk, 2, 2);
    sctp_talk_send(&talk, 0, 2, 5);
    sctp_talk_send(&talk, 1, 2, 6);
    sctp_talk_reset(&talk, 0, 2, (uint32_t)_i);
    sctp_talk_send(&talk, 0, 2, 7);
    decode(NULL, net.frames);
    ck_assert_str_eq(net.log, "0 " SEND(1, 5) "1 " SEND(1, 6) "0 SCTP DDP Stream Reset\n0 " SEND(1, 7));
    ck_assert_uint_eq(net.totals.flows, 2);
}
END_TEST

/* PPIDs 1 and 2 are others' without an indication. */
START_TEST(foreign)
{
    struct sctp_talk talk;

    begin(&talk, true);
    sctp_talk_open(&talk, 0, 0);
    sctp_talk_send(&talk, 0, 2, 5);
    decode(NULL, net.frames);
    ck_assert_uint_eq(net.totals.flows, 0);
    ck_assert_str_eq(net.log, "");
    begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    talk.ppid = 99;
    sctp_talk_send(&talk, 0, 2, 5);
    decode(NULL, net.frames);
    ck_assert_uint_eq(net.totals.flows, 1);
}
END_TEST

/* The capture begins in the session. */
START_TEST(late)
{
    struct sctp_talk talk;
    size_t order[16], count = 0;

    begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    session(&talk);
    for (size_t i = 7; i < net.frames; i++)
        order[count++] = i;
    decode(order, count);
    ck_assert_ptr_nonnull(strstr(net.log, "0 " SEND(2, 20) "1 " SEND(1, 30) "0 SCTP DDP Terminate ssn 3\n"));
    ck_assert(net.late && !net.roles_known);
}
END_TEST

/* A frame that is not in the capture, against a DDP-SSN that was never sent. */
START_TEST(gaps)
{
    struct sctp_talk talk;
    size_t order[16], count = 0;

    begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    session(&talk);
    for (size_t i = 0; i < net.frames; i++)
        if (i != 6)
            order[count++] = i;
    decode(order, count);
    ck_assert_ptr_nonnull(strstr(net.log, "0 DDP-SSN 1 missing\n0 " SEND(2, 20)));
    begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    talk.ssn[0][1] += 3;
    sctp_talk_send(&talk, 0, 1, 9);
    decode(NULL, net.frames);
    ck_assert_ptr_nonnull(strstr(net.log, "0 DDP-SSN 1 to 3 never sent\n0 " SEND(1, 9)));
    begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_send(&talk, 0, 1, 9);
    talk.ssn[0][1]--;
    sctp_talk_send(&talk, 0, 1, 9);
    decode(NULL, net.frames);
    ck_assert_ptr_nonnull(strstr(net.log, "another user message with that DDP-SSN"));
}
END_TEST

/* The receiver acknowledges what the capture lacks: what came behind it is told of then, not at the end only. */
START_TEST(acknowledged_loss)
{
    struct flow_decoder *decoder = flow_decoder_create(NULL, note, NULL);
    struct sctp_talk talk;

    begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_send(&talk, 0, 1, 5);
    sctp_talk_send(&talk, 0, 1, 6);
    sctp_talk_sack(&talk, 1);
    net.log[0] = '\0';
    for (size_t i = 0; i < net.frames; i++) {
        struct flow_frame frame = {FLOW_LINK_RAW, i * 30000000, i + 1, net.octets[i], net.count[i], net.count[i]};

        ck_assert_ptr_null(strstr(net.log, "missing"));
        if (i != 5)
            flow_decoder_frame(decoder, &frame);
    }
    ck_assert_ptr_nonnull(strstr(net.log, "0 DDP-SSN 1 missing\n0 " SEND(2, 6)));
    flow_decoder_destroy(decoder);
}
END_TEST

/* 65535 is followed by 0. */
START_TEST(ssn_wraps)
{
    struct sctp_talk talk;
    unsigned sends = 0;

    begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    net.frames = 0; /* a capture that begins late */
    talk.ssn[0][0] = 65530;
    talk.msn[0][0] = 65530;
    for (unsigned i = 0; i < 12; i++)
        sctp_talk_send(&talk, 0, 0, 4);
    decode(NULL, net.frames);
    for (const char *at = net.log; (at = strstr(at, "Send")) != NULL; at++)
        sends++;
    ck_assert_uint_eq(sends, 12);
    ck_assert_ptr_null(strstr(net.log, "DDP-SSN"));
}
END_TEST

START_TEST(checksums)
{
    struct sctp_talk talk;

    begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    session(&talk);
    net.octets[6][net.count[6] - 1] ^= 1;
    decode(NULL, net.frames);
    ck_assert_uint_eq(net.totals.sctp_bad_checksums, 1);
    ck_assert_ptr_nonnull(strstr(net.log, "checksum is wrong"));
    ck_assert_ptr_nonnull(strstr(net.log, "DDP-SSN 1 missing"));
    memset(net.octets[6] + 20 + SCTP_CHECKSUM_AT, 0, 4); /* left to the network card */
    decode(NULL, net.frames);
    ck_assert_uint_eq(net.totals.sctp_bad_checksums, 0);
    ck_assert_str_eq(net.log, session_log);
    begin(&talk, false);
    talk.adler = true;
    sctp_talk_open(&talk, 1, 1);
    session(&talk);
    decode(NULL, net.frames);
    ck_assert_str_eq(net.log, session_log);
}
END_TEST

/* Other addresses of the same ends are found by their Verification Tags. */
START_TEST(multihomed)
{
    struct sctp_talk talk;

    begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    session(&talk);
    for (size_t i = 4; i < net.frames; i++)
        net.octets[i][14] = net.octets[i][18] = 99; /* a second network; the IP checksum is not looked at */
    decode(NULL, net.frames);
    ck_assert_str_eq(net.log, session_log);
}
END_TEST

/* The same ports again: another association. */
START_TEST(another_life)
{
    struct sctp_talk talk;
    char twice[2 * sizeof(session_log)];

    begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    session(&talk);
    sctp_talk_begin(&talk, false, keep, NULL);
    talk.tag[0] = 5;
    talk.tag[1] = 6;
    sctp_talk_open(&talk, 1, 1);
    session(&talk);
    decode(NULL, net.frames);
    snprintf(twice, sizeof(twice), "%s%s", session_log, session_log);
    ck_assert_str_eq(net.log, twice);
    ck_assert_uint_eq(net.totals.flows, 4);
    ck_assert_uint_eq(net.ends, 4);
}
END_TEST

/* Loop: a frame is cut to so many octets. Nothing is read behind, headers are told of as far as they are there. */
START_TEST(cut)
{
    struct flow_decoder *decoder = flow_decoder_create(NULL, note, NULL);
    struct sctp_talk talk;

    begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    session(&talk);
    net.log[0] = '\0';
    for (size_t i = 0; i < net.frames; i++) {
        size_t have = i >= 5 && (size_t)_i < net.count[i] ? (size_t)_i : net.count[i];
        uint8_t *placed = guard_place(net.octets[i], have);
        struct flow_frame frame = {FLOW_LINK_RAW, i, i + 1, placed, have, net.count[i]};

        flow_decoder_frame(decoder, &frame);
        guard_free(placed, have);
    }
    flow_decoder_finish(decoder);
    if (_i >= 20 + 12 + 16 + 2 + 18)
        ck_assert_ptr_nonnull(strstr(net.log, "0 " SEND(2, 20)));
    flow_decoder_destroy(decoder);
}
END_TEST

/* Any octet of any frame changed: nothing worse than other events. Sanitizers watch. */
START_TEST(noise_everywhere)
{
    uint64_t state = (uint64_t)_i;
    struct sctp_talk talk;

    begin(&talk, _i % 2 == 0);
    sctp_talk_open(&talk, 1, 1);
    talk.mtu = _i % 3 == 0 ? 8 : 0;
    if (_i % 2 == 0) {
        sctp_talk_send(&talk, 0, 1, 30);
        sctp_talk_reset(&talk, 0, 1, 2);
    } else {
        session(&talk);
    }
    for (size_t i = 0; i < net.frames; i++) {
        for (unsigned n = 0; n < 3; n++)
            net.octets[i][20 + noise(&state) % (net.count[i] - 20)] = (uint8_t)noise(&state);
        memset(net.octets[i] + 20 + SCTP_CHECKSUM_AT, 0, 4);
    }
    decode(NULL, net.frames);
}
END_TEST

/* Messages that wait for one that never comes are bounded. */
START_TEST(bounded)
{
    struct flow_config config = {.flows_max = 8, .buffer_max = 1 << 16};
    struct flow_decoder *decoder = flow_decoder_create(&config, NULL, NULL);
    struct sctp_talk talk;

    begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    for (size_t i = 0; i < 4; i++) {
        struct flow_frame frame = {FLOW_LINK_RAW, i, i + 1, net.octets[i], net.count[i], net.count[i]};

        flow_decoder_frame(decoder, &frame);
    }
    for (unsigned i = 0; i < 20000; i++) {
        struct flow_frame frame;

        net.frames = 0;
        talk.ssn[0][0] = (uint16_t)(i * 7);
        talk.mtu = i % 5 == 0 ? 10 : 0;
        sctp_talk_send(&talk, 0, (uint16_t)(i % 4), 40);
        octets_put16(net.octets[0] + 20 + 12 + 8, (uint16_t)i); /* any SID */
        memset(net.octets[0] + 20 + SCTP_CHECKSUM_AT, 0, 4);
        frame = (struct flow_frame){FLOW_LINK_RAW, i, i + 5, net.octets[0], net.count[0], net.count[0]};
        flow_decoder_frame(decoder, &frame);
    }
    ck_assert_uint_gt(flow_decoder_totals(decoder)->account.row[FLOW_ROW_EVICTED].items, 0);
    flow_decoder_finish(decoder);
    flow_decoder_destroy(decoder);
}
END_TEST

Suite *flow_sctp_suite(void)
{
    Suite *suite = suite_create("flow_sctp");
    TCase *tcase = tcase_create("associations");

    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, a_session);
    tcase_add_test(tcase, bundled);
    tcase_add_loop_test(tcase, any_order, 0, 40);
    tcase_add_loop_test(tcase, fragments, 1, 60);
    tcase_add_test(tcase, sessions_in_turn);
    tcase_add_test(tcase, next_session_overtakes);
    tcase_add_loop_test(tcase, draft, 1, 3);
    tcase_add_test(tcase, foreign);
    tcase_add_test(tcase, late);
    tcase_add_test(tcase, gaps);
    tcase_add_test(tcase, acknowledged_loss);
    tcase_add_test(tcase, ssn_wraps);
    tcase_add_test(tcase, checksums);
    tcase_add_test(tcase, multihomed);
    tcase_add_test(tcase, another_life);
    tcase_add_loop_test(tcase, cut, 20, 110);
    tcase_add_loop_test(tcase, noise_everywhere, 0, 60);
    tcase_add_test(tcase, bounded);
    suite_add_tcase(suite, tcase);
    return suite;
}
