/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A start-up frame (RFC 5044 7.1, RFC 6581 6), and after a Reply what both frames agree upon. */
#include "dissector/warp.h"

#include <epan/column-utils.h>

#include "conformance/flow/notation/notation.h"
#include "dissector/warp_alias.h"

static const char *rtr_kinds(const struct warp_agreement *agreement)
{
    static const char *const kinds[8] = {"none", "Send",       "Write",       "Send, Write",
                                         "Read", "Send, Read", "Write, Read", "Send, Write, Read"};
    const struct iwarp_mpa_start *a = &agreement->request, *b = &agreement->reply;

    return kinds[(a->rtr_send && b->rtr_send) | (a->rtr_write && b->rtr_write) << 1 |
                 (a->rtr_read && b->rtr_read) << 2];
}

/* Reads that one side may have outstanding: what it asks for, and what the other grants (RFC 6581 9.1). */
static void draw_depth(proto_tree *tree, int hf, tvbuff_t *tvb, unsigned ord, unsigned ird)
{
    proto_item *item;

    if (ord == MPA_DEPTH_NOT_NEGOTIATED || ird == MPA_DEPTH_NOT_NEGOTIATED) {
        item = proto_tree_add_uint_format_value(tree, hf, tvb, 0, 0, MPA_DEPTH_NOT_NEGOTIATED, "not negotiated here");
    } else {
        item = proto_tree_add_uint(tree, hf, tvb, 0, 0, ord < ird ? ord : ird);
    }
    proto_item_set_generated(item);
}

static void draw_agreement(const struct warp_agreement *agreement, tvbuff_t *tvb, proto_tree *tree)
{
    const struct iwarp_mpa_start *request = &agreement->request, *reply = &agreement->reply;
    proto_item *top = proto_tree_add_item(tree, hf_warp_agreed, tvb, 0, 0, ENC_NA);
    proto_tree *part = proto_item_add_subtree(top, ett_warp_detail);

    proto_item_set_generated(top);
    proto_item_set_generated(proto_tree_add_boolean(part, hf_warp_agreed_crc, tvb, 0, 0, request->crc || reply->crc));
    proto_item_set_generated(proto_tree_add_boolean(part, hf_warp_agreed_markers_i, tvb, 0, 0, reply->markers));
    proto_item_set_generated(proto_tree_add_boolean(part, hf_warp_agreed_markers_r, tvb, 0, 0, request->markers));
    if (!iwarp_mpa_start_has_word(request) || !iwarp_mpa_start_has_word(reply))
        return;
    draw_depth(part, hf_warp_agreed_depth_i, tvb, request->ord, reply->ird);
    draw_depth(part, hf_warp_agreed_depth_r, tvb, reply->ord, request->ird);
    if (request->peer_to_peer && reply->peer_to_peer)
        proto_item_set_generated(proto_tree_add_string(part, hf_warp_agreed_rtr, tvb, 0, 0, rtr_kinds(agreement)));
}

static void draw_word(const struct iwarp_mpa_start *start, tvbuff_t *tvb, int offset, proto_tree *tree)
{
    proto_tree *part;

    if (!iwarp_mpa_start_has_word(start))
        return;
    part = proto_tree_add_subtree(tree, tvb, offset, MPA_ENHANCED_OCTETS, ett_warp_detail, NULL,
                                  "Enhanced word (RFC 6581 6)");
    warp_fields_draw(part, tvb, offset, MPA_ENHANCED_OCTETS, &mpa_enhanced_layout, NULL);
}

proto_tree *warp_draw_start(const struct warp_item *item, const struct warp_place *place, packet_info *pinfo,
                            proto_tree *root)
{
    const uint8_t *octets = tvb_get_ptr(place->tvb, place->offset, place->count), *p = octets;
    tvbuff_t *tvb = tvb_new_subset_length(place->tvb, place->offset, place->count);
    struct iwarp_mpa_start start;
    proto_tree *tree, *part;
    proto_item *top, *layer, *mpa;
    char text[NOTATION_MAX];
    wire_result result = mpa_start_parse(&p, octets + place->count, item->start.kind, &start);
    size_t ulp = 0;

    top = warp_draw_root(item, place, root, &tree);
    layer = proto_tree_add_item(root, warp_proto_mpa, tvb, 0, -1, ENC_NA);
    mpa = proto_tree_add_item(proto_item_add_subtree(layer, ett_warp_part), hf_warp_start, tvb, 0, -1, ENC_NA);
    part = proto_item_add_subtree(mpa, ett_warp_part);
    warp_fields_draw(part, tvb, 0, (size_t)place->count, &mpa_start_layout, NULL);
    if (item->start.result == TERM_MPA_START_FRAME)
        expert_add_info(pinfo, mpa, &ei_warp_start_bad);
    else if (item->start.result == WIRE_MORE)
        expert_add_info(pinfo, mpa, &ei_warp_cut);
    if (place->count < MPA_START_OCTETS) {
        warp_info(pinfo, item->start.kind == IWARP_MPA_REQUEST ? "MPA Request, cut" : "MPA Reply, cut");
        return tree;
    }
    notation_start(&start, text, sizeof(text));
    proto_item_append_text(top, ", %s", text);
    proto_item_append_text(mpa, ", %s", item->start.kind == IWARP_MPA_REQUEST ? "Request" : "Reply");
    proto_item_append_text(layer, ", %s", item->start.kind == IWARP_MPA_REQUEST ? "Request" : "Reply");
    warp_alias_start(&start, tvb, tree);
    warp_info(pinfo, text);
    warp_stats_count(item, NULL, pinfo);
    if (item->start.result != WIRE_OK)
        warp_info(pinfo, item->start.result == WIRE_MORE ? "[cut]" : "[malformed]");
    if (result == WIRE_OK) {
        draw_word(&start, tvb, MPA_START_OCTETS, part);
        if (iwarp_mpa_start_ulp_data(&start, &ulp) != NULL && ulp != 0) {
            int at = MPA_START_OCTETS + start.private_octets - (int)ulp;

            proto_tree_add_item(part, hf_warp_mpa_private, tvb, at, (int)ulp, ENC_NA);
            warp_draw_private(tvb_new_subset_length(tvb, at, (int)ulp), pinfo, part, root, start.kind);
        }
    }
    if (item->start.kind == IWARP_MPA_REPLY && start.rejected)
        expert_add_info(pinfo, mpa, &ei_warp_rejected);
    else if (item->start.agreement.request_seen && item->start.agreement.reply_seen &&
             item->start.kind == IWARP_MPA_REPLY)
        draw_agreement(&item->start.agreement, tvb, tree);
    return tree;
}
