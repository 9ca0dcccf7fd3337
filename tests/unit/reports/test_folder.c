/* SPDX-License-Identifier: BSD-2-Clause */
/* Output folders: who owns one, what is removed from it, what is never followed; and files that appear whole. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reports/folder/folder.h"
#include "reports/file/save.h"
#include "tests/unit/sample_results.h"

Suite *folder_suite(void);

static int take(struct folder **folder, const char *path, enum folder_use use, struct iwarp_sentence *error)
{
    struct folder_config config = {.path = path, .use = use, .hint = "do something"};

    return folder_claim(folder, &config, error);
}

static bool exists(const char *path)
{
    struct stat status;

    return lstat(path, &status) == 0;
}

static void put(const char *folder, const char *name)
{
    sample_write(sample_path(folder, name), "x", 1);
}

/* Runs a function in a process of its own, which must end with 0. */
static void elsewhere(void (*function)(const char *path), const char *path)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        function(path);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %d", status);
}

static void is_refused(const char *path)
{
    struct iwarp_sentence error = {""};
    struct folder *folder;
    char pid[40];

    (void)snprintf(pid, sizeof(pid), "(process %ld)", (long)getppid());
    for (int use = FOLDER_NEW; use <= FOLDER_AGAIN; use++)
        if (take(&folder, path, (enum folder_use)use, &error) != FOLDER_FAILED || folder != NULL ||
            strstr(error.text, "writes into this folder") == NULL || strstr(error.text, pid) == NULL)
            _exit(1);
}

static void is_taken(const char *path)
{
    struct folder *folder;

    if (take(&folder, path, FOLDER_NEW, NULL) != 0)
        _exit(1);
    /* The lock goes with the process, though it does not leave the folder. */
}

START_TEST(folder_has_one_owner)
{
    char *above = sample_folder();
    const char *path = sample_path(above, "new/folder");
    struct iwarp_sentence error = {""};
    struct folder *folder;

    ck_assert_msg(take(&folder, path, FOLDER_NEW, &error) == 0, "%s", error.text);
    elsewhere(is_refused, path);
    ck_assert(exists(sample_path(path, ".lock")));
    folder_leave(folder);
    ck_assert(!exists(sample_path(path, ".lock")));
    elsewhere(is_taken, path);
    ck_assert(exists(sample_path(path, ".lock"))); /* of a process that did not come to its end */
    ck_assert_msg(take(&folder, path, FOLDER_NEW, &error) == 0, "%s", error.text);
    folder_leave(folder);
    folder_leave(NULL);
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(rmdir(sample_path(above, "new")), 0);
    sample_remove(above);
}
END_TEST

START_TEST(a_new_one_is_empty)
{
    char *path = sample_folder();
    struct iwarp_sentence error = {""};
    struct folder *folder;

    put(path, "e\x1bx");
    ck_assert_int_eq(take(&folder, path, FOLDER_NEW, &error), FOLDER_NOT_EMPTY);
    ck_assert_ptr_nonnull(strstr(error.text, "is not empty (e\xe2\x90\x9bx is there): do something"));
    ck_assert(!exists(sample_path(path, ".lock")));
    ck_assert_int_eq(take(&folder, path, FOLDER_FORCE, &error), 0); /* what is not ours may stay */
    folder_leave(folder);
    ck_assert(exists(sample_path(path, "e\x1bx")));
    sample_remove(path);
    ck_assert_int_eq(take(&folder, "/dev/null/x", FOLDER_NEW, &error), FOLDER_FAILED);
    ck_assert_int_eq(take(&folder, "/nonexistent", FOLDER_AGAIN, &error), FOLDER_FAILED);
}
END_TEST

static const char *const reports[] = {"index.html",    "junit.xml",  "results.tap", "results.sarif",
                                      "results.tap13", "summary.md", "console.txt", "index.html.part"};

static void fill(const char *path)
{
    static const char *const evidence[] = {
        "evidence/MPA-7.1-02.pcapng",   "evidence/MPA-7.1-02-responder.pcapng",
        "evidence/MPA-7.1-02.2.pcapng", "evidence/DDP-7.2-01-initiator.3.0123abcd.pcapng",
        "evidence/mine.pcapng",         "evidence/MPA-7.1-02.txt",
        "evidence/MPA-0-00.pcapng",     "evidence/MPA-7.1-02-both.pcapng"};

    sample_results(path, 1); /* names "evidence/a b.pcapng" */
    ck_assert_int_eq(mkdir(sample_path(path, "evidence"), 0777), 0);
    for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++)
        put(path, reports[i]);
    for (size_t i = 0; i < sizeof(evidence) / sizeof(evidence[0]); i++)
        put(path, evidence[i]);
    put(path, "evidence/a b.pcapng");
    put(path, "mine.txt");
}

START_TEST(force_removes_ours)
{
    static const char *const left[] = {"evidence/mine.pcapng", "evidence/MPA-7.1-02.txt", "evidence/MPA-0-00.pcapng",
                                       "evidence/MPA-7.1-02-both.pcapng", "mine.txt"};
    char *path = sample_folder();
    struct iwarp_sentence error = {""};
    struct folder *folder;

    fill(path);
    ck_assert_msg(take(&folder, path, FOLDER_FORCE, &error) == 0, "%s", error.text);
    folder_leave(folder);
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
        ck_assert_msg(unlink(sample_path(path, left[i])) == 0, "%s is gone", left[i]);
    ck_assert_int_eq(rmdir(sample_path(path, "evidence")), 0); /* nothing else is in it */
    sample_remove(path);
    path = sample_folder();
    fill(path);
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
        ck_assert_int_eq(unlink(sample_path(path, left[i])), 0);
    ck_assert_int_eq(take(&folder, path, FOLDER_FORCE, &error), 0);
    folder_leave(folder);
    ck_assert_int_eq(rmdir(path), 0); /* all of it was ours */
    free(path);
}
END_TEST

START_TEST(resume_removes_reports)
{
    char *path = sample_folder();
    struct iwarp_sentence error = {""};
    struct folder *folder;

    fill(path);
    ck_assert_msg(take(&folder, path, FOLDER_RESUME, &error) == 0, "%s", error.text);
    ck_assert(exists(sample_path(path, "index.html"))); /* nothing goes before it is known that the run can go on */
    ck_assert_msg(folder_clear_reports(folder, &error) == 0, "%s", error.text);
    for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++)
        ck_assert_msg(!exists(sample_path(path, reports[i])), "%s", reports[i]);
    ck_assert(exists(sample_path(path, "results.jsonl")));
    ck_assert(exists(sample_path(path, "evidence/MPA-7.1-02.pcapng")));
    folder_leave(folder);
    char *evidence = strdup(sample_path(path, "evidence"));
    sample_remove(evidence);
    sample_remove(path);
}
END_TEST

/* Links of our names: to a file, to a folder; nothing happens to what they point to. */
START_TEST(links_are_not_followed)
{
    char *path = sample_folder(), *other = sample_folder();
    char *target = strdup(sample_path(other, "MPA-7.1-02.pcapng"));
    struct iwarp_sentence error = {""};
    struct folder *folder;

    put(other, "MPA-7.1-02.pcapng");
    ck_assert_int_eq(symlink(target, sample_path(path, "junit.xml")), 0);
    ck_assert_int_eq(take(&folder, path, FOLDER_FORCE, &error), FOLDER_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "junit.xml: warpcheck did not write this file"));
    ck_assert_int_eq(take(&folder, path, FOLDER_RESUME, &error), 0);
    ck_assert_int_eq(folder_clear_reports(folder, &error), -1);
    folder_leave(folder);
    ck_assert_int_eq(unlink(sample_path(path, "junit.xml")), 0);
    ck_assert_int_eq(symlink(other, sample_path(path, "evidence")), 0);
    ck_assert_int_eq(take(&folder, path, FOLDER_FORCE, &error), FOLDER_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "evidence: warpcheck did not make this folder"));
    ck_assert_int_eq(take(&folder, path, FOLDER_AGAIN, &error), 0);
    ck_assert_int_eq(folder_open_below(folder, "evidence", &error), -1);
    struct place place = folder_place(folder, "index.html");
    ck_assert_int_eq(symlink(target, sample_path(path, "index.html")), 0);
    ck_assert_int_eq(symlink(target, sample_path(path, "index.html.part")), 0);
    ck_assert_int_eq(save_file(&place, "page", 4, &error),
                     -1); /* the part is a link: it stays, and is not written to */
    ck_assert_int_eq(unlink(sample_path(path, "index.html.part")), 0);
    ck_assert_msg(save_file(&place, "page", 4, &error) == 0, "%s", error.text); /* takes the link's place */
    ck_assert_int_eq(unlink(sample_path(path, "index.html")), 0);
    folder_leave(folder);
    ck_assert_int_eq(symlink(target, sample_path(path, ".lock")), 0);
    ck_assert_int_eq(take(&folder, path, FOLDER_AGAIN, &error), FOLDER_FAILED);
    ck_assert_int_eq(unlink(sample_path(path, ".lock")), 0);
    char *text = sample_read(target, NULL);
    ck_assert_str_eq(text, "x");
    free(text);
    free(target);
    ck_assert_int_eq(unlink(sample_path(path, "evidence")), 0);
    sample_remove(path);
    sample_remove(other);
}
END_TEST

/* The folder that was opened is written to, whatever becomes of its path. */
START_TEST(the_held_folder_counts)
{
    char *path = sample_folder(), *other = sample_folder();
    char moved[600];
    struct iwarp_sentence error = {""};
    struct folder *folder;

    ck_assert_int_eq(take(&folder, path, FOLDER_NEW, &error), 0);
    (void)snprintf(moved, sizeof(moved), "%.500s.moved", path);
    ck_assert_int_eq(rename(path, moved), 0);
    ck_assert_int_eq(symlink(other, path), 0);
    struct place place = folder_place(folder, "index.html");
    ck_assert_int_eq(save_file(&place, "page", 4, &error), 0);
    ck_assert(exists(sample_path(moved, "index.html")));
    ck_assert(!exists(sample_path(other, "index.html")));
    folder_leave(folder);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rename(moved, path), 0);
    sample_remove(path);
    sample_remove(other);
}
END_TEST

static void cannot_save(const char *path)
{
    struct place place = place_at(path);
    struct iwarp_sentence error = {""};
    struct save save;

    if (save_begin(&save, &place, &error) == 0 || strstr(error.text, "another process is writing it") == NULL)
        _exit(1);
}

static void dies_while_saving(const char *path)
{
    struct place place = place_at(path);
    struct save save;

    if (save_begin(&save, &place, NULL) != 0 || write(save.fd, "half", 4) != 4)
        _exit(1);
}

START_TEST(files_appear_whole)
{
    char *folder = sample_folder(), *text;
    const char *path = sample_path(folder, "file"), *part = sample_path(folder, "file.part");
    struct place place = place_at(path);
    struct iwarp_sentence error = {""};
    struct save save;

    elsewhere(dies_while_saving, path);
    ck_assert(exists(part) && !exists(path));
    ck_assert_msg(save_begin(&save, &place, &error) == 0, "%s", error.text);
    ck_assert_int_eq(write(save.fd, "whole", 5), 5);
    elsewhere(cannot_save, path);
    ck_assert(!exists(path));
    ck_assert_int_eq(save_end(&save, true, &error), 0);
    ck_assert(exists(path) && !exists(part));
    ck_assert_int_eq(save_begin(&save, &place, &error), 0);
    ck_assert_int_eq(save_end(&save, false, &error), 0);
    text = sample_read(path, NULL);
    ck_assert_str_eq(text, "whole");
    free(text);
    ck_assert_int_eq(save_begin(&save, &place, &error), 0);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkdir(path, 0777), 0); /* cannot be replaced */
    ck_assert_int_eq(save_end(&save, true, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "file: cannot write"));
    ck_assert(!exists(part));
    ck_assert_int_eq(rmdir(path), 0);
    sample_remove(folder);
}
END_TEST

Suite *folder_suite(void)
{
    Suite *suite = suite_create("folder");
    TCase *tests = tcase_create("folder");

    tcase_add_test(tests, folder_has_one_owner);
    tcase_add_test(tests, a_new_one_is_empty);
    tcase_add_test(tests, force_removes_ours);
    tcase_add_test(tests, resume_removes_reports);
    tcase_add_test(tests, links_are_not_followed);
    tcase_add_test(tests, the_held_folder_counts);
    tcase_add_test(tests, files_appear_whole);
    suite_add_tcase(suite, tests);
    return suite;
}
