/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Atomic Operations and Immediate Data (RFC 7306 5 and 6, draft-ietf-storm-rdmap-ext-03 with Swap). Requests share QN
 * 1, its MSN and the depths IRD and ORD with RDMA Reads; responses come on QN 3. Immediate Data is a Send of eight
 * octets in all but its opcode.
 */
#include "reference-stack/core/atomic.h"

#include <string.h>

#include "reference-stack/core/stream_internal.h"

/* --- The operations (RFC 7306 5.1) ------------------------------------------------------------------------------- */

/*
 * A masked FetchAdd drops the carry out of each bit that the mask has (RFC 7306 5.1.1): with those bits left out of the
 * sum no carry passes them, and they themselves are sums without carry.
 */
static uint64_t masked_add(uint64_t original, uint64_t addend, uint64_t mask)
{
    return ((original & ~mask) + (addend & ~mask)) ^ ((original ^ addend) & mask);
}

uint64_t atomic_result(const struct atomic_request *request, uint64_t original)
{
    switch (request->opcode) {
    case IWARP_ATOMIC_FETCH_ADD: return masked_add(original, request->data, request->mask);
    case IWARP_ATOMIC_SWAP: return request->data;
    case IWARP_ATOMIC_COMPARE_SWAP:
        if (((original ^ request->compare_data) & request->compare_mask) != 0)
            return original;
        return (original & ~request->mask) | (request->data & request->mask);
    default: return original;
    }
}

/* Memory of any type is what a target may be. */
typedef uint64_t __attribute__((may_alias)) target_word;

uint64_t atomic_execute(const struct atomic_request *request, uint8_t *target)
{
    target_word *word = (target_word *)(void *)target;
    uint64_t original = __atomic_load_n(word, __ATOMIC_ACQUIRE);

    while (!__atomic_compare_exchange_n(word, &original, atomic_result(request, original), false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
        continue;
    return original;
}

/* The header of a delivered message, with zeros for what is missing of it: its length is judged all the same. */
static const uint8_t *header_of(const uint8_t *octets, size_t count, uint8_t *header, size_t room)
{
    memset(header, 0, room);
    if (octets != NULL && count != 0)
        memcpy(header, octets, count < room ? count : room);
    return header;
}

/* --- Requester --------------------------------------------------------------------------------------------------- */

/*
 * The atomic that the next Atomic Response belongs to: QN 3's MSN counts the atomics in the order of their requests
 * (RFC 7306 5), and DDP takes them in that order. NULL when none is open.
 */
struct send_work *atomic_open(const struct iwarp_stream *stream)
{
    for (size_t i = 0; i < stream->outbound.work_sent; i++) {
        struct send_work *work = ring_at(&stream->outbound.work, i);

        if (work->kind == IWARP_WORK_ATOMIC && !work->done)
            return work;
    }
    return NULL;
}

bool atomic_send_request(struct iwarp_stream *stream, struct outgoing *request)
{
    request->work->atomic.id = ++stream->outbound.atomic_ids;
    request->segment.qn = DDP_QN_READ_REQUEST;
    request->segment.msn = stream->inbound.queues[DDP_QN_READ_REQUEST].msn_next;
    request->segment.last = true;
    atomic_request_pack(&request->work->atomic, request->header);
    request->header_octets = ATOMIC_REQUEST_OCTETS;
    if (piece_segment(stream, request) != 0)
        return false;
    transmit_requested(stream);
    return true;
}

void atomic_deliver_response(struct iwarp_stream *stream, const uint8_t *octets, struct validation_subject *subject)
{
    uint8_t header[ATOMIC_RESPONSE_OCTETS];
    const uint8_t *p = header_of(octets, subject->count, header, sizeof(header));
    struct atomic_response response = {0};
    struct send_work *work;

    work = atomic_open(stream);
    subject->response = &response;
    subject->open_atomic = work == NULL ? NULL : &work->atomic;
    (void)atomic_response_parse(&p, header + sizeof(header), &response);
    if (!deliver_holds(stream, VALIDATE_ATOMIC_RESPONSE, subject,
                       "an Atomic Response does not answer the open atomic") ||
        work == NULL)
        return;
    work->value = response.value;
    work->done = true;
    stream->counters.reads_outstanding--;
    stream_complete(stream);
}

/* --- Responder --------------------------------------------------------------------------------------------------- */

void atomic_deliver_request(struct iwarp_stream *stream, const uint8_t *octets, struct validation_subject *subject)
{
    struct inbound_request request = {.is_atomic = true};
    uint8_t header[ATOMIC_REQUEST_OCTETS];
    const uint8_t *p = header_of(octets, subject->count, header, sizeof(header));

    (void)atomic_request_parse(&p, header + sizeof(header), &request.atomic);
    subject->atomic = &request.atomic;
    subject->region = iwarp_region_find(stream->device, request.atomic.stag);
    if (deliver_holds(stream, VALIDATE_ATOMIC_REQUEST, subject, "an Atomic Request cannot be executed"))
        deliver_queue_request(stream, &request, subject);
}

/* False when the request has gone bad since it was delivered, as by an invalidation: then the stream has failed. */
static bool still_good(struct iwarp_stream *stream, const struct inbound_request *request,
                       struct validation_subject *subject)
{
    struct validation_outcome outcome;
    struct ddp_segment segment;
    const uint8_t *p = request->header;

    if (stream_judge(VALIDATE_ATOMIC_REQUEST, subject, &outcome))
        return true;
    (void)ddp_parse(&p, request->header + DDP_UNTAGGED_OCTETS, &segment);
    subject->segment = &segment;
    subject->segment_octets = request->segment_octets;
    stream_fail(stream, &outcome, subject, "the target of an atomic went away");
    return false;
}

/* A local catastrophic error where the response should be made: a Terminate without headers goes in its place (8.1). */
static void response_impossible(struct iwarp_stream *stream, const struct inbound_request *request)
{
    struct ddp_segment segment;
    struct validation_subject subject = stream_subject(stream);
    struct validation_outcome outcome = {
        .error = TERM_RDMAP_CATASTROPHIC,
        .action = VALIDATION_TERMINATE,
    };
    const uint8_t *p = request->header;

    (void)ddp_parse(&p, request->header + DDP_UNTAGGED_OCTETS, &segment);
    subject.segment = &segment;
    subject.segment_octets = request->segment_octets;
    stream_fail(stream, &outcome, &subject, "a local catastrophic error, an Atomic Response cannot be made");
}

/*
 * Executes the atomic whose response is due, and makes the response. Not before: the next request is not processed
 * until the response to this one was generated (RFC 7306 5.4, 7), and neither is a Read after it.
 */
bool atomic_send_response(struct iwarp_stream *stream, const struct inbound_request *request)
{
    struct validation_subject subject = stream_subject(stream);
    struct outgoing message = {
        .segment = {.last = true,
                    .control = rdmap_control(IWARP_RDMAP_ATOMIC_RESPONSE),
                    .qn = DDP_QN_ATOMIC_RESPONSE,
                    .msn = stream->inbound.queues[DDP_QN_ATOMIC_RESPONSE].msn_next},
        .request = request,
        .header_octets = ATOMIC_RESPONSE_OCTETS,
    };
    struct atomic_response response = {.id = request->atomic.id};

    if (stream->instruments.catastrophe_due) {
        response_impossible(stream, request);
        return false;
    }
    subject.atomic = &request->atomic;
    subject.count = ATOMIC_REQUEST_OCTETS;
    subject.region = iwarp_region_find(stream->device, request->atomic.stag);
    if (!still_good(stream, request, &subject))
        return false;
    response.value = SEAM_VALUE(
        stream, atomic_execute(&request->atomic, subject.region->octets + (request->atomic.to - subject.region->base)),
        atomic(stream, request, subject.region));
    stream->counters.atomics_executed++;
    atomic_response_pack(&response, message.header);
    if (piece_segment(stream, &message) != 0)
        return false;
    stream->inbound.queues[DDP_QN_ATOMIC_RESPONSE].msn_next++;
    return true;
}

/* --- Immediate Data (RFC 7306 6.3) -------------------------------------------------------------------------------- */

bool atomic_send_immediate(struct iwarp_stream *stream, struct outgoing *message)
{
    message->segment.qn = DDP_QN_SEND;
    message->segment.msn = stream->inbound.queues[DDP_QN_SEND].msn_next;
    message->segment.last = true;
    memcpy(message->header, message->work->immediate, IWARP_IMMEDIATE_OCTETS);
    message->header_octets = IWARP_IMMEDIATE_OCTETS;
    if (piece_segment(stream, message) != 0)
        return false;
    stream->inbound.queues[DDP_QN_SEND].msn_next++;
    transmit_completes(stream);
    return true;
}
