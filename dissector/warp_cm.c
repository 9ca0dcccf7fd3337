/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CM messages and the RDMA IP CM Service (IBTA Annex A11). The plugin stands before the built-in dissectors of RoCEv2
 * (UDP port 4791), RoCEv1 and InfiniBand (ERF records, frames): it gives the packet to the decoder, calls them, and
 * draws what was a CM message after their tree. What they show stays.
 */
#include "dissector/warp.h"

#include <epan/column-utils.h>
#include <wiretap/wtap.h>

#include "conformance/flow/cm/flow_cm.h"

enum { ERF_INFINIBAND = 21 };

static dissector_handle_t roce_handle, roce_v1_handle, erf_handle, frame_handle;

/*
 * ---- trees --------------------------------------------------------------------------------------------------------
 */

static void add_address(proto_tree *tree, tvbuff_t *tvb, int offset, unsigned version, int hf4, int hf6)
{
    if (version == 4)
        proto_tree_add_item(tree, hf4, tvb, offset + 12, 4, ENC_BIG_ENDIAN);
    else if (version == 6)
        proto_tree_add_item(tree, hf6, tvb, offset, 16, ENC_NA);
}

static void draw_service(const struct cm_message *message, const uint8_t *mad, tvbuff_t *tvb, packet_info *pinfo,
                         proto_tree *tree, proto_tree *root)
{
    int service = MAD_HEADER_OCTETS + (message->attribute == CM_SIDR_REP ? 12 : 8), data;
    proto_tree *part;
    proto_item *top;

    if (!message->has_service || !ip_cm_in_range(message->service_id))
        return;
    top = proto_tree_add_item(tree, hf_warp_ipcm, tvb, service, 8, ENC_NA);
    part = proto_item_add_subtree(top, ett_warp_part);
    warp_fields_draw(part, tvb, service, 8, &ip_cm_service_layout, NULL);
    if (!message->has_ip)
        return;
    data = (int)(message->private_data - mad);
    warp_fields_draw(part, tvb, data, message->private_octets, &ip_cm_private_layout, NULL);
    add_address(part, tvb, data + 4, message->ip.ip_version, hf_warp_ipcm_source4, hf_warp_ipcm_source6);
    add_address(part, tvb, data + 20, message->ip.ip_version, hf_warp_ipcm_destination4, hf_warp_ipcm_destination6);
    if (message->ip.consumer_octets != 0) {
        int at = data + IP_CM_PRIVATE_OCTETS;

        proto_tree_add_item(part, hf_warp_ipcm_consumer, tvb, at, (int)message->ip.consumer_octets, ENC_NA);
        warp_draw_private(tvb_new_subset_length(tvb, at, (int)message->ip.consumer_octets), pinfo, part, root,
                          IWARP_MPA_REQUEST);
    }
}

static void draw_ari(const struct cm_message *message, const uint8_t *mad, tvbuff_t *tvb, proto_tree *tree)
{
    int at;
    proto_item *top;
    proto_tree *part;
    size_t valid = message->info_octets < CM_ARI_OCTETS ? message->info_octets : CM_ARI_OCTETS;

    if (!message->has_ari)
        return;
    at = (int)(message->ari_octets - mad);
    top = proto_tree_add_item(tree, hf_warp_ipcm, tvb, at, (int)valid, ENC_NA);
    part = proto_item_add_subtree(top, ett_warp_part);
    proto_item_append_text(top, ", ARI");
    if (message->ari.layer != IP_CM_LAYER_SERVICE) {
        warp_fields_draw(part, tvb, at, 1, &ip_cm_ari_layout, NULL);
        return;
    }
    warp_fields_draw(part, tvb, at, valid, &ip_cm_ari_layout, NULL);
    if (message->ari.suggested != NULL)
        proto_tree_add_item(part, hf_warp_ipcm_suggested, tvb, at + IP_CM_ARI_HEADER_OCTETS,
                            message->ari.suggested_octets, ENC_NA);
}

proto_tree *warp_draw_cm(const struct warp_item *item, const struct warp_place *place, packet_info *pinfo,
                         proto_tree *root)
{
    tvbuff_t *tvb = tvb_new_subset_length(place->tvb, place->offset, place->count);
    const uint8_t *mad = tvb_get_ptr(tvb, 0, place->count);
    struct cm_message message;
    wire_result result = cm_parse(mad, (size_t)place->count, &message);
    static const char *const icrcs[] = {"not checked", "good", "bad"};
    proto_tree *tree, *part;
    proto_item *top = warp_draw_root(item, place, root, &tree), *cm, *icrc;

    proto_item_append_text(top, ", %s", item->text);
    warp_info(pinfo, item->text);
    cm = proto_tree_add_item(root, warp_proto_cm, tvb, 0, place->count, ENC_NA);
    part = proto_item_add_subtree(cm, ett_warp_part);
    icrc = proto_tree_add_string(part, hf_warp_cm_icrc, tvb, 0, 0, icrcs[item->cm.icrc]);
    proto_item_set_generated(icrc);
    if (item->cm.icrc == FLOW_ICRC_BAD)
        expert_add_info(pinfo, icrc, &ei_warp_cm_icrc);
    if (item->cm.request_in != 0 && item->cm.request_in != pinfo->num)
        proto_item_set_generated(proto_tree_add_uint(part, hf_warp_request_in, tvb, 0, 0, item->cm.request_in));
    warp_fields_draw(part, tvb, 0, MAD_HEADER_OCTETS, &mad_layout, NULL);
    warp_fields_draw(part, tvb, MAD_HEADER_OCTETS, message.body_octets, cm_layout(message.attribute), NULL);
    if (message.private_data != NULL && message.private_octets != 0)
        proto_tree_add_item(part, hf_warp_cm_private, tvb, (int)(message.private_data - mad),
                            (int)message.private_octets, ENC_NA);
    draw_service(&message, mad, tvb, pinfo, part, root);
    draw_ari(&message, mad, tvb, part);
    if (result == WIRE_MORE)
        expert_add_info(pinfo, cm, &ei_warp_cut);
    if (message.attribute == CM_REJ) {
        const char *reason = wire_name_of(cm_reason_names, message.reason);

        expert_add_info_format(pinfo, cm, &ei_warp_cm_rejected, "The connection is rejected: reason %u%s%s",
                               message.reason, reason != NULL ? ", " : "", reason != NULL ? reason : "");
    }
    return tree;
}

/*
 * ---- before the built-in dissectors --------------------------------------------------------------------------------
 */

static int dissect(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data, enum warp_packet packet,
                   dissector_handle_t builtin)
{
    const struct warp_record *record;
    int octets = (int)tvb_captured_length(tvb);
    bool wanted = !pinfo->flags.in_error_pkt && proto_is_protocol_enabled(find_protocol_by_id(warp_proto));

    if (wanted && !PINFO_FD_VISITED(pinfo))
        warp_record_packet(packet, tvb, pinfo);
    if (builtin != NULL)
        octets = call_dissector_with_data(builtin, tvb, pinfo, tree, data);
    record = wanted ? warp_record_of(pinfo->num) : NULL;
    if (record != NULL)
        warp_draw_after(record, tvb, pinfo, tree, true);
    return octets;
}

static int dissect_roce(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    return dissect(tvb, pinfo, tree, data, WARP_PACKET_ROCE, roce_handle);
}

static int dissect_roce_v1(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    return dissect(tvb, pinfo, tree, data, WARP_PACKET_ROCE_V1, roce_v1_handle);
}

static int dissect_erf(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    return dissect(tvb, pinfo, tree, data, WARP_PACKET_INFINIBAND, erf_handle);
}

static int dissect_frame(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    return dissect(tvb, pinfo, tree, data, WARP_PACKET_INFINIBAND, frame_handle);
}

/* Takes the place of whoever has it, and returns that one. */
static dissector_handle_t stand_before(const char *table, guint32 value, dissector_t dissector, const char *name)
{
    dissector_table_t of = find_dissector_table(table);
    dissector_handle_t builtin = of == NULL ? NULL : dissector_get_uint_handle(of, value);

    if (of != NULL)
        dissector_add_uint(
            table, value,
            create_dissector_handle_with_name_and_description(dissector, -1, name, "CM messages (warpcheck)"));
    return builtin;
}

void warp_cm_handoff(void)
{
    roce_handle = stand_before("udp.port", ROCE_V2_PORT, dissect_roce, "warp.roce");
    roce_v1_handle = stand_before("ethertype", ROCE_V1_ETHERTYPE, dissect_roce_v1, "warp.roce_v1");
    erf_handle = stand_before("erf.types.type", ERF_INFINIBAND, dissect_erf, "warp.erf");
    frame_handle = stand_before("wtap_encap", WTAP_ENCAP_INFINIBAND, dissect_frame, "warp.infiniband");
}
