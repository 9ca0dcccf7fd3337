/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/evidence/ladder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/evidence/event_step.h"
#include "conformance/flow/notation/notation.h"
#include "reports/results/result.h"

/* What a step shows, to find it again. */
struct place {
    uint64_t frame; /* 0: a note */
    uint32_t end;   /* sequence number after its octets */
    uint16_t own_port, dut_port;
    bool from_dut, fin, reset;
};

/* A step, of which most are never shown: what it is made of, and the step itself when somebody has asked for it. */
struct rung {
    struct place place;
    struct event_shown shown; /* its octets are those below */
    double seconds;
    char text[NOTATION_MAX];
    json_t *step;
    size_t room;
    uint8_t octets[]; /* so many have room */
};

struct ladder {
    bool kept;
    struct rung *rungs[LADDER_STEPS_MAX + 1]; /* one more for the step of ladder_find() */
    size_t count;
    json_t *steps;     /* ladder_steps() was called: the steps of the rungs */
    uint64_t left_out; /* steps between the first and the last ones */
};

struct ladder *ladder_new(void)
{
    return calloc(1, sizeof(struct ladder));
}

static void rung_free(struct rung *rung)
{
    if (rung != NULL)
        json_decref(rung->step);
    free(rung);
}

static void clear(struct ladder *ladder)
{
    for (size_t i = 0; i < ladder->count; i++)
        rung_free(ladder->rungs[i]);
    json_decref(ladder->steps);
    *ladder = (struct ladder){0};
}

void ladder_free(struct ladder *ladder)
{
    if (ladder == NULL)
        return;
    clear(ladder);
    free(ladder);
}

void ladder_begin(struct ladder *ladder, bool kept)
{
    clear(ladder);
    ladder->kept = kept;
}

/* The rung's step; borrowed. NULL without memory. */
static json_t *step_of(struct rung *rung)
{
    if (rung->step == NULL)
        rung->step = event_shown_step(&rung->shown, rung->text, rung->seconds, rung->place.from_dut ? "dut" : "tester",
                                      SIZE_MAX);
    return rung->step;
}

/* Takes the rung at an index out. */
static struct rung *leave_out(struct ladder *ladder, size_t at)
{
    struct rung *rung = ladder->rungs[at];

    ladder->count--;
    memmove(&ladder->rungs[at], &ladder->rungs[at + 1], (ladder->count - at) * sizeof(ladder->rungs[0]));
    if (ladder->steps != NULL)
        (void)json_array_remove(ladder->steps, at);
    ladder->left_out++;
    return rung;
}

/* Puts a rung, which the ladder takes over, at an index. False: memory is short, and the rung is gone. */
static bool insert_rung(struct ladder *ladder, size_t at, struct rung *rung)
{
    if (ladder->steps != NULL && json_array_insert(ladder->steps, at, step_of(rung)) != 0) {
        rung_free(rung);
        return false;
    }
    memmove(&ladder->rungs[at + 1], &ladder->rungs[at], (ladder->count - at) * sizeof(ladder->rungs[0]));
    ladder->rungs[at] = rung;
    ladder->count++;
    return true;
}

/* A rung with room for so many octets, in place of `old` (NULL: a new one). NULL without memory. */
static struct rung *rung_new(struct rung *old, size_t octets)
{
    struct rung *rung = old;

    if (old == NULL || old->room < octets) {
        rung_free(old);
        rung = malloc(sizeof(*rung) + octets);
        if (rung == NULL)
            return NULL;
        rung->room = octets;
    } else {
        json_decref(rung->step);
    }
    rung->step = NULL;
    return rung;
}

/*
 * A full ladder keeps its first LADDER_STEPS_FIRST steps and drops the oldest of the others. One place is left for the
 * note that says how many steps were dropped. The octets of `shown` are copied.
 */
static void append(struct ladder *ladder, const struct event_shown *shown, const char *text, double seconds,
                   const struct place *place)
{
    struct rung *rung = ladder->count >= LADDER_STEPS_MAX - 1 ? leave_out(ladder, LADDER_STEPS_FIRST) : NULL;
    size_t octets = shown->count < RESULT_STEP_OCTETS_MAX ? shown->count : RESULT_STEP_OCTETS_MAX;

    rung = rung_new(rung, octets);
    if (rung == NULL)
        return;
    rung->place = *place;
    rung->shown = *shown;
    rung->shown.octets = shown->octets != NULL ? rung->octets : NULL;
    rung->seconds = seconds;
    if (shown->octets != NULL)
        memcpy(rung->octets, shown->octets, octets);
    (void)snprintf(rung->text, sizeof(rung->text), "%s", text);
    (void)insert_rung(ladder, ladder->count, rung);
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
    struct event_shown shown;
    char text[NOTATION_MAX];

    if (!ladder->kept || !notation_shows(event) || notation_event(event, text, sizeof(text))[0] == '\0')
        return;
    event_shown(event, &shown);
    append(ladder, &shown, text, seconds, &place);
}

static void note(struct ladder *ladder, size_t at, const char *text, double seconds)
{
    struct rung *rung = rung_new(NULL, 0);

    if (rung == NULL)
        return;
    rung->place = (struct place){0};
    rung->shown = (struct event_shown){.kind = "note"};
    rung->seconds = seconds;
    /* A note may be long. */
    rung->step = result_step(seconds, "tester", "note", text, 0, NULL, 0);
    if (rung->step != NULL)
        (void)insert_rung(ladder, at, rung);
    else
        rung_free(rung);
}

void ladder_note(struct ladder *ladder, const char *text, double seconds)
{
    if (!ladder->kept)
        return;
    if (ladder->count >= LADDER_STEPS_MAX - 1)
        rung_free(leave_out(ladder, LADDER_STEPS_FIRST));
    note(ladder, ladder->count, text, seconds);
}

json_t *ladder_steps(struct ladder *ladder)
{
    char text[80];

    if (!ladder->kept)
        return NULL;
    if (ladder->left_out != 0) {
        (void)snprintf(text, sizeof(text), "%llu steps of this ladder are left out here",
                       (unsigned long long)ladder->left_out);
        note(ladder, LADDER_STEPS_FIRST, text, ladder->rungs[LADDER_STEPS_FIRST]->seconds);
        ladder->left_out = 0;
    }
    if (ladder->steps != NULL || (ladder->steps = json_array()) == NULL)
        return ladder->steps;
    for (size_t i = 0; i < ladder->count; i++)
        if (json_array_append(ladder->steps, step_of(ladder->rungs[i])) != 0)
            rung_free(leave_out(ladder, i--));
    ladder->left_out = 0;
    return ladder->steps;
}

static bool fits(const struct place *place, const struct last_seen *last_seen)
{
    if (place->frame == 0 || place->frame > last_seen->latest || last_seen->kind == LAST_SEEN_DEATH)
        return false;
    if (last_seen->kind == LAST_SEEN_NONE)
        return true;
    if (place->own_port != last_seen->own_port || place->dut_port != last_seen->dut_port)
        return false;
    switch (last_seen->kind) {
    case LAST_SEEN_OCTETS: return place->from_dut && !place->fin && !place->reset && place->end == last_seen->end;
    case LAST_SEEN_FIN: return place->from_dut && place->fin;
    case LAST_SEEN_RESET: return place->from_dut && place->reset;
    case LAST_SEEN_UPPER: return !place->from_dut;
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
    struct rung *rung = ladder->count <= LADDER_STEPS_MAX ? rung_new(NULL, 0) : NULL;
    size_t at = ladder->count;

    if (rung == NULL)
        return NULL;
    while (at > 0 && (ladder->rungs[at - 1]->place.frame == 0 || ladder->rungs[at - 1]->place.frame > frame->frame))
        at--;
    rung->place = (struct place){.frame = frame->frame,
                                 .end = frame->sequence + frame->octets,
                                 .own_port = frame->own_port,
                                 .dut_port = frame->dut_port,
                                 .from_dut = frame->from_dut};
    rung->shown = (struct event_shown){.kind = "tcp", .frame = frame->frame};
    rung->seconds = (double)(frame->time_ns - start_ns) / 1e9;
    (void)frame_text(frame, rung->text, sizeof(rung->text));
    if (step_of(rung) == NULL) {
        rung_free(rung);
        return NULL;
    }
    return insert_rung(ladder, at, rung) ? step_of(rung) : NULL;
}

json_t *ladder_find(struct ladder *ladder, const struct last_seen *last_seen, const struct own_frame *frame,
                    uint64_t start_ns)
{
    for (size_t i = ladder->count; i-- > 0;)
        if (fits(&ladder->rungs[i]->place, last_seen))
            return step_of(ladder->rungs[i]);
    for (size_t i = ladder->count; frame != NULL && i-- > 0;)
        if (ladder->rungs[i]->place.frame == frame->frame && ladder->rungs[i]->place.from_dut == frame->from_dut)
            return step_of(ladder->rungs[i]);
    return frame != NULL && ladder->kept ? add_frame(ladder, frame, start_ns) : NULL;
}
