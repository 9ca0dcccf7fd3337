/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Devices that are no iWARP devices, and one that loses every second connection: no check passes whose stimulus was not
 * judged, nothing fails in their name, and a sentence says what is wrong.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "conformance/engine/profile/profile.h"
#include "conformance/engine/run/runner.h"
#include "tests/unit/dummy_rig.h"
#include "tests/unit/suites.h"

Suite *dummies_suite(void);

struct seen {
    unsigned passes, fails, inconclusive, skips, reported;
    char first[256];  /* PASS or FAIL */
    char reason[256]; /* the first of what was inconclusive */
};

static int take_result(void *user, const struct result *result)
{
    struct seen *seen = user;
    bool pass = result->verdict == VERDICT_PASS || result->verdict == VERDICT_AMBIGUOUS;
    bool fail = result->verdict == VERDICT_FAIL || result->verdict == VERDICT_WARN;

    seen->passes += pass;
    seen->fails += fail;
    seen->skips += result->verdict == VERDICT_SKIP;
    if ((pass || fail) && seen->first[0] == '\0')
        (void)snprintf(seen->first, sizeof(seen->first), "%s %s %s by %s: %s, %s", verdict_name(result->verdict),
                       result->id, result->role, result->by, result->message != NULL ? result->message : "",
                       result->actual != NULL ? result->actual : "");
    if (result->verdict != VERDICT_INCONCLUSIVE)
        return 0;
    if (seen->inconclusive++ == 0)
        (void)snprintf(seen->reason, sizeof(seen->reason), "%s", result->message);
    seen->reported += run_services_are_cause(result->message);
    return 0;
}

/* Runs these responder checks (NULL: all) on this rig, which has no upper tester. */
static void run_some(struct rig *rig, const char *id, struct seen *seen, struct run_services *services)
{
    struct selection selection = {
        .pattern = {id}, .pattern_count = id != NULL, .subject = {"responder"}, .subject_count = 1};
    struct iwarp_sentence error = {""};
    struct runner_totals totals;
    struct catalogue *catalogue;
    struct script_host *host = script_host_new(&error);
    struct pics *pics;
    struct plan plan;

    ck_assert_int_eq(catalogue_load(&catalogue, &error), 0);
    ck_assert_int_eq(pics_load(&pics, &error), 0);
    ck_assert_int_eq(profile_defaults(pics, rig->upper_tester, &error), 0);
    ck_assert_int_eq(script_load_embedded(host, &error), 0);
    struct plan_config planning = {.catalogue = catalogue, .pics = pics, .selection = &selection};
    ck_assert_msg(plan_make(&plan, host, &planning, &error) == 0, "%s", error.text);
    struct runner_config config = {.host = host,
                                   .plan = &plan,
                                   .selection = &selection,
                                   .catalogue = catalogue,
                                   .rig = rig,
                                   .services = services,
                                   .evidence = {.folder = -1},
                                   .report = {.result = take_result, .user = seen}};
    ck_assert_msg(runner_run(&config, &totals, &error) == 0, "%s", error.text);
    plan_free(&plan);
    script_host_free(host);
    pics_free(pics);
    catalogue_free(catalogue);
}

static void run_all(struct rig *rig, struct seen *seen, struct run_services *services)
{
    run_some(rig, NULL, seen, services);
}

static const char *const reasons[DUMMY_KINDS] = {
    [DUMMY_RESET] = "the device does not serve a start-up as responder: the device ended the connection (RST) before",
    [DUMMY_FIN] = "the device does not serve a start-up as responder: the device ended the connection (FIN) before",
    [DUMMY_HALF] = "the device does not serve a start-up as responder: the device ended the connection (FIN) before",
    [DUMMY_SILENT] = "the device does not serve a start-up as responder: it does not speak MPA: nothing within",
    [DUMMY_ECHO] = "the device does not serve a start-up as responder: it is an echo",
    [DUMMY_GARBAGE] =
        "the device does not serve a start-up as responder: it does not speak MPA: octets that are no MPA",
    [DUMMY_READS] = "the device does not serve a start-up as responder: it does not speak MPA: FIN came in place",
    [DUMMY_ONE_REPLY] =
        "the device does not serve a start-up as responder: a good Request is answered by an accepting Reply: nothing",
};

/* Loop: the kinds. */
START_TEST(a_dummy_passes_nothing)
{
    struct rig *rig = dummy_rig_new((enum dummy_kind)_i);
    struct run_services services = {0};
    struct seen seen = {0};

    run_all(rig, &seen, &services);
    ck_assert_msg(seen.passes == 0 && seen.fails == 0, "%s: %u PASS, %u FAIL, the first: %s", dummy_names[_i],
                  seen.passes, seen.fails, seen.first);
    ck_assert_uint_gt(seen.inconclusive, 100);
    ck_assert_uint_eq(seen.reported, seen.inconclusive);
    ck_assert_msg(strncmp(seen.reason, reasons[_i], strlen(reasons[_i])) == 0, "%s: %s", dummy_names[_i], seen.reason);
    run_services_free(&services);
    rig_free(rig);
}
END_TEST

/* Its Replies are judged, and what it does with bad Requests; all that needs more than a start-up is not. */
START_TEST(a_device_that_only_replies)
{
    struct rig *rig = dummy_rig_new(DUMMY_REPLIES);
    struct run_services services = {0};
    struct seen seen = {0};

    run_all(rig, &seen, &services);
    ck_assert(services_has(services.known[0], "startup"));
    ck_assert(!services_has(services.known[0], "enhanced startup"));
    ck_assert(!services_has(services.known[0], "empty read"));
    ck_assert_uint_gt(seen.reported, 100);
    ck_assert_uint_lt(seen.passes + seen.fails, 50);
    run_services_free(&services);
    rig_free(rig);
}
END_TEST

/*
 * Its ULP may do so: nothing fails but what has to be answered otherwise, and that a good Request SHOULD be accepted is
 * a WARN.
 */
START_TEST(a_device_that_rejects)
{
    static const char *const accepted[] = {"EMPA-10-02",   "EMPA-6-09",    "MPA-7.1-01",   "MPA-7.1-02",  "MPA-7.1-06",
                                           "MPA-7.1.1-07", "MPA-7.1.1-22", "MPA-7.1.1-29", "MPA-7.1.2-11"};
    struct rig *rig = dummy_rig_new(DUMMY_REJECTS);
    struct run_services services = {0};

    for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
        struct seen seen = {0};

        run_some(rig, accepted[i], &seen, &services);
        ck_assert_msg(seen.fails == 0 && seen.reported == 1, "%s: %s%s", accepted[i], seen.first, seen.reason);
    }
    run_services_free(&services);
    rig_free(rig);
}
END_TEST

/* Loop: each second connection, each third. Otherwise the device is the reference stack. */
START_TEST(a_device_that_loses_connections)
{
    struct rig_sim_config config = {.seed = 1, .resets_every = (unsigned)_i};
    struct iwarp_sentence error = {""};
    struct rig *rig = rig_sim_new(&config, &error);
    struct run_services services = {0};
    struct seen seen = {0};

    ck_assert_msg(rig != NULL && rig_measure(rig, &error) == 0, "%s", error.text);
    run_all(rig, &seen, &services);
    ck_assert_msg(seen.fails == 0, "%u FAIL, the first: %s", seen.fails, seen.first);
    ck_assert_uint_gt(seen.inconclusive, 100);
    ck_assert(services_has(services.known[0], "startup"));
    run_services_free(&services);
    rig_free(rig);
}
END_TEST

/* Whichever connection of the check it loses: a RST that came before anything was sent says nothing of PD_Length. */
START_TEST(a_reset_before_the_stimulus)
{
    unsigned lost = 0;

    for (unsigned every = 2; every < 10; every++) {
        struct rig_sim_config config = {.seed = 1, .resets_every = every};
        struct iwarp_sentence error = {""};
        struct rig *rig = rig_sim_new(&config, &error);
        struct run_services services = {0};
        struct seen seen = {0};

        ck_assert_msg(rig != NULL && rig_measure(rig, &error) == 0, "%s", error.text);
        run_some(rig, "MPA-7.1.1-27", &seen, &services);
        ck_assert_msg(seen.fails == 0, "each %uth connection: %s", every, seen.first);
        ck_assert_uint_eq(seen.passes + seen.inconclusive, 1);
        lost += seen.inconclusive;
        run_services_free(&services);
        rig_free(rig);
    }
    ck_assert_uint_gt(lost, 0);
}
END_TEST

Suite *dummies_suite(void)
{
    Suite *suite = suite_create("dummies");
    TCase *tests = tcase_create("dummies");

    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, a_dummy_passes_nothing, 0, DUMMY_REPLIES);
    tcase_add_test(tests, a_device_that_only_replies);
    tcase_add_test(tests, a_device_that_rejects);
    tcase_add_loop_test(tests, a_device_that_loses_connections, 2, 4);
    tcase_add_test(tests, a_reset_before_the_stimulus);
    suite_add_tcase(suite, tests);
    return suite;
}
