/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of each finding: counted, known, written, said; and of each result at a flow's end. */

#include "conformance/engine/monitor/monitor_internal.h"
#include "conformance/engine/monitor/monitor_line.h"

/* Cuts a capture; *name is that of its file, "" where there is none. */
static void cut_evidence(struct monitor *monitor, const struct known_finding *known,
                         const struct judged_finding *finding, char name[EVIDENCE_NAME])
{
    const struct result *result = finding->result;
    struct iwarp_sentence comment, error;
    struct monitor_cut cut = {.id = result->id,
                              .key = known->key,
                              .time_ns = monitor->now_ns,
                              .frame = result->frame,
                              .link = monitor->reading != NULL ? monitor->reading->link : monitor->interfaces[0].link,
                              .flow = monitor_flow_of(finding->found->flow),
                              .comment = comment.text};

    name[0] = '\0';
    if (monitor->evidence == NULL || result->verdict == VERDICT_AMBIGUOUS ||
        !monitor_rate_allow(&monitor->cut, monitor->now_ns))
        return;
    (void)iwarp_sentence_set(&comment, "%s %.40s, flow %.150s: expected %.110s; got %.110s",
                             verdict_name(result->verdict), result->id, result->flow, result->expected, result->actual);
    if (monitor_evidence_cut(monitor->evidence, &cut, name, &error) == 0) {
        monitor->evidence_fail = false;
        return;
    }
    name[0] = '\0';
    monitor->counts.unwritten++;
    if (!monitor->evidence_fail)
        monitor_note(monitor, true, "%s; findings go on without captures", error.text);
    monitor->evidence_fail = true;
}

static void write_finding(struct monitor *monitor, struct known_finding *known, const struct result *result)
{
    const char *interface = monitor->reading != NULL ? monitor->reading->name : monitor->interfaces[0].name;

    if (monitor->log == NULL || !monitor_rate_allow(&monitor->written, monitor->now_ns))
        return;
    if (monitor_log_write(monitor->log, monitor_line_finding(known, result, interface)))
        known->logged = known->count;
}

void monitor_finding(void *user, const struct judged_finding *finding)
{
    struct monitor *monitor = user;
    struct result *result = finding->result;
    const struct flow *flow = finding->found->flow;
    struct monitor_finding_count *count = &monitor->counts.by_requirement[finding->requirement->index];
    struct known_sight sight = {.id = result->id,
                                .flow = result->flow,
                                .verdict = result->verdict,
                                .flow_ns = flow->first_ns,
                                /* Without a SYN nobody knows that it begins. */
                                .late = flow->late || (flow->kind == FLOW_CONNECTION && !flow->opener_known),
                                .time_ns = monitor->now_ns,
                                .count = result->count};
    struct known_finding *known;
    char name[EVIDENCE_NAME];
    bool is_new;

    count->occurrences[result->verdict] += result->count;
    known = known_findings_meet(&monitor->known, &sight, &is_new);
    if (known == NULL)
        return;
    if (!is_new) {
        monitor_repeat_finding(monitor, known);
        return;
    }
    count->findings[result->verdict]++;
    monitor->fresh += result->verdict != VERDICT_AMBIGUOUS;
    cut_evidence(monitor, known, finding, name);
    result->evidence = name[0] != '\0' ? name : NULL;
    write_finding(monitor, known, result);
    monitor_say_finding(monitor, known, result, finding->requirement);
}

void monitor_result(void *user, const struct judged_result *result)
{
    struct monitor *monitor = user;

    monitor->exercised[result->requirement->index] = true;
    summary_count(&monitor->counts.results, result->result->verdict);
}

void monitor_flow_end(void *user, const struct flow *flow)
{
    struct monitor *monitor = user;

    (void)flow;
    monitor->ended_flows++;
}

void monitor_restore(void *user, const char *text, size_t octets)
{
    struct monitor *monitor = user;

    (void)monitor_line_restore(&monitor->known, text, octets);
}

void monitor_restored(struct monitor *monitor)
{
    for (const struct known_finding *known = monitor->known.all; known != NULL; known = known->hh.next) {
        const struct requirement *requirement = catalogue_find(monitor->catalogue, known->id);

        monitor->old_findings += known->verdict != VERDICT_AMBIGUOUS;
        if (requirement == NULL)
            continue; /* of another version */
        monitor->counts.by_requirement[requirement->index].findings[known->verdict]++;
        monitor->counts.by_requirement[requirement->index].occurrences[known->verdict] += known->count;
    }
}

/* A line of what was counted. */
static json_t *counts_line(const struct monitor *monitor)
{
    const struct flow_totals *totals = flow_decoder_totals(flow_judge_decoder(monitor->judge));
    json_t *line = monitor_line_of("counts", monitor->now_ns);
    const struct {
        const char *name;
        uint64_t value;
    } members[] = {{"frames", totals->frames},
                   {"octets", totals->octets},
                   {"lost_frames", monitor->lost},
                   {"flows", totals->flows},
                   {"fpdus", totals->fpdus},
                   {"findings", monitor->fresh},
                   {"findings_before", monitor->old_findings},
                   {"untold", monitor->counts.untold},
                   {"resident_octets", monitor_resident_octets()}};

    for (size_t i = 0; line != NULL && i < sizeof(members) / sizeof(members[0]); i++)
        if (json_object_set_new(line, members[i].name, json_integer((json_int_t)(members[i].value & INT64_MAX))) != 0) {
            json_decref(line);
            line = NULL;
        }
    return line;
}

void monitor_write_counts(struct monitor *monitor)
{
    struct known_finding *known;

    if (monitor->log == NULL)
        return;
    for (known = monitor->known.all; known != NULL; known = known->hh.next) {
        if (known->logged == known->count)
            continue;
        if (!monitor_log_write(monitor->log, monitor_line_count(known->logged == 0 ? "known" : "again", known)))
            break; /* the others would fail, too; they are written the next time */
        known->logged = known->count;
    }
    (void)monitor_log_write(monitor->log, counts_line(monitor));
}
