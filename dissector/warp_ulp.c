/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages to the dissectors of ULPs, through the heuristic list that they have registered with for iWARP. They expect
 * what the built-in dissector hands them: a rdmap_info_t, and PT_IWARP_MPA as the kind of port.
 *
 * Sends of less than 16 octets are not handed over: a heuristic of that list (RPC-over-RDMA's) reads further than that
 * before it looks at the length, and the frame would be called malformed. No ULP has so short a header. Nor is a part
 * of a message whose beginning is missing: it asserts that it has the rest.
 */
#include "dissector/warp.h"

#include <epan/dissectors/packet-iwarp-ddp-rdmap.h>
#include <epan/exceptions.h>
#include <epan/show_exception.h>

#include <string.h>

enum { ULP_LEAST = 16 };

static heur_dissector_list_t ulps;

void warp_ulp_handoff(void)
{
    ulps = find_heur_dissector_list("iwarp_ddp_rdmap");
}

static void describe(const struct ddp_segment *segment, tvbuff_t *payload, rdmap_info_t *info, rdmap_request_t *request)
{
    memset(info, 0, sizeof(*info));
    info->opcode = segment->control & 0xF;
    info->last_flag = segment->last;
    info->is_tagged = segment->tagged;
    if (segment->tagged) {
        info->steering_tag = segment->stag;
        info->tagged_offset = segment->to;
    } else {
        info->queue_number = segment->qn;
        info->message_seq_num = segment->msn;
        info->message_offset = segment->mo;
    }
    if (info->opcode == IWARP_RDMAP_READ_REQUEST && tvb_captured_length(payload) >= READ_REQUEST_OCTETS) {
        const uint8_t *p = tvb_get_ptr(payload, 0, READ_REQUEST_OCTETS);
        struct read_request read;

        if (read_request_parse(&p, p + READ_REQUEST_OCTETS, &read) == WIRE_OK) {
            request->sink_stag = read.sink_stag;
            request->sink_toffset = read.sink_to;
            request->source_stag = read.source_stag;
            request->source_toffset = read.source_to;
            request->message_size = read.octets;
            info->read_request = request;
        }
    }
}

void warp_ulp_call(const struct warp_fpdu *fpdu, const struct ddp_segment *segment, tvbuff_t *payload,
                   packet_info *pinfo, proto_tree *root)
{
    unsigned opcode = segment->control & 0xF;
    port_type ptype = pinfo->ptype;
    heur_dtbl_entry_t *entry = NULL;
    rdmap_request_t request;
    rdmap_info_t info;

    /* Of a part of an FPDU a ULP's dissector would say that it is malformed. */
    if (!warp_preferences.ulp || ulps == NULL || payload == NULL || fpdu->cut)
        return;
    if (rdmap_is_send(opcode)) {
        bool alone = fpdu->first && fpdu->last && segment->mo == 0;

        if ((!alone && fpdu->message == NULL) || tvb_reported_length(payload) < ULP_LEAST)
            return;
    } else if (opcode != IWARP_RDMAP_WRITE && opcode != IWARP_RDMAP_READ_RESPONSE &&
               opcode != IWARP_RDMAP_READ_REQUEST) {
        return;
    }
    describe(segment, payload, &info, &request);
    if (fpdu->message != NULL && !segment->tagged)
        info.message_offset = 0; /* the payload is the whole message */
    TRY
    {
        pinfo->ptype = PT_IWARP_MPA;
        dissector_try_heuristic(ulps, payload, pinfo, root, &entry, &info);
    }
    CATCH_BOUNDS_AND_DISSECTOR_ERRORS
    {
        show_exception(payload, pinfo, root, EXCEPT_CODE, GET_MESSAGE);
    }
    ENDTRY;
    pinfo->ptype = ptype;
}
