/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "conformance/engine/bridge/bridge_interface.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "generator/link/link_capture.h"

enum { MTU_ETHERNET = 1500 };

static size_t mtu_of(const char *name)
{
    struct ifreq request = {0};
    int handle = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    size_t mtu = MTU_ETHERNET;

    (void)snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    if (handle >= 0 && ioctl(handle, SIOCGIFMTU, &request) == 0 && request.ifr_mtu > 0)
        mtu = (size_t)request.ifr_mtu;
    if (handle >= 0)
        (void)close(handle);
    return mtu;
}

int bridge_interface_open(struct bridge_interface *interface, const char *name, uint64_t buffer,
                          struct iwarp_sentence *error)
{
    struct link_capture_settings settings = {.snap_octets = BRIDGE_SNAP_OCTETS, .buffer_octets = (int)buffer};
    int yes = 1;

    *interface = (struct bridge_interface){.name = name, .file = -1};
    interface->link = link_capture_open(name, &settings, &interface->nanoseconds_per_tick, error);
    if (interface->link == NULL)
        return -1;
    interface->file = pcap_get_selectable_fd(interface->link);
    interface->mtu = mtu_of(name);
    if (interface->file < 0)
        (void)iwarp_sentence_set(error, "%s: libpcap has no file descriptor to wait on", name);
    else if (pcap_setdirection(interface->link, PCAP_D_IN) != 0)
        (void)iwarp_sentence_set(error, "%s: cannot capture inbound frames alone: %s", name,
                                 pcap_geterr(interface->link));
    else {
        /* What is sent there takes no room in the ring, where the kernel can do so. */
        (void)setsockopt(interface->file, SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof(yes));
        return 0;
    }
    bridge_interface_close(interface);
    return -1;
}

void bridge_interface_close(struct bridge_interface *interface)
{
    if (interface->link != NULL)
        pcap_close(interface->link);
    interface->link = NULL;
    interface->file = -1;
}

bool bridge_interface_send(struct bridge_interface *interface, const uint8_t *frame, size_t octets)
{
    if (interface->link == NULL)
        return false;
    if (pcap_inject(interface->link, frame, octets) == (int)octets) {
        interface->sent++;
        return true;
    }
    if (errno == EMSGSIZE)
        interface->too_long++;
    else
        interface->unsent++;
    return false;
}
