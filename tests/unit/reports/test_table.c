/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of tab-separated values: cells by column, whatever their order; and one sentence for each that is none. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "reports/file/table.h"
#include "tests/unit/sample_results.h"
#include "tests/unit/suites.h"

Suite *table_suite(void);

static const struct table_column columns[] = {{"name", false}, {"size", false}, {"note", true}};

static int read_text(struct table *table, const char *text, size_t octets, struct iwarp_sentence *error)
{
    char *folder = sample_folder();
    int rc;

    sample_write(sample_path(folder, "table.tsv"), text, octets);
    rc = table_read(table, sample_path(folder, "table.tsv"), columns, 3, error);
    sample_remove(folder);
    return rc;
}

START_TEST(cells_by_column)
{
    static const char text[] = "# what it is\nsize\tother\tname\n\n10\tx\tone\n# between\n\ty\ttwo";
    struct iwarp_sentence error = {""};
    struct table table;

    ck_assert_msg(read_text(&table, text, strlen(text), &error) == 0, "%s", error.text);
    ck_assert_uint_eq(table.rows, 2);
    ck_assert_str_eq(table_cell(&table, 0, 0), "one");
    ck_assert_str_eq(table_cell(&table, 0, 1), "10");
    ck_assert_str_eq(table_cell(&table, 0, 2), "");
    ck_assert_str_eq(table_cell(&table, 1, 0), "two");
    ck_assert_str_eq(table_cell(&table, 1, 1), "");
    table_free(&table);
}
END_TEST

START_TEST(thousand_rows_are_read)
{
    enum { ROWS = 1000 };
    char text[16 + ROWS * 16], *at = text + sprintf(text, "name\tsize\n");
    struct iwarp_sentence error = {""};
    struct table table;

    for (int i = 0; i < ROWS; i++)
        at += sprintf(at, "row%d\t%d\n", i, i);
    ck_assert_msg(read_text(&table, text, (size_t)(at - text), &error) == 0, "%s", error.text);
    ck_assert_uint_eq(table.rows, ROWS);
    for (int i = 0; i < ROWS; i++)
        ck_assert_int_eq(atoi(table_cell(&table, (size_t)i, 1)), i);
    table_free(&table);
}
END_TEST

static const struct {
    const char *text, *expected;
    size_t octets; /* 0: up to the zero octet */
} faults[] = {
    {"", "table.tsv: no line that names the columns", 0},
    {"# only\n", "table.tsv: no line that names the columns", 0},
    {"name\n", "table.tsv:1: no column \"size\"", 0},
    {"name\tsize\tname\n", "table.tsv:1: the column \"name\" stands there twice", 0},
    {"name\tsize\n\none\n", "table.tsv:3: 1 cells, 2 were expected", 0},
    {"name\tsize\none\t2\t3\n", "table.tsv:2: 3 cells, 2 were expected", 0},
    {"name\tsize\n1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t11\t12\t13\t14\t15\t16\t17\t18\n", "table.tsv:2: 18 cells, 2", 0},
    {"a\tb\tc\td\te\tf\tg\th\ti\tj\tk\tl\tm\tn\to\tp\tq\n", "table.tsv:1: more than 16 columns", 0},
    {"name\tsize\none\t\033[2J\n", "table.tsv:2: a control character (0x1b)", 0},
    {"name\tsize\none\t2\r\n", "table.tsv:2: a control character (0x0d)", 0},
    {"name\tsize\na\0b\t2\n", "table.tsv: a zero octet", 16},
};

START_TEST(bad_table_is_refused_with_its_line)
{
    struct iwarp_sentence error = {""};
    struct table table;
    const char *text = faults[_i].text;

    ck_assert_int_eq(read_text(&table, text, faults[_i].octets ? faults[_i].octets : strlen(text), &error), -1);
    ck_assert_msg(strstr(error.text, faults[_i].expected) != NULL, "%s", error.text);
    table_free(&table);
}
END_TEST

START_TEST(missing_table_is_named)
{
    struct iwarp_sentence error = {""};
    struct table table;

    ck_assert_int_eq(table_read(&table, "/nonexistent/table.tsv", columns, 3, &error), -1);
    ck_assert_msg(strncmp(error.text, "/nonexistent/table.tsv: no such file", 36) == 0, "%s", error.text);
    table_free(&table);
    ck_assert_int_eq(table_read(&table, "/dev/zero", columns, 3, &error), -1);
    table_free(&table);
}
END_TEST

Suite *table_suite(void)
{
    Suite *suite = suite_create("table");
    TCase *cases = tcase_create("tables");

    tcase_add_test(cases, cells_by_column);
    tcase_add_test(cases, thousand_rows_are_read);
    tcase_add_loop_test(cases, bad_table_is_refused_with_its_line, 0, (int)(sizeof(faults) / sizeof(faults[0])));
    tcase_add_test(cases, missing_table_is_named);
    suite_add_tcase(suite, cases);
    return suite;
}
