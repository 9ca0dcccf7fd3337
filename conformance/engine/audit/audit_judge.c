/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/audit/audit_judge.h"

#include <stdlib.h>

#include "conformance/engine/audit/lua_rules.h"
#include "conformance/engine/evidence/findings.h"
#include "conformance/engine/evidence/findings_ladder.h"
#include "conformance/engine/evidence/flow_end.h"
#include "conformance/engine/capture/capture_file.h"
#include "conformance/engine/capture/capture_series.h"
#include "conformance/engine/judge/flow_judge.h"

enum { READING_FRAMES = 1 << 18 }; /* about a second of work */

struct audit_judge {
    struct audit_judge_config config;
    struct flow_judge *flows;
    struct flow_decoder *decoder;  /* of it */
    struct findings findings;      /* held back of the present file */
    struct capture_series *series; /* present one, */
    bool again;                    /* and it can be read a second time */
    uint64_t flows_before;         /* flows of the files before it */
    struct flow_totals totals;     /* of all files */
    struct flow_account account;   /* of the last one */
};

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* Hands over a result whose frame is that of the series: with its file, and its frame and other numbers there. */
static void report_result(const struct audit_judge *judge, struct result *result, const struct requirement *requirement)
{
    const struct capture_series *series = judge->series;
    struct iwarp_sentence expected, actual, message;

    result->file = capture_series_where(series, result->frame, &result->frame);
    result->expected = capture_series_reword(series, result->expected, result->file, &expected);
    result->actual = capture_series_reword(series, result->actual, result->file, &actual);
    result->message = capture_series_reword(series, result->message, result->file, &message);
    if (result->reading != NULL)
        result->reading = result->actual;
    judge->config.result(judge->config.user, result, requirement);
}

/* One requirement that one flow exercised. */
static void on_result(void *user, const struct judged_result *judged)
{
    struct audit_judge *judge = user;

    if (judged->found->verdict != RULE_PASS && judge->config.ladders && judge->again &&
        findings_hold(&judge->findings, judged->found, judged->result, judged->flow->number - judge->flows_before))
        return;
    report_result(judge, judged->result, judged->requirement);
}

/* One end of a flow. */
static void on_end(void *user, const struct flow *flow, const struct end_cause *cause)
{
    const struct audit_judge *judge = user;
    struct flow_end end;

    flow_end_make(&end, judge->series, flow, cause);
    judge->config.end(judge->config.user, &end.line);
}

static void results_end(const struct audit_judge *judge)
{
    if (judge->config.results_end != NULL)
        judge->config.results_end(judge->config.user);
}

/* A result of a rule of somebody's own. */
static void on_own_result(void *user, const struct lua_found *found)
{
    struct audit_judge *judge = user;
    struct result result = found->result;

    if ((result.verdict == VERDICT_FAIL || result.verdict == VERDICT_WARN) && judge->config.ladders && judge->again &&
        findings_hold_own(&judge->findings, &result, found->direction, found->step,
                          found->flow->number - judge->flows_before))
        return;
    report_result(judge, &result, catalogue_find(judge->config.catalogue, result.id));
}

static void on_event(void *user, const struct flow_event *event)
{
    const struct audit_judge *judge = user;

    lua_rules_event(judge->config.rules, event);
}

static void on_flow_end(void *user, const struct flow *flow)
{
    struct audit_judge *judge = user;

    if (judge->config.rules != NULL)
        lua_rules_flow_end(judge->config.rules, flow, on_own_result, judge);
    results_end(judge);
}

/*
 * Hands over what was held back, with ladders as far as they could be drawn: without one a finding is one all the same.
 */
static void give_findings(struct audit_judge *judge, uint64_t frames)
{
    struct iwarp_sentence ignored;

    if (judge->findings.count == 0)
        return;
    (void)findings_draw(&judge->findings, judge->series, frames, &ignored);
    for (const struct held_finding *finding = judge->findings.first; finding != NULL; finding = finding->next) {
        struct result result = finding->result;
        uint64_t frame;

        if (capture_series_name_steps(judge->series, result.steps,
                                      capture_series_where(judge->series, result.frame, &frame)) != 0)
            (void)json_array_clear(result.steps); /* numbers of the series name no frame */
        report_result(judge, &result, catalogue_find(judge->config.catalogue, result.id));
    }
    findings_clear(&judge->findings);
    results_end(judge);
}

/* Adds the decoder's account and what the file says of itself to the account of this file and to that of all files. */
static void count_file(struct audit_judge *judge, const struct capture_series *series, bool whole,
                       const struct flow_account *before)
{
    struct flow_account extras = judge->totals.account, of_file = {0};

    flow_account_since(before, &extras, &extras); /* counts of earlier files that the decoder did not make */
    capture_series_account(series, &of_file);
    of_file.row[FLOW_ROW_EMPTY].items += whole && capture_series_frames(series) == 0;
    flow_account_add(&extras, &of_file);
    judge->totals = *flow_decoder_totals(judge->decoder);
    flow_account_since(before, &judge->totals.account, &judge->account);
    flow_account_add(&judge->account, &of_file);
    flow_account_add(&judge->totals.account, &extras);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

enum audit_file audit_judge_file(struct audit_judge *judge, const char *path, struct capture_ring *ring,
                                 struct iwarp_sentence *error)
{
    struct capture_series *series = capture_series_open(path, ring, error);
    struct flow_account before = flow_decoder_totals(judge->decoder)->account;
    struct flow_frame frame;
    uint64_t frames;
    int rc;

    judge->account = (struct flow_account){0};
    if (series == NULL) {
        judge->account.row[FLOW_ROW_EMPTY].items = capture_is_empty(path);
        flow_account_add(&judge->totals.account, &judge->account);
        return AUDIT_FILE_FOREIGN;
    }
    capture_series_filter(series, judge->config.filter);
    judge->series = series;
    judge->again = capture_series_is_rereadable(series);
    judge->flows_before = flow_decoder_totals(judge->decoder)->flows;
    while ((rc = capture_series_next(series, &frame, error)) == 1) {
        flow_decoder_frame(judge->decoder, &frame);
        if (judge->config.reading != NULL && capture_series_frames(series) % READING_FRAMES == 0)
            judge->config.reading(judge->config.user, capture_series_frames(series));
    }
    flow_decoder_finish(judge->decoder);
    frames = capture_series_frames(series);
    count_file(judge, series, rc == 0, &before);
    give_findings(judge, frames);
    capture_series_close(series);
    judge->series = NULL;
    if (rc == 0)
        return AUDIT_FILE_WHOLE;
    return frames == 0 ? AUDIT_FILE_FOREIGN : AUDIT_FILE_DAMAGED;
}

const struct flow_totals *audit_judge_totals(const struct audit_judge *judge)
{
    return &judge->totals;
}

const struct flow_account *audit_judge_account(const struct audit_judge *judge)
{
    return &judge->account;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

struct audit_judge *audit_judge_create(const struct audit_judge_config *config)
{
    struct audit_judge *judge = calloc(1, sizeof(*judge));
    struct flow_judge_config flows = {
        .catalogue = config->catalogue,
        .selection = config->selection,
        .memory = config->memory,
        .event = config->rules != NULL ? on_event : NULL,
        .result = on_result,
        .end = config->end != NULL ? on_end : NULL,
        .flow_end = on_flow_end,
        .user = judge,
    };

    if (judge == NULL)
        return NULL;
    judge->config = *config;
    judge->flows = flow_judge_create(&flows);
    if (findings_init(&judge->findings) != 0 || judge->flows == NULL) {
        audit_judge_free(judge);
        return NULL;
    }
    judge->decoder = flow_judge_decoder(judge->flows);
    judge->findings.memory = config->memory;
    if (config->rules != NULL)
        lua_rules_select(config->rules, flow_judge_selected, judge->flows);
    return judge;
}

void audit_judge_free(struct audit_judge *judge)
{
    if (judge == NULL)
        return;
    flow_judge_free(judge->flows);
    findings_free(&judge->findings);
    free(judge);
}
