/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private Data of start-up frames. Other plugins come first: by TCP port in the table "warp.private_data", or in the
 * heuristic list "warp.private_data". Then formats that can be recognised from their octets: RPC-over-RDMA's private
 * message (RFC 8797, which has a magic number), NVMe over RDMA's (32 octets of record format 0), iSER's (four octets of
 * flags), and the two depths that SMB Direct's peers sent before RFC 6581 had fields for them.
 */
#include "dissector/warp.h"

#include <epan/exceptions.h>
#include <epan/show_exception.h>

#include "base/octets.h"
#include "wire/smbd.h"

enum {
    RPC_MAGIC = (int)0xF6AB0E18,
    RPC_OCTETS = 8,
    NVME_OCTETS = 32,
    ISER_OCTETS = 4,
    ISER_ZBVA = 0x80,
    ISER_INVALIDATE = 0x40,
};

static dissector_table_t by_port;
static heur_dissector_list_t by_guess;

void warp_private_register(void)
{
    by_port = register_dissector_table("warp.private_data", "iWARP private data by TCP port", warp_proto, FT_UINT16,
                                       BASE_DEC);
    by_guess = register_heur_dissector_list("warp.private_data", warp_proto);
}

static void draw_rpc(tvbuff_t *tvb, const uint8_t *octets, proto_tree *tree)
{
    proto_item *top = proto_tree_add_item(tree, hf_warp_private_rpc, tvb, 0, RPC_OCTETS, ENC_NA);
    proto_tree *part = proto_item_add_subtree(top, ett_warp_detail);

    proto_tree_add_item(part, hf_warp_private_rpc_version, tvb, 4, 1, ENC_BIG_ENDIAN);
    proto_tree_add_item(part, hf_warp_private_rpc_flags, tvb, 5, 1, ENC_BIG_ENDIAN);
    /* The sizes are sent as (octets / 1024) - 1. */
    proto_tree_add_uint(part, hf_warp_private_rpc_send, tvb, 6, 1, (octets[6] + 1u) * 1024);
    proto_tree_add_uint(part, hf_warp_private_rpc_receive, tvb, 7, 1, (octets[7] + 1u) * 1024);
}

static bool is_nvme(const uint8_t *octets, size_t count, enum iwarp_mpa_start_kind kind)
{
    if (count != NVME_OCTETS || octets[0] != 0 || octets[1] != 0)
        return false;
    for (size_t i = kind == IWARP_MPA_REQUEST ? 10 : 4; i < NVME_OCTETS; i++)
        if (octets[i] != 0)
            return false;
    return octets[kind == IWARP_MPA_REQUEST ? 4 : 2] != 0 || octets[kind == IWARP_MPA_REQUEST ? 5 : 3] != 0;
}

/* Numbers in NVMe's own order, least significant octet first. */
static void draw_nvme(tvbuff_t *tvb, enum iwarp_mpa_start_kind kind, proto_tree *tree)
{
    proto_item *top = proto_tree_add_item(tree, hf_warp_private_nvme, tvb, 0, NVME_OCTETS, ENC_NA);
    proto_tree *part = proto_item_add_subtree(top, ett_warp_detail);

    proto_tree_add_item(part, hf_warp_private_nvme_recfmt, tvb, 0, 2, ENC_LITTLE_ENDIAN);
    if (kind == IWARP_MPA_REPLY) {
        proto_tree_add_item(part, hf_warp_private_nvme_crqsize, tvb, 2, 2, ENC_LITTLE_ENDIAN);
        return;
    }
    proto_tree_add_item(part, hf_warp_private_nvme_qid, tvb, 2, 2, ENC_LITTLE_ENDIAN);
    proto_tree_add_item(part, hf_warp_private_nvme_hrqsize, tvb, 4, 2, ENC_LITTLE_ENDIAN);
    proto_tree_add_item(part, hf_warp_private_nvme_hsqsize, tvb, 6, 2, ENC_LITTLE_ENDIAN);
}

/* Four octets with no bit set that means nothing, and one at least that does. */
static void draw_iser(tvbuff_t *tvb, const uint8_t *octets, proto_tree *tree)
{
    proto_tree *part;

    if (octets[0] == 0 || (octets[0] & ~(ISER_ZBVA | ISER_INVALIDATE)) != 0 || octets[1] != 0 || octets[2] != 0 ||
        octets[3] != 0)
        return;
    part = proto_item_add_subtree(proto_tree_add_item(tree, hf_warp_private_iser, tvb, 0, ISER_OCTETS, ENC_NA),
                                  ett_warp_detail);
    proto_tree_add_boolean(part, hf_warp_private_iser_zbva, tvb, 0, 1, (octets[0] & ISER_ZBVA) != 0);
    proto_tree_add_boolean(part, hf_warp_private_iser_invalidate, tvb, 0, 1, (octets[0] & ISER_INVALIDATE) != 0);
}

static void draw_depths(tvbuff_t *tvb, const uint8_t *octets, size_t count, proto_tree *tree)
{
    struct smbd_depths depths;
    guint order;

    if (!smbd_depths_read(octets, count, &depths))
        return;
    order = depths.little ? ENC_LITTLE_ENDIAN : ENC_BIG_ENDIAN;
    proto_tree_add_item(tree, hf_warp_private_smb_ird, tvb, 0, 4, order);
    proto_tree_add_item(tree, hf_warp_private_smb_ord, tvb, 4, 4, order);
}

static bool draw_by_others(tvbuff_t *tvb, packet_info *pinfo, proto_tree *root)
{
    heur_dtbl_entry_t *entry = NULL;
    volatile bool done = false;

    TRY
    {
        done = dissector_try_uint(by_port, pinfo->destport, tvb, pinfo, root) != 0 ||
               dissector_try_uint(by_port, pinfo->srcport, tvb, pinfo, root) != 0 ||
               dissector_try_heuristic(by_guess, tvb, pinfo, root, &entry, NULL);
    }
    CATCH_BOUNDS_AND_DISSECTOR_ERRORS
    {
        show_exception(tvb, pinfo, root, EXCEPT_CODE, GET_MESSAGE);
        done = true;
    }
    ENDTRY;
    return done;
}

void warp_draw_private(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, proto_tree *root,
                       enum iwarp_mpa_start_kind kind)
{
    size_t count = tvb_captured_length(tvb);
    const uint8_t *octets;

    if (count == 0 || draw_by_others(tvb, pinfo, root) || tree == NULL)
        return;
    octets = tvb_get_ptr(tvb, 0, (gint)count);
    if (count >= RPC_OCTETS && octets_get32(octets) == (uint32_t)RPC_MAGIC)
        draw_rpc(tvb, octets, tree);
    else if (is_nvme(octets, count, kind))
        draw_nvme(tvb, kind, tree);
    else if (count == SMBD_DEPTHS_OCTETS)
        draw_depths(tvb, octets, count, tree);
    else if (count == ISER_OCTETS)
        draw_iser(tvb, octets, tree);
}
