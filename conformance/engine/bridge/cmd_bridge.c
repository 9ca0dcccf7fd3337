/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck bridge: two interfaces -> decoder -> rules, and on to the other one, impaired where a script wants that. */
#define _GNU_SOURCE
#include "conformance/engine/bridge/cmd_bridge.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/exit_status.h"
#include "base/out_of_memory.h"
#include "conformance/engine/bridge/bridge_internal.h"
#include "conformance/engine/option/output_folder.h"
#include "conformance/engine/process/run_confine.h"
#include "conformance/engine/process/run_stop.h"
#include "reference-stack/program/complaint.h"
#include "tools/embedded.h"

#define SECOND_NS UINT64_C(1000000000)

static int out_of_memory(struct iwarp_sentence *error)
{
    (void)iwarp_sentence_set(error, "out of memory");
    return EXIT_INCONCLUSIVE;
}

static int make_judges(struct bridge *bridge, struct iwarp_sentence *error)
{
    for (unsigned side = 0; side < BRIDGE_SIDES; side++) {
        struct bridge_side *at = &bridge->sides[side];
        struct flow_judge_config config = {
            .catalogue = bridge->catalogue,
            .selection = &bridge->options->selection,
            .memory = (size_t)bridge->options->memory,
            .event = bridge->script != NULL ? bridge_event : NULL,
            .result = bridge_result,
            .user = at,
        };

        at->bridge = bridge;
        at->side = side;
        at->judge = flow_judge_create(&config);
        if (at->judge == NULL)
            return out_of_memory(error);
    }
    return 0;
}

static int set_up(struct bridge *bridge, struct iwarp_sentence *error)
{
    bridge->exercised = calloc(catalogue_count(bridge->catalogue) + 1, sizeof(*bridge->exercised));
    bridge->frame = malloc(BRIDGE_FRAME_ROOM);
    bridge->raw = malloc(BRIDGE_UNIT_OCTETS_MOST);
    bridge->written = malloc(BRIDGE_UNIT_OCTETS_MOST);
    bridge->streams.send = bridge_send;
    bridge->streams.expired = bridge_expired;
    bridge->streams.user = bridge;
    bridge->streams.holds = bridge->script != NULL;
    bridge->streams.listener = bridge->traffic.count != 0 ? &bridge->traffic.pair.listener : NULL;
    if (bridge_streams_begin(&bridge->streams) != 0 || bridge_sctp_begin(&bridge->sctp, &bridge->streams) != 0 ||
        bridge->exercised == NULL || bridge->frame == NULL || bridge->raw == NULL || bridge->written == NULL)
        return out_of_memory(error);
    terminal_init(&bridge->terminal, stdout);
    bridge->terminal.all = bridge->options->all;
    bridge->terminal.quiet = bridge->options->quiet;
    return make_judges(bridge, error);
}

/* The project's own suites, which the program carries. */
static int load_suite(struct bridge *bridge, struct iwarp_sentence *error)
{
    const struct bridge_suite *suite = bridge->options->suite;

    for (size_t i = 0; i < embedded_impairment_count; i++) {
        const struct embedded_file *file = &embedded_impairments[i];
        bool is_fields = strstr(file->path, "fields.lua") != NULL;

        if (is_fields == suite->fields &&
            bridge_script_read(bridge->script, file->path, file->octets, file->size, error) != 0)
            return EXIT_INCONCLUSIVE;
    }
    bridge_script_spread(bridge->script, suite->llp);
    return 0;
}

static int load_scripts(struct bridge *bridge, struct iwarp_sentence *error)
{
    const struct bridge_options *options = bridge->options;

    if (options->script_count == 0 && options->suite == NULL)
        return 0;
    bridge->script = bridge_script_new(options->seed, error);
    if (bridge->script == NULL)
        return EXIT_INCONCLUSIVE;
    for (size_t i = 0; i < options->script_count; i++)
        if (bridge_script_load(bridge->script, options->scripts[i], error) != 0)
            return out_of_memory_noted() ? EXIT_INCONCLUSIVE : EXIT_USAGE;
    return options->suite != NULL ? load_suite(bridge, error) : 0;
}

/* As root, before the process is another user's. */
static int open_interfaces(struct bridge *bridge, struct iwarp_sentence *error)
{
    for (unsigned side = 0; side < BRIDGE_SIDES; side++) {
        struct bridge_side *at = &bridge->sides[side];

        if (bridge_interface_open(&at->interface, bridge->options->interfaces[side], bridge->options->buffer, error) !=
            0)
            return out_of_memory_noted() ? EXIT_INCONCLUSIVE : EXIT_USAGE;
        bridge->streams.mtu[side] = at->interface.mtu;
        (void)snprintf(at->file, sizeof(at->file), "%.30s", bridge->options->interfaces[side]);
    }
    return 0;
}

static int open_captures(struct bridge *bridge, struct iwarp_sentence *error)
{
    const char *folder = bridge->options->capture;

    if (folder == NULL)
        return 0;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        (void)iwarp_sentence_set(error, "--capture %.300s: cannot make this folder: %s", folder, strerror(errno));
        return EXIT_INCONCLUSIVE;
    }
    for (unsigned side = 0; side < BRIDGE_SIDES; side++) {
        struct bridge_side *at = &bridge->sides[side];
        char path[PATH_MAX];
        int file;

        (void)snprintf(at->file, sizeof(at->file), "%c.pcapng", "ab"[side]);
        (void)snprintf(path, sizeof(path), "%s/%s", folder, at->file);
        file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (file < 0) {
            (void)iwarp_sentence_set(error, "%.300s: cannot write: %s", path, strerror(errno));
            return EXIT_INCONCLUSIVE;
        }
        at->capture = pcapng_open_file(file, path, PCAPNG_ETHERNET, "warpcheck " WARPCHECK_VERSION,
                                       side == 0 ? "link of device A: inbound is what it sent"
                                                 : "link of device B: inbound is what it sent",
                                       error);
        if (at->capture == NULL)
            return EXIT_INCONCLUSIVE;
    }
    return 0;
}

static int open_output(struct bridge *bridge, int argc, char **argv, struct iwarp_sentence *error)
{
    const struct bridge_options *options = bridge->options;
    struct judged_texts texts;
    struct shard whole = {0};
    struct run_info info = {
        .target = options->interfaces[0],
        .command = "bridge",
        .command_line = command_line_text((size_t)argc, argv, texts.command_line),
        .selected = bridge->selected,
    };

    judged_output_describe(&info, &texts, bridge->catalogue, &whole, NULL);
    if (judged_output_place(&bridge->output, &options->format, error) != 0 ||
        judged_output_begin(&bridge->output, &options->format, &info, error) != 0)
        return EXIT_INCONCLUSIVE;
    return 0;
}

/* In the process that makes the traffic: the rings are the bridge's. */
static void leave_interfaces(void *user)
{
    struct bridge *bridge = user;

    for (unsigned side = 0; side < BRIDGE_SIDES; side++)
        bridge_interface_close(&bridge->sides[side].interface);
}

static int begin(struct bridge *bridge, int argc, char **argv, struct iwarp_sentence *error)
{
    const struct bridge_options *options = bridge->options;
    const char *folder = options->output != NULL ? options->output : options->capture;
    struct run_identity identity = run_identity_of(folder);
    int status = load_scripts(bridge, error);

    bridge->traffic.leave = leave_interfaces;
    bridge->traffic.user = bridge;
    bridge->traffic.count =
        bridge_traffic_count(options, bridge->script != NULL ? bridge_script_streams(bridge->script) : 0);
    if (status == 0 && bridge_verdict_rows(bridge, error) != 0)
        status = EXIT_USAGE;
    if (status == 0)
        status = set_up(bridge, error);
    if (status == 0)
        status = open_interfaces(bridge, error);
    if (status == 0 && run_identity_become(&identity, error) != 0)
        status = EXIT_INCONCLUSIVE;
    if (status == 0 && options->output != NULL)
        status = output_folder_claim(&bridge->output.folder, options->output,
                                     options->force ? FOLDER_FORCE : FOLDER_NEW, false, error);
    if (status == 0) /* perhaps in the other folder, which has to be empty until it is claimed */
        status = open_captures(bridge, error);
    if (status == 0)
        status = open_output(bridge, argc, argv, error);
    if (status == 0 && bridge_traffic_start(&bridge->traffic, options, error) != 0)
        status = EXIT_INCONCLUSIVE;
    if (status == 0 && run_confine(folder, 0, 0, error) != 0)
        status = EXIT_INCONCLUSIVE;
    return status;
}

static void say_beginning(const struct bridge *bridge)
{
    const struct bridge_options *options = bridge->options;
    size_t count = bridge->script != NULL ? bridge_script_count(bridge->script) : 0;
    char impairments[40] = "";

    if (count != 0)
        (void)snprintf(impairments, sizeof(impairments), "; %zu impairment%s", count, count == 1 ? "" : "s");
    bridge_note(bridge, false, "%s (A) and %s (B) are one link; each device is judged by %zu requirements%s",
                options->interfaces[0], options->interfaces[1], bridge->selected, impairments);
}

static int bridge_interfaces(const struct bridge_options *options, const struct catalogue *catalogue, int argc,
                             char **argv)
{
    struct bridge bridge = {.options = options, .catalogue = catalogue, .traffic = {.lines = {.pipe = -1}}};
    struct iwarp_sentence error;
    int status = begin(&bridge, argc, argv, &error);

    if (status != 0) {
        (void)complain(status, "%s", error.text);
    } else {
        if (options->duration != 0)
            bridge.ends_ns = (uint64_t)time(NULL) * SECOND_NS + options->duration * SECOND_NS;
        say_beginning(&bridge);
        bridge_run(&bridge);
        for (unsigned side = 0; side < BRIDGE_SIDES; side++)
            flow_decoder_finish(flow_judge_decoder(bridge.sides[side].judge));
        status = bridge_end(&bridge);
    }
    for (unsigned side = 0; side < BRIDGE_SIDES; side++) {
        (void)pcapng_close(bridge.sides[side].capture, NULL);
        bridge_interface_close(&bridge.sides[side].interface);
        flow_judge_free(bridge.sides[side].judge);
    }
    judged_output_close(&bridge.output);
    terminal_free(&bridge.terminal);
    bridge_sctp_free(&bridge.sctp);
    bridge_streams_free(&bridge.streams);
    bridge_places_free(&bridge);
    bridge_script_free(bridge.script);
    bridge_traffic_free(&bridge.traffic);
    catalogue_free(bridge.rows);
    free(bridge.exercised);
    free(bridge.frame);
    free(bridge.raw);
    free(bridge.written);
    return status;
}

int cmd_bridge(int argc, char **argv)
{
    struct bridge_options options = {0};
    struct catalogue *catalogue = NULL;
    struct iwarp_sentence error;
    int status;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0) {
            (void)option_table_print(&bridge_option_table, stdout);
            return fputs(selection_usage, stdout) < 0 ? EXIT_INCONCLUSIVE : EXIT_CONFORMS;
        }
    run_stop_install("bridge");
    if (catalogue_load(&catalogue, &error) != 0)
        return complain(EXIT_USAGE, "%s", error.text);
    status = bridge_options_parse(&options, catalogue, argc, argv, &error);
    if (status != 0)
        (void)complain(status, "%s", error.text);
    else
        status = bridge_interfaces(&options, catalogue, argc, argv);
    catalogue_free(catalogue);
    return status;
}
