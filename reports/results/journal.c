/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/results/journal.h"

#include <stdlib.h>
#include <string.h>

/* Places in each array of a rule's passes, one for each role: {"MPA-4.4-14": [[12, 7, 0], [3, 9, 1]]}. */
enum { PASS_COUNT, PASS_FRAME, PASS_FLOW, PASS_MEMBERS };

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static bool same(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

bool journal_is_of(const struct journal *journal, const char *id, const char *role)
{
    return same(journal->id, id) && same(journal->role, role);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static int set_text(json_t *object, const char *key, const char *text)
{
    return text ? json_object_set_new(object, key, json_string(text)) : 0;
}

/* The place of this flow and role in the list of both, which grows if need be; -1 without memory. */
static json_int_t flow_place(json_t *flows, const struct result *result)
{
    const char *flow = result->flow ? result->flow : "";
    size_t i;
    json_t *known;

    json_array_foreach(flows, i, known)
    {
        if (same(json_string_value(json_array_get(known, 0)), flow) &&
            same(json_string_value(json_array_get(known, 1)), result->role))
            return (json_int_t)i;
    }
    known = json_array();
    if (json_array_append_new(known, json_string(flow)) != 0 ||
        (result->role && json_array_append_new(known, json_string(result->role)) != 0) ||
        json_array_append_new(flows, known) != 0)
        return -1;
    return (json_int_t)json_array_size(flows) - 1;
}

static int write_pass(json_t *passes, json_t *flows, const struct result *result)
{
    json_int_t place = flow_place(flows, result);
    json_t *roles = json_object_get(passes, result->id);

    if (!roles && json_object_set_new(passes, result->id, roles = json_array()) != 0)
        return -1;
    return place < 0 ? -1
                     : json_array_append_new(
                           roles, json_pack("[I, I, I]", (json_int_t)result->count, (json_int_t)result->frame, place));
}

static json_t *judged_json(const struct journal_judged *judged)
{
    json_t *object = json_object();
    int rc = set_text(object, "verdict", verdict_name(judged->verdict));

    rc |= set_text(object, "message", judged->message);
    rc |= set_text(object, "finding", judged->finding);
    rc |= set_text(object, "deviation", judged->deviation);
    rc |= set_text(object, "review_by", judged->review_by);
    if (rc == 0)
        return object;
    json_decref(object);
    return NULL;
}

static int write_finding(json_t *findings, const struct journal_rule *rule)
{
    json_t *object = result_to_json(&rule->result);
    int rc = object ? 0 : -1;

    (void)json_object_del(object, "type");
    if (rc == 0 && rule->judged.known)
        rc = json_object_set_new(object, "judged", judged_json(&rule->judged));
    return json_array_append_new(findings, object) | rc;
}

/* The summary's counters, those that counted something. */
static json_t *traffic_json(const struct run_summary *traffic)
{
    json_t *object = run_summary_to_json(traffic);
    const char *key;
    json_t *value;
    void *next;

    (void)json_object_del(object, "type");
    json_object_foreach_safe(object, next, key, value)
    {
        if (json_is_integer(value) ? json_integer_value(value) == 0 : json_object_size(value) == 0)
            (void)json_object_del(object, key);
    }
    return object;
}

json_t *journal_to_json(const struct journal *journal)
{
    json_t *object = json_object(), *passes = json_object(), *findings = json_array(), *flows = json_array();
    int rc = object && passes && findings && flows && journal->id ? 0 : -1;

    for (size_t i = 0; rc == 0 && i < journal->rule_count; i++) {
        const struct journal_rule *rule = &journal->rules[i];

        rc = rule->result.verdict == VERDICT_PASS ? write_pass(passes, flows, &rule->result)
                                                  : write_finding(findings, rule);
    }
    if (rc == 0) {
        rc = set_text(object, "type", "journal");
        rc |= set_text(object, "id", journal->id);
        rc |= set_text(object, "role", journal->role);
        rc |= set_text(object, "found", verdict_name(journal->found));
        rc |= journal->decided != journal->found ? set_text(object, "decided", verdict_name(journal->decided)) : 0;
        rc |= set_text(object, "evidence", journal->evidence);
        rc |= json_array_size(findings) != 0 ? json_object_set(object, "findings", findings) : 0;
        rc |= json_array_size(flows) != 0 ? json_object_set(object, "flows", flows) : 0;
        rc |= json_object_size(passes) != 0 ? json_object_set(object, "passes", passes) : 0;
        rc |= json_object_set_new(object, "traffic", traffic_json(&journal->traffic));
    }
    json_decref(passes);
    json_decref(findings);
    json_decref(flows);
    if (rc == 0)
        return object;
    json_decref(object);
    return NULL;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static uint64_t count_at(const json_t *array, size_t place)
{
    json_int_t value = json_integer_value(json_array_get(array, place));

    return value > 0 ? (uint64_t)value : 0;
}

static void read_pass(struct journal *journal, const json_t *flows, const char *id, const json_t *pass)
{
    const json_t *flow = json_array_get(flows, count_at(pass, PASS_FLOW));

    if (json_array_size(pass) != PASS_MEMBERS || count_at(pass, PASS_COUNT) == 0 || *id == '\0')
        return;
    journal->rules[journal->rule_count++] =
        (struct journal_rule){.result = {.id = id,
                                         .verdict = VERDICT_PASS,
                                         .by = "rule",
                                         .count = count_at(pass, PASS_COUNT),
                                         .frame = count_at(pass, PASS_FRAME),
                                         .flow = json_string_value(json_array_get(flow, 0)),
                                         .role = json_string_value(json_array_get(flow, 1))}};
}

static void read_finding(struct journal *journal, json_t *object)
{
    struct journal_rule rule = {0};
    const json_t *judged = json_object_get(object, "judged");

    if (result_from_json(object, &rule.result) != 0 || rule.result.verdict == VERDICT_PASS)
        return;
    if (judged && text_of(judged, "verdict") &&
        verdict_from_name(text_of(judged, "verdict"), &rule.judged.verdict) == 0) {
        rule.judged.known = true;
        rule.judged.message = text_of(judged, "message");
        rule.judged.finding = text_of(judged, "finding");
        rule.judged.deviation = text_of(judged, "deviation");
        rule.judged.review_by = text_of(judged, "review_by");
    }
    journal->rules[journal->rule_count++] = rule;
}

/* Traffic is what the summary's reader makes of it, which asks for the type that a summary has. */
static void read_traffic(struct journal *journal, json_t *traffic)
{
    json_t *typed = json_copy(traffic);

    if (set_text(typed, "type", "summary") == 0)
        (void)run_summary_from_json(typed, &journal->traffic);
    journal->traffic.ended = journal->traffic.stopped = NULL; /* no counters, and the copy's */
    json_decref(typed);
}

int journal_from_json(json_t *object, struct journal *journal)
{
    json_t *passes = json_object_get(object, "passes"), *findings = json_object_get(object, "findings");
    const json_t *flows = json_object_get(object, "flows");
    const char *id, *found = text_of(object, "found"), *decided = text_of(object, "decided");
    json_t *value, *pass;
    size_t i, room = json_array_size(findings);

    *journal = (struct journal){
        .id = text_of(object, "id"), .role = text_of(object, "role"), .evidence = text_of(object, "evidence")};
    if (!journal->id || !*journal->id || !found || verdict_from_name(found, &journal->found) != 0)
        return -1;
    if (!decided || verdict_from_name(decided, &journal->decided) != 0)
        journal->decided = journal->found;
    json_object_foreach(passes, id, value)
    {
        room += json_array_size(value);
    }
    journal->rules = calloc(room + 1, sizeof(*journal->rules));
    if (!journal->rules)
        return -1;
    json_array_foreach(findings, i, value)
    {
        read_finding(journal, value);
    }
    json_object_foreach(passes, id, value)
    {
        json_array_foreach(value, i, pass)
        {
            read_pass(journal, flows, id, pass);
        }
    }
    read_traffic(journal, json_object_get(object, "traffic"));
    return 0;
}

void journal_free(struct journal *journal)
{
    free(journal->rules);
    journal->rules = NULL;
    journal->rule_count = 0;
}
