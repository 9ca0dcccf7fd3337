/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DISSECTOR_WARP_RDMAP_H
#define DISSECTOR_WARP_RDMAP_H

#include "dissector/warp.h"

/* The DDP Segment that fills `tvb` (as far as it was captured), and the RDMA Message in it: their trees and
 * those of ULPs into `root`, the line of it to the item `top`. */
void warp_rdmap_draw(const struct warp_item *item, tvbuff_t *tvb, proto_item *top, packet_info *pinfo,
                     proto_tree *root);

#endif
