/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/writers/account_text.h"

#include "reports/results/account.h"

/* "foreign   40 frames, 5000 octets: ARP (12 frames, 720 octets), UDP (...)" */
static void write_foreign(FILE *out, const struct flow_account *account)
{
    char text[ACCOUNT_TEXT];
    const char *separator = ": ";

    if (account_next(account, FLOW_FOREIGN, FLOW_ROWS) == FLOW_ROWS)
        return;
    fprintf(out, "  foreign   %s", account_kind_text(account, FLOW_FOREIGN, text));
    for (enum flow_row row = FLOW_ROWS; (row = account_next(account, FLOW_FOREIGN, row)) != FLOW_ROWS;) {
        fprintf(out, "%s%s (%s)", separator, flow_account_row(row)->text,
                account_count_text(row, &account->row[row], text));
        separator = ", ";
    }
    fputc('\n', out);
}

/* One line; what was remarkable in it below. */
static void write_judged(FILE *out, const struct flow_account *account)
{
    char text[ACCOUNT_TEXT];

    if (account_next(account, FLOW_JUDGED, FLOW_ROWS) == FLOW_ROWS)
        return;
    fprintf(out, "  judged    %s\n", account_kind_text(account, FLOW_JUDGED, text));
    for (enum flow_row row = FLOW_ROWS; (row = account_next(account, FLOW_JUDGED, row)) != FLOW_ROWS;)
        if (account->row[row].items != 0)
            fprintf(out, "    %-16s %s: %s\n", flow_account_row(row)->name,
                    account_count_text(row, &account->row[row], text), flow_account_row(row)->text);
}

static void write_reasons(FILE *out, const struct flow_account *account, enum flow_account_kind kind)
{
    char text[ACCOUNT_TEXT];

    if (account_next(account, kind, FLOW_ROWS) == FLOW_ROWS)
        return;
    fprintf(out, "  %-9s %s\n", flow_account_kind_name(kind), account_kind_text(account, kind, text));
    for (enum flow_row row = FLOW_ROWS; (row = account_next(account, kind, row)) != FLOW_ROWS;)
        fprintf(out, "    %-16s %s: %s\n", flow_account_row(row)->name,
                account_count_text(row, &account->row[row], text), flow_account_row(row)->text);
}

void account_print(FILE *out, const struct flow_account *account)
{
    if (account_is_empty(account))
        return;
    fputs("accounted for:\n", out);
    write_judged(out, account);
    write_foreign(out, account);
    write_reasons(out, account, FLOW_UNJUDGED);
    write_reasons(out, account, FLOW_MISSING);
}
