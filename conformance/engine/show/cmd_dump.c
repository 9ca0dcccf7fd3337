/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck dump: what the decoder makes of a capture. */
#include "conformance/engine/show/cmd_dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/capture/capture_file.h"
#include "conformance/engine/capture/capture_filter.h"
#include "conformance/engine/capture/capture_folder.h"
#include "conformance/engine/capture/capture_series.h"
#include "reference-stack/program/option_table.h"
#include "conformance/engine/evidence/flow_end.h"
#include "conformance/engine/show/dump_json.h"
#include "conformance/engine/process/run_confine.h"
#include "conformance/flow/decoder.h"
#include "conformance/flow/notation/notation.h"
#include "reference-stack/program/complaint.h"
#include "reports/results/result.h"
#include "base/exit_status.h"
#include "base/sentence.h"

struct dump {
    bool jsonl;
    bool failed; /* no memory, or the output cannot be written */
    bool no_rings;
    bool several;    /* captures: each line names its own */
    json_t *pending; /* FPDU whose DDP and RDMAP parts may still come */
    const char *filter_expression;
    struct capture_filter *filter;
    const struct capture_series *series;
    struct rule_engine *rules;
};

static bool names_file(const struct dump *dump)
{
    return dump->several || capture_series_several(dump->series);
}

/* The frames of an object by their numbers in the files of a ring, and these. */
static int name_frames(const struct capture_series *series, json_t *object, uint64_t last, uint64_t begins)
{
    uint64_t frame, first_frame;
    const char *file = capture_series_where(series, last, &frame);
    const char *first = capture_series_where(series, begins, &first_frame);

    return json_object_set_new(object, "file", result_text(file)) |
           json_object_set_new(object, "frame", json_integer((json_int_t)frame)) |
           json_object_set_new(object, "first_frame", json_integer((json_int_t)first_frame)) |
           (strcmp(first, file) != 0 ? json_object_set_new(object, "first_file", result_text(first)) : 0);
}

/* Writes the FPDU that waits. */
static void dump_pending(struct dump *dump)
{
    if (dump->pending == NULL)
        return;
    if (json_dumpf(dump->pending, stdout, JSON_COMPACT) != 0 || putchar('\n') == EOF)
        dump->failed = true;
    json_decref(dump->pending);
    dump->pending = NULL;
}

static void dump_as_json(struct dump *dump, const struct flow_event *event)
{
    if (event->kind == FLOW_DDP || event->kind == FLOW_RDMAP) {
        if (dump->pending == NULL || dump_json_extend(dump->pending, event) != 0)
            dump->failed = true;
        return;
    }
    dump_pending(dump);
    dump->pending = dump_json_event(event);
    if (dump->pending == NULL ||
        (names_file(dump) && name_frames(dump->series, dump->pending, event->frame, event->first_frame) != 0))
        dump->failed = true;
    if (event->kind != FLOW_ULPDU)
        dump_pending(dump);
}

static void print_line(struct dump *dump, uint64_t number, const char *name, const char *notation)
{
    const char *file, *slash;
    uint64_t frame;

    if (!names_file(dump)) {
        dump->failed |= printf("%6" PRIu64 "  %s  %s\n", number, name, notation) < 0;
        return;
    }
    file = capture_series_where(dump->series, number, &frame);
    slash = dump->several ? NULL : strrchr(file, '/'); /* the files of a ring lie in one folder */
    print_plain(stdout, "%s:%" PRIu64 "  %s  %s", slash != NULL ? slash + 1 : file, frame, name, notation);
    dump->failed |= ferror(stdout) != 0;
}

static void dump_as_text(struct dump *dump, const struct flow_event *event)
{
    char notation[NOTATION_MAX], name[FLOW_NAME_MAX];

    if (notation_event(event, notation, sizeof(notation))[0] != '\0')
        print_line(dump, event->frame, flow_name(event->flow, event->direction, name, sizeof(name)), notation);
}

static void dump_port_mapper(void *ctx, const struct flow_port_mapper *said)
{
    char notation[NOTATION_MAX], name[FLOW_NAME_MAX];
    struct dump *dump = ctx;

    if (dump->failed)
        return;
    if (!dump->jsonl) {
        print_line(dump, said->frame, flow_port_mapper_name(said, name, sizeof(name)),
                   notation_port_mapper(&said->message, notation, sizeof(notation)));
        return;
    }
    dump_pending(dump);
    dump->pending = dump_json_port_mapper(said);
    if (dump->pending == NULL ||
        (names_file(dump) && name_frames(dump->series, dump->pending, said->frame, said->frame) != 0))
        dump->failed = true;
    dump_pending(dump);
}

static void dump_end(const struct flow *flow, const struct end_cause *cause, void *argument)
{
    struct dump *dump = argument;
    struct flow_end end;
    const char *slash;

    flow_end_make(&end, dump->series, flow, cause);
    if (dump->jsonl) {
        dump->pending = end_line_to_json(&end.line);
        if (dump->pending == NULL)
            dump->failed = true;
        dump_pending(dump);
    } else if (names_file(dump)) {
        slash = dump->several ? NULL : strrchr(end.line.file, '/');
        print_plain(stdout, "%s:%" PRIu64 "  %s  why: %s", slash != NULL ? slash + 1 : end.line.file, end.line.frame,
                    end.line.flow, end.line.why);
    } else {
        dump->failed |= printf("%6" PRIu64 "  %s  why: %s\n", end.line.frame, end.line.flow, end.line.why) < 0;
    }
    dump->failed |= ferror(stdout) != 0;
}

static void dump_parts(struct dump *dump, const struct flow_event *event)
{
    for (; event != NULL && !dump->failed; event = event->next)
        if (dump->jsonl)
            dump_as_json(dump, event);
        else
            dump_as_text(dump, event);
}

/* The rules see every event, so that the first that was broken before an end is known. */
static void dump_event(void *ctx, const struct flow_event *event)
{
    struct dump *dump = ctx;

    dump_parts(dump, event);
    rule_engine_event(dump->rules, event);
    if (event->kind == FLOW_END)
        rule_engine_flow_end(dump->rules, event->flow,
                             &(struct rule_flow_end){NULL, dump->failed ? NULL : dump_end, dump});
}

/* Feeds an open capture to the decoder. Returns an exit status. */
static int feed(struct dump *dump, struct flow_decoder *decoder, struct capture_series *series,
                struct iwarp_sentence *error)
{
    struct flow_frame frame;
    int got = 0;

    while (!dump->failed && (got = capture_series_next(series, &frame, error)) == 1)
        flow_decoder_frame(decoder, &frame);
    flow_decoder_finish(decoder);
    dump_pending(dump);
    if (dump->failed || fflush(stdout) != 0) {
        dump->failed = true;
        iwarp_sentence_set(error, "no memory for the output"); /* main() reports an output that cannot be written */
        return EXIT_ENVIRONMENT;
    }
    if (got < 0)
        return capture_series_frames(series) == 0 ? EXIT_USAGE : EXIT_ENVIRONMENT;
    return EXIT_DONE;
}

/* One capture: a file, or where `ring` is not NULL the files of it. */
static int dump_capture(struct dump *dump, const char *path, struct capture_ring *ring, struct iwarp_sentence *error)
{
    struct capture_series *series = capture_series_open(path, ring, error);
    const struct flow_config config = {.rule_state_octets = rule_state_octets(), .port_mapper = dump_port_mapper};
    struct flow_decoder *decoder;
    int status = EXIT_ENVIRONMENT;

    if (series == NULL)
        return EXIT_USAGE;
    capture_series_filter(series, dump->filter);
    dump->series = series;
    dump->rules = rule_engine_create(NULL);
    decoder = dump->rules != NULL ? flow_decoder_create(&config, dump_event, dump) : NULL;
    if (decoder == NULL) {
        iwarp_sentence_set(error, "%s: out of memory for the decoder", path);
    } else {
        status = feed(dump, decoder, series, error);
        if (status == EXIT_DONE && flow_decoder_totals(decoder)->flows == 0) {
            iwarp_sentence_set(error, "%s: no iWARP in %" PRIu64 " frames", path, flow_decoder_totals(decoder)->frames);
            status = EXIT_NOTHING_SELECTED;
        }
    }
    flow_decoder_destroy(decoder);
    rule_engine_free(dump->rules);
    capture_series_close(series);
    return status;
}

/* Says what is missing in a ring. */
static void tell_gap(const struct capture_ring *ring)
{
    struct iwarp_sentence text, gap;

    if (ring == NULL || !ring->ordered)
        return;
    capture_ring_describe(ring, &text, &gap);
    if (gap.text[0] != '\0')
        (void)complain(0, "%s", gap.text);
}

static int parse_format(void *user, const char *value, struct iwarp_sentence *error)
{
    return option_jsonl(value, &((struct dump *)user)->jsonl, error);
}

#define MEMBER(name) offsetof(struct dump, name)

/* clang-format off */
static const struct option_row rows[] = {
    {"  --format F         text or jsonl (one object for each FPDU or start-up frame)\n",
     OPTION_SHOWS, OPTION_OWN, .parse = parse_format},
    {"  --filter EXPR      prints what is in the frames that EXPR wants, an expression as tcpdump has it (pcap-filter(7))\n",
     OPTION_SHOWS, OPTION_TEXT, .member = MEMBER(filter_expression)},
    {"  --no-rings         prints each file of a ring as a capture of its own\n",
     OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(no_rings)},
    {"  --help             shows this text\n",
     OPTION_SHOWS, .kind = OPTION_EARLY},
};
/* clang-format on */

static const struct option_table table = {
    .command = "dump",
    .head = "usage: warpcheck dump FILE|DIR... [OPTION...]\n"
            "  Prints the decoded messages of captures: MPA, DDP over SCTP, CM, the port\n"
            "  mapper; and for each Terminate, reset and reject why it came. A capture may be compressed by gzip,\n"
            "  zstd or lz4; \"-\" is standard input. Files of a ring (tcpdump -C: dump.pcap, dump.pcap1; dumpcap -b:\n"
            "  name_00001_20260101120000.pcapng) are one capture. Each line names the frame; "
            "in a ring, or if\n"
            "  several captures are given, also the file.\n",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
};

/* Takes the options out of argv; returns the files left, or -1 after a complaint. */
static int options_parse(struct dump *dump, int argc, char **argv)
{
    struct iwarp_sentence why;
    int files = 0;

    for (int i = 1; i < argc;) {
        int taken = option_table_parse(&table, dump, argc, argv, &i, &why);

        if (taken < 0)
            return complain(-1, "%s", why.text);
        if (taken == 0)
            argv[files++] = argv[i++];
    }
    return files != 0 ? files : complain(-1, "name a capture file (see warpcheck dump --help)");
}

/* What several files say together: the worst; "nothing there" only when it holds for all of them. */
static int worse(int a, int b)
{
    if (a == EXIT_NOTHING_SELECTED || b == EXIT_NOTHING_SELECTED)
        return a == EXIT_NOTHING_SELECTED ? b : a;
    return a > b ? a : b;
}

/*
 * The files that are named, and those of folders. A file that cannot be opened is reported, and sets the returned
 * status.
 */
static int list_files(const struct dump *dump, struct capture_list *list, char **names, int count)
{
    int worst = EXIT_NOTHING_SELECTED;
    struct iwarp_sentence why;

    for (int i = 0; i < count; i++) {
        size_t before = list->count + list->skipped_count;

        if (capture_list_add(list, names[i], &why) != 0)
            worst = complain(EXIT_USAGE, "%s", why.text);
        else if (list->count + list->skipped_count == before)
            (void)complain(0, "%.300s holds no captures", names[i]);
    }
    if (!dump->no_rings && capture_list_rings(list, &why) != 0)
        worst = complain(EXIT_ENVIRONMENT, "%s", why.text);
    for (size_t i = 0; i < list->skipped_count; i++)
        worst = complain(EXIT_USAGE, "%.300s: %s", list->skipped[i].path, flow_account_row(list->skipped[i].row)->text);
    return worst;
}

static int dump_files(struct dump *dump, char **names, int count)
{
    struct capture_list list = {0};
    int worst = list_files(dump, &list, names, count);
    struct run_files files = {0};
    struct iwarp_sentence why;
    uint64_t needed;

    files.read = capture_list_files(&list, &files.read_count);
    needed = run_confine_files(&files);
    free((void *)files.read);
    if (run_confine(NULL, 0, needed, &why) != 0) {
        capture_list_free(&list);
        return complain(EXIT_ENVIRONMENT, "%s", why.text);
    }
    dump->several = list.count > 1;
    for (size_t i = 0; i < list.count && !dump->failed; i++) {
        struct capture_ring *ring = capture_list_ring(&list, i);
        struct iwarp_sentence error;
        int status = dump_capture(dump, list.paths[i], ring, &error);

        tell_gap(ring);
        if (status != EXIT_DONE && !ferror(stdout))
            (void)complain(0, "%s", error.text);
        worst = worse(worst, status);
    }
    capture_list_free(&list);
    return worst;
}

int cmd_dump(int argc, char **argv)
{
    struct dump dump = {0};
    struct iwarp_sentence why;
    int files, status;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0)
            return option_table_print(&table, stdout) < 0 || fflush(stdout) != 0 ? EXIT_ENVIRONMENT : EXIT_DONE;
    files = options_parse(&dump, argc, argv);
    if (files < 0)
        return EXIT_USAGE;
    if (dump.filter_expression != NULL) {
        dump.filter = capture_filter_new(dump.filter_expression, &why);
        if (dump.filter == NULL)
            return complain(EXIT_USAGE, "%s", why.text);
    }
    status = dump_files(&dump, argv, files);
    capture_filter_free(dump.filter);
    return status;
}
