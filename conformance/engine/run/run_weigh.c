/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/run_weigh.h"

#include <inttypes.h>

void run_weigh_level(struct outcome *outcome, const struct requirement *requirement)
{
    if (outcome->verdict == VERDICT_FAIL && !outcome->broken && requirement != NULL &&
        requirement_is_should(requirement))
        outcome->verdict = VERDICT_WARN;
}

uint64_t run_weigh_drops(struct outcome *outcome, uint64_t dropped, struct sentence *why)
{
    if (dropped == 0 || outcome->verdict == VERDICT_SKIP || outcome->verdict == VERDICT_INCONCLUSIVE)
        return dropped;
    (void)sentence_set(
        why,
        "the capture of the link dropped %" PRIu64 " frames during this check (%s); a capture of single "
        "frames has room for more: ethtool -K INTERFACE gro off gso off tso off lro off, at the tester's end",
        dropped, verdict_name(outcome->verdict));
    outcome->verdict = VERDICT_INCONCLUSIVE;
    outcome->message = why->text;
    return dropped;
}

bool run_weigh_process(struct rig *rig, struct outcome *outcome, struct sentence *why)
{
    struct sentence end;

    if (outcome->verdict == VERDICT_SKIP || !rig_impaired(rig, &end))
        return false;
    if (outcome->verdict == VERDICT_INCONCLUSIVE)
        return true;
    (void)sentence_set(why, "%.300s during this check (%s)", end.text, verdict_name(outcome->verdict));
    outcome->verdict = VERDICT_INCONCLUSIVE;
    outcome->message = why->text;
    return true;
}
