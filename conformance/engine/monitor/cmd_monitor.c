/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck monitor: interfaces -> decoder -> rules -> findings, for days. */
#include "conformance/engine/monitor/cmd_monitor.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/exit_status.h"
#include "base/out_of_memory.h"
#include "conformance/engine/monitor/monitor_internal.h"
#include "conformance/engine/process/run_confine.h"
#include "conformance/engine/process/run_stop.h"
#include "reference-stack/program/complaint.h"

#define SECOND_NS UINT64_C(1000000000)

enum {
    KNOWN_MOST = 16384, /* findings that are remembered */
    READ_MOST = 16384,  /* frames before the clock is looked at */
    TICK_MS = 1000,     /* and so long without any */
    WRITTEN_A_MINUTE = 6000,
    WRITTEN_BURST = 10000,
    CUT_A_MINUTE = 30,
    CUT_BURST = 50,
    MINUTE_SECONDS = 60,
};

static volatile sig_atomic_t hung_up;

static void on_hang_up(int number)
{
    (void)number;
    hung_up = 1;
}

static uint64_t clock_ns(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now); /* of which frames have their times */
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static void on_frame(void *user, struct flow_frame *frame)
{
    struct monitor *monitor = user;

    frame->number = ++monitor->frames;
    monitor->now_ns = monitor->counts.last_frame_ns = frame->time_ns;
    if (monitor->evidence != NULL)
        monitor_evidence_frame(monitor->evidence, frame);
    flow_decoder_frame(flow_judge_decoder(monitor->judge), frame);
}

/*
 * Asked before frames are read: what the ring lost came before all frames that come into it from now on. Those that are
 * in it are of the time around the loss, so that flows get the loss once more after them.
 */
static void note_losses(struct monitor *monitor, struct monitor_interface *interface)
{
    uint64_t lost = link_capture_lost(interface->in, &interface->lost);

    if (lost == 0)
        return;
    monitor->lost += lost;
    monitor->losing_ns = clock_ns();
    flow_decoder_dropped(flow_judge_decoder(monitor->judge), lost);
}

/* The frames of the time of the loss have been read. */
static void end_losses(struct monitor *monitor, bool all_read)
{
    if (monitor->losing_ns == 0 || (!all_read && monitor->now_ns <= monitor->losing_ns))
        return;
    monitor->losing_ns = 0;
    flow_decoder_dropped(flow_judge_decoder(monitor->judge), 0);
}

/* True: there may be more. */
static bool read_interface(struct monitor *monitor, struct monitor_interface *interface)
{
    uint64_t wanted = monitor->options->frames, most = READ_MOST;
    struct iwarp_sentence error;
    int got;

    if (wanted != 0 && wanted - monitor->frames < most)
        most = wanted - monitor->frames;
    if (most == 0)
        return false;
    note_losses(monitor, interface);
    monitor->reading = interface;
    got = monitor_interface_read(interface, (int)most, on_frame, monitor, &error);
    monitor->reading = NULL;
    if (got < 0) {
        monitor_interface_close(interface);
        monitor->gone = true;
        monitor_note(monitor, true, "%s; what was found stays", error.text);
    }
    return got > 0;
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

static void write_metrics(struct monitor *monitor)
{
    struct place place;
    struct iwarp_sentence error;

    if (monitor->options->metrics == NULL)
        return;
    place = place_at(monitor->options->metrics);
    monitor->counts.totals = flow_decoder_totals(flow_judge_decoder(monitor->judge));
    monitor->counts.open_flows = monitor->counts.totals->flows - monitor->ended_flows;
    monitor->counts.known = known_findings_count(&monitor->known);
    if (monitor_counts_write(&monitor->counts, &place, &error) == 0) {
        monitor->metrics_fail = false;
        return;
    }
    monitor->counts.unwritten++;
    if (!monitor->metrics_fail)
        monitor_note(monitor, true, "%s; it is tried again", error.text);
    monitor->metrics_fail = true;
}

static void say_losses(struct monitor *monitor)
{
    if (monitor->lost == monitor->lost_reported)
        return;
    monitor_note(monitor, true,
                 "%" PRIu64 " frames were lost before they were read (%" PRIu64
                 " since the last such line): what is missing of connections is not judged; a larger --buffer or a "
                 "--filter helps",
                 monitor->lost, monitor->lost - monitor->lost_reported);
    monitor->lost_reported = monitor->lost;
}

/* Once a minute, and at the end. */
static void every_minute(struct monitor *monitor)
{
    say_losses(monitor);
    monitor_write_counts(monitor);
    monitor_say_withheld(monitor);
}

static void every_second(struct monitor *monitor, uint64_t now)
{
    struct iwarp_sentence error;

    monitor->now_ns = now;
    flow_decoder_time(flow_judge_decoder(monitor->judge), now);
    if (monitor->lost_reported == 0)
        say_losses(monitor); /* the first ones at once */
    if (monitor->evidence != NULL)
        monitor_evidence_time(monitor->evidence, now);
    if (monitor->log != NULL && monitor_log_rotate(monitor->log, now, &error) != 0)
        monitor_note(monitor, true, "%s; the log does not rotate", error.text);
    if (now >= monitor->minute_ns || monitor->minute_ns > now + MINUTE_SECONDS * SECOND_NS) {
        every_minute(monitor);
        monitor->minute_ns = now + MINUTE_SECONDS * SECOND_NS;
    }
    monitor_say_unwritten(monitor);
    if (now >= monitor->metrics_ns || monitor->metrics_ns > now + monitor->options->metrics_seconds * SECOND_NS) {
        write_metrics(monitor);
        monitor->metrics_ns = now + monitor->options->metrics_seconds * SECOND_NS;
    }
}

static void open_anew(struct monitor *monitor)
{
    struct iwarp_sentence error;

    hung_up = 0;
    if (monitor->log != NULL && monitor_log_reopen(monitor->log, &error) != 0)
        monitor_note(monitor, true, "%s; it continues with the file that it has", error.text);
    write_metrics(monitor);
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

static bool is_over(const struct monitor *monitor, uint64_t now)
{
    bool open = false;

    for (size_t i = 0; i < monitor->options->interface_count; i++)
        open |= monitor->interfaces[i].in != NULL;
    return run_stopped() || !open || (monitor->options->frames != 0 && monitor->frames >= monitor->options->frames) ||
           (monitor->ends_ns != 0 && now >= monitor->ends_ns);
}

/* Until there is a frame, a signal, or something to do. */
static void wait_for_frames(const struct monitor *monitor, int milliseconds)
{
    struct pollfd files[MONITOR_INTERFACES];

    for (size_t i = 0; i < monitor->options->interface_count; i++)
        files[i] = (struct pollfd){.fd = monitor->interfaces[i].file, .events = POLLIN};
    (void)poll(files, monitor->options->interface_count, milliseconds);
}

/* What was on the wire before the end stands in a block of the ring, which is handed over a little later. */
static void read_rest(struct monitor *monitor)
{
    uint64_t end = clock_ns(), latest = end + 2 * MONITOR_BLOCK_MS * UINT64_C(1000000);

    for (uint64_t now = end; now < latest && now >= end; now = clock_ns()) {
        bool more = false;

        for (size_t i = 0; i < monitor->options->interface_count; i++)
            if (monitor->interfaces[i].in != NULL)
                more |= read_interface(monitor, &monitor->interfaces[i]);
        if (more && monitor->now_ns > end)
            return;
        if (!more)
            wait_for_frames(monitor, MONITOR_BLOCK_MS / 2);
    }
}

static void watch(struct monitor *monitor)
{
    uint64_t now = clock_ns();

    while (!is_over(monitor, now)) {
        bool more = false;

        for (size_t i = 0; i < monitor->options->interface_count; i++)
            if (monitor->interfaces[i].in != NULL)
                more |= read_interface(monitor, &monitor->interfaces[i]);
        end_losses(monitor, !more);
        now = clock_ns();
        if (now >= monitor->tick_ns || monitor->tick_ns > now + SECOND_NS) {
            every_second(monitor, now);
            monitor->tick_ns = now + SECOND_NS;
        }
        if (hung_up)
            open_anew(monitor);
        if (!more && !is_over(monitor, now))
            wait_for_frames(monitor, TICK_MS);
    }
    read_rest(monitor);
    say_losses(monitor);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

/* As root, before the process is another user's. */
static int open_interfaces(struct monitor *monitor, struct iwarp_sentence *error)
{
    const struct monitor_options *options = monitor->options;

    for (size_t i = 0; i < options->interface_count; i++)
        if (monitor_interface_open(&monitor->interfaces[i], options->interfaces[i], options->buffer, options->filter,
                                   error) != 0)
            return out_of_memory_noted() ? EXIT_INCONCLUSIVE : EXIT_USAGE;
    return 0;
}

static int open_outputs(struct monitor *monitor, struct iwarp_sentence *error)
{
    const struct monitor_options *options = monitor->options;
    struct monitor_log_config log = {.path = options->log,
                                     .echo = options->jsonl ? stdout : NULL,
                                     .rotate_octets = options->rotate_octets,
                                     .rotate_seconds = options->rotate_seconds,
                                     .keep = options->rotate_keep,
                                     .begin = monitor_log_begin,
                                     .user = monitor};
    struct monitor_evidence_config evidence = {.folder = options->evidence,
                                               .memory = (size_t)options->evidence_memory,
                                               .most_files = options->evidence_files,
                                               .most_octets = options->evidence_octets};
    uint64_t bad = 0;

    if (options->log != NULL && monitor_log_read(options->log, monitor_restore, monitor, &bad, error) != 0)
        return EXIT_INCONCLUSIVE;
    monitor_restored(monitor);
    if ((options->log != NULL || options->jsonl) && (monitor->log = monitor_log_open(&log, error)) == NULL)
        return EXIT_INCONCLUSIVE;
    if (bad != 0)
        monitor_note(monitor, true, "%.300s: %" PRIu64 " line%s of an earlier process not whole and left out",
                     options->log, bad, bad == 1 ? " is" : "s are");
    if (options->evidence != NULL && (monitor->evidence = monitor_evidence_open(&evidence, error)) == NULL)
        return EXIT_INCONCLUSIVE;
    return monitor_journal_open(options->journal, "warpcheck monitor begins", error) == 0 ? 0 : EXIT_INCONCLUSIVE;
}

/* Where it writes from now on, and nowhere else. */
static int confine_outputs(const struct monitor_options *options, struct iwarp_sentence *error)
{
    char texts[2][PATH_MAX];
    const char *writable[3];
    struct confine_config config = {.writable = writable};

    if (options->log != NULL)
        writable[config.writable_count++] = run_confine_place(options->log, texts[0], sizeof(texts[0]));
    if (options->metrics != NULL)
        writable[config.writable_count++] = run_confine_place(options->metrics, texts[1], sizeof(texts[1]));
    if (options->evidence != NULL)
        writable[config.writable_count++] = options->evidence;
    return confine(&config, error);
}

static int make_judge(struct monitor *monitor, struct iwarp_sentence *error)
{
    const struct monitor_options *options = monitor->options;
    struct flow_judge_config config = {
        .catalogue = monitor->catalogue,
        .selection = &options->selection,
        .memory = (size_t)options->memory,
        .idle_ns = options->idle * SECOND_NS,
        .finding = monitor_finding,
        .result = monitor_result,
        .flow_end = monitor_flow_end,
        .user = monitor,
    };
    size_t rows = catalogue_count(monitor->catalogue) + 1;

    monitor->judge = flow_judge_create(&config);
    monitor->exercised = calloc(rows, sizeof(*monitor->exercised));
    monitor->counts.by_requirement = calloc(rows, sizeof(*monitor->counts.by_requirement));
    if (monitor->judge == NULL || monitor->exercised == NULL || monitor->counts.by_requirement == NULL) {
        (void)iwarp_sentence_set(error, "out of memory");
        return EXIT_INCONCLUSIVE;
    }
    monitor->known.most = KNOWN_MOST;
    monitor->counts.catalogue = monitor->catalogue;
    monitor->counts.interfaces = monitor->interfaces;
    monitor->counts.interface_count = options->interface_count;
    monitor->counts.totals = flow_decoder_totals(flow_judge_decoder(monitor->judge));
    monitor->counts.started_ns = monitor->now_ns = clock_ns();
    if (options->duration != 0)
        monitor->ends_ns = monitor->now_ns + options->duration * SECOND_NS;
    monitor->minute_ns = monitor->now_ns + MINUTE_SECONDS * SECOND_NS;
    monitor_rate_begin(&monitor->said, options->a_minute, options->a_minute);
    monitor_rate_begin(&monitor->written, WRITTEN_A_MINUTE, WRITTEN_BURST);
    monitor_rate_begin(&monitor->cut, CUT_A_MINUTE, CUT_BURST);
    terminal_init(&monitor->terminal, stdout);
    monitor->terminal.all = options->all;
    monitor->terminal.quiet = options->quiet;
    return 0;
}

static void say_beginning(struct monitor *monitor)
{
    for (size_t i = 0; i < monitor->options->interface_count; i++)
        monitor_note(monitor, false, "%s is judged by %zu requirements, with a ring of %" PRIu64 " MiB",
                     monitor->interfaces[i].name, selection_count(&monitor->options->selection, monitor->catalogue),
                     monitor->options->buffer >> 20);
    if (monitor->old_findings != 0)
        monitor_note(monitor, false, "%" PRIu64 " finding%s known from %s", monitor->old_findings,
                     monitor->old_findings == 1 ? " is" : "s are", monitor->options->log);
}

static int begin(struct monitor *monitor, struct iwarp_sentence *error)
{
    const struct monitor_options *options = monitor->options;
    const char *first = options->evidence != NULL ? options->evidence
                        : options->log != NULL    ? options->log
                                                  : options->metrics;
    struct run_identity identity = run_identity_of(first);
    int status = make_judge(monitor, error);

    if (status == 0)
        status = open_interfaces(monitor, error);
    if (status == 0 && run_identity_become(&identity, error) != 0)
        status = EXIT_INCONCLUSIVE;
    if (status == 0)
        status = open_outputs(monitor, error);
    if (status != 0)
        return status;
    return confine_outputs(options, error) == 0 ? 0 : EXIT_INCONCLUSIVE;
}

static int monitor_interfaces(const struct monitor_options *options, const struct catalogue *catalogue)
{
    struct monitor monitor = {.options = options, .catalogue = catalogue};
    struct iwarp_sentence error;
    int status = begin(&monitor, &error);

    if (status != 0) {
        (void)complain(status, "%s", error.text);
    } else {
        say_beginning(&monitor);
        write_metrics(&monitor);
        watch(&monitor);
        flow_decoder_finish(flow_judge_decoder(monitor.judge));
        every_minute(&monitor);
        status = monitor_end(&monitor);
        write_metrics(&monitor);
    }
    for (size_t i = 0; i < options->interface_count; i++)
        monitor_interface_close(&monitor.interfaces[i]);
    monitor_evidence_close(monitor.evidence);
    monitor_log_close(monitor.log);
    known_findings_free(&monitor.known);
    terminal_free(&monitor.terminal);
    flow_judge_free(monitor.judge);
    free(monitor.counts.by_requirement);
    free(monitor.exercised);
    return status;
}

int cmd_monitor(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_hang_up};
    struct monitor_options options = {0};
    struct catalogue *catalogue = NULL;
    struct iwarp_sentence error;
    int status;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0) {
            (void)option_table_print(&monitor_option_table, stdout);
            return fputs(selection_usage, stdout) < 0 ? EXIT_INCONCLUSIVE : EXIT_CONFORMS;
        }
    run_stop_install("monitor");
    (void)sigaction(SIGHUP, &action, NULL);
    if (catalogue_load(&catalogue, &error) != 0)
        return complain(EXIT_USAGE, "%s", error.text);
    status = monitor_options_parse(&options, catalogue, argc, argv, &error);
    if (status != 0)
        (void)complain(status, "%s", error.text);
    else
        status = monitor_interfaces(&options, catalogue);
    catalogue_free(catalogue);
    return status;
}
