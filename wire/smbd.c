/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/smbd.h"

#include "base/octets.h"

WIRE_LITTLE_DEFINE(smbd_request, SMBD_REQUEST_FIELDS, "SMB Direct Negotiate Request", "MS-SMBD 2.2.1",
                   SMBD_REQUEST_OCTETS);
WIRE_LITTLE_DEFINE(smbd_response, SMBD_RESPONSE_FIELDS, "SMB Direct Negotiate Response", "MS-SMBD 2.2.2",
                   SMBD_RESPONSE_OCTETS);
WIRE_LITTLE_DEFINE(smbd_data, SMBD_DATA_FIELDS, "SMB Direct Data Transfer", "MS-SMBD 2.2.3", SMBD_DATA_OCTETS);
WIRE_LITTLE_DEFINE(smbd_descriptor, SMBD_DESCRIPTOR_FIELDS, "SMB Direct Buffer Descriptor V1", "MS-SMBD 2.2.3.1",
                   SMBD_DESCRIPTOR_OCTETS);

/* They are not both zero. */
static bool are_depths(uint32_t ird, uint32_t ord)
{
    return ird <= SMBD_DEPTH_MAX && ord <= SMBD_DEPTH_MAX && (ird | ord) != 0;
}

bool smbd_depths_read(const uint8_t *octets, size_t count, struct smbd_depths *depths)
{
    uint32_t ird, ord;

    if (count != SMBD_DEPTHS_OCTETS)
        return false;
    ird = octets_get32(octets);
    ord = octets_get32(octets + 4);
    depths->little = !are_depths(ird, ord);
    if (depths->little) {
        ird = octets_get32_little(octets);
        ord = octets_get32_little(octets + 4);
    }
    depths->ird = (uint16_t)ird;
    depths->ord = (uint16_t)ord;
    return are_depths(ird, ord);
}

wire_result smbd_request_parse(const uint8_t **p, const uint8_t *end, struct smbd_negotiate *request)
{
    const uint8_t *header = *p;

    if (end - header < SMBD_REQUEST_OCTETS)
        return WIRE_MORE;
    *request = (struct smbd_negotiate){
        .min_version = (uint16_t)smbd_request_get_MinVersion(header),
        .max_version = (uint16_t)smbd_request_get_MaxVersion(header),
        .credits_requested = (uint16_t)smbd_request_get_CreditsRequested(header),
        .preferred_send = (uint32_t)smbd_request_get_PreferredSendSize(header),
        .max_receive = (uint32_t)smbd_request_get_MaxReceiveSize(header),
        .max_fragmented = (uint32_t)smbd_request_get_MaxFragmentedSize(header),
    };
    *p = header + SMBD_REQUEST_OCTETS;
    return WIRE_OK;
}

wire_result smbd_response_parse(const uint8_t **p, const uint8_t *end, struct smbd_negotiate *response)
{
    const uint8_t *header = *p;

    if (end - header < SMBD_RESPONSE_OCTETS)
        return WIRE_MORE;
    *response = (struct smbd_negotiate){
        .min_version = (uint16_t)smbd_response_get_MinVersion(header),
        .max_version = (uint16_t)smbd_response_get_MaxVersion(header),
        .negotiated_version = (uint16_t)smbd_response_get_NegotiatedVersion(header),
        .credits_requested = (uint16_t)smbd_response_get_CreditsRequested(header),
        .credits_granted = (uint16_t)smbd_response_get_CreditsGranted(header),
        .status = (uint32_t)smbd_response_get_Status(header),
        .max_read_write = (uint32_t)smbd_response_get_MaxReadWriteSize(header),
        .preferred_send = (uint32_t)smbd_response_get_PreferredSendSize(header),
        .max_receive = (uint32_t)smbd_response_get_MaxReceiveSize(header),
        .max_fragmented = (uint32_t)smbd_response_get_MaxFragmentedSize(header),
    };
    *p = header + SMBD_RESPONSE_OCTETS;
    return WIRE_OK;
}

wire_result smbd_data_parse(const uint8_t **p, const uint8_t *end, struct smbd_data *data)
{
    const uint8_t *header = *p;

    if (end - header < SMBD_DATA_OCTETS)
        return WIRE_MORE;
    *data = (struct smbd_data){
        .credits_requested = (uint16_t)smbd_data_get_CreditsRequested(header),
        .credits_granted = (uint16_t)smbd_data_get_CreditsGranted(header),
        .flags = (uint16_t)smbd_data_get_Flags(header),
        .remaining = (uint32_t)smbd_data_get_RemainingDataLength(header),
        .offset = (uint32_t)smbd_data_get_DataOffset(header),
        .length = (uint32_t)smbd_data_get_DataLength(header),
    };
    *p = header + SMBD_DATA_OCTETS;
    return WIRE_OK;
}
