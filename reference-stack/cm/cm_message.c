/* SPDX-License-Identifier: BSD-2-Clause */
/* What is sent: the queue of MADs, and the messages that more than one file sends. */
#include <string.h>

#include "reference-stack/cm/cm_internal.h"

static void queue(struct cm_agent *agent, const struct cm_place *to, const uint8_t mad[MAD_OCTETS])
{
    struct cm_output *output = agent->outputs.count < agent->config.outputs_max ? ring_push(&agent->outputs) : NULL;

    /* As a network loses it: both sides repeat what is not answered. */
    if (output == NULL) {
        agent->counts.lost_outputs++;
        return;
    }
    output->to = *to;
    memcpy(output->mad, mad, MAD_OCTETS);
}

void cm_send(struct cm_agent *agent, const struct cm_place *to, struct cm_exchange *exchange, uint8_t mad[MAD_OCTETS])
{
    if (CM_SEAM_IF(agent, send(agent, mad)))
        return;
    if (exchange != NULL)
        memcpy(exchange->last, mad, MAD_OCTETS);
    queue(agent, to, mad);
}

void cm_resend(struct cm_agent *agent, const struct cm_exchange *exchange)
{
    queue(agent, &exchange->peer.place, exchange->last);
}

/* --- REJ (IBTA 12.6.7, A11.7) ------------------------------------------------------------------------------------ */

static uint8_t *begin_rejection(uint8_t mad[MAD_OCTETS], const struct cm_rejected *rejected, uint16_t reason)
{
    uint8_t *body = mad + MAD_HEADER_OCTETS;

    cm_begin_answer(mad, CM_REJ, rejected->transaction, rejected->local_id, rejected->remote_id);
    cm_rej_set_Message(body, rejected->message);
    cm_rej_set_Reason(body, reason);
    return body;
}

void cm_send_reason(struct cm_agent *agent, const struct cm_rejected *rejected, uint16_t reason)
{
    uint8_t mad[MAD_OCTETS];

    (void)begin_rejection(mad, rejected, reason);
    cm_send(agent, rejected->to, rejected->exchange, mad);
}

void cm_send_refusal(struct cm_agent *agent, const struct cm_rejected *rejected, const struct cm_refusal *refusal)
{
    uint8_t mad[MAD_OCTETS];
    uint8_t *body = begin_rejection(mad, rejected, refusal->reason);
    uint8_t *ari = body + (cm_rej_at_ARI(body) - body);

    if (!refusal->without_ari && refusal->layer == IP_CM_LAYER_SERVICE) {
        ip_cm_ari_set_Code(ari, refusal->code);
        cm_rej_set_InfoLength(body, IP_CM_ARI_HEADER_OCTETS);
    } else if (!refusal->without_ari) {
        ip_cm_ari_set_Layer(ari, refusal->layer);
        memcpy(ari + 1, refusal->info, refusal->info_octets);
        cm_rej_set_InfoLength(body, 1U + refusal->info_octets);
    }
    memcpy(cm_private(mad), refusal->private_data, refusal->private_octets);
    cm_send(agent, rejected->to, rejected->exchange, mad);
}

/* The value that would have been good, into at most 68 octets: its octets, 0 for none. */
static size_t suggestion(const struct cm_agent_config *config, uint8_t code, const struct cm_message *request,
                         uint8_t *value)
{
    uint8_t family = (config->families & CM_FAMILY_4) != 0 ? 4 : 6;

    switch (code) {
    case IP_CM_ARI_MAJOR:
    case IP_CM_ARI_MINOR:
        value[0] = code == IP_CM_ARI_MAJOR ? config->major : config->minor;
        if (config->suggest_whole_octet)
            value[0] = (uint8_t)(config->major << 4 | config->minor);
        return 1;
    case IP_CM_ARI_IPV: value[0] = config->suggest_whole_octet ? (uint8_t)(family << 4) : family; return 1;
    case IP_CM_ARI_UNKNOWN:
        for (size_t i = 0; i < config->own_count; i++) {
            if (config->own[i].family != request->ip.ip_version)
                continue;
            ip_cm_set_address(value, config->own[i].family, config->own[i].octets);
            return 16;
        }
        return 0;
    default: return 0;
    }
}

void cm_send_verdict(struct cm_agent *agent, const struct cm_rejected *rejected, const struct cm_verdict *verdict,
                     const struct cm_message *request)
{
    const struct cm_agent_config *config = &agent->config;
    bool generic = verdict->entry->stage == CM_STAGE_SERVICE && config->generic_refusal;
    uint16_t reason = generic ? CM_REASON_CONSUMER : verdict->reason;
    uint8_t code = config->unspecified || generic ? IP_CM_ARI_UNSPECIFIED : verdict->code;
    uint8_t mad[MAD_OCTETS];
    uint8_t *body = begin_rejection(mad, rejected, reason);
    uint8_t *ari = body + (cm_rej_at_ARI(body) - body);
    size_t suggested;

    if (reason == CM_REASON_CONSUMER) {
        ip_cm_ari_set_Code(ari, code);
        suggested = config->suggest ? suggestion(config, code, request, ari + IP_CM_ARI_HEADER_OCTETS) : 0;
        ip_cm_ari_set_SuggestedLength(ari, suggested);
        cm_rej_set_InfoLength(body, config->info_length == CM_INFO_WHOLE  ? CM_ARI_OCTETS
                                    : config->info_length == CM_INFO_NONE ? 0
                                    : config->info_length == CM_INFO_SHORT && suggested == 0
                                        ? 2
                                        : IP_CM_ARI_HEADER_OCTETS + suggested);
        if (config->info_length == CM_INFO_NONE)
            memset(ari, 0, CM_ARI_OCTETS);
    }
    cm_send(agent, rejected->to, rejected->exchange, mad);
}

void cm_send_mra(struct cm_agent *agent, const struct cm_exchange *exchange, uint8_t service_timeout)
{
    uint8_t mad[MAD_OCTETS];
    uint8_t *body = mad + MAD_HEADER_OCTETS;

    cm_begin_answer(mad, CM_MRA, exchange->transaction, exchange->local_id, exchange->peer.id);
    cm_mra_set_Timeout(body, service_timeout);
    cm_send(agent, &exchange->peer.place, NULL, mad);
}
