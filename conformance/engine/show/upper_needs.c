/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* strverscmp */
#include "conformance/engine/show/upper_needs.h"

#include <jansson.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/rig/rig.h"
#include "conformance/engine/script/script.h"
#include "conformance/engine/show/wrap.h"
#include "base/text_stream.h"

enum { EVENTS_MOST = 32, PAGE_COLUMNS = 130 }; /* attempts: events that one check asks for */

/* An upper tester in front of the reference stack's own. `ops` stays in place while the rig lives. */
struct watched {
    struct rig_ops ops;
    const struct rig_ops *inner;
    json_t *verbs;  /* an object: those that were asked for */
    json_t *events; /* a list: those that it reports */
};

/* The answer to `capabilities`, with the events in it. Takes over `answer`. */
static char *add_events(char *answer, json_t *events)
{
    json_t *reply = json_loads(answer, 0, NULL);
    char *text = NULL;

    free(answer);
    if (reply != NULL && json_object_set(reply, "events", events) == 0)
        text = json_dumps(reply, JSON_COMPACT);
    json_decref(reply);
    return text;
}

static char *watched_command(struct rig *rig, const char *request, struct iwarp_sentence *error)
{
    struct watched *watched = (struct watched *)((char *)(uintptr_t)rig->ops - offsetof(struct watched, ops));
    json_t *command = json_loads(request, 0, NULL);
    const char *verb = json_string_value(json_object_get(command, "verb"));
    char *answer = watched->inner->command(rig, request, error);

    if (verb != NULL)
        (void)json_object_set_new(watched->verbs, verb, json_true());
    if (verb != NULL && answer != NULL && strcmp(verb, "capabilities") == 0)
        answer = add_events(answer, watched->events);
    json_decref(command);
    return answer;
}

/* The event that a check was skipped for, into `name`; false: it was not skipped for one. */
static bool wants_event(const struct outcome *outcome, char *name, size_t room)
{
    static const char sign[] = "does not tell of the event \"";
    const char *at =
        outcome->verdict == VERDICT_SKIP && outcome->message != NULL ? strstr(outcome->message, sign) : NULL;

    if (at == NULL)
        return false;
    at += sizeof(sign) - 1;
    (void)snprintf(name, room, "%.*s", (int)strcspn(at, "\""), at);
    return true;
}

static int run_once(struct script_host *host, const struct check *check, const char *role, struct watched *watched,
                    struct outcome *outcome, struct iwarp_sentence *error)
{
    struct rig_sim_config config = {.seed = 1};
    struct rig *rig = rig_sim_new(&config, error);

    if (rig == NULL)
        return -1;
    if (rig_measure(rig, error) != 0) {
        rig_free(rig);
        return -1;
    }
    watched->inner = rig->ops;
    watched->ops = *rig->ops;
    watched->ops.command = watched_command;
    watched->ops.answer = NULL; /* each command goes by its text, which is what is watched */
    (void)json_object_clear(watched->verbs);
    rig->ops = &watched->ops;
    script_run(host, check, role, rig, NULL, outcome);
    rig->ops = watched->inner;
    rig_free(rig);
    return 0;
}

/* needs: { "send": { "DDP-5.2-01": true, ... }, ... } */
static int note(json_t *needs, const char *name, const char *id)
{
    json_t *ids = json_object_get(needs, name);

    if (ids == NULL && json_object_set_new(needs, name, json_object()) == 0)
        ids = json_object_get(needs, name);
    return json_object_set_new(ids, id, json_true());
}

static int learn(struct script_host *host, const struct check *check, const char *role, json_t *verbs, json_t *events,
                 struct iwarp_sentence *error)
{
    struct watched watched = {.verbs = json_object(), .events = json_array()};
    struct outcome outcome = {.verdict = VERDICT_PASS};
    const char *name;
    char event[64];
    json_t *member;
    int status = 0;

    for (int i = 0; i < EVENTS_MOST && status == 0; i++) {
        status = run_once(host, check, role, &watched, &outcome, error);
        if (status != 0 || !wants_event(&outcome, event, sizeof(event)))
            break;
        (void)json_array_append_new(watched.events, json_string(event));
        if (note(events, event, check->id) != 0)
            status = iwarp_sentence_set(error, "out of memory");
    }
    json_object_foreach(watched.verbs, name, member)
    {
        if (status == 0 && note(verbs, name, check->id) != 0)
            status = iwarp_sentence_set(error, "out of memory");
    }
    json_decref(watched.verbs);
    json_decref(watched.events);
    return status;
}

static int learn_all(struct script_host *host, json_t *verbs, json_t *events, struct iwarp_sentence *error)
{
    for (size_t i = 0; i < script_check_count(host); i++) {
        const struct check *check = script_check_at(host, i);

        if ((check->responder && learn(host, check, "responder", verbs, events, error) != 0) ||
            (check->initiator && learn(host, check, "initiator", verbs, events, error) != 0))
            return -1;
    }
    return 0;
}

static int by_version(const void *a, const void *b)
{
    return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

/* The members' names, in order; the caller's to free(). NULL without memory, or when there are none. */
static const char **names_of(json_t *object)
{
    const char **names = calloc(json_object_size(object) + 1, sizeof(*names)), *name;
    json_t *member;
    size_t count = 0;

    if (names == NULL)
        return NULL;
    json_object_foreach(object, name, member)
    {
        names[count++] = name;
    }
    qsort(names, count, sizeof(*names), by_version);
    return names;
}

/* "DDP-5.2-01, -05, DDP-5.3-01": what an id shares with the one before it is said once. */
static void write_ids(json_t *ids, FILE *out)
{
    const char **names = names_of(ids), *before = "";
    char *text = NULL;
    size_t size = 0;
    FILE *list = names != NULL ? text_stream_open(&text, &size) : NULL;

    for (size_t i = 0; list != NULL && names[i] != NULL; before = names[i++]) {
        const char *number = strrchr(names[i], '-');
        size_t shared = number != NULL ? (size_t)(number - names[i]) + 1 : 0;
        bool same = shared != 0 && strncmp(before, names[i], shared) == 0;

        fprintf(list, "%s%s", i == 0 ? "" : ", ", same ? number : names[i]);
    }
    if (list != NULL && text_stream_close(list, &text))
        wrap_print(out, text, PAGE_COLUMNS, 0, 0);
    free(text);
    free(names);
}

static void write_part(const char *title, json_t *needs, bool markdown, FILE *out)
{
    const char **names = names_of(needs);

    fprintf(out, markdown ? "\n## %s\n" : "\n%s\n", title);
    for (size_t i = 0; names != NULL && names[i] != NULL; i++) {
        json_t *ids = json_object_get(needs, names[i]);

        fprintf(out, markdown ? "\n### `%s`: %zu check%s\n\n" : "\n%s: %zu check%s\n", names[i], json_object_size(ids),
                json_object_size(ids) == 1 ? "" : "s");
        write_ids(ids, out);
    }
    free(names);
}

int upper_needs_write(bool markdown, FILE *out, struct iwarp_sentence *error)
{
    struct script_host *host = script_host_new(error);
    json_t *verbs = json_object(), *events = json_object();
    int status = -1;

    if (verbs == NULL || events == NULL)
        (void)iwarp_sentence_set(error, "out of memory");
    else if (host != NULL && script_load_embedded(host, error) == 0)
        status = learn_all(host, verbs, events, error);
    if (status == 0) {
        fputs(markdown ? "# The checks that need a verb or an event\n\n"
                         "`warpcheck pics --needs --format markdown` makes this page: it runs each check against the "
                         "reference "
                         "stack and watches\nwhat the check asks the upper tester for. A device whose upper tester "
                         "lacks a verb, or "
                         "does not tell of an event, has these\nchecks skipped ([upper-tester.md](upper-tester.md)).\n"
                       : "The checks that need a verb or an event of the upper tester (docs/upper-tester.md)\n",
              out);
        write_part(markdown ? "Verbs" : "verbs", verbs, markdown, out);
        write_part(markdown ? "Events" : "events", events, markdown, out);
    }
    json_decref(verbs);
    json_decref(events);
    script_host_free(host);
    return status;
}
