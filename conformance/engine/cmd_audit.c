/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck audit: captures -> decoder -> rules -> results. */
#include "conformance/engine/cmd_audit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "conformance/engine/capture_file.h"
#include "conformance/engine/cmd_report.h"
#include "conformance/flow/flow.h"
#include "conformance/requirements/catalogue.h"
#include "conformance/requirements/select.h"
#include "conformance/rules/rule.h"
#include "reports/result.h"
#include "reports/results_log.h"
#include "reports/terminal.h"

enum { BLOCKS_MAX = 3 }; /* findings of one requirement shown on the terminal; all are in the results */

struct options {
    struct selection selection;
    struct capture_list files;
    const char *output;
    bool jsonl, all;
};

/* What is known of one requirement over all files. */
struct seen {
    bool exercised;
    uint64_t blocks; /* shown on the terminal */
    uint64_t hidden; /* and not shown */
};

struct audit {
    const struct options *options;
    struct catalogue *catalogue;
    struct flow_decoder *decoder;
    struct rule_engine *engine;
    struct results_log *log;
    struct terminal terminal;
    struct run_summary counted;
    bool logged;       /* somebody reads the log */
    struct seen *seen; /* by index in the catalogue */
    const char *file;  /* being read */
    bool unwritten;    /* results were lost: disk full */
    bool foreign;      /* some file is no capture that can be read */
    bool damaged;      /* some file breaks off */
};

static const char usage[] =
    "usage: warpcheck audit [SELECT...] [OPTION...] FILE|DIR...\n"
    "  Judges captures (pcap, pcapng; folders with all below them) by every rule that their traffic exercises.\n"
    "  -o DIR             write results.jsonl, index.html and junit.xml there\n"
    "  --format F         text or jsonl (results.jsonl on standard output)\n"
    "  --all              show what passed, too\n"
    "  --help             this text\n";

static int complain(int status, const char *message)
{
    fprintf(stderr, "warpcheck audit: %s\n", message);
    return status;
}

/* ---- command line ------------------------------------------------------------------------------------------------ */

/* An option with a value: "-o DIR", "--format=F". *value is NULL when this is another option. */
static int option_value(const char *name, int argc, char **argv, int *index, const char **value, struct sentence *error)
{
    size_t length = strlen(name);

    *value = NULL;
    if (strcmp(argv[*index], name) == 0) {
        if (*index + 1 >= argc)
            return sentence_set(error, "%s needs a value", name);
        *value = argv[*index + 1];
        *index += 2;
    } else if (length > 2 && strncmp(argv[*index], name, length) == 0 && argv[*index][length] == '=') {
        *value = argv[*index] + length + 1;
        *index += 1;
    }
    return 0;
}

static int option_parse(struct options *options, int argc, char **argv, int *index, struct sentence *error)
{
    const char *value;

    if (option_value("-o", argc, argv, index, &value, error) != 0)
        return -1;
    if (value != NULL) {
        options->output = value;
        return 0;
    }
    if (option_value("--format", argc, argv, index, &value, error) != 0)
        return -1;
    if (value != NULL) {
        options->jsonl = strcmp(value, "jsonl") == 0;
        if (!options->jsonl && strcmp(value, "text") != 0)
            return sentence_set(error, "--format \"%.40s\" is unknown, text or jsonl was expected", value);
        return 0;
    }
    if (strcmp(argv[*index], "--all") != 0)
        return sentence_set(error, "unknown option %.60s (warpcheck audit --help lists them)", argv[*index]);
    options->all = true;
    ++*index;
    return 0;
}

/* What is no option is a capture when there is a file of that name, else a pattern over requirement ids. */
static int argument_parse(struct options *options, const struct catalogue *catalogue, int argc, char **argv, int *index,
                          struct sentence *error)
{
    const char *argument = argv[*index];
    struct stat status;
    int taken;

    if (argument[0] != '-' && stat(argument, &status) == 0) {
        ++*index;
        return capture_list_add(&options->files, argument, error);
    }
    taken = selection_option(&options->selection, argc, argv, index, error);
    if (taken < 0)
        return -1;
    if (taken == 0)
        return option_parse(options, argc, argv, index, error);
    if (argument[0] != '-' && selection_unmatched(&options->selection, catalogue) != NULL)
        return sentence_set(error, "%.200s: no such file, and no requirement has such an id", argument);
    return 0;
}

static int arguments_parse(struct options *options, const struct catalogue *catalogue, int argc, char **argv,
                           struct sentence *error)
{
    for (int i = 1; i < argc;)
        if (argument_parse(options, catalogue, argc, argv, &i, error) != 0)
            return -1;
    return options->files.count != 0 ? 0 : sentence_set(error, "which captures? name files or folders");
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static enum verdict verdict_of(enum rule_verdict verdict)
{
    switch (verdict) {
    case RULE_FAIL: return VERDICT_FAIL;
    case RULE_WARN: return VERDICT_WARN;
    case RULE_AMBIGUOUS: return VERDICT_AMBIGUOUS;
    default: return VERDICT_PASS;
    }
}

struct flow_context {
    struct audit *audit;
    const struct flow *flow;
};

static void show(struct audit *audit, const struct result *result, const struct requirement *requirement,
                 struct seen *seen)
{
    if (audit->options->jsonl || (result->verdict == VERDICT_PASS && !audit->options->all))
        return;
    if (seen->blocks++ < BLOCKS_MAX)
        terminal_result(&audit->terminal, result, requirement->text);
    else
        seen->hidden++;
}

/* One requirement that one flow exercised. */
static void take_result(const struct rule_result *found, void *argument)
{
    struct flow_context *context = argument;
    struct audit *audit = context->audit;
    enum flow_direction direction = (enum flow_direction)found->direction;
    const struct requirement *requirement = catalogue_find(audit->catalogue, found->rule->id);
    char name[FLOW_NAME_MAX];
    struct sentence error;
    struct result result = {
        .id = found->rule->id,
        .verdict = verdict_of(found->verdict),
        .by = "rule",
        .script = found->rule->function,
        .role = found->both ? NULL : flow_role(context->flow, direction),
        .file = audit->file,
        .frame = found->frame,
        .flow = flow_name(context->flow, direction, name, sizeof(name)),
        .count = found->verdict == RULE_PASS ? found->passes : found->findings,
    };

    if (requirement == NULL)
        return;
    if (found->verdict != RULE_PASS) {
        result.expected = found->expected;
        result.actual = found->actual;
        result.message = found->message;
        result.reading = found->verdict == RULE_AMBIGUOUS ? found->actual : NULL;
    }
    audit->seen[requirement->index].exercised = true;
    summary_count(&audit->counted, result.verdict);
    /* Making a line of JSON that nobody gets would cost more than the judging. */
    if (audit->logged && results_log_append(audit->log, &result, &error) != 0 && !audit->unwritten) {
        audit->unwritten = true;
        complain(0, error.text);
    }
    show(audit, &result, requirement, &audit->seen[requirement->index]);
}

static void sink(void *user, const struct flow_event *event)
{
    struct audit *audit = user;

    rule_engine_event(audit->engine, event);
    if (event->kind == FLOW_END) {
        struct flow_context context = {audit, event->flow};

        rule_engine_flow_results(audit->engine, event->flow, take_result, &context);
        rule_engine_flow_done(audit->engine, event->flow);
    }
}

static bool is_selected(const char *id, void *argument)
{
    const struct audit *audit = argument;
    const struct requirement *requirement = catalogue_find(audit->catalogue, id);

    return requirement != NULL && selection_matches(&audit->options->selection, requirement);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void read_file(struct audit *audit, const char *path)
{
    struct sentence error;
    struct capture_file *capture = capture_open(path, &error);
    struct flow_frame frame;
    int rc;

    audit->file = path;
    if (capture == NULL) {
        audit->foreign = true;
        complain(0, error.text);
        return;
    }
    while ((rc = capture_next(capture, &frame, &error)) == 1)
        flow_decoder_frame(audit->decoder, &frame);
    flow_decoder_finish(audit->decoder);
    if (rc < 0) {
        if (capture_frames(capture) == 0)
            audit->foreign = true;
        else
            audit->damaged = true;
        complain(0, error.text);
    }
    capture_close(capture);
}

static void fill_summary(const struct audit *audit, struct run_summary *summary)
{
    const struct flow_totals *totals = flow_decoder_totals(audit->decoder);

    *summary = audit->counted;
    summary->frames = totals->frames;
    summary->fpdus = totals->fpdus;
    summary->ddp_segments = totals->ddp_segments;
    summary->crc_errors = totals->crc_errors;
    summary_add_messages(summary, "MPA start-up frames", totals->start_frames);
    for (unsigned i = 0; i < 16; i++)
        if (totals->messages[i] != 0)
            summary_add_messages(summary, rdmap_opcode_rows[i].name != NULL ? rdmap_opcode_rows[i].name : "unassigned",
                                 totals->messages[i]);
    for (size_t i = 0; i < catalogue_count(audit->catalogue); i++)
        if (selection_matches(&audit->options->selection, catalogue_at(audit->catalogue, i)))
            summary->not_exercised += !audit->seen[i].exercised;
}

/* Why nothing was found, as far as the totals tell. */
static void explain_nothing(const struct audit *audit)
{
    const struct flow_totals *totals = flow_decoder_totals(audit->decoder);

    if (totals->flows != 0) {
        complain(0, "no rule that is selected was exercised by this traffic");
        return;
    }
    fprintf(stderr,
            "warpcheck audit: no MPA traffic in %" PRIu64 " frames (%" PRIu64 " TCP segments in %" PRIu64
            " connections, %" PRIu64 " IP fragments, %" PRIu64 " frames of other protocols, %" PRIu64 " malformed)\n",
            totals->frames, totals->tcp_segments, totals->connections, totals->fragments, totals->not_tcp,
            totals->malformed);
}

static void show_hidden(struct audit *audit)
{
    for (size_t i = 0; i < catalogue_count(audit->catalogue); i++)
        if (audit->seen[i].hidden != 0)
            fprintf(audit->terminal.out, "      %s: %" PRIu64 " more flows, not shown\n",
                    catalogue_at(audit->catalogue, i)->id, audit->seen[i].hidden);
}

static int exit_status(const struct audit *audit, const struct run_summary *summary)
{
    if (summary->fail != 0)
        return EXIT_FAILS;
    if (audit->foreign)
        return EXIT_USAGE;
    if (audit->damaged || audit->unwritten)
        return EXIT_INCONCLUSIVE;
    return (int)summary_exit_status(summary);
}

static int finish(struct audit *audit)
{
    const char *output = audit->options->output;
    struct run_summary summary;
    struct sentence error;
    char page[4200] = "";

    fill_summary(audit, &summary);
    if (results_log_finish(audit->log, &summary, &error) != 0 && !audit->unwritten) {
        audit->unwritten = true;
        complain(0, error.text);
    }
    if (results_log_close(audit->log, &error) != 0 && !audit->unwritten) {
        audit->unwritten = true;
        complain(0, error.text);
    }
    audit->log = NULL;
    if (output != NULL && engine_write_reports(output, audit->catalogue, &error) != 0) {
        audit->unwritten = true;
        complain(0, error.text);
    } else if (output != NULL) {
        snprintf(page, sizeof(page), "%.4000s/index.html", output);
    }
    if (!audit->options->jsonl) {
        show_hidden(audit);
        terminal_summary(&audit->terminal, &summary, page[0] != '\0' ? page : NULL);
        if (fflush(stdout) != 0 || ferror(stdout)) {
            audit->unwritten = true;
            complain(0, "standard output could not be written");
        }
    }
    if (summary_exit_status(&summary) == EXIT_NOTHING_SELECTED && !audit->foreign)
        explain_nothing(audit);
    return exit_status(audit, &summary);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static int make_folder(const char *path, struct sentence *error)
{
    char text[4100];

    if (strlen(path) >= sizeof(text))
        return sentence_set(error, "the folder's name is too long");
    memcpy(text, path, strlen(path) + 1);
    for (char *at = text + 1; *at != '\0'; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        (void)mkdir(text, 0777);
        *at = '/';
    }
    if (mkdir(text, 0777) != 0 && errno != EEXIST)
        return sentence_set(error, "cannot make the folder %.300s: %s", path, strerror(errno));
    return 0;
}

static int open_log(struct audit *audit, struct sentence *error)
{
    const struct options *options = audit->options;
    char target[512] = "", started[32], path[4200];
    time_t now = time(NULL);
    struct tm utc;
    struct run_info info = {
        .tool = "warpcheck " WARPCHECK_VERSION,
        .catalogue = catalogue_digest(audit->catalogue),
        .target = target,
        .command = "audit",
        .started = started,
    };

    gmtime_r(&now, &utc);
    strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", &utc);
    if (options->files.count == 1)
        snprintf(target, sizeof(target), "%s", options->files.paths[0]);
    else
        snprintf(target, sizeof(target), "%.400s and %zu more captures", options->files.paths[0],
                 options->files.count - 1);
    if (options->output != NULL) {
        if (make_folder(options->output, error) != 0)
            return -1;
        snprintf(path, sizeof(path), "%s/results.jsonl", options->output);
    }
    audit->logged = options->output != NULL || options->jsonl;
    audit->log =
        results_log_create(options->output != NULL ? path : NULL, &info, options->jsonl ? stdout : NULL, error);
    return audit->log != NULL ? 0 : -1;
}

static int set_up(struct audit *audit, struct sentence *error)
{
    struct flow_config flows = {.rule_state_octets = rule_state_octets()};
    struct rule_config rules = {.selected = is_selected, .argument = audit};

    terminal_init(&audit->terminal, stdout);
    audit->terminal.all = audit->options->all;
    audit->seen = calloc(catalogue_count(audit->catalogue) + 1, sizeof(*audit->seen));
    audit->engine = rule_engine_create(&rules);
    audit->decoder = flow_decoder_create(&flows, sink, audit);
    if (audit->seen == NULL || audit->engine == NULL || audit->decoder == NULL)
        return sentence_set(error, "out of memory");
    return open_log(audit, error);
}

static int audit_files(const struct options *options, struct catalogue *catalogue)
{
    struct audit audit = {.options = options, .catalogue = catalogue};
    struct sentence error;
    int status;

    if (selection_count(&options->selection, catalogue) == 0)
        return complain(EXIT_NOTHING_SELECTED, "nothing selected: no requirement fits all options");
    if (set_up(&audit, &error) != 0) {
        status = complain(EXIT_INCONCLUSIVE, error.text);
    } else {
        for (size_t i = 0; i < options->files.count; i++)
            read_file(&audit, options->files.paths[i]);
        status = finish(&audit);
    }
    (void)results_log_close(audit.log, NULL);
    flow_decoder_destroy(audit.decoder);
    rule_engine_free(audit.engine);
    free(audit.seen);
    return status;
}

int cmd_audit(int argc, char **argv)
{
    struct options options = {0};
    struct catalogue *catalogue = NULL;
    struct sentence error;
    int status;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0) {
            printf("%s%s", usage, selection_usage);
            return EXIT_CONFORMS;
        }
    if (catalogue_load(&catalogue, &error) != 0)
        return complain(EXIT_USAGE, error.text);
    if (arguments_parse(&options, catalogue, argc, argv, &error) != 0)
        status = complain(EXIT_USAGE, error.text);
    else
        status = audit_files(&options, catalogue);
    capture_list_free(&options.files);
    catalogue_free(catalogue);
    return status;
}
