/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* asprintf */
#include "reports/diff/diff.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/file/text.h"
#include "base/hash.h"

static const char *const kind_names[DIFF_KINDS] = {"new", "changed", "vanished", "fixed", "added"};

const char *diff_kind_name(enum diff_kind kind)
{
    return kind_names[kind];
}

int diff_kind_find(const char *name, size_t octets)
{
    for (int i = 0; i < DIFF_KINDS; i++)
        if (strlen(kind_names[i]) == octets && strncmp(kind_names[i], name, octets) == 0)
            return i;
    return -1;
}

/*
 * --- What is compared: a requirement and role, of an audit in one capture -------------------------------------------
 */

struct unit {
    const char *id, *role, *file;
    struct diff_side before, after;
    size_t order;
    UT_hash_handle hh;
    char key[];
};

static bool is_bad(const struct diff_side *side)
{
    return side->there && (side->worst == VERDICT_FAIL || side->worst == VERDICT_KNOWN || side->worst == VERDICT_WARN ||
                           side->worst == VERDICT_INCONCLUSIVE);
}

static bool is_failure(const struct diff_side *side)
{
    return side->there && side->worst == VERDICT_FAIL;
}

static bool is_good(const struct diff_side *side)
{
    return side->there && (side->worst == VERDICT_PASS || side->worst == VERDICT_AMBIGUOUS);
}

/* The unit of that key, made where it is new; NULL without memory. */
static struct unit *unit_of(struct unit **units, const struct report_entry *entry, const char *file)
{
    size_t octets = strlen(entry->id) + strlen(entry->role) + (file != NULL ? strlen(file) : 0) + 3;
    struct unit *fresh = calloc(1, sizeof(*fresh) + octets), *unit = NULL;

    if (fresh == NULL)
        return NULL;
    (void)snprintf(fresh->key, octets, "%s %s %s", entry->id, entry->role, file != NULL ? file : "");
    HASH_FIND_STR(*units, fresh->key, unit);
    if (unit != NULL) {
        free(fresh);
        return unit;
    }
    fresh->id = entry->id;
    fresh->role = entry->role;
    fresh->file = file;
    fresh->order = HASH_COUNT(*units);
    HASH_ADD_STR(*units, key, fresh);
    if (hash_lost(fresh)) {
        free(fresh);
        return NULL;
    }
    return fresh;
}

static const struct result *first_of(const struct report_entry *entry, enum verdict worst, const char *file)
{
    for (size_t i = 0; i < entry->kept_count; i++)
        if (entry->kept[i].verdict == worst &&
            (file == NULL || (entry->kept[i].file != NULL && strcmp(entry->kept[i].file, file) == 0)))
            return &entry->kept[i];
    return NULL;
}

static int gather_one(struct unit **units, const struct report_entry *entry, enum verdict worst, const char *file,
                      bool after)
{
    struct unit *unit = unit_of(units, entry, file);

    if (unit == NULL)
        return -1;
    *(after ? &unit->after : &unit->before) =
        (struct diff_side){.there = true, .worst = worst, .result = first_of(entry, worst, file)};
    return 0;
}

static int gather(struct unit **units, const struct report *report, bool after)
{
    for (size_t i = 0; i < report->entry_count; i++) {
        const struct report_entry *entry = report->entries[i];

        for (size_t k = 0; k < entry->cases.count; k++)
            if (gather_one(units, entry, entry->cases.cases[k].worst, entry->cases.cases[k].file, after) != 0)
                return -1;
        if (entry->cases.count == 0 && gather_one(units, entry, entry->worst, NULL, after) != 0)
            return -1;
    }
    return 0;
}

/*
 * --- The comparison ------------------------------------------------------------------------------------------------
 */

enum {
    CODE_OCTETS = 6
}; /* "0x1201": a code; a number that is longer differs from run to run: sequence numbers, STags, addresses */

/* Octets of the number at the text's beginning, 0 where none is. */
static size_t number_octets(const char *text)
{
    return isdigit((unsigned char)*text) ? strspn(text, "0123456789abcdefABCDEFx") : 0;
}

/* Equal but for long numbers. */
static bool same_words(const char *a, const char *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    while (*a != '\0' || *b != '\0') {
        size_t left = number_octets(a), right = number_octets(b);

        if (left > CODE_OCTETS && right > CODE_OCTETS) {
            a += left;
            b += right;
        } else if (*a++ != *b++) {
            return false;
        }
    }
    return true;
}

static bool same_outcome(const struct diff_side *before, const struct diff_side *after)
{
    const struct result *a = before->result, *b = after->result;

    if (before->worst != after->worst)
        return false;
    if (a == NULL || b == NULL || before->worst == VERDICT_PASS)
        return true;
    if (before->worst == VERDICT_AMBIGUOUS)
        return same_words(a->reading, b->reading);
    if (a->outcome != NULL && b->outcome != NULL)
        return strcmp(a->outcome, b->outcome) == 0;
    return same_words(a->message, b->message) && same_words(a->actual, b->actual);
}

/* Its kind; -1 where nothing that counts differs. */
static int kind_of(const struct unit *unit)
{
    bool decided_before = is_bad(&unit->before) || is_good(&unit->before);
    bool decided_after = is_bad(&unit->after) || is_good(&unit->after);

    if (!decided_before && !decided_after)
        return -1;
    if (!decided_after)
        return DIFF_VANISHED;
    if (is_bad(&unit->after) && !is_bad(&unit->before))
        return DIFF_NEW;
    if (is_failure(&unit->after) && unit->before.there && !is_failure(&unit->before))
        return DIFF_NEW; /* nothing had excused it, or nobody had seen it before */
    if (!decided_before)
        return DIFF_ADDED;
    if (unit->before.worst == VERDICT_INCONCLUSIVE && is_good(&unit->after))
        return DIFF_ADDED; /* nobody had said that it was broken */
    if (is_bad(&unit->before) && is_good(&unit->after))
        return DIFF_FIXED;
    return same_outcome(&unit->before, &unit->after) ? -1 : DIFF_CHANGED;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* If expected and actual are the same on both sides, the messages show the change. */
static void say_why(struct diff_entry *entry)
{
    const struct result *before = entry->before.result, *after = entry->after.result;

    if (entry->kind != DIFF_CHANGED || before == NULL || after == NULL || entry->before.worst != entry->after.worst)
        return;
    entry->before.why = before->expected != NULL && before->actual != NULL && before->message != NULL &&
                        same_text(before->expected, after->expected) && same_text(before->actual, after->actual);
    entry->after.why = entry->before.why && after->message != NULL;
}

static int by_order(const void *left, const void *right)
{
    const struct unit *const *a = left, *const *b = right;

    return (*a)->order < (*b)->order ? -1 : (*a)->order > (*b)->order;
}

/* The units in their order, as an array; NULL without memory. */
static struct unit **sorted(struct unit *units, size_t count)
{
    struct unit **all = calloc(count + 1, sizeof(struct unit *));
    size_t i = 0;

    for (struct unit *unit = units; all != NULL && unit != NULL; unit = unit->hh.next)
        all[i++] = unit;
    if (all != NULL)
        qsort(all, count, sizeof(struct unit *), by_order);
    return all;
}

static int fill(struct diff *diff, struct unit *units, size_t count)
{
    struct unit **all = sorted(units, count);

    diff->entries = calloc(count + 1, sizeof(*diff->entries));
    if (all == NULL || diff->entries == NULL) {
        free(all);
        return -1;
    }
    for (int kind = 0; kind < DIFF_KINDS; kind++)
        for (size_t i = 0; i < count; i++)
            if (kind_of(all[i]) == kind) {
                diff->entries[diff->count++] = (struct diff_entry){(enum diff_kind)kind, all[i]->id,     all[i]->role,
                                                                   all[i]->file,         all[i]->before, all[i]->after};
                say_why(&diff->entries[diff->count - 1]);
                diff->kinds[kind]++;
            }
    for (size_t i = 0; i < count; i++)
        diff->same += kind_of(all[i]) < 0 && (is_bad(&all[i]->after) || is_good(&all[i]->after));
    free(all);
    return 0;
}

static const char *command_of(const struct report *report)
{
    return report->info.command != NULL ? report->info.command : "run";
}

static bool same_count(const struct flow_count *a, const struct flow_count *b)
{
    return a->frames == b->frames && a->octets == b->octets && a->items == b->items;
}

/* Verdicts may be the same because less was judged. */
static void compare_accounts(struct diff *diff)
{
    const struct flow_account *before = &diff->before->summary.account, *after = &diff->after->summary.account;

    if (strcmp(command_of(diff->after), "audit") != 0)
        return;
    for (unsigned i = 0; i < FLOW_ROWS; i++) {
        enum flow_account_kind kind = flow_account_row((enum flow_row)i)->kind;
        const struct flow_count *was = &before->row[i], *is = &after->row[i];

        if ((kind != FLOW_UNJUDGED && kind != FLOW_MISSING) || same_count(was, is))
            continue;
        diff->accounts[diff->account_count++] = (struct diff_account){(enum flow_row)i, *was, *is};
        diff->judges_less |= is->frames > was->frames || is->octets > was->octets || is->items > was->items;
    }
}

int diff_make(struct diff *diff, const struct report *before, const struct report *after, struct iwarp_sentence *error)
{
    struct unit *units = NULL, *unit, *next;
    int rc;

    memset(diff, 0, sizeof(*diff));
    diff->before = before;
    diff->after = after;
    diff->names[0] = before->info.target;
    diff->names[1] = after->info.target;
    compare_accounts(diff);
    if (strcmp(command_of(before), command_of(after)) != 0)
        return iwarp_sentence_set(error, "results of \"%.20s\" and of \"%.20s\" cannot be compared", command_of(before),
                                  command_of(after));
    rc = gather(&units, after, true) == 0 && gather(&units, before, false) == 0 ? fill(diff, units, HASH_COUNT(units))
                                                                                : -1;
    unit = units;
    HASH_CLEAR(hh, units); /* the table goes, the list of its entries stays */
    for (; unit != NULL; unit = next) {
        next = unit->hh.next;
        free(unit);
    }
    if (rc == 0)
        return 0;
    diff_free(diff);
    return iwarp_sentence_set(error, "out of memory");
}

void diff_free(struct diff *diff)
{
    free(diff->entries);
    diff->entries = NULL;
    diff->count = 0;
}

char *diff_side_sentence(const struct diff_side *side)
{
    char *sentence, *message, *text;

    if (side->result == NULL || side->worst == VERDICT_PASS)
        return NULL;
    sentence = report_sentence(side->result);
    if (sentence == NULL || !side->why)
        return sentence;
    message = text_clean_line(side->result->message);
    if (message == NULL || asprintf(&text, "%s; %s", sentence, message) < 0)
        text = NULL;
    free(message);
    free(sentence);
    return text;
}

char *diff_side_text(const struct diff_side *side)
{
    char *sentence, *text;

    if (!side->there)
        return strdup("no result");
    if (side->result == NULL || side->worst == VERDICT_PASS)
        return strdup(verdict_name(side->worst));
    sentence = diff_side_sentence(side);
    if (sentence == NULL || asprintf(&text, "%s: %s", verdict_name(side->worst), sentence) < 0)
        text = NULL;
    free(sentence);
    return text;
}
