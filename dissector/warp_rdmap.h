/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DISSECTOR_WARP_RDMAP_H
#define DISSECTOR_WARP_RDMAP_H

#include "dissector/warp.h"

/* The DDP Segment that fills `tvb` (as far as it was captured), and the RDMA Message in it: into `tree`, whose item is
 * `top`; ULPs into `root`. */
void warp_rdmap_draw(const struct warp_item *item, tvbuff_t *tvb, proto_item *top, packet_info *pinfo, proto_tree *tree,
                     proto_tree *root);

#endif
