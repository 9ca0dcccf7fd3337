/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An FPDU: MPA's part (RFC 5044 4), its DDP Segment (RFC 5041 4) and RDMAP's part of that (RFC 5040 4, RFC 7306). All
 * of it can be parsed again from the octets and the framing that the record keeps; what it has to do with other frames
 * stands in the record.
 */
#include "dissector/warp.h"

#include <epan/column-utils.h>

#include <string.h>

#include "conformance/flow/notation/notation.h"
#include "dissector/warp_alias.h"
#include "dissector/warp_rdmap.h"
#include "wire/marker.h"

/*
 * ---- MPA ----------------------------------------------------------------------------------------------------------
 */

/* Offset in the stream, from the FPDU's first octet, of its `content`-th octet that belongs to no Marker. */
static int stream_offset(const struct fpdu_framing *framing, size_t content)
{
    return (int)(framing->markers ? content + marker_count(framing->position, content + 1) * MARKER_OCTETS : content);
}

static void draw_markers(const struct warp_fpdu *fpdu, const struct warp_place *place, packet_info *pinfo,
                         proto_tree *tree)
{
    unsigned at = marker_distance(fpdu->framing.position);

    for (size_t i = 0; at + MARKER_OCTETS <= (unsigned)place->count && at < fpdu->octets; i++, at += MARKER_SPACING) {
        const uint8_t *octets = tvb_get_ptr(place->tvb, place->offset + (int)at, MARKER_OCTETS);
        unsigned pointer = (unsigned)marker_get_FPDUPTR(octets);
        unsigned expected = marker_pointer(fpdu->framing.position, i);
        proto_item *item = proto_tree_add_none_format(tree, hf_warp_marker, place->tvb, place->offset + (int)at,
                                                      MARKER_OCTETS, "Marker, FPDUPTR %u", pointer);
        proto_tree *part = proto_item_add_subtree(item, ett_warp_detail);

        warp_fields_draw(part, place->tvb, place->offset + (int)at, MARKER_OCTETS, &marker_layout, NULL);
        warp_alias_marker(place->tvb, place->offset + (int)at, part);
        if (pointer != expected)
            expert_add_info_format(pinfo, item, &ei_warp_marker_bad,
                                   "FPDUPTR is %u, ULPDU_Length stands %u octets before it (RFC 5044 4.3)", pointer,
                                   expected);
    }
}

static void draw_tail(const struct warp_fpdu *fpdu, const struct fpdu *parsed, const struct warp_place *place,
                      packet_info *pinfo, proto_tree *tree)
{
    size_t pad = fpdu_pad(parsed->ulpdu_length);
    int crc = (int)fpdu->octets - FPDU_CRC_OCTETS;
    /* A Marker may stand inside the CRC field: then its octets do not lie together. */
    bool together = stream_offset(&fpdu->framing, fpdu_content(parsed->ulpdu_length) - FPDU_CRC_OCTETS) == crc;
    proto_item *item;

    if (pad != 0)
        proto_tree_add_item(tree, hf_warp_fpdu_pad, place->tvb,
                            place->offset +
                                stream_offset(&fpdu->framing, FPDU_LENGTH_OCTETS + (size_t)parsed->ulpdu_length),
                            (int)pad, ENC_NA);
    if (together) {
        proto_tree_add_checksum(tree, place->tvb, (guint)(place->offset + crc), hf_warp_fpdu_crc,
                                hf_warp_fpdu_crc_status, &ei_warp_crc_bad, pinfo, parsed->crc_expected,
                                ENC_LITTLE_ENDIAN, fpdu->framing.crc ? PROTO_CHECKSUM_VERIFY : PROTO_CHECKSUM_NO_FLAGS);
        return;
    }
    item = proto_tree_add_uint(tree, hf_warp_fpdu_crc, place->tvb, place->offset + crc, FPDU_CRC_OCTETS, parsed->crc);
    proto_item_set_generated(proto_tree_add_uint(tree, hf_warp_fpdu_crc_status, place->tvb, place->offset + crc, 0,
                                                 !fpdu->framing.crc ? PROTO_CHECKSUM_E_UNVERIFIED
                                                 : parsed->crc_ok   ? PROTO_CHECKSUM_E_GOOD
                                                                    : PROTO_CHECKSUM_E_BAD));
    if (fpdu->framing.crc && !parsed->crc_ok)
        expert_add_info(pinfo, item, &ei_warp_crc_bad);
}

static void draw_aliases(const struct warp_fpdu *fpdu, const struct fpdu *parsed, const struct warp_place *place,
                         proto_tree *tree)
{
    struct warp_alias_fpdu alias = {0, 0, 0, -1, fpdu->framing.crc};

    if (fpdu->framing.markers && marker_distance(fpdu->framing.position) == 0)
        alias.lead = MARKER_OCTETS;
    if (!fpdu->cut) {
        alias.pad = stream_offset(&fpdu->framing, FPDU_LENGTH_OCTETS + (size_t)parsed->ulpdu_length);
        alias.pad_octets = (int)fpdu_pad(parsed->ulpdu_length);
        alias.crc = (int)fpdu->octets - FPDU_CRC_OCTETS;
    }
    warp_alias_fpdu(&alias, place, tree);
}

static void draw_mpa(const struct warp_item *item, const struct fpdu *parsed, const struct warp_place *place,
                     packet_info *pinfo, proto_tree *root)
{
    const struct warp_fpdu *fpdu = &item->fpdu;
    proto_item *layer = proto_tree_add_item(root, warp_proto_mpa, place->tvb, place->offset, place->count, ENC_NA);
    proto_tree *tree = proto_item_add_subtree(layer, ett_warp_part);
    proto_item *top = proto_tree_add_item(tree, hf_warp_fpdu, place->tvb, place->offset, place->count, ENC_NA);
    proto_tree *part = proto_item_add_subtree(top, ett_warp_part);
    tvbuff_t *tvb = place->tvb;
    int lead = fpdu->framing.markers && marker_distance(fpdu->framing.position) == 0 ? MARKER_OCTETS : 0;

    proto_item_append_text(layer, ", FPDU, ULPDU_Length %u", parsed->ulpdu_length);
    proto_item_append_text(top, ", ULPDU_Length %u", parsed->ulpdu_length);
    draw_aliases(fpdu, parsed, place, part);
    warp_fields_draw(part, tvb, place->offset + lead, FPDU_LENGTH_OCTETS, &fpdu_layout, NULL);
    proto_item_set_generated(proto_tree_add_uint64(part, hf_warp_fpdu_index, tvb, 0, 0, fpdu->index));
    proto_item_set_generated(proto_tree_add_uint64(part, hf_warp_fpdu_position, tvb, 0, 0, fpdu->position));
    if (fpdu->segments > 1)
        proto_item_set_generated(proto_tree_add_uint(part, hf_warp_fpdu_segments, tvb, 0, 0, fpdu->segments));
    if (fpdu->resynced)
        proto_item_set_generated(proto_tree_add_boolean(part, hf_warp_fpdu_resynced, tvb, 0, 0, true));
    if (fpdu->framing.markers)
        draw_markers(fpdu, place, pinfo, part);
    if (fpdu->cut) {
        proto_item *cut = proto_tree_add_boolean(part, hf_warp_fpdu_cut, tvb, 0, 0, true);

        proto_item_set_generated(cut);
        expert_add_info(pinfo, cut, &ei_warp_cut);
        return;
    }
    draw_tail(fpdu, parsed, place, pinfo, part);
}

/*
 * ---- the ULPDU ----------------------------------------------------------------------------------------------------
 */

/* Octets of the ULPDU without Markers, from the FPDU's octets as they are there. */
static tvbuff_t *ulpdu_tvb(const struct warp_fpdu *fpdu, const struct fpdu *parsed, const struct warp_place *place,
                           packet_info *pinfo)
{
    const uint8_t *octets = tvb_get_ptr(place->tvb, place->offset, place->count);
    unsigned distance = fpdu->framing.markers ? marker_distance(fpdu->framing.position) : UINT32_MAX;
    size_t have = 0, at = 0, left = (size_t)place->count, length = parsed->ulpdu_length;
    uint8_t *copy;
    tvbuff_t *tvb;

    if (distance >= FPDU_LENGTH_OCTETS + length || distance >= left) { /* no Marker in it */
        have = left - FPDU_LENGTH_OCTETS < length ? left - FPDU_LENGTH_OCTETS : length;
        return tvb_new_subset_length_caplen(place->tvb, place->offset + FPDU_LENGTH_OCTETS, (gint)have, (gint)length);
    }
    copy = wmem_alloc(pinfo->pool, left);
    while (at < left) {
        size_t run = left - at < distance ? left - at : distance;

        memcpy(copy + have, octets + at, run);
        have += run;
        at += run + MARKER_OCTETS;
        distance = MARKER_DATA;
    }
    if (have < FPDU_LENGTH_OCTETS)
        return NULL;
    have -= FPDU_LENGTH_OCTETS;
    if (have > length)
        have = length;
    tvb = tvb_new_child_real_data(place->tvb, copy + FPDU_LENGTH_OCTETS, (guint)have, (gint)length);
    add_new_data_source(pinfo, tvb, "ULPDU without Markers");
    return tvb;
}

/* False: not even ULPDU_Length is there. */
static bool parse(const struct warp_fpdu *fpdu, const struct warp_place *place, packet_info *pinfo, struct fpdu *parsed)
{
    const uint8_t *octets = tvb_get_ptr(place->tvb, place->offset, place->count), *p = octets;
    int lead = fpdu->framing.markers && marker_distance(fpdu->framing.position) == 0 ? MARKER_OCTETS : 0;

    memset(parsed, 0, sizeof(*parsed));
    if (place->count < lead + FPDU_LENGTH_OCTETS)
        return false;
    parsed->ulpdu_length = (uint16_t)fpdu_get_ULPDU_Length(octets + lead);
    parsed->crc_ok = true;
    if (!fpdu->cut)
        fpdu_parse(&p, octets + place->count, &fpdu->framing,
                   fpdu->framing.markers ? wmem_alloc(pinfo->pool, FPDU_SCRATCH_OCTETS) : NULL, parsed);
    return true;
}

proto_tree *warp_draw_fpdu(const struct warp_item *item, const struct warp_place *place, packet_info *pinfo,
                           proto_tree *root)
{
    const struct warp_fpdu *fpdu = &item->fpdu;
    struct fpdu parsed;
    proto_tree *tree;
    proto_item *top;
    tvbuff_t *tvb;

    top = warp_draw_root(item, place, root, &tree);
    if (!parse(fpdu, place, pinfo, &parsed))
        return tree;
    draw_mpa(item, &parsed, place, pinfo, root);
    tvb = ulpdu_tvb(fpdu, &parsed, place, pinfo);
    if (tvb != NULL)
        warp_rdmap_draw(item, tvb, top, pinfo, root);
    if (fpdu->framing.crc && !parsed.crc_ok) {
        col_append_str(pinfo->cinfo, COL_INFO, " [bad CRC]");
        proto_item_append_text(top, " [bad CRC]");
    }
    if (fpdu->cut)
        col_append_str(pinfo->cinfo, COL_INFO, " [cut]");
    if (fpdu->resynced)
        col_append_str(pinfo->cinfo, COL_INFO, " [in step again]");
    return tree;
}
