/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/rule_case.h"

#include <stdio.h>
#include <string.h>

const struct rule_case *const rule_case_tables[] = {
    rules_startup_cases,   rules_fpdu_cases, rules_ddp_cases,     rules_rdmap_cases, rules_atomic_cases,
    rules_terminate_cases, rules_sctp_cases, rules_session_cases, rules_after_cases, rules_smbd_cases,
    rules_rpcrdma_cases,   rules_iser_cases, rules_nvme_cases,    rules_cm_cases,    NULL};

const struct iwarp_mpa_start plain_request = {.kind = IWARP_MPA_REQUEST, .crc = true, .revision = 1};
const struct iwarp_mpa_start plain_reply = {.kind = IWARP_MPA_REPLY, .crc = true, .revision = 1};
const struct iwarp_mpa_start enhanced_request = {.kind = IWARP_MPA_REQUEST,
                                                 .crc = true,
                                                 .enhanced = true,
                                                 .revision = 2,
                                                 .peer_to_peer = true,
                                                 .rtr_send = true,
                                                 .rtr_write = true,
                                                 .rtr_read = true,
                                                 .ird = 2,
                                                 .ord = 2};
const struct iwarp_mpa_start enhanced_reply = {.kind = IWARP_MPA_REPLY,
                                               .crc = true,
                                               .enhanced = true,
                                               .revision = 2,
                                               .peer_to_peer = true,
                                               .rtr_send = true,
                                               .rtr_write = true,
                                               .rtr_read = true,
                                               .ird = 2,
                                               .ord = 2};

/* All operations, from unit `2` on. */
static void operations(struct conversation *c)
{
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 101);                       /* 2: pad 3 */
    conversation_send(c, 1, IWARP_RDMAP_SEND, 1, 0, true, 64);                        /* 3 */
    conversation_send(c, 0, IWARP_RDMAP_SEND_SE, 2, 0, false, 100);                   /* 4 */
    conversation_send(c, 0, IWARP_RDMAP_SEND_SE, 2, 100, false, 100);                 /* 5 */
    conversation_send(c, 0, IWARP_RDMAP_SEND_SE, 2, 200, true, 50);                   /* 6 */
    conversation_send(c, 0, IWARP_RDMAP_SEND, 3, 0, true, 0);                         /* 7: zero-length */
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 0x77, 0x1000, false, 100);           /* 8 */
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 0x77, 0x1064, false, 100);           /* 9 */
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 0x77, 0x10C8, true, 51);             /* 10 */
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 0, 0, true, 0);                      /* 11: zero-length */
    conversation_send(c, 0, IWARP_RDMAP_SEND_INVALIDATE, 4, 0, false, 100);           /* 12 */
    conversation_send(c, 0, IWARP_RDMAP_SEND_INVALIDATE, 4, 100, true, 20);           /* 13 */
    conversation_read(c, 0, 1, 0x1111, 0x2000, 250);                                  /* 14 */
    conversation_read(c, 0, 2, 0x2222, 0x3000, 10);                                   /* 15 */
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1111, 0x2000, false, 200); /* 16 */
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1111, 0x20C8, true, 50);   /* 17 */
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x2222, 0x3000, true, 10);   /* 18 */
    conversation_read(c, 1, 1, 0x3333, 0x4000, 0);                                    /* 19 */
    conversation_tagged(c, 0, IWARP_RDMAP_READ_RESPONSE, 0x3333, 0x4000, true, 0);    /* 20 */
    conversation_send(c, 1, IWARP_RDMAP_SEND, 2, 0, true, 30);                        /* 21 */
    for (uint32_t i = 0; i < 6; i++)
        conversation_send(c, 0, IWARP_RDMAP_SEND, 5 + i, 0, true, 30); /* 22 to 27: enough to go the short way */
}

static void both_close(struct conversation *c)
{
    conversation_close(c, 0, false);
    conversation_close(c, 1, false);
}

void plain_conversation(struct conversation *c)
{
    conversation_open(c, 1460);
    conversation_start(c, 0, &plain_request); /* 0 */
    conversation_start(c, 1, &plain_reply);   /* 1 */
    operations(c);
    both_close(c);
}

void marked_conversation(struct conversation *c)
{
    struct iwarp_mpa_start request = plain_request, reply = plain_reply;

    request.markers = reply.markers = true;
    conversation_open(c, 1460);
    conversation_start(c, 0, &request);                         /* 0 */
    conversation_start(c, 1, &reply);                           /* 1 */
    conversation_send(c, 0, IWARP_RDMAP_SEND, 1, 0, true, 484); /* 2: ULPDU 502: ends at 512 */
    conversation_send(c, 0, IWARP_RDMAP_SEND, 2, 0, true,
                      487); /* 3: ULPDU 505: Markers at 512 and, before the CRC, 1024 */
    conversation_send(c, 0, IWARP_RDMAP_SEND, 3, 0, true, 1400); /* 4: Markers at 1536, 2048, inside */
    conversation_send(c, 1, IWARP_RDMAP_SEND, 1, 0, true, 600);  /* 5: Markers at 0 and 512 */
    conversation_send(c, 1, IWARP_RDMAP_SEND, 2, 0, true, 600);  /* 6 */
    both_close(c);
}

void enhanced_conversation(struct conversation *c)
{
    conversation_open(c, 1460);
    conversation_start(c, 0, &enhanced_request);                                    /* 0 */
    conversation_start(c, 1, &enhanced_reply);                                      /* 1 */
    conversation_tagged(c, 0, IWARP_RDMAP_WRITE, 0, 0, true, 0);                    /* 2: RTR */
    conversation_send(c, 1, IWARP_RDMAP_SEND, 1, 0, true, 10);                      /* 3 */
    conversation_read(c, 0, 1, 0x1111, 0x2000, 10);                                 /* 4 */
    conversation_read(c, 0, 2, 0x1111, 0x3000, 10);                                 /* 5 */
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1111, 0x2000, true, 10); /* 6 */
    conversation_tagged(c, 1, IWARP_RDMAP_READ_RESPONSE, 0x1111, 0x3000, true, 10); /* 7 */
    conversation_read(c, 1, 1, 0x2222, 0x2000, 10);                                 /* 8 */
    conversation_read(c, 1, 2, 0x2222, 0x3000, 10);                                 /* 9 */
    conversation_tagged(c, 0, IWARP_RDMAP_READ_RESPONSE, 0x2222, 0x2000, true, 10); /* 10 */
    conversation_tagged(c, 0, IWARP_RDMAP_READ_RESPONSE, 0x2222, 0x3000, true, 10); /* 11 */
    both_close(c);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

void rule_case_judge(const struct conversation *conversation, struct verdicts *verdicts)
{
    static struct verdicts quick;

    conversation_judge(conversation, true, verdicts);
    conversation_judge(conversation, false, &quick);
    for (size_t i = 0; i < rule_count(); i++) {
        ck_assert_msg(verdicts->verdict[i] == quick.verdict[i], "%s: thorough %d, quick %d", rule_at(i)->id,
                      verdicts->verdict[i], quick.verdict[i]);
        ck_assert_msg(verdicts->findings[i] == quick.findings[i], "%s: findings: thorough %llu, quick %llu",
                      rule_at(i)->id, (unsigned long long)verdicts->findings[i], (unsigned long long)quick.findings[i]);
        ck_assert_msg(verdicts->passes[i] == quick.passes[i], "%s: passes: thorough %llu, quick %llu", rule_at(i)->id,
                      (unsigned long long)verdicts->passes[i], (unsigned long long)quick.passes[i]);
    }
}

static bool listed(const char *list, const char *id)
{
    size_t length = strlen(id);

    for (const char *at = list; at != NULL && (at = strstr(at, id)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

unsigned rule_case_exercised(const struct conversation *conversation, const char *prefix)
{
    static struct verdicts verdicts;
    unsigned count = 0;

    rule_case_judge(conversation, &verdicts);
    for (size_t i = 0; i < rule_count(); i++)
        count += strncmp(rule_at(i)->id, prefix, strlen(prefix)) == 0 && verdicts.verdict[i] >= 0;
    return count;
}

bool rule_case_fails(const struct conversation *conversation, const char *id)
{
    static struct verdicts verdicts;

    rule_case_judge(conversation, &verdicts);
    return verdicts.verdict[rule_find(id)->index] == RULE_FAIL;
}

void rule_case_quiet(const struct verdicts *verdicts, const char *but, const char *what)
{
    for (size_t i = 0; i < rule_count(); i++)
        if (verdicts->verdict[i] > RULE_AMBIGUOUS && !listed(but, rule_at(i)->id))
            ck_abort_msg("%s: %s says %s: %s", what, rule_at(i)->id, rule_verdict_name(verdicts->verdict[i]),
                         verdicts->message[i]);
}

void rule_case_run(const struct rule_case *rule_case)
{
    const struct rule *rule = rule_find(rule_case->id);
    struct conversation *conversation = conversation_create(NULL);
    static struct verdicts verdicts;
    char allowed[256];

    ck_assert_msg(rule != NULL, "no rule %s", rule_case->id);
    rule_case->healthy(conversation);
    rule_case_judge(conversation, &verdicts);
    conversation_free(conversation);
    rule_case_quiet(&verdicts, rule_case->aside, "healthy");
    ck_assert_msg(verdicts.verdict[rule->index] == (rule_case->good == RULE_VERDICTS ? -1 : (int)rule_case->good),
                  "%s in the healthy conversation: %d", rule->id, verdicts.verdict[rule->index]);

    conversation = conversation_create(rule_case->broken == NULL ? &rule_case->change : NULL);
    (rule_case->broken == NULL ? rule_case->healthy : rule_case->broken)(conversation);
    rule_case_judge(conversation, &verdicts);
    conversation_free(conversation);
    (void)snprintf(allowed, sizeof(allowed), "%s %s %s", rule->id, rule_case->also == NULL ? "" : rule_case->also,
                   rule_case->aside == NULL ? "" : rule_case->aside);
    rule_case_quiet(&verdicts, allowed, rule->id);
    ck_assert_msg(verdicts.verdict[rule->index] == (int)rule_case->verdict, "%s in the broken conversation: %d, not %d",
                  rule->id, verdicts.verdict[rule->index], (int)rule_case->verdict);
    ck_assert_msg(rule_case->verdict == RULE_PASS || verdicts.message[rule->index][0] != '\0', "%s has no message",
                  rule->id);
}
