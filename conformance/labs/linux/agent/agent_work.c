/* SPDX-License-Identifier: BSD-2-Clause */
/* What is posted on a stream, and its completions. */
#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conformance/labs/linux/agent/agent.h"

enum { MESSAGE_MOST = 64 << 20 };
enum { BELL_RINGS = 100, BELL_PAUSE_NS = 1000000 };

void agent_work_free(struct agent_work *work)
{
    *work->link = work->next;
    if (work->next != NULL)
        work->next->link = work->link;
    if (work->mr != NULL)
        (void)ibv_dereg_mr(work->mr);
    free(work->octets);
    json_decref(work->id);
    free(work);
}

/* Linked into the stream; with a registered buffer of `length` octets unless that is 0. Takes over `octets`. */
static struct agent_work *work_new(struct agent_stream *stream, int kind, uint8_t *octets, size_t length,
                                   const json_t *id, struct agent_reply *reply)
{
    struct agent_work *work = calloc(1, sizeof(*work));
    struct ibv_pd *domain = agent_domain(stream->agent, stream->config.pd, reply);

    if (work == NULL || domain == NULL) {
        free(work);
        free(octets);
        (void)agent_refuse(reply, "out of memory");
        return NULL;
    }
    work->stream = stream;
    work->kind = kind;
    work->octets = octets;
    work->length = length;
    work->id = json_incref((json_t *)(uintptr_t)id);
    work->link = &stream->work;
    work->next = stream->work;
    if (work->next != NULL)
        work->next->link = &work->next;
    stream->work = work;
    if (octets != NULL && length > 0) {
        work->mr = ibv_reg_mr(domain, octets, length, IBV_ACCESS_LOCAL_WRITE);
        if (work->mr == NULL) {
            (void)agent_refuse(reply, "ibv_reg_mr: %s", strerror(errno));
            agent_work_free(work);
            return NULL;
        }
    }
    return work;
}

static int repost(struct agent_work *work)
{
    struct ibv_sge sge = {.addr = (uintptr_t)work->octets, .length = (uint32_t)work->length};
    struct ibv_recv_wr request = {.wr_id = (uintptr_t)work, .sg_list = &sge}, *bad;

    if (work->mr != NULL) {
        sge.lkey = work->mr->lkey;
        request.num_sge = 1;
    }
    return ibv_post_recv(work->stream->id->qp, &request, &bad);
}

static size_t receives_of(const struct agent_stream *stream)
{
    size_t count = 0;

    for (const struct agent_work *work = stream->work; work != NULL; work = work->next)
        count += work->kind == WORK_RECEIVE;
    return count;
}

static void roll_back(struct agent_work *work, size_t count)
{
    for (struct agent_work *next; count > 0; work = next, count--) {
        next = work->next;
        agent_work_free(work);
    }
}

/*
 * All or none, as far as it is for us: there is room in the queue, and every buffer is registered, before the first is
 * posted. What the device has taken it does not give back: then the error says how many that are.
 */
int agent_post_receives(struct agent_stream *stream, size_t length, size_t count, const json_t *id,
                        struct agent_reply *reply)
{
    struct agent_work *work;

    if (count > AGENT_RECEIVE_DEPTH - receives_of(stream))
        return agent_refuse(reply, "%zu receives more do not fit into a queue of %d", count, AGENT_RECEIVE_DEPTH);
    for (size_t i = 0; i < count; i++) {
        uint8_t *octets = malloc(length + 1);

        if (octets == NULL)
            (void)agent_refuse(reply, "out of memory");
        if (octets == NULL || work_new(stream, WORK_RECEIVE, octets, length, id, reply) == NULL) {
            roll_back(stream->work, i);
            return -1;
        }
    }
    work = stream->work; /* the newest; they are all alike */
    for (size_t i = 0; i < count; i++, work = work->next) {
        int error = repost(work);

        if (error != 0) {
            roll_back(work, count - i);
            json_object_set_new(reply->json, "posted", json_integer((json_int_t)i));
            return agent_refuse(reply, "ibv_post_recv: %s: %zu of %zu are posted", strerror(error), i, count);
        }
    }
    return 0;
}

int agent_post_recv(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    struct agent_stream *stream = agent_stream_of(agent, command, reply);
    uint64_t length = 4096, count = 1;

    if (stream == NULL || agent_number(command, "length", &length, MESSAGE_MOST, reply) != 0 ||
        agent_number(command, "count", &count, AGENT_RECEIVE_DEPTH, reply) != 0)
        return -1;
    if (stream->id == NULL || stream->id->qp == NULL)
        return agent_refuse(reply, "the stream has no queue pair (yet, or any more)");
    return agent_post_receives(stream, length, count, json_object_get(command, "id"), reply);
}

/* "data", or "length" octets of the counting pattern. */
static int payload(const json_t *command, uint8_t **octets, size_t *count, struct agent_reply *reply)
{
    uint64_t length = 0;
    struct iwarp_sentence why;

    if (upper_payload_once(command, &why) != 0)
        return agent_refuse(reply, "%s", why.text);
    if (agent_octets(command, "data", octets, count, reply) != 0)
        return -1;
    if (*octets != NULL)
        return 0;
    if (agent_number(command, "length", &length, MESSAGE_MOST, reply) != 0)
        return -1;
    *octets = malloc(length + 1);
    if (*octets == NULL)
        return agent_refuse(reply, "out of memory");
    upper_count(*octets, length);
    *count = length;
    return 0;
}

static struct agent_stream *open_stream(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    struct agent_stream *stream = agent_stream_of(agent, command, reply);

    if (stream == NULL)
        return NULL;
    if (stream->opened && (stream->state == STREAM_CLOSED || stream->id == NULL || stream->id->qp == NULL)) {
        (void)agent_refuse(reply, "the stream has no queue pair any more");
        return NULL;
    }
    return stream;
}

static const char *const kind_names[] = {"receive", "send", "write", "read"};

/* What is asked for on a stream that never opened is flushed, as it is on a queue pair in the Error state. */
static int flush(struct agent_work *work)
{
    if (work->id != NULL)
        agent_event(work->stream->agent, work->stream, "flushed",
                    json_pack("{s:s, s:O}", "work", kind_names[work->kind], "id", work->id));
    agent_work_free(work);
    return 0;
}

/* Work may be asked for at any time (docs/upper-tester.md), a queue pair takes it when it is connected. */
static int wait_for_opening(struct agent_work *work, const struct ibv_send_wr *request)
{
    struct agent_work **last = &work->stream->waiting;

    while (*last != NULL)
        last = &(*last)->waiting;
    *last = work;
    work->request = *request;
    if (request->num_sge > 0) {
        work->sge = *request->sg_list;
        work->request.sg_list = &work->sge;
    }
    return 0;
}

/*
 * siw's provider puts a request into the queue that it shares with the kernel, then rings the doorbell: a system call,
 * which ends with ENOTCONN where the queue pair's state is locked at that moment (siw_post_send() only tries the lock).
 * The request is in the queue all the same, and is not to be put there a second time; what is missing is the ring. A
 * queue pair whose connection is up is rung again for a while. False: without success, or another device, whose
 * provider knows best.
 */
static bool ring_doorbell(const struct agent_stream *stream, int error)
{
    struct ibv_context *device = stream->agent->device;
    struct ib_uverbs_post_send_resp answer;
    struct {
        struct ib_uverbs_cmd_hdr head;
        struct ib_uverbs_post_send body;
    } bell = {
        .head = {.command = IB_USER_VERBS_CMD_POST_SEND, .in_words = sizeof(bell) / 4, .out_words = sizeof(answer) / 4},
        .body = {.response = (uintptr_t)&answer,
                 .qp_handle = stream->id->qp->handle,
                 .wqe_size = sizeof(struct ibv_send_wr)},
    };

    if (error != ENOTCONN || strncmp(ibv_get_device_name(device->device), "siw", 3) != 0)
        return false;
    for (int rings = 1; rings <= BELL_RINGS; rings++) {
        const struct timespec pause = {.tv_nsec = BELL_PAUSE_NS};

        if (write(device->cmd_fd, &bell, sizeof(bell)) == (ssize_t)sizeof(bell)) {
            printf("stream %lld: siw took a request at ring %d\n", (long long)stream->number, rings);
            (void)fflush(stdout);
            return true;
        }
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

static int post(struct agent_work *work, struct ibv_send_wr *request, struct agent_reply *reply)
{
    struct ibv_send_wr *bad;
    int error;

    request->wr_id = (uintptr_t)work;
    request->send_flags |= IBV_SEND_SIGNALED;
    if (work->stream->state == STREAM_CLOSED)
        return flush(work);
    if (work->stream->state != STREAM_OPEN)
        return wait_for_opening(work, request);
    error = ibv_post_send(work->stream->id->qp, request, &bad);
    if (error == 0)
        return 0;
    if (error == -1) /* siw's provider: the system call's own result */
        error = errno;
    if (ring_doorbell(work->stream, error < 0 ? -error : error))
        return 0;
    agent_work_free(work);
    return agent_refuse(reply, "ibv_post_send: %s", strerror(error < 0 ? -error : error));
}

void agent_post_waiting(struct agent_stream *stream)
{
    while (stream->waiting != NULL) {
        struct agent_work *work = stream->waiting;
        struct agent_reply reply = {.json = json_object()};

        stream->waiting = work->waiting;
        (void)post(work, &work->request, &reply);
        json_decref(reply.json);
    }
}

static int post_buffer(struct agent_work *work, struct ibv_send_wr *request, struct agent_reply *reply)
{
    struct ibv_sge sge = {.addr = (uintptr_t)work->octets, .length = (uint32_t)work->length};

    if (work->mr != NULL) {
        sge.lkey = work->mr->lkey;
        request->sg_list = &sge;
        request->num_sge = 1;
    }
    return post(work, request, reply);
}

int agent_send(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    struct agent_stream *stream = open_stream(agent, command, reply);
    struct ibv_send_wr request = {.opcode = IBV_WR_SEND};
    uint64_t invalidate = UINT64_MAX;
    struct agent_work *work;
    bool solicited = false, fence = false;
    uint8_t *octets = NULL;
    size_t count = 0;

    if (stream == NULL || agent_flag(command, "solicited", &solicited, reply) != 0 ||
        agent_flag(command, "fence", &fence, reply) != 0 ||
        agent_number(command, "invalidate", &invalidate, UINT32_MAX, reply) != 0 ||
        payload(command, &octets, &count, reply) != 0)
        return -1;
    work = work_new(stream, WORK_SEND, octets, count, json_object_get(command, "id"), reply);
    if (work == NULL)
        return -1;
    if (solicited)
        request.send_flags |= IBV_SEND_SOLICITED;
    if (fence)
        request.send_flags |= IBV_SEND_FENCE;
    if (invalidate != UINT64_MAX) {
        request.opcode = IBV_WR_SEND_WITH_INV;
        request.invalidate_rkey = (uint32_t)invalidate;
    }
    return post_buffer(work, &request, reply);
}

int agent_write(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    struct agent_stream *stream = open_stream(agent, command, reply);
    struct ibv_send_wr request = {.opcode = IBV_WR_RDMA_WRITE};
    uint64_t stag = 0, to = 0;
    struct agent_work *work;
    uint8_t *octets = NULL;
    bool fence = false;
    size_t count = 0;

    if (stream != NULL && json_object_get(command, "stag") == NULL)
        return agent_refuse(reply, "a Write needs \"stag\"");
    if (stream == NULL || agent_number(command, "stag", &stag, UINT32_MAX, reply) != 0 ||
        agent_number(command, "to", &to, UINT64_MAX, reply) != 0 || agent_flag(command, "fence", &fence, reply) != 0 ||
        payload(command, &octets, &count, reply) != 0)
        return -1;
    work = work_new(stream, WORK_WRITE, octets, count, json_object_get(command, "id"), reply);
    if (work == NULL)
        return -1;
    if (fence)
        request.send_flags = IBV_SEND_FENCE;
    request.wr.rdma.rkey = (uint32_t)stag;
    request.wr.rdma.remote_addr = to;
    return post_buffer(work, &request, reply);
}

int agent_read(struct agent *agent, const json_t *command, struct agent_reply *reply)
{
    struct agent_stream *stream = open_stream(agent, command, reply);
    struct ibv_send_wr request = {.opcode = IBV_WR_RDMA_READ, .num_sge = 1};
    uint64_t source_stag = 0, source_to = 0, sink_stag = UINT64_MAX, sink_to = 0, length = 0;
    struct agent_region *sink;
    struct agent_work *work;
    struct ibv_sge sge;

    if (stream == NULL || agent_number(command, "source_stag", &source_stag, UINT32_MAX, reply) != 0 ||
        agent_number(command, "source_to", &source_to, UINT64_MAX, reply) != 0 ||
        agent_number(command, "sink_stag", &sink_stag, UINT32_MAX, reply) != 0 ||
        agent_number(command, "sink_to", &sink_to, UINT64_MAX, reply) != 0 ||
        agent_number(command, "length", &length, MESSAGE_MOST, reply) != 0)
        return -1;
    for (sink = agent->regions; sink != NULL && sink->stag != sink_stag; sink = sink->next)
        ;
    if (sink_stag == UINT64_MAX && length != 0)
        return agent_refuse(reply, "a Read of more than nothing needs \"sink_stag\"");
    if (sink_stag != UINT64_MAX && (sink == NULL || sink->mr == NULL))
        return agent_refuse(reply, "\"sink_stag\": no memory with this STag");
    work = work_new(stream, WORK_READ, NULL, length, json_object_get(command, "id"), reply);
    if (work == NULL)
        return -1;
    sge.addr = sink != NULL ? sink_to : (uintptr_t)agent->scratch_octets;
    sge.length = (uint32_t)length;
    sge.lkey = sink != NULL ? sink->mr->lkey : agent->scratch[stream->config.pd]->lkey;
    request.sg_list = &sge;
    request.wr.rdma.rkey = (uint32_t)source_stag;
    request.wr.rdma.remote_addr = source_to;
    return post(work, &request, reply);
}

static void echo(struct agent_work *work, size_t octets)
{
    struct agent_reply reply = {.json = json_object()};
    uint8_t *copy = malloc(octets + 1);
    struct agent_work *answer;
    struct ibv_send_wr request = {.opcode = IBV_WR_SEND};

    if (copy != NULL) {
        memcpy(copy, work->octets, octets);
        answer = work_new(work->stream, WORK_SEND, copy, octets, NULL, &reply);
        if (answer != NULL)
            (void)post_buffer(answer, &request, &reply);
    }
    json_decref(reply.json);
}

static void received(struct agent_work *work, const struct ibv_wc *done)
{
    struct agent_stream *stream = work->stream;
    bool invalidated = (done->wc_flags & IBV_WC_WITH_INV) != 0;
    /* A device under test may say that it has put more into the buffer than that holds. */
    size_t octets = done->byte_len < work->length ? done->byte_len : work->length;
    /* No "opcode": verbs do not say whether a Solicited Event was asked for, by which the four Sends differ. */
    json_t *more =
        json_pack("{s:I, s:o}", "octets", (json_int_t)done->byte_len, "data", upper_hex(work->octets, octets));

    json_object_set_new(more, "invalidated", invalidated ? json_integer(done->invalidated_rkey) : json_false());
    agent_event(stream->agent, stream, "receive", more);
    if (stream->config.echo)
        echo(work, octets);
    if (!stream->config.repost || repost(work) != 0)
        agent_work_free(work);
}

static void completed(struct agent_work *work, const struct ibv_wc *done)
{
    struct agent_stream *stream = work->stream;
    json_t *more = json_object();
    char name[32];

    if (done->status == IBV_WC_SUCCESS) {
        if (work->kind == WORK_RECEIVE) {
            json_decref(more);
            received(work, done);
            return;
        }
        (void)snprintf(name, sizeof(name), "%s_done", kind_names[work->kind]);
        json_object_set_new(more, "octets", json_integer((json_int_t)work->length));
    } else {
        (void)snprintf(name, sizeof(name), "%s", done->status == IBV_WC_WR_FLUSH_ERR ? "flushed" : "error");
        json_object_set_new(more, "work", json_string(kind_names[work->kind]));
        if (done->status != IBV_WC_WR_FLUSH_ERR)
            json_object_set_new(more, "text", json_string(ibv_wc_status_str(done->status)));
    }
    if (work->id != NULL)
        json_object_set(more, "id", work->id);
    if (done->status == IBV_WC_WR_FLUSH_ERR && work->id == NULL)
        json_decref(more);
    else
        agent_event(stream->agent, stream, name, more);
    agent_work_free(work);
}

/* What a completion is of; NULL: of nothing that is posted (any more). */
static struct agent_work *work_of(const struct agent_stream *stream, uint64_t wr_id)
{
    for (struct agent_work *work = stream->work; work != NULL; work = work->next)
        if ((uintptr_t)work == wr_id)
            return work;
    return NULL;
}

void agent_handle_completions(struct agent_stream *stream)
{
    struct ibv_wc done;

    while (stream->cq != NULL && ibv_poll_cq(stream->cq, 1, &done) > 0) {
        struct agent_work *work = work_of(stream, done.wr_id);

        if (work != NULL) /* a device under test may complete a request twice */
            completed(work, &done);
        else
            agent_event(stream->agent, stream, "completion_of_nothing",
                        json_pack("{s:s}", "text", ibv_wc_status_str(done.status)));
    }
}
