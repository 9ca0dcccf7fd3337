/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of hosts, peers, states and work (iwarp/verbs.h). */
#include <check.h>
#include <string.h>

#include "tests/unit/suites.h"
#include "tests/unit/verbs_talk.h"

Suite *verbs_names_suite(void);

static struct verbs_talk talk;

#define WHY(text_part) ck_assert_msg(strstr(talk.why.text, text_part) != NULL, "'%s'", talk.why.text)

START_TEST(host_names_are_resolved)
{
    char address[IWARP_ADDRESS_OCTETS];
    uint16_t port = 0;

    /* A name that needs no file and no server. */
    ck_assert_msg(iwarp_resolve("127.1", address, &talk.why) == 0, "%s", talk.why.text);
    ck_assert_str_eq(address, "127.0.0.1");
    ck_assert_int_eq(iwarp_resolve("2001:DB8::1", address, NULL), 0);
    ck_assert_str_eq(address, "2001:db8::1");
    ck_assert_int_eq(iwarp_resolve("no such host", address, &talk.why), -1);
    WHY("'no such host' has no address: ");
    ck_assert_int_eq(iwarp_resolve(NULL, address, &talk.why), -1);
    ck_assert_int_eq(iwarp_resolve("127.1", NULL, &talk.why), -1);
    verbs_talk_begin(&talk);
    verbs_talk_connect(&talk);
    ck_assert_int_eq(iwarp_qp_peer(talk.qp[1], address, NULL, &talk.why), -1);
    WHY("not connected");
    verbs_talk_end(&talk);
    verbs_talk_begin(&talk);
    verbs_talk_open(&talk);
    ck_assert_int_eq(iwarp_qp_peer(talk.qp[1], address, &port, &talk.why), 0);
    ck_assert_str_eq(address, "127.0.0.1");
    ck_assert_uint_eq(port, iwarp_listener_port(talk.listener));
    ck_assert_int_eq(iwarp_qp_peer(talk.qp[0], address, NULL, &talk.why), 0);
    ck_assert_str_eq(address, "127.0.0.1");
    ck_assert_int_eq(iwarp_qp_peer(talk.qp[0], NULL, NULL, &talk.why), -1);
    ck_assert_int_eq(iwarp_qp_peer(NULL, address, NULL, &talk.why), -1);
    iwarp_disconnect(talk.qp[1]);
    (void)verbs_talk_await(&talk, talk.qp[1], IWARP_QP_CLOSED);
    ck_assert_int_eq(iwarp_qp_peer(talk.qp[1], address, NULL, &talk.why), -1);
    verbs_talk_end(&talk);
}
END_TEST

START_TEST(each_verbs_value_has_its_text)
{
    const int none = IWARP_QP_COMPLETION + 1;

    ck_assert_str_eq(iwarp_status_text(IWARP_STATUS_FLUSHED), "flushed");
    ck_assert_str_eq(iwarp_work_text(IWARP_WORK_IMMEDIATE), "Immediate Data");
    ck_assert_str_eq(iwarp_qp_event_text(IWARP_QP_CONNECT_REQUEST), "connect request");
    ck_assert_str_eq(iwarp_qp_event_text((enum iwarp_qp_event_kind)none), "unknown");
    ck_assert_str_eq(iwarp_work_text((enum iwarp_work)none), "unknown");
    ck_assert_str_eq(iwarp_status_text((enum iwarp_status) - 1), "unknown");
    for (int kind = 0; kind < none; kind++)
        ck_assert_str_ne(iwarp_qp_event_text((enum iwarp_qp_event_kind)kind), "unknown");
}
END_TEST

Suite *verbs_names_suite(void)
{
    Suite *suite = suite_create("verbs_names");
    TCase *tcase = tcase_create("verbs_names");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, host_names_are_resolved);
    tcase_add_test(tcase, each_verbs_value_has_its_text);
    suite_add_tcase(suite, tcase);
    return suite;
}
