/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck run: judges a live (or simulated) device. */
#include "conformance/engine/run/cmd_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/process/run_stop.h"
#include "conformance/engine/device/device_command.h"
#include "conformance/engine/run/lab_launcher.h"
#include "conformance/engine/run/run_compare.h"
#include "conformance/engine/run/run_conditions.h"
#include "conformance/engine/run/run_internal.h"
#include "conformance/engine/run/run_journal.h"
#include "conformance/engine/run/run_pool.h"
#include "conformance/engine/run/run_rehearse.h"
#include "conformance/engine/run/run_start.h"
#include "reference-stack/defects/defect.h"
#include "reference-stack/program/complaint.h"

/* What would be run; where the profile names no upper tester, also what would leave itself out. */
static int dry_run(struct run_command *command, struct iwarp_sentence *error)
{
    bool alone = command->options.profile != NULL && command->profile.place.control.family == 0;
    size_t skipped = 0;

    if (alone && run_rehearse(&command->plan, command->host, command->catalogue, error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error->text);
    for (size_t i = 0; i < command->plan.count; i++) {
        const struct plan_item *item = &command->plan.items[i];

        print_plain(stdout, "%-16s %-10s %s:%d  %s%s%s", item->check->id, item->role, item->check->path,
                    item->check->line, item->check->purpose, item->skip.text[0] != '\0' ? "  SKIP: " : "",
                    item->skip.text);
        skipped += item->skip.text[0] != '\0';
    }
    if (fflush(stdout) != 0)
        return 0; /* the list is lost, which is reported when the program ends */
    return complain(0, "%zu check%s to run, %zu to skip%s", command->plan.count - skipped,
                    command->plan.count - skipped == 1 ? "" : "s", skipped,
                    alone || command->options.profile == NULL ? "" : "; the upper tester may refuse more of them");
}

static void describe_target(const struct run_command *command, char *text, size_t room)
{
    const struct run_options *options = &command->options;
    size_t used;

    if (options->profile != NULL) {
        (void)snprintf(text, room, "%s", command->profile.name);
        return;
    }
    used = (size_t)snprintf(text, room, "reference stack, %s%s%s", options->simulate ? "simulated" : "embedded",
                            options->ipv6 ? ", IPv6" : "",
                            !options->sctp                                ? ""
                            : options->sctp_profile == IWARP_SCTP_DRAFT02 ? ", SCTP (draft-stewart-rddp-sctp-02)"
                                                                          : ", SCTP");
    for (size_t i = 0; i < options->defect_count && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s %s", i == 0 ? ", defect" : ",", options->defects[i]);
    for (size_t i = 0; i < options->variant_count && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s %s", i == 0 ? ", variant" : ",", options->variants[i]);
    if (options->choices != NULL && used < room)
        (void)snprintf(text + used, room - used, ", choices %s", options->choices);
}

/* 0, or the exit status with the sentence set. */
static int open_output(struct run_command *command, struct iwarp_sentence *error)
{
    const struct run_options *options = &command->options;
    struct judged_texts texts;
    char target[512];
    struct run_info info = {
        .target = target,
        .seed = options->seed,
        .command = "run",
        .command_line = command_line_text(options->word_count, options->words, texts.command_line),
        .selected = command->plan.decidable,
        .conditions = run_conditions(options, command->host, error),
        .functions = run_journal_functions(),
        .device = profile_identity(&command->profile),
    };
    int status = EXIT_ENVIRONMENT;

    describe_target(command, target, sizeof(target));
    judged_output_describe(&info, &texts, command->catalogue, &options->shard, command->plan_digest);
    if (info.functions == NULL)
        (void)iwarp_sentence_set(error, "out of memory");
    else if (info.conditions != NULL)
        status = run_output_open(&command->output, options, &info, error);
    json_decref(info.conditions);
    json_decref(info.functions);
    json_decref(info.device);
    return status;
}

static int run(struct run_command *command, struct iwarp_sentence *error)
{
    struct runner_config config;
    struct run_start_texts texts;
    int status;

    run_start_configure(command, &config, &texts);
    run_judge_listen(command, &config);
    if (command->pool != NULL)
        run_pool_serve(command->pool, &config);
    status = runner_run(&config, &command->totals, error);
    if (command->pool != NULL && run_pool_end(command->pool, status == 0, &command->traffic, error) != 0)
        status = -1;
    status = run_end(command, status, error);
    return command->options.compare == NULL ? status
                                            : run_compare(command->options.compare, command->options.output, status);
}

static int run_prepared(struct run_command *command, struct iwarp_sentence *error)
{
    int status;

    if (command->options.dry_run)
        return dry_run(command, error);
    /* The output folder is made before the namespace is entered: an ordinary user is root there, and only there. */
    command->identity = run_identity_of(command->options.output);
    if (run_identity_assume(&command->identity, error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error->text);
    status = open_output(command, error);
    run_identity_resume(&command->identity);
    if (status != 0)
        return complain(status, "%s", error->text);
    if (command->plan.count != 0 &&
        (run_pool_start(command, error) != 0 || run_start_rig(command, command->pool != NULL, error) != 0)) {
        const char *hint = command->pool != NULL ? " (-j 1 runs one check at a time, and needs less)" : "";

        run_pool_free(command->pool);
        command->pool = NULL;
        run_output_undo(&command->output, &command->options);
        return complain(EXIT_ENVIRONMENT, "%s%s", error->text, hint);
    }
    return run(command, error);
}

static int run_all(struct run_command *command, int argc, char **argv)
{
    struct iwarp_sentence error = {{0}};
    int status;

    if (run_options_parse(&command->options, argc, argv, &error) != 0)
        return complain(EXIT_USAGE, "%s", error.text);
    if (command->options.help)
        return option_table_print(&run_option_table, stdout) < 0 || fputs(selection_usage, stdout) < 0
                   ? EXIT_ENVIRONMENT
                   : 0;
    if (lab_options_check(&command->options.lab, command->options.profile, &error) != 0)
        return complain(EXIT_USAGE, "%s", error.text);
    if (command->options.profile != NULL && lab_launch(command->options.profile, argc, argv, &error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    run_stop_install("run");
    terminal_init(&command->terminal, format_option_machine(&command->options.format) ? stderr : stdout);
    command->terminal.all = command->options.all;
    command->terminal.ladders = command->options.ladders;
    command->terminal.quiet = command->options.quiet;
    status = run_prepare(command, &error);
    if (status == 0)
        status = run_prepared(command, &error);
    run_pool_free(command->pool);
    run_output_close(&command->output);
    terminal_free(&command->terminal);
    run_services_free(&command->services);
    free(command->exercised);
    rig_free(command->rig);
    device_command_free(command->commands);
    defect_set_free(command->defects);
    plan_free(&command->plan);
    profile_free(&command->profile);
    script_host_free(command->host);
    pics_free(command->pics);
    catalogue_free(command->catalogue);
    return status;
}

int cmd_run(int argc, char **argv)
{
    struct run_command command;
    int status;

    memset(&command, 0, sizeof(command));
    command.output.evidence = -1;
    status = run_all(&command, argc, argv);
    return exit_code_of(command.options.exit_code, status);
}
