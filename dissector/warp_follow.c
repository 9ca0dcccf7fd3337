/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follow (Analyze > Follow, -z follow,warp,...): what the ULPs of a connection sent each other, without any headers. */
#include "dissector/warp.h"

#include <epan/follow.h>
#include <epan/tap.h>
#include <epan/to_str.h>

static int tap = -1;

void warp_follow_tell(tvbuff_t *payload, packet_info *pinfo)
{
    if (have_tap_listener(tap) && tvb_captured_length(payload) != 0)
        tap_queue_packet(tap, pinfo, payload);
}

static gchar *filter_of(guint flow)
{
    return g_strdup_printf("warp.flow == %u", flow);
}

/* Of the frame that is selected. */
static gchar *conversation_filter(epan_dissect_t *edt _U_, packet_info *pinfo, guint *stream, guint *sub_stream _U_)
{
    const struct warp_record *record = warp_record_of(pinfo->num);

    if (record == NULL || record->flow == 0)
        return NULL;
    *stream = record->flow;
    return filter_of(record->flow);
}

static gchar *index_filter(guint stream, guint sub_stream _U_)
{
    return filter_of(stream);
}

static gchar *address_filter(address *source, address *destination, int source_port, int destination_port)
{
    const char *ip = source->type == AT_IPv6 ? "ipv6" : "ip";
    char *from = address_to_str(NULL, source), *to = address_to_str(NULL, destination);
    char *text = g_strdup_printf("((%s.src eq %s and tcp.srcport eq %d) and (%s.dst eq %s and tcp.dstport eq %d)) or "
                                 "((%s.src eq %s and tcp.srcport eq %d) and (%s.dst eq %s and tcp.dstport eq %d))",
                                 ip, from, source_port, ip, to, destination_port, ip, to, destination_port, ip, from,
                                 source_port);

    wmem_free(NULL, from);
    wmem_free(NULL, to);
    return text;
}

static gchar *port_text(wmem_allocator_t *allocator, guint port)
{
    return wmem_strdup_printf(allocator, "%u", port);
}

#if WARP_WIRESHARK(4, 2)
/* They are numbered from 1. */
static guint32 count(void)
{
    return warp_record_flows() + 1;
}
#define COUNTED , count, NULL
#else
#define COUNTED
#endif

void warp_follow_register(void)
{
    tap = register_tap("warp_follow");
    register_follow_stream(warp_proto, "warp_follow", conversation_filter, index_filter, address_filter, port_text,
                           follow_tvb_tap_listener COUNTED);
}
