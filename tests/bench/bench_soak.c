/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_soak [SECONDS]: connections that come and go (600 s) in one process over kernel TCP on loopback: each sends,
 * writes and is echoed, then one in four is reset, the others close in order. Afterwards as much memory and as many
 * descriptors are in use as after the warm-up: exit status 1 when not, or when an octet is wrong.
 */
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "iwarp/verbs.h"

enum { TOGETHER = 32, MESSAGE = 3000, WARM_UP = 20, SLACK = 65536 };

struct soak {
    struct iwarp_context *context;
    struct iwarp_cq *cq;
    struct iwarp_srq *srq;
    struct iwarp_qp *qps[TOGETHER];
    uint8_t in[TOGETHER][MESSAGE], shared[2 * TOGETHER][MESSAGE], out[MESSAGE], region[MESSAGE];
    uint32_t stag;
    size_t echoed, closed;
};

static void die(const char *what)
{
    (void)fprintf(stderr, "bench_soak: %s\n", what);
    exit(EXIT_FAILURE);
}

static void must(int result, const struct iwarp_sentence *sentence)
{
    if (result != 0)
        die(sentence->text);
}

static void take(struct soak *soak)
{
    struct iwarp_completion done;
    struct iwarp_qp_event event;
    struct iwarp_sentence why = {""};

    if (iwarp_context_run(soak->context, 10000, &why) <= 0)
        die("nothing happened for ten seconds");
    while (iwarp_next_event(soak->context, &event)) {
        if (event.kind == IWARP_QP_CLOSED) {
            soak->closed++;
            if (event.user == NULL)
                iwarp_qp_free(event.qp);
        } else if (event.kind == IWARP_QP_CONNECT_FAILED) {
            die(event.detail.text);
        }
    }
    while (iwarp_poll_cq(soak->cq, &done, 1) != 0) {
        struct iwarp_send send = {.id = done.id, .octets = soak->shared[done.id], .count = done.octets};

        if (done.user != NULL) {
            if (done.work == IWARP_WORK_RECEIVE && done.status == IWARP_STATUS_OK) {
                if (done.octets != MESSAGE || memcmp(soak->in[done.id], soak->out, MESSAGE) != 0)
                    die("an echo is not what was sent");
                soak->echoed++;
            }
        } else if (done.work != IWARP_WORK_RECEIVE || done.status != IWARP_STATUS_OK ||
                   iwarp_post_send(done.qp, &send, &why) != 0) {
            must(iwarp_srq_post(soak->srq, done.id, soak->shared[done.id], MESSAGE, &why), &why);
        }
    }
}

static void cycle(struct soak *soak, uint16_t port, const struct iwarp_qp_options *options)
{
    struct iwarp_qp_options own = *options;
    struct iwarp_sentence why = {""};

    own.srq = NULL;
    own.user = soak;
    soak->echoed = soak->closed = 0;
    for (uint64_t i = 0; i < TOGETHER; i++) {
        struct iwarp_send send = {.octets = soak->out, .count = MESSAGE};
        struct iwarp_write write = {.octets = soak->out, .count = MESSAGE, .stag = soak->stag};

        write.to = (uint64_t)(uintptr_t)soak->region;
        soak->qps[i] = iwarp_connect(soak->context, "127.0.0.1", port, &own, &why);
        if (soak->qps[i] == NULL)
            die(why.text);
        must(iwarp_post_receive(soak->qps[i], i, soak->in[i], MESSAGE, &why), &why);
        must(iwarp_post_write(soak->qps[i], &write, &why), &why);
        must(iwarp_post_send(soak->qps[i], &send, &why), &why);
    }
    while (soak->echoed < TOGETHER)
        take(soak);
    if (memcmp(soak->region, soak->out, MESSAGE) != 0)
        die("what was written is not there");
    for (size_t i = 0; i < TOGETHER; i++) {
        if (i % 4 == 0)
            iwarp_qp_free(soak->qps[i]); /* resets it */
        else
            iwarp_disconnect(soak->qps[i]);
    }
    while (soak->closed < TOGETHER + TOGETHER - TOGETHER / 4)
        take(soak);
    for (size_t i = 0; i < TOGETHER; i++)
        if (i % 4 != 0)
            iwarp_qp_free(soak->qps[i]);
}

static size_t descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    size_t count = 0;

    if (folder == NULL)
        die("no /proc");
    while (readdir(folder) != NULL)
        count++;
    (void)closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    long seconds = argc > 1 ? atol(argv[1]) : 600;
    struct soak *soak = calloc(1, sizeof(*soak));
    struct iwarp_qp_options options;
    struct iwarp_listener *listener;
    struct iwarp_sentence why = {""};
    time_t end = time(NULL) + seconds;
    size_t cycles, memory = 0, files = 0;

    if (soak == NULL || (soak->context = iwarp_context_new(NULL, &why)) == NULL ||
        (soak->cq = iwarp_cq_new(soak->context)) == NULL || (soak->srq = iwarp_srq_new(soak->context)) == NULL)
        die("out of memory");
    must(iwarp_register(soak->context, soak->region, MESSAGE, IWARP_REMOTE_WRITE, &soak->stag, &why), &why);
    for (uint64_t i = 0; i < 2 * TOGETHER; i++)
        must(iwarp_srq_post(soak->srq, i, soak->shared[i], MESSAGE, &why), &why);
    iwarp_qp_options_default(&options, soak->cq);
    options.srq = soak->srq;
    listener = iwarp_listen(soak->context, "127.0.0.1", 0, &options, &why);
    if (listener == NULL)
        die(why.text);
    for (cycles = 0; cycles < 2 * WARM_UP || time(NULL) < end; cycles++) {
        for (size_t i = 0; i < MESSAGE; i++)
            soak->out[i] = (uint8_t)(i * 7 + cycles);
        cycle(soak, iwarp_listener_port(listener), &options);
        if (cycles == WARM_UP) {
            memory = mallinfo2().uordblks;
            files = descriptors();
        }
    }
    printf("  %zu connections came and went; memory %zu octets after %d, %zu now; descriptors %zu, %zu now\n",
           cycles * TOGETHER, memory, WARM_UP * TOGETHER, mallinfo2().uordblks, files, descriptors());
    if (mallinfo2().uordblks > memory + SLACK || descriptors() > files + 4)
        die("it has grown");
    iwarp_context_free(soak->context); /* the shared receive queue with it */
    free(soak);
    return EXIT_SUCCESS;
}
