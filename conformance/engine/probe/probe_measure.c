/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/probe/probe_measure.h"

#include <string.h>

#include "conformance/engine/evidence/recorder.h"
#include "conformance/engine/evidence/tally.h"
#include "conformance/engine/rig/device_keeper.h"
#include "conformance/engine/script/script_ask.h"
#include "conformance/engine/script/services.h"
#include "reports/results/member.h"

struct measuring {
    struct script_host *host;
    struct rig *rig;
    struct recorder *recorder;
    struct tally *tally;
    json_t *found;
    json_t *capabilities;
};

const json_t *probe_line(const json_t *found, const char *type, const char *name, const char *value)
{
    const json_t *line;
    size_t i;

    json_array_foreach(found, i, line)
    {
        const char *text = member_text(line, name), *of = member_text(line, "type");

        if (of != NULL && strcmp(of, type) == 0 && text != NULL && strcmp(text, value) == 0)
            return line;
    }
    return NULL;
}

/* Adds one defect; each id is added only once. */
static void add_defect(json_t *found, const char *id, const char *verdict, const char *expected, const char *actual,
                       const char *message)
{
    if (id == NULL || probe_line(found, "defect", "id", id) != NULL)
        return;
    (void)json_array_append_new(found,
                                json_pack("{s:s, s:s, s:s, s:s*, s:s*, s:s*}", "type", "defect", "id", id, "verdict",
                                          verdict, "message", message, "expected", expected, "actual", actual));
}

/* Adds the start-ups of a role; members other than the outcome become lines of their own. */
static void add_startups(struct measuring *measuring, const char *role, const json_t *answer)
{
    json_t *startup;
    size_t i;

    json_array_foreach(json_object_get(answer, "startups"), i, startup)
    {
        json_t *fpdu = json_incref(json_object_get(startup, "fpdu"));

        (void)json_object_del(startup, "fpdu");
        (void)json_object_del(startup, "silent");
        (void)json_object_set_new(startup, "type", json_string("startup"));
        (void)json_object_set_new(startup, "role", json_string(role));
        (void)json_array_append(measuring->found, startup);
        add_defect(measuring->found, member_text(startup, "id"), "FAIL", member_text(startup, "expected"),
                   member_text(startup, "actual"), "the start-up frame");
        if (json_is_object(fpdu)) {
            (void)json_object_set_new(fpdu, "type", json_string("fpdu"));
            (void)json_object_set(fpdu, "startup", json_object_get(startup, "name"));
            (void)json_array_append(measuring->found, fpdu);
            add_defect(measuring->found, member_text(fpdu, "id"), "FAIL", member_text(fpdu, "expected"),
                       member_text(fpdu, "actual"), "the first FPDU");
        }
        json_decref(fpdu);
    }
}

static void add_exchanges(struct measuring *measuring, const char *role, const json_t *services)
{
    const json_t *exchanges = json_object_get(services, "exchanges");

    for (size_t i = 0; services_names[i] != NULL; i++) {
        const json_t *outcome = json_object_get(exchanges, services_names[i]);
        json_t *line = json_pack("{s:s, s:s, s:s, s:s}", "type", "exchange", "role", role, "name", services_names[i],
                                 "what", services_title(services_names[i]));

        if (outcome != NULL)
            (void)json_object_set_new(line, "served", json_boolean(json_is_true(outcome)));
        if (json_is_string(outcome))
            (void)json_object_set_new(line, "why", json_string(json_string_value(outcome)));
        (void)json_array_append_new(measuring->found, line);
    }
}

/* What was learned of the limits of the device's own ULP: a line of its own. */
static void add_ulp(struct measuring *measuring, const char *role, const json_t *services)
{
    static const char *const limits[] = {"takes_sends", "longest_send", "ends_by_ulp", "ends_after", "reads_open"};
    json_t *line = json_pack("{s:s, s:s}", "type", "ulp", "role", role);

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        if (json_object_get(services, limits[i]) != NULL)
            (void)json_object_set(line, limits[i], json_object_get(services, limits[i]));
    (void)json_array_append_new(measuring->found, line);
}

/* Has the device served a start-up? */
bool probe_accepts_any(const json_t *found)
{
    return probe_line(found, "startup", "outcome", "accepted") != NULL ||
           probe_line(found, "startup", "outcome", "sent") != NULL;
}

static int measure_role(struct measuring *measuring, const char *role, struct iwarp_sentence *error)
{
    json_t *answer, *services;

    if (measuring->rig->upper_tester && measuring->rig->ops->reset(measuring->rig, error) != 0)
        return -1;
    answer = script_ask(measuring->host, "probe", role, measuring->rig, measuring->recorder, error);
    if (answer == NULL)
        return -1;
    add_startups(measuring, role, answer);
    if (json_is_object(json_object_get(answer, "capabilities"))) {
        json_decref(measuring->capabilities);
        measuring->capabilities = json_incref(json_object_get(answer, "capabilities"));
    }
    json_decref(answer);
    if (!probe_accepts_any(measuring->found))
        return 0;
    services = services_learn(measuring->host, role, measuring->rig, measuring->recorder, error);
    if (services == NULL)
        return -1;
    add_exchanges(measuring, role, services);
    add_ulp(measuring, role, services);
    json_decref(services);
    return 0;
}

/*
 * The depths that the probe's Requests name are those of no device, so that the device names its own: that these are
 * less is no recommendation that it has passed over.
 */
static bool provoked(const char *id)
{
    return strcmp(id, "EMPA-9.1-04") == 0;
}

/* What rules judge of start-up frames is no consequence of how FPDUs look. */
static bool of_startup(const char *id)
{
    static const char *const framing[] = {"MPA-7.1.1-07", "MPA-7.1.1-08", "MPA-7.1.1-09",
                                          "MPA-7.1.1-10", "MPA-7.1.1-11", "MPA-7.1.1-12",
                                          "MPA-7.1.1-13", "MPA-7.1.1-14", "MPA-7.1.1-15"};

    for (size_t i = 0; i < sizeof(framing) / sizeof(framing[0]); i++)
        if (strcmp(id, framing[i]) == 0)
            return false;
    return strncmp(id, "MPA-7.1.1-", 10) == 0 || strncmp(id, "EMPA-", 5) == 0;
}

/* What rules found; nothing of FPDUs where a first one has a cause already, from which the rest follows. */
static void add_rules(struct measuring *measuring)
{
    bool framing = false;
    const json_t *line;
    size_t i;

    json_array_foreach(measuring->found, i, line) framing |=
        member_text(line, "verdict") != NULL; /* of a defect: the other lines have none */
    for (i = 0; i < tally_room(); i++) {
        const struct tally_entry *entry = tally_at(measuring->tally, i);

        if (entry == NULL || !entry->exercised || (entry->verdict != VERDICT_FAIL && entry->verdict != VERDICT_WARN) ||
            provoked(entry->rule->id) || (framing && !of_startup(entry->rule->id)))
            continue;
        add_defect(measuring->found, entry->rule->id, verdict_name(entry->verdict), entry->expected, entry->actual,
                   entry->message);
    }
}

static void on_finding(void *user, const struct rule_finding *finding)
{
    tally_finding(((struct measuring *)user)->tally, finding, false);
}

static void on_result(void *user, const struct rule_result *result, const struct flow *flow)
{
    tally_passes(((struct measuring *)user)->tally, result, flow);
}

static int measure_all(struct measuring *measuring, struct probe_wire *wire, struct iwarp_sentence *error)
{
    struct iwarp_sentence unwritten;
    int status;

    recorder_attach(measuring->recorder, measuring->rig);
    probe_wire_watch(wire, measuring->rig);
    if (recorder_begin(measuring->recorder, NULL, "probe", error) != 0)
        return -1;
    status = measuring->rig->only_opens ? 0 : measure_role(measuring, "responder", error);
    if (status == 0 && (measuring->rig->upper_tester || device_keeper_starts_initiator(measuring->rig)))
        status = measure_role(measuring, "initiator", error);
    (void)recorder_end(measuring->recorder, "probe", &unwritten);
    add_rules(measuring);
    measuring->rig->link->tap = NULL;
    return status;
}

int probe_measure(struct script_host *host, struct rig *rig, struct probe_wire *wire, json_t *found,
                  json_t **capabilities, struct iwarp_sentence *error)
{
    struct measuring measuring = {.host = host, .rig = rig, .found = found};
    struct recorder_config config = {.finding = on_finding, .rule_result = on_result, .user = &measuring};
    int status = -1;

    measuring.recorder = recorder_new(&config, error);
    measuring.tally = tally_new();
    if (measuring.tally == NULL)
        (void)iwarp_sentence_set(error, "out of memory for the rules' verdicts");
    else if (measuring.recorder != NULL)
        status = measure_all(&measuring, wire, error);
    *capabilities = measuring.capabilities;
    tally_free(measuring.tally);
    recorder_free(measuring.recorder);
    return status;
}
