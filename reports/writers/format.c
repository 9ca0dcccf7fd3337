/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/writers/format.h"

#include "reports/writers/csv.h"
#include "reports/writers/github.h"
#include "reports/page/html.h"
#include "reports/writers/junit.h"
#include "reports/writers/markdown.h"
#include "reports/writers/sarif.h"
#include "reports/writers/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writers that take no coverage, as the table wants them. */
#define WITHOUT_COVERAGE(name, writer)                                                                                 \
    static int name(const struct report *report, const struct report_coverage *coverage, const struct place *to,       \
                    struct iwarp_sentence *error)                                                                      \
    {                                                                                                                  \
        (void)coverage;                                                                                                \
        return writer(report, to, error);                                                                              \
    }
WITHOUT_COVERAGE(write_junit, junit_write)
WITHOUT_COVERAGE(write_tap, tap_write)
WITHOUT_COVERAGE(write_tap13, tap_write_13)
WITHOUT_COVERAGE(write_sarif, sarif_write)
WITHOUT_COVERAGE(write_markdown, markdown_write)
WITHOUT_COVERAGE(write_github, github_write)
WITHOUT_COVERAGE(write_csv, csv_write)

/* clang-format off */
const struct report_format report_formats[] = {
    {"html",  "index.html",    true,  html_write},
    {"junit", "junit.xml",     true,  write_junit},
    {"tap",   "results.tap",   true,  write_tap},
    {"sarif", "results.sarif", true,  write_sarif},
    {"tap13", "results.tap13", false, write_tap13},
    {"md",    "summary.md",    false, write_markdown},
    {"github", "annotations.txt", false, write_github},
    {"csv",   "results.csv",   false, write_csv},
    {NULL,    NULL,            false, NULL},
};
/* clang-format on */

const struct report_format *report_format_find(const char *name)
{
    for (const struct report_format *format = report_formats; name && format->name; format++) {
        if (strcmp(name, format->name) == 0)
            return format;
    }
    return NULL;
}

/* Lists words in a row: "a", "a and b", "a, b and c". */
struct listing {
    char *text;
    size_t room, used;
    const char *held; /* the last word waits: it may get an "and" before it */
};

static void append_word(struct listing *listing, const char *word)
{
    size_t length = strlen(word), left = listing->room - listing->used;
    if (left == 0)
        return;
    if (length >= left)
        length = left - 1;
    memcpy(listing->text + listing->used, word, length);
    listing->used += length;
    listing->text[listing->used] = '\0';
}

static void list(struct listing *listing, const char *word)
{
    if (listing->held) {
        if (listing->used)
            append_word(listing, ", ");
        append_word(listing, listing->held);
    }
    listing->held = word;
}

static const char *listed(struct listing *listing, const char *joint)
{
    if (listing->used && listing->held)
        append_word(listing, joint);
    if (listing->held)
        append_word(listing, listing->held);
    return listing->text;
}

const char *report_format_files(char *text, size_t room)
{
    struct listing listing = {.text = text, .room = room};
    for (const struct report_format *format = report_formats; format->name; format++) {
        if (format->standing)
            list(&listing, format->file);
    }
    return listed(&listing, " and ");
}

const char *report_format_names(const char *first, char *text, size_t room)
{
    struct listing listing = {.text = text, .room = room};
    if (*first)
        list(&listing, first);
    for (const struct report_format *format = report_formats; format->name; format++)
        list(&listing, format->name);
    return listed(&listing, " or ");
}
