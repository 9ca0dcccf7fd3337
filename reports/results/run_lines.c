/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines of results.jsonl that are no results, as JSON: the run, its captures, its summary. */
#include "reports/results/account.h"
#include "reports/results/member.h"
#include "reports/results/result.h"

#include "base/text_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *run_info_to_json(const struct run_info *info)
{
    json_t *object = json_object();
    if (!object)
        return NULL;
    int rc = member_set_text(object, "type", "run");
    rc |= member_set_text(object, "tool", info->tool ? info->tool : "warpcheck");
    rc |= json_object_set_new(object, "version", json_integer(RESULTS_VERSION));
    rc |= member_set_text(object, "catalogue", info->catalogue ? info->catalogue : "");
    rc |= member_set_text(object, "target", info->target ? info->target : "");
    rc |= member_set_count(object, "seed", info->seed);
    rc |= member_set_text(object, "command", info->command);
    rc |= member_set_text(object, "command_line", info->command_line);
    rc |= member_set_text(object, "started", info->started);
    if (info->selected)
        rc |= member_set_count(object, "selected", info->selected);
    if (info->conditions)
        rc |= json_object_set(object, "conditions", info->conditions);
    if (info->device)
        rc |= json_object_set(object, "device", info->device);
    rc |= member_set_text(object, "shard", info->shard);
    rc |= member_set_text(object, "plan", info->plan);
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
        .version = member_count(object, "version"),
        .tool = member_text(object, "tool"),
        .catalogue = member_text(object, "catalogue"),
        .target = member_text(object, "target"),
        .seed = member_count(object, "seed"),
        .command = member_text(object, "command"),
        .command_line = member_text(object, "command_line"),
        .started = member_text(object, "started"),
        .selected = member_count(object, "selected"),
        .shard = member_text(object, "shard"),
        .plan = member_text(object, "plan"),
    };
    json_t *parts = json_object_get(object, "parts"), *conditions = json_object_get(object, "conditions");
    json_t *device = json_object_get(object, "device");
    info->device = json_is_object(device) ? device : NULL;
    info->parts = json_is_object(parts) ? parts : NULL;
    info->conditions = json_is_object(conditions) ? conditions : NULL;
    const char *type = member_text(object, "type");
    if (!type || strcmp(type, "run") != 0 || !info->tool || !info->catalogue || !info->target)
        return -1;
    return info->version >= RESULTS_VERSION_FIRST && info->version <= RESULTS_VERSION ? 0 : -1;
}

static const char *text_of(const json_t *value)
{
    return json_is_string(value) ? json_string_value(value) : "?";
}

char *run_info_device(const struct run_info *info)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = text_stream_open(&text, &size);
    const char *name, *before = "";
    json_t *value;

    if (out == NULL)
        return NULL;
    json_object_foreach(info->device, name, value)
    {
        char *members = json_is_object(value) ? json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS) : NULL;

        fprintf(out, "%s%s %s", before, name, members != NULL ? members : text_of(value));
        before = ", ";
        free(members);
    }
    return text_stream_close(out, &text) ? text : NULL;
}

json_t *capture_info_to_json(const struct capture_info *info)
{
    json_t *object = json_object();
    if (!object)
        return NULL;
    int rc = member_set_text(object, "type", "capture");
    rc |= member_set_text(object, "file", info->file);
    rc |= member_set_text(object, "status", info->status);
    rc |= member_set_text(object, "message", info->message);
    rc |= member_set_text(object, "reason", info->reason);
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
        .file = member_text(object, "file"),
        .status = member_text(object, "status"),
        .message = member_text(object, "message"),
        .reason = member_text(object, "reason"),
    };
    json_t *account = json_object_get(object, "account");
    info->account = json_is_object(account) ? account : NULL;
    json_t *ring = json_object_get(object, "ring");
    info->ring = json_is_array(ring) ? ring : NULL;
    return info->file && *info->file && info->status ? 0 : -1;
}

static json_t *expectation_to_json(const struct run_expectation *counts)
{
    json_t *object = json_object();
    int rc = member_set_text(object, "file", counts->file);

    rc |= member_set_text(object, "digest", counts->digest);
    rc |= member_set_count(object, "expected", counts->expected);
    rc |= member_set_count(object, "new", counts->fresh);
    rc |= member_set_count(object, "changed", counts->changed);
    rc |= member_set_count(object, "due", counts->due);
    rc |= member_set_count(object, "missing", counts->missing);
    rc |= member_set_count(object, "renamed", counts->renamed);
    if (counts->soon) {
        rc |= member_set_count(object, "soon", counts->soon);
        rc |= member_set_text(object, "soon_day", counts->soon_day);
    }
    if (rc == 0)
        return object;
    json_decref(object);
    return NULL;
}

static struct run_expectation expectation_from_json(const json_t *object)
{
    return (struct run_expectation){
        .used = json_is_object(object),
        .file = member_text(object, "file"),
        .digest = member_text(object, "digest"),
        .expected = member_count(object, "expected"),
        .fresh = member_count(object, "new"),
        .changed = member_count(object, "changed"),
        .due = member_count(object, "due"),
        .missing = member_count(object, "missing"),
        .renamed = member_count(object, "renamed"),
        .soon = member_count(object, "soon"),
        .soon_day = member_text(object, "soon_day"),
    };
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
    int rc = member_set_text(object, "type", "summary");
    rc |= member_set_count(object, "pass", summary->pass);
    rc |= member_set_count(object, "fail", summary->fail);
    rc |= member_set_count(object, "known", summary->known);
    rc |= member_set_count(object, "known_findings", summary->known_findings);
    rc |= member_set_count(object, "warn", summary->warn);
    rc |= member_set_count(object, "inconclusive", summary->inconclusive);
    rc |= member_set_count(object, "skip", summary->skip);
    rc |= member_set_count(object, "ambiguous", summary->ambiguous);
    rc |= member_set_count(object, "not_exercised", summary->not_exercised);
    rc |= member_set_count(object, "frames", summary->frames);
    rc |= member_set_count(object, "fpdus", summary->fpdus);
    rc |= member_set_count(object, "ddp_segments", summary->ddp_segments);
    for (size_t i = 0; i < summary->message_count; i++)
        rc |= member_set_count(messages, summary->messages[i].name, summary->messages[i].count);
    rc |= json_object_set_new(object, "messages", messages);
    rc |= member_set_count(object, "crc_errors", summary->crc_errors);
    if (summary->restarts)
        rc |= member_set_count(object, "restarts", summary->restarts);
    if (!account_is_empty(&summary->account))
        rc |= json_object_set_new(object, "account", account_to_json(&summary->account));
    if (summary->allow_gaps)
        rc |= json_object_set_new(object, "allow_gaps", json_true());
    if (summary->expectation.used)
        rc |= json_object_set_new(object, "expectation", expectation_to_json(&summary->expectation));
    rc |= member_set_text(object, "ended", summary->ended);
    rc |= member_set_text(object, "stopped", summary->stopped);
    if (rc) {
        json_decref(object);
        return NULL;
    }
    return object;
}

int run_summary_from_json(json_t *object, struct run_summary *summary)
{
    const char *type = member_text(object, "type");
    if (!type || strcmp(type, "summary") != 0)
        return -1;
    *summary = (struct run_summary){
        .pass = member_count(object, "pass"),
        .fail = member_count(object, "fail"),
        .known = member_count(object, "known"),
        .known_findings = member_count(object, "known_findings"),
        .warn = member_count(object, "warn"),
        .inconclusive = member_count(object, "inconclusive"),
        .skip = member_count(object, "skip"),
        .ambiguous = member_count(object, "ambiguous"),
        .not_exercised = member_count(object, "not_exercised"),
        .frames = member_count(object, "frames"),
        .fpdus = member_count(object, "fpdus"),
        .ddp_segments = member_count(object, "ddp_segments"),
        .crc_errors = member_count(object, "crc_errors"),
        .restarts = member_count(object, "restarts"),
        .allow_gaps = json_is_true(json_object_get(object, "allow_gaps")),
        .ended = member_text(object, "ended"),
        .stopped = member_text(object, "stopped"),
    };
    account_from_json(json_object_get(object, "account"), &summary->account);
    summary->expectation = expectation_from_json(json_object_get(object, "expectation"));
    const char *name;
    json_t *count;
    json_object_foreach(json_object_get(object, "messages"), name, count)
    {
        if (json_is_integer(count) && json_integer_value(count) >= 0)
            summary_add_messages(summary, name, (uint64_t)json_integer_value(count));
    }
    return 0;
}
