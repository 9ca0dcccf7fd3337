/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/field.h"

#include <string.h>

#include "wire/atomic.h"
#include "wire/cm.h"
#include "wire/ddp.h"
#include "wire/ddp_sctp.h"
#include "wire/fpdu.h"
#include "wire/infiniband.h"
#include "wire/iser.h"
#include "wire/marker.h"
#include "wire/mpa.h"
#include "wire/nvme.h"
#include "wire/port_mapper.h"
#include "wire/rdmap.h"
#include "wire/sctp.h"
#include "wire/rpcrdma.h"
#include "wire/smbd.h"
#include "wire/terminate.h"

const struct wire_layout *const wire_layouts[] = {
    &mpa_start_layout,
    &mpa_enhanced_layout,
    &fpdu_layout,
    &marker_layout,
    &ddp_tagged_layout,
    &ddp_untagged_layout,
    &rdmap_control_layout,
    &rdmap_untagged_layout,
    &read_request_layout,
    &terminate_layout,
    &terminate_length_layout,
    &atomic_request_layout,
    &atomic_response_layout,
    &immediate_layout,
    &sctp_common_layout,
    &sctp_chunk_layout,
    &sctp_data_layout,
    &sctp_init_layout,
    &sctp_adaptation_layout,
    &sctp_sack_layout,
    &ddp_sctp_segment_layout,
    &ddp_sctp_control_layout,
    &ddp_sctp_draft_control_layout,
    &lrh_layout,
    &bth_layout,
    &deth_layout,
    &mad_layout,
    &cm_ids_layout,
    &cm_req_layout,
    &cm_rep_layout,
    &cm_mra_layout,
    &cm_rej_layout,
    &cm_dreq_layout,
    &cm_sidr_req_layout,
    &cm_sidr_rep_layout,
    &ip_cm_private_layout,
    &ip_cm_service_layout,
    &ip_cm_ari_layout,
    &smbd_request_layout,
    &smbd_response_layout,
    &smbd_data_layout,
    &smbd_descriptor_layout,
    &rpcrdma_header_layout,
    &rpcrdma_segment_layout,
    &rpcrdma_read_segment_layout,
    &rpcrdma_private_layout,
    &iser_control_layout,
    &iser_hello_layout,
    &iser_hello_reply_layout,
    &iscsi_request_layout,
    &iscsi_response_layout,
    &iser_private_layout,
    &nvme_command_layout,
    &nvme_response_layout,
    &nvme_host_private_layout,
    &nvme_controller_private_layout,
    &port_mapper_layout,
    &port_mapper_mapped_layout,
    NULL,
};

uint64_t wire_field_get(const struct wire_field *field, const uint8_t *header)
{
    if (field->kind == WIRE_OCTETS)
        return 0;
    return (field->little ? wire_little_get : wire_bits_get)(header, field->bit, field->bits);
}

void wire_field_set(const struct wire_field *field, uint8_t *header, uint64_t value)
{
    if (field->kind != WIRE_OCTETS)
        (field->little ? wire_little_set : wire_bits_set)(header, field->bit, field->bits, value);
}

const struct wire_field *wire_layout_field(const struct wire_layout *layout, const char *id)
{
    for (size_t i = 0; i < layout->field_count; i++)
        if (strcmp(layout->fields[i].id, id) == 0)
            return &layout->fields[i];
    return NULL;
}

const char *wire_name_of(const struct wire_name *names, uint64_t value)
{
    for (; names != NULL && names->name != NULL; names++)
        if (names->value == value)
            return names->name;
    return NULL;
}

const struct wire_layout *wire_layout_find(const char *id)
{
    for (size_t i = 0; wire_layouts[i] != NULL; i++)
        if (strcmp(wire_layouts[i]->id, id) == 0)
            return wire_layouts[i];
    return NULL;
}
