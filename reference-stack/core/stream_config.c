/* SPDX-License-Identifier: BSD-2-Clause */
/* What a stream can be configured to be. */
#include <string.h>

#include "reference-stack/core/stream_internal.h"

#define SECOND UINT64_C(1000000000)

void stream_config_default(struct iwarp_stream_config *config, enum iwarp_role role)
{
    memset(config, 0, sizeof(*config));
    config->role = role;
    config->ird = config->ord = 4;
    config->rtr = IWARP_RTR_ALL;
    config->extensions = IWARP_EXTENSIONS_RFC7306;
    config->private_room = sizeof(config->private_data);
    config->startup_limit = 10 * SECOND;
    config->linger_limit = 5 * SECOND;
    config->accept = IWARP_ACCEPT;
}

int stream_config_check(const struct llp_ops *llp, const struct iwarp_device *device,
                        const struct iwarp_stream_config *config, struct iwarp_sentence *sentence)
{
    if (config->role != IWARP_RESPONDER && config->role != IWARP_INITIATOR)
        return iwarp_sentence_set(sentence, "stream: role %d is not known", (int)config->role);
    if (config->accept != IWARP_ACCEPT && config->accept != IWARP_ACCEPT_ASK && config->accept != IWARP_ACCEPT_NOT)
        return iwarp_sentence_set(sentence, "stream: accept %d is not known", (int)config->accept);
    if (config->extensions != IWARP_EXTENSIONS_OFF && config->extensions != IWARP_EXTENSIONS_DRAFT03 &&
        config->extensions != IWARP_EXTENSIONS_RFC7306)
        return iwarp_sentence_set(sentence, "stream: extensions %d are not known", (int)config->extensions);
    if ((config->rtr & ~(unsigned)IWARP_RTR_ALL) != 0)
        return iwarp_sentence_set(sentence, "stream: RTR messages 0x%x are not known", config->rtr);
    if (config->ird > DEPTH_NOT_NEGOTIATED || config->ord > DEPTH_NOT_NEGOTIATED)
        return iwarp_sentence_set(sentence, "stream: IRD %u and ORD %u, 14 bits each were expected", config->ird,
                                  config->ord);
    if ((config->ird != DEPTH_NOT_NEGOTIATED && config->ird > device->config.ird_max) ||
        (config->ord != DEPTH_NOT_NEGOTIATED && config->ord > device->config.ord_max))
        return iwarp_sentence_set(sentence, "stream: IRD %u and ORD %u, the device has %u and %u", config->ird,
                                  config->ord, device->config.ird_max, device->config.ord_max);
    return llp->check(config, sentence);
}
