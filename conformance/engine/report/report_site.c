/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/report/report_site.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/engine/report/report_input.h"
#include "conformance/engine/report/report_site_interop.h"
#include "conformance/requirements/catalogue.h"
#include "reference-stack/program/complaint.h"
#include "reports/diff/diff.h"
#include "reports/folder/folder.h"
#include "reports/page/html.h"
#include "reports/page/matrix.h"
#include "reports/page/site.h"
#include "reports/file/whole_file.h"
#include "base/exit_status.h"

enum { STACK, VERSION, RUN, FINDINGS, COLUMNS };
enum { COPY_OCTETS_MAX = 1 << 28, EVIDENCE_MAX = 10000 };

static const struct table_column site_columns[COLUMNS] = {[STACK] = {"stack", false},
                                                          [VERSION] = {"version", false},
                                                          [RUN] = {"run", false},
                                                          [FINDINGS] = {"findings", true}};

/* A run of the table, and what its row names. */
struct part {
    struct report report;
    bool loaded;
    struct table findings;
    char findings_path[PATH_MAX];
    char **evidence;
    size_t evidence_count;
};

struct builder {
    char table_path[PATH_MAX], folder[PATH_MAX]; /* of the site's description */
    struct table table;
    struct part *parts;
    struct site_run *runs;
    struct site site;
    struct interop_results interop; /* where the site has them */
    struct catalogue *catalogue;
    const struct report_coverage *coverage;
    struct folder *output;
};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static int paths_set(struct builder *builder, const char *input, struct iwarp_sentence *error)
{
    struct stat status;
    bool folder = stat(input, &status) == 0 && S_ISDIR(status.st_mode);

    if (strlen(input) + sizeof("/site.tsv") > sizeof(builder->table_path))
        return iwarp_sentence_set(error, "%.100s...: the path is too long", input);
    snprintf(builder->table_path, sizeof(builder->table_path), "%s%s", input, folder ? "/site.tsv" : "");
    snprintf(builder->folder, sizeof(builder->folder), "%s", builder->table_path);
    report_input_folder(builder->folder);
    return 0;
}

/* FOLDER/NAME; -1 with the sentence set without room. */
static int join(char *path, size_t room, const char *folder, const char *name, struct iwarp_sentence *error)
{
    int octets = snprintf(path, room, "%s/%s", folder, name);

    return octets > 0 && (size_t)octets < room ? 0 : iwarp_sentence_set(error, "%.100s...: the path is too long", name);
}

/* The run's name becomes a folder of the site: no path, and nothing that hides. */
static bool is_name(const char *name)
{
    return name[0] != '\0' && name[0] != '.' && strlen(name) < 64 && strchr(name, '/') == NULL &&
           strcmp(name, "findings") != 0 && strcmp(name, SITE_INTEROP) != 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int capture_note(struct part *part, const char *name, struct iwarp_sentence *error)
{
    const char *dot = strrchr(name, '.');
    char **grown;

    if (name[0] == '.' || dot == NULL || strcmp(dot, ".pcapng") != 0 || part->evidence_count == EVIDENCE_MAX)
        return 0;
    grown = realloc(part->evidence, (part->evidence_count + 1) * sizeof(*grown));
    if (grown == NULL)
        return iwarp_sentence_set(error, "out of memory");
    part->evidence = grown;
    grown[part->evidence_count] = strdup(name);
    return grown[part->evidence_count] != NULL && ++part->evidence_count ? 0
                                                                         : iwarp_sentence_set(error, "out of memory");
}

static int captures_list(struct part *part, const char *folder, struct iwarp_sentence *error)
{
    DIR *listing = opendir(folder);
    const struct dirent *entry;
    int rc = 0;

    if (listing == NULL)
        return iwarp_sentence_set(error, "%.300s: the folder cannot be read", folder);
    while (rc == 0 && (entry = readdir(listing)) != NULL)
        rc = capture_note(part, entry->d_name, error);
    closedir(listing);
    if (part->evidence_count != 0)
        qsort(part->evidence, part->evidence_count, sizeof(*part->evidence), by_name);
    return rc;
}

static int part_read(struct builder *builder, size_t row, struct iwarp_sentence *error)
{
    const char *name = table_cell(&builder->table, row, RUN), *findings = table_cell(&builder->table, row, FINDINGS);
    struct part *part = &builder->parts[row];
    char folder[PATH_MAX], results[PATH_MAX];

    if (!is_name(name))
        return iwarp_sentence_set(
            error, "%.200s: the run \"%.60s\" of row %zu: the name of a folder beside the table was expected",
            builder->table_path, name, row + 1);
    if (table_cell(&builder->table, row, STACK)[0] == '\0' || table_cell(&builder->table, row, VERSION)[0] == '\0')
        return iwarp_sentence_set(error, "%.200s: row %zu names no stack, or no version of it", builder->table_path,
                                  row + 1);
    for (size_t i = 0; i < row; i++)
        if (strcmp(table_cell(&builder->table, i, RUN), name) == 0)
            return iwarp_sentence_set(error, "%.200s: the run \"%.60s\" stands there twice", builder->table_path, name);
    if (join(folder, sizeof(folder), builder->folder, name, error) != 0 ||
        join(results, sizeof(results), folder, "results.jsonl", error) != 0 ||
        report_load(&part->report, results, builder->catalogue, error) != 0)
        return -1;
    part->loaded = true;
    if (findings[0] != '\0' &&
        (join(part->findings_path, sizeof(part->findings_path), builder->folder, findings, error) != 0 ||
         table_read(&part->findings, part->findings_path, site_finding_columns, SITE_FINDING_COLUMNS, error) != 0))
        return -1;
    return captures_list(part, folder, error);
}

static int site_read(struct builder *builder, struct iwarp_sentence *error)
{
    size_t rows;

    if (table_read(&builder->table, builder->table_path, site_columns, COLUMNS, error) != 0)
        return -1;
    rows = builder->table.rows;
    if (rows == 0 || rows > MATRIX_COLUMNS_MAX)
        return iwarp_sentence_set(error, "%.200s: %zu runs, 1 to %d were expected", builder->table_path, rows,
                                  MATRIX_COLUMNS_MAX);
    builder->parts = calloc(rows, sizeof(*builder->parts));
    builder->runs = calloc(rows, sizeof(*builder->runs));
    if (builder->parts == NULL || builder->runs == NULL)
        return iwarp_sentence_set(error, "out of memory");
    for (size_t i = 0; i < rows; i++) {
        struct part *part = &builder->parts[i];

        if (part_read(builder, i, error) != 0)
            return -1;
        builder->runs[i] = (struct site_run){.stack = table_cell(&builder->table, i, STACK),
                                             .version = table_cell(&builder->table, i, VERSION),
                                             .name = table_cell(&builder->table, i, RUN),
                                             .report = &part->report,
                                             .findings = part->findings_path[0] != '\0' ? &part->findings : NULL,
                                             .evidence = part->evidence,
                                             .evidence_count = part->evidence_count};
    }
    builder->site = (struct site){.runs = builder->runs, .count = rows};
    return 0;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static int copy(const char *from, int folder, const char *name, struct iwarp_sentence *error)
{
    struct place to = {folder, name, name};
    bool missing;
    int rc = whole_file_copy(from, COPY_OCTETS_MAX, &to, &missing, error);

    if (rc == 0 && missing)
        rc = iwarp_sentence_set(error, "%.300s: no such file, or it has more than %d octets", from, COPY_OCTETS_MAX);
    return rc;
}

/* The run's page and its captures, in a folder of its own. */
static int run_write(const struct builder *builder, const struct site_run *run, struct iwarp_sentence *error)
{
    struct place page = {.name = "index.html", .path = "index.html"};
    char from[PATH_MAX], below[PATH_MAX];
    int rc = join(from, sizeof(from), builder->folder, run->name, error);

    if (rc != 0 || (page.folder = folder_open_below(builder->output, run->name, error)) < 0)
        return -1;
    rc = html_write(run->report, builder->coverage, &page, error);
    for (size_t i = 0; rc == 0 && i < run->evidence_count; i++) {
        rc = join(below, sizeof(below), from, run->evidence[i], error);
        if (rc == 0)
            rc = copy(below, page.folder, run->evidence[i], error);
    }
    close(page.folder);
    return rc;
}

/* A file that a table of findings names, from the folder of the table. */
static int finding_file_write(const struct site_run *run, const char *table, const char *file, int folder,
                              struct iwarp_sentence *error)
{
    char name[SITE_NAME_OCTETS], from[PATH_MAX], base[PATH_MAX];

    if (file[0] == '\0')
        return 0;
    site_copy_name(run, file, name);
    if (name[0] == '\0')
        return iwarp_sentence_set(error, "%.200s: \"%.100s\" is no name of a file, or too long", table, file);
    snprintf(base, sizeof(base), "%s", table);
    report_input_folder(base);
    if (join(from, sizeof(from), base, file, error) != 0)
        return -1;
    return copy(from, folder, strchr(name, '/') + 1, error);
}

static int finding_files_write(const struct builder *builder, struct iwarp_sentence *error)
{
    int folder = -1, rc = 0;

    for (size_t i = 0; rc == 0 && i < builder->site.count; i++) {
        const struct table *table = builder->runs[i].findings;

        if (table == NULL || !site_is_first(&builder->site, i))
            continue;
        if (folder < 0 && (folder = folder_open_below(builder->output, "findings", error)) < 0)
            return -1;
        for (size_t row = 0; rc == 0 && row < table->rows; row++) {
            rc = finding_file_write(&builder->runs[i], builder->parts[i].findings_path,
                                    table_cell(table, row, SITE_REPORT), folder, error);
            if (rc == 0)
                rc = finding_file_write(&builder->runs[i], builder->parts[i].findings_path,
                                        table_cell(table, row, SITE_REPRODUCER), folder, error);
        }
    }
    if (folder >= 0)
        close(folder);
    return rc;
}

static int matrix_make(const struct builder *builder, struct iwarp_sentence *error)
{
    struct matrix_column columns[MATRIX_COLUMNS_MAX];
    char names[MATRIX_COLUMNS_MAX][160], pages[MATRIX_COLUMNS_MAX][80];
    struct place to = folder_place(builder->output, "matrix.html");

    for (size_t i = 0; i < builder->site.count; i++) {
        snprintf(names[i], sizeof(names[i]), "%.75s %.75s", builder->runs[i].stack, builder->runs[i].version);
        snprintf(pages[i], sizeof(pages[i]), "%.64s/index.html", builder->runs[i].name);
        columns[i] = (struct matrix_column){names[i], builder->runs[i].report, pages[i]};
    }
    return matrix_write(columns, builder->site.count, builder->catalogue, &to, error);
}

/* The differences between the versions of the implementation whose first run this is. */
static int history_write(const struct builder *builder, size_t first, struct iwarp_sentence *error)
{
    struct diff steps[MATRIX_COLUMNS_MAX];
    char name[SITE_NAME_OCTETS];
    size_t count = 0;
    int rc = 0;

    for (size_t i = first, next; rc == 0 && (next = site_next(&builder->site, i)) != builder->site.count; i = next) {
        rc = diff_make(&steps[count], builder->runs[i].report, builder->runs[next].report, error);
        if (rc != 0)
            break;
        steps[count].subject = builder->runs[first].stack;
        steps[count].names[0] = builder->runs[i].version;
        steps[count].names[1] = builder->runs[next].version;
        count++;
    }
    if (rc == 0 && count != 0) {
        struct place to;

        site_history_name(builder->runs[first].stack, name);
        to = folder_place(builder->output, name);
        rc = diff_write_page(steps, count, &to, error);
    }
    for (size_t i = 0; i < count; i++)
        diff_free(&steps[i]);
    return rc;
}

/* index.html comes last: it stands there when all that it links to does. */
static int site_write(const struct builder *builder, struct iwarp_sentence *error)
{
    struct place to;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < builder->site.count; i++) {
        rc = run_write(builder, &builder->runs[i], error);
        if (rc == 0 && site_is_first(&builder->site, i))
            rc = history_write(builder, i, error);
    }
    if (rc == 0 && builder->site.interop)
        rc = report_site_interop_write(&builder->interop, builder->folder, builder->output, error);
    if (rc != 0 || finding_files_write(builder, error) != 0 || matrix_make(builder, error) != 0)
        return -1;
    if (site_has_findings(&builder->site)) {
        to = folder_place(builder->output, "findings.html");
        if (site_write_findings(&builder->site, &to, error) != 0)
            return -1;
    }
    to = folder_place(builder->output, "index.html");
    return site_write_index(&builder->site, &to, error);
}

static void builder_free(struct builder *builder)
{
    for (size_t i = 0; builder->parts != NULL && i < builder->table.rows; i++) {
        struct part *part = &builder->parts[i];

        if (part->loaded)
            report_free(&part->report);
        table_free(&part->findings);
        for (size_t k = 0; k < part->evidence_count; k++)
            free(part->evidence[k]);
        free(part->evidence);
    }
    interop_results_free(&builder->interop);
    free(builder->parts);
    free(builder->runs);
    table_free(&builder->table);
    catalogue_free(builder->catalogue);
}

static int build(struct builder *builder, const char *input, const char *output)
{
    const struct folder_config config = {
        .path = output, .use = FOLDER_NEW, .hint = "a site is made in a new folder, or in an empty one"};
    struct iwarp_sentence error;
    int status = EXIT_DONE, taken;

    if (catalogue_load(&builder->catalogue, &error) != 0)
        return complain(EXIT_ENVIRONMENT, "%s", error.text);
    if (paths_set(builder, input, &error) != 0 || site_read(builder, &error) != 0 ||
        report_site_interop_read(&builder->interop, builder->folder, &builder->site.interop, &error) != 0)
        return complain(EXIT_USAGE, "%s", error.text);
    taken = folder_claim(&builder->output, &config, &error);
    if (taken != 0)
        return complain(taken == FOLDER_NOT_EMPTY ? EXIT_USAGE : EXIT_ENVIRONMENT, "%s", error.text);
    if (site_write(builder, &error) != 0)
        status = complain(EXIT_ENVIRONMENT, "%s", error.text);
    folder_leave(builder->output);
    return status;
}

int report_site(const char *input, const char *output, const struct report_coverage *coverage)
{
    struct builder builder = {.coverage = coverage};
    int status = build(&builder, input, output);

    builder_free(&builder);
    if (status == EXIT_DONE)
        print_plain(stdout, "%s/index.html", output);
    return status;
}
