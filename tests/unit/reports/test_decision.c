/* SPDX-License-Identifier: BSD-2-Clause */
/* What a rule adds to what checks decided: by role, and a failure that is excused hides none that is not. */
#include "reports/results/decision.h"

#include <check.h>

#include "tests/unit/suites.h"

Suite *decision_suite(void);

#define NOTHING VERDICT_COUNT

static const struct {
    enum verdict initiator, responder; /* of the checks; NOTHING: there is none */
    unsigned role;                     /* of the rule */
    enum verdict verdict;
    bool adds;
} rows[] = {
    {NOTHING, NOTHING, ROLE_RESPONDER, VERDICT_PASS, true},
    {NOTHING, NOTHING, ROLE_UNKNOWN, VERDICT_FAIL, true},
    {VERDICT_SKIP, VERDICT_INCONCLUSIVE, ROLE_RESPONDER, VERDICT_PASS, true},
    {VERDICT_SKIP, VERDICT_INCONCLUSIVE, ROLE_UNKNOWN, VERDICT_PASS, true},
    /* the same role: what is worse */
    {NOTHING, VERDICT_PASS, ROLE_RESPONDER, VERDICT_PASS, false},
    {NOTHING, VERDICT_PASS, ROLE_RESPONDER, VERDICT_WARN, true},
    {NOTHING, VERDICT_PASS, ROLE_RESPONDER, VERDICT_KNOWN, true},
    {NOTHING, VERDICT_PASS, ROLE_RESPONDER, VERDICT_FAIL, true},
    {NOTHING, VERDICT_WARN, ROLE_RESPONDER, VERDICT_KNOWN, true},
    {NOTHING, VERDICT_FAIL, ROLE_RESPONDER, VERDICT_FAIL, false},
    {NOTHING, VERDICT_FAIL, ROLE_RESPONDER, VERDICT_KNOWN, false},
    /* what is excused hides no failure that is not */
    {NOTHING, VERDICT_KNOWN, ROLE_RESPONDER, VERDICT_FAIL, true},
    {NOTHING, VERDICT_KNOWN, ROLE_RESPONDER, VERDICT_KNOWN, false},
    {NOTHING, VERDICT_KNOWN, ROLE_RESPONDER, VERDICT_WARN, false},
    /* the other role is another thing */
    {VERDICT_FAIL, NOTHING, ROLE_RESPONDER, VERDICT_FAIL, true},
    {VERDICT_KNOWN, VERDICT_PASS, ROLE_RESPONDER, VERDICT_FAIL, true},
    {VERDICT_KNOWN, VERDICT_PASS, ROLE_INITIATOR, VERDICT_KNOWN, false},
    {VERDICT_PASS, NOTHING, ROLE_RESPONDER, VERDICT_PASS, true},
    /* nobody knows which role: what is worse than the better of the two */
    {VERDICT_FAIL, VERDICT_PASS, ROLE_UNKNOWN, VERDICT_FAIL, true},
    {VERDICT_FAIL, VERDICT_PASS, ROLE_UNKNOWN, VERDICT_PASS, false},
    {VERDICT_FAIL, VERDICT_FAIL, ROLE_UNKNOWN, VERDICT_FAIL, false},
    {VERDICT_FAIL, NOTHING, ROLE_UNKNOWN, VERDICT_PASS, false},
};

START_TEST(verdict_adds_to_a_decision)
{
    struct decision decision = {{0}};

    if (rows[_i].initiator != NOTHING)
        decision_add(&decision, ROLE_INITIATOR, rows[_i].initiator);
    if (rows[_i].responder != NOTHING)
        decision_add(&decision, ROLE_RESPONDER, rows[_i].responder);
    ck_assert_int_eq(decision_adds(&decision, rows[_i].role, rows[_i].verdict), rows[_i].adds);
    ck_assert(decision_adds(NULL, rows[_i].role, VERDICT_PASS)); /* another requirement */
}
END_TEST

START_TEST(the_worst_of_several_checks)
{
    struct decision decision = {{0}};

    decision_add(&decision, ROLE_RESPONDER, VERDICT_PASS);
    decision_add(&decision, ROLE_RESPONDER, VERDICT_KNOWN);
    decision_add(&decision, ROLE_RESPONDER, VERDICT_PASS);
    decision_add(&decision, ROLE_SLOTS, VERDICT_FAIL); /* no role */
    ck_assert(!decision_adds(&decision, ROLE_RESPONDER, VERDICT_KNOWN));
    ck_assert(decision_adds(&decision, ROLE_RESPONDER, VERDICT_FAIL));
}
END_TEST

START_TEST(roles_have_their_slots)
{
    ck_assert_uint_eq(role_slot("initiator"), ROLE_INITIATOR);
    ck_assert_uint_eq(role_slot("responder"), ROLE_RESPONDER);
    ck_assert_uint_eq(role_slot(NULL), ROLE_UNKNOWN);
    ck_assert_uint_eq(role_slot("both"), ROLE_UNKNOWN);
}
END_TEST

Suite *decision_suite(void)
{
    Suite *suite = suite_create("decision");
    TCase *tests = tcase_create("decision");

    tcase_add_loop_test(tests, verdict_adds_to_a_decision, 0, (int)(sizeof(rows) / sizeof(rows[0])));
    tcase_add_test(tests, the_worst_of_several_checks);
    tcase_add_test(tests, roles_have_their_slots);
    suite_add_tcase(suite, tests);
    return suite;
}
