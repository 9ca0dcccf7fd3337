/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of what is judged, by name: a fault of an entry of validation.c may be confined to a range of one of them,
 * which is how a limit is kept wrongly by one octet, or only far away. The head of defects.tsv says what each name
 * means.
 */
#ifndef REFERENCE_STACK_DEFECT_QUANTITY_H
#define REFERENCE_STACK_DEFECT_QUANTITY_H

#include "reference-stack/defects/defect_internal.h"

struct defect_quantity {
    const char *name;
    bool (*of)(const struct validation_subject *subject, int64_t *value); /* false: the subject has no such number */
};

enum { DEFECT_QUANTITIES_MAX = 64 };

/* How many there are, and the n-th of them. */
size_t defect_quantity_count(void);
const struct defect_quantity *defect_quantity_at(size_t n);

/* The quantity of that name (not ended by a zero, `octets` long), or NULL. */
const struct defect_quantity *defect_quantity_find(const char *name, size_t octets);

/* True where the override says nothing of where it applies, or the subject's number lies in its range. */
bool defect_override_applies(const struct defect_override *override, const struct validation_subject *subject);

#endif
