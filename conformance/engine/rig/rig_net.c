/* SPDX-License-Identifier: BSD-2-Clause */
/* Live rigs: the tester's TCP on a real interface, and an upper tester at the end of a control connection. */
#define _GNU_SOURCE
#include <jansson.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/engine/device/control.h"
#include "conformance/engine/ipsec/ipsec_tester.h"
#include "conformance/engine/rig/device_keeper.h"
#include "conformance/engine/profile/profile.h"
#include "conformance/engine/rig/rig.h"
#include "conformance/engine/rig/upper_tester.h"
#include "generator/link/link_net.h"
#include "generator/link/netns.h"

enum {
    CONTROL_MILLISECONDS = 10000, /* what an upper tester has to be there */
    CONTROL_PORT = 7471,          /* of the embedded device, on the namespace's loopback */
    RESETS_MAX = 3,               /* attempts to make the device new */
    ARGUMENTS_MAX = 256,
};

/*
 * The device shares this machine's processors with the tester, with other checks of the run, and with other programs.
 */
#define EMBEDDED_PATIENCE (6 * UINT64_C(1000000000))

struct net_rig {
    struct rig rig;
    struct device_keeper keeper;
    struct control *control;   /* to the upper tester, NULL: there is none */
    pid_t device;              /* the embedded device's process, 0: none */
    struct iwarp_sentence end; /* how it ended, once it has */
    json_int_t shortages;      /* allocations that have failed in it, when it was last asked */
    uint64_t looked_ns;        /* when keep_up() has taken what had come on the wire */
};

/* The longest time that the tester answers no frame because the upper tester is busy. */
#define LOOK_AWAY UINT64_C(200000000)

/*
 * The tester's endpoints see what has come, and their timers: TCP and SCTP of a device that sends while its upper
 * tester is asked get their acknowledgements, above all to probes of a window that is shut.
 */
static void keep_up(void *context)
{
    enum { FRAMES_MOST = 1000 };
    struct net_rig *net = context;

    for (int i = 0; i < FRAMES_MOST && rig_pump(&net->rig, link_now(net->rig.link)) > 0; i++) {
    }
    net->looked_ns = link_now(net->rig.link);
}

static void emit(void *context, const uint8_t *frame, size_t octets)
{
    struct net_rig *net = context;

    if (link_send(net->rig.link, frame, octets) != 0)
        net->rig.failure = net->rig.link->error;
}

/* Does somebody else end a process by this signal: a person, or a system without memory? */
static bool is_sent(int signal)
{
    return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

/* The embedded device's own process has ended: there is nothing to wait for. */
static bool died(void *context, struct iwarp_sentence *why)
{
    struct net_rig *net = context;
    int ended;

    if (net->device == 0 || waitpid(net->device, &ended, WNOHANG) != net->device) {
        if (net->end.text[0] != '\0')
            *why = net->end;
        return net->end.text[0] != '\0';
    }
    net->device = 0;
    net->rig.crashed = !WIFSIGNALED(ended) || !is_sent(WTERMSIG(ended));
    (void)iwarp_sentence_set(&net->end, "the device's process ended (%s %d)",
                             WIFSIGNALED(ended) ? "signal" : "exit status",
                             WIFSIGNALED(ended) ? WTERMSIG(ended) : WEXITSTATUS(ended));
    *why = net->end;
    return true;
}

static void refused(void *context)
{
    struct net_rig *net = context;

    device_keeper_control_refused(&net->rig);
}

/* Copies to the rig what control_call() has found out about the upper tester. */
static char *net_command(struct rig *rig, const char *request, struct iwarp_sentence *error)
{
    struct net_rig *net = (struct net_rig *)rig;
    char *answer;

    if (net->control == NULL) {
        (void)iwarp_sentence_set(error, "the device has no upper tester");
        return NULL;
    }
    if (link_now(rig->link) - net->looked_ns >= LOOK_AWAY)
        keep_up(net);
    answer = control_call(net->control, request, error);
    rig->losses = control_losses(net->control);
    if (control_gone(net->control) != NULL)
        (void)iwarp_sentence_set(&rig->gone, "%s", control_gone(net->control));
    return answer;
}

static int reset_once(struct rig *rig, struct iwarp_sentence *error)
{
    json_t *request = json_pack("{s:s}", "verb", "reset");
    json_t *answer = upper_tester_call(rig, request, error);
    int status = answer != NULL ? upper_tester_listen(rig, rig->port, error) : -1;

    json_decref(request);
    json_decref(answer);
    return status;
}

/*
 * Nothing is lost by asking again here: an upper tester that was slow, or has been started again, continues with the
 * next check.
 */
static int net_reset(struct rig *rig, struct iwarp_sentence *error)
{
    for (int i = 1;; i++) {
        unsigned losses = rig->losses;

        if (reset_once(rig, error) == 0)
            return 0;
        if (rig->losses == losses || rig->gone.text[0] != '\0')
            return -1;
        if (i == RESETS_MAX) {
            rig->gone = *error;
            return -1;
        }
    }
}

/* How many allocations have failed in the device so far, by its answer. */
static json_int_t shortages(const char *answer)
{
    json_t *reply = json_loads(answer, 0, NULL);
    json_int_t count = json_integer_value(json_object_get(reply, "out_of_memory"));

    json_decref(reply);
    return count;
}

/*
 * The kernel closes a process's connections before it reports the process's end, and a check may have been faster. So
 * the upper tester, which is the same process, is asked: if no answer comes, the process has ended.
 */
static bool net_impaired(struct rig *rig, struct iwarp_sentence *why)
{
    struct net_rig *net = (struct net_rig *)rig;
    struct iwarp_sentence unanswered;
    json_int_t before = net->shortages;
    char *answer;

    if (net->device == 0 && net->end.text[0] == '\0')
        return false;
    answer = net->end.text[0] == '\0' ? net_command(rig, "{\"verb\":\"poll\"}", &unanswered) : NULL;
    if (died(net, why))
        return true;
    if (answer == NULL) {
        *why = unanswered;
        return true;
    }
    net->shortages = shortages(answer);
    free(answer);
    (void)iwarp_sentence_set(why, "the device's process is out of memory");
    return net->shortages > before;
}

static void net_free(struct rig *rig)
{
    struct net_rig *net = (struct net_rig *)rig;

    control_free(net->control);
    if (net->device > 0) {
        kill(net->device, SIGKILL);
        (void)waitpid(net->device, NULL, 0);
    }
    tester_cm_close(&rig->cm);
    tester_sctp_close(&rig->sctp);
    tester_tcp_close(&rig->tcp);
    link_close(rig->link);
    ipsec_tester_free(rig->ipsec);
    free(net);
}

static uint64_t net_dropped(struct rig *rig)
{
    return link_net_dropped(rig->link);
}

static bool net_link_down(struct rig *rig)
{
    return link_net_is_down(rig->link);
}

static const struct rig_ops net_rig_ops = {.command = net_command,
                                           .reset = net_reset,
                                           .free = net_free,
                                           .dropped = net_dropped,
                                           .impaired = net_impaired,
                                           .link_down = net_link_down};

static struct net_rig *net_rig_new(struct iwarp_sentence *error)
{
    struct net_rig *net = calloc(1, sizeof(*net));

    if (net == NULL) {
        (void)iwarp_sentence_set(error, "out of memory for a rig");
        return NULL;
    }
    net->rig.ops = &net_rig_ops;
    return net;
}

/* The tester's ends of the wire: what a device under test is reached through. */
struct net_wire {
    const char *interface;
    const uint8_t *mac; /* 6 octets */
    uint64_t seed;
    enum iwarp_sctp_profile sctp; /* UNDECIDED: the device's DDP is over MPA and TCP */
    uint16_t dut_udp_port;        /* of SCTP in UDP; 0: it is over IP */
    struct net_address gateway;   /* the router before the device; family 0: none */
};

/* What asks the device from then on is SCTP; TCP remains for ARP and neighbour discovery. */
static int open_sctp(struct net_rig *net, const struct net_wire *wire, uint64_t seed, struct iwarp_sentence *error)
{
    struct tester_sctp_config config = {.seed = seed, .rig = &net->rig, .dut_udp_port = wire->dut_udp_port};

    if (wire->dut_udp_port != 0)
        config.own_udp_port = SCTP_UDP_PORT;
    memcpy(config.own_mac, link_net_mac(net->rig.link), sizeof(config.own_mac));
    if (tester_sctp_open(&net->rig.sctp, &config, error) != 0)
        return -1;
    rig_attach(&net->rig, &net->rig.sctp.tester);
    net->rig.measures = &net->rig.sctp.tester;
    net->rig.llp = wire->sctp;
    return 0;
}

/* Link and TCP for an address that the kernel does not own; and SCTP, or CM. */
static int open_wire(struct net_rig *net, const struct net_wire *wire, struct iwarp_sentence *error)
{
    struct link_net_config link = {.interface = wire->interface};
    uint64_t seed = wire->seed;
    struct tcp_stack_config tcp = {.seed = seed, .emit = emit, .context = net};

    memcpy(link.mac, wire->mac, sizeof(link.mac));
    if (net->rig.own.family == 4)
        link.ipv4 = net->rig.own;
    else
        link.ipv6 = net->rig.own;
    net->rig.link = link_net_open(&link, error);
    if (net->rig.link == NULL)
        return -1;
    memcpy(tcp.mac, link_net_mac(net->rig.link), sizeof(tcp.mac));
    tcp.ipv4 = link.ipv4;
    tcp.ipv6 = link.ipv6;
    if (wire->gateway.family == 4)
        tcp.next_hop_ipv4 = wire->gateway;
    else
        tcp.next_hop_ipv6 = wire->gateway;
    tcp.now = link_now(net->rig.link);
    if (tester_tcp_open(&net->rig.tcp, &tcp, error) != 0)
        return -1;
    rig_attach(&net->rig, &net->rig.tcp.tester);
    /* No two runs have the same tags and Communication IDs: a device remembers them for a while. */
    if (wire->sctp != IWARP_SCTP_UNDECIDED)
        return open_sctp(net, wire, seed ^ tcp.now, error);
    return tester_cm_open(&net->rig.cm, &net->rig, tcp.mac, seed ^ link_now(net->rig.link), error);
}

static int connect_control(struct net_rig *net, const struct net_address *address, uint16_t port,
                           const struct upper_token *token, struct iwarp_sentence *error)
{
    uint64_t wait_ms = net->keeper.wait_ns / 1000000;
    struct control_config config = {
        .address = *address,
        .port = port,
        .answer_ms = control_answer_ms((unsigned)(net->rig.reaction_least_ns / UINT64_C(1000000000))),
        .token = token,
        .ended = died,
        .refused = refused,
        .waiting = keep_up,
        .context = net};

    if (wait_ms > CONTROL_MILLISECONDS) /* the upper tester may be lost along with the device */
        config.connect_ms = (int)wait_ms;

    net->control = control_new(&config, error);
    net->rig.upper_tester = net->control != NULL;
    return net->control != NULL ? 0 : -1;
}

/* The device is this very program, as `warpcheck peer`, on the namespace's kernel TCP. */
static int start_device(struct net_rig *net, const struct rig_embedded_config *config, struct iwarp_sentence *error)
{
    const char *arguments[ARGUMENTS_MAX + 16] = {config->program, "peer", "--control"};
    char control[16];
    size_t count = 3;
    pid_t parent = getpid();

    if (config->defect_count + config->variant_count > ARGUMENTS_MAX / 2)
        return iwarp_sentence_set(error, "more than %d defects and variants at once", ARGUMENTS_MAX / 2);
    (void)snprintf(control, sizeof(control), "%d", CONTROL_PORT);
    arguments[count++] = control;
    if (config->ipv6)
        arguments[count++] = "--ipv6";
    if (config->sctp != IWARP_SCTP_UNDECIDED) {
        arguments[count++] = "--llp";
        arguments[count++] = "sctp";
        arguments[count++] = "--sctp-profile";
        arguments[count++] = config->sctp == IWARP_SCTP_DRAFT02 ? "draft02" : "rfc5043";
    }
    for (size_t i = 0; i < config->defect_count; i++) {
        arguments[count++] = "--defect";
        arguments[count++] = config->defects[i];
    }
    for (size_t i = 0; i < config->variant_count; i++) {
        arguments[count++] = "--variant";
        arguments[count++] = config->variants[i];
    }
    if (config->choices != NULL) {
        arguments[count++] = "--choices";
        arguments[count++] = config->choices;
    }
    (void)fflush(NULL);
    net->device = fork();
    if (net->device < 0) {
        net->device = 0;
        return iwarp_sentence_set(error, "cannot start the device: %s", strerror(errno));
    }
    if (net->device == 0) {
        struct iwarp_sentence why;

        /* A change of the user takes the signal of the parent's end back: that one comes first. */
        if (run_identity_become(&config->identity, &why) != 0 || confine_privileges(0, &why) != 0)
            _exit(127);
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(127);
        (void)setpgid(0,
                      0); /* Ctrl-C in a terminal is for the tester, which ends the device when it has what it needs */
        if (freopen("/dev/null", "w", stdout) == NULL) /* the run's stdout is for results alone */
            _exit(127);
        execv(config->program, (char *const *)arguments);
        _exit(127);
    }
    return 0;
}

struct rig *rig_embedded_new(const struct rig_embedded_config *config, struct iwarp_sentence *error)
{
    static const uint8_t mac[6] = NETNS_TESTER_MAC;
    struct net_rig *net = net_rig_new(error);
    const struct net_wire wire = {.interface = NETNS_TESTER_INTERFACE,
                                  .mac = mac,
                                  .seed = config->seed,
                                  .sctp = config->sctp,
                                  .dut_udp_port = SCTP_UDP_PORT};
    struct net_address loopback;

    if (net == NULL)
        return NULL;
    net->rig.port = RIG_PORT;
    net->rig.patience_ns = EMBEDDED_PATIENCE;
    (void)net_address_parse(&net->rig.dut, config->ipv6 ? NETNS_KERNEL_IPV6 : NETNS_KERNEL_IPV4);
    (void)net_address_parse(&net->rig.own, config->ipv6 ? NETNS_TESTER_IPV6 : NETNS_TESTER_IPV4);
    (void)net_address_parse(&loopback, "127.0.0.1");
    if (netns_enter(NULL, error) != 0 || open_wire(net, &wire, error) != 0 || start_device(net, config, error) != 0 ||
        config->lock.lock(config->lock.context, error) != 0 ||
        connect_control(net, &loopback, CONTROL_PORT, NULL, error) != 0 ||
        upper_tester_listen(&net->rig, net->rig.port, error) != 0) {
        net_free(&net->rig);
        return NULL;
    }
    return &net->rig;
}

/* With IPsec the lower tester is behind the tester's IKE and ESP, which forward to the device. */
static int open_ipsec(struct net_rig *net, const struct profile *profile, struct net_wire *wire,
                      struct iwarp_sentence *error)
{
    const struct ipsec_tester_config config = {.settings = &profile->ipsec,
                                               .interface = profile->interface,
                                               .own = net->rig.own,
                                               .device = net->rig.dut,
                                               .gateway = profile->gateway};

    if (!profile->ipsec.given)
        return 0;
    net->rig.ipsec = ipsec_tester_new(&config, error);
    if (net->rig.ipsec == NULL)
        return -1;
    wire->interface = ipsec_tester_interface(net->rig.ipsec);
    wire->gateway = (struct net_address){0};
    return 0;
}

/* Does the device end with its upper tester? Only the upper tester can say so: what it leaves out is unknown. */
static int ask_for_ties(struct rig *rig, struct iwarp_sentence *error)
{
    json_t *request = json_pack("{s:s}", "verb", "capabilities");
    json_t *answer = upper_tester_call(rig, request, error);
    int status = answer != NULL ? 0 : -1;

    rig->one_program = json_is_true(json_object_get(answer, "one_program"));
    json_decref(request);
    json_decref(answer);
    return status;
}

struct rig *rig_profile_new(const struct profile *profile, const struct profile_place *place,
                            struct device_command *commands, uint64_t seed, const struct rig_lock *lock,
                            struct iwarp_sentence *error)
{
    struct net_rig *net = net_rig_new(error);
    struct net_wire wire = {.interface = profile->interface,
                            .mac = place->own_mac,
                            .seed = seed,
                            .sctp = profile->sctp,
                            .dut_udp_port = profile->udp_port,
                            .gateway = profile->gateway};

    if (net == NULL)
        return NULL;
    net->rig.port = place->port;
    net->rig.dut = profile->address;
    net->rig.own = place->own_address;
    net->rig.tester_apart = place->control.family != 0;
    net->rig.reaction_least_ns = UINT64_C(1000000000) * profile->reaction_seconds;
    net->rig.send_buffer = profile->send_buffer;
    /* Side by side nobody could say which of the checks lost the device. */
    if (place == &profile->place) {
        device_keeper_init(&net->keeper, commands, profile->wait_for_device);
        net->rig.keeper = &net->keeper;
    }
    if (open_ipsec(net, profile, &wire, error) != 0 || open_wire(net, &wire, error) != 0 ||
        lock->lock(lock->context, error) != 0 ||
        (place->control.family != 0 &&
         (connect_control(net, &place->control, place->control_port, &profile->token, error) != 0 ||
          net_reset(&net->rig, error) != 0 || ask_for_ties(&net->rig, error) != 0))) {
        net_free(&net->rig);
        return NULL;
    }
    return &net->rig;
}
