/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/prove/cmd_prove_devices.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_status.h"
#include "conformance/engine/prove/prove_printer.h"
#include "reference-stack/program/complaint.h"

struct printer {
    struct prove_printer common; /* first: it is the callbacks' */
    const struct prove_devices_config *config;
    json_t *reasons; /* an object: how often an INCONCLUSIVE with this text came */
};

static void count_reasons(struct printer *printer, const json_t *undecided)
{
    const json_t *text;
    size_t i;

    json_array_foreach(undecided, i, text)
    {
        const char *words = json_string_value(text);

        (void)json_object_set_new(printer->reasons, words,
                                  json_integer(json_integer_value(json_object_get(printer->reasons, words)) + 1));
    }
}

/* The layer as --llp has it. */
static const char *llp_of(enum choice_layer layer)
{
    return layer == CHOICE_DRAFT ? "sctp-draft02" : choice_layer_name(layer);
}

static void print_surplus(const struct printer *printer, const struct device_outcome *outcome)
{
    const json_t *text;
    size_t i;

    json_array_foreach(outcome->surplus, i, text)
    {
        print_plain(stdout, "         %s", json_string_value(text));
    }
    printf("         reduced: %s\n", outcome->reduced);
    printf("         again:   warpcheck prove --llp %s --seed %" PRIu64 " --choices '%s'\n",
           llp_of(printer->config->layer), printer->config->seed, outcome->reduced);
}

static void on_outcome(void *user, const struct device_outcome *outcome)
{
    struct printer *printer = user;
    bool good = json_array_size(outcome->surplus) == 0;

    count_reasons(printer, outcome->undecided);
    if (printer->common.jsonl) {
        json_t *line = json_pack("{s:s, s:I, s:s, s:b, s:O, s:O, s:I}", "type", "device", "seed",
                                 (json_int_t)outcome->seed, "choices", outcome->choices, "legal", good, "surplus",
                                 outcome->surplus, "inconclusive", outcome->undecided, "met", (json_int_t)outcome->met);

        if (!good) {
            (void)json_object_set_new(line, "reduced", json_string(outcome->reduced));
            (void)json_object_set_new(line, "by", json_string(outcome->by));
        }
        prove_printer_line(line);
        return;
    }
    terminal_clear(&printer->common.terminal);
    if (printer->config->choices == NULL)
        printf("%-8s %-6" PRIu64 " %s\n", good ? "legal" : "ALARM", outcome->seed, outcome->choices);
    else
        printf("%-8s %s\n", good ? "legal" : "ALARM", outcome->choices);
    if (!good)
        print_surplus(printer, outcome);
    (void)fflush(stdout); /* each takes seconds */
}

static void print_reasons(const struct printer *printer)
{
    const char *text;
    const json_t *count;

    json_object_foreach(printer->reasons, text, count)
    {
        print_plain(stdout, "%6" JSON_INTEGER_FORMAT " x %s", json_integer_value(count), text);
    }
}

static void write_summary(const struct prove_devices_summary *summary, enum choice_layer layer)
{
    const struct devices_coverage *coverage = &summary->coverage;

    prove_printer_line(json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "type", "summary", "llp",
        llp_of(layer), "devices", (json_int_t)summary->devices, "legal", (json_int_t)summary->good, "inconclusive",
        (json_int_t)summary->undecided, "false_alarms", (json_int_t)summary->false_alarms, "checks",
        (json_int_t)summary->checks, "rules", (json_int_t)summary->rules, "met", (json_int_t)summary->met, "runs",
        (json_int_t)summary->pairs_of_checks, "points", (json_int_t)coverage->points, "least_drawn",
        (json_int_t)coverage->least_drawn, "least_left", (json_int_t)coverage->least_left, "pairs",
        (json_int_t)coverage->pairs, "pairs_drawn", (json_int_t)coverage->pairs_drawn));
}

static void print_summary(const struct printer *printer, const struct prove_devices_summary *summary)
{
    const struct devices_coverage *coverage = &summary->coverage;

    if (printer->common.jsonl) {
        write_summary(summary, printer->config->layer);
        return;
    }
    if (summary->undecided != 0)
        printf("\n%zu results are INCONCLUSIVE:\n", summary->undecided);
    print_reasons(printer);
    printf("\n%zu of %zu legal devices draw no FAIL, and no WARN but what the rows of their choices name, from %zu "
           "checks and %zu rules\n",
           summary->good, summary->devices, summary->checks, summary->rules);
    printf("%zu of %zu runs of a check with a device were made; in the others the check cannot meet its choices\n",
           summary->met, summary->pairs_of_checks);
    if (coverage->points != 0)
        printf("each of %zu choice points drawn by %zu devices at least, and left as it is by %zu; %zu of %zu pairs of "
               "points drawn together\n",
               coverage->points, coverage->least_drawn, coverage->least_left, coverage->pairs_drawn, coverage->pairs);
}

static int prove_and_print(struct printer *printer, struct prove_devices_config *config)
{
    struct prove_devices_summary summary;
    struct iwarp_sentence error = {{0}};

    if (script_check_count(config->host) == 0)
        return complain(EXIT_NOTHING_SELECTED, "there are no checks to prove with");
    if (prove_devices_run(config, &summary, &error) != 0)
        return complain(strncmp(error.text, "choices: ", 9) == 0 ? EXIT_USAGE : EXIT_ENVIRONMENT, "%s", error.text);
    terminal_clear(&printer->common.terminal);
    print_summary(printer, &summary);
    return summary.good == summary.devices && summary.false_alarms == 0 ? EXIT_CONFORMS : EXIT_FAILS;
}

int cmd_prove_devices(struct prove_devices_config *config, bool jsonl)
{
    struct printer printer = {.config = config, .common = {.jsonl = jsonl}, .reasons = json_object()};
    struct iwarp_sentence error = {{0}};
    struct choice_table *table = choice_table_embedded(&error);
    int status;

    if (table == NULL || printer.reasons == NULL) {
        status = complain(EXIT_ENVIRONMENT, "%s", table == NULL ? error.text : "out of memory");
    } else {
        terminal_init(&printer.common.terminal, stderr);
        config->table = table;
        config->outcome = on_outcome;
        config->alarm = prove_printer_alarm;
        config->progress = prove_printer_progress;
        config->user = &printer;
        status = prove_and_print(&printer, config);
    }
    choice_table_free(table);
    json_decref(printer.reasons);
    return status;
}
