/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests that wait for answers. A Read Response does not say which request it answers: the order does (RFC 5040
 * 5.2.1), and its STag and TO, which are those of the request's sink (4.4), bear it out. So a request with a wrong MSN
 * is known by its answer all the same.
 */
#include "conformance/flow/ddp/flow_request.h"

#include <stdlib.h>
#include <string.h>

void flow_requests_clear(struct flow_half *half)
{
    half->request_first = half->request_count = 0;
}

static struct flow_request *request_at(const struct flow_half *half, uint32_t i)
{
    return &half->requests[(half->request_first + i) % half->request_room];
}

static struct flow_request *request_add(struct flow_half *half)
{
    if (half->request_count == half->request_room) {
        uint32_t room = half->request_room == 0 ? 4 : half->request_room * 2;
        struct flow_request *grown;

        if (half->request_room >= FLOW_REQUESTS_MAX) {
            half->requests_lost = true;
            return NULL;
        }
        grown = calloc(room, sizeof(*grown));
        if (grown == NULL) {
            half->requests_lost = true;
            return NULL;
        }
        for (uint32_t i = 0; i < half->request_count; i++)
            grown[i] = *request_at(half, i);
        free(half->requests);
        half->requests = grown;
        half->request_room = room;
        half->request_first = 0;
    }
    half->request_count++;
    if (half->request_count > half->requests_most)
        half->requests_most = half->request_count;
    return request_at(half, half->request_count - 1);
}

static void request_remove(struct flow_half *half, const struct flow_request *request)
{
    uint32_t i = 0;

    while (i < half->request_count && request_at(half, i) != request)
        i++;
    if (i == half->request_count)
        return;
    for (; i > 0; i--)
        *request_at(half, i) = *request_at(half, i - 1);
    half->request_first = (half->request_first + 1) % half->request_room;
    half->request_count--;
}

static struct flow_request *by_serial(const struct flow_half *half, uint32_t serial)
{
    for (uint32_t i = 0; serial != 0 && i < half->request_count; i++)
        if (request_at(half, i)->serial == serial)
            return request_at(half, i);
    return NULL;
}

const struct flow_request *flow_request_oldest(const struct flow_half *half, unsigned opcode)
{
    const struct flow_request *doubted = NULL;

    for (uint32_t i = 0; i < half->request_count; i++) {
        const struct flow_request *request = request_at(half, i);

        if (request->opcode == opcode && !request->doubted)
            return request;
        if (request->opcode == opcode && doubted == NULL)
            doubted = request;
    }
    return doubted;
}

bool flow_request_names(const struct flow_request *request, const struct ddp_segment *segment)
{
    return segment->stag == request->read.sink_stag && segment->to == request->read.sink_to + request->answered;
}

/* The response may be that of the Read: it goes to its sink; without payload it may go anywhere (RFC 5041 5.2). */
static bool answers(const struct flow_request *request, const struct ddp_segment *segment)
{
    if (request->read.octets == 0 || segment->payload_octets == 0)
        return request->read.octets == segment->payload_octets;
    return flow_request_names(request, segment);
}

static unsigned likeness(const struct flow_request *request, const struct ddp_segment *segment)
{
    return (segment->stag == request->read.sink_stag) + (segment->to == request->read.sink_to + request->answered) +
           ((request->read.octets == 0) == (segment->payload_octets == 0));
}

/*
 * The one that the response names, else the oldest. A doubted one may have been dropped: then it is the response to
 * whichever is more like it, of those up to the first that is sure to be answered. `over`: a request that has its
 * response; NULL: none has.
 */
static struct flow_request *read_of(const struct flow_half *requester, const struct ddp_segment *segment,
                                    const struct flow_request *over)
{
    struct flow_request *oldest = NULL, *named = NULL;
    bool sure = false;

    for (uint32_t i = 0; i < requester->request_count; i++) {
        struct flow_request *request = request_at(requester, i);

        if (request->opcode != IWARP_RDMAP_READ_REQUEST || (over != NULL && request == over))
            continue;
        if (!sure && answers(request, segment))
            return request;
        if (!sure && (oldest == NULL || likeness(request, segment) > likeness(oldest, segment)))
            oldest = request;
        sure = sure || !request->doubted;
        if (named == NULL && answers(request, segment) && flow_request_names(request, segment))
            named = request;
    }
    return named != NULL ? named : oldest;
}

const struct flow_request *flow_request_of_response(const struct flow_half *half, const struct flow_half *requester,
                                                    const struct ddp_segment *segment, bool *first)
{
    const struct flow_request *request = *first ? NULL : by_serial(requester, half->answering);

    if (*first)
        return read_of(requester, segment, NULL);
    /* All of it came without L = 1, and this segment is no continuation: another response begins. */
    if (request != NULL && request->answered >= request->read.octets &&
        (segment->stag != half->read_response.stag || segment->to != half->read_response.next_to)) {
        *first = true;
        return read_of(requester, segment, request);
    }
    return request;
}

/*
 * RFC 5040 4.4: the header is in network order. A requester that sends its fields in the other order is known by a
 * response which names all of them so. The smaller RDMARDSZ is taken for the one that was meant: in the larger one the
 * response has the octets reversed, and the request is right.
 */
static bool fits_reversed(const struct flow_request *request, const struct ddp_segment *segment)
{
    const struct read_request *read = &request->read;
    uint32_t octets = __builtin_bswap32(read->octets);

    return segment->stag == __builtin_bswap32(read->sink_stag) && segment->to == __builtin_bswap64(read->sink_to) &&
           octets < read->octets && segment->payload_octets <= octets &&
           (!segment->last || segment->payload_octets == octets);
}

void flow_request_reread(struct flow_half *requester, const struct flow_request *request,
                         const struct ddp_segment *segment)
{
    struct flow_request *own = by_serial(requester, request->serial);

    if (own == NULL || own->opcode != IWARP_RDMAP_READ_REQUEST || own->answered != 0 || own->read.octets == 0 ||
        flow_request_names(own, segment) || !fits_reversed(own, segment))
        return;
    own->reversed = true;
    own->read = (struct read_request){.sink_stag = __builtin_bswap32(own->read.sink_stag),
                                      .sink_to = __builtin_bswap64(own->read.sink_to),
                                      .octets = __builtin_bswap32(own->read.octets),
                                      .source_stag = __builtin_bswap32(own->read.source_stag),
                                      .source_to = __builtin_bswap64(own->read.source_to)};
}

const struct flow_request *flow_request_of_atomic(const struct flow_half *requester, uint32_t id)
{
    for (uint32_t i = 0; i < requester->request_count; i++)
        if (request_at(requester, i)->opcode == IWARP_RDMAP_ATOMIC_REQUEST && request_at(requester, i)->atomic_id == id)
            return request_at(requester, i);
    return flow_request_oldest(requester, IWARP_RDMAP_ATOMIC_REQUEST);
}

/* A receiver may have dropped it, or ended the stream because of it. */
static bool is_by_the_book(const struct flow_half *half, const struct flow_event *event)
{
    const struct ddp_segment *segment = &event->ddp->segment;
    const struct flow_queue *queue = &half->queue[DDP_QN_READ_REQUEST];

    return event->ddp->result == WIRE_OK && event->rdmap->result == WIRE_OK && segment->last && !half->terminated &&
           segment->msn == (queue->seen ? queue->next_msn : DDP_FIRST_MSN) &&
           segment->payload_octets ==
               (event->rdmap->header == FLOW_HEADER_READ_REQUEST ? READ_REQUEST_OCTETS : ATOMIC_REQUEST_OCTETS);
}

/* Segments of this message without the L bit came before: with this one it is whole, and one request. */
static void forget_begun(struct flow_half *half, const struct flow_event *event)
{
    bool whole = is_by_the_book(half, event);

    for (uint32_t i = 0; whole && i < half->request_count;) {
        const struct flow_request *request = request_at(half, i);

        if (request->doubted && request->msn == event->ddp->segment.msn)
            request_remove(half, request);
        else
            i++;
    }
}

static void add(struct flow_half *half, const struct flow_event *event)
{
    const struct flow_rdmap *rdmap = event->rdmap;
    struct flow_request *request;

    forget_begun(half, event);
    request = request_add(half);
    if (request == NULL)
        return;
    memset(request, 0, sizeof(*request));
    request->opcode = rdmap->message.opcode;
    request->msn = event->ddp->segment.msn;
    request->frame = event->frame;
    request->time_ns = event->time_ns;
    request->end = event->end;
    request->serial = ++half->requests_made;
    request->doubted = !is_by_the_book(half, event);
    if (rdmap->header == FLOW_HEADER_READ_REQUEST) {
        request->read = rdmap->read_request;
    } else {
        request->atomic_id = rdmap->atomic_request.id;
        request->atomic_opcode = rdmap->atomic_request.opcode;
    }
}

/* Of the requests before one that is answered those are gone which may have been dropped, or answered otherwise. */
static void forget_doubted(struct flow_half *requester, uint32_t serial)
{
    for (uint32_t i = 0; i < requester->request_count;) {
        const struct flow_request *request = request_at(requester, i);

        if (request->serial == serial)
            return;
        if (request->doubted)
            request_remove(requester, request);
        else
            i++;
    }
}

/* A response begins, and the one before never had its L bit: its request waits no longer. */
static void forget_unended(struct flow_half *half, struct flow_half *requester, const struct flow_event *event)
{
    if (!event->rdmap->first || event->rdmap->message.opcode != IWARP_RDMAP_READ_RESPONSE ||
        !event->ddp->segment.tagged || !half->read_response.open)
        return;
    request_remove(requester, by_serial(requester, half->answering));
    half->answering = 0;
}

/* `serial`: of the request. */
static void answer(struct flow_half *half, struct flow_half *requester, const struct flow_event *event, uint32_t serial,
                   bool read)
{
    const struct flow_rdmap *rdmap = event->rdmap;
    const struct ddp_segment *segment = &event->ddp->segment;
    struct flow_request *request;

    if (rdmap->first && read) {
        request = by_serial(requester, serial);
        request->named = flow_request_names(request, segment);
        half->answering = serial;
    }
    forget_doubted(requester, serial);
    request = by_serial(requester, serial);
    request->answered += segment->payload_octets;
    if (rdmap->last && request->named && request->answered < request->read.octets)
        request->doubted = true; /* the rest of it may follow as if it were another response */
    else if (rdmap->last)
        request_remove(requester, request);
}

void flow_requests_update(struct flow *flow, const struct flow_event *event)
{
    const struct flow_rdmap *rdmap = event->rdmap;
    struct flow_half *half = &flow->half[event->direction];
    struct flow_half *requester = &flow->half[flow_reverse(event->direction)];
    /* rdmap->request points to where another one may stand once one has gone */
    uint32_t serial = rdmap->request != NULL ? rdmap->request->serial : 0;
    bool read = rdmap->request != NULL && rdmap->request->opcode == IWARP_RDMAP_READ_REQUEST;

    forget_unended(half, requester, event);
    if ((rdmap->header == FLOW_HEADER_READ_REQUEST || rdmap->header == FLOW_HEADER_ATOMIC_REQUEST) &&
        rdmap->header_result == WIRE_OK) {
        add(half, event);
    } else if (serial != 0) {
        answer(half, requester, event, serial, read);
    } else if (rdmap->message.opcode == IWARP_RDMAP_READ_RESPONSE && !event->ddp->segment.tagged) {
        /* Untagged, against RFC 5040 5.2.2: what it answers, if anything, it does not say. */
        struct flow_request *request = (struct flow_request *)flow_request_oldest(requester, IWARP_RDMAP_READ_REQUEST);

        if (request != NULL)
            request->doubted = true;
    }
}
