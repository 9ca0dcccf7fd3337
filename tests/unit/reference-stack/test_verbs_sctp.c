/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs over SCTP in UDP datagrams on loopback (iwarp/verbs.h). Skipped where the build has no libusrsctp. */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "iwarp/verbs.h"
#include "reference-stack/transport/user_sctp.h"
#include "tests/unit/suites.h"

Suite *verbs_sctp_suite(void);

enum { BULK = 200000, PAIRS = 40, PORT = 5043 };

static struct talk {
    struct iwarp_context *context;
    struct iwarp_cq *cq;
    struct iwarp_qp_options options;
    struct iwarp_listener *listener;
    struct iwarp_qp *accepted[PAIRS];
    size_t accepted_count, counts[IWARP_QP_COMPLETION + 1];
    size_t done[IWARP_WORK_IMMEDIATE + 1], flushed;
    char why[128]; /* of the last CONNECT_FAILED or ERROR */
    uint8_t text[PAIRS][16];
    struct iwarp_sentence sentence;
} talk;

static uint8_t source[BULK], sink[BULK], copy[BULK];

/* The same, with a UDP port of its own, so that nothing on this machine is in the way. */
static void begin(enum iwarp_sctp_profile profile)
{
    struct iwarp_sctp_options sctp;

    memset(&talk, 0, sizeof(talk));
    talk.context = iwarp_context_new(NULL, &talk.sentence);
    talk.cq = iwarp_cq_new(talk.context);
    ck_assert_ptr_nonnull(talk.cq);
    iwarp_sctp_options_default(&sctp, profile);
    sctp.address = "127.0.0.1";
    ck_assert_uint_eq(sctp.udp_port, 9899);
    sctp.udp_port = (uint16_t)(20000 + (unsigned)getpid() % 20000);
    sctp.peer_udp_port = sctp.udp_port;
    ck_assert_msg(iwarp_context_use_sctp(talk.context, &sctp, &talk.sentence) == 0, "%s", talk.sentence.text);
    ck_assert_uint_eq(iwarp_context_udp_port(talk.context), sctp.udp_port);
    iwarp_qp_options_default(&talk.options, talk.cq);
    talk.listener = iwarp_listen(talk.context, "127.0.0.1", PORT, &talk.options, &talk.sentence);
    ck_assert_msg(talk.listener != NULL, "%s", talk.sentence.text);
    ck_assert_uint_eq(iwarp_listener_port(talk.listener), PORT);
}

static void collect_events(void)
{
    struct iwarp_completion completion;
    struct iwarp_qp_event event;

    while (iwarp_next_event(talk.context, &event)) {
        talk.counts[event.kind]++;
        if (event.kind == IWARP_QP_CONNECT_FAILED || event.kind == IWARP_QP_ERROR)
            (void)snprintf(talk.why, sizeof(talk.why), "%s", event.detail.text);
        if (event.kind != IWARP_QP_ACCEPTED)
            continue;
        ck_assert_ptr_eq(event.listener, talk.listener);
        ck_assert_uint_lt(talk.accepted_count, PAIRS);
        (void)iwarp_post_receive(event.qp, 1, talk.text[talk.accepted_count], sizeof(talk.text[0]), NULL);
        talk.accepted[talk.accepted_count++] = event.qp;
    }
    while (iwarp_poll_cq(talk.cq, &completion, 1) == 1) {
        if (completion.status == IWARP_STATUS_OK)
            talk.done[completion.work]++;
        else
            talk.flushed++;
    }
}

static void run_until(const size_t *count, size_t wanted)
{
    for (unsigned i = 0; i < 1000 && *count < wanted; i++) {
        ck_assert_int_ge(iwarp_context_run(talk.context, 1000, &talk.sentence), 0);
        collect_events();
    }
    ck_assert_uint_eq(*count, wanted);
}

static struct iwarp_qp *connects(void)
{
    struct iwarp_qp *qp = iwarp_connect(talk.context, "127.0.0.1", PORT, &talk.options, &talk.sentence);

    ck_assert_msg(qp != NULL, "%s", talk.sentence.text);
    return qp;
}

/* Work that is posted before there is an association, on many queue pairs in one. */
static void exchange(enum iwarp_sctp_profile profile)
{
    struct iwarp_write write = {.octets = source, .count = BULK};
    struct iwarp_read read = {.count = BULK};
    struct iwarp_send send = {.octets = (const uint8_t *)"hello", .count = 6};
    struct iwarp_qp *qps[PAIRS];
    char address[IWARP_ADDRESS_OCTETS];
    uint16_t port = 0;

    begin(profile);
    for (size_t i = 0; i < BULK; i++)
        source[i] = (uint8_t)(i * 7);
    ck_assert_int_eq(iwarp_register(talk.context, sink, BULK, 12, &write.stag, NULL), 0);
    ck_assert_int_eq(iwarp_register(talk.context, copy, BULK, IWARP_LOCAL_WRITE, &read.sink_stag, NULL), 0);
    write.to = read.source_to = (uint64_t)(uintptr_t)sink;
    read.sink_to = (uint64_t)(uintptr_t)copy;
    read.source_stag = write.stag;
    for (size_t i = 0; i < PAIRS; i++) {
        qps[i] = i == 0 ? connects() : iwarp_connect_same_association(qps[0], &talk.options, &talk.sentence);
        ck_assert_msg(qps[i] != NULL, "%s", talk.sentence.text);
        ck_assert_int_eq(iwarp_post_send(qps[i], &send, NULL), 0);
    }
    ck_assert_int_eq(iwarp_post_write(qps[0], &write, NULL), 0);
    ck_assert_int_eq(iwarp_post_read(qps[0], &read, NULL), 0);
    run_until(&talk.done[IWARP_WORK_RECEIVE], PAIRS);
    run_until(&talk.done[IWARP_WORK_READ], 1);
    ck_assert_mem_eq(sink, source, BULK);
    ck_assert_mem_eq(copy, source, BULK);
    for (size_t i = 0; i < PAIRS; i++)
        ck_assert_str_eq((const char *)talk.text[i], "hello");
    ck_assert_int_eq(iwarp_sctp_stream_sid(iwarp_qp_stream(qps[PAIRS - 1])), PAIRS - 1);
    ck_assert_int_eq(iwarp_qp_peer(qps[PAIRS - 1], address, &port, NULL), 0);
    ck_assert_str_eq(address, "127.0.0.1");
    ck_assert_uint_eq(port, iwarp_context_udp_port(talk.context));
    /* One ends, by the program or by an error; the others do not. */
    iwarp_qp_free(qps[1]);
    write.stag = 77;
    ck_assert_int_eq(iwarp_post_write(qps[2], &write, NULL), 0);
    run_until(&talk.counts[IWARP_QP_TERMINATED], 1);
    ck_assert_int_eq(iwarp_post_receive(talk.accepted[0], 2, talk.text[0], sizeof(talk.text[0]), NULL), 0);
    ck_assert_int_eq(iwarp_post_send(qps[0], &send, NULL), 0);
    run_until(&talk.done[IWARP_WORK_RECEIVE], PAIRS + 1);
    for (size_t i = 3; i < PAIRS; i++)
        iwarp_disconnect(qps[i]);
    iwarp_disconnect(qps[0]);
    run_until(&talk.counts[IWARP_QP_CLOSED], 2 * PAIRS - 1); /* all but the one that was freed */
    ck_assert_ptr_null(iwarp_connect_same_association(qps[0], &talk.options, &talk.sentence));
    ck_assert_ptr_nonnull(strstr(talk.sentence.text, "has ended"));
    iwarp_context_free(talk.context);
}

START_TEST(many_in_one_association)
{
    exchange(IWARP_SCTP_RFC5043);
}
END_TEST

START_TEST(asked_and_rejected)
{
    struct iwarp_qp_event event;
    struct iwarp_qp *qp;

    begin(IWARP_SCTP_RFC5043);
    iwarp_listener_free(talk.listener);
    talk.options.stream.accept = IWARP_ACCEPT_ASK;
    talk.listener = iwarp_listen(talk.context, "127.0.0.1", PORT, &talk.options, &talk.sentence);
    ck_assert_ptr_nonnull(talk.listener);
    qp = connects();
    run_until(&talk.counts[IWARP_QP_CONNECT_REQUEST], 1);
    ck_assert_int_eq(iwarp_reject(talk.accepted[0], "no", 2, &talk.sentence), 0);
    run_until(&talk.counts[IWARP_QP_REJECTED], 1);
    run_until(&talk.counts[IWARP_QP_CLOSED], 2);
    iwarp_qp_free(qp);
    qp = connects();
    run_until(&talk.counts[IWARP_QP_CONNECT_REQUEST], 2);
    ck_assert_int_eq(iwarp_accept(talk.accepted[1], "yes", 3, &talk.sentence), 0);
    run_until(&talk.counts[IWARP_QP_ESTABLISHED], 2);
    iwarp_qp_free(qp);
    run_until(&talk.counts[IWARP_QP_CLOSED], 3);
    while (iwarp_next_event(talk.context, &event)) {
    }
    iwarp_context_free(talk.context);
}
END_TEST

START_TEST(sctp_connect_without_listener_ends)
{
    struct iwarp_sctp_options sctp;
    struct iwarp_qp *qp;

    begin(IWARP_SCTP_RFC5043);
    qp = iwarp_connect(talk.context, "127.0.0.1", PORT + 1, &talk.options, &talk.sentence);
    ck_assert_ptr_nonnull(qp);
    iwarp_disconnect(qp); /* before there is anything to end */
    iwarp_qp_free(qp);
    ck_assert_ptr_null(iwarp_connect(talk.context, "localhost", PORT, &talk.options, &talk.sentence));
    ck_assert_ptr_null(iwarp_attach(talk.context, 0, IWARP_RESPONDER, NULL, 0, &talk.options, &talk.sentence));
    ck_assert_ptr_null(iwarp_listen(talk.context, "127.0.0.1", PORT, &talk.options, &talk.sentence));
    ck_assert_ptr_null(iwarp_connect_same_association(NULL, &talk.options, &talk.sentence));
    iwarp_sctp_options_default(&sctp, IWARP_SCTP_RFC5043);
    ck_assert_int_eq(iwarp_context_use_sctp(talk.context, &sctp, &talk.sentence), -1);
    ck_assert_int_eq(iwarp_context_use_sctp(NULL, &sctp, &talk.sentence), -1);
    iwarp_context_free(talk.context);
    talk.context = iwarp_context_new(NULL, &talk.sentence);
    sctp.association.streams = 0;
    ck_assert_int_eq(iwarp_context_use_sctp(talk.context, &sctp, &talk.sentence), -1);
    sctp.association.streams = 1;
    sctp.address = "nowhere";
    ck_assert_int_eq(iwarp_context_use_sctp(talk.context, &sctp, &talk.sentence), -1);
    ck_assert_uint_eq(iwarp_context_udp_port(talk.context), 0);
    iwarp_context_free(talk.context);
}
END_TEST

START_TEST(many_of_the_draft)
{
    exchange(IWARP_SCTP_DRAFT02);
}
END_TEST

/* More queue pairs than the association has streams; and a context that goes with all that is open. */
START_TEST(no_stream_is_free)
{
    struct iwarp_qp *first, *more;

    begin(IWARP_SCTP_RFC5043);
    first = connects();
    run_until(&talk.counts[IWARP_QP_ESTABLISHED], 2);
    for (unsigned i = 1; i < 65; i++) {
        more = iwarp_connect_same_association(first, &talk.options, &talk.sentence);
        ck_assert_ptr_nonnull(more);
    }
    run_until(&talk.counts[IWARP_QP_CONNECT_FAILED], 1);
    ck_assert_ptr_nonnull(strstr(talk.why, "no stream of the association is free"));
    iwarp_context_free(talk.context);
}
END_TEST

Suite *verbs_sctp_suite(void)
{
    Suite *suite = suite_create("verbs_sctp");
    TCase *tcase = tcase_create("usrsctp");
    struct iwarp_sentence sentence = {""};

    suite_add_tcase(suite, tcase);
    tcase_set_timeout(tcase, 120);
    if (user_sctp_start(&sentence) != 0) {
        fprintf(stderr, "SKIP verbs_sctp: %s\n", sentence.text);
        return suite;
    }
    user_sctp_stop();
    tcase_add_test(tcase, many_in_one_association);
    tcase_add_test(tcase, many_of_the_draft);
    tcase_add_test(tcase, asked_and_rejected);
    tcase_add_test(tcase, sctp_connect_without_listener_ends);
    tcase_add_test(tcase, no_stream_is_free);
    return suite;
}
