/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands of the agent for devices with verbs, above the device that the fuzz target plays
 * (tests/fuzz/fake_device.h): a line of standard input is one command, a line of standard output its reply.
 */
#include "tests/fuzz/fake_device.h" /* before agent.h: this device stands for verbs and rdma_cm */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/labs/linux/agent/agent.h"

int main(void)
{
    static uint8_t scratch[4096];
    struct agent agent = {.traits = {.rev = 2, .enhanced = true, .rtr_write = true, .rtr_read = true},
                          .device = &fake_context,
                          .limits = {64, 64},
                          .cm = &fake_events,
                          .completions = &fake_completions,
                          .scratch_octets = scratch,
                          .events = json_array(),
                          .cm_events = json_array()};
    char *line = NULL;
    size_t room = 0;

    fake_device_reset();
    while (getline(&line, &room, stdin) > 0) {
        char *answer = agent_obey(&agent, line, strcspn(line, "\n"));

        if (answer == NULL || puts(answer) < 0)
            return 1;
        free(answer);
    }
    free(line);
    free(agent_obey(&agent, "{\"verb\":\"reset\"}", strlen("{\"verb\":\"reset\"}")));
    for (size_t i = 0; i < AGENT_DOMAINS; i++)
        if (agent.scratch[i] != NULL)
            (void)ibv_dereg_mr(agent.scratch[i]);
    json_decref(agent.events);
    json_decref(agent.cm_events);
    return fflush(stdout) == 0 ? 0 : 1;
}
