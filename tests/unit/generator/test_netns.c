/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The embedded environment, for real: our TCP endpoint on a veth against the kernel's, in a namespace of the test's
 * own. Each test is a process of its own (Check forks), so that it may unshare. The project requires user namespaces:
 * where they are forbidden these tests fail, with the sentence that says so.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "generator/link/link_net.h"
#include "generator/link/netns.h"
#include "generator/link/random.h"
#include "generator/tcp/tcp_link.h"
#include "reference-stack/program/confine.h"
#include "tests/unit/suites.h"

Suite *netns_suite(void);

#define SECOND UINT64_C(1000000000)
#define PORT   4711
#define BULK   300000u

static struct link *wire;
static struct tcp_stack *stack;

static void open_tester(void)
{
    struct link_net_config link_config = {.interface = NETNS_TESTER_INTERFACE, .mac = NETNS_TESTER_MAC};
    struct tcp_stack_config config = {.mac = NETNS_TESTER_MAC, .seed = 1, .emit = tcp_link_emit};
    struct iwarp_sentence error = {""};

    ck_assert_msg(netns_enter(NULL, &error) == 0, "%s", error.text);
    ck_assert_int_eq(net_address_parse(&config.ipv4, NETNS_TESTER_IPV4), 0);
    ck_assert_int_eq(net_address_parse(&config.ipv6, NETNS_TESTER_IPV6), 0);
    wire = link_net_open(&link_config, &error);
    ck_assert_msg(wire != NULL, "%s", error.text);
    config.context = wire;
    config.now = link_now(wire);
    stack = tcp_stack_new(&config, &error);
    ck_assert_msg(stack != NULL, "%s", error.text);
}

static void close_tester(void)
{
    ck_assert_uint_eq(link_net_dropped(wire), 0);
    ck_assert_uint_eq(tcp_stack_bad_frames(stack), 0); /* offloads are off: every checksum was filled in */
    tcp_stack_free(stack);
    link_close(wire);
}

static socklen_t socket_address(struct sockaddr_storage *storage, int family, const char *ipv4, const char *ipv6)
{
    memset(storage, 0, sizeof(*storage));
    if (family == 4) {
        struct sockaddr_in *in = (struct sockaddr_in *)storage;

        in->sin_family = AF_INET;
        in->sin_port = htons(PORT);
        ck_assert_int_eq(inet_pton(AF_INET, ipv4, &in->sin_addr), 1);
        return sizeof(*in);
    }
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)storage;

    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(PORT);
    ck_assert_int_eq(inet_pton(AF_INET6, ipv6, &in6->sin6_addr), 1);
    return sizeof(*in6);
}

static int kernel_listen(int family)
{
    struct sockaddr_storage address;
    socklen_t octets = socket_address(&address, family, NETNS_KERNEL_IPV4, NETNS_KERNEL_IPV6);
    int handle = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    ck_assert_int_ge(handle, 0);
    ck_assert_msg(bind(handle, (struct sockaddr *)&address, octets) == 0, "%s", strerror(errno));
    ck_assert_int_eq(listen(handle, 16), 0);
    return handle;
}

/* The kernel's end of a connection, turned in the same loop as ours. */
struct kernel {
    int listener;
    int handle;
    bool echo;
    uint8_t *octets; /* all that came */
    size_t count;
    size_t written; /* of them, echoed */
    bool saw_end;
    bool saw_reset;
    bool shut;
};

static void kernel_turn(struct kernel *k)
{
    ssize_t got;

    if (k->handle < 0 && k->listener >= 0)
        k->handle = accept4(k->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (k->handle < 0)
        return;
    while (!k->saw_end && !k->saw_reset && k->count < 2 * BULK) {
        got = recv(k->handle, k->octets + k->count, 2 * BULK - k->count, 0);
        if (got > 0)
            k->count += (size_t)got;
        else if (got == 0)
            k->saw_end = true;
        else if (errno == ECONNRESET)
            k->saw_reset = true;
        if (got < 0)
            break;
    }
    while (k->echo && !k->saw_reset && k->written < k->count) {
        got = send(k->handle, k->octets + k->written, k->count - k->written, MSG_NOSIGNAL);
        if (got <= 0)
            break;
        k->written += (size_t)got;
    }
    if (k->echo && k->saw_end && !k->shut && k->written == k->count) {
        ck_assert_int_eq(shutdown(k->handle, SHUT_WR), 0);
        k->shut = true;
    }
}

/* Turns both ends for at most `nanoseconds`, in slices short enough for the kernel's end, until `done`. */
static bool turn(struct kernel *k, uint64_t nanoseconds, bool (*done)(void *context), void *context)
{
    uint64_t end = link_now(wire) + nanoseconds;

    for (;;) {
        uint64_t now = link_now(wire);

        kernel_turn(k);
        if (done != NULL && done(context))
            return true;
        if (now >= end)
            return false;
        ck_assert_msg(tcp_link_run(wire, stack, now + SECOND / 1000, NULL, NULL) >= 0, "%s", wire->error.text);
    }
}

static void kernel_new(struct kernel *k)
{
    *k = (struct kernel){.listener = -1, .handle = -1, .octets = malloc(2 * BULK)};
    ck_assert_ptr_nonnull(k->octets);
}

static struct tcp_connection *connect_to_kernel(struct kernel *k, int family, const struct tcp_options *options)
{
    struct net_address peer;
    struct iwarp_sentence error = {""};
    struct tcp_connection *c;

    k->listener = kernel_listen(family);
    ck_assert_int_eq(net_address_parse(&peer, family == 4 ? NETNS_KERNEL_IPV4 : NETNS_KERNEL_IPV6), 0);
    tcp_stack_set_time(stack, link_now(wire));
    c = tcp_connect(stack, &peer, PORT, options, &error);
    ck_assert_msg(c != NULL, "%s", error.text);
    return c;
}

static bool is_established(void *context)
{
    return tcp_is_open(context);
}

static bool is_closed(void *context)
{
    return tcp_status(context)->closed_ns != 0;
}

static void expect_turn(struct kernel *k, bool (*done)(void *context), struct tcp_connection *c, const char *what)
{
    ck_assert_msg(turn(k, 10 * SECOND, done, c), "%s: still %s (%s) after 10 s", what,
                  tcp_state_name(tcp_status(c)->state), tcp_cause_name(tcp_status(c)->cause));
}

/* Echo of 300,000 octets in both directions, then an orderly close: active open on our side. */
START_TEST(bulk_echo_with_the_kernel)
{
    int family = _i % 2 == 0 ? 4 : 6;
    struct tcp_options options = {.choose_iss = true, .iss = UINT32_MAX - BULK / 2};
    uint8_t *octets = malloc(BULK);
    struct random random = {5};
    struct kernel k;
    struct tcp_connection *c;
    const uint8_t *got;
    size_t count;

    open_tester();
    kernel_new(&k);
    k.echo = true;
    for (size_t i = 0; i < BULK; i++)
        octets[i] = (uint8_t)random_next(&random);
    c = connect_to_kernel(&k, family, &options);
    ck_assert_int_eq(tcp_send(c, octets, BULK / 2), 0);
    expect_turn(&k, is_established, c, "connecting");
    ck_assert_uint_eq(tcp_status(c)->mss, family == 4 ? 1460 : 1440);
    ck_assert_uint_lt(tcp_status(c)->round_trip_ns, SECOND);
    ck_assert_int_eq(tcp_send_fin(c, octets + BULK / 2, BULK - BULK / 2), 0);
    for (size_t at = 0; at < BULK;) {
        uint64_t before = tcp_status(c)->octets_received;

        (void)turn(&k, SECOND / 100, NULL, NULL);
        tcp_received(c, &got, &count);
        ck_assert_uint_le(at + count, BULK);
        ck_assert_msg(memcmp(got, octets + at, count) == 0, "the echo differs near octet %zu", at);
        at += count;
        tcp_consume(c, count);
        ck_assert_msg(count > 0 || before < BULK, "nothing comes any more after %zu octets", at);
    }
    expect_turn(&k, is_closed, c, "closing");
    ck_assert_int_eq(tcp_status(c)->cause, TCP_CAUSE_LOCAL_FIN);
    ck_assert_uint_eq(k.count, BULK);
    free(octets);
    free(k.octets);
    close_tester();
}
END_TEST

static bool has_accepted(void *context)
{
    struct tcp_connection **accepted = context;

    if (*accepted == NULL)
        *accepted = tcp_accept(stack, PORT);
    return *accepted != NULL && tcp_status(*accepted)->octets_received >= 5;
}

/* The kernel opens, we accept; the kernel's side resolves our address, which it does not own, by ARP or discovery. */
START_TEST(kernel_connects_to_us)
{
    int family = _i == 0 ? 4 : 6;
    struct sockaddr_storage address;
    socklen_t octets;
    struct iwarp_sentence error = {""};
    struct kernel k;
    struct tcp_connection *accepted = NULL;
    const uint8_t *got;
    size_t count;

    open_tester();
    kernel_new(&k);
    ck_assert_int_eq(tcp_listen(stack, PORT, NULL, &error), 0);
    octets = socket_address(&address, family, NETNS_TESTER_IPV4, NETNS_TESTER_IPV6);
    k.handle = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ck_assert(connect(k.handle, (struct sockaddr *)&address, octets) == -1 && errno == EINPROGRESS);
    (void)turn(&k, SECOND / 10, NULL, NULL);
    ck_assert_int_eq(send(k.handle, "hello", 5, MSG_NOSIGNAL), 5);
    ck_assert(turn(&k, 10 * SECOND, has_accepted, &accepted));
    tcp_received(accepted, &got, &count);
    ck_assert_uint_eq(count, 5);
    ck_assert_int_eq(memcmp(got, "hello", 5), 0);
    ck_assert(tcp_status(accepted)->passive);
    tcp_abort(accepted);
    (void)turn(&k, SECOND / 10, NULL, NULL);
    ck_assert(k.saw_reset);
    free(k.octets);
    close_tester();
}
END_TEST

static struct kernel *watched;
static size_t wanted;

static bool kernel_has_all(void *context)
{
    (void)context;
    return watched->handle >= 0 && watched->count >= wanted;
}

/* What a lower tester is for: order, duplicate, overlap and gap, and the kernel puts the stream together. */
START_TEST(kernel_reassembles_what_we_disorder)
{
    static const size_t lengths[] = {3, 7, 100, 1, 300};
    static const size_t order[] = {4, 2, 2, 0, 3, 1};
    uint8_t octets[411];
    struct kernel k;
    struct tcp_connection *c;

    open_tester();
    kernel_new(&k);
    watched = &k;
    for (size_t i = 0; i < sizeof(octets); i++)
        octets[i] = (uint8_t)(i * 7);
    c = connect_to_kernel(&k, 4, NULL);
    expect_turn(&k, is_established, c, "connecting");
    ck_assert_int_eq(tcp_send_ordered(c, octets, sizeof(octets), lengths, 5, order, 6), 0);
    wanted = sizeof(octets);
    expect_turn(&k, kernel_has_all, c, "disordered");
    ck_assert_uint_eq(tcp_status(c)->retransmissions, 0);
    /* Behind a gap first, then a segment that fills it and overlaps. */
    ck_assert_int_eq(
        tcp_send_raw_segment(
            c, &(struct tcp_segment_spec){.sequence = 4, .payload = (const uint8_t *)"wxyz", .payload_octets = 4}),
        0);
    (void)turn(&k, SECOND / 20, NULL, NULL);
    ck_assert_uint_eq(k.count, sizeof(octets));
    ck_assert_int_eq(
        tcp_send_raw_segment(
            c, &(struct tcp_segment_spec){.payload = (const uint8_t *)"abcdwx", .payload_octets = 6, .advance = true}),
        0);
    ck_assert_int_eq(tcp_skip(c, (const uint8_t *)"yz", 2), 0);
    wanted = sizeof(octets) + 8;
    expect_turn(&k, kernel_has_all, c, "overlapping");
    ck_assert_int_eq(memcmp(k.octets, octets, sizeof(octets)), 0);
    ck_assert_int_eq(memcmp(k.octets + sizeof(octets), "abcdwxyz", 8), 0);
    /* A wrong checksum never reaches the program. */
    ck_assert_int_eq(tcp_send_raw_segment(c, &(struct tcp_segment_spec){.payload = (const uint8_t *)"spoilt",
                                                                        .payload_octets = 6,
                                                                        .bad_checksum = true}),
                     0);
    (void)turn(&k, SECOND / 20, NULL, NULL);
    ck_assert_uint_eq(k.count, wanted);
    free(k.octets);
    close_tester();
}
END_TEST

/* What the tester waits for: so many octets, so many segments that came twice, and why the connection ended. */
static struct {
    uint64_t octets, twice;
    enum tcp_cause cause;
} due;

static bool is_due(void *context)
{
    return tcp_status(context)->octets_received >= due.octets && tcp_status(context)->duplicates >= due.twice &&
           tcp_status(context)->cause == due.cause;
}

/* A shut window holds the kernel back, withheld ACKs make it retransmit, both end well. */
START_TEST(kernel_minds_our_window_and_acks)
{
    struct kernel k;
    struct tcp_connection *c;

    open_tester();
    kernel_new(&k);
    c = connect_to_kernel(&k, 4, NULL);
    watched = &k;
    expect_turn(&k, is_established, c, "connecting");
    wanted = 0;
    expect_turn(&k, kernel_has_all, c, "accepting");
    tcp_set_window(c, 0);
    /* What the kernel sends before it has taken the acknowledgment with that window is not held back. */
    for (due.octets = 0; tcp_status(c)->octets_received == due.octets && due.octets < 90;) {
        ck_assert_int_eq(send(k.handle, "held back", 9, MSG_NOSIGNAL), 9);
        due.octets += 9;
        (void)turn(&k, SECOND / 2, is_due, c);
    }
    ck_assert_uint_eq(tcp_status(c)->octets_received, due.octets - 9);
    tcp_set_window_auto(c);
    expect_turn(&k, is_due, c, "opening the window");
    tcp_set_ack_policy(c, TCP_ACK_WITHHELD, 0);
    due.twice = tcp_status(c)->duplicates + 1;
    ck_assert_int_eq(send(k.handle, "again", 5, MSG_NOSIGNAL), 5);
    due.octets += 5;
    expect_turn(&k, is_due, c, "withholding acknowledgments");
    tcp_set_ack_policy(c, TCP_ACK_AT_ONCE, 0);
    tcp_ack_now(c);
    ck_assert_int_eq(shutdown(k.handle, SHUT_RDWR), 0);
    due.cause = TCP_CAUSE_PEER_FIN;
    expect_turn(&k, is_due, c, "ending");
    free(k.octets);
    close_tester();
}
END_TEST

START_TEST(kernel_refuses_a_closed_port)
{
    struct net_address peer;
    struct iwarp_sentence error = {""};
    struct kernel k;
    struct tcp_connection *c;

    open_tester();
    kernel_new(&k);
    ck_assert_int_eq(net_address_parse(&peer, _i == 0 ? NETNS_KERNEL_IPV4 : NETNS_KERNEL_IPV6), 0);
    tcp_stack_set_time(stack, link_now(wire));
    c = tcp_connect(stack, &peer, PORT, NULL, &error);
    ck_assert_msg(c != NULL, "%s", error.text);
    expect_turn(&k, is_closed, c, "connecting to a closed port");
    ck_assert_int_eq(tcp_status(c)->cause, TCP_CAUSE_REFUSED);
    free(k.octets);
    close_tester();
}
END_TEST

/* The open link works on when no capability is left, in a confined process. */
START_TEST(privileges_are_dropped_but_the_link_lives)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2];
    struct confine_config config = {.needs = CONFINE_CONNECTIONS};
    struct iwarp_sentence error = {""};
    struct kernel k;
    struct tcp_connection *c;

    open_tester();
    kernel_new(&k);
    ck_assert_msg(confine(&config, &error) == 0, "%s", error.text);
    ck_assert_int_eq(syscall(SYS_capget, &header, sets), 0);
    ck_assert_uint_eq(sets[0].effective, 0);
    ck_assert_uint_eq(sets[0].permitted, 0);
    ck_assert_uint_eq(sets[1].permitted, 0);
    ck_assert_int_eq(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
    c = connect_to_kernel(&k, 4, NULL);
    expect_turn(&k, is_established, c, "connecting after the drop");
    free(k.octets);
    close_tester();
}
END_TEST

/* Runs `body` in a child that is an ordinary user; its sentence comes back through a pipe. Empty text: all well. */
static void as_nobody(int (*body)(struct iwarp_sentence *error), struct iwarp_sentence *said)
{
    int ends[2];
    int status;
    pid_t child;

    ck_assert_int_eq(pipe(ends), 0);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        struct iwarp_sentence error = {""};

        if (geteuid() == 0 && (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0))
            _exit(3);
        /*
         * setresuid() makes the process undumpable, and its /proc/self root's; a program started by that user is not.
         */
        (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
        status = body(&error);
        _exit(write(ends[1], error.text, sizeof(error.text)) == sizeof(error.text) ? (status == 0 ? 0 : 1) : 2);
    }
    (void)close(ends[1]);
    ck_assert_int_eq(read(ends[0], said->text, sizeof(said->text)), sizeof(said->text));
    (void)close(ends[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == 0)
        said->text[0] = '\0';
    else
        ck_assert_msg(said->text[0] != '\0', "failed without a sentence");
}

static int enter_and_open(struct iwarp_sentence *error)
{
    struct link_net_config config = {.interface = NETNS_TESTER_INTERFACE, .mac = NETNS_TESTER_MAC};

    if (netns_enter(NULL, error) != 0)
        return -1;
    wire = link_net_open(&config, error);
    return wire != NULL ? 0 : -1;
}

START_TEST(ordinary_user_has_an_environment_too)
{
    struct iwarp_sentence said;

    as_nobody(enter_and_open, &said);
    ck_assert_msg(said.text[0] == '\0', "%s", said.text);
}
END_TEST

Suite *netns_suite(void)
{
    Suite *suite = suite_create("netns");
    TCase *kernel = tcase_create("kernel");
    TCase *environment = tcase_create("environment");

    tcase_add_loop_test(kernel, bulk_echo_with_the_kernel, 0, 2);
    tcase_add_loop_test(kernel, kernel_connects_to_us, 0, 2);
    tcase_add_test(kernel, kernel_reassembles_what_we_disorder);
    tcase_add_test(kernel, kernel_minds_our_window_and_acks);
    tcase_add_loop_test(kernel, kernel_refuses_a_closed_port, 0, 2);
    tcase_add_test(environment, privileges_are_dropped_but_the_link_lives);
    tcase_add_test(environment, ordinary_user_has_an_environment_too);
    suite_add_tcase(suite, kernel);
    suite_add_tcase(suite, environment);
    return suite;
}
