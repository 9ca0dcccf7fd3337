/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/run_device.h"

#include <string.h>

#include "conformance/engine/rig/device_keeper.h"

void run_device_begin(struct rig *rig, const char *evidence)
{
    char label[DEVICE_COMMAND_LABEL];
    const char *dot = strrchr(evidence, '.');
    size_t octets = dot != NULL ? (size_t)(dot - evidence) : strlen(evidence);

    if (rig->keeper == NULL)
        return;
    octets = octets < sizeof(label) ? octets : sizeof(label) - 1;
    memcpy(label, evidence, octets);
    label[octets] = '\0';
    device_keeper_begin(rig->keeper, label);
}

bool run_device_absent(const struct rig *rig, struct iwarp_sentence *why)
{
    const struct device_keeper *keeper = rig != NULL ? rig->keeper : NULL;

    if (keeper == NULL || keeper->absent.text[0] == '\0')
        return false;
    (void)iwarp_sentence_set(why, "the device is lost since check %s: %.300s", keeper->absent_since,
                             keeper->absent.text);
    return true;
}

static const char absent_cause[] = "device-lost";

static const char over_cause[] = "nothing-more-judged";

bool run_device_left_out(const char *cause)
{
    return cause != NULL && (strcmp(cause, absent_cause) == 0 || strcmp(cause, over_cause) == 0);
}

bool run_device_is_absent(const struct outcome *outcome)
{
    return outcome->cause != NULL && strcmp(outcome->cause, absent_cause) == 0;
}

void run_device_say_over(const char *why, struct outcome *outcome)
{
    outcome->message = why;
    outcome->cause = over_cause;
    outcome->hint = "nothing can be judged any more: the device or its upper tester is lost";
}

void run_device_say_absent(const char *why, struct outcome *outcome)
{
    outcome->message = why;
    outcome->cause = absent_cause;
    outcome->hint = "the device is lost: it answers no connection any more";
}

/*
 * The check during which a device is lost that nobody waits for: it is silent, or it went with its upper tester. True:
 * it is this check.
 */
static bool explain_absence(struct device_keeper *keeper, const char *before, struct outcome *outcome,
                            struct run_device_texts *texts)
{
    bool is_new = before[0] == '\0' && keeper->absent.text[0] != '\0';

    if (is_new)
        memcpy(keeper->absent_since, keeper->label, sizeof(keeper->absent_since));
    if (!is_new || keeper->death.text[0] != '\0' || outcome->verdict != VERDICT_INCONCLUSIVE)
        return is_new;
    (void)iwarp_sentence_set(
        &texts->message,
        "%.200s; the device is lost with this check (%.200s), and nothing shows whether it died: its link, "
        "its host or its upper tester may have",
        outcome->message != NULL ? outcome->message : verdict_name(outcome->verdict), keeper->absent.text);
    outcome->message = texts->message.text;
    return true;
}

bool run_device_check_outcome(struct rig *rig, struct outcome *outcome, struct run_device_texts *texts,
                              struct iwarp_sentence *dead)
{
    struct device_keeper *keeper = rig->keeper;
    bool failed = outcome->verdict == VERDICT_FAIL, is_lost;
    struct iwarp_sentence before;

    if (keeper == NULL)
        return false;
    before = keeper->absent;
    if (before.text[0] != '\0' && outcome->unready && run_device_absent(rig, &texts->message))
        run_device_say_absent(texts->message.text, outcome);
    device_keeper_end(rig, outcome->verdict == VERDICT_PASS || outcome->verdict == VERDICT_SKIP);
    is_lost = explain_absence(keeper, before.text, outcome, texts);
    if (keeper->lost.text[0] != '\0')
        *dead = keeper->lost;
    if (keeper->death.text[0] == '\0')
        return is_lost;
    (void)iwarp_sentence_set(&texts->actual, "%s", keeper->death.text);
    (void)iwarp_sentence_set(&texts->message, "the device did not survive this check: %.300s (%s%s%.120s)",
                             keeper->death.text, failed ? "the check failed also: " : "the check itself: ",
                             failed && outcome->message != NULL ? "" : verdict_name(outcome->verdict),
                             failed && outcome->message != NULL ? outcome->message : "");
    outcome->verdict = VERDICT_FAIL;
    outcome->broken = true;
    outcome->looked_at = (struct last_seen){.kind = LAST_SEEN_DEATH, .time_ns = keeper->death_ns, .latest = UINT64_MAX};
    outcome->expected = "a device that still accepts connections after the check";
    outcome->actual = texts->actual.text;
    outcome->message = texts->message.text;
    outcome->reading = NULL;
    return is_lost;
}
