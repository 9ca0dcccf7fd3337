/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/explore/session_layer.h"

#include <string.h>

#include "wire/ddp_sctp.h"

enum { SIDS_MOST = 6, OTHER_NUMBER = 9 /* of a stream: above those of the generator */ };

/* ---- legal ------------------------------------------------------------------------------------------------------- */

static void open_sctp(struct session *session, struct session_draw *draw)
{
    session_open_depths(session, draw);
    if (!session->initiator && session_once_in(draw, 2))
        session_open_word(session, draw);
    if (session->initiator && session_once_in(draw, 2)) {
        session_add_flag(&session->open, "device_enhanced", true);
        if (session_once_in(draw, 3))
            session_add_flag(&session->device, "p2p", true);
    }
    if (!session->initiator && session_once_in(draw, 2))
        session_add(&session->open, "sid", (int64_t)session_below(draw, SIDS_MOST));
}

/* No message says IRD and ORD, or has Private Data: both sides have them from elsewhere. */
static void open_draft(struct session *session, struct session_draw *draw)
{
    if (!session->initiator && session_once_in(draw, 2))
        session_add(&session->open, "sid", (int64_t)session_below(draw, SIDS_MOST));
}

static void open_another_sctp(const struct session *session, struct session_draw *draw, struct session_members *step)
{
    (void)session;
    if (session_once_in(draw, 2)) /* else the lowest one that is free, which another session had before */
        session_add(step, "sid", (int64_t)session_below(draw, SIDS_MOST));
}

/* How many chunks are in a packet, and in which order they go. */
static void send_sctp(struct session_draw *draw, struct session_members *step, int64_t least)
{
    (void)least;
    if (session_once_in(draw, 5))
        session_add(step, "cut", 1 + (int64_t)session_below(draw, 6));
    if (session_once_in(draw, 4))
        session_add_flag(step, "backwards", true);
    else if (session_once_in(draw, 12))
        session_add_flag(step, "late", true);
}

/* ---- wrong ------------------------------------------------------------------------------------------------------- */

static int64_t a_ppid(struct session_draw *draw)
{
    static const int64_t near[] = {0, DDP_SCTP_PPID_DRAFT_SEGMENT, DDP_SCTP_PPID_DRAFT_CONTROL, DDP_SCTP_PPID_SEGMENT,
                                   DDP_SCTP_PPID_CONTROL};
    size_t count = sizeof(near) / sizeof(near[0]), which = session_below(draw, count + 1);

    return which < count ? near[which] : (int64_t)session_below(draw, UINT32_MAX);
}

static void wrong_chunk(struct session_draw *draw, struct session_members *chunk)
{
    switch (session_below(draw, 9)) {
    case 0:
    case 1: session_add(chunk, "ppid", a_ppid(draw)); break;
    case 2: session_add_flag(chunk, "gap", true); break;
    case 3: session_add_flag(chunk, "again", true); break;
    case 4:
        session_add(chunk, "ssn",
                    session_once_in(draw, 2) ? -1 - (int64_t)session_below(draw, 4)
                                             : 1 + (int64_t)session_below(draw, UINT16_MAX));
        break;
    case 5: session_add(chunk, "sid", 1 + (int64_t)session_below(draw, 3)); break;
    case 6: session_add(chunk, "keep", (int64_t)session_below(draw, 8)); break;
    case 7: session_add_flag(chunk, "bad_checksum", true); break;
    default: session_add(chunk, "flags", (int64_t)session_below(draw, 8)); break; /* U, B and E */
    }
}

/* A plain code where an enhanced one is due, and the other way round. */
static void other_kind(struct session_draw *draw, struct session_members *wrong)
{
    int64_t step = DDP_SCTP_ENHANCED_INITIATE - DDP_SCTP_INITIATE;

    session_add_word(wrong, "of", ddp_sctp_control_layout.id);
    session_add_word(wrong, "field", "Code");
    session_add(wrong, "at", 0);
    session_add(wrong, "bits", 16);
    session_add(wrong, "add", session_once_in(draw, 2) ? step : -step);
}

static void wrong_start_control(struct session *session, struct session_draw *draw)
{
    struct session_wrong *wrong = &session->wrong_start;

    switch (session_below(draw, 10)) {
    case 9: other_kind(draw, &wrong->what); break;
    case 0: session_add(&wrong->what, "keep", (int64_t)session_below(draw, 12)); break;
    case 1: /* little, or beyond what Private Data may have (RFC 5043 5.2.3) */
        session_add(&wrong->what, "more",
                    session_once_in(draw, 2) ? 1 + (int64_t)session_below(draw, 600)
                                             : DDP_SCTP_PRIVATE_DATA_MAX + (int64_t)session_below(draw, 90));
        break;
    case 2: session_add_flag(&wrong->what, "twice", true); break;
    case 3: session_add_flag(&wrong->what, "before", true); break;
    case 4: wrong_chunk(draw, &wrong->frame); break;
    case 5:
        if (session->word.count != 0) {
            session_change_field(draw, &wrong->what, &mpa_enhanced_layout, DDP_SCTP_CONTROL_OCTETS);
            break;
        }
        /* fall through */
    default: session_change_field(draw, &wrong->what, &ddp_sctp_control_layout, 0); break;
    }
}

/* The draft's streams have no start-up: their first segments are those of the first step. */
static void wrong_start_draft(struct session *session, struct session_draw *draw)
{
    struct session_step *step;

    session->wrong_start.present = false;
    step = session_add_step(session, "send");
    session_add(&step->members, "octets", (int64_t)session_below(draw, 64));
    step->wrong.present = true;
    session_add(&step->wrong.what, "frame", 1);
    wrong_chunk(draw, &step->wrong.frame);
}

static struct session_step *add_control(struct session *session, int64_t code, int64_t octets)
{
    struct session_step *step = session_add_step(session, "control");

    session_add(&step->members, "code", code);
    if (octets != 0)
        session_add(&step->members, "octets", octets);
    step->wrong.present = true;
    session_add(&step->wrong.what, "frame", 1);
    return step;
}

/* Another session of the association begins wrongly: those that are there go on. */
static void wrong_another(struct session *session, struct session_draw *draw)
{
    struct session_step *step;

    wrong_start_control(session, draw);
    step = session_add_step(session, "another");
    session_add(&step->members, "opens", OTHER_NUMBER);
    step->wrong = session->wrong_start;
    step->wrong.present = true;
    memset(&session->wrong_start, 0, sizeof(session->wrong_start));
}

/* A session control message within a session. */
static void unasked_control(struct session *session, struct session_draw *draw)
{
    int64_t code = (int64_t)session_below(draw, session_once_in(draw, 6) ? UINT16_MAX : DDP_SCTP_ENHANCED_REJECT + 2);
    int64_t octets = session_once_in(draw, 2) ? 0 : (int64_t)session_below(draw, DDP_SCTP_PRIVATE_DATA_MAX + 20);
    struct session_step *step = add_control(session, code, octets);

    if (session_once_in(draw, 4))
        wrong_chunk(draw, &step->wrong.frame);
}

/* A Stream Reset, or what is none: its PPID by the draft's table, or by its text (SCTP-2.2-03). */
static void unasked_reset(struct session *session, struct session_draw *draw)
{
    int64_t code = session_once_in(draw, 2) ? DDP_SCTP_STREAM_RESET : (int64_t)session_below(draw, UINT32_MAX);
    struct session_step *step =
        add_control(session, code, session_once_in(draw, 2) ? 0 : 1 + (int64_t)session_below(draw, 8));

    if (session_once_in(draw, 4))
        session_add(&step->members, "ppid", DDP_SCTP_PPID_DRAFT_SEGMENT);
}

const struct session_layer session_sctp = {
    .llp = "sctp",
    .frame = "chunk",
    .open = open_sctp,
    .open_another = open_another_sctp,
    .send = send_sctp,
    .wrong_frame = wrong_chunk,
    .wrong_start = wrong_start_control,
    .unasked = unasked_control,
    .wrong_another = wrong_another,
};

const struct session_layer session_sctp_draft = {
    .llp = "sctp-draft02",
    .frame = "chunk",
    .open = open_draft,
    .open_another = open_another_sctp,
    .send = send_sctp,
    .wrong_frame = wrong_chunk,
    .wrong_start = wrong_start_draft,
    .unasked = unasked_reset,
};
