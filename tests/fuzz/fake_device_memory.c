/* SPDX-License-Identifier: BSD-2-Clause */
/* What of the device keeps no state but what is counted: names, memory, and the events that it never has. */
#include "tests/fuzz/fake_device.h"

enum { NO_EVENT = -1 };

const char *rdma_event_str(enum rdma_cm_event_type event)
{
    return event < RDMA_CM_EVENTS ? "an event" : "unknown";
}

int ibv_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
    return cq == NULL || solicited_only != 0 || fake_device_fails() ? -1 : 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **user)
{
    (void)cq;
    (void)user;
    FUZZ_HOLDS(channel == &fake_completions);
    return NO_EVENT; /* the agent looks into every queue anyway */
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned count)
{
    (void)cq;
    (void)count;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    (void)event;
    FUZZ_HOLDS(context == &fake_context);
    return NO_EVENT;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
    (void)event;
}

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
    return status == IBV_WC_SUCCESS ? "success" : "an error";
}

const char *ibv_get_device_name(struct ibv_device *of)
{
    return of->name;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    FUZZ_HOLDS(context == &fake_context);
    return fake_device_fails() ? NULL : &fake_domain;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *octets, size_t length, int access)
{
    struct ibv_mr *mr;

    FUZZ_HOLDS(pd == &fake_domain && length != 0 && access != 0);
    fuzz_touch(octets, 1);
    fuzz_touch((const uint8_t *)octets + length - 1, 1);
    if (fake_device_fails())
        return NULL;
    mr = fake_device_made(sizeof(*mr));
    *mr = (struct ibv_mr){.pd = pd, .addr = octets, .length = length, .lkey = fake_device_next_key()};
    mr->rkey = mr->lkey;
    return mr;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
    fake_device_unmade(mr);
    return 0;
}
