/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/nvme.h"

WIRE_LITTLE_DEFINE(nvme_command, NVME_COMMAND_FIELDS, "NVMe command capsule", "NVMe-oF 7.3", NVME_COMMAND_OCTETS);
WIRE_LITTLE_DEFINE(nvme_response, NVME_RESPONSE_FIELDS, "NVMe response capsule", "NVMe-oF 7.3", NVME_RESPONSE_OCTETS);
WIRE_LITTLE_DEFINE(nvme_host_private, NVME_HOST_PRIVATE_FIELDS, "NVMe over RDMA's Private Data of a host",
                   "NVMe-oF 7.3", NVME_PRIVATE_OCTETS);
WIRE_LITTLE_DEFINE(nvme_controller_private, NVME_CONTROLLER_PRIVATE_FIELDS,
                   "NVMe over RDMA's Private Data of a controller", "NVMe-oF 7.3", NVME_PRIVATE_OCTETS);

static uint64_t little(const uint8_t *octets, unsigned count)
{
    return wire_little_get(octets, 0, count * 8);
}

static bool is_zero(const uint8_t *octets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (octets[i] != 0)
            return false;
    return true;
}

static bool is_zero_from(const uint8_t *p, const uint8_t *end)
{
    return is_zero(p, (size_t)(end - p));
}

bool nvme_private_read(const uint8_t *octets, size_t count, struct nvme_private *said)
{
    if (count != NVME_PRIVATE_OCTETS || nvme_host_private_get_RECFMT(octets) != 0 ||
        !is_zero_from(nvme_host_private_at_Reserved(octets), octets + count))
        return false;
    *said = (struct nvme_private){.qid = (uint16_t)nvme_host_private_get_QID(octets),
                                  .hrqsize = (uint16_t)nvme_host_private_get_HRQSIZE(octets),
                                  .hsqsize = (uint16_t)nvme_host_private_get_HSQSIZE(octets)};
    return said->hrqsize != 0 && said->hsqsize != 0;
}

bool nvme_controller_private_read(const uint8_t *octets, size_t count, uint16_t *crqsize)
{
    if (count != NVME_PRIVATE_OCTETS || nvme_controller_private_get_RECFMT(octets) != 0 ||
        !is_zero_from(nvme_controller_private_at_Reserved(octets), octets + count))
        return false;
    *crqsize = (uint16_t)nvme_controller_private_get_CRQSIZE(octets);
    return *crqsize != 0;
}

void nvme_descriptor_read(const uint8_t *octets, struct nvme_descriptor *descriptor)
{
    *descriptor = (struct nvme_descriptor){.address = little(octets, 8),
                                           .length = (uint32_t)little(octets + 8, 3),
                                           .key = (uint32_t)little(octets + 11, 4),
                                           .type = octets[15] >> 4,
                                           .subtype = octets[15] & 0xF};
}

/* Where neither bit is set the command has no data; a descriptor of one that has some all the same is for both. */
static unsigned moves(const uint8_t *command)
{
    unsigned bits = (command[0] == NVME_FABRICS ? command[4] : command[0]) & 3;

    return bits != 0 ? bits : 3;
}

bool nvme_moves_in(const uint8_t *command)
{
    return (moves(command) & 1) != 0;
}

bool nvme_moves_out(const uint8_t *command)
{
    return (moves(command) & 2) != 0;
}

bool nvme_is_connect(const uint8_t *command, uint16_t qid)
{
    struct nvme_descriptor data;

    nvme_descriptor_read(command + NVME_DESCRIPTOR_AT, &data);
    return command[0] == NVME_FABRICS && command[1] == NVME_PSDT_SGL && command[4] == NVME_FABRICS_CONNECT &&
           is_zero(command + 5, NVME_DESCRIPTOR_AT - 5) && data.length == NVME_CONNECT_DATA &&
           (data.type == NVME_SGL_KEYED || (data.type == NVME_SGL_DATA && data.subtype == NVME_SGL_OFFSET)) &&
           is_zero(command + 40, 2) && little(command + 42, 2) == qid && nvme_connect_size(command) != 0;
}

uint16_t nvme_connect_size(const uint8_t *command)
{
    return (uint16_t)little(command + 44, 2);
}

uint8_t nvme_connect_attributes(const uint8_t *command)
{
    return command[46];
}
