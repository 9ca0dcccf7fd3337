/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/evidence/ladder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/evidence/event_step.h"
#include "conformance/flow/notation/notation.h"
#include "reports/result.h"

/* What a step shows, to find it again. */
struct place {
    uint64_t frame; /* 0: a note */
    uint32_t end;   /* sequence number after its octets */
    uint16_t own_port, dut_port;
    bool from_dut, fin, reset;
};

struct ladder {
    json_t *steps;                             /* NULL: not kept */
    struct place places[LADDER_STEPS_MAX + 1]; /* of the steps; one more for the step of ladder_find() */
    uint64_t left_out;                         /* steps between the first and the last ones */
};

struct ladder *ladder_new(void)
{
    return calloc(1, sizeof(struct ladder));
}

void ladder_free(struct ladder *ladder)
{
    if (ladder == NULL)
        return;
    json_decref(ladder->steps);
    free(ladder);
}

void ladder_begin(struct ladder *ladder, bool kept)
{
    json_decref(ladder->steps);
    ladder->steps = kept ? json_array() : NULL;
    ladder->left_out = 0;
}

/* Takes the step at an index out, and its place. */
static void leave_out(struct ladder *ladder, size_t at)
{
    size_t count = json_array_size(ladder->steps);

    (void)json_array_remove(ladder->steps, at);
    memmove(&ladder->places[at], &ladder->places[at + 1], (count - at - 1) * sizeof(ladder->places[0]));
    ladder->left_out++;
}

/* Puts a step at an index; the array takes the step over. */
static void put(struct ladder *ladder, size_t at, json_t *step, const struct place *place)
{
    size_t count = json_array_size(ladder->steps);

    if (step == NULL || json_array_insert_new(ladder->steps, at, step) != 0)
        return;
    memmove(&ladder->places[at + 1], &ladder->places[at], (count - at) * sizeof(ladder->places[0]));
    ladder->places[at] = *place;
}

/* The first steps stay; of the others the oldest goes. One place is left for the note that tells how many went. */
static void append(struct ladder *ladder, json_t *step, const struct place *place)
{
    if (json_array_size(ladder->steps) >= LADDER_STEPS_MAX - 1)
        leave_out(ladder, LADDER_STEPS_FIRST);
    put(ladder, json_array_size(ladder->steps), step, place);
}

void ladder_event(struct ladder *ladder, const struct flow_event *event, double seconds, bool from_dut,
                  uint16_t own_port, uint16_t dut_port)
{
    bool close = event->kind == FLOW_TCP_CLOSE;
    struct place place = {.frame = event->frame,
                          .end = (uint32_t)event->end,
                          .own_port = own_port,
                          .dut_port = dut_port,
                          .from_dut = from_dut,
                          .fin = close && !event->close->reset,
                          .reset = close && event->close->reset};
    char text[NOTATION_MAX];

    if (ladder->steps == NULL || notation_event(event, text, sizeof(text))[0] == '\0')
        return;
    append(ladder, event_step(event, text, seconds, from_dut ? "dut" : "tester", SIZE_MAX), &place);
}

void ladder_note(struct ladder *ladder, const char *text, double seconds)
{
    struct place none = {0};

    if (ladder->steps != NULL)
        append(ladder, result_step(seconds, "tester", "note", text, 0, NULL, 0), &none);
}

json_t *ladder_steps(struct ladder *ladder)
{
    struct place none = {0};
    char text[80];

    if (ladder->left_out == 0 || ladder->steps == NULL)
        return ladder->steps;
    (void)snprintf(text, sizeof(text), "%llu steps of this ladder are left out here",
                   (unsigned long long)ladder->left_out);
    put(ladder, LADDER_STEPS_FIRST,
        result_step(json_real_value(json_object_get(json_array_get(ladder->steps, LADDER_STEPS_FIRST), "t")), "tester",
                    "note", text, 0, NULL, 0),
        &none);
    ladder->left_out = 0;
    return ladder->steps;
}

static bool fits(const struct place *place, const struct sighting *sighting)
{
    if (place->frame == 0 || place->frame > sighting->latest || sighting->kind == SIGHTING_DEATH)
        return false;
    if (sighting->kind == SIGHTING_NONE)
        return true;
    if (place->own_port != sighting->own_port || place->dut_port != sighting->dut_port)
        return false;
    switch (sighting->kind) {
    case SIGHTING_OCTETS: return place->from_dut && !place->fin && !place->reset && place->end == sighting->end;
    case SIGHTING_FIN: return place->from_dut && place->fin;
    case SIGHTING_RESET: return place->from_dut && place->reset;
    case SIGHTING_TOLD: return !place->from_dut;
    default: return true;
    }
}

/* "TCP SYN", "TCP FIN", "TCP segment, 20 octets" */
static const char *frame_text(const struct own_frame *frame, char *text, size_t room)
{
    const char *what = (frame->flags & TCP_FLAG_RST) != 0   ? "RST"
                       : (frame->flags & TCP_FLAG_SYN) != 0 ? "SYN"
                       : (frame->flags & TCP_FLAG_FIN) != 0 ? "FIN"
                                                            : "segment";

    if (frame->octets != 0)
        (void)snprintf(text, room, "TCP %s, %u octets", what, (unsigned)frame->octets);
    else
        (void)snprintf(text, room, "TCP %s", what);
    return text;
}

static json_t *add_frame(struct ladder *ladder, const struct own_frame *frame, uint64_t start_ns)
{
    struct place place = {.frame = frame->frame,
                          .end = frame->sequence + frame->octets,
                          .own_port = frame->own_port,
                          .dut_port = frame->dut_port,
                          .from_dut = frame->from_dut};
    size_t at = json_array_size(ladder->steps);
    char text[64];

    if (at > LADDER_STEPS_MAX)
        return NULL;
    while (at > 0 && (ladder->places[at - 1].frame == 0 || ladder->places[at - 1].frame > frame->frame))
        at--;
    put(ladder, at,
        result_step((double)(frame->time_ns - start_ns) / 1e9, frame->from_dut ? "dut" : "tester", "tcp",
                    frame_text(frame, text, sizeof(text)), frame->frame, NULL, 0),
        &place);
    return json_array_get(ladder->steps, at);
}

json_t *ladder_find(struct ladder *ladder, const struct sighting *sighting, const struct own_frame *frame,
                    uint64_t start_ns)
{
    for (size_t i = json_array_size(ladder->steps); i-- > 0;)
        if (fits(&ladder->places[i], sighting))
            return json_array_get(ladder->steps, i);
    for (size_t i = json_array_size(ladder->steps); frame != NULL && i-- > 0;)
        if (ladder->places[i].frame == frame->frame && ladder->places[i].from_dut == frame->from_dut)
            return json_array_get(ladder->steps, i);
    return frame != NULL && ladder->steps != NULL ? add_frame(ladder, frame, start_ns) : NULL;
}
