/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/run/run_output.h"

#include <unistd.h>

#include "conformance/engine/option/output_folder.h"

static int claim_folder(struct run_output *output, const struct run_options *options, struct iwarp_sentence *error)
{
    enum folder_use use = options->resume ? FOLDER_RESUME : options->force ? FOLDER_FORCE : FOLDER_NEW;
    int status = output_folder_claim(&output->to.folder, options->output, use, true, error);

    if (status != 0)
        return status;
    output->evidence = folder_open_below(output->to.folder, "evidence", error);
    return output->evidence >= 0 ? 0 : EXIT_INCONCLUSIVE;
}

static int start_log(struct run_output *output, const struct run_options *options, const struct run_info *info,
                     struct iwarp_sentence *error)
{
    if (judged_output_place(&output->to, &options->format, error) != 0)
        return -1;
    if (!options->resume)
        return judged_output_begin(&output->to, &options->format, info, error);
    output->to.log = results_log_resume(&output->to.results.place, info, options->format.jsonl ? stdout : NULL,
                                        &output->done, error);
    /*
     * The reports of the run that was stopped would not be those of this one; they stay where it cannot be
     * resumed.
     */
    return output->to.log != NULL ? folder_clear_reports(output->to.folder, error) : -1;
}

int run_output_open(struct run_output *output, const struct run_options *options, const struct run_info *info,
                    struct iwarp_sentence *error)
{
    int status = 0;

    if (options->output != NULL)
        status = claim_folder(output, options, error);
    if (status == 0 && start_log(output, options, info, error) != 0)
        status = EXIT_INCONCLUSIVE;
    return status;
}

void run_output_undo(struct run_output *output, const struct run_options *options)
{
    struct place itself;

    if (output->to.folder == NULL || options->resume)
        return;
    itself = folder_itself(output->to.folder);
    (void)folder_clear_run(&itself, NULL);
}

void run_output_close(struct run_output *output)
{
    judged_output_close(&output->to);
    if (output->evidence >= 0)
        close(output->evidence);
    results_done_free(output->done);
    *output = (struct run_output){.evidence = -1};
}
