/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows: how they are made, and what they are called. */
#include "conformance/flow/event/flow.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/flow/event/flow_common.h"

const char *flow_kind_text(enum flow_kind kind)
{
    static const char *const texts[FLOW_KINDS] = {"TCP connection", "SCTP association", "DDP stream", "CM exchange"};

    return (unsigned)kind < FLOW_KINDS ? texts[kind] : "";
}

const char *flow_role(const struct flow *flow, enum flow_direction direction)
{
    if (!flow->roles_known)
        return NULL;
    return direction == FLOW_FROM_INITIATOR ? "initiator" : "responder";
}

static void end_name(const struct flow_address *address, bool without_port, char *text, size_t room)
{
    char number[INET6_ADDRSTRLEN] = "?";

    if (address->family == 0)
        snprintf(number, sizeof(number), "lid 0x%04x", (unsigned)octets_get16(address->octets));
    else
        inet_ntop(address->family == 6 ? AF_INET6 : AF_INET, address->octets, number, sizeof(number));
    if (without_port)
        snprintf(text, room, "%s", number);
    else
        snprintf(text, room, address->family == 6 ? "[%s]:%u" : "%s:%u", number, (unsigned)address->port);
}

/* clang-format off */
static const char *const tunnel_names[FLOW_TUNNEL_KINDS] = {
    [FLOW_IN_NOTHING] = "no tunnel",
#define TUNNEL_NAME(name, words) [FLOW_IN_##name] = (words),
    FLOW_TUNNELS(TUNNEL_NAME)
#undef TUNNEL_NAME
};
/* clang-format on */

const char *flow_tunnel_name(enum flow_tunnel_kind kind)
{
    return tunnel_names[kind];
}

/* "from>to", what distinguishes flows of these ends, and the tunnel around it. */
static const char *ends_name(const struct flow_address *const ends[2], bool without_ports, const char *more,
                             const struct flow_tunnel *tunnel, char *text, size_t room)
{
    char from[INET6_ADDRSTRLEN + 9], to[INET6_ADDRSTRLEN + 9], in[32] = "";

    end_name(ends[0], without_ports, from, sizeof(from));
    end_name(ends[1], without_ports, to, sizeof(to));
    if (tunnel->network != 0)
        snprintf(in, sizeof(in), " in %s %u", flow_tunnel_name(tunnel->kind), (unsigned)tunnel->network);
    else if (tunnel->kind != FLOW_IN_NOTHING)
        snprintf(in, sizeof(in), " in %s", flow_tunnel_name(tunnel->kind));
    snprintf(text, room, "%s>%s%s%s", from, to, more, in);
    return text;
}

const char *flow_port_mapper_name(const struct flow_port_mapper *said, char *text, size_t room)
{
    const struct flow_address *const ends[2] = {said->source, said->destination};

    return ends_name(ends, false, "", &said->tunnel, text, room);
}

const char *flow_name(const struct flow *flow, enum flow_direction direction, char *text, size_t room)
{
    const struct flow_address *const ends[2] = {&flow->address[direction], &flow->address[flow_reverse(direction)]};
    char more[20] = "";

    if (flow->kind == FLOW_STREAM)
        snprintf(more, sizeof(more), " sid %u", (unsigned)flow->sctp->sid);
    else if (flow->kind == FLOW_CM_EXCHANGE)
        snprintf(more, sizeof(more), " id 0x%08x", (unsigned)flow->cm->id[FLOW_FROM_INITIATOR]);
    return ends_name(ends, flow->kind == FLOW_CM_EXCHANGE, more, &flow->tunnel, text, room);
}

static size_t aligned(size_t octets)
{
    return (octets + 15) & ~(size_t)15;
}

/* What a flow has by its kind alone. */
static size_t own_octets(enum flow_kind kind)
{
    static const size_t octets[FLOW_KINDS] = {
        [FLOW_CONNECTION] = sizeof(struct flow_tcp_state),
        [FLOW_ASSOCIATION] = sizeof(struct flow_sctp_state),
        [FLOW_STREAM] = sizeof(struct flow_sctp_state),
        [FLOW_CM_EXCHANGE] = sizeof(struct flow_cm_state),
    };

    return aligned(octets[kind]);
}

static void begin_halves(struct flow *flow, void *halves)
{
    flow->half = halves;
    for (unsigned i = 0; i < FLOW_DIRECTIONS; i++) {
        if (flow->kind == FLOW_CONNECTION)
            flow->half[i].tcp = &flow->tcp->half[i];
        for (unsigned queue = 0; queue < FLOW_QUEUES; queue++)
            flow->half[i].queue[queue].next_msn = DDP_FIRST_MSN;
    }
}

struct flow *flow_make(struct flow_common *common, enum flow_kind kind, uint64_t frame, uint64_t time_ns)
{
    bool has_ddp = kind == FLOW_CONNECTION || kind == FLOW_STREAM;
    size_t head = aligned(sizeof(struct flow)), own = own_octets(kind);
    size_t halves = has_ddp ? aligned(FLOW_DIRECTIONS * sizeof(struct flow_half)) : 0;
    size_t rules = aligned(common->config.rule_state_octets);
    uint8_t *octets = calloc(1, head + own + halves + rules);
    struct flow *flow = (struct flow *)(void *)octets;

    if (octets == NULL) {
        out_of_memory_note();
        return NULL;
    }
    flow->kind = kind;
    flow->number = ++common->totals.flows;
    flow->first_frame = flow->last_frame = frame;
    flow->first_ns = flow->last_ns = time_ns;
    flow->revision = MPA_REV_1;
    flow->rule_state = common->config.rule_state_octets != 0 ? octets + head + own + halves : NULL;
    if (kind == FLOW_CONNECTION)
        flow->tcp = (void *)(octets + head);
    else if (kind == FLOW_CM_EXCHANGE)
        flow->cm = (void *)(octets + head);
    else
        flow->sctp = (void *)(octets + head);
    if (has_ddp)
        begin_halves(flow, octets + head + own);
    return flow;
}

void flow_free(struct flow *flow)
{
    for (unsigned i = 0; flow != NULL && i < FLOW_DIRECTIONS; i++) {
        if (flow->half != NULL) {
            free(flow->half[i].requests);
            free(flow->half[i].sent);
        }
        if (flow->kind == FLOW_CONNECTION)
            free(flow->tcp->start[i].private_copy);
    }
    if (flow != NULL)
        free(flow->ulp);
    free(flow);
}

/* ---- totals ---- */

/* Adds `others` to `totals`, each counter `times` times: 1, or UINT64_MAX, which is -1. */
static void totals_combine(struct flow_totals *totals, const struct flow_totals *others, uint64_t times)
{
    enum { COUNTERS = sizeof(*totals) / sizeof(uint64_t) };
    uint64_t sums[COUNTERS], more[COUNTERS];

    _Static_assert(sizeof(*totals) % sizeof(uint64_t) == 0, "totals are counters, and nothing else");
    memcpy(sums, totals, sizeof(sums));
    memcpy(more, others, sizeof(more));
    for (size_t i = 0; i < COUNTERS; i++)
        sums[i] += times * more[i];
    memcpy(totals, sums, sizeof(sums));
}

bool flow_totals_balanced(const struct flow_totals *totals)
{
    struct flow_count judged = flow_account_sum(&totals->account, FLOW_JUDGED);
    struct flow_count foreign = flow_account_sum(&totals->account, FLOW_FOREIGN);
    struct flow_count unjudged = flow_account_sum(&totals->account, FLOW_UNJUDGED);

    return judged.frames + foreign.frames + unjudged.frames == totals->frames &&
           judged.octets + foreign.octets + unjudged.octets == totals->octets;
}

void flow_totals_add(struct flow_totals *totals, const struct flow_totals *others)
{
    totals_combine(totals, others, 1);
}

void flow_totals_subtract(struct flow_totals *totals, const struct flow_totals *others)
{
    totals_combine(totals, others, UINT64_MAX);
}
