/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One side of an exchange between two upper testers (docs/upper-tester.md): its commands, its events, its memory. What follows from
 * an answer, or from one that does not come, is decided by the caller.
 */
#ifndef CONFORMANCE_ENGINE_UPPER_SIDE_H
#define CONFORMANCE_ENGINE_UPPER_SIDE_H

#include "conformance/engine/device/control.h"

struct upper_side {
    struct control *control;
    json_t *events;    /* that nobody has taken out yet, oldest first */
    json_int_t stream; /* 0: not known yet */
};

/* One command; the answer is an object, a new reference. NULL with a sentence: none came. */
json_t *upper_side_call(const struct upper_side *side, const json_t *request, struct iwarp_sentence *error);

/* A command for its stream. */
json_t *upper_side_work(const struct upper_side *side, const char *verb);

/* Adds what is new to its events. How many came, or -1 with a sentence: no list of events. */
int upper_side_poll(struct upper_side *side, struct iwarp_sentence *error);

/*
 * The place of its first event with one of these names, a list ended by NULL, and this `id` (0: any); SIZE_MAX: there is none. Before
 * its stream is known, events of all streams count.
 */
size_t upper_side_find(const struct upper_side *side, const char *const *names, json_int_t id);

/*
 * Calls `look` until it returns another number than 0, which is returned, or 0 after so many seconds. *any: something new has come, and
 * the next look follows soon.
 */
int upper_side_wait(unsigned seconds, int (*look)(void *user, bool *any), void *user);

struct upper_region {
    json_int_t stag;
    uint64_t base;
};

/* Of an answer to reg_mr. */
void upper_region_read(struct upper_region *region, const json_t *answer);

/* An address in it, as the member "to" has it. */
json_t *upper_region_to(const struct upper_region *region, json_int_t offset);

/* Commands for its stream: a Write, without its octets ("data" or "length"), and a Read to the same offset. */
json_t *upper_side_write(const struct upper_side *side, const struct upper_region *target, json_int_t offset);
json_t *upper_side_read(const struct upper_side *side, const struct upper_region *source,
                        const struct upper_region *sink, json_int_t offset, json_int_t octets);

/* The text of a member, or `absent`. */
const char *upper_text(const json_t *object, const char *member, const char *absent);

#endif
