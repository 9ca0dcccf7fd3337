/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/evidence/findings.h"

#include <stdlib.h>
#include <string.h>

int findings_init(struct findings *findings)
{
    *findings = (struct findings){.end = &findings->first, .of_rule = calloc(rule_count() + 1, 1)};
    return findings->of_rule != NULL ? 0 : -1;
}

static void finding_free(struct held_finding *finding)
{
    free((char *)finding->result.flow);
    free((char *)finding->result.expected);
    free((char *)finding->result.actual);
    free((char *)finding->result.message);
    json_decref(finding->result.steps);
    free(finding);
}

/* A copy of `text`, NULL for NULL. *short_of_memory is set when there is no memory for it. */
static const char *copied(const char *text, bool *short_of_memory)
{
    char *copy = text != NULL ? strdup(text) : NULL;

    *short_of_memory |= text != NULL && copy == NULL;
    return copy;
}

/* Holds a copy of the result. NULL without memory. */
static struct held_finding *hold(struct findings *findings, const struct result *result, uint64_t flow)
{
    struct held_finding *finding = calloc(1, sizeof(*finding));
    bool short_of_memory = false;

    if (finding == NULL)
        return NULL;
    finding->result = *result;
    finding->result.flow = copied(result->flow, &short_of_memory);
    finding->result.expected = copied(result->expected, &short_of_memory);
    finding->result.actual = copied(result->actual, &short_of_memory);
    finding->result.message = copied(result->message, &short_of_memory);
    finding->result.reading = result->reading != NULL ? finding->result.actual : NULL;
    finding->result.steps = json_array();
    finding->flow = flow;
    if (short_of_memory || finding->result.steps == NULL) {
        finding_free(finding);
        return NULL;
    }
    *findings->end = finding;
    findings->end = &finding->next;
    findings->count++;
    return finding;
}

bool findings_hold(struct findings *findings, const struct rule_result *found, const struct result *result,
                   uint64_t flow)
{
    struct held_finding *finding;

    if (findings->count >= FINDINGS_HELD || findings->of_rule[found->rule->index] >= FINDINGS_OF_REQUIREMENT ||
        (finding = hold(findings, result, flow)) == NULL)
        return false;
    finding->rule = found->rule;
    finding->verdict = found->verdict;
    finding->direction = found->direction;
    findings->of_rule[found->rule->index]++;
    return true;
}

/* How many findings of rules of somebody's own are held of this id. */
static size_t own_count(const struct findings *findings, const char *id)
{
    size_t count = 0;

    for (const struct held_finding *finding = findings->first; finding != NULL; finding = finding->next)
        count += finding->rule == NULL && strcmp(finding->result.id, id) == 0;
    return count;
}

bool findings_hold_own(struct findings *findings, const struct result *result, unsigned direction, unsigned step,
                       uint64_t flow)
{
    struct held_finding *finding;

    if (findings->count >= FINDINGS_HELD || own_count(findings, result->id) >= FINDINGS_OF_REQUIREMENT ||
        (finding = hold(findings, result, flow)) == NULL)
        return false;
    finding->direction = direction;
    finding->step = step;
    return true;
}

void findings_clear(struct findings *findings)
{
    while (findings->first != NULL) {
        struct held_finding *finding = findings->first;

        findings->first = finding->next;
        finding_free(finding);
    }
    findings->end = &findings->first;
    findings->count = 0;
    if (findings->of_rule != NULL)
        memset(findings->of_rule, 0, rule_count());
}

void findings_free(struct findings *findings)
{
    findings_clear(findings);
    free(findings->of_rule);
    findings->of_rule = NULL;
}
