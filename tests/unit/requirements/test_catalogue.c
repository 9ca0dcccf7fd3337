/* SPDX-License-Identifier: BSD-2-Clause */
#include <check.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/named.h"
#include "conformance/requirements/pics.h"
#include "base/sentence.h"
#include "tools/embedded.h"

Suite *catalogue_suite(void);

#define HEADER                                                                                                         \
    "id\tsource\tsection\tlevel\tsubject\tlayer\tobservability\ttext\tstimulus\toutcomes\tcapability\tdefect"          \
    "\tambiguity\n"
#define ROW(id) id "\tRFC5044\t7.1\tMUST\tboth\tMPA\tactive\ttext\tstimulus\toutcomes\talways\tdefect\t\n"

static struct catalogue *catalogue;
static struct pics *pics;

static void setup(void)
{
    struct iwarp_sentence error = {""};

    ck_assert_msg(catalogue_load(&catalogue, &error) == 0, "%s", error.text);
    ck_assert_msg(pics_load(&pics, &error) == 0, "%s", error.text);
}

static void teardown(void)
{
    catalogue_free(catalogue);
    pics_free(pics);
}

static int parse(struct catalogue **made, const char *text, struct iwarp_sentence *error)
{
    struct catalogue_source source = {"dir/x.tsv", text, strlen(text)};

    return catalogue_parse(made, &source, 1, error);
}

/* The lines of a file that are rows: neither comments, nor empty, nor the head. */
static size_t lines_of(const struct embedded_file *file)
{
    const char *line = (const char *)file->octets;
    size_t rows = 0;

    for (; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n')
        rows += *line != '#' && *line != '\n' && strncmp(line, "id\t", 3) != 0;
    return rows;
}

START_TEST(every_row_of_every_file_is_there)
{
    size_t all = 0, files = 0;

    for (size_t i = 0; i < embedded_requirement_count; i++) {
        const struct embedded_file *file = &embedded_requirements[i];
        size_t rows = 0;

        if (strcmp(strrchr(file->path, '/'), "/pics.tsv") == 0)
            continue;
        for (size_t k = 0; k < catalogue_count(catalogue); k++)
            rows += strcmp(catalogue_at(catalogue, k)->file, file->path) == 0;
        ck_assert_uint_gt(rows, 0);
        ck_assert_msg(rows == lines_of(file), "%s: %zu rows, %zu were expected", file->path, rows, lines_of(file));
        all += rows;
        files++;
    }
    ck_assert_uint_gt(files, 0);
    ck_assert_uint_eq(all, catalogue_count(catalogue));
    ck_assert_ptr_null(catalogue_at(catalogue, catalogue_count(catalogue)));
}
END_TEST

/* Compared with one another, not through the hash that refuses duplicates. */
static int id_compare(const void *a, const void *b)
{
    const struct requirement *const *x = a, *const *y = b;

    return strcmp((*x)->id, (*y)->id);
}

START_TEST(ids_are_unique_and_found)
{
    size_t count = catalogue_count(catalogue);
    const struct requirement **sorted = calloc(count, sizeof(*sorted));

    for (size_t i = 0; i < count; i++) {
        sorted[i] = catalogue_at(catalogue, i);
        ck_assert_uint_eq(sorted[i]->index, i);
        ck_assert_ptr_eq(catalogue_find(catalogue, sorted[i]->id), sorted[i]);
    }
    qsort(sorted, count, sizeof(*sorted), id_compare);
    for (size_t i = 1; i < count; i++)
        ck_assert_str_ne(sorted[i - 1]->id, sorted[i]->id);
    free(sorted);
    ck_assert_ptr_null(catalogue_find(catalogue, "MPA-7.1.1"));
    ck_assert_ptr_null(catalogue_find(catalogue, "mpa-7.1.1-01"));
    ck_assert_ptr_null(catalogue_find(catalogue, ""));
}
END_TEST

START_TEST(a_row_is_what_its_text_says)
{
    const struct requirement *r = catalogue_find(catalogue, "RDMAP-4.8-02");

    ck_assert_ptr_nonnull(r);
    ck_assert_str_eq(r->source, "RFC5040");
    ck_assert_str_eq(r->section, "4.8");
    ck_assert_int_eq(r->layer, REQUIREMENT_LAYER_RDMAP);
    ck_assert_str_eq(requirement_layer_name(r->layer), "RDMAP");
    r = catalogue_find(catalogue, "MPA-7.1.2-05");
    ck_assert_int_eq(r->level, REQUIREMENT_SHOULD);
    ck_assert(requirement_is_should(r));
    ck_assert(!requirement_is_may(r));
    ck_assert(!requirement_is_ambiguous(r));
    ck_assert(requirement_binds(r, "responder"));
    ck_assert(!requirement_binds(r, "initiator"));
    ck_assert(requirement_is_may(catalogue_find(catalogue, "MPA-5.1-05")));
    ck_assert(!requirement_is_should(catalogue_find(catalogue, "MPA-7.1.1-02")));
    /* Who executes an atomic may be either end of the connection. */
    ck_assert(requirement_binds(catalogue_find(catalogue, "ATOM-5.1.1-01"), "initiator"));
}
END_TEST

/* Rows of the tables in the tree with two readings in their last column. */
static size_t rows_with_readings(void)
{
    static char line[8192];
    size_t count = 0;
    glob_t tables;

    ck_assert_msg(glob("conformance/requirements/*.tsv", 0, NULL, &tables) == 0,
                  "the tests do not run in the root of the tree");
    for (size_t i = 0; i < tables.gl_pathc; i++) {
        FILE *table = fopen(tables.gl_pathv[i], "r");

        ck_assert_ptr_nonnull(table);
        while (fgets(line, sizeof(line), table) != NULL) {
            const char *last = line[0] != '#' ? strrchr(line, '\t') : NULL;

            count += last != NULL && strncmp(last, "\tA: ", 4) == 0;
        }
        (void)fclose(table);
    }
    globfree(&tables);
    return count;
}

START_TEST(ambiguous_rows_name_their_readings)
{
    size_t count = 0;

    for (size_t i = 0; i < catalogue_count(catalogue); i++) {
        const struct requirement *r = catalogue_at(catalogue, i);

        ck_assert_msg(strstr(r->text, "AMBIGUOUS") == NULL, "%s: the prefix is left in its text", r->id);
        if (!requirement_is_ambiguous(r))
            continue;
        count++;
        ck_assert_msg(strncmp(r->ambiguity, "A: ", 3) == 0 && strstr(r->ambiguity, "; B: ") != NULL,
                      "%s: \"%s\" does not name two readings", r->id, r->ambiguity);
    }
    ck_assert_uint_eq(count, rows_with_readings());
    ck_assert_uint_ne(count, 0);
}
END_TEST

START_TEST(every_capability_is_a_predicate_over_declared_items)
{
    struct iwarp_sentence reason, error;

    for (size_t i = 0; i < catalogue_count(catalogue); i++) {
        const struct requirement *r = catalogue_at(catalogue, i);
        int holds = pics_evaluate(pics, r->capability, &reason, &error);

        ck_assert_msg(holds >= 0, "%s: %s", r->id, error.text);
        ck_assert_msg((strcmp(r->capability, "never") == 0) == (r->observability == REQUIREMENT_SPEC),
                      "%s: no device shows it exactly if its observability is spec", r->id);
    }
}
END_TEST

START_TEST(digest_follows_every_octet)
{
    struct catalogue *a, *b, *c;

    ck_assert_uint_eq(strlen(catalogue_digest(catalogue)), 16);
    ck_assert_uint_eq(strspn(catalogue_digest(catalogue), "0123456789abcdef"), 16);
    ck_assert_int_eq(parse(&a, HEADER ROW("X-1"), NULL), 0);
    ck_assert_int_eq(parse(&b, HEADER ROW("X-1"), NULL), 0);
    ck_assert_int_eq(parse(&c, HEADER ROW("X-2"), NULL), 0);
    ck_assert_str_eq(catalogue_digest(a), catalogue_digest(b));
    ck_assert_str_ne(catalogue_digest(a), catalogue_digest(c));
    catalogue_free(a);
    catalogue_free(b);
    catalogue_free(c);
    /* FNV-1a of the header line alone, computed by another program. */
    ck_assert_int_eq(parse(&a, HEADER, NULL), 0);
    ck_assert_uint_eq(catalogue_count(a), 0);
    ck_assert_str_eq(catalogue_digest(a), "4d6520827dc6c152");
    catalogue_free(a);
}
END_TEST

static const struct {
    const char *text, *sentence;
} malformed[] = {
    {"", "dir/x.tsv:1: no header line"},
    {"# nothing\n\n", "dir/x.tsv:3: no header line"},
    {"id\tsource\n", "dir/x.tsv:1: the header line has 2 columns, 13 were expected"},
    {ROW("X-1"), "dir/x.tsv:1: column 1 of the header line is \"X-1\", \"id\" was expected"},
    {HEADER "X-1\tRFC5044\n", "dir/x.tsv:2: the row has 2 columns, 13 were expected"},
    {HEADER "# comment\n" ROW("X-1") ROW("X-2") ROW("X-1"), "dir/x.tsv:5: id X-1 is already used in dir/x.tsv:3"},
    {HEADER "X-1\tS\t1\tMUST\tboth\tMPA\tactive\tt\ts\to\tc\td\t\t\n",
     "dir/x.tsv:2: the row has 14 columns, 13 were expected"},
    {HEADER "X-1\tS\t1\tWILL\tboth\tMPA\tactive\tt\ts\to\tc\td\t\n", "dir/x.tsv:2: unknown level \"WILL\""},
    {HEADER "X-1\tS\t1\tmust\tboth\tMPA\tactive\tt\ts\to\tc\td\t\n", "dir/x.tsv:2: unknown level \"must\""},
    {HEADER "X-1\tS\t1\tMUST\tboth\tIP\tactive\tt\ts\to\tc\td\t\n", "dir/x.tsv:2: unknown layer \"IP\""},
    {HEADER "X-1\tS\t1\tMUST\tboth\tMPA\tseen\tt\ts\to\tc\td\t\n", "dir/x.tsv:2: unknown observability \"seen\""},
    {HEADER "X-1\tS\t1\tMUST\tall\tMPA\tactive\tt\ts\to\tc\td\t\n", "dir/x.tsv:2: unknown subject \"all\""},
    {HEADER "X-1\tS\t1\tMUST\tboth\tMPA\tactive\t\ts\to\tc\td\t\n", "dir/x.tsv:2: column text is empty"},
    {HEADER "\tS\t1\tMUST\tboth\tMPA\tactive\tt\ts\to\tc\td\t\n", "dir/x.tsv:2: column id is empty"},
    {HEADER "X 1\tS\t1\tMUST\tboth\tMPA\tactive\tt\ts\to\tc\td\t\n", "dir/x.tsv:2: id \"X 1\" contains ' '"},
    {HEADER ROW("X-1") "\r\n", "dir/x.tsv:3: octet 0x0D in column 1"},
    {HEADER "\xC3\xA4\n", "dir/x.tsv:2: octet 0xC3 in column 1"},
};

START_TEST(malformed_files_get_file_and_line)
{
    struct iwarp_sentence error = {""};
    struct catalogue *made = (struct catalogue *)1;

    ck_assert_int_eq(parse(&made, malformed[_i].text, &error), -1);
    ck_assert_ptr_null(made);
    ck_assert_msg(strncmp(error.text, malformed[_i].sentence, strlen(malformed[_i].sentence)) == 0,
                  "\"%s\" where \"%s\" was expected", error.text, malformed[_i].sentence);
}
END_TEST

START_TEST(duplicates_are_seen_across_files)
{
    struct catalogue_source source[] = {{"a.tsv", HEADER ROW("X-1"), sizeof(HEADER ROW("X-1")) - 1},
                                        {"b.tsv", HEADER ROW("X-1"), sizeof(HEADER ROW("X-1")) - 1}};
    struct iwarp_sentence error = {""};
    struct catalogue *made;

    ck_assert_int_eq(catalogue_parse(&made, source, 2, &error), -1);
    ck_assert_str_eq(error.text, "b.tsv:2: id X-1 is already used in a.tsv:2");
}
END_TEST

START_TEST(a_zero_octet_is_refused_and_a_last_line_needs_no_newline)
{
    static const char zero[] = HEADER "X\0-1\n";
    struct catalogue_source source = {"z.tsv", zero, sizeof(zero) - 1};
    struct iwarp_sentence error = {""};
    struct catalogue *made;
    char *text = strdup(HEADER ROW("X-1"));

    ck_assert_int_eq(catalogue_parse(&made, &source, 1, &error), -1);
    ck_assert_str_eq(error.text, "z.tsv:2: octet 0x00 in column 2, only printable ASCII and tabs are allowed");

    text[strlen(text) - 1] = '\0';
    ck_assert_int_eq(parse(&made, text, &error), 0);
    free(text);
    ck_assert_uint_eq(catalogue_count(made), 1);
    ck_assert_str_eq(catalogue_at(made, 0)->defect, "defect");
    ck_assert_str_eq(catalogue_at(made, 0)->ambiguity, "");
    ck_assert_uint_eq(catalogue_at(made, 0)->line, 2);
    catalogue_free(made);
}
END_TEST

/* Every prefix of a real file parses or is refused, without reading beyond its end (ASan watches). */
START_TEST(every_prefix_is_safe)
{
    static const char text[] = "# c\n" HEADER ROW("X-1") "\n" ROW("X-2");

    for (size_t size = 0; size < sizeof(text); size++) {
        char *copy = malloc(size > 0 ? size : 1);
        struct catalogue_source source = {"p.tsv", copy, size};
        struct catalogue *made;

        memcpy(copy, text, size);
        if (catalogue_parse(&made, &source, 1, NULL) == 0)
            ck_assert_uint_le(catalogue_count(made), 2);
        catalogue_free(made);
        free(copy);
    }
}
END_TEST

START_TEST(nearest_ids_are_found)
{
    const struct requirement *nearest[3];

    ck_assert_uint_eq(catalogue_nearest(catalogue, "mpa-7.1.1-01", nearest, 3), 3);
    ck_assert_str_eq(nearest[0]->id, "MPA-7.1.1-01");
    ck_assert_uint_ge(catalogue_nearest(catalogue, "RDMAP-4.8-2", nearest, 3), 1);
    ck_assert_ptr_nonnull(strstr(nearest[0]->id, "RDMAP-4.8-"));
    ck_assert_uint_eq(catalogue_nearest(catalogue, "completely unrelated words", nearest, 3), 0);
    ck_assert_uint_eq(catalogue_nearest(catalogue, "", nearest, 3), 0);
}
END_TEST

static const struct {
    const char *predicate;
    int holds;
} predicates[] = {
    {"always", 1},
    {"never", 0},
    {"yes1", 1},
    {"no1", 0},
    {"!no1", 1},
    {"!!no1", 0},
    {"number", 1},
    {"zero", 0},
    {"yes1 & no1", 0},
    {"yes1 & !no1 & number", 1},
    {"no1 | yes1", 1},
    {"no1 & no1 | yes1", 1},
    {"yes1 | no1 & no1", 1},
    {"no1 & (no1 | yes1)", 0},
    {"!(no1 | zero)", 1},
    {"!(yes1 & number)", 0},
    {"", -1},
    {"yes1 &", -1},
    {"yes1 yes1", -1},
    {"(yes1", -1},
    {"yes1)", -1},
    {"unknown", -1},
    {"no1 & unknown", -1},
    {"yes1 | unknown", -1},
    {"((((((((((((((((((((yes1))))))))))))))))))))", -1},
};

static const char items[] = "item\tquestion\tdefault\tmeaning\ttold\nyes1\tq\tyes\tm\ta\n"
                            "no1\tq\tno\tm\tr=x\nnumber\tq\t16\tm\t-\nzero\tq\t0\tm\t-\n";

START_TEST(predicates_are_evaluated)
{
    struct iwarp_sentence reason = {""}, error = {""};
    struct pics *made;

    ck_assert_int_eq(pics_parse(&made, "p.tsv", items, sizeof(items) - 1, &error), 0);
    ck_assert_int_eq(pics_evaluate(made, predicates[_i].predicate, &reason, &error), predicates[_i].holds);
    ck_assert_int_eq(error.text[0] != '\0', predicates[_i].holds < 0);
    ck_assert_int_eq(reason.text[0] != '\0', predicates[_i].holds == 0);
    pics_free(made);
}
END_TEST

START_TEST(items_are_set_and_refused)
{
    struct iwarp_sentence reason, error;

    ck_assert_int_eq(pics_evaluate(pics, "responder & mpa.rev2", &reason, &error), 1);
    ck_assert_int_eq(pics_set(pics, "mpa.rev2", "no", &error), 0);
    ck_assert_int_eq(pics_evaluate(pics, "responder & mpa.rev2", &reason, &error), 0);
    ck_assert_str_eq(reason.text, "needs responder & mpa.rev2, but the profile has mpa.rev2 = no");
    ck_assert_int_eq(pics_set(pics, "ird", "4", &error), 0);
    ck_assert_str_eq(pics_find(pics, "ird")->value, "4");
    ck_assert_str_eq(pics_find(pics, "ird")->fallback, "16");
    ck_assert_int_eq(pics_set(pics, "ird", "four", &error), -1);
    ck_assert_int_eq(pics_set(pics, "ird", "", &error), -1);
    ck_assert_int_eq(pics_set(pics, "ird", "99999999999999999999999999", &error), -1);
    ck_assert_int_eq(pics_set(pics, "irt", "4", &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "irt"));
}
END_TEST

START_TEST(malformed_items_get_file_and_line)
{
    static const char *const bad[] = {"",
                                      "item\tquestion\tdefault\n",
                                      "item\tquestion\tdefault\tmeaning\ttold\nx\tq\tmaybe\tm\t-\n",
                                      "item\tquestion\tdefault\tmeaning\ttold\nx\tq\tyes\tm\t-\nx\tq\tyes\tm\t-\n",
                                      "item\tquestion\tdefault\tmeaning\ttold\nx y\tq\tyes\tm\t-\n",
                                      "item\tquestion\tdefault\tmeaning\ttold\nx\tyes\tm\t-\n",
                                      "item\tquestion\tdefault\tmeaning\ttold\nx\tq\tyes\tm\t\n"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct iwarp_sentence error = {""};
        struct pics *made;

        ck_assert_int_eq(pics_parse(&made, "p.tsv", bad[i], strlen(bad[i]), &error), -1);
        ck_assert_ptr_null(made);
        ck_assert_msg(strncmp(error.text, "p.tsv:", 6) == 0, "%s", error.text);
    }
}
END_TEST

START_TEST(an_id_may_be_typed_in_any_case)
{
    struct iwarp_sentence error = {""};

    ck_assert_ptr_eq(requirement_named(catalogue, "DDP-7.2-01"), catalogue_find(catalogue, "DDP-7.2-01"));
    ck_assert_ptr_eq(requirement_named(catalogue, "ddp-7.2-01"), catalogue_find(catalogue, "DDP-7.2-01"));
    ck_assert_ptr_null(requirement_named(catalogue, "DDP-7.2-1"));
    ck_assert_ptr_null(requirement_named(catalogue, ""));
    ck_assert_int_eq(requirement_not_found(catalogue, "DDP-7.2-1", &error), -1);
    ck_assert_msg(strstr(error.text, "no requirement has the id DDP-7.2-1; nearest are ") != NULL, "%s", error.text);
    ck_assert_ptr_nonnull(strstr(error.text, "DDP-7.2-01"));
    ck_assert_int_eq(requirement_not_found(catalogue, "#!?", &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "warpcheck list"));
}
END_TEST

Suite *catalogue_suite(void)
{
    Suite *suite = suite_create("catalogue");
    TCase *compiled = tcase_create("compiled in"), *parser = tcase_create("parser"), *capability = tcase_create("pics");

    tcase_add_checked_fixture(compiled, setup, teardown);
    tcase_add_test(compiled, an_id_may_be_typed_in_any_case);
    tcase_add_test(compiled, every_row_of_every_file_is_there);
    tcase_add_test(compiled, ids_are_unique_and_found);
    tcase_add_test(compiled, a_row_is_what_its_text_says);
    tcase_add_test(compiled, ambiguous_rows_name_their_readings);
    tcase_add_test(compiled, every_capability_is_a_predicate_over_declared_items);
    tcase_add_test(compiled, digest_follows_every_octet);
    tcase_add_test(compiled, nearest_ids_are_found);
    tcase_add_test(compiled, items_are_set_and_refused);
    suite_add_tcase(suite, compiled);

    tcase_add_loop_test(parser, malformed_files_get_file_and_line, 0, sizeof(malformed) / sizeof(malformed[0]));
    tcase_add_test(parser, duplicates_are_seen_across_files);
    tcase_add_test(parser, a_zero_octet_is_refused_and_a_last_line_needs_no_newline);
    tcase_add_test(parser, every_prefix_is_safe);
    suite_add_tcase(suite, parser);

    tcase_add_loop_test(capability, predicates_are_evaluated, 0, sizeof(predicates) / sizeof(predicates[0]));
    tcase_add_test(capability, malformed_items_get_file_and_line);
    suite_add_tcase(suite, capability);
    return suite;
}
