/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command line of `iwarp-peer --cm` says, for the two files that read it and act on it. */
#ifndef REFERENCE_STACK_CMD_PEER_CM_LINE_H
#define REFERENCE_STACK_CMD_PEER_CM_LINE_H

#include "reference-stack/peer/cm_driver.h"
#include "reference-stack/program/option_table.h"

enum { CM_DEFECTS_MAX = 64, CM_SERVICES_MAX = 64, CM_DATA_MAX = 196 };

struct cm_command_line {
    struct cm_driver_config driver;
    const char *connect;
    struct cm_place remote; /* what `connect` says */
    struct cm_listener service[CM_SERVICES_MAX];
    size_t services;
    enum cm_answer answer;
    struct cm_refusal refusal;
    uint8_t data[CM_DATA_MAX];
    size_t octets;
    bool cm, once, help, list_defects;
    bool without, unchecked; /* of the service; of addresses */
    uint64_t port, retries, timeout, requests;
    const char *defects[CM_DEFECTS_MAX];
    size_t defect_count;
    int status; /* of the client's one connection */
};

/* The options that --cm alone takes, and what the help says after them. */
extern const struct option_table cmd_peer_cm_table;

/* Reads it. 0, or -1 with a sentence. */
int cmd_peer_cm_options(struct cm_command_line *line, int argc, char **argv, struct iwarp_sentence *error);

#endif
