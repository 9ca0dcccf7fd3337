/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of Wireshark's own iWARP dissectors: filters, columns and scripts that use "iwarp_mpa.rev" or
 * "iwarp_ddp.msn" find what this plugin has decoded. The items are hidden, and made only where somebody has asked for a
 * field of those protocols, so that they cost nothing else. All take the tree of the unit, NULL without trees.
 */
#ifndef DISSECTOR_WARP_ALIAS_H
#define DISSECTOR_WARP_ALIAS_H

#include "dissector/warp.h"

/* A whole start-up frame at the beginning of `tvb`. */
void warp_alias_start(const struct iwarp_mpa_start *start, tvbuff_t *tvb, proto_tree *tree);

/* An FPDU: where its length field, its pad and its CRC (-1: not there) stand, counted from its beginning. */
struct warp_alias_fpdu {
    int lead, pad, pad_octets, crc;
    bool crc_in_use;
};
void warp_alias_fpdu(const struct warp_alias_fpdu *fpdu, const struct warp_place *place, proto_tree *tree);
void warp_alias_marker(tvbuff_t *tvb, int offset, proto_tree *tree);

/* A DDP Segment with the RDMA Message in it, at the beginning of `tvb`. `have`: payload octets that are there. */
void warp_alias_segment(const struct ddp_segment *ddp, size_t have, tvbuff_t *tvb, proto_tree *tree);
void warp_alias_message(tvbuff_t *message, proto_tree *tree);

void warp_alias_handoff(void);

#endif
