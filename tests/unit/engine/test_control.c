/* SPDX-License-Identifier: BSD-2-Clause */
/* How long an upper tester may take: a process that answers each line so many milliseconds after it has come. */
#include <arpa/inet.h>
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "conformance/engine/rig/control.h"

Suite *control_suite(void);

enum { LARGE = 32 << 20, ANSWER_MILLISECONDS = 300, LATE_MILLISECONDS = 1500 };

static pid_t tester;

static void answer_late(int listener)
{
    const struct timespec pause = {LATE_MILLISECONDS / 1000, LATE_MILLISECONDS % 1000 * 1000000};
    static char octets[1 << 16];
    ssize_t got;
    int from;

    while ((from = accept(listener, NULL, NULL)) >= 0) {
        while ((got = recv(from, octets, sizeof(octets), 0)) > 0)
            if (octets[got - 1] == '\n' && (nanosleep(&pause, NULL) != 0 || send(from, "yes\n", 4, MSG_NOSIGNAL) != 4))
                break;
        close(from);
    }
    _exit(0);
}

static struct control *begin(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct control_config config = {.answer_ms = ANSWER_MILLISECONDS};
    socklen_t octets = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sentence error = {""};
    struct control *control;

    ck_assert(listener >= 0 && bind(listener, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(listener, 8) == 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&at, &octets), 0);
    tester = fork();
    ck_assert_int_ge(tester, 0);
    if (tester == 0)
        answer_late(listener);
    close(listener);
    ck_assert_int_eq(net_address_parse(&config.address, "127.0.0.1"), 0);
    config.port = ntohs(at.sin_port);
    control = control_new(&config, &error);
    ck_assert_msg(control != NULL, "%s", error.text);
    return control;
}

static void end(struct control *control)
{
    control_free(control);
    (void)kill(tester, SIGKILL);
    (void)waitpid(tester, NULL, 0);
}

START_TEST(a_short_request_has_its_time_and_no_more)
{
    struct control *control = begin();
    struct sentence error = {""};

    ck_assert_ptr_null(control_call(control, "x", &error));
    ck_assert_str_eq(error.text, "the upper tester did not answer within 0 s");
    ck_assert_uint_eq(control_losses(control), 1);
    end(control);
}
END_TEST

/* 32 MiB: half a minute more, of which a device of one busy CPU needs some. */
START_TEST(a_large_request_has_more)
{
    struct control *control = begin();
    char *request = malloc(LARGE + 1), *answer;
    struct sentence error = {""};

    ck_assert_ptr_nonnull(request);
    memset(request, 'x', LARGE);
    request[LARGE] = '\0';
    answer = control_call(control, request, &error);
    ck_assert_msg(answer != NULL, "%s", error.text);
    ck_assert_str_eq(answer, "yes");
    ck_assert_uint_eq(control_losses(control), 0);
    free(answer);
    free(request);
    end(control);
}
END_TEST

Suite *control_suite(void)
{
    Suite *suite = suite_create("control");
    TCase *tests = tcase_create("time");

    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_short_request_has_its_time_and_no_more);
    tcase_add_test(tests, a_large_request_has_more);
    suite_add_tcase(suite, tests);
    return suite;
}
