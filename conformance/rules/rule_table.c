/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "conformance/rules/rule_context.h"

enum {
#define RULE_INDEX(file, id, function, events, opcodes, sender, worst) INDEX_##function,
    RULE_LIST(RULE_INDEX)
};

#define RULE_ROW(file, id, function, events, opcodes, sender, worst)                                                   \
    {id,       #function,       "conformance/rules/" #file "_rules.c", events, opcodes, RULE_##sender, RULE_##worst,   \
     function, INDEX_##function},

static const struct rule rules[] = {RULE_LIST(RULE_ROW)};

size_t rule_count(void)
{
    return RULE_COUNT;
}

const struct rule *rule_at(size_t index)
{
    return index < RULE_COUNT ? &rules[index] : NULL;
}

const struct rule *rule_find(const char *id)
{
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (strcmp(rules[i].id, id) == 0)
            return &rules[i];
    return NULL;
}

const char *rule_verdict_name(enum rule_verdict verdict)
{
    static const char *const names[RULE_VERDICTS] = {"PASS", "AMBIGUOUS", "WARN", "FAIL"};

    return verdict < RULE_VERDICTS ? names[verdict] : "?";
}
