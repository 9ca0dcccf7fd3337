/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/monitor/monitor_frames.h"

#include <stdlib.h>
#include <string.h>

/* Before the octets of a frame. */
struct kept {
    struct flow_frame frame;
    size_t size; /* of all of it, up to the next one */
};

struct monitor_frames {
    size_t room, count;
    size_t oldest, next; /* where they begin */
    size_t end;          /* what is behind the last one that fits before the end of the room: the next begins at 0 */
    uint8_t *octets;
};

struct monitor_frames *monitor_frames_new(size_t octets)
{
    struct monitor_frames *frames = calloc(1, sizeof(*frames));

    if (frames == NULL)
        return NULL;
    frames->room = frames->end = octets;
    frames->octets = malloc(octets);
    if (frames->octets != NULL)
        return frames;
    free(frames);
    return NULL;
}

void monitor_frames_free(struct monitor_frames *frames)
{
    if (frames != NULL)
        free(frames->octets);
    free(frames);
}

static struct kept *kept_at(const struct monitor_frames *frames, size_t place)
{
    return (struct kept *)(void *)(frames->octets + place); /* places are multiples of its alignment */
}

static size_t after(const struct monitor_frames *frames, size_t place)
{
    place += kept_at(frames, place)->size;
    return place == frames->end ? 0 : place;
}

static void drop_oldest(struct monitor_frames *frames)
{
    frames->oldest = after(frames, frames->oldest);
    if (frames->oldest == 0)
        frames->end = frames->room;
    if (--frames->count == 0) {
        frames->oldest = frames->next = 0;
        frames->end = frames->room;
    }
}

/* Makes room for `size` octets in one piece at frames->next. */
static void make_room(struct monitor_frames *frames, size_t size)
{
    if (frames->room - frames->next < size) {
        while (frames->count != 0 && frames->oldest >= frames->next)
            drop_oldest(frames);
        if (frames->count != 0)
            frames->end = frames->next;
        frames->next = 0;
    }
    while (frames->count != 0 && frames->oldest >= frames->next && frames->oldest - frames->next < size)
        drop_oldest(frames);
}

void monitor_frames_add(struct monitor_frames *frames, const struct flow_frame *frame)
{
    const size_t unit = _Alignof(struct kept);
    size_t size = (sizeof(struct kept) + frame->captured + unit - 1) / unit * unit;
    struct kept *kept;

    if (size > frames->room)
        return;
    make_room(frames, size);
    kept = kept_at(frames, frames->next);
    kept->frame = *frame;
    kept->size = size;
    memcpy(kept + 1, frame->octets, frame->captured);
    frames->count++;
    frames->next += size;
}

void monitor_frames_each(const struct monitor_frames *frames, void (*each)(void *user, const struct flow_frame *frame),
                         void *user)
{
    size_t place = frames->oldest;

    for (size_t i = 0; i < frames->count; i++) {
        struct flow_frame frame = kept_at(frames, place)->frame;

        frame.octets = (const uint8_t *)(kept_at(frames, place) + 1);
        each(user, &frame);
        place = after(frames, place);
    }
}
