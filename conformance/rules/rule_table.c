/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "conformance/rules/rule_context.h"

enum {
#define RULE_INDEX(file, id, function, events, opcodes, sender, worst) INDEX_##function,
    RULE_LIST(RULE_INDEX)
};

#define RULE_ROW(flows, file, id, function, events, opcodes, sender, worst)                                            \
    {id,                                                                                                               \
     #function,                                                                                                        \
     "conformance/rules/" #file "_rules.c",                                                                            \
     flows,                                                                                                            \
     events,                                                                                                           \
     opcodes,                                                                                                          \
     RULE_##sender,                                                                                                    \
     RULE_##worst,                                                                                                     \
     function,                                                                                                         \
     INDEX_##function},
#define RULE_ROW_MPA(...)  RULE_ROW(RULE_KINDS_MPA, __VA_ARGS__)
#define RULE_ROW_DDP(...)  RULE_ROW(RULE_KINDS_DDP, __VA_ARGS__)
#define RULE_ROW_SCTP(...) RULE_ROW(RULE_KINDS_SCTP, __VA_ARGS__)
#define RULE_ROW_CM(...)   RULE_ROW(RULE_KINDS_CM, __VA_ARGS__)

/* In the order of RULE_LIST. */
static const struct rule rules[] = {RULE_LIST_MPA(RULE_ROW_MPA) RULE_LIST_DDP(RULE_ROW_DDP)
                                        RULE_LIST_RDMAP(RULE_ROW_DDP) RULE_LIST_ATOMIC(RULE_ROW_DDP)
                                            RULE_LIST_TERMINATE(RULE_ROW_DDP) RULE_LIST_SCTP(RULE_ROW_SCTP)
                                                RULE_LIST_CM(RULE_ROW_CM) RULE_LIST_ULP(RULE_ROW_DDP)};
_Static_assert(sizeof(rules) / sizeof(rules[0]) == RULE_COUNT, "every list of RULE_LIST is here");

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
