/* SPDX-License-Identifier: BSD-2-Clause */
/* What peers must not do over SCTP, entry by entry of the validation table; and peers who want to do harm. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/validation/validation.h"
#include "tests/unit/sctp_pair.h"
#include "tests/unit/suites.h"
#include "base/octets.h"

Suite *sctp_validation_suite(void);

enum { SID = 3, OTHER = 4 };

static struct sctp_pair *open_pair(enum iwarp_sctp_profile profile)
{
    struct sctp_pair *pair = sctp_pair_new(profile);

    sctp_pair_open(pair);
    return pair;
}

/* --- Each entry -------------------------------------------------------------------------------------------------- */

/* A message to a session that is open, at the passive side; DDP-SSN 1 is due. */
static void feed_open(struct sctp_pair *pair, uint32_t ppid, const char *octets, size_t count)
{
    sctp_pair_feed(pair, SCTP_PASSIVE, SID, ppid, octets, count);
}

static void bad_ppid(struct sctp_pair *pair)
{
    feed_open(pair, 0, "\0\1\0\0", 4);
}

static void bad_header(struct sctp_pair *pair)
{
    feed_open(pair, DDP_SCTP_PPID_SEGMENT, "", 1);
}

static void after_terminate(struct sctp_pair *pair)
{
    sctp_pair_feed_control(pair, SCTP_PASSIVE, SID, 1, DDP_SCTP_TERMINATE, 0);
    sctp_pair_feed_send(pair, SCTP_PASSIVE, SID, 2, 1, 4);
}

static void bad_code(struct sctp_pair *pair)
{
    sctp_pair_feed_control(pair, SCTP_PASSIVE, SID, 1, 9, 0);
}

static void second_initiate(struct sctp_pair *pair)
{
    sctp_pair_feed_control(pair, SCTP_PASSIVE, SID, 1, DDP_SCTP_INITIATE, 0);
}

static void second_accept(struct sctp_pair *pair)
{
    sctp_pair_feed_control(pair, SCTP_PASSIVE, SID, 1, DDP_SCTP_ACCEPT, 0);
}

/* The passive side's messages to a session that has just been asked for: the active side is at fault or not. */
static void ask(struct sctp_pair *pair, bool enhanced)
{
    struct iwarp_stream_config config;

    sctp_pair_drop(pair, SCTP_PASSIVE, 0);
    iwarp_sctp_stream_config_default(&config, IWARP_INITIATOR);
    config.enhanced = enhanced;
    (void)sctp_pair_stream(pair, SCTP_PASSIVE, 0, SID + 8, &config);
    sctp_pair_run(pair);
}

static void plain_accept(struct sctp_pair *pair)
{
    ask(pair, true);
    sctp_pair_feed_control(pair, SCTP_PASSIVE, SID + 8, 0, DDP_SCTP_ACCEPT, 0);
}

static void word_missing(struct sctp_pair *pair)
{
    ask(pair, true);
    sctp_pair_feed_control(pair, SCTP_PASSIVE, SID + 8, 0, DDP_SCTP_ENHANCED_ACCEPT, 3);
}

static void enhanced_unknown(struct sctp_pair *pair)
{
    ask(pair, false);
    sctp_pair_feed_control(pair, SCTP_PASSIVE, SID + 8, 0, DDP_SCTP_ENHANCED_ACCEPT, 4);
}

static void private_long(struct sctp_pair *pair)
{
    ask(pair, false);
    sctp_pair_feed_control(pair, SCTP_PASSIVE, SID + 8, 0, DDP_SCTP_ACCEPT, 513);
}

static void segment_first(struct sctp_pair *pair)
{
    ask(pair, false);
    sctp_pair_feed_send(pair, SCTP_PASSIVE, SID + 8, 0, 1, 4);
}

static const struct {
    const char *entry;
    void (*feed)(struct sctp_pair *pair);
} stimuli[] = {
    {"message-ppid", bad_ppid},
    {"message-header", bad_header},
    {"session-over", after_terminate},
    {"session-code", bad_code},
    {"session-initiate", second_initiate},
    {"session-answer", second_accept},
    {"session-answer-kind", plain_accept},
    {"session-word", word_missing},
    {"session-enhanced", enhanced_unknown},
    {"session-private-data", private_long},
    {"session-segment", segment_first},
};

enum { STIMULI = sizeof(stimuli) / sizeof(stimuli[0]) };

/* The requirement is reported, one Terminate goes out, the stream ends; another one of the association goes on. */
START_TEST(sctp_stimulus_draws_its_requirement)
{
    const struct validation *entry = validation_find(stimuli[_i].entry, 0);
    static uint8_t octets[4];
    struct iwarp_send send = {.octets = octets, .count = 4};
    struct sctp_pair *pair = open_pair(IWARP_SCTP_RFC5043);
    const struct iwarp_event *event;
    uint8_t buffer[4];
    uint64_t sent;

    ck_assert_ptr_nonnull(entry);
    sctp_pair_session(pair, 0, SID);
    sctp_pair_session(pair, 1, OTHER);
    stimuli[_i].feed(pair);
    event = sctp_pair_event(pair, SCTP_PASSIVE, 0, IWARP_EVENT_ERROR);
    ck_assert_msg(event != NULL, "%s", entry->name);
    ck_assert_str_eq(event->requirement, entry->requirement);
    ck_assert(strstr(event->text, entry->name) != NULL);
    ck_assert_uint_eq(event->triple, WIRE_OK);
    sent = pair->side[SCTP_PASSIVE].sent;
    sctp_pair_run(pair);
    ck_assert_uint_eq(pair->side[SCTP_PASSIVE].sent - sent, 1);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 0, IWARP_EVENT_TERMINATE_SENT), 0);
    (void)iwarp_stream_post_receive(pair->side[SCTP_PASSIVE].ends[1].stream, 1, buffer, 4, NULL);
    (void)iwarp_stream_post_send(pair->side[SCTP_ACTIVE].ends[1].stream, &send, NULL);
    sctp_pair_run(pair);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 1, IWARP_EVENT_RECEIVE), 1);
    ck_assert_int_eq(iwarp_association_wants(pair->side[SCTP_PASSIVE].association), IWARP_ASSOCIATION_WANT_NOTHING);
    sctp_pair_free(pair);
}
END_TEST

START_TEST(resets_that_are_none)
{
    static const uint8_t messages[2][8] = {{0, 0, 0, 2}, {0, 0, 0, 1, 0, 0, 0, 0}};

    for (size_t i = 0; i < 2; i++) {
        struct sctp_pair *pair = open_pair(IWARP_SCTP_DRAFT02);

        sctp_pair_session(pair, 0, SID);
        sctp_pair_feed(pair, SCTP_PASSIVE, SID, DDP_SCTP_PPID_DRAFT_CONTROL, messages[i], i == 0 ? 4 : 8);
        ck_assert_str_eq(sctp_pair_event(pair, SCTP_PASSIVE, 0, IWARP_EVENT_ERROR)->requirement,
                         i == 0 ? "SCTP-2.2-03" : "SCTP-2.2-05");
        sctp_pair_run(pair);
        ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 0, IWARP_EVENT_CLOSED), 1);
        sctp_pair_free(pair);
    }
}
END_TEST

/* An association without DDP is aborted, or left to others; then nothing that comes is looked at (11.1, 7.1). */
START_TEST(association_without_ddp_is_aborted)
{
    static const struct iwarp_sctp_init peers[] = {
        {false, 0, 64, 64}, {true, 2, 64, 64}, {true, 0x01000000, 64, 64}, {true, 1, 0, 64}};

    for (size_t i = 0; i < 2 * sizeof(peers) / sizeof(peers[0]); i++) {
        struct sctp_pair *pair = sctp_pair_new(IWARP_SCTP_RFC5043);
        struct sctp_pair_side *side = &pair->side[SCTP_PASSIVE];
        bool refused = i % 2 == 0 || peers[i / 2].outbound == 0;
        struct iwarp_association_event event;
        struct iwarp_sctp_output output;

        side->config.any_indication = i % 2 != 0;
        side->association = iwarp_association_new(side->device, &side->config, 1, NULL);
        iwarp_association_up(side->association, &peers[i / 2], 1);
        ck_assert(iwarp_association_poll(side->association, &event));
        ck_assert_int_eq(event.kind, refused ? IWARP_ASSOCIATION_DOWN : IWARP_ASSOCIATION_UP);
        ck_assert_int_eq(iwarp_association_wants(side->association),
                         refused ? IWARP_ASSOCIATION_WANT_ABORT : IWARP_ASSOCIATION_WANT_NOTHING);
        sctp_pair_feed_control(pair, SCTP_PASSIVE, SID, 0, DDP_SCTP_INITIATE, 0);
        ck_assert_uint_eq(iwarp_association_output(side->association, &output), 0);
        ck_assert_uint_eq(iwarp_association_counters(side->association)->dropped, 1);
        sctp_pair_free(pair);
    }
}
END_TEST

/* Unequal numbers: the streams that both have in both directions (RFC 5043 8). */
START_TEST(unequal_stream_counts_use_the_common_ones)
{
    struct iwarp_sctp_init peer = {true, 1, 4, 10};
    struct sctp_pair *pair = sctp_pair_new(IWARP_SCTP_RFC5043);
    struct sctp_pair_side *side = &pair->side[SCTP_PASSIVE];
    struct iwarp_sctp_init own;

    side->association = iwarp_association_new(side->device, &side->config, 1, NULL);
    iwarp_association_init(side->association, &own);
    ck_assert_uint_eq(own.outbound, own.inbound);
    iwarp_association_up(side->association, &peer, 1);
    sctp_pair_feed_control(pair, SCTP_PASSIVE, 4, 0, DDP_SCTP_INITIATE, 0);
    ck_assert_uint_eq(iwarp_association_counters(side->association)->dropped, 1);
    sctp_pair_feed_control(pair, SCTP_PASSIVE, 3, 0, DDP_SCTP_INITIATE, 0);
    ck_assert_uint_eq(iwarp_association_counters(side->association)->pending, 1);
    sctp_pair_free(pair);
}
END_TEST

START_TEST(every_sctp_validation_has_a_stimulus)
{
    static const char *const elsewhere[] = {"association-indication", "association-streams", "reset-code",
                                            "reset-length"};

    for (size_t i = 0; i < validation_count; i++) {
        size_t found = validation_table[i].stage < VALIDATE_ASSOCIATION;

        for (size_t n = 0; n < STIMULI; n++)
            found += strcmp(stimuli[n].entry, validation_table[i].name) == 0;
        for (size_t n = 0; n < sizeof(elsewhere) / sizeof(elsewhere[0]); n++)
            found += strcmp(elsewhere[n], validation_table[i].name) == 0;
        ck_assert_msg(found == 1, "%s has no stimulus", validation_table[i].name);
    }
}
END_TEST

/* --- Harm -------------------------------------------------------------------------------------------------------- */

/*
 * An Initiate on each SID there can be, from a peer who acknowledges nothing; then DDP-SSNs far ahead on all of them.
 */
START_TEST(all_streams_at_once)
{
    const struct iwarp_association_counters *counters;
    struct iwarp_sctp_init peer = {true, 1, UINT16_MAX, UINT16_MAX};
    struct sctp_pair *pair = sctp_pair_new(IWARP_SCTP_RFC5043);
    struct sctp_pair_side *side = &pair->side[SCTP_PASSIVE];
    struct iwarp_sctp_output output;
    unsigned terminates = 0;

    side->config.streams = UINT16_MAX;
    side->config.held_max = 256 << 10;
    side->association = iwarp_association_new(side->device, &side->config, 1, NULL);
    iwarp_association_up(side->association, &peer, 1);
    counters = iwarp_association_counters(side->association);
    for (unsigned sid = 0; sid < UINT16_MAX; sid++)
        sctp_pair_feed_control(pair, SCTP_PASSIVE, (uint16_t)sid, 0, DDP_SCTP_INITIATE, sid % 513);
    ck_assert_uint_eq(counters->pending, 16);
    ck_assert_uint_eq(counters->refused, UINT16_MAX - 16);
    ck_assert_uint_le(counters->held_octets, side->config.held_max);
    for (; iwarp_association_output(side->association, &output) != 0; terminates++) {
        ck_assert(output.control);
        ck_assert_uint_eq(output.octets, DDP_SCTP_CONTROL_OCTETS);
        iwarp_association_output_done(side->association, 2);
    }
    ck_assert_uint_eq(terminates, UINT16_MAX - 16);
    for (unsigned sid = 0; sid < UINT16_MAX; sid++)
        for (unsigned ssn = 1; ssn < UINT16_MAX; ssn = ssn * 5 + 3)
            sctp_pair_feed_send(pair, SCTP_PASSIVE, (uint16_t)sid, (uint16_t)ssn, ssn, sid % 1000);
    ck_assert_uint_le(counters->held_octets_max, side->config.held_max);
    iwarp_association_dry(side->association, 3);
    while (iwarp_association_output(side->association, &output) != 0)
        iwarp_association_output_done(side->association, 3);
    iwarp_association_dry(side->association, 4);
    while (iwarp_association_output(side->association, &output) != 0)
        iwarp_association_output_done(side->association, 4);
    ck_assert_uint_le(counters->sessions, 16);
    ck_assert_uint_eq(counters->pending_most, 16);
    sctp_pair_free(pair);
}
END_TEST

/*
 * Messages that never come in order fill no more than their share, and cost their own session alone (SCTP5043-10-10).
 */
START_TEST(holes_are_bounded)
{
    enum { MESSAGES = 40 };
    const struct iwarp_association_counters *counters;
    uint64_t held = 0;
    struct sctp_pair *pair = sctp_pair_new(IWARP_SCTP_RFC5043);

    pair->side[SCTP_PASSIVE].config.held_max = 64 << 10;
    sctp_pair_open(pair);
    sctp_pair_session(pair, 0, SID);
    sctp_pair_session(pair, 1, OTHER);
    counters = iwarp_association_counters(pair->side[SCTP_PASSIVE].association);
    for (unsigned i = 0; i < MESSAGES; i++) {
        sctp_pair_feed_send(pair, SCTP_PASSIVE, SID, (uint16_t)(2 + i * 800), 2 + i, 900);
        if (counters->held > held)
            held = counters->held;
    }
    ck_assert_uint_le(counters->held_octets_max, 64 << 10);
    ck_assert_str_eq(sctp_pair_event(pair, SCTP_PASSIVE, 0, IWARP_EVENT_ERROR)->requirement, "SCTP5043-10-10");
    ck_assert_uint_eq(counters->dropped + held, MESSAGES); /* that for which there was no room, and all after it */
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 1, IWARP_EVENT_ERROR), 0);
    sctp_pair_run(pair);
    sctp_pair_free(pair);
}
END_TEST

/* User messages of each length from nothing on, on each PPID, in each state: nothing is read past the end. */
START_TEST(user_messages_of_any_length_are_safe)
{
    static const uint32_t ppids[] = {0, 1, 2, 16, 17, 0x10000000};
    static uint8_t octets[70000];

    for (int i = 0; i < 4; i++) {
        struct sctp_pair *pair = open_pair(i % 2 == 0 ? IWARP_SCTP_RFC5043 : IWARP_SCTP_DRAFT02);

        if (i >= 2)
            sctp_pair_session(pair, 0, SID);
        for (size_t count = 0; count < sizeof(octets); count = count < 40 ? count + 1 : count * 3)
            for (size_t p = 0; p < sizeof(ppids) / sizeof(ppids[0]); p++) {
                sctp_pair_feed(pair, SCTP_PASSIVE, SID, ppids[p], octets, count);
                sctp_pair_feed(pair, SCTP_PASSIVE, (uint16_t)(10 + p), ppids[p], octets, count);
            }
        sctp_pair_run(pair);
        sctp_pair_free(pair);
    }
}
END_TEST

/*
 * The association goes: each stream's ULP receives the event, and no message is sent because of it (SCTP5043-11.3-02,
 * -03).
 */
static void end_association(bool own)
{
    struct sctp_pair *pair = open_pair(IWARP_SCTP_RFC5043);
    struct sctp_pair_side *side = &pair->side[SCTP_PASSIVE];
    struct iwarp_sctp_output output;

    for (unsigned n = 0; n < SCTP_STREAMS; n++)
        sctp_pair_session(pair, n, (uint16_t)n);
    if (own)
        iwarp_association_abort(side->association, pair->now);
    else
        iwarp_association_lost(side->association, pair->now);
    ck_assert_uint_eq(iwarp_association_output(side->association, &output), 0);
    ck_assert_int_eq(iwarp_association_wants(side->association),
                     own ? IWARP_ASSOCIATION_WANT_ABORT : IWARP_ASSOCIATION_WANT_NOTHING);
    (void)sctp_pair_step(pair);
    for (unsigned n = 0; n < SCTP_STREAMS; n++) {
        ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, n, IWARP_EVENT_CLOSED), 1);
        ck_assert_int_eq(iwarp_sctp_stream_sid(side->ends[n].stream), -1);
    }
    ck_assert_uint_eq(sctp_pair_reported(pair, SCTP_PASSIVE, IWARP_ASSOCIATION_DOWN), 1);
    sctp_pair_free(pair);
}

START_TEST(association_ends_its_streams)
{
    struct sctp_pair *pair;

    end_association(true);
    end_association(false);
    pair = open_pair(IWARP_SCTP_RFC5043);
    sctp_pair_session(pair, 0, SID);
    for (int side = 0; side < SCTP_SIDES; side++)
        iwarp_association_close(pair->side[side].association, pair->now);
    ck_assert_int_eq(iwarp_association_wants(pair->side[0].association), IWARP_ASSOCIATION_WANT_NOTHING);
    sctp_pair_run(pair);
    for (int side = 0; side < SCTP_SIDES; side++)
        ck_assert_int_eq(iwarp_association_wants(pair->side[side].association), IWARP_ASSOCIATION_WANT_SHUTDOWN);
    sctp_pair_free(pair);
}
END_TEST

/* A peer that never says its last word: the linger limit ends the session here. */
START_TEST(linger_limit_ends_a_silent_session)
{
    struct sctp_pair *pair = open_pair(IWARP_SCTP_RFC5043);
    struct iwarp_association *association = pair->side[SCTP_ACTIVE].association;
    uint64_t due;

    sctp_pair_session(pair, 0, SID);
    iwarp_stream_disconnect(pair->side[SCTP_ACTIVE].ends[0].stream, pair->now);
    sctp_pair_run(pair);
    due = iwarp_association_deadline(association);
    ck_assert_uint_ne(due, UINT64_MAX);
    iwarp_association_tick(association, due);
    (void)sctp_pair_step(pair);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_ACTIVE, 0, IWARP_EVENT_CLOSED), 1);
    ck_assert_uint_eq(iwarp_association_deadline(association), UINT64_MAX);
    /* The peer has not ended its side, so this SID is not asked for again (6.6); the peer may begin anew. */
    ck_assert_int_ne(iwarp_association_free_sid(association), SID);
    sctp_pair_feed_control(pair, SCTP_ACTIVE, SID, 0, DDP_SCTP_INITIATE, 0);
    ck_assert_uint_eq(sctp_pair_reported(pair, SCTP_ACTIVE, IWARP_ASSOCIATION_REQUEST), 1);
    sctp_pair_free(pair);
}
END_TEST

START_TEST(misuse_of_an_association_is_refused)
{
    struct iwarp_association_config config;
    struct iwarp_stream_config stream;
    struct iwarp_sentence sentence = {""};
    struct sctp_pair *pair = open_pair(IWARP_SCTP_RFC5043);
    struct iwarp_association *association = pair->side[0].association;

    iwarp_association_config_default(&config, IWARP_SCTP_UNDECIDED);
    ck_assert_ptr_null(iwarp_association_new(pair->side[0].device, &config, 1, &sentence));
    ck_assert_str_eq(sentence.text, "association: profile 0 is not known");
    iwarp_association_config_default(&config, IWARP_SCTP_RFC5043);
    config.indication = 2;
    ck_assert_ptr_null(iwarp_association_new(pair->side[0].device, &config, 1, &sentence));
    ck_assert_ptr_null(iwarp_association_new(NULL, &config, 1, NULL));
    iwarp_sctp_stream_config_default(&stream, IWARP_INITIATOR);
    ck_assert_ptr_null(iwarp_sctp_stream_new(association, 64, &stream, 1, &sentence));
    ck_assert_str_eq(sentence.text, "stream: SID 64, the association has 64 streams");
    stream.private_octets = 509;
    ck_assert_ptr_null(iwarp_sctp_stream_new(association, 1, &stream, 1, &sentence));
    ck_assert_str_eq(sentence.text, "stream: 509 octets of Private Data, at most 508 fit");
    sctp_pair_session(pair, 0, 1);
    stream.private_octets = 0;
    ck_assert_ptr_null(iwarp_sctp_stream_new(association, 1, &stream, 1, &sentence));
    ck_assert_str_eq(sentence.text, "stream: SID 1 has a stream");
    /* The association alone gives a stream its input. */
    iwarp_stream_input(pair->side[0].ends[0].stream, (const uint8_t *)"octets", 6, pair->now);
    ck_assert_uint_eq(iwarp_stream_counters(pair->side[0].ends[0].stream)->octets_dropped, 6);
    iwarp_association_free(NULL);
    iwarp_association_input(NULL, NULL, 1);
    iwarp_association_acked(association, 64, 1, 1);
    iwarp_association_output_done(NULL, 1);
    ck_assert_uint_eq(iwarp_association_deadline(NULL), UINT64_MAX);
    ck_assert_int_eq(iwarp_sctp_stream_sid(NULL), -1);
    ck_assert_int_eq(iwarp_association_free_sid(NULL), -1);
    ck_assert_ptr_null(iwarp_association_counters(NULL));
    ck_assert(!iwarp_association_poll(association, NULL));
    sctp_pair_free(pair);
}
END_TEST

/* 1500 octets over IPv4 hold a segment of 1434 beside a SACK; a small MTU does not go below 516 (RFC 5043 9). */
START_TEST(segment_size_follows_the_mtu)
{
    struct sctp_pair *pair = open_pair(IWARP_SCTP_RFC5043);
    struct iwarp_association *association = pair->side[0].association;
    static const uint8_t octets[1435];
    struct iwarp_sentence sentence = {""};

    ck_assert_uint_eq(iwarp_association_segment_max(association), 1434);
    sctp_pair_session(pair, 0, SID);
    ck_assert_int_eq(iwarp_stream_post_ulpdu(pair->side[0].ends[0].stream, octets, 1435, &sentence), -1);
    ck_assert_str_eq(sentence.text, "post_ulpdu: 1435 octets, MULPDU is 1434");
    iwarp_association_set_mtu(association, 512);
    ck_assert_uint_eq(iwarp_association_segment_max(association), 516);
    iwarp_association_set_mtu(association, 1500);
    sctp_pair_free(pair);
}
END_TEST

Suite *sctp_validation_suite(void)
{
    Suite *suite = suite_create("sctp_validation");
    TCase *entries = tcase_create("entries"), *harm = tcase_create("harm");

    tcase_add_test(entries, every_sctp_validation_has_a_stimulus);
    tcase_add_loop_test(entries, sctp_stimulus_draws_its_requirement, 0, STIMULI);
    tcase_add_test(entries, resets_that_are_none);
    tcase_add_test(entries, association_without_ddp_is_aborted);
    tcase_add_test(entries, unequal_stream_counts_use_the_common_ones);
    tcase_set_timeout(harm, 120);
    tcase_add_test(harm, all_streams_at_once);
    tcase_add_test(harm, holes_are_bounded);
    tcase_add_test(harm, user_messages_of_any_length_are_safe);
    tcase_add_test(harm, association_ends_its_streams);
    tcase_add_test(harm, linger_limit_ends_a_silent_session);
    tcase_add_test(harm, misuse_of_an_association_is_refused);
    tcase_add_test(harm, segment_size_follows_the_mtu);
    suite_add_tcase(suite, entries);
    suite_add_tcase(suite, harm);
    return suite;
}
