/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The port mapper, UDP port 3935. What has not the form of a message goes to whoever had the port. The decoder gets it,
 * too: it names what a connection's port stands for.
 */
#include "dissector/warp.h"

#include <epan/column-utils.h>

#include "conformance/flow/notation/notation.h"

static dissector_handle_t builtin;

static int dissect_port_mapper(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    guint count = tvb_captured_length(tvb);
    struct port_mapper_message message;
    char text[NOTATION_MAX];
    const uint8_t *octets;
    proto_item *top;
    proto_tree *part;

    if (count == 0 || count != tvb_reported_length(tvb) || !proto_is_protocol_enabled(find_protocol_by_id(warp_proto)))
        return builtin == NULL ? 0 : call_dissector_with_data(builtin, tvb, pinfo, tree, data);
    octets = tvb_get_ptr(tvb, 0, (gint)count);
    if (!port_mapper_read(octets, count, &message))
        return builtin == NULL ? 0 : call_dissector_with_data(builtin, tvb, pinfo, tree, data);
    if (!PINFO_FD_VISITED(pinfo) && !pinfo->flags.in_error_pkt)
        warp_record_packet(WARP_PACKET_PORT_MAPPER, tvb, pinfo);
    (void)notation_port_mapper(&message, text, sizeof(text));
    col_set_str(pinfo->cinfo, COL_PROTOCOL, "iWARP");
    col_add_str(pinfo->cinfo, COL_INFO, text);
    top = proto_tree_add_item(tree, warp_proto_port_mapper, tvb, 0, (gint)count, ENC_NA);
    proto_item_append_text(top, ", %s", wire_name_of(port_mapper_type_names, message.type));
    part = proto_item_add_subtree(top, ett_warp_part);
    warp_fields_draw(part, tvb, 0, PORT_MAPPER_OCTETS, &port_mapper_layout, NULL);
    if (message.mapped_address != NULL)
        warp_fields_draw(part, tvb, PORT_MAPPER_OCTETS, PORT_MAPPER_MAPPED_OCTETS, &port_mapper_mapped_layout, NULL);
    return (int)count;
}

void warp_port_mapper_handoff(void)
{
    dissector_table_t of = find_dissector_table("udp.port");

    if (of == NULL)
        return;
    builtin = dissector_get_uint_handle(of, PORT_MAPPER_PORT);
    dissector_add_uint("udp.port", PORT_MAPPER_PORT,
                       create_dissector_handle_with_name_and_description(dissect_port_mapper, -1, "warp.port_mapper",
                                                                         "iWARP port mapper (warpcheck)"));
}
