/* SPDX-License-Identifier: BSD-2-Clause */
/* What the generator of a session keeps, and the operations that it draws (session_operations.c). */
#ifndef CONFORMANCE_ENGINE_EXPLORE_SESSION_GENERATOR_INTERNAL_H
#define CONFORMANCE_ENGINE_EXPLORE_SESSION_GENERATOR_INTERNAL_H

#include "conformance/engine/explore/session_generator.h"
#include "conformance/engine/explore/session_opening.h"

enum { STREAMS_MOST = 3 /* of one session; the first has number 1 */ };

/* What is known of one region. */
struct region {
    int64_t octets;
    bool readable, writable, atomic, bound;
    bool dead;          /* a Send has invalidated it */
    bool read, written; /* by the tester, since the last settle */
    bool sink;          /* of a Read of the device, since then */
    int64_t stream;     /* that had to do with it, since then; 0: none */
};

struct generator {
    struct session *session;
    struct session_draw *draw;
    struct region regions[SESSION_REGIONS];
    struct session_opening opening;
    bool live[STREAMS_MOST + 1]; /* by number */
    int64_t stream;              /* of the next step */
};

static inline bool once_in(struct generator *generator, unsigned times)
{
    return session_once_in(generator->draw, times);
}

static inline int64_t below(struct generator *generator, int64_t count)
{
    return (int64_t)session_below(generator->draw, (uint64_t)(count > 0 ? count : 0));
}

/* A step on the stream whose turn it is; NULL: there is no room. */
struct session_step *generator_add_step(struct generator *generator, const char *name);

/* One more region of the session's memory. */
void generator_add_region(struct generator *generator, struct region *region);

/* A step that waits until every answer is there; after it, regions may be used in another way. */
void generator_settle(struct generator *generator);

/* A Send of the tester. */
void generator_send(struct generator *generator);

/* An operation of one of the sides, once or several times: so that much is open at once. */
void generator_operate(struct generator *generator);

/* A Read of the device. */
void generator_device_read(struct generator *generator);

/* Reads of the device that stay open. */
void generator_abandon_reads(struct generator *generator);

#endif
