/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* strchrnul */
#include "conformance/engine/audit/audit_expect.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/option/review_day.h"
#include "reports/save.h"
#include "wire/cells.h"
#include "wire/hash.h"
#include "wire/text_stream.h"

enum { COLUMNS = 6, LINE_OCTETS = 2 * PATH_MAX };

static const char header[] = "capture\trequirement\trole\tverdict\treview_by\tnote";

/* A capture, requirement and role: expected, found, or both. The texts stand in `key`, one after another. */
struct finding {
    const char *capture, *id, *role;
    bool expected, found;
    enum verdict wanted, worst;
    char *review_by, *note; /* of what is expected */
    size_t line;
    UT_hash_handle hh;
    size_t key_octets;
    char key[];
};

struct audit_expect {
    char folder[PATH_MAX]; /* of the file, with a slash at its end; "" when it is not known */
    struct finding *findings;
    char *last_file, *last_name; /* the results of a capture stand together */
};

static void finding_free(struct finding *finding)
{
    free(finding->review_by);
    free(finding->note);
    free(finding);
}

/* The finding of that key, made where it is new; NULL without memory. */
static struct finding *finding_of(struct audit_expect *expect, const char *capture, const char *id, const char *role)
{
    size_t octets = strlen(capture) + strlen(id) + strlen(role) + 3;
    struct finding *fresh = calloc(1, sizeof(*fresh) + octets), *finding = NULL;

    if (fresh == NULL)
        return NULL;
    fresh->key_octets = octets;
    fresh->capture = memcpy(fresh->key, capture, strlen(capture) + 1);
    fresh->id = memcpy(fresh->key + strlen(capture) + 1, id, strlen(id) + 1);
    fresh->role = memcpy(fresh->key + strlen(capture) + strlen(id) + 2, role, strlen(role) + 1);
    HASH_FIND(hh, expect->findings, fresh->key, (unsigned)octets, finding);
    if (finding != NULL) {
        finding_free(fresh);
        return finding;
    }
    HASH_ADD_KEYPTR(hh, expect->findings, fresh->key, (unsigned)octets, fresh);
    if (hash_lost(fresh)) {
        finding_free(fresh);
        return NULL;
    }
    return fresh;
}

/* --- Names of captures ----------------------------------------------------------------------------------------------- */

/* With what could not stand in a column as %XX; malloc'd, NULL without memory. */
static char *encoded(const char *name)
{
    char *text = malloc(3 * strlen(name) + 1), *to = text;

    if (text == NULL)
        return NULL;
    for (const unsigned char *at = (const unsigned char *)name; *at != '\0'; at++)
        to += sprintf(to, *at < ' ' || *at == '%' || *at == 0x7F ? "%%%02X" : "%c", *at);
    *to = '\0';
    return text;
}

/* How a capture is called in the file; NULL without memory. */
static const char *name_of(struct audit_expect *expect, const char *file)
{
    char real[PATH_MAX];
    const char *name = file;
    size_t octets = strlen(expect->folder);

    if (expect->last_file != NULL && strcmp(expect->last_file, file) == 0)
        return expect->last_name;
    if (octets != 0 && realpath(file, real) != NULL && strncmp(real, expect->folder, octets) == 0)
        name = real + octets;
    free(expect->last_file);
    free(expect->last_name);
    expect->last_file = strdup(file);
    expect->last_name = encoded(name);
    if (expect->last_file == NULL || expect->last_name == NULL) {
        free(expect->last_file);
        expect->last_file = NULL;
        return NULL;
    }
    return expect->last_name;
}

static void find_folder(struct audit_expect *expect, const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX], real[PATH_MAX];

    if (slash == NULL)
        (void)snprintf(folder, sizeof(folder), ".");
    else
        (void)snprintf(folder, sizeof(folder), "%.*s", slash == path ? 1 : (int)(slash - path), path);
    if (realpath(folder, real) == NULL || strlen(real) + 2 > sizeof(expect->folder))
        return;
    (void)snprintf(expect->folder, sizeof(expect->folder), "%s%s", real, strcmp(real, "/") == 0 ? "" : "/");
}

/* --- Reading ------------------------------------------------------------------------------------------------------- */

struct line {
    const char *path;
    size_t number;
    char *column[COLUMNS];
};

static int line_fault(const struct line *line, struct sentence *error, const char *what, const char *value,
                      const char *expected)
{
    return sentence_set(error, "%.200s:%zu: the %s is \"%.60s\", %s was expected", line->path, line->number, what,
                        value, expected);
}

static int columns_cut(struct line *line, char *text, struct sentence *error)
{
    size_t count = cells_cut(text, line->column, COLUMNS);

    if (count < COLUMNS)
        return sentence_set(error, "%.200s:%zu: %zu columns parted by tabs, %d were expected: %s", line->path,
                            line->number, count, COLUMNS, "capture, requirement, role, verdict, review_by, note");
    return 0;
}

static int verdict_read(const struct line *line, enum verdict *verdict, struct sentence *error)
{
    if (verdict_from_name(line->column[3], verdict) != 0 || (*verdict != VERDICT_FAIL && *verdict != VERDICT_WARN))
        return line_fault(line, error, "verdict", line->column[3], "FAIL or WARN");
    return 0;
}

static int line_read(struct audit_expect *expect, const struct line *line, const struct catalogue *catalogue,
                     const char *today, struct sentence *error)
{
    const char *role = line->column[2];
    char at[PATH_MAX + 32];
    struct finding *finding;
    enum verdict verdict;

    (void)snprintf(at, sizeof(at), "%.200s:%zu", line->path, line->number);
    if (line->column[0][0] == '\0')
        return line_fault(line, error, "capture", "", "the name of a capture");
    if (catalogue_find(catalogue, line->column[1]) == NULL)
        return line_fault(line, error, "requirement", line->column[1], "the id of one");
    if (strcmp(role, "initiator") != 0 && strcmp(role, "responder") != 0 && strcmp(role, "-") != 0)
        return line_fault(line, error, "role", role, "initiator, responder or -");
    if (verdict_read(line, &verdict, error) != 0 || review_day_check(line->column[4], today, at, error) != 0)
        return -1;
    finding = finding_of(expect, line->column[0], line->column[1], role);
    if (finding == NULL)
        return sentence_set(error, "out of memory");
    if (finding->expected)
        return sentence_set(error, "%s: the same capture, requirement and role as in line %zu", at, finding->line);
    finding->expected = true;
    finding->wanted = verdict;
    finding->line = line->number;
    finding->review_by = strdup(line->column[4]);
    finding->note = strdup(line->column[5]);
    return finding->review_by != NULL && finding->note != NULL ? 0 : sentence_set(error, "out of memory");
}

static int file_read(struct audit_expect *expect, FILE *file, const char *path, const struct catalogue *catalogue,
                     const char *today, struct sentence *error)
{
    char text[LINE_OCTETS];
    struct line line = {.path = path};

    while (fgets(text, sizeof(text), file) != NULL) {
        size_t octets = strcspn(text, "\n");

        line.number++;
        if (text[octets] == '\0' && !feof(file))
            return sentence_set(error, "%.200s:%zu: the line is longer than %d octets, or holds a zero octet", path,
                                line.number, LINE_OCTETS - 2);
        text[octets] = '\0';
        if (text[0] == '#' || text[0] == '\0' || (line.number < 10 && strcmp(text, header) == 0))
            continue;
        if (columns_cut(&line, text, error) != 0 || line_read(expect, &line, catalogue, today, error) != 0)
            return -1;
    }
    return ferror(file) ? sentence_set(error, "%.200s: cannot be read", path) : 0;
}

struct audit_expect *audit_expect_new(const char *path, bool read, const struct catalogue *catalogue, const char *today,
                                      struct sentence *error)
{
    struct audit_expect *expect = calloc(1, sizeof(*expect));
    FILE *file = read ? fopen(path, "re") : NULL;
    int rc = 0;

    if (expect == NULL)
        rc = sentence_set(error, "out of memory");
    else if (read && file == NULL)
        rc = sentence_set(error, "%.200s: %s", path, strerror(errno));
    else
        find_folder(expect, path);
    if (rc == 0 && file != NULL)
        rc = file_read(expect, file, path, catalogue, today, error);
    if (file != NULL)
        (void)fclose(file);
    if (rc == 0)
        return expect;
    audit_expect_free(expect);
    return NULL;
}

void audit_expect_free(struct audit_expect *expect)
{
    struct finding *finding, *next;

    if (expect == NULL)
        return;
    finding = expect->findings;
    HASH_CLEAR(hh, expect->findings); /* the table goes, the list of its entries stays */
    for (; finding != NULL; finding = next) {
        next = finding->hh.next;
        finding_free(finding);
    }
    free(expect->last_file);
    free(expect->last_name);
    free(expect);
}

/* --- What was found ------------------------------------------------------------------------------------------------- */

int audit_expect_take(struct audit_expect *expect, const char *file, const char *id, const char *role,
                      enum verdict verdict)
{
    struct finding *finding;
    const char *name;

    if (verdict != VERDICT_FAIL && verdict != VERDICT_WARN)
        return 0;
    name = name_of(expect, file != NULL ? file : "-");
    finding = name != NULL ? finding_of(expect, name, id, role != NULL ? role : "-") : NULL;
    if (finding == NULL)
        return -1;
    finding->worst = finding->found ? verdict_worse(finding->worst, verdict) : verdict;
    finding->found = true;
    return 0;
}

/* One difference, as a sentence; false where there is none. */
static bool differs(const struct finding *finding, const char *today, struct sentence *text)
{
    if (finding->found && !finding->expected)
        (void)sentence_set(text, "new: %.200s: %s as %s is %s, and no finding was expected", finding->capture,
                           finding->id, finding->role, verdict_name(finding->worst));
    else if (!finding->found)
        (void)sentence_set(text, "missing: %.200s: %s as %s was expected to be %s (line %zu), and nothing was found",
                           finding->capture, finding->id, finding->role, verdict_name(finding->wanted), finding->line);
    else if (finding->worst != finding->wanted)
        (void)sentence_set(text, "changed: %.200s: %s as %s is %s, %s was expected (line %zu)", finding->capture,
                           finding->id, finding->role, verdict_name(finding->worst), verdict_name(finding->wanted),
                           finding->line);
    else if (strcmp(today, finding->review_by) > 0)
        (void)sentence_set(text, "due: %.200s: %s as %s was to be reviewed by %s (line %zu)", finding->capture,
                           finding->id, finding->role, finding->review_by, finding->line);
    else
        return false;
    return true;
}

size_t audit_expect_compare(const struct audit_expect *expect, const char *today, size_t *found,
                            void (*tell)(const char *text))
{
    size_t count = 0;
    struct sentence text;

    *found = 0;
    for (const struct finding *finding = expect->findings; finding != NULL; finding = finding->hh.next) {
        *found += finding->found;
        if (differs(finding, today, &text)) {
            tell(text.text);
            count++;
        }
    }
    return count;
}

static int by_name(const void *left, const void *right)
{
    const struct finding *const *a = left, *const *b = right;
    int order = strcmp((*a)->capture, (*b)->capture);

    if (order == 0)
        order = strcmp((*a)->id, (*b)->id);
    return order != 0 ? order : strcmp((*a)->role, (*b)->role);
}

static void put(FILE *out, struct finding *const *all, size_t count, const char *today)
{
    char due[DAY_TEXT_OCTETS];

    (void)day_later(today, 1, due);
    fprintf(out, "# Findings that `warpcheck audit --expect` takes for granted (docs/audit-regression.md)\n%s\n",
            header);
    for (size_t i = 0; i < count; i++)
        if (all[i]->found)
            fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\n", all[i]->capture, all[i]->id, all[i]->role,
                    verdict_name(all[i]->worst), all[i]->review_by != NULL ? all[i]->review_by : due,
                    all[i]->note != NULL ? all[i]->note : "");
}

int audit_expect_write(const struct audit_expect *expect, const char *path, const char *today, struct sentence *error)
{
    const struct place to = place_at(path);
    size_t count = HASH_COUNT(expect->findings), i = 0, size = 0;
    struct finding **all = calloc(count + 1, sizeof(struct finding *));
    char *text = NULL;
    FILE *out = all != NULL ? text_stream_open(&text, &size) : NULL;
    int rc;

    if (out == NULL) {
        free(all);
        return sentence_set(error, "%s: out of memory", path);
    }
    for (struct finding *finding = expect->findings; finding != NULL; finding = finding->hh.next)
        all[i++] = finding;
    qsort(all, count, sizeof(struct finding *), by_name);
    put(out, all, count, today);
    rc = text_stream_close(out, &text) ? save_file(&to, text, size, error)
                                       : sentence_set(error, "%s: out of memory", path);
    free(text);
    free(all);
    return rc;
}
