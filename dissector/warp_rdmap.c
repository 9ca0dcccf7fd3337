/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dissector/warp_rdmap.h"

#include <epan/column-utils.h>

#include <string.h>

#include "conformance/flow/notation/notation.h"
#include "base/octets.h"
#include "dissector/warp_alias.h"
#include "wire/terminate_meant.h"

/* One segment while it is drawn. */
struct segment {
    const struct warp_item *item;
    const struct warp_fpdu *fpdu;
    tvbuff_t *tvb;
    struct ddp_segment ddp;
    struct rdmap_message message;
    size_t have; /* payload octets that are there */
    packet_info *pinfo;
};

static proto_item *generated(proto_item *item)
{
    proto_item_set_generated(item);
    return item;
}

static void add_frame(proto_tree *tree, int hf, const struct segment *segment, uint32_t frame)
{
    if (frame != 0)
        generated(proto_tree_add_uint(tree, hf, segment->tvb, 0, 0, frame));
}

static void add_time(proto_tree *tree, const struct segment *segment, uint64_t from, uint64_t to)
{
    nstime_t time = {(time_t)((to - from) / 1000000000), (int)((to - from) % 1000000000)};

    if (to >= from)
        generated(proto_tree_add_time(tree, hf_warp_response_time, segment->tvb, 0, 0, &time));
}

/*
 * ---- the messages that have headers of their own ------------------------------------------------------------------
 */

/* A header that begins `at` octets after the DDP header; false: it is not all there. */
static bool draw_header(const struct segment *segment, proto_tree *tree, int hf, size_t at,
                        const struct wire_layout *layout, const char *skip)
{
    int offset = (int)(segment->ddp.header_octets + at);
    size_t have = segment->have > at ? segment->have - at : 0;
    size_t count = have < layout->octets ? have : layout->octets;
    proto_item *top = proto_tree_add_item(tree, hf, segment->tvb, offset, (int)count, ENC_NA);
    bool whole =
        warp_fields_draw(proto_item_add_subtree(top, ett_warp_detail), segment->tvb, offset, have, layout, skip);

    if (!whole)
        expert_add_info(segment->pinfo, top, segment->fpdu->cut ? &ei_warp_cut : &ei_warp_short_header);
    return whole;
}

static void draw_atomic(const struct segment *segment, proto_tree *tree)
{
    bool compares = true;

    if (segment->message.opcode == IWARP_RDMAP_ATOMIC_RESPONSE) {
        draw_header(segment, tree, hf_warp_atomic, 0, &atomic_response_layout, NULL);
        return;
    }
    if (segment->have >= TERMINATE_OCTETS)
        compares = atomic_request_get_AOpCode(segment->ddp.payload) != IWARP_ATOMIC_FETCH_ADD &&
                   atomic_request_get_AOpCode(segment->ddp.payload) != IWARP_ATOMIC_SWAP;
    draw_header(segment, tree, hf_warp_atomic, 0, &atomic_request_layout, compares ? NULL : "CompareData CompareMask");
}

/* The quoted header, by its own T bit. */
static void draw_quoted_ddp(const struct segment *segment, const struct terminate *terminate, int offset,
                            proto_tree *tree)
{
    bool tagged = terminate->ddp_header_octets == DDP_TAGGED_OCTETS;
    proto_item *top =
        proto_tree_add_item(tree, hf_warp_quoted_ddp, segment->tvb, offset, (int)terminate->ddp_header_octets, ENC_NA);
    proto_tree *part = proto_item_add_subtree(top, ett_warp_detail);

    proto_item_append_text(top, ", %s", tagged ? "tagged" : "untagged");
    warp_fields_draw_quoted(part, segment->tvb, offset, terminate->ddp_header_octets,
                            tagged ? &ddp_tagged_layout : &ddp_untagged_layout, NULL);
    warp_fields_draw_quoted(part, segment->tvb, offset + 1, terminate->ddp_header_octets - 1,
                            tagged ? &rdmap_control_layout : &rdmap_untagged_layout, NULL);
}

static void draw_quoted(const struct segment *segment, const struct terminate_meant *meant, proto_tree *tree)
{
    const struct terminate *terminate = &meant->read;
    const uint8_t *base = meant->octets;
    int payload = (int)segment->ddp.header_octets;

    if (terminate->has_length)
        warp_fields_draw(tree, segment->tvb, payload + TERMINATE_OCTETS, TERMINATE_LENGTH_OCTETS,
                         &terminate_length_layout, NULL);
    if (terminate->ddp_header != NULL)
        draw_quoted_ddp(segment, terminate, payload + (int)(terminate->ddp_header - base), tree);
    if (terminate->rdmap_header != NULL) {
        int offset = payload + (int)(terminate->rdmap_header - base);
        proto_item *top = proto_tree_add_item(tree, hf_warp_quoted_rdmap, segment->tvb, offset,
                                              (int)terminate->rdmap_header_octets, ENC_NA);

        warp_fields_draw_quoted(proto_item_add_subtree(top, ett_warp_detail), segment->tvb, offset,
                                terminate->rdmap_header_octets, &read_request_layout, NULL);
    }
    if (terminate->excess != 0) {
        size_t parts = meant->count - terminate->excess;

        proto_tree_add_item(tree, hf_warp_excess, segment->tvb, payload + (int)parts, (int)(segment->have - parts),
                            ENC_NA);
    }
}

/*
 * Fields of the control word, and the error in words, are as they stand on the wire; all else is by what is meant,
 * where a little-endian host's order of bits makes another error of it (RDMAP-4.8-02).
 */
static void draw_terminate(const struct segment *segment, proto_tree *tree)
{
    int at = (int)segment->ddp.header_octets;
    struct terminate_meant meant;
    char words[160];
    proto_item *top;

    if (!draw_header(segment, tree, hf_warp_terminate, 0, &terminate_layout, NULL))
        return;
    terminate_read_meant(segment->ddp.payload, segment->have, &meant);
    (void)iwarp_terminate_describe(WIRE_ERROR_BIT | octets_get16(segment->ddp.payload), words, sizeof(words));
    top = generated(proto_tree_add_string(tree, hf_warp_terminate_error, segment->tvb, at, TERMINATE_OCTETS, words));
    if (meant.swapped) {
        (void)iwarp_terminate_describe(meant.read.triple, words, sizeof(words));
        top =
            generated(proto_tree_add_string(tree, hf_warp_terminate_meant, segment->tvb, at, TERMINATE_OCTETS, words));
    }
    expert_add_info_format(segment->pinfo, top, &ei_warp_terminate, "The stream is terminated: %s", words);
    draw_quoted(segment, &meant, tree);
    if (meant.result == WIRE_MORE)
        expert_add_info(segment->pinfo, top, segment->fpdu->cut ? &ei_warp_cut : &ei_warp_short_header);
    add_frame(tree, hf_warp_culprit, segment, segment->fpdu->culprit_frame);
}

static void draw_own_header(const struct segment *segment, proto_tree *tree)
{
    if (segment->ddp.tagged || segment->ddp.mo != 0)
        return;
    switch (segment->message.opcode) {
    case IWARP_RDMAP_READ_REQUEST:
        draw_header(segment, tree, hf_warp_read_request, 0, &read_request_layout, NULL);
        break;
    case IWARP_RDMAP_TERMINATE: draw_terminate(segment, tree); break;
    case IWARP_RDMAP_IMMEDIATE:
    case IWARP_RDMAP_IMMEDIATE_SE: draw_header(segment, tree, hf_warp_immediate, 0, &immediate_layout, NULL); break;
    case IWARP_RDMAP_ATOMIC_REQUEST:
    case IWARP_RDMAP_ATOMIC_RESPONSE: draw_atomic(segment, tree); break;
    default: break;
    }
}

/*
 * ---- what it has to do with other frames ---------------------------------------------------------------------------
 */

static void draw_links(const struct segment *segment, proto_tree *tree)
{
    const struct warp_fpdu *fpdu = segment->fpdu;

    if (!fpdu->has_rdmap)
        return;
    if (!fpdu->first || !fpdu->last) {
        generated(proto_tree_add_uint64(tree, hf_warp_message_octets, segment->tvb, 0, 0, fpdu->message_octets));
        if (fpdu->message_first_frame != segment->item->last_frame)
            add_frame(tree, hf_warp_message_first, segment, fpdu->message_first_frame);
        if (fpdu->message_in != segment->item->last_frame)
            add_frame(tree, hf_warp_message_in, segment, fpdu->message_in);
    }
    if (fpdu->request_frame != 0) {
        add_frame(tree, hf_warp_request_in, segment, fpdu->request_frame);
        add_time(tree, segment, fpdu->request_ns, fpdu->time_ns);
    }
    add_frame(tree, hf_warp_response_in, segment, fpdu->response_frame);
    if (fpdu->response_last_frame != fpdu->response_frame)
        add_frame(tree, hf_warp_response_last, segment, fpdu->response_last_frame);
    add_frame(tree, hf_warp_terminated_by, segment, fpdu->terminate_frame);
}

/* The Initiator's first message of a peer-to-peer set-up: is it an RTR, and of a kind that both have named? */
static void draw_rtr(const struct segment *segment, proto_tree *tree)
{
    const struct warp_agreement *agreement = segment->fpdu->agreement;
    const struct iwarp_mpa_start *a = &agreement->request, *b = &agreement->reply;
    unsigned opcode = segment->message.opcode;
    bool empty = segment->ddp.payload_octets == 0, agreed = false, is_rtr = true;
    const char *kind = "none: the first message is no RTR";

    if (opcode == IWARP_RDMAP_WRITE && empty) {
        kind = "zero-length RDMA Write";
        agreed = a->rtr_write && b->rtr_write;
    } else if (opcode == IWARP_RDMAP_SEND && empty) {
        kind = "zero-length Send";
        agreed = a->rtr_send && b->rtr_send;
    } else if (opcode == IWARP_RDMAP_READ_REQUEST && segment->have >= READ_REQUEST_OCTETS &&
               read_request_get_RDMARDSZ(segment->ddp.payload) == 0) {
        kind = "zero-length RDMA Read Request";
        agreed = a->rtr_read && b->rtr_read;
    } else {
        is_rtr = false;
        agreed = true; /* nothing to say about its kind */
    }
    generated(proto_tree_add_string_format_value(tree, hf_warp_rtr, segment->tvb, 0, 0, kind, "%s%s", kind,
                                                 agreed ? "" : ", a kind that not both have named"));
    col_append_str(segment->pinfo->cinfo, COL_INFO, is_rtr ? " [RTR]" : " [no RTR]");
}

/*
 * ---- the segment ----------------------------------------------------------------------------------------------------
 */

static void draw_ddp(const struct segment *segment, proto_tree *root)
{
    const struct ddp_segment *ddp = &segment->ddp;
    proto_item *top =
        proto_tree_add_item(root, warp_proto_ddp, segment->tvb, 0, (int)(ddp->header_octets + segment->have), ENC_NA);
    proto_tree *part = proto_item_add_subtree(top, ett_warp_part);

    proto_item_append_text(top, ", %s%s, %zu octets of payload", ddp->tagged ? "tagged" : "untagged",
                           ddp->last ? ", last" : "", ddp->payload_octets);
    warp_fields_draw(part, segment->tvb, 0, ddp->header_octets, ddp->tagged ? &ddp_tagged_layout : &ddp_untagged_layout,
                     NULL);
    generated(proto_tree_add_uint(part, hf_warp_payload_octets, segment->tvb, (int)ddp->header_octets,
                                  (int)segment->have, (guint32)ddp->payload_octets));
}

/* Returns RDMAP's tree. */
static proto_tree *draw_rdmap(const struct segment *segment, proto_tree *root)
{
    const struct ddp_segment *ddp = &segment->ddp;
    proto_item *top = proto_tree_add_item(root, warp_proto_rdmap, segment->tvb, 1,
                                          ddp->tagged ? RDMAP_CONTROL_OCTETS : RDMAP_UNTAGGED_OCTETS, ENC_NA);
    proto_tree *part = proto_item_add_subtree(top, ett_warp_part);

    if (segment->message.row->name != NULL)
        proto_item_append_text(top, ", %s", segment->message.row->name);
    else
        proto_item_append_text(top, ", opcode 0x%x, which is not assigned", segment->message.opcode);
    warp_fields_draw(part, segment->tvb, 1, ddp->tagged ? RDMAP_CONTROL_OCTETS : RDMAP_UNTAGGED_OCTETS,
                     ddp->tagged ? &rdmap_control_layout : &rdmap_untagged_layout, NULL);
    draw_own_header(segment, part);
    draw_links(segment, part);
    if (segment->fpdu->rtr)
        draw_rtr(segment, part);
    return part;
}

/* The segment's payload. */
static tvbuff_t *payload_tvb(const struct segment *segment)
{
    return tvb_new_subset_length_caplen(segment->tvb, (gint)segment->ddp.header_octets, (gint)segment->have,
                                        (gint)segment->ddp.payload_octets);
}

/* The message's octets, when this segment is its last, it had several and all are there; else NULL. */
static tvbuff_t *draw_message(const struct segment *segment, proto_tree *tree)
{
    const struct warp_fpdu *fpdu = segment->fpdu;
    tvbuff_t *tvb;

    if (fpdu->message == NULL)
        return NULL;
    tvb = tvb_new_child_real_data(segment->tvb, fpdu->message, fpdu->message_size, (gint)fpdu->message_size);
    add_new_data_source(segment->pinfo, tvb, "RDMA Message");
    generated(proto_tree_add_item(tree, hf_warp_message, tvb, 0, -1, ENC_NA));
    if (!segment->ddp.tagged)
        warp_alias_message(tvb, tree);
    return tvb;
}

static void draw_line(struct segment *segment, proto_item *top)
{
    struct ddp_segment shown = segment->ddp;
    char text[NOTATION_MAX];

    /* Nobody sees it: fields are asked for, or a filter. */
    if (!col_get_writable(segment->pinfo->cinfo, COL_INFO) && (top == NULL || !PTREE_DATA(top)->visible))
        return;
    /* Headers are read out of the payload: no further than it goes. */
    if (!segment->message.row->has_payload)
        shown.payload_octets = segment->have;
    notation_segment(&shown, text, sizeof(text));
    proto_item_append_text(top, ", %s", text);
    warp_info(segment->pinfo, text);
}

/* The chunk lists behind the fixed header, as far as they can be read (RFC 8166 4.2, 4.7). */
static void draw_chunks(const struct segment *segment, proto_tree *tree)
{
    static const char *const lists[RPCRDMA_LISTS] = {"Read list", "Write list", "Reply chunk"};
    int begin = (int)segment->ddp.header_octets;
    const uint8_t *octets = tvb_get_ptr(segment->tvb, begin, (gint)segment->have), *p = octets;
    struct rpcrdma_segment chunk;
    struct rpcrdma_header header;
    struct rpcrdma_walk walk;

    if (rpcrdma_header_parse(&p, octets + segment->have, &header) != WIRE_OK || header.procedure > RPCRDMA_NOMSG)
        return;
    rpcrdma_walk_begin(&walk, p, octets + segment->have);
    while (rpcrdma_walk_next(&walk, &chunk)) {
        const struct wire_layout *layout =
            chunk.list == RPCRDMA_READ_LIST ? &rpcrdma_read_segment_layout : &rpcrdma_segment_layout;
        int offset = begin + (int)(walk.p - octets) - (int)layout->octets;
        proto_item *item = proto_tree_add_none_format(tree, hf_warp_rpcrdma_chunk, segment->tvb, offset,
                                                      (int)layout->octets, "%s: %s", lists[chunk.list], layout->title);

        (void)warp_fields_draw(proto_item_add_subtree(item, ett_warp_detail), segment->tvb, offset, layout->octets,
                               layout, NULL);
    }
}

/* The item of a ULP to which a header belongs. */
static int ulp_item(const struct wire_layout *layout)
{
    static const struct wire_layout *const of_iser[] = {&iser_control_layout, &iser_hello_layout,
                                                        &iser_hello_reply_layout};

    for (size_t i = 0; i < array_length(of_iser); i++)
        if (layout == of_iser[i])
            return hf_warp_iser;
    if (layout == &nvme_command_layout || layout == &nvme_response_layout)
        return hf_warp_nvme;
    return layout == &rpcrdma_header_layout ? hf_warp_rpcrdma : hf_warp_smbd;
}

/* One header, so many octets behind the beginning of the payload. */
static proto_tree *draw_ulp_header(const struct segment *segment, proto_tree *tree, const struct wire_layout *layout,
                                   size_t behind, int item)
{
    int offset = (int)(segment->ddp.header_octets + behind);
    proto_item *top =
        proto_tree_add_none_format(tree, item, segment->tvb, offset, (int)layout->octets, "%s", layout->title);
    proto_tree *part = proto_item_add_subtree(top, ett_warp_detail);

    (void)warp_fields_draw(part, segment->tvb, offset, segment->have - behind, layout, NULL);
    return part;
}

/* The headers of a ULP that the first pass has recognised. */
static void draw_ulp(const struct segment *segment, proto_tree *tree)
{
    const struct wire_layout *layout = segment->fpdu->ulp, *second = NULL;
    proto_tree *part;

    if (layout == NULL || segment->have < layout->octets)
        return;
    part = draw_ulp_header(segment, tree, layout, 0, ulp_item(layout));
    if (layout == &rpcrdma_header_layout)
        draw_chunks(segment, part);
    if (layout == &iser_control_layout)
        second = iscsi_layout(tvb_get_ptr(segment->tvb, (int)segment->ddp.header_octets, (gint)segment->have),
                              segment->have);
    if (second != NULL)
        (void)draw_ulp_header(segment, tree, second, ISER_HEADER_OCTETS, hf_warp_iser_pdu);
}

void warp_rdmap_draw(const struct warp_item *item, tvbuff_t *tvb, proto_item *top, packet_info *pinfo, proto_tree *root)
{
    struct segment segment = {.item = item, .fpdu = &item->fpdu, .tvb = tvb, .pinfo = pinfo};
    size_t captured = tvb_captured_length(tvb), length = tvb_reported_length(tvb);
    const uint8_t *p = captured == 0 ? (const uint8_t *)"" : tvb_get_ptr(tvb, 0, (gint)captured);
    tvbuff_t *message;
    proto_tree *part;

    if (ddp_parse(&p, p + captured, &segment.ddp) == WIRE_MORE) {
        char *text = wmem_strdup_printf(pinfo->pool, "DDP header cut after %zu octets", captured);

        expert_add_info(pinfo, top, item->fpdu.cut ? &ei_warp_cut : &ei_warp_short_ulpdu);
        proto_item_append_text(top, ", %s", text);
        warp_info(pinfo, text);
        return;
    }
    segment.have = segment.ddp.payload_octets;
    segment.ddp.payload_octets = length - segment.ddp.header_octets;
    (void)rdmap_parse(&segment.ddp, &segment.message);
    draw_line(&segment, top);
    draw_ddp(&segment, root);
    part = draw_rdmap(&segment, root);
    warp_alias_segment(&segment.ddp, segment.have, tvb, part);
    if (segment.have != 0 && (segment.message.row->has_payload || segment.message.row->name == NULL))
        proto_tree_add_item(part, hf_warp_payload, tvb, (int)segment.ddp.header_octets, (int)segment.have, ENC_NA);
    draw_ulp(&segment, part);
    warp_stats_count(item, &segment.ddp, pinfo);
    if (item->fpdu.result == TERM_MPA_CRC)
        return; /* no receiver would hand it on */
    if (segment.message.row->has_payload)
        warp_follow_tell(payload_tvb(&segment), pinfo);
    message = draw_message(&segment, part);
    /* Tagged messages are put together by the ULPs' dissectors themselves: they know the buffers. */
    warp_ulp_call(&item->fpdu, &segment.ddp, message != NULL && !segment.ddp.tagged ? message : payload_tvb(&segment),
                  pinfo, root);
}
