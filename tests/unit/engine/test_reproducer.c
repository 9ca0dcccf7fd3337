/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reproducer in C (conformance/engine/reproducer/repro_write.h): what is read of a check's evidence, which of it is
 * repeated, where octets have to be computed, and what is refused in one sentence.
 */
#define _GNU_SOURCE /* memfd_create */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/octets.h"
#include "conformance/engine/reproducer/repro_cm.h"
#include "conformance/engine/reproducer/repro_write.h"
#include "generator/cm/roce_frame.h"
#include "generator/packet/packet.h"
#include "generator/packet/pcapng.h"
#include "wire/cm.h"
#include "wire/fpdu.h"

Suite *reproducer_suite(void);

enum { TESTER = 40001, DEVICE = 9999, STAG = 0x6b1c2d40 };

static struct pcapng *writer;
static int file;
static uint64_t now_ns;
static uint32_t next[2]; /* sequence numbers: the tester's, the device's */
static uint8_t *octets;
static size_t size;
static struct repro_evidence evidence;
static char *text;
static struct iwarp_sentence error;

static void setup(void)
{
    file = memfd_create("evidence", 0);
    writer = pcapng_open_file(dup(file), "evidence", PCAPNG_ETHERNET, "test", NULL, &error);
    ck_assert_msg(writer != NULL, "%s", error.text);
    next[0] = next[1] = 100;
    now_ns = 1000000000;
    error.text[0] = '\0';
}

static void teardown(void)
{
    repro_evidence_free(&evidence);
    free(octets);
    free(text);
    text = NULL;
    close(file);
}

static void segment(bool from_dut, uint8_t flags, const uint8_t *payload, size_t count)
{
    uint8_t frame[2048];
    struct packet_tcp fields = {.source_port = from_dut ? DEVICE : TESTER,
                                .destination_port = from_dut ? TESTER : DEVICE,
                                .sequence = next[from_dut],
                                .flags = flags,
                                .payload = payload,
                                .payload_octets = count};
    size_t octets_of_frame;

    (void)net_address_parse(&fields.source, from_dut ? "10.77.0.2" : "10.77.0.3");
    (void)net_address_parse(&fields.destination, from_dut ? "10.77.0.3" : "10.77.0.2");
    octets_of_frame = packet_build_tcp(frame, sizeof(frame), &fields);
    ck_assert_uint_gt(octets_of_frame, 0);
    ck_assert_int_eq(pcapng_write_frame(writer, now_ns, frame, octets_of_frame, NULL, from_dut), 0);
    next[from_dut] += (uint32_t)count + ((flags & (TCP_FLAG_SYN | TCP_FLAG_FIN)) != 0);
}

/* The opening, and start-up frames with C = 1: frames 1 to 4. */
static void start_up(void)
{
    static const uint8_t request[] = "MPA ID Req Frame\x40\x01\x00\x00", reply[] = "MPA ID Rep Frame\x40\x01\x00\x00";

    segment(false, TCP_FLAG_SYN, NULL, 0);
    segment(true, TCP_FLAG_SYN | TCP_FLAG_ACK, NULL, 0);
    segment(false, TCP_FLAG_ACK, request, 20);
    segment(true, TCP_FLAG_ACK, reply, 20);
}

/* A Write to STAG: its FPDU. */
static size_t write_fpdu(uint8_t *out, size_t room)
{
    static const struct fpdu_framing framing = {.crc = true};
    uint8_t ulpdu[18] = {0xc1, 0x40};

    octets_put32(ulpdu + 2, STAG);
    octets_put32(ulpdu + 14, 0x64617461); /* "data" */
    return fpdu_pack(ulpdu, sizeof(ulpdu), &framing, out, room);
}

static void read_evidence(void)
{
    ck_assert_int_eq(pcapng_close(writer, &error), 0);
    size = (size_t)lseek(file, 0, SEEK_END);
    octets = malloc(size);
    ck_assert_int_eq(pread(file, octets, size, 0), (ssize_t)size);
    ck_assert_msg(repro_evidence_read(&evidence, "DDP-7.2-01", octets, size, &error) == 0, "%s", error.text);
}

/* The reproducer of a failure that is about this frame. */
static int make(uint64_t frame, const char *actual)
{
    struct result result = {.id = "DDP-7.2-01", .frame = frame, .actual = actual, .evidence = "evidence/x.pcapng"};
    struct repro_plan *plan = malloc(sizeof(*plan));
    int rc = repro_plan_make(plan, &evidence, &result, true, &error);

    if (rc == 0)
        rc = repro_write(plan, "test", &text, &error);
    repro_plan_free(plan);
    free(plan);
    return rc;
}

#define NOTE_REG                                                                                                       \
    "upper tester: {\"verb\":\"reg_mr\",\"length\":8} -> {\"stag\":1797008704,\"base\":\"0x0\",\"ok\":true}"

START_TEST(commands_and_segments_are_read_back_in_their_order)
{
    (void)pcapng_note(writer, "a comment for people");
    (void)pcapng_note(writer, NOTE_REG);
    start_up();
    read_evidence();
    ck_assert_uint_eq(evidence.count, 5);
    ck_assert_ptr_nonnull(evidence.events[0].asked);
    ck_assert_uint_eq(evidence.connection_count, 1);
    ck_assert_uint_eq(evidence.events[4].frame, 4);
    ck_assert(evidence.events[4].from_dut && evidence.events[4].count == 20);
    ck_assert_str_eq(evidence.dut, "10.77.0.2");
}
END_TEST

START_TEST(octets_with_an_stag_of_the_device_are_computed)
{
    uint8_t fpdu[64];
    size_t count = write_fpdu(fpdu, sizeof(fpdu));

    (void)pcapng_note(writer, NOTE_REG);
    start_up();
    segment(false, TCP_FLAG_ACK, fpdu, count);
    read_evidence();
    ck_assert_msg(make(5, "nothing within the time limit") == 0, "%s", error.text);
    ck_assert_ptr_nonnull(strstr(text, "S0 = value("));
    ck_assert_ptr_nonnull(strstr(text, "fpdu(TEXT(\"c140%08lx000000000000000064617461\", S0));"));
    ck_assert_ptr_nonnull(strstr(text, "come(0, \"nothing\", 0);"));
}
END_TEST

START_TEST(octets_that_nobody_chose_later_stand_as_they_were_sent)
{
    uint8_t fpdu[64];
    size_t count = write_fpdu(fpdu, sizeof(fpdu));

    start_up();
    segment(false, TCP_FLAG_ACK, fpdu, count);
    read_evidence();
    ck_assert_msg(make(5, "nothing within the time limit") == 0, "%s", error.text);
    ck_assert_ptr_null(strstr(text, "fpdu("));
    ck_assert_ptr_null(strstr(text, "ask("));
    ck_assert_ptr_nonnull(strstr(text, "push(0, 0, \"0012c1406b1c2d40"));
}
END_TEST

/*
 * A device may overlook what comes right behind its Reply (finding 10 of siw): the tester's pause is part of what
 * failed.
 */
START_TEST(the_pause_after_the_reply_is_kept)
{
    uint8_t fpdu[64];
    size_t count = write_fpdu(fpdu, sizeof(fpdu));

    start_up();
    now_ns += 7500000;
    segment(false, TCP_FLAG_ACK, fpdu, count);
    read_evidence();
    ck_assert_msg(make(5, "nothing within the time limit") == 0, "%s", error.text);
    ck_assert_ptr_nonnull(strstr(text, "push(0, 0, \"4d50"));
    ck_assert_ptr_nonnull(strstr(text, "push(0, 7, \"0012c140"));
}
END_TEST

START_TEST(an_fpdu_that_is_cut_within_an_stag_of_the_device_is_refused)
{
    uint8_t fpdu[64];
    size_t count = write_fpdu(fpdu, sizeof(fpdu));

    (void)pcapng_note(writer, NOTE_REG);
    start_up();
    segment(false, TCP_FLAG_ACK, fpdu, 12);
    segment(false, TCP_FLAG_ACK, fpdu + 12, count - 12);
    read_evidence();
    ck_assert_int_eq(make(6, "nothing within the time limit"), 1);
    ck_assert_str_eq(error.text, "frame 5 of the evidence cuts an FPDU with an STag that the device chooses");
}
END_TEST

START_TEST(segments_that_no_socket_sends_are_refused)
{
    start_up();
    next[0] -= 7;
    segment(false, TCP_FLAG_ACK, (const uint8_t *)"0123456789", 10);
    read_evidence();
    ck_assert_int_eq(make(5, "nothing within the time limit"), 1);
    ck_assert_ptr_nonnull(strstr(error.text, "no socket sends that"));
}
END_TEST

START_TEST(what_the_upper_tester_said_is_refused)
{
    start_up();
    segment(true, TCP_FLAG_ACK | TCP_FLAG_FIN, NULL, 0);
    (void)pcapng_note(writer, "upper tester: {\"verb\":\"poll\"} -> {\"events\":[],\"ok\":true}");
    read_evidence();
    ck_assert_int_eq(make(5, "none"), 1);
    ck_assert_str_eq(error.text, "what failed (\"none\") is what the upper tester said to \"poll\"");
}
END_TEST

enum { OWN_ID = 0x11223344, OWN_QPN = 0x0a0b0c, DUT_ID = 0x55667788 };

/* A frame with a MAD: the same transaction in all of them, addresses of both, and numbers of whoever sends it. */
static void mad(bool from_dut, unsigned kind, uint32_t local, uint32_t remote)
{
    uint8_t frame[ROCE_FRAME_MAX], message[MAD_OCTETS] = {1, 7, 2, 3};
    struct roce_ends ends = {.psn = 1};
    size_t count;

    (void)net_address_parse(&ends.source, from_dut ? "10.77.0.2" : "10.77.0.3");
    (void)net_address_parse(&ends.destination, from_dut ? "10.77.0.3" : "10.77.0.2");
    octets_put32(message + 12, 0x99887766);
    octets_put16(message + 16, (uint16_t)kind);
    octets_put32(message + MAD_HEADER_OCTETS, local);
    octets_put32(message + MAD_HEADER_OCTETS + 4, remote);
    if (kind == CM_REQ) {
        octets_put32(message + MAD_HEADER_OCTETS + 32, (uint32_t)OWN_QPN << 8);
        memcpy(message + MAD_HEADER_OCTETS + 156, ends.source.octets, 4);
    }
    count = roce_frame_build(frame, sizeof(frame), &ends, message);
    ck_assert_int_eq(pcapng_write_frame(writer, now_ns, frame, count, NULL, from_dut), 0);
}

static int make_cm(uint64_t frame, const char *actual)
{
    struct result result = {.id = "CA11-2", .role = "responder", .actual = actual, .frame = frame};

    return repro_cm_write(&evidence, &result, "warpcheck", &text, &error);
}

START_TEST(a_rep_where_a_rej_was_due_is_waited_for_with_numbers_of_this_run)
{
    mad(false, CM_REQ, OWN_ID, 0);
    mad(true, CM_REP, DUT_ID, OWN_ID);
    mad(false, CM_REJ, OWN_ID, DUT_ID);
    read_evidence();
    ck_assert_int_eq(make_cm(3, "REP"), 0);
    ck_assert_ptr_nonnull(strstr(text, "sends(\"01070203R0800I998877660010R0600I11223344R1c00Q0a0b0c"));
    ck_assert_ptr_nonnull(strstr(text, "O\");"));
    ck_assert_ptr_nonnull(strstr(text, "comes(\"01070203R0800I998877660013R0600R04..I11223344*\", 0);"));
    ck_assert_ptr_null(strstr(text, "0012"));
}
END_TEST

START_TEST(no_answer_of_a_cm_is_none_to_this_exchange)
{
    mad(false, CM_REQ, OWN_ID, 0);
    mad(false, CM_REQ, OWN_ID, 0);
    read_evidence();
    ck_assert_int_eq(make_cm(2, "no answer to 2 REQs"), 0);
    ck_assert_ptr_nonnull(strstr(text, "comes(\"!R1c..I11223344*\", 0);"));
    ck_assert_ptr_null(strstr(strstr(text, "sends(\"0") + 1, "sends(\"0")); /* once */
}
END_TEST

START_TEST(what_a_cm_chose_is_learnt_where_the_tester_sends_it)
{
    mad(false, CM_REQ, OWN_ID, 0);
    mad(true, CM_REP, DUT_ID, OWN_ID);
    mad(false, CM_RTU, OWN_ID, DUT_ID);
    mad(true, CM_REJ, DUT_ID, OWN_ID);
    read_evidence();
    ck_assert_int_eq(make_cm(4, "REJ with reason 0"), 0);
    ck_assert_ptr_nonnull(strstr(text, "0013R0600A0I11223344*\", 2);"));
    ck_assert_ptr_nonnull(strstr(text, "0014R0600I11223344A0\");"));
}
END_TEST

START_TEST(a_cm_that_sent_nothing_of_it_is_refused)
{
    mad(false, CM_REQ, OWN_ID, 0);
    read_evidence();
    ck_assert_int_eq(make_cm(1, "12"), 1);
    ck_assert_str_eq(error.text, "what failed (\"12\") is no MAD of the device");
    ck_assert_int_eq(make_cm(0, "no answer"), 1);
    ck_assert_str_eq(error.text, "the result names no MAD of the check");
}
END_TEST

START_TEST(evidence_that_is_torn_anywhere_is_read_up_to_there)
{
    uint8_t fpdu[64];
    size_t count = write_fpdu(fpdu, sizeof(fpdu)), most = 0;

    (void)pcapng_note(writer, NOTE_REG);
    start_up();
    segment(false, TCP_FLAG_ACK, fpdu, count);
    read_evidence();
    for (size_t cut = 8; cut <= size; cut++) {
        struct repro_evidence part;
        uint8_t *copy = malloc(cut);

        memcpy(copy, octets, cut);
        if (repro_evidence_read(&part, "X", copy, cut, &error) == 0) {
            ck_assert_uint_ge(part.count, most);
            most = part.count;
        }
        repro_evidence_free(&part);
        free(copy);
    }
    ck_assert_uint_eq(most, evidence.count);
    ck_assert_int_eq(repro_evidence_read(&(struct repro_evidence){0}, "X", (const uint8_t *)"no pcapng", 9, &error),
                     -1);
}
END_TEST

Suite *reproducer_suite(void)
{
    Suite *suite = suite_create("reproducer");
    TCase *tests = tcase_create("reproducer");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, commands_and_segments_are_read_back_in_their_order);
    tcase_add_test(tests, octets_with_an_stag_of_the_device_are_computed);
    tcase_add_test(tests, octets_that_nobody_chose_later_stand_as_they_were_sent);
    tcase_add_test(tests, the_pause_after_the_reply_is_kept);
    tcase_add_test(tests, an_fpdu_that_is_cut_within_an_stag_of_the_device_is_refused);
    tcase_add_test(tests, segments_that_no_socket_sends_are_refused);
    tcase_add_test(tests, what_the_upper_tester_said_is_refused);
    tcase_add_test(tests, a_rep_where_a_rej_was_due_is_waited_for_with_numbers_of_this_run);
    tcase_add_test(tests, no_answer_of_a_cm_is_none_to_this_exchange);
    tcase_add_test(tests, what_a_cm_chose_is_learnt_where_the_tester_sends_it);
    tcase_add_test(tests, a_cm_that_sent_nothing_of_it_is_refused);
    tcase_add_test(tests, evidence_that_is_torn_anywhere_is_read_up_to_there);
    suite_add_tcase(suite, tests);
    return suite;
}
