/* SPDX-License-Identifier: BSD-2-Clause */
/* The API for programs (iwarp/verbs.h): contexts, connections and their ends, and what misuse gets. */
#include <arpa/inet.h>
#include <check.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/verbs_talk.h"

Suite *verbs_suite(void);

static struct verbs_talk talk;

/* A TCP connection to the listener, without any iWARP above it. */
static int plain_connection(uint16_t port)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&name, sizeof(name)), 0);
    return fd;
}

static void listens(void)
{
    talk.listener = iwarp_listen(talk.context, "127.0.0.1", 0, &talk.options[0], &talk.why);
    ck_assert_msg(talk.listener != NULL, "%s", talk.why.text);
}

#define WHY(text_part) ck_assert_msg(strstr(talk.why.text, text_part) != NULL, "'%s'", talk.why.text)

START_TEST(context_without_connections_waits)
{
    struct timespec before, after;

    verbs_talk_begin(&talk);
    ck_assert_ptr_nonnull(iwarp_context_device(talk.context));
    ck_assert_int_ge(iwarp_context_fd(talk.context), 0);
    ck_assert_int_eq(iwarp_context_timeout(talk.context), -1);
    ck_assert_int_eq(iwarp_context_run(talk.context, 0, NULL), 0);
    (void)clock_gettime(CLOCK_MONOTONIC, &before);
    ck_assert_int_eq(iwarp_context_run(talk.context, 30, NULL), 0);
    (void)clock_gettime(CLOCK_MONOTONIC, &after);
    ck_assert_int_ge((after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000, 28);
    verbs_talk_end(&talk);
    iwarp_context_free(NULL);
    iwarp_cq_free(NULL);
    iwarp_srq_free(NULL);
    iwarp_listener_free(NULL);
    iwarp_qp_free(NULL);
}
END_TEST

START_TEST(memory_is_registered_or_refused)
{
    uint8_t octets[64];
    uint32_t stag = 0;
    const struct iwarp_region *region;

    verbs_talk_begin(&talk);
    ck_assert_int_eq(iwarp_register(talk.context, octets, sizeof(octets), IWARP_REMOTE_READ, &stag, &talk.why), 0);
    region = iwarp_region_find(iwarp_context_device(talk.context), stag);
    ck_assert_ptr_nonnull(region);
    ck_assert_uint_eq(region->base, (uint64_t)(uintptr_t)octets);
    ck_assert_uint_eq(region->length, sizeof(octets));
    ck_assert_int_eq(iwarp_register(talk.context, NULL, 1, 0, &stag, &talk.why), -1);
    WHY("none were given");
    ck_assert_int_eq(iwarp_register(talk.context, octets, SIZE_MAX, 0, &stag, &talk.why), -1);
    WHY("more than memory can hold");
    ck_assert_uint_eq(iwarp_region_count(iwarp_context_device(talk.context)), 1);
    verbs_talk_end(&talk);
}
END_TEST

/* A device with a limit of one region: its configuration is obeyed. */
START_TEST(device_configuration_is_obeyed)
{
    struct iwarp_device_config config = {.regions_max = 1};
    uint8_t octets[2];
    uint32_t stag;

    talk.context = iwarp_context_new(&config, &talk.why);
    ck_assert_ptr_nonnull(talk.context);
    ck_assert_int_eq(iwarp_register(talk.context, octets, 1, 0, &stag, &talk.why), 0);
    ck_assert_int_eq(iwarp_register(talk.context, octets + 1, 1, 0, &stag, &talk.why), -1);
    WHY("which is the limit");
    iwarp_context_free(talk.context);
}
END_TEST

START_TEST(bad_listener_is_refused)
{
    struct iwarp_qp_options options;
    struct verbs_talk *other = &(struct verbs_talk){0};

    verbs_talk_begin(&talk);
    verbs_talk_begin(other);
    ck_assert_ptr_null(iwarp_listen(talk.context, "localhost", 0, &talk.options[0], &talk.why));
    WHY("no numeric address");
    ck_assert_ptr_null(iwarp_listen(talk.context, "192.0.2.1", 0, &talk.options[0], &talk.why));
    WHY("cannot be opened");
    iwarp_qp_options_default(&options, NULL);
    ck_assert_ptr_null(iwarp_listen(talk.context, "127.0.0.1", 0, &options, &talk.why));
    WHY("send_cq and receive_cq");
    options.send_cq = talk.cq;
    ck_assert_ptr_null(iwarp_listen(talk.context, "127.0.0.1", 0, &options, &talk.why));
    options.receive_cq = other->cq;
    ck_assert_ptr_null(iwarp_listen(talk.context, "127.0.0.1", 0, &options, &talk.why));
    WHY("of its own context");
    options.receive_cq = talk.cq;
    options.srq = iwarp_srq_new(other->context);
    ck_assert_ptr_null(iwarp_listen(talk.context, "127.0.0.1", 0, &options, &talk.why));
    WHY("of its own context");
    listens();
    ck_assert_uint_ne(iwarp_listener_port(talk.listener), 0);
    ck_assert_ptr_null(
        iwarp_listen(talk.context, "127.0.0.1", iwarp_listener_port(talk.listener), &talk.options[0], &talk.why));
    WHY("in use");
    verbs_talk_end(other);
    verbs_talk_end(&talk);
}
END_TEST

START_TEST(bad_connection_is_refused)
{
    struct iwarp_qp_options options;

    verbs_talk_begin(&talk);
    ck_assert_ptr_null(iwarp_connect(talk.context, "a name", 7174, &talk.options[1], &talk.why));
    WHY("no numeric address");
    iwarp_qp_options_default(&options, NULL);
    ck_assert_ptr_null(iwarp_connect(talk.context, "127.0.0.1", 7174, &options, &talk.why));
    WHY("send_cq and receive_cq");
    talk.options[1].stream.revision = 9;
    ck_assert_ptr_null(iwarp_connect(talk.context, "127.0.0.1", 7174, &talk.options[1], &talk.why));
    WHY("revision 9");
    ck_assert_int_eq(iwarp_context_run(talk.context, 0, NULL), 0);
    verbs_talk_end(&talk);
}
END_TEST

/* Nobody listens: CONNECT_FAILED with the reason, work flushed, CLOSED as the last. */
START_TEST(refused_connection_flushes_and_closes)
{
    uint16_t port;

    verbs_talk_begin(&talk);
    listens();
    port = iwarp_listener_port(talk.listener);
    iwarp_listener_free(talk.listener);
    verbs_talk_turn(&talk, 0);
    talk.qp[1] = iwarp_connect(talk.context, "127.0.0.1", port, &talk.options[1], &talk.why);
    ck_assert_ptr_nonnull(talk.qp[1]);
    ck_assert_int_eq(iwarp_post_send(talk.qp[1], &(struct iwarp_send){.id = 5}, NULL), 0);
    (void)verbs_talk_await(&talk, talk.qp[1], IWARP_QP_CLOSED);
    ck_assert_ptr_nonnull(strstr(verbs_talk_event(&talk, talk.qp[1], IWARP_QP_CONNECT_FAILED)->detail.text, "refused"));
    ck_assert_int_eq(talk.events[talk.event_count - 1].kind, IWARP_QP_CLOSED);
    verbs_talk_completions(&talk, 1);
    ck_assert_int_eq(verbs_talk_completion(&talk, 5)->status, IWARP_STATUS_FLUSHED);
    ck_assert_ptr_null(iwarp_qp_stream(talk.qp[1]));
    verbs_talk_end(&talk);
}
END_TEST

START_TEST(both_ends_report_the_connection)
{
    const struct iwarp_qp_event *event;
    int marks[2] = {0, 1};

    verbs_talk_begin(&talk);
    for (int i = 0; i < 2; i++) {
        talk.options[i].user = &marks[i];
        talk.options[i].stream.private_octets = 2;
        talk.options[i].stream.private_data[0] = (uint8_t)(0xA0 + i);
    }
    talk.options[1].stream.ord = 2;
    verbs_talk_connect(&talk);
    ck_assert_ptr_nonnull(iwarp_qp_stream(talk.qp[1]));
    ck_assert_int_gt(iwarp_context_timeout(talk.context), 0);
    event = verbs_talk_await(&talk, NULL, IWARP_QP_ACCEPTED);
    ck_assert_ptr_eq(event->listener, talk.listener);
    ck_assert_ptr_eq(event->user, &marks[0]);
    for (int i = 0; i < 2; i++) {
        size_t octets;
        const uint8_t *data;

        event = verbs_talk_await(&talk, talk.qp[i], IWARP_QP_ESTABLISHED);
        data = iwarp_mpa_start_ulp_data(&event->detail.start, &octets);
        ck_assert_ptr_eq(event->user, &marks[i]);
        ck_assert_ptr_eq(iwarp_qp_user(talk.qp[i]), &marks[i]);
        ck_assert_uint_eq(octets, 2);
        ck_assert_uint_eq(data[0], 0xA1 - i);
    }
    ck_assert_uint_eq(iwarp_stream_ord(iwarp_qp_stream(talk.qp[1])), 2);
    iwarp_qp_set_user(talk.qp[0], &talk);
    ck_assert_ptr_eq(iwarp_qp_user(talk.qp[0]), &talk);
    verbs_talk_end(&talk);
}
END_TEST

/* The ULP decides: accepts with Private Data of its own, once. */
START_TEST(decided_and_accepted)
{
    static const uint8_t hello[] = {1, 2, 3};
    const struct iwarp_qp_event *event;
    uint8_t much[IWARP_MPA_PRIVATE_DATA_MAX + 1] = {0};
    size_t octets;

    verbs_talk_begin(&talk);
    talk.options[0].stream.accept = IWARP_ACCEPT_ASK;
    talk.options[1].stream.private_octets = 4;
    verbs_talk_connect(&talk);
    event = verbs_talk_await(&talk, NULL, IWARP_QP_CONNECT_REQUEST);
    ck_assert_ptr_eq(event->qp, talk.qp[0]);
    (void)iwarp_mpa_start_ulp_data(&event->detail.start, &octets);
    ck_assert_uint_eq(octets, 4);
    ck_assert_int_eq(iwarp_accept(talk.qp[0], much, sizeof(much), &talk.why), -1);
    WHY("at most 508 fit");
    ck_assert_int_eq(iwarp_accept(talk.qp[1], NULL, 0, &talk.why), -1);
    WHY("no Request waits");
    ck_assert_int_eq(iwarp_accept(talk.qp[0], hello, sizeof(hello), &talk.why), 0);
    event = verbs_talk_await(&talk, talk.qp[1], IWARP_QP_ESTABLISHED);
    ck_assert_mem_eq(iwarp_mpa_start_ulp_data(&event->detail.start, &octets), hello, sizeof(hello));
    ck_assert_uint_eq(octets, sizeof(hello));
    ck_assert_int_eq(iwarp_accept(talk.qp[0], NULL, 0, &talk.why), -1);
    ck_assert_int_eq(iwarp_reject(talk.qp[0], NULL, 0, &talk.why), -1);
    verbs_talk_end(&talk);
}
END_TEST

START_TEST(decided_and_rejected)
{
    const struct iwarp_qp_event *event;
    size_t octets = 0;

    verbs_talk_begin(&talk);
    talk.options[0].stream.accept = IWARP_ACCEPT_ASK;
    verbs_talk_connect(&talk);
    (void)verbs_talk_await(&talk, NULL, IWARP_QP_CONNECT_REQUEST);
    ck_assert_int_eq(iwarp_reject(talk.qp[0], "no", 2, &talk.why), 0);
    event = verbs_talk_await(&talk, talk.qp[1], IWARP_QP_REJECTED);
    ck_assert(event->detail.start.rejected);
    for (int i = 0; i < 2; i++) {
        (void)verbs_talk_await(&talk, talk.qp[i], IWARP_QP_CLOSED);
        ck_assert_ptr_null(verbs_talk_event(&talk, talk.qp[i], IWARP_QP_ESTABLISHED));
        ck_assert_int_eq(iwarp_accept(talk.qp[i], NULL, 0, &talk.why), -1);
        WHY("has ended");
        ck_assert_int_eq(iwarp_reject(talk.qp[i], NULL, 0, &talk.why), -1);
        WHY("has ended");
    }
    /* The streams are gone; what the event names is not. */
    ck_assert_mem_eq(iwarp_mpa_start_ulp_data(&event->detail.start, &octets), "no", 2);
    ck_assert_uint_eq(octets, 2);
    verbs_talk_end(&talk);
}
END_TEST

/* Nothing can be posted on what has ended, and nothing breaks. */
START_TEST(ended_queue_pair_refuses_each_post)
{
    uint8_t octets[8] = {0};
    const struct iwarp_send send = {.octets = octets, .count = 8};
    const struct iwarp_write write = {.octets = octets, .count = 8};
    const struct iwarp_read read = {.count = 0};
    const struct iwarp_atomic atomic = {.operation = IWARP_ATOMIC_FETCH_ADD};
    const struct iwarp_immediate immediate = {.id = 1};

    verbs_talk_begin(&talk);
    verbs_talk_open(&talk);
    iwarp_disconnect(talk.qp[1]);
    iwarp_disconnect(talk.qp[1]);
    ck_assert_int_eq(iwarp_post_send(talk.qp[1], &send, &talk.why), -1);
    WHY("ending");
    for (int i = 0; i < 2; i++) {
        struct iwarp_qp *qp = talk.qp[i];

        (void)verbs_talk_await(&talk, qp, IWARP_QP_CLOSED);
        ck_assert_ptr_null(verbs_talk_event(&talk, qp, IWARP_QP_ERROR));
        ck_assert_ptr_null(iwarp_qp_stream(qp));
        ck_assert_int_eq(iwarp_post_receive(qp, 1, octets, 8, &talk.why), -1);
        WHY("has ended");
        ck_assert_int_eq(iwarp_post_send(qp, &send, NULL), -1);
        ck_assert_int_eq(iwarp_post_write(qp, &write, NULL), -1);
        ck_assert_int_eq(iwarp_post_read(qp, &read, NULL), -1);
        ck_assert_int_eq(iwarp_post_atomic(qp, &atomic, NULL), -1);
        ck_assert_int_eq(iwarp_post_immediate(qp, &immediate, NULL), -1);
        iwarp_disconnect(qp);
        iwarp_qp_free(qp);
    }
    ck_assert_int_eq(iwarp_context_run(talk.context, 0, NULL), 0);
    verbs_talk_end(&talk);
}
END_TEST

START_TEST(impossible_work_of_a_queue_pair_is_refused)
{
    verbs_talk_begin(&talk);
    talk.options[0].stream.extensions = talk.options[1].stream.extensions = IWARP_EXTENSIONS_OFF;
    verbs_talk_open(&talk);
    ck_assert_int_eq(iwarp_post_receive(talk.qp[1], 1, NULL, 8, &talk.why), -1);
    WHY("without a buffer");
    ck_assert_int_eq(iwarp_post_send(talk.qp[1], &(struct iwarp_send){.count = 8}, &talk.why), -1);
    WHY("none were given");
    ck_assert_int_eq(iwarp_post_write(talk.qp[1], &(struct iwarp_write){.count = 8}, &talk.why), -1);
    WHY("none were given");
#if SIZE_MAX > UINT32_MAX /* else no count exceeds it */
    uint8_t octets[8] = {0};

    ck_assert_int_eq(
        iwarp_post_send(talk.qp[1], &(struct iwarp_send){.octets = octets, .count = (size_t)UINT32_MAX + 1}, &talk.why),
        -1);
    WHY("at most 2^32 - 1");
#endif
    ck_assert_int_eq(iwarp_post_read(talk.qp[1], &(struct iwarp_read){.sink_stag = 1, .count = 1}, &talk.why), -1);
    WHY("is not a region");
    ck_assert_int_eq(
        iwarp_post_atomic(talk.qp[1], &(struct iwarp_atomic){.operation = IWARP_ATOMIC_FETCH_ADD}, &talk.why), -1);
    WHY("switched off");
    ck_assert_int_eq(iwarp_post_immediate(talk.qp[1], &(struct iwarp_immediate){.id = 1}, &talk.why), -1);
    WHY("switched off");
    verbs_talk_turn(&talk, 20);
    ck_assert_uint_eq(talk.completion_count, 0);
    ck_assert_int_eq(iwarp_stream_state(iwarp_qp_stream(talk.qp[1])), IWARP_STATE_OPERATION);
    verbs_talk_end(&talk);
}
END_TEST

/* RFC 5041 7.1, 8.2: the Terminate once, reported on both sides, then the end. */
START_TEST(terminate_is_reported_on_both_sides)
{
    static const uint8_t octets[4];
    const struct iwarp_qp_event *event;

    verbs_talk_begin(&talk);
    verbs_talk_open(&talk);
    ck_assert_int_eq(iwarp_post_write(talk.qp[1],
                                      &(struct iwarp_write){.id = 1, .octets = octets, .count = 4, .stag = 0x1234},
                                      NULL),
                     0);
    event = verbs_talk_await(&talk, talk.qp[0], IWARP_QP_ERROR);
    ck_assert_str_eq(event->detail.requirement, "DDP-7.1-10");
    event = verbs_talk_await(&talk, talk.qp[1], IWARP_QP_TERMINATED);
    ck_assert_uint_eq(event->detail.triple, IWARP_TERMINATE_TRIPLE(1, 1, 0));
    ck_assert_uint_gt(event->detail.header_octets, 8);
    for (int i = 0; i < 2; i++)
        (void)verbs_talk_await(&talk, talk.qp[i], IWARP_QP_CLOSED);
    verbs_talk_end(&talk);
}
END_TEST

/* A connection that says nothing is given up when the start-up limit is over. */
START_TEST(silent_connection_is_given_up)
{
    char octet;
    int fd;

    verbs_talk_begin(&talk);
    talk.options[0].stream.startup_limit = talk.options[0].stream.linger_limit = 50 * UINT64_C(1000000);
    listens();
    fd = plain_connection(iwarp_listener_port(talk.listener));
    (void)verbs_talk_await(&talk, NULL, IWARP_QP_ACCEPTED);
    ck_assert_int_le(iwarp_context_timeout(talk.context), 51);
    (void)verbs_talk_await(&talk, talk.qp[0], IWARP_QP_CLOSED);
    ck_assert_ptr_nonnull(verbs_talk_event(&talk, talk.qp[0], IWARP_QP_ERROR));
    ck_assert_int_le(recv(fd, &octet, 1, 0), 0);
    (void)close(fd);
    verbs_talk_end(&talk);
}
END_TEST

/* A RST is reported as CLOSED, with what was posted flushed; the stream beside it goes on. */
START_TEST(reset_connection_flushes_and_closes)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    struct iwarp_qp *victim;
    uint8_t octets[16];
    int fd;

    verbs_talk_begin(&talk);
    verbs_talk_open(&talk);
    talk.event_count = 0;
    fd = plain_connection(iwarp_listener_port(talk.listener));
    victim = verbs_talk_await(&talk, NULL, IWARP_QP_ACCEPTED)->qp;
    ck_assert_int_eq(iwarp_post_receive(victim, 7, octets, sizeof(octets), NULL), 0);
    ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)), 0);
    (void)close(fd);
    (void)verbs_talk_await(&talk, victim, IWARP_QP_CLOSED);
    ck_assert_int_eq(verbs_talk_completion(&talk, 7)->status, IWARP_STATUS_FLUSHED);
    ck_assert_int_eq(verbs_talk_completion(&talk, 7)->work, IWARP_WORK_RECEIVE);
    ck_assert_int_eq(iwarp_post_receive(talk.qp[0], 8, octets, sizeof(octets), NULL), 0);
    ck_assert_int_eq(iwarp_post_send(talk.qp[1], &(struct iwarp_send){.id = 9}, NULL), 0);
    verbs_talk_completions(&talk, 3);
    ck_assert_int_eq(verbs_talk_completion(&talk, 8)->status, IWARP_STATUS_OK);
    verbs_talk_end(&talk);
}
END_TEST

/* A freed listener accepts no connections; those that it accepted stay open. */
START_TEST(freed_listener_leaves_its_connections)
{
    uint16_t port;
    struct iwarp_qp *late;

    verbs_talk_begin(&talk);
    verbs_talk_open(&talk);
    port = iwarp_listener_port(talk.listener);
    iwarp_listener_free(talk.listener);
    verbs_talk_turn(&talk, 0);
    late = iwarp_connect(talk.context, "127.0.0.1", port, &talk.options[1], &talk.why);
    ck_assert_ptr_nonnull(late);
    (void)verbs_talk_await(&talk, late, IWARP_QP_CONNECT_FAILED);
    ck_assert_int_eq(iwarp_post_receive(talk.qp[0], 1, NULL, 0, NULL), 0);
    ck_assert_int_eq(iwarp_post_send(talk.qp[1], &(struct iwarp_send){.id = 2}, NULL), 0);
    verbs_talk_completions(&talk, 2);
    ck_assert_int_eq(verbs_talk_completion(&talk, 1)->status, IWARP_STATUS_OK);
    verbs_talk_end(&talk);
}
END_TEST

/* The descriptor of the loop can be waited for among others. */
START_TEST(waited_for_by_poll)
{
    struct pollfd wait = {.events = POLLIN};
    int fd;

    verbs_talk_begin(&talk);
    listens();
    verbs_talk_turn(&talk, 0);
    wait.fd = iwarp_context_fd(talk.context);
    ck_assert_int_eq(poll(&wait, 1, 0), 0);
    fd = plain_connection(iwarp_listener_port(talk.listener));
    ck_assert_int_eq(poll(&wait, 1, 10000), 1);
    ck_assert_int_eq(iwarp_context_run(talk.context, 0, NULL), 1);
    ck_assert_int_eq(iwarp_context_timeout(talk.context), 0);
    (void)close(fd);
    verbs_talk_end(&talk);
}
END_TEST

/* IPv6, and a context that goes while all kinds of things are open. */
START_TEST(freed_in_the_middle)
{
    struct iwarp_qp_options options;
    int fd;

    verbs_talk_begin(&talk);
    talk.listener = iwarp_listen(talk.context, "::1", 0, &talk.options[0], &talk.why);
    ck_assert_msg(talk.listener != NULL, "%s", talk.why.text);
    options = talk.options[1];
    for (int i = 0; i < 3; i++)
        ck_assert_ptr_nonnull(
            iwarp_connect(talk.context, "::1", iwarp_listener_port(talk.listener), &options, &talk.why));
    (void)verbs_talk_await(&talk, NULL, IWARP_QP_ESTABLISHED);
    ck_assert_ptr_nonnull(iwarp_connect(talk.context, "::1", iwarp_listener_port(talk.listener), &options, &talk.why));
    listens();
    fd = plain_connection(iwarp_listener_port(talk.listener));
    (void)iwarp_srq_new(talk.context);
    verbs_talk_end(&talk);
    (void)close(fd);
}
END_TEST

Suite *verbs_suite(void)
{
    Suite *suite = suite_create("verbs");
    TCase *tcase = tcase_create("contexts and connections");

    tcase_add_test(tcase, context_without_connections_waits);
    tcase_add_test(tcase, memory_is_registered_or_refused);
    tcase_add_test(tcase, device_configuration_is_obeyed);
    tcase_add_test(tcase, bad_listener_is_refused);
    tcase_add_test(tcase, bad_connection_is_refused);
    tcase_add_test(tcase, refused_connection_flushes_and_closes);
    tcase_add_test(tcase, both_ends_report_the_connection);
    tcase_add_test(tcase, decided_and_accepted);
    tcase_add_test(tcase, decided_and_rejected);
    tcase_add_test(tcase, ended_queue_pair_refuses_each_post);
    tcase_add_test(tcase, impossible_work_of_a_queue_pair_is_refused);
    tcase_add_test(tcase, terminate_is_reported_on_both_sides);
    tcase_add_test(tcase, silent_connection_is_given_up);
    tcase_add_test(tcase, reset_connection_flushes_and_closes);
    tcase_add_test(tcase, freed_listener_leaves_its_connections);
    tcase_add_test(tcase, waited_for_by_poll);
    tcase_add_test(tcase, freed_in_the_middle);
    suite_add_tcase(suite, tcase);
    return suite;
}
