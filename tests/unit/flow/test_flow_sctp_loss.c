/* SPDX-License-Identifier: BSD-2-Clause */
/* Associations of which the capture lacks something, and captures with noise in them. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/decoder.h"
#include "conformance/flow/decoder_rooms.h"
#include "conformance/flow/sctp/flow_sctp_internal.h"
#include "tests/unit/guard.h"
#include "tests/unit/sctp_log.h"
#include "tests/unit/suites.h"

Suite *flow_sctp_loss_suite(void);

/* A frame that is not in the capture, against a DDP-SSN that was never sent. */
START_TEST(lost_frame_differs_from_a_skipped_ssn)
{
    struct sctp_talk talk;
    size_t order[16], count = 0;

    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_log_session(&talk);
    for (size_t i = 0; i < sctp_log.frames; i++)
        if (i != 6)
            order[count++] = i;
    sctp_log_decode(order, count);
    ck_assert_ptr_nonnull(strstr(sctp_log.log, "0 DDP-SSN 1 missing\n0 " SEND(2, 20)));
    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    talk.ssn[0][1] += 3;
    sctp_talk_send(&talk, 0, 1, 9);
    sctp_log_decode(NULL, sctp_log.frames);
    ck_assert_ptr_nonnull(strstr(sctp_log.log, "0 DDP-SSN 1 to 3 never sent\n0 " SEND(1, 9)));
    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_send(&talk, 0, 1, 9);
    talk.ssn[0][1]--;
    sctp_talk_send(&talk, 0, 1, 9);
    sctp_log_decode(NULL, sctp_log.frames);
    ck_assert_ptr_nonnull(strstr(sctp_log.log, "another user message with that DDP-SSN"));
}
END_TEST

/* The receiver acknowledges what the capture lacks: what came after it is reported then, not only at the end. */
START_TEST(acknowledged_loss_is_reported_at_once)
{
    struct flow_decoder *decoder = flow_decoder_create(NULL, sctp_log_note, NULL);
    struct sctp_talk talk;

    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_send(&talk, 0, 1, 5);
    sctp_talk_send(&talk, 0, 1, 6);
    sctp_talk_sack(&talk, 1);
    sctp_log.log[0] = '\0';
    for (size_t i = 0; i < sctp_log.frames; i++) {
        struct flow_frame frame = {FLOW_LINK_RAW,      i * 30000000,      i + 1,
                                   sctp_log.octets[i], sctp_log.count[i], sctp_log.count[i]};

        ck_assert_ptr_null(strstr(sctp_log.log, "missing"));
        if (i != 5)
            flow_decoder_frame(decoder, &frame);
    }
    ck_assert_ptr_nonnull(strstr(sctp_log.log, "0 DDP-SSN 1 missing\n0 " SEND(2, 6)));
    flow_decoder_destroy(decoder);
}
END_TEST

/*
 * The Initiate is captured a second after what answers it, and a SACK said before that it had come: it begins no other
 * session than the one that was answered.
 */
START_TEST(late_copy_of_an_initiate_begins_no_session)
{
    static const struct {
        size_t frame;
        uint64_t ms;
    } order[] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {5, 4}, {6, 5}, {7, 200}, {4, 1000}, {8, 1001}};
    struct flow_decoder *decoder = flow_decoder_create(NULL, sctp_log_note, NULL);
    struct sctp_talk talk;

    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_talk_control(&talk, 0, 1, DDP_SCTP_INITIATE, "");
    sctp_talk_sack(&talk, 1);
    sctp_talk_control(&talk, 1, 1, DDP_SCTP_ACCEPT, "");
    sctp_talk_sack(&talk, 0);
    sctp_talk_send(&talk, 1, 1, 9);
    sctp_log.log[0] = '\0';
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        size_t n = order[i].frame;

        flow_decoder_frame(decoder, &(struct flow_frame){FLOW_LINK_RAW, order[i].ms * 1000000, i + 1,
                                                         sctp_log.octets[n], sctp_log.count[n], sctp_log.count[n]});
    }
    flow_decoder_finish(decoder);
    flow_decoder_destroy(decoder);
    ck_assert_ptr_nonnull(strstr(sctp_log.log, "1 " SEND(1, 9)));
    ck_assert_ptr_null(strstr(sctp_log.log, "never sent"));
}
END_TEST

/*
 * Loop: a frame is cut to so many octets. Nothing after the cut is read; headers are reported as far as they are there.
 */
START_TEST(cut_frame_is_reported_to_the_cut)
{
    struct flow_decoder *decoder = flow_decoder_create(NULL, sctp_log_note, NULL);
    struct sctp_talk talk;

    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_log_session(&talk);
    sctp_log.log[0] = '\0';
    for (size_t i = 0; i < sctp_log.frames; i++) {
        size_t have = i >= 5 && (size_t)_i < sctp_log.count[i] ? (size_t)_i : sctp_log.count[i];
        uint8_t *placed = guard_place(sctp_log.octets[i], have);
        struct flow_frame frame = {FLOW_LINK_RAW, i, i + 1, placed, have, sctp_log.count[i]};

        flow_decoder_frame(decoder, &frame);
        guard_free(placed, have);
    }
    flow_decoder_finish(decoder);
    if (_i >= 20 + 12 + 16 + 2 + 18)
        ck_assert_ptr_nonnull(strstr(sctp_log.log, "0 " SEND(2, 20)));
    flow_decoder_destroy(decoder);
}
END_TEST

/* Any octet of any frame changed: nothing worse than other events. Sanitizers watch. */
START_TEST(changed_octet_of_a_session_breaks_nothing)
{
    uint64_t state = (uint64_t)_i;
    struct sctp_talk talk;

    sctp_log_begin(&talk, _i % 2 == 0);
    sctp_talk_open(&talk, 1, 1);
    talk.mtu = _i % 3 == 0 ? 8 : 0;
    if (_i % 2 == 0) {
        sctp_talk_send(&talk, 0, 1, 30);
        sctp_talk_reset(&talk, 0, 1, 2);
    } else {
        sctp_log_session(&talk);
    }
    for (size_t i = 0; i < sctp_log.frames; i++) {
        for (unsigned n = 0; n < 3; n++)
            sctp_log.octets[i][20 + noise(&state) % (sctp_log.count[i] - 20)] = (uint8_t)noise(&state);
        memset(sctp_log.octets[i] + 20 + SCTP_CHECKSUM_AT, 0, 4);
    }
    sctp_log_decode(NULL, sctp_log.frames);
}
END_TEST

/* Messages that wait for one that never comes are bounded. */
START_TEST(waiting_messages_are_bounded)
{
    struct flow_config config = {.flows_max = 8, .buffer_max = 1 << 16};
    struct flow_decoder *decoder = flow_decoder_create(&config, NULL, NULL);
    struct sctp_talk talk;

    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    for (size_t i = 0; i < 4; i++) {
        struct flow_frame frame = {FLOW_LINK_RAW, i, i + 1, sctp_log.octets[i], sctp_log.count[i], sctp_log.count[i]};

        memset(sctp_log.octets[i] + 20 + SCTP_CHECKSUM_AT, 0, 4); /* so that they can be changed below */
        flow_decoder_frame(decoder, &frame);
    }
    for (unsigned i = 0; i < 20000; i++) {
        struct flow_frame frame;

        sctp_log.frames = 0;
        talk.ssn[0][0] = (uint16_t)(i * 7);
        talk.mtu = i % 5 == 0 ? 10 : 0;
        sctp_talk_send(&talk, 0, (uint16_t)(i % 4), 40);
        octets_put16(sctp_log.octets[0] + 20 + 12 + 8, (uint16_t)i); /* any SID */
        memset(sctp_log.octets[0] + 20 + SCTP_CHECKSUM_AT, 0, 4);
        frame = (struct flow_frame){FLOW_LINK_RAW, i, i + 5, sctp_log.octets[0], sctp_log.count[0], sctp_log.count[0]};
        flow_decoder_frame(decoder, &frame);
    }
    ck_assert_uint_le(decoder->sctp->stream_count, 8);
    flow_decoder_finish(decoder);
    flow_decoder_destroy(decoder);
}
END_TEST

Suite *flow_sctp_loss_suite(void)
{
    Suite *suite = suite_create("flow_sctp_loss");
    TCase *tcase = tcase_create("sctp_loss");

    tcase_add_test(tcase, lost_frame_differs_from_a_skipped_ssn);
    tcase_add_test(tcase, acknowledged_loss_is_reported_at_once);
    tcase_add_test(tcase, late_copy_of_an_initiate_begins_no_session);
    tcase_add_loop_test(tcase, cut_frame_is_reported_to_the_cut, 20, 110);
    tcase_add_loop_test(tcase, changed_octet_of_a_session_breaks_nothing, 0, 60);
    tcase_add_test(tcase, waiting_messages_are_bounded);
    suite_add_tcase(suite, tcase);
    return suite;
}
