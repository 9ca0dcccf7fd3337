/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs that a command compares, as its arguments name them: "[NAME=]DIR" or "[NAME=]FILE". */
#ifndef CONFORMANCE_ENGINE_REPORT_INPUT_H
#define CONFORMANCE_ENGINE_REPORT_INPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conformance/requirements/catalogue.h"
#include "reports/results/report.h"
#include "base/sentence.h"

struct report_input {
    struct report report;
    bool loaded;
    char name[160]; /* NAME; else the results' target, with the folder where another run has the same */
    char results[PATH_MAX];
    char page[PATH_MAX]; /* of a matrix, or of a diff's page: href from its folder to the run's own page; "" for none */
};

/*
 * Loads all of them into `inputs`, which are zero. 0, or -1 with the sentence set; report_inputs_free() in either case.
 */
int report_inputs_load(struct report_input *inputs, char *const *arguments, size_t count,
                       const struct catalogue *catalogue, struct iwarp_sentence *error);
void report_inputs_free(struct report_input *inputs, size_t count);

/*
 * Sets `page` to the run's page in the folder of its results, if there is one and `output` is a file that can link to
 * it ("-": standard output, which cannot).
 */
void report_input_page(struct report_input *run, const char *output);

/*
 * What root needs beyond its own rights to read these runs and write the output (run_confine_files()). `named`: inputs
 * may begin with NAME=.
 */
uint64_t report_inputs_need(char *const *inputs, size_t count, bool named, const char *output);

/* Cuts a path down to its folder, in place. */
void report_input_folder(char *path);

#endif
