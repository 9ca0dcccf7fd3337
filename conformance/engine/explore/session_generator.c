/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/explore/session_generator.h"

#include <string.h>

#include "base/splitmix.h"

enum {
    RECEIVE_OCTETS = 4096, /* of the device's receives, where the session asks for no other */
    PIECE_MOST = 1300,     /* fits a segment of every path that a session is run on */
    SEGMENTS_MOST = 40,    /* of one message, and TCP segments of one step */
    DEPTH_MOST = 16,
    OPERATIONS_MOST = 12,
};

/* What is known of one region. */
struct region {
    int64_t octets;
    bool readable, writable, atomic, bound;
    bool dead;          /* a Send has invalidated it */
    bool read, written; /* by the tester, since the last settle */
    bool sink;          /* of a Read of the device, since then */
};

struct generator {
    struct session *session;
    struct session_draw *draw;
    struct region regions[SESSION_REGIONS];
    bool extensions; /* atomics and Immediate Data are in force */
    bool swaps;      /* those of the draft */
    int64_t receive_octets;
};

uint64_t session_below(struct session_draw *draw, uint64_t count)
{
    uint64_t number = splitmix_next(&draw->state);

    return count == 0 ? 0 : number % count;
}

bool session_once_in(struct session_draw *draw, unsigned times)
{
    return session_below(draw, times) == 0;
}

static bool once_in(struct generator *generator, unsigned times)
{
    return session_once_in(generator->draw, times);
}

static int64_t below(struct generator *generator, int64_t count)
{
    return (int64_t)session_below(generator->draw, (uint64_t)(count > 0 ? count : 0));
}

/* Octets of a message: often few, and often a number at which something changes. */
static int64_t size(struct generator *generator, int64_t most)
{
    static const int64_t edges[] = {0,   1,   2,   3,   4,    5,    8,    18,   127,  128, 255,
                                    256, 490, 508, 512, 1000, 1024, 1300, 2048, 4000, 4096};
    int64_t octets = once_in(generator, 2)   ? edges[below(generator, sizeof(edges) / sizeof(edges[0]))]
                     : once_in(generator, 2) ? below(generator, 64)
                                             : below(generator, most + 1);

    return octets <= most ? octets : most;
}

/* ---- start-up ---------------------------------------------------------------------------------------------------- */

static void open_framing(struct generator *generator)
{
    struct session *session = generator->session;

    if (once_in(generator, 4))
        session_add_flag(&session->own, "M", true);
    if (once_in(generator, 6))
        session_add_flag(&session->own, "C", false);
    if (once_in(generator, 4))
        session_add_flag(&session->device, "markers", true);
    if (once_in(generator, 5))
        session_add_flag(&session->device, "crc", false);
}

/* The word of the tester's Request. A Reply mirrors that of the device's Request. */
static void open_word(struct generator *generator)
{
    struct session *session = generator->session;
    struct session_members *word = &session->word;

    session_add(word, "IRD", 1 + below(generator, DEPTH_MOST));
    session_add(word, "ORD", 1 + below(generator, DEPTH_MOST));
    if (once_in(generator, 3)) {
        int64_t kinds = 1 + below(generator, 7);

        session_add(word, "A", 1);
        for (int i = 0; i < 3; i++)
            if ((kinds >> i & 1) != 0)
                session_add(word, i == 0 ? "B" : i == 1 ? "C" : "D", 1);
    }
}

static void open_depths(struct generator *generator)
{
    struct session *session = generator->session;

    if (once_in(generator, 2)) {
        session_add(&session->device, "ird", 1 + below(generator, DEPTH_MOST));
        session_add(&session->device, "ord", 1 + below(generator, DEPTH_MOST));
    }
    if (!session->initiator && once_in(generator, 2))
        open_word(generator);
    if (session->initiator && once_in(generator, 2)) {
        session_add(&session->device, "rev", 2);
        if (once_in(generator, 3))
            session_add_flag(&session->device, "p2p", true);
    }
}

static void open_extensions(struct generator *generator)
{
    struct session *session = generator->session;

    generator->extensions = !once_in(generator, 6);
    generator->swaps = generator->extensions && once_in(generator, 3);
    if (!generator->extensions || generator->swaps)
        session_add_word(&session->device, "extensions", generator->swaps ? "draft03" : "off");
}

static void open_session(struct generator *generator)
{
    static const int64_t sizes[] = {536, 700, 1000, 1220};
    struct session *session = generator->session;

    session->initiator = once_in(generator, 2);
    open_framing(generator);
    open_depths(generator);
    open_extensions(generator);
    generator->receive_octets = RECEIVE_OCTETS;
    if (once_in(generator, 4))
        session_add(&session->device, "receives", 2 + below(generator, 14));
    if (once_in(generator, 6)) {
        generator->receive_octets = 16 + below(generator, 2000);
        session_add(&session->device, "receive_octets", generator->receive_octets);
    }
    if (once_in(generator, 3))
        session_add(&session->open, "private", 1 + below(generator, 508));
    if (once_in(generator, 3))
        session_add(&session->open, "device_private", 1 + below(generator, 508));
    if (once_in(generator, 4))
        session_add(&session->open, "mss", sizes[below(generator, sizeof(sizes) / sizeof(sizes[0]))]);
    if (once_in(generator, 6))
        session_add(&session->open, "cut", 15 + below(generator, 60));
    if (once_in(generator, 8))
        session->ends = once_in(generator, 2) ? "disconnect" : "reset";
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void add_region(struct generator *generator, struct region *region)
{
    static const char *const rights[] = {NULL, "{ \"read\" }", "{ \"write\" }", "{ \"read\", \"write\", \"atomic\" }"};
    struct session_region *to = &generator->session->regions[generator->session->region_count];
    int64_t right = once_in(generator, 2) ? 0 : 1 + below(generator, 3);

    if (right == 3 && !generator->extensions)
        right = 0;
    region->octets = right == 3 ? 8 * (1 + below(generator, 16)) : 1 + size(generator, 6000);
    region->readable = right != 2;
    region->writable = right != 1;
    region->atomic = right == 3;
    region->bound = once_in(generator, 4);
    session_add(&to->members, "octets", region->octets);
    if (region->atomic)
        session_add(&to->members, "base", 0x1000 * (1 + below(generator, 1000)));
    else if (once_in(generator, 4))
        session_add(&to->members, "base", once_in(generator, 2) ? 0 : 0xFFFFFF00);
    if (region->bound)
        session_add_flag(&to->members, "bound", true);
    to->access = rights[right];
    generator->session->region_count++;
}

/* A region that is fit for `fits`; NULL: there is none. */
static struct region *choose_region(struct generator *generator, bool (*fits)(const struct region *region),
                                    int64_t *number)
{
    size_t count = generator->session->region_count;
    size_t first = (size_t)below(generator, (int64_t)count);

    for (size_t i = 0; i < count; i++) {
        size_t at = (first + i) % count;

        if (!generator->regions[at].dead && fits(&generator->regions[at])) {
            *number = (int64_t)at + 1;
            return &generator->regions[at];
        }
    }
    return NULL;
}

static void settle(struct generator *generator)
{
    (void)session_add_step(generator->session, "settle");
    for (size_t i = 0; i < SESSION_REGIONS; i++)
        generator->regions[i].read = generator->regions[i].written = generator->regions[i].sink = false;
}

static bool can_be_read(const struct region *region)
{
    return region->readable;
}

static bool can_be_written(const struct region *region)
{
    return region->writable;
}

static bool can_be_invalidated(const struct region *region)
{
    return region->bound;
}

static bool allows_atomics(const struct region *region)
{
    return region->atomic;
}

static bool can_be_sink(const struct region *region)
{
    return region->octets > 0;
}

/* ---- what the tester sends --------------------------------------------------------------------------------------- */

/* How the octets of a step go out. */
static void add_segmentation(struct generator *generator, struct session_members *members, int64_t octets,
                             bool segments)
{
    int64_t least = octets / SEGMENTS_MOST + 1;

    if (segments && octets > 0 && (octets > PIECE_MOST || once_in(generator, 3)))
        session_add(members, "piece",
                    least + below(generator, (octets < PIECE_MOST ? octets : PIECE_MOST) - least + 1));
    if (once_in(generator, 6))
        session_add_flag(members, "held", true);
    else if (once_in(generator, 5)) {
        session_add(members, "cut", 2 * least + 60 + below(generator, 900));
        if (once_in(generator, 3))
            session_add_flag(members, "backwards", true);
    }
}

static void make_send(struct generator *generator)
{
    int64_t octets = size(generator, generator->receive_octets), opcode = 3 + (once_in(generator, 3) ? 2 : 0), number;
    struct region *region = once_in(generator, 4) ? choose_region(generator, can_be_invalidated, &number) : NULL;
    struct session_step *step;

    if (region != NULL)
        settle(generator);
    step = session_add_step(generator->session, "send");
    if (step == NULL)
        return;
    session_add(&step->members, "octets", octets);
    if (region != NULL) {
        region->dead = true;
        session_add(&step->members, "region", number);
        opcode++;
    }
    if (opcode != 3)
        session_add(&step->members, "opcode", opcode);
    add_segmentation(generator, &step->members, octets, true);
}

/* Octets of the region from a place on: where they begin, and how many. */
static int64_t part_of(struct generator *generator, const struct region *region, int64_t *at)
{
    int64_t octets = once_in(generator, 6) ? region->octets : size(generator, region->octets);

    *at = once_in(generator, 4) ? region->octets - octets : below(generator, region->octets - octets + 1);
    return octets;
}

static void make_write(struct generator *generator)
{
    int64_t number, at;
    struct region *region = choose_region(generator, can_be_written, &number);
    struct session_step *step;
    int64_t octets;

    if (region == NULL)
        return;
    if (region->read || region->sink)
        settle(generator);
    step = session_add_step(generator->session, "write");
    if (step == NULL)
        return;
    octets = part_of(generator, region, &at);
    region->written = true;
    session_add(&step->members, "region", number);
    session_add(&step->members, "at", at);
    session_add(&step->members, "octets", octets);
    add_segmentation(generator, &step->members, octets, true);
}

static void make_read(struct generator *generator)
{
    int64_t number, at;
    struct region *region = choose_region(generator, can_be_read, &number);
    struct session_step *step;
    int64_t octets;

    if (region == NULL)
        return;
    if (region->sink)
        settle(generator);
    step = session_add_step(generator->session, "read");
    if (step == NULL)
        return;
    octets = part_of(generator, region, &at);
    region->read = true;
    session_add(&step->members, "region", number);
    session_add(&step->members, "at", at);
    session_add(&step->members, "octets", octets);
    if (once_in(generator, 2))
        session_add(&step->members, "sink", once_in(generator, 2) ? below(generator, 5000) : 0xFFFFFF80);
    add_segmentation(generator, &step->members, 0, false);
}

static void make_atomic(struct generator *generator)
{
    int64_t number, operation = below(generator, 3);
    struct region *region = choose_region(generator, allows_atomics, &number);
    struct session_step *step;

    if (region == NULL)
        return;
    if (region->sink)
        settle(generator);
    step = session_add_step(generator->session, "atomic");
    if (step == NULL)
        return;
    if (operation == 1 && !generator->swaps)
        operation = 0;
    region->read = true;
    generator->session->atomics = true;
    session_add(&step->members, "region", number);
    session_add(&step->members, "at", 8 * below(generator, region->octets / 8));
    session_add(&step->members, "operation", operation);
    session_add(&step->members, "data", once_in(generator, 2) ? 1 : below(generator, INT64_MAX));
    if (operation == 2)
        session_add(&step->members, "compare", below(generator, INT64_MAX));
    add_segmentation(generator, &step->members, 0, false);
}

static void make_immediate(struct generator *generator)
{
    struct session_step *step = generator->extensions ? session_add_step(generator->session, "immediate") : NULL;

    if (step == NULL)
        return;
    if (once_in(generator, 2))
        session_add_flag(&step->members, "solicited", true);
    add_segmentation(generator, &step->members, 0, false);
}

/* ---- what the device is asked for -------------------------------------------------------------------------------- */

static void make_device_send(struct generator *generator)
{
    struct session_step *step = session_add_step(generator->session, "device send");

    if (step == NULL)
        return;
    session_add(&step->members, "octets", size(generator, 6000));
    if (once_in(generator, 3))
        session_add_flag(&step->members, "solicited", true);
    if (once_in(generator, 5))
        session_add_flag(&step->members, "invalidate", true);
}

static void make_device_write(struct generator *generator)
{
    struct session_step *step = session_add_step(generator->session, "device write");

    if (step == NULL)
        return;
    session_add(&step->members, "octets", size(generator, 6000));
    if (once_in(generator, 2))
        session_add(&step->members, "to", once_in(generator, 2) ? below(generator, 5000) : 0xFFFFFF80);
}

static void make_device_read(struct generator *generator)
{
    int64_t number, at, octets;
    struct region *region = choose_region(generator, can_be_sink, &number);
    struct session_step *step;

    if (region == NULL)
        return;
    if (region->read || region->written || region->sink)
        settle(generator);
    step = session_add_step(generator->session, "device read");
    if (step == NULL)
        return;
    octets = part_of(generator, region, &at);
    region->sink = true;
    session_add(&step->members, "region", number);
    session_add(&step->members, "at", at);
    session_add(&step->members, "octets", octets);
    if (octets > PIECE_MOST || (octets > 0 && once_in(generator, 3)))
        session_add(&step->members, "piece",
                    octets / SEGMENTS_MOST + 1 + below(generator, PIECE_MOST - octets / SEGMENTS_MOST));
    if (once_in(generator, 2))
        session_add(&step->members, "to", below(generator, 5000));
}

static void make_device_atomic(struct generator *generator)
{
    struct session_step *step = generator->extensions ? session_add_step(generator->session, "device atomic") : NULL;
    int64_t operation = once_in(generator, 2) ? 0 : 2;

    if (step == NULL)
        return;
    session_add(&step->members, "operation", operation);
    session_add(&step->members, "data", below(generator, INT64_MAX));
    if (operation == 2)
        session_add(&step->members, "compare", below(generator, INT64_MAX));
    session_add(&step->members, "to", 8 * below(generator, 500));
}

static void make_device_immediate(struct generator *generator)
{
    struct session_step *step = generator->extensions ? session_add_step(generator->session, "device immediate") : NULL;

    if (step != NULL && once_in(generator, 2))
        session_add_flag(&step->members, "solicited", true);
}

static void make_pause(struct generator *generator)
{
    struct session_step *step = session_add_step(generator->session, "pause");

    if (step != NULL)
        session_add(&step->members, "milliseconds", 1 + below(generator, 400));
}

/* ---- a session --------------------------------------------------------------------------------------------------- */

typedef void operation(struct generator *generator);

/* How often each comes is how often it stands here. */
static operation *const by_tester[] = {make_send, make_send, make_write,  make_write,
                                       make_read, make_read, make_atomic, make_immediate};
static operation *const by_device[] = {make_device_send, make_device_send,   make_device_write,    make_device_read,
                                       make_device_read, make_device_atomic, make_device_immediate};

static void make_operation(struct generator *generator)
{
    if (once_in(generator, 16))
        settle(generator);
    else if (once_in(generator, 20))
        make_pause(generator);
    else if (once_in(generator, 2))
        by_tester[below(generator, sizeof(by_tester) / sizeof(by_tester[0]))](generator);
    else
        by_device[below(generator, sizeof(by_device) / sizeof(by_device[0]))](generator);
}

void session_generate(uint64_t seed, uint64_t number, struct session *session, struct session_draw *draw)
{
    struct generator generator = {.session = session, .draw = draw};
    int64_t count;

    memset(session, 0, sizeof(*session));
    session->seed = seed;
    session->number = number;
    draw->state = seed * UINT64_C(0x9E3779B97F4A7C15) ^ number * UINT64_C(0xD1B54A32D192ED03);
    open_session(&generator);
    count = 1 + below(&generator, 3);
    for (int64_t i = 0; i < count; i++)
        add_region(&generator, &generator.regions[i]);
    /* A responder's FPDUs wait for the first of the initiator (RFC 5044 7.1.2). */
    make_send(&generator);
    count = below(&generator, OPERATIONS_MOST);
    for (int64_t i = 0; i < count; i++)
        make_operation(&generator);
}
