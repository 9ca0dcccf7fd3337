/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The little protocol of rdma-core's `rping`, in either role, so that this stack and any other that runs rping can be
 * set against each other. A round: the client names a buffer in a Send (address, STag, length; 16 octets, big-endian),
 * the server reads it and answers with a Send; the client names a second buffer, the server writes what it has read
 * there and answers with a Send; the client compares. The server compares what it reads with what rping puts there,
 * too.
 *
 *     rping serve ADDRESS PORT [SIZE]             one client, then the end; port 0: any; "port N" is printed
 *     rping HOST PORT COUNT [SIZE] [rev1|rev2] [PAUSE]
 *
 * rev1: MPA without the enhanced set-up of RFC 6581. PAUSE: milliseconds between the Reply and the first Send, for a
 * responder that is not ready when its Reply says so (docs/findings/linux-siw.md, 10).
 *
 * Exit status 0: every round was right, and the end was orderly.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <iwarp/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INFO = 16, RECEIVES = 2, DEFAULT_SIZE = 64, SIZE_MOST = 1 << 20, FIRST = 'A', LAST = 'z' };

struct rping {
    struct iwarp_context *context;
    struct iwarp_cq *cq;
    struct iwarp_qp *qp;
    uint8_t receives[RECEIVES][INFO];
    uint8_t info[INFO]; /* the last Send that came, or the one that goes */
    uint8_t *start;     /* client: what the server is to read; server: what it read */
    uint8_t *back;      /* client: where the server is to write; server: what it should have read */
    uint32_t start_stag, back_stag;
    size_t size;
    unsigned done[IWARP_WORK_IMMEDIATE + 1]; /* completions not yet waited for, by kind */
    bool established, closed;
};

static int fail(const char *what)
{
    (void)fprintf(stderr, "rping: %s\n", what);
    return -1;
}

/* 0 to `most` in digits; -1: anything else. */
static long number(const char *text, long most)
{
    char *end;
    long value = strtol(text, &end, 10);

    return *text == '\0' || *end != '\0' || value < 0 || value > most ? -1 : value;
}

/* What round number `round` has in the client's buffer. */
static void fill(uint8_t *octets, size_t size, unsigned round)
{
    int count = snprintf((char *)octets, size, "rdma-ping-%u: ", round);
    unsigned letters = LAST - FIRST + 1;

    for (size_t i = (size_t)count; i < size; i++)
        octets[i] = (uint8_t)(FIRST + (round + i - (size_t)count) % letters);
    octets[size - 1] = 0;
}

static int handle_events(struct rping *rping, struct iwarp_sentence *why)
{
    struct iwarp_qp_event event;
    char peer[IWARP_ADDRESS_OCTETS];

    while (iwarp_next_event(rping->context, &event)) {
        switch (event.kind) {
        case IWARP_QP_ACCEPTED: /* a queue pair of its own: the client may send as soon as it has the Reply */
            if (rping->qp != NULL) {
                iwarp_qp_free(event.qp);
                break;
            }
            rping->qp = event.qp;
            for (uint64_t i = 0; i < RECEIVES; i++)
                if (iwarp_post_receive(rping->qp, i, rping->receives[i], INFO, why) != 0)
                    return -1;
            break;
        case IWARP_QP_ESTABLISHED:
            rping->established = true;
            if (iwarp_qp_peer(event.qp, peer, NULL, why) != 0)
                return -1;
            printf("established: %s, CRC %s, IRD %u, ORD %u, with %s\n",
                   event.detail.start.revision == 2 ? "MPA Rev 2" : "MPA Rev 1", event.detail.crc ? "on" : "off",
                   event.detail.ird, event.detail.ord, peer);
            break;
        case IWARP_QP_REJECTED:
        case IWARP_QP_TERMINATED:
            return iwarp_sentence_set(why, "%s: %s", iwarp_qp_event_text(event.kind), event.detail.text);
        case IWARP_QP_CONNECT_FAILED:
        case IWARP_QP_ERROR: return iwarp_sentence_set(why, "%s", event.detail.text);
        case IWARP_QP_CLOSED: rping->closed = true; break;
        default: break;
        }
    }
    return 0;
}

static int handle_completions(struct rping *rping, struct iwarp_sentence *why)
{
    struct iwarp_completion done;

    while (iwarp_poll_cq(rping->cq, &done, 1) != 0) {
        if (done.status != IWARP_STATUS_OK) { /* the end: nobody waits for it any more, or the event says why */
            (void)iwarp_sentence_set(why, "the peer closes before the last round is over: %s %s",
                                     iwarp_work_text(done.work), iwarp_status_text(done.status));
            continue;
        }
        if (done.work == IWARP_WORK_RECEIVE) {
            if (done.octets != INFO)
                return iwarp_sentence_set(why, "a %s of %zu octets, %d were expected", iwarp_opcode_text(done.opcode),
                                          done.octets, INFO);
            memcpy(rping->info, done.buffer, INFO);
            if (iwarp_post_receive(rping->qp, done.id, rping->receives[done.id], INFO, why) != 0)
                return -1;
        }
        rping->done[done.work]++;
    }
    return 0;
}

/* Until a work of this kind is done. 1: the peer has closed before. */
static int await(struct rping *rping, enum iwarp_work work, struct iwarp_sentence *why)
{
    for (;;) {
        if (handle_events(rping, why) != 0 || handle_completions(rping, why) != 0)
            return -1;
        if (rping->done[work] > 0) {
            rping->done[work]--;
            return 0;
        }
        if (rping->closed)
            return 1;
        if (iwarp_context_run(rping->context, -1, why) < 0)
            return -1;
    }
}

static int say(struct rping *rping, const uint8_t *buffer, uint32_t stag, struct iwarp_sentence *why)
{
    const uint64_t address = (uintptr_t)buffer;
    const uint32_t words[] = {htonl((uint32_t)(address >> 32)), htonl((uint32_t)address), htonl(stag),
                              htonl((uint32_t)rping->size)};
    const uint8_t *octets = (const uint8_t *)words;

    if (iwarp_post_send(rping->qp, &(struct iwarp_send){.octets = octets, .count = sizeof(words)}, why) != 0)
        return -1;
    return await(rping, IWARP_WORK_SEND, why);
}

static int client_round(struct rping *rping, unsigned round, struct iwarp_sentence *why)
{
    fill(rping->start, rping->size, round);
    memset(rping->back, 0, rping->size);
    if (say(rping, rping->start, rping->start_stag, why) != 0 || await(rping, IWARP_WORK_RECEIVE, why) != 0 ||
        say(rping, rping->back, rping->back_stag, why) != 0 || await(rping, IWARP_WORK_RECEIVE, why) != 0)
        return -1;
    if (memcmp(rping->start, rping->back, rping->size) != 0)
        return iwarp_sentence_set(why, "round %u: the octets that came back differ from those that were read", round);
    return 0;
}

/* What the last Send said of the client's buffer. */
static int named(const struct rping *rping, uint64_t *to, uint32_t *stag, uint32_t *size, struct iwarp_sentence *why)
{
    uint32_t words[4];

    memcpy(words, rping->info, sizeof(words));
    *to = (uint64_t)ntohl(words[0]) << 32 | ntohl(words[1]);
    *stag = ntohl(words[2]);
    *size = ntohl(words[3]);
    if (*size == 0 || *size > rping->size)
        return iwarp_sentence_set(why, "a buffer of %u octets, 1 to %zu were expected", *size, rping->size);
    return 0;
}

/* 1: the client has no more. */
static int server_round(struct rping *rping, unsigned round, struct iwarp_sentence *why)
{
    struct iwarp_read read = {.sink_stag = rping->start_stag, .sink_to = (uint64_t)(uintptr_t)rping->start};
    struct iwarp_write write = {.octets = rping->start};
    uint32_t size;
    int status = await(rping, IWARP_WORK_RECEIVE, why);

    if (status != 0)
        return status;
    if (named(rping, &read.source_to, &read.source_stag, &read.count, why) != 0 ||
        iwarp_post_read(rping->qp, &read, why) != 0 || await(rping, IWARP_WORK_READ, why) != 0)
        return -1;
    fill(rping->back, read.count, round);
    if (memcmp(rping->start, rping->back, read.count) != 0)
        return iwarp_sentence_set(why, "round %u: the octets that were read differ from those that rping wrote", round);
    if (say(rping, rping->start, 0, why) != 0 || await(rping, IWARP_WORK_RECEIVE, why) != 0 ||
        named(rping, &write.to, &write.stag, &size, why) != 0)
        return -1;
    if (size != read.count)
        return iwarp_sentence_set(why, "round %u: the second buffer is of another size", round);
    write.count = size;
    if (iwarp_post_write(rping->qp, &write, why) != 0 || await(rping, IWARP_WORK_WRITE, why) != 0)
        return -1;
    return say(rping, rping->start, 0, why);
}

static int serve(struct rping *rping, const char *address, uint16_t port, struct iwarp_sentence *why)
{
    struct iwarp_qp_options options;
    struct iwarp_listener *listener;
    unsigned rounds = 0;
    int status;

    iwarp_qp_options_default(&options, rping->cq);
    listener = iwarp_listen(rping->context, address, port, &options, why);
    if (listener == NULL)
        return -1;
    if (printf("port %u\n", iwarp_listener_port(listener)) < 0 || fflush(stdout) != 0)
        return iwarp_sentence_set(why, "standard output cannot be written");
    while ((status = server_round(rping, rounds, why)) == 0)
        rounds++;
    if (status > 0)
        printf("%u rounds\n", rounds);
    return status > 0 && rounds > 0 ? 0 : -1;
}

/* Until the Reply has come, and `pause_ms` longer. */
static int start_up(struct rping *rping, int pause_ms, struct iwarp_sentence *why)
{
    while (!rping->established) {
        if (iwarp_context_run(rping->context, -1, why) < 0 || handle_events(rping, why) != 0)
            return -1;
        if (rping->closed)
            return iwarp_sentence_set(why, "the peer closes instead of a Reply");
    }
    return pause_ms > 0 && iwarp_context_run(rping->context, pause_ms, why) < 0 ? -1 : 0;
}

static int ping(struct rping *rping, const char *host, uint16_t port, unsigned rounds, bool rev1, int pause_ms,
                struct iwarp_sentence *why)
{
    struct iwarp_qp_options options;
    char address[IWARP_ADDRESS_OCTETS];

    if (iwarp_resolve(host, address, why) != 0)
        return -1;
    iwarp_qp_options_default(&options, rping->cq);
    if (rev1) {
        options.stream.revision = 1;
        options.stream.enhanced = false;
    }
    rping->qp = iwarp_connect(rping->context, address, port, &options, why);
    if (rping->qp == NULL)
        return -1;
    for (uint64_t i = 0; i < RECEIVES; i++)
        if (iwarp_post_receive(rping->qp, i, rping->receives[i], INFO, why) != 0)
            return -1;
    if (start_up(rping, pause_ms, why) != 0)
        return -1;
    for (unsigned round = 0; round < rounds; round++)
        if (client_round(rping, round, why) != 0)
            return -1;
    printf("%u rounds\n", rounds);
    iwarp_disconnect(rping->qp);
    while (!rping->closed)
        if (iwarp_context_run(rping->context, -1, why) < 0 || handle_events(rping, why) != 0)
            return -1;
    return 0;
}

static int prepare(struct rping *rping, const char *size, struct iwarp_sentence *why)
{
    long octets = size != NULL ? number(size, SIZE_MOST) : DEFAULT_SIZE;

    if (octets < 32)
        return iwarp_sentence_set(why, "a size from 32 to %d octets was expected", SIZE_MOST);
    rping->size = (size_t)octets;
    rping->start = calloc(2, rping->size);
    (void)iwarp_sentence_set(why, "out of memory");
    rping->context = iwarp_context_new(NULL, why);
    rping->cq = iwarp_cq_new(rping->context);
    if (rping->start == NULL || rping->cq == NULL)
        return -1;
    rping->back = rping->start + rping->size;
    if (iwarp_register(rping->context, rping->start, rping->size, IWARP_REMOTE_READ | IWARP_LOCAL_WRITE,
                       &rping->start_stag, why) != 0 ||
        iwarp_register(rping->context, rping->back, rping->size, IWARP_REMOTE_WRITE, &rping->back_stag, why) != 0)
        return -1;
    (void)iwarp_sentence_set(why, "the peer closes before the last round is over");
    return 0;
}

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

int main(int argc, char **argv)
{
    bool server = argc > 1 && strcmp(argv[1], "serve") == 0;
    struct rping rping = {0};
    struct iwarp_sentence why = {""};
    long port = argc > 3 ? number(argv[server ? 3 : 2], UINT16_MAX) : -1;
    long rounds = argc > 3 && !server ? number(argv[3], INT32_MAX) : 0;
    long pause_ms = argc > 6 ? number(argv[6], INT32_MAX) : 0;
    int status;

    reserve_standard_descriptors();
    if (argc < 4 || port < 0 || rounds < 0 || pause_ms < 0) {
        (void)fail("usage: rping serve ADDRESS PORT [SIZE] | rping HOST PORT COUNT [SIZE] [rev1|rev2] [PAUSE]");
        return 2;
    }
    status = iwarp_reserve_memory(0, &why);
    if (status == 0)
        status = prepare(&rping, argc > 4 ? argv[4] : NULL, &why);
    if (status == 0 && server)
        status = serve(&rping, argv[2], (uint16_t)port, &why);
    else if (status == 0)
        status = ping(&rping, argv[1], (uint16_t)port, (unsigned)rounds, argc > 5 && strcmp(argv[5], "rev1") == 0,
                      (int)pause_ms, &why);
    if (status == 0 && (fflush(stdout) != 0 || ferror(stdout)))
        status = iwarp_sentence_set(&why, "standard output cannot be written");
    if (status != 0)
        (void)fail(why.text);
    iwarp_context_free(rping.context);
    free(rping.start);
    return status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
