/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dissector/warp_alias.h"

#include "wire/marker.h"
#include "wire/terminate_meant.h"

/* A field of the built-in dissectors, and where it stands in its header; length -1: to the end of the tvb. */
struct alias {
    const char *name;
    int offset, octets;
    int hf; /* -1: this Wireshark has no such field */
};

/* clang-format off */
static struct alias of_request[] = {{"iwarp_mpa.req", 0, -1, 0}, {"iwarp_mpa.key.req", 0, 16, 0}};
static struct alias of_reply[] = {{"iwarp_mpa.rep", 0, -1, 0}, {"iwarp_mpa.key.rep", 0, 16, 0}};
static struct alias of_start[] = {
    {"iwarp_mpa.marker_flag", 16, 1, 0}, {"iwarp_mpa.crc_flag", 16, 1, 0}, {"iwarp_mpa.rej_flag", 16, 1, 0},
    {"iwarp_mpa.enhanced_flag", 16, 1, 0}, {"iwarp_mpa.res", 16, 1, 0}, {"iwarp_mpa.rev", 17, 1, 0},
    {"iwarp_mpa.pdlength", 18, 2, 0}};
static struct alias of_private[] = {{"iwarp_mpa.privatedata", 20, -1, 0}};
/*
 * Since 4.6, where flags are booleans of one octet. There Private Data begin after the enhanced word; before, with it.
 */
static struct alias of_word[] = {
    {"iwarp_mpa.enhanced", 20, 4, 0}, {"iwarp_mpa.enhanced.a", 20, 1, 0}, {"iwarp_mpa.enhanced.b", 20, 1, 0},
    {"iwarp_mpa.enhanced.ird", 20, 2, 0}, {"iwarp_mpa.enhanced.c", 22, 1, 0}, {"iwarp_mpa.enhanced.D", 22, 1, 0},
    {"iwarp_mpa.enhanced.ord", 22, 2, 0}};
static struct alias of_private_after_word[] = {{"iwarp_mpa.privatedata", 24, -1, 0}};

static struct alias of_fpdu[] = {{"iwarp_mpa.fpdu", 0, 2, 0}, {"iwarp_mpa.ulpdulength", 0, 2, 0}};
static struct alias of_marker[] = {
    {"iwarp_mpa.markers", 0, 4, 0}, {"iwarp_mpa.marker_res", 0, 2, 0}, {"iwarp_mpa.marker_fpduptr", 2, 2, 0}};
static struct alias of_pad[] = {{"iwarp_mpa.pad", 0, 0, 0}};
static struct alias of_crc[] = {{"iwarp_mpa.crc", 0, 4, 0}}, of_crc_in_use[] = {{"iwarp_mpa.crc_check", 0, 4, 0}};

static struct alias of_segment[] = {
    {"iwarp_ddp", 0, 1, 0}, {"iwarp_ddp.control_field", 0, 1, 0}, {"iwarp_ddp.tagged_flag", 0, 1, 0},
    {"iwarp_ddp.last_flag", 0, 1, 0}, {"iwarp_ddp.rsvd", 0, 1, 0}, {"iwarp_ddp.dv", 0, 1, 0},
    {"iwarp_rdma", 1, 1, 0}, {"iwarp_rdma.control_field", 1, 1, 0}, {"iwarp_rdma.version", 1, 1, 0},
    {"iwarp_rdma.rsv", 1, 1, 0}, {"iwarp_rdma.opcode", 1, 1, 0}};
static struct alias of_tagged[] = {
    {"iwarp_ddp.tagged", 2, 12, 0}, {"iwarp_ddp.stag", 2, 4, 0}, {"iwarp_ddp.tagged_offset", 6, 8, 0}};
static struct alias of_untagged[] = {
    {"iwarp_ddp.rsvdulp", 1, 5, 0}, {"iwarp_ddp.untagged", 6, 12, 0}, {"iwarp_ddp.qn", 6, 4, 0},
    {"iwarp_ddp.msn", 10, 4, 0}, {"iwarp_ddp.mo", 14, 4, 0}};
static struct alias of_reserved[] = {{"iwarp_rdma.reserved", 2, 4, 0}};
static struct alias of_invalidate[] = {{"iwarp_rdma.inval_stag", 2, 4, 0}};

/* From here on offsets count from the end of the untagged header. */
static struct alias of_read_request[] = {
    {"iwarp_rdma.rr", 0, 28, 0}, {"iwarp_rdma.sinkstag", 0, 4, 0}, {"iwarp_rdma.sinkto", 4, 8, 0},
    {"iwarp_rdma.rdmardsz", 12, 4, 0}, {"iwarp_rdma.srcstag", 16, 4, 0}, {"iwarp_rdma.srcto", 20, 8, 0}};
static struct alias of_atomic[] = {
    {"iwarp_rdma.atomic.reserved", 0, 4, 0}, {"iwarp_rdma.atomic.opcode", 0, 4, 0},
    {"iwarp_rdma.atomic.request_identifier", 4, 4, 0}, {"iwarp_rdma.atomic.remote_stag", 8, 4, 0},
    {"iwarp_rdma.atomic.remote_tagged_offset", 12, 8, 0}};
static struct alias of_add[] = {{"iwarp_rdma.atomic.add_data", 20, 8, 0}, {"iwarp_rdma.atomic.add_mask", 28, 8, 0}};
static struct alias of_swap[] = {{"iwarp_rdma.atomic.swap_data", 20, 8, 0}, {"iwarp_rdma.atomic.swap_mask", 28, 8, 0}};
static struct alias of_compare[] = {
    {"iwarp_rdma.atomic.compare_data", 36, 8, 0}, {"iwarp_rdma.atomic.compare_mask", 44, 8, 0}};
static struct alias of_atomic_response[] = {
    {"iwarp_rdma.atomic.original_request_identifier", 0, 4, 0},
    {"iwarp_rdma.atomic.original_remote_data_value", 4, 8, 0}};
static struct alias of_terminate[] = {
    {"iwarp_rdma.terminate", 0, -1, 0}, {"iwarp_rdma.term_ctrl", 0, 3, 0}, {"iwarp_rdma.term_layer", 0, 1, 0},
    {"iwarp_rdma.term_hdrct", 2, 1, 0}, {"iwarp_rdma.term_hdrct_m", 2, 1, 0}, {"iwarp_rdma.hdrct_d", 2, 1, 0},
    {"iwarp_rdma.hdrct_r", 2, 1, 0}, {"iwarp_rdma.term_rsvd", 2, 2, 0}};
enum { TYPE_AND_CODE = 2 };
/* By what layer and type say: RDMAP; DDP, tagged; DDP, untagged; DDP, another type; LLP; any other layer. */
static struct alias of_errors[][TYPE_AND_CODE] = {
    {{"iwarp_rdma.term_etype_rdma", 0, 1, 0}, {"iwarp_rdma.term_errcode_rdma", 1, 1, 0}},
    {{"iwarp_rdma.term_etype_ddp", 0, 1, 0}, {"iwarp_rdma.term_errcode_ddp_tagged", 1, 1, 0}},
    {{"iwarp_rdma.term_etype_ddp", 0, 1, 0}, {"iwarp_rdma.term_errcode_ddp_untagged", 1, 1, 0}},
    {{"iwarp_rdma.term_etype_ddp", 0, 1, 0}, {"iwarp_rdma.term_errcode", 1, 1, 0}},
    {{"iwarp_rdma.term_etype_llp", 0, 1, 0}, {"iwarp_rdma.term_errcode_llp", 1, 1, 0}},
    {{"iwarp_rdma.term_etype", 0, 1, 0}, {"iwarp_rdma.term_errcode", 1, 1, 0}}};
static struct alias of_quoted_length[] = {{"iwarp_rdma.term_ddp_seg_len", 0, 2, 0}};
static struct alias of_quoted_ddp[] = {{"iwarp_rdma.term_ddp_h", 0, 0, 0}};
static struct alias of_quoted_rdmap[] = {{"iwarp_rdma.term_rdma_h", 0, 0, 0}};
static struct alias of_message[] = {
    {"iwarp_rdma.send.reassembled.length", 0, 0, 0}, {"iwarp_rdma.send.reassembled.data", 0, -1, 0}};
/* clang-format on */

#define GROUPS(G)                                                                                                      \
    G(of_request)                                                                                                      \
    G(of_reply)                                                                                                        \
    G(of_start)                                                                                                        \
    G(of_private)                                                                                                      \
    G(of_word)                                                                                                         \
    G(of_private_after_word)                                                                                           \
    G(of_fpdu)                                                                                                         \
    G(of_marker)                                                                                                       \
    G(of_pad)                                                                                                          \
    G(of_crc)                                                                                                          \
    G(of_crc_in_use)                                                                                                   \
    G(of_segment)                                                                                                      \
    G(of_tagged)                                                                                                       \
    G(of_untagged)                                                                                                     \
    G(of_reserved)                                                                                                     \
    G(of_invalidate)                                                                                                   \
    G(of_read_request)                                                                                                 \
    G(of_atomic)                                                                                                       \
    G(of_add)                                                                                                          \
    G(of_swap)                                                                                                         \
    G(of_compare)                                                                                                      \
    G(of_atomic_response)                                                                                              \
    G(of_terminate)                                                                                                    \
    G(of_errors[0])                                                                                                    \
    G(of_errors[1])                                                                                                    \
    G(of_errors[2])                                                                                                    \
    G(of_errors[3])                                                                                                    \
    G(of_errors[4])                                                                                                    \
    G(of_errors[5])                                                                                                    \
    G(of_quoted_length)                                                                                                \
    G(of_quoted_ddp)                                                                                                   \
    G(of_quoted_rdmap)                                                                                                 \
    G(of_message)

static const header_field_info *mpa, *ddp_rdmap; /* the built-in protocols; NULL: this Wireshark has none */

/*
 * ---- items --------------------------------------------------------------------------------------------------------
 */

/* The preference makes the items in trees that are shown whole, too: nobody asks beforehand for what these have. */
static bool is_shown_whole(const proto_tree *tree)
{
    return warp_preferences.builtin_names && PTREE_DATA(tree)->visible;
}

/* Somebody has asked for the protocol, or for a field of it: a filter, a column, a script. */
static bool is_wanted(const header_field_info *protocol, const proto_tree *tree)
{
    return tree != NULL && protocol != NULL && (is_shown_whole(tree) || protocol->ref_type != HF_REF_TYPE_NONE);
}

static bool is_asked_for(const struct alias *alias, const proto_tree *tree)
{
    return alias->hf > 0 &&
           (is_shown_whole(tree) || proto_registrar_get_nth((guint)alias->hf)->ref_type != HF_REF_TYPE_NONE);
}

static void add_at(const struct alias *alias, proto_tree *tree, tvbuff_t *tvb, int offset, int octets)
{
    if (is_asked_for(alias, tree))
        proto_item_set_hidden(proto_tree_add_item(tree, alias->hf, tvb, offset, octets, ENC_BIG_ENDIAN));
}

static void add_number(const struct alias *alias, proto_tree *tree, tvbuff_t *tvb, guint32 value)
{
    if (is_asked_for(alias, tree))
        proto_item_set_hidden(proto_tree_add_uint(tree, alias->hf, tvb, 0, 0, value));
}

#define ADD(group, tree, tvb, base) add_all(group, array_length(group), tree, tvb, base)

static void add_all(const struct alias *group, size_t count, proto_tree *tree, tvbuff_t *tvb, int base)
{
    for (size_t i = 0; i < count; i++)
        add_at(&group[i], tree, tvb, base + group[i].offset, group[i].octets);
}

static void add_protocol(const header_field_info *protocol, proto_tree *tree, tvbuff_t *tvb)
{
    proto_item_set_hidden(proto_tree_add_item(tree, protocol->id, tvb, 0, 0, ENC_NA));
}

/*
 * ---- MPA ----------------------------------------------------------------------------------------------------------
 */

void warp_alias_start(const struct iwarp_mpa_start *start, tvbuff_t *tvb, proto_tree *tree)
{
    bool word = iwarp_mpa_start_has_word(start) && of_word[0].hf > 0;

    if (!is_wanted(mpa, tree))
        return;
    add_protocol(mpa, tree, tvb);
    if (start->kind == IWARP_MPA_REQUEST)
        ADD(of_request, tree, tvb, 0);
    else
        ADD(of_reply, tree, tvb, 0);
    ADD(of_start, tree, tvb, 0);
    if (word)
        ADD(of_word, tree, tvb, 0);
    if (tvb_captured_length(tvb) <= MPA_START_OCTETS + (word ? MPA_ENHANCED_OCTETS : 0u))
        return;
    if (word)
        ADD(of_private_after_word, tree, tvb, 0);
    else
        ADD(of_private, tree, tvb, 0);
}

void warp_alias_fpdu(const struct warp_alias_fpdu *fpdu, const struct warp_place *place, proto_tree *tree)
{
    if (!is_wanted(mpa, tree))
        return;
    add_protocol(mpa, tree, place->tvb);
    ADD(of_fpdu, tree, place->tvb, place->offset + fpdu->lead);
    if (fpdu->pad_octets != 0)
        add_at(of_pad, tree, place->tvb, place->offset + fpdu->pad, fpdu->pad_octets);
    if (fpdu->crc < 0)
        return;
    if (fpdu->crc_in_use)
        ADD(of_crc_in_use, tree, place->tvb, place->offset + fpdu->crc);
    else
        ADD(of_crc, tree, place->tvb, place->offset + fpdu->crc);
}

void warp_alias_marker(tvbuff_t *tvb, int offset, proto_tree *tree)
{
    if (is_wanted(mpa, tree))
        ADD(of_marker, tree, tvb, offset);
}

/*
 * ---- DDP and RDMAP ------------------------------------------------------------------------------------------------
 */

static void add_atomic(const uint8_t *payload, tvbuff_t *tvb, proto_tree *tree)
{
    unsigned operation = (unsigned)atomic_request_get_AOpCode(payload);

    ADD(of_atomic, tree, tvb, DDP_UNTAGGED_OCTETS);
    if (operation == IWARP_ATOMIC_FETCH_ADD)
        ADD(of_add, tree, tvb, DDP_UNTAGGED_OCTETS);
    else
        ADD(of_swap, tree, tvb, DDP_UNTAGGED_OCTETS);
    ADD(of_compare, tree, tvb, DDP_UNTAGGED_OCTETS);
}

static void add_terminate(const uint8_t *payload, size_t have, tvbuff_t *tvb, proto_tree *tree)
{
    unsigned layer = (unsigned)terminate_get_Layer(payload), type = (unsigned)terminate_get_EType(payload);
    size_t errors = layer == 0 ? 0 : layer == 1 ? (type == 1 || type == 2 ? type : 3) : layer == 2 ? 4 : 5;
    const uint8_t *p = payload;
    struct terminate read;

    ADD(of_terminate, tree, tvb, DDP_UNTAGGED_OCTETS);
    add_all(of_errors[errors], TYPE_AND_CODE, tree, tvb, DDP_UNTAGGED_OCTETS);
    (void)terminate_parse(&p, payload + have, &read);
    if (read.has_length)
        ADD(of_quoted_length, tree, tvb, DDP_UNTAGGED_OCTETS + TERMINATE_OCTETS);
    if (read.ddp_header != NULL)
        add_at(of_quoted_ddp, tree, tvb, DDP_UNTAGGED_OCTETS + (int)(read.ddp_header - payload),
               (int)read.ddp_header_octets);
    if (read.rdmap_header != NULL)
        add_at(of_quoted_rdmap, tree, tvb, DDP_UNTAGGED_OCTETS + (int)(read.rdmap_header - payload),
               (int)read.rdmap_header_octets);
}

static void add_own_header(unsigned opcode, const uint8_t *payload, size_t have, tvbuff_t *tvb, proto_tree *tree)
{
    if (opcode == IWARP_RDMAP_READ_REQUEST && have >= READ_REQUEST_OCTETS)
        ADD(of_read_request, tree, tvb, DDP_UNTAGGED_OCTETS);
    else if (opcode == IWARP_RDMAP_TERMINATE && have >= TERMINATE_OCTETS)
        add_terminate(payload, have, tvb, tree);
    else if (opcode == IWARP_RDMAP_ATOMIC_REQUEST && have >= ATOMIC_REQUEST_OCTETS)
        add_atomic(payload, tvb, tree);
    else if (opcode == IWARP_RDMAP_ATOMIC_RESPONSE && have >= ATOMIC_RESPONSE_OCTETS)
        ADD(of_atomic_response, tree, tvb, DDP_UNTAGGED_OCTETS);
}

void warp_alias_segment(const struct ddp_segment *ddp, size_t have, tvbuff_t *tvb, proto_tree *tree)
{
    unsigned opcode = tvb_get_ntohs(tvb, 0) & 0x0F; /* the octets of DDP's and RDMAP's control */

    if (!is_wanted(ddp_rdmap, tree))
        return;
    add_protocol(ddp_rdmap, tree, tvb);
    ADD(of_segment, tree, tvb, 0);
    if (ddp->tagged) {
        ADD(of_tagged, tree, tvb, 0);
        return;
    }
    ADD(of_untagged, tree, tvb, 0);
    if (opcode == IWARP_RDMAP_SEND_INVALIDATE || opcode == IWARP_RDMAP_SEND_SE_INVALIDATE)
        ADD(of_invalidate, tree, tvb, 0);
    else if (opcode == IWARP_RDMAP_SEND || opcode == IWARP_RDMAP_SEND_SE || opcode == IWARP_RDMAP_READ_REQUEST ||
             opcode == IWARP_RDMAP_TERMINATE)
        ADD(of_reserved, tree, tvb, 0);
    if (ddp->mo == 0)
        add_own_header(opcode, ddp->payload, have, tvb, tree);
}

void warp_alias_message(tvbuff_t *message, proto_tree *tree)
{
    if (!is_wanted(ddp_rdmap, tree))
        return;
    add_number(&of_message[0], tree, message, tvb_captured_length(message));
    add_at(&of_message[1], tree, message, 0, -1);
}

/*
 * ---- registration -------------------------------------------------------------------------------------------------
 */

static void find_all(struct alias *group, size_t count)
{
    for (size_t i = 0; i < count; i++)
        group[i].hf = proto_registrar_get_id_byname(group[i].name);
}

void warp_alias_handoff(void)
{
#define FIND_(group) find_all(group, array_length(group));
    GROUPS(FIND_)
    mpa = proto_registrar_get_byname("iwarp_mpa");
    ddp_rdmap = proto_registrar_get_byname("iwarp_ddp_rdmap");
}
