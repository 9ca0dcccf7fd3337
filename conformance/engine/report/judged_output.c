/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/report/judged_output.h"

#include <stdio.h>

#include "conformance/engine/process/run_stop.h"
#include "conformance/engine/report/cmd_report.h"
#include "conformance/requirements/catalogue.h"
#include "reports/results/account.h"
#include "reports/writers/terminal.h"

enum { PAGE_OCTETS = 4200 };

void judged_output_describe(struct run_info *info, struct judged_texts *texts, const struct catalogue *catalogue,
                            const struct shard *shard, const char *plan)
{
    info->tool = "warpcheck " WARPCHECK_VERSION;
    info->catalogue = catalogue_digest(catalogue);
    info->started = utc_text(texts->started);
    if (shard->of == 0)
        return;
    shard_label(shard, texts->shard, sizeof(texts->shard));
    info->shard = texts->shard;
    info->plan = plan;
}

int judged_output_place(struct judged_output *output, const struct format_option *format, struct iwarp_sentence *error)
{
    return format_option_results(format, output->folder, &output->results, error);
}

int judged_output_begin(struct judged_output *output, const struct format_option *format, const struct run_info *info,
                        struct iwarp_sentence *error)
{
    const struct place *place = output->results.place.name != NULL ? &output->results.place : NULL;

    output->log = results_log_create(place, info, format->jsonl ? stdout : NULL, error);
    return output->log != NULL ? 0 : -1;
}

int judged_output_append(struct judged_output *output, const struct result *result, struct iwarp_sentence *error)
{
    int status;

    run_stop_hold();
    status = results_log_append(output->log, result, error);
    run_stop_release();
    return status;
}

int judged_output_end(struct judged_output *output, const struct run_summary *summary, struct iwarp_sentence *error)
{
    struct iwarp_sentence late;
    int status;

    run_stop_hold();
    status = results_log_finish(output->log, summary, error);
    if (results_log_close(output->log, status == 0 ? error : &late) != 0)
        status = -1;
    output->log = NULL;
    run_stop_release();
    return status;
}

int judged_output_report(struct judged_output *output, const struct format_option *format,
                         const struct catalogue *catalogue, struct iwarp_sentence *error)
{
    return engine_write_reports(&output->results.place, output->folder, format->report, catalogue, error);
}

void judged_output_summary(struct terminal *terminal, const struct format_option *format,
                           const struct run_summary *summary, const char *folder_path)
{
    char page[PAGE_OCTETS] = "";

    if (format_option_machine(format))
        return;
    if (folder_path != NULL)
        (void)snprintf(page, sizeof(page), "%.4000s/index.html", folder_path);
    terminal_summary(terminal, summary, page[0] != '\0' ? page : NULL);
}

const char *judged_output_gaps(const struct flow_account *account, char text[JUDGED_GAPS_OCTETS])
{
    char unjudged[ACCOUNT_TEXT], missing[ACCOUNT_TEXT];
    const char *have = account_kind_text(account, FLOW_UNJUDGED, unjudged);
    const char *lack = account_kind_text(account, FLOW_MISSING, missing);

    (void)snprintf(text, JUDGED_GAPS_OCTETS, "%s%s%s%s", *have != '\0' ? ": " : "", have,
                   *lack != '\0' ? "; missing: " : "", lack);
    return text;
}

void judged_output_close(struct judged_output *output)
{
    (void)results_log_close(output->log, NULL);
    folder_leave(output->folder);
    *output = (struct judged_output){0};
}
