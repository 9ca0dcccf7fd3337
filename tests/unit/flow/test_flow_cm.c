/* SPDX-License-Identifier: BSD-2-Clause */
/* CM messages through the decoder, by every carrier. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/cm/flow_cm.h"
#include "conformance/flow/decoder.h"
#include "conformance/flow/notation/notation.h"
#include "generator/cm/mad.h"
#include "tests/unit/guard.h"
#include "tests/unit/suites.h"

Suite *flow_cm_suite(void);

static struct {
    struct flow_decoder *decoder;
    uint32_t link;
    enum mad_carrier carrier;
    bool erf, ipv6, no_ip;
    size_t snap;
    uint64_t frame;
    char log[8192];
    unsigned icrc[3];
    enum flow_carrier seen_carrier;
    unsigned ends;
} net;

static void note(void *ctx, const struct flow_event *event)
{
    char text[NOTATION_MAX];
    size_t have = strlen(net.log);

    (void)ctx;
    ck_assert_ptr_null(event->flow->half);
    if (event->kind == FLOW_END) {
        net.ends++;
        return;
    }
    ck_assert_int_eq(event->kind, FLOW_CM);
    net.icrc[event->cm->icrc]++;
    net.seen_carrier = event->cm->carrier;
    snprintf(net.log + have, sizeof(net.log) - have, "%llu.%d %s\n", (unsigned long long)event->flow->number,
             (int)event->direction, notation_event(event, text, sizeof(text)));
}

static void begin(enum mad_carrier carrier, bool ipv6, bool erf)
{
    memset(&net, 0, sizeof(net));
    net.decoder = flow_decoder_create(NULL, note, NULL);
    net.carrier = carrier;
    net.ipv6 = ipv6;
    net.erf = erf;
    net.link = erf ? FLOW_LINK_ERF : carrier >= MAD_INFINIBAND ? FLOW_LINK_INFINIBAND : FLOW_LINK_ETHERNET;
}

static void ends_of(unsigned from, struct mad_ends *ends)
{
    bool four = net.carrier == MAD_ROCE_V2 && !net.ipv6;

    memset(ends, 0, sizeof(*ends));
    net_address_parse(from == 0 ? &ends->source : &ends->destination, four ? "192.0.2.1" : "fe80::1");
    net_address_parse(from == 0 ? &ends->destination : &ends->source, four ? "192.0.2.2" : "fe80::2");
    ends->source_lid = from == 0 ? 1 : 2;
    ends->destination_lid = from == 0 ? 2 : 1;
}

static void give(unsigned from, const uint8_t *mad, unsigned spoil)
{
    uint8_t frame[512];
    size_t head = net.erf ? 16 : 0, count, have;
    struct mad_ends ends;
    uint8_t *placed;

    ends_of(from, &ends);
    count = mad_packet(frame + head, sizeof(frame) - head, net.carrier, &ends, mad);
    ck_assert_uint_ne(count, 0);
    if (net.erf)
        erf_header(frame, 0, count);
    count += head;
    if (spoil != 0)
        frame[count - spoil] ^= 1;
    have = net.snap != 0 && net.snap < count ? net.snap : count;
    placed = guard_place(frame, have);
    flow_decoder_frame(net.decoder,
                       &(struct flow_frame){net.link, net.frame * 1000, net.frame + 1, placed, have, count});
    net.frame++;
    guard_free(placed, have);
}

static void finish(void)
{
    flow_decoder_finish(net.decoder);
    flow_decoder_destroy(net.decoder);
}

static void request(uint32_t id, uint64_t transaction)
{
    struct ip_cm_request fields = {
        .local_id = id, .transaction = transaction, .source_port = 49153, .destination_port = 3260, .protocol = 6};
    uint8_t mad[MAD_OCTETS];

    net_address_parse(&fields.source, net.ipv6 ? "fd00::1" : "192.0.2.1");
    net_address_parse(&fields.destination, net.ipv6 ? "fd00::2" : "192.0.2.2");
    mad_ip_request(mad, &fields);
    give(0, mad, 0);
}

static void answer(unsigned from, enum cm_attribute attribute, uint64_t transaction, uint32_t local, uint32_t remote)
{
    uint8_t mad[MAD_OCTETS];

    cm_begin_answer(mad, attribute, transaction, local, remote);
    give(from, mad, 0);
}

static void exchange(void)
{
    static const uint8_t ari[5] = {0, 1, 1, 0, 0};
    uint8_t mad[MAD_OCTETS];

    request(0xA1, 7);
    answer(1, CM_REP, 7, 0xB1, 0xA1);
    answer(0, CM_RTU, 7, 0xA1, 0xB1);
    answer(1, CM_DREQ, 8, 0xB1, 0xA1);
    answer(0, CM_DREP, 8, 0xA1, 0xB1);
    request(0xA2, 9);
    request(0xA2, 9);
    mad_reject(mad, 9, 0xA2, CM_REASON_CONSUMER, ari, sizeof(ari));
    give(1, mad, 0);
}

static const char exchange_log[] =
    "1.0 CM REQ TCP port 3260 from 192.0.2.1:49153 to 192.0.2.2 ird 4 ord 2\n1.1 CM REP ird 0 ord 0\n1.0 CM RTU\n"
    "1.1 CM DREQ\n1.0 CM DREP\n2.0 CM REQ TCP port 3260 from 192.0.2.1:49153 to 192.0.2.2 ird 4 ord 2\n"
    "2.0 CM REQ TCP port 3260 from 192.0.2.1:49153 to 192.0.2.2 ird 4 ord 2, again\n"
    "2.1 CM REJ reason 28 (Consumer Reject), ARI 1 (Major Version) suggests 1 octets\n";

static const struct {
    enum mad_carrier sent;
    bool erf; /* a record type for InfiniBand alone */
    enum flow_carrier seen;
} carriers[] = {
    {MAD_ROCE_V2, false, FLOW_ROCE_V2},
    {MAD_ROCE_V1, false, FLOW_ROCE_V1},
    {MAD_INFINIBAND, false, FLOW_INFINIBAND},
    {MAD_INFINIBAND, true, FLOW_INFINIBAND},
    {MAD_INFINIBAND_GLOBAL, false, FLOW_INFINIBAND},
    {MAD_INFINIBAND_GLOBAL, true, FLOW_INFINIBAND},
};

START_TEST(exchange_is_decoded_over_every_carrier)
{
    begin(carriers[_i].sent, false, carriers[_i].erf);
    exchange();
    finish();
    ck_assert_str_eq(net.log, exchange_log);
    ck_assert_int_eq(net.seen_carrier, carriers[_i].seen);
    ck_assert_uint_eq(net.ends, 2);
    ck_assert_uint_eq(net.icrc[FLOW_ICRC_BAD], 0);
    ck_assert_uint_eq(net.icrc[FLOW_ICRC_GOOD], carriers[_i].sent == MAD_ROCE_V1 ? 0 : 8);
}
END_TEST

START_TEST(cm_exchange_over_ipv6_is_decoded)
{
    begin(MAD_ROCE_V2, true, false);
    exchange();
    finish();
    ck_assert_ptr_nonnull(strstr(net.log, "from [fd00::1]:49153 to [fd00::2]"));
    ck_assert_uint_eq(net.icrc[FLOW_ICRC_GOOD], 8);
}
END_TEST

START_TEST(wrong_icrc_is_reported_and_counted)
{
    uint8_t mad[MAD_OCTETS];

    begin((enum mad_carrier)(_i), false, false);
    cm_begin_answer(mad, CM_RTU, 1, 2, 3);
    give(0, mad, _i == MAD_ROCE_V2 ? 1 : 3); /* InfiniBand has a VCRC after it */
    flow_decoder_finish(net.decoder);
    ck_assert_ptr_nonnull(strstr(net.log, "ICRC is wrong"));
    ck_assert_uint_eq(flow_decoder_totals(net.decoder)->account.row[FLOW_ROW_ICRC].frames, 1);
    ck_assert(!flow_account_whole(&flow_decoder_totals(net.decoder)->account));
    flow_decoder_destroy(net.decoder);
}
END_TEST

/*
 * A REQ that was damaged on its way, in front of the good one and after it: nothing is found in it, and the exchange is
 * what it is without. Loop: the octet of the MAD, times two.
 */
START_TEST(damaged_req_does_not_change_the_exchange)
{
    struct ip_cm_request fields = {
        .local_id = 0xA1, .transaction = 7, .source_port = 49153, .destination_port = 3260, .protocol = 6};
    size_t at = 14 + 20 + 8 + BTH_OCTETS + DETH_OCTETS + MAD_HEADER_OCTETS + (size_t)_i / 2;
    uint8_t mad[MAD_OCTETS];

    begin(MAD_ROCE_V2, false, false);
    net_address_parse(&fields.source, "192.0.2.1");
    net_address_parse(&fields.destination, "192.0.2.2");
    mad_ip_request(mad, &fields);
    if (_i % 2 == 0)
        request(0xA1, 7);
    give(0, mad, (unsigned)(14 + 20 + 8 + BTH_OCTETS + DETH_OCTETS + MAD_OCTETS + ICRC_OCTETS - at));
    if (_i % 2 != 0)
        request(0xA1, 7);
    answer(1, CM_REP, 7, 0xB1, 0xA1);
    flow_decoder_finish(net.decoder);
    ck_assert_uint_eq(flow_decoder_totals(net.decoder)->account.row[FLOW_ROW_ICRC].frames, 1);
    ck_assert_uint_eq(flow_decoder_totals(net.decoder)->account.row[FLOW_ROW_IWARP].frames, 2);
    ck_assert_ptr_nonnull(strstr(net.log, ".1 CM REP ird 0 ord 0\n"));
    flow_decoder_destroy(net.decoder);
}
END_TEST

/* A MAD has 256 octets. Loop: how many this one has instead. */
START_TEST(mad_of_another_length_is_refused)
{
    enum { HEADERS = 14 + 20 + 8 + BTH_OCTETS + DETH_OCTETS };
    static const size_t lengths[] = {24, 156, 255, 257, 260};
    uint8_t mad[MAD_OCTETS], frame[512] = {0};
    struct mad_ends ends;
    size_t count = HEADERS + lengths[_i] + ICRC_OCTETS;

    begin(MAD_ROCE_V2, false, false);
    ends_of(0, &ends);
    cm_begin_answer(mad, CM_RTU, 1, 2, 3);
    ck_assert_uint_ne(mad_packet(frame, sizeof(frame), MAD_ROCE_V2, &ends, mad), 0);
    octets_put16(frame + 14 + 2, (uint16_t)(count - 14));
    octets_put16(frame + 14 + 20 + 4, (uint16_t)(count - 14 - 20));
    memset(frame + count - ICRC_OCTETS, 0, ICRC_OCTETS); /* left to the adapter */
    flow_decoder_frame(net.decoder, &(struct flow_frame){FLOW_LINK_ETHERNET, 0, 1, frame, count, count});
    flow_decoder_finish(net.decoder);
    ck_assert_uint_eq(flow_decoder_totals(net.decoder)->account.row[FLOW_ROW_MAD_LENGTH].frames, 1);
    ck_assert_str_eq(net.log, "");
    flow_decoder_destroy(net.decoder);
}
END_TEST

/* The same Communication ID with another Transaction ID is another exchange; answers without their REQ are reported. */
START_TEST(transaction_id_reports_exchanges_apart)
{
    begin(MAD_ROCE_V2, false, false);
    request(0xA1, 1);
    request(0xA1, 2);
    answer(1, CM_REP, 3, 0xB9, 0xA9);
    answer(0, CM_RTU, 3, 0xA9, 0xB9);
    answer(0, CM_DREQ, 4, 0xA5, 0xB5);
    answer(1, CM_DREP, 4, 0xB5, 0xA5);
    finish();
    ck_assert_ptr_nonnull(strstr(net.log, "3.1 CM REP ird 0 ord 0\n3.0 CM RTU\n4.0 CM DREQ\n4.1 CM DREP\n"));
    ck_assert_uint_eq(net.ends, 4);
}
END_TEST

START_TEST(sidr_exchange_is_decoded)
{
    uint8_t mad[MAD_OCTETS];

    begin(MAD_ROCE_V2, false, false);
    cm_begin(mad, CM_SIDR_REQ, 1);
    octets_put32(mad + 24, 0x55);
    octets_put64(mad + 32, IP_CM_SERVICE_PREFIX | 0x110007);
    mad[24 + 16] = 0;
    mad[24 + 17] = 0x40;
    give(0, mad, 0);
    cm_begin(mad, CM_SIDR_REP, 1);
    octets_put32(mad + 24, 0x55);
    mad[28] = 2;
    give(1, mad, 0);
    finish();
    ck_assert_str_eq(net.log, "1.0 CM SIDR_REQ UDP port 7 from 0.0.0.0:0 to 0.0.0.0\n"
                              "1.1 CM SIDR_REP service 0x0000000000000000 status 2\n");
}
END_TEST

/* Loop: octets of the frame that are there. */
START_TEST(cut_mad_is_read_as_far_as_it_goes)
{
    begin(MAD_ROCE_V2, false, false);
    net.snap = (size_t)_i;
    exchange();
    finish();
    if (_i >= 14 + 20 + 8 + 20 + 24 + 8 && _i < 14 + 20 + 8 + 20 + 256)
        ck_assert_ptr_nonnull(strstr(net.log, "cut after"));
    ck_assert_uint_eq(net.icrc[FLOW_ICRC_BAD], 0);
}
END_TEST

/* What is no CM message goes by, and says nothing. Loop: what is changed. */
START_TEST(packets_without_a_cm_message_are_counted)
{
    static const struct {
        size_t at;
        uint8_t value;
        enum flow_row row;
    } changes[] = {{14 + 20 + 3, 99, FLOW_ROW_UDP},
                   {14 + 20 + 8, 0x04, FLOW_ROW_ROCE},
                   {14 + 20 + 8 + 7, 2, FLOW_ROW_ROCE},
                   {14 + 20 + 8 + 20 + 1, 3, FLOW_ROW_ROCE},
                   {14 + 9, 2, FLOW_ROW_IGMP},
                   {14 + 9, 47, FLOW_ROW_TUNNEL},
                   {14 + 20 + 4, 0xFF, FLOW_ROW_UDP_LENGTH}};
    uint8_t mad[MAD_OCTETS], frame[512];
    struct mad_ends ends;
    size_t count;

    begin(MAD_ROCE_V2, false, false);
    ends_of(0, &ends);
    cm_begin_answer(mad, CM_RTU, 1, 2, 3);
    count = mad_packet(frame, sizeof(frame), MAD_ROCE_V2, &ends, mad);
    frame[changes[_i].at] = changes[_i].value;
    flow_decoder_frame(net.decoder, &(struct flow_frame){FLOW_LINK_ETHERNET, 0, 1, frame, count, count});
    ck_assert_uint_eq(flow_decoder_totals(net.decoder)->account.row[changes[_i].row].frames, 1);
    ck_assert_uint_eq(flow_decoder_totals(net.decoder)->account.row[changes[_i].row].octets, count);
    ck_assert_uint_eq(flow_decoder_totals(net.decoder)->mads, 0);
    finish();
    ck_assert_str_eq(net.log, "");
}
END_TEST

START_TEST(random_mads_break_nothing)
{
    uint64_t state = (uint64_t)_i;
    uint8_t mad[MAD_OCTETS], frame[512];
    struct mad_ends ends;
    size_t count;

    begin((enum mad_carrier)(_i % 4), false, false);
    ends_of(0, &ends);
    for (unsigned i = 0; i < 200; i++) {
        uint8_t *placed;

        noise_fill(&state, mad, sizeof(mad));
        mad[1] = MAD_CLASS_CM;
        mad[16] = 0;
        mad[17] = (uint8_t)(0x10 + noise(&state) % 12);
        count = mad_packet(frame, sizeof(frame), net.carrier, &ends, mad);
        for (unsigned n = 0; n < 2; n++)
            frame[14 + noise(&state) % (count - 14)] = (uint8_t)noise(&state);
        count -= noise(&state) % 40;
        placed = guard_place(frame, count);
        flow_decoder_frame(net.decoder, &(struct flow_frame){net.link, 0, 1, placed, count, count});
        guard_free(placed, count);
        net.log[0] = '\0';
    }
    finish();
}
END_TEST

Suite *flow_cm_suite(void)
{
    Suite *suite = suite_create("flow_cm");
    TCase *tcase = tcase_create("exchanges");

    tcase_set_timeout(tcase, 30);
    tcase_add_loop_test(tcase, exchange_is_decoded_over_every_carrier, 0,
                        (int)(sizeof(carriers) / sizeof(carriers[0])));
    tcase_add_test(tcase, cm_exchange_over_ipv6_is_decoded);
    tcase_add_loop_test(tcase, wrong_icrc_is_reported_and_counted, MAD_ROCE_V2, MAD_ROCE_V2 + 1);
    tcase_add_loop_test(tcase, wrong_icrc_is_reported_and_counted, MAD_INFINIBAND, MAD_INFINIBAND_GLOBAL + 1);
    tcase_add_loop_test(tcase, damaged_req_does_not_change_the_exchange, 0, 2 * CM_MESSAGE_OCTETS);
    tcase_add_loop_test(tcase, mad_of_another_length_is_refused, 0, 5);
    tcase_add_test(tcase, transaction_id_reports_exchanges_apart);
    tcase_add_test(tcase, sidr_exchange_is_decoded);
    tcase_add_loop_test(tcase, cut_mad_is_read_as_far_as_it_goes, 40, 330);
    tcase_add_loop_test(tcase, packets_without_a_cm_message_are_counted, 0, 7);
    tcase_add_loop_test(tcase, random_mads_break_nothing, 0, 12);
    suite_add_tcase(suite, tcase);
    return suite;
}
