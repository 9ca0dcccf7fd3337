/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the octets of posted work are, and what becomes of its memory. */
#include <stdlib.h>

#include "reference-stack/core/stream_internal.h"

/*
 * The transport may have been given octets of a copy that it has not sent yet (iwarp_stream_output()): the ULP, too,
 * could not release them before it takes the completion.
 */
void work_pop(struct iwarp_stream *stream)
{
    struct span_list *list = ((struct send_work *)ring_at(&stream->outbound.work, 0))->list;

    if (list != NULL) {
        list->next = stream->outbound.retired;
        stream->outbound.retired = list;
    }
    ring_pop(&stream->outbound.work);
}

void receive_pop(struct iwarp_stream *stream)
{
    free(((struct receive_work *)ring_at(&stream->inbound.receives, 0))->list);
    ring_pop(&stream->inbound.receives);
}

void work_release(struct iwarp_stream *stream)
{
    while (stream->outbound.retired != NULL) {
        struct span_list *list = stream->outbound.retired;

        stream->outbound.retired = list->next;
        free(list);
    }
}

bool work_payload(struct iwarp_stream *stream, const struct send_work *work, uint64_t offset, size_t octets,
                  const uint8_t **payload, bool *own)
{
    size_t here;

    *own = false;
    *payload = work->octets == NULL ? NULL : work->octets + offset;
    if (work->octets != NULL || work->list == NULL || octets == 0)
        return true;
    *payload = span_list_at(work->list, offset, &here);
    if (*payload != NULL && here >= octets)
        return true;
    if (stream->outbound.gathered_room < octets) {
        uint8_t *bigger = realloc(stream->outbound.gathered, octets);

        if (bigger == NULL)
            return false;
        stream->outbound.gathered = bigger;
        stream->outbound.gathered_room = octets;
    }
    span_list_read(work->list, offset, stream->outbound.gathered, octets);
    *payload = stream->outbound.gathered;
    *own = true;
    return true;
}
