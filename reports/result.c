/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/result.h"

#include "reports/account.h"
#include "reports/text.h"

#include <stdlib.h>
#include <string.h>

#define STEP_OCTETS_MAX 2048u /* longer than any frame of an Ethernet with a 1500-octet MTU */

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
    uint64_t *counter = counter_of(summary, verdict);
    if (counter)
        (*counter)++;
}

uint64_t summary_of(const struct run_summary *summary, enum verdict verdict)
{
    struct run_summary copy = *summary;
    const uint64_t *counter = counter_of(&copy, verdict);
    return counter ? *counter : 0;
}

void summary_take_verdicts(struct run_summary *to, const struct run_summary *from)
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
    flow_account_add(&to->account, &from->account);
    for (size_t i = 0; i < from->message_count; i++)
        summary_add_messages(to, from->messages[i].name, from->messages[i].count);
}

enum exit_status summary_exit_status(const struct run_summary *summary)
{
    if (summary->fail)
        return EXIT_FAILS;
    if (summary_has_gaps(summary))
        return EXIT_INCONCLUSIVE;
    if (summary->pass + summary->known + summary->warn + summary->ambiguous + summary->inconclusive == 0)
        return EXIT_NOTHING_SELECTED;
    if (summary->inconclusive)
        return EXIT_INCONCLUSIVE;
    return summary->known ? EXIT_KNOWN : EXIT_CONFORMS;
}

enum exit_status exit_status_accepting(enum exit_status status, bool accept_known)
{
    return status == EXIT_KNOWN && accept_known ? EXIT_CONFORMS : status;
}

/* Sets `key` to the cleaned text; NULL text leaves the member out. 0 / -1 without memory. */
json_t *result_text(const char *text)
{
    char *clean = text_clean(text);
    json_t *value = clean ? json_string(clean) : NULL;
    free(clean);
    return value;
}

static int set_text(json_t *object, const char *key, const char *text)
{
    return text ? json_object_set_new(object, key, result_text(text)) : 0;
}

static int set_count(json_t *object, const char *key, uint64_t count)
{
    uint64_t largest = INT64_MAX; /* a JSON integer of jansson is signed */
    return json_object_set_new(object, key, json_integer((json_int_t)(count < largest ? count : largest)));
}

static const char *get_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key)); /* NULL when absent or not a string */
}

static uint64_t get_count(const json_t *object, const char *key)
{
    json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 ? (uint64_t)value : 0;
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
    rc |= set_text(step, "from", from ? from : "tester");
    rc |= set_text(step, "kind", kind);
    rc |= set_text(step, "summary", summary ? summary : "");
    if (frame)
        rc |= set_count(step, "frame", frame);
    if (octets && length) {
        char *hex = hex_text(octets, length < STEP_OCTETS_MAX ? length : STEP_OCTETS_MAX);
        rc |= hex ? json_object_set_new(step, "octets", json_string(hex)) : -1;
        rc |= set_count(step, "length", length);
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
    rc |= set_text(step, "note", note);
    return rc ? -1 : 0;
}

json_t *result_to_json(const struct result *result)
{
    if (!result->id)
        return NULL;
    json_t *object = json_object();
    if (!object)
        return NULL;
    int rc = set_text(object, "type", "result");
    rc |= set_text(object, "id", result->id);
    rc |= set_text(object, "verdict", verdict_name(result->verdict));
    rc |= set_text(object, "by", result->by);
    rc |= set_text(object, "script", result->script);
    rc |= set_text(object, "role", result->role);
    rc |= set_text(object, "file", result->file);
    if (result->frame)
        rc |= set_count(object, "frame", result->frame);
    rc |= set_text(object, "flow", result->flow);
    rc |= set_text(object, "expected", result->expected);
    rc |= set_text(object, "actual", result->actual);
    rc |= set_text(object, "message", result->message);
    rc |= set_text(object, "evidence", result->evidence);
    rc |= set_count(object, "count", result->count ? result->count : 1);
    rc |= set_text(object, "purpose", result->purpose);
    if (result->duration_ns)
        rc |= set_count(object, "duration_ns", result->duration_ns);
    if (result->octets) {
        rc |= set_count(object, "offset", result->offset);
        rc |= set_count(object, "octets", result->octets);
    }
    rc |= set_text(object, "reading", result->reading);
    rc |= set_text(object, "cause", result->cause);
    rc |= set_text(object, "hint", result->hint);
    rc |= set_text(object, "pics", result->pics);
    rc |= set_text(object, "replay", result->replay);
    rc |= set_text(object, "outcome", result->outcome);
    rc |= set_text(object, "finding", result->finding);
    rc |= set_text(object, "deviation", result->deviation);
    rc |= set_text(object, "review_by", result->review_by);
    rc |= set_text(object, "otherwise", result->otherwise);
    rc |= set_text(object, "unexpected", result->unexpected);
    if (result->steps && json_array_size(result->steps))
        rc |= json_object_set(object, "steps", result->steps);
    if (rc) {
        json_decref(object);
        return NULL;
    }
    return object;
}

int result_from_json(json_t *object, struct result *result)
{
    *result = (struct result){
        .id = get_text(object, "id"),
        .by = get_text(object, "by"),
        .script = get_text(object, "script"),
        .role = get_text(object, "role"),
        .file = get_text(object, "file"),
        .frame = get_count(object, "frame"),
        .flow = get_text(object, "flow"),
        .expected = get_text(object, "expected"),
        .actual = get_text(object, "actual"),
        .message = get_text(object, "message"),
        .evidence = get_text(object, "evidence"),
        .count = get_count(object, "count"),
        .purpose = get_text(object, "purpose"),
        .duration_ns = get_count(object, "duration_ns"),
        .offset = get_count(object, "offset"),
        .octets = get_count(object, "octets"),
        .reading = get_text(object, "reading"),
        .cause = get_text(object, "cause"),
        .hint = get_text(object, "hint"),
        .pics = get_text(object, "pics"),
        .replay = get_text(object, "replay"),
        .outcome = get_text(object, "outcome"),
        .finding = get_text(object, "finding"),
        .deviation = get_text(object, "deviation"),
        .review_by = get_text(object, "review_by"),
        .otherwise = get_text(object, "otherwise"),
        .unexpected = get_text(object, "unexpected"),
    };
    json_t *steps = json_object_get(object, "steps");
    result->steps = json_is_array(steps) ? steps : NULL;
    if (!result->count)
        result->count = 1;
    if (!result->id || !*result->id)
        return -1;
    if (verdict_from_name(get_text(object, "verdict"), &result->verdict) != 0)
        return -1;
    if (result->verdict == VERDICT_WARN && result->deviation)
        result->verdict = VERDICT_KNOWN; /* as version 1 wrote it */
    return 0;
}

json_t *run_info_to_json(const struct run_info *info)
{
    json_t *object = json_object();
    if (!object)
        return NULL;
    int rc = set_text(object, "type", "run");
    rc |= set_text(object, "tool", info->tool ? info->tool : "warpcheck");
    rc |= json_object_set_new(object, "version", json_integer(RESULTS_VERSION));
    rc |= set_text(object, "catalogue", info->catalogue ? info->catalogue : "");
    rc |= set_text(object, "target", info->target ? info->target : "");
    rc |= set_count(object, "seed", info->seed);
    rc |= set_text(object, "command", info->command);
    rc |= set_text(object, "started", info->started);
    if (info->selected)
        rc |= set_count(object, "selected", info->selected);
    if (info->conditions)
        rc |= json_object_set(object, "conditions", info->conditions);
    rc |= set_text(object, "shard", info->shard);
    rc |= set_text(object, "plan", info->plan);
    if (info->parts)
        rc |= json_object_set(object, "parts", info->parts);
    if (rc) {
        json_decref(object);
        return NULL;
    }
    return object;
}

int run_info_from_json(json_t *object, struct run_info *info)
{
    *info = (struct run_info){
        .version = get_count(object, "version"),
        .tool = get_text(object, "tool"),
        .catalogue = get_text(object, "catalogue"),
        .target = get_text(object, "target"),
        .seed = get_count(object, "seed"),
        .command = get_text(object, "command"),
        .started = get_text(object, "started"),
        .selected = get_count(object, "selected"),
        .shard = get_text(object, "shard"),
        .plan = get_text(object, "plan"),
    };
    json_t *parts = json_object_get(object, "parts"), *conditions = json_object_get(object, "conditions");
    info->parts = json_is_object(parts) ? parts : NULL;
    info->conditions = json_is_object(conditions) ? conditions : NULL;
    const char *type = get_text(object, "type");
    if (!type || strcmp(type, "run") != 0 || !info->tool || !info->catalogue || !info->target)
        return -1;
    return info->version >= RESULTS_VERSION_FIRST && info->version <= RESULTS_VERSION ? 0 : -1;
}

json_t *capture_info_to_json(const struct capture_info *info)
{
    json_t *object = json_object();
    if (!object)
        return NULL;
    int rc = set_text(object, "type", "capture");
    rc |= set_text(object, "file", info->file);
    rc |= set_text(object, "status", info->status);
    rc |= set_text(object, "message", info->message);
    rc |= set_text(object, "reason", info->reason);
    if (info->ring)
        rc |= json_object_set(object, "ring", info->ring);
    if (info->account)
        rc |= json_object_set(object, "account", info->account);
    if (rc) {
        json_decref(object);
        return NULL;
    }
    return object;
}

int capture_info_from_json(json_t *object, struct capture_info *info)
{
    *info = (struct capture_info){
        .file = get_text(object, "file"),
        .status = get_text(object, "status"),
        .message = get_text(object, "message"),
        .reason = get_text(object, "reason"),
    };
    json_t *account = json_object_get(object, "account");
    info->account = json_is_object(account) ? account : NULL;
    json_t *ring = json_object_get(object, "ring");
    info->ring = json_is_array(ring) ? ring : NULL;
    return info->file && *info->file && info->status ? 0 : -1;
}

json_t *run_summary_to_json(const struct run_summary *summary)
{
    json_t *object = json_object();
    json_t *messages = json_object();
    if (!object || !messages) {
        json_decref(object);
        json_decref(messages);
        return NULL;
    }
    int rc = set_text(object, "type", "summary");
    rc |= set_count(object, "pass", summary->pass);
    rc |= set_count(object, "fail", summary->fail);
    rc |= set_count(object, "known", summary->known);
    rc |= set_count(object, "known_findings", summary->known_findings);
    rc |= set_count(object, "warn", summary->warn);
    rc |= set_count(object, "inconclusive", summary->inconclusive);
    rc |= set_count(object, "skip", summary->skip);
    rc |= set_count(object, "ambiguous", summary->ambiguous);
    rc |= set_count(object, "not_exercised", summary->not_exercised);
    rc |= set_count(object, "frames", summary->frames);
    rc |= set_count(object, "fpdus", summary->fpdus);
    rc |= set_count(object, "ddp_segments", summary->ddp_segments);
    for (size_t i = 0; i < summary->message_count; i++)
        rc |= set_count(messages, summary->messages[i].name, summary->messages[i].count);
    rc |= json_object_set_new(object, "messages", messages);
    rc |= set_count(object, "crc_errors", summary->crc_errors);
    if (!account_is_empty(&summary->account))
        rc |= json_object_set_new(object, "account", account_to_json(&summary->account));
    if (summary->allow_gaps)
        rc |= json_object_set_new(object, "allow_gaps", json_true());
    rc |= set_text(object, "ended", summary->ended);
    rc |= set_text(object, "stopped", summary->stopped);
    if (rc) {
        json_decref(object);
        return NULL;
    }
    return object;
}

int run_summary_from_json(json_t *object, struct run_summary *summary)
{
    const char *type = get_text(object, "type");
    if (!type || strcmp(type, "summary") != 0)
        return -1;
    *summary = (struct run_summary){
        .pass = get_count(object, "pass"),
        .fail = get_count(object, "fail"),
        .known = get_count(object, "known"),
        .known_findings = get_count(object, "known_findings"),
        .warn = get_count(object, "warn"),
        .inconclusive = get_count(object, "inconclusive"),
        .skip = get_count(object, "skip"),
        .ambiguous = get_count(object, "ambiguous"),
        .not_exercised = get_count(object, "not_exercised"),
        .frames = get_count(object, "frames"),
        .fpdus = get_count(object, "fpdus"),
        .ddp_segments = get_count(object, "ddp_segments"),
        .crc_errors = get_count(object, "crc_errors"),
        .allow_gaps = json_is_true(json_object_get(object, "allow_gaps")),
        .ended = get_text(object, "ended"),
        .stopped = get_text(object, "stopped"),
    };
    account_from_json(json_object_get(object, "account"), &summary->account);
    const char *name;
    json_t *count;
    json_object_foreach(json_object_get(object, "messages"), name, count)
    {
        if (json_is_integer(count) && json_integer_value(count) >= 0)
            summary_add_messages(summary, name, (uint64_t)json_integer_value(count));
    }
    return 0;
}
