/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code points, sizes and limits as the texts have them, read off by hand: test_golden.c does it for fields. Tester and
 * device share wire/: were two codes exchanged, or a limit one too large, both would agree with each other. Error
 * numbers of Terminates: test_terminate.c. Opcodes and what belongs to them: test_rdmap.c.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/suites.h"
#include "wire/atomic.h"
#include "wire/ddp.h"
#include "wire/ddp_sctp.h"
#include "wire/depth.h"
#include "wire/fpdu.h"
#include "wire/marker.h"
#include "wire/mpa.h"
#include "wire/rdmap.h"
#include "wire/sctp.h"

Suite *golden_code_suite(void);

#define IS(code, value)                                                                                                \
    {                                                                                                                  \
#code, (long)(code), value                                                                                     \
    }

/* clang-format off */
static const struct {
    const char *name;
    long code, value;
} codes[] = {
    /* RFC 5044 7.1, 7.1.1, 4.2, 4.3, 4.5; RFC 6581 6, 9.1 */
    IS(MPA_KEY_OCTETS, 16), IS(MPA_START_OCTETS, 20), IS(MPA_ENHANCED_OCTETS, 4), IS(IWARP_MPA_PRIVATE_DATA_MAX, 512),
    IS(MPA_REV_RDMAC, 0), IS(MPA_REV_1, 1), IS(MPA_REV_2, 2), IS(DEPTH_NOT_NEGOTIATED, 0x3FFF),
    IS(FPDU_LENGTH_OCTETS, 2), IS(FPDU_CRC_OCTETS, 4), IS(FPDU_PAD_MAX, 3), IS(ULPDU_LENGTH_MAX, 64768),
    IS(MARKER_OCTETS, 4), IS(MARKER_SPACING, 512), IS(MARKER_DATA, 508),
    /* RFC 5041 4.1 to 4.3; RFC 7306 5 */
    IS(DDP_VERSION, 1), IS(DDP_TAGGED_OCTETS, 14), IS(DDP_UNTAGGED_OCTETS, 18), IS(DDP_FIRST_MSN, 1),
    IS(DDP_QN_SEND, 0), IS(DDP_QN_READ_REQUEST, 1), IS(DDP_QN_TERMINATE, 2), IS(DDP_QN_ATOMIC_RESPONSE, 3),
    /* RFC 5040 4.1, 4.4, 4.8; RFC 7306 4, 8 */
    IS(RDMAP_VERSION, 1), IS(RDMAP_CONTROL_OCTETS, 1), IS(RDMAP_UNTAGGED_OCTETS, 5), IS(IWARP_TERMINATE_MAX, 52),
    IS(READ_REQUEST_OCTETS, 28), IS(TERMINATE_OCTETS, 4), IS(TERMINATE_LENGTH_OCTETS, 2),
    IS(IWARP_RDMAP_WRITE, 0), IS(IWARP_RDMAP_READ_REQUEST, 1), IS(IWARP_RDMAP_READ_RESPONSE, 2), IS(IWARP_RDMAP_SEND, 3),
    IS(IWARP_RDMAP_SEND_INVALIDATE, 4), IS(IWARP_RDMAP_SEND_SE, 5), IS(IWARP_RDMAP_SEND_SE_INVALIDATE, 6), IS(IWARP_RDMAP_TERMINATE, 7),
    IS(IWARP_RDMAP_IMMEDIATE, 8), IS(IWARP_RDMAP_IMMEDIATE_SE, 9), IS(IWARP_RDMAP_ATOMIC_REQUEST, 10), IS(IWARP_RDMAP_ATOMIC_RESPONSE, 11),
    /* RFC 7306 5.1, 5.2.1, 5.2.2, 6.3; draft-ietf-storm-rdmap-ext-03 5.2.1 */
    IS(IWARP_ATOMIC_FETCH_ADD, 0), IS(IWARP_ATOMIC_SWAP, 1), IS(IWARP_ATOMIC_COMPARE_SWAP, 2), IS(ATOMIC_REQUEST_OCTETS, 52),
    IS(ATOMIC_RESPONSE_OCTETS, 12), IS(ATOMIC_TARGET_OCTETS, 8), IS(IWARP_IMMEDIATE_OCTETS, 8),
    /* RFC 5043 5.1, 5.2, 5.2.3, 6.1; RFC 6581 7; draft-stewart-rddp-sctp-02 2.1, 2.2, 6 */
    IS(DDP_SCTP_INDICATION_DDP, 1), IS(DDP_SCTP_INDICATION_DDP_RDMA, 2), IS(DDP_SCTP_PPID_DRAFT_SEGMENT, 1),
    IS(DDP_SCTP_PPID_DRAFT_CONTROL, 2), IS(DDP_SCTP_PPID_SEGMENT, 16), IS(DDP_SCTP_PPID_CONTROL, 17),
    IS(DDP_SCTP_SSN_OCTETS, 2), IS(DDP_SCTP_CONTROL_OCTETS, 4), IS(DDP_SCTP_DRAFT_CONTROL_OCTETS, 4),
    IS(DDP_SCTP_PRIVATE_DATA_MAX, 512), IS(DDP_SCTP_STREAM_RESET, 1), IS(DDP_SCTP_FIRST_SSN, 0),
    IS(DDP_SCTP_DRAFT_FIRST_SSN, 1), IS(DDP_SCTP_INITIATE, 1), IS(DDP_SCTP_ACCEPT, 2), IS(DDP_SCTP_REJECT, 3),
    IS(DDP_SCTP_TERMINATE, 4), IS(DDP_SCTP_ENHANCED_INITIATE, 5), IS(DDP_SCTP_ENHANCED_ACCEPT, 6),
    IS(DDP_SCTP_ENHANCED_REJECT, 7),
    /* RFC 6951 5.1, RFC 9260 3.1 to 3.3.4, RFC 5061 4.2.6, RFC 8260 2.1, RFC 6525 3.1, 4.1, 4.2, RFC 3758 3.2 */
    IS(SCTP_UDP_PORT, 9899), IS(SCTP_PROTOCOL, 132), IS(SCTP_COMMON_OCTETS, 12), IS(SCTP_CHECKSUM_AT, 8),
    IS(SCTP_CHUNK_OCTETS, 4), IS(SCTP_DATA_OCTETS, 16), IS(SCTP_IDATA_OCTETS, 20), IS(SCTP_INIT_OCTETS, 20),
    IS(SCTP_PARAMETER_OCTETS, 4), IS(SCTP_ADAPTATION_OCTETS, 8), IS(SCTP_PARAMETER_IPV4, 5), IS(SCTP_PARAMETER_IPV6, 6),
    IS(SCTP_PARAMETER_COOKIE, 7), IS(SCTP_PARAMETER_OUTGOING_RESET, 13), IS(SCTP_PARAMETER_INCOMING_RESET, 14),
    IS(SCTP_PARAMETER_ADAPTATION, 0xC006), IS(SCTP_FLAG_E, 1), IS(SCTP_FLAG_B, 2), IS(SCTP_FLAG_U, 4), IS(SCTP_FLAG_I, 8),
    IS(SCTP_DATA, 0), IS(SCTP_INIT, 1), IS(SCTP_INIT_ACK, 2), IS(SCTP_SACK, 3), IS(SCTP_HEARTBEAT, 4),
    IS(SCTP_HEARTBEAT_ACK, 5), IS(SCTP_ABORT, 6), IS(SCTP_SHUTDOWN, 7), IS(SCTP_SHUTDOWN_ACK, 8), IS(SCTP_ERROR, 9),
    IS(SCTP_COOKIE_ECHO, 10), IS(SCTP_COOKIE_ACK, 11), IS(SCTP_SHUTDOWN_COMPLETE, 14), IS(SCTP_IDATA, 64),
    IS(SCTP_ASCONF_ACK, 128), IS(SCTP_RE_CONFIG, 130), IS(SCTP_FORWARD_TSN, 192), IS(SCTP_ASCONF, 193),
};

/* RFC 5043 5.2.3 and 6.1, RFC 6581 7: does the enhanced word belong to it, may Private Data, and who sends it? */
static const struct {
    bool word, data;
    int active;
} sessions[] = {
    [1] = {false, true, 1}, [2] = {false, true, 0}, [3] = {false, true, 0}, [4] = {false, false, -1},
    [5] = {true, true, 1}, [6] = {true, true, 0}, [7] = {false, true, 0},
};
/* clang-format on */

START_TEST(code_is_that_of_the_texts)
{
    ck_assert_msg(codes[_i].code == codes[_i].value, "%s is %ld, the texts have %ld", codes[_i].name, codes[_i].code,
                  codes[_i].value);
}
END_TEST

START_TEST(session_message_has_its_form)
{
    const struct ddp_sctp_session_row *row = ddp_sctp_session_row((uint32_t)_i);

    ck_assert_ptr_nonnull(row->name);
    ck_assert_int_eq(row->has_word, sessions[_i].word);
    ck_assert_int_eq(row->has_private, sessions[_i].data);
    ck_assert_int_eq(row->active, sessions[_i].active);
}
END_TEST

START_TEST(other_codes_are_no_session_messages)
{
    static const uint32_t other[] = {0, 8, 9, 0x100, 0x101, UINT32_MAX};

    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        ck_assert_ptr_null(ddp_sctp_session_row(other[i])->name);
}
END_TEST

/* The sixteen octets of either Key (RFC 5044 7.1.1). */
START_TEST(keys_have_their_sixteen_octets)
{
    static const uint8_t request[] = {0x4D, 0x50, 0x41, 0x20, 0x49, 0x44, 0x20, 0x52,
                                      0x65, 0x71, 0x20, 0x46, 0x72, 0x61, 0x6D, 0x65};
    static const uint8_t reply[] = {0x4D, 0x50, 0x41, 0x20, 0x49, 0x44, 0x20, 0x52,
                                    0x65, 0x70, 0x20, 0x46, 0x72, 0x61, 0x6D, 0x65};

    ck_assert_uint_eq(strlen(MPA_KEY_REQUEST), sizeof(request));
    ck_assert_mem_eq(MPA_KEY_REQUEST, request, sizeof(request));
    ck_assert_uint_eq(strlen(MPA_KEY_REPLY), sizeof(reply));
    ck_assert_mem_eq(MPA_KEY_REPLY, reply, sizeof(reply));
    ck_assert_uint_eq(wire_layout_field(&mpa_start_layout, "key")->bit, 0);
    ck_assert_uint_eq(wire_layout_field(&mpa_start_layout, "key")->bits, 128);
}
END_TEST

/*
 * RFC 5043 5.2.3, RFC 6581 6 and 7: an Enhanced Accept with A and C, IRD 0x0102, ORD 0x0304 and two octets of the
 * ULP's.
 */
START_TEST(enhanced_accept_matches_octet_for_octet)
{
    static const uint8_t octets[] = {0x11, 0x12, 0x00, 0x06, 0x81, 0x02, 0x83, 0x04, 'o', 'k'};
    struct ddp_sctp_message message;
    uint8_t packed[sizeof(octets)] = {0};
    size_t ulp;

    ck_assert_uint_eq(ddp_sctp_parse(17, octets, sizeof(octets), &message), WIRE_OK);
    ck_assert_int_eq(message.kind, DDP_SCTP_CONTROL);
    ck_assert(message.has_ssn && message.ssn == 0x1112);
    ck_assert_uint_eq(message.code, 6);
    ck_assert(message.has_word && message.peer_to_peer);
    ck_assert(!message.rtr_send && message.rtr_write && !message.rtr_read);
    ck_assert_uint_eq(message.ird, 0x0102);
    ck_assert_uint_eq(message.ord, 0x0304);
    ck_assert_ptr_eq(ddp_sctp_ulp_data(&message, &ulp), octets + 8);
    ck_assert_uint_eq(ulp, 2);
    message.private_data = octets + 8;
    message.private_octets = 2;
    ck_assert_uint_eq(ddp_sctp_pack_control(&message, packed, sizeof(packed)), sizeof(octets));
    ck_assert_mem_eq(packed, octets, sizeof(octets));
}
END_TEST

/*
 * A DDP Segment of either text (RFC 5043 5.2.2; draft-stewart-rddp-sctp-02 2.1): two octets of DDP-SSN in front of it.
 */
START_TEST(segments_of_both_texts)
{
    static const uint8_t octets[] = {0x11, 0x12, 0x41, 0x43, 0};
    static const struct {
        uint32_t ppid;
        enum iwarp_sctp_profile profile;
    } kinds[] = {{16, IWARP_SCTP_RFC5043}, {1, IWARP_SCTP_DRAFT02}};

    for (size_t i = 0; i < 2; i++) {
        struct ddp_sctp_message message;

        ck_assert_uint_eq(ddp_sctp_parse(kinds[i].ppid, octets, sizeof(octets), &message), WIRE_OK);
        ck_assert_int_eq(message.kind, DDP_SCTP_SEGMENT);
        ck_assert_int_eq(message.profile, kinds[i].profile);
        ck_assert(message.has_ssn && message.ssn == 0x1112);
        ck_assert_ptr_eq(message.segment, octets + 2);
        ck_assert_uint_eq(message.segment_octets, 3);
    }
}
END_TEST

/* A DDP Stream Reset (draft-stewart-rddp-sctp-02 2.2): a Function Code of 32 bits, under either PPID. */
START_TEST(stream_reset_matches_octet_for_octet)
{
    static const uint8_t octets[] = {0, 0, 0, 1};

    for (uint32_t ppid = 1; ppid <= 2; ppid++) {
        struct ddp_sctp_message message;

        ck_assert_uint_eq(ddp_sctp_parse(ppid, octets, sizeof(octets), &message), WIRE_OK);
        ck_assert_int_eq(message.kind, DDP_SCTP_DRAFT_CONTROL);
        ck_assert_int_eq(message.profile, IWARP_SCTP_DRAFT02);
        ck_assert_uint_eq(message.code, 1);
        ck_assert_uint_eq(message.private_octets, 0);
    }
}
END_TEST

Suite *golden_code_suite(void)
{
    Suite *suite = suite_create("golden_code");
    TCase *tcase = tcase_create("golden_code");

    tcase_add_loop_test(tcase, code_is_that_of_the_texts, 0, (int)(sizeof(codes) / sizeof(codes[0])));
    tcase_add_loop_test(tcase, session_message_has_its_form, 1, (int)(sizeof(sessions) / sizeof(sessions[0])));
    tcase_add_test(tcase, other_codes_are_no_session_messages);
    tcase_add_test(tcase, keys_have_their_sixteen_octets);
    tcase_add_test(tcase, enhanced_accept_matches_octet_for_octet);
    tcase_add_test(tcase, segments_of_both_texts);
    tcase_add_test(tcase, stream_reset_matches_octet_for_octet);
    suite_add_tcase(suite, tcase);
    return suite;
}
