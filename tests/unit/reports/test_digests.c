/* SPDX-License-Identifier: BSD-2-Clause */
/* SHA256SUMS: what is in it, and what is seen of a folder that was changed afterwards. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/folder/digests.h"
#include "tests/unit/sample_results.h"

Suite *digests_suite(void);

static char *folder;
static char reported[1000];

static void tell(void *user, const char *name, const char *what)
{
    (void)user;
    (void)snprintf(reported + strlen(reported), sizeof(reported) - strlen(reported), "%s %s\n", name, what);
}

static int verify(struct iwarp_sentence *error)
{
    size_t count = 0;

    reported[0] = '\0';
    return digests_verify(folder, tell, NULL, &count, error);
}

/* A run whose results name evidence/a b.pcapng, and its list. */
static void set_up(void)
{
    struct folder_config config = {.use = FOLDER_AGAIN};
    struct iwarp_sentence error = {""};
    struct folder *held;

    folder = sample_folder();
    sample_results(folder, 1);
    ck_assert_int_eq(mkdir(sample_path(folder, "evidence"), 0777), 0);
    sample_write(sample_path(folder, "evidence/a b.pcapng"), "abc", 3);
    config.path = folder;
    ck_assert_int_eq(folder_claim(&held, &config, &error), 0);
    ck_assert_msg(digests_write(held, &error) == 0, "%s", error.text);
    folder_leave(held);
}

/* The samples' own removal takes files alone. */
static void tear_down(void)
{
    (void)unlink(sample_path(folder, "evidence/a b.pcapng"));
    ck_assert_int_eq(rmdir(sample_path(folder, "evidence")), 0);
    sample_remove(folder);
}

START_TEST(digests_follow_fips_180_2)
{
    /* FIPS 180-2, B.1 */
    static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    char text[DIGEST_TEXT_OCTETS], *list = sample_read(sample_path(folder, DIGESTS_FILE), NULL);

    digest_of_octets("abc", 3, text);
    ck_assert_str_eq(text, abc);
    ck_assert_ptr_nonnull(strstr(list, "  results.jsonl\n"));
    ck_assert_ptr_nonnull(
        strstr(list, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  evidence/a b.pcapng\n"));
    free(list);
}
END_TEST

START_TEST(nothing_was_changed)
{
    struct iwarp_sentence error = {""};
    size_t count = 0;

    ck_assert_msg(digests_verify(folder, tell, NULL, &count, &error) == 0, "%s%s", error.text, reported);
    ck_assert_uint_eq(count, 2);
}
END_TEST

START_TEST(changes_are_reported)
{
    struct iwarp_sentence error = {""};
    char *results;
    size_t size;

    sample_write(sample_path(folder, "evidence/a b.pcapng"), "abd", 3);
    ck_assert_int_eq(verify(&error), DIGESTS_DIFFER);
    ck_assert_str_eq(reported, "evidence/a b.pcapng differs\n");
    ck_assert_int_eq(unlink(sample_path(folder, "evidence/a b.pcapng")), 0);
    ck_assert_int_eq(verify(&error), DIGESTS_DIFFER);
    ck_assert_str_eq(reported, "evidence/a b.pcapng is missing\n");
    ck_assert_int_eq(symlink("/dev/null", sample_path(folder, "evidence/a b.pcapng")), 0);
    ck_assert_int_eq(verify(&error), DIGESTS_DIFFER);
    ck_assert_int_eq(unlink(sample_path(folder, "evidence/a b.pcapng")), 0);
    sample_write(sample_path(folder, "evidence/a b.pcapng"), "abc", 3);
    sample_write(sample_path(folder, "evidence/more.pcapng"), "abc", 3);
    ck_assert_int_eq(verify(&error), DIGESTS_DIFFER);
    ck_assert_str_eq(reported, "evidence/more.pcapng is not in the list\n");
    ck_assert_int_eq(unlink(sample_path(folder, "evidence/more.pcapng")), 0);
    ck_assert_int_eq(verify(&error), 0);

    results = sample_read(sample_path(folder, "results.jsonl"), &size);
    sample_write(sample_path(folder, "results.jsonl"), results, size - 1); /* the last newline */
    free(results);
    ck_assert_int_eq(verify(&error), DIGESTS_DIFFER);
    ck_assert_str_eq(reported, "results.jsonl differs\n");
}
END_TEST

/* Evidence that the results name has to be in the list, whether it is there or not. */
START_TEST(named_evidence_is_listed)
{
    struct iwarp_sentence error = {""};
    char *list = sample_read(sample_path(folder, DIGESTS_FILE), NULL), *line;

    line = strchr(list, '\n') + 1; /* the first is results.jsonl's */
    sample_write(sample_path(folder, DIGESTS_FILE), list, (size_t)(line - list));
    free(list);
    ck_assert_int_eq(unlink(sample_path(folder, "evidence/a b.pcapng")), 0);
    ck_assert_int_eq(verify(&error), DIGESTS_DIFFER);
    ck_assert_str_eq(reported, "evidence/a b.pcapng is not in the list\n");
}
END_TEST

#define DIGEST "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static const char *const no_lists[] = {
    "x",
    DIGEST,
    DIGEST "  ",
    DIGEST "  /etc/passwd\n",
    DIGEST "  evidence/../results.jsonl\n",
    DIGEST "  evidence/\n",
    DIGEST " -results.jsonl\n",
    "Ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  results.jsonl\n",
    DIGEST "  evidence/\xff\n",
};

START_TEST(malformed_list_of_digests_is_refused)
{
    struct iwarp_sentence error = {""};

    sample_write(sample_path(folder, DIGESTS_FILE), no_lists[_i], strlen(no_lists[_i]));
    ck_assert_int_eq(verify(&error), DIGESTS_UNKNOWN);
    ck_assert_ptr_nonnull(strstr(error.text, DIGESTS_FILE ":1: "));
    ck_assert_str_eq(reported, "");
}
END_TEST

START_TEST(without_a_list)
{
    struct iwarp_sentence error = {""};

    ck_assert_int_eq(unlink(sample_path(folder, DIGESTS_FILE)), 0);
    ck_assert_int_eq(verify(&error), DIGESTS_UNKNOWN);
    ck_assert_ptr_nonnull(strstr(error.text, "there is no " DIGESTS_FILE " here"));
}
END_TEST

Suite *digests_suite(void)
{
    Suite *suite = suite_create("digests");
    TCase *tests = tcase_create("digests");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, digests_follow_fips_180_2);
    tcase_add_test(tests, nothing_was_changed);
    tcase_add_test(tests, changes_are_reported);
    tcase_add_test(tests, named_evidence_is_listed);
    tcase_add_loop_test(tests, malformed_list_of_digests_is_refused, 0, (int)(sizeof(no_lists) / sizeof(no_lists[0])));
    tcase_add_test(tests, without_a_list);
    suite_add_tcase(suite, tests);
    return suite;
}
