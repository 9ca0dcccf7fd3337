/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/explore/session_live.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exit_status.h"
#include "conformance/engine/explore/session_text.h"
#include "conformance/engine/process/run_stop.h"
#include "conformance/engine/run/cmd_run.h"
#include "reference-stack/program/complaint.h"
#include "reports/file/save.h"
#include "reports/results/results_log.h"

enum { PATH_OCTETS = 600 };

/* A run, and its files. */
struct live_run {
    const struct session_listener *listener;
    bool failed; /* something did not pass */
    char script[PATH_OCTETS], folder[PATH_OCTETS], results[PATH_OCTETS];
};

static int name_files(const struct session_live *live, struct live_run *run, struct iwarp_sentence *error)
{
    char name[PATH_OCTETS];
    int octets = live->trial ? snprintf(name, sizeof(name), "%s/trial", live->folder)
                             : snprintf(name, sizeof(name), "%s/explored-%u", live->folder, live->runs + 1);

    if (octets < 0 || (size_t)octets >= sizeof(name) - sizeof("/results.jsonl"))
        return iwarp_sentence_set(error, "%.100s...: the name is too long", live->folder);
    (void)snprintf(run->folder, sizeof(run->folder), "%s", name);
    (void)snprintf(run->script, sizeof(run->script), "%.*s.lua", octets, name);
    (void)snprintf(run->results, sizeof(run->results), "%.*s/results.jsonl", octets, name);
    return 0;
}

static int write_script(const struct live_run *run, struct iwarp_sentence *error)
{
    const struct place place = place_at(run->script);
    char *text = NULL;
    size_t octets = 0;
    int status = session_script(run->listener->sessions, run->listener->count, &text, &octets, error);

    if (status == 0)
        status = save_file(&place, text, octets, error);
    free(text);
    return status;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

int session_live_command(const struct session_live *live, const char *const *own, size_t own_count)
{
    char **argv = calloc(own_count + live->argument_count + 1, sizeof(*argv));
    int status;

    if (argv == NULL)
        return complain(EXIT_ENVIRONMENT, "out of memory for a run");
    for (size_t i = 0; i < own_count; i++)
        argv[i] = (char *)(uintptr_t)own[i];
    for (size_t i = 0; i < live->argument_count; i++)
        argv[own_count + i] = (char *)(uintptr_t)live->arguments[i];
    status = cmd_run((int)(own_count + live->argument_count), argv);
    free(argv);
    return status;
}

/* In the child: what the run prints is in its results. Complaints are the user's to see, but those of a trial. */
static int run_as_command(const struct session_live *live, const struct live_run *run)
{
    const char *const own[] = {"run", "--quiet", "--force", "--script", run->script, "-o", run->folder};
    int status;

    if (freopen("/dev/null", "w", stdout) == NULL || (live->trial && freopen("/dev/null", "w", stderr) == NULL))
        return EXIT_ENVIRONMENT;
    status = session_live_command(live, own, sizeof(own) / sizeof(own[0]));
    (void)fflush(NULL);
    return status;
}

/* SIGINT of a terminal comes to both processes; SIGTERM is passed on. */
static int wait_for(pid_t child)
{
    int status = 0;
    bool passed = false;

    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return -1;
        if (run_stopped() && !passed)
            (void)kill(child, SIGTERM);
        passed = run_stopped();
    }
    return status;
}

static int run_in_child(struct session_live *live, const struct live_run *run, struct iwarp_sentence *error)
{
    const pid_t parent = getpid();
    pid_t child;
    int status;

    (void)fflush(stdout);
    (void)unlink(run->results);
    child = fork();
    if (child < 0)
        return iwarp_sentence_set(error, "no process for a run: %s", strerror(errno));
    if (child == 0) {
        if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent)
            _exit(EXIT_ENVIRONMENT);
        _exit(run_as_command(live, run));
    }
    status = wait_for(child);
    if (run_stopped())
        return iwarp_sentence_set(error, "stopped; what was found until then is in %s", run->folder);
    if (status < 0 || !WIFEXITED(status))
        return iwarp_sentence_set(error, "the run in %s ended by signal %d", run->folder,
                                  status < 0 ? 0 : WTERMSIG(status));
    live->refused = WEXITSTATUS(status) == EXIT_USAGE && access(run->results, F_OK) != 0; /* not: a wrong script */
    return live->refused ? iwarp_sentence_set(error, "the run was refused") : 0;
}

/* ---- what it found ----------------------------------------------------------------------------------------------- */

static int on_journal(void *user, const struct journal *journal, json_t *object)
{
    const struct live_run *run = user;

    (void)object;
    session_listener_journal(run->listener, journal);
    return 0;
}

static int on_result(void *user, const struct result *result, json_t *object)
{
    struct live_run *run = user;

    (void)object;
    run->failed = run->failed || (result->verdict != VERDICT_PASS && result->verdict != VERDICT_SKIP);
    session_listener_result(run->listener, result);
    return 0;
}

int session_live_run(struct session_live *live, const struct session_listener *listener, struct iwarp_sentence *error)
{
    struct live_run run = {.listener = listener};
    const struct results_reader reader = {.on_journal = on_journal, .on_result = on_result, .user = &run};
    struct iwarp_sentence unread = {{0}};
    int status;

    if (name_files(live, &run, error) != 0 || write_script(&run, error) != 0)
        return -1;
    status = run_in_child(live, &run, error);
    if (access(run.results, R_OK) == 0 && results_read(run.results, &reader, &unread) != 0 && status == 0)
        status = iwarp_sentence_set(error, "%s", unread.text);
    if (run.failed && !live->trial)
        live->runs++;
    return status;
}
