/* SPDX-License-Identifier: BSD-2-Clause */
/* What the device's faults and variants ask of the transport below it. */
#include "reference-stack/peer/peer.h"

#include <string.h>

#include "reference-stack/defects/defect.h"

void peer_tcp(const struct peer_config *config, struct tcp_settings *settings)
{
    memset(settings, 0, sizeof(*settings));
    if (config != NULL)
        PEER_HOOK(config, hook_tcp(config->defects, settings));
}

void peer_sctp(struct peer_config *config, struct sctp_settings *settings)
{
    memset(settings, 0, sizeof(*settings));
    PEER_HOOK(config, hook_sctp_config(config->defects, &config->association, settings));
}

size_t peer_sctp_leaving(const struct peer_config *config, uint8_t *packet, size_t octets, size_t room)
{
    return PEER_HOOK_VALUE(config, octets, hook_sctp_leaving(config->defects, packet, octets, room));
}
