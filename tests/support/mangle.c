/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/mangle_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/splitmix.h"
#include "conformance/engine/capture/capture_file.h"
#include "conformance/flow/decoder.h"

enum { NS_PER_MS = 1000000, SKEW_MS = 50, LATE_FRAMES = 40, SNAP_LEAST = 20, SNAP_MOST = 300 };

struct mangle_block {
    struct mangle_block *next;
    uint8_t octets[];
};

/* ---- captures ---------------------------------------------------------------------------------------------------- */

static void *memory(void *octets)
{
    if (octets == NULL) {
        (void)fprintf(stderr, "mangle: out of memory\n");
        abort();
    }
    return octets;
}

struct mangle_capture *mangle_capture_new(void)
{
    return memory(calloc(1, sizeof(struct mangle_capture)));
}

void mangle_capture_free(struct mangle_capture *capture)
{
    if (capture == NULL)
        return;
    while (capture->blocks != NULL) {
        struct mangle_block *block = capture->blocks;

        capture->blocks = block->next;
        free(block);
    }
    free(capture->frames);
    free(capture);
}

uint8_t *mangle_octets(struct mangle_capture *capture, size_t count)
{
    struct mangle_block *block = memory(malloc(sizeof(*block) + count));

    block->next = capture->blocks;
    capture->blocks = block;
    return block->octets;
}

static void append(struct mangle_capture *capture, const struct mangle_frame *frame)
{
    if (capture->count == capture->room) {
        capture->room = capture->room == 0 ? 64 : capture->room * 2;
        capture->frames = memory(realloc(capture->frames, capture->room * sizeof(*frame)));
    }
    capture->frames[capture->count++] = *frame;
}

void mangle_add(struct mangle_capture *capture, uint32_t link, uint64_t time_ns, const uint8_t *octets, size_t captured,
                size_t length)
{
    uint8_t *copy = mangle_octets(capture, captured);
    struct mangle_frame frame = {link, time_ns, copy, captured, length};

    memcpy(copy, octets, captured);
    append(capture, &frame);
}

struct mangle_capture *mangle_load(const char *path, struct iwarp_sentence *error)
{
    struct capture_file *file = capture_open(path, error);
    struct mangle_capture *capture;
    struct flow_frame frame;
    int got;

    if (file == NULL)
        return NULL;
    capture = mangle_capture_new();
    while ((got = capture_next(file, &frame, error)) == 1)
        mangle_add(capture, frame.link, frame.time_ns, frame.octets, frame.captured, frame.length);
    capture_close(file);
    if (got == 0)
        return capture;
    mangle_capture_free(capture);
    return NULL;
}

void mangle_feed(const struct mangle_capture *capture, struct flow_decoder *decoder)
{
    for (size_t i = 0; i < capture->count; i++) {
        const struct mangle_frame *from = &capture->frames[i];
        uint8_t *copy = memory(malloc(from->captured != 0 ? from->captured : 1));
        struct flow_frame frame = {from->link, from->time_ns, i + 1, copy, from->captured, from->length};

        memcpy(copy, from->octets, from->captured);
        flow_decoder_frame(decoder, &frame);
        free(copy);
    }
    flow_decoder_finish(decoder);
}

bool mangle_save(const struct mangle_capture *capture, const char *path)
{
    FILE *file = fopen(path, "wb");
    uint32_t head[6] = {0xA1B23C4D /* nanoseconds */,
                        0,
                        0,
                        0,
                        1 << 18,
                        capture->count != 0 ? capture->frames[0].link : FLOW_LINK_ETHERNET};
    const uint16_t version[2] = {2, 4};
    bool good;

    memcpy(&head[1], version, sizeof(version));
    good = file != NULL && fwrite(head, sizeof(head), 1, file) == 1;
    for (size_t i = 0; good && i < capture->count; i++) {
        const struct mangle_frame *frame = &capture->frames[i];
        uint32_t record[4] = {(uint32_t)(frame->time_ns / 1000000000), (uint32_t)(frame->time_ns % 1000000000),
                              (uint32_t)frame->captured, (uint32_t)frame->length};

        good = fwrite(record, sizeof(record), 1, file) == 1 &&
               fwrite(frame->octets, 1, frame->captured, file) == frame->captured;
    }
    return file != NULL && fclose(file) == 0 && good;
}

/*
 * ---- the list of frames -------------------------------------------------------------------------------------------
 */

uint64_t mangle_below(struct mangle_work *work, uint64_t below)
{
    return splitmix_next(&work->state) % below;
}

void mangle_insert(struct mangle_work *work, size_t at, const struct mangle_item *item)
{
    struct mangle_item copy = *item; /* it may be one of the list's own */

    if (work->count == work->room) {
        work->room = work->room == 0 ? 64 : work->room * 2;
        work->items = memory(realloc(work->items, work->room * sizeof(*item)));
    }
    memmove(work->items + at + 1, work->items + at, (work->count - at) * sizeof(*item));
    work->items[at] = copy;
    work->count++;
}

void mangle_remove(struct mangle_work *work, size_t at)
{
    work->count--;
    memmove(work->items + at, work->items + at + 1, (work->count - at) * sizeof(work->items[0]));
}

/* The frame at `from` is written at `to`, at the time of the one there. */
static void move(struct mangle_work *work, size_t from, size_t to)
{
    struct mangle_item item = work->items[from];

    item.frame.time_ns = work->items[to].frame.time_ns;
    mangle_remove(work, from);
    mangle_insert(work, to, &item);
}

/*
 * ---- kinds ---------------------------------------------------------------------------------------------------------
 */

static void lose(struct mangle_work *work)
{
    static const uint64_t one_in[] = {3, 10, 50};
    uint64_t rate = mangle_below(work, 4);

    if (rate == 3) {
        if (work->count != 0)
            mangle_remove(work, (size_t)mangle_below(work, work->count));
        return;
    }
    for (size_t i = work->count; i-- > 0;)
        if (mangle_below(work, one_in[rate]) == 0)
            mangle_remove(work, i);
}

static void lose_run(struct mangle_work *work)
{
    size_t from = (size_t)mangle_below(work, work->count + 1);
    size_t run = 1 + (size_t)mangle_below(work, work->count / 3 + 1);

    while (run-- > 0 && from < work->count)
        mangle_remove(work, from);
}

static void duplicate(struct mangle_work *work)
{
    uint64_t one_in = 1 + mangle_below(work, 12);

    for (size_t i = work->count; i-- > 0;) {
        size_t at = i + 1 + (size_t)mangle_below(work, 4);
        struct mangle_item copy = work->items[i];

        if (mangle_below(work, one_in) != 0)
            continue;
        at = at < work->count ? at : work->count;
        copy.frame.time_ns = work->items[at - 1].frame.time_ns;
        mangle_insert(work, at, &copy);
    }
}

/* Within one direction a round trip lies between a SYN and what follows: a network does not exchange them. */
static bool is_syn(const struct mangle_item *item)
{
    enum { SYN = 2 };

    return item->tcp && (item->flags & SYN) != 0;
}

static void swap(struct mangle_work *work, bool same)
{
    uint64_t one_in = 2 + mangle_below(work, 12);

    for (size_t i = 0; i + 1 < work->count; i++) {
        size_t other = same ? mangle_next(work, i) : i + 1;
        struct mangle_item item;
        uint64_t time;

        if (other >= work->count || mangle_below(work, one_in) != 0 || (same && is_syn(&work->items[i])) ||
            work->items[other].frame.time_ns - work->items[i].frame.time_ns > (uint64_t)SKEW_MS * NS_PER_MS)
            continue;
        item = work->items[i];
        time = work->items[other].frame.time_ns;
        work->items[other].frame.time_ns = item.frame.time_ns;
        item.frame.time_ns = time;
        work->items[i] = work->items[other];
        work->items[other] = item;
        i++;
    }
}

static void delay(struct mangle_work *work)
{
    uint64_t times = 1 + mangle_below(work, 4);

    while (times-- > 0 && work->count > 1) {
        size_t from = (size_t)mangle_below(work, work->count - 1);
        size_t to = from + 1 + (size_t)mangle_below(work, LATE_FRAMES);

        move(work, from, to < work->count ? to : work->count - 1);
    }
}

static void skew(struct mangle_work *work)
{
    unsigned direction = (unsigned)mangle_below(work, 2);
    uint64_t by = 1 + mangle_below(work, (uint64_t)SKEW_MS * NS_PER_MS);

    if (mangle_below(work, 2) == 0)
        by = 1 + mangle_below(work, NS_PER_MS); /* so that the directions are mixed in captures of little time, too */
    for (size_t i = 0; i < work->count; i++)
        if (work->items[i].direction == direction)
            work->items[i].frame.time_ns += by;
    /* By time; frames of the same time stay as they are. */
    for (size_t i = 1; i < work->count; i++) {
        struct mangle_item item = work->items[i];
        size_t at = i;

        while (at > 0 && work->items[at - 1].frame.time_ns > item.frame.time_ns)
            at--;
        memmove(work->items + at + 1, work->items + at, (i - at) * sizeof(item));
        work->items[at] = item;
    }
}

static void begin_late(struct mangle_work *work)
{
    size_t left_out = (size_t)mangle_below(work, mangle_below(work, 2) == 0 ? 12 : work->count + 1);

    while (left_out-- > 0 && work->count != 0)
        mangle_remove(work, 0);
}

static void end_early(struct mangle_work *work)
{
    work->count = (size_t)mangle_below(work, work->count + 1);
}

static void one_way(struct mangle_work *work)
{
    unsigned direction = (unsigned)mangle_below(work, 2);
    size_t from = mangle_below(work, 3) == 0 ? (size_t)mangle_below(work, work->count + 1) : 0;

    for (size_t i = work->count; i-- > from;)
        if (work->items[i].direction == direction)
            mangle_remove(work, i);
}

static void cut(struct mangle_work *work)
{
    size_t snap = SNAP_LEAST + (size_t)mangle_below(work, SNAP_MOST - SNAP_LEAST);

    for (size_t i = 0; i < work->count; i++)
        if (work->items[i].frame.captured > snap)
            work->items[i].frame.captured = snap;
}

static void apply(struct mangle_work *work, enum mangle_kind_index kind)
{
    switch (kind) {
    case MANGLE_INDEX_LOSS: lose(work); break;
    case MANGLE_INDEX_BURST: lose_run(work); break;
    case MANGLE_INDEX_DUPLICATE: duplicate(work); break;
    case MANGLE_INDEX_SWAP: swap(work, false); break;
    case MANGLE_INDEX_SWAP_SAME: swap(work, true); break;
    case MANGLE_INDEX_LATE: delay(work); break;
    case MANGLE_INDEX_SKEW: skew(work); break;
    case MANGLE_INDEX_GRO: mangle_coalesce(work, false); break;
    case MANGLE_INDEX_LRO: mangle_coalesce(work, true); break;
    case MANGLE_INDEX_SPLIT: mangle_split(work); break;
    case MANGLE_INDEX_RESENT: mangle_resend(work, false); break;
    case MANGLE_INDEX_LOST_ONCE: mangle_resend(work, true); break;
    case MANGLE_INDEX_START: begin_late(work); break;
    case MANGLE_INDEX_END: end_early(work); break;
    case MANGLE_INDEX_ONE_WAY: one_way(work); break;
    case MANGLE_INDEX_SNAP: cut(work); break;
    case MANGLE_KIND_COUNT: break;
    }
}

/*
 * In which order: what happens to segments before the tap, then the tap, then the file. Frames are put together and cut
 * while the list is still in the order in which they were sent.
 */
static const enum mangle_kind_index order[MANGLE_KIND_COUNT] = {
    MANGLE_INDEX_RESENT,    MANGLE_INDEX_LOST_ONCE, MANGLE_INDEX_GRO,       MANGLE_INDEX_LRO,
    MANGLE_INDEX_SPLIT,     MANGLE_INDEX_SKEW,      MANGLE_INDEX_LOSS,      MANGLE_INDEX_BURST,
    MANGLE_INDEX_DUPLICATE, MANGLE_INDEX_SWAP,      MANGLE_INDEX_SWAP_SAME, MANGLE_INDEX_LATE,
    MANGLE_INDEX_START,     MANGLE_INDEX_END,       MANGLE_INDEX_ONE_WAY,   MANGLE_INDEX_SNAP,
};

#define MANGLE_HARMLESS_(id, name, harmless, what) | ((harmless) ? MANGLE_##id : 0)
const unsigned mangle_harmless = 0 MANGLE_KINDS(MANGLE_HARMLESS_);

unsigned mangle_draw(uint64_t seed, unsigned among)
{
    struct mangle_work work = {.state = seed ^ UINT64_C(0x6D616E676C65)};
    unsigned most = 1 + (unsigned)mangle_below(&work, 4), kinds = 0;

    for (unsigned i = 0; i < most || kinds == 0; i++)
        kinds |= 1u << mangle_below(&work, MANGLE_KIND_COUNT) & among;
    return kinds;
}

struct mangle_capture *mangle(const struct mangle_capture *capture, uint64_t seed, unsigned kinds)
{
    struct mangle_work work = {.out = mangle_capture_new(), .state = seed};

    work.room = capture->count + 16;
    work.items = memory(calloc(work.room, sizeof(work.items[0])));
    for (size_t i = 0; i < capture->count; i++) {
        work.items[i].frame = capture->frames[i];
        mangle_parse(&work.items[i]);
    }
    work.count = capture->count;
    for (size_t i = 0; i < MANGLE_KIND_COUNT; i++)
        if (kinds >> order[i] & 1)
            apply(&work, order[i]);
    for (size_t i = 0; i < work.count; i++)
        mangle_add(work.out, work.items[i].frame.link, work.items[i].frame.time_ns, work.items[i].frame.octets,
                   work.items[i].frame.captured, work.items[i].frame.length);
    free(work.items);
    return work.out;
}

const char *mangle_names(unsigned kinds, char *text, size_t room)
{
    static const char *const names[] = {
#define MANGLE_NAME_(id, name, harmless, what) name,
        MANGLE_KINDS(MANGLE_NAME_)};
    size_t used = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < MANGLE_KIND_COUNT; i++)
        if (kinds >> i & 1 && used < room)
            used += (size_t)snprintf(text + used, room - used, "%s%s", used == 0 ? "" : ",", names[i]);
    return text;
}
