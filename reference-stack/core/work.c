/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the octets of posted work are, and what becomes of its memory. */
#include <stdlib.h>

#include "reference-stack/core/stream_internal.h"

/*
 * The transport may have been given octets of a copy that it has not sent yet (iwarp_stream_output()): the ULP, too, could
 * not release them before it takes the completion.
 */
void work_pop(struct iwarp_stream *stream)
{
    struct span_list *list = ((struct send_work *)ring_at(&stream->work, 0))->list;

    if (list != NULL) {
        list->next = stream->over;
        stream->over = list;
    }
    ring_pop(&stream->work);
}

void receive_pop(struct iwarp_stream *stream)
{
    free(((struct receive_work *)ring_at(&stream->receives, 0))->list);
    ring_pop(&stream->receives);
}

void work_release(struct iwarp_stream *stream)
{
    while (stream->over != NULL) {
        struct span_list *list = stream->over;

        stream->over = list->next;
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
    if (stream->gathered_room < octets) {
        uint8_t *bigger = realloc(stream->gathered, octets);

        if (bigger == NULL)
            return false;
        stream->gathered = bigger;
        stream->gathered_room = octets;
    }
    span_list_read(work->list, offset, stream->gathered, octets);
    *payload = stream->gathered;
    *own = true;
    return true;
}
