/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose death it is that a refused connection shows, where the run waits for a device that somebody else starts. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/rig/device_keeper.h"
#include "tests/unit/suites.h"

Suite *device_keeper_suite(void);

static struct rig *rig;
static struct device_keeper keeper;
static const struct rig_ops *real;
static struct rig_ops ops;

static char *answers(struct rig *asked, const char *request, struct iwarp_sentence *error)
{
    (void)asked, (void)request, (void)error;
    return strdup("{\"ok\":true}");
}

static char *is_gone(struct rig *asked, const char *request, struct iwarp_sentence *error)
{
    (void)request;
    asked->losses++;
    (void)iwarp_sentence_set(error, "no upper tester answers");
    return NULL;
}

/* A device that has served, and that a check has stimulated. */
static void setup(void)
{
    const struct rig_sim_config config = {.seed = 1};
    struct iwarp_sentence error;

    rig = rig_sim_new(&config, &error);
    ck_assert_ptr_nonnull(rig);
    real = rig->ops;
    ops = *real;
    rig->ops = &ops;
    device_keeper_init(&keeper, NULL, 5);
    keeper.accepted_connection = keeper.stimulated = keeper.tried = true;
    rig->keeper = &keeper;
}

static void teardown(void)
{
    rig->ops = real;
    rig->keeper = NULL;
    real->free(rig);
}

START_TEST(refusal_beside_an_upper_tester_that_answers_is_the_death_of_the_device)
{
    ops.command = answers;
    ck_assert(device_keeper_refused(rig, "refused"));
    ck_assert_str_ne(keeper.death.text, "");
}
END_TEST

START_TEST(refusal_without_the_upper_tester_blames_nobody)
{
    ops.command = is_gone;
    ck_assert(device_keeper_refused(rig, "refused")); /* it is waited for all the same */
    ck_assert_str_eq(keeper.death.text, "");
}
END_TEST

START_TEST(upper_tester_in_the_same_program_dies_with_the_device)
{
    ops.command = is_gone;
    rig->one_program = true;
    ck_assert(device_keeper_refused(rig, "refused"));
    ck_assert_str_ne(keeper.death.text, "");
}
END_TEST

START_TEST(device_without_an_upper_tester_has_died_by_itself)
{
    ops.command = is_gone;
    rig->upper_tester = false;
    ck_assert(device_keeper_refused(rig, "refused"));
    ck_assert_str_ne(keeper.death.text, "");
    ck_assert_uint_eq(rig->losses, 0);
}
END_TEST

Suite *device_keeper_suite(void)
{
    Suite *suite = suite_create("device_keeper");
    TCase *tcase = tcase_create("device_keeper");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, refusal_beside_an_upper_tester_that_answers_is_the_death_of_the_device);
    tcase_add_test(tcase, refusal_without_the_upper_tester_blames_nobody);
    tcase_add_test(tcase, upper_tester_in_the_same_program_dies_with_the_device);
    tcase_add_test(tcase, device_without_an_upper_tester_has_died_by_itself);
    suite_add_tcase(suite, tcase);
    return suite;
}
