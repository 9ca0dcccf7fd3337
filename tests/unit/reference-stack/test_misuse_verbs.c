/* SPDX-License-Identifier: BSD-2-Clause */
/* Misuse of iwarp/verbs.h: an answer each, while another connection of the same context goes on. */
#include <check.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/misuse.h"
#include "tests/unit/verbs_talk.h"

Suite *misuse_verbs_suite(void);

static struct verbs_talk talk;
static struct iwarp_qp *other[2]; /* the connection that nobody misuses */
static const uint8_t octets[16] = "fifteen octets!";

static void opened(void)
{
    verbs_talk_begin(&talk);
    verbs_talk_open(&talk);
    memcpy(other, talk.qp, sizeof(other));
    verbs_talk_open(&talk);
}

/* A message each way over a connection. */
static void goes_on(struct iwarp_qp *const qp[2])
{
    for (int i = 1; i >= 0; i--) {
        uint8_t in[16] = {0};

        talk.completion_count = 0;
        ck_assert_int_eq(iwarp_post_receive(qp[1 - i], 1001, in, 16, &talk.why), 0);
        ck_assert_int_eq(iwarp_post_send(qp[i], &(struct iwarp_send){.id = 1002, .octets = octets, .count = 16}, NULL),
                         0);
        verbs_talk_completions(&talk, 2);
        ck_assert_int_eq(verbs_talk_completion(&talk, 1001)->status, IWARP_STATUS_OK);
        ck_assert_int_eq(verbs_talk_completion(&talk, 1002)->status, IWARP_STATUS_OK);
        ck_assert_mem_eq(in, octets, 16);
    }
}

static void closed(void)
{
    goes_on(other);
    verbs_talk_end(&talk);
}

START_TEST(nothing_at_all)
{
    struct iwarp_completion completion;
    struct iwarp_qp_options options;
    struct iwarp_qp_event event;
    uint32_t stag = 7;
    uint8_t in[8];

    iwarp_context_free(NULL);
    iwarp_cq_free(NULL);
    iwarp_srq_free(NULL);
    iwarp_listener_free(NULL);
    iwarp_qp_free(NULL);
    iwarp_cq_arm(NULL, true);
    iwarp_disconnect(NULL);
    iwarp_qp_set_user(NULL, in);
    iwarp_qp_options_default(NULL, NULL);
    iwarp_qp_options_default(&options, NULL);
    ck_assert_ptr_null(iwarp_context_device(NULL));
    REFUSED("context_run: expected a context", iwarp_context_run(NULL, 0, why));
    REFUSED("context_run: expected a context", iwarp_context_run(NULL, -1, why));
    ck_assert_int_eq(iwarp_context_fd(NULL), -1);
    ck_assert_int_eq(iwarp_context_timeout(NULL), -1);
    REFUSED("register: expected a context", iwarp_register(NULL, in, sizeof(in), 31, &stag, why));
    ck_assert_uint_eq(stag, 7);
    ck_assert_ptr_null(iwarp_cq_new(NULL));
    ck_assert_ptr_null(iwarp_srq_new(NULL));
    ck_assert_uint_eq(iwarp_poll_cq(NULL, &completion, 1), 0);
    ck_assert_uint_eq(iwarp_srq_count(NULL), 0);
    REFUSED("srq_post: expected a shared receive queue", iwarp_srq_post(NULL, 1, in, 8, why));
    ABSENT("a context and options", iwarp_listen(NULL, "127.0.0.1", 0, &options, why));
    ABSENT("a context and options", iwarp_connect(NULL, "127.0.0.1", 1, &options, why));
    ABSENT("a context and options", iwarp_attach(NULL, 0, IWARP_INITIATOR, NULL, 0, &options, why));
    ck_assert_uint_eq(iwarp_listener_port(NULL), 0);
    REFUSED("accept: expected a queue pair", iwarp_accept(NULL, NULL, 0, why));
    REFUSED("reject: expected a queue pair", iwarp_reject(NULL, NULL, 0, why));
    REFUSED("post_receive: expected a queue pair", iwarp_post_receive(NULL, 1, in, 8, why));
    REFUSED("post_send: expected a queue pair", iwarp_post_send(NULL, &(struct iwarp_send){.id = 1}, why));
    REFUSED("post_write: expected a queue pair", iwarp_post_write(NULL, &(struct iwarp_write){.id = 1}, why));
    REFUSED("post_read: expected a queue pair", iwarp_post_read(NULL, &(struct iwarp_read){.id = 1}, why));
    REFUSED("post_atomic: expected a queue pair", iwarp_post_atomic(NULL, &(struct iwarp_atomic){.id = 1}, why));
    REFUSED("post_immediate: expected a queue pair",
            iwarp_post_immediate(NULL, &(struct iwarp_immediate){.id = 1}, why));
    ck_assert_ptr_null(iwarp_qp_user(NULL));
    ck_assert_ptr_null(iwarp_qp_stream(NULL));
    ck_assert(!iwarp_next_event(NULL, &event));
}
END_TEST

START_TEST(missing_argument_of_a_verb_is_refused)
{
    struct iwarp_completion completion;
    uint8_t in[8];

    opened();
    REFUSED("a place for the STag", iwarp_register(talk.context, in, sizeof(in), 31, NULL, why));
    REFUSED("none were given", iwarp_register(talk.context, NULL, 1, 31, &(uint32_t){0}, why));
    ck_assert_uint_eq(iwarp_region_count(iwarp_context_device(talk.context)), 0);
    ABSENT("a context and options", iwarp_listen(talk.context, "127.0.0.1", 0, NULL, why));
    ABSENT("a context and options", iwarp_connect(talk.context, "127.0.0.1", 1, NULL, why));
    ABSENT("a context and options", iwarp_attach(talk.context, 0, IWARP_INITIATOR, NULL, 0, NULL, why));
    ABSENT("no numeric address", iwarp_listen(talk.context, NULL, 0, &talk.options[0], why));
    ABSENT("no numeric address", iwarp_connect(talk.context, NULL, 1, &talk.options[1], why));
    REFUSED("a Send, got NULL", iwarp_post_send(talk.qp[1], NULL, why));
    REFUSED("a Write, got NULL", iwarp_post_write(talk.qp[1], NULL, why));
    REFUSED("a Read, got NULL", iwarp_post_read(talk.qp[1], NULL, why));
    REFUSED("an atomic, got NULL", iwarp_post_atomic(talk.qp[1], NULL, why));
    REFUSED("Immediate Data, got NULL", iwarp_post_immediate(talk.qp[1], NULL, why));
    REFUSED("without a buffer", iwarp_post_receive(talk.qp[1], 1, NULL, 8, why));
    /* What waits stays for who has room for it. */
    ck_assert_int_eq(iwarp_post_write(talk.qp[1], &(struct iwarp_write){.id = 5}, NULL), 0);
    talk.qp[1] = NULL;
    while (iwarp_context_run(talk.context, 100, NULL) == 0) {
    }
    ck_assert(!iwarp_next_event(talk.context, NULL));
    ck_assert_uint_eq(iwarp_poll_cq(talk.cq, NULL, 8), 0);
    ck_assert_uint_eq(iwarp_poll_cq(talk.cq, &completion, 0), 0);
    ck_assert_uint_eq(iwarp_poll_cq(talk.cq, &completion, 8), 1);
    ck_assert_uint_eq(completion.id, 5);
    closed();
}
END_TEST

START_TEST(unusable_addresses_are_refused)
{
    static const char *const addresses[] = {"",           "localhost", "127.0.0.1:80", "256.1.1.1", "[::1]",
                                            "127.0.0.1 ", "1.2.3",     ":::",          "%s%n%s%n"};
    char endless[4096];

    opened();
    memset(endless, '1', sizeof(endless));
    endless[sizeof(endless) - 1] = '\0';
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        ABSENT("no numeric address", iwarp_listen(talk.context, addresses[i], 0, &talk.options[0], why));
        ABSENT("no numeric address", iwarp_connect(talk.context, addresses[i], 1, &talk.options[1], why));
    }
    ABSENT("no numeric address", iwarp_listen(talk.context, endless, 0, &talk.options[0], why));
    ABSENT("port 0", iwarp_connect(talk.context, "127.0.0.1", 0, &talk.options[1], why));
    ABSENT("in use",
           iwarp_listen(talk.context, "127.0.0.1", iwarp_listener_port(talk.listener), &talk.options[0], why));
    closed();
}
END_TEST

static void opens_nothing(const struct iwarp_qp_options *options, const char *part)
{
    const char *address = "127.0.0.1";

    ABSENT(part, iwarp_listen(talk.context, address, 0, options, why));
    ABSENT(part, iwarp_connect(talk.context, address, iwarp_listener_port(talk.listener), options, why));
    ABSENT(part, iwarp_attach(talk.context, -1, IWARP_RESPONDER, NULL, 0, options, why));
}

/* Said when it is asked for, not to each connection that then comes. */
START_TEST(impossible_options_are_refused_at_once)
{
    struct iwarp_context *far = iwarp_context_new(NULL, NULL);
    struct iwarp_qp_options options;

    opened();
    options = talk.options[0];
    options.send_cq = NULL;
    opens_nothing(&options, "send_cq and receive_cq were expected");
    options = talk.options[0];
    options.receive_cq = NULL;
    opens_nothing(&options, "send_cq and receive_cq were expected");
    options.receive_cq = iwarp_cq_new(far);
    opens_nothing(&options, "of its own context");
    options = talk.options[0];
    options.srq = iwarp_srq_new(far);
    opens_nothing(&options, "of its own context");
    options = talk.options[0];
    options.stream.private_octets = IWARP_MPA_PRIVATE_DATA_MAX + 1;
    opens_nothing(&options, "at most 508 fit");
    options.stream.private_octets = UINT16_MAX;
    opens_nothing(&options, "at most 508 fit");
    options = talk.options[0];
    options.stream.ird = 129;
    opens_nothing(&options, "the device has 128");
    options.stream.ird = UINT16_MAX;
    opens_nothing(&options, "14 bits");
    options = talk.options[0];
    options.stream.ord = 129;
    opens_nothing(&options, "the device has 128");
    options = talk.options[0];
    options.stream.revision = 3;
    opens_nothing(&options, "revision 3");
    options = talk.options[0];
    options.stream.accept = (enum iwarp_accept_policy)3;
    opens_nothing(&options, "accept 3");
    options = talk.options[0];
    options.stream.extensions = (enum iwarp_extensions)3;
    opens_nothing(&options, "extensions 3");
    options = talk.options[0];
    options.stream.rtr = 0x80000000;
    opens_nothing(&options, "RTR messages 0x80000000");
    ABSENT("role 9", iwarp_attach(talk.context, -1, (enum iwarp_role)9, NULL, 0, &talk.options[0], why));
    iwarp_context_free(far);
    closed();
}
END_TEST

/* Queues that were freed, and are still there as long as somebody uses them. */
START_TEST(freed_queues_last_as_long_as_their_users)
{
    struct iwarp_qp_options options;
    struct iwarp_cq *freed;
    struct iwarp_srq *freed_too;
    struct iwarp_qp *holder;

    opened();
    options = talk.options[0];
    options.send_cq = freed = iwarp_cq_new(talk.context);
    options.srq = freed_too = iwarp_srq_new(talk.context);
    holder = iwarp_connect(talk.context, "127.0.0.1", iwarp_listener_port(talk.listener), &options, NULL);
    ck_assert_ptr_nonnull(holder);
    iwarp_cq_free(freed);
    opens_nothing(&options, "were freed");
    iwarp_cq_free(freed);
    options.send_cq = talk.cq;
    iwarp_srq_free(freed_too);
    opens_nothing(&options, "were freed");
    REFUSED("it was freed", iwarp_srq_post(freed_too, 1, NULL, 0, why));
    iwarp_srq_free(freed_too);
    iwarp_qp_free(holder);
    closed();
}
END_TEST

/* A socket that belongs to a queue pair, or is none. */
START_TEST(bad_socket_is_not_attached)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = 0};
    int fd = socket(AF_INET, SOCK_STREAM, 0), inside[2];
    struct iwarp_qp *qp;

    opened();
    ck_assert_int_eq(pipe(inside), 0);
    ABSENT("no connected TCP socket",
           iwarp_attach(talk.context, inside[0], IWARP_INITIATOR, NULL, 0, &talk.options[1], why));
    ABSENT("no connected TCP socket",
           iwarp_attach(talk.context, INT32_MAX, IWARP_INITIATOR, NULL, 0, &talk.options[1], why));
    ABSENT("no connected TCP socket", iwarp_attach(talk.context, fd, IWARP_INITIATOR, NULL, 0, &talk.options[1], why));
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    name.sin_port = htons(iwarp_listener_port(talk.listener));
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&name, sizeof(name)), 0);
    ABSENT("5 octets were read, but none",
           iwarp_attach(talk.context, fd, IWARP_INITIATOR, NULL, 5, &talk.options[1], why));
    qp = iwarp_attach(talk.context, fd, IWARP_INITIATOR, NULL, 0, &talk.options[1], &talk.why);
    ck_assert_msg(qp != NULL, "%s", talk.why.text);
    ABSENT("no connected TCP socket", iwarp_attach(talk.context, fd, IWARP_INITIATOR, NULL, 0, &talk.options[1], why));
    (void)verbs_talk_await(&talk, qp, IWARP_QP_ESTABLISHED);
    (void)close(inside[0]);
    (void)close(inside[1]);
    closed();
}
END_TEST

START_TEST(impossible_work_of_a_verb_is_refused)
{
    struct iwarp_device *device;
    uint64_t memory[8] = {0};
    uint32_t stag = 0, readable = 0;
    struct iwarp_read read = {.count = 64};

    opened();
    device = iwarp_context_device(talk.context);
    REFUSED("access 0x20", iwarp_register(talk.context, memory, sizeof(memory), 0x20, &stag, why));
    REFUSED("more than memory", iwarp_register(talk.context, memory, SIZE_MAX, 1, &stag, why));
    ck_assert_int_eq(iwarp_register(talk.context, memory, sizeof(memory), 31, &stag, NULL), 0);
    ck_assert_int_eq(iwarp_register(talk.context, memory, sizeof(memory), IWARP_REMOTE_READ, &readable, NULL), 0);
    REFUSED("without a buffer", iwarp_post_receive(talk.qp[1], 1, NULL, SIZE_MAX, why));
    REFUSED("none were given", iwarp_post_write(talk.qp[1], &(struct iwarp_write){.count = 9, .stag = stag}, why));
    REFUSED("none were given", iwarp_post_send(talk.qp[1], &(struct iwarp_send){.count = 9}, why));
#if SIZE_MAX > UINT32_MAX /* else no count exceeds it */
    REFUSED("at most 2^32 - 1",
            iwarp_post_write(talk.qp[1], &(struct iwarp_write){.octets = octets, .count = SIZE_MAX}, why));
#endif
    REFUSED("exceeds 2^64",
            iwarp_post_write(talk.qp[1], &(struct iwarp_write){.octets = octets, .count = 16, .to = UINT64_MAX}, why));
    REFUSED("opcode 7", iwarp_post_send(talk.qp[1], &(struct iwarp_send){.opcode = 7}, why));
    REFUSED("is not a region that can be written", iwarp_post_read(talk.qp[1], &read, why));
    read.sink_stag = readable;
    REFUSED("is not a region that can be written", iwarp_post_read(talk.qp[1], &read, why));
    read.sink_stag = stag;
    read.sink_to = (uint64_t)(uintptr_t)memory + 1;
    REFUSED("do not lie in", iwarp_post_read(talk.qp[1], &read, why));
    ck_assert_int_eq(iwarp_region_deregister(device, readable, NULL), 0);
    REFUSED("no STag", iwarp_region_deregister(device, readable, why));
    ck_assert_int_eq(iwarp_region_deregister(device, stag, NULL), 0);
    read.sink_to = (uint64_t)(uintptr_t)memory;
    REFUSED("is not a region that can be written", iwarp_post_read(talk.qp[1], &read, why));
    for (unsigned operation = 1; operation < 16; operation += 14)
        REFUSED("is not supported",
                iwarp_post_atomic(talk.qp[1], &(struct iwarp_atomic){.operation = (enum iwarp_atomic_opcode)operation},
                                  why));
    REFUSED("no Request waits", iwarp_accept(talk.qp[0], NULL, 0, why));
    REFUSED("no Request waits", iwarp_reject(talk.qp[1], octets, 3, why));
    goes_on(talk.qp);
    closed();
}
END_TEST

/* What is wrong for the peer's memory only the peer can see: this stream ends, its neighbour does not. */
START_TEST(wrong_for_the_peer)
{
    static uint64_t memory[8];
    struct iwarp_atomic atomic = {.id = 1, .operation = IWARP_ATOMIC_FETCH_ADD, .data = 1};
    uint32_t stag = 0;

    opened();
    ck_assert_int_eq(iwarp_register(talk.context, memory, sizeof(memory), _i == 0 ? 31 : 15, &stag, NULL), 0);
    atomic.stag = _i == 2 ? stag ^ 1 : stag;
    atomic.to = (uint64_t)(uintptr_t)memory + (_i == 0 ? 4 : 0);
    ck_assert_int_eq(iwarp_post_atomic(talk.qp[1], &atomic, NULL), 0);
    (void)verbs_talk_await(&talk, talk.qp[1], IWARP_QP_CLOSED);
    ck_assert_ptr_nonnull(verbs_talk_event(&talk, talk.qp[1], IWARP_QP_TERMINATED));
    ck_assert_int_eq(verbs_talk_completion(&talk, 1)->status, IWARP_STATUS_FLUSHED);
    for (size_t i = 0; i < 8; i++)
        ck_assert_uint_eq(memory[i], 0);
    closed();
}
END_TEST

START_TEST(bad_decision_of_a_verb_is_refused)
{
    static const uint8_t much[IWARP_MPA_PRIVATE_DATA_MAX + 1] = {7};

    opened();
    iwarp_listener_free(talk.listener);
    talk.listener = NULL;
    talk.options[0].stream.accept = IWARP_ACCEPT_ASK;
    talk.event_count = 0;
    verbs_talk_connect(&talk);
    (void)verbs_talk_await(&talk, NULL, IWARP_QP_CONNECT_REQUEST);
    REFUSED("at most 508 fit", iwarp_accept(talk.qp[0], much, sizeof(much), why));
    REFUSED("at most 508 fit", iwarp_reject(talk.qp[0], much, SIZE_MAX, why));
    REFUSED("none given", iwarp_accept(talk.qp[0], NULL, 1, why));
    REFUSED("no Request waits", iwarp_accept(talk.qp[1], NULL, 0, why));
    ck_assert_int_eq(iwarp_accept(talk.qp[0], much, 508, NULL), 0);
    REFUSED("no Request waits", iwarp_accept(talk.qp[0], NULL, 0, why));
    (void)verbs_talk_await(&talk, talk.qp[1], IWARP_QP_ESTABLISHED);
    goes_on((struct iwarp_qp *const[]){talk.qp[0], talk.qp[1]});
    closed();
}
END_TEST

/* Every verb on a queue pair that has ended, and on one that is about to. */
START_TEST(ended_queue_pair_accepts_nothing)
{
    uint8_t in[16];

    opened();
    iwarp_disconnect(talk.qp[1]);
    for (int round = 0; round < 2; round++) {
        const char *part = round == 0 ? "the stream is ending" : "it has ended";
        struct iwarp_qp *qp = talk.qp[1];

        REFUSED(part, iwarp_post_receive(qp, 1, in, 16, why));
        REFUSED(part, iwarp_post_send(qp, &(struct iwarp_send){.id = 1}, why));
        REFUSED(part, iwarp_post_write(qp, &(struct iwarp_write){.id = 1}, why));
        REFUSED(part, iwarp_post_read(qp, &(struct iwarp_read){.id = 1}, why));
        REFUSED(part, iwarp_post_atomic(qp, &(struct iwarp_atomic){.operation = IWARP_ATOMIC_FETCH_ADD}, why));
        REFUSED(part, iwarp_post_immediate(qp, &(struct iwarp_immediate){.id = 1}, why));
        REFUSED(round == 0 ? "no Request waits" : part, iwarp_accept(qp, NULL, 0, why));
        REFUSED(round == 0 ? "no Request waits" : part, iwarp_reject(qp, NULL, 0, why));
        iwarp_disconnect(qp);
        (void)verbs_talk_await(&talk, qp, IWARP_QP_CLOSED);
    }
    ck_assert_ptr_null(iwarp_qp_stream(talk.qp[1]));
    ck_assert_ptr_null(iwarp_stream_counters(iwarp_qp_stream(talk.qp[1])));
    ck_assert_uint_eq(talk.completion_count, 0);
    (void)verbs_talk_await(&talk, talk.qp[0], IWARP_QP_CLOSED);
    closed();
}
END_TEST

/*
 * Freed while in use: the context's device and queues stay until nobody needs them; nothing points to a freed listener.
 */
START_TEST(freed_in_use)
{
    struct iwarp_qp_event event;
    uint16_t port;

    opened();
    iwarp_device_free(iwarp_context_device(talk.context));
    iwarp_device_free(iwarp_context_device(talk.context));
    goes_on(talk.qp);
    port = iwarp_listener_port(talk.listener);
    ck_assert_ptr_nonnull(iwarp_connect(talk.context, "127.0.0.1", port, &talk.options[1], NULL));
    do
        ck_assert_int_eq(iwarp_context_run(talk.context, 10000, NULL), 1);
    while (iwarp_context_timeout(talk.context) != 0);
    iwarp_listener_free(talk.listener);
    talk.listener = NULL;
    ck_assert(iwarp_next_event(talk.context, &event));
    ck_assert_int_eq(event.kind, IWARP_QP_ACCEPTED);
    ck_assert_ptr_null(event.listener);
    closed();
}
END_TEST

/* A context that goes with completions and events that nobody has taken. */
START_TEST(context_is_freed_with_completions_waiting)
{
    opened();
    iwarp_cq_arm(talk.cq, false);
    for (uint64_t i = 0; i < 5; i++)
        ck_assert_int_eq(iwarp_post_write(talk.qp[1], &(struct iwarp_write){.id = i}, NULL), 0);
    iwarp_disconnect(other[1]);
    ck_assert_int_eq(iwarp_context_run(talk.context, 1000, NULL), 1);
    ck_assert_int_eq(iwarp_context_run(talk.context, 0, NULL), 1);
    verbs_talk_end(&talk);
}
END_TEST

/* To wait without limit for what cannot come. */
START_TEST(waiting_for_nothing)
{
    verbs_talk_begin(&talk);
    REFUSED("no event can come", iwarp_context_run(talk.context, -1, why));
    REFUSED("no event can come", iwarp_context_run(talk.context, INT32_MIN, why));
    ck_assert_int_eq(iwarp_context_run(talk.context, 0, NULL), 0);
    ck_assert_int_eq(iwarp_context_run(talk.context, 1, NULL), 0);
    verbs_talk_open(&talk);
    iwarp_listener_free(talk.listener);
    iwarp_disconnect(talk.qp[1]);
    for (int i = 0; i < 2; i++)
        (void)verbs_talk_await(&talk, talk.qp[i], IWARP_QP_CLOSED);
    REFUSED("no event can come", iwarp_context_run(talk.context, -1, why));
    iwarp_qp_free(talk.qp[0]);
    iwarp_qp_free(talk.qp[1]);
    REFUSED("no event can come", iwarp_context_run(talk.context, -1, why));
    talk.listener = NULL;
    talk.event_count = 0;
    verbs_talk_open(&talk);
    memcpy(other, talk.qp, sizeof(other));
    closed();
}
END_TEST

Suite *misuse_verbs_suite(void)
{
    Suite *suite = suite_create("misuse_verbs");
    TCase *tcase = tcase_create("programs");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, nothing_at_all);
    tcase_add_test(tcase, missing_argument_of_a_verb_is_refused);
    tcase_add_test(tcase, unusable_addresses_are_refused);
    tcase_add_test(tcase, impossible_options_are_refused_at_once);
    tcase_add_test(tcase, freed_queues_last_as_long_as_their_users);
    tcase_add_test(tcase, bad_socket_is_not_attached);
    tcase_add_test(tcase, impossible_work_of_a_verb_is_refused);
    tcase_add_loop_test(tcase, wrong_for_the_peer, 0, 3);
    tcase_add_test(tcase, bad_decision_of_a_verb_is_refused);
    tcase_add_test(tcase, ended_queue_pair_accepts_nothing);
    tcase_add_test(tcase, freed_in_use);
    tcase_add_test(tcase, context_is_freed_with_completions_waiting);
    tcase_add_test(tcase, waiting_for_nothing);
    suite_add_tcase(suite, tcase);
    return suite;
}
