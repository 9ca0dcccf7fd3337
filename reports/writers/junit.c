/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/results/cause.h"
#include "reports/writers/junit.h"

#include "conformance/requirements/catalogue.h"
#include "reports/results/account.h"
#include "reports/page/markup.h"
#include "reports/file/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_TEXT 90 /* octets of the requirement's text in a testcase's name */

/* One suite: entries [first, end) share document and section. */
struct suite {
    size_t first, end;
    size_t tests;
    size_t failures, errors, skipped;
    uint64_t duration_ns;
};

static bool same_suite(const struct report_entry *a, const struct report_entry *b)
{
    if (!a->requirement || !b->requirement)
        return a->requirement == b->requirement;
    return strcmp(a->requirement->source, b->requirement->source) == 0 &&
           strcmp(a->requirement->section, b->requirement->section) == 0;
}

static void count_case(struct suite *suite, enum verdict worst)
{
    suite->tests++;
    suite->failures += worst == VERDICT_FAIL;
    suite->errors += worst == VERDICT_INCONCLUSIVE;
    suite->skipped += worst == VERDICT_SKIP || worst == VERDICT_KNOWN;
}

/*
 * A run's test case is a requirement and role; an audit's is one of them in one capture: a second capture that fails is
 * new.
 */
static void count_entry(struct suite *suite, const struct report_entry *entry)
{
    if (entry->cases.count == 0)
        count_case(suite, entry->worst);
    for (size_t i = 0; i < entry->cases.count; i++)
        count_case(suite, entry->cases.cases[i].worst);
    suite->duration_ns += entry->duration_ns;
}

static struct suite suite_from(const struct report *report, size_t first)
{
    struct suite suite = {.first = first, .end = first};
    while (suite.end < report->entry_count && same_suite(report->entries[first], report->entries[suite.end]))
        count_entry(&suite, report->entries[suite.end++]);
    return suite;
}

/* `skipped` is not known of <testsuites> everywhere. */
static void suite_open(struct markup *m, const char *element, const char *name, const struct suite *suite)
{
    char tests[24], failures[24], errors[24], skipped[24], seconds[32];
    snprintf(tests, sizeof(tests), "%zu", suite->tests);
    snprintf(failures, sizeof(failures), "%zu", suite->failures);
    snprintf(errors, sizeof(errors), "%zu", suite->errors);
    snprintf(skipped, sizeof(skipped), "%zu", suite->skipped);
    snprintf(seconds, sizeof(seconds), "%.6f", (double)suite->duration_ns / 1e9);
    if (strcmp(element, "testsuite") == 0)
        markup_open(m, element, "name", name, "tests", tests, "failures", failures, "errors", errors, "skipped",
                    skipped, "time", seconds, NULL);
    else
        markup_open(m, element, "name", name, "tests", tests, "failures", failures, "errors", errors, "time", seconds,
                    NULL);
}

static void text_line(struct markup *m, const char *name, const char *value)
{
    char *line =
        value && *value ? text_clean_line(value) : NULL; /* a file's name may have newlines, which begin no line here */
    if (line) {
        markup_text(m, name);
        markup_text(m, line);
        markup_text(m, "\n");
    }
    free(line);
}

/*
 * "cause     marker-wrong, one of 4 results: MPA-4.2-02, MPA-4.3-05": what other failures have in common with this one.
 */
static void write_cause(struct markup *m, const struct cause *cause)
{
    markup_textf(m, "cause     %.60s", cause_name(cause));
    if (cause_results(cause) > 1) {
        markup_textf(m, ", one of %zu results: ", cause_results(cause));
        markup_text(m, cause_ids(cause));
    }
    markup_text(m, "\n");
}

/* Everything that is known of one result, as plain text. */
static void body(struct markup *m, const struct cause_set *causes, const struct report_entry *entry,
                 const struct result *result)
{
    char frame[32];
    markup_text(m, "\n");
    text_line(m, "purpose   ", result->purpose);
    text_line(m, "expected  ", result->expected);
    text_line(m, "actual    ", result->actual);
    text_line(m, "message   ", result->message);
    text_line(m, "reading   ", result->reading);
    text_line(m, "hint      ", cause_hint_alone(result));
    if (cause_of(causes, result))
        write_cause(m, cause_of(causes, result));
    if (result->verdict == VERDICT_KNOWN)
        text_line(m, "finding   ", known_finding(result));
    text_line(m, "note      ", result->deviation);
    text_line(m, "review by ", result->review_by);
    text_line(m, "otherwise ", result->otherwise);
    text_line(m, "file      ", result->file);
    text_line(m, "flow      ", result->flow);
    if (result->frame) {
        snprintf(frame, sizeof(frame), "%llu", (unsigned long long)result->frame);
        text_line(m, "frame     ", frame);
    }
    text_line(m, "script    ", result->script);
    text_line(m, "evidence  ", result->evidence);
    text_line(m, "replay    ", result->replay);
    if (entry->requirement) {
        text_line(m, "level     ", requirement_level_name(entry->requirement->level));
        text_line(m, "text      ", entry->requirement->text);
    }
    if (entry->counts[result->verdict] > 1)
        markup_textf(m, "and %llu more of the same verdict\n",
                     (unsigned long long)(entry->counts[result->verdict] - 1));
}

/* <failure message= type=>: `message` one line. */
static void outcome(struct markup *m, const struct cause_set *causes, const char *element, const char *type,
                    const struct report_entry *entry, const struct result *result)
{
    char *message = report_sentence(result);
    markup_open(m, element, "message", message ? message : "", "type", type, NULL);
    body(m, causes, entry, result);
    markup_close(m);
    free(message);
}

/*
 * A known deviation is an expected failure, for which JUnit has no element: <skipped> with a type of its own, as pytest
 * does with its "xfail". It breaks no build by itself; the run's exit status does.
 */
static void known(struct markup *m, const struct cause_set *causes, const struct report_entry *entry,
                  const struct result *result)
{
    char *sentence = report_sentence(result), message[1024];
    (void)snprintf(message, sizeof(message), "known deviation (%.300s): %.600s", known_finding(result),
                   sentence ? sentence : "");
    free(sentence);
    sentence = text_clean_line(message); /* a cut in the middle of a character is mended here */
    markup_open(m, "skipped", "message", sentence ? sentence : "known deviation", "type", "KNOWN", NULL);
    body(m, causes, entry, result);
    markup_close(m);
    free(sentence);
}

/* The first result that was kept of that verdict, and of that capture (NULL: of any). NULL: it was not kept. */
static const struct result *result_of(const struct report_entry *entry, enum verdict verdict, const char *file)
{
    for (size_t i = 0; i < entry->kept_count; i++)
        if (entry->kept[i].verdict == verdict &&
            (!file || (entry->kept[i].file && strcmp(entry->kept[i].file, file) == 0)))
            return &entry->kept[i];
    return NULL;
}

static void verdict_element(struct markup *m, const struct cause_set *causes, const struct report_entry *entry,
                            enum verdict worst, const struct result *result)
{
    char *message;

    switch (worst) {
    case VERDICT_FAIL: outcome(m, causes, "failure", "FAIL", entry, result); break;
    case VERDICT_INCONCLUSIVE: outcome(m, causes, "error", "INCONCLUSIVE", entry, result); break;
    case VERDICT_SKIP: outcome(m, causes, "skipped", "SKIP", entry, result); break;
    case VERDICT_KNOWN: known(m, causes, entry, result); break;
    case VERDICT_WARN:
    case VERDICT_AMBIGUOUS:
        message = report_sentence(result);
        markup_open(m, "system-out", NULL);
        markup_textf(m, "%s: ", verdict_name(worst));
        markup_text(m, message);
        body(m, causes, entry, result);
        markup_close(m);
        free(message);
        break;
    case VERDICT_PASS:
    default: break;
    }
}

/* `file` NULL: of a run, that of all results together. */
static void testcase(struct markup *m, const struct cause_set *causes, const struct report_entry *entry,
                     const char *suite_name, const char *file, enum verdict worst)
{
    const struct result *result = result_of(entry, worst, file);
    struct result unkept = {.id = entry->id,
                            .verdict = worst,
                            .file = file,
                            .message = "one of many: results.jsonl has its frame and octets"};
    const char *text = entry->requirement              ? entry->requirement->text
                       : result_of(entry, worst, NULL) ? result_of(entry, worst, NULL)->purpose
                                                       : NULL;
    char name[800], seconds[32];

    text = text ? text : "";
    snprintf(name, sizeof(name), "%.80s%s%.30s%s%s%.400s%s %.*s%s", entry->id, *entry->role ? " (" : "", entry->role,
             *entry->role ? ")" : "", file ? " in " : "", file ? file : "", file ? ":" : "", NAME_TEXT, text,
             strlen(text) > NAME_TEXT ? "..." : "");
    snprintf(seconds, sizeof(seconds), "%.6f", file ? 0.0 : (double)entry->duration_ns / 1e9);
    char *line = text_clean_line(name); /* a cut in the middle of a character is mended here */
    markup_open(m, "testcase", "name", line ? line : entry->id, "classname", suite_name, "time", seconds, NULL);
    free(line);
    verdict_element(m, causes, entry, worst, result ? result : &unkept);
    markup_close(m);
}

static void testcases(struct markup *m, const struct cause_set *causes, const struct report_entry *entry,
                      const char *suite_name)
{
    if (entry->cases.count == 0)
        testcase(m, causes, entry, suite_name, NULL, entry->worst);
    for (size_t i = 0; i < entry->cases.count; i++)
        testcase(m, causes, entry, suite_name, entry->cases.cases[i].file, entry->cases.cases[i].worst);
}

static void property(struct markup *m, const char *name, const char *value)
{
    if (value && *value)
        markup_void(m, "property", "name", name, "value", value, NULL);
}

/*
 * Which device it was, as its profile says, and the whole command: of the first suite, since all suites have no place
 * for it.
 */
static void write_identity(struct markup *m, const struct run_info *info)
{
    char *device = run_info_device(info);

    markup_open(m, "properties", NULL);
    property(m, "target", info->target);
    property(m, "device", device);
    property(m, "command", info->command_line);
    property(m, "tool", info->tool);
    markup_close(m);
    free(device);
}

static void write_suite(struct markup *m, const struct cause_set *causes, const struct report *report,
                        const struct suite *suite)
{
    const struct requirement *requirement = report->entries[suite->first]->requirement;
    char name[128];
    if (requirement) /* dots make packages of class names: the layer is one, the section's dots must not be */
        snprintf(name, sizeof(name), "%s.%s section %s", requirement_layer_name(requirement->layer),
                 requirement->source, requirement->section);
    else
        snprintf(name, sizeof(name), "unknown");
    for (char *p = strstr(name, " section "); p && *p; p++)
        *p = *p == '.' ? '_' : *p;
    suite_open(m, "testsuite", name, suite);
    if (suite->first == 0)
        write_identity(m, &report->info);
    for (size_t i = suite->first; i < suite->end; i++)
        testcases(m, causes, report->entries[i], name);
    markup_close(m);
}

/*
 * ---- what is no requirement ---------------------------------------------------------------------------------------
 */

/*
 * Test cases that say whether all of the input was judged: an error each that was not, skipped where it was accepted.
 */
static void gap_case(struct markup *m, bool accepted, const char *name, const char *message)
{
    markup_open(m, "testcase", "name", name, "classname", "account", NULL);
    if (accepted)
        markup_void(m, "skipped", "message", message, NULL);
    else
        markup_void(m, "error", "message", message, "type", "INCONCLUSIVE", NULL);
    markup_close(m);
}

static const enum flow_account_kind gap_kinds[] = {FLOW_UNJUDGED, FLOW_MISSING};

static struct suite account_suite(const struct report *report)
{
    const struct flow_account *account = &report->summary.account;
    struct suite suite = {0};
    size_t gaps = report->skipped;
    if (account_is_empty(account))
        return suite;
    for (size_t k = 0; k < sizeof(gap_kinds) / sizeof(gap_kinds[0]); k++) {
        for (enum flow_row row = FLOW_ROWS; (row = account_next(account, gap_kinds[k], row)) != FLOW_ROWS;)
            gaps++;
    }
    suite.tests = gaps ? gaps : 1;
    suite.errors = report->summary.allow_gaps ? 0 : gaps;
    suite.skipped = report->summary.allow_gaps ? gaps : 0;
    return suite;
}

static void write_account(struct markup *m, const struct report *report, const struct suite *suite)
{
    const struct flow_account *account = &report->summary.account;
    bool accepted = report->summary.allow_gaps;
    char name[300], text[ACCOUNT_TEXT];
    suite_open(m, "testsuite", "account", suite);
    if (suite->errors + suite->skipped == 0) {
        markup_open(m, "testcase", "name", "all iWARP of the input is judged", "classname", "account", NULL);
        markup_close(m);
    }
    for (size_t k = 0; k < sizeof(gap_kinds) / sizeof(gap_kinds[0]); k++) {
        for (enum flow_row row = FLOW_ROWS; (row = account_next(account, gap_kinds[k], row)) != FLOW_ROWS;) {
            snprintf(name, sizeof(name), "%s: %s", account_count_text(row, &account->row[row], text),
                     flow_account_row(row)->text);
            char title[64];
            snprintf(title, sizeof(title), "nothing is unjudged: %s", flow_account_row(row)->name);
            gap_case(m, accepted, title, name);
        }
    }
    for (size_t i = 0; i < report->capture_count; i++) {
        if (!report_is_skipped(&report->captures[i]))
            continue;
        snprintf(name, sizeof(name), "%.250s is read", report->captures[i].info.file);
        gap_case(m, accepted, name, report_unread(&report->captures[i]));
    }
    markup_close(m);
}

/*
 * What was expected and was not found, and what no test case fails for: the failures of requirements are test cases
 * already.
 */
static bool is_expectation_case(const struct difference *difference)
{
    return difference->kind == DIFFERENCE_MISSING || difference->kind == DIFFERENCE_RENAMED ||
           difference->verdict == VERDICT_WARN;
}

static struct suite expectation_suite(const struct report *report)
{
    struct suite suite = {0};
    if (!report->summary.expectation.used)
        return suite;
    for (size_t i = 0; i < report->difference_count; i++)
        suite.failures += is_expectation_case(&report->differences[i].difference);
    suite.tests = suite.failures + 1;
    return suite;
}

static void write_expectations(struct markup *m, const struct report *report, const struct suite *suite)
{
    char text[EXPECTATION_TEXT_OCTETS], name[600];
    suite_open(m, "testsuite", "expectations", suite);
    markup_open(m, "testcase", "name", expectation_text(&report->summary.expectation, text), "classname",
                "expectations", NULL);
    markup_close(m);
    for (size_t i = 0; i < report->difference_count; i++) {
        const struct difference *difference = &report->differences[i].difference;
        if (!is_expectation_case(difference))
            continue;
        snprintf(name, sizeof(name), "%.80s in %.400s: %s", difference->id, difference->file,
                 difference_kind_name(difference->kind));
        markup_open(m, "testcase", "name", name, "classname", "expectations", NULL);
        markup_void(m, "failure", "message", difference->text, "type", difference_kind_name(difference->kind), NULL);
        markup_close(m);
    }
    markup_close(m);
}

/* What is no requirement, and keeps a CI server from taking half of it for the whole: a stop, a capture not read. */
static void write_failings(struct markup *m, const struct report *report, size_t count)
{
    struct suite run = {.tests = count, .errors = count};
    char name[300];
    suite_open(m, "testsuite", "run", &run);
    if (!report->finished) {
        markup_open(m, "testcase", "name", "the run comes to its end", "classname", "run", NULL);
        snprintf(name, sizeof(name), "%.150s: the run was stopped%s", report_stopped(report), report_goes_on(report));
        markup_void(m, "error", "message", name, "type", "INCONCLUSIVE", NULL);
        markup_close(m);
    }
    for (size_t i = 0; i < report->capture_count; i++) {
        const struct report_capture *capture = &report->captures[i];
        if (capture->whole || report_is_skipped(capture))
            continue;
        snprintf(name, sizeof(name), "%.250s is read to its end", capture->info.file);
        markup_open(m, "testcase", "name", name, "classname", "run", NULL);
        markup_void(m, "error", "message", report_unread(capture), "type", "INCONCLUSIVE", NULL);
        markup_close(m);
    }
    markup_close(m);
}

int junit_write(const struct report *report, const struct place *to, struct iwarp_sentence *error)
{
    struct markup *m = markup_new();
    struct suite all = {0};
    struct cause_set set = {0};
    const struct cause_set *causes = &set;
    if (!m || cause_add_report(&set, report) != 0) {
        markup_free(m);
        cause_set_free(&set);
        return iwarp_sentence_set(error, "%s: out of memory", to->path);
    }
    for (size_t i = 0; i < report->entry_count; i++)
        count_entry(&all, report->entries[i]);
    size_t failings = !report->finished + report->unread;
    struct suite shown = all;
    struct suite account = account_suite(report);
    struct suite expectations = expectation_suite(report);
    shown.errors += failings + account.errors;
    shown.skipped += account.skipped;
    shown.failures += expectations.failures;
    shown.tests += failings + account.tests + expectations.tests;
    markup_xml(m);
    suite_open(m, "testsuites", "warpcheck", &shown);
    for (size_t i = 0; i < report->entry_count;) {
        struct suite suite = suite_from(report, i);
        write_suite(m, causes, report, &suite);
        i = suite.end;
    }
    if (account.tests)
        write_account(m, report, &account);
    if (expectations.tests)
        write_expectations(m, report, &expectations);
    if (failings)
        write_failings(m, report, failings);
    markup_close(m);
    int rc = markup_save(m, to, error);
    markup_free(m);
    cause_set_free(&set);
    return rc;
}
