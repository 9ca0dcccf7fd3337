/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/explore/session_memory.h"

#include <string.h>

#include "conformance/engine/explore/session_opening.h"

enum {
    SHORT_MOST = 16, /* octets of a Write or Read whose length does not matter */
    MESSAGE_MOST = 200,
    SEGMENT_MOST = 1200, /* fits a segment of every path that a session is run on */
    TARGET_OCTETS = 8,   /* of an atomic */
    SEND_INVALIDATE = 4,
};

/* Octets by which something is too far: mostly few, and often a number at which something changes. */
static int64_t distance(struct session_draw *draw)
{
    static const int64_t edges[] = {8,    63,         64,         100,         512,         1000,       4095,
                                    4096, 0x7FFFFFFF, 0x80000000, 0x100000000, 0x200000000, 0xFFFFFFFF, INT64_MAX};

    if (!session_once_in(draw, 2))
        return 1 + (int64_t)session_below(draw, 4);
    return edges[session_below(draw, sizeof(edges) / sizeof(edges[0]))];
}

static const char *any_step(struct session_draw *draw)
{
    static const char *const names[] = {"write", "read", "write", "read", "atomic"};

    return names[session_below(draw, sizeof(names) / sizeof(names[0]))];
}

static struct session_step *add_wrong(struct session *session, const char *name, int64_t frame)
{
    struct session_step *step = session_add_step(session, name);

    step->wrong.present = true;
    session_add(&step->wrong.what, "frame", frame);
    return step;
}

static void add_operation(struct session_draw *draw, struct session_step *step)
{
    session_add(&step->members, "operation", (int64_t)session_below(draw, 3));
    session_add(&step->members, "data", 1 + (int64_t)session_below(draw, UINT32_MAX));
}

/* A wrong step on a region from `at` on. */
static struct session_step *use(struct session *session, struct session_draw *draw, const char *name, int64_t number,
                                int64_t at, int64_t octets)
{
    struct session_step *step = add_wrong(session, name, 1);

    session_add(&step->members, "region", number);
    session_add(&step->members, "at", at);
    if (strcmp(name, "atomic") == 0)
        add_operation(draw, step);
    else
        session_add(&step->members, "octets", octets);
    return step;
}

static int64_t any_region(const struct session *session, struct session_draw *draw)
{
    return 1 + (int64_t)session_below(draw, session->region_count);
}

static int64_t octets_of(const struct session *session, int64_t number)
{
    return session_number(&session->regions[number - 1].members, "octets", 1);
}

/* Octets of a Write or Read that the region has room for, from its beginning on. */
static int64_t short_octets(struct session_draw *draw, int64_t room)
{
    return 1 + (int64_t)session_below(draw, room < SHORT_MOST ? (uint64_t)room : SHORT_MOST);
}

static void bind(struct session *session, int64_t number)
{
    session_drop(&session->regions[number - 1].members, "bound");
    session_add_flag(&session->regions[number - 1].members, "bound", true);
}

/* The region has all rights, is bound to no stream, and begins where the session needs it. */
static void open_region(struct session *session, struct session_draw *draw, int64_t number, const char *name)
{
    struct session_region *region = &session->regions[number - 1];

    region->access = strcmp(name, "atomic") == 0 ? "{ \"read\", \"write\", \"atomic\" }" : NULL;
    session_drop(&region->members, "bound");
    if (session_once_in(draw, 3)) { /* so that little is before it */
        session_drop(&region->members, "base");
        session_add(&region->members, "base", 0);
    }
}

/* A Write or Send of several segments, of which those within `room` are good. */
static void cut_message(struct session_draw *draw, struct session_step *step, int64_t at, int64_t room, int64_t octets)
{
    int64_t piece = 1 + (int64_t)session_below(draw, (uint64_t)octets);

    if (octets / piece > SHORT_MOST || at < 0)
        return;
    session_add(&step->members, "piece", piece);
    step->wrong.what.count = 0;
    session_add(&step->wrong.what, "frame", at < room ? (room - at) / piece + 1 : 1);
}

void session_reach_beyond(struct session *session, struct session_draw *draw)
{
    const char *name = any_step(draw);
    int64_t number = any_region(session, draw), room = octets_of(session, number), far = distance(draw), at;
    int64_t octets = 1 + (int64_t)session_below(draw, session_once_in(draw, 2) ? SHORT_MOST : SEGMENT_MOST);
    struct session_step *step;

    session->step_count = 0;
    open_region(session, draw, number, name);
    if (strcmp(name, "atomic") == 0) {
        octets = TARGET_OCTETS;
        far = far < INT64_MAX - TARGET_OCTETS ? (far + TARGET_OCTETS - 1) / TARGET_OCTETS * TARGET_OCTETS : far;
    }
    if (session_once_in(draw, 2))
        at = -far; /* where it begins at TO 0, that is round 2^64 */
    else if (far > INT64_MAX - room)
        at = far;
    else
        at = room - octets + far;
    if (strcmp(name, "read") == 0 && session_once_in(draw, 6))
        octets = UINT32_MAX - (int64_t)session_below(draw, 3);
    step = use(session, draw, name, number, at, octets);
    if (strcmp(name, "write") == 0 && session_once_in(draw, 3))
        cut_message(draw, step, at, room, octets);
}

void session_reach_too_far(struct session *session, struct session_draw *draw)
{
    static const char *const rights[] = {"{ \"read\" }", "{ \"write\" }", "{ \"read\", \"write\" }"};
    const char *name = any_step(draw);
    int64_t number = any_region(session, draw), room = octets_of(session, number);
    bool other = session_once_in(draw, 3), atomic = strcmp(name, "atomic") == 0;
    struct session_members opened = {.count = 0};
    struct session_step *step;

    session->step_count = 0;
    session->regions[number - 1].access = other && atomic              ? "{ \"read\", \"write\", \"atomic\" }"
                                          : other                      ? NULL
                                          : atomic                     ? rights[session_below(draw, 3)]
                                          : strcmp(name, "write") == 0 ? rights[0]
                                                                       : rights[1];
    if (other) {
        session_add(&opened, "opens", 2);
        session_open_another(session, draw, &opened);
        session_drop(&opened, "rejects");
        session_drop(&opened, "refuses");
        session_add_step(session, "another")->members = opened;
    }
    step = use(session, draw, name, number, 0, short_octets(draw, room));
    if (!other)
        return;
    session_add(&step->members, "stream", 2);
    bind(session, number);
}

/* A good Send that invalidates the region. */
static void invalidate(struct session *session, struct session_draw *draw, int64_t number)
{
    struct session_step *step = session_add_step(session, "send");

    session_add(&step->members, "octets", (int64_t)session_below(draw, SHORT_MOST));
    session_add(&step->members, "region", number);
    session_add(&step->members, "opcode", SEND_INVALIDATE + 2 * (int64_t)session_below(draw, 2));
}

void session_reach_invalid(struct session *session, struct session_draw *draw)
{
    const char *name = any_step(draw);
    int64_t number = any_region(session, draw);

    session->step_count = 0;
    open_region(session, draw, number, name);
    bind(session, number);
    invalidate(session, draw, number);
    if (session_once_in(draw, 2))
        (void)session_add_step(session, "settle");
    (void)use(session, draw, name, number, 0, session_once_in(draw, 4) ? 0 : 1);
}

/* The device's ULP gives the memory up, before a message or in the middle of it: what comes then is for nobody. */
void session_reach_revoked(struct session *session, struct session_draw *draw)
{
    const char *name = any_step(draw), *how = session_once_in(draw, 2) ? "dereg" : "invalidate";
    int64_t number = any_region(session, draw), room = octets_of(session, number);
    struct session_step *step;

    session->step_count = 0;
    open_region(session, draw, number, name);
    if (strcmp(name, "write") == 0 && room > 1 && session_once_in(draw, 2)) {
        int64_t octets = 1 + short_octets(draw, room - 1);

        step = use(session, draw, name, number, 0, octets);
        session_add(&step->members, "piece", (octets + 1) / 2);
        session_add_word(&step->members, "revoked", how);
        step->wrong.what.count = 0;
        session_add(&step->wrong.what, "frame", 2);
        return;
    }
    step = session_add_step(session, "device revoke");
    session_add(&step->members, "region", number);
    session_add_word(&step->members, "how", how);
    (void)use(session, draw, name, number, 0, short_octets(draw, room));
}

/* Memory of a Protection Domain that is not the stream's; perhaps another stream has it. */
void session_reach_other_domain(struct session *session, struct session_draw *draw)
{
    const char *name = any_step(draw);
    int64_t number = any_region(session, draw), room = octets_of(session, number);
    struct session_members opened = {.count = 0};

    session->step_count = 0;
    open_region(session, draw, number, name);
    session_add(&session->regions[number - 1].members, "pd", 1);
    if (session_once_in(draw, 2)) {
        session_add(&opened, "opens", 2);
        session_add(&opened, "pd", 1);
        session_open_another(session, draw, &opened);
        session_drop(&opened, "rejects");
        session_drop(&opened, "refuses");
        session_add_step(session, "another")->members = opened;
    }
    (void)use(session, draw, name, number, 0, short_octets(draw, room));
}

void session_invalidate_wrongly(struct session *session, struct session_draw *draw)
{
    int64_t number = any_region(session, draw);
    struct session_step *step;
    bool again = session_once_in(draw, 2);

    session->step_count = 0;
    session_drop(&session->regions[number - 1].members, "bound");
    if (again) {
        bind(session, number);
        invalidate(session, draw, number);
    }
    invalidate(session, draw, number);
    step = &session->steps[session->step_count - 1];
    step->wrong.present = true;
    session_add(&step->wrong.what, "frame", 1);
}

void session_operate_wrongly(struct session *session, struct session_draw *draw)
{
    int64_t number = any_region(session, draw);
    struct session_region *region = &session->regions[number - 1];
    bool aligned = session_once_in(draw, 3);
    struct session_step *step;

    session->step_count = 0;
    session_drop(&region->members, "octets");
    session_add(&region->members, "octets", 8 * TARGET_OCTETS);
    open_region(session, draw, number, "atomic");
    step = add_wrong(session, "atomic", 1);
    session_add(&step->members, "region", number);
    session_add(&step->members, "at", aligned ? 0 : 1 + (int64_t)session_below(draw, TARGET_OCTETS - 1));
    session_add(&step->members, "operation", (int64_t)session_below(draw, aligned ? 16 : 3));
    session_add(&step->members, "data", 1);
}

void session_overfill(struct session *session, struct session_draw *draw)
{
    int64_t room = 1 + (int64_t)session_below(draw, MESSAGE_MOST), far = distance(draw);
    int64_t octets = room + (far < SEGMENT_MOST - MESSAGE_MOST ? far : 1);
    struct session_step *step;

    session->step_count = 0;
    session_drop(&session->device, "receive_octets");
    session_add(&session->device, "receive_octets", room);
    step = add_wrong(session, "send", 1);
    session_add(&step->members, "octets", octets);
    if (session_once_in(draw, 3))
        cut_message(draw, step, 0, room, octets);
}

/* As many Reads as IRD, or more of them, while the tester's window is shut. */
static void shut_with_reads(struct session *session, struct session_draw *draw, int64_t depth)
{
    int64_t more = (int64_t)session_below(draw, 3);
    const struct session_member *extensions = session_find(&session->device, "extensions");
    struct session_step *step = add_wrong(session, "reads", 1);

    session->beyond = more != 0;
    session_add(&step->members, "times", depth + more);
    session_add(&step->members, "octets", session_once_in(draw, 4) ? 0 : 1 + (int64_t)session_below(draw, SHORT_MOST));
    if ((extensions == NULL || strcmp(extensions->word, "off") != 0) && session_once_in(draw, 3))
        session_add(&step->members, "before", 1 + (int64_t)session_below(draw, 4));
}

void session_exhaust_reads(struct session *session, struct session_draw *draw)
{
    int64_t depth = 1 + (int64_t)session_below(draw, 3), number = any_region(session, draw);
    int64_t room = octets_of(session, number);
    struct session_step *step;

    session->step_count = 0;
    session->word.count = 0;
    session_drop(&session->device, "ird");
    session_drop(&session->device, "p2p");
    session_add(&session->device, "ird", depth);
    if (session->sctp == IWARP_SCTP_UNDECIDED && session_once_in(draw, 2)) {
        shut_with_reads(session, draw, depth);
        return;
    }
    open_region(session, draw, number, "read");
    step = use(session, draw, "read", number, 0, session_once_in(draw, 4) ? 0 : short_octets(draw, room));
    session_add(&step->members, "times", depth + 1 + (int64_t)session_below(draw, 2));
}
