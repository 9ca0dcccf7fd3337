/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tool itself finds in an exercise: from that the right answers follow. */
#ifndef CONFORMANCE_ENGINE_COURSE_FINDINGS_H
#define CONFORMANCE_ENGINE_COURSE_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "conformance/engine/course/course_exercise.h"
#include "conformance/requirements/catalogue.h"
#include "reports/file/place.h"
#include "base/sentence.h"

enum { COURSE_FINDINGS_MAX = 64, COURSE_ROLE_OCTETS = 16 };

/* A FAIL of the audit. */
struct course_finding {
    const struct requirement *requirement;
    uint64_t frame; /* the first one concerned, from 1; 0: none */
    char role[COURSE_ROLE_OCTETS];
};

struct course_findings {
    struct course_finding found[COURSE_FINDINGS_MAX];
    size_t count;
};

/*
 * Makes the capture of an exercise: its situation, in which its side has its defect, or with `good` none. The same
 * octets each time. 0, or -1 with a sentence.
 */
int course_capture_make(const struct course_exercise *exercise, bool good, const struct place *to,
                        struct iwarp_sentence *error);

/* What the audit finds in that capture. 0, or -1 with a sentence. */
int course_findings_make(const struct course_exercise *exercise, bool good, const struct catalogue *catalogue,
                         struct course_findings *findings, struct iwarp_sentence *error);

#endif
