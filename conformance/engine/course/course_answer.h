/* SPDX-License-Identifier: BSD-2-Clause */
/* Judges an answer by what the tool finds in the exercise (course_findings.h, course_run.h). */
#ifndef CONFORMANCE_ENGINE_COURSE_ANSWER_H
#define CONFORMANCE_ENGINE_COURSE_ANSWER_H

#include "conformance/engine/course/course_exercise.h"
#include "conformance/requirements/catalogue.h"
#include "base/sentence.h"

enum course_judgement {
    COURSE_RIGHT,
    COURSE_WRONG,   /* the sentence says what does not fit */
    COURSE_UNCLEAR, /* no such answer can be: a misspelt id, no number; the sentence says what was expected */
    COURSE_TOLD,    /* the same, and the run of the student's script has said why */
    COURSE_FAILED,  /* the exercise could not be made: the sentence says why */
};

enum course_judgement course_answer_judge(const struct course_exercise *exercise, const struct catalogue *catalogue,
                                          char **words, int count, struct iwarp_sentence *why);

#endif
