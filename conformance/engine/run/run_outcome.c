/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/run_outcome.h"

#include <string.h>

#include <inttypes.h>

void run_outcome_apply_level(struct outcome *outcome, const struct requirement *requirement)
{
    if (outcome->verdict == VERDICT_FAIL && !outcome->broken && requirement != NULL &&
        requirement_is_should(requirement))
        outcome->verdict = VERDICT_WARN;
}

uint64_t run_outcome_check_drops(struct outcome *outcome, uint64_t dropped, struct iwarp_sentence *why)
{
    if (dropped == 0 || outcome->verdict == VERDICT_SKIP || outcome->verdict == VERDICT_INCONCLUSIVE)
        return dropped;
    (void)iwarp_sentence_set(
        why,
        "the capture of the link dropped %" PRIu64 " frames during this check (%s); a capture of single "
        "frames has room for more: ethtool -K INTERFACE gro off gso off tso off lro off, at the tester's end",
        dropped, verdict_name(outcome->verdict));
    outcome->verdict = VERDICT_INCONCLUSIVE;
    outcome->message = why->text;
    return dropped;
}

void run_outcome_check_link(struct rig *rig, struct outcome *outcome, struct iwarp_sentence *why)
{
    if (outcome->verdict == VERDICT_SKIP || outcome->verdict == VERDICT_INCONCLUSIVE || !rig_link_down(rig))
        return;
    (void)iwarp_sentence_set(why, "the tester's end of the link went down during this check (%s)",
                             verdict_name(outcome->verdict));
    outcome->verdict = VERDICT_INCONCLUSIVE;
    outcome->message = why->text;
}

bool run_outcome_check_process(struct rig *rig, struct outcome *outcome, struct iwarp_sentence *why)
{
    struct iwarp_sentence end;

    if (outcome->verdict == VERDICT_SKIP || !rig_impaired(rig, &end))
        return false;
    if (rig->crashed) {
        (void)iwarp_sentence_set(why, "the device did not survive this check: %.300s (the check itself: %s)", end.text,
                                 verdict_name(outcome->verdict));
        *outcome = (struct outcome){
            .verdict = VERDICT_FAIL,
            .broken = true,
            .line = outcome->line,
            .looked_at = {.kind = LAST_SEEN_DEATH, .time_ns = rig_now(rig), .latest = UINT64_MAX},
            .expected = "a device whose process goes on after the check",
            .actual = why->text,
            .message = why->text,
        };
        return true;
    }
    if (outcome->verdict == VERDICT_INCONCLUSIVE)
        return true;
    (void)iwarp_sentence_set(why, "%.300s during this check (%s)", end.text, verdict_name(outcome->verdict));
    outcome->verdict = VERDICT_INCONCLUSIVE;
    outcome->message = why->text;
    return true;
}

uint64_t run_outcome_cite(const struct outcome *outcome, struct recorder *recorder)
{
    json_t *step;
    uint64_t frame = recorder_cite(recorder, &outcome->looked_at, &step);
    bool failed = outcome->verdict == VERDICT_FAIL || outcome->verdict == VERDICT_WARN;

    failed = failed && outcome->looked_at.kind != LAST_SEEN_UPPER && outcome->looked_at.kind != LAST_SEEN_DEATH;
    if (step != NULL && failed && outcome->actual != NULL && strncmp(outcome->actual, "nothing", 7) != 0)
        (void)result_step_mark(step, 0, 0, outcome->actual);
    return frame;
}
