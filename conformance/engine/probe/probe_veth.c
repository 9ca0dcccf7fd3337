/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "conformance/engine/probe/probe_veth.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { STATISTICS_MAX = 4096 };

static int ask(int handle, const char *interface, void *what)
{
    struct ifreq request = {.ifr_data = what};

    (void)snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
    return ioctl(handle, SIOCETHTOOL, &request);
}

/* The statistic "peer_ifindex", which veth has and no other driver; 0: none. */
static unsigned peer_index(int handle, const char *interface)
{
    struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO};
    struct ethtool_gstrings *names = NULL;
    struct ethtool_stats *values = NULL;
    unsigned found = 0;

    if (ask(handle, interface, &driver) != 0 || strcmp(driver.driver, "veth") != 0 || driver.n_stats > STATISTICS_MAX)
        return 0;
    names = calloc(1, sizeof(*names) + (size_t)driver.n_stats * ETH_GSTRING_LEN);
    values = calloc(1, sizeof(*values) + (size_t)driver.n_stats * sizeof(uint64_t));
    if (names != NULL && values != NULL) {
        *names = (struct ethtool_gstrings){.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS, .len = driver.n_stats};
        *values = (struct ethtool_stats){.cmd = ETHTOOL_GSTATS, .n_stats = driver.n_stats};
        if (ask(handle, interface, names) == 0 && ask(handle, interface, values) == 0)
            for (unsigned i = 0; i < driver.n_stats && found == 0; i++)
                if (strcmp((const char *)names->data + (size_t)i * ETH_GSTRING_LEN, "peer_ifindex") == 0)
                    found = (unsigned)values->data[i];
    }
    free(names);
    free(values);
    return found;
}

/* An index is one of that end's namespace: it is ours if its other end is this interface. */
bool probe_veth_peer(const char *interface, char peer[IF_NAMESIZE])
{
    int handle = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    unsigned index;
    bool found;

    if (handle < 0)
        return false;
    index = peer_index(handle, interface);
    found = index != 0 && if_indextoname(index, peer) != NULL && peer_index(handle, peer) == if_nametoindex(interface);
    (void)close(handle);
    return found;
}
