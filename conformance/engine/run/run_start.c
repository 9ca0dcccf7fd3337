/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/run_start.h"

#include <stdio.h>

#include "conformance/engine/process/run_confine.h"
#include "reference-stack/program/shell_word.h"
#include "conformance/engine/device/device_command.h"

/* A process that drops privileges before device input is read. */
struct start_failure {
    const struct run_command *command;
    bool workers; /* it has started some, and may have to stop them */
};

/* Drops privileges: from now on input comes from a device, or from a script. */
static int give_up_rest(void *user, struct iwarp_sentence *error)
{
    const struct start_failure *failure = user;
    const struct run_command *command = failure->command;
    unsigned needs = failure->workers ? CONFINE_SIGNALS : 0;

    if (!command->options.simulate)
        needs |= CONFINE_CONNECTIONS | CONFINE_SIGNALS;
    if (run_identity_become(&command->identity, error) != 0)
        return -1;
    return run_confine(command->options.output, needs, 0, error);
}

int run_start_rig(struct run_command *command, bool workers, struct iwarp_sentence *error)
{
    const struct run_options *options = &command->options;
    struct start_failure failure = {command, workers};
    struct rig_lock lock = {give_up_rest, &failure};
    struct rig_embedded_config embedded = {.seed = options->seed,
                                           .defects = options->defects,
                                           .defect_count = options->defect_count,
                                           .variants = options->variants,
                                           .variant_count = options->variant_count,
                                           .choices = options->choices,
                                           .ipv6 = options->ipv6,
                                           .sctp = options->sctp_profile,
                                           .program = "/proc/self/exe",
                                           .lock = lock,
                                           .identity = command->identity};

    if (options->simulate)
        return give_up_rest(&failure, error);
    if (options->profile != NULL && profile_commands(&command->profile, command->output.evidence, &command->identity,
                                                     &command->commands, error) != 0)
        return -1;
    if (options->profile != NULL)
        command->rig =
            rig_profile_new(&command->profile, command->place, command->commands, options->seed, &lock, error);
    else
        command->rig = rig_embedded_new(&embedded, error);
    if (command->rig != NULL && options->cm)
        command->rig->measures = &command->rig->cm.tester;
    return command->rig == NULL ? -1 : rig_measure(command->rig, error);
}

static void describe_replay(const struct run_command *command, char *text, size_t room)
{
    size_t used = 0;

    text[0] = '\0';
    if (command->profile.replay != NULL)
        used = shell_append_words(text, room, 0, "--dut", command->profile.replay);
    else if (command->options.profile != NULL)
        used = shell_append(text, room, 0, "--dut", command->options.profile);
    (void)option_table_replay(&run_option_table, &command->options, text, room, used);
}

void run_start_configure(struct run_command *command, struct runner_config *config, struct run_start_texts *texts)
{
    json_t *earlier;
    size_t i;

    *config = (struct runner_config){
        .host = command->host,
        .plan = &command->plan,
        .selection = &command->options.selection,
        .catalogue = command->catalogue,
        .pics = command->pics,
        .rig = command->rig,
        .sim = {.seed = command->options.seed, .defects = command->defects, .ipv6 = command->options.ipv6},
        .evidence = {.folder = command->options.evidence == EVIDENCE_NONE ? -1 : command->output.evidence,
                     .kept = command->options.evidence,
                     .limit = command->options.evidence_limit,
                     .name = "evidence",
                     .output = command->options.output,
                     .ladder = true},
        .services = &command->services,
        .replay = texts->replay,
    };
    json_array_foreach(results_done_services(command->output.done), i, earlier)
    {
        run_services_resume(&command->services, earlier);
    }
    describe_replay(command, texts->replay, sizeof(texts->replay));
}
