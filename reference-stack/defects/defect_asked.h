/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What seams have asked a set of defects for. A set without defects that notes it (defect_set_asking() of defect.h)
 * shows which rows could have changed anything: until a seam asks for something that a row defines, a stream with the
 * row and one without send the same octets, because seams read a set only through these questions.
 */
#ifndef REFERENCE_STACK_DEFECT_ASKED_H
#define REFERENCE_STACK_DEFECT_ASKED_H

#include "reference-stack/defects/defect_internal.h"
#include "reference-stack/defects/defect_quantity.h"

/* From the least to the greatest number that a subject had. */
struct defect_range {
    bool seen;
    int64_t low, high;
};

struct defect_asked {
    bool behaviours[DEFECT_BEHAVIOUR_COUNT];
    bool judged[VALIDATIONS_MAX];  /* a subject met the entry */
    bool refused[VALIDATIONS_MAX]; /* and did not hold */
    bool also[VALIDATIONS_MAX];    /* nor would have held, if an earlier entry of the stage had not refused it */
    struct defect_range numbers[VALIDATIONS_MAX][DEFECT_QUANTITIES_MAX]; /* of those for which it did not hold */
    bool cm[CM_VALIDATIONS_MAX];
    uint16_t opcodes[DEFECT_TARGET_COUNT]; /* of what was sent with such a header, a bit each */
};

#endif
