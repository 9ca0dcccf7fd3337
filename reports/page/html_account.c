/* SPDX-License-Identifier: BSD-2-Clause */
/* What became of the input: a table of the account, open when something was not judged. */
#include "reports/results/account.h"
#include "reports/page/html_parts.h"

static void write_row(const struct html *html, enum flow_account_kind kind, enum flow_row row)
{
    const struct flow_count *count = &html->report->summary.account.row[row];
    struct markup *m = html->markup;
    char text[ACCOUNT_TEXT];

    markup_open(m, "tr", NULL);
    markup_element(m, "td", NULL, flow_account_kind_name(kind));
    markup_element(m, "td", NULL, account_count_text(row, count, text));
    markup_open(m, "td", NULL);
    markup_element(m, "code", NULL, flow_account_row(row)->name);
    markup_text(m, " ");
    markup_text(m, flow_account_row(row)->text);
    markup_close(m);
    markup_close(m);
}

static void write_summary(const struct html *html)
{
    const struct flow_account *account = &html->report->summary.account;
    struct markup *m = html->markup;
    char text[ACCOUNT_TEXT];

    markup_open(m, "summary", NULL);
    markup_textf(m, "Account of the input: %s judged", account_kind_text(account, FLOW_JUDGED, text));
    if (account_next(account, FLOW_FOREIGN, FLOW_ROWS) != FLOW_ROWS)
        markup_textf(m, ", %s foreign", account_kind_text(account, FLOW_FOREIGN, text));
    if (account_next(account, FLOW_UNJUDGED, FLOW_ROWS) != FLOW_ROWS)
        markup_textf(m, ", %s unjudged", account_kind_text(account, FLOW_UNJUDGED, text));
    if (account_next(account, FLOW_MISSING, FLOW_ROWS) != FLOW_ROWS)
        markup_textf(m, ", %s missing", account_kind_text(account, FLOW_MISSING, text));
    markup_close(m);
}

void html_account(const struct html *html)
{
    static const char *const heads[] = {"judged or not", "how much", "what, or why"};
    /* What a reader has to act on first. */
    static const enum flow_account_kind order[] = {FLOW_UNJUDGED, FLOW_MISSING, FLOW_JUDGED, FLOW_FOREIGN};
    const struct flow_account *account = &html->report->summary.account;
    struct markup *m = html->markup;

    if (account_is_empty(account))
        return;
    markup_open(m, "details", "class", "account more", "open", flow_account_whole(account) ? NULL : "open", NULL);
    write_summary(html);
    markup_open(m, "table", "class", "skips", NULL);
    html_table_head(m, heads, sizeof(heads) / sizeof(heads[0]));
    markup_open(m, "tbody", NULL);
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        for (enum flow_row row = FLOW_ROWS; (row = account_next(account, order[i], row)) != FLOW_ROWS;)
            write_row(html, order[i], row);
    markup_close(m);
    markup_close(m);
    markup_close(m);
}
