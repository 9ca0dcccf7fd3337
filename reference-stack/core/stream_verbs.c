/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "reference-stack/base/misuse.h"
#include "reference-stack/core/stream_internal.h"

static int decide(struct iwarp_stream *stream, const uint8_t *private_data, size_t octets,
                  struct iwarp_sentence *sentence)
{
    size_t room = stream->llp->answer_room(stream);

    if (stream->state != IWARP_STATE_DECISION)
        return iwarp_sentence_set(sentence, "stream: no Request waits for a decision");
    if (octets > room)
        return iwarp_sentence_set(sentence, "stream: %zu octets of Private Data, at most %zu fit", octets, room);
    if (private_data == NULL && octets != 0)
        return iwarp_sentence_set(sentence, "stream: %zu octets of Private Data, and none given", octets);
    if (private_data != NULL) {
        memcpy(stream->config.private_data, private_data, octets);
        stream->config.private_octets = (uint16_t)octets;
    }
    return 0;
}

/* A depth of the Reply: -1 leaves it. */
static bool depth_fits(int depth, unsigned limit)
{
    return depth == -1 || depth == DEPTH_NOT_NEGOTIATED || (depth >= 0 && (unsigned)depth <= limit);
}

int iwarp_stream_accept(struct iwarp_stream *stream, const uint8_t *private_data, size_t octets, int ird, int ord,
                        uint64_t now, struct iwarp_sentence *sentence)
{
    if (stream == NULL)
        return misuse_null(sentence, "accept", "a stream");
    stream->now = now;
    if (!depth_fits(ird, stream->device->config.ird_max) || !depth_fits(ord, stream->device->config.ord_max))
        return iwarp_sentence_set(sentence, "stream: IRD %d and ORD %d, the device has %u and %u", ird, ord,
                                  stream->device->config.ird_max, stream->device->config.ord_max);
    if (decide(stream, private_data, octets, sentence) != 0)
        return -1;
    stream->agreed.reply_ird = ird < 0 ? stream->agreed.reply_ird : (uint16_t)ird;
    stream->agreed.reply_ord = ord < 0 ? stream->agreed.reply_ord : (uint16_t)ord;
    if (stream->llp->answer(stream, true) != 0)
        return iwarp_sentence_set(sentence, "stream: out of memory");
    stream_progress(stream);
    return 0;
}

int iwarp_stream_reject(struct iwarp_stream *stream, const uint8_t *private_data, size_t octets, uint64_t now,
                        struct iwarp_sentence *sentence)
{
    if (stream == NULL)
        return misuse_null(sentence, "reject", "a stream");
    stream->now = now;
    if (decide(stream, private_data, octets, sentence) != 0)
        return -1;
    if (stream->llp->answer(stream, false) != 0)
        return iwarp_sentence_set(sentence, "stream: out of memory");
    stream_progress(stream);
    return 0;
}

/* The message's octets: as they are, in pieces, or copied. The list is the caller's until the work is posted. */
static int set_octets(struct send_work *work, const struct iwarp_span *pieces, size_t count, bool copy,
                      struct iwarp_sentence *sentence)
{
    struct iwarp_span whole = {work->octets, (size_t)work->count};
    size_t octets;

    if (pieces == NULL && count != 0)
        return iwarp_sentence_set(sentence, "stream: %zu pieces, but none were given", count);
    if (pieces == NULL && (!copy || work->octets == NULL || work->count == 0))
        return 0;
    if (pieces != NULL && work->octets != NULL)
        return iwarp_sentence_set(sentence, "stream: either octets or pieces were expected, not both");
    if (pieces == NULL)
        pieces = &whole, count = 1;
    if (span_list_add_up(pieces, count, &octets, sentence) != 0)
        return -1;
    work->count = octets;
    work->list = copy ? span_list_copy(pieces, count, octets) : span_list_new(pieces, count);
    if (work->list == NULL)
        return iwarp_sentence_set(sentence, "stream: out of memory");
    work->octets = copy ? work->list->spans[0].octets : NULL;
    return 0;
}

/* Work is taken until the end is asked for or in sight (RFC 5041 6.2.1). */
static int postable(struct iwarp_stream *stream, struct iwarp_sentence *sentence)
{
    bool ending = stream->state >= IWARP_STATE_TERMINATING || stream->end.close_wanted || stream->end.abort_wanted;

    if (!SEAM_DECIDE(stream, DECIDE_POSTABLE, !ending))
        return iwarp_sentence_set(sentence, "stream: no work can be posted: the stream is ending");
    return 0;
}

int iwarp_stream_post_receive(struct iwarp_stream *stream, uint64_t id, uint8_t *buffer, size_t octets,
                              struct iwarp_sentence *sentence)
{
    struct receive_work *receive;

    if (stream == NULL)
        return misuse_null(sentence, "post_receive", "a stream");
    if (postable(stream, sentence) != 0)
        return -1;
    if (buffer == NULL && octets != 0)
        return iwarp_sentence_set(sentence, "stream: a receive of %zu octets without a buffer", octets);
    receive = ring_push(&stream->inbound.receives);
    if (receive == NULL)
        return iwarp_sentence_set(sentence, "stream: out of memory");
    *receive = (struct receive_work){.id = id, .buffer = buffer, .octets = octets};
    return 0;
}

int iwarp_stream_post_receive_pieces(struct iwarp_stream *stream, uint64_t id, const struct iwarp_buffer *pieces,
                                     size_t count, struct iwarp_sentence *sentence)
{
    struct iwarp_span spans[IWARP_PIECES];
    struct receive_work *receive;
    struct span_list *list;
    size_t octets;

    if (stream == NULL || (pieces == NULL && count != 0))
        return misuse_null(sentence, "post_receive_pieces", "a stream and pieces");
    for (size_t i = 0; i < count && i < IWARP_PIECES; i++)
        spans[i] = (struct iwarp_span){pieces[i].octets, pieces[i].count};
    if (postable(stream, sentence) != 0 || span_list_add_up(spans, count, &octets, sentence) != 0)
        return -1;
    list = span_list_new(spans, count);
    receive = list == NULL ? NULL : ring_push(&stream->inbound.receives);
    if (receive == NULL) {
        free(list);
        return iwarp_sentence_set(sentence, "stream: out of memory");
    }
    *receive = (struct receive_work){.id = id, .octets = octets, .list = list};
    return 0;
}

int iwarp_stream_reserve_receives(struct iwarp_stream *stream, size_t count, struct iwarp_sentence *sentence)
{
    if (stream == NULL)
        return misuse_null(sentence, "reserve_receives", "a stream");
    if (postable(stream, sentence) != 0)
        return -1;
    return ring_reserve(&stream->inbound.receives, count) == 0 ? 0
                                                               : iwarp_sentence_set(sentence, "stream: out of memory");
}

static int post(struct iwarp_stream *stream, const struct send_work *work, struct iwarp_sentence *sentence)
{
    struct send_work *slot;

    if (postable(stream, sentence) != 0)
        return -1;
    if (stream->agreed.ddp_alone && work->kind != IWARP_WORK_SEND && work->kind != IWARP_WORK_WRITE)
        return iwarp_sentence_set(sentence,
                                  "stream: the association is for DDP without RDMAP: it has Sends and Writes alone");
    /* RFC 5041 5.2: the length of a message is below 2^32. */
    if (work->count > UINT32_MAX)
        return iwarp_sentence_set(sentence, "stream: a message of %llu octets, at most 2^32 - 1 were expected",
                                  (unsigned long long)work->count);
    if (work->octets == NULL && work->list == NULL && work->count != 0 &&
        (work->kind == IWARP_WORK_SEND || work->kind == IWARP_WORK_WRITE))
        return iwarp_sentence_set(sentence, "stream: a message of %llu octets, but none were given",
                                  (unsigned long long)work->count);
    /* No region passes 2^64 (RFC 5041 5.1), so no peer could take that. */
    if (work->count != 0 && work->to + (work->count - 1) < work->to)
        return iwarp_sentence_set(sentence, "stream: %llu octets at Tagged Offset 0x%llx: the end exceeds 2^64",
                                  (unsigned long long)work->count, (unsigned long long)work->to);
    slot = ring_push(&stream->outbound.work);
    if (slot == NULL)
        return iwarp_sentence_set(sentence, "stream: out of memory");
    *slot = *work;
    SEAM(stream, posted(stream));
    stream_ready(stream);
    return 0;
}

/* A Send or Write. */
static int post_octets(struct iwarp_stream *stream, struct send_work *work, const struct iwarp_span *pieces,
                       size_t count, bool copy, struct iwarp_sentence *sentence)
{
    if (set_octets(work, pieces, count, copy, sentence) != 0)
        return -1;
    if (post(stream, work, sentence) == 0)
        return 0;
    free(work->list);
    return -1;
}

int iwarp_stream_post_send(struct iwarp_stream *stream, const struct iwarp_send *send, struct iwarp_sentence *sentence)
{
    static const enum iwarp_rdmap_opcode opcodes[2][2] = {
        {IWARP_RDMAP_SEND, IWARP_RDMAP_SEND_SE},
        {IWARP_RDMAP_SEND_INVALIDATE, IWARP_RDMAP_SEND_SE_INVALIDATE},
    };
    if (stream == NULL || send == NULL)
        return misuse_null(sentence, "post_send", "a stream and a Send");

    struct send_work work = {
        .kind = IWARP_WORK_SEND,
        .opcode = send->opcode != 0 ? send->opcode : opcodes[send->invalidate][send->solicited],
        .id = send->id,
        .octets = send->octets,
        .count = send->count,
        .stag = send->invalidate ? send->stag : 0,
        .fence = send->fence,
    };
    /* RFC 5040 2.4: what is no Send is no data operation of the ULP's, a Terminate least of all. */
    if (!SEAM_DECIDE(stream, DECIDE_SEND_OPCODE, rdmap_is_send(work.opcode)))
        return iwarp_sentence_set(sentence, "stream: opcode %u is not one of the Sends", work.opcode);
    return post_octets(stream, &work, send->pieces, send->piece_count, send->copy, sentence);
}

int iwarp_stream_post_write(struct iwarp_stream *stream, const struct iwarp_write *write,
                            struct iwarp_sentence *sentence)
{
    if (stream == NULL || write == NULL)
        return misuse_null(sentence, "post_write", "a stream and a Write");

    struct send_work work = {
        .kind = IWARP_WORK_WRITE,
        .opcode = IWARP_RDMAP_WRITE,
        .id = write->id,
        .octets = write->octets,
        .count = write->count,
        .stag = write->stag,
        .to = write->to,
        .fence = write->fence,
    };

    return post_octets(stream, &work, write->pieces, write->piece_count, write->copy, sentence);
}

/* The sink must be able to take the data: found out now, not when the response comes. */
static int sink_check(const struct iwarp_stream *stream, const struct iwarp_read *read, struct iwarp_sentence *sentence)
{
    const struct iwarp_region *region = iwarp_region_find(stream->device, read->sink_stag);
    uint64_t offset;

    if (region == NULL || !region->valid || (region->access & (IWARP_LOCAL_WRITE | IWARP_REMOTE_WRITE)) == 0)
        return iwarp_sentence_set(sentence, "stream: sink STag 0x%08x is not a region that can be written",
                                  read->sink_stag);
    if (region->pd != stream->config.pd || (region->stream != 0 && region->stream != stream->config.number))
        return iwarp_sentence_set(sentence, "stream: sink STag 0x%08x is not associated with this stream",
                                  read->sink_stag);
    offset = read->sink_to - region->base;
    if (read->sink_to < region->base || offset > region->length || read->count > region->length - offset)
        return iwarp_sentence_set(sentence, "stream: the sink's %u octets do not lie in STag 0x%08x", read->count,
                                  read->sink_stag);
    return 0;
}

int iwarp_stream_post_read(struct iwarp_stream *stream, const struct iwarp_read *read, struct iwarp_sentence *sentence)
{
    if (stream == NULL || read == NULL)
        return misuse_null(sentence, "post_read", "a stream and a Read");

    struct send_work work = {
        .kind = IWARP_WORK_READ,
        .opcode = IWARP_RDMAP_READ_REQUEST,
        .id = read->id,
        .count = read->count,
        .stag = read->source_stag,
        .to = read->source_to,
        .sink_stag = read->sink_stag,
        .sink_to = read->sink_to,
    };

    if (!SEAM_DECIDE(stream, DECIDE_READ_SINK, read->count == 0 || sink_check(stream, read, sentence) == 0))
        return -1;
    if (stream->established && !SEAM_DECIDE(stream, DECIDE_READ_DEPTH, stream->agreed.ord != 0))
        return iwarp_sentence_set(sentence, "stream: the ORD in force is 0, no Read can be sent");
    return post(stream, &work, sentence);
}

/* Refuses what both documents forbid to a requester. Only the peer can detect a TO whose address is not aligned. */
int iwarp_stream_post_atomic(struct iwarp_stream *stream, const struct iwarp_atomic *atomic,
                             struct iwarp_sentence *sentence)
{
    if (stream == NULL || atomic == NULL)
        return misuse_null(sentence, "post_atomic", "a stream and an atomic");

    struct send_work work = {
        .kind = IWARP_WORK_ATOMIC,
        .opcode = IWARP_RDMAP_ATOMIC_REQUEST,
        .id = atomic->id,
        .count = ATOMIC_TARGET_OCTETS,
        .to = atomic->to,
        .atomic = {.opcode = (uint8_t)atomic->operation,
                   .stag = atomic->stag,
                   .to = atomic->to,
                   .data = atomic->data,
                   .mask = atomic->mask,
                   .compare_data = atomic->compare,
                   .compare_mask = atomic->compare_mask},
    };

    if (stream->config.extensions == IWARP_EXTENSIONS_OFF)
        return iwarp_sentence_set(sentence, "stream: Atomic Operations are switched off");
    if (atomic->operation != IWARP_ATOMIC_FETCH_ADD && atomic->operation != IWARP_ATOMIC_COMPARE_SWAP &&
        (atomic->operation != IWARP_ATOMIC_SWAP || stream->config.extensions != IWARP_EXTENSIONS_DRAFT03))
        return iwarp_sentence_set(sentence, "stream: AOpCode %u is not supported", (unsigned)atomic->operation);
    if (stream->established && stream->agreed.ord == 0)
        return iwarp_sentence_set(sentence, "stream: the ORD in force is 0, no Atomic Request can be sent");
    if (atomic->operation != IWARP_ATOMIC_COMPARE_SWAP) {
        work.atomic.compare_data = 0;
        work.atomic.compare_mask = UINT64_MAX;
    }
    if (atomic->operation == IWARP_ATOMIC_SWAP)
        work.atomic.mask = UINT64_MAX;
    return post(stream, &work, sentence);
}

int iwarp_stream_post_immediate(struct iwarp_stream *stream, const struct iwarp_immediate *immediate,
                                struct iwarp_sentence *sentence)
{
    if (stream == NULL || immediate == NULL)
        return misuse_null(sentence, "post_immediate", "a stream and Immediate Data");

    struct send_work work = {
        .kind = IWARP_WORK_IMMEDIATE,
        .opcode = immediate->solicited ? IWARP_RDMAP_IMMEDIATE_SE : IWARP_RDMAP_IMMEDIATE,
        .id = immediate->id,
        .count = IWARP_IMMEDIATE_OCTETS,
    };

    if (stream->config.extensions == IWARP_EXTENSIONS_OFF)
        return iwarp_sentence_set(sentence, "stream: Immediate Data is switched off");
    memcpy(work.immediate, immediate->octets, IWARP_IMMEDIATE_OCTETS);
    return post(stream, &work, sentence);
}

int iwarp_stream_terminate(struct iwarp_stream *stream, wire_result triple, uint64_t now,
                           struct iwarp_sentence *sentence)
{
    if (stream == NULL)
        return misuse_null(sentence, "terminate", "a stream");
    stream->now = now;
    if (!stream->outbound.segments_allowed || stream->state >= IWARP_STATE_TERMINATING || stream->agreed.ddp_alone)
        return iwarp_sentence_set(sentence, "stream: no Terminate can be sent in this state");
    if (!wire_is_error(triple) || (triple & ~(WIRE_ERROR_BIT | UINT16_MAX)) != 0)
        return iwarp_sentence_set(sentence, "stream: 0x%x is not a Terminate triple", triple);
    stream->end.error_seen = true;
    stream->end.dropping = true;
    stream->state = IWARP_STATE_TERMINATING;
    terminate_queue(stream, triple, NULL, 0, NULL);
    stream_flush(stream);
    stream->end.close_wanted = true;
    stream_progress(stream);
    return 0;
}

void iwarp_stream_disconnect(struct iwarp_stream *stream, uint64_t now)
{
    if (stream == NULL)
        return;
    stream->now = now;
    if (stream->state == IWARP_STATE_CLOSED || stream->end.abort_wanted)
        return;
    if (SEAM_IF(stream, ending(stream, ENDING_BY_ULP)))
        return;
    stream->end.close_wanted = true;
    if (!stream->outbound.segments_allowed) {
        stream_flush(stream);
        stream->end.dropping = stream->end.dropping || stream->state <= IWARP_STATE_DECISION;
    }
    if (stream->state < IWARP_STATE_TERMINATING)
        stream->state = IWARP_STATE_CLOSING;
    stream_progress(stream);
}

void iwarp_stream_abort(struct iwarp_stream *stream, uint64_t now)
{
    if (stream == NULL)
        return;
    stream->now = now;
    if (stream->state == IWARP_STATE_CLOSED)
        return;
    stream->end.abort_wanted = true;
    stream_piece_drop(stream);
    stream_flush(stream);
    stream->end.dropping = true;
    stream->state = IWARP_STATE_CLOSED;
    stream_event_plain(stream, IWARP_EVENT_CLOSED);
    stream_ready(stream);
}
