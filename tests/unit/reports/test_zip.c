/* SPDX-License-Identifier: BSD-2-Clause */
/* Archives: what is put in comes out, byte for byte, and one that is not whole is not there. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <minizip/unzip.h>

#include "reports/file/zip.h"
#include "tests/unit/sample_results.h"

Suite *zip_suite(void);

static const char text[] = "#!/bin/sh\n";

static void make(const char *path, const uint8_t *octets, size_t count)
{
    struct iwarp_sentence error = {""};
    struct place place = place_at(path);
    struct zip *zip = zip_begin(&place, &error);

    ck_assert_msg(zip != NULL, "%s", error.text);
    ck_assert_int_eq(zip_add(zip, "a/replay.sh", text, sizeof(text) - 1, true), 0);
    ck_assert_int_eq(zip_add(zip, "a/\xc3\xa9.pcapng", octets, count, false), 0);
    ck_assert_int_eq(zip_add(zip, "a/empty", "", 0, false), 0);
    ck_assert_msg(zip_end(zip, true, &error) == 0, "%s", error.text);
}

/* The current file of an archive. */
static void is_file(unzFile file, const char *name, const void *octets, size_t count, unsigned mode)
{
    unz_file_info64 info;
    char its[100];
    uint8_t *read = malloc(count + 1);

    ck_assert_ptr_nonnull(read);
    ck_assert_int_eq(unzGetCurrentFileInfo64(file, &info, its, sizeof(its), NULL, 0, NULL, 0), UNZ_OK);
    ck_assert_str_eq(its, name);
    ck_assert_uint_eq(info.external_fa >> 16 & 07777, mode);
    ck_assert_uint_eq(info.uncompressed_size, count);
    ck_assert_int_eq(unzOpenCurrentFile(file), UNZ_OK);
    ck_assert_int_eq(unzReadCurrentFile(file, read, (unsigned)count + 1), (int)count);
    ck_assert_mem_eq(read, octets, count);
    ck_assert_int_eq(unzCloseCurrentFile(file), UNZ_OK); /* its CRC, too */
    free(read);
}

START_TEST(comes_out_as_it_was)
{
    char *folder = sample_folder();
    const char *path = sample_path(folder, "x.zip"), *again = sample_path(folder, "y.zip");
    uint8_t octets[100000];
    size_t size, same_size;
    char *archive, *same;
    unzFile file;

    for (size_t i = 0; i < sizeof(octets); i++)
        octets[i] = (uint8_t)(i * i >> 3);
    make(path, octets, sizeof(octets));
    file = unzOpen64(path);
    ck_assert_ptr_nonnull(file);
    is_file(file, "a/replay.sh", text, sizeof(text) - 1, 0755);
    ck_assert_int_eq(unzGoToNextFile(file), UNZ_OK);
    is_file(file, "a/\xc3\xa9.pcapng", octets, sizeof(octets), 0644);
    ck_assert_int_eq(unzGoToNextFile(file), UNZ_OK);
    is_file(file, "a/empty", "", 0, 0644);
    ck_assert_int_eq(unzGoToNextFile(file), UNZ_END_OF_LIST_OF_FILE);
    ck_assert_int_eq(unzClose(file), UNZ_OK);
    make(again, octets, sizeof(octets));
    archive = sample_read(path, &size);
    same = sample_read(again, &same_size);
    ck_assert_uint_eq(size, same_size);
    ck_assert_mem_eq(archive, same, size);
    free(archive);
    free(same);
    sample_remove(folder);
}
END_TEST

START_TEST(is_whole_or_not_there)
{
    char *folder = sample_folder();
    struct place place = place_at(sample_path(folder, "x.zip")), nowhere = place_at(sample_path(folder, "none/x.zip"));
    struct iwarp_sentence error = {""};
    struct zip *zip = zip_begin(&place, &error);

    ck_assert_ptr_nonnull(zip);
    ck_assert_int_eq(zip_add(zip, "a", "b", 1, false), 0);
    ck_assert_int_eq(zip_end(zip, false, &error), 0);
    ck_assert_int_ne(access(place.path, F_OK), 0);
    ck_assert_ptr_null(zip_begin(&nowhere, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "none/x.zip: cannot write"));
    sample_remove(folder);
}
END_TEST

Suite *zip_suite(void)
{
    Suite *suite = suite_create("zip");
    TCase *tests = tcase_create("zip");

    tcase_add_test(tests, comes_out_as_it_was);
    tcase_add_test(tests, is_whole_or_not_there);
    suite_add_tcase(suite, tests);
    return suite;
}
