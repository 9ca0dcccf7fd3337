/* SPDX-License-Identifier: BSD-2-Clause */
/* As which user root writes files, and what does not change with it. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/engine/process/run_confine.h"
#include "tests/unit/suites.h"

Suite *run_identity_suite(void);

enum { OTHER = 65534, REFUSED = 1, TAKEN_BACK = 2 };

static bool ends_with_parent(void)
{
    int number = 0;

    return prctl(PR_GET_PDEATHSIG, &number) == 0 && number == SIGKILL;
}

/* Its exit status: 0, or what is wrong. */
static int change_user(bool for_good)
{
    const struct run_identity identity = {true, OTHER, OTHER};
    struct iwarp_sentence error = {""};

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (for_good) {
        if (run_identity_become(&identity, &error) != 0 || geteuid() != OTHER)
            return REFUSED;
        return ends_with_parent() ? 0 : TAKEN_BACK;
    }
    if (run_identity_assume(&identity, &error) != 0)
        return REFUSED;
    if (!ends_with_parent())
        return TAKEN_BACK;
    run_identity_resume(&identity);
    return ends_with_parent() ? 0 : TAKEN_BACK;
}

/* The kernel takes the signal of the parent's end back when a process changes its user. */
START_TEST(process_ends_with_its_parent_as_another_user)
{
    pid_t child;
    int status;

    if (geteuid() != 0) {
        fprintf(stderr, "SKIP run_identity: root alone changes its user\n");
        return;
    }
    child = fork();
    if (child == 0)
        _exit(change_user(_i != 0));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == REFUSED)
        fprintf(stderr, "SKIP run_identity: there is no user %d here, as in a user namespace that has one user\n",
                OTHER);
    else
        ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

Suite *run_identity_suite(void)
{
    Suite *suite = suite_create("run_identity");
    TCase *tcase = tcase_create("user");

    tcase_add_loop_test(tcase, process_ends_with_its_parent_as_another_user, 0, 2); /* for a while, for good */
    suite_add_tcase(suite, tcase);
    return suite;
}
