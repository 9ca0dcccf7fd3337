/* SPDX-License-Identifier: BSD-2-Clause */
#include "generator/link/link_capture.h"

#include <errno.h>

#include "base/out_of_memory.h"
#include "base/sentence.h"

static int activate(pcap_t *in, const char *interface, struct iwarp_sentence *error)
{
    int status = pcap_activate(in);

    if (status >= 0)
        return 0;
    if (status == PCAP_ERROR_PERM_DENIED || status == PCAP_ERROR_PROMISC_PERM_DENIED)
        return iwarp_sentence_set(error, "%s: no privileges to capture: run as root, or grant CAP_NET_RAW", interface);
    if (status == PCAP_ERROR_NO_SUCH_DEVICE)
        return iwarp_sentence_set(error, "%s: no such interface; `ip link` lists them", interface);
    if (status == PCAP_ERROR_IFACE_NOT_UP)
        return iwarp_sentence_set(error, "%s: the interface is down; `ip link set %s up` brings it up", interface,
                                  interface);
    return iwarp_sentence_set(error, "%s: cannot capture: %s (%s)", interface, pcap_statustostr(status),
                              pcap_geterr(in));
}

static int prepare(pcap_t *in, const char *interface, const struct link_capture_settings *settings,
                   uint64_t *nanoseconds_per_tick, struct iwarp_sentence *error)
{
    char why[PCAP_ERRBUF_SIZE] = "";

    if (pcap_set_snaplen(in, settings->snap_octets) != 0 || pcap_set_promisc(in, 1) != 0 ||
        (settings->block_ms == 0 ? pcap_set_immediate_mode(in, 1) : pcap_set_timeout(in, settings->block_ms)) != 0 ||
        pcap_set_buffer_size(in, settings->buffer_octets) != 0)
        return iwarp_sentence_set(error, "%s: cannot capture: libpcap does not take the settings", interface);
    *nanoseconds_per_tick = pcap_set_tstamp_precision(in, PCAP_TSTAMP_PRECISION_NANO) == 0 ? 1 : 1000;
    if (activate(in, interface, error) != 0)
        return -1;
    if (!settings->any_link && pcap_datalink(in) != DLT_EN10MB)
        return iwarp_sentence_set(error, "%s: not an Ethernet interface but %s", interface,
                                  pcap_datalink_val_to_name(pcap_datalink(in)));
    if (pcap_setnonblock(in, 1, why) != 0)
        return iwarp_sentence_set(error, "%s: cannot capture without waiting: %s", interface, why);
    return 0;
}

/* Memory that was short is no fault of the command line's, and libpcap says so in words alone. */
static void note_memory(bool failed)
{
    if (failed && errno == ENOMEM)
        out_of_memory_note();
}

pcap_t *link_capture_open(const char *interface, const struct link_capture_settings *settings,
                          uint64_t *nanoseconds_per_tick, struct iwarp_sentence *error)
{
    char why[PCAP_ERRBUF_SIZE] = "";
    pcap_t *in;

    errno = 0;
    in = pcap_create(interface, why);
    note_memory(in == NULL);
    if (in == NULL) {
        (void)iwarp_sentence_set(error, "%s: cannot capture: %.200s", interface, why);
        return NULL;
    }
    if (prepare(in, interface, settings, nanoseconds_per_tick, error) == 0)
        return in;
    note_memory(true);
    pcap_close(in);
    return NULL;
}

int link_capture_filter(pcap_t *in, const char *interface, const char *filter, struct iwarp_sentence *error)
{
    struct bpf_program program;
    int status;

    if (pcap_compile(in, &program, filter, 1, PCAP_NETMASK_UNKNOWN) != 0)
        return iwarp_sentence_set(error, "%s: cannot compile the capture filter `%s`: %s", interface, filter,
                                  pcap_geterr(in));
    status = pcap_setfilter(in, &program);
    pcap_freecode(&program);
    if (status != 0)
        return iwarp_sentence_set(error, "%s: cannot set the capture filter: %s", interface, pcap_geterr(in));
    return 0;
}

uint64_t link_capture_time(const struct pcap_pkthdr *header, uint64_t nanoseconds_per_tick)
{
    return (uint64_t)header->ts.tv_sec * UINT64_C(1000000000) + (uint64_t)header->ts.tv_usec * nanoseconds_per_tick;
}

uint64_t link_capture_lost(pcap_t *in, struct link_capture_losses *losses)
{
    uint64_t before = losses->ring + losses->interface;
    struct pcap_stat counts;

    if (in == NULL || pcap_stats(in, &counts) != 0)
        return 0;
    /* libpcap's counters have 32 bits: what they went on by since the last time is added. */
    losses->ring += (uint32_t)(counts.ps_drop - (uint32_t)losses->ring);
    losses->interface += (uint32_t)(counts.ps_ifdrop - (uint32_t)losses->interface);
    return losses->ring + losses->interface - before;
}
