/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulated rig: end A of the wire is the lower tester's link, end B a device (sim_device.h, sim_sctp.h). Nothing
 * here knows time but the world's.
 */
#include "conformance/engine/rig/rig.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/engine/device/sim_device.h"
#include "conformance/engine/device/sim_sctp.h"
#include "conformance/engine/rig/upper_tester.h"

static const uint8_t dut_mac[6] = {0x02, 0x77, 0x63, 0, 0, 0x02};
static const uint8_t own_mac[6] = {0x02, 0x77, 0x63, 0, 0, 0x03};

struct sim_rig {
    struct rig rig;
    struct sim *sim;
    struct sim_device *device; /* one of the two, by `profile` */
    struct sim_sctp *sctp_device;
    enum iwarp_sctp_profile profile;
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

static int open_tester(struct sim_rig *sim, struct iwarp_sentence *error)
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

static int open_sctp_tester(struct sim_rig *sim, struct iwarp_sentence *error)
{
    struct tester_sctp_config config = {.seed = sim->seed * 2, .rig = &sim->rig};

    memcpy(config.own_mac, own_mac, sizeof(config.own_mac));
    memcpy(config.peer_mac, dut_mac, sizeof(config.peer_mac));
    if (tester_sctp_open(&sim->rig.sctp, &config, error) != 0)
        return -1;
    rig_attach(&sim->rig, &sim->rig.sctp.tester);
    return 0;
}

static bool is_sctp(const struct sim_rig *sim)
{
    return sim->profile != IWARP_SCTP_UNDECIDED;
}

static int power_on_sctp(struct sim_rig *sim, struct iwarp_sentence *error)
{
    struct sim_sctp_config config = {.sim = sim->sim,
                                     .end = SIM_END_B,
                                     .profile = sim->profile,
                                     .own = sim->rig.dut,
                                     .peer = sim->rig.own,
                                     .defects = sim->defects};

    memcpy(config.mac, dut_mac, sizeof(config.mac));
    memcpy(config.peer_mac, own_mac, sizeof(config.peer_mac));
    sim->sctp_device = sim_sctp_new(&config, error);
    return sim->sctp_device != NULL ? upper_tester_listen(&sim->rig, sim->rig.port, error) : -1;
}

/* Power-on of the device: a new TCP, a new stack, listening. */
static int power_on(struct sim_rig *sim, struct iwarp_sentence *error)
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

static char *sim_command(struct rig *rig, const char *request, struct iwarp_sentence *error)
{
    struct sim_rig *sim = (struct sim_rig *)rig;
    char *answer =
        is_sctp(sim) ? sim_sctp_command(sim->sctp_device, request) : sim_device_command(sim->device, request);

    if (answer == NULL)
        (void)iwarp_sentence_set(error, "the simulated device ran out of memory");
    return answer;
}

static json_t *sim_answer(struct rig *rig, const json_t *request, struct iwarp_sentence *error)
{
    struct sim_rig *sim = (struct sim_rig *)rig;
    json_t *answer =
        is_sctp(sim) ? sim_sctp_answer(sim->sctp_device, request) : sim_device_answer(sim->device, request);

    if (answer == NULL)
        (void)iwarp_sentence_set(error, "the simulated device ran out of memory");
    return answer;
}

static int sim_reset_dut(struct rig *rig, struct iwarp_sentence *error)
{
    struct sim_rig *sim = (struct sim_rig *)rig;

    if (is_sctp(sim)) {
        sim_sctp_free(sim->sctp_device);
        return power_on_sctp(sim, error);
    }
    sim_device_free(sim->device);
    return power_on(sim, error);
}

static void sim_rig_free(struct rig *rig)
{
    struct sim_rig *sim = (struct sim_rig *)rig;

    sim_device_free(sim->device);
    sim_sctp_free(sim->sctp_device);
    tester_cm_close(&rig->cm);
    tester_tcp_close(&rig->tcp);
    tester_sctp_close(&rig->sctp);
    sim_free(sim->sim);
    free(sim);
}

static const struct rig_ops sim_rig_ops = {
    .command = sim_command, .answer = sim_answer, .reset = sim_reset_dut, .free = sim_rig_free};

struct rig *rig_sim_new(const struct rig_sim_config *config, struct iwarp_sentence *error)
{
    struct sim_rig *sim = calloc(1, sizeof(*sim));
    struct sim_config world = {.seed = config->seed};

    if (sim == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for a simulated rig");
        return NULL;
    }
    sim->rig.ops = &sim_rig_ops;
    sim->rig.simulated = true;
    sim->rig.upper_tester = true;
    sim->rig.port = RIG_PORT;
    sim->seed = config->seed;
    sim->profile = sim->rig.llp = config->sctp;
    sim->rig.send_buffer = config->sctp == IWARP_SCTP_UNDECIDED ? SIM_DEVICE_SEND_ROOM : SIM_SCTP_SEND_ROOM;
    sim->defects = config->defects;
    sim->resets_every = config->resets_every;
    (void)net_address_parse(&sim->rig.dut, config->ipv6 ? "fd77::2" : "10.77.0.2");
    (void)net_address_parse(&sim->rig.own, config->ipv6 ? "fd77::3" : "10.77.0.3");
    sim->sim = sim_new(&world);
    if (sim->sim == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for a simulated wire");
        goto failed;
    }
    sim->rig.link = sim_link(sim->sim);
    if (is_sctp(sim) ? open_sctp_tester(sim, error) != 0 || power_on_sctp(sim, error) != 0
                     : open_tester(sim, error) != 0 || power_on(sim, error) != 0)
        goto failed;
    sim->rig.upper_tester = !config->no_upper_tester;
    sim->rig.starts_initiator = config->starts_initiator;
    return &sim->rig;

failed:
    sim_rig_free(&sim->rig);
    return NULL;
}
