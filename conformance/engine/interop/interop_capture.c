/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/interop/interop_capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

#include "generator/packet/pcapng.h"

enum { SNAP_LENGTH = 262144, BUFFER_OCTETS = 64 << 20, PORTS_MOST = 8, TCP_PORT_OCTETS = 4 };

struct interop_capture {
    char interface[64];
    pcap_t *in;
    uint64_t nanoseconds_per_tick;
    struct pcapng *out;
    uint16_t ports[PORTS_MOST]; /* of the exchange: one for each connection */
    size_t port_count;
    uint64_t frames, dropped_before;
};

static uint64_t dropped(struct interop_capture *capture)
{
    struct pcap_stat counts;

    return pcap_stats(capture->in, &counts) == 0 ? counts.ps_drop : 0;
}

static int settings(struct interop_capture *capture, struct iwarp_sentence *error)
{
    char why[PCAP_ERRBUF_SIZE] = "";
    struct bpf_program program;
    int status;

    if (pcap_set_snaplen(capture->in, SNAP_LENGTH) != 0 || pcap_set_promisc(capture->in, 1) != 0 ||
        pcap_set_immediate_mode(capture->in, 1) != 0 || pcap_set_buffer_size(capture->in, BUFFER_OCTETS) != 0)
        return iwarp_sentence_set(error, "%s: libpcap does not take the settings", capture->interface);
    capture->nanoseconds_per_tick = pcap_set_tstamp_precision(capture->in, PCAP_TSTAMP_PRECISION_NANO) == 0 ? 1 : 1000;
    status = pcap_activate(capture->in);
    if (status < 0)
        return iwarp_sentence_set(error, "%s: cannot capture: %s; --evidence none runs without captures",
                                  capture->interface, pcap_statustostr(status));
    if (pcap_datalink(capture->in) != DLT_EN10MB)
        return iwarp_sentence_set(error, "%s: not an Ethernet interface but %s; --evidence none runs without captures",
                                  capture->interface, pcap_datalink_val_to_name(pcap_datalink(capture->in)));
    if (pcap_setnonblock(capture->in, 1, why) != 0 ||
        pcap_compile(capture->in, &program, "tcp", 1, PCAP_NETMASK_UNKNOWN) != 0)
        return iwarp_sentence_set(error, "%s: cannot capture: %s", capture->interface, pcap_geterr(capture->in));
    status = pcap_setfilter(capture->in, &program);
    pcap_freecode(&program);
    return status == 0
               ? 0
               : iwarp_sentence_set(error, "%s: cannot capture: %s", capture->interface, pcap_geterr(capture->in));
}

struct interop_capture *interop_capture_open(const char *interface, struct iwarp_sentence *error)
{
    char why[PCAP_ERRBUF_SIZE] = "";
    struct interop_capture *capture = calloc(1, sizeof(*capture));

    if (capture == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for a capture");
        return NULL;
    }
    (void)snprintf(capture->interface, sizeof(capture->interface), "%s", interface);
    capture->in = pcap_create(interface, why);
    if (capture->in == NULL)
        (void)iwarp_sentence_set(error, "%s: cannot capture: %.200s", interface, why);
    if (capture->in == NULL || settings(capture, error) != 0) {
        interop_capture_close(capture);
        return NULL;
    }
    return capture;
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
    if (capture->in != NULL)
        pcap_close(capture->in);
    free(capture);
}

/* The two ports of a TCP segment, in an Ethernet frame of IPv4 or IPv6 without extension headers; false: it is none. */
static bool ports_of(const uint8_t *frame, size_t octets, uint16_t ports[2])
{
    size_t at = 14;

    if (octets < at + 20)
        return false;
    if (frame[12] == 0x08 && frame[13] == 0x00) {
        if (frame[at + 9] != 6 || (frame[at + 6] & 0x1f) != 0 || frame[at + 7] != 0)
            return false;
        at += (size_t)(frame[at] & 0x0f) * 4;
    } else if (frame[12] == 0x86 && frame[13] == 0xdd) {
        if (frame[at + 6] != 6)
            return false;
        at += 40;
    } else {
        return false;
    }
    if (octets < at + TCP_PORT_OCTETS)
        return false;
    for (size_t i = 0; i < 2; i++)
        ports[i] = (uint16_t)(frame[at + 2 * i] << 8 | frame[at + 2 * i + 1]);
    return true;
}

static bool is_ours(const struct interop_capture *capture, const uint8_t *frame, size_t octets)
{
    uint16_t ports[2];

    if (!ports_of(frame, octets, ports))
        return false;
    for (size_t i = 0; i < capture->port_count; i++)
        if (ports[0] == capture->ports[i] || ports[1] == capture->ports[i])
            return true;
    return false;
}

void interop_capture_drain(struct interop_capture *capture)
{
    struct pcap_pkthdr *header;
    const u_char *octets;

    while (pcap_next_ex(capture->in, &header, &octets) == 1)
        if (capture->out != NULL && is_ours(capture, octets, header->caplen)) {
            uint64_t time = (uint64_t)header->ts.tv_sec * UINT64_C(1000000000) +
                            (uint64_t)header->ts.tv_usec * capture->nanoseconds_per_tick;

            capture->frames++;
            (void)pcapng_write_cut_frame(capture->out, time, octets, header->caplen, header->len, NULL, false);
        }
}

int interop_capture_begin(struct interop_capture *capture, int file, const char *name, struct iwarp_sentence *error)
{
    interop_capture_drain(capture); /* what came since the last exchange */
    capture->port_count = 0;
    capture->frames = 0;
    capture->dropped_before = dropped(capture);
    capture->out = pcapng_open_file(file, name, PCAPNG_ETHERNET, "warpcheck interop", NULL, error);
    return capture->out != NULL ? 0 : -1;
}

void interop_capture_port(struct interop_capture *capture, uint16_t port)
{
    if (capture->port_count < PORTS_MOST)
        capture->ports[capture->port_count++] = port;
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
