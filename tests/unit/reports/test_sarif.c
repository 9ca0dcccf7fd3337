/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * results.sarif as a viewer reads it: parsed back with jansson. The schema's essential demands are checked here, too.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/requirements/catalogue.h"
#include "reports/results/results_log.h"
#include "reports/writers/sarif.h"
#include "reports/file/uri.h"
#include "tests/unit/sample_results.h"
#include "tests/unit/suites.h"

Suite *sarif_suite(void);

struct parsed {
    char *folder;
    struct catalogue *catalogue;
    struct report report;
    json_t *log, *run, *rules, *results;
};

/* Of DIR/results.jsonl, which is there. */
static void parsed_make(struct parsed *parsed)
{
    struct iwarp_sentence error = {""};
    const char *path = sample_path(parsed->folder, "results.sarif");

    ck_assert_msg(catalogue_load(&parsed->catalogue, &error) == 0, "%s", error.text);
    ck_assert_msg(
        report_load(&parsed->report, sample_path(parsed->folder, "results.jsonl"), parsed->catalogue, &error) == 0,
        "%s", error.text);
    ck_assert_msg(sarif_write(&parsed->report, PLACE(path), &error) == 0, "%s", error.text);
    parsed->log = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(parsed->log);
    parsed->run = json_array_get(json_object_get(parsed->log, "runs"), 0);
    parsed->rules = json_object_get(json_object_get(json_object_get(parsed->run, "tool"), "driver"), "rules");
    parsed->results = json_object_get(parsed->run, "results");
    ck_assert(json_is_array(parsed->rules) && json_is_array(parsed->results));
}

static void parsed_of_sample(struct parsed *parsed, int finished)
{
    *parsed = (struct parsed){.folder = sample_folder()};
    sample_results(parsed->folder, finished);
    parsed_make(parsed);
}

static void parsed_of(struct parsed *parsed, const struct run_info *info, const struct result *results, size_t count,
                      const struct run_summary *ending)
{
    struct iwarp_sentence error = {""};

    *parsed = (struct parsed){.folder = sample_folder()};
    struct results_log *log =
        results_log_create(PLACE(sample_path(parsed->folder, "results.jsonl")), info, NULL, &error);
    ck_assert_msg(log != NULL, "%s", error.text);
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(results_log_append(log, &results[i], &error) == 0, "%s", error.text);
    struct run_summary summary = *results_log_summary(log);
    if (ending) {
        summary.ended = ending->ended;
        summary.stopped = ending->stopped;
    }
    ck_assert_int_eq(results_log_finish(log, &summary, &error), 0);
    ck_assert_int_eq(results_log_close(log, &error), 0);
    parsed_make(parsed);
}

static void parsed_free(struct parsed *parsed)
{
    json_decref(parsed->log);
    report_free(&parsed->report);
    catalogue_free(parsed->catalogue);
    sample_remove(parsed->folder);
}

/* What `path` leads to: members by name, elements by number, parted by '/'. NULL: nothing there. */
static const json_t *at(const json_t *value, const char *path)
{
    char words[200], *rest = NULL;

    snprintf(words, sizeof(words), "%s", path);
    for (char *word = strtok_r(words, "/", &rest); word; word = strtok_r(NULL, "/", &rest))
        value = json_is_array(value) ? json_array_get(value, strtoul(word, NULL, 10)) : json_object_get(value, word);
    return value;
}

static const char *text_at(const json_t *value, const char *path)
{
    const char *text = json_string_value(at(value, path));

    ck_assert_msg(text != NULL, "no text at %s", path);
    return text;
}

static const json_t *result_of(const struct parsed *parsed, const char *id)
{
    for (size_t i = 0; i < json_array_size(parsed->results); i++) {
        const json_t *result = json_array_get(parsed->results, i);
        if (strcmp(text_at(result, "ruleId"), id) == 0)
            return result;
    }
    return NULL;
}

START_TEST(each_verdict_has_its_sarif_form)
{
    struct parsed parsed;

    parsed_of_sample(&parsed, 1);
    ck_assert_str_eq(text_at(parsed.log, "version"), "2.1.0");
    ck_assert_uint_eq(json_array_size(parsed.results), 5);
    ck_assert_str_eq(text_at(result_of(&parsed, "DDP-7.2-02"), "level"), "error");
    ck_assert_ptr_null(at(result_of(&parsed, "DDP-7.2-02"), "kind"));
    ck_assert_int_eq(json_integer_value(at(result_of(&parsed, "DDP-7.2-02"), "occurrenceCount")), 3);
    ck_assert_str_eq(text_at(result_of(&parsed, "MPA-4.5-05"), "level"), "warning");
    ck_assert_str_eq(text_at(result_of(&parsed, "MPA-4.5-11"), "level"), "note");
    ck_assert_str_eq(text_at(result_of(&parsed, "MPA-4.5-11"), "message/text"), "glossary");
    ck_assert_str_eq(text_at(result_of(&parsed, "MPA-7.1-02"), "level"), "none");
    ck_assert_str_eq(text_at(result_of(&parsed, "MPA-7.1-02"), "kind"), "open");
    ck_assert_ptr_null(result_of(&parsed, "MPA-7.1.2-05"));
    ck_assert_ptr_null(result_of(&parsed, "MPA-4.3-03"));
    parsed_free(&parsed);
}
END_TEST

/* One a requirement, from the catalogue; every result leads to its own. */
START_TEST(each_requirement_is_a_sarif_rule)
{
    struct parsed parsed;

    parsed_of_sample(&parsed, 1);
    ck_assert_uint_eq(json_array_size(parsed.rules), 7);
    for (size_t i = 0; i < json_array_size(parsed.rules); i++) {
        const json_t *rule = json_array_get(parsed.rules, i);
        const struct requirement *requirement = catalogue_find(parsed.catalogue, text_at(rule, "id"));

        ck_assert_ptr_nonnull(requirement);
        ck_assert_str_eq(text_at(rule, "properties/source"), requirement->source);
        ck_assert_str_eq(text_at(rule, "properties/section"), requirement->section);
        ck_assert_str_eq(text_at(rule, "properties/level"), requirement_level_name(requirement->level));
        (void)text_at(rule, "shortDescription/text");
        ck_assert_ptr_nonnull(strstr(text_at(rule, "fullDescription/text"), ". Allowed: "));
        if (requirement_is_should(requirement))
            ck_assert_str_eq(text_at(rule, "defaultConfiguration/level"), "warning");
        for (size_t k = 0; k < i; k++)
            ck_assert_str_ne(text_at(rule, "id"), text_at(json_array_get(parsed.rules, k), "id"));
    }
    for (size_t i = 0; i < json_array_size(parsed.results); i++) {
        const json_t *result = json_array_get(parsed.results, i);
        const json_t *rule = json_array_get(parsed.rules, (size_t)json_integer_value(at(result, "ruleIndex")));

        ck_assert_str_eq(text_at(result, "ruleId"), text_at(rule, "id"));
    }
    const json_t *both = NULL; /* roles are counted side by side */
    for (size_t i = 0; i < json_array_size(parsed.rules); i++)
        if (strcmp(text_at(json_array_get(parsed.rules, i), "id"), "MPA-7.1.2-05") == 0)
            both = json_array_get(parsed.rules, i);
    ck_assert_int_eq(json_integer_value(at(both, "properties/results/responder/PASS")), 1);
    ck_assert_int_eq(json_integer_value(at(both, "properties/results/initiator/PASS")), 1);
    parsed_free(&parsed);
}
END_TEST

START_TEST(sarif_names_the_places)
{
    struct parsed parsed;

    parsed_of_sample(&parsed, 1);
    const json_t *failure = result_of(&parsed, "DDP-7.2-02"), *warning = result_of(&parsed, "MPA-4.5-05");
    const json_t *artifacts = at(parsed.run, "artifacts");
    ck_assert_str_eq(text_at(warning, "attachments/0/artifactLocation/uri"), "evidence/a%20b.pcapng");
    ck_assert_str_eq(text_at(failure, "attachments/0/artifactLocation/uri"), "javascript%3Aalert%281%29");
    ck_assert_int_eq(json_integer_value(at(failure, "locations/0/properties/frame")), 9);
    ck_assert_str_eq(text_at(failure, "locations/0/logicalLocations/0/fullyQualifiedName"), sample_hostile_shown);
    ck_assert_int_eq(json_integer_value(at(failure, "properties/octets/offset")), 590);
    ck_assert_int_eq(json_integer_value(at(failure, "properties/octets/length")), 4);
    ck_assert_int_eq(json_integer_value(at(failure, "properties/octets/frame")), 10);
    size_t index = (size_t)json_integer_value(at(failure, "locations/0/physicalLocation/artifactLocation/index"));
    ck_assert_str_eq(text_at(json_array_get(artifacts, index), "location/uri"),
                     text_at(failure, "locations/0/physicalLocation/artifactLocation/uri"));
    /* The ladder: twelve steps, the tenth is the one that counts. */
    const json_t *steps = at(failure, "codeFlows/0/threadFlows/0/locations");
    ck_assert_uint_eq(json_array_size(steps), 12);
    ck_assert_str_eq(text_at(steps, "9/importance"), "essential");
    ck_assert_str_eq(text_at(steps, "8/importance"), "important");
    ck_assert_int_eq(strncmp(text_at(steps, "9/location/message/text"), "dut: <script>", 13), 0);
    parsed_free(&parsed);
}
END_TEST

START_TEST(sarif_describes_the_invocation)
{
    static const struct {
        const char *tool, *started, *ended, *stopped, *version;
        enum verdict verdict;
        int exit;
    } rows[] = {
        {"warpcheck 0.1.0", "2026-11-20T10:47:28Z", "2026-11-20T10:52:03Z", NULL, "0.1.0", VERDICT_PASS, 0},
        {"warpcheck 1.20.3-rc.1", NULL, NULL, NULL, "1.20.3-rc.1", VERDICT_FAIL, 1},
        {"warpcheck", "yesterday", "2026-11-20T10:52:03+", NULL, NULL, VERDICT_SKIP, 3},
        {"warpcheck 1.2.\"", NULL, NULL, NULL, NULL, VERDICT_INCONCLUSIVE, 4},
        {"warpcheck 0.1.0", NULL, NULL, "interrupted", "0.1.0", VERDICT_PASS, 4},
        {"warpcheck 0.1.0", NULL, NULL, "interrupted", "0.1.0", VERDICT_FAIL, 1},
    };
    struct run_info info = sample_info;
    struct run_summary ending = {.ended = rows[_i].ended, .stopped = rows[_i].stopped};
    const struct result result = {.id = "DDP-7.2-02", .verdict = rows[_i].verdict, .by = "check"};
    struct parsed parsed;

    ck_assert_int_lt(_i, (int)(sizeof(rows) / sizeof(rows[0])));
    info.tool = rows[_i].tool;
    info.started = rows[_i].started;
    parsed_of(&parsed, &info, &result, 1, &ending);
    const json_t *run = at(parsed.run, "invocations/0"), *driver = at(parsed.run, "tool/driver");
    ck_assert_str_eq(text_at(driver, "name"), "warpcheck");
    ck_assert_pstr_eq(json_string_value(at(driver, "semanticVersion")), rows[_i].version);
    ck_assert_int_eq(json_integer_value(at(run, "exitCode")), rows[_i].exit);
    ck_assert_int_eq(json_is_true(at(run, "executionSuccessful")), rows[_i].stopped == NULL);
    ck_assert_uint_eq(json_array_size(at(run, "toolExecutionNotifications")), rows[_i].stopped != NULL);
    if (_i == 0) {
        ck_assert_str_eq(text_at(run, "startTimeUtc"), rows[_i].started);
        ck_assert_str_eq(text_at(run, "endTimeUtc"), rows[_i].ended);
    } else { /* what is no time is left out: the schema would refuse it */
        ck_assert_ptr_null(at(run, "startTimeUtc"));
        ck_assert_ptr_null(at(run, "endTimeUtc"));
    }
    parsed_free(&parsed);
}
END_TEST

START_TEST(half_a_run_is_no_sarif_success)
{
    struct parsed parsed;

    parsed_of_sample(&parsed, 0);
    ck_assert(json_is_false(at(parsed.run, "invocations/0/executionSuccessful")));
    ck_assert_str_eq(text_at(parsed.run, "invocations/0/toolExecutionNotifications/0/level"), "error");
    parsed_free(&parsed);
}
END_TEST

START_TEST(unread_captures_are_sarif_notifications)
{
    struct parsed parsed = {.folder = sample_folder()};

    sample_audit(parsed.folder, _i == 0 ? VERDICT_PASS : VERDICT_FAIL);
    parsed_make(&parsed);
    ck_assert_uint_eq(json_array_size(at(parsed.run, "artifacts")), 3);
    ck_assert_str_eq(text_at(parsed.run, "artifacts/1/location/uri"), "dir/b%20c.pcap");
    const json_t *run = at(parsed.run, "invocations/0"), *reported = at(run, "toolExecutionNotifications");
    ck_assert(json_is_false(at(run, "executionSuccessful")));
    ck_assert_int_eq(json_integer_value(at(run, "exitCode")), _i == 0 ? EXIT_USAGE : EXIT_FAILS);
    ck_assert_uint_eq(json_array_size(reported), 2);
    ck_assert_str_eq(text_at(reported, "0/locations/0/physicalLocation/artifactLocation/uri"), "dir/b%20c.pcap");
    ck_assert_str_eq(text_at(reported, "0/message/text"), sample_hostile_shown);
    ck_assert_str_eq(text_at(reported, "1/level"), "error");
    parsed_free(&parsed);
}
END_TEST

START_TEST(known_deviation_is_suppressed_in_sarif)
{
    const struct result results[] = {
        {.id = "DDP-7.2-02",
         .verdict = VERDICT_KNOWN,
         .by = "check",
         .finding = "8: too long",
         .deviation = "reported upstream",
         .review_by = "2027-06-30"},
        {.id = "MPA-4.5-05", .verdict = VERDICT_WARN, .by = "rule"},
    };
    struct parsed parsed;

    parsed_of(&parsed, &sample_info, results, 2, NULL);
    const json_t *known = result_of(&parsed, "DDP-7.2-02");
    ck_assert_str_eq(text_at(known, "level"), "error");
    ck_assert_str_eq(text_at(known, "suppressions/0/kind"), "external");
    ck_assert_str_eq(text_at(known, "suppressions/0/status"), "accepted");
    ck_assert_str_eq(text_at(known, "suppressions/0/justification"),
                     "8: too long; reported upstream; review by 2027-06-30");
    ck_assert_str_eq(text_at(known, "properties/finding"), "8: too long");
    ck_assert_int_eq(json_integer_value(at(parsed.run, "invocations/0/exitCode")), EXIT_KNOWN);
    ck_assert_ptr_null(at(result_of(&parsed, "MPA-4.5-05"), "suppressions"));
    parsed_free(&parsed);
}
END_TEST

/* A peer's text becomes neither a placeholder nor a link. */
START_TEST(messages_are_inert)
{
    const struct result result = {
        .id = "DDP-7.2-02", .verdict = VERDICT_FAIL, .by = "check", .message = "{0} [click](http://x) [a]  (b) }\x1b"};
    struct parsed parsed;

    parsed_of(&parsed, &sample_info, &result, 1, NULL);
    ck_assert_str_eq(text_at(result_of(&parsed, "DDP-7.2-02"), "message/text"),
                     "{{0}} [click] (http://x) [a]  (b) }}\xe2\x90\x9b");
    parsed_free(&parsed);
    parsed_of_sample(&parsed, 1);
    ck_assert_ptr_nonnull(strstr(text_at(result_of(&parsed, "DDP-7.2-02"), "message/text"), sample_hostile_shown));
    ck_assert_str_eq(text_at(result_of(&parsed, "DDP-7.2-02"), "properties/actual"), sample_hostile_shown);
    parsed_free(&parsed);
}
END_TEST

START_TEST(octets_of_the_frame)
{
    struct result result = {
        .id = "DDP-7.2-02", .verdict = VERDICT_FAIL, .by = "rule", .file = "a.pcap", .offset = 0, .octets = 60};
    struct parsed parsed;

    parsed_of(&parsed, &sample_info, &result, 1, NULL);
    const json_t *region = at(parsed.results, "0/locations/0/physicalLocation/region");
    ck_assert_int_eq(json_integer_value(at(region, "byteOffset")), 0);
    ck_assert_int_eq(json_integer_value(at(region, "byteLength")), 60);
    parsed_free(&parsed);
    result.octets = 0;
    result.offset = 7;
    parsed_of(&parsed, &sample_info, &result, 1, NULL);
    ck_assert_ptr_null(at(parsed.results, "0/locations/0/physicalLocation/region"));
    parsed_free(&parsed);
}
END_TEST

static void fingerprint(const struct run_info *info, const struct result *result, char print[20])
{
    struct parsed parsed;

    parsed_of(&parsed, info, result, 1, NULL);
    snprintf(print, 20, "%s",
             json_string_value(json_object_get(at(parsed.results, "0/partialFingerprints"), "warpcheckFinding/v1")));
    parsed_free(&parsed);
}

START_TEST(fingerprint_names_the_finding)
{
    struct run_info audit = sample_info;
    struct result result = {.id = "DDP-7.2-02",
                            .verdict = VERDICT_FAIL,
                            .by = "rule",
                            .file = "a/b.pcap",
                            .flow = "10.0.0.1:1>10.0.0.2:2",
                            .frame = 7,
                            .message = "x"};
    char first[20], second[20];

    audit.command = "audit";
    fingerprint(&audit, &result, first);
    ck_assert_uint_eq(strlen(first), 16);
    /* Another time, place, frame and wording: the same finding. */
    audit.started = "2027-01-01T00:00:00Z";
    result.file = "/elsewhere/b.pcap";
    result.frame = 9;
    result.message = "y";
    fingerprint(&audit, &result, second);
    ck_assert_str_eq(first, second);
    /* Another flow, role, capture, requirement: another. */
    struct result other = result;
    other.flow = "10.0.0.1:1>10.0.0.2:3";
    fingerprint(&audit, &other, second);
    ck_assert_str_ne(first, second);
    other = result;
    other.role = "initiator";
    fingerprint(&audit, &other, second);
    ck_assert_str_ne(first, second);
    other = result;
    other.file = "c.pcap";
    fingerprint(&audit, &other, second);
    ck_assert_str_ne(first, second);
    other = result;
    other.id = "DDP-7.2-03";
    fingerprint(&audit, &other, second);
    ck_assert_str_ne(first, second);
    /* Of a live run the tester's ports are no part of it. */
    fingerprint(&sample_info, &result, first);
    result.flow = "10.0.0.1:1>10.0.0.2:3";
    fingerprint(&sample_info, &result, second);
    ck_assert_str_eq(first, second);
}
END_TEST

/* Of very many findings the first are listed, and it is said how many are not. */
START_TEST(list_of_sarif_findings_is_bounded)
{
    struct result results[REPORT_KEPT_RESULTS + 5];
    char flows[REPORT_KEPT_RESULTS + 5][40];
    struct parsed parsed;
    size_t count = sizeof(results) / sizeof(results[0]);

    for (size_t i = 0; i < count; i++) {
        snprintf(flows[i], sizeof(flows[i]), "10.0.0.1:%zu>10.0.0.2:1", i);
        results[i] = (struct result){.id = "DDP-7.2-02", .verdict = VERDICT_FAIL, .by = "rule", .flow = flows[i]};
    }
    parsed_of(&parsed, &sample_info, results, count, NULL);
    ck_assert_uint_eq(json_array_size(parsed.results), REPORT_KEPT_RESULTS);
    ck_assert_int_eq(json_integer_value(at(parsed.rules, "0/properties/results/either/FAIL")), (json_int_t)count);
    ck_assert_int_eq(
        strncmp(text_at(parsed.run, "invocations/0/toolExecutionNotifications/0/message/text"), "5 more findings", 15),
        0);
    parsed_free(&parsed);
}
END_TEST

static const struct {
    const char *path, *uri;
} uris[] = {
    {"", ""},
    {"a.pcap", "a.pcap"},
    {"./a//b/./c.pcap", "a/b/c.pcap"},
    {"/tmp/a b.pcap", "file:///tmp/a%20b.pcap"},
    {"//host/x", "file:///host/x"},
    {"javascript:alert", "javascript%3Aalert"},
    {"\xc3\xbc#?%", "%C3%BC%23%3F%25"},
    {"../x", "../x"},
};

START_TEST(paths_as_uris)
{
    char *uri = uri_of_path(uris[_i].path);

    ck_assert_str_eq(uri, uris[_i].uri);
    free(uri);
}
END_TEST

START_TEST(sarif_reports_a_full_disk)
{
    struct parsed parsed;
    struct iwarp_sentence error = {""};

    parsed_of_sample(&parsed, 1);
    ck_assert_int_eq(sarif_write(&parsed.report, PLACE("/dev/full"), &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "/dev/full: cannot write"));
    ck_assert_int_eq(sarif_write(&parsed.report, PLACE(sample_path(parsed.folder, "none/results.sarif")), &error), -1);
    parsed_free(&parsed);
}
END_TEST

Suite *sarif_suite(void)
{
    Suite *suite = suite_create("sarif");
    TCase *sarif = tcase_create("sarif");

    tcase_add_test(sarif, each_verdict_has_its_sarif_form);
    tcase_add_test(sarif, each_requirement_is_a_sarif_rule);
    tcase_add_test(sarif, sarif_names_the_places);
    tcase_add_loop_test(sarif, sarif_describes_the_invocation, 0, 6);
    tcase_add_test(sarif, half_a_run_is_no_sarif_success);
    tcase_add_loop_test(sarif, unread_captures_are_sarif_notifications, 0, 2);
    tcase_add_test(sarif, known_deviation_is_suppressed_in_sarif);
    tcase_add_test(sarif, messages_are_inert);
    tcase_add_test(sarif, octets_of_the_frame);
    tcase_add_test(sarif, fingerprint_names_the_finding);
    tcase_add_test(sarif, list_of_sarif_findings_is_bounded);
    tcase_add_loop_test(sarif, paths_as_uris, 0, sizeof(uris) / sizeof(uris[0]));
    tcase_add_test(sarif, sarif_reports_a_full_disk);
    suite_add_tcase(suite, sarif);
    return suite;
}
