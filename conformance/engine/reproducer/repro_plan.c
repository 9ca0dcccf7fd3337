/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/reproducer/repro_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/octets.h"
#include "generator/packet/packet.h"
#include "wire/crc32c.h"
#include "wire/fpdu.h"
#include "wire/mpa.h"

enum {
    FLAG_M = 0x80, /* in octet 16 of a start-up frame (RFC 5044 7.1) */
    FLAG_C = 0x40,
    OPCODE_READ_REQUEST = 1,
    READ_REQUEST_OCTETS = 46, /* of the ULPDU */
    SINK_STAG_AT = 18,        /* RFC 5040 4.4, behind the 18 octets of an untagged DDP header */
    SINK_TO_AT = 22,
};

static bool begins(const char *text, const char *with)
{
    return text != NULL && strncmp(text, with, strlen(with)) == 0;
}

static const char *verb_of(const struct repro_event *event)
{
    const char *verb = event->asked != NULL ? json_string_value(json_object_get(event->asked, "verb")) : NULL;

    return verb != NULL ? verb : "";
}

/*
 * ---- what the device sent -------------------------------------------------------------------------------------------
 */

/* Appends one frame of the device. */
static int add_item(struct repro_plan *plan, const struct repro_item *item)
{
    struct repro_item *items = realloc(plan->items, (plan->item_count + 1) * sizeof(*items));

    if (items == NULL)
        return -1;
    plan->items = items;
    items[plan->item_count++] = *item;
    return 0;
}

/* A Read Request names an STag and an address of the device, by which it is answered. */
static void name_sink(struct repro_plan *plan, struct repro_item *item)
{
    const uint8_t *ulpdu = item->octets + FPDU_LENGTH_OCTETS;

    item->variable = SIZE_MAX;
    if (item->start || !item->whole || octets_get16(item->octets) < READ_REQUEST_OCTETS ||
        (ulpdu[1] & 15) != OPCODE_READ_REQUEST || (ulpdu[0] & 0x80) != 0 || plan->variable_count == REPRO_FOUND_MAX)
        return;
    item->variable = plan->variable_count;
    plan->variables[plan->variable_count++] = (struct repro_variable){
        .stag = octets_get32(ulpdu + SINK_STAG_AT), .base = octets_get64(ulpdu + SINK_TO_AT), .event = item->event};
}

/* Octets of the frame that begins here; 0: nobody knows yet. */
static size_t frame_octets(const uint8_t *at, size_t count, bool start)
{
    if (start)
        return count < MPA_START_OCTETS ? 0 : MPA_START_OCTETS + (size_t)octets_get16(at + 18);
    return count < FPDU_LENGTH_OCTETS ? 0 : fpdu_content(octets_get16(at));
}

/* Cuts the device's stream into frames. `until[i]`: octets that are there after event i. */
static int cut_items(struct repro_plan *plan, unsigned connection, const uint8_t *stream, const size_t *until)
{
    size_t have = until[plan->evidence->count], at = 0, event = 0;

    while (at < have) {
        struct repro_item item = {.connection = connection, .start = at == 0, .octets = stream + at};
        size_t octets = frame_octets(stream + at, have - at, at == 0);

        item.whole = octets != 0 && octets <= have - at;
        item.count = item.whole ? octets : have - at;
        while (until[event + 1] < at + item.count)
            event++;
        item.event = event;
        item.crc_good = item.whole && item.count > FPDU_CRC_OCTETS &&
                        crc32c(item.octets, item.count - FPDU_CRC_OCTETS) ==
                            octets_get32_little(item.octets + item.count - FPDU_CRC_OCTETS);
        name_sink(plan, &item);
        if (add_item(plan, &item) != 0)
            return -1;
        at += item.count;
    }
    return 0;
}

/* The device's stream of one connection, each octet once. 0, or -1 without memory. */
static int read_stream(struct repro_plan *plan, unsigned connection)
{
    const struct repro_evidence *evidence = plan->evidence;
    size_t room = 1, have = 0, *until = calloc(evidence->count + 1, sizeof(*until));
    uint32_t first = 0;
    uint8_t *stream;
    int rc = -1;

    for (size_t i = 0; i < evidence->count; i++)
        room += evidence->events[i].count;
    stream = plan->streams[plan->place[connection]] = malloc(room);
    for (size_t i = 0; until != NULL && stream != NULL && i < evidence->count; i++) {
        const struct repro_event *event = &evidence->events[i];

        if (event->asked == NULL && event->connection == connection && event->from_dut) {
            uint32_t skip;

            if ((event->flags & TCP_FLAG_SYN) != 0)
                first = event->sequence + 1;
            skip = first + (uint32_t)have - event->sequence;
            if (event->count != 0 && skip < event->count) {
                memcpy(stream + have, event->octets + skip, event->count - skip);
                have += event->count - skip;
            }
        }
        until[i + 1] = have;
    }
    if (until != NULL && stream != NULL)
        rc = cut_items(plan, connection, stream, until);
    free(until);
    return rc;
}

/* Flags of both start-up frames: are CRCs in use, and does the tester send Markers? */
static void read_flags(struct repro_plan *plan, unsigned connection)
{
    for (size_t i = 0; i < plan->evidence->count; i++) {
        const struct repro_event *event = &plan->evidence->events[i];

        if (event->asked != NULL || event->connection != connection || event->count < MPA_START_OCTETS ||
            mpa_start_kind_of(event->octets, event->count) < 0)
            continue;
        plan->crc[connection] |= (event->octets[16] & FLAG_C) != 0;
        plan->markers[connection] |= event->from_dut && (event->octets[16] & FLAG_M) != 0;
    }
}

/*
 * ---- what is kept ---------------------------------------------------------------------------------------------------
 */

const struct repro_connection *repro_plan_stream(const struct repro_plan *plan, const json_t *stream)
{
    for (size_t i = 0; json_is_integer(stream) && i < plan->evidence->connection_count; i++)
        if (plan->kept[i] && plan->evidence->connections[i].stream == (uint64_t)json_integer_value(stream))
            return &plan->evidence->connections[i];
    return NULL;
}

struct repro_variable *repro_plan_variable(struct repro_plan *plan, uint32_t stag, bool key, size_t event)
{
    struct repro_variable *found = NULL;

    for (size_t i = 0; i < plan->variable_count; i++) {
        struct repro_variable *variable = &plan->variables[i];

        if (variable->event >= event || variable->stag >> 8 == 0)
            continue;
        if (variable->stag == stag || (key && found == NULL && variable->stag >> 8 == stag >> 8))
            found = variable;
    }
    return found;
}

bool repro_plan_use(struct repro_plan *plan, struct repro_variable *variable)
{
    if (variable->used)
        return true;
    if (plan->used_count == REPRO_VARIABLES_MAX)
        return false;
    variable->used = true;
    variable->number = (unsigned)plan->used_count++;
    return true;
}

static void find_memory(struct repro_plan *plan)
{
    for (size_t i = 0; i < plan->evidence->count && plan->variable_count < REPRO_FOUND_MAX; i++) {
        const struct repro_event *event = &plan->evidence->events[i];
        const json_t *stag = event->asked != NULL ? json_object_get(event->answer, "stag") : NULL;
        const char *base = json_string_value(json_object_get(event->answer, "base"));

        if (json_is_integer(stag))
            plan->variables[plan->variable_count++] =
                (struct repro_variable){.stag = (uint32_t)json_integer_value(stag),
                                        .base = base != NULL ? strtoull(base, NULL, 0) : 0,
                                        .event = i};
    }
}

/* The connection of the verdict, and those that were open when it was opened, or later. */
static int keep(struct repro_plan *plan, bool whole, struct iwarp_sentence *error)
{
    const struct repro_evidence *evidence = plan->evidence;
    const struct repro_connection *own = &evidence->connections[plan->connection];

    for (unsigned i = 0; i < evidence->connection_count; i++) {
        const struct repro_connection *other = &evidence->connections[i];

        bool beside = other->over == SIZE_MAX || other->over > own->opened;

        if (i != plan->connection &&
            (other->opened > plan->cut || !(beside || (whole && other->opened >= evidence->begun))))
            continue;
        if (plan->kept_count == REPRO_KEPT_MAX)
            return iwarp_sentence_set(error, "it needs more than %d connections at once", REPRO_KEPT_MAX), 1;
        plan->kept[i] = true;
        plan->place[i] = (int)plan->kept_count++;
        read_flags(plan, i);
        if (read_stream(plan, i) != 0)
            return iwarp_sentence_set(error, "out of memory");
    }
    return 0;
}

/*
 * ---- what decides ---------------------------------------------------------------------------------------------------
 */

/* The step of the ladder that the verdict is about; NULL. */
static const json_t *marked_step(const struct result *result)
{
    json_t *step;
    size_t i;

    json_array_foreach(result->steps, i, step)
    {
        if ((json_object_get(step, "mark") != NULL || json_object_get(step, "note") != NULL) &&
            (uint64_t)json_integer_value(json_object_get(step, "frame")) == result->frame)
            return step;
    }
    return NULL;
}

/* Do these octets, as a step shows them, stand in the item? A start-up frame as it is, of an FPDU its ULPDU. */
static bool shows(const struct repro_item *item, const char *hex)
{
    static const char digits[] = "0123456789abcdef";
    size_t at = item->start ? 0 : FPDU_LENGTH_OCTETS, digit = 0;

    for (; hex[digit] != '\0'; digit++) {
        if (at + digit / 2 >= item->count ||
            digits[item->octets[at + digit / 2] >> (digit % 2 == 0 ? 4 : 0) & 15] != hex[digit])
            return false;
    }
    return digit != 0;
}

/* The frame of the device in this segment that the step shows; else the last one that the segment completes. */
static size_t item_at(const struct repro_plan *plan, size_t event, const json_t *step)
{
    const char *hex = json_string_value(json_object_get(step, "octets"));
    size_t found = SIZE_MAX;

    for (size_t i = 0; i < plan->item_count; i++) {
        const struct repro_item *item = &plan->items[i];

        if (item->connection != plan->connection || item->event != event)
            continue;
        if (found == SIZE_MAX || hex == NULL || !shows(&plan->items[found], hex))
            found = i;
    }
    return found;
}

/* The last command that asks how things are, after `event`: the verdict may rest on its answer. SIZE_MAX: none. */
static size_t question_after(const struct repro_evidence *evidence, size_t event)
{
    static const char *const questions[] = {"poll", "mem_read", "status",     "mpa",
                                            "ddp",  "regions",  "placements", "number"};
    size_t found = SIZE_MAX;

    for (size_t i = event + 1; i < evidence->count; i++)
        for (size_t k = 0; k < sizeof(questions) / sizeof(questions[0]); k++)
            if (strcmp(verb_of(&evidence->events[i]), questions[k]) == 0)
                found = i;
    return found;
}

/* "at offset 0: 676f...; 10 octets differ": the command that read these octets last. */
static size_t memory_read(const struct repro_plan *plan, size_t from)
{
    const char *colon = strchr(plan->result->actual, ':');
    size_t at = strtoul(plan->result->actual + strlen("at offset "), NULL, 10), found = SIZE_MAX;

    for (size_t i = from; colon != NULL && i < plan->evidence->count; i++) {
        const struct repro_event *event = &plan->evidence->events[i];
        const char *data = json_string_value(json_object_get(event->answer, "data"));
        size_t length = strspn(colon + 2, "0123456789abcdef");

        if (strcmp(verb_of(event), "mem_read") == 0 && data != NULL && strlen(data) >= 2 * at + length &&
            strncmp(data + 2 * at, colon + 2, length) == 0)
            found = i;
    }
    return found;
}

/* The verdict is not about a frame of the device alone. */
static int decide_otherwise(struct repro_plan *plan, size_t event, struct iwarp_sentence *error)
{
    const char *actual = plan->result->actual != NULL ? plan->result->actual : "";
    const struct repro_event *last = &plan->evidence->events[event];
    size_t question = question_after(plan->evidence, event);

    if (begins(actual, "at offset ")) {
        plan->decision = REPRO_MEMORY;
        plan->memory = plan->cut = memory_read(plan, plan->evidence->connections[plan->connection].opened);
        if (plan->memory != SIZE_MAX)
            return 0;
    } else if (strstr(actual, "deliver") != NULL) {
        plan->decision = REPRO_DELIVERIES;
        return 0;
    } else if (last->from_dut && (begins(actual, "FIN") || begins(actual, "RST") || begins(actual, "reset"))) {
        plan->decision = REPRO_END;
        return 0;
    } else if (last->from_dut && question == SIZE_MAX) {
        plan->decision = REPRO_ALL;
        return 0;
    }
    if (question == SIZE_MAX)
        return iwarp_sentence_set(error, "what failed (\"%.100s\") is no answer on a connection", actual), 1;
    return iwarp_sentence_set(error, "what failed (\"%.100s\") is what the upper tester said to \"%.20s\"", actual,
                              verb_of(&plan->evidence->events[question])),
           1;
}

/* Is the verdict about what the device sent, and not about what its upper tester said of it later? */
static bool is_about_frames(const struct repro_plan *plan, size_t event)
{
    static const char *const wire[] = {"terminate-", "crc-"};
    const char *cause = plan->result->cause;

    if (result_is_by_rule(plan->result) || question_after(plan->evidence, event) == SIZE_MAX)
        return true;
    for (size_t i = 0; cause != NULL && i < sizeof(wire) / sizeof(wire[0]); i++)
        if (begins(cause, wire[i]))
            return true;
    return begins(plan->result->actual, "Terminate") || begins(plan->result->actual, "RDMA") ||
           begins(plan->result->actual, "MPA ");
}

static int decide(struct repro_plan *plan, size_t event, struct iwarp_sentence *error)
{
    const json_t *step = marked_step(plan->result);
    const struct repro_event *segment = &plan->evidence->events[event];
    const char *kind = json_string_value(json_object_get(step, "kind"));

    plan->item = segment->from_dut && segment->count != 0 ? item_at(plan, event, step) : SIZE_MAX;
    if (begins(plan->result->actual, "nothing within")) {
        plan->decision = REPRO_NOTHING;
        return 0;
    }
    if (plan->item != SIZE_MAX && (kind == NULL || strcmp(kind, "tcp") != 0) && is_about_frames(plan, event)) {
        plan->decision = REPRO_FRAME;
        return 0;
    }
    return decide_otherwise(plan, event, error);
}

/* The segment with this frame number; SIZE_MAX. */
static size_t segment_of(const struct repro_evidence *evidence, uint64_t frame)
{
    for (size_t i = 0; frame != 0 && i < evidence->count; i++)
        if (evidence->events[i].asked == NULL && evidence->events[i].frame == frame)
            return i;
    return SIZE_MAX;
}

int repro_plan_make(struct repro_plan *plan, const struct repro_evidence *evidence, const struct result *result,
                    bool whole, struct iwarp_sentence *error)
{
    size_t event = segment_of(evidence, result->frame);
    int rc;

    *plan = (struct repro_plan){.evidence = evidence, .result = result, .cut = event, .item = SIZE_MAX};
    if (event == SIZE_MAX)
        return iwarp_sentence_set(error, "the result names no frame of a TCP connection of the tester"), 1;
    plan->connection = evidence->events[event].connection;
    find_memory(plan);
    rc = keep(plan, whole, error);
    return rc == 0 ? decide(plan, event, error) : rc;
}

void repro_plan_free(struct repro_plan *plan)
{
    for (size_t i = 0; i < REPRO_KEPT_MAX; i++)
        free(plan->streams[i]);
    free(plan->items);
}
