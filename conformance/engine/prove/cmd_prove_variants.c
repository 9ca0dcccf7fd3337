/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/prove/cmd_prove_variants.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "conformance/engine/prove/prove_printer.h"
#include "reference-stack/program/complaint.h"
#include "base/exit_status.h"

static json_t *array_of(const char *const *strings, size_t count)
{
    json_t *array = json_array();

    for (size_t i = 0; i < count; i++)
        (void)json_array_append_new(array, json_string(strings[i]));
    return array;
}

static void on_outcome(void *user, const struct variant_outcome *outcome)
{
    struct prove_printer *printer = user;
    const struct defect *variant = outcome->variant;

    if (printer->jsonl) {
        prove_printer_line(json_pack("{s:s, s:s, s:s, s:s, s:b, s:o, s:o, s:I, s:I}", "type", "variant", "variant",
                                     variant->id, "requirement", variant->requirement, "warns", variant->warns, "legal",
                                     outcome->good, "surplus", array_of(outcome->surplus, outcome->surplus_count),
                                     "unseen", array_of(outcome->unseen, outcome->unseen_count), "inconclusive",
                                     (json_int_t)outcome->undecided, "met", (json_int_t)outcome->met));
        return;
    }
    terminal_clear(&printer->terminal);
    printf("%-8s %-40s %s", outcome->good ? "legal" : "ALARM", variant->id, variant->requirement);
    if (variant->warns[0] != '\0')
        printf("   WARN, as its row says: %s", variant->warns);
    puts("");
    for (size_t i = 0; i < outcome->surplus_count; i++)
        print_plain(stdout, "         %s", outcome->surplus[i]);
    for (size_t i = 0; i < outcome->unseen_count; i++)
        print_plain(stdout, "         no WARN of %s, which the row names", outcome->unseen[i]);
    (void)fflush(stdout); /* each takes seconds */
}

static void print_summary(const struct prove_printer *printer, const struct prove_variants_summary *summary)
{
    if (printer->jsonl) {
        prove_printer_line(json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "type", "summary",
                                     "variants", (json_int_t)summary->variants, "legal", (json_int_t)summary->good,
                                     "left_out", (json_int_t)summary->left_out, "inconclusive",
                                     (json_int_t)summary->undecided, "checks", (json_int_t)summary->checks, "rules",
                                     (json_int_t)summary->rules, "false_alarms", (json_int_t)summary->false_alarms,
                                     "met", (json_int_t)summary->met, "pairs", (json_int_t)summary->pairs));
        return;
    }
    printf("\n%zu of %zu variants draw nothing but what their rows say from %zu checks and %zu rules", summary->good,
           summary->variants, summary->checks, summary->rules);
    if (summary->undecided != 0)
        printf("; %zu inconclusive", summary->undecided);
    printf("\n%zu of %zu pairs of a variant and a check were run; in the others the check cannot meet the variant\n",
           summary->met, summary->pairs);
    if (summary->left_out != 0)
        printf("%zu variants were left out, which have no meaning over SCTP\n", summary->left_out);
}

int cmd_prove_variants(struct prove_variants_config *config, bool jsonl)
{
    struct prove_printer printer = {.jsonl = jsonl};
    struct prove_variants_summary summary;
    struct iwarp_sentence error = {{0}};
    struct defect_list *variants = variant_list_embedded(&error);
    int status;

    terminal_init(&printer.terminal, stderr);
    config->variants = variants;
    config->outcome = on_outcome;
    config->alarm = prove_printer_alarm;
    config->progress = prove_printer_progress;
    config->user = &printer;
    if (variants == NULL)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    if (defect_list_count(variants) == 0 || script_check_count(config->host) == 0) {
        status = complain(EXIT_NOTHING_SELECTED, "there are no variants or no checks to prove with");
    } else if (prove_variants_run(config, &summary, &error) != 0) {
        status = complain(strncmp(error.text, "no variant", 10) == 0 ? EXIT_USAGE : EXIT_ENVIRONMENT, "%s", error.text);
    } else {
        terminal_clear(&printer.terminal);
        print_summary(&printer, &summary);
        status = summary.good == summary.variants && summary.false_alarms == 0 ? EXIT_CONFORMS : EXIT_FAILS;
    }
    defect_list_free(variants);
    return status;
}
