/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The PICS questionnaire: what pics.tsv asks of a device, how the catalogue's requirements depend on it, and, with a
 * profile, how the device answers. Nothing is declared here: items and predicates are those of the tables.
 */
#ifndef CONFORMANCE_ENGINE_PICS_VIEW_H
#define CONFORMANCE_ENGINE_PICS_VIEW_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/pics.h"

enum { PICS_ITEMS_MAX = 256, PICS_PREDICATE_ITEMS = 16, PICS_VALUE_ROOM = 24 };

struct pics_view {
    const struct catalogue *catalogue;
    struct pics *pics; /* values as the profile has them; counting changes a value and puts it back */
    const struct pics_item *items[PICS_ITEMS_MAX]; /* those shown */
    size_t count;
    const char *device;     /* NULL: nobody answers, the questions alone */
    const json_t *profile;  /* the device's profile, as read; NULL with `device` */
    const json_t *reported; /* what its upper tester answered to `capabilities`; NULL: not asked */
    bool requirements;      /* the ids of the requirements, too */
    unsigned width;         /* of the terminal, for text */
};

/* Of the requirements whose capability names an item. */
struct pics_effect {
    size_t named;
    size_t applicable; /* as all answers are */
    size_t left_out;
    size_t alone; /* of these: would be applicable if this answer were the other one */
};

void pics_effect(const struct pics_view *view, const struct pics_item *item, struct pics_effect *effect);

/* Does the capability of this requirement name the item? */
bool pics_depends(const struct pics_view *view, const struct requirement *requirement, const struct pics_item *item);

/* Does the requirement apply to this device, by all answers? */
bool pics_applicable(const struct pics_view *view, const struct requirement *requirement);

/* Where the item's value comes from: "capabilities", "control" (upper_tester alone), or NULL: it is the default. */
const char *pics_said_by(const struct pics_view *view, const struct pics_item *item);

/*
 * Puts the upper tester's report of an item into `value` ("yes", "no", a number); false when it was not asked, or did
 * not report the item.
 */
bool pics_reported(const struct pics_view *view, const struct pics_item *item, char value[static PICS_VALUE_ROOM]);

/* The three readable forms; stdio keeps the error. */
void pics_write_text(const struct pics_view *view, FILE *out);
void pics_write_markdown(const struct pics_view *view, FILE *out);
void pics_write_jsonl(const struct pics_view *view, FILE *out);

/*
 * A profile: without a device a skeleton, to be completed where words stand in capitals; with one the device's own,
 * every item answered, by its upper tester where the profile says nothing. 0, or -1 without memory.
 */
int pics_write_profile(const struct pics_view *view, FILE *out);

#endif
