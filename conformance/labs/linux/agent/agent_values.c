/* SPDX-License-Identifier: BSD-2-Clause */
/* Members of commands: numbers, flags, octets, and the options of listen and connect. */
#include <stdlib.h>
#include <string.h>

#include "conformance/labs/linux/agent/agent.h"

int agent_number(const json_t *command, const char *name, uint64_t *value, uint64_t most, struct agent_reply *reply)
{
    struct iwarp_sentence why;

    return upper_number(command, name, most, value, &why) == 0 ? 0 : agent_refuse(reply, "%s", why.text);
}

int agent_flag(const json_t *command, const char *name, bool *value, struct agent_reply *reply)
{
    struct iwarp_sentence why;

    return upper_flag(command, name, value, &why) == 0 ? 0 : agent_refuse(reply, "%s", why.text);
}

int agent_octets(const json_t *command, const char *name, uint8_t **octets, size_t *count, struct agent_reply *reply)
{
    struct iwarp_sentence why;

    return upper_octets(command, name, SIZE_MAX, octets, count, &why) == 0 ? 0 : agent_refuse(reply, "%s", why.text);
}

/* What the device does anyway may be asked for, nothing else. */
static int fixed_flag(const json_t *command, const char *name, bool does, struct agent_reply *reply)
{
    bool wanted = does;

    if (agent_flag(command, name, &wanted, reply) != 0)
        return -1;
    return wanted == does
               ? 0
               : agent_unsupported(reply, "the device cannot be told \"%s\": %s", name, wanted ? "true" : "false");
}

static int fixed_rtr(const struct agent_traits *traits, const json_t *command, struct agent_reply *reply)
{
    const unsigned does = (traits->rtr_send ? UPPER_RTR_SEND : 0U) | (traits->rtr_write ? UPPER_RTR_WRITE : 0U) |
                          (traits->rtr_read ? UPPER_RTR_READ : 0U);
    unsigned wanted = does;
    struct iwarp_sentence why;

    if (upper_rtr_kinds(command, &wanted, &why) != 0)
        return agent_refuse(reply, "%s", why.text);
    if (wanted == does)
        return 0;
    return agent_unsupported(reply, "the device's kinds of RTR messages cannot be chosen");
}

static int fixed_options(const struct agent *agent, const json_t *command, bool active, struct agent_reply *reply)
{
    static const char *const never[] = {"emss", "startup_ms", "linger_ms"};
    uint64_t rev = (uint64_t)agent->traits.rev;

    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
        if (json_object_get(command, never[i]) != NULL)
            return agent_unsupported(reply, "the device cannot be told \"%s\"", never[i]);
    if (agent_number(command, "rev", &rev, 2, reply) != 0)
        return -1;
    if (rev != (uint64_t)agent->traits.rev)
        return agent_unsupported(reply, "the device cannot be told Rev %d, it speaks Rev %d", (int)rev,
                                 agent->traits.rev);
    if (fixed_flag(command, "enhanced", agent->traits.enhanced, reply) != 0 ||
        fixed_flag(command, "markers", agent->traits.markers, reply) != 0 ||
        fixed_flag(command, "crc", agent->traits.crc, reply) != 0 ||
        fixed_flag(command, "hold_open", false, reply) != 0)
        return -1;
    if (active && fixed_flag(command, "p2p", agent->traits.p2p, reply) != 0)
        return -1;
    return fixed_rtr(&agent->traits, command, reply);
}

static int private_data(struct agent_config *config, const json_t *command, struct agent_reply *reply)
{
    uint8_t *octets;
    size_t count;

    if (agent_octets(command, "private_data", &octets, &count, reply) != 0)
        return -1;
    if (count > AGENT_PRIVATE_MAX) {
        free(octets);
        return agent_unsupported(reply, "rdma_cm takes at most %d octets of private data", AGENT_PRIVATE_MAX);
    }
    if (octets != NULL) {
        memcpy(config->private_data, octets, count);
        config->private_octets = (uint8_t)count;
    }
    free(octets);
    return 0;
}

static int small(const json_t *command, const char *name, unsigned *value, unsigned most, struct agent_reply *reply)
{
    uint64_t number = *value;

    if (agent_number(command, name, &number, UINT32_MAX, reply) != 0)
        return -1;
    if (number > most)
        return agent_unsupported(reply, "\"%s\" is %llu, the device goes to %u", name, (unsigned long long)number,
                                 most);
    *value = (unsigned)number;
    return 0;
}

int agent_config_read(const struct agent *agent, struct agent_config *config, const json_t *command, bool active,
                      struct agent_reply *reply)
{
    unsigned ird_most = (unsigned)agent->limits.max_qp_rd_atom, ord_most = (unsigned)agent->limits.max_qp_init_rd_atom;
    struct iwarp_sentence why;

    *config = (struct agent_config){.ird = 4, .ord = 4, .receives = 16, .receive_octets = 4096, .repost = true};
    if (fixed_options(agent, command, active, reply) != 0 || private_data(config, command, reply) != 0 ||
        small(command, "ird", &config->ird, ird_most < 255 ? ird_most : 255, reply) != 0 ||
        small(command, "ord", &config->ord, ord_most < 255 ? ord_most : 255, reply) != 0 ||
        small(command, "pd", &config->pd, AGENT_DOMAINS - 1, reply) != 0 ||
        small(command, "receives", &config->receives, AGENT_RECEIVE_DEPTH, reply) != 0 ||
        small(command, "receive_octets", &config->receive_octets, 1U << 30, reply) != 0 ||
        agent_flag(command, "repost", &config->repost, reply) != 0 ||
        agent_flag(command, "echo", &config->echo, reply) != 0)
        return -1;
    if (upper_word(command, "accept", upper_accept_words, &config->accept, &why) != 0)
        return agent_refuse(reply, "%s", why.text);
    return 0;
}
