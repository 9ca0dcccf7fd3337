/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a receiver's SCTP does not take is no part of the association (RFC 9260 3.2, 5.2, 6.2, 6.8, 8.5): it changes
 * nothing of what is reported, and is unjudged. Where a chunk comes twice with different contents, nobody knows which
 * one counts. What one side acknowledges, the other has sent.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/event/flow.h"
#include "generator/packet/packet.h"
#include "tests/unit/sctp_log.h"
#include "tests/unit/suites.h"
#include "base/octets.h"

Suite *flow_sctp_evade_suite(void);

enum { IP = 20, SCTP = IP, CHUNK = SCTP + SCTP_COMMON_OCTETS, USER = CHUNK + SCTP_DATA_OCTETS };
enum { INITIATE = 4, SEND = 6, SECOND = 7, LAST = 10 }; /* frames of sctp_log_session() after sctp_talk_open() */

static uint64_t octets_in(enum flow_row row)
{
    return sctp_log.totals.account.row[row].octets;
}

static void set_checksum(size_t frame)
{
    uint8_t *packet = sctp_log.octets[frame] + SCTP;

    sctp_common_set_Checksum(packet, sctp_checksum(packet, sctp_log.count[frame] - SCTP));
}

/* A copy of a frame, in front of it or after it. */
static size_t copy_frame(size_t from, size_t to)
{
    memmove(sctp_log.octets[to + 1], sctp_log.octets[to], (sctp_log.frames - to) * sizeof(sctp_log.octets[0]));
    memmove(sctp_log.count + to + 1, sctp_log.count + to, (sctp_log.frames - to) * sizeof(sctp_log.count[0]));
    from += from >= to;
    memcpy(sctp_log.octets[to], sctp_log.octets[from], sizeof(sctp_log.octets[0]));
    sctp_log.count[to] = sctp_log.count[from];
    sctp_log.frames++;
    return to;
}

static void keep_session(void)
{
    struct sctp_talk talk;

    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_log_session(&talk);
}

/* What is reported of sessions, without the lines of the association itself. */
static const char *sessions(void)
{
    static char kept[sizeof(sctp_log.log)];
    char *to = kept;

    *to = '\0';
    for (const char *line = sctp_log.log; *line != '\0'; line = strchr(line, '\n') + 1)
        if (line[0] != '*')
            to += sprintf(to, "%.*s", (int)(strchr(line, '\n') + 1 - line), line);
    return kept;
}

/* ---- packets that no receiver takes ------------------------------------------------------------------------------ */

static void other_tag(size_t frame)
{
    sctp_common_set_VerificationTag(sctp_log.octets[frame] + SCTP, 0x12345678);
    set_checksum(frame);
}

static void no_tag(size_t frame)
{
    sctp_common_set_VerificationTag(sctp_log.octets[frame] + SCTP, 0);
    set_checksum(frame);
}

static void no_checksum(size_t frame)
{
    memset(sctp_log.octets[frame] + SCTP + SCTP_CHECKSUM_AT, 0, 4);
}

static void bad_checksum(size_t frame)
{
    sctp_log.octets[frame][SCTP + SCTP_CHECKSUM_AT] ^= 1;
}

static void adler(size_t frame)
{
    uint8_t *packet = sctp_log.octets[frame] + SCTP;

    sctp_common_set_Checksum(packet, sctp_adler32(packet, sctp_log.count[frame] - SCTP));
}

static void other_source(size_t frame)
{
    sctp_log.octets[frame][12 + 3] = 99;
}

static void other_destination(size_t frame)
{
    sctp_log.octets[frame][16 + 3] = 99;
}

/* A chunk in front of the frame's own. */
static void put_chunk(size_t frame, uint8_t type, size_t octets)
{
    uint8_t *chunk = sctp_log.octets[frame] + CHUNK;

    memmove(chunk + octets, chunk, sctp_log.count[frame] - CHUNK);
    memset(chunk, 0, octets);
    chunk[0] = type;
    octets_put16(chunk + 2, (uint16_t)octets);
    sctp_log.count[frame] += octets;
    octets_put16(sctp_log.octets[frame] + 2, (uint16_t)sctp_log.count[frame]);
    set_checksum(frame);
}

static void unknown_chunk(size_t frame)
{
    put_chunk(frame, 0x35, 8);
}

static void unknown_chunk_reported(size_t frame)
{
    put_chunk(frame, 0x75, 4);
}

static void bundled_init(size_t frame)
{
    put_chunk(frame, SCTP_INIT, 20);
    sctp_common_set_VerificationTag(sctp_log.octets[frame] + SCTP, 0);
    set_checksum(frame);
}

static void cookie_and_init(size_t frame)
{
    put_chunk(frame, SCTP_INIT, 20);
    put_chunk(frame, SCTP_HEARTBEAT, 4);
}

/* A DATA chunk without an octet of user data. */
static void empty(size_t frame)
{
    sctp_log.count[frame] = USER;
    octets_put16(sctp_log.octets[frame] + 2, USER);
    octets_put16(sctp_log.octets[frame] + CHUNK + 2, SCTP_DATA_OCTETS);
    set_checksum(frame);
}

static void far_ahead(size_t frame)
{
    uint8_t *tsn = sctp_log.octets[frame] + CHUNK + 4;

    octets_put32(tsn, octets_get32(tsn) + 0x10000000);
    set_checksum(frame);
}

static const struct {
    const char *name;
    void (*change)(size_t frame);
    enum flow_row row; /* of the user data */
} decoys[] = {
    {"another tag", other_tag, FLOW_ROW_SCTP_STRANGER},
    {"no tag", no_tag, FLOW_ROW_SCTP_STRANGER},
    {"a checksum of zero", no_checksum, FLOW_ROW_SCTP_CHECKSUM},
    {"a wrong checksum", bad_checksum, FLOW_ROW_SCTP_CHECKSUM},
    {"Adler-32", adler, FLOW_ROW_SCTP_CHECKSUM},
    {"another source", other_source, FLOW_ROW_SCTP_STRANGER},
    {"another destination", other_destination, FLOW_ROW_SCTP_STRANGER},
    {"after a chunk of an unknown type", unknown_chunk, FLOW_ROW_SCTP_STOPPED},
    {"the same, to be reported", unknown_chunk_reported, FLOW_ROW_SCTP_STOPPED},
    {"after an INIT", bundled_init, FLOW_ROW_SCTP_STOPPED},
    {"after an INIT that is not the first chunk", cookie_and_init, FLOW_ROW_SCTP_STOPPED},
    {"far ahead", far_ahead, FLOW_ROW_SCTP_AHEAD},
};

/* The receiver drops the copy with other contents: the sessions are as without it, and the copy is unjudged. */
static void try_decoy(size_t before, void (*change)(size_t frame), enum flow_row row)
{
    size_t decoy;

    keep_session();
    decoy = copy_frame(before, before);
    memset(sctp_log.octets[decoy] + USER + 2, 0xEE, sctp_log.count[decoy] - USER - 2);
    set_checksum(decoy);
    change(decoy);
    sctp_log_decode(NULL, sctp_log.frames);
    ck_assert_str_eq(sessions(), SCTP_LOG_OF_SESSION);
    ck_assert(flow_totals_balanced(&sctp_log.totals));
    if (row == FLOW_ROW_HEADERS)
        return;
    ck_assert_uint_ne(octets_in(row), 0);
    ck_assert(!flow_account_whole(&sctp_log.totals.account));
}

/* Loop: the decoy, in front of each frame with DATA. */
START_TEST(decoy_before_any_frame_changes_nothing)
{
    for (size_t before = INITIATE; before <= LAST; before++)
        try_decoy(before, decoys[_i].change, decoys[_i].row);
}
END_TEST

/* An empty DATA chunk has nothing to judge, and does not take the TSN of the one that follows. */
START_TEST(empty_data_chunk_takes_no_tsn)
{
    for (size_t before = INITIATE; before <= LAST; before++)
        try_decoy(before, empty, FLOW_ROW_HEADERS);
}
END_TEST

/* A stranger's chunks, whatever they are, neither begin nor end nor acknowledge anything. */
START_TEST(chunks_of_a_stranger_change_nothing)
{
    static const uint8_t types[] = {SCTP_ABORT, SCTP_SHUTDOWN_COMPLETE, SCTP_SACK, SCTP_COOKIE_ECHO, SCTP_ASCONF};

    for (size_t i = 0; i < sizeof(types); i++) {
        size_t decoy;

        keep_session();
        decoy = copy_frame(SEND, SEND);
        sctp_log.count[decoy] = CHUNK;
        put_chunk(decoy, types[i], 16);
        if (types[i] == SCTP_SACK)
            octets_put32(sctp_log.octets[decoy] + CHUNK + 4, 0x7654321);
        other_tag(decoy);
        sctp_log_decode(NULL, sctp_log.frames);
        ck_assert_str_eq(sessions(), SCTP_LOG_OF_SESSION);
        ck_assert_uint_eq(sctp_log.totals.flows, 2);
        ck_assert(flow_account_whole(&sctp_log.totals.account));
    }
}
END_TEST

/* ---- INITs ------------------------------------------------------------------------------------------------------- */

/*
 * An INIT without an answer, and one without a COOKIE ECHO after its INIT ACK: the association stays. Loop:
 * which.
 */
START_TEST(unanswered_init_leaves_the_association)
{
    size_t decoy;

    keep_session();
    decoy = copy_frame(0, SEND);
    octets_put32(sctp_log.octets[decoy] + CHUNK + 4, 0x5555);
    set_checksum(decoy);
    if (_i == 1) {
        decoy = copy_frame(1, SEND + 1);
        octets_put32(sctp_log.octets[decoy] + CHUNK + 4, 0x6666);
        sctp_common_set_VerificationTag(sctp_log.octets[decoy] + SCTP, 0x5555);
        set_checksum(decoy);
    }
    sctp_log_decode(NULL, sctp_log.frames);
    ck_assert_str_eq(sessions(), SCTP_LOG_OF_SESSION);
    ck_assert_uint_eq(sctp_log.totals.flows, 2);
    ck_assert(flow_account_whole(&sctp_log.totals.account));
}
END_TEST

/*
 * The server answers each copy of an INIT with a tag and a TSN of its own; the COOKIE ECHO decides which one counts.
 * Loop: which.
 */
START_TEST(two_init_acks)
{
    size_t other;

    keep_session();
    (void)copy_frame(0, 1);
    other = copy_frame(2, _i == 0 ? 2 : 3);
    octets_put32(sctp_log.octets[other] + CHUNK + 4, 0x7777);
    octets_put32(sctp_log.octets[other] + CHUNK + 16, 0x8888);
    set_checksum(other);
    sctp_log_decode(NULL, sctp_log.frames);
    ck_assert_str_eq(sessions(), SCTP_LOG_OF_SESSION);
    ck_assert_uint_eq(sctp_log.totals.flows, 2);
    ck_assert(flow_account_whole(&sctp_log.totals.account));
}
END_TEST

/* The same tags and TSNs after the end: another association, whose contents are judged. */
START_TEST(same_numbers_again)
{
    struct sctp_talk talk;
    char twice[2 * sizeof(SCTP_LOG_OF_SESSION)];

    sctp_log_begin(&talk, false);
    for (unsigned i = 0; i < 2; i++) {
        sctp_talk_begin(&talk, false, sctp_log_keep, NULL);
        sctp_talk_open(&talk, 1, 1);
        sctp_log_session(&talk);
        sctp_talk_shutdown(&talk);
    }
    sctp_log_decode(NULL, sctp_log.frames);
    snprintf(twice, sizeof(twice), "%s%s", SCTP_LOG_OF_SESSION, SCTP_LOG_OF_SESSION);
    ck_assert_str_eq(sctp_log.log, twice);
    ck_assert(flow_account_whole(&sctp_log.totals.account));
}
END_TEST

/* Addresses that the INIT (ACK) lists are the association's. */
START_TEST(listed_addresses_are_of_the_association)
{
    static const uint8_t second[2][4] = {{10, 0, 99, 1}, {10, 0, 99, 2}};
    struct sctp_talk talk;
    struct sctp_init init[2];

    sctp_log_begin(&talk, false);
    for (unsigned i = 0; i < 2; i++) {
        init[i] = sctp_talk_init_of(&talk, i, 1);
        init[i].addresses = 1;
        init[i].address[0].family = 4;
        init[i].address[0].octets = second[i];
        sctp_talk_init(&talk, i, &init[i]);
    }
    sctp_talk_chunk(&talk, 0, SCTP_COOKIE_ECHO, NULL, 16);
    sctp_talk_chunk(&talk, 1, SCTP_COOKIE_ACK, NULL, 0);
    sctp_log_session(&talk);
    for (size_t i = 4; i < sctp_log.frames; i += 2)
        for (unsigned end = 0; end < 2; end++)
            memcpy(sctp_log.octets[i] + 12 + (size_t)end * 4, second[sctp_log.octets[i][12 + end * 4 + 3] - 1], 4);
    sctp_log_decode(NULL, sctp_log.frames);
    ck_assert_str_eq(sctp_log.log, SCTP_LOG_OF_SESSION);
    ck_assert(flow_account_whole(&sctp_log.totals.account));
}
END_TEST

/* ---- copies ------------------------------------------------------------------------------------------------------ */

/*
 * Loop: the octet of the chunk that differs, also after the header. The first copy counts, and the second is in
 * conflict with it.
 */
START_TEST(copies_that_differ)
{
    size_t again;

    keep_session();
    again = copy_frame(SECOND, SECOND + 1);
    if ((size_t)_i >= sctp_log.count[again])
        return;
    sctp_log.octets[again][_i] ^= 0x20;
    set_checksum(again);
    sctp_log_decode(NULL, sctp_log.frames);
    ck_assert_str_eq(sessions(), SCTP_LOG_OF_SESSION);
    ck_assert_uint_ne(octets_in(FLOW_ROW_CONFLICT), 0);
    ck_assert_ptr_nonnull(strstr(sctp_log.log, "different contents"));
}
END_TEST

/* The same copy, and one that asks for a SACK at once (RFC 7053): sent again, and judged. */
START_TEST(copies_that_do_not)
{
    size_t again;

    keep_session();
    again = copy_frame(SECOND, SECOND + 1);
    if (_i == 1) {
        sctp_log.octets[again][CHUNK + 1] |= SCTP_FLAG_I;
        set_checksum(again);
    }
    sctp_log_decode(NULL, sctp_log.frames);
    ck_assert_str_eq(sessions(), SCTP_LOG_OF_SESSION);
    ck_assert_uint_ne(octets_in(FLOW_ROW_AGAIN), 0);
    ck_assert(flow_account_whole(&sctp_log.totals.account));
}
END_TEST

/* ---- witnesses --------------------------------------------------------------------------------------------------- */

/*
 * One direction alone: what its SACKs acknowledge was sent, and was not captured. Loop: from which frame on the capture
 * is.
 */
START_TEST(acknowledged_by_the_other)
{
    struct sctp_talk talk;
    size_t order[FRAMES], count = 0;

    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_log_session(&talk);
    sctp_talk_sack(&talk, 1);
    for (size_t i = (size_t)_i; i < sctp_log.frames; i++)
        if (octets_get16(sctp_log.octets[i] + SCTP) == 4421)
            order[count++] = i;
    sctp_log_decode(order, count);
    ck_assert_uint_gt(count, 0);
    ck_assert(!flow_account_whole(&sctp_log.totals.account));
    if (_i < LAST)
        ck_assert_uint_gt(sctp_log.totals.account.row[FLOW_ROW_GAP].items, 0);
}
END_TEST

/* A Gap Ack Block acknowledges chunks after the last one captured. */
START_TEST(gap_ack_block_acknowledges_lost_chunks)
{
    struct sctp_talk talk;
    uint8_t value[16];

    keep_session();
    sctp_log_begin(&talk, false);
    sctp_talk_open(&talk, 1, 1);
    sctp_log_session(&talk);
    octets_put32(value, talk.tsn[0] - 1);
    octets_put32(value + 4, 65536);
    octets_put16(value + 8, 1);
    octets_put16(value + 10, 0);
    octets_put16(value + 12, 2);
    octets_put16(value + 14, 5);
    sctp_talk_chunk(&talk, 1, SCTP_SACK, value, sizeof(value));
    sctp_log_decode(NULL, sctp_log.frames);
    ck_assert_uint_eq(sctp_log.totals.account.row[FLOW_ROW_GAP].items, 5);
}
END_TEST

/* A DDP PPID in the wrong order of octets, in a capture that begins late, is not another protocol's. */
START_TEST(byte_swapped_ppid_is_not_foreign)
{
    struct sctp_talk talk;

    sctp_log_begin(&talk, false);
    talk.ppid = _i == 0 ? 0x10000000 : 46;
    sctp_talk_send(&talk, 0, 1, 20);
    sctp_log_decode(NULL, sctp_log.frames);
    ck_assert_int_eq(flow_account_whole(&sctp_log.totals.account), _i == 1);
}
END_TEST

Suite *flow_sctp_evade_suite(void)
{
    Suite *suite = suite_create("flow_sctp_evade");
    TCase *tests = tcase_create("evasions");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, decoy_before_any_frame_changes_nothing, 0, (int)(sizeof(decoys) / sizeof(decoys[0])));
    tcase_add_test(tests, empty_data_chunk_takes_no_tsn);
    tcase_add_test(tests, chunks_of_a_stranger_change_nothing);
    tcase_add_loop_test(tests, unanswered_init_leaves_the_association, 0, 2);
    tcase_add_loop_test(tests, two_init_acks, 0, 2);
    tcase_add_test(tests, same_numbers_again);
    tcase_add_test(tests, listed_addresses_are_of_the_association);
    tcase_add_loop_test(tests, copies_that_differ, USER, USER + 40);
    tcase_add_loop_test(tests, copies_that_do_not, 0, 2);
    tcase_add_loop_test(tests, acknowledged_by_the_other, 0, 2);
    tcase_add_test(tests, gap_ack_block_acknowledges_lost_chunks);
    tcase_add_loop_test(tests, byte_swapped_ppid_is_not_foreign, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}
