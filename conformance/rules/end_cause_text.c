/* SPDX-License-Identifier: BSD-2-Clause */
/* The sentence of an end, made in this one place for all that show it. */
#include "conformance/rules/end_cause.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "conformance/flow/cm/flow_cm.h"
#include "conformance/flow/ulp/flow_smbd.h"
#include "wire/cm.h"

struct words {
    char *text;
    size_t room, used;
};

__attribute__((format(printf, 2, 3))) static void add(struct words *words, const char *format, ...)
{
    va_list arguments;
    int count;

    if (words->used + 1 >= words->room)
        return;
    va_start(arguments, format);
    count = vsnprintf(words->text + words->used, words->room - words->used, format, arguments);
    va_end(arguments);
    words->used += count > 0 ? (size_t)count : 0;
}

/* "the responder"; where roles are not known the address and port: "10.77.0.2:7174". */
static const char *side_text(const struct flow *flow, enum flow_direction direction, char *text, size_t room)
{
    const char *role = flow_role(flow, direction);
    char name[FLOW_NAME_MAX];

    (void)flow_name(flow, direction, name, sizeof(name));
    name[strcspn(name, ">")] = '\0';
    (void)snprintf(text, room, "%s%s", role != NULL ? "the " : "", role != NULL ? role : name);
    return text;
}

/* ---- what was negotiated ----------------------------------------------------------------------------------------- */

static void add_depth(struct words *words, const char *name, uint16_t depth)
{
    if (depth == MPA_DEPTH_NOT_NEGOTIATED)
        add(words, "%s left open", name);
    else
        add(words, "%s %u", name, depth);
}

static void add_word(struct words *words, const struct iwarp_mpa_start *start, const char *what)
{
    if (!iwarp_mpa_start_has_word(start))
        return;
    add(words, ", ");
    add_depth(words, "IRD", start->ird);
    add_depth(words, " and ORD", start->ord);
    add(words, " %s", what);
}

static void add_rtr(struct words *words, const struct iwarp_mpa_start *request, const struct iwarp_mpa_start *reply)
{
    if (!iwarp_mpa_start_has_word(request) || !iwarp_mpa_start_has_word(reply) || !request->peer_to_peer ||
        !reply->peer_to_peer)
        return;
    add(words, ", peer-to-peer, RTR%s%s%s", reply->rtr_send ? " Send" : "", reply->rtr_write ? " Write" : "",
        reply->rtr_read ? " Read" : "");
}

static void add_markers(struct words *words, const struct iwarp_mpa_start *request, const struct iwarp_mpa_start *reply)
{
    add(words, "%s",
        request->markers && reply->markers ? ", Markers both ways"
        : request->markers                 ? ", Markers towards the initiator"
        : reply->markers                   ? ", Markers towards the responder"
                                           : ", no Markers");
}

static void add_start(struct words *words, const struct flow *flow)
{
    const struct flow_start *asked = flow_start_of(flow, FLOW_FROM_INITIATOR);
    const struct flow_start *granted = flow_start_of(flow, FLOW_FROM_RESPONDER);

    if (asked == NULL || asked->result != WIRE_OK) {
        add(words, "not known, the capture has no whole Request");
        return;
    }
    add(words, "MPA Rev %u",
        granted != NULL && granted->result == WIRE_OK ? granted->frame.revision : asked->frame.revision);
    if (granted == NULL || granted->result != WIRE_OK) {
        add(words, "%s%s", asked->frame.crc ? ", CRC" : ", no CRC",
            asked->frame.markers ? ", Markers" : ", no Markers");
        add_word(words, &asked->frame, "asked for");
        add(words, ", no Reply");
        return;
    }
    add(words, "%s", asked->frame.crc || granted->frame.crc ? ", CRC" : ", no CRC");
    add_markers(words, &asked->frame, &granted->frame);
    add_word(words, &asked->frame, "asked for");
    add_word(words, &granted->frame, granted->frame.rejected ? "offered" : "granted");
    add_rtr(words, &asked->frame, &granted->frame);
}

static void add_rpcrdma(struct words *words, const struct flow_rpcrdma *rpcrdma)
{
    add(words, ", RPC-over-RDMA (frame %" PRIu64 ")", rpcrdma->frame);
    if (rpcrdma->starts_known)
        add(words, " with Sends of at most %" PRIu32 " octets to the responder and %" PRIu32 " to the initiator",
            rpcrdma->inline_max[FLOW_FROM_INITIATOR], rpcrdma->inline_max[FLOW_FROM_RESPONDER]);
}

static void add_iser(struct words *words, const struct flow_iser *iser)
{
    add(words, ", iSER (frame %" PRIu64 ")", iser->frame);
    if (iser->hello)
        add(words, " with iSER-IRD %u", iser->ird);
    if (iser->replied)
        add(words, " and iSER-ORD %u", iser->ord);
}

static void add_nvme(struct words *words, const struct flow_nvme *nvme)
{
    add(words, ", NVMe over RDMA (frame %" PRIu64 ") queue %u of %" PRIu32 " entries", nvme->frame, nvme->said.qid,
        nvme->entries);
}

/* What the ULP agreed upon. */
static void add_ulp(struct words *words, const struct flow_ulp *ulp)
{
    if (ulp != NULL && ulp->kind == FLOW_ULP_RPCRDMA)
        add_rpcrdma(words, ulp->rpcrdma);
    if (ulp != NULL && ulp->kind == FLOW_ULP_ISER)
        add_iser(words, ulp->iser);
    if (ulp != NULL && ulp->kind == FLOW_ULP_NVME)
        add_nvme(words, ulp->nvme);
    if (ulp == NULL || !ulp->established)
        return;
    add(words,
        ", SMB Direct (frame %" PRIu64 ", frame %" PRIu64 ") with Sends of at most %" PRIu32
        " octets to the responder and %" PRIu32 " to the initiator",
        ulp->smbd[0].frame, ulp->smbd[1].frame, flow_smbd_send_max(ulp, FLOW_FROM_INITIATOR),
        flow_smbd_send_max(ulp, FLOW_FROM_RESPONDER));
}

/* The port that one side has stands for a service's, by the port mapper. */
static void add_mapping(struct words *words, const struct flow_mapping *mapping)
{
    if (mapping->service != 0)
        add(words, ", port %u is mapped from %u (frame %" PRIu64 ")", mapping->mapped, mapping->service,
            mapping->frame);
}

static void add_negotiated(struct words *words, const struct flow *flow)
{
    static const char *const profiles[] = {[IWARP_SCTP_UNDECIDED] = "DDP over SCTP",
                                           [IWARP_SCTP_DRAFT02] = "DDP over SCTP by draft-stewart-rddp-sctp-02",
                                           [IWARP_SCTP_RFC5043] = "DDP over SCTP by RFC 5043"};

    switch (flow->kind) {
    case FLOW_CONNECTION:
        add_start(words, flow);
        add_mapping(words, &flow->tcp->mapping);
        break;
    case FLOW_ASSOCIATION:
    case FLOW_STREAM:
        add(words, "%s", profiles[flow->sctp->profile]);
        if (flow->kind == FLOW_STREAM && flow->late)
            add(words, ", the session's beginning was not captured");
        break;
    default: add(words, "nothing, it is an exchange of the CM"); break;
    }
    add_ulp(words, flow->ulp);
}

const char *end_negotiated_text(const struct flow *flow, char *text, size_t room)
{
    struct words words = {text, room, 0};

    text[0] = '\0';
    add_negotiated(&words, flow);
    return text;
}

/* ---- the sentence ------------------------------------------------------------------------------------------------ */

static void add_frames(struct words *words, uint64_t first, uint64_t last)
{
    add(words, " of frame %" PRIu64, first);
    if (last != first)
        add(words, " to frame %" PRIu64, last);
}

static void add_what(struct words *words, const struct flow *flow, const struct end_cause *cause)
{
    static const char *const kinds[END_KINDS] = {
        [END_TERMINATE] = "Terminate", [END_RESET] = "reset", [END_REJECT] = "reject"};
    char side[FLOW_NAME_MAX + 8], error[128];
    const char *name =
        cause->kind == END_REJECT && flow->kind == FLOW_CM_EXCHANGE ? wire_name_of(cm_reason_names, cause->code) : NULL;

    (void)side_text(flow, cause->direction, side, sizeof(side));
    side[0] = side[0] == 't' ? 'T' : side[0];
    add(words, "%s's %s of frame %" PRIu64, side, kinds[cause->kind], cause->frame);
    if (cause->readable)
        add(words, " (%s%s)", iwarp_terminate_describe(cause->error, error, sizeof(error)),
            cause->swapped ? ", nibbles swapped" : "");
    if (name != NULL)
        add(words, " (%s)", name);
}

static void add_quote(struct words *words, const struct flow *flow, const struct end_cause *cause)
{
    const struct end_quoted *quoted = &cause->quoted;
    char other[FLOW_NAME_MAX + 8];

    (void)side_text(flow, flow_reverse(cause->direction), other, sizeof(other));
    switch (cause->quote) {
    case END_QUOTES_NOTHING: add(words, " quotes nothing"); break;
    case END_QUOTES_UNKNOWN:
        add(words, " quotes a header (%s) that %s was not seen to send",
            quoted->message != NULL ? quoted->message : "unknown opcode", other);
        break;
    case END_QUOTES_START:
        add(words, " answers the %s", quoted->message);
        add_frames(words, quoted->first_frame, quoted->frame);
        break;
    case END_QUOTES_SENT:
        add(words, " quotes the %s", quoted->message != NULL ? quoted->message : "message of unknown opcode");
        add_frames(words, quoted->first_frame, quoted->frame);
        add(words, ", %" PRIu64 " octets%s", quoted->octets, quoted->whole ? "" : " so far");
        if (quoted->segments > 1)
            add(words, " in %" PRIu32 " segments, by the one of frame %" PRIu64, quoted->segments,
                quoted->segment_frame);
        break;
    }
    if (cause->after)
        add(words, ", and follows %s's %s", side_text(flow, cause->after_direction, other, sizeof(other)),
            end_kind_name(cause->after_kind));
}

static void add_broken(struct words *words, const struct flow *flow, const struct end_broken *broken)
{
    char side[FLOW_NAME_MAX + 8];

    if (broken->rule == NULL || broken->warned)
        add(words, "; no %srule was broken before it", broken->selected_only ? "selected " : "");
    if (broken->rule == NULL)
        return;
    add(words,
        broken->warned ? "; the first WARN is of %s: %s in frame %" PRIu64
                       : "; %s broke a rule first: %s in frame %" PRIu64,
        side_text(flow, broken->direction, side, sizeof(side)), broken->rule->id, broken->frame);
    if (broken->expected[0] != '\0')
        add(words, ", expected %.100s, got %.100s", broken->expected, broken->actual);
}

const char *end_cause_text(const struct flow *flow, const struct end_cause *cause, char *text, size_t room)
{
    struct words words = {text, room, 0};

    text[0] = '\0';
    add_what(&words, flow, cause);
    add_quote(&words, flow, cause);
    add(&words, "; negotiated: ");
    add_negotiated(&words, flow);
    add_broken(&words, flow, &cause->broken);
    return text;
}
