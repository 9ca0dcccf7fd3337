/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * warpcheck-agent, the upper tester of a Linux device, with a device that is played (fake_device.h): its control
 * connection's octets, its commands, and all that it does with verbs. The input is lines: commands, and between them
 * lines that begin with '!', of which each two characters say what the device and its peer do meanwhile: connections
 * come, open and end, work is completed, the next call but so many fails.
 *
 * Each line has one answer, a JSON object with "ok", and with "error" where that is false. What the agent took from
 * the device is given back by "reset".
 */
#include "tests/fuzz/fake_device.h" /* before agent.h: this device stands for verbs and rdma_cm */

#include <errno.h>
#include <jansson.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "conformance/labs/linux/agent/agent.h"
#include "conformance/labs/linux/agent/agent_control.h"
#include "tests/fuzz/json.h"

enum { SOCKET = 1000000, ATOMS = 128 };

static struct {
    const uint8_t *at, *end; /* what the tester sends, up to where the device has its turn */
    unsigned pieces;
    size_t lines, answers;
} tester;

/*
 * ---- the control connection -----------------------------------------------------------------------------------------
 */

ssize_t recv(int descriptor, void *octets, size_t room, int flags)
{
    static const size_t sizes[] = {1, 1000000, 7, 64, 1000000};
    size_t left = (size_t)(tester.end - tester.at), count = sizes[tester.pieces++ % (sizeof(sizes) / sizeof(sizes[0]))];

    FUZZ_HOLDS(descriptor == SOCKET && flags == 0);
    count = count < left ? count : left;
    count = count < room ? count : room;
    if (count == 0)
        return 0;
    memcpy(octets, tester.at, count);
    tester.at += count;
    return (ssize_t)count;
}

/* An answer, whole: the tester reads all. */
ssize_t send(int descriptor, const void *octets, size_t count, int flags)
{
    const char *text = octets;

    FUZZ_HOLDS(descriptor == SOCKET && flags == MSG_NOSIGNAL && count != 0);
    FUZZ_HOLDS(memchr(text, '\n', count) == text + count - 1 && fuzz_is_answer(text, count - 1));
    tester.answers++;
    return (ssize_t)count;
}

int close(int descriptor)
{
    return descriptor == SOCKET ? 0 : (int)syscall(SYS_close, descriptor);
}

static char *obey(void *context, const char *line, size_t octets)
{
    tester.lines++;
    return agent_obey(context, line, octets);
}

/*
 * ---- an agent -------------------------------------------------------------------------------------------------------
 */

static void begin(struct agent *agent)
{
    static uint8_t scratch[4096];

    fake_device_reset();
    *agent = (struct agent){.traits = {.rev = 2, .enhanced = true, .rtr_write = true, .rtr_read = true},
                            .device = &fake_context,
                            .limits = {ATOMS, ATOMS},
                            .cm = &fake_events,
                            .completions = &fake_completions,
                            .scratch_octets = scratch,
                            .events = json_array(),
                            .cm_events = json_array()};
    FUZZ_HOLDS(agent->events != NULL && agent->cm_events != NULL);
}

static void end(struct agent *agent)
{
    static const char reset[] = "{\"verb\":\"reset\"}";
    char *answer = agent_obey(agent, reset, sizeof(reset) - 1);

    FUZZ_HOLDS(answer != NULL && strstr(answer, "true") != NULL);
    free(answer);
    for (size_t i = 0; i < AGENT_DOMAINS; i++)
        if (agent->scratch[i] != NULL)
            (void)ibv_dereg_mr(agent->scratch[i]);
    json_decref(agent->events);
    json_decref(agent->cm_events);
    FUZZ_HOLDS(fake_device_held() == 0);
}

/* The octets up to the next line of the device's. */
static const uint8_t *tester_part(const uint8_t *at, const uint8_t *end_of_input)
{
    bool begins = true;

    for (; at < end_of_input && !(begins && *at == '!'); at++)
        begins = *at == '\n';
    return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char shows[] = "{\"verb\":\"token\"";
    static const struct upper_token token = {"0123456789abcdef"};
    bool demands = size >= sizeof(shows) - 1 && memcmp(data, shows, sizeof(shows) - 1) == 0;
    struct agent_control control = {.fd = SOCKET, .token = demands ? &token : NULL};
    const uint8_t *at = data, *end_of_input = data + size;
    struct agent agent;

    begin(&agent);
    memset(&tester, 0, sizeof(tester));
    while (at < end_of_input && control.fd == SOCKET) {
        tester.at = at;
        at = tester.end = tester_part(at, end_of_input);
        while (tester.at < tester.end && control.fd == SOCKET)
            agent_control_handle(&control, obey, &agent);
        for (at += at < end_of_input; end_of_input - at >= 2 && at[0] != '\n' && at[1] != '\n'; at += 2)
            fake_device_act((uint8_t)(at[0] - 'a'), at[1]);
        while (at < end_of_input && *at++ != '\n')
            continue;
        agent_handle_everything(&agent);
    }
    FUZZ_HOLDS(tester.answers >= tester.lines);
    end(&agent);
    tester.at = tester.end = NULL;
    if (control.fd == SOCKET)
        agent_control_handle(&control, obey, &agent); /* the end of the connection: it gives its memory back */
    FUZZ_HOLDS(control.fd == -1 && control.line == NULL);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    return fuzz_json_mutate(data, size, room, seed, true);
}
