/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/results/account.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static int set_count(json_t *object, const char *key, uint64_t count)
{
    if (count == 0)
        return 0;
    return json_object_set_new(object, key, json_integer((json_int_t)(count < INT64_MAX ? count : INT64_MAX)));
}

static uint64_t get_count(const json_t *object, const char *key)
{
    json_int_t value = json_integer_value(json_object_get(object, key));

    return value > 0 ? (uint64_t)value : 0;
}

static int set_row(json_t *rows, enum flow_row row, const struct flow_count *count)
{
    json_t *object = json_object();
    int rc = object != NULL ? 0 : -1;

    rc |= set_count(object, "items", count->items);
    rc |= set_count(object, "frames", count->frames);
    rc |= set_count(object, "octets", count->octets);
    return json_object_set_new(rows, flow_account_row(row)->name, object) | rc;
}

static int set_kind(json_t *object, const struct flow_account *account, enum flow_account_kind kind)
{
    json_t *rows = json_object();
    int rc = rows != NULL ? 0 : -1;

    for (enum flow_row row = FLOW_ROWS; (row = account_next(account, kind, row)) != FLOW_ROWS;)
        rc |= set_row(rows, row, &account->row[row]);
    if (json_object_size(rows) != 0)
        return json_object_set_new(object, flow_account_kind_name(kind), rows) | rc;
    json_decref(rows);
    return rc;
}

json_t *account_to_json(const struct flow_account *account)
{
    json_t *object = json_object();
    uint64_t frames = 0, octets = 0;
    int rc = object != NULL ? 0 : -1;

    for (unsigned kind = FLOW_JUDGED; kind < FLOW_MISSING; kind++) {
        struct flow_count sum = flow_account_sum(account, (enum flow_account_kind)kind);

        frames += sum.frames;
        octets += sum.octets;
    }
    rc |= set_count(object, "frames", frames);
    rc |= set_count(object, "octets", octets);
    for (unsigned kind = 0; kind < FLOW_ACCOUNT_KINDS; kind++)
        rc |= set_kind(object, account, (enum flow_account_kind)kind);
    if (rc == 0)
        return object;
    json_decref(object);
    return NULL;
}

static void get_kind(const json_t *rows, enum flow_account_kind kind, struct flow_account *account)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)rows, name, value)
    {
        enum flow_row row = flow_account_find(name);

        if (flow_account_row(row)->kind != kind) { /* of another version of the program */
            if (kind < FLOW_UNJUDGED)
                continue;
            row = FLOW_ROW_UNKNOWN;
        }
        account->row[row].items += get_count(value, "items");
        account->row[row].frames += get_count(value, "frames");
        account->row[row].octets += get_count(value, "octets");
    }
}

void account_from_json(const json_t *object, struct flow_account *account)
{
    memset(account, 0, sizeof(*account));
    for (unsigned kind = 0; kind < FLOW_ACCOUNT_KINDS; kind++)
        get_kind(json_object_get(object, flow_account_kind_name((enum flow_account_kind)kind)),
                 (enum flow_account_kind)kind, account);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* What the items of a row are. */
static const char *item_name(enum flow_row row)
{
    switch (row) {
    case FLOW_ROW_FILE:
    case FLOW_ROW_EMPTY:
    case FLOW_ROW_FILE_AGAIN:
    case FLOW_ROW_RING_FILE:
    case FLOW_ROW_COMPRESSED:
    case FLOW_ROW_OTHER_FORMAT:
    case FLOW_ROW_UNREADABLE:
    case FLOW_ROW_LINKED_FOLDER:
    case FLOW_ROW_SPECIAL_FILE: return "file";
    case FLOW_ROW_BLOCK: return "block";
    case FLOW_ROW_DROPPED:
    case FLOW_ROW_IP_CHECKSUM: return "frame";
    case FLOW_ROW_GAP: return "SCTP chunk";
    default: return "connection";
    }
}

static size_t append_count(char *text, size_t used, uint64_t count, const char *name)
{
    int more;

    if (count == 0 || used >= ACCOUNT_TEXT)
        return used;
    more = snprintf(text + used, ACCOUNT_TEXT - used, "%s%llu %s%s", used != 0 ? ", " : "", (unsigned long long)count,
                    name, count == 1 ? "" : "s");
    return used + (more > 0 ? (size_t)more : 0);
}

const char *account_count_text(enum flow_row row, const struct flow_count *count, char text[ACCOUNT_TEXT])
{
    size_t used;

    text[0] = '\0';
    used = append_count(text, 0, count->items, item_name(row));
    used = append_count(text, used, count->frames, "frame");
    (void)append_count(text, used, count->octets, "octet");
    return text;
}

const char *account_kind_text(const struct flow_account *account, enum flow_account_kind kind, char text[ACCOUNT_TEXT])
{
    struct flow_count sum = flow_account_sum(account, kind);
    size_t used;

    text[0] = '\0';
    used = append_count(text, 0, sum.frames, "frame");
    used = append_count(text, used, sum.octets, "octet");
    if (used == 0 && sum.items != 0) { /* of files, connections and the like */
        enum flow_row row = account_next(account, kind, FLOW_ROWS);
        bool alone = account_next(account, kind, row) == FLOW_ROWS;

        (void)append_count(text, 0, sum.items, alone ? item_name(row) : "item");
    }
    return text;
}

enum flow_row account_next(const struct flow_account *account, enum flow_account_kind kind, enum flow_row after)
{
    for (unsigned row = after == FLOW_ROWS ? 0 : (unsigned)after + 1; row < FLOW_ROWS; row++)
        if (flow_account_row((enum flow_row)row)->kind == kind && !flow_account_none(account, (enum flow_row)row))
            return (enum flow_row)row;
    return FLOW_ROWS;
}

bool account_is_empty(const struct flow_account *account)
{
    for (unsigned row = 0; row < FLOW_ROWS; row++)
        if (!flow_account_none(account, (enum flow_row)row))
            return false;
    return true;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void account_join(struct flow_account *account, const struct flow_account *other)
{
    for (unsigned row = 0; row < FLOW_ROWS; row++) {
        account->row[row].items = larger(account->row[row].items, other->row[row].items);
        account->row[row].frames = larger(account->row[row].frames, other->row[row].frames);
        account->row[row].octets = larger(account->row[row].octets, other->row[row].octets);
    }
}
