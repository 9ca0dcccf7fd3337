/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory, and operations of both sides. */
#include "base/splitmix.h"
#include "conformance/engine/explore/session_generator_internal.h"
#include "conformance/engine/explore/session_layer.h"

enum {
    PIECE_MOST = 1300,  /* fits a segment of every path that a session is run on */
    SEGMENTS_MOST = 40, /* of one message, and TCP segments of one step */
    BURST_MOST = 10,
    WRITE_MOST = 18000, /* of the device: in many FPDUs where the tester's MSS is small */
    LARGE_MOST = 80000, /* and now and then more than any ULPDU has */
    RIGHT_ATOMIC = 3,   /* beside the other two */
};

/* A step on the stream whose turn it is; NULL: there is no room. */
struct session_step *generator_add_step(struct generator *generator, const char *name)
{
    struct session_step *step = session_add_step(generator->session, name);

    if (step != NULL && generator->stream != 1)
        session_add(&step->members, "stream", generator->stream);
    return step;
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

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void add_region(struct generator *generator, struct region *region, int64_t right)
{
    static const char *const rights[] = {NULL, "{ \"read\" }", "{ \"write\" }", "{ \"read\", \"write\", \"atomic\" }"};
    struct session_region *to = &generator->session->regions[generator->session->region_count];

    if (right == RIGHT_ATOMIC && !generator->opening.extensions)
        right = 0;
    region->octets = right == RIGHT_ATOMIC ? 8 * (1 + below(generator, 16)) : 1 + size(generator, 6000);
    region->readable = right != 2;
    region->writable = right != 1;
    region->atomic = right == RIGHT_ATOMIC;
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

void generator_add_region(struct generator *generator, struct region *region)
{
    add_region(generator, region, once_in(generator, 2) ? 0 : 1 + below(generator, 3));
}

void generator_settle(struct generator *generator)
{
    (void)session_add_step(generator->session, "settle");
    for (size_t i = 0; i < SESSION_REGIONS; i++) {
        struct region *region = &generator->regions[i];

        region->read = region->written = region->sink = false;
        region->stream = 0;
    }
}

/* Before a step that uses the region in another way. */
static void settle_for(struct generator *generator, struct region *region)
{
    generator_settle(generator);
    region->stream = generator->stream;
}

/* A region that is fit for `fits`, and that no other stream has to do with; NULL: there is none. */
static struct region *choose_region(struct generator *generator, bool (*fits)(const struct region *region),
                                    int64_t *number)
{
    size_t count = generator->session->region_count;
    size_t first = (size_t)below(generator, (int64_t)count);

    for (size_t i = 0; i < count; i++) {
        size_t at = (first + i) % count;

        struct region *region = &generator->regions[at];

        if (region->dead || (region->bound && generator->stream != 1) || !fits(region))
            continue;
        if (region->stream != 0 && region->stream != generator->stream)
            generator_settle(generator);
        region->stream = generator->stream;
        *number = (int64_t)at + 1;
        return region;
    }
    return NULL;
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
    else
        session_layer(generator->session)->send(generator->draw, members, least);
}

void generator_send(struct generator *generator)
{
    int64_t octets = size(generator, generator->opening.receive_octets), opcode = 3 + (once_in(generator, 3) ? 2 : 0),
            number;
    struct region *region = once_in(generator, 4) ? choose_region(generator, can_be_invalidated, &number) : NULL;
    struct session_step *step;

    if (region != NULL)
        generator_settle(generator);
    step = generator_add_step(generator, "send");
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
        settle_for(generator, region);
    step = generator_add_step(generator, "write");
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
        settle_for(generator, region);
    step = generator_add_step(generator, "read");
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

/* A number of an atomic, or a mask: often one at which something changes. */
static int64_t operand(struct generator *generator)
{
    static const int64_t edges[] = {0, 1, -1, INT64_MIN, INT64_MAX, 0xFFFFFFFF, 0x100000000, -0x7F7F7F7F7F7F7F80};

    if (!once_in(generator, 4))
        return edges[below(generator, sizeof(edges) / sizeof(edges[0]))];
    return (int64_t)splitmix_next(&generator->draw->state);
}

/* A region for atomics, made where there is none. */
static struct region *choose_target(struct generator *generator, int64_t *number)
{
    size_t count = generator->session->region_count;
    struct region *region = choose_region(generator, allows_atomics, number);

    if (region != NULL || count == SESSION_REGIONS || !generator->opening.extensions)
        return region;
    add_region(generator, &generator->regions[count], RIGHT_ATOMIC);
    return choose_region(generator, allows_atomics, number);
}

static void make_atomic(struct generator *generator)
{
    int64_t number, operation = below(generator, 3);
    struct region *region = choose_target(generator, &number);
    struct session_step *step;

    if (region == NULL)
        return;
    if (region->sink)
        settle_for(generator, region);
    step = generator_add_step(generator, "atomic");
    if (step == NULL)
        return;
    if (operation == 1 && !generator->opening.swaps)
        operation = 0;
    region->read = true;
    generator->session->atomics = true;
    session_add(&step->members, "region", number);
    session_add(&step->members, "at", 8 * below(generator, region->octets / 8));
    session_add(&step->members, "operation", operation);
    session_add(&step->members, "data", operand(generator));
    if (operation == 2 || once_in(generator, 4))
        session_add(&step->members, "compare", operand(generator));
    if (operation == 2 && once_in(generator, 2))
        session_add_flag(&step->members, "matches", true);
    if (operation != 1 && once_in(generator, 2))
        session_add(&step->members, "mask", operand(generator));
    if (operation == 2 && once_in(generator, 2))
        session_add(&step->members, "compare_mask", operand(generator));
    add_segmentation(generator, &step->members, 0, false);
}

static void make_immediate(struct generator *generator)
{
    struct session_step *step = generator->opening.extensions ? generator_add_step(generator, "immediate") : NULL;

    if (step == NULL)
        return;
    if (once_in(generator, 2))
        session_add_flag(&step->members, "solicited", true);
    add_segmentation(generator, &step->members, 0, false);
}

/* ---- what the device is asked for -------------------------------------------------------------------------------- */

static void make_device_send(struct generator *generator)
{
    struct session_step *step = generator_add_step(generator, "device send");

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
    struct session_step *step = generator_add_step(generator, "device write");
    int64_t octets;

    if (step == NULL)
        return;
    octets = size(generator, once_in(generator, 4) ? WRITE_MOST : 6000);
    if (once_in(generator, 16))
        octets = LARGE_MOST - below(generator, WRITE_MOST);
    session_add(&step->members, "octets", octets);
    if (once_in(generator, 2))
        session_add(&step->members, "to", once_in(generator, 2) ? below(generator, 5000) : 0xFFFFFF80);
}

void generator_device_read(struct generator *generator)
{
    int64_t number, at, octets;
    struct region *region = choose_region(generator, can_be_sink, &number);
    struct session_step *step;

    if (region == NULL)
        return;
    if (region->read || region->written || region->sink)
        settle_for(generator, region);
    step = generator_add_step(generator, "device read");
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
    if (session_find(&step->members, "piece") != NULL && once_in(generator, 2))
        session_add_flag(&step->members, "gap", true);
}

static void make_device_atomic(struct generator *generator)
{
    struct session_step *step = generator->opening.extensions ? generator_add_step(generator, "device atomic") : NULL;
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
    struct session_step *step =
        generator->opening.extensions ? generator_add_step(generator, "device immediate") : NULL;

    if (step != NULL && once_in(generator, 2))
        session_add_flag(&step->members, "solicited", true);
}

/* Work that the device's own side has to refuse, and memory that it should not register. */
static void make_refused(struct generator *generator)
{
    static const char *const kinds[] = {"sink", "beyond", "opcode", "long send", "long write", "hidden", "read-only"};
    struct session_step *step = generator_add_step(generator, "device refuses");

    if (step == NULL)
        return;
    session_add_word(&step->members, "what", kinds[below(generator, sizeof(kinds) / sizeof(kinds[0]))]);
}

/* Reads of the device that stay open, and then a RST. */
void generator_abandon_reads(struct generator *generator)
{
    int64_t number;
    struct region *region = choose_region(generator, can_be_sink, &number);
    struct session_step *step = region != NULL ? generator_add_step(generator, "device reads") : NULL;

    if (step == NULL)
        return;
    session_add(&step->members, "region", number);
    session_add(&step->members, "octets", 1);
    session_add(&step->members, "times", 1 + below(generator, BURST_MOST));
}

/* ---- which of them ----------------------------------------------------------------------------------------------- */

typedef void operation(struct generator *generator);

/* How often each comes is how often it stands here. */
static operation *const by_tester[] = {generator_send, generator_send, make_write,  make_write,
                                       make_read,      make_read,      make_atomic, make_immediate};
static operation *const by_device[] = {make_device_send,      make_device_send,      make_device_write,
                                       generator_device_read, generator_device_read, make_device_atomic,
                                       make_device_immediate, make_refused};

void generator_operate(struct generator *generator)
{
    bool tester = once_in(generator, 2);
    operation *make = tester ? by_tester[below(generator, sizeof(by_tester) / sizeof(by_tester[0]))]
                             : by_device[below(generator, sizeof(by_device) / sizeof(by_device[0]))];
    int64_t times = once_in(generator, 10) ? 2 + below(generator, BURST_MOST - 1) : 1;

    for (int64_t i = 0; i < times; i++)
        make(generator);
}
