/* SPDX-License-Identifier: BSD-2-Clause */
/* What a stream can be configured to be. */
#include <string.h>

#include "reference-stack/core/stream_internal.h"

#define SECOND UINT64_C(1000000000)

void iwarp_stream_config_default(struct iwarp_stream_config *config, enum iwarp_role role)
{
    if (config == NULL)
        return;
    memset(config, 0, sizeof(*config));
    config->role = role;
    config->revision = MPA_REV_2;
    config->enhanced = true;
    config->crc = true;
    config->ird = config->ord = 4;
    config->rtr = IWARP_RTR_ALL;
    config->extensions = IWARP_EXTENSIONS_RFC7306;
    config->emss = STREAM_EMSS_DEFAULT;
    config->private_room = MPA_PRIVATE_DATA_MAX;
    config->startup_limit = 10 * SECOND;
    config->linger_limit = 5 * SECOND;
    config->accept = IWARP_ACCEPT;
}

int stream_config_check(const struct iwarp_device *device, const struct iwarp_stream_config *config,
                        struct sentence *sentence)
{
    bool word = config->enhanced && config->revision >= MPA_REV_2;
    size_t room = MPA_PRIVATE_DATA_MAX - (word ? MPA_ENHANCED_OCTETS : 0) - (config->smbd && !word ? SMBD_OCTETS : 0);

    if (config->role != IWARP_RESPONDER && config->role != IWARP_INITIATOR)
        return sentence_set(sentence, "stream: role %d is not known", (int)config->role);
    if (config->accept != IWARP_ACCEPT && config->accept != IWARP_ACCEPT_ASK && config->accept != IWARP_ACCEPT_NOT)
        return sentence_set(sentence, "stream: accept %d is not known", (int)config->accept);
    if (config->extensions != IWARP_EXTENSIONS_OFF && config->extensions != IWARP_EXTENSIONS_DRAFT03 &&
        config->extensions != IWARP_EXTENSIONS_RFC7306)
        return sentence_set(sentence, "stream: extensions %d are not known", (int)config->extensions);
    if ((config->rtr & ~(unsigned)IWARP_RTR_ALL) != 0)
        return sentence_set(sentence, "stream: RTR messages 0x%x are not known", config->rtr);
    if (config->revision != MPA_REV_1 && config->revision != MPA_REV_2)
        return sentence_set(sentence, "stream: revision %u is not known, 1 or 2 was expected", config->revision);
    if (config->private_octets > room)
        return sentence_set(sentence, "stream: %u octets of Private Data, at most %zu fit", config->private_octets,
                            room);
    if (config->ird > MPA_DEPTH_NOT_NEGOTIATED || config->ord > MPA_DEPTH_NOT_NEGOTIATED)
        return sentence_set(sentence, "stream: IRD %u and ORD %u, 14 bits each were expected", config->ird,
                            config->ord);
    if ((config->ird != MPA_DEPTH_NOT_NEGOTIATED && config->ird > device->config.ird_max) ||
        (config->ord != MPA_DEPTH_NOT_NEGOTIATED && config->ord > device->config.ord_max))
        return sentence_set(sentence, "stream: IRD %u and ORD %u, the device has %u and %u", config->ird, config->ord,
                            device->config.ird_max, device->config.ord_max);
    if (config->peer_to_peer && config->role == IWARP_INITIATOR && (!word || (config->rtr & IWARP_RTR_ALL) == 0))
        return sentence_set(sentence,
                            "stream: peer-to-peer needs an enhanced Rev 2 Request and at least one RTR message");
    return 0;
}
