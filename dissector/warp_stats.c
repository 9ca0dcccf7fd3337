/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics: a tree of messages and findings (-z warp,tree), response times of Reads and Atomics (-z warp,srt). */
#include "dissector/warp.h"

#include <epan/srt_table.h>
#include <epan/stats_tree.h>
#include <epan/tap.h>

struct told {
    bool start;
    unsigned opcode;
    bool bad_crc;
    bool last;
    uint32_t flow;
    enum flow_direction direction;
    uint32_t octets;
    const struct warp_finding *findings;
    bool response; /* last segment of one, with its request known */
    nstime_t request_time;
};

enum { SRT_READ, SRT_ATOMIC, SRT_ROWS };

static int tap = -1;
static int messages_node, flows_node, findings_node;

void warp_stats_tell(const struct warp_item *item, const struct ddp_segment *segment, packet_info *pinfo)
{
    struct told *told;

    if (!have_tap_listener(tap))
        return;
    told = wmem_new0(pinfo->pool, struct told);
    told->start = segment == NULL;
    told->flow = item->flow;
    told->direction = item->direction;
    told->findings = item->findings;
    if (segment != NULL) {
        told->opcode = segment->control & 0xF;
        told->octets = (uint32_t)segment->payload_octets;
        told->last = segment->last;
        told->bad_crc = item->fpdu.result == TERM_MPA_CRC;
        told->response = item->fpdu.request_frame != 0 && item->fpdu.last;
        told->request_time.secs = (time_t)(item->fpdu.request_ns / 1000000000);
        told->request_time.nsecs = (int)(item->fpdu.request_ns % 1000000000);
    }
    tap_queue_packet(tap, pinfo, told);
}

/* ---- the tree ----------------------------------------------------------------------------------------------------- */

static const char text_messages[] = "DDP Segments by opcode", text_flows[] = "DDP Segments by flow",
                  text_findings[] = "Findings by requirement";

static void tree_init(stats_tree *st)
{
    messages_node = stats_tree_create_node(st, text_messages, 0, STAT_DT_INT, TRUE);
    flows_node = stats_tree_create_node(st, text_flows, 0, STAT_DT_INT, TRUE);
    findings_node = stats_tree_create_node(st, text_findings, 0, STAT_DT_INT, TRUE);
}

static tap_packet_status tree_packet(stats_tree *st, packet_info *pinfo _U_, epan_dissect_t *edt _U_, const void *data,
                                     tap_flags_t flags _U_)
{
    const struct told *told = data;
    char text[64];

    for (const struct warp_finding *finding = told->findings; finding != NULL; finding = finding->next) {
        tick_stat_node(st, text_findings, 0, TRUE);
        tick_stat_node(st, finding->id, findings_node, FALSE);
    }
    if (told->start)
        return TAP_PACKET_REDRAW;
    tick_stat_node(st, text_messages, 0, TRUE);
    if (told->bad_crc) {
        tick_stat_node(st, "(bad CRC)", messages_node, FALSE);
        return TAP_PACKET_REDRAW;
    }
    g_snprintf(text, sizeof(text), "opcode 0x%x", told->opcode);
    tick_stat_node(st, rdmap_opcode_rows[told->opcode].name != NULL ? rdmap_opcode_rows[told->opcode].name : text,
                   messages_node, FALSE);
    g_snprintf(text, sizeof(text), "flow %u from %s", told->flow,
               told->direction == FLOW_FROM_INITIATOR ? "Initiator" : "Responder");
    tick_stat_node(st, text_flows, 0, TRUE);
    tick_stat_node(st, text, flows_node, FALSE);
    return TAP_PACKET_REDRAW;
}

/* ---- response times ------------------------------------------------------------------------------------------------ */

static void srt_init(struct register_srt *srt _U_, GArray *tables)
{
    srt_stat_table *table = init_srt_table("iWARP", NULL, tables, SRT_ROWS, "Operation", "warp.rdmap.opcode", NULL);

    init_srt_table_row(table, SRT_READ, "RDMA Read");
    init_srt_table_row(table, SRT_ATOMIC, "Atomic");
}

static tap_packet_status srt_packet(void *context, packet_info *pinfo, epan_dissect_t *edt _U_, const void *data,
                                    tap_flags_t flags _U_)
{
    const srt_data_t *srt = context;
    const struct told *told = data;

    if (!told->response)
        return TAP_PACKET_DONT_REDRAW;
    add_srt_table_data(g_array_index(srt->srt_array, srt_stat_table *, 0),
                       told->opcode == RDMAP_ATOMIC_RESPONSE ? SRT_ATOMIC : SRT_READ, &told->request_time, pinfo);
    return TAP_PACKET_REDRAW;
}

void warp_stats_register(void)
{
    tap = register_tap("warp");
    register_srt_table(warp_proto, NULL, 1, srt_packet, srt_init, NULL);
}

void warp_stats_handoff(void)
{
    stats_tree_register_plugin("warp", "warp", "iWARP", 0, tree_packet, tree_init, NULL);
}
