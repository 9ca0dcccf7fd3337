/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As much of verbs and rdma_cm as warpcheck-agent uses, for a device that a fuzz target plays: names and members are
 * those of rdma-core, whose libraries a machine without an RDMA device need not have.
 */
#ifndef TESTS_FUZZ_FAKE_VERBS_H
#define TESTS_FUZZ_FAKE_VERBS_H

#define AGENT_OTHER_VERBS /* agent.h declares none then */

#include <netinet/in.h>
#include <stdint.h>

enum { IBV_ACCESS_LOCAL_WRITE = 1, IBV_ACCESS_REMOTE_WRITE = 2, IBV_ACCESS_REMOTE_READ = 4 };
enum ibv_wr_opcode { IBV_WR_RDMA_WRITE, IBV_WR_SEND = 2, IBV_WR_RDMA_READ = 4, IBV_WR_SEND_WITH_INV = 9 };
enum { IBV_SEND_FENCE = 1, IBV_SEND_SIGNALED = 2, IBV_SEND_SOLICITED = 4 };
enum ibv_wc_status { IBV_WC_SUCCESS, IBV_WC_LOC_LEN_ERR, IBV_WC_WR_FLUSH_ERR = 5 };
enum { IBV_WC_WITH_INV = 8 };
enum { IBV_QPT_RC = 2 };

struct ibv_device {
    char name[16];
};

struct ibv_context {
    struct ibv_device *device;
    int cmd_fd, async_fd;
};

struct ibv_device_attr {
    int max_qp_rd_atom, max_qp_init_rd_atom;
};

struct ibv_pd {
    struct ibv_context *context;
};

struct ibv_mr {
    struct ibv_pd *pd;
    void *addr;
    size_t length;
    uint32_t lkey, rkey;
};

struct ibv_comp_channel {
    int fd;
};

struct ibv_cq {
    void *cq_context;
};

struct ibv_qp {
    uint32_t handle;
};

struct ibv_qp_cap {
    uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge;
};

struct ibv_qp_init_attr {
    struct ibv_cq *send_cq, *recv_cq;
    int qp_type;
    struct ibv_qp_cap cap;
};

struct ibv_sge {
    uint64_t addr;
    uint32_t length, lkey;
};

struct ibv_send_wr {
    uint64_t wr_id;
    struct ibv_sge *sg_list;
    int num_sge;
    enum ibv_wr_opcode opcode;
    unsigned send_flags;
    uint32_t invalidate_rkey;
    union {
        struct {
            uint64_t remote_addr;
            uint32_t rkey;
        } rdma;
    } wr;
};

struct ibv_recv_wr {
    uint64_t wr_id;
    struct ibv_sge *sg_list;
    int num_sge;
};

struct ibv_wc {
    uint64_t wr_id;
    enum ibv_wc_status status;
    uint32_t byte_len, invalidated_rkey;
    unsigned wc_flags;
};

struct ibv_async_event {
    int event_type;
};

const char *ibv_get_device_name(struct ibv_device *device);
int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attributes);
struct ibv_pd *ibv_alloc_pd(struct ibv_context *context);
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *octets, size_t length, int access);
int ibv_dereg_mr(struct ibv_mr *mr);
struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context);
struct ibv_cq *ibv_create_cq(struct ibv_context *context, int entries, void *user, struct ibv_comp_channel *channel,
                             int vector);
int ibv_destroy_cq(struct ibv_cq *cq);
int ibv_req_notify_cq(struct ibv_cq *cq, int solicited_only);
int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **user);
void ibv_ack_cq_events(struct ibv_cq *cq, unsigned count);
int ibv_poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *done);
const char *ibv_wc_status_str(enum ibv_wc_status status);
int ibv_post_send(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad);
int ibv_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *request, struct ibv_recv_wr **bad);
int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event);
void ibv_ack_async_event(struct ibv_async_event *event);

enum { RDMA_PS_IB = 0x13F, RDMA_PS_TCP = 0x106, RDMA_PS_UDP = 0x111, RDMA_OPTION_ID = 0, RDMA_OPTION_ID_AFONLY = 2 };

enum rdma_cm_event_type {
    RDMA_CM_EVENT_ADDR_RESOLVED,
    RDMA_CM_EVENT_ADDR_ERROR,
    RDMA_CM_EVENT_ROUTE_RESOLVED,
    RDMA_CM_EVENT_ROUTE_ERROR,
    RDMA_CM_EVENT_CONNECT_REQUEST,
    RDMA_CM_EVENT_CONNECT_ERROR,
    RDMA_CM_EVENT_UNREACHABLE,
    RDMA_CM_EVENT_REJECTED,
    RDMA_CM_EVENT_ESTABLISHED,
    RDMA_CM_EVENT_DISCONNECTED,
    RDMA_CM_EVENTS
};

struct rdma_event_channel {
    int fd;
};

struct rdma_addr {
    union {
        struct sockaddr src_addr;
        struct sockaddr_in6 src_sin6;
    };
    union {
        struct sockaddr dst_addr;
        struct sockaddr_in dst_sin;
    };
};

struct rdma_cm_id {
    void *context;
    struct ibv_qp *qp;
    struct {
        struct rdma_addr addr;
    } route;
};

struct rdma_conn_param {
    const void *private_data;
    uint8_t private_data_len, responder_resources, initiator_depth, rnr_retry_count;
};

struct rdma_cm_event {
    struct rdma_cm_id *id, *listen_id;
    enum rdma_cm_event_type event;
    int status;
    union {
        struct rdma_conn_param conn;
    } param;
};

struct ibv_context **rdma_get_devices(int *count);
struct rdma_event_channel *rdma_create_event_channel(void);
int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *user, int space);
int rdma_destroy_id(struct rdma_cm_id *id);
int rdma_set_option(struct rdma_cm_id *id, int level, int name, void *value, size_t octets);
int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address);
int rdma_listen(struct rdma_cm_id *id, int backlog);
static inline struct sockaddr *rdma_get_local_addr(struct rdma_cm_id *id)
{
    return &id->route.addr.src_addr;
}
static inline struct sockaddr *rdma_get_peer_addr(struct rdma_cm_id *id)
{
    return &id->route.addr.dst_addr;
}
uint16_t rdma_get_src_port(struct rdma_cm_id *id);
uint16_t rdma_get_dst_port(struct rdma_cm_id *id);
int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int milliseconds);
int rdma_resolve_route(struct rdma_cm_id *id, int milliseconds);
int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attributes);
void rdma_destroy_qp(struct rdma_cm_id *id);
int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param);
int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param);
int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t octets);
int rdma_disconnect(struct rdma_cm_id *id);
int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event);
int rdma_ack_cm_event(struct rdma_cm_event *event);
const char *rdma_event_str(enum rdma_cm_event_type event);

#endif
