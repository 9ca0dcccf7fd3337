/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/interop/interop_capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

#include "generator/link/link_capture.h"
#include "generator/packet/pcapng.h"

enum { SNAP_LENGTH = 262144, BUFFER_OCTETS = 64 << 20, FILTER_OCTETS = 256 };

struct interop_capture {
    char interface[64];
    pcap_t *in;
    uint64_t nanoseconds_per_tick;
    struct pcapng *out;
    char filter[FILTER_OCTETS]; /* what belongs to the exchange: the port of each of its connections */
    struct bpf_program ports;   /* the same, compiled */
    bool has_ports;
    uint64_t frames, dropped_before;
};

static void ports_forget(struct interop_capture *capture)
{
    if (capture->has_ports)
        pcap_freecode(&capture->ports);
    capture->has_ports = false;
}

static uint64_t dropped(struct interop_capture *capture)
{
    struct pcap_stat counts;

    return pcap_stats(capture->in, &counts) == 0 ? counts.ps_drop : 0;
}

struct interop_capture *interop_capture_open(const char *interface, struct iwarp_sentence *error)
{
    struct iwarp_sentence why = {""};
    struct interop_capture *capture = calloc(1, sizeof(*capture));
    struct link_capture_settings settings = {.snap_octets = SNAP_LENGTH, .buffer_octets = BUFFER_OCTETS};

    if (capture == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for a capture");
        return NULL;
    }
    (void)snprintf(capture->interface, sizeof(capture->interface), "%s", interface);
    capture->in = link_capture_open(interface, &settings, &capture->nanoseconds_per_tick, &why);
    if (capture->in != NULL && link_capture_filter(capture->in, interface, "tcp", &why) == 0)
        return capture;
    (void)iwarp_sentence_set(error, "%s; --evidence none runs without captures", why.text);
    interop_capture_close(capture);
    return NULL;
}

const char *interop_capture_interface(const struct interop_capture *capture)
{
    return capture->interface;
}

void interop_capture_close(struct interop_capture *capture)
{
    if (capture == NULL)
        return;
    (void)pcapng_close(capture->out, NULL);
    ports_forget(capture);
    if (capture->in != NULL)
        pcap_close(capture->in);
    free(capture);
}

void interop_capture_drain(struct interop_capture *capture)
{
    struct pcap_pkthdr *header;
    const u_char *octets;

    while (pcap_next_ex(capture->in, &header, &octets) == 1)
        if (capture->out != NULL && capture->has_ports && pcap_offline_filter(&capture->ports, header, octets) != 0) {
            capture->frames++;
            (void)pcapng_write_cut_frame(capture->out, link_capture_time(header, capture->nanoseconds_per_tick), octets,
                                         header->caplen, header->len, NULL, false);
        }
}

int interop_capture_begin(struct interop_capture *capture, int file, const char *name, struct iwarp_sentence *error)
{
    interop_capture_drain(capture); /* what came since the last exchange */
    ports_forget(capture);
    capture->frames = 0;
    capture->dropped_before = dropped(capture);
    capture->out = pcapng_open_file(file, name, PCAPNG_ETHERNET, "warpcheck interop", NULL, error);
    return capture->out != NULL ? 0 : -1;
}

void interop_capture_port(struct interop_capture *capture, uint16_t port)
{
    size_t used = capture->has_ports ? strlen(capture->filter) : 0, room = sizeof(capture->filter) - used;

    if ((size_t)snprintf(capture->filter + used, room, "%stcp port %u", used != 0 ? " or " : "", port) >= room) {
        capture->filter[used] = '\0'; /* more connections than an exchange has */
        return;
    }
    ports_forget(capture);
    capture->has_ports = pcap_compile(capture->in, &capture->ports, capture->filter, 1, PCAP_NETMASK_UNKNOWN) == 0;
}

void interop_capture_note(struct interop_capture *capture, const char *text)
{
    interop_capture_drain(capture); /* frames of the step before */
    if (capture->out != NULL)
        (void)pcapng_note(capture->out, text);
}

int interop_capture_end(struct interop_capture *capture, uint64_t *frames, uint64_t *lost, struct iwarp_sentence *error)
{
    struct pcapng *out = capture->out;

    interop_capture_drain(capture);
    *frames = capture->frames;
    *lost = dropped(capture) - capture->dropped_before;
    capture->out = NULL;
    return pcapng_close(out, error);
}
