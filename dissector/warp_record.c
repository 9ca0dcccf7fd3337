/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first pass: segments to the decoder, its events to the rules, and both to records by frame. All that is kept is
 * what drawing cannot find out from a frame's own octets: where units begin and end, framing, what belongs together.
 * Octets are copied only where they do not lie in one segment.
 *
 * Everything lives in Wireshark's file scope, and is forgotten with the capture file.
 */
#include "dissector/warp.h"

#include <string.h>

#include "conformance/flow/cm/flow_cm.h"
#include "conformance/flow/decoder.h"
#include "conformance/flow/sctp/flow_sctp.h"
#include "conformance/flow/notation/notation_line.h"
#include "conformance/rules/end_cause.h"
#include "dissector/warp_pass.h"

/* ---- events ------------------------------------------------------------------------------------------------------ */

static struct iwarp_mpa_start without_data(const struct iwarp_mpa_start *start)
{
    struct iwarp_mpa_start copy = *start;

    copy.private_data = NULL;
    return copy;
}

static void record_start(const struct flow_event *event)
{
    struct warp_flow *flow = warp_flow_of(event->flow);
    const struct flow_start *start = event->start;
    struct warp_item *item = warp_item_add(WARP_START);

    item->first_frame = (uint32_t)start->first_octet_frame;
    item->start.kind = start->frame.kind;
    item->start.result = start->result;
    if (start->frame.kind == IWARP_MPA_REQUEST) {
        flow->agreement.request_seen = start->result == WIRE_OK;
        flow->agreement.request = without_data(&start->frame);
    } else {
        flow->agreement.reply_seen = start->result == WIRE_OK;
        flow->agreement.reply = without_data(&start->frame);
    }
    item->start.agreement = flow->agreement;
    warp_item_place(item, start->octets, start->octet_count);
    warp_item_link(flow, item);
}

/*
 * Octets in the stream of the first `content` octets of an FPDU that are no Markers, the Markers before each included.
 */
static size_t raw_octets(const struct fpdu_framing *framing, size_t content)
{
    return framing->markers ? content + marker_count(framing->position, content) * MARKER_OCTETS : content;
}

static bool rtr_is_due(const struct flow_event *event, const struct warp_agreement *agreement)
{
    return event->direction == FLOW_FROM_INITIATOR && event->flow->roles_known && event->ulpdu->index == 0 &&
           agreement->request_seen && agreement->reply_seen && !agreement->reply.rejected &&
           iwarp_mpa_start_has_word(&agreement->request) && iwarp_mpa_start_has_word(&agreement->reply) &&
           agreement->request.peer_to_peer && agreement->reply.peer_to_peer;
}

/* How MPA framed it, and where it lies in the frame's TCP payload. */
static void see_framing(struct warp_item *item, const struct flow_ulpdu *ulpdu)
{
    const struct flow_fpdu *seen = ulpdu->mpa;
    struct warp_fpdu *fpdu = &item->fpdu;

    fpdu->framing = seen->framing;
    fpdu->resynced = seen->resynced;
    fpdu->segments = seen->segments;
    fpdu->octets = (uint32_t)seen->fpdu.octets;
    warp_item_place(item, seen->fpdu.start,
                    ulpdu->cut ? raw_octets(&seen->framing, FPDU_LENGTH_OCTETS + ulpdu->have) : seen->fpdu.octets);
}

static void see_ulpdu(const struct flow_event *event)
{
    struct warp_flow *flow = warp_flow_of(event->flow);
    const struct flow_ulpdu *seen = event->ulpdu;
    struct warp_item *item = warp_item_add(WARP_FPDU);
    struct warp_fpdu *fpdu = &item->fpdu;

    fpdu->result = seen->result;
    fpdu->cut = seen->cut;
    fpdu->index = seen->index;
    fpdu->position = event->position;
    fpdu->time_ns = event->time_ns;
    fpdu->rtr = rtr_is_due(event, &flow->agreement);
    if (fpdu->rtr)
        fpdu->agreement = wmem_memdup(wmem_file_scope(), &flow->agreement, sizeof(flow->agreement));
    fpdu->sctp = seen->mpa == NULL;
    if (fpdu->sctp) {
        fpdu->segments = 1;
        fpdu->octets = (uint32_t)seen->message->count;
        warp_item_place(item, seen->message->octets, DDP_SCTP_SSN_OCTETS + seen->have);
        return;
    }
    see_framing(item, seen);
    warp_item_link(flow, item);
}

/* What is decided at the end was decided already when both sides had closed. */
static bool is_known(const struct rule_finding *found)
{
    struct warp_flow *flow = warp_flow_of(found->flow);

    for (const struct warp_finding *other = flow->at_end; other != NULL; other = other->next_at_end)
        if (other->id == found->rule->id && other->frame == (uint32_t)found->frame)
            return true;
    return false;
}

static const char *notation_of(const struct flow_event *event)
{
    char text[NOTATION_MAX];

    notation_event(event, text, sizeof(text));
    return wmem_strdup(wmem_file_scope(), text);
}

static void record_chunk(const struct flow_event *event)
{
    struct warp_item *item = warp_item_add(WARP_SCTP);
    char text[NOTATION_MAX];

    item->text = wmem_strdup(wmem_file_scope(), notation_other(event, text, sizeof(text)));
    warp_item_place(item, event->sctp->chunk.start, event->sctp->chunk.octets);
}

/* Chunks that say something about DDP; the others are SCTP's own affair. */
static bool is_shown(const struct flow_sctp *sctp, const struct flow_event *event)
{
    if (sctp->data != NULL)
        return notation_shows(event);
    return sctp->init != NULL || sctp->chunk.type == SCTP_ABORT || sctp->chunk.type == SCTP_RE_CONFIG;
}

/* What an Enhanced Initiate and its answer agree upon, as a Request and Reply of MPA do (RFC 6581 7). */
static void note_agreement(struct warp_agreement *agreement, const struct ddp_sctp_message *message)
{
    const struct iwarp_mpa_start word = {.enhanced = true,
                                         .revision = MPA_REV_2,
                                         .private_octets = (uint16_t)message->private_octets,
                                         .rejected = message->code == DDP_SCTP_ENHANCED_REJECT,
                                         .peer_to_peer = message->peer_to_peer,
                                         .rtr_send = message->rtr_send,
                                         .rtr_write = message->rtr_write,
                                         .rtr_read = message->rtr_read,
                                         .ird = message->ird,
                                         .ord = message->ord};

    if (!message->has_word)
        return;
    if (message->code == DDP_SCTP_ENHANCED_INITIATE) {
        agreement->request_seen = true;
        agreement->request = word;
    } else {
        agreement->reply_seen = true;
        agreement->reply = word;
    }
}

static void record_session(const struct flow_event *event)
{
    const struct flow_session *session = event->session;
    struct warp_item *item = warp_item_add(WARP_SESSION);

    note_agreement(&warp_flow_of(event->flow)->agreement, &session->message);

    item->text = notation_of(event);
    item->session.ppid = session->ppid;
    item->session.length = (uint32_t)session->count;
    item->session.sid = event->flow->sctp->sid;
    item->session.number = event->flow->sctp->session;
    warp_item_place(item, session->octets, session->have);
}

static void record_cm(const struct flow_event *event)
{
    struct warp_item *item = warp_item_add(WARP_CM);

    item->text = notation_of(event);
    item->cm.icrc = (uint8_t)event->cm->icrc;
    item->cm.request_in = event->flow->cm->seen[FLOW_FROM_INITIATOR] != 0 ? (uint32_t)event->flow->first_frame : 0;
    warp_item_place(item, event->cm->mad, event->cm->have);
}

static void record_finding(const struct rule_finding *found, void *argument)
{
    wmem_allocator_t *scope = wmem_file_scope();
    struct warp_finding *finding;
    struct warp_item *item = warp_pass.item;

    (void)argument;
    if (warp_pass.event == NULL || (warp_pass.event->kind == FLOW_END && is_known(found)))
        return;
    if (item == NULL && warp_pass.event->kind == FLOW_SCTP) {
        record_chunk(warp_pass.event);
        item = warp_pass.item;
    }
    /* What is decided at the end belongs to the frame that shows it; the first pass has only the last one left. */
    if (warp_pass.event->kind == FLOW_END) {
        item = warp_item_add_at(WARP_OTHER, (uint32_t)found->frame, (uint32_t)found->frame);
        item->roles_known = false; /* nobody sent it, and in one pass the frame may be the other side's */
    } else if (item == NULL)
        item = warp_item_add(WARP_OTHER);
    finding = wmem_new0(scope, struct warp_finding);
    finding->verdict = found->verdict;
    finding->frame = (uint32_t)found->frame;
    if (found->flow->roles_known)
        finding->side = warp_role_name(found->direction);
    finding->id = found->rule->id; /* static */
    finding->message = wmem_strdup(scope, found->message);
    finding->expected = wmem_strdup(scope, found->expected);
    finding->actual = wmem_strdup(scope, found->actual);
    *item->findings_end = finding;
    item->findings_end = &finding->next;
    if (warp_pass.event->kind == FLOW_END) {
        struct warp_flow *flow = warp_flow_of(found->flow);

        finding->next_at_end = flow->at_end;
        flow->at_end = finding;
    }
}

static void record_end(const struct flow *flow, const struct end_cause *cause, void *argument)
{
    wmem_allocator_t *scope = wmem_file_scope();
    char text[END_CAUSE_TEXT];
    struct warp_end *end;

    (void)argument;
    if (warp_pass.event == NULL)
        return;
    if (warp_pass.item == NULL && warp_pass.event->kind == FLOW_SCTP)
        record_chunk(warp_pass.event);
    else if (warp_pass.item == NULL)
        (void)warp_item_add(WARP_OTHER);
    end = wmem_new0(scope, struct warp_end);
    end->why = wmem_strdup(scope, end_cause_text(flow, cause, text, sizeof(text)));
    if (end_broken_rule(&cause->broken) != NULL) {
        end->broke = cause->broken.rule->id; /* static */
        end->broke_frame = (uint32_t)cause->broken.frame;
    }
    warp_pass.item->end = end;
}

static void record_one(const struct flow_event *event)
{
    struct warp_item *item;

    switch (event->kind) {
    case FLOW_MPA_START: record_start(event); break;
    case FLOW_ULPDU: see_ulpdu(event); break;
    case FLOW_DDP: break; /* of the FPDU before it, as the next one is */
    case FLOW_RDMAP:
        warp_flow_message(warp_flow_of(event->flow), event, warp_pass.item, warp_preferences.reassemble,
                          warp_preferences.reassemble_tagged);
        break;
    case FLOW_GAP:
        item = warp_item_add(WARP_GAP);
        item->gap.octets = event->gap->octets;
        item->gap.in_sync = event->gap->in_sync;
        item->text = event->flow->kind == FLOW_STREAM ? notation_of(event) : NULL;
        break;
    case FLOW_UNDECODED: warp_item_add(WARP_UNDECODED)->reason = event->reason; break;
    case FLOW_TCP_OPEN:
    case FLOW_TCP_CLOSE:
    case FLOW_END: warp_pass.item = NULL; break;
    case FLOW_SCTP:
        warp_pass.item = NULL;
        if (is_shown(event->sctp, event))
            record_chunk(event);
        break;
    case FLOW_SESSION: record_session(event); break;
    case FLOW_CM: record_cm(event); break;
    }
}

static void record_event(void *context, const struct flow_event *event)
{
    (void)context;
    warp_pass.event = event;
    record_one(event);
    for (const struct flow_event *one = event->next; one != NULL; one = one->next)
        record_one(one);
    if (warp_pass.rules != NULL)
        rule_engine_sink(warp_pass.rules, event);
    if (event->kind == FLOW_END) {
        warp_flow_free(warp_flow_of(event->flow));
        wmem_map_remove(warp_pass.flows, GUINT_TO_POINTER((guint)event->flow->number));
    }
    warp_pass.event = NULL;
}

/* ---- segments ---------------------------------------------------------------------------------------------------- */

static bool address_is_ip(const address *from, const address *to)
{
    return from->type == to->type &&
           ((from->type == AT_IPv4 && from->len == 4) || (from->type == AT_IPv6 && from->len == 16));
}

/*
 * Rules that decide at a flow's end are asked when both sides have closed, or one has reset: one pass has no later
 * chance. They are asked again at the true end, since octets may come after that (a hole that a retransmission fills).
 */
static void judge_closed(const struct flow *flow)
{
    const struct flow_tcp_half *ends = flow->tcp->half;
    struct warp_flow *own = warp_flow_of(flow);
    struct flow_event end = {.kind = FLOW_END,
                             .flow = flow,
                             .frame = warp_pass.frame,
                             .first_frame = warp_pass.frame,
                             .time_ns = flow->last_ns};

    if (own->closed || warp_pass.rules == NULL)
        return;
    if (!ends[0].rst_seen && !ends[1].rst_seen && !(ends[0].fin_seen && ends[1].fin_seen))
        return;
    own->closed = true;
    end.reason = FLOW_REASON_COUNT;
    warp_pass.event = &end;
    warp_pass.item = NULL;
    rule_engine_event(warp_pass.rules, &end);
    warp_pass.event = NULL;
}

static bool is_malformed(const struct flow_start *start)
{
    return start != NULL && start->result != WIRE_OK;
}

void warp_record_segment(tvbuff_t *tvb, packet_info *pinfo)
{
    guint captured = tvb_captured_length(tvb);
    enum flow_direction direction = FLOW_FROM_INITIATOR;
    const struct flow *flow;
    struct flow_packet packet = {
        .time_ns = (uint64_t)pinfo->abs_ts.secs * 1000000000u + (uint64_t)pinfo->abs_ts.nsecs,
        .number = pinfo->num,
        .family = pinfo->net_src.type == AT_IPv6 ? 6 : 4,
        .source = pinfo->net_src.data,
        .destination = pinfo->net_dst.data,
        .captured = captured,
        .length = tvb_reported_length(tvb),
    };
    size_t header;

    if (warp_pass.decoder == NULL || captured < 20 || !address_is_ip(&pinfo->net_src, &pinfo->net_dst))
        return;
    packet.octets = tvb_get_ptr(tvb, 0, (gint)captured);
    header = (size_t)(packet.octets[12] >> 4) * 4;
    warp_pass.frame = pinfo->num;
    warp_pass.record = NULL;
    warp_pass.item = NULL;
    warp_pass.payload = packet.octets + (header < captured ? header : captured);
    warp_pass.payload_octets = header < captured ? captured - header : 0;
    warp_pass.placed = 0;
    flow = flow_decoder_segment(warp_pass.decoder, &packet, &direction);
    if (flow != NULL && packet.length > header) {
        struct warp_record *record = warp_record_now();

        record->flow = (uint32_t)flow->number;
        record->direction = direction;
        if (!flow->rejected && !is_malformed(flow_start_of(flow, FLOW_FROM_INITIATOR)))
            warp_flow_pending(warp_flow_of(flow), direction, record);
    }
    if (flow != NULL)
        judge_closed(flow);
    warp_pass.payload = NULL;
    warp_pass.payload_octets = 0;
    warp_pass.placed = 0;
    warp_pass.item = NULL;
}

void warp_record_finish(void)
{
    if (warp_pass.decoder == NULL)
        return;
    warp_pass.frame = 0; /* none is dissected: what comes of it belongs to frames that later passes show */
    warp_pass.record = NULL;
    warp_pass.item = NULL;
    flow_decoder_finish(warp_pass.decoder);
}

enum {
    UDP_OCTETS = 8,
    /*
     * Wireshark must decode at once, unlike audit: after this many segments of one side and none of the other, assume a
     * one-way capture. If a tap delays one direction by more than that, octets are decoded in capture order.
     */
    ONE_WAY_SEGMENTS = 8,
};

/* Wireshark has taken the UDP header off, and the decoder reads the ports in it. */
static void give_port_mapper(const struct flow_packet *payload, const packet_info *pinfo)
{
    uint8_t datagram[UDP_OCTETS + PORT_MAPPER_OCTETS + PORT_MAPPER_MAPPED_OCTETS] = {0};
    struct flow_packet packet = *payload;

    if (payload->captured > sizeof(datagram) - UDP_OCTETS)
        return;
    octets_put16(datagram, (uint16_t)pinfo->srcport);
    octets_put16(datagram + 2, (uint16_t)pinfo->destport);
    memcpy(datagram + UDP_OCTETS, payload->octets, payload->captured);
    packet.octets = datagram;
    packet.captured = packet.length = UDP_OCTETS + payload->captured;
    flow_decoder_port_mapper(warp_pass.decoder, &packet);
}

void warp_record_packet(enum warp_packet packet, tvbuff_t *tvb, packet_info *pinfo)
{
    guint captured = tvb_captured_length(tvb), length = tvb_reported_length(tvb);
    uint64_t time_ns = (uint64_t)pinfo->abs_ts.secs * 1000000000u + (uint64_t)pinfo->abs_ts.nsecs;
    struct flow_packet of_ip = {
        .time_ns = time_ns,
        .number = pinfo->num,
        .family = pinfo->net_src.type == AT_IPv6 ? 6 : 4,
        .source = pinfo->net_src.data,
        .destination = pinfo->net_dst.data,
        .captured = captured,
        .length = length,
    };
    bool sctp = packet == WARP_PACKET_SCTP || packet == WARP_PACKET_SCTP_IN_UDP;

    if (warp_pass.decoder == NULL || captured == 0)
        return;
    if (packet == WARP_PACKET_ROCE_V1)
        of_ip.family = 0;
    if (packet == WARP_PACKET_SCTP_IN_UDP)
        of_ip.encapsulation = UDP_OCTETS;
    if ((sctp || packet == WARP_PACKET_ROCE || packet == WARP_PACKET_PORT_MAPPER) &&
        !address_is_ip(&pinfo->net_src, &pinfo->net_dst))
        return;
    warp_pass.payload = of_ip.octets = tvb_get_ptr(tvb, 0, (gint)captured);
    warp_pass.payload_octets = captured;
    warp_pass.placed = 0;
    warp_pass.frame = pinfo->num;
    warp_pass.record = NULL;
    warp_pass.item = NULL;
    if (sctp) {
        flow_decoder_sctp(warp_pass.decoder, &of_ip);
    } else if (packet == WARP_PACKET_PORT_MAPPER) {
        give_port_mapper(&of_ip, pinfo);
    } else if (packet == WARP_PACKET_ROCE || packet == WARP_PACKET_ROCE_V1) {
        flow_decoder_roce(warp_pass.decoder, &of_ip);
    } else {
        struct flow_frame frame = {FLOW_LINK_INFINIBAND, time_ns, pinfo->num, of_ip.octets, captured, length};

        flow_decoder_frame(warp_pass.decoder, &frame);
    }
    warp_pass.payload = NULL;
    warp_pass.payload_octets = 0;
    warp_pass.placed = 0;
    warp_pass.item = NULL;
}

void warp_record_open(void)
{
    struct flow_config flows = {.rule_state_octets = rule_state_octets(),
                                .no_late_lock = !warp_preferences.late,
                                .one_way_segments = ONE_WAY_SEGMENTS};
    struct rule_config rules = {.finding = record_finding, .end = record_end};

    warp_record_close();
    warp_pass.records = wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
    warp_pass.flows = wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
    warp_pass.decoder = flow_decoder_create(&flows, record_event, NULL);
    warp_pass.rules = warp_preferences.findings ? rule_engine_create(&rules) : NULL;
}

void warp_record_close(void)
{
    rule_engine_free(warp_pass.rules);
    flow_decoder_destroy(warp_pass.decoder);
    memset(&warp_pass, 0, sizeof(warp_pass));
}
