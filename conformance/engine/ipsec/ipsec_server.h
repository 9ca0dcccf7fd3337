/* SPDX-License-Identifier: BSD-2-Clause */
/* The process of ipsec_tester.h: what it is asked, and what it does. */
#ifndef CONFORMANCE_ENGINE_IPSEC_SERVER_H
#define CONFORMANCE_ENGINE_IPSEC_SERVER_H

#include "conformance/engine/ipsec/ipsec_network.h"
#include "conformance/engine/ipsec/ipsec_offer.h"

enum { IPSEC_MESSAGE_OCTETS = 65536 };

struct ipsec_server_config {
    struct ipsec_network network;
    struct ipsec_ends ends;
};

/*
 * Sends one message, an answer with "base" and "kernel", or with "ok" false; then answers requests that come on
 * `socket` until its other end is closed. Does not return.
 */
_Noreturn void ipsec_server_serve(int socket, const struct ipsec_server_config *config);

#endif
