/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulated rig: end A of the wire is the lower tester's link, end B a device (sim_device.h). Nothing here knows time
 * but the world's.
 */
#include "conformance/engine/rig/rig.h"

#include <stdlib.h>
#include <string.h>

#include "conformance/engine/rig/sim_device.h"
#include "conformance/engine/rig/upper_tester.h"

static const uint8_t dut_mac[6] = {0x02, 0x77, 0x63, 0, 0, 0x02};
static const uint8_t own_mac[6] = {0x02, 0x77, 0x63, 0, 0, 0x03};

struct sim_rig {
    struct rig rig;
    struct sim *sim;
    struct sim_device *device;
    const struct defect_set *defects;
    uint64_t seed;
    unsigned resets_every;
    unsigned generation; /* counts resets, for the device's ISS and ports */
};

static void emit_from_tester(void *context, const uint8_t *frame, size_t octets)
{
    struct sim_rig *sim = context;

    (void)link_send(sim->rig.link, frame, octets);
}

static int open_tester(struct sim_rig *sim, struct sentence *error)
{
    struct tcp_stack_config config = {
        .seed = sim->seed * 2, .now = sim_now(sim->sim), .emit = emit_from_tester, .context = sim};

    memcpy(config.mac, own_mac, sizeof(config.mac));
    (void)net_address_parse(&config.ipv4, "10.77.0.3");
    (void)net_address_parse(&config.ipv6, "fd77::3");
    if (tester_tcp_open(&sim->rig.tcp, &config, error) != 0)
        return -1;
    rig_attach(&sim->rig, &sim->rig.tcp.tester);
    return tester_cm_open(&sim->rig.cm, &sim->rig, own_mac, sim->seed * 2, error);
}

/* Power-on of the device: a new TCP, a new stack, listening. */
static int power_on(struct sim_rig *sim, struct sentence *error)
{
    struct sim_device_config config = {.sim = sim->sim,
                                       .end = SIM_END_B,
                                       .ipv4 = "10.77.0.2",
                                       .ipv6 = "fd77::2",
                                       .port = sim->rig.port,
                                       .defects = sim->defects,
                                       .resets_every = sim->resets_every};

    sim->generation++;
    config.seed = sim->seed * 2 + 1 + sim->generation * UINT64_C(0x9E3779B97F4A7C15);
    memcpy(config.mac, dut_mac, sizeof(config.mac));
    sim->device = sim_device_new(&config, error);
    return sim->device != NULL ? upper_tester_listen(&sim->rig, sim->rig.port, error) : -1;
}

static char *sim_command(struct rig *rig, const char *request, struct sentence *error)
{
    struct sim_rig *sim = (struct sim_rig *)rig;
    char *answer = sim_device_command(sim->device, request);

    if (answer == NULL)
        (void)sentence_set(error, "the simulated device ran out of memory");
    return answer;
}

static int sim_reset_dut(struct rig *rig, struct sentence *error)
{
    struct sim_rig *sim = (struct sim_rig *)rig;

    sim_device_free(sim->device);
    return power_on(sim, error);
}

static void sim_rig_free(struct rig *rig)
{
    struct sim_rig *sim = (struct sim_rig *)rig;

    sim_device_free(sim->device);
    tester_cm_close(&rig->cm);
    tester_tcp_close(&rig->tcp);
    sim_free(sim->sim);
    free(sim);
}

static const struct rig_ops sim_rig_ops = {.command = sim_command, .reset = sim_reset_dut, .free = sim_rig_free};

struct rig *rig_sim_new(const struct rig_sim_config *config, struct sentence *error)
{
    struct sim_rig *sim = calloc(1, sizeof(*sim));
    struct sim_config world = {.seed = config->seed};

    if (sim == NULL) {
        (void)sentence_set(error, "out of memory for a simulated rig");
        return NULL;
    }
    sim->rig.ops = &sim_rig_ops;
    sim->rig.simulated = true;
    sim->rig.upper_tester = true;
    sim->rig.port = RIG_PORT;
    sim->seed = config->seed;
    sim->defects = config->defects;
    sim->resets_every = config->resets_every;
    (void)net_address_parse(&sim->rig.dut, config->ipv6 ? "fd77::2" : "10.77.0.2");
    (void)net_address_parse(&sim->rig.own, config->ipv6 ? "fd77::3" : "10.77.0.3");
    sim->sim = sim_new(&world);
    if (sim->sim == NULL) {
        (void)sentence_set(error, "out of memory for a simulated wire");
        goto failed;
    }
    sim->rig.link = sim_link(sim->sim);
    if (open_tester(sim, error) != 0 || power_on(sim, error) != 0)
        goto failed;
    sim->rig.upper_tester = !config->no_upper_tester;
    return &sim->rig;

failed:
    sim_rig_free(&sim->rig);
    return NULL;
}
