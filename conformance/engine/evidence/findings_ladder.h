/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ladders for findings of rules, in an audit's captures and in the evidence of a run. The first pass keeps no messages,
 * so that memory does not grow with the capture. The few flows with findings are decoded a second time and judged by
 * the rules concerned; this shows the message of each finding. A ladder has the flow's start-up frames and the messages
 * around that message.
 */
#ifndef CONFORMANCE_ENGINE_FINDINGS_LADDER_H
#define CONFORMANCE_ENGINE_FINDINGS_LADDER_H

#include <stdint.h>

#include "conformance/engine/evidence/findings.h"
#include "conformance/engine/capture/capture_series.h"
#include "base/sentence.h"

/* A ladder has at most so many steps: start-up frames, messages before the offending one, that, and those after it. */
enum { LADDER_START_STEPS = 4, LADDER_BEFORE = 10, LADDER_AFTER = 8 };

/*
 * Reads the series again from its first frame to frame `frames`, and fills result.steps of all findings (with frame
 * numbers of the series), and where their frames lie in their files; stops as soon as all ladders are whole. A finding
 * whose flow has no number gets no step when no flow of that name has its frame. -1 with the sentence set when it
 * cannot be opened or memory is short: what was drawn by then stays good, as does an empty ladder.
 */
int findings_draw(struct findings *findings, struct capture_series *series, uint64_t frames,
                  struct iwarp_sentence *error);

#endif
