/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The runner on a rig whose capture drops frames: what a check decided then may rest on what nobody saw. And on checks
 * that decide several ids.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "conformance/engine/run/run_outcome.h"
#include "conformance/engine/run/runner.h"
#include "tests/unit/suites.h"

Suite *runner_suite(void);

static struct rig_ops dropping; /* a simulated rig's, and: */
static uint64_t dropped;
static unsigned dropping_from; /* results with drops: so many from the first on */

/* Called before and after each check. */
static uint64_t drop_some(struct rig *rig)
{
    static unsigned calls;

    (void)rig;
    if (calls++ % 2 == 1 && dropping_from > 0) {
        dropping_from--;
        dropped += 3;
    }
    return dropped;
}

struct seen {
    unsigned checks, inconclusive, passes;
    uint64_t dropped; /* by the journals */
};

static int take_journal(void *user, struct journal *journal, const struct flow_totals *traffic)
{
    struct seen *seen = user;

    (void)journal;
    seen->dropped += traffic->account.row[FLOW_ROW_DROPPED].items;
    return 0;
}

static int take_result(void *user, const struct result *result)
{
    struct seen *seen = user;

    if (strcmp(result->by, "check") != 0)
        return 0;
    seen->checks++;
    seen->passes += result->verdict == VERDICT_PASS;
    if (result->verdict == VERDICT_INCONCLUSIVE) {
        seen->inconclusive++;
        ck_assert_msg(strstr(result->message, "dropped 3 frames") != NULL, "%s", result->message);
        ck_assert_ptr_nonnull(strstr(result->message, "(PASS)"));
    }
    return 0;
}

/* Loop: checks in whose course frames are dropped. */
START_TEST(check_with_dropped_frames_is_inconclusive)
{
    static char *argv[] = {(char *)"test", (char *)"MPA-7.1.2-0*"};
    struct selection selection = {0};
    struct iwarp_sentence error = {""};
    struct rig_sim_config sim = {.seed = 1};
    struct seen seen = {0};
    struct runner_totals totals;
    struct catalogue *catalogue;
    struct script_host *host = script_host_new(&error);
    struct pics *pics;
    struct plan plan;
    struct rig *rig = rig_sim_new(&sim, &error);
    int index = 1;

    ck_assert_int_eq(catalogue_load(&catalogue, &error), 0);
    ck_assert_int_eq(pics_load(&pics, &error), 0);
    ck_assert_int_eq(script_load_embedded(host, &error), 0);
    ck_assert_int_eq(selection_option(&selection, 2, argv, &index, &error), 1);
    struct plan_config planning = {.catalogue = catalogue, .pics = pics, .selection = &selection};
    ck_assert_msg(plan_make(&plan, host, &planning, &error) == 0, "%s", error.text);
    ck_assert_msg(rig_measure(rig, &error) == 0, "%s", error.text);
    dropping = *rig->ops;
    dropping.dropped = drop_some;
    rig->ops = &dropping;
    dropping_from = (unsigned)_i;
    struct runner_config config = {.host = host,
                                   .plan = &plan,
                                   .selection = &selection,
                                   .catalogue = catalogue,
                                   .rig = rig,
                                   .sim = sim,
                                   .evidence = {.folder = -1},
                                   .report = {.journal = take_journal, .result = take_result, .user = &seen}};
    ck_assert_msg(runner_run(&config, &totals, &error) == 0, "%s", error.text);
    ck_assert_uint_gt(seen.checks, 3);
    ck_assert_uint_eq(seen.inconclusive, (unsigned)_i);
    ck_assert_uint_gt(seen.passes, 0);
    ck_assert_uint_eq(seen.dropped, 3 * (uint64_t)_i);
    ck_assert_uint_eq(totals.flow.account.row[FLOW_ROW_DROPPED].items, 0); /* of what no journal has */
    plan_free(&plan);
    rig_free(rig);
    script_host_free(host);
    pics_free(pics);
    catalogue_free(catalogue);
}
END_TEST

/* Which ids a simulated run of this script gets results for, when one id is selected. */
static int take_id(void *user, const struct result *result)
{
    char *ids = user;

    if (strcmp(result->by, "check") == 0)
        (void)snprintf(ids + strlen(ids), 256 - strlen(ids), "%s %s %s\n", result->id, result->role,
                       verdict_name(result->verdict));
    return 0;
}

static const struct {
    const char *selected, *ids;
} shared_bodies[] = {
    {"MPA-4.1-09", "MPA-4.1-09 responder PASS\n"},
    {"MPA-4.4-13", "MPA-4.4-13 responder FAIL\n"},
    {"MPA-4*", "MPA-4.1-09 responder PASS\nMPA-4.4-13 responder FAIL\n"},
};

/*
 * Runs the script's checks of these ids in simulation; `ids` (256 octets) gets "ID role VERDICT", a line for each
 * result.
 */
static void run_script(const char *text, const char *selected, char *ids)
{
    char *argv[] = {(char *)"test", (char *)selected};
    struct selection selection = {0};
    struct iwarp_sentence error = {""};
    struct runner_totals totals;
    struct catalogue *catalogue;
    struct script_host *host = script_host_new(&error);
    struct pics *pics;
    struct plan plan;
    int index = 1;

    ck_assert_int_eq(catalogue_load(&catalogue, &error), 0);
    ck_assert_int_eq(pics_load(&pics, &error), 0);
    ck_assert_msg(script_load(host, "s.lua", text, strlen(text), &error) == 0, "%s", error.text);
    ck_assert_int_eq(selection_option(&selection, 2, argv, &index, &error), 1);
    struct plan_config planning = {.catalogue = catalogue, .pics = pics, .selection = &selection};
    ck_assert_msg(plan_make(&plan, host, &planning, &error) == 0, "%s", error.text);
    struct runner_config config = {.host = host,
                                   .plan = &plan,
                                   .selection = &selection,
                                   .catalogue = catalogue,
                                   .sim = {.seed = 1},
                                   .evidence = {.folder = -1},
                                   .report = {.result = take_id, .user = ids}};
    ids[0] = '\0';
    ck_assert_msg(runner_run(&config, &totals, &error) == 0, "%s", error.text);
    plan_free(&plan);
    script_host_free(host);
    pics_free(pics);
    catalogue_free(catalogue);
}

/* Loop: each id of a check is selected by itself, and has its own result. */
START_TEST(a_body_of_several_ids)
{
    char ids[256];

    run_script("check { id = 'MPA-4.1-09', also = { 'MPA-4.4-13' }, purpose = 'p', sandwich = 'tcp',\n"
               "  run = function(t) t:connect() if t.id == 'MPA-4.4-13' then t:fail('f') end end }",
               shared_bodies[_i].selected, ids);
    ck_assert_str_eq(ids, shared_bodies[_i].ids);
}
END_TEST

/* What a breach is follows from the requirement's level, whatever the script calls it. */
static const struct {
    const char *ids, *run, *results;
} levels[] = {
    {"id = 'MPA-7.1.2-05', also = { 'MPA-7.1.2-04' }", "t:fail('f', 'e', 'a')",
     "MPA-7.1.2-05 responder WARN\nMPA-7.1.2-04 responder FAIL\n"}, /* a SHOULD; a MUST */
    {"id = 'MPA-7.1.2-05'", "error { verdict = 'FAIL' }", "MPA-7.1.2-05 responder WARN\n"},
    {"id = 'MPA-7.1.2-05'", "t:warn('w')", "MPA-7.1.2-05 responder WARN\n"},
    {"id = 'MPA-7.1.2-05'", "t:ambiguous('A')", "MPA-7.1.2-05 responder AMBIGUOUS\n"},
    {"id = 'MPA-3-16'", "t:fail('f')", "MPA-3-16 responder FAIL\n"}, /* a MAY says what has to be tolerated */
};

START_TEST(a_breach_of_a_level)
{
    char text[256], ids[256];

    (void)snprintf(text, sizeof(text),
                   "check { %s, role = 'responder', purpose = 'p', sandwich = 'tcp', run = function(t) %s end }",
                   levels[_i].ids, levels[_i].run);
    run_script(text, "MPA-*", ids);
    ck_assert_str_eq(ids, levels[_i].results);
}
END_TEST

/* A device that does not recover from a check of a SHOULD fails: that is no matter of the level. */
START_TEST(a_device_that_does_not_recover)
{
    struct requirement should = {.level = REQUIREMENT_SHOULD};
    struct outcome broken = {.verdict = VERDICT_FAIL, .broken = true}, plain = {.verdict = VERDICT_FAIL};

    run_outcome_apply_level(&broken, &should);
    run_outcome_apply_level(&plain, &should);
    ck_assert_int_eq(broken.verdict, VERDICT_FAIL);
    ck_assert_int_eq(plain.verdict, VERDICT_WARN);
    plain.verdict = VERDICT_FAIL;
    run_outcome_apply_level(&plain, NULL); /* an id that the catalogue has not */
    ck_assert_int_eq(plain.verdict, VERDICT_FAIL);
}
END_TEST

Suite *runner_suite(void)
{
    Suite *suite = suite_create("runner");
    TCase *tests = tcase_create("runner");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, check_with_dropped_frames_is_inconclusive, 0, 3);
    tcase_add_loop_test(tests, a_body_of_several_ids, 0, (int)(sizeof(shared_bodies) / sizeof(shared_bodies[0])));
    tcase_add_loop_test(tests, a_breach_of_a_level, 0, (int)(sizeof(levels) / sizeof(levels[0])));
    tcase_add_test(tests, a_device_that_does_not_recover);
    suite_add_tcase(suite, tests);
    return suite;
}
