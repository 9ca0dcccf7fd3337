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
    bool another; /* TAP_FRAME: the frame has been counted for another flow */
    /* TAP_SEGMENT */
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

/* Whether an item is the first of its flow among those of a frame: `items`, then `home`. */
static bool is_first(const struct warp_item *item, const struct warp_item *items, const struct warp_item *home)
{
    for (; items != NULL && items != item; items = items->next)
        if (items->flow == item->flow)
            return false;
    if (items == item)
        return true;
    while (home != item && home->flow != item->flow)
        home = home->next_home;
    return home == item;
}

static void count_item(const struct warp_item *item, const struct warp_record *record, packet_info *pinfo,
                       bool *another)
{
    struct tap_record *record_of_tap;

    if (item->flow == 0 || !is_first(item, record->items, record->home))
        return;
    record_of_tap = tap_record_new(TAP_FRAME, item->flow, item->direction, pinfo);
    record_of_tap->another = *another;
    *another = true;
    tap_queue_packet(tap, pinfo, record_of_tap);
}

/*
 * In InfiniBand and RoCEv1, the built-in dissector replaces the packet's addresses by those that a CM message has in
 * it.
 */
static bool has_addresses(const packet_info *pinfo)
{
    return pinfo->ptype != PT_IBQP || pinfo->net_src.type == AT_IPv4 || pinfo->net_src.type == AT_IPv6;
}

void warp_stats_count_packet(const struct warp_record *record, packet_info *pinfo)
{
    bool another = false;

    if (!have_tap_listener(tap) || !has_addresses(pinfo))
        return;
    for (const struct warp_item *item = record->items; item != NULL; item = item->next)
        count_item(item, record, pinfo, &another);
    for (const struct warp_item *item = record->home; item != NULL; item = item->next_home)
        count_item(item, record, pinfo, &another);
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

/*
 * ---- the tree -----------------------------------------------------------------------------------------------------
 */

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

/*
 * ---- conversations and endpoints ------------------------------------------------------------------------------------
 */

static const char *address_filter(const address *where, const char *four, const char *six)
{
    return where->type == AT_IPv6 ? six : where->type == AT_IPv4 ? four : CONV_FILTER_INVALID;
}

/* What carries a flow: how tables name its ports, and filters. InfiniBand's queue pairs have no such filter. */
struct carrier {
    port_type ports;
    conversation_type type;
    const char *source, *destination, *any;
};

static const struct carrier carriers[] = {
    {PT_TCP, CONVERSATION_TCP, "tcp.srcport", "tcp.dstport", "tcp.port"},
    {PT_SCTP, CONVERSATION_SCTP, "sctp.srcport", "sctp.dstport", "sctp.port"},
    {PT_UDP, CONVERSATION_UDP, "udp.srcport", "udp.dstport", "udp.port"},
    {PT_IBQP, CONVERSATION_IBQP, CONV_FILTER_INVALID, CONV_FILTER_INVALID, CONV_FILTER_INVALID},
};

enum { CARRIERS = sizeof(carriers) / sizeof(carriers[0]) };

static const char *port_filter(unsigned carrier, conv_filter_type_e filter)
{
    switch (filter) {
    case CONV_FT_SRC_PORT: return carriers[carrier].source;
    case CONV_FT_DST_PORT: return carriers[carrier].destination;
    case CONV_FT_ANY_PORT: return carriers[carrier].any;
    default: return CONV_FILTER_INVALID;
    }
}

static const char *conversation_filter(const conv_item_t *item, conv_filter_type_e filter, unsigned carrier)
{
    switch (filter) {
    case CONV_FT_SRC_ADDRESS: return address_filter(&item->src_address, "ip.src", "ipv6.src");
    case CONV_FT_DST_ADDRESS: return address_filter(&item->src_address, "ip.dst", "ipv6.dst");
    case CONV_FT_ANY_ADDRESS: return address_filter(&item->src_address, "ip.addr", "ipv6.addr");
    default: return port_filter(carrier, filter);
    }
}

static const char *endpoint_filter(const endpoint_item_t *item, conv_filter_type_e filter, unsigned carrier)
{
    switch (filter) {
    case CONV_FT_SRC_ADDRESS: return address_filter(&item->myaddress, "ip.src", "ipv6.src");
    case CONV_FT_DST_ADDRESS: return address_filter(&item->myaddress, "ip.dst", "ipv6.dst");
    case CONV_FT_ANY_ADDRESS: return address_filter(&item->myaddress, "ip.addr", "ipv6.addr");
    default: return port_filter(carrier, filter);
    }
}

/*
 * Wireshark hands the item alone to a filter, and its members have other names in other versions: a function for each
 * carrier.
 */
/* clang-format off */
#define FILTERS(N) \
    static const char *conversation_filter_##N(conv_item_t *item, conv_filter_type_e filter) \
    { \
        return conversation_filter(item, filter, N); \
    } \
    static const char *endpoint_filter_##N(endpoint_item_t *item, conv_filter_type_e filter) \
    { \
        return endpoint_filter(item, filter, N); \
    }
FILTERS(0)
FILTERS(1)
FILTERS(2)
FILTERS(3)
/* clang-format on */

static ct_dissector_info_t conversation_info[CARRIERS] = {
    {conversation_filter_0}, {conversation_filter_1}, {conversation_filter_2}, {conversation_filter_3}};
static et_dissector_info_t endpoint_info[CARRIERS] = {
    {endpoint_filter_0}, {endpoint_filter_1}, {endpoint_filter_2}, {endpoint_filter_3}};

/* Of RoCEv2 those of IP: the built-in dissector has put what a CM message says of its ports into the others. */
static const address *source_of(const packet_info *pinfo)
{
    return pinfo->ptype == PT_IBQP ? &pinfo->net_src : &pinfo->src;
}

static const address *destination_of(const packet_info *pinfo)
{
    return pinfo->ptype == PT_IBQP ? &pinfo->net_dst : &pinfo->dst;
}

static unsigned carrier_of(const packet_info *pinfo)
{
    for (unsigned i = 0; i < CARRIERS; i++)
        if (carriers[i].ports == pinfo->ptype)
            return i;
    return 0;
}

/* A flow is one line, also where its 4-tuple is used again. */
static tap_packet_status conversation_packet(void *context, packet_info *pinfo, epan_dissect_t *edt _U_,
                                             const void *data, tap_flags_t flags)
{
    conv_hash_t *hash = context;
    const struct tap_record *record_of_tap = data;
    unsigned carrier = carrier_of(pinfo);

    hash->flags = flags;
    if (record_of_tap->kind != TAP_FRAME)
        return TAP_PACKET_DONT_REDRAW;
    add_conversation_table_data_with_conv_id(
        hash, source_of(pinfo), destination_of(pinfo), pinfo->srcport, pinfo->destport, record_of_tap->flow, 1,
        (int)pinfo->fd->pkt_len, &pinfo->rel_ts, &pinfo->abs_ts, &conversation_info[carrier], carriers[carrier].type);
    return TAP_PACKET_REDRAW;
}

/* A frame counts once, however many flows have messages in it. */
static tap_packet_status endpoint_packet(void *context, packet_info *pinfo, epan_dissect_t *edt _U_, const void *data,
                                         tap_flags_t flags)
{
    conv_hash_t *hash = context;
    const struct tap_record *record_of_tap = data;
    unsigned carrier = carrier_of(pinfo);
    int octets = (int)pinfo->fd->pkt_len;

    hash->flags = flags;
    if (record_of_tap->kind != TAP_FRAME || record_of_tap->another)
        return TAP_PACKET_DONT_REDRAW;
    add_endpoint_table_data(hash, source_of(pinfo), pinfo->srcport, TRUE, 1, octets, &endpoint_info[carrier],
                            carriers[carrier].type);
    add_endpoint_table_data(hash, destination_of(pinfo), pinfo->destport, FALSE, 1, octets, &endpoint_info[carrier],
                            carriers[carrier].type);
    return TAP_PACKET_REDRAW;
}

/*
 * ---- response times ------------------------------------------------------------------------------------------------
 */

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
                       record_of_tap->opcode == IWARP_RDMAP_ATOMIC_RESPONSE ? SRT_ATOMIC : SRT_READ,
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
