/* SPDX-License-Identifier: BSD-2-Clause */
/* Members of commands: numbers, flags, octets, and the options of listen and connect. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/labs/linux/agent/agent.h"

int agent_number(const json_t *command, const char *name, uint64_t *value, uint64_t most, struct agent_reply *reply)
{
    const json_t *member = json_object_get(command, name);
    uint64_t number;

    if (member == NULL || json_is_null(member))
        return 0;
    if (json_is_integer(member)) {
        number = (uint64_t)json_integer_value(member);
    } else if (json_is_string(member) && json_string_length(member) > 0) {
        char *end;

        errno = 0;
        number = strtoull(json_string_value(member), &end, 0);
        if (*end != '\0' || errno != 0)
            return agent_refuse(reply, "\"%s\" is no number", name);
    } else {
        return agent_refuse(reply, "\"%s\" is no number", name);
    }
    if (number > most)
        return agent_refuse(reply, "\"%s\" is too large, at most %llu was expected", name, (unsigned long long)most);
    *value = number;
    return 0;
}

int agent_flag(const json_t *command, const char *name, bool *value, struct agent_reply *reply)
{
    const json_t *member = json_object_get(command, name);

    if (member == NULL || json_is_null(member))
        return 0;
    if (!json_is_boolean(member))
        return agent_refuse(reply, "\"%s\" is neither true nor false", name);
    *value = json_is_true(member);
    return 0;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int agent_octets(const json_t *command, const char *name, uint8_t **octets, size_t *count, struct agent_reply *reply)
{
    const json_t *member = json_object_get(command, name);
    const char *text = json_string_value(member);
    size_t length;

    *octets = NULL;
    *count = 0;
    if (member == NULL || json_is_null(member))
        return 0;
    length = json_string_length(member);
    if (text == NULL || length % 2 != 0)
        return agent_refuse(reply, "\"%s\": pairs of hex digits were expected", name);
    *octets = malloc(length / 2 + 1);
    if (*octets == NULL)
        return agent_refuse(reply, "out of memory");
    for (size_t i = 0; i < length / 2; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);

        if (high < 0 || low < 0) {
            free(*octets);
            *octets = NULL;
            return agent_refuse(reply, "\"%s\": pairs of hex digits were expected", name);
        }
        (*octets)[i] = (uint8_t)(high << 4 | low);
    }
    *count = length / 2;
    return 0;
}

json_t *agent_hex(const uint8_t *octets, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    char *text = malloc(2 * count + 1);
    json_t *json;

    if (text == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        text[2 * i] = digits[octets[i] >> 4];
        text[2 * i + 1] = digits[octets[i] & 15];
    }
    json = json_stringn(text, 2 * count);
    free(text);
    return json;
}

void agent_pattern(uint8_t *octets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        octets[i] = (uint8_t)(i % 251);
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
    const json_t *list = json_object_get(command, "rtr"), *kind;
    bool wants_send = false, wants_write = false, wants_read = false;
    size_t i;

    if (list == NULL)
        return 0;
    json_array_foreach(list, i, kind)
    {
        const char *name = json_is_string(kind) ? json_string_value(kind) : "";

        wants_send = wants_send || strcmp(name, "send") == 0;
        wants_write = wants_write || strcmp(name, "write") == 0;
        wants_read = wants_read || strcmp(name, "read") == 0;
    }
    if (wants_send == traits->rtr_send && wants_write == traits->rtr_write && wants_read == traits->rtr_read)
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
    const char *accept = json_string_value(json_object_get(command, "accept"));
    unsigned ird_most = (unsigned)agent->limits.max_qp_rd_atom, ord_most = (unsigned)agent->limits.max_qp_init_rd_atom;

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
    if (accept == NULL || strcmp(accept, "auto") == 0)
        config->accept = ACCEPT_AUTO;
    else if (strcmp(accept, "manual") == 0)
        config->accept = ACCEPT_MANUAL;
    else if (strcmp(accept, "reject") == 0)
        config->accept = ACCEPT_REJECT;
    else
        return agent_refuse(reply, "\"accept\" is \"auto\", \"manual\" or \"reject\"");
    return 0;
}
