/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A folder for what is only needed meanwhile: below TMPDIR where that can be, for this user alone, and gone with its
 * contents.
 */
#include "conformance/engine/process/temporary_folder.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/suites.h"

Suite *temporary_folder_suite(void);

enum { LONG = 300, INNER_OCTETS = TEMPORARY_FOLDER_OCTETS + 32 };

START_TEST(a_folder_goes_with_all_that_is_in_it)
{
    char path[TEMPORARY_FOLDER_OCTETS], inner[INNER_OCTETS];
    struct iwarp_sentence error = {""};
    struct stat status;

    ck_assert_msg(temporary_folder_make(path, &error) == 0, "%s", error.text);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0700);
    (void)snprintf(inner, sizeof(inner), "%s/below", path);
    ck_assert_int_eq(mkdir(inner, 0777), 0);
    (void)snprintf(inner, sizeof(inner), "%s/below/link", path);
    ck_assert_int_eq(symlink("/", inner), 0);
    temporary_folder_remove(path);
    ck_assert_int_ne(stat(path, &status), 0);
    ck_assert_int_eq(stat("/", &status), 0);
}
END_TEST

START_TEST(a_place_that_cannot_be_is_not_used)
{
    char path[TEMPORARY_FOLDER_OCTETS], longest[LONG + 1];
    struct iwarp_sentence error = {""};

    memset(longest, 'x', LONG);
    longest[0] = '/';
    longest[LONG] = '\0';
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(setenv("TMPDIR", i == 0 ? longest : "relative", 1), 0);
        ck_assert_msg(temporary_folder_make(path, &error) == 0, "%s", error.text);
        ck_assert_int_eq(strncmp(path, "/tmp/", 5), 0);
        temporary_folder_remove(path);
    }
    ck_assert_int_eq(setenv("TMPDIR", "/nowhere/at/all", 1), 0);
    ck_assert_int_eq(temporary_folder_make(path, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "No such file or directory"));
}
END_TEST

Suite *temporary_folder_suite(void)
{
    Suite *suite = suite_create("temporary_folder");
    TCase *tcase = tcase_create("temporary_folder");

    tcase_add_test(tcase, a_folder_goes_with_all_that_is_in_it);
    tcase_add_test(tcase, a_place_that_cannot_be_is_not_used);
    suite_add_tcase(suite, tcase);
    return suite;
}
