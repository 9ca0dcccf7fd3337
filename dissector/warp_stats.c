/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistics: a tree of messages and findings (-z warp,tree), response times of Reads and Atomics (-z warp,srt),
 * conversations and endpoints (-z conv,warp and -z endpoints,warp). All of them listen to the tap "warp".
 */
#include "dissector/warp.h"

#include <epan/conversation_table.h>
#include <epan/srt_table.h>
#include <epan/stats_tree.h>
#include <epan/tap.h>
#include <epan/to_str.h>

enum tap_kind { TAP_FRAME, TELL_START, TAP_SEGMENT, TELL_OTHER };

struct tap_record {
    enum tap_kind kind;
    uint32_t flow;
    enum flow_direction direction;
    /* TELL_SEGMENT */
    unsigned opcode;
    bool bad_crc;
    uint32_t octets;
    const struct warp_finding *findings;
    bool response; /* last segment of one, with its request known */
    nstime_t request_time;
};

enum { SRT_READ, SRT_ATOMIC, SRT_ROWS };

static int tap = -1;
static int messages_node, flows_node, findings_node;

static struct tap_record *tap_record_new(enum tap_kind kind, uint32_t flow, enum flow_direction direction,
                                         packet_info *pinfo)
{
    struct tap_record *record_of_tap = wmem_new0(pinfo->pool, struct tap_record);

    record_of_tap->kind = kind;
    record_of_tap->flow = flow;
    record_of_tap->direction = direction;
    return record_of_tap;
}

void warp_stats_count_frame(const struct warp_record *record, packet_info *pinfo)
{
    if (have_tap_listener(tap) && record->flow != 0)
        tap_queue_packet(tap, pinfo, tap_record_new(TAP_FRAME, record->flow, record->direction, pinfo));
}

void warp_stats_count(const struct warp_item *item, const struct ddp_segment *segment, packet_info *pinfo)
{
    struct tap_record *record_of_tap;

    if (!have_tap_listener(tap))
        return;
    record_of_tap = tap_record_new(segment != NULL            ? TAP_SEGMENT
                                   : item->kind == WARP_START ? TELL_START
                                                              : TELL_OTHER,
                                   item->flow, item->direction, pinfo);
    record_of_tap->findings = item->findings;
    if (segment != NULL) {
        record_of_tap->opcode = segment->control & 0xF;
        record_of_tap->octets = (uint32_t)segment->payload_octets;
        record_of_tap->bad_crc = item->fpdu.result == TERM_MPA_CRC;
        record_of_tap->response = item->fpdu.request_frame != 0 && item->fpdu.last;
        record_of_tap->request_time.secs = (time_t)(item->fpdu.request_ns / 1000000000);
        record_of_tap->request_time.nsecs = (int)(item->fpdu.request_ns % 1000000000);
    }
    tap_queue_packet(tap, pinfo, record_of_tap);
}

/* ---- the tree ----------------------------------------------------------------------------------------------------- */

static const char text_messages[] = "DDP Segments by opcode, octets of payload",
                  text_flows[] = "DDP Segments by connection, octets of payload",
                  text_findings[] = "Findings by requirement";

static void tree_init(stats_tree *st)
{
    messages_node = stats_tree_create_node(st, text_messages, 0, STAT_DT_INT, TRUE);
    flows_node = stats_tree_create_node(st, text_flows, 0, STAT_DT_INT, TRUE);
    findings_node = stats_tree_create_node(st, text_findings, 0, STAT_DT_INT, TRUE);
}

/* "1 10.0.0.1:40000 > 10.0.0.2:7174": the Initiator first. */
static char *flow_text(const struct tap_record *record_of_tap, packet_info *pinfo)
{
    bool initiator = record_of_tap->direction == FLOW_FROM_INITIATOR;
    char *source = address_to_str(pinfo->pool, &pinfo->src), *destination = address_to_str(pinfo->pool, &pinfo->dst);

    return wmem_strdup_printf(pinfo->pool, "%u %s:%u > %s:%u", record_of_tap->flow, initiator ? source : destination,
                              initiator ? pinfo->srcport : pinfo->destport, initiator ? destination : source,
                              initiator ? pinfo->destport : pinfo->srcport);
}

static void tree_segment(stats_tree *st, const struct tap_record *record_of_tap, packet_info *pinfo)
{
    const char *opcode = rdmap_opcode_rows[record_of_tap->opcode].name;
    int value = (int)record_of_tap->octets, node;

    if (opcode == NULL)
        opcode = wmem_strdup_printf(pinfo->pool, "opcode 0x%x", record_of_tap->opcode);
    if (record_of_tap->bad_crc)
        opcode = "(bad CRC)";
    avg_stat_node_add_value_int(st, text_messages, 0, TRUE, value);
    avg_stat_node_add_value_int(st, opcode, messages_node, FALSE, value);
    avg_stat_node_add_value_int(st, text_flows, 0, TRUE, value);
    node = avg_stat_node_add_value_int(st, flow_text(record_of_tap, pinfo), flows_node, TRUE, value);
    node = avg_stat_node_add_value_int(
        st, record_of_tap->direction == FLOW_FROM_INITIATOR ? "from the Initiator" : "from the Responder", node, TRUE,
        value);
    avg_stat_node_add_value_int(st, opcode, node, FALSE, value);
}

static tap_packet_status tree_packet(stats_tree *st, packet_info *pinfo, epan_dissect_t *edt _U_, const void *data,
                                     tap_flags_t flags _U_)
{
    const struct tap_record *record_of_tap = data;

    for (const struct warp_finding *finding = record_of_tap->findings; finding != NULL; finding = finding->next) {
        tick_stat_node(st, text_findings, 0, TRUE);
        tick_stat_node(st, finding->id, findings_node, FALSE);
    }
    if (record_of_tap->kind == TAP_SEGMENT)
        tree_segment(st, record_of_tap, pinfo);
    return TAP_PACKET_REDRAW;
}

/* ---- conversations and endpoints ------------------------------------------------------------------------------------ */

static const char *address_filter(const address *where, const char *four, const char *six)
{
    return where->type == AT_IPv6 ? six : where->type == AT_IPv4 ? four : CONV_FILTER_INVALID;
}

static const char *conversation_filter(conv_item_t *item, conv_filter_type_e filter)
{
    switch (filter) {
    case CONV_FT_SRC_ADDRESS: return address_filter(&item->src_address, "ip.src", "ipv6.src");
    case CONV_FT_DST_ADDRESS: return address_filter(&item->src_address, "ip.dst", "ipv6.dst");
    case CONV_FT_ANY_ADDRESS: return address_filter(&item->src_address, "ip.addr", "ipv6.addr");
    case CONV_FT_SRC_PORT: return "tcp.srcport";
    case CONV_FT_DST_PORT: return "tcp.dstport";
    case CONV_FT_ANY_PORT: return "tcp.port";
    default: return CONV_FILTER_INVALID;
    }
}

static const char *endpoint_filter(endpoint_item_t *item, conv_filter_type_e filter)
{
    switch (filter) {
    case CONV_FT_SRC_ADDRESS: return address_filter(&item->myaddress, "ip.src", "ipv6.src");
    case CONV_FT_DST_ADDRESS: return address_filter(&item->myaddress, "ip.dst", "ipv6.dst");
    case CONV_FT_ANY_ADDRESS: return address_filter(&item->myaddress, "ip.addr", "ipv6.addr");
    case CONV_FT_SRC_PORT: return "tcp.srcport";
    case CONV_FT_DST_PORT: return "tcp.dstport";
    case CONV_FT_ANY_PORT: return "tcp.port";
    default: return CONV_FILTER_INVALID;
    }
}

static ct_dissector_info_t conversation_info = {conversation_filter};
static et_dissector_info_t endpoint_info = {endpoint_filter};

/* A connection is one line, also where its 4-tuple is used again. */
static tap_packet_status conversation_packet(void *context, packet_info *pinfo, epan_dissect_t *edt _U_,
                                             const void *data, tap_flags_t flags)
{
    conv_hash_t *hash = context;
    const struct tap_record *record_of_tap = data;

    hash->flags = flags;
    if (record_of_tap->kind != TAP_FRAME)
        return TAP_PACKET_DONT_REDRAW;
    add_conversation_table_data_with_conv_id(hash, &pinfo->src, &pinfo->dst, pinfo->srcport, pinfo->destport,
                                             record_of_tap->flow, 1, (int)pinfo->fd->pkt_len, &pinfo->rel_ts,
                                             &pinfo->abs_ts, &conversation_info, CONVERSATION_TCP);
    return TAP_PACKET_REDRAW;
}

static tap_packet_status endpoint_packet(void *context, packet_info *pinfo, epan_dissect_t *edt _U_, const void *data,
                                         tap_flags_t flags)
{
    conv_hash_t *hash = context;
    const struct tap_record *record_of_tap = data;
    int octets = (int)pinfo->fd->pkt_len;

    hash->flags = flags;
    if (record_of_tap->kind != TAP_FRAME)
        return TAP_PACKET_DONT_REDRAW;
    add_endpoint_table_data(hash, &pinfo->src, pinfo->srcport, TRUE, 1, octets, &endpoint_info, ENDPOINT_TCP);
    add_endpoint_table_data(hash, &pinfo->dst, pinfo->destport, FALSE, 1, octets, &endpoint_info, ENDPOINT_TCP);
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
    const struct tap_record *record_of_tap = data;

    if (!record_of_tap->response)
        return TAP_PACKET_DONT_REDRAW;
    add_srt_table_data(g_array_index(srt->srt_array, srt_stat_table *, 0),
                       record_of_tap->opcode == RDMAP_ATOMIC_RESPONSE ? SRT_ATOMIC : SRT_READ,
                       &record_of_tap->request_time, pinfo);
    return TAP_PACKET_REDRAW;
}

void warp_stats_register(void)
{
    tap = register_tap("warp");
    register_srt_table(warp_proto, NULL, 1, srt_packet, srt_init, NULL);
    register_conversation_table(warp_proto, FALSE, conversation_packet, endpoint_packet);
}

void warp_stats_handoff(void)
{
    stats_tree_register_plugin("warp", "warp", "iWARP", 0, tree_packet, tree_init, NULL);
}
