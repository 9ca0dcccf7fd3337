/* SPDX-License-Identifier: BSD-2-Clause */
/* SCTP as core calls it (core/llp.h), and what a program creates: a stream on a SID of an association. */
#include "reference-stack/base/misuse.h"
#include "reference-stack/sctp/sctp.h"

void iwarp_sctp_stream_config_default(struct iwarp_stream_config *config, enum iwarp_role role)
{
    if (config == NULL)
        return;
    stream_config_default(config, role);
    config->revision = MPA_REV_2;
    config->enhanced = true;
}

static int check(const struct iwarp_stream_config *config, struct iwarp_sentence *sentence)
{
    size_t room = DDP_SCTP_PRIVATE_DATA_MAX - (config->enhanced ? MPA_ENHANCED_OCTETS : 0);

    if (config->private_octets > room)
        return iwarp_sentence_set(sentence, "stream: %u octets of Private Data, at most %zu fit",
                                  config->private_octets, room);
    if (config->peer_to_peer && config->role == IWARP_INITIATOR &&
        (!config->enhanced || (config->rtr & IWARP_RTR_ALL) == 0))
        return iwarp_sentence_set(sentence,
                                  "stream: peer-to-peer needs an enhanced Initiate and at least one RTR message");
    return 0;
}

/* The session begins once the stream is there: iwarp_sctp_stream_new(). */
static int begin(struct iwarp_stream *stream, struct iwarp_sentence *sentence)
{
    (void)stream;
    (void)sentence;
    return 0;
}

static void release(struct iwarp_stream *stream)
{
    struct sctp_session *session = lower_of(stream)->session;

    if (session != NULL)
        session_over(session);
    stream_unmark_active(stream);
}

static void input_end(struct iwarp_stream *stream)
{
    (void)stream; /* the peer's Terminate is in its turn, so nothing is missing before it */
}

static void overdue(struct iwarp_stream *stream)
{
    stream_fail_with(stream, NULL, WIRE_OK, VALIDATION_CLOSE, "no session came about within the time limit");
}

static size_t answer_room(const struct iwarp_stream *stream)
{
    const struct sctp_session *session = lower_of(stream)->session;
    bool word = session != NULL && session->initiate_code == DDP_SCTP_ENHANCED_INITIATE;

    return DDP_SCTP_PRIVATE_DATA_MAX - (word ? MPA_ENHANCED_OCTETS : 0);
}

static int answer(struct iwarp_stream *stream, bool accepted)
{
    struct sctp_session *session = lower_of(stream)->session;

    return session == NULL || session->state != SESSION_PENDING ? -1 : session_answer(session, accepted);
}

static bool close_session(struct iwarp_stream *stream)
{
    struct sctp_session *session = lower_of(stream)->session;

    return session != NULL && session_close(session);
}

static void state(const struct iwarp_stream *stream, struct iwarp_event *event)
{
    if (!stream->established)
        event->start = lower_of(stream)->start;
}

static void ready(struct iwarp_stream *stream)
{
    if (lower_of(stream)->session != NULL)
        session_ready(lower_of(stream)->session);
}

/* RFC 5043 has no error numbers of its own. */
const struct llp_ops sctp_llp = {
    .state_octets = sizeof(struct sctp_lower),
    .lost = WIRE_OK,
    .check = check,
    .begin = begin,
    .release = release,
    .input_end = input_end,
    .overdue = overdue,
    .answer_room = answer_room,
    .answer = answer,
    .ulpdu_max = segment_max,
    .frame = segment_frame,
    .close = close_session,
    .state = state,
    .ready = ready,
};

int iwarp_sctp_stream_config_check(struct iwarp_device *device, const struct iwarp_stream_config *config,
                                   struct iwarp_sentence *sentence)
{
    if (device == NULL || config == NULL)
        return misuse_null(sentence, "stream", "a device and a configuration");
    return stream_config_check(&sctp_llp, device, config, sentence);
}

int iwarp_sctp_stream_sid(const struct iwarp_stream *stream)
{
    if (stream == NULL || stream->llp != &sctp_llp || lower_of(stream)->session == NULL)
        return -1;
    return lower_of(stream)->session->sid;
}

/* --- A new one --------------------------------------------------------------------------------------------------- */

static int admit(const struct iwarp_association *association, unsigned sid, struct iwarp_sentence *sentence)
{
    if (!association->up || association->over || association->abort_wanted)
        return iwarp_sentence_set(sentence, "stream: the association is not up");
    if (association->closing)
        return iwarp_sentence_set(sentence, "stream: the association is being closed");
    if (association->mode == IWARP_SCTP_NOTHING)
        return iwarp_sentence_set(sentence, "stream: the association is not for DDP");
    if (sid >= association->streams)
        return iwarp_sentence_set(sentence, "stream: SID %u, the association has %u streams", sid,
                                  association->streams);
    return 0;
}

/* May the session take this stream? */
static int admit_session(const struct sctp_session *session, enum iwarp_role role, struct iwarp_sentence *sentence)
{
    if (session->stream != NULL)
        return iwarp_sentence_set(sentence, "stream: SID %u has a stream", session->sid);
    if (is_draft(session->association))
        return 0;
    if (role == IWARP_RESPONDER) {
        if (session->state == SESSION_IDLE || session->state == SESSION_PENDING || session->state == SESSION_DRAINING)
            return 0;
    } else if (session->state == SESSION_IDLE || (session->state == SESSION_DRAINING && session->control == 0 &&
                                                  session->outstanding == 0 && session->peer_end)) {
        return 0;
    }
    return iwarp_sentence_set(sentence, "stream: messages of the last session on SID %u may be outstanding",
                              session->sid);
}

static int attach(struct sctp_session *session, struct iwarp_stream *stream, struct iwarp_sentence *sentence)
{
    struct iwarp_association *association = session->association;

    if (deadlines_join(&association->deadlines) != 0)
        return iwarp_sentence_set(sentence, "stream: out of memory");
    lower_of(stream)->session = session;
    session->stream = stream;
    stream->agreed.ddp_alone = association->mode == IWARP_SCTP_DDP;
    association->attached++;
    stream->config.pd = (uint32_t)SCTP_NUMBER(association, session, SCTP_DOMAIN, stream->config.pd);
    if (is_draft(association))
        draft_attach(session);
    else if (stream->config.role == IWARP_INITIATOR)
        return session_initiate(session, sentence);
    else
        session_drain(session);
    return 0;
}

struct iwarp_stream *iwarp_sctp_stream_detached(struct iwarp_device *device, const struct iwarp_stream_config *config,
                                                uint64_t now, struct iwarp_sentence *sentence)
{
    if (device == NULL || config == NULL) {
        (void)misuse_null(sentence, "stream", "a device and a configuration");
        return NULL;
    }
    return stream_new(&sctp_llp, device, config, now, sentence);
}

/* The session that may take a stream of that role; NULL with a sentence. */
static struct sctp_session *session_for(struct iwarp_association *association, uint16_t sid, enum iwarp_role role,
                                        struct iwarp_sentence *sentence)
{
    struct sctp_session *session;

    if (admit(association, sid, sentence) != 0)
        return NULL;
    session = association_session(association, sid);
    if (session == NULL) {
        (void)iwarp_sentence_set(sentence, "stream: out of memory");
        return NULL;
    }
    if (admit_session(session, role, sentence) != 0 &&
        (session->stream != NULL || !SCTP_DECIDE(session, SCTP_SID_FREE, NULL, false)))
        return NULL;
    return session;
}

int iwarp_sctp_stream_attach(struct iwarp_association *association, uint16_t sid, struct iwarp_stream *stream,
                             uint64_t now, struct iwarp_sentence *sentence)
{
    struct sctp_session *session;

    if (association == NULL || stream == NULL)
        return misuse_null(sentence, "stream", "an association and a stream");
    if (stream->llp != &sctp_llp || lower_of(stream)->session != NULL || stream->state != IWARP_STATE_STARTUP ||
        stream->device != association->device)
        return iwarp_sentence_set(sentence, "stream: it is of another device or association, or has ended");
    association->now = now;
    session = session_for(association, sid, stream->config.role, sentence);
    if (session == NULL)
        return -1;
    if (attach(session, stream, sentence) != 0)
        return -1;
    session_settle(session);
    session_ready(session);
    return 0;
}

struct iwarp_stream *iwarp_sctp_stream_new(struct iwarp_association *association, uint16_t sid,
                                           const struct iwarp_stream_config *config, uint64_t now,
                                           struct iwarp_sentence *sentence)
{
    struct sctp_session *session;
    struct iwarp_stream *stream;

    if (association == NULL || config == NULL) {
        (void)iwarp_sentence_set(sentence, "stream: an association and a configuration were expected");
        return NULL;
    }
    association->now = now;
    session = session_for(association, sid, config->role, sentence);
    if (session == NULL)
        return NULL;
    stream = stream_new(&sctp_llp, association->device, config, now, sentence);
    if (stream == NULL) {
        session_ready(session);
        return NULL;
    }
    if (attach(session, stream, sentence) != 0) {
        iwarp_stream_free(stream);
        return NULL;
    }
    session_settle(session);
    session_ready(session);
    return stream;
}
