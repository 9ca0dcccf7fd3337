/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "conformance/engine/ipsec/ipsec_network.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conformance/engine/ipsec/ipsec_program.h"

enum { IP_SECONDS = 20, LINE_OCTETS = 256, TABLE_OUT = 100, TABLE_IN = 101 };

/* `ip` with the words of a line, in this namespace (-1: the caller's). */
__attribute__((format(printf, 3, 4))) static int ip(int network, struct iwarp_sentence *error, const char *format, ...)
{
    struct ipsec_call call = {.words = {"ip"}, .network = network, .seconds = IP_SECONDS};
    char line[LINE_OCTETS], words[LINE_OCTETS], *rest = NULL;
    struct ipsec_said said;
    size_t count = 1;
    va_list arguments;
    int status;

    va_start(arguments, format);
    (void)vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    memcpy(words, line, sizeof(words));
    for (char *word = strtok_r(words, " ", &rest); word != NULL && count < IPSEC_ARGUMENTS_MOST - 1;
         word = strtok_r(NULL, " ", &rest))
        call.words[count++] = word;
    status = ipsec_program_run(&call, &said, error);
    if (status <= 0)
        return status;
    said.text[strcspn(said.text, "\n")] = '\0';
    return iwarp_sentence_set(error, "ip %.100s: %.200s", line, said.text);
}

/* One of the kernel's settings of IPv4 in this namespace. */
static int set(const char *name, const char *value, struct iwarp_sentence *error)
{
    char path[LINE_OCTETS];
    int file;
    bool good;

    (void)snprintf(path, sizeof(path), "/proc/sys/net/ipv4/%s", name);
    file = open(path, O_WRONLY | O_CLOEXEC);
    good = file >= 0 && write(file, value, strlen(value)) == (ssize_t)strlen(value);
    if (!good)
        (void)iwarp_sentence_set(error, "%s: %s", path, strerror(errno));
    if (file >= 0)
        close(file);
    return good ? 0 : -1;
}

static int lay_cables(const struct ipsec_network *network, int outside, struct iwarp_sentence *error)
{
    int own = (int)getpid();

    return ip(outside, error, "link add %s mtu %d type veth peer name " IPSEC_INNER " mtu %d netns %d", network->veth,
              IPSEC_MTU, IPSEC_MTU, own) != 0 ||
                   ip(outside, error, "link set %s addrgenmode none up", network->veth) != 0 ||
                   ip(outside, error, "link add link %s name " IPSEC_OUTER " netns %d type macvlan mode bridge",
                      network->interface, own) != 0
               ? -1
               : 0;
}

/* The host's own settings are inherited by a new namespace: nothing is left to them. */
static int settings(struct iwarp_sentence *error)
{
    static const char *const values[][2] = {
        {"conf/all/forwarding", "1"},
        {"conf/default/rp_filter", "0"},
        {"conf/all/rp_filter", "0"},
        {"conf/" IPSEC_INNER "/rp_filter", "0"},
        {"conf/" IPSEC_OUTER "/rp_filter", "0"},
        {"conf/" IPSEC_OUTER "/forwarding", "0"}, /* what came without ESP goes no further */
        {"conf/" IPSEC_INNER "/proxy_arp", "1"},  /* the lower tester asks for the device's address */
        {"neigh/" IPSEC_INNER "/proxy_delay", "0"},
        {"conf/" IPSEC_INNER "/accept_local", "1"}, /* the lower tester's address is also here: ipsec_network_join() */
        {"conf/" IPSEC_OUTER "/arp_ignore",
         "1"}, /* and the device does not learn that: it is not the address of `outer` */
        {"conf/all/send_redirects", "0"},
        {"conf/" IPSEC_INNER "/send_redirects", "0"},
    };

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        if (set(values[i][0], values[i][1], error) != 0)
            return -1;
    return 0;
}

/*
 * The lower tester's address is one of this namespace, too: kernel-libipsec takes no SA for addresses of others. What
 * comes for it out of ESP is forwarded all the same, as the rules for that come before the table of own addresses. What
 * comes for it without ESP, from a device that has no SA, is dropped, and gets no RST from the kernel.
 * charon's own packets follow the main table alone: its table of routes sends the device's address into ESP, which may
 * be the address of the device's IKE.
 */
static int add_rules(const struct ipsec_network *network, struct iwarp_sentence *error)
{
    char own[64];

    (void)net_address_format(&network->own, own, sizeof(own));
    return ip(-1, error, "rule add pref 1 iif " IPSEC_OUTER " to %s blackhole", own) != 0 ||
                   ip(-1, error, "rule add pref 1 iif " IPSEC_TUNNEL " lookup %d", TABLE_IN) != 0 ||
                   ip(-1, error, "rule add pref 2 iif " IPSEC_INNER " lookup %d", TABLE_OUT) != 0 ||
                   ip(-1, error, "rule add pref 3 lookup local") != 0 || ip(-1, error, "rule del pref 0") != 0 ||
                   ip(-1, error, "rule add pref 4 iif lo lookup main") != 0
               ? -1
               : 0;
}

static int add_addresses(const struct ipsec_network *network, struct iwarp_sentence *error)
{
    char address[64], own[64];

    (void)net_address_format(&network->address, address, sizeof(address));
    (void)net_address_format(&network->own, own, sizeof(own));
    return ip(-1, error, "link set lo up") != 0 || ip(-1, error, "link set " IPSEC_INNER " up") != 0 ||
                   ip(-1, error, "link set " IPSEC_OUTER " up") != 0 ||
                   ip(-1, error, "addr add %s/32 dev " IPSEC_OUTER, address) != 0 ||
                   ip(-1, error, "route add %s dev " IPSEC_INNER " table %d", own, TABLE_IN) != 0
               ? -1
               : 0;
}

static int add_routes(const struct ipsec_network *network, struct iwarp_sentence *error)
{
    char address[64], peer[64], gateway[64];

    (void)net_address_format(&network->address, address, sizeof(address));
    (void)net_address_format(&network->peer, peer, sizeof(peer));
    if (network->gateway.family == 0)
        return ip(-1, error, "route add %s dev " IPSEC_OUTER " src %s", peer, address);
    (void)net_address_format(&network->gateway, gateway, sizeof(gateway));
    return ip(-1, error, "route add %s dev " IPSEC_OUTER " src %s", gateway, address) != 0 ||
                   ip(-1, error, "route add %s via %s src %s", peer, gateway, address) != 0
               ? -1
               : 0;
}

int ipsec_network_enter(const struct ipsec_network *network, struct iwarp_sentence *error)
{
    int outside = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    int status;

    if (outside < 0 || unshare(CLONE_NEWNET) != 0) {
        (void)iwarp_sentence_set(error, "cannot make a network namespace for the tester's IPsec: %s", strerror(errno));
        if (outside >= 0)
            close(outside);
        return -1;
    }
    status = lay_cables(network, outside, error);
    close(outside);
    return status != 0 || settings(error) != 0 || add_rules(network, error) != 0 ||
                   add_addresses(network, error) != 0 || add_routes(network, error) != 0
               ? -1
               : 0;
}

bool ipsec_network_kernel_esp(struct iwarp_sentence *why)
{
    /* An SA of the transforms that RFC 7146 2.1 and 2.2 make mandatory, with keys of zeros, which no packet will use. */
    static const char sa[] = "src 192.0.2.1 dst 192.0.2.2 proto esp spi 0x100";
    struct iwarp_sentence ignored;

    if (ip(-1, why, "link add " IPSEC_TUNNEL " type xfrm dev " IPSEC_OUTER " if_id %d", IPSEC_INTERFACE_ID) != 0)
        return false;
    if (ip(-1, why, "link set " IPSEC_TUNNEL " mtu %d up", IPSEC_MTU) == 0 &&
        ip(-1, why, "xfrm state add %s mode tunnel auth-trunc hmac(sha1) 0x%040d 96 enc cbc(aes) 0x%032d", sa, 0, 0) ==
            0 &&
        ip(-1, why, "xfrm state delete %s", sa) == 0)
        return true;
    (void)ip(-1, &ignored, "link del " IPSEC_TUNNEL);
    return false;
}

int ipsec_network_join(const struct ipsec_network *network, struct iwarp_sentence *error)
{
    char device[64], own[64];

    (void)net_address_format(&network->own, own, sizeof(own));
    (void)net_address_format(&network->device, device, sizeof(device));
    return set("conf/" IPSEC_TUNNEL "/rp_filter", "0", error) != 0 ||
                   ip(-1, error, "addr add %s/32 dev " IPSEC_TUNNEL, own) != 0 ||
                   ip(-1, error, "route add %s dev " IPSEC_TUNNEL " table %d", device, TABLE_OUT) != 0
               ? -1
               : 0;
}
