/* SPDX-License-Identifier: BSD-2-Clause */
/* echo PORT: accepts connections and sends each received Send back. Port 0: any; it prints "port N". */
#include <fcntl.h>
#include <iwarp/verbs.h>
#include <stdio.h>
#include <stdlib.h>

enum { RECEIVES = 64, OCTETS = 4096 };

static uint8_t buffers[RECEIVES][OCTETS];

/*
 * A descriptor that was closed is opened the wrong way round: what is written there fails, and no socket takes its
 * place.
 */
static void reserve_standard_descriptors(void)
{
    for (int i = 0; i <= 2; i++)
        if (fcntl(i, F_GETFD) < 0)
            (void)open("/dev/null", i == 0 ? O_WRONLY : O_RDONLY);
}

static int serve(int argc, char **argv)
{
    char *rest = "";
    long port = argc > 1 ? strtol(argv[1], &rest, 10) : 7174;
    struct iwarp_sentence why = {""};
    struct iwarp_context *context = iwarp_context_new(NULL, &why);
    struct iwarp_cq *cq = iwarp_cq_new(context);
    struct iwarp_srq *srq = iwarp_srq_new(context);
    struct iwarp_qp_options options;
    struct iwarp_listener *listener = NULL;
    struct iwarp_completion done;
    struct iwarp_qp_event event;

    iwarp_qp_options_default(&options, cq);
    options.srq = srq; /* any connection takes its receives from here */
    for (uint64_t i = 0; i < RECEIVES; i++)
        (void)iwarp_srq_post(srq, i, buffers[i], OCTETS, &why);
    if (*rest != '\0' || port < 0 || port > UINT16_MAX)
        (void)iwarp_sentence_set(&why, "'%s' is no port, 0 to 65535 was expected", argv[1]);
    else if (context != NULL)
        listener = iwarp_listen(context, "127.0.0.1", (uint16_t)port, &options, &why);
    if (listener != NULL && (printf("port %u\n", iwarp_listener_port(listener)) < 0 || fflush(stdout) != 0)) {
        (void)iwarp_sentence_set(&why, "standard output cannot be written");
        listener = NULL;
    }
    while (listener != NULL && iwarp_context_run(context, -1, &why) >= 0) {
        while (iwarp_poll_cq(cq, &done, 1) != 0) {
            struct iwarp_send send = {.id = done.id, .octets = buffers[done.id], .count = done.octets};

            /* A buffer is sent back, and received into again when it is out or will not go out. */
            if (done.work != IWARP_WORK_RECEIVE || done.status != IWARP_STATUS_OK ||
                iwarp_post_send(done.qp, &send, &why) != 0)
                (void)iwarp_srq_post(srq, done.id, buffers[done.id], OCTETS, &why);
        }
        while (iwarp_next_event(context, &event))
            if (event.kind == IWARP_QP_CLOSED)
                iwarp_qp_free(event.qp);
    }
    (void)fprintf(stderr, "echo: %s\n", why.text);
    iwarp_context_free(context);
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    struct iwarp_sentence why = {""};

    reserve_standard_descriptors();
    if (iwarp_reserve_memory(0, &why) != 0) {
        (void)fprintf(stderr, "echo: %s\n", why.text);
        return EXIT_FAILURE;
    }
    return serve(argc, argv);
}
