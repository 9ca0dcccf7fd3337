/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck report: results.jsonl into something to read. */
#include "conformance/engine/report/cmd_report.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance/engine/option/option_unknown.h"
#include "conformance/engine/script/coverage.h"
#include "conformance/engine/report/report_diff.h"
#include "conformance/engine/report/report_input.h"
#include "conformance/engine/report/report_matrix.h"
#include "conformance/engine/report/report_merge.h"
#include "conformance/engine/report/report_site.h"
#include "conformance/engine/report/report_text.h"
#include "conformance/engine/option/review_day.h"
#include "conformance/engine/option/run_confine.h"
#include "conformance/engine/option/utc_text.h"
#include "conformance/requirements/catalogue.h"
#include "reference-stack/program/complaint.h"
#include "reports/format.h"
#include "reports/known.h"
#include "reports/report.h"
#include "reports/results_log.h"
#include "reports/statement.h"
#include "wire/exit_status.h"

enum { REVIEW_DAYS = 182 }; /* of known deviations that --known prints */

struct options {
    const struct report_format *format; /* NULL: all standing ones, or text */
    bool text;
    bool matrix, merge, diff, site, accept_known, force;
    const char *statement; /* --statement: a document; NULL */
    bool known;
    report_diff_writer *diff_format; /* with --diff */
    unsigned fails;                  /* with --diff: kinds of differences, as bits */
    char **inputs;                   /* in argv's own order; room for all arguments */
    size_t input_count;
    const char *output;
};

static void usage(void)
{
    char files[200], names[200];

    printf("usage: warpcheck report DIR|FILE [OPTION...]\n"
           "       warpcheck report --matrix [NAME=]DIR|FILE... [-o OUT]\n"
           "       warpcheck report --merge DIR|FILE... -o OUT [--force]\n"
           "       warpcheck report --diff [NAME=]OLD [NAME=]NEW... [--fail-on KINDS] [-o OUT]\n"
           "       warpcheck report --site DIR|TABLE -o OUT\n"
           "       warpcheck report --statement SOURCE DIR|FILE [-o OUT]\n"
           "       warpcheck report --known DIR|FILE [-o OUT]\n"
           "  Makes the reports of a run or audit again from its results.jsonl. Without --format, it writes to the "
           "same folder:\n"
           "  %s.\n"
           "  --format F         %s (text: findings with ladder diagrams, on standard output;\n"
           "                     md: a summary in Markdown; tap13: for consumers that support only TAP 13)\n",
           report_format_files(files, sizeof(files)), report_format_names("text", names, sizeof(names)));
    fputs(
        "  --matrix           compares several runs on one page (matrix.html), one column for each, with links to "
        "their pages\n"
        "  --merge            joins several runs of one device, or all shards of one run (--shard), into one report in "
        "the\n"
        "                     folder OUT; exit status as that of a run: 0 conforms, 1 fails, 3 nothing was decided, 4\n"
        "                     inconclusive or a shard is missing, 5 deviates as known\n"
        "  --diff             compares each run with the next and lists what is new, changed, vanished, fixed or "
        "added;\n"
        "                     --format text, md, jsonl or html (without it: by the ending of OUT); exit status 1 where "
        "the\n"
        "                     last step has what --fail-on names\n"
        "  --fail-on KINDS    with --diff: any, none, or a list such as new,changed (new,vanished)\n"
        "  --site             makes a static site in the folder OUT: requirements by implementation, findings, history "
        "and\n"
        "                     evidence of the runs that DIR/site.tsv names (columns stack, version, run, findings)\n"
        "  --statement SOURCE  a conformance statement to give away, as a page: each requirement of a document "
        "(RFC5044, ...; "
        "all) with\n"
        "                     its verdict, the evidence, and why what is not decided is not; the device, and a place "
        "to "
        "sign\n"
        "  --known            prints what the device broke as known_deviations of a profile, to be reviewed in half a "
        "year\n"
        "  --accept-known     with --merge: exits with 0 instead of 5\n"
        "  --force            with --merge: removes the files that an earlier command wrote to OUT, which must be "
        "empty\n"
        "                     otherwise\n"
        "  -o OUT             file to write; - is standard output\n"
        "  --help             shows this text\n",
        stdout);
}

/* What --format names, when it is known what is to be made. */
static int format_set(struct options *options, const char *value, struct sentence *error)
{
    char names[200];

    if (options->diff) {
        const char *ending = value == NULL && options->output != NULL ? strrchr(options->output, '.') : NULL;

        if (ending != NULL && report_diff_format(ending + 1) != NULL)
            value = ending + 1;
        options->diff_format = report_diff_format(value);
        return options->diff_format != NULL
                   ? 0
                   : sentence_set(error, "--format \"%.40s\" is unknown to --diff, %s was expected", value,
                                  report_diff_formats);
    }
    if (value == NULL)
        return 0;
    options->format = report_format_find(value);
    options->text = strcmp(value, "text") == 0;
    if (options->format || options->text)
        return 0;
    return sentence_set(error, "--format \"%.40s\" is unknown, %s was expected", value,
                        report_format_names("text", names, sizeof(names)));
}

/* The value of an option: what stands after it. */
static const char *value_of(char **argv, int *i, int argc)
{
    return *i + 1 < argc ? argv[++*i] : NULL;
}

/* The command line's words; `format` and `fail_on`: the values of these options, NULL without. */
static int words_read(struct options *options, int argc, char **argv, const char **format, const char **fail_on,
                      struct sentence *error)
{
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i];

        if (strncmp(argument, "--format=", 9) == 0) {
            *format = argument + 9;
        } else if (strcmp(argument, "--format") == 0) {
            if ((*format = value_of(argv, &i, argc)) == NULL)
                *format = "";
        } else if (strcmp(argument, "--fail-on") == 0) {
            if ((*fail_on = value_of(argv, &i, argc)) == NULL)
                *fail_on = "";
        } else if (strcmp(argument, "--statement") == 0) {
            options->statement = value_of(argv, &i, argc);
            if (options->statement == NULL)
                return sentence_set(error, "--statement needs a document, such as RFC5044, or all");
        } else if (strcmp(argument, "--known") == 0) {
            options->known = true;
        } else if (strcmp(argument, "--matrix") == 0) {
            options->matrix = true;
        } else if (strcmp(argument, "--merge") == 0) {
            options->merge = true;
        } else if (strcmp(argument, "--diff") == 0) {
            options->diff = true;
        } else if (strcmp(argument, "--site") == 0) {
            options->site = true;
        } else if (strcmp(argument, "--accept-known") == 0) {
            options->accept_known = true;
        } else if (strcmp(argument, "--force") == 0) {
            options->force = true;
        } else if (strcmp(argument, "-o") == 0) {
            options->output = value_of(argv, &i, argc);
            if (options->output == NULL)
                return sentence_set(error, "-o needs a file name");
        } else if (argument[0] == '-' && argument[1] != '\0') {
            return option_unknown("report", argument, NULL, NULL, error);
        } else {
            options->inputs[options->input_count++] = argv[i];
        }
    }
    return 0;
}

/* Options that need others, or exclude them. */
static int kinds_check(const struct options *options, const char *fail_on, struct sentence *error)
{
    if (options->input_count == 0)
        return sentence_set(error, "no run is named: name its output folder or its results.jsonl");
    if (options->matrix + options->merge + options->diff + options->site > 1)
        return sentence_set(error, "--matrix, --merge, --diff and --site exclude each other: --matrix shows runs side "
                                   "by side, --merge joins them, --diff lists what differs, --site publishes them");
    if ((options->statement != NULL || options->known) &&
        (options->statement != NULL) + options->known + options->matrix + options->merge + options->diff +
                options->site + (options->format || options->text) + (options->input_count != 1) >
            1)
        return sentence_set(error, "--statement and --known are each of one run, and exclude other kinds of reports");
    if (options->site && (options->output == NULL || options->format || options->text))
        return sentence_set(error, "--site needs -o OUT, a folder, and excludes --format: it writes HTML pages");
    if (fail_on != NULL && !options->diff)
        return sentence_set(error, "--fail-on needs --diff: without it, report decides nothing");
    if (options->diff && options->input_count < 2)
        return sentence_set(error, "--diff needs two runs at least, an older and a newer one");
    if (options->merge && (options->output == NULL || options->format || options->text))
        return sentence_set(error, "--merge needs -o OUT, a folder, and excludes --format: it writes all reports");
    if (options->accept_known && !options->merge)
        return sentence_set(error, "--accept-known needs --merge: without it, report decides nothing");
    if (options->force && !options->merge)
        return sentence_set(error, "--force needs --merge: without it, a report always replaces an older one");
    if (options->matrix && (options->format || options->text))
        return sentence_set(error, "--matrix excludes --format: a matrix is always HTML");
    return 0;
}

static int arguments_parse(struct options *options, int argc, char **argv, struct sentence *error)
{
    const char *format = NULL, *fail_on = NULL;
    char names[200];

    if (words_read(options, argc, argv, &format, &fail_on, error) != 0 || format_set(options, format, error) != 0 ||
        kinds_check(options, fail_on, error) != 0)
        return -1;
    if (options->diff)
        return report_diff_fails(fail_on != NULL ? fail_on : "new,vanished", &options->fails, error);
    if (options->merge || options->matrix)
        return 0;
    if (options->input_count > 1)
        return sentence_set(
            error,
            "one folder or results.jsonl was expected (several only with --matrix, --merge and --diff); "
            "%.100s is one more",
            options->inputs[1]);
    if (options->output && options->text && strcmp(options->output, "-") != 0)
        return sentence_set(error, "--format text excludes -o %.100s: it goes to standard output", options->output);
    if (options->output && !options->format && !options->text && !options->site && !options->statement &&
        !options->known)
        return sentence_set(error, "-o needs --format %s", report_format_names("", names, sizeof(names)));
    return 0;
}

/* "DIR/name", malloc'd. */
static char *beside(const char *dir, const char *name)
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
        *results = beside(input, "results.jsonl");
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

static int output_check(const struct options *options, struct sentence *error)
{
    for (size_t i = 0; options->output && i < options->input_count; i++) {
        const char *input = options->inputs[i], *equals = options->matrix || options->diff ? strchr(input, '=') : NULL;

        if (destroys(options->output, input) || (equals != NULL && destroys(options->output, equals + 1)))
            return sentence_set(error,
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
static int write_one(const struct options *options, const struct report *report, const struct report_coverage *coverage,
                     struct sentence *error)
{
    struct place to = place_at(options->output);
    int rc = options->format->write(report, coverage, &to, error);

    if (rc == 0)
        say_path(to.path);
    return rc;
}

/* One report, or all standing ones, in the folder of the results. */
static int write_beside(const struct options *options, const struct report *report,
                        const struct report_coverage *coverage, const char *dir, struct sentence *error)
{
    struct folder_config config = {.path = dir, .use = FOLDER_AGAIN};
    struct folder *folder;
    int rc = folder_take(&folder, &config, error);

    if (rc != 0)
        return rc;
    if (options->format) {
        struct place to = folder_place(folder, options->format->file);

        rc = options->format->write(report, coverage, &to, error);
        if (rc == 0)
            say_path(to.path);
    } else {
        rc = report_formats_write(report, coverage, folder, say_path, error);
    }
    folder_leave(folder);
    return rc;
}

/* Into the named file; without one a statement goes beside the results, and known deviations to standard output. */
static int write_statement(const struct options *options, const struct report *report,
                           const struct report_coverage *coverage, const char *dir, struct sentence *error)
{
    char *path = options->output != NULL ? strdup(options->output)
                 : options->known        ? strdup("-")
                                         : beside(dir, "statement.html");
    struct place to = place_at(path != NULL ? path : "-");
    char today[UTC_TEXT_OCTETS], review_by[DAY_TEXT_OCTETS];
    int rc;

    (void)utc_text(today);
    today[10] = '\0';
    if (path == NULL)
        rc = sentence_set(error, "out of memory");
    else if (options->known)
        rc = statement_known(report, day_after(today, REVIEW_DAYS, review_by), &to, error);
    else
        rc = statement_write(report, coverage, options->statement, &to, error);
    if (rc == 0)
        say_path(to.path);
    free(path);
    return rc;
}

static int write_files(const struct options *options, const struct report *report, const char *dir)
{
    struct coverage_index *index = NULL;
    struct sentence error;
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
        rc = write_beside(options, report, &coverage, dir, &error);
    coverage_free(index);
    if (rc == STATEMENT_NO_DOCUMENT)
        return complain(EXIT_USAGE, "%s", error.text);
    return rc == 0 ? EXIT_DONE : complain(EXIT_ENVIRONMENT, "%s", error.text);
}

static int write_site(const struct options *options)
{
    struct coverage_index *index = NULL;
    struct sentence error;
    int status;

    if (coverage_load(&index, &error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    status = report_site(options->inputs[0], options->output, &(struct report_coverage){covers, index});
    coverage_free(index);
    return status;
}

static int write_matrix(const struct options *options)
{
    const char *output = options->output ? options->output : "matrix.html";
    struct sentence error;
    int rc = report_matrix(options->inputs, options->input_count, output, &error);

    if (rc != 0)
        return complain(rc == -1 ? EXIT_USAGE : EXIT_ENVIRONMENT, "%s", error.text);
    if (strcmp(output, "-") != 0)
        print_plain(stdout, "%s", output);
    return EXIT_DONE;
}

/* One run: its reports again. */
static int write_again(const struct options *options)
{
    struct catalogue *catalogue = NULL;
    struct report report;
    struct sentence error;
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

int cmd_report(int argc, char **argv)
{
    struct options options = {0};
    struct sentence error;
    int status;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0) {
            usage();
            return EXIT_DONE;
        }
    options.inputs = calloc((size_t)argc + 1, sizeof(*options.inputs));
    if (options.inputs == NULL)
        return complain(EXIT_ENVIRONMENT, "out of memory");
    if (arguments_parse(&options, argc, argv, &error) != 0 || output_check(&options, &error) != 0)
        status = complain(EXIT_USAGE, "%s", error.text);
    else if (run_confine("/", 0,
                         report_inputs_need(options.inputs, options.input_count, options.matrix || options.diff,
                                            options.output),
                         &error) != 0) /* results may come from anywhere */
        status = complain(EXIT_ENVIRONMENT, "%s", error.text);
    else if (options.matrix)
        status = write_matrix(&options);
    else if (options.diff)
        status = report_diff(options.inputs, options.input_count, options.diff_format, options.fails,
                             options.output ? options.output : "-");
    else if (options.site)
        status = write_site(&options);
    else if (options.merge)
        status = report_merge(options.inputs, options.input_count,
                              &(struct report_merge_output){options.output, options.accept_known, options.force});
    else
        status = write_again(&options);
    free(options.inputs);
    return status;
}

int engine_write_reports(const struct place *results, struct folder *output, const struct report_format *shown,
                         const struct catalogue *catalogue, struct sentence *error)
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
        rc = report_formats_write(&report, &coverage, output, NULL, error);
    if (shown != NULL && shown->write(&report, &coverage, &standard_output, rc == 0 ? error : NULL) != 0)
        rc = -1;
    coverage_free(index);
    report_free(&report);
    return rc;
}
