/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `prove --demands` says of a defect whose requirements had too mild a verdict, and
 * reference-stack/defects/defects-warn.tsv.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "conformance/engine/prove/prove_demands.h"
#include "conformance/requirements/no_defect.h"
#include "tests/unit/suites.h"
#include "tools/embedded.h"

Suite *prove_demands_suite(void);

static struct catalogue *catalogue;
static struct defect_list *defects;
static struct prove_demands *demands;
static struct script_host *host;
static char reported[8192];

static void setup(void)
{
    struct iwarp_sentence error = {""};

    ck_assert_msg(catalogue_load(&catalogue, &error) == 0, "%s", error.text);
    defects = defect_list_embedded(&error);
    demands = prove_demands_new();
    host = script_host_new(&error);
    ck_assert_msg(defects != NULL && demands != NULL && host != NULL, "%s", error.text);
}

static void teardown(void)
{
    script_host_free(host);
    prove_demands_free(demands);
    defect_list_free(defects);
    catalogue_free(catalogue);
}

static void keep(void *user, const char *text)
{
    size_t used = strlen(reported);

    (void)user;
    (void)snprintf(reported + used, sizeof(reported) - used, "%s\n", text);
}

/* What is printed of `defect` when it has drawn `first`, and then `second` unless that is NULL. */
static const char *reported_of(const char *defect, const char *first, const char *second)
{
    const struct defect *known = defect_list_find(defects, defect);
    size_t count;

    ck_assert_ptr_nonnull(known);
    ck_assert_int_eq(prove_demands_kill(demands, known, first), 0);
    if (second != NULL)
        ck_assert_int_eq(prove_demands_kill(demands, known, second), 0);
    reported[0] = '\0';
    count = prove_demands_tell(demands, host, catalogue, defects, keep, NULL);
    ck_assert_uint_eq(count, reported[0] != '\0');
    return reported;
}

START_TEST(a_breach_of_a_must_wants_fail)
{
    ck_assert_str_eq(
        reported_of("ddp-version-terminate", "DDP-4.1-13 responder WARN", NULL),
        "ddp-version-terminate: breaks DDP-4.1-13, a MUST, and nothing that it names draws more than WARN\n");
    ck_assert_str_eq(reported_of("ddp-version-terminate", "DDP-4.1-13 initiator FAIL", NULL), "");
}
END_TEST

START_TEST(what_a_defect_does_not_name_counts_for_nothing)
{
    ck_assert_str_eq(
        reported_of("ddp-version-terminate", "DDP-4.1-13 responder WARN", "MPA-4.1-01 responder FAIL"),
        "ddp-version-terminate: breaks DDP-4.1-13, a MUST, and nothing that it names draws more than WARN\n");
}
END_TEST

START_TEST(a_declared_defect_may_warn_and_a_needless_line_is_reported)
{
    ck_assert_str_eq(reported_of("mpa-reject-closes", "MPA-7.1.2-07 responder WARN", NULL), "");
    ck_assert_str_eq(reported_of("mpa-reject-closes", "MPA-7.1.2-07 responder FAIL", NULL),
                     "mpa-reject-closes: reference-stack/defects/defects-warn.tsv has it without need\n");
}
END_TEST

START_TEST(each_line_is_of_a_defect_and_has_a_reason)
{
    const struct embedded_file *file =
        embedded_find(embedded_defects, embedded_defect_count, "reference-stack/defects/defects-warn.tsv");
    const char *at, *end;
    struct no_defect row = {0};
    unsigned lines = 0;

    ck_assert_ptr_nonnull(file);
    at = (const char *)file->octets;
    end = at + file->size;
    for (; no_defect_next(&at, end, &row); lines++) {
        ck_assert_msg(defect_list_find(defects, row.id) != NULL, "line %u: %s is no defect", row.line, row.id);
        ck_assert_msg(strlen(row.reason) > 20 && strlen(row.reason) < sizeof(row.reason) - 1, "line %u: no reason",
                      row.line);
        ck_assert(prove_demands_may_warn(row.id));
    }
    ck_assert_uint_gt(lines, 0);
    ck_assert(!prove_demands_may_warn("ddp-version-terminate"));
}
END_TEST

Suite *prove_demands_suite(void)
{
    Suite *suite = suite_create("prove_demands");
    TCase *tcase = tcase_create("levels");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_breach_of_a_must_wants_fail);
    tcase_add_test(tcase, what_a_defect_does_not_name_counts_for_nothing);
    tcase_add_test(tcase, a_declared_defect_may_warn_and_a_needless_line_is_reported);
    tcase_add_test(tcase, each_line_is_of_a_defect_and_has_a_reason);
    suite_add_tcase(suite, tcase);
    return suite;
}
