/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/monitor/monitor_journal.h"

#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#ifdef WARPCHECK_SYSTEMD
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>
#endif

#include "reports/file/text.h"

enum { LINE_OCTETS = 2048 };

int monitor_journal_parse(enum monitor_journal *journal, const char *value, struct iwarp_sentence *error)
{
    if (strcmp(value, "syslog") == 0) {
        *journal = MONITOR_JOURNAL_SYSLOG;
        return 0;
    }
    if (strcmp(value, "journal") != 0)
        return iwarp_sentence_set(error, "--system-log \"%.40s\": journal or syslog was expected", value);
#ifdef WARPCHECK_SYSTEMD
    *journal = MONITOR_JOURNAL_NATIVE;
    return 0;
#else
    return iwarp_sentence_set(error,
                              "--system-log journal: this build has no libsystemd; --system-log syslog has none");
#endif
}

static int send_native(int priority, const char *text)
{
#ifdef WARPCHECK_SYSTEMD
    return sd_journal_send("MESSAGE=%s", text, "PRIORITY=%d", priority, "SYSLOG_IDENTIFIER=warpcheck", NULL);
#else
    (void)priority;
    (void)text;
    return -1;
#endif
}

int monitor_journal_open(enum monitor_journal journal, const char *text, struct iwarp_sentence *error)
{
    if (journal == MONITOR_JOURNAL_SYSLOG) {
        if (access("/dev/log", W_OK) != 0)
            return iwarp_sentence_set(error, "--system-log syslog: nobody listens at /dev/log");
        openlog("warpcheck", LOG_NDELAY | LOG_PID, LOG_DAEMON);
        syslog(LOG_INFO, "%s", text);
    }
    if (journal == MONITOR_JOURNAL_NATIVE &&
        (access("/run/systemd/journal/socket", W_OK) != 0 || send_native(LOG_INFO, text) != 0))
        return iwarp_sentence_set(error, "--system-log journal: no journal listens at /run/systemd/journal/socket");
    return 0;
}

static int priority_of(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_FAIL: return LOG_ERR;
    case VERDICT_WARN: return LOG_WARNING;
    default: return LOG_NOTICE;
    }
}

void monitor_journal_finding(enum monitor_journal journal, const struct result *result, const char *key,
                             const char *interface, const char *evidence)
{
    int priority = priority_of(result->verdict);
    char line[LINE_OCTETS];
    char *clean;

    if (journal == MONITOR_JOURNAL_NONE)
        return;
    (void)snprintf(line, sizeof(line), "%s %s%s%s on %s, flow %s: expected %.500s; got %.500s",
                   verdict_name(result->verdict), result->id, result->role != NULL ? " as " : "",
                   result->role != NULL ? result->role : "", interface, result->flow, result->expected, result->actual);
    clean = text_clean_line(line);
    if (clean == NULL)
        return;
#ifdef WARPCHECK_SYSTEMD
    if (journal == MONITOR_JOURNAL_NATIVE)
        (void)sd_journal_send("MESSAGE=%s", clean, "PRIORITY=%d", priority, "SYSLOG_IDENTIFIER=warpcheck",
                              "WARPCHECK_ID=%s", result->id, "WARPCHECK_VERDICT=%s", verdict_name(result->verdict),
                              "WARPCHECK_KEY=%s", key, "WARPCHECK_FLOW=%s", result->flow, "WARPCHECK_INTERFACE=%s",
                              interface, "WARPCHECK_EVIDENCE=%s", evidence != NULL ? evidence : "", NULL);
#endif
    if (journal == MONITOR_JOURNAL_SYSLOG)
        syslog(priority, "%s (key %s%s%s)", clean, key, evidence != NULL ? ", " : "", evidence != NULL ? evidence : "");
    free(clean);
}

void monitor_journal_note(enum monitor_journal journal, bool bad, const char *text)
{
    int priority = bad ? LOG_WARNING : LOG_INFO;
    char *clean = journal != MONITOR_JOURNAL_NONE ? text_clean_line(text) : NULL;

    if (clean != NULL && journal == MONITOR_JOURNAL_SYSLOG)
        syslog(priority, "%s", clean);
    if (clean != NULL && journal == MONITOR_JOURNAL_NATIVE)
        (void)send_native(priority, clean);
    free(clean);
}
