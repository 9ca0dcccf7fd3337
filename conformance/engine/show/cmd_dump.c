/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck dump: what the decoder makes of a capture. */
#include "conformance/engine/show/cmd_dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conformance/engine/evidence/capture_file.h"
#include "conformance/engine/option/option_unknown.h"
#include "conformance/engine/show/dump_json.h"
#include "conformance/engine/option/run_confine.h"
#include "conformance/flow/notation/notation.h"
#include "reference-stack/program/complaint.h"
#include "wire/exit_status.h"
#include "wire/sentence.h"

static const char usage[] =
    "usage: warpcheck dump FILE... [OPTION...]\n"
    "  Prints the decoded messages of captures: MPA, DDP over SCTP, CM. A capture may be compressed by gzip,\n"
    "  zstd or lz4; \"-\" is standard input.\n"
    "  --format F         text or jsonl (one object for each FPDU or start-up frame)\n"
    "  --help             shows this text\n";

struct dump {
    bool jsonl;
    bool failed;     /* no memory, or the output cannot be written */
    json_t *pending; /* FPDU whose DDP and RDMAP parts may still come */
};

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
    if (dump->pending == NULL)
        dump->failed = true;
    if (event->kind != FLOW_ULPDU)
        dump_pending(dump);
}

static void dump_as_text(struct dump *dump, const struct flow_event *event)
{
    char notation[NOTATION_MAX], name[FLOW_NAME_MAX];

    if (notation_event(event, notation, sizeof(notation))[0] == '\0')
        return;
    if (printf("%6" PRIu64 "  %s  %s\n", event->frame, flow_name(event->flow, event->direction, name, sizeof(name)),
               notation) < 0)
        dump->failed = true;
}

static void dump_event(void *ctx, const struct flow_event *event)
{
    struct dump *dump = ctx;

    if (dump->failed)
        return;
    if (dump->jsonl)
        dump_as_json(dump, event);
    else
        dump_as_text(dump, event);
}

/* Feeds an open capture to the decoder. Returns an exit status. */
static int feed(struct dump *dump, struct flow_decoder *decoder, struct capture_file *capture, struct sentence *error)
{
    struct flow_frame frame;
    int got = 0;

    while (!dump->failed && (got = capture_next(capture, &frame, error)) == 1)
        flow_decoder_frame(decoder, &frame);
    flow_decoder_finish(decoder);
    dump_pending(dump);
    if (dump->failed || fflush(stdout) != 0) {
        dump->failed = true;
        sentence_set(error, "no memory for the output"); /* main() reports an output that cannot be written */
        return EXIT_ENVIRONMENT;
    }
    if (got < 0)
        return capture_frames(capture) == 0 ? EXIT_USAGE : EXIT_ENVIRONMENT;
    return EXIT_DONE;
}

static int dump_file(struct dump *dump, const char *path, struct sentence *error)
{
    struct capture_file *capture = capture_open(path, error);
    struct flow_decoder *decoder;
    int status = EXIT_ENVIRONMENT;

    if (capture == NULL)
        return EXIT_USAGE;
    decoder = flow_decoder_create(NULL, dump_event, dump);
    if (decoder == NULL) {
        sentence_set(error, "%s: out of memory for the decoder", path);
    } else {
        status = feed(dump, decoder, capture, error);
        if (status == EXIT_DONE && flow_decoder_totals(decoder)->flows == 0) {
            sentence_set(error, "%s: no iWARP in %" PRIu64 " frames", path, flow_decoder_totals(decoder)->frames);
            status = EXIT_NOTHING_SELECTED;
        }
    }
    flow_decoder_destroy(decoder);
    capture_close(capture);
    return status;
}

static int format_set(struct dump *dump, const char *value)
{
    if (value == NULL || (strcmp(value, "text") != 0 && strcmp(value, "jsonl") != 0))
        return complain(-1, "--format needs text or jsonl, not %s", value != NULL ? value : "nothing");
    dump->jsonl = strcmp(value, "jsonl") == 0;
    return 0;
}

/* Takes the options out of argv; returns the files left, or -1 after a complaint. */
static int options_parse(struct dump *dump, int argc, char **argv)
{
    int files = 0;

    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--format=", 9) == 0) {
            if (format_set(dump, argv[i] + 9) != 0)
                return -1;
        } else if (strcmp(argv[i], "--format") == 0) {
            i++;
            if (format_set(dump, i < argc ? argv[i] : NULL) != 0)
                return -1;
        } else if (argv[i][0] == '-' && argv[i][1] != '\0') {
            struct sentence why;

            (void)option_unknown("dump", argv[i], usage, NULL, &why);
            return complain(-1, "%s", why.text);
        } else {
            argv[files++] = argv[i];
        }
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

int cmd_dump(int argc, char **argv)
{
    struct dump dump = {0};

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0)
            return fputs(usage, stdout) == EOF || fflush(stdout) != 0 ? EXIT_ENVIRONMENT : EXIT_DONE;

    int files = options_parse(&dump, argc, argv), worst = EXIT_NOTHING_SELECTED;

    struct sentence why;

    if (files < 0)
        return EXIT_USAGE;
    if (run_confine(NULL, false, 0, RUN_CONFINE_FILES, &why) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", why.text);
    for (int i = 0; i < files && !dump.failed; i++) {
        struct sentence error;
        int status = dump_file(&dump, argv[i], &error);

        if (status != EXIT_DONE && !ferror(stdout))
            (void)complain(0, "%s", error.text);
        worst = worse(worst, status);
    }
    return worst;
}
