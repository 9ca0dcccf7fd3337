/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/engine/rig/device_keeper.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "conformance/engine/process/run_stop.h"

#define SECOND      UINT64_C(1000000000)
#define MILLISECOND UINT64_C(1000000)

enum {
    WAIT_SECONDS = 10, /* for a device that is started, where the profile says nothing */
    FIRST_PAUSE = 20,  /* milliseconds between two attempts; the next one is longer */
    LONGEST_PAUSE = 1000,
    END_PATIENCE = 500, /* milliseconds: the end of a process comes after that of its connections */
    LOOK_SECONDS = 5,   /* a device that nobody waits for, and that refuses so long, is not there any more */
};

void device_keeper_init(struct device_keeper *keeper, struct device_command *commands, unsigned wait_seconds)
{
    memset(keeper, 0, sizeof(*keeper));
    keeper->commands = commands;
    keeper->wait_ns = (wait_seconds != 0 ? wait_seconds : WAIT_SECONDS) * SECOND;
    keeper->waits = wait_seconds != 0 || device_command_has(commands, DEVICE_RESTART);
    (void)snprintf(keeper->label, sizeof(keeper->label), "run");
}

bool device_keeper_waits(const struct rig *rig)
{
    return rig->keeper != NULL && rig->keeper->waits;
}

bool device_keeper_starts_initiator(const struct rig *rig)
{
    return rig->starts_initiator || (rig->keeper != NULL && device_command_has(rig->keeper->commands, DEVICE_CONNECT));
}

void device_keeper_begin(struct device_keeper *keeper, const char *label)
{
    (void)snprintf(keeper->label, sizeof(keeper->label), "%s", label);
    keeper->stimulated = false;
    keeper->death.text[0] = '\0';
}

static bool restarts(const struct device_keeper *keeper)
{
    return device_command_has(keeper->commands, DEVICE_RESTART);
}

/*
 * How the device's own process has ended, with the patience that its end may need. False: it runs, or nobody knows it.
 */
static bool process_ended(struct device_keeper *keeper, int patience_ms, struct device_command_state *state)
{
    if (!keeper->is_device)
        return false;
    *state = device_command_state(keeper->commands, DEVICE_RESTART, patience_ms);
    return state->ended;
}

/* A death is a finding when the device crashed, or when it is none that ends after each connection. */
static void note_death(struct rig *rig, int patience_ms, const char *why)
{
    struct device_keeper *keeper = rig->keeper;
    struct device_command_state state = {0};
    bool ended = process_ended(keeper, patience_ms, &state);
    char text[80];

    /*
     * A device that exits with status 0 serves one connection. So does a device that exits with any status after a
     * connection without a stimulus. It may need time to exit.
     */
    if (ended && WIFEXITED(state.status) && (WEXITSTATUS(state.status) == 0 || !keeper->stimulated))
        keeper->serves_one = true;
    if (!keeper->stimulated || keeper->death.text[0] != '\0' ||
        (keeper->serves_one && !(ended && WIFSIGNALED(state.status))))
        return;
    keeper->death_ns = rig_now(rig);
    if (ended)
        (void)iwarp_sentence_set(&keeper->death, "its process ended with %s",
                                 device_command_end_text(state.status, text, sizeof(text)));
    else
        (void)iwarp_sentence_set(&keeper->death, "it accepts no %s any more (%.200s)",
                                 rig->llp == IWARP_SCTP_UNDECIDED ? "TCP connection" : "SCTP association", why);
}

static int start(struct rig *rig, struct iwarp_sentence *error)
{
    struct device_keeper *keeper = rig->keeper;
    char address[64];
    struct device_command_start what = {.which = DEVICE_RESTART,
                                        .address = net_address_format(&rig->dut, address, sizeof(address)),
                                        .port = rig->port,
                                        .label = keeper->label};

    keeper->is_device = false;
    keeper->stimulated = false;
    keeper->fresh = true;
    keeper->restarts += keeper->accepted_connection;
    return device_command_start(keeper->commands, &what, error);
}

void device_keeper_control_refused(struct rig *rig)
{
    struct device_keeper *keeper = rig->keeper;
    struct device_command_state state;
    struct iwarp_sentence ignored; /* the command then gets no answer, which is reported */

    if (keeper == NULL || !restarts(keeper) || keeper->fresh)
        return;
    if (process_ended(keeper, END_PATIENCE, &state))
        note_death(rig, 0, "");
    (void)start(rig, &ignored);
}

void device_keeper_before(struct rig *rig)
{
    struct device_keeper *keeper = rig->keeper;
    struct device_command_state state;
    struct iwarp_sentence ignored; /* the connection is then refused, which is reported */

    if (keeper == NULL || !restarts(keeper) || keeper->deadline_ns != 0)
        return;
    if (keeper->serves_one && !keeper->fresh) {
        note_death(rig, END_PATIENCE, "");
        (void)start(rig, &ignored);
    } else if (process_ended(keeper, 0, &state)) {
        note_death(rig, 0, "");
        (void)start(rig, &ignored);
    }
}

void device_keeper_accepted(struct rig *rig, bool stimulating)
{
    struct device_keeper *keeper = rig->keeper;

    if (keeper == NULL)
        return;
    keeper->deadline_ns = 0;
    keeper->fresh = false;
    keeper->accepted_connection = true;
    keeper->absent.text[0] = '\0';
    keeper->stimulated = keeper->stimulated || stimulating;
    keeper->tried = keeper->tried || stimulating;
    if (restarts(keeper) && !keeper->is_device)
        keeper->is_device = device_command_state(keeper->commands, DEVICE_RESTART, 0).running;
}

void device_keeper_stimulated(struct rig *rig)
{
    if (rig->keeper != NULL && rig->stimulating)
        rig->keeper->stimulated = rig->keeper->tried = true;
}

/*
 * Does nobody answer at the upper tester either? A device that restart_command starts has a process of its own, or says
 * how it ended; of another nobody knows whose listener it was that has gone.
 */
static bool upper_tester_gone(struct rig *rig)
{
    struct iwarp_sentence ignored;
    char *answer;

    if (!rig->upper_tester || restarts(rig->keeper))
        return false;
    answer = rig->gone.text[0] == '\0' ? rig->ops->command(rig, "{\"verb\":\"capabilities\"}", &ignored) : NULL;
    free(answer);
    return answer == NULL;
}

/* The first refusal of several: the device is started again. */
static bool begin_waiting(struct rig *rig, const char *why)
{
    struct device_keeper *keeper = rig->keeper;
    struct iwarp_sentence error;

    /* Nothing but connections has come to it so far: somebody starts it anew after each. */
    if (keeper->accepted_connection && !keeper->tried && !restarts(keeper))
        keeper->serves_one = true;
    if (rig->one_program || !upper_tester_gone(rig))
        note_death(rig, END_PATIENCE, why);
    keeper->lost_ns = rig_now(rig);
    keeper->deadline_ns = keeper->lost_ns + keeper->wait_ns;
    keeper->pause_ns = FIRST_PAUSE * MILLISECOND;
    if (!restarts(keeper) || keeper->fresh || start(rig, &error) == 0)
        return true;
    (void)iwarp_sentence_set(&keeper->lost, "the device is lost: %.400s", error.text);
    return false;
}

bool device_keeper_refused(struct rig *rig, const char *why)
{
    struct device_keeper *keeper = rig->keeper;

    if (keeper == NULL || !keeper->waits || keeper->lost.text[0] != '\0')
        return false;
    if (keeper->deadline_ns == 0 && !begin_waiting(rig, why))
        return false;
    if (run_stopped())
        return false;
    if (rig_now(rig) + keeper->pause_ns > keeper->deadline_ns) {
        (void)iwarp_sentence_set(&keeper->lost, "the device is lost: it accepts no TCP connection for %u s (%.200s)%s",
                                 (unsigned)(keeper->wait_ns / SECOND), why,
                                 restarts(keeper) ? ", although restart_command was run" : "");
        return false;
    }
    if (rig_pass(rig, keeper->pause_ns) != 0)
        return false;
    keeper->pause_ns =
        keeper->pause_ns * 2 < LONGEST_PAUSE * MILLISECOND ? keeper->pause_ns * 2 : LONGEST_PAUSE * MILLISECOND;
    return true;
}

bool device_keeper_one(struct rig *rig)
{
    struct device_keeper *keeper = rig->keeper;
    struct device_command_state state;

    if (keeper == NULL || !process_ended(keeper, END_PATIENCE, &state))
        return false;
    keeper->serves_one = !WIFSIGNALED(state.status);
    return keeper->serves_one;
}

/*
 * Does the device accept an exchange? If not, the upper tester is asked once to make it listen. On false, `exchange` is
 * the last exchange and `why` the reason.
 */
static bool is_there(struct rig *rig, struct tester_exchange *exchange, struct iwarp_sentence *why)
{
    uint64_t limit = rig_now(rig) + LOOK_SECONDS * SECOND, pause = FIRST_PAUSE * MILLISECOND;
    bool asked = !rig->upper_tester || rig->ops->reset == NULL;
    struct iwarp_sentence ignored;

    while (rig_ask(rig, exchange, why) != 0) {
        if (!asked) {
            asked = true;
            (void)rig->ops->reset(rig, &ignored);
            continue;
        }
        if (run_stopped() || rig_now(rig) + pause > limit || rig_pass(rig, pause) != 0)
            return false;
        pause = pause * 2 < LONGEST_PAUSE * MILLISECOND ? pause * 2 : LONGEST_PAUSE * MILLISECOND;
    }
    return true;
}

/* Nobody asked for a lost device to be waited for, and the check has not shown that the device is there. */
static void look_for_it(struct rig *rig)
{
    struct device_keeper *keeper = rig->keeper;
    unsigned losses = rig->losses;
    struct tester_exchange exchange;
    struct iwarp_sentence why;
    bool alone;

    if (rig->only_opens || rig->failure.text[0] != '\0' || is_there(rig, &exchange, &why) || run_stopped())
        return;
    (void)iwarp_sentence_set(&keeper->absent, "%.300s", why.text);
    alone = rig->losses == losses && rig->gone.text[0] == '\0';
    if (!exchange.refused || (!alone && !rig->one_program))
        return;
    keeper->death_ns = rig_now(rig);
    (void)iwarp_sentence_set(&keeper->death, "it accepts no %s any more, for %d s (%.200s)%s",
                             rig->llp == IWARP_SCTP_UNDECIDED ? "TCP connection" : "SCTP association", LOOK_SECONDS,
                             why.text,
                             alone ? "" : ", and its upper tester, which is the same program, is gone as well");
}

void device_keeper_end(struct rig *rig, bool good_exchange)
{
    struct device_keeper *keeper = rig->keeper;
    struct device_command_state state;

    if (device_command_has(keeper->commands, DEVICE_CONNECT)) {
        state = device_command_state(keeper->commands, DEVICE_CONNECT, 0);
        if (state.ended && WIFSIGNALED(state.status)) {
            char text[80];

            keeper->death_ns = rig_now(rig);
            (void)iwarp_sentence_set(&keeper->death, "the process of connect_command ended with %s",
                                     device_command_end_text(state.status, text, sizeof(text)));
        }
        device_command_stop(keeper->commands, DEVICE_CONNECT);
    }
    if (!keeper->stimulated)
        return;
    if (!keeper->waits) {
        if (!good_exchange)
            look_for_it(rig);
    } else if (!keeper->serves_one && !good_exchange) {
        struct tester_exchange exchange;
        struct iwarp_sentence ignored;

        (void)rig_ask(rig, &exchange, &ignored); /* by a connection: a refusal ends in device_keeper_refused() */
    } else if (process_ended(keeper, keeper->serves_one ? END_PATIENCE : 0, &state)) {
        note_death(rig, 0, "");
    }
    keeper->stimulated = false;
}

/* Asks the simulated device. Returns the stream of the answer, 0 where there is none; -1 with a sentence. */
static int ask_simulated(struct rig *rig, const char *request, struct iwarp_sentence *error)
{
    char *answer = rig->ops->command(rig, request, error);
    json_t *json = answer != NULL ? json_loads(answer, 0, NULL) : NULL;
    int stream = (int)json_integer_value(json_object_get(json, "stream"));

    json_decref(json);
    free(answer);
    return answer != NULL ? stream : -1;
}

/* A connect_command's program opens one connection. The one before it has ended by then. */
static int connect_simulated(struct rig *rig, uint16_t port, struct iwarp_sentence *error)
{
    char address[64], request[192];
    int stream;

    (void)snprintf(request, sizeof(request), "{\"verb\":\"abort\",\"stream\":%u}", rig->started_stream);
    if (rig->started_stream != 0 && ask_simulated(rig, request, error) < 0)
        return -1;
    (void)snprintf(request, sizeof(request), "{\"verb\":\"connect\",\"rev\":1,\"address\":\"%s\",\"port\":%u}",
                   net_address_format(&rig->own, address, sizeof(address)), port);
    stream = ask_simulated(rig, request, error);
    rig->started_stream = stream > 0 ? (unsigned)stream : 0;
    return stream < 0 ? -1 : 0;
}

int device_keeper_connected(struct rig *rig, struct iwarp_sentence *error)
{
    char request[96];

    (void)snprintf(request, sizeof(request), "{\"verb\":\"send\",\"stream\":%u,\"data\":\"6669727374\"}",
                   rig->started_stream);
    return rig->starts_initiator && ask_simulated(rig, request, error) < 0 ? -1 : 0;
}

int device_keeper_connect(struct rig *rig, uint16_t port, struct iwarp_sentence *error)
{
    char address[64];
    struct device_command_start what = {.which = DEVICE_CONNECT, .port = port};

    if (rig->starts_initiator)
        return connect_simulated(rig, port, error);
    what.address = net_address_format(&rig->own, address, sizeof(address));
    what.label = rig->keeper->label;
    return device_command_start(rig->keeper->commands, &what, error);
}
