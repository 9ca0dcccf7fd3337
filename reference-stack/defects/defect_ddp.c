/* SPDX-License-Identifier: BSD-2-Clause */
/* Deliberate faults of the Data Source. */
#include "reference-stack/core/stream_internal.h"

/* The last segment of a message in several has the header fields of what waits behind it. */
static void next_header(const struct iwarp_stream *stream, struct ddp_segment *segment)
{
    const struct send_work *next = ring_at(&stream->work, stream->work_sent + 1);

    if (segment->tagged && stream->reads.count != 0)
        segment->control = rdmap_control(RDMAP_READ_RESPONSE);
    else if (segment->tagged && next != NULL && next->kind == IWARP_WORK_WRITE)
        segment->stag = next->stag;
    else if (!segment->tagged && next != NULL && next->kind == IWARP_WORK_READ)
        segment->qn = DDP_QN_READ_REQUEST;
    else if (!segment->tagged && next != NULL && next->kind == IWARP_WORK_SEND)
        segment->msn++;
}

void defect_source(const struct iwarp_stream *stream, const struct send_work *work, struct ddp_segment *segment)
{
    if (segment->last && work->count % 2 != 0 && stream_behaves(stream, DEFECT_ODD_OCTET_DROPPED))
        segment->payload_octets--;
    if (segment->last && stream->work_offset != 0 && stream_behaves(stream, DEFECT_NEXT_HEADER))
        next_header(stream, segment);
}
