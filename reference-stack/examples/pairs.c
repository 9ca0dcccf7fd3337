/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pairs: three queue pairs in one SCTP association, in UDP datagrams on loopback (RFC 6951), without privileges. One
 * program is both ends here; it prints what happens, and is done when all queue pairs have ended.
 */
#include <iwarp/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAIRS = 3, PORT = 5043, OCTETS = 32 };

static struct iwarp_sentence why;

static void must(bool done)
{
    if (done)
        return;
    (void)fprintf(stderr, "pairs: %s\n", why.text);
    exit(EXIT_FAILURE);
}

int main(void)
{
    struct iwarp_context *context = iwarp_context_new(NULL, &why);
    struct iwarp_cq *cq = iwarp_cq_new(context);
    struct iwarp_sctp_options sctp;
    struct iwarp_qp_options options;
    struct iwarp_qp *first;
    static uint8_t inbox[PAIRS][OCTETS];
    unsigned accepted = 0, received = 0, closed = 0;

    iwarp_sctp_options_default(&sctp, IWARP_SCTP_RFC5043);
    sctp.address = "127.0.0.1";
    sctp.udp_port = sctp.peer_udp_port = (uint16_t)(40000 + getpid() % 20000);
    must(iwarp_context_use_sctp(context, &sctp, &why) == 0);
    printf("ok    SCTP in UDP datagrams of port %s\n",
           iwarp_context_udp_port(context) == sctp.udp_port ? "our choice" : "?");
    iwarp_qp_options_default(&options, cq);
    must(iwarp_listen(context, "127.0.0.1", PORT, &options, &why) != NULL);
    first = iwarp_connect(context, "127.0.0.1", PORT, &options, &why);
    must(first != NULL);
    for (int i = 0; i < PAIRS; i++) {
        struct iwarp_qp *qp = i == 0 ? first : iwarp_connect_same_association(first, &options, &why);
        struct iwarp_send send = {.id = 1, .octets = (const uint8_t *)"in one association", .count = 19};

        must(qp != NULL && iwarp_post_send(qp, &send, &why) == 0);
    }
    while (closed < 2 * PAIRS) {
        struct iwarp_completion completion;
        struct iwarp_qp_event event;

        must(iwarp_context_run(context, -1, &why) >= 0);
        while (iwarp_next_event(context, &event)) {
            if (event.kind == IWARP_QP_ACCEPTED && accepted < PAIRS)
                must(iwarp_post_receive(event.qp, accepted, inbox[accepted], OCTETS, &why) == 0 && ++accepted != 0);
            closed += event.kind == IWARP_QP_CLOSED;
            if (event.kind == IWARP_QP_CONNECT_FAILED || event.kind == IWARP_QP_ERROR) {
                printf("WRONG %s\n", event.detail.text);
                return EXIT_FAILURE;
            }
        }
        while (iwarp_poll_cq(cq, &completion, 1) == 1) {
            received += completion.work == IWARP_WORK_RECEIVE && completion.status == IWARP_STATUS_OK;
            if (completion.work == IWARP_WORK_SEND)
                iwarp_disconnect(completion.qp); /* one session ends; the association ends with the last */
        }
    }
    printf("%-5s %u queue pairs were accepted, %u messages came\n", received == PAIRS ? "ok" : "WRONG", accepted,
           received);
    printf("%-5s \"%s\"\n", strcmp((const char *)inbox[PAIRS - 1], "in one association") == 0 ? "ok" : "WRONG",
           (const char *)inbox[PAIRS - 1]);
    iwarp_context_free(context);
    return EXIT_SUCCESS;
}
