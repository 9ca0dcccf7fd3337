/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/monitor/monitor_interface.h"

#include "conformance/flow/link/flow_link.h"
#include "generator/link/link_capture.h"

int monitor_interface_open(struct monitor_interface *interface, const char *name, uint64_t buffer, const char *filter,
                           struct iwarp_sentence *error)
{
    struct link_capture_settings settings = {.snap_octets = MONITOR_SNAP_OCTETS,
                                             .buffer_octets = (int)buffer,
                                             .block_ms = MONITOR_BLOCK_MS,
                                             .any_link = true};

    *interface = (struct monitor_interface){.name = name, .file = -1};
    interface->in = link_capture_open(name, &settings, &interface->nanoseconds_per_tick, error);
    if (interface->in == NULL)
        return -1;
    interface->link = (uint32_t)pcap_datalink(interface->in);
    if (interface->link == DLT_RAW)
        interface->link = FLOW_LINK_RAW;
    interface->file = pcap_get_selectable_fd(interface->in);
    if (!flow_link_known(interface->link))
        (void)iwarp_sentence_set(error, "%s: link type %u (%s) is not supported", name, (unsigned)interface->link,
                                 pcap_datalink_val_to_name(pcap_datalink(interface->in)));
    else if (interface->file < 0)
        (void)iwarp_sentence_set(error, "%s: libpcap has no file descriptor to wait on", name);
    else if (filter == NULL || link_capture_filter(interface->in, name, filter, error) == 0)
        return 0;
    monitor_interface_close(interface);
    return -1;
}

void monitor_interface_close(struct monitor_interface *interface)
{
    if (interface->in != NULL)
        pcap_close(interface->in);
    interface->in = NULL;
    interface->file = -1;
}

struct reading {
    struct monitor_interface *interface;
    void (*give)(void *user, struct flow_frame *frame);
    void *user;
};

static void on_frame(u_char *argument, const struct pcap_pkthdr *header, const u_char *octets)
{
    struct reading *reading = (struct reading *)(void *)argument;
    struct monitor_interface *interface = reading->interface;
    struct flow_frame frame = {.link = interface->link,
                               .time_ns = link_capture_time(header, interface->nanoseconds_per_tick),
                               .octets = octets,
                               .captured = header->caplen,
                               .length = header->len};

    interface->frames++;
    interface->octets += header->caplen;
    reading->give(reading->user, &frame);
}

int monitor_interface_read(struct monitor_interface *interface, int most,
                           void (*give)(void *user, struct flow_frame *frame), void *user, struct iwarp_sentence *error)
{
    struct reading reading = {interface, give, user};
    int got = pcap_dispatch(interface->in, most, on_frame, (u_char *)&reading);

    if (got >= 0)
        return got;
    return iwarp_sentence_set(error, "%s: the interface cannot be read any more: %s", interface->name,
                              pcap_geterr(interface->in));
}
