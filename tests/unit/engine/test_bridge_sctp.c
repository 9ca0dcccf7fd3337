/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets of SCTP that cross a bridge: TSNs and what acknowledges them, once chunks were taken away or put in. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/octets.h"
#include "conformance/engine/bridge/bridge_sctp.h"
#include "tests/unit/suites.h"

Suite *bridge_sctp_suite(void);

#define FIRST UINT32_C(0xFFFFFFFE) /* TSN of A: they wrap */

enum {
    SENT_MOST = 16,
    FRAME = 2000,
    MTU = 1500,
    IP = 14,
    SCTP = IP + 20,
    UDP_SCTP = SCTP + BRIDGE_UDP_OCTETS,
    CHUNKS = SCTP + SCTP_COMMON_OCTETS,
    DATA_OCTETS = 20,
    FIRST_OF_B = 500,
};

struct bench {
    struct bridge_streams streams;
    struct bridge_sctp sctp;
    struct bridge_association *association;
    uint8_t sent[SENT_MOST][FRAME];
    size_t octets[SENT_MOST];
    unsigned side[SENT_MOST];
    bool changed[SENT_MOST], damaged[SENT_MOST];
    size_t count;
    enum bridge_wait expired;
    unsigned port; /* 0: of the association that is tested */
    bool udp;
};

static void on_send(void *user, unsigned side, uint8_t *frame, size_t octets, bool changed)
{
    struct bench *bench = user;

    ck_assert_uint_lt(bench->count, SENT_MOST);
    ck_assert_uint_le(octets, FRAME);
    memcpy(bench->sent[bench->count], frame, octets);
    bench->octets[bench->count] = octets;
    bench->side[bench->count] = side;
    bench->changed[bench->count] = changed;
    bench->damaged[bench->count++] = bench->streams.damaged;
}

static void on_expired(void *user, const struct bridge_expiry *expiry)
{
    ((struct bench *)user)->expired = expiry->wait;
}

/* ---- packets ----------------------------------------------------------------------------------------------------- */

static size_t data_chunk(uint8_t *out, uint32_t tsn, const char text[4])
{
    sctp_data_set_Type(out, SCTP_DATA);
    out[1] = SCTP_FLAG_U | SCTP_FLAG_B | SCTP_FLAG_E;
    octets_put16(out + 2, DATA_OCTETS);
    octets_put32(out + 4, tsn);
    memset(out + 8, 0, 8);
    memcpy(out + SCTP_DATA_OCTETS, text, 4);
    return DATA_OCTETS;
}

static size_t sack_chunk(uint8_t *out, uint32_t cumulative, unsigned gaps, const uint16_t *blocks)
{
    memset(out, 0, 16);
    out[0] = SCTP_SACK;
    octets_put16(out + 2, 16 + gaps * 4);
    octets_put32(out + 4, cumulative);
    octets_put32(out + 8, 9000);
    octets_put16(out + 12, gaps);
    for (unsigned i = 0; i < gaps * 2; i++)
        octets_put16(out + 16 + i * 2, blocks[i]);
    return 16 + gaps * 4;
}

static void begin_frame(const struct bench *bench, unsigned side, uint8_t *frame, struct bridge_packet *packet)
{
    uint8_t *ip = frame + IP;

    memset(frame, 0, FRAME);
    octets_put16(frame + 12, 0x0800);
    ip[0] = 0x45;
    ip[9] = bench->udp ? 17 : SCTP_PROTOCOL;
    ip[15] = (uint8_t)(1 + side);
    ip[19] = (uint8_t)(2 - side);
    *packet = (struct bridge_packet){.family = 4,
                                     .protocol = BRIDGE_PROTOCOL_SCTP,
                                     .ip = IP,
                                     .udp = bench->udp ? SCTP : 0,
                                     .transport = bench->udp ? UDP_SCTP : SCTP,
                                     .source = ip + 12,
                                     .destination = ip + 16};
    packet->payload = packet->transport + SCTP_COMMON_OCTETS;
    if (bench->udp)
        octets_put16(frame + SCTP + 6, 1); /* it has a checksum */
    octets_put16(frame + packet->transport, (uint16_t)(4000 + 2 * bench->port + side));
    octets_put16(frame + packet->transport + 2, (uint16_t)(4001 + 2 * bench->port - side));
    octets_put32(frame + packet->transport + 4, 77 + side);
}

/* A packet of these chunks from `side`; between taking and forwarding it, `change` may say what becomes of it. */
static void send_changed(struct bench *bench, unsigned side, const uint8_t *chunks, size_t octets,
                         void (*change)(struct bench *))
{
    struct bridge_packet packet;
    uint8_t frame[FRAME];

    begin_frame(bench, side, frame, &packet);
    memcpy(frame + packet.payload, chunks, octets);
    packet.end = packet.payload + octets;
    bridge_packet_mend(frame, &packet);
    ck_assert(bridge_packet_parse(frame, packet.end, &packet));
    bench->association = bridge_sctp_input(&bench->sctp, side, frame, packet.end, &packet);
    ck_assert_ptr_nonnull(bench->association);
    if (change != NULL)
        change(bench);
    bridge_sctp_flush(&bench->sctp, side);
}

static void send_data(struct bench *bench, uint32_t tsn, const char text[4], void (*change)(struct bench *))
{
    uint8_t chunk[DATA_OCTETS];

    send_changed(bench, 0, chunk, data_chunk(chunk, tsn, text), change);
}

static void send_sack(struct bench *bench, uint32_t cumulative, unsigned gaps, const uint16_t *blocks)
{
    uint8_t chunk[64];

    send_changed(bench, 1, chunk, sack_chunk(chunk, cumulative, gaps, blocks), NULL);
}

static void send_init(struct bench *bench, unsigned side, unsigned type, uint32_t tsn)
{
    uint8_t chunk[SCTP_INIT_OCTETS] = {0};

    sctp_init_set_Type(chunk, type);
    sctp_init_set_Length(chunk, sizeof(chunk));
    sctp_init_set_InitiateTag(chunk, 70 + side);
    sctp_init_set_a_rwnd(chunk, 8000);
    sctp_init_set_InitialTSN(chunk, tsn);
    send_changed(bench, side, chunk, sizeof(chunk), NULL);
}

static struct bench *begin(bool udp)
{
    static const uint8_t ack[] = {SCTP_COOKIE_ACK, 0, 0, SCTP_CHUNK_OCTETS};
    struct bench *bench = calloc(1, sizeof(*bench));

    ck_assert_ptr_nonnull(bench);
    bench->udp = udp;
    bench->streams = (struct bridge_streams){
        .mtu = {MTU, MTU}, .now_ns = 1000, .send = on_send, .expired = on_expired, .user = bench};
    ck_assert_int_eq(bridge_sctp_begin(&bench->sctp, &bench->streams), 0);
    send_init(bench, 0, SCTP_INIT, FIRST);
    send_init(bench, 1, SCTP_INIT_ACK, FIRST_OF_B);
    send_changed(bench, 1, ack, sizeof(ack), NULL);
    ck_assert_uint_eq(bench->count, 3);
    ck_assert(!bench->changed[0] && !bench->changed[1] && !bench->changed[2]);
    bench->count = 0;
    return bench;
}

static void end(struct bench *bench)
{
    bridge_sctp_free(&bench->sctp);
    free(bench);
}

/* The chunks of the frame that was sent, which goes to `side`, and has good checksums. */
static const uint8_t *sent(const struct bench *bench, size_t index, unsigned side, size_t octets)
{
    struct bridge_packet packet;

    ck_assert_uint_lt(index, bench->count);
    ck_assert_uint_eq(bench->side[index], side);
    ck_assert(bridge_packet_parse(bench->sent[index], bench->octets[index], &packet));
    ck_assert_uint_eq(packet.end - packet.payload, octets);
    ck_assert_uint_eq(sctp_common_get_Checksum(bench->sent[index] + packet.transport),
                      sctp_checksum(bench->sent[index] + packet.transport, packet.end - packet.transport));
    return bench->sent[index] + packet.payload;
}

static void check_data(const uint8_t *chunk, uint32_t tsn, const char text[4])
{
    ck_assert_uint_eq(chunk[0], SCTP_DATA);
    ck_assert_uint_eq(octets_get32(chunk + 4), tsn);
    ck_assert_mem_eq(chunk + SCTP_DATA_OCTETS, text, 4);
}

static void check_cumulative(const struct bench *bench, size_t index, uint32_t tsn)
{
    ck_assert_uint_eq(octets_get32(sent(bench, index, 0, 16) + 4), tsn);
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

static void change_to(struct bench *bench, uint32_t tsn, const char *texts, bool keeps_crc)
{
    size_t count = strlen(texts) / 4;
    struct bridge_chunk_edit edit = {.count = count, .octets = count * DATA_OCTETS, .keeps_crc = keeps_crc};
    struct iwarp_sentence error;
    uint8_t chunks[4 * DATA_OCTETS];

    for (size_t i = 0; i < count; i++)
        (void)data_chunk(chunks + i * DATA_OCTETS, 0, texts + i * 4);
    edit.chunks = chunks;
    ck_assert_int_eq(bridge_sctp_change(bench->association, 0, tsn, &edit, &error), 0);
}

static void drop_first(struct bench *bench)
{
    change_to(bench, FIRST, "", false);
}

static void three_for_first(struct bench *bench)
{
    change_to(bench, FIRST, "new1new2one!", false);
}

static void damage_first(struct bench *bench)
{
    change_to(bench, FIRST, "else", true);
}

START_TEST(sctp_chunk_that_is_dropped_moves_later_tsns)
{
    struct bench *bench = begin(_i != 0);

    send_data(bench, FIRST, "one!", drop_first);
    check_cumulative(bench, 0, FIRST); /* nothing before it waits: the bridge acknowledges it */
    send_data(bench, FIRST + 1, "two!", NULL);
    check_data(sent(bench, 1, 1, DATA_OCTETS), FIRST, "two!");
    send_sack(bench, FIRST, 0, NULL);
    check_cumulative(bench, 2, FIRST + 1);
    send_data(bench, FIRST + 2, "tri!", NULL); /* for the rest of the association, also over the end of the numbers */
    check_data(sent(bench, 3, 1, DATA_OCTETS), FIRST + 1, "tri!");
    ck_assert_uint_eq(bench->count, 4);
    end(bench);
}
END_TEST

START_TEST(sctp_retransmission_has_the_same_chunks_put_in)
{
    struct bench *bench = begin(_i != 0);
    const uint8_t *chunks;

    send_data(bench, FIRST, "one!", three_for_first);
    send_data(bench, FIRST, "one!", NULL);
    for (size_t i = 0; i < 2; i++) {
        chunks = sent(bench, i, 1, (size_t)3 * DATA_OCTETS);
        check_data(chunks, FIRST, "new1");
        check_data(chunks + DATA_OCTETS, FIRST + 1, "new2");
        check_data(chunks + 2 * (size_t)DATA_OCTETS, FIRST + 2, "one!");
    }
    send_sack(bench, FIRST + 1, 0, NULL); /* its own chunk has not come */
    check_cumulative(bench, 2, FIRST - 1);
    send_sack(bench, FIRST + 2, 0, NULL);
    check_cumulative(bench, 3, FIRST);
    send_data(bench, FIRST + 1, "two!", NULL);
    check_data(sent(bench, 4, 1, DATA_OCTETS), FIRST + 3, "two!");
    send_data(bench, FIRST, "one!", NULL); /* it has crossed the SACK */
    check_data(sent(bench, 5, 1, (size_t)3 * DATA_OCTETS), FIRST, "new1");
    end(bench);
}
END_TEST

START_TEST(sctp_gap_blocks_are_in_the_numbers_of_the_sender)
{
    static const uint16_t blocks[] = {2, 4, 6, 6};
    struct bench *bench = begin(false);
    const uint8_t *sack;

    send_data(bench, FIRST, "one!", three_for_first); /* FIRST to FIRST + 2 there */
    for (uint32_t i = 1; i < 5; i++)
        send_data(bench, FIRST + i, "more", NULL); /* FIRST + 3 to FIRST + 6 there */
    bench->count = 0;
    send_sack(bench, FIRST, 2, blocks); /* it has FIRST + 2 to FIRST + 4, and FIRST + 6: the first chunk in part */
    sack = sent(bench, 0, 0, 24);
    ck_assert_uint_eq(octets_get32(sack + 4), FIRST - 1);
    ck_assert_uint_eq(octets_get16(sack + 12), 2);
    ck_assert_uint_eq(octets_get16(sack + 16), 2); /* FIRST + 1 */
    ck_assert_uint_eq(octets_get16(sack + 18), 3);
    ck_assert_uint_eq(octets_get16(sack + 20), 5); /* FIRST + 4 */
    ck_assert_uint_eq(octets_get16(sack + 22), 5);
    end(bench);
}
END_TEST

START_TEST(sctp_gap_block_of_what_was_put_in_alone_is_none)
{
    static const uint16_t block[] = {2, 2};
    struct bench *bench = begin(false);
    const uint8_t *sack;

    send_data(bench, FIRST, "one!", three_for_first);
    bench->count = 0;
    send_sack(bench, FIRST - 1, 1, block);
    sack = sent(bench, 0, 0, 16);
    ck_assert_uint_eq(octets_get16(sack + 2), 16);
    ck_assert_uint_eq(octets_get16(sack + 12), 0);
    end(bench);
}
END_TEST

START_TEST(sctp_wrong_checksum_is_for_one_packet_alone)
{
    struct bench *bench = begin(_i != 0);

    send_data(bench, FIRST, "one!", damage_first);
    ck_assert(bench->damaged[0]);
    check_data(bench->sent[0] + (_i != 0 ? UDP_SCTP : SCTP) + SCTP_COMMON_OCTETS, FIRST, "else");
    send_data(bench, FIRST, "one!", NULL);
    check_data(sent(bench, 1, 1, DATA_OCTETS), FIRST, "one!");
    ck_assert(!bench->damaged[1] && !bench->changed[1]);
    end(bench);
}
END_TEST

static void stall_second(struct bench *bench)
{
    bridge_sctp_wait(&bench->sctp, &bench->association->direction[0], BRIDGE_STALLED, FIRST + 1, 5000);
}

START_TEST(sctp_packet_is_cut_before_the_chunk_that_waits)
{
    struct bench *bench = begin(false);
    uint8_t chunks[2 * DATA_OCTETS + 16];
    size_t octets = data_chunk(chunks, FIRST, "one!");

    octets += data_chunk(chunks + octets, FIRST + 1, "two!");
    send_changed(bench, 0, chunks, octets, stall_second);
    check_data(sent(bench, 0, 1, DATA_OCTETS), FIRST, "one!");
    send_data(bench, FIRST + 1, "two!", NULL);                                     /* again: it is held already */
    send_changed(bench, 0, chunks, sack_chunk(chunks, FIRST_OF_B, 0, NULL), NULL); /* no chunk of DATA: it goes */
    send_data(bench, FIRST, "one!", NULL);                                         /* so does what is older */
    ck_assert_uint_eq(bench->count, 3);
    ck_assert_uint_eq(bridge_sctp_time(&bench->sctp, 2000), 3000);
    ck_assert_uint_eq(bridge_sctp_time(&bench->sctp, 5000), UINT64_MAX);
    ck_assert_uint_eq(bench->expired, BRIDGE_STALLED);
    check_data(sent(bench, 3, 1, DATA_OCTETS), FIRST + 1, "two!");
    ck_assert_uint_eq(bench->count, 4);
    ck_assert_ptr_null(bench->sctp.waiting);
    end(bench);
}
END_TEST

START_TEST(sctp_release_lets_all_associations_go)
{
    struct bench *bench = begin(false);

    send_data(bench, FIRST + 1, "two!", stall_second);
    ck_assert_uint_eq(bench->count, 0);
    bridge_sctp_release(&bench->sctp);
    check_data(sent(bench, 0, 1, DATA_OCTETS), FIRST + 1, "two!");
    end(bench);
}
END_TEST

START_TEST(sctp_time_visits_what_waits_alone)
{
    struct bench *bench = begin(false);

    for (bench->port = 100; bench->port > 0; bench->port--, bench->count = 0)
        send_data(bench, FIRST, "one!", NULL);
    send_data(bench, FIRST + 1, "two!", stall_second);
    ck_assert_uint_eq(bridge_sctp_time(&bench->sctp, 2000), 3000);
    ck_assert_uint_eq(bridge_sctp_time(&bench->sctp, 5000), UINT64_MAX);
    ck_assert_uint_eq(bridge_sctp_time(&bench->sctp, 5001), UINT64_MAX);
    ck_assert_uint_eq(bench->streams.looked_at, 2);
    end(bench);
}
END_TEST

static void lose_first(struct bench *bench)
{
    bench->association->direction[0].loses = true;
    bench->association->direction[0].lose = FIRST;
}

START_TEST(sctp_packet_is_lost_once)
{
    struct bench *bench = begin(false);

    send_data(bench, FIRST, "one!", lose_first);
    ck_assert_uint_eq(bench->count, 0);
    send_data(bench, FIRST, "one!", NULL);
    ck_assert_uint_eq(bench->count, 1);
    end(bench);
}
END_TEST

START_TEST(sctp_shutdown_of_the_bridge_acknowledges_what_still_comes)
{
    static const uint8_t ack[] = {SCTP_SHUTDOWN_ACK, 0, 0, SCTP_CHUNK_OCTETS};
    struct bench *bench = begin(false);
    uint8_t chunk[16];

    send_data(bench, FIRST, "one!", NULL);
    send_changed(bench, 1, chunk, sack_chunk(chunk, FIRST, 0, NULL), NULL);
    bench->count = 0;
    bridge_sctp_close(&bench->sctp, bench->association, false);
    ck_assert_uint_eq(octets_get32(sent(bench, 0, 0, SCTP_SHUTDOWN_OCTETS) + 4), FIRST);
    ck_assert_uint_eq(octets_get32(sent(bench, 1, 1, SCTP_SHUTDOWN_OCTETS) + 4), FIRST_OF_B - 1);
    send_data(bench, FIRST + 1, "two!", NULL);
    ck_assert_uint_eq(octets_get32(sent(bench, 2, 0, SCTP_SHUTDOWN_OCTETS) + 4), FIRST + 1);
    send_changed(bench, 1, ack, sizeof(ack), NULL);
    ck_assert_uint_eq(sent(bench, 3, 1, SCTP_CHUNK_OCTETS)[0], SCTP_SHUTDOWN_COMPLETE);
    ck_assert_uint_eq(bench->count, 4);
    end(bench);
}
END_TEST

START_TEST(sctp_abort_of_the_bridge_is_in_both_names)
{
    struct bench *bench = begin(false);
    uint8_t chunk[16];

    send_data(bench, FIRST, "one!", NULL);
    bench->count = 0;
    bridge_sctp_close(&bench->sctp, bench->association, true);
    for (unsigned side = 0; side < BRIDGE_SIDES; side++) {
        const uint8_t *chunks = sent(bench, side, side, SCTP_CHUNK_OCTETS);

        ck_assert_uint_eq(chunks[0], SCTP_ABORT);
        ck_assert_uint_eq(octets_get32(chunks - SCTP_COMMON_OCTETS + 4), 77 + (1 - side)); /* as the other one has it */
    }
    send_changed(bench, 1, chunk, sack_chunk(chunk, FIRST, 0, NULL), NULL);
    ck_assert_uint_eq(bench->count, 2);
    end(bench);
}
END_TEST

START_TEST(sctp_sids_are_numbered_as_their_sessions_begin)
{
    struct bench *bench = begin(false);

    ck_assert_uint_eq(bridge_sctp_session(&bench->sctp, bench->association, 7, true), 1);
    ck_assert_uint_eq(bridge_sctp_session(&bench->sctp, bench->association, 9, true), 2);
    ck_assert_uint_eq(bridge_sctp_session(&bench->sctp, bench->association, 7, false), 1);
    ck_assert_uint_eq(bridge_sctp_session(&bench->sctp, bench->association, 7, true), 3);
    ck_assert_uint_eq(bridge_sctp_session(&bench->sctp, bench->association, 4, false), 4);
    end(bench);
}
END_TEST

START_TEST(sctp_sender_that_floods_is_held_up_to_a_limit)
{
    struct bench *bench = begin(false);
    struct bridge_sctp_direction *direction;
    uint8_t chunk[1400] = {0};
    uint32_t tsn = FIRST + 1;

    send_data(bench, tsn, "one!", stall_second);
    direction = &bench->association->direction[0];
    direction->held_octets = BRIDGE_HELD_MOST - 5000; /* as after so much */
    for (; bench->streams.refused < 3; tsn++) {
        (void)data_chunk(chunk, tsn + 1, "more");
        octets_put16(chunk + 2, sizeof(chunk));
        send_changed(bench, 0, chunk, sizeof(chunk), NULL);
        ck_assert_uint_le(direction->held_octets, BRIDGE_HELD_MOST);
    }
    ck_assert_uint_eq(bench->count, 0);
    send_sack(bench, FIRST - 1, 0, NULL); /* the other direction does not wait */
    ck_assert_uint_eq(bench->count, 1);
    end(bench);
}
END_TEST

Suite *bridge_sctp_suite(void)
{
    Suite *suite = suite_create("bridge_sctp");
    TCase *cases = tcase_create("associations");

    tcase_add_loop_test(cases, sctp_chunk_that_is_dropped_moves_later_tsns, 0, 2); /* over IP, and in UDP */
    tcase_add_loop_test(cases, sctp_retransmission_has_the_same_chunks_put_in, 0, 2);
    tcase_add_test(cases, sctp_gap_blocks_are_in_the_numbers_of_the_sender);
    tcase_add_test(cases, sctp_gap_block_of_what_was_put_in_alone_is_none);
    tcase_add_loop_test(cases, sctp_wrong_checksum_is_for_one_packet_alone, 0, 2);
    tcase_add_test(cases, sctp_packet_is_cut_before_the_chunk_that_waits);
    tcase_add_test(cases, sctp_release_lets_all_associations_go);
    tcase_add_test(cases, sctp_time_visits_what_waits_alone);
    tcase_add_test(cases, sctp_packet_is_lost_once);
    tcase_add_test(cases, sctp_shutdown_of_the_bridge_acknowledges_what_still_comes);
    tcase_add_test(cases, sctp_abort_of_the_bridge_is_in_both_names);
    tcase_add_test(cases, sctp_sids_are_numbered_as_their_sessions_begin);
    tcase_add_test(cases, sctp_sender_that_floods_is_held_up_to_a_limit);
    suite_add_tcase(suite, cases);
    return suite;
}
