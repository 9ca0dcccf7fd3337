/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames from one side to the other, and what time lets go. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "conformance/engine/bridge/bridge_emit.h"
#include "conformance/engine/bridge/bridge_internal.h"
#include "conformance/engine/process/run_stop.h"
#include "conformance/flow/event/flow_frame.h"
#include "generator/link/link_capture.h"
#include "generator/packet/packet.h"

#define SECOND_NS      UINT64_C(1000000000)
#define MILLISECOND_NS UINT64_C(1000000)

enum { READ_MOST = 64 }; /* frames of one side before the other is looked at */

static uint64_t clock_ns(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now); /* of which frames have their times */
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* ---- one frame --------------------------------------------------------------------------------------------------- */

/* Said once and at once: the capture ends with the last frame that fitted; everything else goes on. */
static void say_unwritten(struct bridge_side *at)
{
    if (!at->cut_short)
        bridge_note(at->bridge, true, "%s; this capture ends here, all else goes on", pcapng_error(at->capture)->text);
    at->cut_short = true;
    at->bridge->unwritten = true;
}

/* A frame as it is on this link, from its device or to it. */
static void see(struct bridge_side *at, const uint8_t *octets, size_t count, uint64_t time_ns, bool inbound)
{
    struct bridge *bridge = at->bridge;
    struct flow_frame frame = {.link = FLOW_LINK_ETHERNET,
                               .time_ns = time_ns,
                               .number = ++at->frames,
                               .octets = octets,
                               .captured = count,
                               .length = count};

    if (at->capture != NULL &&
        pcapng_write_frame(at->capture, time_ns, octets, count, inbound ? NULL : bridge->comment, inbound) != 0)
        say_unwritten(at);
    if (!inbound)
        bridge->comment = NULL;
    if (inbound || !bridge->streams.damaged)
        flow_decoder_frame(flow_judge_decoder(at->judge), &frame);
}

void bridge_send(void *user, unsigned side, uint8_t *frame, size_t octets, bool changed)
{
    struct bridge *bridge = user;
    struct bridge_side *to = &bridge->sides[side];

    if (changed && bridge->comment == NULL)
        bridge->comment = "written by the bridge";
    if (bridge_interface_send(&to->interface, frame, octets))
        see(to, frame, octets, bridge->streams.now_ns, false);
    bridge->comment = NULL;
}

/* Without a script, and what a script cannot change: as it came. */
static void forward(struct bridge_side *from, size_t octets, const struct bridge_packet *packet)
{
    struct bridge *bridge = from->bridge;
    struct bridge_side *to = &bridge->sides[1 - from->side];

    if (packet->payload != 0 && packet->protocol == BRIDGE_PROTOCOL_TCP && packet->end - packet->ip > to->interface.mtu)
        bridge_emit_long(&bridge->streams, from->side, bridge->frame, octets, packet);
    else
        bridge_send(bridge, to->side, bridge->frame, octets, false);
}

static void on_frame(u_char *argument, const struct pcap_pkthdr *header, const u_char *octets)
{
    struct bridge_side *from = (struct bridge_side *)(void *)argument;
    struct bridge *bridge = from->bridge;
    struct bridge_connection *connection = NULL;
    struct bridge_association *association = NULL;
    struct bridge_packet packet;
    size_t count = header->caplen < BRIDGE_FRAME_ROOM ? header->caplen : BRIDGE_FRAME_ROOM;
    bool known;

    from->interface.frames++;
    from->interface.octets += count;
    bridge->frames++;
    bridge->streams.now_ns = clock_ns();
    memcpy(bridge->frame, octets, count);
    bridge->completed += bridge_packet_complete(bridge->frame, count);
    known = bridge_packet_parse(bridge->frame, count, &packet);
    if (known)
        bridge_place_note(bridge, from->side, &packet);
    else
        packet.payload = 0;
    if (known && bridge->script != NULL && packet.protocol == BRIDGE_PROTOCOL_TCP)
        connection = bridge_streams_input(&bridge->streams, from->side, bridge->frame, count, &packet);
    if (known && bridge->script != NULL && packet.protocol == BRIDGE_PROTOCOL_SCTP)
        association = bridge_sctp_input(&bridge->sctp, from->side, bridge->frame, count, &packet);
    see(from, bridge->frame, count, link_capture_time(header, from->interface.nanoseconds_per_tick), true);
    if (association != NULL) {
        bridge_impair_settle(bridge);
        bridge_sctp_flush(&bridge->sctp, from->side);
        return;
    }
    if (connection == NULL) {
        forward(from, count, &packet);
        return;
    }
    bridge_impair_settle(bridge);
    bridge_streams_flush(&bridge->streams, connection, from->side);
}

/* ---- losses ------------------------------------------------------------------------------------------------------ */

/* To both devices a frame that the ring lost is one that the network lost; no rule blames them for it. */
static void note_losses(struct bridge *bridge)
{
    for (unsigned side = 0; side < BRIDGE_SIDES; side++) {
        struct bridge_interface *interface = &bridge->sides[side].interface;
        uint64_t lost = link_capture_lost(interface->link, &interface->lost);

        bridge->lost += lost;
        for (unsigned i = 0; lost != 0 && i < BRIDGE_SIDES; i++)
            flow_decoder_dropped(flow_judge_decoder(bridge->sides[i].judge), i == side ? lost : 0);
    }
}

static void say_losses(struct bridge *bridge)
{
    const struct bridge_interface *a = &bridge->sides[0].interface, *b = &bridge->sides[1].interface;
    uint64_t unsent = a->unsent + b->unsent + bridge->streams.refused + bridge->streams.lost_memory;
    uint64_t lost = bridge->lost + unsent;

    if (a->too_long + b->too_long != 0 && !bridge->long_reported) {
        bridge->long_reported = true;
        bridge_note(
            bridge, true,
            "frames longer than the MTU of %s come from %s, and cannot go on: `ethtool -K %s gro off lro off`, and "
            "tso and gso off at the other end of its cable",
            a->too_long != 0 ? a->name : b->name, a->too_long != 0 ? b->name : a->name,
            a->too_long != 0 ? b->name : a->name);
    }
    if (lost == bridge->lost_reported)
        return;
    bridge_note(bridge, true,
                "%" PRIu64 " frames were lost on the way: %" PRIu64 " before they were read (a larger --buffer helps), "
                "%" PRIu64 " that could not be sent or held",
                lost, bridge->lost, unsent);
    bridge->lost_reported = lost;
}

/* What was captured stays, whatever ends the process. */
static void flush_captures(struct bridge *bridge)
{
    for (unsigned side = 0; side < BRIDGE_SIDES; side++)
        if (bridge->sides[side].capture != NULL && pcapng_flush(bridge->sides[side].capture) != 0)
            say_unwritten(&bridge->sides[side]);
}

static void every_second(struct bridge *bridge, uint64_t now)
{
    bool first = bridge->lost_reported == 0;

    for (unsigned side = 0; side < BRIDGE_SIDES; side++)
        flow_decoder_time(flow_judge_decoder(bridge->sides[side].judge), now);
    flush_captures(bridge);
    note_losses(bridge);
    if (first || now / SECOND_NS % 60 == 0) /* the first ones at once */
        say_losses(bridge);
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

/* True: there may be more. */
static bool read_side(struct bridge_side *at)
{
    struct bridge *bridge = at->bridge;
    uint64_t wanted = bridge->options->frames;
    int most = READ_MOST, got;

    if (wanted != 0 && wanted - bridge->frames < READ_MOST)
        most = (int)(wanted - bridge->frames);
    if (at->interface.link == NULL || most == 0)
        return false;
    got = pcap_dispatch(at->interface.link, most, on_frame, (u_char *)at);
    if (got >= 0)
        return got > 0;
    bridge_note(bridge, true, "%s: the interface cannot be read any more: %s; what was found stays", at->interface.name,
                pcap_geterr(at->interface.link));
    bridge_interface_close(&at->interface);
    bridge->gone = true;
    return false;
}

static bool is_over(const struct bridge *bridge, uint64_t now)
{
    return run_stopped() || bridge->gone ||
           (bridge->options->frames != 0 && bridge->frames >= bridge->options->frames) ||
           (bridge->ends_ns != 0 && now >= bridge->ends_ns);
}

/*
 * The command's own traffic; what is still on its way when it is over is the end of the last connection. A connection that an
 * upper tester has given up may go on until then.
 */
static void look_at_traffic(struct bridge *bridge, uint64_t now)
{
    if (bridge->traffic.count == 0 || bridge->traffic_over || bridge_traffic_read(&bridge->traffic))
        return;
    bridge->traffic_over = true;
    if (bridge->ends_ns == 0 || bridge->ends_ns > now + SECOND_NS)
        bridge->ends_ns = now + SECOND_NS;
}

/* Until there is a frame, a signal, or something to do. */
static void wait_for_frames(const struct bridge *bridge, uint64_t now)
{
    struct pollfd files[BRIDGE_SIDES + 1] = {{0}};
    uint64_t due = bridge->second_ns < bridge->streams_ns ? bridge->second_ns : bridge->streams_ns;
    uint64_t left = due > now ? due - now : 0;
    struct timespec time = {.tv_sec = (time_t)(left / SECOND_NS), .tv_nsec = (long)(left % SECOND_NS)};

    for (unsigned side = 0; side < BRIDGE_SIDES; side++)
        files[side] = (struct pollfd){.fd = bridge->sides[side].interface.file, .events = POLLIN};
    files[BRIDGE_SIDES] = (struct pollfd){.fd = bridge->traffic.lines.pipe, .events = POLLIN}; /* -1: none */
    (void)ppoll(files, BRIDGE_SIDES + 1, &time, NULL);
}

/* What waits in connections; looked at each millisecond while a script may hold something. */
static void look_at_streams(struct bridge *bridge, uint64_t now)
{
    uint64_t due, sctp;

    if (bridge->script == NULL)
        return;
    if (now < bridge->streams_ns && bridge->streams_ns <= now + SECOND_NS)
        return;
    due = bridge_streams_time(&bridge->streams, now);
    sctp = bridge_sctp_time(&bridge->sctp, now);
    due = sctp < due ? sctp : due;
    due = due < MILLISECOND_NS ? MILLISECOND_NS : due < SECOND_NS ? due : SECOND_NS;
    bridge->streams_ns = now + due;
}

void bridge_run(struct bridge *bridge)
{
    uint64_t now = clock_ns();

    bridge->streams_ns = UINT64_MAX;
    while (!is_over(bridge, now)) {
        bool more = false;

        for (unsigned side = 0; side < BRIDGE_SIDES; side++)
            more |= read_side(&bridge->sides[side]);
        if (more && bridge->script != NULL && bridge->streams_ns > bridge->streams.now_ns + MILLISECOND_NS)
            bridge->streams_ns = bridge->streams.now_ns + MILLISECOND_NS; /* something may wait since */
        now = clock_ns();
        look_at_streams(bridge, now);
        look_at_traffic(bridge, now);
        if (now >= bridge->second_ns || bridge->second_ns > now + SECOND_NS) {
            every_second(bridge, now);
            bridge->second_ns = now + SECOND_NS;
        }
        if (!more && !is_over(bridge, now))
            wait_for_frames(bridge, now);
    }
    note_losses(bridge);
    say_losses(bridge);
}
