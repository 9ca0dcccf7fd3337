/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/results/rule_pool.h"

#include <stdlib.h>
#include <string.h>

#include "reports/results/decision.h"
#include "base/hash.h"

/* What is known about one requirement. */
struct rule_pool_item {
    struct decision decision; /* of its checks */
    struct rule_pool_entry *entries[ROLE_SLOTS];
    UT_hash_handle hh;
    char id[];
};

struct rule_pool {
    struct rule_pool_item *items;
};

struct rule_pool *rule_pool_new(void)
{
    return calloc(1, sizeof(struct rule_pool));
}

static void entry_free(struct rule_pool_entry *entry)
{
    if (!entry)
        return;
    free(entry->texts);
    free(entry);
}

void rule_pool_free(struct rule_pool *pool)
{
    struct rule_pool_item *item = pool ? pool->items : NULL, *next;

    if (!pool)
        return;
    HASH_CLEAR(hh, pool->items); /* the table is freed, the list of its items stays */
    for (; item; item = next) {
        next = item->hh.next;
        for (unsigned role = 0; role < ROLE_SLOTS; role++)
            entry_free(item->entries[role]);
        free(item);
    }
    free(pool);
}

static struct rule_pool_item *item_find(const struct rule_pool *pool, const char *id)
{
    struct rule_pool_item *item = NULL;

    HASH_FIND_STR(pool->items, id, item);
    return item;
}

/* The requirement's item, a new one if need be; NULL without memory. */
static struct rule_pool_item *item_of(struct rule_pool *pool, const char *id)
{
    struct rule_pool_item *item = item_find(pool, id);

    if (item)
        return item;
    item = calloc(1, sizeof(*item) + strlen(id) + 1);
    if (!item)
        return NULL;
    memcpy(item->id, id, strlen(id) + 1);
    HASH_ADD_STR(pool->items, id, item);
    if (hash_lost(item)) {
        free(item);
        return NULL;
    }
    return item;
}

/* Copies the strings that a rule's result has into one piece. */
static int copy_texts(struct rule_pool_entry *entry)
{
    struct result *result = &entry->result;
    struct journal_judged *judged = &entry->judged;
    const char **const texts[] = {
        &result->id,       &result->by,     &result->script,  &result->role,    &result->file,      &result->flow,
        &result->expected, &result->actual, &result->message, &result->reading, &result->evidence,  &result->outcome,
        &result->cause,    &result->hint,   &judged->message, &judged->finding, &judged->deviation, &judged->review_by};
    size_t size = 1;
    char *at;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        size += *texts[i] ? strlen(*texts[i]) + 1 : 0;
    entry->texts = at = malloc(size);
    if (!at)
        return -1;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        size_t octets = *texts[i] ? strlen(*texts[i]) + 1 : 0;

        if (octets == 0)
            continue;
        *texts[i] = memcpy(at, *texts[i], octets);
        at += octets;
    }
    return 0;
}

static struct rule_pool_entry *entry_new(const struct journal *journal, const struct journal_rule *rule)
{
    struct rule_pool_entry *entry = calloc(1, sizeof(*entry));

    if (!entry)
        return NULL;
    entry->result = rule->result;
    entry->judged = rule->judged;
    entry->result.by = "rule";
    entry->result.evidence = entry->result.file = journal->evidence;
    entry->result.steps = NULL; /* drawn when the run ends */
    if (copy_texts(entry) == 0)
        return entry;
    free(entry);
    return NULL;
}

/* A finding as the profile judges it. */
static enum verdict verdict_of(const struct result *result, const struct journal_judged *judged)
{
    return judged->known ? judged->verdict : result->verdict;
}

static int add_rule(struct rule_pool *pool, const struct journal *journal, const struct journal_rule *rule)
{
    struct rule_pool_item *item = item_of(pool, rule->result.id);
    enum verdict verdict = verdict_of(&rule->result, &rule->judged), before;
    struct rule_pool_entry **place, *entry;

    if (!item)
        return -1;
    place = &item->entries[role_slot(rule->result.role)];
    before = *place ? verdict_of(&(*place)->result, &(*place)->judged) : verdict;
    if (*place && verdict == before)
        (*place)->result.count += rule->result.count;
    if (*place && !verdict_is_worse(verdict, before))
        return 0;
    entry = entry_new(journal, rule);
    if (!entry)
        return -1;
    entry->item = item;
    entry_free(*place);
    *place = entry;
    return 0;
}

static int decide(struct rule_pool *pool, const struct journal *journal)
{
    struct rule_pool_item *item = item_of(pool, journal->id);

    if (!item)
        return -1;
    decision_add(&item->decision, role_slot(journal->role), journal->decided);
    return 0;
}

int rule_pool_add(struct rule_pool *pool, const struct journal *journal, bool repeated)
{
    int rc = repeated ? 0 : decide(pool, journal);

    for (size_t i = 0; i < journal->rule_count; i++)
        if (!repeated || journal->rules[i].result.verdict != VERDICT_PASS)
            rc |= add_rule(pool, journal, &journal->rules[i]);
    return rc;
}

struct rule_pool_entry *rule_pool_find(const struct rule_pool *pool, const char *id, unsigned role)
{
    const struct rule_pool_item *item = item_find(pool, id);

    return item && role < ROLE_SLOTS ? item->entries[role] : NULL;
}

/* The first entry of this item from that role on, else of the items after it. */
static struct rule_pool_entry *entry_from(const struct rule_pool_item *item, unsigned role)
{
    for (; item; item = item->hh.next, role = 0)
        for (; role < ROLE_SLOTS; role++)
            if (item->entries[role])
                return item->entries[role];
    return NULL;
}

struct rule_pool_entry *rule_pool_first(const struct rule_pool *pool)
{
    return entry_from(pool->items, 0);
}

struct rule_pool_entry *rule_pool_next(const struct rule_pool_entry *entry)
{
    return entry_from(entry->item, role_slot(entry->result.role) + 1);
}

bool rule_pool_adds(const struct rule_pool_entry *entry)
{
    return decision_adds(&entry->item->decision, role_slot(entry->result.role),
                         verdict_of(&entry->result, &entry->judged));
}
