/* SPDX-License-Identifier: BSD-2-Clause */
#include <check.h>
#include <string.h>

#include "tests/unit/suites.h"
#include "base/cells.h"

Suite *cells_suite(void);

START_TEST(a_line_is_cut)
{
    char line[] = "a\t\tcc", none[] = "", more[] = "1\t2\t3\t4";
    char *cells[3];

    ck_assert_uint_eq(cells_cut(line, cells, 3), 3);
    ck_assert_str_eq(cells[0], "a");
    ck_assert_str_eq(cells[1], "");
    ck_assert_str_eq(cells[2], "cc");
    ck_assert_uint_eq(cells_cut(none, cells, 3), 1);
    ck_assert_str_eq(cells[0], "");
    cells[2] = NULL;
    ck_assert_uint_eq(cells_cut(more, cells, 2), 4);
    ck_assert_str_eq(cells[1], "2");
    ck_assert_ptr_null(cells[2]);
}
END_TEST

static void is_cell(const struct cell *cell, const char *text)
{
    ck_assert_uint_eq(cell->octets, strlen(text));
    ck_assert_int_eq(strncmp(cell->text, text, cell->octets), 0);
}

START_TEST(lines_are_taken)
{
    static const char text[] = "# prose\n\nid\treason\tmore\nlast\t";
    const char *at = text, *end = text + strlen(text);
    struct cell cells[2];

    ck_assert_uint_eq(cells_next(&at, end, cells, 2), 1);
    is_cell(&cells[0], "# prose");
    ck_assert_ptr_null(cells[1].text);
    ck_assert_uint_eq(cells_next(&at, end, cells, 2), 1);
    is_cell(&cells[0], "");
    ck_assert_uint_eq(cells_next(&at, end, cells, 2), 3);
    is_cell(&cells[0], "id");
    is_cell(&cells[1], "reason");
    ck_assert_uint_eq(cells_next(&at, end, cells, 2), 2); /* no newline after it */
    is_cell(&cells[0], "last");
    is_cell(&cells[1], "");
    ck_assert_uint_eq(cells_next(&at, end, cells, 2), 0);
    ck_assert_ptr_eq(at, end);
    ck_assert_ptr_null(cells[0].text);
}
END_TEST

Suite *cells_suite(void)
{
    Suite *suite = suite_create("cells");
    TCase *tcase = tcase_create("cells");

    tcase_add_test(tcase, a_line_is_cut);
    tcase_add_test(tcase, lines_are_taken);
    suite_add_tcase(suite, tcase);
    return suite;
}
