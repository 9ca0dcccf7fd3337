/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The embedded environment. Interfaces and addresses are made by iproute2's `ip -batch`, offloads by the ethtool ioctl,
 * the rest through /proc. user_namespaces(7) says what an ordinary user must write, and in which order.
 */
#define _GNU_SOURCE
#include "generator/link/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "generator/link/netns_refused.h"

#define DEFAULT_MTU 1500u

/* Writes text to a file of /proc. Returns 0 or an errno. */
static int write_file(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    int number = 0;

    if (file < 0)
        return errno;
    if (write(file, text, strlen(text)) != (ssize_t)strlen(text))
        number = errno;
    (void)close(file);
    return number;
}

static int refused_file(const char *path, int number, struct iwarp_sentence *error)
{
    (void)iwarp_sentence_set(error, "user namespace: cannot write %s: %s", path, strerror(number));
    return number == EPERM || number == EACCES ? netns_refused("", number, error) : -1;
}

/* Makes the user who called us root of the new user namespace. */
static int map_user(uid_t user, gid_t group, struct iwarp_sentence *error)
{
    char text[64];
    int number = write_file("/proc/self/setgroups", "deny");

    if (number != 0 && number != ENOENT)
        return refused_file("/proc/self/setgroups", number, error);
    (void)snprintf(text, sizeof(text), "0 %u 1", (unsigned)user);
    number = write_file("/proc/self/uid_map", text);
    if (number != 0)
        return refused_file("/proc/self/uid_map", number, error);
    (void)snprintf(text, sizeof(text), "0 %u 1", (unsigned)group);
    number = write_file("/proc/self/gid_map", text);
    if (number != 0)
        return refused_file("/proc/self/gid_map", number, error);
    return 0;
}

/*
 * New namespaces. Root with all its capabilities takes a network namespace only: in a user namespace of its own it
 * could no longer write into other users' folders, where `sudo warpcheck run -o` may want its evidence.
 */
static int new_namespaces(struct iwarp_sentence *error)
{
    uid_t user = geteuid();
    gid_t group = getegid();
    int number;

    if (user == 0 && unshare(CLONE_NEWNET) == 0)
        return 0;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0)
        return map_user(user, group, error);
    number = errno;
    (void)iwarp_sentence_set(error, "cannot make a user and network namespace: %s", strerror(number));
    return netns_refused("", number, error);
}

/* `ip` may lie outside an ordinary user's PATH. */
static void exec_ip(void)
{
    static const char *const places[] = {"/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip"};

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        (void)execl(places[i], "ip", "-batch", "-", (char *)NULL);
    (void)execlp("ip", "ip", "-batch", "-", (char *)NULL);
    _exit(127);
}

/* The child's side: script in, complaints out, nothing printed. */
static void run_child(int script, int complaints)
{
    int nowhere = open("/dev/null", O_WRONLY);

    if (dup2(script, STDIN_FILENO) < 0 || dup2(complaints, STDERR_FILENO) < 0 ||
        (nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) < 0))
        _exit(126);
    exec_ip();
}

/* Everything that a pipe holds until its other end closes, at most octets - 1, on one line. */
static void read_all(int from, char *text, size_t octets)
{
    size_t length = 0;
    char rest[256];
    ssize_t got;

    while ((got = length + 1 < octets ? read(from, text + length, octets - 1 - length)
                                      : read(from, rest, sizeof(rest))) != 0) {
        if (got < 0 && errno != EINTR)
            break;
        if (got > 0 && length + 1 < octets)
            length += (size_t)got;
    }
    text[length] = '\0';
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    for (char *p = text; *p != '\0'; p++)
        if (*p == '\n')
            *p = ';';
}

/* The script is short enough for a pipe's buffer, so that writing it all before reading cannot block. */
static int feed_child(int script, int complaints, pid_t child, const char *commands, struct iwarp_sentence *error)
{
    char said[256];
    int status = 0;
    ssize_t wrote = write(script, commands, strlen(commands));

    (void)close(script);
    read_all(complaints, said, sizeof(said));
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return iwarp_sentence_set(error, "ip -batch: cannot wait for it: %s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return iwarp_sentence_set(error, "cannot run `ip`: install iproute2");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || wrote < 0) {
        (void)iwarp_sentence_set(error, "ip -batch failed while building the veth pair: %s", said);
        return netns_restricted("") ? netns_refused("", EPERM, error) : -1;
    }
    return 0;
}

static int run_ip(const char *commands, struct iwarp_sentence *error)
{
    int script[2];
    int complaints[2];
    void (*old_handler)(int);
    pid_t child;
    int result;

    if (pipe2(script, O_CLOEXEC) != 0)
        return iwarp_sentence_set(error, "cannot run `ip`: %s", strerror(errno));
    if (pipe2(complaints, O_CLOEXEC) != 0) {
        (void)close(script[0]);
        (void)close(script[1]);
        return iwarp_sentence_set(error, "cannot run `ip`: %s", strerror(errno));
    }
    child = fork();
    if (child == 0)
        run_child(script[0], complaints[1]);
    (void)close(script[0]);
    (void)close(complaints[1]);
    if (child < 0) {
        (void)close(script[1]);
        (void)close(complaints[0]);
        return iwarp_sentence_set(error, "cannot run `ip`: %s", strerror(errno));
    }
    old_handler = signal(SIGPIPE, SIG_IGN); /* a missing `ip` reads no script */
    result = feed_child(script[1], complaints[0], child, commands, error);
    (void)signal(SIGPIPE, old_handler);
    (void)close(complaints[0]);
    return result;
}

static int set_offload(int handle, const char *interface, uint32_t command)
{
    struct ethtool_value value = {.cmd = command, .data = 0};
    struct ifreq request = {0};

    (void)snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
    request.ifr_data = (void *)&value;
    return ioctl(handle, SIOCETHTOOL, &request);
}

/* Without this the kernel would hand over segments of 64 KiB with checksums left for a card to fill in. */
static int offloads_off(const char *interface, struct iwarp_sentence *error)
{
    static const struct {
        uint32_t command;
        bool needed;
        const char *name;
    } offloads[] = {
        {ETHTOOL_STSO, true, "TSO"},
        {ETHTOOL_SGSO, true, "GSO"},
        {ETHTOOL_SGRO, false, "GRO"},
        {ETHTOOL_STXCSUM, true, "TX checksums"},
        {ETHTOOL_SSG, false, "scatter-gather"},
    };
    int handle = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (handle < 0)
        return iwarp_sentence_set(error, "%s: cannot open a socket for its offloads: %s", interface, strerror(errno));
    for (size_t i = 0; i < sizeof(offloads) / sizeof(offloads[0]); i++) {
        if (set_offload(handle, interface, offloads[i].command) != 0 && offloads[i].needed) {
            int number = errno;

            (void)close(handle);
            return iwarp_sentence_set(error, "%s: cannot turn %s off: %s", interface, offloads[i].name,
                                      strerror(number));
        }
    }
    (void)close(handle);
    return 0;
}

/* Sysctls that only keep the wire quiet: a read-only /proc/sys (some containers) must not stop us. */
static void quiet(const char *interface, bool ipv6)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "/proc/sys/net/ipv4/conf/%s/rp_filter", interface);
    (void)write_file(path, "0");
    (void)snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/accept_ra", interface);
    (void)write_file(path, "0");
    (void)snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/router_solicitations", interface);
    (void)write_file(path, "0");
    (void)snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/disable_ipv6", interface);
    (void)write_file(path, ipv6 ? "0" : "1");
}

static const char *or_default(const char *chosen, const char *fallback)
{
    return chosen != NULL ? chosen : fallback;
}

int netns_enter(const struct netns_config *config, struct iwarp_sentence *error)
{
    static const struct netns_config defaults;
    const struct netns_config *c = config != NULL ? config : &defaults;
    const char *kernel = or_default(c->kernel_interface, NETNS_KERNEL_INTERFACE);
    const char *tester = or_default(c->tester_interface, NETNS_TESTER_INTERFACE);
    const char *ipv4 = or_default(c->kernel_ipv4, NETNS_KERNEL_IPV4);
    const char *ipv6 = or_default(c->kernel_ipv6, NETNS_KERNEL_IPV6);
    unsigned mtu = c->mtu != 0 ? c->mtu : DEFAULT_MTU;
    char commands[1024];

    if (strlen(kernel) >= IFNAMSIZ || strlen(tester) >= IFNAMSIZ)
        return iwarp_sentence_set(error, "namespace: interface names %s and %s must have less than %d characters",
                                  kernel, tester, IFNAMSIZ);
    if (new_namespaces(error) != 0)
        return -1;
    (void)snprintf(commands, sizeof(commands),
                   "link set dev lo up\n"
                   "link add name %s mtu %u type veth peer name %s mtu %u\n",
                   kernel, mtu, tester, mtu);
    if (run_ip(commands, error) != 0)
        return -1;
    quiet("all", true);
    quiet(kernel, true);
    quiet(tester, false);
    if (offloads_off(kernel, error) != 0 || offloads_off(tester, error) != 0)
        return -1;
    (void)snprintf(commands, sizeof(commands),
                   "link set dev %s addrgenmode none\n"
                   "link set dev %s addrgenmode none\n"
                   "address add %s/24 dev %s\n"
                   "address add %s/64 dev %s nodad\n"
                   "link set dev %s up\n"
                   "link set dev %s up\n",
                   kernel, tester, ipv4, kernel, ipv6, kernel, tester, kernel);
    return run_ip(commands, error);
}
