/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Choice points: the places where the texts leave a choice, and the numbers of a device's configuration. Each row of
 * choices.tsv names one, the layers that have it, and what a device may do there in place of what the stack does by
 * itself: variants of variants.tsv, and numbers of a range. A seed draws a device from them: the points at which it
 * differs from the stack, and an alternative at each.
 */
#ifndef REFERENCE_STACK_CHOICE_H
#define REFERENCE_STACK_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sentence.h"
#include "reference-stack/defects/defect.h"

/* "tcp", "sctp", "draft", "cm". */
const char *choice_layer_name(enum choice_layer layer);

struct choice_table;

/*
 * Parses rows (tab-separated, # comments). `variants` is borrowed. NULL with a sentence that says line and field: a
 * layer, variant, setting or range that is not known, or an alternative that stands twice in one layer.
 */
struct choice_table *choice_table_parse(const struct defect_list *variants, const char *text, size_t octets,
                                        struct iwarp_sentence *sentence);
/* The rows that the library carries, with the variants that it carries. */
struct choice_table *choice_table_embedded(struct iwarp_sentence *sentence);
void choice_table_free(struct choice_table *table);

/* The points of one layer, from 0, in the order of the table; the name ends with the table. */
size_t choice_point_count(const struct choice_table *table, enum choice_layer layer);
const char *choice_point_name(const struct choice_table *table, enum choice_layer layer, size_t point);

/* Each variant that is an alternative in the layer, once; the caller frees the array. NULL: memory. */
const struct defect **choice_table_rows(const struct choice_table *table, enum choice_layer layer, size_t *count);

/* One choice of a device. */
struct choice {
    size_t point;      /* of its layer */
    struct defect row; /* a variant, or a number that was drawn: its id is then "SETTING=NUMBER" */
    char id[72], number[24];
};

struct choice_device {
    const struct choice_table *table;
    enum choice_layer layer;
    size_t count;
    struct choice choices[]; /* by point; at each one at most */
};

/*
 * The device of this seed: three of four differ from the stack at one to four points, the fourth at about half of all.
 * The caller frees it; the table must last as long. NULL with a sentence: memory.
 */
struct choice_device *choice_device_draw(const struct choice_table *table, enum choice_layer layer, uint64_t seed,
                                         struct iwarp_sentence *sentence);

/*
 * The device of these alternatives, as choice_device_text() writes them: their ids, separated by commas. NULL with a
 * sentence: one is not known in this layer, two are of one point or do not go together, a number is out of its range.
 */
struct choice_device *choice_device_named(const struct choice_table *table, enum choice_layer layer, const char *text,
                                          struct iwarp_sentence *sentence);

/* What it chooses, separated by commas; "none": nothing. The caller frees it. NULL: memory. */
char *choice_device_text(const struct choice_device *device);

/* The same device without its choice `at`; the caller frees it. NULL: memory. */
struct choice_device *choice_device_without(const struct choice_device *device, size_t at);

/* What a configuration names (defect.h); the device may be freed afterwards. NULL with a sentence. */
struct defect_set *choice_device_set(const struct choice_device *device, struct iwarp_sentence *sentence);

/*
 * Adds to a set what a user names: a seed, or what choice_device_text() writes. -1 with a sentence; the set stays the
 * caller's to free.
 */
int choice_add(struct defect_set *set, enum choice_layer layer, const char *choices, struct iwarp_sentence *sentence);

/* True when the row of one of its choices, or of two together, says that this requirement reports it as WARN. */
bool choice_device_warns(const struct choice_device *device, const char *requirement);

#endif
