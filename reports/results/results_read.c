/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading results.jsonl, which may be torn, foreign or hostile. */
#include "reports/results/results_log.h"

#include "reports/results/results_chain.h"
#include "reports/results/results_stopped.h"
#include "base/out_of_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_OCTETS ((size_t)16 << 20) /* a result with its ladder is some 100 KiB at most */

struct reading {
    const struct results_reader *reader;
    struct iwarp_sentence *error;
    const char *path;
    size_t line;
    bool started;               /* the run line has been seen */
    uint64_t version;           /* that it says */
    bool ended;                 /* a summary line, too: the rules' results stand before it */
    struct results_chain chain; /* of the lines before this one */
    struct stopped stopped;
};

static void note(const struct reading *reading, const char *what)
{
    struct iwarp_sentence text;
    iwarp_sentence_set(&text, "%s:%zu: %s", reading->path, reading->line, what);
    if (reading->reader->on_note)
        reading->reader->on_note(reading->reader->user, text.text);
}

static int bad(const struct reading *reading, const char *what)
{
    return iwarp_sentence_set(reading->error, "%s:%zu: %s", reading->path, reading->line, what);
}

static int deliver_run(struct reading *reading, json_t *object)
{
    struct run_info info;
    if (run_info_from_json(object, &info) != 0)
        return bad(reading, "not a run line of results.jsonl version 1 or 2; the file must begin with one");
    if (reading->started)
        return bad(reading, "a second run line; one file holds one run");
    reading->started = true;
    reading->version = info.version;
    reading->stopped.shard = info.shard != NULL;
    return reading->reader->on_run ? reading->reader->on_run(reading->reader->user, &info, object) : 0;
}

static int without_memory(const struct reading *reading, int rc)
{
    return rc == 0 ? 0 : bad(reading, "out of memory");
}

/* Version 1 wrote a known deviation as a WARN with a note; since then such a WARN is one that the profile knows. */
static int say_known(const struct reading *reading, json_t *object)
{
    const char *verdict = json_string_value(json_object_get(object, "verdict"));

    if (reading->version != 1 || verdict == NULL || strcmp(verdict, "WARN") != 0 ||
        !json_is_string(json_object_get(object, "deviation")))
        return 0;
    return json_object_set_new(object, "verdict", json_string("KNOWN"));
}

static int deliver_result(struct reading *reading, json_t *object, bool beside)
{
    const struct results_reader *reader = reading->reader;
    int (*taker)(void *, const struct result *, json_t *) = beside ? reader->on_beside : reader->on_result;
    struct result result;

    if (without_memory(reading, say_known(reading, object)) != 0)
        return -1;
    if (result_from_json(object, &result) != 0)
        return bad(reading,
                   "a result without an id, with an unknown verdict, or with control characters in its id or role");
    if (without_memory(reading, stopped_result(&reading->stopped, &result)) != 0)
        return -1;
    return taker ? taker(reader->user, &result, object) : 0;
}

static int deliver_journal(struct reading *reading, json_t *object)
{
    const struct results_reader *reader = reading->reader;
    struct journal journal;
    int rc = 0;

    if (journal_from_json(object, &journal) != 0)
        return bad(reading, "a journal without an id or with an unknown verdict");
    if (reader->on_journal)
        rc = reader->on_journal(reader->user, &journal, object);
    journal_free(&journal);
    return rc == 0 ? without_memory(reading, stopped_journal(&reading->stopped, object)) : rc;
}

/* What the rules found, where the run was stopped before it could write their results. */
static int deliver_stopped(struct reading *reading)
{
    const struct results_reader *reader = reading->reader;

    return stopped_finish(&reading->stopped, reader->on_result, reader->on_beside, reader->user, reading->error);
}

static int deliver_summary(struct reading *reading, json_t *object)
{
    const struct results_reader *reader = reading->reader;
    struct run_summary summary;
    int rc = 0;

    (void)run_summary_from_json(object, &summary); /* the type is all it can refuse */
    if (results_chain_differs(&reading->chain, object)) {
        static const char lost[] =
            "lines before the summary are lost or changed: their number or their CRC is not what "
            "the summary says";
        if (reader->strict)
            return bad(reading, lost);
        note(reading, lost);
    }
    if (summary.stopped)
        rc = deliver_stopped(reading);
    reading->ended = true;
    return rc == 0 && reader->on_summary ? reader->on_summary(reader->user, &summary, object) : rc;
}

static int deliver_capture(struct reading *reading, json_t *object)
{
    const struct results_reader *reader = reading->reader;
    struct capture_info info;

    if (capture_info_from_json(object, &info) != 0)
        return bad(reading, "a capture without a file or a status");
    return reader->on_capture ? reader->on_capture(reader->user, &info, object) : 0;
}

static int deliver_difference(struct reading *reading, json_t *object)
{
    const struct results_reader *reader = reading->reader;
    struct difference difference;

    if (difference_from_json(object, &difference) != 0)
        return bad(reading, "a difference of an unknown kind, or without a file, an id, a verdict or a text");
    return reader->on_difference ? reader->on_difference(reader->user, &difference, object) : 0;
}

static int deliver_end(struct reading *reading, json_t *object)
{
    const struct results_reader *reader = reading->reader;
    struct end_line line;

    if (end_line_from_json(object, &line) != 0)
        return bad(reading, "an end without a file, a kind or a reason");
    return reader->on_end ? reader->on_end(reader->user, &line, object) : 0;
}

static int deliver(struct reading *reading, json_t *object)
{
    const struct results_reader *reader = reading->reader;
    const char *type = json_string_value(json_object_get(object, "type"));

    if (!reading->started || (type && strcmp(type, "run") == 0))
        return deliver_run(reading, object);
    if (!type)
        type = "";
    if (strcmp(type, "result") == 0 || strcmp(type, "beside") == 0)
        return deliver_result(reading, object, strcmp(type, "beside") == 0);
    if (strcmp(type, "journal") == 0)
        return deliver_journal(reading, object);
    if (strcmp(type, "capture") == 0)
        return deliver_capture(reading, object);
    if (strcmp(type, "end") == 0)
        return deliver_end(reading, object);
    if (strcmp(type, "difference") == 0)
        return deliver_difference(reading, object);
    if (strcmp(type, "served") == 0)
        return reading->reader->on_services ? reading->reader->on_services(reading->reader->user, object) : 0;
    if (strcmp(type, "summary") == 0)
        return deliver_summary(reading, object);
    if (strcmp(type, "rules") == 0)
        return without_memory(reading, stopped_rules(&reading->stopped, object));
    if (strcmp(type, "console") == 0) {
        const char *text = json_string_value(json_object_get(object, "text"));

        if (text && reader->on_console)
            reader->on_console(reader->user, text);
        return 0;
    }
    note(reading, "a line of an unknown type, ignored");
    return 0;
}

/* One line without its newline. `last`: the file ends without one, so the line may be torn. */
static int read_line(struct reading *reading, const char *text, size_t length, bool last)
{
    json_error_t why;
    size_t octets = length;
    reading->line++;
    if (length > 0 && text[length - 1] == '\r')
        length--;
    if (length == 0)
        return 0;
    json_t *object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(object)) {
        json_decref(object);
        if (out_of_memory_noted())
            return bad(reading, "out of memory");
        if (last && reading->started) {
            note(reading, "the last line is torn (a run was killed, or the disk was full), ignored");
            return 0;
        }
        return bad(reading, "not a JSON object; is this a results.jsonl of warpcheck?");
    }
    int rc = deliver(reading, object);
    json_decref(object);
    results_chain_add(&reading->chain, text, octets);
    results_chain_add(&reading->chain, "\n", 1);
    return rc;
}

static int read_lines(struct reading *reading, FILE *file)
{
    char *text = NULL;
    size_t room = 0;
    int rc = 0;
    while (rc == 0) {
        size_t length = 0;
        int c;
        while ((c = getc_unlocked(file)) != EOF && c != '\n') {
            if (length == room) {
                size_t larger = room ? 2 * room : 4096;
                char *grown = larger <= LINE_MAX_OCTETS ? realloc(text, larger) : NULL;
                if (!grown) {
                    reading->line++;
                    rc = bad(reading, "a line longer than 16 MiB; is this a results.jsonl of warpcheck?");
                    goto out;
                }
                text = grown;
                room = larger;
            }
            text[length++] = (char)c;
        }
        if (ferror(file))
            rc = iwarp_sentence_set(reading->error, "%s: cannot read: %s", reading->path, strerror(errno));
        else if (length > 0 || c != EOF)
            rc = read_line(reading, text ? text : "", length, c == EOF);
        if (c == EOF)
            break;
    }
out:
    free(text);
    return rc;
}

int results_read_place(const struct place *place, const struct results_reader *reader, struct iwarp_sentence *error)
{
    const char *path = place->path;
    struct reading reading = {.reader = reader, .error = error, .path = path, .chain = RESULTS_CHAIN_START};
    int flags = place->folder == AT_FDCWD ? 0 : O_NOFOLLOW;
    int fd = place_open(place, O_RDONLY | flags, 0);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (!file) {
        (void)iwarp_sentence_set(error, "%s: cannot open: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    int rc = read_lines(&reading, file);
    fclose(file);
    if (rc == 0 && !reading.started)
        rc = iwarp_sentence_set(error, "%s: empty; a results.jsonl begins with a run line", path);
    if (rc == 0 && !reading.ended)
        rc = deliver_stopped(&reading);
    stopped_free(&reading.stopped);
    return rc;
}

int results_read(const char *path, const struct results_reader *reader, struct iwarp_sentence *error)
{
    struct place place = place_at(path);

    return results_read_place(&place, reader, error);
}
