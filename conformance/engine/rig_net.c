/* SPDX-License-Identifier: BSD-2-Clause */
/* Live rigs: the tester's TCP on a real interface, and an upper tester at the end of a control connection. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "conformance/engine/profile.h"
#include "conformance/engine/rig.h"
#include "conformance/engine/upper_tester.h"
#include "generator/link_net.h"
#include "generator/netns.h"

enum {
    CONTROL_PORT = 7471,        /* of the embedded device, on the namespace's loopback */
    ANSWER_MILLISECONDS = 5000, /* an upper tester that takes longer is dead */
    START_MILLISECONDS = 5000,
    AGAIN_MILLISECONDS = 200, /* for another control connection to an upper tester that was there */
    ANSWER_OCTETS_MAX = 1 << 22,
    ARGUMENTS_MAX = 256,
};

struct net_rig {
    struct rig rig;
    int control; /* socket to the upper tester, -1: none */
    struct net_address control_address;
    uint16_t control_port; /* 0: there is no upper tester */
    pid_t device;          /* the embedded device's process, 0: none */
    char *answer;
    size_t answer_room;
    size_t answer_count;
};

static void emit(void *context, const uint8_t *frame, size_t octets)
{
    struct net_rig *net = context;

    if (link_send(net->rig.link, frame, octets) != 0)
        net->rig.failure = net->rig.link->error;
}

static int write_all(int socket, const char *text, size_t count)
{
    while (count > 0) {
        ssize_t written = send(socket, text, count, MSG_NOSIGNAL);

        if (written <= 0)
            return -1;
        text += written;
        count -= (size_t)written;
    }
    return 0;
}

/* One write a line: in two, the second would wait for the first one's delayed acknowledgment. */
static int write_line(int socket, const char *text)
{
    size_t length = strlen(text);
    char *line = malloc(length + 1);
    int status;

    if (line == NULL)
        return -1;
    memcpy(line, text, length); /* NOLINT(bugprone-not-null-terminated-result): a line ends with its newline */
    line[length] = '\n';
    status = write_all(socket, line, length + 1);
    free(line);
    return status;
}

static bool died(struct net_rig *net, struct sentence *error)
{
    int ended;

    if (net->device == 0 || waitpid(net->device, &ended, WNOHANG) != net->device)
        return false;
    net->device = 0;
    (void)sentence_set(error, "the device's process ended (%s %d)", WIFSIGNALED(ended) ? "signal" : "exit status",
                       WIFSIGNALED(ended) ? WTERMSIG(ended) : WEXITSTATUS(ended));
    return true;
}

/* One line; what follows it is kept for the next call. */
static char *read_line(struct net_rig *net, int milliseconds, struct sentence *error)
{
    for (;;) {
        char *newline = memchr(net->answer, '\n', net->answer_count);
        struct pollfd wait = {.fd = net->control, .events = POLLIN};
        ssize_t got;

        if (newline != NULL) {
            size_t length = (size_t)(newline - net->answer);
            char *line = strndup(net->answer, length);

            net->answer_count -= length + 1;
            memmove(net->answer, newline + 1, net->answer_count);
            if (line == NULL)
                (void)sentence_set(error, "out of memory for the upper tester's answer");
            return line;
        }
        if (net->answer_count == net->answer_room) {
            (void)sentence_set(error, "the upper tester answered a line of more than %d octets", ANSWER_OCTETS_MAX);
            return NULL;
        }
        if (poll(&wait, 1, milliseconds) <= 0) {
            if (!died(net, error))
                (void)sentence_set(error, "the upper tester did not answer within %d ms", milliseconds);
            return NULL;
        }
        got = recv(net->control, net->answer + net->answer_count, net->answer_room - net->answer_count, 0);
        if (got <= 0) {
            (void)usleep(10000); /* lets a dying process become waitable */
            if (!died(net, error))
                (void)sentence_set(error, "the upper tester closed its connection");
            return NULL;
        }
        net->answer_count += (size_t)got;
    }
}

static int connect_control(struct net_rig *net, const struct net_address *address, uint16_t port, int milliseconds,
                           struct sentence *error);

/* What comes late, or does not end, must not pass for the answer to the next command: that has a connection of its own. */
static void hang_up(struct net_rig *net)
{
    close(net->control);
    net->control = -1;
    net->answer_count = 0;
}

static char *net_command(struct rig *rig, const char *request, struct sentence *error)
{
    struct net_rig *net = (struct net_rig *)rig;
    char *line;

    if (net->control_port == 0) {
        (void)sentence_set(error, "the device has no upper tester");
        return NULL;
    }
    if (net->control < 0 &&
        connect_control(net, &net->control_address, net->control_port, AGAIN_MILLISECONDS, error) != 0)
        return NULL;
    if (write_line(net->control, request) != 0) {
        if (!died(net, error))
            (void)sentence_set(error, "the upper tester is gone: %s", strerror(errno));
        hang_up(net);
        return NULL;
    }
    line = read_line(net, ANSWER_MILLISECONDS, error);
    if (line == NULL)
        hang_up(net);
    return line;
}

static int net_reset(struct rig *rig, struct sentence *error)
{
    json_t *request = json_pack("{s:s}", "verb", "reset");
    json_t *answer = upper_tester_call(rig, request, error);
    int status = answer != NULL ? upper_tester_listen(rig, rig->port, error) : -1;

    json_decref(request);
    json_decref(answer);
    return status;
}

static void net_free(struct rig *rig)
{
    struct net_rig *net = (struct net_rig *)rig;

    if (net->control >= 0)
        close(net->control);
    if (net->device > 0) {
        kill(net->device, SIGKILL);
        (void)waitpid(net->device, NULL, 0);
    }
    tcp_stack_free(rig->tcp);
    link_close(rig->link);
    free(net->answer);
    free(net);
}

static const struct rig_ops net_rig_ops = {.command = net_command, .reset = net_reset, .free = net_free};

static struct net_rig *net_rig_new(struct sentence *error)
{
    struct net_rig *net = calloc(1, sizeof(*net));

    if (net != NULL)
        net->answer = malloc(ANSWER_OCTETS_MAX);
    if (net == NULL || net->answer == NULL) {
        free(net);
        (void)sentence_set(error, "out of memory for a rig");
        return NULL;
    }
    net->rig.ops = &net_rig_ops;
    net->answer_room = ANSWER_OCTETS_MAX;
    net->control = -1;
    return net;
}

/* Link and TCP for an address that the kernel does not own. */
static int open_wire(struct net_rig *net, const char *interface, const uint8_t mac[6], uint64_t seed,
                     struct sentence *error)
{
    struct link_net_config link = {.interface = interface};
    struct tcp_stack_config tcp = {.seed = seed, .emit = emit, .context = net};

    memcpy(link.mac, mac, sizeof(link.mac));
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
    tcp.now = link_now(net->rig.link);
    net->rig.tcp = tcp_stack_new(&tcp, error);
    return net->rig.tcp != NULL ? 0 : -1;
}

static int connect_control(struct net_rig *net, const struct net_address *address, uint16_t port, int milliseconds,
                           struct sentence *error)
{
    struct sockaddr_storage storage = {0};
    struct sockaddr_in *v4 = (struct sockaddr_in *)&storage;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&storage;
    socklen_t octets = address->family == 4 ? sizeof(*v4) : sizeof(*v6);

    if (address->family == 4) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        memcpy(&v4->sin_addr, address->octets, 4);
    } else {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
        memcpy(&v6->sin6_addr, address->octets, 16);
    }
    for (int waited = 0;; waited += 10) {
        struct timespec pause = {.tv_nsec = 10000000};
        int fd = socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (fd >= 0 && connect(fd, (struct sockaddr *)&storage, octets) == 0) {
            net->control = fd;
            net->control_address = *address;
            net->control_port = port;
            net->rig.upper_tester = true;
            return 0;
        }
        if (fd >= 0)
            close(fd);
        if (died(net, error))
            return -1;
        if (waited >= milliseconds)
            return sentence_set(error, "no upper tester answers on port %u: %s", port, strerror(errno));
        (void)nanosleep(&pause, NULL); /* the device is starting; there is nothing else to wait on */
    }
}

/* The device is this very program, as `warpcheck peer`, on the namespace's kernel TCP. */
static int start_device(struct net_rig *net, const struct rig_embedded_config *config, struct sentence *error)
{
    const char *arguments[ARGUMENTS_MAX + 8] = {config->program, "peer", "--control"};
    char control[16];
    size_t count = 3;
    pid_t parent = getpid();

    if (config->defect_count > ARGUMENTS_MAX / 2)
        return sentence_set(error, "more than %d defects at once", ARGUMENTS_MAX / 2);
    (void)snprintf(control, sizeof(control), "%d", CONTROL_PORT);
    arguments[count++] = control;
    if (config->ipv6)
        arguments[count++] = "--ipv6";
    for (size_t i = 0; i < config->defect_count; i++) {
        arguments[count++] = "--defect";
        arguments[count++] = config->defects[i];
    }
    (void)fflush(NULL);
    net->device = fork();
    if (net->device < 0) {
        net->device = 0;
        return sentence_set(error, "cannot start the device: %s", strerror(errno));
    }
    if (net->device == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(127);
        if (freopen("/dev/null", "w", stdout) == NULL) /* the run's stdout is for results alone */
            _exit(127);
        execv(config->program, (char *const *)arguments);
        _exit(127);
    }
    return 0;
}

struct rig *rig_embedded_new(const struct rig_embedded_config *config, struct sentence *error)
{
    static const uint8_t mac[6] = NETNS_TESTER_MAC;
    struct net_rig *net = net_rig_new(error);
    struct net_address loopback;

    if (net == NULL)
        return NULL;
    net->rig.port = RIG_PORT;
    (void)net_address_parse(&net->rig.dut, config->ipv6 ? NETNS_KERNEL_IPV6 : NETNS_KERNEL_IPV4);
    (void)net_address_parse(&net->rig.own, config->ipv6 ? NETNS_TESTER_IPV6 : NETNS_TESTER_IPV4);
    (void)net_address_parse(&loopback, "127.0.0.1");
    if (netns_enter(NULL, error) != 0 || open_wire(net, NETNS_TESTER_INTERFACE, mac, config->seed, error) != 0 ||
        start_device(net, config, error) != 0 ||
        connect_control(net, &loopback, CONTROL_PORT, START_MILLISECONDS, error) != 0 ||
        upper_tester_listen(&net->rig, net->rig.port, error) != 0) {
        net_free(&net->rig);
        return NULL;
    }
    return &net->rig;
}

struct rig *rig_profile_new(const struct profile *profile, uint64_t seed, struct sentence *error)
{
    struct net_rig *net = net_rig_new(error);

    if (net == NULL)
        return NULL;
    net->rig.port = profile->port;
    net->rig.dut = profile->address;
    net->rig.own = profile->own_address;
    net->rig.tester_apart = profile->control.family != 0;
    if (open_wire(net, profile->interface, profile->own_mac, seed, error) != 0 ||
        link_net_drop_privileges(error) != 0 ||
        (profile->control.family != 0 &&
         (connect_control(net, &profile->control, profile->control_port, START_MILLISECONDS, error) != 0 ||
          net_reset(&net->rig, error) != 0))) {
        net_free(&net->rig);
        return NULL;
    }
    return &net->rig;
}
