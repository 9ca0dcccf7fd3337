/* SPDX-License-Identifier: BSD-2-Clause */
/* Each requirement that a device can break has a defect of the reference stack, or a reason why it has none. */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/no_defect.h"
#include "reference-stack/cm/cm_validation.h"
#include "reference-stack/defects/defect.h"
#include "tests/unit/suites.h"
#include "tools/embedded.h"
#include "base/sentence.h"

Suite *defect_rows_suite(void);

/* Files of the catalogue of which no row is left out, ended by NULL. */
static const char *const finished[] = {"mpa", "empa", "ddp",     "rdmap", "atom",   "sctp",
                                       "a11", "smbd", "rpcrdma", "iser",  "nvmeof", NULL};

static struct catalogue *catalogue;
static struct defect_list *defects, *cm_defects; /* the CM agent's are in a file of their own */

static void setup(void)
{
    struct iwarp_sentence error = {""};

    ck_assert_msg(catalogue_load(&catalogue, &error) == 0, "%s", error.text);
    defects = defect_list_embedded(&error);
    ck_assert_msg(defects != NULL, "%s", error.text);
    cm_defects = defect_list_embedded_cm(&error);
    ck_assert_msg(cm_defects != NULL, "%s", error.text);
}

static void teardown(void)
{
    catalogue_free(catalogue);
    defect_list_free(defects);
    defect_list_free(cm_defects);
}

static bool is_in_file(const struct requirement *requirement, const char *name)
{
    const char *slash = strrchr(requirement->file, '/');
    char file[64];

    snprintf(file, sizeof(file), "%s.tsv", name);
    return strcmp(slash != NULL ? slash + 1 : requirement->file, file) == 0;
}

static bool breaks(const struct defect_list *list, const char *id)
{
    for (size_t i = 0; i < defect_list_count(list); i++)
        if (defect_breaks(defect_list_at(list, i), id))
            return true;
    return false;
}

static bool has_defect(const char *id)
{
    return breaks(defects, id) || breaks(cm_defects, id);
}

/* What is wrong with the two files as far as this requirement goes, or NULL. */
static const char *wrong_with(const struct requirement *requirement)
{
    struct no_defect row;
    bool named = has_defect(requirement->id), excused = no_defect_find(requirement->id, &row);

    if (named && excused)
        return "in defects.tsv and in defects-none.tsv";
    if (!named && !excused)
        return "neither in defects.tsv nor in defects-none.tsv";
    return NULL;
}

START_TEST(finished_layers_leave_no_row_out)
{
    size_t wrong = 0, rows = 0;

    for (size_t i = 0; i < catalogue_count(catalogue); i++) {
        const struct requirement *requirement = catalogue_at(catalogue, i);

        if (requirement->observability == REQUIREMENT_SPEC)
            continue;
        for (const char *const *name = finished; *name != NULL; name++) {
            const char *what = is_in_file(requirement, *name) ? wrong_with(requirement) : NULL;

            rows += is_in_file(requirement, *name);
            if (what == NULL)
                continue;
            fprintf(stderr, "%s: %s\n", requirement->id, what);
            wrong++;
        }
    }
    ck_assert_uint_eq(wrong, 0);
    ck_assert(finished[0] == NULL || rows > 100);
}
END_TEST

/* The judgement itself, on requirements of either kind and of none. */
START_TEST(a_row_left_out_is_seen)
{
    struct requirement r = {.id = "MPA-0.0-00"};

    ck_assert_str_eq(wrong_with(&r), "neither in defects.tsv nor in defects-none.tsv");
    r.id = "MPA-8-02";
    ck_assert_ptr_null(wrong_with(&r));
    r.id = "MPA-9.4-03";
    ck_assert_ptr_null(wrong_with(&r));
}
END_TEST

/* Every line of every layer: a known requirement, once, under its layer's name, not of a document, with a sentence. */
START_TEST(each_reason_is_about_a_requirement)
{
    const char *at, *end;
    struct no_defect row = {0};
    bool seen[2048] = {false};
    size_t rows = 0;

    ck_assert_uint_eq(embedded_no_defect_count, 1);
    ck_assert_uint_lt(catalogue_count(catalogue), sizeof(seen) / sizeof(seen[0]));
    at = (const char *)embedded_no_defects[0].octets;
    end = at + embedded_no_defects[0].size;
    for (; no_defect_next(&at, end, &row); rows++) {
        const struct requirement *requirement = catalogue_find(catalogue, row.id);

        ck_assert_msg(requirement != NULL, "line %u: no requirement %s", row.line, row.id);
        ck_assert_msg(!seen[requirement->index], "line %u: %s a second time", row.line, row.id);
        seen[requirement->index] = true;
        ck_assert_msg(is_in_file(requirement, row.section), "line %u: %s under # %s", row.line, row.id, row.section);
        ck_assert_msg(requirement->observability != REQUIREMENT_SPEC, "line %u: %s binds no device", row.line, row.id);
        ck_assert_msg(strchr(row.reason, ' ') != NULL && strlen(row.reason) > 20, "line %u: %s has no reason", row.line,
                      row.id);
        ck_assert_msg(strlen(row.reason) + 1 < sizeof(row.reason), "line %u: the reason is cut", row.line);
        ck_assert_msg(!has_defect(row.id), "line %u: defects.tsv has a defect for %s", row.line, row.id);
    }
    ck_assert_uint_gt(rows, 10);
}
END_TEST

START_TEST(lines_are_read)
{
    static const char text[] =
        "# Prose of several words\n#\n\nA-1\twithout a layer\n# one\n\nA-2\n# two\nB-1\tlast line";
    const char *at = text, *end = text + strlen(text);
    struct no_defect row = {0};

    ck_assert(no_defect_next(&at, end, &row));
    ck_assert_str_eq(row.id, "A-1");
    ck_assert_str_eq(row.section, "");
    ck_assert_str_eq(row.reason, "without a layer");
    ck_assert_uint_eq(row.line, 4);
    ck_assert(no_defect_next(&at, end, &row));
    ck_assert_str_eq(row.id, "A-2");
    ck_assert_str_eq(row.section, "one");
    ck_assert_str_eq(row.reason, "");
    ck_assert(no_defect_next(&at, end, &row));
    ck_assert_str_eq(row.section, "two");
    ck_assert_str_eq(row.reason, "last line");
    ck_assert(!no_defect_next(&at, end, &row));
    ck_assert(!no_defect_find("MPA-8-02", &row));
}
END_TEST

/* What the CM agent's defects and validations cite is there. */
START_TEST(cm_cites_requirements)
{
    for (size_t i = 0; i < defect_list_count(cm_defects); i++) {
        const struct defect *defect = defect_list_at(cm_defects, i);

        for (const char *at = defect->requirement; *at != '\0';) {
            size_t octets = strcspn(at, ",");
            char id[64];

            snprintf(id, sizeof(id), "%.*s", (int)octets, at);
            ck_assert_msg(catalogue_find(catalogue, id) != NULL, "%s: no requirement %s", defect->id, id);
            at += octets;
            at += *at == ',';
        }
    }
    for (size_t i = 0; i < cm_validation_count; i++)
        ck_assert_ptr_nonnull(catalogue_find(catalogue, cm_validation_table[i].requirement));
}
END_TEST

Suite *defect_rows_suite(void)
{
    Suite *suite = suite_create("defect_rows");
    TCase *tcase = tcase_create("rows");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, finished_layers_leave_no_row_out);
    tcase_add_test(tcase, a_row_left_out_is_seen);
    tcase_add_test(tcase, each_reason_is_about_a_requirement);
    tcase_add_test(tcase, cm_cites_requirements);
    tcase_add_test(tcase, lines_are_read);
    suite_add_tcase(suite, tcase);
    return suite;
}
