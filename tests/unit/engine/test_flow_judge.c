/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames in, findings as they come and results at the flow's end; what is missing after a loss is blamed on nobody. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/capture/capture_file.h"
#include "conformance/engine/judge/flow_judge.h"
#include "conformance/engine/monitor/monitor_counts.h"
#include "tests/unit/suites.h"

Suite *flow_judge_suite(void);

static struct {
    unsigned findings, results, flow_ends, ends;
    unsigned fails;        /* among the results */
    uint64_t count, frame; /* of the finding */
    bool before_the_flow_end;
} seen;

static void on_finding(void *user, const struct judged_finding *finding)
{
    (void)user;
    seen.findings++;
    seen.count += finding->result->count;
    seen.frame = finding->result->frame;
    seen.before_the_flow_end = seen.flow_ends == 0;
    ck_assert_str_eq(finding->requirement->id, finding->result->id);
    ck_assert_int_ne(finding->result->verdict, VERDICT_PASS);
    ck_assert_ptr_nonnull(finding->result->flow);
}

static void on_result(void *user, const struct judged_result *result)
{
    (void)user;
    seen.results++;
    seen.fails += result->result->verdict == VERDICT_FAIL;
}

static void on_end(void *user, const struct flow *flow, const struct end_cause *cause)
{
    (void)user;
    (void)flow;
    (void)cause;
    seen.ends++;
}

static void on_flow_end(void *user, const struct flow *flow)
{
    (void)user;
    (void)flow;
    seen.flow_ends++;
}

/* Judges the capture; before frame `lost_at` (0: nowhere) the ring has lost some. */
static struct flow_judge *judged(const struct catalogue *catalogue, const char *path, uint64_t lost_at)
{
    static const struct selection all;
    struct flow_judge_config config = {.catalogue = catalogue,
                                       .selection = &all,
                                       .finding = on_finding,
                                       .result = on_result,
                                       .end = on_end,
                                       .flow_end = on_flow_end};
    struct flow_judge *judge = flow_judge_create(&config);
    struct iwarp_sentence error;
    struct capture_file *capture = capture_open(path, &error);
    struct flow_frame frame;

    ck_assert_ptr_nonnull(judge);
    ck_assert_msg(capture != NULL, "%s", error.text);
    memset(&seen, 0, sizeof(seen));
    while (capture_next(capture, &frame, &error) == 1) {
        if (frame.number == lost_at)
            flow_decoder_dropped(flow_judge_decoder(judge), 1);
        flow_decoder_frame(flow_judge_decoder(judge), &frame);
    }
    capture_close(capture);
    return judge;
}

static struct catalogue *catalogue_of(void)
{
    struct catalogue *catalogue = NULL;
    struct iwarp_sentence error;

    ck_assert_msg(catalogue_load(&catalogue, &error) == 0, "%s", error.text);
    return catalogue;
}

START_TEST(finding_comes_at_its_frame_and_results_at_the_end)
{
    struct catalogue *catalogue = catalogue_of();
    struct flow_judge *judge = judged(catalogue, "pcaps/generated/bad-crc.pcap", 0);
    struct run_summary summary = {0};

    ck_assert_uint_eq(seen.findings, 1);
    ck_assert(seen.before_the_flow_end);
    ck_assert_uint_eq(seen.results, 0);
    flow_decoder_finish(flow_judge_decoder(judge));
    ck_assert_uint_eq(seen.flow_ends, 1);
    ck_assert_uint_gt(seen.results, 10);
    ck_assert_uint_eq(seen.fails, 1);
    judged_traffic(&summary, flow_decoder_totals(flow_judge_decoder(judge)));
    ck_assert_uint_eq(summary.crc_errors, 1);
    ck_assert_uint_gt(summary.message_count, 1);
    flow_judge_free(judge);
    catalogue_free(catalogue);
}
END_TEST

/* ---- metrics ----------------------------------------------------------------------------------------------------- */

START_TEST(metrics_have_a_line_for_each_value)
{
    struct catalogue *catalogue = catalogue_of();
    struct monitor_interface interfaces[1] = {{.name = "a\"b\\c", .frames = 12, .lost = {.ring = 3}}};
    struct flow_totals totals = {.flows = 2};
    struct monitor_counts counts = {.catalogue = catalogue,
                                    .interfaces = interfaces,
                                    .interface_count = 1,
                                    .totals = &totals,
                                    .open_flows = 1,
                                    .started_ns = UINT64_C(1700000000000000000)};
    size_t octets;
    char *text;

    counts.by_requirement = calloc(catalogue_count(catalogue), sizeof(*counts.by_requirement));
    counts.by_requirement[catalogue_find(catalogue, "MPA-4.4-14")->index].findings[VERDICT_FAIL] = 4;
    totals.account.row[FLOW_ROW_DROPPED].items = 3;
    text = monitor_counts_text(&counts, &octets);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(strlen(text), octets);
    ck_assert_ptr_nonnull(strstr(text, "warpcheck_frames_total{interface=\"a\\\"b\\\\c\"} 12\n"));
    ck_assert_ptr_nonnull(strstr(text, "warpcheck_ring_lost_frames_total{interface=\"a\\\"b\\\\c\"} 3\n"));
    ck_assert_ptr_nonnull(strstr(text, "warpcheck_findings_total{id=\"MPA-4.4-14\",verdict=\"FAIL\"} 4\n"));
    ck_assert_ptr_nonnull(strstr(text, "warpcheck_account_items{kind=\"missing\",reason=\"dropped\"} 3\n"));
    ck_assert_ptr_nonnull(strstr(text, "\nwarpcheck_start_time_seconds 1700000000\n"));
    ck_assert_ptr_nonnull(strstr(text, "\nwarpcheck_flows_open 1\n"));
    free(text);
    free(counts.by_requirement);
    catalogue_free(catalogue);
}
END_TEST

Suite *flow_judge_suite(void)
{
    Suite *suite = suite_create("flow_judge");
    TCase *cases = tcase_create("flow_judge");

    tcase_add_test(cases, finding_comes_at_its_frame_and_results_at_the_end);
    tcase_add_test(cases, metrics_have_a_line_for_each_value);
    suite_add_tcase(suite, cases);
    return suite;
}
