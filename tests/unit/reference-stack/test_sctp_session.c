/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions of RFC 5043 and RFC 6581 7: how they begin and end, and that the verbs work over them unchanged. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/misuse.h"
#include "tests/unit/sctp_pair.h"
#include "tests/unit/suites.h"
#include "base/octets.h"
#include "wire/rdmap.h"
#include "wire/ddp_sctp.h"

Suite *sctp_session_suite(void);

enum { SID = 5 };

/* All that one side sent on the wire, as far as these tests look at it. */
struct seen {
    struct {
        int side;
        uint16_t sid, ssn, code;
        uint32_t ppid;
        size_t count;
    } letters[64];
    size_t count;
};

static void note(void *user, int side, const struct sctp_letter *letter)
{
    struct seen *seen = user;

    ck_assert(letter->unordered);
    if (seen->count == sizeof(seen->letters) / sizeof(seen->letters[0]))
        return;
    seen->letters[seen->count].side = side;
    seen->letters[seen->count].sid = letter->sid;
    seen->letters[seen->count].ppid = letter->ppid;
    seen->letters[seen->count].ssn = octets_get16(letter->octets);
    seen->letters[seen->count].code = letter->control ? octets_get16(letter->octets + 2) : 0;
    seen->letters[seen->count++].count = letter->count;
}

static struct sctp_pair *open_pair(struct seen *seen)
{
    struct sctp_pair *pair = sctp_pair_new(IWARP_SCTP_RFC5043);

    memset(seen, 0, sizeof(*seen));
    pair->look = note;
    pair->user = seen;
    sctp_pair_open(pair);
    return pair;
}

static void check_letter(const struct seen *seen, size_t n, int side, uint16_t ssn, uint16_t code)
{
    ck_assert_uint_gt(seen->count, n);
    ck_assert_int_eq(seen->letters[n].side, side);
    ck_assert_uint_eq(seen->letters[n].sid, SID);
    ck_assert_uint_eq(seen->letters[n].ssn, ssn);
    ck_assert_uint_eq(seen->letters[n].code, code);
    ck_assert_uint_eq(seen->letters[n].ppid, code == 0 ? DDP_SCTP_PPID_SEGMENT : DDP_SCTP_PPID_CONTROL);
}

/*
 * Whatever comes after it is reported, each message is counted from 0, and the SID is free again afterwards (6.1, 6.2,
 * 6.6).
 */
START_TEST(session_from_beginning_to_end)
{
    static uint8_t text[] = "over SCTP";
    struct iwarp_send send = {.id = 7, .octets = text, .count = sizeof(text)};
    uint8_t buffer[64];
    struct seen seen;
    struct sctp_pair *pair = open_pair(&seen);

    for (int round = 0; round < 2; round++) {
        struct iwarp_stream *active, *passive;

        seen.count = 0;
        sctp_pair_session(pair, 0, SID);
        active = pair->side[SCTP_ACTIVE].ends[0].stream;
        passive = pair->side[SCTP_PASSIVE].ends[0].stream;
        check_letter(&seen, 0, SCTP_ACTIVE, 0, DDP_SCTP_ENHANCED_INITIATE);
        check_letter(&seen, 1, SCTP_PASSIVE, 0, DDP_SCTP_ENHANCED_ACCEPT);
        ck_assert_int_eq(iwarp_sctp_stream_sid(active), SID);
        ck_assert_int_eq(iwarp_stream_post_receive(passive, 3, buffer, sizeof(buffer), NULL), 0);
        ck_assert_int_eq(iwarp_stream_post_send(active, &send, NULL), 0);
        sctp_pair_run(pair);
        check_letter(&seen, 2, SCTP_ACTIVE, 1, 0);
        ck_assert_str_eq((const char *)buffer, (const char *)text);
        ck_assert_uint_eq(sctp_pair_event(pair, SCTP_PASSIVE, 0, IWARP_EVENT_RECEIVE)->id, 3);
        iwarp_stream_disconnect(active, pair->now);
        sctp_pair_run(pair);
        check_letter(&seen, 3, SCTP_ACTIVE, 2, DDP_SCTP_TERMINATE);
        ck_assert_uint_eq(seen.letters[3].count, DDP_SCTP_CONTROL_OCTETS);
        ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 0, IWARP_EVENT_HALF_CLOSED), 1);
        iwarp_stream_disconnect(passive, pair->now);
        sctp_pair_run(pair);
        check_letter(&seen, 4, SCTP_PASSIVE, 1, DDP_SCTP_TERMINATE);
        for (int side = 0; side < SCTP_SIDES; side++) {
            ck_assert_uint_eq(sctp_pair_count(pair, side, 0, IWARP_EVENT_CLOSED), 1);
            ck_assert_uint_eq(sctp_pair_count(pair, side, 0, IWARP_EVENT_ERROR), 0);
            ck_assert_uint_eq(iwarp_association_counters(pair->side[side].association)->sessions, 0);
        }
        ck_assert_int_eq(iwarp_sctp_stream_sid(active), -1);
    }
    ck_assert_uint_eq(sctp_pair_reported(pair, SCTP_PASSIVE, IWARP_ASSOCIATION_CLOSED), 2);
    sctp_pair_free(pair);
}
END_TEST

/* What begins before this side has ended is no session, and ends nothing: its own end and the peer's are still due (6.2). */
START_TEST(initiate_before_the_own_end_is_no_session)
{
    struct seen seen;
    struct sctp_pair *pair = open_pair(&seen);
    struct sctp_pair_side *side = &pair->side[SCTP_PASSIVE];

    sctp_pair_session(pair, 0, SID);
    side->hold = true;
    iwarp_stream_disconnect(side->ends[0].stream, pair->now);
    sctp_pair_feed_control(pair, SCTP_PASSIVE, SID, 0, DDP_SCTP_INITIATE, 0);
    side->hold = false;
    sctp_pair_run(pair);
    ck_assert_uint_eq(iwarp_association_counters(side->association)->pending, 0);
    ck_assert_uint_eq(iwarp_association_counters(side->association)->sessions, 1);
    iwarp_stream_disconnect(pair->side[SCTP_ACTIVE].ends[0].stream, pair->now);
    sctp_pair_run(pair);
    ck_assert_uint_eq(iwarp_association_counters(side->association)->sessions, 0);
    sctp_pair_free(pair);
}
END_TEST

START_TEST(detached_stream_needs_a_device_and_a_configuration)
{
    struct sctp_pair *pair = sctp_pair_new(IWARP_SCTP_RFC5043);
    struct iwarp_device *device = pair->side[SCTP_ACTIVE].device;
    struct iwarp_stream_config config;

    iwarp_sctp_stream_config_default(&config, IWARP_INITIATOR);
    ABSENT("a device and a configuration", iwarp_sctp_stream_detached(NULL, &config, 1, why));
    ABSENT("a device and a configuration", iwarp_sctp_stream_detached(device, NULL, 1, why));
    sctp_pair_free(pair);
}
END_TEST

/* IRD, ORD and RTR by the same rules as over MPA (RFC 6581 7, 9). */
START_TEST(ird_and_ord_are_negotiated_over_sctp)
{
    struct iwarp_stream_config config;
    struct seen seen;
    struct sctp_pair *pair = open_pair(&seen);

    iwarp_sctp_stream_config_default(&config, IWARP_RESPONDER);
    config.ird = 3;
    config.ord = 7;
    config.rtr = IWARP_RTR_SEND | IWARP_RTR_READ;
    (void)sctp_pair_stream(pair, SCTP_PASSIVE, 0, SID, &config);
    iwarp_sctp_stream_config_default(&config, IWARP_INITIATOR);
    config.ird = 2;
    config.ord = 9;
    config.peer_to_peer = true;
    (void)sctp_pair_stream(pair, SCTP_ACTIVE, 0, SID, &config);
    sctp_pair_run(pair);
    ck_assert_uint_eq(iwarp_stream_ird(pair->side[SCTP_PASSIVE].ends[0].stream), 9);
    ck_assert_uint_eq(iwarp_stream_ord(pair->side[SCTP_PASSIVE].ends[0].stream), 2);
    ck_assert_uint_eq(iwarp_stream_ird(pair->side[SCTP_ACTIVE].ends[0].stream), 2);
    ck_assert_uint_eq(iwarp_stream_ord(pair->side[SCTP_ACTIVE].ends[0].stream), 9);
    /* The RTR Read and its response. */
    check_letter(&seen, 2, SCTP_ACTIVE, 1, 0);
    check_letter(&seen, 3, SCTP_PASSIVE, 1, 0);
    sctp_pair_free(pair);
}
END_TEST

static void decide(struct sctp_pair *pair, bool accept, const uint8_t *data, uint16_t octets)
{
    struct iwarp_stream *stream = pair->side[SCTP_PASSIVE].ends[0].stream;
    struct iwarp_sentence sentence = {""};
    int status = accept ? iwarp_stream_accept(stream, data, octets, -1, -1, pair->now, &sentence)
                        : iwarp_stream_reject(stream, data, octets, pair->now, &sentence);

    ck_assert_msg(status == 0, "%s", sentence.text);
}

/*
 * 512 octets of Private Data, or 508 with the word, go over in all three messages (SCTP5043-5.2.3-03 to -05,
 * EMPA-7-11).
 */
static void carry_private(bool enhanced, bool accept, uint16_t octets)
{
    struct iwarp_stream_config config;
    const struct iwarp_association_event *request;
    const struct iwarp_event *event;
    const uint8_t *data;
    size_t count;
    struct seen seen;
    struct sctp_pair *pair = open_pair(&seen);

    iwarp_sctp_stream_config_default(&config, IWARP_INITIATOR);
    config.enhanced = enhanced;
    config.private_octets = octets;
    memset(config.private_data, 0xA1, sizeof(config.private_data));
    (void)sctp_pair_stream(pair, SCTP_ACTIVE, 0, SID, &config);
    sctp_pair_run(pair);
    ck_assert_uint_eq(pair->side[SCTP_PASSIVE].event_count, 2);
    request = &pair->side[SCTP_PASSIVE].events[1];
    ck_assert_int_eq(request->kind, IWARP_ASSOCIATION_REQUEST);
    ck_assert_uint_eq(request->sid, SID);
    ck_assert_uint_eq(request->code, enhanced ? DDP_SCTP_ENHANCED_INITIATE : DDP_SCTP_INITIATE);
    ck_assert_uint_eq(request->private_octets, octets);
    ck_assert_uint_eq(request->private_data[octets - 1u], 0xA1);
    ck_assert_uint_eq(iwarp_association_counters(pair->side[SCTP_PASSIVE].association)->pending, 1);

    iwarp_sctp_stream_config_default(&config, IWARP_RESPONDER);
    config.accept = IWARP_ACCEPT_ASK;
    memset(config.private_data, 0xB2, sizeof(config.private_data));
    (void)sctp_pair_stream(pair, SCTP_PASSIVE, 0, SID, &config);
    sctp_pair_run(pair);
    event = sctp_pair_event(pair, SCTP_PASSIVE, 0, IWARP_EVENT_CONNECT_REQUEST);
    ck_assert_ptr_nonnull(event);
    data = iwarp_mpa_start_ulp_data(&event->start, &count);
    ck_assert_uint_eq(count, octets);
    ck_assert_uint_eq(data[0], 0xA1);
    ck_assert_uint_eq(seen.count, 1); /* nothing before the ULP decides (6.2) */
    decide(pair, accept, config.private_data, octets);
    sctp_pair_run(pair);
    check_letter(&seen, 1, SCTP_PASSIVE, 0, (uint16_t)((enhanced ? 4 : 0) + (accept ? 2 : 3)));
    event = sctp_pair_event(pair, SCTP_ACTIVE, 0, accept ? IWARP_EVENT_ESTABLISHED : IWARP_EVENT_REJECTED);
    ck_assert_ptr_nonnull(event);
    data = iwarp_mpa_start_ulp_data(&event->start, &count);
    ck_assert_uint_eq(count, octets);
    ck_assert_uint_eq(data[octets - 1u], 0xB2);
    ck_assert_uint_eq(iwarp_association_counters(pair->side[SCTP_PASSIVE].association)->pending, 0);
    if (!accept) {
        /* Nothing follows a Reject, and the SID is free (6.3). */
        ck_assert_uint_eq(seen.count, 2);
        for (int side = 0; side < SCTP_SIDES; side++)
            ck_assert_uint_eq(iwarp_association_counters(pair->side[side].association)->sessions, 0);
        ck_assert_int_eq(iwarp_stream_state(pair->side[SCTP_ACTIVE].ends[0].stream), IWARP_STATE_EXITED);
    }
    sctp_pair_free(pair);
}

START_TEST(private_data_crosses_a_session)
{
    for (int i = 0; i < 4; i++) {
        carry_private((i & 1) != 0, (i & 2) != 0, (i & 1) != 0 ? 508 : 512);
        carry_private((i & 1) != 0, (i & 2) != 0, 1);
    }
}
END_TEST

/* Requests beyond the limit get a Terminate, and those that wait can still be accepted (SCTP5043-6.4-04). */
START_TEST(limit_of_requests)
{
    const struct iwarp_association_counters *counters;
    struct seen seen;
    struct sctp_pair *pair = sctp_pair_new(IWARP_SCTP_RFC5043);

    pair->side[SCTP_PASSIVE].config.pending_max = 4;
    memset(&seen, 0, sizeof(seen));
    pair->look = note;
    pair->user = &seen;
    sctp_pair_open(pair);
    for (unsigned n = 0; n < 6; n++)
        (void)sctp_pair_stream(pair, SCTP_ACTIVE, n, (uint16_t)n, NULL);
    sctp_pair_run(pair);
    counters = iwarp_association_counters(pair->side[SCTP_PASSIVE].association);
    ck_assert_uint_eq(counters->pending, 4);
    ck_assert_uint_eq(counters->refused, 2);
    ck_assert_uint_eq(seen.count, 8);
    for (unsigned n = 4; n < 6; n++) {
        ck_assert_uint_eq(seen.letters[n + 2].code, DDP_SCTP_TERMINATE);
        ck_assert_uint_eq(seen.letters[n + 2].ssn, 0);
        ck_assert_uint_eq(sctp_pair_count(pair, SCTP_ACTIVE, n, IWARP_EVENT_ERROR), 1);
        ck_assert_uint_eq(sctp_pair_count(pair, SCTP_ACTIVE, n, IWARP_EVENT_CLOSED), 1);
    }
    (void)sctp_pair_stream(pair, SCTP_PASSIVE, 2, 2, NULL);
    sctp_pair_run(pair);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_ACTIVE, 2, IWARP_EVENT_ESTABLISHED), 1);
    ck_assert_uint_eq(counters->pending, 3);
    sctp_pair_free(pair);
}
END_TEST

/* Neither an Accept nor an Initiate may be overtaken by the Terminate after it (SCTP5043-6.6-01). */
START_TEST(terminate_does_not_overtake_an_accept)
{
    struct seen seen;
    struct sctp_pair *pair = open_pair(&seen);

    pair->side[SCTP_ACTIVE].silent = true;
    sctp_pair_session(pair, 0, SID);
    iwarp_stream_disconnect(pair->side[SCTP_PASSIVE].ends[0].stream, pair->now);
    sctp_pair_run(pair);
    ck_assert_uint_eq(seen.count, 2);
    pair->side[SCTP_ACTIVE].silent = false;
    sctp_pair_run(pair);
    check_letter(&seen, 2, SCTP_PASSIVE, 1, DDP_SCTP_TERMINATE);
    sctp_pair_free(pair);

    /* The Initiate: by the SACK, without any answer. */
    pair = open_pair(&seen);
    pair->side[SCTP_PASSIVE].silent = true;
    (void)sctp_pair_stream(pair, SCTP_ACTIVE, 0, SID, NULL);
    sctp_pair_run(pair);
    iwarp_stream_disconnect(pair->side[SCTP_ACTIVE].ends[0].stream, pair->now);
    sctp_pair_run(pair);
    ck_assert_uint_eq(seen.count, 1);
    pair->side[SCTP_PASSIVE].silent = false;
    sctp_pair_run(pair);
    check_letter(&seen, 1, SCTP_ACTIVE, 1, DDP_SCTP_TERMINATE);
    sctp_pair_free(pair);
}
END_TEST

/* Segments of the passive side may come before its Accept: they wait for it (SCTP5043-6.1-05, 6.6-05). */
START_TEST(segment_before_the_accept)
{
    uint8_t buffer[16];
    struct seen seen;
    struct sctp_pair *pair = open_pair(&seen);
    struct iwarp_stream_config config;

    iwarp_sctp_stream_config_default(&config, IWARP_INITIATOR);
    config.enhanced = false;
    (void)sctp_pair_stream(pair, SCTP_ACTIVE, 0, SID, &config);
    ck_assert_int_eq(iwarp_stream_post_receive(pair->side[SCTP_ACTIVE].ends[0].stream, 1, buffer, sizeof(buffer), NULL),
                     0);
    pair->side[SCTP_PASSIVE].silent = true;
    sctp_pair_run(pair);
    sctp_pair_feed_send(pair, SCTP_ACTIVE, SID, 1, 1, 10);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_ACTIVE, 0, IWARP_EVENT_RECEIVE), 0);
    sctp_pair_feed_control(pair, SCTP_ACTIVE, SID, 0, DDP_SCTP_ACCEPT, 0);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_ACTIVE, 0, IWARP_EVENT_ESTABLISHED), 1);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_ACTIVE, 0, IWARP_EVENT_RECEIVE), 1);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_ACTIVE, 0, IWARP_EVENT_ERROR), 0);
    sctp_pair_free(pair);
}
END_TEST

/* A fault ends its stream, and no other (SCTP5043-11.3-04, -05); the RDMAP Terminate comes first (6.2-06). */
START_TEST(fault_of_one_stream)
{
    static uint8_t octets[4];
    struct iwarp_write write = {.id = 1, .octets = octets, .count = sizeof(octets), .stag = 0x666};
    struct iwarp_send send = {.id = 2, .octets = octets, .count = sizeof(octets)};
    uint8_t buffer[16];
    struct seen seen;
    struct sctp_pair *pair = open_pair(&seen);

    sctp_pair_session(pair, 0, SID);
    sctp_pair_session(pair, 1, SID + 1);
    seen.count = 0;
    (void)iwarp_stream_post_receive(pair->side[SCTP_PASSIVE].ends[1].stream, 9, buffer, sizeof(buffer), NULL);
    (void)iwarp_stream_post_write(pair->side[SCTP_ACTIVE].ends[0].stream, &write, NULL);
    sctp_pair_run(pair);
    check_letter(&seen, 0, SCTP_ACTIVE, 1, 0);
    check_letter(&seen, 1, SCTP_PASSIVE, 1, 0);
    ck_assert_uint_eq(sctp_pair_event(pair, SCTP_ACTIVE, 0, IWARP_EVENT_TERMINATE_RECEIVED)->triple,
                      TERM_DDP_INVALID_STAG);
    ck_assert_uint_eq(seen.letters[2].code, DDP_SCTP_TERMINATE);
    ck_assert_uint_eq(seen.letters[3].code, DDP_SCTP_TERMINATE);
    ck_assert_int_ne(seen.letters[2].side, seen.letters[3].side);
    for (int side = 0; side < SCTP_SIDES; side++) {
        ck_assert_uint_eq(sctp_pair_count(pair, side, 0, IWARP_EVENT_CLOSED), 1);
        ck_assert_uint_eq(sctp_pair_count(pair, side, 1, IWARP_EVENT_CLOSED), 0);
        ck_assert_int_eq(iwarp_association_wants(pair->side[side].association), IWARP_ASSOCIATION_WANT_NOTHING);
    }
    (void)iwarp_stream_post_send(pair->side[SCTP_ACTIVE].ends[1].stream, &send, NULL);
    sctp_pair_run(pair);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 1, IWARP_EVENT_RECEIVE), 1);
    sctp_pair_free(pair);
}
END_TEST

/* An STag of one stream is none of another's of the association (SCTP-7.4-01, SCTP5043-2-02). */
START_TEST(stags_are_of_a_stream)
{
    static uint8_t octets[4] = {1, 2, 3, 4};
    uint8_t memory[8] = {0};
    struct iwarp_region region = {
        .length = sizeof(memory), .octets = memory, .access = IWARP_REMOTE_WRITE, .stream = 1};
    struct iwarp_write write = {.id = 1, .octets = octets, .count = sizeof(octets)};
    struct seen seen;
    struct sctp_pair *pair = open_pair(&seen);

    ck_assert_int_eq(iwarp_region_register(pair->side[SCTP_PASSIVE].device, &region, NULL), 0);
    write.stag = region.stag;
    sctp_pair_session(pair, 0, SID);
    sctp_pair_session(pair, 1, SID + 1);
    (void)iwarp_stream_post_write(pair->side[SCTP_ACTIVE].ends[1].stream, &write, NULL);
    sctp_pair_run(pair);
    ck_assert_uint_eq(memory[0], 0);
    ck_assert_uint_eq(sctp_pair_event(pair, SCTP_ACTIVE, 1, IWARP_EVENT_TERMINATE_RECEIVED)->triple,
                      TERM_DDP_NOT_ASSOCIATED);
    (void)iwarp_stream_post_write(pair->side[SCTP_ACTIVE].ends[0].stream, &write, NULL);
    sctp_pair_run(pair);
    ck_assert_mem_eq(memory, octets, sizeof(octets));
    (void)iwarp_region_deregister(pair->side[SCTP_PASSIVE].device, region.stag, NULL);
    sctp_pair_free(pair);
}
END_TEST

/* The ULP frees a stream in the middle: the peer receives the end all the same, and the other way round. */
START_TEST(stream_is_freed)
{
    struct seen seen;
    struct sctp_pair *pair = open_pair(&seen);

    sctp_pair_session(pair, 0, SID);
    sctp_pair_drop(pair, SCTP_ACTIVE, 0);
    sctp_pair_run(pair);
    check_letter(&seen, 2, SCTP_ACTIVE, 1, DDP_SCTP_TERMINATE);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 0, IWARP_EVENT_HALF_CLOSED), 1);
    /* What still comes has no ULP any more. */
    sctp_pair_feed_send(pair, SCTP_ACTIVE, SID, 1, 1, 10);
    ck_assert_uint_eq(iwarp_association_counters(pair->side[SCTP_ACTIVE].association)->dropped, 1);
    iwarp_stream_abort(pair->side[SCTP_PASSIVE].ends[0].stream, pair->now);
    sctp_pair_run(pair);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_PASSIVE, 0, IWARP_EVENT_CLOSED), 1);
    sctp_pair_session(pair, 1, SID + 1);
    sctp_pair_free(pair);
}
END_TEST

/* The ULP rejects, and frees the stream before the Reject is sent: the peer is not left waiting (6.4). */
START_TEST(rejected_stream_is_freed)
{
    struct iwarp_stream_config config;
    struct seen seen;
    struct sctp_pair *pair = open_pair(&seen);

    iwarp_sctp_stream_config_default(&config, IWARP_INITIATOR);
    (void)sctp_pair_stream(pair, SCTP_ACTIVE, 0, SID, &config);
    sctp_pair_run(pair);
    iwarp_sctp_stream_config_default(&config, IWARP_RESPONDER);
    config.accept = IWARP_ACCEPT_NOT;
    pair->side[SCTP_PASSIVE].hold = true;
    (void)sctp_pair_stream(pair, SCTP_PASSIVE, 0, SID, &config);
    sctp_pair_drop(pair, SCTP_PASSIVE, 0);
    pair->side[SCTP_PASSIVE].hold = false;
    sctp_pair_run(pair);
    check_letter(&seen, 1, SCTP_PASSIVE, 0, DDP_SCTP_TERMINATE);
    ck_assert_uint_eq(sctp_pair_count(pair, SCTP_ACTIVE, 0, IWARP_EVENT_CLOSED), 1);
    sctp_pair_free(pair);
}
END_TEST

/* A peer that acknowledges slowly is alive: the limit counts from the last message that it acknowledged. */
START_TEST(late_acknowledgement_puts_the_linger_limit_off)
{
    struct seen seen;
    struct sctp_pair *pair = open_pair(&seen);
    struct iwarp_association *association = pair->side[SCTP_ACTIVE].association;
    struct iwarp_stream_config config;
    uint64_t due;

    iwarp_sctp_stream_config_default(&config, IWARP_INITIATOR);
    sctp_pair_session(pair, 0, SID);
    pair->side[SCTP_PASSIVE].hold = pair->side[SCTP_PASSIVE].silent = true;
    iwarp_stream_disconnect(pair->side[SCTP_ACTIVE].ends[0].stream, pair->now);
    sctp_pair_run(pair);
    due = iwarp_association_deadline(association);
    ck_assert_uint_ne(due, UINT64_MAX);
    iwarp_association_acked(association, SID, 1, due - 1);
    iwarp_association_tick(association, due);
    ck_assert_uint_eq(iwarp_association_deadline(association), due - 1 + config.linger_limit);
    iwarp_association_tick(association, due - 1 + config.linger_limit);
    ck_assert_uint_eq(iwarp_association_deadline(association), UINT64_MAX);
    sctp_pair_free(pair);
}
END_TEST

Suite *sctp_session_suite(void)
{
    Suite *suite = suite_create("sctp_session");
    TCase *tcase = tcase_create("rfc5043");

    tcase_add_test(tcase, session_from_beginning_to_end);
    tcase_add_test(tcase, initiate_before_the_own_end_is_no_session);
    tcase_add_test(tcase, detached_stream_needs_a_device_and_a_configuration);
    tcase_add_test(tcase, ird_and_ord_are_negotiated_over_sctp);
    tcase_add_test(tcase, private_data_crosses_a_session);
    tcase_add_test(tcase, limit_of_requests);
    tcase_add_test(tcase, terminate_does_not_overtake_an_accept);
    tcase_add_test(tcase, segment_before_the_accept);
    tcase_add_test(tcase, fault_of_one_stream);
    tcase_add_test(tcase, stags_are_of_a_stream);
    tcase_add_test(tcase, stream_is_freed);
    tcase_add_test(tcase, rejected_stream_is_freed);
    tcase_add_test(tcase, late_acknowledgement_puts_the_linger_limit_off);
    suite_add_tcase(suite, tcase);
    return suite;
}
