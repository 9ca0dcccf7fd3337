/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of choices.tsv, for choice.c. */
#ifndef REFERENCE_STACK_CHOICE_TABLE_H
#define REFERENCE_STACK_CHOICE_TABLE_H

#include "reference-stack/defects/choice.h"

struct choice_alternative {
    const struct defect *variant; /* NULL: a number */
    const char *setting;          /* of the hook `configure` */
    uint64_t low, high;
};

struct choice_point {
    const char *name;
    struct choice_alternative *alternatives;
    size_t count;
};

/* Two variants that do not go together, or that some requirements report as WARN together. */
struct choice_pair {
    const char *variants[2];
    const char *warns; /* ids, separated by commas; NULL: they do not go together */
};

struct choice_table {
    const struct defect_list *variants;
    struct defect_list *own; /* the same, where the table has read them itself */
    char *text;              /* a copy, cut into fields in place */
    struct {
        struct choice_point *points;
        size_t count;
    } layers[CHOICE_LAYERS];
    struct choice_pair *pairs;
    size_t pair_count;
};

/* The pair of these two, in either order; NULL: the table says nothing of them. */
const struct choice_pair *choice_table_pair(const struct choice_table *table, const char *one, const char *other);

struct choice_found {
    size_t point;
    const struct choice_alternative *alternative;
    uint64_t number; /* where it is one */
};

/* The alternative of this id in the layer: -1 with a sentence. */
int choice_table_find(const struct choice_table *table, enum choice_layer layer, const char *id,
                      struct choice_found *found, struct iwarp_sentence *sentence);

#endif
