/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A frame's record as columns, tree and expert items. */
#define _GNU_SOURCE /* memmem() */
#include "dissector/warp.h"

#include <epan/column-utils.h>

#include <string.h>

#include "conformance/flow/notation/notation.h"

void warp_info(packet_info *pinfo, const char *text)
{
    col_append_sep_str(pinfo->cinfo, COL_INFO, " | ", text);
}

const char *warp_role_name(unsigned direction)
{
    return direction == FLOW_FROM_INITIATOR ? "Initiator" : "Responder";
}

static uint32_t shown_in; /* the frame that is being drawn */

/*
 * ---- parts that all items have -------------------------------------------------------------------------------------
 */

static proto_item *generated(proto_item *item)
{
    proto_item_set_generated(item);
    return item;
}

proto_item *warp_draw_root(const struct warp_item *item, const struct warp_place *place, proto_tree *root,
                           proto_tree **tree)
{
    proto_item *top = proto_tree_add_item(root, warp_proto, place->tvb, place->offset, place->count, ENC_NA);

    *tree = proto_item_add_subtree(top, ett_warp);
    generated(proto_tree_add_uint(*tree, hf_warp_flow, place->tvb, place->offset, 0, item->flow));
    if (item->roles_known)
        generated(proto_tree_add_string(*tree, hf_warp_direction, place->tvb, place->offset, 0,
                                        warp_role_name(item->direction)));
    if (item->first_frame != item->last_frame)
        generated(proto_tree_add_uint(*tree, hf_warp_first_frame, place->tvb, place->offset, 0, item->first_frame));
    if (item->last_frame != shown_in)
        generated(proto_tree_add_uint(*tree, hf_warp_last_frame, place->tvb, place->offset, 0, item->last_frame));
    if (item->decoded_in == 0)
        generated(proto_tree_add_boolean(*tree, hf_warp_at_end, place->tvb, place->offset, 0, TRUE));
    return top;
}

static void draw_finding(const struct warp_finding *finding, const struct warp_item *item,
                         const struct warp_place *place, packet_info *pinfo, proto_tree *tree)
{
    expert_field *expert = finding->verdict == RULE_FAIL   ? &ei_warp_fail
                           : finding->verdict == RULE_WARN ? &ei_warp_warn
                                                           : &ei_warp_ambiguous;
    proto_item *top = proto_tree_add_none_format(tree, hf_warp_finding, place->tvb, place->offset, 0, "%s %s",
                                                 rule_verdict_name(finding->verdict), finding->id);
    proto_tree *part = proto_item_add_subtree(top, ett_warp_detail);

    generated(top);
    generated(proto_tree_add_string(part, hf_warp_finding_id, place->tvb, place->offset, 0, finding->id));
    if (finding->side != NULL)
        generated(proto_tree_add_string(part, hf_warp_finding_side, place->tvb, place->offset, 0, finding->side));
    generated(proto_tree_add_string(part, hf_warp_finding_verdict, place->tvb, place->offset, 0,
                                    rule_verdict_name(finding->verdict)));
    generated(proto_tree_add_string(part, hf_warp_finding_text, place->tvb, place->offset, 0, finding->message));
    generated(proto_tree_add_string(part, hf_warp_finding_expected, place->tvb, place->offset, 0, finding->expected));
    generated(proto_tree_add_string(part, hf_warp_finding_actual, place->tvb, place->offset, 0, finding->actual));
    if (finding->frame != item->last_frame)
        generated(proto_tree_add_uint(part, hf_warp_finding_frame, place->tvb, place->offset, 0, finding->frame));
    expert_add_info_format(pinfo, top, expert, "%s: %s", finding->id, finding->message);
}

/* Why the flow ended, where the item ended it. */
static void draw_end(const struct warp_item *item, const struct warp_place *place, proto_tree *tree)
{
    const struct warp_end *end = item->end;

    if (end == NULL)
        return;
    generated(proto_tree_add_string(tree, hf_warp_why, place->tvb, place->offset, 0, end->why));
    if (end->broke == NULL)
        return;
    generated(proto_tree_add_string(tree, hf_warp_why_broke, place->tvb, place->offset, 0, end->broke));
    generated(proto_tree_add_uint(tree, hf_warp_why_broke_in, place->tvb, place->offset, 0, end->broke_frame));
}

static void draw_findings(const struct warp_item *item, const struct warp_place *place, packet_info *pinfo,
                          proto_tree *tree)
{
    draw_end(item, place, tree);
    for (const struct warp_finding *finding = item->findings; finding != NULL; finding = finding->next)
        draw_finding(finding, item, place, pinfo, tree);
}

/*
 * ---- items that are no octets --------------------------------------------------------------------------------------
 */

static void draw_gap(const struct warp_item *item, const struct warp_place *place, packet_info *pinfo, proto_tree *tree)
{
    proto_item *part = proto_tree_add_uint64(tree, hf_warp_gap, place->tvb, place->offset, 0, item->gap.octets);

    generated(part);
    if (item->text != NULL) {
        expert_add_info_format(pinfo, part, &ei_warp_gap, "%s", item->text);
        warp_info(pinfo, wmem_strdup_printf(pinfo->pool, "[%s]", item->text));
        return;
    }
    expert_add_info_format(pinfo, part, &ei_warp_gap, "%" PRIu64 " octets of the stream are missing in the capture%s",
                           item->gap.octets, item->gap.in_sync ? "; the next FPDU boundary is known" : "");
    warp_info(pinfo, wmem_strdup_printf(pinfo->pool, "[%" PRIu64 " octets are missing]", item->gap.octets));
}

static void draw_undecoded(const struct warp_item *item, const struct warp_place *place, packet_info *pinfo,
                           proto_tree *tree)
{
    const char *text = flow_reason_text(item->reason);
    proto_item *part = proto_tree_add_string(tree, hf_warp_reason, place->tvb, place->offset, 0, text);

    generated(part);
    expert_add_info_format(pinfo, part, &ei_warp_undecoded, "%s", text);
    warp_info(pinfo, wmem_strdup_printf(pinfo->pool, "[%s]", text));
}

static void draw_note(const struct warp_item *item, tvbuff_t *tvb, packet_info *pinfo, proto_tree *root)
{
    const struct warp_place place = {tvb, 0, 0};
    proto_tree *tree;
    proto_item *top;

    if (item->kind == WARP_OTHER && item->findings == NULL && item->end == NULL)
        return;
    top = warp_draw_root(item, &place, root, &tree);
    generated(top);
    if (item->kind == WARP_GAP)
        draw_gap(item, &place, pinfo, tree);
    else if (item->kind == WARP_UNDECODED)
        draw_undecoded(item, &place, pinfo, tree);
    proto_item_append_text(top, "%s",
                           item->kind == WARP_GAP         ? ", octets missing"
                           : item->kind == WARP_UNDECODED ? ", not decoded"
                           : item->end != NULL            ? ", reset"
                                                          : ", decided at the end of the connection");
    draw_findings(item, &place, pinfo, tree);
    warp_stats_count(item, NULL, pinfo);
}

/*
 * ---- items with octets ---------------------------------------------------------------------------------------------
 */

/* What is shown, and how far it covers the payload. */
struct drawing {
    const struct warp_record *record;
    tvbuff_t *tvb;
    bool has_payload;
    packet_info *pinfo;
    proto_tree *root;
    int covered; /* octets of the payload up to here are shown */
    bool begun;  /* some unit of this payload was drawn */
    bool packet; /* not a piece of a stream: nothing is covered */
};

static void draw_part(struct drawing *drawing, int from, int to, bool head);

/* Octets of an item that was decoded in another frame, in the payload of its own; -1: they lie in several frames. */
static int find_copy(const struct drawing *drawing, const struct warp_item *item)
{
    guint captured = drawing->has_payload ? tvb_captured_length(drawing->tvb) : 0;
    const uint8_t *payload, *found;

    if (item->decoded_in == shown_in || item->first_frame != shown_in || item->count > captured || item->count == 0 ||
        item->octets == NULL)
        return -1;
    payload = tvb_get_ptr(drawing->tvb, 0, (gint)captured);
    found = memmem(payload + drawing->covered, captured - (guint)drawing->covered, item->octets, item->count);
    return found == NULL ? -1 : (int)(found - payload);
}

static struct warp_place place_of(const struct drawing *drawing, const struct warp_item *item)
{
    packet_info *pinfo = drawing->pinfo;
    struct warp_place place = {drawing->tvb, item->decoded_in == shown_in ? item->offset : find_copy(drawing, item),
                               (int)item->count};
    const char *what = item->kind == WARP_START ? "Start-up frame" : drawing->packet ? "User message" : "FPDU";
    const char *name;

    if (place.offset >= 0 && drawing->has_payload &&
        (guint)(place.offset + place.count) <= tvb_captured_length(drawing->tvb))
        return place;
    place.offset = 0;
    if (item->octets == NULL) { /* cannot be: the frame is not the one that was seen on the first pass */
        place.count = 0;
        return place;
    }
    if (item->first_frame == item->last_frame)
        name = wmem_strdup_printf(pinfo->pool, "%s (frame %u)", what, item->first_frame);
    else
        name = wmem_strdup_printf(pinfo->pool, "%s (frames %u to %u)", what, item->first_frame, item->last_frame);
    place.tvb = tvb_new_child_real_data(drawing->tvb, item->octets, item->count, (gint)item->count);
    add_new_data_source(pinfo, place.tvb, name);
    return place;
}

static void draw_unit(struct drawing *drawing, const struct warp_item *item)
{
    struct warp_place place = place_of(drawing, item);
    proto_tree *tree;

    if (place.count == 0)
        return;
    if (place.tvb == drawing->tvb && !drawing->packet) {
        if (place.offset > drawing->covered)
            draw_part(drawing, drawing->covered, place.offset, !drawing->begun);
        if (place.offset + place.count > drawing->covered)
            drawing->covered = place.offset + place.count;
        drawing->begun = true;
    }
    switch (item->kind) {
    case WARP_START: tree = warp_draw_start(item, &place, drawing->pinfo, drawing->root); break;
    case WARP_SCTP: tree = warp_draw_chunk(item, &place, drawing->pinfo, drawing->root); break;
    case WARP_SESSION: tree = warp_draw_session(item, &place, drawing->pinfo, drawing->root); break;
    case WARP_CM: tree = warp_draw_cm(item, &place, drawing->pinfo, drawing->root); break;
    default:
        tree =
            (item->fpdu.sctp ? warp_draw_segment_chunk : warp_draw_fpdu)(item, &place, drawing->pinfo, drawing->root);
        break;
    }
    draw_findings(item, &place, drawing->pinfo, tree);
}

/*
 * ---- octets that are shown elsewhere --------------------------------------------------------------------------------
 */

static void draw_part(struct drawing *drawing, int from, int to, bool head)
{
    const struct warp_record *record = drawing->record;
    tvbuff_t *tvb = drawing->tvb;
    proto_item *top, *data;
    proto_tree *tree;

    top = proto_tree_add_item(drawing->root, warp_proto, tvb, from, to - from, ENC_NA);
    tree = proto_item_add_subtree(top, ett_warp);
    data = proto_tree_add_item(tree, hf_warp_data, tvb, from, to - from, ENC_NA);
    proto_item_append_text(data, " (%d octets)", to - from);
    if (record->flow != 0)
        generated(proto_tree_add_uint(tree, hf_warp_flow, tvb, from, 0, record->flow));
    if (head && record->begun_in != 0) {
        generated(proto_tree_add_uint(tree, hf_warp_first_frame, tvb, from, 0, record->begun_in));
        proto_item_append_text(top, ", last %d octets of a unit that begins in frame %u", to - from, record->begun_in);
        return;
    }
    if (record->completed_in != 0) {
        generated(proto_tree_add_uint(tree, hf_warp_completed_in, tvb, from, 0, record->completed_in));
        proto_item_append_text(top, ", %d octets, shown in frame %u", to - from, record->completed_in);
    } else {
        proto_item_append_text(top, ", %d octets that are not decoded here", to - from);
    }
    warp_info(drawing->pinfo, wmem_strdup_printf(drawing->pinfo->pool, "[%d octets of an FPDU]", to - from));
}

static void draw_item(struct drawing *drawing, const struct warp_item *item)
{
    if (item->kind != WARP_GAP && item->kind != WARP_UNDECODED && item->kind != WARP_OTHER)
        draw_unit(drawing, item);
    else
        draw_note(item, drawing->tvb, drawing->pinfo, drawing->root);
}

void warp_draw(const struct warp_record *record, tvbuff_t *tvb, bool has_payload, packet_info *pinfo, proto_tree *tree)
{
    struct drawing drawing = {record, tvb, has_payload, pinfo, tree, 0, false, false};
    bool again = PINFO_FD_VISITED(pinfo);
    int end = has_payload ? (int)tvb_captured_length(tvb) : 0;

    shown_in = record->frame;
    warp_stats_count_frame(record, pinfo);
    if (has_payload) {
        col_set_str(pinfo->cinfo, COL_PROTOCOL, "iWARP");
        col_clear(pinfo->cinfo, COL_INFO);
    }
    for (const struct warp_item *item = record->items; item != NULL; item = item->next)
        if (!again || item->last_frame == record->frame)
            draw_item(&drawing, item);
    for (const struct warp_item *item = again ? record->home : NULL; item != NULL; item = item->next_home)
        draw_item(&drawing, item);
    if (drawing.covered < end)
        draw_part(&drawing, drawing.covered, end, !drawing.begun && record->begun_in != 0);
}

/*
 * True if the item's text replaces the columns. For other SCTP chunks the columns keep the text of the SCTP dissector.
 */
static bool replaces_columns(const struct warp_item *item, bool again, uint32_t frame)
{
    return (item->kind == WARP_FPDU || item->kind == WARP_SESSION || item->kind == WARP_CM) &&
           (!again || item->last_frame == frame);
}

void warp_draw_packet(const struct warp_record *record, tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree)
{
    struct drawing drawing = {record, tvb, true, pinfo, tree, 0, false, true};
    bool again = PINFO_FD_VISITED(pinfo), replaces = again && record->home != NULL;

    shown_in = record->frame;
    warp_stats_count_packet(record, pinfo);
    for (const struct warp_item *item = record->items; item != NULL && !replaces; item = item->next)
        replaces = replaces_columns(item, again, record->frame);
    if (replaces) {
        col_set_str(pinfo->cinfo, COL_PROTOCOL, "iWARP");
        col_clear(pinfo->cinfo, COL_INFO);
    }
    for (const struct warp_item *item = record->items; item != NULL; item = item->next)
        if (!again || item->last_frame == record->frame)
            draw_item(&drawing, item);
    for (const struct warp_item *item = again ? record->home : NULL; item != NULL; item = item->next_home)
        draw_item(&drawing, item);
}

/*
 * ---- after another dissector ----------------------------------------------------------------------------------------
 */

static dissector_handle_t after_handle;

struct after {
    const struct warp_record *record;
    bool is_packet;
};

static int dissect_after(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    const struct after *after = data;
    guint captured = tvb_captured_length(tvb), header;

    if (after == NULL)
        return 0;
    if (after->is_packet) {
        warp_draw_packet(after->record, tvb, pinfo, tree);
        return (int)captured;
    }
    header = (guint)(*tvb_get_ptr(tvb, 12, 1) >> 4) * 4;
    if (header < captured) {
        warp_draw(after->record, tvb_new_subset_remaining(tvb, (gint)header), true, pinfo, tree);
    } else {
        col_set_str(pinfo->cinfo, COL_PROTOCOL, "iWARP");
        warp_draw(after->record, tvb, false, pinfo, tree);
    }
    return (int)captured;
}

/* There is something to draw in this pass. */
static bool has_units(const struct warp_record *record, bool again)
{
    if (again && record->home != NULL)
        return true;
    for (const struct warp_item *item = record->items; item != NULL; item = item->next)
        if ((!again || item->last_frame == record->frame) &&
            (item->kind != WARP_OTHER || item->findings != NULL || item->end != NULL))
            return true;
    return false;
}

void warp_draw_after(const struct warp_record *record, tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree,
                     bool is_packet)
{
    struct after after = {record, is_packet};

    if (has_units(record, PINFO_FD_VISITED(pinfo)))
        call_dissector_with_data(after_handle, tvb, pinfo, tree, &after);
    else if (is_packet)
        warp_draw_packet(record, tvb, pinfo, tree);
}

void warp_draw_handoff(void)
{
    after_handle = create_dissector_handle_with_name_and_description(dissect_after, warp_proto, "warp.after",
                                                                     "iWARP after TCP, SCTP, CM (warpcheck)");
}
