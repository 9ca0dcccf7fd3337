/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/bench/plain_sctp.h"

#if __has_include(<usrsctp.h>)
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Before usrsctp.h, which has macros of the same names. */
#include "reference-stack/transport/sctp_udp.h"
#include "wire/sctp.h"

#include <usrsctp.h>

enum {
    PORT = 5043,
    MTU = 1500,      /* of the path, as the stack's default is */
    SPACE = 4 << 20, /* as the stack's (transport/user_sctp.h) */
    CHUNKS_MAX = 65536,
    DATAGRAM_MAX = 65536,
    MESSAGE_MAX = 1 << 20,
    TICK_MS = 10,
    PATIENCE_MS = 10000
};

struct plain {
    int fd; /* connected to the other process */
    struct socket *socket, *listener;
    bool up, ended, ping;
    size_t size, part; /* octets of a message, and what has come of the next one */
    uint64_t messages; /* received */
    double clock;
};

static int on_output(void *address, void *packet, size_t octets, uint8_t tos, uint8_t set_df)
{
    const struct plain *plain = address;

    (void)tos, (void)set_df;
    (void)send(plain->fd, packet, octets, 0); /* what the socket does not take is lost, as in any network */
    return 0;
}

static bool put(struct plain *plain, const uint8_t *octets, size_t count)
{
    struct sctp_sndinfo info = {.snd_flags = SCTP_UNORDERED};

    return usrsctp_sendv(plain->socket, octets, count, NULL, 0, &info, sizeof(info), SCTP_SENDV_SNDINFO, 0) ==
           (ssize_t)count;
}

static int on_receive(struct socket *socket, union sctp_sockstore from, void *data, size_t octets,
                      struct sctp_rcvinfo info, int flags, void *user)
{
    struct plain *plain = user;
    const union sctp_notification *reported = data;

    (void)socket, (void)from, (void)info;
    if (data == NULL) {
        plain->ended = true;
    } else if ((flags & MSG_NOTIFICATION) != 0) {
        if (reported->sn_header.sn_type == SCTP_ASSOC_CHANGE)
            (reported->sn_assoc_change.sac_state == SCTP_COMM_UP) ? (plain->up = true) : (plain->ended = true);
    } else {
        plain->part += octets;
        if ((flags & MSG_EOR) != 0) {
            plain->messages++;
            plain->part = 0;
        }
    }
    free(data);
    return 1;
}

static void set(struct socket *socket, int option, const void *value, size_t octets)
{
    if (usrsctp_setsockopt(socket, IPPROTO_SCTP, option, value, (socklen_t)octets) != 0)
        die("plain SCTP: an option is refused");
}

static struct socket *socket_new(struct plain *plain)
{
    struct socket *socket = usrsctp_socket(AF_CONN, SOCK_STREAM, IPPROTO_SCTP, on_receive, NULL, 0, plain);
    struct sctp_paddrparams path = {.spp_flags = SPP_PMTUD_DISABLE | SPP_HB_DISABLE};
    struct sctp_event event = {.se_assoc_id = SCTP_FUTURE_ASSOC, .se_type = SCTP_ASSOC_CHANGE, .se_on = 1};
    struct sockaddr_conn name = {.sconn_family = AF_CONN, .sconn_port = htons(PORT), .sconn_addr = plain};
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    int on = 1;

    if (socket == NULL)
        die("plain SCTP: no socket");
    path.spp_address.ss_family = AF_CONN;
    path.spp_pathmtu = MTU - (uint32_t)sctp_udp_headers(AF_INET) - SCTP_COMMON_OCTETS;
    set(socket, SCTP_EVENT, &event, sizeof(event));
    set(socket, SCTP_NODELAY, &on, sizeof(on));
    set(socket, SCTP_PEER_ADDR_PARAMS, &path, sizeof(path));
    (void)usrsctp_setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    if (usrsctp_set_non_blocking(socket, 1) != 0 || usrsctp_bind(socket, (struct sockaddr *)&name, sizeof(name)) != 0)
        die("plain SCTP: no port");
    return socket;
}

/* Packets that are there go in; without any it waits for one, at most until the next tick. */
static void turn(struct plain *plain, bool wait)
{
    static uint8_t packet[DATAGRAM_MAX];
    struct pollfd of = {.fd = plain->fd, .events = POLLIN};
    ssize_t octets;
    double now;

    if (wait)
        (void)poll(&of, 1, TICK_MS);
    for (int i = 0; i < 32 && (octets = recv(plain->fd, packet, sizeof(packet), MSG_DONTWAIT)) > 0; i++)
        usrsctp_conninput(plain, packet, (size_t)octets, 0);
    now = seconds_now();
    if (now - plain->clock >= TICK_MS / 1000.0) {
        usrsctp_handle_timers((uint32_t)(1000 * (now - plain->clock)));
        plain->clock = now;
    }
}

static void begin(struct plain *plain, int fd, bool ping, size_t size)
{
    *plain = (struct plain){.fd = fd, .ping = ping, .size = size, .clock = seconds_now()};
    usrsctp_init_nothreads(0, on_output, NULL);
    usrsctp_sysctl_set_sctp_ecn_enable(0);
    usrsctp_sysctl_set_sctp_asconf_enable(0);
    usrsctp_sysctl_set_sctp_auth_enable(0);
    usrsctp_sysctl_set_sctp_nrsack_enable(0);
    usrsctp_sysctl_set_sctp_pktdrop_enable(0);
    usrsctp_sysctl_set_sctp_sendspace(SPACE);
    usrsctp_sysctl_set_sctp_recvspace(SPACE);
    usrsctp_sysctl_set_sctp_max_chunks_on_queue(CHUNKS_MAX);
    usrsctp_register_address(plain);
}

/* The last octet of the pipe means that all was sent; it answers when as many messages have come. */
static _Noreturn void respond(int fd, bool ping, size_t size, int orders, int report)
{
    static struct plain plain;
    static uint8_t message[MESSAGE_MAX];
    struct pollfd ready = {.fd = orders, .events = POLLIN};
    uint64_t wanted = UINT64_MAX, answered = 0;

    begin(&plain, fd, ping, size);
    plain.listener = socket_new(&plain);
    if (usrsctp_listen(plain.listener, 1) != 0 || write(report, &size, 1) != 1)
        die("plain SCTP: it does not listen");
    while (plain.messages < wanted && !plain.ended) {
        turn(&plain, true);
        if (plain.socket == NULL && plain.up && (plain.socket = usrsctp_accept(plain.listener, NULL, NULL)) != NULL)
            (void)usrsctp_set_non_blocking(plain.socket, 1);
        while (ping && answered < plain.messages && put(&plain, message, size))
            answered++;
        if (wanted == UINT64_MAX && poll(&ready, 1, 0) > 0 && read(orders, &wanted, sizeof(wanted)) != sizeof(wanted))
            die("plain SCTP: no orders");
    }
    (void)write(report, &size, 1);
    exit(plain.ended ? EXIT_FAILURE : EXIT_SUCCESS);
}

static uint64_t stream(struct plain *plain, const uint8_t *message, double limit)
{
    double began = seconds_now();
    uint64_t sent = 0;

    while (seconds_now() - began < limit) {
        while (!put(plain, message, plain->size)) {
            if (plain->ended || (errno != EAGAIN && errno != EWOULDBLOCK))
                die("plain SCTP: a message is refused");
            turn(plain, true);
        }
        turn(plain, false);
        sent++;
    }
    return sent;
}

static uint64_t ping_pong(struct plain *plain, const uint8_t *message, double limit)
{
    double began = seconds_now();
    uint64_t rounds = 0;

    for (; seconds_now() - began < limit; rounds++) {
        if (!put(plain, message, plain->size))
            die("plain SCTP: a message is refused");
        while (plain->messages == rounds && !plain->ended)
            turn(plain, true);
    }
    return rounds;
}

/* Two UDP sockets that know each other. */
static void sockets(int fds[2])
{
    struct sockaddr_in name[2];
    int space = SPACE;

    for (int i = 0; i < 2; i++) {
        socklen_t octets = sizeof(name[i]);

        memset(&name[i], 0, sizeof(name[i]));
        name[i].sin_family = AF_INET;
        name[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        fds[i] = socket(AF_INET, SOCK_DGRAM, 0);
        (void)setsockopt(fds[i], SOL_SOCKET, SO_RCVBUF, &space, sizeof(space));
        (void)setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &space, sizeof(space));
        if (bind(fds[i], (struct sockaddr *)&name[i], sizeof(name[i])) != 0 ||
            getsockname(fds[i], (struct sockaddr *)&name[i], &octets) != 0)
            die("plain SCTP: no UDP socket");
    }
    for (int i = 0; i < 2; i++)
        if (connect(fds[i], (struct sockaddr *)&name[1 - i], sizeof(name[i])) != 0)
            die("plain SCTP: no UDP socket");
}

bool plain_sctp_there(void)
{
    return true;
}

struct result plain_sctp(bool ping, size_t size, double limit)
{
    static struct plain plain;
    static uint8_t message[MESSAGE_MAX];
    struct usage before = usage_now();
    double began, done;
    struct sockaddr_conn peer = {.sconn_family = AF_CONN, .sconn_port = htons(PORT), .sconn_addr = &plain};
    int fds[2], orders[2], report[2];
    uint64_t count;
    uint8_t ready;
    pid_t child;

    sockets(fds);
    if (size > sizeof(message) || pipe(orders) != 0 || pipe(report) != 0 || (child = fork()) < 0)
        die("plain SCTP: no process");
    if (child == 0)
        respond(fds[0], ping, size, orders[0], report[1]);
    if (read(report[0], &ready, 1) != 1)
        die("plain SCTP: the responder did not start");
    memset(message, 2, sizeof(message));
    begin(&plain, fds[1], ping, size);
    plain.socket = socket_new(&plain);
    if (usrsctp_connect(plain.socket, (struct sockaddr *)&peer, sizeof(peer)) != 0 && errno != EINPROGRESS)
        die("plain SCTP: no connection");
    while (!plain.up && !plain.ended)
        turn(&plain, true);
    began = seconds_now();
    count = ping ? ping_pong(&plain, message, limit) : stream(&plain, message, limit);
    if (write(orders[1], &count, sizeof(count)) != sizeof(count))
        die("plain SCTP: the responder is gone");
    for (struct pollfd of = {.fd = report[0], .events = POLLIN}; !plain.ended && poll(&of, 1, 0) == 0;)
        turn(&plain, true);
    done = ping ? (double)count : (double)count * (double)size;
    began = seconds_now() - began;
    if (plain.ended || waitpid(child, NULL, 0) != child)
        die("plain SCTP: the association is lost");
    return (struct result){done / began, usage_each(&before, done)};
}

#else

bool plain_sctp_there(void)
{
    return false;
}

struct result plain_sctp(bool ping, size_t size, double limit)
{
    (void)ping, (void)size, (void)limit;
    die("this build has no libusrsctp");
}

#endif
