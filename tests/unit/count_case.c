/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/count_case.h"

#include <stdio.h>
#include <string.h>

void count_case_run(const struct count_case *tried)
{
    struct conversation *conversation = conversation_create(NULL);
    size_t rule = rule_find(tried->id)->index;
    static struct verdicts verdicts;
    char allowed[128];

    tried->build(conversation);
    rule_case_judge(conversation, &verdicts);
    conversation_free(conversation);
    (void)snprintf(allowed, sizeof(allowed), "%s %s", tried->id, tried->also != NULL ? tried->also : "");
    if (tried->also == NULL || strcmp(tried->also, "*") != 0)
        rule_case_quiet(&verdicts, allowed, tried->id);
    ck_assert_msg(verdicts.verdict[rule] == tried->verdict, "%s: verdict %d, due %d: %s", tried->id,
                  verdicts.verdict[rule], tried->verdict, verdicts.message[rule]);
    ck_assert_msg(verdicts.passes[rule] == tried->passes && verdicts.findings[rule] == tried->findings,
                  "%s: %llu passes, %llu findings; due %llu, %llu", tried->id,
                  (unsigned long long)verdicts.passes[rule], (unsigned long long)verdicts.findings[rule],
                  (unsigned long long)tried->passes, (unsigned long long)tried->findings);
    if (tried->findings != 0)
        ck_assert_int_eq(verdicts.direction[rule], tried->direction);
}
