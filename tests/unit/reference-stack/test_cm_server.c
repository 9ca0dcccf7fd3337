/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the CM agent's server answers: the REQs come from the generator, which shares no code with the agent's client.
 */
#include <check.h>
#include <string.h>

#include "generator/cm/mad.h"
#include "reference-stack/cm/cm_validation.h"
#include "tests/unit/cm_pair.h"
#include "tests/unit/guard.h"
#include "tests/unit/suites.h"

Suite *cm_server_suite(void);

enum { PORT = 3260, REASON_AT = 34, INFO_AT = 33, ARI_AT = 36 };

static struct cm_pair pair;
static uint8_t answer[MAD_OCTETS];

static void setup(void)
{
    cm_pair_prepare(&pair, 7);
}

static void teardown(void)
{
    cm_pair_end(&pair);
}

static void begin(void)
{
    struct cm_listener listener = cm_pair_listener(PORT, CM_ANSWER_ACCEPT);

    cm_pair_begin(&pair);
    cm_pair_listen(&pair, &listener);
}

static void request_of(uint8_t mad[MAD_OCTETS], uint16_t port, const char *source, const char *destination)
{
    static uint32_t last;
    uint32_t id = ++last;
    struct ip_cm_request fields = {.local_id = id,
                                   .transaction = UINT64_C(0x1000) + id,
                                   .source_port = 49153,
                                   .destination_port = port,
                                   .protocol = 6,
                                   .consumer = (const uint8_t *)"consumer",
                                   .consumer_octets = 8};

    net_address_parse(&fields.source, source);
    net_address_parse(&fields.destination, destination);
    mad_ip_request(mad, &fields);
}

static void request(uint8_t mad[MAD_OCTETS])
{
    request_of(mad, PORT, "192.0.2.1", "192.0.2.2");
}

static unsigned attribute(void)
{
    return (unsigned)mad_get_AttributeID(answer);
}

/* The answer is a REJ of the REQ with that reason, to that sender and transaction. */
static void is_rejected(const uint8_t mad[MAD_OCTETS], unsigned reason)
{
    ck_assert_uint_eq(attribute(), CM_REJ);
    ck_assert_mem_eq(answer + 8, mad + 8, 8);
    ck_assert_mem_eq(answer + 28, mad + 24, 4);
    ck_assert_uint_eq(answer[32] >> 6, 0);
    ck_assert_uint_eq(octets_get16(answer + REASON_AT), reason);
}

/*
 * --- Each bad field alone, and in company --------------------------------------------------------------------------
 */

static const struct {
    const char *what;
    struct {
        uint8_t at, value;
    } patch[6];
    unsigned attribute, reason, layer, code;
    const char *requirement;
} cases[] = {
    {"good", {{0, 0}}, CM_REP, 0, 0, 0, NULL},
    {"Res", {{165, 0x4F}}, CM_REP, 0, 0, 0, NULL},
    {"MajV 1", {{164, 0x10}}, CM_REJ, 28, 0, 1, "CA11-2"},
    {"MajV 15", {{164, 0xF0}}, CM_REJ, 28, 0, 1, "CA11-2"},
    {"MinV 1", {{164, 0x01}}, CM_REJ, 28, 0, 2, "CA11-3.1.1"},
    {"MinV 15", {{164, 0x0F}}, CM_REJ, 28, 0, 2, "CA11-3.1.1"},
    {"both", {{164, 0x11}}, CM_REJ, 28, 0, 1, "CA11-2"},
    {"IPV 0", {{165, 0x00}}, CM_REJ, 28, 0, 3, "CA11-4"},
    {"IPV 5", {{165, 0x50}}, CM_REJ, 28, 0, 3, "CA11-4"},
    {"IPV 15", {{165, 0xF0}}, CM_REJ, 28, 0, 3, "CA11-4"},
    {"source", {{170, 0xFF}}, CM_REJ, 28, 0, 4, "oA11-1-03"},
    {"destination", {{195, 0x01}}, CM_REJ, 28, 0, 5, "oA11-1-03"},
    {"not own", {{196, 203}}, CM_REJ, 28, 0, 6, "oA11-1-02"},
    {"version first", {{164, 0x10}, {165, 0x50}, {170, 1}, {190, 1}, {196, 1}}, CM_REJ, 28, 0, 1, "CA11-2"},
    {"minor first", {{164, 0x01}, {165, 0x50}, {170, 1}, {190, 1}, {196, 1}}, CM_REJ, 28, 0, 2, "CA11-3.1.1"},
    {"UDP", {{37, 0x11}}, CM_REJ, 8, 0, 0, "CA11-6-02"},
    {"port swapped", {{38, 0xBC}, {39, 0x0C}}, CM_REJ, 8, 0, 0, "CA11-6-02"},
    {"no listener, bad field", {{39, 0xBD}, {164, 0x10}}, CM_REJ, 8, 0, 0, "CA11-6-02"},
    {"out of range", {{35, 0x01}}, CM_REJ, 8, 0, 0, "CA11-6-02"},
};

START_TEST(server_answers_each_req_as_due)
{
    uint8_t mad[MAD_OCTETS];
    struct cm_event event;

    begin();
    request(mad);
    for (size_t i = 0; i < 6 && cases[_i].patch[i].at != 0; i++)
        mad[cases[_i].patch[i].at] = cases[_i].patch[i].value;
    ck_assert(cm_pair_ask(&pair, mad, answer));
    ck_assert_msg(attribute() == cases[_i].attribute, "%s: 0x%x", cases[_i].what, attribute());
    if (cases[_i].attribute != CM_REJ)
        return;
    is_rejected(mad, cases[_i].reason);
    ck_assert_uint_eq(answer[ARI_AT], cases[_i].layer);
    ck_assert_msg(answer[ARI_AT + 1] == cases[_i].code, "%s: code %u", cases[_i].what, answer[ARI_AT + 1]);
    ck_assert_uint_eq(answer[ARI_AT + 2], 0);
    ck_assert_uint_eq(answer[INFO_AT], cases[_i].reason == 28 ? 4 << 1 : 0);
    ck_assert(cm_agent_poll(pair.agent[0], &event));
    ck_assert_int_eq(event.kind, CM_EVENT_REFUSED);
    ck_assert_str_eq(event.requirement, cases[_i].requirement);
    ck_assert_uint_eq(event.reason, cases[_i].reason);
}
END_TEST

/* A11-AMB-09: a server of version 0.2 takes 0.0, 0.1 and 0.2. */
START_TEST(server_accepts_lower_minor_versions)
{
    uint8_t mad[MAD_OCTETS];

    pair.config[0].minor = 2;
    begin();
    for (uint8_t minor = 0; minor < 16; minor++) {
        struct cm_event event;

        request(mad);
        mad[164] = minor;
        ck_assert(cm_pair_ask(&pair, mad, answer));
        ck_assert_uint_eq(attribute(), minor <= 2 ? CM_REP : CM_REJ);
        if (minor > 2) {
            ck_assert_uint_eq(answer[ARI_AT + 1], IP_CM_ARI_MINOR);
            continue;
        }
        cm_begin_answer(mad, CM_RTU, octets_get64(mad + 8), octets_get32(mad + 24), octets_get32(answer + 24));
        cm_pair_ask(&pair, mad, answer);
        ck_assert(cm_agent_poll(pair.agent[0], &event));
        ck_assert_int_eq(event.kind, CM_EVENT_ESTABLISHED);
        ck_assert_uint_eq(event.minor, minor);
    }
}
END_TEST

/*
 * --- What the annex leaves open ------------------------------------------------------------------------------------
 */

START_TEST(listener_accepts_its_address_family_alone)
{
    uint8_t mad[MAD_OCTETS];
    struct cm_listener six = cm_pair_listener(2049, CM_ANSWER_ACCEPT);

    pair.config[0].check_destination = false;
    six.families = CM_FAMILY_6;
    begin();
    cm_pair_listen(&pair, &six);
    request_of(mad, 2049, "192.0.2.1", "192.0.2.2");
    ck_assert(cm_pair_ask(&pair, mad, answer));
    is_rejected(mad, CM_REASON_CONSUMER);
    ck_assert_uint_eq(answer[ARI_AT + 1], IP_CM_ARI_IPV);
    request_of(mad, 2049, "fd00::1", "fd00::2");
    ck_assert(cm_pair_ask(&pair, mad, answer));
    ck_assert_uint_eq(attribute(), CM_REP);
}
END_TEST

static unsigned code_of(uint8_t at, uint8_t value, uint8_t and_at, uint8_t and_value)
{
    uint8_t mad[MAD_OCTETS];

    request(mad);
    mad[at] = value;
    mad[and_at] = and_value;
    ck_assert(cm_pair_ask(&pair, mad, answer));
    return attribute() == CM_REJ ? answer[REASON_AT + 1] << 8 | answer[ARI_AT + 1] : 0;
}

START_TEST(order_of_refusals_may_vary)
{
    pair.config[0].minor_first = pair.config[0].last_reason = pair.config[0].fields_first = true;
    begin();
    ck_assert_uint_eq(code_of(164, 0x11, 165, 0x50), 28 << 8 | IP_CM_ARI_MINOR);
    ck_assert_uint_eq(code_of(170, 1, 190, 1), 28 << 8 | IP_CM_ARI_DESTINATION);
    ck_assert_uint_eq(code_of(39, 0xBD, 164, 0x10), 28 << 8 | IP_CM_ARI_MAJOR);
    ck_assert_uint_eq(code_of(39, 0xBD, 165, 0x40), 8 << 8);
}
END_TEST

START_TEST(addresses_may_stay_unchecked)
{
    pair.config[0].check_formats = pair.config[0].check_destination = false;
    begin();
    ck_assert_uint_eq(code_of(170, 1, 190, 1), 0);
    ck_assert_uint_eq(code_of(196, 1, 197, 1), 0);
}
END_TEST

START_TEST(odd_ipv6_source_is_refused_if_strict)
{
    static const char *const odd[] = {"::", "::ffff:192.0.2.1", "fd00::1"};
    uint8_t mad[MAD_OCTETS];

    pair.config[0].check_destination = false;
    pair.config[0].strict_ipv6 = _i != 0;
    begin();
    for (size_t i = 0; i < 3; i++) {
        request_of(mad, PORT, odd[i], "fd00::2");
        ck_assert(cm_pair_ask(&pair, mad, answer));
        ck_assert_uint_eq(attribute(), _i != 0 && i < 2 ? CM_REJ : CM_REP);
        if (attribute() == CM_REJ)
            ck_assert_uint_eq(answer[ARI_AT + 1], IP_CM_ARI_SOURCE);
    }
}
END_TEST

/* Loop: enum cm_info_length. With and without a value that is suggested (oA11-2, A11-AMB-07). */
START_TEST(length_of_refusal_info_follows_the_choice)
{
    static const uint8_t plain[] = {4, 2, 72, 0}, suggested[] = {5, 5, 72, 0};

    pair.config[0].info_length = (enum cm_info_length)_i;
    pair.config[0].suggest = true;
    begin();
    code_of(164, 0x10, 165, 0x40);
    ck_assert_uint_eq(answer[INFO_AT], suggested[_i] << 1);
    ck_assert_uint_eq(answer[ARI_AT + 2], _i == CM_INFO_NONE ? 0 : 1);
    ck_assert_uint_eq(answer[ARI_AT + 4], 0);
    code_of(165, 0x50, 164, 0);
    ck_assert_uint_eq(answer[ARI_AT + 4], _i == CM_INFO_NONE ? 0 : 4);
    code_of(170, 1, 164, 0); /* no address can be suggested */
    ck_assert_uint_eq(answer[INFO_AT], plain[_i] << 1);
    code_of(196, 1, 164, 0);
    if (_i != CM_INFO_NONE) {
        static const uint8_t own[16] = {[12] = 192, [14] = 2, [15] = 2};

        ck_assert_uint_eq(answer[ARI_AT + 2], 16);
        ck_assert_mem_eq(answer + ARI_AT + 4, own, 16);
    }
}
END_TEST

START_TEST(whole_octets_suggested)
{
    pair.config[0].suggest = pair.config[0].suggest_whole_octet = true;
    pair.config[0].major = 3;
    pair.config[0].minor = 2;
    begin();
    code_of(164, 0x10, 165, 0x40);
    ck_assert_uint_eq(answer[ARI_AT + 4], 0x32);
    code_of(164, 0x30, 165, 0x50);
    ck_assert_uint_eq(answer[ARI_AT + 4], 0x40);
}
END_TEST

START_TEST(unspecified_reason_suggests_nothing)
{
    pair.config[0].unspecified = pair.config[0].suggest = true;
    begin();
    ck_assert_uint_eq(code_of(164, 0x10, 165, 0x40), 28 << 8);
    ck_assert_uint_eq(answer[ARI_AT + 2], 0); /* there is no suggested value for it (A11-TXT-24) */
}
END_TEST

/*
 * --- A server without the service ----------------------------------------------------------------------------------
 */

/* Loop: CA11-8's reason 8, or the generic refusal. */
START_TEST(server_without_the_service_refuses)
{
    struct cm_listener plain = {.plain = true, .service_id = UINT64_C(0x0000000001060CBD)};
    struct cm_event event;
    uint8_t mad[MAD_OCTETS];

    pair.config[0].service = false;
    pair.config[0].generic_refusal = _i != 0;
    begin();
    ck_assert_uint_eq(code_of(165, 0x40, 164, 0), _i != 0 ? 28 << 8 : 8 << 8);
    while (cm_agent_poll(pair.agent[0], &event))
        ck_assert_str_eq(event.requirement, "CA11-8");
    /* A consumer of its own at a Service ID of the range gets all 92 octets, whatever they are (A11-TXT-16). */
    plain.answer = CM_ANSWER_ASK;
    cm_pair_listen(&pair, &plain);
    request(mad);
    mad[39] = 0xBD;
    memset(mad + 164, 0xAA, 92);
    ck_assert(!cm_pair_ask(&pair, mad, answer));
    ck_assert(cm_agent_poll(pair.agent[0], &event));
    ck_assert_int_eq(event.kind, CM_EVENT_REQUEST);
    ck_assert(!event.in_service);
    ck_assert_uint_eq(event.octets, 92);
    ck_assert_mem_eq(event.data, mad + 164, 92);
}
END_TEST

/* CA11-7-02: outside of the range nothing is read as Table 1, by a server with the service too. */
START_TEST(request_outside_the_range_is_not_read)
{
    struct cm_listener plain = {.plain = true, .service_id = UINT64_C(0x1000CC5000000001), .answer = CM_ANSWER_ASK};
    struct cm_event event;
    uint8_t mad[MAD_OCTETS];

    begin();
    cm_pair_listen(&pair, &plain);
    request(mad);
    octets_put64(mad + 32, plain.service_id);
    memset(mad + 164, 0xAA, 92);
    ck_assert(!cm_pair_ask(&pair, mad, answer));
    ck_assert(cm_agent_poll(pair.agent[0], &event));
    ck_assert(event.kind == CM_EVENT_REQUEST && !event.in_service && event.octets == 92);
    ck_assert_mem_eq(event.data, mad + 164, 92);
    ck_assert_int_eq(cm_agent_accept(pair.agent[0], event.id, NULL, 0, pair.now, NULL), 0);
}
END_TEST

/*
 * --- Repeated, foreign and broken messages --------------------------------------------------------------------------
 */

START_TEST(repeated_req_draws_the_same_rep)
{
    uint8_t mad[MAD_OCTETS], first[MAD_OCTETS];
    struct cm_agent_counts counts;

    begin();
    request(mad);
    ck_assert(cm_pair_ask(&pair, mad, first));
    ck_assert(cm_pair_ask(&pair, mad, answer));
    ck_assert_mem_eq(first, answer, MAD_OCTETS); /* the same REP, of one exchange */
    cm_agent_counts(pair.agent[0], &counts);
    ck_assert_uint_eq(counts.exchanges, 1);
    mad[15] ^= 1; /* another REQ with an ID in use */
    ck_assert(cm_pair_ask(&pair, mad, answer));
    is_rejected(mad, CM_REASON_DUPLICATE_ID);
}
END_TEST

/* No octet and no length of what is no whole MAD of the CM draws an answer, or is read past its end. */
START_TEST(foreign_mads_draw_no_answer)
{
    static const struct {
        uint8_t at, value;
    } patch[] = {{0, 2}, {1, 3}, {2, 1}, {3, 0x83}, {17, 0x20}, {17, 0x18}};
    struct cm_agent_counts counts;
    uint8_t mad[MAD_OCTETS];

    begin();
    request(mad);
    for (size_t count = 0; count < MAD_OCTETS; count++) {
        uint8_t *placed = guard_place(mad, count);

        cm_agent_input(pair.agent[0], &pair.place[1], placed, count, 1);
        guard_free(placed, count);
    }
    for (size_t i = 0; i < sizeof(patch) / sizeof(patch[0]); i++) {
        request(mad);
        mad[patch[i].at] = patch[i].value;
        ck_assert(!cm_pair_ask(&pair, mad, answer));
    }
    cm_agent_counts(pair.agent[0], &counts);
    ck_assert_uint_eq(counts.ignored, MAD_OCTETS + sizeof(patch) / sizeof(patch[0]));
    ck_assert_uint_eq(counts.exchanges, 0);
}
END_TEST

/*
 * Answers to nothing: a DREQ always gets its DREP, a REP a REJ with reason 6, a SIDR_REQ status 1; a REJ gets nothing.
 */
START_TEST(out_of_the_blue)
{
    uint8_t mad[MAD_OCTETS];

    begin();
    cm_begin_answer(mad, CM_DREQ, 5, 77, 88);
    ck_assert(cm_pair_ask(&pair, mad, answer));
    ck_assert_uint_eq(attribute(), CM_DREP);
    ck_assert_uint_eq(octets_get32(answer + 28), 77);
    cm_begin_answer(mad, CM_REP, 5, 77, 88);
    ck_assert(cm_pair_ask(&pair, mad, answer));
    ck_assert_uint_eq(attribute(), CM_REJ);
    ck_assert_uint_eq(answer[32] >> 6, 1);
    ck_assert_uint_eq(answer[REASON_AT + 1], CM_REASON_INVALID_ID);
    cm_begin(mad, CM_SIDR_REQ, 5);
    ck_assert(cm_pair_ask(&pair, mad, answer));
    ck_assert_uint_eq(attribute(), CM_SIDR_REP);
    ck_assert_uint_eq(answer[28], CM_SIDR_NO_SERVICE);
    for (unsigned i = CM_MRA; i <= CM_DREP; i++) {
        if (i == CM_REP || i == CM_DREQ)
            continue;
        cm_begin_answer(mad, (enum cm_attribute)i, 5, 77, 88);
        ck_assert(!cm_pair_ask(&pair, mad, answer));
    }
}
END_TEST

START_TEST(cm_validations_are_ordered_and_found)
{
    for (size_t i = 0; i < cm_validation_count; i++) {
        const struct cm_validation *entry = &cm_validation_table[i];

        ck_assert_ptr_eq(cm_validation_find(entry->name, 0), entry);
        ck_assert_ptr_nonnull(cm_validation_find(entry->requirement, 0));
        ck_assert(i == 0 || cm_validation_table[i - 1].stage <= entry->stage);
        ck_assert(entry->reason == CM_REASON_CONSUMER ||
                  (entry->reason == CM_REASON_INVALID_SERVICE_ID && entry->code == 0));
    }
    ck_assert_ptr_null(cm_validation_find("nobody", 0));
}
END_TEST

Suite *cm_server_suite(void)
{
    Suite *suite = suite_create("cm_server");
    TCase *tcase = tcase_create("answers");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, server_answers_each_req_as_due, 0, sizeof(cases) / sizeof(cases[0]));
    tcase_add_test(tcase, server_accepts_lower_minor_versions);
    tcase_add_test(tcase, listener_accepts_its_address_family_alone);
    tcase_add_test(tcase, order_of_refusals_may_vary);
    tcase_add_test(tcase, addresses_may_stay_unchecked);
    tcase_add_loop_test(tcase, odd_ipv6_source_is_refused_if_strict, 0, 2);
    tcase_add_loop_test(tcase, length_of_refusal_info_follows_the_choice, CM_INFO_USED, CM_INFO_NONE + 1);
    tcase_add_test(tcase, whole_octets_suggested);
    tcase_add_test(tcase, unspecified_reason_suggests_nothing);
    tcase_add_loop_test(tcase, server_without_the_service_refuses, 0, 2);
    tcase_add_test(tcase, request_outside_the_range_is_not_read);
    tcase_add_test(tcase, repeated_req_draws_the_same_rep);
    tcase_add_test(tcase, foreign_mads_draw_no_answer);
    tcase_add_test(tcase, out_of_the_blue);
    tcase_add_test(tcase, cm_validations_are_ordered_and_found);
    suite_add_tcase(suite, tcase);
    return suite;
}
