/* SPDX-License-Identifier: BSD-2-Clause */
/* How far the first octets of a ULPDU are those of DDP and RDMAP (RFC 5041 4, RFC 5040 4.1). */
#include "conformance/flow/ddp/flow_ddp.h"

unsigned flow_header_faults(const uint8_t *ulpdu, size_t have, size_t length, unsigned revision)
{
    const struct rdmap_opcode_row *row;
    unsigned version = revision == MPA_REV_RDMAC ? 0 : DDP_VERSION; /* RFC 5044 C.1 */
    unsigned faults = 0;
    bool tagged;

    if (have < 2) /* zeros are such a ULPDU, too */
        return length < 2 ? 2 : length < DDP_TAGGED_OCTETS || length > ULPDU_LENGTH_MAX;
    if (length < DDP_TAGGED_OCTETS)
        return 2; /* no header: what is there of it shows nothing */
    tagged = (ulpdu[0] & 0x80) != 0;
    row = &rdmap_opcode_rows[ulpdu[1] & 0x0F];
    faults += (!tagged && length < DDP_UNTAGGED_OCTETS) || length > ULPDU_LENGTH_MAX;
    faults += (ulpdu[0] & 0x3C) != 0;
    faults += (ulpdu[0] & 3) != version;
    faults += ulpdu[1] >> 6 != version;
    faults += (ulpdu[1] & 0x30) != 0;
    if (row->name == NULL)
        return faults + 1;
    if (row->tagged != tagged)
        return faults + 1;
    return faults + (!tagged && have >= DDP_UNTAGGED_OCTETS && octets_get32(ulpdu + 6) != row->qn);
}

unsigned flow_header_faults_at(const uint8_t *octets, size_t count, unsigned revision)
{
    if (count < FPDU_LENGTH_OCTETS + 2)
        return 0;
    count -= FPDU_LENGTH_OCTETS;
    if (count > octets_get16(octets))
        count = octets_get16(octets);
    return flow_header_faults(octets + FPDU_LENGTH_OCTETS, count, octets_get16(octets), revision);
}

bool flow_header_plausible(const uint8_t *ulpdu, size_t have, size_t length, unsigned revision)
{
    const struct rdmap_opcode_row *row;
    unsigned ddp, rdmap;
    bool tagged;

    if (length < DDP_TAGGED_OCTETS || have < 2)
        return false;
    ddp = ulpdu[0];
    rdmap = ulpdu[1];
    row = &rdmap_opcode_rows[rdmap & 0xF];
    tagged = (ddp & 0x80) != 0;
    /* Rsvd and Rsv zero; DV and RV 1, 0 with MPA revision 0 (RFC 5040 4.1, RFC 5041 4.1) */
    if (revision == MPA_REV_RDMAC ? (ddp & 0x3E) != 0 || (rdmap & 0xB0) != 0
                                  : (ddp & 0x3F) != 1 || (rdmap & 0xF0) != 0x40)
        return false;
    if (row->name == NULL || row->tagged != tagged)
        return false;
    if (tagged)
        return true;
    if (length < DDP_UNTAGGED_OCTETS + (size_t)row->header_octets)
        return false;
    return have < DDP_UNTAGGED_OCTETS || octets_get32(ulpdu + 6) == row->qn;
}
