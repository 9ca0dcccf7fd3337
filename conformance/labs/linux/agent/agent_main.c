/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck-agent: options, control sockets. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conformance/labs/linux/agent/agent.h"
#include "conformance/labs/linux/agent/agent_control.h"
#include "tools/standard_streams.h"
#include "upper-tester/token.h"
#include "base/exit_status.h"

enum { CONTROLS_MAX = 16 };

/*
 * A free place, or that of somebody who has not shown the token: strangers never keep the tester out. NULL: there is
 * none.
 */
static struct agent_control *place_of(struct agent_control controls[CONTROLS_MAX], const struct upper_token *token)
{
    for (int i = 0; i < CONTROLS_MAX; i++)
        if (controls[i].fd < 0)
            return &controls[i];
    for (int i = 0; i < CONTROLS_MAX; i++)
        if (token != NULL && !controls[i].shown)
            return &controls[i];
    return NULL;
}

static void accept_control(int listener, struct agent_control controls[CONTROLS_MAX], const struct upper_token *token)
{
    int fd = accept(listener, NULL, NULL), one = 1;
    struct agent_control *place = fd >= 0 ? place_of(controls, token) : NULL;

    if (place == NULL) {
        if (fd >= 0)
            close(fd);
        return;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    agent_control_end(place);
    *place = (struct agent_control){.fd = fd, .token = token};
}

static int serve(struct agent *agent, int listener, const struct upper_token *token)
{
    struct agent_control controls[CONTROLS_MAX];
    struct pollfd waits[CONTROLS_MAX + 4];

    for (int i = 0; i < CONTROLS_MAX; i++)
        controls[i] = (struct agent_control){.fd = -1};
    for (;;) {
        waits[0] = (struct pollfd){.fd = listener, .events = POLLIN};
        waits[1] = (struct pollfd){.fd = agent->cm->fd, .events = POLLIN};
        waits[2] = (struct pollfd){.fd = agent->completions->fd, .events = POLLIN};
        waits[3] = (struct pollfd){.fd = agent->device->async_fd, .events = POLLIN};
        for (int i = 0; i < CONTROLS_MAX; i++)
            waits[4 + i] = (struct pollfd){.fd = controls[i].fd, .events = POLLIN};
        if (poll(waits, CONTROLS_MAX + 4, -1) < 0 && errno != EINTR)
            return -1;
        agent_handle_everything(agent);
        if (waits[0].revents != 0)
            accept_control(listener, controls, token);
        for (int i = 0; i < CONTROLS_MAX; i++)
            if (controls[i].fd >= 0 && waits[4 + i].fd == controls[i].fd && waits[4 + i].revents != 0)
                agent_control_handle(&controls[i], agent_obey, agent);
    }
}

/* One socket for both families: an IPv4 address is one of IPv6's, too ("::ffff:192.0.2.7", RFC 4291 2.5.5.2). */
static bool read_address(const char *text, struct in6_addr *address)
{
    char mapped[INET6_ADDRSTRLEN + 8];

    (void)snprintf(mapped, sizeof(mapped), "::ffff:%.*s", INET6_ADDRSTRLEN, text);
    return inet_pton(AF_INET6, strchr(text, ':') != NULL ? text : mapped, address) == 1;
}

static int open_listener(const struct in6_addr *address, uint16_t port)
{
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = *address};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, off = 0;

    (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    return fd >= 0 && bind(fd, (struct sockaddr *)&any, sizeof(any)) == 0 && listen(fd, 8) == 0 ? fd : -1;
}

static bool unblock(int fd)
{
    return fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
}

/*
 * rdma-core's provider for siw takes the mmap offset 0x90000 for "no such queue", the kernel gives offsets out from 0
 * on, and the queue pair to which it falls cannot be created. A completion queue that nobody uses, made first, covers
 * it.
 */
static void occupy_offset_90000(const struct agent *agent)
{
    enum { ENTRIES = 32767 }; /* siw: 1 MiB */

    if (strncmp(ibv_get_device_name(agent->device->device), "siw", 3) == 0)
        (void)ibv_create_cq(agent->device, ENTRIES, NULL, NULL, 0);
}

static const char *open_device(struct agent *agent, const char *name)
{
    int count = 0;
    struct ibv_context **devices = rdma_get_devices(&count);

    for (int i = 0; devices != NULL && i < count && agent->device == NULL; i++)
        if (name == NULL || strcmp(name, ibv_get_device_name(devices[i]->device)) == 0)
            agent->device = devices[i];
    if (agent->device == NULL)
        return "no such RDMA device (rdma link shows what there is)";
    agent->cm = rdma_create_event_channel();
    agent->completions = ibv_create_comp_channel(agent->device);
    agent->scratch_octets = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    agent->events = json_array();
    agent->cm_events = json_array();
    if (agent->cm == NULL || agent->completions == NULL || agent->scratch_octets == MAP_FAILED ||
        agent->events == NULL || agent->cm_events == NULL || ibv_query_device(agent->device, &agent->limits) != 0 ||
        !unblock(agent->cm->fd) || !unblock(agent->completions->fd) || !unblock(agent->device->async_fd))
        return "the RDMA device cannot be opened";
    occupy_offset_90000(agent);
    return NULL;
}

/* "rev=2,enhanced=yes,markers=no,crc=no,p2p=no,rtr=write+read" */
static int read_traits(struct agent_traits *traits, const char *text)
{
    char copy[256], *save = NULL;

    (void)snprintf(copy, sizeof(copy), "%s", text);
    for (char *item = strtok_r(copy, ",", &save); item != NULL; item = strtok_r(NULL, ",", &save)) {
        char *value = strchr(item, '=');
        bool yes;

        if (value == NULL)
            return -1;
        *value++ = '\0';
        yes = strcmp(value, "yes") == 0;
        if (strcmp(item, "rev") == 0) {
            traits->rev = value[0] - '0';
        } else if (strcmp(item, "rtr") == 0) {
            traits->rtr_send = strstr(value, "send") != NULL;
            traits->rtr_write = strstr(value, "write") != NULL;
            traits->rtr_read = strstr(value, "read") != NULL;
        } else if (strcmp(item, "enhanced") == 0) {
            traits->enhanced = yes;
        } else if (strcmp(item, "markers") == 0) {
            traits->markers = yes;
        } else if (strcmp(item, "crc") == 0) {
            traits->crc = yes;
        } else if (strcmp(item, "terminate_swapped") == 0) {
            traits->terminate_swapped = yes;
        } else if (strcmp(item, "p2p") == 0) {
            traits->p2p = yes;
        } else {
            return -1;
        }
    }
    return 0;
}

static const char usage[] =
    "usage: warpcheck-agent [--device NAME] [--port N] [--address A] [--token FILE] [--fixed LIST]\n"
    "  Runs the upper tester of an RDMA device (docs/upper-tester.md) with rdma_cm and verbs.\n"
    "  --device NAME   the name of the device in `rdma link` (the first device)\n"
    "  --port N        port of the control socket (7471); 0: any port; the READY line names it\n"
    "  --address A     IPv4 or IPv6 address of the control socket (127.0.0.1); ::, all addresses. All but loopback\n"
    "                  need --token\n"
    "  --token FILE    who connects has to show the first line of this file; \"control_token_file\" of a profile\n"
    "                  names it. none: everybody who reaches the port is obeyed\n"
    "  --fixed LIST    properties of the device that verbs cannot change; the default is\n"
    "                  rev=2,enhanced=yes,markers=no,crc=no,p2p=no,rtr=write+read\n"
    "  --help          shows this text\n";

struct options {
    const char *device, *address, *token;
    unsigned long port;
};

/* Who may command the agent. NULL: the options are good. */
static const char *read_access(const struct options *options, struct in6_addr *control, struct upper_token *token,
                               struct iwarp_sentence *sentence)
{
    static const uint8_t mapped[13] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127}; /* 127.0.0.0/8 */

    if (!read_address(options->address, control))
        return "--address is no address";
    if (options->port > UINT16_MAX)
        return "--port is no port";
    if (options->token == NULL)
        return IN6_IS_ADDR_LOOPBACK(control) || memcmp(control, mapped, sizeof(mapped)) == 0
                   ? NULL
                   : "--address other than loopback: --token FILE was expected, or --token none";
    if (strcmp(options->token, "none") == 0)
        return NULL;
    return upper_token_read(token, options->token, sentence) == 0 ? NULL : sentence->text;
}

static int run(int argc, char **argv)
{
    struct agent agent = {.traits = {.rev = 2, .enhanced = true, .rtr_write = true, .rtr_read = true}};
    struct options options = {.address = "127.0.0.1", .port = AGENT_PORT};
    struct upper_token token = {{0}};
    struct iwarp_sentence sentence;
    const char *why;
    struct in6_addr control;
    struct sockaddr_in6 bound = {0};
    socklen_t octets = sizeof(bound);
    int listener;

    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(usage, stdout);
        return EXIT_DONE;
    }
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;

        if (value != NULL && strcmp(argv[i], "--device") == 0) {
            options.device = value;
        } else if (value != NULL && strcmp(argv[i], "--port") == 0) {
            options.port = strtoul(value, NULL, 10);
        } else if (value != NULL && strcmp(argv[i], "--address") == 0) {
            options.address = value;
        } else if (value != NULL && strcmp(argv[i], "--token") == 0) {
            options.token = value;
        } else if (value == NULL || strcmp(argv[i], "--fixed") != 0 || read_traits(&agent.traits, value) != 0) {
            fputs(usage, stderr);
            return EXIT_USAGE;
        }
    }
    (void)signal(SIGPIPE, SIG_IGN);
    why = read_access(&options, &control, &token, &sentence);
    if (why != NULL) {
        fprintf(stderr, "warpcheck-agent: %s\n", why);
        return EXIT_USAGE;
    }
    why = open_device(&agent, options.device);
    if (why != NULL) {
        fprintf(stderr, "warpcheck-agent: %s\n", why);
        return EXIT_ENVIRONMENT;
    }
    listener = open_listener(&control, (uint16_t)options.port);
    if (listener < 0 || getsockname(listener, (struct sockaddr *)&bound, &octets) != 0) {
        fprintf(stderr, "warpcheck-agent: cannot listen on port %lu: %s\n", options.port, strerror(errno));
        return EXIT_ENVIRONMENT;
    }
    printf("READY device=%s control=%u\n", ibv_get_device_name(agent.device->device), ntohs(bound.sin6_port));
    if (fflush(stdout) == 0) /* else nobody learns the port; main() reports it */
        (void)serve(&agent, listener, token.text[0] != '\0' ? &token : NULL);
    return EXIT_ENVIRONMENT;
}

int main(int argc, char **argv)
{
    if (!standard_streams_open())
        return EXIT_ENVIRONMENT;
    return standard_streams_close("warpcheck-agent", run(argc, argv), EXIT_ENVIRONMENT);
}
