/* SPDX-License-Identifier: BSD-2-Clause */
/* Causes that several results have: each once, above the cards. */
#include "reports/cause.h"
#include "reports/html_parts.h"

#include <stdio.h>
#include <string.h>

#define LINKS_MAX 400 /* of one cause */

/* What more than one result has for a cause: once, with links to the cards of the requirements that it concerns. */
static void cause_links(const struct html *html, const struct cause *cause)
{
    struct markup *m = html->markup;
    size_t links = 0;
    for (size_t i = 0; i < html->report->entry_count && links < LINKS_MAX; i++) {
        const struct report_entry *entry = html->report->entries[i];
        const struct result *result = NULL;
        for (size_t k = 0; k < entry->kept_count && !result; k++) {
            if (cause_counts(&entry->kept[k]) && strcmp(entry->kept[k].cause, cause_name(cause)) == 0)
                result = &entry->kept[k];
        }
        if (!result)
            continue;
        char anchor[64], target[72];
        html_anchor(anchor, i, result->verdict);
        snprintf(target, sizeof(target), "#%s", anchor);
        if (links++)
            markup_text(m, ", ");
        markup_open(m, "a", "href", target, NULL);
        markup_text(m, entry->id);
        markup_close(m);
        if (*entry->role)
            markup_textf(m, " (%.40s)", entry->role);
    }
}

void html_causes(const struct html *html)
{
    struct markup *m = html->markup;
    struct cause_set set = {0};
    if (cause_add_report(&set, html->report) != 0)
        markup_element(m, "p", "notice", "Out of memory: some causes are left out.");
    const struct cause *cause = cause_first(&set);
    if (cause) {
        markup_open(m, "section", "class", "list", "id", "causes", NULL);
        markup_element(m, "h2", NULL, "Causes");
        markup_element(m, "p", "lead", "Results that have one cause, which the octets that came tell.");
    }
    for (const struct cause *at = cause; at; at = cause_next(at)) {
        markup_open(m, "p", "class", "message", NULL);
        markup_element(m, "strong", NULL, *cause_hint(at) ? cause_hint(at) : cause_name(at));
        markup_textf(m, " (%.60s, %zu results): ", cause_name(at), cause_results(at));
        cause_links(html, at);
        markup_close(m);
    }
    if (cause)
        markup_close(m);
    cause_set_free(&set);
}
