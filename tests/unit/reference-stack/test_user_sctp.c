/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two stacks over libusrsctp, joined by a link in memory that loses, doubles and reorders packets. Skipped where the
 * build has no libusrsctp.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/transport/user_sctp.h"
#include "tests/unit/suites.h"
#include "wire/sctp.h"
#include "wire/ddp_sctp.h"

Suite *user_sctp_suite(void);

enum {
    SIDES = 2,
    ACTIVE = 0,
    PASSIVE = 1,
    QUEUE = 4096,
    PACKET = 1480,
    STREAMS = 3,
    SID_STEP = 256, /* SIDs with the same low octet */
    BULK = 300000,
    PORT = 5043,
    RTO_MS = 10,
    RETRANSMISSIONS = 60000
};

struct packet {
    size_t octets;
    uint8_t data[PACKET];
};

struct side {
    struct link *link;
    int number;
    struct iwarp_device *device;
    struct iwarp_association_config config;
    struct iwarp_association *association;
    struct user_sctp *end;
    struct iwarp_stream *streams[STREAMS];
    size_t kinds[STREAMS][IWARP_EVENT_ERROR + 1];
    size_t reported[IWARP_ASSOCIATION_DOWN + 1];
    struct packet *queue; /* on the way to the other side */
    size_t count;
};

struct link {
    struct side side[SIDES];
    uint32_t random;
    unsigned loss;       /* of 256 */
    bool unacknowledged; /* the passive side's packets with a SACK are lost */
    uint64_t now;
    unsigned data_chunks, wrong_chunks; /* seen on the way; those that are not whole, unordered, or of another PPID */
};

static uint32_t draw(struct link *link, uint32_t below)
{
    link->random = link->random * UINT32_C(1664525) + UINT32_C(1013904223);
    return (link->random >> 8) % below;
}

static bool has_sack(const uint8_t *packet, size_t octets)
{
    const uint8_t *p = packet + SCTP_COMMON_OCTETS;
    struct sctp_chunk chunk;

    while (sctp_chunk_parse(&p, packet + octets, &chunk) == WIRE_OK)
        if (chunk.type == SCTP_SACK)
            return true;
    return false;
}

static void look(struct link *link, const uint8_t *packet, size_t octets)
{
    const uint8_t *p = packet + SCTP_COMMON_OCTETS;
    struct sctp_chunk chunk;
    struct sctp_data data;

    ck_assert_uint_eq(sctp_common_get_Checksum(packet), sctp_checksum(packet, octets));
    while (sctp_chunk_parse(&p, packet + octets, &chunk) == WIRE_OK) {
        if (chunk.type != SCTP_DATA || sctp_data_parse(&chunk, &data) != WIRE_OK)
            continue;
        link->data_chunks++;
        link->wrong_chunks += !data.unordered || !data.first || !data.last ||
                              (data.ppid != DDP_SCTP_PPID_SEGMENT && data.ppid != DDP_SCTP_PPID_CONTROL &&
                               data.ppid != DDP_SCTP_PPID_DRAFT_SEGMENT && data.ppid != DDP_SCTP_PPID_DRAFT_CONTROL);
    }
}

static void on_packet(void *user, const uint8_t *packet, size_t octets)
{
    struct side *side = user;
    struct link *link = side->link;

    ck_assert_uint_le(octets, PACKET);
    look(link, packet, octets);
    if (side->number == PASSIVE && link->unacknowledged && has_sack(packet, octets))
        return;
    for (unsigned copies = 1 + (link->loss != 0 && draw(link, 50) == 0); copies > 0; copies--) {
        if (side->count == QUEUE || draw(link, 256) < link->loss)
            continue;
        side->queue[side->count].octets = octets;
        memcpy(side->queue[side->count++].data, packet, octets);
    }
}

static void poll_all(struct side *side)
{
    struct iwarp_association_event reported;
    struct iwarp_event event;

    for (unsigned n = 0; n < STREAMS; n++)
        while (iwarp_stream_poll(side->streams[n], &event))
            side->kinds[n][event.kind]++;
    while (iwarp_association_poll(side->association, &reported))
        side->reported[reported.kind]++;
}

/* One packet arrives, maybe not the oldest one; without any, time passes. */
static void step(struct link *link)
{
    for (int i = 0; i < SIDES; i++) {
        struct side *from = &link->side[i], *to = &link->side[1 - i];
        struct packet packet;
        size_t at;

        if (from->count == 0)
            continue;
        at = link->loss != 0 && draw(link, 4) == 0 ? draw(link, (uint32_t)from->count) : 0;
        packet = from->queue[at];
        memmove(&from->queue[at], &from->queue[at + 1], (--from->count - at) * sizeof(packet));
        user_sctp_input(to->end, packet.data, packet.octets, ++link->now);
        poll_all(to);
    }
    if (link->side[0].count + link->side[1].count == 0) {
        user_sctp_pass(10);
        link->now += 10000000;
    }
    for (int i = 0; i < SIDES; i++) {
        user_sctp_run(link->side[i].end, link->now);
        poll_all(&link->side[i]);
    }
}

static void run_until(struct link *link, bool (*done)(const struct link *link))
{
    for (unsigned i = 0; i < 5000000 && !done(link); i++)
        step(link);
    ck_assert(done(link));
}

static struct link *open_link_of(enum iwarp_sctp_profile profile, uint32_t seed, unsigned loss,
                                 unsigned retransmissions)
{
    struct link *link = calloc(1, sizeof(*link));
    struct iwarp_sentence sentence = {""};

    ck_assert_ptr_nonnull(link);
    link->random = seed + 1;
    link->loss = loss;
    ck_assert_msg(user_sctp_start(&sentence) == 0, "%s", sentence.text);
    for (int i = SIDES - 1; i >= 0; i--) {
        struct side *side = &link->side[i];
        struct user_sctp_config config = {.active = i == ACTIVE,
                                          .port = (uint16_t)(PORT + i),
                                          .peer_port = (uint16_t)(PORT + 1 - i),
                                          .packet_max = PACKET,
                                          .rto_ms = RTO_MS,
                                          .retransmissions = retransmissions,
                                          .fragments = profile == IWARP_SCTP_RFC5043,
                                          .send = on_packet,
                                          .user = side};

        side->link = link;
        side->number = i;
        side->queue = calloc(QUEUE, sizeof(struct packet));
        side->device = iwarp_device_new(NULL);
        iwarp_association_config_default(&side->config, profile);
        side->config.streams = STREAMS * SID_STEP;
        side->association = iwarp_association_new(side->device, &side->config, 1, &sentence);
        side->end = user_sctp_new(side->association, &config, 1, &sentence);
        ck_assert_msg(side->end != NULL, "%s", sentence.text);
    }
    return link;
}

static struct link *open_link(enum iwarp_sctp_profile profile, uint32_t seed, unsigned loss)
{
    return open_link_of(profile, seed, loss, RETRANSMISSIONS);
}

static void free_link(struct link *link)
{
    for (int i = 0; i < SIDES; i++) {
        struct side *side = &link->side[i];

        user_sctp_free(side->end);
        for (unsigned n = 0; n < STREAMS; n++)
            iwarp_stream_free(side->streams[n]);
        iwarp_association_free(side->association);
        iwarp_device_free(side->device);
        free(side->queue);
    }
    free(link);
}

static void close_link(struct link *link)
{
    free_link(link);
    user_sctp_stop();
}

static bool is_up(const struct link *link)
{
    return link->side[0].reported[IWARP_ASSOCIATION_UP] + link->side[1].reported[IWARP_ASSOCIATION_UP] == SIDES;
}

static bool is_exchanged(const struct link *link)
{
    for (unsigned n = 0; n < STREAMS; n++)
        if (link->side[ACTIVE].kinds[n][IWARP_EVENT_READ_DONE] == 0 ||
            link->side[PASSIVE].kinds[n][IWARP_EVENT_RECEIVE] == 0)
            return false;
    return true;
}

static bool is_down(const struct link *link)
{
    return link->side[0].reported[IWARP_ASSOCIATION_DOWN] + link->side[1].reported[IWARP_ASSOCIATION_DOWN] == SIDES;
}

static uint8_t source[BULK], sinks[STREAMS][BULK], reads[STREAMS][BULK], text[STREAMS][64];

/* A Write and a Read of 300000 octets on each stream, and a Send after them. */
static void exchange(enum iwarp_sctp_profile profile, uint32_t seed, unsigned loss)
{
    struct link *link = open_link(profile, seed, loss);
    struct iwarp_stream_config config;

    for (size_t i = 0; i < BULK; i++)
        source[i] = (uint8_t)draw(link, 256);
    memset(sinks, 0, sizeof(sinks));
    memset(reads, 0, sizeof(reads));
    run_until(link, is_up);
    for (unsigned n = 0; n < STREAMS; n++)
        for (int i = SIDES - 1; i >= 0; i--) {
            iwarp_sctp_stream_config_default(&config, i == ACTIVE ? IWARP_INITIATOR : IWARP_RESPONDER);
            config.startup_limit = 0;
            link->side[i].streams[n] = iwarp_sctp_stream_new(link->side[i].association, (uint16_t)(n * SID_STEP + 3),
                                                             &config, link->now, NULL);
            ck_assert_ptr_nonnull(link->side[i].streams[n]);
        }
    for (unsigned n = 0; n < STREAMS; n++) {
        struct iwarp_stream *stream = link->side[ACTIVE].streams[n];
        struct iwarp_region sink = {.length = BULK, .octets = sinks[n], .access = 12}, read = sink;
        struct iwarp_write write = {.octets = source, .count = BULK};
        struct iwarp_read fetch = {.count = BULK};
        struct iwarp_send send = {.octets = (const uint8_t *)"done", .count = 5};

        read.octets = reads[n];
        read.access = IWARP_LOCAL_WRITE;
        ck_assert_int_eq(iwarp_region_register(link->side[PASSIVE].device, &sink, NULL), 0);
        ck_assert_int_eq(iwarp_region_register(link->side[ACTIVE].device, &read, NULL), 0);
        write.stag = fetch.source_stag = sink.stag;
        fetch.sink_stag = read.stag;
        (void)iwarp_stream_post_receive(link->side[PASSIVE].streams[n], 1, text[n], sizeof(text[n]), NULL);
        ck_assert_int_eq(iwarp_stream_post_write(stream, &write, NULL), 0);
        ck_assert_int_eq(iwarp_stream_post_read(stream, &fetch, NULL), 0);
        ck_assert_int_eq(iwarp_stream_post_send(stream, &send, NULL), 0);
    }
    run_until(link, is_exchanged);
    for (unsigned n = 0; n < STREAMS; n++) {
        ck_assert_mem_eq(sinks[n], source, BULK);
        ck_assert_mem_eq(reads[n], source, BULK);
        ck_assert_str_eq((const char *)text[n], "done");
        ck_assert_uint_eq(link->side[ACTIVE].kinds[n][IWARP_EVENT_ERROR], 0);
    }
    ck_assert_uint_gt(link->data_chunks, 2 * STREAMS * BULK / PACKET);
    ck_assert_uint_eq(link->wrong_chunks, 0);
    for (int i = 0; i < SIDES; i++)
        iwarp_association_close(link->side[i].association, link->now);
    run_until(link, is_down);
    for (unsigned n = 0; n < STREAMS; n++)
        ck_assert_uint_eq(link->side[ACTIVE].kinds[n][IWARP_EVENT_CLOSED], 1);
    close_link(link);
}

START_TEST(two_stacks_exchange_over_usrsctp)
{
    exchange(IWARP_SCTP_RFC5043, 1, 0);
}
END_TEST

START_TEST(two_stacks_of_the_draft)
{
    exchange(IWARP_SCTP_DRAFT02, 2, 0);
}
END_TEST

START_TEST(on_a_bad_link)
{
    for (uint32_t seed = 3; seed < 6; seed++)
        exchange(IWARP_SCTP_RFC5043, seed, 8);
    exchange(IWARP_SCTP_DRAFT02, 6, 16);
}
END_TEST

/* An endpoint without an indication: the other aborts the association (RFC 5043 7.1). */
static bool is_refused(const struct link *link)
{
    return link->side[PASSIVE].reported[IWARP_ASSOCIATION_DOWN] == 1 &&
           link->side[ACTIVE].reported[IWARP_ASSOCIATION_DOWN] == 1;
}

START_TEST(association_without_indication_is_refused)
{
    struct link *link = calloc(1, sizeof(*link));
    struct iwarp_sentence sentence = {""};

    ck_assert_int_eq(user_sctp_start(&sentence), 0);
    link->random = 1;
    for (int i = SIDES - 1; i >= 0; i--) {
        struct side *side = &link->side[i];
        struct user_sctp_config config = {.active = i == ACTIVE,
                                          .port = (uint16_t)(PORT + i),
                                          .peer_port = (uint16_t)(PORT + 1 - i),
                                          .packet_max = PACKET,
                                          .send = on_packet,
                                          .user = side};

        side->link = link;
        side->queue = calloc(QUEUE, sizeof(struct packet));
        side->device = iwarp_device_new(NULL);
        iwarp_association_config_default(&side->config, IWARP_SCTP_RFC5043);
        side->config.indicate = i == PASSIVE;
        side->config.any_indication = i == ACTIVE;
        side->association = iwarp_association_new(side->device, &side->config, 1, &sentence);
        side->end = user_sctp_new(side->association, &config, 1, &sentence);
        ck_assert_msg(side->end != NULL, "%s", sentence.text);
    }
    run_until(link, is_refused);
    ck_assert_uint_eq(link->side[PASSIVE].reported[IWARP_ASSOCIATION_UP], 0);
    close_link(link);
}
END_TEST

/*
 * A peer that acknowledges nothing: SCTP gives the association up, and each stream's ULP receives one event. Until then
 * no more waits than what SCTP takes, however much was posted.
 */
static void never_acknowledged(enum iwarp_sctp_profile profile)
{
    enum { SHORT = 5, LARGE_OCTETS = 32 << 20, LEAST_SEGMENT = 1024 };
    static uint8_t large[LARGE_OCTETS], target[LARGE_OCTETS];
    struct link *link = open_link_of(profile, 7, 0, SHORT);
    struct side *active = &link->side[ACTIVE];
    struct iwarp_stream_config config;
    struct iwarp_region sink = {.length = sizeof(target), .octets = target, .access = 12};
    struct iwarp_write write = {.octets = large, .count = sizeof(large)};

    run_until(link, is_up);
    for (unsigned n = 0; n < STREAMS; n++)
        for (int i = SIDES - 1; i >= 0; i--) {
            iwarp_sctp_stream_config_default(&config, i == ACTIVE ? IWARP_INITIATOR : IWARP_RESPONDER);
            config.startup_limit = 0;
            link->side[i].streams[n] =
                iwarp_sctp_stream_new(link->side[i].association, (uint16_t)n, &config, link->now, NULL);
        }
    for (unsigned i = 0; i < 1000; i++)
        step(link); /* the sessions are there */
    ck_assert_int_eq(iwarp_region_register(link->side[PASSIVE].device, &sink, NULL), 0);
    write.stag = sink.stag;
    link->unacknowledged = true;
    for (unsigned n = 0; n < STREAMS; n++)
        ck_assert_int_eq(iwarp_stream_post_write(active->streams[n], &write, NULL), 0);
    for (unsigned i = 0; i < 100000 && active->reported[IWARP_ASSOCIATION_DOWN] == 0; i++)
        step(link);
    ck_assert_uint_eq(active->reported[IWARP_ASSOCIATION_DOWN], 1);
    ck_assert_uint_lt(iwarp_association_counters(active->association)->messages_sent * LEAST_SEGMENT,
                      2 * (uint64_t)USER_SCTP_SPACE);
    for (unsigned n = 0; n < STREAMS; n++) {
        ck_assert_uint_eq(active->kinds[n][IWARP_EVENT_ERROR], 1);
        ck_assert_uint_eq(active->kinds[n][IWARP_EVENT_FLUSHED], 1);
        ck_assert_uint_eq(active->kinds[n][IWARP_EVENT_WRITE_DONE], 0);
        ck_assert_uint_eq(active->kinds[n][IWARP_EVENT_CLOSED], 1);
    }
    close_link(link);
}

START_TEST(a_peer_without_sacks)
{
    never_acknowledged(IWARP_SCTP_RFC5043);
    never_acknowledged(IWARP_SCTP_DRAFT02);
}
END_TEST

/* A world of which nothing is left does not hold up the timers of the next, whose clock begins anew. */
START_TEST(timers_follow_a_new_clock)
{
    enum { MS = 1000000, BEFORE = 600 * MS, AGAIN = 500 * MS };
    struct link *link = open_link(IWARP_SCTP_RFC5043, 1, 0);
    size_t packets;

    user_sctp_clock(1);
    user_sctp_clock(BEFORE);
    free_link(link);
    link = open_link(IWARP_SCTP_RFC5043, 1, 0);
    packets = link->side[ACTIVE].count;
    ck_assert_uint_eq(packets, 1);
    for (uint64_t now = 1; now < AGAIN && link->side[ACTIVE].count == packets; now += MS)
        user_sctp_clock(now);
    ck_assert_uint_gt(link->side[ACTIVE].count, packets); /* its INIT once more, as nobody answers */
    close_link(link);
}
END_TEST

Suite *user_sctp_suite(void)
{
    Suite *suite = suite_create("user_sctp");
    TCase *tcase = tcase_create("usrsctp");
    struct iwarp_sentence sentence = {""};

    suite_add_tcase(suite, tcase);
    tcase_set_timeout(tcase, 120);
    if (user_sctp_start(&sentence) != 0) {
        fprintf(stderr, "SKIP user_sctp: %s\n", sentence.text);
        return suite;
    }
    user_sctp_stop();
    tcase_add_test(tcase, two_stacks_exchange_over_usrsctp);
    tcase_add_test(tcase, two_stacks_of_the_draft);
    tcase_add_test(tcase, on_a_bad_link);
    tcase_add_test(tcase, association_without_indication_is_refused);
    tcase_add_test(tcase, a_peer_without_sacks);
    tcase_add_test(tcase, timers_follow_a_new_clock);
    return suite;
}
