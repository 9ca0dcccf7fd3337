/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory runs out for programs: within every verb of the upper tester, and after every function of iwarp/verbs.h. */
#include <check.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "iwarp/verbs.h"
#include "reference-stack/peer/peer_internal.h"
#include "tests/unit/memory_short_programs.h"
#include "tests/unit/short_memory.h"
#include "tests/unit/still_transport.h"
#include "wire/fpdu.h"
#include "wire/mpa.h"

#if OWN_ALLOCATOR

/*
 * --- Each verb of the upper tester, on a stream in operation -------------------------------------------------------
 */

enum { SAID_MAX = 1 << 16 };

static struct {
    uint8_t octets[SAID_MAX];
    size_t count;
} said[3]; /* by transport: what was sent there, since it was looked at */

static void *op_connect(void *context, const char *address, uint16_t port, struct peer_stream *stream)
{
    (void)address;
    (void)port;
    (void)stream;
    return context;
}

static void op_send(void *transport, const uint8_t *octets, size_t count)
{
    size_t which = (size_t)((uint8_t *)transport - (uint8_t *)said) / sizeof(said[0]);

    if (said[which].count + count > SAID_MAX)
        abort(); /* Check's own assertions take memory */
    memcpy(said[which].octets + said[which].count, octets, count);
    said[which].count += count;
}

static const struct peer_transport_ops ops = {
    STILL_TRANSPORT,
    .connect = op_connect,
    .send = op_send,
};

/* With all that they need; a verb that is not here is given no members, and may refuse that. */
static const char *const commands[] = {
    "{\"verb\":\"listen\",\"port\":8,\"private_data\":\"0102\",\"rtr\":[\"read\"],\"tag\":1}",
    "{\"verb\":\"unlisten\",\"port\":7}",
    "{\"verb\":\"connect\",\"address\":\"192.0.2.1\",\"port\":7}",
    "{\"verb\":\"accept\",\"stream\":3,\"private_data\":\"0102\",\"ird\":1}",
    "{\"verb\":\"reject\",\"stream\":3,\"private_data\":\"0102\"}",
    "{\"verb\":\"reg_mr\",\"length\":100,\"access\":[\"remote_read\"],\"data\":\"00ff\",\"fill\":7}",
    "{\"verb\":\"dereg\",\"stag\":4711}",
    "{\"verb\":\"invalidate\",\"stag\":4711}",
    "{\"verb\":\"mem_read\",\"stag\":4711}",
    "{\"verb\":\"mem_write\",\"stag\":4711,\"data\":\"0102\"}",
    "{\"verb\":\"post_recv\",\"stream\":1,\"length\":10,\"count\":20}",
    "{\"verb\":\"send\",\"stream\":1,\"length\":100,\"id\":1,\"tag\":[1,2]}",
    "{\"verb\":\"write\",\"stream\":1,\"stag\":1,\"data\":\"0102\",\"id\":2}",
    "{\"verb\":\"read\",\"stream\":1,\"source_stag\":1,\"sink_stag\":4711,\"length\":8,\"id\":3}",
    "{\"verb\":\"atomic\",\"stream\":1,\"operation\":\"fetch_add\",\"stag\":1,\"id\":4}",
    "{\"verb\":\"immediate\",\"stream\":1,\"data\":\"0001020304050607\",\"id\":5}",
    "{\"verb\":\"terminate\",\"stream\":1,\"layer\":1}",
    "{\"verb\":\"disconnect\",\"stream\":1}",
    "{\"verb\":\"abort\",\"stream\":1}",
    "{\"verb\":\"status\",\"stream\":1}",
    "{\"verb\":\"mpa\",\"stream\":1}",
    "{\"verb\":\"set_emss\",\"stream\":1,\"emss\":600}",
    "{\"verb\":\"bounds\",\"stag\":4711,\"length\":32}",
    "{\"verb\":\"post_ulpdu\",\"stream\":1,\"length\":100}",
    "{\"verb\":\"bounds\",\"stag\":4711,\"length\":8}",
    "{\"verb\":\"ddp\",\"stream\":1}",
    "{\"verb\":\"msn\",\"stream\":1,\"send\":5,\"receive\":5}",
    "{\"verb\":\"mulpdu\",\"stream\":1,\"mulpdu\":500}",
    "{\"verb\":\"hold\",\"stream\":1}",
    "{\"verb\":\"catastrophe\",\"stream\":1,\"kind\":\"ddp\"}",
    "{\"verb\":\"placements\",\"stream\":1}",
    "{\"verb\":\"inject\",\"stream\":1,\"data\":\"00\"}",
    "{\"verb\":\"number\",\"stag\":4711}",
};

/* False when it is not known what the verb needs. */
static bool command_for(const char *verb, char *line, size_t room)
{
    char member[64];

    (void)snprintf(member, sizeof(member), "{\"verb\":\"%s\"", verb);
    (void)snprintf(line, room, "%s}", member);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strncmp(commands[i], member, strlen(member)) == 0)
            return snprintf(line, room, "%s", commands[i]) > 0;
    return false;
}

static bool is_ok(const char *reply)
{
    return reply != NULL && strstr(reply, "\"ok\":true") != NULL;
}

static void must(struct peer *peer, const char *line)
{
    char *reply = peer_command(peer, line, 5);

    ck_assert_msg(is_ok(reply), "%s: %s", line, reply);
    free(reply);
}

/* A responder's stream, in operation: the initiator's Request and an empty Write came. */
static struct peer_stream *opened(struct peer *peer, uint16_t port, size_t transport)
{
    static const uint8_t write[14] = {0xC1, 0x40};
    struct iwarp_mpa_start start = {
        .kind = IWARP_MPA_REQUEST, .revision = 2, .enhanced = true, .crc = true, .ird = 4, .ord = 4};
    struct fpdu_framing framing = {false, true, 0};
    uint8_t octets[MPA_START_MAX];
    struct peer_stream *ps = peer_accepted(peer, port, &said[transport], 2);

    ck_assert_ptr_nonnull(ps);
    peer_input(ps, octets, mpa_start_pack(&start, octets, sizeof(octets)), 3);
    if (port == 7)
        peer_input(ps, octets, fpdu_pack(write, sizeof(write), &framing, octets, sizeof(octets)), 3);
    return ps;
}

/* What the stream of that number has been given to do, receives among it. */
static size_t work_of(struct peer *peer, uint32_t number)
{
    const struct peer_stream *ps = peer_stream_find(peer, number);
    size_t count = 0;

    for (const struct peer_work *work = ps == NULL ? NULL : ps->work; work != NULL; work = work->next)
        count++;
    return count;
}

static char *reply_to(struct peer *peer, const char *line)
{
    char *reply = peer_command(peer, line, 6);

    ck_assert_ptr_nonnull(reply);
    return reply;
}

/* True once the verb needs no n-th allocation. */
static bool verb_with(const char *line, bool known, long n)
{
    static const char status[] = "{\"verb\":\"status\",\"stream\":1}", regions[] = "{\"verb\":\"regions\"}";
    long which = n, before = short_live;
    struct peer *peer = peer_new(NULL, &ops, &said[0], NULL);
    char *state[2], *reply;
    size_t streams, sent, work;

    short_failed = false;
    memset(said, 0, sizeof(said));
    ck_assert_ptr_nonnull(peer);
    must(peer, "{\"verb\":\"listen\",\"port\":7}");
    must(peer, "{\"verb\":\"listen\",\"port\":9,\"accept\":\"manual\"}");
    must(peer, "{\"verb\":\"reg_mr\",\"length\":64,\"stag\":4711}");
    (void)opened(peer, 7, 0);
    (void)opened(peer, 7, 1);
    (void)opened(peer, 9, 2);
    state[0] = reply_to(peer, status);
    state[1] = reply_to(peer, regions);
    streams = peer_stream_count(peer);
    sent = said[0].count + said[1].count;
    work = work_of(peer, 1);
    SHORT(n, reply = peer_command(peer, line, 10));
    ck_assert_msg(short_failed || !known || is_ok(reply), "%s: %s", line, reply);
    if (reply != NULL && !is_ok(reply)) {
        /* Refused: nothing has changed. */
        const char *const asks[] = {status, regions};

        ck_assert_msg(strstr(reply, "\"ok\":false") != NULL && strstr(reply, "\"error\":\"") != NULL, "%s", reply);
        for (int i = 0; i < 2; i++) {
            char *now = reply_to(peer, asks[i]);

            ck_assert_msg(strcmp(now, state[i]) == 0, "%s, allocation %ld: %s, before %s", line, which, now, state[i]);
            free(now);
        }
        ck_assert_uint_eq(peer_stream_count(peer), streams);
        ck_assert_uint_eq(said[0].count + said[1].count, sent);
        ck_assert_msg(work_of(peer, 1) == work, "%s, allocation %ld: %zu pieces of work, before %zu", line, which,
                      work_of(peer, 1), work);
    }
    free(reply);
    free(state[0]);
    free(state[1]);
    if (strstr(line, "reset") == NULL && strstr(line, "fault") == NULL) {
        sent = said[1].count;
        must(peer, "{\"verb\":\"send\",\"stream\":2,\"length\":10}");
        ck_assert_uint_gt(said[1].count, sent + 10);
    }
    must(peer, "{\"verb\":\"reg_mr\",\"length\":64,\"stag\":12}");
    peer_free(peer);
    ck_assert_msg(short_live == before, "%s: with allocation %ld failing %ld stay behind", line, which,
                  short_live - before);
    return !short_failed;
}

START_TEST(each_verb_survives_failed_allocations)
{
    size_t verbs = 0;

    for (const struct peer_verb_row *row = peer_verbs; row->name != NULL; row++, verbs++) {
        char line[256];
        long n = 1;
        bool known = command_for(row->name, line, sizeof(line));

        (void)verb_with(line, known, 0); /* what is allocated once for the process */
        while (!verb_with(line, known, n))
            ck_assert_int_lt(++n, 1000);
        ck_assert_msg(n > 3, "%s", line);
    }
    ck_assert_uint_gt(verbs, 20);
}
END_TEST

/*
 * --- Programs ------------------------------------------------------------------------------------------------------
 */

enum { WORK = 6, TURNS = 600 };

/* libuv ends the process when its own tables cannot grow: it has memory. */
static void spare_libuv(void)
{
    ck_assert_int_eq(uv_replace_allocator(__libc_malloc, __libc_realloc, __libc_calloc, __libc_free), 0);
}

/* How the connection comes about, and with what. */
enum kind { PLAIN, MARKERS, SMBD, ACCEPTED, REJECTED, ATTACHED, KINDS };

struct program {
    enum kind kind;
    struct iwarp_context *context;
    struct iwarp_cq *cq, *other_cq;
    struct iwarp_srq *srq;
    struct iwarp_qp_options options, other_options;
    struct iwarp_listener *listener, *other_listener;
    struct iwarp_qp *qp, *other[2];
    uint64_t memory[8];
    uint8_t in[4][16];
    uint32_t stag;
    unsigned posted, completed, other_completed;
    bool established, closed;
};

/* The decision on a Request: without memory it can be made again. */
static void decide(const struct program *program, struct iwarp_qp *qp, long *n)
{
    int (*verb)(struct iwarp_qp *, const void *, size_t, struct iwarp_sentence *) =
        program->kind == REJECTED ? iwarp_reject : iwarp_accept;
    int result;

    SHORT(*n, result = verb(qp, "why", 3, NULL));
    if (result != 0)
        ck_assert_int_eq(verb(qp, "why", 3, NULL), 0);
}

static void turn(struct program *program, long *n)
{
    struct iwarp_completion done[4];
    struct iwarp_qp_event event;
    size_t count;

    SHORT(*n, (void)iwarp_context_run(program->context, 1, NULL));
    if (program->cq != NULL) {
        SHORT(*n, count = iwarp_poll_cq(program->cq, done, 4));
        for (size_t i = 0; i < count; i++)
            program->completed += done[i].qp == program->qp;
    }
    program->other_completed += (unsigned)iwarp_poll_cq(program->other_cq, done, 4);
    while (iwarp_next_event(program->context, &event)) {
        if (event.kind == IWARP_QP_ACCEPTED && event.listener == program->other_listener)
            program->other[0] = event.qp;
        if (event.kind == IWARP_QP_CONNECT_REQUEST)
            decide(program, event.qp, n);
        program->established |= event.kind == IWARP_QP_ESTABLISHED && event.qp == program->qp;
        program->closed |= event.kind == IWARP_QP_CLOSED && event.qp == program->qp;
    }
}

static void post_all(struct program *program, long *n)
{
    struct iwarp_send send = {.octets = (const uint8_t *)"0123456789", .count = 10};
    struct iwarp_write write = {.octets = send.octets, .count = 8, .stag = program->stag};
    struct iwarp_read read = {.sink_stag = program->stag, .source_stag = program->stag, .count = 8};
    struct iwarp_atomic atomic = {.operation = IWARP_ATOMIC_FETCH_ADD, .stag = program->stag, .data = 1};
    struct iwarp_immediate immediate = {.solicited = true};
    int results[WORK];

    write.to = read.source_to = (uint64_t)(uintptr_t)program->memory;
    read.sink_to = atomic.to = write.to + 32;
    SHORT(*n, results[0] = iwarp_post_receive(program->qp, 1, program->in[0], 16, NULL));
    SHORT(*n, results[1] = iwarp_post_send(program->qp, &send, NULL));
    SHORT(*n, results[2] = iwarp_post_write(program->qp, &write, NULL));
    SHORT(*n, results[3] = iwarp_post_read(program->qp, &read, NULL));
    SHORT(*n, results[4] = iwarp_post_atomic(program->qp, &atomic, NULL));
    SHORT(*n, results[5] = iwarp_post_immediate(program->qp, &immediate, NULL));
    for (int i = 0; i < WORK; i++)
        program->posted += results[i] == 0;
}

/* The stream beside it: opened before, and alive afterwards. */
static void open_other(struct program *program)
{
    long never = 0;

    program->other_cq = iwarp_cq_new(program->context);
    ck_assert_ptr_nonnull(program->other_cq);
    iwarp_qp_options_default(&program->other_options, program->other_cq);
    program->other_listener = iwarp_listen(program->context, "127.0.0.1", 0, &program->other_options, NULL);
    ck_assert_ptr_nonnull(program->other_listener);
    program->other[1] = iwarp_connect(program->context, "127.0.0.1", iwarp_listener_port(program->other_listener),
                                      &program->other_options, NULL);
    ck_assert_ptr_nonnull(program->other[1]);
    for (int i = 0; i < TURNS && program->other[0] == NULL; i++)
        turn(program, &never);
    ck_assert_ptr_nonnull(program->other[0]);
}

static void other_goes_on(struct program *program)
{
    unsigned before = program->other_completed;
    long never = 0;

    struct iwarp_sentence why = {""};

    ck_assert_msg(iwarp_post_receive(program->other[0], 1, program->in[1], 16, &why) == 0, "%s", why.text);
    ck_assert_int_eq(iwarp_post_send(program->other[1], &(struct iwarp_send){.id = 2}, NULL), 0);
    for (int i = 0; i < TURNS && program->other_completed < before + 2; i++)
        turn(program, &never);
    ck_assert_uint_eq(program->other_completed, before + 2);
}

static struct iwarp_qp *attach(struct program *program, uint16_t port, long *n)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct iwarp_qp *qp;

    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&name, sizeof(name)), 0);
    SHORT(*n, qp = iwarp_attach(program->context, fd, IWARP_INITIATOR, NULL, 0, &program->options, NULL));
    if (qp == NULL)
        ck_assert_int_eq(close(fd), 0); /* it is still the program's */
    return qp;
}

static void configure(struct program *program)
{
    struct iwarp_stream_config *config = &program->options.stream;

    config->linger_limit = config->startup_limit = 30000000;
    config->markers = program->kind == MARKERS;
    if (program->kind == ACCEPTED || program->kind == REJECTED)
        config->accept = IWARP_ACCEPT_ASK;
    if (program->kind == SMBD) {
        config->revision = 1;
        config->enhanced = false;
        config->smbd = true;
    }
}

/* What fails at once leaves nothing; what was begun ends with each work completed once. */
static void use(struct program *program, long *n)
{
    int registered = -1;

    SHORT(*n, program->cq = iwarp_cq_new(program->context));
    SHORT(*n, program->srq = iwarp_srq_new(program->context));
    if (program->cq == NULL || program->srq == NULL)
        return;
    SHORT(*n, registered =
                  iwarp_register(program->context, program->memory, sizeof(program->memory), 31, &program->stag, NULL));
    iwarp_qp_options_default(&program->options, program->cq);
    configure(program);
    SHORT(*n, registered |= iwarp_srq_post(program->srq, 1, program->in[2], 16, NULL));
    SHORT(*n, registered |= iwarp_srq_post(program->srq, 2, program->in[3], 16, NULL));
    program->options.srq = program->srq;
    if (registered != 0)
        return;
    SHORT(*n, program->listener = iwarp_listen(program->context, "127.0.0.1", 0, &program->options, NULL));
    if (program->listener == NULL)
        return;
    if (program->kind == ATTACHED)
        program->qp = attach(program, iwarp_listener_port(program->listener), n);
    else
        SHORT(*n, program->qp = iwarp_connect(program->context, "127.0.0.1", iwarp_listener_port(program->listener),
                                              &program->options, NULL));
    if (program->qp == NULL)
        return;
    iwarp_cq_arm(program->cq, false);
    post_all(program, n);
    for (int i = 0; i < TURNS && !program->closed && program->completed + 1 < program->posted; i++)
        turn(program, n);
    SHORT(*n, iwarp_disconnect(program->qp));
    for (int i = 0; i < TURNS && !program->closed; i++)
        turn(program, n);
    ck_assert(program->closed);
    for (int i = 0; i < WORK; i++)
        turn(program, n); /* a few completions a turn */
    ck_assert_uint_eq(program->completed, program->posted);
}

static bool program_with(long n, enum kind kind)
{
    long which = n, before = short_live, never = 0;
    struct program program = {.kind = kind};

    short_failed = false;
    SHORT(n, program.context = iwarp_context_new(NULL, NULL));
    if (program.context != NULL) {
        open_other(&program);
        other_goes_on(&program); /* nothing of its start is still to be done */
        use(&program, &n);
        ck_assert(short_failed || program.established == (kind != REJECTED));
        ck_assert(short_failed || program.posted == WORK);
        other_goes_on(&program);
        turn(&program, &never);
        iwarp_context_free(program.context);
    } else {
        ck_assert(short_failed);
    }
    ck_assert_msg(short_live == before, "with allocation %ld failing %ld stay behind", which, short_live - before);
    return !short_failed;
}

START_TEST(programs_survive_failed_allocations)
{
    long n = 1;

    spare_libuv();
    while (!program_with(n, (enum kind)_i))
        ck_assert_int_lt(++n, 1000);
    ck_assert_int_gt(n, 20);
}
END_TEST

TCase *memory_short_programs_case(void)
{
    TCase *tcase = tcase_create("each allocation fails once, in programs");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, each_verb_survives_failed_allocations);
    tcase_add_loop_test(tcase, programs_survive_failed_allocations, 0, KINDS);
    return tcase;
}

#endif
