/* SPDX-License-Identifier: BSD-2-Clause */
/* Which checks a plan has, by what carries DDP in its run. */
#define _GNU_SOURCE
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/plan/plan.h"
#include "tests/unit/suites.h"

Suite *plan_suite(void);

static struct catalogue *catalogue;
static struct script_host *host;
static struct pics *pics;
static struct selection everything;

static void set_up(void)
{
    struct iwarp_sentence error = {""};

    host = script_host_new(&error);
    ck_assert_ptr_nonnull(host);
    ck_assert_int_eq(catalogue_load(&catalogue, &error), 0);
    ck_assert_int_eq(pics_load(&pics, &error), 0);
    ck_assert_int_eq(script_load_embedded(host, &error), 0);
}

static void tear_down(void)
{
    script_host_free(host);
    pics_free(pics);
    catalogue_free(catalogue);
}

static void make(struct plan *plan, struct plan_config config)
{
    struct iwarp_sentence error = {""};

    config.catalogue = catalogue;
    config.pics = pics;
    config.selection = &everything;
    ck_assert_msg(plan_make(plan, host, &config, &error) == 0, "%s", error.text);
}

/* Items of checks that run over any LLP. */
static size_t any_of(const struct plan *plan)
{
    size_t count = 0;

    for (size_t i = 0; i < plan->count; i++)
        count += plan->items[i].check->any_llp;
    return count;
}

START_TEST(hazards_come_last_and_the_rest_keeps_its_order)
{
    struct check checks[5] = {0};
    struct plan plan = {.items = calloc(5, sizeof(*plan.items)), .count = 5};
    static const size_t due[] = {0, 2, 4, 1, 3};
    struct iwarp_sentence why;

    ck_assert_ptr_nonnull(plan.items);
    for (size_t i = 0; i < plan.count; i++)
        plan.items[i] = (struct plan_item){.check = &checks[i], .hazard = i % 2 == 1};
    ck_assert_int_eq(plan_put_hazards_last(&plan, &why), 0);
    for (size_t i = 0; i < plan.count; i++)
        ck_assert_ptr_eq(plan.items[i].check, &checks[due[i]]);
    plan_free(&plan);
}
END_TEST

START_TEST(plan_over_tcp_has_no_sctp_check)
{
    struct plan plan;

    make(&plan, (struct plan_config){0});
    ck_assert_uint_gt(any_of(&plan), 0);
    ck_assert_uint_gt(plan.count, any_of(&plan));
    for (size_t i = 0; i < plan.count; i++) {
        ck_assert_int_eq(plan.items[i].sctp, IWARP_SCTP_UNDECIDED);
        ck_assert_int_eq(plan.items[i].check->sctp, IWARP_SCTP_UNDECIDED);
        ck_assert(!plan.items[i].check->cm);
    }
    plan_free(&plan);
}
END_TEST

/*
 * What is to be decided: by the program's own checks and the rules; by somebody's script what that declares, and no
 * rule beside.
 */
START_TEST(own_scripts_ask_for_what_they_declare)
{
    struct plan whole, plan;
    char path[] = "/tmp/warpcheck-plan-XXXXXX.lua";
    FILE *file = fdopen(mkstemps(path, 4), "w");
    struct iwarp_sentence error = {""};

    make(&whole, (struct plan_config){0});
    ck_assert_uint_gt(whole.decidable, 500);
    plan_free(&whole);
    script_host_free(host);
    host = script_host_new(&error);
    ck_assert_ptr_nonnull(host);
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(
        fputs("check { id = \"MPA-7.1-01\", purpose = \"p\", run = function(t) t:note(\"n\") end }\n", file), 0);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_msg(script_load_path(host, path, &error) == 0, "%s", error.text);
    (void)unlink(path);
    make(&plan, (struct plan_config){.own_scripts = true});
    ck_assert_uint_eq(plan.decidable, 1);
    ck_assert(plan.decides[catalogue_find(catalogue, "MPA-7.1-01")->index]);
    ck_assert(plan.selects_rules);
    plan_free(&plan);
    make(&plan, (struct plan_config){0});
    ck_assert_uint_gt(plan.decidable, 1);
    plan_free(&plan);
}
END_TEST

/* Those of SCTP in their profile, and those for any LLP by RFC 5043. */
START_TEST(plan_over_sctp_has_its_profile_and_any_llp)
{
    struct plan plan;
    size_t draft = 0;

    make(&plan, (struct plan_config){.sctp = true});
    ck_assert_uint_gt(any_of(&plan), 0);
    ck_assert_uint_gt(plan.count, any_of(&plan));
    for (size_t i = 0; i < plan.count; i++) {
        const struct plan_item *item = &plan.items[i];

        ck_assert_int_eq(item->sctp, item->check->any_llp ? IWARP_SCTP_RFC5043 : item->check->sctp);
        ck_assert_int_ne(item->sctp, IWARP_SCTP_UNDECIDED);
        draft += item->sctp == IWARP_SCTP_DRAFT02;
    }
    ck_assert_uint_gt(draft, 0);
    plan_free(&plan);
}
END_TEST

/* By the draft, streams have no end of their own: what judges one is not there. */
START_TEST(plan_over_the_draft_has_no_stream_end)
{
    struct plan draft, both;
    size_t with_end = 0;

    make(&both, (struct plan_config){.sctp = true});
    make(&draft, (struct plan_config){.sctp = true, .profile = IWARP_SCTP_DRAFT02});
    for (size_t i = 0; i < both.count; i++)
        with_end += both.items[i].check->with_end;
    for (size_t i = 0; i < draft.count; i++) {
        ck_assert(!draft.items[i].check->with_end);
        ck_assert_int_eq(draft.items[i].sctp, IWARP_SCTP_DRAFT02);
    }
    ck_assert_uint_gt(with_end, 0);
    ck_assert_uint_eq(any_of(&draft), any_of(&both) - with_end);
    plan_free(&draft);
    plan_free(&both);
}
END_TEST

/* A matrix that has both plans meets each check for any LLP once. */
START_TEST(over_sctp_alone)
{
    struct plan tcp, both, alone;

    make(&tcp, (struct plan_config){0});
    make(&both, (struct plan_config){.sctp = true});
    make(&alone, (struct plan_config){.sctp = true, .sctp_alone = true});
    ck_assert_uint_eq(any_of(&alone), 0);
    ck_assert_uint_eq(any_of(&both), any_of(&tcp));
    ck_assert_uint_eq(both.count, alone.count + any_of(&tcp));
    plan_free(&tcp);
    plan_free(&both);
    plan_free(&alone);
}
END_TEST

Suite *plan_suite(void)
{
    Suite *suite = suite_create("plan");
    TCase *cases = tcase_create("llp");

    suite_add_tcase(suite, cases);
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, plan_over_tcp_has_no_sctp_check);
    tcase_add_test(cases, hazards_come_last_and_the_rest_keeps_its_order);
    tcase_add_test(cases, plan_over_sctp_has_its_profile_and_any_llp);
    tcase_add_test(cases, own_scripts_ask_for_what_they_declare);
    tcase_add_test(cases, plan_over_the_draft_has_no_stream_end);
    tcase_add_test(cases, over_sctp_alone);
    return suite;
}
