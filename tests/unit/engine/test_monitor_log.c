/* SPDX-License-Identifier: BSD-2-Clause */
/* The log of a monitor: whole lines whatever happens, older files that are shifted, and a full disk. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/monitor/monitor_log.h"
#include "tests/unit/sample_results.h"
#include "tests/unit/suites.h"

Suite *monitor_log_suite(void);

#define SECOND UINT64_C(1000000000)

static char *folder, path[200];
static unsigned begun, empty_begun;
static char read_lines[4096];

static void set_up(void)
{
    folder = sample_folder();
    (void)snprintf(path, sizeof(path), "%s", sample_path(folder, "log"));
    begun = empty_begun = 0;
}

static void tear_down(void)
{
    sample_remove(folder);
}

static void on_begin(void *user, struct monitor_log *log, bool empty)
{
    (void)user;
    begun++;
    empty_begun += empty;
    ck_assert(monitor_log_write(log, json_pack("{s:s}", "type", "first")));
}

static struct monitor_log *opened(uint64_t rotate_octets)
{
    struct monitor_log_config config = {
        .path = path, .rotate_octets = rotate_octets, .rotate_seconds = 100, .keep = 2, .begin = on_begin};
    struct iwarp_sentence error;
    struct monitor_log *log = monitor_log_open(&config, &error);

    ck_assert_msg(log != NULL, "%s", error.text);
    return log;
}

static void write_one(struct monitor_log *log, int number)
{
    ck_assert(monitor_log_write(log, json_pack("{s:i}", "n", number)));
}

static void on_line(void *user, const char *text, size_t octets)
{
    (void)user;
    (void)snprintf(read_lines + strlen(read_lines), sizeof(read_lines) - strlen(read_lines), "%.*s;", (int)octets,
                   text);
}

static const char *lines_of(const char *name, uint64_t *bad)
{
    struct iwarp_sentence error;

    read_lines[0] = '\0';
    ck_assert_int_eq(monitor_log_read(name, on_line, NULL, bad, &error), 0);
    return read_lines;
}

static void put(const char *text)
{
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);

    ck_assert_int_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
    (void)close(file);
}

START_TEST(torn_line_of_a_killed_process_is_cut_off)
{
    struct monitor_log *log;
    uint64_t bad;

    put("{\"n\":1}\n{\"n\":");
    ck_assert_str_eq(lines_of(path, &bad), "{\"n\":1};");
    ck_assert_uint_eq(bad, 1);
    log = opened(0);
    write_one(log, 2);
    monitor_log_close(log);
    ck_assert_str_eq(lines_of(path, &bad), "{\"n\":1};{\"type\":\"first\"};{\"n\":2};");
    ck_assert_uint_eq(bad, 0);
    ck_assert_uint_eq(empty_begun, 0);
}
END_TEST

START_TEST(second_process_cannot_write_the_same_log)
{
    struct monitor_log_config config = {.path = path};
    struct monitor_log *log = opened(0);
    struct iwarp_sentence error;

    ck_assert_ptr_null(monitor_log_open(&config, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "another process writes this log"));
    monitor_log_close(log);
}
END_TEST

START_TEST(files_are_shifted_by_size_and_age)
{
    struct monitor_log *log = opened(20);
    struct iwarp_sentence error;
    char older[220];
    uint64_t bad;

    for (int i = 0; i < 4; i++) {
        write_one(log, i);
        write_one(log, i);
        write_one(log, i);
        ck_assert_int_eq(monitor_log_rotate(log, SECOND, &error), 0);
    }
    ck_assert_uint_eq(begun, 5);
    ck_assert_uint_eq(empty_begun, 5);
    (void)snprintf(older, sizeof(older), "%s.2", path);
    ck_assert_str_eq(lines_of(older, &bad), "{\"type\":\"first\"};{\"n\":2};{\"n\":2};{\"n\":2};");
    (void)snprintf(older, sizeof(older), "%s.3", path);
    ck_assert_int_ne(access(older, F_OK), 0); /* two are kept */
    ck_assert_str_eq(lines_of(path, &bad), "{\"type\":\"first\"};");
    ck_assert_int_eq(monitor_log_rotate(log, 99 * SECOND, &error), 0);
    ck_assert_uint_eq(begun, 5);
    ck_assert_int_eq(monitor_log_rotate(log, 101 * SECOND, &error), 0);
    ck_assert_uint_eq(begun, 6);
    monitor_log_close(log);
}
END_TEST

START_TEST(renamed_file_is_opened_anew)
{
    struct monitor_log *log = opened(0);
    struct iwarp_sentence error;
    char older[220];
    uint64_t bad;

    ck_assert_int_eq(monitor_log_reopen(log, &error), 0);
    ck_assert_uint_eq(begun, 1); /* it is still the same */
    (void)snprintf(older, sizeof(older), "%s.old", path);
    ck_assert_int_eq(rename(path, older), 0);
    write_one(log, 1);
    ck_assert_int_eq(monitor_log_reopen(log, &error), 0);
    write_one(log, 2);
    ck_assert_str_eq(lines_of(older, &bad), "{\"type\":\"first\"};{\"n\":1};");
    ck_assert_str_eq(lines_of(path, &bad), "{\"type\":\"first\"};{\"n\":2};");
    monitor_log_close(log);
}
END_TEST

START_TEST(log_of_a_stopped_rotation_is_read_by_its_older_name)
{
    char older[220];
    uint64_t bad;

    ck_assert_str_eq(lines_of(path, &bad), "");
    put("{\"n\":7}\n");
    (void)snprintf(older, sizeof(older), "%s.1", path);
    ck_assert_int_eq(rename(path, older), 0);
    ck_assert_str_eq(lines_of(path, &bad), "{\"n\":7};");
}
END_TEST

START_TEST(full_disk_is_counted_and_not_fatal)
{
    struct monitor_log_config config = {.path = "/dev/full"};
    struct iwarp_sentence why;
    struct monitor_log *log = monitor_log_open(&config, &why);

    ck_assert_msg(log != NULL, "%s", why.text);
    ck_assert(!monitor_log_write(log, json_pack("{s:i}", "n", 1)));
    ck_assert(!monitor_log_write(log, NULL)); /* out of memory */
    ck_assert_uint_eq(monitor_log_lost(log, &why), 2);
    ck_assert_str_eq(why.text, "/dev/full: cannot write: No space left on device");
    ck_assert_uint_eq(monitor_log_lost(log, &why), 0);
    monitor_log_close(log);
}
END_TEST

Suite *monitor_log_suite(void)
{
    Suite *suite = suite_create("monitor_log");
    TCase *cases = tcase_create("monitor_log");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, torn_line_of_a_killed_process_is_cut_off);
    tcase_add_test(cases, second_process_cannot_write_the_same_log);
    tcase_add_test(cases, files_are_shifted_by_size_and_age);
    tcase_add_test(cases, renamed_file_is_opened_anew);
    tcase_add_test(cases, log_of_a_stopped_rotation_is_read_by_its_older_name);
    tcase_add_test(cases, full_disk_is_counted_and_not_fatal);
    suite_add_tcase(suite, cases);
    return suite;
}
