/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/fake_device.h"

#include <arpa/inet.h>
#include <errno.h>

enum { POSTED_MAX = 1024, EVENTS_MAX = 256, IDS_MAX = 256, COMPLETIONS_MAX = 1024 };

/* The device's side of an identifier, and of its queue pair. */
struct fake_id {
    struct rdma_cm_id id; /* the first member */
    struct ibv_qp qp;
    struct fake_cq *cq;
    uint16_t port, peer_port;
    bool listening, connecting, requested, open;
};

struct fake_cq {
    struct ibv_cq cq; /* the first member */
    struct ibv_wc done[COMPLETIONS_MAX];
    size_t count;
    struct fake_cq *next;
};

struct posted {
    struct fake_id *id;
    uint64_t wr_id;
    struct ibv_sge sge; /* length 0: none */
    bool receive;
};

struct ibv_context fake_context;
struct rdma_event_channel fake_events = {.fd = -1};
struct ibv_comp_channel fake_completions = {.fd = -1};

static struct {
    struct fake_id *ids[IDS_MAX];
    size_t id_count;
    struct posted posted[POSTED_MAX];
    size_t posted_count;
    struct rdma_cm_event events[EVENTS_MAX];
    size_t event_count;
    size_t held;
    unsigned fails_after; /* 0: no call fails */
    uint32_t last_key;
    uint16_t last_port;
} device;

static struct ibv_device named = {.name = "fuzz0"};
struct ibv_pd fake_domain;

void fake_device_fail(unsigned after)
{
    device.fails_after = after + 1;
}

uint32_t fake_device_next_key(void)
{
    return ++device.last_key;
}

size_t fake_device_held(void)
{
    return device.held;
}

bool fake_device_fails(void)
{
    if (device.fails_after == 0 || --device.fails_after != 0)
        return false;
    errno = ENOMEM;
    return true;
}

void *fake_device_made(size_t octets)
{
    void *memory = calloc(1, octets);

    FUZZ_HOLDS(memory != NULL);
    device.held++;
    return memory;
}

void fake_device_unmade(void *memory)
{
    FUZZ_HOLDS(device.held-- != 0);
    free(memory);
}

static struct fake_id *fake_of(struct rdma_cm_id *id)
{
    for (size_t i = 0; i < device.id_count; i++)
        if (&device.ids[i]->id == id)
            return device.ids[i];
    (void)fprintf(stderr, "the agent uses an identifier that is not the device's\n");
    abort();
}

/*
 * ---- events -------------------------------------------------------------------------------------------------------
 */

static void event_of(struct fake_id *id, enum rdma_cm_event_type kind, struct fake_id *listener)
{
    static const uint8_t data[4] = {1, 2, 3, 4};
    struct rdma_cm_event *event = &device.events[device.event_count];

    if (device.event_count == EVENTS_MAX)
        return;
    device.event_count++;
    *event = (struct rdma_cm_event){.id = &id->id, .event = kind};
    event->listen_id = listener != NULL ? &listener->id : NULL;
    event->param.conn = (struct rdma_conn_param){.private_data = kind % 2 != 0 ? data : NULL,
                                                 .private_data_len = kind % 2 != 0 ? sizeof(data) : 0,
                                                 .responder_resources = 3,
                                                 .initiator_depth = 200};
}

/* Events of an identifier that goes are not delivered any more, and neither are Requests to a listener that goes. */
static void forget_events(const struct rdma_cm_id *id)
{
    size_t kept = 0;

    for (size_t i = 0; i < device.event_count; i++)
        if (device.events[i].id != id && device.events[i].listen_id != id)
            device.events[kept++] = device.events[i];
    device.event_count = kept;
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
    FUZZ_HOLDS(channel == &fake_events);
    if (device.event_count == 0 || fake_device_fails()) {
        errno = EAGAIN;
        return -1;
    }
    *event = fake_device_made(sizeof(**event));
    **event = device.events[0];
    device.event_count--;
    memmove(&device.events[0], &device.events[1], device.event_count * sizeof(device.events[0]));
    return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
    fake_device_unmade(event);
    return 0;
}

/*
 * ---- identifiers --------------------------------------------------------------------------------------------------
 */

static struct fake_id *id_new(void *user)
{
    struct fake_id *id;

    if (device.id_count == IDS_MAX)
        return NULL;
    id = fake_device_made(sizeof(*id));
    id->id.context = user;
    device.ids[device.id_count++] = id;
    return id;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *user, int space)
{
    struct fake_id *fake = fake_device_fails() ? NULL : id_new(user);

    FUZZ_HOLDS(channel == &fake_events && space == RDMA_PS_TCP);
    if (fake == NULL) {
        errno = ENOMEM;
        return -1;
    }
    *id = &fake->id;
    return 0;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
    struct fake_id *fake = fake_of(id);

    FUZZ_HOLDS(id->qp == NULL); /* rdma_cm asks for that */
    forget_events(id);
    for (size_t i = 0; i < device.id_count; i++)
        if (device.ids[i] == fake)
            device.ids[i] = device.ids[--device.id_count];
    fake_device_unmade(fake);
    return 0;
}

int rdma_set_option(struct rdma_cm_id *id, int level, int name, void *value, size_t octets)
{
    FUZZ_HOLDS(fake_of(id) != NULL && level == RDMA_OPTION_ID && name == RDMA_OPTION_ID_AFONLY && value != NULL);
    return octets == sizeof(int) ? 0 : -1;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address)
{
    uint16_t port = address->sa_family == AF_INET ? ((struct sockaddr_in *)(void *)address)->sin_port
                                                  : ((struct sockaddr_in6 *)(void *)address)->sin6_port;

    fake_of(id)->port = port != 0 ? ntohs(port) : (uint16_t)(20000 + ++device.last_port % 1000);
    return fake_device_fails() ? -1 : 0;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
    if (backlog <= 0 || fake_device_fails())
        return -1;
    fake_of(id)->listening = true;
    return 0;
}

uint16_t rdma_get_src_port(struct rdma_cm_id *id)
{
    return htons(fake_of(id)->port);
}

uint16_t rdma_get_dst_port(struct rdma_cm_id *id)
{
    return htons(fake_of(id)->peer_port);
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int milliseconds)
{
    FUZZ_HOLDS(from == NULL && to != NULL && milliseconds > 0);
    if (fake_device_fails())
        return -1;
    event_of(fake_of(id), RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
    return 0;
}

int rdma_resolve_route(struct rdma_cm_id *id, int milliseconds)
{
    if (milliseconds <= 0 || fake_device_fails())
        return -1;
    event_of(fake_of(id), RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
    return 0;
}

static void check_param(const struct rdma_conn_param *param)
{
    fuzz_touch(param->private_data, param->private_data_len);
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
    check_param(param);
    FUZZ_HOLDS(id->qp != NULL);
    if (fake_device_fails())
        return -1;
    fake_of(id)->connecting = true;
    return 0;
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
    struct fake_id *fake = fake_of(id);

    check_param(param);
    FUZZ_HOLDS(id->qp != NULL);
    if (!fake->requested || fake_device_fails())
        return -1;
    fake->requested = false;
    fake->connecting = true;
    return 0;
}

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t octets)
{
    struct rdma_conn_param param = {.private_data = data, .private_data_len = octets};

    check_param(&param);
    if (!fake_of(id)->requested || fake_device_fails())
        return -1;
    fake_of(id)->requested = false;
    return 0;
}

static void flush(struct fake_id *id);

int rdma_disconnect(struct rdma_cm_id *id)
{
    struct fake_id *fake = fake_of(id);

    flush(fake);
    if (!fake->open || fake_device_fails())
        return -1;
    fake->open = false;
    event_of(fake, RDMA_CM_EVENT_DISCONNECTED, NULL);
    return 0;
}

/*
 * ---- queues -------------------------------------------------------------------------------------------------------
 */

static void complete(size_t which, enum ibv_wc_status status, uint8_t how)
{
    struct posted posted = device.posted[which];
    struct fake_cq *cq = posted.id->cq;
    struct ibv_wc *done = &cq->done[cq->count];

    device.posted_count--;
    memmove(&device.posted[which], &device.posted[which + 1], (device.posted_count - which) * sizeof(device.posted[0]));
    if (cq->count == COMPLETIONS_MAX)
        return;
    cq->count++;
    *done = (struct ibv_wc){.wr_id = posted.wr_id, .status = status};
    if (status != IBV_WC_SUCCESS || !posted.receive)
        return;
    done->byte_len = posted.sge.length < how ? posted.sge.length : how;
    done->wc_flags = how & 1 ? IBV_WC_WITH_INV : 0;
    done->invalidated_rkey = how;
    if (done->byte_len != 0)
        memset((void *)(uintptr_t)posted.sge.addr, how, done->byte_len); /* NOLINT: where the work request points to */
    if (how == '~')
        done->byte_len += 1000; /* more than there is room for */
}

static void flush(struct fake_id *id)
{
    for (size_t i = 0; i < device.posted_count;) {
        if (device.posted[i].id == id && id->cq != NULL)
            complete(i, IBV_WC_WR_FLUSH_ERR, 0);
        else
            i++;
    }
}

static int post(struct ibv_qp *qp, uint64_t wr_id, const struct ibv_sge *sge, bool receive)
{
    struct posted *posted = &device.posted[device.posted_count];

    if (device.posted_count == POSTED_MAX || fake_device_fails())
        return ENOMEM;
    *posted = (struct posted){.wr_id = wr_id, .receive = receive};
    for (size_t i = 0; i < device.id_count; i++)
        if (device.ids[i]->id.qp == qp)
            posted->id = device.ids[i];
    FUZZ_HOLDS(posted->id != NULL);
    if (sge != NULL)
        posted->sge = *sge;
    if (!receive)
        fuzz_touch((const void *)(uintptr_t)posted->sge.addr, posted->sge.length); /* NOLINT: where it points to */
    device.posted_count++;
    return 0;
}

int ibv_post_send(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad)
{
    bool read = request->opcode == IBV_WR_RDMA_READ; /* its sink is any address that the command named */

    *bad = request;
    return post(qp, request->wr_id, request->num_sge != 0 && !read ? request->sg_list : NULL, false);
}

int ibv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *request, struct ibv_recv_wr **bad)
{
    *bad = request;
    return post(qp, request->wr_id, request->num_sge != 0 ? request->sg_list : NULL, true);
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attributes)
{
    struct fake_id *fake = fake_of(id);

    FUZZ_HOLDS(pd == &fake_domain && id->qp == NULL && attributes->send_cq == attributes->recv_cq);
    if (fake_device_fails())
        return -1;
    fake->cq = (struct fake_cq *)(void *)attributes->send_cq;
    id->qp = &fake->qp;
    return 0;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
    struct fake_id *fake = fake_of(id);

    flush(fake);
    id->qp = NULL;
    fake->cq = NULL;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int entries, void *user, struct ibv_comp_channel *channel,
                             int vector)
{
    struct fake_cq *cq;

    FUZZ_HOLDS(context == &fake_context && channel == &fake_completions && entries > 0 && vector == 0);
    if (fake_device_fails())
        return NULL;
    cq = fake_device_made(sizeof(*cq));
    cq->cq.cq_context = user;
    return &cq->cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
    for (size_t i = 0; i < device.id_count; i++)
        if (device.ids[i]->cq == (struct fake_cq *)(void *)cq)
            return EBUSY;
    fake_device_unmade(cq);
    return 0;
}

int ibv_poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *done)
{
    struct fake_cq *fake = (struct fake_cq *)(void *)cq;

    FUZZ_HOLDS(count == 1);
    if (fake->count == 0)
        return 0;
    *done = fake->done[0];
    fake->count--;
    memmove(&fake->done[0], &fake->done[1], fake->count * sizeof(fake->done[0]));
    return 1;
}

/*
 * ---- what happens -------------------------------------------------------------------------------------------------
 */

void fake_device_reset(void)
{
    FUZZ_HOLDS(device.held == 0 && device.id_count == 0);
    memset(&device, 0, sizeof(device));
    fake_context.device = &named;
    fake_context.cmd_fd = fake_context.async_fd = -1;
    fake_domain.context = &fake_context;
}

/* The `how`-th identifier of those in a state, which is named by its member's place. */
static struct fake_id *some_id(uint8_t how, size_t state)
{
    struct fake_id *found[IDS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < device.id_count; i++)
        if (*(const bool *)((const char *)device.ids[i] + state))
            found[count++] = device.ids[i];
    return count != 0 ? found[how % count] : NULL;
}

static void request_arrives(uint8_t how)
{
    struct fake_id *listener = some_id(how, offsetof(struct fake_id, listening));
    struct fake_id *id = listener != NULL ? id_new(listener->id.context) : NULL;

    if (id == NULL)
        return;
    id->requested = true;
    id->port = listener->port;
    id->peer_port = 40000;
    id->id.route.addr.src_addr.sa_family = how % 3 == 0 ? AF_INET : how % 3 == 1 ? AF_INET6 : AF_IB;
    id->id.route.addr.dst_sin.sin_family = AF_INET;
    id->id.route.addr.dst_sin.sin_port = htons(id->peer_port);
    event_of(id, RDMA_CM_EVENT_CONNECT_REQUEST, listener);
}

static void connection_opens(uint8_t how)
{
    struct fake_id *id = some_id(how, offsetof(struct fake_id, connecting));

    if (id == NULL)
        return;
    id->connecting = false;
    id->open = how < 192;
    event_of(id, id->open ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_ERROR + how % 3, NULL);
}

void fake_device_act(uint8_t what, uint8_t how)
{
    struct fake_id *id;

    switch (what % 5) {
    case 0: request_arrives(how); break;
    case 1: connection_opens(how); break;
    case 2:
        if (device.posted_count != 0)
            complete(how % device.posted_count, how < 240 ? IBV_WC_SUCCESS : IBV_WC_LOC_LEN_ERR, how);
        break;
    case 3:
        id = some_id(how, offsetof(struct fake_id, open));
        if (id != NULL) {
            id->open = false;
            flush(id);
            event_of(id, RDMA_CM_EVENT_DISCONNECTED, NULL);
        }
        break;
    default: fake_device_fail(how); break;
    }
}
