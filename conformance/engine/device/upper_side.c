/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/device/upper_side.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/monotonic.h"

enum { PAUSE_LEAST = 500000, PAUSE_MOST = 20000000 };

const char *upper_text(const json_t *object, const char *member, const char *absent)
{
    const char *text = json_string_value(json_object_get(object, member));

    return text != NULL ? text : absent;
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

json_t *upper_side_call(const struct upper_side *side, const json_t *request, struct iwarp_sentence *error)
{
    char *line = request != NULL ? json_dumps(request, JSON_COMPACT) : NULL;
    char *text = line != NULL ? control_call(side->control, line, error) : NULL;

    if (line == NULL)
        (void)iwarp_sentence_set(error, "out of memory");
    free(line);
    return text != NULL ? control_answer(text, error) : NULL;
}

json_t *upper_side_work(const struct upper_side *side, const char *verb)
{
    return json_pack("{s:s, s:I}", "verb", verb, "stream", side->stream);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

int upper_side_poll(struct upper_side *side, struct iwarp_sentence *error)
{
    json_t *request = json_pack("{s:s}", "verb", "poll"), *reply = upper_side_call(side, request, error), *event;
    const json_t *events = json_object_get(reply, "events");
    int count = json_is_array(events) ? 0 : -1;
    size_t i;

    json_array_foreach(events, i, event) count += json_is_object(event) && json_array_append(side->events, event) == 0;
    if (count < 0 && reply != NULL)
        (void)iwarp_sentence_set(error, "%.400s", upper_text(reply, "error", "no list of events"));
    json_decref(request);
    json_decref(reply);
    return count;
}

size_t upper_side_find(const struct upper_side *side, const char *const *names, json_int_t id)
{
    const json_t *event;
    size_t i;

    json_array_foreach(side->events, i, event)
    {
        const char *const *name = names;

        while (*name != NULL && strcmp(*name, upper_text(event, "event", "")) != 0)
            name++;
        if (*name != NULL && (id == 0 || json_integer_value(json_object_get(event, "id")) == id) &&
            (side->stream == 0 || json_integer_value(json_object_get(event, "stream")) == side->stream))
            return i;
    }
    return SIZE_MAX;
}

int upper_side_wait(unsigned seconds, int (*look)(void *user, bool *any), void *user)
{
    uint64_t end = monotonic_ns() + UINT64_C(1000000000) * seconds;
    long pause = PAUSE_LEAST;

    for (;;) {
        bool any = false, late = monotonic_ns() >= end;
        int seen = look(user, &any);

        if (seen != 0 || late)
            return seen;
        if (any)
            pause = PAUSE_LEAST;
        (void)nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
        pause = pause * 2 < PAUSE_MOST ? pause * 2 : PAUSE_MOST;
    }
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

void upper_region_read(struct upper_region *region, const json_t *answer)
{
    const char *base = upper_text(answer, "base", "0");

    region->stag = json_integer_value(json_object_get(answer, "stag"));
    region->base = strtoull(base, NULL, strncmp(base, "0x", 2) == 0 ? 16 : 10);
}

json_t *upper_region_to(const struct upper_region *region, json_int_t offset)
{
    uint64_t to = region->base + (uint64_t)offset;

    return json_sprintf("0x%" PRIx64, to);
}

json_t *upper_side_write(const struct upper_side *side, const struct upper_region *target, json_int_t offset)
{
    return json_pack("{s:s, s:I, s:I, s:o}", "verb", "write", "stream", side->stream, "stag", target->stag, "to",
                     upper_region_to(target, offset));
}

json_t *upper_side_read(const struct upper_side *side, const struct upper_region *source,
                        const struct upper_region *sink, json_int_t offset, json_int_t octets)
{
    return json_pack("{s:s, s:I, s:I, s:o, s:I, s:o, s:I}", "verb", "read", "stream", side->stream, "source_stag",
                     source->stag, "source_to", upper_region_to(source, offset), "sink_stag", sink->stag, "sink_to",
                     upper_region_to(sink, offset), "length", octets);
}
