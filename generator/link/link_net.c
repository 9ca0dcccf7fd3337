/* SPDX-License-Identifier: BSD-2-Clause */
/* The wire itself: libnet's link-layer injection out, libpcap's immediate mode in. */
#define _GNU_SOURCE
#include "generator/link/link_net.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <libnet.h>
#include <pcap/pcap.h>

#include "generator/link/address_claim.h"
#include "generator/link/link_capture.h"

#define SNAP_LENGTH    65535
#define CAPTURE_BUFFER (8 << 20)
#define MERGED_BUFFER  (64 << 20)
#define SECOND_NS      UINT64_C(1000000000)

struct link_net {
    struct link link; /* first, so that the link leads back to the whole */
    char interface[IFNAMSIZ];
    libnet_t *out;
    pcap_t *in;
    int in_file;
    int claims[2];                 /* on the IPv4 and the IPv6 address; -1: none */
    uint64_t nanoseconds_per_tick; /* of pcap's tv_usec: 1, or 1000 where the device has microseconds only */
    uint64_t clock_offset;         /* wall clock less monotonic clock, at the start */
    uint64_t last_ns;              /* when the last frame was seen */
    uint8_t mac[6];
};

static struct link_net *link_net_of(struct link *link)
{
    return (struct link_net *)link;
}

static uint64_t read_clock(clockid_t clock)
{
    struct timespec time;

    (void)clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * SECOND_NS + (uint64_t)time.tv_nsec;
}

/* Starts at the wall clock, so that captures carry true times, and then never steps as the wall clock may. */
static uint64_t link_net_now(struct link *link)
{
    return read_clock(CLOCK_MONOTONIC) + link_net_of(link)->clock_offset;
}

static int link_net_send(struct link *link, const uint8_t *frame, size_t octets)
{
    struct link_net *net = link_net_of(link);

    if (octets > SNAP_LENGTH)
        return iwarp_sentence_set(&link->error, "%s: cannot send a frame of %zu octets, at most %d", net->interface,
                                  octets, SNAP_LENGTH);
    if (libnet_adv_write_link(net->out, frame, (uint32_t)octets) != (int)octets)
        return iwarp_sentence_set(&link->error, "%s: cannot send a frame of %zu octets: %s", net->interface, octets,
                                  libnet_geterror(net->out));
    return 0;
}

uint64_t link_net_frame_time(uint64_t last_ns, uint64_t captured_ns, uint64_t now_ns)
{
    return captured_ns < last_ns || captured_ns > now_ns ? now_ns : captured_ns;
}

/* Takes a frame that is already captured. Returns 1, 0 when there is none, -1 on an error. */
static int next_frame(struct link_net *net, struct link_frame *out)
{
    struct pcap_pkthdr *header;
    const u_char *octets;
    int got = pcap_next_ex(net->in, &header, &octets);

    if (got == 0)
        return 0;
    if (got != 1)
        return iwarp_sentence_set(&net->link.error, "%s: cannot capture: %s", net->interface, pcap_geterr(net->in));
    out->octets = octets;
    out->length = header->caplen;
    out->wire_length = header->len;
    net->last_ns = link_net_frame_time(net->last_ns, link_capture_time(header, net->nanoseconds_per_tick),
                                       link_net_now(&net->link));
    out->time_ns = net->last_ns;
    return 1;
}

static int link_net_receive(struct link *link, struct link_frame *out, uint64_t deadline_ns)
{
    struct link_net *net = link_net_of(link);

    for (;;) {
        struct pollfd poll_file = {.fd = net->in_file, .events = POLLIN};
        struct timespec wait = {0};
        struct timespec *timeout = NULL;
        int got = next_frame(net, out);
        uint64_t now;

        if (got != 0)
            return got;
        now = link_net_now(link);
        if (now >= deadline_ns)
            return 0;
        if (deadline_ns != LINK_NEVER) {
            wait.tv_sec = (time_t)((deadline_ns - now) / SECOND_NS);
            wait.tv_nsec = (long)((deadline_ns - now) % SECOND_NS);
            timeout = &wait;
        }
        if (ppoll(&poll_file, 1, timeout, NULL) < 0) {
            if (errno == EINTR)
                return 0; /* a signal: the caller may want to end; it sees that its deadline is not reached */
            return iwarp_sentence_set(&link->error, "%s: cannot wait for frames: %s", net->interface, strerror(errno));
        }
    }
}

static void link_net_close(struct link *link)
{
    struct link_net *net = link_net_of(link);

    if (net->in != NULL)
        pcap_close(net->in);
    if (net->out != NULL)
        libnet_destroy(net->out);
    for (int i = 0; i < 2; i++)
        if (net->claims[i] >= 0)
            (void)close(net->claims[i]);
    free(net);
}

static const struct link_ops link_net_ops = {
    .send = link_net_send,
    .receive = link_net_receive,
    .now = link_net_now,
    .close = link_net_close,
};

/* The interface exists and is up; its own MAC where the tester wants that. */
static int check_interface(struct link_net *net, const struct link_net_config *config, struct iwarp_sentence *error)
{
    static const uint8_t none[6];
    struct ifreq request = {0};
    int handle;
    int number;

    if (config->interface == NULL || config->interface[0] == '\0' || strlen(config->interface) >= IFNAMSIZ)
        return iwarp_sentence_set(error, "interface `%s`: not a name of 1 to %d characters",
                                  config->interface != NULL ? config->interface : "", IFNAMSIZ - 1);
    (void)snprintf(net->interface, sizeof(net->interface), "%s", config->interface);
    (void)snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", config->interface);
    handle = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (handle < 0)
        return iwarp_sentence_set(error, "%s: cannot open a socket: %s", net->interface, strerror(errno));
    number = ioctl(handle, SIOCGIFFLAGS, &request) == 0 ? 0 : errno;
    if (number != 0) {
        (void)close(handle);
        return iwarp_sentence_set(error,
                                  number == ENODEV ? "%s: no such interface; `ip link` lists them (%s)" : "%s: %s",
                                  net->interface, strerror(number));
    }
    if ((request.ifr_flags & IFF_UP) == 0) {
        (void)close(handle);
        return iwarp_sentence_set(error, "%s: the interface is down; `ip link set %s up` brings it up", net->interface,
                                  net->interface);
    }
    memcpy(net->mac, config->mac, sizeof(net->mac));
    if (memcmp(config->mac, none, sizeof(none)) == 0 && ioctl(handle, SIOCGIFHWADDR, &request) == 0)
        memcpy(net->mac, request.ifr_hwaddr.sa_data, sizeof(net->mac));
    net->link.mtu =
        ioctl(handle, SIOCGIFMTU, &request) == 0 && request.ifr_mtu > 0 ? (size_t)request.ifr_mtu : LINK_ETHERNET_MTU;
    (void)close(handle);
    return 0;
}

static int open_injection(struct link_net *net, struct iwarp_sentence *error)
{
    char why[LIBNET_ERRBUF_SIZE] = "";

    net->out = libnet_init(LIBNET_LINK_ADV, net->interface, why);
    if (net->out != NULL)
        return 0;
    if (geteuid() != 0 || strstr(why, "ermission") != NULL || strstr(why, "permitted") != NULL ||
        strstr(why, "CAP_NET_RAW") != NULL)
        return iwarp_sentence_set(error, "%s: no privileges to send frames: run as root, or grant CAP_NET_RAW (%s)",
                                  net->interface, why);
    return iwarp_sentence_set(error, "%s: cannot send frames: %s", net->interface, why);
}

/*
 * "ip dst host A", "ip6 dst host B", both with "or" between; "" where the tester has no address: then all IP is its
 * own.
 */
static void write_hosts(const struct link_net_config *config, char *text, size_t room)
{
    const struct net_address *addresses[2] = {&config->ipv4, &config->ipv6};
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < 2; i++) {
        char address[64];

        if (addresses[i]->family == 0)
            continue;
        used += (size_t)snprintf(text + used, room - used, " or (%s dst host %s)", i == 0 ? "ip" : "ip6",
                                 net_address_format(addresses[i], address, sizeof(address)));
    }
}

/*
 * Frames for the tester's MAC, and what goes to many that it must answer: ARP and neighbour discovery. The kernel may
 * have an address on the same interface and the same MAC, and its connection to the upper tester has many frames: the
 * filter in the kernel leaves them out, so that they take no room in the capture's ring.
 */
static int set_filter(struct link_net *net, const struct link_net_config *config, struct iwarp_sentence *error)
{
    const uint8_t *m = net->mac;
    char filter[512], hosts[200];

    write_hosts(config, hosts, sizeof(hosts));
    (void)snprintf(
        filter, sizeof(filter),
        "(ether dst %02x:%02x:%02x:%02x:%02x:%02x%s%s%s) or (ether broadcast and arp) or (ether multicast and icmp6)",
        m[0], m[1], m[2], m[3], m[4], m[5], hosts[0] != '\0' ? " and (arp or icmp6" : "", hosts,
        hosts[0] != '\0' ? ")" : "");
    return link_capture_filter(net->in, net->interface, filter, error);
}

/*
 * Whether frames longer than the MTU may come: the interface joins them, or has them joined. libpcap then gives every
 * frame of its ring 64 KiB, however short it is.
 */
static bool joins_frames(const char *interface)
{
    static const uint32_t questions[] = {ETHTOOL_GTSO, ETHTOOL_GGSO, ETHTOOL_GGRO, ETHTOOL_GFLAGS};
    int handle = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool joins = false;

    for (size_t i = 0; handle >= 0 && i < sizeof(questions) / sizeof(questions[0]); i++) {
        struct ethtool_value value = {.cmd = questions[i]};
        struct ifreq request = {0};

        (void)snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
        request.ifr_data = (void *)&value;
        if (ioctl(handle, SIOCETHTOOL, &request) == 0)
            joins |= questions[i] == ETHTOOL_GFLAGS ? (value.data & ETH_FLAG_LRO) != 0 : value.data != 0;
    }
    if (handle >= 0)
        (void)close(handle);
    return joins;
}

static int open_capture(struct link_net *net, const struct link_net_config *config, struct iwarp_sentence *error)
{
    struct link_capture_settings settings = {
        .snap_octets = SNAP_LENGTH, .buffer_octets = joins_frames(net->interface) ? MERGED_BUFFER : CAPTURE_BUFFER};

    net->in = link_capture_open(net->interface, &settings, &net->nanoseconds_per_tick, error);
    if (net->in == NULL)
        return -1;
    if (pcap_setdirection(net->in, PCAP_D_IN) != 0)
        return iwarp_sentence_set(error, "%s: cannot capture inbound frames alone: %s", net->interface,
                                  pcap_geterr(net->in));
    net->in_file = pcap_get_selectable_fd(net->in);
    if (net->in_file < 0)
        return iwarp_sentence_set(error, "%s: libpcap has no file descriptor to wait on", net->interface);
    return set_filter(net, config, error);
}

/* Both addresses, or what another tester has already. */
static int claim_addresses(struct link_net *net, const struct link_net_config *config, struct iwarp_sentence *error)
{
    const struct net_address *addresses[2] = {&config->ipv4, &config->ipv6};

    for (int i = 0; i < 2; i++) {
        struct iwarp_sentence why = {""};

        net->claims[i] = address_claim(net->interface, addresses[i], &why);
        if (why.text[0] != '\0')
            return iwarp_sentence_set(error, "%s", why.text);
    }
    return 0;
}

struct link *link_net_open(const struct link_net_config *config, struct iwarp_sentence *error)
{
    struct link_net *net = calloc(1, sizeof(*net));

    if (net == NULL) {
        iwarp_sentence_set(error, "link: out of memory");
        return NULL;
    }
    net->link.ops = &link_net_ops;
    net->claims[0] = net->claims[1] = -1;
    net->clock_offset = read_clock(CLOCK_REALTIME) - read_clock(CLOCK_MONOTONIC);
    if (check_interface(net, config, error) != 0 || claim_addresses(net, config, error) != 0 ||
        open_injection(net, error) != 0 || open_capture(net, config, error) != 0) {
        link_net_close(&net->link);
        return NULL;
    }
    return &net->link;
}

const uint8_t *link_net_mac(const struct link *link)
{
    return ((const struct link_net *)link)->mac;
}

uint64_t link_net_dropped(struct link *link)
{
    struct pcap_stat counts;

    if (pcap_stats(link_net_of(link)->in, &counts) != 0)
        return 0;
    return (uint64_t)counts.ps_drop + counts.ps_ifdrop;
}

bool link_net_is_down(const struct link *link)
{
    struct ifreq request = {0};
    int handle = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool down;

    if (handle < 0)
        return false;
    (void)snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", ((const struct link_net *)link)->interface);
    down = ioctl(handle, SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_RUNNING) == 0;
    (void)close(handle);
    return down;
}
