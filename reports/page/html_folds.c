/* SPDX-License-Identifier: BSD-2-Clause */
/* The cards of one verdict in folds: one for each cause that several results have, and one a layer for the others. */
#include "conformance/requirements/catalogue.h"
#include "reports/results/cause.h"
#include "reports/page/html_parts.h"

#include <stdlib.h>
#include <string.h>

#define CARDS_MAX 300 /* of one verdict; the rest is counted */
#define OPEN_MAX  12  /* cards of a fold of failures that is open as it comes */
#define IDS_MAX   12  /* in the first line of a fold; the rest is counted */

struct card {
    size_t entry; /* in the report */
    const struct result *result;
    const struct cause *cause; /* that other results have, too; NULL: a card of its layer */
    int layer;                 /* REQUIREMENT_LAYERS: not in the catalogue */
};

/* Cards with a cause first, by its name; then by layer; and in the report's order. */
static int card_order(const void *a, const void *b)
{
    const struct card *left = a, *right = b;
    int order = !left->cause - !right->cause;
    if (order == 0 && left->cause && left->cause != right->cause)
        order = strcmp(cause_name(left->cause), cause_name(right->cause));
    if (order == 0 && !left->cause)
        order = left->layer - right->layer;
    return order ? order : (left->entry > right->entry) - (left->entry < right->entry);
}

static size_t gather(const struct report *report, enum verdict verdict, const struct cause_set *causes,
                     struct card *cards)
{
    size_t count = 0;
    for (size_t i = 0; i < report->entry_count; i++) {
        const struct report_entry *entry = report->entries[i];
        if (!html_has_card(entry, verdict))
            continue;
        const struct result *result = report_first(entry, verdict);
        const struct cause *cause = cause_of(causes, result);
        if (cause && cause_results(cause) < 2)
            cause = NULL;
        int layer = entry->requirement ? (int)entry->requirement->layer : REQUIREMENT_LAYERS;
        cards[count++] = (struct card){i, result, cause, layer};
    }
    return count;
}

static const char *id_of(const struct html *html, const struct card *card)
{
    return html->report->entries[card->entry]->id;
}

/* True if an earlier card has the same requirement: the cards of its roles are neighbours. */
static bool repeats(const struct html *html, const struct card *cards, size_t i)
{
    return i > 0 && strcmp(id_of(html, &cards[i]), id_of(html, &cards[i - 1])) == 0;
}

static size_t requirements_in(const struct html *html, const struct card *cards, size_t count)
{
    size_t requirements = 0;
    for (size_t i = 0; i < count; i++)
        requirements += !repeats(html, cards, i);
    return requirements;
}

/* Those of the fold: cause_ids() has those of other verdicts, too. */
static void write_ids(const struct html *html, const struct card *cards, size_t count)
{
    size_t put = 0, requirements = requirements_in(html, cards, count);
    for (size_t i = 0; i < count && put < IDS_MAX; i++) {
        if (!repeats(html, cards, i))
            markup_textf(html->markup, "%s%s", put++ ? ", " : "", id_of(html, &cards[i]));
    }
    if (requirements > put)
        markup_textf(html->markup, " and %zu more", requirements - put);
}

static void name_fold(const struct html *html, const struct card *cards, size_t count)
{
    struct markup *m = html->markup;
    const struct cause *cause = cards->cause;
    size_t requirements = requirements_in(html, cards, count);
    const char *name =
        cards->layer < REQUIREMENT_LAYERS ? requirement_layer_name((enum requirement_layer)cards->layer) : "Others";
    if (cause)
        name = *cause_hint(cause) ? cause_hint(cause) : cause_name(cause);
    markup_open(m, "summary", NULL);
    markup_element(m, "strong", NULL, name);
    markup_textf(m, " %zu requirement%s", requirements, requirements == 1 ? "" : "s");
    if (cause) {
        markup_textf(m, " of cause %.60s: ", cause_name(cause));
        write_ids(html, cards, count);
    }
    markup_close(m);
}

static void write_fold(const struct html *html, const struct card *cards, size_t count, size_t shown, bool first)
{
    struct markup *m = html->markup;
    bool open = cards->result->verdict == VERDICT_FAIL && count <= OPEN_MAX;
    markup_open(m, "details", "class", "fold", "open", open ? "open" : NULL, NULL);
    name_fold(html, cards, count);
    for (size_t i = 0; i < shown; i++)
        html_card(html, cards[i].entry, cards[i].result, open && first && i == 0);
    markup_close(m);
}

static void write_folds(const struct html *html, const struct card *cards, size_t count)
{
    size_t left = CARDS_MAX;
    for (size_t i = 0, end; i < count && left; i = end) {
        for (end = i + 1; end < count; end++) {
            if (cards[end].cause != cards[i].cause || (!cards[i].cause && cards[end].layer != cards[i].layer))
                break;
        }
        size_t shown = end - i < left ? end - i : left;
        write_fold(html, &cards[i], end - i, shown, i == 0);
        left -= shown;
    }
    if (count > CARDS_MAX) {
        markup_open(html->markup, "p", "class", "notice", NULL);
        markup_textf(html->markup, "%zu more requirements with this verdict are in results.jsonl.", count - CARDS_MAX);
        markup_close(html->markup);
    }
}

void html_folds(const struct html *html, enum verdict verdict)
{
    struct cause_set causes = {0};
    struct iwarp_sentence silence;
    struct card *cards = calloc(html->report->entry_count + 1, sizeof(*cards));
    if (!cards || cause_add_report(&causes, html->report) != 0)
        markup_element(html->markup, "p", "notice", "Out of memory: some causes or cards are left out.");
    if (verdict == VERDICT_FAIL && cause_perhaps_one(&causes, &silence)) {
        markup_open(html->markup, "p", "class", "notice", NULL);
        markup_textf(html->markup, "Perhaps %s.", silence.text);
        markup_close(html->markup);
    }
    if (cards) {
        size_t count = gather(html->report, verdict, &causes, cards);
        qsort(cards, count, sizeof(*cards), card_order);
        write_folds(html, cards, count);
    }
    free(cards);
    cause_set_free(&causes);
}
