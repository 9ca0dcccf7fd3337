/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private Data of start-up frames. Other plugins come first: by TCP port in the table "warp.private_data", or in the
 * heuristic list "warp.private_data". Then the forms of wire/private_data.h.
 */
#include "dissector/warp.h"

#include <epan/exceptions.h>
#include <epan/show_exception.h>

#include "wire/private_data.h"

static dissector_table_t by_port;
static heur_dissector_list_t by_guess;

void warp_private_register(void)
{
    by_port = register_dissector_table("warp.private_data", "iWARP private data by TCP port", warp_proto, FT_UINT16,
                                       BASE_DEC);
    by_guess = register_heur_dissector_list("warp.private_data", warp_proto);
}

static int place_of(const char *field)
{
    return wire_layout_field(&rpcrdma_private_layout, field)->bit / 8;
}

/* Sizes in octets: the wire has them in units of 1,024, less one (RFC 8797 4.2). */
static void draw_rpc(tvbuff_t *tvb, const struct private_data *said, proto_tree *tree)
{
    int at = (int)said->at;
    proto_item *top = proto_tree_add_item(tree, hf_warp_private_rpc, tvb, at, RPCRDMA_PRIVATE_OCTETS, ENC_NA);
    proto_tree *part = proto_item_add_subtree(top, ett_warp_detail);

    proto_tree_add_item(part, hf_warp_private_rpc_version, tvb, at + place_of("Version"), 1, ENC_BIG_ENDIAN);
    proto_tree_add_item(part, hf_warp_private_rpc_flags, tvb, at + place_of("Reserved"), 1, ENC_BIG_ENDIAN);
    proto_tree_add_uint(part, hf_warp_private_rpc_send, tvb, at + place_of("SendSize"), 1, said->rpcrdma.send);
    proto_tree_add_uint(part, hf_warp_private_rpc_receive, tvb, at + place_of("ReceiveSize"), 1, said->rpcrdma.receive);
}

static void draw_layout(tvbuff_t *tvb, int hf, const struct wire_layout *layout, proto_tree *tree)
{
    proto_item *top = proto_tree_add_item(tree, hf, tvb, 0, (int)layout->octets, ENC_NA);

    warp_fields_draw(proto_item_add_subtree(top, ett_warp_detail), tvb, 0, layout->octets, layout, NULL);
}

static void draw_depths(tvbuff_t *tvb, const struct smbd_depths *depths, proto_tree *tree)
{
    guint order = depths->little ? ENC_LITTLE_ENDIAN : ENC_BIG_ENDIAN;

    proto_tree_add_item(tree, hf_warp_private_smb_ird, tvb, 0, 4, order);
    proto_tree_add_item(tree, hf_warp_private_smb_ord, tvb, 4, 4, order);
}

static void draw_known(tvbuff_t *tvb, const struct private_data *said, proto_tree *tree)
{
    switch (said->form) {
    case PRIVATE_UNKNOWN: break;
    case PRIVATE_RPCRDMA: draw_rpc(tvb, said, tree); break;
    case PRIVATE_NVME_HOST: draw_layout(tvb, hf_warp_private_nvme, &nvme_host_private_layout, tree); break;
    case PRIVATE_NVME_CONTROLLER: draw_layout(tvb, hf_warp_private_nvme, &nvme_controller_private_layout, tree); break;
    case PRIVATE_ISER: draw_layout(tvb, hf_warp_private_iser, &iser_private_layout, tree); break;
    case PRIVATE_DEPTHS: draw_depths(tvb, &said->depths, tree); break;
    }
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
    struct private_data said;

    if (count == 0 || draw_by_others(tvb, pinfo, root) || tree == NULL)
        return;
    if (private_data_read(tvb_get_ptr(tvb, 0, (gint)count), count, kind == IWARP_MPA_REPLY, false, &said))
        draw_known(tvb, &said, tree);
}
