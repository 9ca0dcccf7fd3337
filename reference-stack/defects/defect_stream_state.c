/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/defects/defect_stream_state.h"

#include <string.h>

#include "reference-stack/defects/defect_stream.h"
#include "reference-stack/defects/peer_faults.h"

static struct stream_left *left_of(const struct iwarp_stream *stream)
{
    return &device_state(stream->device)->left;
}

/* What a stream of MPA was established with. */
static struct stream_terms_left terms_of(const struct iwarp_stream *stream)
{
    const struct mpa *mpa = mpa_of(stream);
    struct stream_terms_left terms = {
        .known = true,
        .crc = mpa->crc,
        .send_markers = mpa->send_markers,
        .receive_markers = mpa->receive_markers,
        .version = stream->agreed.terms.version,
        .ird = stream->agreed.ird,
        .ord = stream->agreed.ord,
        .pd = stream->config.pd,
        .mulpdu = mpa->mulpdu,
        .transmit_position = mpa->transmit_position,
        .receive_position = mpa->receive_position,
    };

    for (size_t i = 0; i < DEFECT_QUEUES; i++) {
        terms.msn_due[i] = stream->inbound.queues[i].msn_expected;
        terms.msn_next[i] = stream->inbound.queues[i].msn_next;
    }
    return terms;
}

/* --- With another open stream ------------------------------------------------------------------------------------- */

void state_stream_established(struct iwarp_stream *stream)
{
    if (stream->llp == &mpa_llp)
        left_of(stream)->last = terms_of(stream);
}

static void framing_of_last(struct iwarp_stream *stream, const struct stream_terms_left *last)
{
    struct mpa *mpa = mpa_of(stream);

    if (last->crc != mpa->crc && stream_behaves(stream, DEFECT_CRC_OF_LAST))
        mpa->crc = last->crc;
    if (last->send_markers != mpa->send_markers && stream_behaves(stream, DEFECT_MARKERS_SENT_OF_LAST))
        mpa->send_markers = last->send_markers;
    if (last->receive_markers != mpa->receive_markers && stream_behaves(stream, DEFECT_MARKERS_READ_OF_LAST))
        mpa->receive_markers = last->receive_markers;
}

/* Before the stream takes octets, and before it makes some. */
static void copy_from_last(struct iwarp_stream *stream)
{
    const struct stream_terms_left *last = &left_of(stream)->last;

    if (stream->llp != &mpa_llp || !stream->established || !last->known)
        return;
    framing_of_last(stream, last);
    if (last->version != stream->agreed.terms.version && stream_behaves(stream, DEFECT_VERSION_OF_LAST))
        stream->agreed.terms.version = last->version;
    if (last->ird != stream->agreed.ird && stream_behaves(stream, DEFECT_IRD_OF_LAST))
        stream->agreed.ird = last->ird;
    if (last->ord != stream->agreed.ord && stream_behaves(stream, DEFECT_ORD_OF_LAST))
        stream->agreed.ord = last->ord;
    if (last->pd != stream->config.pd && stream_behaves(stream, DEFECT_DOMAIN_OF_LAST))
        stream->config.pd = last->pd;
}

size_t state_stream_mulpdu(const struct iwarp_stream *stream, size_t mulpdu)
{
    size_t other = left_of(stream)->last.mulpdu;

    return stream->established && other != 0 && other != mulpdu && stream_behaves(stream, DEFECT_MULPDU_OF_LAST)
               ? other
               : mulpdu;
}

/* The segment's MSN where one counter serves all streams. */
void state_stream_header(const struct iwarp_stream *stream, struct outgoing *outgoing)
{
    struct stream_left *left = left_of(stream);
    const struct send_work *work = outgoing->work;

    if (work != NULL && (work->kind == IWARP_WORK_READ || work->kind == IWARP_WORK_ATOMIC)) {
        left->requests++;
        if (left->requests != outgoing->segment.msn && stream_behaves(stream, DEFECT_READ_MSN_OF_DEVICE))
            outgoing->segment.msn = left->requests;
    }
    if (outgoing->request != NULL && outgoing->request->is_atomic) {
        left->responses++;
        if (left->responses != outgoing->segment.msn && stream_behaves(stream, DEFECT_RESPONSE_MSN_OF_DEVICE))
            outgoing->segment.msn = left->responses;
    }
}

/* --- Start-up frames ---------------------------------------------------------------------------------------------- */

/* The ULP's Private Data ends the frame: what a longer one had there follows it. */
static size_t leave_private_data(const struct iwarp_stream *stream, const struct iwarp_mpa_start *start,
                                 uint8_t *octets, size_t count)
{
    struct stream_private_left *said = &left_of(stream)->said;
    size_t own = start->private_octets, more = said->octets > own ? said->octets - own : 0;

    if (more == 0) {
        memcpy(said->data, octets + count - own, own);
        said->octets = own;
        return count;
    }
    if (count + more > MPA_START_MAX ||
        !stream_behaves(stream,
                        start->kind == IWARP_MPA_REPLY ? DEFECT_REPLY_PRIVATE_STAYS : DEFECT_REQUEST_PRIVATE_STAYS))
        return count;
    memcpy(octets + count, said->data + own, more);
    mpa_start_set_PD_Length(octets, mpa_start_get_PD_Length(octets) + more);
    return count + more;
}

static void leave_word(const struct iwarp_stream *stream, uint8_t *word)
{
    struct stream_left *left = left_of(stream);

    if (left->replied) {
        if (stream_behaves(stream, DEFECT_REPLY_DEPTHS_STAY)) {
            mpa_enhanced_set_IRD(word, mpa_enhanced_get_IRD(left->word));
            mpa_enhanced_set_ORD(word, mpa_enhanced_get_ORD(left->word));
        }
        if (stream_behaves(stream, DEFECT_REPLY_RTR_STAYS)) {
            mpa_enhanced_set_A(word, mpa_enhanced_get_A(left->word));
            mpa_enhanced_set_B(word, mpa_enhanced_get_B(left->word));
            mpa_enhanced_set_C(word, mpa_enhanced_get_C(left->word));
            mpa_enhanced_set_D(word, mpa_enhanced_get_D(left->word));
        }
    }
    memcpy(left->word, word, sizeof(left->word));
    left->replied = true;
}

static void leave_reply(const struct iwarp_stream *stream, const struct iwarp_mpa_start *start, uint8_t *octets)
{
    struct stream_left *left = left_of(stream);
    uint8_t first = left->revision_known ? left->revision : start->revision;

    if (start->enhanced)
        leave_word(stream, octets + MPA_START_OCTETS);
    else if (left->replied && stream_behaves(stream, DEFECT_REPLY_ENHANCED_STAYS))
        mpa_start_set_S(octets, 1);
    if (left->rejected && !start->rejected && stream_behaves(stream, DEFECT_REPLY_REJECTED_STAYS))
        mpa_start_set_R(octets, 1);
    left->rejected = start->rejected;
    if (first != start->revision && stream_behaves(stream, DEFECT_REPLY_REVISION_STAYS))
        mpa_start_set_Rev(octets, first);
    left->revision = first;
    left->revision_known = true;
}

/* The frame as packed, in room for MPA_START_MAX octets and some. Returns its new count. */
size_t state_stream_start(const struct iwarp_stream *stream, const struct iwarp_mpa_start *start, uint8_t *octets,
                          size_t count)
{
    struct stream_left *left = left_of(stream);

    if (!left->flags_known) {
        left->markers = start->markers;
        left->crc = start->crc;
        left->flags_known = true;
    }
    if (left->markers != start->markers && stream_behaves(stream, DEFECT_START_M_STAYS))
        mpa_start_set_M(octets, left->markers);
    if (left->crc != start->crc && stream_behaves(stream, DEFECT_START_C_STAYS))
        mpa_start_set_C(octets, left->crc);
    if (start->kind == IWARP_MPA_REPLY)
        leave_reply(stream, start, octets);
    return leave_private_data(stream, start, octets, count);
}

/* An event that has the peer's frame. */
void state_stream_reported(const struct iwarp_stream *stream, struct iwarp_mpa_start *start)
{
    struct stream_left *left = left_of(stream);
    size_t own = start->private_octets, room;
    uint8_t *octets;

    if (stream->llp != &mpa_llp || start->private_data == NULL)
        return;
    octets = mpa_of(stream)->start_octets + (start->private_data - mpa_of(stream)->start_octets);
    room = (size_t)(mpa_of(stream)->start_octets + MPA_START_MAX - octets);
    if (own >= left->reported.octets) {
        memcpy(left->reported.data, octets, own);
        left->reported.octets = own;
    } else if (left->reported.octets <= room && stream_behaves(stream, DEFECT_TOLD_PRIVATE_STAYS)) {
        memcpy(octets + own, left->reported.data + own, left->reported.octets - own);
        start->private_octets = (uint16_t)left->reported.octets;
    }
    if (!start->enhanced)
        return;
    if (left->depths_reported && (left->reported_ird != start->ird || left->reported_ord != start->ord) &&
        left->reported_by != stream->config.number && stream_behaves(stream, DEFECT_TOLD_DEPTHS_STAY)) {
        start->ird = left->reported_ird;
        start->ord = left->reported_ord;
        return;
    }
    left->reported_by = stream->config.number;
    left->reported_ird = start->ird;
    left->reported_ord = start->ord;
    left->depths_reported = true;
}

/* The same where the ULP decides about it. */
void state_stream_asked(const struct iwarp_stream *stream, struct iwarp_mpa_start *start)
{
    enum { WORD = 4, MOST = IWARP_MPA_PRIVATE_DATA_MAX - MPA_ENHANCED_OCTETS };
    struct stream_private_left *asked = &left_of(stream)->asked;
    size_t own = start->private_octets, lacks = (WORD - own % WORD) % WORD;
    uint8_t *octets;

    if (stream->llp != &mpa_llp || start->private_data == NULL)
        return;
    octets = mpa_of(stream)->start_octets + (start->private_data - mpa_of(stream)->start_octets);
    if (own == 0 && asked->octets != 0 && stream_behaves(stream, DEFECT_ASKED_PRIVATE_STAYS)) {
        memcpy(octets, asked->data, asked->octets < MOST ? asked->octets : MOST);
        start->private_octets = (uint16_t)(asked->octets < MOST ? asked->octets : MOST);
    }
    memcpy(asked->data, octets, own);
    asked->octets = own;
    if (lacks != 0 && stream_behaves(stream, DEFECT_ASKED_PRIVATE_WORDS)) {
        memset(octets + own, 0, lacks);
        start->private_octets = (uint16_t)(own + lacks);
    }
    if (own > MOST && stream_behaves(stream, DEFECT_ASKED_PRIVATE_508))
        start->private_octets = MOST;
}

static void cut_address(char *address)
{
    char *end = strrchr(address, strchr(address, ':') != NULL ? ':' : '.');

    if (end != NULL)
        memcpy(end + 1, "0", 2);
}

void hook_ends(const struct iwarp_stream *stream, struct connection_end *own, struct connection_end *peer)
{
    struct stream_left *left = left_of(stream);
    uint16_t before = left->peer_port;
    struct connection_end other = *own;

    left->peer_port = peer->port;
    if (before != 0 && stream_behaves(stream, DEFECT_PEER_PORT_STAYS))
        peer->port = before;
    if (stream_behaves(stream, DEFECT_PEER_PORT_SWAPPED))
        peer->port = (uint16_t)(peer->port << 8 | peer->port >> 8);
    if (stream_behaves(stream, DEFECT_PEER_ADDRESS_CUT))
        cut_address(peer->address);
    if (stream_behaves(stream, DEFECT_ENDS_EXCHANGED)) {
        *own = *peer;
        *peer = other;
    }
}

/* --- After a stream that is over ---------------------------------------------------------------------------------- */

void state_stream_over(const struct iwarp_stream *stream)
{
    struct stream_left *left = left_of(stream);
    const struct inbound_request *request;
    const struct mpa *mpa = mpa_of(stream);

    if (stream->llp != &mpa_llp || !stream->established)
        return;
    left->over = terms_of(stream);
    left->receives = stream->inbound.receives.count;
    left->partial_octets = mpa->receive_count < sizeof(left->partial) ? mpa->receive_count : 0;
    memcpy(left->partial, mpa->receive_buffer == NULL ? left->partial : mpa->receive_buffer, left->partial_octets);
    request = ring_at(&stream->inbound.requests, stream->inbound.requests.count - 1);
    left->read_open = stream->inbound.requests.count != 0 && !request->is_atomic;
    if (left->read_open)
        left->read = *request;
}

void state_stream_begins(struct iwarp_stream *stream)
{
    const struct stream_terms_left *over = &left_of(stream)->over;

    if (stream->llp != &mpa_llp || !over->known)
        return;
    for (size_t i = 0; i < DEFECT_QUEUES; i++) {
        struct untagged_queue *queue = &stream->inbound.queues[i];

        if (over->msn_due[i] != DDP_FIRST_MSN && i == DDP_QN_SEND && stream_behaves(stream, DEFECT_STREAM_MSN_STAYS))
            queue->msn_expected = over->msn_due[i];
        if (over->msn_next[i] != DDP_FIRST_MSN && i != DDP_QN_TERMINATE &&
            stream_behaves(stream, DEFECT_STREAM_NEXT_MSN_STAYS))
            queue->msn_next = over->msn_next[i];
    }
}

void state_stream_framing(struct iwarp_stream *stream)
{
    const struct stream_terms_left *over = &left_of(stream)->over;
    struct mpa *mpa = mpa_of(stream);

    if (!over->known)
        return;
    if (over->crc != mpa->crc && stream_behaves(stream, DEFECT_STREAM_CRC_STAYS))
        mpa->crc = over->crc;
    if (over->send_markers != mpa->send_markers && stream_behaves(stream, DEFECT_STREAM_MARKERS_STAY))
        mpa->send_markers = over->send_markers;
    if (mpa->send_markers && stream_behaves(stream, DEFECT_STREAM_POSITION_STAYS))
        mpa->transmit_position = over->transmit_position;
    if (mpa->receive_markers && stream_behaves(stream, DEFECT_STREAM_READ_POSITION_STAYS))
        mpa->receive_position = over->receive_position;
}

void state_stream_depths(struct iwarp_stream *stream)
{
    const struct stream_terms_left *over = &left_of(stream)->over;

    if (stream->llp != &mpa_llp || !over->known)
        return;
    if (over->ird != stream->agreed.ird && stream_behaves(stream, DEFECT_STREAM_IRD_STAYS))
        stream->agreed.ird = over->ird;
    if (over->ord != stream->agreed.ord && stream_behaves(stream, DEFECT_STREAM_ORD_STAYS))
        stream->agreed.ord = over->ord;
}

/* The first octets of FPDUs. */
void state_stream_input(struct iwarp_stream *stream)
{
    struct stream_left *left = left_of(stream);
    size_t octets = left->partial_octets;

    copy_from_last(stream);
    if (stream->llp != &mpa_llp || !stream->established || octets == 0 || mpa_of(stream)->receive_position != 0 ||
        mpa_of(stream)->receive_count != 0 || !stream_behaves(stream, DEFECT_STREAM_PARTIAL_STAYS))
        return;
    left->partial_octets = 0;
    stream->llp->input(stream, left->partial, octets);
}

/* The stream may send. */
void state_stream_turn(struct iwarp_stream *stream)
{
    struct stream_left *left = left_of(stream);
    struct inbound_request *entry;

    copy_from_last(stream);
    if (stream->llp != &mpa_llp || !left->read_open || !stream->outbound.segments_allowed || stream->end.error_seen ||
        stream->state != IWARP_STATE_OPERATION || !stream_behaves(stream, DEFECT_STREAM_READ_STAYS))
        return;
    left->read_open = false;
    entry = ring_push(&stream->inbound.requests);
    if (entry != NULL) {
        *entry = left->read;
        entry->sent = 0;
    }
}

/* True: the receive that is the last one counts as used up. */
bool state_stream_buffer(const struct iwarp_stream *stream)
{
    return stream->llp == &mpa_llp && left_of(stream)->over.known && left_of(stream)->receives != 0 &&
           stream->inbound.receives.count == 1 && stream_behaves(stream, DEFECT_STREAM_RECEIVE_STAYS);
}

/* A region that is bound to a stream: the judgement of "ddp-stag-stream" and its brothers. */
bool state_stream_bound(const struct validation_subject *subject)
{
    const struct iwarp_stream *stream = subject->stream;

    return subject->region != NULL && subject->region->stream != 0 && stream->llp == &mpa_llp &&
           subject->region->stream < stream->config.number;
}

/* --- Errors ------------------------------------------------------------------------------------------------------- */

/* The stream's first error. */
void state_stream_fails(const struct iwarp_stream *stream, struct validation_outcome *outcome)
{
    struct device_faults *shared = device_state(stream->device);
    struct stream_left *left = &shared->left;

    if (stream->llp != &mpa_llp || outcome->action != VALIDATION_TERMINATE)
        return;
    if (!left->failed)
        left->error = outcome->error;
    else if (left->error != outcome->error && stream_behaves(stream, DEFECT_ERROR_TRIPLE_STAYS))
        outcome->error = left->error;
    left->failed = true;
    if (shared->oldest != NULL && shared->oldest != stream && stream_behaves(stream, DEFECT_ERROR_RESETS_OLDEST))
        shared->oldest->end.abort_wanted = true;
}

void state_stream_terminate(const struct iwarp_stream *stream, const struct ddp_segment *segment,
                            struct terminate *terminate)
{
    struct stream_left *left = left_of(stream);
    bool tagged;

    if (stream->llp != &mpa_llp || !terminate->d || segment->header == NULL ||
        terminate->ddp_header_octets > DDP_UNTAGGED_OCTETS)
        return;
    tagged = segment->tagged;
    if (!left->quoted[tagged]) {
        memcpy(left->header[tagged], terminate->ddp_header, terminate->ddp_header_octets);
        left->quoted[tagged] = true;
    } else if (stream_behaves(stream, DEFECT_ERROR_HEADER_STAYS)) {
        terminate->ddp_header = left->header[tagged];
    }
}
