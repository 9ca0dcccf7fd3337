/* SPDX-License-Identifier: BSD-2-Clause */
/* One card a finding: what the text says, what was expected, what came, the frames and the ladder. */
#include "conformance/requirements/catalogue.h"
#include "reports/results/cause.h"
#include "reports/page/html_parts.h"
#include "reports/page/ladder.h"

#include <stdio.h>
#include <string.h>

#define FULL_CARD_BUDGET (620u * 1024) /* octets of page; cards beyond it are without ladder and frames */
#define DUMPS_MAX        8             /* frames of a card shown in octets */
#define DUMP_OCTETS      160           /* of a frame, around its mark */
#define DUMP_LINE        16

void html_anchor(char out[64], size_t entry, enum verdict verdict)
{
    snprintf(out, 64, "c%zu-%s", entry, standing_class(verdict));
}

bool html_has_card(const struct report_entry *entry, enum verdict verdict)
{
    return verdict != VERDICT_PASS && entry->counts[verdict] > 0 && report_first(entry, verdict) != NULL;
}

static void row(const struct html *html, const char *name, const char *css, const char *value)
{
    if (!value || !*value)
        return;
    markup_open(html->markup, "div", "class", css, NULL);
    markup_element(html->markup, "dt", NULL, name);
    markup_element(html->markup, "dd", NULL, value);
    markup_close(html->markup);
}

/* A link to a file of the output folder; anything but a plain relative path stays text ("javascript:", "//host"). */
static void link_to(const struct html *html, const char *path)
{
    char target[600];
    size_t used = 0;
    bool plain = *path && *path != '/' && strlen(path) < 190 && !strstr(path, "..");
    if (plain && strcspn(path, ":") < strcspn(path, "/"))
        plain = false; /* a scheme */
    for (const unsigned char *p = (const unsigned char *)path; plain && *p; p++) {
        bool safe =
            (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || strchr("-._/~", *p);
        used += (size_t)snprintf(target + used, sizeof(target) - used, safe ? "%c" : "%%%02X", *p);
    }
    if (!plain) {
        markup_element(html->markup, "code", NULL, path);
        return;
    }
    markup_open(html->markup, "a", "href", target, NULL);
    markup_element(html->markup, "code", NULL, path);
    markup_close(html->markup);
}

static void where(const struct html *html, const struct result *result)
{
    struct markup *m = html->markup;
    char text[64];
    markup_open(m, "dl", "class", "where", NULL);
    row(html, "Flow", NULL, result->flow);
    if (!result->evidence || strcmp(result->file ? result->file : "", result->evidence) != 0)
        row(html, "Capture", NULL, result->file);
    if (result->frame) {
        snprintf(text, sizeof(text), "%llu", (unsigned long long)result->frame);
        row(html, "Frame", NULL, text);
    }
    if (result->count > 1) {
        snprintf(text, sizeof(text), "%llu times", (unsigned long long)result->count);
        row(html, "Seen", NULL, text);
    }
    if (result->evidence) {
        markup_open(m, "div", NULL);
        markup_element(m, "dt", NULL, "Evidence");
        markup_open(m, "dd", NULL);
        link_to(html, result->evidence);
        markup_close(m);
        markup_close(m);
    }
    row(html, strcmp(result->by ? result->by : "", "rule") == 0 ? "Rule" : "Check", NULL, result->script);
    row(html, "Contradicted", NULL, result->otherwise);
    if (result->duration_ns) {
        snprintf(text, sizeof(text), "%.1f ms", (double)result->duration_ns / 1e6);
        row(html, "Took", NULL, text);
    }
    markup_close(m);
}

static unsigned octet_at(const struct ladder_step *step, size_t i)
{
    unsigned value = 0;
    (void)sscanf(step->octets + 2 * i, "%2x", &value);
    return value;
}

static bool marked(const struct ladder_step *step, size_t i)
{
    return i >= step->mark_offset && i - step->mark_offset < step->mark_length;
}

/* Columns of one dump line, as hexadecimal digits or as characters, with runs of marked octets in <mark>. */
static void dump_columns(const struct html *html, const struct ladder_step *step, size_t from, size_t to, bool digits)
{
    struct markup *m = html->markup;
    for (size_t i = from; i < to;) {
        char text[3 * DUMP_LINE + 1];
        size_t used = 0;
        bool mark = marked(step, i);
        for (; i < to && marked(step, i) == mark; i++) {
            unsigned octet = octet_at(step, i);
            if (digits)
                used += (size_t)snprintf(text + used, sizeof(text) - used, "%02x ", octet);
            else
                text[used++] = octet >= 0x20 && octet < 0x7F ? (char)octet : '.';
        }
        text[used] = '\0';
        if (mark && digits)
            text[used - 1] = '\0'; /* the mark ends with the octet */
        if (mark)
            markup_element(m, "mark", NULL, text);
        else
            markup_text(m, text);
        if (mark && digits)
            markup_text(m, " ");
    }
}

static void dump(const struct html *html, const struct ladder_step *step)
{
    struct markup *m = html->markup;
    size_t octets = step->hex_digits / 2, start = 0;
    if (step->mark_length && step->mark_offset + step->mark_length > DUMP_OCTETS && step->mark_offset < octets)
        start = (step->mark_offset - (step->mark_offset > 32 ? 32 : step->mark_offset)) / DUMP_LINE * DUMP_LINE;
    size_t end = octets - start < DUMP_OCTETS ? octets : start + DUMP_OCTETS;
    markup_open(m, "pre", "class", "dump", "tabindex", "0", NULL); /* it scrolls: from the keyboard, too */
    if (start)
        markup_textf(m, "      … %zu octets before\n", start);
    for (size_t line = start; line < end; line += DUMP_LINE) {
        size_t to = line + DUMP_LINE < end ? line + DUMP_LINE : end;
        markup_textf(m, "%04zx  ", line);
        dump_columns(html, step, line, to, true);
        markup_textf(m, "%*s ", (int)(3 * (line + DUMP_LINE - to)), "");
        dump_columns(html, step, line, to, false);
        markup_text(m, "\n");
    }
    if (step->length > end)
        markup_textf(m, "      … %llu octets more\n", (unsigned long long)(step->length - end));
    markup_close(m);
}

/* The steps as text, the offending ones opened: for readers without eyes for the picture, and for the octets. */
static void frames(const struct html *html, const json_t *steps, const struct ladder_ends *ends)
{
    struct markup *m = html->markup;
    size_t shown[LADDER_STEPS_SHOWN], count = ladder_choose(steps, shown), dumps = 0;
    markup_open(m, "div", "class", "frames", NULL);
    for (size_t i = 0; i < count; i++) {
        struct ladder_step step;
        (void)ladder_step_read(json_array_get(steps, shown[i]), &step);
        char css[32];
        bool octets = step.hex_digits && (step.offending || dumps + 1 < DUMPS_MAX) && dumps < DUMPS_MAX;
        snprintf(css, sizeof(css), "step%s%s", step.offending ? " bad" : "",
                 strcmp(step.kind, "note") == 0 ? ""
                 : step.from_dut                ? " dut"
                                                : " tester");
        markup_open(m, octets ? "details" : "div", "class", css, "open", octets && step.offending ? "open" : NULL,
                    NULL);
        markup_open(m, octets ? "summary" : "span", NULL);
        if (step.frame)
            markup_textf(m, "#%llu ", (unsigned long long)step.frame);
        if (strcmp(step.kind, "note") != 0)
            markup_textf(m, "%.100s → %.100s: ", step.from_dut ? ends->right : ends->left,
                         step.from_dut ? ends->left : ends->right);
        markup_text(m, step.summary);
        if (*step.note) {
            markup_text(m, " ");
            markup_element(m, "em", NULL, step.note);
        }
        markup_close(m);
        if (octets) {
            dump(html, &step);
            dumps++;
        }
        markup_close(m);
    }
    markup_close(m);
}

/* A live run's ladder stands between "tester" and "DUT"; an audit's between the ends of the flow, "judged>peer". */
static void ladder(const struct html *html, const struct result *result)
{
    struct markup *m = html->markup;
    struct ladder_ends ends = {"tester", "DUT"};
    char judged[100];
    const char *command = html->report->info.command, *peer = result->flow ? strchr(result->flow, '>') : NULL;
    if (!result->steps || json_array_size(result->steps) == 0)
        return;
    if (command && strcmp(command, "audit") == 0 && peer && (size_t)(peer - result->flow) < sizeof(judged)) {
        snprintf(judged, sizeof(judged), "%.*s", (int)(peer - result->flow), result->flow);
        ends = (struct ladder_ends){peer + 1, judged};
    }
    markup_open(m, "figure", NULL);
    ladder_svg(m, result->steps, &ends, false);
    markup_close(m);
    markup_open(m, "details", "class", "more steps", "open", "open", NULL);
    markup_element(m, "summary", NULL, "Frames, step by step");
    frames(html, result->steps, &ends);
    markup_close(m);
}

static void requirement_text(const struct html *html, const struct report_entry *entry, enum verdict verdict)
{
    struct markup *m = html->markup;
    const struct requirement *requirement = entry->requirement;
    char section[100];
    if (!requirement) {
        markup_element(m, "p", "text", "This id is not in the catalogue of this version.");
        return;
    }
    markup_open(m, "p", "class", "text", NULL);
    markup_element(m, "strong", NULL, requirement_level_name(requirement->level));
    markup_text(m, " ");
    markup_text(m, requirement->text);
    markup_text(m, " ");
    snprintf(section, sizeof(section), "%.40s, section %.40s", requirement->source, requirement->section);
    html_section_link(m, requirement, section);
    markup_close(m);
    if (verdict == VERDICT_AMBIGUOUS && *requirement->ambiguity) {
        markup_open(m, "p", "class", "text", NULL);
        markup_element(m, "strong", NULL, "Readings ");
        markup_text(m, requirement->ambiguity);
        markup_close(m);
    }
}

static void pair(const struct html *html, const struct result *result)
{
    if (!result->expected && !result->actual)
        return;
    markup_open(html->markup, "dl", "class", "pair", NULL);
    row(html, "Expected", "exp", result->expected);
    row(html, "Actual", "act", result->actual);
    markup_close(html->markup);
}

static void also_seen(const struct html *html, const struct report_entry *entry, enum verdict verdict)
{
    struct markup *m = html->markup;
    uint64_t total = entry->counts[verdict], listed = 0;
    bool first = true;
    if (total < 2 || verdict == VERDICT_KNOWN) /* each known deviation has a card */
        return;
    markup_open(m, "details", "class", "more", NULL);
    markup_open(m, "summary", NULL);
    markup_textf(m, "%llu more like this", (unsigned long long)(total - 1));
    markup_close(m);
    markup_open(m, "ul", NULL);
    for (size_t i = 0; i < entry->kept_count; i++) {
        const struct result *result = &entry->kept[i];
        if (result->verdict != verdict)
            continue;
        if (first) { /* the card itself */
            first = false;
            continue;
        }
        markup_open(m, "li", NULL);
        markup_text(m, result->file ? result->file : "");
        if (result->frame)
            markup_textf(m, " frame %llu ", (unsigned long long)result->frame);
        markup_element(m, "code", NULL, result->flow);
        markup_text(m, " ");
        markup_text(m, result->actual ? result->actual : result->message);
        markup_close(m);
        listed++;
    }
    if (total - 1 > listed) {
        markup_open(m, "li", NULL);
        markup_textf(m, "and %llu in results.jsonl", (unsigned long long)(total - 1 - listed));
        markup_close(m);
    }
    markup_close(m);
    markup_close(m);
}

static void known(const struct html *html, const struct result *result)
{
    struct markup *m = html->markup;
    if (result->verdict != VERDICT_KNOWN)
        return;
    markup_open(m, "p", "class", "message", NULL);
    markup_element(m, "strong", NULL, "Known as ");
    markup_text(m, known_finding(result));
    if (result->deviation && strcmp(result->deviation, known_finding(result)) != 0) {
        markup_text(m, "; ");
        markup_text(m, result->deviation);
    }
    if (result->review_by)
        markup_textf(m, "; to be reviewed by %.10s", result->review_by);
    markup_close(m);
}

static void replay(const struct html *html, const struct result *result)
{
    struct markup *m = html->markup;
    if (!result->replay)
        return;
    markup_open(m, "p", "class", "replay", NULL);
    markup_text(m, "Replay ");
    markup_element(m, "code", NULL, result->replay);
    markup_close(m);
}

void html_card(const struct html *html, size_t index, const struct result *result, bool open)
{
    struct markup *m = html->markup;
    const struct report_entry *entry = html->report->entries[index];
    enum verdict verdict = result->verdict;
    bool full = markup_size(m) < FULL_CARD_BUDGET;
    char anchor[64], css[32];
    html_anchor(anchor, index, verdict);
    snprintf(css, sizeof(css), "card %s", standing_class(verdict));
    markup_open(m, "article", "class", css, "id", result == report_first(entry, verdict) ? anchor : NULL, "data-v",
                standing_class(verdict), NULL);
    markup_open(m, "details", "open", open ? "open" : NULL, NULL);
    markup_open(m, "summary", NULL);
    markup_open(m, "h3", NULL);
    html_badge(html->markup, verdict);
    markup_element(m, "span", "id", entry->id);
    if (*entry->role)
        markup_element(m, "span", "role", entry->role);
    /* A rule has no purpose: its sentence says what is wrong. Without one, the card says what is demanded. */
    if (result->purpose || result->message || entry->requirement)
        markup_element(m, "span", "purpose",
                       result->purpose   ? result->purpose
                       : result->message ? result->message
                                         : entry->requirement->text);
    markup_close(m);
    markup_close(m);
    requirement_text(html, entry, verdict);
    pair(html, result);
    known(html, result);
    if (result->message && result->purpose)
        markup_element(m, "p", "message", result->message);
    if (cause_hint_alone(result)) {
        markup_open(m, "p", "class", "message", NULL);
        markup_element(m, "strong", NULL, "Hint: ");
        markup_text(m, cause_hint_alone(result));
        markup_close(m);
    }
    if (result->reading || result->pics) {
        markup_open(m, "p", "class", "message", NULL);
        markup_element(m, "strong", NULL, result->reading ? "The DUT's reading: " : "Capability: ");
        markup_text(m, result->reading ? result->reading : result->pics);
        markup_close(m);
    }
    where(html, result);
    if (full)
        ladder(html, result);
    else if (result->steps)
        markup_element(m, "p", "src",
                       "Ladder and frames are left out to keep this page small; the evidence contains them.");
    replay(html, result);
    also_seen(html, entry, verdict);
    markup_close(m);
    markup_close(m);
}

static void skip_line(const struct html *html, size_t index)
{
    struct markup *m = html->markup;
    const struct report_entry *entry = html->report->entries[index];
    const struct result *result = report_first(entry, VERDICT_SKIP);
    char anchor[64];
    html_anchor(anchor, index, VERDICT_SKIP);
    markup_open(m, "tr", "id", anchor, "data-v", "skip", NULL);
    markup_element(m, "td", "id", entry->id);
    markup_element(m, "td", NULL, entry->role);
    markup_open(m, "td", NULL);
    markup_element(m, "code", NULL, result->pics);
    markup_close(m);
    markup_element(m, "td", NULL, result->message);
    markup_close(m);
}

static void skip_list(const struct html *html)
{
    static const char *const columns[] = {"Requirement", "Role", "Capability", "Reason"};
    struct markup *m = html->markup;
    markup_open(m, "details", "class", "fold", NULL);
    markup_element(m, "summary", NULL, "The list, with the capability that each needs");
    markup_open(m, "table", "class", "skips", NULL);
    html_table_head(m, columns, sizeof(columns) / sizeof(columns[0]));
    markup_open(m, "tbody", NULL);
    for (size_t i = 0; i < html->report->entry_count; i++) {
        if (html_has_card(html->report->entries[i], VERDICT_SKIP))
            skip_line(html, i);
    }
    markup_close(m);
    markup_close(m);
    markup_close(m);
}

/* A list of a verdict: its heading, what it means, its cards or lines. Nothing where there is none. */
static void list(const struct html *html, enum verdict verdict, const char *title, const char *lead)
{
    struct markup *m = html->markup;
    char id[16];
    const char *last = "";
    size_t count = 0; /* of requirements: the entries of one requirement's roles are neighbours */
    for (size_t k = 0; k < html->report->entry_count; k++) {
        const struct report_entry *entry = html->report->entries[k];
        if (!html_has_card(entry, verdict))
            continue;
        count += strcmp(last, entry->id) != 0;
        last = entry->id;
    }
    if (count == 0)
        return;
    snprintf(id, sizeof(id), "v-%s", standing_class(verdict));
    markup_open(m, "section", "class", "list", "id", id, NULL);
    markup_open(m, "h2", NULL);
    markup_textf(m, "%s (%zu requirement%s)", title, count, count == 1 ? "" : "s");
    markup_close(m);
    markup_element(m, "p", "lead", lead);
    if (verdict == VERDICT_SKIP)
        skip_list(html);
    else if (verdict == VERDICT_KNOWN)
        html_known(html);
    else
        html_folds(html, verdict);
    markup_close(m);
}

void html_findings(const struct html *html)
{
    list(html, VERDICT_FAIL, "Failures",
         "Requirements that the DUT breaks: results that have one cause together, the others by layer.");
    list(html, VERDICT_KNOWN, "Known deviations",
         "Requirements that the DUT breaks exactly as its profile describes, by finding. Each is a breach: the DUT "
         "does not conform.");
    list(html, VERDICT_INCONCLUSIVE, "Inconclusive",
         "The environment prevented these verdicts; they prove nothing about the DUT. Repair it and run again with "
         "--resume.");
}

void html_remarks(const struct html *html)
{
    list(html, VERDICT_WARN, "Warnings", "Recommendations (SHOULD) that the DUT does not follow.");
    list(html, VERDICT_AMBIGUOUS, "Ambiguous",
         "The RFC allows two readings; each card names the one that the DUT follows.");
    list(html, VERDICT_SKIP, "Skipped",
         "These need capabilities that the DUT does not have, according to its profile.");
}
