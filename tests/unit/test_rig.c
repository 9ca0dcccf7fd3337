/* SPDX-License-Identifier: BSD-2-Clause */
/* A device gets time by how slow it has been lately. */
#include <check.h>

#include "conformance/engine/rig.h"
#include "tests/unit/suites.h"

Suite *rig_suite(void);

#define MILLISECOND UINT64_C(1000000)
#define SECOND      UINT64_C(1000000000)

START_TEST(limits_follow_the_slowest_of_the_latest)
{
    struct rig rig = {0};

    rig_note_round_trip(&rig, MILLISECOND / 2);
    ck_assert_uint_eq(rig.reaction_ns, 2 * SECOND);
    ck_assert_uint_eq(rig.quiet_ns, SECOND / 4);
    rig_note_round_trip(&rig, 8 * MILLISECOND);
    ck_assert_uint_eq(rig.reaction_ns, 12 * SECOND);
    for (int i = 1; i < RIG_RECENT; i++) {
        rig_note_round_trip(&rig, MILLISECOND);
        ck_assert_uint_eq(rig.round_trip_ns, 8 * MILLISECOND);
    }
    rig_note_round_trip(&rig, MILLISECOND);
    ck_assert_uint_eq(rig.round_trip_ns, MILLISECOND);
    ck_assert_uint_eq(rig.reaction_ns, 2 * SECOND);
    rig_note_round_trip(&rig, SECOND);
    ck_assert_uint_eq(rig.reaction_ns, 15 * SECOND);
}
END_TEST

START_TEST(what_says_nothing_changes_nothing)
{
    struct rig rig = {.reaction_ns = 7, .simulated = true};

    rig_note_round_trip(&rig, SECOND);
    ck_assert_uint_eq(rig.reaction_ns, 7);
    rig.simulated = false;
    rig_note_round_trip(&rig, 0);
    ck_assert_uint_eq(rig.reaction_ns, 7);
}
END_TEST

Suite *rig_suite(void)
{
    Suite *suite = suite_create("rig");
    TCase *tcase = tcase_create("limits");

    tcase_add_test(tcase, limits_follow_the_slowest_of_the_latest);
    tcase_add_test(tcase, what_says_nothing_changes_nothing);
    suite_add_tcase(suite, tcase);
    return suite;
}
