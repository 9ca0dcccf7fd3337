/* SPDX-License-Identifier: BSD-2-Clause */
/* Known deviations by finding: a fold for each, with the cards of its results. */
#include "reports/page/html_parts.h"

#include <stdlib.h>
#include <string.h>

#define KNOWN_CARDS_MAX 400 /* of all findings; the rest is counted */

struct known_card {
    size_t entry; /* in the report */
    const struct result *result;
};

static int card_order(const void *a, const void *b)
{
    const struct known_card *left = a, *right = b;
    int order = known_finding_order(known_finding(left->result), known_finding(right->result));
    return order ? order : (left->entry > right->entry) - (left->entry < right->entry);
}

static size_t count_cards(const struct report *report)
{
    size_t count = 0;
    for (size_t i = 0; i < report->entry_count; i++) {
        for (size_t k = 0; k < report->entries[i]->kept_count; k++)
            count += report->entries[i]->kept[k].verdict == VERDICT_KNOWN;
    }
    return count;
}

static void gather(const struct report *report, struct known_card *cards)
{
    for (size_t i = 0; i < report->entry_count; i++) {
        for (size_t k = 0; k < report->entries[i]->kept_count; k++) {
            if (report->entries[i]->kept[k].verdict == VERDICT_KNOWN)
                *cards++ = (struct known_card){i, &report->entries[i]->kept[k]};
        }
    }
}

static void finding(const struct html *html, const struct known_card *cards, size_t count, size_t shown)
{
    struct markup *m = html->markup;
    markup_open(m, "details", "class", "finding", NULL);
    markup_open(m, "summary", NULL);
    markup_element(m, "strong", NULL, known_finding(cards->result));
    markup_textf(m, " %zu result%s", count, count == 1 ? "" : "s");
    markup_close(m);
    for (size_t i = 0; i < shown; i++)
        html_card(html, cards[i].entry, cards[i].result, false);
    markup_close(m);
}

void html_known(const struct html *html)
{
    size_t count = count_cards(html->report), left = KNOWN_CARDS_MAX;
    struct known_card *cards = calloc(count + 1, sizeof(*cards));
    if (!cards) {
        markup_element(html->markup, "p", "notice", "Out of memory: the cards are left out.");
        return;
    }
    gather(html->report, cards);
    qsort(cards, count, sizeof(*cards), card_order);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count; end++) {
            if (strcmp(known_finding(cards[i].result), known_finding(cards[end].result)) != 0)
                break;
        }
        size_t shown = end - i < left ? end - i : left;
        finding(html, &cards[i], end - i, shown);
        left -= shown;
    }
    if (html->report->summary.known > KNOWN_CARDS_MAX - left) {
        markup_open(html->markup, "p", "class", "notice", NULL);
        markup_textf(html->markup, "%llu more results with this verdict are in results.jsonl.",
                     (unsigned long long)(html->report->summary.known - (KNOWN_CARDS_MAX - left)));
        markup_close(html->markup);
    }
    free(cards);
}
