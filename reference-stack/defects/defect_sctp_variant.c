/* SPDX-License-Identifier: BSD-2-Clause */
/* Legal behaviour of associations and sessions over SCTP: variants.tsv says which requirement allows it. */
#include "reference-stack/defects/defect_sctp_variant.h"

#include "reference-stack/defects/defect_sctp_seams.h"

enum { GAP_MOST = 1024 };

static bool session_behaves(const struct sctp_session *session, enum defect_behaviour behaviour)
{
    return defect_behaves(association_set(session->association), behaviour);
}

static void ends(struct sctp_session *session, const char *text)
{
    struct validation_subject subject = {.stream = session->stream};
    struct validation_outcome outcome = {.requirement = "SCTP5043-10-11", .error = WIRE_OK, .action = VALIDATION_CLOSE};

    session->association->counters.dropped++;
    session_fail(session, &outcome, &subject, text);
}

bool variant_sctp_sorting(struct sctp_session *session, const struct ddp_sctp_message *message)
{
    int ahead = (int16_t)(uint16_t)(message->ssn - session->expected);

    if ((ahead < 0 || order_find(session, message->ssn) != NULL) &&
        session_behaves(session, DEFECT_SCTP_DUPLICATE_ENDS)) {
        ends(session, "a DDP-SSN came before");
        return true;
    }
    if (ahead >= GAP_MOST && session_behaves(session, DEFECT_SCTP_GAP_ENDS)) {
        ends(session, "a DDP-SSN is far from the one that is due");
        return true;
    }
    return false;
}

bool variant_sctp_foreign(const struct iwarp_association *association, const struct iwarp_sctp_message *from,
                          const struct ddp_sctp_message *message)
{
    return message->kind == DDP_SCTP_DRAFT_CONTROL && from->ppid == DDP_SCTP_PPID_DRAFT_SEGMENT &&
           defect_behaves(association_set(association), DEFECT_SCTP_RESET_BY_TABLE);
}

/* A stream is about to fail. */
void variant_sctp_fail(const struct iwarp_stream *stream, struct validation_outcome *outcome)
{
    const struct sctp_session *session = stream->llp == &sctp_llp ? lower_of(stream)->session : NULL;
    bool draft = session != NULL && is_draft(session->association);

    if (draft && outcome->action == VALIDATION_TERMINATE && stream_behaves(stream, DEFECT_SCTP_ABORTED_SILENT))
        outcome->action = VALIDATION_CLOSE;
    if (session != NULL && !draft && session->state == SESSION_OPEN && outcome->entry != NULL &&
        outcome->entry->stage >= VALIDATE_MESSAGE && outcome->action == VALIDATION_CLOSE &&
        stream_behaves(stream, DEFECT_SCTP_ILLEGAL_TERMINATES)) {
        outcome->action = VALIDATION_TERMINATE;
        outcome->error = TERM_RDMAP_CATASTROPHIC_STREAM;
    }
}

/* --- Choices of the stack ----------------------------------------------------------------------------------------- */

bool defect_sctp_terminate_waits(const struct sctp_session *session)
{
    return session->stream->end.terminate_sent && !session->peer_end &&
           session_behaves(session, DEFECT_SCTP_TERMINATE_WAITS);
}

int defect_sctp_own_sid(const struct iwarp_association *association, int sid)
{
    const struct defect_set *set = association_set(association);
    unsigned streams = association->streams;
    bool highest = defect_behaves(set, DEFECT_SCTP_HIGHEST_SID), middle = defect_behaves(set, DEFECT_SCTP_MIDDLE_SID);

    if (!defect_behaves(set, DEFECT_SCTP_LOWEST_SID) && !highest && !middle)
        return sid;
    for (unsigned i = 0; i < streams; i++) {
        unsigned at = highest ? streams - 1 - i : (i + (middle ? streams / 2 : 0)) % streams;
        bool fresh = association->sessions[at] == NULL;

        /* One that was used is preferred to none only (draft 7.2): a defect does not prefer. */
        if (fresh || (!highest && !middle && association_sid_is_free(association, at)))
            return (int)at;
    }
    return sid;
}
