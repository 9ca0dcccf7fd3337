/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* memmem */
#include "conformance/engine/audit/audit_ladder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/audit/audit_order.h"
#include "conformance/engine/evidence/event_step.h"
#include "conformance/flow/notation/notation.h"
#include "conformance/flow/flow.h"
#include "wire/hash.h"

enum {
    KEPT_OCTETS = MPA_START_MAX, /* of each message; longer than every header and Terminate, too */
    SHOWN_OCTETS = 128,          /* of those that are not the offending one */
    RING = LADDER_BEFORE + 1,    /* with the present one */
};

/*
 * All that a step is made of, kept beyond the event's call: nothing in it points to what was the event's. An event of a
 * TCP connection is kept itself, since most are never drawn; of all others their text.
 */
struct kept {
    struct event_shown shown; /* its octets are those below */
    double seconds;
    enum flow_direction direction;
    bool has_text;
    char text[NOTATION_MAX];
    struct flow_event event; /* without a text */
    union {
        struct flow_open open;
        struct flow_close close;
        struct flow_gap gap;
        struct flow_start start;
        struct {
            struct flow_ulpdu ulpdu;
            struct flow_fpdu fpdu;
            struct flow_ddp ddp;
            struct flow_rdmap rdmap;
        };
    };
    json_t *step[FLOW_DIRECTIONS];
    uint8_t octets[KEPT_OCTETS];
};

enum state {
    WINDOW_WAITING,
    WINDOW_GUESSED, /* around a message of the right frame and sender; the rule has not said yet which one it means */
    WINDOW_KNOWN,
    WINDOW_WHOLE,
};

struct window {
    struct window *next;
    struct audit_finding *finding;
    enum state state;
    bool due;      /* the finding is about the next step: an FPDU or its DDP header, of which no step tells */
    unsigned left; /* steps still wanted after the offending one */
};

struct watched_flow {
    UT_hash_handle hh;
    uint64_t number;
    struct window *windows;
    uint64_t steps; /* before the present one */
    struct kept start[LADDER_START_STEPS];
    size_t start_count;
    struct kept ring[RING]; /* step i at i % RING */
};

struct drawing {
    struct watched_flow *flows;
    struct watched_flow *flow; /* that is being judged, */
    bool ending;               /* at its end */
    struct rule_engine *engine;
    const struct audit_findings *findings;
    size_t open; /* windows that are not whole */
    bool short_of_memory;
};

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static double seconds_of(const struct flow_event *event)
{
    return event->time_ns > event->flow->first_ns ? (double)(event->time_ns - event->flow->first_ns) / 1e9 : 0;
}

static const char *from_of(enum flow_direction direction, unsigned judged)
{
    return direction == judged ? "dut" : "tester";
}

static void kept_release(struct kept *kept)
{
    for (unsigned i = 0; i < FLOW_DIRECTIONS; i++) {
        json_decref(kept->step[i]);
        kept->step[i] = NULL;
    }
}

/* The part of a ULPDU's event; `octets` is where its ULPDU lay, `count` how many of them are kept. */
static void keep_ulpdu(struct kept *kept, const struct flow_event *event, const uint8_t *octets, size_t count)
{
    kept->ulpdu = *event->ulpdu;
    kept->ulpdu.octets = kept->octets;
    kept->ulpdu.have = count;
    kept->ulpdu.message = NULL;
    if (event->ulpdu->mpa != NULL) {
        kept->fpdu = *event->ulpdu->mpa;
        kept->fpdu.fpdu.start = NULL;
        kept->fpdu.fpdu.ulpdu = kept->octets;
        kept->ulpdu.mpa = &kept->fpdu;
    }
    kept->event.ulpdu = &kept->ulpdu;
    if (event->ddp != NULL) {
        const uint8_t *payload = event->ddp->segment.payload;
        size_t header = payload != NULL && (size_t)(payload - octets) < count ? (size_t)(payload - octets) : count;

        kept->ddp = *event->ddp;
        kept->ddp.segment.header = kept->octets;
        kept->ddp.segment.payload = kept->octets + header;
        if (kept->ddp.payload_have > count - header)
            kept->ddp.payload_have = count - header;
        kept->event.ddp = &kept->ddp;
    }
    if (event->rdmap != NULL) {
        kept->rdmap = *event->rdmap;
        kept->rdmap.request = NULL;
        if (kept->rdmap.header == FLOW_HEADER_TERMINATE)
            kept->rdmap.terminate.ddp_header = kept->rdmap.terminate.rdmap_header = NULL;
        kept->event.rdmap = &kept->rdmap;
    }
}

/* Copies what an event of a TCP connection points to. False: it points to something else, which only its text can keep. */
static bool keep_event(struct kept *kept, const struct flow_event *event)
{
    kept->event = (struct flow_event){
        .kind = event->kind,
        .direction = event->direction,
        .flow = event->flow,
        .frame = event->frame,
        .first_frame = event->first_frame,
        .time_ns = event->time_ns,
        .position = event->position,
        .reason = event->reason,
    };
    switch (event->kind) {
    case FLOW_TCP_OPEN:
        kept->open = *event->open;
        kept->event.open = &kept->open;
        return true;
    case FLOW_TCP_CLOSE:
        kept->close = *event->close;
        kept->event.close = &kept->close;
        return true;
    case FLOW_GAP:
        kept->gap = *event->gap;
        kept->event.gap = &kept->gap;
        return true;
    case FLOW_UNDECODED: return true;
    case FLOW_MPA_START:
        kept->start = *event->start;
        kept->start.octets = kept->octets;
        kept->start.octet_count = kept->shown.count;
        kept->start.frame.private_data = NULL;
        kept->event.start = &kept->start;
        return true;
    case FLOW_ULPDU:
    case FLOW_DDP:
    case FLOW_RDMAP: keep_ulpdu(kept, event, event->ulpdu->octets, kept->shown.count); return true;
    default: return false;
    }
}

static void keep(struct kept *kept, const struct flow_event *event)
{
    kept_release(kept);
    event_shown(event, &kept->shown);
    if (kept->shown.count > KEPT_OCTETS)
        kept->shown.count = KEPT_OCTETS;
    if (kept->shown.count != 0)
        memcpy(kept->octets, kept->shown.octets, kept->shown.count);
    kept->shown.octets = kept->octets;
    kept->seconds = seconds_of(event);
    kept->direction = event->direction;
    kept->has_text = !keep_event(kept, event);
    if (kept->has_text)
        notation_event(event, kept->text, sizeof(kept->text));
}

/* The kept event's step as it looks when `judged` is the judged sender's direction; borrowed. */
static json_t *kept_step(struct kept *kept, unsigned judged)
{
    if (!kept->has_text)
        notation_event(&kept->event, kept->text, sizeof(kept->text));
    kept->has_text = true;
    if (kept->step[judged] == NULL)
        kept->step[judged] =
            event_shown_step(&kept->shown, kept->text, kept->seconds, from_of(kept->direction, judged), SHOWN_OCTETS);
    return kept->step[judged];
}

/* ---- windows ----------------------------------------------------------------------------------------------------- */

/* Takes the reference to `step`. */
static void append(struct drawing *drawing, const struct window *window, json_t *step)
{
    if (step == NULL || json_array_append_new(window->finding->result.steps, step) != 0)
        drawing->short_of_memory = true;
}

static void append_kept(struct drawing *drawing, const struct window *window, struct kept *kept)
{
    append(drawing, window, json_incref(kept_step(kept, window->finding->direction)));
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
    json_t *step =
        event_step(event, text, seconds_of(event), from_of(event->direction, window->finding->direction), SIZE_MAX);

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

/* One more step: opens the windows that it is the middle of, and goes on with those that are open. */
static void window_step(struct drawing *drawing, struct watched_flow *flow, struct window *window,
                        const struct flow_event *event, struct kept *present)
{
    const struct audit_finding *finding = window->finding;
    bool fits = event->frame == finding->result.frame && event->direction == finding->direction;
    char text[NOTATION_MAX];

    if (window->due || (window->state == WINDOW_WAITING && fits)) {
        window_open(drawing, flow, window, event, notation_event(event, text, sizeof(text)),
                    window->due ? WINDOW_KNOWN : WINDOW_GUESSED);
    } else if ((window->state == WINDOW_GUESSED || window->state == WINDOW_KNOWN) && window->left != 0) {
        append_kept(drawing, window, present);
        window->left--;
    }
    if (window->state == WINDOW_KNOWN && window->left == 0)
        window_close(drawing, window);
}

static void flow_step(struct drawing *drawing, struct watched_flow *flow, const struct flow_event *event)
{
    struct kept *present = &flow->ring[flow->steps % RING];
    bool start = event->kind == FLOW_TCP_OPEN || event->kind == FLOW_MPA_START;

    keep(present, event);
    for (struct window *window = flow->windows; window != NULL; window = window->next)
        window_step(drawing, flow, window, event, present);
    if (start && flow->start_count == flow->steps && flow->start_count < LADDER_START_STEPS)
        keep(&flow->start[flow->start_count++], event);
    flow->steps++;
}

/* A finding that no message stands for (something did not come) is shown at the end. */
static void flow_end(struct drawing *drawing, struct watched_flow *flow, const struct flow_event *event)
{
    for (struct window *window = flow->windows; window != NULL; window = window->next) {
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
        const struct audit_finding *finding = window->finding;

        if (!drawing->ending && (window->state == WINDOW_WAITING || window->state == WINDOW_GUESSED) &&
            finding->rule == found->rule && finding->direction == found->direction &&
            finding->verdict == found->verdict)
            window->due = true;
    }
}

static bool is_wanted(const char *id, void *argument)
{
    const struct drawing *drawing = argument;

    for (const struct audit_finding *finding = drawing->findings->first; finding != NULL; finding = finding->next)
        if (strcmp(finding->rule->id, id) == 0)
            return true;
    return false;
}

static void sink(void *user, const struct flow_event *event)
{
    struct drawing *drawing = user;
    struct watched_flow *flow;

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

static int watch(struct drawing *drawing, struct audit_finding *finding)
{
    struct window *window = calloc(1, sizeof(*window));
    struct watched_flow *flow;

    HASH_FIND(hh, drawing->flows, &finding->flow, sizeof(finding->flow), flow);
    if (flow == NULL && window != NULL && (flow = calloc(1, sizeof(*flow))) != NULL) {
        flow->number = finding->flow;
        HASH_ADD(hh, drawing->flows, number, sizeof(flow->number), flow);
        if (hash_lost(flow)) {
            free(flow);
            flow = NULL;
        }
    }
    if (window == NULL || flow == NULL) {
        free(window);
        return -1;
    }
    window->finding = finding;
    window->next = flow->windows;
    flow->windows = window;
    drawing->open++;
    return 0;
}

static void unwatch(struct watched_flow *flow)
{
    while (flow->windows != NULL) {
        struct window *window = flow->windows;

        flow->windows = window->next;
        free(window);
    }
    for (size_t i = 0; i < flow->start_count; i++)
        kept_release(&flow->start[i]);
    for (size_t i = 0; i < RING; i++)
        kept_release(&flow->ring[i]);
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
    rule_engine_free(drawing->engine);
}

static int read_again(struct drawing *drawing, struct flow_decoder *decoder, struct capture_series *series,
                      uint64_t frames, struct sentence *error)
{
    struct flow_frame frame;
    struct sentence ignored; /* where it breaks off, the first pass has said */
    struct audit_order order;

    if (capture_series_rewind(series, error) != 0)
        return -1;
    audit_order_make(&order, drawing->findings);
    while (drawing->open != 0 && capture_series_frames(series) < frames &&
           capture_series_next(series, &frame, &ignored) == 1) {
        audit_order_place(&order, series, &frame);
        flow_decoder_frame(decoder, &frame);
    }
    flow_decoder_finish(decoder);
    return drawing->short_of_memory ? sentence_set(error, "out of memory for ladders") : 0;
}

int audit_ladder_draw(struct audit_findings *findings, struct capture_series *series, uint64_t frames,
                      struct sentence *error)
{
    struct drawing drawing = {.findings = findings};
    struct flow_config flows = {.rule_state_octets = rule_state_octets()};
    struct rule_config rules = {.selected = is_wanted, .finding = on_finding, .argument = &drawing};
    struct flow_decoder *decoder = flow_decoder_create(&flows, sink, &drawing);
    int rc = 0;

    drawing.engine = rule_engine_create(&rules);
    for (struct audit_finding *finding = findings->first; finding != NULL && rc == 0; finding = finding->next)
        rc = watch(&drawing, finding);
    if (rc != 0 || decoder == NULL || drawing.engine == NULL)
        rc = sentence_set(error, "out of memory for ladders");
    else
        rc = read_again(&drawing, decoder, series, frames, error);
    flow_decoder_destroy(decoder);
    drawing_free(&drawing);
    return rc;
}
