/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_stack [sctp] [SECONDS [ROUNDS [NAME [OCTETS]]]]: the stack against one plain kernel TCP stream on loopback, in
 * the same run (sctp: over libusrsctp in UDP, against plain messages over libusrsctp): two processes each, the same
 * octets in the same messages. Prints for Write, Read and Send of several sizes (CRC on, no Markers) the throughput and
 * its ratio, and for a ping-pong of 64 octets the latency and its ratio; "cpu" is the ratio of processor time for the
 * same work, which a busy machine leaves alone; for what has an aim also where that time goes. Each process runs on a processor of its own, or all on
 * the one that they were started on (taskset -c 0). Then atomics a second, on one stream. A round is both, one right after
 * the other, and the median of the ROUNDS (3) counts; what has an aim gets three times as many. Rounds of one kind are
 * spread over the whole run, as a machine that others use is slow for some seconds, and fast again. The last line is
 * for scripts: "ratios WRITE_64K READ_64K SEND_64K WRITE_1M READ_1M SEND_1M LATENCY".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "iwarp/verbs.h"
#include "tests/bench/plain_sctp.h"
#include "tests/bench/plain_tcp.h"
#include "tests/bench/stack_table.h"

enum {
    SCTP_PORT = 5043,
    REGION = 4 << 20,
    SMALL = 64,
    RECEIVES = 512,
    CREDIT = 128, /* Sends that one answer acknowledges */
    WINDOW = 1 << 20,
    DEPTH = 64,
    READ_DEPTH = 32,
};

static bool sctp;

/* What one run is asked for: sent by the initiator as its Private Data. */
struct order {
    uint32_t kind;
    uint32_t size;
};

/* The responder's region, as Private Data of its Reply. */
struct target {
    uint64_t to;
    uint32_t stag;
};

/* --- The stack --------------------------------------------------------------------------------------------------- */

/* Over SCTP: with the peer's UDP port. */
static struct iwarp_context *context_new(uint16_t port)
{
    struct iwarp_sentence sentence = {""};
    struct iwarp_context *context = iwarp_context_new(NULL, &sentence);
    struct iwarp_sctp_options options;

    iwarp_sctp_options_default(&options, IWARP_SCTP_RFC5043);
    options.address = "127.0.0.1";
    options.udp_port = 0;
    options.peer_udp_port = port;
    if (context == NULL || (sctp && iwarp_context_use_sctp(context, &options, &sentence) != 0))
        die(sentence.text);
    return context;
}

static void run(struct iwarp_context *context)
{
    struct iwarp_sentence sentence = {""};

    if (iwarp_context_run(context, -1, &sentence) < 0)
        die(sentence.text);
}

static void must(int result, const struct iwarp_sentence *sentence)
{
    if (result != 0)
        die(sentence->text);
}

static struct iwarp_cq *cq_new(struct iwarp_context *context)
{
    struct iwarp_cq *cq = iwarp_cq_new(context);

    if (cq == NULL)
        die("out of memory");
    return cq;
}

/* Waits for an event of that kind. */
static void wait_for(struct iwarp_context *context, enum iwarp_qp_event_kind kind, struct iwarp_qp_event *event)
{
    for (;;) {
        while (iwarp_next_event(context, event)) {
            if (event->kind == kind)
                return;
            if (event->kind == IWARP_QP_CONNECT_FAILED || event->kind == IWARP_QP_ERROR)
                die(event->detail.text);
        }
        run(context);
    }
}

static void answer(struct iwarp_qp *qp, const uint8_t *octets, size_t count)
{
    struct iwarp_send send = {.octets = octets, .count = count};
    struct iwarp_sentence sentence = {""};

    must(iwarp_post_send(qp, &send, &sentence), &sentence);
}

/* Echoes pings, acknowledges every CREDIT-th Send, and the end, which is a Send with a Solicited Event. */
static void serve(struct iwarp_context *context, struct iwarp_cq *cq, enum kind kind, uint8_t *memory, size_t size)
{
    struct iwarp_completion done[32];
    struct iwarp_sentence sentence = {""};
    struct iwarp_qp_event event;
    uint64_t received = 0;

    for (;;) {
        size_t count = iwarp_poll_cq(cq, done, 32);

        while (iwarp_next_event(context, &event)) {
        }
        if (count == 0)
            run(context);
        for (size_t i = 0; i < count; i++) {
            if (done[i].status != IWARP_STATUS_OK)
                return;
            if (done[i].work != IWARP_WORK_RECEIVE)
                continue;
            if (kind == PING)
                answer(done[i].qp, done[i].buffer, done[i].octets);
            else if (done[i].solicited || ++received % CREDIT == 0)
                answer(done[i].qp, NULL, 0);
            must(iwarp_post_receive(done[i].qp, done[i].id, memory, size, &sentence), &sentence);
        }
    }
}

static void responder(int report)
{
    struct iwarp_context *context = context_new(0);
    struct iwarp_cq *cq = cq_new(context);
    uint8_t *memory = aligned_alloc(4096, (size_t)RECEIVES * SMALL > REGION ? (size_t)RECEIVES * SMALL : 2 * REGION);
    struct iwarp_qp_options options;
    struct iwarp_qp_event event;
    struct iwarp_listener *listener;
    struct iwarp_sentence sentence = {""};
    struct target target = {0};
    struct order order = {0};
    uint16_t port;
    size_t octets;
    const uint8_t *data;
    struct iwarp_qp *qp;

    (void)prctl(PR_SET_PDEATHSIG, 9);
    pin_process(1);
    memset(memory, 1, 2 * REGION);
    iwarp_qp_options_default(&options, cq);
    options.stream.accept = IWARP_ACCEPT_ASK;
    options.stream.ird = options.stream.ord = READ_DEPTH;
    listener = iwarp_listen(context, "127.0.0.1", sctp ? SCTP_PORT : 0, &options, &sentence);
    if (listener == NULL)
        die(sentence.text);
    port = sctp ? iwarp_context_udp_port(context) : iwarp_listener_port(listener);
    if (write(report, &port, sizeof(port)) != sizeof(port))
        die("pipe");
    wait_for(context, IWARP_QP_CONNECT_REQUEST, &event);
    qp = event.qp;
    data = iwarp_mpa_start_ulp_data(&event.detail.start, &octets);
    if (octets == sizeof(order))
        memcpy(&order, data, sizeof(order));
    must(iwarp_register(context, memory, 2 * REGION, IWARP_REMOTE_READ | IWARP_REMOTE_WRITE | IWARP_REMOTE_ATOMIC,
                        &target.stag, &sentence),
         &sentence);
    target.to = (uint64_t)(uintptr_t)memory;
    for (uint64_t i = 0; i < RECEIVES; i++)
        must(iwarp_post_receive(qp, i, memory, order.size, &sentence), &sentence);
    must(iwarp_accept(qp, &target, sizeof(target), &sentence), &sentence);
    serve(context, cq, order.kind, memory, order.size);
    iwarp_context_free(context);
    exit(0);
}

struct session {
    struct iwarp_context *context;
    struct iwarp_cq *cq;
    struct iwarp_qp *qp;
    uint8_t *memory;
    uint32_t stag; /* own */
    struct target target;
    size_t outstanding, credits, answers;
};

static void post(struct session *session, enum kind kind, size_t size)
{
    size_t at = 0; /* always the same memory, as such benchmarks do: the cache counts for both alike */
    struct iwarp_write write = {
        .octets = session->memory + at, .count = size, .stag = session->target.stag, .to = session->target.to + at};
    struct iwarp_read read = {.sink_stag = session->stag,
                              .sink_to = (uint64_t)(uintptr_t)session->memory + at,
                              .source_stag = session->target.stag,
                              .source_to = session->target.to + at,
                              .count = (uint32_t)size};
    struct iwarp_send send = {.octets = session->memory + at, .count = size};
    struct iwarp_atomic atomic = {
        .operation = IWARP_ATOMIC_FETCH_ADD, .stag = session->target.stag, .to = session->target.to, .data = 1};
    struct iwarp_sentence sentence = {""};

    switch (kind) {
    case WRITE: must(iwarp_post_write(session->qp, &write, &sentence), &sentence); break;
    case ATOMIC: must(iwarp_post_atomic(session->qp, &atomic, &sentence), &sentence); break;
    case READ: must(iwarp_post_read(session->qp, &read, &sentence), &sentence); break;
    default: must(iwarp_post_send(session->qp, &send, &sentence), &sentence); break;
    }
    session->outstanding++;
}

static void take(struct session *session)
{
    struct iwarp_completion done[32];
    struct iwarp_sentence sentence = {""};
    size_t count = iwarp_poll_cq(session->cq, done, 32);

    if (count == 0) {
        run(session->context);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (done[i].status != IWARP_STATUS_OK)
            die("work was flushed");
        if (done[i].work == IWARP_WORK_RECEIVE) {
            session->answers++;
            session->credits += CREDIT;
            must(iwarp_post_receive(session->qp, 0, session->memory + REGION, SMALL, &sentence), &sentence);
        } else {
            session->outstanding--;
        }
    }
}

/* Sets `done` to what was done: octets, or atomics, which have a `size` of 1. */
static double stream(struct session *session, enum kind kind, size_t size, double limit, double *done)
{
    size_t window = kind == READ || kind == ATOMIC ? 2 * READ_DEPTH : DEPTH;
    struct iwarp_send last = {.count = 0, .solicited = true};
    struct iwarp_sentence sentence = {""};
    double began = seconds_now();
    uint64_t n = 0;
    size_t answers;

    if (window * size > 2 * WINDOW)
        window = 2 * WINDOW / size < 4 ? 4 : 2 * WINDOW / size;
    session->credits = RECEIVES - CREDIT;
    while (seconds_now() - began < limit) {
        for (size_t i = 0; i < window; i++) {
            while (session->outstanding >= window || (kind == SEND && session->credits == 0))
                take(session);
            session->credits -= kind == SEND;
            post(session, kind, size);
            n++;
        }
    }
    /* After all that: what was sent is placed, what was asked for has come. */
    answers = session->answers + (kind == SEND ? n / CREDIT - session->answers : 0) + 1;
    must(iwarp_post_send(session->qp, &last, &sentence), &sentence);
    session->outstanding++;
    while (session->outstanding != 0 || session->answers < answers)
        take(session);
    *done = (double)n * (double)size;
    return *done / (seconds_now() - began);
}

static double ping(struct session *session, double limit, double *done)
{
    double began = seconds_now();
    double rounds = 0;

    do {
        /* NOLINTNEXTLINE(cert-flp30-c): rounds are counted as the ratio wants them */
        for (size_t i = 0; i < 100; i++, rounds++) {
            size_t before = session->answers;

            post(session, SEND, SMALL);
            while (session->answers == before)
                take(session);
        }
    } while (seconds_now() - began < limit);
    *done = rounds;
    return rounds / (seconds_now() - began);
}

static struct result stack(enum kind kind, size_t size, double limit)
{
    struct order order = {kind, (uint32_t)size};
    struct session session = {0};
    struct iwarp_qp_options options;
    struct iwarp_qp_event event;
    struct iwarp_sentence sentence = {""};
    struct usage before = usage_now();
    double rate, done;
    size_t octets;
    const uint8_t *data;
    uint16_t port;
    pid_t child;
    int ends[2];

    if (pipe(ends) != 0 || (child = fork()) < 0)
        die("no process");
    if (child == 0)
        responder(ends[1]);
    if (read(ends[0], &port, sizeof(port)) != sizeof(port))
        die("the responder did not start");
    session.context = context_new(port);
    session.cq = cq_new(session.context);
    session.memory = aligned_alloc(4096, 2 * REGION);
    memset(session.memory, 2, 2 * REGION);
    must(iwarp_register(session.context, session.memory, 2 * REGION, IWARP_LOCAL_WRITE, &session.stag, &sentence),
         &sentence);
    iwarp_qp_options_default(&options, session.cq);
    options.stream.ird = options.stream.ord = READ_DEPTH;
    memcpy(options.stream.private_data, &order, sizeof(order));
    options.stream.private_octets = sizeof(order);
    session.qp = iwarp_connect(session.context, "127.0.0.1", sctp ? SCTP_PORT : port, &options, &sentence);
    if (session.qp == NULL)
        die(sentence.text);
    for (size_t i = 0; i < 16; i++)
        must(iwarp_post_receive(session.qp, 0, session.memory + REGION, SMALL, &sentence), &sentence);
    wait_for(session.context, IWARP_QP_ESTABLISHED, &event);
    data = iwarp_mpa_start_ulp_data(&event.detail.start, &octets);
    if (octets != sizeof(session.target))
        die("the responder did not tell its region");
    memcpy(&session.target, data, sizeof(session.target));
    rate = kind == PING ? ping(&session, limit, &done) : stream(&session, kind, size, limit, &done);
    iwarp_context_free(session.context);
    free(session.memory);
    close(ends[0]);
    close(ends[1]);
    (void)waitpid(child, NULL, 0);
    return (struct result){rate, usage_each(&before, done)};
}

/* In a process of its own, as libusrsctp has one stack in a process, which its end ends. */
static struct result over_sctp(bool plain, enum kind kind, size_t size, double limit)
{
    struct result result;
    int ends[2];
    pid_t child;

    if (pipe(ends) != 0 || (child = fork()) < 0)
        die("no process");
    if (child == 0) {
        result = plain ? plain_sctp(kind == PING, size, limit) : stack(kind, size, limit);
        _exit(write(ends[1], &result, sizeof(result)) == sizeof(result) ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    (void)close(ends[1]);
    if (read(ends[0], &result, sizeof(result)) != sizeof(result) || waitpid(child, NULL, 0) != child)
        die("a run over SCTP has failed");
    (void)close(ends[0]);
    return result;
}

static struct result run_one(bool plain, enum kind kind, size_t size, double limit)
{
    if (sctp)
        return over_sctp(plain, kind, size, limit);
    return plain ? plain_tcp(kind == PING, size, limit) : stack(kind, size, limit);
}

int main(int argc, char **argv)
{
    sctp = argc > 1 && strcmp(argv[1], "sctp") == 0;
    if (sctp && !plain_sctp_there())
        die("this build has no libusrsctp");
    pin_process(0);
    stack_table(argc - sctp, argv + sctp, sctp ? "usrsctp" : "TCP", run_one);
    return EXIT_SUCCESS;
}
