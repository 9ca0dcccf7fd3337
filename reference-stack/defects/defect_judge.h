/* SPDX-License-Identifier: BSD-2-Clause */
/* Defects of judgement: what a validation finds, turned around for certain input. */
#ifndef REFERENCE_STACK_DEFECT_JUDGE_H
#define REFERENCE_STACK_DEFECT_JUDGE_H

#include "reference-stack/defects/defect_stream.h"

/* Where the condition is true, the entry of that name gives `verdict` in place of its own result. */
struct defect_judgement {
    enum defect_behaviour behaviour;
    const char *entry;
    bool verdict;
    bool (*when)(const struct validation_subject *subject);
};

/* The first of the table's that is in the set and that says something of the entry, or NULL (defect_judge.c). */
const struct defect_judgement *defect_judgement(const struct defect_set *set, const struct defect_judgement *table,
                                                size_t count, const struct validation *entry,
                                                const struct validation_subject *subject);

/*
 * What the entry found, or what a file's table says instead: start-up frames (defect_judge_start.c), and the
 * extensions.
 */
bool defect_start_judges(const struct defect_set *set, const struct validation *entry,
                         const struct validation_subject *subject, bool holds);
bool defect_variant_judges(const struct defect_set *set, const struct validation *entry,
                           const struct validation_subject *subject, bool holds);
bool defect_atomic_judges(const struct defect_set *set, const struct validation *entry,
                          const struct validation_subject *subject, bool holds);

/* A Request of Rev 1 has S = 1. */
bool variant_word_at_revision_1(const struct validation_subject *subject);

#endif
