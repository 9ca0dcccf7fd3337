/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/ddp.h"

#include <string.h>

const struct wire_name ddp_model_names[] = {{0, "untagged"}, {1, "tagged"}, {0, NULL}};

WIRE_LAYOUT_DEFINE(ddp_tagged, DDP_TAGGED_FIELDS, "DDP Tagged Buffer Model header", "RFC 5041 4.2", DDP_TAGGED_OCTETS);
WIRE_LAYOUT_DEFINE(ddp_untagged, DDP_UNTAGGED_FIELDS, "DDP Untagged Buffer Model header", "RFC 5041 4.3",
                   DDP_UNTAGGED_OCTETS);

wire_result ddp_parse(const uint8_t **p, const uint8_t *end, struct ddp_segment *segment)
{
    const uint8_t *header = *p;
    size_t count = (size_t)(end - header);

    memset(segment, 0, sizeof(*segment));
    if (count == 0)
        return WIRE_MORE;
    segment->tagged = ddp_tagged_get_T(header);
    segment->header_octets = segment->tagged ? DDP_TAGGED_OCTETS : DDP_UNTAGGED_OCTETS;
    if (count < segment->header_octets)
        return WIRE_MORE;

    segment->header = header;
    segment->last = ddp_tagged_get_L(header);
    segment->reserved = (uint8_t)ddp_tagged_get_Rsvd(header);
    segment->version = (uint8_t)ddp_tagged_get_DV(header);
    segment->control = header[1];
    if (segment->tagged) {
        segment->stag = (uint32_t)ddp_tagged_get_STag(header);
        segment->to = ddp_tagged_get_TO(header);
    } else {
        segment->ulp_word = octets_get32(header + 2);
        segment->qn = (uint32_t)ddp_untagged_get_QN(header);
        segment->msn = (uint32_t)ddp_untagged_get_MSN(header);
        segment->mo = (uint32_t)ddp_untagged_get_MO(header);
    }
    segment->payload = header + segment->header_octets;
    segment->payload_octets = count - segment->header_octets;
    *p = end;
    if (segment->version != DDP_VERSION)
        return segment->tagged ? TERM_DDP_TAGGED_VERSION : TERM_DDP_UNTAGGED_VERSION;
    return WIRE_OK;
}

size_t ddp_pack_header(const struct ddp_segment *segment, uint8_t *out)
{
    out[0] = (uint8_t)(segment->tagged << 7 | segment->last << 6 | (segment->reserved & 0xF) << 2 |
                       (segment->version & 0x3));
    out[1] = segment->control;
    if (segment->tagged) {
        octets_put32(out + 2, segment->stag);
        octets_put64(out + 6, segment->to);
        return DDP_TAGGED_OCTETS;
    }
    octets_put32(out + 2, segment->ulp_word);
    octets_put32(out + 6, segment->qn);
    octets_put32(out + 10, segment->msn);
    octets_put32(out + 14, segment->mo);
    return DDP_UNTAGGED_OCTETS;
}
