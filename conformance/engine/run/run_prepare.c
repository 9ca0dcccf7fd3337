/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run needs before it begins: tables, scripts, profile, defects and plan. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/profile/rig_llp.h"
#include "conformance/engine/run/lab_launcher.h"
#include "conformance/engine/run/run_compare.h"
#include "conformance/engine/run/run_internal.h"
#include "conformance/requirements/named.h"
#include "reference-stack/defects/defect.h"
#include "reference-stack/program/complaint.h"

static int load_scripts(struct run_command *command, struct iwarp_sentence *error)
{
    if (command->options.script_count == 0)
        return script_load_embedded(command->host, error);
    for (size_t i = 0; i < command->options.script_count; i++)
        if (script_load_path(command->host, command->options.scripts[i], error) != 0)
            return -1;
    return 0;
}

/* Also for a live run, which only passes the names on: an unknown name is reported before anything is judged. */
static int name_defects(struct run_command *command, struct iwarp_sentence *error)
{
    const struct run_options *options = &command->options;
    const bool draft = options->sctp_profile == IWARP_SCTP_DRAFT02;
    const struct defect_names names = {.defects = options->defects,
                                       .defect_count = options->defect_count,
                                       .variants = options->variants,
                                       .variant_count = options->variant_count,
                                       .choices = options->choices,
                                       .layer = options->cm ? CHOICE_CM : choice_layer_of(options->sctp, draft)};

    return defect_set_named(&names, &command->defects, error);
}

/* What this one device may not survive: it is skipped, or comes last. 0, or -1 with a sentence. */
static int place_hazards(struct run_command *command, struct iwarp_sentence *error)
{
    for (size_t i = 0; i < command->plan.count; i++) {
        struct plan_item *item = &command->plan.items[i];
        const char *note = profile_hazard(&command->profile, item->check->id, item->role);

        if (command->options.destructive)
            item->hazard = command->options.profile != NULL && (note != NULL || item->check->destructive);
        else if (note != NULL && item->skip.text[0] == '\0')
            (void)iwarp_sentence_set(&item->skip, "runs only with --destructive on this device: %s", note);
    }
    return command->options.destructive ? plan_put_hazards_last(&command->plan, error) : 0;
}

static int nothing_selected(const struct run_command *command, struct iwarp_sentence *error)
{
    const char *unmatched = selection_unmatched(&command->options.selection, command->catalogue);

    if (unmatched != NULL && command->options.script_count == 0) {
        (void)requirement_unmatched(command->catalogue, unmatched, error);
        return complain(EXIT_NOTHING_SELECTED, "%s", error->text);
    }
    return complain(EXIT_NOTHING_SELECTED, "no check is selected%s (warpcheck list --checks shows all checks)",
                    command->options.sctp ? " that drives a device over SCTP" : "");
}

/* What is below the device's DDP: the profile says it; for the reference stack the option says it. */
static int agree_llp(struct run_command *command, struct iwarp_sentence *error)
{
    struct run_options *options = &command->options;
    enum iwarp_sctp_profile sctp = command->profile.sctp;

    if (options->profile == NULL)
        return options->sctp ? pics_set_sctp(command->pics, options->sctp_profile != IWARP_SCTP_DRAFT02,
                                             options->sctp_profile != IWARP_SCTP_RFC5043, true, error)
                             : 0;
    if (options->llp != NULL && strcmp(options->llp, options->cm ? "cm" : rig_llp_name(sctp)) != 0)
        return iwarp_sentence_set(error, "--llp %s: the profile %.200s says that the device's \"llp\" is \"%s\"",
                                  options->llp, options->profile, rig_llp_name(sctp));
    if (options->cm && sctp != IWARP_SCTP_UNDECIDED)
        return iwarp_sentence_set(error, "--llp cm: the profile %.200s is of a device over SCTP", options->profile);
    options->sctp = sctp != IWARP_SCTP_UNDECIDED;
    options->sctp_profile = sctp;
    return 0;
}

/*
 * The run itself uses the profile's own place to learn what the device serves; each check that runs at the same time
 * uses another place.
 */
static int agree_jobs(struct run_command *command, struct iwarp_sentence *error)
{
    const struct profile *profile = &command->profile;
    unsigned jobs = command->options.jobs;

    if (command->options.profile == NULL)
        return 0;
    command->place = &profile->place;
    if (jobs < 2)
        return 0;
    if (profile->ipsec.given)
        return iwarp_sentence_set(error,
                                  "-j %u: the device of %.200s is reached through IPsec, and checks side by side would "
                                  "change each other's SAs",
                                  jobs, command->options.profile);
    if (profile->wait_for_device != 0 || profile->restart_command != NULL || profile->connect_command != NULL)
        return iwarp_sentence_set(error,
                                  "-j %u: the device of %.200s may be lost and started again (wait_for_device, "
                                  "restart_command, connect_command), which checks side by side would meet",
                                  jobs, command->options.profile);
    if (profile->beside_count < jobs)
        return iwarp_sentence_set(error,
                                  "-j %u: %.200s has places for %zu checks side by side (\"beside\", docs/profiles.md)",
                                  jobs, command->options.profile, profile->beside_count);
    return 0;
}

int run_prepare(struct run_command *command, struct iwarp_sentence *error)
{
    struct plan_config plan = {.selection = &command->options.selection,
                               .destructive = command->options.destructive,
                               .cm = command->options.cm};
    struct profile_context context;
    char now[UTC_TEXT_OCTETS], hint[NEAREST_HINT_OCTETS];

    if (catalogue_load(&command->catalogue, error) != 0 || pics_load(&command->pics, error) != 0 ||
        (command->host = script_host_new(error)) == NULL)
        return complain(EXIT_ENVIRONMENT, "%s", error->text);
    (void)snprintf(command->today, sizeof(command->today), "%.10s", utc_text(now));
    if (command->options.cm && pics_set_cm(command->pics, command->options.simulate, error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error->text);
    context = (struct profile_context){command->catalogue, command->pics, command->today};
    if (command->options.profile != NULL &&
        (profile_load(&command->profile, command->options.profile, &context, error) != 0 ||
         services_prefer(command->host, command->profile.good_exchange, command->options.profile, error) != 0))
        return complain(EXIT_USAGE, "%s%s", error->text, lab_hint(command->options.profile, hint));
    services_answers(command->host, command->pics);
    services_private_data(command->host, command->options.profile != NULL ? &command->profile : NULL);
    if (agree_llp(command, error) != 0 || agree_jobs(command, error) != 0)
        return complain(EXIT_USAGE, "%s", error->text);
    plan.sctp = command->options.sctp;
    plan.profile = command->options.sctp_profile;
    plan.starts_initiator = command->profile.connect_command != NULL;
    if (command->options.compare != NULL &&
        run_compare_check(command->options.compare, command->options.output, command->catalogue, error) != 0)
        return complain(EXIT_USAGE, "%s", error->text);
    if (load_scripts(command, error) != 0)
        return complain(script_short_of_memory(command->host) ? EXIT_ENVIRONMENT : EXIT_USAGE, "%s", error->text);
    if (name_defects(command, error) != 0)
        return complain(EXIT_USAGE, "%s", error->text);
    plan.catalogue = command->catalogue;
    plan.pics = command->pics;
    plan.own_scripts = command->options.script_count != 0;
    if (plan_make(&command->plan, command->host, &plan, error) != 0 || place_hazards(command, error) != 0)
        return complain(command->plan.short_of_memory ? EXIT_ENVIRONMENT : EXIT_USAGE, "%s", error->text);
    if (command->plan.count == 0)
        return nothing_selected(command, error);
    if (command->options.shard.of != 0 &&
        plan_shard(&command->plan, &command->options.shard, command->plan_digest, error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error->text);
    command->exercised = calloc(catalogue_count(command->catalogue) + 1, sizeof(*command->exercised));
    if (command->exercised == NULL)
        return complain(EXIT_ENVIRONMENT, "out of memory");
    return 0;
}
