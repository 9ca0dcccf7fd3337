/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* memmem */
#include "conformance/engine/evidence/findings_ladder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/evidence/event_step.h"
#include "conformance/engine/evidence/findings_order.h"
#include "conformance/engine/evidence/kept_event.h"
#include "conformance/engine/evidence/step_place.h"
#include "conformance/flow/notation/notation.h"
#include "conformance/flow/decoder.h"
#include "base/hash.h"

enum { RING = LADDER_BEFORE + 1 }; /* with the present one */

enum state {
    WINDOW_WAITING,
    WINDOW_GUESSED, /* around a message of the right frame and sender; the rule has not said yet which one it means */
    WINDOW_KNOWN,
    WINDOW_WHOLE,
};

struct window {
    struct window *next;       /* of the same flow */
    struct watched_flow *flow; /* NULL: it has not come yet */
    struct held_finding *finding;
    enum state state;
    bool due;      /* the finding is about the next step: an FPDU or its DDP header, which have no step of their own */
    unsigned left; /* steps still wanted after the offending one */
};

struct watched_flow {
    UT_hash_handle hh;
    uint64_t number;
    struct window *windows;
    uint64_t steps; /* before the present one */
    struct kept_event start[LADDER_START_STEPS];
    size_t start_count;
    struct kept_event ring[RING]; /* step i at i % RING */
};

struct drawing {
    struct watched_flow *flows;
    struct window *windows;    /* one for each finding */
    size_t count;              /* of them */
    uint64_t recognised;       /* flows have come up to this number */
    struct step_place place;   /* of the present event, */
    unsigned step;             /* in its frame */
    struct watched_flow *flow; /* that is being judged, */
    bool ending;               /* at its end */
    struct rule_engine *engine;
    const struct findings *findings;
    size_t open; /* windows that are not whole */
    bool short_of_memory;
};

/* ---- windows ----------------------------------------------------------------------------------------------------- */

/* Takes the reference to `step`. */
static void append(struct drawing *drawing, const struct window *window, json_t *step)
{
    if (step == NULL || json_array_append_new(window->finding->result.steps, step) != 0)
        drawing->short_of_memory = true;
}

static void append_kept(struct drawing *drawing, const struct window *window, struct kept_event *kept)
{
    append(drawing, window, json_incref(kept_event_step(kept, window->finding->direction)));
}

/* Start-up frames, and what came right before the present step. */
static void append_past(struct drawing *drawing, struct watched_flow *flow, const struct window *window)
{
    uint64_t first = flow->steps > LADDER_BEFORE ? flow->steps - LADDER_BEFORE : 0;

    for (size_t i = 0; i < flow->start_count; i++)
        append_kept(drawing, window, &flow->start[i]);
    if (first > flow->start_count) {
        char text[64];

        (void)snprintf(text, sizeof(text), "%" PRIu64 " messages between are left out", first - flow->start_count);
        append(drawing, window, result_step(flow->ring[first % RING].seconds, "tester", "note", text, 0, NULL, 0));
    } else {
        first = flow->start_count;
    }
    for (; first < flow->steps; first++)
        append_kept(drawing, window, &flow->ring[first % RING]);
}

/* Reads "11 01 03 00" (rule_octets()): what a rule that compares octets found. Returns how many, 0 for other texts. */
static size_t octets_read(const char *text, uint8_t *octets, size_t room)
{
    size_t count = 0;
    unsigned octet;
    int used;

    while (count < room && sscanf(text, "%2x%n", &octet, &used) == 1 && used == 2) {
        octets[count++] = (uint8_t)octet;
        text += used;
        if (*text == '\0')
            return count;
        if (*text++ != ' ')
            return 0;
    }
    return 0;
}

/* Marks the step as the offending one, and those of its octets that the finding quotes if they stand there once. */
static int mark(json_t *step, const struct flow_event *event, const char *actual)
{
    uint8_t quoted[32];
    const uint8_t *octets, *found;
    size_t count, wanted = octets_read(actual, quoted, sizeof(quoted));

    event_octets(event, &octets, &count);
    found = wanted > 1 && wanted <= count ? memmem(octets, count, quoted, wanted) : NULL;
    if (found == NULL || memmem(found + 1, count - (size_t)(found + 1 - octets), quoted, wanted) != NULL)
        return result_step_mark(step, 0, 0, actual[0] != '\0' ? actual : "here");
    return result_step_mark(step, (size_t)(found - octets), wanted, actual);
}

/* The ladder up to the offending event, which is the present one. */
static void window_open(struct drawing *drawing, struct watched_flow *flow, struct window *window,
                        const struct flow_event *event, const char *text, enum state state)
{
    const struct result *result = &window->finding->result;
    json_t *step = event_step(event, text, kept_event_seconds(event),
                              kept_event_from(event->direction, window->finding->direction), SIZE_MAX);

    (void)json_array_clear(result->steps);
    append_past(drawing, flow, window);
    if (step != NULL && mark(step, event, result->actual != NULL ? result->actual : "") != 0)
        drawing->short_of_memory = true;
    append(drawing, window, step);
    window->due = false;
    window->state = state;
    window->left = LADDER_AFTER;
}

static void window_close(struct drawing *drawing, struct window *window)
{
    if (window->state != WINDOW_WHOLE)
        drawing->open--;
    window->state = WINDOW_WHOLE;
}

/* A message of the right frame and sender; of a rule of somebody's own it is the very one. */
static bool is_meant(const struct drawing *drawing, const struct held_finding *finding, const struct flow_event *event)
{
    return event->frame == finding->result.frame && event->direction == finding->direction &&
           (finding->rule != NULL || finding->step == drawing->step);
}

/* One more step: opens the windows that it is the middle of, and continues those that are open. */
static void window_step(struct drawing *drawing, struct watched_flow *flow, struct window *window,
                        const struct flow_event *event, struct kept_event *present)
{
    const struct held_finding *finding = window->finding;
    bool fits = is_meant(drawing, finding, event);
    char text[NOTATION_MAX];

    if (window->due || (window->state == WINDOW_WAITING && fits)) {
        window_open(drawing, flow, window, event, notation_event(event, text, sizeof(text)),
                    window->due || finding->rule == NULL ? WINDOW_KNOWN : WINDOW_GUESSED);
    } else if ((window->state == WINDOW_GUESSED || window->state == WINDOW_KNOWN) && window->left != 0) {
        append_kept(drawing, window, present);
        window->left--;
    }
    if (window->state == WINDOW_KNOWN && window->left == 0)
        window_close(drawing, window);
}

static void flow_step(struct drawing *drawing, struct watched_flow *flow, const struct flow_event *event)
{
    struct kept_event *present = &flow->ring[flow->steps % RING];
    bool start = event->kind == FLOW_TCP_OPEN || event->kind == FLOW_MPA_START;

    kept_event_copy(present, event);
    for (struct window *window = flow->windows; window != NULL; window = window->next)
        window_step(drawing, flow, window, event, present);
    if (start && flow->start_count == flow->steps && flow->start_count < LADDER_START_STEPS)
        kept_event_copy(&flow->start[flow->start_count++], event);
    flow->steps++;
}

/* The flow of that name has ended before the finding's frame: it is another one's, if any. */
static bool is_too_early(const struct window *window, const struct flow_event *event)
{
    return window->finding->flow == 0 && window->state == WINDOW_WAITING &&
           window->finding->result.frame > event->frame;
}

/* A finding that no message stands for (something did not come) is shown at the end. */
static void flow_end(struct drawing *drawing, struct watched_flow *flow, const struct flow_event *event)
{
    for (struct window *window = flow->windows; window != NULL; window = window->next) {
        if (is_too_early(window, event))
            continue;
        if (window->due || window->state == WINDOW_WAITING)
            window_open(drawing, flow, window, event, "the capture has no more of this connection", WINDOW_KNOWN);
        window_close(drawing, window);
    }
}

/* ---- the second pass --------------------------------------------------------------------------------------------- */

/* Some rule found something in the present event: if that is a finding held, the window opens there. */
static void on_finding(const struct rule_finding *found, void *argument)
{
    struct drawing *drawing = argument;

    for (struct window *window = drawing->flow->windows; window != NULL; window = window->next) {
        const struct held_finding *finding = window->finding;

        if (!drawing->ending && (window->state == WINDOW_WAITING || window->state == WINDOW_GUESSED) &&
            finding->rule == found->rule && finding->direction == found->direction &&
            finding->verdict == found->verdict && finding->result.frame == found->frame)
            window->due = true;
    }
}

static bool is_wanted(const char *id, void *argument)
{
    const struct drawing *drawing = argument;

    for (const struct held_finding *finding = drawing->findings->first; finding != NULL; finding = finding->next)
        if (finding->rule != NULL && strcmp(finding->rule->id, id) == 0)
            return true;
    return false;
}

/* The flow of that number, watched from now on. NULL without memory. */
static struct watched_flow *watched_of(struct drawing *drawing, uint64_t number)
{
    struct watched_flow *flow;

    HASH_FIND(hh, drawing->flows, &number, sizeof(number), flow);
    if (flow != NULL || (flow = calloc(1, sizeof(*flow))) == NULL)
        return flow;
    flow->number = number;
    HASH_ADD(hh, drawing->flows, number, sizeof(flow->number), flow);
    if (!hash_lost(flow))
        return flow;
    free(flow);
    return NULL;
}

/* Makes the window one of this flow, and of no other. */
static void window_place(struct window *window, struct watched_flow *flow)
{
    struct window **place = window->flow != NULL ? &window->flow->windows : NULL;

    while (place != NULL && *place != window)
        place = &(*place)->next;
    if (place != NULL)
        *place = window->next;
    window->flow = flow;
    window->next = flow->windows;
    flow->windows = window;
}

/* The direction in which the flow has this name. False: it has another name. */
static bool is_named(const struct flow *flow, const char *name, unsigned *direction)
{
    char text[FLOW_NAME_MAX];

    for (*direction = 0; name != NULL && *direction < FLOW_DIRECTIONS; ++*direction)
        if (strcmp(flow_name(flow, (enum flow_direction) * direction, text, sizeof(text)), name) == 0)
            return true;
    return false;
}

/* A flow has come: findings that name it are its own, as long as no later flow has the same name. */
static void flow_recognised(struct drawing *drawing, const struct flow_event *event)
{
    for (size_t i = 0; i < drawing->count; i++) {
        struct window *window = &drawing->windows[i];
        const struct result *result = &window->finding->result;
        struct watched_flow *flow;
        unsigned direction;

        if (window->finding->flow != 0 || window->state != WINDOW_WAITING || event->frame > result->frame ||
            !is_named(event->flow, result->flow, &direction))
            continue;
        flow = watched_of(drawing, event->flow->number);
        if (flow == NULL) {
            drawing->short_of_memory = true;
            return;
        }
        window->finding->direction = direction;
        window_place(window, flow);
    }
}

static void sink_one(struct drawing *drawing, const struct flow_event *event)
{
    struct watched_flow *flow;

    if (event->flow->number > drawing->recognised) {
        drawing->recognised = event->flow->number;
        flow_recognised(drawing, event);
    }
    drawing->step = step_place_next(&drawing->place, event);
    HASH_FIND(hh, drawing->flows, &event->flow->number, sizeof(event->flow->number), flow);
    if (flow == NULL)
        return;
    drawing->flow = flow;
    drawing->ending = event->kind == FLOW_END;
    rule_engine_event(drawing->engine, event);
    if (event->kind == FLOW_END) {
        flow_end(drawing, flow, event);
        rule_engine_flow_done(drawing->engine, event->flow);
    } else if (notation_shows(event)) {
        flow_step(drawing, flow, event);
    }
}

/* What a rule finds belongs to the step of the event that it was found in: the rules see them one by one. */
static void sink(void *user, const struct flow_event *event)
{
    for (; event != NULL; event = event->next) {
        struct flow_event one = *event;

        one.next = NULL;
        sink_one(user, &one);
    }
}

static int watch_all(struct drawing *drawing)
{
    struct held_finding *finding = drawing->findings->first;

    drawing->windows = calloc(drawing->findings->count + 1, sizeof(*drawing->windows));
    for (; drawing->windows != NULL && finding != NULL; finding = finding->next, drawing->count++) {
        struct watched_flow *flow = finding->flow != 0 ? watched_of(drawing, finding->flow) : NULL;

        if (finding->flow != 0 && flow == NULL)
            return -1;
        drawing->windows[drawing->count].finding = finding;
        if (flow != NULL)
            window_place(&drawing->windows[drawing->count], flow);
    }
    drawing->open = drawing->count;
    return drawing->windows != NULL ? 0 : -1;
}

static void unwatch(struct watched_flow *flow)
{
    for (size_t i = 0; i < flow->start_count; i++)
        kept_event_release(&flow->start[i]);
    for (size_t i = 0; i < RING; i++)
        kept_event_release(&flow->ring[i]);
    free(flow);
}

static void drawing_free(struct drawing *drawing)
{
    struct watched_flow *flow = drawing->flows, *next;

    HASH_CLEAR(hh, drawing->flows); /* the table goes, the list of its entries stays */
    for (; flow != NULL; flow = next) {
        next = flow->hh.next;
        unwatch(flow);
    }
    free(drawing->windows);
    rule_engine_free(drawing->engine);
}

static int read_frames(struct drawing *drawing, struct flow_decoder *decoder, struct capture_series *series,
                       uint64_t frames, struct iwarp_sentence *error)
{
    struct flow_frame frame;
    struct iwarp_sentence ignored; /* where it breaks off, the first pass has said */
    struct findings_order order;

    if (capture_series_rewind(series, error) != 0)
        return -1;
    findings_order_make(&order, drawing->findings);
    while (drawing->open != 0 && capture_series_frames(series) < frames &&
           capture_series_next(series, &frame, &ignored) == 1) {
        findings_order_place(&order, series, &frame);
        flow_decoder_frame(decoder, &frame);
    }
    flow_decoder_finish(decoder);
    return drawing->short_of_memory ? iwarp_sentence_set(error, "out of memory for ladders") : 0;
}

int findings_draw(struct findings *findings, struct capture_series *series, uint64_t frames,
                  struct iwarp_sentence *error)
{
    struct drawing drawing = {.findings = findings};
    struct flow_config flows = {.rule_state_octets = rule_state_octets(), .memory = findings->memory};
    struct rule_config rules = {.selected = is_wanted, .finding = on_finding, .argument = &drawing};
    struct flow_decoder *decoder = flow_decoder_create(&flows, sink, &drawing);
    int rc;

    drawing.engine = rule_engine_create(&rules);
    if (watch_all(&drawing) != 0 || decoder == NULL || drawing.engine == NULL)
        rc = iwarp_sentence_set(error, "out of memory for ladders");
    else
        rc = read_frames(&drawing, decoder, series, frames, error);
    flow_decoder_destroy(decoder);
    drawing_free(&drawing);
    return rc;
}
