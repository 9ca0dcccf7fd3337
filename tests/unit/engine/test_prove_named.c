/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of the requirements that a defect names have to catch it: reference-stack/defects/defects-uncaught.tsv. */
#include "conformance/engine/prove/prove_named.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/event/flow.h"
#include "conformance/rules/rule.h"
#include "tests/unit/suites.h"
#include "tools/embedded.h"

Suite *prove_named_suite(void);

static struct catalogue *catalogue;
static struct pics *pics;
static struct defect_list *defects;
static json_t *caught, *decided;

/* A check decides DDP-7.1-04; a rule judges MPA-4.1-06. */
static const struct defect defect = {.id = "x", .requirement = "DDP-7.1-04,MPA-4.1-06"};

static void setup(void)
{
    struct iwarp_sentence error = {""};

    ck_assert_msg(catalogue_load(&catalogue, &error) == 0 && pics_load(&pics, &error) == 0, "%s", error.text);
    defects = defect_list_embedded(&error);
    ck_assert_msg(defects != NULL, "%s", error.text);
    ck_assert_ptr_nonnull(rule_find("MPA-4.1-06"));
    caught = json_array();
    decided = json_pack("[s]", "DDP-7.1-04");
}

static void teardown(void)
{
    json_decref(caught);
    json_decref(decided);
    defect_list_free(defects);
    pics_free(pics);
    catalogue_free(catalogue);
}

static struct prove_judges judges_of(const json_t *by_checks, uint32_t flows, const char *llp)
{
    return (struct prove_judges){
        .decided = by_checks, .flows = flows, .catalogue = catalogue, .pics = pics, .llp = llp};
}

/* What did not catch a defect, as "ID ID". */
static void not_caught(const struct prove_judges *judges, const struct defect *of, const char *ids)
{
    json_t *uncaught = prove_named_uncaught(judges, of, caught), *id;
    char text[256] = "";
    size_t i;

    json_array_foreach(uncaught, i, id)
    {
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i == 0 ? "" : " ",
                       json_string_value(id));
    }
    ck_assert_str_eq(text, ids);
    json_decref(uncaught);
}

START_TEST(each_requirement_that_something_judges_has_to_catch_the_defect)
{
    struct prove_judges judges = judges_of(decided, 1U << FLOW_CONNECTION, "tcp");

    not_caught(&judges, &defect, "DDP-7.1-04 MPA-4.1-06");
    json_array_append_new(caught, json_string("MPA-4.1-06"));
    not_caught(&judges, &defect, "DDP-7.1-04");
    json_array_append_new(caught, json_string("DDP-7.1-04"));
    not_caught(&judges, &defect, "");
}
END_TEST

START_TEST(what_nothing_judges_on_the_lower_layer_need_not_catch_it)
{
    struct prove_judges judges = judges_of(NULL, 1U << FLOW_ASSOCIATION | 1U << FLOW_STREAM, "sctp");

    not_caught(&judges, &defect, "");
    judges.decided = decided;
    not_caught(&judges, &defect, "DDP-7.1-04");
}
END_TEST

START_TEST(rules_of_the_draft_have_to_catch_a_defect_of_the_draft_alone)
{
    static const struct defect of_draft = {.id = "x", .requirement = "SCTP-5-01"};
    struct prove_judges judges = judges_of(NULL, 1U << FLOW_ASSOCIATION, "sctp");

    ck_assert_int_eq(pics_set_sctp(pics, true, true, true, &(struct iwarp_sentence){""}), 0);
    not_caught(&judges, &of_draft, "");
    judges.llp = "sctp-draft02";
    not_caught(&judges, &of_draft, "SCTP-5-01");
}
END_TEST

/* The first line of the table: its fields. */
static char *first_line(char *fields[4])
{
    const struct embedded_file *file =
        embedded_find(embedded_defects, embedded_defect_count, "reference-stack/defects/defects-uncaught.tsv");
    char *text, *line, *rest;

    ck_assert_ptr_nonnull(file);
    text = rest = strndup((const char *)file->octets, file->size);
    while ((line = strsep(&rest, "\n")) != NULL && (line[0] == '#' || line[0] == '\0'))
        continue;
    for (size_t i = 0; i < 4; i++)
        fields[i] = strsep(&line, "\t");
    ck_assert_ptr_nonnull(fields[3]);
    return text;
}

START_TEST(a_line_of_the_table_excuses_what_it_names_on_its_lower_layers)
{
    char *fields[4], *text = first_line(fields);
    json_t *one = json_pack("[s]", fields[1]);
    const struct defect of_line = {.id = fields[0], .requirement = fields[1]};
    struct prove_judges judges = judges_of(one, 0, strtok(fields[2], ","));
    json_t *needless;

    not_caught(&judges, &of_line, "");
    judges.llp = "another";
    not_caught(&judges, &of_line, fields[1]);
    judges.llp = fields[2];
    json_array_append_new(caught, json_string(fields[1]));
    needless = prove_named_needless(&judges, &of_line, caught);
    ck_assert_str_eq(json_string_value(json_array_get(needless, 0)), fields[1]);
    json_decref(needless);
    json_decref(one);
    free(text);
}
END_TEST

/* Each line is whole: a defect, a requirement that it names, lower layers that there are, and a reason. */
START_TEST(lines_of_the_table_are_whole)
{
    const struct embedded_file *file =
        embedded_find(embedded_defects, embedded_defect_count, "reference-stack/defects/defects-uncaught.tsv");
    char *text = strndup((const char *)file->octets, file->size), *rest = text, *line;

    while ((line = strsep(&rest, "\n")) != NULL) {
        char *id = strsep(&line, "\t"), *requirement = strsep(&line, "\t"), *llps = strsep(&line, "\t"), *llp;
        const struct defect *row;

        if (id[0] == '#' || id[0] == '\0')
            continue;
        row = defect_list_find(defects, id);
        ck_assert_msg(row != NULL && requirement != NULL && defect_breaks(row, requirement), "%s %s", id, requirement);
        ck_assert_msg(line != NULL && strchr(line, '\t') == NULL && strlen(line) > 12, "%s: no reason", id);
        while ((llp = strsep(&llps, ",")) != NULL)
            ck_assert_msg(strcmp(llp, "tcp") == 0 || strcmp(llp, "sctp") == 0 || strcmp(llp, "sctp-draft02") == 0,
                          "%s: %s", id, llp);
    }
    free(text);
}
END_TEST

Suite *prove_named_suite(void)
{
    Suite *suite = suite_create("prove_named");
    TCase *tests = tcase_create("named");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, each_requirement_that_something_judges_has_to_catch_the_defect);
    tcase_add_test(tests, what_nothing_judges_on_the_lower_layer_need_not_catch_it);
    tcase_add_test(tests, rules_of_the_draft_have_to_catch_a_defect_of_the_draft_alone);
    tcase_add_test(tests, a_line_of_the_table_excuses_what_it_names_on_its_lower_layers);
    tcase_add_test(tests, lines_of_the_table_are_whole);
    suite_add_tcase(suite, tests);
    return suite;
}
