/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An association: what both sides indicate, how many streams they have, and what the ULP does with it (RFC 5043 7, 8,
 * 11).
 */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "reference-stack/base/misuse.h"
#include "reference-stack/sctp/sctp.h"

void iwarp_association_config_default(struct iwarp_association_config *config, enum iwarp_sctp_profile profile)
{
    if (config == NULL)
        return;
    *config = (struct iwarp_association_config){
        .profile = profile,
        .indicate = true,
        .indication = profile == IWARP_SCTP_DRAFT02 ? DDP_SCTP_INDICATION_DDP_RDMA : DDP_SCTP_INDICATION_DDP,
        .streams = 64,
        .pending_max = 16,
        .mtu = 1500,
        .network_octets = 20,
        .held_max = (size_t)4 << 20,
        .draft_reset_ppid = DDP_SCTP_PPID_DRAFT_CONTROL,
        .draft_reset_answer = true,
        .draft_version = DDP_VERSION,
    };
}

/*
 * RFC 5043 11.1 knows one value, and RDMAP is not signalled; the draft (7.1) has two, and the lesser of both sides
 * counts.
 */
enum iwarp_sctp_mode iwarp_sctp_mode(const struct iwarp_association_config *config, bool has, uint32_t indication)
{
    if (config == NULL || !config->indicate || !has)
        return IWARP_SCTP_NOTHING;
    if (config->profile != IWARP_SCTP_DRAFT02)
        return indication == DDP_SCTP_INDICATION_DDP && config->indication == DDP_SCTP_INDICATION_DDP
                   ? IWARP_SCTP_RDMA
                   : IWARP_SCTP_NOTHING;
    if (indication != DDP_SCTP_INDICATION_DDP && indication != DDP_SCTP_INDICATION_DDP_RDMA)
        return IWARP_SCTP_NOTHING;
    return indication == DDP_SCTP_INDICATION_DDP_RDMA && config->indication == DDP_SCTP_INDICATION_DDP_RDMA
               ? IWARP_SCTP_RDMA
               : IWARP_SCTP_DDP;
}

static int check(const struct iwarp_association_config *config, struct iwarp_sentence *sentence)
{
    bool draft = config->profile == IWARP_SCTP_DRAFT02;

    if (!draft && config->profile != IWARP_SCTP_RFC5043)
        return iwarp_sentence_set(sentence, "association: profile %d is not known", (int)config->profile);
    if (config->indicate && config->indication != DDP_SCTP_INDICATION_DDP &&
        (!draft || config->indication != DDP_SCTP_INDICATION_DDP_RDMA))
        return iwarp_sentence_set(sentence, "association: indication %u is not one of the profile's",
                                  config->indication);
    if (config->streams == 0)
        return iwarp_sentence_set(sentence, "association: no streams, 1 or more were expected");
    if (config->draft_reset_ppid != DDP_SCTP_PPID_DRAFT_SEGMENT &&
        config->draft_reset_ppid != DDP_SCTP_PPID_DRAFT_CONTROL)
        return iwarp_sentence_set(sentence, "association: PPID %u for a Stream Reset, 1 or 2 was expected",
                                  config->draft_reset_ppid);
    if (config->draft_version > DDP_VERSION)
        return iwarp_sentence_set(sentence, "association: version %u of DDP, 0 or 1 was expected",
                                  config->draft_version);
    if (config->mtu > UINT16_MAX || config->network_octets > config->mtu)
        return iwarp_sentence_set(sentence, "association: MTU %zu with %zu octets below SCTP", config->mtu,
                                  config->network_octets);
    return 0;
}

struct iwarp_association *iwarp_association_new(struct iwarp_device *device,
                                                const struct iwarp_association_config *config, uint64_t now,
                                                struct iwarp_sentence *sentence)
{
    struct iwarp_association *association;

    if (device == NULL || config == NULL) {
        (void)iwarp_sentence_set(sentence, "association: a device and a configuration were expected");
        return NULL;
    }
    if (check(config, sentence) != 0)
        return NULL;
    association = calloc(1, sizeof(*association));
    if (association == NULL) {
        (void)iwarp_sentence_set(sentence, "association: out of memory");
        return NULL;
    }
    association->config = *config;
    association->device = device;
    association->now = now;
    ring_init(&association->events, sizeof(struct iwarp_association_event));
    if (config->faults == NULL)
        return association;
    association->faults = config->faults->ops->association_new(association, config->faults);
    if (association->faults != NULL)
        return association;
    (void)iwarp_sentence_set(sentence, "association: out of memory");
    free(association);
    return NULL;
}

static void session_free(struct sctp_session *session)
{
    struct iwarp_association *association = session->association;

    session_not_ready(session);
    order_clear(session);
    association->sessions[session->sid] = NULL;
    association->counters.sessions--;
    free(session);
}

void iwarp_association_free(struct iwarp_association *association)
{
    if (association == NULL)
        return;
    association_down(association, "the association was freed");
    while (association->active != NULL)
        stream_unmark_active(association->active->stream);
    order_free(association);
    deadlines_free(&association->deadlines);
    ring_free(&association->events);
    free(association->sessions);
    faults_release(&association->faults);
    free(association);
}

void iwarp_association_init(const struct iwarp_association *association, struct iwarp_sctp_init *init)
{
    if (init == NULL)
        return;
    memset(init, 0, sizeof(*init));
    if (association == NULL)
        return;
    init->has_indication = association->config.indicate;
    init->indication = association->config.indication;
    init->outbound = init->inbound = association->config.streams;
    SCTP_SEAM(association, init(association, init, true));
}

/* --- Sessions ---------------------------------------------------------------------------------------------------- */

struct sctp_session *association_session(struct iwarp_association *association, uint16_t sid)
{
    struct sctp_session *session = association->sessions[sid];

    if (session != NULL)
        return session;
    session = calloc(1, sizeof(*session));
    if (session == NULL)
        return NULL;
    session->association = association;
    session->sid = sid;
    association->sessions[sid] = session;
    association->counters.sessions++;
    if (sid >= association->unused)
        association->unused = (uint16_t)(sid + 1);
    return session;
}

/* Nothing of an earlier session may come any more, in either direction (RFC 5043 6.6). */
static bool is_free(const struct sctp_session *session)
{
    return session->stream == NULL && session->control == 0 && session->outstanding == 0 &&
           (session->state == SESSION_IDLE || (session->state == SESSION_DRAINING && session->peer_end));
}

void association_forget(struct sctp_session *session)
{
    if (is_free(session) && session->association->sending != session &&
        !SCTP_DECIDE(session, SCTP_HELD_KEPT, NULL, false))
        session_free(session);
}

bool association_sid_is_free(const struct iwarp_association *association, unsigned sid)
{
    const struct sctp_session *session = association->sessions[sid];

    return session == NULL || is_free(session) ||
           (session->state == SESSION_ABORTED && session->stream == NULL && session->outstanding == 0);
}

static int free_sid(const struct iwarp_association *association)
{
    if (association->unused < association->streams)
        return association->unused;
    for (unsigned sid = 0; sid < association->streams; sid++)
        if (association_sid_is_free(association, sid))
            return (int)sid;
    return -1;
}

int iwarp_association_free_sid(const struct iwarp_association *association)
{
    if (association == NULL || !association->up || association->over)
        return -1;
    return (int)(int64_t)SCTP_NUMBER(association, NULL, SCTP_OWN_SID, (int64_t)free_sid(association));
}

/* --- Events ------------------------------------------------------------------------------------------------------ */

void association_event(struct iwarp_association *association, enum iwarp_association_event_kind kind, uint16_t sid,
                       uint32_t code)
{
    struct iwarp_association_event *event;

    if (association->events.count >= SCTP_EVENTS_MAX && kind != IWARP_ASSOCIATION_DOWN)
        return;
    event = ring_push(&association->events);
    if (event == NULL) {
        association->abort_wanted = true; /* no event could report what follows */
        return;
    }
    *event = (struct iwarp_association_event){
        .kind = kind, .mode = association->mode, .streams = association->streams, .sid = sid, .code = code};
}

/* The request as it stands now, false: it has been withdrawn, or taken. */
static bool fill_request(const struct iwarp_association *association, struct iwarp_association_event *event)
{
    const struct sctp_session *session = association->over ? NULL : association->sessions[event->sid];
    const struct sctp_held *held;
    struct ddp_sctp_message message;

    if (session == NULL || session->state != SESSION_PENDING || session->stream != NULL)
        return false;
    held = order_find(session, session->expected);
    if (held == NULL || is_draft(association))
        return is_draft(association);
    (void)ddp_sctp_parse(held->ppid, held->octets, held->count, &message);
    event->code = message.code;
    event->private_data = ddp_sctp_ulp_data(&message, &event->private_octets);
    return true;
}

bool iwarp_association_poll(struct iwarp_association *association, struct iwarp_association_event *event)
{
    const struct iwarp_association_event *oldest;

    if (association == NULL || event == NULL)
        return false;
    while ((oldest = ring_at(&association->events, 0)) != NULL) {
        *event = *oldest;
        ring_pop(&association->events);
        if (event->kind != IWARP_ASSOCIATION_REQUEST || fill_request(association, event))
            return true;
    }
    return false;
}

/* --- Up and down ------------------------------------------------------------------------------------------------- */

/* Each stream's ULP gets an event, and no message is sent on any stream (RFC 5043 11.3). */
void association_down(struct iwarp_association *association, const char *text)
{
    struct iwarp_association_event *event;

    if (association->over)
        return;
    association->over = true;
    for (unsigned sid = 0; association->sessions != NULL && sid < association->streams; sid++) {
        struct sctp_session *session = association->sessions[sid];

        if (session == NULL)
            continue;
        if (session->stream != NULL) {
            if (SCTP_DECIDE(session, SCTP_DOWN_REPORTED, NULL, true))
                iwarp_stream_input_reset(session->stream, association->now);
            session->state = SESSION_IDLE; /* nothing is owed to the peer */
            session_over(session);
        }
        session_decided(session);
        session_free(session);
    }
    association->sending = NULL;
    association_event(association, IWARP_ASSOCIATION_DOWN, 0, 0);
    event = association->events.count == 0 ? NULL : ring_at(&association->events, association->events.count - 1);
    if (event != NULL)
        (void)snprintf(event->text, sizeof(event->text), "%s", text);
}

static uint16_t least(uint16_t a, uint16_t b)
{
    return a < b ? a : b;
}

void iwarp_association_up(struct iwarp_association *association, const struct iwarp_sctp_init *peer, uint64_t now)
{
    struct validation_session view = {0};
    struct validation_subject subject = {.session = &view};
    struct validation_outcome outcome;
    struct iwarp_sctp_init said;

    if (association == NULL || peer == NULL || association->up || association->over)
        return;
    association->now = now;
    said = *peer;
    SCTP_SEAM(association, init(association, &said, false));
    association->mode = (enum iwarp_sctp_mode)SCTP_NUMBER(
        association, NULL, SCTP_MODE, iwarp_sctp_mode(&association->config, said.has_indication, said.indication));
    association->streams = least(association->config.streams, least(said.outbound, said.inbound));
    association->streams = (uint16_t)SCTP_NUMBER(association, NULL, SCTP_PAIRS, association->streams);
    view = (struct validation_session){
        .faults = association->faults,
        .profile = association->config.profile,
        .admitted = association->mode != IWARP_SCTP_NOTHING || association->config.any_indication,
        .streams = association->streams,
    };
    association->sessions = calloc(association->streams + 1u, sizeof(struct sctp_session *));
    if (association->sessions == NULL) {
        association->abort_wanted = true;
        association_down(association, "out of memory for the association's streams");
        return;
    }
    if (!stream_judge(VALIDATE_ASSOCIATION, &subject, &outcome)) {
        association->abort_wanted = true;
        association_down(association, view.admitted ? "the peer has no streams in one of the directions"
                                                    : "the peer's adaptation indication does not admit DDP");
        return;
    }
    association->up = true;
    association_event(association, IWARP_ASSOCIATION_UP, 0, 0);
}

void iwarp_association_lost(struct iwarp_association *association, uint64_t now)
{
    if (association == NULL)
        return;
    association->now = now;
    association_down(association, "SCTP has lost the association");
}

void iwarp_association_abort(struct iwarp_association *association, uint64_t now)
{
    if (association == NULL || association->over)
        return;
    association->now = now;
    if (!SCTP_ASSOCIATION_DECIDE(association, SCTP_ABORTS, true))
        return;
    association->abort_wanted = true;
    association_down(association, "the ULP has aborted the association");
}

void iwarp_association_close(struct iwarp_association *association, uint64_t now)
{
    if (association == NULL || association->over)
        return;
    association->now = now;
    association->closing = true;
    for (unsigned sid = 0; association->sessions != NULL && sid < association->streams; sid++)
        if (association->sessions[sid] != NULL && association->sessions[sid]->stream != NULL)
            iwarp_stream_disconnect(association->sessions[sid]->stream, now);
}

const struct iwarp_association_counters *iwarp_association_counters(const struct iwarp_association *association)
{
    return association == NULL ? NULL : &association->counters;
}

void iwarp_association_set_mtu(struct iwarp_association *association, size_t mtu)
{
    if (association != NULL)
        association->config.mtu = mtu > UINT16_MAX ? UINT16_MAX : mtu;
}
