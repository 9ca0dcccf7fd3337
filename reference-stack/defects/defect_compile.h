/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef REFERENCE_STACK_DEFECT_COMPILE_H
#define REFERENCE_STACK_DEFECT_COMPILE_H

#include "reference-stack/defects/defect_internal.h"

/* Adds one row to the set. -1 with a sentence when a name, field, operation or value of it is not known. */
int defect_compile(const struct defect *defect, struct defect_set *set, struct iwarp_sentence *sentence);

#endif
