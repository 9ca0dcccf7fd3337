/* SPDX-License-Identifier: BSD-2-Clause */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/select.h"
#include "base/sentence.h"

Suite *select_suite(void);

#define ARGUMENTS 12

static struct catalogue *catalogue;
static char *kept[64]; /* a selection keeps the strings of argv */
static size_t kept_count;

static void setup(void)
{
    struct iwarp_sentence error = {""};

    ck_assert_msg(catalogue_load(&catalogue, &error) == 0, "%s", error.text);
}

static void teardown(void)
{
    catalogue_free(catalogue);
    while (kept_count > 0)
        free(kept[--kept_count]);
}

/* Splits at blanks. Returns what the first argument that was not taken gave: 1 if all were, else 0 or -1. */
static int parse(struct selection *selection, const char *line, struct iwarp_sentence *error)
{
    char *argv[ARGUMENTS + 1] = {NULL}, *copy = strdup(line), *rest = copy, *word;
    int argc = 0;

    memset(selection, 0, sizeof(*selection));
    ck_assert_uint_lt(kept_count, sizeof(kept) / sizeof(kept[0]));
    kept[kept_count++] = copy;
    while ((word = strsep(&rest, " ")) != NULL)
        argv[argc++] = word;
    for (int i = 0; i < argc;) {
        int before = i, taken = selection_option(selection, argc, argv, &i, error);

        if (taken != 1)
            return taken;
        ck_assert_int_gt(i, before);
    }
    return 1;
}

static size_t count(const char *line)
{
    struct selection selection;
    struct iwarp_sentence error = {""};

    ck_assert_msg(parse(&selection, line, &error) == 1, "%s: %s", line, error.text);
    return selection_count(&selection, catalogue);
}

static bool takes(const char *line, const char *id)
{
    struct selection selection;
    struct iwarp_sentence error = {""};

    ck_assert_msg(parse(&selection, line, &error) == 1, "%s: %s", line, error.text);
    ck_assert_ptr_nonnull(catalogue_find(catalogue, id));
    return selection_matches(&selection, catalogue_find(catalogue, id));
}

START_TEST(nothing_given_selects_all)
{
    struct selection selection = {0};

    ck_assert_uint_eq(selection_count(&selection, catalogue), catalogue_count(catalogue));
}
END_TEST

START_TEST(ids_and_globs)
{
    ck_assert_uint_eq(count("RDMAP-4.8-02"), 1);
    ck_assert_uint_eq(count("rdmap-4.8-02"), 1);
    ck_assert_uint_eq(count("RDMAP-4.8-02 MPA-7.1.2-05"), 2);
    ck_assert_uint_eq(count("RDMAP-4.8-02 RDMAP-4.8-02"), 1);
    ck_assert_uint_eq(count("RDMAP-4.8"), 0); /* an id, no prefix */
    ck_assert(takes("MPA-*", "MPA-7.1.2-05"));
    ck_assert(!takes("MPA-*", "EMPA-3-01"));
    ck_assert_uint_eq(count("MPA-* EMPA-*"), count("MPA-*") + count("EMPA-*"));
    ck_assert(takes("MPA-7.*", "MPA-7.1.2-05"));
    ck_assert(!takes("MPA-7.*", "MPA-8-01"));
    ck_assert(takes("MPA-7.1.2-0[1-5]", "MPA-7.1.2-05"));
    ck_assert(!takes("MPA-7.1.2-0[1-4]", "MPA-7.1.2-05"));
}
END_TEST

static size_t rows_of_layer(enum requirement_layer layer)
{
    size_t rows = 0;

    for (size_t i = 0; i < catalogue_count(catalogue); i++)
        rows += catalogue_at(catalogue, i)->layer == layer;
    return rows;
}

static size_t rows_of_level(enum requirement_level level)
{
    size_t rows = 0;

    for (size_t i = 0; i < catalogue_count(catalogue); i++)
        rows += catalogue_at(catalogue, i)->level == level;
    return rows;
}

static size_t rows_of(enum requirement_observability observability)
{
    size_t rows = 0;

    for (size_t i = 0; i < catalogue_count(catalogue); i++)
        rows += catalogue_at(catalogue, i)->observability == observability;
    return rows;
}

START_TEST(layers_levels_and_observability)
{
    const size_t cm = rows_of_layer(REQUIREMENT_LAYER_CM);

    ck_assert_uint_gt(cm, 0);
    ck_assert_uint_eq(count("--layer cm"), cm);
    ck_assert_uint_eq(count("--layer=CM"), cm);
    ck_assert_uint_eq(count("--layer tcp --layer cm"), count("--layer tcp") + cm);
    ck_assert_uint_eq(count("--layer tcp,cm"), count("--layer tcp") + cm);
    ck_assert_uint_eq(count("--level must") + count("--level should") + count("--level may"),
                      catalogue_count(catalogue));
    ck_assert_uint_eq(count("--level may"), rows_of_level(REQUIREMENT_MAY));
    ck_assert(takes("--level must", "A11-AMB-03"));   /* SHALL */
    ck_assert(takes("--level must", "DDP-1.2-01"));   /* MUST(format) */
    ck_assert(!takes("--level must", "EMPA-3-01"));   /* SHOULD */
    ck_assert(takes("--level should", "MPA-4.4-07")); /* SHOULD NOT */
    ck_assert(!takes("--level SHALL", "DDP-1.2-01"));
    ck_assert_uint_eq(count("--observability active") + count("--observability passive,local,spec"),
                      catalogue_count(catalogue));
    ck_assert_uint_eq(count("--observability spec"), rows_of(REQUIREMENT_SPEC));
    ck_assert_uint_eq(count("--observability local"), rows_of(REQUIREMENT_LOCAL));
}
END_TEST

START_TEST(sections_hold_those_below)
{
    ck_assert(takes("--section 7.1", "MPA-7.1-01"));
    ck_assert(takes("--section 7.1", "MPA-7.1.2-05"));
    ck_assert(!takes("--section 7.1", "MPA-7.2-01"));
    ck_assert(takes("--section 7", "MPA-7.1.2-05"));
    ck_assert(!takes("--section 1", "MPA-10-01")); /* 10 is not below 1 */
    ck_assert(takes("--section 1", "MPA-1.2-01"));
    ck_assert(takes("--section a11.4", "CA11-1"));
    ck_assert(takes("--section 7.?", "MPA-7.1-01"));
    ck_assert(!takes("--section 7.?", "MPA-7.1.2-05"));
}
END_TEST

START_TEST(roles_take_what_binds_both)
{
    ck_assert(takes("--role responder", "MPA-7.1.2-05"));
    ck_assert(!takes("--role initiator", "MPA-7.1.2-05"));
    ck_assert(takes("--role initiator", "MPA-7.1.2-25"));  /* both */
    ck_assert(takes("--role responder", "MPA-4.1-01"));    /* sender */
    ck_assert(takes("--role initiator", "ATOM-5.1.1-01")); /* who executes an atomic */
    ck_assert(!takes("--role sender", "MPA-7.1.2-25"));
    ck_assert(takes("--subject sender", "MPA-4.1-01"));
    ck_assert_uint_eq(count("--role initiator --role responder"), catalogue_count(catalogue));
}
END_TEST

START_TEST(different_options_have_to_hold_all)
{
    ck_assert(takes("MPA-7.* --role responder --level should", "MPA-7.1.2-05"));
    ck_assert(!takes("MPA-7.* --role responder --level must", "MPA-7.1.2-05"));
    ck_assert(!takes("MPA-7.* --role initiator --level should", "MPA-7.1.2-05"));
    ck_assert_uint_eq(count("MPA-3-01 --layer cm"), 0);
    ck_assert_uint_lt(count("--layer mpa --level must"), count("--layer mpa"));
}
END_TEST

START_TEST(a_pattern_that_fits_nothing_is_named)
{
    struct selection selection;
    struct iwarp_sentence error;

    ck_assert_int_eq(parse(&selection, "MPA-7.* MPA-77-01 DDP-*", &error), 1);
    ck_assert_str_eq(selection_unmatched(&selection, catalogue), "MPA-77-01");
    ck_assert_int_eq(parse(&selection, "MPA-7.* DDP-*", &error), 1);
    ck_assert_ptr_null(selection_unmatched(&selection, catalogue));
    /* The options do not count here: the pattern is right, the combination is empty. */
    ck_assert_int_eq(parse(&selection, "MPA-3-01 --layer cm", &error), 1);
    ck_assert_ptr_null(selection_unmatched(&selection, catalogue));
}
END_TEST

static const struct {
    const char *line, *sentence;
    int taken;
} bad[] = {
    {"--layer", "--layer needs a value", -1},
    {"--layer ip", "--layer \"ip\" is unknown, tcp, sctp, mpa, ddp, rdmap, cm or ulp was expected", -1},
    {"--layer mpa,,ddp", "--layer has an empty value", -1},
    {"--layer=", "--layer has an empty value", -1},
    {"--level most", "--level \"most\" is unknown, must, should, may or a level of the catalogue was expected", -1},
    {"--role server", "--role \"server\" is unknown", -1},
    {"--observability seen", "--observability \"seen\" is unknown", -1},
    {"--seed 1", "", 0},
    {"--layers mpa", "", 0},
    {"-j", "", 0},
};

START_TEST(wrong_options_get_a_sentence)
{
    struct selection selection;
    struct iwarp_sentence error = {""};

    ck_assert_int_eq(parse(&selection, bad[_i].line, &error), bad[_i].taken);
    ck_assert_msg(strncmp(error.text, bad[_i].sentence, strlen(bad[_i].sentence)) == 0, "%s", error.text);
}
END_TEST

START_TEST(too_many_patterns_are_refused)
{
    char word[] = "MPA-*", *argv[] = {word};
    struct selection selection = {0};
    struct iwarp_sentence error = {""};

    for (int i = 0; i < SELECTION_LIMIT; i++) {
        int index = 0;

        ck_assert_int_eq(selection_option(&selection, 1, argv, &index, &error), 1);
    }
    ck_assert_int_eq(selection_option(&selection, 1, argv, &(int){0}, &error), -1);
}
END_TEST

Suite *select_suite(void)
{
    Suite *suite = suite_create("select");
    TCase *tcase = tcase_create("selection");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, nothing_given_selects_all);
    tcase_add_test(tcase, ids_and_globs);
    tcase_add_test(tcase, layers_levels_and_observability);
    tcase_add_test(tcase, sections_hold_those_below);
    tcase_add_test(tcase, roles_take_what_binds_both);
    tcase_add_test(tcase, different_options_have_to_hold_all);
    tcase_add_test(tcase, a_pattern_that_fits_nothing_is_named);
    tcase_add_loop_test(tcase, wrong_options_get_a_sentence, 0, sizeof(bad) / sizeof(bad[0]));
    tcase_add_test(tcase, too_many_patterns_are_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}
