/* SPDX-License-Identifier: BSD-2-Clause */
/* What prove says of devices that are drawn by seed: of legal ones, and of one that a check calls a fault. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "conformance/engine/prove/prove_devices.h"
#include "tests/unit/suites.h"

Suite *prove_devices_suite(void);

enum { DEVICES_MAX = 16 };

struct seen {
    size_t count, alarms;
    bool good[DEVICES_MAX];
    char choices[DEVICES_MAX][512], reduced[DEVICES_MAX][512], by[DEVICES_MAX][64];
    size_t undecided;
};

static void on_outcome(void *user, const struct device_outcome *outcome)
{
    struct seen *seen = user;

    ck_assert_uint_lt(seen->count, DEVICES_MAX);
    seen->good[seen->count] = json_array_size(outcome->surplus) == 0;
    (void)snprintf(seen->choices[seen->count], sizeof(seen->choices[0]), "%s", outcome->choices);
    if (outcome->reduced != NULL)
        (void)snprintf(seen->reduced[seen->count], sizeof(seen->reduced[0]), "%s", outcome->reduced);
    if (outcome->by != NULL)
        (void)snprintf(seen->by[seen->count], sizeof(seen->by[0]), "%s", outcome->by);
    seen->undecided += json_array_size(outcome->undecided);
    seen->count++;
}

static void on_alarm(void *user, const char *text)
{
    struct seen *seen = user;

    (void)text;
    seen->alarms++;
}

/*
 * A check that demands one of the triples that the text allows, and one that demands nothing that a device may choose.
 */
static const char two[] =
    "check { id = 'DDP-7.1-25', purpose = 'access', run = function(t) local c = t:open() "
    "local m = t:memory { access = { 'read' } } c:send(m:write(0, 'x')) "
    "c:expect_terminate('DDP_INVALID_STAG', { message = 'a Write to memory that may be read' }) end }\n"
    "check { id = 'DDP-7.2-05', purpose = 'version', run = function(t) local c = t:open() "
    "c:send(rdmap.send { DV = 0, data = '1' }) c:expect_terminate('DDP_UNTAGGED_VERSION', { message = 'DV 0' }) end "
    "}\n";

static void prove(struct prove_devices_config *config, struct prove_devices_summary *summary)
{
    struct iwarp_sentence error = {""};
    struct catalogue *catalogue;
    struct pics *pics;
    struct choice_table *table = choice_table_embedded(&error);

    ck_assert_msg(table != NULL, "%s", error.text);
    config->host = script_host_new(&error);
    ck_assert_int_eq(catalogue_load(&catalogue, &error), 0);
    ck_assert_int_eq(pics_load(&pics, &error), 0);
    ck_assert_msg(script_load(config->host, "two.lua", two, strlen(two), &error) == 0, "%s", error.text);
    config->catalogue = catalogue;
    config->pics = pics;
    config->table = table;
    config->outcome = on_outcome;
    config->alarm = on_alarm;
    ck_assert_msg(prove_devices_run(config, summary, &error) == 0, "%s", error.text);
    script_host_free(config->host);
    choice_table_free(table);
    pics_free(pics);
    catalogue_free(catalogue);
}

/*
 * The check takes the stack's own triple alone: a device that has chosen another is the check's alarm, and is reduced
 * to that choice.
 */
START_TEST(a_false_alarm_is_reduced_to_the_choice_that_draws_it)
{
    struct seen seen = {0};
    struct prove_devices_config config = {.seed = 1,
                                          .count = 1,
                                          .jobs = 1,
                                          .choices = "acks-delayed,access-bounds,atomic-ids-same,tcp.mss=900",
                                          .user = &seen};
    struct prove_devices_summary summary;

    prove(&config, &summary);
    ck_assert_uint_eq(seen.count, 1);
    ck_assert(!seen.good[0]);
    ck_assert_str_eq(seen.by[0], "DDP-7.1-25");
    ck_assert_str_eq(seen.reduced[0], "access-bounds");
    ck_assert_uint_eq(summary.devices, 1);
    ck_assert_uint_eq(summary.good, 0);
    ck_assert_uint_eq(summary.false_alarms, 0);
}
END_TEST

START_TEST(a_device_whose_choices_no_check_minds_is_legal)
{
    struct seen seen = {0};
    struct prove_devices_config config = {
        .seed = 1, .count = 1, .jobs = 1, .choices = "atomic-ids-same,acks-delayed", .user = &seen};
    struct prove_devices_summary summary;

    prove(&config, &summary);
    ck_assert(seen.count == 1 && seen.good[0]);
    ck_assert_uint_eq(seen.undecided, 0);
    ck_assert_uint_eq(summary.good, 1);
}
END_TEST

/* The same devices, whether one process runs them, two, or two shards one after another. */
START_TEST(shards_and_processes_share_the_devices)
{
    struct seen whole = {0}, half = {0};
    struct prove_devices_config config = {.seed = 1, .first = 1, .count = 8, .jobs = 2, .user = &whole};
    struct prove_devices_summary summary;

    prove(&config, &summary);
    ck_assert_uint_eq(whole.count, 8);
    ck_assert_uint_gt(summary.coverage.points, 100);
    ck_assert_uint_le(summary.coverage.pairs_drawn, summary.coverage.pairs);
    config.user = &half;
    config.jobs = 1;
    for (unsigned shard = 1; shard <= 2; shard++) {
        config.shard = (struct shard){.index = shard, .of = 2};
        prove(&config, &summary);
    }
    ck_assert_uint_eq(half.count, 8);
    for (size_t i = 0; i < 8; i++) {
        size_t at = i % 2 * 4 + i / 2;

        ck_assert_str_eq(whole.choices[i], half.choices[at]);
        ck_assert(whole.good[i] == half.good[at]);
    }
}
END_TEST

Suite *prove_devices_suite(void)
{
    Suite *suite = suite_create("prove_devices");
    TCase *devices = tcase_create("devices");

    tcase_set_timeout(devices, 120);
    tcase_add_test(devices, a_false_alarm_is_reduced_to_the_choice_that_draws_it);
    tcase_add_test(devices, a_device_whose_choices_no_check_minds_is_legal);
    tcase_add_test(devices, shards_and_processes_share_the_devices);
    suite_add_tcase(suite, devices);
    return suite;
}
