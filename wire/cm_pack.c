/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/cm_pack.h"

#include <string.h>

void cm_begin(uint8_t mad[MAD_OCTETS], enum cm_attribute attribute, uint64_t transaction)
{
    memset(mad, 0, MAD_OCTETS);
    mad_set_BaseVersion(mad, MAD_BASE_VERSION);
    mad_set_MgmtClass(mad, MAD_CLASS_CM);
    mad_set_ClassVersion(mad, MAD_CM_VERSION);
    mad_set_Method(mad, MAD_METHOD_SEND);
    mad_set_TransactionID(mad, transaction);
    mad_set_AttributeID(mad, attribute);
}

void cm_begin_answer(uint8_t mad[MAD_OCTETS], enum cm_attribute attribute, uint64_t transaction, uint32_t local_id,
                     uint32_t remote_id)
{
    cm_begin(mad, attribute, transaction);
    cm_ids_set_LocalID(mad + MAD_HEADER_OCTETS, local_id);
    cm_ids_set_RemoteID(mad + MAD_HEADER_OCTETS, remote_id);
}

uint8_t *cm_private(uint8_t mad[MAD_OCTETS])
{
    return mad + MAD_HEADER_OCTETS + cm_attribute_row((uint16_t)mad_get_AttributeID(mad))->private_at;
}

void ip_cm_set_address(uint8_t out[16], unsigned family, const uint8_t *address)
{
    memset(out, 0, 16);
    if (family == 4)
        memcpy(out + 12, address, 4);
    else
        memcpy(out, address, 16);
}

void roce_set_gid(uint8_t gid[16], unsigned family, const uint8_t *address)
{
    enum { MAPPED_AT = 10 };

    ip_cm_set_address(gid, family, address);
    if (family == 4)
        gid[MAPPED_AT] = gid[MAPPED_AT + 1] = 0xFF;
}

void cm_req_set_path(uint8_t mad[MAD_OCTETS], unsigned family, const uint8_t *from, const uint8_t *to)
{
    enum { HOPS = 64, RATE_10_GB = 3, ACK_TIMEOUT = 18 };
    uint8_t *body = mad + MAD_HEADER_OCTETS;

    cm_req_set_PrimaryLocalLID(body, LID_PERMISSIVE);
    cm_req_set_PrimaryRemoteLID(body, LID_PERMISSIVE);
    roce_set_gid(body + (cm_req_at_PrimaryLocalGID(body) - body), family, from);
    roce_set_gid(body + (cm_req_at_PrimaryRemoteGID(body) - body), family, to);
    cm_req_set_PrimaryRate(body, RATE_10_GB);
    cm_req_set_PrimaryHopLimit(body, HOPS);
    cm_req_set_PrimaryACKTimeout(body, ACK_TIMEOUT);
}
