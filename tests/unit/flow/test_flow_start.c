/* SPDX-License-Identifier: BSD-2-Clause */
/* Start-up frames of all revisions, and malformed ones. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "generator/packet/packet.h"
#include "tests/unit/flow_talk.h"
#include "tests/unit/guard.h"
#include "tests/unit/suites.h"

Suite *flow_start_suite(void);

static void one_start(const char *what, struct iwarp_mpa_start request, struct iwarp_mpa_start reply, const char *log0,
                      const char *log1)
{
    struct talk *talk = talk_new(NULL);

    talk_start(talk, request, reply);
    talk_send(talk, 0, 10);
    talk_send(talk, 1, 10);
    talk_syn(talk);
    talk_all(talk, 1460);
    talk_finish(talk);
    EXPECT(strcmp(talk->log[0], log0) == 0 && strcmp(talk->log[1], log1) == 0, "%s: %s| %s", what, talk->log[0],
           talk->log[1]);
    talk_free(talk);
}

START_TEST(start_frames_of_each_revision_are_decoded)
{
    struct iwarp_mpa_start rev2 = {
        .crc = true, .revision = 2, .enhanced = true, .peer_to_peer = true, .ird = 3, .ord = 4};
    struct iwarp_mpa_start rev1 = {.crc = true, .revision = 1};
    struct iwarp_mpa_start rejecting = {.rejected = true, .revision = 1};

    one_start("Rev 2", rev2, rev2, "o0 m0:ok f0:28 s0:3.1 e ", "o1 m1:ok f1:28 s1:3.1 ");
    one_start("Rev 1", rev1, rev1, "o0 m0:ok f0:28 s0:3.1 e ", "o1 m1:ok f1:28 s1:3.1 ");
    one_start("rejected", rev1, rejecting, "o0 m0:ok u0:4 f0:28 s0:3.1 e ", "o1 m1:ok u1:4 f1:28 s1:3.1 ");
}
END_TEST

/* RFC 5044 appendix C: with Rev 0 Markers and CRC are on both ways, whatever M and C say. */
START_TEST(revision_0_has_markers_and_crc)
{
    struct talk *talk = talk_new(NULL);
    struct iwarp_mpa_start rev0 = {.revision = 0};
    struct ddp_segment segment = {.last = true, .version = 0, .control = IWARP_RDMAP_SEND, .msn = 1};
    uint8_t ulpdu[1000] = {0};

    talk_start(talk, rev0, rev0);
    talk->framing[0] = talk->framing[1] = (struct fpdu_framing){true, true, 0};
    ddp_pack_header(&segment, ulpdu);
    for (unsigned i = 0; i < 8; i++)
        talk_ulpdu(talk, i % 2, ulpdu, sizeof(ulpdu));
    talk_syn(talk);
    talk_all(talk, 700);
    talk_finish(talk);
    ck_assert_uint_eq(talk->good[0], 4);
    ck_assert_uint_eq(talk->good[1], 4);
    ck_assert_uint_eq(talk->undecoded, 0);
    talk_free(talk);
}
END_TEST

START_TEST(malformed_start_frames_are_reported)
{
    struct iwarp_mpa_start rev1 = {.crc = true, .revision = 1};
    struct talk *talk = talk_new(NULL);

    talk_start(talk, rev1, rev1);
    talk->stream[0][15] = 'a'; /* "MPA ID Req Frama" */
    talk_syn(talk);
    talk_segment(talk, 0, 0, talk->start[0]);
    talk_finish(talk);
    ck_assert_ptr_nonnull(strstr(talk->log[0], "m0:bad u0:0"));
    talk_free(talk);

    talk = talk_new(
        NULL); /* a Reply that answers nothing is a Request with the other Key, and what answers it is the Reply */
    talk_start(talk, rev1, rev1);
    memcpy(talk->stream[0], MPA_KEY_REPLY, MPA_KEY_OCTETS);
    talk_syn(talk);
    talk_segment_with(talk, 0, 0, talk->start[0], TCP_FLAG_ACK, 0);
    talk_segment_with(talk, 1, 0, talk->start[1], TCP_FLAG_ACK, talk->start[0]);
    talk_finish(talk);
    EXPECT(strstr(talk->log[0], "m0:bad") != NULL && strstr(talk->log[1], "m1:ok") != NULL, "%s| %s", talk->log[0],
           talk->log[1]);
    talk_free(talk);

    talk = talk_new(NULL); /* the Responder answers with something else altogether */
    talk_start(talk, rev1, rev1);
    talk_syn(talk);
    talk_segment(talk, 0, 0, talk->start[0]);
    memcpy(talk->stream[1], "HTTP/1.1 400 Bad Request", 20);
    talk_segment(talk, 1, 0, 20);
    talk_finish(talk);
    ck_assert_ptr_nonnull(strstr(talk->log[1], "m1:bad u1:0"));
    talk_free(talk);

    talk = talk_new(NULL); /* PD_Length above 512 */
    talk_start(talk, rev1, rev1);
    talk->stream[0][18] = 2;
    talk->stream[0][19] = 1;
    talk_syn(talk);
    talk_segment(talk, 0, 0, 20);
    talk_finish(talk);
    ck_assert_ptr_nonnull(strstr(talk->log[0], "m0:bad"));
    talk_free(talk);

    talk = talk_new(NULL); /* it breaks off */
    talk_start(talk, rev1, rev1);
    talk_syn(talk);
    talk_segment(talk, 0, 0, 17);
    talk_segment_with(talk, 0, 17, 17, TCP_FLAG_FIN | TCP_FLAG_ACK, 0);
    talk_finish(talk);
    ck_assert_ptr_nonnull(strstr(talk->log[0], "m0:more"));
    talk_free(talk);
}
END_TEST

Suite *flow_start_suite(void)
{
    Suite *suite = suite_create("flow_start");
    TCase *tests = tcase_create("start");

    tcase_add_test(tests, start_frames_of_each_revision_are_decoded);
    tcase_add_test(tests, revision_0_has_markers_and_crc);
    tcase_add_test(tests, malformed_start_frames_are_reported);
    suite_add_tcase(suite, tests);
    return suite;
}
