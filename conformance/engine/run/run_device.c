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

void run_device_weigh(struct rig *rig, struct outcome *outcome, struct run_device_texts *texts, struct sentence *dead)
{
    struct device_keeper *keeper = rig->keeper;
    bool failed = outcome->verdict == VERDICT_FAIL;

    if (keeper == NULL)
        return;
    device_keeper_end(rig, outcome->verdict == VERDICT_PASS);
    if (keeper->lost.text[0] != '\0')
        *dead = keeper->lost;
    if (keeper->death.text[0] == '\0')
        return;
    (void)sentence_set(&texts->actual, "%s", keeper->death.text);
    (void)sentence_set(&texts->message, "the device did not survive this check: %.300s (%s%s%.120s)", keeper->death.text,
                       failed ? "the check failed also: " : "the check itself: ",
                       failed && outcome->message != NULL ? "" : verdict_name(outcome->verdict),
                       failed && outcome->message != NULL ? outcome->message : "");
    outcome->verdict = VERDICT_FAIL;
    outcome->looked_at = (struct sighting){.kind = SIGHTING_DEATH, .time_ns = keeper->death_ns, .latest = UINT64_MAX};
    outcome->expected = "a device that still accepts connections after the check";
    outcome->actual = texts->actual.text;
    outcome->message = texts->message.text;
    outcome->reading = NULL;
}
