/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DDP over SCTP. The plugin stands before SCTP in the table "ip.proto": on the first pass it gives every packet to the
 * decoder, then calls SCTP; what the packet has of DDP is drawn after SCTP's tree. In SCTP's table of payloads it takes
 * PPID 16 and 17 where the decoder has found DDP, and 1 and 2 likewise (in associations whose Adaptation Layer
 * Indication is that of the draft's profile); those of other associations go to whom they belong.
 */
#include "dissector/warp.h"

#include <epan/column-utils.h>

#include "conformance/flow/sctp/flow_sctp.h"
#include "dissector/warp_rdmap.h"

static dissector_handle_t sctp_handle, others[2]; /* of PPID 1 and 2 */

/* ---- trees ------------------------------------------------------------------------------------------------------- */

proto_tree *warp_draw_chunk(const struct warp_item *item, const struct warp_place *place, packet_info *pinfo,
                            proto_tree *root)
{
    const uint8_t *octets = tvb_get_ptr(place->tvb, place->offset, place->count);
    struct sctp_chunk chunk = {.type = octets[0], .start = octets, .octets = (size_t)place->count};
    proto_tree *tree, *part;
    struct sctp_init init;
    proto_item *top = warp_draw_root(item, place, root, &tree), *sctp;

    sctp = proto_tree_add_item(tree, hf_warp_sctp, place->tvb, place->offset, place->count, ENC_NA);
    part = proto_item_add_subtree(sctp, ett_warp_part);
    proto_item_append_text(top, ", %s", item->text);
    warp_info(pinfo, item->text);
    if (chunk.type == SCTP_INIT || chunk.type == SCTP_INIT_ACK) {
        warp_fields_draw(part, place->tvb, place->offset, (size_t)place->count, &sctp_init_layout, NULL);
        if (sctp_init_parse(&chunk, &init) == WIRE_OK && init.adaptation_at != NULL && init.has_adaptation)
            warp_fields_draw(part, place->tvb, place->offset + (int)(init.adaptation_at - octets),
                             SCTP_ADAPTATION_OCTETS, &sctp_adaptation_layout, NULL);
    } else if (chunk.type == SCTP_DATA) {
        warp_fields_draw(part, place->tvb, place->offset, (size_t)place->count, &sctp_data_layout, NULL);
    } else {
        warp_fields_draw(part, place->tvb, place->offset, (size_t)place->count, &sctp_chunk_layout, NULL);
    }
    return tree;
}

static void draw_private(const struct ddp_sctp_message *message, tvbuff_t *tvb, packet_info *pinfo, proto_tree *part,
                         proto_tree *root)
{
    size_t count = 0;
    const uint8_t *data = ddp_sctp_ulp_data(message, &count);
    int at = DDP_SCTP_CONTROL_OCTETS + (message->has_word ? MPA_ENHANCED_OCTETS : 0);

    if (message->has_word)
        warp_fields_draw(proto_tree_add_subtree(part, tvb, DDP_SCTP_CONTROL_OCTETS, MPA_ENHANCED_OCTETS,
                                                ett_warp_detail, NULL, "Enhanced word (RFC 6581 7)"),
                         tvb, DDP_SCTP_CONTROL_OCTETS, MPA_ENHANCED_OCTETS, &mpa_enhanced_layout, NULL);
    if (data == NULL || count == 0)
        return;
    proto_tree_add_item(part, hf_warp_session_private, tvb, at, (int)count, ENC_NA);
    warp_draw_private(tvb_new_subset_length(tvb, at, (int)count), pinfo, part, root,
                      message->row->active == 1 ? IWARP_MPA_REQUEST : IWARP_MPA_REPLY);
}

proto_tree *warp_draw_session(const struct warp_item *item, const struct warp_place *place, packet_info *pinfo,
                              proto_tree *root)
{
    tvbuff_t *tvb = tvb_new_subset_length_caplen(place->tvb, place->offset, place->count, (gint)item->session.length);
    const uint8_t *octets = tvb_get_ptr(tvb, 0, place->count);
    struct ddp_sctp_message message;
    wire_result result = ddp_sctp_parse(item->session.ppid, octets, (size_t)place->count, &message);
    bool draft = message.kind == DDP_SCTP_DRAFT_CONTROL;
    proto_tree *tree, *part;
    proto_item *top = warp_draw_root(item, place, root, &tree), *session;

    proto_item_append_text(top, ", %s", item->text);
    warp_info(pinfo, item->text);
    session = proto_tree_add_item(tree, hf_warp_session, tvb, 0, place->count, ENC_NA);
    part = proto_item_add_subtree(session, ett_warp_part);
    proto_item_set_generated(proto_tree_add_uint(part, hf_warp_sid, tvb, 0, 0, item->session.sid));
    warp_fields_draw(part, tvb, 0, (size_t)place->count,
                     draft ? &ddp_sctp_draft_control_layout : &ddp_sctp_control_layout, NULL);
    if (result != WIRE_OK)
        expert_add_info(pinfo, session,
                        (guint)place->count < item->session.length ? &ei_warp_cut : &ei_warp_session_short);
    else if (!draft)
        draw_private(&message, tvb, pinfo, part, root);
    if (!draft && (message.code == DDP_SCTP_REJECT || message.code == DDP_SCTP_ENHANCED_REJECT))
        expert_add_info(pinfo, session, &ei_warp_session_rejected);
    return tree;
}

proto_tree *warp_draw_segment_chunk(const struct warp_item *item, const struct warp_place *place, packet_info *pinfo,
                                    proto_tree *root)
{
    int have = place->count - DDP_SCTP_SSN_OCTETS, length = (int)item->fpdu.octets - DDP_SCTP_SSN_OCTETS;
    proto_tree *tree;
    proto_item *top = warp_draw_root(item, place, root, &tree), *chunk;

    if (have < 0)
        return tree;
    chunk = proto_tree_add_item(tree, hf_warp_segment_chunk, place->tvb, place->offset, place->count, ENC_NA);
    warp_fields_draw(proto_item_add_subtree(chunk, ett_warp_part), place->tvb, place->offset, DDP_SCTP_SSN_OCTETS,
                     &ddp_sctp_segment_layout, NULL);
    warp_rdmap_draw(item, tvb_new_subset_length_caplen(place->tvb, place->offset + DDP_SCTP_SSN_OCTETS, have, length),
                    top, pinfo, root);
    if (item->fpdu.cut)
        col_append_str(pinfo->cinfo, COL_INFO, " [cut]");
    return tree;
}

/* ---- before SCTP ------------------------------------------------------------------------------------------------- */

static int dissect_packet(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data, enum warp_packet packet)
{
    const struct warp_record *record;
    int octets;

    if (pinfo->flags.in_error_pkt || tvb_captured_length(tvb) < SCTP_COMMON_OCTETS ||
        !proto_is_protocol_enabled(find_protocol_by_id(warp_proto)))
        return call_dissector_with_data(sctp_handle, tvb, pinfo, tree, data);
    if (!PINFO_FD_VISITED(pinfo))
        warp_record_packet(packet, tvb, pinfo);
    octets = call_dissector_with_data(sctp_handle, tvb, pinfo, tree, data);
    record = warp_record_of(pinfo->num);
    if (record != NULL)
        warp_draw_after(record, tvb, pinfo, tree, true);
    return octets;
}

static int dissect_over_ip(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    return dissect_packet(tvb, pinfo, tree, data, WARP_PACKET_SCTP);
}

static int dissect_in_udp(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    return dissect_packet(tvb, pinfo, tree, data, WARP_PACKET_SCTP_IN_UDP);
}

/* The decoder has found DDP in the packet: what there is to say of it is drawn after SCTP's tree. */
static bool has_ddp(const packet_info *pinfo)
{
    const struct warp_record *record = warp_record_of(pinfo->num);

    return record != NULL && (record->items != NULL || record->home != NULL);
}

/* User data of PPID 16 and 17, which others use, too. */
static int dissect_user(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree _U_, void *data _U_)
{
    return has_ddp(pinfo) ? (int)tvb_captured_length(tvb) : 0;
}

/* PPID 1 and 2: DDP's in the draft's profile, else IUA's and M2UA's. */
static int dissect_draft(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data, unsigned which)
{
    if (has_ddp(pinfo))
        return (int)tvb_captured_length(tvb);
    return others[which] == NULL ? 0 : call_dissector_with_data(others[which], tvb, pinfo, tree, data);
}

static int dissect_ppid_1(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    return dissect_draft(tvb, pinfo, tree, data, 0);
}

static int dissect_ppid_2(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    return dissect_draft(tvb, pinfo, tree, data, 1);
}

/* Names of a table's dissectors differ, for Decode As. */
static dissector_handle_t handle_of(dissector_t dissector, const char *name, const char *description)
{
    return create_dissector_handle_with_name_and_description(dissector, -1, name, description);
}

void warp_sctp_handoff(void)
{
    static const dissector_t drafts[2] = {dissect_ppid_1, dissect_ppid_2};
    static const char *const names[2][2] = {{"warp.sctp.1", "DDP over SCTP, draft, or IUA (warpcheck)"},
                                            {"warp.sctp.2", "DDP over SCTP, draft, or M2UA (warpcheck)"}};
    dissector_handle_t user = handle_of(dissect_user, "warp.sctp.user", "DDP over SCTP (warpcheck)");

    sctp_handle = find_dissector("sctp");
    if (sctp_handle == NULL)
        return;
    dissector_add_uint("ip.proto", SCTP_PROTOCOL,
                       handle_of(dissect_over_ip, "warp.sctp", "SCTP, watched by iWARP (warpcheck)"));
    dissector_add_uint("udp.port", SCTP_UDP_PORT, /* RFC 6951 */
                       handle_of(dissect_in_udp, "warp.sctp.udp", "SCTP in UDP, watched by iWARP (warpcheck)"));
    dissector_add_uint("sctp.ppi", DDP_SCTP_PPID_SEGMENT, user);
    dissector_add_uint("sctp.ppi", DDP_SCTP_PPID_CONTROL, user);
    for (unsigned i = 0; i < 2; i++) {
        others[i] = dissector_get_uint_handle(find_dissector_table("sctp.ppi"), i + 1);
        dissector_add_uint("sctp.ppi", i + 1, handle_of(drafts[i], names[i][0], names[i][1]));
    }
}
