/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loop: a program with a poll() loop of its own that serves two clients, the one by the socket of a connection which
 * has spoken another protocol before. It shows what echo, kv and rping do not need: Private Data that decides about a
 * connection, completion queues that are armed, and objects that are freed one by one.
 *
 * Both ends are in this process, to keep the example short; each uses nothing of the other.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <iwarp/verbs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { OCTETS = 64, RECEIVES = 4 };

struct session {
    const char *name;
    bool established, rejected, heard, closed;
    char arrived[OCTETS];
};

struct program {
    struct iwarp_context *context;
    struct iwarp_cq *cq;
    struct iwarp_srq *srq;
    uint8_t buffers[RECEIVES][OCTETS];
    struct session server, client, attached, stranger;
    struct iwarp_sentence why;
};

static void expect(const struct program *program, bool holds, const char *what)
{
    printf("%-5s %s\n", holds ? "ok" : "WRONG", what);
    if (!holds) {
        (void)fprintf(stderr, "loop: %s\n", program->why.text);
        exit(EXIT_FAILURE);
    }
}

/*
 * Who may come is decided by the Private Data: the ULP's own octets, which follow the word of RFC 6581 where there is
 * one.
 */
static void decide(struct program *program, struct iwarp_qp *qp, const struct iwarp_event *request)
{
    size_t octets = 0;
    const uint8_t *private_data = iwarp_mpa_start_ulp_data(&request->start, &octets);

    if (octets == 6 && memcmp(private_data, "member", 6) == 0) {
        iwarp_qp_set_user(qp, &program->server);
        (void)iwarp_accept(qp, "welcome", 7, &program->why);
    } else {
        (void)iwarp_reject(qp, "members only", 12, &program->why);
    }
}

static void handle(struct program *program, const struct iwarp_qp_event *event)
{
    static struct session nobody = {.name = "nobody"};
    struct session *session = iwarp_qp_user(event->qp) != NULL ? iwarp_qp_user(event->qp) : &nobody;

    switch (event->kind) {
    case IWARP_QP_CONNECT_REQUEST: decide(program, event->qp, &event->detail); break;
    case IWARP_QP_ESTABLISHED:
        session->established = true;
        printf("      %s: ORD %u\n", session->name, iwarp_stream_ord(iwarp_qp_stream(event->qp)));
        break;
    case IWARP_QP_REJECTED: session->rejected = true; break;
    case IWARP_QP_CLOSED:
        session->closed = true;
        iwarp_qp_free(event->qp);
        break;
    default: break;
    }
}

/* The completions that wait, then all events. */
static void drain(struct program *program)
{
    struct iwarp_completion done;
    struct iwarp_qp_event event;

    while (iwarp_poll_cq(program->cq, &done, 1) != 0) {
        struct session *session = done.user;

        if (done.work != IWARP_WORK_RECEIVE || done.status != IWARP_STATUS_OK)
            continue;
        session->heard = true;
        if (done.buffer == NULL)
            continue; /* it was posted in pieces, and is there already */
        memcpy(session->arrived, done.buffer, done.octets);
        (void)iwarp_srq_post(program->srq, done.id, program->buffers[done.id], OCTETS, &program->why);
    }
    while (iwarp_next_event(program->context, &event))
        handle(program, &event);
}

/* The loop of a program that has descriptors of its own, too: until `flag` is set, for ten seconds at most. */
static bool until(struct program *program, const bool *flag)
{
    for (int idle = 0; !*flag && idle < 100;) {
        struct pollfd library = {.fd = iwarp_context_fd(program->context), .events = POLLIN};
        int timeout = iwarp_context_timeout(program->context);

        iwarp_cq_arm(program->cq, false); /* the next completion is an event */
        drain(program);
        if (*flag)
            break;
        idle += poll(&library, 1, timeout >= 0 && timeout < 100 ? timeout : 100) == 0;
        if (iwarp_context_run(program->context, 0, &program->why) < 0)
            return false;
        drain(program);
    }
    return *flag;
}

static struct iwarp_qp *call(struct program *program, struct session *session, uint16_t port, const char *private_data)
{
    struct iwarp_qp_options options;

    iwarp_qp_options_default(&options, program->cq);
    options.srq = program->srq;
    options.user = session;
    memcpy(options.stream.private_data, private_data, strlen(private_data));
    options.stream.private_octets = (uint16_t)strlen(private_data);
    return iwarp_connect(program->context, "127.0.0.1", port, &options, &program->why);
}

static struct iwarp_listener *serve(struct program *program)
{
    struct iwarp_qp_options options;

    program->cq = iwarp_cq_new(program->context);
    program->srq = iwarp_srq_new(program->context);
    for (uint64_t i = 0; i < RECEIVES; i++)
        (void)iwarp_srq_post(program->srq, i, program->buffers[i], OCTETS, &program->why);
    iwarp_qp_options_default(&options, program->cq);
    options.srq = program->srq;
    options.stream.accept = IWARP_ACCEPT_ASK;
    return iwarp_listen(program->context, "127.0.0.1", 0, &options, &program->why);
}

/* Two TCP sockets that are connected: they could have carried a negotiation of the program's own. */
static bool sockets(int pair[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    bool open = listener >= 0 && bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 1) == 0 &&
                getsockname(listener, (struct sockaddr *)&address, &size) == 0;

    pair[0] = socket(AF_INET, SOCK_STREAM, 0);
    open = open && pair[0] >= 0 && connect(pair[0], (struct sockaddr *)&address, size) == 0;
    pair[1] = open ? accept(listener, NULL, NULL) : -1;
    if (listener >= 0)
        (void)close(listener);
    return pair[1] >= 0;
}

/* A header and a body, which lie apart: they are one message. They are copied, so that they may change at once. */
static void pieces(struct program *program, struct iwarp_qp *near, struct iwarp_qp *far)
{
    uint8_t header[4], body[16] = {0};
    struct iwarp_buffer room[] = {{header, sizeof(header)}, {body, sizeof(body)}};
    struct iwarp_span message[] = {{(const uint8_t *)"head", 4}, {(const uint8_t *)"and body", 8}};
    struct iwarp_send send = {.id = 4, .pieces = message, .piece_count = 2, .copy = true};

    program->attached.heard = false;
    expect(program,
           iwarp_post_receive_pieces(far, 5, room, 2, &program->why) == 0 &&
               iwarp_post_send(near, &send, &program->why) == 0,
           "a Send in two pieces is posted");
    expect(program,
           until(program, &program->attached.heard) && memcmp(header, "head", 4) == 0 &&
               memcmp(body, "and body", 8) == 0,
           "it arrives in two pieces");
}

/* MPA begins on sockets that are open already (RFC 5044 7.1.5). */
static void attach(struct program *program)
{
    struct iwarp_immediate immediate = {.id = 3, .octets = "octets 8"};
    struct iwarp_qp_options options;
    struct iwarp_qp *near, *far;
    int pair[2];

    expect(program, sockets(pair), "two sockets are connected");
    iwarp_qp_options_default(&options, program->cq);
    options.srq = program->srq;
    options.user = &program->attached;
    far = iwarp_attach(program->context, pair[1], IWARP_RESPONDER, NULL, 0, &options, &program->why);
    near = iwarp_attach(program->context, pair[0], IWARP_INITIATOR, NULL, 0, &options, &program->why);
    expect(program, far != NULL && near != NULL && until(program, &program->attached.established),
           "MPA begins on them");
    expect(program, iwarp_post_immediate(near, &immediate, &program->why) == 0, "Immediate Data is posted");
    expect(program, until(program, &program->attached.heard) && memcmp(program->attached.arrived, "octets 8", 8) == 0,
           "it arrives");
    pieces(program, near, far);
    iwarp_disconnect(near);
    iwarp_disconnect(far);
    expect(program, until(program, &program->attached.closed), "both ends close");
}

int main(void)
{
    static struct program program = {.server.name = "server", .client.name = "client", .attached.name = "attached"};
    struct iwarp_send send = {.id = 2, .octets = (const uint8_t *)"good day", .count = 8};
    struct iwarp_listener *listener;
    struct iwarp_qp *qp;
    uint16_t port;

    program.context = iwarp_context_new(NULL, &program.why);
    listener = program.context == NULL ? NULL : serve(&program);
    expect(&program, listener != NULL, "a server listens");
    port = iwarp_listener_port(listener);
    expect(&program,
           call(&program, &program.stranger, port, "guest") != NULL && until(&program, &program.stranger.rejected),
           "a stranger is rejected");
    qp = call(&program, &program.client, port, "member");
    expect(&program, qp != NULL && until(&program, &program.client.established), "a member is accepted");
    expect(&program, iwarp_post_send(qp, &send, &program.why) == 0, "it posts a Send");
    iwarp_disconnect(qp);
    expect(&program, until(&program, &program.server.closed), "it leaves");
    expect(&program, memcmp(program.server.arrived, "good day", 8) == 0, "the Send has arrived");
    attach(&program);
    expect(&program, iwarp_srq_count(program.srq) == RECEIVES, "all receives are there again");
    expect(&program, iwarp_region_count(iwarp_context_device(program.context)) == 0, "no memory is registered");
    iwarp_listener_free(listener);
    iwarp_srq_free(program.srq);
    iwarp_cq_free(program.cq);
    iwarp_context_free(program.context);
    return EXIT_SUCCESS;
}
