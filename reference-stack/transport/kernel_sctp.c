/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* accept4() */
#include "reference-stack/transport/kernel_sctp.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "reference-stack/base/ring.h"
#include "reference-stack/transport/kernel_sctp_socket.h"
#include "reference-stack/transport/tcp_socket.h"

enum {
    BACKLOG = 128, /* associations that are up and not taken; what is half open needs no memory (RFC 9260 5.1.3) */
    TURN = 256,    /* messages that are read before other sockets have their turn */
};

/* A path is freed when libuv has closed its handle. */
struct kernel_sctp_path {
    uv_poll_t poll;
    struct kernel_sctp *sctp;
    struct iwarp_association *association;
    void *user;
    int descriptor; /* -1: closed */
    int polled;     /* the events that libuv waits for */
    bool up, lost, ending, in_order;
    bool full;          /* the kernel has no room; it reports when it has room again */
    bool introduced;    /* SCTP is up; the association follows when its indication is known */
    struct ring flight; /* uint16_t: SIDs of messages that are not acknowledged, oldest first */
    struct iwarp_sctp_init peer;
};

struct listener {
    uv_poll_t poll;
    struct listener *next;
    struct kernel_sctp *sctp;
    uint16_t port;
    int descriptor;
};

struct kernel_sctp {
    struct kernel_sctp_config config;
    uv_loop_t *loop;
    struct listener *listeners;
    int spare;       /* a descriptor to be given up where there are no more: what waits is taken, and closed */
    uint8_t *buffer; /* KERNEL_SCTP_MESSAGE_MAX */
};

static void read_path(uv_poll_t *poll, int status, int events);

/* --- Paths -------------------------------------------------------------------------------------------------------- */

static void on_path_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void watch(struct kernel_sctp_path *path)
{
    int wanted = path->lost ? 0 : UV_READABLE | (path->full ? UV_WRITABLE : 0);

    if (path->descriptor < 0 || wanted == path->polled)
        return;
    path->polled = wanted;
    if (wanted == 0)
        (void)uv_poll_stop(&path->poll);
    else
        (void)uv_poll_start(&path->poll, wanted, read_path);
}

/* Takes over the descriptor, also where it fails. */
static struct kernel_sctp_path *path_new(struct kernel_sctp *sctp, int descriptor)
{
    struct kernel_sctp_path *path = calloc(1, sizeof(*path));

    if (path != NULL)
        ring_init(&path->flight, sizeof(uint16_t));
    if (path == NULL || ring_reserve(&path->flight, KERNEL_SCTP_ROUND) != 0 ||
        uv_poll_init(sctp->loop, &path->poll, descriptor) != 0) {
        if (path != NULL)
            ring_free(&path->flight);
        free(path);
        kernel_sctp_socket_close(descriptor, false);
        return NULL;
    }
    path->poll.data = path;
    path->sctp = sctp;
    path->descriptor = descriptor;
    return path;
}

static void path_close(struct kernel_sctp_path *path)
{
    if (path->descriptor < 0)
        return;
    (void)uv_poll_stop(&path->poll);
    kernel_sctp_socket_close(path->descriptor, path->in_order);
    path->descriptor = -1;
}

void kernel_sctp_path_release(struct kernel_sctp_path *path)
{
    if (path == NULL)
        return;
    path_close(path);
    ring_free(&path->flight);
    uv_close((uv_handle_t *)&path->poll, on_path_closed);
}

static void lose(struct kernel_sctp_path *path, uint64_t now)
{
    path->lost = true;
    iwarp_association_lost(path->association, now);
}

/* --- In ----------------------------------------------------------------------------------------------------------- */

/*
 * The adaptation indication comes right after the event that the association is up, if the peer sent one. If anything
 * else comes first, the peer sent none.
 */
static void introduce(struct kernel_sctp_path *path, uint64_t now)
{
    path->introduced = false;
    path->up = true;
    iwarp_association_up(path->association, &path->peer, now);
}

/* All messages were acknowledged when the event was created. Another event follows for messages sent since then. */
static void dry(struct kernel_sctp_path *path, uint64_t now)
{
    if (!kernel_sctp_socket_is_dry(path->descriptor))
        return;
    while (path->flight.count != 0) {
        uint16_t sid = *(const uint16_t *)ring_at(&path->flight, 0);

        ring_pop(&path->flight);
        iwarp_association_acked(path->association, sid, 1, now);
    }
}

static void handle_read(struct kernel_sctp_path *path, enum kernel_sctp_input what,
                        const struct kernel_sctp_read *input, uint64_t now)
{
    if (path->introduced) {
        if (what == KERNEL_SCTP_INDICATION) {
            path->peer.has_indication = true;
            path->peer.indication = input->peer.indication;
        }
        introduce(path, now);
    }
    switch (what) {
    case KERNEL_SCTP_UP:
        path->peer = input->peer;
        path->introduced = !path->up;
        break;
    case KERNEL_SCTP_MESSAGE: iwarp_association_input(path->association, &input->message, now); break;
    case KERNEL_SCTP_PART:
    case KERNEL_SCTP_REFUSED: iwarp_association_abort(path->association, now); break;
    case KERNEL_SCTP_DRY: dry(path, now); break;
    case KERNEL_SCTP_FIN:
        path->in_order = true; /* the kernel continues the shutdown */
        lose(path, now);
        break;
    case KERNEL_SCTP_LOST: lose(path, now); break;
    case KERNEL_SCTP_NOTHING:
    case KERNEL_SCTP_INDICATION:
    case KERNEL_SCTP_OTHER:
    default: break;
    }
}

static void read_path(uv_poll_t *poll, int status, int events)
{
    struct kernel_sctp_path *path = poll->data;
    uint64_t now = uv_hrtime();
    enum kernel_sctp_input what;
    struct kernel_sctp_read input;
    unsigned count = 0;

    (void)status, (void)events;
    path->full = false;
    /* After the indication the owner begins its own sessions, before messages of the peer may take their SIDs. */
    do {
        what = kernel_sctp_socket_read(path->descriptor, path->sctp->buffer, KERNEL_SCTP_MESSAGE_MAX, &input);
        handle_read(path, what, &input, now);
    } while (what != KERNEL_SCTP_NOTHING && what != KERNEL_SCTP_PART && what != KERNEL_SCTP_INDICATION && !path->lost &&
             (++count < TURN || path->introduced));
    watch(path);
    path->sctp->config.changed(path->user);
}

/* --- Out ---------------------------------------------------------------------------------------------------------- */

static void send_all(struct kernel_sctp_path *path, uint64_t now)
{
    struct iwarp_sctp_output output;

    while (!path->full && path->flight.count < KERNEL_SCTP_ROUND &&
           iwarp_association_output(path->association, &output) != 0) {
        int error = kernel_sctp_socket_send(path->descriptor, &output);

        if (error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS || error == ENOMEM) {
            path->full = true;
        } else if (error == EMSGSIZE) { /* the path has become too narrow for it */
            iwarp_association_abort(path->association, now);
            return;
        } else if (error != 0) {
            return; /* the association is over: what it still has to say is read first */
        } else {
            *(uint16_t *)ring_push(&path->flight) = output.sid; /* there is room for KERNEL_SCTP_ROUND */
            iwarp_association_output_done(path->association, now);
        }
    }
}

void kernel_sctp_path_run(struct kernel_sctp_path *path, uint64_t now)
{
    if (path->lost)
        return;
    if (path->up && !path->ending)
        send_all(path, now);
    switch (iwarp_association_wants(path->association)) {
    case IWARP_ASSOCIATION_WANT_SHUTDOWN:
        if (!path->ending)
            (void)shutdown(path->descriptor, SHUT_WR);
        path->ending = true;
        break;
    case IWARP_ASSOCIATION_WANT_ABORT:
        path->lost = true;
        path_close(path);
        break;
    case IWARP_ASSOCIATION_WANT_NOTHING:
    default: break;
    }
    watch(path);
}

/* --- Listeners ---------------------------------------------------------------------------------------------------- */

/*
 * No descriptor is left: accepts the waiting association with the spare one, and aborts it. If it stayed in the queue,
 * the loop would report it again and again.
 */
static void refuse(const struct listener *listener)
{
    struct kernel_sctp *sctp = listener->sctp;
    int descriptor;

    if (sctp->spare >= 0)
        (void)close(sctp->spare);
    descriptor = accept4(listener->descriptor, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor >= 0)
        kernel_sctp_socket_close(descriptor, false);
    sctp->spare = kernel_sctp_socket(sctp->config.name.ss_family, NULL);
}

static void on_waiting(uv_poll_t *poll, int status, int events)
{
    const struct listener *listener = poll->data;
    struct kernel_sctp *sctp = listener->sctp;
    struct kernel_sctp_path *path;
    int descriptor = accept4(listener->descriptor, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    (void)status, (void)events;
    if (descriptor < 0) {
        if (errno == EMFILE || errno == ENFILE)
            refuse(listener);
        return;
    }
    path = path_new(sctp, descriptor);
    if (path == NULL)
        return;
    path->association = sctp->config.incoming(sctp->config.owner, listener->port, path, &path->user);
    if (path->association == NULL) {
        kernel_sctp_path_release(path);
        return;
    }
    watch(path);
}

/* A socket with the own address and `port`, and all options. */
static int open_socket(const struct kernel_sctp *sctp, uint16_t port, uint16_t udp_port,
                       const struct iwarp_sctp_init *init, struct iwarp_sentence *why)
{
    const struct kernel_sctp_socket_config config = {
        .mtu = sctp->config.mtu, .fragments = sctp->config.fragments, .udp_port = udp_port};
    struct sockaddr_storage name = sctp->config.name;
    socklen_t octets = name.ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    int descriptor = kernel_sctp_socket(name.ss_family, why);

    if (descriptor < 0)
        return -1;
    socket_name_set_port(&name, port);
    if (kernel_sctp_socket_configure(descriptor, &config, why) == 0 &&
        kernel_sctp_socket_offer(descriptor, init, why) == 0) {
        if (bind(descriptor, (const struct sockaddr *)&name, octets) == 0)
            return descriptor;
        (void)iwarp_sentence_set(why, "%s", strerror(errno));
    }
    kernel_sctp_socket_close(descriptor, false);
    return -1;
}

static void on_listener_closed(uv_handle_t *handle)
{
    free(handle->data);
}

int kernel_sctp_listen(struct kernel_sctp *sctp, uint16_t port, const struct iwarp_sctp_init *init,
                       struct iwarp_sentence *why)
{
    struct sockaddr_storage name;
    socklen_t octets = sizeof(name);
    struct listener *listener;
    int descriptor = open_socket(sctp, port, 0, init, why);

    if (descriptor < 0)
        return -1;
    listener = calloc(1, sizeof(*listener));
    if (listener == NULL || listen(descriptor, BACKLOG) != 0 ||
        getsockname(descriptor, (struct sockaddr *)&name, &octets) != 0 ||
        uv_poll_init(sctp->loop, &listener->poll, descriptor) != 0) {
        (void)iwarp_sentence_set(why, "%s", listener == NULL ? "out of memory" : strerror(errno));
        free(listener);
        kernel_sctp_socket_close(descriptor, false);
        return -1;
    }
    listener->poll.data = listener;
    listener->sctp = sctp;
    listener->descriptor = descriptor;
    listener->port = socket_name_port(&name);
    LL_PREPEND(sctp->listeners, listener);
    (void)uv_poll_start(&listener->poll, UV_READABLE, on_waiting);
    return listener->port;
}

int kernel_sctp_offer(struct kernel_sctp *sctp, uint16_t port, const struct iwarp_sctp_init *init,
                      struct iwarp_sentence *why)
{
    const struct listener *listener;

    LL_SEARCH_SCALAR(sctp->listeners, listener, port, port);
    if (listener == NULL)
        return iwarp_sentence_set(why, "nothing listens on port %u", port);
    return kernel_sctp_socket_offer(listener->descriptor, init, why);
}

void kernel_sctp_unlisten(struct kernel_sctp *sctp, uint16_t port)
{
    struct listener *listener;

    LL_SEARCH_SCALAR(sctp->listeners, listener, port, port);
    if (listener == NULL)
        return;
    LL_DELETE(sctp->listeners, listener);
    (void)uv_poll_stop(&listener->poll);
    (void)close(listener->descriptor);
    uv_close((uv_handle_t *)&listener->poll, on_listener_closed);
}

/* --- All of it ---------------------------------------------------------------------------------------------------- */

struct kernel_sctp *kernel_sctp_open(uv_loop_t *loop, const struct kernel_sctp_config *config,
                                     struct iwarp_sentence *sentence)
{
    static const struct iwarp_sctp_init nothing = {.outbound = 1, .inbound = 1};
    struct kernel_sctp *sctp = calloc(1, sizeof(*sctp));
    struct iwarp_sentence why = {""};

    if (sctp != NULL)
        sctp->buffer = malloc(KERNEL_SCTP_MESSAGE_MAX);
    if (sctp == NULL || sctp->buffer == NULL) {
        free(sctp);
        (void)iwarp_sentence_set(sentence, "sctp: out of memory");
        return NULL;
    }
    sctp->loop = loop;
    sctp->config = *config;
    /* Does the kernel have all that is needed? Its first socket also loads its module, where that is allowed. */
    sctp->spare = open_socket(sctp, 0, 0, &nothing, &why);
    if (sctp->spare >= 0)
        return sctp;
    (void)iwarp_sentence_set(sentence, "%s", why.text);
    kernel_sctp_close(sctp);
    return NULL;
}

void kernel_sctp_close(struct kernel_sctp *sctp)
{
    if (sctp == NULL)
        return;
    while (sctp->listeners != NULL)
        kernel_sctp_unlisten(sctp, sctp->listeners->port);
    if (sctp->spare >= 0)
        (void)close(sctp->spare);
    free(sctp->buffer);
    free(sctp);
}

struct kernel_sctp_path *kernel_sctp_connect(struct kernel_sctp *sctp, const struct kernel_sctp_place *to,
                                             struct iwarp_association *association, void *user,
                                             struct iwarp_sentence *sentence)
{
    socklen_t octets = to->name.ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    struct kernel_sctp_path *path;
    struct iwarp_sctp_init init;
    int descriptor;

    iwarp_association_init(association, &init);
    descriptor = open_socket(sctp, 0, to->udp_port, &init, sentence);
    if (descriptor < 0)
        return NULL;
    path = path_new(sctp, descriptor);
    if (path == NULL) {
        (void)iwarp_sentence_set(sentence, "sctp: out of memory");
        return NULL;
    }
    path->association = association;
    path->user = user;
    if (connect(descriptor, (const struct sockaddr *)&to->name, octets) == 0 || errno == EINPROGRESS) {
        watch(path);
        return path;
    }
    (void)iwarp_sentence_set(sentence, "sctp: connect: %s", strerror(errno));
    kernel_sctp_path_release(path);
    return NULL;
}
