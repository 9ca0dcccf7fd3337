/* SPDX-License-Identifier: BSD-2-Clause */
/* Defects that one judgement of explore shows, and reports that the correct stack draws, too. */
#include <check.h>
#include <string.h>

#include "conformance/engine/explore/explore.h"
#include "conformance/engine/explore/session_generator.h"
#include "conformance/engine/explore/session_reduction.h"
#include "tests/unit/suites.h"

Suite *explore_judgements_suite(void);

static struct catalogue *catalogue;
static struct pics *pics;
static struct defect_list *variants;
static struct session_device device;
static struct explore_config config;

static void setup(void)
{
    struct iwarp_sentence error = {""};

    ck_assert_msg(catalogue_load(&catalogue, &error) == 0 && pics_load(&pics, &error) == 0, "%s", error.text);
    variants = variant_list_embedded(&error);
    ck_assert_msg(variants != NULL, "%s", error.text);
    memset(&device, 0, sizeof(device));
    config = (struct explore_config){.world = {.catalogue = catalogue, .pics = pics, .seed = 1},
                                     .variants = variants,
                                     .device = &device,
                                     .seed = 1,
                                     .sessions = 2000,
                                     .wrong = 60,
                                     .first_only = true,
                                     .warns = true,
                                     .jobs = 1};
}

static void teardown(void)
{
    run_services_free(&device.services);
    defect_set_free(device.defects);
    defect_list_free(variants);
    pics_free(pics);
    catalogue_free(catalogue);
}

static void give_defect(const char *id)
{
    struct iwarp_sentence error = {""};
    const struct defect_names names = {.defects = &id, .defect_count = 1, .layer = CHOICE_TCP};

    ck_assert_msg(defect_set_named(&names, &device.defects, &error) == 0, "%s", error.text);
}

static void explore(struct explore_summary *summary)
{
    struct iwarp_sentence error = {""};

    ck_assert_msg(explore_run(&config, summary, &error) == 0, "%s", error.text);
}

/*
 * A judgement each: of completions, of the device's half, of an error's end, of the start-up's limit, of inner segments, of frames that a FIN cuts
 * short, of large messages, of wrong answers to the device's own requests, of the values that its ULP gets.
 */
static const char *const by_kind[] = {
    "rdmap-early-read-done", "bound-fin-ends-posting",    "ddp-teardown-at-once",
    "mpa-startup-untimed",   "bound-version-tagged-last", "mpa-private-cut-taken",
    "rdmap-write-split",     "atom-response-id-dropped",  "atom-response-value-lost",
};

START_TEST(each_judgement_finds_a_defect)
{
    struct explore_summary summary;

    give_defect(by_kind[_i]);
    explore(&summary);
    ck_assert_uint_eq(summary.group_count, 1);
    explore_summary_free(&summary);
}
END_TEST

/* A report that the correct stack draws, too, is no chance: it comes each time. */
START_TEST(what_the_correct_stack_fails_is_played_again)
{
    static struct session session;
    struct iwarp_sentence error = {""};
    struct session_device oracle = {.defects = defect_set_asking(&error)};
    char cause[] = "what the device sends";
    struct explore_group group = {.cause = cause};
    struct session_draw draw;
    struct session_step *step;

    session_generate(1, 0, IWARP_SCTP_UNDECIDED, &session, &draw);
    session_drop(&session.open, "rejects");
    session_drop(&session.open, "refuses");
    step = session_add_step(&session, "read"); /* beyond its region: said to be legal */
    session_add(&step->members, "region", 1);
    session_add(&step->members, "at", 0);
    session_add(&step->members, "octets", 9000);
    ck_assert_int_ge(session_reduce(&config, &oracle, &group, &session, &error), 0);
    ck_assert_uint_eq(group.again, EXPLORE_REPLAYS);
    run_services_free(&oracle.services);
    defect_set_free(oracle.defects);
}
END_TEST

Suite *explore_judgements_suite(void)
{
    Suite *suite = suite_create("explore_judgements");
    TCase *sessions = tcase_create("sessions");

    tcase_add_checked_fixture(sessions, setup, teardown);
    tcase_set_timeout(sessions, 120);
    tcase_add_loop_test(sessions, each_judgement_finds_a_defect, 0, (int)(sizeof(by_kind) / sizeof(by_kind[0])));
    tcase_add_test(sessions, what_the_correct_stack_fails_is_played_again);
    suite_add_tcase(suite, sessions);
    return suite;
}
