/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What differs between the lower layers of a session: how a stream begins, and what may be wrong below DDP. MPA over TCP
 * is in session_tcp.c; SCTP, by RFC 5043 and by draft-stewart-rddp-sctp-02, in session_sctp.c. What a check makes of it is
 * in 9-followed-tcp.lua and 9-followed-sctp.lua.
 */
#ifndef CONFORMANCE_ENGINE_EXPLORE_SESSION_LAYER_H
#define CONFORMANCE_ENGINE_EXPLORE_SESSION_LAYER_H

#include "conformance/engine/explore/session_generator.h"
#include "wire/field.h"

struct session_layer {
    const char *llp;   /* as a check names it */
    const char *frame; /* what is around a segment */

    /* What is special in the start-up of the first stream, and of a step that opens another one. */
    void (*open)(struct session *session, struct session_draw *draw);
    void (*open_another)(const struct session *session, struct session_draw *draw, struct session_members *step);

    /* How the octets of a step go out; TCP segments have at least so many octets. */
    void (*send)(struct session_draw *draw, struct session_members *step, int64_t least);

    /* Something wrong: around a segment, in the tester's start-up frame, and in a new last step that nobody asked for. */
    void (*wrong_frame)(struct session_draw *draw, struct session_members *frame);
    void (*wrong_start)(struct session *session, struct session_draw *draw);
    void (*unasked)(struct session *session, struct session_draw *draw); /* NULL: DDP's and RDMAP's alone */

    /* A new last step: another stream begins wrongly beside those that are there. NULL: it has nothing to do with them. */
    void (*wrong_another)(struct session *session, struct session_draw *draw);
};

extern const struct session_layer session_tcp, session_sctp, session_sctp_draft;

const struct session_layer *session_layer(const struct session *session);

/* The word of RFC 6581 in the tester's Request or Initiate. */
void session_open_word(struct session *session, struct session_draw *draw);

/* IRD and ORD of the tester's word. */
void session_draw_depths(struct session_draw *draw, struct session_members *word);

/* IRD and ORD of the device. */
void session_open_depths(struct session *session, struct session_draw *draw);

/* A field of the header, which begins at octet `at`: a small step, one bit, or anything. */
void session_change_field(struct session_draw *draw, struct session_members *wrong, const struct wire_layout *layout,
                          unsigned at);

/* One of the first `most` octets is another. */
void session_change_octet(struct session_draw *draw, struct session_members *wrong, unsigned most);

#endif
