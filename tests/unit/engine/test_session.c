/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions as data: members, steps, reactions. */
#include <check.h>
#include <string.h>

#include "conformance/engine/explore/session.h"
#include "tests/unit/suites.h"

Suite *session_suite(void);

START_TEST(members_are_found_by_their_names)
{
    struct session_members members = {.count = 0};

    session_add(&members, "octets", -7);
    session_add_flag(&members, "held", true);
    session_add_word(&members, "field", "MSN");
    ck_assert_int_eq(session_number(&members, "octets", 3), -7);
    ck_assert_int_eq(session_number(&members, "piece", 3), 3);
    ck_assert_str_eq(session_find(&members, "field")->word, "MSN");
    ck_assert_int_eq(session_find(&members, "held")->kind, SESSION_FLAG);
    ck_assert_ptr_null(session_find(&members, "hel"));
    for (int i = 0; i < 2 * SESSION_MEMBERS; i++)
        session_add(&members, "more", i);
    ck_assert_uint_eq(members.count, SESSION_MEMBERS);
}
END_TEST

START_TEST(steps_end_where_there_is_no_room)
{
    static struct session session;

    while (session_add_step(&session, "send") != NULL)
        ck_assert_uint_le(session.step_count, SESSION_STEPS);
    ck_assert_uint_eq(session.step_count, SESSION_STEPS);
    ck_assert(!session_is_wrong(&session));
    session.steps[SESSION_STEPS - 1].wrong.present = true;
    ck_assert(session_is_wrong(&session));
}
END_TEST

START_TEST(a_reaction_is_allowed_once)
{
    static struct session session;

    session_allow(&session, "closes");
    session_allow(&session, "terminate 1201");
    session_allow(&session, "closes");
    ck_assert_uint_eq(session.reaction_count, 2);
    ck_assert_str_eq(session.reactions[1], "terminate 1201");
}
END_TEST

Suite *session_suite(void)
{
    Suite *suite = suite_create("session");
    TCase *tcase = tcase_create("data");

    tcase_add_test(tcase, members_are_found_by_their_names);
    tcase_add_test(tcase, steps_end_where_there_is_no_room);
    tcase_add_test(tcase, a_reaction_is_allowed_once);
    suite_add_tcase(suite, tcase);
    return suite;
}
