/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command line of `iwarp-peer --cm` says, for the two files that read it and act on it. */
#ifndef REFERENCE_STACK_CMD_PEER_CM_LINE_H
#define REFERENCE_STACK_CMD_PEER_CM_LINE_H

#include "reference-stack/peer/cm_driver.h"

enum { CM_DEFECTS_MAX = 64, CM_SERVICES_MAX = 64, CM_DATA_MAX = 196 };

struct cm_command_line {
    const char *name;
    struct cm_driver_config driver;
    const char *connect;
    struct cm_place remote; /* what `connect` says */
    struct cm_listener service[CM_SERVICES_MAX];
    size_t services;
    enum cm_answer answer;
    struct cm_refusal refusal;
    uint8_t data[CM_DATA_MAX];
    size_t octets;
    bool once;
    const char *defects[CM_DEFECTS_MAX];
    size_t defect_count;
    int status; /* of the client's one connection */
};

/* Reads it. -1: go on, else an exit status. */
int cmd_peer_cm_options(struct cm_command_line *line, int argc, char **argv);

#endif
