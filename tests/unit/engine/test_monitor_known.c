/* SPDX-License-Identifier: BSD-2-Clause */
/* What a monitor remembers: findings once each, how much may be said of them, and their lines in the log. */
#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/monitor/monitor_known.h"
#include "conformance/engine/monitor/monitor_line.h"
#include "conformance/engine/monitor/monitor_rate.h"
#include "tests/unit/suites.h"

Suite *monitor_known_suite(void);

#define SECOND UINT64_C(1000000000)

static const char flow[] = "10.0.0.1:4000>10.0.0.2:9999";

static struct known_finding *meet(struct known_findings *known, const char *id, uint64_t flow_ns, bool late,
                                  bool *is_new)
{
    struct known_sight sight = {.id = id,
                                .flow = flow,
                                .verdict = VERDICT_FAIL,
                                .flow_ns = flow_ns,
                                .late = late,
                                .time_ns = flow_ns + SECOND,
                                .count = 1};
    struct known_finding *finding = known_findings_meet(known, &sight, is_new);

    ck_assert_ptr_nonnull(finding);
    return finding;
}

START_TEST(finding_is_new_once_in_its_flow)
{
    struct known_findings known = {.most = 10};
    bool is_new;
    uint64_t key = meet(&known, "MPA-4.4-14", 5, false, &is_new)->key;

    ck_assert(is_new);
    ck_assert_uint_eq(meet(&known, "MPA-4.4-14", 5, false, &is_new)->count, 2);
    ck_assert(!is_new);
    (void)meet(&known, "MPA-4.4-15", 5, false, &is_new);
    ck_assert(is_new);
    ck_assert_uint_ne(meet(&known, "MPA-4.4-14", 6, false, &is_new)->key, key); /* the ports are used again */
    ck_assert(is_new);
    ck_assert_uint_eq(known_findings_count(&known), 2);
    known_findings_free(&known);
}
END_TEST

START_TEST(flow_that_is_seen_late_continues_what_is_known)
{
    struct known_findings known = {.most = 10};
    bool is_new;
    uint64_t key = meet(&known, "MPA-4.4-14", 5, false, &is_new)->key;

    ck_assert_uint_eq(meet(&known, "MPA-4.4-14", 700 * SECOND, true, &is_new)->key, key);
    ck_assert(!is_new);
    known_findings_free(&known);
}
END_TEST

START_TEST(oldest_finding_is_forgotten_for_one_more)
{
    struct known_findings known = {.most = 2};
    bool is_new;

    (void)meet(&known, "A", 5, false, &is_new);
    (void)meet(&known, "B", 5, false, &is_new);
    (void)meet(&known, "C", 5, false, &is_new);
    ck_assert_uint_eq(known_findings_count(&known), 2);
    ck_assert_uint_eq(known.forgotten, 1);
    (void)meet(&known, "B", 5, false, &is_new);
    ck_assert(!is_new);
    (void)meet(&known, "A", 5, false, &is_new);
    ck_assert(is_new);
    known_findings_free(&known);
}
END_TEST

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static bool restore(struct known_findings *known, json_t *line)
{
    char *text = json_dumps(line, JSON_COMPACT);
    bool good = text != NULL && monitor_line_restore(known, text, strlen(text));

    free(text);
    json_decref(line);
    return good;
}

START_TEST(lines_of_the_log_restore_what_they_say)
{
    struct known_findings known = {.most = 10}, again = {.most = 10};
    struct result result = {.id = "MPA-4.4-14", .verdict = VERDICT_FAIL, .flow = flow, .count = 1, .actual = "x\x1by"};
    struct known_finding *finding;
    bool is_new;

    finding = meet(&known, "MPA-4.4-14", 5, false, &is_new);
    ck_assert(restore(&again, monitor_line_finding(finding, &result, "eth0")));
    ck_assert_uint_eq(again.all->key, finding->key);
    ck_assert_uint_eq(again.all->count, 1);
    ck_assert_uint_eq(again.all->flow_ns, 5);
    finding = meet(&known, "MPA-4.4-14", 5, false, &is_new);
    ck_assert(restore(&again, monitor_line_count("again", finding)));
    ck_assert_uint_eq(again.all->count, 2);
    ck_assert_uint_eq(again.all->first_ns, finding->first_ns);
    (void)meet(&again, "MPA-4.4-14", 900 * SECOND, true, &is_new); /* what comes after that is no new finding */
    ck_assert(!is_new);
    ck_assert_uint_eq(again.all->count, 3);
    known_findings_free(&known);
    known_findings_free(&again);
}
END_TEST

START_TEST(lines_that_lack_something_restore_nothing)
{
    static const char *const lines[] = {
        "",
        "[]",
        "{}",
        "{\"type\":1}",
        "{\"type\":\"known\"}",
        "{\"type\":\"known\",\"type\":\"known\"}",
        "{\"type\":\"known\",\"key\":\"0123456789abcdeg\",\"id\":\"A\",\"verdict\":\"FAIL\",\"flow\":\"f\",\"count\":1,"
        "\"flow_ns\":1,\"time_ns\":1}",
        "{\"type\":\"known\",\"key\":\"0123456789abcdef\",\"id\":\"A\",\"verdict\":\"FALL\",\"flow\":\"f\",\"count\":1,"
        "\"flow_ns\":1,\"time_ns\":1}",
        "{\"type\":\"known\",\"key\":\"0123456789abcdef\",\"id\":\"A\",\"verdict\":\"FAIL\",\"flow\":\"f\",\"count\":-"
        "1,\"flow_ns\":1,\"time_ns\":1}",
    };
    static const char other[] = "{\"type\":\"counts\",\"frames\":1}";
    struct known_findings known = {.most = 10};

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        ck_assert_msg(!monitor_line_restore(&known, lines[i], strlen(lines[i])), "%s", lines[i]);
    ck_assert(monitor_line_restore(&known, other, sizeof(other) - 1));
    ck_assert_uint_eq(known_findings_count(&known), 0);
}
END_TEST

/* ---- how much may be said ---------------------------------------------------------------------------------------- */

START_TEST(burst_and_then_so_many_a_minute)
{
    struct monitor_rate rate;
    unsigned said = 0;

    monitor_rate_begin(&rate, 60, 5);
    for (unsigned i = 0; i < 20; i++)
        said += monitor_rate_allow(&rate, 1000 * SECOND);
    ck_assert_uint_eq(said, 5);
    ck_assert_uint_eq(monitor_rate_refused(&rate), 15);
    ck_assert_uint_eq(monitor_rate_refused(&rate), 0);
    for (unsigned i = 1; i <= 200; i++)
        said += monitor_rate_allow(&rate, 1000 * SECOND + i * SECOND / 10);
    ck_assert_uint_eq(said, 25);
    ck_assert(monitor_rate_allow(&rate, 10 * SECOND)); /* the clock was set back */
}
END_TEST

Suite *monitor_known_suite(void)
{
    Suite *suite = suite_create("monitor_known");
    TCase *cases = tcase_create("monitor_known");

    tcase_add_test(cases, finding_is_new_once_in_its_flow);
    tcase_add_test(cases, flow_that_is_seen_late_continues_what_is_known);
    tcase_add_test(cases, oldest_finding_is_forgotten_for_one_more);
    tcase_add_test(cases, lines_of_the_log_restore_what_they_say);
    tcase_add_test(cases, lines_that_lack_something_restore_nothing);
    tcase_add_test(cases, burst_and_then_so_many_a_minute);
    suite_add_tcase(suite, cases);
    return suite;
}
