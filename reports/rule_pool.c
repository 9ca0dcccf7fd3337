/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/rule_pool.h"

#include <stdlib.h>
#include <string.h>

/* What checks decided about one requirement. */
struct decision {
    enum verdict worst;
    UT_hash_handle hh;
    char id[];
};

struct rule_pool {
    struct rule_pool_entry *entries;
    struct decision *decisions;
};

struct rule_pool *rule_pool_new(void)
{
    return calloc(1, sizeof(struct rule_pool));
}

static void entry_free(struct rule_pool_entry *entry)
{
    free(entry->texts);
    free(entry);
}

void rule_pool_free(struct rule_pool *pool)
{
    struct rule_pool_entry *entry = pool ? pool->entries : NULL, *next;
    struct decision *decision = pool ? pool->decisions : NULL, *after;

    if (!pool)
        return;
    HASH_CLEAR(hh, pool->entries); /* the tables go, the lists of their entries stay */
    HASH_CLEAR(hh, pool->decisions);
    for (; entry; entry = next) {
        next = entry->hh.next;
        entry_free(entry);
    }
    for (; decision; decision = after) {
        after = decision->hh.next;
        free(decision);
    }
    free(pool);
}

/* Copies the strings that a rule's result has into one piece. */
static int copy_texts(struct rule_pool_entry *entry)
{
    struct result *result = &entry->result;
    struct journal_judged *judged = &entry->judged;
    const char **const texts[] = {&result->id,      &result->by,      &result->script,    &result->role,
                                  &result->file,    &result->flow,    &result->expected,  &result->actual,
                                  &result->message, &result->reading, &result->evidence,  &result->outcome,
                                  &judged->message, &judged->finding, &judged->deviation, &judged->review_by};
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
    entry->result.steps = NULL; /* a rule has no ladder in a run */
    if (copy_texts(entry) == 0)
        return entry;
    free(entry);
    return NULL;
}

static bool is_worse(enum verdict verdict, enum verdict than)
{
    return verdict != than && verdict_worse(verdict, than) == verdict;
}

static int add_rule(struct rule_pool *pool, const struct journal *journal, const struct journal_rule *rule)
{
    struct rule_pool_entry *known = rule_pool_find(pool, rule->result.id), *entry;

    if (known && rule->result.verdict == known->result.verdict)
        known->result.count += rule->result.count;
    if (known && !is_worse(rule->result.verdict, known->result.verdict))
        return 0;
    entry = entry_new(journal, rule);
    if (!entry)
        return -1;
    if (known) {
        HASH_DEL(pool->entries, known);
        entry_free(known);
    }
    HASH_ADD_KEYPTR(hh, pool->entries, entry->result.id, strlen(entry->result.id), entry);
    return 0;
}

static int decide(struct rule_pool *pool, const char *id, enum verdict found)
{
    struct decision *known = NULL;

    HASH_FIND_STR(pool->decisions, id, known);
    if (known) {
        known->worst = verdict_worse(known->worst, found);
        return 0;
    }
    known = calloc(1, sizeof(*known) + strlen(id) + 1);
    if (!known)
        return -1;
    known->worst = found;
    memcpy(known->id, id, strlen(id) + 1);
    HASH_ADD_STR(pool->decisions, id, known);
    return 0;
}

int rule_pool_add(struct rule_pool *pool, const struct journal *journal, bool repeated)
{
    int rc = repeated ? 0 : decide(pool, journal->id, journal->found);

    for (size_t i = 0; i < journal->rule_count; i++)
        if (!repeated || journal->rules[i].result.verdict != VERDICT_PASS)
            rc |= add_rule(pool, journal, &journal->rules[i]);
    return rc;
}

struct rule_pool_entry *rule_pool_find(const struct rule_pool *pool, const char *id)
{
    struct rule_pool_entry *entry = NULL;

    HASH_FIND_STR(pool->entries, id, entry);
    return entry;
}

struct rule_pool_entry *rule_pool_first(const struct rule_pool *pool)
{
    return pool->entries;
}

bool rule_pool_adds(const struct rule_pool *pool, const struct rule_pool_entry *entry)
{
    struct decision *decision = NULL;

    HASH_FIND_STR(pool->decisions, entry->result.id, decision);
    if (!decision || decision->worst == VERDICT_SKIP || decision->worst == VERDICT_INCONCLUSIVE)
        return true;
    return is_worse(entry->result.verdict, decision->worst);
}
