/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of the HTML pages, for html.c and matrix.c alone. */
#ifndef REPORTS_HTML_PARTS_H
#define REPORTS_HTML_PARTS_H

#include "reports/page/markup.h"
#include "reports/results/report.h"

/* What a requirement's line in the tree can say; the first VERDICT_COUNT are the verdicts. */
enum standing {
    STANDING_NOT_EXERCISED = VERDICT_COUNT,
    STANDING_NO_CHECK, /* neither check nor rule decides it yet */
    STANDING_DOCUMENT, /* binds a document or a person, not a device */
    STANDING_COUNT
};

struct html {
    struct markup *markup;
    const struct report *report;
    const struct report_coverage *coverage; /* may be NULL */
};

/* Words, style class and sign of a standing: never colour alone. */
const char *standing_word(unsigned standing);
const char *standing_class(unsigned standing);
const char *standing_sign(unsigned standing);

/* <span class="b fail">sign word</span> */
void html_badge(struct markup *markup, unsigned standing);

/*
 * A page up to its <header>, which is open then, with the project's style sheet inside. `css`: class of the body, or
 * NULL.
 */
void html_page(struct markup *markup, const char *title, const char *tool, const char *css);

/* <thead> with these names. */
void html_table_head(struct markup *markup, const char *const *names, size_t count);

/* Opens a <td> of a table whose head is gone on a small screen, where the cell says what it is of. */
void html_cell_of(struct markup *markup, const char *of);

/*
 * An embedded file in an element ("style", "script"), between lines that make it CDATA for an XML parser and a comment
 * for CSS or JavaScript.
 */
void html_asset(struct markup *markup, const char *element, const char *path);

/* "RFC 5044: Marker PDU Aligned Framing (MPA)" for "RFC5044"; the source itself when it has no title here. */
const char *html_document_title(const char *source);

enum { HTML_URL_OCTETS = 128 };

/* The text as a link to the requirement's section where its document is public, else as text. */
void html_section_link(struct markup *markup, const struct requirement *requirement, const char *text);

/* A table of layers and standings: how many requirements have which. */
void html_grid(const struct html *html);

/* The anchor of the card for an entry's results of one verdict. */
void html_anchor(char out[64], size_t entry, enum verdict verdict);

/* Whether such a card exists: all verdicts but PASS have one or stand in a list. */
bool html_has_card(const struct report_entry *entry, enum verdict verdict);

/* Why flows ended; nothing where none did by a Terminate, reset or reject. */
void html_ends(const struct html *html);

/* How an audit's findings differ from those that it was to have; nothing where they do not. */
void html_differences(const struct html *html);

/* The account of the input. */
void html_account(const struct html *html);

/*
 * What the verdict rests on (failures, known deviations, what could not be decided); and the other lists, which stand
 * after the tree.
 */
void html_findings(const struct html *html);
void html_remarks(const struct html *html);

/* The standing of a requirement, over its roles. */
unsigned html_standing(const struct html *html, const struct requirement *requirement);

/* The requirement tree. */
void html_tree(const struct html *html);

/* The card of one result of the report's entry at `index`: a fold, open or closed as it comes. */
void html_card(const struct html *html, size_t index, const struct result *result, bool open);

/*
 * The lists of one verdict's cards: folds by cause (reports/results/cause.h), and by layer where results share no
 * cause.
 */
void html_folds(const struct html *html, enum verdict verdict);

/* The cards of known deviations, by finding. */
void html_known(const struct html *html);

#endif
