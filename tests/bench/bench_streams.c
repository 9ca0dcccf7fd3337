/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_streams [STREAMS [ROUNDS [sctp]]]: that many streams (10,000) at once in one process over kernel TCP on
 * loopback, or in one association over libusrsctp; their other ends are in a second one. On each, ROUNDS (3) Sends of
 * other octets and lengths go out and come back; every octet is compared. Prints memory per idle stream (without the
 * receive buffers that the ULP posted) and the messages a second. Exit status 1 when anything is lost or wrong.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "iwarp/verbs.h"

enum { MESSAGE = 512, PENDING = 200, SCTP_PORT = 5043 };

struct end {
    struct iwarp_qp *qp;
    uint32_t number;
    size_t received;
    uint8_t out[MESSAGE], in[MESSAGE];
};

struct bench {
    struct iwarp_context *context;
    struct iwarp_cq *cq;
    struct end *ends;
    size_t streams, established, accepted, closed;
    size_t rounds, finished, echoed;
    bool responder, sctp;
};

static void die(const char *what)
{
    (void)fprintf(stderr, "bench_streams: %s\n", what);
    exit(EXIT_FAILURE);
}

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static size_t length_of(const struct end *end, size_t round)
{
    return 1 + (end->number * 7 + round * 131) % MESSAGE;
}

static void fill(const struct end *end, size_t round, uint8_t *octets)
{
    for (size_t i = 0; i < length_of(end, round); i++)
        octets[i] = (uint8_t)(end->number + round * 31 + i * 7);
}

static void post_receive(struct end *end)
{
    struct iwarp_sentence sentence = {""};

    if (iwarp_post_receive(end->qp, 0, end->in, MESSAGE, &sentence) != 0)
        die(sentence.text);
}

static void post_send(struct end *end, size_t octets)
{
    struct iwarp_send send = {.octets = end->out, .count = octets};
    struct iwarp_sentence sentence = {""};

    if (iwarp_post_send(end->qp, &send, &sentence) != 0)
        die(sentence.text);
}

static void collect_events(struct bench *bench)
{
    struct iwarp_qp_event event;
    struct end *end;

    while (iwarp_next_event(bench->context, &event)) {
        switch (event.kind) {
        case IWARP_QP_ACCEPTED:
            if (bench->accepted == bench->streams)
                die("more connections than were opened");
            end = &bench->ends[bench->accepted++];
            end->qp = event.qp;
            iwarp_qp_set_user(event.qp, end);
            post_receive(end);
            break;
        case IWARP_QP_ESTABLISHED: bench->established++; break;
        case IWARP_QP_CLOSED: bench->closed++; break;
        case IWARP_QP_CONNECT_FAILED:
        case IWARP_QP_ERROR:
        case IWARP_QP_TERMINATED: die(event.detail.text); break;
        default: break;
        }
    }
}

static void take_receive(struct bench *bench, const struct iwarp_completion *done)
{
    struct end *end = done->user;
    uint8_t expected[MESSAGE];

    if (bench->responder) {
        bench->echoed++;
        memcpy(end->out, end->in, done->octets);
        post_receive(end);
        post_send(end, done->octets);
        return;
    }
    fill(end, end->received, expected);
    if (done->octets != length_of(end, end->received) || memcmp(expected, end->in, done->octets) != 0)
        die("an echo is not what was sent");
    if (++end->received == bench->rounds) {
        bench->finished++;
        return;
    }
    fill(end, end->received, end->out);
    post_receive(end);
    post_send(end, length_of(end, end->received));
}

static void turn(struct bench *bench, bool closing)
{
    struct iwarp_completion done[64];
    struct iwarp_sentence sentence = {""};
    size_t count;

    if (iwarp_context_run(bench->context, 10000, &sentence) <= 0)
        die("nothing happened for ten seconds");
    collect_events(bench);
    while ((count = iwarp_poll_cq(bench->cq, done, 64)) != 0) {
        for (size_t i = 0; i < count; i++) {
            if (done[i].status != IWARP_STATUS_OK && !closing)
                die("work was flushed");
            if (done[i].work == IWARP_WORK_RECEIVE && done[i].status == IWARP_STATUS_OK)
                take_receive(bench, &done[i]);
        }
    }
}

static size_t heap(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static void open_all(struct bench *bench, uint16_t port, const struct iwarp_qp_options *options)
{
    struct iwarp_sentence sentence = {""};

    for (size_t i = 0; i < bench->streams; i++) {
        struct end *end = &bench->ends[i];

        end->number = (uint32_t)i;
        end->qp = bench->sctp && i != 0 ? iwarp_connect_same_association(bench->ends[0].qp, options, &sentence)
                                        : iwarp_connect(bench->context, "127.0.0.1", port, options, &sentence);
        if (end->qp == NULL)
            die(sentence.text);
        iwarp_qp_set_user(end->qp, end);
        post_receive(end);
        while (i + 1 - bench->established > (bench->sctp && i == 0 ? 0 : PENDING) ||
               (i + 1 == bench->streams && bench->established <= i))
            turn(bench, false);
    }
}

/* Over SCTP `port` is the responder's in UDP too: 0 for itself, which takes any. */
static void setup(struct bench *bench, struct iwarp_qp_options *options, uint16_t port)
{
    struct iwarp_sctp_options sctp;
    struct iwarp_sentence sentence = {""};

    bench->ends = calloc(bench->streams, sizeof(*bench->ends));
    bench->context = iwarp_context_new(NULL, &sentence);
    bench->cq = bench->context == NULL ? NULL : iwarp_cq_new(bench->context);
    if (bench->ends == NULL || bench->cq == NULL)
        die("out of memory");
    if (bench->sctp) {
        iwarp_sctp_options_default(&sctp, IWARP_SCTP_RFC5043);
        sctp.association.streams = (uint16_t)bench->streams;
        sctp.address = "127.0.0.1";
        sctp.udp_port = 0;
        sctp.peer_udp_port = port;
        if (iwarp_context_use_sctp(bench->context, &sctp, &sentence) != 0)
            die(sentence.text);
    }
    iwarp_qp_options_default(options, bench->cq);
}

static void initiate(struct bench *bench, uint16_t port)
{
    struct iwarp_qp_options options;
    double began;

    setup(bench, &options, port);
    began = seconds_now();
    open_all(bench, bench->sctp ? SCTP_PORT : port, &options);
    printf("  %zu streams open in %.2f s\n", bench->streams, seconds_now() - began);
    began = seconds_now();
    for (size_t i = 0; i < bench->streams; i++) {
        fill(&bench->ends[i], 0, bench->ends[i].out);
        post_send(&bench->ends[i], length_of(&bench->ends[i], 0));
    }
    while (bench->finished < bench->streams)
        turn(bench, false);
    printf("  %zu Sends of up to %d octets and their echoes: nothing lost, %.0f messages a second\n",
           bench->streams * bench->rounds, MESSAGE,
           2 * (double)(bench->streams * bench->rounds) / (seconds_now() - began));
    (void)fflush(stdout);
    for (size_t i = 0; i < bench->streams; i++)
        iwarp_disconnect(bench->ends[i].qp);
    while (bench->closed < bench->streams)
        turn(bench, true);
    iwarp_context_free(bench->context);
    free(bench->ends);
}

static void respond(struct bench *bench, int report)
{
    struct iwarp_qp_options options;
    struct iwarp_listener *listener;
    struct iwarp_sentence sentence = {""};
    size_t before;
    uint16_t port;

    setup(bench, &options, 0);
    listener = iwarp_listen(bench->context, "127.0.0.1", bench->sctp ? SCTP_PORT : 0, &options, &sentence);
    if (listener == NULL)
        die(sentence.text);
    port = bench->sctp ? iwarp_context_udp_port(bench->context) : iwarp_listener_port(listener);
    before = heap();
    if (write(report, &port, sizeof(port)) != sizeof(port))
        die("no pipe");
    while (bench->echoed < bench->streams * bench->rounds)
        turn(bench, true);
    printf("  memory per idle stream: %zu octets\n", (heap() - before) / bench->streams);
    while (bench->closed < bench->streams)
        turn(bench, true);
    printf("  all %zu closed in order\n", bench->closed);
    iwarp_context_free(bench->context);
    free(bench->ends);
}

int main(int argc, char **argv)
{
    struct bench bench = {.streams = argc > 1 ? (size_t)atol(argv[1]) : 10000,
                          .rounds = argc > 2 ? (size_t)atol(argv[2]) : 3,
                          .sctp = argc > 3 && strcmp(argv[3], "sctp") == 0};
    struct rlimit files = {0};
    uint16_t port;
    int ends[2];
    int status = 0;
    pid_t child = -1;

    (void)getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_cur < bench.streams + 64)
        die("so many descriptors are not allowed: ulimit -n");
    if (bench.sctp && bench.streams > UINT16_MAX)
        die("an association has no more than 65,535 streams");
    if (bench.streams == 0 || bench.rounds == 0 || pipe(ends) != 0 || (child = fork()) < 0)
        die("it cannot begin");
    if (child == 0) {
        bench.responder = true;
        respond(&bench, ends[1]);
        return EXIT_SUCCESS;
    }
    (void)close(ends[1]);
    if (read(ends[0], &port, sizeof(port)) != sizeof(port))
        die("the responder did not start");
    initiate(&bench, port);
    if (waitpid(child, &status, 0) != child || status != 0)
        die("the responder failed");
    return EXIT_SUCCESS;
}
