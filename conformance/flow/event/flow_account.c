/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/flow/event/flow_account.h"

#include <string.h>

static const struct flow_account_row rows[FLOW_ROWS] = {
#define FLOW_ROW_OF(id, kind, name, text) {name, text, FLOW_##kind},
    FLOW_ACCOUNT_TABLE(FLOW_ROW_OF)
#undef FLOW_ROW_OF
};

const struct flow_account_row *flow_account_row(enum flow_row row)
{
    return &rows[(unsigned)row < FLOW_ROWS ? row : FLOW_ROW_UNKNOWN];
}

const char *flow_account_kind_name(enum flow_account_kind kind)
{
    static const char *const names[FLOW_ACCOUNT_KINDS] = {
        [FLOW_JUDGED] = "judged",
        [FLOW_FOREIGN] = "foreign",
        [FLOW_UNJUDGED] = "unjudged",
        [FLOW_MISSING] = "missing",
    };

    return (unsigned)kind < FLOW_ACCOUNT_KINDS ? names[kind] : "";
}

enum flow_row flow_account_find(const char *name)
{
    for (unsigned i = 0; i < FLOW_ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return (enum flow_row)i;
    return FLOW_ROW_UNKNOWN;
}

static void count_add(struct flow_count *to, const struct flow_count *from)
{
    to->items += from->items;
    to->frames += from->frames;
    to->octets += from->octets;
}

struct flow_count flow_account_sum(const struct flow_account *account, enum flow_account_kind kind)
{
    struct flow_count sum = {0};

    for (unsigned i = 0; i < FLOW_ROWS; i++)
        if (rows[i].kind == kind)
            count_add(&sum, &account->row[i]);
    return sum;
}

bool flow_account_none(const struct flow_account *account, enum flow_row row)
{
    const struct flow_count *count = &account->row[row];

    return (count->items | count->frames | count->octets) == 0;
}

bool flow_account_whole(const struct flow_account *account)
{
    for (unsigned i = 0; i < FLOW_ROWS; i++)
        if (rows[i].kind >= FLOW_UNJUDGED && !flow_account_none(account, (enum flow_row)i))
            return false;
    return true;
}

void flow_account_add(struct flow_account *account, const struct flow_account *others)
{
    for (unsigned i = 0; i < FLOW_ROWS; i++)
        count_add(&account->row[i], &others->row[i]);
}

void flow_account_since(const struct flow_account *before, const struct flow_account *now, struct flow_account *since)
{
    for (unsigned i = 0; i < FLOW_ROWS; i++) {
        since->row[i].items = now->row[i].items - before->row[i].items;
        since->row[i].frames = now->row[i].frames - before->row[i].frames;
        since->row[i].octets = now->row[i].octets - before->row[i].octets;
    }
}
