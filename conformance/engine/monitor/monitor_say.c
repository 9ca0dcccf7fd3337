/* SPDX-License-Identifier: BSD-2-Clause */
/* Where findings and notes are said. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "base/exit_status.h"
#include "conformance/engine/monitor/monitor_internal.h"
#include "conformance/engine/monitor/monitor_line.h"
#include "conformance/engine/option/shard.h"
#include "conformance/engine/option/utc_text.h"
#include "reference-stack/program/complaint.h"

enum { AGAIN_TIMES = 10 };

/* People read standard output. */
static bool is_text(const struct monitor *monitor)
{
    return !monitor->options->jsonl && !monitor->options->quiet;
}

void monitor_log_begin(void *user, struct monitor_log *log, bool empty)
{
    struct monitor *monitor = user;
    struct known_finding *known;
    json_t *line = monitor_line_of("monitor", monitor->now_ns);

    if (line != NULL && json_object_set_new(line, "tool", json_string("warpcheck " WARPCHECK_VERSION)) != 0) {
        json_decref(line);
        line = NULL;
    }
    (void)monitor_log_write(log, line);
    for (known = monitor->known.all; empty && known != NULL; known = known->hh.next)
        if (monitor_log_write(log, monitor_line_count("known", known)))
            known->logged = known->count;
}

void monitor_say_finding(struct monitor *monitor, const struct known_finding *known, struct result *result,
                         const struct requirement *requirement)
{
    const char *interface = monitor->reading != NULL ? monitor->reading->name : monitor->interfaces[0].name;
    const char *file = result->evidence != NULL ? result->evidence : interface;
    char key[SHARD_DIGEST_OCTETS], time[UTC_TEXT_OCTETS];

    if (result->verdict == VERDICT_AMBIGUOUS && !monitor->options->all)
        return;
    if (!monitor_rate_allow(&monitor->said, monitor->now_ns)) {
        monitor->untold_since++;
        monitor->counts.untold++;
        return;
    }
    shard_digest_show(known->key, key);
    monitor_journal_finding(monitor->options->journal, result, key, interface, result->evidence);
    if (!is_text(monitor))
        return;
    result->file = file;
    terminal_result(&monitor->terminal, result, requirement->text);
    print_plain(stdout, "      %-9s %s on %s, key %s", "when",
                utc_text_of((time_t)(known->last_ns / UINT64_C(1000000000)), time), interface, key);
    (void)fflush(stdout);
}

void monitor_repeat_finding(struct monitor *monitor, struct known_finding *known)
{
    char key[SHARD_DIGEST_OCTETS];

    if (known->said == 0)
        known->said = 1;
    if (known->count / AGAIN_TIMES < known->said || !monitor_rate_allow(&monitor->said, monitor->now_ns))
        return;
    known->said = known->count;
    shard_digest_show(known->key, key);
    if (monitor->log != NULL && monitor_log_write(monitor->log, monitor_line_count("again", known)))
        known->logged = known->count;
    if (is_text(monitor) && (known->verdict != VERDICT_AMBIGUOUS || monitor->options->all)) {
        print_plain(stdout, "again %s  %s  %" PRIu64 " times by now, flow %s, key %s", verdict_name(known->verdict),
                    known->id, known->count, known->flow, key);
        (void)fflush(stdout);
    }
}

void monitor_note(struct monitor *monitor, bool bad, const char *format, ...)
{
    char text[MONITOR_NOTE_OCTETS];
    va_list arguments;
    json_t *line;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (bad)
        (void)complain(0, "%s", text);
    else if (is_text(monitor))
        print_plain(stdout, "%s", text);
    (void)fflush(stdout);
    monitor_journal_note(monitor->options->journal, bad, text);
    if (monitor->log == NULL)
        return;
    line = monitor_line_of("note", monitor->now_ns);
    if (line != NULL && json_object_set_new(line, "text", result_text(text)) != 0) {
        json_decref(line);
        line = NULL;
    }
    (void)monitor_log_write(monitor->log, line);
}

void monitor_say_withheld(struct monitor *monitor)
{
    uint64_t unwritten = monitor_rate_refused(&monitor->written);

    (void)monitor_rate_refused(&monitor->said);
    (void)monitor_rate_refused(&monitor->cut);
    if (monitor->untold_since != 0)
        monitor_note(monitor, false, "%" PRIu64 " more findings, not said one by one (--rate); the metrics count them",
                     monitor->untold_since);
    if (unwritten != 0)
        monitor_note(monitor, false, "%" PRIu64 " of them are in the log by their counts alone", unwritten);
    monitor->untold_since = 0;
}

void monitor_say_unwritten(struct monitor *monitor)
{
    struct iwarp_sentence why = {""};
    uint64_t lines = monitor->log != NULL ? monitor_log_lost(monitor->log, &why) : 0;
    uint64_t captures;

    monitor->counts.unwritten += lines;
    if (lines != 0 && !monitor->log_fail) {
        (void)complain(0, "%s; %" PRIu64 " line%s lost so far, and findings are counted on", why.text, lines,
                       lines == 1 ? " is" : "s are");
        monitor_journal_note(monitor->options->journal, true, why.text);
    }
    monitor->unwritten |= lines != 0;
    monitor->log_fail = lines != 0;
    captures = monitor->evidence != NULL ? monitor_evidence_lost(monitor->evidence, &why) : 0;
    monitor->counts.unwritten += captures;
    if (captures != 0 && !monitor->evidence_fail)
        monitor_note(monitor, true, "%s; %" PRIu64 " capture%s not whole", why.text, captures,
                     captures == 1 ? " is" : "s are");
    monitor->evidence_fail |= captures != 0;
}
