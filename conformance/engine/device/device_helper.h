/* SPDX-License-Identifier: BSD-2-Clause */
/* The helper process of device_command.h: what it is asked, and what it does. */
#ifndef CONFORMANCE_ENGINE_DEVICE_HELPER_H
#define CONFORMANCE_ENGINE_DEVICE_HELPER_H

#include "conformance/engine/device/device_command.h"

enum device_helper_verb { HELPER_START, HELPER_STOP, HELPER_STATE };

struct device_helper_request {
    enum device_helper_verb verb;
    enum device_command_which which;
    int patience_ms; /* HELPER_STATE */
    uint16_t port;   /* HELPER_START, as the rest */
    char address[64];
    char label[DEVICE_COMMAND_LABEL];
};

struct device_helper_answer {
    struct device_command_state state;
    struct iwarp_sentence error; /* "": none */
};

/* Answers requests that come on `socket` until its other end is closed, then ends all commands. Does not return. */
_Noreturn void device_helper_serve(int socket, const struct device_command_config *config);

#endif
