/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/peer/cmd_peer_sctp.h"

#include <stdlib.h>
#include <string.h>

#include "reference-stack/program/complaint.h"
#include "reference-stack/transport/sctp_udp.h"
#include "wire/ddp_sctp.h"
#include "base/exit_status.h"

enum { MTU_LEAST = 600, PENDING_MOST = 65535, QUEUE_PAIRS_MOST = 65535 };

static int number(const char *name, unsigned long least, unsigned long most, unsigned long *value)
{
    char *end;

    *value = strtoul(optarg, &end, 10);
    if (optarg[0] < '0' || optarg[0] > '9' || *end != '\0' || *value < least || *value > most)
        return complain(EXIT_USAGE, "--%s %s: a number from %lu to %lu was expected", name, optarg, least, most);
    return -1;
}

/* One of two words. */
static int word(const char *name, const char *no, const char *yes, bool *is)
{
    *is = strcmp(optarg, yes) == 0;
    if (*is || strcmp(optarg, no) == 0)
        return -1;
    return complain(EXIT_USAGE, "--%s %s: %s or %s was expected", name, optarg, no, yes);
}

static int take(struct cmd_peer_sctp *sctp, int option)
{
    switch (option) {
    case OPTION_LLP: return word("llp", "tcp", "sctp", &sctp->on);
    case OPTION_SCTP_PROFILE: return word("sctp-profile", "rfc5043", "draft02", &sctp->draft);
    case OPTION_SCTP_STACK: return word("sctp-stack", "user", "kernel", &sctp->kernel);
    case OPTION_SCTP_STREAMS: return number("sctp-streams", 1, UINT16_MAX, &sctp->streams);
    case OPTION_SCTP_INDICATION:
        sctp->indicated = true;
        sctp->without = strcmp(optarg, "none") == 0;
        return sctp->without ? -1 : number("sctp-indication", 1, 2, &sctp->indication);
    case OPTION_SCTP_ANY: sctp->any = true; return -1;
    case OPTION_SCTP_PENDING: return number("sctp-pending", 1, PENDING_MOST, &sctp->pending);
    case OPTION_SCTP_MTU: return number("sctp-mtu", MTU_LEAST, SCTP_UDP_MTU_MAX, &sctp->mtu);
    case OPTION_UDP_PORT: sctp->udp_port_given = true; return number("udp-port", 0, UINT16_MAX, &sctp->udp_port);
    case OPTION_PEER_UDP_PORT: return number("peer-udp-port", 1, UINT16_MAX, &sctp->peer_udp_port);
    default: return number("queue-pairs", 1, QUEUE_PAIRS_MOST, &sctp->queue_pairs);
    }
}

int cmd_peer_sctp_option(struct cmd_peer_sctp *sctp, int option)
{
    static const struct option names[] = {CMD_PEER_SCTP_OPTIONS, {NULL, 0, NULL, 0}};

    for (const struct option *of = names; of->name != NULL && sctp->first == NULL; of++)
        if (of->val == option && option != OPTION_LLP)
            sctp->first = of->name;
    return take(sctp, option);
}

int cmd_peer_sctp_finish(const struct cmd_peer_sctp *sctp, struct driver_config *driver)
{
    struct iwarp_association_config *association = &driver->peer.association;

    if (!sctp->on)
        return sctp->first == NULL ? -1 : complain(EXIT_USAGE, "--%s is for --llp sctp", sctp->first);
    iwarp_association_config_default(association, sctp->draft ? IWARP_SCTP_DRAFT02 : IWARP_SCTP_RFC5043);
    association->any_indication = sctp->any;
    if (sctp->indicated) {
        association->indicate = !sctp->without;
        if (association->indicate)
            association->indication = (uint32_t)sctp->indication;
    }
    if (association->indication == DDP_SCTP_INDICATION_DDP_RDMA && !sctp->draft)
        return complain(EXIT_USAGE, "--sctp-indication 2 is for --sctp-profile draft02");
    if (sctp->streams != 0)
        association->streams = (uint16_t)sctp->streams;
    if (sctp->pending != 0)
        association->pending_max = (unsigned)sctp->pending;
    if (sctp->mtu != 0)
        association->mtu = sctp->mtu;
    if (sctp->kernel && sctp->udp_port_given)
        return complain(EXIT_USAGE, "--udp-port is for --sctp-stack user: the kernel's is sysctl net.sctp.udp_port");
    driver->sctp.on = true;
    driver->sctp.kernel = sctp->kernel;
    driver->sctp.udp_port = sctp->udp_port_given ? (uint16_t)sctp->udp_port : SCTP_UDP_PORT;
    driver->sctp.peer_udp_port = sctp->peer_udp_port != 0 ? (uint16_t)sctp->peer_udp_port
                                 : sctp->kernel           ? 0
                                                          : SCTP_UDP_PORT;
    return -1;
}
