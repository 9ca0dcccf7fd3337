/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between Wireshark and the rest of the plugin.
 *
 * The plugin stands before TCP in the table "ip.proto": on the first pass it gives every TCP segment to the decoder,
 * SYN, FIN and pure acknowledgments included, then calls TCP. So nothing depends on which payload TCP's own reassembly
 * hands to whom. When TCP comes to the payload it asks the plugin (by heuristic, by conversation, by port), which
 * claims it if it belongs to a flow. What belongs to a frame without payload is drawn after TCP's tree.
 *
 * The built-in dissectors stay enabled: they are asked only when the plugin does not claim a payload.
 */
#include "dissector/warp.h"

#include <epan/conversation.h>
#include <epan/prefs.h>

#include "base/octets.h"
#include "dissector/warp_alias.h"

int warp_proto = -1, warp_proto_mpa = -1, warp_proto_ddp = -1, warp_proto_rdmap = -1, warp_proto_cm = -1,
    warp_proto_port_mapper = -1;
struct warp_preferences warp_preferences = {TRUE, TRUE, TRUE, FALSE, TRUE, FALSE};

static dissector_handle_t warp_handle, port_handle, tcp_handle;
static uint32_t drawn; /* frame whose record TCP has asked for */
/* The segment that TCP dissects, header first, and its frame: after an exception it may be one of an earlier frame. */
static tvbuff_t *segment;
static uint32_t segment_in;

/*
 * Where TCP puts segments in order before others see them (its preference "reassemble out-of-order segments"), it hands
 * over the new octets of a retransmission alone. Units are found by their place in the whole payload, so that is drawn.
 */
static tvbuff_t *whole_payload(tvbuff_t *tvb, const packet_info *pinfo)
{
    int header;

    if (segment == NULL || segment_in != pinfo->num || tvb_get_ds_tvb(tvb) != tvb_get_ds_tvb(segment))
        return tvb;
    header = (*tvb_get_ptr(segment, 12, 1) >> 4) * 4;
    if ((int)tvb_raw_offset(tvb) <= (int)tvb_raw_offset(segment) + header)
        return tvb;
    return tvb_new_subset_remaining(segment, header);
}

/*
 * ---- asked by TCP -------------------------------------------------------------------------------------------------
 */

static int dissect_payload(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_)
{
    const struct warp_record *record = pinfo->flags.in_error_pkt ? NULL : warp_record_of(pinfo->num);

    if (record == NULL ||
        (record->flow == 0 && record->completed_in == 0 && record->items == NULL && record->home == NULL))
        return 0;
    drawn = pinfo->num;
    warp_draw(record, whole_payload(tvb, pinfo), true, pinfo, tree);
    return (int)tvb_captured_length(tvb);
}

static warp_boolean dissect_heuristic(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    return dissect_payload(tvb, pinfo, tree, data) != 0;
}

/* By port or Decode As: the user says that it is iWARP, so it is said why nothing is shown. */
static int dissect_by_port(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    proto_item *item;

    if (dissect_payload(tvb, pinfo, tree, data) != 0)
        return (int)tvb_captured_length(tvb);
    col_set_str(pinfo->cinfo, COL_PROTOCOL, "iWARP");
    item = proto_tree_add_item(tree, warp_proto, tvb, 0, -1, ENC_NA);
    proto_item_append_text(item, ", no FPDU found so far");
    expert_add_info_format(
        pinfo, item, &ei_warp_undecoded,
        "Neither a start-up frame nor an FPDU that can be verified was seen on this connection so far");
    return (int)tvb_captured_length(tvb);
}

/*
 * ---- before TCP ---------------------------------------------------------------------------------------------------
 */

/* So that no dissector by port takes the payload of a flow before the heuristics are asked. */
static void claim_conversation(tvbuff_t *tvb, packet_info *pinfo, const struct warp_record *record)
{
    const uint8_t *ports = tvb_get_ptr(tvb, 0, 4);
    conversation_t *conversation;

    if (record == NULL || record->flow == 0)
        return;
    conversation = find_conversation(pinfo->num, &pinfo->src, &pinfo->dst, CONVERSATION_TCP, octets_get16(ports),
                                     octets_get16(ports + 2), 0);
    if (conversation != NULL && conversation_get_dissector(conversation, pinfo->num) != warp_handle)
        conversation_set_dissector(conversation, warp_handle);
}

static int dissect_segment(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    const struct warp_record *record;
    tvbuff_t *outer = segment;
    int octets;

    /* A segment that an ICMP message quotes was not sent in this frame. */
    if (pinfo->flags.in_error_pkt || tvb_captured_length(tvb) < 20 ||
        !proto_is_protocol_enabled(find_protocol_by_id(warp_proto))) {
        segment = NULL;
        return call_dissector_with_data(tcp_handle, tvb, pinfo, tree, data);
    }
    if (!PINFO_FD_VISITED(pinfo))
        warp_record_segment(tvb, pinfo);
    record = warp_record_of(pinfo->num);
    claim_conversation(tvb, pinfo, record);
    drawn = 0;
    segment = tvb;
    segment_in = pinfo->num;
    octets = call_dissector_with_data(tcp_handle, tvb, pinfo, tree, data);
    segment = outer;
    /*
     * TCP has not asked: the segment has no payload, or TCP takes all of it for a retransmission (which it need not be:
     * it may bring new octets after the old ones, or its acknowledgment may stand earlier in the file).
     */
    if (record != NULL && (record->items != NULL || record->home != NULL) && drawn != pinfo->num)
        warp_draw_after(record, tvb, pinfo, tree, false);
    return octets;
}

/*
 * ---- registration -------------------------------------------------------------------------------------------------
 */

static void register_preferences(void)
{
    module_t *module = prefs_register_protocol(warp_proto, NULL);

    prefs_register_bool_preference(module, "findings", "Check conformance",
                                   "Judge the traffic by the requirements of the RFCs; findings become expert items.",
                                   &warp_preferences.findings);
    prefs_register_bool_preference(module, "late", "Look for FPDUs in connections whose start was not captured",
                                   "FPDUs are recognised by a right CRC, by Markers or by headers that fit.",
                                   &warp_preferences.late);
    prefs_register_bool_preference(module, "reassemble", "Reassemble Sends",
                                   "Sends of more than one DDP Segment are put together for the ULP's dissector.",
                                   &warp_preferences.reassemble);
    prefs_register_bool_preference(module, "reassemble_tagged", "Reassemble RDMA Writes and RDMA Read Responses",
                                   "Shows such messages whole on their last segment; takes memory.",
                                   &warp_preferences.reassemble_tagged);
    prefs_register_bool_preference(module, "ulp", "Hand messages to dissectors of ULPs",
                                   "RPC-over-RDMA, SMB Direct and others that registered for iWARP.",
                                   &warp_preferences.ulp);
    prefs_register_bool_preference(module, "builtin_names", "Names of the built-in dissectors in every tree",
                                   "Fields such as iwarp_mpa.rev also in trees that are shown whole (hidden there, but "
                                   "in JSON), for tshark -T fields. Filters and columns find them in any case.",
                                   &warp_preferences.builtin_names);
}

/* Without a dissector of its own: enabled and disabled with "warp". */
static int layer(const char *name, const char *short_name, const char *filter_name)
{
    return proto_register_protocol_in_name_only(name, short_name, filter_name, warp_proto, FT_PROTOCOL);
}

void warp_register(void)
{
    /* The short name begins with TCP, because tshark shows the ports of no other tables (-z conv,warp). */
    warp_proto = proto_register_protocol("iWARP", "TCP/iWARP (warpcheck)", "warp");
    warp_proto_mpa = layer("iWARP MPA (Marker PDU Aligned Framing)", "iWARP MPA", "warp.mpa");
    warp_proto_ddp = layer("iWARP DDP (Direct Data Placement)", "iWARP DDP", "warp.ddp");
    warp_proto_rdmap = layer("iWARP RDMAP (Remote DMA Protocol)", "iWARP RDMAP", "warp.rdmap");
    warp_proto_cm = layer("iWARP CM (InfiniBand connection management)", "iWARP CM", "warp.cm");
    warp_proto_port_mapper = layer("iWARP port mapper", "iWARP port mapper", "warp.port_mapper");
    warp_fields_register();
    warp_private_register();
    warp_stats_register();
    warp_follow_register();
    register_preferences();
    register_init_routine(warp_record_open);
    register_cleanup_routine(warp_record_close);
    register_postseq_cleanup_routine(warp_record_finish);
    warp_handle = register_dissector("warp.flow", dissect_payload, warp_proto);
    port_handle = register_dissector("warp", dissect_by_port, warp_proto);
}

void warp_handoff(void)
{
    tcp_handle = find_dissector("tcp");
    if (tcp_handle == NULL)
        return;
    /* Without a protocol of its own: the layers of a frame stay as they were. */
    dissector_add_uint("ip.proto", 6,
                       create_dissector_handle_with_name_and_description(dissect_segment, -1, "warp.tcp",
                                                                         "TCP, watched by iWARP (warpcheck)"));
    heur_dissector_add("tcp", dissect_heuristic, "iWARP over TCP (warpcheck)", "warp_tcp", warp_proto,
                       HEURISTIC_ENABLE);
    dissector_add_for_decode_as_with_preference("tcp.port", port_handle);
    warp_draw_handoff();
    warp_alias_handoff();
    warp_ulp_handoff();
    warp_sctp_handoff();
    warp_cm_handoff();
    warp_port_mapper_handoff();
    warp_stats_handoff();
}
