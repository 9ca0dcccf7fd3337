/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/results/difference.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "reports/results/member.h"

static const char *const names[DIFFERENCE_KINDS] = {
    [DIFFERENCE_NEW] = "new",         [DIFFERENCE_CHANGED] = "changed", [DIFFERENCE_DUE] = "due",
    [DIFFERENCE_MISSING] = "missing", [DIFFERENCE_RENAMED] = "renamed",
};

const char *difference_kind_name(enum difference_kind kind)
{
    return (unsigned)kind < DIFFERENCE_KINDS ? names[kind] : "?";
}

json_t *difference_to_json(const struct difference *difference)
{
    json_t *object = json_object();
    int rc = member_set_text(object, "type", "difference");

    rc |= member_set_text(object, "kind", difference_kind_name(difference->kind));
    rc |= member_set_text(object, "file", difference->file);
    rc |= member_set_text(object, "id", difference->id);
    rc |= member_set_text(object, "role", difference->role);
    rc |= member_set_text(object, "flow", difference->flow);
    rc |= member_set_text(object, "verdict", verdict_name(difference->verdict));
    if (difference->frame)
        rc |= member_set_count(object, "frame", difference->frame);
    rc |= member_set_text(object, "expected", difference->expected);
    rc |= member_set_text(object, "actual", difference->actual);
    rc |= member_set_text(object, "text", difference->text);
    if (difference->line)
        rc |= member_set_count(object, "line", difference->line);
    if (difference->was_line)
        rc |= member_set_count(object, "was_line", difference->was_line);
    if (rc == 0)
        return object;
    json_decref(object);
    return NULL;
}

int difference_from_json(const json_t *object, struct difference *difference)
{
    const char *kind = member_text(object, "kind");

    *difference = (struct difference){
        .kind = DIFFERENCE_KINDS,
        .file = member_text(object, "file"),
        .id = member_text(object, "id"),
        .role = result_role(member_text(object, "role")),
        .flow = member_text(object, "flow"),
        .text = member_text(object, "text"),
        .frame = member_count(object, "frame"),
        .expected = member_text(object, "expected"),
        .actual = member_text(object, "actual"),
        .line = member_count(object, "line"),
        .was_line = member_count(object, "was_line"),
    };
    for (unsigned i = 0; kind && i < DIFFERENCE_KINDS; i++)
        if (strcmp(kind, names[i]) == 0)
            difference->kind = (enum difference_kind)i;
    if (difference->kind == DIFFERENCE_KINDS || !difference->file || !difference->id || !difference->text)
        return -1;
    return verdict_from_name(member_text(object, "verdict"), &difference->verdict);
}

static uint64_t *counter_of(struct run_expectation *counts, enum difference_kind kind)
{
    uint64_t *const counters[DIFFERENCE_KINDS] = {
        [DIFFERENCE_NEW] = &counts->fresh,       [DIFFERENCE_CHANGED] = &counts->changed,
        [DIFFERENCE_DUE] = &counts->due,         [DIFFERENCE_MISSING] = &counts->missing,
        [DIFFERENCE_RENAMED] = &counts->renamed,
    };

    return counters[kind];
}

void difference_count(struct run_expectation *counts, enum difference_kind kind)
{
    ++*counter_of(counts, kind);
}

uint64_t differences_of(const struct run_expectation *counts)
{
    return counts->fresh + counts->changed + counts->due + counts->missing + counts->renamed;
}

const char *expectation_text(const struct run_expectation *counts, char text[EXPECTATION_TEXT_OCTETS])
{
    struct run_expectation copy = *counts;
    size_t used = (size_t)snprintf(text, EXPECTATION_TEXT_OCTETS, "%" PRIu64 " expected", counts->expected);

    for (unsigned kind = 0; kind < DIFFERENCE_KINDS; kind++) {
        uint64_t count = *counter_of(&copy, (enum difference_kind)kind);

        if (count != 0 || kind == DIFFERENCE_NEW)
            used +=
                (size_t)snprintf(text + used, EXPECTATION_TEXT_OCTETS - used, ", %" PRIu64 " %s", count, names[kind]);
    }
    return text;
}
