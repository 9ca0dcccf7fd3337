/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck report: results.jsonl into something to read. */
#include "conformance/engine/report/cmd_report.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance/engine/plan/coverage.h"
#include "conformance/engine/report/report_bundle.h"
#include "conformance/engine/report/report_diff.h"
#include "conformance/engine/report/report_input.h"
#include "conformance/engine/report/report_matrix.h"
#include "conformance/engine/report/report_merge.h"
#include "conformance/engine/report/report_options.h"
#include "conformance/engine/report/report_reproducer.h"
#include "conformance/engine/report/report_site.h"
#include "conformance/engine/report/report_text.h"
#include "conformance/engine/report/report_verify.h"
#include "conformance/engine/report/statement_pdf.h"
#include "conformance/engine/option/review_day.h"
#include "conformance/engine/process/run_confine.h"
#include "conformance/engine/option/utc_text.h"
#include "conformance/requirements/catalogue.h"
#include "reference-stack/program/complaint.h"
#include "reports/folder/digests.h"
#include "reports/writers/format.h"
#include "reports/folder/folder_reports.h"
#include "reports/results/known.h"
#include "reports/results/report.h"
#include "reports/results/results_log.h"
#include "reports/page/statement.h"
#include "base/exit_status.h"

enum { REVIEW_DAYS = 182 }; /* of known deviations that --known prints */

/* "DIR/name", malloc'd. */
static char *path_in(const char *dir, const char *name)
{
    char *path = malloc(strlen(dir) + strlen(name) + 2);

    if (path)
        sprintf(path, "%s/%s", dir, name);
    return path;
}

int results_paths(const char *input, char **results, char **dir)
{
    struct stat status;
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): without an input the arguments were refused */
    const char *slash = strrchr(input, '/');

    if (stat(input, &status) == 0 && S_ISDIR(status.st_mode)) {
        *results = path_in(input, "results.jsonl");
        *dir = strdup(input);
    } else {
        *results = strdup(input);
        *dir = slash ? strndup(input, slash == input ? 1 : (size_t)(slash - input)) : strdup(".");
    }
    return *results && *dir ? 0 : -1;
}

/* Whether `output` is the file that a report of `input` is made from: to write there would destroy the run. */
static bool destroys(const char *output, const char *input)
{
    struct stat to, from;
    char *results = NULL, *dir = NULL;
    bool same = results_paths(input, &results, &dir) == 0 && stat(output, &to) == 0 && stat(results, &from) == 0 &&
                to.st_dev == from.st_dev && to.st_ino == from.st_ino;

    free(results);
    free(dir);
    return same;
}

static int output_check(const struct report_options *options, struct iwarp_sentence *error)
{
    for (size_t i = 0; options->output && i < options->input_count; i++) {
        const char *input = options->inputs[i], *equals = options->matrix || options->diff ? strchr(input, '=') : NULL;

        if (destroys(options->output, input) || (equals != NULL && destroys(options->output, equals + 1)))
            return iwarp_sentence_set(error,
                                      "-o %.100s contains the results from which the report is made; name another file",
                                      options->output);
    }
    return 0;
}

static bool covers(void *user, const char *id)
{
    struct coverage coverage;

    coverage_of(user, id, &coverage);
    return coverage.check_path != NULL || coverage.rule_name != NULL;
}

static void say_path(const char *path)
{
    if (strcmp(path, "-") != 0)
        print_plain(stdout, "%s", path);
}

/* One report, elsewhere. */
static int write_one(const struct report_options *options, const struct report *report,
                     const struct report_coverage *coverage, struct iwarp_sentence *error)
{
    struct place to = place_at(options->output);
    int rc = options->format->write(report, coverage, &to, error);

    if (rc == 0)
        say_path(to.path);
    return rc;
}

/* One report, or all standing ones, in the folder of the results. */
static int write_reports(const struct report_options *options, const struct report *report,
                         const struct report_coverage *coverage, const char *dir, struct iwarp_sentence *error)
{
    struct folder_config config = {.path = dir, .use = FOLDER_AGAIN};
    struct folder *folder;
    int rc = folder_claim(&folder, &config, error);

    if (rc != 0)
        return rc;
    if (options->format) {
        struct place to = folder_place(folder, options->format->file);

        rc = options->format->write(report, coverage, &to, error);
        if (rc == 0)
            say_path(to.path);
    } else {
        rc = folder_write_reports(report, coverage, folder, say_path, error);
    }
    folder_leave(folder);
    return rc;
}

/*
 * Writes into the named file. Without a name, a statement goes into the folder of the results, and known deviations go
 * to standard output.
 */
static int write_statement(const struct report_options *options, const struct report *report,
                           const struct report_coverage *coverage, const char *dir, struct iwarp_sentence *error)
{
    char *path = options->output != NULL ? strdup(options->output)
                 : options->known        ? strdup("-")
                                         : path_in(dir, "statement.html");
    struct place to = place_at(path != NULL ? path : "-");
    char today[UTC_TEXT_OCTETS], review_by[DAY_TEXT_OCTETS];
    int rc;

    (void)utc_text(today);
    today[10] = '\0';
    if (path == NULL)
        rc = iwarp_sentence_set(error, "out of memory");
    else if (options->known)
        rc = statement_known(report, day_after(today, REVIEW_DAYS, review_by), &to, error);
    else
        rc = statement_write(report, coverage, options->statement, &to, error);
    if (rc == 0)
        say_path(to.path);
    free(path);
    return rc;
}

static int write_files(const struct report_options *options, const struct report *report, const char *dir)
{
    struct coverage_index *index = NULL;
    struct iwarp_sentence error;
    int rc;

    if (coverage_load(&index, &error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    struct report_coverage coverage = {covers, index};
    if (*report->note)
        (void)complain(0, "%s", report->note);
    if (options->statement != NULL || options->known)
        rc = write_statement(options, report, &coverage, dir, &error);
    else if (options->format && options->output)
        rc = write_one(options, report, &coverage, &error);
    else
        rc = write_reports(options, report, &coverage, dir, &error);
    coverage_free(index);
    if (rc == STATEMENT_NO_DOCUMENT)
        return complain(EXIT_USAGE, "%s", error.text);
    return rc == 0 ? EXIT_DONE : complain(EXIT_ENVIRONMENT, "%s", error.text);
}

static int write_site(const struct report_options *options, const struct report_coverage *coverage)
{
    return report_site(options->inputs[0], options->output, coverage);
}

static int write_bundle(const struct report_options *options, const struct report_coverage *coverage)
{
    return report_bundle(options->inputs[0], options->bundle, options->bundle_count, coverage, options->output);
}

/* What needs to know which requirements something decides. */
static int with_coverage(const struct report_options *options,
                         int (*write)(const struct report_options *, const struct report_coverage *))
{
    struct coverage_index *index = NULL;
    struct iwarp_sentence error;
    int status;

    if (coverage_load(&index, &error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    status = write(options, &(struct report_coverage){covers, index});
    coverage_free(index);
    return status;
}

static int write_matrix(const struct report_options *options)
{
    const char *output = options->output ? options->output : "matrix.html";
    struct iwarp_sentence error;
    int rc = report_matrix(options->inputs, options->input_count, output, &error);

    if (rc != 0)
        return complain(rc == -1 ? EXIT_USAGE : EXIT_ENVIRONMENT, "%s", error.text);
    if (strcmp(output, "-") != 0)
        print_plain(stdout, "%s", output);
    return EXIT_DONE;
}

/* One run: its reports again. */
static int remake_reports(const struct report_options *options)
{
    struct catalogue *catalogue = NULL;
    struct report report;
    struct iwarp_sentence error;
    char *results = NULL, *dir = NULL;
    int status;

    if (results_paths(options->inputs[0], &results, &dir) != 0) {
        status = complain(EXIT_ENVIRONMENT, "out of memory");
    } else if (catalogue_load(&catalogue, &error) != 0) {
        status = complain(EXIT_ENVIRONMENT, "%s", error.text);
    } else if (options->text) {
        status = report_text(results, catalogue);
    } else if (report_load(&report, results, catalogue, &error) != 0) {
        status = complain(EXIT_USAGE, "%s", error.text);
    } else {
        status = write_files(options, &report, dir);
        report_free(&report);
    }
    catalogue_free(catalogue);
    free(results);
    free(dir);
    return status;
}

/* Makes the report. Results may come from strangers, so the process gives up its rights before it reads them. */
static int make_report(const struct report_options *options)
{
    struct iwarp_sentence error;

    if (run_confine("/", 0,
                    report_inputs_need(options->inputs, options->input_count, options->matrix || options->diff,
                                       options->output),
                    &error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    if (options->matrix)
        return write_matrix(options);
    if (options->diff)
        return report_diff(options->inputs, options->input_count, options->diff_format, options->fails,
                           options->output ? options->output : "-");
    if (options->site)
        return with_coverage(options, write_site);
    if (options->verify)
        return report_verify(options->inputs[0]);
    if (options->reproducer != NULL)
        return report_reproducer(options->inputs[0], options->inputs[1],
                                 options->output != NULL ? options->output : "-");
    if (options->bundle_count != 0)
        return with_coverage(options, write_bundle);
    if (options->merge)
        return report_merge(options->inputs, options->input_count,
                            &(struct report_merge_output){options->output, options->accept_known, options->force});
    return remake_reports(options);
}

static int write_page(void *user, const char *page)
{
    struct report_options *options = user;

    options->output = page;
    return make_report(options);
}

int cmd_report(int argc, char **argv)
{
    struct report_options options = {0};
    struct iwarp_sentence error;
    int status;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0) {
            (void)report_usage(stdout);
            return EXIT_DONE;
        }
    options.inputs = calloc(2 * (size_t)argc + 2, sizeof(*options.inputs));
    options.bundle = options.inputs != NULL ? options.inputs + argc + 1 : NULL;
    if (options.inputs == NULL)
        return complain(EXIT_ENVIRONMENT, "out of memory");
    if (report_options_parse(&options, argc, argv, &error) != 0 || output_check(&options, &error) != 0)
        status = complain(EXIT_USAGE, "%s", error.text);
    else if (options.statement != NULL && statement_is_pdf(options.output))
        status = statement_pdf(options.output, write_page, &options);
    else
        status = make_report(&options);
    free(options.inputs);
    return status;
}

int engine_write_reports(const struct place *results, struct folder *output, const struct report_format *shown,
                         const struct catalogue *catalogue, struct iwarp_sentence *error)
{
    struct place standard_output = place_at("-");
    struct coverage_index *index = NULL;
    struct report report;
    int rc = 0;

    if (output == NULL && shown == NULL)
        return 0;
    if (report_load_place(&report, results, catalogue, error) != 0)
        return -1;
    if (coverage_load(&index, error) != 0) {
        report_free(&report);
        return -1;
    }
    struct report_coverage coverage = {covers, index};
    if (output != NULL)
        rc = folder_write_reports(&report, &coverage, output, NULL, error);
    if (output != NULL && digests_write(output, rc == 0 ? error : NULL) != 0)
        rc = -1;
    if (shown != NULL && shown->write(&report, &coverage, &standard_output, rc == 0 ? error : NULL) != 0)
        rc = -1;
    coverage_free(index);
    report_free(&report);
    return rc;
}
