/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/explore/session_deviation.h"

#include <string.h>

#include "base/splitmix.h"
#include "conformance/engine/explore/session_layer.h"
#include "conformance/engine/explore/session_memory.h"
#include "conformance/engine/explore/session_opening.h"
#include "wire/atomic.h"
#include "wire/ddp.h"
#include "wire/mpa.h"
#include "wire/rdmap.h"

/* MORE_MOST, RESPONSE_MOST: a segment stays within the MULPDU of every path that a session is run on. */
enum {
    DEPTH_BITS = 6,
    MARKED_LEAST = 520,
    FRAMES_MOST = 40,
    UNTAGGED_OCTETS = 18,
    MORE_MOST = 100,
    RESPONSE_MOST = 1000
};

/* The headers of a step's segments: where each begins in the ULPDU. */
struct header {
    const char *step; /* NULL: any that is `tagged` as this one */
    bool tagged;
    const struct wire_layout *layout;
    unsigned at;
};

static bool is_tagged(const char *step)
{
    return strcmp(step, "write") == 0 || strcmp(step, "response") == 0;
}

static const struct header *headers(size_t *count)
{
    static const struct header rows[] = {
        {NULL, false, &ddp_untagged_layout, 0},
        {NULL, true, &ddp_tagged_layout, 0},
        {NULL, false, &rdmap_untagged_layout, 1},
        {NULL, true, &rdmap_control_layout, 1},
        {"read", false, &read_request_layout, UNTAGGED_OCTETS},
        {"atomic", false, &atomic_request_layout, UNTAGGED_OCTETS},
        {"atomic response", false, &atomic_response_layout, UNTAGGED_OCTETS},
    };

    *count = sizeof(rows) / sizeof(rows[0]);
    return rows;
}

/* A step at which a comparison in fewer bits, or with another sign, goes wrong. */
static int64_t far_step(struct session_draw *draw)
{
    static const int64_t steps[] = {4, 8, 0x100, 0x1000, 0x10000, 0x1000000, 0x7FFFFFFF, 0x80000000, 0x100000000};
    int64_t step = steps[session_below(draw, sizeof(steps) / sizeof(steps[0]))];

    return session_once_in(draw, 3) ? -step : step;
}

/* What becomes of a field: a small step or one to an edge, one bit, or anything; all in its `low` bits. */
static void change_value(struct session_draw *draw, struct session_members *wrong, unsigned bits, unsigned low)
{
    uint64_t mask = low == 64 ? UINT64_MAX : (UINT64_C(1) << low) - 1, flip;

    session_add(wrong, "bits", (int64_t)bits);
    switch (session_below(draw, low < 16 ? 4 : 5)) {
    case 0: session_add(wrong, "add", 1 + (int64_t)session_below(draw, 3)); return;
    case 1: session_add(wrong, "add", -1 - (int64_t)session_below(draw, 3)); return;
    case 2: flip = UINT64_C(1) << session_below(draw, low); break;
    case 4: session_add(wrong, "add", far_step(draw)); return;
    default: flip = session_once_in(draw, 3) ? mask : splitmix_next(&draw->state) & mask; break;
    }
    session_add(wrong, "flip", (int64_t)(flip != 0 ? flip : 1));
}

void session_change_field(struct session_draw *draw, struct session_members *wrong, const struct wire_layout *layout,
                          unsigned at)
{
    const struct wire_field *field = &layout->fields[session_below(draw, layout->field_count)];
    bool depth =
        layout == &mpa_enhanced_layout && field->bits > DEPTH_BITS; /* what no device has draws a WARN (RFC 6581 9.1) */

    if (field->kind == WIRE_OCTETS) { /* the Key: its octets are no number */
        session_add(wrong, "keep", (int64_t)session_below(draw, layout->octets));
        session_add(wrong, "more", 1 + (int64_t)session_below(draw, 40));
        return;
    }
    session_add_word(wrong, "of", layout->id);
    session_add_word(wrong, "field", field->id);
    session_add(wrong, "at", at);
    change_value(draw, wrong, field->bits, depth ? DEPTH_BITS : field->bits);
}

void session_change_octet(struct session_draw *draw, struct session_members *wrong, unsigned most)
{
    session_add(wrong, "octet", (int64_t)session_below(draw, most));
    session_add(wrong, "by",
                session_once_in(draw, 2) ? INT64_C(1) << session_below(draw, 8)
                                         : 1 + (int64_t)session_below(draw, UINT8_MAX));
}

static void change_header(struct session_draw *draw, const char *step, struct session_members *wrong)
{
    size_t count, fits = 0, wanted;
    const struct header *rows = headers(&count);

    for (size_t i = 0; i < count; i++)
        fits += rows[i].step == NULL ? rows[i].tagged == is_tagged(step) : strcmp(rows[i].step, step) == 0;
    wanted = session_below(draw, fits);
    for (size_t i = 0; i < count; i++) {
        bool fit = rows[i].step == NULL ? rows[i].tagged == is_tagged(step) : strcmp(rows[i].step, step) == 0;

        if (fit && wanted-- == 0) {
            session_change_field(draw, wrong, rows[i].layout, rows[i].at);
            return;
        }
    }
}

static void change_length(struct session_draw *draw, struct session_members *wrong)
{
    if (session_once_in(draw, 3))
        session_add(wrong, "less", 1 + (int64_t)session_below(draw, 4));
    else if (session_once_in(draw, 2))
        session_add(wrong, "keep", (int64_t)session_below(draw, session_once_in(draw, 2) ? 20 : 80));
    else
        session_add(wrong, "more", 1 + (int64_t)session_below(draw, session_once_in(draw, 2) ? 8 : MORE_MOST));
}

static void change_place(struct session_draw *draw, struct session_members *wrong)
{
    static const char *const words[] = {"twice", "missing", "exchanged"};

    session_add_flag(wrong, words[session_below(draw, 3)], true);
}

static void change_step(const struct session *session, struct session_draw *draw, struct session_step *step)
{
    struct session_wrong *wrong = &step->wrong;

    wrong->present = true;
    session_add(&wrong->what, "frame", 1 + (int64_t)session_below(draw, session_once_in(draw, 2) ? 2 : FRAMES_MOST));
    switch (session_below(draw, 9)) {
    case 0: change_length(draw, &wrong->what); break;
    case 8: session_change_octet(draw, &wrong->what, FRAMES_MOST); break;
    case 1:
    case 2: session_layer(session)->wrong_frame(draw, &wrong->frame); break;
    case 3: change_place(draw, &wrong->what); break;
    default: change_header(draw, step->name, &wrong->what); break;
    }
    if (session_once_in(draw, 12) && session_find(&wrong->what, "of") == NULL)
        change_header(draw, step->name, &wrong->what);
}

/* The lowest and highest bit of each octet, which a copy into fewer bits loses. */
static unsigned edge_bit(struct session_draw *draw, unsigned bits)
{
    unsigned octets = (bits + 7) / 8,
             bit = 8 * (unsigned)session_below(draw, octets) + (session_once_in(draw, 2) ? 7 : 0);

    return bit < bits ? bit : bits - 1;
}

static const struct wire_field *any_field(struct session_draw *draw, const struct wire_layout *layout)
{
    return &layout->fields[session_below(draw, layout->field_count)];
}

/* One bit of a header, in a segment that is not the last of its message. */
static void change_inner(struct session_draw *draw, struct session_step *step)
{
    struct session_members *wrong = &step->wrong.what;
    int64_t octets = session_number(&step->members, "octets", 0);
    const struct wire_layout *layouts[] = {is_tagged(step->name) ? &ddp_tagged_layout : &ddp_untagged_layout,
                                           is_tagged(step->name) ? &rdmap_control_layout : &rdmap_untagged_layout};
    size_t which = session_once_in(draw, 4);
    const struct wire_field *field = any_field(draw, layouts[which]);

    if (session_once_in(draw, 2)) { /* rather a number than a flag */
        const struct wire_field *other = any_field(draw, layouts[which]);

        field = other->bits > field->bits ? other : field;
    }
    step->wrong.present = true;
    if (octets > 1) {
        session_drop(&step->members, "piece");
        session_add(&step->members, "piece", (octets + 3) / 4);
    }
    session_add(wrong, "frame", 1 + (int64_t)session_below(draw, 2));
    session_add_word(wrong, "of", layouts[which]->id);
    session_add_word(wrong, "field", field->id);
    session_add(wrong, "at", (int64_t)which);
    session_add(wrong, "bits", field->bits);
    session_add(wrong, "flip", (int64_t)(UINT64_C(1) << edge_bit(draw, field->bits)));
}

static bool is_of_tester(const struct session_step *step)
{
    return strncmp(step->name, "device ", 7) != 0 && strcmp(step->name, "settle") != 0 &&
           strcmp(step->name, "pause") != 0 && strcmp(step->name, "another") != 0 && strcmp(step->name, "end") != 0;
}

/* Its response has octets of its own: a Read of some octets by the device, or an atomic. */
static bool is_answered(const struct session_step *step)
{
    return strcmp(step->name, "device atomic") == 0 ||
           (strcmp(step->name, "device read") == 0 && session_number(&step->members, "octets", 0) != 0);
}

/* A step of this kind, the last one that stays; NULL: there is none. */
static struct session_step *choose_step(struct session *session, struct session_draw *draw,
                                        bool (*is_of_kind)(const struct session_step *step))
{
    size_t first = session_below(draw, session->step_count);

    for (size_t i = 0; i < session->step_count; i++) {
        size_t at = (first + i) % session->step_count;

        if (is_of_kind(&session->steps[at])) {
            session->step_count = at + 1;
            return &session->steps[at];
        }
    }
    return NULL;
}

/* Markers are in use, and one is in the FPDU. */
static void give_marker(struct session *session, struct session_draw *draw, struct session_step *step)
{
    session_drop(&session->device, "markers");
    session_add_flag(&session->device, "markers", true);
    session_drop(&session->device, "receive_octets");
    step->name = "send";
    step->members.count = 0;
    session_add(&step->members, "octets", MARKED_LEAST + (int64_t)session_below(draw, MARKED_LEAST));
}

static void change_start(struct session *session, struct session_draw *draw)
{
    session->step_count = 0;
    session->wrong_start.present = true;
    session_layer(session)->wrong_start(session, draw);
}

/* The first stream that has not ended. */
static int64_t live_stream(const struct session *session)
{
    bool live[SESSION_STEPS + 1] = {false, true};
    int64_t first = 1;

    for (size_t i = 0; i < session->step_count; i++)
        if (strcmp(session->steps[i].name, "end") == 0)
            live[session_number(&session->steps[i].members, "stream", 1)] = false;
        else if (strcmp(session->steps[i].name, "another") == 0)
            live[session_number(&session->steps[i].members, "opens", 1)] =
                !session_is_turned_down(&session->steps[i].members);
    while (!live[first])
        first++;
    return first;
}

/* The last step is on a stream that has not ended. */
static void move_to_live_stream(struct session *session)
{
    int64_t stream = live_stream(session);

    if (stream != 1)
        session_add(&session->steps[session->step_count - 1].members, "stream", stream);
}

/* The tester's Terminate: legal. */
static void add_terminate(struct session *session, struct session_draw *draw)
{
    struct session_step *step = session_add_step(session, "terminate");

    session_add(&step->members, "layer", (int64_t)session_below(draw, 3));
    session_add(&step->members, "etype", (int64_t)session_below(draw, 4));
    session_add(&step->members, "code", (int64_t)session_below(draw, 10));
}

/* A response that answers nothing, or a Terminate. */
static void add_unasked(struct session *session, struct session_draw *draw)
{
    const struct session_layer *layer = session_layer(session);
    uint64_t kind = session_below(draw, 3);
    struct session_step *step;

    if (session->step_count == SESSION_STEPS)
        session->step_count--;
    if (layer->unasked != NULL && session_once_in(draw, 2)) {
        layer->unasked(session, draw);
        move_to_live_stream(session);
        return;
    }
    if (kind == 2) {
        add_terminate(session, draw);
        move_to_live_stream(session);
        return;
    }
    step = session_add_step(session, kind == 0 ? "response" : "atomic response");
    move_to_live_stream(session);
    if (kind == 0) {
        session_add(&step->members, "region", 1);
        session_add(&step->members, "at", 0);
        session_add(&step->members, "octets",
                    1 + (int64_t)session_below(draw, session_once_in(draw, 2) ? 16 : RESPONSE_MOST));
    }
    step->wrong.present = true;
    session_add(&step->wrong.what, "frame", 1);
}

/* Which of its atomics a response answers: the RequestId says so, or by another reading the MSN (ATOM-5.2.2-09). */
static void change_request_id(struct session_draw *draw, struct session_members *wrong)
{
    const struct wire_field *field = wire_layout_field(&atomic_response_layout, "RequestId");

    session_add_word(wrong, "of", atomic_response_layout.id);
    session_add_word(wrong, "field", field->id);
    session_add(wrong, "at", UNTAGGED_OCTETS);
    change_value(draw, wrong, field->bits, field->bits);
}

/* The answer to a Read or an atomic of the device is wrong. False: there is none. */
static bool answer_wrongly(struct session *session, struct session_draw *draw)
{
    struct session_step *step = choose_step(session, draw, is_answered);
    bool atomic = step != NULL && strcmp(step->name, "device atomic") == 0;

    if (step == NULL)
        return false;
    session_drop(&step->members, "gap");
    step->wrong.present = true;
    session_add(&step->wrong.what, "frame", 1 + (int64_t)session_below(draw, 2));
    if (session_once_in(draw, 4))
        change_length(draw, &step->wrong.what);
    else if (atomic && session_once_in(draw, 2))
        change_request_id(draw, &step->wrong.what);
    else
        change_header(draw, atomic ? "atomic response" : "response", &step->wrong.what);
    return true;
}

/* Another stream begins wrongly, where that may do harm to those that are there; else its own start-up is wrong. */
static void begin_wrongly(struct session *session, struct session_draw *draw)
{
    const struct session_layer *layer = session_layer(session);

    if (layer->wrong_another == NULL) {
        change_start(session, draw);
        return;
    }
    if (session->step_count > SESSION_STEPS - 2)
        session->step_count = SESSION_STEPS - 2;
    (void)session_add_step(session, "settle"); /* as before each other one */
    layer->wrong_another(session, draw);
}

/* CRCs are in use on neither side: what is wrong with one is ignored (RFC 5044 7.1.1). */
static void leave_crcs_off(struct session *session)
{
    session_drop(&session->own, "C");
    session_drop(&session->device, "crc");
    session_add_flag(&session->own, "C", false);
    session_add_flag(&session->device, "crc", false);
}

/* Sends for all of the device's receives. */
static void use_receives(struct session *session, struct session_draw *draw, size_t sends)
{
    session->step_count = 0;
    session_drop(&session->device, "receives");
    session_add(&session->device, "receives", (int64_t)sends);
    session_add_flag(&session->device, "repost", false);
    if (session->word.count != 0)
        session->word.count = 2; /* no RTR that would take one */
    session_drop(&session->device, "p2p");
    for (size_t i = 0; i < sends; i++)
        session_add(&session_add_step(session, "send")->members, "octets", (int64_t)session_below(draw, 16));
}

/* More Sends than the device has receives; a Terminate needs none. */
static void exhaust_receives(struct session *session, struct session_draw *draw)
{
    struct session_step *step;

    use_receives(session, draw, 1 + session_below(draw, 3));
    if (session_once_in(draw, 4)) {
        add_terminate(session, draw);
        return;
    }
    step = session_add_step(session, "send");
    session_add(&step->members, "octets", (int64_t)session_below(draw, 16));
    step->wrong.present = true;
    session_add(&step->wrong.what, "frame", 1);
}

void session_deviate(struct session *session, struct session_draw *draw)
{
    struct session_step *step;
    bool inner = false;

    session->ends = NULL;
    session_drop(&session->device, "hold_open");
    session_drop(&session->open, "rejects");
    session_drop(&session->open, "refuses");
    switch (session_below(draw, 27)) {
    case 15: begin_wrongly(session, draw); return;
    case 13: session_reach_revoked(session, draw); return;
    case 14: session_reach_other_domain(session, draw); return;
    case 0:
    case 1:
    case 2: change_start(session, draw); return;
    case 3: add_unasked(session, draw); return;
    case 4: exhaust_receives(session, draw); return;
    case 5: session_reach_too_far(session, draw); return;
    case 6:
    case 7: session_reach_beyond(session, draw); return;
    case 8: session_exhaust_reads(session, draw); return;
    case 9: session_reach_invalid(session, draw); return;
    case 10: session_invalidate_wrongly(session, draw); return;
    case 11: session_operate_wrongly(session, draw); return;
    case 12: session_overfill(session, draw); return;
    case 16:
    case 17:
    case 18:
    case 19: inner = true; break;
    case 20:
    case 21:
        if (session->step_count != 0 && answer_wrongly(session, draw))
            return;
        break;
    default: break;
    }
    step = choose_step(session, draw, is_of_tester);
    if (step == NULL)
        return;
    session_drop(&step->members, "held"); /* octets that are held would be judged with the next step's */
    if (inner && (strcmp(step->name, "send") == 0 || strcmp(step->name, "write") == 0)) {
        change_inner(draw, step);
        return;
    }
    change_step(session, draw, step);
    if (session_find(&step->wrong.frame, "marker_index") != NULL && session_number(&step->members, "stream", 1) == 1)
        give_marker(session, draw, step);
    if (session_find(&step->wrong.frame, "crc_flip") != NULL && session_once_in(draw, 3))
        leave_crcs_off(session);
}
