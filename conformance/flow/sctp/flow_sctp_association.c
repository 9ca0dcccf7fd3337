/* SPDX-License-Identifier: BSD-2-Clause */
/* SCTP associations: how packets find theirs, how they begin and end, and what becomes of their frames and octets. */
#include "conformance/flow/sctp/flow_sctp_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- events ------------------------------------------------------------------------------------------------------ */

struct flow_event sctp_event(const struct flow *flow, unsigned direction, enum flow_event_kind kind, uint64_t frame,
                             uint64_t time_ns)
{
    return (struct flow_event){
        .kind = kind,
        .direction = (enum flow_direction)direction,
        .flow = flow,
        .frame = frame,
        .first_frame = frame,
        .time_ns = time_ns,
        .reason = FLOW_REASON_COUNT,
    };
}

void sctp_emit_undecoded(const struct sctp_association *association, unsigned side, enum flow_reason reason)
{
    struct flow_event event = sctp_event(association->flow, side ^ association->swap, FLOW_UNDECODED,
                                         association->frame, association->time_ns);

    event.reason = reason;
    flow_event_send(association->sctp->common, &event);
}

static const enum flow_row unread_rows[SCTP_UNREAD_ROWS] = {FLOW_ROW_SCTP_STRANGER, FLOW_ROW_SCTP_CHECKSUM,
                                                            FLOW_ROW_SCTP_CHUNK, FLOW_ROW_SCTP_STOPPED};

void sctp_unread(struct sctp_arrival *arrival, enum flow_row row, uint64_t octets)
{
    unsigned i = 0;

    arrival->counted += octets;
    if (arrival->association->flow != NULL) {
        sctp_octets(arrival->sctp, row, octets);
        return;
    }
    while (i + 1 < SCTP_UNREAD_ROWS && unread_rows[i] != row)
        i++;
    arrival->association->unread[i] += octets;
}

/* ---- associations ------------------------------------------------------------------------------------------------ */

/* Both sides have said what they support, and none named DDP (RFC 5043 11.1). */
static bool is_refuted(const struct sctp_association *association)
{
    for (unsigned i = 0; i < 2; i++) {
        const struct sctp_side *side = &association->side[i];

        if (!side->init_seen || !side->init_whole ||
            (side->has_indication &&
             (side->indication == DDP_SCTP_INDICATION_DDP || side->indication == DDP_SCTP_INDICATION_DDP_RDMA)))
            return false;
    }
    return true;
}

/* What became of the frames and of the octets that were kept back. */
static void settle(const struct sctp_association *association, bool evicted)
{
    struct flow_account *account = &association->sctp->common->totals.account;
    bool unknown =
        (!association->started && association->draft_ppids) || (association->doubted != 0 && !is_refuted(association));
    uint64_t octets = association->octets + association->doubted;

    if (association->flow == NULL) {
        for (unsigned i = 0; i < SCTP_UNREAD_ROWS; i++)
            octets += association->unread[i];
        flow_account_count(account, unknown ? FLOW_ROW_SCTP_UNKNOWN : FLOW_ROW_SCTP, association->frames, octets);
        return;
    }
    flow_account_count(account, FLOW_ROW_IWARP, association->frames, 0);
    if (evicted)
        flow_removed_note(association->sctp->common, &association->key, sizeof(association->key));
    for (unsigned i = 0; i < 2; i++)
        account->row[FLOW_ROW_GAP].items += sctp_count_missing(&association->side[i]);
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static void list_leave(struct sctp_decoder *sctp, struct sctp_association *association)
{
    if (association->listed_finished) {
        DL_DELETE2(sctp->oldest_finished, association, older, newer);
        sctp->finished_count--;
    } else {
        DL_DELETE2(sctp->oldest, association, older, newer);
    }
}

/* It is the newest one of those that are open, or of those that are over. */
void sctp_association_list(struct sctp_decoder *sctp, struct sctp_association *association)
{
    list_leave(sctp, association);
    association->listed_finished = association->finished;
    if (association->finished) {
        DL_APPEND2(sctp->oldest_finished, association, older, newer);
        sctp->finished_count++;
    } else {
        DL_APPEND2(sctp->oldest, association, older, newer);
    }
}

/*
 * Before one more is made: some that are over are kept, as their packets may come again; then the one that was idle
 * longest goes.
 */
static void make_room(struct sctp_decoder *sctp)
{
    if (sctp->oldest_finished != NULL &&
        (sctp->finished_count > FLOW_FINISHED_KEPT || sctp->association_count >= sctp->common->config.flows_max))
        sctp_association_end(sctp->oldest_finished, true, FLOW_REASON_COUNT);
    if (sctp->association_count >= sctp->common->config.flows_max)
        sctp_association_end(sctp->oldest, true, FLOW_REASON_EVICTED);
}

/* Of a stream, among all of a capture. */
struct stream_key {
    struct flow_key association;
    uint64_t first_frame; /* of the association: another one may have its addresses and ports */
    uint64_t sid;
};

static struct stream_key stream_key(const struct sctp_association *association, uint16_t sid)
{
    struct stream_key key;

    memset(&key, 0, sizeof(key));
    key.association = association->key;
    key.first_frame = association->first_frame;
    key.sid = sid;
    return key;
}

void sctp_stream_removed(const struct sctp_stream *stream)
{
    struct stream_key key = stream_key(stream->association, stream->sid);

    flow_removed_note(stream->sctp->common, &key, sizeof(key));
}

void sctp_stream_returns(const struct sctp_association *association, uint16_t sid)
{
    struct stream_key key = stream_key(association, sid);

    if (flow_removed_returns(association->sctp->common, &key, sizeof(key), false))
        flow_removed_count(association->sctp->common, &association->key, sizeof(association->key));
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

void sctp_association_end(struct sctp_association *association, bool tell, enum flow_reason reason)
{
    struct sctp_decoder *sctp = association->sctp;

    sctp_order_end(association, tell);
    sctp_streams_end(association, tell, reason);
    for (unsigned i = 0; i < 2; i++) {
        if (tell && association->flow != NULL && association->side[i].fragments != NULL)
            sctp_emit_undecoded(association, i, FLOW_REASON_MESSAGE_LONG);
        sctp_drop_fragments(sctp, &association->side[i]);
        sctp_window_free(&association->side[i]);
        free(association->side[i].addresses);
        sctp_association_forget_tag(sctp, association, i);
    }
    sctp_births_free(&association->births);
    if (tell)
        settle(association, reason == FLOW_REASON_EVICTED || reason == FLOW_REASON_IDLE);
    if (tell && association->flow != NULL) {
        struct flow_event event = sctp_event(association->flow, FLOW_FROM_INITIATOR, FLOW_END,
                                             association->flow->last_frame, association->flow->last_ns);

        event.reason = reason;
        flow_event_send(sctp->common, &event);
    }
    HASH_DEL(sctp->associations, association);
    list_leave(sctp, association);
    sctp->association_count--;
    sctp_association_forget_init(association);
    flow_free(association->flow);
    free(association);
}

struct sctp_decoder *flow_sctp_new(struct flow_common *common)
{
    struct sctp_decoder *sctp = calloc(1, sizeof(*sctp));

    if (sctp != NULL)
        sctp->common = common;
    return sctp;
}

static void end_all(struct sctp_decoder *sctp, bool tell)
{
    while (sctp->oldest_finished != NULL)
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): sctp_association_end() takes it off the list */
        sctp_association_end(sctp->oldest_finished, tell, FLOW_REASON_COUNT);
    while (sctp->oldest != NULL)
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): sctp_association_end() takes it off the list */
        sctp_association_end(sctp->oldest, tell, FLOW_REASON_COUNT);
}

void flow_sctp_time(struct sctp_decoder *sctp)
{
    struct sctp_association *next, *more;

    HASH_ITER (hh, sctp->associations, next, more)
        if (flow_is_due(sctp->common, next->time_ns, next->finished))
            sctp_association_end(next, true, next->finished ? FLOW_REASON_COUNT : FLOW_REASON_IDLE);
}

void flow_sctp_dropped(struct sctp_decoder *sctp)
{
    for (struct sctp_association *next = sctp->associations; next != NULL; next = next->hh.next)
        flow_dropped(sctp->common, next->flow);
    for (struct sctp_stream *stream = sctp->oldest_stream; stream != NULL; stream = stream->newer)
        flow_dropped(sctp->common, stream->flow);
}

void flow_sctp_finish(struct sctp_decoder *sctp)
{
    end_all(sctp, true);
}

void flow_sctp_free(struct sctp_decoder *sctp)
{
    if (sctp != NULL)
        end_all(sctp, false);
    free(sctp);
}

void sctp_association_learn_tag(struct sctp_decoder *sctp, struct sctp_association *association, unsigned receiver,
                                uint32_t value)
{
    struct sctp_tag *tag = &association->tags[receiver], *other;

    if (tag->association != NULL || value == 0)
        return;
    memset(&tag->key, 0, sizeof(tag->key));
    tag->key.tag = value;
    tag->key.to = association->key.port[receiver];
    tag->key.from = association->key.port[1 - receiver];
    tag->key.tunnel = association->key.tunnel;
    HASH_FIND(hh, sctp->tags, &tag->key, sizeof(tag->key), other);
    if (other != NULL)
        return;
    HASH_ADD(hh, sctp->tags, key, sizeof(tag->key), tag);
    if (hash_lost(tag))
        return;
    tag->association = association;
    tag->side = 1 - receiver;
}

void sctp_association_forget_tag(struct sctp_decoder *sctp, struct sctp_association *association, unsigned receiver)
{
    struct sctp_tag *tag = &association->tags[receiver];

    if (tag->association == NULL)
        return;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): uthash: what is in the table has its neighbours */
    HASH_DEL(sctp->tags, tag);
    memset(tag, 0, sizeof(*tag));
}

void sctp_association_key(struct flow_key *key, const struct flow_datagram *datagram, unsigned *side)
{
    size_t octets = datagram->family == 4 ? 4 : 16;
    uint16_t from_port = (uint16_t)sctp_common_get_SourcePort(datagram->octets);
    uint16_t to_port = (uint16_t)sctp_common_get_DestinationPort(datagram->octets);
    int order = memcmp(datagram->source, datagram->destination, octets);

    if (order == 0)
        order = from_port < to_port ? -1 : 1;
    *side = order < 0 ? 0 : 1;
    memset(key, 0, sizeof(*key));
    memcpy(key->address[*side], datagram->source, octets);
    memcpy(key->address[1 - *side], datagram->destination, octets);
    key->port[*side] = from_port;
    key->port[1 - *side] = to_port;
    key->family = datagram->family;
    key->tunnel = datagram->tunnel;
}

struct sctp_association *sctp_association_find(struct sctp_decoder *sctp, const struct flow_datagram *datagram,
                                               const struct flow_key *key, unsigned *side)
{
    struct sctp_association *association;
    struct sctp_tag_key by_tag;
    struct sctp_tag *tag;

    HASH_FIND(hh, sctp->associations, key, sizeof(*key), association);
    if (association != NULL)
        return association;
    memset(&by_tag, 0, sizeof(by_tag));
    by_tag.tag = (uint32_t)sctp_common_get_VerificationTag(datagram->octets);
    by_tag.to = (uint16_t)sctp_common_get_DestinationPort(datagram->octets);
    by_tag.from = (uint16_t)sctp_common_get_SourcePort(datagram->octets);
    by_tag.tunnel = datagram->tunnel;
    HASH_FIND(hh, sctp->tags, &by_tag, sizeof(by_tag), tag);
    if (tag == NULL)
        return NULL;
    *side = tag->side;
    return tag->association;
}

struct sctp_association *sctp_association_make(struct sctp_decoder *sctp, const struct flow_key *key, uint64_t frame,
                                               uint64_t time_ns)
{
    struct sctp_association *association = calloc(1, sizeof(*association));

    if (association == NULL)
        return NULL;
    make_room(sctp);
    association->sctp = sctp;
    association->key = *key;
    association->first_frame = frame;
    association->first_ns = association->time_ns = time_ns;
    HASH_ADD(hh, sctp->associations, key, sizeof(association->key), association);
    if (hash_lost(association)) {
        free(association);
        return NULL;
    }
    DL_APPEND2(sctp->oldest, association, older, newer);
    sctp->association_count++;
    sctp->common->totals.connections++;
    return association;
}

void sctp_association_forget_init(struct sctp_association *association)
{
    for (unsigned i = 0; i < 2; i++) {
        free(association->side[i].init);
        association->side[i].init = NULL;
    }
}

bool sctp_association_recognise(struct sctp_association *association, unsigned initiator)
{
    struct flow *flow = association->flow;

    if (flow != NULL)
        return true;
    flow = flow_make(association->sctp->common, FLOW_ASSOCIATION, association->first_frame, association->first_ns);
    if (flow == NULL)
        return false;
    association->flow = flow;
    sctp_octets(association->sctp, FLOW_ROW_HEADERS, association->octets);
    sctp_octets(association->sctp, FLOW_ROW_SCTP_UNKNOWN, association->doubted);
    association->octets = association->doubted = 0;
    for (unsigned i = 0; i < SCTP_UNREAD_ROWS; i++)
        sctp_octets(association->sctp, unread_rows[i], association->unread[i]);
    association->swap = initiator;
    flow->tunnel = association->key.tunnel;
    flow->roles_known = association->started;
    flow->opener_known = association->started;
    flow->late = !association->started;
    flow->sctp->association = flow->number;
    for (unsigned i = 0; i < 2; i++) {
        struct flow_address *address = &flow->address[i ^ initiator];

        address->family = association->key.family;
        address->port = association->key.port[i];
        memcpy(address->octets, association->key.address[i], sizeof(address->octets));
    }
    return true;
}
