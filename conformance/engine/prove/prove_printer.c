/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/prove/prove_printer.h"

#include <stdint.h>
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

enum { IDS_SHOWN = 12 };

/* "TITLE ID ID", or "" of an empty list; at most so many, and how many more there are. */
static void list_ids(const char *title, const json_t *ids, size_t most, char *text, size_t size)
{
    const json_t *id;
    size_t i, at = 0;

    text[0] = '\0';
    json_array_foreach(ids, i, id)
    {
        const char *word = json_string_value(id);

        if (i == most && at < size)
            (void)snprintf(text + at, size - at, " and %zu more", json_array_size(ids) - most);
        if (i >= most)
            return;
        if (word != NULL && at < size)
            at += (size_t)snprintf(text + at, size - at, "%s %s", at == 0 ? title : "", word);
    }
}

void prove_printer_defect(const json_t *line, bool whole)
{
    bool killed = json_is_true(json_object_get(line, "killed"));
    const char *defect = json_string_value(json_object_get(line, "defect"));
    const char *requirement = json_string_value(json_object_get(line, "requirement"));
    char escaped[1024], caught[32768] = "";

    list_ids("   not caught by:", json_object_get(line, "uncaught"), SIZE_MAX, escaped, sizeof(escaped));
    if (whole || !killed)
        list_ids("   caught by:", json_object_get(line, "killed_by"), whole ? SIZE_MAX : IDS_SHOWN, caught,
                 sizeof(caught));
    print_plain(stdout, "%-8s %-40s %s%s%s", killed ? "killed" : "SURVIVED", defect != NULL ? defect : "",
                requirement != NULL ? requirement : "", escaped,
                caught[0] == '\0' && !killed ? "   caught by: nothing" : caught);
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
