/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/report/report_options.h"

#include <stdio.h>
#include <string.h>

#include "reference-stack/program/option_table.h"

static const char *format_names(char *text, size_t room)
{
    return report_format_names("text", text, room);
}

static int parse_bundle(void *user, const char *value, struct iwarp_sentence *error)
{
    struct report_options *options = user;

    (void)error;
    options->bundle[options->bundle_count++] = (char *)value;
    return 0;
}

#define MEMBER(name) offsetof(struct report_options, name)

/* clang-format off */
static const struct option_row rows[] = {
    {"  --format F         %s (text: findings with ladder diagrams, on standard output;\n"
     "                     md: a summary in Markdown; tap13: for consumers that support only TAP 13)\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(format_given), .names = format_names},
    {"  --matrix           compares several runs on one page (matrix.html), one column for each, with links to their pages\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(matrix)},
    {"  --merge            joins several runs of one device, or all shards of one run (--shard), into one report in the\n"
     "                     folder OUT; exit status as that of a run: 0 conforms, 1 fails, 3 nothing was decided, 4\n"
     "                     inconclusive or a shard is missing, 5 deviates as known\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(merge)},
    {"  --diff             compares each run with the next and lists what is new, changed, vanished, fixed or added;\n"
     "                     --format text, md, jsonl or html (without it: by the ending of OUT); exit status 1 where the\n"
     "                     last step has what --fail-on names\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(diff)},
    {"  --fail-on KINDS    with --diff: any, none, or a list such as new,changed (new,vanished)\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(fail_on)},
    {"  --site             makes a static site in the folder OUT: requirements by implementation, findings, history and\n"
     "                     evidence of the runs that DIR/site.tsv names (columns stack, version, run, findings)\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(site)},
    {"  --statement SOURCE  a conformance statement to give away, as a page: each requirement of a document (RFC5044, ...; all) with\n"
     "                     its verdict, the evidence, and why what is not decided is not; the device, and a place to sign;\n"
     "                     with -o x.pdf a browser that is installed makes a PDF of it\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(statement)},
    {"  --known            prints what the device broke as known_deviations of a profile, to be reviewed in half a year\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(known)},
    {"  --bundle ID        one archive of what somebody needs to see and repeat it: page, results, captures, script, profile\n"
     "                     and replay.sh; ID may be a glob, and --bundle be repeated\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_bundle},
    {"  --reproducer LANGUAGE  one file of C with plain sockets that repeats the failure ID (or ID-ROLE) of the run, and exits with 1\n"
     "                     while the fault is there, 0 where it is not, 2 where it could not be tried; LANGUAGE is c\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(reproducer)},
    {"  --verify           compares results and evidence with the folder's SHA256SUMS: exit status 0 if all are as they\n"
     "                     were written, 1 if not\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(verify)},
    {"  --accept-known     with --merge: exits with 0 instead of 5\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(accept_known)},
    {"  --force            with --merge: removes the files that an earlier command wrote to OUT, which must be empty\n"
     "                     otherwise\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(force)},
    {"  -o OUT             file to write; - is standard output\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(output)},
    {"  --help             shows this text\n",
     OPTION_SHOWS, .kind = OPTION_EARLY},
};
/* clang-format on */

static const struct option_table table = {
    .command = "report",
    .head = "usage: warpcheck report DIR|FILE [OPTION...]\n"
            "       warpcheck report --matrix [NAME=]DIR|FILE... [-o OUT]\n"
            "       warpcheck report --merge DIR|FILE... -o OUT [--force]\n"
            "       warpcheck report --diff [NAME=]OLD [NAME=]NEW... [--fail-on KINDS] [-o OUT]\n"
            "       warpcheck report --site DIR|TABLE -o OUT\n"
            "       warpcheck report --statement SOURCE DIR|FILE [-o OUT]\n"
            "       warpcheck report --known DIR|FILE [-o OUT]\n"
            "       warpcheck report --bundle ID... DIR -o OUT.zip\n"
            "       warpcheck report --reproducer c ID DIR|FILE [-o OUT.c]\n"
            "       warpcheck report --verify DIR\n"
            "  Makes the reports of a run or audit again from its results.jsonl. Without --format, it writes to the "
            "same folder:\n"
            "  %s.\n",
    .names = report_format_files,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
};

int report_usage(FILE *out)
{
    return option_table_print(&table, out);
}

/* What --format names, when it is known what is to be made. */
static int format_set(struct report_options *options, const char *value, struct iwarp_sentence *error)
{
    char names[200];

    if (options->diff) {
        const char *ending = value == NULL && options->output != NULL ? strrchr(options->output, '.') : NULL;

        if (ending != NULL && report_diff_format(ending + 1) != NULL)
            value = ending + 1;
        options->diff_format = report_diff_format(value);
        return options->diff_format != NULL
                   ? 0
                   : iwarp_sentence_set(error, "--format \"%.40s\" is unknown to --diff, %s was expected", value,
                                        report_diff_formats);
    }
    if (value == NULL)
        return 0;
    options->format = report_format_find(value);
    options->text = strcmp(value, "text") == 0;
    if (options->format || options->text)
        return 0;
    return iwarp_sentence_set(error, "--format \"%.40s\" is unknown, %s was expected", value,
                              report_format_names("text", names, sizeof(names)));
}

/* Options that need others, or exclude them. */
static int kinds_check(const struct report_options *options, struct iwarp_sentence *error)
{
    if (options->input_count == 0)
        return iwarp_sentence_set(error, "no run is named: name its output folder or its results.jsonl");
    if (options->matrix + options->merge + options->diff + options->site > 1)
        return iwarp_sentence_set(error,
                                  "--matrix, --merge, --diff and --site exclude each other: --matrix shows runs side "
                                  "by side, --merge joins them, --diff lists what differs, --site publishes them");
    unsigned alone = (options->statement != NULL) + options->known + options->verify + (options->bundle_count != 0) +
                     (options->reproducer != NULL);
    size_t inputs = options->reproducer != NULL ? 2 : 1;
    if (options->reproducer != NULL && (strcmp(options->reproducer, "c") != 0 || options->input_count != 2))
        return iwarp_sentence_set(error, "--reproducer is followed by c, the id of a failure, and the run that has it: "
                                         "--reproducer c DDP-7.2-01 out");
    if (alone > 1 || (alone == 1 && (options->matrix || options->merge || options->diff || options->site ||
                                     options->format || options->text || options->input_count != inputs)))
        return iwarp_sentence_set(error,
                                  "--statement, --known, --bundle, --reproducer and --verify are each of one run, and "
                                  "exclude each other and other kinds of reports");
    if (options->bundle_count != 0 && (options->output == NULL || strcmp(options->output, "-") == 0))
        return iwarp_sentence_set(error, "--bundle needs -o OUT.zip, a file");
    if (options->verify && options->output != NULL)
        return iwarp_sentence_set(error, "--verify writes nothing: -o %.100s is too much", options->output);
    if (options->site && (options->output == NULL || options->format || options->text))
        return iwarp_sentence_set(error, "--site needs -o OUT, a folder, and excludes --format: it writes HTML pages");
    if (options->fail_on != NULL && !options->diff)
        return iwarp_sentence_set(error, "--fail-on needs --diff: without it, report decides nothing");
    if (options->diff && options->input_count < 2)
        return iwarp_sentence_set(error, "--diff needs two runs at least, an older and a newer one");
    if (options->merge && (options->output == NULL || options->format || options->text))
        return iwarp_sentence_set(error,
                                  "--merge needs -o OUT, a folder, and excludes --format: it writes all reports");
    if (options->accept_known && !options->merge)
        return iwarp_sentence_set(error, "--accept-known needs --merge: without it, report decides nothing");
    if (options->force && !options->merge)
        return iwarp_sentence_set(error, "--force needs --merge: without it, a report always replaces an older one");
    if (options->matrix && (options->format || options->text))
        return iwarp_sentence_set(error, "--matrix excludes --format: a matrix is always HTML");
    return 0;
}

int report_options_parse(struct report_options *options, int argc, char **argv, struct iwarp_sentence *error)
{
    char names[200];

    for (int i = 1; i < argc;) {
        int taken = option_table_parse(&table, options, argc, argv, &i, error);

        if (taken < 0)
            return -1;
        if (taken == 0)
            options->inputs[options->input_count++] = argv[i++];
    }
    if (format_set(options, options->format_given, error) != 0 || kinds_check(options, error) != 0)
        return -1;
    if (options->diff)
        return report_diff_fails(options->fail_on != NULL ? options->fail_on : "new,vanished", &options->fails, error);
    if (options->merge || options->matrix || options->reproducer != NULL)
        return 0;
    if (options->input_count > 1)
        return iwarp_sentence_set(
            error,
            "one folder or results.jsonl was expected (several only with --matrix, --merge and --diff); "
            "%.100s is one more",
            options->inputs[1]);
    if (options->output && options->text && strcmp(options->output, "-") != 0)
        return iwarp_sentence_set(error, "--format text excludes -o %.100s: it goes to standard output",
                                  options->output);
    if (options->output && !options->format && !options->text && !options->site && !options->statement &&
        !options->known && options->bundle_count == 0)
        return iwarp_sentence_set(error, "-o needs --format %s", report_format_names("", names, sizeof(names)));
    return 0;
}
