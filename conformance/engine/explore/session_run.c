/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/explore/session_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"
#include "conformance/engine/explore/session_text.h"
#include "conformance/engine/run/runner.h"

struct playing {
    struct session *sessions;
    size_t count;
    session_found *found;
    void (*forget)(void *user);
    void *user;
    struct session *now; /* whose journal came last */
};

static struct session *session_of(const struct playing *playing, const char *id)
{
    char own[SESSION_ID_OCTETS];

    for (size_t i = 0; i < playing->count; i++)
        if (strcmp(session_id(&playing->sessions[i], own), id) == 0)
            return &playing->sessions[i];
    return NULL;
}

static int on_journal(void *user, struct journal *journal, const struct flow_totals *traffic)
{
    struct playing *playing = user;

    (void)traffic;
    playing->now = session_of(playing, journal->id);
    for (size_t i = 0; playing->now != NULL && i < journal->rule_count; i++) {
        const struct result *result = &journal->rules[i].result;

        if (result->verdict == VERDICT_FAIL || result->verdict == VERDICT_WARN)
            playing->found(playing->user, playing->now, result);
    }
    return 0;
}

/* Findings of rules come with their session (on_journal), not once more at the end. */
static int on_result(void *user, const struct result *result)
{
    struct playing *playing = user;
    struct session *session = result_is_by_rule(result) ? NULL : session_of(playing, result->id);

    if (session != NULL)
        playing->found(playing->user, session, result);
    return 0;
}

static int on_learned(void *user, json_t *served)
{
    struct playing *playing = user;

    (void)served;
    if (playing->forget != NULL)
        playing->forget(playing->user);
    return 0;
}

static int load(struct script_host *host, const struct playing *playing, struct iwarp_sentence *error)
{
    char *text = NULL;
    size_t octets = 0;
    FILE *out = text_stream_open(&text, &octets);
    int status;

    if (out == NULL)
        return iwarp_sentence_set(error, "out of memory for sessions");
    for (size_t i = 0; i < playing->count; i++)
        session_print(&playing->sessions[i], NULL, "a session that was drawn", out);
    if (!text_stream_close(out, &text))
        return iwarp_sentence_set(error, "out of memory for sessions");
    status = script_load(host, "explored", text, octets, error);
    free(text);
    return status;
}

static int play(const struct session_world *world, struct session_device *device, struct playing *playing,
                struct script_host *host, struct iwarp_sentence *error)
{
    struct selection everything = {0};
    struct plan_config planned = {.catalogue = world->catalogue,
                                  .pics = world->pics,
                                  .selection = &everything,
                                  .own_scripts = true,
                                  .destructive = true};
    struct plan plan = {0};
    struct runner_config runner = {
        .host = host,
        .plan = &plan,
        .selection = &everything,
        .catalogue = world->catalogue,
        .sim = {.seed = world->seed, .defects = device->defects, .ipv6 = device->ipv6},
        .evidence = {.folder = -1},
        .services = &device->served,
        .report = {.journal = on_journal, .learned = on_learned, .result = on_result, .user = playing}};
    struct runner_totals totals;
    int status = plan_make(&plan, host, &planned, error);

    if (status == 0)
        status = runner_run(&runner, &totals, error);
    plan_free(&plan);
    return status;
}

int session_run(const struct session_world *world, struct session_device *device, struct session *sessions,
                size_t count, session_found *found, void (*forget)(void *user), void *user,
                struct iwarp_sentence *error)
{
    struct playing playing = {.sessions = sessions, .count = count, .found = found, .forget = forget, .user = user};
    struct script_host *host = script_host_new(error);
    int status = -1;

    if (host != NULL && load(host, &playing, error) == 0)
        status = play(world, device, &playing, host, error);
    script_host_free(host);
    return status;
}
