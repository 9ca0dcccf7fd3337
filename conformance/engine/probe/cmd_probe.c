/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck probe: what a device is, in seconds. */
#include "conformance/engine/probe/cmd_probe.h"

#include <jansson.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/process/run_confine.h"
#include "conformance/engine/process/run_stop.h"
#include "conformance/engine/option/utc_text.h"
#include "conformance/engine/probe/probe_measure.h"
#include "conformance/engine/probe/probe_options.h"
#include "conformance/engine/probe/probe_output.h"
#include "conformance/engine/probe/probe_profile.h"
#include "conformance/engine/probe/probe_veth.h"
#include "conformance/engine/device/control.h"
#include "conformance/engine/profile/profile.h"
#include "conformance/engine/script/services.h"
#include "reference-stack/defects/defect.h"
#include "reference-stack/program/complaint.h"
#include "base/exit_status.h"

enum { CONTROL_MS = 3000, PATH_OCTETS = 4200 };

struct probe_command {
    struct probe_options options;
    struct catalogue *catalogue;
    struct pics *pics;
    struct script_host *host;
    struct defect_set *defects;
    struct profile profile; /* of a device that was named */
    struct run_identity identity;
    struct device_command *commands; /* of the profile; NULL: it has none */
    struct rig *rig;
    struct probe_wire wire;
    json_t *found;          /* the lines of the report */
    json_t *capabilities;   /* what the upper tester says of its capabilities */
    struct probe_veth veth; /* the other end of the tester's interface, where `is_veth` */
    bool is_veth;
};

/* A profile out of the command line, as a person would have written it. */
static json_t *profile_of_options(const struct probe_options *options)
{
    char address[64];
    json_t *json = json_pack("{s:s, s:s, s:i, s:s, s:s}", "name", options->name != NULL ? options->name : "my-device",
                             "address", net_address_format(&options->address, address, sizeof(address)), "port",
                             (int)options->port, "interface", options->interface, "own_address", options->own_address);

    if (options->gateway != NULL)
        (void)json_object_set_new(json, "gateway", json_string(options->gateway));
    (void)json_object_set_new(json, "control", options->control != NULL ? json_string(options->control) : json_null());
    if (options->control_token != NULL)
        (void)json_object_set_new(json, "control_token_file", json_string(options->control_token));
    return json;
}

static int read_profile(struct probe_command *command, struct iwarp_sentence *error)
{
    const struct probe_options *options = &command->options;
    char today[UTC_TEXT_OCTETS];
    struct profile_context context = {command->catalogue, command->pics, utc_text(today)};

    today[10] = '\0'; /* the day alone */
    if (options->profile != NULL) {
        if (profile_load(&command->profile, options->profile, &context, error) != 0)
            return -1;
        return command->profile.sctp == IWARP_SCTP_UNDECIDED
                   ? 0
                   : iwarp_sentence_set(error,
                                        "%.200s: this device's DDP is over SCTP, and probe asks over MPA and TCP alone",
                                        options->profile);
    }
    if (options->address.family != 0)
        return profile_read_json(&command->profile, profile_of_options(options), "the command line", &context, error);
    return 0;
}

static int name_defects(struct probe_command *command, struct iwarp_sentence *error)
{
    struct defect_list *list;

    if (command->options.defect_count == 0)
        return 0;
    list = defect_list_embedded(error);
    if (list != NULL)
        command->defects = defect_set_new(list, command->options.defects, command->options.defect_count, error);
    defect_list_free(list);
    return command->defects != NULL ? 0 : -1;
}

static int prepare(struct probe_command *command, struct iwarp_sentence *error)
{
    command->found = json_array();
    if (command->found == NULL || catalogue_load(&command->catalogue, error) != 0 ||
        pics_load(&command->pics, error) != 0 || (command->host = script_host_new(error)) == NULL)
        return complain(EXIT_ENVIRONMENT, "%s", command->found != NULL ? error->text : "out of memory");
    if (read_profile(command, error) != 0 || name_defects(command, error) != 0)
        return complain(EXIT_USAGE, "%s", error->text);
    services_private_data(command->host, command->profile.json != NULL ? &command->profile : NULL);
    if (command->options.output != NULL &&
        probe_output_check(command->options.output, command->options.force, error) != 0)
        return complain(EXIT_USAGE, "%s", error->text);
    return 0;
}

/* An upper tester that is not there is reported, and the device is probed without. */
static void try_control(struct probe_command *command)
{
    struct control_config config = {.address = command->profile.place.control,
                                    .port = command->profile.place.control_port,
                                    .token = &command->profile.token,
                                    .connect_ms = CONTROL_MS};
    struct iwarp_sentence why = {{0}};
    struct control *control;

    if (config.address.family == 0)
        return;
    control = control_new(&config, &why);
    (void)json_array_append_new(command->found, json_pack("{s:s, s:b, s:s}", "type", "upper tester", "answers",
                                                          control != NULL, "why", why.text));
    if (control == NULL)
        command->profile.place.control.family = 0;
    control_free(control);
}

static int give_up_rest(void *user, struct iwarp_sentence *error)
{
    const struct probe_command *command = user;
    unsigned needs = command->options.simulate ? 0 : CONFINE_CONNECTIONS | CONFINE_SIGNALS;
    char text[PATH_OCTETS];

    if (run_identity_become(&command->identity, error) != 0)
        return -1;
    return run_confine(command->options.output != NULL ? run_confine_place(command->options.output, text, sizeof(text))
                                                       : NULL,
                       needs, 0, error);
}

static int open_rig(struct probe_command *command, struct iwarp_sentence *error)
{
    const struct probe_options *options = &command->options;
    struct rig_lock lock = {give_up_rest, command};
    struct rig_sim_config sim = {.seed = options->seed, .defects = command->defects, .ipv6 = options->ipv6};
    struct rig_embedded_config embedded = {.seed = options->seed,
                                           .defects = options->defects,
                                           .defect_count = options->defect_count,
                                           .ipv6 = options->ipv6,
                                           .program = "/proc/self/exe",
                                           .lock = lock,
                                           .identity = command->identity};

    if (command->profile.json != NULL) {
        command->is_veth = probe_veth_find(command->profile.interface, &command->veth);
        try_control(command);
        if (profile_commands(&command->profile, -1, &command->identity, &command->commands, error) == 0)
            command->rig = rig_profile_new(&command->profile, &command->profile.place, command->commands, options->seed,
                                           &lock, error);
    } else if (options->simulate) {
        command->rig = give_up_rest(command, error) == 0 ? rig_sim_new(&sim, error) : NULL;
    } else {
        command->rig = rig_embedded_new(&embedded, error);
    }
    return command->rig != NULL ? 0 : -1;
}

static int add_target(struct probe_command *command)
{
    const struct rig *rig = command->rig;
    char device[64], own[64];
    json_t *line =
        json_pack("{s:s, s:s, s:s, s:i, s:s, s:s*}", "type", "target", "name",
                  command->profile.json != NULL ? command->profile.name : "the reference stack", "address",
                  net_address_format(&rig->dut, device, sizeof(device)), "port", (int)rig->port, "own_address",
                  net_address_format(&rig->own, own, sizeof(own)), "interface", command->profile.interface);

    return json_array_insert_new(command->found, 0, line);
}

/* TCP, and then what stands on it. False with a sentence: the device cannot be probed further. */
static bool ask_all(struct probe_command *command, struct iwarp_sentence *error)
{
    struct rig *rig = command->rig;
    bool accepts, measured;

    command->wire.gateway = command->profile.gateway;
    probe_wire_watch(&command->wire, rig);
    accepts = rig_measure(rig, error) == 0;
    measured = probe_wire_ask(&command->wire) == 0;
    rig->link->tap = NULL;
    command->wire.next = NULL;
    if (accepts && rig->only_opens)
        (void)json_array_append_new(
            command->found, json_pack("{s:s, s:b, s:s, s:s}", "type", "tcp", "accepts", 0, "outcome", "only opens",
                                      "why", "the device accepts no connection; connect_command opens them"));
    else if (accepts)
        (void)json_array_append_new(command->found, json_pack("{s:s, s:b, s:f}", "type", "tcp", "accepts", 1,
                                                              "round_trip_ms", (double)rig->round_trip_ns / 1e6));
    else
        (void)json_array_append_new(command->found,
                                    json_pack("{s:s, s:b, s:s}", "type", "tcp", "accepts", 0, "why", error->text));
    if (!measured)
        (void)iwarp_sentence_set(error, "the link failed: %.400s", rig->link->error.text);
    return accepts && measured &&
           probe_measure(command->host, rig, &command->wire, command->found, &command->capabilities, error) == 0;
}

/* What was measured counts from now on: a requirement that it leaves out, the device cannot break. */
static void leave_out(struct probe_command *command)
{
    struct iwarp_sentence unused;
    json_t *line;
    size_t i;

    json_array_foreach(command->found, i, line)
    {
        if (json_is_true(json_object_get(line, "measured")))
            (void)pics_set(command->pics, json_string_value(json_object_get(line, "item")),
                           json_string_value(json_object_get(line, "value")), &unused);
    }
    for (i = json_array_size(command->found); i-- > 0;) {
        const char *id = json_string_value(json_object_get(json_array_get(command->found, i), "id"));
        const struct requirement *requirement = id != NULL ? catalogue_find(command->catalogue, id) : NULL;

        line = json_array_get(command->found, i);
        if (requirement != NULL && json_object_get(line, "verdict") != NULL &&
            pics_evaluate(command->pics, requirement->capability, NULL, &unused) == 0)
            (void)json_array_remove(command->found, i);
    }
}

/* What of the device a run could judge by what it serves: nothing, or its start-ups alone. */
static const char *what_is_left(unsigned startups, bool speaks)
{
    if (!speaks)
        return "nothing shows that the device speaks MPA: it accepts no start-up, and sends none";
    return startups != 0 ? "the device serves no exchange after a start-up: a run can judge its start-ups alone"
                         : "the device serves no exchange by which it could be judged";
}

/* One sentence and the exit status for all of it. */
static enum exit_status conclude(struct probe_command *command, bool done, const struct iwarp_sentence *error)
{
    unsigned defects = 0, failed = 0, startups = 0, served = 0, measured = 0, unmeasured = 0;
    enum exit_status status = EXIT_CONFORMS;
    bool speaks = probe_accepts_any(command->found);
    const json_t *line;
    struct iwarp_sentence text;
    size_t i;

    json_array_foreach(command->found, i, line)
    {
        const char *type = json_string_value(json_object_get(line, "type"));

        if (type == NULL) /* out of memory: main() reports it */
            continue;
        defects += strcmp(type, "defect") == 0;
        failed +=
            strcmp(type, "defect") == 0 && strcmp(json_string_value(json_object_get(line, "verdict")), "FAIL") == 0;
        if (strcmp(type, "exchange") == 0 && json_is_true(json_object_get(line, "served")))
            *(strstr(json_string_value(json_object_get(line, "name")), "startup") != NULL ? &startups : &served) += 1;
        if (strcmp(type, "capability") == 0)
            *(json_is_true(json_object_get(line, "measured")) ? &measured : &unmeasured) += 1;
    }
    if (failed != 0 && speaks) /* of another device a run says nothing, either */
        status = EXIT_FAILS;
    else if (!done || served == 0)
        status = EXIT_INCONCLUSIVE;
    if (status == EXIT_INCONCLUSIVE)
        (void)complain(status, "%.400s", done ? what_is_left(startups, speaks) : error->text);
    (void)iwarp_sentence_set(&text, "%u %s; %u capabilities measured, %u not", defects,
                             defects == 1 ? "defect" : "defects", measured, unmeasured);
    (void)json_array_append_new(command->found, json_pack("{s:s, s:s, s:i, s:i, s:i, s:i}", "type", "summary", "text",
                                                          text.text, "defects", (int)defects, "measured", (int)measured,
                                                          "unmeasured", (int)unmeasured, "status", (int)status));
    return status;
}

static json_t *make_profile(const struct probe_command *command)
{
    json_t *base =
        command->profile.json != NULL
            ? json_incref(command->profile.json)
            : json_pack("{s:s, s:s, s:i, s:s, s:s, s:n}", "name", "reference-stack", "address", "10.77.0.2", "port",
                        RIG_PORT, "interface", "INTERFACE OF THE TESTER", "own_address", "10.77.0.3", "control");
    json_t *profile = probe_profile_make(command->pics, base, command->found);

    json_decref(base);
    return profile;
}

/* Was anything learned of the device? A profile of guesses alone would be taken for one of it. */
static bool any_measured(const json_t *found)
{
    const json_t *line;
    size_t i;

    json_array_foreach(found, i, line)
    {
        if (json_is_true(json_object_get(line, "measured")))
            return true;
    }
    return false;
}

/* Was a start-up asked for? Else nothing is known of the device. */
static bool any_startup(const json_t *found)
{
    return probe_line(found, "startup", "role", "responder") != NULL ||
           probe_line(found, "startup", "role", "initiator") != NULL;
}

static enum exit_status probe(struct probe_command *command, struct iwarp_sentence *error)
{
    enum exit_status status;
    json_t *profile; /* null: there is none */
    bool done;

    command->identity = run_identity_of(command->options.output);
    if (open_rig(command, error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error->text);
    done = add_target(command) == 0 && ask_all(command, error);
    if (probe_wire_report(&command->wire, command->is_veth ? &command->veth : NULL, command->found) != 0 ||
        (any_startup(command->found) &&
         probe_profile_measure(command->pics, command->capabilities, command->found) != 0))
        return complain(EXIT_ENVIRONMENT, "out of memory");
    leave_out(command);
    status = conclude(command, done, error);
    profile = any_measured(command->found) ? make_profile(command) : json_null();
    if (profile == NULL)
        status = complain(EXIT_ENVIRONMENT, "out of memory for the profile");
    else if (probe_output_write(&command->options, command->found, profile, error) != 0)
        status = complain(EXIT_ENVIRONMENT, "%s", error->text);
    json_decref(profile);
    return status;
}

int cmd_probe(int argc, char **argv)
{
    struct probe_command command;
    struct iwarp_sentence error = {{0}};
    int status;

    memset(&command, 0, sizeof(command));
    if (probe_options_parse(&command.options, argc, argv, &error) != 0)
        return complain(EXIT_USAGE, "%s", error.text);
    if (command.options.help)
        return probe_usage(stdout) < 0 ? EXIT_ENVIRONMENT : EXIT_DONE;
    run_stop_install("probe");
    status = prepare(&command, &error);
    if (status == 0)
        status = probe(&command, &error);
    rig_free(command.rig);
    device_command_free(command.commands);
    json_decref(command.capabilities);
    json_decref(command.found);
    defect_set_free(command.defects);
    profile_free(&command.profile);
    script_host_free(command.host);
    pics_free(command.pics);
    catalogue_free(command.catalogue);
    return status;
}
