/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/explore/session_opening.h"

#include "conformance/engine/explore/session_layer.h"

enum {
    RECEIVE_OCTETS = 4096, /* of the device's receives, where the session asks for no other */
    DEPTH_MOST = 16,
    PRIVATE_MOST = 508, /* beside the word of RFC 6581 */
};

const struct session_layer *session_layer(const struct session *session)
{
    return session->sctp == IWARP_SCTP_UNDECIDED ? &session_tcp
           : session->sctp == IWARP_SCTP_RFC5043 ? &session_sctp
                                                 : &session_sctp_draft;
}

static int64_t depth(struct session_draw *draw)
{
    return 1 + (int64_t)session_below(draw, DEPTH_MOST);
}

void session_draw_depths(struct session_draw *draw, struct session_members *word)
{
    session_add(word, "IRD", depth(draw));
    session_add(word, "ORD", depth(draw));
}

void session_open_word(struct session *session, struct session_draw *draw)
{
    static const char *const flags[] = {"B", "C", "D"};
    struct session_members *word = &session->word;

    session_draw_depths(draw, word);
    if (session_once_in(draw, 2)) {
        uint64_t kinds = 1 + session_below(draw, 7);

        if (!session_once_in(draw, 4)) /* else nobody looks at them (RFC 6581 9.2) */
            session_add(word, "A", 1);
        for (int i = 0; i < 3; i++)
            if ((kinds >> i & 1) != 0)
                session_add(word, flags[i], 1);
    }
}

void session_open_depths(struct session *session, struct session_draw *draw)
{
    if (!session_once_in(draw, 2))
        return;
    session_add(&session->device, "ird", depth(draw));
    session_add(&session->device, "ord", depth(draw));
}

static void open_extensions(struct session *session, struct session_draw *draw, struct session_opening *opening)
{
    opening->extensions = !session_once_in(draw, 6);
    opening->swaps = opening->extensions && session_once_in(draw, 3);
    if (!opening->extensions || opening->swaps)
        session_add_word(&session->device, "extensions", opening->swaps ? "draft03" : "off");
}

/* Often few, or as many as there may be. */
static int64_t private_octets(struct session_draw *draw)
{
    if (session_once_in(draw, 4))
        return PRIVATE_MOST;
    return 1 + (int64_t)session_below(draw, session_once_in(draw, 3) ? 8 : PRIVATE_MOST);
}

static void open_private(struct session_draw *draw, struct session_members *members)
{
    if (session_once_in(draw, 3))
        session_add(members, "private", private_octets(draw));
    if (session_once_in(draw, 3))
        session_add(members, "device_private", private_octets(draw));
}

/* The side that answers turns the stream down. SCTP's one listener has one answer, unless the ULP is asked. */
static void turn_down(const struct session *session, struct session_draw *draw, struct session_members *members)
{
    bool first = members == &session->open;
    bool free = first || session->sctp == IWARP_SCTP_UNDECIDED || session_find(&session->open, "asks") != NULL;

    if (session->sctp == IWARP_SCTP_DRAFT02 || !session_once_in(draw, first ? 24 : 6))
        return;
    if (session->initiator || free)
        session_add_flag(members, session->initiator ? "refuses" : "rejects", true);
}

bool session_is_turned_down(const struct session_members *members)
{
    return session_find(members, "refuses") != NULL || session_find(members, "rejects") != NULL;
}

void session_open(struct session *session, struct session_draw *draw, struct session_opening *opening)
{
    session->initiator = session_once_in(draw, 2);
    session_layer(session)->open(session, draw);
    open_extensions(session, draw, opening);
    opening->receive_octets = RECEIVE_OCTETS;
    if (session_once_in(draw, 4))
        session_add(&session->device, "receives", 2 + (int64_t)session_below(draw, 14));
    if (session_once_in(draw, 6)) {
        opening->receive_octets = 16 + (int64_t)session_below(draw, 2000);
        session_add(&session->device, "receive_octets", opening->receive_octets);
    }
    open_private(draw, &session->open);
    if (!session->initiator && session->sctp != IWARP_SCTP_DRAFT02 && session_once_in(draw, 6))
        session_add_flag(&session->open, "asks", true);
    turn_down(session, draw, &session->open);
    if (session->initiator && session_once_in(draw, 6))
        session_add(&session->open, "flags", 1 + (int64_t)session_below(draw, 7));
    if (session_once_in(draw, 8)) /* after an error the ULP closes the stream later, and nobody before it */
        session_add(&session->device, "teardown_ms", 1000);
    if (session_once_in(draw, 8))
        session->ends = session_once_in(draw, 2) ? "disconnect" : "reset";
}

void session_open_another(const struct session *session, struct session_draw *draw, struct session_members *step)
{
    open_private(draw, step);
    session_layer(session)->open_another(session, draw, step);
    turn_down(session, draw, step);
}
