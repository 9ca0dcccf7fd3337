/* SPDX-License-Identifier: BSD-2-Clause */
/* The peer over SCTP in UDP datagrams (RFC 6951), in place of kernel TCP. */
#include "reference-stack/defects/peer_faults.h"
#include "reference-stack/peer/driver_internal.h"

const char *driver_sctp_address(const struct driver *driver)
{
    const char *any = driver->config.ipv6 ? "::" : "0.0.0.0";

    return driver->config.bind_address != NULL ? driver->config.bind_address : any;
}

static size_t on_leaving(void *owner, uint8_t *packet, size_t octets, size_t room)
{
    const struct driver *driver = owner;

    return peer_sctp_leaving(&driver->config.peer, packet, octets, room);
}

struct iwarp_association *driver_incoming(struct driver *driver, uint16_t port, void *path, void **user)
{
    struct peer_association *pa = NULL;
    uint64_t refused = peer_budget(driver->peer)->refused;
    struct iwarp_association *association =
        peer_association_incoming(driver->peer, port, path, &pa, driver_now(driver));

    if (association == NULL)
        driver_refuse_memory(driver, refused);
    *user = pa;
    return association;
}

static struct iwarp_association *on_incoming(void *owner, uint16_t port, struct sctp_path *path, void **user)
{
    return driver_incoming(owner, port, path, user);
}

static void on_changed(void *user)
{
    peer_association_changed(user, uv_hrtime());
}

static int op_listen(void *context, uint16_t port, struct iwarp_sentence *why)
{
    struct driver *driver = context;

    return sctp_hub_listen(sctp_udp_hub(driver->sctp), port, why);
}

static void op_unlisten(void *context, uint16_t port)
{
    struct driver *driver = context;

    sctp_hub_unlisten(sctp_udp_hub(driver->sctp), port);
}

int driver_sctp_name(const struct driver *driver, const char *address, uint16_t port, struct sockaddr_storage *name,
                     struct iwarp_sentence *why)
{
    struct sockaddr_storage own;

    if (socket_name_parse(address, port, name) != 0 || socket_name_parse(driver_sctp_address(driver), 0, &own) != 0)
        return iwarp_sentence_set(why, "'%.60s' is no numeric address", address);
    if (name->ss_family != own.ss_family)
        return iwarp_sentence_set(why, "%.60s is not of the family of the own address", address);
    return 0;
}

static void *op_connect(void *context, const struct peer_sctp_place *place, struct iwarp_association *association,
                        struct peer_association *owner, struct iwarp_sentence *why)
{
    struct driver *driver = context;
    uint16_t udp_port = place->udp_port != 0 ? place->udp_port : driver->config.sctp.peer_udp_port;
    struct sockaddr_storage name;

    if (driver_sctp_name(driver, place->address, udp_port, &name, why) != 0)
        return NULL;
    return sctp_udp_connect(driver->sctp, &name, place->port, association, owner, why);
}

static void op_run(void *transport, uint64_t now)
{
    sctp_path_run(transport, now);
}

static void op_release(void *transport)
{
    sctp_path_release(transport);
}

static void op_set_packet_max(void *transport, size_t octets)
{
    sctp_path_set_packet_max(transport, octets);
}

static const struct peer_sctp_ops sctp_ops = {
    .connect = op_connect, .run = op_run, .release = op_release, .set_packet_max = op_set_packet_max};

static const struct peer_transport_ops udp_ops = {.sctp = &sctp_ops, .listen = op_listen, .unlisten = op_unlisten};

int driver_sctp_open(struct driver *driver, struct iwarp_sentence *sentence)
{
    const struct driver_sctp_config *config = &driver->config.sctp;
    struct iwarp_association_config *association = &driver->config.peer.association;
    struct sctp_hub_config hub = {.leaving = PEER_HOOKED(&driver->config.peer) ? on_leaving : NULL,
                                  .fragments = association->profile == IWARP_SCTP_RFC5043,
                                  .incoming = on_incoming,
                                  .changed = on_changed,
                                  .owner = driver};
    struct sockaddr_storage name;
    struct sctp_settings settings;

    peer_sctp(&driver->config.peer, &settings);
    hub.sack_delay_ms = settings.sack_delay_ms;
    hub.sack_packets = settings.sack_packets;
    hub.window = settings.window;
    hub.chunk_max = settings.chunk_max;
    if (config->kernel)
        return driver_kernel_sctp_open(driver, sentence);
    driver->ops = &udp_ops;
    if (socket_name_parse(driver_sctp_address(driver), config->udp_port, &name) != 0)
        return iwarp_sentence_set(sentence, "'%.60s' is no numeric address", driver_sctp_address(driver));
    association->network_octets = sctp_udp_headers(name.ss_family);
    driver->sctp = sctp_udp_open(&driver->loop, &name, association->mtu, &hub, sentence);
    return driver->sctp == NULL ? -1 : 0;
}

uint16_t driver_sctp_udp_port(const struct driver *driver)
{
    return driver->sctp == NULL ? 0 : sctp_udp_port(driver->sctp);
}
