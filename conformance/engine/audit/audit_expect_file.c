/* SPDX-License-Identifier: BSD-2-Clause */
/* The file of expectations: reading, and writing it again. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/audit/audit_expect_internal.h"
#include "conformance/engine/option/review_day.h"
#include "reports/file/save.h"
#include "base/cells.h"
#include "base/text_stream.h"

enum column { CAPTURE, REQUIREMENT, ROLE, FLOW, COUNT, VERDICT, OUTCOME, REVIEW_BY, DIGEST, NOTE, COLUMNS };

/* Where the columns of version 1 stood. */
enum { OLD_VERDICT = 3, OLD_REVIEW_BY = 4, OLD_NOTE = 5, OLD_COLUMNS = 6 };

enum { LINE_OCTETS = 4 * PATH_MAX, DAYS_OF_A_WEEK = 7 };

static const char header[] = "capture\trequirement\trole\tflow\tcount\tverdict\toutcome\treview_by\tdigest\tnote";
static const char old_header[] = "capture\trequirement\trole\tverdict\treview_by\tnote";
static const char comment[] = "# Findings that `warpcheck audit --expect` takes for granted (docs/audit-regression.md)";

/*
 * --- Text in a column ------------------------------------------------------------------------------------------------
 */

/* With what could not stand in a column as %XX. */
static void write_encoded(FILE *out, const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++)
        fprintf(out, *at < ' ' || *at == '%' || *at == 0x7F ? "%%%02X" : "%c", *at);
}

/* Of any octets: names of files, what a device did, what a person wrote. The other columns hold words and numbers. */
static bool is_text(int column)
{
    return column == CAPTURE || column == FLOW || column == OUTCOME || column == NOTE;
}

/* In place. -1: a '%' without two digits, or a zero octet. */
static int decode(char *text)
{
    char *to = text;

    for (const char *at = text; *at != '\0'; at++) {
        unsigned octet;
        int used = 0;

        if (*at != '%') {
            *to++ = *at;
            continue;
        }
        if (sscanf(at + 1, "%2x%n", &octet, &used) != 1 || used != 2 || octet == 0)
            return -1;
        *to++ = (char)octet;
        at += 2;
    }
    *to = '\0';
    return 0;
}

/*
 * --- Reading ---------------------------------------------------------------------------------------------------------
 */

struct line {
    const char *path;
    size_t number;
    bool old; /* the columns are those of version 1 */
    char *column[COLUMNS];
};

static int line_fault(const struct line *line, struct iwarp_sentence *error, const char *what, const char *value,
                      const char *expected)
{
    return iwarp_sentence_set(error, "%.200s:%zu: the %s is \"%.60s\", %s was expected", line->path, line->number, what,
                              value, expected);
}

static int columns_cut(struct line *line, char *text, struct iwarp_sentence *error)
{
    size_t count = cells_cut(text, line->column, COLUMNS);

    if (line->old && count == OLD_COLUMNS) {
        line->column[NOTE] = line->column[OLD_NOTE];
        line->column[REVIEW_BY] = line->column[OLD_REVIEW_BY];
        line->column[VERDICT] = line->column[OLD_VERDICT];
        line->column[FLOW] = line->column[COUNT] = line->column[OUTCOME] = line->column[DIGEST] = NULL;
    } else if (count != COLUMNS) {
        return iwarp_sentence_set(error, "%.200s:%zu: %zu columns parted by tabs, %d were expected: %s", line->path,
                                  line->number, count, COLUMNS,
                                  "capture, requirement, role, flow, count, verdict, outcome, review_by, digest, note");
    }
    for (int i = 0; i < COLUMNS; i++)
        if (is_text(i) && line->column[i] != NULL && decode(line->column[i]) != 0)
            return iwarp_sentence_set(error, "%.200s:%zu: column %d has a \"%%\" that no two hexadecimal digits follow",
                                      line->path, line->number, i + 1);
    return 0;
}

static int count_read(const struct line *line, uint64_t *count, struct iwarp_sentence *error)
{
    const char *text = line->column[COUNT];
    char *end;

    errno = 0;
    *count = strtoull(text, &end, 10);
    if (text[0] < '1' || text[0] > '9' || *end != '\0' || errno != 0)
        return line_fault(line, error, "count", text, "how often the finding occurs");
    return 0;
}

static int line_check(const struct line *line, const struct audit_expect *expect, enum verdict *verdict,
                      struct iwarp_sentence *error)
{
    char *const *column = line->column;
    char at[PATH_MAX + 32];

    (void)snprintf(at, sizeof(at), "%.200s:%zu", line->path, line->number);
    if (column[CAPTURE][0] == '\0')
        return line_fault(line, error, "capture", "", "the name of a capture");
    if (catalogue_find(expect->config.catalogue, column[REQUIREMENT]) == NULL)
        return line_fault(line, error, "requirement", column[REQUIREMENT], "the id of one");
    if (result_role(column[ROLE]) == NULL && strcmp(column[ROLE], "-") != 0)
        return line_fault(line, error, "role", column[ROLE], "initiator, responder or -");
    if (verdict_from_name(column[VERDICT], verdict) != 0 || (*verdict != VERDICT_FAIL && *verdict != VERDICT_WARN))
        return line_fault(line, error, "verdict", column[VERDICT], "FAIL or WARN");
    if (!line->old && column[FLOW][0] == '\0')
        return line_fault(line, error, "flow", "", "a flow as in the results, or * for all flows of the capture,");
    return review_day_check(column[REVIEW_BY], expect->config.today, at, error);
}

static int line_read(struct audit_expect *expect, const struct line *line, struct iwarp_sentence *error)
{
    char *const *column = line->column;
    struct expected_capture *capture;
    struct expectation *entry;
    enum verdict verdict = VERDICT_FAIL;
    uint64_t count = 0;

    if (line_check(line, expect, &verdict, error) != 0 || (!line->old && count_read(line, &count, error) != 0))
        return -1;
    capture = expected_capture_of(expect, column[CAPTURE]);
    entry = capture != NULL
                ? expectation_of(capture, column[REQUIREMENT], column[ROLE], line->old ? ALL_FLOWS : column[FLOW])
                : NULL;
    if (entry == NULL)
        return iwarp_sentence_set(error, "out of memory");
    if (entry->line != 0)
        return iwarp_sentence_set(error, "%.200s:%zu: the same capture, requirement, role and flow as in line %zu",
                                  line->path, line->number, entry->line);
    entry->line = line->number;
    entry->old = line->old;
    entry->wanted = verdict;
    entry->wanted_count = count;
    entry->outcome = strdup(line->old ? "" : column[OUTCOME]);
    entry->review_by = strdup(column[REVIEW_BY]);
    entry->digest = strdup(line->old ? "" : column[DIGEST]);
    entry->note = strdup(column[NOTE]);
    return entry->outcome != NULL && entry->review_by != NULL && entry->digest != NULL && entry->note != NULL
               ? 0
               : iwarp_sentence_set(error, "out of memory");
}

static int file_read(struct audit_expect *expect, FILE *file, struct iwarp_sentence *error)
{
    char text[LINE_OCTETS];
    const char *path = expect->config.path;
    struct line line = {.path = path};

    while (fgets(text, sizeof(text), file) != NULL) {
        size_t octets = strcspn(text, "\n");

        line.number++;
        if (text[octets] == '\0' && !feof(file))
            return iwarp_sentence_set(error, "%.200s:%zu: the line is longer than %d octets, or holds a zero octet",
                                      path, line.number, LINE_OCTETS - 2);
        text[octets] = '\0';
        if (strcmp(text, old_header) == 0) {
            line.old = expect->config.old;
            if (!line.old)
                return iwarp_sentence_set(
                    error,
                    "%.200s:%zu: a line of this version excuses every finding of its requirement; "
                    "audit --write-expect %.200s writes them anew, and keeps notes and review dates",
                    path, line.number, path);
            continue;
        }
        if (text[0] == '#' || text[0] == '\0' || strcmp(text, header) == 0)
            continue;
        if (columns_cut(&line, text, error) != 0 || line_read(expect, &line, error) != 0)
            return -1;
    }
    return ferror(file) ? iwarp_sentence_set(error, "%.200s: cannot be read", path) : 0;
}

int audit_expect_read(struct audit_expect *expect, struct iwarp_sentence *error)
{
    FILE *file = fopen(expect->config.path, "re");
    int rc;

    if (file == NULL)
        return iwarp_sentence_set(error, "%.200s: %s", expect->config.path, strerror(errno));
    rc = file_read(expect, file, error);
    (void)fclose(file);
    return rc;
}

/*
 * --- Writing ---------------------------------------------------------------------------------------------------------
 */

struct row {
    struct expected_capture *capture;
    const struct expectation *entry;
};

static int by_name(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    int order = strcmp(a->capture->name, b->capture->name);

    if (order == 0)
        order = strcmp(a->entry->id, b->entry->id);
    if (order == 0)
        order = strcmp(a->entry->role, b->entry->role);
    return order != 0 ? order : strcmp(a->entry->flow, b->entry->flow);
}

/*
 * What is known of a finding from the file that was read: of its flow, of an older version, or of the capture's former
 * name.
 */
static const struct expectation *known_of(const struct audit_expect *expect, const struct row *row)
{
    const struct expectation *entry = row->entry, *old;
    const char *old_name;

    if (entry->line != 0)
        return entry;
    old = expectation_find(row->capture, entry->id, entry->role, ALL_FLOWS);
    return old != NULL && old->line != 0 ? old : expectation_of_renamed(expect, row->capture, entry, &old_name);
}

/* In a year; with --review-spread some weeks earlier, the same for all lines of a capture. */
static const char *due_of(const struct audit_expect *expect, const char *capture, char due[DAY_TEXT_OCTETS])
{
    char year[DAY_TEXT_OCTETS];
    unsigned weeks = 0;

    for (const char *at = capture; *at != '\0' && expect->config.spread != 0; at++)
        weeks = (weeks * 31 + (unsigned char)*at) % (expect->config.spread + 1);
    return day_after(day_later(expect->config.today, 1, year), -(long)weeks * DAYS_OF_A_WEEK, due);
}

/* False without memory. */
static bool write_row(FILE *out, const struct audit_expect *expect, const struct row *row)
{
    const struct expectation *entry = row->entry, *known = known_of(expect, row);
    char *outcome = expectation_outcome(entry), due[DAY_TEXT_OCTETS];

    if (outcome == NULL)
        return false;
    write_encoded(out, row->capture->name);
    fprintf(out, "\t%s\t%s\t", entry->id, entry->role);
    write_encoded(out, entry->flow);
    fprintf(out, "\t%" PRIu64 "\t%s\t", entry->count, verdict_name(entry->worst));
    write_encoded(out, outcome);
    fprintf(out, "\t%s\t%s\t", known != NULL ? known->review_by : due_of(expect, row->capture->name, due),
            expected_capture_digest(row->capture));
    write_encoded(out, known != NULL ? known->note : "");
    fputc('\n', out);
    free(outcome);
    return true;
}

/* The findings of all captures, in the order of the file; NULL without memory. */
static struct row *rows_of(const struct audit_expect *expect, size_t *count)
{
    struct row *rows;
    size_t room = 1;

    for (struct expected_capture *capture = expect->captures; capture != NULL; capture = capture->hh.next)
        room += HASH_COUNT(capture->all);
    rows = calloc(room, sizeof(*rows));
    *count = 0;
    for (struct expected_capture *capture = expect->captures; rows != NULL && capture != NULL;
         capture = capture->hh.next)
        for (const struct expectation *entry = capture->all; entry != NULL; entry = entry->hh.next)
            if (entry->results != 0)
                rows[(*count)++] = (struct row){capture, entry};
    if (rows != NULL)
        qsort(rows, *count, sizeof(*rows), by_name);
    return rows;
}

int audit_expect_write(struct audit_expect *expect, size_t *lines, struct iwarp_sentence *error)
{
    const struct place to = place_at(expect->config.path);
    struct row *rows = rows_of(expect, lines);
    char *text = NULL;
    size_t size = 0;
    FILE *out = rows != NULL ? text_stream_open(&text, &size) : NULL;
    bool whole = out != NULL;
    int rc;

    if (out != NULL)
        fprintf(out, "%s\n%s\n", comment, header);
    for (size_t i = 0; whole && i < *lines; i++)
        whole = write_row(out, expect, &rows[i]);
    if (out != NULL && !text_stream_close(out, &text))
        whole = false;
    rc =
        whole ? save_file(&to, text, size, error) : iwarp_sentence_set(error, "%s: out of memory", expect->config.path);
    free(text);
    free(rows);
    return rc;
}
