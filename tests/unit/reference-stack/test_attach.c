/* SPDX-License-Identifier: BSD-2-Clause */
/* MPA on connections that programs have opened and used themselves (iwarp_attach(), RFC 5044 7.1 and 7.1.5). */
#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/verbs_talk.h"

Suite *attach_suite(void);

static struct verbs_talk talk;

/* A connection on loopback, by the program's own means: [0] accepted, [1] opened. */
static void connect_plainly(int ends[2])
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t octets = sizeof(name);
    int server = socket(AF_INET, SOCK_STREAM, 0);

    ck_assert_int_ge(server, 0);
    ck_assert_int_eq(bind(server, (struct sockaddr *)&name, sizeof(name)), 0);
    ck_assert_int_eq(listen(server, 1), 0);
    ck_assert_int_eq(getsockname(server, (struct sockaddr *)&name, &octets), 0);
    ends[1] = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_ge(ends[1], 0);
    ck_assert_int_eq(connect(ends[1], (struct sockaddr *)&name, sizeof(name)), 0);
    ends[0] = accept(server, NULL, NULL);
    ck_assert_int_ge(ends[0], 0);
    (void)close(server);
}

static void say(int from, int to, const char *text)
{
    char heard[64];

    ck_assert_int_eq(send(from, text, strlen(text), 0), (ssize_t)strlen(text));
    ck_assert_int_eq(recv(to, heard, strlen(text), MSG_WAITALL), (ssize_t)strlen(text));
    ck_assert_int_eq(memcmp(heard, text, strlen(text)), 0);
}

/* Both ends of a connection that has carried messages; with `late` the Request is there before the responder is. */
START_TEST(connection_is_attached_after_other_messages)
{
    uint8_t in[8];
    uint8_t request[256];
    ssize_t read = 0;
    int ends[2];

    verbs_talk_begin(&talk);
    connect_plainly(ends);
    say(ends[1], ends[0], "a message of the program's own");
    say(ends[0], ends[1], "the last one");
    talk.qp[1] = iwarp_attach(talk.context, ends[1], IWARP_INITIATOR, NULL, 0, &talk.options[1], &talk.why);
    ck_assert_msg(talk.qp[1] != NULL, "%s", talk.why.text);
    if (_i != 0) {
        verbs_talk_turn(&talk, 0);
        /* The program has read a part of the Request, as happens where it reads as much as there is. */
        read = recv(ends[0], request, _i == 1 ? 7 : sizeof(request), 0);
        ck_assert_int_gt(read, 0);
    }
    talk.qp[0] =
        iwarp_attach(talk.context, ends[0], IWARP_RESPONDER, request, (size_t)read, &talk.options[0], &talk.why);
    ck_assert_msg(talk.qp[0] != NULL, "%s", talk.why.text);
    ck_assert_int_eq(iwarp_post_receive(talk.qp[0], 1, in, sizeof(in), NULL), 0);
    ck_assert_int_eq(iwarp_post_send(talk.qp[1],
                                     &(struct iwarp_send){.id = 2, .octets = (const uint8_t *)"iwarp", .count = 5},
                                     NULL),
                     0);
    verbs_talk_completions(&talk, 2);
    ck_assert_uint_eq(verbs_talk_completion(&talk, 1)->octets, 5);
    ck_assert_int_eq(memcmp(in, "iwarp", 5), 0);
    ck_assert_ptr_nonnull(verbs_talk_event(&talk, talk.qp[0], IWARP_QP_ESTABLISHED));
    iwarp_disconnect(talk.qp[1]);
    (void)verbs_talk_await(&talk, talk.qp[0], IWARP_QP_CLOSED);
    (void)verbs_talk_await(&talk, talk.qp[1], IWARP_QP_CLOSED);
    verbs_talk_end(&talk);
}
END_TEST

/* What is no connection is refused, and stays the caller's. */
START_TEST(socket_without_a_connection_is_refused)
{
    int pair[2], ends[2];
    int alone = socket(AF_INET, SOCK_STREAM, 0);
    int datagrams = socket(AF_INET, SOCK_DGRAM, 0);

    verbs_talk_begin(&talk);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    for (size_t i = 0; i < 4; i++) {
        int bad = (int[]){alone, pair[0], datagrams, -1}[i];

        talk.why.text[0] = '\0';
        ck_assert_ptr_null(iwarp_attach(talk.context, bad, IWARP_INITIATOR, NULL, 0, &talk.options[1], &talk.why));
        ck_assert_ptr_nonnull(strstr(talk.why.text, "no connected TCP socket"));
    }
    connect_plainly(ends);
    ck_assert_ptr_null(iwarp_attach(talk.context, ends[0], IWARP_RESPONDER, NULL, 5, &talk.options[0], &talk.why));
    ck_assert_ptr_nonnull(strstr(talk.why.text, "none were given"));
    talk.options[0].send_cq = NULL;
    ck_assert_ptr_null(iwarp_attach(talk.context, ends[0], IWARP_RESPONDER, NULL, 0, &talk.options[0], &talk.why));
    verbs_talk_turn(&talk, 0);
    say(ends[0], ends[1], "still open");
    verbs_talk_end(&talk);
    (void)close(ends[0]);
    (void)close(ends[1]);
    (void)close(alone);
    (void)close(datagrams);
    (void)close(pair[0]);
    (void)close(pair[1]);
}
END_TEST

/* The other side is gone, or closes in the middle of start-up. */
START_TEST(other_side_gone)
{
    int ends[2];

    verbs_talk_begin(&talk);
    connect_plainly(ends);
    (void)close(ends[1]);
    talk.qp[0] = iwarp_attach(talk.context, ends[0], IWARP_RESPONDER, NULL, 0, &talk.options[0], &talk.why);
    ck_assert_ptr_nonnull(talk.qp[0]);
    (void)verbs_talk_await(&talk, talk.qp[0], IWARP_QP_ERROR);
    (void)verbs_talk_await(&talk, talk.qp[0], IWARP_QP_CLOSED);
    verbs_talk_end(&talk);
}
END_TEST

Suite *attach_suite(void)
{
    Suite *suite = suite_create("attach");
    TCase *tcase = tcase_create("streaming first");

    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, connection_is_attached_after_other_messages, 0, 3);
    tcase_add_test(tcase, socket_without_a_connection_is_refused);
    tcase_add_test(tcase, other_side_gone);
    suite_add_tcase(suite, tcase);
    return suite;
}
