/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/page/site.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "reports/page/html_parts.h"

const struct table_column site_finding_columns[SITE_FINDING_COLUMNS] = {
    [SITE_FINDING] = {"finding", false},           [SITE_TITLE] = {"title", false},
    [SITE_REQUIREMENTS] = {"requirements", false}, [SITE_LEVEL] = {"level", false},
    [SITE_SEVERITY] = {"severity", false},         [SITE_REPORT] = {"report", true},
    [SITE_REPRODUCER] = {"reproducer", true},      [SITE_STATE] = {"state", true},
};

size_t site_next(const struct site *site, size_t run)
{
    for (size_t i = run + 1; i < site->count; i++)
        if (strcmp(site->runs[i].stack, site->runs[run].stack) == 0)
            return i;
    return site->count;
}

bool site_is_first(const struct site *site, size_t run)
{
    for (size_t i = 0; i < run; i++)
        if (strcmp(site->runs[i].stack, site->runs[run].stack) == 0)
            return false;
    return true;
}

/* Letters and digits as small ones, all else as single hyphens. */
static void plain_name(const char *text, char *name, size_t room)
{
    size_t used = 0;

    for (; *text != '\0' && used + 1 < room; text++)
        if (isalnum((unsigned char)*text))
            name[used++] = (char)tolower((unsigned char)*text);
        else if (used != 0 && name[used - 1] != '-')
            name[used++] = '-';
    while (used != 0 && name[used - 1] == '-')
        used--;
    name[used] = '\0';
}

void site_history_name(const char *stack, char name[SITE_NAME_OCTETS])
{
    char plain[SITE_NAME_OCTETS - 16];

    plain_name(stack, plain, sizeof(plain));
    (void)snprintf(name, SITE_NAME_OCTETS, "history-%s.html", plain);
}

void site_copy_name(const struct site_run *run, const char *file, char name[SITE_NAME_OCTETS])
{
    const char *slash = strrchr(file, '/');
    char plain[SITE_NAME_OCTETS / 2];

    name[0] = '\0';
    if (slash != NULL)
        file = slash + 1;
    plain_name(run->stack, plain, sizeof(plain));
    if (file[0] == '\0' || file[0] == '.' ||
        snprintf(name, SITE_NAME_OCTETS, "findings/%s-%s", plain, file) >= SITE_NAME_OCTETS)
        name[0] = '\0';
}

/* A page up to its <main>. */
static struct markup *begin(const struct site *site, const char *title, const char *heading, const char *lead,
                            const struct place *to, struct iwarp_sentence *error)
{
    struct markup *m = markup_new();

    if (m == NULL) {
        iwarp_sentence_set(error, "%s: out of memory", to->path);
        return NULL;
    }
    html_page(m, title, site->runs[0].report->info.tool, "wide");
    markup_element(m, "h1", NULL, heading);
    markup_element(m, "p", "lead", lead);
    markup_close(m);
    markup_open(m, "main", NULL);
    return m;
}

static int end(struct markup *m, const struct place *to, struct iwarp_sentence *error)
{
    html_asset(m, "script", "reports/assets/print.js");
    int rc = markup_save(m, to, error);

    markup_free(m);
    return rc;
}

static void link_to(struct markup *m, const char *href, const char *text)
{
    markup_open(m, "a", "href", href, NULL);
    markup_text(m, text);
    markup_close(m);
}

/* ---- where one begins -------------------------------------------------------------------------------------------- */

static void cell(struct markup *m, const char *of, const char *text)
{
    html_cell_of(m, of);
    markup_text(m, text);
    markup_close(m);
}

static void run_row(struct markup *m, const struct site_run *run)
{
    const struct run_summary *summary = &run->report->summary;
    char href[SITE_NAME_OCTETS + 32], number[32];

    markup_open(m, "tr", NULL);
    markup_open(m, "th", "scope", "row", NULL);
    markup_text(m, run->stack);
    markup_close(m);
    markup_open(m, "td", NULL);
    (void)snprintf(href, sizeof(href), "%s/index.html", run->name);
    link_to(m, href, run->version);
    markup_close(m);
    (void)snprintf(number, sizeof(number), "%.10s", run->report->info.started ? run->report->info.started : "");
    cell(m, "run of", number);
    cell(m, "outcome", report_outcome(run->report));
    for (int verdict = 0; verdict < VERDICT_COUNT; verdict++) {
        (void)snprintf(number, sizeof(number), "%llu", (unsigned long long)summary_of(summary, (enum verdict)verdict));
        cell(m, verdict_name((enum verdict)verdict), number);
    }
    (void)snprintf(number, sizeof(number), "%llu", (unsigned long long)summary->known_findings);
    cell(m, "findings", number);
    markup_close(m);
}

static void runs_table(struct markup *m, const struct site *site)
{
    const char *names[VERDICT_COUNT + 5] = {"implementation", "version", "run of", "outcome"};

    for (int verdict = 0; verdict < VERDICT_COUNT; verdict++)
        names[4 + verdict] = verdict_name((enum verdict)verdict);
    names[VERDICT_COUNT + 4] = "findings";
    markup_open(m, "table", "class", "totals", NULL);
    markup_element(m, "caption", NULL,
                   "Results of each run, by verdict: a check or rule in one role has one. KNOWN results fail as the "
                   "findings say");
    html_table_head(m, names, sizeof(names) / sizeof(names[0]));
    markup_open(m, "tbody", NULL);
    for (size_t i = 0; i < site->count; i++)
        run_row(m, &site->runs[i]);
    markup_close(m);
    markup_close(m);
}

bool site_has_findings(const struct site *site)
{
    for (size_t i = 0; i < site->count; i++)
        if (site->runs[i].findings != NULL)
            return true;
    return false;
}

static void item(struct markup *m, const char *href, const char *name, const char *words)
{
    markup_open(m, "li", NULL);
    link_to(m, href, name);
    markup_textf(m, ": %s", words);
    markup_close(m);
}

static void pages_list(struct markup *m, const struct site *site)
{
    char href[SITE_NAME_OCTETS], name[SITE_NAME_OCTETS];

    markup_element(m, "h2", NULL, "Pages");
    markup_open(m, "ul", NULL);
    item(m, "matrix.html", "Requirements by implementation",
         "what each run decided of every requirement, with links to its evidence");
    if (site->interop)
        item(m, "interop/index.html", "Interoperability",
             "one grid: who can do what with whom, each implementation as initiator with each as responder");
    if (site_has_findings(site))
        item(m, "findings.html", "Findings",
             "the faults behind these results, where they were met, and how to repeat them");
    for (size_t i = 0; i < site->count; i++) {
        if (!site_is_first(site, i) || site_next(site, i) == site->count)
            continue;
        site_history_name(site->runs[i].stack, href);
        (void)snprintf(name, sizeof(name), "History of %.60s", site->runs[i].stack);
        item(m, href, name, "what differs between its versions");
    }
    markup_close(m);
}

int site_write_index(const struct site *site, const struct place *to, struct iwarp_sentence *error)
{
    struct markup *m = begin(site, "warpcheck: how implementations keep the rules of RDMA over IP",
                             "warpcheck: how implementations keep the rules of RDMA over IP",
                             "Each row is a whole run of warpcheck against one version of an implementation. The "
                             "version leads to the run's own page: every requirement, its verdict, and what was seen.",
                             to, error);

    if (m == NULL)
        return -1;
    runs_table(m, site);
    pages_list(m, site);
    return end(m, to, error);
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

/* A KNOWN result is of the table's finding "13" when its finding is "13" or begins with "13:". */
static bool is_of(const struct result *result, const char *finding)
{
    const char *name = result->verdict == VERDICT_KNOWN ? known_finding(result) : "";
    size_t octets = strlen(finding);

    return strncmp(name, finding, octets) == 0 && (name[octets] == '\0' || name[octets] == ':');
}

/* In which roles of one run a finding was met, and when it is to be looked at again; false: not met. */
static bool met_in(const struct report *report, const char *finding, bool roles[ROLE_SLOTS], const char **review_by)
{
    bool met = false;

    memset(roles, 0, ROLE_SLOTS * sizeof(*roles));
    for (size_t i = 0; i < report->entry_count; i++)
        for (size_t k = 0; k < report->entries[i]->kept_count; k++) {
            const struct result *result = &report->entries[i]->kept[k];

            if (!is_of(result, finding))
                continue;
            met = true;
            roles[role_slot(report->entries[i]->role)] = true;
            if (result->review_by != NULL)
                *review_by = result->review_by;
        }
    return met;
}

/* Where it was met: a line for each version. Returns the day of its review, "" for none. */
static const char *where_met(struct markup *m, const struct site *site, size_t first, const char *finding)
{
    static const char *const names[ROLE_SLOTS] = {"initiator", "responder", "either role"};
    const char *review_by = "";
    bool roles[ROLE_SLOTS];

    for (size_t i = first; i < site->count; i = site_next(site, i)) {
        bool met = met_in(site->runs[i].report, finding, roles, &review_by);
        const char *joint = ": ";

        markup_open(m, "div", NULL);
        markup_text(m, site->runs[i].version);
        if (!met)
            markup_text(m, ": not met");
        for (unsigned role = 0; role < ROLE_SLOTS; role++)
            if (roles[role]) {
                markup_textf(m, "%s%s", joint, names[role]);
                joint = ", ";
            }
        markup_close(m);
    }
    return review_by;
}

/* Whether a capture "MPA-6-01-responder.pcapng" is one of the requirement ids "MPA-6-01, MPA-8-02 (Rev 0)". */
static bool evidence_of(const char *capture, const char *requirements)
{
    for (const char *at = requirements; *at != '\0';) {
        size_t octets = strcspn(at, ", (");

        if (octets != 0 && strncmp(capture, at, octets) == 0 &&
            (capture[octets] == '.' || strncmp(capture + octets, "-responder.", 11) == 0 ||
             strncmp(capture + octets, "-initiator.", 11) == 0))
            return true;
        at += strcspn(at, ",");
        at += strspn(at, ", ");
    }
    return false;
}

static void file_link(struct markup *m, const struct site_run *run, const char *file, const char *word)
{
    char href[SITE_NAME_OCTETS];

    site_copy_name(run, file, href);
    if (href[0] == '\0')
        return;
    markup_open(m, "div", NULL);
    link_to(m, href, word);
    markup_close(m);
}

/* The captures of its requirements, of all versions; returns how many. Without markup it counts them. */
static size_t captures(struct markup *m, const struct site *site, size_t first, const char *requirements)
{
    char href[512];
    size_t count = 0;

    for (size_t i = first; i < site->count; i = site_next(site, i))
        for (size_t k = 0; k < site->runs[i].evidence_count; k++) {
            const char *capture = site->runs[i].evidence[k];

            if (!evidence_of(capture, requirements))
                continue;
            count++;
            if (m == NULL)
                continue;
            (void)snprintf(href, sizeof(href), "%s/%s", site->runs[i].name, capture);
            markup_open(m, "div", NULL);
            link_to(m, href, capture);
            markup_textf(m, " %s", site->runs[i].version);
            markup_close(m);
        }
    return count;
}

static void files_cell(struct markup *m, const struct site *site, size_t first, const struct table *table, size_t row)
{
    const char *requirements = table_cell(table, row, SITE_REQUIREMENTS);
    size_t count = captures(NULL, site, first, requirements);

    markup_open(m, "td", NULL);
    file_link(m, &site->runs[first], table_cell(table, row, SITE_REPORT), "report");
    file_link(m, &site->runs[first], table_cell(table, row, SITE_REPRODUCER), "reproducer");
    if (count != 0) {
        markup_open(m, "details", NULL);
        markup_open(m, "summary", NULL);
        markup_textf(m, "%zu capture%s", count, count == 1 ? "" : "s");
        markup_close(m);
        (void)captures(m, site, first, requirements);
        markup_close(m);
    }
    markup_close(m);
}

static void finding_row(struct markup *m, const struct site *site, size_t first, const struct table *table, size_t row)
{
    const char *review_by;

    markup_open(m, "tr", NULL);
    markup_open(m, "th", "scope", "row", NULL);
    markup_text(m, table_cell(table, row, SITE_FINDING));
    markup_close(m);
    markup_open(m, "td", NULL);
    markup_element(m, "strong", NULL, table_cell(table, row, SITE_TITLE));
    markup_element(m, "p", NULL, table_cell(table, row, SITE_REQUIREMENTS));
    markup_close(m);
    markup_open(m, "td", NULL);
    markup_element(m, "div", NULL, table_cell(table, row, SITE_LEVEL));
    markup_element(m, "div", NULL, table_cell(table, row, SITE_SEVERITY));
    markup_close(m);
    markup_open(m, "td", NULL);
    review_by = where_met(m, site, first, table_cell(table, row, SITE_FINDING));
    markup_close(m);
    files_cell(m, site, first, table, row);
    markup_open(m, "td", NULL);
    markup_element(m, "div", NULL, table_cell(table, row, SITE_STATE));
    if (*review_by != '\0') {
        markup_open(m, "div", NULL);
        markup_textf(m, "review by %s", review_by);
        markup_close(m);
    }
    markup_close(m);
    markup_close(m);
}

static bool is_listed(const struct table *table, const struct result *result)
{
    for (size_t row = 0; row < table->rows; row++)
        if (is_of(result, table_cell(table, row, SITE_FINDING)))
            return true;
    return false;
}

/* Results of findings that the table does not list, such as those that are held back until they are mended. */
static void unlisted(struct markup *m, const struct site *site, size_t first)
{
    for (size_t i = first; i < site->count; i = site_next(site, i)) {
        const struct report *report = site->runs[i].report;
        size_t results = 0;
        const char *name = NULL;

        for (size_t k = 0; k < report->entry_count; k++)
            for (size_t n = 0; n < report->entries[k]->kept_count; n++) {
                const struct result *result = &report->entries[k]->kept[n];

                if (result->verdict != VERDICT_KNOWN || is_listed(site->runs[first].findings, result))
                    continue;
                results++;
                name = known_finding(result);
            }
        if (results == 0)
            continue;
        markup_open(m, "p", NULL);
        markup_textf(m, "%s: %zu more KNOWN result%s of no finding in this table (%s).", site->runs[i].version, results,
                     results == 1 ? " is" : "s are", name);
        markup_close(m);
    }
}

static void findings_of(struct markup *m, const struct site *site, size_t first)
{
    static const char *const names[] = {"no.", "what it does", "level, severity", "met in", "files", "state"};
    const struct table *table = site->runs[first].findings;

    markup_open(m, "section", NULL);
    markup_element(m, "h2", NULL, site->runs[first].stack);
    markup_open(m, "table", "class", "findings", NULL);
    html_table_head(m, names, sizeof(names) / sizeof(names[0]));
    markup_open(m, "tbody", NULL);
    for (size_t row = 0; row < table->rows; row++)
        finding_row(m, site, first, table, row);
    markup_close(m);
    markup_close(m);
    unlisted(m, site, first);
    markup_close(m);
}

int site_write_findings(const struct site *site, const struct place *to, struct iwarp_sentence *error)
{
    struct markup *m = begin(site, "warpcheck: findings", "warpcheck: findings",
                             "A finding is one fault of an implementation, whatever number of requirements it breaks. "
                             "Its files repeat it (reproducer), show it (captures), and describe it for its authors "
                             "(report).",
                             to, error);

    if (m == NULL)
        return -1;
    markup_open(m, "p", NULL);
    link_to(m, "index.html", "All runs and pages");
    markup_close(m);
    for (size_t i = 0; i < site->count; i++)
        if (site->runs[i].findings != NULL && site_is_first(site, i))
            findings_of(m, site, i);
    return end(m, to, error);
}
