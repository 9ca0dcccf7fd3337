/* SPDX-License-Identifier: BSD-2-Clause */
/* Two CM agents: connections that are made, rejected and ended, what both ULPs see, and the timers of both sides. */
#include <check.h>
#include <string.h>

#include "tests/unit/cm_pair.h"
#include "tests/unit/suites.h"

Suite *cm_exchange_suite(void);

enum { PORT = 3260 };

#define SECOND UINT64_C(1000000000)

static struct cm_pair pair;

static void setup(void)
{
    cm_pair_prepare(&pair, 11);
}

static void teardown(void)
{
    cm_pair_end(&pair);
}

static void begin(enum cm_answer answer)
{
    struct cm_listener listener = cm_pair_listener(PORT, answer);

    memcpy(listener.reply, "welcome", 7);
    listener.reply_octets = 7;
    cm_pair_begin(&pair);
    cm_pair_listen(&pair, &listener);
}

static size_t exchanges(unsigned side)
{
    struct cm_agent_counts counts;

    cm_agent_counts(pair.agent[side], &counts);
    return counts.exchanges;
}

static void accept_it(struct cm_pair *on, const struct cm_event *event)
{
    struct iwarp_sentence why = {""};

    ck_assert_msg(cm_agent_accept(on->agent[0], event->id, (const uint8_t *)"welcome", 7, on->now, &why) == 0, "%s",
                  why.text);
}

/* Loop: the listener accepts, or its ULP does. */
START_TEST(exchange_is_accepted_by_listener_or_ulp)
{
    uint8_t consumer[IP_CM_CONSUMER_OCTETS];
    const struct cm_event *seen;
    uint32_t id;

    memset(consumer, 0xC5, sizeof(consumer));
    pair.decide = accept_it;
    begin(_i == 0 ? CM_ANSWER_ACCEPT : CM_ANSWER_ASK);
    id = cm_pair_connect(&pair, PORT, consumer, sizeof(consumer));
    cm_pair_run(&pair, SECOND);
    seen = cm_pair_event(&pair, 1, CM_EVENT_ESTABLISHED);
    ck_assert_uint_eq(seen->id, id);
    ck_assert_uint_eq(seen->octets, 196);
    ck_assert_mem_eq(seen->data, "welcome\0", 8);
    (void)cm_pair_event(&pair, 0, CM_EVENT_ESTABLISHED);
    if (_i == 1) {
        seen = cm_pair_event(&pair, 0, CM_EVENT_REQUEST);
        ck_assert(seen->in_service && seen->tuple.protocol == 6 && seen->tuple.source_port == 49153 &&
                  seen->tuple.destination_port == PORT && seen->tuple.source.family == 4);
        ck_assert_mem_eq(seen->tuple.source.octets, "\xC0\0\2\1", 4);
        ck_assert_mem_eq(seen->tuple.destination.octets, "\xC0\0\2\2", 4);
        ck_assert_uint_eq(seen->octets, IP_CM_CONSUMER_OCTETS);
        ck_assert_mem_eq(seen->data, consumer, sizeof(consumer));
    }
    ck_assert_uint_eq(pair.sent[0], 1); /* REP */
    ck_assert_uint_eq(pair.sent[1], 2); /* REQ, RTU */
    ck_assert_uint_eq(cm_agent_deadline(pair.agent[0]), UINT64_MAX);
    ck_assert_int_eq(cm_agent_disconnect(pair.agent[_i], cm_pair_event(&pair, (unsigned)_i, CM_EVENT_ESTABLISHED)->id,
                                         pair.now, NULL),
                     0);
    cm_pair_run(&pair, 2 * SECOND);
    (void)cm_pair_event(&pair, 0, CM_EVENT_DISCONNECTED);
    (void)cm_pair_event(&pair, 1, CM_EVENT_DISCONNECTED);
    cm_pair_run(&pair, 20 * SECOND);
    ck_assert_uint_eq(exchanges(0) + exchanges(1), 0);
}
END_TEST

/* Each exchange of a client has a queue pair of its own, and its number is of 24 bits. */
START_TEST(each_exchange_has_a_queue_pair_of_its_own)
{
    enum { EXCHANGES = 8 };
    uint32_t qpn[EXCHANGES];

    begin(CM_ANSWER_ACCEPT);
    for (unsigned i = 0; i < EXCHANGES; i++) {
        (void)cm_pair_connect(&pair, PORT, NULL, 0);
        cm_pair_run(&pair, pair.now);
        ck_assert_uint_eq(mad_get_AttributeID(pair.last[1]), CM_REQ);
        qpn[i] = (uint32_t)cm_req_get_QPN(pair.last[1] + MAD_HEADER_OCTETS);
        for (unsigned other = 0; other < i; other++)
            ck_assert_uint_ne(qpn[other], qpn[i]);
    }
}
END_TEST

/* --- Rejections --------------------------------------------------------------------------------------------------- */

static struct cm_refusal refusal;

static void reject_it(struct cm_pair *on, const struct cm_event *event)
{
    ck_assert_int_eq(cm_agent_reject(on->agent[0], event->id, &refusal, on->now, NULL), 0);
}

/* Loop: reasons 1 to 33, by the listener and (from 34 on) by the ULP; the client receives what was sent. */
START_TEST(rejected_for_every_reason)
{
    struct cm_listener listener = cm_pair_listener(PORT, _i < 34 ? CM_ANSWER_REJECT : CM_ANSWER_ASK);
    uint16_t reason = (uint16_t)(_i < 34 ? _i : _i - 33);
    const struct cm_event *seen;

    memset(&refusal, 0, sizeof(refusal));
    refusal.reason = reason;
    refusal.layer = IP_CM_LAYER_ULP;
    refusal.info_octets = CM_ULP_INFO_OCTETS;
    memset(refusal.info, 0x5A, sizeof(refusal.info));
    memcpy(refusal.private_data, "no", 2);
    refusal.private_octets = 2;
    listener.refusal = refusal;
    pair.decide = reject_it;
    cm_pair_begin(&pair);
    cm_pair_listen(&pair, &listener);
    (void)cm_pair_connect(&pair, PORT, NULL, 0);
    cm_pair_run(&pair, SECOND);
    seen = cm_pair_event(&pair, 1, CM_EVENT_REJECTED);
    ck_assert_uint_eq(seen->reason, reason);
    ck_assert_int_eq(seen->has_ari, reason == CM_REASON_CONSUMER);
    ck_assert_mem_eq(seen->data, "no\0", 3);
    ck_assert(!seen->service_proven);
    if (seen->has_ari) {
        ck_assert_uint_eq(seen->layer, IP_CM_LAYER_ULP);
        ck_assert_uint_eq(seen->info_octets, CM_ULP_INFO_OCTETS);
        ck_assert_mem_eq(seen->info, refusal.info, CM_ULP_INFO_OCTETS);
    }
    ck_assert_uint_eq(pair.sent[1], 1);
    cm_pair_run(&pair, 20 * SECOND);
    ck_assert_uint_eq(exchanges(0) + exchanges(1), 0);
}
END_TEST

/* Loop: codes 0 to 6 of the service. 0 proves nothing (A11-TXT-18), nor does an empty ARI. */
START_TEST(rejected_by_the_service)
{
    struct cm_listener listener = cm_pair_listener(PORT, CM_ANSWER_REJECT);
    const struct cm_event *seen;

    listener.refusal = (struct cm_refusal){.reason = CM_REASON_CONSUMER, .code = (uint8_t)_i, .without_ari = _i == 7};
    cm_pair_begin(&pair);
    cm_pair_listen(&pair, &listener);
    (void)cm_pair_connect(&pair, PORT, NULL, 0);
    cm_pair_run(&pair, SECOND);
    seen = cm_pair_event(&pair, 1, CM_EVENT_REJECTED);
    ck_assert_int_eq(seen->has_ari, _i != 7);
    ck_assert_uint_eq(seen->code, _i == 7 ? 0 : (unsigned)_i);
    ck_assert_int_eq(seen->service_proven, _i > 0 && _i < 7);
}
END_TEST

/* A version that the server lacks: the client learns which field, and the value that is good. */
START_TEST(refusal_suggests_a_good_version)
{
    const struct cm_event *seen;

    pair.config[1].client_minor = 4;
    pair.config[0].minor = 2;
    pair.config[0].suggest = true;
    begin(CM_ANSWER_ACCEPT);
    (void)cm_pair_connect(&pair, PORT, NULL, 0);
    cm_pair_run(&pair, SECOND);
    seen = cm_pair_event(&pair, 1, CM_EVENT_REJECTED);
    ck_assert(seen->has_ari && seen->layer == IP_CM_LAYER_SERVICE && seen->code == IP_CM_ARI_MINOR);
    ck_assert(seen->info_octets == 1 && seen->info[0] == 2 && seen->service_proven);
}
END_TEST

/* --- Time --------------------------------------------------------------------------------------------------------- */

/*
 * Nobody answers: so many REQs as there are retries and one, all alike, then a REJ with reason 4, and the ULP learns of
 * it.
 */
START_TEST(req_is_repeated_then_rejected)
{
    uint64_t wait = cm_time_ns(pair.config[1].remote_timeout);

    begin(CM_ANSWER_SILENT);
    (void)cm_pair_connect(&pair, PORT, NULL, 0);
    cm_pair_run(&pair, wait * 7 + wait / 2);
    ck_assert_uint_eq(pair.sent[1], 8);
    ck_assert_uint_eq(pair.events[1], 0);
    cm_pair_run(&pair, wait * 9);
    (void)cm_pair_event(&pair, 1, CM_EVENT_TIMEOUT);
    ck_assert_uint_eq(pair.sent[1], 9);
    ck_assert_uint_eq(mad_get_AttributeID(pair.last[1]), CM_REJ);
    ck_assert_uint_eq(pair.last[1][35], CM_REASON_TIMEOUT);
    ck_assert_uint_eq(exchanges(0) + exchanges(1), 0);
}
END_TEST

static void delay_it(struct cm_pair *on, const struct cm_event *event)
{
    ck_assert_int_eq(cm_agent_delay(on->agent[0], event->id, 23, on->now, NULL), 0);
}

/* Loop: without an MRA the REQ is repeated while the ULP thinks; with one it is not (A11-TXT-05). */
START_TEST(mra_stops_the_repetition_of_a_req)
{
    uint32_t id;

    pair.decide = _i == 0 ? NULL : delay_it;
    begin(CM_ANSWER_ASK);
    id = cm_pair_connect(&pair, PORT, NULL, 0);
    cm_pair_run(&pair, 5 * SECOND);
    ck_assert_uint_eq(pair.sent[1], _i == 0 ? 5 : 1);
    ck_assert_int_eq(
        cm_agent_accept(pair.agent[0], cm_pair_event(&pair, 0, CM_EVENT_REQUEST)->id, NULL, 0, pair.now, NULL), 0);
    cm_pair_run(&pair, 6 * SECOND);
    ck_assert_uint_eq(cm_pair_event(&pair, 1, CM_EVENT_ESTABLISHED)->id, id);
}
END_TEST

/* MRAs without end prolong a wait so often as is configured, and no longer than is: a peer cannot hold an exchange. */
START_TEST(mras_without_end)
{
    uint8_t mad[MAD_OCTETS];
    uint64_t least = 0;

    pair.config[1].retries = 0;
    pair.config[1].wait_most_ns = SECOND;
    begin(CM_ANSWER_SILENT);
    cm_begin_answer(mad, CM_MRA, 0, 5, cm_pair_connect(&pair, PORT, NULL, 0));
    cm_mra_set_Timeout(mad + MAD_HEADER_OCTETS, 31);
    for (unsigned i = 0; i < 100 && pair.events[1] == 0; i++) {
        cm_agent_input(pair.agent[1], &pair.place[0], mad, sizeof(mad), pair.now);
        cm_pair_run(&pair, pair.now + SECOND);
        least += pair.events[1] == 0;
    }
    (void)cm_pair_event(&pair, 1, CM_EVENT_TIMEOUT);
    ck_assert(least >= pair.config[1].mras_max && pair.now < 12 * SECOND);
}
END_TEST

/* The ULP never decides: the server drops the exchange, and says so. */
START_TEST(ulp_never_decides)
{
    pair.config[0].ask_ns = SECOND;
    begin(CM_ANSWER_ASK);
    (void)cm_pair_connect(&pair, PORT, NULL, 0);
    cm_pair_run(&pair, 3 * SECOND);
    (void)cm_pair_event(&pair, 0, CM_EVENT_TIMEOUT);
    ck_assert_uint_eq(cm_pair_event(&pair, 1, CM_EVENT_REJECTED)->reason, CM_REASON_TIMEOUT);
    cm_pair_run(&pair, 20 * SECOND);
    ck_assert_uint_eq(exchanges(0) + exchanges(1), 0);
    ck_assert_int_eq(cm_agent_accept(pair.agent[0], pair.event[0][0].id, NULL, 0, pair.now, NULL), -1);
}
END_TEST

/* An RTU that never comes: the REP is repeated as often as the REQ allows, then the exchange goes. */
START_TEST(rep_is_repeated_until_the_exchange_goes)
{
    struct cm_output output;
    unsigned replies = 0;

    pair.config[1].retries = 3;
    begin(CM_ANSWER_ACCEPT);
    (void)cm_pair_connect(&pair, PORT, NULL, 0);
    ck_assert(cm_agent_output(pair.agent[1], &output));
    cm_agent_input(pair.agent[0], &pair.place[1], output.mad, MAD_OCTETS, 1);
    for (uint64_t now; (now = cm_agent_deadline(pair.agent[0])) != UINT64_MAX;) {
        cm_agent_tick(pair.agent[0], now);
        while (cm_agent_output(pair.agent[0], &output))
            replies += mad_get_AttributeID(output.mad) == CM_REP;
        ck_assert_uint_le(replies, 10);
    }
    ck_assert_uint_eq(replies, 4);
    ck_assert_uint_eq(exchanges(0), 0);
}
END_TEST

/* --- Misuse ------------------------------------------------------------------------------------------------------- */

START_TEST(misuse_of_the_cm_agent_is_refused)
{
    struct cm_agent_config config;
    struct cm_connect connect = {.tuple = {.source = {.family = 4}, .destination = {.family = 6}}};
    struct cm_listener listener = cm_pair_listener(PORT, CM_ANSWER_ACCEPT);
    struct iwarp_sentence why = {""};
    uint32_t id;

    begin(CM_ANSWER_ACCEPT);
    ck_assert_int_eq(cm_agent_listen(pair.agent[0], &listener, &why), -1);
    ck_assert_ptr_nonnull(strstr(why.text, "0x0000000001060cbc has a listener"));
    ck_assert(cm_agent_unlisten(pair.agent[0], ip_cm_service_id(6, PORT)));
    ck_assert(!cm_agent_unlisten(pair.agent[0], ip_cm_service_id(6, PORT)));
    ck_assert_int_eq(cm_agent_connect(pair.agent[1], &connect, 1, &id, &why), -1);
    ck_assert_ptr_nonnull(strstr(why.text, "both IPv4 or both IPv6"));
    connect.tuple.destination.family = 4;
    connect.octets = 57;
    ck_assert_int_eq(cm_agent_connect(pair.agent[1], &connect, 1, &id, &why), -1);
    ck_assert_ptr_nonnull(strstr(why.text, "at most 56 octets"));
    ck_assert_int_eq(cm_agent_disconnect(pair.agent[1], 1, 1, &why), -1);
    ck_assert_int_eq(cm_agent_connect(NULL, &connect, 1, &id, &why), -1);
    for (unsigned i = 0; i < 5; i++) {
        cm_agent_config_default(&config);
        config.major = i == 0 ? 16 : 0;
        config.retries = i == 1 ? 16 : 1;
        config.families = i == 2 ? 0 : CM_FAMILY_4;
        config.own_count = i == 3;
        config.wait_most_ns = i == 4 ? 0 : SECOND;
        ck_assert_ptr_null(cm_agent_new(&config, &why));
    }
    ck_assert_ptr_null(cm_agent_new(NULL, &why));
}
END_TEST

Suite *cm_exchange_suite(void)
{
    Suite *suite = suite_create("cm_exchange");
    TCase *tcase = tcase_create("exchanges");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, exchange_is_accepted_by_listener_or_ulp, 0, 2);
    tcase_add_test(tcase, each_exchange_has_a_queue_pair_of_its_own);
    tcase_add_loop_test(tcase, rejected_for_every_reason, 1, 67);
    tcase_add_loop_test(tcase, rejected_by_the_service, 0, 8);
    tcase_add_test(tcase, refusal_suggests_a_good_version);
    tcase_add_test(tcase, req_is_repeated_then_rejected);
    tcase_add_loop_test(tcase, mra_stops_the_repetition_of_a_req, 0, 2);
    tcase_add_test(tcase, mras_without_end);
    tcase_add_test(tcase, ulp_never_decides);
    tcase_add_test(tcase, rep_is_repeated_until_the_exchange_goes);
    tcase_add_test(tcase, misuse_of_the_cm_agent_is_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}
