/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck interop: each device with each other one, as initiator and as responder. */
#define _GNU_SOURCE
#include "conformance/engine/interop/cmd_interop.h"

#include <jansson.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/monotonic.h"
#include "base/exit_status.h"
#include "conformance/engine/interop/interop_options.h"
#include "conformance/engine/interop/interop_output.h"
#include "conformance/engine/interop/interop_tests.h"
#include "conformance/engine/option/utc_text.h"
#include "conformance/engine/process/run_confine.h"
#include "conformance/engine/process/run_stop.h"
#include "generator/link/netns.h"
#include "reference-stack/program/complaint.h"
#include "reports/writers/terminal.h"

struct interop_command {
    struct interop_options options;
    struct catalogue *catalogue;
    struct interop_device devices[INTEROP_DEVICES_MOST];
    size_t device_count;
    struct interop_capture *captures[INTEROP_DEVICES_MOST + 1]; /* one for each interface */
    size_t capture_count;
    struct interop_output output;
    struct interop_results results;
    struct run_identity identity;
};

static int list(void)
{
    for (size_t i = 0; i < interop_test_count; i++)
        if (printf("%-2s  %-12s  %-10s  %s\n", interop_tests[i].letters, interop_tests[i].name, interop_tests[i].group,
                   interop_tests[i].title) < 0)
            return EXIT_ENVIRONMENT;
    return EXIT_DONE;
}

/* ---- before ------------------------------------------------------------------------------------------------------ */

static int devices_parse(struct interop_command *command, struct iwarp_sentence *error)
{
    static const char *const alone[] = {"libiwarp"};
    const char *const *words = command->options.device_count != 0 ? command->options.devices : alone;
    size_t count = command->options.device_count != 0 ? command->options.device_count : 1;

    for (size_t i = 0; i < count; i++) {
        command->device_count++;
        if (interop_device_parse(&command->devices[i], words[i], command->catalogue, error) != 0)
            return -1;
        for (size_t k = 0; k < i; k++)
            if (strcmp(command->devices[k].name, command->devices[i].name) == 0)
                return iwarp_sentence_set(error,
                                          "two devices are called \"%s\": NAME=%s gives one of them another name",
                                          command->devices[i].name, words[i]);
    }
    return 0;
}

/* The reference stack alone gets a network namespace of its own, so that captures need no privileges. */
static int network_enter(const struct interop_command *command, struct iwarp_sentence *error)
{
    for (size_t i = 0; i < command->device_count; i++)
        if (!command->devices[i].is_stack)
            return 0;
    return netns_enter(NULL, error);
}

static const char *interface_of(const struct interop_device *initiator, const struct interop_device *responder)
{
    const char *interface = interop_interface(initiator);

    if (interface == NULL)
        interface = interop_interface(responder);
    return interface != NULL ? interface : "lo";
}

static struct interop_capture *capture_of(const struct interop_command *command, const char *interface)
{
    for (size_t i = 0; i < command->capture_count; i++)
        if (strcmp(interop_capture_interface(command->captures[i]), interface) == 0)
            return command->captures[i];
    return NULL;
}

static int captures_open(struct interop_command *command, struct iwarp_sentence *error)
{
    if (command->options.keeps == INTEROP_KEEPS_NONE)
        return 0;
    for (size_t i = 0; i < command->device_count; i++)
        for (size_t k = 0; k < command->device_count; k++) {
            const char *interface = interface_of(&command->devices[i], &command->devices[k]);
            struct interop_capture *capture;

            if (capture_of(command, interface) != NULL)
                continue;
            if (command->capture_count == INTEROP_DEVICES_MOST)
                return iwarp_sentence_set(error, "more than %d interfaces", INTEROP_DEVICES_MOST);
            capture = interop_capture_open(interface, error);
            if (capture == NULL)
                return -1;
            command->captures[command->capture_count++] = capture;
        }
    return 0;
}

/* Who a device is, in one line. */
static void what_is(const struct interop_device *device, char *text, size_t room)
{
    json_t *identity = device->is_stack ? NULL : profile_identity(&device->instances[0].profile);
    const char *said = json_string_value(json_object_get(device->instances[0].abilities, "name"));
    static const char *const members[] = {"vendor", "product", "firmware", "driver", "serial"};
    size_t used = 0;

    if (device->is_stack)
        used = (size_t)snprintf(text, room, "the reference stack, two processes");
    else
        used = (size_t)snprintf(text, room, "%.60s%s%.60s", device->instances[0].profile.name,
                                said != NULL ? ", device " : "", said != NULL ? said : "");
    for (size_t i = 0; i < device->defect_count && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, ", with the defect %s", device->defects[i]);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]) && used < room; i++) {
        const char *value = json_string_value(json_object_get(identity, members[i]));

        if (value != NULL)
            used += (size_t)snprintf(text + used, room - used, ", %s %.60s", members[i], value);
    }
    json_decref(identity);
}

static bool is_chosen(const struct interop_options *options, const struct interop_test *test)
{
    for (size_t i = 0; i < options->test_count; i++)
        if (strcmp(options->tests[i], test->name) == 0)
            return true;
    return options->test_count == 0;
}

static int head_make(struct interop_command *command, struct iwarp_sentence *error)
{
    json_t *devices = json_array(), *tests = json_array(), *head;
    char what[512], started[UTC_TEXT_OCTETS];

    for (size_t i = 0; i < command->device_count; i++) {
        what_is(&command->devices[i], what, sizeof(what));
        (void)json_array_append_new(devices, json_pack("{s:s, s:s}", "name", command->devices[i].name, "what", what));
    }
    for (size_t i = 0; i < interop_test_count; i++)
        if (is_chosen(&command->options, &interop_tests[i]))
            (void)json_array_append_new(tests, json_pack("{s:s, s:s, s:s, s:s}", "letters", interop_tests[i].letters,
                                                         "name", interop_tests[i].name, "group", interop_tests[i].group,
                                                         "title", interop_tests[i].title));
    head = json_pack("{s:s, s:i, s:s, s:s, s:i, s:o, s:o}", "type", "interop", "version", INTEROP_VERSION, "tool",
                     "warpcheck " WARPCHECK_VERSION, "started", utc_text(started), "seconds",
                     (int)command->options.seconds, "devices", devices, "tests", tests);
    if (head == NULL)
        return iwarp_sentence_set(error, "out of memory");
    return interop_results_begin(&command->results, head, error) == 0
               ? interop_output_line(&command->output, command->results.head, error)
               : -1;
}

/* ---- one exchange ------------------------------------------------------------------------------------------------ */

struct pair {
    const struct interop_device *initiator, *responder;
    struct interop_exchange x;
    char capture[3 * INTEROP_NAME_OCTETS];
    const char *lost; /* the device that was lost in an earlier exchange; NULL: none */
};

/* Where there are frames of this exchange, their file has its name afterwards; "": there is none. */
static int capture_finish(struct interop_command *command, struct pair *pair, struct iwarp_sentence *error)
{
    uint64_t frames = 0, lost = 0;
    int rc;

    if (pair->x.capture == NULL)
        return 0;
    rc = interop_capture_end(pair->x.capture, &frames, &lost, error);
    if (lost != 0)
        (void)json_array_append_new(
            pair->x.steps,
            json_sprintf("the capture lacks %llu frames, which the system dropped", (unsigned long long)lost));
    if (frames == 0 || (command->options.keeps == INTEROP_KEEPS_FAIL && pair->x.verdict == VERDICT_PASS)) {
        interop_output_forget(&command->output, pair->capture);
        pair->capture[0] = '\0';
    }
    return rc;
}

static int capture_start(struct interop_command *command, struct pair *pair, const struct interop_test *test,
                         struct iwarp_sentence *error)
{
    int file;

    pair->capture[0] = '\0';
    pair->x.capture = capture_of(command, interface_of(pair->initiator, pair->responder));
    if (pair->x.capture == NULL)
        return 0;
    (void)snprintf(pair->capture, sizeof(pair->capture), "%s+%s.%s.pcapng", pair->initiator->name,
                   pair->responder->name, test->name);
    file = interop_output_capture(&command->output, pair->capture, error);
    return file >= 0 ? interop_capture_begin(pair->x.capture, file, pair->capture, error) : -1;
}

/* The first side whose device will answer nothing more; INTEROP_SIDES: none. */
static unsigned lost_side(const struct interop_exchange *x)
{
    unsigned side = 0;

    while (side < INTEROP_SIDES && (x->side[side] == NULL || control_gone(x->side[side]->upper.control) == NULL))
        side++;
    return side;
}

/* A test case that this device may not survive, in this role. */
static const char *hazard_of(const struct interop_device *device, const struct interop_test *test, const char *role)
{
    return device->is_stack || test->requirement == NULL
               ? NULL
               : profile_hazard(&device->instances[0].profile, test->requirement, role);
}

/* The profile knows how the device fails here, and names it by a digest alone: nobody is to read how (SECURITY.md). */
static bool holds_back(const struct interop_device *device, const struct interop_test *test)
{
    const struct deviation_list *list = &device->instances[0].profile.deviations;

    for (size_t i = 0; test->requirement != NULL && i < list->count; i++)
        if (list->entries[i].outcome != NULL && strcmp(list->entries[i].requirement, test->requirement) == 0)
            return true;
    return false;
}

static void hold_back(struct interop_command *command, struct pair *pair, const struct interop_test *test)
{
    const struct interop_device *devices[INTEROP_SIDES] = {pair->initiator, pair->responder};

    for (unsigned side = 0; side < INTEROP_SIDES && pair->x.verdict != VERDICT_PASS; side++)
        if (holds_back(devices[side], test)) {
            (void)iwarp_sentence_set(&pair->x.actual,
                                     "held back: the profile of %s names what it does by a digest alone",
                                     devices[side]->name);
            (void)json_array_clear(pair->x.steps);
            if (pair->capture[0] != '\0')
                interop_output_forget(&command->output, pair->capture);
            pair->capture[0] = '\0';
            return;
        }
}

/* Why the test case is not tried, as the exchange's verdict; false: it can be. */
static bool left_out(const struct interop_command *command, struct pair *pair, const struct interop_test *test)
{
    const char *hazards[INTEROP_SIDES] = {hazard_of(pair->initiator, test, "initiator"),
                                          hazard_of(pair->responder, test, "responder")};
    struct interop_exchange *x = &pair->x;
    unsigned lost = lost_side(x);

    if (x->side[RESPONDER] == NULL) {
        (void)interop_unsupported(x, "%s has one upper tester: a second profile after a comma lets it talk to itself",
                                  interop_name(x, INITIATOR));
        return true;
    }
    for (unsigned side = 0; side < INTEROP_SIDES && !command->options.destructive; side++)
        if (hazards[side] != NULL) {
            (void)interop_unsupported(x, "%s may not survive this: %.300s (--destructive tries it)",
                                      interop_name(x, side), hazards[side]);
            return true;
        }
    if (lost == INTEROP_SIDES)
        return false;
    pair->lost = interop_name(x, lost);
    (void)interop_undecided(x, "%s was lost before: %.400s", pair->lost, control_gone(x->side[lost]->upper.control));
    return true;
}

static void run_test(const struct interop_command *command, struct pair *pair, const struct interop_test *test)
{
    struct interop_exchange *x = &pair->x, as_decided;

    if (left_out(command, pair, test))
        return;
    if (interop_reset(x) == 0 && test->run(x) == 0)
        x->verdict = VERDICT_PASS;
    if (x->decided && x->verdict == VERDICT_INCONCLUSIVE)
        return;
    /* The streams end. A device that does not answer any more has not passed; what else was found stands. */
    as_decided = *x;
    x->decided = false;
    if (interop_reset(x) == 0 || as_decided.decided)
        *x = as_decided;
}

static json_t *exchange_line(const struct pair *pair, const struct interop_test *test, unsigned milliseconds)
{
    const struct interop_exchange *x = &pair->x;
    json_t *line =
        json_pack("{s:s, s:s, s:s, s:s, s:s}", "type", "exchange", "initiator", pair->initiator->name, "responder",
                  pair->responder->name, "test", test->name, "verdict", verdict_name(x->verdict));

    if (x->expected.text[0] != '\0')
        (void)json_object_set_new(line, "expected", json_string(x->expected.text));
    if (x->actual.text[0] != '\0')
        (void)json_object_set_new(line, "actual", json_string(x->actual.text));
    if (pair->capture[0] != '\0')
        (void)json_object_set_new(line, "capture", json_string(pair->capture));
    if (pair->lost != NULL)
        (void)json_object_set_new(line, "lost", json_string(pair->lost));
    (void)json_object_set_new(line, "milliseconds", json_integer(milliseconds));
    (void)json_object_set(line, "steps", x->steps);
    return line;
}

static int exchange(struct interop_command *command, struct interop_device *initiator, struct interop_device *responder,
                    const struct interop_test *test, struct iwarp_sentence *error)
{
    struct pair pair = {.initiator = initiator, .responder = responder};
    int64_t start = monotonic_ms();
    json_t *line = NULL;
    int rc;

    pair.x.seconds = command->options.seconds;
    pair.x.verdict = VERDICT_PASS;
    pair.x.steps = json_array();
    pair.x.side[INITIATOR] = &initiator->instances[0];
    if (initiator != responder)
        pair.x.side[RESPONDER] = &responder->instances[0];
    else if (responder->count > 1)
        pair.x.side[RESPONDER] = &responder->instances[1];
    rc = capture_start(command, &pair, test, error);
    if (rc == 0) {
        run_test(command, &pair, test);
        rc = capture_finish(command, &pair, error);
        hold_back(command, &pair, test);
        line = exchange_line(&pair, test, (unsigned)(monotonic_ms() - start));
    }
    if (rc == 0 && !(run_stopped() && pair.x.verdict == VERDICT_INCONCLUSIVE))
        rc = line == NULL ? iwarp_sentence_set(error, "out of memory")
             : interop_results_add(&command->results, line, error) != 0
                 ? -1
                 : interop_output_line(&command->output, line, error);
    json_decref(line);
    json_decref(pair.x.steps);
    return rc;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static int exchanges(struct interop_command *command, const struct terminal *terminal, struct iwarp_sentence *error)
{
    for (size_t i = 0; i < command->device_count; i++)
        for (size_t k = 0; k < command->device_count; k++)
            for (size_t test = 0; test < interop_test_count; test++) {
                if (!is_chosen(&command->options, &interop_tests[test]))
                    continue;
                if (run_stopped())
                    return 0;
                if (terminal->live)
                    fprintf(terminal->out, "\r\033[K%s to %s: %s", command->devices[i].name, command->devices[k].name,
                            interop_tests[test].name);
                (void)fflush(terminal->out);
                if (exchange(command, &command->devices[i], &command->devices[k], &interop_tests[test], error) != 0)
                    return -1;
            }
    return 0;
}

static int finish(struct interop_command *command, struct iwarp_sentence *error)
{
    char ended[UTC_TEXT_OCTETS];
    json_t *line = json_pack("{s:s, s:s}", "type", "end", "ended", utc_text(ended));
    int rc =
        line != NULL ? interop_output_line(&command->output, line, error) : iwarp_sentence_set(error, "out of memory");

    json_decref(line);
    command->results.finished = rc == 0;
    return rc;
}

static int status_of(const struct interop_command *command)
{
    size_t counts[VERDICT_COUNT];

    interop_results_count(&command->results, counts);
    if (counts[VERDICT_FAIL] != 0)
        return EXIT_FAILS;
    if (counts[VERDICT_INCONCLUSIVE] != 0)
        return complain(EXIT_INCONCLUSIVE, "%zu exchange%s not decided: see \"seen\" above%s",
                        counts[VERDICT_INCONCLUSIVE], counts[VERDICT_INCONCLUSIVE] == 1 ? " was" : "s were",
                        command->options.output != NULL ? ", and index.html" : "");
    if (counts[VERDICT_PASS] == 0)
        return complain(EXIT_NOTHING_SELECTED, "no exchange was possible between these devices");
    return EXIT_CONFORMS;
}

/* Everything is open: from now on the process reads what devices send. */
static int confine_rest(struct interop_command *command, struct iwarp_sentence *error)
{
    if (run_identity_become(&command->identity, error) != 0)
        return -1;
    return run_confine(command->options.output, CONFINE_CONNECTIONS | CONFINE_SIGNALS, 0, error);
}

static int run(struct interop_command *command, struct iwarp_sentence *error)
{
    struct terminal terminal;
    int rc = 0;

    terminal_init(&terminal, stdout);

    if (network_enter(command, error) != 0 || captures_open(command, error) != 0)
        return -1;
    for (size_t i = 0; rc == 0 && i < command->device_count; i++)
        rc = interop_device_start(&command->devices[i], error);
    if (rc != 0 || confine_rest(command, error) != 0)
        return -1;
    for (size_t i = 0; rc == 0 && i < command->device_count; i++)
        rc = interop_device_connect(&command->devices[i], error);
    if (rc == 0 && (rc = head_make(command, error)) == 0)
        rc = exchanges(command, &terminal, error);
    if (terminal.live)
        fputs("\r\033[K", stdout);
    terminal_free(&terminal);
    if (rc != 0)
        return -1;
    if (!run_stopped() && finish(command, error) != 0)
        return -1;
    return interop_output_page(&command->output, &command->results, error);
}

static int run_prepared(struct interop_command *command, struct iwarp_sentence *error)
{
    int status;

    command->identity = run_identity_of(command->options.output);
    if (run_identity_assume(&command->identity, error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error->text);
    status = interop_output_open(&command->output, &command->options, error);
    run_identity_resume(&command->identity);
    if (status != 0)
        return complain(status, "%s", error->text);
    if (run(command, error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error->text);
    interop_output_grid(&command->results, command->options.quiet, stdout);
    if (run_stopped())
        return complain(EXIT_INCONCLUSIVE, "stopped: not all exchanges were tried");
    if (command->options.output != NULL)
        print_plain(stdout, "%s/index.html", command->options.output);
    return status_of(command);
}

int cmd_interop(int argc, char **argv)
{
    static struct interop_command command; /* large */
    struct iwarp_sentence error = {{0}};
    int status;

    memset(&command, 0, sizeof(command));
    command.output.evidence = -1;
    if (interop_options_parse(&command.options, argc, argv, &error) != 0)
        return complain(EXIT_USAGE, "%s", error.text);
    if (command.options.help)
        return interop_usage(stdout) < 0 ? EXIT_ENVIRONMENT : EXIT_DONE;
    if (command.options.list)
        return list();
    run_stop_install("interop");
    if (catalogue_load(&command.catalogue, &error) != 0)
        status = complain(EXIT_ENVIRONMENT, "%s", error.text);
    else if (devices_parse(&command, &error) != 0)
        status = complain(EXIT_USAGE, "%s", error.text);
    else
        status = run_prepared(&command, &error);
    if (interop_output_close(&command.output, &error) != 0)
        status = complain(EXIT_ENVIRONMENT, "%s", error.text);
    for (size_t i = 0; i < command.capture_count; i++)
        interop_capture_close(command.captures[i]);
    for (size_t i = 0; i < command.device_count; i++)
        interop_device_free(&command.devices[i]);
    interop_results_free(&command.results);
    catalogue_free(command.catalogue);
    return status;
}
