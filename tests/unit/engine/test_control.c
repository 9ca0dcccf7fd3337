/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long an upper tester may take: a process that answers each line so many milliseconds after it has come. And one
 * that demands a token.
 */
#include <arpa/inet.h>
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "conformance/engine/device/control.h"

Suite *control_suite(void);

enum { LARGE = 32 << 20, ANSWER_USUAL = 10000, ANSWER_MILLISECONDS = 300, LATE_MILLISECONDS = 1500 };

static pid_t tester;
static const struct upper_token demanded = {"0123456789abcdef"};

static int reported[2]; /* a pipe: the tester has gone on while it waited */

static void tell(void *context)
{
    (void)context;
    ck_assert_int_eq(write(reported[1], "", 1), 1);
}

/* An upper tester that answers when the tester has gone on three times. */
static void answer_when_reported(int listener)
{
    char octets[1 << 10];
    int from = accept(listener, NULL, NULL);

    if (from < 0 || recv(from, octets, sizeof(octets), 0) <= 0)
        _exit(1);
    for (int i = 0; i < 3; i++)
        if (read(reported[0], octets, 1) != 1)
            _exit(1);
    _exit(send(from, "yes\n", 4, MSG_NOSIGNAL) == 4 ? 0 : 1);
}

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

/* Of three connections the second gets no answer at all: an upper tester that was slow once. */
static void demand_token_late(int listener)
{
    char line[1 << 10];
    int unanswered;

    for (int turn = 0; turn < 2; turn++) {
        int from = accept(listener, NULL, NULL);

        if (from < 0 || recv(from, line, sizeof(line), 0) <= 0 || send(from, "{\"ok\":true}\n", 12, MSG_NOSIGNAL) != 12)
            _exit(1);
        if (turn == 1 && (recv(from, line, sizeof(line), 0) <= 0 || send(from, "yes\n", 4, MSG_NOSIGNAL) != 4))
            _exit(1);
        close(from);
        unanswered = turn == 0 ? accept(listener, NULL, NULL) : -1;
        while (unanswered >= 0 && recv(unanswered, line, sizeof(line), 0) > 0) {
        }
        close(unanswered);
    }
    _exit(0);
}

/* NULL with a sentence: it was not reached, or does not obey. */
static struct control *begin(void (*play)(int), const struct upper_token *token, struct iwarp_sentence *error)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    bool late = play == answer_late || play == demand_token_late;
    struct control_config config = {.answer_ms = late ? ANSWER_MILLISECONDS : 0,
                                    .token = token,
                                    .waiting = play == answer_when_reported ? tell : NULL};
    socklen_t octets = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    ck_assert(listener >= 0 && bind(listener, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(listener, 8) == 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&at, &octets), 0);
    tester = fork();
    ck_assert_int_ge(tester, 0);
    if (tester == 0)
        play(listener);
    close(listener);
    ck_assert_int_eq(net_address_parse(&config.address, "127.0.0.1"), 0);
    config.port = ntohs(at.sin_port);
    return control_new(&config, error);
}

static void end(struct control *control)
{
    control_free(control);
    (void)kill(tester, SIGKILL);
    (void)waitpid(tester, NULL, 0);
}

START_TEST(a_short_request_has_its_time_and_no_more)
{
    struct iwarp_sentence error = {""};
    struct control *control = begin(answer_late, NULL, &error);

    ck_assert_msg(control != NULL, "%s", error.text);
    ck_assert_ptr_null(control_call(control, "x", &error));
    ck_assert_str_eq(error.text, "the upper tester did not answer within 0 s");
    ck_assert_uint_eq(control_losses(control), 1);
    end(control);
}
END_TEST

START_TEST(tester_goes_on_while_an_answer_is_awaited)
{
    struct iwarp_sentence error = {""};
    struct control *control;
    char *answer;

    ck_assert_int_eq(pipe(reported), 0);
    control = begin(answer_when_reported, NULL, &error);
    ck_assert_msg(control != NULL, "%s", error.text);
    answer = control_call(control, "x", &error);
    ck_assert_msg(answer != NULL, "%s", error.text);
    ck_assert_str_eq(answer, "yes");
    free(answer);
    end(control);
    close(reported[0]);
    close(reported[1]);
}
END_TEST

/* 32 MiB: half a minute more, of which a device of one busy CPU needs some. */
START_TEST(a_large_request_has_more)
{
    struct iwarp_sentence error = {""};
    struct control *control = begin(answer_late, NULL, &error);
    char *request = malloc(LARGE + 1), *answer;

    ck_assert_msg(control != NULL, "%s", error.text);
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

/* An upper tester that demands a token and answers one command of each connection. */
static void demand_token(int listener)
{
    bool shown;
    int from;

    while ((from = accept(listener, NULL, NULL)) >= 0) {
        FILE *file = fdopen(from, "r");
        char line[1 << 10];

        if (file == NULL)
            _exit(1);
        setvbuf(file, NULL, _IONBF, 0);
        if (fgets(line, sizeof(line), file) != NULL) {
            char *answer = upper_token_answer(&demanded, line, strlen(line), &shown);

            dprintf(from, "%s\n", answer);
            free(answer);
            if (shown && fgets(line, sizeof(line), file) != NULL)
                dprintf(from, "yes\n");
        }
        fclose(file);
    }
    _exit(0);
}

static void expect_refusal(const struct upper_token *token, const char *part)
{
    struct iwarp_sentence error = {""};
    struct control *control = begin(demand_token, token, &error);
    char *answer = NULL;

    if (control != NULL) /* without a token, only the first command shows that one is demanded */
        answer = control_call(control, "{\"verb\":\"poll\"}", &error);
    ck_assert_msg(answer == NULL || strstr(answer, part) != NULL, "%s", answer);
    ck_assert_msg(answer != NULL || strstr(error.text, part) != NULL, "%s", error.text);
    ck_assert_ptr_null(strchr(error.text, '\n'));
    free(answer);
    end(control);
}

START_TEST(the_token_is_shown_on_each_connection)
{
    struct iwarp_sentence error = {""};
    struct control *control = begin(demand_token, &demanded, &error);
    unsigned answered = 0;

    ck_assert_msg(control != NULL, "%s", error.text);
    for (int turn = 0; turn < 3; turn++) {
        char *answer = control_call(control, "{\"verb\":\"poll\"}", &error);

        /*
         * A connection that has ended since the last command is a loss; the next one is new, and has to show it again.
         */
        if (answer == NULL)
            continue;
        ck_assert_str_eq(answer, "yes");
        free(answer);
        answered++;
    }
    ck_assert_uint_ge(answered, 2);
    end(control);
}
END_TEST

START_TEST(a_token_is_answered_late_once)
{
    struct iwarp_sentence error = {""};
    struct control *control = begin(demand_token_late, &demanded, &error);
    char *answer = NULL;

    ck_assert_msg(control != NULL, "%s", error.text);
    for (int turn = 0; turn < 4 && answer == NULL; turn++)
        answer = control_call(control, "{\"verb\":\"poll\"}", &error);
    ck_assert_msg(answer != NULL, "%s", error.text);
    ck_assert_str_eq(answer, "yes");
    ck_assert_ptr_null(control_gone(control));
    free(answer);
    end(control);
}
END_TEST

START_TEST(another_token_is_refused)
{
    static const struct upper_token other = {"fedcba9876543210"};

    expect_refusal(&other, "the upper tester refuses the token: {\"ok\":false,\"error\":\"this is not the token\"}");
}
END_TEST

START_TEST(no_token_is_refused)
{
    static const struct upper_token none = {""};

    expect_refusal(NULL, "a token was expected");
    expect_refusal(&none, "a token was expected");
}
END_TEST

START_TEST(a_slow_device_has_a_slow_upper_tester)
{
    ck_assert_int_eq(control_answer_ms(0), ANSWER_USUAL);
    ck_assert_int_eq(control_answer_ms(2), ANSWER_USUAL);
    ck_assert_int_gt(control_answer_ms(12), ANSWER_USUAL);
    ck_assert_int_gt(control_answer_ms(600), control_answer_ms(12));
}
END_TEST

Suite *control_suite(void)
{
    Suite *suite = suite_create("control");
    TCase *tests = tcase_create("time"), *tokens = tcase_create("token");

    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_short_request_has_its_time_and_no_more);
    tcase_add_test(tests, tester_goes_on_while_an_answer_is_awaited);
    tcase_add_test(tests, a_large_request_has_more);
    tcase_add_test(tests, a_slow_device_has_a_slow_upper_tester);
    suite_add_tcase(suite, tests);
    tcase_add_test(tokens, the_token_is_shown_on_each_connection);
    tcase_add_test(tokens, a_token_is_answered_late_once);
    tcase_add_test(tokens, another_token_is_refused);
    tcase_add_test(tokens, no_token_is_refused);
    suite_add_tcase(suite, tokens);
    return suite;
}
