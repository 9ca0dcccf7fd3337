/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exchanges of CM messages. The requester's Local Communication ID names one among all between two addresses: it stands
 * as the local one in what the requester sends, as the remote one in what comes back (IBTA 12.9).
 */
#include "conformance/flow/event/flow_common.h"

#include <stdlib.h>
#include <string.h>

#include "conformance/flow/cm/flow_cm.h"
#include "conformance/flow/cm/flow_mad.h"

struct cm_key {
    uint8_t requester[16], other[16];
    uint32_t id;
    uint8_t family;
    uint8_t sidr;
    uint8_t zero[2];
    struct flow_tunnel tunnel;
};

struct cm_exchange {
    struct cm_key key;
    struct flow *flow;
    struct cm_exchange *newer, *older;
    bool listed_closed; /* it is in the list of those */
    UT_hash_handle hh;
};

static bool is_sidr(unsigned attribute)
{
    return attribute == CM_SIDR_REQ || attribute == CM_SIDR_REP;
}

/* The last message of an exchange came: more would begin another. */
static bool is_closed(const struct flow *flow)
{
    uint32_t seen = flow->cm->seen[FLOW_FROM_INITIATOR] | flow->cm->seen[FLOW_FROM_RESPONDER];

    return (seen & (1u << (CM_REJ - CM_REQ) | 1u << (CM_DREP - CM_REQ) | 1u << (CM_SIDR_REP - CM_REQ))) != 0;
}

static void list_leave(struct cm_decoder *cm, struct cm_exchange *exchange)
{
    if (exchange->listed_closed) {
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): end_exchange() takes what it frees off the list */
        DL_DELETE2(cm->oldest_closed, exchange, older, newer);
        cm->closed_count--;
    } else {
        DL_DELETE2(cm->oldest, exchange, older, newer);
    }
}

/* It is the newest one of its list. */
static void list_newest(struct cm_decoder *cm, struct cm_exchange *exchange)
{
    list_leave(cm, exchange);
    exchange->listed_closed = is_closed(exchange->flow);
    if (exchange->listed_closed) {
        DL_APPEND2(cm->oldest_closed, exchange, older, newer);
        cm->closed_count++;
    } else {
        DL_APPEND2(cm->oldest, exchange, older, newer);
    }
}

static void end_exchange(struct cm_decoder *cm, struct cm_exchange *exchange, bool tell, enum flow_reason reason)
{
    struct flow *flow = exchange->flow;

    if (tell) {
        struct flow_event event = {.kind = FLOW_END,
                                   .direction = FLOW_FROM_INITIATOR,
                                   .flow = flow,
                                   .frame = flow->last_frame,
                                   .first_frame = flow->last_frame,
                                   .time_ns = flow->last_ns,
                                   .reason = reason};

        flow_event_send(cm->common, &event);
    }
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): uthash: what is in the table has its neighbours */
    HASH_DEL(cm->exchanges, exchange);
    list_leave(cm, exchange);
    cm->count--;
    flow_free(flow);
    free(exchange);
}

static void end_all(struct cm_decoder *cm, bool tell)
{
    while (cm->oldest_closed != NULL)
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): end_exchange() takes it off the list */
        end_exchange(cm, cm->oldest_closed, tell, FLOW_REASON_COUNT);
    while (cm->oldest != NULL)
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): end_exchange() takes it off the list */
        end_exchange(cm, cm->oldest, tell, FLOW_REASON_COUNT);
}

struct cm_decoder *flow_cm_new(struct flow_common *common)
{
    struct cm_decoder *cm = calloc(1, sizeof(*cm));

    if (cm != NULL)
        cm->common = common;
    return cm;
}

void flow_cm_time(struct cm_decoder *cm)
{
    struct cm_exchange *next, *more;

    HASH_ITER (hh, cm->exchanges, next, more) {
        if (!flow_is_due(cm->common, next->flow->last_ns, next->listed_closed))
            continue;
        if (!next->listed_closed)
            flow_removed_note(cm->common, &next->key, sizeof(next->key));
        end_exchange(cm, next, true, next->listed_closed ? FLOW_REASON_COUNT : FLOW_REASON_IDLE);
    }
}

void flow_cm_dropped(struct cm_decoder *cm)
{
    for (struct cm_exchange *next = cm->exchanges; next != NULL; next = next->hh.next)
        flow_dropped(cm->common, next->flow);
}

void flow_cm_finish(struct cm_decoder *cm)
{
    end_all(cm, true);
}

void flow_cm_free(struct cm_decoder *cm)
{
    if (cm != NULL)
        end_all(cm, false);
    free(cm);
}

/* The exchange is that of the message's sender, or that of the other side. */
static void set_key(struct cm_key *key, const struct flow_mad *mad, bool of_sender, uint32_t id, bool sidr)
{
    const struct flow_address *requester = of_sender ? mad->source : mad->destination;
    const struct flow_address *other = of_sender ? mad->destination : mad->source;

    memset(key, 0, sizeof(*key));
    memcpy(key->requester, requester->octets, sizeof(key->requester));
    memcpy(key->other, other->octets, sizeof(key->other));
    key->id = id;
    key->family = requester->family;
    key->sidr = sidr;
    key->tunnel = mad->tunnel;
}

static struct cm_exchange *find(struct cm_decoder *cm, const struct cm_key *key)
{
    struct cm_exchange *exchange;

    HASH_FIND(hh, cm->exchanges, key, sizeof(*key), exchange);
    return exchange;
}

/*
 * Before one more is made: some that are over are kept, as their messages may come again; then the one that was idle
 * longest goes.
 */
static void make_room(struct cm_decoder *cm)
{
    if (cm->oldest_closed != NULL &&
        (cm->closed_count > FLOW_FINISHED_KEPT || cm->count >= cm->common->config.flows_max))
        end_exchange(cm, cm->oldest_closed, true, FLOW_REASON_COUNT);
    if (cm->oldest != NULL && cm->count >= cm->common->config.flows_max) {
        flow_removed_note(cm->common, &cm->oldest->key, sizeof(cm->oldest->key));
        end_exchange(cm, cm->oldest, true, FLOW_REASON_EVICTED);
    }
}

static struct cm_exchange *make(struct cm_decoder *cm, const struct cm_key *key, const struct flow_mad *mad,
                                bool from_requester, bool roles_known)
{
    struct cm_exchange *exchange;

    make_room(cm);
    exchange = calloc(1, sizeof(*exchange));
    if (exchange == NULL)
        return NULL;
    exchange->flow = flow_make(cm->common, FLOW_CM_EXCHANGE, mad->frame, mad->time_ns);
    if (exchange->flow == NULL) {
        free(exchange);
        return NULL;
    }
    exchange->key = *key;
    exchange->flow->tunnel = mad->tunnel;
    exchange->flow->roles_known = roles_known;
    exchange->flow->late = !roles_known;
    exchange->flow->address[FLOW_FROM_INITIATOR] = from_requester ? *mad->source : *mad->destination;
    exchange->flow->address[FLOW_FROM_RESPONDER] = from_requester ? *mad->destination : *mad->source;
    exchange->flow->cm->id[FLOW_FROM_INITIATOR] = key->id;
    exchange->flow->cm->sidr = key->sidr != 0;
    HASH_ADD(hh, cm->exchanges, key, sizeof(exchange->key), exchange);
    if (hash_lost(exchange)) {
        flow_free(exchange->flow);
        free(exchange);
        return NULL;
    }
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): end_exchange() took what it freed off the list */
    DL_APPEND2(cm->oldest, exchange, older, newer);
    cm->count++;
    return exchange;
}

/* The exchange that the message belongs to, made if need be; *direction is that of the sender. */
static struct cm_exchange *exchange_of(struct cm_decoder *cm, const struct flow_mad *mad,
                                       const struct cm_message *message, unsigned *direction)
{
    struct cm_exchange *exchange;
    struct cm_key as_requester, as_other;
    const struct cm_key *key;
    bool answer, sidr = is_sidr(message->attribute);
    bool request = message->attribute == CM_REQ || message->attribute == CM_SIDR_REQ;
    /* These only the requester, those only the other side sends. */
    bool from_requester = request || message->attribute == CM_RTU || message->attribute == CM_LAP;
    bool from_other = message->attribute == CM_REP || message->attribute == CM_SIDR_REP || message->attribute == CM_APR;

    set_key(&as_requester, mad, true, message->local_id, sidr);
    set_key(&as_other, mad, false, sidr ? message->local_id : message->remote_id, sidr);
    *direction = FLOW_FROM_INITIATOR;
    if (!from_other && (exchange = find(cm, &as_requester)) != NULL) {
        if (!request || exchange->flow->cm->request_tid == message->transaction || mad->icrc == FLOW_ICRC_BAD)
            return exchange;
        end_exchange(cm, exchange, true, FLOW_REASON_COUNT); /* the ID is used again */
    }
    if (!from_requester && (exchange = find(cm, &as_other)) != NULL) {
        *direction = FLOW_FROM_RESPONDER;
        return exchange;
    }
    answer = from_other || (message->attribute == CM_REJ && message->rejected == 0) ||
             (!from_requester && flow_removed_returns(cm->common, &as_other, sizeof(as_other), false));
    key = answer ? &as_other : &as_requester;
    if (answer)
        *direction = FLOW_FROM_RESPONDER;
    if (flow_removed_returns(cm->common, key, sizeof(*key), request))
        flow_removed_count(cm->common, key, sizeof(*key));
    return make(cm, key, mad, !answer, answer || from_requester);
}

static void keep(struct flow *flow, unsigned direction, const struct cm_message *message)
{
    struct flow_cm_state *state = flow->cm;

    if (message->attribute >= CM_REQ && message->attribute - CM_REQ < 32)
        state->seen[direction] |= 1u << (message->attribute - CM_REQ);
    if (message->local_id != 0 && state->id[direction] == 0)
        state->id[direction] = message->local_id;
    if (message->attribute != CM_REQ && message->attribute != CM_SIDR_REQ)
        return;
    state->request_tid = message->transaction;
    state->has_service = message->has_service;
    state->service_id = message->service_id;
    state->in_range = message->has_service && ip_cm_in_range(message->service_id);
    state->has_private = message->has_ip;
    if (message->has_ip)
        memcpy(state->request_private, message->private_data, sizeof(state->request_private));
}

enum flow_row flow_cm_mad(struct cm_decoder *cm, const struct flow_mad *mad)
{
    struct flow_cm reported = {.carrier = mad->carrier, .icrc = mad->icrc, .mad = mad->octets, .have = mad->captured};
    struct cm_exchange *exchange;
    struct flow_event event;
    unsigned direction;

    reported.result = cm_parse(mad->octets, mad->captured, &reported.message);
    if (reported.message.row->name == NULL)
        return FLOW_ROW_ROCE; /* an attribute that is none of the CM's */
    if (mad->captured < MAD_HEADER_OCTETS + 8)
        return FLOW_ROW_CUT_HEADERS;
    exchange = exchange_of(cm, mad, &reported.message, &direction);
    if (exchange == NULL)
        return FLOW_ROW_MEMORY;
    exchange->flow->last_frame = mad->frame;
    exchange->flow->last_ns = mad->time_ns;
    reported.again = (exchange->flow->cm->seen[direction] >> (reported.message.attribute - CM_REQ) & 1) != 0;
    event = (struct flow_event){.kind = FLOW_CM,
                                .direction = (enum flow_direction)direction,
                                .flow = exchange->flow,
                                .frame = mad->frame,
                                .first_frame = mad->frame,
                                .time_ns = mad->time_ns,
                                .cm = &reported,
                                .reason = FLOW_REASON_COUNT};
    flow_event_send(cm->common, &event);
    if (mad->icrc == FLOW_ICRC_BAD) /* its receiver drops it: it is shown, and changes nothing */
        return FLOW_ROW_ICRC;
    keep(exchange->flow, direction, &reported.message);
    list_newest(cm, exchange);
    return FLOW_ROW_IWARP;
}
