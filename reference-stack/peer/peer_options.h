/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line of iwarp-peer: the one place that declares its options, but for those of --cm (cmd_peer_cm_line.h).
 */
#ifndef REFERENCE_STACK_PEER_OPTIONS_H
#define REFERENCE_STACK_PEER_OPTIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reference-stack/peer/driver_tcp.h"
#include "reference-stack/program/option_table.h"

enum { PEER_NAMES_MAX = 64 };

/* Help lines of the options that --cm takes, too. */
#define PEER_HELP_CONNECT "  --connect ADDRESS:PORT  opens one connection; [ADDRESS]:PORT for IPv6\n"
#define PEER_HELP_BIND    "  --bind ADDRESS          listens on this address only\n"
#define PEER_HELP_ONCE    "  --once                  exits when the last stream has ended\n"
#define PEER_HELP_DEFECT  "  --defect DEFECT         has this defect; repeat it for several; see --list-defects\n"
#define PEER_HELP_LIST_DEFECTS                                                                                         \
    "  --list-defects          prints the defects: id, requirement, hook, target, operation, value\n"
#define PEER_HELP_PRIVATE_DATA "  --private-data HEX      Private Data of the Request or Reply\n"
#define PEER_HELP_HELP         "  --help                  shows this text\n"

/* What becomes members of the command "listen" or "connect". Texts: NULL, numbers: UINT64_MAX if they are not given. */
struct peer_stream_options {
    bool plain, rev0, smbd, markers, no_crc, p2p, echo;
    const char *streaming, *rtr, *private_data, *accept;
    uint64_t rev, streaming_octets, ird, ord, receives, receive_octets, emss;
};

/* What --llp sctp reads. 0: not given. */
struct peer_sctp_options {
    const char *first; /* an option that is for SCTP alone; NULL: none was given */
    bool draft, kernel, any, indicated;
    uint64_t indication, streams, pending, mtu, peer_udp_port, queue_pairs;
    uint64_t udp_port; /* UINT64_MAX: not given */
};

/* Strings belong to argv. */
struct peer_options {
    bool list_defects, list_variants, help;
    const char *connect, *control, *token, *bind, *choices;
    bool ipv6, once, over_sctp;
    uint64_t listen; /* UINT64_MAX: not given */
    uint64_t connections_max, controls_max, unread_max, seed, memory_mib;
    const char *defects[PEER_NAMES_MAX];
    size_t defect_count;
    const char *variants[PEER_NAMES_MAX];
    size_t variant_count;
    struct peer_stream_options stream;
    struct peer_sctp_options sctp;
};

/* Reads it. 0, or -1 with a sentence. */
int peer_options_parse(struct peer_options *options, int argc, char **argv, struct iwarp_sentence *error);

/* The members of a command; NULL when memory is short. */
json_t *peer_options_members(const struct peer_stream_options *stream);

/* Fills in the driver's part of SCTP. 0, or -1 with a sentence: the options contradict one another. */
int peer_options_sctp(const struct peer_options *options, struct driver_config *driver, struct iwarp_sentence *error);

/*
 * Reads the arguments by the rows of `tables`. `first` receives the first option of the last table; NULL: not needed.
 * 0, or -1 with a sentence.
 */
int peer_options_read(const struct option_table *const *tables, size_t count, void *options, const char **first,
                      int argc, char **argv, struct iwarp_sentence *error);

/* Prints the help text of a program of this name, that of --cm included. Returns the exit status. */
int peer_options_print(const char *program);

#endif
