/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/results/result.h"

#include "reports/results/difference.h"
#include "reports/results/member.h"
#include "reports/file/text.h"

#include <stdlib.h>
#include <string.h>

static const char *const verdict_names[VERDICT_COUNT] = {
    [VERDICT_PASS] = "PASS",
    [VERDICT_FAIL] = "FAIL",
    [VERDICT_KNOWN] = "KNOWN",
    [VERDICT_WARN] = "WARN",
    [VERDICT_INCONCLUSIVE] = "INCONCLUSIVE",
    [VERDICT_SKIP] = "SKIP",
    [VERDICT_AMBIGUOUS] = "AMBIGUOUS",
};

unsigned role_slot(const char *role)
{
    if (role && strcmp(role, "initiator") == 0)
        return ROLE_INITIATOR;
    return role && strcmp(role, "responder") == 0 ? ROLE_RESPONDER : ROLE_UNKNOWN;
}

const char *result_role(const char *role)
{
    return role_slot(role) == ROLE_UNKNOWN ? NULL : role;
}

bool result_is_by_rule(const struct result *result)
{
    return result->by != NULL && strcmp(result->by, "rule") == 0;
}

bool result_is_script_error(const struct result *result)
{
    static const char sign[] = RESULT_SCRIPT_ERROR ": ";
    return result->message && strncmp(result->message, sign, sizeof(sign) - 1) == 0;
}

const char *verdict_name(enum verdict verdict)
{
    return (unsigned)verdict < VERDICT_COUNT ? verdict_names[verdict] : "?";
}

int verdict_from_name(const char *name, enum verdict *verdict)
{
    for (int i = 0; name && i < VERDICT_COUNT; i++) {
        if (strcmp(name, verdict_names[i]) == 0) {
            *verdict = (enum verdict)i;
            return 0;
        }
    }
    return -1;
}

enum verdict verdict_worse(enum verdict a, enum verdict b)
{
    static const int weight[VERDICT_COUNT] = {
        [VERDICT_FAIL] = 6,      [VERDICT_KNOWN] = 5, [VERDICT_WARN] = 4, [VERDICT_INCONCLUSIVE] = 3,
        [VERDICT_AMBIGUOUS] = 2, [VERDICT_PASS] = 1,  [VERDICT_SKIP] = 0,
    };
    return weight[a] >= weight[b] ? a : b;
}

static uint64_t *counter_of(struct run_summary *summary, enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_PASS: return &summary->pass;
    case VERDICT_FAIL: return &summary->fail;
    case VERDICT_KNOWN: return &summary->known;
    case VERDICT_WARN: return &summary->warn;
    case VERDICT_INCONCLUSIVE: return &summary->inconclusive;
    case VERDICT_SKIP: return &summary->skip;
    case VERDICT_AMBIGUOUS: return &summary->ambiguous;
    case VERDICT_COUNT: break;
    }
    return NULL;
}

void summary_count(struct run_summary *summary, enum verdict verdict)
{
    summary_count_several(summary, verdict, 1);
}

void summary_count_several(struct run_summary *summary, enum verdict verdict, uint64_t results)
{
    uint64_t *counter = counter_of(summary, verdict);
    if (counter)
        *counter += results;
}

uint64_t result_results(const struct result *result)
{
    return result->verdict == VERDICT_PASS && result->results > 1 ? result->results : 1;
}

uint64_t summary_of(const struct run_summary *summary, enum verdict verdict)
{
    struct run_summary copy = *summary;
    const uint64_t *counter = counter_of(&copy, verdict);
    return counter ? *counter : 0;
}

void summary_copy_verdicts(struct run_summary *to, const struct run_summary *from)
{
    for (unsigned v = 0; v < VERDICT_COUNT; v++)
        *counter_of(to, (enum verdict)v) = summary_of(from, (enum verdict)v);
    to->known_findings = from->known_findings;
}

void summary_raise(struct run_summary *summary, const struct run_summary *other)
{
    for (unsigned v = 0; v < VERDICT_COUNT; v++) {
        uint64_t *counter = counter_of(summary, (enum verdict)v);

        if (*counter < summary_of(other, (enum verdict)v))
            *counter = summary_of(other, (enum verdict)v);
    }
    if (summary->known_findings < other->known_findings)
        summary->known_findings = other->known_findings;
}

void summary_add_messages(struct run_summary *summary, const char *name, uint64_t count)
{
    for (size_t i = 0; i < summary->message_count; i++) {
        if (strcmp(summary->messages[i].name, name) == 0) {
            summary->messages[i].count += count;
            return;
        }
    }
    if (summary->message_count < RUN_SUMMARY_MESSAGES)
        summary->messages[summary->message_count++] = (struct message_count){name, count};
}

bool summary_has_gaps(const struct run_summary *summary)
{
    return !summary->allow_gaps && !flow_account_whole(&summary->account);
}

void summary_add_traffic(struct run_summary *to, const struct run_summary *from)
{
    to->frames += from->frames;
    to->fpdus += from->fpdus;
    to->ddp_segments += from->ddp_segments;
    to->crc_errors += from->crc_errors;
    to->restarts += from->restarts;
    flow_account_add(&to->account, &from->account);
    for (size_t i = 0; i < from->message_count; i++)
        summary_add_messages(to, from->messages[i].name, from->messages[i].count);
}

enum exit_status summary_exit_status(const struct run_summary *summary)
{
    if (summary->fail || (summary->expectation.used && differences_of(&summary->expectation)))
        return EXIT_FAILS;
    if (summary_has_gaps(summary))
        return EXIT_INCONCLUSIVE;
    if (summary->pass + summary->known + summary->warn + summary->ambiguous + summary->inconclusive == 0)
        return EXIT_NOTHING_SELECTED;
    if (summary->inconclusive)
        return EXIT_INCONCLUSIVE;
    return summary->known && !summary->expectation.used ? EXIT_KNOWN : EXIT_CONFORMS;
}

enum exit_status exit_status_accepting(enum exit_status status, bool accept_known)
{
    return status == EXIT_KNOWN && accept_known ? EXIT_CONFORMS : status;
}

json_t *result_text(const char *text)
{
    char *clean = text_clean(text);
    json_t *value = clean ? json_string(clean) : NULL;
    free(clean);
    return value;
}

/* Two lower-case hexadecimal digits an octet; NULL without memory. */
static char *hex_text(const uint8_t *octets, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    char *text = malloc(2 * length + 1);
    if (!text)
        return NULL;
    for (size_t i = 0; i < length; i++) {
        text[2 * i] = digits[octets[i] >> 4];
        text[2 * i + 1] = digits[octets[i] & 15];
    }
    text[2 * length] = '\0';
    return text;
}

json_t *result_step(double seconds, const char *from, const char *kind, const char *summary, uint64_t frame,
                    const uint8_t *octets, size_t length)
{
    json_t *step = json_object();
    if (!step)
        return NULL;
    int rc = json_object_set_new(step, "t", json_real(seconds == seconds && seconds - seconds == 0 ? seconds : 0));
    rc |= member_set_text(step, "from", from ? from : "tester");
    rc |= member_set_text(step, "kind", kind);
    rc |= member_set_text(step, "summary", summary ? summary : "");
    if (frame)
        rc |= member_set_count(step, "frame", frame);
    if (octets && length) {
        char *hex = hex_text(octets, length < RESULT_STEP_OCTETS_MAX ? length : RESULT_STEP_OCTETS_MAX);
        rc |= hex ? json_object_set_new(step, "octets", json_string_nocheck(hex)) : -1;
        rc |= member_set_count(step, "length", length);
        free(hex);
    }
    if (rc) {
        json_decref(step);
        return NULL;
    }
    return step;
}

int result_step_mark(json_t *step, size_t offset, size_t length, const char *note)
{
    json_t *mark = json_array();
    int rc = json_array_append_new(mark, json_integer((json_int_t)offset));
    rc |= json_array_append_new(mark, json_integer((json_int_t)length));
    rc |= json_object_set_new(step, "mark", mark);
    rc |= member_set_text(step, "note", note);
    return rc ? -1 : 0;
}

json_t *result_to_json(const struct result *result)
{
    if (!result->id)
        return NULL;
    json_t *object = json_object();
    if (!object)
        return NULL;
    int rc = member_set_text(object, "type", "result");
    rc |= member_set_text(object, "id", result->id);
    rc |= member_set_text(object, "verdict", verdict_name(result->verdict));
#define TEXT(member) rc |= member_set_text(object, #member, result->member);
#define COUNT(member, written, value)                                                                                  \
    if (written)                                                                                                       \
        rc |= member_set_count(object, #member, value);
    RESULT_MEMBERS(TEXT, COUNT)
#undef TEXT
#undef COUNT
    if (result->steps && json_array_size(result->steps))
        rc |= json_object_set(object, "steps", result->steps);
    if (rc) {
        json_decref(object);
        return NULL;
    }
    return object;
}

/* Whoever wrote the file: ids and roles are words in lines of reports and of commands, and have no control octets. */
static bool is_word(const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at < ' ' || *at == 0x7F)
            return false;
    }
    return true;
}

int result_from_json(json_t *object, struct result *result)
{
#define TEXT(member)                  .member = member_text(object, #member),
#define COUNT(member, written, value) .member = member_count(object, #member),
    *result = (struct result){.id = member_text(object, "id"), RESULT_MEMBERS(TEXT, COUNT)};
#undef TEXT
#undef COUNT
    json_t *steps = json_object_get(object, "steps");
    result->steps = json_is_array(steps) ? steps : NULL;
    if (!result->count)
        result->count = 1;
    if (!result->id || !*result->id || !is_word(result->id) || (result->role && !is_word(result->role)))
        return -1;
    if (verdict_from_name(member_text(object, "verdict"), &result->verdict) != 0)
        return -1;
    return 0;
}
