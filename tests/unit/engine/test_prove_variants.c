/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What prove says of a variant that is legal, of one that is not, of one whose row names a WARN that nothing reports,
 * and of a check that breaks.
 */
#include <check.h>
#include <string.h>

#include "conformance/engine/prove/prove_variants.h"
#include "tests/unit/suites.h"

Suite *prove_variants_suite(void);

static const char rows[] = "legal\tDDP-7.1-25\t-\tvalidate\tddp-stag-access\ttriple\tRDMAP_ACCESS\n"
                           "illegal\tDDP-7.1-01\t-\tvalidate\tddp-qn\ttriple\tDDP_INVALID_MO\n"
                           "warned\tDDP-7.1-21\tDDP-7.1-02\tvalidate\tddp-buffer\ttriple\tDDP_MSN_RANGE\n"
                           "unwarned\tDDP-7.1-25\tDDP-7.1-02\tvalidate\tddp-stag-access\ttriple\tRDMAP_ACCESS\n"
                           "raising\tDDP-7.2-05\t-\tvalidate\tddp-untagged-version\ttriple\tDDP_INVALID_MO\n";

enum { ROWS = 5 };

struct seen {
    size_t count;
    bool good[ROWS];
    bool fails[ROWS];  /* the first surplus verdict is a FAIL of DDP-7.1-01 */
    bool breaks[ROWS]; /* the first is a script error */
    size_t unseen[ROWS];
};

static void on_outcome(void *user, const struct variant_outcome *outcome)
{
    struct seen *seen = user;

    ck_assert_uint_lt(seen->count, ROWS);
    seen->good[seen->count] = outcome->good;
    seen->fails[seen->count] = outcome->surplus_count != 0 && strncmp(outcome->surplus[0], "FAIL DDP-7.1-01 ", 16) == 0;
    seen->breaks[seen->count] =
        outcome->surplus_count != 0 && strncmp(outcome->surplus[0], "INCONCLUSIVE DDP-7.2-05 ", 24) == 0;
    seen->unseen[seen->count++] = outcome->unseen_count;
}

/*
 * The checks of three requirements, one of which breaks where a device does not do what its author had in mind, and all
 * rules on their traffic.
 */
static const char three[] =
    "check { id = 'DDP-7.1-01', purpose = 'QN', run = function(t) local c = t:open() "
    "c:send(rdmap.send { QN = 4, MSN = 1, data = '1' }) c:expect_terminate('DDP_INVALID_QN', { message = 'QN 4' }) "
    "end }\n"
    "check { id = 'DDP-7.1-02', purpose = 'buffer', run = function(t) local c = t:open { dut = { receives = 1, "
    "repost = false } } c:send(rdmap.send { data = 'a' }, rdmap.send { data = 'b' }) "
    "c:expect_terminate('DDP_NO_BUFFER', { warn = { 'DDP_MSN_RANGE' }, message = 'no receive' }) end }\n"
    "check { id = 'DDP-7.2-05', purpose = 'version', run = function(t) local c = t:open() "
    "c:send(rdmap.send { DV = 0, data = '1' }) "
    "if not is_terminate(c:receive(), 'DDP_UNTAGGED_VERSION') then error('not thought of') end end }\n";

static void judge_script(struct prove_variants_config *config, const char *script,
                         struct prove_variants_summary *summary)
{
    struct iwarp_sentence error = {""};
    struct catalogue *catalogue;
    struct pics *pics;
    struct defect_list *list = variant_list_parse(rows, strlen(rows), &error);

    ck_assert_msg(list != NULL, "%s", error.text);
    config->host = script_host_new(&error);
    ck_assert_int_eq(catalogue_load(&catalogue, &error), 0);
    ck_assert_int_eq(pics_load(&pics, &error), 0);
    ck_assert_msg(script_load(config->host, "some.lua", script, strlen(script), &error) == 0, "%s", error.text);
    config->catalogue = catalogue;
    config->pics = pics;
    config->variants = list;
    ck_assert_msg(prove_variants_run(config, summary, &error) == 0, "%s", error.text);
    defect_list_free(list);
    script_host_free(config->host);
    pics_free(pics);
    catalogue_free(catalogue);
}

static void judge(struct prove_variants_config *config, struct prove_variants_summary *summary)
{
    judge_script(config, three, summary);
}

START_TEST(each_is_judged)
{
    struct seen seen = {0};
    struct prove_variants_config config = {.seed = 1, .jobs = 2, .outcome = on_outcome, .user = &seen};
    struct prove_variants_summary summary;

    judge(&config, &summary);
    ck_assert_uint_eq(seen.count, ROWS);
    ck_assert(seen.good[0] && !seen.good[1] && seen.good[2] && !seen.good[3] && !seen.good[4]);
    ck_assert(seen.fails[1]);
    ck_assert(seen.breaks[4] && !seen.breaks[1]);
    ck_assert_uint_eq(seen.unseen[2], 0);
    ck_assert_uint_eq(seen.unseen[3], 1);
    ck_assert_uint_eq(summary.variants, ROWS);
    ck_assert_uint_eq(summary.good, 2);
    ck_assert_uint_eq(summary.checks, 3);
    ck_assert_uint_eq(summary.false_alarms, 0);
}
END_TEST

/*
 * One check meets each of three rows, and none the two whose validation nothing offends. What is drawn is the same when
 * all are run.
 */
START_TEST(few_are_met)
{
    struct seen few = {0}, all = {0};
    struct prove_variants_config config = {.seed = 1, .jobs = 2, .outcome = on_outcome, .user = &few};
    struct prove_variants_summary summary;

    judge(&config, &summary);
    ck_assert_uint_eq(summary.pairs, ROWS * summary.checks);
    ck_assert_uint_eq(summary.met, 3);
    config.whole = true;
    config.jobs = 1;
    config.user = &all;
    judge(&config, &summary);
    ck_assert_uint_eq(summary.met, summary.pairs);
    ck_assert_mem_eq(&few, &all, sizeof(few));
}
END_TEST

static void on_alarm(void *user, const char *text)
{
    size_t *alarms = user;

    ck_assert_ptr_nonnull(strstr(text, "WARN DDP-7.1-01 responder: as it is"));
    ++*alarms;
}

static void no_outcome(void *user, const struct variant_outcome *outcome)
{
    (void)user;
    (void)outcome;
}

/* What is drawn without a variant is no variant's. */
START_TEST(the_stack_itself)
{
    static const char script[] =
        "check { id = 'DDP-7.1-01', purpose = 'QN', run = function(t) t:warn('as it is') end }\n";
    size_t alarms = 0;
    struct prove_variants_config config = {
        .seed = 1, .jobs = 1, .alarm = on_alarm, .outcome = no_outcome, .user = &alarms};
    struct prove_variants_summary summary;

    judge_script(&config, script, &summary);
    ck_assert_uint_eq(alarms, 1);
    ck_assert_uint_eq(summary.false_alarms, 1);
}
END_TEST

Suite *prove_variants_suite(void)
{
    Suite *suite = suite_create("prove_variants");
    TCase *variants = tcase_create("variants");

    tcase_add_test(variants, each_is_judged);
    tcase_add_test(variants, few_are_met);
    tcase_add_test(variants, the_stack_itself);
    suite_add_tcase(suite, variants);
    return suite;
}
