/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/transport/sctp_udp.h"

#include <stdlib.h>

#include "reference-stack/transport/udp_socket.h"

struct sctp_udp {
    uv_timer_t timer;
    struct udp_socket *socket;
    struct sctp_hub *hub;
    bool ticking;
};

size_t sctp_udp_headers(int family)
{
    return family == AF_INET6 ? SCTP_UDP_OCTETS_IPV6 : SCTP_UDP_OCTETS_IPV4;
}

static void on_tick(uv_timer_t *timer)
{
    struct sctp_udp *udp = timer->data;

    sctp_hub_tick(udp->hub, uv_hrtime());
    if (sctp_hub_busy(udp->hub))
        return;
    udp->ticking = false;
    (void)uv_timer_stop(timer);
}

static void tick(struct sctp_udp *udp)
{
    const uint64_t period = SCTP_HUB_TICK / 1000000;

    if (!udp->ticking && sctp_hub_busy(udp->hub))
        udp->ticking = uv_timer_start(&udp->timer, on_tick, period, period) == 0;
}

static void on_datagram(void *owner, const struct sockaddr_storage *from, const uint8_t *octets, size_t count)
{
    struct sctp_udp *udp = owner;

    sctp_hub_input(udp->hub, from, octets, count, uv_hrtime());
    tick(udp);
}

/* What the socket does not take is lost, as in any network. */
static void on_send(void *owner, void *link, const struct sockaddr_storage *to, const uint8_t *packet, size_t octets)
{
    const struct sctp_udp *udp = link;

    (void)owner;
    (void)udp_socket_send(udp->socket, to, packet, octets);
}

struct sctp_udp *sctp_udp_open(uv_loop_t *loop, const struct sockaddr_storage *name, size_t mtu,
                               const struct sctp_hub_config *hub, struct iwarp_sentence *sentence)
{
    struct sctp_hub_config config = *hub;
    struct sctp_udp *udp = calloc(1, sizeof(*udp));
    struct iwarp_sentence why = {""};

    if (udp == NULL || uv_timer_init(loop, &udp->timer) != 0) {
        free(udp);
        (void)iwarp_sentence_set(sentence, "sctp: out of memory");
        return NULL;
    }
    udp->timer.data = udp;
    config.packet_max = mtu - sctp_udp_headers(name->ss_family);
    config.send = on_send;
    config.link = udp;
    udp->hub = sctp_hub_new(&config, sentence);
    if (udp->hub != NULL) {
        udp->socket = udp_socket_open(loop, name, on_datagram, udp, &why);
        if (udp->socket != NULL)
            return udp;
        (void)iwarp_sentence_set(sentence, "sctp: no UDP socket: %.300s", why.text);
    }
    sctp_udp_close(udp);
    return NULL;
}

struct sctp_hub *sctp_udp_hub(struct sctp_udp *udp)
{
    return udp->hub;
}

uint16_t sctp_udp_port(const struct sctp_udp *udp)
{
    return udp_socket_port(udp->socket);
}

struct sctp_path *sctp_udp_connect(struct sctp_udp *udp, const struct sockaddr_storage *to, uint16_t port,
                                   struct iwarp_association *association, void *user, struct iwarp_sentence *sentence)
{
    struct sctp_path *path = sctp_hub_connect(udp->hub, to, port, association, user, uv_hrtime(), sentence);

    tick(udp);
    return path;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void sctp_udp_close(struct sctp_udp *udp)
{
    if (udp == NULL)
        return;
    sctp_hub_free(udp->hub);
    if (udp->socket != NULL)
        udp_socket_close(udp->socket);
    uv_close((uv_handle_t *)&udp->timer, on_closed);
}
