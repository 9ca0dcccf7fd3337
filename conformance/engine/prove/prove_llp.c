/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/prove/prove_llp.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "conformance/flow/event/flow.h"
#include "conformance/rules/rule.h"
#include "tools/embedded.h"
#include "base/cells.h"

enum { PATTERN = 64 };

/* The columns of reference-stack/defects/defects-llp.tsv. */
enum { HOOK, TARGET, VALUE, REASON, COLUMNS };

/* Does one of the field's patterns, which commas separate, fit the text? "-" is for a text without a character. */
static bool fits(struct cell field, const char *text)
{
    const char *end = field.text + field.octets;
    char pattern[PATTERN];

    for (const char *at = field.text; at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        size_t octets = (size_t)((comma != NULL ? comma : end) - at);

        (void)snprintf(pattern, sizeof(pattern), "%.*s", (int)octets, at);
        if (fnmatch(pattern, text, 0) == 0 || (*text == '\0' && strcmp(pattern, "-") == 0))
            return true;
        at += octets + 1;
    }
    return false;
}

bool prove_llp_is_foreign(const struct defect *defect, bool draft, struct prove_llp_reason *reason)
{
    const struct embedded_file *file =
        embedded_find(embedded_defects, embedded_defect_count, "reference-stack/defects/defects-llp.tsv");
    const char *at = file != NULL ? (const char *)file->octets : "", *end = at + (file != NULL ? file->size : 0);
    struct cell fields[COLUMNS];

    if (defect_acts_over_cm(defect)) {
        (void)snprintf(reason->text, sizeof(reason->text), "cm: the CM agent's");
        return true;
    }
    while (cells_next(&at, end, fields, COLUMNS) != 0) {
        if (fields[REASON].octets == 0 || *fields[HOOK].text == '#' || !fits(fields[HOOK], defect->hook) ||
            !fits(fields[TARGET], defect->target) || !fits(fields[VALUE], defect->value))
            continue;
        (void)snprintf(reason->text, sizeof(reason->text), "%.*s", (int)fields[REASON].octets, fields[REASON].text);
        if (defect->warns == NULL && strncmp(reason->text, "legal:", strlen("legal:")) == 0)
            continue;
        if (!draft && strncmp(reason->text, "draft:", strlen("draft:")) == 0)
            continue;
        return true;
    }
    return false;
}

bool prove_llp_is_checked(const struct plan *plan, const struct defect *defect)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->items[i].skip.text[0] == '\0' && defect_breaks(defect, plan->items[i].check->id))
            return true;
    return false;
}

/* Does the rule judge a device that is not over MPA? */
static bool is_rule_met(const struct rule *rule, const struct catalogue *catalogue, const struct pics *pics)
{
    const uint32_t flows = 1U << FLOW_ASSOCIATION | 1U << FLOW_STREAM;
    const struct requirement *requirement = catalogue_find(catalogue, rule->id);
    struct iwarp_sentence reason, error;

    return (rule->flows & flows) != 0 && requirement != NULL && requirement->layer != REQUIREMENT_LAYER_MPA &&
           (requirement->capability[0] == '\0' || pics_evaluate(pics, requirement->capability, &reason, &error) == 1);
}

bool prove_llp_is_driven(const struct plan *plan, const struct catalogue *catalogue, const struct pics *pics,
                         const struct defect *defect)
{
    for (size_t i = 0; i < rule_count(); i++)
        if (defect_breaks(defect, rule_at(i)->id) && is_rule_met(rule_at(i), catalogue, pics))
            return true;
    return prove_llp_is_checked(plan, defect);
}
