/* SPDX-License-Identifier: BSD-2-Clause */
/* What `iwarp-peer --llp sctp` adds to the command line. */
#ifndef REFERENCE_STACK_CMD_PEER_SCTP_H
#define REFERENCE_STACK_CMD_PEER_SCTP_H

#include <getopt.h>
#include <stdbool.h>

#include "reference-stack/peer/driver_tcp.h"

enum cmd_peer_sctp_code {
    OPTION_LLP = 512,
    OPTION_SCTP_PROFILE,
    OPTION_SCTP_STACK,
    OPTION_SCTP_STREAMS,
    OPTION_SCTP_INDICATION,
    OPTION_SCTP_ANY,
    OPTION_SCTP_PENDING,
    OPTION_SCTP_MTU,
    OPTION_UDP_PORT,
    OPTION_PEER_UDP_PORT,
    OPTION_QUEUE_PAIRS,
    OPTION_SCTP_END,
};

/* Rows of the table of long options. */
#define CMD_PEER_SCTP_OPTIONS                                                                                          \
    {"llp", required_argument, NULL, OPTION_LLP}, {"sctp-profile", required_argument, NULL, OPTION_SCTP_PROFILE},      \
        {"sctp-stack", required_argument, NULL, OPTION_SCTP_STACK},                                                    \
        {"sctp-streams", required_argument, NULL, OPTION_SCTP_STREAMS},                                                \
        {"sctp-indication", required_argument, NULL, OPTION_SCTP_INDICATION},                                          \
        {"sctp-any", no_argument, NULL, OPTION_SCTP_ANY},                                                              \
        {"sctp-pending", required_argument, NULL, OPTION_SCTP_PENDING},                                                \
        {"sctp-mtu", required_argument, NULL, OPTION_SCTP_MTU},                                                        \
        {"udp-port", required_argument, NULL, OPTION_UDP_PORT},                                                        \
        {"peer-udp-port", required_argument, NULL, OPTION_PEER_UDP_PORT},                                              \
    {                                                                                                                  \
        "queue-pairs", required_argument, NULL, OPTION_QUEUE_PAIRS                                                     \
    }

/* What was said of it, zeroed to begin with. */
struct cmd_peer_sctp {
    bool on;
    const char *first; /* an option that is for SCTP alone; NULL: none was given */
    bool draft, kernel, any, indicated, without, udp_port_given;
    unsigned long indication, streams, pending, mtu, udp_port, peer_udp_port, queue_pairs;
};

/* Reads optarg. Returns -1 to go on, else an exit status. */
int cmd_peer_sctp_option(struct cmd_peer_sctp *sctp, int option);

/*
 * After the last option: is it consistent? Fills the driver's configuration. Returns -1 to go on, else an exit status.
 */
int cmd_peer_sctp_finish(const struct cmd_peer_sctp *sctp, struct driver_config *driver);

#endif
