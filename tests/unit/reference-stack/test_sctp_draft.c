/* SPDX-License-Identifier: BSD-2-Clause */
/* DDP streams of draft-stewart-rddp-sctp-02: no sessions, aborted streams, Stream Resets, versions. */
#include <check.h>
#include <string.h>

#include "tests/unit/sctp_pair.h"
#include "tests/unit/suites.h"
#include "wire/ddp.h"
#include "base/octets.h"
#include "wire/ddp_sctp.h"

Suite *sctp_draft_suite(void);

static const uint8_t reset[] = {0, 0, 0, DDP_SCTP_STREAM_RESET};

static struct sctp_pair *open_pair(void)
{
    struct sctp_pair *pair = sctp_pair_new(IWARP_SCTP_DRAFT02);

    sctp_pair_open(pair);
    return pair;
}

/* Each indication against each (7.1). */
START_TEST(indications_decide_the_mode)
{
    static const struct {
        uint32_t own, peer;
        bool has;
        enum iwarp_sctp_mode draft, rfc;
    } rows[] = {
        {1, 1, true, IWARP_SCTP_DDP, IWARP_SCTP_RDMA},
        {1, 2, true, IWARP_SCTP_DDP, IWARP_SCTP_NOTHING},
        {2, 1, true, IWARP_SCTP_DDP, IWARP_SCTP_NOTHING},
        {2, 2, true, IWARP_SCTP_RDMA, IWARP_SCTP_NOTHING},
        {1, 1, false, IWARP_SCTP_NOTHING, IWARP_SCTP_NOTHING},
        {2, 2, false, IWARP_SCTP_NOTHING, IWARP_SCTP_NOTHING},
        {1, 0, true, IWARP_SCTP_NOTHING, IWARP_SCTP_NOTHING},
        {2, 3, true, IWARP_SCTP_NOTHING, IWARP_SCTP_NOTHING},
        {2, 0x102, true, IWARP_SCTP_NOTHING, IWARP_SCTP_NOTHING},
        {1, 0x01000000, true, IWARP_SCTP_NOTHING, IWARP_SCTP_NOTHING},
        {1, UINT32_MAX, true, IWARP_SCTP_NOTHING, IWARP_SCTP_NOTHING},
    };
    struct iwarp_association_config config;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        iwarp_association_config_default(&config, IWARP_SCTP_DRAFT02);
        config.indication = rows[i].own;
        ck_assert_int_eq(iwarp_sctp_mode(&config, rows[i].has, rows[i].peer), rows[i].draft);
        iwarp_association_config_default(&config, IWARP_SCTP_RFC5043);
        config.indication = rows[i].own;
        ck_assert_int_eq(iwarp_sctp_mode(&config, rows[i].has, rows[i].peer), rows[i].rfc);
        config.indicate = false;
        ck_assert_int_eq(iwarp_sctp_mode(&config, rows[i].has, rows[i].peer), IWARP_SCTP_NOTHING);
    }
}
END_TEST

/* The first segment may come on any SID, before the ULP has a stream for it (4). */
START_TEST(streams_need_no_session)
{
    uint8_t buffer[8] = {0};
    struct sctp_pair *pair = open_pair();
    struct iwarp_stream *stream;

    sctp_pair_feed_send(pair, SCTP_PASSIVE, 7, 1, 1, 8);
    ck_assert_uint_eq(sctp_pair_reported(pair, SCTP_PASSIVE, IWARP_ASSOCIATION_REQUEST), 1);
    stream = sctp_pair_stream(pair, SCTP_PASSIVE, 0, 7, NULL);
    (void)iwarp_stream_post_receive(stream, 1, buffer, 8, NULL); /* before the segment is taken */
    sctp_pair_run(pair);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 0, IWARP_EVENT_RECEIVE), 1);
    ck_assert_uint_eq(buffer[7], 1);
    sctp_pair_drop(pair, SCTP_PASSIVE, 0);

    sctp_pair_feed_send(pair, SCTP_PASSIVE, 6, 1, 1, 8);
    (void)sctp_pair_stream(pair, SCTP_PASSIVE, 0, 6, NULL);
    sctp_pair_run(pair);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 0, IWARP_EVENT_TERMINATE_SENT), 1); /* no receive (7.2) */
    sctp_pair_drop(pair, SCTP_PASSIVE, 0);

    stream = sctp_pair_stream(pair, SCTP_PASSIVE, 0, 8, NULL);
    (void)iwarp_stream_post_receive(stream, 1, buffer, 8, NULL);
    sctp_pair_feed_send(pair, SCTP_PASSIVE, 8, 1, 1, 8);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 0, IWARP_EVENT_RECEIVE), 1);
    sctp_pair_free(pair);
}
END_TEST

/* A stream that is aborted takes nothing before a Stream Reset, and then begins at 1 again; no other one is touched. */
static void abort_and_reset(uint8_t ppid, bool answer)
{
    static uint8_t octets[8] = {7, 7, 7, 7, 7, 7, 7, 7};
    uint8_t buffer[8] = {0};
    struct iwarp_write write = {.octets = octets, .count = 8, .stag = 0x666};
    struct iwarp_send send = {.octets = octets, .count = 8};
    struct sctp_pair *pair = sctp_pair_new(IWARP_SCTP_DRAFT02);
    struct iwarp_stream *passive;

    for (int side = 0; side < SCTP_SIDES; side++) {
        pair->side[side].config.draft_reset_ppid = ppid;
        pair->side[side].config.draft_reset_answer = answer;
    }
    sctp_pair_open(pair);
    sctp_pair_session(pair, 0, 1);
    sctp_pair_session(pair, 1, 2);
    (void)iwarp_stream_post_write(pair->side[SCTP_ACTIVE].ends[0].stream, &write, NULL);
    sctp_pair_run(pair);
    /* The RDMAP Terminate is the one last message. */
    ck_assert_uint_eq(sctp_pair_event(pair, SCTP_ACTIVE, 0, IWARP_EVENT_TERMINATE_RECEIVED)->triple,
                      TERM_DDP_INVALID_STAG);
    for (int side = 0; side < SCTP_SIDES; side++) {
        ck_assert_uint_eq(sctp_pair_count(pair, side, 0, IWARP_EVENT_CLOSED), 1);
        ck_assert_uint_eq(sctp_pair_count(pair, side, 1, IWARP_EVENT_CLOSED), 0);
    }
    passive = sctp_pair_stream(pair, SCTP_PASSIVE, 0, 1, NULL);
    (void)iwarp_stream_post_receive(passive, 1, buffer, 8, NULL);
    sctp_pair_feed_send(pair, SCTP_PASSIVE, 1, 2, 1, 8);
    sctp_pair_feed_send(pair, SCTP_PASSIVE, 1, 1, 1, 8);
    ck_assert_uint_eq(buffer[0], 0);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 0, IWARP_EVENT_ESTABLISHED), 0);
    (void)sctp_pair_stream(pair, SCTP_ACTIVE, 0, 1, NULL);
    sctp_pair_run(pair);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 0, IWARP_EVENT_ESTABLISHED), 1);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_ACTIVE, 0, IWARP_EVENT_ESTABLISHED), 1);
    (void)iwarp_stream_post_send(pair->side[SCTP_ACTIVE].ends[0].stream, &send, NULL);
    sctp_pair_run(pair);
    ck_assert_uint_eq(buffer[0], 7);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 0, IWARP_EVENT_ERROR), 0);
    sctp_pair_free(pair);
}

START_TEST(aborted_until_reset)
{
    for (int i = 0; i < 4; i++)
        abort_and_reset((uint8_t)(1 + i % 2), i / 2 != 0);
}
END_TEST

/* What was sent before is acknowledged before the Stream Reset goes: nothing protects old segments against new ones. */
START_TEST(stream_reset_waits_for_acknowledgment)
{
    static uint8_t octets[8];
    struct iwarp_send send = {.octets = octets, .count = 8};
    struct sctp_pair *pair = open_pair();
    struct iwarp_association *association = pair->side[SCTP_ACTIVE].association;
    struct iwarp_sctp_output output;

    (void)sctp_pair_stream(pair, SCTP_ACTIVE, 0, 1, NULL);
    (void)iwarp_stream_post_send(pair->side[SCTP_ACTIVE].ends[0].stream, &send, NULL);
    ck_assert_uint_ne(iwarp_association_output(association, &output), 0);
    iwarp_association_output_done(association, pair->now);
    iwarp_stream_disconnect(pair->side[SCTP_ACTIVE].ends[0].stream, pair->now);
    ck_assert_uint_eq(iwarp_association_output(association, &output), 0);
    (void)sctp_pair_stream(pair, SCTP_ACTIVE, 0, 1, NULL);
    ck_assert_uint_eq(iwarp_association_output(association, &output), 0);
    iwarp_association_acked(association, 1, 1, pair->now);
    ck_assert_uint_eq(iwarp_association_output(association, &output), sizeof(reset));
    ck_assert_uint_eq(output.ppid, DDP_SCTP_PPID_DRAFT_CONTROL);
    ck_assert_mem_eq(output.spans[0].octets, reset, sizeof(reset));
    ck_assert(output.unordered);
    sctp_pair_free(pair);
}
END_TEST

/* The peer resets a stream that nothing is wrong with: it ends here, and a new one may begin. */
START_TEST(reset_of_an_open_stream)
{
    struct sctp_pair *pair = open_pair();

    sctp_pair_session(pair, 0, 1);
    sctp_pair_feed(pair, SCTP_PASSIVE, 1, DDP_SCTP_PPID_DRAFT_CONTROL, reset, sizeof(reset));
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 0, IWARP_EVENT_ERROR), 1);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 0, IWARP_EVENT_CLOSED), 1);
    ck_assert_uint_eq(sctp_pair_reported(pair, SCTP_PASSIVE, IWARP_ASSOCIATION_REQUEST), 1);
    (void)sctp_pair_stream(pair, SCTP_PASSIVE, 0, 1, NULL);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 0, IWARP_EVENT_ESTABLISHED), 0);
    (void)sctp_pair_step(pair);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 0, IWARP_EVENT_ESTABLISHED), 1);
    sctp_pair_free(pair);
}
END_TEST

/* DV and RV are 0 in the family that the draft belongs to (RFC 5044 C). */
START_TEST(draft_carries_versions_0)
{
    static uint8_t octets[8] = {3};
    uint8_t buffer[8] = {0};
    struct iwarp_send send = {.octets = octets, .count = 8};
    struct sctp_pair *pair = sctp_pair_new(IWARP_SCTP_DRAFT02);

    for (int side = 0; side < SCTP_SIDES; side++)
        pair->side[side].config.draft_version = 0;
    sctp_pair_open(pair);
    sctp_pair_session(pair, 0, 1);
    ck_assert_uint_eq(sctp_pair_event(pair, SCTP_ACTIVE, 0, IWARP_EVENT_ESTABLISHED)->version, 0);
    (void)iwarp_stream_post_receive(pair->side[SCTP_PASSIVE].ends[0].stream, 1, buffer, 8, NULL);
    (void)iwarp_stream_post_send(pair->side[SCTP_ACTIVE].ends[0].stream, &send, NULL);
    sctp_pair_run(pair);
    ck_assert_uint_eq(buffer[0], 3);
    /* One of version 1 is an error there. */
    sctp_pair_feed_send(pair, SCTP_PASSIVE, 1, 2, 2, 8);
    ck_assert_uint_eq(sctp_pair_event(pair, SCTP_PASSIVE, 0, IWARP_EVENT_ERROR)->triple, TERM_DDP_UNTAGGED_VERSION);
    sctp_pair_free(pair);
}
END_TEST

/*
 * Without RDMAP on both sides DDP places and delivers, whatever the ULP's bits say; what is RDMAP's is refused (7.1).
 */
START_TEST(ddp_without_rdmap_places_and_delivers)
{
    static uint8_t buffer[8], memory[64];
    struct iwarp_region region = {.length = sizeof(memory), .octets = memory, .access = IWARP_REMOTE_WRITE};
    struct sctp_pair *pair = sctp_pair_new(IWARP_SCTP_DRAFT02);
    struct iwarp_stream *active, *passive;
    struct iwarp_write write = {.octets = (const uint8_t *)"placed", .count = 6};
    struct iwarp_send send = {.octets = (const uint8_t *)"sent", .count = 4};
    struct iwarp_read read = {0};
    struct iwarp_sentence sentence = {""};
    uint8_t bits[22] = {0, 2, 0x41, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 'o', 'n'};

    pair->side[SCTP_ACTIVE].config.indication = DDP_SCTP_INDICATION_DDP;
    sctp_pair_open(pair);
    passive = sctp_pair_stream(pair, SCTP_PASSIVE, 0, 1, NULL);
    active = sctp_pair_stream(pair, SCTP_ACTIVE, 0, 1, NULL);
    ck_assert_int_eq(iwarp_region_register(pair->side[SCTP_PASSIVE].device, &region, &sentence), 0);
    for (uint64_t i = 0; i < 2; i++)
        (void)iwarp_stream_post_receive(passive, i, buffer + 4 * i, 4, NULL);
    write.stag = region.stag;
    ck_assert_int_eq(iwarp_stream_post_write(active, &write, NULL), 0);
    ck_assert_int_eq(iwarp_stream_post_send(active, &send, NULL), 0);
    ck_assert_int_ne(iwarp_stream_post_read(active, &read, &sentence), 0);
    ck_assert_str_eq(sentence.text, "stream: the association is for DDP without RDMAP: it has Sends and Writes alone");
    ck_assert_int_ne(iwarp_stream_terminate(active, TERM_RDMAP_CATASTROPHIC, pair->now, NULL), 0);
    sctp_pair_run(pair);
    ck_assert_mem_eq(memory, "placed", 6);
    ck_assert_mem_eq(buffer, "sent", 4);
    /* Bits that are no opcode and no version of RDMAP. */
    bits[1] = 3;
    sctp_pair_feed(pair, SCTP_PASSIVE, 1, DDP_SCTP_PPID_DRAFT_SEGMENT, bits, sizeof(bits));
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 0, IWARP_EVENT_RECEIVE), 2);
    ck_assert_mem_eq(buffer + 4, "on", 2);
    /* An error: there is no Terminate to tell of it. */
    bits[1] = 4;
    bits[11] = 7; /* QN */
    sctp_pair_feed(pair, SCTP_PASSIVE, 1, DDP_SCTP_PPID_DRAFT_SEGMENT, bits, sizeof(bits));
    sctp_pair_run(pair);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 0, IWARP_EVENT_ERROR), 1);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 0, IWARP_EVENT_TERMINATE_SENT), 0);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_ACTIVE, 0, IWARP_EVENT_TERMINATE_RECEIVED), 0);
    sctp_pair_free(pair);
}
END_TEST

Suite *sctp_draft_suite(void)
{
    Suite *suite = suite_create("sctp_draft");
    TCase *tcase = tcase_create("draft02");

    tcase_add_test(tcase, indications_decide_the_mode);
    tcase_add_test(tcase, streams_need_no_session);
    tcase_add_test(tcase, aborted_until_reset);
    tcase_add_test(tcase, stream_reset_waits_for_acknowledgment);
    tcase_add_test(tcase, reset_of_an_open_stream);
    tcase_add_test(tcase, draft_carries_versions_0);
    tcase_add_test(tcase, ddp_without_rdmap_places_and_delivers);
    suite_add_tcase(suite, tcase);
    return suite;
}
