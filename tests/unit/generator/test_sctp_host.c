/* SPDX-License-Identifier: BSD-2-Clause */
/* The lower tester's SCTP: two of them on a wire in memory, and what it can be made to say. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "generator/sctp/sctp.h"
#include "generator/sctp/sctp_host.h"
#include "tests/unit/suites.h"

Suite *sctp_host_suite(void);

enum { PORT = 5043, QUEUE = 512, SECOND_NS = 1000000000 };

struct letter {
    size_t octets;
    uint8_t data[SCTP_PACKET_MAX];
};

struct wire {
    struct sctp_host *host[2];
    struct letter queue[2][QUEUE]; /* on the way from that host */
    size_t count[2];
    uint64_t now, sent[2];
    unsigned loss; /* of 256 */
    uint32_t random;
};

struct place {
    struct wire *wire;
    int side;
};

static struct wire wire;
static struct place places[2];

static uint32_t draw(uint32_t below)
{
    wire.random = wire.random * UINT32_C(1664525) + UINT32_C(1013904223);
    return (wire.random >> 8) % below;
}

static void on_emit(void *context, const uint8_t *packet, size_t octets)
{
    const struct place *place = context;
    struct letter *letter = &wire.queue[place->side][wire.count[place->side]];

    ck_assert_uint_le(octets, SCTP_PACKET_MAX);
    ck_assert_uint_lt(wire.count[place->side], QUEUE);
    wire.sent[place->side]++;
    if (wire.loss != 0 && draw(256) < wire.loss)
        return;
    letter->octets = octets;
    memcpy(letter->data, packet, octets);
    wire.count[place->side]++;
}

static void set_up(void)
{
    struct iwarp_sentence error;

    memset(&wire, 0, sizeof(wire));
    wire.now = 1;
    wire.random = 1;
    for (int side = 0; side < 2; side++) {
        struct sctp_host_config config = {
            .seed = (uint64_t)side + 1, .now = 1, .emit = on_emit, .context = &places[side]};

        places[side] = (struct place){&wire, side};
        wire.host[side] = sctp_host_new(&config, &error);
        ck_assert_ptr_nonnull(wire.host[side]);
    }
}

static void tear_down(void)
{
    sctp_host_free(wire.host[0]);
    sctp_host_free(wire.host[1]);
}

/* What is on the way arrives, then what that made. */
static void settle(void)
{
    while (wire.count[0] + wire.count[1] != 0) {
        for (int side = 0; side < 2; side++) {
            struct letter letter;

            if (wire.count[side] == 0)
                continue;
            letter = wire.queue[side][0];
            memmove(&wire.queue[side][0], &wire.queue[side][1], --wire.count[side] * sizeof(letter));
            sctp_host_input(wire.host[1 - side], letter.data, letter.octets, ++wire.now);
        }
    }
}

/* The next timer of either side, and what follows. False: none runs. */
static bool pass(void)
{
    uint64_t a = sctp_host_deadline(wire.host[0]), b = sctp_host_deadline(wire.host[1]);

    settle();
    if (a == SCTP_HOST_NEVER && b == SCTP_HOST_NEVER)
        return false;
    wire.now = a < b ? a : b;
    sctp_host_tick(wire.host[0], wire.now);
    sctp_host_tick(wire.host[1], wire.now);
    settle();
    return true;
}

/* An association; [0] the active end. */
static void open_pair(struct sctp_assoc *end[2], const struct sctp_assoc_options *active,
                      const struct sctp_assoc_options *passive)
{
    struct iwarp_sentence error;

    ck_assert_int_eq(sctp_host_listen(wire.host[1], PORT, passive, &error), 0);
    end[0] = sctp_assoc_connect(wire.host[0], PORT, active, &error);
    ck_assert_ptr_nonnull(end[0]);
    settle();
    for (int i = 0; i < 100 && sctp_assoc_status(end[0])->state != SCTP_ASSOC_ESTABLISHED; i++)
        (void)pass();
    end[1] = sctp_host_accept(wire.host[1], PORT);
    ck_assert_ptr_nonnull(end[1]);
    ck_assert_ptr_null(sctp_host_accept(wire.host[1], PORT));
}

static int say(struct sctp_assoc *assoc, const char *text, struct sctp_assoc_data data)
{
    data.flags = data.flags != 0 ? data.flags : SCTP_FLAG_U | SCTP_FLAG_B | SCTP_FLAG_E;
    data.user = (const uint8_t *)text;
    data.user_octets = strlen(text);
    return sctp_assoc_send(assoc, &data);
}

static const struct sctp_received *hear(struct sctp_assoc *assoc, const char *text)
{
    const struct sctp_received *got = sctp_assoc_received(assoc);

    ck_assert_ptr_nonnull(got);
    ck_assert_uint_eq(got->data.user_octets, strlen(text));
    ck_assert_mem_eq(got->data.user, text, strlen(text));
    return got;
}

START_TEST(set_up_says_what_it_is_reported)
{
    static const uint8_t unknown[] = {0x80, 0x77, 0, 4};
    struct sctp_assoc_options active = {.has_adaptation = true,
                                        .adaptation = 0xCAFE,
                                        .outbound = 3,
                                        .inbound = 65535,
                                        .choose_streams = true,
                                        .choose_tsn = true,
                                        .initial_tsn = UINT32_MAX,
                                        .parameters = unknown,
                                        .parameters_octets = sizeof(unknown)};
    struct sctp_assoc *end[2];
    const struct sctp_assoc_status *seen;

    open_pair(end, &active, NULL);
    seen = sctp_assoc_status(end[1]);
    ck_assert(seen->peer_known && seen->peer.has_adaptation);
    ck_assert_uint_eq(seen->peer.adaptation, 0xCAFE);
    ck_assert_uint_eq(seen->peer.outbound, 3);
    ck_assert_uint_eq(seen->peer.inbound, 65535);
    ck_assert_uint_eq(seen->peer.initial_tsn, UINT32_MAX);
    seen = sctp_assoc_status(end[0]);
    ck_assert(!seen->peer.has_adaptation);
    ck_assert_uint_eq(seen->peer.outbound, 64);
    ck_assert_uint_ne(seen->round_trip_ns, 0);
    /* TSNs wrap. */
    ck_assert_int_eq(say(end[0], "one", (struct sctp_assoc_data){0}), 0);
    ck_assert_int_eq(say(end[0], "two", (struct sctp_assoc_data){0}), 0);
    settle();
    ck_assert_uint_eq(hear(end[1], "one")->data.tsn, UINT32_MAX);
    sctp_assoc_consume(end[1]);
    ck_assert_uint_eq(hear(end[1], "two")->data.tsn, 0);
    ck_assert_uint_eq(sctp_assoc_status(end[0])->unacknowledged, 0);
}
END_TEST

START_TEST(options_are_looked_at)
{
    static const uint8_t much[SCTP_HOST_PARAMETERS_MAX + 1];
    struct sctp_assoc_options options = {.parameters = much, .parameters_octets = sizeof(much)};
    struct iwarp_sentence error = {""};

    ck_assert_ptr_null(sctp_assoc_connect(wire.host[0], PORT, &options, &error));
    ck_assert_str_eq(error.text, "SCTP: at most 512 octets of parameters");
    ck_assert_int_eq(sctp_host_listen(wire.host[0], PORT, &options, &error), -1);
    options = (struct sctp_assoc_options){.source_port = 7};
    ck_assert_ptr_nonnull(sctp_assoc_connect(wire.host[0], PORT, &options, &error));
    ck_assert_ptr_null(sctp_assoc_connect(wire.host[0], PORT, &options, &error));
    ck_assert_str_eq(error.text, "SCTP: there is an association from port 7 to port 5043 already");
}
END_TEST

START_TEST(chunk_fields_are_the_callers)
{
    struct sctp_assoc *end[2];
    const struct sctp_received *got;
    uint32_t next;

    open_pair(end, NULL, NULL);
    next = sctp_assoc_status(end[0])->next_tsn;
    ck_assert_int_eq(say(end[0], "later",
                         (struct sctp_assoc_data){.sid = 9,
                                                  .ssn = 77,
                                                  .flags = SCTP_FLAG_B | SCTP_FLAG_I,
                                                  .ppid = 0xABCDEF01,
                                                  .choose_tsn = true,
                                                  .tsn = next + 1}),
                     0);
    ck_assert_uint_eq(sctp_assoc_status(end[0])->next_tsn, next);
    settle();
    got = hear(end[1], "later");
    ck_assert_uint_eq(got->flags, SCTP_FLAG_B | SCTP_FLAG_I);
    ck_assert(!got->data.unordered && got->data.first && !got->data.last);
    ck_assert_uint_eq(got->data.sid, 9);
    ck_assert_uint_eq(got->data.ssn, 77);
    ck_assert_uint_eq(got->data.ppid, 0xABCDEF01);
    /* It is acknowledged by a gap block, and the chunk that closes the gap by the cumulative TSN. */
    ck_assert_uint_eq(sctp_assoc_status(end[0])->unacknowledged, 0);
    ck_assert_uint_eq(sctp_assoc_status(end[1])->cumulative, next - 1);
    ck_assert_int_eq(say(end[0], "first", (struct sctp_assoc_data){0}), 0);
    settle();
    ck_assert_uint_eq(sctp_assoc_status(end[1])->cumulative, next + 1);
    /* The same TSN again is a duplicate. */
    (void)say(end[0], "again", (struct sctp_assoc_data){.choose_tsn = true, .tsn = next, .once = true});
    settle();
    ck_assert_uint_eq(sctp_assoc_status(end[1])->duplicates, 1);
    ck_assert_uint_eq(sctp_assoc_status(end[1])->received, 2);
}
END_TEST

START_TEST(chunks_are_bundled)
{
    struct sctp_assoc *end[2];
    uint64_t packets, number;

    open_pair(end, NULL, NULL);
    packets = wire.sent[0];
    (void)say(end[0], "a", (struct sctp_assoc_data){.hold = true});
    (void)say(end[0], "bc", (struct sctp_assoc_data){.hold = true});
    ck_assert_uint_eq(wire.sent[0], packets);
    (void)say(end[0], "d", (struct sctp_assoc_data){0});
    ck_assert_uint_eq(wire.sent[0], packets + 1);
    settle();
    number = hear(end[1], "a")->packet;
    sctp_assoc_consume(end[1]);
    ck_assert_uint_eq(hear(end[1], "bc")->packet, number);
    ck_assert_uint_eq(hear(end[1], "bc")->place, 1);
    sctp_assoc_consume(end[1]);
    ck_assert_uint_eq(hear(end[1], "d")->place, 2);
    (void)say(end[0], "e", (struct sctp_assoc_data){.hold = true});
    sctp_assoc_flush(end[0]);
    settle();
    sctp_assoc_consume(end[1]);
    ck_assert_uint_ne(hear(end[1], "e")->packet, number);
}
END_TEST

START_TEST(lost_chunks_come_again)
{
    struct sctp_assoc *end[2];
    unsigned count = 0;

    open_pair(end, NULL, NULL);
    /* `later` loses the first sending; a wrong CRC32c is dropped, and is sent again with a right one. */
    (void)say(end[0], "x", (struct sctp_assoc_data){.later = true});
    (void)say(end[0], "y", (struct sctp_assoc_data){.bad_checksum = true});
    (void)say(end[0], "z", (struct sctp_assoc_data){.once = true, .bad_checksum = true});
    settle();
    ck_assert_ptr_null(sctp_assoc_received(end[1]));
    ck_assert_uint_eq(sctp_host_counters(wire.host[1])->bad_checksum, 2);
    ck_assert(pass());
    (void)hear(end[1], "x");
    sctp_assoc_consume(end[1]);
    (void)hear(end[1], "y");
    sctp_assoc_consume(end[1]);
    ck_assert_ptr_null(sctp_assoc_received(end[1]));
    /* Backwards. */
    (void)say(end[0], "1", (struct sctp_assoc_data){.later = true});
    (void)say(end[0], "2", (struct sctp_assoc_data){.later = true});
    sctp_assoc_resend(end[0], true);
    settle();
    (void)hear(end[1], "2");
    sctp_assoc_consume(end[1]);
    (void)hear(end[1], "1");
    sctp_assoc_consume(end[1]);
    /* All of many arrive on a bad wire, each once. */
    wire.loss = 60;
    for (int i = 0; i < 200; i++) {
        ck_assert_int_eq(say(end[1], "m", (struct sctp_assoc_data){0}), 0);
        settle();
    }
    for (int i = 0; i < 100 && sctp_assoc_status(end[1])->unacknowledged != 0; i++)
        (void)pass();
    for (; sctp_assoc_received(end[0]) != NULL; count++)
        sctp_assoc_consume(end[0]);
    ck_assert_uint_eq(count, 200);
    ck_assert_uint_eq(sctp_assoc_status(end[1])->unacknowledged, 0);
}
END_TEST

START_TEST(sacks_are_withheld)
{
    struct sctp_assoc *end[2];

    open_pair(end, NULL, NULL);
    sctp_assoc_withhold(end[1], true);
    (void)say(end[0], "x", (struct sctp_assoc_data){0});
    settle();
    (void)hear(end[1], "x");
    ck_assert_uint_eq(sctp_assoc_status(end[0])->unacknowledged, 1);
    sctp_assoc_withhold(end[1], false);
    settle();
    ck_assert_uint_eq(sctp_assoc_status(end[0])->unacknowledged, 0);
    sctp_assoc_window(end[1], 0x01020304);
    settle();
    ck_assert_uint_eq(sctp_assoc_status(end[0])->peer_window, 0x01020304);
    /* A peer that never acknowledges is given up. */
    sctp_assoc_withhold(end[1], true);
    (void)say(end[0], "y", (struct sctp_assoc_data){0});
    for (int i = 0; i < SCTP_HOST_RETRANSMISSIONS_MAX + 2; i++)
        (void)pass();
    ck_assert_int_eq(sctp_assoc_status(end[0])->cause, SCTP_ASSOC_TIMED_OUT);
    ck_assert_int_eq(say(end[0], "z", (struct sctp_assoc_data){0}), -1);
    ck_assert(!pass());
}
END_TEST

/* What comes while the window is shut is acknowledged once it is open. */
START_TEST(shut_window_acknowledges_nothing)
{
    struct sctp_assoc *end[2];

    open_pair(end, NULL, NULL);
    sctp_assoc_window(end[1], 0);
    settle();
    (void)say(end[0], "x", (struct sctp_assoc_data){0});
    settle();
    ck_assert_uint_eq(sctp_assoc_status(end[0])->unacknowledged, 1);
    ck_assert_uint_eq(sctp_assoc_status(end[0])->peer_window, 0);
    sctp_assoc_window(end[1], 1000);
    settle();
    (void)hear(end[1], "x");
    ck_assert_uint_eq(sctp_assoc_status(end[0])->unacknowledged, 0);
}
END_TEST

START_TEST(association_ends_by_shutdown_and_abort)
{
    static const uint8_t heartbeat[] = {SCTP_HEARTBEAT, 0, 0, 8, 1, 2, 3, 4};
    struct sctp_assoc *end[2];

    open_pair(end, NULL, NULL);
    ck_assert_int_eq(sctp_assoc_heartbeat(end[0]), 0);
    ck_assert_int_eq(sctp_assoc_send_raw(end[0], heartbeat, sizeof(heartbeat), 1, false), 0);
    ck_assert_int_eq(sctp_assoc_send_raw(end[0], heartbeat, sizeof(heartbeat), 0, false), 0);
    settle();
    ck_assert_uint_eq(sctp_host_counters(wire.host[1])->bad_tag, 1);
    ck_assert_uint_eq(sctp_assoc_status(end[0])->heartbeats, 2);
    (void)say(end[0], "x", (struct sctp_assoc_data){.later = true});
    ck_assert_int_eq(sctp_assoc_shutdown(end[0]), 0);
    settle();
    ck_assert_int_eq(sctp_assoc_status(end[0])->state, SCTP_ASSOC_ESTABLISHED); /* DATA first */
    (void)pass();
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(sctp_assoc_status(end[i])->state, SCTP_ASSOC_CLOSED);
        ck_assert_int_eq(sctp_assoc_status(end[i])->cause, SCTP_ASSOC_SHUT);
    }
    (void)hear(end[1], "x");
    sctp_assoc_release(end[0]);
    sctp_assoc_release(end[1]);
    open_pair(end, NULL, NULL);
    sctp_assoc_abort(end[1]);
    settle();
    ck_assert_int_eq(sctp_assoc_status(end[0])->cause, SCTP_ASSOC_ABORTED);
    ck_assert_int_eq(sctp_assoc_status(end[1])->cause, SCTP_ASSOC_OWN);
    sctp_assoc_abort(end[1]);
    settle();
}
END_TEST

START_TEST(strangers_are_bounded)
{
    struct sctp_packet packet;
    struct sctp_init init = {.tag = 5, .window = 1, .outbound = 1, .inbound = 1};
    struct iwarp_sentence error;

    ck_assert_int_eq(sctp_host_listen(wire.host[0], PORT, NULL, &error), 0);
    for (unsigned port = 1; port <= SCTP_HOST_ASSOCS_MAX + 10; port++) {
        sctp_packet_begin(&packet, (uint16_t)port, PORT, 0);
        (void)sctp_packet_init(&packet, false, &init);
        sctp_packet_close(&packet);
        wire.count[0] = 0;
        sctp_host_input(wire.host[0], packet.octets, packet.count, wire.now);
    }
    ck_assert_uint_eq(wire.sent[0], SCTP_HOST_ASSOCS_MAX);
    wire.count[0] = 0;
    ck_assert_ptr_null(sctp_host_accept(wire.host[0], PORT)); /* none is established */
    ck_assert(sctp_host_has(wire.host[0], PORT, 1));
    sctp_host_unlisten(wire.host[0], PORT);
    ck_assert(!sctp_host_has(wire.host[0], PORT, 1));
}
END_TEST

Suite *sctp_host_suite(void)
{
    Suite *suite = suite_create("sctp_host");
    TCase *cases = tcase_create("sctp_host");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, set_up_says_what_it_is_reported);
    tcase_add_test(cases, options_are_looked_at);
    tcase_add_test(cases, chunk_fields_are_the_callers);
    tcase_add_test(cases, chunks_are_bundled);
    tcase_add_test(cases, lost_chunks_come_again);
    tcase_add_test(cases, sacks_are_withheld);
    tcase_add_test(cases, shut_window_acknowledges_nothing);
    tcase_add_test(cases, association_ends_by_shutdown_and_abort);
    tcase_add_test(cases, strangers_are_bounded);
    suite_add_tcase(suite, cases);
    return suite;
}
