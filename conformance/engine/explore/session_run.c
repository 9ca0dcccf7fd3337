/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/explore/session_run.h"

#include <stdlib.h>

#include "conformance/engine/explore/session_text.h"
#include "conformance/engine/run/runner.h"

struct playing {
    struct session_listener listener;
    void (*forget)(void *user);
};

static int on_journal(void *user, struct journal *journal, const struct flow_totals *traffic)
{
    const struct playing *playing = user;

    (void)traffic;
    session_listener_journal(&playing->listener, journal);
    return 0;
}

/* Findings of rules come with their session (on_journal), not once more at the end. */
static int on_result(void *user, const struct result *result)
{
    const struct playing *playing = user;

    session_listener_result(&playing->listener, result);
    return 0;
}

static int on_learned(void *user, json_t *services)
{
    const struct playing *playing = user;

    (void)services;
    if (playing->forget != NULL)
        playing->forget(playing->listener.user);
    return 0;
}

static int load(struct script_host *host, const struct playing *playing, struct iwarp_sentence *error)
{
    char *text = NULL;
    size_t octets = 0;
    int status = session_script(playing->listener.sessions, playing->listener.count, &text, &octets, error);

    if (status == 0)
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
                                  .sctp = world->sctp != IWARP_SCTP_UNDECIDED,
                                  .profile = world->sctp,
                                  .destructive = true};
    struct plan plan = {0};
    struct runner_config runner = {
        .host = host,
        .plan = &plan,
        .selection = &everything,
        .catalogue = world->catalogue,
        .sim = {.seed = world->seed, .defects = device->defects, .ipv6 = device->ipv6},
        .evidence = {.folder = -1},
        .services = &device->services,
        .report = {.journal = on_journal, .learned = on_learned, .result = on_result, .user = playing}};
    struct runner_totals totals;
    int status = plan_make(&plan, host, &planned, error);

    if (status == 0)
        status = runner_run(&runner, &totals, error);
    plan_free(&plan);
    return status;
}

static int run_simulated(const struct session_world *world, struct session_device *device, struct playing *playing,
                         struct iwarp_sentence *error)
{
    struct script_host *host = script_host_new(error);
    int status = -1;

    if (host != NULL && load(host, playing, error) == 0)
        status = play(world, device, playing, host, error);
    script_host_free(host);
    return status;
}

int session_run(const struct session_world *world, struct session_device *device, struct session *sessions,
                size_t count, session_found *found, void (*forget)(void *user), void *user,
                struct iwarp_sentence *error)
{
    struct playing playing = {
        .listener = {.sessions = sessions, .count = count, .found = found, .user = user},
        .forget = forget,
    };

    return device->live != NULL ? session_live_run(device->live, &playing.listener, error)
                                : run_simulated(world, device, &playing, error);
}
