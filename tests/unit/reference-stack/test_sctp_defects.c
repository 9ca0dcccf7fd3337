/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The faults of DDP over SCTP, one by one: a device that has it goes through a course against a correct one, in both
 * roles and both profiles, and all that can be seen of it is written down. It differs from what is seen of the correct
 * stack, and that is the same each time.
 */
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/defects/defect.h"
#include "reference-stack/sctp/sctp.h"
#include "tests/unit/sctp_course.h"
#include "tests/unit/suites.h"

Suite *sctp_defects_suite(void);

static struct sctp_record correct, faulty;

static bool differs(const struct defect_set *defects, bool with_window)
{
    static const enum iwarp_sctp_profile profiles[] = {IWARP_SCTP_RFC5043, IWARP_SCTP_DRAFT02};

    for (int i = 0; i < 4; i++) {
        sctp_course(&correct, NULL, profiles[i / 2], i % 2, with_window);
        sctp_course(&faulty, defects, profiles[i / 2], i % 2, with_window);
        if (correct.count != faulty.count || memcmp(correct.text, faulty.text, correct.count) != 0)
            return true;
    }
    return false;
}

START_TEST(correct_stack_is_the_same_each_time)
{
    struct iwarp_sentence sentence = {""};
    struct defect_list *list = defect_list_embedded(&sentence);
    struct defect_set *none = defect_set_new(list, NULL, 0, &sentence);

    ck_assert(!differs(NULL, true));
    /* Nor does it make a difference that faults are asked for at all, when there are none. */
    ck_assert(!differs(none, false));
    defect_set_free(none);
    defect_list_free(list);
}
END_TEST

START_TEST(each_defect_shows)
{
    struct iwarp_sentence sentence = {""};
    struct defect_list *list = defect_list_embedded(&sentence);
    unsigned hidden = 0, rows = 0;

    for (size_t i = 0; i < defect_list_count(list); i++) {
        const struct defect *defect = defect_list_at(list, i);
        struct defect_set *set;

        ck_assert_int_eq(defect_acts_over_sctp(defect), strncmp(defect->id, "sctp-", 5) == 0);
        if (!defect_acts_over_sctp(defect))
            continue;
        set = defect_set_new(list, &defect->id, 1, &sentence);
        ck_assert_msg(set != NULL, "%s", sentence.text);
        if (!differs(set, strcmp(defect->target, "sctp-outstanding-unlimited") == 0)) {
            fprintf(stderr, "%s does not show\n", defect->id);
            hidden++;
        }
        rows++;
        defect_set_free(set);
    }
    ck_assert_uint_eq(hidden, 0);
    ck_assert_uint_gt(rows, 60);
    defect_list_free(list);
}
END_TEST

Suite *sctp_defects_suite(void)
{
    Suite *suite = suite_create("sctp_defects");
    TCase *tcase = tcase_create("defects");

    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, correct_stack_is_the_same_each_time);
    tcase_add_test(tcase, each_defect_shows);
    suite_add_tcase(suite, tcase);
    return suite;
}
