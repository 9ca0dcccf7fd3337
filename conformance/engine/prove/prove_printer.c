/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/prove/prove_printer.h"

#include <stdio.h>

#include "conformance/engine/process/run_stop.h"
#include "reference-stack/program/complaint.h"
#include "conformance/engine/run/runner.h"

void prove_printer_line(json_t *line)
{
    run_stop_hold();
    (void)json_dumpf(line, stdout, JSON_COMPACT);
    puts("");
    (void)fflush(stdout);
    run_stop_release();
    json_decref(line);
}

void prove_printer_alarm(void *user, const char *text)
{
    struct prove_printer *printer = user;

    terminal_clear(&printer->terminal);
    if (printer->jsonl)
        prove_printer_line(json_pack("{s:s, s:s}", "type", "alarm", "text", text));
    else
        print_plain(stdout, "ALARM    correct stack: %s", text);
}

void prove_printer_progress(void *user, size_t done, size_t total)
{
    struct prove_printer *printer = user;

    terminal_progress(&printer->terminal, done, total, "proving", 0);
}

json_t *prove_result_words(const struct result *result, const char *more)
{
    char text[1024];

    (void)snprintf(text, sizeof(text), "%s %s %s %s: %s; expected %s; got %s%s", verdict_name(result->verdict),
                   result->id, result->role != NULL ? result->role : "", result->script != NULL ? result->script : "",
                   result->message != NULL ? result->message : "", result->expected != NULL ? result->expected : "-",
                   result->actual != NULL ? result->actual : "-", more);
    return json_string(text);
}
