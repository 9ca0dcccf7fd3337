/* SPDX-License-Identifier: BSD-2-Clause */
/* The teacher's table: what is hidden in each exercise, and what the tool finds there. */
#ifndef CONFORMANCE_ENGINE_COURSE_SOLUTIONS_H
#define CONFORMANCE_ENGINE_COURSE_SOLUTIONS_H

#include "conformance/engine/course/course_exercise.h"
#include "conformance/requirements/catalogue.h"
#include "base/sentence.h"

/* Prints it to standard output, as a table of Markdown. 0, or -1 with a sentence. */
int course_solutions_print(const struct course_table *table, const struct catalogue *catalogue,
                           struct iwarp_sentence *error);

#endif
