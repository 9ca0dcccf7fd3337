/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck dump: what the decoder makes of a capture. */
#include "conformance/engine/cmd_dump.h"

#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>

#include "conformance/engine/dump_json.h"
#include "conformance/flow/notation.h"
#include "wire/sentence.h"

enum { EXIT_DONE = 0, EXIT_USAGE = 2, EXIT_NOTHING = 3, EXIT_ENVIRONMENT = 4 };

static const char usage[] = "usage: warpcheck dump FILE... [OPTION...]\n"
                            "  --format F         text or jsonl (one object an FPDU or start-up frame)\n"
                            "  --help             this text\n";

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
    if (event->kind != FLOW_FPDU)
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
static int feed(struct dump *dump, struct flow_decoder *decoder, pcap_t *capture, struct sentence *error)
{
    struct flow_frame frame = {.link = (uint32_t)pcap_datalink(capture)};
    struct pcap_pkthdr *header;
    const u_char *octets;
    int got = 0;

    while (!dump->failed && (got = pcap_next_ex(capture, &header, &octets)) == 1) {
        frame.number++;
        /* tv_usec holds nanoseconds: the capture was opened with that precision. */
        frame.time_ns = (uint64_t)header->ts.tv_sec * 1000000000 + (uint64_t)header->ts.tv_usec;
        frame.octets = octets;
        frame.captured = header->caplen;
        frame.length = header->len;
        flow_decoder_frame(decoder, &frame);
    }
    flow_decoder_finish(decoder);
    dump_pending(dump);
    if (dump->failed || fflush(stdout) != 0) {
        dump->failed = true;
        sentence_set(error, "writing the output failed: is the disk full?");
        return EXIT_ENVIRONMENT;
    }
    if (got == PCAP_ERROR) {
        sentence_set(error, "the capture breaks off behind frame %" PRIu64 " (%.200s); what was read is shown",
                     frame.number, pcap_geterr(capture));
        return EXIT_ENVIRONMENT;
    }
    return EXIT_DONE;
}

static int dump_file(struct dump *dump, const char *path, struct sentence *error)
{
    char why[PCAP_ERRBUF_SIZE];
    pcap_t *capture = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, why);
    int status = EXIT_USAGE;

    if (capture == NULL) {
        sentence_set(error, "this cannot be read as a capture: %.300s; pcap or pcapng was expected", why);
        return EXIT_USAGE;
    }
    struct flow_decoder *decoder = flow_decoder_create(NULL, dump_event, dump);

    if (!flow_link_known((uint32_t)pcap_datalink(capture))) {
        sentence_set(error, "link type %d is not known to the decoder", pcap_datalink(capture));
    } else if (decoder == NULL) {
        sentence_set(error, "no memory for the decoder");
        status = EXIT_ENVIRONMENT;
    } else {
        status = feed(dump, decoder, capture, error);
        if (status == EXIT_DONE && flow_decoder_totals(decoder)->flows == 0) {
            sentence_set(error, "no iWARP in %" PRIu64 " frames", flow_decoder_totals(decoder)->frames);
            status = EXIT_NOTHING;
        }
    }
    flow_decoder_destroy(decoder);
    pcap_close(capture);
    return status;
}

static int complain(int status, const char *message, const char *about)
{
    fprintf(stderr, "warpcheck dump: %s%s\n", message, about);
    return status;
}

static int format_set(struct dump *dump, const char *value)
{
    if (value == NULL || (strcmp(value, "text") != 0 && strcmp(value, "jsonl") != 0))
        return complain(-1, "--format needs text or jsonl, not ", value != NULL ? value : "nothing");
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
            return complain(-1, "unknown option (warpcheck dump --help lists them): ", argv[i]);
        } else {
            argv[files++] = argv[i];
        }
    }
    return files != 0 ? files : complain(-1, "name a capture file (warpcheck dump --help tells more)", "");
}

/* What several files say together: the worst; "nothing there" only when it holds for all of them. */
static int worse(int a, int b)
{
    if (a == EXIT_NOTHING || b == EXIT_NOTHING)
        return a == EXIT_NOTHING ? b : a;
    return a > b ? a : b;
}

int cmd_dump(int argc, char **argv)
{
    struct dump dump = {0};

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0)
            return fputs(usage, stdout) == EOF || fflush(stdout) != 0 ? EXIT_ENVIRONMENT : EXIT_DONE;

    int files = options_parse(&dump, argc, argv), worst = EXIT_NOTHING;

    if (files < 0)
        return EXIT_USAGE;
    for (int i = 0; i < files && !dump.failed; i++) {
        struct sentence error;
        int status = dump_file(&dump, argv[i], &error);

        if (status != EXIT_DONE)
            fprintf(stderr, "warpcheck dump: %s: %s\n", argv[i], error.text);
        worst = worse(worst, status);
    }
    return worst;
}
