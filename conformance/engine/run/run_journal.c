/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/run_journal.h"

/* An excused failure goes into the journal as a failure: the profile adds its finding (`judged`). */
static void fill_rule(struct journal_rule *rule, const struct tally_entry *entry, const char *evidence)
{
    enum verdict verdict = entry->verdict == VERDICT_KNOWN ? VERDICT_FAIL : entry->verdict;

    *rule = (struct journal_rule){.result = {.id = entry->rule->id,
                                             .verdict = verdict,
                                             .by = "rule",
                                             .role = entry->role,
                                             .frame = entry->frame,
                                             .flow = entry->flow,
                                             .count = verdict == VERDICT_PASS ? entry->passes : entry->findings}};
    if (verdict == VERDICT_PASS)
        return;
    rule->judged = (struct journal_judged){.known = entry->verdict == VERDICT_KNOWN, .verdict = entry->verdict};
    rule->result.script = entry->rule->function;
    rule->result.expected = entry->expected;
    rule->result.actual = entry->actual;
    rule->result.message = entry->message;
    rule->result.cause = entry->cause;
    rule->result.hint = entry->hint;
    rule->result.evidence = rule->result.file = evidence;
    if (verdict == VERDICT_AMBIGUOUS)
        rule->result.reading = entry->actual;
}

void run_journal_fill(struct journal *journal, struct journal_rule *rules, const struct tally *tally)
{
    const struct tally_entry *entry;

    journal->rules = rules;
    journal->rule_count = 0;
    for (size_t i = 0; (entry = tally_at(tally, i)) != NULL; i++)
        if (entry->exercised)
            fill_rule(&rules[journal->rule_count++], entry, journal->evidence);
}

json_t *run_journal_functions(void)
{
    json_t *functions = json_object();
    int rc = functions != NULL ? 0 : -1;

    for (size_t i = 0; rc == 0 && i < rule_count(); i++)
        rc = json_object_set_new(functions, rule_at(i)->id, json_string(rule_at(i)->function));
    if (rc == 0)
        return functions;
    json_decref(functions);
    return NULL;
}
