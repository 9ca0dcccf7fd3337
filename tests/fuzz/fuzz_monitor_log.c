/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of a monitor's log of anybody's: what is restored of them has all its members, is written as a line that restores
 * the same, and is no more than is remembered.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/monitor/monitor_line.h"
#include "tests/fuzz/fuzz.h"

enum { MOST = 8 };

static void write_again(const struct known_finding *finding)
{
    struct known_findings again = {.most = MOST};
    json_t *line = monitor_line_count("known", finding);
    char *text = json_dumps(line, JSON_COMPACT);

    FUZZ_HOLDS(text != NULL && monitor_line_restore(&again, text, strlen(text)));
    FUZZ_HOLDS(again.all->key == finding->key && again.all->count == finding->count &&
               strcmp(again.all->id, finding->id) == 0 && strcmp(again.all->flow, finding->flow) == 0);
    known_findings_free(&again);
    free(text);
    json_decref(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct known_findings known = {.most = MOST};
    const char *at = (const char *)data, *end = at + size;

    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t octets = (size_t)((newline != NULL ? newline : end) - at);

        (void)monitor_line_restore(&known, at, octets);
        at += octets + 1;
    }
    FUZZ_HOLDS(known_findings_count(&known) <= MOST);
    for (const struct known_finding *finding = known.all; finding != NULL; finding = finding->hh.next)
        write_again(finding);
    known_findings_free(&known);
    return 0;
}
