/* SPDX-License-Identifier: BSD-2-Clause */
/* The peer over SCTP of the kernel, in place of kernel TCP. */
#include "reference-stack/peer/driver_internal.h"

static struct iwarp_association *on_incoming(void *owner, uint16_t port, struct kernel_sctp_path *path, void **user)
{
    return driver_incoming(owner, port, path, user);
}

static void on_changed(void *user)
{
    peer_association_changed(user, uv_hrtime());
}

/* A listener that is not open yet gets it when it is opened. */
static void op_offer(void *context, uint16_t port, const struct iwarp_sctp_init *init)
{
    struct driver *driver = context;

    driver->offer = *init;
    (void)kernel_sctp_offer(driver->kernel, port, init, NULL);
}

static int op_listen(void *context, uint16_t port, struct iwarp_sentence *why)
{
    struct driver *driver = context;

    return kernel_sctp_listen(driver->kernel, port, &driver->offer, why);
}

static void op_unlisten(void *context, uint16_t port)
{
    struct driver *driver = context;

    kernel_sctp_unlisten(driver->kernel, port);
}

static void *op_connect(void *context, const struct peer_sctp_place *place, struct iwarp_association *association,
                        struct peer_association *owner, struct iwarp_sentence *why)
{
    struct driver *driver = context;
    struct kernel_sctp_place to = {.udp_port =
                                       place->udp_port != 0 ? place->udp_port : driver->config.sctp.peer_udp_port};

    if (driver_sctp_name(driver, place->address, place->port, &to.name, why) != 0)
        return NULL;
    return kernel_sctp_connect(driver->kernel, &to, association, owner, why);
}

static void op_run(void *transport, uint64_t now)
{
    kernel_sctp_path_run(transport, now);
}

static void op_release(void *transport)
{
    kernel_sctp_path_release(transport);
}

static const struct peer_sctp_ops sctp_ops = {
    .connect = op_connect, .run = op_run, .release = op_release, .offer = op_offer};

static const struct peer_transport_ops kernel_ops = {.sctp = &sctp_ops, .listen = op_listen, .unlisten = op_unlisten};

int driver_kernel_sctp_open(struct driver *driver, struct iwarp_sentence *sentence)
{
    struct iwarp_association_config *association = &driver->config.peer.association;
    struct kernel_sctp_config config = {.mtu = association->mtu,
                                        .fragments = association->profile == IWARP_SCTP_RFC5043,
                                        .incoming = on_incoming,
                                        .changed = on_changed,
                                        .owner = driver};

    driver->ops = &kernel_ops;
    if (socket_name_parse(driver_sctp_address(driver), 0, &config.name) != 0)
        return iwarp_sentence_set(sentence, "'%.60s' is no numeric address", driver_sctp_address(driver));
    /* Peers may have a UDP port each: no segment is too long for any. */
    association->network_octets =
        KERNEL_SCTP_OCTETS_UDP +
        (size_t)(config.name.ss_family == AF_INET6 ? KERNEL_SCTP_OCTETS_IPV6 : KERNEL_SCTP_OCTETS_IPV4);
    driver->kernel = kernel_sctp_open(&driver->loop, &config, sentence);
    return driver->kernel == NULL ? -1 : 0;
}
