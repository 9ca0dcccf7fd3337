/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections that break under a program which knows nothing of SIGPIPE: it lives, and so do its other connections. */
#include <arpa/inet.h>
#include <check.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/verbs_talk.h"
#include "wire/fpdu.h"
#include "wire/mpa.h"

Suite *verbs_broken_suite(void);

enum { MUCH = 16 << 20 };

static struct verbs_talk talk;
static struct iwarp_qp *other[2]; /* the connection that nobody breaks */
static uint8_t payload[MUCH];

static void mask_of(sigset_t *mask)
{
    ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, NULL, mask), 0);
}

static void opened(void)
{
    sigset_t mask;

    mask_of(&mask);
    ck_assert_int_eq(sigismember(&mask, SIGPIPE), 0);
    ck_assert_ptr_eq(signal(SIGPIPE, SIG_DFL), SIG_DFL);
    verbs_talk_begin(&talk);
    verbs_talk_open(&talk);
    memcpy(other, talk.qp, sizeof(other));
    talk.qp[0] = NULL;
}

/* The signal is as it was: not held back, none waiting; and the other connection goes on. */
static void closed(void)
{
    uint8_t in[16] = {0};
    sigset_t mask;

    mask_of(&mask);
    ck_assert_int_eq(sigismember(&mask, SIGPIPE), 0);
    ck_assert_int_eq(sigpending(&mask), 0);
    ck_assert_int_eq(sigismember(&mask, SIGPIPE), 0);
    talk.completion_count = 0;
    ck_assert_int_eq(iwarp_post_receive(other[0], 1001, in, 16, NULL), 0);
    ck_assert_int_eq(iwarp_post_send(other[1],
                                     &(struct iwarp_send){.id = 1002, .octets = (const uint8_t *)"alive", .count = 6},
                                     NULL),
                     0);
    verbs_talk_completions(&talk, 2);
    ck_assert_str_eq((const char *)in, "alive");
    verbs_talk_end(&talk);
}

/* An initiator by hand: established, and its first FPDU has come, so that the queue pair may send. */
static int by_hand(void)
{
    static const uint8_t write[14] = {0xC1, 0x40};
    struct iwarp_mpa_start start = {
        .kind = IWARP_MPA_REQUEST, .revision = 2, .enhanced = true, .crc = true, .ird = 4, .ord = 4};
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(iwarp_listener_port(talk.listener))};
    struct fpdu_framing framing = {false, true, 0};
    uint8_t octets[MPA_START_MAX];
    int fd = socket(AF_INET, SOCK_STREAM, 0), small = 4096;
    size_t count = mpa_start_pack(&start, octets, sizeof(octets));

    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&name, sizeof(name)), 0);
    ck_assert_int_eq(send(fd, octets, count, MSG_NOSIGNAL), (ssize_t)count);
    while (talk.qp[0] == NULL)
        verbs_talk_turn(&talk, 100);
    (void)verbs_talk_await(&talk, talk.qp[0], IWARP_QP_ESTABLISHED);
    count = fpdu_pack(write, sizeof(write), &framing, octets, sizeof(octets));
    ck_assert_int_eq(send(fd, octets, count, MSG_NOSIGNAL), (ssize_t)count);
    while (iwarp_stream_state(iwarp_qp_stream(talk.qp[0])) != IWARP_STATE_OPERATION)
        verbs_talk_turn(&talk, 100);
    return fd;
}

static void reset(int fd)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};

    ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)), 0);
    ck_assert_int_eq(close(fd), 0);
}

/* Until the kernel knows of the RST; the loop is not asked. */
static void until_reset(struct iwarp_qp *qp)
{
    struct pollfd loop = {.fd = iwarp_context_fd(talk.context), .events = POLLIN};

    ck_assert_int_eq(poll(&loop, 1, 20000), 1);
    ck_assert_ptr_nonnull(iwarp_qp_stream(qp));
}

/* The first octets that are sent after the peer's RST. */
START_TEST(send_behind_a_reset)
{
    opened();
    reset(by_hand());
    until_reset(talk.qp[0]);
    for (uint64_t i = 0; i < 3; i++) {
        ck_assert_int_eq(
            iwarp_post_send(talk.qp[0], &(struct iwarp_send){.id = i, .octets = payload, .count = 10}, NULL), 0);
        if (_i == 0)
            (void)iwarp_poll_cq(talk.cq, talk.completions, 0); /* goes out here... */
    }
    (void)verbs_talk_await(&talk, talk.qp[0], IWARP_QP_ERROR); /* ...or here */
    (void)verbs_talk_await(&talk, talk.qp[0], IWARP_QP_CLOSED);
    verbs_talk_completions(&talk, 3);
    closed();
}
END_TEST

/* What the peer said before it broke the connection is reported: here its Terminate. */
START_TEST(terminate_before_a_reset)
{
    static const uint8_t terminate[] = {0x41, 0x47, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0};
    struct fpdu_framing framing = {false, true, 0};
    uint8_t octets[64];
    size_t count;
    int fd;

    opened();
    fd = by_hand();
    count = fpdu_pack(terminate, sizeof(terminate), &framing, octets, sizeof(octets));
    ck_assert_int_eq(send(fd, octets, count, MSG_NOSIGNAL), (ssize_t)count);
    reset(fd);
    until_reset(talk.qp[0]);
    ck_assert_int_eq(iwarp_post_send(talk.qp[0], &(struct iwarp_send){.id = 1}, NULL), 0);
    (void)iwarp_poll_cq(talk.cq, talk.completions, 0);
    (void)verbs_talk_await(&talk, talk.qp[0], IWARP_QP_CLOSED);
    ck_assert_ptr_nonnull(verbs_talk_event(&talk, talk.qp[0], IWARP_QP_TERMINATED));
    closed();
}
END_TEST

/* Much is still to be written when the peer ends: by RST, by FIN and RST, by RST after a FIN that was reported. */
START_TEST(peer_may_end_with_much_unsent)
{
    int fd;

    opened();
    fd = by_hand();
    ck_assert_int_eq(
        iwarp_post_write(talk.qp[0], &(struct iwarp_write){.id = 1, .octets = payload, .count = MUCH}, NULL), 0);
    verbs_talk_turn(&talk, 10);
    ck_assert_uint_eq(talk.completion_count, 0);
    if (_i != 0)
        ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
    if (_i == 2)
        for (int i = 0; i < 3; i++)
            verbs_talk_turn(&talk, 10);
    reset(fd);
    (void)verbs_talk_await(&talk, talk.qp[0], IWARP_QP_CLOSED);
    verbs_talk_completions(&talk, 1);
    ck_assert_int_eq(talk.completions[0].status, IWARP_STATUS_FLUSHED);
    closed();
}
END_TEST

/* A program that holds the signal back itself, and has one waiting, finds both so afterwards. */
START_TEST(signal_mask_of_the_program_is_kept)
{
    sigset_t set, pending;
    int fd;

    opened();
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGPIPE);
    ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
    if (_i != 0)
        ck_assert_int_eq(raise(SIGPIPE), 0);
    fd = by_hand();
    ck_assert_int_eq(
        iwarp_post_write(talk.qp[0], &(struct iwarp_write){.id = 1, .octets = payload, .count = MUCH}, NULL), 0);
    verbs_talk_turn(&talk, 10);
    ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
    for (int i = 0; i < 3; i++)
        verbs_talk_turn(&talk, 10);
    reset(fd);
    (void)verbs_talk_await(&talk, talk.qp[0], IWARP_QP_CLOSED);
    ck_assert_int_eq(sigpending(&pending), 0);
    ck_assert_int_eq(sigismember(&pending, SIGPIPE), _i);
    mask_of(&pending);
    ck_assert_int_eq(sigismember(&pending, SIGPIPE), 1);
    if (_i != 0)
        ck_assert_int_eq(sigwaitinfo(&set, NULL), SIGPIPE);
    ck_assert_int_eq(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
    closed();
}
END_TEST

Suite *verbs_broken_suite(void)
{
    Suite *suite = suite_create("verbs_broken");
    TCase *tcase = tcase_create("broken connections");

    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, send_behind_a_reset, 0, 2);
    tcase_add_test(tcase, terminate_before_a_reset);
    tcase_add_loop_test(tcase, peer_may_end_with_much_unsent, 0, 3);
    tcase_add_loop_test(tcase, signal_mask_of_the_program_is_kept, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite;
}
