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

void ip_cm_put_address(uint8_t out[16], unsigned family, const uint8_t *address)
{
    memset(out, 0, 16);
    if (family == 4)
        memcpy(out + 12, address, 4);
    else
        memcpy(out, address, 16);
}
