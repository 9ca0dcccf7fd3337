/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/atomic.h"

const struct wire_name atomic_opcode_names[] = {{IWARP_ATOMIC_FETCH_ADD, "FetchAdd"},
                                                {IWARP_ATOMIC_SWAP, "Swap"},
                                                {IWARP_ATOMIC_COMPARE_SWAP, "CmpSwap"},
                                                {0, NULL}};

WIRE_LAYOUT_DEFINE(atomic_request, ATOMIC_REQUEST_FIELDS, "Atomic Request Header", "RFC 7306 5.2.1",
                   ATOMIC_REQUEST_OCTETS);
WIRE_LAYOUT_DEFINE(atomic_response, ATOMIC_RESPONSE_FIELDS, "Atomic Response Header", "RFC 7306 5.2.2",
                   ATOMIC_RESPONSE_OCTETS);
WIRE_LAYOUT_DEFINE(immediate, IMMEDIATE_FIELDS, "Immediate Data", "RFC 7306 6.3", IWARP_IMMEDIATE_OCTETS);

wire_result atomic_request_parse(const uint8_t **p, const uint8_t *end, struct atomic_request *request)
{
    const uint8_t *header = *p;

    if (end - header < ATOMIC_REQUEST_OCTETS)
        return WIRE_MORE;
    request->reserved = (uint32_t)atomic_request_get_Reserved(header);
    request->opcode = (uint8_t)atomic_request_get_AOpCode(header);
    request->id = (uint32_t)atomic_request_get_RequestId(header);
    request->stag = (uint32_t)atomic_request_get_STag(header);
    request->to = atomic_request_get_TO(header);
    request->data = atomic_request_get_Data(header);
    request->mask = atomic_request_get_Mask(header);
    request->compare_data = atomic_request_get_CompareData(header);
    request->compare_mask = atomic_request_get_CompareMask(header);
    *p = header + ATOMIC_REQUEST_OCTETS;
    return WIRE_OK;
}

wire_result atomic_response_parse(const uint8_t **p, const uint8_t *end, struct atomic_response *response)
{
    const uint8_t *header = *p;

    if (end - header < ATOMIC_RESPONSE_OCTETS)
        return WIRE_MORE;
    response->id = (uint32_t)atomic_response_get_RequestId(header);
    response->value = atomic_response_get_Value(header);
    *p = header + ATOMIC_RESPONSE_OCTETS;
    return WIRE_OK;
}

void atomic_request_pack(const struct atomic_request *request, uint8_t *out)
{
    atomic_request_set_Reserved(out, request->reserved);
    atomic_request_set_AOpCode(out, request->opcode);
    atomic_request_set_RequestId(out, request->id);
    atomic_request_set_STag(out, request->stag);
    atomic_request_set_TO(out, request->to);
    atomic_request_set_Data(out, request->data);
    atomic_request_set_Mask(out, request->mask);
    atomic_request_set_CompareData(out, request->compare_data);
    atomic_request_set_CompareMask(out, request->compare_mask);
}

void atomic_response_pack(const struct atomic_response *response, uint8_t *out)
{
    atomic_response_set_RequestId(out, response->id);
    atomic_response_set_Value(out, response->value);
}
