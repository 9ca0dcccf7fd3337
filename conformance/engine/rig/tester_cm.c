/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/rig/tester_cm.h"

#include <string.h>

#include "conformance/engine/rig/rig.h"
#include "generator/cm/roce_frame.h"

enum { TCP_PROTOCOL = 6, MEASURE_ATTEMPTS = 5, MEASURE_TIMEOUT = 18, CLIENT_PORT = 49152 };

#define SECOND UINT64_C(1000000000)

/* False: the MAC is not known yet. */
static bool emit_now(struct tester_cm *cm, const struct tester_cm_waiting *mad)
{
    struct roce_ends ends = {.source = cm->rig->own, .destination = mad->to, .icrc_flip = mad->icrc_flip};
    uint8_t frame[ROCE_FRAME_MAX];
    size_t octets;

    if (!tcp_stack_neighbour(cm->rig->tcp.stack, &mad->to, ends.destination_mac))
        return false;
    memcpy(ends.source_mac, cm->mac, sizeof(ends.source_mac));
    ends.psn = cm->psn++;
    octets = roce_frame_build(frame, sizeof(frame), &ends, mad->mad);
    if (octets != 0 && link_send(cm->rig->link, frame, octets) != 0)
        cm->rig->failure = cm->rig->link->error;
    return true;
}

static void emit_waiting(struct tester_cm *cm)
{
    size_t sent = 0;

    while (sent < cm->waiting_count && emit_now(cm, &cm->waiting[sent]))
        sent++;
    cm->waiting_count -= sent;
    memmove(cm->waiting, cm->waiting + sent, cm->waiting_count * sizeof(cm->waiting[0]));
}

static void emit(void *context, const struct net_address *to, const uint8_t mad[MAD_OCTETS], uint32_t icrc_flip)
{
    struct tester_cm *cm = context;
    struct tester_cm_waiting *last = &cm->waiting[cm->waiting_count];

    if (cm->waiting_count == TESTER_CM_WAITING)
        return;
    last->to = *to;
    last->icrc_flip = icrc_flip;
    memcpy(last->mad, mad, MAD_OCTETS);
    cm->waiting_count++;
    emit_waiting(cm);
}

static void input(struct tester *tester, const uint8_t *frame, size_t octets, uint64_t now)
{
    struct tester_cm *cm = (struct tester_cm *)tester;
    struct roce_frame roce;

    cm_endpoint_set_time(cm->endpoint, now);
    emit_waiting(cm); /* the MAC may be known from this frame: the rig's TCP has read it first */
    if (roce_frame_parse(&roce, frame, octets) && net_address_equal(&roce.destination, &cm->rig->own))
        cm_endpoint_input(cm->endpoint, &roce.source, roce.mad, roce.icrc_good, now);
}

static uint64_t deadline(const struct tester *tester)
{
    return cm_endpoint_deadline(((const struct tester_cm *)tester)->endpoint);
}

static void tick(struct tester *tester, uint64_t now)
{
    struct tester_cm *cm = (struct tester_cm *)tester;

    emit_waiting(cm);
    cm_endpoint_tick(cm->endpoint, now);
}

/* A good REQ by the service to the rig's port of TCP. */
static void request(const struct rig *rig, const struct cm_exchange_status *status, uint8_t mad[MAD_OCTETS])
{
    uint8_t *body = mad + MAD_HEADER_OCTETS, *data;

    cm_begin(mad, CM_REQ, status->transaction);
    cm_req_set_LocalID(body, status->local_id);
    cm_req_set_ServiceID(body, ip_cm_service_id(TCP_PROTOCOL, rig->port));
    cm_req_set_CAGUID(body, status->ca_guid);
    cm_req_set_QPN(body, status->qpn);
    cm_req_set_PSN(body, status->psn);
    cm_req_set_RemoteTimeout(body, MEASURE_TIMEOUT);
    cm_req_set_LocalTimeout(body, MEASURE_TIMEOUT);
    cm_req_set_P_Key(body, 0xFFFF);
    cm_req_set_MTU(body, 3);
    cm_req_set_MaxRetries(body, MEASURE_ATTEMPTS - 1);
    cm_req_set_path(mad, rig->own.family, rig->own.octets, rig->dut.octets);
    data = cm_private(mad);
    ip_cm_private_set_IPV(data, rig->own.family);
    ip_cm_private_set_SourcePort(data, CLIENT_PORT);
    ip_cm_set_address(data + 4, rig->own.family, rig->own.octets);
    ip_cm_set_address(data + 20, rig->dut.family, rig->dut.octets);
}

/* The round trip from a REQ to any answer. */
static int measure(struct tester *tester, struct rig *rig, struct tester_exchange *exchange,
                   struct iwarp_sentence *error)
{
    struct tester_cm *cm = (struct tester_cm *)tester;
    struct cm_exchange_status status;
    struct cm_exchange *cm_exchange;
    uint8_t mad[MAD_OCTETS];
    char address[64];
    int pumped = 1;

    cm_endpoint_set_time(cm->endpoint, rig_now(rig));
    cm_exchange = cm_exchange_open(cm->endpoint, &rig->dut, error);
    if (cm_exchange == NULL)
        return -1;
    cm_exchange_status(cm_exchange, &status);
    request(rig, &status, mad);
    cm_exchange_send(cm_exchange, mad, &(struct cm_sending){MEASURE_ATTEMPTS, SECOND, 0});
    do {
        pumped = rig_pump(rig, rig_now(rig) + SECOND);
        cm_exchange_status(cm_exchange, &status);
    } while (pumped >= 0 && status.waiting);
    exchange->round_trip_ns = status.answered_ns;
    cm_endpoint_set_time(cm->endpoint, rig_now(rig));
    cm_exchange_release(cm_exchange);
    if (pumped < 0)
        return iwarp_sentence_set(error, "%s", rig->failure.text);
    if (status.state == CM_EXCHANGE_REQUESTED)
        return iwarp_sentence_set(error, "the device at %s did not answer a CM REQ to UDP port %d",
                                  net_address_format(&rig->dut, address, sizeof(address)), ROCE_V2_PORT);
    return 0;
}

static const struct tester_ops ops = {.input = input, .deadline = deadline, .tick = tick, .measure = measure};

int tester_cm_open(struct tester_cm *cm, struct rig *rig, const uint8_t mac[6], uint64_t seed,
                   struct iwarp_sentence *error)
{
    struct cm_endpoint_config config = {.seed = seed, .emit = emit, .context = cm};

    cm->tester = (struct tester){.ops = &ops};
    cm->rig = rig;
    memcpy(cm->mac, mac, sizeof(cm->mac));
    cm->endpoint = cm_endpoint_new(&config, error);
    if (cm->endpoint == NULL)
        return -1;
    cm_endpoint_set_time(cm->endpoint, rig_now(rig));
    rig_attach(rig, &cm->tester);
    return 0;
}

void tester_cm_close(struct tester_cm *cm)
{
    cm_endpoint_free(cm->endpoint);
    cm->endpoint = NULL;
}
